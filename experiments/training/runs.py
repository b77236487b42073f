"""A training run in its folder: files, progress, checkpoints, Ctrl-C and closing evaluation.

A run's folder holds:

    config.json                   its options
    checkpoint.bin                where ``--resume`` continues
    model.npz                     the agent, by this path
    milestones/                   earlier agents, if wanted
    curve.jsonl, curves.png       its course
    tensorboard/                  the same for TensorBoard
    evaluation.*, games.jsonl     the closing evaluation

SIGINT and SIGTERM end a run after the update under way. After ``kill -9`` ``--resume`` goes on from
the last checkpoint, on the same curve. One process at a time works in a folder.
"""

from __future__ import annotations

import hashlib
import json
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Final

import numpy as np
from tqdm import tqdm

from experiments.training.actors import packed, unpacked
from experiments.training.config import AUTO, CONFIG, PAST, Config, earlier
from experiments.training.curves import draw_curves, read_curve
from experiments.training.reports import beginning, forecast, how_to_go_on, verdict
from skyenv import OBSERVATION_SIZE, GameOptions, __version__
from skyenv.agents import Agent, make_agent
from skyenv.arena.evaluate import Result, as_json, evaluate, table
from skyenv.arena.matches import play_game, rotations
from skyenv.console.options import INTERRUPTED, as_text, exit_code, parse
from skyenv.console.progress import Bar, progress
from skyenv.engine.openings import OF_AUCTIONS
from skyenv.errors import CheckpointError, OptionError, SkyenvError, cause
from skyenv.files import locked, write_atomically, writing
from skyenv.rules.variant import of_variant
from skyenv.seeds import secret_seeds
from skyenv.solving.commands import loss_lines, measure
from skyenv.solving.commands import table as table_of_responses
from skyenv.work import Interrupt

CHECKPOINT: Final = "checkpoint.bin"
MODEL: Final = "model.npz"
"""The agent."""
MAGIC: Final = b"skyenv-training-checkpoint-8\n"
"""Its number grows with every change of the format."""
DIGEST: Final = hashlib.sha256().digest_size
MILESTONES: Final = "milestones"
"""Folder of earlier agents, SECONDS.npz by seconds of training without checkpoints."""
RECENT_EPISODES: Final = 1000
"""The curves show means over this many latest episodes (win shares: against each opponent)."""
FEWEST_EPISODES: Final = 50
"""Means of fewer games are not shown."""
PACE_SECONDS: Final = 3.0  # after this much training the pace is printed
OPENINGS: Final = 8
SAMPLES: Final = 32
"""The closing evaluation of a task: so many openings, and random numbers for every decision."""
CLOSING_SEED: Final = 1_000_000
"""The secret of the closing evaluation is derived from it and the run's seed."""


class Interrupts(Interrupt):
    """SIGINT and SIGTERM end the run after the update; a second SIGINT interrupts at once."""

    signals = (signal.SIGINT, signal.SIGTERM)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if not self.asked:
            tqdm.write("stopping after this update …", file=sys.stderr)
        super()._handle(number, frame)


@contextmanager
def terminating() -> Iterator[None]:
    """In this block SIGTERM raises KeyboardInterrupt, as SIGINT does."""
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Return the content of a checkpoint; reading it runs no code.

    Raises:
        CheckpointError: the file is missing, damaged, or of another version.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CheckpointError(
            f"no checkpoint to continue from: {path}: {error.strerror}"
        ) from error
    if not data.startswith(MAGIC):
        raise CheckpointError(f"{path} is not a training checkpoint of this version")
    digest, body = data[len(MAGIC) : len(MAGIC) + DIGEST], data[len(MAGIC) + DIGEST :]
    if hashlib.sha256(body).digest() != digest:
        raise CheckpointError(f"{path} is damaged: its checksum does not match")
    try:
        state: dict[str, Any] = dict(unpacked(body))
        if state["observation_size"] == OBSERVATION_SIZE:
            return state
    except Exception as error:  # many kinds, from PyTorch and from what isn't a checkpoint
        raise CheckpointError(f"{path} is not a training checkpoint ({cause(error)})") from error
    raise CheckpointError(
        f"{path} has observations of length {state['observation_size']}, not {OBSERVATION_SIZE}"
    )


class Episodes:
    """Statistics of the latest episodes: win shares against each opponent, lengths, VP."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        state = {"shares": {}, "lengths": [], "points": [], "count": 0} if state is None else state
        self.shares: dict[str, deque[float]] = {
            kind: deque(shares, RECENT_EPISODES) for kind, shares in state["shares"].items()
        }
        self.lengths: deque[int] = deque(state["lengths"], RECENT_EPISODES)
        self.points: deque[float] = deque(state["points"], RECENT_EPISODES)
        self.count = int(state["count"])

    def state(self) -> dict[str, Any]:
        """Return the state from which the constructor makes an equal object."""
        shares = {kind: list(won) for kind, won in self.shares.items()}
        return {
            "shares": shares,
            "lengths": list(self.lengths),
            "points": list(self.points),
            "count": self.count,
        }

    def note(self, length: int, points: float) -> None:
        """Add a finished episode: its decisions of all seats, and the mean VP of the learner's
        seats.
        """
        self.count += 1
        self.lengths.append(length)
        self.points.append(points)

    def note_share(self, opponent: str, share: float) -> None:
        """Add the learner's share of a win against one kind of opponent."""
        kind = PAST if opponent.startswith(f"{PAST}-") else opponent
        self.shares.setdefault(kind, deque(maxlen=RECENT_EPISODES)).append(share)

    def means(self) -> dict[str, float]:
        """Return the share of wins against each kind of opponent in the latest episodes."""
        return {
            kind: float(np.mean(won))
            for kind, won in sorted(self.shares.items())
            if len(won) >= FEWEST_EPISODES
        }


class Run(ABC):
    """A training from its beginning, or from a checkpoint, to its limit.

    A trainer implements :meth:`begin`, :meth:`learn`, :meth:`pack`, :meth:`unpack`, :meth:`model`
    and :meth:`end`.

    Attributes:
        curve: a point for each update. updates, decisions, seconds: numbers of the training so far.
        episodes: statistics of the latest ones.
    """

    PROGRAM: str
    """Name of the program, also in its checkpoints."""
    clock: Callable[[], float] = staticmethod(time.perf_counter)

    def __init__(self, config: Config) -> None:
        self.config = config
        self.folder = Path(config.run)
        self.updates = 0
        self.decisions = 0
        self.seconds = 0.0
        self.curve: list[dict[str, Any]] = []
        self.episodes = Episodes()
        self._on_board = 0

    @abstractmethod
    def begin(self) -> None:
        """Begin a new training."""

    @abstractmethod
    def learn(self) -> dict[str, float]:
        """Collect decisions and learn from them, once; count them in `decisions`; return figures
        for the curve.
        """

    @abstractmethod
    def pack(self) -> dict[str, Any]:
        """Return the state for :meth:`unpack`: tensors, numbers, text and bytes."""

    @abstractmethod
    def unpack(self, state: dict[str, Any]) -> None:
        """Continue from :meth:`pack`."""

    @abstractmethod
    def model(self) -> bytes:
        """Return the content of the agent's file."""

    @abstractmethod
    def end(self) -> None:
        """Free all resources of the training."""

    def update(self) -> None:
        """Learn once, and add a point to the curve."""
        started = self.clock()
        before = self.decisions
        learned = self.learn()
        self.updates += 1
        elapsed = self.clock() - started
        self.seconds += elapsed
        self.curve.append(
            {
                "update": self.updates,
                "decisions": self.decisions,
                "seconds": round(self.seconds, 3),
                "progress": round(self.progress(), 6),
                "pace": (self.decisions - before) / elapsed,
                "episodes": self.episodes.count,
                "length": float(np.mean(self.episodes.lengths)) if self.episodes.lengths else None,
                "points": float(np.mean(self.episodes.points)) if self.episodes.points else None,
                "shares": self.episodes.means(),
                "players": sorted({players for players, _ in self.config.tables}),
                **learned,
            }
        )

    def progress(self) -> float:
        """Return the progress towards the nearest limit, 0 to 1."""
        config = self.config
        by_time = self.seconds / (60 * config.minutes) if config.minutes else 0.0
        by_decisions = self.decisions / config.decisions if config.decisions else 0.0
        return min(max(by_time, by_decisions), 1.0)

    def finished(self) -> bool:
        """Whether the run has reached its limit."""
        return self.progress() >= 1.0

    # ---- files ----

    def write_config(self) -> None:
        """Write the options, with a decided precision, to the folder."""
        content = json.dumps(self.config.as_dict(), indent=2)
        write_atomically(self.folder / CONFIG, content + "\n")

    def save(self) -> None:
        """Write checkpoint, agent and curve, each atomically."""
        body = packed(
            {
                "program": of_variant(self.PROGRAM),
                "version": __version__,
                "observation_size": OBSERVATION_SIZE,
                "config": self.config.as_dict(),
                "updates": self.updates,
                "decisions": self.decisions,
                "seconds": self.seconds,
                "curve": self.curve,
                "on_board": self._on_board,
                "episodes": self.episodes.state(),
                "learner": self.pack(),
            }
        )
        write_atomically(self.folder / CHECKPOINT, MAGIC + hashlib.sha256(body).digest() + body)
        write_atomically(self.folder / MODEL, self.model())
        write_atomically(
            self.folder / "curve.jsonl", "".join(json.dumps(point) + "\n" for point in self.curve)
        )
        self._write_board()

    def _write_board(self) -> None:
        """Add the curve's new points for TensorBoard, in a file of their own."""
        points, board = self.curve[self._on_board :], _board_writer()
        if not points or board is None:
            return
        folder = str(self.folder / "tensorboard")
        with board(folder, purge_step=points[0]["decisions"]) as writer:
            for point in points:
                figures = {f"{self.PROGRAM}/{name}": value for name, value in point.items()}
                figures |= {f"win share/{kind}": won for kind, won in point["shares"].items()}
                for name, value in figures.items():
                    if isinstance(value, (int, float)):
                        writer.add_scalar(name, value, point["decisions"])
        self._on_board = len(self.curve)

    def load(self) -> None:
        """Continue from the run's checkpoint.

        Raises:
            CheckpointError: there is none, or it is damaged, of another program, or of other
                options.
            SkyenvError: actors can't play: there is no such Ray, or an opponent has changed.
        """
        path = self.folder / CHECKPOINT
        state = read_checkpoint(path)
        try:
            self._check_options(path, state)
            self.updates, self.decisions, self.seconds, self.curve, self._on_board = (
                state[name] for name in ("updates", "decisions", "seconds", "curve", "on_board")
            )
            self.episodes = Episodes(state["episodes"])
            self.unpack(state["learner"])
        except SkyenvError:
            raise
        except Exception as error:  # another content with a right checksum can fail anywhere
            raise CheckpointError(
                f"{path} is not a training checkpoint ({cause(error)})"
            ) from error

    def _check_options(self, path: Path, state: Mapping[str, Any]) -> None:
        """Raise CheckpointError if a checkpoint is of another program or of other options.

        A precision that is left to the program stays as it was.
        """
        program = of_variant(self.PROGRAM)
        if state["program"] != program:
            raise CheckpointError(f"{path} was written by {state['program']}, not by {program}")
        if self.config.precision == AUTO:
            self.config = replace(self.config, precision=state["config"]["precision"])
        now = self.config.as_dict()
        for name in sorted({*now, *state["config"]} - set(self.config.LIMITS)):
            before, wanted = (options.get(name) for options in (state["config"], now))
            if before != wanted:
                raise CheckpointError(
                    f"{self.folder} was trained with {name} = {as_text(before) or 'none'}, not "
                    f"{as_text(wanted) or 'none'}; only {', '.join(self.config.LIMITS)} may change"
                )

    # ---- the whole run ----

    def run(self) -> bool:
        """Train to the limit, with progress; False if Ctrl-C or SIGTERM came.

        In the end everything is saved.
        """
        saved = time.perf_counter()
        for path in (self.folder / MILESTONES).glob("*.npz"):  # those after the checkpoint
            if path.stem.isdecimal() and int(path.stem) > self.seconds:
                path.unlink()
        self._keep_milestone(self.seconds if self.updates else -1.0)
        began = self.seconds
        with Interrupts() as interrupts:
            with self._bar() as bar:
                while not self.finished() and not interrupts.asked:
                    before = self.seconds
                    self.update()
                    self._show(bar)
                    if before - began < PACE_SECONDS <= self.seconds - began:
                        pace = self.curve[-1]["pace"]
                        tqdm.write(
                            forecast(self.config, self.decisions, self.seconds, pace),
                            file=sys.stderr,
                        )
                    self._keep_milestone(before)
                    if time.perf_counter() - saved >= self.config.checkpoint_seconds:
                        self.save()
                        saved = time.perf_counter()
            self.save()
            self._draw()
            return not interrupts.asked

    def _keep_milestone(self, before: float) -> None:
        """Keep the agent, if the time for it has come since the training was so many seconds old,
        or if that is finished.
        """
        apart = 60 * self.config.milestone_minutes
        if apart and (self.finished() or self.seconds // apart > before // apart):
            path = self.folder / MILESTONES / f"{int(self.seconds):06d}.npz"
            path.parent.mkdir(exist_ok=True)
            write_atomically(path, self.model())

    def _draw(self) -> None:
        """Draw the curves of the run and, if its folder exists, of the run beside it."""
        curves = {self.folder.name: self.curve}
        if self.config.beside:
            other = Path(self.config.beside)
            with suppress(CheckpointError):
                curves[other.name if other.name != self.folder.name else str(other)] = read_curve(
                    other
                )
        draw_curves(curves, self.folder / "curves.png")

    def _bar(self) -> Bar:
        """Wins come first: what doesn't fit into a line is cut off at its end."""
        shape = "{desc}{percentage:3.0f}%|{bar}| {remaining} left{postfix}"
        return progress(1.0, done=self.progress(), desc="training ", bar_format=shape, leave=True)

    def _show(self, bar: Bar) -> None:
        bar.update(self.progress() - bar.n)
        bar.set_postfix_str(f"wins: {self._wins() or 'none yet'}; {self.curve[-1]['pace']:,.0f}/s")

    def _wins(self) -> str:
        """Return the win shares in the latest games, lowest first, as text; each is the mean over
        the kinds of tables.
        """
        shares: dict[str, list[float]] = {}
        for kind, share in self.curve[-1]["shares"].items():
            shares.setdefault(kind.split(",")[0], []).append(share)
        means = sorted((float(np.mean(values)), kind) for kind, values in shares.items())
        return ", ".join(f"{100 * share:.0f} % {kind}" for share, kind in means)

    # ---- how it plays in the end ----

    def forget_evaluation(self) -> None:
        """Remove what an earlier evaluation found: the agent is about to become another one."""
        for path in [*self.folder.glob("evaluation*"), *self.folder.glob("games*.jsonl")]:
            path.unlink()

    def close(self) -> str:
        """Measure the agent; write tables and a few games; return the table, and whether the agent
        has learned.

        Raises:
            KeyboardInterrupt: Ctrl-C; nothing is written.
        """
        config, folder = self.config, self.folder
        agent = make_agent(folder / MODEL)
        if config.task in OF_AUCTIONS:
            rows = [measure(agent, f"{config.task}/{i}", SAMPLES) for i in range(OPENINGS)]
            write_atomically(folder / "evaluation.json", json.dumps(rows, indent=1) + "\n")
            return f"{table_of_responses(rows)}\n{loss_lines(rows)}"
        opponents = config.make_agents("against")
        # Not games of seeds next to the run's own, which are those that it was trained on.
        seed, secret = config.seed, int(secret_seeds(config.seed, [CLOSING_SEED])[0])
        kinds = [replace(config, reward="outcome").game_of(*kind) for kind in config.tables]
        results: list[Result] = []
        for kind in kinds:
            results += evaluate(
                agent,
                opponents,
                paired_seeds=config.paired_seeds,
                seed=seed,
                options=kind,
                secret=secret,
                progress=True,
            )
        if len(results) < len(opponents) * len(kinds) or any(one.interrupted for one in results):
            raise KeyboardInterrupt
        for kind in kinds:
            name = "" if len(kinds) == 1 else f"-{kind.num_players}-{kind.side}"
            games = 2 * kind.num_players
            path = folder / f"games{name}.jsonl"
            record_games(path, [agent, *opponents], kind, games, seed, secret)
        write_atomically(folder / "evaluation.txt", table(results) + "\n")
        write_atomically(folder / "evaluation.json", as_json(results))
        return "\n\n".join([table(results), *verdict(results, config)])


@cache
def _board_writer() -> Any:
    """Return TensorBoard's writer; None: it isn't installed, which is said once."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ModuleNotFoundError as error:
        print(f"no files for TensorBoard, but curve.jsonl: {error}", file=sys.stderr)
        return None
    return SummaryWriter


def record_games(
    path: str | Path,
    agents: Sequence[Agent],
    options: GameOptions,
    games: int,
    seed: int,
    secret: int | None = None,
) -> None:
    """Write the records of an agent's first games against every opponent, as
    :func:`skyenv.arena.evaluate.evaluate` plays them (one rotation after the other).

    Args:
        path: the file to write.
        agents: the agent, and the opponents.
        options: the kind of game.
        games: how many against each opponent.
        seed, secret: as for :func:`skyenv.arena.evaluate.evaluate`.

    Raises:
        OSError: the file can't be written.
    """
    players = options.num_players
    seating = rotations(players, -(-games // players))[:games]
    with writing(path) as stream:
        for opponent in agents[1:]:
            for i, chairs in enumerate(seating.tolist()):
                seats = [(agents[0], opponent)[chair] for chair in chairs]
                played = play_game(seats, seed + i // players, secret=secret, options=options)
                stream.write(played.to_record([one.name for one in seats]).encode())


def program(
    training: type[Run], config: type[Config], description: str, arguments: Sequence[str] | None
) -> int:
    """Run the command line of a trainer; return the exit code: 0 success, 1 a bad file, 2 a bad
    command, 130 interrupted.

    Args:
        training: the trainer. config: its options. description: what ``--help`` says of it.
        arguments: the command line; None: that of this process.
    """
    name = training.PROGRAM
    return exit_code(
        name,
        lambda: launch(
            training(parse(config, f"experiments.training.{name}", description, arguments, earlier))
        ),
    )


def launch(training: Run) -> int:
    """Run a training, and close it with an evaluation (not with ``paired_seeds = 0``).

    Args:
        training: with a configuration of which only the single values are checked yet.

    Returns:
        The exit code: 0 all right, 130 interrupted.

    Raises:
        SkyenvError, OSError: the configuration, the checkpoint or an agent can't be used, or a file
            can't be written.
    """
    config, checkpoint = training.config, training.folder / CHECKPOINT
    try:
        with terminating():
            config.check()
            if config.resume and not checkpoint.exists():
                raise CheckpointError(f"no checkpoint to continue from: {checkpoint}: no such file")
            with locked(training.folder):
                try:
                    return _launched(training)
                finally:
                    training.end()
    except KeyboardInterrupt:
        hint = (
            f"what was trained is in {config.run}, --resume goes on"
            if checkpoint.exists()
            else "nothing has been trained yet"
        )
        print(f"interrupted; {hint}", file=sys.stderr)
        return INTERRUPTED


def _launched(training: Run) -> int:
    config, folder = training.config, training.folder
    if config.resume:
        training.load()
        training.write_config()
    elif (folder / CHECKPOINT).exists():
        raise OptionError(
            f"{config.run} holds a run; continue it with --resume, or choose another folder with "
            "--run"
        )
    else:
        print(beginning(config), file=sys.stderr, flush=True)
        training.begin()
        training.write_config()  # first, as --resume takes the options from it
        training.save()  # now, and not after a minute, it turns out whether it can be saved
    if not training.finished():
        training.forget_evaluation()
        if not training.run():
            print(
                f"stopped; `python -m experiments.training.{training.PROGRAM} --run "
                f"{config.run} --resume` goes on"
            )
            return INTERRUPTED
    print(
        f"{config.run} is finished: {training.decisions:,} decisions in "
        f"{training.seconds / 60:.1f} minutes of training.\n",
        flush=True,
    )
    if config.paired_seeds:
        print(training.close(), end="\n\n")
    print(how_to_go_on(config, training.PROGRAM, folder / MODEL))
    return 0
