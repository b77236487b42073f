"""The board: City Hall, seven districts with their rings of plots, Central Park, and the streets
between them (COM-4, COM-5).

Cached functions draw a part each, as pure functions of its content.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from skyenv.console.tables import counted
from skyenv.render import shapes
from skyenv.render.colours import Theme
from skyenv.render.marks import at, circle, element, group, label, number, path, rectangle, title
from skyenv.render.parts import Marks, Names, Part, Scene, glow, hidden, piece, slot, thing
from skyenv.render.words import LONG_NAMES, PLACE_NAMES, listed, plot_name, seat_name
from skyenv.rules.actions import MOVE, OPTION_D, PLOT
from skyenv.rules.components import (
    BUILD_LIMIT,
    BUSINESSES,
    CENTRAL_PARK,
    CITY_HALL,
    COMMISSIONERS,
    DISTRICTS,
    MARKERS,
    NUM_BUSINESSES,
    NUM_COLOURS,
    NUM_DISTRICTS,
    NUM_PLACES,
    NUM_PLOTS,
    PLACES,
    PLOT_VALUE,
    PLOTS,
    SIXTH,
)
from skyenv.rules.state import ALEA, NONE

BLOCK: Final = 184.0  # a district is a square of this size
_RIM: Final = 87.0
_HUB: Final = 37.0
_MIDDLE: Final = (_RIM + _HUB) / 2
# Width and height of the board: wide (False), or upright, which leads from top to bottom.
SIZES: Final = {False: (870.0, 604.0), True: (604.0, 870.0)}

_SMALL: Final = {False: shapes.SMALL, True: 13.0}  # upright, the units are larger


def board(scene: Scene) -> str:
    """Draw the whole board, its corner at the origin."""
    add = scene.drawing.add
    for district in range(NUM_DISTRICTS):
        add(_district(scene, district))
    for strip in (CITY_HALL, CENTRAL_PARK):
        add(_visitors(scene.theme, strip, _shown_at(scene, strip), 1.5, 0))
    add(_marker_tray(scene))
    add(_park_area(scene))
    add(_park(scene.theme, scene.upright, scene.game.auction_place == CENTRAL_PARK))
    return add(_city(scene.theme, scene.upright))


@lru_cache(maxsize=8)
def _city(theme: Theme, upright: bool) -> Part:
    """Draw the ground, the streets, City Hall, the printed legends, and slots for all other parts,
    from a file in which ``{t.ink}`` is a colour and ``{p[coin 5]}`` a piece.
    """
    coins = {f"coin {vp}": shapes.coin(theme, str(vp), 10) for vp in PLOT_VALUE}
    limits = {f"limit {n}": shapes.tower(theme, ALEA, n, 13, 24) for n in BUILD_LIMIT}
    tiles = {f"business {kind}": shapes.business(theme, kind, 10) for kind in range(NUM_BUSINESSES)}
    suits = {f"suit {colour}": shapes.suit(theme, colour, 7) for colour in range(NUM_COLOURS)}
    pieces = coins | limits | tiles | suits | {"facade": shapes.picture(theme, "facade")}
    name = "board-upright.svg" if upright else "board-wide.svg"
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    return Part("city", "".join(lines).format(t=theme, p=pieces))


# ---- a district ----


def _district(scene: Scene, district: int) -> Part:
    """Draw a district: block, ring of plots, name and visitors; centred on the origin."""
    theme, game, add, name = scene.theme, scene.game, scene.drawing.add, DISTRICTS[district]
    is_stopped, is_auctioned = bool(game.stopped[district]), district == game.auction_place
    ring = [plot for plot in game.ring[district] if plot != NONE]
    marks, shown = scene.marks(OPTION_D + district), _shown_at(scene, district)
    half, what = BLOCK / 2, f"{name}, {LONG_NAMES[district]}"
    what += ": building stop" if is_stopped else ": under auction" if is_auctioned else ""
    edge, width = (theme.gold, 5) if is_auctioned else (theme.block_edge, 1.4)
    auction = name if is_auctioned else None
    block = rectangle(-half, -half, BLOCK, BLOCK, 14)
    fill = theme.stopped if is_stopped else theme.block
    parts = [
        group(block, fill=fill, stroke=edge, stroke_width=width, data_auction=auction),
        shapes.picture(theme, "trees"),
        glow(theme, marks, block),
        add(Part(f"{name}.name", _hub(theme, district, _is_visited(shown)))),
    ]
    # From the top down, so that pieces in front cover those behind.
    turn = 2 * math.pi / len(ring)
    for spot in sorted(range(len(ring)), key=lambda spot: round(-math.cos(spot * turn), 6)):
        parts.append(add(_plot_of(scene, district, ring[spot], (spot, len(ring)))))
    if is_stopped:
        sign = shapes.picture(theme, "stop", name)
        parts.append(at(0, -24, sign) if _is_visited(shown) else sign)
    if is_auctioned:
        parts.append(at(-half + 18, -half + 16, shapes.picture(theme, "gavel")))
    parts.append(add(_visitors(theme, district, shown, 1.25, 50 if is_stopped else 0)))
    return Part(name, thing([OPTION_D + district], marks, what, *parts, district=district))


def _plot_of(scene: Scene, district: int, plot: int, spot: tuple[int, int]) -> Part:
    """Draw a plot of a position."""
    game, fields = scene.game, () if plot == SIXTH else ("owner", "floors", "value")
    built = tuple(getattr(game, field)[district][plot] for field in fields) or (NONE, 0, 0)
    tiles, is_stopped = game.tiles[district][plot], bool(game.stopped[district])
    marks = scene.marks(PLOT + NUM_PLOTS * district + plot)
    return _plot(scene.theme, district, plot, spot, is_stopped, tiles, built, scene.agents, marks)


def _hub(theme: Theme, district: int, is_visited: bool) -> str:
    """Draw the name in the middle of the ring, smaller beside visitors."""
    disc = circle(0, 0, _HUB - 2, fill=theme.panel, stroke=theme.block_edge, stroke_width=1)
    size, y = (shapes.SMALL, -17) if is_visited else (21, 7.5)
    return disc + label(0, y, DISTRICTS[district], size, theme.ink)


def _polar(angle: float, radius: float) -> tuple[float, float]:
    return radius * math.sin(angle), -radius * math.cos(angle)


def _wedge(position: int, plots: int) -> str:
    """Return the outline of a plot: a part of the ring, with small gaps to its neighbours."""
    step, outer, inner = 2 * math.pi / plots, 2.0 / _RIM, 2.0 / _HUB
    low, high = (position - 0.5) * step, (position + 0.5) * step
    corners = (low + outer, _RIM), (high - outer, _RIM), (high - inner, _HUB), (low + inner, _HUB)
    a, b, c, d = ("{} {}".format(*map(number, _polar(*corner))) for corner in corners)
    rim, hub = number(_RIM), number(_HUB)
    return f"M{a}A{rim} {rim} 0 0 1 {b}L{c}A{hub} {hub} 0 0 0 {d}Z"


@lru_cache(maxsize=4096)
def _plot(
    theme: Theme,
    district: int,
    plot: int,
    spot: tuple[int, int],
    is_stopped: bool,
    tiles: tuple[int, ...],
    built: tuple[int, ...],
    agents: Names,
    marks: Marks,
) -> Part:
    """Draw a plot with its colour, its shape, and its contents.

    Args:
        theme: the colours. district, plot: their numbers. agents: names by seat. marks: whether it
            may be chosen.
        spot: its position in the ring, and the number of plots. is_stopped: whether there is a
            building stop.
        tiles: number of businesses of each type. built: owner, skyscrapers, and the VP of one.
    """
    position, plots = spot
    step, angle = 2 * math.pi / plots, 2 * math.pi * position / plots
    kinds = [kind for kind in range(NUM_BUSINESSES) for _ in range(tiles[kind])]
    outline = path(_wedge(position, plots))
    edge = {"fill": theme.plots[plot], "stroke": theme.suit_ink, "stroke_width": 1}
    body, state = [group(outline, **edge, fill_opacity=0.28 if is_stopped else None)], ""
    if plot < NUM_COLOURS and not is_stopped:
        corner = _polar(angle - step * 0.36, _RIM - 10)
        body.append(at(*corner, shapes.suit(theme, plot, 4.8, outlined=True)))
    body.append(glow(theme, marks, outline))
    if not is_stopped:
        body.append(_on_plot(theme, kinds, plot, built, angle, step))
        state = _plot_words(kinds, plot, built, agents)
    what = f"{plot_name(district, plot)}: {state or 'building stop'}"
    actions = [PLOT + NUM_PLOTS * district + plot]
    drawn = thing(actions, marks, what, *body, plot=f"{district}:{plot}")
    return Part(f"{DISTRICTS[district]}.{PLOTS[plot]}", drawn)


def _plot_words(kinds: Sequence[int], plot: int, built: tuple[int, ...], agents: Names) -> str:
    """Return the contents of a plot, in words."""
    owner, floors, value = built
    if kinds or plot == SIXTH:
        return listed([BUSINESSES[kind] for kind in kinds]) if kinds else "empty"
    stands = "empty"
    if owner != NONE:
        stands = f"{counted(floors, 'skyscraper')} of {seat_name(owner, agents)}"
    return f"{stands}; a skyscraper scores {value} VP here"


def _on_plot(
    theme: Theme,
    kinds: Sequence[int],
    plot: int,
    built: tuple[int, ...],
    angle: float,
    step: float,
) -> str:
    """Draw businesses side by side along the ring, or skyscrapers; and the VP of a skyscraper
    there.
    """
    (x, y), (owner, floors, value) = _polar(angle, _MIDDLE), built
    if kinds or plot == SIXTH:
        apart = 15.5 if len(kinds) > 1 else 0.0
        dx, dy = apart * math.cos(angle), apart * math.sin(angle)
        spots = [(x - dx, y - dy), (x + dx, y + dy)]
        return "".join(
            at(*spot, shapes.business(theme, kind, 14), **piece(f"business-{kind}"))
            for spot, kind in zip(spots, kinds, strict=False)
        )
    worth = _polar(angle + step / 2 - 0.17, _RIM - 12.5)
    coin = at(*worth, shapes.coin(theme, str(value), 10))
    if owner == NONE:
        return coin
    # On the right the sign stands on the left, as the coin needs its place; sign and count change
    # places where one is beside the coin.
    side = -1 if math.sin(angle) > 0.8 else 1
    above, below = (4.0, 23.0) if side > 0 and floors > 1 else (14.0, 2.0)
    tower = shapes.tower(theme, owner, floors, 25, 44, 10.5)
    house = at(x - 8.5 * side, y + 21, tower, **piece(f"tower-{owner}", floors))
    sign = at(x + 14 * side, y + above, shapes.emblem(theme, owner, 7.5))
    return house + coin + sign + _count(theme, x + 15 * side, y + below, floors)


def _count(theme: Theme, x: float, y: float, number_of: int) -> str:
    """Draw a count, except for 1."""
    if number_of < 2:
        return ""
    place = x, y, f"×{number_of}", shapes.SMALL
    halo: dict[str, Any] = {"stroke": theme.paper, "stroke_width": 3.2, "stroke_linejoin": "round"}
    return label(*place, "none", **halo) + label(*place, theme.ink)


# ---- commissioners and markers ----


# For each commissioner whether it is at a place, whether its marker is, its own moves, and the move
# that leads there.
_Visitors = tuple[tuple[bool, bool, Marks, Marks], ...]


def _moves(which: int) -> range:
    return range(MOVE + NUM_PLACES * which, MOVE + NUM_PLACES * (which + 1))


def _shown_at(scene: Scene, place: int) -> _Visitors:
    """Return the visitors of a place, present and possible."""
    return tuple(
        (True, place in visited, scene.marks(*_moves(which)), ())
        if here == place
        else (False, place in visited, (), scene.marks(_moves(which)[place]))
        for which, (here, visited) in enumerate(
            zip(scene.game.place, scene.game.visited, strict=True)
        )
    )


def _is_visited(shown: _Visitors) -> bool:
    """Return whether the middle of a place holds commissioners, markers, or possible moves."""
    return any(is_here or is_marked or comes for is_here, is_marked, _, comes in shown)


@lru_cache(maxsize=2048)
def _visitors(theme: Theme, place: int, shown: _Visitors, scale: float, down: float) -> Part:
    """Draw commissioners, markers and possible moves in the middle of a place."""
    pieces: list[str] = []
    ghosts: list[str] = []
    for which, (is_here, is_marked, own, comes) in enumerate(shown):
        x, foot, name = (2 * which - 1) * 13.0 * scale, 23 * scale, COMMISSIONERS[which]
        if is_here:
            what = f"the {name} commissioner, in {PLACE_NAMES[place]}"
            shine = glow(theme, own, element("ellipse", cx=0, cy=-1, rx=12, ry=4.5))
            drawn = shapes.picture(theme, f"commissioner {which}")
            figure = thing(_moves(which), own, what, shine, drawn, commissioner=which)
            pieces.append(at(x, foot, figure, scale=scale, **piece(f"commissioner-{which}")))
        elif is_marked:
            what = title(f"marker of the {name} commissioner")
            drawn = shapes.picture(theme, f"marker {which}")
            pieces.append(at(x, 11, what, drawn, **piece(f"marker-{which}")))
        if comes != ():
            what = f"move the {name} commissioner to {PLACE_NAMES[place]}"
            ghost = at(x, foot, shapes.picture(theme, f"ghost {which}"), scale=scale)
            body = ghost if comes else hidden(ghost, "glow")
            goal = thing([_moves(which)[place]], comes, what, body, place=f"{which}:{place}")
            (pieces if comes else ghosts).append(goal)
    if ghosts and place < NUM_DISTRICTS and not _is_visited(shown):
        # The name moves while a commissioner may come.
        pieces.append(hidden(_hub(theme, place, True), "cover"))
    drawn = "".join([*pieces, *ghosts])
    return Part(f"{PLACES[place]}.visitors", at(0, down, drawn) if down and drawn else drawn)


# ---- City Hall and Central Park ----


def _marker_tray(scene: Scene) -> Part:
    """Draw the markers off the board: places for three of each commissioner."""
    theme, upright = scene.theme, scene.upright
    empty = {"fill": "none", "stroke": theme.block_edge, "stroke_dasharray": "2 2"}
    pieces = [label(0, -29 if upright else -42, "markers", _SMALL[upright], theme.faint)]
    for which, away in enumerate(scene.game.markers):
        marker = shapes.picture(theme, f"marker {which}")
        for i in range(MARKERS):
            along, across = (i - 1) * 25.0, (2 * which - 1) * 14.0
            x, y = (along, across) if upright else (across, along)
            lies = at(x, y, marker, **piece(f"marker-{which}"))
            pieces.append(lies if i < MARKERS - away else circle(x, y, 6, **empty))
    return Part("markers", "".join(pieces))


# By whether the board is upright: the park's x, y, width and height, and in it the places of the
# garden, the visitors and the park area.
_PARKS: Final = {
    False: ((742, 12, 116, 580), ((800, 87), (800, 202), (800, 420))),
    True: ((12, 742, 580, 116), ((67, 800), (184, 800), (418, 800))),
}


@lru_cache(maxsize=8)
def _park(theme: Theme, upright: bool, is_auctioned: bool) -> Part:
    """Draw the park with its visitors, and below it the park area: skyscrapers of all seats and
    tiles (AUC-12, BUS-3).
    """
    (box, spots), name = _PARKS[upright], PLACES[CENTRAL_PARK]
    edge, width = (theme.gold, 5) if is_auctioned else (theme.tree, 1.4)
    inside = (shapes.picture(theme, "garden"), slot(f"{name}.visitors"), slot("park area"))
    what = "Central Park, and the park area under auction" if is_auctioned else "Central Park"
    style = {"fill": theme.grass, "stroke": edge, "stroke_width": width}
    parts = [title(what), rectangle(*box, 12, **style, data_auction=name if is_auctioned else None)]
    parts += [at(*spot, drawn) for spot, drawn in zip(spots, inside, strict=True)]
    if is_auctioned:
        parts.append(at(box[0] + 17, box[1] + 15, shapes.picture(theme, "gavel")))
    return Part(name, "".join(parts))


def _park_area(scene: Scene) -> Part:
    """Draw the skyscrapers of every seat and business tiles of every type below the park."""
    theme, game, upright = scene.theme, scene.game, scene.upright
    width, height = (322.0, 100.0) if upright else (102.0, 322.0)
    parts = [
        rectangle(-width / 2, -height / 2, width, height, 9, fill=theme.panel, fill_opacity=0.8),
        label(0, -height / 2 + 16, "PARK AREA", _SMALL[upright], theme.faint),
    ]
    for owner, built in enumerate(game.park[: game.num_players]):
        x, y = (
            (-136 + 46 * owner, 24)
            if upright
            else (-26 + 48 * (owner % 2), -52 + 86 * (owner // 2))
        )
        parts.append(at(x, y, _park_houses(theme, owner, built, scene.agents)))
    left, top, across, down = (78, -12, 46, 40) if upright else (-26, 86, 48, 42)
    for kind, number_of in enumerate(game.park_tiles):
        what = title(f"{counted(number_of, BUSINESSES[kind])} in the park area")
        style = piece(f"business-{kind}", number_of) if number_of else {"opacity": 0.25}
        drawn = group(shapes.business(theme, kind, 13), **style) + _count(theme, 16, 15, number_of)
        parts.append(at(left + across * (kind % 2), top + down * (kind // 2), what, drawn))
    return Part("park area", "".join(parts))


def _park_houses(theme: Theme, owner: int, floors: int, agents: Names) -> str:
    """Draw the skyscrapers of a seat, its sign below them."""
    what = title(f"{counted(floors, 'skyscraper')} of {seat_name(owner, agents)} in the park area")
    sign = at(0, 13, shapes.emblem(theme, owner, 8))
    if not floors:
        base = path("M-12 0H12", stroke=theme.block_edge, stroke_width=1.4, stroke_dasharray="3 3")
        return what + base + group(sign, opacity=0.45)
    tower = shapes.tower(theme, owner, floors, 23, 50, 10)
    house = at(0, 0, tower, **piece(f"tower-{owner}", floors))
    return what + house + sign + _count(theme, 20, 18, floors)
