"""Does a GPU play the same games, and how fast? ``python -m experiments.benchmarks.gpu`` says so,
beside one core.

First 1,000 whole games of every kind of table are compared with the processor's, position by
position: played at random there, and step by step with the processor's actions. Then the figures of
``python -m experiments.benchmarks.speed --device cuda``: random play inside one kernel, as in the
compiled loop; and steps with actions that the GPU chooses (their choice included), checked, with
masks, and with the codes of observations; how many in a million of heuristic agents' decisions
between several actions are others than the processor's. A pace is the median of repeats after a
warm-up that compiles; the GPU is waited for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from experiments.benchmarks.figures import Figure, figure, report, seconds
from skyenv import Games
from skyenv.checks import check_integer
from skyenv.commands import exit_code
from skyenv.cuda import DeviceArray, kernels
from skyenv.cuda import Games as DeviceGames
from skyenv.cuda.arrays import cuda
from skyenv.errors import OptionError, SkyenvError
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES
from skyenv.rules.state import NONE

METHOD: Final = "median of repeats after a warm-up; random legal play; 2 players, front side, unless said otherwise"
COMPARED: Final = 1_000
"""Games of each kind of table that are compared."""
AT_A_TIME: Final = 40
"""Decisions of random play between two looks at all positions; steps between two looks from other
seats.
"""
TABLES: Final = tuple(product(range(MIN_PLAYERS, MAX_PLAYERS + 1), SIDES))
"""Players and side of every kind of table."""
ARRAYS: Final = ("state", "mask", "seat", "observation", "reward", "done", "truncated", "finished")
"""What a batch keeps, which must be the same."""
SIZES: Final = (2**12, 2**15, 2**18, 2**20)
BLOCKS: Final = (32, 64, 128, 256)
SEEN: Final[dict[str, dict[str, Any]]] = {
    "mask": {"observation": None},
    "mask and codes": {"observation": "codes"},
}


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


def differences(num_games: int = COMPARED, **options: Any) -> list[str]:
    """What a GPU doesn't play as the processor does, byte for byte: kinds of tables and ways of
    playing; none if all is well.

    Args:
        num_games: whole games of each kind, played in each way.
        options: of the games, such as ``max_turns``.
    """
    check_integer("num_games", num_games, 1, 10**6)
    ways = {"random play": same_random_play, "steps": same_steps}
    return [
        f"{players} players, {side} side, {way}"
        for (players, side), (way, is_same) in product(TABLES, ways.items())
        if not is_same(num_games, players, side, **options)
    ]


def both(num_games: int, players: int, side: str, **options: Any) -> tuple[Games, DeviceGames]:
    """The same games on the processor and on the GPU."""
    return Games(num_games, players, side, 1, **options), DeviceGames(
        num_games, players, side, 1, **options
    )


def same_random_play(num_games: int, players: int, side: str, **options: Any) -> bool:
    """Whether games that are played at random come to the same until all are over."""
    host, device = both(num_games, players, side, autoreset=False, observation="codes", **options)
    while is_same := same_batches(host, device):
        if not (host.seat >= 0).any():
            break
        host.play_random(AT_A_TIME)
        device.play_random(AT_A_TIME)
    return is_same


def same_steps(num_games: int, players: int, side: str, **options: Any) -> bool:
    """Whether the same actions come to the same, in all rows and in some, until a game has ended in
    each.
    """
    host, device = both(num_games, players, side, **options)
    ended = np.zeros(num_games, bool)
    number = 0
    while is_same := same_batches(host, device) and same_answers(
        host, device, number, np.flatnonzero(ended)
    ):
        if ended.all():
            break
        actions = legal_actions(host.mask, host.uniforms(salt=number))
        rows = np.arange(number % 2, num_games, 2) if number % 3 == 2 else np.arange(num_games)
        host.step(actions[rows], rows)
        device.step(actions[rows], None if len(rows) == num_games else rows)
        ended |= host.done
        number += 1
    return is_same


def same_batches(host: Games, device: DeviceGames) -> bool:
    """Whether all that two batches keep is the same."""
    return all(same_bytes(getattr(host, name), getattr(device, name)) for name in ARRAYS)


def same_answers(
    host: Games, device: DeviceGames, number: int, ended: npt.NDArray[np.int64]
) -> bool:
    """Whether both give the same random numbers and, now and then, views and refusals; ended: rows
    with a finished game.
    """
    if not same_bytes(host.uniforms(salt=number), device.uniforms(salt=number)):
        return False
    if number % AT_A_TIME != 0:
        return True
    seat, row = number // AT_A_TIME % host.num_players, number % host.num_games
    actions = legal_actions(host.mask, host.uniforms())
    actions[row] = host.mask[row].argmin()
    return (
        same_bytes(host.observe(seat), device.observe(seat))
        and same_bytes(
            host.observe(seat, ended, host.finished), device.observe(seat, ended, device.finished)
        )
        and refusal(host, actions) == refusal(device, actions) != ""
    )


def same_bytes(here: npt.NDArray[Any], there: DeviceArray) -> bool:
    """Whether two arrays hold the same, byte for byte."""
    return here.tobytes() == there.numpy().tobytes()


def legal_actions(
    mask: npt.NDArray[np.int8], uniforms: npt.NDArray[np.float64]
) -> npt.NDArray[np.int64]:
    """A legal action for every row, each as probable; uniforms: in [0, 1)."""
    legal = np.cumsum(mask, axis=1, dtype=np.int64)
    actions: npt.NDArray[np.int64] = (
        legal > (uniforms * legal[:, -1]).astype(np.int64)[:, None]
    ).argmax(axis=1)
    return actions


def refusal(games: Games | DeviceGames, actions: npt.NDArray[np.int64]) -> str:
    """What a step with these actions is answered with; nothing if it is played."""
    try:
        games.step(actions)
    except SkyenvError as error:
        return f"{type(error).__name__}: {error}"
    return ""


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
    return figure(
        name, "decisions/s", pace(num_games, steps, repeats, lambda: games.play_random(steps))
    )


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
        raise OptionError(
            "there is no GPU here that Numba can use; python -m numba -s says what it finds"
        )
    repeats, steps = (3, 20) if quick else (7, 100)
    sizes = SIZES[:3] if quick else SIZES
    figures = [on_processor(what, repeats, 400_000 if quick else 4_000_000) for what in SEEN]
    figures += [
        random_play(num_games, what, steps, repeats) for num_games, what in product(sizes, SEEN)
    ]
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
    return figures


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
