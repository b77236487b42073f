"""SET: the setup. What chance decides is checked over many games with fixed seeds."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from scenario import as_likely, legal
from skyenv import Game, Games
from skyenv.rules.components import COLOURS, DISTRICTS

MANY = 21000
PLOTS = ["green", "violet", "gray", "green", "brown", "orange", "brown"]
TYPES = ["boutique", "jeweller", "gallery", "gallery", "boutique", "perfumery", "perfumery"]
FIRST_BUSINESSES = [word for pair in zip(PLOTS, TYPES, strict=True) for word in pair]


@pytest.mark.rule("SET-1", "SET-2", "SET-3", "COM-8")
@pytest.mark.parametrize(("side", "uses"), [("front", [0, 1, 1, 1, 2, 2]), ("back", [0] * 5 + [7])])
def test_the_setup_places_one_business_per_district(side: str, uses: list[int]) -> None:
    """One in each district: on the front side each colour once or twice, on the back side all on
    the sixth plots. Twenty in the row; nothing tells of the other nine.
    """
    games = Games(400, 4, side, seed=11, observation=False)
    tiles = games.state["tiles"].sum(axis=3)
    assert (tiles.sum(axis=2) == 1).all()
    for plots in np.argmax(tiles, axis=2):
        assert sorted(np.bincount(plots, minlength=6).tolist()) == uses
    assert games.state["row"].shape == (400, 20)
    assert (games.state["row"] >= 0).all()
    assert not games.state["park_tiles"].any()


@pytest.mark.compiled
@pytest.mark.rule("SET-1", "SET-2", "SET-3", "SET-4", "SET-5")
def test_setups_are_random() -> None:
    """Plot colours, districts that share one, types of businesses, cards dealt and turned up."""
    state = Games(MANY, 4, "front", seed=11, observation=False).state
    plots = np.argmax(state["tiles"].sum(axis=3), axis=2).tolist()
    pairs = Counter(
        tuple(pair for pair in combinations(range(7), 2) if row[pair[0]] == row[pair[1]])
        for row in plots
    )
    assert len(pairs) == 105
    assert as_likely(pairs.values())
    doubled = Counter(frozenset(Counter(row).most_common(2)) for row in plots)
    assert len(doubled) == 10
    assert as_likely(doubled.values())
    assert all(as_likely(Counter(colours).values()) for colours in zip(*plots, strict=True))
    types = np.argmax(state["tiles"].sum(axis=2), axis=2)
    spaces = np.concatenate([types, state["row"]], axis=1)
    assert all(as_likely(np.bincount(spaces[:, space])) for space in range(27))
    for first, second in combinations(range(0, 27, 2), 2):
        equal = int((spaces[:, first] == spaces[:, second]).sum())
        assert as_likely([equal, MANY - equal], [8, 27])  # of 35 other tiles 8 are of the same type
    for colour in range(5):
        assert as_likely(np.bincount(state["top"][:, colour]), [5, 4, 3])
        assert as_likely(state["hand"][:, colour % 4, colour].sum(axis=0), [5, 4, 3])
    for seat in range(4):
        fours = np.bincount(state["hand"][:, seat, 5, 0], minlength=5)
        assert as_likely(fours, [27405, 81200, 82215, 34200, 4845])  # C(20, k) · C(30, 4 − k)


@pytest.mark.rule("SET-6", "SET-7", "SET-9")
@pytest.mark.parametrize(
    ("players", "order"),
    [(2, [0, 1, 1, 0]), (3, [0, 2, 1, 1, 2, 0]), (4, [0, 3, 2, 1, 1, 2, 3, 0])],
)
def test_starting_skyscrapers_go_round_and_back(players: int, order: list[int]) -> None:
    """Counter-clockwise from seat 0, then back clockwise from seat 1; then seat 0 takes the first
    turn. Both commissioners are in City Hall, without markers in districts.
    """
    game = Game(players, seed=9)
    seats = []
    while game.phase == "start":
        seats.append(game.seat)
        game.play(game.legal_actions[0])
    assert seats == order
    assert (game.phase, game.seat, game.state["turn_seat"]) == ("option", 0, 0)
    assert game.state["place"].tolist() == [8, 8]
    assert game.state["markers"].tolist() == [0, 0]


@pytest.mark.rule("SET-8", "COM-8")
@pytest.mark.parametrize("side", ["front", "back"])
def test_starting_skyscrapers_go_on_empty_plots_of_two_districts(side: str) -> None:
    """On empty plots, the second one in another district than the player's own first; never on a
    sixth plot.
    """
    game = Game(2, side, chance=FIRST_BUSINESSES if side == "front" else TYPES)
    free = {f"{name} {plot}" for name in DISTRICTS for plot in COLOURS}
    if side == "front":
        free -= {f"{name} {plot}" for name, plot in zip(DISTRICTS, PLOTS, strict=True)}
    barred = ("E99", "E99", "E52", "TSQ")
    placed = ("TSQ orange", "E52 violet", "TSQ gray", "E52 gray")
    for seat, (plot, district) in zip((0, 1, 1, 0), zip(placed, barred, strict=True), strict=True):
        wanted = {place for place in free if not place.startswith(district)}
        assert set(legal(game, "plot ")) == wanted
        game.play(f"plot {plot}")
        free.remove(plot)
        index = DISTRICTS.index(plot.split()[0]), COLOURS.index(plot.split()[1])
        assert (game.state["owner"][index], game.state["floors"][index]) == (seat, 1)
