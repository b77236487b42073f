"""Compiled play-outs by a network's policy, from determinizations to its value estimates.

The games of a call are played in lockstep, so that each forward pass evaluates a row of each.
"""

from typing import Final, NamedTuple

import numpy as np

from skyenv.array_types import Float64, Int8, Int16, Int64, RecordArray
from skyenv.engine.knowledge import VIEW_DTYPE, redact, sample_determinization
from skyenv.engine.observation import CODES_DTYPE, OBSERVATION_SIZE, SCALE, write_codes
from skyenv.engine.rewards import compiled_outcome_of, win_share
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.compiling import called_rule, entry_point
from skyenv.rules.event_log import LOG_DTYPE
from skyenv.rules.play import apply, refresh_mask
from skyenv.rules.record import Array, new_records
from skyenv.rules.scoring import winners
from skyenv.rules.state import GAME_DTYPE, PHASE_OVER, GameRecord
from skyenv_agents.learned.forward_pass import (
    ROWS,
    Memory,
    Program,
    expected_return,
    load_row,
    logit,
    new_memory,
    run_layers,
)
from skyenv_agents.learned.prior import NUM_CODES, PriorMemory, write_prior

OVER: Final = -1
# Play-outs of a compiled call; Ctrl-C is handled between calls.
AT_A_TIME: Final = 256


class PlayOuts(NamedTuple):
    """Working memory of n play-outs.

    Attributes:
        games: GAME_DTYPE (n,).
        seats: int64 (n,), whose value estimate ends the play-out.
        left: int64 (n,), decisions of that seat until then; OVER: the play-out has ended.
        waiting: int64 (n,), the play-outs that need a forward pass.
        masks: int8 (ROWS, 103), the legal actions of each row of a forward pass.
        views, shown_games: a view, VIEW_DTYPE (1,), and the array of its game.
        codes: CODES_DTYPE (1,), an observation.
        prior_codes: int16 (NUM_CODES,).
        log: LOG_DTYPE (1,).
    """

    games: RecordArray
    seats: Int64
    left: Int64
    waiting: Int64
    masks: Int8
    views: RecordArray
    shown_games: RecordArray
    codes: RecordArray
    prior_codes: Int16
    log: RecordArray


@called_rule
def copy_game(games: Array, row: int, game: GameRecord) -> None:
    """Copy a game to a row; each copy of a record takes the compiler half a second."""
    games[row] = game


@called_rule
def advance(played: PlayOuts, i: int, values: Array) -> bool:
    """Play forced actions until a forward pass is needed; return whether one is.

    Returns False if the play-out has ended, with its outcome in `values`.
    """
    game, seat, mask = played.games[i], int(played.seats[i]), played.masks[0]
    while game.phase != PHASE_OVER:
        number = refresh_mask(game, mask)
        played.left[i] -= 1 if game.seat == seat else 0
        if number > 1 or played.left[i] == 0:
            return True
        forced = 0
        while mask[forced] == 0:
            forced += 1
        apply(game, played.log[0], forced)
    values[i] = compiled_outcome_of(win_share(winners(game), seat), int(game.num_players))
    played.left[i] = OVER
    return False


@called_rule
def load_game(
    program: Program, memory: Memory, prior: PriorMemory, played: PlayOuts, i: int, row: int
) -> None:
    """Write the inputs of a row from the view of a game's seat to act."""
    game, codes, mask = played.games[i], played.codes[0], played.masks[row]
    seat = int(game.seat)
    refresh_mask(game, mask)
    copy_game(played.shown_games, 0, game)
    redact(played.views[0], seat)
    write_prior(played.views[0], mask, prior, played.prior_codes)
    write_codes(game, seat, codes)
    for k in range(OBSERVATION_SIZE):
        memory.codes[k] = np.float32(codes.entries[k]) * SCALE[k]
    load_row(program, memory, played.prior_codes, row)


@called_rule
def settle(
    program: Program, memory: Memory, played: PlayOuts, i: int, row: int, values: Array
) -> None:
    """End a play-out with its value estimate, or play the most probable action."""
    if played.left[i] == 0:
        values[i] = min(max(expected_return(program, memory, row), -1.0), 1.0)
        played.left[i] = OVER
        return
    best, highest = 0, -np.inf
    for action in range(NUM_ACTIONS):
        score = logit(program, memory, row, action)
        if played.masks[row, action] and score > highest:
            best, highest = action, score
    apply(played.games[i], played.log[0], best)


@entry_point("play-outs by networks")
def play_out(
    program: Program,
    memory: Memory,
    prior: PriorMemory,
    played: PlayOuts,
    views: Array,
    actions: Array,
    seeds: Array,
    values: Array,
) -> None:
    """Write the values of n play-outs for their seats into `values`, float64 (n,), from −1 to 1.

    Args:
        views: VIEW_DTYPE (n,). actions: int64 (n,), the first actions. seeds: int64 (n,), of the
            determinizations.
    """
    for i in range(len(values)):
        copy_game(played.games, i, views[i].game)
        played.seats[i] = views[i].seat
        game, log = played.games[i], played.log[0]
        sample_determinization(views[i], game, log, played.masks[0], seeds[i])
        apply(game, log, actions[i])
    waiting = len(values)
    while waiting > 0:
        waiting = 0
        for i in range(len(values)):
            if played.left[i] != OVER and advance(played, i, values):
                played.waiting[waiting] = i
                waiting += 1
        for first in range(0, waiting, ROWS):
            rows = min(ROWS, waiting - first)
            for row in range(rows):
                load_game(program, memory, prior, played, played.waiting[first + row], row)
            run_layers(program, memory, rows)
            for row in range(rows):
                settle(program, memory, played, played.waiting[first + row], row, values)


def values_after(
    program: Program,
    prior: PriorMemory,
    views: RecordArray,
    actions: Int64,
    seeds: Int64,
    length: int,
) -> Float64:
    """Return the values of actions by play-outs, float64 (n,), from −1 to 1.

    Args:
        views: VIEW_DTYPE (n,), for compiled functions. actions: int64 (n,).
        seeds: int64 (n,), of the determinizations. length: decisions of the views' seats until the
            value estimate.
    """
    memory, shown = new_memory(program, ROWS), new_records(1, VIEW_DTYPE)
    values = np.zeros(len(actions))
    for first in range(0, len(actions), AT_A_TIME):
        part = slice(first, first + AT_A_TIME)
        number = len(actions[part])
        played = PlayOuts(
            new_records(number, GAME_DTYPE),
            np.zeros(number, np.int64),
            np.full(number, length),
            np.zeros(number, np.int64),
            np.zeros((ROWS, NUM_ACTIONS), np.int8),
            shown,
            shown["game"],
            new_records(1, CODES_DTYPE),
            np.zeros(NUM_CODES, np.int16),
            new_records(1, LOG_DTYPE),
        )
        play_out(
            program, memory, prior, played, views[part], actions[part], seeds[part], values[part]
        )
    return values
