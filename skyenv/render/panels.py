"""What lies beside the board: the supply row, the card stacks, the auction, the players, the last
events, an agent's evaluation.

Every panel is drawn from its own corner; it is given its width and tells its height. Functions that
draw a part take what it shows, as numbers or as the bytes of a record's :class:`Fields`, and
nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from skyenv.agents.interface import Evaluation
from skyenv.engine.events import Event
from skyenv.engine.knowledge import PUBLIC
from skyenv.render import shapes
from skyenv.render.colours import Theme
from skyenv.render.marks import (
    at,
    circle,
    element,
    fitted,
    group,
    path,
    rectangle,
    title,
    width_of,
    words,
    wrapped,
)
from skyenv.render.parts import Fields, Part, remembered, slot
from skyenv.render.reasons import build_limit, current_set
from skyenv.render.scene import Marks, Scene, glow, piece, thing
from skyenv.render.words import (
    action_text,
    card_name,
    counted,
    log,
    progress,
    seat_name,
    situation,
    tops_told,
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
from skyenv.rules.state import ALEA, ALEA_OUT, ALEA_WAITS, NONE, PHASE_OVER, PHASE_START

Panel = tuple[str, float]
"""A picture from its corner, and its height."""
_Names = tuple[str | None, ...] | None

_ROW: Final = Fields("row")
_TILE: Final = Fields("row", depth=1)
_STACK: Final = Fields("top", "returned", "num_returned", depth=1)
_PAID: Final = Fields("black_face_up")
_AUCTION: Final = Fields(
    *(
        "auction_place",
        "auction_commissioner",
        "visited",
        "highest",
        "highest_bidder",
        "bid_cards",
        "bid_colour",
        "out",
    ),
    *("alea", "alea_cards", "turn_seat", "seat", "num_players"),
)
_HAND_CARDS: Final = Fields("hand", depth=1)
_STORES: Final = Fields("supply", "general", depth=1)

GAP: Final = 12.0
"""Between panels."""
_BOLD: Final = 1.08
"""How much wider bold letters are."""


def _box(theme: Theme, width: float, height: float, bright: bool = False) -> str:
    edge = theme.gold if bright else theme.panel_edge
    return rectangle(
        0, 0, width, height, 10, fill=theme.panel, stroke=edge, stroke_width=3 if bright else 1.2
    )


def _heading(theme: Theme, text: str) -> str:
    return words(12, 22, text, shapes.SMALL, bold=True, fill=theme.faint)


# ---- the headline ----


def headline(scene: Scene, width: float, name: str | None) -> Panel:
    """The game's name, who is about to do what, and how far the game has come."""
    parts = progress(scene.table)
    if scene.table.seat is not None:
        parts.append(
            "seen by "
            f"{'all' if scene.table.seat == PUBLIC else seat_name(scene.table.seat, scene.agents)}"
        )
    left, down = (0.0, 58.0) if scene.upright else (285.0, 0.0)
    room, most = width - left - 36, 2 if scene.upright else 1
    now = _lines(situation(scene.table, scene.agents), _NOW, room / _BOLD, most)
    lines = _lines(" · ".join(parts), _PROGRESS, room, most)
    sign = scene.drawing.add(_sign(scene.theme, name, width if scene.upright else 260))
    told = scene.drawing.add(_told(scene.theme, scene.number("seat"), now, lines))
    return sign + at(left, down, told), down + 45 + 26 * (len(now) - 1) + 19 * len(lines)


@remembered(64)
def _sign(theme: Theme, name: str | None, width: float) -> Part:
    """What the game is called."""
    if name:
        return Part("name", words(0, 40, fitted(name, 30, width), 30, bold=True, fill=theme.ink))
    return Part("name", at(2, 44, shapes.lettering(theme, "FIFTH AVENUE"), scale=1.25))


_NOW: Final = 23.0
_PROGRESS: Final = shapes.SMALL


@remembered(1024)
def _told(theme: Theme, seat: int, now: tuple[str, ...], lines: tuple[str, ...]) -> Part:
    """Who is about to do what (or the crown, if nobody is), and lines below."""
    mark = shapes.emblem(theme, seat, 11) if seat != NONE else at(0, 7, shapes.crown(theme))
    large = [
        words(36, 31 + 26 * i, line, _NOW, bold=True, fill=theme.ink) for i, line in enumerate(now)
    ]
    down = 53 + 26.0 * (len(now) - 1)
    small = [
        words(36, down + 19 * i, line, _PROGRESS, fill=theme.faint) for i, line in enumerate(lines)
    ]
    return Part("headline", "".join([at(14, 23, mark), *large, *small]))


def _lines(text: str, size: float, width: float, most: int) -> tuple[str, ...]:
    """The text in at most so many lines, the last one cut short where it would be too wide."""
    lines = wrapped(text, size, width)
    if len(lines) > most:
        return (*lines[: most - 1], fitted(" ".join(lines[most - 1 :]), size, width))
    return lines


# ---- the supply row ----

_BONUS_AFTER: Final = (1, 3, 5)
"""BUS-4: the sets after which special points are given."""


def supply_row(scene: Scene, width: float) -> Panel:
    """SET-3: the sets from left to right, the current one raised, with the special points between
    them (BUS-4).
    """
    placed = scene.number("placed")
    current = NONE if scene.number("phase") == PHASE_OVER else current_set({"placed": placed})
    row = _ROW.read(scene.raw)
    for index, size in enumerate(SET_SIZES):
        tiles = row[SET_START[index] : SET_START[index] + size]
        marks = (
            tuple((kind, scene.marks(OPTION_B + kind)) for kind in range(NUM_BUSINESSES))
            if index == current
            else None
        )
        is_done = index in _BONUS_AFTER and placed >= 3 * (_BONUS_AFTER.index(index) + 1)
        scene.drawing.add(_set(scene.theme, _space(scene.upright), index, tiles, marks, is_done))
    return scene.drawing.add(_row(scene.theme, scene.upright, width)), _row_height(scene.upright)


def _row_height(upright: bool) -> float:
    return 138.0 if upright else 58.0


@remembered(8)
def _row(theme: Theme, upright: bool, width: float) -> Part:
    """The panel and where its sets are."""
    rows = ((0, 1, 2, 3), (4, 5, 6, 7)) if upright else (tuple(range(len(SET_SIZES))),)
    lines = []
    for number_of, sets in enumerate(rows):
        length = sum(_set_width(upright, index) for index in sets)
        x = (width - length + (0 if upright else 92)) / 2
        for index in sets:
            lines.append(at(x, 30 + 54 * number_of if upright else 8, slot(f"set {index + 1}")))
            x += _set_width(upright, index)
    label = (
        _heading(theme, "SUPPLY ROW")
        if upright
        else words(12, 35, "SUPPLY ROW", shapes.SMALL, bold=True, fill=theme.faint)
    )
    return Part("supply row", _box(theme, width, _row_height(upright)) + label + "".join(lines))


def _space(upright: bool) -> float:
    """Width of a space of the row."""
    return 30.5 if upright else 33.0


def _set_width(upright: bool, index: int) -> float:
    bonus = 56 if index == len(SET_SIZES) - 1 else 68 if index in _BONUS_AFTER else 0
    return SET_SIZES[index] * _space(upright) + 12 + (bonus - 4 if upright and bonus else bonus)


@remembered(512)
def _set(
    theme: Theme,
    space: float,
    index: int,
    shown: bytes,
    marks: tuple[tuple[int, Marks], ...] | None,
    is_done: bool,
) -> Part:
    """One set, and the special points behind it.

    Args:
        theme: the colours. space: width of a tile's place. index: which set. shown: its tiles, of
            ``_TILE`` each.
        marks: of each type that may be taken; None: it isn't the current set. is_done: whether the
            special points are over.
    """
    size = SET_SIZES[index]
    tray = rectangle(
        0,
        0,
        size * space + 6,
        42,
        8,
        fill=theme.street if marks is None else theme.block,
        stroke=theme.panel_edge if marks is None else theme.gold,
        stroke_width=1 if marks is None else 2.6,
    )
    spots: dict[int, list[float]] = {}
    for i in range(size):
        spots.setdefault(_TILE.numbers(shown[i : i + 1]).row, []).append(3 + space * (i + 0.5))
    of_kind = dict(marks or ())
    tiles = [
        _tiles(theme, kind, xs, of_kind.get(kind, ()), marks is not None)
        for kind, xs in sorted(spots.items())
    ]
    return Part(
        f"set {index + 1}",
        tray + "".join(tiles) + at(size * space + 37, 21, _bonus(theme, index, is_done)),
    )


def _tiles(theme: Theme, kind: int, xs: Sequence[float], marks: Marks, is_current: bool) -> str:
    """The tiles of one type in a set, or its empty spaces."""
    if kind == NONE:
        empty = {
            "fill": "none",
            "stroke": theme.block_edge,
            "stroke_width": 1.2,
            "stroke_dasharray": "3 3",
        }
        return "".join(rectangle(x - 12, 9, 24, 24, 7, **empty) for x in xs)
    tiles = "".join(
        at(x, 21, shapes.business(theme, kind, 13), **piece(f"business-{kind}")) for x in xs
    )
    if not is_current:
        return group(title(BUSINESSES[kind]), tiles)
    shine = glow(theme, marks, "".join(rectangle(x - 14.5, 6.5, 29, 29, 7) for x in xs))
    what = f"{BUSINESSES[kind]} in the current set"
    return thing([OPTION_B + kind], marks, what, shine, tiles, row_type=kind)


def _bonus(theme: Theme, index: int, is_done: bool) -> str:
    """BUS-4, BUS-5: what happens when the set is used up; beside the VP the number of districts
    (rings) needed.
    """
    if index == len(SET_SIZES) - 1:
        return group(
            title("the game ends"),
            words(0, 5, "END", shapes.SMALL, middle=True, bold=True, fill=theme.seats[0]),
        )
    if index not in _BONUS_AFTER:
        return ""
    bonus = _BONUS_AFTER.index(index)
    what = f"{BONUS_VP[bonus]} VP for skyscrapers in at least {BONUS_DISTRICTS[bonus]} districts"
    coin = at(-13, 0, shapes.coin(theme, str(BONUS_VP[bonus]), 12))
    text = words(1, 5, f"{BONUS_DISTRICTS[bonus]}+", shapes.SMALL, bold=True, fill=theme.ink)
    ring = circle(
        28, 0, 5.5, fill="none", stroke=theme.faint, stroke_width=4, stroke_dasharray="5.6 1.3"
    )
    return group(title(what), coin, text, ring, opacity=0.35 if is_done else None)


# ---- the stacks ----


def stacks(scene: Scene, width: float) -> Panel:
    """Per colour the visible card, how many are face down, and the returned ones in the order they
    come up (AUC-8).
    """
    for colour in range(NUM_COLOURS + 1):
        shown = _PAID.read(scene.raw) if colour == BLACK else _STACK.read(scene.raw, colour)
        marks = () if colour == BLACK else scene.marks(TAKE + colour)
        scene.drawing.add(
            _stack(
                scene.theme,
                colour,
                scene.table.face_down[colour],
                shown,
                marks,
                _stack_width(width),
            )
        )
    return scene.drawing.add(_piles_of_cards(scene.theme, width)), 148.0


@remembered(8)
def _piles_of_cards(theme: Theme, width: float) -> Part:
    """The panel and where its stacks are."""
    step = _stack_width(width)
    piles = [
        at(8 + step * (colour + 0.5), 32, slot(f"stack {name}"))
        for colour, name in enumerate(CARD_COLOURS)
    ]
    return Part("stacks", _box(theme, width, 148) + _heading(theme, "CARD STACKS") + "".join(piles))


def _stack_width(width: float) -> float:
    """Of each stack in a panel."""
    return (width - 16) / (NUM_COLOURS + 1)


@remembered(1024)
def _stack(
    theme: Theme, colour: int, face_down: int, shown: bytes, marks: Marks, width: float
) -> Part:
    """A stack, its top in the middle above the origin; its title tells all returned cards, its text
    as many as fit.

    Args:
        theme: the colours. colour: which. face_down: cards. shown: of ``_STACK``, of ``_PAID`` for
            the black one.
        marks: whether it may be taken from. width: what it may fill.
    """
    half = shapes.CARD_WIDTH / 2
    size = (shapes.CARD_WIDTH, shapes.CARD_HEIGHT, 5)
    below = "".join(rectangle(-half + 2 * i, 2 * i, *size) for i in range(min(face_down, 3), 0, -1))
    under = (
        group(below, fill=theme.panel, stroke=theme.suits[colour], stroke_width=1) if below else ""
    )
    if colour == BLACK:
        paid = sum(_PAID.numbers(shown).black_face_up)
        cards = face_down + paid
        top, what = _back_of_stack(theme, colour) if face_down else _no_card(theme, colour)
        below_it = f"+{paid}" if paid else ""
        behind = f"; {counted(paid, 'paid card')} face up below" if paid else ""
    else:
        game = _STACK.numbers(shown)
        cards = face_down + game.num_returned + (game.top != NONE)
        values = "".join(str(rank + LOWEST_CARD) for rank in game.returned[: game.num_returned])
        top, what = (
            _front_of_stack(theme, colour, game.top)
            if game.top != NONE
            else _no_card(theme, colour)
        )
        below_it = fitted(values, shapes.SMALL, width - 6)
        behind = f"; returned cards below, next one first: {', '.join(values)}" if values else ""
    top = group(top, **piece(f"card-{colour}", cards)) if cards else top
    what += f"; {counted(face_down, 'card')} face down{behind}"
    left = words(0, 81, str(face_down), shapes.SMALL, middle=True, bold=True, fill=theme.ink)
    returned = (
        words(0, 99, below_it, shapes.SMALL, middle=True, fill=theme.faint) if below_it else ""
    )
    shine = (
        glow(
            theme, marks, rectangle(-half - 2, -2, shapes.CARD_WIDTH + 4, shapes.CARD_HEIGHT + 4, 7)
        )
        if colour < BLACK
        else ""
    )
    actions = [TAKE + colour] if colour < BLACK else []
    drawn = thing(actions, marks, what, under, shine, top, left, returned, stack=colour)
    return Part(f"stack {CARD_COLOURS[colour]}", drawn)


def _back_of_stack(theme: Theme, colour: int) -> tuple[str, str]:
    return at(
        -shapes.CARD_WIDTH / 2, 0, shapes.card_back(theme, colour, 1)
    ), f"{CARD_COLOURS[colour]} stack"


def _front_of_stack(theme: Theme, colour: int, top: int) -> tuple[str, str]:
    picture = at(-shapes.CARD_WIDTH / 2, 0, shapes.card(theme, colour, top))
    return picture, f"{CARD_COLOURS[colour]} stack: {card_name(colour, top)} on top"


def _no_card(theme: Theme, colour: int) -> tuple[str, str]:
    empty = {
        "fill": "none",
        "stroke": theme.suits[colour],
        "stroke_dasharray": "4 3",
        "stroke_width": 1.4,
    }
    place = rectangle(-shapes.CARD_WIDTH / 2, 0, shapes.CARD_WIDTH, shapes.CARD_HEIGHT, 5, **empty)
    return place + at(
        0, 28, group(shapes.suit(theme, colour, 8), opacity=0.4)
    ), f"{CARD_COLOURS[colour]} stack: empty"


# ---- the auction ----

_BIDDER: Final = 46.0


def auction(scene: Scene, width: float) -> Panel:
    """The auction under way: everybody's cards on the table, who is out, and what the highest bid
    allows.
    """
    shown = _AUCTION.read(scene.raw)
    game = _AUCTION.numbers(shown)
    first = max(game.turn_seat, 0)
    seats = [(first + i) % scene.players for i in range(scene.players)] + (
        [ALEA] if scene.players == 2 else []
    )
    rows = []
    for i, bidder in enumerate(seats):
        cards = tuple(_bid_cards(game, bidder))
        is_out = game.alea == ALEA_OUT if bidder == ALEA else bool(game.out[bidder])
        waits = bidder == ALEA and game.alea == ALEA_WAITS
        stands = (bidder == game.highest_bidder, is_out, bidder == game.seat, waits)
        rows.append(
            scene.drawing.add(
                _bidder(scene.theme, i, bidder, cards, stands, width - 16, scene.agents)
            )
        )
    place = "PARK AREA" if game.auction_place == CENTRAL_PARK else PLACES[game.auction_place]
    frame = _auction(scene.theme, width, place, _later(game), _standing(game), tuple(rows))
    return scene.drawing.add(frame), 80 + _BIDDER * len(seats)


@remembered(512)
def _auction(
    theme: Theme, width: float, place: str, later: str, standing: str, rows: tuple[str, ...]
) -> Part:
    """The panel: what is auctioned now and later, the bidders' lines, and the highest bid."""
    parts = [
        at(22, 24, shapes.gavel(theme)),
        words(40, 25, f"AUCTION: {place}", 16, bold=True, fill=theme.ink),
    ]
    parts.append(
        words(40, 43, fitted(later, shapes.SMALL, width - 50), shapes.SMALL, fill=theme.faint)
    )
    parts += [at(8, 50 + _BIDDER * i, row) for i, row in enumerate(rows)]
    height = 80 + _BIDDER * len(rows)
    parts.append(
        words(
            14,
            height - 12,
            fitted(standing, shapes.SMALL, width - 26),
            shapes.SMALL,
            bold=True,
            fill=theme.ink,
        )
    )
    return Part("auction", _box(theme, width, height, bright=True) + "".join(parts))


def _later(game: Any) -> str:
    """AUC-1: the auctions that follow."""
    places = [
        PLACES[place]
        for place in game.visited[game.auction_commissioner]
        if place not in (NONE, game.auction_place)
    ]
    if game.auction_place != CENTRAL_PARK:
        places.append("park area")
    return f"then {', '.join(places)}" if places else "the last one of the set"


def _standing(game: Any) -> str:
    """The highest bid, and what it allows (COM-10)."""
    bidder = game.highest_bidder
    if bidder == NONE:
        return "no bid yet"
    if bidder == ALEA:
        return f"{game.highest} by Alea is the highest bid"
    return f"{game.highest} by {seat_name(bidder)}: builds up to {build_limit(vars(game), bidder)}"


@remembered(1024)
def _bidder(
    theme: Theme,
    line: int,
    bidder: int,
    cards: tuple[tuple[int, int], ...],
    stands: tuple[bool, bool, bool, bool],
    width: float,
    agents: _Names,
) -> Part:
    """A bidder's line: its cards, their total, and how it stands.

    Args:
        theme: the colours. line: from the top. bidder: whose. cards: colour and rank of each.
            width: of the line.
        stands: whether it is the highest bidder, is out, is to act, has yet to bid. agents: who
            sits where.
    """
    is_highest, is_out, is_to_act, waits = stands
    middle = _BIDDER / 2
    ground = {"fill": theme.gold, "fill_opacity": 0.3} if is_highest else {"fill": theme.block}
    parts = [
        rectangle(0, 2, width, _BIDDER - 4, 7, **ground),
        at(19, middle, shapes.emblem(theme, bidder, 10)),
    ]
    if is_to_act:
        parts.append(path(f"M-4 {middle - 7:.1f}l8 7l-8 7Z", fill=theme.legal))
    step = min(26.0, (width - 128) / max(len(cards) - 1, 1))
    parts += [
        at(38 + step * i, 6, shapes.small_card(theme, *card), **piece(f"card-{card[0]}"))
        for i, card in enumerate(cards)
    ]
    total = sum(rank + LOWEST_CARD for _, rank in cards)
    if cards:
        parts.append(
            words(width - 8, middle + 7, str(total), 20, end=True, bold=True, fill=theme.ink)
        )
    if is_highest:
        parts.append(at(width - 45, middle + 5, shapes.crown(theme)))
    elif is_out or not cards:
        x, end = (width - 38, True) if cards else (40, False)
        state = "bids last" if waits else "out" if is_out else "no bid yet"
        parts.append(words(x, middle + 5, state, shapes.SMALL, fill=theme.faint, end=end))
    bid = f"{total} on the table" if total else "no bid"
    what = f"{seat_name(bidder, agents)}: {bid}{', out' if is_out else ''}"
    return Part(f"bidder {line + 1}", group(title(what), *parts, opacity=0.6 if is_out else None))


def _bid_cards(game: Any, bidder: int) -> list[tuple[int, int]]:
    """Colour and rank of the cards that a bidder has on the table."""
    if bidder == ALEA:
        return [(BLACK, rank) for rank in range(NUM_RANKS) for _ in range(game.alea_cards[rank])]
    cards = game.bid_cards[bidder]
    kinds = ((game.bid_colour[bidder], 0), (BLACK, 1))
    return [
        (colour, rank)
        for colour, kind in kinds
        for rank in range(NUM_RANKS)
        for _ in range(cards[kind][rank])
    ]


# ---- the players ----

_STRIP: Final = 24.0
_HAND: Final = 62.0


_Piles = tuple[tuple[tuple[int, int], ...], ...]
"""A hand: of each colour its ranks (NONE: not known) and how many of each."""


def players(scene: Scene, width: float) -> Panel:
    """Every seat's score, skyscrapers and hand."""
    across = 1 if scene.upright else scene.players
    wide = (width - GAP * (across - 1)) / across
    hands = [_hand_of(scene, seat) for seat in range(scene.players)]
    heights = [_player_height(scene, hand) for hand in hands]
    over, acting, turn = (
        scene.number("phase") == PHASE_OVER,
        scene.number("seat"),
        scene.number("turn_seat"),
    )
    best = winners(scene.table) if over else []
    has_turns = not over and scene.number("phase") != PHASE_START
    score = scene.table.game["score"].tolist()
    rows = [
        range(start, min(start + across, scene.players))
        for start in range(0, scene.players, across)
    ]
    parts, y = [], 0.0
    for row in rows:
        height = max(heights[seat] for seat in row)
        for i, seat in enumerate(row):
            add, theme, names = scene.drawing.add, scene.theme, scene.agents
            stands = (seat in best, has_turns and turn == seat, acting == seat)
            cards = sum(copies for piles in hands[seat] for _, copies in piles)
            drawn = [
                add(
                    _player(
                        theme,
                        seat,
                        score[seat],
                        stands,
                        (wide, height),
                        names[seat] if names else None,
                    )
                )
            ]
            drawn.append(add(_supply(theme, seat, _STORES.read(scene.raw, seat), cards, wide)))
            is_open = scene.table.seat in (None, seat)
            marks = (
                _card_marks(scene, hands[seat])
                if is_open and (acting == seat or scene.legal is None)
                else ()
            )
            drawn.append(add(_hand(theme, seat, hands[seat], is_open, marks, wide, names)))
            parts.append(at((wide + GAP) * i, y, *drawn))
        y += height + GAP
    return "".join(parts), y - GAP


def _player_height(scene: Scene, hand: _Piles) -> float:
    """Room for the longest column of cards; in wide pictures always the same, so that films don't
    jump.
    """
    piles = NUM_RANKS if scene.table.seat is None else NUM_RANKS + 1
    if scene.upright:
        piles = max(map(len, hand))
    return _HAND + _STRIP * max(piles - 1, 1 if scene.upright else 2) + 34 + 10


def _hand_of(scene: Scene, seat: int) -> _Piles:
    """The cards in a hand, those that the onlooker doesn't know first."""
    known = _HAND_CARDS.numbers(_HAND_CARDS.read(scene.raw, seat)).hand
    unknown = scene.table.unknown[seat].tolist()
    return tuple(
        (((NONE, unknown[colour]),) if unknown[colour] else ())
        + tuple((rank, copies) for rank, copies in enumerate(known[colour]) if copies)
        for colour in range(NUM_COLOURS + 1)
    )


def _card_marks(scene: Scene, hand: _Piles) -> Marks:
    """The cards of the seat to act that may be laid down."""
    return scene.marks(
        *(
            BID + NUM_RANKS * colour + rank
            for colour, piles in enumerate(hand)
            for rank, _ in piles
            if rank != NONE
        )
    )


@remembered(1024)
def _player(
    theme: Theme,
    seat: int,
    score: int,
    stands: tuple[bool, bool, bool],
    size: tuple[float, float],
    agent: str | None,
) -> Part:
    """A seat's panel without its skyscrapers and cards.

    Args:
        theme: the colours. seat: whose. score: VP. stands: whether it has won, is on turn, is to
            act. size: of the panel.
        agent: who sits there.
    """
    (width, height), (has_won, is_on_turn, is_to_act) = size, stands
    on = theme.on_seats[seat]
    right = f"{width:.1f}"
    band = path(
        f"M0 34V10Q0 0 10 0H{width - 10:.1f}Q{right} 0 {right} 10V34Z", fill=theme.seats[seat]
    )
    badge = circle(20, 17, 14, fill=theme.badge) + at(20, 17.5, shapes.emblem(theme, seat, 9))
    points = f"{score} VP"
    parts = [_box(theme, width, height, bright=has_won), band, badge]
    parts.append(
        words(42, 23.5, fitted(agent or seat_name(seat), 17, width - 150), 17, bold=True, fill=on)
    )
    parts.append(words(width - 12, 25, points, 21, end=True, bold=True, fill=on))
    beside = width - 30 - _BOLD * width_of(points, 21)
    if has_won:
        parts.append(at(beside, 24, shapes.crown(theme)))
    elif is_on_turn:
        parts.append(at(beside, 17, _turn_flag(theme)))
    if is_to_act:
        parts.append(_acting_ring(theme, width, height))
    return Part(f"seat {seat + 1}", "".join(parts))


def _acting_ring(theme: Theme, width: float, height: float) -> str:
    style = {"fill": "none", "stroke": theme.legal}
    wide = rectangle(-2, -2, width + 4, height + 4, 12, **style, stroke_width=6, stroke_opacity=0.3)
    return wide + rectangle(-2, -2, width + 4, height + 4, 12, **style, stroke_width=2.4)


def _turn_flag(theme: Theme) -> str:
    """Whose turn it is, also while others bid."""
    flag = path("M-6 8V-9", stroke=theme.on_gold, stroke_width=2) + path(
        "M-6-9H8L4-4.5L8 0H-6Z", fill=theme.tile, stroke=theme.on_gold, stroke_width=0.8
    )
    return group(title("on turn"), flag)


@remembered(1024)
def _supply(theme: Theme, seat: int, shown: bytes, cards: int, width: float) -> Part:
    """Skyscrapers ready to build, those in the general supply (`shown`: of ``_STORES``), and the
    number of cards.
    """
    game = _STORES.numbers(shown)
    ready, general = game.supply, game.general
    text = f"{ready} ready, {general} more"
    step = min(15.0, (width - 120 - width_of(text, shapes.SMALL)) / max(ready, 1))
    houses = "".join(
        at(18 + step * i, 58, shapes.tower(theme, seat, 1, 11, 7), **piece(f"tower-{seat}"))
        for i in range(ready)
    )
    x = 34 + step * (ready - 1) if ready else 12
    first = words(x, 56, text, shapes.SMALL, fill=theme.ink)
    last = words(width - 12, 56, counted(cards, "card"), shapes.SMALL, end=True, fill=theme.ink)
    what = (
        f"{counted(ready, 'skyscraper')} in the supply, {general} in the general supply, "
        f"{counted(cards, 'card')} in hand"
    )
    return Part(f"seat {seat + 1}.supply", group(title(what), houses, first, last))


@remembered(1024)
def _hand(
    theme: Theme, seat: int, hand: _Piles, is_open: bool, marks: Marks, width: float, agents: _Names
) -> Part:
    """The hand, a column for each colour, a strip for each value; cards that the onlooker doesn't
    know as backs.

    Args:
        theme: the colours. seat: whose. hand: its cards. is_open: whether the onlooker sees it as
            its owner does.
        marks: the cards that may be laid down. width: of the panel. agents: who sits where.
    """
    step = (width - 16) / (NUM_COLOURS + 1)
    wide = min(step - 3, 58.0)
    owner, columns = seat_name(seat, agents), []
    for colour, piles in enumerate(hand):
        x = 8 + step * colour + (step - wide) / 2
        for i, (rank, copies) in enumerate(piles):
            card = BID + NUM_RANKS * colour + rank
            own = marks if marks is None else tuple(action for action in marks if action == card)
            drawn = _pile(theme, seat, owner, (colour, rank, copies), wide, is_open, own)
            columns.append(
                at(x, _HAND + _STRIP * i, drawn, **piece(f"card-{colour}:{rank}", copies))
            )
        if not piles:
            columns.append(
                at(x + wide / 2, _HAND + 16, group(shapes.suit(theme, colour, 5), opacity=0.25))
            )
    return Part(f"seat {seat + 1}.hand", "".join(columns))


def _pile(
    theme: Theme,
    seat: int,
    owner: str,
    cards: tuple[int, int, int],
    wide: float,
    is_open: bool,
    marks: Marks,
) -> str:
    """Equal cards of a hand: colour, rank, how many."""
    colour, rank, copies = cards
    if rank == NONE:
        what = f"{counted(copies, f'{CARD_COLOURS[colour]} card')} of {owner}, not known"
        return group(title(what), shapes.card_back(theme, colour, copies, 34, wide))
    name = card_name(colour, rank)
    what = f"{counted(copies, name) if copies == 1 else f'{copies} × {name}'} of {owner}"
    picture = shapes.card(theme, colour, rank, copies, 34, wide)
    if not is_open:
        return group(title(what), picture)
    shine = glow(theme, marks, rectangle(1, 1, wide - 2, 32, 5))
    action = BID + NUM_RANKS * colour + rank
    return thing([action], marks, what, picture, shine, card=f"{seat}:{colour}:{rank}")


def alea(scene: Scene, width: float) -> Panel:
    """ALEA-1: her skyscrapers."""
    return scene.drawing.add(_alea(scene.theme, scene.number("alea_supply"), width)), 40.0


@remembered(128)
def _alea(theme: Theme, left: int, width: float) -> Part:
    house = at(44, 29, shapes.tower(theme, ALEA, 1, 11, 8), **piece(f"tower-{ALEA}", left))
    text = words(
        57, 26, f"Alea has {counted(left, 'skyscraper')} left", shapes.SMALL, fill=theme.ink
    )
    return Part(
        "Alea", _box(theme, width, 40) + at(22, 20, shapes.emblem(theme, ALEA, 10)) + house + text
    )


# ---- the last events ----


def events_log(scene: Scene, events: Sequence[Event], width: float, height: float) -> str:
    """The last events, as many as there is room for, the newest below."""
    last = _recent(events)
    tops, seat = tops_told(events[: len(events) - len(last)]), scene.table.seat
    entries = (
        _open_log(scene, last, tops)
        if seat is None
        else log(last, scene.agents, seat=seat, tops=tops)
    )
    return scene.drawing.add(
        _log(scene.theme, tuple(entries[-max(int((height - 34) / _LINE), 1) :]), width, height)
    )


_LINE: Final = 19.0


@remembered(256)
def _log(theme: Theme, entries: tuple[str, ...], width: float, height: float) -> Part:
    """Entries, the newest last, as many as there is room for."""
    size = shapes.SMALL
    room = int((height - 34) / _LINE)
    lines: list[tuple[str, bool, bool]] = []
    for i, text in enumerate(entries):
        newest = i == len(entries) - 1
        parts = wrapped(text, size, width - 34)
        lines += [(part, number_of == 0, newest) for number_of, part in enumerate(parts)]
    begins = [i for i, (_, is_first, _) in enumerate(lines) if is_first]
    start = next((i for i in begins if len(lines) - i <= room), begins[-1] if begins else 0)
    kept = lines[start:][
        : max(room, 0)
    ]  # whole sentences; of one that is longer than that the beginning
    parts_drawn = []
    for i, (text, first, newest) in enumerate(kept):
        y = 40 + _LINE * i
        bullet = element("circle", cx=16, cy=y - 4.5, r=2.2, fill=theme.gold) if first else ""
        parts_drawn.append(
            bullet
            + words(24, y, text, size, bold=newest, fill=theme.ink if newest else theme.faint)
        )
    return Part(
        "log", _box(theme, width, height) + _heading(theme, "WHAT HAPPENED") + "".join(parts_drawn)
    )


_MOST_EVENTS: Final = 60
"""More than a picture has room for."""


def _recent(events: Sequence[Event]) -> Sequence[Event]:
    """The last events, and those back to the beginning of the auction in which they begin, or
    totals would be wrong.
    """
    start = max(len(events) - _MOST_EVENTS, 0)
    for i in range(start, -1, -1):
        if i < len(events) and events[i].get("event") in ("auction", "won"):
            return events[i if events[i]["event"] == "auction" else start :]
    return events[start:]


def _open_log(scene: Scene, events: Sequence[Event], tops: Mapping[str, int | None]) -> list[str]:
    """The log for those who see everything; `tops`: those of the stacks before these events."""
    lines = []
    bids: list[Event] = []
    for event in events:
        if event.get("event") == "black":
            lines += log(bids, scene.agents, tops=tops)
            lines += log([event], scene.agents, seat=event["seat"])
            tops = tops_told(bids, tops)
            bids = []
        else:
            bids.append(event)
    return lines + log(bids, scene.agents, tops=tops)


# ---- an agent's evaluation ----

_MOST_SHOWN: Final = 6


def evaluation(
    scene: Scene, position: np.void, held: Evaluation, width: float, room: float
) -> Panel:
    """What an agent would do, how sure it is, and what it expects: as many actions as there is room
    for, at least two.
    """
    theme = scene.theme
    shares = np.asarray(held.probabilities)
    order = [int(action) for action in np.argsort(-shares, kind="stable") if shares[action] > 0][
        :_MOST_SHOWN
    ]
    rows, y = [], 40.0
    for i, action in enumerate(order):
        lines = wrapped(action_text(position, action), shapes.SMALL, width - 80)[:2]
        if i >= 2 and y + 18 * len(lines) + 15 + 34 > room:
            break
        for line in lines:
            rows.append(words(12, y + 5, line, shapes.SMALL, bold=i == 0, fill=theme.ink))
            y += 18
        rows.append(
            words(
                width - 12,
                y - 13,
                f"{100 * shares[action]:.0f} %",
                shapes.SMALL,
                end=True,
                bold=True,
                fill=theme.ink,
            )
        )
        rows.append(rectangle(12, y - 5, width - 24, 6, 3, fill=theme.street))
        rows.append(
            rectangle(
                12,
                y - 5,
                max((width - 24) * min(float(shares[action]), 1.0), 3),
                6,
                3,
                fill=theme.seats[1],
            )
        )
        y += 15
    if held.value is not None:
        rows.append(at(12, y + 4, _gauge(theme, held.value, width - 24)))
        y += 34
    text = _box(theme, width, y) + _heading(theme, "AN AGENT'S EVALUATION") + "".join(rows)
    return scene.drawing.add(Part("evaluation", text)), y


def _gauge(theme: Theme, value: float, width: float) -> str:
    """The value as a needle on a scale from −1 to +1."""
    part = (min(max(value, -1.0), 1.0) + 1) / 2
    x = part * width
    scale = rectangle(0, 14, width, 8, 4, fill=theme.street) + rectangle(
        width / 2 - 0.6, 12, 1.2, 12, fill=theme.faint
    )
    needle = path(f"M{x:.1f} 13l5-8h-10Z", fill=theme.legal) + rectangle(
        x - 1.2, 10, 2.4, 14, fill=theme.legal
    )
    text = words(
        width if part < 0.5 else 0,
        9,
        f"expects {value:+.2f}",
        shapes.SMALL,
        end=part < 0.5,
        bold=True,
        fill=theme.ink,
    )
    return scale + needle + text
