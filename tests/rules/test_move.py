"""MOVE: the commissioners."""

from __future__ import annotations

import pytest

from scenario import (
    about_to_move,
    bare_game,
    commissioner,
    floors,
    kinds,
    legal,
    only,
    passes,
    stopped,
)
from skyenv import Game
from skyenv.rules.components import DISTRICTS, PLACES
from skyenv.rules.state import NONE


def markers(game: Game, who: int) -> list[str]:
    """Districts with a commissioner's markers, in the order of its visits."""
    listed = [DISTRICTS[place] for place in game.state["visited"][who] if place != NONE]
    assert game.state["markers"][who] == len(listed)
    return listed


def stands(game: Game) -> list[str]:
    """Where the two commissioners stand."""
    return [PLACES[place] for place in game.state["place"]]


@pytest.mark.rule("MOVE-1")
def test_either_commissioner_one_step() -> None:
    """Any next place of either commissioner, as the mover likes."""
    game = bare_game()
    commissioner(game, "white", "TSQ")
    commissioner(game, "beige", "E34")
    about_to_move(game)
    assert game.legal_names == [
        "move white W52",
        "move white E52",
        "move beige TSQ",
        "move beige E42",
    ]
    game.play("move beige TSQ")
    assert stands(game) == ["TSQ", "TSQ"]


@pytest.mark.rule("MOVE-2")
def test_markers_are_left_in_districts() -> None:
    """On the way from City Hall to Central Park one in each district; none in City Hall."""
    game = bare_game()
    left = []
    for place in ("E34", "TSQ", "W52", "CENTRAL_PARK"):
        about_to_move(game)
        game.play(f"move beige {place}")
        left.append(markers(game, 1))
    assert left == [[], ["E34"], ["E34", "TSQ"], ["E34", "TSQ", "W52"]]
    assert markers(game, 0) == []


@pytest.mark.rule("MOVE-3")
@pytest.mark.parametrize(
    ("gone", "start", "next_places"),
    [
        ("W34", "CITY_HALL", ["E34", "W42", "TSQ"]),
        ("E34", "CITY_HALL", ["W34", "TSQ", "E42"]),
        ("W42", "W34", ["TSQ", "W52"]),
        ("TSQ", "W34", ["W42", "W52", "E52"]),
        ("TSQ", "E34", ["E42", "W52", "E52"]),
        ("E42", "E34", ["TSQ", "E52"]),
        ("W52", "W42", ["CENTRAL_PARK"]),
        ("W52", "TSQ", ["E52", "CENTRAL_PARK"]),
        ("E52", "TSQ", ["W52", "CENTRAL_PARK"]),
        ("TSQ", "W42", ["W52"]),
    ],
)
def test_a_stopped_district_is_skipped(gone: str, start: str, next_places: list[str]) -> None:
    """In every next place it is replaced by its own next places."""
    game = bare_game()
    stopped(game, gone)
    commissioner(game, "white", start)
    about_to_move(game)
    assert legal(game, "move white ") == next_places
    game.play(f"move white {next_places[-1]}")
    assert markers(game, 0) == ([start] if start in DISTRICTS else [])


@pytest.mark.rule("MOVE-4", "AUC-1")
def test_from_central_park_to_city_hall() -> None:
    """The only way from there; it starts auctions at once, led by the mover."""
    game = bare_game()
    commissioner(game, "white", "CENTRAL_PARK", ["W34", "W42", "W52"])
    commissioner(game, "beige", "CENTRAL_PARK", ["E34", "TSQ", "W52"])
    about_to_move(game, 2)
    assert game.legal_names == ["move white CITY_HALL", "move beige CITY_HALL"]
    events = game.play("move beige CITY_HALL")
    assert events[1:] == [{"event": "auction", "place": "E34", "starter": 2}]
    assert stands(game) == ["CENTRAL_PARK", "CITY_HALL"]
    assert (game.phase, game.seat) == ("bid", 2)


@pytest.mark.rule("MOVE-4")
def test_no_auction_before_central_park_is_left() -> None:
    """Arriving in Central Park starts nothing."""
    game = bare_game()
    commissioner(game, "white", "W52", ["W34", "W42"])
    about_to_move(game)
    assert kinds(game.play("move white CENTRAL_PARK")) == ["move white CENTRAL_PARK"]
    assert (game.phase, game.seat) == ("option", 1)


@pytest.mark.rule("MOVE-5", "MOVE-2")
def test_a_commissioner_in_a_stopped_district() -> None:
    """It stays there until it is moved along that district's streets, and leaves no marker."""
    game = bare_game()
    commissioner(game, "white", "TSQ", ["E34"])
    stopped(game, "TSQ")
    about_to_move(game)
    assert legal(game, "move white ") == ["W52", "E52"]
    game.play("move white W52")
    assert markers(game, 0) == ["E34"]
    about_to_move(game)
    game.play("move white CENTRAL_PARK")
    assert markers(game, 0) == ["E34", "W52"]


@pytest.mark.rule("MOVE-3", "AUC-1")
def test_a_short_way_gives_few_auctions() -> None:
    """A commissioner that skipped a district was in two only, and those are auctioned."""
    game = bare_game()
    stopped(game, "TSQ")
    for place in ("W34", "E52", "CENTRAL_PARK", "CITY_HALL"):
        about_to_move(game)
        events = game.play(f"move white {place}")
    places = only(events, "auction")
    for _ in range(2):
        places += only(passes(game, 0, 1, 2), "auction")
    assert [auction["place"] for auction in places] == ["W34", "E52", "CENTRAL_PARK"]
    passes(game, 0, 1, 2)
    assert (game.phase, game.seat) == ("option", 1)
    assert floors(game, "W34", "green") == (NONE, 0)
