"""Speed of games on a GPU; ``tests/cuda`` compares their results with the CPU's."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from experiments.benchmarks.engine import OUTPUTS, random_play
from experiments.figures import Figure, Scale, per_second
from skyenv import Games
from skyenv.cuda import Games as DeviceGames
from skyenv.cuda.kernels import cuda
from skyenv.errors import OptionError


def gpu(scale: Scale) -> Iterator[Figure]:
    """Random legal play, 2 players, front side, inside one kernel, without observations, and on one
    core, which writes them at every decision. Medians of repeats after a warm-up that compiles;
    timings include synchronization with the GPU. ``examples/gpu_games.py`` measures steps with
    observations and actions by PyTorch.

    Raises:
        OptionError: no GPU is available.
    """
    if not cuda.is_available():
        raise OptionError("Numba finds no usable GPU; python -m numba -s prints the reasons")
    steps = scale.of(100)
    for outputs in ("mask", "mask and observation"):
        core = partial(random_play, Games(4096, seed=1, **OUTPUTS[outputs]), steps)
        yield scale.measure(f"one core, random play, {outputs}, 4096 games", "decisions/s", core)
    for number in (2**12, 2**15, 2**18, 2**20):
        device = DeviceGames(scale.of(number), seed=1, **OUTPUTS["mask"])
        name = f"GPU, random play, mask, {number} games"
        yield scale.measure(name, "decisions/s", partial(device_play, device, steps))


def device_play(games: DeviceGames, steps: int) -> float:
    """Return the decisions per second of play inside one kernel."""

    def play() -> None:
        games.play_random(steps)
        cuda.synchronize()

    return per_second(games.num_games * steps, play)
