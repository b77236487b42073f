"""The catalogue of agents: unknown ones, those on offer, and the lobby's strengths."""

from itertools import pairwise

import pytest
from pages import quick_catalogue

from skyenv.page.agents.catalogue import PATIENCE, UNLISTED, catalogue
from skyenv.page.errors import PageError
from skyenv.page.strengths import STRENGTHS, points, strengths


def test_unknown_agents_are_refused() -> None:
    with pytest.raises(PageError, match="there is no agent 'os:system' here; choose from greedy"):
        quick_catalogue()["os:system"]


def test_unlisted_agents_still_play_and_are_listed_if_asked_for() -> None:
    """Games stored with them go on."""
    assert (UNLISTED | {"crowd", "hoard"}).isdisjoint(catalogue().names)
    assert catalogue(["hoard"]).names == ["hoard", *reversed(points())]
    assert catalogue()["bidder"].name == "bidder"
    assert catalogue(["bidder"]).names[0] == "bidder"


def test_four_strengths_are_shown_first() -> None:
    """Each group rises by the ladder; agents that aren't on offer are left out."""
    found = strengths(catalogue().names)
    assert [one["first"] for one in found] == [True] * 4 + [False] * (len(STRENGTHS) - 4)
    assert all(a["rating"] < b["rating"] for a, b in pairwise(found) if a["first"] == b["first"])
    names = catalogue().names[: len(found)]
    assert names == [one["agent"] for one in sorted(found, key=lambda one: one["rating"])]
    assert all(250 < b["rating"] - a["rating"] < 500 for a, b in pairwise(found[:4]))
    assert [(one["agent"], one["first"]) for one in strengths(["greedy", "bidder"])] == [
        ("greedy", True)
    ]


def test_hints_come_from_the_strongest_agent_that_answers_in_time() -> None:
    """The next strongest replaces an agent that was slow twice in a row."""
    agents = catalogue()
    first, second = [*points()][:2]
    for name, seconds, expected in (
        (first, PATIENCE + 1, first),  # no other is known
        (second, PATIENCE, second),
        (first, 0.1, first),
        (first, PATIENCE + 1, first),
        (first, PATIENCE + 1, second),
    ):
        agents.seconds[name].append(seconds)
        assert agents.adviser(2, "front") == expected
    assert catalogue().adviser(4, "front") == "lookahead"
    assert quick_catalogue().adviser(2, "front") == "greedy"
