"""The interface for all randomness: the game's seeded stream, or forced outcomes.

The stream is xoshiro128**, in 64-bit arithmetic that never overflows, so that compiled code, plain
Python and CUDA agree.
"""

from typing import Final

from skyenv.rules.compiling import rule
from skyenv.rules.event_log import LogRecord
from skyenv.rules.record import Vector
from skyenv.rules.state import NONE, GameRecord

MASK32: Final = 0xFFFFFFFF


@rule
def multiply32(a: int, b: int) -> int:
    """A · b mod 2³², for 0 ≤ a, b < 2³², without leaving 63 bits."""
    return (a * (b & 0xFFFF) + (((a * (b >> 16)) & 0xFFFF) << 16)) & MASK32


@rule
def mix32(x: int) -> int:
    """Return a hash of a 32-bit number: a bijection that scatters neighbours."""
    x ^= x >> 16
    x = multiply32(x, 0x7FEB352D)
    x ^= x >> 15
    x = multiply32(x, 0x846CA68B)
    return x ^ (x >> 16)


@rule
def hash32(number: int, salt: int) -> int:
    """Return a 32-bit hash of a number from 0 to 2⁶³−1 and a 32-bit salt."""
    low = mix32(((number & MASK32) + salt) & MASK32)
    return mix32(((number >> 32) + mix32(low ^ salt)) & MASK32) ^ low


@rule
def seed_stream(game: GameRecord, seed: int) -> None:
    """Start the game's stream from a seed, 0 … 2⁶³−1."""
    game.seed = seed
    for i in range(4):
        game.random[i] = hash32(seed, multiply32(i + 1, 0x9E3779B9))
    # The generator's one forbidden state; some seed may hash to it.
    if game.random[0] == 0 and game.random[1] == 0 and game.random[2] == 0 and game.random[3] == 0:
        game.random[0] = 1


@rule
def next32(game: GameRecord) -> int:
    """Return the stream's next 32 bits."""
    s0 = int(game.random[0])
    s1 = int(game.random[1])
    s2 = int(game.random[2])
    s3 = int(game.random[3])
    scrambled = (s1 * 5) & MASK32
    scrambled = ((scrambled << 7) | (scrambled >> 25)) & MASK32
    result = (scrambled * 9) & MASK32
    s2 ^= s0
    s3 ^= s1
    game.random[1] = s1 ^ s2
    game.random[0] = s0 ^ s3
    game.random[2] = s2 ^ ((s1 << 9) & MASK32)
    game.random[3] = ((s3 << 11) | (s3 >> 21)) & MASK32
    return result


@rule
def below(game: GameRecord, bound: int) -> int:
    """Return a uniform number from 0 to bound − 1, for 0 < bound < 2³¹ (exact, by Lemire's
    rejection).
    """
    product = next32(game) * bound
    if (product & MASK32) < bound:
        threshold = (MASK32 + 1 - bound) % bound
        while (product & MASK32) < threshold:
            product = next32(game) * bound
    return product >> 32


@rule
def choose(
    game: GameRecord, log: LogRecord, weights: Vector[int] | tuple[int, ...], kind: int
) -> int:
    """Return a random index from 0 to len(weights) − 1 in proportion to the weights; NONE if all
    are 0.

    Args:
        weights: integers, an array or a tuple.
        kind: the kind of outcome in the log (FORCED_…). A forced outcome in the log is returned; an
            impossible one is recorded there, and the caller abandons the action.
    """
    total = 0
    for i in range(len(weights)):
        total += int(weights[i])
    if total == 0:
        return NONE
    if log.next_forced < log.num_forced:
        forced = int(log.forced[log.next_forced]) - kind
        log.next_forced += 1
        if 0 <= forced < len(weights) and weights[forced] > 0:
            return forced
        if log.refused == NONE:
            log.refused = log.next_forced - 1
    elif log.asking != 0 and log.asked == NONE:
        log.asked = kind
        for i in range(len(weights)):
            log.ways[i] = weights[i]
    left = below(game, total)
    chosen = 0
    while left >= weights[chosen]:
        left -= int(weights[chosen])
        chosen += 1
    return chosen


@rule
def draw(game: GameRecord, log: LogRecord, counts: Vector[int], kind: int) -> int:
    """Draw one item from a bag with `counts` of each; return it, or NONE if the bag is empty.
    `kind`: as for :func:`choose`.
    """
    drawn = choose(game, log, counts, kind)
    if drawn >= 0:
        counts[drawn] -= 1
    return drawn
