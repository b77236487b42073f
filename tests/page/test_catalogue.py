"""Agents on offer: those that are there, networks that are looked up, and the lobby's strengths."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pages import quick_catalogue

from skyenv.page.errors import PageError


@pytest.mark.parametrize(
    ("name", "message"),
    [("os:system", "there is no agent"), ("damaged", "its file is damaged or of another")],
)
def test_agents_that_are_not_on_offer_and_damaged_networks_are_refused(
    name: str, message: str, tmp_path: Path
) -> None:
    names = quick_catalogue()
    (tmp_path / "damaged.npz").write_bytes(b"")
    names.find = {"damaged": tmp_path / "damaged.npz"}.get
    with pytest.raises(PageError, match=message) as refused:
        asyncio.run(names.look_up(name))
    assert str(tmp_path) not in str(refused.value)
