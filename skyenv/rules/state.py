"""The game state: one record with every field of a position, its shape and meaning.

Conventions: *rank* is a card's value − 4; card colours are 0–4 and black 5; a *seat* is 0 … N−1; −1
is "none". Fields that a game of fewer players doesn't use stay at their initial values. Copying the
record copies the game, generator included.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.rules.compiling import COMPILED
from skyenv.rules.components import HIGHEST_TOTAL

NONE: Final = -1  # no seat, no plot, no card, no business, no district
ALEA: Final = 4  # alea in fields that name a seat or an owner (her skyscrapers, her highest bid)

# Phases: which decision is open. Each has its own block of actions.
PHASE_START: Final = 0  # SET-7: placing a starting skyscraper
PHASE_OPTION: Final = 1  # TURN-1: choosing an option
PHASE_PLOT: Final = 2  # BUS-2: choosing the plot for the business of option B
PHASE_TAKE: Final = 3  # TURN-4: taking a coloured card
PHASE_MOVE: Final = 4  # MOVE-1: moving a commissioner
PHASE_BID: Final = 5  # AUC-3: bidding, one card at a time
PHASE_BUILD: Final = 6  # AUC-10, STOP-1: the winner builds or stops
PHASE_OVER: Final = 7  # the game has ended or was truncated; there is nothing to decide
PHASES: Final = ("start", "option", "plot", "take", "move", "bid", "build", "over")

END_BUSINESSES: Final = 1
END_STOPS: Final = 2
END_TRUNCATED: Final = 3
END_TASK: Final = 4  # the last auction of a task is over
END_REASONS: Final = ("", "businesses", "stops", "truncated", "task")

ALEA_WAITS: Final = 0  # she has not bid in this auction (ALEA-2)
ALEA_STANDS: Final = 1  # her total is the highest (ALEA-3)
ALEA_OUT: Final = 2  # she was too low or was overbid; or there is no Alea

I8, I16, I32, I64, U32 = np.int8, np.int16, np.int32, np.int64, np.uint32
FIELDS: Final[tuple[tuple[str, type, tuple[int, ...], int, int], ...]] = (
    # -- the game's own stream of chance and its seed
    ("seed", I64, (), NONE, 2**63 - 1),  # 0 … 2^63−1; NONE if its chance came from elsewhere
    ("random", U32, (4,), 0, 2**32 - 1),  # state of the generator (chance.py)
    ("decisions", I32, (), 0, 2**30),  # actions taken so far
    ("turns", I32, (), 0, 2**30),  # turns finished so far, all seats together (END-5)
    ("max_turns", I32, (), 1, 2**31 - 1),  # END-5
    ("score", I32, (4,), 0, 2**30),  # VP of each seat
    (
        "bid_total",
        I16,
        (4,),
        0,
        HIGHEST_TOTAL,
    ),  # in an auction: value of the cards that the seat laid down
    (
        "highest",
        I16,
        (),
        0,
        HIGHEST_TOTAL,
    ),  # in an auction: highest total so far; 0 before the first bid
    ("num_players", I8, (), 2, 4),  # 2, 3 or 4
    ("side", I8, (), 0, 1),  # 0 front, 1 back
    ("ring", I8, (7, 6), NONE, 5),  # COM-6, COM-9: [district, position] → plot; front side: 5, NONE
    # -- where the decision stands
    ("phase", I8, (), 0, 7),  # PHASE_…
    ("end", I8, (), 0, 4),  # END_…: why the game is over; 0: it isn't
    ("seat", I8, (), NONE, 3),  # seat to act; NONE once the game is over
    ("turn_seat", I8, (), 0, 3),  # seat whose turn it is; in an auction its starter (AUC-2)
    ("step", I8, (), 0, 7),  # action of the turn under way, 1 to 3; setup: skyscrapers placed
    ("option", I8, (), NONE, 3),  # option of this turn: 0 A, 1 B, 2 C, 3 D; or NONE
    ("business", I8, (), NONE, 3),  # PHASE_PLOT: the type to place; else NONE
    ("first_colour", I8, (), NONE, 4),  # PHASE_TAKE: colour of the first card taken; else NONE
    # -- the board
    ("owner", I8, (7, 5), NONE, ALEA),  # [district, plot] → seat or ALEA that built there, or NONE
    ("floors", I8, (7, 5), 0, 18),  # skyscrapers on the plot (the sixth plot never has one)
    ("tiles", I8, (7, 6, 4), 0, 2),  # [district, plot, type] → businesses on the plot
    ("value", I8, (7, 5), 0, 8),  # SCO-2: VP that a skyscraper on the plot scores; 0 if stopped
    ("stopped", I8, (7,), 0, 1),  # STOP-4: 1 if the district is stopped
    ("stops", I8, (), 0, 2),  # building stops so far
    ("park", I8, (4,), 0, 18),  # skyscrapers of each seat in the park area
    ("park_tiles", I8, (4,), 0, 9),  # businesses in the park area by type (BUS-3)
    ("placed", I8, (), 0, 12),  # businesses placed by option B so far
    ("row", I8, (20,), NONE, 3),  # SET-3: type on each space of the supply row; NONE: taken
    ("place", I8, (2,), 0, 8),  # place of each commissioner
    ("markers", I8, (2,), 0, 3),  # markers that each commissioner has on the board
    ("visited", I8, (2, 3), NONE, 6),  # their districts, first visited first; then NONE
    # -- what players hold
    ("supply", I8, (4,), 0, 18),  # skyscrapers ready to build
    ("general", I8, (4,), 0, 12),  # skyscrapers in the general supply
    ("alea_supply", I8, (), NONE, 18),  # ALEA-1: skyscrapers that Alea has left; NONE: she is away
    ("hand", I8, (4, 6, 3), 0, 20),  # [seat, card colour, rank] → cards in hand, without bids
    ("known", I8, (4, 6, 3), 0, 20),  # INF-3: those of them that are public
    ("unknown", I8, (4, 6), 0, 127),  # [seat, card colour] → those that only the seat knows
    # -- the stacks
    ("top", I8, (5,), NONE, 2),  # rank of the visible card of each coloured stack, or NONE
    ("face_down", I8, (6, 3), 0, 20),  # [card colour, rank] → cards face down in the stack
    ("unlocated", I8, (6, 3), 0, 127),  # [card colour, rank] → face down or in a hand, not known
    ("returned", I8, (5, 12), NONE, 2),  # AUC-8: ranks of the returned cards, next to come up first
    ("num_returned", I8, (5,), 0, 12),  # how many these are
    ("black_face_up", I8, (3,), 0, 20),  # [rank] → cards face up at the bottom of the black stack
    # -- the auction under way
    ("auction_place", I8, (), NONE, 7),  # district or CENTRAL_PARK; NONE between auctions
    ("auction_commissioner", I8, (), NONE, 1),  # that came home and started the auctions; or NONE
    ("highest_bidder", I8, (), NONE, ALEA),  # seat or ALEA; NONE before the first bid
    ("out", I8, (4,), 0, 1),  # 1 if the seat has passed
    ("bid_colour", I8, (4,), NONE, 4),  # AUC-4: colour of the seat's coloured cards; or NONE
    ("bid_cards", I8, (4, 2, 3), 0, 20),  # [seat, coloured 0, black 1; rank]; PHASE_BUILD: paid
    ("laid", I8, (), NONE, 5),  # last card of this bid: coloured 0–2, black 3–5; or NONE
    ("park_colour", I8, (), NONE, 4),  # AUC-12: colour of the park area's auction; NONE: no bid
    ("alea", I8, (), 0, 2),  # ALEA_…
    ("alea_cards", I8, (3,), 0, 2),  # [rank] → cards that Alea has turned up
    ("deduced", I8, (2, 3), 0, 20),  # AUC-9: black cards that the other of 2 players has deduced
    ("auctions_left", I8, (), NONE, 8),  # of a task: auctions that are still to end; NONE: a game
)
"""Every field of a game: name, type, shape, lowest and highest value.

:mod:`skyenv.engine.validation` checks the bounds. Bounds of counters are far below the limits of
their types, so that playing on can't overflow them.
"""
GAME_DTYPE: Final = np.dtype([(name, kind, shape) for name, kind, shape, *_ in FIELDS], align=True)
"""A game; the module's docstring has the conventions."""


Array = npt.NDArray[Any]
"""An array for compiled code; the function's or module's docstring describes its contents."""


class Record:
    """A record of a structured array, its fields as attributes: Numba's record in compiled code,
    np.record in plain Python.

    Subclasses name the layout for readers and type checkers; they have no instances.
    """

    if TYPE_CHECKING:

        def __getattr__(self, field: str) -> Any: ...
        def __setattr__(self, field: str, value: Any) -> None: ...


class GameRecord(Record):
    """One record of GAME_DTYPE."""


class _PlainRecord(np.void):  # type: ignore[misc]
    """A record for plain Python, with a property per field, ten times as fast as np.record's
    lookup.
    """

    def __getattr__(self, field: str) -> Any:
        """Return a field read for the first time, and add its property."""
        if field not in (self.dtype.names or ()):
            raise AttributeError(field)
        setattr(
            _PlainRecord,
            field,
            property(itemgetter(field) if self.dtype[field].names is None else _inner(field)),
        )
        return getattr(self, field)

    def __setattr__(self, field: str, value: Any) -> None:
        self[field] = value


def _inner(field: str) -> Callable[[_PlainRecord], Any]:
    """Return the reader of a nested record."""
    return lambda record: record[field].view((_PlainRecord, record[field].dtype))


def _layout(dtype: np.dtype[np.void]) -> np.dtype[Any]:
    """Return the layout that records need: without compilation, with fields as attributes."""
    return dtype if COMPILED else np.dtype((_PlainRecord, dtype))


def new_records(number: int, dtype: np.dtype[np.void]) -> npt.NDArray[np.void]:
    """Return zeroed records for compiled functions, shape (number,).

    Compiled calls take a plain structured array in a tenth of the time of a record array. Without
    compilation the same code needs records with fields as attributes.
    """
    return np.zeros(number, _layout(dtype))


def as_records(array: npt.NDArray[np.void], dtype: np.dtype[np.void]) -> npt.NDArray[np.void]:
    """Return records in the form for compiled functions; see :func:`new_records`."""
    return np.asarray(array, dtype).view(np.ndarray).view(_layout(dtype))


def new_games(number: int) -> npt.NDArray[np.void]:
    """Return `number` zeroed games; see :func:`new_records`."""
    return new_records(number, GAME_DTYPE)
