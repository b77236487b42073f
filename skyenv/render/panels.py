"""What lies beside the board: the supply row, the card stacks, the auction, the players, the last events, an agent's evaluation.

Every panel is drawn from its own corner; it is given its width and tells its height.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from skyenv.agents.interface import Evaluation
from skyenv.events import Event
from skyenv.knowledge import PUBLIC
from skyenv.render import shapes
from skyenv.render.marks import at, circle, element, fitted, group, path, rectangle, title, width_of, words, wrapped
from skyenv.render.reasons import build_limit, current_set
from skyenv.render.scene import Scene, is_legal, thing
from skyenv.render.words import action_text, card_name, counted, log, progress, seat_name, situation, winners
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
from skyenv.rules.state import ALEA, ALEA_OUT, ALEA_WAITS, NONE, PHASE_OVER, PHASE_START

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
    if name:
        sign = words(0, 40, fitted(name, 30, width if scene.upright else 260), 30, bold=True, fill=theme.ink)
    else:
        sign = at(2, 44, shapes.lettering(theme, "FIFTH AVENUE"), scale=1.25)
    left, down = (0.0, 58.0) if scene.upright else (285.0, 0.0)
    now, size = situation(scene.table, scene.agents), 23.0
    seat = scene.game.seat
    mark = shapes.emblem(theme, seat, 11) if seat != NONE else at(0, 7, shapes.crown(theme))
    room = width - left - 36
    first = _lines(now, size, room, 2 if scene.upright else 1)
    large = [words(left + 36, down + 31 + 26 * i, line, size, bold=True, fill=theme.ink) for i, line in enumerate(first)]
    mark = at(left + 14, down + 23, mark)
    down += 26.0 * (len(first) - 1)
    parts = progress(scene.table)
    if scene.table.seat is not None:
        parts.append(f"seen by {'all' if scene.table.seat == PUBLIC else seat_name(scene.table.seat, scene.agents)}")
    lines = _lines(" · ".join(parts), 15.5, room, 2 if scene.upright else 1)
    second = [words(left + 36, down + 53 + 19 * i, line, 15.5, fill=theme.faint) for i, line in enumerate(lines)]
    return "".join([sign, mark, *large, *second]), down + 45 + 19 * len(lines)


def _lines(text: str, size: float, width: float, most: int) -> list[str]:
    """The text in at most so many lines, the last one cut short where it would be too wide."""
    lines = wrapped(text, size, width)
    return [*lines[: most - 1], fitted(" ".join(lines[most - 1 :]), size, width)] if len(lines) > most else lines


# ---- the supply row ----

_BONUS_AFTER: Final = (1, 3, 5)
"""BUS-4: the sets after which special points are given."""


def supply_row(scene: Scene, width: float) -> Panel:
    """SET-3: the sets from left to right, the current one raised, with the special points between them (BUS-4)."""
    rows = ((0, 1, 2, 3), (4, 5, 6, 7)) if scene.upright else (tuple(range(len(SET_SIZES))),)
    lines = []
    for number_of, sets in enumerate(rows):
        length = sum(_set_width(scene, index) for index in sets)
        x = (width - length + (0 if scene.upright else 92)) / 2
        for index in sets:
            lines.append(at(x, 30 + 54 * number_of if scene.upright else 8, _set(scene, index)))
            x += _set_width(scene, index)
    height = 30 + 54 * len(rows) if scene.upright else 58.0
    label = _heading(scene, "SUPPLY ROW") if scene.upright else words(12, 35, "SUPPLY ROW", 13, bold=True, fill=scene.theme.faint)
    return _box(scene, width, height) + label + "".join(lines), height


def _space(scene: Scene) -> float:
    """Width of a space of the row."""
    return 30.5 if scene.upright else 33.0


def _set_width(scene: Scene, index: int) -> float:
    bonus = 56 if index == len(SET_SIZES) - 1 else 68 if index in _BONUS_AFTER else 0
    return SET_SIZES[index] * _space(scene) + 12 + (bonus - 4 if scene.upright and bonus else bonus)


def _set(scene: Scene, index: int) -> str:
    """One set, and the special points behind it."""
    theme, size, space = scene.theme, SET_SIZES[index], _space(scene)
    current = index == current_set(vars(scene.game)) and scene.game.phase != PHASE_OVER
    tray = rectangle(
        0,
        0,
        size * space + 6,
        42,
        8,
        fill=theme.street if not current else theme.block,
        stroke=theme.gold if current else theme.panel_edge,
        stroke_width=2.6 if current else 1,
    )
    spots: dict[int, list[float]] = {}
    for i in range(size):
        spots.setdefault(scene.game.row[SET_START[index] + i], []).append(3 + space * (i + 0.5))
    tiles = [_tiles(scene, kind, xs, current) for kind, xs in sorted(spots.items())]
    return tray + "".join(tiles) + at(size * space + 37, 21, _bonus(scene, index))


def _tiles(scene: Scene, kind: int, xs: Sequence[float], current: bool) -> str:
    """The tiles of one type in a set, or its empty spaces."""
    theme = scene.theme
    if kind == NONE:
        empty = {"fill": "none", "stroke": theme.block_edge, "stroke_width": 1.2, "stroke_dasharray": "3 3"}
        return "".join(rectangle(x - 12, 9, 24, 24, 7, **empty) for x in xs)
    tiles = "".join(at(x, 21, shapes.business(theme, kind, 13)) for x in xs)
    if not current:
        return group(title(BUSINESSES[kind]), tiles)
    shape = "".join(rectangle(x - 14.5, 6.5, 29, 29, 7) for x in xs)
    glow = _outline(scene, shape, OPTION_B + kind)
    return thing(scene, [OPTION_B + kind], f"{BUSINESSES[kind]} in the current set", glow, tiles, row_type=kind)


def _bonus(scene: Scene, index: int) -> str:
    """BUS-4, BUS-5: what happens when the set is used up; beside the VP the number of districts (rings) needed."""
    theme = scene.theme
    if index == len(SET_SIZES) - 1:
        return group(title("the game ends"), words(0, 5, "END", 14, middle=True, bold=True, fill=theme.seats[0]))
    if index not in _BONUS_AFTER:
        return ""
    bonus = _BONUS_AFTER.index(index)
    done = scene.game.placed >= 3 * (bonus + 1)
    what = f"{BONUS_VP[bonus]} VP for skyscrapers in at least {BONUS_DISTRICTS[bonus]} districts"
    coin = at(-13, 0, shapes.coin(theme, str(BONUS_VP[bonus]), 12))
    text = words(2, 5, f"{BONUS_DISTRICTS[bonus]}+", 14, bold=True, fill=theme.ink)
    ring = circle(27, 0, 5.5, fill="none", stroke=theme.faint, stroke_width=4, stroke_dasharray="5.6 1.3")
    return group(title(what), coin, text, ring, opacity=0.35 if done else None)


# ---- the stacks ----


def stacks(scene: Scene, width: float) -> Panel:
    """Per colour the visible card, how many are face down, and the returned ones in the order they come up (AUC-8)."""
    step = (width - 16) / (NUM_COLOURS + 1)
    piles = [at(8 + step * (colour + 0.5), 32, _stack(scene, colour)) for colour in range(NUM_COLOURS + 1)]
    return _box(scene, width, 148) + _heading(scene, "CARD STACKS") + "".join(piles), 148.0


def _stack(scene: Scene, colour: int) -> str:
    """A stack, its top in the middle above the origin."""
    theme, game = scene.theme, scene.game
    face_down = scene.table.face_down[colour]
    half = shapes.CARD_WIDTH / 2
    size = (shapes.CARD_WIDTH, shapes.CARD_HEIGHT, 5)
    below = "".join(rectangle(-half + 2 * i, 2 * i, *size) for i in range(min(face_down, 3), 0, -1))
    under = group(below, fill=theme.panel, stroke=theme.suits[colour], stroke_width=1) if below else ""
    top, what = _top(scene, colour)
    what += f"; {counted(face_down, 'card')} face down"
    left = words(0, 80, str(face_down), 15, middle=True, bold=True, fill=theme.ink)
    if colour == BLACK:
        paid = sum(game.black_face_up)
        lines = [f"{paid} paid"] if paid else []
        what += f"; {counted(paid, 'paid card')} face up below" if paid else ""
    else:
        values = "".join(str(rank + LOWEST_CARD) for rank in game.returned[colour][: game.num_returned[colour]])
        lines = [values[:6], values[6:]] if len(values) > 6 else [values] if values else []
        what += f"; returned cards below, next one first: {', '.join(values)}" if values else ""
    behind = "".join(words(0, 94 + 12 * i, line, 11, middle=True, fill=theme.faint) for i, line in enumerate(lines))
    shape = rectangle(-half - 2, -2, shapes.CARD_WIDTH + 4, shapes.CARD_HEIGHT + 4, 7)
    actions = [TAKE + colour] if colour < BLACK else []
    return thing(scene, actions, what, under, _outline(scene, shape, *actions), top, left, behind, stack=colour)


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
    first = max(game.turn_seat, 0)
    seats = [(first + i) % scene.players for i in range(scene.players)] + ([ALEA] if scene.players == 2 else [])
    place = "PARK AREA" if game.auction_place == CENTRAL_PARK else PLACES[game.auction_place]
    parts = [at(22, 24, shapes.gavel(theme)), words(40, 25, f"AUCTION: {place}", 16, bold=True, fill=theme.ink)]
    parts.append(words(40, 42, fitted(_later(scene), 12.5, width - 50), 12.5, fill=theme.faint))
    top = 50.0
    for i, bidder in enumerate(seats):
        parts.append(at(8, top + _BIDDER * i, _bidder(scene, bidder, width - 16)))
    height = top + _BIDDER * len(seats) + 30
    parts.append(words(14, height - 12, fitted(_standing(scene), 14, width - 26), 14, bold=True, fill=theme.ink))
    return _box(scene, width, height, bright=True) + "".join(parts), height


def _later(scene: Scene) -> str:
    """AUC-1: the auctions that follow."""
    game = scene.game
    places = [PLACES[place] for place in game.visited[game.auction_commissioner] if place not in (NONE, game.auction_place)]
    if game.auction_place != CENTRAL_PARK:
        places.append("park area")
    return f"then {', '.join(places)}" if places else "the last one of the set"


def _standing(scene: Scene) -> str:
    """The highest bid, and what it allows (COM-10)."""
    game = scene.game
    bidder = game.highest_bidder
    if bidder == NONE:
        return "no bid yet"
    if bidder == ALEA:
        return f"{game.highest} by Alea is the highest bid"
    limit = build_limit(vars(game), bidder)
    return f"{game.highest} by {seat_name(bidder)}: builds up to {limit}"


def _bidder(scene: Scene, bidder: int, width: float) -> str:
    """A bidder's line: its cards, their total, and how it stands."""
    theme, game = scene.theme, scene.game
    highest = bidder == game.highest_bidder
    out = game.alea == ALEA_OUT if bidder == ALEA else bool(game.out[bidder])
    middle = _BIDDER / 2
    ground = {"fill": theme.gold, "fill_opacity": 0.3} if highest else {"fill": theme.block}
    parts = [rectangle(0, 2, width, _BIDDER - 4, 7, **ground), at(19, middle, shapes.emblem(theme, bidder, 10))]
    if bidder == game.seat:
        parts.append(path(f"M-4 {middle - 7:.1f}l8 7l-8 7Z", fill=theme.legal))
    cards = _bid_cards(scene, bidder)
    step = min(26.0, (width - 128) / max(len(cards) - 1, 1))
    parts += [at(38 + step * i, 6, shapes.small_card(theme, *card)) for i, card in enumerate(cards)]
    total = sum(rank + LOWEST_CARD for _, rank in cards)
    if cards:
        parts.append(words(width - 8, middle + 7, str(total), 20, end=True, bold=True, fill=theme.ink))
    if highest:
        parts.append(at(width - 45, middle + 5, shapes.crown(theme)))
    elif out or not cards:
        x, end = (width - 38, True) if cards else (40, False)
        parts.append(words(x, middle + 5, _bidder_state(scene, bidder, out), 14, fill=theme.faint, end=end))
    return group(title(_bidder_words(scene, bidder, out, total)), *parts, opacity=0.6 if out else None)


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
    across = 1 if scene.upright else scene.players
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
    """Room for the longest column of cards; in wide pictures always the same, so that films don't jump."""
    piles = NUM_RANKS if scene.table.seat is None else NUM_RANKS + 1
    if scene.upright:
        piles = max(len(_piles(scene, seat, colour)) for colour in range(NUM_COLOURS + 1))
    return _HAND + _STRIP * max(piles - 1, 1 if scene.upright else 2) + 34 + 10


def _piles(scene: Scene, seat: int, colour: int) -> list[tuple[int, int]]:
    """The cards of a colour in a hand: rank (NONE: not known) and how many, the unknown ones first."""
    unknown = int(scene.table.unknown[seat][colour])
    hand = scene.game.hand[seat][colour]
    known = [(rank, hand[rank]) for rank in range(NUM_RANKS) if hand[rank]]
    return ([(NONE, unknown)] if unknown else []) + known


def _player(scene: Scene, seat: int, width: float, height: float) -> str:
    theme, game = scene.theme, scene.game
    over = game.phase == PHASE_OVER
    won = over and seat in winners(scene.table)
    on = theme.on_seats[seat]
    right = f"{width:.1f}"
    band = path(f"M0 34V10Q0 0 10 0H{width - 10:.1f}Q{right} 0 {right} 10V34Z", fill=theme.seats[seat])
    name = scene.agents[seat] if scene.agents is not None and scene.agents[seat] else seat_name(seat)
    badge = circle(20, 17, 14, fill=theme.paper if theme.name == "light" else theme.panel) + at(
        20, 17.5, shapes.emblem(theme, seat, 9)
    )
    score = f"{game.score[seat]} VP"
    parts = [_box(scene, width, height, bright=won), band, badge]
    parts.append(words(42, 23.5, fitted(str(name), 17, width - 150), 17, bold=True, fill=on))
    parts.append(words(width - 12, 25, score, 21, end=True, bold=True, fill=on))
    beside = width - 30 - 1.08 * width_of(score, 21)  # bold letters are wider
    if won:
        parts.append(at(beside, 24, shapes.crown(theme)))
    elif game.turn_seat == seat and not over and game.phase != PHASE_START:
        parts.append(at(beside, 17, _turn_flag(scene)))
    if game.seat == seat:
        parts.append(_acting_ring(scene, width, height))
    return group(*parts, _supply(scene, seat, width), _hand(scene, seat, width))


def _acting_ring(scene: Scene, width: float, height: float) -> str:
    style = {"fill": "none", "stroke": scene.theme.legal}
    wide = rectangle(-2, -2, width + 4, height + 4, 12, **style, stroke_width=6, stroke_opacity=0.3)
    return wide + rectangle(-2, -2, width + 4, height + 4, 12, **style, stroke_width=2.4)


def _turn_flag(scene: Scene) -> str:
    """Whose turn it is, also while others bid."""
    flag = path("M-6 8V-9", stroke=scene.theme.on_gold, stroke_width=2) + path(
        "M-6-9H8L4-4.5L8 0H-6Z", fill=scene.theme.tile, stroke=scene.theme.on_gold, stroke_width=0.8
    )
    return group(title("on turn"), flag)


def _supply(scene: Scene, seat: int, width: float) -> str:
    """Skyscrapers ready to build, those in the general supply, and the number of cards."""
    theme, game = scene.theme, scene.game
    ready, general, cards = game.supply[seat], game.general[seat], scene.table.cards_in_hand(seat)
    text = f"{ready} ready, {general} more"
    step = min(15.0, (width - 120 - width_of(text, 14)) / max(ready, 1))
    houses = "".join(at(18 + step * i, 58, shapes.tower(theme, seat, 1, 11, 7)) for i in range(ready))
    x = 34 + step * (ready - 1) if ready else 12
    first = words(x, 56, text, 14, fill=theme.ink)
    last = words(width - 12, 56, counted(cards, "card"), 14, end=True, fill=theme.ink)
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
    events = _recent(events)
    entries = _open_log(scene, events) if scene.table.seat is None else log(events, scene.agents, seat=scene.table.seat)
    lines: list[tuple[str, bool, bool]] = []
    for i, text in enumerate(entries):
        newest = i == len(entries) - 1
        parts = wrapped(text, size, width - 34)
        lines += [(part, number_of == 0, newest) for number_of, part in enumerate(parts)]
    kept = lines[-room:] if room > 0 else []
    parts_drawn = []
    for i, (text, first, newest) in enumerate(kept):
        y = 40 + line * i
        bullet = element("circle", cx=16, cy=y - 4.5, r=2.2, fill=scene.theme.gold) if first else ""
        parts_drawn.append(bullet + words(24, y, text, size, bold=newest, fill=scene.theme.ink if newest else scene.theme.faint))
    return _box(scene, width, height) + _heading(scene, "WHAT HAPPENED") + "".join(parts_drawn)


_MOST_EVENTS: Final = 60
"""More than a picture has room for."""


def _recent(events: Sequence[Event]) -> Sequence[Event]:
    """The last events, and those back to the beginning of the auction in which they begin, or totals would be wrong."""
    start = max(len(events) - _MOST_EVENTS, 0)
    for i in range(start, -1, -1):
        if i < len(events) and events[i].get("event") in ("auction", "won"):
            return events[i if events[i]["event"] == "auction" else start :]
    return events[start:]


def _open_log(scene: Scene, events: Sequence[Event]) -> list[str]:
    """The log for those who see everything."""
    lines = []
    bids: list[Event] = []
    for event in events:
        if event.get("event") == "black":
            lines += log(bids, scene.agents)
            lines += log([event], scene.agents, seat=event["seat"])
            bids = []
        else:
            bids.append(event)
    return lines + log(bids, scene.agents)


# ---- an agent's evaluation ----

_MOST_SHOWN: Final = 6


def evaluation(scene: Scene, position: np.void, held: Evaluation, width: float, room: float) -> Panel:
    """What an agent would do, how sure it is, and what it expects: as many actions as there is room for, at least two."""
    theme = scene.theme
    shares = np.asarray(held.probabilities)
    order = [int(action) for action in np.argsort(-shares, kind="stable") if shares[action] > 0][:_MOST_SHOWN]
    rows, y = [], 40.0
    for i, action in enumerate(order):
        lines = wrapped(action_text(position, action), 13.5, width - 80)[:2]
        if i >= 2 and y + 16 * len(lines) + 15 + 34 > room:
            break
        for line in lines:
            rows.append(words(12, y + 5, line, 13.5, bold=i == 0, fill=theme.ink))
            y += 16
        rows.append(words(width - 12, y - 11, f"{100 * shares[action]:.0f} %", 15, end=True, bold=True, fill=theme.ink))
        rows.append(rectangle(12, y - 5, width - 24, 6, 3, fill=theme.street))
        rows.append(rectangle(12, y - 5, max((width - 24) * min(float(shares[action]), 1.0), 3), 6, 3, fill=theme.seats[1]))
        y += 15
    if held.value is not None:
        rows.append(at(12, y + 4, _gauge(scene, held.value, width - 24)))
        y += 34
    return _box(scene, width, y) + _heading(scene, "AN AGENT'S EVALUATION") + "".join(rows), y


def _gauge(scene: Scene, value: float, width: float) -> str:
    """The value as a needle on a scale from −1 to +1."""
    theme = scene.theme
    part = (min(max(value, -1.0), 1.0) + 1) / 2
    x = part * width
    scale = rectangle(0, 14, width, 8, 4, fill=theme.street) + rectangle(width / 2 - 0.6, 12, 1.2, 12, fill=theme.faint)
    needle = path(f"M{x:.1f} 13l5-8h-10Z", fill=theme.legal) + rectangle(x - 1.2, 10, 2.4, 14, fill=theme.legal)
    text = words(width if part < 0.5 else 0, 9, f"expects {value:+.2f}", 14, end=part < 0.5, bold=True, fill=theme.ink)
    return scale + needle + text
