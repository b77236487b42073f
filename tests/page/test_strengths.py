"""The strengths that the lobby offers."""

from __future__ import annotations

from itertools import pairwise

from skyenv.agents import agent_names
from skyenv.page.strengths import STRENGTHS, ratings, strengths


def test_words_are_true_by_the_published_ladder() -> None:
    """Each is stronger than the one before by far: two to one and more."""
    points = ratings()
    offered = strengths(agent_names())
    assert [one["word"] for one in offered] == list(STRENGTHS)
    told = [one["rating"] for one in offered]
    assert told == [points[one["agent"]] for one in offered]
    assert all(weaker + 120 < stronger for weaker, stronger in pairwise(told))


def test_only_what_can_be_chosen_is_offered() -> None:
    assert [one["agent"] for one in strengths(["greedy", "random"])] == ["greedy"]
    assert strengths([]) == []
