"""The benchmark of spreading compares what it says; by how much they differ no test can know."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from experiments.training import spreading
from processes import printed


def test_backends_take_turns() -> None:
    asked: list[str] = []

    def once(name: str, value: float) -> float:
        asked.append(name)
        return value

    figures = spreading.in_turns(
        "work", "units/s", 3, {"processes": lambda: once("p", 4.0), "Ray": lambda: once("r", 3.0)}
    )
    assert asked == ["p", "r"] * 3
    assert [(one.name, one.median, one.unit) for one in figures] == [
        ("work, processes", 4.0, "units/s"),
        ("work, Ray", 3.0, "units/s"),
        ("work, Ray ÷ processes", 75.0, "%"),
    ]


def test_the_clock_starts_when_every_worker_has_given_a_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One of two takes 20 s to begin, while the other does unit after unit."""
    now = 0.0

    def run(
        work: Callable[[int], int],
        units: Iterator[int],
        workers: int,
        *,
        done: Callable[..., None],
        **_: Any,
    ) -> None:
        nonlocal now
        assert workers == 2
        for number, unit in enumerate(units):
            now += 5.0 if number < 4 else 0.5
            assert work(unit) == os.getpid()
            done(unit, 7 if number < 3 else 7 + number % 2)

    monkeypatch.setattr(spreading, "cores", lambda: 2)
    monkeypatch.setattr(spreading, "run_units", run)
    monkeypatch.setattr(spreading, "time", SimpleNamespace(perf_counter=lambda: now))
    assert spreading.pace(spreading.nothing, range(10), None) == 2.0


@pytest.mark.long
def test_every_figure_is_measured(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs the extra [ray]")
    told = printed(
        "-m", "experiments.training.spreading", "--quick", "--json", tmp_path / "spreading.json"
    )
    for name in ("empty units", "tournament", "training"):
        for backend in ("processes", "Ray", "Ray ÷ processes"):
            assert any(
                line.startswith(name) and f", {backend} " in line for line in told.splitlines()
            )
    assert (tmp_path / "spreading.json").exists()
