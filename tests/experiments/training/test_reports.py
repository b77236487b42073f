"""Reports of a training, and learning curves."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.training.closing import close, verdict
from experiments.training.config import Config
from experiments.training.curves import draw_curves, hardest, read_curve
from experiments.training.program import beginning, how_to_go_on
from processes import ROOT
from skyenv.arena.evaluate import evaluate
from skyenv.errors import CheckpointError
from skyenv.statistics import Estimate
from skyenv_agents.learned.networks import Network
from trainings import begun, tiny

FIRST = Config(decisions=2_000_000, minutes=12, prior="greedy")


def test_a_run_reports_its_starting_network() -> None:
    assert "begins with greedy; " in beginning(FIRST)
    assert "begins with a.npz; " in beginning(replace(FIRST, start="a.npz"))
    assert "random choices" in beginning(Config(minutes=5))


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [(0.44, 0.53, "No gain"), (0.51, 0.6, "It has learned"), (0.3, 0.4, "It has become weaker")],
)
def test_the_report_says_whether_the_agent_improved(low: float, high: float, found: str) -> None:
    """Judged by the interval against the prior only."""
    random, crowd = evaluate("random", ["random", "crowd"], paired_seeds=1)
    greedy = replace(random, opponent="greedy", share=Estimate((low + high) / 2, low, high))
    (text,) = verdict([greedy, crowd], FIRST)
    assert text.startswith(found)
    assert verdict([crowd], FIRST) == verdict([greedy], replace(FIRST, start="a.npz")) == []


def test_the_better_of_the_trained_network_and_its_beginning_is_kept(tmp_path: Path) -> None:
    training = begun(tiny(tmp_path, prior="greedy", paired_seeds=4, max_turns=40, against="greedy"))
    first = training.frozen().weights["trunk.weight"]
    training.mean.set_prior(-9.0)  # it prefers what greedy likes least
    lost = training.model()
    (tmp_path / "model.npz").write_bytes(lost)
    text = close(training.config)
    assert "become weaker" in text
    assert "model.npz is that network, and last.npz the trained one" in text
    assert (tmp_path / "last.npz").read_bytes() == lost
    kept = Network.load(tmp_path / "model.npz")
    assert np.array_equal(kept.weights["trunk.weight"], first)
    assert kept.weights["prior_weight"] > 0


def test_printed_commands_fit_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "executable", str(ROOT / ".venv" / "bin" / "python"))
    text = how_to_go_on(FIRST, "train", Path("runs/first/model.npz"))
    assert max(map(len, text.splitlines())) <= 80


# ---- learning curves ----


def curve(**shares: float) -> list[dict[str, Any]]:
    """Three points, of which the first has no shares yet."""
    points = [{"seconds": 60.0 * i, "entropy": 2.0 - i / 2, "shares": {}} for i in range(3)]
    points[1]["shares"] = dict.fromkeys(shares, 0.5)
    points[2]["shares"] = shares
    return points


def test_at_most_six_hardest_opponents_are_drawn(tmp_path: Path) -> None:
    many = curve(a=0.9, b=0.1, c=0.5, d=0.4, e=0.3, f=0.2, past=0.0)
    assert hardest({"run": many}) == ["b", "c", "d", "e", "f", "past"]
    runs = {"one": many, "two": curve(a=0.0, g=0.4)}
    assert hardest(runs) == ["b", "f", "past"]
    draw_curves(runs, tmp_path / "picture.png")
    draw_curves(runs, tmp_path / "other.png", ["a"])
    pictures = [(tmp_path / name).read_bytes() for name in ("picture.png", "other.png")]
    assert pictures[0] != pictures[1]
    assert all(picture.startswith(b"\x89PNG") for picture in pictures)


@pytest.mark.parametrize(
    "content",
    [
        None,
        "",
        '{"seconds": 1, "entropy": 1, "shares": {}}\nnonsense\n',
        '{"seconds": 1, "entropy": 1}\n',
        '{"seconds": -1, "entropy": 1, "shares": {}}\n',
        '{"seconds": 1, "entropy": null, "shares": {}}\n',
        "[]\n",
    ],
)
def test_invalid_curves_are_refused(content: str | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "curve.jsonl").write_text(content)
    with pytest.raises(CheckpointError, match=r"curve\.jsonl is not a training curve"):
        read_curve(tmp_path)
