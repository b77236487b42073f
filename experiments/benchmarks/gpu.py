"""The speed of games on a GPU (``tests/cuda`` compares these games with the processor's)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from experiments.benchmarks.engine import SEEN, random_play
from experiments.figures import Figure, Scale, seconds
from skyenv import Games
from skyenv.cuda import Games as DeviceGames
from skyenv.cuda import kernels
from skyenv.cuda.kernels import cuda
from skyenv.errors import OptionError
from skyenv.rules.state import NONE


@cuda.jit
def choose(mask: Any, uniforms: Any, actions: Any) -> None:
    """Draw a legal action for every row; uniforms: float64 (n,) in [0, 1)."""
    row = cuda.grid(1)
    if row < len(actions):
        number = 0
        for action in range(mask.shape[1]):
            number += mask[row, action]
        left = int(uniforms[row] * number)
        actions[row] = 0
        for action in range(mask.shape[1]):
            if mask[row, action] != 0:
                if left == 0:
                    actions[row] = action
                left -= 1


def gpu(scale: Scale) -> Iterator[Figure]:
    """Random legal play, 2 players, front side: inside one kernel, on one core for comparison, and
    step by step with actions that the GPU chooses (their choice included), checked, with masks.
    Medians of repeats after a warm-up that compiles; the GPU is waited for.

    Raises:
        OptionError: there is no GPU.
    """
    if not cuda.is_available():
        raise OptionError(
            "there is no GPU here that Numba can use; python -m numba -s says what it finds"
        )
    steps = scale.of(100)
    for seen in ("mask", "mask and codes"):
        games = Games(4096, seed=1, **SEEN[seen])
        name = f"one core, random play, {seen}, 4096 games"
        yield scale.measure(name, "decisions/s", lambda g=games: random_play(g, steps))  # type: ignore[misc]
    for number, seen in product((2**12, 2**15, 2**18, 2**20), ("mask", "mask and codes")):
        device = DeviceGames(scale.of(number), seed=1, **SEEN[seen])

        def inside(games: DeviceGames = device) -> float:
            return games.num_games * steps / seconds(lambda: random_steps(games, steps))

        def outside(games: DeviceGames = device) -> float:
            return games.num_games * steps / seconds(lambda: chosen_steps(games, steps))

        yield scale.measure(f"GPU, random play, {seen}, {number} games", "decisions/s", inside)
        yield scale.measure(f"GPU, actions there, {seen}, {number} games", "decisions/s", outside)


def random_steps(games: DeviceGames, steps: int) -> None:
    """Play at random inside one kernel."""
    games.play_random(steps)
    cuda.synchronize()


def chosen_steps(games: DeviceGames, steps: int) -> None:
    """Step with actions that the GPU chooses."""
    number = games.num_games
    rows, actions = cuda.to_device(np.arange(number)), cuda.device_array(number, np.int64)
    uniforms = cuda.device_array(number, np.float64)
    blocks = -(-number // kernels.THREADS)
    for _ in range(steps):
        kernels.uniforms[blocks, kernels.THREADS](games.state, rows, NONE, 0, uniforms)
        choose[blocks, kernels.THREADS](games.mask, uniforms, actions)
        games.step(actions)
    games.check()
    cuda.synchronize()
