"""Expert iteration: improved policies as targets, search values, subsampling, checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from trainings import SMALL, TINY, content

from experiments.training.actors import packed, unpacked
from experiments.training.expert_iteration import (
    ExpertConfig,
    SearchCollector,
    SearchedBatch,
    main,
)
from experiments.training.network import PolicyNetwork
from skyenv.agents import decide, decisions_in, make_agent
from skyenv.engine.games import Games
from skyenv.engine.kernels import outcome_of
from skyenv_agents.search.ismcts import SearchAgent

PART: dict[str, Any] = {
    **SMALL,
    "games": 4,
    "steps": 12,
    "simulations": 20,
    "prior": "greedy",
    "opponent_share": 0.0,
}


def config(**changes: Any) -> ExpertConfig:
    """Of a second or two."""
    return ExpertConfig(**{"run": "unused", **PART, **changes})


def searching(**changes: Any) -> SearchCollector:
    """A collector."""
    return SearchCollector(config(**changes), 0)


def cautious(seed: int = 1) -> PolicyNetwork:
    """A network that holds many actions to be possible."""
    torch.manual_seed(seed)
    return config(prior_weight=0.5).make_network()


def test_targets_are_the_policy_improved_by_the_experts_values() -> None:
    """Repeated from a copy of the games: equal targets, values and actions."""
    asked = config(players="2,3", steps=1, value_scale=30.0, drawn_share=0.0)
    collector, network = SearchCollector(asked, 0), cautious()
    again = [tables.games.copy() for tables in collector.tables]
    collector.collect(network)
    expert, searched = SearchAgent(20, margin=0.0), 0
    with torch.no_grad():
        logits = network(collector.codes[0], collector.masks[0])[0]
    flat = logits.clamp(min=-200.0) / 4.0
    for place, games in zip(collector.slices, again, strict=True):
        rows = np.flatnonzero(collector.searched[0, place])
        at = np.arange(collector.mine.shape[1])[place][rows]
        found = expert.search(decisions_in(games, expert, rows), flat[at].exp().numpy())
        values = (found.totals + 5 * found.values[:, None]) / (found.visits + 5)
        wanted = np.exp(logits[at].numpy()) * np.exp(30.0 * values)
        wanted /= wanted.sum(axis=1, keepdims=True)
        assert collector.policy[0, at].numpy() == pytest.approx(wanted, abs=1e-5)
        assert collector.value[0, at, 0] == pytest.approx(
            outcome_of(found.values, games.num_players), abs=1e-6
        )
        assert np.array_equal(collector.action[0, at], found.actions)
        assert not collector.policy[0, at].numpy()[games.mask[rows] == 0].any()
        searched += len(rows)
    assert searched > 0


@pytest.mark.parametrize(("renewal", "guides"), [(0, [0, 0, 0]), (2, [0, 0, 2])])
def test_the_search_is_guided_by_an_earlier_network(renewal: int, guides: list[int]) -> None:
    """Values come from the newest network."""
    collector = searching(games=2, steps=2, renewal=renewal, certain_fraction=1.0)
    networks = [cautious(seed) for seed in range(3)]
    for newest, guide in zip(networks, guides, strict=True):
        collector.collect(newest)
        assert collector.guide is not None
        expected = networks[guide].state_dict()
        assert all(
            torch.equal(weights, expected[name])
            for name, weights in collector.guide.state_dict().items()
        )
        assert collector.guide is not newest  # which learns on
        with torch.no_grad():
            values = newest(collector.codes[0], collector.masks[0])[1].numpy()
        mine = collector.mine[0]
        assert collector.value[0, mine, 1] == pytest.approx(values[mine, 1], abs=1e-5)


def test_a_guide_survives_a_checkpoint() -> None:
    collector = searching(games=2, steps=2)
    batch = collector.collect(cautious(1)).batch
    assert isinstance(batch, SearchedBatch)
    assert batch.policy.sum(dim=1).numpy() == pytest.approx(np.ones(len(batch)), abs=1e-5)
    assert not batch.policy[~batch.masks].any()
    other = SearchCollector(collector.config, 0, unpacked(packed(collector.state())))
    first, second = (each.collect(cautious(2)) for each in (collector, other))
    assert content([first]) == content([second])


def test_near_certain_decisions_are_subsampled() -> None:
    """The others are sampled from the policy, excluded from the loss; weights stand for them."""
    collector = searching(games=60, steps=20, certain_fraction=0.3, prior_weight=60.0)
    network = config(prior_weight=60.0).make_network()
    rollout = collector.collect(network)
    with torch.no_grad():
        probabilities = network(collector.codes.flatten(0, 1), collector.masks.flatten(0, 1))[
            0
        ].exp()
    best, action = (probabilities.amax(1).numpy(), probabilities.argmax(1).numpy())
    best, action = best.reshape(collector.mine.shape), action.reshape(collector.mine.shape)
    sure = collector.mine & (best > 0.99)
    clear = np.abs(best - 0.99) > 1e-4  # sums over other batches may differ in their last digits
    assert np.array_equal((sure & clear), (collector.certain & clear))
    assert 0.2 < sure[collector.mine].mean() < 1.0
    assert collector.searched[collector.mine & ~sure & clear].all()
    assert collector.searched[sure].mean() == pytest.approx(0.3, abs=0.06)
    left = sure & ~collector.searched
    assert np.array_equal(collector.action[left], action[left])
    assert len(rollout.batch) < 0.7 * rollout.decisions
    assert float(rollout.batch.weight.sum()) == pytest.approx(rollout.decisions, rel=1e-3)


def test_the_policy_loss_is_the_cross_entropy_to_the_targets() -> None:
    network = cautious()
    batch = searching().collect(network).batch
    assert isinstance(batch, SearchedBatch)
    with torch.no_grad():
        log_probabilities, _ = network(batch.codes, batch.masks)
    rows = torch.arange(len(batch)).flip(0)
    losses = batch.policy_losses(rows, log_probabilities.flip(0), torch.zeros(1), 0.0).flip(0)
    by_hand = [
        -float((row * told)[row > 0].sum())
        for row, told in zip(batch.policy, log_probabilities, strict=True)
    ]
    assert losses.numpy() == pytest.approx(by_hand, abs=1e-3)


def test_the_trained_agent_plays(tmp_path: Path) -> None:
    words = "--games 4 --steps 8 --simulations 10 --decisions 60 --prior greedy"
    assert main([*TINY, *words.split(), "--run", str(tmp_path)]) == 0
    games = Games(3, 2)
    assert games.mask[np.arange(3), decide(games, make_agent(tmp_path / "model.npz"))].all()
