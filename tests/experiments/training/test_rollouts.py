"""What is learned from: advantages, drawn actions, and that a rollout is what happened."""

from __future__ import annotations

import copy
from multiprocessing.sharedctypes import RawArray
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from trainings import lessons, tiny

from conftest import through_pickle
from experiments.training.network import PolicyNetwork, in_precision
from experiments.training.rollouts import (
    FEWEST_IN_BFLOAT16,
    LARGEST,
    SURE,
    Batch,
    Collector,
    Rollout,
    advantages,
    arranged,
)
from experiments.training.seating import LEARNER, Tables, margins
from skyenv.agents import Decisions, RandomAgent, decide, decisions_in
from skyenv.engine.games import Games
from skyenv.engine.observation import OBSERVATION_SIZE, codes_of
from skyenv.rules.actions import NUM_ACTIONS, PASS
from skyenv_agents import GreedyAgent
from skyenv_agents.learned.architecture import VALUES, Sizes
from skyenv_agents.learned.layout import NUM_INPUTS
from skyenv_agents.learned.networks import NetworkAgent, prior_scores
from skyenv_agents.learned.pool import OpponentPool

SIZES = Sizes(8, 1, 4)


def network(seed: int = 1, decided: float = 0.0) -> PolicyNetwork:
    """An untrained network, with preferences if it is decided."""
    torch.manual_seed(seed)
    made = PolicyNetwork(SIZES, 2.0)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(decided * torch.randn_like(parameter))
    return made


def some_masks(number: int, rng: np.random.Generator) -> torch.Tensor:
    """Bool masks with a tenth of the actions, at least one."""
    mask = rng.random((number, NUM_ACTIONS)) < 0.1
    mask[np.arange(number), rng.integers(NUM_ACTIONS, size=number)] = True
    return torch.from_numpy(mask)


# ---- advantages ----


def f32(*values: Any) -> Any:
    return np.array(values, np.float32)


def column(values: list[Any], dtype: type = np.float32) -> Any:
    """One game: (T, 1) or (T, 1, players)."""
    return np.array(values, dtype)[:, None]


def test_advantages_by_hand_over_three_seats() -> None:
    """One game, γ = 0.5 and λ = 0.5: rewards in between, an end, another game, and a tail that
    isn't finished.

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
        chooses=np.ones((8, 1), np.bool_),
        reward=column(
            [
                [1, 0, 8],
                [0, 4, 0],
                [2, 0, 0],
                [6, 1, 0],
                [1, -1, 3],
                [7, 7, 7],
                [1, 0, 2],
                [0, 0, 5],
            ]
        ),
        done=column([0, 0, 0, 0, 1, 0, 0, 0], np.bool_),
        ending=np.zeros((8, 1, 3), np.float32),
        gamma=0.5,
        gae_lambda=0.5,
    )
    # seat 1: t=4: −1 − 6 = −7; t=1: 4 + 1 + 0.5·6 − 3 = 5, and 5 + 0.25·(−7) = 3.25
    # seat 0: t=2: 2 + 6 + 1 − 4 = 5; t=0: 1 + 0.5·4 − 2 = 1, and 1 + 0.25·5 = 2.25
    # seat 2: t=3: 0 + 3 − 5 = −2; in the next game t=5: 7 + 2 + 0.5·3 − 1 = 9.5; t=7 and seat 0's
    # t=6 have no successor
    assert advantage[:, 0].tolist() == [2.25, 3.25, 5.0, -2.0, -7.0, 9.5, 0.0, 0.0]
    assert whole[:, 0].tolist() == [True] * 6 + [False] * 2


def test_what_is_forced_only_passes_rewards_on() -> None:
    """By hand, γ = 0.5 and λ = 0.5, over two seats; what is held of positions without a choice,
    100, is nowhere.

    t  seat  chooses  rewards  value
    0  0     yes      (1, 0)   2
    1  0     no       (2, 4)   100    the 4 and the 8 come before seat 1's first choice: nobody's
    2  1     no       (0, 8)   100
    3  1     yes      (4, 2)   3
    4  0     no       (0, 0)   100
    5  0     yes      (1, 1)   5
    6  1     no       (6, 1)   100    ends the game
    7  0     yes      (5, 5)   4      the next game, in which seat 0 has no second choice
    8  0     no       (9, 9)   100
    """
    advantage, whole = advantages(
        value=column([2, 100, 100, 3, 100, 5, 100, 4, 100]),
        seat=column([0, 0, 1, 1, 0, 0, 1, 0, 0], np.int64),
        chooses=column([1, 0, 0, 1, 0, 1, 0, 1, 0], np.bool_),
        reward=column([[1, 0], [2, 4], [0, 8], [4, 2], [0, 0], [1, 1], [6, 1], [5, 5], [9, 9]]),
        done=column([0, 0, 0, 0, 0, 0, 1, 0, 0], np.bool_),
        ending=np.zeros((9, 1, 2), np.float32),
        gamma=0.5,
        gae_lambda=0.5,
    )
    # seat 0: t=5: 1 + 6 − 5 = 2; t=0: 1 + 2 + 0 + 4 + 0 + 0.5·5 − 2 = 7.5, and 7.5 + 0.25·2 = 8
    # seat 1: t=3: 2 + 0 + 1 + 1 − 3 = 1
    assert advantage[:, 0].tolist() == [8, 0, 0, 1, 0, 2, 0, 0, 0]
    assert whole[:, 0].tolist() == [True, False, False, True, False, True, False, False, False]


def test_a_truncated_end_counts_what_is_left_for_every_seat() -> None:
    ending = np.zeros((3, 1, 3), np.float32)
    ending[2, 0] = [10, 20, 40]
    advantage, whole = advantages(
        value=column([1, 2, 3]),
        seat=column([0, 1, 0], np.int64),
        chooses=np.ones((3, 1), np.bool_),
        reward=column([[0, 0, 0], [0, 1, 0], [2, 3, 0]]),
        done=column([0, 0, 1], np.bool_),
        ending=ending,
        gamma=0.5,
        gae_lambda=0.5,
    )
    # t=2: 2 + 0.5·10 − 3 = 4; t=1: 1 + 3 + 0.5·20 − 2 = 12; t=0: 0.5·3 − 1 = 0.5, and 0.5 + 0.25·4
    # = 1.5
    assert advantage[:, 0].tolist() == [1.5, 12.0, 4.0]
    assert whole.all()


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
    """The same for one game after another, forwards, from the definition: Σ (γλ)^k δ_k along a
    seat's own decisions.
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
def test_advantages_are_those_of_the_definition(
    steps: int, number: int, players: int, seed: int, gamma: float, gae_lambda: float
) -> None:
    rng = np.random.default_rng(seed)
    value = rng.normal(size=(steps, number)).astype(np.float32)
    seat = rng.integers(players, size=(steps, number))
    chooses = rng.random((steps, number)) < rng.choice([0.3, 0.8, 1.0])
    reward = rng.normal(size=(steps, number, players)).astype(np.float32)
    done = rng.random((steps, number)) < 0.2
    ending = np.where(
        (done & (rng.random((steps, number)) < 0.5))[..., None], rng.normal(size=reward.shape), 0
    )
    ending = ending.astype(np.float32)
    advantage, whole = advantages(value, seat, chooses, reward, done, ending, gamma, gae_lambda)
    assert advantage.dtype == np.float32
    for game in range(number):
        part = (
            value[:, game],
            seat[:, game],
            chooses[:, game],
            reward[:, game],
            done[:, game],
            ending[:, game],
        )
        wanted, wanted_whole = slowly(*part, gamma, gae_lambda)
        assert advantage[:, game] == pytest.approx(wanted, abs=1e-4)
        assert whole[:, game].tolist() == wanted_whole


def test_without_discount_targets_are_the_returns() -> None:
    rng = np.random.default_rng(3)
    steps, players = 30, 3
    value, reward = (
        rng.normal(size=(steps, 1)).astype(np.float32),
        rng.normal(size=(steps, 1, players)).astype(np.float32),
    )
    seat, done = rng.integers(players, size=(steps, 1)), np.zeros((steps, 1), np.bool_)
    done[[11, -1]] = True
    everywhere = np.ones((steps, 1), np.bool_)
    advantage, whole = advantages(
        value, seat, everywhere, reward, done, np.zeros_like(reward), 1.0, 1.0
    )
    ends = np.where(np.arange(steps) <= 11, 12, steps)
    returns = [reward[t : ends[t], 0, seat[t, 0]].sum() for t in range(steps)]
    assert (advantage + value)[:, 0] == pytest.approx(returns, abs=1e-5)
    assert whole.all()


# ---- what is drawn ----


def test_draws_follow_the_probabilities() -> None:
    collector = tiny(games=500, steps=1, opponent_share=0.0).make_collector(0)
    learned = network(decided=0.4)
    collector._look(0)
    collector.masks[0] = some_masks(1, np.random.default_rng(1))  # the same decision 500 times
    collector.mine[0] = True  # where games are spread, some have no choice
    with torch.no_grad():
        collector.codes[0] = collector.codes[0, 0].clone()
        probabilities = learned(collector.codes[0], collector.masks[0])[0][0].exp().numpy()
        drawn: list[int] = []
        for _ in range(10):
            collector._choose(0, learned)
            drawn += collector.action[0].tolist()
        values = learned(collector.codes[0, :1], collector.masks[0, :1])[1][0].numpy()
    often = np.bincount(drawn, minlength=NUM_ACTIONS) / len(drawn)
    assert np.abs(often - probabilities).max() < 0.03
    assert 0.15 < probabilities.max() < 0.999
    assert collector.log_probability[0] == pytest.approx(
        np.log(probabilities[collector.action[0]]), abs=1e-4
    )
    assert collector.entropy[0, 0] == pytest.approx(
        -sum(p * np.log(p) for p in probabilities if p), abs=1e-3
    )
    assert collector.value[0] == pytest.approx(np.tile(values, (500, 1)), abs=1e-5)


@pytest.mark.parametrize("number", [0.0, 1.0])
def test_no_random_number_takes_an_illegal_action(
    number: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the lowest nor one that rounding brings to the highest."""
    collector = tiny(games=2, steps=2, opponent_share=0.0).make_collector(0)
    collector._look(0)
    collector.masks[0] = False
    collector.masks[0, 0, 50] = collector.masks[0, 1, 60] = True
    monkeypatch.setattr(torch, "rand", lambda shape, generator: torch.full((shape,), number))
    with torch.no_grad():
        collector._choose(0, network())
    assert collector.action[0].tolist() == [50, 60]
    assert LARGEST < 1


# ---- what is collected ----


def scores(games: Games) -> Any:
    """VP of the seats; of the last position where a game has just ended."""
    now, ended = games.state["score"], games.finished["score"]
    return np.where(games.done[:, None], ended, now)[:, : games.num_players].copy()


@pytest.mark.parametrize("prior", ["", "greedy"])
@pytest.mark.parametrize(
    "changes",
    [
        {"opponent_share": 0.0, "max_turns": 2},
        {"opponent_share": 0.7, "fixed_opponents": "random,crowd", "max_turns": 2},
        {
            "players": "2,3",
            "side": "front,back",
            "opponent_share": 0.5,
            "fixed_opponents": "greedy",
            "max_turns": 2,
        },
        {"players": "4", "max_turns": 500, "games": 4, "steps": 300, "fixed_opponents": "random"},
    ],
    ids=["alone", "opponents", "tables", "whole"],
)
def test_a_rollout_is_what_happened(
    changes: dict[str, Any], prior: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Played again action by action, it gives the same seats, inputs and rewards, and advantages
    from first principles.
    """
    config = tiny(
        reward="points", prior=prior, gamma=0.9, gae_lambda=0.8, seed=5, sure_share=1.0, **changes
    )
    collector, learned = config.make_collector(0), network(decided=0.1)
    again = [tables.games.copy() for tables in collector.tables]
    seated = [tables.seats.copy() for tables in collector.tables]
    endings: dict[tuple[int, int], Any] = {}
    real = Collector._values_at_end

    def noted(self: Collector, tables: Tables, row: int, network: PolicyNetwork) -> Any:
        endings[id(tables), int(tables.games.finished["seed"][row])] = last = real(
            self, tables, row, network
        )
        return last

    monkeypatch.setattr(Collector, "_values_at_end", noted)
    rollout = collector.collect(learned)
    observed = collector.used.codes < OBSERVATION_SIZE
    seen_ends, chosen = 0, np.zeros_like(collector.mine)
    advantage, target = np.zeros(chosen.shape), np.zeros((*chosen.shape, VALUES))
    for tables, place, games, seats in zip(
        collector.tables, collector.slices, again, seated, strict=True
    ):
        players, number = games.num_players, games.num_games
        happened, done = (
            np.zeros((VALUES, config.steps, number, players)),
            np.zeros((config.steps, number), np.bool_),
        )
        ending = np.zeros_like(happened)
        playing = np.ones(number, np.bool_)  # the first game of each row, whose seating is known
        for t in range(config.steps):
            assert np.array_equal(collector.owner[t, place], games.seat)
            assert np.array_equal(collector.masks[t, place].numpy(), games.mask != 0)
            chooses = games.mask.sum(axis=1) > 1
            assert np.array_equal(collector.chooses[t, place], chooses)
            mine = chooses & (seats[np.arange(number), games.seat] == LEARNER)
            assert np.array_equal(collector.mine[t, place][playing], mine[playing])
            rows = np.flatnonzero(collector.mine[t, place])
            codes = collector.codes[t, place].numpy()[rows]
            assert np.array_equal(
                codes[:, observed],
                codes_of(games.observe(games.seat))[rows][:, collector.used.codes[observed]],
            )
            before = games.state["score"][:, :players].copy()
            games.step(
                collector.action[t, place]
            )  # also what is forced: an illegal action would be an error
            done[t] = games.done
            happened[0, t] = scores(games) - before
            happened[1, t] = margins(scores(games)) - margins(before)
            playing &= ~games.done
            for row in np.flatnonzero(games.truncated).tolist():
                ending[:, t, row] = endings.pop((id(tables), int(games.finished["seed"][row]))).T
                seen_ends += 1
        for row in range(number):
            at = np.arange(collector.mine.shape[1])[place][row]
            for k in range(VALUES):
                value, seat = (
                    collector.value[: config.steps, at, k],
                    collector.owner[: config.steps, at],
                )
                part = (
                    value,
                    seat,
                    collector.chooses[: config.steps, at],
                    happened[k, :, row],
                    done[:, row],
                    ending[k, :, row],
                )
                wanted, whole = slowly(*part, config.gamma, config.gae_lambda)
                target[: config.steps, at, k] = wanted + value
                if k == 0:
                    advantage[: config.steps, at] = wanted
                chosen[: config.steps, at] = whole & collector.mine[: config.steps, at]
    assert bool(collector.codes[..., ~observed].any()) == bool(prior)
    assert not endings
    assert seen_ends > 0 or config.max_turns == 500
    assert np.array_equal(collector.mine, collector.chooses) == (config.opponent_share == 0)
    assert not collector.chooses.all()
    batch = rollout.batch
    assert 0 < len(batch) == rollout.decisions == chosen.sum()
    assert (batch.weight == 1).all()
    assert np.array_equal(batch.codes.numpy(), collector.codes.numpy()[chosen])
    assert np.array_equal(batch.masks.numpy(), collector.masks.numpy()[chosen])
    assert np.array_equal(batch.action.numpy(), collector.action[chosen])
    assert np.array_equal(batch.log_probability.numpy(), collector.log_probability[chosen])
    assert batch.advantage.numpy() == pytest.approx(advantage[chosen], rel=1e-3, abs=1e-3)
    assert batch.target.numpy() == pytest.approx(target[chosen], rel=1e-3, abs=1e-3)
    assert np.ptp(target[chosen], axis=0).min() > 0.01
    with torch.no_grad():
        log_probabilities, values = learned(batch.codes, batch.masks)
    assert torch.allclose(
        log_probabilities.gather(1, batch.action[:, None])[:, 0], batch.log_probability, atol=1e-4
    )
    assert values.numpy() == pytest.approx(collector.value[chosen], abs=1e-4)


@pytest.mark.parametrize(
    "changes",
    [
        {"players": "2", "max_turns": 3},
        {"players": "3,4", "side": "back", "max_turns": 500, "prior": "greedy"},
    ],
    ids=["short", "tables"],
)
def test_what_one_rollout_leaves_open_a_later_one_ends(changes: dict[str, Any]) -> None:
    """Many rollouts of a few steps teach what a long one does: the same decisions with the same
    one-step advantages.
    """
    same: dict[str, Any] = {
        "opponent_share": 0.0,
        "gae_lambda": 0.0,
        "sure_share": 1.0,
        "reward": "points",
        "games": 12,
    }
    learned = network(decided=0.1)
    often, once = (tiny(steps=steps, **same, **changes).make_collector(0) for steps in (5, 200))
    taught = []
    for number in range(40):
        taught += lessons(often.collect(learned).batch)
        if number % 7 == 3:
            often = through_pickle(often)
    whole = lessons(once.collect(learned).batch)
    assert len(taught) == len(whole) > 300
    for mine, other in zip(
        sorted(taught, key=lambda one: one[0]), sorted(whole, key=lambda one: one[0]), strict=True
    ):
        assert mine[0] == other[0]
        assert mine[1] == pytest.approx(other[1], abs=1e-4)
    assert often.open is not None
    assert once.open is not None
    assert sorted(often.open.columns.tolist()) == sorted(once.open.columns.tolist())
    assert often.open.since.sum(axis=0) == pytest.approx(once.open.since.sum(axis=0), abs=1e-4)


def test_the_network_is_asked_where_it_has_a_choice() -> None:
    collector, learned = (
        tiny(opponent_share=0.5, fixed_opponents="random").make_collector(0),
        network(),
    )
    asked: list[torch.Tensor] = []
    learned.register_forward_pre_hook(lambda _, given: asked.append(given[1]))
    collector.collect(learned)
    assert sum(len(masks) for masks in asked) > 0
    assert all((masks.sum(dim=1) > 1).all() for masks in asked)


# ---- what is left out ----


def thinned(share: float) -> tuple[Collector, list[Rollout]]:
    """A collector that learns from a share of what the policy was sure of, and its first
    rollouts.
    """
    changes: dict[str, Any] = {
        "players": "2,3",
        "games": 60,
        "opponent_share": 0.6,
        "fixed_opponents": "random,greedy",
    }
    collector, learned = tiny(sure_share=share, **changes).make_collector(0), network(decided=0.8)
    return collector, [collector.collect(learned) for _ in range(3)]


def lines(batch: Batch) -> list[bytes]:
    """All that is told of each decision but its weight."""
    arrays = [
        array.numpy().reshape(len(batch), -1)
        for name, array in vars(batch).items()
        if name != "weight"
    ]
    return [b"".join(array[k].tobytes() for array in arrays) for k in range(len(batch))]


def test_with_all_that_is_sure_each_decision_counts_once() -> None:
    for rollout in thinned(1.0)[1]:
        assert len(rollout.batch) == rollout.decisions > 0
        assert (rollout.batch.weight == 1).all()


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_what_the_policy_was_sure_of_is_learned_from_in_part(share: float) -> None:
    """Of the same games: all other decisions, and of those a share, which stand for all of them."""
    number = left = 0
    for rollout, every in zip(thinned(share)[1], thinned(1.0)[1], strict=True):
        batch, whole = rollout.batch, every.batch
        rest = iter(lines(whole))
        assert all(line in rest for line in lines(batch))  # some of them, in their order
        sure, all_sure = batch.log_probability > SURE, whole.log_probability > SURE
        assert (~sure).sum() == (~all_sure).sum() > 0
        assert (batch.weight[~sure] == 1).all()
        assert batch.weight[sure].numpy() == pytest.approx(int(all_sure.sum()) / int(sure.sum()))
        assert float(batch.weight.sum()) == pytest.approx(rollout.decisions, rel=1e-5)
        assert rollout.decisions == len(whole)
        assert (rollout.ended, rollout.figures) == (every.ended, every.figures)
        number, left = number + int(all_sure.sum()), left + int(sure.sum())
    assert number > 400
    assert left / number == pytest.approx(share, abs=4 * (share * (1 - share) / number) ** 0.5)


def test_what_is_expected_of_the_weighted_sums_is_what_all_decisions_give(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever is summed up: no decision that the policy was sure of comes more often than
    others.
    """
    tracks: list[Any] = []
    real = Collector._batch
    monkeypatch.setattr(
        Collector,
        "_batch",
        lambda self, those: tracks.append(those) or real(self, those),  # type: ignore[func-returns-value]
    )
    collector, _ = thinned(0.25)

    def sums(batch: Batch) -> Any:
        each = torch.stack(
            [
                batch.advantage,
                batch.target[:, 0],
                batch.target[:, 1],
                torch.linspace(0, 1, 103)[batch.action],
            ]
        )
        return (batch.weight * each).sum(dim=1).numpy()

    drawn = np.array([sums(real(collector, tracks[-1])[0]) for _ in range(400)])
    collector.sure_share = 1.0
    error = drawn.std(axis=0) / len(drawn) ** 0.5
    assert (error > 0).all()
    assert (np.abs(drawn.mean(axis=0) - sums(real(collector, tracks[-1])[0])) < 4 * error).all()


def test_nothing_may_be_left_of_what_the_policy_was_sure_of() -> None:
    for rollout in thinned(1e-9)[1]:
        assert (rollout.batch.log_probability <= SURE).all()
        assert (rollout.batch.weight == 1).all()
        assert 0 < len(rollout.batch) < rollout.decisions


def test_figures_tell_of_the_learners_decisions() -> None:
    collector = tiny(opponent_share=0.6, fixed_opponents="random", steps=60).make_collector(0)
    figures = collector.collect(network()).figures
    mine = collector.mine
    assert 0 < mine.sum() < mine.size
    assert figures["entropy"] == pytest.approx(collector.entropy[mine].mean(), rel=1e-5)
    bids = mine & collector.masks.numpy()[..., PASS]
    assert figures["passes"] == pytest.approx((collector.action[bids] == PASS).mean())
    assert figures["illegal"] == 0
    row, t = np.argwhere(mine)[0][::-1]
    collector.masks[t, row, int(collector.action[t, row])] = False
    assert collector._figures()["illegal"] == 1


@pytest.mark.parametrize("games", [16, 400], ids=["single precision", "bfloat16"])
def test_every_rollout_is_played_with_the_weights_of_then(games: int) -> None:
    """Weights are converted once for a rollout; those of another one, changed in place, must not be
    played with.
    """
    collector = tiny(
        players="2", games=games, opponent_share=0.0, precision="bfloat16"
    ).make_collector(0)
    made = network(decided=0.1)
    for _ in range(2):
        collector.collect(made)
        mine = np.flatnonzero(collector.mine[0])
        assert (mine.size >= FEWEST_IN_BFLOAT16) == (games == 400)
        rows = torch.from_numpy(mine)
        same = copy.deepcopy(made)  # of whose weights nothing can have been kept
        with torch.no_grad(), in_precision("cpu", games == 400):
            values = same(
                collector.codes[0].index_select(0, rows), collector.masks[0].index_select(0, rows)
            )[1]
        assert np.allclose(collector.value[0, mine], values.numpy(), atol=0.02)
        with torch.no_grad():
            next(made.layers["outlook"].parameters()).add_(1.0)


class TorchAgent(RandomAgent):
    """Plays at random, and computes something on the way."""

    name = "torch"
    kinds: ClassVar[set[torch.dtype]] = set()

    def act(self, decisions: Decisions) -> Any:
        """See :meth:`skyenv.Agent.act`."""
        with torch.no_grad():
            self.kinds.add(torch.nn.Linear(3, 2)(torch.ones(1, 3)).dtype)
        return super().act(decisions)


def test_opponents_compute_in_their_own_precision() -> None:
    collector = tiny(players="2", games=8, opponent_share=1.0, precision="bfloat16").make_collector(
        0
    )
    collector.pool = OpponentPool([TorchAgent()], 1.0)
    collector._seat(collector.tables[0], np.arange(8))
    collector.collect(network())
    assert TorchAgent.kinds == {torch.float32}


def test_the_prior_is_a_part_of_what_is_seen() -> None:
    collector = tiny(players="3", prior="greedy", games=64, opponent_share=0.0).make_collector(0)
    collector._look(0)
    tables = collector.tables[0]
    greedy = GreedyAgent()
    assert np.array_equal(
        collector.codes[0].numpy(),
        arranged(tables.look(np.arange(64), greedy), collector.used).numpy(),
    )
    given_scores = prior_scores(greedy, decisions_in(tables.games, greedy))
    with torch.no_grad():
        chosen = network()(collector.codes[0], collector.masks[0])[0].argmax(dim=1).numpy()
    assert (given_scores[np.arange(64), chosen] > -0.3).all()
    assert (given_scores.min(axis=1) < -0.5).mean() > 0.5  # it was a choice


def test_values_of_a_truncated_end_are_those_of_the_last_position() -> None:
    collector, learned = (
        tiny(players="3", games=5, max_turns=3, opponent_share=0.0).make_collector(0),
        network(decided=0.1),
    )
    tables = collector.tables[0]
    while not tables.games.truncated.any():
        tables.games.step(decide(tables.games, RandomAgent()))
    row = int(np.flatnonzero(tables.games.truncated)[-1])
    with torch.no_grad():
        values = collector._values_at_end(tables, row, learned)
        assert values.shape == (3, VALUES)
        for seat in range(3):
            codes = np.zeros((1, NUM_INPUTS), np.int16)
            codes[:, :OBSERVATION_SIZE] = codes_of(
                tables.games.observe(seat, [row], tables.games.finished)
            )
            value = learned(
                arranged(codes, collector.used), torch.ones(1, NUM_ACTIONS, dtype=torch.bool)
            )[1]
            assert values[seat] == pytest.approx(value[0].numpy(), abs=1e-5)
    assert len(set(values[:, 0].tolist())) == 3


def test_ends_are_noted_where_opponents_are_drawn() -> None:
    collector = tiny(
        opponent_share=1.0, fixed_opponents="random,greedy", max_turns=2, steps=60
    ).make_collector(0)
    assert collector.pool.share("random") is None
    rollout = collector.collect(network())
    shares = {
        name: [one.share for one in rollout.ended if one.opponent == name]
        for name in ("random", "greedy")
    }
    assert all(shares.values())
    for name, each in shares.items():
        assert collector.pool.share(name) == pytest.approx(np.mean(each))


# ---- going on ----


def same(one: Rollout, other: Rollout) -> bool:
    """Whether two rollouts are the same, bit for bit."""
    arrays = zip(vars(one.batch).values(), vars(other.batch).values(), strict=True)
    told, also = ((each.decisions, each.ended, each.figures) for each in (one, other))
    return all(torch.equal(a, b) for a, b in arrays) and told == also


@pytest.mark.parametrize("copier", [through_pickle, Collector.snapshot], ids=["pickle", "snapshot"])
def test_a_copy_goes_on_the_same(copier: Any) -> None:
    """Whatever the first one plays in between."""
    changes: dict[str, Any] = {
        "players": "2,3",
        "opponent_share": 0.9,
        "fixed_opponents": "greedy,random",
        "fixed_share": 0.3,
    }
    collector = tiny(**changes, max_turns=2, prior="greedy", sure_share=0.5).make_collector(0)
    collector.add_opponent(NetworkAgent(network(3).frozen({}), name="past-1"))
    learned = network(decided=0.8)
    collector.collect(learned)
    again = copier(collector)
    first = [copy.deepcopy(collector.collect(learned)) for _ in range(2)]
    second = [again.collect(learned) for _ in range(2)]
    assert all(same(*both) for both in zip(first, second, strict=True))
    assert not same(*second)
    assert any((rollout.batch.weight > 1).any() for rollout in second)
    assert any(
        one.opponent == "past-1" for rollout in first for one in rollout.ended
    ) or "past-1" in {guest.name for tables in again.tables for guest in tables.guests}


def test_a_snapshot_shares_its_opponents() -> None:
    """They don't change; and what the copy takes in, the first one doesn't."""
    collector = tiny(opponent_share=1.0, fixed_opponents="greedy").make_collector(0)
    again = collector.snapshot()
    assert again.pool.agents[0] is collector.pool.agents[0] is again.tables[0].guests[0]
    again.add_opponent(NetworkAgent(network().frozen({}), name="past-1"))
    assert [agent.name for agent in collector.pool.agents] == ["greedy"]
    assert [agent.name for agent in again.pool.agents] == ["greedy", "past-1"]


def test_guests_that_have_left_are_forgotten() -> None:
    """When a past policy comes; who still sits at a table stays."""
    collector = tiny(opponent_share=1.0, fixed_opponents="greedy,random").make_collector(0)
    (tables,) = collector.tables
    tables.seat(np.arange(12), OpponentPool([GreedyAgent()]), 1.0, np.random.default_rng(1))
    assert len(tables.guests) == 3
    collector.add_opponent(NetworkAgent(network().frozen({}), name="past-1"))
    assert [guest.name for guest in tables.guests] == ["greedy"]
    assert [agent.name for agent in collector.pool.past] == ["past-1"]


# ---- batches in memory ----


WIDTH = 11
"""Inputs of a decision, an odd number."""


def some_batch(number: int) -> Batch:
    """With something else in every place."""
    generator = torch.Generator().manual_seed(number)
    return Batch(
        **{
            name: torch.randint(
                0, 2 if kind is torch.bool else 30_000, shape, generator=generator
            ).to(kind)
            for name, (shape, kind) in Batch.shapes(number, WIDTH).items()
        }
    )


def equal(one: Batch, other: Batch) -> bool:
    pairs = [(getattr(one, name), array) for name, array in vars(other).items()]
    return all(mine.dtype == theirs.dtype and torch.equal(mine, theirs) for mine, theirs in pairs)


@pytest.mark.parametrize("number", [0, 1, 2, 3, 5, 7, 8, 13, 64, 77])
def test_a_batch_comes_back_from_memory(number: int) -> None:
    """Whatever its size, also where it takes all the room that there is, and something else has
    been there before.
    """
    assert set(Batch.shapes(number, WIDTH)) == set(vars(some_batch(number)))
    memory = RawArray("b", Batch.room(number, WIDTH))
    batch = some_batch(number)
    batch.write(memory)
    found = Batch.within(memory, number, WIDTH)
    assert len(found) == number
    assert equal(found, batch)
    larger = RawArray("b", Batch.room(100, WIDTH))
    some_batch(100).write(larger)
    batch.write(larger)
    assert equal(Batch.within(larger, number, WIDTH), batch)


def test_there_is_room_for_fewer() -> None:
    rooms = [Batch.room(number, WIDTH) for number in range(40)]
    assert rooms[0] == 0
    assert rooms == sorted(set(rooms))
    assert rooms[-1] < 39 * rooms[1]


def test_what_is_found_in_memory_is_the_memory() -> None:
    """Nothing is copied: what another process writes later is seen."""
    memory = RawArray("b", Batch.room(9, WIDTH))
    found = Batch.within(memory, 9, WIDTH)
    batch = some_batch(9)
    assert not equal(found, batch)
    batch.write(memory)
    assert equal(found, batch)


def test_batches_are_joined_in_order() -> None:
    parts = [some_batch(3), some_batch(0), some_batch(5)]
    whole = Batch.join(parts, torch.device("cpu"))
    assert len(whole) == 8
    assert torch.equal(whole.codes, torch.cat([parts[0].codes, parts[2].codes]))
    assert torch.equal(whole.action[3:], parts[2].action)
    assert equal(Batch.join(parts[:1], torch.device("cpu")), parts[0])
