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
        np.testing.assert_array_equal(now["action_mask"].numpy(), allowed)
        np.testing.assert_array_equal(now["observation"].numpy(), twin.observation)
        np.testing.assert_array_equal(now["seat"][:, 0].numpy(), twin.seat)
        assert not now["done"].any()
        chosen = now["action"].numpy()
        assert allowed[np.arange(8), chosen].all()
        twin.step(chosen)
        after = now["next"]
        np.testing.assert_array_equal(after["reward"].numpy(), twin.reward)
        np.testing.assert_array_equal(after["done"][:, 0].numpy(), twin.done)
        np.testing.assert_array_equal(after["truncated"][:, 0].numpy(), twin.truncated)
        np.testing.assert_array_equal(
            after["terminated"][:, 0].numpy(), twin.done & ~twin.truncated
        )
        np.testing.assert_array_equal(after["seat"][:, 0].numpy() < 0, twin.done)
        assert after["action_mask"].any(dim=1).all()
        over = twin.observe(0, state=twin.finished) if twin.done.any() else twin.observation
        expected = np.where(twin.done[:, None], over, twin.observation)
        np.testing.assert_array_equal(after["observation"].numpy(), expected)
    assert played["next", "terminated"].any()
    assert played["next", "truncated"].any()
