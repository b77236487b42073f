"""Greedy and the appraiser: plainly best actions, and their weights."""

import re
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from scenario import (
    after_businesses,
    bare_game,
    bids,
    district,
    play_all,
    start_auction,
    stopped,
    supply_row,
)
from skyenv import Games, make_agent
from skyenv.agents import decide_game, decisions_in
from skyenv.engine.game import Game
from skyenv.errors import AgentError
from skyenv.rules.actions import ACTION_NAMES, NUM_ACTIONS
from skyenv_agents import AppraiserAgent, GreedyAgent
from skyenv_agents.heuristic.player import HeuristicAgent

GREEDY, APPRAISER = GreedyAgent(), AppraiserAgent()


def business_at_hand() -> Game:
    """Own skyscrapers on the violet plot, between green and brown; another's next door."""
    game = bare_game()
    district(game, "TSQ", violet=(0, 3))
    district(game, "E42", violet=(1, 3))
    supply_row(game, "gallery gallery gallery")
    game.play("option B gallery")
    return game


def good_plot(hand: str, laid: int = 0) -> Game:
    """An auction where a violet 7 or more is needed for a plot of value 8, some violet fours laid
    down.
    """
    game = bare_game(hands=[hand, "gray 6"])
    district(game, "TSQ", violet=(0, 1), green="boutique jeweller", brown="gallery perfumery")
    start_auction(game, ["TSQ"], starter=1)
    bids(game, "1 gray 6", "2 pass")
    play_all(game, *["bid violet 4"] * laid)
    return game


def last_business(lead: int) -> Game:
    """Option B ends the game, with so many VP more than the others."""
    game = bare_game()
    after_businesses(game, 11)
    game.state["score"][:3] = [50 + lead, 50, 50]
    return game


def last_stop(mine: int, others: int) -> Game:
    """A building stop, or else a skyscraper, for the winner of an auction; the stop ends the
    game.
    """
    game = bare_game(hands=["green 4"])
    stopped(game, "E34")
    plots = {"green": (0, 1), "violet": (1, 1), "brown": (2, 1)}
    district(game, "TSQ", **plots, orange="boutique", gray="boutique")
    game.state["score"][:3] = [mine, others, others]
    start_auction(game, ["TSQ"])
    bids(game, "0 green 4", "1 pass", "2 pass")
    return game


@pytest.mark.parametrize("agent", [GREEDY, APPRAISER], ids=lambda agent: agent.name)
@pytest.mark.parametrize(
    ("position", "pattern", "right"),
    [
        (business_at_hand, "plot TSQ (green|brown)", True),
        *(
            (partial(good_plot, "violet 4 4 4 5 6", laid), pattern, True)
            for laid, pattern in enumerate(("bid violet 4", "bid violet 4", "bid done"))
        ),
        *(  # and no black card
            (partial(good_plot, "violet 4 4 black 4 4 4 5 5 5 6 6 6", laid), "bid violet 4", True)
            for laid in (0, 1)
        ),
        (lambda: last_business(25), "option B .*", True),
        (lambda: last_business(-25), "option B .*", False),
        (lambda: last_stop(60, 35), "stop", True),
        (lambda: last_stop(10, 35), "stop", False),
    ],
)
def test_heuristic_agents_choose_plainly_best_actions(
    position: Callable[[], Game], pattern: str, right: bool, agent: HeuristicAgent
) -> None:
    game = position()
    game.refresh()
    assert bool(re.fullmatch(pattern, ACTION_NAMES[decide_game(game, agent)])) == right


@pytest.mark.parametrize("agent", [GREEDY, APPRAISER], ids=lambda agent: agent.name)
def test_weights_must_have_the_agents_names(agent: HeuristicAgent) -> None:
    default, kind = agent.default_weights, type(agent)
    changed = kind({**default, 2: {**default[2], "point": 1.5}})
    assert changed.weights(2)["point"] == 1.5
    for wrong in ({"point": 1.0}, {**default[2], "other": 1.0}):
        with pytest.raises(AgentError, match=f"weights of {agent.name}"):
            kind({**default, 3: wrong})


def test_weaker_greedy_agents_sample_by_scores() -> None:
    """The random numbers are evenly spaced, so each share is exact to one of them."""
    numbers = 1000
    games = Games(numbers, num_players=2, seed=np.full(numbers, 7))
    for temperature in (1.0, 2.5):
        agent = make_agent(f"greedy-{temperature:g}vp")
        assert isinstance(agent, GreedyAgent)
        even = (np.arange(numbers) + 0.5) / numbers
        decisions = decisions_in(games, agent, uniform=even)
        shares = np.bincount(agent.act(decisions), minlength=NUM_ACTIONS) / numbers
        weights = np.exp(agent.scores(decisions)[0] / temperature) * decisions.mask[0]
        np.testing.assert_allclose(shares, weights / weights.sum(), atol=2 / numbers)
    for wrong in ("greedy-0vp", "greedy-vp", "greedy-2"):
        with pytest.raises(AgentError, match="greedy has no variants"):
            make_agent(wrong)
