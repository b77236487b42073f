"""SuperSuit: wrappers of observations and rewards on PettingZoo's environments, tables side by side
as a vector environment.

``python examples/libraries/with_supersuit.py`` plays a game through each wrapper, then tables side
by side, and prints the decisions a second of their second part. Needs `pip install -r
examples/libraries/with_supersuit.txt`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import supersuit

from skyenv import fifth_avenue_v0

# ---- bridge ----


def make_env(**options: Any) -> Any:
    """PettingZoo's environment with `options`, its mask in the infos: SuperSuit's wrappers want
    observations that are boxes.
    """
    return fifth_avenue_v0.env(mask="info", **options)


def make_parallel_env(**options: Any) -> Any:
    """The parallel one; the mask of an agent who isn't to act allows action 0, which then does
    nothing.
    """
    return fifth_avenue_v0.parallel_env(mask="info", noop=True, **options)


# ---- use ----

WRAPPERS: Final[dict[str, Callable[[Any], Any]]] = {
    "agent_indicator": supersuit.agent_indicator_v0,
    "clip_reward": supersuit.clip_reward_v0,
    "delay_observations": lambda env: supersuit.delay_observations_v0(env, 2),
    "dtype": lambda env: supersuit.dtype_v0(env, np.float16),
    "flatten": supersuit.flatten_v0,
    "frame_stack": lambda env: supersuit.frame_stack_v2(env, 3),
    "max_observation": lambda env: supersuit.max_observation_v0(env, 2),
    "normalize_obs": supersuit.normalize_obs_v0,
    "observation_lambda": lambda env: supersuit.observation_lambda_v0(
        env, lambda observation, _: 2 * observation
    ),
    "pad_action_space": supersuit.pad_action_space_v0,
    "pad_observations": supersuit.pad_observations_v0,
    "reshape": lambda env: supersuit.reshape_v0(env, (2, 361)),
    "reward_lambda": lambda env: supersuit.reward_lambda_v0(env, lambda reward: 2 * reward),
}
"""Those that fit the game; docs/libraries.md says what is wrong with others."""


def choose(mask: npt.NDArray[np.int8], generator: np.random.Generator) -> int:
    """One of the actions that a mask allows."""
    return int(generator.choice(np.flatnonzero(mask)))


def play(env: Any, generator: np.random.Generator, seed: int) -> tuple[int, Any]:
    """Play a game at random: how many decisions it took, and the last observation."""
    env.reset(seed=seed)
    decisions, observation = 0, None
    for _ in env.agent_iter():
        observation, _, terminated, truncated, info = env.last()
        over = terminated or truncated
        env.step(None if over else choose(info["action_mask"], generator))
        decisions += not over
    return decisions, observation


def side_by_side(tables: int, **options: Any) -> Any:
    """Tables as one vector environment in Gymnasium's interface, a row for each seat of each; infos
    are a list, one each.
    """
    one = supersuit.pettingzoo_env_to_vec_env_v1(make_parallel_env(**options))
    return supersuit.concat_vec_envs_v1(one, tables, num_cpus=0, base_class="gymnasium")


def main(arguments: list[str] | None = None) -> None:
    """Play through all wrappers, then many tables, and print decisions a second."""
    parser = argparse.ArgumentParser(description="SuperSuit's wrappers.")
    parser.add_argument("--tables", type=int, default=8)
    parser.add_argument(
        "--steps", type=int, default=500, help="of all tables, in each of two parts"
    )
    options = parser.parse_args(arguments)
    generator = np.random.default_rng(1)
    for name, wrapper in WRAPPERS.items():
        decisions, observation = play(wrapper(make_env(max_turns=20)), generator, seed=1)
        print(
            f"{name}: {decisions} decisions, observations {observation.dtype} {observation.shape}"
        )
    envs = side_by_side(options.tables, num_players=3)
    _, infos = envs.reset(seed=1)
    for _ in range(2):
        started = time.perf_counter()
        for _ in range(options.steps):
            *_, infos = envs.step(
                np.array([choose(info["action_mask"], generator) for info in infos])
            )
        seconds = time.perf_counter() - started
    print(f"{options.tables * options.steps / seconds:,.0f} steps/s")


if __name__ == "__main__":
    main()
