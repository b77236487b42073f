"""A tournament's folder: what is played there, and the games that are finished.

config.json says what is played, games.jsonl has a line for every game, appended and flushed to the
disk as tasks are finished, with lines about the time that agents took between them. Every line, and
config.json, has a checksum (CRC-32), so that a damaged one is found out. What isn't there as a
whole (a pair's or the mixed games of a paired seed) is played again, and nothing counts twice.
One process has the folder at a time (:func:`skyenv.files.locked`).
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from skyenv.arena.ratings import GameResults
from skyenv.arena.schedule import Group, Settings
from skyenv.errors import CheckpointError
from skyenv.files import locked, parse_json, read_json, write_atomically
from skyenv.seeds import fresh_seed

FORMAT: Final = 4
"""Of the folder: 1 had neither checksums nor a secret, 2 other keys, 3 other deals and tables; in
4 newcomers once met some agents of the ladder alone (`rungs`).
"""
CONFIG: Final = "config.json"
GAMES: Final = "games.jsonl"
CHECKSUM: Final = "crc32"
SPENT: Final = "spent"

Game = dict[str, Any]
"""A line of games.jsonl: paired_seed, seats, shares, scores, turns, decisions, truncated."""

Spent = dict[str, list[float]]
"""Of agents, by their number as text: decisions, and the seconds that they took."""


class Folder:
    """A tournament's folder; a context manager that closes it.

    Args:
        path: the folder; made if it isn't there.
        settings: what is played there.
        begun: options beside the settings, which a new folder's config.json keeps for who goes on;
            they may be others then.

    Attributes:
        games: the finished games, by paired seed and group; whole groups only.
        spent: of each agent, the decisions that were timed and the seconds that they took.

    Raises:
        FolderInUseError: another process works there.
        CheckpointError: the folder was made with other settings, or a file of it is damaged.
        OSError: the folder can't be made, read or written.
    """

    def __init__(self, path: Path, settings: Settings, **begun: Any) -> None:
        self.path = path
        self.settings = settings
        self.games: dict[tuple[int, Group], list[Game]] = {}
        self.spent = np.zeros((len(settings.agents), 2))
        with ExitStack() as held:
            held.enter_context(locked(path))
            self._agree(begun)
            self._read()
            self._file = held.enter_context(open(path / GAMES, "ab"))
            self._held = held.pop_all()

    def close(self) -> None:
        """Let others have the folder."""
        self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _agree(self, begun: dict[str, Any]) -> None:
        wanted = json.loads(json.dumps({"format": FORMAT, **asdict(self.settings)}))
        config = read_config(self.path)
        if not config:
            if (self.path / GAMES).exists():
                raise CheckpointError(
                    f"{self.path} holds {GAMES} but no {CONFIG} that says what was played"
                )
            new = {**wanted, **begun}
            content = json.dumps({**new, CHECKSUM: checksum(new)}, indent=2, ensure_ascii=False)
            write_atomically(self.path / CONFIG, content + "\n")
        for key, value in wanted.items():
            if config and _told_apart(config.get(key)) != _told_apart(value):
                raise CheckpointError(
                    f"{self.path} was made with other settings: {key} was "
                    f"{_brief(config.get(key))}, is {_brief(value)};"
                    f" choose another folder"
                )

    def _read(self) -> None:
        """Take in what was played; write the file anew if a part of it is of no use."""
        path = self.path / GAMES
        *whole, half_written = (path.read_bytes() if path.exists() else b"").split(b"\n")
        entries = [self._parsed(line, number) for number, line in enumerate(whole, 1)]
        times = [entry for entry in entries if SPENT in entry]
        played: dict[tuple[int, Group], dict[tuple[int, ...], Game]] = {}
        for game in entries:
            if SPENT not in game:
                paired_seed = game["paired_seed"]
                place = paired_seed, self.settings.group_of(game["seats"], paired_seed)
                played.setdefault(place, {}).setdefault(tuple(game["seats"]), game)
        for (paired_seed, group), games in played.items():
            expected = self._seats_of(group, paired_seed)
            if not set(games) <= set(expected):
                raise CheckpointError(
                    f"{path}: paired seed {paired_seed} has a game that this tournament doesn't "
                    "play; the file is damaged"
                )
            if len(games) == len(expected):
                self.games[paired_seed, group] = [games[seats] for seats in expected]
        for entry in times:
            self._note_time(entry[SPENT])
        kept = [*(game for games in self.games.values() for game in games), *times]
        if half_written or len(whole) > len(kept):
            write_atomically(path, b"".join(map(line_of, kept)))

    def _seats_of(self, group: Group, paired_seed: int) -> list[tuple[int, ...]]:
        """Who has which seat in the games of a group in a paired seed; none if it doesn't play
        here.
        """
        if group not in self.settings.groups(paired_seed):
            return []
        return [tuple(seats) for seats in self.settings.seatings(group, paired_seed).tolist()]

    def _parsed(self, line: bytes, number: int) -> Any:
        try:
            entry = unsealed(parse_json(line))
            if (
                line_of(entry) != line + b"\n"
            ):  # 1E-05 for 1e-05: the same numbers, but a flipped bit
                raise ValueError("it is written otherwise than lines are")
            return entry
        except (ValueError, RecursionError) as error:
            raise CheckpointError(
                f"{self.path / GAMES}: line {number} is no game: {error}; the file is damaged"
            ) from None

    def _note_time(self, spent: Spent) -> None:
        for agent, (decisions, seconds) in spent.items():
            self.spent[int(agent)] += decisions, seconds

    def add(self, group: Group, games: Sequence[Game], spent: Spent) -> None:
        """Keep the games of some paired seeds of a group, on the disk first."""
        entries = [*games, *([{SPENT: spent}] if spent else [])]
        self._file.write(b"".join(map(line_of, entries)))
        self._file.flush()
        os.fsync(self._file.fileno())
        for game in games:
            self.games.setdefault((game["paired_seed"], group), []).append(game)
        self._note_time(spent)

    def number(self) -> int:
        """How many games are finished."""
        return sum(map(len, self.games.values()))

    def whole_paired_seeds(self) -> list[int]:
        """The paired seeds with all their games, in order."""
        paired_seeds, counts = np.unique(
            [paired_seed for paired_seed, _ in self.games], return_counts=True
        )
        groups = [len(self.settings.groups(int(paired_seed))) for paired_seed in paired_seeds]
        return [int(paired_seed) for paired_seed in paired_seeds[counts == groups]]

    def results(self) -> GameResults:
        """The games of the whole paired seeds, in an order that doesn't depend on how they came."""
        games = [
            game
            for paired_seed in self.whole_paired_seeds()
            for group in self.settings.groups(paired_seed)
            for game in self.games[paired_seed, group]
        ]
        players = self.settings.players
        return GameResults(
            paired_seeds=np.array([game["paired_seed"] for game in games], np.int64),
            seats=np.array([game["seats"] for game in games], np.int64).reshape(-1, players),
            shares=np.array([game["shares"] for game in games], np.float64).reshape(-1, players),
            scores=np.array([game["scores"] for game in games], np.int64).reshape(-1, players),
        )

    def speeds(self) -> list[float | None]:
        """Decisions per second of each agent, in its `act`; None where nothing was timed."""
        return [
            float(decisions / seconds) if seconds > 0 else None for decisions, seconds in self.spent
        ]


# ---- checksums ----


def read_config(path: Path) -> dict[str, Any]:
    """What a folder's config.json says; nothing if there is none.

    Raises:
        CheckpointError: it is damaged, or an older version wrote it. OSError: it can't be read.
    """
    config = path / CONFIG
    if not config.exists():
        return {}
    content = read_json(config)
    if content.get("format") in range(1, FORMAT) or "rungs" in content:
        raise CheckpointError(
            f"{path} was made by an older version, whose games can't be gone on with; choose "
            "another folder"
        )
    try:
        return unsealed(content)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{config} is damaged: {error}") from error


def secret_of(given: int | None, *folders: Path) -> int:
    """The secret of a tournament: the one that was asked for, or that of the first folder that has
    one, or a new one.
    """
    if given is not None:
        return given
    secrets = [config["secret"] for config in map(read_config, folders) if config]
    return secrets[0] if secrets else fresh_seed()


def checksum(entry: dict[str, Any]) -> str:
    """The CRC-32 of an entry's JSON text, 8 hexadecimal digits."""
    return f"{zlib.crc32(json.dumps(entry, separators=(',', ':')).encode()):08x}"


def line_of(entry: dict[str, Any]) -> bytes:
    """An entry with its checksum as a line of games.jsonl."""
    return json.dumps({**entry, CHECKSUM: checksum(entry)}, separators=(",", ":")).encode() + b"\n"


def unsealed(sealed: Any) -> dict[str, Any]:
    """An entry without its checksum.

    Raises:
        ValueError: it isn't an object, or doesn't have the checksum of its content.
    """
    if not isinstance(sealed, dict):
        raise ValueError("it is no object")
    entry = {key: value for key, value in sealed.items() if key != CHECKSUM}
    if sealed.get(CHECKSUM) != checksum(entry):
        raise ValueError("its checksum is not that of its content")
    return entry


def _told_apart(value: Any) -> Any:
    """What of a setting makes it another one: an agent's description doesn't."""
    is_agents = isinstance(value, list) and all(isinstance(one, dict) for one in value)
    return [{**one, "description": ""} for one in value] if is_agents else value


def _brief(value: Any) -> str:
    """A setting in an error message."""
    names = (
        [f"{agent['name']} {agent['version']}" for agent in value]
        if isinstance(value, list)
        else None
    )
    text = json.dumps(
        value if names is None else value if len(json.dumps(value)) < 200 else names,
        ensure_ascii=False,
    )
    return text if len(text) <= 200 else text[:197] + "…"
