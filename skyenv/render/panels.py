"""What lies beside the board: the supply row, the card stacks, the auction, the players, the last events, an agent's mind.

Every panel is drawn from its own corner; it is given its width and tells its height.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from skyenv.events import Event
from skyenv.render import shapes
from skyenv.render.marks import at, element, fitted, group, path, rectangle, title, words, wrapped
from skyenv.render.scene import Mind, Scene, is_legal, thing
from skyenv.render.words import (
    action_text,
    build_limit,
    card_name,
    counted,
    current_set,
    log,
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
    NUM_COLOURS,
    NUM_RANKS,
    PLACES,
    SET_SIZES,
    SET_START,
)
from skyenv.rules.state import ALEA, ALEA_OUT, ALEA_WAITS, NONE, PHASE_OVER

Panel = tuple[str, float]
"""A picture from its corner, and its height."""

GAP: Final = 12.0
"""Between panels."""


def _box(scene: Scene, width: float, height: float, bright: bool = False) -> str:
    theme = scene.theme
    edge = theme.gold if bright else theme.panel_edge
    return rectangle(0, 0, width, height, 10, fill=theme.panel, stroke=edge, stroke_width=3 if bright else 1.2)


def _heading(scene: Scene, text: str) -> str:
    return words(12, 21, text, 13, bold=True, fill=scene.theme.faint)


def _outline(scene: Scene, shape: str, *actions: int) -> str:
    """A glow around something that may be chosen."""
    if not is_legal(scene, *actions):
        return ""
    style = {"fill": "none", "stroke": scene.theme.legal}
    return group(shape, **style, stroke_width=7, stroke_opacity=0.3) + group(shape, **style, stroke_width=2.4)


# ---- the headline ----


def headline(scene: Scene, width: float, name: str | None) -> Panel:
    """The game's name, who is about to do what, and how far the game has come."""
    theme = scene.theme
    sign = (
        words(0, 40, fitted(name, 30, 330), 30, bold=True, fill=theme.ink)
        if name
        else at(2, 44, shapes.lettering(theme, "FIFTH AVENUE"), scale=1.25)
    )
    left = 0.0 if scene.upright else 285.0
    down = 58.0 if scene.upright else 0.0
    now, size = situation(scene.table, scene.agents), 23.0
    seat = scene.game.seat
    mark = (
        at(left + 14, down + 23, shapes.emblem(theme, seat, 11))
        if seat != NONE
        else at(left + 14, down + 31, shapes.crown(theme))
    )
    first = words(left + 36, down + 31, fitted(now, size, width - left - 36), size, bold=True, fill=theme.ink)
    parts = progress(scene.table)
    if scene.table.seat is not None:
        parts.append(f"as {seat_name(scene.table.seat, scene.agents)} sees it")
    second = words(left + 36, down + 53, fitted(" · ".join(parts), 15, width - left - 36), 15, fill=theme.faint)
    return sign + mark + first + second, down + 64


# ---- the supply row ----

_TILE: Final = 34.0
_BONUS_AFTER: Final = (1, 3, 5)
"""BUS-4: the sets after which special points are given."""


def supply_row(scene: Scene, width: float) -> Panel:
    """SET-3: the sets from left to right, the current one raised, with the special points between them (BUS-4)."""
    rows = ((0, 1, 2, 3), (4, 5, 6, 7)) if scene.upright else (tuple(range(len(SET_SIZES))),)
    lines = []
    for number_of, sets in enumerate(rows):
        length = sum(_set_width(index) for index in sets)
        x = (width - length + (0 if scene.upright else 92)) / 2
        for index in sets:
            lines.append(at(x, 30 + 54 * number_of if scene.upright else 8, _set(scene, index)))
            x += _set_width(index)
    height = 30 + 54 * len(rows) if scene.upright else 58.0
    label = _heading(scene, "SUPPLY ROW") if scene.upright else words(12, 35, "SUPPLY ROW", 13, bold=True, fill=scene.theme.faint)
    return _box(scene, width, height) + label + "".join(lines), height


def _set_width(index: int) -> float:
    return SET_SIZES[index] * _TILE + 14 + (62 if index in _BONUS_AFTER or index == len(SET_SIZES) - 1 else 0)


def _set(scene: Scene, index: int) -> str:
    """One set, and the special points behind it."""
    theme, size = scene.theme, SET_SIZES[index]
    current = index == current_set(vars(scene.game)) and scene.game.phase != PHASE_OVER
    tray = rectangle(
        0,
        0,
        size * _TILE + 6,
        42,
        8,
        fill=theme.street if not current else theme.block,
        stroke=theme.gold if current else theme.panel_edge,
        stroke_width=2.6 if current else 1,
    )
    spots: dict[int, list[float]] = {}
    for i in range(size):
        spots.setdefault(scene.game.row[SET_START[index] + i], []).append(3 + _TILE * (i + 0.5))
    tiles = [_tiles(scene, kind, xs, current) for kind, xs in sorted(spots.items())]
    return tray + "".join(tiles) + at(size * _TILE + 41, 21, _bonus(scene, index))


def _tiles(scene: Scene, kind: int, xs: Sequence[float], current: bool) -> str:
    """The tiles of one type in a set, or its empty spaces."""
    theme = scene.theme
    if kind == NONE:
        empty = {"fill": "none", "stroke": theme.block_edge, "stroke_width": 1.2, "stroke_dasharray": "3 3"}
        return "".join(rectangle(x - 12, 9, 24, 24, 7, **empty) for x in xs)
    tiles = "".join(at(x, 21, shapes.business(theme, kind, 13.5)) for x in xs)
    if not current:
        return group(title(BUSINESSES[kind]), tiles)
    shape = "".join(rectangle(x - 14.5, 6.5, 29, 29, 7) for x in xs)
    glow = _outline(scene, shape, OPTION_B + kind)
    return thing(scene, [OPTION_B + kind], f"{BUSINESSES[kind]} in the current set", glow, tiles, row_type=kind)


def _bonus(scene: Scene, index: int) -> str:
    """BUS-4, BUS-5: what happens when the set is used up."""
    theme = scene.theme
    if index == len(SET_SIZES) - 1:
        return group(title("the game ends"), words(0, 5, "END", 14, middle=True, bold=True, fill=theme.seats[0]))
    if index not in _BONUS_AFTER:
        return ""
    bonus = _BONUS_AFTER.index(index)
    done = scene.game.placed >= 3 * (bonus + 1)
    what = f"{BONUS_VP[bonus]} VP for skyscrapers in at least {BONUS_DISTRICTS[bonus]} districts"
    coin = at(-12, 0, shapes.coin(theme, str(BONUS_VP[bonus]), 12))
    text = words(3, -1, f"{BONUS_DISTRICTS[bonus]}+", 12.5, bold=True, fill=theme.ink) + words(
        3, 11, "districts", 7.5, fill=theme.faint
    )
    return group(title(what), coin, text, opacity=0.35 if done else None)


# ---- the stacks ----


def stacks(scene: Scene, width: float) -> Panel:
    """Per colour the visible card, how many are face down, and the returned ones in the order they come up (AUC-8)."""
    step = (width - 16) / (NUM_COLOURS + 1)
    piles = [at(8 + step * (colour + 0.5), 32, _stack(scene, colour)) for colour in range(NUM_COLOURS + 1)]
    return _box(scene, width, 132) + _heading(scene, "CARD STACKS") + "".join(piles), 132.0


def _stack(scene: Scene, colour: int) -> str:
    """A stack, its top in the middle above the origin."""
    theme, game = scene.theme, scene.game
    face_down = scene.table.face_down[colour]
    half = shapes.CARD_WIDTH / 2
    deep = min(face_down, 3)
    under = "".join(
        rectangle(
            -half + 2 * i,
            2 * i,
            shapes.CARD_WIDTH,
            shapes.CARD_HEIGHT,
            5,
            fill=theme.panel,
            stroke=theme.suits[colour],
            stroke_width=1,
        )
        for i in range(deep, 0, -1)
    )
    top, what = _top(scene, colour)
    if colour == BLACK:
        returned = sum(game.black_face_up)
        below = f"+{returned} paid" if returned else ""
    else:
        returned = game.num_returned[colour]
        below = "+" + "".join(str(rank + LOWEST_CARD) for rank in game.returned[colour][:returned]) if returned else ""
    number_of = words(0, 79, str(face_down), 14, middle=True, bold=True, fill=theme.ink)
    behind = words(0, 93, fitted(below, 10.5, 46), 10.5, middle=True, fill=theme.faint)
    what += f"; {counted(face_down, 'card')} face down"
    what += f"; {counted(returned, 'returned card')} below: {below[1:]}" if below else ""
    shape = rectangle(-half - 2, -2, shapes.CARD_WIDTH + 4, shapes.CARD_HEIGHT + 4, 7)
    actions = [TAKE + colour] if colour < BLACK else []
    return thing(scene, actions, what, under, _outline(scene, shape, *actions), top, number_of, behind, stack=colour)


def _top(scene: Scene, colour: int) -> tuple[str, str]:
    """The upper card of a stack, and what it is in words."""
    theme, half = scene.theme, shapes.CARD_WIDTH / 2
    if colour == BLACK:
        if scene.table.face_down[BLACK]:
            return at(-half, 0, shapes.card_back(theme, BLACK, 1)), "black stack"
    elif scene.game.top[colour] != NONE:
        top = scene.game.top[colour]
        return at(-half, 0, shapes.card(theme, colour, top)), f"{CARD_COLOURS[colour]} stack: {card_name(colour, top)} on top"
    empty = {"fill": "none", "stroke": theme.suits[colour], "stroke_dasharray": "4 3", "stroke_width": 1.4}
    place = rectangle(-half, 0, shapes.CARD_WIDTH, shapes.CARD_HEIGHT, 5, **empty)
    return place + at(0, 28, group(shapes.suit(theme, colour, 8), opacity=0.4)), f"{CARD_COLOURS[colour]} stack: empty"


# ---- the auction ----

_BIDDER: Final = 46.0


def auction(scene: Scene, width: float) -> Panel:
    """The auction under way: everybody's cards on the table, who is out, and what the highest bid allows."""
    game, theme = scene.game, scene.theme
    bidders = [*range(scene.players)] + ([ALEA] if scene.players == 2 else [])
    first = bidders.index(game.turn_seat) if game.turn_seat in bidders else 0
    seats = [(first + i) % scene.players for i in range(scene.players)] + bidders[scene.players :]
    place = "PARK AREA" if game.auction_place == CENTRAL_PARK else PLACES[game.auction_place]
    parts = [at(22, 22, shapes.gavel(theme)), words(40, 26, f"AUCTION: {place}", 16, bold=True, fill=theme.ink)]
    parts.append(words(width - 12, 26, fitted(_later(scene), 12, width - 190), 12, end=True, fill=theme.faint))
    top = 40.0
    for i, bidder in enumerate(seats):
        parts.append(at(8, top + _BIDDER * i, _bidder(scene, bidder, width - 16)))
    height = top + _BIDDER * len(seats) + 28
    parts.append(words(14, height - 11, fitted(_standing(scene), 13.5, width - 26), 13.5, bold=True, fill=theme.ink))
    return _box(scene, width, height, bright=True) + "".join(parts), height


def _later(scene: Scene) -> str:
    """AUC-1: the auctions that follow."""
    game = scene.game
    places = [PLACES[place] for place in game.visited[game.auction_commissioner] if place not in (NONE, game.auction_place)]
    if game.auction_place != CENTRAL_PARK:
        places.append("park")
    return f"then {', '.join(places)}" if places else "the last one"


def _standing(scene: Scene) -> str:
    """The highest bid, and what it allows (COM-10)."""
    game = scene.game
    bidder = game.highest_bidder
    if bidder == NONE:
        return "no bid yet"
    if bidder == ALEA:
        return f"highest bid: {game.highest} by Alea"
    limit = build_limit(vars(game), bidder)
    return f"highest bid: {game.highest} by {seat_name(bidder)}, allows {counted(limit, 'skyscraper')}"


def _bidder(scene: Scene, bidder: int, width: float) -> str:
    """A bidder's line: its cards, their total, and how it stands."""
    theme, game = scene.theme, scene.game
    acting, highest = bidder == game.seat, bidder == game.highest_bidder
    out = game.alea == ALEA_OUT if bidder == ALEA else bool(game.out[bidder])
    strip = rectangle(
        0, 2, width, _BIDDER - 4, 7, fill=theme.gold if highest else theme.block, fill_opacity=0.28 if highest else 0.9
    )
    pointer = path(f"M-3 {_BIDDER / 2 - 6}l7 6l-7 6Z", fill=theme.legal) if acting else ""
    sign = at(19, _BIDDER / 2, shapes.emblem(theme, bidder, 10))
    cards = _bid_cards(scene, bidder)
    space = width - 40 - 48
    step = min(26.0, (space - 24) / max(len(cards) - 1, 1))
    laid = "".join(at(38 + step * i, 6, shapes.small_card(theme, colour, rank)) for i, (colour, rank) in enumerate(cards))
    total = sum(rank + LOWEST_CARD for _, rank in cards)
    worth = words(width - 10, _BIDDER / 2 + 7, str(total), 20, end=True, bold=True, fill=theme.ink) if cards else ""
    state = "" if cards and not (bidder == ALEA and out) else _bidder_state(scene, bidder, out)
    x = width - 44 if cards else 40
    said = words(x, _BIDDER / 2 + 5, state, 14, fill=theme.faint, end=bool(cards))
    best = at(width - 44, _BIDDER / 2 + 5, shapes.crown(theme)) if highest else ""
    return group(
        title(_bidder_words(scene, bidder, out, total)),
        strip,
        pointer,
        sign,
        laid,
        worth,
        said,
        best,
        opacity=0.6 if out else None,
    )


def _bidder_state(scene: Scene, bidder: int, out: bool) -> str:
    if bidder == ALEA and scene.game.alea == ALEA_WAITS:
        return "bids last"
    return "out" if out else "no bid yet"


def _bidder_words(scene: Scene, bidder: int, out: bool, total: int) -> str:
    state = f"{total} on the table" if total else "no bid"
    return f"{seat_name(bidder, scene.agents)}: {state}{', out' if out else ''}"


def _bid_cards(scene: Scene, bidder: int) -> list[tuple[int, int]]:
    """Colour and rank of the cards that a bidder has on the table."""
    game = scene.game
    if bidder == ALEA:
        return [(BLACK, rank) for rank in range(NUM_RANKS) for _ in range(game.alea_cards[rank])]
    cards = game.bid_cards[bidder]
    kinds = ((game.bid_colour[bidder], 0), (BLACK, 1))
    return [(colour, rank) for colour, kind in kinds for rank in range(NUM_RANKS) for _ in range(cards[kind][rank])]


# ---- the players ----

_STRIP: Final = 24.0
_HAND: Final = 62.0


def players(scene: Scene, width: float) -> Panel:
    """Every seat's score, skyscrapers and hand."""
    across = 2 if scene.upright else scene.players
    wide = (width - GAP * (across - 1)) / across
    heights = [_player_height(scene, seat) for seat in range(scene.players)]
    rows = [range(start, min(start + across, scene.players)) for start in range(0, scene.players, across)]
    parts, y = [], 0.0
    for row in rows:
        height = max(heights[seat] for seat in row)
        for i, seat in enumerate(row):
            parts.append(at((wide + GAP) * i, y, _player(scene, seat, wide, height)))
        y += height + GAP
    return "".join(parts), y - GAP


def _player_height(scene: Scene, seat: int) -> float:
    piles = max(len(_piles(scene, seat, colour)) for colour in range(NUM_COLOURS + 1))
    return _HAND + _STRIP * max(piles - 1, 2) + 34 + 10


def _piles(scene: Scene, seat: int, colour: int) -> list[tuple[int, int]]:
    """The cards of a colour in a hand: rank (NONE: not known) and how many, the unknown ones first."""
    unknown = int(scene.table.unknown[seat][colour])
    hand = scene.game.hand[seat][colour]
    known = [(rank, hand[rank]) for rank in range(NUM_RANKS) if hand[rank]]
    return ([(NONE, unknown)] if unknown else []) + known


def _player(scene: Scene, seat: int, width: float, height: float) -> str:
    theme, game = scene.theme, scene.game
    acting = game.seat == seat
    won = game.phase == PHASE_OVER and seat in winners(scene.table)
    box = _box(scene, width, height, bright=won)
    band = path(f"M0 10Q0 0 10 0H{width - 10:.1f}Q{width:.1f} 0 {width:.1f} 10V34H0Z", fill=theme.seats[seat])
    ring = _acting_ring(scene, width, height) if acting else ""
    name = scene.agents[seat] if scene.agents is not None and scene.agents[seat] else f"seat {seat}"
    on = theme.on_seats[seat]
    label = words(40, 23.5, fitted(str(name), 17, width - 130), 17, bold=True, fill=on)
    score = words(width - 12, 25, f"{game.score[seat]} VP", 20, end=True, bold=True, fill=on)
    sign = at(20, 18, shapes.emblem(theme, seat, 9.5))
    crown = at(width - 26, -1, shapes.crown(theme)) if won else ""
    turn = at(width - 100, 17, _turn_flag(scene)) if game.turn_seat == seat and game.phase not in (0, PHASE_OVER) else ""
    hand = _hand(scene, seat, width)
    return group(box, band, ring, label, score, sign, crown, turn, _supply(scene, seat, width), hand)


def _acting_ring(scene: Scene, width: float, height: float) -> str:
    style = {"fill": "none", "stroke": scene.theme.legal}
    wide = rectangle(-2, -2, width + 4, height + 4, 12, **style, stroke_width=6, stroke_opacity=0.3)
    return wide + rectangle(-2, -2, width + 4, height + 4, 12, **style, stroke_width=2.4)


def _turn_flag(scene: Scene) -> str:
    """Whose turn it is, also while others bid."""
    flag = path("M-6 8V-9", stroke=scene.theme.on_gold, stroke_width=2) + path(
        "M-6-9H8L4-4.5L8 0H-6Z", fill=scene.theme.gold, stroke=scene.theme.on_gold, stroke_width=0.8
    )
    return group(title("on turn"), flag)


def _supply(scene: Scene, seat: int, width: float) -> str:
    """Skyscrapers ready to build, those in the general supply, and the number of cards."""
    theme, game = scene.theme, scene.game
    ready, general, cards = game.supply[seat], game.general[seat], scene.table.cards_in_hand(seat)
    step = min(15.0, (width - 190) / max(ready, 1))
    houses = "".join(at(17 + step * i, 56, shapes.tower(theme, seat, 1, 11, 8)) for i in range(ready))
    x = 17 + step * max(ready - 1, 0) + 12
    text = f"{ready} ready · {general} more"
    first = words(x, 55, text, 13, fill=theme.ink)
    last = words(width - 12, 55, counted(cards, "card"), 13, end=True, fill=theme.ink)
    what = f"{counted(ready, 'skyscraper')} in the supply, {general} in the general supply, {counted(cards, 'card')} in hand"
    return group(title(what), houses, first, last)


def _hand(scene: Scene, seat: int, width: float) -> str:
    """The hand, a column for each colour, a strip for each value; cards that the onlooker doesn't know as backs."""
    step = (width - 16) / (NUM_COLOURS + 1)
    wide = min(step - 3, 58.0)
    columns = []
    for colour in range(NUM_COLOURS + 1):
        x = 8 + step * colour + (step - wide) / 2
        for i, (rank, copies) in enumerate(_piles(scene, seat, colour)):
            columns.append(at(x, _HAND + _STRIP * i, _pile(scene, seat, colour, rank, copies, wide)))
        if not _piles(scene, seat, colour):
            columns.append(at(x + wide / 2, _HAND + 16, group(shapes.suit(scene.theme, colour, 5), opacity=0.25)))
    return "".join(columns)


def _pile(scene: Scene, seat: int, colour: int, rank: int, copies: int, wide: float) -> str:
    """Equal cards of a hand."""
    theme = scene.theme
    owner = seat_name(seat, scene.agents)
    if rank == NONE:
        what = f"{counted(copies, f'{CARD_COLOURS[colour]} card')} of {owner}, not known"
        return group(title(what), shapes.card_back(theme, colour, copies, 34, wide))
    what = f"{counted(copies, card_name(colour, rank)) if copies == 1 else f'{copies} × {card_name(colour, rank)}'} of {owner}"
    picture = shapes.card(theme, colour, rank, copies, 34, wide)
    if scene.table.seat not in (None, seat):
        return group(title(what), picture)
    actions = [BID + NUM_RANKS * colour + rank] if scene.game.seat == seat else []
    glow = _outline(scene, rectangle(1, 1, wide - 2, 32, 5), *actions)
    return thing(scene, actions, what, picture, glow, card=f"{seat}:{colour}:{rank}")


def alea(scene: Scene, width: float) -> Panel:
    """ALEA-1: her skyscrapers."""
    theme = scene.theme
    left = scene.game.alea_supply
    house = at(52, 29, shapes.tower(theme, ALEA, 1, 11, 8))
    text = words(66, 26, f"Alea has {counted(left, 'skyscraper')} left", 14, fill=theme.ink)
    return _box(scene, width, 40) + at(24, 20, shapes.emblem(theme, ALEA, 10)) + house + text, 40.0


# ---- the last events ----


def events_log(scene: Scene, events: Sequence[Event], width: float, height: float) -> str:
    """The last events, as many as there is room for, the newest below."""
    size, line = 13.5, 17.5
    room = int((height - 34) / line)
    told = log(events, scene.agents, seat=scene.table.seat) if scene.table.seat is not None else _open_log(scene, events)
    lines: list[tuple[str, bool, bool]] = []
    for i, text in enumerate(told):
        newest = i == len(told) - 1
        parts = wrapped(text, size, width - 34)
        lines += [(part, number_of == 0, newest) for number_of, part in enumerate(parts)]
    kept = lines[-room:] if room > 0 else []
    parts_drawn = []
    for i, (text, first, newest) in enumerate(kept):
        y = 40 + line * i
        bullet = element("circle", cx=16, cy=y - 4.5, r=2.2, fill=scene.theme.gold) if first else ""
        parts_drawn.append(bullet + words(24, y, text, size, bold=newest, fill=scene.theme.ink if newest else scene.theme.faint))
    return _box(scene, width, height) + _heading(scene, "WHAT HAPPENED") + "".join(parts_drawn)


def _open_log(scene: Scene, events: Sequence[Event]) -> list[str]:
    """The log for those who see everything."""
    told = []
    bids: list[Event] = []
    for event in events:
        if event.get("event") == "black":
            told += log(bids, scene.agents)
            told += log([event], scene.agents, seat=event["seat"])
            bids = []
        else:
            bids.append(event)
    return told + log(bids, scene.agents)


# ---- an agent's mind ----

_THOUGHTS: Final = 6


def mind(scene: Scene, position: np.void, thoughts: Mind, width: float) -> Panel:
    """What an agent would do, how sure it is, and what it expects."""
    theme = scene.theme
    order = [int(action) for action in np.argsort(-np.asarray(thoughts.probabilities), kind="stable")]
    order = [action for action in order if thoughts.probabilities[action] > 0][:_THOUGHTS]
    rows = []
    for i, action in enumerate(order):
        share = float(thoughts.probabilities[action])
        y = 34 + 31.0 * i
        text = words(12, y + 12, fitted(action_text(position, action), 13, width - 74), 13, bold=i == 0, fill=theme.ink)
        percent = words(width - 12, y + 12, f"{100 * share:.0f} %", 14, end=True, bold=True, fill=theme.ink)
        track = rectangle(12, y + 17, width - 24, 7, 3.5, fill=theme.street)
        bar = rectangle(12, y + 17, max((width - 24) * min(share, 1.0), 3), 7, 3.5, fill=theme.seats[1])
        rows.append(text + percent + track + bar)
    top = 34 + 31.0 * len(order)
    height = top + 44
    gauge = at(12, top + 8, _gauge(scene, thoughts.value, width - 24))
    return _box(scene, width, height) + _heading(scene, "AN AGENT'S MIND") + "".join(rows) + gauge, height


def _gauge(scene: Scene, value: float, width: float) -> str:
    """The value as a needle on a scale from −1 to +1."""
    theme = scene.theme
    part = (min(max(value, -1.0), 1.0) + 1) / 2
    scale = rectangle(0, 14, width, 8, 4, fill=theme.street) + rectangle(width / 2 - 0.6, 12, 1.2, 12, fill=theme.faint)
    needle = path(f"M{part * width:.1f} 11l5-8h-10Z", fill=theme.legal) + rectangle(
        part * width - 1.2, 10, 2.4, 14, fill=theme.legal
    )
    text = words(width if part < 0.5 else 0, 8, f"expects {value:+.2f}", 13, end=part < 0.5, bold=True, fill=theme.ink)
    return scale + needle + text
