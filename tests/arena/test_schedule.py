"""Who meets whom: fair schedules."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tournaments import settings

from skyenv.arena.schedule import Entrant, Settings, entrants
from skyenv.errors import OptionError


@given(st.integers(2, 9), st.integers(2, 4), st.integers(0, 10**6), st.booleans())
def test_the_schedule_is_balanced(agents: int, players: int, paired_seed: int, newcomer: bool) -> None:
    names = tuple(Entrant(str(index), str(index), "1", "") for index in range(agents))
    wanted = Settings(names, players, newcomer=newcomer)
    seats = np.concatenate([wanted.seatings(group, paired_seed) for group in wanted.groups()])
    assert len(np.unique(seats, axis=0)) == len(seats) == wanted.games_per_paired_seed()
    for pair in itertools.permutations(range(agents), 2):
        alone = [
            np.flatnonzero(row == pair[0])[0] for row in seats if sorted(row) == sorted([pair[0], *[pair[1]] * (players - 1)])
        ]
        expected = [] if newcomer and 0 not in pair else list(range(players))
        assert sorted(alone) == expected
    tables = [tuple(row) for row in seats if len(set(row)) == players > 2]
    assert bool(tables) == (agents >= players > 2)
    for index in range(0 if not newcomer else agents, agents):  # without a newcomer every agent sits as often in every seat
        where = Counter(row.index(index) for row in tables if index in row)
        assert len(set(where.values())) <= 1
        assert not tables or len(where) == players
    assert {table[turn:] + table[:turn] for table in tables for turn in range(players)} == set(tables)
    assert not newcomer or all(0 in row for row in seats)
    for row in seats.tolist():
        assert wanted.group_of(row) in wanted.groups()


def test_mixed_tables_change_from_paired_seed_to_paired_seed() -> None:
    wanted = settings("random", "crowd", "hoard", "greedy", players=3)
    together = {tuple(sorted(wanted.seatings((0, 1, 2, 3), paired_seed)[0].tolist())) for paired_seed in range(40)}
    assert len(together) == 4


def test_two_agents_of_one_name() -> None:
    with pytest.raises(OptionError, match="two agents are called random"):
        entrants(["random", "skyenv.agents:RandomAgent"])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"players": "x"}, "players must be"), ({"players": 2, "side": "top"}, "side"), ({"players": 2, "seed": -1}, "seed")],
)
def test_wrong_settings(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Settings(entrants(["random", "crowd"]), **wrong)
