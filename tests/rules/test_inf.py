"""INF: who knows what.

`Game.view` is all that a seat sees, `Game.observation` the same as numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from scenario import (
    about_to_move,
    bare_game,
    bid,
    black_stack,
    cards,
    commissioner,
    district,
    hand,
    known_cards,
    passes,
    play_all,
    same_record,
    start_auction,
    tops,
    turn_of,
)
from skyenv import Game, make_agent
from skyenv.agents import decide_game
from skyenv.rules.state import GAME_FIELDS

TABLES = [(players, side) for players in (2, 3, 4) for side in ("front", "back")]
HIDDEN_FIELDS = {"hand", "face_down", "random", "seed", "held"}


def show_hand(game: Game, seat: int) -> None:
    """Make the cards that a seat holds now known to all."""
    game.state["known"][seat] = game.state["hand"][seat]
    game.refresh()


def positions(
    players: int, side: str, agent: str, games: int = 2, every: int = 9
) -> Iterator[Game]:
    """Positions of some games."""
    player = make_agent(agent)
    for seed in range(games):
        game = Game(players, side, seed, max_turns=120)
        number = 0
        while not game.is_over:
            if number % every == 0:
                yield game
            number += 1
            game.play(decide_game(game, player))
        yield game


def deal_the_unknown_again(game: Game, seat: int, rng: np.random.Generator) -> Game:
    """Another game that looks the same to a seat: what it can't know is dealt out differently, and
    chance to come is other.
    """
    other_game = game.copy()
    state = other_game.state
    for colour in range(6):
        unknown = state["hand"][:, colour] - state["known"][:, colour]
        unknown[seat] = 0
        if colour == 5:
            unknown[:2] -= np.where(
                np.arange(2)[:, None] == seat, 0, state["deduced"]
            )  # the seat has worked them out (AUC-9)
        pool = np.repeat(np.arange(3), unknown.sum(axis=0) + state["face_down"][colour])
        rng.shuffle(pool)
        for other in range(4):
            number = int(unknown[other].sum())
            dealt, pool = pool[:number], pool[number:]
            state["hand"][other, colour] += np.bincount(dealt, minlength=3) - unknown[other]
        state["face_down"][colour] = np.bincount(pool, minlength=3)
    state["random"] = rng.integers(1, 2**32, 4)
    state["seed"] = rng.integers(2**40)
    other_game.refresh()
    return other_game


@pytest.mark.compiled
@pytest.mark.rule("INF-2")
@pytest.mark.parametrize(("players", "side"), TABLES)
@pytest.mark.parametrize("agent", ["random", "crowd"])
def test_what_a_seat_cannot_know_changes_nothing(players: int, side: str, agent: str) -> None:
    """Dealing the unknown cards again leaves a seat's view, its observation and its legal actions
    as they are.
    """
    rng = np.random.default_rng(3)
    changed = 0
    for game in positions(players, side, agent):
        for seat in range(players):
            other = deal_the_unknown_again(game, seat, rng)
            changed += bool((other.state["hand"] != game.state["hand"]).any())
            assert same_record(other.view(seat), game.view(seat))
            assert other.observation(seat).tobytes() == game.observation(seat).tobytes()
            if seat == game.seat:
                assert other.legal_actions == game.legal_actions
    assert changed > 20


@pytest.mark.compiled
@pytest.mark.rule("INF-1")
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_everything_else_is_public(players: int, side: str) -> None:
    """Every seat sees the board, supplies, scores, row, tops, bids, payments …, and how many cards
    hands and stacks have.
    """
    for game in positions(players, side, "crowd", games=1):
        state = game.state
        for seat in range(players):
            view = game.view(seat)
            for field in set(GAME_FIELDS) - HIDDEN_FIELDS:
                assert (view["game"][field] == state[field]).all(), field
            assert (view["game"]["hand"][seat] == state["hand"][seat]).all()
            assert view["num_face_down"].tolist() == state["face_down"].sum(axis=1).tolist()
            held = view["game"]["hand"].sum(axis=2) + view["unknown"]
            assert (held == state["hand"].sum(axis=2)).all()


def another_card_on_the_table(state: np.record) -> None:
    """Seat 0's bid is a black 4 longer."""
    state["bid_cards"][0, 1, 0] += 1
    state["bid_total"][0] += 4
    state["highest"] += 4


def a_card_that_was_paid(state: np.record) -> None:
    state["num_returned"][0], state["returned"][0, 0] = 1, 0


PUBLIC: dict[str, Callable[[np.record], None]] = {
    "the board: a skyscraper": lambda state: state["floors"].__setitem__((0, 1), 3),
    "the board: a business": lambda state: state["tiles"].__setitem__((1, 1, 1), 1),
    "the board: a commissioner": lambda state: state["place"].__setitem__(1, 2),
    "the board: a stopped district": lambda state: state["stopped"].__setitem__(5, 1),
    "a supply": lambda state: state["supply"].__setitem__(2, 1),
    "a general supply": lambda state: state["general"].__setitem__(1, 3),
    "a score": lambda state: state["score"].__setitem__(1, 7),
    "the supply row": lambda state: state["row"].__setitem__(0, (state["row"][0] + 1) % 4),
    "the tiles of the park area": lambda state: state["park_tiles"].__setitem__(3, 2),
    "a visible top": lambda state: state["top"].__setitem__(3, 2),
    "the cards in a hand": lambda state: state["hand"].__setitem__((1, 5, 0), 5),
    "the cards in a stack": lambda state: state["face_down"].__setitem__((2, 0), 0),
    "the black stack": lambda state: state["black_face_up"].__setitem__(2, 1),
    "cards that were bid": another_card_on_the_table,
    "cards that were paid": a_card_that_was_paid,
    "the order of returned cards": lambda state: state["returned"].__setitem__(
        (4, slice(2)), (1, 0)
    ),
}


@pytest.mark.rule("INF-1")
@pytest.mark.parametrize("what", PUBLIC)
def test_public_things_are_in_every_observation(what: str) -> None:
    """A change in any of them is seen by all."""
    game = bare_game()
    game.state["returned"][4, :2] = (0, 1)
    game.state["num_returned"][4] = 2
    district(game, "W34", violet=(2, 1), gray=(0, 1))
    for seat in range(3):
        hand(game, seat, black=[4, 5], green=[4])
    start_auction(game, ["E34"])
    bid(game, 0, "green 4 black 4")
    before = [(game.observation(seat), game.view(seat)) for seat in range(3)]
    PUBLIC[what](game.state)
    game.refresh()
    for seat in range(3):
        observation, view = before[seat]
        assert (game.observation(seat) != observation).any()
        assert not same_record(game.view(seat), view)


@pytest.mark.rule("INF-2")
def test_starting_cards_and_black_cards_are_hidden() -> None:
    """From the others, not from their owner."""
    game = Game(3, seed=8)
    assert (game.state["known"] == 0).all()
    mine, theirs = game.observation(0), game.observation(1)
    game.state["hand"][0, 5] = np.roll(game.state["hand"][0, 5], 1)
    game.state["hand"][0, 1] = np.roll(game.state["hand"][0, 1], 1)
    # what the others can tell is that the cards they can't locate are the same in all
    game.state["face_down"][:] = (
        Game(3, seed=8).state["face_down"] + Game(3, seed=8).state["hand"][0]
    )
    game.state["face_down"][:] -= game.state["hand"][0]
    game.refresh()
    assert (game.observation(0) != mine).any()
    assert (game.observation(1) == theirs).all()


@pytest.mark.rule("INF-2")
def test_cards_drawn_later_are_hidden_too() -> None:
    """A black card of option C or of a scoring is its owner's secret until it is bid."""
    game = bare_game()
    play_all(game, "option C")
    assert known_cards(game, 0) == {}
    commissioner(game, "white", "TSQ")
    turn_of(game, 1)
    game.play("option D TSQ", [4, 4, 5, 6, 6])
    assert known_cards(game, 1) == known_cards(game, 2) == {}
    assert game.view(0)["unknown"][:, 5].tolist() == [0, 3, 1, 0]


@pytest.mark.rule("INF-2", "END-3")
def test_chance_to_come_is_hidden() -> None:
    """The order of the face-down stacks, and the tiles turned up at the end: no seat sees the seed
    or the stream of chance.
    """
    game = Game(4, seed=8)
    for seat in range(4):
        view = game.view(seat)["game"]
        assert view["seed"] == -1
        assert (view["random"] == 0).all()


@pytest.mark.rule("INF-2", "SET-3")
def test_the_unused_businesses_are_out_of_sight() -> None:
    """A position and a view hold 27 tiles: 7 on the board and 20 in the row."""
    game = Game(2, seed=8)
    for state in (game.state, game.view(0)["game"]):
        assert state["tiles"].sum() == 7
        assert (state["row"] >= 0).sum() == 20
        assert state["park_tiles"].sum() == 0


@pytest.mark.rule("INF-3", "TURN-5")
def test_taken_cards_are_known_while_they_are_held() -> None:
    """Through the next turns, until they are paid."""
    game = bare_game()
    tops(game, orange=6)
    hand(game, 0, orange=[4])
    play_all(game, "option A", "take green", "take orange", "move beige W34")
    assert known_cards(game, 0) == {"green": [4], "orange": [6]}
    assert game.view(2)["unknown"][0].tolist() == [0, 0, 0, 1, 0, 0]
    start_auction(game, ["TSQ"], starter=0)
    bid(game, 0, "orange 6")
    assert known_cards(game, 0) == {"green": [4]}
    passes(game, 1, 2)
    assert known_cards(game, 0) == {"green": [4]}
    assert cards(game, 0) == {"green": [4], "orange": [4]}


@pytest.mark.rule("INF-3", "AUC-7")
def test_cards_taken_back_are_known() -> None:
    """Coloured and black ones, those of all the player's bids in this auction; the others in his
    hand stay unknown.
    """
    game = bare_game()
    hand(game, 0, gray=[4, 5, 6], black=[4, 4, 6])
    hand(game, 1, gray=[6, 6], black=[6])
    start_auction(game, ["TSQ"])
    bid(game, 0, "gray 4 black 4")
    bid(game, 1, "gray 6 black 6")
    passes(game, 2)
    bid(game, 0, "gray 5")
    bid(game, 1, "gray 6")
    assert known_cards(game, 0) == {}  # they are on the table, for all to see
    assert game.state["bid_cards"][0].tolist() == [[1, 1, 0], [1, 0, 0]]
    passes(game, 0)
    assert cards(game, 0) == {"gray": [4, 5, 6], "black": [4, 4, 6]}
    assert known_cards(game, 0) == {"gray": [4, 5], "black": [4]}
    assert game.view(1)["unknown"][0].tolist() == [0, 0, 0, 0, 1, 2]


@pytest.mark.rule("INF-3")
def test_of_equal_cards_the_known_one_is_played_first() -> None:
    """A seat known to hold one 4 that plays a 4 tells nothing of whether it has another."""
    game = bare_game()
    play_all(game, "option A", "take green", "take gray", "move beige W34")
    game.state["face_down"][0, 0] -= 1
    game.state["hand"][0, 0, 0] += 1  # a second green 4, which nobody knows of
    start_auction(game, ["TSQ"], starter=0)
    bid(game, 0, "green 4")
    assert known_cards(game, 0) == {"gray": [4]}
    passes(game, 1, 2)
    game.play("build 0")
    assert cards(game, 0) == {"green": [4], "gray": [4]}
    assert known_cards(game, 0) == {"gray": [4]}


@pytest.mark.rule("INF-3", "AUC-8")
def test_paid_cards_are_no_longer_known_in_the_hand() -> None:
    """Of a hand that all know, the cards that are left."""
    game = bare_game()
    hand(game, 0, gray=[4, 5, 6], black=[4, 5, 6])
    show_hand(game, 0)
    start_auction(game, ["TSQ"])
    bid(game, 0, "gray 4 6 black 5")
    passes(game, 1, 2)
    assert known_cards(game, 0) == cards(game, 0) == {"gray": [5], "black": [4, 6]}
    view = game.view(1)
    assert view["game"]["black_face_up"].tolist() == [0, 1, 0]
    assert view["game"]["returned"][4, :2].tolist() == [0, 2]


@pytest.mark.rule("INF-3")
def test_the_owner_sees_what_the_others_know() -> None:
    """The observation tells a seat which of its own cards are known: showing the hand changes
    it.
    """
    game = bare_game()
    hand(game, 0, gray=[4, 5], black=[6])
    before = game.observation(0)
    show_hand(game, 0)
    assert (game.observation(0) != before).any()


@pytest.mark.rule("INF-1", "AUC-9")
def test_a_shuffled_black_stack_is_unknown_again() -> None:
    """Before, all see the values that lie face up; after, only how many cards there are, and which
    can't be elsewhere.
    """
    game = bare_game()
    black_stack(game, [], [4, 5, 6, 6], keeper=1)
    assert game.view(2)["game"]["black_face_up"].tolist() == [1, 1, 2]
    turn_of(game, 0)
    game.play("option C", [6])
    view = game.view(2)
    assert view["num_face_down"][5] == 3
    assert view["unseen"][5].tolist() == [20, 16, 14]
    about_to_move(game)
    assert game.view(0)["unseen"][5].tolist() == [20, 16, 13]
