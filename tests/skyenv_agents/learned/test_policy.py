"""Agents with policies of sb3-contrib's MaskablePPO."""

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO

from positions import positions
from skyenv.agents import decide, decisions_in, make_agent
from skyenv.engine.observation import OBSERVATION_SIZE
from skyenv.errors import CheckpointError
from skyenv_agents.learned.policy import PolicyAgent

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


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_sb3_agents_have_the_models_probabilities(
    architecture: dict[str, Any], tmp_path: Path
) -> None:
    """From its file, and from a copy that stops learning."""
    games = positions(2, "front", 40)
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


# ---- wrong files ----


def test_damaged_checkpoints_are_refused(tmp_path: Path) -> None:
    checkpoint = tmp_path / "model.zip"
    model(AnyGame()).save(checkpoint)
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
