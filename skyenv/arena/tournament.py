"""A tournament's folder of finished games, and the play of missing ones.

config.json holds the settings. games.jsonl has a line for every game, appended and flushed to disk
as jobs finish. Every line and config.json have a checksum (CRC-32), which detects damage. An
incomplete group (a pair's or the mixed games of a paired seed) is played again, and no game counts
twice. One process uses the folder at a time (:func:`skyenv.files.locked`).
"""

import json
import math
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from skyenv.arena.matches import play_games
from skyenv.arena.ratings import GameResults
from skyenv.arena.schedule import (
    MAX_PAIRED_SEEDS,
    Group,
    GroupSeeds,
    Settings,
    agent_of,
    rounds,
)
from skyenv.checks import check_integer
from skyenv.console.progress import progress as progress_bar
from skyenv.errors import AgentError, CheckpointError
from skyenv.files import (
    fault_of,
    locked,
    naming,
    parse_json,
    read_sealed,
    sealed,
    unsealed,
    write_atomically,
)
from skyenv.rules.variant import of_variant
from skyenv.seeds import LADDERS, fresh_seed
from skyenv.statistics import numbers_of
from skyenv.work import Interrupt, open_pool

# Version of the folder.
FORMAT: Final = of_variant(5)
CONFIG: Final = "config.json"
GAMES: Final = "games.jsonl"

# A line of games.jsonl: paired_seed, seats, shares, scores, turns, decisions, truncated.
Game = dict[str, Any]


class Folder(AbstractContextManager["Folder"]):
    """A tournament's folder; a context manager that closes it.

    Args:
        path: the folder; created if missing.
        settings: the tournament's settings.

    Attributes:
        games: the finished games, by paired seed and group; complete groups only.

    Raises:
        FolderInUseError: another process uses the folder.
        CheckpointError: the folder has other settings, or a file of it is damaged.
        OSError: the folder can't be created, read or written.
    """

    def __init__(self, path: Path, settings: Settings) -> None:
        self.path = path
        self.settings = settings
        self.games: dict[tuple[int, Group], list[Game]] = {}
        with ExitStack() as held:
            held.enter_context(locked(path))
            self._agree()
            self._read()
            self._file = held.enter_context(open(path / GAMES, "ab"))
            self._held = held.pop_all()

    def __exit__(self, *_: object) -> None:
        with naming(self.path / GAMES):  # closing retries a failed write
            self._held.close()

    def _agree(self) -> None:
        """Check that config.json has these settings; write it to a new folder."""
        wanted = _deciding({"format": FORMAT, **asdict(self.settings)})
        config = _deciding(read_config(self.path))
        others = [key for key, value in wanted.items() if config and config.get(key) != value]
        if others:
            raise CheckpointError(
                f"{self.path} was made with other settings ({', '.join(others)}; see {CONFIG}); "
                "choose another folder"
            )
        if not config and (self.path / GAMES).exists():
            raise CheckpointError(f"{self.path} holds {GAMES} but no {CONFIG} with its settings")
        if not config:
            write_atomically(self.path / CONFIG, json.dumps(sealed(wanted), indent=2) + "\n")

    def _read(self) -> None:
        """Read the finished games; rewrite the file if it has incomplete groups."""
        path = self.path / GAMES
        content = path.read_bytes() if path.exists() else b""
        if fault := fault_of(content):  # else it would pass for a half-written line
            raise CheckpointError(f"{path}: {fault}; the file is damaged")
        *whole, half_written = content.split(b"\n")
        found: dict[tuple[int, tuple[int, ...]], Game] = {}
        for number, line in enumerate(whole, 1):
            try:
                game = unsealed(parse_json(line))
                check_integer("paired_seed", game["paired_seed"], 0, MAX_PAIRED_SEEDS - 1)
                numbers_of([range(self.settings.players), game["shares"], game["scores"]])
                found.setdefault((game["paired_seed"], tuple(game["seats"])), game)
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                raise CheckpointError(
                    f"{path}: line {number} is not a game: {error}; the file is damaged"
                ) from None
        for paired_seed in {paired_seed for paired_seed, _ in found}:
            for group in self.settings.groups(paired_seed):
                seatings = self.settings.seatings(group, paired_seed).tolist()
                games = [found.pop((paired_seed, tuple(seats)), {}) for seats in seatings]
                if all(games):
                    self.games[paired_seed, group] = games
        if found:
            raise CheckpointError(f"{path} has games outside this tournament; the file is damaged")
        kept = [line_of(game) for games in self.games.values() for game in games]
        if half_written or len(whole) > len(kept):
            write_atomically(path, b"".join(kept))

    def add(self, group: Group, games: Sequence[Game]) -> None:
        """Store the games of some paired seeds of a group, on disk first."""
        with naming(self.path / GAMES):
            self._file.write(b"".join(map(line_of, games)))
            self._file.flush()
            os.fsync(self._file.fileno())
        for game in games:
            self.games.setdefault((game["paired_seed"], group), []).append(game)

    def whole_paired_seeds(self) -> list[int]:
        """Return the paired seeds with all their games, in order."""
        groups = Counter(paired_seed for paired_seed, _ in self.games)
        return [one for one in sorted(groups) if groups[one] == len(self.settings.groups(one))]

    def results(self) -> GameResults:
        """Return the games of the complete paired seeds, in an order independent of timing."""
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


# ---- checksums ----


def read_config(path: Path) -> dict[str, Any]:
    """Return the content of a folder's config.json; empty if it is missing.

    Raises:
        CheckpointError: damaged, or of another version. OSError: the file can't be read.
    """
    content = read_sealed(path / CONFIG)
    if content and (content.get("format") != FORMAT or "secret" not in content):
        raise CheckpointError(
            f"{path} was made by another version or variant (format {content.get('format')!r:.80}, "
            f"not {FORMAT}) and cannot be resumed; choose another folder"
        )
    return content


def _deciding(settings: dict[str, Any]) -> Any:
    """Return settings as JSON values, without agents' fields that do not affect games."""
    left_out = {"description", "searches_with"}
    return json.loads(
        json.dumps(settings),
        object_hook=lambda entry: {name: entry[name] for name in entry if name not in left_out},
    )


def secret_of(given: int | None, folder: Path) -> int:
    """Return a tournament's secret: the given one, its folder's, or a new one."""
    return read_config(folder).get("secret", fresh_seed()) if given is None else given


def line_of(entry: dict[str, Any]) -> bytes:
    """Return an entry with its checksum as a line of games.jsonl."""
    return json.dumps(sealed(entry), separators=(",", ":")).encode() + b"\n"


# ---- playing ----


def about(settings: Settings, job: GroupSeeds) -> str:
    """Return a job's description for an error."""
    *names, last = (settings.agents[index].name for index in job.group)
    first, end = (settings.seed + job.paired_seeds[place] for place in (0, -1))
    return f"{', '.join(names)} and {last} played seeds {first} to {end}"


def play_job(settings: Settings, job: GroupSeeds) -> list[Game]:
    """Play the games of a job.

    Raises:
        AgentError: an agent failed, or its checkpoint differs on this machine.
    """
    seatings = [settings.seatings(job.group, paired_seed) for paired_seed in job.paired_seeds]
    paired_seeds = np.repeat(job.paired_seeds, [len(seats) for seats in seatings])
    seats = np.concatenate(seatings)
    try:
        played = play_games(
            [agent_of(settings.agents[index]) for index in job.group],
            np.searchsorted(job.group, seats),
            settings.seed + paired_seeds,
            secret=settings.secret,
            purpose=LADDERS,
            options=settings.options,
        )
    except AgentError as error:
        raise AgentError(f"{error}, while {about(settings, job)}") from error
    return [
        {
            "paired_seed": int(paired_seeds[row]),
            "seats": seats[row].tolist(),
            "shares": played.shares[row].tolist(),
            "scores": played.scores[row].tolist(),
            "turns": int(played.turns[row]),
            "decisions": int(played.decisions[row]),
            "truncated": bool(played.truncated[row]),
        }
        for row in range(len(paired_seeds))
    ]


def play(
    folder: Folder,
    *,
    paired_seeds: int | None = None,
    minutes: float = math.inf,
    workers: int = 1,
    ray: str | None = None,
    progress: bool = False,
) -> bool:
    """Play a tournament in a folder.

    Args:
        folder: the tournament's folder.
        paired_seeds: their number; None: as many as the time allows.
        minutes: time after which no round starts.
        workers, ray: the pool, as for :func:`skyenv.work.open_pool`.
        progress: show a bar on stderr.

    Returns:
        Whether Ctrl-C interrupted it.

    Raises:
        AgentError: an agent failed. OSError: a file can't be written.
    """
    settings = folder.settings
    limit = paired_seeds or MAX_PAIRED_SEEDS
    total = sum(
        len(settings.seatings(group, one))
        for one in range(paired_seeds or 0)
        for group in settings.groups(one)
    )
    done = sum(len(games) for (number, _), games in folder.games.items() if number < limit)

    def missing(paired_seed: int) -> list[Group]:
        groups = settings.groups(paired_seed)
        return [group for group in groups if (paired_seed, group) not in folder.games]

    with (
        Interrupt() as interrupt,
        progress_bar(total or None, done=done, shown=progress) as bar,
        open_pool(workers, ray) as pool,
    ):
        for job, games in pool.results(
            partial(play_job, settings),
            rounds(missing, limit, pool.size, minutes=minutes),
            goes_on=interrupt.goes_on,
            about=partial(about, settings),
        ):
            folder.add(job.group, games)
            bar.update(len(games))
    return interrupt.asked
