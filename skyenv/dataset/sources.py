"""Where a dataset's games come from: agents play them, or they are read from records.

A source tells how many games it has, and gives any part of them as a source. Its trajectories are
the same in whatever process they are made: so shards can be made in any order, and made again.
"""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from skyenv.arena.folder import CONFIG, GAMES
from skyenv.arena.matches import play_games
from skyenv.arena.schedule import Entrant, agent_of, entrants
from skyenv.checks import Int64
from skyenv.dataset.trajectories import Collector, Trajectories
from skyenv.engine.observation import codes_of
from skyenv.engine.options import DEFAULT_MAX_TURNS
from skyenv.errors import DatasetError
from skyenv.files import fault_of
from skyenv.records.format import TASK_FORMAT, fail
from skyenv.records.reader import iter_games, named
from skyenv.records.replay import begin, follow
from skyenv.rules.state import NONE
from skyenv.seeds import DATASETS, secret_seeds

BLOCK: Final = 1000  # so many games' seats are drawn at a time


@dataclass(frozen=True)
class Matches:
    """Games that agents play.

    Attributes:
        agents: who plays, seats drawn for every game.
        players, side, max_turns: as for :class:`skyenv.Games`.
        numbers: of the games: the same number and seed is the same game.
        seed: decides seats, and deals as the secret of :func:`skyenv.arena.matches.play_games`.
    """

    agents: tuple[Entrant, ...]
    players: int
    side: str
    numbers: range
    seed: int
    max_turns: int = DEFAULT_MAX_TURNS

    @classmethod
    def new(
        cls, specs: Sequence[str], players: int, side: str, games: int, seed: int, max_turns: int
    ) -> Matches:
        """New games.

        Raises:
            AgentError, CheckpointError: an agent can't be made. OptionError: two have one name.
        """
        return cls(entrants(specs, players, side), players, side, range(games), seed, max_turns)

    @property
    def games(self) -> int:
        """How many there are."""
        return len(self.numbers)

    def about(self) -> dict[str, Any]:
        """What they are, as JSON can hold it: the same for the same games."""
        return {**asdict(self), "numbers": self.games}

    def part(self, some: range) -> Self:
        """Some of the games: what is sent to another process is no larger than they need."""
        return replace(self, numbers=self.numbers[some.start : some.stop])

    def seating(self) -> Int64:
        """The agent of every seat, counted from 0: int64 (games, players)."""
        first = self.numbers.start // BLOCK
        blocks = [
            np.random.default_rng([self.seed, block]).integers(
                len(self.agents), size=(BLOCK, self.players)
            )
            for block in range(first, -(-self.numbers.stop // BLOCK))
        ]
        seats: Int64 = np.concatenate(blocks)[np.array(self.numbers) - first * BLOCK]
        return seats

    def trajectories(self, reward: str) -> Trajectories:
        """All games, at least one, played for a reward (:class:`skyenv.GameOptions`).

        Raises:
            AgentError, CheckpointError: an agent can't be made, or fails.
        """
        used, seating = np.unique(self.seating(), return_inverse=True)
        collector = Collector(self.games)
        play_games(
            [agent_of(self.agents[index]) for index in used],
            seating.reshape(self.games, -1),
            self.numbers,
            self.side,
            max_turns=self.max_turns,
            secret=self.seed,
            purpose=DATASETS,
            rows=self.games,
            reward=reward,
            onlooker=collector,
        )
        names = [[self.agents[index].name for index in seats] for seats in self.seating().tolist()]
        seeds = secret_seeds(self.seed, np.array(self.numbers), DATASETS)
        return collector.trajectories(names, seeds.tolist())


@dataclass(frozen=True)
class Records:
    """The finished games of records.

    Attributes:
        places: of each game the file, the first byte, the number of bytes, and of its first line.
        unfinished: how many games have no end, and are left out.
        digest: of all the files' content.
    """

    places: tuple[tuple[Path, int, int, int], ...]
    unfinished: int
    digest: str

    @classmethod
    def of(cls, paths: Sequence[Path]) -> Records:
        """Look through record files, and the record files (.jsonl) of folders, for where their
        games begin and end.

        Raises:
            DatasetError: a folder holds none, or is a tournament's. RecordError: a file is no
                record. OSError: a file can't be read.
        """
        digest, places, unfinished = hashlib.sha256(), [], 0
        for path in [file for one in paths for file in _files(one)]:
            content = path.read_bytes()
            lines = io.BytesIO(content).readlines()
            digest.update(hashlib.sha256(content).digest())
            # Only headers have the word "format" in them.
            firsts = [number for number, line in enumerate(lines) if b'"format"' in line]
            if firsts[:1] != [0]:
                with named(path):
                    fail(1, fault_of(content) or "a game must begin with its header")
            for number in firsts:
                if TASK_FORMAT.encode() in lines[number]:
                    with named(path):
                        fail(number + 1, "a task's record; datasets are made of whole games only")
            starts = np.cumsum([0, *map(len, lines)]).tolist()
            for first, stop in zip(firsts, [*firsts[1:], len(lines)], strict=True):
                if re.search(rb'"event"\s*:\s*"end"', lines[stop - 1]):
                    size = starts[stop] - starts[first]
                    places.append((path, starts[first], size, first + 1))
                else:
                    unfinished += 1
        return cls(tuple(places), unfinished, digest.hexdigest())

    @property
    def games(self) -> int:
        """See :class:`Matches`."""
        return len(self.places)

    def about(self) -> dict[str, Any]:
        """See :class:`Matches`."""
        return {"records": self.digest}

    def part(self, some: range) -> Self:
        """See :class:`Matches`."""
        return replace(self, places=self.places[some.start : some.stop])

    def trajectories(self, reward: str) -> Trajectories:
        """See :class:`Matches`; every line is checked.

        Raises:
            RecordError: a line is wrong, or an agent's name has a null byte, which HDF5 can't hold.
        """
        collector, names, seeds = Collector(self.games), [], []
        row = np.zeros(1, np.int64)
        for number, (path, start, size, line) in enumerate(self.places):
            with open(path, "rb") as stream:
                stream.seek(start)
                content = io.BytesIO(stream.read(size))
            with named(path):
                lines = next(iter_games(content, line))
                names.append(lines.header.value["agents"])
                if any("\0" in name for name in names[-1] or ()):
                    fail(line, "an agent's name has a null byte in it")
                game = begin(lines, reward)
                moves = follow(game, lines)
                while True:
                    codes = codes_of(game.observation())[np.newaxis]
                    seat, mask = game.games.seat.copy(), game.games.mask.copy()
                    events = next(moves, None)
                    if events is None:
                        break
                    action = np.array([events[0]["action"]])
                    collector.add(
                        game=row + number, seat=seat, action=action, mask=mask, codes=codes
                    )
                    collector.played(game.games, row, row + number)
                if not game.is_over:
                    fail(line, "this game has not ended, but the record has no more of it")
                seeds.append(NONE if game.seed is None else game.seed)
        return collector.trajectories(names, seeds)


Source = Matches | Records


def _files(path: Path) -> list[Path]:
    """The record files of a path on the command line; raises DatasetError."""
    if not path.is_dir():
        return [path]
    if (path / GAMES).exists() and (path / CONFIG).exists():
        raise DatasetError(f"{path} is a tournament's folder, which holds no records")
    found = sorted(path.glob("*.jsonl"))
    if not found:
        raise DatasetError(f"{path} holds no records (.jsonl)")
    return found
