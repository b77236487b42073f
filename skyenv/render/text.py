"""The plain text of a position: the whole table in at most WIDTH columns."""

from typing import Any, Final, TypeAlias

import numpy as np

from skyenv.console.tables import WIDTH, wrapped
from skyenv.engine.knowledge import PUBLIC
from skyenv.render.reasons import build_limit, current_set
from skyenv.render.table import Table, visible_table
from skyenv.render.words import (
    after_auction,
    bid_piles,
    bid_state,
    capital,
    progress,
    seat_label,
    seat_name,
    situation,
)
from skyenv.rules.components import (
    BACK,
    BLACK,
    BUSINESSES,
    CARD_COLOURS,
    CARD_VALUES,
    CENTRAL_PARK,
    CITY_HALL,
    LOWEST_CARD,
    MARKERS,
    NUM_COLOURS,
    PLACES,
    PLOTS,
    SET_SIZES,
    SET_START,
)
from skyenv.rules.state import ALEA, NONE

Lines: TypeAlias = list[str]

_BUSINESS_LETTERS: Final = tuple(business[0] for business in BUSINESSES)
# COM-4: the districts in columns from City Hall to Central Park.
_COLUMNS: Final = ((0, 1), (2, 3, 4), (5, 6))
_DISTRICT_WIDTH: Final = 19
_PARK_WIDTH: Final = 18
_LEGEND: Final = (
    "b boutique · j jeweller · g gallery · p perfumery",
    "1 ×3 three skyscrapers of seat 1 (A: Alea)",
    "+5 VP that a skyscraper there scores",
    "W B commissioners white and beige · w b their markers",
    "double frame: under auction · [b p] the current set · ? a card not known",
)


def text(position: np.void, seat: int | None = None) -> str:
    """Return a picture of a position in plain text.

    Args:
        position: a record of GAME_DTYPE, or a seat's view, VIEW_DTYPE.
        seat: draw this seat's view (INF), with ``?`` for every hidden card; None: all hands are
            open.

    Returns:
        Lines of at most WIDTH columns, without a newline at the end.

    Raises:
        OptionError: there is no such seat, or `position` is no such record.
    """
    table = visible_table(position, seat)
    blocks = [_situation(table), _city(table), _supply_row(table), _stacks(table)]
    if table.game["auction_place"] != NONE:
        blocks.append(_auction(table))
    blocks += [_players(table), list(_LEGEND)]
    return "\n".join(line.rstrip() for block in blocks for line in [*block, ""]).rstrip("\n")


# ---- the situation ----


def _situation(table: Table) -> Lines:
    """Return the situation and the progress of the game."""
    reader = "everybody" if table.seat == PUBLIC else seat_name(int(table.seat or 0))
    whose = [] if table.seat is None else [f"as {reader} sees it"]
    headline = wrapped(capital(situation(table)), WIDTH).splitlines()
    return [*headline, *_wrapped(progress(table), WIDTH), *whose]


# ---- the city ----


def _city(table: Table) -> Lines:
    """Return the districts in their three columns, from City Hall above the first to Central Park
    beside the last.
    """
    park = bool(table.game["auction_place"] == CENTRAL_PARK)
    columns = [
        *(
            [line for district in column for line in _district(table, district)]
            for column in _COLUMNS
        ),
        _box("CENTRAL PARK", "", _park(table), _PARK_WIDTH, park),
    ]
    columns[0] = _box("CITY HALL", "", _city_hall(table), _DISTRICT_WIDTH) + columns[0]
    height = max(map(len, columns))
    middle = (height - 1) // 2
    centred = [_centred(column, height) for column in columns]
    return [
        ("→" if row == middle else " ").join(line)
        for row, line in enumerate(zip(*centred, strict=True))
    ]


def _centred(column: Lines, height: int) -> Lines:
    blank = " " * len(column[0])
    above = (height - len(column)) // 2
    return [blank] * above + column + [blank] * (height - len(column) - above)


def _box(title: str, badge: str, content: Lines, width: int, double: bool = False) -> Lines:
    """Return a frame with a title at its top left and a badge at its top right."""
    corners, across, down = ("╔╗╚╝", "═", "║") if double else ("┌┐└┘", "─", "│")
    title = f"{across} {title} "
    badge = f" {badge} {across}" if badge else across
    top = title + across * (width - 2 - len(title) - len(badge)) + badge
    inner = [f"{down} {line:<{width - 4}} {down}" for line in content]
    return [corners[0] + top + corners[1], *inner, corners[2] + across * (width - 2) + corners[3]]


def _city_hall(table: Table) -> Lines:
    """Return City Hall: its commissioners, and the markers off the board (SET-6)."""
    return [
        f"{letter.upper() if table.game['place'][i] == CITY_HALL else ' '} "
        f"{' '.join([letter] * (MARKERS - int(table.game['markers'][i])))}"
        for i, letter in enumerate("wb")
    ]


def _badge(table: Table, place: int) -> str:
    """Return the commissioners and markers at a place."""
    letters = [letter.upper() for i, letter in enumerate("wb") if table.game["place"][i] == place]
    letters += [letter for i, letter in enumerate("wb") if place in table.game["visited"][i]]
    return " ".join(letters)


def _district(table: Table, district: int) -> Lines:
    game = table.game
    rows = len(PLOTS) if game["side"] == BACK else NUM_COLOURS
    if game["stopped"][district]:
        content = ["", "", "building stop".center(_DISTRICT_WIDTH - 4), *[""] * (rows - 3)]
    else:
        content = [_plot(game, district, int(plot)) for plot in game["ring"][district][:rows]]
    auction = bool(game["auction_place"] == district)
    return _box(PLACES[district], _badge(table, district), content, _DISTRICT_WIDTH, auction)


def _plot(game: Any, district: int, plot: int) -> str:
    """Return a plot's colour, its contents, and the VP of a skyscraper there unless it has
    businesses.
    """
    businesses = _business_letters(game["tiles"][district, plot])
    if businesses or plot >= NUM_COLOURS:
        return f"{PLOTS[plot]:<7}{' '.join(businesses)}"
    owner = int(game["owner"][district, plot])
    standing = "·" if owner == NONE else f"{seat_label(owner)} ×{game['floors'][district, plot]}"
    return f"{PLOTS[plot]:<7}{standing:<5}{'+' + str(game['value'][district, plot]):>3}"


def _business_letters(counts: Any) -> str:
    return "".join(
        letter * int(number) for letter, number in zip(_BUSINESS_LETTERS, counts, strict=True)
    )


def _park(table: Table) -> Lines:
    game = table.game
    seats = [f"{seat_name(seat)} ×{game['park'][seat]}" for seat in range(table.players)]
    tiles = _business_letters(game["park_tiles"]) or "·"
    return [_badge(table, CENTRAL_PARK), "", *seats, "", f"tiles {tiles}"]


# ---- beside the board ----


def _supply_row(table: Table) -> Lines:
    """Return the sets from left to right (SET-3), taken tiles as dots, the current in brackets."""
    sets = []
    for i, size in enumerate(SET_SIZES):
        spaces = table.game["row"][SET_START[i] : SET_START[i] + size]
        letters = " ".join("·" if space == NONE else _BUSINESS_LETTERS[space] for space in spaces)
        sets.append(f"[{letters}]" if i == current_set(table.game) else f" {letters} ")
    return [f"{'supply row':<12}{' '.join(sets)}"]


def _stacks(table: Table) -> Lines:
    """Return per colour the visible card, the number of cards face down, and the returned ones in
    the order they come up.
    """
    game = table.game
    lines = [f"{'stacks':<12}{'top':>3}{'face down':>12}   returned"]
    for colour, name in enumerate(CARD_COLOURS):
        top = "·"
        if colour == BLACK:
            returned = _counted(game["black_face_up"], 0)
        else:
            top = "-" if game["top"][colour] == NONE else str(game["top"][colour] + LOWEST_CARD)
            returned = "".join(
                str(rank + LOWEST_CARD)
                for rank in game["returned"][colour][: game["num_returned"][colour]]
            )
        lines.append(f"{name:<12}{top:>3}{table.face_down[colour]:>12}   {returned or '·'}")
    return lines


def _counted(counts: Any, unknown: int) -> str:
    """Return cards of one colour: few as digits (``445?``), many with their numbers
    (``4×6 5×2 ?×1``).
    """
    numbers = [(str(value), int(number)) for value, number in zip(CARD_VALUES, counts, strict=True)]
    numbers.append(("?", unknown))
    if sum(number for _, number in numbers) <= 8:
        return "".join(value * number for value, number in numbers)
    return " ".join(f"{value}×{number}" for value, number in numbers if number)


def _highest(game: Any) -> str:
    """Return the highest bid, its bidder, and the skyscrapers that it could build."""
    bidder = int(game["highest_bidder"])
    if bidder == NONE:
        return "no bid yet"
    builds = "" if bidder == ALEA else f" builds up to {build_limit(game, bidder)},"
    return f"highest {game['highest']},{builds} {seat_name(bidder)}"


def _auction(table: Table) -> Lines:
    """Return the auction: every bidder's cards on the table."""
    game = table.game
    place, starter = PLACES[game["auction_place"]], seat_name(int(game["turn_seat"]))
    title = f"auction of {place}, started by {starter}: {_highest(game)}; {after_auction(game)}"
    return [
        *wrapped(title, WIDTH).splitlines(),
        *(_bid(game, bidder) for bidder in table.bidders),
    ]


def _bid(game: Any, bidder: int) -> str:
    mark = ">" if game["seat"] == bidder else " "
    piles = [pile for pile in bid_piles(game, bidder) if any(pile[1])]
    cards = " · ".join(f"{CARD_COLOURS[colour]} {_counted(counts, 0)}" for colour, counts in piles)
    total = sum(int(np.dot(counts, CARD_VALUES)) for _, counts in piles)
    parts = [f"{cards} = {total}" if cards else "", bid_state(game, bidder)]
    return f"{mark} {seat_name(bidder):<10}{', '.join(filter(None, parts))}"


def _players(table: Table) -> Lines:
    """Return scores, skyscrapers and hands."""
    game = table.game
    lines = [f"  {'':<10}{'VP':>4}{'supply':>8}{'general':>9}{'cards':>7}   hand"]
    for seat in range(table.players):
        mark = ">" if game["seat"] == seat else " "
        numbers = f"{game['score'][seat]:>4}{game['supply'][seat]:>8}{game['general'][seat]:>9}"
        head = f"{mark} {seat_name(seat)}    {numbers}{table.cards_in_hand(seat):>7}   "
        hand = _wrapped(_hand(table, seat) or ["-"], WIDTH - len(head))
        lines.append(head + hand[0])
        lines += [" " * len(head) + line for line in hand[1:]]
    if ALEA in table.bidders:
        lines.append(f"  {'Alea':<10}{'':>4}{'':>8}{game['alea_supply']:>9}")
    return lines


def _hand(table: Table, seat: int) -> Lines:
    """Return a hand, colour by colour."""
    hand, unknown = table.game["hand"][seat], table.unknown[seat]
    return [
        f"{name} {_counted(hand[colour], int(unknown[colour]))}"
        for colour, name in enumerate(CARD_COLOURS)
        if hand[colour].any() or unknown[colour]
    ]


def _wrapped(items: Lines, width: int) -> Lines:
    """Return the items on as many lines as they need; no item is split."""
    lines = [""]
    for item in items:
        longer = f"{lines[-1]} · {item}" if lines[-1] else item
        if len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(item)
    return lines
