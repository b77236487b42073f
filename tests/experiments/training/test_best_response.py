"""What is told of a best response."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from experiments.training.best_response import BestResponseConfig, bound, main
from skyenv.agents import make_agent
from skyenv.arena.estimates import Estimate
from skyenv.arena.evaluate import evaluate
from skyenv_agents.learned.networks import Network

TINY = shlex.split("--games 8 --steps 16 --batch 64 --hidden 8 --max-turns 6 --decisions 300")


def test_a_bound_is_what_was_won_beyond_par() -> None:
    """By hand: of four seats par is a quarter."""
    (result,) = evaluate("random", ["crowd"], 4, "front", 2, 1)
    told = bound(asdict(replace(result, share=Estimate(0.4, 0.3, 0.5))))
    assert told["gain"] == pytest.approx({"mean": 0.15, "low": 0.05, "high": 0.25})
    assert (told["par"], told["opponent"], told["players"]) == (0.25, "crowd", 4)
    assert told["paired_seeds"] == 2


def test_a_response_is_told_with_its_target(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*TINY, "--run", str(tmp_path), "--target", "crowd", "--paired-seeds", "2"]) == 0
    out = capsys.readouterr().out
    assert "2 players, front side: the response wins" in out
    assert "beyond its par of 50.0 % against crowd" in out
    content = json.loads((tmp_path / "exploitability.json").read_text(encoding="utf-8"))
    assert content["target"] == "crowd"
    assert [one["opponent"] for one in content["bounds"]] == ["crowd"]
    version = Network.load(tmp_path / "model.npz").about["target_version"]
    assert version == make_agent("crowd").version
    assert [guest.name for guest in BestResponseConfig(target="crowd").make_pool().agents] == [
        "crowd"
    ]
