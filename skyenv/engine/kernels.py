"""Compiled loops over a batch's rows that apply the rules and write observations.

The functions for one row (:func:`play_row`, :func:`reset_row`, …) are shared with the GPU's
kernels. Beside `arrays`, several functions take `rows`, int64 (k,): the rows to work on.
"""

from typing import Any, Final, cast

import numpy as np

from skyenv.engine.arrays import GAME_WORDS, SLOT_DTYPE, Arrays, SlotRecord
from skyenv.engine.numbers import agents_uniform, uniform32
from skyenv.engine.observation import (
    OBSERVATION_SIZE,
    SCALE,
    CodesRecord,
    ObservationRecord,
    write_codes,
)
from skyenv.engine.openings import selected
from skyenv.engine.prefetching import prefetch
from skyenv.engine.rewards import (
    MARGIN,
    MARGIN_SCALE,
    OUTCOME,
    TASK,
    charge,
    compiled_outcome_of,
    counted_vp,
    win_share,
)
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.cards import refresh_knowledge
from skyenv.rules.compiling import entry_point, rule
from skyenv.rules.components import MAX_PLAYERS, NUM_DISTRICTS
from skyenv.rules.play import PHASE_FIRST_ACTION, apply, refresh_mask
from skyenv.rules.record import Array
from skyenv.rules.scoring import refresh_district, winners
from skyenv.rules.setup import begin
from skyenv.rules.state import (
    END_TRUNCATED,
    GAME_DTYPE,
    NONE,
    PHASE_BID,
    PHASE_BUILD,
    PHASE_OVER,
    GameRecord,
)
from skyenv.seeds import HIGHEST_SEED

REFRESH: Final = -2  # instead of a seed: keep the game and update derived data
NEXT_SEED: Final = -3  # instead of a seed: the row's next one, as in automatic resets


OK: Final = -1
# Prefetch distance in rows; without prefetching, every row of a large batch waits for memory.
ROWS_AHEAD: Final = 2
CHECKS_AHEAD: Final = 16  # the same, for checks of actions, which take less time
LEGAL: Final = int(cast(Any, SLOT_DTYPE.fields)["legal"][1])  # offset of a slot's legal actions
LINE: Final = 64  # bytes of a line of the processor's cache
GAME_BYTES: Final = GAME_DTYPE.itemsize
SLOT_BYTES: Final = SLOT_DTYPE.itemsize


@rule
def following_seed(game: GameRecord, slot: SlotRecord, num_games: int) -> int:
    """Return the seed of a row's next game: the current or latest one + num_games, mod 2⁶³."""
    seed = int(slot.seed if game.seed == NONE else game.seed)
    room = HIGHEST_SEED - num_games  # so that the sum can't overflow
    return seed + num_games if seed <= room else seed - room - 1


# ---- one row of a batch, on the CPU and on a GPU ----


@rule
def copy_game(target: Array, row: int, source: Array, place: int) -> None:
    """Copy a game in words, as a GPU would copy a record byte by byte."""
    for word in range(GAME_WORDS):
        target[row, word] = source[place, word]


@rule
def deal(arrays: Arrays, row: int, seed: int) -> None:
    """Begin a row's new game (NONE: without a seed); the seed selects a task's opening."""
    copy_game(arrays.state_words, row, arrays.blank, selected(seed, len(arrays.blank)))
    begin(arrays.state[row], arrays.log[0], seed)
    arrays.slots[row].seed = seed


@rule
def reset_row(arrays: Arrays, row: int, seed: int) -> None:
    """Begin a row's new game (`seed` may be NEXT_SEED), or update derived data (REFRESH)."""
    game, slot = arrays.state[row], arrays.slots[row]
    if seed == REFRESH:
        for district in range(NUM_DISTRICTS):
            refresh_district(game, district)
        refresh_knowledge(game)
    else:
        if seed == NEXT_SEED:
            seed = following_seed(game, slot, len(arrays.state))
        deal(arrays, row, seed)
        slot.done = slot.truncated = False
        for seat in range(MAX_PLAYERS):
            slot.reward[seat] = 0.0
    slot.num_legal = refresh_mask(game, slot.legal)
    write_outputs(arrays, row)


@rule
def play_row(arrays: Arrays, row: int, action: int) -> None:
    """Play an action in a row, and note in its slot every seat's reward and whether the game is
    over; :func:`settle_row` must follow.
    """
    game, slot, kind = arrays.state[row], arrays.slots[row], arrays.kind
    players = int(game.num_players)
    for seat in range(players):
        slot.reward[seat] = 0.0
        if kind != OUTCOME:
            slot.vp[seat] = counted_vp(game, kind, seat)
    bidding = game.phase == PHASE_BID
    apply(game, arrays.log[0], action)
    slot.done = game.phase == PHASE_OVER
    slot.truncated = game.end == END_TRUNCATED
    if kind != OUTCOME:
        for seat in range(players):
            slot.reward[seat] = (counted_vp(game, kind, seat) - int(slot.vp[seat])) / (
                MARGIN_SCALE if kind == MARGIN else 1.0
            )
        if kind >= TASK and bidding and game.phase == PHASE_BUILD:
            for seat in range(players):
                slot.reward[seat] -= charge(game, seat)
    elif slot.done and not slot.truncated:
        best = winners(game)
        for seat in range(players):
            slot.reward[seat] = compiled_outcome_of(win_share(best, seat), players)


@rule
def settle_row(arrays: Arrays, row: int) -> None:
    """Store a row's game if it is over, begin the next one, and update the legal actions."""
    game, slot = arrays.state[row], arrays.slots[row]
    if slot.done:
        copy_game(arrays.finished, row, arrays.state_words, row)
        if arrays.autoreset:
            deal(arrays, row, following_seed(game, slot, len(arrays.state)))
    slot.num_legal = refresh_mask(game, slot.legal)


@rule
def random_action(game: GameRecord, slot: SlotRecord, salt: int) -> int:
    """Return a uniformly random legal action."""
    left = (uniform32(game, salt) * int(slot.num_legal)) >> 32
    action = int(PHASE_FIRST_ACTION[game.phase])
    while left > 0 or slot.legal[action] == 0:
        left -= int(slot.legal[action])
        action += 1
    return action


@rule
def write_outputs(arrays: Arrays, row: int) -> None:
    """Write a row's outputs except the observation."""
    slot = arrays.slots[row]
    arrays.seat[row] = arrays.state[row].seat
    arrays.done[row] = slot.done
    arrays.truncated[row] = slot.truncated
    for i in range(arrays.reward.shape[1]):
        arrays.reward[row, i] = slot.reward[i]
    for i in range(NUM_ACTIONS):
        arrays.mask[row, i] = slot.legal[i]


# ---- loops over rows ----


@rule
def scale(codes: CodesRecord, out: ObservationRecord) -> None:
    """Write an observation from its codes, in one loop that the compiler vectorizes."""
    for i in range(OBSERVATION_SIZE):
        out.entries[i] = np.float32(codes.entries[i]) * SCALE[i]


@rule
def observe_row(arrays: Arrays, row: int, part: int) -> None:
    """Write the observation of a row's seat to act, if there are observations; `part` selects the
    scratch memory.
    """
    if len(arrays.observation) > 0:
        game, codes = arrays.state[row], arrays.codes[2 * part]
        write_codes(game, max(int(game.seat), 0), codes)
        scale(codes, arrays.observation[row])


@rule
def prefetch_row(arrays: Arrays, row: int) -> None:
    """Prefetch the memory that playing in a row accesses."""
    for byte in range(0, GAME_BYTES, LINE):
        prefetch(arrays.state, row, byte)
    for byte in range(0, SLOT_BYTES, LINE):
        prefetch(arrays.slots, row, byte)
    for byte in range(0, NUM_ACTIONS, LINE):
        prefetch(arrays.mask, row, byte)


@entry_point("the rules")
def play_rows(
    arrays: Arrays, rows: Array, actions: Array, part: int, parts: int, random_steps: int, salt: int
) -> None:
    """Play one given action in every row or, if `random_steps` is not 0, that many random legal
    ones.

    Each of several threads plays its `part` of `parts`.
    """
    first, end = len(rows) * part // parts, len(rows) * (part + 1) // parts
    for k in range(first, end):
        row = rows[k]
        slot = arrays.slots[row]
        if k + ROWS_AHEAD < end:
            prefetch_row(arrays, rows[k + ROWS_AHEAD])
        for _step in range(max(random_steps, 1)):
            if random_steps == 0:
                action = actions[k]
            elif slot.num_legal > 0:
                action = random_action(arrays.state[row], slot, salt)
            else:
                break
            play_row(arrays, row, action)
            settle_row(arrays, row)
            observe_row(arrays, row, part)
        write_outputs(arrays, row)
    arrays.codes[2 * part + 1].entries[0] = 1  # it has been played


@entry_point("the setup of games")
def reset_rows(arrays: Arrays, rows: Array, seeds: Array) -> None:
    """Reset every row; see :func:`reset_row`."""
    for k in range(len(rows)):
        reset_row(arrays, rows[k], seeds[k])
        observe_row(arrays, rows[k], 0)


@entry_point("the check of actions")
def first_refused(slots: Array, rows: Array, actions: Array, step_id: int) -> int:
    """Return the index of the first row that is out of range, duplicated, or whose action is
    illegal; OK if none.
    """
    for k in range(len(rows)):
        if k + CHECKS_AHEAD < len(rows):
            ahead = rows[k + CHECKS_AHEAD]
            prefetch(slots, ahead, 0)
            prefetch(slots, ahead, LEGAL + actions[k + CHECKS_AHEAD])
        row = rows[k]
        if row < 0 or row >= len(slots) or slots[row].step_id == step_id:
            return k
        slots[row].step_id = step_id
        if actions[k] < 0 or actions[k] >= NUM_ACTIONS or slots[row].legal[actions[k]] == 0:
            return k
    return OK


@entry_point("observations")
def observe_rows(state: Array, codes: Array, rows: Array, seats: Array, out: Array) -> None:
    """Write the observation of each row's game from a given seat, OBSERVATION_DTYPE (k,)."""
    for k in range(len(rows)):
        write_codes(state[rows[k]], seats[k], codes[0])
        scale(codes[0], out[k])


@entry_point("agents' random numbers")
def uniforms(state: Array, rows: Array, agent_seed: int, salts: Array, out: Array) -> None:
    """Write each row's random number for its next decision into `out`, float64 (k,), from 0 to
    1 − 2⁻³².
    """
    for k in range(len(rows)):
        out[k] = agents_uniform(state[rows[k]], agent_seed, salts[k])
