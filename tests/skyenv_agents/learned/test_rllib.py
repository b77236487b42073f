"""Players from RLlib's checkpoints, as far as they go without RLlib;
tests/examples/test_rllib_self_play.py plays whole ones.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from skyenv.agents import decide, make_agent
from skyenv.engine.games import Games
from skyenv.engine.observation import OBSERVATION_SIZE
from skyenv.errors import AgentError, CheckpointError
from skyenv_agents.learned.rllib import CLASS_FILE, MODULES, RllibAgent


class Module(torch.nn.Module):
    """What RLlib's modules on PyTorch are to a player: spaces, and scores of a batch."""

    def __init__(self, size: int = OBSERVATION_SIZE, takes_mask: bool = True) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(size, 103)
        box = SimpleNamespace(shape=(size,))
        self.observation_space = (
            SimpleNamespace(spaces={"observations": box}) if takes_mask else box
        )
        self.action_space = SimpleNamespace(n=103)
        self.masks: list[torch.Tensor] = []

    def forward_inference(self, batch: dict[str, Any]) -> dict[str, torch.Tensor]:
        seen = batch["obs"]
        if isinstance(seen, dict):
            self.masks.append(seen["action_mask"])
            seen = seen["observations"]
        return {"action_dist_inputs": self.layer(seen)}


@pytest.mark.parametrize("takes_mask", [True, False])
def test_probabilities_are_those_of_the_module(takes_mask: bool) -> None:
    """Masked, and of a copy, which doesn't learn on."""
    module = Module(takes_mask=takes_mask)
    player, games = RllibAgent(module, name="frozen"), Games(20, 2, seed=3)
    logits = module.layer(torch.from_numpy(games.observation)).detach().numpy()
    wanted = np.where(games.mask != 0, np.exp(logits), 0)
    with torch.no_grad():
        module.layer.bias.add_(torch.randn(103))
    probabilities = player.probabilities(games.observation, games.mask)
    np.testing.assert_allclose(probabilities, wanted / wanted.sum(axis=1, keepdims=True), atol=1e-6)
    assert (probabilities[games.mask == 0] == 0).all()
    assert len(player.module.masks) == takes_mask
    sure = RllibAgent(module, deterministic=True)
    assert (
        decide(games, sure).tolist()
        == sure.probabilities(games.observation, games.mask).argmax(axis=1).tolist()
    )
    assert (player.name, sure.name) == ("frozen", "policy")


def test_a_policy_for_other_games() -> None:
    with pytest.raises(
        CheckpointError,
        match="the policy given was trained for observations of length 9; they have",
    ):
        RllibAgent(Module(9))


def test_folders_without_the_one_policy(tmp_path: Path) -> None:
    with pytest.raises(
        CheckpointError, match=r"holds no checkpoint of RLlib: no class_and_ctor_args\.pkl"
    ):
        make_agent(f"rllib:{tmp_path}")
    for name in ("", "first", "second"):
        folder = tmp_path / MODULES[0] / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CLASS_FILE).write_bytes(b"")
    with pytest.raises(
        CheckpointError, match=r"has several policies; take one of .*first, .*second"
    ):
        make_agent(f"rllib:{tmp_path}")


@pytest.mark.skipif(
    find_spec("ray") is not None and find_spec("tree") is not None, reason="RLlib is there"
)
def test_what_is_missing_is_told(tmp_path: Path) -> None:
    (tmp_path / CLASS_FILE).write_bytes(b"")
    with pytest.raises(
        AgentError,
        match=r"needs RLlib, which isn't there: .*pip install -r examples/rllib_self_play\.txt",
    ):
        make_agent(f"rllib:{tmp_path}")
