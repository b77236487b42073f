"""Determinizations: positions sampled from a view."""

from itertools import combinations_with_replacement
from math import comb, prod
from typing import Any

import numpy as np
import pytest

from positions import positions
from scenario import (
    as_likely,
    counted,
    same_record,
)
from skyenv import Games, OptionError, make_agent
from skyenv.agents import decide
from skyenv.engine.knowledge import VIEW_DTYPE, resample, view
from skyenv.rules.state import (
    END_TRUNCATED,
    PHASE_BID,
)

inf = pytest.mark.rule("INF-1", "INF-2", "INF-3")


def batch_of(determinizations: np.ndarray, like: Games) -> Games:
    """A batch that stands in these positions; bringing it up to date changes nothing in them."""
    games = Games.of(determinizations, like.options, observation=True)
    assert all(
        same_record(one, other) for one, other in zip(games.state, determinizations, strict=True)
    )
    return games


def exact(rows: np.ndarray, chances: dict[Any, float]) -> bool:
    """Whether rows of counts come as often as they should, and no others."""
    counts = counted(rows)
    assert set(counts) <= set(chances)
    assert abs(sum(chances.values()) - 1) < 1e-12
    return as_likely([counts.get(thing, 0) for thing in chances], list(chances.values()))


def hands_of(number: int, stack: list[int]) -> dict[Any, float]:
    """The chance of every hand of so many cards (counts by rank) out of a stack (counts by
    rank).
    """
    hands = {
        tuple(ranks.count(rank) for rank in range(3))
        for ranks in combinations_with_replacement(range(3), number)
    }
    ways = {cards: prod(map(comb, stack, cards)) for cards in hands}
    total = comb(sum(stack), number)
    return {cards: count / total for cards, count in ways.items() if count}


# ---- what a seat knows is kept ----


@inf
@pytest.mark.parametrize(
    ("players", "side"), [(2, "front"), (2, "back"), (3, "back"), (4, "front")]
)
def test_determinizations_have_the_same_view(players: int, side: str) -> None:
    """The seat's view, mask and observation are equal to the byte, with all public information."""
    games = positions(players, side)
    for seat in range(players):
        views = view(games.state, seat)
        determinizations = resample(views, np.arange(games.num_games))
        assert view(determinizations, seat).tobytes() == views.tobytes()
        again = batch_of(determinizations, games)
        assert again.observe(seat).tobytes() == games.observe(seat).tobytes()
        mine = games.seat == seat
        assert (again.mask[mine] == games.mask[mine]).all()
        assert (again.seat == games.seat).all()


def test_batched_resampling_equals_single_calls() -> None:
    """One view for many seeds, views and seeds side by side, or each alone."""
    games = positions(3, "front", 40)
    views = view(games.state, 1)
    seeds = np.arange(7, 7 + games.num_games)
    together = resample(views, seeds)
    for row in range(games.num_games):
        assert resample(views[row], int(seeds[row])).tobytes() == together[row].tobytes()
    assert (
        resample(views[20], seeds).tobytes()
        == resample(np.repeat(views[20:21], len(seeds)), seeds).tobytes()
    )
    assert resample(views[:0], seeds[:0]).shape == resample(views[0], []).shape == (0,)
    before = views.tobytes()
    resample(views, seeds)["score"][:] = 9
    assert views.tobytes() == before


# ---- and the game can go on ----


@inf
@pytest.mark.parametrize(("players", "side"), [(2, "front"), (4, "back")])
def test_determinizations_can_be_played_to_the_end(players: int, side: str) -> None:
    """With legal actions only."""
    games = positions(players, side, 40)
    assert (games.state["phase"] == PHASE_BID).any()
    games = batch_of(resample(view(games.state, 0), np.arange(games.num_games)), games)
    games.state["max_turns"] = games.state["turns"] + 40
    while (rows := np.flatnonzero(games.seat >= 0)).size:
        games.step(decide(games, make_agent("crowd"), rows), rows)
    assert side == "back" or (games.state["end"] != END_TRUNCATED).any()


# ---- what it refuses ----


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        (-1, "seeds must be from 0"),
        (np.array([2**63, 1], np.uint64), "seeds must be from 0"),
        ([1, 2, 3], "one for each of the 2 views"),
        *[(seeds, "seeds must be whole numbers") for seeds in ([0.5], [[1]], ["a"], None)],
    ],
)
def test_invalid_seeds_are_refused(seeds: object, message: str) -> None:
    views = view(Games(2, seed=1).state, 0)
    with pytest.raises(OptionError, match=message):
        resample(views, seeds)  # type: ignore[arg-type]


def test_invalid_views_are_refused() -> None:
    games = Games(2, seed=1)
    views = view(games.state, 0)
    for field, value in (
        ("seat", 2),
        ("seat", -1),
        ("unseen", 9),
        ("unknown", -1),
        ("num_face_down", 5),
    ):
        wrong = views.copy()
        wrong[field][1] = value
        with pytest.raises(OptionError, match="view 1: its seat or its counts"):
            resample(wrong, [1, 2])
    with pytest.raises(OptionError, match="view 0"):
        resample(np.zeros(1, VIEW_DTYPE), [1])
