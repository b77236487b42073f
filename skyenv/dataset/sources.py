"""Where a dataset's games come from: agents play them, or they are read from records.

A source tells how many games it has, and gives any part of them as a source. Its trajectories are
the same in whatever process they are made: so shards can be made in any order, and made again.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, Self

import numpy as np

from skyenv.arena.folder import CONFIG, GAMES
from skyenv.arena.matches import Played, play_games
from skyenv.arena.schedule import Entrant, entrants, timed_agent
from skyenv.dataset.trajectories import Collector, Int64, Trajectories, joined
from skyenv.engine.observation import codes_of
from skyenv.engine.options import DEFAULT_MAX_TURNS
from skyenv.errors import DatasetError, RecordError
from skyenv.files import parse_json
from skyenv.records.format import checked_header, fail
from skyenv.records.reader import GameLines, iter_games, named
from skyenv.records.replay import begin, follow
from skyenv.rules.state import NONE
from skyenv.seeds import DATASETS, secret_seeds

BLOCK: Final = 1000
"""So many games' seats are drawn at a time."""


# ---- games that agents play ----


def draw_seats(agents: int, players: int, games: int, seed: int) -> Int64:
    """Who sits where: int64 (games, players), each drawn among so many agents.

    More games begin with the same seats.
    """
    blocks = [
        np.random.default_rng([seed, block]).integers(agents, size=(BLOCK, players))
        for block in range(-(-games // BLOCK))
    ]
    return np.concatenate(blocks)[:games].astype(np.int64)


@dataclass(frozen=True)
class Matches:
    """Games that agents play.

    Attributes:
        agents: who plays.
        seating: int64 (games, players), the agent of every seat, counted from 0.
        numbers: int64 (games,), what the deals are drawn by, together with the secret.
        side, max_turns: as for :class:`skyenv.Games`.
        secret: as for :func:`skyenv.arena.matches.play_games`.
    """

    agents: tuple[Entrant, ...]
    seating: Int64
    numbers: Int64
    side: str = "front"
    max_turns: int = DEFAULT_MAX_TURNS
    secret: int = 1

    @classmethod
    def new(
        cls, specs: Sequence[str], players: int, side: str, games: int, seed: int, max_turns: int
    ) -> Matches:
        """New games, whose seats are drawn among the agents, and whose deals the seed decides.

        Raises:
            AgentError, CheckpointError: an agent can't be made. OptionError: two have one name.
        """
        agents = entrants(specs, players, side)
        return cls(
            agents,
            draw_seats(len(agents), players, games, seed),
            np.arange(games),
            side,
            max_turns,
            seed,
        )

    @property
    def games(self) -> int:
        """How many there are."""
        return len(self.numbers)

    def about(self) -> dict[str, Any]:
        """What they are, as JSON can hold it: the same for the same games."""
        digest = hashlib.sha256(self.seating.tobytes() + self.numbers.tobytes()).hexdigest()
        return {
            "agents": [asdict(agent) for agent in self.agents],
            "players": self.seating.shape[1],
            **{name: getattr(self, name) for name in ("side", "games", "max_turns")},
            "seed": self.secret,
            "seeds": [DATASETS.start, DATASETS.stop],
            "seating": digest,
        }

    def part(self, first: int, stop: int) -> Self:
        """The games from `first` to before `stop` alone: what is sent to another process is no
        larger than they need.
        """
        some = slice(first, stop)
        return replace(self, seating=self.seating[some], numbers=self.numbers[some])

    def trajectories(self, reward: str) -> Trajectories:
        """All games, at least one, played for a reward (:class:`skyenv.GameOptions`).

        Raises:
            AgentError, CheckpointError: an agent can't be made, or fails.
        """
        used, seating = np.unique(self.seating, return_inverse=True)
        collector = Collector(self.games)
        agents = [timed_agent(self.agents[index]) for index in used]
        played = play_games(
            agents,
            seating.reshape(self.games, -1),
            self.numbers,
            self.side,
            max_turns=self.max_turns,
            secret=self.secret,
            purpose=DATASETS,
            rows=self.games,
            reward=reward,
            onlooker=collector,
        )
        names = [[self.agents[index].name for index in seats] for seats in self.seating.tolist()]
        seeds = secret_seeds(self.secret, self.numbers, DATASETS)
        return collector.trajectories(played, self.side, names, seeds)


# ---- games of records ----


class _Place(NamedTuple):
    """Where a game stands: its file, where it begins, how many bytes it has, and the number of its
    first line.
    """

    path: Path
    start: int
    size: int
    line: int


@dataclass(frozen=True)
class Records:
    """The finished games of records.

    Attributes:
        places: of the games.
        unfinished: how many games have no end, and are left out.
        digest: of all the files' content.
    """

    places: tuple[_Place, ...] = field(repr=False)
    unfinished: int
    digest: str

    @classmethod
    def of(cls, files: Sequence[Path]) -> Records:
        """Look through records for where their games begin and end.

        Raises:
            RecordError: a header or the last line of a game is wrong. OSError: a file can't be
                read.
            DatasetError: an agent's name has a null byte in it, which HDF5 can't hold.
        """
        digest = hashlib.sha256()
        places, unfinished = [], 0
        for path in files:
            content = path.read_bytes()
            digest.update(hashlib.sha256(content).digest())
            with named(path):
                for place, is_finished, agents in _games_in(content, path):
                    if any("\0" in name for name in agents):
                        raise DatasetError(
                            f"{path}: line {place.line}: an agent's name has a null byte in it"
                        )
                    places += [place] if is_finished else []
                    unfinished += not is_finished
        return cls(tuple(places), unfinished, digest.hexdigest())

    @property
    def games(self) -> int:
        """See :class:`Matches`."""
        return len(self.places)

    def about(self) -> dict[str, Any]:
        """See :class:`Matches`."""
        return {"records": self.digest, "games": self.games}

    def part(self, first: int, stop: int) -> Self:
        """See :class:`Matches`."""
        return replace(self, places=self.places[first:stop], unfinished=0)

    def trajectories(self, reward: str) -> Trajectories:
        """See :class:`Matches`."""
        games = []
        for place in self.places:
            with open(place.path, "rb") as stream:
                stream.seek(place.start)
                content = io.BytesIO(stream.read(place.size))
            with named(place.path):
                games.append(_replayed(next(iter_games(content, place.line)), reward))
        return joined(games)


def _games_in(content: bytes, path: Path) -> Iterator[tuple[_Place, bool, Sequence[str]]]:
    """The places of a record's games, whether they are finished, and their agents' names.

    Only headers have the word "format" in them.
    """
    lines = content.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    starts = np.cumsum([0, *(len(line) + 1 for line in lines)]).tolist()
    firsts = [number for number, line in enumerate(lines) if b'"format"' in line]
    if firsts[:1] != [0]:
        raise RecordError(
            'line 1: a game must begin with its header, the line with "format": "skyenv-record"', 1
        )
    for first, stop in zip(firsts, [*firsts[1:], len(lines)], strict=True):
        header = _parsed(lines[first], first + 1)
        checked_header(first + 1, header)
        is_finished = stop - first > 2 and _parsed(lines[stop - 1], stop).get("event") == "end"
        yield (
            _Place(path, starts[first], starts[stop] - starts[first], first + 1),
            is_finished,
            header["agents"] or (),
        )


def _parsed(line: bytes, number: int) -> dict[str, Any]:
    try:
        value = parse_json(line)
    except ValueError as error:
        fail(number, f"not JSON: {error}", error)
    if not isinstance(value, dict):
        fail(number, "a line must be one JSON object")
    return value


def _replayed(lines: GameLines, reward: str) -> Trajectories:
    """The game that a record's lines tell of, every line checked."""
    game = begin(lines, reward)
    games, row, moves = game.games, np.zeros(1, np.int64), follow(game, lines)
    collector = Collector(1)
    while True:
        seat, mask = games.seat.copy(), games.mask.copy()
        codes = codes_of(game.observation())[np.newaxis]
        events = next(moves, None)
        if events is None:
            break
        action = np.array([events[0]["action"]])
        collector.add(game=row, seat=seat, action=action, mask=mask, codes=codes)
        collector.played(games, row, row)
    if not game.is_over:
        fail(lines.header.number, "this game has not ended, but the record has no more of it")
    seed = NONE if game.seed is None else game.seed
    played = Played(np.array([seed]), np.arange(game.num_players)[np.newaxis])
    played.note(row, games.state)
    return collector.trajectories(played, game.side, [lines.header.value["agents"]], played.seeds)


Source = Matches | Records


# ---- what is named on the command line ----


def records_of(paths: Sequence[Path]) -> Records:
    """Return the games of record files, and of the record files (.jsonl) of folders.

    Raises:
        DatasetError: a folder holds none, or is a tournament's. RecordError: a file is no record.
            OSError: a file can't be read.
    """
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
        elif (path / GAMES).exists() and (path / CONFIG).exists():
            raise DatasetError(f"{path} is a tournament's folder, which holds no records")
        elif found := sorted(path.glob("*.jsonl")):
            files += found
        else:
            raise DatasetError(f"{path} holds no records (.jsonl)")
    return Records.of(files)
