"""Agents of other libraries' checkpoints; tests/experiments/baselines/test_rllib_self_play.py has
RLlib's.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO

from skyenv.agents import decide, decisions_in, make_agent
from skyenv.engine.games import Games
from skyenv.engine.observation import OBSERVATION_SIZE
from skyenv.errors import CheckpointError
from skyenv_agents.learned.policy import CLASS_FILE, MODULES, PolicyAgent, RllibAgent

ARCHITECTURES: list[dict[str, Any]] = [
    {"net_arch": [32, 32]},
    {
        "net_arch": {"pi": [32], "vf": [16]},
        "activation_fn": torch.nn.ReLU,
        "share_features_extractor": False,
    },
]


class AnyGame(gymnasium.Env[np.ndarray, np.int64]):
    """An environment with so many observations and actions, in which nothing happens."""

    def __init__(self, length: int = OBSERVATION_SIZE, actions: int = 103) -> None:
        self.observation_space = gymnasium.spaces.Box(0, 1, (length,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(actions)


def model(env: AnyGame, **architecture: Any) -> Any:
    """An untrained model with decided preferences."""
    options: dict[str, Any] = {"n_steps": 4, "batch_size": 4, "seed": 1, "device": "cpu"}
    made = MaskablePPO("MlpPolicy", env, policy_kwargs=architecture, **options)
    with torch.no_grad():
        for parameter in made.policy.action_net.parameters():
            parameter.mul_(100)
    return made


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


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A model as a file."""
    (tmp_path / "first").mkdir()
    path = tmp_path / "first" / "model.zip"
    model(AnyGame()).save(path)
    return path


@pytest.fixture
def games() -> Games:
    """Games in the middle."""
    games = Games(40, 2, "front", 3)
    games.play_random(70)
    return games


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_sb3_agents_have_the_models_probabilities(
    games: Games, architecture: dict[str, Any], tmp_path: Path
) -> None:
    """From its file, and from a copy that stops learning."""
    made, path = model(AnyGame(), **architecture), tmp_path / "model.zip"
    made.save(path)
    observation = torch.as_tensor(games.observation)
    wanted = made.policy.get_distribution(observation, games.mask.astype(bool)).distribution.probs
    players = [make_agent(path, deterministic=True), PolicyAgent(made.policy, name="frozen")]
    with torch.no_grad():
        made.policy.action_net.bias += torch.randn(103)
    for player, name in zip(players, (tmp_path.name, "frozen"), strict=True):
        assert isinstance(player, PolicyAgent)
        weights, _ = player.evaluate(decisions_in(games, player))
        assert np.allclose(weights, wanted.detach().numpy(), atol=1e-5)
        assert (weights[games.mask == 0] == 0).all()
        assert weights.max() > 0.5
        together = decide(games, player).tolist()
        assert together == [decide(games, player, [row])[0] for row in range(40)]
        assert (together == weights.argmax(axis=1)).all() == player.deterministic
        assert (player.name, player.uses_observation, player.uses_view) == (name, True, False)


@pytest.mark.parametrize("takes_mask", [True, False])
def test_rllib_agents_have_the_modules_probabilities(games: Games, takes_mask: bool) -> None:
    """Masked, and from a copy that stops learning."""
    module = Module(takes_mask=takes_mask)
    player = RllibAgent(module)
    logits = module.layer(torch.from_numpy(games.observation)).detach().numpy()
    wanted = np.where(games.mask != 0, np.exp(logits), 0)
    with torch.no_grad():
        module.layer.bias.add_(torch.randn(103))
    probabilities = player.probabilities(games.observation, games.mask)
    np.testing.assert_allclose(probabilities, wanted / wanted.sum(axis=1, keepdims=True), atol=1e-6)
    assert (player.name, player.deterministic) == ("policy", False)


# ---- wrong files ----


def test_damaged_checkpoints_are_refused(checkpoint: Path) -> None:
    whole = checkpoint.read_bytes()
    half = len(whole) // 2
    for content in (b"", b"no model\n" * 100, whole[:half] + bytes(99) + whole[half + 99 :]):
        checkpoint.write_bytes(content)
        with pytest.raises(CheckpointError, match="is damaged") as caught:
            make_agent(checkpoint)
        assert "\n" not in str(caught.value)
        assert str(checkpoint) in str(caught.value)
    with pytest.raises(CheckpointError, match="there is no checkpoint"):
        PolicyAgent(checkpoint.parent)


@pytest.mark.parametrize(
    ("env", "message"),
    [(AnyGame(length=10), "length 10"), (AnyGame(actions=5), "5 actions")],
)
def test_policies_of_other_games_are_refused(env: AnyGame, message: str) -> None:
    with pytest.raises(CheckpointError, match=message):
        PolicyAgent(model(env).policy)
    with pytest.raises(CheckpointError, match="length 9"):
        RllibAgent(Module(9))


def test_rllib_folders_need_exactly_one_policy(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="is not an RLlib checkpoint"):
        make_agent(f"rllib:{tmp_path}")
    for name in ("", "first", "second"):
        folder = tmp_path / MODULES[0] / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CLASS_FILE).write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"several policies; name one of .*first, .*second"):
        make_agent(f"rllib:{tmp_path}")
