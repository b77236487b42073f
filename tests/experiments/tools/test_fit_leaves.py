"""Fitting the network for leaves: its positions, what came of them, and what the command writes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from experiments.tools.fit_leaves import fit, main, make_samples
from skyenv_agents.search.leaf_network import SHAPES


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
