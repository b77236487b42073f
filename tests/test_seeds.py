"""Ranges of seeds by purpose, and programs that keep to them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from skyenv import seeds
from skyenv.arena import matches
from skyenv.arena.evaluate import evaluate
from skyenv.arena.schedule import GroupSeeds, Settings, entrants
from skyenv.arena.tournament import play_job
from skyenv.dataset.sources import Matches
from skyenv.engine.games import Games
from skyenv.errors import OptionError
from skyenv.seeds import EVALUATION, HIGHEST_SEED, LADDERS, TRAINING, fresh_seed, secret_seeds

RANGES = {
    "by number": seeds.BY_NUMBER,
    "training": TRAINING,
    "datasets": seeds.DATASETS,
    "tuning": seeds.TUNING,
    "evaluation": EVALUATION,
    "ladders": LADDERS,
}


def test_ranges_partition_all_seeds() -> None:
    first = 0
    for numbers in RANGES.values():
        assert (numbers.start, numbers.step) == (first, 1)
        first = numbers.stop
    assert first == HIGHEST_SEED + 1


def test_secret_seeds_are_spread_over_the_evaluation_range() -> None:
    """The same for the same secret and number; spread over all seeds of evaluations, and without a
    relation to other secrets.
    """
    seeds = secret_seeds(7, range(1, 2001))
    assert seeds.dtype == np.int64
    assert seeds.shape == (2000,)
    assert seeds[1499] == secret_seeds(7, [1500])[0]
    assert len(np.unique(seeds)) == 2000
    assert not np.intersect1d(seeds, secret_seeds(8, np.arange(1, 2001))).size
    assert (
        EVALUATION.start
        <= seeds.min()
        < EVALUATION.start + 2**52
        < EVALUATION.stop - 2**52
        < seeds.max()
        < EVALUATION.stop
    )
    assert np.corrcoef(seeds[:-1], seeds[1:])[0, 1] == pytest.approx(0, abs=0.1)
    assert secret_seeds(HIGHEST_SEED, []).shape == (0,)


@pytest.mark.parametrize(("secret", "number"), [(-1, 1), (2**63, 1), (1.0, 1), (1, -1), (1, 1.5)])
def test_invalid_secrets_and_numbers_are_refused(secret: Any, number: Any) -> None:
    with pytest.raises(OptionError, match="must be a whole number from 0 to"):
        secret_seeds(secret, [number])


def test_fresh_seeds_are_for_training() -> None:
    """Later seeds of environments are, too: tests/envs/test_learners.py."""
    assert all(fresh_seed() in TRAINING for _ in range(200))


@pytest.fixture
def dealt(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds of all games that matches deal."""
    seeds: list[int] = []

    class Noting(Games):
        def reset(self, seed: Any = None, rows: Any = None) -> None:
            seeds.extend(np.atleast_1d(seed).tolist())
            super().reset(seed, rows)

    monkeypatch.setattr(matches, "Games", Noting)
    return seeds


def a_tournament() -> None:
    settings = Settings(entrants(["random", "hoard"], 2), 2, max_turns=3, secret=7)
    play_job(settings, GroupSeeds((0, 1), (0, 1)))


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("program", "purpose"),
    [
        (
            lambda: evaluate("random", ["hoard"], paired_seeds=2, max_turns=3, secret=7),
            "evaluation",
        ),
        (a_tournament, "ladders"),
        (lambda: Matches.new(["random"], 2, "front", 2, 1, 3).trajectories("outcome"), "datasets"),
    ],
)
def test_programs_use_seeds_of_their_own_range(
    program: Callable[[], object], purpose: str, dealt: list[int]
) -> None:
    """As matches deal their games."""
    program()
    assert dealt
    assert all(seed in RANGES[purpose] for seed in dealt)
