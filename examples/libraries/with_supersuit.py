"""SuperSuit: wrappers of observations and rewards on PettingZoo's environments, tables side by side
as a vector environment.

``python examples/libraries/with_supersuit.py`` plays tables side by side, and prints the decisions
a second of their second part. Needs `pip install -r
examples/libraries/with_supersuit.txt`.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import numpy.typing as npt
import supersuit

from skyenv import fifth_avenue_v0

# ---- bridge ----


def make_parallel_env(**options: Any) -> Any:
    """PettingZoo's parallel environment, its mask in the infos: SuperSuit's wrappers want
    observations that are boxes. The mask of an agent that isn't to act allows action 0, a no-op.
    """
    return fifth_avenue_v0.parallel_env(mask="info", noop=True, **options)


# ---- use ----


def choose(mask: npt.NDArray[np.int8], generator: np.random.Generator) -> int:
    """One of the actions that a mask allows."""
    return int(generator.choice(np.flatnonzero(mask)))


def side_by_side(tables: int, **options: Any) -> Any:
    """Tables as one vector environment in Gymnasium's interface, a row for each seat of each; infos
    are a list, one each.
    """
    one = supersuit.pettingzoo_env_to_vec_env_v1(make_parallel_env(**options))
    return supersuit.concat_vec_envs_v1(one, tables, num_cpus=0, base_class="gymnasium")


def main(arguments: list[str] | None = None) -> None:
    """Play many tables, and print decisions a second."""
    parser = argparse.ArgumentParser(description="SuperSuit's wrappers.")
    parser.add_argument("--tables", type=int, default=8)
    parser.add_argument(
        "--steps", type=int, default=500, help="of all tables, in each of two parts"
    )
    options = parser.parse_args(arguments)
    generator = np.random.default_rng(1)
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
