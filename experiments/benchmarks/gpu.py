"""Does a GPU play the same games, and how fast? ``python -m experiments.benchmarks.gpu`` says so, beside one core.

First 1,000 whole games of every kind of table are compared with the processor's, position by position. Then the figures of
``python -m experiments.benchmarks.speed --device cuda``: random play inside one kernel, as in the compiled loop; and steps with
actions that the GPU chooses (their choice included), checked, with masks, and with the codes of observations; and the learner's
decisions a second of the trainer with all on the GPU, its network 256 units wide. Each is the median of repeats after a warm-up
that compiles; the GPU is waited for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, Final

import numpy as np

from experiments.benchmarks.figures import Figure, figure, report, seconds
from skyenv import Games
from skyenv.checks import check_integer
from skyenv.commands import exit_code
from skyenv.cuda import Games as DeviceGames
from skyenv.cuda import kernels
from skyenv.cuda.arrays import cuda
from skyenv.errors import OptionError
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES
from skyenv.rules.state import NONE

METHOD: Final = "median of repeats after a warm-up; random legal play; 2 players, front side, unless said otherwise"
COMPARED: Final = 1_000
"""Games of each kind of table that are compared."""
AT_A_TIME: Final = 40
"""Decisions between two looks at all positions."""
SIZES: Final = (2**12, 2**15, 2**18, 2**20)
BLOCKS: Final = (32, 64, 128, 256)
TRAINED_ON: Final = (2**13, 2**15, 2**16)
"""Games side by side of the trainers that are measured."""
SEEN: Final[dict[str, dict[str, Any]]] = {"mask": {"observe": False}, "mask and codes": {"observation": "codes"}}


@kernels.kernel
def choose(mask: Any, uniforms: Any, actions: Any) -> None:
    """A uniformly random legal action for every row; uniforms: float64 (n,) in [0, 1)."""
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


def differences(num_games: int = COMPARED) -> list[str]:
    """The kinds of tables at which a GPU's games are not the processor's, byte for byte; none if all is well.

    Args:
        num_games: whole games of each kind.
    """
    wrong = []
    for players, side in product(range(MIN_PLAYERS, MAX_PLAYERS + 1), SIDES):
        options: dict[str, Any] = {"seed": 1, "autoreset": False, "observation": "codes"}
        host = Games(check_integer("num_games", num_games, 1, 10**6), players, side, **options)
        device = DeviceGames(num_games, players, side, **options)
        same = True
        while same and (host.seat >= 0).any():
            host.play_random(AT_A_TIME)
            device.play_random(AT_A_TIME)
            names = ("state", "mask", "seat", "observation", "reward", "done", "truncated")
            same = all(getattr(host, name).tobytes() == getattr(device, name).numpy().tobytes() for name in names)
        if not same:
            wrong.append(f"{players} players, {side} side")
    return wrong


def pace(num_games: int, steps: int, repeats: int, once: Callable[[], object]) -> list[float]:
    """Decisions per second of `once`, which plays so many steps of so many games."""

    def waited_for() -> None:
        once()
        cuda.synchronize()

    waited_for()
    return [num_games * steps / seconds(waited_for) for _ in range(repeats)]


def random_play(num_games: int, what: str, steps: int, repeats: int, players: int = 2) -> Figure:
    """Decisions per second of random play inside one kernel."""
    games = DeviceGames(num_games, players, seed=1, **SEEN[what])
    name = f"GPU, random play, {what}, {num_games} games, {players} players, blocks of {kernels.THREADS}"
    return figure(name, "decisions/s", pace(num_games, steps, repeats, lambda: games.play_random(steps)))


def chosen_actions(num_games: int, what: str, steps: int, repeats: int, checked: bool) -> Figure:
    """Decisions per second of steps with actions that the GPU chooses."""
    games = DeviceGames(num_games, seed=1, check=checked, **SEEN[what])
    games.play_random(300)  # into all parts of the games
    rows, actions = cuda.to_device(np.arange(num_games)), cuda.device_array(num_games, np.int64)
    uniforms = cuda.device_array(num_games, np.float64)  # nothing is allocated while the clock runs
    blocks = -(-num_games // kernels.THREADS)

    def play() -> None:
        for _ in range(steps):
            kernels.uniforms[blocks, kernels.THREADS](games.state.array, rows, NONE, 0, uniforms)
            choose[blocks, kernels.THREADS](games.mask.array, uniforms, actions)
            games.step(actions)
        games.check()

    name = f"GPU, actions chosen there, {what}, {num_games} games{', each step waited for' if checked else ''}"
    return figure(name, "decisions/s", pace(num_games, steps, repeats, play))


def on_processor(what: str, repeats: int, decisions: int) -> Figure:
    """The same random play on one core."""
    games = Games(4096, seed=1, **SEEN[what])
    steps = decisions // 4096
    games.play_random(steps)
    paces = [4096 * steps / seconds(lambda: games.play_random(steps)) for _ in range(repeats)]
    return figure(f"one core, random play, {what}, 4096 games", "decisions/s", paces)


def all_figures(quick: bool) -> list[Figure]:
    """Measure everything.

    Args:
        quick: less work, and less precision.

    Raises:
        OptionError: there is no GPU.
    """
    if not cuda.is_available():
        raise OptionError("there is no GPU here that Numba can use; python -m numba -s says what it finds")
    repeats, steps = (3, 20) if quick else (7, 100)
    sizes = SIZES[:3] if quick else SIZES
    figures = [on_processor(what, repeats, 400_000 if quick else 4_000_000) for what in SEEN]
    figures += [random_play(num_games, what, steps, repeats) for num_games, what in product(sizes, SEEN)]
    figures += [random_play(sizes[-1], "mask", steps, repeats, players) for players in (3, 4)]
    for num_games, what, checked in product(sizes, SEEN, (False, True)):
        figures.append(chosen_actions(num_games, what, steps, repeats, checked))
    usual = kernels.THREADS
    try:
        for kernels.THREADS in BLOCKS:
            figures.append(random_play(2**18, "mask", steps, repeats))
            figures.append(chosen_actions(2**18, "mask", steps, repeats, False))
    finally:
        kernels.THREADS = usual  # type: ignore[misc]
    return figures + training(quick)


def training(quick: bool) -> list[Figure]:
    """Learner's decisions per second of the trainer wholly on the GPU; none where PyTorch finds no GPU."""
    import torch

    from experiments.training.throughput import on_device

    if not torch.cuda.is_available():
        print("PyTorch finds no GPU here, so the trainer isn't measured", file=sys.stderr)
        return []
    return [on_device(games, 32 if quick else 64) for games in ((2**12,) if quick else TRAINED_ON)]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""

    def compared_first(quick: bool) -> list[Figure]:
        if cuda.is_available() and (wrong := differences(100 if quick else COMPARED)):
            raise OptionError(f"the GPU plays other games than the processor: {'; '.join(wrong)}")
        return all_figures(quick)

    what = "Compare a GPU's games with the processor's, and measure how fast it plays."
    return exit_code("gpu", lambda: report("gpu", what, METHOD, compared_first, arguments))


if __name__ == "__main__":
    sys.exit(main())
