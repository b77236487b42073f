"""Rollouts: sampled actions, and replay."""

import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from experiments.training.checkpoint import packed, unpacked
from experiments.training.ppo import Batch, advantages
from experiments.training.rollouts import (
    CERTAIN,
    FEWEST_IN_BFLOAT16,
    Collector,
    drawn,
)
from experiments.training.seating import LEARNER, margins
from skyenv.engine.observation import OBSERVATION_SIZE, codes_of
from skyenv.rules.actions import NUM_ACTIONS
from skyenv_agents.learned.architecture import Sizes
from skyenv_agents.learned.layout import NUM_INPUTS
from skyenv_agents.learned.torch_network import PolicyNetwork, in_precision
from trainings import arrays_of, lessons, part_of, tiny

SIZES = Sizes(8, 1, 4)


def network(seed: int = 1, decided: float = 0.0) -> PolicyNetwork:
    """An untrained network, with preferences if it is decided."""
    torch.manual_seed(seed)
    made = PolicyNetwork(SIZES, 2.0)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(decided * torch.randn_like(parameter))
    return made


# ---- what is collected ----


def test_sampled_actions_follow_the_probabilities_and_are_legal() -> None:
    """Also with the lowest random number, and with one that rounding brings to the highest."""
    chance = torch.Generator().manual_seed(1)
    logits = torch.randn(NUM_ACTIONS, generator=chance)
    mask = torch.rand(NUM_ACTIONS, generator=chance) < 0.1
    log_probabilities = torch.log_softmax(logits.masked_fill(~mask, -1e9), dim=0).repeat(5000, 1)
    masks, uniform = mask.repeat(5000, 1), torch.rand(5000, generator=chance)
    uniform[0], uniform[1] = 0.0, 1.0
    actions = drawn(log_probabilities, masks, uniform)
    assert mask[actions].all()
    often = torch.bincount(actions, minlength=NUM_ACTIONS) / 5000
    assert (often - log_probabilities[0].exp()).abs().max() < 0.03
    assert 5 < mask.sum() < 20


@pytest.mark.parametrize(
    "changes",
    [
        {"opponent_share": 0.0, "max_turns": 2},
        {
            "players": "2,3",
            "side": "front,back",
            "opponent_share": 0.5,
            "fixed_opponents": "greedy,random",
            "max_turns": 2,
            "prior": "greedy",
        },
        {"players": "4", "max_turns": 500, "games": 4, "steps": 300, "fixed_opponents": "random"},
    ],
    ids=["alone", "tables", "whole"],
)
def test_a_rollout_can_be_replayed(changes: dict[str, Any]) -> None:
    """Replayed action by action: equal seats, inputs, rewards and ends, and the batch's targets."""
    config = tiny(reward="points", gamma=0.9, gae_lambda=0.8, certain_fraction=1.0, **changes)
    collector, learned = Collector(config, 0), network(decided=0.1)
    again = [(tables.games.copy(), tables.seats.copy()) for tables in collector.tables]
    rollout = collector.collect(learned)
    steps, used = config.steps, collector.used.codes
    observed = used < OBSERVATION_SIZE
    seen_ends = 0
    for place, (games, seats) in zip(collector.slices, again, strict=True):
        rows, players = np.arange(games.num_games), np.arange(games.num_players)
        playing = np.ones(len(rows), np.bool_)  # the first game of each row, whose seating is known
        for t in range(steps):
            assert np.array_equal(collector.owner[t, place], games.seat)
            assert np.array_equal(collector.masks[t, place].numpy(), games.mask != 0)
            chooses, mine = games.mask.sum(axis=1) > 1, collector.mine[t, place]
            assert np.array_equal(collector.chooses[t, place], chooses)
            learns = chooses & (seats[rows, games.seat] == LEARNER)
            assert np.array_equal(mine[playing], learns[playing])
            codes = codes_of(games.observe(games.seat))[:, used[observed]]
            assert np.array_equal(collector.codes[t, place].numpy()[mine][:, observed], codes[mine])
            before = games.state["score"][:, players].copy()
            games.step(collector.action[t, place])  # what is forced, too: or it would be illegal
            after = np.where(games.done[:, None], games.finished["score"], games.state["score"])
            gains = after[:, players] - before, margins(after[:, players]) - margins(before)
            found = collector.reward[t, place, : len(players)]
            assert found == pytest.approx(np.stack(gains, axis=2), abs=1e-6)
            assert np.array_equal(collector.done[t, place], games.done)
            playing &= ~games.done
            ends = np.zeros_like(collector.ending[t, place])
            for row in np.flatnonzero(games.truncated).tolist():
                views = np.zeros((len(players), NUM_INPUTS), np.int16)  # by the seats' views alone
                last = games.observe(players, np.full(len(players), row), games.finished)
                views[:, :OBSERVATION_SIZE] = codes_of(last)
                everything = torch.ones((len(players), NUM_ACTIONS), dtype=torch.bool)
                with torch.no_grad():
                    ends[row, players] = learned(torch.from_numpy(views[:, used]), everything)[1]
                seen_ends += 1
            assert collector.ending[t, place] == pytest.approx(ends, abs=1e-5)
    assert bool(collector.codes[..., ~observed].any()) == bool(config.prior)
    assert seen_ends > 0 or config.max_turns == 500
    assert np.array_equal(collector.mine, collector.chooses) == (config.opponent_share == 0)
    assert not collector.chooses.all()
    estimates, whole = advantages(
        collector.value[:steps],
        collector.owner[:steps],
        collector.chooses[:steps],
        collector.reward[:steps],
        collector.done[:steps],
        collector.ending[:steps],
        config.gamma,
        config.gae_lambda,
    )
    chosen, batch = collector.mine[:steps] & whole, rollout.batch
    assert 0 < len(batch) == rollout.decisions == chosen.sum()
    wanted = Batch(
        collector.codes[:steps][chosen],
        collector.masks[:steps][chosen],
        torch.from_numpy(collector.action[:steps][chosen]),
        torch.from_numpy(collector.log_probability[:steps][chosen]),
        torch.from_numpy(estimates[chosen][:, 0]),
        torch.from_numpy((estimates + collector.value[:steps])[chosen]),
        torch.ones(len(batch)),
    )
    for name, array in arrays_of(batch).items():
        assert torch.equal(array, getattr(wanted, name)), name
    with torch.no_grad():
        log_probabilities, _ = learned(batch.codes, batch.masks)
    likely = log_probabilities.gather(1, batch.action[:, None])[:, 0]
    assert torch.allclose(likely, batch.log_probability, atol=1e-4)


def test_open_episodes_are_completed_by_later_rollouts() -> None:
    """Many short rollouts give the decisions and one-step advantages of a long one."""
    config = tiny(
        players="2,3",
        max_turns=8,
        prior="greedy",
        opponent_share=0.0,
        gae_lambda=0.0,
        certain_fraction=1.0,
        reward="points",
    )
    learned = network(decided=0.1)
    often, once = (Collector(replace(config, steps=steps), 0) for steps in (5, 200))
    taught = []
    for number in range(40):
        taught += lessons(often.collect(learned).batch)
        if number % 7 == 3:
            often = Collector(often.config, 0, unpacked(packed(often.state())))
    whole = lessons(once.collect(learned).batch)
    assert len(taught) == len(whole) > 300
    for (one, values), (other, wanted) in zip(sorted(taught), sorted(whole), strict=True):
        assert one == other
        assert values == pytest.approx(wanted, abs=1e-4)


# ---- what is left out ----


def lines(batch: Batch) -> list[bytes]:
    """All that is told of each decision but its weight."""
    arrays = [
        array.numpy().reshape(len(batch), -1)
        for name, array in arrays_of(batch).items()
        if name != "weight"
    ]
    return [b"".join(array[k].tobytes() for array in arrays) for k in range(len(batch))]


def test_near_certain_decisions_are_subsampled() -> None:
    """All other decisions are kept; the sampled ones are weighted to represent all."""
    share, number, left = 0.3, 0, 0
    config = tiny(players="2,3", games=60, opponent_share=0.6)
    part, full = (
        Collector(replace(config, certain_fraction=fraction), 0) for fraction in (share, 1.0)
    )
    learned = network(decided=0.8)
    for _ in range(3):
        rollout, every = part.collect(learned), full.collect(learned)
        batch, whole = rollout.batch, every.batch
        rest = iter(lines(whole))
        assert all(line in rest for line in lines(batch))  # some of them, in their order
        sure, all_sure = batch.log_probability > CERTAIN, whole.log_probability > CERTAIN
        assert (~sure).sum() == (~all_sure).sum() > 0
        assert (batch.weight[~sure] == 1).all()
        assert batch.weight[sure].numpy() == pytest.approx(int(all_sure.sum()) / int(sure.sum()))
        assert rollout.decisions == len(whole)
        assert (rollout.ended, rollout.figures) == (every.ended, every.figures)
        number, left = number + int(all_sure.sum()), left + int(sure.sum())
    assert number > 400
    assert left / number == pytest.approx(share, abs=4 * (share * (1 - share) / number) ** 0.5)


def test_every_rollout_uses_current_weights() -> None:
    """Weights are converted once per rollout; later changes in place must not be missed."""
    collector = part_of(players="2", games=400, opponent_share=0.0, precision="bfloat16")
    made = network(decided=0.1)
    for _ in range(2):
        collector.collect(made)
        mine = np.flatnonzero(collector.mine[0])
        assert mine.size >= FEWEST_IN_BFLOAT16
        rows = torch.from_numpy(mine)
        same = copy.deepcopy(made)  # of whose weights nothing can have been kept
        with torch.no_grad(), in_precision("cpu", True):
            values = same(
                collector.codes[0].index_select(0, rows), collector.masks[0].index_select(0, rows)
            )[1]
        assert np.allclose(collector.value[0, mine], values.numpy(), atol=0.02)
        with torch.no_grad():
            next(made.layers["outlook"].parameters()).add_(1.0)
