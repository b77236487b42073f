"""TorchRL's environment plays the games that anybody else would play, by TorchRL's own checks,
policies and rollouts.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skyenv import Games, IllegalActionError

pytest.importorskip("torchrl")
import torch
from tensordict import TensorDict
from torchrl.collectors import Collector
from torchrl.envs import ActionMask, TransformedEnv
from torchrl.envs.utils import check_env_specs

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "libraries" / "with_torchrl.py"


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    """The program's names."""
    return runpy.run_path(str(EXAMPLE))


def random_env(example: dict[str, Any], *arguments: Any, **options: Any) -> Any:
    """The environment, whose `rand_action` is TorchRL's and draws what the mask allows."""
    return TransformedEnv(example["FifthAvenueEnv"](*arguments, **options), ActionMask())


@pytest.mark.parametrize("players", [2, 4])
def test_torchrl_checks_the_specs(example: dict[str, Any], players: int) -> None:
    env = random_env(example, 3, players, seed=1)
    check_env_specs(env, break_when_any_done="both")
    check_env_specs(env, seed=7)


def test_a_random_rollout_is_the_games_own_play(example: dict[str, Any]) -> None:
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


def test_a_reset_begins_with_the_seed(example: dict[str, Any]) -> None:
    env = random_env(example, 2, seed=9)
    first = env.reset()
    again = env.reset()
    assert not torch.equal(first["observation"], again["observation"])  # the next games
    env.set_seed(9)
    assert torch.equal(env.reset()["observation"], first["observation"])
    env.rollout(3)
    assert env.games.seeds.tolist() == [11, 12]


def test_rows_that_ended_wait_for_the_others(example: dict[str, Any]) -> None:
    """`break_when_all_done`: a game of every row, until the last one is over; none is stepped after
    its end.
    """
    torch.manual_seed(0)
    env = random_env(example, 5, seed=3, max_turns=60)
    played = env.rollout(10_000, break_when_any_done=False, break_when_all_done=True)
    done = played["next", "done"].squeeze(-1)
    assert done[:, -1].all()
    lengths = (~done).sum(dim=1) + 1
    assert len(set(lengths.tolist())) > 1
    for row, length in enumerate(lengths.tolist()):
        alone = Games(1, seed=3 + row, max_turns=60, autoreset=False)
        for action in played["action"][row, :length].tolist():
            alone.step([action])
        assert alone.done[0]
        np.testing.assert_array_equal(
            played["next", "reward"][row, length - 1].numpy(), alone.reward[0]
        )


def test_a_masked_policy_draws_what_is_legal(example: dict[str, Any]) -> None:
    """MaskedCategorical keeps to the mask however much the scores favour others, also in a
    collector, over resets.
    """
    torch.manual_seed(0)
    env = example["FifthAvenueEnv"](4, seed=2, max_turns=20)
    policy = example["make_policy"](env)
    with torch.no_grad():
        next(policy.parameters()).mul_(1000)
    collector = Collector(env, policy, frames_per_batch=4 * 150, total_frames=4 * 300)
    batches = [batch.clone() for batch in collector]
    assert len(batches) == 2
    for batch in batches:
        assert batch["action_mask"].gather(-1, batch["action"].unsqueeze(-1)).all()
        now = batch[:, 0]
        assert policy.get_dist(now).probs[~now["action_mask"]].eq(0).all()
    assert sum(int(batch["next", "done"].sum()) for batch in batches) > 0


def test_an_illegal_action_is_an_error(example: dict[str, Any]) -> None:
    env = example["FifthAvenueEnv"](2, seed=1)
    start = env.reset()
    illegal = (~start["action_mask"]).int().argmax(dim=1)
    with pytest.raises(IllegalActionError, match="not legal"):
        env.step(start.update({"action": illegal}))


def test_learning_makes_better_paid_actions_likelier(example: dict[str, Any]) -> None:
    """Of two decisions alike, that of a seat which was paid from then on becomes likelier, that of
    one which paid rarer.
    """
    env = example["FifthAvenueEnv"](2, seed=1)
    policy = example["make_policy"](env)
    now = env.reset()
    now = now.update(
        {"observation": now["observation"][[0, 0]], "action_mask": now["action_mask"][[0, 0]]}
    )
    actions = now["action_mask"][0].nonzero().flatten()[:2]
    rewards = torch.tensor([[[0.0, 0.0], [1.0, -1.0]], [[0.0, 0.0], [-1.0, 1.0]]])
    steps = TensorDict.stack(
        [now.update({"action": actions, "seat": torch.zeros(2, 1, dtype=torch.int64)}).clone()] * 2,
        dim=1,
    )
    steps["next"] = TensorDict(
        {"reward": rewards, "done": torch.zeros(2, 2, 1, dtype=torch.bool)}, (2, 2)
    )
    before = policy.get_dist(now).log_prob(actions)
    example["learn"](policy, torch.optim.SGD(policy.parameters(), 0.01), steps)
    after = policy.get_dist(now).log_prob(actions)
    assert after[0] > before[0]
    assert after[1] < before[1]


def test_the_program_says_how_fast_it_was(
    example: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    example["main"](["--games", "4", "--steps", "40"])
    assert capsys.readouterr().out.endswith(" steps/s\n")
