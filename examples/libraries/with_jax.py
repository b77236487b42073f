"""JAX: a jitted rollout of a masked policy, with environment steps by `io_callback`.

``python examples/libraries/with_jax.py`` runs a rollout twice, the first time to compile, and
prints steps per second. Needs `pip install -r examples/libraries/with_jax.txt`. The games stay
outside of JAX: no `vmap` over a step and no gradient through it. Every call advances them and
returns copies.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

from skyenv import Games

# ---- environment ----


class Step(NamedTuple):
    """The result of a step in n games of p players.

    Attributes:
        observation: float32 (n, OBSERVATION_SIZE), of the seat to act.
        mask: bool (n, 103), legal actions.
        seat: int32 (n,), the seat to act.
        reward: float32 (n, p), rewards of all seats.
        done: bool (n,), whether the step ended a game; the row already has the next one.
        truncated: bool (n,), whether that game was truncated.
    """

    observation: Any
    mask: Any
    seat: Any
    reward: Any
    done: Any
    truncated: Any


def snapshot(games: Games) -> Step:
    """Return the games' state in new arrays, as JAX may alias an array that the next step
    overwrites.
    """
    mask, seat = games.mask.astype(np.bool_), games.seat.astype(np.int32)
    return Step(
        games.observation.copy(),
        mask,
        seat,
        games.reward.copy(),
        games.done.copy(),
        games.truncated.copy(),
    )


def stepper(games: Games) -> Callable[[Any], Step]:
    """Return a function for compiled code from actions, integers (n,), to a :class:`Step`.

    Calls are ordered.
    """
    shapes = jax.tree.map(
        lambda array: jax.ShapeDtypeStruct(array.shape, array.dtype), snapshot(games)
    )

    def play(actions: Any) -> Step:
        games.step(np.asarray(actions))
        return snapshot(games)

    return lambda actions: io_callback(play, shapes, actions, ordered=True)


# ---- rollout ----


def policy(weights: Any, now: Step, key: Any) -> Any:
    """Sample legal actions from a linear policy, int32 (n,)."""
    return jax.random.categorical(key, jnp.where(now.mask, now.observation @ weights, -jnp.inf))


def make_rollout(
    games: Games, length: int
) -> Callable[[Any, Step, Any], tuple[Step, tuple[Step, Any]]]:
    """Return a compiled function from weights, current step and key to the final step, all steps
    and all actions.
    """
    step = stepper(games)

    def rollout(weights: Any, now: Step, key: Any) -> tuple[Step, tuple[Step, Any]]:
        def once(now: Step, key: Any) -> tuple[Step, tuple[Step, Any]]:
            actions = policy(weights, now, key)
            following = step(actions)
            return following, (following, actions)

        return jax.lax.scan(once, now, jax.random.split(key, length))

    return jax.jit(rollout)


def main(arguments: list[str] | None = None) -> None:
    """Play and print steps per second."""
    parser = argparse.ArgumentParser(description="A rollout in JAX.")
    parser.add_argument("--games", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=200, help="steps per game")
    options = parser.parse_args(arguments)
    games = Games(options.games, seed=1)
    rollout = make_rollout(games, options.steps)
    now = jax.tree.map(jnp.asarray, snapshot(games))
    weights = jnp.zeros((now.observation.shape[1], now.mask.shape[1]))
    for seed in range(2):
        started = time.perf_counter()
        now, (steps, _) = jax.block_until_ready(rollout(weights, now, jax.random.key(seed)))
        seconds = time.perf_counter() - started
    print(f"{int(steps.done.sum())} games ended")
    print(f"{options.games * options.steps / seconds:,.0f} steps/s")


if __name__ == "__main__":
    main()
