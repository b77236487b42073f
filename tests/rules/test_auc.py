"""AUC: auctions, with the examples of the rule book's pages on them."""

from collections.abc import Sequence
from typing import Any

import pytest

from scenario import (
    bare_game,
    bid_colours,
    bids,
    black_stack,
    commissioner,
    district,
    floors,
    kinds,
    legal,
    only,
    passes,
    same_record,
    start_auction,
    supply,
    turn_of,
)
from skyenv import ChanceError
from skyenv.rules.components import COLOURS
from skyenv.rules.state import ALEA

ONE_OF_EACH = "green 5 violet 5 brown 5 orange 5 gray 5"


# ---- the set of auctions ----


@pytest.mark.rule("AUC-1")
def test_districts_are_auctioned_in_the_order_visited_then_the_park() -> None:
    """Not in that of the board; the other commissioner and its markers stay."""
    game = bare_game()
    commissioner(game, "beige", "E52", ["E34", "TSQ"])
    events = start_auction(game, ["W52", "W34", "W42"], starter=2)
    for _ in range(4):
        events += passes(game, 2, 0, 1)
    assert only(events, "auction") == [
        {"place": place, "starter": 2} for place in ("W52", "W34", "W42", "CENTRAL_PARK")
    ]
    assert game.state["visited"].tolist() == [[-1, -1, -1], [1, 3, -1]]
    assert game.state["place"].tolist() == [8, 6]
    assert (game.phase, game.seat) == ("option", 0)


@pytest.mark.rule("AUC-1")
@pytest.mark.parametrize("field", ["highest", "bid_total", "bid_cards", "out", "park_colour"])
def test_an_auction_begins_without_bids(field: str) -> None:
    """Also where an edited position holds what no game leaves behind; such a bid might end the
    process.
    """
    game, edited = bare_game(), bare_game()
    edited.state[field] = 1
    for one in (game, edited):
        start_auction(one, ["W34"])
    assert same_record(game.state, edited.state)


@pytest.mark.rule("AUC-2")
def test_bidding_goes_clockwise_until_all_but_one_have_passed() -> None:
    """Beginning with the mover; who passed is out for the rest of this auction, and back in the
    next one.
    """
    game = bare_game(4, hands=["green 4 black 4 4 5 6"] * 4)
    start_auction(game, ["W34"], starter=2)
    bids(game, "2 green 4", "3 pass", "0 green 4 black 4", "1 green 4 black 5", "2 black 6")
    events = bids(game, "0 pass", "1 black 4", "2 pass")  # seat 3 isn't asked again
    assert only(events, "won") == [{"seat": 1, "total": 13}]
    assert (game.phase, game.seat) == ("build", 1)
    assert only(game.play("build 0"), "auction") == [{"place": "CENTRAL_PARK", "starter": 2}]
    bids(game, "2 green 4", "3 green 4 black 4")


@pytest.mark.rule("AUC-2")
@pytest.mark.parametrize(
    ("moves", "seat", "total"),
    [
        (["0 pass", "1 pass", "2 violet 6"], 2, 6),  # the last one may still bid
        (["0 violet 5", "1 pass", "2 pass"], 0, 5),  # a single bidder isn't asked again
        (["0 pass", "1 pass", "2 pass"], None, 0),  # nothing is built
    ],
)
def test_the_highest_bidder_wins(moves: list[str], seat: int | None, total: int) -> None:
    game = bare_game(hands=["violet 5", "", "violet 6"])
    start_auction(game, ["W34"])
    events = bids(game, *moves)
    assert only(events, "won") == [{"seat": seat, "total": total}]
    assert (game.phase, game.seat) == (("bid", 0) if seat is None else ("build", seat))


@pytest.mark.rule("AUC-3")
def test_the_rule_books_example_of_a_bid_of_19() -> None:
    """The player bids 19 for the brown building plot.

    The next player must bid at least 20 or pass.
    """
    game = bare_game(hands=["brown 4 5 black 4 6", "gray 4 5 5 black 5", "gray 4 5 6 black 5"])
    start_auction(game, ["W34"])
    bids(game, "0 brown 4 5 black 4 6")
    assert game.legal_names == ["pass"]
    bids(game, "1 pass", "2 gray 4 5 6 black 5")
    assert game.state["highest"] == 20


# ---- colours ----


@pytest.mark.rule("AUC-4")
def test_the_first_card_is_coloured_and_the_others_of_its_colour_or_black() -> None:
    """A raise may be black alone."""
    game = bare_game(hands=["black 4 5 6", "orange 4 5 green 4 black 6 6", "gray 6 6"])
    start_auction(game, ["TSQ"])
    assert game.legal_names == ["pass"]
    bids(game, "0 pass")
    assert bid_colours(game) == {"orange", "green"}
    game.play("bid orange 4")
    assert bid_colours(game) == {"orange", "black"}
    game.play("bid done")
    bids(game, "2 gray 6")
    assert bid_colours(game) == {"orange", "black"}
    bids(game, "1 black 6")
    assert game.state["bid_total"][:3].tolist() == [0, 10, 6]


Plots = dict[str, Any]
RED, YELLOW, BLUE = (0, 2), (1, 1), (2, 1)
OF_ALEA = (ALEA, 1)
COLOURS_OF_SEATS: dict[str, tuple[Plots, Sequence[str]]] = {
    # what stands in a district, and the colours with which each seat may bid
    "empty plots: one's own, or any of them": (
        {"orange": RED, "green": YELLOW, "violet": "gallery jeweller"},
        ["orange", "green", "brown gray", "brown gray"],
    ),
    "no empty plot: one's own, or any with businesses": (
        {"orange": RED, "green": YELLOW, "brown": BLUE, "violet": "gallery", "gray": "gallery"},
        ["orange", "green", "brown", "violet gray"],
    ),
    "nothing but businesses": (dict.fromkeys(COLOURS, "gallery"), [" ".join(COLOURS)] * 4),
    "an empty plot beside Alea's": (
        {"green": OF_ALEA, "violet": "boutique", "brown": YELLOW},
        ["orange gray", "brown"],
    ),
    "no empty plot beside Alea's": (
        {**dict.fromkeys(COLOURS, OF_ALEA), "violet": "boutique", "brown": YELLOW},
        ["violet", "brown"],
    ),
    "Alea's alone": (dict.fromkeys(COLOURS, OF_ALEA), ["", ""]),
}


@pytest.mark.rule("AUC-5", "AUC-6", "ALEA-9", "AUC-11")
@pytest.mark.parametrize("side", ["front", "back"])
@pytest.mark.parametrize("what", COLOURS_OF_SEATS)
def test_plots_decide_the_colours_of_bids(what: str, side: str) -> None:
    """The sixth plot, with a business, gives none; a skyscraper elsewhere binds nobody."""
    plots, colours = COLOURS_OF_SEATS[what]
    game = bare_game(len(colours), side, hands=[ONE_OF_EACH + " black 6"] * len(colours))
    district(game, "E34", gray=(0, 1))
    district(game, "W42", **plots)
    start_auction(game, ["W42"])
    for wanted in colours:
        assert bid_colours(game) == set(wanted.split())
        assert "pass" in game.legal_names
        game.play("pass")


# ---- cards ----


@pytest.mark.rule("AUC-8", "AUC-9")
def test_returned_cards_come_up_after_all_others_lowest_first() -> None:
    """However they were bid; those of an earlier auction before them. Chance has no say."""
    game = bare_game(hands=["green 4 5 6", "", "green 4 4 4 5 5 6"])  # a 5 and a 6 are face down
    start_auction(game, ["W34"])
    bids(game, "0 green 6", "1 pass", "2 green 4 4", "0 green 4", "2 pass")
    game.play("build 0")
    bids(game, "0 green 5", "1 pass", "2 pass")
    game.play("build 0")
    new_tops = []
    for draw in ([6], [5], [], [], [], []):
        supply(game, 1, 0, general=3)
        turn_of(game, 1)
        game.play("option A")
        if not draw:
            with pytest.raises(ChanceError):
                game.play("take green", [5])
        new_tops += [event["card"] for event in only(game.play("take green", draw), "top")]
    assert new_tops == [6, 5, 4, 6, 5, None]


@pytest.mark.rule("AUC-8")
def test_surplus_cards_of_edited_positions_are_dropped() -> None:
    """Only an edited position can have more than twelve cards of a colour; nothing beside the stack
    changes.
    """
    game = bare_game(hands=["green 4"])
    game.state["returned"][0], game.state["num_returned"][0] = 0, 12
    game.refresh()
    start_auction(game, ["W34"])
    bids(game, "0 green 4", "1 pass", "2 pass")
    assert game.state["num_returned"].tolist() == [12, 0, 0, 0, 0]
    assert (game.state["returned"][1:] == -1).all()


@pytest.mark.rule("AUC-8")
def test_the_lowest_card_returned_to_an_empty_stack_is_visible() -> None:
    game = bare_game(hands=["gray 4 4 5 5 6 6", "gray 4 4 5 5 6"])  # the top is the last 4
    game.state["hand"][1, 4, 0] += 1
    game.state["top"][4] = -1
    game.refresh()
    start_auction(game, ["W34"])
    events = bids(game, "0 gray 5 6", "1 pass", "2 pass")
    assert events[-2:] == [
        {"event": "won", "seat": 0, "total": 11},
        {"event": "top", "color": "gray", "card": 5},
    ]
    assert (game.phase, game.state["top"][4]) == ("build", 1)
    assert game.state["returned"][4, : game.state["num_returned"][4]].tolist() == [2]


@pytest.mark.rule("AUC-9")
def test_the_black_stack_is_shuffled_when_a_face_up_card_comes() -> None:
    """Not before: the last face-down card is drawn without shuffling. Without any card none is
    drawn.
    """
    game = bare_game()
    black_stack(game, [5], [4, 6, 6], keeper=2)
    assert kinds(game.play("option C")) == ["option C", "black"]
    assert game.state["black_face_up"].tolist() == [1, 0, 2]
    turn_of(game, 1)
    with pytest.raises(ChanceError):
        game.play("option C", [5])
    assert kinds(game.play("option C", [4])) == ["option C", "shuffle", "black"]
    assert game.state["face_down"][5].tolist() == [0, 0, 2]
    assert (game.state["black_face_up"] == 0).all()
    black_stack(game, [], [], keeper=2)
    turn_of(game, 0)
    assert kinds(game.play("option C")) == ["option C"]


@pytest.mark.rule("AUC-9", "ALEA-2")
def test_bids_and_aleas_cards_are_not_shuffled_in() -> None:
    """Alea turns the last face-down card, then the stack is shuffled."""
    game = bare_game(2, hands=["green 4 black 5"])
    black_stack(game, [5], [4, 6], keeper=1)
    start_auction(game, ["W34"])
    bids(game, "0 green 4 black 5")
    with pytest.raises(ChanceError):
        bids(game, "1 pass", chance=[5, 5])
    events = bids(game, "1 pass", chance=[5, 6, 4])
    assert events[1:3] == [{"event": "shuffle"}, {"event": "alea", "cards": [5, 6, 4]}]
    assert only(bids(game, "0 pass"), "won") == [{"seat": -1, "total": 15}]


# ---- building ----


@pytest.mark.rule("AUC-10", "COM-10")
@pytest.mark.parametrize(
    ("cards_bid", "ready", "limit"),
    [
        ("green 4", 9, 3),
        ("green 4 4 black 4", 9, 3),
        ("green 4 5", 9, 2),
        ("green 4 black 5", 9, 2),
        ("green 5 black 4", 9, 2),
        ("green 4 4 black 4 4 6", 9, 1),
        ("green 4 5 6 black 4", 9, 1),
        ("green 4", 2, 2),
        ("green 4", 0, 0),
    ],
)
def test_the_highest_card_and_the_supply_limit_building(
    cards_bid: str, ready: int, limit: int
) -> None:
    """Whatever the colour of the card; the general supply doesn't help. Building nothing is
    allowed.
    """
    game = bare_game(hands=["green 4 4 5 6 black 4 4 5 6"])
    supply(game, 0, ready)
    start_auction(game, ["TSQ"])
    bids(game, f"0 {cards_bid}", "1 pass", "2 pass")
    assert game.legal_names == [f"build {number}" for number in range(limit + 1)]
    nothing = game.copy()
    nothing.play("build 0")
    assert floors(nothing, "TSQ", "green") == (-1, 0)
    game.play(f"build {limit}")
    assert floors(game, "TSQ", "green") == ((0, limit) if limit else (-1, 0))
    assert game.state["supply"][0] == ready - limit


# ---- the park area ----


@pytest.mark.rule("AUC-12")
def test_the_first_bidder_chooses_the_colour_of_the_park() -> None:
    """Any colour, also after others have passed; the others bid with it, and black as always.

    The winner builds up to the limit, next to anyone's skyscrapers, which bind nobody.
    """
    game = bare_game(hands=["orange 5", ONE_OF_EACH, ONE_OF_EACH + " black 6", "gray 6"])
    game.state["park"][:3] = [1, 2, 0]
    district(game, "W34", green=(1, 1))
    start_auction(game, [])
    bids(game, "0 pass")
    assert bid_colours(game) == set(COLOURS)
    bids(game, "1 orange 5")
    assert legal(game, "") == ["pass", "bid orange 5"]
    bids(game, "2 orange 5 black 6")
    assert game.legal_names == ["pass"]
    bids(game, "1 pass")
    assert game.legal_names == ["build 0", "build 1"]
    game.play("build 1")
    assert game.state["park"].tolist() == [1, 2, 1, 0]
    assert (game.state["supply"][2], game.state["floors"].sum()) == (2, 1)
    assert (game.phase, game.seat, game.scores) == ("option", 1, [0, 0, 0])
