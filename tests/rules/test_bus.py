"""BUS: placing businesses with option B."""

from __future__ import annotations

import pytest

from scenario import (
    Event,
    after_businesses,
    bare_game,
    cards,
    district,
    kinds,
    legal,
    only,
    stopped,
    supply_row,
    tiles,
    turn_of,
    vp,
)
from skyenv import Game
from skyenv.rules.components import BUSINESSES, COLOURS, DISTRICTS
from skyenv.rules.state import ALEA


def place_business(game: Game, seat: int, plot: str = "TSQ gray") -> list[Event]:
    """The first action of an option B: any business of the current set."""
    turn_of(game, seat)
    game.play(f"option B {legal(game, 'option B ')[0]}")
    return game.play(f"plot {plot}")


@pytest.mark.rule("BUS-1")
def test_any_type_of_the_left_most_set() -> None:
    """Types that lie further right aren't offered, nor a type more than once."""
    game = bare_game()
    supply_row(game, "perfumery perfumery boutique", "jeweller gallery")
    assert legal(game, "option B ") == ["boutique", "perfumery"]
    game.play("option B boutique")
    game.play("plot W34 green")
    turn_of(game, 1)
    assert legal(game, "option B ") == ["perfumery"]
    game.play("option B perfumery")
    game.play("plot W34 green")
    assert tiles(game, "W34", "green") == ["boutique", "perfumery"]
    turn_of(game, 2)
    assert legal(game, "option B ") == ["jeweller", "gallery"]


@pytest.mark.rule("BUS-2")
@pytest.mark.parametrize(
    ("content", "allowed"),
    [
        ("", True),
        ("gallery", True),
        ("boutique", True),
        ("gallery gallery", False),
        ("gallery boutique", False),
        ((0, 1), False),
        ((1, 3), False),
        ((ALEA, 1), False),
    ],
)
def test_where_a_business_goes(content: str | tuple[int, int], allowed: bool) -> None:
    """On an empty plot or next to one other business, equal or not; never on two businesses or on
    skyscrapers.
    """
    game = bare_game(2)
    supply_row(game, "gallery gallery gallery")
    district(game, "E42", brown=content)
    game.play("option B gallery")
    plots = [
        f"{name} {plot}"
        for name in DISTRICTS
        for plot in COLOURS
        if allowed or f"{name} {plot}" != "E42 brown"
    ]
    assert legal(game, "plot ") == plots


@pytest.mark.rule("BUS-2", "STOP-4")
def test_no_business_in_a_stopped_district() -> None:
    """Although it is empty."""
    game = bare_game()
    stopped(game, "W42")
    game.play(game.legal_names[1])
    assert {plot.split()[0] for plot in legal(game, "plot ")} == set(DISTRICTS) - {"W42"}


@pytest.mark.rule("BUS-2")
def test_the_sixth_plot_takes_a_second_business() -> None:
    """But not a third one."""
    game = bare_game(side="back")
    district(game, "W34", sixth="gallery")
    place_business(game, 0, "W34 sixth")
    assert len(tiles(game, "W34", "sixth")) == 2
    turn_of(game, 1)
    game.play(game.legal_names[1])
    assert "W34 sixth" not in legal(game, "plot ")


@pytest.mark.rule("BUS-3")
def test_the_last_tile_of_a_set_goes_to_the_park() -> None:
    """A set of three gives two placements, a set of two one; the next set becomes current."""
    game = bare_game()
    supply_row(game, "gallery boutique jeweller", "perfumery jeweller", "boutique boutique gallery")
    to_the_park: list[list[str]] = []
    for business in ("jeweller", "gallery", "perfumery", "boutique", "gallery"):
        turn_of(game, 0)
        game.play(f"option B {business}")
        events = game.play(f"plot {DISTRICTS[len(to_the_park)]} green")
        to_the_park.append([event["business"] for event in only(events, "tile to park")])
    assert to_the_park == [[], ["boutique"], ["jeweller"], [], ["boutique"]]
    assert dict(zip(BUSINESSES, game.state["park_tiles"].tolist(), strict=True)) == {
        "boutique": 2,
        "jeweller": 1,
        "gallery": 0,
        "perfumery": 0,
    }
    assert game.view(1)["game"]["park_tiles"].tolist() == [2, 1, 0, 0]  # face up


def spread(game: Game, seat: int, number: int, first: int = 0) -> None:
    """A skyscraper or two of a seat in each of some districts, on the plot of the seat's number."""
    for index in range(first, first + number):
        game.state["owner"][index, seat] = seat
        game.state["floors"][index, seat] = 1 + index % 2
    game.refresh()


@pytest.mark.rule("BUS-4", "BUS-3")
@pytest.mark.parametrize(("number", "points", "needed"), [(3, 4, 3), (6, 6, 4), (9, 8, 5)])
def test_special_points(number: int, points: int, needed: int) -> None:
    """After the 3rd, 6th and 9th business, for everyone in enough districts; the tile for the park
    comes first.
    """
    game = bare_game(4)
    after_businesses(game, number - 1)
    spread(game, 0, needed)
    spread(game, 1, needed - 1)
    spread(game, 2, needed + 1)
    spread(game, 3, needed, first=7 - needed)
    game.state["park"][1] = 5  # is no district
    events = place_business(game, 1)
    assert kinds(events)[1:] == ["tile to park", "vp"]
    assert only(events, "vp") == [
        {"why": "bonus", "place": None, "vp": [points, 0, points, points]}
    ]
    assert game.scores == [points, 0, points, points]
    assert game.phase == "take"


@pytest.mark.rule("BUS-4")
def test_many_skyscrapers_in_one_district_count_once() -> None:
    """Special points are for districts; two skyscrapers in one are not two."""
    game = bare_game()
    after_businesses(game, 2)
    district(game, "W34", green=(0, 3))
    district(game, "E34", green=(0, 2), violet=(1, 1))
    district(game, "E52", violet=(1, 1))
    district(game, "W52", violet=(1, 1))
    assert vp(place_business(game, 2)) == [[0, 4, 0]]


@pytest.mark.rule("BUS-4")
def test_no_special_points_in_between() -> None:
    """After the 1st, 2nd, 4th, 5th, 7th, 8th, 10th and 11th business there are none, not even
    zero.
    """
    for number in (1, 2, 4, 5, 7, 8, 10, 11):
        game = bare_game()
        after_businesses(game, number - 1)
        spread(game, 0, 7)
        events = place_business(game, 0, "TSQ orange")
        assert vp(events) == []
        assert game.scores == [0, 0, 0]


@pytest.mark.rule("BUS-4", "ALEA-9")
def test_special_points_when_nobody_earns_them() -> None:
    """The event says so; Alea's skyscrapers earn nothing."""
    game = bare_game(2)
    after_businesses(game, 2)
    for name in DISTRICTS[:6]:
        district(game, name, orange=(ALEA, 1))
    assert vp(place_business(game, 0)) == [[0, 0]]


@pytest.mark.rule("BUS-5", "BUS-3", "END-1")
def test_the_twelfth_business_ends_the_game() -> None:
    """At once, without special points and further actions; the last tile still goes to the park,
    the eighth there.
    """
    game = bare_game()
    after_businesses(game, 11)
    for name in DISTRICTS[:6]:
        district(game, name, green=(0, 1))
    before = cards(game, 0)
    events = place_business(game, 0)
    assert kinds(events)[1:] == ["tile to park"] + ["vp"] * 7 + ["park", "vp", "end"]
    assert {event["why"] for event in only(events, "vp")} == {"final", "park"}
    assert game.state["park_tiles"].sum() == 8
    assert cards(game, 0) == before
    assert game.is_over
    assert game.outcome is not None
    assert game.outcome.reason == "businesses"
    assert game.legal_actions == []
