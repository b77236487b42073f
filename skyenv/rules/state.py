"""The game state: one record with every field of a position, its shape and meaning.

Conventions: *rank* is a card's value − 4; card colours are 0–4 and black 5; a *seat* is 0 … N−1; −1
is "none". Fields that a game of fewer players doesn't use stay at their initial values. Copying the
record copies the game, generator included.
"""

from typing import Final

from skyenv.array_types import RecordArray
from skyenv.rules.components import HIGHEST_TOTAL
from skyenv.rules.record import I8, I16, I32, I64, U32, Record, field, new_records

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

BID_COLOURED: Final = 0  # the coloured cards of a bid
BID_BLACK: Final = 1  # its black ones


class GameRecord(Record):
    """One game: every field with its type, shape, lowest and highest value.

    :mod:`skyenv.engine.validation` checks the bounds. Bounds of counters are far below the limits
    of their types, so that playing on can't overflow them.
    """

    # -- the game's own stream of chance and its seed
    seed = field(I64, (), NONE, 2**63 - 1)  # 0 … 2^63−1; NONE if its chance came from elsewhere
    random = field(U32, (4,), 0, 2**32 - 1)  # state of the generator (chance.py)
    decisions = field(I32, (), 0, 2**30)  # actions taken so far
    turns = field(I32, (), 0, 2**30)  # turns finished so far, all seats together (END-5)
    max_turns = field(I32, (), 1, 2**31 - 1)  # END-5
    score = field(I32, (4,), 0, 2**30)  # VP of each seat
    # in an auction: value of the cards that the seat laid down
    bid_total = field(I16, (4,), 0, HIGHEST_TOTAL)
    # in an auction: highest total so far; 0 before the first bid
    highest = field(I16, (), 0, HIGHEST_TOTAL)
    num_players = field(I8, (), 2, 4)  # 2, 3 or 4
    side = field(I8, (), 0, 1)  # 0 front, 1 back
    # COM-6, COM-9: [district, position] → plot; front side: 5, NONE
    ring = field(I8, (7, 6), NONE, 5)
    # -- where the decision stands
    phase = field(I8, (), 0, 7)  # PHASE_…
    end = field(I8, (), 0, 4)  # END_…: why the game is over; 0: it isn't
    seat = field(I8, (), NONE, 3)  # seat to act; NONE once the game is over
    turn_seat = field(I8, (), 0, 3)  # seat whose turn it is; in an auction its starter (AUC-2)
    step = field(I8, (), 0, 7)  # action of the turn under way, 1 to 3; setup: skyscrapers placed
    option = field(I8, (), NONE, 3)  # option of this turn: 0 A, 1 B, 2 C, 3 D; or NONE
    business = field(I8, (), NONE, 3)  # PHASE_PLOT: the type to place; else NONE
    first_colour = field(I8, (), NONE, 4)  # PHASE_TAKE: colour of the first card taken; else NONE
    # -- the board
    # [district, plot] → seat or ALEA that built there, or NONE
    owner = field(I8, (7, 5), NONE, ALEA)
    floors = field(I8, (7, 5), 0, 18)  # skyscrapers on the plot (the sixth plot never has one)
    tiles = field(I8, (7, 6, 4), 0, 2)  # [district, plot, type] → businesses on the plot
    value = field(I8, (7, 5), 0, 8)  # SCO-2: VP that a skyscraper on the plot scores; 0 if stopped
    stopped = field(I8, (7,), 0, 1)  # STOP-4: 1 if the district is stopped
    stops = field(I8, (), 0, 2)  # building stops so far
    park = field(I8, (4,), 0, 18)  # skyscrapers of each seat in the park area
    # businesses in the park area by type (BUS-3); during the setup the tiles in the bag
    park_tiles = field(I8, (4,), 0, 9)
    placed = field(I8, (), 0, 12)  # businesses placed by option B so far
    row = field(I8, (20,), NONE, 3)  # SET-3: type on each space of the supply row; NONE: taken
    place = field(I8, (2,), 0, 8)  # place of each commissioner
    markers = field(I8, (2,), 0, 3)  # markers that each commissioner has on the board
    visited = field(I8, (2, 3), NONE, 6)  # their districts, first visited first; then NONE
    # -- what players hold
    supply = field(I8, (4,), 0, 18)  # skyscrapers ready to build
    general = field(I8, (4,), 0, 12)  # skyscrapers in the general supply
    # ALEA-1: skyscrapers that Alea has left; NONE: she is away
    alea_supply = field(I8, (), NONE, 18)
    hand = field(I8, (4, 6, 3), 0, 20)  # [seat, card colour, rank] → cards in hand, without bids
    known = field(I8, (4, 6, 3), 0, 20)  # INF-3: those of them that are public
    unknown = field(I8, (4, 6), 0, 127)  # [seat, card colour] → those that only the seat knows
    # -- the stacks
    top = field(I8, (5,), NONE, 2)  # rank of the visible card of each coloured stack, or NONE
    face_down = field(I8, (6, 3), 0, 20)  # [card colour, rank] → cards face down in the stack
    unlocated = field(I8, (6, 3), 0, 127)  # [card colour, rank] → face down or in a hand, not known
    # AUC-8: ranks of the returned cards, next to come up first
    returned = field(I8, (5, 12), NONE, 2)
    num_returned = field(I8, (5,), 0, 12)  # how many these are; during the setup plots laid out
    # [rank] → cards face up at the bottom of the black stack
    black_face_up = field(I8, (3,), 0, 20)
    # -- the auction under way
    auction_place = field(I8, (), NONE, 7)  # district or CENTRAL_PARK; NONE between auctions
    # that came home and started the auctions; or NONE
    auction_commissioner = field(I8, (), NONE, 1)
    highest_bidder = field(I8, (), NONE, ALEA)  # seat or ALEA; NONE before the first bid
    out = field(I8, (4,), 0, 1)  # 1 if the seat has passed
    bid_colour = field(I8, (4,), NONE, 4)  # AUC-4: colour of the seat's coloured cards; or NONE
    bid_cards = field(I8, (4, 2, 3), 0, 20)  # [seat, BID_…, rank] → in the bid; PHASE_BUILD: paid
    laid = field(I8, (), NONE, 5)  # last card of this bid: coloured 0–2, black 3–5; or NONE
    park_colour = field(I8, (), NONE, 4)  # AUC-12: colour of the park area's auction; NONE: no bid
    alea = field(I8, (), 0, 2)  # ALEA_…
    alea_cards = field(I8, (3,), 0, 2)  # [rank] → cards that Alea has turned up
    deduced = field(I8, (2, 3), 0, 20)  # AUC-9: black cards that the other of 2 players has deduced
    # of a task: auctions that are still to end; NONE: a game
    auctions_left = field(I8, (), NONE, 8)


GAME_DTYPE: Final = GameRecord.dtype
"""A game; the module's docstring has the conventions."""


def new_games(number: int) -> RecordArray:
    """Return `number` zeroed games; see :func:`skyenv.rules.record.new_records`."""
    return new_records(number, GAME_DTYPE)
