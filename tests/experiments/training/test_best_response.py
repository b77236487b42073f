"""What is told of a best response."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from experiments.training.best_response import BestResponse, BestResponseConfig, bound, main
from skyenv.arena.estimates import Estimate
from skyenv.arena.evaluate import evaluate

TINY = shlex.split("--games 8 --steps 16 --batch 64 --hidden 8 --max-turns 6 --decisions 300")


def test_a_bound_is_what_was_won_beyond_par() -> None:
    """By hand: of four seats par is a quarter."""
    (result,) = evaluate("random", ["crowd"], 4, "front", 2, 1)
    lower_bound = bound(asdict(replace(result, share=Estimate(0.4, 0.3, 0.5))))
    assert lower_bound["gain"] == {
        "mean": pytest.approx(0.15),
        "low": pytest.approx(0.05),
        "high": pytest.approx(0.25),
    }
    assert (
        lower_bound["par"],
        lower_bound["opponent"],
        lower_bound["players"],
        lower_bound["paired_seeds"],
    ) == (
        0.25,
        "crowd",
        4,
        2,
    )


def test_a_response_is_told_with_its_target(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["--run", str(tmp_path / "run"), "--target", "crowd"]
    assert main([*TINY, *command, "--paired-seeds", "2"]) == 0
    first = capsys.readouterr().out
    assert "2 players, front side: the response wins" in first
    assert "beyond its par of 50.0 % against crowd" in first
    content = json.loads((tmp_path / "run" / "exploitability.json").read_text(encoding="utf-8"))
    assert content["target"] == "crowd"
    assert [one["opponent"] for one in content["bounds"]] == ["crowd"]
    assert main([*command, "--resume"]) == 0  # it is finished
    assert capsys.readouterr().out == first
    training = BestResponse(BestResponseConfig(target="crowd"))
    assert training.config.make_pool().fixed[0].name == "crowd"
    assert (
        training.config.opponent_share,
        training.config.past_policies,
        training.config.against,
    ) == (1.0, 0, ("crowd",))
