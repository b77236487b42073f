"""Ranges of seeds by purpose, programs that keep to them, and agents' random numbers."""

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
from skyenv.engine.game import Game
from skyenv.engine.games import Games
from skyenv.errors import OptionError
from skyenv.rules.chacha import chacha
from skyenv.rules.compiling import entry_point
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


TOURNAMENT = Settings(entrants(["random", "hoard"], 2), 2, max_turns=3, secret=7)


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("program", "purpose"),
    [
        (
            lambda: evaluate("random", ["hoard"], paired_seeds=2, max_turns=3, secret=7),
            "evaluation",
        ),
        (lambda: play_job(TOURNAMENT, GroupSeeds((0, 1), (0, 1))), "ladders"),
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


# ---- agents' random numbers (INF-2): ChaCha of the seed, a secret, the decision and a salt ----


@entry_point("ChaCha")
def chacha_word(key: tuple[int, ...], block: tuple[int, ...], rounds: int) -> int:
    return chacha(key, block, rounds)


@pytest.mark.parametrize(
    ("key", "block", "rounds", "word"),
    [
        # RFC 8439, 2.3.2
        (
            tuple(int.from_bytes(range(i, i + 4), "little") for i in range(0, 32, 4)),
            (1, 0x09000000, 0x4A000000, 0),
            20,
            0xE4E7F110,
        ),
        # the test vectors of draft-strombergson-chacha-test-vectors, all zero
        ((0,) * 8, (0,) * 4, 8, 0x2FEF003E),
        ((0,) * 8, (0,) * 4, 12, 0x6A9AF49B),
        ((0,) * 8, (0,) * 4, 20, 0xADE0B876),
    ],
)
def test_chacha_is_the_published_function(
    key: tuple[int, ...], block: tuple[int, ...], rounds: int, word: int
) -> None:
    assert chacha_word(key, block, rounds) == word


def reference(seed: int, agent_seed: int | None, decisions: int, salt: int) -> float:
    """An agent's number in plain Python, by the function that the test above compares."""
    words = (seed % 2**32, (seed >> 32) % 2**32)
    secret = (0, 0, 0) if agent_seed is None else (agent_seed % 2**32, agent_seed >> 32, 1)
    block = (decisions, salt % 2**32, salt >> 32, 0)
    return chacha_word((*words, *secret, 0, 0, 0), block, 12) / 2**32


@pytest.mark.parametrize("agent_seed", [None, 0, 5, HIGHEST_SEED])
def test_numbers_agree_with_a_reference_implementation(agent_seed: int | None) -> None:
    """For seeds, salts and secrets of all sizes, in batches and single games."""
    seeds = [0, 1, 2**31, 2**32, 2**62 + 12345, HIGHEST_SEED]
    games = Games(6, 3, seed=seeds, agent_seed=agent_seed, observation=False)
    for decisions in range(3):
        for salt in (0, 1000, 2**32 + 1, 2**62):
            expected = [reference(seed, agent_seed, decisions, salt) for seed in seeds]
            assert games.uniforms(salt=salt).tolist() == expected
            assert games.copy().uniforms([4, 1], salt).tolist() == [expected[4], expected[1]]
        games.step(games.mask.argmax(axis=1))
    one = Game(3, seed=2**32, agent_seed=agent_seed)
    assert one.batch.uniforms(salt=3).tolist() == [reference(2**32, agent_seed, 0, 3)]
    one.state["seed"] = -1
    assert one.batch.uniforms(salt=3).tolist() == [reference(-1, agent_seed, 0, 3)]


def test_the_secret_does_not_change_chance() -> None:
    """Only agents' random numbers differ."""
    one, other = Games(5, seed=3), Games(5, seed=3, agent_seed=9)
    assert one.agent_seed is None
    assert other.agent_seed == other.copy().agent_seed == 9
    for games in (one, other):
        games.play_random(300)
    assert one.state.tobytes() == other.state.tobytes()
    assert not (one.uniforms() == other.uniforms()).any()


@pytest.mark.parametrize("agent_seed", [-1, 2**63, 1.5, "7", True])
@pytest.mark.parametrize(
    "make",
    [
        lambda seed: Games(1, agent_seed=seed),
        lambda seed: Game(agent_seed=seed),
        lambda seed: setattr(Games(1), "agent_seed", seed),
    ],
)
def test_invalid_secrets_are_refused(agent_seed: Any, make: Any) -> None:
    with pytest.raises(OptionError, match="agent_seed must be a whole number from 0 to"):
        make(agent_seed)
