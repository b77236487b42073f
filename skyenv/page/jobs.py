"""What workers do for the page (:mod:`skyenv.page.workers`): an agent's turn, and a hint."""

from __future__ import annotations

from skyenv.agents import decide_game
from skyenv.engine.game import Game
from skyenv.page.catalogue import CatalogueEntry
from skyenv.page.hints import Hint, hint, sure_of_all
from skyenv.page.payloads import Payload, hint_payload
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


def advise(entry: CatalogueEntry, game: Game, report: Report) -> Payload:
    """An agent's hint of the decision that is open, as a browser is told it; the same is reported
    of what it has come to so far.

    Raises:
        PageError: the game is over.
        AgentError: the agent's answer is none.
    """

    def payload(told: Hint) -> Payload:
        return hint_payload(told, game, entry.name) | {
            "seat": game.seat,
            "sure": sure_of_all(told, game),
        }

    return payload(hint(entry, game, lambda so_far: report(payload(so_far))))
