"""Speed of the engine and of determinizations."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any, Final

import numpy as np

from experiments.figures import Figure, Scale, figure, per_second, seconds
from skyenv import OBSERVATION_SIZE, Games
from skyenv.array_types import Int8, Int64
from skyenv.engine.knowledge import resample, view
from skyenv.engine.thread_pool import worthwhile_threads
from skyenv.rules.record import Array

# Options of :class:`skyenv.Games` by the outputs of a step, in addition to rewards and ends.
OUTPUTS: Final[dict[str, dict[str, Any]]] = {
    "mask": {"observation": False},
    "mask and observation": {},
}
UNIT: Final = "positions/s"


def speed(scale: Scale) -> Iterator[Figure]:
    """Random legal play, 2 players, front side unless stated otherwise; medians of repeats after a
    warm-up. "Random play" samples its actions inside the compiled loop. "Actions from NumPy" are
    sampled outside of it, untimed; passing and checking them is timed. Rows of two threads are
    those of batches that two threads play.
    """
    for outputs, threads, players in [
        *product(OUTPUTS, (1, 2), (2,)),
        *product(OUTPUTS, (1,), (4,)),
    ]:
        games = Games(scale.of(4096), players, seed=1, threads=threads, **OUTPUTS[outputs])
        name = f"random play, {outputs}, 4096 games, {players} players, threads {threads}"
        yield scale.measure(name, "decisions/s", partial(random_play, games, scale.of(1000)))
    for number, outputs in product((1, 256, 1024, 16384), OUTPUTS):
        steps = scale.of(max(50, min(4000, 400_000 // number)))
        plays = {
            f"actions from NumPy, {outputs}, games {number}, threads {threads}": partial(
                numpy_steps, Games(number, seed=1, threads=threads, **OUTPUTS[outputs]), steps
            )
            for threads in (1, 2)[: worthwhile_threads(number, outputs != "mask")]
        }
        yield from scale.in_turns("decisions/s", plays)
    sizes = {"a game": games.state.itemsize, "an observation": 4 * OBSERVATION_SIZE}
    for name, size in sizes.items():
        yield figure(f"size of {name}", "bytes", [size])


def random_play(games: Games, steps: int) -> float:
    """Return the decisions per second of random play inside the compiled loop."""
    return per_second(games.num_games * steps, partial(games.play_random, steps))


def legal_choice(mask: Int8, generator: np.random.Generator) -> Int64:
    """Sample a legal action for every row of a mask."""
    sums = np.cumsum(mask, axis=1, dtype=np.int64)
    tickets = generator.integers(0, sums[:, -1])
    actions: Int64 = np.argmax(sums > tickets[:, None], axis=1)
    return actions


def numpy_steps(games: Games, steps: int) -> float:
    """Return the decisions per second of steps whose actions come from NumPy."""
    generator, spent = np.random.default_rng(1), 0.0
    for _ in range(steps):
        actions = legal_choice(games.mask, generator)
        spent += seconds(lambda actions=actions: games.step(actions))  # type: ignore[misc]
    return games.num_games * steps / spent


def resampling(scale: Scale) -> Iterator[Figure]:
    """Determinizations of positions after 100 decisions of random play, front side, one thread;
    views are prepared outside the timing, unless they are measured. Medians of repeats after a
    warm-up.
    """
    for players, batch in product((2, 3, 4), (1, 100, 10_000)):
        games = middle_games(scale.of(20), players)
        once = partial(resample_each, view(games.state, games.seat), np.arange(batch))
        yield scale.measure(f"from one view, batches of {batch}, {players} players", UNIT, once)
    for players in (2, 3, 4):
        games = middle_games(scale.of(4096), players)
        number, make_views = games.num_games, partial(view, games.state, games.seat)
        sample = partial(resample, make_views(), np.arange(number))
        once = partial(per_second, number, sample)
        yield scale.measure(f"from different views, {players} players", UNIT, once)
        once = partial(per_second, number, make_views)
        yield scale.measure(f"making views, {players} players", "views/s", once)


def resample_each(views: Array, seeds: Int64) -> float:
    """Return the determinizations per second, one view after the other."""
    sample = partial(resample, seeds=seeds)
    return per_second(len(views) * len(seeds), lambda: [sample(row) for row in views])


def middle_games(number: int, players: int) -> Games:
    """Return games after 100 random decisions."""
    games = Games(number, players, seed=1, observation=False)
    games.play_random(100)
    return games
