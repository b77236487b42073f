"""Play-outs: agents play a position to the end many times; win shares, VP and margins."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from skyenv.agents import decide_each
from skyenv.arena.matches import SALT
from skyenv.engine.games import Games
from skyenv.engine.knowledge import resample
from skyenv.engine.knowledge import view as view_of
from skyenv.engine.results import results
from skyenv.page.catalogue import CatalogueEntry
from skyenv.page.payloads import Payload
from skyenv.page.workers import Report
from skyenv.rules.state import GAME_DTYPE

MOST: Final = 1000
"""Most games of one request."""
USUAL: Final = 100
AT_ONCE: Final = 25
"""Games per batch; results are reported after each batch."""
SURE: Final = 1.96
"""Standard errors on each side of a 95 % interval."""


def fresh_stream(seed: int) -> npt.NDArray[np.uint32]:
    """Return the random stream with which a position continues, uint32 (4,), never all 0; it is
    decided by the seed, 0 to 2⁶³−1.
    """
    digest = hashlib.blake2b(seed.to_bytes(8), digest_size=16, person=b"go on").digest()
    words = np.frombuffer(digest, np.uint32).copy()
    words[0] |= not words.any()
    return words


def starts(position: np.void, seeds: Sequence[int], seat: int | None) -> npt.NDArray[np.void]:
    """Return copies of a position, one per seed, each with its own future chance.

    Args:
        position: GAME_DTYPE.
        seeds: 0 to 2⁶³−1.
        seat: resample the cards hidden from this seat; None: they stay.

    Returns:
        GAME_DTYPE (k,). Equal seeds give equal chance.
    """
    one = np.array([position], GAME_DTYPE)
    if seat is not None:
        made: npt.NDArray[np.void] = resample(view_of(one, [seat]), list(seeds)).view(np.ndarray)
    else:
        made = np.repeat(one, len(seeds))
        for row, seed in enumerate(seeds):
            made["random"][row] = fresh_stream(seed)
    made["seed"] = list(seeds)  # agents' random numbers derive from it
    return made


def played(states: npt.NDArray[np.void], paths: Sequence[Sequence[int]]) -> npt.NDArray[np.void]:
    """Return positions, GAME_DTYPE (k,), after the legal actions of each one's path."""
    games = Games.of(states)
    for number in range(max(map(len, paths), default=0)):
        rows = np.array([row for row, path in enumerate(paths) if len(path) > number])
        games.step([paths[row][number] for row in rows], rows)
    return games.state.copy()


def play_out(
    entries: Sequence[CatalogueEntry],
    position: np.void,
    number: int,
    seat: int | None,
    report: Report,
) -> None:
    """Have agents play a position out, and report the results so far after each batch.

    The seeds are 0, 1, 2 … for every line-up: games from the same position have the same chance
    (paired seeds), as far as they use it in the same order.

    Args:
        entries: the agents by seat.
        position: GAME_DTYPE; the game isn't over.
        number: number of games.
        seat: as for :func:`starts`.
        report: called with ``agents``; how many games are ``done`` ``of`` all; for each of the
            ``seats`` its ``share`` of the win with the 95 % ``interval``, and mean ``vp`` and
            ``margin`` to the best other seat.

    Raises:
        AgentError: an agent returned no valid answer.
    """
    shares = scores = np.zeros((0, len(entries)))
    for done in range(0, number, AT_ONCE):
        seeds = range(done, min(done + AT_ONCE, number))
        bunch = shares_of(entries, position, seeds, seat)
        shares, scores = np.concatenate([shares, bunch[0]]), np.concatenate([scores, bunch[1]])
        report(
            {
                "agents": [entry.name for entry in entries],
                "done": len(shares),
                "of": number,
                "seats": [_seat_found(shares, scores, seat) for seat in range(len(entries))],
            }
        )


def shares_of(
    entries: Sequence[CatalogueEntry],
    position: np.void,
    seeds: Sequence[int],
    seat: int | None,
    actions: Sequence[int] = (),
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Play a position out once per seed.

    Args:
        entries, position, seat: as for :func:`play_out`.
        seeds: as for :func:`starts`.
        actions: actions to play first.

    Returns:
        Win shares and VP, each float64 (k, players).
    """
    games = Games.of(played(starts(position, seeds, seat), [actions] * len(seeds)))
    agents = {seat: entry.agent for seat, entry in enumerate(entries)}
    while (rows := np.flatnonzero(games.seat >= 0)).size:
        seats = games.seat[rows]
        games.step(decide_each(games, agents, seats, rows, SALT + seats), rows)
    players = games.num_players
    scores = games.state["score"][:, :players].astype(np.float64)
    return results(games.state)[0][:, :players], scores


def wilson(share: float, number: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a share observed in `number` games."""
    middle = share + SURE**2 / (2 * number)
    half = SURE * np.sqrt(share * (1 - share) / number + SURE**2 / (4 * number**2))
    whole = 1 + SURE**2 / number
    return max(0.0, float((middle - half) / whole)), min(1.0, float((middle + half) / whole))


def _seat_found(
    shares: npt.NDArray[np.float64], scores: npt.NDArray[np.float64], seat: int
) -> Payload:
    margins = scores[:, seat] - np.delete(scores, seat, axis=1).max(axis=1)
    return {
        "share": round(float(shares[:, seat].mean()), 4),
        "interval": [round(end, 4) for end in wilson(float(shares[:, seat].mean()), len(shares))],
        "vp": round(float(scores[:, seat].mean()), 1),
        "margin": round(float(margins.mean()), 1),
    }
