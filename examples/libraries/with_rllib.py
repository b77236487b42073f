"""RLlib: PPO (new API stack) with RLlib's own action-masking module; all games of an env runner are one batch.

``python examples/libraries/with_rllib.py`` trains against `random`, prints the learner's mean share of the win, and at last the
steps a second of RLlib's env runner, which samples with the masked policy. Needs
`pip install -r examples/libraries/with_rllib.txt`.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

# ---- bridge ----


def log_win_share(*, episode: Any, metrics_logger: Any, **_: Any) -> None:
    """Log the learner's share of the win when an episode ends; the results have its mean since the previous ones."""
    metrics_logger.log_value("win_share", episode.get_infos(-1)["win_share"], reduce="mean", window=1000)


def make_config(num_games: int, **options: Any) -> Any:
    """A PPOConfig whose env runners play `num_games` games each; options are those of Gymnasium's vector environment.

    RLlib expects the autoreset mode NEXT_STEP, our default, and leaves the step out in which a row is reset. With `noop` the
    mask that it looks at there isn't empty.
    """
    return (
        PPOConfig()
        .environment("skyenv:skyenv/FifthAvenue-v0", env_config={"mask": "rllib", "noop": True, **options})
        .env_runners(num_envs_per_env_runner=num_games, gym_env_vectorize_mode="vector_entry_point")
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
        .callbacks(on_episode_end=log_win_share)
    )


# ---- use ----


def main(arguments: list[str] | None = None) -> None:
    """Train, sample and print steps a second."""
    parser = argparse.ArgumentParser(description="PPO in RLlib.")
    parser.add_argument("--games", type=int, default=64)
    parser.add_argument("--steps", type=int, default=128, help="of every game, in an iteration")
    parser.add_argument("--iterations", type=int, default=3)
    options = parser.parse_args(arguments)
    ray.init(num_cpus=1, include_dashboard=False, ignore_reinit_error=True)
    steps = options.games * options.steps
    config = make_config(options.games, opponents="random").env_runners(num_env_runners=0)  # they'd be processes of their own
    algorithm = config.training(train_batch_size_per_learner=steps, minibatch_size=min(steps, 512), num_epochs=4).build_algo()
    for _ in range(options.iterations):
        results = algorithm.train()["env_runners"]
        print(f"{results['num_episodes']} episodes ended, share of the win {results.get('win_share', float('nan')):.3f}")
    started = time.perf_counter()
    episodes = algorithm.env_runner.sample(num_timesteps=steps)
    seconds = time.perf_counter() - started
    algorithm.stop()
    print(f"{sum(len(episode) for episode in episodes) / seconds:,.0f} steps/s")


if __name__ == "__main__":
    main()
