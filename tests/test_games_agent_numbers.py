"""INF-2: agents' random numbers tell nothing of the deal.

An attack that finds a seed, what it finds, and what it doesn't.
"""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np
import pytest

from skyenv import Game, Games, OptionError
from skyenv.engine.kernels import RANDOM_PLAY, uniform32
from skyenv.rules.chacha import chacha
from skyenv.rules.chance import mix32
from skyenv.rules.compiling import COMPILED
from skyenv.seeds import HIGHEST_SEED

MASK: Final = np.uint64(0xFFFFFFFF)
SEEDS: Final = [
    *range(1, 201, 13),
    0x1234_0042,
    3 * 2**40 + 77,
    HIGHEST_SEED - 2**32 * 5 - 2**31 + 900,
]
"""Small ones as a ladder has them, and large ones whose low halves are among LOWS."""
LOWS: Final = np.array(
    [*range(4096), *range(0x1234_0000, 0x1234_1000), *range(2**31, 2**31 + 1024)], np.uint64
)
"""The low halves of seeds that the attack tries; all 2³² would take it ten minutes."""


def called(function: Any, *arguments: Any) -> int:
    """A rule's result; compiled, if rules are."""
    if not COMPILED:
        return int(function(*arguments))
    import numba

    return int(numba.njit(lambda *given: function(*given))(*arguments))


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
    assert called(chacha, key, block, rounds) == word


def reference(seed: int, agent_seed: int | None, decisions: int, salt: int) -> float:
    """An agent's number in plain Python, written from RFC 8439 with 12 rounds."""
    secret = 0 if agent_seed is None else agent_seed
    words = [*(int.from_bytes(b"expand 32-byte k"[i : i + 4], "little") for i in range(0, 16, 4))]
    words += [
        seed % 2**32,
        (seed >> 32) % 2**32,
        secret % 2**32,
        secret >> 32,
        int(agent_seed is not None),
        0,
        0,
        0,
    ]
    words += [decisions, salt % 2**32, salt >> 32, 0]
    state = list(words)
    for number in range(12):
        for i in range(4):
            a, b, c, d = (4 * row + (i + row * (number % 2)) % 4 for row in range(4))
            for into, add, mixed, places in (
                (a, b, d, 16),
                (c, d, b, 12),
                (a, b, d, 8),
                (c, d, b, 7),
            ):
                state[into] = (state[into] + state[add]) % 2**32
                both = state[mixed] ^ state[into]
                state[mixed] = (both << places) % 2**32 | both >> (32 - places)
    return (state[0] + words[0]) % 2**32 / 2**32


@pytest.mark.parametrize("agent_seed", [None, 0, 5, HIGHEST_SEED])
def test_numbers_are_those_of_the_reference(agent_seed: int | None) -> None:
    """Of seeds, salts and secrets of all sizes, in rows of a batch and in single games."""
    seeds = [0, 1, 2**31, 2**32, 2**62 + 12345, HIGHEST_SEED]
    games = Games(6, 3, seed=seeds, agent_seed=agent_seed, observation=None)
    for decisions in range(3):
        for salt in (0, 1000, 2**32 + 1, 2**62):
            expected = [reference(seed, agent_seed, decisions, salt) for seed in seeds]
            assert games.uniforms(salt=salt).tolist() == expected
            assert games.copy().uniforms([4, 1], salt).tolist() == [expected[4], expected[1]]
        games.step(games.mask.argmax(axis=1))
    one = Game(3, seed=2**32, agent_seed=agent_seed)
    assert one.games.uniforms(salt=3).tolist() == [reference(2**32, agent_seed, 0, 3)]
    one.state["seed"] = -1
    assert one.games.uniforms(salt=3).tolist() == [reference(-1, agent_seed, 0, 3)]


def test_every_bit_of_what_goes_in_changes_half_of_what_comes_out() -> None:
    """Of the seed, the secret, the salt and the number of the decision."""
    rng = np.random.default_rng(4)
    flipped: dict[str, list[int]] = {"seed": [], "agent_seed": [], "salt": [], "decisions": []}
    games = Games(
        512,
        seed=rng.integers(2**63, size=512),
        observation=None,
        agent_seed=int(rng.integers(2**63)),
    )
    assert games.agent_seed is not None
    games.state["decisions"] = rng.integers(1000, size=512)
    salt = int(rng.integers(2**62))
    before = (games.uniforms(salt=salt) * 2**32).astype(np.uint64)
    for name, bits in (("seed", 63), ("agent_seed", 63), ("salt", 62), ("decisions", 31)):
        for bit in range(bits):
            other = games.copy()
            if name == "agent_seed":
                other.agent_seed = games.agent_seed ^ 1 << bit
            elif name != "salt":
                other.state[name] ^= 1 << bit
            after = (
                other.uniforms(salt=salt ^ 1 << bit if name == "salt" else salt) * 2**32
            ).astype(np.uint64)
            flipped[name] += np.bitwise_count(before ^ after).tolist()
    for counts in flipped.values():
        assert np.mean(counts) == pytest.approx(16, abs=0.1)
        assert np.std(counts) == pytest.approx(8**0.5, abs=0.1)


# ---- the attack ----


def mixed(x: np.ndarray) -> np.ndarray:
    """`mix32` of many numbers."""
    x = x ^ x >> np.uint64(16)
    x = x * np.uint64(0x7FEB352D) & MASK
    x = x ^ x >> np.uint64(15)
    x = x * np.uint64(0x846CA68B) & MASK
    return x ^ x >> np.uint64(16)


def unmixed(x: np.ndarray) -> np.ndarray:
    """What `mix32` makes these numbers of: it is a bijection."""
    x = x ^ x >> np.uint64(16)
    x = x * np.uint64(pow(0x846CA68B, -1, 2**32)) & MASK
    x = x ^ x >> np.uint64(15) ^ x >> np.uint64(30)
    x = x * np.uint64(pow(0x7FEB352D, -1, 2**32)) & MASK
    return x ^ x >> np.uint64(16)


def attack(numbers: list[int], first_decision: int) -> list[int]:
    """Seeds with a low half in LOWS that `hash32` makes these numbers of, 32 bits each, of
    decisions one after the other.

    Of a guessed low half each number tells the one high half that it can go with; numbers must
    agree.
    """
    highs = []
    for decisions, number in enumerate(numbers, first_decision):
        salt = mixed(np.array(decisions ^ RANDOM_PLAY, np.uint64))
        low = mixed(LOWS + salt & MASK)
        highs.append((unmixed(np.uint64(number) ^ low) - mixed(low ^ salt)) & MASK)
    agreed = (highs[0] == highs[1]) & (highs[0] == highs[2]) & (highs[0] < 2**31)
    return [
        int(high) << 32 | int(low) for high, low in zip(highs[0][agreed], LOWS[agreed], strict=True)
    ]


def test_the_attack_finds_seeds_by_the_numbers_of_random_play() -> None:
    """It works, so that it means something that it finds nothing below; this is why those numbers
    never leave the loop.
    """
    assert unmixed(mixed(LOWS)).tolist() == LOWS.tolist()
    assert int(mixed(LOWS[7:8])[0]) == called(mix32, int(LOWS[7]))
    games = Games(len(SEEDS), seed=SEEDS, observation=None)
    games.play_random(40)
    recovered: list[list[int]] = [[] for _ in SEEDS]
    for number in range(3):
        games.state["decisions"] = 40 + number
        for row in range(len(SEEDS)):
            recovered[row].append(cheap_number(games, row))
    assert [attack(numbers, 40) for numbers in recovered] == [[seed] for seed in SEEDS]


def cheap_number(games: Games, row: int) -> int:
    """What random play makes its choice of."""
    if not COMPILED:
        return int(uniform32(games.state[row], 0))
    return int(compiled_cheap_number()(games.state.view(np.ndarray), row))


@functools.cache
def compiled_cheap_number() -> Any:
    """The same, as Python may call it."""
    import numba

    return numba.njit(lambda state, row: uniform32(state[row], 0))


@pytest.mark.parametrize("agent_seed", [None, 1])
def test_the_attack_finds_nothing_by_agents_numbers(agent_seed: int | None) -> None:
    games = Games(len(SEEDS), seed=SEEDS, agent_seed=agent_seed, observation=None)
    drawn = []
    for _ in range(3):
        drawn.append((games.uniforms() * 2**32).astype(np.int64))
        games.step(games.mask.argmax(axis=1))
    for row in range(len(SEEDS)):
        assert attack([int(numbers[row]) for numbers in drawn], 0) == []


def test_small_seeds_can_be_tried_out_unless_there_is_a_secret() -> None:
    """By numbers of games with seeds 1 to 200; the secret's own smallness doesn't help who doesn't
    know it.
    """
    guesses = Games(200, seed=1, observation=None)
    for seed in (1, 77, 200):
        handed = Games(1, seed=seed, observation=None).uniforms()
        assert guesses.seeds[guesses.uniforms() == handed].tolist() == [seed]
        secret = Games(1, seed=seed, observation=None, agent_seed=2**60 + seed)
        for guess in (None, *range(20)):
            guesses.agent_seed = guess
            assert not (guesses.uniforms() == secret.uniforms()).any()
        guesses.agent_seed = None


def test_the_secret_changes_no_game() -> None:
    """Chance and random play are the game's own affair; only agents' numbers differ."""
    one, other = Games(5, seed=3), Games(5, seed=3, agent_seed=9)
    assert one.agent_seed is None
    assert other.agent_seed == other.copy().agent_seed == 9
    for games in (one, other):
        games.play_random(300)
    assert one.state.tobytes() == other.state.tobytes()
    assert not (one.uniforms() == other.uniforms()).any()


@pytest.mark.parametrize("agent_seed", [-1, 2**63, 1.5, "7", True])
@pytest.mark.parametrize(
    "make", [lambda seed: Games(1, agent_seed=seed), lambda seed: Game(agent_seed=seed)]
)
def test_wrong_secrets(agent_seed: Any, make: Any) -> None:
    with pytest.raises(OptionError, match="agent_seed must be a whole number from 0 to"):
        make(agent_seed)
