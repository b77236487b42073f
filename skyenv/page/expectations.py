"""The share of the win that every seat can expect, by an agent that tells outcomes, from what one
seat knows.

A network judges a position for the seat that is to decide. So the position is played on by the
agent itself until every seat has had a decision, in many *worlds*: the cards that the onlooker's
seat can't see are drawn anew in each, from all that it can't tell from the real ones, and so is
chance. A seat's share is the mean of what the agent expects for it at its first decision, or of
what came if the game ended before it.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter, OrderedDict
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, decisions_in
from skyenv.engine.game import Game
from skyenv.engine.games import Games, results
from skyenv.engine.kernels import share_of
from skyenv.engine.knowledge import PUBLIC, view
from skyenv.errors import AgentError
from skyenv.page.analysis import batch_of
from skyenv.page.catalogue import CatalogueEntry
from skyenv.page.errors import PageError
from skyenv.page.game_server import GameServer
from skyenv.page.playouts import starts
from skyenv.page.workers import Priority, Report
from skyenv.rules.state import GAME_DTYPE

EXPECTING: Final = "trained"
"""The agent that says what can be expected at a table."""
WORLDS: Final = 48
"""So many worlds tell a share to about a point of a hundred, in less than a tenth of a second."""
MOST_KEPT: Final = 4096
"""Of so many positions, as seats know them, it is remembered what can be expected."""


# ---- in a worker ----


def expect(
    entry: CatalogueEntry, position: np.void, seat: int | None, report: Report
) -> list[float]:
    """The share of the win that every seat can expect, 0 to 1; they sum to 1.

    The worlds depend on the seat's view alone, so that the same view is told the same.

    Args:
        entry: the agent that says so.
        position: GAME_DTYPE.
        seat: the onlooker's, whose view is all that is used; None: hidden cards stay as they are.
        report: not told anything.

    Raises:
        AgentError: the agent can't tell what outcome it expects.
    """
    told = judged(entry.agent, position, seat).mean(axis=0)
    return [float(share) for share in told / told.sum()]


def judged(agent: Agent, position: np.void, seat: int | None) -> npt.NDArray[np.float64]:
    """What the agent says of every seat in every world, float64 (WORLDS, players); the seats of a
    world needn't sum to 1.

    Raises:
        AgentError: see :func:`expect`, which tells the arguments.
    """
    games = batch_of(starts(position, _seeds(position, seat), seat))
    shares = np.full((games.num_games, games.num_players), np.nan)
    while (rows := np.flatnonzero((games.seat >= 0) & np.isnan(shares).any(axis=1))).size:
        games.step(_decide(games, agent, rows, shares), rows)
    outcomes = results(games.state)[0][:, : games.num_players]
    return np.where(np.isnan(shares), outcomes, shares)


def _seeds(position: np.void, seat: int | None) -> list[int]:
    """A seed for every world, made of what the seat knows."""
    first = int.from_bytes(digest(position, seat)[:4])
    return list(range(first, first + WORLDS))


def digest(position: np.void, seat: int | None) -> bytes:
    """Tells apart what a seat knows: its view of a position; or the position, for who sees
    everything.
    """
    one = np.array([position], GAME_DTYPE)
    known: Any = one if seat is None else view(one, [seat])
    return hashlib.blake2b(np.asarray(known).tobytes(), digest_size=16).digest()


def _decide(
    games: Games, agent: Agent, rows: npt.NDArray[np.int64], shares: npt.NDArray[np.float64]
) -> npt.NDArray[np.int64]:
    """What is played next in some worlds; `shares` is told what the agent expects where a seat
    hasn't decided before.
    """
    mask = games.mask[rows]
    actions: npt.NDArray[np.int64] = mask.argmax(axis=1).astype(np.int64)
    choices = np.flatnonzero(
        mask.sum(axis=1) > 1
    )  # where there is none the agent isn't asked: it has learnt from choices
    if not choices.size:
        return actions
    held = agent.evaluate(decisions_in(games, agent, rows[choices]))
    if held is None or held[1] is None:
        raise AgentError(f"agent {agent.name} doesn't tell what outcome it expects")
    actions[choices] = np.where(mask[choices] != 0, held[0], -1.0).argmax(axis=1)
    where = rows[choices], games.seat[rows[choices]]
    told = np.clip(share_of(np.asarray(held[1], np.float64), games.num_players), 0.0, 1.0)
    shares[where] = np.where(np.isnan(shares[where]), told, shares[where])
    return actions


# ---- in the server ----


class Expectations:
    """What the seats of a server's games can expect; the same position is judged once.

    Args:
        server: all games.
    """

    def __init__(self, server: GameServer) -> None:
        self._server = server
        self._kept: OrderedDict[bytes, asyncio.Task[list[float]]] = OrderedDict()
        self._waiting: Counter[asyncio.Task[list[float]]] = Counter()
        """How many wait for each."""

    def are_offered(self, viewer: int | None) -> bool:
        """Whether they can be told to whom :meth:`Session.viewer` says.

        What spectators know is no seat's view.
        """
        return viewer != PUBLIC and EXPECTING in self._server.catalogue.names

    async def shares(self, game: Game, viewer: int | None) -> list[float]:
        """The share of the win that every seat can expect, as who looks at the game knows it.

        Args:
            game: not to be changed meanwhile.
            viewer: who looks, as :meth:`Session.viewer` says.

        Raises:
            PageError: they aren't offered, or the agent can't be had.
            AgentError: it fails.
        """
        if not self.are_offered(viewer):
            raise PageError("nobody here can say what is to be expected", 404)
        key = digest(game.state, viewer)
        if key not in self._kept:
            self._kept[key] = asyncio.create_task(self._judge(game.state.copy(), viewer))
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return await self._awaited(key, self._kept[key])

    async def _judge(self, position: np.void, viewer: int | None) -> list[float]:
        await self._server.preparation.agent(EXPECTING)
        job = partial(expect, self._server.catalogue[EXPECTING], position, viewer)
        return await self._server.workers.ask(job, Priority.HINT)

    async def _awaited(self, key: bytes, task: asyncio.Task[list[float]]) -> list[float]:
        """What a task has judged.

        It ends when nobody waits for it any more; one that has failed is forgotten.
        """
        self._waiting[task] += 1
        try:
            return await asyncio.shield(task)
        except BaseException:
            if (task.done() or self._waiting[task] == 1) and self._kept.get(key) is task:
                del self._kept[key]
            raise
        finally:
            self._waiting[task] -= 1
            if not self._waiting[task]:
                del self._waiting[task]
                task.cancel()
