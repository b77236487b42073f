"""TURN-4, TURN-5, AUC-8, AUC-9: cards between hands and stacks."""

from skyenv.rules.chance import draw
from skyenv.rules.compiling import rule
from skyenv.rules.components import BLACK, LOWEST_CARD, MAX_PLAYERS, NUM_COLOURS, NUM_RANKS
from skyenv.rules.event_log import (
    EVENT_BLACK,
    EVENT_SHUFFLE,
    EVENT_TOP,
    FORCED_CARD,
    LogRecord,
    report,
)
from skyenv.rules.state import NONE, GameRecord


@rule
def deduce_hands(game: GameRecord) -> None:
    """AUC-9: record that each of two players knows the other's black cards before a shuffle, as
    none is face down.

    INF-1: three or four players know only the others' combined cards, which are not tracked.
    """
    if game.num_players == 2:
        for seat in range(2):
            for rank in range(NUM_RANKS):
                hidden = game.hand[seat, BLACK, rank] - game.known[seat, BLACK, rank]
                game.deduced[seat, rank] = hidden


@rule
def draw_black(game: GameRecord, log: LogRecord) -> int:
    """AUC-9: return the rank of the next black card, shuffling the stack first if necessary; NONE
    if there is no card.
    """
    face_down = 0
    face_up = 0
    for rank in range(NUM_RANKS):
        face_down += int(game.face_down[BLACK, rank])
        face_up += int(game.black_face_up[rank])
    if face_down == 0 and face_up > 0:
        deduce_hands(game)
        for rank in range(NUM_RANKS):
            game.face_down[BLACK, rank] = game.black_face_up[rank]
            game.unlocated[BLACK, rank] += game.black_face_up[rank]
            game.black_face_up[rank] = 0
        report(log, EVENT_SHUFFLE, 0, 0)
    return draw(game, log, game.face_down[BLACK], FORCED_CARD)


@rule
def deal_black(game: GameRecord, log: LogRecord, seat: int) -> None:
    """TURN-5: draw one black card, which only the seat sees.

    Without a card nothing happens (AUC-9).
    """
    rank = draw_black(game, log)
    if rank == NONE:
        return
    game.hand[seat, BLACK, rank] += 1
    game.unknown[seat, BLACK] += 1
    report(log, EVENT_BLACK, seat, rank + LOWEST_CARD)


@rule
def turn_up_top(game: GameRecord, log: LogRecord, colour: int) -> None:
    """TURN-5: make the next card of a coloured stack visible: an unknown one, else the first
    returned one.
    """
    rank = draw(game, log, game.face_down[colour], FORCED_CARD)
    if rank != NONE:
        game.unlocated[colour, rank] -= 1
    elif game.num_returned[colour] > 0:
        rank = int(game.returned[colour, 0])
        game.num_returned[colour] -= 1
        left = int(game.num_returned[colour])
        for i in range(left):
            game.returned[colour, i] = game.returned[colour, i + 1]
        game.returned[colour, left] = NONE
    game.top[colour] = rank
    report(log, EVENT_TOP, colour, rank + LOWEST_CARD if rank != NONE else NONE)


@rule
def take_top(game: GameRecord, log: LogRecord, seat: int, colour: int) -> None:
    """TURN-5, INF-3: take the visible card of a stack, a public card."""
    rank = int(game.top[colour])
    game.hand[seat, colour, rank] += 1
    game.known[seat, colour, rank] += 1
    turn_up_top(game, log, colour)


@rule
def return_coloured(game: GameRecord, colour: int, rank: int) -> None:
    """AUC-8: put a paid coloured card face up under its stack."""
    # There is always room, unless an edited position has too many cards.
    if game.num_returned[colour] < len(game.returned[colour]):
        game.returned[colour, game.num_returned[colour]] = rank
        game.num_returned[colour] += 1


@rule
def stacks_with_cards(game: GameRecord) -> int:
    """Return a bit mask of the coloured stacks that have a card."""
    stacks = 0
    for colour in range(NUM_COLOURS):
        if game.top[colour] != NONE:
            stacks |= 1 << colour
    return stacks


@rule
def cards_in_hand(game: GameRecord, seat: int) -> int:
    """INF-1, END-4: return the number of cards in the seat's hand, all colours together."""
    number = 0
    for colour in range(NUM_COLOURS + 1):
        for rank in range(NUM_RANKS):
            number += int(game.hand[seat, colour, rank])
    return number


@rule
def refresh_knowledge(game: GameRecord) -> None:
    """INF-2: recompute `unknown` and `unlocated` after hands or stacks were edited, without
    deductions.
    """
    for colour in range(NUM_COLOURS + 1):
        for rank in range(NUM_RANKS):
            unlocated = int(game.face_down[colour, rank])
            for seat in range(MAX_PLAYERS):
                unlocated += int(game.hand[seat, colour, rank] - game.known[seat, colour, rank])
            game.unlocated[colour, rank] = unlocated
        for seat in range(MAX_PLAYERS):
            unknown = 0
            for rank in range(NUM_RANKS):
                hidden = int(game.hand[seat, colour, rank] - game.known[seat, colour, rank])
                unknown += hidden
                if colour == BLACK and seat < 2:
                    game.deduced[seat, rank] = min(int(game.deduced[seat, rank]), hidden)
            game.unknown[seat, colour] = unknown
