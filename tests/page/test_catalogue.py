"""The catalogue of agents: unknown ones, those on offer, and the lobby's strengths."""

from itertools import pairwise

import pytest
from pages import quick_catalogue

from skyenv.page.agents.catalogue import catalogue, strengths
from skyenv.page.errors import PageError


def test_unknown_agents_are_refused() -> None:
    with pytest.raises(PageError, match="there is no agent 'os:system' here; choose from greedy"):
        quick_catalogue()["os:system"]


def test_coverage_bots_are_offered_only_if_asked_for() -> None:
    assert {"crowd", "hoard"}.isdisjoint(catalogue().names)
    assert catalogue(["hoard"]).names[:2] == ["hoard", "appraiser"]


def test_strengths_are_spaced_by_at_least_100_points() -> None:
    """100 points are odds of 1.8 to 1; agents that aren't on offer are left out."""
    ratings = [one["rating"] for one in strengths(catalogue().names)]
    assert all(strong - weak >= 100 for weak, strong in pairwise(ratings))
    assert [one["agent"] for one in strengths(["greedy", "bidder"])] == ["greedy"]
