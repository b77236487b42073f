"""What runs on the GPU: the rules around which :mod:`skyenv.engine.kernels` has loops, with a thread for
each row instead.

A step is several kernels. One that did all of it would need 94 registers a thread instead of the 60
or so of each of these, and a multiprocessor has room for the fewer threads the more they need.

Arguments are those of the functions of the same names there, in the GPU's memory; `rows` and what
goes with it have an entry for each thread. Others that several share:

* `state_words`, `finished_words`, `blank_words`: the same memory as `state`, `finished` and
  `blank`, uint32 (n · words,)
* `refused`: int64 (4,): how many actions were refused; of the first step that had one its first
  place in `rows`, the row there and the action. While there are any nothing is played
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from skyenv.cuda.arrays import cuda
from skyenv.engine.kernels import (
    GAME_BYTES,
    REFRESH,
    agents_uniform32,
    following_seed,
    nth_legal,
    play_for_reward,
    uniform32,
)
from skyenv.engine.observation import OBSERVATION_SIZE, write_codes
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.cards import refresh_knowledge
from skyenv.rules.components import NUM_DISTRICTS
from skyenv.rules.play import write_mask
from skyenv.rules.scoring import refresh_district
from skyenv.rules.setup import begin

GAME_WORDS: Final = GAME_BYTES // 4
THREADS: Final = 128
"""Threads of a block."""
NOT_YET: Final = -(2**62)
NOTHING_REFUSED: Final = (0, 2**62, NOT_YET, 0)
OWN_SEED: Final = -3
"""Instead of a seed: the row's next one, as automatic resets have it."""


def kernel(function: Callable[..., None]) -> Any:
    """Mark a function that the GPU carries out, compiled when it is first called:
    ``function[blocks, threads](…)``.
    """
    return cuda.jit(function)


@kernel
def check(slots: Any, stamps: Any, rows: Any, actions: Any, stamp: int, refused: Any) -> None:
    """Count rows that are out of range or named twice, and actions that aren't legal."""
    k = cuda.grid(1)
    if k < len(rows):
        row = rows[k]
        action = actions[k]
        is_wrong = row < 0 or row >= len(slots)
        if not is_wrong:
            is_wrong = cuda.atomic.exch(stamps, row, stamp) == stamp
        if not is_wrong:
            is_wrong = action < 0 or action >= NUM_ACTIONS or slots[row].legal[action] == 0
        if is_wrong:
            cuda.atomic.add(refused, 0, 1)
            cuda.atomic.min(refused, 1, k)


@kernel
def play(
    state: Any,
    state_words: Any,
    slots: Any,
    reward: Any,
    done: Any,
    truncated: Any,
    finished_words: Any,
    tape: Any,
    refused: Any,
    rows: Any,
    actions: Any,
    kind: int,
) -> None:
    """Play one given action in every row, or note what was refused."""
    k = cuda.grid(1)
    if k == refused[1] and refused[2] == NOT_YET:
        refused[2] = rows[k]
        refused[3] = actions[k]
    if k < len(rows) and refused[0] == 0:
        row = rows[k]
        slot = slots[row]
        play_for_reward(state[row], slot, tape[0], int(actions[k]), kind)
        if slot.done:
            for word in range(GAME_WORDS):
                finished_words[row * GAME_WORDS + word] = state_words[row * GAME_WORDS + word]
        done[row] = slot.done
        truncated[row] = slot.truncated
        for i in range(reward.shape[1]):
            reward[row, i] = slot.reward[i]


@kernel
def settle(
    state: Any,
    state_words: Any,
    slots: Any,
    mask: Any,
    seat: Any,
    blank_words: Any,
    tape: Any,
    refused: Any,
    rows: Any,
    autoreset: bool,
) -> None:
    """After an action: begin the next game where one is over, and write what may be done."""
    k = cuda.grid(1)
    if k < len(rows) and refused[0] == 0:
        row = rows[k]
        game = state[row]
        slot = slots[row]
        if slot.done and autoreset:
            slot.seed = following_seed(game, slot, len(state))
            for word in range(GAME_WORDS):
                state_words[row * GAME_WORDS + word] = blank_words[word]
            begin(game, tape[0], slot.seed)
        slot.num_legal = write_mask(game, slot.legal)
        seat[row] = game.seat
        for i in range(NUM_ACTIONS):
            mask[row, i] = slot.legal[i]


@kernel
def play_random(
    state: Any,
    state_words: Any,
    slots: Any,
    mask: Any,
    seat: Any,
    reward: Any,
    done: Any,
    truncated: Any,
    finished_words: Any,
    blank_words: Any,
    tape: Any,
    kind: int,
    autoreset: bool,
    steps: int,
    salt: int,
) -> None:
    """Play so many random legal actions in every row."""
    row = cuda.grid(1)
    if row < len(state):
        game = state[row]
        slot = slots[row]
        for _step in range(steps):
            if slot.num_legal == 0:
                break
            action = nth_legal(game, slot, (uniform32(game, salt) * int(slot.num_legal)) >> 32)
            play_for_reward(game, slot, tape[0], action, kind)
            if slot.done:
                for word in range(GAME_WORDS):
                    finished_words[row * GAME_WORDS + word] = state_words[row * GAME_WORDS + word]
                if autoreset:
                    slot.seed = following_seed(game, slot, len(state))
                    for word in range(GAME_WORDS):
                        state_words[row * GAME_WORDS + word] = blank_words[word]
                    begin(game, tape[0], slot.seed)
            slot.num_legal = write_mask(game, slot.legal)
        seat[row] = game.seat
        done[row] = slot.done
        truncated[row] = slot.truncated
        for i in range(reward.shape[1]):
            reward[row, i] = slot.reward[i]
        for i in range(NUM_ACTIONS):
            mask[row, i] = slot.legal[i]


@kernel
def reset(
    state: Any,
    state_words: Any,
    slots: Any,
    mask: Any,
    seat: Any,
    reward: Any,
    done: Any,
    truncated: Any,
    blank_words: Any,
    tape: Any,
    rows: Any,
    seeds: Any,
) -> None:
    """Begin a new game in every row, or bring up to date what follows from the game there (seed
    REFRESH).
    """
    k = cuda.grid(1)
    if k < len(rows):
        row = rows[k]
        game = state[row]
        slot = slots[row]
        if seeds[k] == REFRESH:
            for district in range(NUM_DISTRICTS):
                refresh_district(game, district)
            refresh_knowledge(game)
        else:
            slot.seed = following_seed(game, slot, len(state)) if seeds[k] == OWN_SEED else seeds[k]
            for word in range(GAME_WORDS):
                state_words[row * GAME_WORDS + word] = blank_words[word]
            begin(game, tape[0], slot.seed)
            done[row] = False
            truncated[row] = False
            for i in range(reward.shape[1]):
                reward[row, i] = 0.0
        slot.num_legal = write_mask(game, slot.legal)
        seat[row] = game.seat
        for i in range(NUM_ACTIONS):
            mask[row, i] = slot.legal[i]


@kernel
def see(state: Any, rows: Any, refused: Any, codes: Any) -> None:
    """Write the codes of what the seat to act sees, in the rows named; codes: CODES_DTYPE (n,)."""
    k = cuda.grid(1)
    if k < len(rows) and refused[0] == 0:
        row = rows[k]
        game = state[row]
        write_codes(game, max(int(game.seat), 0), codes[row])


@kernel
def look(state: Any, rows: Any, seats: Any, codes: Any) -> None:
    """Write the codes of the observation of each row's game from a seat's view; codes: CODES_DTYPE
    (k,).
    """
    k = cuda.grid(1)
    if k < len(rows):
        write_codes(state[rows[k]], seats[k], codes[k])


@kernel
def scale(codes: Any, scales: Any, rows: Any, refused: Any, observation: Any) -> None:
    """Write scaled observations of codes, int16 (n · OBSERVATION_SIZE,), in the rows named: a
    thread for each number.
    """
    number = cuda.grid(1)
    k = number // OBSERVATION_SIZE
    if k < len(rows) and refused[0] == 0:
        i = number % OBSERVATION_SIZE
        observation[rows[k], i] = codes[rows[k] * OBSERVATION_SIZE + i] * scales[i]


@kernel
def uniforms(state: Any, rows: Any, agent_seed: int, salt: int, out: Any) -> None:
    """Each row's random number for its next decision, float64 (k,)."""
    k = cuda.grid(1)
    if k < len(rows):
        out[k] = agents_uniform32(state[rows[k]], agent_seed, salt) / 4294967296.0
