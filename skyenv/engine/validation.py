"""Whether records that were given from outside are positions that compiled code can play on in.

Compiled code looks nothing up: an index out of range reads or writes some other memory. So whatever
may have been edited or made by hand is looked at here, once, before compiled code gets it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from skyenv.checks import as_plain
from skyenv.errors import OptionError, shown
from skyenv.rules.businesses import current_set
from skyenv.rules.compiling import entry_point, rule
from skyenv.rules.components import (
    BLACK,
    BUSINESSES_TO_PLACE,
    FRONT,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_COLOURS,
    NUM_DISTRICTS,
    NUM_RANKS,
    ROW_SIZE,
    SET_START,
    SIXTH,
)
from skyenv.rules.state import (
    ALEA,
    GAME_DTYPE,
    GAME_RANGES,
    NONE,
    PHASE_BID,
    PHASE_PLOT,
    Array,
    GameRecord,
    as_records,
)

Games = npt.NDArray[np.void]


def as_games(state: npt.ArrayLike) -> Games:
    """Games as compiled functions take them; see :func:`skyenv.rules.state.new_records`.

    Raises:
        OptionError: these are no records of GAME_DTYPE, (n,), or they have no number of players.
    """
    given = np.asarray(state)
    if given.dtype != GAME_DTYPE or given.ndim != 1:
        raise OptionError(
            f"games must be records of GAME_DTYPE, shape (n,), not {shown(given.dtype, 40)} "
            f"{given.shape}"
        )
    games = as_records(as_plain(given), GAME_DTYPE)
    players = games["num_players"]
    if players.size and not (players.min() >= MIN_PLAYERS and players.max() <= MAX_PLAYERS):
        row = int(np.argmax((players < MIN_PLAYERS) | (players > MAX_PLAYERS)))
        raise OptionError(
            f"game {row}: num_players is {players[row]}; it must be from {MIN_PLAYERS} to "
            f"{MAX_PLAYERS}"
        )
    return games


# ---- what must fit together ----

MOST_CARDS: Final = 100
"""Cards of a kind in all places together.

Edited positions may hold more than the pack (COM-1), but no field may overflow.
"""

MISFITS: Final = (
    "random is 0: such a stream of chance stands still",
    "num_players is another one than that of this batch",
    "ring names a sixth plot, which the front side doesn't have",
    "known names cards that are not in hand",
    "bid_cards has coloured cards of a seat without a bid_colour",
    f"there are more than {MOST_CARDS} cards of a kind",
    "phase asks for a plot although all businesses are placed",
    "a seat is named that nobody has at a table of that size",
    "turns is beyond max_turns",
    "row lacks tiles of a set that is still to come",
)
"""What can be wrong with a record whose numbers are all in their ranges."""


@rule
def cards_misfit(game: GameRecord) -> int:
    """Number of the first of MISFITS that its cards show, or NONE."""
    for colour in range(NUM_COLOURS + 1):
        for rank in range(NUM_RANKS):
            number = int(game.face_down[colour, rank])
            for seat in range(MAX_PLAYERS):
                if game.known[seat, colour, rank] > game.hand[seat, colour, rank]:
                    return 3
                number += int(game.hand[seat, colour, rank])
                if game.phase != PHASE_BID:
                    continue  # the cards of a bid have been paid
                if colour == BLACK:
                    number += int(game.bid_cards[seat, 1, rank])
                elif game.bid_colour[seat] == colour:
                    number += int(game.bid_cards[seat, 0, rank])
                elif game.bid_colour[seat] == NONE and game.bid_cards[seat, 0, rank] > 0:
                    return 4
            if colour == BLACK:
                number += int(game.black_face_up[rank]) + int(game.alea_cards[rank])
            else:
                number += 1 if game.top[colour] == rank else 0
                for i in range(game.num_returned[colour]):
                    number += 1 if game.returned[colour, i] == rank else 0
            if number > MOST_CARDS:
                return 5
    return NONE


@rule
def misfit(game: GameRecord, num_players: int, view_only: bool) -> int:
    """Number of the first of MISFITS that a record shows, or NONE.

    Args:
        game: its numbers are in their ranges.
        num_players: that it must have; 0: any.
        view_only: it is only looked at, or what a seat sees, and needs no stream of chance.
    """
    if (
        not view_only
        and game.random[0] == 0
        and game.random[1] == 0
        and game.random[2] == 0
        and game.random[3] == 0
    ):
        return 0
    if num_players > 0 and game.num_players != num_players:
        return 1
    if game.side == FRONT:
        for district in range(NUM_DISTRICTS):
            for position in range(NUM_COLOURS):
                if game.ring[district, position] == SIXTH:
                    return 2
    if game.phase == PHASE_PLOT and game.placed >= BUSINESSES_TO_PLACE:
        return 6
    if names_nobody(game):
        return 7
    if game.turns > game.max_turns:
        return 8
    if (
        not view_only and game.placed < BUSINESSES_TO_PLACE
    ):  # rows without a game yet may be looked at
        for space in range(SET_START[current_set(game) + 1], ROW_SIZE):
            if game.row[space] == NONE:
                return 9
    return cards_misfit(game)


@rule
def names_nobody(game: GameRecord) -> bool:
    """Whether a seat is on turn, owns, leads or lays a card down that isn't at the table."""
    last = int(game.num_players) - 1
    if game.seat > last or game.turn_seat > last or last < game.highest_bidder < ALEA:
        return True
    for district in range(NUM_DISTRICTS):
        for position in range(NUM_COLOURS):
            if last < game.owner[district, position] < ALEA:
                return True
    return False


@entry_point("the check of positions")
def _first_misfit(games: Array, num_players: int, view_only: bool, kind: Array) -> int:
    """Index of the first game that shows one of MISFITS, whose number goes to `kind`, int64 (1,);
    NONE if there is none.
    """
    for i in range(len(games)):
        kind[0] = misfit(games[i], num_players, view_only)
        if kind[0] != NONE:
            return i
    return NONE


# ---- ranges ----


class _Run(NamedTuple):
    """Neighbouring fields of one type: where they are in a record, and the bounds of all their
    numbers.
    """

    offset: int
    dtype: np.dtype[Any]
    lowest: npt.NDArray[Any]
    highest: npt.NDArray[Any]


def _bound(which: int) -> Games:
    """A record that holds the lowest (0) or highest (1) allowed value of every number."""
    bounds = np.zeros(1, GAME_DTYPE)
    for field in GAME_DTYPE.names or ():
        bounds[field] = GAME_RANGES[field][which]
    return bounds


def _runs() -> Iterator[_Run]:
    """All fields, in a few runs: comparing run by run takes a tenth of the time that comparing
    field by field does.
    """
    lowest, highest = _bound(0), _bound(1)
    starts: list[tuple[int, np.dtype[Any]]] = []
    for dtype, offset, *_ in (GAME_DTYPE.fields or {}).values():
        if not starts or starts[-1][1] != dtype.base:
            starts.append((offset, dtype.base))
    ends = [offset for offset, _ in starts[1:]] + [GAME_DTYPE.itemsize]
    for (offset, dtype), end in zip(starts, ends, strict=True):
        yield _Run(
            offset,
            dtype,
            *(_numbers(bounds, offset, end, dtype)[0] for bounds in (lowest, highest)),
        )


def _numbers(games: Games, offset: int, end: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """A part of records as plain numbers, (n, k)."""
    count = (end - offset) // dtype.itemsize
    if not len(games):  # NumPy makes no view of a buffer of no bytes
        return np.zeros((0, count), dtype)
    return np.ndarray(
        (len(games), count),
        dtype,
        games.view(np.uint8),
        offset,
        (GAME_DTYPE.itemsize, dtype.itemsize),
    )


_RUNS: Final = tuple(_runs())


def check_positions(games: Games, num_players: int = 0, *, view_only: bool = False) -> None:
    """Refuse records that compiled code could not play on in.

    Every number must be in its range (GAME_RANGES), and those that lead to each other must fit
    together. What passes need not be a position that a game can lead to.

    Args:
        games: as :func:`as_games` returns them.
        num_players: that all of them must have; 0: any.
        view_only: whether they need no stream of chance, as nobody plays on in them: they are only
            looked at, or a seat's view.

    Raises:
        OptionError: one isn't such a position; with its index and the field that is wrong.
    """
    plain = games.view(np.ndarray)
    for run in _RUNS:
        numbers = _numbers(plain, run.offset, run.offset + run.lowest.nbytes, run.dtype)
        if not ((numbers >= run.lowest) & (numbers <= run.highest)).all():
            raise _out_of_range(plain)
    kind = np.zeros(1, np.int64)
    row = _first_misfit(games, num_players, view_only, kind)
    if row != NONE:
        raise OptionError(f"game {row}: {MISFITS[kind[0]]}")


def _out_of_range(games: Games) -> OptionError:
    lowest, highest = _bound(0), _bound(1)
    for field in GAME_DTYPE.names or ():
        low, high = np.broadcast_arrays(lowest[field], highest[field])
        wrong = (games[field] < low) | (games[field] > high)
        if wrong.any():
            row, *place = np.argwhere(wrong)[0].tolist()
            name = field + (f"[{', '.join(map(str, place))}]" if place else "")
            index = (0, *place)
            value = games[field][(row, *place)]
            return OptionError(
                f"game {row}: {name} is {value}; it must be from {low[index]} to {high[index]}"
            )
    raise AssertionError("every number is in its range")
