"""The analysis of recorded games: choices, chances to win, costs with their errors, the command
``analyse``, and play-outs.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from crowd_games import Judge, played
from skyenv import cli
from skyenv.agents import CrowdAgent, make_agent
from skyenv.analysis import choices
from skyenv.analysis.hints import advise
from skyenv.analysis.mistakes import (
    GAMES,
    MOST_DOUBTED,
    MOST_GAMES,
    Analysis,
    Opinion,
    paired_error,
    worst,
)
from skyenv.analysis.playouts import PlayOuts, Question, digest, play_out, shares_of
from skyenv.analysis.recording import Recording
from skyenv.analysis.win_chance import WORLDS, question_of
from skyenv.statistics import NORMAL


def test_an_analysis_judges_every_choice_of_a_game() -> None:
    """Its choices are those of hints: bids, two cards, moves. The dearest unclear ones are played
    out further.
    """
    recording = Recording.of(played(2, seed=1, turns=8).to_record())
    greedy = make_agent("greedy")
    analysis = Analysis(recording, greedy, Judge())
    assert list(analysis.run())[-1] == len(analysis.decisions)
    decisions = {one.step: one for one in analysis.decisions}
    assert decisions.keys() < {step for step, _ in recording.choices()}
    assert {len(one.played) for one in analysis.decisions} > {1, 2, 3}
    assert analysis.mistakes
    further = [one for one in analysis.opinions.values() if one.games > GAMES]
    assert 0 < len(further) <= MOST_DOUBTED
    assert all(one.is_clear or one.highest <= 0 or one.games == MOST_GAMES for one in further)
    for one in analysis.mistakes:
        position, played_path = one.decision.position, one.decision.played
        assert advise(greedy, recording.at(one.decision.step)).own == one.best
        assert choices.same(position, played_path) != choices.same(position, one.best)
        assert GAMES <= one.games <= MOST_GAMES
        bids, told = recording.at(one.decision.step).phase == "bid", one.payload()
        assert (told["clear"], ", " in told["when"]) == (one.lowest > 0, bids)
        # a hint that has as many games played out tells the same chances
        known = analysis.play_outs
        hint: Any = advise(greedy, recording.at(one.decision.step), Judge(), known, one.games)
        assert set(hint.chances.games) == {one.games}
        own = 1 + [each.actions for each in hint.best].index(hint.own)
        tallies: list[Any] = [
            known.tally(question_of(Judge(), (position, one.decision.seat, path)))
            for path in (one.best, played_path)
        ]
        assert hint.chances.shares[own].tolist() == tallies[0].shares.tolist()
        rows = [hint.chances.shares[1:], np.stack([tally.shares for tally in tallies])]
        now = [max(row.tolist(), key=lambda each: each[one.decision.seat]) for row in rows]
        assert now == [hint.chances.shares[0].tolist(), pytest.approx(one.chances, abs=1e-4)]
        costs = (tallies[0].won - tallies[1].won)[:, one.decision.seat]
        assert (one.cost, one.error) == pytest.approx((costs.mean(), NORMAL * stats.sem(costs)))


def test_clear_mistakes_come_first_and_negligible_ones_are_not_listed() -> None:
    """The clear ones by their lower bounds, the others by their costs; estimates are unclear."""
    recording = Recording.of(played(2, seed=3, turns=2).to_record())
    decision = Analysis(recording, make_agent("greedy"), Judge()).decisions[0]
    costs = [(0.3, 0.25), (0.004, 0.0), (0.07, 0.073), (0.2, 0.1), (0.001, 0.004), (0.08, 0.3)]
    found = worst([Opinion(decision, (), [], cost, error, GAMES) for cost, error in costs])
    assert [one.cost for one in found] == [0.2, 0.3, 0.08, 0.07]
    estimated = Opinion(decision, (), [], 0.4, 0.1)
    assert worst([estimated, *found])[2] == estimated


def test_win_chances_sum_to_one_and_equal_those_of_hints() -> None:
    """At every step, once each seat's chance is known."""
    recording, judge = Recording.of(played(3, seed=4, turns=4).to_record()), Judge()
    analysis = Analysis(recording, make_agent("random"), judge)
    assert all(analysis.run())
    rows = analysis.chances()
    assert all(sum(share or 0 for share in row) == pytest.approx(1, abs=1e-3) for row in rows[1:])
    for one in analysis.decisions[:2]:
        told: Any = advise(judge, recording.at(one.step), judge).chances
        assert rows[one.step] == told.shares[0].round(4).tolist()


def test_the_error_of_a_cost_is_that_of_paired_shares() -> None:
    """It is 0 where every pair differs equally, and else by Student's t."""
    shares = np.tile([0.0, 1.0, 0.4, 0.6], WORLDS // 4)
    assert paired_error(shares, shares) == 0
    assert paired_error(shares + 0.25, shares) == pytest.approx(0, abs=1e-12)
    further = shares + np.tile([0.1, -0.1], WORLDS // 2)
    exact = stats.sem(further - shares) * stats.t.ppf(0.975, WORLDS - 1)
    assert paired_error(further, shares) == pytest.approx(exact, rel=2e-4)


# ---- the command ----


def test_mistakes_are_listed_by_the_lower_bound_of_their_cost_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record, found = tmp_path / "game.jsonl", tmp_path / "found.json"
    record.write_text(played(2, seed=3, turns=8).to_record(["ann", "bob"]))
    assert cli.main(["analyse", str(record), "--agent", "greedy", "--json", str(found)]) == 0
    told = json.loads(found.read_text())
    assert (told["names"], told["agent"], told["estimator"]) == (
        ["ann", "bob"],
        "greedy",
        "trained",
    )
    bounds = [one["cost"] - one["error"] for one in told["mistakes"]]
    assert bounds == pytest.approx(sorted(bounds, reverse=True)) != []
    printed = capsys.readouterr().out.splitlines()
    for line, one in zip(printed[2:-1], told["mistakes"], strict=True):
        low, high = (100 * one["cost"] + sign * 100 * one["error"] for sign in (-1, 1))
        assert f"{100 * one['cost']:.1f} % [{low:.1f}, {high:.1f}]" in line
        assert line.split()[:2] == [str(one["step"]), str(one["seat"] + 1)]
        assert line.endswith(one["best"])
    assert "decisions, chances to win by trained" in printed[-1]


# ---- play-outs ----


def test_play_outs_give_shares_with_intervals_and_margins() -> None:
    position = played(2, seed=3, actions=200).batch.state[0]
    found = list(play_out([CrowdAgent()] * 2, position, 30, 0))
    assert [done for done, _ in found] == [25, 30]
    first, second = found[-1][1]
    assert first.share.mean + second.share.mean == pytest.approx(1)
    assert first.share.low < first.share.mean < first.share.high
    assert first.margin == -second.margin == pytest.approx(first.vp - second.vp)


def test_more_games_refine_the_same_result() -> None:
    """Results are those of the first seeds, in whatever portions; merging takes the larger."""
    game = played(2, seed=3, actions=200)
    question = Question((CrowdAgent(),) * 2, game.batch.state[0], game.seat)
    portions, at_once, fewer = PlayOuts(), PlayOuts(), PlayOuts()
    for number in (3, 5):
        portions.extend(question, number)
    copies = [portions.copy(view) for view in (None, digest(*question[1:3]), b"another")]
    assert [len(one.tallies) for one in copies] == [1, 1, 0]
    tally, few = at_once.extend(question, 8), fewer.extend(question, 3)
    assert (portions.tally(question) or few).sums == pytest.approx(tally.sums)
    assert PlayOuts(5).extend(question, 8).sums != pytest.approx(tally.sums)
    shares, _ = shares_of(*question[:2], range(8), question.seat)
    assert tally.variances == pytest.approx(shares.var(axis=0, ddof=1) / 8)
    for store in (fewer, at_once):
        store.merge(portions if store is fewer else fewer)
        assert store.tallies.keys() == portions.tallies.keys()
        assert (store.tally(question) or few).games == 8
