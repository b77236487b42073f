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
    and those of :data:`STRENGTHS`, the REFERENCES last.

    No agent is imported.

    Args:
        specifications: as for :func:`skyenv.agents.make_agent`.

    Raises:
        AgentError, CheckpointError: there is no such agent, as far as is known without an import.
    """
    asked = list(dict.fromkeys(specifications))
    for specification in asked:
        check_specification(specification)
    others = [*agent_names(), *(name for name, _ in STRENGTHS.values())]
    names = dict.fromkeys([*asked, *sorted(others, key=REFERENCES.__contains__)])
    return Catalogue(CatalogueEntry(name, name) for name in names)


# ---- strengths ----

PLAYERS: Final = 2
# The players and side of the ladder from which points come; the lobby sets up the same table.
SIDE: Final = "front"
# By the names that the lobby gives them, from the weakest: agents about 150 points apart, and how
# each plays.
STRENGTHS: Final = {
    "Tourist": ("greedy-4vp", "Guesses a lot: most of its moves cost it points."),
    "Shopkeeper": ("greedy-2.5vp", "Sees the points on the board, but often takes less."),
    "Landlord": ("greedy-1.5vp", "Takes good moves, with a slip in most turns."),
    "Broker": ("greedy-1vp", "Takes the points at hand, with a slip now and then."),
    "Banker": ("greedy", "Takes the most points available now and never looks ahead."),
    "Surveyor": ("rollout-16", "Tries its best moves in a few quick games."),
    "Planner": ("ismcts-100", "Searches a few moves ahead, a hundred times."),
    "Architect": ("trained", "A neural network trained by self-play. It moves at once."),
    "Developer": (
        "ismcts-trained-1000",
        "The Architect's network, searching a few moves ahead.",
    ),
    "Tycoon": ("lookahead", "The Architect's network, which plays its best moves out first."),
}
# Those that are shown first; the others are behind "more".
OFFERED: Final = ("Shopkeeper", "Banker", "Architect", "Tycoon")
# Agents for measuring, which lists show last.
REFERENCES: Final = ("bidder", "builder", "random", "trained-2026a", "trained-2026b")
# The agents that replays suggest first.
STRONGEST: Final = ("lookahead", "ismcts-trained-1000", "trained", "appraiser", "greedy")


def strengths(offered: Container[str]) -> list[dict[str, Any]]:
    """Return the lobby's suggestions: those of OFFERED, then the others, each from the weakest
    agent to the strongest.

    Args:
        offered: names of the agents that can be chosen; others are left out.

    Returns:
        For each agent the lobby's name for it, its own, points on the published ladder (400 more
        are odds of 10 to 1; None if it isn't on the ladder), how it plays, and whether it is one
        of OFFERED.
    """
    rated = ladder.read(ladder.path_of(PLAYERS, SIDE))["agents"]
    points = {agent["name"]: float(agent["rating"]["mean"]) for agent in rated}
    return [
        {
            "word": word,
            "agent": STRENGTHS[word][0],
            "rating": points.get(STRENGTHS[word][0]),
            "style": STRENGTHS[word][1],
            "first": word in OFFERED,
        }
        for word in sorted(STRENGTHS, key=lambda word: word not in OFFERED)
        if STRENGTHS[word][0] in offered
    ]
