"""The comparison of algorithms in bidding tasks."""

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from experiments.benchmarks import algorithms
from experiments.benchmarks.learners import Exam
from experiments.benchmarks.mccfr import Sampler
from skyenv.agents import Agent, Decisions
from skyenv.solving.responses import policy_of
from skyenv.solving.tree import Opening


class First(Agent):
    name, version = "first", "1"

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        first: npt.NDArray[np.int64] = decisions.mask.argmax(axis=1)
        return first


def test_mccfr_comes_close_to_an_equilibrium() -> None:
    exam = Exam("alea-3/1")
    sampler = Sampler(exam.tree, seed=1)
    assert (sampler.solution().policy == exam.uniform).all()
    sampler.run(20_000)
    found = [
        exam.evaluator.nash_conv(policy) for policy in (sampler.solution().policy, exam.uniform)
    ]
    assert 0 < found[0] < 0.1 * found[1]


def test_a_policy_is_judged_like_the_agent_that_samples_it() -> None:
    exam = Exam("duel-3/2")
    exact = exam.policy(lambda _codes, mask, _seat: np.eye(103)[mask.argmax(axis=1)])
    acted = policy_of(First(), Opening("duel-3/2")).policy
    assert exam.evaluator.nash_conv(exact) == pytest.approx(
        exam.evaluator.nash_conv(acted), abs=1e-12
    )


def test_existing_runs_are_reused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--out", str(tmp_path), "--tasks", "duel-3", "--seeds", "2", "--algorithms", "mccfr"]
    assert algorithms.main([*given, "--decisions", "64"]) == 0
    first, second = (tmp_path / f"mccfr-duel-3-{seed}.json" for seed in range(2))
    first.write_text(first.read_text().replace('"seconds": ', '"seconds": 9'))
    kept, lost = first.read_text(), json.loads(second.read_text())["points"]
    second.unlink()
    assert algorithms.main([*given, "--decisions", "64"]) == 0
    assert first.read_text() == kept
    made = json.loads(second.read_text())["points"]
    assert [point["nash_conv"] for point in made] == [point["nash_conv"] for point in lost]
    assert (tmp_path / "algorithms.png").read_bytes().startswith(b"\x89PNG")
    figures = json.loads((tmp_path / "algorithms.json").read_text())["figures"]
    assert len(figures) == len(made)
    assert figures[-1]["name"].startswith("MCCFR, external sampling: duel-3 after")
    assert algorithms.main([*given, "--decisions", "128"]) == 1
    assert "not a run with a budget of 128 decisions" in capsys.readouterr().err
