"""Chance, one decision after the other: which outcomes are possible, how probable they are, and
choosing one from outside.
"""

from __future__ import annotations

import copy
import doctest
import pickle
from collections import Counter
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest

import skyenv.engine.chance_feed
from scenario import even
from skyenv import ChanceError, Game, Games, IllegalActionError, OptionError, make_agent
from skyenv.agents import decide, decide_game
from skyenv.engine.chance_feed import OUTCOMES, SETUP, ChanceFeed
from skyenv.engine.events import events_told
from skyenv.rules.components import BUSINESSES, COLOURS
from skyenv.rules.state import GAME_DTYPE, NONE

TABLES = [(players, side) for players in (2, 3, 4) for side in ("front", "back")]
Walk = tuple[list[Any], float]


def walked(ahead: Any, rng: np.random.Generator) -> Walk:
    """Chance decided from outside, one node after the other: the outcomes, and the probability of
    all of them.
    """
    chance: list[Any] = []
    probability = 1.0
    while outcomes := ahead(chance):
        assert sum(outcomes.values()) == pytest.approx(1)
        assert min(outcomes.values()) > 0
        chosen = rng.choice(len(outcomes), p=list(outcomes.values()))
        chance.append(list(outcomes)[chosen])
        probability *= outcomes[chance[-1]]
    return chance, probability


@pytest.mark.compiled
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
    """SET-1: each colour is as likely as any other for the first district; of 36 businesses there
    are 9 of each type.
    """
    first = Game.setup_chance(2, "front")
    assert first == pytest.approx(dict.fromkeys(COLOURS, 1 / 5))
    assert Game.setup_chance(2, "front", chance=["green"]) == pytest.approx(
        dict.fromkeys(BUSINESSES, 1 / 4)
    )
    back = Game.setup_chance(2, "back", chance=["boutique"])
    assert back["boutique"] == pytest.approx(8 / 35)


@pytest.mark.rule("SET-1")
def test_all_arrangements_of_plot_colours_are_equally_likely() -> None:
    """7! / (2!·2!) ways to give the colours of a multiset with two pairs, for each of the C(5, 2)
    choices of the pairs.
    """
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


@pytest.mark.compiled
@pytest.mark.parametrize(("players", "seed"), [(2, 3), (3, 5), (4, 1)])
def test_the_games_own_stream_follows_these_probabilities(players: int, seed: int) -> None:
    """Whole outcomes of an action, over streams that differ, against the product of their nodes'
    probabilities.
    """
    game, agent = Game(players, seed=seed), make_agent("crowd")
    tried = 0
    while tried < 4 and not game.is_over:
        action = decide_game(game, agent)
        first = game.chance_ahead(action)
        if len(first) > 1:
            tried += 1
            counts: Counter[Any] = Counter()
            for number in range(1500):
                twin = game.copy()
                twin.state["random"] = np.random.default_rng([seed, number]).integers(1, 2**32, 4)
                events = twin.play(action)
                counts[_first_decided(events)] += 1
            assert set(counts) <= set(map(str, first))
            assert even([counts[str(outcome)] for outcome in first], list(first.values()))
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


# ---- the feed itself ----


def test_the_example_in_the_docs() -> None:
    assert doctest.testmod(skyenv.engine.chance_feed) == doctest.TestResults(failed=0, attempted=3)


@pytest.mark.compiled
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_playing_by_numbers_is_playing_by_words(players: int, side: str) -> None:
    """The same nodes with the same probabilities, the same positions and events, each position
    taken up from its bytes.
    """
    rng = np.random.default_rng(players)
    words, numbers = (ChanceFeed(players, side, 5, max_turns=4) for _ in range(2))
    action, events, agent = SETUP, [], make_agent("crowd")
    while action == SETUP or words.seat[0] != NONE:
        position, chance = words.position(), list[int]()
        while outcomes := numbers.play_unchecked(position, action, chance):
            assert words.ahead(action, [OUTCOMES[number] for number in chance]) == {
                OUTCOMES[n]: p for n, p in outcomes
            }
            chance.append(outcomes[rng.integers(len(outcomes))][0])
        in_words = [OUTCOMES[number] for number in chance]
        events = words.set_up(None, in_words) if action == SETUP else words.play(action, in_words)
        assert words.position() == numbers.position()
        assert words.mask.tobytes() == numbers.mask.tobytes()
        if action != SETUP:
            assert events_told(numbers.event_rows(), numbers.state, numbers.board) == events[1:]
        if words.seat[0] != NONE:
            action = int(decide(words, agent)[0])
    assert events[-1]["event"] == "end"
    assert not words.is_seeded


@pytest.mark.compiled
def test_a_position_is_taken_back() -> None:
    """Whole, with what follows from it: legal actions, seat and observation; the game goes on from
    there as it did before.
    """
    feed = ChanceFeed(2, seed=6)
    for _ in range(30):
        feed.play(int(feed.mask[0].argmax()))
    position, shown = (
        feed.position(),
        (feed.mask.tobytes(), feed.observation.tobytes(), feed.seat[0]),
    )
    first = [feed.play(int(feed.mask[0].argmax())) for _ in range(20)]
    for taken_from in (position, np.frombuffer(position, GAME_DTYPE)):
        feed.rewind(taken_from)
        assert (
            feed.position(),
            (feed.mask.tobytes(), feed.observation.tobytes(), feed.seat[0]),
        ) == (position, shown)
        assert [feed.play(int(feed.mask[0].argmax())) for _ in range(20)] == first


@pytest.mark.compiled
def test_the_batchs_own_steps_tell_nothing_and_fill_no_tape() -> None:
    """They would run over its end if they did: it has room for the events of one action."""
    feed, alone = ChanceFeed(3, seed=6), Games(1, 3, seed=6, autoreset=False)
    feed.play(int(feed.mask[0].argmax()))
    rows = feed.event_rows()
    alone.step([int(alone.mask[0].argmax())])
    for games in (feed, alone):
        games.play_random(300)
    assert feed.position() == alone.state.tobytes()
    assert feed.event_rows() == rows == []
    feed.reset(6)
    assert feed.is_seeded
    assert feed.event_rows() == []


@pytest.mark.parametrize(
    "copied", [ChanceFeed.copy, copy.deepcopy, lambda feed: pickle.loads(pickle.dumps(feed))]
)
def test_copies_have_a_feed_of_their_own(copied: Any) -> None:
    feed = ChanceFeed(2, seed=3, observe=False)
    feed.set_up(3, ["green"])
    twin = copied(feed)
    assert not twin.is_seeded
    assert twin.position() == feed.position()
    action = int(feed.mask[0].argmax())
    before = feed.position()
    events = twin.play(action)
    assert (feed.position(), feed.event_rows()) == (before, [])
    assert feed.play(action) == events


def test_a_seed_counts_as_long_as_nothing_comes_from_outside() -> None:
    feed = ChanceFeed(2, seed=3)
    assert feed.is_seeded
    setup = feed.set_up(9)
    assert (feed.is_seeded, setup) == (True, Game(2, seed=9).events)
    feed.set_up(None)
    assert (feed.is_seeded, feed.seeds.tolist()) == (False, [NONE])
    feed.set_up(9, ["green"])
    assert not feed.is_seeded


def test_a_game_tells_a_seed_if_it_decides_the_game() -> None:
    """Else none, in its header either: not with chance from outside, not after its state was
    edited.
    """
    game = Game(3, seed=7)
    while game.chance_ahead(game.legal_actions[0]) == {}:
        game.play(game.legal_actions[0])
    fed, edited = game.copy(), game.copy()
    game.play(game.legal_actions[0])
    assert (game.seed, game.header()["seed"]) == (7, 7)
    fed.play(fed.legal_actions[0], list(fed.chance_ahead(fed.legal_actions[0]))[:1])
    edited.state["score"][0] += 1
    edited.refresh()
    for other in (fed, edited, Game(3, seed=7, chance=["green"])):
        assert (other.seed, other.header()["seed"], other.copy().seed) == (None, None, None)


@pytest.mark.parametrize("seed", [-1, -2, -5, 2**63, "x", 1.0, True])
def test_wrong_seeds_set_up_nothing(seed: Any) -> None:
    feed = ChanceFeed(2, seed=1, observe=False)
    before = feed.position()
    with pytest.raises(OptionError, match=r"^seed must be a whole number from 0 to"):
        feed.set_up(seed)
    assert feed.position() == before


@pytest.mark.parametrize("action", [3.0, "x", None, True, [13], np.zeros(2, int), 10**50])
def test_what_is_no_action_at_all(action: Any) -> None:
    feed = ChanceFeed(2, seed=1, observe=False)
    for wrong in (feed.play, feed.ahead):
        with pytest.raises(IllegalActionError, match=r"^an action is a number from 0 to 102, not"):
            wrong(action)
    with pytest.raises(IllegalActionError, match="action 103 is not a number"):
        feed.play(103)


@pytest.mark.parametrize("chance", [5, None, 4.5])
def test_chance_that_is_no_row_of_outcomes(chance: Any) -> None:
    game = Game(2, seed=1)
    for wrong in (
        lambda: Game(2, seed=1, chance=chance),
        lambda: game.play(game.legal_actions[0], chance),
    ):
        with pytest.raises(ChanceError, match="chance must be outcomes one after the other, not"):
            wrong()


def test_it_rewards_as_a_batch_does() -> None:
    games = Games(1, seed=3, reward="points", max_turns=30)
    feed = ChanceFeed(seed=3, reward="points", max_turns=30)
    agent, total = make_agent("greedy"), 0.0
    while feed.seat[0] != NONE:
        action = decide(feed, agent)
        feed.play(int(action[0]))
        games.step(action)
        assert np.array_equal(feed.reward, games.reward)
        total += float(feed.reward.sum())
    assert total == feed.state["score"].sum() > 0
