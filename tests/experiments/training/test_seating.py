"""The games that a training plays: who acts, what the learner sees, and what every seat gets."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from experiments.training.seating import LEARNER, Tables, margins
from skyenv.agents import Agent, CrowdAgent, RandomAgent, decide, decisions_in
from skyenv.engine.games import results
from skyenv.engine.kernels import MARGIN_SCALE
from skyenv.engine.observation import OBSERVATION_SIZE, SCALE
from skyenv.engine.options import GameOptions
from skyenv_agents import GreedyAgent
from skyenv_agents.learned.layout import (
    NUM_INPUTS,
    OUTCOME,
    OUTCOME_PARTS,
    POSITION,
    POSITION_PARTS,
    PRIOR_PARTS,
)
from skyenv_agents.learned.networks import Prior
from skyenv_agents.learned.pool import OpponentPool


def played(tables: Tables, decisions: int) -> Tables:
    """After some random decisions in each game."""
    for _ in range(decisions):
        tables.step(decide(tables.games, RandomAgent()))
    return tables


def test_opponents_have_all_seats_but_the_learners() -> None:
    tables = Tables(400, GameOptions(4), 1)
    pool = OpponentPool([RandomAgent(), GreedyAgent()], fixed_share=1.0, sampling="uniform")
    rows = np.arange(400)
    tables.seat(rows, pool, 0.5, np.random.default_rng(1))
    mine = tables.seats == LEARNER
    theirs = ~mine.all(axis=1)
    assert theirs.mean() == pytest.approx(0.5, abs=0.08)
    assert (mine[theirs].sum(axis=1) == 1).all()
    assert mine[theirs].sum(axis=0).min() > 25
    opponent = tables.seats.max(axis=1)
    assert (mine | (tables.seats == opponent[:, None])).all()
    assert {tables.guests[index].name for index in opponent[theirs]} == {"random", "greedy"}
    assert np.array_equal(tables.learns(), mine[rows, tables.games.seat])
    wanted = {guest.name: decide(tables.games, guest) for guest in tables.guests}
    mine, chosen = tables.learns(), tables.games.mask.argmax(axis=1)
    actions = chosen.copy()
    tables.step(actions)
    assert np.array_equal(actions[mine], chosen[mine])
    for row in np.flatnonzero(~mine).tolist():
        assert actions[row] == wanted[tables.guests[opponent[row]].name][row]
    tables.seat(rows[:399], OpponentPool([GreedyAgent()]), 1.0, np.random.default_rng(2))
    before = guests_at(tables)
    tables.forget_unused()
    assert guests_at(tables) == before
    assert len(tables.guests) <= 2


def guests_at(tables: Tables) -> list[Agent | None]:
    """Who has each seat of each game; None: the learner."""
    return [tables.guests[index] if index != LEARNER else None for index in tables.seats.flat]


def test_mixed_tables() -> None:
    """The learner has one to all but one seats, k of them one k-th as often as one; the others are
    drawn one by one.
    """
    tables, rows = Tables(2000, GameOptions(4), 1), np.arange(2000)
    guests = [RandomAgent(), GreedyAgent(), CrowdAgent()]
    pool = OpponentPool(guests, fixed_share=1.0, sampling="uniform")
    tables.seat(rows, pool, 1.0, np.random.default_rng(3), 1.0)
    mine = tables.seats == LEARNER
    often = np.array([6, 3, 2]) / 11
    numbers = np.bincount(mine.sum(axis=1), minlength=5) / 2000
    assert numbers == pytest.approx([0, *often, 0], abs=0.05)
    assert mine.mean(axis=0) == pytest.approx(often @ [1, 2, 3] / 4, abs=0.05)
    assert np.bincount(tables.seats[~mine]) / (~mine).sum() == pytest.approx(1 / 3, abs=0.05)
    three = tables.seats[mine.sum(axis=1) == 1]
    kinds = [len(set(row) - {LEARNER}) for row in three.tolist()]
    assert np.bincount(kinds)[1:] / len(kinds) == pytest.approx([1 / 9, 6 / 9, 2 / 9], abs=0.06)
    tables.seat(rows, pool, 1.0, np.random.default_rng(3), 0.5)
    alone = ((tables.seats == LEARNER).sum(axis=1) == 1).mean()
    assert alone == pytest.approx((1 + often[0]) / 2, abs=0.05)


@pytest.mark.parametrize("prior", [None, GreedyAgent()], ids=["plain", "prior"])
@pytest.mark.parametrize("reward", ["outcome", "points"])
def test_the_learner_sees_the_observation_and_what_its_prior_says(
    prior: GreedyAgent | None, reward: str
) -> None:
    tables = played(Tables(40, GameOptions(3, reward=reward), 3), 70)
    rows = np.array([3, 17, 18, 39])
    codes = tables.inputs(rows, prior)
    assert codes.dtype == np.int16
    assert codes.shape == (4, NUM_INPUTS)
    observed = tables.games.observe(tables.games.seat)[rows]
    assert np.array_equal(codes[:, :OBSERVATION_SIZE] * SCALE, observed)
    if prior is None:
        assert not codes[:, OBSERVATION_SIZE:].any()
        return
    said = Prior.of(prior, decisions_in(tables.games, prior, rows))
    assert codes[:, OBSERVATION_SIZE:OUTCOME].any()
    assert (
        np.abs(codes[:, OBSERVATION_SIZE:OUTCOME] / PRIOR_PARTS - said.scores).max()
        <= 0.5 / PRIOR_PARTS
    )
    assert (
        np.abs(codes[:, POSITION:] / POSITION_PARTS - said.position).max() <= 0.5 / POSITION_PARTS
    )
    assert codes[:, POSITION:].any()
    if reward == "points":
        assert not codes[:, OUTCOME].any()  # an outcome tells nothing of the points to expect
    else:
        assert np.abs(codes[:, OUTCOME] / OUTCOME_PARTS - said.outcome).max() <= 0.5 / OUTCOME_PARTS
        assert codes[:, OUTCOME].any()


def test_margins_by_hand() -> None:
    scores = np.array([[10, 4, 7], [0, 0, 0], [3, 9, 9]])
    ahead = margins(scores)
    assert ahead.dtype == np.float32
    assert ahead * MARGIN_SCALE == pytest.approx(np.array([[3, -6, -3], [0, 0, 0], [-6, 0, 0]]))


def test_ends_are_told_of() -> None:
    """Who won what against whom: by hand, from the games that have ended."""
    players = 3
    tables = Tables(30, GameOptions(players, "back", max_turns=40), 5)
    tables.seat(
        np.arange(30),
        OpponentPool([RandomAgent(), CrowdAgent()]),
        0.7,
        np.random.default_rng(1),
        0.6,
    )
    found = Counter[int]()
    for _ in range(1500):
        tables.step(decide(tables.games, GreedyAgent()))
        ended = tables.ended()
        rows = np.flatnonzero(tables.games.done).tolist()
        assert len(ended) == len(rows)
        for one, row in zip(ended, rows, strict=True):
            final = tables.games.finished[row]
            seats = [
                None if index == LEARNER else tables.guests[index].name
                for index in tables.seats[row]
            ]
            learners = [seat for seat in range(players) if seats[seat] is None]
            assert (one.table, one.length) == (f"{players} players, back", final["decisions"])
            assert one.points == pytest.approx(final["score"][learners].mean())
            opponents = set(seats) - {None}
            if len(learners) == 1 and len(opponents) == 1:
                assert opponents == {one.opponent}
                assert one.share == results(tables.games.finished[row : row + 1])[0][0, learners[0]]
            else:
                assert (one.opponent, one.share) == (None, 0.0)
            found[len(learners)] += 1
        if found.total() >= 60:
            break
    assert found.total() >= 60
    assert len(found) == players
