"""A single game: actions, chance, outcomes, copies and errors."""

import copy
from collections.abc import Callable
from operator import methodcaller
from typing import Any

import numpy as np
import pytest

from scenario import TABLES, after_businesses, bare_game, black_stack, only, stages, supply_row
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
from skyenv.engine.events import setup_outcomes
from skyenv.engine.simulator import SETUP
from skyenv.rules.actions import ACTION_NAMES, ACTION_NUMBERS
from skyenv.rules.components import BUSINESSES, COLOURS
from skyenv.rules.event_log import MAX_FORCED
from skyenv.rules.state import PHASES


def shown(game: Game) -> list[Any]:
    """Return everything observable of a game."""
    values = [game.state.tobytes(), game.mask.tobytes(), str(game), game.header()]
    return [*values, game.legal_names, game.outcome, game.scores, copy.deepcopy(game.events)]


def option_c(*black: int) -> Game:
    """Seat 0 of a bare game is to choose an option, and these black cards are all that is left in
    the stack.
    """
    game = bare_game(3)
    black_stack(game, list(black), [], keeper=2)
    return game


def refused(
    game: Game, call: Callable[[Game], object], error: type[Exception], message: str | None = None
) -> Any:
    """The short error of a call, which changes nothing: the game goes on as without it."""
    untouched, before = game.copy(), shown(game)
    with pytest.raises(error, match=message) as caught:
        call(game)
    assert len(str(caught.value)) < 400
    assert shown(game) == before
    for action in game.legal_actions[:1]:
        assert game.play(action) == untouched.play(action)
    return caught.value


def test_numbers_and_names_of_actions_are_equivalent() -> None:
    by_number, by_name = Game(2, seed=3), Game(2, seed=3)
    phases = set()
    while not by_number.is_over:
        phases.add(by_number.phase)
        assert by_number.legal_actions == np.flatnonzero(by_number.mask).tolist()
        assert by_number.legal_names == [ACTION_NAMES[i] for i in by_number.legal_actions]
        action: Any = np.int16(decide_game(by_number, make_agent("crowd")))
        assert by_name.play(ACTION_NAMES[action]) == by_number.play(action)
    assert phases == set(PHASES) - {"over"}
    assert by_number == by_name
    assert (by_name.phase, by_name.seat, by_name.legal_actions) == ("over", None, [])


def test_views_default_to_the_seat_to_act() -> None:
    """After the end, to seat 0."""
    for game in stages(3, "front", "crowd", max_turns=4):
        assert game.view()["seat"] == (game.seat or 0)
        assert game.observation().tobytes() == game.observation(game.seat or 0).tobytes()


# ---- mistakes ----

NO_ACTION = "an action is a number from 0 to 102 or a name such as 'take green', not"
WRONG_ACTIONS: list[tuple[Any, str]] = [
    (78, r"action 78 \(pass\) is not legal for seat 0 in phase 'option'; legal: option A"),
    ("pass", r"action 78 \(pass\) is not legal"),
    (103, "action 103 is not a number from 0 to 102"),
    (-1, "action -1 is not a number from 0 to 102"),
    (2**63, NO_ACTION),
    (10**5000, NO_ACTION),
    ("Option A", f"{NO_ACTION} 'Option A'"),
    ("x" * 10**6, NO_ACTION),
    (None, f"{NO_ACTION} None"),
    (True, f"{NO_ACTION} True"),
    (13.0, f"{NO_ACTION} 13.0"),
    ([13], NO_ACTION),
]


@pytest.mark.parametrize(("action", "message"), WRONG_ACTIONS, ids=range(len(WRONG_ACTIONS)))
def test_invalid_actions_are_refused(action: Any, message: str) -> None:
    error = refused(option_c(4), lambda game: game.play(action), IllegalActionError, message)
    assert (error.row, error.action) == (
        None,
        ACTION_NUMBERS["pass"] if action == "pass" else action,
    )


def test_actions_after_the_end_are_refused() -> None:
    *_, game = stages(3, "front", "crowd", max_turns=2)
    for action in (0, "pass", 500):
        play = methodcaller("play", action)
        refused(game, play, GameOverError, "the game is over")


WRONG_CHANCE: list[tuple[Any, int]] = [
    ([6], 0),  # no such card left
    ([4, 4], 1),  # surplus
    ([4, "pink"], 1),
    ([4] * MAX_FORCED, 1),
    ([4] * (MAX_FORCED + 1), MAX_FORCED),  # more than any action needs
    *[([wrong], 0) for wrong in (7, -1, 0, 4.0, True, 10**5000, None, [4])],
    *[([wrong], 0) for wrong in ("boutique", "green", "pink", "4", "x" * 10**6)],
]


@pytest.mark.parametrize(("outcomes", "index"), WRONG_CHANCE, ids=range(len(WRONG_CHANCE)))
def test_invalid_chance_outcomes_are_refused(outcomes: Any, index: int) -> None:
    """The error names the index of the outcome."""
    message = f"chance outcome {index + 1}|only {index} were needed"
    error = refused(
        option_c(4, 5), lambda game: game.play("option C", outcomes), ChanceError, message
    )
    assert error.index == index


def test_invalid_outcomes_late_in_an_action_change_nothing() -> None:
    """Here the last tile of the final scoring is invalid."""
    game = bare_game(2)
    supply_row(game, "boutique boutique boutique")
    after_businesses(game, 11)
    game.play(next(name for name in game.legal_names if name.startswith("option B")))
    tiles: Any = [BUSINESSES[int(game.state["park_tiles"].argmax())]] * 3 + ["boutique"]
    error = refused(game, lambda game: game.play(game.legal_actions[0], tiles), ChanceError)
    assert error.index in (1, 2, 3)
    assert game.events[-1]["event"] == "end"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda game: game.chance_ahead("pass"), IllegalActionError, "pass"),
        (lambda game: game.chance_ahead("option A", [4]), ChanceError, "only 0 were needed"),
        (lambda game: game.play("option A", None), ChanceError, "not None"),
        (lambda game: game.observation("0"), OptionError, "seat must be a whole number"),
        (lambda game: game.view(3), OptionError, "seats must be from 0 to 2"),
        (lambda game: Game(seed=2**63), OptionError, "seed must be"),
        (lambda game: Game(seed=True), OptionError, "seed must be"),
        (lambda game: Game(seed=1.5), OptionError, "seed must be"),  # type: ignore[arg-type]
        (lambda game: Game(chance=5), ChanceError, "chance must be"),  # type: ignore[arg-type]
    ],
)
def test_invalid_arguments_are_refused(
    call: Callable[[Any], object], error: type[Exception], message: str
) -> None:
    refused(option_c(4), call, error, message)


# ---- chance ----


@pytest.mark.rule("SET-1")
def test_chance_ahead_gives_exact_probabilities() -> None:
    """Uniform colours for the first district; businesses and cards by their remaining numbers."""
    first = Game(2, "front").chance_ahead(SETUP)
    assert first == pytest.approx(dict.fromkeys(COLOURS, 1 / 5))
    first = Game(2, "front").chance_ahead(SETUP, ["green"])
    assert first == pytest.approx(dict.fromkeys(BUSINESSES, 1 / 4))
    back = Game(2, "back").chance_ahead(SETUP, ["boutique"])
    assert back["boutique"] == pytest.approx(8 / 35)
    assert option_c(4, 5, 5).chance_ahead("option C") == pytest.approx({4: 1 / 3, 5: 2 / 3})


def test_missing_outcomes_come_from_the_games_stream() -> None:
    """Given outcomes don't advance the stream; the missing ones are unchanged."""
    game = bare_game(3)
    game.state["place"][0] = 3
    game.refresh()
    fed = game.copy()
    assert len(only(game.play("option D TSQ"), "black")) == 5
    cards = [event["card"] for event in only(fed.play("option D TSQ", [6, 4]), "black")]
    assert cards[:2] == [6, 4]
    assert fed.state["random"].tolist() != game.state["random"].tolist()
    everything = option_c(4, 5, 6)
    before = everything.state["random"].tolist()
    everything.play("option C", [5])
    assert everything.state["random"].tolist() == before


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
def test_setups_can_be_given_in_part(side: str, changes: dict[int, Any], index: int) -> None:
    """The rest comes from the seed; impossible setups are refused."""
    game = Game(2, side, seed=3)
    outcomes = setup_outcomes(game.events[0], side)
    assert Game(2, side, seed=4, chance=outcomes).events == game.events
    part = Game(2, side, seed=4, chance=outcomes[:-5]).events[0]
    assert part["hands"] == game.events[0]["hands"]
    assert part["tops"] != game.events[0]["tops"]
    for number, outcome in changes.items():
        outcomes[number] = outcome
    with pytest.raises(ChanceError) as caught:
        Game(2, side, seed=3, chance=outcomes)
    assert caught.value.index == index


# ---- outcomes, copies, positions ----


@pytest.mark.rule("END-1", "END-4", "END-5")
@pytest.mark.parametrize(
    ("seed", "max_turns", "reason"),
    [(9, 500, "businesses"), (0, 500, "stops"), (0, 5, "truncated")],
)
def test_outcomes_hold_reason_winners_and_scores(seed: int, max_turns: int, reason: str) -> None:
    """Reason, winners, scores and cards."""
    *_, game = stages(3, "front", "crowd", seed, max_turns=max_turns)
    scores, cards = game.scores, game.state["hand"][:3].sum(axis=(1, 2)).tolist()
    best = max(zip(scores, cards, strict=True))
    winners = tuple(i for i in range(3) if (scores[i], cards[i]) == best)
    assert game.outcome == Outcome(reason, winners, tuple(scores), tuple(cards))


def test_games_are_equal_if_their_positions_are() -> None:
    """Including hidden cards and the stream of chance, and nothing else."""
    game = Game(2, seed=1)
    ring = {"W34": ["violet", "green", "brown", "orange", "gray"]}
    assert game == Game(2, seed=1)
    for other in (
        Game(2, seed=2),
        Game(2, "back", seed=1),
        Game(2, seed=1, max_turns=499),
        Game(2, seed=1, board=make_board("front", ring)),
        "game",
        None,
    ):
        assert game != other
    with pytest.raises(TypeError, match="unhashable"):
        hash(game)


@pytest.mark.rule("INF-2")
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_determinizations_are_games(players: int, side: str) -> None:
    """Each looks to the seat like the game itself; tests/knowledge plays them on."""
    game = Game(players, side, seed=3)
    for _ in range(60):
        game.play(game.legal_actions[0])
    before = shown(game)
    for seat in (None, 0, players - 1):
        guess = game.determinize(4, seat)
        assert guess.view(seat).tobytes() == game.view(seat).tobytes()
        assert (guess.options, guess.seed, guess.events) == (game.options, None, [])
        assert guess == game.determinize(4, seat) != game
    assert shown(game) == before


def test_games_begin_in_a_position() -> None:
    game = Game(3, seed=5, task="three-3")
    again = Game.of(game.batch.state, game.options)
    assert again == game
    while not game.is_over:
        assert again.play(game.legal_actions[0]) == game.play(game.legal_actions[0])
    assert again == Game.of(game.state, game.options)
    with pytest.raises(OptionError, match=r"^a game that began in a position has no record"):
        again.to_record()
    with pytest.raises(OptionError, match=r"^a game has one position, not 2; see Games\.of$"):
        Game.of(Games(2).state)


@pytest.mark.compiled
def test_rewind_restores_a_position() -> None:
    """With all derived data; the game continues as before."""
    game = Game(2, seed=6)
    for _ in range(30):
        game.play(game.legal_actions[0])
    position, before = game.position(), (game.legal_actions, game.observation().tobytes())
    first = [game.play(game.legal_actions[0]) for _ in range(20)]
    game.rewind(position)
    assert (game.legal_actions, game.observation().tobytes()) == before
    assert [game.play(game.legal_actions[0]) for _ in range(20)] == first


@pytest.mark.compiled
def test_batch_steps_log_no_events_and_pay_the_same() -> None:
    """The log has room for the events of one action only."""
    options = GameOptions(3, max_turns=30, reward="points")
    game, alone = Game(seed=6, options=options), Games(1, seed=6, options=options)
    for _ in range(40):
        action = game.legal_actions[-1]
        game.play(action)
        alone.step([action])
        assert np.array_equal(game.batch.reward, alone.reward)
    rows = game.event_rows()
    for games in (game.batch, alone):
        games.play_random(30)
    assert game.position() == alone.state.tobytes()
    assert game.event_rows() == rows


def test_the_seed_is_dropped_once_it_no_longer_decides_the_game() -> None:
    """After given chance, or after an edit of the state."""
    game = Game(3, seed=9)
    while game.chance_ahead(game.legal_actions[0]) == {}:
        game.play(game.legal_actions[0])
    fed, edited = game.copy(), game.copy()
    game.play(game.legal_actions[0])
    assert (game.seed, game.header()["seed"]) == (9, 9)
    fed.play(fed.legal_actions[0], list(fed.chance_ahead(fed.legal_actions[0]))[:1])
    edited.state["score"][0] += 1
    edited.refresh()
    for other in (fed, edited, Game(3, seed=7, chance=["green"])):
        assert (other.seed, other.header()["seed"], other.copy().seed) == (None, None, None)
