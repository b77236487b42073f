"""Shapes of the pieces: suits, businesses, skyscrapers, commissioners, cards.

Whatever differs by colour also differs by shape. Pieces are drawn around the origin, or
stand on it.
"""

import functools
import re
from typing import Final

from skyenv.render.colours import Theme
from skyenv.render.marks import (
    at,
    attributes,
    circle,
    group,
    label,
    number,
    path,
    rectangle,
    words,
)
from skyenv.render.words import seat_label
from skyenv.rules.components import BUILD_LIMIT, LOWEST_CARD
from skyenv.rules.state import ALEA, NONE

# The smallest text in a wide picture, 1200 units wide: 12 pixels where the picture is 930 wide.
SMALL: Final = 15.5
CARD_WIDTH: Final = 42.0
CARD_HEIGHT: Final = 56.0
# A card of the viewer's own hand.
OWN_WIDTH: Final = 60.0
OWN_HEIGHT: Final = 92.0

# ---- outlines that grow with a radius, in braces their numbers for a radius of 1 ----

# Triangle, diamond, square, circle, cross; a star for black.
_SUITS: Final = (
    'path d="M{0} {-1.05}L{1.1} {.85}L{-1.1} {.85}Z"',
    'path d="M{0} {-1.2}L{.95} {0}L{0} {1.2}L{-.95} {0}Z"',
    'rect x="{-.85}" y="{-.85}" width="{1.7}" height="{1.7}"',
    'circle cx="0" cy="0" r="{1}"',
    'path d="M{-.36} {-1.05}H{.36}V{-.36}H{1.05}V{.36}H{.36}V{1.05}'
    'H{-.36}V{.36}H{-1.05}V{-.36}H{-.36}Z"',
    'path d="M{0} {-1.15}L{.29389} {-.40451}L{1.09371} {-.35537}L{.47553} {.15451}'
    "L{.67595} {.93037}L{0} {.5}L{-.67595} {.93037}L{-.47553} {.15451}"
    'L{-1.09371} {-.35537}L{-.29389} {-.40451}Z"',
)
# Of the seats: circle, square, diamond, triangle; a hexagon for Alea.
_EMBLEMS: Final = (
    'circle cx="0" cy="0" r="{1}"',
    'rect x="{-.92}" y="{-.92}" width="{1.84}" height="{1.84}" rx="{.22}"',
    'path d="M{0} {-1.25}L{1.25} {0}L{0} {1.25}L{-1.25} {0}Z"',
    'path d="M{0} {-1.35}L{1.3} {.95}L{-1.3} {.95}Z"',
    'path d="M{1.12} {0}L{.56} {.96995}L{-.56} {.96995}L{-1.12} {0}'
    'L{-.56} {-.96995}L{.56} {-.96995}Z"',
)
# Upwards from the origin, by half a house's width: steps and a mast, a dome, slanting, a gable;
# battlements.
_ROOFS: Final = (
    'path d="M{-.7} 0V-4H{-.35}V-7H-0.6V-13H.6V-7H{.35}V-4H{.7}V0Z"',
    'path d="M{-.85} 0A{.85} {.85} 0 0 1 {.85} 0Z"',
    'path d="M{-1} 0L{1} -9V0Z"',
    'path d="M{-1} 0L0 -10L{1} 0Z"',
    'path d="M{-1} 0V-6H{-.5}V-3H{-.2}V-6H{.2}V-3H{.5}V-6H{1}V0Z"',
)
_IN_BRACES: Final = re.compile(r"\{([-.\d]+)\}")


def _outline(template: str, r: float, **style: object) -> str:
    scaled = _IN_BRACES.sub(lambda match: number(float(match[1]) * r), template)
    return f"<{scaled}{attributes(style)}/>"


@functools.cache
def suit(
    theme: Theme, colour: int, r: float, fill: str | None = None, outlined: bool = False
) -> str:
    """Draw the shape of a colour, or of black."""
    edge = {"stroke": theme.paper, "stroke_width": 0.8} if outlined else {}
    return _outline(_SUITS[colour], r, fill=fill or theme.suits[colour], **edge)


@functools.cache
def emblem(theme: Theme, owner: int, r: float) -> str:
    """Draw the shape of a seat or of Alea, with the seat's number or A where there is room."""
    style = {"fill": theme.seats[owner], "stroke": theme.suit_ink, "stroke_width": 1.0}
    shape = _outline(_EMBLEMS[owner], r, **style)
    if r < 9:
        return shape
    size, down = max(r * 1.15, SMALL), 0.6 if owner == 3 else 0.36  # a triangle's middle is lower
    return shape + label(0, size * down * 0.87, seat_label(owner), size, theme.on_seats[owner])


@functools.cache
def tower(
    theme: Theme,
    owner: int,
    floors: int,
    width: float = 20.0,
    most: float = 36.0,
    storey: float = 8.0,
) -> str:
    """Draw skyscrapers on top of each other, standing on the origin; each is a storey, lower where
    there are many.
    """
    storey = min(storey, most / floors)
    height, half, side = storey * floors, width / 2, width * 0.22
    style = {"fill": theme.seats[owner], "stroke": theme.suit_ink, "stroke_width": 1}
    shade = (half, 0), (half + side, -side), (half + side, -height - side / 2), (half, -height)
    outline = "L".join(f"{number(x)} {number(y)}" for x, y in shade)
    shadow = group(path(f"M{outline}Z"), fill=theme.suit_ink, fill_opacity=0.75)
    columns = "".join(
        f"M{number(x * width)} {number(-storey * 0.25)}V{number(-height)}" for x in (-0.28, 0, 0.28)
    )
    windows = path(
        columns,
        stroke=theme.window,
        stroke_width=width * 0.14,
        stroke_dasharray=f"{number(storey * 0.5)} {number(storey * 0.5)}",
        fill="none",
    )
    seams = "".join(
        f"M{number(-half)} {number(-storey * i)}h{number(width)}" for i in range(1, floors)
    )
    lines = path(seams, stroke=theme.suit_ink, stroke_width=0.9, fill="none") if seams else ""
    roof = _outline(_ROOFS[owner], half, **style, stroke_linejoin="round")
    body = rectangle(-half, -height, width, height, **style)
    return shadow + body + windows + lines + at(0, -height, roof)


# ---- pieces of one size ----


@functools.cache
def picture(theme: Theme, name: str, text: str = "") -> str:
    """Draw one of the pieces and signs of one size; `text` is what a sign says.

    They are ``crown``, ``gavel`` (auctions), ``flag`` (whose turn it is), ``trees`` (in a
    district's corners), ``stop`` (STOP-4, with the district's name), ``facade`` (City Hall),
    ``garden`` (Central Park), ``skyline`` and ``upright skyline`` (houses behind the headline),
    ``lettering`` (the game's name in the manner of its time, in whatever font there is),
    ``business K``, and of the white and the beige commissioner ``commissioner K``, ``ghost K``
    (where it may go), ``marker K``.
    """
    return _PICTURES[name].format(t=theme, text=text)


@functools.cache
def business(theme: Theme, kind: int, r: float = 13.0) -> str:
    """Draw a business tile, r its half width."""
    edge = {"fill": theme.tile, "stroke": theme.suit_ink, "stroke_width": 1.1}
    tile = rectangle(-r, -r, 2 * r, 2 * r, r * 0.36, **edge)
    return tile + at(0, 0, _PICTURES[f"business {kind}"], scale=r / 12.4)


@functools.cache
def card(
    theme: Theme,
    colour: int,
    rank: int,
    copies: int = 1,
    height: float = CARD_HEIGHT,
    width: float = CARD_WIDTH,
) -> str:
    """Draw a card (of several equal ones), its corner at the origin, its colour and value in the
    upper 22 units; with the rank NONE its back.
    """
    ink, is_back, is_narrow = theme.suits[colour], rank == NONE, width < 40
    ground = theme.panel if is_back else theme.card
    parts = [rectangle(0, 0, width, height, 5, fill=ground, stroke=ink, stroke_width=1.4)]
    on, sign_at, sign_fill = theme.paper, (width - 7.5, 11.4), theme.paper
    if is_back:
        on, sign_at = ink, (width - 8.5, 11.6)
        middle = f"M{number(width / 2)} {number(height)}L"
        fan = "".join(f"{middle}{number(x * width)} 1" for x in (0.05, 0.28, 0.5, 0.72, 0.95))
        parts += [
            path(fan, stroke=ink, stroke_width=1, stroke_opacity=0.45, fill="none"),
            rectangle(3, 3.5, width - 6, 16, 4, fill=theme.card, stroke=ink, stroke_width=0.8),
        ]
        if copies == 1 or not is_narrow:
            parts.append(words(5, 17, "?", SMALL, bold=True, fill=ink))
    else:
        right, edge = number(width - 5), number(width - 1.5)
        band = f"M1.5 5Q1.5 1.5 5 1.5H{right}Q{edge} 1.5 {edge} 5V21H1.5Z"
        parts += [
            path(band, fill=ink),
            words(4, 17, str(rank + LOWEST_CARD), 16.5, bold=True, fill=on),
        ]
    if copies > 1:
        y = 16.8 if is_back else 16.7
        x = width / 2 + (0.5 if not is_narrow else -4 if is_back else 6)
        parts.append(label(x, y, f"×{copies}", SMALL, on, data_copies=copies))
    # A narrow strip has room for its value and its number, whose column tells the colour.
    if copies == 1 or (copies < 10 and (is_back or not is_narrow)):
        parts.append(at(*sign_at, suit(theme, colour, 4.2, None if is_back else sign_fill)))
    if height > 44 and not is_back:
        parts.append(at(width / 2, height / 2 + 10, suit(theme, colour, 9)))
    return "".join(parts)


@functools.cache
def own_card(theme: Theme, colour: int, rank: int, copies: int, width: float) -> str:
    """Draw a card of the viewer's own hand (of several equal ones), its corner at the origin: its
    value, and the skyscrapers that it allows (COM-10), beside it on a wide card, else below.
    """
    ink, on, is_wide = theme.suits[colour], theme.paper, width > 40
    left, top, most = (24, 1, 24) if is_wide else (1, 69, 13)
    middle, room, edge = (left if is_wide else width) / 2, width - left - 1, {"stroke": ink}
    floors, box = int(BUILD_LIMIT[rank]), (width, OWN_HEIGHT, 6)
    parts = [
        rectangle(3, -3, *box, fill=theme.card, **edge) if copies > 1 else "",
        rectangle(0, 0, *box, fill=ink, **edge),
        label(middle, 22, str(rank + LOWEST_CARD), 20, on),
        at(middle, 36, suit(theme, colour, min(6, middle - 3), on)),
        rectangle(left, top, room, OWN_HEIGHT - top - 1, 5, fill=theme.card),
        at(left + room / 2 - 2, OWN_HEIGHT - most / 3, tower(theme, ALEA, floors, 12, most)),
    ]
    if is_wide:
        parts.append(at(left + room / 2, 26, suit(theme, colour, min(11, room / 2 - 2))))
    if copies > 1:
        parts.append(label(middle, 64, f"×{copies}", SMALL, on, data_copies=copies))
    return "".join(parts)


@functools.cache
def small_card(theme: Theme, colour: int, rank: int) -> str:
    """Draw a card of a bid, 24 by 34, its corner at the origin."""
    ink = theme.suits[colour]
    face = rectangle(0, 0, 24, 34, 4, fill=theme.card, stroke=ink, stroke_width=1.6)
    value = words(4, 16, str(rank + LOWEST_CARD), SMALL, bold=True, fill=ink)
    return face + value + at(15.5, 24.5, suit(theme, colour, 5.4))


@functools.cache
def coin(theme: Theme, text: str, r: float = 9.0) -> str:
    """Draw victory points."""
    disc = circle(0, 0, r, fill=theme.gold, stroke=theme.on_gold, stroke_width=1)
    size = max(r * 1.15, SMALL)
    return disc + label(0, size * 0.34, text, size, theme.on_gold)


# FIFTH AVENUE, in strokes.
_LETTERS: Final = (
    '<path d="M0 0V-20H11M0-10.5H8" transform="translate(0 0)"/>'
    '<path d="M0 0V-20" transform="translate(14 0)"/>'
    '<path d="M0 0V-20H11M0-10.5H8" transform="translate(18.5 0)"/>'
    '<path d="M-1-20H13M6 0V-20" transform="translate(32.5 0)"/>'
    '<path d="M0 0V-20M12 0V-20M0-8H12" transform="translate(48.5 0)"/>'
    '<path d="M0 0L7-20L14 0M3-6.5H11" transform="translate(74.5 0)"/>'
    '<path d="M0-20L7 0L14-20" transform="translate(92.5 0)"/>'
    '<path d="M11 0H0V-20H11M0-10.5H8" transform="translate(110.5 0)"/>'
    '<path d="M0 0V-20L12 0V-20" transform="translate(125.5 0)"/>'
    '<path d="M0-20V-6Q0 0 6 0Q12 0 12-6V-20" transform="translate(142.5 0)"/>'
    '<path d="M11 0H0V-20H11M0-10.5H8" transform="translate(159.5 0)"/>'
)
_PICTURES: Final = {
    "skyline": (
        '<path d="'
        "M0 92V58H34V40H66V52H97V30H133V44H165V62H198V34H227V48H257V26H281V54H308V38H334V60"
        "H359V32H387V46H413V56H437V36H471V58H505V40H537V52H568V30H604V44H636V62H669V34H698V48"
        "H728V26H752V54H779V38H805V60H830V32H858V46H884V56H908V36H942V58H976V40H1008V52H1039"
        "V30H1075V44H1107V62H1140V34H1169V48H1199V26H1223V92Z"
        '" fill="{t.skyline}"/>'
    ),
    "upright skyline": (
        '<path d="'
        "M0 92V58H34V40H66V52H97V30H133V44H165V62H198V34H227V48H257V26H281V54H308V38H334V60"
        "H359V32H387V46H413V56H437V36H471V58H505V40H537V52H568V30H604V44H636V62H669V92Z"
        '" fill="{t.skyline}"/>'
    ),
    "crown": (
        '<path class="crown" d="M-9 0L-9-9L-4-4.5L0-11L4-4.5L9-9L9 0Z" fill="{t.gold}" '
        'stroke="{t.on_gold}" stroke-width="0.9"/>'
    ),
    "flag": (
        '<title>on turn</title><path d="M-6 8V-9" stroke="{t.on_gold}" stroke-width="2"/>'
        '<path d="M-6-9H8L4-4.5L8 0H-6Z" fill="{t.tile}" stroke="{t.on_gold}" '
        'stroke-width="0.8"/>'
    ),
    "gavel": (
        '<g transform="rotate(-40)">'
        '<rect x="-1.6" y="-1" width="3.2" height="15" rx="1.4" fill="#7a4a21" '
        'stroke="{t.on_gold}" stroke-width="0.8"/>'
        '<rect x="-8" y="-7" width="16" height="8" rx="2" fill="{t.gold}" stroke="{t.on_gold}" '
        'stroke-width="0.9"/></g>'
    ),
    "stop": (
        '<rect x="-60" y="-46" width="120" height="98" rx="10" fill="{t.panel}" '
        'stroke="{t.block_edge}" stroke-width="1.4"/><g transform="translate(0 -4)">'
        '<path d="M-33 8v13M33 8v13" stroke="#5a5048" stroke-width="4"/>'
        '<rect x="-50" y="-8" width="100" height="16" rx="3" fill="#fff8ee" stroke="#5a5048" '
        'stroke-width="1.2"/>'
        '<path d="M-48 8l8-16h7l-8 16ZM-33 8l8-16h7l-8 16ZM-18 8l8-16h7l-8 16ZM-3 8l8-16h7l-8 '
        '16ZM12 8l8-16h7l-8 16Z" fill="#c8323f"/></g>'
        '<text x="0" y="-25" font-size="20" text-anchor="middle" font-weight="bold" '
        'fill="{t.ink}">{text}</text>'
        '<text x="0" y="30" font-size="15.5" text-anchor="middle" font-weight="bold" '
        'fill="{t.faint}">BUILDING</text>'
        '<text x="0" y="46" font-size="15.5" text-anchor="middle" font-weight="bold" '
        'fill="{t.faint}">STOP</text>'
    ),
    "facade": (
        '<circle cx="-39" cy="4" r="6" fill="{t.tree}"/>'
        '<circle cx="39" cy="4" r="6" fill="{t.tree}"/>'
        '<path d="M0-37V-48" stroke="{t.suit_ink}" stroke-width="1.2"/>'
        '<path d="M0-48h11l-3 3 3 3h-11Z" fill="{t.seats[0]}"/>'
        '<path d="M-11-26A11 11 0 0 1 11-26Z" fill="{t.seats[3]}" stroke="{t.suit_ink}" '
        'stroke-width="1.1" stroke-linejoin="round"/>'
        '<rect x="-12" y="-26" width="24" height="8" fill="{t.tile}" stroke="{t.suit_ink}" '
        'stroke-width="1.1" stroke-linejoin="round"/>'
        '<rect x="-31" y="-6" width="62" height="16" fill="{t.tile}" stroke="{t.suit_ink}" '
        'stroke-width="1.1" stroke-linejoin="round"/>'
        '<path d="M-25-4V9M-15-4V9M-5-4V9M5-4V9M15-4V9M25-4V9" stroke="#b9a47c" '
        'stroke-width="4"/>'
        '<path d="M-33-6L0-19L33-6Z" fill="{t.tile}" stroke="{t.suit_ink}" stroke-width="1.1" '
        'stroke-linejoin="round"/>'
        '<rect x="-34" y="10" width="68" height="4" fill="{t.tile}" stroke="{t.suit_ink}" '
        'stroke-width="1.1" stroke-linejoin="round"/>'
    ),
    "garden": (
        '<ellipse cx="2" cy="20" rx="38" ry="20" fill="{t.water}" stroke="{t.tree}" '
        'stroke-width="1"/><g transform="translate(0 20)">'
        '<path d="M-9 0H9Q7 5 0 5Q-7 5-9 0ZM0-1V-13L8-3Z" fill="{t.tile}" stroke="{t.suit_ink}" '
        'stroke-width="0.8"/></g>'
        '<path d="M-42 -12v8M41 -10v8M-30 -6v8M43 40v8M-43 36v8M-30 43v8" stroke="#7a5a34" '
        'stroke-width="2.2"/><circle cx="-42" cy="-15.2" r="8" fill="{t.tree}"/>'
        '<circle cx="41" cy="-13.6" r="9" fill="{t.tree}"/>'
        '<circle cx="-30" cy="-8.4" r="6" fill="{t.tree}"/>'
        '<circle cx="43" cy="36.8" r="8" fill="{t.tree}"/>'
        '<circle cx="-43" cy="32.4" r="9" fill="{t.tree}"/>'
        '<circle cx="-30" cy="40.6" r="6" fill="{t.tree}"/>'
        '<text x="0" y="-39" font-size="15.5" text-anchor="middle" font-weight="bold" '
        'fill="{t.ink}">CENTRAL</text>'
        '<text x="0" y="-23" font-size="15.5" text-anchor="middle" font-weight="bold" '
        'fill="{t.ink}">PARK</text>'
    ),
    "trees": (
        '<path d="M-77 -77h.1M-77 77h.1M77 -77h.1M77 77h.1" stroke="{t.tree}" stroke-width="13" '
        'stroke-linecap="round" stroke-opacity="0.6"/>'
    ),
    "marker 0": (
        '<circle cx="0" cy="0" r="9" fill="#ffffff" stroke="#2b2521" stroke-width="1.2"/>'
        '<text x="0" y="4.2" font-size="15.5" text-anchor="middle" font-weight="bold" '
        'fill="#2b2521">w</text>'
    ),
    "marker 1": (
        '<rect x="-7.6" y="-7.6" width="15.3" height="15.3" rx="1.5" transform="rotate(45)" '
        'fill="#d8b078" stroke="#2b2521" stroke-width="1.2"/>'
        '<text x="0" y="4.2" font-size="15.5" text-anchor="middle" font-weight="bold" '
        'fill="#2b2521">b</text>'
    ),
    "lettering": (
        '<g stroke="{t.ink}" stroke-width="3.6" fill="none" stroke-linecap="square" '
        f'stroke-linejoin="miter">{_LETTERS}</g>'
        '<g stroke="{t.gold}" stroke-width="1.1" fill="none" stroke-linecap="square" '
        f'stroke-linejoin="miter">{_LETTERS}</g>'
    ),
    "commissioner 0": (
        '<path d="M-8 0Q-8.4-13-3.2-15.5H3.2Q8.4-13 8 0Z" fill="#ffffff" stroke="{t.ink}" '
        'stroke-width="1.2" stroke-linejoin="round"/>'
        '<circle cx="0" cy="-18.6" r="4.3" fill="#ffffff" stroke="{t.ink}" stroke-width="1.2" '
        'stroke-linejoin="round"/>'
        '<path d="M-6.4-21.4H6.4V-22.8H4V-29H-4V-22.8H-6.4Z" fill="#2b2521" stroke="{t.ink}" '
        'stroke-width="1.2" stroke-linejoin="round"/>'
        '<text x="0" y="-2.6" font-size="12.5" text-anchor="middle" font-weight="bold" '
        'fill="#2b2521">W</text>'
    ),
    "ghost 0": (
        '<ellipse cx="0" cy="-12" rx="13" ry="19" fill="{t.legal}" fill-opacity="0.2"/>'
        '<path d="M-8 0Q-8.4-13-3.2-15.5H3.2Q8.4-13 8 0Z" fill="#ffffff" stroke="{t.legal}" '
        'stroke-width="1.8" stroke-linejoin="round" stroke-dasharray="3 2" fill-opacity="0.7"/>'
        '<circle cx="0" cy="-18.6" r="4.3" fill="#ffffff" stroke="{t.legal}" '
        'stroke-width="1.8" stroke-linejoin="round" stroke-dasharray="3 2" fill-opacity="0.7"/>'
        '<path d="M-6.4-21.4H6.4V-22.8H4V-29H-4V-22.8H-6.4Z" fill="#ffffff" stroke="{t.legal}" '
        'stroke-width="1.8" stroke-linejoin="round" stroke-dasharray="3 2" fill-opacity="0.7"/>'
        '<text x="0" y="-2.6" font-size="12.5" text-anchor="middle" font-weight="bold" '
        'fill="#2b2521">W</text>'
    ),
    "commissioner 1": (
        '<path d="M-8 0Q-8.4-13-3.2-15.5H3.2Q8.4-13 8 0Z" fill="#d8b078" stroke="{t.ink}" '
        'stroke-width="1.2" stroke-linejoin="round"/>'
        '<circle cx="0" cy="-18.6" r="4.3" fill="#d8b078" stroke="{t.ink}" stroke-width="1.2" '
        'stroke-linejoin="round"/>'
        '<path d="M-7-21.2H7Q6.4-22.6 4.6-22.6Q4.4-27.4 '
        '0-27.4Q-4.4-27.4-4.6-22.6Q-6.4-22.6-7-21.2Z" fill="#2b2521" stroke="{t.ink}" '
        'stroke-width="1.2" stroke-linejoin="round"/>'
        '<text x="0" y="-2.6" font-size="12.5" text-anchor="middle" font-weight="bold" '
        'fill="#2b2521">B</text>'
    ),
    "ghost 1": (
        '<ellipse cx="0" cy="-12" rx="13" ry="19" fill="{t.legal}" fill-opacity="0.2"/>'
        '<path d="M-8 0Q-8.4-13-3.2-15.5H3.2Q8.4-13 8 0Z" fill="#d8b078" stroke="{t.legal}" '
        'stroke-width="1.8" stroke-linejoin="round" stroke-dasharray="3 2" fill-opacity="0.7"/>'
        '<circle cx="0" cy="-18.6" r="4.3" fill="#d8b078" stroke="{t.legal}" '
        'stroke-width="1.8" stroke-linejoin="round" stroke-dasharray="3 2" fill-opacity="0.7"/>'
        '<path d="M-7-21.2H7Q6.4-22.6 4.6-22.6Q4.4-27.4 '
        '0-27.4Q-4.4-27.4-4.6-22.6Q-6.4-22.6-7-21.2Z" fill="#d8b078" stroke="{t.legal}" '
        'stroke-width="1.8" stroke-linejoin="round" stroke-dasharray="3 2" fill-opacity="0.7"/>'
        '<text x="0" y="-2.6" font-size="12.5" text-anchor="middle" font-weight="bold" '
        'fill="#2b2521">B</text>'
    ),
    "business 0": (
        '<path d="M-3.4-8.5L-2.2-8.5Q0-5.2 2.2-8.5L3.4-8.5L3.8-3.2L2.4-.8L7 8.3Q0 10.4-7 '
        '8.3L-2.4-.8L-3.8-3.2Z" fill="#a8325a"/>'
    ),
    "business 1": (
        '<circle cx="0" cy="3.4" r="5.3" fill="none" stroke="#1f5fa8" stroke-width="1.9"/>'
        '<path d="M-3.4-8.8H3.4L5.6-6L0-.8L-5.6-6Z" fill="#1f5fa8"/>'
        '<path d="M-5.2-6H5.2" stroke="#fff" stroke-width="0.9"/>'
    ),
    "business 2": (
        '<rect x="-8.3" y="-6.8" width="16.6" height="13.6" rx="0.8" fill="none" '
        'stroke="#8a5a12" stroke-width="2"/>'
        '<path d="M-6.6 4.9L-2.2-1.6L.8 2L3-.4L6.6 4.9Z" fill="#8a5a12"/>'
        '<circle cx="3.6" cy="-3.2" r="1.6" fill="#8a5a12"/>'
    ),
    "business 3": (
        '<path d="M-1.8-4V-2.2Q-7-.4-7 4Q-7 8.6-3.4 8.6H3.4Q7 8.6 7 4Q7-.4 1.8-2.2V-4Z" '
        'fill="#5b3a94"/><circle cx="0" cy="-7" r="2.5" fill="#5b3a94"/>'
        '<path d="M-4.4 3.4Q-4.2 1 -1.6.2" fill="none" stroke="#fff" stroke-width="1.1"/>'
    ),
}
