"""The agents that people can choose on the page: those named when the server started, and no others."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from skyenv.agents import Agent, agent_names, decide_game, make_agent
from skyenv.errors import PageError, SkyenvError, shown
from skyenv.game import Game
from skyenv.rules.state import NONE


@dataclass(frozen=True)
class CatalogueEntry:
    """An agent that can be chosen.

    Attributes:
        name: what it is called on the page, in the database and in records.
        agent: the agent itself.
        lock: held while it decides, as an agent needn't be safe in several threads. Who asks it from an event loop lets one
            caller at a time near it (``GameServer.ask``), lest threads stand and wait here.
    """

    name: str
    agent: Agent
    lock: threading.Lock = field(default_factory=threading.Lock)

    def move(self, game: Game) -> list[int]:
        """What the agent plays next in a game, which is changed: one action, or all actions of a bid.

        Raises:
            AgentError: the agent's answer is none.
        """
        actions: list[int] = []
        with self.lock:
            while True:
                actions.append(decide_game(game, self.agent))
                game.play(actions[-1])
                if game.phase != "bid" or int(game.state["laid"]) == NONE:
                    return actions


class Catalogue:
    """All agents that can be chosen, by name.

    Args:
        entries: them, in the order of the page's choice list.
    """

    def __init__(self, entries: Iterable[CatalogueEntry]) -> None:
        self._entries: Mapping[str, CatalogueEntry] = {entry.name: entry for entry in entries}

    @property
    def names(self) -> list[str]:
        """The names, in the order of the choice list."""
        return list(self._entries)

    def describe(self) -> list[dict[str, str]]:
        """Name and description of each, for the page."""
        return [{"name": name, "description": entry.agent.description} for name, entry in self._entries.items()]

    def __getitem__(self, name: str) -> CatalogueEntry:
        """The entry of that name.

        Raises:
            PageError: there is none. Nothing is looked for, read or imported.
        """
        if name not in self._entries:
            raise PageError(f"there is no agent {shown(name)} here; there are {', '.join(self._entries)}", 404)
        return self._entries[name]


def catalogue(specifications: Iterable[str] = ()) -> Catalogue:
    """The agents asked for, then all others that have a name (:func:`skyenv.agents.agent_names`).

    One that wasn't asked for and can't be made, because its package is broken, is left out, and stderr says so.

    Args:
        specifications: as for :func:`skyenv.agents.make_agent`.

    Raises:
        AgentError, CheckpointError: there is no agent as asked for, or it can't be made.
    """
    asked = dict.fromkeys(specifications)
    made = [CatalogueEntry(name, make_agent(name)) for name in asked]
    for name in agent_names():
        try:
            made += [] if name in asked else [CatalogueEntry(name, make_agent(name))]
        except SkyenvError as error:
            print(f"skyenv: {name} is not offered: {error}", file=sys.stderr)
    return Catalogue(made)
