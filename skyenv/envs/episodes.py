"""Episodes: streams of seeds, and the entries of the infos at their end."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from skyenv.array_types import Bool, Float64, Int64, RecordArray
from skyenv.checks import check_integer
from skyenv.engine.results import results
from skyenv.errors import OptionError
from skyenv.rules.state import END_REASONS
from skyenv.seeds import HIGHEST_SEED, TRAINING, fresh_seed, seeds_of


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


def episode_infos(
    state: RecordArray,
    seats: Int64,
    names: Sequence[Sequence[str]],
    illegal: Bool,
) -> list[dict[str, Any]]:
    """Return the entries of the infos at the end of episodes, one dict each, whatever the reward.

    * ``"win_share"``: float64, 1 for a win, 1/k for a win shared by k seats (END-4; of a truncated
      game by its current scores), 0 for every seat after an illegal action.
    * ``"own_vp"``, ``"best_other_vp"``: int64; ``"scores"``: int64 (N,), every seat's VP.
    * ``"seat"``: int64, the seat of the info; ``"opponents"``: a list of the players' names by
      seat, None at that seat.
    * ``"decisions"``, ``"turns"``: int64, number of decisions and finished turns of all seats
      together.
    * ``"end_reason"``: ``"businesses"``, ``"stops"``, ``"truncated"``, ``"task"`` or ``"illegal"``.

    Args:
        state: GAME_DTYPE (k,), the final positions.
        seats: int64 (k,), the seats of the infos.
        names: for each game the players' names by seat.
        illegal: bool (k,), whether an illegal action ended the episode.

    Raises:
        OptionError: `state` is not an array of games.
    """
    shares = np.where(illegal, 0.0, results(state)[0][np.arange(len(seats)), seats])
    infos = []
    for game, seat, share, players, cut_short in zip(
        state, seats, shares, names, illegal.tolist(), strict=True
    ):
        scores = game["score"][: len(players)].astype(np.int64)
        infos.append(
            {
                "win_share": share,
                "own_vp": scores[seat],
                "best_other_vp": np.delete(scores, seat).max(),
                "scores": scores,
                "seat": seat,
                "opponents": [
                    None if other == seat else name for other, name in enumerate(players)
                ],
                "decisions": np.int64(game["decisions"]),
                "turns": np.int64(game["turns"]),
                "end_reason": "illegal" if cut_short else END_REASONS[game["end"]],
            }
        )
    return infos


def plain(info: dict[str, Any]) -> dict[str, Any]:
    """Return an info with Python's numbers and lists instead of NumPy's, for JSON loggers."""
    return {
        name: value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value
        for name, value in info.items()
    }
