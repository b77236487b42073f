"""CUDA kernels: the row functions of :mod:`skyenv.engine.kernels`, one thread per row.

A step is several kernels. A single one would need 94 registers per thread instead of about 60, so
fewer threads would fit a multiprocessor.

Arguments that several kernels share, all arrays in the GPU's memory:

* `arrays`: a :class:`skyenv.engine.arrays.Arrays`
* `rows`: int64 (k,), with the row of each thread; `actions`, `seeds` and `seats` go with it
* `refused`: int64 (4,): how many actions were refused; of the first step with such an action its
  first place in `rows`, the row there and the action. While there are any, nothing is played
"""

from typing import Any, Final

import numba.cuda

from skyenv.engine import kernels
from skyenv.engine.arrays import Arrays
from skyenv.engine.numbers import agents_uniform
from skyenv.engine.observation import write_observation
from skyenv.rules.actions import NUM_ACTIONS

cuda: Final[Any] = numba.cuda  # Numba's CUDA, its types unknown
# Numba warns of every launch that is too small to fill a GPU.
cuda.config.CUDA_LOW_OCCUPANCY_WARNINGS = 0

THREADS: Final = 128  # threads of a block
NOT_YET: Final = -(2**62)
NOTHING_REFUSED: Final = (0, 2**62, NOT_YET, 0)


@cuda.jit
def check(slots: Any, steps: Any, rows: Any, actions: Any, step_id: int, refused: Any) -> None:
    """Count rows that are out of range or named twice, and actions that aren't legal."""
    k = cuda.grid(1)
    if k < len(rows):
        row = rows[k]
        action = actions[k]
        is_wrong = row < 0 or row >= len(slots)
        if not is_wrong:
            is_wrong = cuda.atomic.exch(steps, row, step_id) == step_id
        if not is_wrong:
            is_wrong = action < 0 or action >= NUM_ACTIONS or slots[row].legal[action] == 0
        if is_wrong:
            cuda.atomic.add(refused, 0, 1)
            cuda.atomic.min(refused, 1, k)


@cuda.jit
def play(arrays: Arrays, refused: Any, rows: Any, actions: Any) -> None:
    """Play one given action in every row, or note the first one that was refused."""
    k = cuda.grid(1)
    if k == refused[1] and refused[2] == NOT_YET:
        refused[2] = rows[k]
        refused[3] = actions[k]
    if k < len(rows) and refused[0] == 0:
        kernels.play_row(arrays, rows[k], int(actions[k]))


@cuda.jit
def settle(arrays: Arrays, refused: Any, rows: Any) -> None:
    """After an action: begin the next game where one is over, and write the outputs."""
    k = cuda.grid(1)
    if k < len(rows) and refused[0] == 0:
        kernels.settle_row(arrays, rows[k])
        kernels.write_outputs(arrays, rows[k])


@cuda.jit
def play_random(arrays: Arrays, steps: int, salt: int) -> None:
    """Play a number of random legal actions in every row."""
    row = cuda.grid(1)
    if row < len(arrays.state):
        game, slot = arrays.state[row], arrays.slots[row]
        for _step in range(steps):
            if slot.num_legal == 0:
                break
            kernels.play_row(arrays, row, kernels.random_action(game, slot, salt))
            kernels.settle_row(arrays, row)
        kernels.write_outputs(arrays, row)


@cuda.jit
def reset(arrays: Arrays, rows: Any, seeds: Any) -> None:
    """Reset every row; see :func:`skyenv.engine.kernels.reset_row`."""
    k = cuda.grid(1)
    if k < len(rows):
        kernels.reset_row(arrays, rows[k], seeds[k])


@cuda.jit
def observe(arrays: Arrays, refused: Any, rows: Any) -> None:
    """Write the observations of the seats to act."""
    k = cuda.grid(1)
    if k < len(rows) and refused[0] == 0:
        game = arrays.state[rows[k]]
        write_observation(game, max(int(game.seat), 0), arrays.observation[rows[k]])


@cuda.jit
def observe_seats(state: Any, rows: Any, seats: Any, out: Any) -> None:
    """Write the observations of given seats, OBSERVATION_DTYPE (k,)."""
    k = cuda.grid(1)
    if k < len(rows):
        write_observation(state[rows[k]], seats[k], out[k])


@cuda.jit
def uniforms(state: Any, rows: Any, agent_seed: int, salt: int, out: Any) -> None:
    """Write each row's random number for its next decision, float64 (k,)."""
    k = cuda.grid(1)
    if k < len(rows):
        out[k] = agents_uniform(state[rows[k]], agent_seed, salt)
