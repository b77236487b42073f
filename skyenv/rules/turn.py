"""TURN: the sequence of a turn.

The modules of the other chapters implement the single actions.
"""

from skyenv.rules.actions import TAKE
from skyenv.rules.cards import stacks_with_cards, take_top
from skyenv.rules.compiling import called_rule, rule
from skyenv.rules.components import NUM_COLOURS
from skyenv.rules.event_log import LogRecord
from skyenv.rules.record import Array
from skyenv.rules.scoring import finish
from skyenv.rules.state import END_TRUNCATED, NONE, PHASE_MOVE, PHASE_OPTION, PHASE_TAKE, GameRecord


@rule
def begin_turn(game: GameRecord, seat: int) -> None:
    """TURN-1: begin a turn with the choice of an option."""
    game.turn_seat = seat
    game.seat = seat
    game.step = 1
    game.option = NONE
    game.phase = PHASE_OPTION


@rule
def begin_move(game: GameRecord) -> None:
    """Begin the move of a commissioner by the seat on turn."""
    game.seat = game.turn_seat
    game.phase = PHASE_MOVE


@called_rule
def go_on(game: GameRecord, log: LogRecord) -> None:
    """Begin the next action of the turn, or end the turn, after an action and its auctions
    (TURN-7).
    """
    game.seat = game.turn_seat
    game.step += 1
    if game.step == 2:
        if stacks_with_cards(game) != 0:
            game.phase = PHASE_TAKE
            return
        game.step = 3  # TURN-4: no stack has cards, so there is nothing to decide
    if game.step == 3:
        begin_move(game)
        return
    end_turn(game, log)


@rule
def end_turn(game: GameRecord, log: LogRecord) -> None:
    """TURN-1, END-5: begin the next seat's turn, or truncate the game."""
    game.turns += 1
    if game.turns >= game.max_turns:
        finish(game, log, END_TRUNCATED)
    else:
        begin_turn(game, (game.turn_seat + 1) % game.num_players)


@rule
def legal_cards(game: GameRecord, mask: Array) -> None:
    """TURN-4: mark the stacks to take from; two cards in ascending colour order, of two colours if
    two stacks have cards.
    """
    stacks = stacks_with_cards(game)
    for colour in range(NUM_COLOURS):
        second_possible = (stacks >> (colour + 1)) != 0 or stacks == 1 << colour
        allowed = second_possible if game.first_colour == NONE else colour > game.first_colour
        mask[TAKE + colour] = (stacks >> colour) & 1 != 0 and allowed


@rule
def apply_take(game: GameRecord, log: LogRecord, colour: int) -> None:
    """TURN-4, TURN-5: take a visible card; continue after the second, or if only one stack had
    cards.
    """
    first = game.first_colour == NONE
    one_stack = stacks_with_cards(game) == 1 << colour
    take_top(game, log, game.seat, colour)
    if first and not one_stack:
        game.first_colour = colour
        return
    game.first_colour = NONE
    go_on(game, log)
