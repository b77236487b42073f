"""Players from other libraries' checkpoints; tests/examples/libraries/test_rllib_self_play.py plays
RLlib's own ones.
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

from skyenv.agents import decide, make_agent
from skyenv.engine.games import Games
from skyenv.engine.observation import OBSERVATION_SIZE
from skyenv.envs.sb3 import SkyenvVecEnv
from skyenv.errors import CheckpointError
from skyenv_agents.learned.policy import CLASS_FILE, MODULES, PolicyAgent, RllibAgent

ARCHITECTURES: dict[str, dict[str, Any]] = {
    "shared": {"net_arch": [32, 32]},
    "separate": {
        "net_arch": {"pi": [32], "vf": [16]},
        "activation_fn": torch.nn.ReLU,
        "share_features_extractor": False,
    },
}


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


def model(name: str) -> Any:
    """An untrained model with decided preferences."""
    env, options = SkyenvVecEnv(2, max_turns=3, seed=1), {"n_steps": 4, "batch_size": 8, "seed": 1}
    kwargs = dict(ARCHITECTURES[name])
    made = MaskablePPO("MlpPolicy", env, device="cpu", policy_kwargs=kwargs, **options)  # type: ignore[arg-type]
    with torch.no_grad():
        for parameter in made.policy.action_net.parameters():
            parameter.mul_(100)
    return made


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A model as a file."""
    (tmp_path / "first").mkdir()
    path = tmp_path / "first" / "model.zip"
    model("shared").save(path)
    return path


@pytest.fixture
def games() -> Games:
    """Games in the middle."""
    games = Games(40, 2, "front", 3)
    games.play_random(70)
    return games


@pytest.mark.parametrize("name", list(ARCHITECTURES))
def test_probabilities_are_those_of_the_model(games: Games, name: str, tmp_path: Path) -> None:
    """From its file, and of a copy, which doesn't learn on."""
    made, path = model(name), tmp_path / "model.zip"
    made.save(path)
    observation = torch.as_tensor(games.observation)
    wanted = made.policy.get_distribution(observation, games.mask.astype(bool)).distribution.probs
    players = [PolicyAgent(path), PolicyAgent(made.policy, name="frozen")]
    with torch.no_grad():
        made.policy.action_net.bias += torch.randn(103)
    for player in players:
        probabilities = player.probabilities(games.observation, games.mask)
        assert np.allclose(probabilities, wanted.detach().numpy(), atol=1e-5)
        assert (probabilities[games.mask == 0] == 0).all()
        assert probabilities.max() > 0.5
    assert [player.name for player in players] == [tmp_path.name, "frozen"]


@pytest.mark.parametrize("takes_mask", [True, False])
def test_probabilities_are_those_of_the_module(games: Games, takes_mask: bool) -> None:
    """Masked, and of a copy, which doesn't learn on."""
    module = Module(takes_mask=takes_mask)
    player = RllibAgent(module)
    logits = module.layer(torch.from_numpy(games.observation)).detach().numpy()
    wanted = np.where(games.mask != 0, np.exp(logits), 0)
    with torch.no_grad():
        module.layer.bias.add_(torch.randn(103))
    probabilities = player.probabilities(games.observation, games.mask)
    np.testing.assert_allclose(probabilities, wanted / wanted.sum(axis=1, keepdims=True), atol=1e-6)
    assert (player.name, player.deterministic) == ("policy", False)


def test_samples_or_takes_the_most_probable_alone_as_in_a_batch(
    checkpoint: Path, games: Games
) -> None:
    drawing, sure = make_agent(str(checkpoint)), make_agent(checkpoint, deterministic=True)
    assert isinstance(drawing, PolicyAgent)
    assert (drawing.name, drawing.uses_observation, drawing.uses_view) == ("first", True, False)
    weights = drawing.probabilities(games.observation, games.mask)
    assert decide(games, sure).tolist() == weights.argmax(axis=1).tolist()
    drawn = np.array([decide(games, drawing, salt=salt) for salt in range(200)])
    often = np.array([(drawn == action).mean(axis=0) for action in range(weights.shape[1])]).T
    assert np.abs(often - weights).max() < 0.16
    together = decide(games, drawing).tolist()
    assert together == [decide(games, drawing, [row])[0] for row in range(games.num_games)]


# ---- wrong files ----


def test_damaged_files(checkpoint: Path) -> None:
    whole = checkpoint.read_bytes()
    half = len(whole) // 2
    for content in (
        b"",
        b"no model\n" * 100,
        whole[:half],
        whole[:half] + bytes(99) + whole[half + 99 :],
    ):
        checkpoint.write_bytes(content)
        with pytest.raises(CheckpointError, match="is damaged") as caught:
            make_agent(checkpoint)
        assert "\n" not in str(caught.value)
        assert str(checkpoint) in str(caught.value)
    with pytest.raises(CheckpointError, match="there is no checkpoint"):
        PolicyAgent(checkpoint.parent)


class OtherGame(gymnasium.Env[np.ndarray, np.int64]):
    """An environment with other observations or actions."""

    def __init__(self, length: int, actions: int) -> None:
        self.observation_space = gymnasium.spaces.Box(0, 1, (length,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(actions)


@pytest.mark.parametrize(
    ("length", "actions", "message"), [(10, 103, "length 10"), (OBSERVATION_SIZE, 5, "5 actions")]
)
def test_policies_of_another_game(length: int, actions: int, message: str, tmp_path: Path) -> None:
    path, env = tmp_path / "other.zip", OtherGame(length, actions)
    other = MaskablePPO("MlpPolicy", env, n_steps=4, batch_size=4, device="cpu")
    other.save(path)
    with pytest.raises(CheckpointError, match=message):
        make_agent(path)
    with pytest.raises(CheckpointError, match="length 9"):
        RllibAgent(Module(9))


def test_folders_without_the_one_policy(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="holds no checkpoint of RLlib"):
        make_agent(f"rllib:{tmp_path}")
    for name in ("", "first", "second"):
        folder = tmp_path / MODULES[0] / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CLASS_FILE).write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"several policies; take one of .*first, .*second"):
        make_agent(f"rllib:{tmp_path}")
