"""Schedules of tournaments."""

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyenv.arena.schedule import Entrant, Settings, classes_of, entrants, pairs_of


def named(agents: int, players: int, **options: Any) -> Settings:
    """Return entrants that are never made."""
    return Settings(
        tuple(Entrant(str(index), str(index), "1", "") for index in range(agents)),
        players,
        **options,
    )


def seats_of(wanted: Settings, paired_seed: int) -> list[tuple[int, ...]]:
    """Return the seats of all games of a paired seed."""
    games = [wanted.seatings(group, paired_seed) for group in wanted.groups(paired_seed)]
    return [tuple(row) for row in np.concatenate(games).tolist()]


@given(st.integers(0, 5), st.integers(2, 4), st.integers(0, 10**6), st.booleans())
def test_a_paired_seed_seats_every_agent_everywhere(
    more: int, players: int, paired_seed: int, newcomer: bool
) -> None:
    """Equally often in every seat; each duel both ways round, once in every seat."""
    agents = players + more
    wanted = named(agents, players, newcomer=newcomer)
    seats = seats_of(wanted, paired_seed)
    assert len(set(seats)) == len(seats)
    for one, other in itertools.permutations(range(agents), 2):
        copied = sorted([one, *[other] * (players - 1)])
        alone = sorted(row.index(one) for row in seats if sorted(row) == copied)
        assert alone in ([], list(range(players)))
        if newcomer and 0 not in (one, other):
            assert alone == []
        elif players == 2:
            assert alone
    tables = [row for row in seats if len(set(row)) == players > 2]
    assert bool(tables) == (players > 2)
    assert {table[turn:] + table[:turn] for table in tables for turn in range(players)} == set(
        tables
    )
    if tables and not newcomer:
        where = Counter((agent, seat) for row in tables for seat, agent in enumerate(row))
        assert len(where) == agents * players
        assert len(set(where.values())) == 1
    assert not newcomer or all(0 in row for row in seats)


@pytest.mark.parametrize(("agents", "players"), [(5, 3), (6, 3), (8, 4), (9, 4), (4, 4), (6, 4)])
def test_all_pairs_meet_equally_often(agents: int, players: int) -> None:
    """After all classes of tables every combination has met once in all rotations, and every duel
    was played.
    """
    wanted = named(agents, players)
    classes = len(classes_of(agents, players))
    seats = [row for paired_seed in range(classes) for row in seats_of(wanted, paired_seed)]
    together = Counter(tuple(sorted(row)) for row in seats if len(set(row)) == players)
    assert together == dict.fromkeys(itertools.combinations(range(agents), players), players)
    pairs = [pair for distance in range(agents // 2) for pair in pairs_of(agents, distance)]
    assert sorted(pairs) == list(itertools.combinations(range(agents), 2))
    assert pairs_of(agents, agents // 2) == pairs_of(agents, 0)


def test_the_seating_order_varies_between_paired_seeds() -> None:
    wanted = named(4, 4)
    starts = [
        row
        for paired_seed in range(60)
        for row in seats_of(wanted, paired_seed)
        if row[0] == 0 and len(set(row)) == 4
    ]
    assert set(starts) == {(0, *rest) for rest in itertools.permutations((1, 2, 3))}


def test_a_search_and_its_base_agent_are_excluded_as_a_pair() -> None:
    """The search's own description decides, whatever its budget and name."""
    agents = entrants(["greedy", "trained", "ismcts-100", "rollout", "ismcts-trained"], 2)
    names = [agent.name for agent in agents]
    apart = [{names[one], names[other]} for one, other in Settings(agents, 2).apart]
    assert len(apart) == 4
    for search in ("ismcts-100", "rollout", "ismcts-trained"):
        assert {search, "greedy"} in apart
    assert {"ismcts-trained", "trained"} in apart
    newcomer = Entrant("greedy", "new greedy", "1", "")
    assert Settings((newcomer, agents[3]), 2, newcomer=True).apart == [(0, 1)]


def test_a_newcomer_meets_searches_in_every_sixth_paired_seed() -> None:
    """With two players; in every one with three, or if the ladder has no other agents."""
    newcomer, greedy, search = (
        Entrant(name, name, "1", "", searches_with=base)
        for name, base in (("new", ()), ("greedy", ()), ("search", ("greedy",)))
    )
    settings = Settings((newcomer, greedy, search), 2, newcomer=True)
    assert [one for one in range(13) if (0, 2) in settings.groups(one)] == [0, 6, 12]
    assert all((0, 1) in settings.groups(one) for one in range(13))
    assert (0, 2) in Settings(settings.agents, 3, newcomer=True).groups(1)
    only_searches = Settings((newcomer, search), 2, newcomer=True)
    assert all(only_searches.groups(one) == [(0, 1)] for one in range(13))
