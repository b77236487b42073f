"""STOP: building stops."""

from typing import Any

import pytest

from scenario import (
    Event,
    about_to_move,
    bare_game,
    bids,
    commissioner,
    district,
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
from skyenv.rules.components import DISTRICTS
from skyenv.rules.state import ALEA, NONE

# Times Square is full: seat 0 (Red) on gray, seat 1 (Yellow) on brown, seat 2 (Blue) twice on
# green.
FIG_10: dict[str, Any] = {
    "gray": (0, 1),
    "brown": (1, 1),  # between 2 and 1 types: 5 VP
    "green": (2, 2),  # 2 types: 3 VP each
    "violet": "boutique jeweller",
    "orange": "gallery",
}


def full(players: int = 3, side: str = "front", plots: dict[str, Any] = FIG_10) -> Game:
    """A game with a full Times Square, in which each seat has a card of each colour."""
    cards = "green 4 violet 4 brown 4 orange 4 gray 4"
    game = bare_game(players, side, hands=[cards] * players)
    district(game, "TSQ", **plots)
    return game


def win(game: Game, seat: int, colour: str, *places: str) -> list[Event]:
    """A seat bids in the auction of Times Square, and the others pass; other auctions follow."""
    start_auction(game, ["TSQ", *places], starter=seat)
    events = bids(game, f"{seat} {colour} 4")
    while game.phase == "bid":
        events += game.play("pass", [4, 4] if game.num_players == 2 else ())
    return events


@pytest.mark.rule("STOP-1", "AUC-5")
@pytest.mark.parametrize(
    ("seat", "colour", "changes", "choices"),
    [
        (0, "gray", {}, ["build 0", "build 1", "build 2", "build 3", "stop"]),
        (0, "gray", {"orange": ""}, ["build 0", "build 1", "build 2", "build 3"]),
        (3, "orange", {}, ["stop"]),  # not even building none is possible
        (3, "violet", dict.fromkeys(FIG_10, "gallery"), ["stop"]),
        (3, "orange", {"orange": ""}, ["build 0", "build 1", "build 2", "build 3"]),
    ],
)
def test_full_districts_permit_or_force_a_stop(
    seat: int, colour: str, changes: dict[str, Any], choices: list[str]
) -> None:
    """If every plot was occupied before."""
    game = full(4, plots={**FIG_10, **changes})
    win(game, seat, colour)
    assert game.legal_names == choices
    game.play(choices[0])
    assert game.state["stops"] == (choices == ["stop"])


@pytest.mark.rule("STOP-2", "STOP-3", "SCO-2", "ALEA-9")
@pytest.mark.parametrize(
    ("plots", "colour", "points"),
    [
        (FIG_10, "gray", [4, 2, 3]),  # Red earns 4 VP, Yellow 5/2 = 2 VP, Blue 6/2 = 3 VP
        # half of the one skyscraper's 8 would be more than the 1
        (
            {
                **{"brown": (0, 1), "violet": "boutique jeweller", "green": "gallery"},
                **{"orange": "gallery perfumery", "gray": "gallery"},
            },
            "brown",
            [1, 0, 0],
        ),
        # half of what three skyscrapers of 3 VP earn together
        (
            {
                **{"brown": (1, 3), "violet": "boutique", "orange": "gallery"},
                **{"green": (2, 1), "gray": "jeweller"},
            },
            "orange",
            [4, 4, 1],
        ),
        # Alea's count for the declarer
        (
            {
                **{"brown": (0, 1), "violet": "boutique", "orange": (ALEA, 2)},
                **{"green": (1, 1), "gray": (ALEA, 1)},
            },
            "brown",
            [5, 1],
        ),
    ],
)
def test_vp_of_a_building_stop(plots: dict[str, Any], colour: str, points: list[int]) -> None:
    game = full(len(points), plots=plots)
    if len(points) == 2:  # more than Alea's 8
        game.state["hand"][0, 2, 0] += 2
        start_auction(game, ["TSQ"])
        bids(game, "0 brown 4 4 4", "1 pass", chance=[4, 4])
    else:
        win(game, 0, colour)
    events = game.play("stop")
    assert events[1:3] == [
        {"event": "stop", "district": "TSQ", "seat": 0},
        {"event": "vp", "why": "stop", "place": "TSQ", "vp": points},
    ]
    assert game.scores == points


@pytest.mark.rule("STOP-4")
@pytest.mark.parametrize("side", ["front", "back"])
def test_a_stopped_district_is_out_of_the_game(side: str) -> None:
    """Everything on it leaves the game, not into any supply; no business, scoring, visit or auction
    there any more.
    """
    game = full(side=side)
    supplies = game.state["supply"].tolist(), game.state["general"].tolist()
    win(game, 0, "gray")
    game.play("stop")
    state = game.state
    assert state["stopped"].tolist() == [0, 0, 0, 1, 0, 0, 0]
    assert (state["owner"][3] == NONE).all()
    assert state["floors"][3].sum() + state["tiles"][3].sum() + state["value"][3].sum() == 0
    assert (state["supply"].tolist(), state["general"].tolist()) == supplies
    passes(game, 0, 1, 2)  # the park area
    commissioner(game, "white", "TSQ")
    assert legal(game, "option D ") == []
    game.play(next(name for name in game.legal_names if name.startswith("option B")))
    assert {plot.split()[0] for plot in legal(game, "plot ")} == set(DISTRICTS) - {"TSQ"}
    commissioner(game, "white", "W34")
    about_to_move(game)
    assert legal(game, "move white ") == ["W42", "W52", "E52"]


@pytest.mark.rule("STOP-5", "MOVE-5")
def test_markers_in_a_stopped_district_go_home() -> None:
    """The other commissioner's marker there returns without effect, its other markers stay: later
    it is not auctioned. The commissioner itself stays, and leaves no marker.
    """
    game = full()
    commissioner(game, "beige", "TSQ", ["E34", "TSQ", "W52"])
    win(game, 0, "gray")
    game.play("stop")
    assert game.state["visited"][1].tolist() == [1, 5, NONE]
    passes(game, 0, 1, 2)
    places = []
    for place in ("E52", "CENTRAL_PARK", "CITY_HALL"):
        about_to_move(game, 1)
        places += only(game.play(f"move beige {place}"), "auction")
    for _ in range(3):
        places += only(passes(game, 1, 2, 0), "auction")
    assert [auction["place"] for auction in places] == ["E34", "W52", "E52", "CENTRAL_PARK"]


@pytest.mark.rule("STOP-6", "END-1", "TURN-7")
def test_the_second_stop_ends_the_game() -> None:
    """It is carried out in full first; auctions that were still to come are not held, nor the rest
    of the turn.
    """
    game = full()
    stopped(game, "E34")
    district(game, "W34", violet=(1, 2))
    commissioner(game, "white", "CENTRAL_PARK", ["TSQ", "W34"])
    turn_of(game, 0)
    game.play("option C")
    game.play("move white CITY_HALL")
    bids(game, "0 gray 4", "1 pass", "2 pass")
    events = game.play("stop")
    assert kinds(events) == ["stop", "stop", *["vp"] * 6, "park", "vp", "end"]
    assert vp(events)[:2] == [[4, 2, 3], [0, 2, 0]]
    (end,) = only(events, "end")
    assert (end["reason"], end["scores"]) == ("stops", [4, 4, 3])
    assert game.state["stopped"].tolist() == [0, 1, 0, 1, 0, 0, 0]
