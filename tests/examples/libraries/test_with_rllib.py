"""RLlib's PPO learns, and its masked policy takes legal actions alone."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ray = pytest.importorskip("ray")

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "libraries" / "with_rllib.py"
GAMES = 8


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    """The program's names."""
    return runpy.run_path(str(EXAMPLE))


@pytest.fixture(scope="module", autouse=True)
def started() -> Iterator[None]:
    """Ray; it gives its own processes 30 seconds to start, which a busy machine may not keep."""
    for left in reversed(range(5)):
        try:
            ray.init(num_cpus=1, include_dashboard=False)
            break
        except Exception:
            ray.shutdown()
            if not left:
                raise
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def algorithm(example: dict[str, Any]) -> Iterator[Any]:
    """PPO on games in which an illegal action would be an error."""
    config = example["make_config"](GAMES, opponents="random", illegal="raise").env_runners(num_env_runners=0)
    built = config.training(train_batch_size_per_learner=512, minibatch_size=128, num_epochs=1).debugging(seed=1).build_algo()
    yield built
    built.stop()


def test_an_iteration_trains(algorithm: Any) -> None:
    before = {name: np.array(weights) for name, weights in algorithm.get_module().get_state().items()}
    results = algorithm.train()
    assert results["env_runners"]["num_env_steps_sampled"] >= 512
    assert np.isfinite(results["learners"]["default_policy"]["total_loss"])
    after = algorithm.get_module().get_state()
    assert all(np.isfinite(weights).all() for weights in after.values())
    learnt = [name for name in before if name.endswith((".weight", ".bias"))]
    assert len(learnt) == 6
    assert all((before[name] != after[name]).any() for name in learnt)


def test_whole_episodes_are_sampled(algorithm: Any) -> None:
    """Every decision was legal where it was taken, and the step in which a row is reset is no part of an episode."""
    episodes = algorithm.env_runner.sample(num_episodes=2 * GAMES)
    assert len(episodes) >= 2 * GAMES
    for episode in episodes:
        masks, actions = episode.get_observations()["action_mask"], episode.get_actions()
        assert len(actions) == len(masks) - 1 == len(episode)
        assert masks[np.arange(len(actions)), actions].all()
        assert episode.is_terminated
        assert masks[-1].sum() == masks[-1][0] == 1  # the end: `noop`
        share = episode.get_infos(-1)["win_share"]
        assert episode.get_return() == pytest.approx(2 * share - 1)
        assert "win_share" not in episode.get_infos(0)


@pytest.mark.parametrize("forward", ["forward_inference", "forward_exploration"])
def test_the_policy_is_masked(algorithm: Any, forward: str) -> None:
    """Whatever its network says of the illegal actions: no game ends by one, and none gets a probability."""
    import torch

    module = algorithm.get_module()
    distribution = getattr(module, f"get_{forward.removeprefix('forward_')}_action_dist_cls")()
    envs = algorithm.env_runner.env.unwrapped
    observations, _ = envs.reset(seed=1)
    ended = 0
    for _ in range(200):
        mask = observations["action_mask"].copy()
        batch = {"obs": {name: torch.from_numpy(part) for name, part in observations.items()}}
        logits = getattr(module, forward)(batch)["action_dist_inputs"]
        assert (torch.softmax(logits, 1).detach().numpy()[mask == 0] == 0).all()
        actions = distribution.from_logits(logits).sample().numpy()
        assert mask[np.arange(GAMES), actions].all()
        observations, _, terminations, truncations, _ = envs.step(actions)
        ended += int((terminations | truncations).sum())
    assert ended


def test_the_program_says_how_fast_it_was(example: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    example["main"](["--games", "4", "--steps", "16", "--iterations", "1"])
    assert capsys.readouterr().out.endswith(" steps/s\n")
