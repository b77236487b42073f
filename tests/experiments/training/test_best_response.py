"""What is told of a best response."""

from __future__ import annotations

import shlex
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from experiments.training.best_response import BestResponse, BestResponseConfig, main
from skyenv.agents import make_agent
from skyenv.arena.estimates import Estimate
from skyenv.arena.evaluate import evaluate
from skyenv_agents.learned.networks import Network

TINY = shlex.split("--games 8 --steps 16 --batch 64 --hidden 8 --max-turns 6 --decisions 300")


def test_the_response_is_told_with_what_it_won_beyond_par() -> None:
    """By hand: of four seats par is a quarter."""
    (result,) = evaluate("random", ["crowd"], 4, "front", 2, 1)
    told = BestResponse(BestResponseConfig()).summary(
        [asdict(replace(result, share=Estimate(0.4, 0.3, 0.5)))]
    )
    wanted = "+15.0 percentage points [+5.0, +25.0] beyond its par of 25.0 % against crowd"
    assert told.endswith(f"4 players, front side: the response wins {wanted}")


def test_a_response_is_told_with_its_target(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*TINY, "--run", str(tmp_path), "--target", "crowd", "--paired-seeds", "2"]) == 0
    out = capsys.readouterr().out
    assert "2 players, front side: the response wins" in out
    assert "beyond its par of 50.0 % against crowd" in out
    version = Network.load(tmp_path / "model.npz").about["target_version"]
    assert version == make_agent("crowd").version
    assert [guest.name for guest in BestResponseConfig(target="crowd").make_pool().agents] == [
        "crowd"
    ]
