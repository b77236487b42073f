"""The game's own stream of chance: the generator's published numbers, its seeds, and an even choice
below any bound.
"""

from typing import Any

import numba
import pytest

from skyenv.rules import chance
from skyenv.rules.state import new_games
from test_games import mixed

MASK = 2**32 - 1


@numba.njit  # type: ignore[untyped-decorator]
def next32(games: Any) -> int:
    return chance.next32(games[0])


@numba.njit  # type: ignore[untyped-decorator]
def below(games: Any, bound: int) -> int:
    return chance.below(games[0], bound)


@numba.njit  # type: ignore[untyped-decorator]
def seed_stream(games: Any, seed: int) -> None:
    chance.seed_stream(games[0], seed)


def stream(*state: int) -> Any:
    """A game whose generator is in this state."""
    games = new_games(1)
    games["random"][0] = state
    return games


@pytest.mark.parametrize(
    ("bound", "number", "taken"),
    [
        (
            3,
            0,
            2,
        ),  # 2³² numbers can't be shared by three: one of them is refused, and the next is taken
        (3, 0xAAAAAAAB, 1),  # 3 times this is 1 mod 2³², the lowest product that is not refused
        (3, MASK, 1),
        (4, 0, 1),  # four can share them all
        (6, 715827883, 2),  # 2 mod 2³²: four numbers are refused
        (6, 1431655766, 1),  # 4 mod 2³²
    ],
)
def test_numbers_below_a_bound_are_equally_likely(bound: int, number: int, taken: int) -> None:
    """What would be one too many is refused."""
    scrambled = number * pow(9, -1, 2**32) & MASK
    scrambled = ((scrambled >> 7) | (scrambled << 25)) & MASK
    state = (2, scrambled * pow(5, -1, 2**32) & MASK, 3, 4)
    numbers = [int(next32(games)) for games in [stream(*state)] for _ in range(taken)]
    assert numbers[0] == number
    games = stream(*state)
    assert below(games, bound) == numbers[-1] * bound >> 32
    same = stream(*state)
    for _ in range(taken):
        next32(same)
    assert games["random"].tolist() == same["random"].tolist()


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1, 2**32, 0x123456789ABCDEF, 2**63 - 1])
def test_seeds_go_into_the_stream_with_all_their_bits(seed: int) -> None:
    """Four words, each hashed from the seed with a salt of its own."""
    games = new_games(1)
    seed_stream(games, seed)
    assert games["seed"] == seed
    for i, word in enumerate(games["random"][0].tolist(), 1):
        salt = i * 0x9E3779B9 & MASK
        low = mixed((seed & MASK) + salt & MASK)
        assert word == mixed((seed >> 32) + mixed(low ^ salt) & MASK) ^ low
