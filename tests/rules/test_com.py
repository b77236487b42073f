"""COM: what is in the box, and the board."""

from __future__ import annotations

import numpy as np
import pytest

from scenario import (
    about_to_move,
    bare_game,
    bid,
    business_neighbours,
    commissioner,
    hand,
    legal,
    passes,
    start_auction,
)
from skyenv import ChanceError, Game, Games, make_board
from skyenv.rules.components import COLOURS, DISTRICTS, PLOTS

RING = ["green", "violet", "brown", "orange", "gray"]


@pytest.mark.rule("COM-1")
@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_pack(players: int) -> None:
    """Of each colour five 4s, four 5s and three 6s; of black twenty, sixteen and fourteen."""
    state = Games(20, players, seed=3).state
    cards = state["hand"].sum(axis=1) + state["face_down"]
    for colour in range(5):
        for rank in range(3):
            cards[:, colour, rank] += state["top"][:, colour] == rank
    assert (cards == [[5, 4, 3]] * 5 + [[20, 16, 14]]).all()


@pytest.mark.rule("COM-2")
@pytest.mark.parametrize("players", [2, 3, 4])
def test_eighteen_skyscrapers(players: int) -> None:
    """2 on the board, 3 in the supply, 12 in the general supply; the 18th marks the score."""
    game = Game(players, seed=5)
    while game.phase == "start":
        game.play(game.legal_actions[-1])
    for seat in range(players):
        assert game.state["floors"][game.state["owner"] == seat].sum() == 2
        assert game.state["supply"][seat] == 3
        assert game.state["general"][seat] == 12


@pytest.mark.rule("COM-3")
def test_nine_tiles_of_each_business() -> None:
    """A setup can show a business nine times, not ten times."""
    plots = [*RING, "green", "violet"]
    first = [word for plot in plots for word in (plot, "gallery")]
    with pytest.raises(ChanceError) as refused:
        Game(2, chance=[*first, "gallery", "gallery", "gallery"])
    assert refused.value.index == len(first) + 2
    nine_of_each = ["gallery"] * 2 + ["boutique"] * 9 + ["jeweller"] * 9
    with pytest.raises(ChanceError) as refused:
        Game(2, chance=[*first, *nine_of_each[:11], "boutique"])
    assert refused.value.index == len(first) + 11
    game = Game(2, chance=[*first, *nine_of_each])
    assert game.state["tiles"].sum(axis=(0, 1)).tolist() == [0, 0, 7, 0]
    assert np.bincount(game.state["row"]).tolist() == [9, 9, 2]


@pytest.mark.rule("COM-4", "COM-5")
@pytest.mark.parametrize(
    ("start", "next_places"),
    [
        ("CITY_HALL", ["W34", "E34"]),
        ("W34", ["W42", "TSQ"]),
        ("E34", ["TSQ", "E42"]),
        ("W42", ["W52"]),
        ("TSQ", ["W52", "E52"]),
        ("E42", ["E52"]),
        ("W52", ["CENTRAL_PARK"]),
        ("E52", ["CENTRAL_PARK"]),
        ("CENTRAL_PARK", ["CITY_HALL"]),
    ],
)
def test_streets(start: str, next_places: list[str]) -> None:
    """The streets lead from City Hall through three columns of districts to Central Park, one way
    only.
    """
    game = moving_from(start)
    assert legal(game, "move white ") == next_places


def moving_from(start: str) -> Game:
    """The white commissioner may be moved from here."""
    game = bare_game()
    commissioner(game, "white", start)
    about_to_move(game)
    return game


@pytest.mark.rule("COM-4")
def test_three_columns() -> None:
    """Whichever way a commissioner takes, it visits one district of each column: 34th, 42nd, 52nd
    Street.
    """
    ways: set[tuple[str, ...]] = {("CITY_HALL",)}
    for _ in range(4):
        ways = {
            (*way, place) for way in ways for place in legal(moving_from(way[-1]), "move white ")
        }
    columns = {"W34": 1, "E34": 1, "W42": 2, "TSQ": 2, "E42": 2, "W52": 3, "E52": 3}
    assert len(ways) == 6
    assert {place for way in ways for place in way} == {*DISTRICTS, "CITY_HALL", "CENTRAL_PARK"}
    for way in ways:
        assert [columns.get(place) for place in way] == [None, 1, 2, 3, None]


@pytest.mark.rule("COM-6", "COM-7")
@pytest.mark.parametrize("name", DISTRICTS)
def test_ring_of_the_front_side(name: str) -> None:
    """Green, violet, brown, orange, gray and green again: each plot touches the one before and the
    one after it.
    """
    game = bare_game(side="front")
    for position, plot in enumerate(RING):
        before, after = RING[position - 1], RING[(position + 1) % 5]
        assert business_neighbours(game, name, plot) == {(name, before), (name, after)}


@pytest.mark.rule("COM-7", "COM-9")
@pytest.mark.parametrize("side", ["front", "back"])
def test_a_board_is_data(side: str) -> None:
    """Another order of the plots can be given for any district; the others keep theirs."""
    order = ["orange", "green", "gray", "violet", "brown"] + ["sixth"] * (side == "back")
    game = bare_game(side=side, board=make_board(side, {"E42": order}))
    for position, plot in enumerate(order):
        around = {("E42", order[position - 1]), ("E42", order[(position + 1) % len(order)])}
        assert business_neighbours(game, "E42", plot) == {at for at in around if at[1] != "sixth"}
    assert business_neighbours(game, "W42", "brown") == {("W42", "violet"), ("W42", "orange")}


@pytest.mark.rule("COM-6", "COM-8")
@pytest.mark.parametrize(("side", "plots"), [("front", COLOURS), ("back", PLOTS)])
def test_plots_of_a_district(side: str, plots: tuple[str, ...]) -> None:
    """One plot of each colour; the back side has a sixth one, which takes businesses too."""
    game = bare_game(side=side)
    game.play(next(name for name in game.legal_names if name.startswith("option B")))
    for name in DISTRICTS:
        assert legal(game, f"plot {name} ") == list(plots)


@pytest.mark.rule("COM-8", "COM-9")
@pytest.mark.parametrize("name", DISTRICTS)
def test_ring_of_the_back_side(name: str) -> None:
    """The sixth plot lies between gray and green, which no longer touch."""
    game = bare_game(side="back")
    ring = [*RING, "sixth"]
    for position, plot in enumerate(ring):
        around = {(name, ring[position - 1]), (name, ring[(position + 1) % 6])}
        assert business_neighbours(game, name, plot) == {at for at in around if at[1] != "sixth"}


@pytest.mark.rule("COM-10")
@pytest.mark.parametrize(("card", "limit"), [(4, 3), (5, 2), (6, 1)])
def test_a_card_limits_building(card: int, limit: int) -> None:
    """A 4 allows three skyscrapers, a 5 two, a 6 one."""
    game = bare_game()
    hand(game, 0, orange=[card])
    start_auction(game, ["TSQ"])
    bid(game, 0, f"orange {card}")
    passes(game, 1, 2)
    assert legal(game, "build ") == [str(number) for number in range(limit + 1)]
