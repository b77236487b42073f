"""Greedy and the appraiser: plainly best actions, and their weights."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from positions import auction, blank, choose, stand
from skyenv.engine.game import Game
from skyenv.errors import AgentError
from skyenv.rules.components import BLACK
from skyenv_agents import AppraiserAgent, GreedyAgent
from skyenv_agents.heuristic.player import HeuristicAgent

GREEDY, APPRAISER = GreedyAgent(), AppraiserAgent()


def business_at_hand() -> Game:
    """Own skyscrapers on the violet plot, between green and brown; another's next door."""
    game = blank(phase=2, option=1, business=2)
    stand(game, 3, 1, 0, 3)
    stand(game, 4, 1, 1, 3)
    return game


def good_plot(coloured: list[int], black: list[int], laid: int = 0) -> Game:
    """An auction where a violet 7 or more is needed for a plot of value 8, some violet fours laid
    down.
    """
    game = blank()
    stand(game, 3, 1, 0, 1)
    state: Any = game.state
    state.tiles[3, 0], state.tiles[3, 2] = [1, 1, 0, 0], [0, 0, 1, 1]
    auction(game, 3, 6, 1)
    state.hand[0, 1], state.hand[0, BLACK] = coloured, black
    if laid:
        state.laid, state.bid_colour[0] = 0, 1
        state.bid_total[0], state.bid_cards[0, 0, 0] = 4 * laid, laid
    return game


def last_business(lead: int) -> Game:
    """Option B ends the game, with so many VP more than the others."""
    game = blank(placed=11, score=[50 + lead, 50, 50, 0])
    game.state.row[:] = -1
    game.state.row[18:20] = 0
    return game


def last_stop(mine: int, others: int) -> Game:
    """A building stop, or else a skyscraper, for the winner of an auction; the stop ends the
    game.
    """
    score = [mine, others, others, 0]
    game = blank(score=score, stops=1, phase=6, auction_place=3, auction_commissioner=0)
    for plot in range(3):
        stand(game, 3, plot, plot, 1)
    state: Any = game.state
    state.tiles[3, 3:5, 0] = 1
    state.bid_colour[0], state.bid_total[0], state.bid_cards[0, 0] = 0, 4, [1, 0, 0]
    state.highest, state.highest_bidder = 4, 0
    return game


@pytest.mark.parametrize("agent", [GREEDY, APPRAISER], ids=lambda agent: agent.name)
@pytest.mark.parametrize(
    ("position", "pattern", "right"),
    [
        (business_at_hand, "plot TSQ (green|brown)", True),
        (lambda: good_plot([3, 1, 1], [0, 0, 0]), "bid violet 4", True),
        (lambda: good_plot([2, 1, 1], [0, 0, 0], laid=1), "bid violet 4", True),
        (lambda: good_plot([1, 1, 1], [0, 0, 0], laid=2), "bid done", True),
        (lambda: good_plot([2, 0, 0], [3, 3, 3]), "bid violet 4", True),  # and no black card
        (lambda: good_plot([1, 0, 0], [3, 3, 3], laid=1), "bid violet 4", True),
        (lambda: last_business(25), "option B .*", True),
        (lambda: last_business(-25), "option B .*", False),
        (lambda: last_stop(60, 35), "stop", True),
        (lambda: last_stop(10, 35), "stop", False),
    ],
)
def test_heuristic_agents_choose_plainly_best_actions(
    position: Callable[[], Game], pattern: str, right: bool, agent: HeuristicAgent
) -> None:
    assert bool(re.fullmatch(pattern, choose(position(), agent))) == right


@pytest.mark.parametrize("agent", [GREEDY, APPRAISER], ids=lambda agent: agent.name)
def test_weights_must_have_the_agents_names(agent: HeuristicAgent) -> None:
    default, kind = agent.default_weights, type(agent)
    changed = kind({**default, 2: {**default[2], "point": 1.5}})
    assert changed.weights(2)["point"] == 1.5
    for wrong in ({"point": 1.0}, {**default[2], "other": 1.0}):
        with pytest.raises(AgentError, match=f"weights of {agent.name}"):
            kind({**default, 3: wrong})
