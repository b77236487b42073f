"""Play-outs: agents play a position to the end many times; win shares, VP and margins."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent
from skyenv.arena.matches import play_on, worlds_of
from skyenv.array_types import Float64, RecordArray
from skyenv.engine.games import Games
from skyenv.engine.knowledge import view as view_of
from skyenv.engine.results import results
from skyenv.rules.state import GAME_DTYPE
from skyenv.seeds import HIGHEST_SEED
from skyenv.statistics import NORMAL, Estimate, share_of_wins

# Usual number of games.
USUAL: Final = 100
# Games per batch; results are yielded after each batch.
AT_ONCE: Final = 25
# Questions whose results a server holds.
MOST_TALLIES: Final = 500

Key = tuple[bytes, tuple[str, ...], tuple[int, ...]]


class SeatResult(NamedTuple):
    """The results of a seat in play-outs.

    Attributes:
        share: of the win, 0 to 1, with its 95 % interval.
        vp: mean VP.
        margin: mean VP less those of the best other seat.
    """

    share: Estimate
    vp: float
    margin: float


class Question(NamedTuple):
    """A position to play out.

    Attributes:
        agents: by seat.
        position: GAME_DTYPE; the game isn't over.
        seat: resample the cards hidden from this seat in every game; None: they stay.
        path: actions to play first.
    """

    agents: tuple[Agent, ...]
    position: Any
    seat: int | None
    path: tuple[int, ...] = ()


def fresh_stream(seed: int) -> npt.NDArray[np.uint32]:
    """Return the random stream with which a position continues, uint32 (4,), never all 0; it is
    decided by the seed, 0 to 2⁶³−1.
    """
    digest = hashlib.blake2b(seed.to_bytes(8), digest_size=16, person=b"go on").digest()
    words = np.frombuffer(digest, np.uint32).copy()
    words[0] |= not words.any()
    return words


def starts(position: np.void, seeds: Sequence[int], seat: int | None) -> RecordArray:
    """Return copies of a position, one per seed, each with its own future chance.

    Args:
        position: GAME_DTYPE.
        seeds: 0 to 2⁶³−1.
        seat: resample the cards hidden from this seat; None: they stay.

    Returns:
        GAME_DTYPE (k,). Equal seeds give equal chance.
    """
    one = np.array([position], GAME_DTYPE)
    if seat is not None:
        return worlds_of(view_of(one, [seat]), list(seeds))
    made = np.repeat(one, len(seeds))
    for row, seed in enumerate(seeds):
        made["random"][row] = fresh_stream(seed)
    made["seed"] = list(seeds)  # agents' random numbers derive from it
    return made


def played(states: RecordArray, paths: Sequence[Sequence[int]]) -> RecordArray:
    """Return positions, GAME_DTYPE (k,), after the legal actions of each one's path."""
    games = Games.of(states)
    for number in range(max(map(len, paths), default=0)):
        rows = np.array([row for row, path in enumerate(paths) if len(path) > number])
        games.step([paths[row][number] for row in rows], rows)
    return games.state.copy()


def digest(position: np.void, seat: int | None) -> bytes:
    """Return a hash of a seat's view of a position, or for None of the position."""
    one = np.array([position], GAME_DTYPE)
    known: Any = one if seat is None else view_of(one, [seat])
    return hashlib.blake2b(np.asarray(known).tobytes(), digest_size=16).digest()


class Tally(NamedTuple):
    """The results of games played out from one position.

    Attributes:
        won: the win shares of each game, in the order of the seeds, float64 (games, players).
        sums: float64 (2, players): of VP, of margins.
    """

    won: Float64
    sums: Float64

    @property
    def games(self) -> int:
        """Number of games."""
        return len(self.won)

    @property
    def shares(self) -> Float64:
        """Mean win shares, float64 (players,)."""
        return np.asarray(self.won.mean(axis=0))

    @property
    def variances(self) -> Float64:
        """Squared standard errors of the mean win shares, float64 (players,)."""
        return np.asarray(self.won.var(axis=0, ddof=1) / self.games)

    def results(self) -> list[SeatResult]:
        """Return the results of every seat."""
        return [
            SeatResult(share_of_wins(share, self.games), vp, margin)
            for share, (vp, margin) in zip(
                self.shares.tolist(), (self.sums / self.games).T.tolist(), strict=True
            )
        ]


class PlayOuts:
    """Results of play-outs; more games refine them.

    The seeds of each question are `seed`, `seed` + 1 …: games from the same position have the same
    chance (paired seeds), as far as they use it in the same order, and of two tallies of one
    question the larger contains the smaller.

    Args:
        seed: 0 to 2⁶³−1.

    Attributes:
        tallies: results by view (:func:`digest`), line-up, and first actions.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.tallies: dict[Key, Tally] = {}

    def copy(self, view: bytes | None = None) -> "PlayOuts":
        """Return a copy, of the results of one view (:func:`digest`) if it is given; tallies are
        immutable.
        """
        other = PlayOuts(self.seed)
        other.tallies = {
            key: tally for key, tally in self.tallies.items() if view in (None, key[0])
        }
        return other

    def tally(self, question: Question) -> Tally | None:
        """Return the results so far."""
        return self.tallies.get(key_of(question))

    def extend(self, question: Question, number: int = AT_ONCE) -> Tally:
        """Play some more games; return all results.

        Raises:
            AgentError: an agent returned no valid answer.
        """
        agents, position, seat, path = question
        players = len(agents)
        known = self.tally(question) or Tally(np.zeros((0, players)), np.zeros((2, players)))
        seeds = [(self.seed + known.games + game) % (HIGHEST_SEED + 1) for game in range(number)]
        shares, scores = shares_of(agents, position, seeds, seat, path)
        others = [np.delete(scores, one, axis=1).max(axis=1) for one in range(players)]
        sums = np.stack([scores.sum(axis=0), (scores - np.transpose(others)).sum(axis=0)])
        tally = Tally(np.concatenate([known.won, shares]), known.sums + sums)
        self.tallies[key_of(question)] = tally
        return tally

    def ensure(self, question: Question, games: int) -> None:
        """Play as many more games as are missing, AT_ONCE or more: few games tell no error.

        Raises:
            AgentError: an agent returned no valid answer.
        """
        tally = self.tally(question)
        if (missing := games - (tally.games if tally else 0)) > 0:
            self.extend(question, max(AT_ONCE, missing))

    def merge(self, other: "PlayOuts") -> None:
        """Take over the larger tallies; the oldest beyond MOST_TALLIES are dropped."""
        for key, tally in other.tallies.items():
            known = self.tallies.get(key)
            if known is None or known.games < tally.games:
                self.tallies.pop(key, None)
                self.tallies[key] = tally
        for key in [*self.tallies][: max(0, len(self.tallies) - MOST_TALLIES)]:
            del self.tallies[key]


def paired(won: Float64, other: Float64) -> tuple[float, float, int]:
    """Return how much more one choice won than another, win shares by game: the mean difference of
    games with one seed, half its 95 % interval, and the number of pairs.
    """
    pairs = min(len(won), len(other))
    gained = won[:pairs] - other[:pairs]
    return float(gained.mean()), NORMAL * float(gained.std(ddof=1)) / pairs**0.5, pairs


def key_of(question: Question) -> Key:
    """Return the key of a question's results; equal for equal knowledge of the seat."""
    agents, position, seat, path = question
    # equal choices in other orders: cards of a bid, and two cards taken
    return digest(position, seat), tuple(one.name for one in agents), tuple(sorted(path))


def play_out(
    agents: Sequence[Agent],
    position: np.void,
    number: int = USUAL,
    seat: int | None = None,
    known: PlayOuts | None = None,
) -> Iterator[tuple[int, list[SeatResult]]]:
    """Have agents play a position out; yield the results so far after each batch.

    Args:
        agents: the agents by seat.
        position: GAME_DTYPE; the game isn't over.
        number: number of games.
        seat: resample the cards hidden from this seat in every game; None: they stay.
        known: earlier results, which count and are extended.

    Yields:
        The number of games so far, and the results of every seat.

    Raises:
        AgentError: an agent returned no valid answer.
    """
    play_outs = PlayOuts() if known is None else known
    question = Question(tuple(agents), position, seat)
    tally = play_outs.tally(question)
    if tally is not None:
        yield tally.games, tally.results()
    while (done := tally.games if tally else 0) < number:
        tally = play_outs.extend(question, min(AT_ONCE, number - done))
        yield tally.games, tally.results()


def shares_of(
    agents: Sequence[Agent],
    position: np.void,
    seeds: Sequence[int],
    seat: int | None,
    actions: Sequence[int] = (),
) -> tuple[Float64, Float64]:
    """Play a position out once per seed.

    Args:
        agents, position, seat: as for :func:`play_out`.
        seeds: as for :func:`starts`.
        actions: actions to play first.

    Returns:
        Win shares and VP, each float64 (k, players).
    """
    games = Games.of(played(starts(position, seeds, seat), [actions] * len(seeds)))
    play_on(games, agents)
    players = games.num_players
    scores = games.state["score"][:, :players].astype(np.float64)
    return results(games.state)[0][:, :players], scores
