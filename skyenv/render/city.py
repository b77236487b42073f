"""The board: City Hall, seven districts with their rings of plots, Central Park, and the streets between them (COM-4, COM-5)."""

from __future__ import annotations

import math
from typing import Final

from skyenv.render import shapes
from skyenv.render.marks import at, circle, element, group, number, path, rectangle, title, words
from skyenv.render.scene import Scene, is_legal, thing
from skyenv.render.words import LONG_NAMES, PLACE_NAMES, card_name, counted, listed, plot_name, seat_name
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
    PLOT_VALUE,
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


def size(upright: bool) -> Point:
    """Width and height of the board; upright it leads from top to bottom."""
    return (BREADTH, LENGTH) if upright else (LENGTH, BREADTH)


def _turned(scene: Scene, along: float, across: float) -> Point:
    """A point by its way from City Hall and across, as x and y."""
    return (across, along) if scene.upright else (along, across)


def _centre(scene: Scene, place: int) -> Point:
    """The middle of a place."""
    if place == CITY_HALL:
        return _turned(scene, _PAD + _HALL / 2, BREADTH / 2)
    if place == CENTRAL_PARK:
        return _turned(scene, LENGTH - _PAD - _PARK / 2, BREADTH / 2)
    for i, column in enumerate(_COLUMNS):
        if place in column:
            along = _PAD + _HALL + _GAP + BLOCK / 2 + i * (BLOCK + _ALONG)
            across = BREADTH / 2 + (column.index(place) - (len(column) - 1) / 2) * (BLOCK + _ACROSS)
            return _turned(scene, along, across)
    raise AssertionError(f"{place} is no place")


def board(scene: Scene) -> str:
    """The whole board, its corner at the origin."""
    theme = scene.theme
    width, height = size(scene.upright)
    ground = rectangle(0, 0, width, height, 16, fill=theme.board, stroke=theme.block_edge, stroke_width=1.5)
    districts = [at(*_centre(scene, district), _district(scene, district)) for district in range(NUM_DISTRICTS)]
    return "".join([ground, _streets(scene), _aids(scene), *districts, _city_hall(scene), _park(scene)])


# ---- streets ----


def _streets(scene: Scene) -> str:
    """COM-5: roads with arrows that show where they lead."""
    theme, roads, arrows = scene.theme, [], []
    for start, targets in enumerate(STREETS):
        for target in targets:
            if target == CITY_HALL:
                continue
            (x0, y0), (x1, y1) = _ends(scene, start, target)
            roads.append(f"M{number(x0)} {number(y0)}L{number(x1)} {number(y1)}")
            arrows.append(_arrow(scene, start, target))
    way = "".join(roads)
    road = path(way, stroke=theme.street, stroke_width=26, stroke_linecap="round", fill="none")
    lane = path(way, stroke=theme.lane, stroke_width=1.4, stroke_dasharray="6 5", fill="none")
    heads = path(
        "".join(arrows), stroke=theme.ink, stroke_width=3.2, fill="none", stroke_linecap="round", stroke_linejoin="round"
    )
    return road + lane + heads


def _ends(scene: Scene, start: int, target: int) -> tuple[Point, Point]:
    """Where a street begins and ends; those of City Hall and Central Park run straight."""
    first, last = _centre(scene, start), _centre(scene, target)
    axis = 0 if scene.upright else 1
    if start == CITY_HALL:
        first = (last[0], first[1]) if axis == 0 else (first[0], last[1])
    if target == CENTRAL_PARK:
        last = (first[0], last[1]) if axis == 0 else (last[0], first[1])
    return first, last


def _arrow(scene: Scene, start: int, target: int) -> str:
    """A chevron in the gap that a street crosses."""
    (x0, y0), (x1, y1) = _ends(scene, start, target)
    along = _PAD + _HALL + _GAP / 2
    if start != CITY_HALL:
        column = next(i for i, column in enumerate(_COLUMNS) if start in column)
        along = _PAD + _HALL + _GAP + (column + 1) * (BLOCK + _ALONG) - _ALONG / 2
        along -= (_ALONG - _GAP) / 2 if target == CENTRAL_PARK else 0
    part = (along - y0) / (y1 - y0) if scene.upright else (along - x0) / (x1 - x0)
    x, y = x0 + (x1 - x0) * part, y0 + (y1 - y0) * part
    length = math.hypot(x1 - x0, y1 - y0)
    dx, dy = (x1 - x0) / length * 4.5, (y1 - y0) / length * 4.5
    left, tip, right = (x - dx - dy, y - dy + dx), (x + dx, y + dy), (x - dx + dy, y - dy - dx)
    return "M" + "L".join(f"{number(a)} {number(b)}" for a, b in (left, tip, right))


# ---- a district ----


def _district(scene: Scene, district: int) -> str:
    """A block, the ring of its plots about its name, and who is there; centred on the origin."""
    theme, game = scene.theme, scene.game
    stopped, auction = bool(game.stopped[district]), game.auction_place == district
    half = BLOCK / 2
    ground = rectangle(
        -half,
        -half,
        BLOCK,
        BLOCK,
        14,
        fill=theme.stopped if stopped else theme.block,
        stroke=theme.gold if auction else theme.block_edge,
        stroke_width=4 if auction else 1.4,
    )
    glow = _glow(scene, rectangle(-half, -half, BLOCK, BLOCK, 14), OPTION_D + district)
    ring = [plot for plot in game.ring[district] if plot != NONE]
    plots = [_plot(scene, district, position, len(ring)) for position in _back_to_front(len(ring))]
    hammer = at(-half + 17, -half + 15, shapes.gavel(theme)) if auction else ""
    middle = _stop_sign(scene) if stopped else ""
    what = _district_words(scene, district)
    return thing(
        scene,
        [OPTION_D + district],
        what,
        ground,
        glow,
        _hub(scene, district),
        *plots,
        middle,
        hammer,
        _visitors(scene, district),
        district=district,
    )


def _back_to_front(plots: int) -> list[int]:
    """Positions of a ring from the top down, as what stands in front hides what is behind."""
    return sorted(range(plots), key=lambda position: round(-math.cos(2 * math.pi * position / plots), 6))


def _district_words(scene: Scene, district: int) -> str:
    game = scene.game
    name = f"{DISTRICTS[district]}, {LONG_NAMES[district]}"
    if game.stopped[district]:
        return f"{name}: building stop"
    return f"{name}: under auction" if game.auction_place == district else name


def _hub(scene: Scene, district: int) -> str:
    """The name in the middle of the ring."""
    theme = scene.theme
    disc = circle(0, 0, _HUB - 2, fill=theme.panel, stroke=theme.block_edge, stroke_width=1)
    return disc + words(0, -14, DISTRICTS[district], 16, middle=True, bold=True, fill=theme.ink)


def _glow(scene: Scene, outline: str, *actions: int) -> str:
    """The outline of something that may be chosen, drawn as a glow."""
    if not is_legal(scene, *actions):
        return ""
    colour = scene.theme.legal
    wide = group(outline, fill="none", stroke=colour, stroke_width=7, stroke_opacity=0.3)
    return wide + group(outline, fill="none", stroke=colour, stroke_width=2.4)


def _polar(angle: float, radius: float) -> Point:
    return radius * math.sin(angle), -radius * math.cos(angle)


def _wedge(position: int, plots: int) -> str:
    """The outline of a plot: a part of the ring, with a little space to its neighbours."""
    step = 2 * math.pi / plots
    low, high = (position - 0.5) * step, (position + 0.5) * step
    outer, inner = 2.0 / _RIM, 2.0 / _HUB
    points = [_polar(low + outer, _RIM), _polar(high - outer, _RIM), _polar(high - inner, _HUB), _polar(low + inner, _HUB)]
    a, b, c, d = (f"{number(x)} {number(y)}" for x, y in points)
    return f"M{a}A{number(_RIM)} {number(_RIM)} 0 0 1 {b}L{c}A{number(_HUB)} {number(_HUB)} 0 0 0 {d}Z"


def _plot(scene: Scene, district: int, position: int, plots: int) -> str:
    """A plot with its colour, its shape, and what is on it."""
    theme, game = scene.theme, scene.game
    plot = game.ring[district][position]
    step, angle = 2 * math.pi / plots, 2 * math.pi * position / plots
    stopped = game.stopped[district]
    outline = path(_wedge(position, plots))
    fill = group(outline, fill=theme.plots[plot], stroke=theme.suit_ink, stroke_width=1, fill_opacity=0.28 if stopped else None)
    corner = at(*_polar(angle - step * 0.36, _RIM - 10), shapes.suit(theme, plot, 4.8)) if plot < NUM_COLOURS else ""
    action = PLOT + NUM_PLOTS * district + plot
    return thing(
        scene,
        [action],
        _plot_words(scene, district, plot),
        fill,
        "" if stopped else corner,
        _glow(scene, outline, action),
        _on_plot(scene, district, plot, angle, step),
        plot=f"{district}:{plot}",
    )


def _plot_words(scene: Scene, district: int, plot: int) -> str:
    game = scene.game
    name = plot_name(district, plot)
    if game.stopped[district]:
        return f"{name}: building stop"
    tiles = [BUSINESSES[kind] for kind in range(NUM_BUSINESSES) for _ in range(game.tiles[district][plot][kind])]
    if tiles:
        return f"{name}: {listed(tiles)}"
    if plot == SIXTH:
        return f"{name}: empty"
    worth = f"a skyscraper scores {game.value[district][plot]} VP here"
    owner = game.owner[district][plot]
    if owner == NONE:
        return f"{name}: empty; {worth}"
    return f"{name}: {counted(game.floors[district][plot], 'skyscraper')} of {seat_name(owner, scene.agents)}; {worth}"


def _on_plot(scene: Scene, district: int, plot: int, angle: float, step: float) -> str:
    """Businesses side by side along the ring, or skyscrapers; and what a skyscraper scores there."""
    theme, game = scene.theme, scene.game
    tiles = [kind for kind in range(NUM_BUSINESSES) for _ in range(game.tiles[district][plot][kind])]
    x, y = _polar(angle, _MIDDLE)
    if tiles:
        dx, dy = (15.5 * math.cos(angle), 15.5 * math.sin(angle)) if len(tiles) > 1 else (0.0, 0.0)
        spots = [(x - dx, y - dy), (x + dx, y + dy)]
        return "".join(at(*spot, shapes.business(theme, kind, 13.5)) for spot, kind in zip(spots, tiles, strict=False))
    if plot == SIXTH or game.stopped[district]:
        return ""
    coin = at(*_polar(angle + step * 0.34, _RIM - 11.5), shapes.coin(theme, str(game.value[district][plot]), 7.6))
    owner, floors = game.owner[district][plot], game.floors[district][plot]
    if owner == NONE:
        return group(coin, opacity=0.85)
    house = at(x - 8, y + 19, shapes.tower(theme, owner, floors, 19, 30))
    return coin + house + at(x + 15, y + 9, shapes.emblem(theme, owner, 7.5)) + _count(scene, x + 15, y - 4, floors)


def _count(scene: Scene, x: float, y: float, floors: int) -> str:
    """How many skyscrapers there are."""
    style = {"middle": True, "bold": True}
    halo = words(x, y, f"×{floors}", 13, **style, fill="none", stroke=scene.theme.paper, stroke_width=3, stroke_linejoin="round")
    return halo + words(x, y, f"×{floors}", 13, **style, fill=scene.theme.ink)


def _stop_sign(scene: Scene) -> str:
    theme = scene.theme
    sign = rectangle(-62, -30, 124, 78, 8, fill=theme.panel, stroke=theme.block_edge, stroke_width=1.2, fill_opacity=0.92)
    first = words(0, 32, "BUILDING", 14, middle=True, bold=True, fill=theme.ink)
    return at(
        0,
        4,
        sign,
        at(0, -10, shapes.barrier(theme, 100)),
        first,
        words(0, 45, "STOP", 14, middle=True, bold=True, fill=theme.ink),
    )


# ---- commissioners and markers ----


def _visitors(scene: Scene, place: int) -> str:
    """Commissioners, their markers, and where they may go, in the middle of a place."""
    found = []
    for which in range(NUM_COMMISSIONERS):
        x = (2 * which - 1) * 14.0
        name = COMMISSIONERS[which]
        if scene.game.place[which] == place:
            found.append(at(x, 24, _commissioner(scene, which)))
        elif place in scene.game.visited[which]:
            found.append(at(x, 9, title(f"marker of the {name} commissioner"), shapes.marker(scene.theme, which, 8)))
        action = MOVE + NUM_PLACES * which + place
        if is_legal(scene, action) and scene.game.place[which] != place:
            what = f"move the {name} commissioner to {PLACE_NAMES[place]}"
            found.append(thing(scene, [action], what, at(x, 24, _ghost(scene, which)), place=f"{which}:{place}"))
    return "".join(found)


def _commissioner(scene: Scene, which: int) -> str:
    """A figure; it glows if it may be moved."""
    moves = [MOVE + NUM_PLACES * which + place for place in range(NUM_PLACES)]
    ring = element("ellipse", cx=0, cy=-1, rx=12, ry=4.5)
    figure = shapes.commissioner(scene.theme, which)
    what = f"the {COMMISSIONERS[which]} commissioner, in {PLACE_NAMES[scene.game.place[which]]}"
    return thing(scene, moves, what, _glow(scene, ring, *moves), figure, commissioner=which)


def _ghost(scene: Scene, which: int) -> str:
    """Where a commissioner may go: its figure, dashed, on a bright spot."""
    spot = element("ellipse", cx=0, cy=-12, rx=13, ry=19, fill=scene.theme.legal, fill_opacity=0.16)
    return spot + shapes.commissioner(scene.theme, which, ghost=True)


# ---- City Hall ----


def _strip(scene: Scene, place: int, breadth: float) -> tuple[float, float, float, float]:
    """The box of City Hall or Central Park: x, y, width, height."""
    x, y = _centre(scene, place)
    length = BREADTH - 2 * _PAD
    width, height = (length, breadth) if scene.upright else (breadth, length)
    return x - width / 2, y - height / 2, width, height


def _along(scene: Scene, place: int, offset: float) -> Point:
    """A point on the middle line of City Hall or Central Park, `offset` from its middle."""
    x, y = _centre(scene, place)
    return (x + offset, y) if scene.upright else (x, y + offset)


def _city_hall(scene: Scene) -> str:
    """SET-6: the building, the commissioners that are here, and the markers that aren't on the board."""
    theme, game = scene.theme, scene.game
    ground = rectangle(*_strip(scene, CITY_HALL, _HALL), 12, fill=theme.block, stroke=theme.block_edge, stroke_width=1.4)
    x, y = _along(scene, CITY_HALL, -190 if scene.upright else -180)
    name = words(x, y + 30, "CITY HALL", 14, middle=True, bold=True, fill=theme.ink)
    visitors = at(*_along(scene, CITY_HALL, 0), _visitors(scene, CITY_HALL))
    markers = []
    for which in range(NUM_COMMISSIONERS):
        left = MARKERS - game.markers[which]
        for i in range(left):
            mx, my = _along(scene, CITY_HALL, 165)
            spot = at(mx + (2 * which - 1) * 15, my + 20 * (i - 1), shapes.marker(theme, which, 7.5))
            markers.append(spot)
    what = "City Hall, where commissioners return to start auctions"
    return group(title(what), ground, at(x, y, _facade(scene)), name, visitors, *markers)


def _facade(scene: Scene) -> str:
    """A building with columns, a dome and a flag, 66 wide, about the origin."""
    theme = scene.theme
    style = {"fill": theme.tile, "stroke": theme.suit_ink, "stroke_width": 1.1, "stroke_linejoin": "round"}
    dome = path("M-11-26A11 11 0 0 1 11-26Z", **{**style, "fill": theme.seats[3]})
    flag = path("M0-37V-48", stroke=theme.suit_ink, stroke_width=1.2) + path("M0-48h11l-3 3 3 3h-11Z", fill=theme.seats[0])
    drum = rectangle(-12, -26, 24, 8, **style)
    gable = path("M-33-6L0-19L33-6Z", **style)
    hall = rectangle(-31, -6, 62, 16, **style)
    pillars = path("".join(f"M{x}-4V9" for x in (-25, -15, -5, 5, 15, 25)), stroke=theme.block_edge, stroke_width=4)
    steps = rectangle(-34, 10, 68, 4, **style)
    return flag + dome + drum + hall + pillars + gable + steps


# ---- Central Park ----


def _park(scene: Scene) -> str:
    """The park with its visitors, and below it the park area: skyscrapers of all seats and the tiles (AUC-12, BUS-3)."""
    theme, game = scene.theme, scene.game
    auction = game.auction_place == CENTRAL_PARK
    box = _strip(scene, CENTRAL_PARK, _PARK)
    edge = {"stroke": theme.gold if auction else theme.tree, "stroke_width": 4 if auction else 1.4}
    ground = rectangle(*box, 12, fill=theme.grass, **edge)
    x, y = _along(scene, CENTRAL_PARK, -212)
    name = words(x, y - 42, "CENTRAL", 13, middle=True, bold=True, fill=theme.ink) + words(
        x, y - 28, "PARK", 13, middle=True, bold=True, fill=theme.ink
    )
    hammer = at(box[0] + 16, box[1] + 14, shapes.gavel(theme)) if auction else ""
    visitors = at(*_along(scene, CENTRAL_PARK, -112), _visitors(scene, CENTRAL_PARK))
    what = "Central Park, and the park area under auction" if auction else "Central Park"
    return group(title(what), ground, _garden(scene, x, y), name, hammer, visitors, _park_area(scene))


def _garden(scene: Scene, x: float, y: float) -> str:
    """Trees and a pond."""
    theme = scene.theme
    pond = element("ellipse", cx=x + 4, cy=y + 22, rx=38, ry=20, fill=theme.water, stroke=theme.tree, stroke_width=1)
    boat = path("M-9 0H9Q7 5 0 5Q-7 5-9 0ZM0-1V-13L8-3Z", fill=theme.tile, stroke=theme.suit_ink, stroke_width=0.8)
    spots = ((-42, -14, 8), (40, -12, 9), (-26, -8, 6), (44, 48, 8), (-44, 46, 9), (-30, 52, 6))
    trees = "".join(
        path("M0 0V8", stroke="#7a5a34", stroke_width=2.2, transform=f"translate({number(x + a)} {number(y + b)})")
        + circle(x + a, y + b - r * 0.4, r, fill=theme.tree)
        for a, b, r in spots
    )
    return pond + at(x + 2, y + 22, boat) + trees


def _park_area(scene: Scene) -> str:
    """Skyscrapers and business tiles below the park, in two columns of cells."""
    theme, game = scene.theme, scene.game
    owners = list(range(scene.players))
    x, y = _along(scene, CENTRAL_PARK, 85)
    width, height = (300.0, 104.0) if scene.upright else (104.0, 316.0)
    lawn = rectangle(
        x - width / 2, y - height / 2 + (0 if scene.upright else 24), width, height, 9, fill=theme.panel, fill_opacity=0.75
    )
    cells = []
    for i, owner in enumerate(owners):
        cx, cy = (x - 120 + 42 * i, y + 30) if scene.upright else (x - 26 + 52 * (i % 2), y - 40 + 74 * (i // 2))
        floors = game.park[owner]
        house = at(cx - 5, cy, shapes.tower(theme, owner, floors, 18, 36)) if floors else ""
        sign = at(cx - 5 if floors else cx, cy + 14, shapes.emblem(theme, owner, 7.5))
        many = _count(scene, cx + 12, cy + 19, floors) if floors else ""
        what = f"{counted(floors, 'skyscraper')} of {seat_name(owner, scene.agents)} in the park area"
        cells.append(group(title(what), house, sign, many))
    for kind in range(NUM_BUSINESSES):
        cx, cy = (
            (x + 68 + 46 * (kind % 2), y - 24 + 44 * (kind // 2))
            if scene.upright
            else (x - 24 + 48 * (kind % 2), y + 118 + 40 * (kind // 2))
        )
        tiles = game.park_tiles[kind]
        tile = group(shapes.business(theme, kind, 12), opacity=None if tiles else 0.3)
        many = _count(scene, cx + 14, cy + 15, tiles) if tiles else ""
        cells.append(group(title(f"{counted(tiles, BUSINESSES[kind])} in the park area"), at(cx, cy, tile), many))
    head = words(x, y - height / 2 + (16 if scene.upright else 40), "PARK AREA", 10.5, middle=True, bold=True, fill=theme.faint)
    return lawn + head + "".join(cells)


# ---- what is printed in the corners, to help ----


def _aids(scene: Scene) -> str:
    """The businesses, what a skyscraper scores, what a card allows, and the shapes of the colours."""
    corners = []
    first, last = _centre(scene, 0), _centre(scene, 6)
    across = (BREADTH - 2 * BLOCK - _ACROSS) / 4 + _PAD / 2
    for along, aid in ((first, (_businesses_aid, _score_aid)), (last, (_limit_aid, _suits_aid))):
        for spot, draw in zip((across, BREADTH - across), aid, strict=True):
            x, y = (spot, along[1]) if scene.upright else (along[0], spot)
            corners.append(at(x, y, draw(scene)))
    return "".join(corners)


def _cells(scene: Scene, number_of: int) -> list[Point]:
    """The middles of some cells in a corner of the board, which lies or stands."""
    if scene.upright:
        return [(0.0, (i - (number_of - 1) / 2) * 150 / number_of + 10) for i in range(number_of)]
    return [((i - (number_of - 1) / 2) * 172 / number_of, 8.0) for i in range(number_of)]


def _caption(scene: Scene, text: str) -> str:
    y = -78 if scene.upright else -28
    return words(0, y, text, 11, middle=True, fill=scene.theme.faint, bold=True)


def _businesses_aid(scene: Scene) -> str:
    cells = []
    for kind, (x, y) in enumerate(_cells(scene, NUM_BUSINESSES)):
        name = words(x, y + 25, BUSINESSES[kind], 10, middle=True, fill=scene.theme.faint)
        cells.append(at(x, y - 2, shapes.business(scene.theme, kind, 11)) + name)
    return _caption(scene, "businesses") + "".join(cells)


def _score_aid(scene: Scene) -> str:
    cells = []
    for types, (x, y) in enumerate(_cells(scene, len(PLOT_VALUE))):
        cells.append(at(x, y - 3, shapes.coin(scene.theme, str(PLOT_VALUE[types]), 10)))
        cells.append(words(x, y + 23, str(types), 11, middle=True, fill=scene.theme.faint))
    what = "VP by types" if scene.upright else "VP by business types next door"
    return _caption(scene, what) + "".join(cells)


def _limit_aid(scene: Scene) -> str:
    cells = []
    for rank, (x, y) in enumerate(_cells(scene, NUM_RANKS)):
        paper = rectangle(x - 20, y - 12, 17, 23, 3, fill=scene.theme.card, stroke=scene.theme.suit_ink, stroke_width=1)
        value = words(x - 11.5, y + 5, str(rank + 4), 13, middle=True, bold=True, fill=scene.theme.ink)
        house = at(x + 12, y + 12, shapes.tower(scene.theme, ALEA, int(BUILD_LIMIT[rank]), 13, 24))
        cells.append(group(title(f"{card_name(5, rank)} as the highest card: {BUILD_LIMIT[rank]}"), paper, value, house))
    return _caption(scene, "highest card" if scene.upright else "highest card: skyscrapers") + "".join(cells)


def _suits_aid(scene: Scene) -> str:
    cells = []
    for colour, (x, y) in enumerate(_cells(scene, NUM_COLOURS)):
        cells.append(at(x, y - 2, shapes.suit(scene.theme, colour, 8)))
        cells.append(words(x, y + 22, COLOURS[colour], 10.5, middle=True, fill=scene.theme.faint))
    return _caption(scene, "colours") + "".join(cells)
