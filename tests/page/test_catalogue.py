"""The catalogue of agents: unknown ones, networks found by name, and the lobby's strengths."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest
from pages import quick_catalogue

from skyenv.page.catalogue import catalogue, strengths
from skyenv.page.errors import PageError


@pytest.mark.parametrize(
    ("name", "message"),
    [("os:system", "there is no agent"), ("damaged", "its file is damaged or of another")],
)
def test_unknown_agents_and_damaged_networks_are_refused(
    name: str, message: str, tmp_path: Path
) -> None:
    names = quick_catalogue()
    (tmp_path / "damaged.npz").write_bytes(b"")
    names.find = {"damaged": tmp_path / "damaged.npz"}.get
    with pytest.raises(PageError, match=message) as refused:
        asyncio.run(names.look_up(name))
    assert str(tmp_path) not in str(refused.value)


def test_strengths_are_spaced_by_at_least_100_points() -> None:
    """100 points are odds of 1.8 to 1; agents that aren't on offer are left out."""
    ratings = [one["rating"] for one in strengths(catalogue().names)]
    assert all(strong - weak >= 100 for weak, strong in pairwise(ratings))
    assert [one["agent"] for one in strengths(["greedy", "random"])] == ["greedy"]
