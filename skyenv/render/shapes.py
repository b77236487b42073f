"""What lies on the table, piece by piece: suits, businesses, skyscrapers, commissioners, cards.

Everything that differs by colour differs by shape as well. Pieces are drawn about the origin, or
stand on it.
"""

from __future__ import annotations

import functools
import math
from typing import Final

from skyenv.render.colours import Theme
from skyenv.render.marks import at, circle, element, group, number, path, polygon, rectangle, words
from skyenv.render.words import seat_label
from skyenv.rules.components import LOWEST_CARD

SMALL: Final = 15.5
"""Size of the smallest text in a wide picture, 1200 units wide: 12 pixels where the picture is 930
pixels wide.
"""
CARD_WIDTH: Final = 42.0
CARD_HEIGHT: Final = 56.0

# ---- suits: every colour has a shape ----


def _star(r: float) -> list[tuple[float, float]]:
    points = []
    for i in range(10):
        angle, radius = math.radians(36 * i - 90), r * (1.15 if i % 2 == 0 else 0.5)
        points.append((radius * math.cos(angle), radius * math.sin(angle)))
    return points


@functools.cache
def suit(
    theme: Theme, colour: int, r: float, fill: str | None = None, outlined: bool = False
) -> str:
    """The shape of a colour: triangle, diamond, square, circle, cross; a star for black, a ring for
    the sixth plot.
    """
    edge: dict[str, object] = {"fill": fill or theme.suits[colour]}
    if outlined:
        edge |= {"stroke": theme.paper, "stroke_width": 0.8}
    if colour == 0:
        return polygon([(0, -r * 1.05), (r * 1.1, r * 0.85), (-r * 1.1, r * 0.85)], **edge)
    if colour == 1:
        return polygon([(0, -r * 1.2), (r * 0.95, 0), (0, r * 1.2), (-r * 0.95, 0)], **edge)
    if colour == 2:
        return rectangle(-r * 0.85, -r * 0.85, r * 1.7, r * 1.7, **edge)
    if colour == 3:
        return circle(0, 0, r, **edge)
    if colour == 4:
        a, b = r * 0.36, r * 1.05
        return path(
            f"M{number(-a)} "
            f"{number(-b)}H{number(a)}V{number(-a)}H{number(b)}V{number(a)}H{number(a)}V{number(b)}"
            f"H{number(-a)}V{number(a)}H{number(-b)}V{number(-a)}H{number(-a)}Z",
            **edge,
        )
    return polygon(_star(r), **edge)


# ---- businesses ----


def _boutique(ink: str) -> str:
    """A dress."""
    return path(
        "M-3.4-8.5L-2.2-8.5Q0-5.2 2.2-8.5L3.4-8.5L3.8-3.2L2.4-.8L7 8.3Q0 10.4-7 "
        "8.3L-2.4-.8L-3.8-3.2Z",
        fill=ink,
    )


def _jeweller(ink: str) -> str:
    """A ring with a stone."""
    ring = circle(0, 3.4, 5.3, fill="none", stroke=ink, stroke_width=1.9)
    return (
        ring
        + path("M-3.4-8.8H3.4L5.6-6L0-.8L-5.6-6Z", fill=ink)
        + path("M-5.2-6H5.2", stroke="#fff", stroke_width=0.9)
    )


def _gallery(ink: str) -> str:
    """A picture in its frame."""
    frame = rectangle(-8.3, -6.8, 16.6, 13.6, 0.8, fill="none", stroke=ink, stroke_width=2)
    return (
        frame
        + path("M-6.6 4.9L-2.2-1.6L.8 2L3-.4L6.6 4.9Z", fill=ink)
        + circle(3.6, -3.2, 1.6, fill=ink)
    )


def _perfumery(ink: str) -> str:
    """A bottle with its stopper."""
    bottle = path("M-1.8-4V-2.2Q-7-.4-7 4Q-7 8.6-3.4 8.6H3.4Q7 8.6 7 4Q7-.4 1.8-2.2V-4Z", fill=ink)
    return (
        bottle
        + circle(0, -7, 2.5, fill=ink)
        + path("M-4.4 3.4Q-4.2 1 -1.6.2", fill="none", stroke="#fff", stroke_width=1.1)
    )


_SYMBOLS: Final = (_boutique, _jeweller, _gallery, _perfumery)
_INKS: Final = ("#a8325a", "#1f5fa8", "#8a5a12", "#5b3a94")
"""A colour of its own for each business, dark enough on the tile."""


@functools.cache
def business(theme: Theme, kind: int, r: float = 13.0) -> str:
    """A business tile, r its half width."""
    tile = rectangle(
        -r, -r, 2 * r, 2 * r, r * 0.36, fill=theme.tile, stroke=theme.suit_ink, stroke_width=1.1
    )
    return tile + at(0, 0, _SYMBOLS[kind](_INKS[kind]), scale=r / 12.4)


# ---- skyscrapers ----


@functools.cache
def emblem(theme: Theme, owner: int, r: float, label: str | None = None) -> str:
    """Whose it is: circle, square, diamond, triangle, hexagon (Alea), with the seat's number or A
    where there is room for it.
    """
    style = {"fill": theme.seats[owner], "stroke": theme.suit_ink, "stroke_width": 1.0}
    down = 0.36
    if owner == 0:
        shape = circle(0, 0, r, **style)
    elif owner == 1:
        shape = rectangle(-r * 0.92, -r * 0.92, r * 1.84, r * 1.84, r * 0.22, **style)
    elif owner == 2:
        shape = polygon([(0, -r * 1.25), (r * 1.25, 0), (0, r * 1.25), (-r * 1.25, 0)], **style)
    elif owner == 3:
        shape = polygon([(0, -r * 1.35), (r * 1.3, r * 0.95), (-r * 1.3, r * 0.95)], **style)
        down = 0.6
    else:
        points = [
            (r * 1.12 * math.cos(math.radians(60 * i)), r * 1.12 * math.sin(math.radians(60 * i)))
            for i in range(6)
        ]
        shape = polygon(points, **style)
    text = seat_label(owner) if label is None else label
    if r < 9:
        return shape
    size = max(r * 1.15, SMALL)
    return shape + words(
        0, size * down * 0.87, text, size, middle=True, bold=True, fill=theme.on_seats[owner]
    )


def _roof(theme: Theme, owner: int, half: float) -> str:
    """Each owner's houses have a roof of their own, drawn upwards from the origin."""
    style = {
        "fill": theme.seats[owner],
        "stroke": theme.suit_ink,
        "stroke_width": 1.0,
        "stroke_linejoin": "round",
    }
    h = half
    if owner == 0:  # steps and a mast
        d = (
            f"M{number(-h * 0.7)} 0V-4H{number(-h * 0.35)}V-7H{number(-0.6)}V-13"
            f"H.6V-7H{number(h * 0.35)}V-4H{number(h * 0.7)}V0Z"
        )
        return path(d, **style)
    if owner == 1:  # a dome
        return path(
            f"M{number(-h * 0.85)} 0A{number(h * 0.85)} {number(h * 0.85)} 0 0 1 "
            f"{number(h * 0.85)} 0Z",
            **style,
        )
    if owner == 2:  # slanting
        return path(f"M{number(-h)} 0L{number(h)} -9V0Z", **style)
    if owner == 3:  # a gable
        return path(f"M{number(-h)} 0L0 -10L{number(h)} 0Z", **style)
    d = (
        f"M{number(-h)} 0V-6H{number(-h / 2)}V-3H{number(-h / 5)}V-6"
        f"H{number(h / 5)}V-3H{number(h / 2)}V-6H{number(h)}V0Z"
    )
    return path(d, **style)  # battlements


@functools.cache
def tower(
    theme: Theme,
    owner: int,
    floors: int,
    width: float = 20.0,
    most: float = 36.0,
    storey: float = 8.0,
) -> str:
    """Skyscrapers on top of each other, standing on the origin; each is a storey, lower where there
    are many.
    """
    storey = min(storey, most / floors)
    height, half = storey * floors, width / 2
    side = width * 0.22
    body = rectangle(
        -half,
        -height,
        width,
        height,
        fill=theme.seats[owner],
        stroke=theme.suit_ink,
        stroke_width=1,
    )
    shade = polygon(
        [(half, 0), (half + side, -side), (half + side, -height - side / 2), (half, -height)]
    )
    shadow = group(shade, fill=theme.suit_ink, fill_opacity=0.75)
    dashes = f"{number(storey * 0.5)} {number(storey * 0.5)}"
    columns = "".join(
        f"M{number(x * width)} {number(-storey * 0.25)}V{number(-height)}"
        for x in (-0.28, 0.0, 0.28)
    )
    windows = path(
        columns,
        stroke=theme.window,
        stroke_width=width * 0.14,
        stroke_dasharray=dashes,
        fill="none",
    )
    seams = "".join(
        f"M{number(-half)} {number(-storey * i)}h{number(width)}" for i in range(1, floors)
    )
    lines = path(seams, stroke=theme.suit_ink, stroke_width=0.9, fill="none") if seams else ""
    return shadow + body + windows + lines + at(0, -height, _roof(theme, owner, half))


# ---- commissioners ----


@functools.cache
def commissioner(theme: Theme, which: int, ghost: bool = False) -> str:
    """A figure about 30 high that stands on the origin: white with a top hat and W, beige with a
    bowler and B.
    """
    fill = (theme.white, theme.beige)[which]
    style: dict[str, object] = {
        "fill": fill,
        "stroke": theme.ink,
        "stroke_width": 1.2,
        "stroke_linejoin": "round",
    }
    if ghost:
        style |= {
            "stroke": theme.legal,
            "stroke_width": 1.8,
            "stroke_dasharray": "3 2",
            "fill_opacity": 0.65,
        }
    body = path("M-8 0Q-8.4-13-3.2-15.5H3.2Q8.4-13 8 0Z", **style)
    head = circle(0, -18.6, 4.3, **style)
    hat = (
        "M-6.4-21.4H6.4V-22.8H4V-29H-4V-22.8H-6.4Z"
        if which == 0
        else "M-7-21.2H7Q6.4-22.6 4.6-22.6Q4.4-27.4 0-27.4Q-4.4-27.4-4.6-22.6Q-6.4-22.6-7-21.2Z"
    )
    letter = words(0, -2.6, "WB"[which], 12.5, middle=True, bold=True, fill="#2b2521")
    return body + head + path(hat, **{**style, "fill": "#2b2521" if not ghost else fill}) + letter


@functools.cache
def marker(theme: Theme, which: int, r: float = 7.0) -> str:
    """A commissioner's marker: a white disc with w, or a beige lozenge with b."""
    style = {"fill": (theme.white, theme.beige)[which], "stroke": "#2b2521", "stroke_width": 1.2}
    if which == 0:
        shape = circle(0, 0, r, **style)
    else:
        shape = rectangle(
            -r * 0.85, -r * 0.85, r * 1.7, r * 1.7, 1.5, transform="rotate(45)", **style
        )
    return shape + words(0, r * 0.47, "wb"[which], SMALL, middle=True, bold=True, fill="#2b2521")


# ---- cards ----


@functools.cache
def card(
    theme: Theme,
    colour: int,
    rank: int,
    number_of: int = 1,
    height: float = CARD_HEIGHT,
    width: float = CARD_WIDTH,
) -> str:
    """The front of a card (of several equal ones), its corner at the origin; what tells it stands
    in its upper 22.
    """
    ink = theme.suits[colour]
    face = rectangle(0, 0, width, height, 5, fill=theme.card, stroke=ink, stroke_width=1.4)
    band = path(
        f"M1.5 5Q1.5 1.5 5 1.5H{number(width - 5)}Q{number(width - 1.5)} 1.5 {number(width - 1.5)} "
        "5V21H1.5Z",
        fill=ink,
    )
    on = theme.paper
    value = words(4, 17, str(rank + LOWEST_CARD), 16.5, bold=True, fill=on)
    copies = (
        words(width / 2 + 0.5, 16.7, f"×{number_of}", SMALL, middle=True, bold=True, fill=on)
        if number_of > 1
        else ""
    )
    small = at(width - 7.5, 11.4, suit(theme, colour, 4.2, on)) if number_of < 10 else ""
    large = at(width / 2, height / 2 + 10, suit(theme, colour, 9)) if height > 44 else ""
    return face + band + value + copies + small + large


@functools.cache
def card_back(
    theme: Theme,
    colour: int,
    number_of: int,
    height: float = CARD_HEIGHT,
    width: float = CARD_WIDTH,
) -> str:
    """The back of a card (of several): its colour, no value."""
    ink = theme.suits[colour]
    face = rectangle(0, 0, width, height, 5, fill=theme.panel, stroke=ink, stroke_width=1.4)
    fan = "".join(
        f"M{number(width / 2)} {number(height)}L{number(x * width)} 1"
        for x in (0.05, 0.28, 0.5, 0.72, 0.95)
    )
    rays = path(fan, stroke=ink, stroke_width=1, stroke_opacity=0.45, fill="none")
    plate = rectangle(3, 3.5, width - 6, 16, 4, fill=theme.card, stroke=ink, stroke_width=0.8)
    query = words(5, 17, "?", SMALL, bold=True, fill=ink)
    copies = (
        words(width / 2 + 0.5, 16.8, f"×{number_of}", SMALL, middle=True, bold=True, fill=ink)
        if number_of > 1
        else ""
    )
    small = at(width - 8.5, 11.6, suit(theme, colour, 4.2)) if number_of < 10 else ""
    return face + rays + plate + query + copies + small


@functools.cache
def small_card(theme: Theme, colour: int, rank: int) -> str:
    """A card of a bid, 24 by 34, its corner at the origin."""
    ink = theme.suits[colour]
    face = rectangle(0, 0, 24, 34, 4, fill=theme.card, stroke=ink, stroke_width=1.6)
    value = words(4, 16, str(rank + LOWEST_CARD), SMALL, bold=True, fill=ink)
    return face + value + at(15.5, 24.5, suit(theme, colour, 5.4))


@functools.cache
def coin(theme: Theme, text: str, r: float = 9.0) -> str:
    """Victory points."""
    disc = circle(0, 0, r, fill=theme.gold, stroke=theme.on_gold, stroke_width=1)
    size = max(r * 1.15, SMALL)
    return disc + words(0, size * 0.34, text, size, middle=True, bold=True, fill=theme.on_gold)


@functools.cache
def crown(theme: Theme) -> str:
    """For winners and highest bids, 18 wide, standing on the origin."""
    return path(
        "M-9 0L-9-9L-4-4.5L0-11L4-4.5L9-9L9 0Z",
        fill=theme.gold,
        stroke=theme.on_gold,
        stroke_width=0.9,
    )


@functools.cache
def gavel(theme: Theme) -> str:
    """The auctioneer's hammer, about 20 wide."""
    handle = rectangle(
        -1.6, -1, 3.2, 15, 1.4, fill="#7a4a21", stroke=theme.on_gold, stroke_width=0.8
    )
    head = rectangle(-8, -7, 16, 8, 2, fill=theme.gold, stroke=theme.on_gold, stroke_width=0.9)
    return element("g", handle, head, transform="rotate(-40)")


@functools.cache
def barrier(theme: Theme, width: float) -> str:
    """A building stop: a barrier with stripes, centred on the origin."""
    stripes = "".join(
        f"M{number(x)} 8l8-16h7l-8 16Z"
        for x in (-width / 2 + 2 + 15 * i for i in range(int((width - 12) / 15)))
    )
    legs = path(
        f"M{number(-width * 0.33)} 8v13M{number(width * 0.33)} 8v13",
        stroke="#5a5048",
        stroke_width=4,
    )
    plank = rectangle(
        -width / 2, -8, width, 16, 3, fill="#fff8ee", stroke="#5a5048", stroke_width=1.2
    )
    return legs + plank + path(stripes, fill="#c8323f")


# ---- lettering ----

_LETTERS: Final = {
    "F": ("M0 0V-20H11M0-10.5H8", 14.0),
    "I": ("M0 0V-20", 4.5),
    "T": ("M-1-20H13M6 0V-20", 16.0),
    "H": ("M0 0V-20M12 0V-20M0-8H12", 17.0),
    "A": ("M0 0L7-20L14 0M3-6.5H11", 18.0),
    "V": ("M0-20L7 0L14-20", 18.0),
    "E": ("M11 0H0V-20H11M0-10.5H8", 15.0),
    "N": ("M0 0V-20L12 0V-20", 17.0),
    "U": ("M0-20V-6Q0 0 6 0Q12 0 12-6V-20", 17.0),
    " ": ("", 9.0),
}
"""Strokes and advance of the letters of the game's name, 20 high: the title looks the same in
whatever font there is.
"""


@functools.cache
def lettering(theme: Theme, text: str) -> str:
    """The game's name in the manner of its time, standing on the origin."""
    x, strokes = 0.0, []
    for letter in text:
        d, advance = _LETTERS[letter]
        if d:
            strokes.append(element("path", d=d, transform=f"translate({number(x)} 0)"))
        x += advance
    style = {"fill": "none", "stroke_linecap": "square", "stroke_linejoin": "miter"}
    thick = group(*strokes, stroke=theme.ink, stroke_width=3.6, **style)
    thin = group(*strokes, stroke=theme.gold, stroke_width=1.1, **style)
    return thick + thin
