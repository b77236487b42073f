"""COM: what is in the box, and the board."""

import numpy as np
import pytest

from scenario import about_to_move, bare_game, commissioner, legal
from skyenv import Games, make_board
from skyenv.rules.components import COLOURS, DISTRICTS, PLOTS

RING = ["green", "violet", "brown", "orange", "gray"]
OTHER = ["orange", "green", "gray", "violet", "brown"]


@pytest.mark.rule("COM-1", "COM-2", "SET-4", "SET-5")
@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_pack_and_the_supplies_are_complete(players: int) -> None:
    """Of each colour five 4s, four 5s and three 6s; of black twenty, sixteen and fourteen. Each
    player gets one card of each colour and four black ones.

    2 skyscrapers on the board, 3 in the supply, 12 in the general supply; the 18th marks the score.
    """
    games = Games(20, players, seed=3)
    state = games.state
    hands = state["hand"].sum(axis=3)
    assert (hands[:, :players] == [1, 1, 1, 1, 1, 4]).all()
    assert (hands[:, players:] == 0).all()
    cards = state["hand"].sum(axis=1) + state["face_down"]
    cards[:, :5] += state["top"][:, :, None] == np.arange(3)
    assert (cards == [[5, 4, 3]] * 5 + [[20, 16, 14]]).all()
    while (state["phase"] == 0).any():
        games.step(games.mask.argmax(axis=1))
    for seat in range(players):
        assert (state["floors"] * (state["owner"] == seat)).sum() == 2 * 20
    assert (state["supply"][:, :players] == 3).all()
    assert (state["general"][:, :players] == 12).all()


@pytest.mark.rule("COM-4", "COM-5")
@pytest.mark.parametrize(
    ("start", "next_places"),
    [
        ("CITY_HALL", "W34 E34"),
        ("W34", "W42 TSQ"),
        ("E34", "TSQ E42"),
        ("W42", "W52"),
        ("TSQ", "W52 E52"),
        ("E42", "E52"),
        ("W52", "CENTRAL_PARK"),
        ("E52", "CENTRAL_PARK"),
        ("CENTRAL_PARK", "CITY_HALL"),
    ],
)
def test_streets_lead_from_city_hall_to_central_park(start: str, next_places: str) -> None:
    """They lead from City Hall through three columns of districts to Central Park, one way only."""
    game = bare_game()
    commissioner(game, "white", start)
    about_to_move(game)
    assert legal(game, "move white ") == next_places.split()


@pytest.mark.rule("COM-6", "COM-7", "COM-8", "COM-9", "SCO-2")
@pytest.mark.parametrize("name", DISTRICTS)
@pytest.mark.parametrize(
    ("side", "ring", "given"),
    [
        ("front", RING, False),
        ("back", [*RING, "sixth"], False),  # between gray and green, which no longer touch
        ("front", OTHER, True),
        ("back", [*OTHER[:2], "sixth", *OTHER[2:]], True),
    ],
)
def test_rings_decide_which_plots_are_neighbours(
    side: str, ring: list[str], given: bool, name: str
) -> None:
    """Each plot touches the one before and the one after it in its own district, where a
    skyscraper scores for a business there. A board can give another order for any district.
    """
    game = bare_game(side=side, board=make_board(side, {name: ring}) if given else None)
    before = game.state["value"].copy()
    here = game.state["tiles"][DISTRICTS.index(name)]
    business = here.sum(axis=0).tolist().index(0)
    for position, plot in enumerate(ring):
        here[PLOTS.index(plot), business] += 1
        game.refresh()
        more = np.argwhere(game.state["value"] != before).tolist()
        around = {ring[position - 1], ring[(position + 1) % len(ring)]} - {"sixth"}
        assert {(DISTRICTS[i], COLOURS[j]) for i, j in more} == {(name, one) for one in around}
        here[PLOTS.index(plot), business] -= 1
        game.refresh()
