"""The observation: one schema from which the vector, the names of its entries, its bounds and its
table in the docs come.

Each block of the schema has a compiled writer. All of them look at the game from one seat:
*relative seat* 0 is that seat ("I"), 1 the next one clockwise, and so on. In the 2-player game Alea
has relative seat 2 in the blocks that say so. Entries of seats that the game doesn't have are 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

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
from skyenv.rules.state import ALEA, ALEA_WAITS, NONE, PHASE_START, PHASES, GameRecord, Record

SEATS: Final = ("me", "next", "second next", "third next")
RETURNED_SHOWN: Final = 3
"""How many of a stack's returned cards the observation tells, from the next to come up."""
NUM_CARDS: Final = (NUM_COLOURS + 1) * NUM_RANKS
NUM_TILE_ENTRIES: Final = NUM_DISTRICTS * NUM_PLOTS * NUM_BUSINESSES
NUM_COLOURED_PLOTS: Final = NUM_DISTRICTS * NUM_COLOURS
CARDS_LAID: Final = 2 * NUM_RANKS
NO_OWNER: Final = 99
HIGHEST_SCORE: Final = 1000
"""Scores of more VP are shown as this."""

TURN_PARTS: Final = 1000
HAND_PARTS: Final = (2,) * (NUM_COLOURS * NUM_RANKS) + (4,) * NUM_RANKS
ALL_CARDS: Final = tuple(int(number) for number in CARD_COUNTS.reshape(-1))
HIGHEST_TOTAL: Final = 5 * 4 + 4 * 5 + 3 * 6 + 20 * 4 + 16 * 5 + 14 * 6
"""The highest conceivable bid: every card of one colour and every black one."""


@dataclass(frozen=True)
class Block:
    """A run of neighbouring entries of the observation.

    An entry is a whole number, the *code*, divided by a constant. Writers deal in codes; one loop
    scales them all.

    Attributes:
        name: name of the block; entry names begin with it.
        entries: what tells the entries apart, in order.
        largest: the largest code, of all entries or of each; the smallest is 0.
        parts: what the code is divided by, for all entries or for each.
        text: meaning and scale, a line for the docs.
        write: compiled function (game, seat, codes, start) that writes the codes at `start`;
            `codes` holds zeros.
    """

    name: str
    entries: tuple[str, ...]
    largest: int | tuple[int, ...]
    parts: int | tuple[int, ...]
    text: str
    write: Callable[..., Any]


class CodesRecord(Record):
    """One record of CODES_DTYPE."""


@rule
def seat_at(game: GameRecord, seat: int, relative: int) -> int:
    """The seat at a relative seat that the game has."""
    who = seat + relative
    return who - game.num_players if who >= game.num_players else who


@rule
def owner_at(game: GameRecord, seat: int, relative: int) -> int:
    """The owner (seat or Alea) at a relative seat; NO_OWNER if there is none."""
    if relative < game.num_players:
        return seat_at(game, seat, relative)
    return ALEA if game.num_players == 2 and relative == 2 else NO_OWNER


@rule
def relative_of(game: GameRecord, seat: int, who: int) -> int:
    """The relative seat of a seat, or of Alea."""
    if who == ALEA:
        return 2
    return who - seat if who >= seat else who - seat + int(game.num_players)


@rule
def _write_players(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    out.codes[start + game.num_players - 2] = 1
    out.codes[start + 3] = game.side


@rule
def _write_phase(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    out.codes[start + game.phase] = 1


@rule
def _write_actor(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    if game.seat != NONE:
        out.codes[start + relative_of(game, seat, int(game.seat))] = 1


@rule
def _write_turn(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    out.codes[start + relative_of(game, seat, int(game.turn_seat))] = 1


@rule
def _write_option(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    if game.option != NONE:
        out.codes[start + game.option] = 1


@rule
def _write_step(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    if game.phase != PHASE_START and 1 <= game.step <= 3:
        out.codes[start + game.step - 1] = 1


@rule
def _write_turns(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    out.codes[start] = int(game.turns) * TURN_PARTS // int(game.max_turns)


@rule
def _write_business(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    if game.business != NONE:
        out.codes[start + game.business] = 1


@rule
def _write_first_colour(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    if game.first_colour != NONE:
        out.codes[start + game.first_colour] = 1


@rule
def _write_skyscrapers(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    owner = game.owner.flat
    floors = game.floors.flat
    for relative in range(MAX_PLAYERS):
        who = owner_at(game, seat, relative)
        first = start + relative * NUM_COLOURED_PLOTS
        if who != NO_OWNER:
            for i in range(NUM_COLOURED_PLOTS):
                out.codes[first + i] = int(floors[i]) * int(owner[i] == who)


@rule
def _write_tiles(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    tiles = game.tiles.flat
    for i in range(NUM_TILE_ENTRIES):
        out.codes[start + i] = tiles[i]


@rule
def _write_value(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    value = game.value.flat
    for i in range(NUM_COLOURED_PLOTS):
        out.codes[start + i] = value[i]


@rule
def _write_stopped(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    for district in range(NUM_DISTRICTS):
        out.codes[start + district] = game.stopped[district]


@rule
def _write_standing(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    owners = game.owner.flat
    floors = game.floors.flat
    value = game.value.flat
    presence = 0  # districts of each relative seat, eight bits each
    for i in range(NUM_COLOURED_PLOTS):
        owner = int(owners[i])
        theirs = owner != NONE and owner != ALEA
        relative = relative_of(game, seat, owner) if theirs else MAX_PLAYERS
        # Without a branch, which processors would foresee wrongly; what is nobody's goes where the
        # next entries are written.
        place = (
            relative * NUM_DISTRICTS + i // NUM_COLOURS if theirs else MAX_PLAYERS * NUM_DISTRICTS
        )
        out.codes[start + place] = int(floors[i]) * int(value[i])
        presence += 1 << (8 * relative)
    for relative in range(MAX_PLAYERS):
        out.codes[start + MAX_PLAYERS * NUM_DISTRICTS + relative] = (
            presence >> (8 * relative)
        ) & 255


@rule
def _write_park(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    for relative in range(game.num_players):
        out.codes[start + relative] = game.park[seat_at(game, seat, relative)]


@rule
def _write_park_tiles(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    for business in range(NUM_BUSINESSES):
        out.codes[start + business] = game.park_tiles[business]


@rule
def _write_row(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    if game.placed >= BUSINESSES_TO_PLACE:
        return
    index = current_set(game)
    for space in range(SET_START[index], SET_START[index + 1]):
        if game.row[space] != NONE:
            out.codes[start + game.row[space]] += 1
    later = 0  # tiles of each type, eight bits each
    for space in range(SET_START[index + 1], ROW_SIZE):
        later += 1 << (8 * int(game.row[space]))
    for business in range(NUM_BUSINESSES):
        out.codes[start + NUM_BUSINESSES + business] = (later >> (8 * business)) & 255


@rule
def _write_placed(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    out.codes[start] = game.placed


@rule
def _write_places(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    for commissioner in range(NUM_COMMISSIONERS):
        out.codes[start + NUM_PLACES * commissioner + game.place[commissioner]] = 1


@rule
def _write_markers(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    for commissioner in range(NUM_COMMISSIONERS):
        for i in range(game.markers[commissioner]):
            out.codes[start + NUM_DISTRICTS * commissioner + game.visited[commissioner, i]] = 1


@rule
def _write_supply(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    for relative in range(game.num_players):
        who = seat_at(game, seat, relative)
        out.codes[start + relative] = game.supply[who]
        out.codes[start + MAX_PLAYERS + relative] = game.general[who]
    out.codes[start + 2 * MAX_PLAYERS] = game.alea_supply


@rule
def _write_score(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    for relative in range(game.num_players):
        out.codes[start + relative] = min(
            int(game.score[seat_at(game, seat, relative)]), HIGHEST_SCORE
        )


@rule
def _write_hand(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    hand = game.hand.flat
    for i in range(NUM_CARDS):
        out.codes[start + i] = hand[NUM_CARDS * seat + i]


@rule
def _write_hidden(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    for colour in range(NUM_COLOURS + 1):
        out.codes[start + colour] = game.unknown[seat, colour]


@rule
def _write_known(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    known = game.known.flat
    for relative in range(1, game.num_players):
        card = NUM_CARDS * seat_at(game, seat, relative)
        first = start + (relative - 1) * NUM_CARDS
        for i in range(NUM_CARDS):
            out.codes[first + i] = known[card + i]


@rule
def _write_unknown(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    for relative in range(1, game.num_players):
        who = seat_at(game, seat, relative)
        first = start + (relative - 1) * (NUM_COLOURS + 1)
        for colour in range(NUM_COLOURS + 1):
            out.codes[first + colour] = game.unknown[who, colour]


@rule
def _write_hand_size(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    hand = game.hand.flat
    for relative in range(game.num_players):
        card = NUM_CARDS * seat_at(game, seat, relative)
        number = 0
        for i in range(NUM_CARDS):
            number += hand[card + i]
        out.codes[start + relative] = number


@rule
def _write_tops(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    for colour in range(NUM_COLOURS):
        if game.top[colour] != NONE:
            out.codes[start + NUM_RANKS * colour + game.top[colour]] = 1


@rule
def _write_stacks(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    for colour in range(NUM_COLOURS):
        face_down = 0
        for rank in range(NUM_RANKS):
            face_down += int(game.face_down[colour, rank])
        out.codes[start + colour] = face_down
        out.codes[start + NUM_COLOURS + colour] = game.num_returned[colour]


@rule
def _write_returned(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    for colour in range(NUM_COLOURS):
        for i in range(RETURNED_SHOWN):
            out.codes[start + RETURNED_SHOWN * colour + i] = game.returned[colour, i] + 1


@rule
def _write_black(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    face_down = 0
    for rank in range(NUM_RANKS):
        face_down += int(game.face_down[BLACK, rank])
        out.codes[start + 1 + rank] = game.black_face_up[rank]
    out.codes[start] = face_down


@rule
def _write_unseen(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    unlocated = game.unlocated.flat
    hand = game.hand.flat
    known = game.known.flat
    for i in range(NUM_CARDS):
        card = NUM_CARDS * seat + i
        out.codes[start + i] = unlocated[i] - hand[card] + known[card]


@rule
def _write_auction_place(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    if game.auction_place == NONE:
        return
    out.codes[start + game.auction_place] = 1
    if game.auction_place < NUM_DISTRICTS and is_full(game, int(game.auction_place)):
        out.codes[start + NUM_DISTRICTS + 1] = 1
    out.codes[start + NUM_DISTRICTS + 2 + game.auction_commissioner] = 1


@rule
def _write_bids(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    if game.auction_place == NONE:
        return
    for relative in range(game.num_players):
        who = seat_at(game, seat, relative)
        out.codes[start + relative] = game.bid_total[who]
        out.codes[start + MAX_PLAYERS + relative] = game.out[who]
        if game.bid_colour[who] != NONE:
            out.codes[start + 2 * MAX_PLAYERS + relative] = BUILD_LIMIT[highest_rank(game, who)]
            out.codes[start + 3 * MAX_PLAYERS + NUM_COLOURS * relative + game.bid_colour[who]] = 1


@rule
def _write_bid_cards(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    if game.auction_place == NONE:
        return
    laid = game.bid_cards.flat
    for relative in range(game.num_players):
        card = CARDS_LAID * seat_at(game, seat, relative)
        first = start + CARDS_LAID * relative
        for i in range(CARDS_LAID):
            out.codes[first + i] = laid[card + i]


@rule
def _write_highest(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    out.codes[start] = game.highest
    if game.highest_bidder != NONE:
        out.codes[start + 1 + relative_of(game, seat, int(game.highest_bidder))] = 1
    if game.alea == ALEA_WAITS:
        out.codes[start + 1 + MAX_PLAYERS] = 1


@rule
def _write_laid(game: GameRecord, seat: int, out: CodesRecord, start: int) -> None:
    if game.laid != NONE:
        out.codes[start + game.laid] = 1


def _pairs(*parts: tuple[str, ...]) -> tuple[str, ...]:
    """All combinations of labels, the last part changing fastest."""
    labels: tuple[str, ...] = ("",)
    for part in parts:
        labels = tuple(f"{left} {right}".strip() for left in labels for right in part)
    return labels


_CARDS = _pairs(CARD_COLOURS, tuple(str(value) for value in CARD_VALUES))
_RANKS = tuple(str(value) for value in CARD_VALUES)
_OTHERS = SEATS[1:]

BLOCKS: Final[tuple[Block, ...]] = (
    Block(
        "game",
        ("2 players", "3 players", "4 players", "back side"),
        1,
        1,
        "1 for the number of players; 1 on the back side",
        _write_players,
    ),
    Block("phase", PHASES, 1, 1, "1 for the decision that is open", _write_phase),
    Block("to act", SEATS, 1, 1, "1 for the seat to act", _write_actor),
    Block(
        "on turn",
        SEATS,
        1,
        1,
        "1 for the seat whose turn it is; in an auction its starter",
        _write_turn,
    ),
    Block("option", OPTIONS, 1, 1, "1 for the option of this turn", _write_option),
    Block(
        "action of the turn",
        ("1st", "2nd", "3rd"),
        1,
        1,
        "1 for the action of the turn that is under way",
        _write_step,
    ),
    Block(
        "turns",
        ("finished",),
        TURN_PARTS,
        TURN_PARTS,
        "turns finished / max_turns (END-5)",
        _write_turns,
    ),
    Block(
        "business to place",
        BUSINESSES,
        1,
        1,
        "1 for the type that option B has taken",
        _write_business,
    ),
    Block(
        "first card",
        COLOURS,
        1,
        1,
        "1 for the colour of the first of two coloured cards",
        _write_first_colour,
    ),
    Block(
        "skyscrapers",
        _pairs(SEATS, DISTRICTS, COLOURS),
        17,
        4,
        "skyscrapers on the plot / 4; Alea is 'second next'",
        _write_skyscrapers,
    ),
    Block(
        "businesses",
        _pairs(DISTRICTS, PLOTS, BUSINESSES),
        2,
        2,
        "businesses of the type on the plot / 2",
        _write_tiles,
    ),
    Block(
        "plot value",
        _pairs(DISTRICTS, COLOURS),
        8,
        8,
        "VP that a skyscraper on the plot scores (SCO-2) / 8",
        _write_value,
    ),
    Block("stopped", DISTRICTS, 1, 1, "1 if the district is stopped", _write_stopped),
    Block(
        "standing",
        (*_pairs(("VP",), SEATS, DISTRICTS), *_pairs(("districts",), SEATS)),
        (17 * 8,) * 28 + (7,) * 4,
        (20,) * 28 + (8,) * 4,
        "VP of the seat if the district is scored now / 20; districts in which the seat has "
        "skyscrapers / 8 (BUS-4)",
        _write_standing,
    ),
    Block("park area", SEATS, 17, 4, "skyscrapers of the seat in the park area / 4", _write_park),
    Block(
        "park tiles",
        BUSINESSES,
        8,
        4,
        "businesses of the type in the park area / 4",
        _write_park_tiles,
    ),
    Block(
        "row",
        _pairs(("now", "later"), BUSINESSES),
        (3,) * 4 + (9,) * 4,
        (3,) * 4 + (8,) * 4,
        "tiles of the type in the current set / 3; in all later sets / 8",
        _write_row,
    ),
    Block("placed", ("businesses",), 12, 12, "businesses placed by option B / 12", _write_placed),
    Block(
        "commissioner",
        _pairs(COMMISSIONERS, PLACES),
        1,
        1,
        "1 where the commissioner is",
        _write_places,
    ),
    Block(
        "marker",
        _pairs(COMMISSIONERS, DISTRICTS),
        1,
        1,
        "1 where it has a marker; during its auctions: districts not yet dealt with",
        _write_markers,
    ),
    Block(
        "supply",
        (*_pairs(("own",), SEATS), *_pairs(("general",), SEATS), "Alea"),
        (15,) * 4 + (12,) * 4 + (18,),
        (5,) * 4 + (12,) * 4 + (18,),
        "skyscrapers ready to build / 5; in the general supply / 12; left to Alea / 18",
        _write_supply,
    ),
    Block("score", SEATS, HIGHEST_SCORE, 100, "VP / 100, at most 10", _write_score),
    Block(
        "hand",
        _CARDS,
        ALL_CARDS,
        HAND_PARTS,
        "my cards: coloured / 2, black / 4 (not those of my bid on the table)",
        _write_hand,
    ),
    Block(
        "hidden",
        CARD_COLOURS,
        (1,) * 5 + (50,),
        4,
        "my cards that the others don't know / 4",
        _write_hidden,
    ),
    Block(
        "known",
        _pairs(_OTHERS, _CARDS),
        ALL_CARDS * 3,
        HAND_PARTS * 3,
        "cards that the seat is known to hold (INF-3): coloured / 2, black / 4",
        _write_known,
    ),
    Block(
        "unknown",
        _pairs(_OTHERS, CARD_COLOURS),
        ((1,) * 5 + (50,)) * 3,
        4,
        "cards of the seat that I don't know / 4",
        _write_unknown,
    ),
    Block("cards", SEATS, 110, 10, "cards in the seat's hand / 10", _write_hand_size),
    Block("top", _pairs(COLOURS, _RANKS), 1, 1, "1 for the visible card of the stack", _write_tops),
    Block(
        "stack",
        (*_pairs(("face down",), COLOURS), *_pairs(("returned",), COLOURS)),
        12,
        8,
        "cards under the visible one: face down / 8, returned / 8",
        _write_stacks,
    ),
    Block(
        "returned",
        _pairs(COLOURS, ("1st", "2nd", "3rd")),
        3,
        3,
        "the returned cards next to come up: (value − 3) / 3, 0 for none (AUC-8)",
        _write_returned,
    ),
    Block(
        "black stack",
        ("face down", *_pairs(("face up",), _RANKS)),
        (50, *BLACK_CARDS),
        (50, *BLACK_CARDS),
        "black cards face down / 50; face up / all of that value",
        _write_black,
    ),
    Block(
        "unseen",
        _CARDS,
        ALL_CARDS,
        ALL_CARDS,
        "cards that I can't locate / all of that colour and value",
        _write_unseen,
    ),
    Block(
        "auction",
        (*DISTRICTS, "CENTRAL_PARK", "full", *COMMISSIONERS),
        1,
        1,
        "1 for the place; 1 if no plot is empty; 1 for the commissioner that came home",
        _write_auction_place,
    ),
    Block(
        "bid",
        (
            *_pairs(("total",), SEATS),
            *_pairs(("passed",), SEATS),
            *_pairs(("limit",), SEATS),
            *_pairs(SEATS, COLOURS),
        ),
        (HIGHEST_TOTAL,) * 4 + (1,) * 4 + (3,) * 4 + (1,) * 20,
        (20,) * 4 + (1,) * 4 + (3,) * 4 + (1,) * 20,
        "cards on the table / 20; 1 if passed; skyscrapers that the highest card allows / 3; 1 for "
        "the colour",
        _write_bids,
    ),
    Block(
        "bid cards",
        _pairs(SEATS, ("coloured", "black"), _RANKS),
        (*COLOURED_CARDS, *BLACK_CARDS) * 4,
        (2, 2, 2, 4, 4, 4) * 4,
        "cards of the seat on the table: coloured / 2, black / 4 (in phase build: those that the "
        "winner has paid)",
        _write_bid_cards,
    ),
    Block(
        "highest bid",
        ("total", *_pairs(("of",), SEATS), "Alea to come"),
        (HIGHEST_TOTAL, 1, 1, 1, 1, 1),
        (20, 1, 1, 1, 1, 1),
        "the highest total / 20; 1 for its bidder (Alea is 'second next'); 1 if Alea has yet to "
        "bid",
        _write_highest,
    ),
    Block(
        "last card laid",
        _pairs(("coloured", "black"), _RANKS),
        1,
        1,
        "1 for the card that was laid down last in the bid under way",
        _write_laid,
    ),
)
"""The schema, in the order of the vector."""


def _spread(attribute: str) -> npt.NDArray[np.float32]:
    """A number of each block, or of each entry, as one number for every entry."""
    parts = [
        np.broadcast_to(np.array(getattr(block, attribute), np.float64), len(block.entries))
        for block in BLOCKS
    ]
    return np.concatenate(parts).astype(np.float32)


SCALE: Final = (1 / _spread("parts")).astype(np.float32)
OBSERVATION_SIZE: Final = len(SCALE)
"""Number of entries of an observation."""
LOW: Final = np.zeros(OBSERVATION_SIZE, dtype=np.float32)
"""The smallest value of every entry."""
LARGEST_CODES: Final = _spread("largest").astype(np.int16)
"""The largest code of every entry; the smallest is 0."""
HIGH: Final = _spread("largest") * SCALE
"""The largest value of every entry."""


def codes_of(observations: npt.NDArray[np.float32]) -> npt.NDArray[np.int16]:
    """The codes of scaled observations, int16, of their shape (…, OBSERVATION_SIZE)."""
    codes: npt.NDArray[np.int16] = np.rint(observations / SCALE).astype(np.int16)
    return codes


def names() -> tuple[str, ...]:
    """A unique name for every entry: the block's name, a colon, and what tells the entry apart."""
    return tuple(f"{block.name}: {entry}" for block in BLOCKS for entry in block.entries)


def offsets() -> dict[str, slice]:
    """Where each block lies in the vector, by its name."""
    slices: dict[str, slice] = {}
    start = 0
    for block in BLOCKS:
        slices[block.name] = slice(start, start + len(block.entries))
        start += len(block.entries)
    return slices


def markdown_table() -> str:
    """The index table of the documentation: one line for each block."""
    lines = ["| entries | block | told apart by | largest | meaning |", "|---|---|---|---|---|"]
    for block, where in zip(BLOCKS, offsets().values(), strict=True):
        shown = (
            ", ".join(block.entries)
            if len(block.entries) <= 9
            else f"{block.entries[0]}, …, {block.entries[-1]}"
        )
        span = f"{where.start}" if len(block.entries) == 1 else f"{where.start}–{where.stop - 1}"
        lines.append(
            f"| {span} | {block.name} | {shown} | {float(np.max(HIGH[where])):.4g} | {block.text} |"
        )
    return "\n".join(lines)


def _all_writers() -> Callable[..., Any]:
    """One function that calls the writers of all blocks, each with its place in the vector: a line
    for each, as if typed.
    """
    names: dict[str, Any] = {}
    lines = ["def write_blocks(game, seat, out):"]
    for number, (block, where) in enumerate(zip(BLOCKS, offsets().values(), strict=True)):
        # NumPy's integer, so that plain Python doesn't add small fields in eight bits.
        names |= {f"write_{number}": block.write, f"start_{number}": np.int64(where.start)}
        lines.append(f"    write_{number}(game, seat, out, start_{number})")
    exec("\n".join(lines), names)
    return rule(names["write_blocks"])


_write_blocks = _all_writers()


CODES_DTYPE: Final = np.dtype([("codes", np.int16, (OBSERVATION_SIZE,))], align=True)
"""The codes of one observation.

A field of a record, because passing plain arrays around costs reference counts.
"""


@entry_point("observations")
def write_codes(game: GameRecord, seat: int, out: CodesRecord) -> None:
    """Write the codes of a seat's observation of a game; times SCALE they are the observation."""
    for i in range(OBSERVATION_SIZE):
        out.codes[i] = 0
    _write_blocks(game, seat, out)
