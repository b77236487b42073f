"""JAX plays the games that anybody else would play, and keeps what it was given."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from skyenv import Games

jax = pytest.importorskip("jax")

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "libraries" / "with_jax.py"


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    """The program's names."""
    return runpy.run_path(str(EXAMPLE))


def test_a_compiled_rollout_is_the_games_own_play(example: dict[str, Any]) -> None:
    """All steps, kept until the end, are those of the same games stepped by hand with the actions
    that were drawn.
    """
    games, twin = Games(6, 3, seed=5), Games(6, 3, seed=5)
    weights = jax.numpy.zeros((twin.observation.shape[1], twin.mask.shape[1]))
    start = jax.tree.map(jax.numpy.asarray, example["look"](games))
    rollout = example["make_rollout"](games, 300)
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


def test_an_illegal_action_is_an_error(example: dict[str, Any]) -> None:
    games = Games(2, seed=1)
    step = jax.jit(example["stepper"](games))
    illegal = (games.mask == 0).argmax(axis=1)
    with pytest.raises(Exception, match="not legal"):
        jax.block_until_ready(step(illegal))


def aligned(like: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """An array of the same shape, whose memory begins where JAX takes it as it is: at a multiple of
    64 bytes.
    """
    raw = np.empty(like.nbytes + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + like.nbytes].view(np.float32).reshape(like.shape)


@pytest.mark.parametrize("take", [jax.numpy.from_dlpack, jax.device_put])
def test_what_jax_takes_as_it_is_changes_with_the_next_step(take: Callable[[Any], Any]) -> None:
    """That is why the bridge copies; `new_arrays=True` does as well."""
    shared = Games(4, 3, seed=5, out={"observation": aligned(Games(4, 3).observation)})
    copied = Games(4, 3, seed=5, new_arrays=True)
    for games, changes in ((shared, True), (copied, False)):
        before = games.observation.copy()
        taken = jax.block_until_ready(take(games.observation))
        games.step(games.mask.argmax(axis=1))
        assert (games.observation != before).any()
        assert (np.asarray(taken) != before).any() == changes


def test_the_program_says_how_fast_it_was(
    example: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    example["main"](["--games", "8", "--steps", "40"])
    assert capsys.readouterr().out.endswith(" steps/s\n")
