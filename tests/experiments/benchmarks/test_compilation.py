"""The benchmark of compilation compiles what it says; how long that takes no test can know."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments.benchmarks import compilation
from skyenv.rules.compiling import COMPILED

pytestmark = pytest.mark.programs


def test_every_part_is_known(tmp_path: Path) -> None:
    """Each does what it says in a process that has what it needs."""
    file = tmp_path / "positions"
    compilation.make_positions(file)
    for part in compilation.PARTS[:5]:
        compilation.compile_part(part, file)


@pytest.mark.skipif(not COMPILED, reason="NUMBA_DISABLE_JIT is set")
def test_what_is_on_disk_is_not_compiled_again(tmp_path: Path) -> None:
    figures = {
        figure.name: figure.median
        for figure in compilation.all_figures(True, (compilation.VIEWS, compilation.RESULTS))
    }
    assert list(figures) == [
        "views",
        "results of games",
        "all of these",
        "views, from disk",
        "views, from disk, by the clock",
    ]
    assert figures["all of these"] == pytest.approx(figures["views"] + figures["results of games"])
    assert all(seconds > 0 for seconds in figures.values())


def test_a_process_that_fails_is_told(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"resampling: (.|\n)*FileNotFoundError") as caught:
        compilation.seconds_of(compilation.RESAMPLING, tmp_path / "missing", tmp_path / "cache")
    assert "missing" in str(caught.value)
