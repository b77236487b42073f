"""Fitting the network for leaves: its positions, what came of them, and what the command writes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments.tools.fit_leaves import cross_entropy, fit, main, make_samples
from skyenv_agents.search.leaves import SHAPES


@pytest.mark.parametrize("players", [2, 3])
def test_positions_are_of_many_kinds_and_the_same_each_time(players: int) -> None:
    samples = make_samples(players, 600, 5)
    again = make_samples(players, 600, 5)
    for one, other in zip(samples, again, strict=True):
        assert (one == other).all()
    assert samples.outcomes.sum(axis=1) == pytest.approx(1, abs=1e-6)
    assert samples.holdings.sum(axis=1) == pytest.approx(1, abs=1e-6)
    assert (samples.outcomes.max(axis=1) > 0.6).mean() > 0.9, "somebody wins"
    assert set(np.unique(samples.open)) == {0.0, 1.0}, "some districts are stopped"
    assert len(np.unique(samples.seats, axis=0)) > 590
    assert cross_entropy(samples.outcomes, samples.holdings) < np.log(players), (
        "who has more wins more often"
    )


def test_fits_what_came_of_the_positions() -> None:
    """The loss on positions that were kept back is below that of knowing nothing, and the same each
    time.
    """
    samples = make_samples(2, 3000, 1)
    arrays, loss = fit(samples, 4, 1)
    assert {name: array.shape for name, array in arrays.items()} == SHAPES
    assert loss < 0.6
    assert fit(samples, 4, 1)[1] == loss


def test_the_command_writes_a_network(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--players", "2", "--positions", "1000", "--epochs", "1", "--out", str(tmp_path)]
    assert main(options) == 0
    assert "2 players, loss on 100 positions kept back" in capsys.readouterr().out
    with np.load(tmp_path / "2-players.npz") as file:
        assert {name: file[name].shape for name in file} == SHAPES
    assert main(["--players", "5"]) == 2
