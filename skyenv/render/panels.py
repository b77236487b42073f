"""The panels beside the board: supply row, card stacks, auction, players, latest events.

Every panel is drawn from its own corner; it gets its width and returns its height. Cached functions
draw a part each, as pure functions of its content.
"""

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Final

from skyenv.console.tables import counted
from skyenv.engine.events import Event
from skyenv.engine.knowledge import PUBLIC
from skyenv.render import shapes
from skyenv.render.colours import Theme
from skyenv.render.marks import (
    at,
    circle,
    fitted,
    group,
    label,
    path,
    rectangle,
    title,
    width_of,
    words,
    wrapped,
)
from skyenv.render.parts import Marks, Names, Part, Scene, glow, piece, thing
from skyenv.render.reasons import current_set
from skyenv.render.words import (
    Narrator,
    after_auction,
    bid_piles,
    bid_state,
    card_name,
    progress,
    seat_name,
    situation,
    winners,
)
from skyenv.rules.actions import BID, OPTION_B, TAKE
from skyenv.rules.components import (
    BLACK,
    BONUS_DISTRICTS,
    BONUS_VP,
    BUSINESSES,
    CARD_COLOURS,
    CENTRAL_PARK,
    LOWEST_CARD,
    NUM_BUSINESSES,
    NUM_COLOURS,
    NUM_RANKS,
    PLACES,
    SET_SIZES,
    SET_START,
)
from skyenv.rules.state import ALEA, NONE, PHASE_OVER, PHASE_START

# A picture from its corner, and its height.
Panel = tuple[str, float]

GAP: Final = 12.0  # between panels
_BOLD: Final = 1.08  # relative width of bold letters
_LINE: Final = 19.0  # line height of small text


def _box(theme: Theme, width: float, height: float, bright: bool = False) -> str:
    edge, thick = (theme.gold, 3) if bright else (theme.panel_edge, 1.2)
    return rectangle(0, 0, width, height, 10, fill=theme.panel, stroke=edge, stroke_width=thick)


def _heading(theme: Theme, text: str, y: float = 22) -> str:
    return words(12, y, text, shapes.SMALL, bold=True, fill=theme.faint)


# ---- the headline ----

_NOW: Final = 23.0


def headline(scene: Scene, width: float) -> Panel:
    """Draw the headline: the game's name, the situation (a crown once it is over), and the
    progress.
    """
    theme, (left, down, most) = scene.theme, (0.0, 58.0, 2) if scene.upright else (285.0, 0.0, 1)
    parts, room = progress(scene.table), width - left - 36
    if (reader := scene.table.seat) is not None:
        parts.append(f"seen by {'all' if reader == PUBLIC else seat_name(reader, scene.agents)}")
    now = _lines(situation(scene.table, scene.agents), _NOW, room / _BOLD, most)
    lines, below = _lines(" · ".join(parts), shapes.SMALL, room, most), 26 * len(now)
    sign = at(2, 44, shapes.picture(theme, "lettering"), scale=1.25)
    is_over = scene.game.seat == NONE
    crown = at(0, 7, shapes.picture(theme, "crown"))
    head = crown if is_over else shapes.emblem(theme, scene.game.seat, 11)
    drawn = [at(14, 23, head)]
    for i, line in enumerate(now):
        drawn.append(words(36, 31 + 26 * i, line, _NOW, bold=True, fill=theme.ink))
    for i, line in enumerate(lines):
        drawn.append(words(36, 27 + below + 19 * i, line, shapes.SMALL, fill=theme.faint))
    name_slot = scene.drawing.add(Part("name", sign))
    headline_slot = scene.drawing.add(Part("headline", "".join(drawn)))
    return name_slot + at(left, down, headline_slot), down + 19 + below + 19 * len(lines)


def _lines(text: str, size: float, width: float, most: int) -> tuple[str, ...]:
    """Return the text in at most `most` lines, the last one truncated if too wide."""
    lines = wrapped(text, size, width)
    if len(lines) > most:
        return (*lines[: most - 1], fitted(" ".join(lines[most - 1 :]), size, width))
    return lines


# ---- the supply row ----

# BUS-4: the sets that end with special points.
_BONUS_AFTER: Final = (1, 3, 5)
# By whether the picture is upright: a tile's width, the panel's height, the heading's line, and
# where the sets stand.
_ROW: Final = {
    False: (
        *(33.0, 58.0, 35),
        ((120, 8), (231, 8), (377, 8), (488, 8), (634, 8), (745, 8), (891, 8), (1002, 8)),
    ),
    True: (
        *(30.5, 138.0, 22),
        (
            *((11.2, 30), (114.7, 30), (251.7, 30), (355.2, 30)),
            *((17.2, 84), (120.7, 84), (257.7, 84), (361.2, 84)),
        ),
    ),
}


def supply_row(scene: Scene, width: float) -> Panel:
    """Draw the supply row: the sets from left to right (SET-3), the current one raised, with the
    special points between them (BUS-4).
    """
    game, (space, height, down, spots) = scene.game, _ROW[scene.upright]
    current = NONE if game.phase == PHASE_OVER else current_set(vars(game))
    of_kind = tuple(scene.marks(OPTION_B + kind) for kind in range(NUM_BUSINESSES))
    drawn = _box(scene.theme, width, height) + _heading(scene.theme, "SUPPLY ROW", down)
    for index, size in enumerate(SET_SIZES):
        tiles = game.row[SET_START[index] : SET_START[index] + size]
        marks = of_kind if index == current else None
        is_done = index in _BONUS_AFTER and game.placed >= 3 * (_BONUS_AFTER.index(index) + 1)
        part = _set(scene.theme, space, index, tiles, marks, is_done)
        drawn += at(*spots[index], scene.drawing.add(part))
    return scene.drawing.add(Part("supply row", drawn)), height


@lru_cache(maxsize=512)
def _set(
    theme: Theme,
    space: float,
    index: int,
    shown: tuple[int, ...],
    marks: tuple[Marks, ...] | None,
    is_done: bool,
) -> Part:
    """Draw one set, and the special points after it.

    Args:
        theme: the colours. space: width of a tile's place. index: the set's. shown: its tiles.
        marks: for each type whether it may be taken; None: not the current set. is_done: whether
            the special points are over.
    """
    fill, edge, thick = theme.street, theme.panel_edge, 1.0
    if marks is not None:
        fill, edge, thick = theme.block, theme.gold, 2.6
    length = len(shown) * space
    drawn = rectangle(0, 0, length + 6, 42, 8, fill=fill, stroke=edge, stroke_width=thick)
    for kind in sorted(set(shown)):
        xs = [3 + space * (i + 0.5) for i, tile in enumerate(shown) if tile == kind]
        drawn += _tiles(theme, kind, xs, marks)
    return Part(f"set {index + 1}", drawn + at(length + 37, 21, _bonus(theme, index, is_done)))


def _tiles(theme: Theme, kind: int, xs: Sequence[float], marks: tuple[Marks, ...] | None) -> str:
    """Draw the tiles of one type in a set, or its empty spaces."""
    if kind == NONE:
        empty = {"fill": "none", "stroke": theme.block_edge, "stroke_width": 1.2}
        spaces = [rectangle(x - 12, 9, 24, 24, 7, **empty, stroke_dasharray="3 3") for x in xs]
        return "".join(spaces)
    tile = shapes.business(theme, kind, 13)
    tiles = "".join(at(x, 21, tile, **piece(f"business-{kind}")) for x in xs)
    if marks is None:
        return title(BUSINESSES[kind]) + tiles
    shine = glow(theme, marks[kind], "".join(rectangle(x - 14.5, 6.5, 29, 29, 7) for x in xs))
    what = f"{BUSINESSES[kind]} in the current set"
    return thing([OPTION_B + kind], marks[kind], what, shine, tiles, row_type=kind)


def _bonus(theme: Theme, index: int, is_done: bool) -> str:
    """Draw the event at the end of a set (BUS-4, BUS-5); beside the VP the number of districts
    (rings) needed.
    """
    if index == len(SET_SIZES) - 1:
        return title("the game ends") + label(0, 5, "END", shapes.SMALL, theme.seats[0])
    if index not in _BONUS_AFTER:
        return ""
    bonus = _BONUS_AFTER.index(index)
    vp, districts = BONUS_VP[bonus], BONUS_DISTRICTS[bonus]
    what = title(f"{vp} VP for skyscrapers in at least {districts} districts")
    coin = at(-13, 0, shapes.coin(theme, str(vp), 12))
    text = words(1, 5, f"{districts}+", shapes.SMALL, bold=True, fill=theme.ink)
    dashes = {"stroke": theme.faint, "stroke_width": 4, "stroke_dasharray": "5.6 1.3"}
    ring = circle(28, 0, 5.5, fill="none", **dashes)
    return group(what, coin, text, ring, opacity=0.35 if is_done else None)


# ---- the stacks ----


def stacks(scene: Scene, width: float) -> Panel:
    """Draw the stacks: per colour the visible card, the number face down, and the returned cards in
    the order they come up (AUC-8).
    """
    step = (width - 16) / (NUM_COLOURS + 1)
    drawn = _box(scene.theme, width, 148) + _heading(scene.theme, "CARD STACKS")
    for colour in range(len(CARD_COLOURS)):
        part = scene.drawing.add(_stack(scene, colour, step))
        drawn += at(8 + step * (colour + 0.5), 32, part)
    return scene.drawing.add(Part("stacks", drawn)), 148.0


def _stack(scene: Scene, colour: int, width: float) -> Part:
    """Draw a stack, its top in the middle above the origin; its title lists all returned cards, its
    text as many as fit.
    """
    theme, game, face_down = scene.theme, scene.game, scene.table.face_down[colour]
    half, high, name = shapes.CARD_WIDTH / 2, shapes.CARD_HEIGHT, CARD_COLOURS[colour]
    offsets = range(2 * min(face_down, 3), 0, -2)
    fan = [rectangle(by - half, by, 2 * half, high, 5) for by in offsets]
    edge = {"fill": theme.panel, "stroke": theme.suits[colour], "stroke_width": 1}
    parts, marks, actions = [group(*fan, **edge)] if fan else [], scene.marks(), []
    if colour == BLACK:
        top, paid = NONE, sum(game.black_face_up)
        cards, is_empty, on_top = face_down + paid, not face_down, ""
        below = f"+{paid}" if paid else ""
        behind = f"; {counted(paid, 'paid card')} face up below" if paid else ""
    else:
        top, returned = game.top[colour], game.returned[colour][: game.num_returned[colour]]
        values, actions = "".join(str(rank + LOWEST_CARD) for rank in returned), [TAKE + colour]
        cards, is_empty = face_down + len(values) + (top != NONE), top == NONE
        on_top = f": {card_name(colour, top)} on top"
        below = fitted(values, shapes.SMALL, width - 6)
        behind = f"; returned cards below, next one first: {', '.join(values)}" if values else ""
        marks = scene.marks(*actions)
        parts.append(glow(theme, marks, rectangle(-half - 2, -2, 2 * half + 4, high + 4, 7)))
    picture = at(-half, 0, shapes.card(theme, colour, top))
    if is_empty:
        empty = {"fill": "none", "stroke": theme.suits[colour], "stroke_dasharray": "4 3"}
        picture = rectangle(-half, 0, 2 * half, high, 5, **empty, stroke_width=1.4)
        picture += at(0, 28, group(shapes.suit(theme, colour, 8), opacity=0.4))
    value = None if top == NONE else top + LOWEST_CARD
    on_stack = piece(f"card-{colour}", cards) | {"data_value": value}
    parts.append(group(picture, **on_stack) if cards else picture)
    what = f"{name} stack{': empty' if is_empty else on_top}; "
    what += f"{counted(face_down, 'card')} face down{behind}"
    parts.append(label(0, 81, str(face_down), shapes.SMALL, theme.ink))
    if below:
        parts.append(words(0, 99, below, shapes.SMALL, middle=True, fill=theme.faint))
    return Part(f"stack {name}", thing(actions, marks, what, *parts, stack=colour))


# ---- the auction ----

_BIDDER: Final = 46.0
# In a bidder's row: the first card's left edge, the widest step to the next, and the width that
# cards leave free.
CARDS_FROM: Final = 38
CARD_STEP: Final = 26
CARDS_LEAVE: Final = 128


def auction(scene: Scene, width: float) -> Panel:
    """Draw the current auction: the place, later ones, all cards on the table, the highest bid, and
    bidders who are out.
    """
    game, theme, small, bidders = scene.game, scene.theme, shapes.SMALL, scene.table.bidders
    place = "PARK AREA" if game.auction_place == CENTRAL_PARK else PLACES[game.auction_place]
    after = wrapped(after_auction(vars(game)), small, width - 50)
    top = 31 + _LINE * len(after)
    height = top + 8 + _BIDDER * len(bidders)
    parts = [
        _box(theme, width, height, bright=True),
        at(22, 24, shapes.picture(theme, "gavel")),
        words(40, 25, f"AUCTION: {place}", 16, bold=True, fill=theme.ink),
    ]
    for i, text in enumerate(after):
        parts.append(words(40, 43 + _LINE * i, text, small, fill=theme.faint))
    for i, bidder in enumerate(bidders):
        line = scene.drawing.add(Part(f"bidder {i + 1}", _bidder(scene, bidder, width - 16)))
        parts.append(at(8, top + _BIDDER * i, line))
    return scene.drawing.add(Part("auction", "".join(parts))), height


def _bidder(scene: Scene, bidder: int, width: float) -> str:
    """Draw a bidder's line: its cards, their total, and its status."""
    game, theme, middle = scene.game, scene.theme, _BIDDER / 2
    cards = [
        (colour, rank)
        for colour, counts in bid_piles(vars(game), bidder)
        for rank in range(NUM_RANKS)
        for _ in range(counts[rank])
    ]
    is_highest, total = bidder == game.highest_bidder, sum(rank + LOWEST_CARD for _, rank in cards)
    state = bid_state(vars(game), bidder)
    is_out = state == "out"
    bid = f"{total} on the table" if total else "no bid"
    ground = {"fill": theme.gold, "fill_opacity": 0.3} if is_highest else {"fill": theme.block}
    parts = [
        title(f"{seat_name(bidder, scene.agents)}: {bid}{', out' if is_out else ''}"),
        rectangle(0, 2, width, _BIDDER - 4, 7, **ground),
        at(19, middle, shapes.emblem(theme, bidder, 10)),
    ]
    if bidder == game.seat:
        parts.append(path(f"M-4 {middle - 7:.1f}l8 7l-8 7Z", fill=theme.legal))
    step = min(CARD_STEP, (width - CARDS_LEAVE) / max(len(cards) - 1, 1))
    for i, card in enumerate(cards):
        drawn = shapes.small_card(theme, *card)
        parts.append(at(CARDS_FROM + step * i, 6, drawn, **piece(f"card-{card[0]}")))
    if cards:
        on = {"end": True, "bold": True, "fill": theme.ink}
        parts.append(words(width - 8, middle + 7, str(total), 20, **on))
    if is_highest:
        parts.append(at(width - 45, middle + 5, shapes.picture(theme, "crown")))
    elif state:
        x = width - 38 if cards else 40
        parts.append(words(x, middle + 5, state, shapes.SMALL, fill=theme.faint, end=cards))
    return group(*parts, opacity=0.6 if is_out else None, data_seat=bidder)


# ---- the players ----

_STRIP: Final = 24.0
_HAND: Final = 62.0
# In wide pictures of more than two players, the width of the viewer's own panel by another's.
_OWN_SHARE: Final = 1.5
# The width in which a row of all kinds of cards shows their values.
_ROOM: Final = 24.0 * (NUM_COLOURS + 1) * NUM_RANKS + shapes.OWN_WIDTH

# A hand: for each colour its ranks (NONE: unknown) and their numbers.
_Piles = tuple[tuple[tuple[int, int], ...], ...]


def players(scene: Scene, width: float) -> Panel:
    """Draw every seat's score, skyscrapers and hand."""
    number_of, add, drawn, x, y = scene.game.num_players, scene.drawing.add, "", 0.0, 0.0
    own, shares = scene.table.seat, [1.0] * number_of
    if number_of > 2 and own is not None and own != PUBLIC:
        shares[own] = _OWN_SHARE
    unit = (width - GAP * (number_of - 1)) / sum(shares)
    hands = [_hand_of(scene, seat) for seat in range(number_of)]
    widths = [width if scene.upright else unit * share for share in shares]
    is_row = [own == seat or (own is None and widths[seat] >= _ROOM) for seat in range(number_of)]
    heights = [_player_height(scene, *each) for each in zip(hands, is_row, strict=True)]
    if not scene.upright:
        heights = [max(heights)] * number_of
    for seat, (hand, wide) in enumerate(zip(hands, widths, strict=True)):
        cards, is_open = range(BID, BID + NUM_RANKS * len(hand)), own in (None, seat)
        can_play = is_open and (scene.game.seat == seat or scene.legal is None)
        marks = scene.marks(*cards) if can_play else ()
        draw = _row_hand if is_row[seat] else partial(_hand, is_open=is_open)
        parts = (
            add(_player(scene, seat, wide, heights[seat])),
            add(_supply(scene, seat, wide)),
            add(draw(scene.theme, seat, hand, marks, wide, scene.agents)),
        )
        drawn += at(x, y, *parts)
        x += 0 if scene.upright else wide + GAP
        y += heights[seat] + GAP if scene.upright else 0
    return drawn, y - GAP if scene.upright else heights[0]


def _player_height(scene: Scene, hand: _Piles, is_row: bool) -> float:
    """Return the height for a row of cards, or for the longest column; constant in wide pictures,
    so that films have equal frames.
    """
    if is_row:
        return _HAND + shapes.OWN_HEIGHT + 14
    most = NUM_RANKS if scene.table.seat is None else NUM_RANKS + 1
    piles = max(2, *map(len, hand)) if scene.upright else most
    return _HAND + _STRIP * (piles - 1) + 34 + 10


def _hand_of(scene: Scene, seat: int) -> _Piles:
    """Return the cards in a hand, unknown ones first."""
    return tuple(
        tuple((rank, copies) for rank, copies in enumerate((unknown, *known), NONE) if copies)
        for known, unknown in zip(
            scene.game.hand[seat], scene.table.unknown[seat].tolist(), strict=True
        )
    )


def _player(scene: Scene, seat: int, width: float, height: float) -> Part:
    """Draw a seat's panel without its skyscrapers and cards."""
    game, theme, is_over = scene.game, scene.theme, scene.game.phase == PHASE_OVER
    right, points, on = f"{width:.1f}", f"{game.score[seat]} VP", theme.on_seats[seat]
    band = f"M0 34V10Q0 0 10 0H{width - 10:.1f}Q{right} 0 {right} 10V34Z"
    agent = scene.agents[seat] if scene.agents else None
    has_won = is_over and seat in winners(scene.table)
    parts = [
        _box(theme, width, height, bright=has_won),
        path(band, fill=theme.seats[seat]),
        circle(20, 17, 14, fill=theme.badge),
        at(20, 17.5, shapes.emblem(theme, seat, 9)),
        words(42, 23.5, fitted(agent or seat_name(seat), 17, width - 150), 17, bold=True, fill=on),
        words(width - 12, 25, points, 21, end=True, bold=True, fill=on, data_vp=game.score[seat]),
    ]
    beside = width - 30 - _BOLD * width_of(points, 21)
    if has_won:
        parts.append(at(beside, 24, shapes.picture(theme, "crown")))
    elif game.turn_seat == seat and not is_over and game.phase != PHASE_START:
        parts.append(at(beside, 17, shapes.picture(theme, "flag")))
    if game.seat == seat:
        frame, style = (-2, -2, width + 4, height + 4, 12), {"fill": "none", "stroke": theme.legal}
        glowing = rectangle(*frame, **style, stroke_width=6, stroke_opacity=0.3, data_acting=seat)
        parts.append(glowing)
        parts.append(rectangle(*frame, **style, stroke_width=2.4))
    return Part(f"seat {seat + 1}", "".join(parts))


def _supply(scene: Scene, seat: int, width: float) -> Part:
    """Draw the skyscrapers ready to build, those in the general supply, and the number of cards."""
    ready, general, small = scene.game.supply[seat], scene.game.general[seat], shapes.SMALL
    text, held = f"{ready} ready, {general} more", counted(scene.table.cards_in_hand(seat), "card")
    step = min(15.0, (width - 120 - width_of(text, small)) / max(ready, 1))
    tower = shapes.tower(scene.theme, seat, 1, 11, 7)
    x = 34 + step * (ready - 1) if ready else 12
    what = f"{counted(ready, 'skyscraper')} in the supply, {general} in the general supply"
    parts = [
        title(f"{what}, {held} in hand"),
        *(at(18 + step * i, 58, tower, **piece(f"tower-{seat}")) for i in range(ready)),
        words(x, 56, text, small, fill=scene.theme.ink),
        words(width - 12, 56, held, small, end=True, fill=scene.theme.ink),
    ]
    return Part(f"seat {seat + 1}.supply", "".join(parts))


@lru_cache(maxsize=1024)
def _hand(
    theme: Theme, seat: int, hand: _Piles, marks: Marks, width: float, agents: Names, is_open: bool
) -> Part:
    """Draw a hand, a column for each colour, a strip for each value; unknown cards as backs.

    Args:
        theme: the colours. seat: the owner. hand: its cards. marks: the cards that may be laid
            down. width: the panel's width. agents: names by seat. is_open: whether it is drawn as
            its owner sees it.
    """
    step, owner, columns = (width - 16) / (NUM_COLOURS + 1), seat_name(seat, agents), []
    wide = min(step - 3, 58.0)
    for colour, piles in enumerate(hand):
        x = 8 + step * colour + (step - wide) / 2
        for i, (rank, copies) in enumerate(piles):
            which = seat, colour, rank, copies
            picture = shapes.card(theme, *which[1:], 34, wide)
            own = marks if is_open else ()
            drawn = _pile(theme, which, owner, picture, (1, 1, wide - 2, 32, 5), own, is_open)
            pile = piece(f"card-{colour}:{rank}", copies)
            columns.append(at(x, _HAND + _STRIP * i, drawn, **pile))
        if not piles:
            sign = group(shapes.suit(theme, colour, 5), opacity=0.25)
            columns.append(at(x + wide / 2, _HAND + 16, sign))
    return Part(f"seat {seat + 1}.hand", "".join(columns))


@lru_cache(maxsize=256)
def _row_hand(
    theme: Theme, seat: int, hand: _Piles, marks: Marks, width: float, agents: Names
) -> Part:
    """Draw the viewer's own hand, or an open one, as a row of cards, narrower where there are many.

    Args:
        theme, seat, hand, marks, width, agents: as for :func:`_hand`.
    """
    high, owner, drawn = shapes.OWN_HEIGHT, seat_name(seat, agents), ""
    cards = [(colour, *pile) for colour, piles in enumerate(hand) for pile in piles]
    step = min(shapes.OWN_WIDTH + 8, (width - 20) / max(len(cards), 1))
    wide = min(shapes.OWN_WIDTH, step - 4)
    for i, card in enumerate(cards):
        picture, outline = shapes.own_card(theme, *card, wide), (-1, -1, wide + 2, high + 2, 7)
        pile = _pile(theme, (seat, *card), owner, picture, outline, marks, True)
        colour, rank, copies = card
        drawn += at(12 + step * i, _HAND + 6, pile, **piece(f"card-{colour}:{rank}", copies))
    return Part(f"seat {seat + 1}.hand", drawn)


def _pile(
    theme: Theme,
    which: tuple[int, ...],
    owner: str,
    picture: str,
    outline: Sequence[float],
    marks: Marks,
    is_open: bool,
) -> str:
    """Mark the picture of equal cards of a hand (`which`: seat, colour, rank, number); in an open
    hand they may be laid down, and glow along the `outline` then.
    """
    seat, colour, rank, copies = which
    action = BID + NUM_RANKS * colour + rank
    if rank == NONE:
        unknown = counted(copies, f"{CARD_COLOURS[colour]} card")
        return title(f"{unknown} of {owner}, not known") + picture
    what = f"{'1' if copies == 1 else f'{copies} ×'} {card_name(colour, rank)} of {owner}"
    if not is_open:
        return title(what) + picture
    own = marks if marks is None else tuple(one for one in marks if one == action)
    shine = glow(theme, own, rectangle(*outline))
    return thing([action], own, what, picture, shine, card=f"{seat}:{colour}:{rank}")


def alea(scene: Scene, width: float) -> Panel:
    """Draw Alea's skyscrapers (ALEA-1)."""
    theme, left, small = scene.theme, scene.game.alea_supply, shapes.SMALL
    house = at(44, 29, shapes.tower(theme, ALEA, 1, 11, 8), **piece(f"tower-{ALEA}", left))
    text = words(57, 26, f"Alea has {counted(left, 'skyscraper')} left", small, fill=theme.ink)
    sign = at(22, 20, shapes.emblem(theme, ALEA, 10))
    return scene.drawing.add(Part("Alea", _box(theme, width, 40) + sign + house + text)), 40.0


# ---- the last events ----


def events_log(scene: Scene, events: Sequence[Event], width: float, height: float) -> str:
    """Draw the latest events in whole entries, as many as fit, the newest at the bottom; a single
    entry that is too long is truncated.
    """
    seat, theme, room = scene.table.seat, scene.theme, int((height - 34) / _LINE)
    lines = Narrator(scene.agents, seat, is_open=seat is None).lines(events)[-max(room, 1) :]
    entries = [wrapped(line.text, shapes.SMALL, width - 34) for line in lines]
    while len(entries) > 1 and sum(map(len, entries)) > room:
        entries.pop(0)
    drawn, y = _box(theme, width, height) + _heading(theme, "LOG"), 40.0
    for number, entry in enumerate(entries, 1):
        is_newest = number == len(entries)
        fill = theme.ink if is_newest else theme.faint
        for i, line in enumerate(entry[: max(room, 0)]):
            drawn += "" if i else circle(16, y - 4.5, 2.2, fill=theme.gold)
            drawn += words(24, y, line, shapes.SMALL, bold=is_newest, fill=fill)
            y += _LINE
    return scene.drawing.add(Part("log", drawn))
