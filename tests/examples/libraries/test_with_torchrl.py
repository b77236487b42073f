"""The TorchRL example passes TorchRL's checks and plays the games of the engine."""

from typing import Any

import numpy as np
import pytest

from skyenv import Games

pytest.importorskip("torchrl")
import torch
from torchrl.envs import ActionMask, TransformedEnv
from torchrl.envs.utils import check_env_specs


def random_env(example: Any, *arguments: Any, **options: Any) -> Any:
    """The environment, whose `rand_action` is TorchRL's and draws what the mask allows."""
    return TransformedEnv(example.FifthAvenueEnv(*arguments, **options), ActionMask())


def check_equal(told: Any, **arrays: np.ndarray) -> None:
    """Fail unless TorchRL's tensors have these values; a column stands for its numbers."""
    for name, array in arrays.items():
        np.testing.assert_array_equal(told[name].numpy().reshape(array.shape), array, name)


@pytest.mark.parametrize("players", [2, 4])
def test_torchrls_check_of_specs_passes(example: Any, players: int) -> None:
    env = random_env(example, 3, players, seed=1)
    check_env_specs(env, break_when_any_done="both")
    check_env_specs(env, seed=7)


def test_a_random_rollout_equals_play_in_games(example: Any) -> None:
    """All steps, kept until the end, are those of games with automatic resets stepped by hand with
    what was drawn.
    """
    twin = Games(8, 3, seed=5, max_turns=30)
    torch.manual_seed(0)
    env = random_env(example, 8, 3, seed=5, max_turns=30)
    played = env.rollout(400, break_when_any_done=False)
    assert played.batch_size == (8, 400)
    for number in range(400):
        now = played[:, number]
        allowed = twin.mask != 0
        check_equal(now, action_mask=allowed, observation=twin.observation, seat=twin.seat)
        assert not now["done"].any()
        chosen = now["action"].numpy()
        assert allowed[np.arange(8), chosen].all()
        twin.step(chosen)
        after = now["next"]
        ends = {"truncated": twin.truncated, "terminated": twin.done & ~twin.truncated}
        check_equal(after, reward=twin.reward, done=twin.done, **ends)
        assert (after["seat"][:, 0].numpy() < 0).tolist() == twin.done.tolist()
        assert after["action_mask"].any(dim=1).all()
        over = twin.observe(0, state=twin.finished) if twin.done.any() else twin.observation
        expected = np.where(twin.done[:, None], over, twin.observation)
        check_equal(after, observation=expected)
    assert played["next", "terminated"].any()
    assert played["next", "truncated"].any()
