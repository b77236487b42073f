"""The agents that people can choose on the page: those named when the server started, and no others."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from skyenv.agents import BUILT_IN, Agent, agent_names, decide_game, make_agent
from skyenv.errors import PageError, shown
from skyenv.game import Game
from skyenv.rules.state import NONE

USUAL: Final = ("greedy", "appraiser", "rollout", "ismcts", "trained", "ismcts-trained")
"""Agents of a clone that are offered without being asked for, if they are there."""


@dataclass(frozen=True)
class Offer:
    """An agent that can be chosen.

    Attributes:
        name: what it is called on the page, in the database and in records.
        agent: the agent itself.
        lock: held while it decides, as an agent needn't be safe in several threads. Who asks it from an event loop lets one
            caller at a time near it (``House.think``), lest threads stand and wait here.
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


class Offers:
    """All agents that can be chosen, by name.

    Args:
        offers: them, in the order of the page's choice list.
    """

    def __init__(self, offers: Iterable[Offer]) -> None:
        self._offers: Mapping[str, Offer] = {offer.name: offer for offer in offers}

    @property
    def names(self) -> list[str]:
        """The names, in the order of the choice list."""
        return list(self._offers)

    def describe(self) -> list[dict[str, str]]:
        """Name and description of each, for the page."""
        return [{"name": name, "description": offer.agent.description} for name, offer in self._offers.items()]

    def __getitem__(self, name: str) -> Offer:
        """The offer of that name.

        Raises:
            PageError: there is none. Nothing is looked for, read or imported.
        """
        if name not in self._offers:
            raise PageError(f"there is no agent {shown(name)} here; there are {', '.join(self._offers)}", 404)
        return self._offers[name]


def offers(specifications: Iterable[str] = ()) -> Offers:
    """The agents named, then the usual ones of a clone, then the built-in ones.

    Args:
        specifications: as for :func:`skyenv.agents.make_agent`.

    Raises:
        AgentError, CheckpointError: there is no such agent, or it can't be made.
    """
    known = agent_names()
    usual = [name for name in USUAL if name in known]
    names = dict.fromkeys([*specifications, *usual, *BUILT_IN])
    return Offers(Offer(name, make_agent(name)) for name in names)
