"""What of an edited position stands beside plots and hands: commissioners with their markers, the
supply row, the park area.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy.typing as npt

from skyenv.checks import check_integer
from skyenv.errors import shown
from skyenv.page.errors import PageError
from skyenv.page.payloads import Payload
from skyenv.render.words import counted, seat_name
from skyenv.rules.components import BUSINESSES, CITY_HALL, DISTRICTS, PLACES, STREETS
from skyenv.rules.state import NONE, PHASE_START

WHITE_AND_BEIGE: Final = ("white", "beige")


def described_city(position: Any) -> Payload:
    """What of a position, GAME_DTYPE, can be changed here.

    Returns:
        ``places`` of both commissioners and ``ways``, the districts with their markers, first
        visited first; ``possible``: for each place the ways that can have led there. ``row``: the
        supply row's businesses, null where one was taken;
        ``park_tiles``: how many of each business lie in the park area.
    """
    stopped = position["stopped"]
    return {
        "places": [PLACES[int(place)] for place in position["place"]],
        "ways": [_way_of(position, which) for which in range(len(WHITE_AND_BEIGE))],
        "possible": {name: ways_to(place, stopped) for place, name in enumerate(PLACES)},
        "row": [None if kind == NONE else BUSINESSES[int(kind)] for kind in position["row"]],
        "park_tiles": {
            business: int(position["park_tiles"][kind]) for kind, business in enumerate(BUSINESSES)
        },
    }


def _way_of(position: Any, which: int) -> list[str]:
    return [
        DISTRICTS[int(district)]
        for district in position["visited"][which][: int(position["markers"][which])]
    ]


def ways_to(place: int, stopped: npt.NDArray[Any]) -> list[list[str]]:
    """COM-5, MOVE-2, STOP-5: all lists of districts with markers that a commissioner can have left
    on its way to a place.
    """
    ways: list[list[str]] = []

    def walk(here: int, left: tuple[int, ...]) -> None:
        if here == place and (left or place != CITY_HALL):
            way = [DISTRICTS[district] for district in left if not stopped[district]]
            if way not in ways:
                ways.append(way)
            return
        for following in STREETS[here]:
            if following != CITY_HALL:
                walk(following, (*left, here) if here < len(DISTRICTS) else left)

    if place == CITY_HALL:
        return [[]]  # its markers are back there
    walk(CITY_HALL, ())
    return sorted(ways)


def put_commissioner(state: Any, which: int, name: object, way: object) -> None:
    """Have a commissioner stand in a place, with markers on the way there.

    Raises:
        PageError: there is no such place, it is stopped, or no way leads there by these districts.
    """
    if name not in PLACES:
        raise PageError(f"a commissioner stands in one of {', '.join(PLACES)}, not {shown(name)}")
    place = PLACES.index(str(name))
    if place != state["place"][which] and place < len(DISTRICTS) and state["stopped"][place]:
        raise PageError(f"no commissioner can go to {name}: it is stopped (MOVE-3)")
    if state["phase"] == PHASE_START and place != CITY_HALL:
        raise PageError(
            f"during the setup both commissioners stand in City Hall (SET-6), not in {name}"
        )
    possible = ways_to(place, state["stopped"])
    if way not in possible:
        right = " or ".join(" and ".join(one) if one else "nowhere" for one in possible)
        raise PageError(
            f"the {WHITE_AND_BEIGE[which]} commissioner leaves markers on its way from City Hall "
            f"to {name} (MOVE-2): they lie in"
            f" {right}, not in {shown(way)}"
        )
    assert isinstance(way, list)
    state["place"][which] = place
    state["visited"][which] = NONE
    state["visited"][which][: len(way)] = [DISTRICTS.index(district) for district in way]
    state["markers"][which] = len(way)


def put_row(state: Any, row: Sequence[object]) -> None:
    """Lay other businesses out in the supply row, where one still lies.

    Raises:
        PageError: that is no business, or one lies where one was taken.
    """
    for space, business in enumerate(row):
        what = f"space {space + 1} of the supply row"
        if state["row"][space] == NONE:
            if business is not None:
                raise PageError(f"{what} must stay empty: its business was taken (BUS-1)")
        elif business not in BUSINESSES:
            raise PageError(
                f"{what} must have one of {', '.join(BUSINESSES)}, as none was taken there, not "
                f"{shown(business)}"
            )
        else:
            state["row"][space] = BUSINESSES.index(str(business))


def put_park(state: Any, tiles: object, skyscrapers: Sequence[int]) -> None:
    """Have businesses and every seat's skyscrapers stand in the park area.

    Raises:
        PageError: there can't be so many.
    """
    if not isinstance(tiles, Mapping):
        raise PageError(
            f"an edit must have park_tiles, a number for each business, not {shown(tiles)}"
        )
    before = int(state["park_tiles"].sum())
    for kind, business in enumerate(BUSINESSES):
        what = f"park area: {business}"
        state["park_tiles"][kind] = check_integer(what, tiles.get(business), 0, before, PageError)
    if (number := int(state["park_tiles"].sum())) != before:
        raise PageError(
            f"the park area has {counted(before, 'tile')}, one for each set of the supply row that "
            "is used up (BUS-3),"
            f" not {number}; only their types can be others"
        )
    for seat, floors in enumerate(skyscrapers):
        state["park"][seat] = floors


def check_setup(state: Any, before: Any) -> None:
    """SET-6 to SET-8: what must be so as long as starting skyscrapers are placed.

    Args:
        state: the position.
        before: what it was edited from.

    Raises:
        PageError: it isn't.
    """
    for seat in range(int(state["num_players"])):
        own, number = state["owner"] == seat, int((before["owner"] == seat).sum())
        if int(own.sum()) != number or (state["floors"][own] != 1).any():
            raise PageError(
                f"during the setup {seat_name(seat)} has placed {counted(number, 'skyscraper')}, "
                "each on a plot of its own"
                " (SET-7); move them, but take and add none"
            )
        if (
            state["score"][seat]
            or state["park"][seat]
            or state["supply"][seat] != before["supply"][seat]
        ):
            raise PageError(
                "during the setup nobody has VP or stands in the park area, and no supply "
                f"changes: {seat_name(seat)} must have"
                f" 0 VP, nothing in the park area and {int(before['supply'][seat])} ready (SET-6)"
            )
