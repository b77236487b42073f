"""Players from checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO

from skyenv.agents import decide, decisions_in, make_agent
from skyenv.engine.games import Games
from skyenv.envs.sb3 import SkyenvVecEnv
from skyenv.errors import CheckpointError
from skyenv_agents.learned.policy import PolicyAgent

ARCHITECTURES: dict[str, dict[str, Any]] = {
    "shared": {"net_arch": [32, 32]},
    "separate": {
        "net_arch": {"pi": [32], "vf": [16]},
        "activation_fn": torch.nn.ReLU,
        "share_features_extractor": False,
    },
}


@pytest.fixture(scope="module")
def models() -> dict[str, Any]:
    """Untrained models with decided preferences."""
    made = {}
    for name, kwargs in ARCHITECTURES.items():
        env = SkyenvVecEnv(2, max_turns=3, seed=1)
        model = MaskablePPO(
            "MlpPolicy",
            env,
            n_steps=4,
            batch_size=8,
            seed=1,
            device="cpu",
            policy_kwargs=dict(kwargs),
        )
        with torch.no_grad():
            for parameter in model.policy.action_net.parameters():
                parameter.mul_(100)
        made[name] = model
    return made


@pytest.fixture
def checkpoint(models: dict[str, Any], tmp_path: Path) -> Path:
    """One of them as a file."""
    (tmp_path / "first").mkdir()
    path = tmp_path / "first" / "model.zip"
    models["shared"].save(path)
    return path


@pytest.fixture
def games() -> Games:
    """Games in the middle."""
    games = Games(40, 2, "front", 3)
    games.play_random(70)
    return games


@pytest.mark.parametrize("name", list(ARCHITECTURES))
def test_probabilities_are_those_of_the_model(
    models: dict[str, Any], games: Games, name: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.zip"
    models[name].save(path)
    player = PolicyAgent(path)
    observation = torch.as_tensor(games.observation)
    wanted = (
        models[name]
        .policy.get_distribution(observation, games.mask.astype(bool))
        .distribution.probs.detach()
        .numpy()
    )
    probabilities = player.probabilities(games.observation, games.mask)
    assert np.allclose(probabilities, wanted, atol=1e-5)
    assert (probabilities[games.mask == 0] == 0).all()
    assert np.allclose(probabilities.sum(axis=1), 1)
    assert probabilities.max() > 0.5


def test_draws_or_takes_the_most_probable(checkpoint: Path, games: Games) -> None:
    drawing, sure = PolicyAgent(checkpoint), PolicyAgent(checkpoint, deterministic=True)
    weights = drawing.probabilities(games.observation, games.mask)
    assert decide(games, sure).tolist() == weights.argmax(axis=1).tolist()
    drawn = np.array([decide(games, drawing, salt=salt) for salt in range(200)])
    often = np.array([(drawn == action).mean(axis=0) for action in range(weights.shape[1])]).T
    assert np.abs(often - weights).max() < 0.16
    assert np.array_equal(decide(games, drawing, salt=3), drawn[3])


def test_decides_alone_as_in_a_batch(checkpoint: Path, games: Games) -> None:
    player = PolicyAgent(checkpoint)
    together = decide(games, player)
    assert together.tolist() == [decide(games, player, [row])[0] for row in range(games.num_games)]


def test_names_and_flags(checkpoint: Path, models: dict[str, Any]) -> None:
    assert make_agent(str(checkpoint)).name == "first"
    for sure in (False, True):
        player = make_agent(checkpoint, deterministic=sure)
        assert isinstance(player, PolicyAgent)
        assert player.deterministic == sure
    assert make_agent(checkpoint.rename(checkpoint.with_name("best.zip"))).name == "best"
    player = PolicyAgent(models["shared"].policy, name="frozen")
    assert player.name == "frozen"
    assert player.uses_observation
    assert not player.uses_view


def test_a_copied_policy_stays_as_it_was(models: dict[str, Any], games: Games) -> None:
    player = PolicyAgent(models["separate"].policy)
    before = player.probabilities(games.observation, games.mask)
    with torch.no_grad():
        models["separate"].policy.action_net.bias += torch.randn(103)
    assert np.array_equal(player.probabilities(games.observation, games.mask), before)
    assert decisions_in(games, player).observation is not None


# ---- wrong files ----


def test_damaged_files(checkpoint: Path) -> None:
    whole = checkpoint.read_bytes()
    damaged = {
        "empty": b"",
        "text": b"not a model\n" * 100,
        "cut": whole[: len(whole) // 2],
        "flipped": whole[: len(whole) // 2] + bytes(100) + whole[len(whole) // 2 + 100 :],
    }
    for content in damaged.values():
        checkpoint.write_bytes(content)
        with pytest.raises(CheckpointError, match="is damaged") as caught:
            make_agent(checkpoint)
        assert "\n" not in str(caught.value)
        assert str(checkpoint) in str(caught.value)


def test_a_directory_is_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="there is no checkpoint"):
        PolicyAgent(tmp_path)


class _OtherGame(gymnasium.Env[np.ndarray, np.int64]):
    """An environment with other observations or actions."""

    def __init__(self, length: int, actions: int) -> None:
        self.observation_space = gymnasium.spaces.Box(0, 1, (length,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(actions)


@pytest.mark.parametrize(
    ("length", "actions", "message"),
    [
        (10, 103, "was trained for observations of length 10; they have"),
        (None, 5, "was trained for 5 actions; there are 103"),
    ],
)
def test_models_of_another_game(
    length: int | None, actions: int, message: str, tmp_path: Path, games: Games
) -> None:
    env: Any = _OtherGame(length or games.observation.shape[1], actions)
    path = tmp_path / "other.zip"
    MaskablePPO(
        "MlpPolicy", env, n_steps=4, batch_size=4, device="cpu", policy_kwargs={"net_arch": [4]}
    ).save(path)
    with pytest.raises(CheckpointError, match=message):
        make_agent(path)
