"""Agents on offer: those that are there, networks that are looked up, and the lobby's strengths."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest
from pages import quick_catalogue

from skyenv.agents import agent_names
from skyenv.page.catalogue import catalogue
from skyenv.page.errors import PageError
from skyenv.page.strengths import ratings, strengths


def test_agents_are_those_asked_for_then_all_that_have_names_and_networks_that_are_found(
    tmp_path: Path,
) -> None:
    assert catalogue(["skyenv.agents:CrowdAgent", "greedy"]).names == [
        *("skyenv.agents:CrowdAgent", "greedy"),
        *(name for name in agent_names() if name != "greedy"),
    ]
    names = quick_catalogue()
    (tmp_path / "damaged.npz").write_bytes(b"")
    names.find = {"damaged": tmp_path / "damaged.npz"}.get
    assert asyncio.run(names.look_up("greedy")).name == "greedy"
    for name, message in (
        ("os:system", "there is no agent"),
        ("damaged", "its file is damaged, or another"),
    ):
        with pytest.raises(PageError, match=message) as refused:
            asyncio.run(names.look_up(name))
        assert str(tmp_path) not in str(refused.value)


def test_strengths_are_true_by_the_published_ladder() -> None:
    """Each is stronger than the one before by far: two to one and more; others aren't offered."""
    offered, points = strengths(agent_names()), ratings()
    assert [one["rating"] for one in offered] == [points[one["agent"]] for one in offered]
    assert all(weaker["rating"] + 120 < strong["rating"] for weaker, strong in pairwise(offered))
    assert [one["agent"] for one in strengths(["greedy", "random"])] == ["greedy"]
