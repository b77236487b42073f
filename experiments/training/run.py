"""A training run in its folder: progress, files and Ctrl-C.

A run's folder holds:

    config.json                   its options
    checkpoint.bin                where ``--resume`` continues
    model.npz                     the agent, by this path
    last.npz                      the trained network, if the one it began with is better
    milestones/                   earlier agents, if wanted
    curve.jsonl, curves.png       its course
    tensorboard/                  the same for TensorBoard
    evaluation.*, games.jsonl     the closing evaluation

Signals to stop, and schedulers' warnings, end a run after the update under way. After ``kill -9``
``--resume`` goes on from the last checkpoint, on the same curve. One process at a time works in a
folder.
"""

import json
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from tqdm import tqdm

from experiments.training.checkpoint import CHECKPOINT, read_checkpoint, write_checkpoint
from experiments.training.config import AUTO, CONFIG, Config
from experiments.training.curves import Episodes, draw_curves, read_curve, write_board
from experiments.training.health import divergence, warnings
from skyenv import __version__
from skyenv.console.options import as_text
from skyenv.console.progress import Bar, progress
from skyenv.errors import CheckpointError, SkyenvError, cause
from skyenv.files import write_atomically
from skyenv.rules.variant import of_variant
from skyenv.runtime import Interrupt

# The agent.
MODEL: Final = "model.npz"
# Folder of earlier agents, SECONDS.npz by seconds of training without checkpoints.
MILESTONES: Final = "milestones"


class Run(ABC):
    """A training from its beginning, or from a checkpoint, to its limit.

    A trainer implements :meth:`begin`, :meth:`learn`, :meth:`pack`, :meth:`unpack`, :meth:`model`
    and :meth:`end`.

    Attributes:
        curve: a point for each update. updates, decisions, seconds: numbers of the training so far.
        episodes: statistics of the latest ones.
    """

    # Name of the program, also in its checkpoints.
    PROGRAM: str
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
        """Learn once, and add a point to the curve.

        Raises:
            SkyenvError: the training has diverged.
        """
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
        self._check_health()

    def _check_health(self) -> None:
        """Warn of layers that have just lost too many units; see :meth:`update`."""
        if found := divergence(self.curve[-1], self.config):
            raise SkyenvError(
                f"{self.folder}: the training has diverged in update {self.updates}: {found}; "
                f"{MODEL} and {CHECKPOINT} are of an earlier update. Begin another run with a "
                "smaller --learning-rate"
            )
        for warning in warnings(self.curve):
            tqdm.write(warning, file=sys.stderr)

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
        write_checkpoint(
            self.folder / CHECKPOINT,
            {
                "program": of_variant(self.PROGRAM),
                "version": __version__,
                "config": self.config.as_dict(),
                "updates": self.updates,
                "decisions": self.decisions,
                "seconds": self.seconds,
                "curve": self.curve,
                "on_board": self._on_board,
                "episodes": self.episodes.state(),
                "learner": self.pack(),
            },
        )
        write_atomically(self.folder / MODEL, self.model())
        write_atomically(
            self.folder / "curve.jsonl", "".join(json.dumps(point) + "\n" for point in self.curve)
        )
        if write_board(self.folder, self.PROGRAM, self.curve[self._on_board :]):
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
        """Train to the limit, with progress; False if a signal to stop came.

        In the end everything is saved.
        """
        saved = time.perf_counter()
        for path in (self.folder / MILESTONES).glob("*.npz"):  # those after the checkpoint
            if path.stem.isdecimal() and int(path.stem) > self.seconds:
                path.unlink()
        self._keep_milestone(self.seconds if self.updates else -1.0)
        stopping = partial(tqdm.write, "stopping after this update …", file=sys.stderr)
        with Interrupt(stopping) as interrupt:
            with self._bar() as bar:
                while not self.finished() and interrupt.goes_on():
                    before = self.seconds
                    self.update()
                    self._show(bar)
                    self._keep_milestone(before)
                    if time.perf_counter() - saved >= self.config.checkpoint_seconds:
                        self.save()
                        saved = time.perf_counter()
            self.save()
            self._draw()
            return interrupt.goes_on()

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
