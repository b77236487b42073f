"""Equal seeds and decisions give equal games in every interface, compiled or not, and in copies.

This file is also a program, ``python tests/guarantees/test_same_game.py INTERFACE PLAYERS SIDE
TURNS``, which prints a digest of a game.
"""

import copy
import hashlib
import json
import pickle
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from interfaces import INTERFACES, RESUMED, InCuda, Interface, OneGame, Walk, walked

from processes import ROOT, printed

TABLES = [(2, "front"), (3, "back"), (4, "front")]
SOME = TABLES[1:2]
TURNS = 30
each_interface = pytest.mark.parametrize("name", INTERFACES)


@cache
def expected(players: int, side: str, turns: int = TURNS) -> tuple[Walk, bytes]:
    """The walk through a Game, and its record at the end."""
    game = OneGame(players, side, 0, max_turns=turns)
    return walked(game), game.ended()


def begun(name: str, players: int, side: str, seat: int = 1) -> Interface:
    """A new game in an interface, unless its library isn't installed."""
    try:
        return INTERFACES[name](players, side, seat, max_turns=TURNS)
    except ImportError as error:
        pytest.skip(str(error))


@pytest.mark.compiled
@each_interface
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_equal_decisions_give_the_same_game_in_every_interface(
    name: str, players: int, side: str
) -> None:
    walk, end = expected(players, side)
    assert len(walk) > 60
    for seat in range(players):
        table = begun(name, players, side, seat)
        seen = walk if table.sees_all else [step for step in walk if step[0] == seat]
        assert walked(table) == seen
        assert table.ended() == end or name == "OpenSpiel"  # whose chance has no stream
        if table.sees_all:
            break


def through_pickle(table: Any) -> Any:
    return pickle.loads(pickle.dumps(table))


@pytest.mark.compiled
@each_interface
@pytest.mark.parametrize("way", [copy.deepcopy, through_pickle], ids=["deepcopy", "pickle"])
@pytest.mark.parametrize(("players", "side"), SOME)
def test_a_copy_continues_like_the_original_and_independently(
    name: str, way: Callable[[Any], Any], players: int, side: str
) -> None:
    """From the start, the middle and the end; the copy's actions don't affect the original."""
    table = begun(name, players, side)
    if name == "OpenSpiel" and way is copy.deepcopy:
        table.state, way = table.state.clone(), through_pickle  # type: ignore[attr-defined]
    whole = [step for step in expected(players, side)[0] if table.sees_all or step[0] == 1]
    walk: Walk = []
    for decisions in (0, 20, 10**6):
        walk += walked(table, decisions)
        twin = way(table)
        assert walk + walked(twin) == whole
        assert twin.ended() is not None
    assert walk == whole
    assert twin.ended() == table.ended()


@pytest.mark.compiled
@pytest.mark.parametrize("way", RESUMED)
@pytest.mark.parametrize(("players", "side"), SOME)
def test_a_game_resumed_elsewhere_continues(
    way: str, players: int, side: str, tmp_path: Path
) -> None:
    name, resume = RESUMED[way]
    table = begun(name, players, side)
    walk = walked(table, 41)
    twin = resume(table, tmp_path)
    assert walk + walked(twin) == walk + walked(table) == expected(players, side)[0]


# ---- other processes ----

# Interface, turns of the game, and the variables of the process in which it is played.
PLACES: dict[str, tuple[str, int, dict[str, str | None]]] = {
    "plain Python": ("Games", 12, {"NUMBA_DISABLE_JIT": "1"}),
    "simulated GPU": ("CUDA", 1, {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}),
    "GPU": ("CUDA", 12, {"NUMBA_DISABLE_JIT": None}),
}


@pytest.mark.compiled
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("players", "side"), [(3, "back")])
def test_another_process_plays_the_same_game(place: str, players: int, side: str) -> None:
    """Without the compiler every warning is an error, including overflows."""
    name, turns, environment = PLACES[place]
    paths = ":".join(map(str, (ROOT, ROOT / "agents", ROOT / "tests")))
    environment = {**environment, "PYTHONPATH": paths}
    if place == "GPU" and not Path("/proc/driver/nvidia").exists():
        pytest.skip("there is no GPU here that Numba can use")
    told = printed(
        *(("-W", "error") if name == "Games" else ()),
        __file__,
        *(name, players, side, turns),
        environment=environment,
    )
    assert json.loads(told) == digest(*expected(players, side, turns))


def digest(walk: Walk, end: bytes) -> list[Any]:
    """Number of decisions and a hash of all that was seen."""
    seen = b"".join(b"%d" % seat + observation + mask for seat, observation, mask in walk)
    return [len(walk), hashlib.sha256(seen + end).hexdigest()]


def main(name: str, players: str, side: str, turns: str) -> None:
    """Play a game and print its digest."""
    kinds: dict[str, type[Interface]] = {"CUDA": InCuda, **INTERFACES}
    table = kinds[name](int(players), side, 0, max_turns=int(turns))
    print(json.dumps(digest(walked(table), table.ended())))


if __name__ == "__main__":
    main(*sys.argv[1:])
