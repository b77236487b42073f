"""A best response meets its target alone, and its file tells which."""

import shlex
from pathlib import Path

from experiments.training.best_response import BestResponseConfig, main
from skyenv.agents import make_agent
from skyenv_agents.learned.networks import Network

TINY = shlex.split("--games 8 --steps 16 --batch 64 --hidden 8 --max-turns 6 --decisions 300")


def test_a_best_responses_file_names_its_target(tmp_path: Path) -> None:
    assert main([*TINY, "--run", str(tmp_path), "--target", "crowd", "--paired-seeds", "2"]) == 0
    assert "crowd" in (tmp_path / "evaluation.txt").read_text()
    about = Network.load(tmp_path / "model.npz").about
    assert about["target_version"] == make_agent("crowd").version
    assert [one.name for one in BestResponseConfig(target="crowd").make_pool().agents] == ["crowd"]
