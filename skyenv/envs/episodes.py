"""Episodes: streams of seeds, and the infos of environments."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, Final

import numpy as np

from skyenv.array_types import AnyArray, Bool, Float64, Int64, RecordArray
from skyenv.checks import check_integer
from skyenv.engine.rewards import MARGIN, counted_vp, win_share
from skyenv.errors import OptionError
from skyenv.rules import state as rules_state
from skyenv.rules.compiling import entry_point
from skyenv.rules.components import MAX_PLAYERS
from skyenv.rules.record import F64, I64, Array, Record, field, new_records
from skyenv.rules.scoring import winners
from skyenv.seeds import HIGHEST_SEED, TRAINING, fresh_seed, seeds_of

END_REASONS: Final = (*rules_state.END_REASONS, "illegal")
"""The words for an info's ``"end_reason"``, which is an index of them; 0: the game is not over."""
ENDED_ILLEGALLY: Final = len(rules_state.END_REASONS)


class EpisodeSeeds:
    """Streams of seeds and random numbers, one for each row of a batch.

    A row's stream depends on the row's own seed alone, so a single environment and a row of a batch
    with the same seed play the same games. The stream is a one-way function (BLAKE2b of a counter,
    keyed with the seed): a game's seed, the learner's seat and the opponents reveal nothing about
    later seeds, which are in the range :data:`skyenv.seeds.TRAINING`. No global generator is used.

    Attributes:
        key: int64 (n,), the seed of each row's stream; −1: none yet.
        drawn: int64 (n,), episodes begun since.
    """

    def __init__(self, num_rows: int) -> None:
        self.key: Int64 = np.full(num_rows, -1, dtype=np.int64)
        self.drawn: Int64 = np.zeros(num_rows, dtype=np.int64)

    def begin(self, given: Sequence[int | None], rows: Int64) -> tuple[Int64, Float64]:
        """Begin an episode in `rows`.

        Args:
            given: for each row the seed of its game, 0 … 2⁶³−1, which restarts the row's stream;
                None: the row's next seed, the first one from the operating system.
            rows: int64 (k,), each once.

        Returns:
            The games' seeds, int64 (k,), and random numbers for seats and opponents, float64 (k, 7)
                in [0, 1).
        """
        seeds: Int64 = np.zeros(rows.size, dtype=np.int64)
        digests = []
        for i, (row, seed) in enumerate(zip(rows.tolist(), given, strict=True)):
            if seed is None and self.key[row] < 0:
                seed = fresh_seed()
            if seed is not None:
                self.key[row], self.drawn[row] = seed, 0
            key, counter = (int(one[row]).to_bytes(8, "little") for one in (self.key, self.drawn))
            digest = blake2b(counter, key=key).digest()
            number = int.from_bytes(digest[:8], "little")
            seeds[i] = TRAINING[number % len(TRAINING)] if seed is None else seed
            digests.append(digest[8:])
        self.drawn[rows] += 1
        numbers = np.frombuffer(b"".join(digests), dtype="<u8").reshape(len(digests), 7)
        return seeds, (numbers >> np.uint64(11)).astype(np.float64) * 2.0**-53


def row_seeds(
    seed: int | Sequence[int | None] | None, rows: Int64, num_rows: int
) -> list[int | None]:
    """Return the seed of each of `rows` by a batch's option `seed`.

    An integer s means s + i for row i; a sequence holds one entry per row of the whole batch; None,
    alone or in the sequence, means the row's next seed.

    Raises:
        OptionError: the sequence has another length, or a seed is not an integer or negative.
    """
    if seed is None:
        return [None] * rows.size
    if isinstance(seed, (Sequence, np.ndarray)):
        if len(seed) != num_rows:
            raise OptionError(f"seed has {len(seed)} entries; there are {num_rows} games")
        given = [seed[row] for row in rows.tolist()]
        return [
            None if entry is None else check_integer("seed", entry, 0, HIGHEST_SEED)
            for entry in given
        ]
    return [int(one) for one in seeds_of(seed, num_rows)[rows]]


def check_no_options(options: dict[str, Any] | None) -> None:
    """Refuse unknown options of reset().

    Raises:
        OptionError: there is an option.
    """
    if options:
        names = ", ".join(map(repr, options))
        raise OptionError(f"reset() has no option {names}; options are given to the constructor")


class InfoRecord(Record):
    """The entries of an environment's info that describe the game from a seat."""

    seat = field(I64)  # the seat of the info
    scores = field(I64, (MAX_PLAYERS,))  # VP of every seat
    own_vp = field(I64)
    best_other_vp = field(I64)
    win_share = field(F64)  # END-4: 1 for a win, 1/k for a win shared by k seats, else 0
    decisions = field(I64)  # of all seats together
    turns = field(I64)  # finished, of all seats together
    end_reason = field(I64)  # an index of END_REASONS


@entry_point("the infos of environments")
def write_infos(state: Array, rows: Array, seats: Array, illegal: Array, told: Array) -> None:
    """Write the infos of games `rows` into `told`, InfoRecord (k,)."""
    for i in range(len(rows)):
        game, info, seat = state[rows[i]], told[i], seats[i]
        info.seat = seat
        for other in range(MAX_PLAYERS):
            info.scores[other] = game.score[other]
        info.own_vp = game.score[seat]
        info.best_other_vp = info.own_vp - counted_vp(game, MARGIN, seat)
        info.win_share = 0.0 if illegal[i] else win_share(winners(game), seat)
        info.decisions = game.decisions
        info.turns = game.turns
        info.end_reason = ENDED_ILLEGALLY if illegal[i] else game.end


def seat_infos(
    state: RecordArray, rows: Int64, seats: Int64, illegal: Bool, num_players: int
) -> dict[str, AnyArray]:
    """Return infos at any time of a game, by the current scores and whatever the reward: the fields
    of :class:`InfoRecord`, an array (k,) each, ``"scores"`` (k, num_players).

    Args:
        state: GAME_DTYPE (n,), the games.
        rows: int64 (k,), the game of each info.
        seats: int64 (k,), the seat of each info.
        illegal: bool (k,), whether an illegal action has ended the episode: every share is 0.
        num_players: of every game.
    """
    told = new_records(rows.size, InfoRecord.dtype)
    write_infos(state, rows, seats, illegal, told)
    infos = {name: told[name] for name in InfoRecord.fields}
    infos["scores"] = infos["scores"][:, :num_players]
    return infos


def each_info(infos: dict[str, AnyArray]) -> list[dict[str, Any]]:
    """Return infos as one dict per row, of NumPy numbers and arrays."""
    rows = range(len(infos["seat"]))
    return [{name: column[row] for name, column in infos.items()} for row in rows]
