"""The benchmark of spreading compares what it says; by how much they differ no test can know."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.training import spreading
from processes import printed


def test_backends_take_turns() -> None:
    asked: list[str] = []

    def once(name: str, value: float) -> float:
        asked.append(name)
        return value

    figures = spreading.in_turns("work", "units/s", 3, {"processes": lambda: once("p", 4.0), "Ray": lambda: once("r", 3.0)})
    assert asked == ["p", "r"] * 3
    assert [(one.name, one.median, one.unit) for one in figures] == [
        ("work, processes", 4.0, "units/s"), ("work, Ray", 3.0, "units/s"), ("work, Ray ÷ processes", 75.0, "%"),
    ]  # fmt: skip


@pytest.mark.long
def test_every_figure_is_measured(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs the extra [ray]")
    told = printed("-m", "experiments.training.spreading", "--quick", "--json", tmp_path / "spreading.json")
    for name in ("empty units", "tournament", "training"):
        for backend in ("processes", "Ray", "Ray ÷ processes"):
            assert any(line.startswith(name) and f", {backend} " in line for line in told.splitlines())
    assert (tmp_path / "spreading.json").exists()
