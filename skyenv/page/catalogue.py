"""The agents that people can choose on the page: those named when the server started, and no
others; and how strong those are that the lobby offers first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from skyenv.agents import Agent, agent_names, check_specification, make_agent
from skyenv.arena import ladder
from skyenv.errors import SkyenvError, shown
from skyenv.page.errors import PageError


@dataclass(frozen=True)
class CatalogueEntry:
    """An agent that can be chosen.

    It can be sent to another process, where an agent that has a specification is made anew.

    Attributes:
        name: what it is called on the page, in the database and in records.
        source: its specification, as for :func:`skyenv.agents.make_agent`, or the agent itself.
    """

    name: str
    source: str | Agent

    @property
    def agent(self) -> Agent:
        """The agent; made when it is first asked for, once in a process.

        Raises:
            AgentError, CheckpointError: it can't be made.
        """
        return _made(self.source) if isinstance(self.source, str) else self.source


_made = cache(make_agent)


@dataclass
class Readiness:
    """Whether an agent can play already.

    Attributes:
        state: ``"waiting"``, ``"preparing"``, ``"ready"`` or ``"failed"``.
        description: its own, a line; empty as long as it isn't known.
        error: why it has failed, a line.
    """

    state: str = "waiting"
    description: str = ""
    error: str = ""


class Catalogue:
    """All agents that can be chosen, by name.

    Args:
        entries: them, in the order of the page's choice list.

    Attributes:
        readiness: whether each can play already, by its name; objects can. Kept by
            :mod:`skyenv.page.preparing`.
        find: the file of a network that has another name, None if there is none; such an agent is
            made when it is first looked up, and offered from then on.
    """

    def __init__(self, entries: Iterable[CatalogueEntry]) -> None:
        self._entries: dict[str, CatalogueEntry] = {entry.name: entry for entry in entries}
        self.readiness = {
            name: Readiness()
            if isinstance(entry.source, str)
            else Readiness("ready", entry.source.description)
            for name, entry in self._entries.items()
        }
        self.find: Callable[[str], Path | None] = lambda name: None

    @property
    def names(self) -> list[str]:
        """The names, in the order of the choice list."""
        return list(self._entries)

    def describe(self) -> list[dict[str, Any]]:
        """Each agent for the page: `name`, `ready` and what :class:`Readiness` has."""
        return [
            {"name": name, "ready": one.state == "ready", **vars(one)}
            for name, one in self.readiness.items()
        ]

    def __getitem__(self, name: str) -> CatalogueEntry:
        """The entry of that name, if it is known already. Nothing is looked for, read or imported.

        Raises:
            PageError: there is none.
        """
        if name not in self._entries:
            raise PageError(
                f"there is no agent {shown(name)} here; there are {', '.join(self._entries)}", 404
            )
        return self._entries[name]

    async def look_up(self, name: str) -> CatalogueEntry:
        """The entry of that name; a network that `find` knows is read in another thread and is an
        entry from then on.

        Raises:
            PageError: there is none, or its file is damaged.
        """
        path = None if name in self._entries else await asyncio.to_thread(self.find, name)
        if path is not None:
            entry = CatalogueEntry(name, str(path))
            try:
                agent = await asyncio.to_thread(lambda: entry.agent)
            except SkyenvError as error:  # which tells the file's path
                raise PageError(
                    f"{name} can't play: its file is damaged, or another version's"
                ) from error
            self._entries[name], self.readiness[name] = entry, Readiness("ready", agent.description)
        return self[name]


def catalogue(specifications: Iterable[str] = ()) -> Catalogue:
    """The agents asked for, then all others that have a name (:func:`skyenv.agents.agent_names`).

    None of them is imported.

    Args:
        specifications: as for :func:`skyenv.agents.make_agent`.

    Raises:
        AgentError, CheckpointError: that there is no such agent can be told without importing it.
    """
    asked = list(dict.fromkeys(specifications))
    for specification in asked:
        check_specification(specification)
    return Catalogue(CatalogueEntry(name, name) for name in dict.fromkeys([*asked, *agent_names()]))


# ---- how strong they are ----

PLAYERS: Final = 2
SIDE: Final = "front"
"""The table of the published ladder that the points are of, which is the table that the lobby sets
up.
"""
STRENGTHS: Final = {
    "easy": ("crowd", "Goes for full districts and plays much at random. Good for a first game."),
    "medium": ("greedy", "Takes what brings the most points right now, and never looks ahead."),
    "strong": (
        "trained",
        "A neural network that has learnt by playing against itself. It decides at once.",
    ),
    "strongest": (
        "ismcts-trained",
        "The same network, and it thinks some moves ahead before it decides.",
    ),
}
"""For each strength in words, from the weakest: the agent that has it, and how it plays."""


def strengths(offered: Container[str]) -> list[dict[str, Any]]:
    """What the lobby offers, from the weakest agent to the strongest, for the page.

    Args:
        offered: names of the agents that can be chosen; others are left out.

    Returns:
        For each its strength in words, its name, its points on the published ladder (400 more are
        odds of 10 to 1; None if the ladder doesn't have it), and how it plays.
    """
    rated = ladder.read(ladder.path_of(PLAYERS, SIDE))["agents"]
    points = {agent["name"]: float(agent["rating"]["mean"]) for agent in rated}
    return [
        {"word": word, "agent": name, "rating": points.get(name), "style": style}
        for word, (name, style) in STRENGTHS.items()
        if name in offered
    ]
