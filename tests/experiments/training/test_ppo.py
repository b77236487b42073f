"""PPO: advantages, and the loss of an update."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from experiments.training.ppo import Batch, Objective, advantages, clipped_losses, policy_of
from trainings import begun, collector, tiny


def slowly(
    value: Any,
    seat: Any,
    chooses: Any,
    reward: Any,
    done: Any,
    ending: Any,
    gamma: float,
    gae_lambda: float,
) -> tuple[list[float], list[bool]]:
    """Advantages of one game, forwards, from the definition: Σ (γλ)^k δ_k along a seat's own
    decisions.
    """
    steps = len(value)
    advantage, whole = [0.0] * steps, [False] * steps
    for t in np.flatnonzero(chooses).tolist():
        total, factor, now = 0.0, 1.0, t
        while True:
            got, then, over = 0.0, now, False
            while True:  # to the seat's next decision, or the end
                got += float(reward[then, seat[t]])
                over = bool(done[then])
                then += 1
                if over or then == steps or (chooses[then] and seat[then] == seat[t]):
                    break
            if not over and then == steps:
                break  # nothing to estimate from
            whole[t] = True
            following = float(ending[then - 1, seat[t]]) if over else float(value[then])
            total += factor * (got + gamma * following - float(value[now]))
            factor *= gamma * gae_lambda
            if over:
                break
            now = then
        advantage[t] = total
    return advantage, whole


@given(
    steps=st.integers(1, 14),
    number=st.integers(1, 3),
    players=st.integers(2, 4),
    seed=st.integers(0, 10**6),
    gamma=st.floats(0.5, 1),
    gae_lambda=st.floats(0, 1),
)
def test_advantages_agree_with_their_definition(
    steps: int, number: int, players: int, seed: int, gamma: float, gae_lambda: float
) -> None:
    rng = np.random.default_rng(seed)
    value = rng.normal(size=(steps, number, 1)).astype(np.float32)
    seat = rng.integers(players, size=(steps, number))
    chooses = rng.random((steps, number)) < rng.choice([0.3, 0.8, 1.0])
    reward = rng.normal(size=(steps, number, players, 1)).astype(np.float32)
    done = rng.random((steps, number)) < 0.2
    truncated = done & (rng.random((steps, number)) < 0.5)
    ending = rng.normal(size=reward.shape).astype(np.float32) * truncated[..., None, None]
    advantage, whole = advantages(value, seat, chooses, reward, done, ending, gamma, gae_lambda)
    assert advantage.dtype == np.float32
    for game in range(number):
        part = (
            value[:, game, 0],
            seat[:, game],
            chooses[:, game],
            reward[:, game, :, 0],
            done[:, game],
            ending[:, game, :, 0],
        )
        wanted, wanted_whole = slowly(*part, gamma, gae_lambda)
        assert advantage[:, game, 0] == pytest.approx(wanted, abs=1e-4)
        assert whole[:, game].tolist() == wanted_whole


def test_a_clipped_loss_gains_nothing_beyond_the_range() -> None:
    """By hand: ratios 1, 1.5 and 0.5, with a clip range of 0.2."""
    few = torch.zeros(3)
    ratio, advantage = torch.tensor([1.0, 1.5, 0.5]), torch.tensor([2.0, 2.0, -2.0])
    batch = Batch(few, few, few.long(), few, advantage, few[:, None], few)
    losses = clipped_losses(batch, torch.arange(3), few, ratio.log(), 0.2)
    assert losses.tolist() == pytest.approx([-2.0, -2.4, 1.6])
    batch.advantage = -advantage
    losses = clipped_losses(batch, torch.arange(3), few, ratio.log(), 0.2)
    assert losses.tolist() == pytest.approx([2.0, 3.0, -1.0])


def test_the_kl_penalty_pulls_towards_the_averaged_policy() -> None:
    """In proportion to the divergence, with no other loss."""
    config = tiny(batch=10**6, epochs=1, entropy=0.0, margin_weight=0.0, value_weight=0.0)
    training = begun(config)
    batch = collector(training).collect(training.network).batch
    batch.advantage = torch.zeros(len(batch))
    with torch.no_grad():
        for one in training.network.parameters():
            one.add_(0.4 * torch.cos(torch.arange(float(one.numel()))).view_as(one))
        wanted, _ = training.mean(batch.codes, batch.masks)
        strayed, _ = training.network(batch.codes, batch.masks)
    batch.notes["mean"] = policy_of(training.mean, batch, replace(config, batch=7))
    rows = torch.arange(len(batch))

    def apart(weight: float) -> float:
        objective = Objective(replace(config, mean_kl=weight), 0.0, False)
        return float(objective.loss(training.network, batch, rows)[0].detach())

    divergence = (strayed.exp() * (strayed - wanted).nan_to_num()).sum(dim=1)
    assert float(divergence.mean()) > 0.01
    assert apart(2.0) - apart(0.0) == pytest.approx(2 * float(divergence.mean()), rel=1e-3)
