"""The chance to win: the page's one estimator of it, the same in hints, analyses and charts.

The agent ``trained`` plays the position on in WORLDS *worlds*: in each of them the cards that a
seat can't see are drawn anew from all that it can't tell from the real ones, and so is chance. It
stops once every seat has had DECISIONS decisions with a choice, and says there what outcome it
expects for each seat; games that end before count as they end. The means, made to sum to 1, are
sharpened by POWER, as the network is less sure than play-outs show it should be.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, decisions_in
from skyenv.arena.matches import batch_of
from skyenv.engine.games import Games, results
from skyenv.engine.kernels import share_of
from skyenv.engine.knowledge import view
from skyenv.errors import AgentError
from skyenv.page.playouts import played, starts
from skyenv.rules.state import GAME_DTYPE

ESTIMATOR: Final = "trained"
"""The agent that plays on and judges."""
WORLDS: Final = 24
DECISIONS: Final = 16
POWER: Final = 1.5
"""Checked against play-outs by the same agent on fresh positions (docs/page.md)."""

Shares = npt.NDArray[np.float64]
Ask = tuple[np.void, int | None, tuple[int, ...]]
"""A position (GAME_DTYPE), the seat whose knowledge counts (None: all cards are as they are), and
the actions that are played there first."""


def win_chances(agent: Agent, asks: Sequence[Ask]) -> Shares:
    """Estimate the chance to win of every seat, from what one seat knows.

    The worlds depend on the seat's view alone: the same view is told the same, and different
    actions from one view meet the same worlds.

    Args:
        agent: the one named ESTIMATOR, or another that tells what outcome it expects.
        asks: the positions, of one number of players and one side of the board.

    Returns:
        float64 (k, players), 0 to 1; each row sums to 1.

    Raises:
        AgentError: the agent can't tell what outcome it expects.
    """
    return sharpened(in_worlds(agent, asks).mean(axis=1))


def sharpened(shares: Shares) -> Shares:
    """Make means of the worlds, float64 (k, players), the chances that are told."""
    powers = (shares / shares.sum(axis=1, keepdims=True)) ** POWER
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def in_worlds(agent: Agent, asks: Sequence[Ask]) -> Shares:
    """What the agent expects of every seat in every world, float64 (k, WORLDS, players).

    Raises:
        AgentError: see :func:`win_chances`, which tells the arguments.
    """
    games = batch_of(np.concatenate([_worlds(*ask) for ask in asks]))
    told = np.zeros((games.num_games, games.num_players))
    number = np.zeros(told.shape, np.int64)
    while (rows := np.flatnonzero((games.seat >= 0) & (number.min(axis=1) < DECISIONS))).size:
        games.step(_decide(games, agent, rows, told, number), rows)
    over = (games.seat < 0)[:, None]
    told = np.where(over, results(games.state)[0][:, : games.num_players], told)
    return told.reshape(len(asks), WORLDS, games.num_players)


def _worlds(position: np.void, seat: int | None, actions: tuple[int, ...]) -> npt.NDArray[np.void]:
    first = int.from_bytes(digest(position, seat)[:4])
    return played(starts(position, range(first, first + WORLDS), seat), [actions] * WORLDS)


def digest(position: np.void, seat: int | None) -> bytes:
    """Tell apart what a seat knows: its view of a position, or for None the position."""
    one = np.array([position], GAME_DTYPE)
    known: Any = one if seat is None else view(one, [seat])
    return hashlib.blake2b(np.asarray(known).tobytes(), digest_size=16).digest()


def _decide(
    games: Games,
    agent: Agent,
    rows: npt.NDArray[np.int64],
    told: Shares,
    number: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """What is played next in some worlds; `told` and `number` note what the agent expects for the
    seats that decide, and how often they have decided.
    """
    mask = games.mask[rows]
    actions: npt.NDArray[np.int64] = mask.argmax(axis=1).astype(np.int64)
    choices = np.flatnonzero(mask.sum(axis=1) > 1)  # the agent has learnt from choices alone
    if not choices.size:
        return actions
    held = agent.evaluate(decisions_in(games, agent, rows[choices]))
    if held is None or held[1] is None:
        raise AgentError(f"agent {agent.name} doesn't tell what outcome it expects")
    actions[choices] = np.where(mask[choices] != 0, held[0], -1.0).argmax(axis=1)
    where = rows[choices], games.seat[rows[choices]]
    outcomes = share_of(np.asarray(held[1], np.float64), games.num_players)
    told[where] = np.clip(outcomes, 0.0, 1.0)
    number[where] += 1
    return actions
