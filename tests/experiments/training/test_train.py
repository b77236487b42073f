"""The trainer: what it learns is right, and reproduced after interruptions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from trainings import begun, collector, tiny, updated, weights, without_time

from experiments.training import train
from experiments.training.rollouts import Batch, Collector, Rollout
from experiments.training.seating import LEARNER, Tables
from experiments.training.train import Training, mean_figures
from skyenv.agents import decide, decisions_in, make_agent
from skyenv.engine.games import Games
from skyenv.engine.observation import OBSERVATION_SIZE
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.state import GAME_DTYPE
from skyenv_agents import GreedyAgent
from skyenv_agents.learned.layout import NUM_INPUTS
from skyenv_agents.learned.networks import NetworkAgent, Prior

# ---- loss ----


def test_figures_count_by_their_decisions() -> None:
    batch = Batch(*[torch.zeros(0)] * 7)
    made = [Rollout(batch, 30, [], {"entropy": 1.0}), Rollout(batch, 10, [], {"entropy": 5.0})]
    assert mean_figures(made) == {"entropy": 2.0}


class ValuesOnly(Training):
    """Trains values alone."""

    value_updates = 10**9


@pytest.mark.parametrize("kind", [Training, ValuesOnly])
def test_a_decision_of_weight_three_counts_as_three(kind: type[Training]) -> None:
    """Beside one of weight 1, it gives the same gradient, losses and figures as three of weight
    1.
    """
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
            batch = Batch(**{name: array[rows] for name, array in vars(batch).items()})
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


# ---- a game that can be solved ----


LEFT, RIGHT, UP, DOWN = 3, 40, 70, 102
SHOWN = [slice(start, 60, 3) for start in range(3)]
"""Entries of the observation that tell that seat 0 is to act, that it went left, that it went
right.
"""
PAYOFF = {(LEFT, UP): 3.0, (LEFT, DOWN): -1.0, (RIGHT, UP): 0.5, (RIGHT, DOWN): 1.0}


class ToyGames:
    """Seat 0 goes left or right, then seat 1, who sees it, up or down; that brings seat 0 its
    pay-off and seat 1 the opposite.

    Seat 0 wants left for its 3, but seat 1 answers down: best is right, answered up. Seat 1 gets 2
    for its patience while seat 0 decides, which must not be taken for a merit of any decision.
    """

    num_players = 2
    reward_kind = "toy"

    def __init__(self, number: int) -> None:
        self.num_games = number
        self.seat = np.zeros(number, np.int64)
        self.mask = np.zeros((number, NUM_ACTIONS), np.int8)
        self.observation = np.zeros((number, OBSERVATION_SIZE), np.int16)
        self.done = np.zeros(number, np.bool_)
        self.truncated = np.zeros(number, np.bool_)
        self.reward = np.zeros((number, 2), np.float32)
        self.finished = np.zeros(number, GAME_DTYPE)
        self.went = np.zeros(number, np.int64)
        self._show()

    def _show(self) -> None:
        self.mask[:] = self.observation[:] = 0
        second = self.seat == 1
        for rows, legal in ((~second, (LEFT, RIGHT)), (second, (UP, DOWN))):
            for action in legal:
                self.mask[rows, action] = 1
        for shown, here in zip(
            SHOWN,
            (~second, second & (self.went == LEFT), second & (self.went == RIGHT)),
            strict=True,
        ):
            self.observation[here, shown] = 1

    def step(self, actions: Any) -> None:
        assert (self.mask[np.arange(self.num_games), actions] == 1).all()
        self.done[:] = self.seat == 1
        for row, action in enumerate(actions.tolist()):
            if self.seat[row]:
                payoff = PAYOFF[int(self.went[row]), action]
                self.reward[row] = payoff, -payoff
            else:
                self.reward[row] = 0, 2
                self.went[row] = action
        self.seat[:] = 1 - self.seat
        self._show()


class ToyTables(Tables):
    """Tables at which that is played; seat 0 is always 1 VP further ahead than before."""

    def __init__(self, number: int) -> None:
        self.games: Any = ToyGames(number)
        self.guests = []
        self.seats = np.full((number, 2), LEARNER)

    @property
    def label(self) -> str:
        return ""

    def spread(self, rng: np.random.Generator) -> None:
        """See :meth:`Tables.spread`: all games begin together."""

    def step(self, actions: Any) -> Any:
        self.games.step(actions)
        return (
            self.games.reward.copy(),
            np.tile(np.array([1, -1], np.float32), (self.games.num_games, 1)),
            self.games.done.copy(),
        )


class ToyCollector(Collector):
    """Plays it."""

    def make_tables(self, part: int) -> list[Tables]:
        """See :meth:`Collector.make_tables`."""
        return [ToyTables(self.config.games)]


class ToyTraining(Training):
    """Learns it."""

    COLLECTOR = ToyCollector


def toy(**changes: Any) -> Training:
    """A training at it."""
    settings = {
        "games": 20,
        "steps": 13,
        "batch": 80,
        "opponent_share": 0.0,
        "learning_rate": 0.01,
        "gamma": 1.0,
        "hidden": 16,
        "target_kl": 9.0,
        "entropy": 0.01,
        "epochs": 3,
    }
    return begun(tiny(decisions=10**9, **{**settings, **changes}), ToyTraining)


def policy_and_values(training: Training, shown: int) -> tuple[dict[int, float], list[float]]:
    """Probabilities and values where these entries tell of it."""
    codes = np.zeros(NUM_INPUTS, np.int16)
    codes[SHOWN[shown]] = 1
    mask = torch.zeros(1, NUM_ACTIONS, dtype=torch.bool)
    mask[0, [LEFT, RIGHT] if shown == 0 else [UP, DOWN]] = True
    with torch.no_grad():
        shown_codes = torch.from_numpy(codes[collector(training).used.codes])[None]
        log_probabilities, values = training.network(shown_codes, mask)
    return {
        action: float(log_probabilities[0, action].exp()) for action in (LEFT, RIGHT, UP, DOWN)
    }, values[0].tolist()


def test_solves_a_game_of_two_moves() -> None:
    """Also where it learns from a quarter of what its policy is sure of."""
    training = updated(toy(margin_weight=0.5, seed=2, certain_fraction=0.25), 40)
    first, (worth, ahead) = policy_and_values(training, 0)
    after_left, _ = policy_and_values(training, 1)
    after_right, (worth_right, behind) = policy_and_values(training, 2)
    assert first[RIGHT] > 0.9
    assert (
        after_left[DOWN] > 0.625
    )  # or left would be better than right; it is seldom visited in the end
    assert after_right[UP] > 0.8
    assert first[UP] == after_left[LEFT] == 0
    assert worth == pytest.approx(0.5, abs=0.25)
    assert worth_right == pytest.approx(-0.5, abs=0.25)
    assert ahead == pytest.approx(2.0, abs=0.4)  # of two steps
    assert behind == pytest.approx(-1.0, abs=0.4)
    assert training.curve[-1]["entropy"] < training.curve[0]["entropy"] / 2
    assert training.curve[-1]["explained_variance"] > 0.3


@pytest.mark.parametrize(("limit", "passes"), [(1e-12, 1), (9.0, 4)])
def test_an_update_ends_when_the_policy_has_changed_enough(limit: float, passes: int) -> None:
    training = begun(tiny(epochs=4, target_kl=limit, warm_up=0, batch=64, opponent_share=0.0))
    training.update()
    assert training.decisions // 64 > 1
    steps = int(
        training.optimiser.state[training.network.get_parameter("layers.actions.weight")]["step"]
    )
    assert steps == passes * (training.decisions // 64)


def test_a_policy_that_was_trained_learns_from_the_first_step(tmp_path: Path) -> None:
    """Values alone, through what both share, would spoil it; and its first steps are short."""
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
    before = going_on.network.get_parameter("layers.actions.weight").detach().clone()
    going_on.update()
    assert going_on.optimiser.param_groups[0]["lr"] == pytest.approx(0.001)
    assert not torch.equal(going_on.network.get_parameter("layers.actions.weight"), before)


# ---- decisions, prior, opponents ----


def test_an_agent_begins_as_its_prior() -> None:
    """The whole network, as it is made for a run, and the agent of its file."""
    config = tiny(players="3", prior="greedy", games=64, steps=1, hidden=64, entity_dim=16)
    training = begun(config)
    plays = collector(training)
    tables, greedy = plays.tables[0], GreedyAgent()
    given = Prior.of(greedy, decisions_in(tables.games, greedy)).scores
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


def test_value_updates_leave_the_policy_alone() -> None:
    """The layers of the policy to the last bit, and the policy itself but for what they share with
    the values.
    """

    def policy() -> np.ndarray:
        with torch.no_grad():
            probabilities: np.ndarray = training.network(seen.codes, seen.masks)[0].exp().numpy()
        return probabilities

    settings: dict[str, Any] = {"max_turns": 12, "learning_rate": 1e-3, "epochs": 4, "warm_up": 0}
    settings |= {"prior": "greedy", "prior_weight": 2.0, "value_updates": 4, "decisions": 10**9}
    training = begun(tiny(**settings))
    seen = Collector(training.config, 0).collect(training.network).batch
    before = policy()
    kept = {name: tensor.clone() for name, tensor in training.network.state_dict().items()}
    updated(training, 4)
    changed = {
        name
        for name, tensor in training.network.state_dict().items()
        if not torch.equal(tensor, kept[name])
    }
    own = {
        name
        for name in kept
        if "policy" in name or "actions" in name or "context" in name or "prior_weight" in name
    }
    assert len(own) == 2 * (2 + 3 + 3) + 1
    assert not changed & own
    for name in ("outlook", "value", "trunk", "district"):
        assert f"layers.{name}.weight" in changed
    drift = np.abs(policy() - before).max()
    assert drift < 0.02
    assert not collector(training).pool.past  # they would all be the prior
    updated(training, 3)
    assert np.abs(policy() - before).max() > 2 * drift
    assert [opponent.name for opponent in collector(training).pool.past] == ["past-6"]


def test_a_pool_without_fixed_opponents_fills_with_past_policies() -> None:
    training = begun(
        tiny(opponent_share=1.0, fixed_opponents="", snapshot=1, max_turns=2, decisions=10**9)
    )
    assert (collector(training).tables[0].seats == LEARNER).all()
    updated(training, 7)
    assert [opponent.name for opponent in collector(training).pool.past] == ["past-4", "past-6"]
    assert (collector(training).tables[0].seats != LEARNER).any()
    assert all(guest.name.startswith("past-") for guest in collector(training).tables[0].guests)


def test_the_agent_has_a_running_mean_of_the_weights() -> None:
    """By hand: after four updates with a half (steps 1, 1, 2/3, 1/2) it is 0 : 1 : 2 : 3."""
    training = begun(tiny(averaging=0.5))
    newest = []
    for _ in range(4):
        updated(training, 1)
        newest.append(training.network.get_parameter("layers.trunk.weight").detach().numpy().copy())
    wanted = np.average(newest, axis=0, weights=[0, 1, 2, 3])
    assert np.allclose(training.frozen().weights["trunk.weight"], wanted, atol=1e-7)
    assert not np.allclose(newest[-1], newest[-2], atol=1e-6)


def test_several_kinds_of_tables_make_one_agent(tmp_path: Path) -> None:
    training = updated(
        begun(
            tiny(
                tmp_path,
                players="2,3",
                side="front,back",
                games=13,
                fixed_opponents="random",
                opponent_share=1.0,
            )
        ),
        12,
    )
    kinds = [
        (tables.games.num_players, tables.games.side, tables.games.num_games)
        for tables in collector(training).tables
    ]
    assert kinds == [(2, "front", 4), (2, "back", 3), (3, "front", 3), (3, "back", 3)]
    assert set(training.episodes.shares) <= {"past"} | {
        f"random, {p} players, {s}" for p in (2, 3) for s in ("front", "back")
    }
    assert len(training.episodes.shares) == 5
    (tmp_path / "model.npz").write_bytes(training.model())
    player = make_agent(tmp_path / "model.npz")
    for players in (2, 3):
        decide(Games(3, players, "back", 1), player)  # an illegal action would raise AgentError


# ---- the same again ----


def test_interrupted_and_resumed_is_the_same_as_never_interrupted(tmp_path: Path) -> None:
    """Saved before the first rollout, and twice in a row; past policies are at the tables, also one
    that has left the pool.
    """
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
    """What `make train` does, whose figures docs/training.md shows."""
    recipe = "--players 2 --minutes 4 --prior greedy --fixed-opponents greedy,appraiser"
    more = ["--opponent-share", "0.9", "--run", str(tmp_path / "first")]
    assert train.main([*recipe.split(), *more]) == 0
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


def test_step_sizes_rise_then_fall() -> None:
    some: dict[str, Any] = {"games": 2, "steps": 8}
    rising = rates(begun(tiny(**some, final_rate=1.0, warm_up=4)), 6)
    assert rising == pytest.approx([0.25, 0.5, 0.75, 1, 1, 1])
    begun_with = begun(tiny(**some, final_rate=1.0, warm_up=2, prior="greedy", value_updates=2))
    assert rates(begun_with, 5) == pytest.approx([1, 1, 0.5, 1, 1])
    falling = rates(begun(tiny(**some, final_rate=0.1, warm_up=0, decisions=1)), 2)
    assert falling == pytest.approx([0.1, 0.1])
