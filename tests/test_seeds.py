"""Which seeds are for what: ranges that share nothing, and programs that keep to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from experiments.tools import tune
from skyenv.arena import matches
from skyenv.arena.evaluate import evaluate
from skyenv.arena.schedule import Settings, entrants
from skyenv.arena.tournament import Player, Unit
from skyenv.dataset.sources import Matches
from skyenv.engine import kernels
from skyenv.engine.games import Games, fresh_seed, secret_seeds
from skyenv.envs.sb3 import SkyenvVecEnv
from skyenv.errors import OptionError
from skyenv.seeds import HIGHEST_SEED, PURPOSES, TRAINING, purpose_of


def test_the_ranges_share_nothing_and_leave_nothing_out() -> None:
    first = 0
    for seeds in PURPOSES.values():
        assert (seeds.start, seeds.step) == (first, 1)
        first = seeds.stop
    assert first == HIGHEST_SEED + 1 == kernels.HIGHEST_SEED + 1
    for name, seeds in PURPOSES.items():
        assert purpose_of(seeds.start) == purpose_of(seeds.stop - 1) == name
    for wrong in (-1, HIGHEST_SEED + 1):
        with pytest.raises(OptionError, match="seed"):
            purpose_of(wrong)


def test_a_secret_draws_from_all_of_its_range() -> None:
    for name in ("evaluation", "ladders"):
        seeds = PURPOSES[name]
        drawn = secret_seeds(5, range(4000), seeds)
        assert {purpose_of(int(seed)) for seed in drawn} == {name}
        assert (drawn.max() - drawn.min()) / (seeds.stop - seeds.start) > 0.99


def test_environments_go_on_with_seeds_of_the_training_range() -> None:
    """Also after the seed of a deal that is held out."""
    env = SkyenvVecEnv(num_envs=2, seed=PURPOSES["ladders"].start, max_turns=1)
    env.reset()
    assert env.get_attr("seed") == [PURPOSES["ladders"].start + row for row in range(2)]
    for _ in range(20):
        env.reset()
        assert all(seed in TRAINING for seed in env.get_attr("seed"))
    assert all(fresh_seed() < TRAINING.stop for _ in range(200))


@pytest.fixture
def dealt(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds of all games that matches deal."""
    seeds: list[int] = []

    class Noting(Games):
        def reset(self, seed: Any = None, rows: Any = None) -> None:
            seeds.extend(np.atleast_1d(seed).tolist())
            super().reset(seed, rows)

    def games(width: int, players: int, side: str, first: Sequence[int], **options: Any) -> Games:
        return Noting(width, players, side, first, **options)

    monkeypatch.setattr(matches, "Games", games)
    return seeds


@pytest.mark.compiled
def test_programs_deal_games_of_their_own_range(dealt: list[int]) -> None:
    """Evaluations, tournaments, datasets and tuning, as matches deal their games."""
    evaluate("random", ["hoard"], paired_seeds=2, max_turns=3, secret=7)
    settings = Settings(entrants(["random", "hoard"], 2), 2, max_turns=3, secret=7)
    assert dealt, "the fixture sees what is dealt"
    assert {purpose_of(seed) for seed in dealt} == {"evaluation"}
    dealt.clear()
    Player(settings)(Unit((0, 1), (0, 1)))
    assert dealt
    assert {purpose_of(seed) for seed in dealt} == {"ladders"}
    dealt.clear()
    Matches.new(["random"], 2, "front", 2, 1, 3).trajectories(0, 2, "outcome")
    assert dealt
    assert {purpose_of(seed) for seed in dealt} == {"datasets"}
    dealt.clear()
    tuner = tune.Tuner(tune.Tuning("greedy", ("random",), 2, paired_seeds=1, population=2, seed=1))
    tuner.advance()
    assert dealt
    assert {purpose_of(seed) for seed in dealt} == {"tuning"}
