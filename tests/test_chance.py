"""Chance, one decision after the other: which outcomes are possible, how probable they are, and choosing one from outside."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest
from scenario import even

from skyenv import ChanceError, Game, IllegalActionError, make_agent
from skyenv.agents import decide_game
from skyenv.rules.components import BUSINESSES, COLOURS

TABLES = [(players, side) for players in (2, 3, 4) for side in ("front", "back")]
Walk = tuple[list[Any], float]


def walked(ahead: Any, rng: np.random.Generator) -> Walk:
    """Chance decided from outside, one node after the other: the outcomes, and the probability of all of them."""
    chance: list[Any] = []
    probability = 1.0
    while outcomes := ahead(chance):
        assert sum(outcomes.values()) == pytest.approx(1)
        assert min(outcomes.values()) > 0
        chosen = rng.choice(len(outcomes), p=list(outcomes.values()))
        chance.append(list(outcomes)[chosen])
        probability *= outcomes[chance[-1]]
    return chance, probability


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_a_game_can_be_played_with_all_chance_from_outside(players: int, side: str) -> None:
    rng = np.random.default_rng(players)
    setup, _ = walked(lambda chance: Game.setup_chance(players, side, chance=chance), rng)
    assert len(setup) == (14 if side == "front" else 7) + 20 + 9 * players + 5
    game, agent = Game(players, side, 7, chance=setup), make_agent("crowd")
    other = Game(players, side, 8, chance=setup)
    nodes = 0
    while not game.is_over and game.turn < 25:
        action = decide_game(game, agent)
        before = game.copy()
        chance, _ = walked(lambda chance, action=action: game.chance_ahead(action, chance), rng)
        nodes += len(chance)
        assert game == before
        assert game.play(action, chance) == other.play(action, chance)
    assert nodes > 20
    assert game.events == other.events  # their seeds differ, but nothing was left to them


def test_the_first_plots_colour_and_business() -> None:
    """SET-1: each colour is as likely as any other for the first district; of 36 businesses there are 9 of each type."""
    first = Game.setup_chance(2, "front")
    assert first == pytest.approx(dict.fromkeys(COLOURS, 1 / 5))
    assert Game.setup_chance(2, "front", chance=["green"]) == pytest.approx(dict.fromkeys(BUSINESSES, 1 / 4))
    back = Game.setup_chance(2, "back", chance=["boutique"])
    assert back["boutique"] == pytest.approx(8 / 35)


@pytest.mark.rule("SET-1")
def test_all_arrangements_of_plot_colours_are_equally_likely() -> None:
    """7! / (2!·2!) ways to give the colours of a multiset with two pairs, for each of the C(5, 2) choices of the pairs."""
    number = comb(5, 2) * 5040 // 4
    rng = np.random.default_rng(1)
    for _ in range(5):
        chance: list[Any] = []
        probability = Fraction(1)
        for _ in range(7):
            colours = Game.setup_chance(2, "front", chance=chance)
            chosen = list(colours)[rng.integers(len(colours))]
            probability *= Fraction(colours[chosen]).limit_denominator(10**6)
            chance.append(chosen)
            chance.append(next(iter(Game.setup_chance(2, "front", chance=chance))))
        assert probability == Fraction(1, number)


@pytest.mark.parametrize(("players", "seed"), [(2, 3), (3, 5), (4, 1)])
def test_the_games_own_stream_follows_these_probabilities(players: int, seed: int) -> None:
    """Whole outcomes of an action, over streams that differ, against the product of their nodes' probabilities."""
    game, agent = Game(players, seed=seed), make_agent("crowd")
    tried = 0
    while tried < 4 and not game.is_over:
        action = decide_game(game, agent)
        first = game.chance_ahead(action)
        if len(first) > 1:
            tried += 1
            found: Counter[Any] = Counter()
            for number in range(1500):
                twin = game.copy()
                twin.state["random"] = np.random.default_rng([seed, number]).integers(1, 2**32, 4)
                events = twin.play(action)
                found[_first_decided(events)] += 1
            assert set(found) <= set(map(str, first))
            assert even([found[str(outcome)] for outcome in first], list(first.values()))
        game.play(action)
    assert tried == 4


def _first_decided(events: list[Any]) -> str:
    """What chance decided first, by the events of an action."""
    for event in events:
        if event["event"] in ("black", "top"):
            return str(event["card"])
        if event["event"] == "alea":
            return str(event["cards"][0])
        if event["event"] == "park":
            return str(event["tiles"][0])
    raise AssertionError(events)


def test_actions_without_chance_have_none_ahead() -> None:
    game = Game(2, seed=1)
    assert game.chance_ahead(game.legal_actions[0]) == {}


def test_what_cannot_be_is_refused() -> None:
    game = Game(2, seed=1)
    before = game.copy()
    with pytest.raises(IllegalActionError):
        game.chance_ahead("pass")
    with pytest.raises(ChanceError, match="only 0 were needed"):
        game.chance_ahead(game.legal_actions[0], [4])
    with pytest.raises(ChanceError, match="impossible"):
        Game.setup_chance(2, "front", chance=["boutique"])
    assert game == before
