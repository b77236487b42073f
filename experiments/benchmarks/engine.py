"""The speed of the engine and of determinizations."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from experiments.figures import Figure, Scale, figure, per_second, seconds
from skyenv import OBSERVATION_SIZE, Games
from skyenv.checks import Int64
from skyenv.engine.knowledge import resample, view
from skyenv.rules.state import Array

SEEN: Final[dict[str, dict[str, Any]]] = {
    "mask": {"observation": None},
    "mask and codes": {"observation": "codes"},
    "mask and observation": {},
}
"""What a step writes beside rewards and ends, as options of :class:`skyenv.Games`."""
UNIT: Final = "positions/s"


def speed(scale: Scale) -> Iterator[Figure]:
    """Random legal play, 2 players, front side, unless said otherwise; medians of repeats after a
    warm-up. "Random play" runs inside the compiled loop and chooses, too. "Actions from NumPy" are
    chosen outside, which isn't timed; handing them over and checking them is.
    """
    for seen, threads, players in [*product(SEEN, (1, 2), (2,)), *product(SEEN, (1,), (4,))]:
        games = Games(scale.of(4096), players, seed=1, threads=threads, **SEEN[seen])
        name = f"random play, {seen}, 4096 games, {players} players, threads {threads}"
        yield scale.measure(name, "decisions/s", partial(random_play, games, scale.of(1000)))
    for number, seen in product((1, 256, 1024, 16384), SEEN):
        steps = scale.of(max(50, min(4000, 400_000 // number)))
        plays = {
            f"actions from NumPy, {seen}, games {number}, threads {threads}": partial(
                numpy_steps, Games(number, seed=1, threads=threads, **SEEN[seen]), steps
            )
            for threads in ((1, 2) if number > 256 else (1,))
        }
        yield from scale.in_turns("decisions/s", plays)
    for name, size in (("game", games.state.itemsize), ("observation", 4 * OBSERVATION_SIZE)):
        yield figure(f"size of a {name}", "bytes", [size])


def random_play(games: Games, steps: int) -> float:
    """Return the decisions per second of play inside the compiled loop."""
    return per_second(games.num_games * steps, partial(games.play_random, steps))


def legal_choice(
    mask: npt.NDArray[np.int8], generator: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Draw a legal action for every row of a mask."""
    sums = np.cumsum(mask, axis=1, dtype=np.int64)
    tickets = generator.integers(0, sums[:, -1])
    chosen: npt.NDArray[np.int64] = np.argmax(sums > tickets[:, None], axis=1)
    return chosen


def numpy_steps(games: Games, steps: int) -> float:
    """Return the decisions per second when every step's actions come from NumPy."""
    generator, spent = np.random.default_rng(1), 0.0
    for _ in range(steps):
        actions = legal_choice(games.mask, generator)
        spent += seconds(lambda actions=actions: games.step(actions))  # type: ignore[misc]
    return games.num_games * steps / spent


def resampling(scale: Scale) -> Iterator[Figure]:
    """Positions that a seat can't tell apart, drawn from the middle of random play (100 decisions),
    front side, one thread; views are made before, unless they are measured. Medians of repeats
    after a warm-up.
    """
    for players, batch in product((2, 3, 4), (1, 100, 10_000)):
        games = middle_games(scale.of(20), players)
        once = partial(drawn_from_each, view(games.state, games.seat), np.arange(batch))
        yield scale.measure(f"from one view, batches of {batch}, {players} players", UNIT, once)
    for players in (2, 3, 4):
        games = middle_games(scale.of(4096), players)
        number, look = games.num_games, partial(view, games.state, games.seat)
        draw = partial(resample, look(), np.arange(number))
        once = partial(per_second, number, draw)
        yield scale.measure(f"from different views, {players} players", UNIT, once)
        once = partial(per_second, number, look)
        yield scale.measure(f"making views, {players} players", "views/s", once)


def drawn_from_each(views: Array, seeds: Int64) -> float:
    """Return the positions per second that are drawn from one view after the other."""
    draw = partial(resample, seeds=seeds)
    return per_second(len(views) * len(seeds), lambda: [draw(one) for one in views])


def middle_games(number: int, players: int) -> Games:
    """Return games in their middle."""
    games = Games(number, players, seed=1, observation=None)
    games.play_random(100)
    return games
