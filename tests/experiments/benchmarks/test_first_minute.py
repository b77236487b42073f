"""The benchmark of the first minute plays a move on a page of its own; how long that takes no test
can know.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.benchmarks import first_minute
from experiments.benchmarks.first_minute import EMPTY, FILLED, GAP, LOBBY, MOVE, TABLE

pytestmark = pytest.mark.programs


def test_a_page_is_started_and_played_on() -> None:
    taken = first_minute.start(None)
    assert 0 < taken[LOBBY] < taken[TABLE] < taken[MOVE]
    assert 0 < taken[GAP] < taken[MOVE]


def test_both_starts_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one finds an empty folder, the second one what the first has left."""
    found: list[bool] = []

    def start(cache: Path | None) -> dict[str, float]:
        assert cache is not None
        found.append(any(cache.iterdir()))
        (cache / "code").touch()
        return {LOBBY: float(len(found))}

    monkeypatch.setattr(first_minute, "start", start)
    figures = first_minute.all_figures(True)
    assert found == [False, True]
    assert [(one.name, one.median) for one in figures] == [
        (f"{LOBBY}, {EMPTY}", 1.0),
        (f"{LOBBY}, {FILLED}", 2.0),
    ]
