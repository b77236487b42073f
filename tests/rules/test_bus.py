"""BUS: placing businesses with option B."""

from typing import Any

import pytest

from scenario import (
    Event,
    after_businesses,
    bare_game,
    district,
    kinds,
    legal,
    only,
    stopped,
    supply_row,
    turn_of,
)
from skyenv import Game
from skyenv.rules.components import BUSINESSES, DISTRICTS, PLOTS
from skyenv.rules.state import ALEA


def place_business(game: Game, seat: int) -> list[Event]:
    """The first action of an option B: any business of the current set."""
    turn_of(game, seat)
    game.play(f"option B {legal(game, 'option B ')[0]}")
    return game.play("plot TSQ gray")


@pytest.mark.rule("BUS-1", "BUS-3", "SET-3")
def test_businesses_come_from_the_leftmost_set() -> None:
    """A set of three gives two placements, a set of two one; its last tile goes to the park, and
    the next set becomes current. No type is offered twice.
    """
    game = bare_game()
    supply_row(game, "perfumery boutique perfumery", "jeweller gallery", "gallery boutique gallery")
    offered, to_the_park = [], []
    for business in ("boutique", "perfumery", "jeweller", "gallery", "gallery"):
        turn_of(game, 0)
        offered.append(" ".join(legal(game, "option B ")))
        game.play(f"option B {business}")
        events = game.play(f"plot {DISTRICTS[len(offered)]} green")
        to_the_park += [event["business"] for event in only(events, "tile to park")] or [""]
    sets = ["boutique perfumery", "perfumery", "jeweller gallery", "boutique gallery"]
    assert offered == [*sets, "boutique gallery"]
    assert to_the_park == ["", "perfumery", "gallery", "", "boutique"]
    lying = [to_the_park.count(business) for business in BUSINESSES]
    assert game.view(1)["game"]["park_tiles"].tolist() == lying  # face up


@pytest.mark.rule("BUS-2")
@pytest.mark.parametrize(
    ("plot", "content", "allowed"),
    [
        ("brown", "", True),
        ("brown", "gallery", True),
        ("brown", "boutique", True),
        ("brown", "gallery gallery", False),
        ("brown", "gallery boutique", False),
        ("brown", (0, 1), False),
        ("brown", (ALEA, 1), False),
        ("sixth", "gallery", True),
        ("sixth", "gallery boutique", False),
    ],
)
def test_a_business_goes_on_empty_plots_or_beside_one_other(
    plot: str, content: Any, allowed: bool
) -> None:
    """On an empty plot or next to one other business, equal or not; never on two businesses or on
    skyscrapers, nor in a stopped district.
    """
    game = bare_game(2, "back")
    supply_row(game, "gallery gallery gallery")
    stopped(game, "W42")
    district(game, "E42", **{plot: content})
    game.play("option B gallery")
    plots = {f"{name} {one}" for name in DISTRICTS for one in PLOTS if name != "W42"}
    assert set(legal(game, "plot ")) == (plots if allowed else plots - {f"E42 {plot}"})


def spread(game: Game, seat: int, number: int, first: int = 0) -> None:
    """A skyscraper or two of a seat in each of some districts, on the plot of the seat's number."""
    for index in range(first, first + number):
        game.state["owner"][index, seat] = seat
        game.state["floors"][index, seat] = 1 + index % 2
    game.refresh()


@pytest.mark.rule("BUS-4", "BUS-3")
@pytest.mark.parametrize(("number", "points", "needed"), [(3, 4, 3), (6, 6, 4), (9, 8, 5)])
def test_special_points_follow_the_3rd_6th_and_9th_business(
    number: int, points: int, needed: int
) -> None:
    """After the 3rd, 6th and 9th business, for everyone in enough districts; the tile for the park
    comes first. The line comes, too, when nobody earns any.
    """
    game = bare_game(4)
    after_businesses(game, number - 1)
    nobody = game.copy()
    for seat, districts in enumerate((needed, needed - 1, needed + 1)):
        spread(game, seat, districts)
    spread(game, 3, needed, first=7 - needed)
    game.state["park"][1] = 5  # is no district
    events = place_business(game, 1)
    assert kinds(events)[1:] == ["tile to park", "vp"]
    assert only(events, "vp") == [
        {"why": "bonus", "place": None, "vp": [points, 0, points, points]}
    ]
    assert game.scores == [points, 0, points, points]
    assert game.phase == "take"
    assert only(place_business(nobody, 1), "vp")[0]["vp"] == [0, 0, 0, 0]


@pytest.mark.rule("BUS-5", "BUS-3", "END-1")
def test_the_twelfth_business_ends_the_game() -> None:
    """At once, without special points and further actions; the last tile still goes to the park,
    the eighth there.
    """
    game = bare_game()
    after_businesses(game, 11)
    spread(game, 0, 6)
    events = place_business(game, 0)
    assert kinds(events)[1:] == ["tile to park"] + ["vp"] * 7 + ["park", "vp", "end"]
    assert {event["why"] for event in only(events, "vp")} == {"final", "park"}
    assert game.state["park_tiles"].sum() == 8
    assert events[-1]["reason"] == "businesses"
    assert game.legal_actions == []
