"""A best response meets its target alone, and its file tells which."""

import shlex
from pathlib import Path

from experiments.training.best_response import BestResponseConfig, main
from skyenv.agents import make_agent
from skyenv.engine.openings import measured
from skyenv_agents.learned.networks import Network

TINY = shlex.split("--games 8 --steps 16 --batch 64 --hidden 8 --max-turns 6 --decisions 300")


def test_a_best_responses_file_names_its_target(tmp_path: Path) -> None:
    assert main([*TINY, "--run", str(tmp_path), "--target", "crowd", "--paired-seeds", "2"]) == 0
    assert "crowd" in (tmp_path / "evaluation.txt").read_text()
    about = Network.load(tmp_path / "model.npz").about
    assert about["target_version"] == make_agent("crowd").version
    assert [one.name for one in BestResponseConfig(target="crowd").make_pool().agents] == ["crowd"]


def test_a_best_response_in_a_task_is_measured_on_its_openings(tmp_path: Path) -> None:
    words = [*TINY[:-4], "--decisions", "300", "--target", "random", "--task", "duel-3/1024-1025"]
    assert main([*words, "--run", str(tmp_path)]) == 0
    lines = (tmp_path / "evaluation.txt").read_text().splitlines()
    assert [line.split()[0] for line in lines[2:]] == measured("duel-3", 2)
    for line in lines[2:]:
        gain, most = map(float, line.split()[1:])
        assert gain < most
