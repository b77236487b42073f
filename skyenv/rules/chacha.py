"""The ChaCha block function: random numbers that reveal nothing about their key.

D. J. Bernstein designed it; RFC 8439 specifies it with 20 rounds. With 12 rounds it is the standard
generator of Rust's `rand`. Words of 32 bits are stored in 64-bit integers, so that compiled code,
plain Python and CUDA agree.
"""

from skyenv.rules.chance import MASK32
from skyenv.rules.compiling import rule


@rule
def turned(word: int, places: int) -> int:
    """Return a 32-bit word rotated left by 1 to 31 bits."""
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
    """Return the first 32-bit word of a ChaCha block (RFC 8439, 2.3).

    Args:
        key: eight 32-bit words, the secret.
        block: four 32-bit words, ChaCha's counter and nonce.
        rounds: an even number; with 8 or more no attack on the key is known.
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
