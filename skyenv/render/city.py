"""The board: City Hall, seven districts with their rings of plots, Central Park, and the streets between them (COM-4, COM-5)."""

from __future__ import annotations

import math
from functools import partial
from typing import Final

from skyenv.render import shapes
from skyenv.render.marks import at, circle, element, group, number, path, rectangle, title, words
from skyenv.render.scene import Scene, is_legal, thing
from skyenv.render.words import LONG_NAMES, PLACE_NAMES, counted, listed, plot_name, seat_name
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
    block = rectangle(-half, -half, BLOCK, BLOCK, 14)
    edge = {"stroke": theme.gold, "stroke_width": 5} if auction else {"stroke": theme.block_edge, "stroke_width": 1.4}
    ground = group(block, fill=theme.stopped if stopped else theme.block, **edge)
    ring = [plot for plot in game.ring[district] if plot != NONE]
    plots = [_plot(scene, district, position, len(ring)) for position in _back_to_front(len(ring))]
    parts = [ground, _trees(scene, half), _glow(scene, block, OPTION_D + district)]
    visitors = _visitors(scene, district, 1.25)
    parts += [_hub(scene, district, bool(visitors)), *plots]
    if stopped:
        sign = _stop_sign(scene, district)
        parts.append(at(0, -24, sign) if visitors else sign)
        visitors = at(0, 50, visitors) if visitors else ""  # below the sign, lest they hide it
    if auction:
        parts.append(at(-half + 18, -half + 16, shapes.gavel(theme)))
    return thing(scene, [OPTION_D + district], _district_words(scene, district), *parts, visitors, district=district)


def _trees(scene: Scene, half: float) -> str:
    """Street trees in the corners of a block."""
    spots = "".join(f"M{number(x)} {number(y)}h.1" for x in (-half + 15, half - 15) for y in (-half + 15, half - 15))
    return path(spots, stroke=scene.theme.tree, stroke_width=13, stroke_linecap="round", stroke_opacity=0.55)


def _back_to_front(plots: int) -> list[int]:
    """Positions of a ring from the top down, as what stands in front hides what is behind."""
    return sorted(range(plots), key=lambda position: round(-math.cos(2 * math.pi * position / plots), 6))


def _district_words(scene: Scene, district: int) -> str:
    game = scene.game
    name = f"{DISTRICTS[district]}, {LONG_NAMES[district]}"
    if game.stopped[district]:
        return f"{name}: building stop"
    return f"{name}: under auction" if game.auction_place == district else name


def _hub(scene: Scene, district: int, visited: bool) -> str:
    """The name in the middle of the ring, smaller if somebody stands there."""
    theme = scene.theme
    disc = circle(0, 0, _HUB - 2, fill=theme.panel, stroke=theme.block_edge, stroke_width=1)
    size, y = (15, -17) if visited else (21, 7.5)
    return disc + words(0, y, DISTRICTS[district], size, middle=True, bold=True, fill=theme.ink)


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
    corner = (
        at(*_polar(angle - step * 0.36, _RIM - 10), shapes.suit(theme, plot, 4.8, outlined=True)) if plot < NUM_COLOURS else ""
    )
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
        return "".join(at(*spot, shapes.business(theme, kind, 14)) for spot, kind in zip(spots, tiles, strict=False))
    if plot == SIXTH or game.stopped[district]:
        return ""
    coin = at(*_polar(angle + step / 2 - 0.1, _RIM - 9.5), shapes.coin(theme, str(game.value[district][plot]), 8))
    owner, floors = game.owner[district][plot], game.floors[district][plot]
    if owner == NONE:
        return coin
    side = -1 if math.sin(angle) > 0.8 else 1  # on the right the sign stands on the left, as the coin needs its place
    house = at(x - 8.5 * side, y + 21, shapes.tower(theme, owner, floors, 25, 44, 10.5))
    sign = at(x + 16 * side, y + 14.5, shapes.emblem(theme, owner, 7.5))
    return house + coin + sign + _count(scene, x + 17 * side, y + 2, floors)


def _count(scene: Scene, x: float, y: float, number_of: int) -> str:
    """How many there are, unless there is one alone."""
    if number_of < 2:
        return ""
    label = partial(words, x, y, f"×{number_of}", 14, middle=True, bold=True)
    halo = label(fill="none", stroke=scene.theme.paper, stroke_width=3.2, stroke_linejoin="round")
    return halo + label(fill=scene.theme.ink)


def _stop_sign(scene: Scene, district: int) -> str:
    """STOP-4: a barrier, and the district's name."""
    theme = scene.theme
    sign = rectangle(-60, -46, 120, 98, 10, fill=theme.panel, stroke=theme.block_edge, stroke_width=1.4)
    lines = ((-25, DISTRICTS[district], 20, theme.ink), (30, "BUILDING", 13, theme.faint), (45, "STOP", 13, theme.faint))
    texts = "".join(words(0, y, text, size, middle=True, bold=True, fill=fill) for y, text, size, fill in lines)
    return sign + at(0, -4, shapes.barrier(theme, 100)) + texts


# ---- commissioners and markers ----


def _visitors(scene: Scene, place: int, scale: float) -> str:
    """Commissioners, their markers, and where they may go, in the middle of a place."""
    pieces = []
    for which in range(NUM_COMMISSIONERS):
        x, foot = (2 * which - 1) * 13.0 * scale, 23 * scale
        name = COMMISSIONERS[which]
        if scene.game.place[which] == place:
            pieces.append(at(x, foot, _commissioner(scene, which), scale=scale))
        elif place in scene.game.visited[which]:
            pieces.append(at(x, 11, title(f"marker of the {name} commissioner"), shapes.marker(scene.theme, which, 9)))
        action = MOVE + NUM_PLACES * which + place
        if is_legal(scene, action) and scene.game.place[which] != place:
            what = f"move the {name} commissioner to {PLACE_NAMES[place]}"
            ghost = at(x, foot, _ghost(scene, which), scale=scale)
            pieces.append(thing(scene, [action], what, ghost, place=f"{which}:{place}"))
    return "".join(pieces)


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


def _city_hall(scene: Scene) -> str:
    """SET-6: the building, the commissioners that are here, and the markers that aren't on the board."""
    theme = scene.theme
    ground = rectangle(*_strip(scene, CITY_HALL, _HALL), 12, fill=theme.block, stroke=theme.block_edge, stroke_width=1.4)
    spots = [(-205.0, 2.0), (-20.0, 0.0), (195.0, 0.0)] if scene.upright else [(0.0, -215.0), (0.0, -20.0), (0.0, 180.0)]
    x, y = _centre(scene, CITY_HALL)
    house, plaza, tray = [(x + dx, y + dy) for dx, dy in spots]
    parts = [ground, at(*house, _facade(scene), words(0, 32, "CITY HALL", 14, middle=True, bold=True, fill=theme.ink))]
    wide, high = (86, 40) if scene.upright else (40, 62)
    paving = {"fill": theme.street, "stroke": theme.block_edge, "stroke_width": 1, "stroke_dasharray": "4 3"}
    parts.append(element("ellipse", cx=plaza[0], cy=plaza[1], rx=wide, ry=high, **paving))
    parts += [at(*plaza, _visitors(scene, CITY_HALL, 1.5)), at(*tray, _marker_tray(scene))]
    return group(title("City Hall, where commissioners return to start auctions"), *parts)


def _marker_tray(scene: Scene) -> str:
    """The markers that aren't on the board: places for three of each commissioner's."""
    theme = scene.theme
    caption = words(0, -30 if scene.upright else -42, "markers", 11, middle=True, bold=True, fill=theme.faint)
    pieces = [caption]
    for which in range(NUM_COMMISSIONERS):
        left = MARKERS - scene.game.markers[which]
        for i in range(MARKERS):
            along, across = (i - 1) * 25.0, (2 * which - 1) * 14.0
            x, y = (along, across) if scene.upright else (across, along)
            if i < left:
                pieces.append(at(x, y, shapes.marker(theme, which, 9)))
            else:
                pieces.append(circle(x, y, 6, fill="none", stroke=theme.block_edge, stroke_dasharray="2 2"))
    return group(*pieces)


def _facade(scene: Scene) -> str:
    """A building with columns, a dome and a flag, 66 wide, about the origin."""
    theme = scene.theme
    style = {"fill": theme.tile, "stroke": theme.suit_ink, "stroke_width": 1.1, "stroke_linejoin": "round"}
    dome = path("M-11-26A11 11 0 0 1 11-26Z", **{**style, "fill": theme.seats[3]})
    flag = path("M0-37V-48", stroke=theme.suit_ink, stroke_width=1.2) + path("M0-48h11l-3 3 3 3h-11Z", fill=theme.seats[0])
    drum = rectangle(-12, -26, 24, 8, **style)
    gable = path("M-33-6L0-19L33-6Z", **style)
    hall = rectangle(-31, -6, 62, 16, **style)
    pillars = path("".join(f"M{x}-4V9" for x in (-25, -15, -5, 5, 15, 25)), stroke="#b9a47c", stroke_width=4)
    steps = rectangle(-34, 10, 68, 4, **style)
    trees = circle(-39, 4, 6, fill=theme.tree) + circle(39, 4, 6, fill=theme.tree)
    return trees + flag + dome + drum + hall + pillars + gable + steps


# ---- Central Park ----


def _park(scene: Scene) -> str:
    """The park with its visitors, and below it the park area: skyscrapers of all seats and the tiles (AUC-12, BUS-3)."""
    theme = scene.theme
    auction = scene.game.auction_place == CENTRAL_PARK
    box = _strip(scene, CENTRAL_PARK, _PARK)
    edge = {"stroke": theme.gold if auction else theme.tree, "stroke_width": 5 if auction else 1.4}
    ground = rectangle(*box, 12, fill=theme.grass, **edge)
    x, y = _centre(scene, CENTRAL_PARK)
    spots = [(-235.0, 0.0), (-118.0, 0.0), (116.0, 0.0)] if scene.upright else [(0.0, -215.0), (0.0, -100.0), (0.0, 118.0)]
    garden, visitors, area = [(x + dx, y + dy) for dx, dy in spots]
    parts = [
        ground,
        at(*garden, _garden(scene)),
        at(*visitors, _visitors(scene, CENTRAL_PARK, 1.5)),
        at(*area, _park_area(scene)),
    ]
    if auction:
        parts.append(at(box[0] + 17, box[1] + 15, shapes.gavel(theme)))
    return group(title("Central Park, and the park area under auction" if auction else "Central Park"), *parts)


def _garden(scene: Scene) -> str:
    """Trees and a pond below the name."""
    theme = scene.theme
    name = "".join(
        words(0, y, text, 13.5, middle=True, bold=True, fill=theme.ink) for y, text in ((-38, "CENTRAL"), (-23, "PARK"))
    )
    pond = element("ellipse", cx=2, cy=20, rx=38, ry=20, fill=theme.water, stroke=theme.tree, stroke_width=1)
    boat = path("M-9 0H9Q7 5 0 5Q-7 5-9 0ZM0-1V-13L8-3Z", fill=theme.tile, stroke=theme.suit_ink, stroke_width=0.8)
    spots = ((-42, -12, 8), (41, -10, 9), (-30, -6, 6), (43, 40, 8), (-43, 36, 9), (-30, 43, 6))
    trunks = path("".join(f"M{x} {y}v8" for x, y, _ in spots), stroke="#7a5a34", stroke_width=2.2)
    trees = "".join(circle(x, y - r * 0.4, r, fill=theme.tree) for x, y, r in spots)
    return pond + at(0, 20, boat) + trunks + trees + name


def _park_area(scene: Scene) -> str:
    """Skyscrapers and business tiles below the park."""
    theme = scene.theme
    width, height = (322.0, 100.0) if scene.upright else (102.0, 322.0)
    lawn = rectangle(-width / 2, -height / 2, width, height, 9, fill=theme.panel, fill_opacity=0.8)
    head = words(0, -height / 2 + 15, "PARK AREA", 11, middle=True, bold=True, fill=theme.faint)
    owners, kinds = range(scene.players), range(NUM_BUSINESSES)
    if scene.upright:
        houses = [(-136.0 + 46 * owner, 24.0) for owner in owners]
        tiles = [(64.0 + 46 * (kind % 2) + 14, -12.0 + 40 * (kind // 2)) for kind in kinds]
    else:
        houses = [(-26.0 + 48 * (owner % 2), -52.0 + 86 * (owner // 2)) for owner in owners]
        tiles = [(-26.0 + 48 * (kind % 2), 86.0 + 42 * (kind // 2)) for kind in kinds]
    parts = [at(*spot, _park_houses(scene, owner)) for owner, spot in zip(owners, houses, strict=True)]
    parts += [at(*spot, _park_tiles(scene, kind)) for kind, spot in zip(kinds, tiles, strict=True)]
    return lawn + head + "".join(parts)


def _park_houses(scene: Scene, owner: int) -> str:
    """The skyscrapers of a seat, its sign below them."""
    floors = scene.game.park[owner]
    what = f"{counted(floors, 'skyscraper')} of {seat_name(owner, scene.agents)} in the park area"
    sign = at(0, 13, shapes.emblem(scene.theme, owner, 8))
    if not floors:
        base = path("M-12 0H12", stroke=scene.theme.block_edge, stroke_width=1.4, stroke_dasharray="3 3")
        return group(title(what), base, group(sign, opacity=0.45))
    return group(title(what), at(0, 0, shapes.tower(scene.theme, owner, floors, 23, 50, 10)), sign, _count(scene, 20, 18, floors))


def _park_tiles(scene: Scene, kind: int) -> str:
    """The business tiles of one type."""
    tiles = scene.game.park_tiles[kind]
    picture = group(shapes.business(scene.theme, kind, 13), opacity=None if tiles else 0.25)
    return group(title(f"{counted(tiles, BUSINESSES[kind])} in the park area"), picture, _count(scene, 16, 15, tiles))


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
        return [(-22.0, (i - (number_of - 1) / 2) * 150 / number_of + 10) for i in range(number_of)]
    return [((i - (number_of - 1) / 2) * 172 / number_of, 8.0) for i in range(number_of)]


def _caption(scene: Scene, text: str) -> str:
    y = -74 if scene.upright else -28
    return words(0, y, text, 11.5, middle=True, fill=scene.theme.faint, bold=True)


def _label(scene: Scene, x: float, y: float, text: str) -> str:
    """What a cell means: beside it or below it."""
    if scene.upright:
        return words(x + 16, y + 2, text, 11, fill=scene.theme.faint)
    return words(x, y + 25, text, 10.5, middle=True, fill=scene.theme.faint)


def _businesses_aid(scene: Scene) -> str:
    cells = []
    for kind, (x, y) in enumerate(_cells(scene, NUM_BUSINESSES)):
        cells.append(at(x, y - 2, shapes.business(scene.theme, kind, 12)) + _label(scene, x, y, BUSINESSES[kind]))
    return _caption(scene, "businesses") + "".join(cells)


def _score_aid(scene: Scene) -> str:
    cells = []
    for types, (x, y) in enumerate(_cells(scene, len(PLOT_VALUE))):
        cells.append(at(x, y - 3, shapes.coin(scene.theme, str(PLOT_VALUE[types]), 10)))
        cells.append(_label(scene, x, y, counted(types, "type") if scene.upright else str(types)))
    what = "VP next to" if scene.upright else "VP by business types next door"
    return _caption(scene, what) + "".join(cells)


def _limit_aid(scene: Scene) -> str:
    cells = []
    for rank, (x, y) in enumerate(_cells(scene, NUM_RANKS)):
        x += 24 if scene.upright else 0
        paper = rectangle(x - 20, y - 12, 17, 23, 3, fill=scene.theme.card, stroke=scene.theme.ink, stroke_width=1)
        value = words(x - 11.5, y + 5, str(rank + 4), 13, middle=True, bold=True, fill=scene.theme.ink)
        house = at(x + 12, y + 12, shapes.tower(scene.theme, ALEA, int(BUILD_LIMIT[rank]), 13, 24))
        what = f"{rank + 4} as the highest card: {counted(int(BUILD_LIMIT[rank]), 'skyscraper')}"
        cells.append(group(title(what), paper, value, house))
    return _caption(scene, "highest card" if scene.upright else "highest card: skyscrapers") + "".join(cells)


def _suits_aid(scene: Scene) -> str:
    cells = []
    for colour, (x, y) in enumerate(_cells(scene, NUM_COLOURS)):
        cells.append(at(x, y - 2, shapes.suit(scene.theme, colour, 8)) + _label(scene, x, y, COLOURS[colour]))
    return _caption(scene, "colours") + "".join(cells)
