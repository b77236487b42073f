"""What workers do for the page (:mod:`skyenv.page.workers`): an agent's turn."""

from __future__ import annotations

from skyenv.agents import decide_game
from skyenv.engine.game import Game
from skyenv.page.catalogue import CatalogueEntry
from skyenv.page.workers import Report
from skyenv.rules.state import NONE


def move(entry: CatalogueEntry, game: Game, report: Report) -> list[int]:
    """What an agent plays next in a game, which is changed: one action, or all actions of a bid.

    Raises:
        AgentError: the agent's answer is none.
    """
    actions: list[int] = []
    while True:
        actions.append(decide_game(game, entry.agent))
        game.play(actions[-1])
        if game.phase != "bid" or int(game.state["laid"]) == NONE:
            return actions
