"""Fitting the network for leaves."""

import re
from pathlib import Path

import numpy as np
import pytest

from experiments.shipping.fit_leaves import main
from skyenv_agents.search.leaf_network import SHAPES


@pytest.mark.long  # compiles for 15 s
def test_the_leaf_network_fits_the_outcomes_of_positions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its loss on held-out positions is below that of a constant prediction."""
    options = ["--players", "2", "--positions", "3000", "--epochs", "4", "--out", str(tmp_path)]
    assert main(options) == 0
    out = capsys.readouterr().out
    found = re.search(r"2 players, loss on 300 held-out positions: ([.\d]+)", out)
    assert found is not None
    assert float(found[1]) < 0.6 < np.log(2)
    with np.load(tmp_path / "2-players.npz") as file:
        assert {name: file[name].shape for name in file} == SHAPES
