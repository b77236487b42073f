"""Legal actions and their effects, by phase."""

from typing import Final

import numpy as np

from skyenv.rules.actions import (
    BID,
    BID_DONE,
    BUILD,
    MOVE,
    NUM_ACTIONS,
    OPTION_A,
    OPTION_B,
    OPTION_C,
    OPTION_D,
    PASS,
    PLOT,
    STOP,
    TAKE,
)
from skyenv.rules.auction import (
    apply_bid_done,
    apply_build,
    apply_card,
    apply_pass,
    apply_stop,
    legal_bids,
    legal_builds,
)
from skyenv.rules.businesses import (
    apply_place_business,
    legal_business_plots,
    some_plot_takes_business,
    types_in_current_set,
)
from skyenv.rules.cards import deal_black
from skyenv.rules.commissioners import apply_move, legal_moves
from skyenv.rules.compiling import entry_point, rule
from skyenv.rules.components import (
    NUM_BUSINESSES,
    NUM_COMMISSIONERS,
    NUM_DISTRICTS,
    NUM_PLACES,
    NUM_PLOTS,
    NUM_RANKS,
    SKYSCRAPERS_PER_OPTION,
)
from skyenv.rules.event_log import LogRecord
from skyenv.rules.record import Array
from skyenv.rules.scoring import score_district
from skyenv.rules.setup import apply_start, legal_starts
from skyenv.rules.state import (
    PHASE_BID,
    PHASE_BUILD,
    PHASE_MOVE,
    PHASE_OPTION,
    PHASE_PLOT,
    PHASE_START,
    PHASE_TAKE,
    GameRecord,
)
from skyenv.rules.turn import apply_take, begin_move, go_on, legal_cards

PHASE_FIRST_ACTION: Final = np.array(
    [PLOT, OPTION_A, PLOT, TAKE, MOVE, PASS, BUILD, 0], dtype=np.int64
)
"""First action number of each phase's block."""


@rule
def legal_options(game: GameRecord, mask: Array) -> None:
    """TURN-2, TURN-3: mark the options that the seat on turn may choose."""
    mask[OPTION_A] = game.general[game.seat] > 0
    mask[OPTION_C] = 1
    types = types_in_current_set(game)
    if types != 0 and some_plot_takes_business(game):
        for business in range(NUM_BUSINESSES):
            mask[OPTION_B + business] = (types >> business) & 1
    for commissioner in range(NUM_COMMISSIONERS):
        place = int(game.place[commissioner])
        if place < NUM_DISTRICTS and game.stopped[place] == 0:
            mask[OPTION_D + place] = 1


@rule
def refresh_mask(game: GameRecord, mask: Array) -> int:
    """Write the action mask, 1 for every legal action; return the number of legal actions (0: the
    game is over).
    """
    for action in range(NUM_ACTIONS):
        mask[action] = 0
    phase = game.phase
    if phase == PHASE_BID:
        legal_bids(game, mask)
    elif phase == PHASE_TAKE:
        legal_cards(game, mask)
    elif phase == PHASE_MOVE:
        legal_moves(game, mask)
    elif phase == PHASE_OPTION:
        legal_options(game, mask)
    elif phase == PHASE_BUILD:
        legal_builds(game, mask)
    elif phase == PHASE_PLOT:
        legal_business_plots(game, mask)
    elif phase == PHASE_START:
        legal_starts(game, mask)
    number = 0
    for action in range(NUM_ACTIONS):
        number += int(mask[action])
    return number


@rule
def apply_option(game: GameRecord, log: LogRecord, action: int) -> None:
    """TURN-1: carry out the first action of option A, C or D; of B the choice of the business."""
    game.step = 1
    if action == OPTION_A:
        game.option = 0
        taken = min(int(game.general[game.seat]), SKYSCRAPERS_PER_OPTION)  # a variant: the rest
        game.general[game.seat] -= taken
        game.supply[game.seat] += taken
        go_on(game, log)
    elif action < OPTION_C:
        game.option = 1
        game.business = action - OPTION_B
        game.phase = PHASE_PLOT
    elif action == OPTION_C:
        game.option = 2
        deal_black(game, log, int(game.seat))
        begin_move(game)
    else:
        game.option = 3
        score_district(game, log, action - OPTION_D)
        game.step = 2  # the second action, drawing two black cards, leaves nothing to decide
        go_on(game, log)


@entry_point("the rules")
def apply(game: GameRecord, log: LogRecord, action: int) -> None:
    """Carry out a legal action, and everything that follows up to the next decision."""
    game.decisions += 1
    if action < PLOT:
        apply_option(game, log, action)
    elif action < TAKE:
        plot = action - PLOT
        if game.phase == PHASE_START:
            apply_start(game, plot // NUM_PLOTS, plot % NUM_PLOTS)
        else:
            apply_place_business(game, log, plot // NUM_PLOTS, plot % NUM_PLOTS)
    elif action < MOVE:
        apply_take(game, log, action - TAKE)
    elif action < PASS:
        move = action - MOVE
        apply_move(game, log, move // NUM_PLACES, move % NUM_PLACES)
    elif action == PASS:
        apply_pass(game, log)
    elif action < BID_DONE:
        apply_card(game, (action - BID) // NUM_RANKS, (action - BID) % NUM_RANKS)
    elif action == BID_DONE:
        apply_bid_done(game, log)
    elif action < STOP:
        apply_build(game, log, action - BUILD)
    else:
        apply_stop(game, log)
