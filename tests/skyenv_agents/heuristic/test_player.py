"""Greedy and the appraiser: plainly best actions, and their weights; reference agents and perturbed
ones.
"""

import hashlib
import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

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
from skyenv.arena.ratings import ANCHORS
from skyenv.engine.game import Game
from skyenv.errors import AgentError
from skyenv.rules.actions import ACTION_NAMES, NUM_ACTIONS
from skyenv_agents import AppraiserAgent, GreedyAgent
from skyenv_agents.heuristic.player import HeuristicAgent
from skyenv_agents.heuristic.references import SPREAD, perturbed

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


# ---- reference and perturbed agents ----


# Digests of the weights: where they change, the ladders' scale does.
FIXED = {
    "appraiser": "cf69c6bce1af3215",
    "bidder": "a6bda86039a0dd42",
    "builder": "3fe297cbd0a55a67",
}


def test_weights_of_the_anchors_are_fixed() -> None:
    assert FIXED.keys() == set(ANCHORS)
    for name, digest in FIXED.items():
        agent: Any = make_agent(name)
        weights = {
            str(players): dict(weights) for players, weights in agent.default_weights.items()
        }
        assert hashlib.sha256(json.dumps(weights).encode()).hexdigest()[:16] == digest
        assert agent.version == "1"


def test_perturbed_agents_derive_weights_from_their_numbers() -> None:
    """The same for all numbers of players, never of another sign."""
    logarithms = []
    for number in range(40):
        agent, kind = perturbed(number), (AppraiserAgent if number % 2 else GreedyAgent)
        assert isinstance(agent, kind)
        assert agent.name == f"perturbed-{number}"
        two, four = (
            [
                agent.weights(players)[name][0] / value
                for name, value in kind.default_weights[players].items()
            ]
            for players in (2, 4)
        )
        assert two == pytest.approx(four)
        logarithms += np.log(two).tolist()
    assert np.std(logarithms) == pytest.approx(SPREAD, rel=0.1)
    for wrong in (-1, 10**9 + 1, 0.5):
        with pytest.raises(AgentError, match="number"):
            perturbed(wrong)  # type: ignore[arg-type]
