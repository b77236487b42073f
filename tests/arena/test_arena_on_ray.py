"""Tournaments and evaluations on two Ray nodes give the games of one machine."""

import sys
from pathlib import Path

import pytest
from tournaments import played, settings

from clusters import Nodes
from skyenv.arena.evaluate import evaluate


@pytest.mark.usefixtures("odd_agents")
def test_a_tournament_plays_the_same_games_on_ray_and_locally(nodes: Nodes, tmp_path: Path) -> None:
    """Also after a worker's death, and started on Ray and resumed locally or the reverse."""
    wanted = settings("odd_agents:Mortal", "crowd", "random", secret=3)
    there = played(tmp_path / "there", wanted, 3, workers=0, ray=nodes.address)
    assert Path(sys.path[0], "died").exists()
    assert there == played(tmp_path / "here", wanted, 3)
    for first, then in ((None, nodes.address), (nodes.address, None)):
        folder = tmp_path / f"{first}"
        assert len(played(folder, wanted, 1, ray=first)) == 6
        assert played(folder, wanted, 3, ray=then) == there


def test_an_evaluation_is_the_same_on_ray_and_locally(nodes: Nodes) -> None:
    """Several tasks on two nodes."""
    here, there = (
        evaluate("crowd", ["random", "hoard"], 3, paired_seeds=12, ray=ray)
        for ray in (None, nodes.address)
    )
    assert there == here
