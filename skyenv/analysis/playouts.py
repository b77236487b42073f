"""Play-outs: agents play a position to the end many times; win shares, VP and margins."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent
from skyenv.arena.matches import play_on, worlds_of
from skyenv.array_types import Float64, RecordArray
from skyenv.engine.games import Games
from skyenv.engine.knowledge import view as view_of
from skyenv.engine.results import results
from skyenv.rules.state import GAME_DTYPE
from skyenv.statistics import Estimate, share_of_wins

# Usual number of games.
USUAL: Final = 100
# Games per batch; results are yielded after each batch.
AT_ONCE: Final = 25


class SeatResult(NamedTuple):
    """The results of a seat in play-outs.

    Attributes:
        share: of the win, 0 to 1, with its 95 % interval.
        vp: mean VP.
        margin: mean VP less those of the best other seat.
    """

    share: Estimate
    vp: float
    margin: float


def fresh_stream(seed: int) -> npt.NDArray[np.uint32]:
    """Return the random stream with which a position continues, uint32 (4,), never all 0; it is
    decided by the seed, 0 to 2⁶³−1.
    """
    digest = hashlib.blake2b(seed.to_bytes(8), digest_size=16, person=b"go on").digest()
    words = np.frombuffer(digest, np.uint32).copy()
    words[0] |= not words.any()
    return words


def starts(position: np.void, seeds: Sequence[int], seat: int | None) -> RecordArray:
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
        return worlds_of(view_of(one, [seat]), list(seeds))
    made = np.repeat(one, len(seeds))
    for row, seed in enumerate(seeds):
        made["random"][row] = fresh_stream(seed)
    made["seed"] = list(seeds)  # agents' random numbers derive from it
    return made


def played(states: RecordArray, paths: Sequence[Sequence[int]]) -> RecordArray:
    """Return positions, GAME_DTYPE (k,), after the legal actions of each one's path."""
    games = Games.of(states)
    for number in range(max(map(len, paths), default=0)):
        rows = np.array([row for row, path in enumerate(paths) if len(path) > number])
        games.step([paths[row][number] for row in rows], rows)
    return games.state.copy()


def play_out(
    agents: Sequence[Agent], position: np.void, number: int = USUAL, seat: int | None = None
) -> Iterator[tuple[int, list[SeatResult]]]:
    """Have agents play a position out; yield the results so far after each batch.

    The seeds are 0, 1, 2 … for every line-up: games from the same position have the same chance
    (paired seeds), as far as they use it in the same order.

    Args:
        agents: the agents by seat.
        position: GAME_DTYPE; the game isn't over.
        number: number of games.
        seat: resample the cards hidden from this seat in every game; None: they stay.

    Yields:
        The number of games so far, and the results of every seat.

    Raises:
        AgentError: an agent returned no valid answer.
    """
    shares = scores = np.zeros((0, len(agents)))
    for done in range(0, number, AT_ONCE):
        seeds = range(done, min(done + AT_ONCE, number))
        bunch = shares_of(agents, position, seeds, seat)
        shares, scores = np.concatenate([shares, bunch[0]]), np.concatenate([scores, bunch[1]])
        yield len(shares), [_seat_result(shares, scores, seat) for seat in range(len(agents))]


def shares_of(
    agents: Sequence[Agent],
    position: np.void,
    seeds: Sequence[int],
    seat: int | None,
    actions: Sequence[int] = (),
) -> tuple[Float64, Float64]:
    """Play a position out once per seed.

    Args:
        agents, position, seat: as for :func:`play_out`.
        seeds: as for :func:`starts`.
        actions: actions to play first.

    Returns:
        Win shares and VP, each float64 (k, players).
    """
    games = Games.of(played(starts(position, seeds, seat), [actions] * len(seeds)))
    play_on(games, agents)
    players = games.num_players
    scores = games.state["score"][:, :players].astype(np.float64)
    return results(games.state)[0][:, :players], scores


def _seat_result(shares: Float64, scores: Float64, seat: int) -> SeatResult:
    margins = scores[:, seat] - np.delete(scores, seat, axis=1).max(axis=1)
    share = share_of_wins(float(shares[:, seat].mean()), len(shares))
    return SeatResult(share, float(scores[:, seat].mean()), float(margins.mean()))
