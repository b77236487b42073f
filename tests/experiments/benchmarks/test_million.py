"""The dataset of published size, small."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.benchmarks import million


@pytest.mark.usefixtures("here")
def test_it_makes_the_set_and_tells_what_it_costs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(million, "AGENTS", ("random", "hoard", "crowd"))
    figures = {figure.name: figure.median for figure in million.make(tmp_path / "set", 4)}
    summary = json.loads((tmp_path / "set" / "dataset.json").read_bytes())
    assert figures["games"] == summary["games"] == 4
    assert figures["decisions"] == summary["decisions"]
    assert figures["Parquet, codes"] == summary["bytes"]["parquet"] / summary["decisions"]
    assert {name for name, value in figures.items() if value <= 0} == set()
    written = {name for name in figures if name.startswith("playing")}
    assert len(written) == 1
    again = {figure.name for figure in million.make(tmp_path / "set", 4)}
    assert again == figures.keys() - written, "nothing was left to make"
