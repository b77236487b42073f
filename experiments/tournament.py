"""A ladder of agents: ``python -m experiments.tournament random crowd greedy --players 2 --deals 500 --out runs/ladder``.

**Who meets whom.** A deal is a seed: setup, stacks and Alea's cards. All agents play the same deals, every deal in all these
seatings, so that the luck of the deal and that of the seat cancel:

* Every pair: each of the two alone against the other in all other seats, alone once in each seat. With two players that are
  two games a pair, with N > 2 players 2 · N.
* With three or four players and at least as many agents also *mixed tables* of N different agents: the agents stand in a circle,
  in an order drawn anew for each deal, every N neighbours make a table, and every table plays in all N rotations. So an agent has
  N² such games a deal, N in every seat, and the work grows with the number of agents and not with that of their combinations.

**What is written.** A folder: config.json (what is played), games.jsonl (a line a game, appended and flushed to the disk as
units of work are finished, with lines about the time that agents took between them), and ladder.txt, ladder.json and ladder.png
(see experiments/ladder.py). The same command, or ``--resume``, goes on where the folder ends: what isn't there as a whole (a
pair's or the mixed games of a deal) is played again, and nothing counts twice. Only deals with all their games count.

**How.** Processes play units of work: some deals of one pair, or of the mixed tables. If one dies, its unit is given to
another. Deals go in rounds; with ``--minutes`` there is a next round as long as the time is likely to suffice.

``--add NEWCOMER`` rates an agent against the ladder that ships in docs/ladder (see
:func:`experiments.ratings.rate_newcomer`): the pairs and mixed tables with the newcomer are played.

Exit codes: 0 all right, 1 a file is bad, 2 the command or an agent is, 130 interrupted (after the report).
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import shlex
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from types import FrameType
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

import skyenv
from agents import NAMES
from agents import agent as make_agent
from experiments import ladder
from experiments.commands import INTERRUPTED, Parser, complain, exit_code, whole
from experiments.files import write_atomically
from experiments.matches import Played, play_games
from experiments.ratings import GameResults, rate, rate_newcomer
from experiments.workers import Notes, run_units
from skyenv.agents import Agent, Decisions
from skyenv.errors import AgentError, CheckpointError, OptionError
from skyenv.games import DEFAULT_MAX_TURNS, HIGHEST_SEED, check_integer
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES

FORMAT: Final = 1
DEFAULT_DEALS: Final = 200
MOST_DEALS: Final = 10**7
LARGEST_ROUND: Final = 256
"""Deals of a round at most: batches of 512 games and more bring no more speed."""
ROUND_SECONDS: Final = 60.0
"""How long a round should take at most: Ctrl-C leaves its deals unfinished."""

Group = tuple[int, ...]
"""Agents, counted from 0, that play a deal's games with each other: two (a pair), or all (the mixed tables)."""


# ---- who meets whom ----


@dataclass(frozen=True)
class Entrant:
    """An agent as config.json has it; `digest` is the SHA-256 of a checkpoint's file, else empty."""

    spec: str
    name: str
    version: str
    description: str
    digest: str = ""


@dataclass(frozen=True)
class Settings:
    """What is played. Deal i has the seed `seed` + i.

    Attributes:
        agents: those who play.
        players, side, seed, max_turns: as for :class:`skyenv.Games`.
        newcomer: whether only games with agent 0 are played.
        project: version of skyenv.
    """

    agents: tuple[Entrant, ...]
    players: int
    side: str = "front"
    seed: int = 1
    max_turns: int = DEFAULT_MAX_TURNS
    newcomer: bool = False
    project: str = skyenv.__version__

    def groups(self) -> list[Group]:
        """Who plays with whom in every deal."""
        everybody = range(len(self.agents))
        found: list[Group] = [pair for pair in itertools.combinations(everybody, 2) if 0 in pair or not self.newcomer]
        if self.players > 2 and len(self.agents) >= self.players:
            found.append(tuple(everybody))
        return found

    def seatings(self, group: Group, deal: int) -> npt.NDArray[np.int64]:
        """The games of a group in a deal: int64 (games, players), the agent of each seat."""
        return pair_seatings(group, self.players) if len(group) == 2 else self._mixed_tables(deal)

    def _mixed_tables(self, deal: int) -> npt.NDArray[np.int64]:
        circle = np.random.default_rng([self.seed, deal]).permutation(len(self.agents))
        number = len(circle) if len(circle) > self.players else 1  # with as many agents as seats all tables are the same one
        tables = np.stack([np.roll(circle, -first)[: self.players] for first in range(number)])
        if self.newcomer:
            tables = tables[(tables == 0).any(axis=1)]
        return np.concatenate([np.roll(tables, turn, axis=1) for turn in range(self.players)]).astype(np.int64)

    def games_a_deal(self) -> int:
        """How many games a deal has."""
        return sum(len(self.seatings(group, 0)) for group in self.groups())

    def group_of(self, seats: Sequence[int]) -> Group:
        """The group that a game belongs to."""
        members = tuple(sorted(set(seats)))
        return members if len(members) == 2 else tuple(range(len(self.agents)))


@cache
def pair_seatings(pair: Group, players: int) -> npt.NDArray[np.int64]:
    """Each of two agents alone against the other, once in each seat: int64 (games, players)."""
    alone = np.eye(players, dtype=bool)
    one = np.where(alone, pair[0], pair[1])
    return one if players == 2 else np.concatenate([one, np.where(alone, pair[1], pair[0])])


def entrants(specs: Sequence[str]) -> tuple[Entrant, ...]:
    """The agents that specifications mean.

    Raises:
        AgentError, CheckpointError: one can't be made. OptionError: two have one name.
    """
    found: list[Entrant] = []
    for spec in specs:
        agent = make_agent(spec)
        path = Path(spec)
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        if agent.name in [other.name for other in found]:
            raise OptionError(f"two agents are called {agent.name}; a ladder tells agents apart by their names")
        found.append(Entrant(spec, agent.name, str(agent.version), agent.description, digest))
    return tuple(found)


# ---- the games that were played ----

Game = dict[str, Any]
"""A line of games.jsonl: deal, seats, shares, scores, turns, decisions, truncated."""

KEYS: Final = {"deal", "seats", "shares", "scores", "turns", "decisions", "truncated"}


class Folder:
    """A tournament's folder: its settings, and the games that are finished.

    Args:
        path: the folder; made if it isn't there.
        settings: what is played there.

    Attributes:
        games: the finished games, by deal and group; whole groups only.
        spent: of each agent, the decisions that were timed and the seconds that they took.

    Raises:
        CheckpointError: the folder was made with other settings, or a file of it is damaged.
        OSError: the folder can't be made, read or written.
    """

    def __init__(self, path: Path, settings: Settings) -> None:
        self.path = path
        self.settings = settings
        self.games: dict[tuple[int, Group], list[Game]] = {}
        self.spent = np.zeros((len(settings.agents), 2))
        self._groups = set(settings.groups())
        path.mkdir(parents=True, exist_ok=True)
        self._agree()
        self._read()
        self._file = open(path / "games.jsonl", "ab")  # noqa: SIM115 (closed by close)

    def close(self) -> None:
        """Close the file of games."""
        self._file.close()

    def _agree(self) -> None:
        wanted = json.loads(json.dumps({"format": FORMAT, **asdict(self.settings)}))
        config = self.path / "config.json"
        if not config.exists():
            if (self.path / "games.jsonl").exists():
                raise CheckpointError(f"{self.path} holds games.jsonl but no config.json that says what was played")
            write_atomically(config, json.dumps(wanted, indent=2, ensure_ascii=False) + "\n")
            return
        found = read_json(config)
        for key, value in wanted.items():
            if found.get(key) != value:
                raise CheckpointError(
                    f"{self.path} was made with other settings: {key} was {_brief(found.get(key))}, is {_brief(value)};"
                    f" choose another folder"
                )

    def _read(self) -> None:
        """Take in what was played; write the file anew if a part of it is of no use."""
        path = self.path / "games.jsonl"
        content = path.read_bytes() if path.exists() else b""
        lines = content.splitlines(keepends=True)
        found: dict[tuple[int, Group], dict[tuple[int, ...], Game]] = {}
        kept = len(lines)
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                kept -= 1  # the last one, half-written
                continue
            entry = self._parsed(line, number)
            if "spent" in entry:
                self._note_time(entry["spent"])
                continue
            seats = tuple(entry["seats"])
            found.setdefault((entry["deal"], self.settings.group_of(seats)), {}).setdefault(seats, entry)
        for (deal, group), games in found.items():
            expected = [tuple(seats) for seats in self.settings.seatings(group, deal).tolist()]
            if not set(games) <= set(expected):
                raise CheckpointError(f"{path}: deal {deal} has a game that this tournament doesn't play; the file is damaged")
            if len(games) == len(expected):
                self.games[deal, group] = [games[seats] for seats in expected]
        useful = self.number() + sum(b'"spent"' in line for line in lines[:kept])
        if useful < len(lines):
            timing = [line for line in lines[:kept] if b'"spent"' in line]
            write_atomically(path, b"".join([*(_line(game) for games in self.games.values() for game in games), *timing]))

    def _parsed(self, line: bytes, number: int) -> Any:
        try:
            entry = json.loads(line)
            if "spent" in entry:
                ok = all(self._possible_time(name, *pair) for name, pair in entry["spent"].items())
            else:
                ok = set(entry) == KEYS and self._possible(entry)
        except (ValueError, TypeError, AttributeError):
            ok = False
        if not ok:
            raise CheckpointError(
                f"{self.path / 'games.jsonl'}: line {number} is no game of this tournament; the file is damaged"
            )
        return entry

    def _possible(self, game: Game) -> bool:
        players = self.settings.players
        if not all(isinstance(game[key], list) and len(game[key]) == players for key in ("seats", "shares", "scores")):
            return False
        numbers = (game["deal"], game["turns"], game["decisions"], *game["seats"], *game["scores"])
        if not all(type(number) is int for number in numbers) or min(numbers[:3]) < 0 or type(game["truncated"]) is not bool:
            return False
        if not all(type(share) in (int, float) and 0 <= share <= 1 for share in game["shares"]):
            return False
        if abs(sum(game["shares"]) - 1) > 1e-6:
            return False
        return self.settings.group_of(game["seats"]) in self._groups

    def _possible_time(self, agent: str, decisions: float, seconds: float) -> bool:
        known = agent.isdigit() and int(agent) < len(self.settings.agents)
        return known and all(type(number) in (int, float) and 0 <= number < 1e18 for number in (decisions, seconds))

    def _note_time(self, spent: dict[str, list[float]]) -> None:
        for agent, (decisions, seconds) in spent.items():
            self.spent[int(agent)] += decisions, seconds

    def add(self, group: Group, games: Sequence[Game], spent: dict[str, list[float]]) -> None:
        """Keep the games of some deals of a group, on the disk first."""
        lines = [_line(game) for game in games]
        if spent:
            lines.append(_line({"spent": spent}))
        self._file.write(b"".join(lines))
        self._file.flush()
        os.fsync(self._file.fileno())
        for game in games:
            self.games.setdefault((game["deal"], group), []).append(game)
        self._note_time(spent)

    def number(self) -> int:
        """How many games are finished."""
        return sum(map(len, self.games.values()))

    def whole_deals(self) -> list[int]:
        """The deals with all their games, in order."""
        groups = len(self._groups)
        deals, counts = np.unique([deal for deal, _ in self.games], return_counts=True)
        return [int(deal) for deal in deals[counts == groups]]

    def results(self) -> GameResults:
        """The games of the whole deals, in an order that doesn't depend on how they came."""
        games = [game for deal in self.whole_deals() for group in self.settings.groups() for game in self.games[deal, group]]
        players = self.settings.players
        return GameResults(
            deals=np.array([game["deal"] for game in games], np.int64),
            seats=np.array([game["seats"] for game in games], np.int64).reshape(-1, players),
            shares=np.array([game["shares"] for game in games], np.float64).reshape(-1, players),
            scores=np.array([game["scores"] for game in games], np.int64).reshape(-1, players),
        )

    def speeds(self) -> list[float | None]:
        """Decisions per second of each agent, in its `act`; None where nothing was timed."""
        return [float(decisions / seconds) if seconds > 0 else None for decisions, seconds in self.spent]


def _line(entry: dict[str, Any]) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode() + b"\n"


def _brief(value: Any) -> str:
    """A setting in an error message."""
    names = [agent["name"] for agent in value] if isinstance(value, list) else None
    text = json.dumps(value if names is None else value if len(json.dumps(value)) < 200 else names, ensure_ascii=False)
    return text if len(text) <= 200 else text[:197] + "…"


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file.

    Raises:
        CheckpointError: it is damaged. OSError: it can't be read.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CheckpointError(f"{path} is damaged: {error}") from error
    if not isinstance(found, dict):
        raise CheckpointError(f"{path} is damaged: it holds no object")
    return found


# ---- playing, in a worker ----


@dataclass(frozen=True)
class Unit:
    """Work for one process: a group's games of some deals."""

    group: Group
    deals: tuple[int, ...]


class Watched(Agent):
    """An agent whose decisions are timed, and who notes whom it is asked for.

    Attributes:
        spent: decisions and seconds; the first call isn't counted, as it may compile or load something.
    """

    def __init__(self, inner: Agent, index: int, notes: Notes) -> None:
        self.inner, self.index, self.notes = inner, index, notes
        self.name, self.version, self.description = inner.name, inner.version, inner.description
        self.uses_observation, self.uses_view = inner.uses_observation, inner.uses_view
        self.spent = [0.0, 0.0]
        self.called = False

    def act(self, decisions: Decisions) -> npt.NDArray[np.integer[Any]]:
        """See :class:`skyenv.agents.Agent`."""
        self.notes[1], self.notes[2] = self.index, int(decisions.seat[0])
        started = time.perf_counter()
        actions = self.inner.act(decisions)
        if self.called:
            self.spent[0] += len(decisions)
            self.spent[1] += time.perf_counter() - started
        self.called = True
        return actions


class Playing:
    """Plays units in a worker process; the agents are made when they are first needed.

    Args:
        settings: what is played.
        notes: three numbers: the deal that is played alone or −1, the agent that was asked last, and its seat.
    """

    def __init__(self, settings: Settings, notes: Notes) -> None:
        self.settings, self.notes = settings, notes
        self.agents: dict[int, Watched] = {}

    def __call__(self, unit: Unit, careful: bool) -> tuple[list[Game], dict[str, list[float]]]:
        """The games of a unit, and the decisions and seconds of each agent.

        Raises:
            AgentError: an agent failed, in the batch and when its game was played alone.
        """
        seatings = [self.settings.seatings(unit.group, deal) for deal in unit.deals]
        deals = np.repeat(unit.deals, [len(seats) for seats in seatings])
        seats = np.concatenate(seatings)
        used = {int(index): self._agent(int(index)) for index in np.unique(seats)}
        for agent in used.values():
            agent.spent = [0.0, 0.0]
        self.notes[0] = -1
        if careful:
            games = self._one_by_one(used, seats, deals)
        else:
            try:
                games = self._play(used, seats, deals)
            except Exception:  # an agent may do anything; alone it shows which deal it fails in, or that it was bad luck
                games = self._one_by_one(used, seats, deals)
        return games, {str(index): agent.spent for index, agent in used.items() if agent.spent[0]}

    def _agent(self, index: int) -> Watched:
        if index not in self.agents:
            self.agents[index] = Watched(make_agent(self.settings.agents[index].spec), index, self.notes)
        return self.agents[index]

    def _play(self, used: dict[int, Watched], seats: npt.NDArray[np.int64], deals: npt.NDArray[np.int64]) -> list[Game]:
        seating = np.searchsorted(list(used), seats)
        seeds = self.settings.seed + deals
        played = play_games(list(used.values()), seating, seeds, self.settings.side, max_turns=self.settings.max_turns)
        if played.interrupted:
            raise AgentError("an agent raised KeyboardInterrupt")
        return _as_games(played, seats, deals)

    def _one_by_one(self, used: dict[int, Watched], seats: npt.NDArray[np.int64], deals: npt.NDArray[np.int64]) -> list[Game]:
        found: list[Game] = []
        for row in range(len(deals)):
            self.notes[0] = int(deals[row])
            try:
                found += self._play(used, seats[[row]], deals[[row]])
            except Exception as error:
                first_line = (str(error).splitlines() or [""])[0]
                where = culprit(self.settings, list(self.notes))
                raise AgentError(f"{where} failed: {type(error).__name__}: {first_line:.200}") from None
        return found


def _as_games(played: Played, seats: npt.NDArray[np.int64], deals: npt.NDArray[np.int64]) -> list[Game]:
    return [
        {
            "deal": int(deals[row]),
            "seats": seats[row].tolist(),
            "shares": played.shares[row].tolist(),
            "scores": played.scores[row].tolist(),
            "turns": int(played.turns[row]),
            "decisions": int(played.decisions[row]),
            "truncated": bool(played.truncated[row]),
        }
        for row in range(len(deals))
    ]


def culprit(settings: Settings, notes: list[int]) -> str:
    """Which agent was asked in which deal and seat, by a worker's notes."""
    deal, index, seat = notes
    return f"agent {settings.agents[index].name}, in deal {deal} (seed {settings.seed + deal}), seat {seat},"


# ---- the whole tournament ----


class Tournament:
    """Plays a tournament in a folder, as long as is asked for.

    Args:
        folder: where.
        deals: how many; None if the time decides.
        minutes: how long at most; None for no limit.
        workers: processes.
        progress: show a bar on stderr.

    Attributes:
        interrupted: whether Ctrl-C ended it early.
    """

    def __init__(
        self, folder: Folder, *, deals: int | None = None, minutes: float | None = None, workers: int = 1, progress: bool = False
    ) -> None:
        self.folder, self.settings = folder, folder.settings
        self.deals, self.minutes, self.workers, self.progress = deals, minutes, workers, progress
        self.interrupted = False
        self.played = 0
        self.started = time.perf_counter()
        self.before = self.started, 0  # when the last round was made, and how many games there were
        self.seconds_a_deal = 0.0

    def run(self) -> None:
        """Play.

        Raises:
            AgentError: an agent keeps failing. OSError: a file can't be written.
        """
        self.started = time.perf_counter()
        self.before = self.started, 0
        total = None if self.deals is None else self.deals * self.settings.games_a_deal()
        here = sum(len(games) for (deal, _), games in self.folder.games.items() if self.deals is None or deal < self.deals)
        previous = signal.signal(signal.SIGINT, self._stop)
        hidden = None if self.progress else True
        try:
            with tqdm(total=total, initial=here, unit="game", disable=hidden, file=sys.stderr, dynamic_ncols=True) as self.bar:
                run_units(
                    partial(Playing, self.settings), self._units(), self.workers,
                    done=self._keep, tick=self._tick, lost=lambda unit, notes: culprit(self.settings, notes) + " was asked last",
                )  # fmt: skip
        finally:
            signal.signal(signal.SIGINT, previous)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.interrupted = True
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a second Ctrl-C doesn't wait for anything

    def _tick(self) -> bool:
        if self.minutes is not None:
            left = max(0, round(self._time_left()))
            self.bar.set_postfix_str(f"{left // 60}:{left % 60:02} left", refresh=False)
        return not self.interrupted

    def _keep(self, unit: Unit, result: tuple[list[Game], dict[str, list[float]]]) -> None:
        games, spent = result
        self.folder.add(unit.group, games, spent)
        self.played += len(games)
        self.bar.update(len(games))

    def _time_left(self) -> float:
        return 60 * self.minutes - (time.perf_counter() - self.started) if self.minutes is not None else float("inf")

    def _units(self) -> Iterator[Unit]:
        """What is to be played, round by round."""
        first, size = 0, 1
        limit = MOST_DEALS if self.deals is None else self.deals
        while first < limit:
            size = min(self._round(size), limit - first)
            if size == 0:
                return
            for group in self.settings.groups():
                missing = tuple(deal for deal in range(first, first + size) if (deal, group) not in self.folder.games)
                if missing:
                    yield Unit(group, missing)
            first += size

    def _round(self, size: int) -> int:
        """Deals of the next round, by the pace of the last one; 0 if not even one is likely to be finished in time."""
        if not self.played:
            return 1
        now = time.perf_counter()
        if self.played > self.before[1]:
            games = (self.played - self.before[1]) / self.settings.games_a_deal()
            self.seconds_a_deal = (now - self.before[0]) / games
            self.before = now, self.played
        time_left = self._time_left()
        if time_left < self.seconds_a_deal:
            return 0
        return max(1, min(2 * size, LARGEST_ROUND, int(min(ROUND_SECONDS, time_left) / self.seconds_a_deal)))


# ---- the command line ----


def _parser() -> Parser:
    parser = Parser(
        "tournament", "Let agents play against each other, and rate them; or rate a newcomer against the shipped ladder."
    )
    add = parser.add_argument
    known = ", ".join(NAMES)
    add("agents", nargs="*", metavar="AGENT", help=f"{known}, a checkpoint (model.zip), or module:Name; two or more")
    add("--add", metavar="AGENT", help="rate this agent against the shipped ladder, instead of agents against each other")
    add("--players", type=whole(MIN_PLAYERS, MAX_PLAYERS), metavar="N", help="2, 3 or 4 (default: 2)")
    add("--side", choices=SIDES, help="side of the board (default: front)")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--deals", type=whole(1, MOST_DEALS), metavar="N", help=f"deals (default: {DEFAULT_DEALS})")
    length.add_argument("--minutes", type=minutes, metavar="M", help="as many deals as can be played in so many minutes")
    add("--seed", type=whole(0, 2**62), metavar="S", help="seed of the first deal (default: 1)")
    add("--max-turns", type=whole(1, 2**31 - 1), metavar="N", help=f"turns after which a game is truncated ({DEFAULT_MAX_TURNS})")
    add("--workers", type=whole(1, 1024), default=cores(), metavar="W", help="processes (default: one for each core)")
    add("--out", type=Path, metavar="FOLDER", help="where games and ladder are written; a folder that is there is gone on with")
    add("--resume", action="store_true", help="go on with FOLDER as it was begun")
    add("--ladder", type=Path, metavar="FILE", help="the ladder for --add (default: docs/ladder/N-players.json)")
    add("--publish", type=Path, nargs="?", const=ladder.SHIPPED, metavar="FOLDER",
        help="copy the ladder to docs/ladder (or FOLDER) as the one that ships")  # fmt: skip
    return parser


def minutes(text: str) -> float:
    """A parser of minutes on the command line."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError(f"must be a number of minutes above 0, not {text[:40]!r}")
    return number


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code (see the module's text)."""
    options = _parser().parse_args(arguments)
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # for module:Name, however this program was started
    return exit_code("tournament", lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    if options.add is not None:
        return _run_newcomer(options)
    if options.ladder is not None:
        raise OptionError("--ladder goes with --add")
    if options.out is None:
        raise OptionError("--out FOLDER is needed")
    folder = Folder(options.out, _settings(options))
    try:
        tournament = _play(folder, options)
        if not folder.whole_deals():
            complain("tournament", "interrupted before the first deal was finished")
            return INTERRUPTED
        _report(folder, options, tournament)
    finally:
        folder.close()
    return _end(tournament)


def _play(folder: Folder, options: argparse.Namespace) -> Tournament:
    deals = options.deals if options.deals or options.minutes else DEFAULT_DEALS
    tournament = Tournament(folder, deals=deals, minutes=options.minutes, workers=options.workers, progress=True)
    tournament.run()
    return tournament


def _end(tournament: Tournament) -> int:
    if tournament.interrupted:
        complain("tournament", "interrupted; the same command goes on")
        return INTERRUPTED
    return 0


def _settings(options: argparse.Namespace) -> Settings:
    """What the command asks for; with --resume, what it doesn't say is as it was."""
    config = options.out / "config.json"
    before: dict[str, Any] = {}
    if options.resume:
        if not config.exists():
            raise CheckpointError(f"there is nothing to go on with in {options.out}: it has no config.json")
        before = read_json(config)
    try:
        specs = options.agents or [agent["spec"] for agent in before.get("agents", [])]
    except (TypeError, KeyError) as error:
        raise CheckpointError(f"{config} is damaged: its agents have no spec") from error
    if len(specs) < 2:
        raise OptionError("a tournament needs at least two agents")
    return _checked(Settings(entrants(specs), **_chosen(options, before)))


def _chosen(options: argparse.Namespace, before: dict[str, Any]) -> dict[str, Any]:
    """The options that were given, or were before, or are the usual ones."""
    usual = {"players": 2, "side": "front", "seed": 1, "max_turns": DEFAULT_MAX_TURNS}
    given = {name: getattr(options, name) for name in usual}
    return {name: before.get(name, usual[name]) if given[name] is None else given[name] for name in usual}


def _checked(settings: Settings) -> Settings:
    check_integer("seed", settings.seed, 0, HIGHEST_SEED - MOST_DEALS)
    return settings


def _report(folder: Folder, options: argparse.Namespace, tournament: Tournament) -> None:
    settings = folder.settings
    ratings = rate(folder.results(), [agent.name for agent in settings.agents], settings.seed)
    found = ladder.as_dict(ratings, asdict(settings), folder.speeds(), command(settings, len(folder.whole_deals())))
    text = ladder.table(found)
    print(text)
    write_atomically(folder.path / "ladder.txt", text + "\n")
    write_atomically(folder.path / "ladder.json", ladder.as_json(found))
    ladder.plot(found, folder.path / "ladder.png")
    if options.publish is not None and not tournament.interrupted:
        ladder.publish(folder.path, settings.players, options.publish)


def command(settings: Settings, deals: int) -> str:
    """The command that plays the same games: so many deals of this tournament."""
    words = ["python", "-m", "experiments.tournament", *(agent.spec for agent in settings.agents)]
    options = {"players": settings.players, "side": settings.side, "max-turns": settings.max_turns, "seed": settings.seed}
    for name, value in {**options, "deals": deals}.items():
        words += [f"--{name}", str(value)]
    return shlex.join(words)


# ---- a newcomer ----


def _run_newcomer(options: argparse.Namespace) -> int:
    if options.agents or options.publish is not None:
        raise OptionError("--add takes one agent, and goes with neither other agents nor --publish")
    players = options.players or 2
    shipped = ladder.read(options.ladder or ladder.SHIPPED / f"{players}-players.json", players)
    for name in ("side", "max_turns"):
        if getattr(options, name) not in (None, shipped[name]):
            raise OptionError(f"the ladder was played with {name} {shipped[name]}, not {getattr(options, name)}")
    settings = _newcomer_settings(options, shipped, players)
    if options.out is not None:
        return _rate_newcomer(options, settings, shipped, options.out)
    with tempfile.TemporaryDirectory(prefix="skyenv-") as name:  # the next try may be another agent of the same name
        return _rate_newcomer(options, settings, shipped, Path(name))


def _newcomer_settings(options: argparse.Namespace, shipped: dict[str, Any], players: int) -> Settings:
    (newcomer,) = entrants([options.add])
    if newcomer.name in [rung["name"] for rung in shipped["agents"]]:
        newcomer = replace(newcomer, name=f"new {newcomer.name}")
    rungs = entrants([rung["spec"] for rung in shipped["agents"]])
    for rung, old in zip(rungs, shipped["agents"], strict=True):
        if (rung.version, rung.digest) != (old["version"], old["digest"]):
            print(
                f"tournament: warning: {rung.name} is version {rung.version} here, but {old['version']} in the ladder"
                f"{' (another file)' if rung.digest != old['digest'] else ''}: its rating there may not be its strength here",
                file=sys.stderr,
            )
    seed = 1 if options.seed is None else options.seed
    return _checked(Settings((newcomer, *rungs), players, shipped["side"], seed, max_turns=shipped["max_turns"], newcomer=True))


def _rate_newcomer(options: argparse.Namespace, settings: Settings, shipped: dict[str, Any], path: Path) -> int:
    folder = Folder(path, settings)
    try:
        tournament = _play(folder, options)
        if not folder.whole_deals():
            complain("tournament", "interrupted before the first deal was finished")
            return INTERRUPTED
        points = [rung["rating"]["mean"] for rung in shipped["agents"]]
        newcomer = rate_newcomer(folder.results(), points, shipped["samples"], settings.seed)
        found = ladder.newcomer_as_dict(newcomer, asdict(settings.agents[0]), shipped, folder.speeds()[0])
        print(ladder.newcomer_table(found))
        if options.out is not None:
            write_atomically(path / "newcomer.json", ladder.as_json(found))
    finally:
        folder.close()
    return _end(tournament)


if __name__ == "__main__":
    sys.exit(main())
