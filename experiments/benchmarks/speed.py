"""How fast is it? ``python -m experiments.benchmarks.speed`` prints the figures of the README's
speed table.

Method: every figure is the median of repeats, after a warm-up that compiles. "Random play" runs
inside the compiled loop (:meth:`skyenv.Games.play_random`), each game so many decisions in a row; a
choice costs what it costs the built-in random agent. "With actions from NumPy" hands one action a
game to :meth:`skyenv.Games.step`; choosing the actions is not timed, handing them over, checking
them, masks (and observations or their codes, where said) are. One thread and two take turns there,
a step each. Environments are timed in the usual ``agent_iter`` loop, without choosing the action.
Compile and start-up times are those of fresh processes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from experiments.benchmarks import gpu
from experiments.benchmarks.figures import Figure, figure, measure, report, seconds
from skyenv import OBSERVATION_SIZE, Game, Games, fifth_avenue_v0
from skyenv.agents import RandomAgent, decide_game
from skyenv.commands import exit_code
from skyenv.engine.kernels import SLOT_DTYPE
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.state import GAME_DTYPE

METHOD: Final = "median of repeats after a warm-up; random legal play; 2 players, front side, unless said otherwise"
START: Final = """
import time
started = time.perf_counter()
from skyenv import Games
games = Games(1, seed=1)
games.step([int(games.mask[0].argmax())])
if EVERYTHING:
    from skyenv.engine.games import results
    from skyenv.engine.knowledge import view
    games.observe(0), games.uniforms(), results(games.state), view(games.state, 0)
print(time.perf_counter() - started)
"""


def random_play(
    num_games: int, threads: int, what: str, decisions: int, repeats: int, players: int = 2
) -> Figure:
    """Decisions per second of random play inside the compiled loop."""
    games = Games(num_games, players, seed=1, threads=threads, **SEEN[what])
    steps = max(1, decisions // num_games)
    games.play_random(min(steps, 50))  # into the middle of the games
    name = f"random play, {what}, {num_games} games, {players} players, {threads} thread{'s' * (threads > 1)}"
    return measure(
        name,
        "decisions/s",
        repeats,
        lambda: num_games * steps / seconds(lambda: games.play_random(steps)),
    )


def legal_choice(
    mask: npt.NDArray[np.int8], generator: np.random.Generator
) -> npt.NDArray[np.int64]:
    """A uniformly random legal action for every row of a mask."""
    sums = np.cumsum(mask, axis=1, dtype=np.int64)
    tickets = generator.integers(0, sums[:, -1])
    chosen: npt.NDArray[np.int64] = np.argmax(sums > tickets[:, None], axis=1)
    return chosen


SEEN: Final[dict[str, dict[str, Any]]] = {
    "mask": {"observation": None},
    "mask and codes": {"observation": "codes"},
    "mask and observation": {},
}
"""What is written in a step beside rewards and ends, as options of :class:`skyenv.Games`."""


def numpy_actions(
    num_games: int, what: str, decisions: int, repeats: int, threads: Sequence[int] = (1,)
) -> list[Figure]:
    """Decisions per second when every step's actions come from NumPy.

    Args:
        num_games: side by side. what: of `SEEN`. decisions: in a repeat.
        threads: numbers of threads to compare: batches with so many take turns, a step each, so
            that whatever else the machine does slows all of them down. The last figures tell how
            many times the first batch's pace the others' are.
    """
    batches = [Games(num_games, seed=1, threads=number, **SEEN[what]) for number in threads]
    generators = [np.random.default_rng(1) for _ in batches]
    for games in batches:
        games.play_random(300)  # into all parts of the games
    steps = max(5, decisions // num_games)

    def once() -> list[float]:
        spent = [0.0] * len(batches)
        for step in range(steps):
            for i in range(len(batches))[
                :: 1 if step % 2 else -1
            ]:  # whoever comes second is favoured
                actions = legal_choice(batches[i].mask, generators[i])
                started = time.perf_counter()
                batches[i].step(actions)
                spent[i] += time.perf_counter() - started
        return [num_games * steps / one for one in spent]

    once()
    paces = list(zip(*(once() for _ in range(repeats)), strict=True))
    name = f"actions from NumPy, {what}, {num_games} game{'s' * (num_games > 1)}"
    figures = [
        figure(f"{name}, {number} thread{'s' * (number > 1)}", "decisions/s", pace)
        for number, pace in zip(threads, paces, strict=True)
    ]
    for number, pace in zip(threads[1:], paces[1:], strict=True):
        ratios = [mine / first for mine, first in zip(pace, paces[0], strict=True)]
        figures.append(
            figure(f"{name}, {number} threads, as against {threads[0]}", "times", ratios)
        )
    return figures


def plain_memory(num_games: int, repeats: int) -> Figure:
    """How much faster two threads are than one at bare reading and writing of the memory that a
    step with the mask goes through.

    That is as much as threads can gain where memory is the limit. NumPy adds 1 to every byte, while
    Python's other threads go on.
    """
    memory = np.zeros(
        num_games * (GAME_DTYPE.itemsize + SLOT_DTYPE.itemsize + NUM_ACTIONS), np.uint8
    )
    halves = np.array_split(memory, 2)

    def add(part: npt.NDArray[np.uint8]) -> None:
        np.add(part, 1, out=part)

    with ThreadPoolExecutor(1) as pool:

        def together() -> None:
            other = pool.submit(add, halves[1])
            add(halves[0])
            other.result()

        def once() -> float:
            alone = np.median([seconds(lambda: add(memory)) for _ in range(20)])
            return float(alone / np.median([seconds(together) for _ in range(20)]))

        once()
        return measure(
            f"bare memory of {num_games} games, 2 threads, as against 1", "times", repeats, once
        )


def environment(name: str, make: Callable[[], Any], decisions: int, repeats: int) -> Figure:
    """Decisions per second of a PettingZoo environment in its usual loop."""
    env = make()
    generator = np.random.default_rng(1)

    def once() -> float:
        choosing = 0.0
        done = 0
        started = time.perf_counter()
        while done < decisions:
            env.reset(seed=done)
            for _ in env.agent_iter():
                observation, _, termination, truncation, _ = env.last()
                action = None
                if not (termination or truncation):
                    before = time.perf_counter()
                    legal = np.flatnonzero(observation["action_mask"])
                    action = int(legal[generator.integers(len(legal))])
                    choosing += time.perf_counter() - before
                    done += 1
                env.step(action)
        return done / (time.perf_counter() - started - choosing)

    once()
    return measure(name, "decisions/s", repeats, once)


def copying(repeats: int) -> list[Figure]:
    """Microseconds to copy a game: its record, and the whole handle with the history of its
    events.
    """
    games = Games(2, seed=1, observation=None)
    games.play_random(100)
    target = games.state.view(np.ndarray).copy()
    source = games.state.view(np.ndarray)
    game = Game(seed=1)
    while len(game.events) < 100:
        game.play(decide_game(game, RandomAgent()))

    def record() -> float:
        return (
            seconds(lambda: [target.__setitem__(0, source[1]) for _ in range(10000)]) / 10000 * 1e6
        )

    def handle() -> float:
        return seconds(lambda: [game.copy() for _ in range(200)]) / 200 * 1e6

    return [
        measure("copying a game's record", "µs", repeats, record),
        measure("copying a Game with its events", "µs", repeats, handle),
    ]


def starting(repeats: int) -> list[Figure]:
    """Seconds from import to the first step in a fresh process: compiling everything, and with the
    compiled code on disk.
    """

    def start(cache: str, everything: bool) -> float:
        env = {**os.environ, "NUMBA_CACHE_DIR": cache, "SKYENV_QUIET": "1"}
        program = START.replace("EVERYTHING", str(everything))
        done = subprocess.run(
            [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True
        )
        return float(done.stdout)

    with tempfile.TemporaryDirectory() as cache:
        cold = measure(
            "import to first step, everything compiled first", "s", 1, lambda: start(cache, True)
        )
        warm = measure(
            "import to first step, compiled code on disk", "s", repeats, lambda: start(cache, False)
        )
    return [cold, warm]


def threads_compared(decisions: int, repeats: int) -> list[Figure]:
    """One thread and two, with actions from NumPy, and what bare memory would allow."""
    figures = []
    for num_games in (1024, 4096, 16384):
        for what in SEEN:
            figures += numpy_actions(num_games, what, decisions, repeats, (1, 2))
    return [*figures, plain_memory(16384, repeats)]


def all_figures(quick: bool) -> list[Figure]:
    """Measure everything; `quick` takes a tenth of the work and of the precision."""
    repeats = 3 if quick else 7
    loop = 200_000 if quick else 4_000_000
    handed = 20_000 if quick else 400_000
    played = 2_000 if quick else 40_000
    figures = [
        random_play(4096, threads, what, loop, repeats)
        for what in ("mask", "mask and observation")
        for threads in (1, 2)
    ]
    figures += [
        random_play(4096, 1, what, loop, repeats, 4) for what in ("mask", "mask and observation")
    ]
    for num_games, what in product((1, 256), SEEN):
        figures += numpy_actions(
            num_games, what, handed if num_games > 1 else handed // 10, repeats
        )
    figures += threads_compared(handed, repeats)
    figures.append(
        environment("raw_env (PettingZoo, no wrappers)", fifth_avenue_v0.raw_env, played, repeats)
    )
    figures.append(
        environment("env() (PettingZoo's usual wrappers)", fifth_avenue_v0.env, played, repeats)
    )
    figures += copying(repeats)
    figures += starting(repeats)
    for name, size in (
        ("a game's record", GAME_DTYPE.itemsize),
        ("an observation", 4 * OBSERVATION_SIZE),
    ):
        figures.append(Figure(f"bytes of {name}", size, size, size, "bytes", 1))
    return figures


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return exit_code(
        "speed",
        lambda: report(
            "speed",
            "Measure how fast skyenv is.",
            METHOD,
            all_figures,
            arguments,
            on_gpu=gpu.all_figures,
        ),
    )


if __name__ == "__main__":
    sys.exit(main())
