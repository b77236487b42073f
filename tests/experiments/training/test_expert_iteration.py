"""Expert iteration: advantages by look-ahead, losses, subsampling, checkpoints."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from experiments.training.checkpoint import packed, unpacked
from experiments.training.expert_iteration import (
    CHANGE,
    LARGEST_ADVANTAGE,
    ExpertConfig,
    Lookahead,
    lookahead_losses,
    main,
)
from experiments.training.rollouts import Collector
from skyenv.agents import decide, decisions_in, make_agent
from skyenv.arena.lookahead import CANDIDATES, MIN_PROBABILITY, LookaheadAgent
from skyenv.engine.games import Games
from skyenv.rules.state import PHASE_BID
from skyenv_agents.learned.networks import NetworkAgent
from skyenv_agents.learned.torch_network import PolicyNetwork
from trainings import SMALL, TINY, content

PART: dict[str, Any] = {
    **SMALL,
    "games": 4,
    "steps": 12,
    "prior": "greedy",
    "opponent_share": 0.0,
    "certain_fraction": 0.3,
}


def config(**changes: Any) -> ExpertConfig:
    """Of a second or two."""
    return ExpertConfig(**{"run": "unused", **PART, **changes})


def looking(**changes: Any) -> Collector:
    """A collector."""
    return Collector(config(**changes), 0, improvement=Lookahead)


def undecided(seed: int = 1, weight: float = 0.5) -> PolicyNetwork:
    """A network that holds many actions to be possible; with a weight of 6, few."""
    torch.manual_seed(seed)
    return config(prior_weight=weight).make_network()


def test_advantages_are_those_of_the_look_ahead_with_the_network() -> None:
    """Repeated from a copy of the games with the frozen network."""
    asked = config(players="2,3", games=12, steps=1, worlds=3, horizon=2)
    collector, network = Collector(asked, 0, improvement=Lookahead), undecided()
    again = [tables.games.copy() for tables in collector.tables]
    random = np.random.default_rng()
    random.bit_generator.state = collector.rng.bit_generator.state
    collector.collect(network)
    greedy = make_agent("greedy")
    about = {"prior": "greedy", "prior_version": greedy.version, "reward": "outcome"}
    agent = NetworkAgent(network.frozen(about), deterministic=True)
    expert, looked = LookaheadAgent(agent, 3, 2), 0
    for place, games in zip(collector.slices, again, strict=True):
        tried = collector.notes["tried"][0, place].numpy()
        rows = np.flatnonzero(tried.any(axis=1))
        if not rows.size:
            continue
        which, actions = np.nonzero(tried[rows])
        decisions = decisions_in(games, expert, rows, uniform=random.random(rows.size))
        values = np.full((rows.size, tried.shape[1]), np.nan)
        values[which, actions] = expert.outcomes(decisions, which, actions).mean(axis=1)
        wanted = values - np.nanmean(values, axis=1, keepdims=True)
        wanted = np.clip(wanted, -LARGEST_ADVANTAGE, LARGEST_ADVANTAGE)[which, actions]
        found = collector.notes["gain"][0, place].numpy()[rows][which, actions]
        assert found == pytest.approx(wanted, abs=1e-6)
        assert found.std() > 0.001
        looked += rows.size
    assert looked > 0


def test_probable_actions_are_tried() -> None:
    collector = looking(games=20, steps=16)
    collector.collect(undecided())
    batch = collector.collect(undecided(weight=6.0)).batch  # nothing is left of the one before
    number = batch.notes["tried"].sum(dim=1)
    assert set(number.tolist()) == {0, 2, 3, CANDIDATES}
    assert (batch.masks | ~batch.notes["tried"]).all()
    probable = (batch.notes["policy"].exp() >= MIN_PROBABILITY) & batch.masks
    assert torch.equal(number > 0, probable.sum(dim=1) > 1)
    assert (probable | ~batch.notes["tried"]).all()
    assert batch.notes["gain"][batch.notes["tried"]].abs().max() <= LARGEST_ADVANTAGE
    assert not batch.notes["gain"][number == 0].any()


def test_only_some_phases_have_look_ahead() -> None:
    collector, often = looking(games=20, steps=1, phases=("bid",)), 0
    for _ in range(60):
        phases = np.concatenate([tables.games.state["phase"] for tables in collector.tables])
        collector.collect(undecided(weight=6.0))
        looked = collector.notes["tried"][0].any(dim=1).numpy()
        assert set(phases[looked].tolist()) <= {PHASE_BID}
        often += looked.sum()
    assert often


def test_the_others_are_subsampled() -> None:
    """Weights stand for them."""
    collector = looking(games=60, steps=20, prior_weight=60.0)
    rollout = collector.collect(config(prior_weight=60.0).make_network())
    batch = rollout.batch
    without = ~batch.notes["tried"].any(dim=1)
    assert 0.2 < float(batch.weight[without].sum()) / rollout.decisions < 1.0
    assert float(batch.weight[without].mean()) == pytest.approx(1 / 0.3, rel=0.15)
    assert (batch.weight[~without] == 1).all()
    assert float(batch.weight.sum()) == pytest.approx(rollout.decisions, rel=1e-3)


def test_losses_are_least_where_the_policy_changed_by_the_advantages() -> None:
    """By CHANGE for an advantage of 1; without look-ahead, where it didn't change."""
    batch = looking(games=20, steps=16).collect(undecided(weight=6.0)).batch
    tried, before, gain = (batch.notes[name] for name in ("tried", "policy", "gain"))
    rows, looked = torch.arange(len(batch)), tried.any(dim=1)

    def changed(by: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Losses, and what of them is the improbability of all that was tried."""
        policy = torch.log_softmax((before + by).masked_fill(~batch.masks, -1e9), dim=1)
        inside = torch.where(tried, policy.exp(), 0.0).sum(dim=1)
        return lookahead_losses(batch, rows, policy, torch.zeros(1), 0.0), -inside.log()

    for share in (0.5, 1.0, 1.5):
        losses, others = changed(share * CHANGE * torch.where(tried, gain, 0.0))
        expected = 0.5 * CHANGE * ((share - 1) * gain).square().sum(dim=1)
        apart = (losses - others - expected)[looked & (gain.abs().amax(dim=1) < 0.3)]
        assert apart.abs().max() < 1e-3
    same, tilted = changed(torch.zeros(1))[0], changed(torch.randn(before.shape))[0]
    assert (~looked).sum() > 10
    assert (same <= tilted + 1e-6)[~looked].all()


def test_a_collector_goes_on_from_its_state() -> None:
    collector = looking(games=2, steps=2)
    collector.collect(undecided(1))
    state = unpacked(packed(collector.state()))
    other = Collector(collector.config, 0, state, Lookahead)
    first, second = (each.collect(undecided(2)) for each in (collector, other))
    assert content([first]) == content([second])


def test_the_trained_agent_plays(tmp_path: Path) -> None:
    words = "--games 4 --steps 8 --decisions 60 --prior greedy"
    assert main([*TINY, *words.split(), "--run", str(tmp_path)]) == 0
    games = Games(3, 2)
    assert games.mask[np.arange(3), decide(games, make_agent(tmp_path / "model.npz"))].all()
