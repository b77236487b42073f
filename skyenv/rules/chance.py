"""The only place where chance is decided: by the game's own seeded stream, or by outcomes fed from
outside.

The stream is xoshiro128**, in 64-bit arithmetic that never overflows, so that compiled code, plain
Python and CUDA agree.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from skyenv.rules.compiling import rule
from skyenv.rules.components import BLACK, NUM_RANKS
from skyenv.rules.state import NONE, GameRecord
from skyenv.rules.tape import EVENT_SHUFFLE, FED_CARD, TapeRecord, report

MASK32: Final = 0xFFFFFFFF
OUT_OF_RANGE: Final = 99


@rule
def multiply32(a: int, b: int) -> int:
    """A · b mod 2³², for 0 ≤ a, b < 2³², without leaving 63 bits."""
    return (a * (b & 0xFFFF) + (((a * (b >> 16)) & 0xFFFF) << 16)) & MASK32


@rule
def mix32(x: int) -> int:
    """A bijection of 32-bit numbers that leaves no visible relation between neighbours."""
    x ^= x >> 16
    x = multiply32(x, 0x7FEB352D)
    x ^= x >> 15
    x = multiply32(x, 0x846CA68B)
    return x ^ (x >> 16)


@rule
def hash32(number: int, salt: int) -> int:
    """32 well-mixed bits of a number from 0 to 2⁶³−1 and a 32-bit salt."""
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
    """The stream's next 32 bits."""
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
    """A uniform number from 0 to bound − 1, for 0 < bound < 2³¹ (exact: Lemire's rejection)."""
    product = next32(game) * bound
    if (product & MASK32) < bound:
        threshold = (MASK32 + 1 - bound) % bound
        while (product & MASK32) < threshold:
            product = next32(game) * bound
    return product >> 32


@rule
def fed_outcome(tape: TapeRecord, kind: int) -> int:
    """The next outcome given from outside, which should be of a kind (FED_…); NONE if there is none
    left.

    One of another kind gives a number outside the kind's range.
    """
    if tape.next_fed >= tape.num_fed:
        return NONE
    tape.next_fed += 1
    outcome = int(tape.fed[tape.next_fed - 1]) - kind
    return outcome if outcome >= 0 else OUT_OF_RANGE


@rule
def is_asked(tape: TapeRecord, kind: int) -> bool:
    """Whether the tape wants to know what chance has to decide now, of a kind (FED_…); the caller
    then writes its `ways`.
    """
    if tape.asking == 0 or tape.asked != NONE:
        return False
    tape.asked = kind
    return True


@rule
def refuse_fed(tape: TapeRecord) -> None:
    """Note that the outcome just taken from the tape is impossible; whoever fed it gives up the
    whole action.
    """
    if tape.refused < 0:
        tape.refused = tape.next_fed - 1


@rule
def draw(game: GameRecord, tape: TapeRecord, counts: npt.NDArray[np.int8], fed_as: int) -> int:
    """Take one thing at random out of a bag of `counts[kind]` things each; its kind, or NONE if the
    bag is empty.

    `fed_as` tells how the tape names such things (FED_…).
    """
    total = 0
    for kind in range(len(counts)):
        total += int(counts[kind])
    if total == 0:
        return NONE
    fed = fed_outcome(tape, fed_as)
    if fed != NONE:
        if 0 <= fed < len(counts) and counts[fed] > 0:
            counts[fed] -= 1
            return fed
        refuse_fed(tape)
    elif is_asked(tape, fed_as):
        for kind in range(len(counts)):
            tape.ways[kind] = counts[kind]
    left = below(game, total)
    kind = 0
    while left >= counts[kind]:
        left -= int(counts[kind])
        kind += 1
    counts[kind] -= 1
    return kind


@rule
def deduce_hands(game: GameRecord) -> None:
    """AUC-9: right before a shuffle no black card is face down, so each of two players knows what
    the other holds.

    INF-1: three or four know what the others hold together; that isn't kept.
    """
    if game.num_players == 2:
        for seat in range(2):
            for rank in range(NUM_RANKS):
                hidden = game.hand[seat, BLACK, rank] - game.known[seat, BLACK, rank]
                game.deduced[seat, rank] = hidden


@rule
def draw_black(game: GameRecord, tape: TapeRecord) -> int:
    """AUC-9: the rank of the next black card, shuffling the stack first if it must be; NONE if
    there is no card.
    """
    face_down = 0
    face_up = 0
    for rank in range(NUM_RANKS):
        face_down += int(game.face_down[BLACK, rank])
        face_up += int(game.black_face_up[rank])
    if face_down == 0 and face_up > 0:
        deduce_hands(game)
        for rank in range(NUM_RANKS):
            game.face_down[BLACK, rank] = game.black_face_up[rank]
            game.unlocated[BLACK, rank] += game.black_face_up[rank]
            game.black_face_up[rank] = 0
        report(tape, EVENT_SHUFFLE, 0, 0, 0, 0, 0, 0, 0)
    return draw(game, tape, game.face_down[BLACK], FED_CARD)
