"""The benchmark of resampling measures what it says; how much that is no test can know."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.benchmarks import resampling as knowledge_speed
from experiments.benchmarks.figures import Figure
from skyenv.rules.state import PHASE_OVER

pytestmark = pytest.mark.programs


def test_every_figure_is_measured() -> None:
    figures = [
        knowledge_speed.one_position(2, 5, 2, 1),
        knowledge_speed.many_positions(3, 4, 2, 1),
        knowledge_speed.begun_bids(4, 5, 2, 1),
        knowledge_speed.making_views(2, 4, 2, 1),
    ]
    assert [figure.unit for figure in figures] == ["positions/s"] * 3 + ["views/s"]
    assert all(figure.median > 0 for figure in figures)
    assert "4 different positions, 3 players" in figures[1].name


def test_positions_lie_in_the_middle_of_games() -> None:
    games = knowledge_speed.middle_games(8, 2)
    assert (games.state["turns"] > 1).all()
    assert (games.state["phase"] != PHASE_OVER).all()
    assert len(np.unique(games.seeds)) == 8


def test_a_quick_look_measures_all_in_fewer_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, ...]] = []

    def instead(*numbers: int) -> Figure:
        asked.append(numbers[-2:])
        return Figure(str(numbers), 1.0, 1.0, 1.0, "positions/s", numbers[-1])

    for name in ("one_position", "many_positions", "begun_bids", "making_views"):
        monkeypatch.setattr(knowledge_speed, name, instead)
    figures = knowledge_speed.all_figures(quick=True)
    assert len(figures) == 9 + 3 + 2 + 1
    assert set(asked) == {(2, 3)}
