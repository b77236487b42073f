"""A game is one record: every field of a position, with its shape and meaning.

Conventions: *rank* is a card's value − 4; card colours are 0–4 and black 5; a *seat* is 0 … N−1; −1
is "none". Fields that a game of fewer players doesn't use stay at their initial values. Copying the
record copies the game, generator included.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from skyenv.rules.compiling import COMPILED

NONE: Final = -1
"""No seat, no plot, no card, no business, no district."""
ALEA: Final = 4
"""Alea in fields that name a seat or an owner (her skyscrapers, her highest bid)."""

# Phases: which decision is open. Each has its own block of actions.
PHASE_START: Final = 0
"""SET-7: placing a starting skyscraper."""
PHASE_OPTION: Final = 1
"""TURN-1: choosing an option."""
PHASE_PLOT: Final = 2
"""BUS-2: choosing the plot for the business of option B."""
PHASE_TAKE: Final = 3
"""TURN-4: taking a coloured card."""
PHASE_MOVE: Final = 4
"""MOVE-1: moving a commissioner."""
PHASE_BID: Final = 5
"""AUC-3: bidding, one card at a time."""
PHASE_BUILD: Final = 6
"""AUC-10, STOP-1: the winner builds or stops."""
PHASE_OVER: Final = 7
"""The game has ended or was truncated; there is nothing to decide."""
PHASES: Final = ("start", "option", "plot", "take", "move", "bid", "build", "over")

END_BUSINESSES: Final = 1
END_STOPS: Final = 2
END_TRUNCATED: Final = 3
END_REASONS: Final = ("", "businesses", "stops", "truncated")

ALEA_WAITS: Final = 0
"""Alea has not bid in this auction (ALEA-2)."""
ALEA_STANDS: Final = 1
"""Alea's total is the highest (ALEA-3)."""
ALEA_OUT: Final = 2
"""Alea was too low or was overbid; or there is no Alea."""

GAME_DTYPE: Final = np.dtype(
    [
        # -- the game's own stream of chance, and what it was made with
        ("seed", np.int64),  # seed of this game, 0 … 2^63−1; NONE if its chance came from elsewhere
        ("random", np.uint32, (4,)),  # state of the generator (chance.py)
        ("decisions", np.int32),  # actions taken so far
        ("turns", np.int32),  # turns finished so far, all seats together (END-5)
        ("max_turns", np.int32),  # END-5
        ("score", np.int32, (4,)),  # VP of each seat
        (
            "bid_total",
            np.int16,
            (4,),
        ),  # in an auction: value of all cards that the seat has laid down
        ("highest", np.int16),  # in an auction: highest total so far; 0 before the first bid
        ("num_players", np.int8),  # 2, 3 or 4
        ("side", np.int8),  # 0 front, 1 back
        (
            "ring",
            np.int8,
            (7, 6),
        ),  # COM-6, COM-9: [district, position] → plot; −1 behind the fifth on the front side
        # -- where the decision stands
        ("phase", np.int8),  # PHASE_…
        ("end", np.int8),  # END_…: why the game is over; 0: it isn't
        ("seat", np.int8),  # seat to act; NONE once the game is over
        ("turn_seat", np.int8),  # seat whose turn it is; during an auction its starter (AUC-2)
        (
            "step",
            np.int8,
        ),  # which action of the turn is under way: 1, 2 or 3; during setup: skyscrapers placed
        ("option", np.int8),  # option of this turn: 0 A, 1 B, 2 C, 3 D; NONE before it is chosen
        ("business", np.int8),  # PHASE_PLOT: the type to place; else NONE
        (
            "first_colour",
            np.int8,
        ),  # PHASE_TAKE: colour of the first card if one was taken; else NONE
        # -- the board
        (
            "owner",
            np.int8,
            (7, 5),
        ),  # [district, plot] → seat or ALEA with skyscrapers there, or NONE
        ("floors", np.int8, (7, 5)),  # skyscrapers on the plot (the sixth plot never has one)
        ("tiles", np.int8, (7, 6, 4)),  # [district, plot, type] → businesses on the plot
        (
            "value",
            np.int8,
            (7, 5),
        ),  # SCO-2: VP that a skyscraper on the plot scores now, from tiles and ring; 0 if stopped
        ("stopped", np.int8, (7,)),  # STOP-4: 1 if the district is stopped
        ("stops", np.int8),  # building stops so far
        ("park", np.int8, (4,)),  # skyscrapers of each seat in the park area
        ("park_tiles", np.int8, (4,)),  # businesses in the park area by type (BUS-3)
        ("placed", np.int8),  # businesses placed by option B so far
        (
            "row",
            np.int8,
            (20,),
        ),  # SET-3: type on each space of the supply row; NONE where it was taken
        ("place", np.int8, (2,)),  # place of each commissioner
        ("markers", np.int8, (2,)),  # markers that each commissioner has on the board
        (
            "visited",
            np.int8,
            (2, 3),
        ),  # districts with those markers, first visited first; NONE behind them
        # -- what players hold
        ("supply", np.int8, (4,)),  # skyscrapers ready to build
        ("general", np.int8, (4,)),  # skyscrapers in the general supply
        ("alea_supply", np.int8),  # ALEA-1: skyscrapers that Alea has left
        (
            "hand",
            np.int8,
            (4, 6, 3),
        ),  # [seat, card colour, rank] → cards in hand (not those of a bid on the table)
        ("known", np.int8, (4, 6, 3)),  # INF-3: those of them that everybody knows of
        (
            "unknown",
            np.int8,
            (4, 6),
        ),  # [seat, card colour] → cards in hand that only the seat itself knows
        # -- the stacks
        (
            "top",
            np.int8,
            (5,),
        ),  # rank of the visible card of each coloured stack; NONE if the stack is empty
        (
            "face_down",
            np.int8,
            (6, 3),
        ),  # [card colour, rank] → cards face down in the stack, in unknown order
        (
            "unlocated",
            np.int8,
            (6, 3),
        ),  # [card colour, rank] → cards that are face down or in a hand and not known
        (
            "returned",
            np.int8,
            (5, 12),
        ),  # AUC-8: ranks of the returned cards under them, in the order they will come up
        ("num_returned", np.int8, (5,)),  # how many these are
        (
            "black_face_up",
            np.int8,
            (3,),
        ),  # [rank] → black cards face up at the bottom of the black stack
        # -- the auction under way
        ("auction_place", np.int8),  # district or CENTRAL_PARK; NONE between auctions
        (
            "auction_commissioner",
            np.int8,
        ),  # the commissioner whose return started this set of auctions; else NONE
        ("highest_bidder", np.int8),  # seat or ALEA; NONE before the first bid
        ("out", np.int8, (4,)),  # 1 if the seat has passed
        (
            "bid_colour",
            np.int8,
            (4,),
        ),  # AUC-4: colour of the seat's coloured cards; NONE before its first
        (
            "bid_cards",
            np.int8,
            (4, 2, 3),
        ),  # those cards: [seat, coloured 0, black 1; rank]; in PHASE_BUILD they are paid
        (
            "laid",
            np.int8,
        ),  # place in the laying order (0–2 coloured, 3–5 black) of this bid's last card; NONE if none
        (
            "park_colour",
            np.int8,
        ),  # AUC-12: the colour of the park area's auction; NONE before its first bid
        ("alea", np.int8),  # ALEA_…
        ("alea_cards", np.int8, (3,)),  # [rank] → cards that Alea has turned up
        (
            "deduced",
            np.int8,
            (2, 3),
        ),  # 2 players, [seat, rank] → black cards in hand, not known, that the other has worked out at a shuffle (AUC-9)
        # -- 3 and 4 players: the last shuffle of the black stack tells all which cards hands held
        # together (memory.py)
        (
            "held",
            np.int8,
            (4, 3),
        ),  # [seat, rank] → black cards in hand at the last shuffle that only the seat itself knew
        ("held_together", np.int8, (3,)),  # [rank] → those of all hands
        ("num_held", np.int8, (4,)),  # [seat] → how many of them in that hand
        (
            "shown",
            np.int8,
            (50, 2),
        ),  # black cards, not known, laid down since: 3 · seat + rank, and how many such cards the hand had right before
        ("num_shown", np.int8),  # how many these are
        (
            "spare",
            np.int8,
            (1,),
        ),  # 0; fills the record, so that copies and comparisons of bytes meet no gaps
    ],
    align=True,
)
"""One game. See the module's text for the conventions."""

Bounds: TypeAlias = int | tuple[int, ...]
GAME_RANGES: Final[dict[str, tuple[Bounds, Bounds]]] = {
    "seed": (NONE, 2**63 - 1),
    "random": (0, 2**32 - 1),
    "decisions": (0, 2**30),
    "turns": (0, 2**30),
    "max_turns": (1, 2**31 - 1),
    "score": (0, 2**30),
    "bid_total": (0, 302),
    "highest": (0, 302),
    "num_players": (2, 4),
    "side": (0, 1),
    "ring": (NONE, 5),
    "phase": (0, 7),
    "end": (0, 3),
    "seat": (NONE, 3),
    "turn_seat": (0, 3),
    "step": (0, 7),
    "option": (NONE, 3),
    "business": (NONE, 3),
    "first_colour": (NONE, 4),
    "owner": (NONE, ALEA),
    "floors": (0, 18),
    "tiles": (0, 2),
    "value": (0, 8),
    "stopped": (0, 1),
    "stops": (0, 2),
    "park": (0, 18),
    "park_tiles": (0, 9),
    "placed": (0, 12),
    "row": (NONE, 3),
    "place": (0, 8),
    "markers": (0, 3),
    "visited": (NONE, 6),
    "supply": (0, 18),
    "general": (0, 12),
    "alea_supply": (0, 18),
    "hand": (0, 20),
    "known": (0, 20),
    "unknown": (0, 127),
    "top": (NONE, 2),
    "face_down": (0, 20),
    "unlocated": (0, 127),
    "returned": (NONE, 2),
    "num_returned": (0, 12),
    "black_face_up": (0, 20),
    "auction_place": (NONE, 7),
    "auction_commissioner": (NONE, 1),
    "highest_bidder": (NONE, ALEA),
    "out": (0, 1),
    "bid_colour": (NONE, 4),
    "bid_cards": (0, 20),
    "laid": (NONE, 5),
    "park_colour": (NONE, 4),
    "alea": (0, 2),
    "alea_cards": (0, 2),
    "deduced": (0, 20),
    "held": (0, 20),
    "held_together": (0, 20),
    "num_held": (0, 50),
    "shown": (0, (11, 50)),
    "num_shown": (0, 50),
    "spare": (0, 0),
}
"""The lowest and the highest value of every field, or of each number along its last axis: what
:mod:`skyenv.engine.validation` checks.

What a game counts up ends far below what its field can hold, so that nothing overflows in whatever
is played from there.
"""


Array = npt.NDArray[Any]
"""An array that compiled code takes or writes; what is in it stands in the text of the function or
the module.
"""


class Record:
    """A record of a structured array, its fields as attributes: Numba's record in compiled code,
    np.record in plain Python.

    Subclasses name the layout, for the reader and the type checker; nothing is ever an instance of
    them.
    """

    if TYPE_CHECKING:

        def __getattr__(self, field: str) -> Any: ...
        def __setattr__(self, field: str, value: Any) -> None: ...


class GameRecord(Record):
    """One record of GAME_DTYPE."""


GAME_FIELDS: Final = tuple(GAME_DTYPE.names or ())


class _PlainRecord(np.void):  # type: ignore[misc]
    """A record as plain Python reads it: a property for every field, which is found ten times as
    fast as an np.record's.
    """

    def __getattr__(self, field: str) -> Any:
        """A field that is read for the first time; from now on its property is there."""
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
    """What reads a field that is a record itself."""
    return lambda record: record[field].view((_PlainRecord, record[field].dtype))


def _layout(dtype: np.dtype[np.void]) -> np.dtype[Any]:
    """A layout as the code that records are handed to wants it: without compilation it needs the
    fields as attributes.
    """
    return dtype if COMPILED else np.dtype((_PlainRecord, dtype))


def new_records(number: int, dtype: np.dtype[np.void]) -> npt.NDArray[np.void]:
    """Zeroed records to hand to compiled functions, shape (number,).

    A plain structured array is handed over in a tenth of the time of a record array. Without
    compilation the same code needs records that have their fields as attributes.
    """
    return np.zeros(number, _layout(dtype))


def as_records(array: npt.NDArray[np.void], dtype: np.dtype[np.void]) -> npt.NDArray[np.void]:
    """Records as they are to be handed to compiled functions; see :func:`new_records`."""
    records = np.asarray(array, dtype).view(np.ndarray)
    return records if COMPILED else records.view(_layout(dtype))


def new_games(number: int) -> npt.NDArray[np.void]:
    """`number` zeroed games; see :func:`new_records`."""
    return new_records(number, GAME_DTYPE)
