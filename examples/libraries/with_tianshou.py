"""Tianshou: a batched `BaseVectorEnv` with one learner among agents; masked collectors and DQN by
Tianshou's trainer.

``python examples/libraries/with_tianshou.py`` trains against `random`, prints the mean outcome of
the learner's games, and at last the steps a second of a collector with the masked policy. Needs
`pip install -r examples/libraries/with_tianshou.txt`.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import torch
from tianshou.algorithm.modelfree.dqn import DQN, DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import BaseVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

from skyenv.envs.learner import LearnerGames
from skyenv.envs.spaces import action_space

# ---- bridge ----


class FifthAvenueEnvs(BaseVectorEnv):  # type: ignore[misc]
    """`num_games` games as Tianshou's vector environment, in one batch, without a worker for each.

    Observations are batches of `obs` float32 (k, OBSERVATION_SIZE) and `mask` bool (k, 103), where
    Tianshou's policies look for it; rewards float64 (k,), terminations and truncations bool (k,),
    infos dicts with `env_id`. A step of a row is a decision of its learner, with what the others do
    until its next one.

    Args:
        num_games: rows.
        options: those of :class:`skyenv.envs.learner.LearnerGames`: `num_players`, `opponents`,
            `seat`, `reward` …
    """

    def __init__(self, num_games: int, **options: Any) -> None:
        # BaseVectorEnv's own __init__ makes a worker for each game; these are what Tianshou reads
        # of what it sets.
        self.core = LearnerGames(num_games, **options)
        self.env_num, self.is_async, self.is_closed = num_games, False, False
        self.next_seed: int | list[int] | None = None

    def _look(self, rows: Any) -> tuple[Any, Any]:
        observations = Batch(obs=self.core.observation(rows), mask=self.core.mask(rows) != 0)
        return observations, np.array([{"env_id": row} for row in rows.tolist()])

    def reset(self, env_id: Any = None, **options: Any) -> tuple[Any, Any]:
        """Begin new games in all rows or in some; a seed counts as for `LearnerGames.reset`.

        Returns observations, infos.
        """
        rows = np.asarray(self._wrap_id(env_id))
        seed, self.next_seed = options.get("seed", self.next_seed), None
        self.core.reset(seed, rows)
        return self._look(rows)

    def step(self, action: Any, id: Any = None) -> tuple[Any, Any, Any, Any, Any]:  # noqa: A002 (Tianshou's own name)
        """Play an action in all rows or in some.

        Returns observations, rewards, terminations, truncations, infos.
        """
        rows, core = np.asarray(self._wrap_id(id)), self.core
        core.step(action, rows)
        done, truncated = core.done[rows], core.truncated[rows]
        observations, infos = self._look(rows)
        return observations, core.reward[rows], done & ~truncated, truncated, infos

    def seed(self, seed: int | list[int] | None = None) -> list[Any]:
        """Seed the next reset: row i gets seed + i, or its entry of a list."""
        self.next_seed = seed
        return [None] * self.env_num

    def get_env_attr(self, key: str, id: Any = None) -> list[Any]:  # noqa: A002 (Tianshou's own name)
        """The spaces, which Tianshou asks for, of all rows or of some."""
        spaces = {"action_space": action_space(), "observation_space": self.core.space}
        return [spaces.get(key) for _ in self._wrap_id(id)]

    def close(self) -> None:
        """Do nothing: there are no workers."""


# ---- use ----


def make_dqn(envs: FifthAvenueEnvs) -> Any:
    """DQN with a small network; it explores among the legal actions alone."""
    actions = action_space()
    network = Net(state_shape=envs.core.space.shape, action_shape=int(actions.n), hidden_sizes=[64])
    policy = DiscreteQLearningPolicy(model=network, action_space=actions, eps_training=0.2)
    return DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=1e-3),
        gamma=0.99,
        n_step_return_horizon=5,
        target_update_freq=100,
    )


def main(arguments: list[str] | None = None) -> None:
    """Train, collect and print steps a second."""
    parser = argparse.ArgumentParser(description="DQN in Tianshou.")
    parser.add_argument("--games", type=int, default=64)
    parser.add_argument("--steps", type=int, default=128, help="of every game, in an epoch")
    parser.add_argument("--epochs", type=int, default=2)
    options = parser.parse_args(arguments)
    np.random.seed(1)
    torch.manual_seed(1)
    envs = FifthAvenueEnvs(options.games, opponents="random")
    envs.seed(1)
    dqn = make_dqn(envs)
    steps = options.games * options.steps
    collector = Collector(
        dqn, envs, VectorReplayBuffer(2 * steps, options.games), exploration_noise=True
    )
    training = OffPolicyTrainerParams(
        training_collector=collector,
        max_epochs=options.epochs,
        epoch_num_steps=steps,
        collection_step_num_env_steps=8 * options.games,
        update_step_num_gradient_steps_per_sample=1 / 16,
        verbose=False,
        show_progress=False,
    )
    dqn.run_training(training)
    collector.reset()
    started = time.perf_counter()
    collected = collector.collect(n_step=steps)
    seconds = time.perf_counter() - started
    mean = collected.returns_stat.mean if collected.n_collected_episodes else float("nan")
    print(f"{collected.n_collected_episodes} games ended, mean outcome {mean:.2f}")
    print(f"{collected.n_collected_steps / seconds:,.0f} steps/s")


if __name__ == "__main__":
    main()
