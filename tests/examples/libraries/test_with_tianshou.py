"""Tianshou's collectors play the games that anybody else would play, keep to the masks, and its DQN
learns from them.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skyenv import IllegalActionError
from skyenv.envs.learner import LearnerGames

pytest.importorskip("tianshou")
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.trainer import OffPolicyTrainerParams

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "libraries" / "with_tianshou.py"
GAMES, STEPS = 4, 150


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    """The program's names."""
    return runpy.run_path(str(EXAMPLE))


def seeded(example: dict[str, Any], **options: Any) -> Any:
    """The environment, whose first games have the seeds 5, 6, 7, 8."""
    envs = example["FifthAvenueEnvs"](
        GAMES, max_turns=40, opponents="random", illegal="raise", **options
    )
    envs.seed(5)
    return envs


def test_a_collector_plays_the_games_own_play(example: dict[str, Any]) -> None:
    """What Tianshou's random policy collected are the games that are stepped by hand with what it
    drew; nothing was illegal.
    """
    np.random.seed(0)
    twin = LearnerGames(GAMES, 3, max_turns=40, opponents="random", illegal="raise")
    twin.reset(5)
    envs = seeded(example, num_players=3)
    policy = MARLRandomDiscreteMaskedOffPolicyAlgorithm(action_space=envs.action_space[0])
    buffer = VectorReplayBuffer(GAMES * STEPS, GAMES)
    collector = Collector(policy, envs, buffer)
    collector.reset()
    collected = collector.collect(n_step=GAMES * STEPS)
    assert collected.n_collected_steps == len(buffer) == GAMES * STEPS
    ends = 0
    for number in range(STEPS):
        now = buffer[np.arange(GAMES) * STEPS + number]
        np.testing.assert_array_equal(now.obs.obs, twin.observation())
        np.testing.assert_array_equal(now.obs.mask, twin.mask() != 0)
        assert now.obs.mask[np.arange(GAMES), now.act].all()
        twin.step(now.act.astype(np.int64))
        np.testing.assert_array_equal(now.rew, twin.reward)
        np.testing.assert_array_equal(now.terminated, twin.done & ~twin.truncated)
        np.testing.assert_array_equal(now.truncated, twin.truncated)
        np.testing.assert_array_equal(now.obs_next.obs, twin.observation())
        np.testing.assert_array_equal(now.obs_next.mask, twin.mask() != 0)
        ends += int(twin.done.sum())
        twin.reset(rows=np.flatnonzero(twin.done))
    assert ends == collected.n_collected_episodes > 0


def test_whole_games_are_collected(example: dict[str, Any]) -> None:
    """With `n_episode` Tianshou steps fewer and fewer rows, and each episode's reward is its game's
    outcome.
    """
    np.random.seed(0)
    envs = seeded(example)
    policy = MARLRandomDiscreteMaskedOffPolicyAlgorithm(action_space=envs.action_space[0])
    collector = Collector(policy, envs, VectorReplayBuffer(10_000, GAMES))
    collector.reset()
    collected = collector.collect(n_episode=GAMES + 1)
    assert collected.n_collected_episodes == GAMES + 1
    assert set(collected.returns.tolist()) <= {-1.0, 0.0, 1.0}


def test_a_seed_decides_the_games(example: dict[str, Any]) -> None:
    envs, twin = seeded(example), seeded(example)
    first, _ = envs.reset()
    np.testing.assert_array_equal(first.obs, twin.reset()[0].obs)
    following, infos = envs.reset([1, 3])
    assert [info["env_id"] for info in infos] == [1, 3]
    assert (following.obs != first.obs[[1, 3]]).any(axis=1).all()
    np.testing.assert_array_equal(envs.reset(seed=5)[0].obs, first.obs)


def test_an_illegal_action_is_an_error(example: dict[str, Any]) -> None:
    envs = seeded(example)
    start, _ = envs.reset()
    with pytest.raises(IllegalActionError, match="not legal"):
        envs.step(start.mask.argmin(axis=1))


def test_dqn_learns_from_legal_actions(example: dict[str, Any]) -> None:
    """A short training changes the network; greedy and explored actions were all legal, or the
    games would have refused them.
    """
    envs = seeded(example)
    dqn = example["make_dqn"](envs)
    before = [weights.detach().clone() for weights in dqn.policy.model.parameters()]
    buffer = VectorReplayBuffer(GAMES * STEPS, GAMES)
    training = OffPolicyTrainerParams(
        training_collector=Collector(dqn, envs, buffer, exploration_noise=True),
        max_epochs=1,
        epoch_num_steps=GAMES * STEPS,
        collection_step_num_env_steps=GAMES * 30,
        update_step_num_gradient_steps_per_sample=1 / 16,
        verbose=False,
        show_progress=False,
    )
    result = dqn.run_training(training)
    assert result.timing.total_time > 0
    assert len(buffer) == GAMES * STEPS
    assert buffer.obs.mask[np.arange(len(buffer)), buffer.act].all()
    assert any(
        (weights != earlier).any()
        for weights, earlier in zip(dqn.policy.model.parameters(), before, strict=True)
    )


def test_the_program_says_how_fast_it_was(
    example: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    example["main"](["--games", "4", "--steps", "32", "--epochs", "1"])
    assert capsys.readouterr().out.endswith(" steps/s\n")
