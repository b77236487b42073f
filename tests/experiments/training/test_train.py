"""The trainer: what it learns from is right, what it learns is right, and nothing that interrupts it changes that."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from experiments.training import train
from experiments.training.checkpoints import read_checkpoint
from experiments.training.train import (
    EVERYBODY,
    ILLEGAL,
    Config,
    PolicyNetwork,
    Rollout,
    Tables,
    Training,
    advantages,
    clipped_loss,
    potential,
)
from processes import python
from skyenv.agents import RandomAgent, decide, decisions_in, make_agent
from skyenv.errors import CheckpointError, OptionError
from skyenv.games import Games, results
from skyenv.observation import OBSERVATION_SIZE
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.state import GAME_DTYPE
from skyenv_agents import GreedyAgent
from skyenv_agents.heuristic.win_probability import win_probabilities
from skyenv_agents.learned.networks import Network, NetworkAgent, prior_scores
from skyenv_agents.learned.pool import OpponentPool

ROOT = Path(__file__).resolve().parents[3]
SMALL: dict[str, Any] = {
    "games": 12, "steps": 24, "batch": 64, "hidden": 8, "minutes": 0.0, "decisions": 1000, "snapshot": 2, "past_policies": 2,
    "checkpoint_seconds": 1e9, "paired_seeds": 0, "max_turns": 6,
}  # fmt: skip
TINY = [part for name, value in SMALL.items() for part in ("--" + name.replace("_", "-"), str(value))]


def tiny(folder: Path | str = "unused", **changes: Any) -> Config:
    """A run of a second or two."""
    return Config(**{"run": str(folder), **SMALL, **changes})


def begun(config: Config) -> Training:
    """A training that has begun."""
    config.check()
    training = Training(config)
    training.begin()
    return training


def updated(training: Training, number: int) -> Training:
    """After some updates."""
    for _ in range(number):
        training.update()
    return training


def inputs_at(training: Training, t: int) -> torch.Tensor:
    """The network's inputs in step t of the latest rollout, of all games."""
    games = training.config.games
    return training.inputs(torch.arange(t * games, (t + 1) * games)).clone()


def weights(training: Training) -> bytes:
    """All parameters of the network as bytes."""
    return b"".join(parameter.detach().cpu().numpy().tobytes() for parameter in training.network.parameters())


# ---- advantages ----


def f32(*values: Any) -> Any:
    return np.array(values, np.float32)


def column(values: list[Any], dtype: type = np.float32) -> Any:
    """One game: (T, 1) or (T, 1, players)."""
    return np.array(values, dtype)[:, None]


def test_advantages_by_hand_over_three_seats() -> None:
    """One game, γ = 0.5 and λ = 0.5: rewards in between, an end, another game, and a tail that isn't finished.

    t  seat  rewards        value
    0  0     (1, 0, 8)      2      the 8 comes before seat 2's first decision: nobody's
    1  1     (0, 4, 0)      3
    2  0     (2, 0, 0)      4
    3  2     (6, 1, 0)      5
    4  1     (1, −1, 3)     6      ends the game
    5  2     (7, 7, 7)      1      the next game; none of it reaches the first
    6  0     (1, 0, 2)      2
    7  2     (0, 0, 5)      3
    """
    advantage, whole = advantages(
        value=column([2, 3, 4, 5, 6, 1, 2, 3]),
        seat=column([0, 1, 0, 2, 1, 2, 0, 2], np.int64),
        reward=column([[1, 0, 8], [0, 4, 0], [2, 0, 0], [6, 1, 0], [1, -1, 3], [7, 7, 7], [1, 0, 2], [0, 0, 5]]),
        done=column([0, 0, 0, 0, 1, 0, 0, 0], np.bool_),
        ending=np.zeros((8, 1, 3), np.float32),
        gamma=0.5,
        gae_lambda=0.5,
    )
    # seat 1: t=4: −1 − 6 = −7; t=1: 4 + 1 + 0.5·6 − 3 = 5, and 5 + 0.25·(−7) = 3.25
    # seat 0: t=2: 2 + 6 + 1 − 4 = 5; t=0: 1 + 0.5·4 − 2 = 1, and 1 + 0.25·5 = 2.25
    # seat 2: t=3: 0 + 3 − 5 = −2; in the next game t=5: 7 + 2 + 0.5·3 − 1 = 9.5; t=7 and seat 0's t=6 have no successor
    assert advantage[:, 0].tolist() == [2.25, 3.25, 5.0, -2.0, -7.0, 9.5, 0.0, 0.0]
    assert whole[:, 0].tolist() == [True] * 6 + [False] * 2


def test_a_truncated_end_counts_what_is_left_for_every_seat() -> None:
    ending = np.zeros((3, 1, 3), np.float32)
    ending[2, 0] = [10, 20, 40]
    advantage, whole = advantages(
        value=column([1, 2, 3]),
        seat=column([0, 1, 0], np.int64),
        reward=column([[0, 0, 0], [0, 1, 0], [2, 3, 0]]),
        done=column([0, 0, 1], np.bool_),
        ending=ending,
        gamma=0.5,
        gae_lambda=0.5,
    )
    # t=2: 2 + 0.5·10 − 3 = 4; t=1: 1 + 3 + 0.5·20 − 2 = 12; t=0: 0.5·3 − 1 = 0.5, and 0.5 + 0.25·4 = 1.5
    assert advantage[:, 0].tolist() == [1.5, 12.0, 4.0]
    assert whole.all()


def slowly(
    value: Any, seat: Any, reward: Any, done: Any, ending: Any, gamma: float, gae_lambda: float
) -> tuple[list[float], list[bool]]:
    """The same for one game after another, forwards, from the definition: Σ (γλ)^k δ_k along a seat's own decisions."""
    steps = len(value)
    advantage, whole = [0.0] * steps, [False] * steps
    for t in range(steps):
        total, factor, now = 0.0, 1.0, t
        while True:
            got, then, over = 0.0, now, False
            while True:  # to the seat's next decision, or the end
                got += float(reward[then, seat[t]])
                over = bool(done[then])
                then += 1
                if over or then == steps or seat[then] == seat[t]:
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
def test_advantages_are_those_of_the_definition(
    steps: int, number: int, players: int, seed: int, gamma: float, gae_lambda: float
) -> None:
    rng = np.random.default_rng(seed)
    value = rng.normal(size=(steps, number)).astype(np.float32)
    seat = rng.integers(players, size=(steps, number))
    reward = rng.normal(size=(steps, number, players)).astype(np.float32)
    done = rng.random((steps, number)) < 0.2
    ending = np.where((done & (rng.random((steps, number)) < 0.5))[..., None], rng.normal(size=reward.shape), 0)
    ending = ending.astype(np.float32)
    advantage, whole = advantages(value, seat, reward, done, ending, gamma, gae_lambda)
    assert advantage.dtype == np.float32
    for game in range(number):
        part = value[:, game], seat[:, game], reward[:, game], done[:, game], ending[:, game]
        wanted, wanted_whole = slowly(*part, gamma, gae_lambda)
        assert advantage[:, game] == pytest.approx(wanted, abs=1e-4)
        assert whole[:, game].tolist() == wanted_whole


def test_without_discount_targets_are_the_returns() -> None:
    rng = np.random.default_rng(3)
    steps, players = 30, 3
    value, reward = rng.normal(size=(steps, 1)).astype(np.float32), rng.normal(size=(steps, 1, players)).astype(np.float32)
    seat, done = rng.integers(players, size=(steps, 1)), np.zeros((steps, 1), np.bool_)
    done[[11, -1]] = True
    advantage, whole = advantages(value, seat, reward, done, np.zeros_like(reward), 1.0, 1.0)
    ends = np.where(np.arange(steps) <= 11, 12, steps)
    returns = [reward[t : ends[t], 0, seat[t, 0]].sum() for t in range(steps)]
    assert (advantage + value)[:, 0] == pytest.approx(returns, abs=1e-5)
    assert whole.all()


# ---- network, mask and loss ----


def some_masks(number: int, rng: np.random.Generator) -> torch.Tensor:
    mask = rng.random((number, NUM_ACTIONS)) < 0.1
    mask[np.arange(number), rng.integers(NUM_ACTIONS, size=number)] = True
    return torch.from_numpy(mask)


@pytest.mark.parametrize("with_prior", [False, True])
def test_illegal_actions_have_no_probability_and_no_gradient(with_prior: bool) -> None:
    torch.manual_seed(1)
    network = PolicyNetwork(8, with_prior)
    logits: list[torch.Tensor] = []

    def keep(module: Any, inputs: Any, outputs: torch.Tensor) -> None:
        outputs.retain_grad()
        logits.append(outputs)

    network.policy_head.register_forward_hook(keep)
    mask = some_masks(20, np.random.default_rng(2))
    mask[0] = False
    mask[0, 5] = True  # forced
    inputs = torch.randn(20, OBSERVATION_SIZE + (NUM_ACTIONS if with_prior else 0))
    log_probabilities, value = network(inputs, mask)
    assert value.shape == (20,)
    probabilities = log_probabilities.exp()
    assert (probabilities[~mask] == 0).all()
    assert probabilities.sum(dim=1).detach().numpy() == pytest.approx(np.ones(20), abs=1e-5)
    assert log_probabilities[0, 5] == 0
    action = mask.float().multinomial(1)
    entropy = train._entropy(log_probabilities)
    assert torch.isfinite(entropy).all()
    assert abs(entropy[0].item()) < 1e-15
    loss = clipped_loss(log_probabilities.gather(1, action)[:, 0] + 1.0, torch.randn(20), 10.0) - 0.1 * entropy.mean()
    loss.backward()  # type: ignore[no-untyped-call]
    gradient = logits[0].grad
    assert gradient is not None
    assert (gradient[~mask] == 0).all()
    assert (gradient[mask] != 0).float().mean() > 0.9
    assert all(torch.isfinite(parameter.grad).all() for parameter in network.parameters() if parameter.grad is not None)


def test_entropy_is_that_of_the_legal_actions() -> None:
    mask = torch.zeros(2, NUM_ACTIONS, dtype=torch.bool)
    mask[0, :4] = mask[1, 7] = True
    even = torch.log_softmax(torch.zeros(2, NUM_ACTIONS).masked_fill(~mask, ILLEGAL), dim=1)
    assert train._entropy(even).tolist() == pytest.approx([np.log(4), 0.0])


def test_clipped_loss_by_hand() -> None:
    """Ratios 1.5, 0.5, 1.5, 0.5 and 1.1 with clip 0.2; what is clipped has no gradient."""
    ratio = torch.tensor([1.5, 0.5, 1.5, 0.5, 1.1])
    gain = torch.tensor([2.0, 2.0, -2.0, -2.0, 1.0])
    log_ratio = ratio.log().requires_grad_()
    loss = clipped_loss(log_ratio, gain, 0.2)
    assert loss.item() == pytest.approx(-(1.2 * 2 + 0.5 * 2 - 1.5 * 2 - 0.8 * 2 + 1.1) / 5)
    loss.backward()  # type: ignore[no-untyped-call]
    assert log_ratio.grad is not None
    assert log_ratio.grad.tolist() == pytest.approx([0.0, -1.0 / 5, 3.0 / 5, 0.0, -1.1 / 5])


def test_draws_follow_the_probabilities() -> None:
    training = begun(tiny(games=500, steps=1, opponent_share=0.0))
    training.masks[0] = some_masks(1, np.random.default_rng(1))  # the same decision 500 times
    rollout = Rollout.empty(1, 500)
    rollout.mine[:] = True
    with torch.no_grad():
        training.network.policy_head.bias.normal_(generator=torch.Generator().manual_seed(1))
        probabilities = training.network(inputs_at(training, 0), training.masks[0])[0][0].exp().numpy()
        drawn: list[int] = []
        for _ in range(10):
            training._choose(0, rollout)
            drawn += rollout.action[0].tolist()
    often = np.bincount(drawn, minlength=NUM_ACTIONS) / len(drawn)
    assert np.abs(often - probabilities).max() < 0.03
    assert 0.15 < probabilities.max() < 0.999
    assert rollout.log_probability[0] == pytest.approx(np.log(probabilities[rollout.action[0]]), abs=1e-4)
    assert rollout.entropy[0, 0] == pytest.approx(-sum(p * np.log(p) for p in probabilities if p), abs=1e-3)


def test_a_random_number_of_zero_takes_no_illegal_action(monkeypatch: pytest.MonkeyPatch) -> None:
    training = begun(tiny(games=2, steps=2, opponent_share=0.0))
    training.masks[0] = False
    training.masks[0, 0, 50] = training.masks[0, 1, 60] = True
    monkeypatch.setattr(torch, "rand", lambda shape, generator: torch.zeros(shape))
    rollout = Rollout.empty(2, 2)
    rollout.mine[:] = True
    with torch.no_grad():
        training._choose(0, rollout)
    assert rollout.action[0].tolist() == [50, 60]


# ---- what is collected ----


def scores(games: Games, rows: Any) -> Any:
    """VP of the seats; of the last position where a game has just ended."""
    ended = games.finished["score"][rows]
    return np.where(games.done[rows, None], ended, games.state["score"][rows])[:, : games.num_players]


@pytest.mark.parametrize(
    "changes",
    [
        {"opponent_share": 0.0, "max_turns": 2},
        {"opponent_share": 0.7, "fixed_opponents": "random,crowd", "max_turns": 2},
        {"players": "2,3", "side": "front,back", "opponent_share": 0.5, "fixed_opponents": "greedy", "max_turns": 2},
        {"players": "4", "max_turns": 500, "games": 4, "steps": 300, "fixed_opponents": "random"},
    ],
)
def test_a_rollout_is_what_happened(changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Played again action by action, it gives the same seats, inputs and rewards, and advantages from first principles."""
    training = begun(tiny(reward="points", shaping=0.0, gamma=0.9, gae_lambda=0.8, seed=5, **changes))
    again = [tables.games.copy() for tables in training.tables]
    learners = [tables.learner.copy() for tables in training.tables]
    endings: dict[tuple[int, int], Any] = {}
    real = Training._values_at_end

    def noted(self: Training, games: Games, row: int) -> Any:
        endings[id(games), int(games.finished["seed"][row])] = last = real(self, games, row)
        return last

    monkeypatch.setattr(Training, "_values_at_end", noted)
    rollout = training._collect()
    config, seen_ends = training.config, 0
    for tables, place, games, learner in zip(training.tables, training.slices, again, learners, strict=True):
        players, number = games.num_players, games.num_games
        reward, done = np.zeros((config.steps, number, players)), np.zeros((config.steps, number), np.bool_)
        ending = np.zeros_like(reward)
        playing = np.ones(number, np.bool_)  # the first game of each row, whose seating is known
        for t in range(config.steps):
            assert np.array_equal(rollout.seat[t, place], games.seat)
            assert np.array_equal(inputs_at(training, t)[place].numpy(), games.observe(games.seat))
            assert np.array_equal(training.masks[t, place].numpy(), games.mask != 0)
            mine = (learner == EVERYBODY) | (learner == games.seat)
            assert np.array_equal(rollout.mine[t, place][playing], mine[playing])
            before = scores_now(games)
            games.step(rollout.action[t, place])
            done[t] = games.done
            reward[t] = scores(games, np.arange(number)) - before
            playing &= ~games.done
            for row in np.flatnonzero(games.truncated).tolist():
                ending[t, row] = endings.pop((id(tables.games), int(games.finished["seed"][row])))
                seen_ends += 1
        for row in range(number):
            part = rollout.value[:, place][:, row], rollout.seat[:, place][:, row], reward[:, row], done[:, row], ending[:, row]
            wanted, whole = slowly(*part, config.gamma, config.gae_lambda)
            assert rollout.advantage[:, place][:, row] == pytest.approx(wanted, rel=1e-3, abs=1e-3)
            assert rollout.learnable[:, place][:, row].tolist() == (rollout.mine[:, place][:, row] & whole).tolist()
    assert not endings
    assert seen_ends > 0 or config.max_turns == 500
    assert np.array_equal(rollout.target, rollout.advantage + rollout.value)
    assert rollout.mine.all() == (config.opponent_share == 0)


def scores_now(games: Games) -> Any:
    return games.state["score"][:, : games.num_players].copy()


def test_values_of_a_truncated_end_are_those_of_the_last_position() -> None:
    training = begun(tiny(players="3", games=5, max_turns=3, opponent_share=0.0))
    tables = training.tables[0]
    while not tables.games.truncated.any():
        tables.games.step(decide(tables.games, RandomAgent()))
    row = int(np.flatnonzero(tables.games.truncated)[-1])
    with torch.no_grad():
        values = training._values_at_end(tables.games, row)
        for seat in range(3):
            observation = tables.games.observe(seat, [row], tables.games.finished)
            value = training.network(torch.from_numpy(observation), torch.ones(1, NUM_ACTIONS, dtype=torch.bool))[1]
            assert values[seat] == pytest.approx(value.item(), abs=1e-5)
    assert len(set(values.tolist())) == 3


def test_the_potential_is_the_outcome_to_expect_by_what_seats_have() -> None:
    games = Games(2, 3, seed=1)
    games.play_random(150)
    games.state["score"][1, :3] += np.array([0, 30, 0], np.int16)
    outcome = potential(games.state, 3)
    assert outcome == pytest.approx((win_probabilities(games.state)[:, :3] - 1 / 3) * 3 / 2, abs=1e-6)
    assert outcome.sum(axis=1) == pytest.approx(0, abs=1e-5)
    assert outcome[1].argmax() == 1
    assert outcome.dtype == np.float32
    assert potential(games.state[:0], 3).shape == (0, 3)


@pytest.mark.parametrize(("max_turns", "truncated"), [(500, False), (9, True)])
def test_shaping_adds_nothing_that_depends_on_play_to_a_whole_game(max_turns: int, truncated: bool) -> None:
    """All that it adds to the rewards of a game is less the potential of its first position."""
    config = tiny(players="3", reward="outcome", shaping=2.0, max_turns=max_turns, opponent_share=0.0)
    tables = Tables(6, 3, "front", config, 11)
    total = 2.0 * tables.potential.astype(np.float64)
    moved = ended = 0
    for _ in range(1500):
        reward, done = tables.step(decide(tables.games, RandomAgent()))
        total += reward
        moved += int((reward[~done] != 0).any(axis=1).sum())
        for row in np.flatnonzero(done).tolist():
            last = tables.games.finished[row : row + 1]
            assert bool(tables.games.truncated[row]) == truncated
            outcome = np.zeros(3) if truncated else (results(last)[0][0, :3] - 1 / 3) * 3 / 2
            left = potential(last, 3)[0] if truncated else np.zeros(3)
            assert total[row] == pytest.approx(outcome + 2.0 * left, abs=1e-4)
            total[row] = 2.0 * tables.potential[row]
            ended += 1
        if ended > 3:
            break
    assert ended > 3
    assert moved > 5


def test_opponents_have_all_seats_but_the_learners() -> None:
    tables = Tables(400, 4, "front", tiny(players="4", games=400), 1)
    pool = OpponentPool([RandomAgent(), GreedyAgent()], fixed_share=1.0, sampling="uniform")
    rows = np.arange(400)
    tables.seat(rows, pool, 0.5, np.random.default_rng(1))
    theirs = tables.opponent != EVERYBODY
    assert theirs.mean() == pytest.approx(0.5, abs=0.08)
    assert np.array_equal(theirs, tables.learner != EVERYBODY)
    assert np.bincount(tables.learner[theirs], minlength=4).min() > 25
    assert {tables.guests[index].name for index in tables.opponent[theirs]} == {"random", "greedy"}
    assert np.array_equal(tables.learns(), ~theirs | (tables.learner == tables.games.seat))
    wanted = {guest.name: decide(tables.games, guest) for guest in tables.guests}
    mine, chosen = tables.learns(), tables.games.mask.argmax(axis=1)
    actions = chosen.copy()
    tables.step(actions)
    assert np.array_equal(actions[mine], chosen[mine])
    for row in np.flatnonzero(~mine).tolist():
        assert actions[row] == wanted[tables.guests[tables.opponent[row]].name][row]
    tables.seat(rows[:399], OpponentPool([GreedyAgent()]), 1.0, np.random.default_rng(2))
    before = [tables.guests[index] if index != EVERYBODY else None for index in tables.opponent]
    tables.forget_unused()
    assert [tables.guests[index] if index != EVERYBODY else None for index in tables.opponent] == before
    assert len(tables.guests) <= 2


# ---- a game that can be solved ----


LEFT, RIGHT, UP, DOWN = 3, 40, 70, 102
PAYOFF = {(LEFT, UP): 3.0, (LEFT, DOWN): -1.0, (RIGHT, UP): 0.5, (RIGHT, DOWN): 1.0}


class ToyGames:
    """Seat 0 goes left or right, then seat 1, who sees it, up or down; that brings seat 0 its pay-off and seat 1 the opposite.

    Seat 0 wants left for its 3, but seat 1 answers down: best is right, answered up. Seat 1 gets 2 for its patience while seat
    0 decides, which must not be taken for a merit of any decision. After `ends` the game is truncated, and each seat is left
    with what the network holds the end to be worth.
    """

    num_players = 2
    reward_kind = "toy"

    def __init__(self, number: int) -> None:
        self.num_games = number
        self.seat = np.zeros(number, np.int64)
        self.mask = np.zeros((number, NUM_ACTIONS), np.int8)
        self.observation = np.zeros((number, OBSERVATION_SIZE), np.float32)
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
        self.observation[:, 0] = ~second
        self.observation[:, 1] = second & (self.went == LEFT)
        self.observation[:, 2] = second & (self.went == RIGHT)

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
    """Tables at which that is played."""

    def __init__(self, number: int) -> None:
        self.games: Any = ToyGames(number)
        self.label, self.guests = "", []
        self.opponent = np.full(number, EVERYBODY)
        self.learner = np.full(number, EVERYBODY)

    def step(self, actions: Any) -> Any:
        self.games.step(actions)
        return self.games.reward.copy(), self.games.done.copy()


def toy(**changes: Any) -> Training:
    """A training at it."""
    settings = {"games": 20, "steps": 13, "batch": 80, "opponent_share": 0.0, "learning_rate": 0.01, "gamma": 1.0, "hidden": 16}
    training = begun(tiny(decisions=10**9, **{**settings, "entropy": 0.01, "epochs": 3, **changes}))
    training.tables = [ToyTables(training.config.games)]
    training._make_buffers()
    return training


def policy_and_value(training: Training, *entries: int) -> tuple[dict[int, float], float]:
    """Probabilities and value where these entries of the observation are 1."""
    inputs = torch.zeros(1, OBSERVATION_SIZE)
    inputs[0, list(entries)] = 1.0
    mask = torch.zeros(1, NUM_ACTIONS, dtype=torch.bool)
    mask[0, [LEFT, RIGHT] if 0 in entries else [UP, DOWN]] = True
    with torch.no_grad():
        log_probabilities, value = training.network(inputs, mask)
    return {action: float(log_probabilities[0, action].exp()) for action in (LEFT, RIGHT, UP, DOWN)}, float(value[0])


def test_solves_a_game_of_two_moves() -> None:
    training = updated(toy(), 70)
    first, worth = policy_and_value(training, 0)
    after_left, worth_left = policy_and_value(training, 1)
    after_right, worth_right = policy_and_value(training, 2)
    assert first[RIGHT] > 0.9
    assert after_left[DOWN] > 0.9
    assert after_right[UP] > 0.8
    assert first[UP] == after_left[LEFT] == 0
    assert worth == pytest.approx(0.5, abs=0.25)
    assert worth_right == pytest.approx(-0.5, abs=0.25)
    assert worth_left == pytest.approx(1.0, abs=0.6)  # seldom visited in the end
    assert training.curve[-1]["entropy"] < training.curve[0]["entropy"] / 2
    assert training.curve[-1]["explained_variance"] > 0.3


def test_a_value_that_is_cut_off_comes_from_the_network() -> None:
    """Where a truncated end is worth c, the value becomes pay-off + c; without the bootstrap it would stay the pay-off."""
    training = toy()
    training._only_value = lambda: True  # type: ignore[method-assign]  # both actions stay equally likely
    training.tables[0].games.truncated[:] = True
    training._values_at_end = lambda games, row: np.array([5.0, 7.0], np.float32)  # type: ignore[method-assign]
    updated(training, 60)
    assert policy_and_value(training, 1)[1] == pytest.approx(-1.0 + 7.0, abs=0.9)
    assert policy_and_value(training, 2)[1] == pytest.approx(-0.75 + 7.0, abs=0.9)
    assert policy_and_value(training, 0)[1] == pytest.approx((1.0 + 0.75) / 2 + 5.0, abs=0.9)


def test_the_last_decisions_of_a_rollout_are_not_learned_from() -> None:
    training = toy(steps=5)
    training.update()
    assert training.decisions == 4 * 20  # the fifth of each game has no end yet
    training.update()  # begins with seat 1's answer, ends with an end
    assert training.decisions == 4 * 20 + 5 * 20


# ---- decisions, prior, opponents ----


def test_decisions_are_those_that_are_learned_from() -> None:
    training = begun(tiny(opponent_share=0.5, fixed_opponents="random"))
    total, real = 0, training._collect
    collected: list[Rollout] = []
    training._collect = lambda: collected.append(real()) or collected[-1]  # type: ignore[method-assign,func-returns-value]
    for _ in range(3):
        training.update()
        total += int(collected[-1].learnable.sum())
        assert training.decisions == training.curve[-1]["decisions"] == total
        assert 0 < collected[-1].learnable.sum() < collected[-1].mine.sum() < 12 * 24


@pytest.mark.parametrize("players", ["2", "3"])
def test_a_policy_begins_as_its_prior(players: str) -> None:
    training = begun(tiny(players=players, prior="greedy", games=64, opponent_share=0.0))
    training._look(0, Rollout.empty(1, 64))
    greedy = GreedyAgent()
    given = prior_scores(greedy, decisions_in(training.tables[0].games, greedy))
    assert np.array_equal(inputs_at(training, 0)[:, OBSERVATION_SIZE:].numpy(), given)
    with torch.no_grad():
        log_probabilities, _ = training.network(inputs_at(training, 0), training.masks[0])
    chosen = log_probabilities.argmax(dim=1).numpy()
    behind = given[np.arange(64), chosen]
    assert (behind > -0.1).all()
    assert (behind == 0).mean() > 0.9
    assert (given.min(axis=1) < -0.5).mean() > 0.5  # it was a choice


def test_value_updates_leave_the_policy_alone() -> None:
    def policy(training: Training) -> np.ndarray:
        with torch.no_grad():
            probabilities: np.ndarray = training.network(inputs, masks)[0].exp().numpy()
        return probabilities

    settings: dict[str, Any] = {"prior": "greedy", "max_turns": 12, "learning_rate": 1e-3, "epochs": 4, "decisions": 10**9}
    settings["warm_up"] = 0
    waiting, learning = (begun(tiny(value_updates=number, **settings)) for number in (4, 0))
    waiting._look(0, Rollout.empty(1, waiting.config.games))
    inputs, masks = inputs_at(waiting, 0), waiting.masks[0].clone()
    before = policy(waiting)
    kept = {name: tensor.clone() for name, tensor in waiting.network.state_dict().items()}
    updated(waiting, 4)
    after = waiting.network.state_dict()
    for name in ("policy.weight", "policy.bias", "policy_head.weight", "policy_head.bias", "prior_weight"):
        assert torch.equal(after[name], kept[name]), name
    assert not torch.equal(after["value_head.weight"], kept["value_head.weight"])
    drift = np.abs(policy(waiting) - before).max()
    assert drift < 0.02
    assert not waiting.pool.past  # they would all be the prior
    updated(learning, 4)
    assert np.abs(policy(learning) - before).max() > 2 * drift
    updated(waiting, 2)
    assert not torch.equal(waiting.network.state_dict()["policy_head.weight"], kept["policy_head.weight"])
    assert [opponent.name for opponent in waiting.pool.past] == ["past-6"]


def test_self_play_alone() -> None:
    training = updated(begun(tiny(opponent_share=0.0, fixed_opponents="", past_policies=0)), 2)
    assert training.pool.agents == []
    assert all((tables.learner == EVERYBODY).all() for tables in training.tables)
    assert training.curve[-1]["shares"] == {}


def test_a_pool_without_fixed_opponents_fills_with_past_policies() -> None:
    training = begun(tiny(opponent_share=1.0, fixed_opponents="", snapshot=1, max_turns=2, decisions=10**9))
    assert (training.tables[0].learner == EVERYBODY).all()
    updated(training, 6)
    assert [opponent.name for opponent in training.pool.past] == ["past-4", "past-6"]
    assert (training.tables[0].learner != EVERYBODY).any()
    assert all(guest.name.startswith("past-") for guest in training.tables[0].guests)


def test_past_policies_stay_as_they_were() -> None:
    training = updated(begun(tiny(snapshot=1, past_policies=3)), 1)
    frozen = training.pool.past[0]
    assert isinstance(frozen, NetworkAgent)
    before = {name: array.copy() for name, array in frozen.network.weights.items()}
    updated(training, 1)
    assert all(np.array_equal(frozen.network.weights[name], array) for name, array in before.items())
    assert not np.array_equal(training.frozen().weights["trunk.weight"], before["trunk.weight"])


@pytest.mark.parametrize(("averaging", "shares"), [(0.0, [0, 0, 0, 1]), (1.0, [1, 1, 1, 1]), (0.5, [0, 1, 2, 3])])
def test_the_agent_has_a_running_mean_of_the_weights(averaging: float, shares: list[int]) -> None:
    """After four updates: the last ones, the plain mean, and for a half (by hand: steps 1, 1, 2/3, 1/2) 0 : 1 : 2 : 3."""
    training = begun(tiny(averaging=averaging))
    newest = []
    for _ in range(4):
        updated(training, 1)
        newest.append(training.network.trunk.weight.detach().numpy().copy())
    wanted = np.average(newest, axis=0, weights=shares)
    assert np.allclose(training.frozen().weights["trunk.weight"], wanted, atol=1e-7)
    assert not np.allclose(newest[-1], newest[-2], atol=1e-6)


def test_several_kinds_of_tables_make_one_agent(tmp_path: Path) -> None:
    training = updated(
        begun(tiny(tmp_path, players="2,3", side="front,back", games=13, fixed_opponents="random", opponent_share=1.0)), 12
    )
    kinds = [(tables.games.num_players, tables.games.side, tables.games.num_games) for tables in training.tables]
    assert kinds == [(2, "front", 4), (2, "back", 3), (3, "front", 3), (3, "back", 3)]
    assert set(training.episodes.shares) <= {"past"} | {f"random, {p} players, {s}" for p in (2, 3) for s in ("front", "back")}
    assert len(training.episodes.shares) == 5
    seeds = [int(tables.games.seeds[0]) // 10**9 for tables in training.tables]
    assert len(set(seeds)) == 4
    (tmp_path / "model.npz").write_bytes(training.model())
    player = make_agent(tmp_path / "model.npz")
    for players in (2, 3):
        decide(Games(3, players, "back", 1), player)  # an illegal action would raise AgentError


def test_without_anything_to_learn_from_nothing_changes() -> None:
    training = begun(tiny(steps=1, players="4", opponent_share=1.0, max_turns=500))
    before = weights(training)
    updated(training, 2)
    assert weights(training) == before
    assert training.decisions == 0
    assert json.loads(json.dumps(training.curve[-1], allow_nan=False))["illegal"] == 0


def test_the_learning_rate_falls_to_its_last_share() -> None:
    training = begun(tiny(decisions=1000, learning_rate=1e-3, final_rate=0.25, warm_up=0))
    rates = []
    while not training.finished():
        training.update()
        rates.append(training.optimiser.param_groups[0]["lr"])
    assert rates == pytest.approx([1e-3 * (1 - 0.75 * min(point["decisions"] / 1000, 1)) for point in training.curve])
    assert rates[-1] == pytest.approx(2.5e-4)


# ---- the same again ----


def test_same_seed_same_network_other_seed_other_network() -> None:
    models: list[bytes] = []
    for seed in (1, 1, 2):
        torch.manual_seed(99 + len(models))
        models.append(weights(updated(begun(tiny(seed=seed)), 3)))
    assert models[0] == models[1] != models[2]


@pytest.mark.compiled
@pytest.mark.parametrize("prior", ["", "greedy"])
def test_codes_are_learned_from_as_scaled_observations_are(prior: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bit for bit the same networks, though a rollout is kept in half the memory."""
    config = tiny(prior=prior, value_updates=1)
    with_codes = begun(config)
    assert with_codes.codes.dtype == torch.int16
    with monkeypatch.context() as patch:
        patch.setattr("experiments.training.train.Games", lambda *given, observation, **options: Games(*given, **options))
        scaled = begun(config)
    scaled.codes, scaled.scale = scaled.codes.float(), torch.ones_like(scaled.scale)
    for training in (with_codes, scaled):
        updated(training, 3)
    assert bool((with_codes.codes > 1).any())
    assert weights(with_codes) == weights(scaled)


def test_the_highest_seed_serves_all_kinds_of_tables() -> None:
    training = updated(begun(tiny(seed=2**32 - 1, players="2,3,4", side="front,back")), 1)
    assert len({int(tables.games.seeds[0]) for tables in training.tables}) == 6


def without_time(curve: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in point.items() if name not in ("seconds", "pace")} for point in curve]


RESUMED: dict[str, Any] = {
    "players": "2,3", "fixed_opponents": "random,greedy", "opponent_share": 0.8, "fixed_share": 0.3, "decisions": 1500,
    "snapshot": 1, "averaging": 1.0,
}  # fmt: skip


@pytest.mark.parametrize("changes", [{}, {"prior": "greedy", "value_updates": 2}], ids=["plain", "prior"])
def test_interrupted_and_resumed_is_the_same_as_never_interrupted(changes: dict[str, Any], tmp_path: Path) -> None:
    straight = begun(tiny(tmp_path / "straight", **RESUMED, **changes))
    (tmp_path / "straight").mkdir()
    assert straight.run()

    (tmp_path / "resumed").mkdir()
    first = updated(begun(tiny(tmp_path / "resumed", **RESUMED, **changes)), 4)
    first.save()
    at_tables = {guest.name for tables in first.tables for guest in tables.guests}
    assert at_tables & {"greedy", "random"}
    assert any(name.startswith("past-") for name in at_tables)
    second = Training(tiny(tmp_path / "resumed", **RESUMED, **changes))
    torch.manual_seed(99)
    np.random.seed(99)  # what an unrelated process may have done to global generators
    second.load()
    for tables in second.tables:
        assert all(any(guest is member for member in second.pool.agents) for guest in tables.guests if guest.name == "greedy")
    assert second.run()

    assert len(straight.curve) > 6
    assert weights(second) == weights(straight)
    assert without_time(second.curve) == without_time(straight.curve)
    assert [opponent.name for opponent in second.pool.agents] == [opponent.name for opponent in straight.pool.agents]
    assert second.pool.weights().tolist() == straight.pool.weights().tolist()
    assert second.model() == straight.model()


KILLED = """
import os, signal
from experiments.training import train

class Mortal(train.Training):
    "Dies in the middle of the third update."

    def learn(self):
        if self.updates == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().learn()

train.Training = Mortal
train.main()
"""


def test_a_checkpoint_goes_on_after_the_process_was_killed(tmp_path: Path) -> None:
    """``kill -9`` in the middle, then ``--resume`` in this process: the network of a run that nothing has stopped."""
    folder = tmp_path / "killed"
    command = ["--run", str(folder), *TINY, "--fixed-opponents", "random", "--checkpoint-seconds", "0", "--decisions", "4000",
               "--averaging", "1"]  # fmt: skip
    assert python("-c", KILLED, *command).returncode == -signal.SIGKILL
    assert read_checkpoint(folder / "checkpoint.bin")["updates"] == 2
    assert train.main([*command, "--resume", "--checkpoint-seconds", "1000"]) == 0
    straight = begun(tiny(tmp_path / "straight", fixed_opponents="random", decisions=4000, averaging=1.0))
    while not straight.finished():
        straight.update()
    resumed = Network.load(folder / "model.npz")
    assert all(np.array_equal(resumed.weights[name], array) for name, array in straight.frozen().weights.items())
    curve = [json.loads(line) for line in (folder / "curve.jsonl").read_text().splitlines()]
    assert without_time(curve) == without_time(json.loads(json.dumps(straight.curve)))


# ---- options ----


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("run", [""]),
        ("players", ["", "5", "2,2", "2;3", "two"]),
        ("side", ["", "top", "front,front"]),
        ("minutes", [-1.0, float("nan"), float("inf")]),
        ("decisions", [-1]),
        ("seed", [-1, 2**32]),
        ("max_turns", [0]),
        ("checkpoint_seconds", [-1.0, float("nan")]),
        ("paired_seeds", [-1]),
        ("against", ["", "nobody", "random,", "nowhere:Agent"]),
        ("threads", [0, 1025]),
        ("reward", ["fame"]),
        ("shaping", [-1.0, float("inf")]),
        ("games", [0]),
        ("steps", [0]),
        ("batch", [0]),
        ("epochs", [0]),
        ("learning_rate", [0.0, 2.0, float("nan")]),
        ("final_rate", [-0.1, 1.1]),
        ("gamma", [0.0, 1.5]),
        ("gae_lambda", [-0.1, 1.5]),
        ("clip", [0.0, 1.5]),
        ("entropy", [-0.1]),
        ("value_weight", [-0.1]),
        ("max_gradient", [0.0, float("inf")]),
        ("averaging", [-0.1, 1.1]),
        ("hidden", [0]),
        ("prior", ["random"]),
        ("value_updates", [-1]),
        ("warm_up", [-1]),
        ("opponent_share", [-0.1, 1.1]),
        ("fixed_opponents", ["nobody", "random,", "random,random", ",", "nowhere:Agent"]),
        ("fixed_share", [-0.1, 1.1]),
        ("sampling", ["best"]),
        ("past_policies", [-1]),
        ("snapshot", [0]),
        ("device", ["tpu", ""]),
    ],
)
def test_bad_values_are_named(name: str, values: list[Any]) -> None:
    tiny().check()
    for value in values:
        with pytest.raises(OptionError, match=name) as caught:
            tiny(**{"paired_seeds": 1, name: value}).check()
        assert "\n" not in str(caught.value)


def test_the_list_of_bad_values_is_complete() -> None:
    """Every option has a line in the test above."""
    marks: list[Any] = test_bad_values_are_named.pytestmark
    assert {name for name, _ in marks[0].args[1]} == set(Config.__dataclass_fields__) - {"start", "resume"}


def test_options_that_do_not_fit_together(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="games must be at least 4"):
        tiny(players="2,3", side="front,back", games=3).check()
    with pytest.raises(OptionError, match="opponent_share above 0 needs fixed_opponents or past_policies"):
        tiny(fixed_opponents="", past_policies=0).check()
    path = tmp_path / "past-3" / "model.npz"
    path.parent.mkdir()
    path.write_bytes(PolicyNetwork(4, False).frozen({}).to_bytes())
    with pytest.raises(OptionError, match="fixed_opponents must not be called past-"):
        tiny(fixed_opponents=f"random,{path}").check()
    with pytest.raises(CheckpointError, match="there is no network file"):
        tiny(fixed_opponents=str(tmp_path / "model.npz")).check()
    Config().check()


def test_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(OptionError, match="device cuda is not available"):
        tiny(device="cuda").check()
    assert begun(tiny(device="auto")).device == torch.device("cpu")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    tiny(device="cuda").check()
    for name, kind in (("cuda", "cuda"), ("auto", "cuda"), ("cpu", "cpu")):
        training = Training(tiny(device=name))
        training._prepare()
        assert training.device.type == kind


def test_plays_against_a_trained_opponent(tmp_path: Path) -> None:
    first = updated(begun(tiny(prior="greedy")), 1)
    path = tmp_path / "teacher" / "model.npz"
    path.parent.mkdir()
    path.write_bytes(first.model())
    second = begun(tiny(tmp_path / "second", fixed_opponents=f"{path},greedy", opponent_share=1.0, max_turns=2))
    assert [opponent.name for opponent in second.pool.fixed] == ["teacher", "greedy"]
    updated(second, 3)
    assert "teacher" in second.episodes.shares
    (tmp_path / "second").mkdir()
    second.save()
    third = Training(second.config)
    third.load()
    assert weights(updated(third, 1)) == weights(updated(second, 1))


# ---- strength ----


def evaluation(folder: Path) -> dict[str, dict[str, float]]:
    """Win shares by opponent."""
    return {result["opponent"]: result["share"] for result in json.loads((folder / "evaluation.json").read_text())}


@pytest.mark.long
def test_two_million_decisions_from_nothing_beat_random(tmp_path: Path) -> None:
    """About three minutes on one core; 98 % when it was measured."""
    folder = tmp_path / "nothing"
    assert train.main(["--run", str(folder), "--players", "2", "--decisions", "2000000", "--paired-seeds", "100"]) == 0
    assert evaluation(folder)["random"]["mean"] >= 0.8


@pytest.mark.long
def test_two_million_decisions_improve_upon_the_prior(tmp_path: Path) -> None:
    """About four minutes on one core; 42 ± 5 % against greedy when it was measured. Untrained it is 26 ± 5 %."""
    folder = tmp_path / "prior"
    options = [
        "--players",
        "2",
        "--decisions",
        "2000000",
        "--paired-seeds",
        "200",
        "--prior",
        "greedy",
        "--fixed-opponents",
        "greedy",
    ]
    assert train.main(["--run", str(folder), *options]) == 0
    shares = evaluation(folder)
    assert shares["random"]["mean"] >= 0.95
    assert shares["greedy"]["mean"] >= 0.33


@pytest.mark.long
def test_make_train_comes_close_to_greedy(tmp_path: Path) -> None:
    """What `make train` does, whose figures docs/training.md shows; before any training it wins 26 ± 5 % against greedy."""
    folder = tmp_path / "first"
    assert train.main(["--run", str(folder), "--players", "2", "--minutes", "5", "--prior", "greedy"]) == 0
    shares = evaluation(folder)
    assert shares["random"]["low"] >= 0.9
    assert shares["greedy"]["mean"] >= 0.3


# ---- step sizes ----


def rates(training: Training, number: int) -> list[float]:
    """The step sizes of some updates, as shares of the option's."""
    return [updated(training, 1).optimiser.param_groups[0]["lr"] / training.config.learning_rate for _ in range(number)]


def test_step_sizes_rise_then_fall() -> None:
    assert rates(begun(tiny(final_rate=1.0, warm_up=4)), 6) == pytest.approx([0.25, 0.5, 0.75, 1, 1, 1])
    begun_with = begun(tiny(final_rate=1.0, warm_up=2, prior="greedy", value_updates=2))
    assert rates(begun_with, 5) == pytest.approx([1, 1, 0.5, 1, 1])
    falling = rates(begun(tiny(final_rate=0.1, warm_up=0, decisions=1)), 2)
    assert falling == pytest.approx([0.1, 0.1])


def test_adam_starts_anew_when_the_policy_does() -> None:
    training = updated(begun(tiny(prior="greedy", value_updates=3, epochs=1)), 3)
    before = training.optimiser
    updated(training, 1)
    steps = int(training.optimiser.state[training.network.policy_head.weight]["step"])
    assert training.optimiser is not before
    assert 0 < steps < int(before.state[training.network.value_head.weight]["step"])


# ---- starting from a network ----


def test_starts_as_a_network_that_plays(tmp_path: Path) -> None:
    first = updated(begun(tiny(seed=3)), 1)
    path = tmp_path / "model.npz"
    path.write_bytes(first.model())
    second = begun(tiny(seed=4, start=str(path)))
    assert weights(second) == weights(first)
    assert weights(updated(second, 1)) != weights(first)


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"hidden": 24}, "has 8 units"), ({"prior": "greedy"}, "was trained with the prior '', not 'greedy'")],
)
def test_what_cannot_be_started_from(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = tmp_path / "model.npz"
    path.write_bytes(begun(tiny()).model())
    with pytest.raises(OptionError, match=message):
        begun(tiny(start=str(path), **changes))
    with pytest.raises(CheckpointError, match="there is no network file"):
        begun(tiny(start=str(tmp_path / "nothing.npz")))
