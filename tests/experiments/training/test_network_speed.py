"""The benchmark of networks times what it says; how long that takes no test can know."""

from __future__ import annotations

import pytest
import torch

from experiments.training import network_speed
from skyenv_agents.learned.architecture import Sizes

pytestmark = pytest.mark.programs
SMALL = Sizes(8, 1, 4)


@pytest.mark.parametrize("bfloat16", [False, True])
def test_a_step_learns_and_a_look_does_not(bfloat16: bool) -> None:
    learner = network_speed.Learner(SMALL, bfloat16, 16)
    before = [weight.detach().clone() for weight in learner.network.parameters()]
    learner.look()
    assert all(
        torch.equal(old, new) for old, new in zip(before, learner.network.parameters(), strict=True)
    )
    learner.step()
    assert any(
        not torch.equal(old, new)
        for old, new in zip(before, learner.network.parameters(), strict=True)
    )


def test_steps_and_looks_of_all_sizes_are_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(network_speed, "SIZES", (SMALL,))
    monkeypatch.setattr(network_speed, "BATCH", 32)
    assert network_speed.main(["--quick"]) == 0
    told = capsys.readouterr().out
    assert "8 units, 1 blocks, 4 a thing" in told
    assert told.count("µs/decision") in (2, 4)
