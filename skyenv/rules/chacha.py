"""ChaCha, a one-way function: numbers that tell nothing of what they were made from.

Its inventor is D. J. Bernstein; RFC 8439 describes it with 20 rounds. With 12 it is the standard
generator of Rust's `rand`. The arithmetic is that of 32-bit words in numbers of 64 bits, so that
compiled code, plain Python and CUDA agree.
"""

from __future__ import annotations

from skyenv.rules.chance import MASK32
from skyenv.rules.compiling import rule


@rule
def turned(word: int, places: int) -> int:
    """A 32-bit word turned left by so many places, 1 to 31."""
    return ((word << places) & MASK32) | (word >> (32 - places))


@rule
def quarter_round(a: int, b: int, c: int, d: int) -> tuple[int, int, int, int]:
    """RFC 8439, 2.1."""
    a = (a + b) & MASK32
    d = turned(d ^ a, 16)
    c = (c + d) & MASK32
    b = turned(b ^ c, 12)
    a = (a + b) & MASK32
    d = turned(d ^ a, 8)
    c = (c + d) & MASK32
    b = turned(b ^ c, 7)
    return a, b, c, d


@rule
def chacha(key: tuple[int, ...], block: tuple[int, ...], rounds: int) -> int:
    """RFC 8439, 2.3: the first word of a block of ChaCha, 32 bits.

    Args:
        key: eight 32-bit words; what must stay secret.
        block: four 32-bit words, ChaCha's counter and nonce: which number it is.
        rounds: even; at 8 and more no attack is known that finds out about the key.
    """
    a0, a1, a2, a3 = 0x61707865, 0x3320646E, 0x79622D32, 0x6B206574  # "expand 32-byte k"
    b0, b1, b2, b3, c0, c1, c2, c3 = key
    d0, d1, d2, d3 = block
    for _ in range(rounds // 2):
        a0, b0, c0, d0 = quarter_round(a0, b0, c0, d0)
        a1, b1, c1, d1 = quarter_round(a1, b1, c1, d1)
        a2, b2, c2, d2 = quarter_round(a2, b2, c2, d2)
        a3, b3, c3, d3 = quarter_round(a3, b3, c3, d3)
        a0, b1, c2, d3 = quarter_round(a0, b1, c2, d3)
        a1, b2, c3, d0 = quarter_round(a1, b2, c3, d0)
        a2, b3, c0, d1 = quarter_round(a2, b3, c0, d1)
        a3, b0, c1, d2 = quarter_round(a3, b0, c1, d2)
    return (a0 + 0x61707865) & MASK32
