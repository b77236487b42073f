"""What all trainings share: options by command line and TOML file, one folder per run, checkpoints, curves, Ctrl-C and resuming.

A run's folder holds:

    config.json       what was asked for              curve.jsonl, curves.png   how it went
    checkpoint.bin    to go on from, with --resume    tensorboard/              the same for TensorBoard
    model.npz, model.zip   the agent by this path     evaluation.*, games.jsonl how it plays in the end

The first Ctrl-C ends a run after the update under way, and so does SIGTERM. After ``kill -9`` ``--resume`` goes on from the last
checkpoint, on the same curve. A checkpoint holds pickled objects, which can run code when they are read: use only those that
you trust.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import pickle
import signal
import sys
import time
import tomllib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from types import FrameType
from typing import Any, Final, Generic, TypeVar

import numpy as np
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

from agents import agent as make
from agents.pool import SAMPLINGS, OpponentPool
from experiments.commands import INTERRUPTED, Parser
from experiments.curves import draw_curves
from experiments.evaluate import Result, as_json, evaluate, plot, record_games, table
from experiments.files import write_atomically
from skyenv import OBSERVATION_SIZE, __version__
from skyenv.agents import Agent
from skyenv.errors import AgentError, CheckpointError, OptionError, shown
from skyenv.games import check_choice, check_integer
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES

MAGIC: Final = b"skyenv-training-checkpoint-3\n"
DIGEST: Final = hashlib.sha256().digest_size
DEFAULT_MINUTES: Final = 5.0
RECENT_EPISODES: Final = 1000
"""The curves show means over this many latest episodes (for win shares: against each opponent)."""
FEWEST_EPISODES: Final = 50
"""Fewer games than this tell nothing yet."""
CLOSING_SEED: Final = 1_000_000
"""Seed of the closing evaluation beyond the run's: other deals than those of the training."""
SELF: Final = "self"
"""Name of the learner's frozen selves, in front of a number; the curves take them together."""


def option(default: Any, text: str, choices: Sequence[str] | None = None) -> Any:
    """A field of a configuration: its default, what ``--help`` says of it, and its allowed values if there are few."""
    return field(default=default, metadata={"help": text, "choices": choices})


@dataclass(frozen=True)
class RunConfig:
    """The options of every training. A run limited by `decisions` on a CPU is reproduced by its seed and threads."""

    run: str = option("runs/first", "folder of the run")
    players: str = option("2", "number of players, 2 to 4; several, as in 2,3,4, make one agent for all of them")
    side: str = option("front", "side of the board: front, back, or front,back")
    minutes: float = option(0.0, "train for so many minutes; 0: no limit, or 5 if decisions don't limit it either")
    decisions: int = option(0, "train for so many decisions of the learner; 0: no limit")
    seed: int = option(1, "seed of everything")
    max_turns: int = option(500, "turns after which a game is truncated")
    checkpoint_seconds: float = option(60.0, "seconds between two checkpoints")
    rivals: str = option("random,greedy", "whom the agent is measured against in the end, with commas")
    deals: int = option(300, "deals of that evaluation, each played once from every seat; 0: none")
    threads: int = option(1, "threads for the games and for torch; on a busy machine torch is slower with several")

    LIMITS = ("run", "minutes", "decisions", "checkpoint_seconds", "rivals", "deals")
    """Options that may change when a run is resumed."""

    def __post_init__(self) -> None:
        if self.minutes == 0 and self.decisions == 0:
            object.__setattr__(self, "minutes", DEFAULT_MINUTES)

    @property
    def tables(self) -> list[tuple[int, str]]:
        """Number of players and side of each kind of table that is trained on."""
        return [(int(players), side) for players in self.players.split(",") for side in self.side.split(",")]

    def shares(self, number: int) -> list[tuple[int, int, str]]:
        """So many games shared out among the kinds of tables: how many, their number of players, their side."""
        sizes = [len(part) for part in np.array_split(np.arange(number), len(self.tables))]
        return [(size, *table) for size, table in zip(sizes, self.tables, strict=True)]

    def check(self) -> None:
        """Raise OptionError, naming the option, if a value can't be used."""
        if not self.run:
            raise OptionError("run must name a folder")
        for players in self.players.split(","):
            if players not in [str(number) for number in range(MIN_PLAYERS, MAX_PLAYERS + 1)]:
                raise OptionError(f"players must be 2, 3 or 4, or several of them with commas, not {shown(self.players)}")
        for side in self.side.split(","):
            check_choice("side", side, SIDES)
        if len(set(self.tables)) != len(self.tables):
            raise OptionError(f"players {self.players} and side {self.side} name something twice")
        check_integer("seed", self.seed, 0, 2**32 - 1)  # SB3 takes no larger one
        if not self.make_agents("rivals") and self.deals:
            raise OptionError("rivals must name somebody to measure the agent against; or let deals be 0")
        self.check_integers(1, 10**7, "max_turns")
        self.check_integers(1, 1024, "threads")
        self.check_integers(0, 10**12, "decisions", "deals")
        self.check_numbers(0.0, float("inf"), "minutes", "checkpoint_seconds")

    def make_agents(self, name: str) -> list[Agent]:
        """The agents that an option of this name lists with commas.

        Raises:
            OptionError: there is no such agent. CheckpointError: a checkpoint among them can't be used.
        """
        specs = getattr(self, name)
        try:
            return [make(spec) for spec in specs.split(",")] if specs else []
        except AgentError as error:
            raise OptionError(f"{name}: {error}") from error

    def check_integers(self, lowest: int, highest: int, *names: str) -> None:
        """Raise OptionError unless the options of these names are from `lowest` to `highest`."""
        for name in names:
            check_integer(name, getattr(self, name), lowest, highest)

    def check_numbers(self, lowest: float, highest: float, *names: str, above: bool = False) -> None:
        """Raise OptionError unless these options are finite, from `lowest` (or `above` it) to `highest`."""
        for name in names:
            value = getattr(self, name)
            if not (lowest <= value <= highest and value < float("inf")) or (above and value == lowest):
                limits = f"{'above' if above else 'at least'} {lowest:g}" + (f", at most {highest:g}" if highest < 1e300 else "")
                raise OptionError(f"{name} must be {limits}, not {value}")


@dataclass(frozen=True)
class LeagueConfig(RunConfig):
    """The options of a training against a pool of opponents (:class:`agents.pool.OpponentPool`)."""

    anchors: str = option("random,greedy", "opponents that stay, with commas")
    anchor_share: float = option(0.7, "share of the opponents that are anchors; the others are frozen selves")
    sampling: str = option("uniform", "how opponents are drawn: uniform, latest or hard", SAMPLINGS)
    selves: int = option(6, "frozen selves in the pool")
    snapshot: int = option(10, "updates between two frozen selves")

    def check(self) -> None:
        """Raise OptionError, naming the option, if a value can't be used."""
        super().check()
        self.check_integers(1, 10**7, "snapshot")
        self.check_integers(0, 10**7, "selves")
        check_choice("sampling", self.sampling, SAMPLINGS)
        self.check_numbers(0.0, 1.0, "anchor_share")
        if any(anchor.name.startswith(f"{SELF}-") for anchor in self.make_pool().anchors):
            raise OptionError(f"anchors must not be called {SELF}-…, as frozen selves are: {self.anchors}")

    def make_pool(self) -> OpponentPool:
        """The pool as it is at the beginning.

        Raises:
            OptionError: an anchor doesn't exist, or two have one name. CheckpointError: a checkpoint among them can't be used.
        """
        return OpponentPool(self.make_agents("anchors"), self.anchor_share, self.selves, self.sampling)


# ---- options ----


ConfigType = TypeVar("ConfigType", bound=RunConfig)


def parse(kind: type[ConfigType], program: str, description: str, arguments: Sequence[str] | None) -> tuple[ConfigType, bool]:
    """Read a configuration: defaults, over them a TOML file (``--config``), over that the command line.

    Returns:
        The configuration, not yet checked, and whether to resume.

    Raises:
        OptionError: the TOML file names an unknown option or has a value of a wrong type.
        CheckpointError: the TOML file can't be read.
    """
    parser = Parser(program, description)
    for entry in (entry for entry in fields(kind) if entry.init):
        flag = "--" + entry.name.replace("_", "-")
        parser.add_argument(
            flag, type=type(entry.default), default=argparse.SUPPRESS, choices=entry.metadata["choices"],
            metavar=type(entry.default).__name__, help=f"{entry.metadata['help']} (default: {entry.default!r})",
        )  # fmt: skip
    parser.add_argument(
        "--config", type=Path, metavar="FILE", default=argparse.SUPPRESS, help="TOML file with options, by their names here"
    )
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in the run's folder")
    given = vars(parser.parse_args(arguments))
    resume = bool(given.pop("resume"))
    from_file = read_toml(given.pop("config"), kind) if "config" in given else {}
    return kind(**{**from_file, **given}), resume


def read_toml(path: Path, kind: type[RunConfig]) -> dict[str, Any]:
    """The options in a TOML file.

    Raises:
        OptionError: an unknown option, or a value of a wrong type.
        CheckpointError: the file can't be read.
    """
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CheckpointError(f"{path} can't be read as TOML: {error}") from error
    defaults = {entry.name: entry.default for entry in fields(kind) if entry.init}
    options = {}
    for key, value in found.items():
        name = key.replace("-", "_")
        if name not in defaults:
            raise OptionError(f"{path}: unknown option {shown(key)}; there are {', '.join(defaults)}")
        wanted = type(defaults[name])
        if wanted is float and type(value) is int:
            value = float(value)
        if type(value) is not wanted:
            raise OptionError(f"{path}: {name} must be of type {wanted.__name__}, not {shown(value)}")
        options[name] = value
    return options


# ---- what happened in the games ----


class Episodes:
    """What happened in the latest episodes: win shares against every opponent, lengths, VP."""

    def __init__(self) -> None:
        self.shares: dict[str, deque[float]] = {}
        self.lengths: deque[int] = deque(maxlen=RECENT_EPISODES)
        self.points: deque[float] = deque(maxlen=RECENT_EPISODES)
        self.count = 0

    def note(self, length: int, points: float) -> None:
        """Take in a finished episode: its decisions of all seats, and the mean VP of the learner's seats."""
        self.count += 1
        self.lengths.append(length)
        self.points.append(points)

    def note_share(self, opponent: str, share: float) -> None:
        """Take in what the learner won against one kind of opponent."""
        kind = SELF if opponent.startswith(f"{SELF}-") else opponent
        self.shares.setdefault(kind, deque(maxlen=RECENT_EPISODES)).append(share)

    def means(self) -> dict[str, float]:
        """The share of wins against each kind of opponent in the latest episodes."""
        return {kind: float(np.mean(won)) for kind, won in sorted(self.shares.items()) if len(won) >= FEWEST_EPISODES}


# ---- a run ----


class Run(ABC, Generic[ConfigType]):
    """A training from its beginning, or from a checkpoint, to its limit.

    Subclasses say what to learn and how: :meth:`begin`, :meth:`learn`, :meth:`pack`, :meth:`unpack`, :meth:`model`.
    """

    KIND: str
    """Tells the checkpoints of different trainers apart."""
    MODEL: str
    """The file with the agent, in the run's folder."""

    def __init__(self, config: ConfigType) -> None:
        self.config = config
        self.folder = Path(config.run)
        self.updates = 0
        self.decisions = 0
        self.seconds = 0.0
        self.curve: list[dict[str, Any]] = []
        self.episodes = Episodes()
        self.stopping = False

    @abstractmethod
    def begin(self) -> None:
        """Make everything new."""

    @abstractmethod
    def learn(self) -> dict[str, float]:
        """Collect decisions and learn from them, once; count them in `decisions`; return what the curve shall tell."""

    @abstractmethod
    def pack(self) -> dict[str, Any]:
        """All that :meth:`unpack` needs to go on as if nothing had happened; it will be pickled."""

    @abstractmethod
    def unpack(self, state: dict[str, Any]) -> None:
        """Go on from what :meth:`pack` gave."""

    @abstractmethod
    def model(self) -> bytes:
        """The content of the agent's file."""

    def update(self) -> None:
        """Learn once, and add a point to the curve."""
        started = time.perf_counter()
        before = self.decisions
        learned = self.learn()
        self.updates += 1
        elapsed = time.perf_counter() - started
        self.seconds += elapsed
        self.curve.append(
            {
                "update": self.updates,
                "decisions": self.decisions,
                "seconds": round(self.seconds, 3),
                "pace": (self.decisions - before) / elapsed,
                "episodes": self.episodes.count,
                "length": float(np.mean(self.episodes.lengths)) if self.episodes.lengths else None,
                "points": float(np.mean(self.episodes.points)) if self.episodes.points else None,
                "shares": self.episodes.means(),
                **learned,
            }
        )

    def progress(self) -> float:
        """How much of the run is done, 0 to 1, by the limit that is nearest."""
        config = self.config
        by_time = self.seconds / (60 * config.minutes) if config.minutes else 0.0
        by_decisions = self.decisions / config.decisions if config.decisions else 0.0
        return min(max(by_time, by_decisions), 1.0)

    def finished(self) -> bool:
        """Whether the run has reached its limit."""
        return self.progress() >= 1.0

    # ---- checkpoints ----

    def save(self) -> None:
        """Write checkpoint, agent and curve; each file is whole at every moment."""
        state = {
            "kind": self.KIND,
            "version": __version__,
            "observation_size": OBSERVATION_SIZE,
            "config": asdict(self.config),
            "updates": self.updates,
            "decisions": self.decisions,
            "seconds": self.seconds,
            "curve": self.curve,
            "episodes": self.episodes,
            "learner": self.pack(),
        }
        try:
            body = pickle.dumps(state)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise OptionError(f"anchors: one of them can't be kept in a checkpoint ({error!s:.100})") from error
        write_atomically(self.folder / "checkpoint.bin", MAGIC + hashlib.sha256(body).digest() + body)
        write_atomically(self.folder / self.MODEL, self.model())
        write_atomically(self.folder / "curve.jsonl", "".join(json.dumps(point) + "\n" for point in self.curve))

    def load(self) -> None:
        """Go on from the run's checkpoint.

        Raises:
            CheckpointError: there is none, or it is damaged, of another trainer, or of another configuration.
        """
        path = self.folder / "checkpoint.bin"
        state = read_checkpoint(path)
        if state["kind"] != self.KIND:
            raise CheckpointError(f"{path} was written by the trainer {state['kind']}, not by {self.KIND}")
        now = asdict(self.config)
        for name, value in state["config"].items():
            if name not in self.config.LIMITS and now.get(name) != value:
                raise CheckpointError(
                    f"{self.folder} was trained with {name} = {value}, not {now.get(name)};"
                    f" only {', '.join(self.config.LIMITS)} may change"
                )
        self.updates, self.decisions, self.seconds = state["updates"], state["decisions"], state["seconds"]
        self.curve, self.episodes = state["curve"], state["episodes"]
        self.unpack(state["learner"])

    # ---- the whole run ----

    def run(self) -> bool:
        """Train to the limit, with progress; False if Ctrl-C or SIGTERM ended it before."""
        signals = (signal.SIGINT, signal.SIGTERM)
        previous = [signal.signal(number, self._stop) for number in signals]
        saved = time.perf_counter()
        board = SummaryWriter(str(self.folder / "tensorboard"), purge_step=self.decisions + 1)
        try:
            with self._bar() as bar:
                while not self.finished() and not self.stopping:
                    self.update()
                    self._show(bar)
                    self._tell(board)
                    if time.perf_counter() - saved >= self.config.checkpoint_seconds:
                        self.save()
                        saved = time.perf_counter()
        finally:
            board.close()
            for number, handler in zip(signals, previous, strict=True):
                signal.signal(number, handler)
        self.save()
        draw_curves({self.folder.name: self.curve}, self.folder / "curves.png")
        return self.finished()

    def close(self) -> str:
        """Measure the agent against its rivals; write table, plots, JSON and a few games; return the table.

        Raises:
            KeyboardInterrupt: Ctrl-C; a part of the figures would pass for the whole, so nothing is written.
        """
        text = table(self.measure())
        write_atomically(self.folder / "evaluation.txt", text + "\n")
        return text

    def measure(self) -> list[Result]:
        """Let the agent play against its rivals at every kind of table; all but the table of :meth:`close`."""
        config, folder = self.config, self.folder
        agent = make(folder / self.MODEL)
        rivals = config.make_agents("rivals")
        seed = config.seed + CLOSING_SEED
        turns = config.max_turns
        found = {}
        for players, side in config.tables:
            found[players, side] = evaluate(
                agent, rivals, players, side, config.deals, seed, max_turns=turns, threads=config.threads, progress=True
            )
            if len(found[players, side]) < len(rivals) or found[players, side][-1].interrupted:
                raise KeyboardInterrupt
        for (players, side), results in found.items():
            name = "" if len(found) == 1 else f"-{players}-{side}"
            plot(results, folder / f"evaluation{name}.png")
            record_games(folder / f"games{name}.jsonl", agent, rivals, players, side, 2 * players, seed, max_turns=turns)
        every = [result for results in found.values() for result in results]
        write_atomically(folder / "evaluation.json", as_json(every))
        return every

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a second Ctrl-C doesn't wait for the update
        tqdm.write("stopping after this update …", file=sys.stderr)

    def _bar(self) -> Any:
        shape = "{desc}{percentage:3.0f}%|{bar}| {elapsed}, {remaining} left{postfix}"
        return tqdm(total=1.0, initial=self.progress(), desc="training ", bar_format=shape, dynamic_ncols=True)

    def _show(self, bar: Any) -> None:
        point = self.curve[-1]
        bar.update(self.progress() - bar.n)
        shares = ", ".join(f"{kind} {100 * share:.0f} %" for kind, share in point["shares"].items())
        bar.set_postfix_str(f"{point['decisions']:,} decisions, {point['pace']:,.0f}/s; wins: {shares or 'none yet'}")

    def _tell(self, board: Any) -> None:
        """Send the curve's last point to TensorBoard."""
        for name, value in self.curve[-1].items():
            if name == "shares":
                for kind, share in value.items():
                    board.add_scalar(f"win share/{kind}", share, self.decisions)
            elif value is not None and name not in ("update", "decisions"):
                board.add_scalar(f"{self.KIND}/{name}", value, self.decisions)


def read_checkpoint(path: Path) -> dict[str, Any]:
    """The content of a checkpoint. It is made of pickled objects: read only those that you trust.

    Raises:
        CheckpointError: the file is missing, damaged, or something else.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"no checkpoint to go on from: {path}: {error.strerror}") from error
    if not data.startswith(MAGIC):
        raise CheckpointError(f"{path} is no training checkpoint of this version")
    digest, body = data[len(MAGIC) : len(MAGIC) + DIGEST], data[len(MAGIC) + DIGEST :]
    if hashlib.sha256(body).digest() != digest:
        raise CheckpointError(f"{path} is damaged: its content doesn't have the checksum that it was written with")
    try:
        state: dict[str, Any] = pickle.loads(body)
    except Exception as error:  # it is whole; what it refers to isn't here
        raise CheckpointError(f"{path} can't be read by this version ({type(error).__name__}: {error!s:.100})") from error
    if state["observation_size"] != OBSERVATION_SIZE:
        raise CheckpointError(
            f"{path} was trained for observations of length {state['observation_size']}; they have {OBSERVATION_SIZE} now"
        )
    return state


def launch(training: Run[Any], resume: bool) -> int:
    """Run a training from its command line, and close it with an evaluation (not with ``deals = 0``).

    Args:
        training: with a configuration that is not checked yet.
        resume: whether to go on from its checkpoint.

    Returns:
        The exit code: 0 all right, 130 interrupted.

    Raises:
        SkyenvError, OSError: the configuration, the checkpoint or an agent can't be used.
    """
    config, folder = training.config, training.folder
    config.check()
    if not resume and (folder / "checkpoint.bin").exists():
        raise OptionError(f"{config.run} holds a run; go on with it by --resume, or choose another folder with --run")
    try:
        if resume:
            training.load()
        else:
            training.begin()
            folder.mkdir(parents=True, exist_ok=True)
            training.save()  # now, and not after a minute, it turns out whether it can be saved
        write_atomically(folder / "config.json", json.dumps(asdict(config), indent=2) + "\n")
        if not training.run():
            print(f"stopped; `python -m experiments.{training.KIND} --run {config.run} --resume` with the same options goes on")
            return INTERRUPTED
        print(f"{training.decisions:,} decisions in {training.seconds:.0f} s")
        if config.deals:
            print(training.close())
    except KeyboardInterrupt:
        there = (folder / "checkpoint.bin").exists()
        told = f"what was trained is in {config.run}, --resume goes on" if there else "nothing has been trained yet"
        print(f"interrupted; {told}", file=sys.stderr)
        return INTERRUPTED
    return 0
