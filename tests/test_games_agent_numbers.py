"""INF-2: agents' random numbers are ChaCha of the seed, a secret, the decision and a salt."""

from functools import cache
from typing import Any

import pytest

from skyenv import Game, Games, OptionError
from skyenv.rules.chacha import chacha
from skyenv.rules.compiling import COMPILED
from skyenv.seeds import HIGHEST_SEED


@cache
def callable_chacha() -> Any:
    """The function; compiled once, if rules are."""
    if not COMPILED:
        return chacha
    import numba

    return numba.njit(lambda key, block, rounds: chacha(key, block, rounds))


# ---- the function ----


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
    assert callable_chacha()(key, block, rounds) == word


def reference(seed: int, agent_seed: int | None, decisions: int, salt: int) -> float:
    """An agent's number in plain Python, by the function that the test above compares."""
    words = (seed % 2**32, (seed >> 32) % 2**32)
    secret = (0, 0, 0) if agent_seed is None else (agent_seed % 2**32, agent_seed >> 32, 1)
    block = (decisions, salt % 2**32, salt >> 32, 0)
    return int(callable_chacha()((*words, *secret, 0, 0, 0), block, 12)) / 2**32


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


# ---- the secret ----


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
