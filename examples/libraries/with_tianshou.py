"""DQN in Tianshou: a batched `BaseVectorEnv` with one learner among agents, and masked collectors.

``python examples/libraries/with_tianshou.py`` trains against `random`. It prints the mean outcome
of the learner's games, then the steps per second of a collector with the masked policy. Needs
`pip install -r examples/libraries/with_tianshou.txt`.
"""

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

# ---- environment ----


class FifthAvenueEnvs(BaseVectorEnv):  # type: ignore[misc]
    """A Tianshou vector environment of `num_games` games in one batch, without workers.

    Observations are a Batch of `obs`, float32 (k, OBSERVATION_SIZE), and `mask`, bool (k, 103), as
    Tianshou's policies expect. Rewards are float64 (k,), terminations and truncations bool (k,),
    infos dicts with `env_id`. A step of a row is a decision of its learner and the other seats'
    decisions up to its next one.

    Args:
        num_games: number of games (rows).
        options: options of :class:`skyenv.envs.learner.LearnerGames`, such as `num_players`,
            `opponents`, `seat` and `reward`.
    """

    def __init__(self, num_games: int, **options: Any) -> None:
        # BaseVectorEnv.__init__ creates one worker per game; Tianshou uses only these attributes.
        self.core = LearnerGames(num_games, **options)
        self.env_num, self.is_async, self.is_closed = num_games, False, False
        self.next_seed: int | list[int] | None = None

    def _observe(self, rows: Any) -> tuple[Any, Any]:
        observations = Batch(obs=self.core.observation(rows), mask=self.core.mask(rows) != 0)
        return observations, np.array([{"env_id": row} for row in rows.tolist()])

    def reset(self, env_id: Any = None, **options: Any) -> tuple[Any, Any]:
        """Start new games in all rows or in some; return observations and infos.

        The seed is that of `LearnerGames.reset`.
        """
        rows = np.asarray(self._wrap_id(env_id))
        seed, self.next_seed = options.get("seed", self.next_seed), None
        self.core.reset(seed, rows)
        return self._observe(rows)

    def step(self, action: Any, id: Any = None) -> tuple[Any, Any, Any, Any, Any]:  # noqa: A002 (Tianshou's own name)
        """Play actions in all rows or in some.

        Returns observations, rewards, terminations, truncations and infos.
        """
        rows, core = np.asarray(self._wrap_id(id)), self.core
        core.step(action, rows)
        done, truncated = core.done[rows], core.truncated[rows]
        observations, infos = self._observe(rows)
        return observations, core.reward[rows], done & ~truncated, truncated, infos

    def seed(self, seed: int | list[int] | None = None) -> list[Any]:
        """Set the seeds of the next reset: seed + i for row i, or its entry of a list."""
        self.next_seed = seed
        return [None] * self.env_num

    def get_env_attr(self, key: str, id: Any = None) -> list[Any]:  # noqa: A002 (Tianshou's own name)
        """Return the spaces of all rows or of some; other attributes are None."""
        spaces = {"action_space": action_space(), "observation_space": self.core.space}
        return [spaces.get(key) for _ in self._wrap_id(id)]

    def close(self) -> None:
        """Do nothing: there are no workers."""


# ---- training ----


def make_dqn(envs: FifthAvenueEnvs) -> Any:
    """Return DQN with a small network; it explores only among legal actions."""
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
    """Train, then collect and print steps per second."""
    parser = argparse.ArgumentParser(description="DQN in Tianshou.")
    parser.add_argument("--games", type=int, default=64)
    parser.add_argument("--steps", type=int, default=128, help="steps per game and epoch")
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
