"""TURN-4, TURN-5, AUC-8: cards between hands and stacks."""

from __future__ import annotations

from skyenv.rules.chance import draw, draw_black
from skyenv.rules.compiling import rule
from skyenv.rules.components import BLACK, LOWEST_CARD, MAX_PLAYERS, NUM_COLOURS, NUM_RANKS
from skyenv.rules.event_log import EVENT_BLACK, EVENT_TOP, FORCED_CARD, LogRecord, report
from skyenv.rules.state import NONE, GameRecord


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
    report(log, EVENT_BLACK, seat, rank + LOWEST_CARD, 0, 0, 0, 0, 0)


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
    report(log, EVENT_TOP, colour, rank + LOWEST_CARD if rank != NONE else NONE, 0, 0, 0, 0, 0)


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
