"""AgileRL: masked PPO in its rollout buffer, and its tests of agents, on Gymnasium's vector
environment, one batch of games.

``python examples/libraries/with_agilerl.py`` trains against `random`, prints the mean outcome of
the learner's games, and at last the steps a second of AgileRL's rollouts. Needs `pip install -r
examples/libraries/with_agilerl.txt`.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import gymnasium
import numpy as np
import torch
from agilerl.algorithms.ppo import PPO
from agilerl.rollouts import collect_rollouts

# ---- bridge ----


def make_envs(num_games: int, **options: Any) -> Any:
    """`num_games` games as Gymnasium's vector environment; `options` are its options.

    AgileRL finds the mask in ``info["action_mask"]``, where it stands anyway. It takes every step
    for a decision, so rows are reset in the step in which they end.
    """
    return gymnasium.make_vec(
        "skyenv:skyenv/FifthAvenue-v0", num_envs=num_games, autoreset_mode="SameStep", **options
    )


# ---- use ----


def make_agent(envs: Any, steps: int) -> Any:
    """PPO that learns from `steps` steps of every game at a time."""
    network = {"encoder_config": {"hidden_size": [64]}, "head_config": {"hidden_size": [64]}}
    sizes = {"num_envs": envs.num_envs, "learn_step": steps * envs.num_envs, "batch_size": 256}
    spaces = envs.single_observation_space, envs.single_action_space
    return PPO(*spaces, net_config=network, use_rollout_buffer=True, lr=3e-4, **sizes)


def main(arguments: list[str] | None = None) -> None:
    """Train, play rollouts and print steps a second."""
    parser = argparse.ArgumentParser(description="PPO in AgileRL.")
    parser.add_argument("--games", type=int, default=64)
    parser.add_argument("--steps", type=int, default=128, help="of every game, in an iteration")
    parser.add_argument("--iterations", type=int, default=3)
    options = parser.parse_args(arguments)
    torch.manual_seed(1)
    envs = make_envs(options.games, opponents="random")
    envs.reset(seed=1)
    agent = make_agent(envs, options.steps)
    last: dict[str, Any] = {}
    for _ in range(options.iterations):
        started = time.perf_counter()
        outcomes, *now = collect_rollouts(agent, envs, options.steps, **last)
        seconds = time.perf_counter() - started
        last = dict(
            zip(("last_obs", "last_done", "last_scores", "last_info"), now, strict=True)
        )  # games go on
        agent.learn()
        print(
            f"{len(outcomes)} games ended, mean outcome "
            f"{np.mean(outcomes) if outcomes else float('nan'):.2f}"
        )
    print(f"{options.games * options.steps / seconds:,.0f} steps/s")


if __name__ == "__main__":
    main()
