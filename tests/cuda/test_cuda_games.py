"""Games on the GPU are the CPU's, bit for bit: Numba's simulator of CUDA shows it in plain Python,
and a GPU where there is one.

This file is also a program, ``python tests/cuda/test_cuda_games.py TURNS PLAYERS SIDE …``: it plays
there and prints digests; or, with the name of a part instead, what came of that.
"""

import contextlib
import functools
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest

from processes import ROOT, printed
from skyenv import Games

TABLES = [(12, players, side) for players in (2, 3, 4) for side in ("front", "back")]
ARRAYS = ("state", "mask", "seat", "observation", "reward", "done", "truncated", "finished")
ROWS = 3
FOLDERS = os.pathsep.join(str(ROOT / folder) for folder in ("agents", "tests"))


def variables(place: str) -> dict[str, str | None]:
    """The variables of a process that plays in Numba's simulator of CUDA, or on a GPU; skips the
    test where there is none.
    """
    switch = "1" if place == "simulator" else None
    chosen = {"NUMBA_ENABLE_CUDASIM": switch, "NUMBA_DISABLE_JIT": switch, "PYTHONPATH": FOLDERS}
    if place == "gpu" and not has_gpu(tuple(chosen.items())):
        pytest.skip("there is no GPU here that Numba can use")
    return chosen


@functools.cache
def has_gpu(environment: tuple[tuple[str, str | None], ...]) -> bool:
    """Whether Numba finds a GPU; asked in a process of its own, lest this one keep memory there."""
    program = "from skyenv.cuda.kernels import cuda; print(cuda.is_available())"
    return printed("-c", program, environment=dict(environment)).strip() == "True"


def on_host(array: Any) -> Any:
    """An array in ordinary memory."""
    return array.copy_to_host() if hasattr(array, "copy_to_host") else array


def digest(games: Any) -> str:
    """Return a short digest of a batch's outputs."""
    content = hashlib.sha256()
    for name in ARRAYS:
        content.update(np.ascontiguousarray(on_host(getattr(games, name))).tobytes())
    return content.hexdigest()[:16]


def told(games: Any, act: Callable[[], None]) -> str:
    """Return the error of an invalid call, which changes nothing."""
    before = digest(games)
    try:
        act()
    except Exception as error:
        assert digest(games) == before
        return f"{type(error).__name__}: {error}"
    return "nothing"


def played(make: Callable[..., Any], turns: int, players: int, side: str) -> Iterator[str]:
    """Return a digest after every operation of a batch."""
    games = make(ROWS, players, side, 7, max_turns=turns, reward="margin")
    for number in range(2 * turns):  # given actions
        yield digest(games)
        legal = [np.flatnonzero(mask) for mask in on_host(games.mask)]
        games.step([actions[number % len(actions)] for actions in legal])
    while not on_host(games.done).any():  # whole games, and into the next ones
        games.play_random(10, salt=3)
        yield digest(games)
    games.play_random(30, salt=3)
    games.step([np.flatnonzero(on_host(games.mask)[2])[0]], rows=[2])
    yield digest(games)
    first = int(np.flatnonzero(on_host(games.mask)[1])[0])
    yield told(games, lambda: games.step([0, 102, 0]))
    yield told(games, lambda: games.step([-1, 0, 0]))
    yield told(games, lambda: games.step([0], rows=[ROWS]))
    yield told(games, lambda: games.step([first, first], rows=[1, 1]))
    yield told(games, lambda: games.step([0.5, 1, 1]))
    yield told(games, lambda: games.reset(-4))
    for seed, rows in ((None, None), (99, [1]), ([5, 2**63 - 1], [2, 0])):
        games.reset(seed, rows)
        yield digest(games)
    seen = games.observe(players - 1), games.observe([1, 0], rows=[2, 1])
    for array in (games.uniforms(salt=4), games.uniforms(rows=[2, 0]), *seen):
        yield hashlib.sha256(on_host(array).tobytes()).hexdigest()
    twin = games.copy()
    twin.play_random(5)
    yield digest(games)
    yield hashlib.sha256(on_host(twin.state).tobytes()).hexdigest()


def without_resets(make: Callable[..., Any], turns: int, players: int, side: str) -> Iterator[str]:
    """Return a digest of games that end and stay over, outcome rewards."""
    seeds = [3, 8, 2**63 - 1]
    games = make(ROWS, players, side, seeds, autoreset=False, agent_seed=5, max_turns=turns)
    while (on_host(games.seat) >= 0).any():
        games.play_random(100)
        yield digest(games)
    yield told(games, lambda: games.step([0, 0, 0]))
    yield on_host(games.uniforms()).tobytes().hex()


def device_only() -> Iterator[bool]:
    """Return flags of GPU-only features: late errors, edits on the device, copies to the host."""
    from skyenv.cuda import Games as DeviceGames

    games = DeviceGames(2, seed=1, wait=False, max_turns=4)
    before = digest(games)
    legal = [int(np.flatnonzero(mask)[0]) for mask in on_host(games.mask)]
    games.step([102, 0])
    games.step(legal)  # too late
    yield digest(games) == before
    yield "row 0: action 102" in told(games, lambda: games.play_random(1))
    games.check()
    games.step(legal)
    yield digest(games) != before
    yield "state must be" in told(games, lambda: games.observe(0, state=games.mask))
    state = on_host(games.state)
    state["seed"][0], state["score"] = -1, 3
    games.state.copy_to_device(state)
    games.refresh()
    host = games.on_host()
    yield host.state.tobytes() == on_host(games.state).tobytes()
    scaled = Games(1, seed=1)
    yield digest(DeviceGames.from_host(scaled)) == digest(scaled)
    back = DeviceGames.from_host(host)
    for played in (back, host):
        played.reset(rows=[0])  # without a seed of its own it goes on from the first one's
        played.play_random(60)
    yield host.seeds.tolist() == back.seeds.tolist()
    yield digest(back) == digest(host)
    finished = on_host(back.copy().finished)
    yield finished.tobytes() == host.finished.tobytes() != bytes(finished.nbytes)
    seen, expected = (on_host(each.observe(1, [1, 0], each.finished)) for each in (back, host))
    yield seen.tobytes() == expected.tobytes() != on_host(back.observe(1, [1, 0])).tobytes()


def in_slices() -> Iterator[bool]:
    """Random play in slices is that in one kernel; Ctrl-C between two slices leaves all in
    order.
    """
    import skyenv.cuda.games as engine
    from skyenv.cuda.kernels import cuda

    short = mock.patch.object(engine, "DECISIONS_AT_A_TIME", 4 * ROWS)
    for autoreset in (True, False):
        whole, sliced, stopped, shorter = (
            engine.Games(ROWS, seed=5, autoreset=autoreset, max_turns=3) for _ in range(4)
        )
        whole.play_random(120, salt=3)
        shorter.play_random(8)
        with short:
            sliced.play_random(120, salt=3)
        yield digest(sliced) == digest(whole)
        broken = mock.patch.object(cuda, "synchronize", side_effect=[None, KeyboardInterrupt])
        with short, broken, contextlib.suppress(KeyboardInterrupt):
            stopped.play_random(100)
        yield digest(stopped) == digest(shorter)


PARTS: dict[str, Callable[[], Iterator[bool]]] = {"own": device_only, "slices": in_slices}


def all_of(make: Callable[..., Any], tables: Iterable[tuple[int, int, str]]) -> list[str]:
    """Return the digests of several tables."""
    return [
        one for table in tables for way in (played, without_resets) for one in way(make, *table)
    ]


@pytest.mark.parametrize(
    ("place", "tables"),
    [
        ("simulator", [(4, 4, "back")]),
        pytest.param("simulator", [(12, 2, "front"), (12, 3, "back")], marks=pytest.mark.long),
        ("gpu", TABLES),
    ],
)
def test_games_on_the_gpu_are_those_of_the_cpu(
    place: str, tables: list[tuple[int, int, str]]
) -> None:
    """In one process, which compiles the rules once."""
    words = [str(word) for table in tables for word in table]
    seen = json.loads(printed(__file__, *words, environment=variables(place)))
    assert list(enumerate(seen)) == list(enumerate(all_of(Games, tables)))


@pytest.mark.parametrize(
    ("part", "place"),
    [
        ("own", "simulator"),
        pytest.param("slices", "simulator", marks=pytest.mark.long),
        *((part, "gpu") for part in PARTS),
    ],
)
def test_calls_that_exist_only_on_the_gpu(part: str, place: str) -> None:
    flags = json.loads(printed(__file__, part, environment=variables(place)))
    assert len(flags) > 3
    assert all(flags), flags


def test_launches_of_few_blocks_raise_no_warning() -> None:
    """Numba warns at every launch otherwise; no GPU is needed."""
    pytest.importorskip(
        "numba_cuda", reason="numba-cuda isn't installed: pip install 'numba-cuda[cu13]'"
    )
    environment = {"NUMBA_ENABLE_CUDASIM": None, "NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS": None}
    printed(
        "-W",
        "error",
        "-c",
        "from skyenv.cuda import kernels; kernels.play[1, 128]",
        environment=environment,
    )


def main() -> None:
    """Print the digests of games played on the device."""
    from skyenv.cuda import Games as DeviceGames

    if sys.argv[1] in PARTS:
        print(json.dumps(list(PARTS[sys.argv[1]]())))
        return
    turns, players, sides = (sys.argv[first::3] for first in (1, 2, 3))
    tables = zip(map(int, turns), map(int, players), sides, strict=True)
    print(json.dumps(all_of(DeviceGames, tables)))


if __name__ == "__main__":
    main()
