"""The catalogue of agents: unknown ones, those on offer, and the lobby's strengths."""

import pytest
from pages import quick_catalogue

from skyenv.page.agents.catalogue import UNLISTED, catalogue
from skyenv.page.errors import PageError
from skyenv.page.strengths import STRONGEST, WORDS, strengths


def test_unknown_agents_are_refused() -> None:
    with pytest.raises(PageError, match="there is no agent 'os:system' here; choose from greedy"):
        quick_catalogue()["os:system"]


def test_coverage_bots_are_offered_only_if_asked_for() -> None:
    assert {"crowd", "hoard"}.isdisjoint(catalogue().names)
    assert catalogue(["hoard"]).names == ["hoard", *WORDS]


def test_unlisted_agents_still_play_and_are_listed_if_asked_for() -> None:
    """Games stored with them go on."""
    assert UNLISTED.isdisjoint(catalogue().names)
    assert catalogue()["bidder"].name == "bidder"
    assert catalogue(["bidder"]).names[0] == "bidder"


def test_four_strengths_are_shown_first() -> None:
    """Each group rises; agents that aren't on offer are left out."""
    found = strengths(catalogue().names)
    assert [one["first"] for one in found] == [True] * 4 + [False] * (len(found) - 4)
    for is_first in (True, False):
        rated = [one["rating"] for one in found if one["first"] == is_first]
        points = [rating for rating in rated if rating is not None]
        assert len(points) >= 2
        assert points == sorted(points)
    assert found[3]["agent"] == STRONGEST[0]
    assert [one["agent"] for one in strengths(["greedy", "bidder"])] == ["greedy"]
