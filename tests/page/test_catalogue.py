"""Agents on offer: those that are there, and networks that are looked up."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pages import quick_catalogue

from skyenv.agents import agent_names
from skyenv.page.catalogue import catalogue
from skyenv.page.errors import PageError


def test_what_is_not_here_is_looked_for(tmp_path: Path) -> None:
    names = quick_catalogue()
    (tmp_path / "damaged.npz").write_bytes(b"")
    names.find = {"damaged": tmp_path / "damaged.npz"}.get
    assert asyncio.run(names.look_up("greedy")).name == "greedy"
    for name, message in (("nobody", "there is no agent"), ("damaged", "its file is damaged")):
        with pytest.raises(PageError, match=message):
            asyncio.run(names.look_up(name))


def test_agents_are_those_asked_for_then_all_that_have_names() -> None:
    names = catalogue(["skyenv.agents:CrowdAgent", "greedy"]).names
    assert names[:2] == ["skyenv.agents:CrowdAgent", "greedy"]
    assert set(agent_names()) < set(names)
    assert len(names) == len(set(names))
    with pytest.raises(PageError, match="there is no agent"):
        catalogue()["os:system"]
