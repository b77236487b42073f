"""AUC: auctions, with the examples of the rule book's pages on them."""

from __future__ import annotations

import pytest

from scenario import (
    bare_game,
    bid,
    bid_colours,
    black_stack,
    cards,
    commissioner,
    district,
    even,
    floors,
    hand,
    kinds,
    known_cards,
    legal,
    only,
    passes,
    start_auction,
    stopped,
    supply,
    tops,
    turn_of,
)
from skyenv import ChanceError, Game
from skyenv.rules.components import COLOURS
from skyenv.rules.state import ALEA

ONE_OF_EACH = {colour: [5] for colour in COLOURS}


# ---- the set of auctions ----


@pytest.mark.rule("AUC-1")
def test_the_districts_in_the_order_visited_then_the_park() -> None:
    """The order of the visits decides, not that of the board; the other commissioner and its
    markers stay.
    """
    game = bare_game()
    commissioner(game, "beige", "E52", ["E34", "TSQ"])
    events = start_auction(game, ["W52", "W34", "W42"], starter=2)
    auctions = only(events, "auction")
    for _ in range(3):
        auctions += only(passes(game, 2, 0, 1), "auction")
    assert auctions == [
        {"place": place, "starter": 2} for place in ("W52", "W34", "W42", "CENTRAL_PARK")
    ]
    passes(game, 2, 0, 1)
    assert game.state["markers"].tolist() == [0, 2]
    assert game.state["visited"].tolist() == [[-1, -1, -1], [1, 3, -1]]
    assert game.state["place"].tolist() == [8, 6]
    assert (game.phase, game.seat) == ("option", 0)


@pytest.mark.rule("AUC-1")
def test_without_markers_only_the_park_is_auctioned() -> None:
    """As when all the districts of its way were stopped."""
    game = bare_game()
    events = start_auction(game, [], starter=1)
    assert only(events, "auction") == [{"place": "CENTRAL_PARK", "starter": 1}]
    assert only(passes(game, 1, 2, 0), "won") == [{"seat": None, "total": 0}]
    assert game.phase == "option"


@pytest.mark.rule("AUC-2")
def test_clockwise_until_all_but_one_have_passed() -> None:
    """Beginning with the mover; who passed is out for the rest of this auction, and back in the
    next one.
    """
    game = bare_game(4)
    for seat in range(4):
        hand(game, seat, green=[4], black=[4, 4, 5, 6])
    start_auction(game, ["W34"], starter=2)
    bid(game, 2, "green 4")
    passes(game, 3)
    bid(game, 0, "green 4 black 4")
    bid(game, 1, "green 4 black 5")
    bid(game, 2, "black 6")
    passes(game, 0)  # seat 3 isn't asked again
    bid(game, 1, "black 4")
    events = passes(game, 2)
    assert only(events, "won") == [{"seat": 1, "total": 13}]
    assert (game.phase, game.seat) == ("build", 1)
    assert only(game.play("build 0"), "auction") == [{"place": "CENTRAL_PARK", "starter": 2}]
    bid(game, 2, "green 4")
    bid(game, 3, "green 4 black 4")


@pytest.mark.rule("AUC-2")
def test_the_last_player_may_still_bid() -> None:
    """If all others passed before anyone bid. Then the auction is over."""
    game = bare_game()
    hand(game, 2, violet=[6])
    start_auction(game, ["W34"])
    passes(game, 0, 1)
    assert (game.phase, game.seat) == ("bid", 2)
    assert game.legal_names == ["pass", "bid violet 6"]
    assert only(bid(game, 2, "violet 6"), "won") == [{"seat": 2, "total": 6}]
    assert (game.phase, game.seat) == ("build", 2)


@pytest.mark.rule("AUC-2")
def test_a_single_bidder_is_not_asked_again() -> None:
    """The last of the others passes, and the bid has won."""
    game = bare_game()
    hand(game, 0, violet=[4, 5, 6])
    start_auction(game, ["W34"])
    bid(game, 0, "violet 5")
    passes(game, 1)
    assert only(passes(game, 2), "won") == [{"seat": 0, "total": 5}]


@pytest.mark.rule("AUC-2")
def test_nobody_bids() -> None:
    """Nothing is built, and no card moves; the next auction begins."""
    game = bare_game()
    for seat in range(3):
        hand(game, seat, **ONE_OF_EACH)
    before = game.state["hand"].copy()
    start_auction(game, ["W34", "TSQ"])
    events = passes(game, 0, 1, 2)
    assert only(events, "won") == [{"seat": None, "total": 0}]
    assert only(events, "auction") == [{"place": "TSQ", "starter": 0}]
    assert game.state["floors"].sum() == 0
    assert (game.state["hand"] == before).all()


@pytest.mark.rule("AUC-3")
def test_nineteen_for_brown() -> None:
    """The player bids 19 for the brown building plot.

    The next player must bid at least 20 or pass.
    """
    game = bare_game()
    hand(game, 0, brown=[4, 5], black=[4, 6])
    hand(game, 1, gray=[4, 5, 5], black=[5])  # 19 in all
    hand(game, 2, gray=[4, 5, 6], black=[5])  # 20 in all
    start_auction(game, ["W34"])
    bid(game, 0, "brown 4 5 black 4 6")
    assert game.state["highest"] == 19
    assert game.legal_names == ["pass"]
    passes(game, 1)
    bid(game, 2, "gray 4 5 6 black 5")
    assert game.state["highest"] == 20


@pytest.mark.rule("AUC-3")
def test_raising_counts_all_cards_of_the_auction() -> None:
    """Who raises adds cards; his total is that of all his cards in this auction, and it must be
    higher, not equal.
    """
    game = bare_game()
    hand(game, 0, brown=[4], black=[4, 5])
    hand(game, 1, gray=[4, 5])
    start_auction(game, ["W34"])
    bid(game, 0, "brown 4")
    bid(game, 1, "gray 4 5")
    passes(game, 2)
    game.play("bid black 4")  # 8: not enough
    assert "bid done" not in game.legal_names
    game.play("bid black 5")  # 13
    assert "bid done" in game.legal_names
    assert only(bid(game, 0, ""), "action")[0]["name"] == "bid done"
    assert game.state["highest"] == 13
    assert game.legal_names == ["pass"]
    hand(game, 1, gray=[4])
    assert game.legal_names == ["pass"]  # 13 would only be as much
    hand(game, 1, gray=[5])
    assert game.legal_names == ["pass", "bid gray 5"]  # 14


# ---- colours ----


@pytest.mark.rule("AUC-4")
def test_the_first_card_is_coloured() -> None:
    """With black cards alone a player must pass."""
    game = bare_game()
    hand(game, 0, black=[4, 5, 6])
    hand(game, 1, black=[4, 5, 6], orange=[4])
    start_auction(game, ["TSQ"])
    assert game.legal_names == ["pass"]
    passes(game, 0)
    assert bid_colours(game) == {"orange"}
    game.play("bid orange 4")
    assert bid_colours(game) == {"black"}


@pytest.mark.rule("AUC-4")
def test_further_cards_are_of_that_colour_or_black() -> None:
    """In the same bid and in later ones; a raise may be black alone."""
    game = bare_game()
    hand(game, 0, orange=[4, 5], green=[4, 5, 6], black=[6, 6])
    hand(game, 1, gray=[6, 6])
    start_auction(game, ["TSQ"])
    assert bid_colours(game) == {"orange", "green"}
    game.play("bid orange 4")
    assert bid_colours(game) == {"orange", "black"}
    game.play("bid done")
    bid(game, 1, "gray 6")
    passes(game, 2)
    assert bid_colours(game) == {"orange", "black"}
    game.play("bid black 6")
    assert bid_colours(game) == {"black"}
    game.play("bid done")
    assert game.state["bid_total"][:2].tolist() == [10, 6]


@pytest.mark.rule("AUC-5")
def test_colours_with_empty_plots() -> None:
    """Red may only choose orange, Yellow only green; Blue and Green gray or brown; nobody violet (a
    business).
    """
    red, yellow, blue, green = range(4)
    game = bare_game(4)
    for seat in range(4):
        hand(game, seat, **ONE_OF_EACH, black=[6, 6, 6])
    district(game, "W42", orange=(red, 2), green=(yellow, 1), violet="gallery jeweller")
    start_auction(game, ["W42"], starter=red)
    assert bid_colours(game) == {"orange"}
    bid(game, red, "orange 5")
    assert bid_colours(game) == {"green"}
    bid(game, yellow, "green 5 black 6")
    assert bid_colours(game) == {"brown", "gray"}
    bid(game, blue, "gray 5 black 6 6")
    assert bid_colours(game) == {"brown", "gray"}  # gray too, although Blue bids with it
    passes(game, green)
    assert bid_colours(game) == {
        "black"
    }  # Red's orange card is on the table; black is always allowed


@pytest.mark.rule("AUC-5")
def test_several_players_bid_with_one_colour() -> None:
    """And whoever wins builds on that plot."""
    game = bare_game()
    hand(game, 0, gray=[4])
    hand(game, 1, gray=[5])
    hand(game, 2, gray=[6])
    start_auction(game, ["W42"])
    bid(game, 0, "gray 4")
    bid(game, 1, "gray 5")
    bid(game, 2, "gray 6")
    passes(game, 0, 1)
    game.play("build 1")
    assert floors(game, "W42", "gray") == (2, 1)


@pytest.mark.rule("AUC-5")
def test_colours_without_an_empty_plot() -> None:
    """Red may only choose orange, Yellow only green, Blue only brown; Green violet or gray, trying
    for a building stop.
    """
    red, yellow, blue = range(3)
    game = bare_game(4)
    for seat in range(4):
        hand(game, seat, **ONE_OF_EACH)
    district(
        game,
        "W42",
        orange=(red, 2),
        green=(yellow, 1),
        brown=(blue, 1),
        violet="gallery",
        gray="gallery jeweller",
    )
    start_auction(game, ["W42"], starter=red)
    for colours in ({"orange"}, {"green"}, {"brown"}, {"violet", "gray"}):
        assert bid_colours(game) == colours
        game.play("pass")


@pytest.mark.rule("AUC-5", "AUC-2", "ALEA-9")
def test_no_colour_to_bid_with() -> None:
    """If all plots are others' (Alea's too), a player must pass whatever he holds."""
    game = bare_game(2)
    hand(game, 0, **ONE_OF_EACH, black=[6])
    hand(game, 1, **ONE_OF_EACH)
    district(
        game,
        "W42",
        green=(ALEA, 1),
        violet=(ALEA, 1),
        brown=(1, 1),
        orange=(ALEA, 1),
        gray=(ALEA, 2),
    )
    start_auction(game, ["W42"])
    assert game.legal_names == ["pass"]
    passes(game, 0)
    assert game.legal_names == ["pass", "bid brown 5"]


@pytest.mark.rule("AUC-5", "AUC-4")
def test_no_card_of_an_allowed_colour() -> None:
    """Then a player must pass too, although he has black cards and cards of other colours."""
    game = bare_game()
    hand(game, 0, green=[6], violet=[6], orange=[6], gray=[6], black=[6])
    district(game, "W42", brown=(0, 1))
    start_auction(game, ["W42"])
    assert game.legal_names == ["pass"]


@pytest.mark.rule("AUC-5", "AUC-11")
def test_skyscrapers_elsewhere_do_not_matter() -> None:
    """A player's plot in one district binds him there alone."""
    game = bare_game()
    hand(game, 0, **ONE_OF_EACH)
    district(game, "W34", green=(0, 1))
    start_auction(game, ["E34", "W34"])
    assert bid_colours(game) == set(COLOURS)
    passes(game, 0, 1, 2)
    assert bid_colours(game) == {"green"}


@pytest.mark.rule("AUC-6")
def test_the_sixth_plot_gives_no_colour() -> None:
    """With businesses on it alone, a player without a skyscraper there must pass."""
    game = bare_game(2, "back")
    hand(game, 0, **ONE_OF_EACH, black=[6])
    alea: dict[str, tuple[int, int] | str] = dict.fromkeys(COLOURS, (ALEA, 1))
    district(game, "TSQ", **alea)
    start_auction(game, ["TSQ"])
    assert game.legal_names == ["pass"]


@pytest.mark.rule("AUC-6", "STOP-1")
def test_the_sixth_plot_is_never_empty() -> None:
    """With one business on it: the district is full if the coloured plots are occupied."""
    game = bare_game(side="back")
    hand(game, 0, **ONE_OF_EACH)
    district(
        game,
        "TSQ",
        green=(1, 1),
        violet=(2, 1),
        brown="gallery",
        orange="gallery jeweller",
        gray="boutique",
    )
    start_auction(game, ["TSQ"])
    assert bid_colours(game) == {"brown", "orange", "gray"}
    bid(game, 0, "gray 5")
    passes(game, 1, 2)
    assert game.legal_names == ["stop"]


# ---- cards ----


@pytest.mark.rule("AUC-7", "INF-3")
def test_who_passes_takes_his_cards_back() -> None:
    """All the cards of this auction; everybody has seen them."""
    game = bare_game()
    hand(game, 0, green=[4, 5], black=[4, 5])
    hand(game, 1, violet=[6, 6], black=[6])
    start_auction(game, ["TSQ"])
    bid(game, 0, "green 4")
    bid(game, 1, "violet 6")
    passes(game, 2)
    bid(game, 0, "black 4")
    bid(game, 1, "violet 6")
    assert cards(game, 0) == {"green": [5], "black": [5]}
    passes(game, 0)
    assert cards(game, 0) == {"green": [4, 5], "black": [4, 5]}
    assert known_cards(game, 0) == {"green": [4], "black": [4]}
    assert cards(game, 1) == {"black": [6]}  # the winner has paid


@pytest.mark.rule("AUC-8")
def test_the_winner_pays_before_he_builds() -> None:
    """All his cards, the coloured ones under their stack, the black ones face up under the black
    stack.
    """
    game = bare_game()
    hand(game, 1, brown=[5, 6], black=[4, 6, 6])
    start_auction(game, ["TSQ"])
    passes(game, 0)
    bid(game, 1, "brown 5 black 4 6")
    face_down = game.state["face_down"].copy()
    passes(game, 2)
    assert game.phase == "build"
    assert cards(game, 1) == {"brown": [6], "black": [6]}
    assert game.state["black_face_up"].tolist() == [1, 0, 1]
    assert (game.state["num_returned"] == [0, 0, 1, 0, 0]).all()
    assert game.state["returned"][2, 0] == 1  # a 5
    assert (game.state["face_down"] == face_down).all()


@pytest.mark.rule("AUC-8")
def test_returned_cards_come_up_after_all_others_lowest_first() -> None:
    """The lowest card paid comes up first, however it was bid; what an earlier auction returned
    comes up before that.
    """
    game = bare_game()
    hand(game, 2, green=[4, 4, 4, 5, 5, 6])
    hand(game, 0, green=[4, 5, 6])  # in the stack: a 4 on top, below it a 5 and a 6
    start_auction(game, ["W34"], starter=0)
    bid(game, 0, "green 6")
    passes(game, 1)
    bid(game, 2, "green 4 4")
    bid(game, 0, "green 4")  # 10
    passes(game, 2)
    game.play("build 0")
    bid(game, 0, "green 5")
    passes(game, 1, 2)
    game.play("build 0")
    new_tops = []
    for draw in (
        [6],
        [5],
        [],
        [],
        [],
        [],
    ):  # two cards are face down, the order of the others is fixed
        supply(game, 1, 0, general=3)
        turn_of(game, 1)
        game.play("option A")
        new_tops += [event["card"] for event in only(game.play("take green", draw), "top")]
    assert new_tops == [6, 5, 4, 6, 5, None]


@pytest.mark.rule("AUC-8")
def test_a_card_too_many_finds_no_room_under_its_stack() -> None:
    """Only an edited position can have more than twelve cards of a colour; nothing beside the stack
    changes.
    """
    game = bare_game()
    game.state["hand"][0, 0, 0] = 1
    game.state["returned"][0] = 0
    game.state["num_returned"][0] = 12
    game.refresh()
    start_auction(game, ["W34"])
    bid(game, 0, "green 4")
    passes(game, 1, 2)
    assert game.state["num_returned"].tolist() == [12, 0, 0, 0, 0]
    assert (game.state["returned"][1:] == -1).all()


@pytest.mark.rule("AUC-8")
def test_cards_returned_to_an_empty_stack() -> None:
    """The lowest one is visible at once."""
    game = bare_game()
    hand(game, 1, gray=[4, 4, 5, 5, 6])
    hand(game, 0, gray=[4, 4, 5, 5, 6, 6])  # the top is the last 4
    game.state["hand"][1, 4, 0] += 1
    game.state["top"][4] = -1
    game.refresh()
    start_auction(game, ["W34"], starter=0)
    bid(game, 0, "gray 5 6")
    passes(game, 1)
    events = passes(game, 2)
    assert events[1:] == [
        {"event": "won", "seat": 0, "total": 11},
        {"event": "top", "color": "gray", "card": 5},
    ]
    assert (game.phase, game.seat) == ("build", 0)
    assert game.state["top"][4] == 1
    assert game.state["returned"][4, : game.state["num_returned"][4]].tolist() == [2]


@pytest.mark.rule("AUC-9")
def test_the_black_stack_is_shuffled_when_a_face_up_card_comes() -> None:
    """Not before: the last face-down card is drawn without shuffling."""
    game = bare_game()
    black_stack(game, [5], [4, 6, 6], keeper=2)
    turn_of(game, 0)
    assert kinds(game.play("option C"))[1:] == ["black"]
    assert (game.state["face_down"][5] == 0).all()
    assert game.state["black_face_up"].tolist() == [1, 0, 2]
    turn_of(game, 1)
    assert game.play("option C", [4])[1:] == [
        {"event": "shuffle"},
        {"event": "black", "seat": 1, "card": 4},
    ]
    assert game.state["face_down"][5].tolist() == [0, 0, 2]
    assert (game.state["black_face_up"] == 0).all()


@pytest.mark.rule("AUC-9")
def test_hands_are_not_shuffled_in() -> None:
    """The shuffled stack holds the cards that lay face up, and no others."""
    game = bare_game()
    black_stack(game, [], [4, 6, 6], keeper=2)
    turn_of(game, 0)
    with pytest.raises(ChanceError):
        game.play("option C", [5])
    game.play("option C", [6])
    assert game.state["face_down"][5].tolist() == [1, 0, 1]


@pytest.mark.rule("AUC-9", "ALEA-2")
def test_bids_and_aleas_cards_are_not_shuffled_in() -> None:
    """Alea turns the last face-down card, then the stack is shuffled: without the bid on the table
    and without that card.
    """
    game = bare_game(2)
    hand(game, 0, green=[4], black=[5])
    black_stack(game, [5], [4, 6], keeper=1)
    start_auction(game, ["W34"])
    bid(game, 0, "green 4 black 5")
    with pytest.raises(ChanceError):
        passes(game, 1, chance=[5, 5])
    events = passes(game, 1, chance=[5, 6, 4])
    assert events[1:3] == [{"event": "shuffle"}, {"event": "alea", "cards": [5, 6, 4]}]
    assert only(passes(game, 0), "won") == [{"seat": -1, "total": 15}]


@pytest.mark.rule("AUC-9")
def test_no_black_card_at_all() -> None:
    """Then none is drawn, and there is no shuffle."""
    game = bare_game()
    black_stack(game, [], [], keeper=2)
    turn_of(game, 0)
    assert kinds(game.play("option C")) == ["option C"]
    assert cards(game, 0) == {}


@pytest.mark.compiled
@pytest.mark.rule("AUC-9")
def test_the_shuffle_is_random() -> None:
    """Every card of the shuffled stack may come first."""
    drawn = [0, 0, 0]
    for seed in range(600):
        game = bare_game(seed=seed)
        black_stack(game, [], [4, 5, 6, 6], keeper=2)
        drawn[game.play("option C")[2]["card"] - 4] += 1
    assert even(drawn, [1, 1, 2])


@pytest.mark.rule("AUC-9", "AUC-8")
def test_coloured_stacks_are_never_shuffled() -> None:
    """Returned cards come up in their order although they are seen by all; chance has no say."""
    game = bare_game()
    hand(game, 1, green=[4, 4, 4, 5, 5])
    hand(game, 0, green=[4, 5, 5, 6, 6, 6])  # only the top is left
    start_auction(game, ["W34"], starter=0)
    bid(game, 0, "green 4 5 6")
    passes(game, 1, 2)
    game.play("build 0")
    turn_of(game, 2)
    game.play("option A")
    with pytest.raises(ChanceError):
        game.play("take green", [5])
    assert game.play("take green")[1:] == [{"event": "top", "color": "green", "card": 4}]


# ---- building ----


def won(game: Game, bid_cards: str, ready: int = 9) -> list[str]:
    """What seat 0 may do after winning Times Square with these cards."""
    supply(game, 0, ready)
    start_auction(game, ["TSQ"])
    bid(game, 0, bid_cards)
    passes(game, 1, 2)
    return game.legal_names


@pytest.mark.rule("AUC-10", "COM-10")
@pytest.mark.parametrize(
    ("bid_cards", "limit"),
    [
        ("green 4", 3),
        ("green 4 4 black 4", 3),
        ("green 4 5", 2),
        ("green 4 black 5", 2),
        ("green 5 black 4", 2),
        ("green 4 4 black 4 4 6", 1),
        ("green 4 5 6 black 4", 1),
    ],
)
def test_the_highest_card_limits(bid_cards: str, limit: int) -> None:
    """Whether it is coloured or black: up to 3 with a 4, 2 with a 5, 1 with a 6, or none."""
    game = bare_game()
    hand(game, 0, green=[4, 4, 5, 6], black=[4, 4, 5, 6])
    assert won(game, bid_cards) == [f"build {number}" for number in range(limit + 1)]
    game.play(f"build {limit}")
    assert floors(game, "TSQ", "green") == (0, limit)
    assert game.state["supply"][0] == 9 - limit


@pytest.mark.rule("AUC-10")
@pytest.mark.parametrize("ready", [0, 1, 2])
def test_the_supply_limits(ready: int) -> None:
    """The general supply doesn't help. Who has none left may bid and win all the same."""
    game = bare_game()
    hand(game, 0, green=[4])
    assert won(game, "green 4", ready) == [f"build {number}" for number in range(ready + 1)]


@pytest.mark.rule("AUC-10", "AUC-8")
def test_building_nothing() -> None:
    """Is allowed; the plot stays empty and the cards are paid."""
    game = bare_game()
    hand(game, 0, green=[4])
    won(game, "green 4")
    game.play("build 0")
    assert floors(game, "TSQ", "green") == (-1, 0)
    assert cards(game, 0) == {}


@pytest.mark.rule("AUC-11")
def test_any_number_on_the_one_plot() -> None:
    """Later skyscrapers are added to the first ones; another plot is never open."""
    game = bare_game()
    district(game, "TSQ", green=(0, 7))
    hand(game, 0, green=[4, 4], orange=[4])
    for number in (10, 13):
        supply(game, 0, 3)
        start_auction(game, ["TSQ"])
        assert bid_colours(game) == {"green"}
        bid(game, 0, "green 4")
        passes(game, 1, 2)
        game.play("build 3")
        assert floors(game, "TSQ", "green") == (0, number)
        passes(game, 0, 1, 2)
    assert game.state["owner"][3].tolist() == [0, -1, -1, -1, -1]


# ---- the park area ----


@pytest.mark.rule("AUC-12")
def test_the_first_bidder_chooses_the_colour_of_the_park() -> None:
    """Any colour; the others must bid with it, and black as always."""
    game = bare_game()
    hand(game, 0, **ONE_OF_EACH)
    hand(game, 1, **ONE_OF_EACH, black=[6])
    hand(game, 2, gray=[6])
    start_auction(game, [])
    assert bid_colours(game) == set(COLOURS)
    bid(game, 0, "orange 5")
    assert legal(game, "") == ["pass", "bid orange 5"]
    bid(game, 1, "orange 5 black 6")
    assert game.legal_names == ["pass"]


@pytest.mark.rule("AUC-12")
def test_the_next_player_may_open_the_park() -> None:
    """If those before him passed, he chooses the colour."""
    game = bare_game()
    hand(game, 0, orange=[6])
    hand(game, 1, **ONE_OF_EACH)
    hand(game, 2, violet=[6], green=[6])
    start_auction(game, [])
    passes(game, 0)
    assert bid_colours(game) == set(COLOURS)
    bid(game, 1, "violet 5")
    assert legal(game, "bid ") == ["violet 6"]
    bid(game, 2, "violet 6")
    assert only(passes(game, 1), "won") == [{"seat": 2, "total": 6}]


@pytest.mark.rule("AUC-12", "AUC-10")
def test_building_in_the_park() -> None:
    """Up to the limit; next to anyone's skyscrapers; never a stop."""
    game = bare_game()
    game.state["park"][:3] = [1, 2, 0]
    hand(game, 0, gray=[5])
    supply(game, 0, 5)
    start_auction(game, [])
    bid(game, 0, "gray 5")
    passes(game, 1, 2)
    assert game.legal_names == ["build 0", "build 1", "build 2"]
    game.play("build 2")
    assert game.state["park"][:3].tolist() == [3, 2, 0]
    assert game.state["supply"][0] == 3
    assert game.state["floors"].sum() == 0
    assert game.scores == [0, 0, 0]
    assert (game.phase, game.seat) == ("option", 1)


@pytest.mark.rule("AUC-12", "AUC-5")
def test_the_park_has_no_plots() -> None:
    """Skyscrapers there bind nobody to a colour, and those in districts don't either."""
    game = bare_game()
    game.state["park"][0] = 3
    for name in ("W34", "E34"):
        district(game, name, green=(0, 1))
    hand(game, 0, **ONE_OF_EACH)
    start_auction(game, [])
    assert bid_colours(game) == set(COLOURS)


@pytest.mark.rule("AUC-1", "STOP-4")
def test_a_second_commissioner_starts_its_own_auctions() -> None:
    """Its markers stayed through the first set; a stopped district among them would be gone
    (STOP-5).
    """
    game = bare_game()
    commissioner(game, "beige", "CENTRAL_PARK", ["W34", "TSQ"])
    events = start_auction(game, ["W34"])
    for _ in range(2):
        passes(game, 0, 1, 2)
    stopped(game, "E52")
    tops(game, green=5)
    turn_of(game, 1)
    for action in ("option A", "take green", "take violet"):
        game.play(action)
    events = game.play("move beige CITY_HALL")
    assert only(events, "auction") == [{"place": "W34", "starter": 1}]
    assert only(passes(game, 1, 2, 0), "auction") == [{"place": "TSQ", "starter": 1}]
