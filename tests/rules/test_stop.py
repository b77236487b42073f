"""STOP: building stops."""

from __future__ import annotations

import numpy as np
import pytest

from scenario import (
    Event,
    about_to_move,
    bare_game,
    bid,
    bid_colours,
    commissioner,
    district,
    floors,
    hand,
    kinds,
    legal,
    only,
    passes,
    start_auction,
    stopped,
    turn_of,
    vp,
)
from skyenv import Game
from skyenv.rules.components import COLOURS, DISTRICTS
from skyenv.rules.state import ALEA, NONE


def win(game: Game, seat: int, name: str, cards: str) -> list[Event]:
    """A seat bids in the auction of a district, and the others pass."""
    events = start_auction(game, [name], starter=seat)
    events += bid(game, seat, cards)
    while game.phase == "bid":
        events += game.play("pass")
    return events


def fig_10(seed: int = 1) -> Game:
    """A full district: seat 0 (Red) on gray, seat 1 (Yellow) on brown, seat 2 (Blue) twice on
    green.
    """
    game = bare_game(3, seed=seed)
    district(
        game,
        "TSQ",
        gray=(0, 1),
        brown=(1, 1),  # between 2 and 1 types: 5 VP
        green=(2, 2),  # 2 types: 3 VP each
        violet="boutique jeweller",
        orange="gallery",
    )
    return game


@pytest.mark.rule("STOP-1")
def test_the_winner_may_stop_or_build() -> None:
    """If every plot was occupied before, and he has skyscrapers there."""
    game = fig_10()
    hand(game, 0, gray=[5])
    win(game, 0, "TSQ", "gray 5")
    assert game.legal_names == ["build 0", "build 1", "build 2", "stop"]
    game.play("build 2")
    assert floors(game, "TSQ", "gray") == (0, 3)
    assert game.state["stops"] == 0


@pytest.mark.rule("STOP-1", "AUC-5")
def test_the_winner_must_stop() -> None:
    """If he has no skyscraper there; not even building none is possible."""
    game = bare_game(4)
    district(
        game,
        "TSQ",
        gray=(0, 1),
        brown=(1, 1),
        green=(2, 2),
        violet="boutique jeweller",
        orange="gallery",
    )
    hand(game, 3, orange=[4])
    win(game, 3, "TSQ", "orange 4")
    assert game.legal_names == ["stop"]


@pytest.mark.rule("STOP-1")
def test_no_stop_with_an_empty_plot() -> None:
    """One empty plot is enough to rule it out."""
    game = bare_game()
    district(game, "TSQ", gray=(0, 1), brown=(1, 1), green=(2, 2), violet="boutique jeweller")
    hand(game, 0, gray=[5])
    win(game, 0, "TSQ", "gray 5")
    assert "stop" not in game.legal_names


@pytest.mark.rule("STOP-2", "STOP-3", "SCO-2")
def test_vp_of_a_building_stop() -> None:
    """Red earns 4 VP, Yellow earns 5/2 = 2 VP, and Blue earns 6/2 = 3 VP."""
    game = fig_10()
    hand(game, 0, gray=[5])
    win(game, 0, "TSQ", "gray 5")
    events = game.play("stop")
    assert events[1:3] == [
        {"event": "stop", "district": "TSQ", "seat": 0},
        {"event": "vp", "why": "stop", "place": "TSQ", "vp": [4, 2, 3]},
    ]
    assert game.scores == [4, 2, 3]


@pytest.mark.rule("STOP-2")
def test_never_the_half_score_for_the_declarer() -> None:
    """Although it would be more: his one skyscraper would score 8, half of it is 4, but he
    earns 1.
    """
    game = bare_game()
    district(
        game,
        "W52",
        brown=(0, 1),
        violet="boutique jeweller",
        orange="gallery perfumery",
        green="gallery",
        gray="gallery",
    )
    hand(game, 0, brown=[4])
    win(game, 0, "W52", "brown 4")
    assert vp(game.play("stop")) == [[1, 0, 0]]


@pytest.mark.rule("STOP-3")
def test_half_is_rounded_down_once() -> None:
    """The whole score in the district is halved, not that of each skyscraper: three of 3 VP each
    earn 9/2 = 4.
    """
    game = bare_game(4)
    district(
        game,
        "W52",
        brown=(1, 3),
        violet="boutique",
        orange="gallery",
        green=(2, 1),
        gray="jeweller",
    )
    hand(game, 0, orange=[4])
    win(game, 0, "W52", "orange 4")
    assert vp(game.play("stop")) == [[4, 4, 1, 0]]  # green: 3 VP


@pytest.mark.rule("STOP-2", "ALEA-9", "STOP-3")
def test_aleas_skyscrapers_count_for_the_declarer() -> None:
    """Whoever owns them."""
    game = bare_game(2)
    district(
        game, "W52", brown=(0, 1), violet="boutique", orange=(ALEA, 2), green=(1, 1), gray=(ALEA, 1)
    )
    hand(game, 0, brown=[4, 4])
    start_auction(game, ["W52"])
    bid(game, 0, "brown 4 4")
    passes(game, 1, chance=[4, 4])
    assert vp(game.play("stop")) == [[5, 1]]


@pytest.mark.rule("STOP-4")
@pytest.mark.parametrize("side", ["front", "back"])
def test_a_stopped_district_is_out_of_the_game(side: str) -> None:
    """Everything on it leaves the game, not into any supply; no business, scoring, visit or auction
    there any more.
    """
    game = bare_game(side=side)
    district(
        game,
        "TSQ",
        gray=(0, 1),
        brown=(1, 1),
        green=(2, 2),
        violet="boutique jeweller",
        orange="gallery",
    )
    hand(game, 0, gray=[5])
    supplies = game.state["supply"].tolist(), game.state["general"].tolist()
    win(game, 0, "TSQ", "gray 5")
    game.play("stop")
    state = game.state
    assert state["stopped"].tolist() == [0, 0, 0, 1, 0, 0, 0]
    assert (state["owner"][3] == NONE).all()
    assert state["floors"][3].sum() + state["tiles"][3].sum() + state["value"][3].sum() == 0
    assert (state["supply"].tolist(), state["general"].tolist()) == supplies
    passes(game, 0, 1, 2)  # the park area
    assert game.phase == "option"
    commissioner(game, "white", "TSQ")
    assert legal(game, "option D ") == []
    game.play(next(name for name in game.legal_names if name.startswith("option B")))
    assert not legal(game, "plot TSQ ")
    commissioner(game, "white", "W34")
    about_to_move(game)
    assert "TSQ" not in legal(game, "move white ")


@pytest.mark.rule("STOP-4", "BUS-4")
def test_a_stopped_district_counts_for_nothing() -> None:
    """At the end it isn't scored: there is no line for it."""
    game = bare_game()
    for name in DISTRICTS:
        district(game, name, green=(1, 1), violet=(0, 1))
    game.state["stopped"][3] = 0
    stopped(game, "TSQ")
    game.state["placed"] = 11
    game.state["row"][:18] = NONE
    game.refresh()
    turn_of(game, 0)
    game.play(game.legal_names[1])
    finals = [event for event in only(game.play("plot W34 gray"), "vp") if event["why"] == "final"]
    assert [event["place"] for event in finals] == ["W34", "E34", "W42", "E42", "W52", "E52"]


@pytest.mark.rule("STOP-5", "STOP-4")
def test_markers_in_a_stopped_district_go_home() -> None:
    """The other commissioner's marker there returns without effect: later it is not auctioned.

    Its other markers stay.
    """
    game = fig_10()
    hand(game, 0, gray=[5])
    commissioner(game, "beige", "CENTRAL_PARK", ["E34", "TSQ", "W52"])
    win(game, 0, "TSQ", "gray 5")
    game.play("stop")
    assert game.state["visited"][1].tolist() == [
        DISTRICTS.index("E34"),
        DISTRICTS.index("W52"),
        NONE,
    ]
    assert game.state["markers"][1] == 2
    passes(game, 0, 1, 2)
    about_to_move(game, 1)
    places = only(game.play("move beige CITY_HALL"), "auction")
    for _ in range(2):
        places += only(passes(game, 1, 2, 0), "auction")
    assert [auction["place"] for auction in places] == ["E34", "W52", "CENTRAL_PARK"]


@pytest.mark.rule("STOP-5", "MOVE-5")
def test_a_commissioner_stays_in_a_stopped_district() -> None:
    """Until it is moved; then it leaves no marker."""
    game = fig_10()
    hand(game, 0, gray=[5])
    commissioner(game, "beige", "TSQ", ["E34"])
    win(game, 0, "TSQ", "gray 5")
    game.play("stop")
    passes(game, 0, 1, 2)
    assert game.state["place"].tolist() == [8, 3]
    about_to_move(game, 1)
    assert legal(game, "move beige ") == ["W52", "E52"]
    game.play("move beige E52")
    assert game.state["visited"][1].tolist() == [DISTRICTS.index("E34"), NONE, NONE]


@pytest.mark.rule("STOP-6", "END-1")
def test_the_second_stop_ends_the_game() -> None:
    """It is carried out in full first; auctions that were still to come are not held, nor a further
    action.
    """
    game = fig_10()
    stopped(game, "E34")
    district(game, "W34", violet=(1, 2))
    hand(game, 0, gray=[5])
    start_auction(game, ["TSQ", "W34"], starter=0)
    bid(game, 0, "gray 5")
    passes(game, 1, 2)
    events = game.play("stop")
    assert kinds(events) == ["stop", "stop", *["vp"] * 6, "park", "vp", "end"]
    assert vp(events)[:2] == [[4, 2, 3], [0, 2, 0]]
    assert only(events, "end") == [
        {"reason": "stops", "scores": [4, 4, 3], "cards": [0, 0, 0], "winners": [0, 1]}
    ]
    assert game.is_over
    assert game.state["stopped"].tolist() == [0, 1, 0, 1, 0, 0, 0]


@pytest.mark.rule("STOP-6")
def test_the_first_stop_does_not_end_the_game() -> None:
    """The next auction follows at once."""
    game = fig_10()
    hand(game, 0, gray=[5])
    start_auction(game, ["TSQ", "W34"], starter=2)
    passes(game, 2)
    bid(game, 0, "gray 5")
    passes(game, 1)
    events = game.play("stop")
    assert kinds(events) == ["stop", "stop", "vp", "auction"]
    assert only(events, "auction") == [{"place": "W34", "starter": 2}]
    assert (game.phase, game.seat) == ("bid", 2)


@pytest.mark.rule("STOP-6", "TURN-7")
def test_the_second_stop_in_the_middle_of_option_c() -> None:
    """The rest of the turn isn't played."""
    game = fig_10()
    stopped(game, "E34")
    hand(game, 0, gray=[5])
    commissioner(game, "white", "CENTRAL_PARK", ["TSQ"])
    turn_of(game, 0)
    game.play("option C")
    game.play("move white CITY_HALL")
    bid(game, 0, "gray 5")
    passes(game, 1, 2)
    game.play("stop")
    assert game.is_over
    assert game.outcome is not None
    assert game.outcome.reason == "stops"


@pytest.mark.rule("STOP-1", "STOP-4")
def test_bidders_of_a_full_district() -> None:
    """In a full district everybody without a skyscraper bids for a stop, with any business plot's
    colour.
    """
    game = bare_game()
    district(game, "W34", **dict.fromkeys(COLOURS, "gallery"))
    hand(game, 1, **{colour: [6] for colour in COLOURS})
    start_auction(game, ["W34"], starter=1)
    assert bid_colours(game) == set(COLOURS)
    bid(game, 1, "brown 6")
    passes(game, 2, 0)
    events = game.play("stop")
    assert vp(events) == [[0, 0, 0]]
    assert np.argwhere(game.state["stopped"]).tolist() == [[0]]
