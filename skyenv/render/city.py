"""The board: City Hall, seven districts with their rings of plots, Central Park, and the streets
between them (COM-4, COM-5).

Functions that draw a part take what it shows, as numbers or as the bytes of a record's
:class:`Fields`, and nothing else.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from skyenv.render import shapes
from skyenv.render.colours import Theme
from skyenv.render.marks import (
    at,
    circle,
    element,
    group,
    number,
    path,
    rectangle,
    title,
    width_of,
    words,
)
from skyenv.render.parts import Fields, Part, remembered, slot
from skyenv.render.scene import Marks, Scene, glow, hidden, piece, thing
from skyenv.render.words import (
    LONG_NAMES,
    PLACE_NAMES,
    Names,
    counted,
    listed,
    plot_name,
    seat_name,
)
from skyenv.rules.actions import MOVE, OPTION_D, PLOT
from skyenv.rules.components import (
    BUILD_LIMIT,
    BUSINESSES,
    CENTRAL_PARK,
    CITY_HALL,
    COLOURS,
    COMMISSIONERS,
    DISTRICTS,
    MARKERS,
    NUM_BUSINESSES,
    NUM_COLOURS,
    NUM_COMMISSIONERS,
    NUM_DISTRICTS,
    NUM_PLACES,
    NUM_PLOTS,
    NUM_RANKS,
    PLACES,
    PLOT_VALUE,
    PLOTS,
    SIXTH,
    STREETS,
)
from skyenv.rules.state import ALEA, NONE

BLOCK: Final = 184.0
"""A district is a square of this size."""
_RIM: Final = 87.0
_HUB: Final = 37.0
_MIDDLE: Final = (_RIM + _HUB) / 2
_ALONG: Final = 26.0
"""Width of the streets between the columns, and across them."""
_ACROSS: Final = 14.0
_PAD: Final = 12.0
_HALL: Final = 90.0
_PARK: Final = 116.0
_GAP: Final = 18.0
_COLUMNS: Final = ((0, 1), (2, 3, 4), (5, 6))

LENGTH: Final = _PAD * 2 + _HALL + _PARK + _GAP * 2 + 3 * BLOCK + 2 * _ALONG
"""Size of the board from City Hall to Central Park, and across."""
BREADTH: Final = _PAD * 2 + 3 * BLOCK + 2 * _ACROSS

Point = tuple[float, float]
_Names = tuple[str | None, ...] | None

_BUILT: Final = Fields("tiles", "owner", "floors", "value", depth=2)
"""What a plot shows."""
_SIXTH: Final = Fields("tiles", depth=2)
"""What the sixth plot shows, to which nothing else belongs."""
_RING: Final = Fields("ring", depth=1)
_STOPPED: Final = Fields("stopped", depth=1)
_TRAY: Final = Fields("markers")
_PARK_AREA: Final = Fields("num_players", "park", "park_tiles")


def size(upright: bool) -> Point:
    """Width and height of the board; upright it leads from top to bottom."""
    return (BREADTH, LENGTH) if upright else (LENGTH, BREADTH)


def _turned(upright: bool, along: float, across: float) -> Point:
    """A point by its way from City Hall and across, as x and y."""
    return (across, along) if upright else (along, across)


def _centre(upright: bool, place: int) -> Point:
    """The middle of a place."""
    if place == CITY_HALL:
        return _turned(upright, _PAD + _HALL / 2, BREADTH / 2)
    if place == CENTRAL_PARK:
        return _turned(upright, LENGTH - _PAD - _PARK / 2, BREADTH / 2)
    for i, column in enumerate(_COLUMNS):
        if place in column:
            along = _PAD + _HALL + _GAP + BLOCK / 2 + i * (BLOCK + _ALONG)
            across = BREADTH / 2 + (column.index(place) - (len(column) - 1) / 2) * (BLOCK + _ACROSS)
            return _turned(upright, along, across)
    raise AssertionError(f"{place} is no place")


def board(scene: Scene) -> str:
    """The whole board, its corner at the origin."""
    add, theme, raw = scene.drawing.add, scene.theme, scene.raw
    place, visited = scene.table.game["place"].tolist(), scene.table.game["visited"].tolist()
    auction = scene.number("auction_place")
    for district in range(NUM_DISTRICTS):
        ring, is_stopped = _RING.read(raw, district), _STOPPED.read(raw, district) != b"\0"
        shown = _visitors_key(scene, district, place, visited)
        add(_visitors(theme, district, shown, 1.25, 50 if is_stopped else 0))
        add(_name(theme, district, _is_visited(shown)))
        plots = _plots(ring)
        for position, plot in enumerate(plots):
            built = (_SIXTH if plot == SIXTH else _BUILT).read(raw, district, plot)
            marks = scene.marks(PLOT + NUM_PLOTS * district + plot)
            add(
                _plot(
                    theme,
                    district,
                    plot,
                    (position, len(plots)),
                    is_stopped,
                    built,
                    scene.agents,
                    marks,
                )
            )
        marks = scene.marks(OPTION_D + district)
        lifted = is_stopped and _is_visited(shown)
        add(_district(theme, district, ring, is_stopped, district == auction, lifted, marks))
    for strip in (CITY_HALL, CENTRAL_PARK):
        add(_visitors(theme, strip, _visitors_key(scene, strip, place, visited), 1.5, 0))
    add(_marker_tray(theme, scene.upright, _TRAY.read(raw)))
    add(_city_hall(theme, scene.upright))
    add(_park_area(theme, scene.upright, _PARK_AREA.read(raw), scene.agents))
    add(_park(theme, scene.upright, auction == CENTRAL_PARK))
    return add(_city(theme, scene.upright))


@functools.lru_cache(maxsize=256)
def _plots(ring: bytes) -> list[int]:
    """The plots of a ring, in their order."""
    return [plot for plot in _RING.numbers(ring).ring if plot != NONE]


@remembered(8)
def _city(theme: Theme, upright: bool) -> Part:
    """The ground, the streets, and the places on it."""
    width, height = size(upright)
    ground = rectangle(
        0, 0, width, height, 16, fill=theme.board, stroke=theme.block_edge, stroke_width=1.5
    )
    districts = [
        at(*_centre(upright, district), slot(DISTRICTS[district]))
        for district in range(NUM_DISTRICTS)
    ]
    strips = [slot(PLACES[strip]) for strip in (CITY_HALL, CENTRAL_PARK)]
    return Part(
        "city",
        "".join([ground, _streets(theme, upright), _aids(theme, upright), *districts, *strips]),
    )


# ---- streets ----


def _streets(theme: Theme, upright: bool) -> str:
    """COM-5: roads with arrows that show where they lead."""
    roads, arrows = [], []
    for start, targets in enumerate(STREETS):
        for target in targets:
            if target == CITY_HALL:
                continue
            (x0, y0), (x1, y1) = _ends(upright, start, target)
            roads.append(f"M{number(x0)} {number(y0)}L{number(x1)} {number(y1)}")
            arrows.append(_arrow(upright, start, target))
    way = "".join(roads)
    road = path(way, stroke=theme.street, stroke_width=26, stroke_linecap="round", fill="none")
    lane = path(way, stroke=theme.lane, stroke_width=1.4, stroke_dasharray="6 5", fill="none")
    heads = path(
        "".join(arrows),
        stroke=theme.ink,
        stroke_width=3.2,
        fill="none",
        stroke_linecap="round",
        stroke_linejoin="round",
    )
    return road + lane + heads


def _ends(upright: bool, start: int, target: int) -> tuple[Point, Point]:
    """Where a street begins and ends; those of City Hall and Central Park run straight."""
    first, last = _centre(upright, start), _centre(upright, target)
    axis = 0 if upright else 1
    if start == CITY_HALL:
        first = (last[0], first[1]) if axis == 0 else (first[0], last[1])
    if target == CENTRAL_PARK:
        last = (first[0], last[1]) if axis == 0 else (last[0], first[1])
    return first, last


def _arrow(upright: bool, start: int, target: int) -> str:
    """A chevron in the gap that a street crosses."""
    (x0, y0), (x1, y1) = _ends(upright, start, target)
    along = _PAD + _HALL + _GAP / 2
    if start != CITY_HALL:
        column = next(i for i, column in enumerate(_COLUMNS) if start in column)
        along = _PAD + _HALL + _GAP + (column + 1) * (BLOCK + _ALONG) - _ALONG / 2
        along -= (_ALONG - _GAP) / 2 if target == CENTRAL_PARK else 0
    part = (along - y0) / (y1 - y0) if upright else (along - x0) / (x1 - x0)
    x, y = x0 + (x1 - x0) * part, y0 + (y1 - y0) * part
    length = math.hypot(x1 - x0, y1 - y0)
    dx, dy = (x1 - x0) / length * 4.5, (y1 - y0) / length * 4.5
    left, tip, right = (x - dx - dy, y - dy + dx), (x + dx, y + dy), (x - dx + dy, y - dy - dx)
    return "M" + "L".join(f"{number(a)} {number(b)}" for a, b in (left, tip, right))


# ---- a district ----


@remembered(256)
def _district(
    theme: Theme,
    district: int,
    ring: bytes,
    is_stopped: bool,
    is_auctioned: bool,
    lifted: bool,
    marks: Marks,
) -> Part:
    """A block, the ring of its plots about its name, and who is there; centred on the origin.

    Args:
        theme: the colours. district: which. ring: its plots, of ``_RING``. marks: whether it may be
            scored.
        is_stopped: whether there is a building stop. is_auctioned: whether it is under auction.
        lifted: whether the stop's sign leaves room for a visitor.
    """
    half, name = BLOCK / 2, DISTRICTS[district]
    block = rectangle(-half, -half, BLOCK, BLOCK, 14)
    edge = (
        {"stroke": theme.gold, "stroke_width": 5}
        if is_auctioned
        else {"stroke": theme.block_edge, "stroke_width": 1.4}
    )
    ground = group(block, fill=theme.stopped if is_stopped else theme.block, **edge)
    plots = _plots(ring)
    parts = [ground, _trees(theme, half), glow(theme, marks, block), slot(f"{name}.name")]
    parts += [slot(f"{name}.{PLOTS[plots[position]]}") for position in _back_to_front(len(plots))]
    if is_stopped:
        parts.append(
            at(0, -24, _stop_sign(theme, district)) if lifted else _stop_sign(theme, district)
        )
    if is_auctioned:
        parts.append(at(-half + 18, -half + 16, shapes.gavel(theme)))
    what = _district_words(district, is_stopped, is_auctioned)
    visitors = slot(f"{name}.visitors")
    scoring = [OPTION_D + district]
    return Part(name, thing(scoring, marks, what, *parts, visitors, district=district))


def _trees(theme: Theme, half: float) -> str:
    """Street trees in the corners of a block."""
    spots = "".join(
        f"M{number(x)} {number(y)}h.1"
        for x in (-half + 15, half - 15)
        for y in (-half + 15, half - 15)
    )
    return path(
        spots, stroke=theme.tree, stroke_width=13, stroke_linecap="round", stroke_opacity=0.55
    )


def _back_to_front(plots: int) -> list[int]:
    """Positions of a ring from the top down, as what stands in front hides what is behind."""
    return sorted(
        range(plots), key=lambda position: round(-math.cos(2 * math.pi * position / plots), 6)
    )


def _district_words(district: int, is_stopped: bool, is_auctioned: bool) -> str:
    name = f"{DISTRICTS[district]}, {LONG_NAMES[district]}"
    if is_stopped:
        return f"{name}: building stop"
    return f"{name}: under auction" if is_auctioned else name


@remembered(64)
def _name(theme: Theme, district: int, is_visited: bool) -> Part:
    """The name in the middle of the ring, smaller if somebody stands there."""
    return Part(f"{DISTRICTS[district]}.name", _hub(theme, district, is_visited))


def _hub(theme: Theme, district: int, is_visited: bool) -> str:
    disc = circle(0, 0, _HUB - 2, fill=theme.panel, stroke=theme.block_edge, stroke_width=1)
    size, y = (shapes.SMALL, -17) if is_visited else (21, 7.5)
    return disc + words(0, y, DISTRICTS[district], size, middle=True, bold=True, fill=theme.ink)


def _polar(angle: float, radius: float) -> Point:
    return radius * math.sin(angle), -radius * math.cos(angle)


def _wedge(position: int, plots: int) -> str:
    """The outline of a plot: a part of the ring, with a little space to its neighbours."""
    step = 2 * math.pi / plots
    low, high = (position - 0.5) * step, (position + 0.5) * step
    outer, inner = 2.0 / _RIM, 2.0 / _HUB
    points = [
        _polar(low + outer, _RIM),
        _polar(high - outer, _RIM),
        _polar(high - inner, _HUB),
        _polar(low + inner, _HUB),
    ]
    a, b, c, d = (f"{number(x)} {number(y)}" for x, y in points)
    return (
        f"M{a}A{number(_RIM)} {number(_RIM)} 0 0 1 {b}L{c}A{number(_HUB)} {number(_HUB)} 0 0 0 {d}Z"
    )


@remembered(4096)
def _plot(
    theme: Theme,
    district: int,
    plot: int,
    spot: tuple[int, int],
    is_stopped: bool,
    built: bytes,
    agents: _Names,
    marks: Marks,
) -> Part:
    """A plot with its colour, its shape, and what is on it.

    Args:
        theme: the colours. district, plot: which. agents: who sits where. marks: whether it may be
            chosen.
        spot: its position in the ring, and how many there are. is_stopped: whether there is a
            building stop.
        built: what is on it, of ``_BUILT``, or of ``_SIXTH`` for the sixth plot.
    """
    shown = (_SIXTH if plot == SIXTH else _BUILT).numbers(built)
    position, plots = spot
    step, angle = 2 * math.pi / plots, 2 * math.pi * position / plots
    outline = path(_wedge(position, plots))
    fill = group(
        outline,
        fill=theme.plots[plot],
        stroke=theme.suit_ink,
        stroke_width=1,
        fill_opacity=0.28 if is_stopped else None,
    )
    corner = (
        at(*_polar(angle - step * 0.36, _RIM - 10), shapes.suit(theme, plot, 4.8, outlined=True))
        if plot < NUM_COLOURS
        else ""
    )
    body = [fill, "" if is_stopped else corner, glow(theme, marks, outline)]
    if not is_stopped:
        body.append(_on_plot(theme, shown, plot, angle, step))
    state = "building stop" if is_stopped else _plot_words(shown, plot, agents)
    what = f"{plot_name(district, plot)}: {state}"
    action = PLOT + NUM_PLOTS * district + plot
    drawn = thing([action], marks, what, *body, plot=f"{district}:{plot}")
    return Part(f"{DISTRICTS[district]}.{PLOTS[plot]}", drawn)


def _kinds(tiles: list[int]) -> list[int]:
    """The types of some businesses, each as often as it is there."""
    return [kind for kind in range(NUM_BUSINESSES) for _ in range(tiles[kind])]


def _plot_words(shown: Any, plot: int, agents: Names) -> str:
    """What is on a plot, in words."""
    if tiles := [BUSINESSES[kind] for kind in _kinds(shown.tiles)]:
        return listed(tiles)
    if plot == SIXTH:
        return "empty"
    worth = f"a skyscraper scores {shown.value} VP here"
    if shown.owner == NONE:
        return f"empty; {worth}"
    return f"{counted(shown.floors, 'skyscraper')} of {seat_name(shown.owner, agents)}; {worth}"


def _on_plot(theme: Theme, shown: Any, plot: int, angle: float, step: float) -> str:
    """Businesses side by side along the ring, or skyscrapers; and what a skyscraper scores
    there.
    """
    tiles = _kinds(shown.tiles)
    x, y = _polar(angle, _MIDDLE)
    if tiles:
        dx, dy = (15.5 * math.cos(angle), 15.5 * math.sin(angle)) if len(tiles) > 1 else (0.0, 0.0)
        spots = [(x - dx, y - dy), (x + dx, y + dy)]
        return "".join(
            at(*spot, shapes.business(theme, kind, 14), **piece(f"business-{kind}"))
            for spot, kind in zip(spots, tiles, strict=False)
        )
    if plot == SIXTH:
        return ""
    coin = at(
        *_polar(angle + step / 2 - 0.17, _RIM - 12.5), shapes.coin(theme, str(shown.value), 10)
    )
    owner, floors = shown.owner, shown.floors
    if owner == NONE:
        return coin
    side = (
        -1 if math.sin(angle) > 0.8 else 1
    )  # on the right the sign stands on the left, as the coin needs its place
    house = at(
        x - 8.5 * side,
        y + 21,
        shapes.tower(theme, owner, floors, 25, 44, 10.5),
        **piece(f"tower-{owner}", floors),
    )
    above, below = (
        (4.0, 23.0) if side > 0 and floors > 1 else (14.0, 2.0)
    )  # sign and count change places: one is beside the coin
    sign = at(x + 14 * side, y + above, shapes.emblem(theme, owner, 7.5))
    return house + coin + sign + _count(theme, x + 15 * side, y + below, floors)


def _count(theme: Theme, x: float, y: float, number_of: int) -> str:
    """How many there are, unless there is one alone."""
    if number_of < 2:
        return ""
    label = partial(words, x, y, f"×{number_of}", shapes.SMALL, middle=True, bold=True)
    halo = label(fill="none", stroke=theme.paper, stroke_width=3.2, stroke_linejoin="round")
    return halo + label(fill=theme.ink)


def _stop_sign(theme: Theme, district: int) -> str:
    """STOP-4: a barrier, and the district's name."""
    sign = rectangle(
        -60, -46, 120, 98, 10, fill=theme.panel, stroke=theme.block_edge, stroke_width=1.4
    )
    lines = (
        (-25, DISTRICTS[district], 20, theme.ink),
        (30, "BUILDING", shapes.SMALL, theme.faint),
        (46, "STOP", shapes.SMALL, theme.faint),
    )
    texts = "".join(
        words(0, y, text, size, middle=True, bold=True, fill=fill) for y, text, size, fill in lines
    )
    return sign + at(0, -4, shapes.barrier(theme, 100)) + texts


# ---- commissioners and markers ----


_Visitors = tuple[tuple[bool, bool, Marks, Marks], ...]
"""Of each commissioner whether it is at a place, whether its marker is, its own moves, and the move
that leads it there.
"""


def _visitors_key(
    scene: Scene, place: int, places: list[int], visited: list[list[int]]
) -> _Visitors:
    """Who is at a place, and who may come."""
    shown = []
    for which in range(NUM_COMMISSIONERS):
        is_here = places[which] == place
        moves = range(MOVE + NUM_PLACES * which, MOVE + NUM_PLACES * (which + 1))
        own = scene.marks(*moves) if is_here else ()
        shown.append(
            (is_here, place in visited[which], own, () if is_here else scene.marks(moves[place]))
        )
    return tuple(shown)


def _is_visited(shown: _Visitors) -> bool:
    """Whether the middle of a place is taken: by commissioners, markers, or those who may come."""
    return any(is_here or is_marked or comes for is_here, is_marked, _, comes in shown)


@remembered(2048)
def _visitors(theme: Theme, place: int, shown: _Visitors, scale: float, down: float) -> Part:
    """Commissioners, their markers, and where they may go, in the middle of a place."""
    pieces, ghosts = [], []
    for which, (is_here, is_marked, own, comes) in enumerate(shown):
        x, foot = (2 * which - 1) * 13.0 * scale, 23 * scale
        name = COMMISSIONERS[which]
        if is_here:
            pieces.append(
                at(
                    x,
                    foot,
                    _commissioner(theme, which, place, own),
                    scale=scale,
                    **piece(f"commissioner-{which}"),
                )
            )
        elif is_marked:
            what = f"marker of the {name} commissioner"
            pieces.append(
                at(x, 11, title(what), shapes.marker(theme, which, 9), **piece(f"marker-{which}"))
            )
        if comes != ():
            what = f"move the {name} commissioner to {PLACE_NAMES[place]}"
            ghost = at(x, foot, _ghost(theme, which), scale=scale)
            ghosts.append(
                thing(
                    [MOVE + NUM_PLACES * which + place],
                    comes,
                    what,
                    ghost if comes else hidden(ghost, "glow"),
                    place=f"{which}:{place}",
                )
            )
            if comes:
                pieces.append(ghosts.pop())
    if ghosts and place < NUM_DISTRICTS and not _is_visited(shown):
        pieces.append(
            hidden(_hub(theme, place, True), "cover")
        )  # the name makes room while somebody may come
    drawn = "".join([*pieces, *ghosts])
    return Part(f"{PLACES[place]}.visitors", at(0, down, drawn) if down and drawn else drawn)


def _commissioner(theme: Theme, which: int, place: int, marks: Marks) -> str:
    """A figure; it glows if it may be moved."""
    ring = element("ellipse", cx=0, cy=-1, rx=12, ry=4.5)
    what = f"the {COMMISSIONERS[which]} commissioner, in {PLACE_NAMES[place]}"
    moves = range(MOVE + NUM_PLACES * which, MOVE + NUM_PLACES * (which + 1))
    figure = shapes.commissioner(theme, which)
    return thing(moves, marks, what, glow(theme, marks, ring), figure, commissioner=which)


def _ghost(theme: Theme, which: int) -> str:
    """Where a commissioner may go: its figure, dashed, on a bright spot."""
    spot = element("ellipse", cx=0, cy=-12, rx=13, ry=19, fill=theme.legal, fill_opacity=0.16)
    return spot + shapes.commissioner(theme, which, ghost=True)


# ---- City Hall ----


def _strip(upright: bool, place: int, breadth: float) -> tuple[float, float, float, float]:
    """The box of City Hall or Central Park: x, y, width, height."""
    x, y = _centre(upright, place)
    length = BREADTH - 2 * _PAD
    width, height = (length, breadth) if upright else (breadth, length)
    return x - width / 2, y - height / 2, width, height


@remembered(8)
def _city_hall(theme: Theme, upright: bool) -> Part:
    """SET-6: the building, the commissioners that are here, and the markers that aren't on the
    board.
    """
    ground = rectangle(
        *_strip(upright, CITY_HALL, _HALL),
        12,
        fill=theme.block,
        stroke=theme.block_edge,
        stroke_width=1.4,
    )
    spots = (
        [(-205.0, 2.0), (-20.0, 0.0), (195.0, 0.0)]
        if upright
        else [(0.0, -215.0), (0.0, -20.0), (0.0, 180.0)]
    )
    x, y = _centre(upright, CITY_HALL)
    house, plaza, tray = [(x + dx, y + dy) for dx, dy in spots]
    lines, size = (("CITY HALL",), 14) if upright else (("CITY", "HALL"), shapes.SMALL)
    name = [
        words(0, 32 + 16 * i, line, size, middle=True, bold=True, fill=theme.ink)
        for i, line in enumerate(lines)
    ]
    parts = [ground, at(*house, _facade(theme), *name)]
    wide, high = (86, 40) if upright else (40, 62)
    paving = {
        "fill": theme.street,
        "stroke": theme.block_edge,
        "stroke_width": 1,
        "stroke_dasharray": "4 3",
    }
    parts.append(element("ellipse", cx=plaza[0], cy=plaza[1], rx=wide, ry=high, **paving))
    parts += [at(*plaza, slot(f"{PLACES[CITY_HALL]}.visitors")), at(*tray, slot("markers"))]
    return Part(
        PLACES[CITY_HALL],
        group(title("City Hall, where commissioners return to start auctions"), *parts),
    )


@remembered(64)
def _marker_tray(theme: Theme, upright: bool, shown: bytes) -> Part:
    """The markers that aren't on the board: places for three of each commissioner's; `shown`: of
    ``_TRAY``.
    """
    away = _TRAY.numbers(shown).markers
    pieces = [
        words(
            0,
            -29 if upright else -42,
            "markers",
            _small(upright),
            middle=True,
            bold=True,
            fill=theme.faint,
        )
    ]
    for which in range(NUM_COMMISSIONERS):
        left = MARKERS - away[which]
        for i in range(MARKERS):
            along, across = (i - 1) * 25.0, (2 * which - 1) * 14.0
            x, y = (along, across) if upright else (across, along)
            if i < left:
                pieces.append(at(x, y, shapes.marker(theme, which, 9), **piece(f"marker-{which}")))
            else:
                pieces.append(
                    circle(x, y, 6, fill="none", stroke=theme.block_edge, stroke_dasharray="2 2")
                )
    return Part("markers", group(*pieces))


def _facade(theme: Theme) -> str:
    """A building with columns, a dome and a flag, 66 wide, about the origin."""
    style = {
        "fill": theme.tile,
        "stroke": theme.suit_ink,
        "stroke_width": 1.1,
        "stroke_linejoin": "round",
    }
    dome = path("M-11-26A11 11 0 0 1 11-26Z", **{**style, "fill": theme.seats[3]})
    flag = path("M0-37V-48", stroke=theme.suit_ink, stroke_width=1.2) + path(
        "M0-48h11l-3 3 3 3h-11Z", fill=theme.seats[0]
    )
    drum = rectangle(-12, -26, 24, 8, **style)
    gable = path("M-33-6L0-19L33-6Z", **style)
    hall = rectangle(-31, -6, 62, 16, **style)
    pillars = path(
        "".join(f"M{x}-4V9" for x in (-25, -15, -5, 5, 15, 25)), stroke="#b9a47c", stroke_width=4
    )
    steps = rectangle(-34, 10, 68, 4, **style)
    trees = circle(-39, 4, 6, fill=theme.tree) + circle(39, 4, 6, fill=theme.tree)
    return trees + flag + dome + drum + hall + pillars + gable + steps


# ---- Central Park ----


@remembered(8)
def _park(theme: Theme, upright: bool, is_auctioned: bool) -> Part:
    """The park with its visitors, and below it the park area: skyscrapers of all seats and the
    tiles (AUC-12, BUS-3).
    """
    box = _strip(upright, CENTRAL_PARK, _PARK)
    edge = {
        "stroke": theme.gold if is_auctioned else theme.tree,
        "stroke_width": 5 if is_auctioned else 1.4,
    }
    ground = rectangle(*box, 12, fill=theme.grass, **edge)
    x, y = _centre(upright, CENTRAL_PARK)
    spots = (
        [(-235.0, 0.0), (-118.0, 0.0), (116.0, 0.0)]
        if upright
        else [(0.0, -215.0), (0.0, -100.0), (0.0, 118.0)]
    )
    garden, visitors, area = [(x + dx, y + dy) for dx, dy in spots]
    name = PLACES[CENTRAL_PARK]
    parts = [
        ground,
        at(*garden, _garden(theme)),
        at(*visitors, slot(f"{name}.visitors")),
        at(*area, slot("park area")),
    ]
    if is_auctioned:
        parts.append(at(box[0] + 17, box[1] + 15, shapes.gavel(theme)))
    what = "Central Park, and the park area under auction" if is_auctioned else "Central Park"
    return Part(name, group(title(what), *parts))


def _garden(theme: Theme) -> str:
    """Trees and a pond below the name."""
    name = "".join(
        words(0, y, text, shapes.SMALL, middle=True, bold=True, fill=theme.ink)
        for y, text in ((-39, "CENTRAL"), (-23, "PARK"))
    )
    pond = element(
        "ellipse", cx=2, cy=20, rx=38, ry=20, fill=theme.water, stroke=theme.tree, stroke_width=1
    )
    boat = path(
        "M-9 0H9Q7 5 0 5Q-7 5-9 0ZM0-1V-13L8-3Z",
        fill=theme.tile,
        stroke=theme.suit_ink,
        stroke_width=0.8,
    )
    spots = ((-42, -12, 8), (41, -10, 9), (-30, -6, 6), (43, 40, 8), (-43, 36, 9), (-30, 43, 6))
    trunks = path("".join(f"M{x} {y}v8" for x, y, _ in spots), stroke="#7a5a34", stroke_width=2.2)
    trees = "".join(circle(x, y - r * 0.4, r, fill=theme.tree) for x, y, r in spots)
    return pond + at(0, 20, boat) + trunks + trees + name


@remembered(256)
def _park_area(theme: Theme, upright: bool, shown: bytes, agents: _Names) -> Part:
    """Skyscrapers and business tiles below the park; `shown`: of ``_PARK_AREA``."""
    game = _PARK_AREA.numbers(shown)
    width, height = (322.0, 100.0) if upright else (102.0, 322.0)
    lawn = rectangle(-width / 2, -height / 2, width, height, 9, fill=theme.panel, fill_opacity=0.8)
    head = words(
        0, -height / 2 + 16, "PARK AREA", _small(upright), middle=True, bold=True, fill=theme.faint
    )
    owners, kinds = range(game.num_players), range(NUM_BUSINESSES)
    if upright:
        houses = [(-136.0 + 46 * owner, 24.0) for owner in owners]
        tiles = [(64.0 + 46 * (kind % 2) + 14, -12.0 + 40 * (kind // 2)) for kind in kinds]
    else:
        houses = [(-26.0 + 48 * (owner % 2), -52.0 + 86 * (owner // 2)) for owner in owners]
        tiles = [(-26.0 + 48 * (kind % 2), 86.0 + 42 * (kind // 2)) for kind in kinds]
    parts = [
        at(*spot, _park_houses(theme, owner, game.park[owner], agents))
        for owner, spot in zip(owners, houses, strict=True)
    ]
    parts += [
        at(*spot, _park_tiles(theme, kind, game.park_tiles[kind]))
        for kind, spot in zip(kinds, tiles, strict=True)
    ]
    return Part("park area", lawn + head + "".join(parts))


def _small(upright: bool) -> float:
    """The smallest text of the board, whose units are larger upright."""
    return 13.0 if upright else shapes.SMALL


def _park_houses(theme: Theme, owner: int, floors: int, agents: Names) -> str:
    """The skyscrapers of a seat, its sign below them."""
    what = f"{counted(floors, 'skyscraper')} of {seat_name(owner, agents)} in the park area"
    sign = at(0, 13, shapes.emblem(theme, owner, 8))
    if not floors:
        base = path("M-12 0H12", stroke=theme.block_edge, stroke_width=1.4, stroke_dasharray="3 3")
        return group(title(what), base, group(sign, opacity=0.45))
    house = at(
        0, 0, shapes.tower(theme, owner, floors, 23, 50, 10), **piece(f"tower-{owner}", floors)
    )
    return group(title(what), house, sign, _count(theme, 20, 18, floors))


def _park_tiles(theme: Theme, kind: int, tiles: int) -> str:
    """The business tiles of one type."""
    is_there = piece(f"business-{kind}", tiles) if tiles else {"opacity": 0.25}
    picture = group(shapes.business(theme, kind, 13), **is_there)
    return group(
        title(f"{counted(tiles, BUSINESSES[kind])} in the park area"),
        picture,
        _count(theme, 16, 15, tiles),
    )


# ---- what is printed in the corners, to help ----


def _aids(theme: Theme, upright: bool) -> str:
    """The businesses, what a skyscraper scores, what a card allows, and the shapes of the
    colours.
    """
    corners = []
    first, last = _centre(upright, 0), _centre(upright, 6)
    across = (BREADTH - 2 * BLOCK - _ACROSS) / 4 + _PAD / 2
    for along, aid in ((first, (_businesses_aid, _score_aid)), (last, (_limit_aid, _suits_aid))):
        for spot, draw in zip((across, BREADTH - across), aid, strict=True):
            x, y = (spot, along[1]) if upright else (along[0], spot)
            corners.append(at(x, y, draw(theme, upright)))
    return "".join(corners)


def _cells(upright: bool, number_of: int) -> list[Point]:
    """The middles of some cells in a corner of the board, which lies or stands."""
    if upright:
        return [(-22.0, (i - (number_of - 1) / 2) * 150 / number_of + 10) for i in range(number_of)]
    return [((i - (number_of - 1) / 2) * 172 / number_of, 8.0) for i in range(number_of)]


def _caption(theme: Theme, upright: bool, *lines: str) -> str:
    """What a corner tells, above its cells."""
    last, size = -74 if upright else -28, _small(upright)
    ys = [last - 14 * (len(lines) - 1 - i) for i in range(len(lines))]
    return "".join(
        words(0, y, line, size, middle=True, fill=theme.faint, bold=True)
        for y, line in zip(ys, lines, strict=True)
    )


def _label(theme: Theme, upright: bool, x: float, y: float, text: str) -> str:
    """What a cell means: beside it or below it."""
    if upright:
        return words(x + 16, y + 2, text, _small(upright), fill=theme.faint)
    return words(x, y + 26, text, _small(upright), middle=True, fill=theme.faint)


_BESIDE: Final = 5.0
"""Between a sign and its name."""
_APART: Final = 10.0
"""Between columns of signs with their names."""


def _named(theme: Theme, upright: bool, signs: Sequence[tuple[str, str]], r: float) -> str:
    """Signs, each at most r about its middle, with their names beside them: in one column upright,
    else in two.

    Every column is as wide as its longest name, and all of them stand in the middle of the corner.
    """
    columns, size = 1 if upright else 2, _small(upright)
    widths = [
        2 * r + _BESIDE + max(width_of(name, size) for _, name in signs[i::columns])
        for i in range(columns)
    ]
    x = -(sum(widths) + _APART * (columns - 1)) / 2 + r
    xs = [x + sum(widths[:i]) + _APART * i for i in range(columns)]
    rows = -(-len(signs) // columns)
    ys = (
        [y - 2 for _, y in _cells(upright, rows)]
        if upright
        else [11 + 66 / rows * (i - (rows - 1) / 2) for i in range(rows)]
    )
    parts = []
    for i, (sign, name) in enumerate(signs):
        label = words(r + _BESIDE, 5, name, size, fill=theme.faint)
        parts.append(at(xs[i % columns], ys[i // columns], sign, label))
    return "".join(parts)


def _businesses_aid(theme: Theme, upright: bool) -> str:
    signs = [(shapes.business(theme, kind, 10), BUSINESSES[kind]) for kind in range(NUM_BUSINESSES)]
    return _caption(theme, upright, "businesses") + _named(theme, upright, signs, 10.6)


def _score_aid(theme: Theme, upright: bool) -> str:
    cells = []
    for types, (x, y) in enumerate(_cells(upright, len(PLOT_VALUE))):
        cells.append(at(x, y - 3, shapes.coin(theme, str(PLOT_VALUE[types]), 10)))
        cells.append(
            _label(theme, upright, x, y, counted(types, "type") if upright else str(types))
        )
    what = ("VP by types", "next to it") if upright else ("VP by types next to it",)
    return _caption(theme, upright, *what) + "".join(cells)


def _limit_aid(theme: Theme, upright: bool) -> str:
    cells = []
    for rank, (x, y) in enumerate(_cells(upright, NUM_RANKS)):
        x += 24 if upright else 0
        paper = rectangle(
            x - 20, y - 12, 17, 23, 3, fill=theme.card, stroke=theme.ink, stroke_width=1
        )
        value = words(
            x - 11.5, y + 5, str(rank + 4), shapes.SMALL, middle=True, bold=True, fill=theme.ink
        )
        house = at(x + 12, y + 12, shapes.tower(theme, ALEA, int(BUILD_LIMIT[rank]), 13, 24))
        what = f"{rank + 4} as the highest card: {counted(int(BUILD_LIMIT[rank]), 'skyscraper')}"
        cells.append(group(title(what), paper, value, house))
    return _caption(theme, upright, "highest card" if upright else "card: skyscrapers") + "".join(
        cells
    )


def _suits_aid(theme: Theme, upright: bool) -> str:
    signs = [(shapes.suit(theme, colour, 7), COLOURS[colour]) for colour in range(NUM_COLOURS)]
    return _caption(theme, upright, "colours") + _named(theme, upright, signs, 8.4)
