"""Games of tournaments, played again: their folders keep how they came out, and a seed decides a
game.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from functools import partial
from typing import Final

from skyenv.agents import checkpoint_in, make_agent
from skyenv.arena.matches import play_game
from skyenv.arena.schedule import entrants
from skyenv.errors import CheckpointError, shown
from skyenv.page.errors import PageError
from skyenv.page.game_files import Played
from skyenv.page.workers import Priority, Report, Workers
from skyenv.seeds import LADDERS

MOST: Final = 32
"""Games that are kept, those that wait included."""
MOST_OF_ONE_CLIENT: Final = 4
"""Games that wait for one client."""


def play_again(played: Played, report: Report) -> str:
    """The record of a tournament's game.

    Raises:
        PageError: an agent is another one than it was, or the game comes out otherwise.
        AgentError, CheckpointError: an agent can't be made, or fails.
    """
    specs = list(dict.fromkeys(agent.spec for agent in played.agents))
    now = {agent.spec: agent for agent in entrants(specs, len(played.agents), played.side)}
    for agent in played.agents:
        same = now[agent.spec]
        if (same.name, same.version, same.digest) != (agent.name, agent.version, agent.digest):
            raise PageError(
                f"{shown(agent.name, 60)} has changed since this game was played, so it can't be "
                "played again",
                409,
            )
    made = {spec: make_agent(spec) for spec in specs}
    seats = [made[agent.spec] for agent in played.agents]
    game = play_game(
        seats,
        played.seed,
        played.side,
        max_turns=played.max_turns,
        secret=played.secret,
        purpose=LADDERS,
    )
    if tuple(game.scores) != played.scores:
        was, came = (" : ".join(map(str, scores)) for scores in (played.scores, game.scores))
        raise PageError(
            f"played again it came out otherwise ({came}, not {was}): an agent decides by the "
            "clock",
            409,
        )
    return game.to_record([agent.name for agent in played.agents])


class Again:
    """Plays games of tournaments again, by the page's workers.

    Args:
        workers: them.
        offered: specifications of agents that may play beside those that installed packages name.
    """

    def __init__(self, workers: Workers, offered: Collection[str]) -> None:
        self._workers = workers
        self._offered = frozenset(offered)
        self._games: dict[Played, asyncio.Task[str]] = {}
        self._clients: dict[Played, str] = {}

    async def record(self, played: Played, patience: float, client: str) -> str | None:
        """The record of a game, None if it isn't there after so many seconds: ask again.

        `client`: for whom.

        Raises:
            PageError: an agent isn't offered here, too many games wait, or as for
                :func:`play_again`.
            AgentError, CheckpointError: as for :func:`play_again`.
        """
        for agent in played.agents:
            if not self._is_offered(agent.spec):
                raise PageError(
                    f"{shown(agent.name, 60)} isn't offered here; start the page with --agents and "
                    "its file",
                    409,
                )
        if played not in self._games:
            self._make_room(client)
            job = self._workers.ask(partial(play_again, played), Priority.ANALYSIS)
            self._games[played], self._clients[played] = asyncio.create_task(job), client
        task = self._games[played]
        await asyncio.wait([task], timeout=patience)
        if not task.done():
            return None
        if task.cancelled() or task.exception() is not None:
            self._forget(played)  # what was wrong may be mended
        return task.result()

    async def close(self) -> None:
        """Drop all games, those under way too."""
        for task in self._games.values():
            task.cancel()
        await asyncio.gather(*self._games.values(), return_exceptions=True)

    def _is_offered(self, spec: str) -> bool:
        """Whether an agent has a name here: a tournament's folder can make the page read no file
        and import no module.
        """
        try:
            return spec in self._offered or (":" not in spec and checkpoint_in(spec) is None)
        except CheckpointError:
            return False

    def _make_room(self, client: str) -> None:
        for played, task in list(self._games.items()):
            if len(self._games) >= MOST and task.done():
                self._forget(played)
        waiting = sum(
            whose == client and not self._games[played].done()
            for played, whose in self._clients.items()
        )
        if len(self._games) >= MOST or waiting >= MOST_OF_ONE_CLIENT:
            raise PageError("too many games are being played again; wait a little", 429)

    def _forget(self, played: Played) -> None:
        if played in self._games:
            del self._games[played], self._clients[played]
