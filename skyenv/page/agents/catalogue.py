"""The agents on offer: those named when the server started, and the strengths that the lobby
suggests.
"""

from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from skyenv.agents import (
    Agent,
    agent_names,
    check_specification,
    make_agent,
)
from skyenv.arena import ladder
from skyenv.errors import shown
from skyenv.page.errors import PageError


@dataclass(frozen=True)
class CatalogueEntry:
    """An agent that can be chosen.

    It can be pickled; another process makes an agent that has a specification itself.

    Attributes:
        name: the name on the page, in the database and in records.
        source: the specification, as for :func:`skyenv.agents.make_agent`, or the agent itself.
    """

    name: str
    source: str | Agent

    @property
    def agent(self) -> Agent:
        """Return the agent; made on first use, once per process.

        Raises:
            AgentError, CheckpointError: it can't be made.
        """
        return _made(self.source) if isinstance(self.source, str) else self.source


_made = cache(make_agent)


@dataclass
class Readiness:
    """The state of an agent's preparation.

    Attributes:
        state: ``"waiting"``, ``"preparing"``, ``"ready"`` or ``"failed"``.
        description: the agent's own, a line; empty until it is known.
        error: the reason of a failure, a line.
    """

    state: str = "waiting"
    description: str = ""
    error: str = ""


class Catalogue:
    """The agents that can be chosen, by name.

    Args:
        entries: the agents, in the order of the page's choice list.

    Attributes:
        readiness: the state of each agent, by name; agents given as objects are ready. Updated by
            :mod:`skyenv.page.agents.preparing`.
    """

    def __init__(self, entries: Iterable[CatalogueEntry]) -> None:
        self._entries: dict[str, CatalogueEntry] = {entry.name: entry for entry in entries}
        self.readiness = {
            name: Readiness()
            if isinstance(entry.source, str)
            else Readiness("ready", entry.source.description)
            for name, entry in self._entries.items()
        }

    @property
    def names(self) -> list[str]:
        """Return the names, in the order of the choice list."""
        return list(self._entries)

    def describe(self) -> list[dict[str, Any]]:
        """Return each agent for the page: `name`, `ready` and the fields of :class:`Readiness`."""
        return [
            {"name": name, "ready": one.state == "ready", **vars(one)}
            for name, one in self.readiness.items()
        ]

    def __getitem__(self, name: str) -> CatalogueEntry:
        """Return the entry of a name; nothing is imported.

        Raises:
            PageError: there is no such entry.
        """
        if name not in self._entries:
            raise PageError(
                f"there is no agent {shown(name)} here; choose from {', '.join(self._entries)}", 404
            )
        return self._entries[name]


def catalogue(specifications: Iterable[str] = ()) -> Catalogue:
    """Return the requested agents, then all registered ones (:func:`skyenv.agents.agent_names`)
    and those of :data:`STRENGTHS`.

    No agent is imported.

    Args:
        specifications: as for :func:`skyenv.agents.make_agent`.

    Raises:
        AgentError, CheckpointError: there is no such agent, as far as is known without an import.
    """
    asked = list(dict.fromkeys(specifications))
    for specification in asked:
        check_specification(specification)
    names = dict.fromkeys([*asked, *agent_names(), *(name for name, _ in STRENGTHS.values())])
    return Catalogue(CatalogueEntry(name, name) for name in names)


# ---- strengths ----

PLAYERS: Final = 2
# The players and side of the ladder from which points come; the lobby sets up the same table.
SIDE: Final = "front"
# For each strength, from the weakest: its agent, and how that plays.
STRENGTHS: Final = {
    "easy": ("random", "Plays any legal move. Good for a first game."),
    "medium": ("greedy", "Takes the most points available now and never looks ahead."),
    "strong": (
        "trained",
        "A neural network trained by self-play. It moves at once.",
    ),
    "strongest": (
        "ismcts-trained-1000",
        "The same network with a search a few moves ahead.",
    ),
}
# The agents that replays suggest first.
STRONGEST: Final = ("ismcts-trained-1000", "ismcts", "trained", "appraiser", "greedy")


def strengths(offered: Container[str]) -> list[dict[str, Any]]:
    """Return the lobby's suggestions, from the weakest agent to the strongest.

    Args:
        offered: names of the agents that can be chosen; others are left out.

    Returns:
        For each agent its strength in words, name, points on the published ladder (400 more are
        odds of 10 to 1; None if it isn't on the ladder), and how it plays.
    """
    rated = ladder.read(ladder.path_of(PLAYERS, SIDE))["agents"]
    points = {agent["name"]: float(agent["rating"]["mean"]) for agent in rated}
    return [
        {"word": word, "agent": name, "rating": points.get(name), "style": style}
        for word, (name, style) in STRENGTHS.items()
        if name in offered
    ]
