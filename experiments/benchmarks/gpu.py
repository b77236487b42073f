"""The speed of games on a GPU (``tests/cuda`` compares them with the CPU's)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

from experiments.benchmarks.engine import SEEN, random_play
from experiments.figures import Figure, Scale, per_second
from skyenv import Games
from skyenv.cuda import Games as DeviceGames
from skyenv.cuda.kernels import cuda
from skyenv.errors import OptionError


def gpu(scale: Scale) -> Iterator[Figure]:
    """Random legal play, 2 players, front side, inside one kernel, and on one core for comparison.
    Medians of repeats after a warm-up that compiles; the GPU is waited for.
    ``examples/gpu_games.py`` measures steps whose actions PyTorch chooses.

    Raises:
        OptionError: there is no GPU.
    """
    if not cuda.is_available():
        raise OptionError(
            "there is no GPU here that Numba can use; python -m numba -s says what it finds"
        )
    steps = scale.of(100)
    for seen in ("mask", "mask and codes"):
        core = partial(random_play, Games(4096, seed=1, **SEEN[seen]), steps)
        yield scale.measure(f"one core, random play, {seen}, 4096 games", "decisions/s", core)
    for number, seen in product((2**12, 2**15, 2**18, 2**20), ("mask", "mask and codes")):
        device = DeviceGames(scale.of(number), seed=1, **SEEN[seen])
        name = f"GPU, random play, {seen}, {number} games"
        yield scale.measure(name, "decisions/s", partial(device_play, device, steps))


def device_play(games: DeviceGames, steps: int) -> float:
    """Return the decisions per second of play inside one kernel."""

    def play() -> None:
        games.play_random(steps)
        cuda.synchronize()

    return per_second(games.num_games * steps, play)
