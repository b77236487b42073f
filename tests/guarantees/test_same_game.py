"""Equal seeds and decisions give equal games in every interface, and in copies; infos have the same
keys, types and shapes everywhere.

Plain Python's games are compared in tests/test_uncompiled.py, a GPU's in tests/cuda.
"""

import copy
import pickle
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from interfaces import INTERFACES, Interface, OneGame, Walk, begun, choices, walked

TABLES = [(2, "front"), (3, "back"), (4, "front")]
SOME = TABLES[1:2]
TURNS = 30
each_interface = pytest.mark.parametrize("name", INTERFACES)


@cache
def expected(players: int, side: str, turns: int = TURNS) -> tuple[Walk, bytes]:
    """The walk through a Game, and its record at the end."""
    game = OneGame(players, side, 0, max_turns=turns)
    return walked(game), game.ended()


@pytest.mark.compiled
@each_interface
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_equal_decisions_give_the_same_game_in_every_interface(
    name: str, players: int, side: str
) -> None:
    walk, end = expected(players, side)
    assert len(walk) > 60
    for seat in range(players):
        table = begun(name, players, side, seat, max_turns=TURNS)
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
    table = begun(name, players, side, max_turns=TURNS)
    if name == "OpenSpiel" and way is copy.deepcopy:
        table.state, way = table.state.clone(), through_pickle  # type: ignore[attr-defined]
    whole = [step for step in expected(players, side)[0] if table.sees_all or step[0] == 1]
    walk: Walk = []
    for decisions in (0, 20, 10**6):
        walk += walked(table, decisions)
        twin = way(table)
        assert walk + walked(twin) == whole
    assert walk == whole
    assert twin.ended() == table.ended()


# ---- infos: one contract, as libraries write them into arrays and tensors ----


WITH_INFOS = [name for name in INTERFACES if INTERFACES[name].infos is not Interface.infos]


@pytest.mark.parametrize("name", WITH_INFOS)
def test_infos_have_the_same_keys_types_and_shapes_at_every_step(
    name: str,
) -> None:
    """From reset to the end; only numbers and arrays of numbers."""
    table = begun(name, 2, "front", max_turns=20)
    forms, ends, asked = set(), set(), table.asked()
    while True:
        for info in table.infos():
            forms.add(tuple((key, value.dtype, value.shape) for key, value in info.items()))
            ends |= set(np.atleast_1d(info["end_reason"]).tolist())
        if asked is None:
            break
        _, observation, mask = asked
        table.play(int(choices(observation[None], mask[None])[0]))
        asked = table.asked()
    (form,) = forms
    assert {kind.kind for _, kind, _ in form} <= {"i", "f", "b"}
    assert ends > {0}
