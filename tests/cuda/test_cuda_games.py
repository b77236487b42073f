"""Games on the GPU are the CPU's, bit for bit: Numba's simulator of CUDA shows it in plain Python,
and a GPU where there is one.

This file is also a program, ``python tests/cuda/test_cuda_games.py PLAYERS SIDE …``: it plays there
and prints digests; or, with the name of a part instead, what came of that.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest
from cuda_places import everywhere, variables

from processes import printed
from skyenv import Games

TABLES = [(players, side) for players in (2, 3, 4) for side in ("front", "back")]
ARRAYS = ("state", "mask", "seat", "observation", "reward", "done", "truncated", "finished")
ROWS = 3
SHORT = {"max_turns": 60, "reward": "margin"}
"""Games that end soon, and whose rewards come often."""


def on_host(array: Any) -> Any:
    """An array in ordinary memory."""
    return array.copy_to_host() if hasattr(array, "copy_to_host") else array


def digest(games: Any) -> str:
    """A short digest of all that a batch tells."""
    content = hashlib.sha256()
    for name in ARRAYS:
        content.update(np.ascontiguousarray(on_host(getattr(games, name))).tobytes())
    return content.hexdigest()[:16]


def told(games: Any, act: Callable[[], None]) -> str:
    """What a mistake is answered with; nothing has changed by it."""
    before = digest(games)
    try:
        act()
    except Exception as error:
        assert digest(games) == before
        return f"{type(error).__name__}: {error}"
    return "nothing"


def played(make: Callable[..., Any], players: int, side: str) -> Iterator[str]:
    """A digest after everything that can be done with a batch."""
    games = make(ROWS, players, side, 7, observation="codes", **SHORT)
    yield digest(games)
    for number in range(40):  # given actions
        legal = [np.flatnonzero(mask) for mask in on_host(games.mask)]
        games.step([actions[number % len(actions)] for actions in legal])
        yield digest(games)
    while not on_host(games.done).any():  # whole games, and into the next ones
        games.play_random(10, salt=3)
        yield digest(games)
    games.play_random(30, salt=3)
    games.step([np.flatnonzero(on_host(games.mask)[2])[0]], rows=[2])
    yield digest(games)
    yield told(games, lambda: games.step([0, 102, 0]))
    yield told(games, lambda: games.step([-1, 0, 0]))
    yield told(games, lambda: games.step([0], rows=[ROWS]))
    first = int(np.flatnonzero(on_host(games.mask)[1])[0])
    yield told(games, lambda: games.step([first, first], rows=[1, 1]))
    yield told(games, lambda: games.step([0.5, 1, 1]))
    yield told(games, lambda: games.reset(-4))
    games.reset()
    yield digest(games)
    games.reset(99, rows=[1])
    yield digest(games)
    games.reset([5, 2**63 - 1], rows=[2, 0])
    yield digest(games)
    yield on_host(games.uniforms(salt=4)).tobytes().hex()
    yield on_host(games.uniforms(rows=[2, 0])).tobytes().hex()
    yield hashlib.sha256(on_host(games.observe(players - 1)).tobytes()).hexdigest()
    yield hashlib.sha256(on_host(games.observe([1, 0], rows=[2, 1])).tobytes()).hexdigest()
    twin = games.copy()
    twin.play_random(5)
    yield digest(games)
    yield digest(twin)


def without_resets(make: Callable[..., Any], players: int, side: str) -> Iterator[str]:
    """Games that end and stay so, with scaled observations and the outcome as reward."""
    games = make(ROWS, players, side, [3, 8, 2**63 - 1], autoreset=False, agent_seed=5)
    while (on_host(games.seat) >= 0).any():
        games.play_random(100)
        yield digest(games)
    yield told(games, lambda: games.step([0, 0, 0]))
    yield on_host(games.uniforms()).tobytes().hex()


def back_and_forth(games: Any) -> Iterator[bool]:
    """Games in ordinary memory, brought back, go on as these; how they ended can be looked at from
    any seat.
    """
    host = games.on_host()
    back = type(games).from_host(host)
    for played in (back, host):
        played.play_random(400)
    names = ("state", "mask", "observation", "finished")
    yield all(
        on_host(getattr(back, name)).tobytes() == getattr(host, name).tobytes() for name in names
    )
    seen, expected = (on_host(each.observe(1, [1, 0], each.finished)) for each in (back, host))
    yield seen.tobytes() == expected.tobytes() != on_host(back.observe(1, [1, 0])).tobytes()
    yield told(games, lambda: games.observe(0, state=games.mask)).startswith(
        "OptionError: state must"
    )


def device_only() -> Iterator[Any]:
    """What only games on the GPU have."""
    from skyenv.cuda import Games as DeviceGames

    games = DeviceGames(2, seed=1, wait=False)
    before = digest(games)
    games.step([102, 0])
    games.step(
        [int(np.flatnonzero(mask)[0]) for mask in games.mask.copy_to_host()]
    )  # legal, but too late
    yield digest(games) == before
    yield told(games, lambda: games.play_random(1)).startswith(
        "IllegalActionError: row 0: action 102"
    )
    games.check()
    games.step([int(np.flatnonzero(mask)[0]) for mask in games.mask.copy_to_host()])
    yield digest(games) != before
    yield games.on_host().state.tobytes() == games.state.copy_to_host().tobytes()
    yield games.on_host().seeds.tolist() == games.seeds.tolist()
    yield from back_and_forth(games)
    state = games.state.copy_to_host()
    state["seed"] = -1
    games.state.copy_to_device(state)
    games.refresh()
    host = games.on_host()
    host.reset()
    games.reset()
    yield host.seeds.tolist() == games.seeds.tolist()
    state = games.state.copy_to_host()
    state["score"] += 3
    games.state.copy_to_device(state)
    games.refresh()
    yield on_host(games.state)["score"].tolist()


def in_slices() -> Iterator[bool]:
    """Random play in slices is that in one kernel; it ends with the games, and Ctrl-C between two
    slices leaves all in order.
    """
    import skyenv.cuda.games as engine
    from skyenv.cuda.kernels import cuda

    kinds: tuple[tuple[dict[str, Any], int], ...] = (({}, 50), ({"autoreset": False}, 400))
    waited = mock.Mock(wraps=cuda.synchronize)
    with mock.patch.object(cuda, "synchronize", waited):
        for options, steps in kinds:
            whole, sliced = (
                engine.Games(ROWS, seed=5, observation="codes", max_turns=8, **options)
                for _ in range(2)
            )
            whole.play_random(steps, salt=3)
            yield not waited.called
            with mock.patch.object(engine, "DECISIONS_AT_A_TIME", 7 * ROWS):
                sliced.play_random(steps, salt=3)
            yield digest(sliced) == digest(whole)
            yield (
                waited.call_count == 7 if steps == 50 else 7 < waited.call_count < 50
            )  # sooner than after 400 steps
            waited.reset_mock()
    yield bool((whole.seat.copy_to_host() < 0).all())
    stopped, shorter = (engine.Games(ROWS, seed=5, observation="codes") for _ in range(2))
    shorter.play_random(8)
    interrupted = mock.patch.object(cuda, "synchronize", side_effect=[None, KeyboardInterrupt])
    with (
        mock.patch.object(engine, "STEPS_AT_A_TIME", 4),
        interrupted,
        contextlib.suppress(KeyboardInterrupt),
    ):
        stopped.play_random(100)
    yield digest(stopped) == digest(shorter)


PARTS: dict[str, Callable[[], Iterator[Any]]] = {
    "own": device_only,
    "slices": in_slices,
}


def all_of(make: Callable[..., Any], tables: Iterable[tuple[int, str]]) -> list[str]:
    """All digests of some kinds of tables."""
    return [
        one for table in tables for way in (played, without_resets) for one in way(make, *table)
    ]


@pytest.mark.parametrize(
    ("place", "tables"),
    [*(("simulator", [table]) for table in [(2, "front"), (4, "back")]), ("gpu", TABLES)],
)
def test_the_same_games_as_on_the_cpu(place: str, tables: list[tuple[int, str]]) -> None:
    """On a GPU in one process, which compiles the rules but once."""
    words = [str(word) for table in tables for word in table]
    told = json.loads(printed(__file__, *words, environment=variables(place)))
    expected = all_of(Games, tables)
    assert len(told) == len(expected)
    assert [
        number
        for number, (one, other) in enumerate(zip(told, expected, strict=True))
        if one != other
    ] == []


@everywhere
def test_what_only_games_on_the_gpu_have(place: str) -> None:
    *flags, scores = json.loads(printed(__file__, "own", environment=variables(place)))
    assert flags == [True] * 9
    assert scores == [[3] * 4] * 2


@everywhere
def test_random_play_in_slices(place: str) -> None:
    assert json.loads(printed(__file__, "slices", environment=variables(place))) == [True] * 8


def test_launches_of_few_blocks_warn_of_nothing() -> None:
    """As Numba would at every launch, which no GPU is needed to prepare."""
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
    """Play there and print what it came to."""
    from skyenv.cuda import Games as DeviceGames

    if sys.argv[1] in PARTS:
        print(json.dumps(list(PARTS[sys.argv[1]]())))
        return
    tables = zip(map(int, sys.argv[1::2]), sys.argv[2::2], strict=True)
    print(json.dumps(all_of(DeviceGames, tables)))


if __name__ == "__main__":
    main()
