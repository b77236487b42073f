"""The JAX example plays the games of the engine."""

from typing import Any

import numpy as np
import pytest

from skyenv import Games

jax = pytest.importorskip("jax")


def test_a_compiled_rollout_equals_play_in_games(example: Any) -> None:
    """All steps, kept until the end, are those of the same games stepped by hand with the actions
    that were drawn.
    """
    games, twin = Games(6, 3, seed=5), Games(6, 3, seed=5)
    weights = jax.numpy.zeros((twin.observation.shape[1], twin.mask.shape[1]))
    start = jax.tree.map(jax.numpy.asarray, example.snapshot(games))
    rollout = example.make_rollout(games, 300)
    for seed in range(2):  # the games go on in a second call
        start, (steps, actions) = rollout(weights, start, jax.random.key(seed))
        assert actions.shape == (300, 6)
        for number, chosen in enumerate(np.asarray(actions)):
            assert twin.mask[np.arange(6), chosen].all()
            twin.step(chosen)
            for name in ("observation", "mask", "seat", "reward", "done", "truncated"):
                np.testing.assert_array_equal(
                    np.asarray(getattr(steps, name)[number]), getattr(twin, name), name
                )
    assert twin.done.shape == (6,)
    assert np.asarray(steps.done).any()
