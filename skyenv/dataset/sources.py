"""A dataset's trajectories and their sources: games between agents, or records.

A source has a number of games and can be split. Its trajectories do not depend on the process, so
shards can be made in any order and repeated.
"""

import hashlib
import io
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from skyenv.arena.matches import Onlooker, play_games
from skyenv.arena.ratings import best_other
from skyenv.arena.schedule import Entrant, agent_of, entrants
from skyenv.arena.tournament import CONFIG, GAMES
from skyenv.array_types import AnyArray, Bool, Float32, Float64, Int8, Int16, Int64
from skyenv.engine.games import Games
from skyenv.engine.observation import OBSERVATION_SIZE, codes_of
from skyenv.engine.options import DEFAULT_MAX_TURNS
from skyenv.engine.results import results
from skyenv.errors import DatasetError
from skyenv.files import fault_of
from skyenv.records.format import TASK_FORMAT, fail
from skyenv.records.index import parts
from skyenv.records.reader import iter_games, named
from skyenv.records.replay import begin, follow
from skyenv.rules.components import MAX_PLAYERS, SIDES
from skyenv.rules.state import NONE, new_games
from skyenv.seeds import DATASETS, secret_seeds

BLOCK: Final = 1000  # number of games whose seats are drawn together


@dataclass(frozen=True)
class Trajectories:
    """The trajectories of k games with n decisions in all, ordered by game and time.

    Attributes:
        game: int64 (n,), the game of a decision, ascending from 0.
        seat: int64 (n,), the deciding seat.
        action: int64 (n,), the chosen action.
        mask: int8 (n, 103), the action mask, 1 for legal.
        codes: int16 (n, OBSERVATION_SIZE), the seat's observation before the decision.
        rewards: float32 (n, 4), every seat's reward of the step, up to the next decision of any
            seat.
        players: int64 (k,). sides: one word for each game.
        seeds: int64 (k,), −1 for a game without a seed.
        agents: each game's agent names by seat; None if unknown.
        shares: float64 (k, 4), of the win. scores: int64 (k, 4), VP.
        ends: int64 (k,), the reason of the end, END_… of skyenv/rules/state.py.
        last: int16 (k, 4, OBSERVATION_SIZE), each seat's final observation.
    """

    game: Int64
    seat: Int64
    action: Int64
    mask: Int8
    codes: Int16
    rewards: Float32
    players: Int64
    sides: Sequence[str]
    seeds: Int64
    agents: Sequence[Sequence[str] | None]
    shares: Float64
    scores: Int64
    ends: Int64
    last: Int16

    def __len__(self) -> int:
        return len(self.game)

    def starts(self) -> Int64:
        """Return the first decision of each game and, last, n: int64 (k + 1,)."""
        return np.searchsorted(self.game, np.arange(len(self.players) + 1)).astype(np.int64)

    def step(self) -> Int64:
        """Return the number of each decision in its game, from 0: int64 (n,)."""
        return np.arange(len(self)) - self.starts()[self.game]

    def is_last(self) -> Bool:
        """Return whether a decision is its seat's last one in the game, bool (n,)."""
        place = self.game * MAX_PLAYERS + self.seat
        is_last = np.zeros(len(self), np.bool_)
        is_last[len(self) - 1 - np.unique(place[::-1], return_index=True)[1]] = True
        return is_last

    def reward(self) -> Float32:
        """Return the seat's reward from its decision to its next one or the game's end, float32
        (n,).
        """
        summed = np.zeros(len(self), np.float32)
        for seat in range(MAX_PLAYERS):
            own = np.flatnonzero(self.seat == seat)
            if own.size:  # a sum ends where the seat decides again, and where a game begins
                parts = np.union1d(own, self.starts()[:-1])
                sums = np.add.reduceat(self.rewards[:, seat].astype(np.float64), parts)
                summed[own] = sums[np.searchsorted(parts, own)]
        return summed

    def margin(self) -> Int64:
        """Return each seat's final VP minus the best other seat's, int64 (k, 4); 0 for missing
        seats.
        """
        there = np.arange(MAX_PLAYERS) < self.players[:, None]
        return np.where(there, self.scores - best_other(np.where(there, self.scores, -1)), 0)


class Collector(Onlooker):
    """An observer that collects the decisions of games.

    Args:
        number: number of games.
    """

    def __init__(self, number: int) -> None:
        self._parts: dict[str, list[AnyArray]] = {}
        self._finished = new_games(number)
        self._last = np.zeros((number, MAX_PLAYERS, OBSERVATION_SIZE), np.int16)

    def decided(self, games: Games, rows: Int64, matches: Int64, actions: Int64) -> None:
        """See :class:`skyenv.arena.matches.Onlooker`."""
        self.add(
            game=matches,
            seat=games.seat[rows],
            action=actions,
            mask=games.mask[rows],
            codes=codes_of(games.observation[rows]),
        )

    def played(self, games: Games, rows: Int64, matches: Int64) -> None:
        """See :class:`skyenv.arena.matches.Onlooker`."""
        rewards = np.zeros((len(rows), MAX_PLAYERS), np.float32)
        rewards[:, : games.num_players] = games.reward[rows]
        self.add(rewards=rewards)
        over, ended = rows[games.done[rows]], matches[games.done[rows]]
        if over.size:
            self._finished[ended] = games.state[over]
            for seat in range(games.num_players):
                self._last[ended, seat] = codes_of(games.observe(seat, over))

    def add(self, **parts: AnyArray) -> None:
        """Append arrays of decisions by their names in :class:`Trajectories`."""
        for name, part in parts.items():
            self._parts.setdefault(name, []).append(part)

    def trajectories(
        self, agents: Sequence[Sequence[str] | None], seeds: Sequence[int]
    ) -> Trajectories:
        """Return the trajectories of the games, all of which must be finished.

        Args:
            agents: each game's agent names by seat, or None.
            seeds: the games' seeds, −1 for none.
        """
        joined = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        self._parts.clear()
        order = np.argsort(joined["game"], kind="stable")
        for name in joined:  # one at a time, as observations take much memory
            joined[name] = joined[name][order]
        return Trajectories(
            **joined,
            players=self._finished["num_players"].astype(np.int64),
            sides=[SIDES[side] for side in self._finished["side"]],
            seeds=np.array(seeds, np.int64),
            agents=agents,
            shares=results(self._finished)[0],
            scores=self._finished["score"].astype(np.int64),
            ends=self._finished["end"].astype(np.int64),
            last=self._last,
        )


# ---- sources ----


@dataclass(frozen=True)
class Matches:
    """A source of games between agents.

    Attributes:
        agents: the agents; every game has random seats.
        players, side, max_turns: as for :class:`skyenv.Games`.
        numbers: the games' numbers; number and seed determine a game.
        seed: seed of the seats, and the secret of :func:`skyenv.arena.matches.play_games`.
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
    ) -> "Matches":
        """Return a new source.

        Raises:
            AgentError, CheckpointError: an agent can't be made. OptionError: duplicate name.
        """
        return cls(entrants(specs, players, side), players, side, range(games), seed, max_turns)

    @property
    def games(self) -> int:
        """Return the number of games."""
        return len(self.numbers)

    def about(self) -> dict[str, Any]:
        """Return a JSON description that identifies the games."""
        return {**asdict(self), "numbers": self.games}

    def part(self, some: range) -> Self:
        """Return a source of some of the games, small enough to send to another process."""
        return replace(self, numbers=self.numbers[some.start : some.stop])

    def seating(self) -> Int64:
        """Return the index of every seat's agent, int64 (games, players)."""
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
        """Play all games (at least one) with a reward of :class:`skyenv.GameOptions`.

        Raises:
            AgentError, CheckpointError: an agent can't be made, or failed.
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
    """A source of the finished games of records.

    Attributes:
        places: each game's file, first byte, number of bytes and number of its first line.
        unfinished: number of games without an end, which are left out.
        digest: digest of all files' content.
    """

    places: tuple[tuple[Path, int, int, int], ...]
    unfinished: int
    digest: str

    @classmethod
    def of(cls, paths: Sequence[Path]) -> "Records":
        """Index the games of record files, and of the record files (.jsonl) of folders.

        Raises:
            DatasetError: a folder has no record, or is a tournament's. RecordError: a file is not a
                record. OSError: a file can't be read.
        """
        digest, places, unfinished = hashlib.sha256(), [], 0
        for path in [file for one in paths for file in _files(one)]:
            content = path.read_bytes()
            digest.update(hashlib.sha256(content).digest())
            found = list(parts(io.BytesIO(content)))
            with named(path):
                if not found:
                    fail(1, fault_of(content) or "a game must begin with its header")
                for part in found:
                    lines = part.content.splitlines()
                    if TASK_FORMAT.encode() in lines[0]:
                        fail(part.line, "a task's record; datasets need whole games")
                    if re.search(rb'"event"\s*:\s*"end"', lines[-1]):
                        places.append((path, part.start, len(part.content), part.line))
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
        """See :class:`Matches`; every line is validated.

        Raises:
            RecordError: an invalid line, or a null byte in an agent's name, which HDF5 can't hold.
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
                    fail(line, "an agent's name contains a null byte")
                game = begin(lines, reward)
                moves = follow(game, lines)
                while True:
                    codes = codes_of(game.observation())[np.newaxis]
                    seat, mask = game.batch.seat.copy(), game.batch.mask.copy()
                    events = next(moves, None)
                    if events is None:
                        break
                    action = np.array([events[0]["action"]])
                    collector.add(
                        game=row + number, seat=seat, action=action, mask=mask, codes=codes
                    )
                    collector.played(game.batch, row, row + number)
                if not game.is_over:
                    fail(line, "the record ends before the game does")
                seeds.append(NONE if game.seed is None else game.seed)
        return collector.trajectories(names, seeds)


Source = Matches | Records


def _files(path: Path) -> list[Path]:
    """Return the record files of a path on the command line; raise DatasetError if none."""
    if not path.is_dir():
        return [path]
    if (path / GAMES).exists() and (path / CONFIG).exists():
        raise DatasetError(f"{path} is a tournament's folder, which has no records")
    found = sorted(path.glob("*.jsonl"))
    if not found:
        raise DatasetError(f"{path} has no records (.jsonl)")
    return found
