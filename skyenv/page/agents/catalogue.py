"""The agents on offer: those named when the server started, and the lobby's strengths."""

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from skyenv.agents import (
    Agent,
    agent_names,
    check_specification,
    make_agent,
)
from skyenv.errors import shown
from skyenv.page.errors import PageError
from skyenv.page.strengths import points

# Seconds that people wait for a hint of an agent that they haven't chosen.
PATIENCE: Final = 2.0


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
        unlisted: names of those that the list leaves out.

    Attributes:
        names: the names in the list, in its order.
        readiness: the state of each agent, by name; agents given as objects are ready. Updated by
            :mod:`skyenv.page.agents.preparing`.
        seconds: how long each agent's last two hints took, by name.
    """

    def __init__(self, entries: Iterable[CatalogueEntry], unlisted: Collection[str] = ()) -> None:
        self._entries: dict[str, CatalogueEntry] = {entry.name: entry for entry in entries}
        self.names = [name for name in self._entries if name not in unlisted]
        self.readiness = {
            name: Readiness()
            if isinstance(entry.source, str)
            else Readiness("ready", entry.source.description)
            for name, entry in self._entries.items()
        }
        self.seconds = {name: deque[float](maxlen=2) for name in self._entries}

    def adviser(self, players: int, side: str) -> str:
        """Return the agent that gives hints unless another is chosen: on the ladder of the table
        the strongest that answered within PATIENCE lately; if none did, the strongest.
        """
        offered = [name for name in points(players, side) if name in self.names]
        quick = [name for name in offered if any(s <= PATIENCE for s in self.seconds[name])]
        return [*quick, *offered, *self.names][0]

    def describe(self) -> list[dict[str, Any]]:
        """Return each listed agent: `name`, `ready` and the fields of :class:`Readiness`."""
        return [
            {"name": name, "ready": one.state == "ready", **vars(one)}
            for name, one in self.readiness.items()
            if name in self.names
        ]

    def __getitem__(self, name: str) -> CatalogueEntry:
        """Return the entry of a name; nothing is imported.

        Raises:
            PageError: there is no such entry.
        """
        if name not in self._entries:
            raise PageError(
                f"there is no agent {shown(name)} here; choose from {', '.join(self.names)}", 404
            )
        return self._entries[name]


# Registered agents that are for measuring, or that have other options in the lobby.
UNLISTED: Final = frozenset(
    {
        *("appraiser", "bidder", "builder", "ismcts", "ismcts-trained", "random", "rollout"),
        *("trained-2026a", "trained-2026b"),
    }
)


def catalogue(specifications: Iterable[str] = ()) -> Catalogue:
    """Return the requested agents, those of the lobby, then all others that are registered
    (:func:`skyenv.agents.agent_names`), of which UNLISTED are in no list unless requested.

    No agent is imported.

    Args:
        specifications: as for :func:`skyenv.agents.make_agent`.

    Raises:
        AgentError, CheckpointError: there is no such agent, as far as is known without an import.
    """
    asked = list(dict.fromkeys(specifications))
    for specification in asked:
        check_specification(specification)
    names = dict.fromkeys([*asked, *reversed(points()), *agent_names()])
    entries = (CatalogueEntry(name, name) for name in names)
    return Catalogue(entries, UNLISTED.difference(asked))
