"""SET: the setup. What chance decides is checked over many games with fixed seeds."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from scenario import even, legal
from skyenv import Game, Games
from skyenv.rules.components import BUSINESSES, CARD_COLOURS, COLOURS, DISTRICTS

MANY = 21000
"""Games, for what must be equally likely."""
FEW = 400
"""For what must be so in all of them."""
FIRST_BUSINESSES = [
    *(
        "green",
        "boutique",
        "violet",
        "jeweller",
        "gray",
        "gallery",
        "green",
        "gallery",
    ),  # W34, E34, W42, TSQ
    *("brown", "boutique", "orange", "perfumery", "brown", "perfumery"),  # E42, W52, E52
]


@pytest.fixture(scope="module")
def front() -> np.recarray:
    """The first positions of many games."""
    return Games(MANY, 4, "front", seed=11, observation=None).state


@pytest.fixture(scope="module")
def back() -> np.recarray:
    """The same on the back side."""
    return Games(MANY, 2, "back", seed=12, observation=None).state


def first_plots(state: np.recarray) -> npt.NDArray[np.int64]:
    """The plot with the business of each district, (games, 7)."""
    tiles = state["tiles"].sum(axis=3)
    assert (tiles.sum(axis=2) == 1).all()
    plots: npt.NDArray[np.int64] = np.argmax(tiles, axis=2)
    return plots


@pytest.mark.rule("SET-1")
def test_one_business_in_each_district_and_each_colour_once_or_twice() -> None:
    """Seven businesses, five colours: two colours are used twice, the others once."""
    for plots in first_plots(Games(FEW, 4, "front", seed=11, observation=None).state):
        assert sorted(np.bincount(plots, minlength=6).tolist()) == [0, 1, 1, 1, 2, 2]


@pytest.mark.compiled
@pytest.mark.rule("SET-1")
def test_all_arrangements_are_equally_likely(front: np.recarray) -> None:
    """12600 arrangements: which districts share a colour (105 ways), and which colours there are,
    are both evenly spread.
    """
    plots = first_plots(front)
    arrangements = Counter(map(tuple, plots.tolist()))
    assert even(list(arrangements.values()) + [0] * (12600 - len(arrangements)))
    pairs = Counter(
        tuple(pair for pair in combinations(range(7), 2) if row[pair[0]] == row[pair[1]])
        for row in plots.tolist()
    )
    assert len(pairs) == 105
    assert even(pairs.values())
    doubled = Counter(frozenset(Counter(row).most_common(2)) for row in plots.tolist())
    assert len(doubled) == 10
    assert even(doubled.values())
    for column in range(7):
        assert even(np.bincount(plots[:, column]))


@pytest.mark.compiled
@pytest.mark.rule("SET-1", "SET-2")
def test_the_first_businesses_are_random(front: np.recarray, back: np.recarray) -> None:
    """In every district each type is as likely as the others, and each two districts are filled
    from what is left.
    """
    for state in (front, back):
        types = np.argmax(state["tiles"].sum(axis=2), axis=2)
        for column in range(7):
            assert even(np.bincount(types[:, column]))
        for first, second in combinations(range(7), 2):
            equal = int((types[:, first] == types[:, second]).sum())
            assert even([equal, MANY - equal], [8, 27])  # of 35 other tiles 8 are of the same type


@pytest.mark.rule("SET-2", "COM-8")
def test_the_back_side_begins_on_the_sixth_plots() -> None:
    """One business on the sixth plot of each district, none elsewhere."""
    assert (first_plots(Games(FEW, 2, "back", seed=12, observation=None).state) == 5).all()


@pytest.mark.compiled
@pytest.mark.rule("SET-3")
def test_the_supply_row(front: np.recarray) -> None:
    """Twenty tiles, each type as likely on each space; each two spaces hold two different tiles of
    the 36.
    """
    row = front["row"]
    assert row.shape == (MANY, 20)
    for space in range(20):
        assert even(np.bincount(row[:, space]))
    for first, second in ((0, 1), (2, 3), (0, 19), (18, 19), (7, 11)):
        equal = int((row[:, first] == row[:, second]).sum())
        assert even([equal, MANY - equal], [8, 27])
    board = front["tiles"].sum(axis=(1, 2))
    assert all(
        (board + (row == business).sum(axis=1)[:, None] * (np.arange(4) == business) <= 9).all()
        for business in range(4)
    )


@pytest.mark.rule("SET-3", "BUS-1", "BUS-3")
def test_the_sets_of_the_supply_row() -> None:
    """Eight sets of 3, 2, 3, 2, 3, 2, 3, 2 tiles: each gives all but its last one, from left to
    right.
    """
    game = Game(3, seed=2)
    row = [BUSINESSES[business] for business in game.state["row"]]
    sets, start = [], 0
    for size in (3, 2, 3, 2, 3, 2, 3, 2):
        sets.append(row[start : start + size])
        start += size
    while game.phase == "start":
        game.play(game.legal_actions[0])
    for tiles in sets:
        while len(tiles) > 1:
            offered = legal(game, "option B ")
            assert offered == sorted(set(tiles), key=BUSINESSES.index)
            game.play(f"option B {offered[0]}")
            tiles.remove(offered[0])
            events = game.play(game.legal_actions[0])
            left = [event["business"] for event in events if event["event"] == "tile to park"]
            assert left == (tiles if len(tiles) == 1 else [])
            while not game.is_over and game.phase != "option":
                game.play(game.legal_actions[0])
    assert game.is_over


@pytest.mark.rule("SET-4", "SET-5")
@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_deal(players: int) -> None:
    """One card of each colour and four black ones each; a visible top on each coloured stack, the
    other cards face down.
    """
    state = Games(50, players, seed=1).state
    assert (state["hand"][:, :players].sum(axis=3) == [1, 1, 1, 1, 1, 4]).all()
    assert (state["hand"][:, players:] == 0).all()
    assert ((state["top"] >= 0) & (state["top"] <= 2)).all()
    assert (state["face_down"].sum(axis=2) == [12 - 1 - players] * 5 + [50 - 4 * players]).all()
    assert (state["black_face_up"] == 0).all()


@pytest.mark.rule("SET-4", "SET-5", "INF-2")
def test_the_deal_is_unseen_by_the_others() -> None:
    """Each player sees the own hand; of the others only how many cards of each colour they hold."""
    game = Game(3, seed=4)
    for seat in range(3):
        view = game.view(seat)
        for other in range(3):
            mine = seat == other
            assert (view["game"]["hand"][other] == (game.state["hand"][other] if mine else 0)).all()
            assert view["unknown"][other].tolist() == ([0] * 6 if mine else [1, 1, 1, 1, 1, 4])
        assert (view["game"]["top"] == game.state["top"]).all()
        assert (view["game"]["face_down"] == 0).all()


@pytest.mark.compiled
@pytest.mark.rule("SET-4", "SET-5")
def test_the_cards_are_shuffled(front: np.recarray) -> None:
    """Every card that is dealt or turned up is a 4, 5 or 6 with the chances that the pack gives."""
    for colour in range(5):
        assert even(np.bincount(front["top"][:, colour]), [5, 4, 3])
        for seat in range(4):
            assert even(front["hand"][:, seat, colour].sum(axis=0), [5, 4, 3])
    for seat in range(4):
        fours = np.bincount(front["hand"][:, seat, 5, 0], minlength=5)
        assert even(fours, [27405, 81200, 82215, 34200, 4845])  # C(20, k) · C(30, 4 − k)
        assert even(front["hand"][:, seat, 5].sum(axis=0), [20, 16, 14])


@pytest.mark.rule("SET-4")
def test_a_deal_given_from_outside() -> None:
    """The chance of a setup can be told in its order: businesses, row, hands, tops."""
    plots = ["green", "violet", "brown", "orange", "gray", "gray", "brown"]
    businesses = ["boutique", "jeweller", "gallery", "perfumery", "boutique", "jeweller", "gallery"]
    row = ["perfumery", "gallery"] * 9 + ["boutique", "jeweller"]
    with pytest.raises(
        ValueError, match="gallery"
    ):  # nine galleries at most: two on plots and nine in the row are too many
        Game(
            2, chance=[word for pair in zip(plots, businesses, strict=True) for word in pair] + row
        )
    row = ["perfumery", "gallery", "boutique", "jeweller"] * 5
    hands = [[4, 5, 6, 4, 5, 4, 5, 6, 6], [6, 5, 4, 6, 5, 4, 4, 4, 5]]
    tops = [5, 5, 4, 6, 4]
    given = [word for pair in zip(plots, businesses, strict=True) for word in pair]
    game = Game(2, chance=[*given, *row, *hands[0], *hands[1], *tops])
    assert game.events == [
        {
            "event": "setup",
            "plots": {
                name: [plot, business]
                for name, plot, business in zip(DISTRICTS, plots, businesses, strict=True)
            },
            "row": row,
            "hands": [
                {**{colour: [cards[i]] for i, colour in enumerate(COLOURS)}, "black": cards[5:]}
                for cards in hands
            ],
            "tops": dict(zip(COLOURS, tops, strict=True)),
        }
    ]
    assert list(game.events[0]["hands"][0]) == list(CARD_COLOURS)


@pytest.mark.rule("SET-6")
def test_commissioners_begin_in_city_hall() -> None:
    """Both commissioners and all their markers: none is on the board."""
    game = Game(3, seed=1)
    assert game.state["place"].tolist() == [8, 8]
    assert game.state["markers"].tolist() == [0, 0]
    while game.phase != "move":
        game.play(game.legal_actions[0])
    assert legal(game, "move ") == ["white W34", "white E34", "beige W34", "beige E34"]


@pytest.mark.rule("SET-7", "SET-9")
@pytest.mark.parametrize(
    ("players", "order"),
    [(2, [0, 1, 1, 0]), (3, [0, 2, 1, 1, 2, 0]), (4, [0, 3, 2, 1, 1, 2, 3, 0])],
)
def test_order_of_the_starting_skyscrapers(players: int, order: list[int]) -> None:
    """Counter-clockwise from seat 0, then back clockwise from seat 1; then seat 0 takes the first
    turn.
    """
    game = Game(players, seed=9)
    seats = []
    while game.phase == "start":
        assert game.seat is not None
        seats.append(game.seat)
        game.play(game.legal_actions[0])
    assert seats == order
    assert (game.phase, game.seat, game.turn_seat) == ("option", 0, 0)


@pytest.mark.rule("SET-8")
def test_starting_skyscrapers_go_on_empty_plots() -> None:
    """Not where a business lies, not where another skyscraper stands; one each, of the player who
    placed it.
    """
    game = Game(3, chance=FIRST_BUSINESSES)
    free = {f"{name} {plot}" for name in DISTRICTS for plot in COLOURS}
    free -= {f"{name} {plot}" for name, plot in zip(DISTRICTS, FIRST_BUSINESSES[::2], strict=True)}
    for seat, plot in ((0, "TSQ orange"), (2, "TSQ violet"), (1, "TSQ gray")):
        assert set(legal(game, "plot ")) == free
        game.play(f"plot {plot}")
        free.remove(plot)
        index = DISTRICTS.index("TSQ"), COLOURS.index(plot.split()[1])
        assert (game.state["owner"][index], game.state["floors"][index]) == (seat, 1)


@pytest.mark.rule("SET-8")
def test_the_second_starting_skyscraper_goes_to_another_district() -> None:
    """Than the player's own first; where the others stand doesn't matter."""
    game = Game(2, chance=FIRST_BUSINESSES)
    game.play("plot TSQ orange")  # seat 0
    game.play("plot E52 violet")  # seat 1
    assert {plot.split()[0] for plot in legal(game, "plot ")} == set(DISTRICTS) - {"E52"}
    game.play("plot TSQ gray")  # seat 1
    assert {plot.split()[0] for plot in legal(game, "plot ")} == set(DISTRICTS) - {"TSQ"}


@pytest.mark.rule("SET-8", "COM-8")
def test_no_starting_skyscraper_on_a_sixth_plot() -> None:
    """On the back side every coloured plot is empty at first, and the sixth is never offered."""
    game = Game(4, "back", seed=6)
    assert legal(game, "plot ") == [f"{name} {plot}" for name in DISTRICTS for plot in COLOURS]
    while game.phase == "start":
        assert not [plot for plot in legal(game, "plot ") if plot.endswith("sixth")]
        game.play(game.legal_actions[-1])
