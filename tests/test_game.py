"""A single game: playing, its chance asked and forced, outcomes, copies and errors."""

from __future__ import annotations

import copy
import doctest
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest

import skyenv.engine.game
from scenario import (
    after_businesses,
    as_likely,
    bare_game,
    black_stack,
    hand,
    only,
    stopped,
    supply_row,
)
from skyenv import (
    ChanceError,
    Game,
    GameOptions,
    GameOverError,
    Games,
    IllegalActionError,
    OptionError,
    Outcome,
    make_agent,
    make_board,
)
from skyenv.agents import decide_game
from skyenv.engine.events import events_of, setup_outcomes
from skyenv.engine.game import OUTCOMES, SETUP
from skyenv.rules.actions import ACTION_NAMES, ACTION_NUMBERS, NUM_ACTIONS
from skyenv.rules.components import BUSINESSES, COLOURS
from skyenv.rules.event_log import MAX_FORCED
from skyenv.rules.state import GAME_DTYPE, PHASES


def played(
    players: int = 3,
    side: str = "front",
    seed: int = 4,
    actions: int = 60,
    agent: str = "crowd",
    **options: Any,
) -> Game:
    """A game under way."""
    game = Game(players, side, seed, **options)
    for _ in range(actions):
        if game.is_over:
            break
        game.play(decide_game(game, make_agent(agent)))
    return game


def shown(game: Game) -> dict[str, Any]:
    """All that a game tells of itself."""
    return {
        "state": game.state.tobytes(),
        "mask": game.mask.tobytes(),
        "observations": [game.observation(seat).tobytes() for seat in range(game.num_players)],
        "events": copy.deepcopy(game.events),
        "told": (
            game.seat,
            game.phase,
            game.turn,
            game.turn_seat,
            game.scores,
            game.legal_names,
            game.outcome,
            game.is_over,
        ),
        "text": str(game),
        "header": game.header(),
    }


TABLES = [(players, side) for players in (2, 3, 4) for side in ("front", "back")]


def walked(ahead: Any, rng: np.random.Generator) -> tuple[list[Any], float]:
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


def test_the_example_in_the_docs() -> None:
    result = doctest.testmod(skyenv.engine.game)
    assert result.attempted >= 2
    assert result.failed == 0


def test_a_new_game() -> None:
    game = Game(4, "back", 7, max_turns=9)
    assert (game.num_players, game.side, game.seed, game.max_turns) == (4, "back", 7, 9)
    assert (game.seat, game.phase, game.turn, game.turn_seat) == (0, "start", 0, 0)
    assert game.board == make_board("back")
    assert game.scores == [0, 0, 0, 0]
    assert not game.is_over
    assert game.outcome is None
    assert [event["event"] for event in game.events] == ["setup"]
    assert game.state.dtype == GAME_DTYPE
    assert repr(game) == "Game(num_players=4, side='back', seed=7) <turn 0: seat 0, start>"


def test_numbers_and_names_are_the_same_actions() -> None:
    by_number, by_name, by_numpy = (Game(2, seed=3) for _ in range(3))
    while by_number.turn < 12:
        action = decide_game(by_number, make_agent("random"))
        events = by_number.play(action)
        assert by_name.play(ACTION_NAMES[action]) == events
        assert by_numpy.play(int(np.int16(action))) == events
        assert events[0]["action"] == action
    assert by_number == by_name == by_numpy


def test_what_is_legal_is_told_in_three_ways() -> None:
    game = Game(2, seed=3)
    phases = set()
    while not game.is_over:
        phases.add(game.phase)
        assert game.mask.dtype == np.int8
        assert game.mask.shape == (NUM_ACTIONS,)
        assert game.legal_actions == np.flatnonzero(game.mask).tolist()
        assert game.legal_names == [ACTION_NAMES[action] for action in game.legal_actions]
        assert all(isinstance(action, int) for action in game.legal_actions)
        game.play(decide_game(game, make_agent("crowd")))
    assert phases == set(PHASES) - {"over"}
    assert (game.phase, game.seat, game.legal_actions, game.legal_names) == ("over", None, [], [])
    assert not game.mask.any()
    assert repr(game).endswith(f"<turn {game.turn}: over>")


WRONG_ACTIONS: list[tuple[Any, str]] = [
    (0, r"action 0 \(option A\) is not legal for seat 0 in phase 'start'; legal: plot W34"),
    ("option A", r"action 0 \(option A\) is not legal"),
    (103, "action 103 is not a number from 0 to 102"),
    (-1, "action -1 is not a number from 0 to 102"),
    (2**63, "an action is a number from 0 to 102 or a name"),
    (10**5000, "an action is a number from 0 to 102 or a name"),
    ("option Z", "no action is called 'option Z'"),
    ("Option A", "no action is called 'Option A'"),
    ("", "no action is called ''"),
    ("x" * 10**6, "no action is called"),
    (None, "an action is a number from 0 to 102 or a name, not None"),
    (True, "an action is a number from 0 to 102 or a name, not True"),
    (13.0, "an action is a number from 0 to 102 or a name, not 13.0"),
    ([13], "an action is a number from 0 to 102 or a name"),
]


@pytest.mark.parametrize("number", range(len(WRONG_ACTIONS)))
def test_wrong_actions(number: int) -> None:
    """One short sentence, the action asked for, and nothing has changed."""
    action, message = WRONG_ACTIONS[number]
    game = Game(2, seed=3)
    before = shown(game)
    with pytest.raises(IllegalActionError, match=message) as caught:
        game.play(action)
    assert caught.value.row is None
    assert caught.value.action == (ACTION_NUMBERS[action] if action == "option A" else action)
    assert len(str(caught.value)) < 400
    assert shown(game) == before


def test_no_action_after_the_end() -> None:
    game = played(actions=10_000, max_turns=3)
    before = shown(game)
    for action in (0, "pass", 500):
        with pytest.raises(GameOverError, match="the game is over"):
            game.play(action)
    with pytest.raises(IllegalActionError):
        game.play("option A")
    assert shown(game) == before


@pytest.mark.parametrize("seat", [3, -1, "0", 1.0])
def test_seats_that_are_not_there(seat: Any) -> None:
    game = Game(3, seed=1)
    for look in (game.observation, game.view):
        with pytest.raises(OptionError, match="seat must be a whole number from 0 to 2"):
            look(seat)


def test_a_seat_looks_by_default_from_the_seat_to_act() -> None:
    """Once the game is over, from seat 0."""
    game = played(3, actions=4)
    assert game.seat == 2
    assert game.observation().tobytes() == game.observation(game.seat).tobytes()
    assert game.view()["seat"] == game.seat
    assert game.observation().tobytes() != game.observation(0).tobytes()
    game = played(3, actions=10_000, max_turns=2)
    assert game.observation().tobytes() == game.observation(0).tobytes()
    assert game.view()["seat"] == 0


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
            assert as_likely([counts[str(outcome)] for outcome in first], list(first.values()))
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


def option_c(*black: int) -> Game:
    """Seat 0 of a bare game is to choose an option, and these black cards are all that is left in
    the stack.
    """
    game = bare_game(3)
    black_stack(game, list(black), [], keeper=2)
    return game


def test_missing_outcomes_come_from_the_games_own_stream() -> None:
    """What is fed takes nothing from it; what is not fed comes as it would have come."""
    game = bare_game(3)
    game.state["place"][0] = 3
    game.refresh()
    fed = game.copy()
    own = [event["card"] for event in only(game.play("option D TSQ"), "black")]
    assert len(own) == 5
    assert [event["card"] for event in only(fed.play("option D TSQ", [6, 4]), "black")][:2] == [
        6,
        4,
    ]
    assert fed.state["random"].tolist() != game.state["random"].tolist()
    everything = option_c(4, 5, 6)
    before = everything.state["random"].tolist()
    everything.play("option C", [5])
    assert everything.state["random"].tolist() == before


def test_a_setup_from_outside() -> None:
    """In the order of `setup_outcomes`; the beginning alone is enough, the rest comes from the
    seed.
    """
    other = Game(4, seed=12)
    outcomes = setup_outcomes(other.events[0], "front")
    assert len(outcomes) == 7 * 2 + 20 + 4 * 9 + 5
    game = Game(4, seed=3, chance=outcomes)
    assert game.events == other.events
    assert game.seed is None  # it doesn't decide the game
    part = Game(4, seed=3, chance=outcomes[:34])
    assert part.events[0]["row"] == other.events[0]["row"]
    assert part.events[0]["hands"] != other.events[0]["hands"]
    assert Game(4, seed=3, chance=[]) == Game(4, seed=3)


@pytest.mark.rule("SET-1", "SET-2", "COM-1", "COM-3")
@pytest.mark.parametrize(
    ("side", "changes", "index"),
    [
        ("front", {0: "green", 2: "green", 4: "green"}, 4),  # a colour a third time
        ("front", {0: "sixth"}, 0),
        ("back", dict.fromkeys(range(10), "boutique"), 9),  # the tenth of its type
        ("back", {27: 4, 28: 4, 29: 7}, 29),
        ("back", {0: 4}, 0),  # a card where a business is due
        ("back", {27: "boutique"}, 27),  # a business where a card is due
    ],
)
def test_impossible_setups(side: str, changes: dict[int, Any], index: int) -> None:
    outcomes = setup_outcomes(Game(2, side, seed=3).events[0], side)
    for number, outcome in changes.items():
        outcomes[number] = outcome
    with pytest.raises(ChanceError) as caught:
        Game(2, side, seed=3, chance=outcomes)
    assert caught.value.index == index


WRONG_CHANCE: dict[str, tuple[list[Any], int]] = {
    "no such card left": ([6], 0),
    "surplus": ([4, 4], 1),
    "surplus and wrong": ([4, "pink"], 1),
    "much surplus": ([4] * MAX_FORCED, 1),
    "more than is ever needed": ([4] * (MAX_FORCED + 1), MAX_FORCED),
    "no card": ([7], 0),
    "negative": ([-1], 0),
    "a rank": ([0], 0),
    "a business": (["boutique"], 0),
    "a colour": (["green"], 0),
    "a word": (["pink"], 0),
    "text of a card": (["4"], 0),
    "nothing": ([None], 0),
    "a fraction": ([4.0], 0),
    "yes": ([True], 0),
    "a list": ([[4]], 0),
    "beyond counting": ([10**5000], 0),
    "a long word": (["x" * 10**6], 0),
}


@pytest.mark.parametrize("what", WRONG_CHANCE)
def test_wrong_chance_changes_nothing(what: str) -> None:
    """The error tells which outcome is wrong; the game goes on as if nothing had been asked for."""
    outcomes, index = WRONG_CHANCE[what]
    game = option_c(4, 5)
    untouched, before = game.copy(), shown(game)
    with pytest.raises(ChanceError) as caught:
        game.play("option C", outcomes)
    assert caught.value.index == index
    assert f"chance outcome {index + 1}" in str(caught.value) or f"only {index} were needed" in str(
        caught.value
    )
    assert len(str(caught.value)) < 200
    assert shown(game) == before
    for one in (game, untouched):
        one.play("option C")
        one.play("move white W34")
    assert shown(game) == shown(untouched)


def test_wrong_chance_deep_inside_an_action_changes_nothing() -> None:
    """Here the last tile of the end is wrong, after all has been scored."""
    game = bare_game(2)
    supply_row(game, "boutique boutique boutique")
    after_businesses(game, 11)
    game.play(next(name for name in game.legal_names if name.startswith("option B")))
    tiles = ["boutique", "jeweller", "gallery", "perfumery"]
    counts = game.state["park_tiles"]
    first = int(counts.argmax())
    before = shown(game)
    chance = [tiles[first], tiles[first], tiles[first], "boutique"]
    with pytest.raises(ChanceError) as caught:
        game.play(game.legal_actions[0], chance)
    assert caught.value.index in (1, 2, 3)
    assert shown(game) == before
    assert game.play(game.legal_actions[0])[-1]["event"] == "end"


@pytest.mark.rule("END-1", "END-4", "END-5")
@pytest.mark.parametrize("reason", ["businesses", "stops", "truncated"])
def test_outcomes(reason: str) -> None:
    """Why the game ended, who has won, and what all have; the same as the last event."""
    game = bare_game(3, max_turns=1)
    hand(game, 0, green=[4], black=[4])
    hand(game, 2, black=[5])
    game.state["score"][:3] = [3, 8, 8]
    supply_row(game, "boutique boutique boutique")
    if reason == "businesses":
        after_businesses(game, 11)
        choices = ["option B"]
    elif reason == "stops":
        stopped(game, "W34")
        game.state["tiles"][1, :5, 0] = 1
        game.state["owner"][1, 0], game.state["floors"][1, 0] = 0, 1
        game.state["tiles"][1, 0, 0] = 0
        game.state["place"][0], game.state["markers"][0] = 7, 1
        game.state["visited"][0] = [1, -1, -1]
        game.state["phase"], game.state["step"], game.state["option"] = 4, 3, 0
        game.refresh()
        choices = ["move white", "bid green 4", "bid done", "pass", "stop"]
    else:
        choices = ["option A", "move white"]
    while not game.is_over:
        assert game.outcome is None
        wanted = [
            name for choice in choices for name in game.legal_names if name.startswith(choice)
        ]
        game.play(wanted[0] if wanted else game.legal_actions[0])
    end = game.events[-1]
    assert game.outcome == Outcome(
        reason, tuple(end["winners"]), tuple(end["scores"]), tuple(end["cards"])
    )
    assert list(game.outcome.scores) == game.scores
    assert game.outcome.cards == tuple(int(game.state["hand"][seat].sum()) for seat in range(3))
    assert game.outcome.winners == (2,) if reason != "businesses" else (1, 2)
    assert all(
        isinstance(value, int)
        for value in (*game.outcome.winners, *game.outcome.scores, *game.outcome.cards)
    )


def test_equality() -> None:
    """The position counts, with hidden cards and the stream of chance; not how it was reached, nor
    what else there is.
    """
    game = Game(2, seed=1)
    assert game == Game(2, seed=1)
    assert game != Game(2, seed=2)
    assert game != Game(2, "back", seed=1)
    assert game != Game(2, seed=1, max_turns=499)
    assert game != Game(
        2,
        seed=1,
        board=make_board("front", {"W34": ["violet", "green", "brown", "orange", "gray"]}),
    )
    assert game != "game"
    assert (game == None) is False  # noqa: E711
    with pytest.raises(TypeError, match="unhashable"):
        hash(game)


def test_header() -> None:
    """The first line of a record: exactly INTERFACE.md's fields."""
    rings = {"E52": ["green", "brown", "sixth", "violet", "orange", "gray"]}
    game = Game(2, "back", 5, max_turns=8, board=make_board("back", rings))
    header = game.header(("random", "crowd"))
    printed = ["green", "violet", "brown", "orange", "gray", "sixth"]
    assert header == {
        "format": "skyenv-record",
        "version": 1,
        "players": 2,
        "side": "back",
        "rings": [printed] * 6 + [rings["E52"]],
        "max_turns": 8,
        "seed": 5,
        "agents": ["random", "crowd"],
    }
    assert game.header()["agents"] is None
    assert type(header["rings"][0]) is list


def test_refreshing_after_an_edit() -> None:
    game = played(3, actions=30)
    game.state["phase"], game.state["seat"], game.state["turn_seat"] = 1, 2, 2
    game.state["general"][2] = 0
    game.state["stopped"][:] = 1
    game.refresh()
    assert game.legal_names == ["option C"]
    assert game.seat == 2
    assert (game.state["value"] == 0).all()


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"num_players": 5}, "num_players"),
        ({"side": "Front"}, "side"),
        ({"seed": 2**63}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"max_turns": 0}, "max_turns"),
        ({"agent_seed": -1}, "agent_seed"),
        ({"board": make_board("back")}, "board"),
        ({"board": "/nowhere/board.toml"}, "/nowhere/board.toml"),
        ({"options": GameOptions(3), "num_players": 4}, "options"),
        ({"chance": 5}, "chance"),
        ({"chance": [None]}, "chance outcome 1"),
    ],
)
def test_wrong_options(wrong: dict[str, Any], field: str) -> None:
    with pytest.raises((OptionError, ChanceError), match=field):
        Game(**wrong)


@pytest.mark.compiled
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_playing_by_numbers_is_playing_by_words(players: int, side: str) -> None:
    """The same nodes with the same probabilities, the same positions and events, each position
    taken up from its bytes.
    """
    rng = np.random.default_rng(players)
    words, numbers = (Game(players, side, 5, max_turns=4) for _ in range(2))
    action, events, agent = SETUP, [], make_agent("crowd")
    while action == SETUP or not words.is_over:
        position, chance = words.position(), list[int]()
        while outcomes := numbers.play_unchecked(position, action, chance):
            assert words.chance_ahead(action, [OUTCOMES[number] for number in chance]) == {
                OUTCOMES[n]: p for n, p in outcomes
            }
            chance.append(outcomes[rng.integers(len(outcomes))][0])
        in_words = [OUTCOMES[number] for number in chance]
        events = words.set_up(None, in_words) if action == SETUP else words.play(action, in_words)
        assert words == numbers
        assert words.legal_actions == numbers.legal_actions
        if action != SETUP:
            assert events_of(numbers.event_rows(), numbers.games.state, numbers.board) == events[1:]
        if not words.is_over:
            action = decide_game(words, agent)
    assert events[-1]["event"] == "end"
    assert words.seed is None


@pytest.mark.compiled
def test_a_position_is_taken_back() -> None:
    """With what follows from it; the game goes on from there as it did before."""
    game = Game(2, seed=6)
    for _ in range(30):
        game.play(game.legal_actions[0])
    position, before = game.position(), (game.legal_actions, game.observation().tobytes())
    first = [game.play(game.legal_actions[0]) for _ in range(20)]
    for taken_from in (position, np.frombuffer(position, GAME_DTYPE)):
        game.rewind(taken_from)
        assert (game.legal_actions, game.observation().tobytes()) == before
        assert [game.play(game.legal_actions[0]) for _ in range(20)] == first


@pytest.mark.compiled
def test_the_batchs_own_steps_have_no_events_and_the_same_rewards() -> None:
    """They would run over the log's end otherwise: it has room for the events of one action."""
    options = GameOptions(3, max_turns=30, reward="points")
    game, alone = Game(seed=6, options=options), Games(1, seed=6, options=options)
    total = 0.0
    for _ in range(40):
        action = game.legal_actions[-1]
        game.play(action)
        alone.step([action])
        assert np.array_equal(game.games.reward, alone.reward)
        total += float(alone.reward.sum())
    assert total == game.state["score"].sum() > 0
    rows = game.event_rows()
    for games in (game.games, alone):
        games.play_random(30)
    assert game.position() == alone.state.tobytes()
    assert game.event_rows() == rows


def test_a_seed_is_named_as_long_as_it_decides_the_game() -> None:
    """Not with chance from outside, nor after an edit of the state."""
    game = Game(3, seed=7)
    assert game.set_up(9) == Game(3, seed=9).events
    assert game.seed == 9
    while game.chance_ahead(game.legal_actions[0]) == {}:
        game.play(game.legal_actions[0])
    fed, edited, unseeded = game.copy(), game.copy(), game.copy()
    game.play(game.legal_actions[0])
    assert (game.seed, game.header()["seed"]) == (9, 9)
    fed.play(fed.legal_actions[0], list(fed.chance_ahead(fed.legal_actions[0]))[:1])
    edited.state["score"][0] += 1
    edited.refresh()
    unseeded.set_up(None)
    for other in (fed, edited, unseeded, Game(3, seed=7, chance=["green"])):
        assert (other.seed, other.header()["seed"], other.copy().seed) == (None, None, None)


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (lambda game: game.set_up(-1), OptionError),
        (lambda game: game.set_up(True), OptionError),
        (lambda game: game.chance_ahead("pass"), IllegalActionError),
        (lambda game: game.chance_ahead(game.legal_actions[0], [4]), ChanceError),
        (lambda game: game.play(game.legal_actions[0], None), ChanceError),
        (lambda game: game.rewind(b"x" * GAME_DTYPE.itemsize), OptionError),
        (lambda game: game.rewind(game.position()[1:]), OptionError),
        (lambda game: game.rewind(Games(1, 3, seed=1).state), OptionError),
    ],
)
def test_what_is_refused_changes_nothing(
    ask: Callable[[Any], object], error: type[Exception]
) -> None:
    game = Game(2, seed=1)
    before = shown(game)
    with pytest.raises(error):
        ask(game)
    assert shown(game) == before
