"""Random numbers of decisions: cheap ones for random play, one-way ones for agents."""

from typing import Final

from skyenv.rules.chacha import chacha
from skyenv.rules.chance import MASK32, hash32, mix32, multiply32
from skyenv.rules.compiling import rule
from skyenv.rules.state import NONE, GameRecord
from skyenv.seeds import HIGHEST_SEED

RANDOM_PLAY: Final = 0x5EED1E55  # salt of random play, different from the games' own stream
ROUNDS: Final = 12  # rounds of ChaCha in agents' random numbers: 80 ns a number


@rule
def uniform32(game: GameRecord, salt: int) -> int:
    """A cheap random number of the decision, 32 bits: a function of the game's seed, the number of
    the decision and a salt.

    Some of these numbers would reveal the seed, so they are never exposed outside of compiled
    loops. Agents get :func:`agents_uniform`.
    """
    number = (int(game.decisions) + multiply32(salt & MASK32, 0x9E3779B9)) & MASK32
    # Another bijection than the one that seeds the stream, so that no salt reveals the game's
    # chance.
    return hash32(int(game.seed) & HIGHEST_SEED, mix32(number ^ RANDOM_PLAY))


@rule
def agents_uniform(game: GameRecord, agent_seed: int, salt: int) -> float:
    """Return the decision's random number for an agent, 0 to 1 − 2⁻³², independent of hidden
    information (INF-2).

    Args:
        game: the game, of which the seed and the number of the decision are used.
        agent_seed: a secret added to the game's seed, 0 … 2⁶³−1; NONE: no secret.
        salt: 0 … 2⁶³−1.
    """
    seed = int(game.seed)
    own, secret = (0, 0) if agent_seed == NONE else (1, agent_seed)
    key = (seed & MASK32, (seed >> 32) & MASK32, secret & MASK32, secret >> 32, own, 0, 0, 0)
    return chacha(key, (int(game.decisions), salt & MASK32, salt >> 32, 0), ROUNDS) / 2**32
