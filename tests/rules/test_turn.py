"""TURN: a turn is one option with its three actions."""

from __future__ import annotations

import numpy as np
import pytest

from scenario import (
    bare_game,
    black_stack,
    cards,
    commissioner,
    district,
    empty_stack,
    even,
    hand,
    kinds,
    known_cards,
    legal,
    only,
    passes,
    play_all,
    stopped,
    supply,
    supply_row,
    tops,
    turn_of,
)
from skyenv import Games
from skyenv.rules.components import COLOURS, DISTRICTS

EVERY_BUSINESS = ["boutique", "jeweller", "gallery", "perfumery"]


@pytest.mark.rule("TURN-1", "TURN-2")
def test_option_a() -> None:
    """Take 3 skyscrapers, take 2 coloured cards, move a commissioner; then the next seat has its
    turn.
    """
    game = bare_game()
    assert (game.phase, game.seat) == ("option", 0)
    game.play("option A")
    assert (game.state["supply"][:3].tolist(), game.state["general"][:3].tolist()) == (
        [6, 3, 3],
        [9, 12, 12],
    )
    assert (game.phase, game.seat) == ("take", 0)
    game.play("take violet")
    assert (game.phase, game.seat) == ("take", 0)
    game.play("take orange")
    assert cards(game, 0) == {"violet": [4], "orange": [4]}
    assert (game.phase, game.seat) == ("move", 0)
    game.play("move beige E34")
    assert (game.phase, game.seat, game.turn_seat, game.turn) == ("option", 1, 1, 1)


@pytest.mark.rule("TURN-1", "BUS-1")
def test_option_b() -> None:
    """Place a business, take 2 coloured cards, move a commissioner."""
    game = bare_game()
    supply_row(game, "gallery boutique gallery")
    assert legal(game, "option B ") == ["boutique", "gallery"]
    game.play("option B gallery")
    assert (game.phase, game.seat) == ("plot", 0)
    assert legal(game, "") == [f"plot {name} {plot}" for name in DISTRICTS for plot in COLOURS]
    assert kinds(game.play("plot TSQ brown")) == ["plot TSQ brown"]
    assert game.state["tiles"].sum() == 1
    assert game.state["tiles"][3, 2, 2] == 1
    events = play_all(game, "take green", "take violet", "move white W34")
    assert kinds(events) == ["take green", "top", "take violet", "top", "move white W34"]
    assert (game.phase, game.seat, game.turn) == ("option", 1, 1)


@pytest.mark.rule("TURN-1", "TURN-5")
def test_option_c() -> None:
    """Take a black card and move, take 2 coloured cards, move once more."""
    game = bare_game()
    assert game.play("option C", chance=[6])[1:] == [{"event": "black", "seat": 0, "card": 6}]
    assert (game.phase, game.seat) == ("move", 0)
    game.play("move white E34")
    assert (game.phase, game.seat) == ("take", 0)
    play_all(game, "take brown", "take gray")
    assert (game.phase, game.seat) == ("move", 0)
    game.play("move beige W34")
    assert (game.phase, game.seat, game.turn) == ("option", 1, 1)
    assert cards(game, 0) == {"brown": [4], "gray": [4], "black": [6]}


@pytest.mark.rule("TURN-1", "SCO-1")
def test_option_d() -> None:
    """Score a district, take 2 black cards, move a commissioner: no coloured cards."""
    game = bare_game()
    district(game, "TSQ", green=(0, 1), violet=(1, 1), gray=(2, 1))
    commissioner(game, "white", "TSQ")
    events = game.play("option D TSQ", chance=[4, 6])
    assert kinds(events) == ["option D TSQ", "vp", "black", "black"]
    assert cards(game, 0) == {"black": [4, 6]}
    assert (game.phase, game.seat) == ("move", 0)
    game.play("move white E52")
    assert (game.phase, game.seat, game.turn) == ("option", 1, 1)


@pytest.mark.rule("TURN-1")
@pytest.mark.parametrize("players", [2, 3, 4])
def test_turns_go_clockwise(players: int) -> None:
    """Seat 0, 1, … N−1 and seat 0 again."""
    game = bare_game(players)
    turns = []
    for _ in range(2 * players + 1):
        turns.append(game.seat)
        play_all(game, "option A", "take green", "take brown", "move white W34")
        commissioner(game, "white", "CITY_HALL")
    assert turns == [seat % players for seat in range(2 * players + 1)]


@pytest.mark.rule("TURN-2")
def test_option_a_four_times() -> None:
    """The 12 skyscrapers of the general supply last for four times; then A can't be chosen."""
    game = bare_game()
    for times in range(1, 5):
        assert "option A" in game.legal_names
        game.play("option A")
        assert (game.state["supply"][0], game.state["general"][0]) == (
            3 + 3 * times,
            12 - 3 * times,
        )
        hand(game, 0)
        turn_of(game, 0)
    assert "option A" not in game.legal_names
    turn_of(game, 1)
    assert "option A" in game.legal_names


@pytest.mark.rule("TURN-3", "BUS-2")
def test_option_b_needs_a_plot() -> None:
    """Without a plot for a business, B isn't offered; one plot is enough."""
    game = bare_game(4)
    plots = {colour: (seat, 1) for seat, colour in enumerate(COLOURS[:4])}
    for name in DISTRICTS[:6]:
        district(game, name, gray="gallery gallery", **plots)
    full: dict[str, tuple[int, int] | str] = {
        "green": (0, 1),
        "violet": (2, 3),
        "brown": "gallery gallery",
        "orange": (1, 1),
    }
    district(game, "E52", gray="boutique jeweller", **full)
    assert not legal(game, "option B ")
    assert {"option A", "option C"} == set(game.legal_names)
    district(game, "E52", gray="jeweller", **full)
    game.play(f"option B {legal(game, 'option B ')[0]}")
    assert game.legal_names == ["plot E52 gray"]


@pytest.mark.rule("TURN-3")
def test_option_c_can_always_be_chosen() -> None:
    """Even with no black card left; the move is made all the same."""
    game = bare_game(4)
    black_stack(game, [], [], keeper=1)
    plots = {colour: (seat, 1) for seat, colour in enumerate(COLOURS[:4])}
    for name in DISTRICTS:
        district(game, name, gray="gallery gallery", **plots)
    supply(game, 0, 0, general=0)
    assert game.legal_names == ["option C"]
    assert kinds(game.play("option C")) == ["option C"]
    assert (game.phase, game.seat) == ("move", 0)


@pytest.mark.rule("TURN-3", "SCO-1")
def test_option_d_needs_a_commissioner() -> None:
    """In a district that isn't stopped; City Hall and Central Park are no districts."""
    game = bare_game()
    assert not legal(game, "option D ")
    commissioner(game, "white", "CENTRAL_PARK")
    assert not legal(game, "option D ")
    commissioner(game, "beige", "E42")
    assert legal(game, "option D ") == ["E42"]
    commissioner(game, "white", "W34")
    assert legal(game, "option D ") == ["W34", "E42"]
    stopped(game, "E42")
    assert legal(game, "option D ") == ["W34"]


@pytest.mark.rule("TURN-4")
def test_two_different_colours() -> None:
    """The second card comes from another stack than the first."""
    game = bare_game()
    tops(game, green=6, brown=5, gray=5)
    game.play("option A")
    assert legal(game, "take ") == ["green", "violet", "brown", "orange"]
    game.play("take brown")
    assert legal(game, "take ") == ["orange", "gray"]
    game.play("take gray")
    assert cards(game, 0) == {"brown": [5], "gray": [5]}


@pytest.mark.rule("TURN-4")
def test_a_single_stack_gives_one_card() -> None:
    """Although that stack has more cards."""
    game = bare_game()
    for colour in ("green", "violet", "orange", "gray"):
        empty_stack(game, colour, keeper=1)
    game.play("option A")
    assert legal(game, "") == ["take brown"]
    game.play("take brown")
    assert (game.phase, game.seat) == ("move", 0)
    assert cards(game, 0) == {"brown": [4]}


@pytest.mark.rule("TURN-4")
def test_no_stack_gives_nothing() -> None:
    """And there is no decision: the move follows at once."""
    game = bare_game()
    for colour in COLOURS:
        empty_stack(game, colour, keeper=1)
    assert kinds(game.play("option A")) == ["option A"]
    assert (game.phase, game.seat) == ("move", 0)
    turn_of(game, 0)
    game.play("option C")
    game.play("move white W34")
    assert (game.phase, game.seat) == ("move", 0)
    assert list(cards(game, 0)) == ["black"]


@pytest.mark.rule("TURN-5", "INF-3")
def test_a_taken_card_is_seen_by_all() -> None:
    """It is the card that was visible; the next one becomes visible."""
    game = bare_game()
    tops(game, violet=6)
    game.play("option A")
    assert game.play("take violet", chance=[5])[1:] == [
        {"event": "top", "color": "violet", "card": 5}
    ]
    assert game.state["top"][1] == 1
    assert cards(game, 0) == known_cards(game, 0) == {"violet": [6]}


@pytest.mark.rule("TURN-5")
def test_the_last_card_leaves_an_empty_stack() -> None:
    """Then there is no visible card, and the stack can't be taken from."""
    game = bare_game()
    hand(game, 1, green=[4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6])
    game.play("option A")
    assert game.play("take green")[1:] == [{"event": "top", "color": "green", "card": None}]
    play_all(game, "take violet", "move white W34", "option A")
    assert legal(game, "take ") == ["violet", "brown", "orange"]


@pytest.mark.rule("TURN-5", "INF-2")
def test_a_black_card_is_seen_by_its_owner_alone() -> None:
    """The others see only that the hand has one more black card."""
    game = bare_game()
    game.play("option C", chance=[5])
    assert (cards(game, 0), known_cards(game, 0)) == ({"black": [5]}, {})
    assert game.view(0)["game"]["hand"][0, 5].tolist() == [0, 1, 0]
    assert game.view(1)["game"]["hand"][0, 5].tolist() == [0, 0, 0]
    assert game.view(1)["unknown"][0].tolist() == [0, 0, 0, 0, 0, 1]


@pytest.mark.compiled
@pytest.mark.rule("TURN-5")
def test_drawn_cards_are_random() -> None:
    """The next visible card and a black card come from what is face down, all cards equally
    likely.
    """
    games = Games(6000, 2, "back", seed=5, observation=None)
    while games.state["phase"][0] == 0:
        games.step(np.argmax(games.mask, axis=1))
    before = games.state["hand"][:, 0, 5].copy()
    unseen = games.state["face_down"].copy()
    games.step(np.full(6000, 5))
    drawn = games.state["hand"][:, 0, 5] - before
    assert even(drawn.sum(axis=0), unseen[:, 5].sum(axis=0).tolist())
    games.step(np.full(6000, 60))
    games.step(np.full(6000, 55))
    for old_top in range(3):
        some = games.state["known"][:, 0, 0, old_top] == 1
        assert even(
            np.bincount(games.state["top"][some, 0], minlength=3),
            unseen[some, 0].sum(axis=0).tolist(),
        )


@pytest.mark.rule("TURN-6")
def test_no_hand_limit() -> None:
    """With most of the pack in hand a player still takes black and coloured cards."""
    game = bare_game()
    colour = [4] * 3 + [5] * 3 + [6] * 3
    hand(game, 0, black=[4] * 19 + [5] * 16 + [6] * 13, **dict.fromkeys(COLOURS, colour))
    play_all(game, "option C", "move white W34", "take green", "take gray")
    assert game.state["hand"][0].sum() == 9 * 5 + 48 + 3
    commissioner(game, "white", "W34")
    turn_of(game, 0)
    game.play("option D W34", chance=[6])
    assert game.state["hand"][0, 5].tolist() == [20, 16, 14]


@pytest.mark.rule("TURN-7", "MOVE-4")
def test_auctions_in_the_middle_of_option_c() -> None:
    """The first move of C may start auctions; they are held at once, then the same seat takes its
    cards and moves again.
    """
    game = bare_game()
    commissioner(game, "white", "CENTRAL_PARK", ["E34"])
    turn_of(game, 1)
    game.play("option C", chance=[4])
    events = game.play("move white CITY_HALL")
    assert only(events, "auction") == [{"place": "E34", "starter": 1}]
    assert (game.phase, game.seat) == ("bid", 1)
    passes(game, 1, 2, 0)
    assert (game.phase, game.seat) == ("bid", 1)  # the park area
    passes(game, 1, 2, 0)
    assert (game.phase, game.seat) == ("take", 1)
    play_all(game, "take green", "take violet")
    assert (game.phase, game.seat) == ("move", 1)
    assert "white W34" in legal(game, "move ")
    game.play("move white W34")
    assert (game.phase, game.seat, game.turn) == ("option", 2, 1)


@pytest.mark.rule("TURN-7")
def test_both_moves_of_option_c_may_use_one_commissioner() -> None:
    """From City Hall to W34, and on to Times Square."""
    game = bare_game()
    play_all(game, "option C", "move beige W34", "take green", "take violet")
    assert legal(game, "move ") == ["white W34", "white E34", "beige W42", "beige TSQ"]
    game.play("move beige TSQ")
    assert game.state["place"].tolist() == [8, 3]
