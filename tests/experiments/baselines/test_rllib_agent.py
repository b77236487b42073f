"""Agents with RLlib's policies, without RLlib; test_rllib_self_play.py has real ones."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from experiments.baselines.rllib_agent import CLASS_FILE, MODULES, RllibAgent
from positions import positions
from skyenv.engine.observation import OBSERVATION_SIZE
from skyenv.errors import CheckpointError


class Module(torch.nn.Module):
    """What RLlib's modules on PyTorch are to a player: spaces, and scores of a batch."""

    def __init__(self, size: int = OBSERVATION_SIZE, takes_mask: bool = True) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(size, 103)
        box, self.takes_mask = SimpleNamespace(shape=(size,)), takes_mask
        inner = SimpleNamespace(spaces={"observations": box})
        self.observation_space = inner if takes_mask else box
        self.action_space = SimpleNamespace(n=103)

    def forward_inference(self, batch: dict[str, Any]) -> dict[str, torch.Tensor]:
        seen = batch["obs"]
        if self.takes_mask:
            assert set(seen["action_mask"].unique().tolist()) == {0.0, 1.0}
            seen = seen["observations"]
        return {"action_dist_inputs": self.layer(seen)}


@pytest.mark.parametrize("takes_mask", [True, False])
def test_rllib_agents_have_the_modules_probabilities(takes_mask: bool) -> None:
    """Masked, and from a copy that stops learning."""
    games = positions(2, "front", 40)
    module = Module(takes_mask=takes_mask)
    player = RllibAgent(module)
    logits = module.layer(torch.from_numpy(games.observation)).detach().numpy()
    wanted = np.where(games.mask != 0, np.exp(logits), 0)
    with torch.no_grad():
        module.layer.bias.add_(torch.randn(103))
    probabilities = player.probabilities(games.observation, games.mask)
    np.testing.assert_allclose(probabilities, wanted / wanted.sum(axis=1, keepdims=True), atol=1e-6)
    assert (player.name, player.deterministic) == ("policy", False)


def test_policies_of_other_games_are_refused() -> None:
    with pytest.raises(CheckpointError, match="length 9"):
        RllibAgent(Module(9))


def test_rllib_folders_need_exactly_one_policy(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="is not an RLlib checkpoint"):
        RllibAgent(tmp_path)
    for name in ("", "first", "second"):
        folder = tmp_path / MODULES[0] / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CLASS_FILE).write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"several policies; name one of .*first, .*second"):
        RllibAgent(tmp_path)
