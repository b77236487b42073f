"""The trainer: losses, schedules, pools, averaging and resumption."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from experiments.training import train
from experiments.training.ppo import Batch
from experiments.training.seating import LEARNER, TASK_SCALE, Tables
from experiments.training.train import Training
from skyenv import GameOptions
from skyenv.agents import decide, decisions_in
from skyenv.engine.openings import measured
from skyenv_agents import GreedyAgent
from skyenv_agents.learned.layout import PRIOR_PARTS
from skyenv_agents.learned.networks import Network, NetworkAgent
from skyenv_agents.learned.prior import prior_codes
from trainings import TINY, arrays_of, begun, collector, tiny, updated, weights, without_time

# ---- loss ----


class ValuesOnly(Training):
    """Trains values alone."""

    value_updates = 10**9


@pytest.mark.parametrize("kind", [Training, ValuesOnly])
def test_a_decision_of_weight_three_counts_as_three(kind: type[Training]) -> None:
    """It gives the gradient, losses and figures of three decisions of weight 1."""
    config = tiny(
        batch=10**6, epochs=1, opponent_share=0.0, entropy=0.1, margin_weight=0.5, max_grad_norm=1e6
    )
    made = []
    for several in (True, False):
        training = begun(config, kind)
        with torch.no_grad():
            for one in training.network.parameters():  # an even policy's entropy has no gradient
                one.add_(0.4 * torch.cos(torch.arange(float(one.numel()))).view_as(one))
        batch = collector(training).collect(training.network).batch
        shift = torch.sin(torch.arange(float(len(batch))))
        batch.log_probability += 0.3 * shift  # the policy has changed since; some is clipped
        batch.target = torch.stack([shift, 2 * shift.roll(1)], dim=1)
        batch.advantage = 1.0 + shift.roll(2)
        batch.weight = torch.where(torch.arange(len(batch)) % 3 == 0, 3.0, 1.0)
        if several:
            rows = torch.arange(len(batch)).repeat_interleave(batch.weight.long())
            some: dict[str, Any] = {name: one[rows] for name, one in arrays_of(batch).items()}
            batch = Batch(**some)
            batch.weight = torch.full((len(rows),), 7.0)  # only how they compare counts
        figures = training.improve(batch)
        gradients = [
            one.grad.flatten() for one in training.network.parameters() if one.grad is not None
        ]
        made.append((torch.cat(gradients), figures))
    (repeated, wanted), (weighted, figures) = made
    assert repeated.abs().max() > 0.01
    assert torch.allclose(weighted, repeated, atol=1e-6, rtol=1e-3)
    assert figures == pytest.approx(wanted, rel=1e-3, abs=1e-6)
    assert figures["change"] > 0.01


# ---- lessons ----


def test_updates_follow_advantages_and_value_targets() -> None:
    training = begun(tiny(batch=10**6, epochs=30, target_kl=9.0, learning_rate=0.01, warm_up=0))
    batch = collector(training).collect(training.network).batch
    good = torch.arange(len(batch)) % 2 == 0
    batch.advantage = torch.where(good, 1.0, -1.0)
    batch.target = torch.tensor([[0.5, -0.25]]).repeat(len(batch), 1)

    def seen() -> tuple[torch.Tensor, torch.Tensor]:
        with torch.no_grad():
            log_probabilities, values = training.network(batch.codes, batch.masks)
        return log_probabilities.gather(1, batch.action[:, None])[:, 0], values

    (before, values), _ = seen(), training.improve(batch)
    after, learned = seen()
    assert (after - before)[good].mean() > 0.02
    assert (after - before)[~good].mean() < -0.02
    off, left = ((each - batch.target).abs().mean(dim=0) for each in (values, learned))
    assert (left < 0.5 * off).all()


def test_tasks_are_trained_on_payoffs_and_evaluated_by_nash_conv(tmp_path: Path) -> None:
    arguments = ["--run", str(tmp_path), *TINY, "--task", "duel-3", "--paired-seeds", "1"]
    assert train.main(arguments) == 0
    evaluation = json.loads((tmp_path / "evaluation.json").read_text())
    assert [row["opening"] for row in evaluation] == measured("duel-3", 8)
    assert all(row["nash_conv"] > 0 for row in evaluation)
    assert Network.load(tmp_path / "model.npz").about["reward"] == "task duel-3"
    tables = Tables(50, GameOptions(task="duel-3/0"), 1)
    paid, rng = 0.0, np.random.default_rng(1)
    for _ in range(30):
        legal = tables.games.mask * rng.random(tables.games.mask.shape)
        reward, _, _ = tables.step(legal.argmax(axis=1))
        assert reward * TASK_SCALE == pytest.approx(tables.games.reward)
        paid += abs(reward).sum()
    assert paid > 0


def test_weight_decay_shrinks_matrices_alone() -> None:
    """Without any gradient, in one step of Adam."""
    nothing: dict[str, Any] = {"value_weight": 0.0, "margin_weight": 0.0, "entropy": 0.0}
    nothing |= {"batch": 10**6, "epochs": 1, "warm_up": 0, "final_rate": 1.0}
    training = begun(tiny(**nothing, weight_decay=0.5, learning_rate=0.1))
    batch = collector(training).collect(training.network).batch
    batch.advantage[:] = 0.0
    before = [one.detach().clone() for one in training.network.parameters()]
    training.improve(batch)
    for old, new in zip(before, training.network.parameters(), strict=True):
        assert torch.allclose(new, 0.95 * old if old.ndim == 2 else old)


@pytest.mark.parametrize(("limit", "passes"), [(1e-12, 1), (9.0, 4)])
def test_target_kl_stops_an_update(limit: float, passes: int) -> None:
    training = begun(tiny(epochs=4, target_kl=limit, warm_up=0, batch=64, opponent_share=0.0))
    training.update()
    assert training.decisions // 64 > 1
    steps = int(
        training.optimiser.state[training.network.get_parameter("layers.actions.weight")]["step"]
    )
    assert steps == passes * (training.decisions // 64)


def test_a_trained_start_skips_value_updates(tmp_path: Path) -> None:
    """Value updates alone would damage the shared layers; the first steps are small. All of the
    file is restored.
    """
    path = tmp_path / "model.npz"
    path.write_bytes(updated(begun(tiny(prior="greedy", value_updates=2)), 4).model())
    going_on = begun(
        tiny(
            prior="greedy",
            value_updates=2,
            start=str(path),
            warm_up=4,
            final_rate=1.0,
            learning_rate=0.004,
        )
    )
    assert not going_on.only_value
    for name, array in Network.load(path).weights.items():
        assert np.array_equal(going_on.frozen().weights[name], array)
    before = going_on.network.get_parameter("layers.actions.weight").detach().clone()
    going_on.update()
    assert going_on.optimiser.param_groups[0]["lr"] == pytest.approx(0.001)
    assert not torch.equal(going_on.network.get_parameter("layers.actions.weight"), before)


# ---- decisions, prior, opponents ----


def test_an_untrained_agent_plays_like_its_prior() -> None:
    """The whole network, as it is made for a run, and the agent of its file."""
    config = tiny(players="3", prior="greedy", games=64, steps=1, hidden=64, entity_dim=16)
    training = begun(config)
    plays = collector(training)
    tables, greedy = plays.tables[0], GreedyAgent()
    given = prior_codes(greedy, decisions_in(tables.games, greedy), True) / PRIOR_PARTS
    player = NetworkAgent(training.frozen(), deterministic=True)
    decided = decide(tables.games, player)
    plays.collect(training.network)
    mine = np.flatnonzero(plays.mine[0])
    with torch.no_grad():
        log_probabilities, _ = training.network(plays.codes[0, mine], plays.masks[0, mine])
    for chosen in (log_probabilities.argmax(dim=1).numpy(), decided[mine]):
        behind = given[mine, chosen]
        assert (behind > -0.1).all()
        assert (behind == 0).mean() > 0.9
    assert (given[mine].min(axis=1) < -0.5).mean() > 0.5  # it was a choice


def test_value_updates_leave_the_policy_unchanged() -> None:
    """The layers of the policy to the last bit; past policies, which would all be the prior, do not
    join.
    """
    settings: dict[str, Any] = {"max_turns": 12, "learning_rate": 1e-3, "epochs": 4, "warm_up": 0}
    settings |= {"prior": "greedy", "prior_weight": 2.0, "value_updates": 4, "decisions": 10**9}
    training = begun(tiny(**settings))
    kept = {name: tensor.clone() for name, tensor in training.network.state_dict().items()}

    def unchanged() -> set[str]:
        now = training.network.state_dict()
        return {name for name in kept if torch.equal(now[name], kept[name])}

    updated(training, 4)
    parts = ("policy", "actions", "context", "prior_weight", "prior_floor")
    assert unchanged() == {name for name in kept if any(part in name for part in parts)}
    assert not collector(training).pool.past
    updated(training, 3)
    assert unchanged() == {"rest.prior_floor"}
    assert [opponent.name for opponent in collector(training).pool.past] == ["past-6"]


def test_pools_without_fixed_opponents_fill_with_past_policies() -> None:
    training = begun(
        tiny(opponent_share=1.0, fixed_opponents="", snapshot=1, max_turns=2, decisions=10**9)
    )
    assert (collector(training).tables[0].seats == LEARNER).all()
    updated(training, 7)
    assert [opponent.name for opponent in collector(training).pool.past] == ["past-4", "past-6"]
    assert (collector(training).tables[0].seats != LEARNER).any()
    assert all(guest.name.startswith("past-") for guest in collector(training).tables[0].guests)


def test_the_agent_has_averaged_weights() -> None:
    """By hand: after four updates with a half (steps 1, 1, 2/3, 1/2) it is 0 : 1 : 2 : 3."""
    training = begun(tiny(averaging=0.5))
    newest = []
    for _ in range(4):
        updated(training, 1)
        newest.append(training.network.get_parameter("layers.trunk.weight").detach().numpy().copy())
    wanted = np.average(newest, axis=0, weights=[0, 1, 2, 3])
    assert np.allclose(training.frozen().weights["trunk.weight"], wanted, atol=1e-7)
    assert not np.allclose(newest[-1], newest[-2], atol=1e-6)


def test_win_shares_are_reported_by_kind_of_table() -> None:
    kinds: dict[str, Any] = {"players": "2,3", "side": "front,back", "games": 13}
    training = begun(tiny(**kinds, fixed_opponents="random", past_policies=0, opponent_share=1.0))
    assert set(updated(training, 12).episodes.shares) == {
        f"random, {players} players, {side}" for players in (2, 3) for side in ("front", "back")
    }


# ---- the same again ----


def test_a_resumed_training_equals_an_uninterrupted_one(tmp_path: Path) -> None:
    """Saved before the first rollout and twice in a row, with past policies at the tables."""
    changes: dict[str, Any] = {
        "players": "2,3",
        "fixed_opponents": "random,greedy",
        "opponent_share": 0.8,
        "fixed_share": 0.5,
        "decisions": 4000,
        "snapshot": 1,
        "past_policies": 1,
        "averaging": 1.0,
        "prior": "greedy",
        "value_updates": 1,
        "final_prior": 0.5,
        "precision": "bfloat16",
    }
    straight = updated(begun(tiny(**changes)), 7)
    first = begun(tiny(tmp_path, **changes))
    first.save()
    updated(first, 4).save()
    first.save()
    guests = {guest.name for tables in collector(first).tables for guest in tables.guests}
    assert guests & {"greedy", "random"}
    assert [agent.name for agent in collector(first).pool.past] == ["past-3"]  # 4 joins next
    assert "past-2" in guests
    second = Training(first.config)
    torch.manual_seed(99)
    np.random.seed(99)  # global generators don't count
    second.load()
    updated(second, 3)
    assert weights(second) == weights(straight)
    assert without_time(second.curve) == without_time(straight.curve)
    assert second.model() == straight.model()


# ---- strength ----


@pytest.mark.long
def test_make_train_comes_close_to_greedy(tmp_path: Path) -> None:
    """The run of `make train`, whose figures docs/training.md shows."""
    recipe = str(Path(train.__file__).parent / "recipes" / "first.toml")
    assert train.main(["--config", recipe, "--run", str(tmp_path / "first")]) == 0
    results = json.loads((tmp_path / "first" / "evaluation.json").read_text(encoding="utf-8"))
    shares = {result["opponent"]: result["share"] for result in results}
    assert shares["random"]["low"] >= 0.9
    assert shares["greedy"]["mean"] >= 0.4


# ---- step sizes ----


def rates(training: Training, number: int) -> list[float]:
    """The step sizes of some updates, as shares of the option's."""
    return [
        updated(training, 1).optimiser.param_groups[0]["lr"] / training.config.learning_rate
        for _ in range(number)
    ]


def test_learning_rates_warm_up_then_decay() -> None:
    some: dict[str, Any] = {"games": 2, "steps": 8}
    rising = rates(begun(tiny(**some, final_rate=1.0, warm_up=4)), 6)
    assert rising == pytest.approx([0.25, 0.5, 0.75, 1, 1, 1])
    begun_with = begun(tiny(**some, final_rate=1.0, warm_up=2, prior="greedy", value_updates=2))
    assert rates(begun_with, 5) == pytest.approx([1, 1, 0.5, 1, 1])
    falling = rates(begun(tiny(**some, final_rate=0.1, warm_up=0, decisions=1)), 2)
    assert falling == pytest.approx([0.1, 0.1])
