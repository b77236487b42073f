"""The game in figures: what is counted, by hand and from known models, and that all of it is
told.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.benchmarks import game_figures
from experiments.benchmarks.game_figures import (
    Unit,
    Watching,
    between,
    find,
    hands,
    main,
    parts,
    units_of,
    ways,
)
from skyenv import Games, make_agent
from skyenv.arena.matches import play_games
from skyenv.engine.knowledge import VIEW_DTYPE, resample, view


@pytest.mark.parametrize(
    ("unseen", "places"),
    [((2, 1, 0), (1,)), ((2, 3, 1), (2, 2)), ((1, 1, 1), (1, 1, 1)), ((4, 2, 2), (3, 1, 2))],
)
def test_ways_by_brute_force(unseen: tuple[int, int, int], places: tuple[int, ...]) -> None:
    """Every order of the cards, and what lies in each place then."""
    cards = [rank for rank, number in enumerate(unseen) for _ in range(number)]
    ends = list(itertools.accumulate(places, initial=0))
    lain = {
        tuple(tuple(sorted(order[first:last])) for first, last in itertools.pairwise(ends))
        for order in itertools.permutations(cards)
    }
    assert ways(unseen, places) == len(lain)


@pytest.mark.compiled
def test_hands_are_those_that_determinizations_come_to() -> None:
    """Never fewer than are drawn; and where there are few, all of them are."""
    games = Games(100, 2, seed=4)
    games.play_random(120)
    met = 0
    for row in range(games.num_games):
        if games.seat[row] < 0:
            continue
        seen = view(games.state[[row]], games.seat[[row]])
        number = round(10 ** hands(np.asarray(seen).view(VIEW_DTYPE)[0]))
        drawn = resample(seen, np.arange(2000))
        other = 1 - int(games.seat[row])
        found = len(np.unique(drawn["hand"][:, other].reshape(len(drawn), -1), axis=0))
        assert found <= number
        if number <= 20:
            met += 1
            assert found == number
    assert met > 20


def test_choices_are_counted() -> None:
    watching = Watching(make_agent("random"))
    played = play_games([watching], [[0, 0, 0]], [5])
    assert watching.legal.sum() == watching.seen == played.decisions[0]
    assert watching.legal[0] == 0
    assert len(watching.hands) == -(-watching.seen // game_figures.EVERY)
    row = game_figures.mirror(played, watching)
    choices = np.repeat(np.arange(104), watching.legal)
    assert row["tree"] == pytest.approx(np.log10(choices).sum(), abs=0.06)
    assert row["legal"]["mean"] == pytest.approx(choices.mean(), abs=0.006)
    assert sum(row["ends"].values()) == pytest.approx(1)
    assert [seat["mean"] for seat in row["seats"]] == pytest.approx(
        played.shares[0].tolist(), abs=1e-4
    )


@pytest.mark.parametrize("luck", [0.0, 0.3, 1.0])
def test_the_share_of_deals_is_found_again(luck: float) -> None:
    """Seat 0 wins a deal's games with a chance that the deal draws; the variance of that chance is
    known.
    """
    rng = np.random.default_rng(2)
    chance = 0.5 + np.sqrt(luck) / 2 * rng.choice([-1, 1], size=4000)
    won = (rng.random((4000, 4)) < chance[:, None]).astype(float)
    wins = np.stack([won, 1 - won], axis=2)
    weights = np.concatenate([np.ones((1, 4000)), rng.exponential(size=(200, 4000))])
    shares = between(wins, weights)
    assert shares[0] == pytest.approx(luck, abs=0.03)
    low, high = np.percentile(shares[1:], [2.5, 97.5])
    assert low - 0.01 <= luck <= high + 0.01


def test_skill_and_luck_are_taken_apart() -> None:
    rng = np.random.default_rng(3)
    pairs = np.repeat([-0.3, 0.0, 0.3], 4)
    deals = 0.2 * rng.standard_normal((3000, 1))
    wins = pairs + deals + 0.5 * rng.standard_normal((3000, 12))
    weights = np.concatenate([np.ones((1, 3000)), rng.exponential(size=(200, 3000))])
    variances = np.array([pairs.var(ddof=1), 0.04, 0.25])
    shares = parts(wins, weights)
    assert shares.sum(axis=1) == pytest.approx(np.ones(201))
    assert shares[0] == pytest.approx(variances / variances.sum(), abs=0.02)
    assert shares[1:].mean(axis=0) == pytest.approx(shares[0], abs=0.02)


def test_who_wins_by_skill_alone_wins_by_skill_alone() -> None:
    wins = np.tile([1.0, 0.0, 1.0, 0.0], (30, 1))
    assert parts(wins, np.ones((1, 30)))[0] == pytest.approx([1, 0, 0], abs=1e-12)


@pytest.mark.compiled
def test_the_same_deals_give_the_same_figures() -> None:
    unit = Unit("mirror", "greedy", 2, "back", 8)
    row = find(unit)
    assert row == find(unit)
    assert sum(seat["mean"] for seat in row["seats"]) == pytest.approx(1, abs=1e-3)
    luck = find(Unit("luck", "trained", 2, "back", 8))
    assert luck == find(Unit("luck", "trained", 2, "back", 8))
    assert luck["deal"]["low"] <= luck["deal"]["mean"] <= luck["deal"]["high"]
    assert luck["deal"]["mean"] < 0.9, "the agent plays a deal otherwise each time"


@pytest.mark.programs
def test_all_of_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def inline(
        work: Callable[[Unit], Any],
        units: Iterator[Unit],
        workers: int,
        *,
        done: Callable[..., None],
        **_: Any,
    ) -> None:
        for unit in units:
            done(unit, work(unit))

    monkeypatch.setattr(game_figures, "run_units", inline)
    path = tmp_path / "game.json"
    assert main(["--deals", "8", "--players", "2", "--json", str(path)]) == 0
    content = json.loads(path.read_text(encoding="utf-8"))
    assert [(row["side"], row["agent"]) for row in content["mirror"]] == [
        ("front", "greedy"),
        ("front", "trained"),
        ("back", "greedy"),
        ("back", "trained"),
    ]
    assert len(content["luck"]) == len(content["skill"]) == 2
    printed = capsys.readouterr().out
    for make in game_figures.TABLES.values():
        assert make(content) in printed
    assert sum(unit.games() for unit in units_of(8, (2,))) == 4 * 8 + 2 * 8 * 4 + 2 * 8 * 20


def test_an_interrupted_measurement_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(game_figures, "run_units", interrupted)
    path = tmp_path / "game.json"
    assert main(["--json", str(path)]) == 130
    assert capsys.readouterr().err == "game_figures: error: interrupted; nothing was written\n"
    assert not path.exists()
