"""MOVE: the commissioners."""

import pytest

from scenario import about_to_move, bare_game, commissioner, kinds, legal, only, passes, stopped
from skyenv import Game
from skyenv.rules.components import DISTRICTS, PLACES
from skyenv.rules.state import NONE


def markers(game: Game, who: int) -> list[str]:
    """Districts with a commissioner's markers, in the order of its visits."""
    listed = [DISTRICTS[place] for place in game.state["visited"][who] if place != NONE]
    assert game.state["markers"][who] == len(listed)
    return listed


def walk(game: Game, *places: str) -> list[list[str]]:
    """Move white from place to place; its markers after each move."""
    left = []
    for place in places:
        about_to_move(game)
        game.play(f"move white {place}")
        left.append(markers(game, 0))
    return left


@pytest.mark.rule("MOVE-1")
def test_either_commissioner_moves_one_step() -> None:
    """Any next place of either commissioner, as the mover likes."""
    game = bare_game()
    commissioner(game, "white", "TSQ")
    commissioner(game, "beige", "E34")
    about_to_move(game)
    assert legal(game, "move ") == ["white W52", "white E52", "beige TSQ", "beige E42"]
    game.play("move beige TSQ")
    assert [PLACES[place] for place in game.state["place"]] == ["TSQ", "TSQ"]


@pytest.mark.rule("MOVE-2", "MOVE-4")
def test_markers_are_left_in_districts() -> None:
    """On the way from City Hall to Central Park one in each district; none in City Hall. Arriving
    in Central Park starts nothing.
    """
    game = bare_game()
    left = walk(game, "E34", "TSQ", "W52", "CENTRAL_PARK")
    assert left == [[], ["E34"], ["E34", "TSQ"], ["E34", "TSQ", "W52"]]
    assert markers(game, 1) == []
    assert game.phase == "option"


@pytest.mark.rule("MOVE-3")
@pytest.mark.parametrize(
    ("gone", "start", "next_places"),
    [
        ("W34", "CITY_HALL", "E34 W42 TSQ"),
        ("E34", "CITY_HALL", "W34 TSQ E42"),
        ("W42", "W34", "TSQ W52"),
        ("TSQ", "W34", "W42 W52 E52"),
        ("TSQ", "E34", "E42 W52 E52"),
        ("E42", "E34", "TSQ E52"),
        ("W52", "W42", "CENTRAL_PARK"),
        ("W52", "TSQ", "E52 CENTRAL_PARK"),
        ("E52", "TSQ", "W52 CENTRAL_PARK"),
        ("TSQ", "W42", "W52"),
        ("W34 E34", "CITY_HALL", "W42 TSQ E42"),
        ("W34 TSQ", "CITY_HALL", "E34 W42 W52 E52"),
    ],
)
def test_a_stopped_district_is_skipped(gone: str, start: str, next_places: str) -> None:
    """In every next place it is replaced by its own next places."""
    game = bare_game()
    for name in gone.split():
        stopped(game, name)
    commissioner(game, "white", start)
    about_to_move(game)
    assert legal(game, "move white ") == next_places.split()


@pytest.mark.rule("MOVE-4", "AUC-1", "MOVE-3")
def test_from_central_park_to_city_hall() -> None:
    """The only way from there; it starts auctions at once, led by the mover, of the districts that
    it was in: two if it skipped one.
    """
    game = bare_game()
    stopped(game, "TSQ")
    walk(game, "W34", "E52", "CENTRAL_PARK")
    about_to_move(game, 2)
    assert legal(game, "move white ") == ["CITY_HALL"]
    events = game.play("move white CITY_HALL")
    assert (game.phase, game.seat) == ("bid", 2)
    for _ in range(3):
        events += passes(game, 2, 0, 1)
    places = [auction["place"] for auction in only(events, "auction")]
    assert places == ["W34", "E52", "CENTRAL_PARK"]
    assert kinds(events)[-1] == "won"
    assert (game.phase, game.seat) == ("option", 0)


@pytest.mark.rule("MOVE-5", "MOVE-2")
def test_a_commissioner_in_a_stopped_district_moves_on_without_a_marker() -> None:
    """It stays there until it is moved along that district's streets, and leaves no marker."""
    game = bare_game()
    commissioner(game, "white", "TSQ", ["E34"])
    stopped(game, "TSQ")
    about_to_move(game)
    assert legal(game, "move white ") == ["W52", "E52"]
    assert walk(game, "W52", "CENTRAL_PARK") == [["E34"], ["E34", "W52"]]
