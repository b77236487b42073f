"""The observation: a schema that defines the vector, names, bounds and the table in the docs.

Compiled writers fill in the blocks of the schema from the view of one seat: *relative seat* 0 is
that seat ("I"), 1 the next one clockwise, and so on. In the 2-player game Alea has relative seat 2
in some blocks. Entries of missing seats are 0.
"""

from collections import namedtuple
from dataclasses import dataclass
from itertools import accumulate, product
from typing import Any, Final

import numpy as np

from skyenv.array_types import Float32, Int16
from skyenv.rules.auction import highest_rank, is_full
from skyenv.rules.businesses import current_set
from skyenv.rules.compiling import entry_point, rule
from skyenv.rules.components import (
    BLACK,
    BLACK_CARDS,
    BUILD_LIMIT,
    BUSINESSES,
    BUSINESSES_TO_PLACE,
    CARD_COLOURS,
    CARD_COUNTS,
    CARD_VALUES,
    COLOURED_CARDS,
    COLOURS,
    COMMISSIONERS,
    DISTRICTS,
    HIGHEST_TOTAL,
    MAX_PLAYERS,
    NUM_BUSINESSES,
    NUM_COLOURS,
    NUM_COMMISSIONERS,
    NUM_DISTRICTS,
    NUM_PLACES,
    NUM_PLOTS,
    NUM_RANKS,
    OPTIONS,
    PLACES,
    PLOTS,
    ROW_SIZE,
    SET_START,
)
from skyenv.rules.record import F32, I16, Record, field
from skyenv.rules.state import ALEA, ALEA_WAITS, NONE, PHASE_START, PHASES, GameRecord

SEATS: Final = ("me", "next", "second next", "third next")
# Number of a stack's returned cards in the observation, from the next to come up.
RETURNED_SHOWN: Final = 3
NUM_CARDS: Final = (NUM_COLOURS + 1) * NUM_RANKS
NUM_TILE_ENTRIES: Final = NUM_DISTRICTS * NUM_PLOTS * NUM_BUSINESSES
NUM_COLOURED_PLOTS: Final = NUM_DISTRICTS * NUM_COLOURS
CARDS_LAID: Final = 2 * NUM_RANKS
NO_OWNER: Final = 99
HIGHEST_SCORE: Final = 1000  # higher scores are clipped to this

TURN_PARTS: Final = 1000
HAND_PARTS: Final = (2,) * (NUM_COLOURS * NUM_RANKS) + (4,) * NUM_RANKS
ALL_CARDS: Final = tuple(int(number) for number in CARD_COUNTS.reshape(-1))


@dataclass(frozen=True)
class Block:
    """A run of neighbouring entries of the observation.

    An entry is an integer, the *code*, divided by a constant. Writers write codes, which takes less
    time than floats; one loop scales them.

    Attributes:
        name: name of the block; entry names begin with it.
        entries: labels of the entries, in order.
        text: meaning and scale, a line for the docs.
        largest: the largest code, of all entries or of each; the smallest is 0.
        parts: divisor of the code, for all entries or for each.
    """

    name: str
    entries: tuple[str, ...]
    text: str
    largest: int | tuple[int, ...] = 1
    parts: int | tuple[int, ...] = 1


def _pairs(*parts: tuple[str, ...]) -> tuple[str, ...]:
    """All combinations of labels, the last part changing fastest."""
    return tuple(" ".join(labels) for labels in product(*parts))


_CARDS = _pairs(CARD_COLOURS, tuple(str(value) for value in CARD_VALUES))
_RANKS = tuple(str(value) for value in CARD_VALUES)
_OTHERS = SEATS[1:]

BLOCKS: Final[tuple[Block, ...]] = (
    Block(
        "game",
        ("2 players", "3 players", "4 players", "back side"),
        "1 for the number of players; 1 on the back side",
    ),
    Block("phase", PHASES, "1 for the decision that is open"),
    Block("to act", SEATS, "1 for the seat to act"),
    Block("on turn", SEATS, "1 for the seat whose turn it is; in an auction its starter"),
    Block("option", OPTIONS, "1 for the option of this turn"),
    Block(
        "action of the turn",
        ("1st", "2nd", "3rd"),
        "1 for the action of the turn that is under way",
    ),
    Block("turns", ("finished",), "turns finished / max_turns (END-5)", TURN_PARTS, TURN_PARTS),
    Block("business to place", BUSINESSES, "1 for the type that option B has taken"),
    Block("first card", COLOURS, "1 for the colour of the first of two coloured cards"),
    Block(
        "skyscrapers",
        _pairs(SEATS, DISTRICTS, COLOURS),
        "skyscrapers on the plot / 4; Alea is 'second next'",
        17,
        4,
    ),
    Block(
        "businesses",
        _pairs(DISTRICTS, PLOTS, BUSINESSES),
        "businesses of the type on the plot / 2",
        2,
        2,
    ),
    Block(
        "plot value",
        _pairs(DISTRICTS, COLOURS),
        "VP that a skyscraper on the plot scores (SCO-2) / 8",
        8,
        8,
    ),
    Block("stopped", DISTRICTS, "1 if the district is stopped"),
    Block(
        "standing",
        (*_pairs(("VP",), SEATS, DISTRICTS), *_pairs(("districts",), SEATS)),
        "VP of the seat if the district is scored now / 20; districts in which the seat has "
        "skyscrapers / 8 (BUS-4)",
        (17 * 8,) * 28 + (7,) * 4,
        (20,) * 28 + (8,) * 4,
    ),
    Block("park area", SEATS, "skyscrapers of the seat in the park area / 4", 17, 4),
    Block("park tiles", BUSINESSES, "businesses of the type in the park area / 4", 8, 4),
    Block(
        "row",
        _pairs(("now", "later"), BUSINESSES),
        "tiles of the type in the current set / 3; in all later sets / 8",
        (3,) * 4 + (9,) * 4,
        (3,) * 4 + (8,) * 4,
    ),
    Block("placed", ("businesses",), "businesses placed by option B / 12", 12, 12),
    Block("commissioner", _pairs(COMMISSIONERS, PLACES), "1 where the commissioner is"),
    Block(
        "marker",
        _pairs(COMMISSIONERS, DISTRICTS),
        "1 where it has a marker; during its auctions: districts not yet dealt with",
    ),
    Block(
        "supply",
        (*_pairs(("own", "general"), SEATS), "Alea"),
        "skyscrapers ready to build / 5; in the general supply / 12; left to Alea / 18",
        (15,) * 4 + (12,) * 4 + (18,),
        (5,) * 4 + (12,) * 4 + (18,),
    ),
    Block("score", SEATS, "VP / 100, at most 10", HIGHEST_SCORE, 100),
    Block(
        "hand",
        _CARDS,
        "my cards: coloured / 2, black / 4 (not those of my bid on the table)",
        ALL_CARDS,
        HAND_PARTS,
    ),
    Block("hidden", CARD_COLOURS, "my cards that the others don't know / 4", (1,) * 5 + (50,), 4),
    Block(
        "known",
        _pairs(_OTHERS, _CARDS),
        "cards that the seat is known to hold (INF-3): coloured / 2, black / 4",
        ALL_CARDS * 3,
        HAND_PARTS * 3,
    ),
    Block(
        "unknown",
        _pairs(_OTHERS, CARD_COLOURS),
        "cards of the seat that I don't know / 4",
        ((1,) * 5 + (50,)) * 3,
        4,
    ),
    Block("cards", SEATS, "cards in the seat's hand / 10", 110, 10),
    Block("top", _pairs(COLOURS, _RANKS), "1 for the visible card of the stack"),
    Block(
        "stack",
        _pairs(("face down", "returned"), COLOURS),
        "cards under the visible one: face down / 8, returned / 8",
        12,
        8,
    ),
    Block(
        "returned",
        _pairs(COLOURS, ("1st", "2nd", "3rd")),
        "the returned cards next to come up: (value − 3) / 3, 0 for none (AUC-8)",
        3,
        3,
    ),
    Block(
        "black stack",
        ("face down", *_pairs(("face up",), _RANKS)),
        "black cards face down / 50; face up / all of that value",
        (50, *BLACK_CARDS),
        (50, *BLACK_CARDS),
    ),
    Block(
        "unseen",
        _CARDS,
        "cards that I can't locate / all of that colour and value",
        ALL_CARDS,
        ALL_CARDS,
    ),
    Block(
        "auction",
        (*DISTRICTS, "CENTRAL_PARK", "full", *COMMISSIONERS),
        "1 for the place; 1 if no plot is empty; 1 for the commissioner that came home",
    ),
    Block(
        "bid",
        (*_pairs(("total", "passed", "limit"), SEATS), *_pairs(SEATS, COLOURS)),
        "cards on the table / 20; 1 if passed; skyscrapers that the highest card allows / 3; 1 for "
        "the colour",
        (HIGHEST_TOTAL,) * 4 + (1,) * 4 + (3,) * 4 + (1,) * 20,
        (20,) * 4 + (1,) * 4 + (3,) * 4 + (1,) * 20,
    ),
    Block(
        "bid cards",
        _pairs(SEATS, ("coloured", "black"), _RANKS),
        "cards of the seat on the table: coloured / 2, black / 4 (in phase build: those that the "
        "winner has paid)",
        (*COLOURED_CARDS, *BLACK_CARDS) * 4,
        (2, 2, 2, 4, 4, 4) * 4,
    ),
    Block(
        "highest bid",
        ("total", *_pairs(("of",), SEATS), "Alea to come"),
        "the highest total / 20; 1 for its bidder (Alea is 'second next'); 1 if Alea has yet to "
        "bid",
        (HIGHEST_TOTAL, 1, 1, 1, 1, 1),
        (20, 1, 1, 1, 1, 1),
    ),
    Block(
        "last card laid",
        _pairs(("coloured", "black"), _RANKS),
        "1 for the card that was laid down last in the bid under way",
    ),
)
"""The schema, in the order of the vector."""


def _spread(attribute: str) -> Float32:
    """Return numbers per block or per entry as one number for every entry."""
    parts = [
        np.broadcast_to(np.array(getattr(block, attribute), np.float64), len(block.entries))
        for block in BLOCKS
    ]
    return np.concatenate(parts).astype(np.float32)


SCALE: Final = (1 / _spread("parts")).astype(np.float32)
OBSERVATION_SIZE: Final = len(SCALE)  # number of entries of an observation
LOW: Final = np.zeros(OBSERVATION_SIZE, dtype=np.float32)  # the smallest value of every entry
HIGH: Final = _spread("largest") * SCALE  # the largest value of every entry


def codes_of(observations: Float32) -> Int16:
    """Return the codes of observations, int16 of the same shape (…, OBSERVATION_SIZE), for storing
    them in half the memory.
    """
    return np.rint(observations / SCALE).astype(np.int16)


def names() -> tuple[str, ...]:
    """Return a unique name for every entry: the block's name, a colon, and the entry's label."""
    return tuple(f"{block.name}: {entry}" for block in BLOCKS for entry in block.entries)


def offsets() -> dict[str, slice]:
    """Return each block's place in the vector, by name."""
    ends = accumulate(len(block.entries) for block in BLOCKS)
    pairs = zip(BLOCKS, ends, strict=True)
    return {block.name: slice(end - len(block.entries), end) for block, end in pairs}


# ---- the writers ----

_Starts = namedtuple("_Starts", [block.name.replace(" ", "_") for block in BLOCKS])  # type: ignore[misc]
# NumPy's integers, so that plain Python doesn't add small fields in eight bits.
# Where each block begins in the vector.
AT: Final[Any] = _Starts._make(np.int64(where.start) for where in offsets().values())


class CodesRecord(Record):
    """The codes of one observation: a record, as passing plain arrays costs reference counts."""

    entries = field(I16, (OBSERVATION_SIZE,))


class ObservationRecord(Record):
    """One observation."""

    entries = field(F32, (OBSERVATION_SIZE,))


CODES_DTYPE: Final = CodesRecord.dtype
OBSERVATION_DTYPE: Final = ObservationRecord.dtype


@rule
def seat_at(game: GameRecord, seat: int, relative: int) -> int:
    """Return the seat at a relative seat below N."""
    who = seat + relative
    return who - game.num_players if who >= game.num_players else who


@rule
def relative_of(game: GameRecord, seat: int, who: int) -> int:
    """Return the relative seat of a seat or of Alea; NONE for NONE."""
    if who in (ALEA, NONE):
        return 2 if who == ALEA else NONE
    return who - seat if who >= seat else who - seat + int(game.num_players)


@rule
def entries(game: GameRecord, number: int) -> int:
    """Return a number that the compiler treats as a variable, so that it vectorizes loops instead
    of unrolling them.
    """
    return number + min(int(game.side), 0)


@rule
def mark(out: CodesRecord, start: int, index: int) -> None:
    """Write 1 at an index of a block, unless that is NONE."""
    if index != NONE:
        out.entries[start + index] = 1


@rule
def write_turn(game: GameRecord, seat: int, out: CodesRecord) -> None:
    """Write the kind of game, the decision to take and the turn's progress."""
    out.entries[AT.game + game.num_players - 2] = 1
    out.entries[AT.game + 3] = game.side
    out.entries[AT.phase + game.phase] = 1
    mark(out, AT.to_act, relative_of(game, seat, int(game.seat)))
    mark(out, AT.on_turn, relative_of(game, seat, int(game.turn_seat)))
    mark(out, AT.option, int(game.option))
    mark(out, AT.business_to_place, int(game.business))
    mark(out, AT.first_card, int(game.first_colour))
    if game.phase != PHASE_START and 1 <= game.step <= 3:
        out.entries[AT.action_of_the_turn + game.step - 1] = 1
    out.entries[AT.turns] = int(game.turns) * TURN_PARTS // int(game.max_turns)


@rule
def write_board(game: GameRecord, seat: int, out: CodesRecord) -> None:
    """Write what stands in the districts, and where the commissioners are."""
    tiles, value = game.tiles.flat, game.value.flat
    for i in range(NUM_TILE_ENTRIES):
        out.entries[AT.businesses + i] = tiles[i]
    for i in range(entries(game, NUM_COLOURED_PLOTS)):
        out.entries[AT.plot_value + i] = value[i]
    for district in range(NUM_DISTRICTS):
        out.entries[AT.stopped + district] = game.stopped[district]
    for commissioner in range(NUM_COMMISSIONERS):
        place = NUM_PLACES * commissioner + game.place[commissioner]
        out.entries[AT.commissioner + place] = 1
        for i in range(game.markers[commissioner]):
            district = NUM_DISTRICTS * commissioner + game.visited[commissioner, i]
            out.entries[AT.marker + district] = 1


@rule
def write_skyscrapers(game: GameRecord, seat: int, out: CodesRecord) -> None:
    """Write the skyscrapers by owner and plot."""
    owners, floors = game.owner.flat, game.floors.flat
    for relative in range(MAX_PLAYERS):
        who = np.int8(owner_at(game, seat, relative))  # eight bits, so that the loop is vectorized
        for i in range(entries(game, NUM_COLOURED_PLOTS)):
            number: Any = floors[i] if owners[i] == who else np.int8(0)
            out.entries[AT.skyscrapers + relative * NUM_COLOURED_PLOTS + i] = number


@rule
def write_standing(game: GameRecord, seat: int, out: CodesRecord) -> None:
    """Write the seats' VP by district, and the number of districts in which they stand."""
    owners, floors, value = game.owner.flat, game.floors.flat, game.value.flat
    numbers = MAX_PLAYERS * NUM_DISTRICTS  # the first of them, after the VP
    present = 0  # districts of each relative seat, eight bits each
    for i in range(NUM_COLOURED_PLOTS):
        owner = int(owners[i])
        is_seats = owner != NONE and owner != ALEA
        # Without a branch, which would be mispredicted: other plots' VP go to the numbers, which
        # are written last.
        relative = relative_of(game, seat, owner) if is_seats else MAX_PLAYERS
        place = relative * NUM_DISTRICTS + i // NUM_COLOURS if is_seats else numbers
        out.entries[AT.standing + place] = int(floors[i]) * int(value[i])
        present += 1 << (8 * relative)
    for relative in range(MAX_PLAYERS):
        out.entries[AT.standing + numbers + relative] = (present >> (8 * relative)) & 255


@rule
def owner_at(game: GameRecord, seat: int, relative: int) -> int:
    """Return the owner (seat or Alea) at a relative seat; NO_OWNER if there is none."""
    if relative < game.num_players:
        return seat_at(game, seat, relative)
    return ALEA if game.num_players == 2 and relative == 2 else NO_OWNER


@rule
def write_businesses(game: GameRecord, seat: int, out: CodesRecord) -> None:
    """Write the supply row, and the businesses in the park area."""
    out.entries[AT.placed] = game.placed
    for business in range(NUM_BUSINESSES):
        out.entries[AT.park_tiles + business] = game.park_tiles[business]
    if game.placed < BUSINESSES_TO_PLACE:
        index = current_set(game)
        now, later = 0, 0  # tiles of each type, eight bits each
        for space in range(SET_START[index], SET_START[index + 1]):
            if game.row[space] != NONE:
                now += 1 << (8 * int(game.row[space]))
        for space in range(SET_START[index + 1], ROW_SIZE):
            later += 1 << (8 * int(game.row[space]))
        for business in range(NUM_BUSINESSES):
            out.entries[AT.row + business] = (now >> (8 * business)) & 255
            out.entries[AT.row + NUM_BUSINESSES + business] = (later >> (8 * business)) & 255


@rule
def write_seats(game: GameRecord, seat: int, out: CodesRecord) -> None:
    """Write the public data of each seat: skyscrapers, points, and known cards in hand."""
    hand, known = game.hand.flat, game.known.flat
    out.entries[AT.supply + 2 * MAX_PLAYERS] = max(int(game.alea_supply), 0)
    for relative in range(game.num_players):
        who = seat_at(game, seat, relative)
        out.entries[AT.park_area + relative] = game.park[who]
        out.entries[AT.supply + relative] = game.supply[who]
        out.entries[AT.supply + MAX_PLAYERS + relative] = game.general[who]
        out.entries[AT.score + relative] = min(int(game.score[who]), HIGHEST_SCORE)
        number, card = 0, NUM_CARDS * who
        for i in range(entries(game, NUM_CARDS)):
            number += int(hand[card + i])
        out.entries[AT.cards + relative] = number
        if relative > 0:
            other = relative - 1
            for i in range(entries(game, NUM_CARDS)):
                out.entries[AT.known + other * NUM_CARDS + i] = known[card + i]
            for colour in range(NUM_COLOURS + 1):
                place = other * (NUM_COLOURS + 1) + colour
                out.entries[AT.unknown + place] = game.unknown[who, colour]


@rule
def write_cards(game: GameRecord, seat: int, out: CodesRecord) -> None:
    """Write the seat's own cards, the stacks, and the unseen cards."""
    hand, known, unlocated = game.hand.flat, game.known.flat, game.unlocated.flat
    card = NUM_CARDS * seat
    for i in range(entries(game, NUM_CARDS)):
        out.entries[AT.hand + i] = hand[card + i]
    for i in range(entries(game, NUM_CARDS)):
        out.entries[AT.unseen + i] = unlocated[i] - hand[card + i] + known[card + i]
    for colour in range(NUM_COLOURS + 1):
        out.entries[AT.hidden + colour] = game.unknown[seat, colour]
    for colour in range(NUM_COLOURS):
        mark(out, AT.top + NUM_RANKS * colour, int(game.top[colour]))
        out.entries[AT.stack + colour] = num_face_down(game, colour)
        out.entries[AT.stack + NUM_COLOURS + colour] = game.num_returned[colour]
        for i in range(RETURNED_SHOWN):
            place = RETURNED_SHOWN * colour + i
            out.entries[AT.returned + place] = game.returned[colour, i] + 1
    out.entries[AT.black_stack] = num_face_down(game, BLACK)
    for rank in range(NUM_RANKS):
        out.entries[AT.black_stack + 1 + rank] = game.black_face_up[rank]


@rule
def num_face_down(game: GameRecord, colour: int) -> int:
    """Return the number of face-down cards in a stack."""
    down = game.face_down
    return int(down[colour, 0]) + int(down[colour, 1]) + int(down[colour, 2])


@rule
def write_auction(game: GameRecord, seat: int, out: CodesRecord) -> None:
    """Write the auction under way."""
    out.entries[AT.highest_bid] = game.highest
    mark(out, AT.highest_bid + 1, relative_of(game, seat, int(game.highest_bidder)))
    out.entries[AT.highest_bid + 1 + MAX_PLAYERS] = int(game.alea == ALEA_WAITS)
    mark(out, AT.last_card_laid, int(game.laid))
    if game.auction_place == NONE:
        return
    out.entries[AT.auction + game.auction_place] = 1
    if game.auction_place < NUM_DISTRICTS and is_full(game, int(game.auction_place)):
        out.entries[AT.auction + NUM_DISTRICTS + 1] = 1
    out.entries[AT.auction + NUM_DISTRICTS + 2 + game.auction_commissioner] = 1
    laid = game.bid_cards.flat
    for relative in range(game.num_players):
        who = seat_at(game, seat, relative)
        out.entries[AT.bid + relative] = game.bid_total[who]
        out.entries[AT.bid + MAX_PLAYERS + relative] = game.out[who]
        if game.bid_colour[who] != NONE:
            out.entries[AT.bid + 2 * MAX_PLAYERS + relative] = BUILD_LIMIT[highest_rank(game, who)]
            place = 3 * MAX_PLAYERS + NUM_COLOURS * relative + game.bid_colour[who]
            out.entries[AT.bid + place] = 1
        for i in range(CARDS_LAID):
            out.entries[AT.bid_cards + CARDS_LAID * relative + i] = laid[CARDS_LAID * who + i]


@entry_point("observations")
def write_codes(game: GameRecord, seat: int, out: CodesRecord) -> None:
    """Write the codes of a seat's observation of a game; times SCALE they are the observation."""
    for i in range(OBSERVATION_SIZE):
        out.entries[i] = 0
    write_turn(game, seat, out)
    write_board(game, seat, out)
    write_skyscrapers(game, seat, out)
    write_standing(game, seat, out)
    write_businesses(game, seat, out)
    write_seats(game, seat, out)
    write_cards(game, seat, out)
    write_auction(game, seat, out)


@rule
def write_observation(game: GameRecord, seat: int, out: ObservationRecord) -> None:
    """Write a seat's observation of a game: the codes in its place, then scaled, as a GPU has no
    scratch memory for each thread.
    """
    write_codes(game, seat, out)  # type: ignore[arg-type]
    for i in range(OBSERVATION_SIZE):
        out.entries[i] *= SCALE[i]
