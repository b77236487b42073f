"""Tables of a training: seats, inputs and rewards."""

from collections import Counter

import numpy as np
import pytest

from experiments.training.seating import LEARNER, Tables, margins
from skyenv.agents import Agent, CrowdAgent, RandomAgent, decide
from skyenv.engine.options import GameOptions
from skyenv.engine.results import results
from skyenv.engine.rewards import MARGIN_SCALE
from skyenv_agents import GreedyAgent
from skyenv_agents.learned.pool import OpponentPool


def test_opponents_take_all_seats_but_the_learners() -> None:
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


def test_mixed_tables_have_the_stated_shares() -> None:
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


def test_margins_agree_with_ones_computed_by_hand() -> None:
    scores = np.array([[10, 4, 7], [0, 0, 0], [3, 9, 9]])
    assert margins(scores) * MARGIN_SCALE == pytest.approx(
        np.array([[3, -6, -3], [0, 0, 0], [-6, 0, 0]])
    )


def test_ended_games_report_wins_by_opponent() -> None:
    """Shares by learner and opponents, of ended games."""
    tables, found = Tables(60, GameOptions(3, "back", max_turns=6), 5), Counter[int]()
    pool = OpponentPool([RandomAgent(), CrowdAgent()])
    tables.seat(np.arange(60), pool, 0.7, np.random.default_rng(1), 0.6)
    while found.total() < 60:
        tables.step(decide(tables.games, GreedyAgent()))
        rows = np.flatnonzero(tables.games.done).tolist()
        for one, row in zip(tables.ended(), rows, strict=True):
            final, mine = tables.games.finished[row], tables.seats[row] == LEARNER
            assert (one.table, one.length) == ("3 players, back", final["decisions"])
            assert one.points == pytest.approx(final["score"][:3][mine].mean())
            others = {tables.guests[index].name for index in tables.seats[row][~mine]}
            opponent, share = None, 0.0
            if mine.sum() == len(others) == 1:
                opponent = others.pop()
                share = results(tables.games.finished[row : row + 1])[0][0, :3][mine][0]
            assert (one.opponent, one.share) == (opponent, share)
            found[int(mine.sum())] += 1
    assert len(found) == 3
