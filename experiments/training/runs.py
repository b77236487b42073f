"""A training in its folder, from the beginning or a checkpoint to the limit: files, progress,
Ctrl-C, how it plays in the end.

A run's folder holds:

    config.json       what was asked for              curve.jsonl, curves.png   how it went
    checkpoint.bin    to go on from, with --resume    tensorboard/              the same for TensorBoard
    model.npz         the agent, by this path         evaluation.*, games.jsonl how it plays in the end
    milestones/       earlier ones, if asked for

The first Ctrl-C ends a run after the update under way, and so does SIGTERM. After ``kill -9``
``--resume`` goes on from the last checkpoint, on the same curve. One process at a time works in a
folder.
"""

from __future__ import annotations

import json
import sys
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np

from experiments.training import milestones
from experiments.training.board import Board
from experiments.training.checkpoints import read_checkpoint, write_checkpoint
from experiments.training.closing import MODEL, how_to_go_on, summary
from experiments.training.config import CONFIG, RunConfig, earlier
from experiments.training.curves import draw_curves, read_curve
from experiments.training.interrupts import Interrupts, terminating
from skyenv import __version__
from skyenv.agents import make_agent
from skyenv.arena.evaluate import Result, as_json, evaluate, record_games, table
from skyenv.arena.plots import plot_results
from skyenv.commands import INTERRUPTED, exit_code
from skyenv.errors import CheckpointError, OptionError, SkyenvError
from skyenv.files import locked, write_atomically
from skyenv.options import as_text, parse
from skyenv.progress import Bar, progress
from skyenv.seeds import secret_seeds

CHECKPOINT: Final = "checkpoint.bin"
EVALUATION: Final = "evaluation.json"
RECENT_EPISODES: Final = 1000
"""The curves show means over this many latest episodes (for win shares: against each opponent)."""
FEWEST_EPISODES: Final = 50
"""Fewer games than this tell nothing yet."""
CLOSING_SEED: Final = 1_000_000
"""What the secret of the closing evaluation is derived from, together with the run's seed."""
LARGEST_CLOSING: Final = 0.5
"""The closing evaluation is given so much of the minutes at most."""
PAST: Final = "past"
"""Name of the learner's past policies, in front of a number; the curves take them together."""


# ---- what happened in the games ----


class Episodes:
    """What happened in the latest episodes: win shares against every opponent, lengths, VP."""

    def __init__(self) -> None:
        self.shares: dict[str, deque[float]] = {}
        self.lengths: deque[int] = deque(maxlen=RECENT_EPISODES)
        self.points: deque[float] = deque(maxlen=RECENT_EPISODES)
        self.count = 0

    def note(self, length: int, points: float) -> None:
        """Take in a finished episode: its decisions of all seats, and the mean VP of the learner's
        seats.
        """
        self.count += 1
        self.lengths.append(length)
        self.points.append(points)

    def note_share(self, opponent: str, share: float) -> None:
        """Take in what the learner won against one kind of opponent."""
        kind = PAST if opponent.startswith(f"{PAST}-") else opponent
        self.shares.setdefault(kind, deque(maxlen=RECENT_EPISODES)).append(share)

    def means(self) -> dict[str, float]:
        """The share of wins against each kind of opponent in the latest episodes."""
        return {
            kind: float(np.mean(won))
            for kind, won in sorted(self.shares.items())
            if len(won) >= FEWEST_EPISODES
        }


# ---- a run ----


class Run(ABC):
    """A training from its beginning, or from a checkpoint, to its limit.

    The trainer says what to learn and how: :meth:`begin`, :meth:`learn`, :meth:`pack`,
    :meth:`unpack`, :meth:`model`.

    Attributes:
        curve: what is told of each update. updates, decisions, seconds: how many. episodes: the
            latest ones.
    """

    PROGRAM: str
    """The program's name, which its checkpoints bear."""
    CLOSING_COST: ClassVar[float] = 1.0
    """A decision of the closing evaluation takes about so much of the time of one in training,
    which is learned from as well.
    """

    def __init__(self, config: RunConfig) -> None:
        self.config = config
        self.folder = Path(config.run)
        self.updates = 0
        self.decisions = 0
        self.seconds = 0.0
        self.curve: list[dict[str, Any]] = []
        self.episodes = Episodes()
        self._board = Board(self.folder / "tensorboard", self.PROGRAM)
        self._on_board = 0

    @abstractmethod
    def begin(self) -> None:
        """Make everything new."""

    @abstractmethod
    def learn(self) -> dict[str, float]:
        """Collect decisions and learn from them, once; count them in `decisions`; return what the
        curve shall tell.
        """

    @abstractmethod
    def pack(self) -> dict[str, Any]:
        """All that :meth:`unpack` needs to go on as if nothing had happened; it will be pickled."""

    @abstractmethod
    def unpack(self, state: dict[str, Any]) -> None:
        """Go on from what :meth:`pack` gave."""

    @abstractmethod
    def model(self) -> bytes:
        """The content of the agent's file."""

    @abstractmethod
    def end(self) -> None:
        """Free what was taken for the training; nothing is learned any more."""

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
        """How much of the run is done, 0 to 1, by the limit that is nearest."""
        config = self.config
        by_time = (
            self.seconds / (60 * config.minutes - self.closing_seconds()) if config.minutes else 0.0
        )
        by_decisions = self.decisions / config.decisions if config.decisions else 0.0
        return min(max(by_time, by_decisions), 1.0)

    def finished(self) -> bool:
        """Whether the run has reached its limit."""
        return self.progress() >= 1.0

    def closing_games(self) -> int:
        """Games of the closing evaluation."""
        return sum(
            players * self.config.paired_seeds * len(self.config.against)
            for players, _ in self.config.tables
        )

    def closing_seconds(self) -> float:
        """About how long the closing evaluation will take; the minutes of a run include it."""
        if not self.decisions or not self.episodes.lengths:
            return 0.0
        decisions = self.closing_games() * float(np.mean(self.episodes.lengths))
        seconds = self.CLOSING_COST * decisions * self.seconds / self.decisions
        return (
            min(seconds, LARGEST_CLOSING * 60 * self.config.minutes)
            if self.config.minutes
            else seconds
        )

    # ---- files ----

    def save(self) -> None:
        """Write checkpoint, agent and curve; each file is whole at every moment."""
        write_checkpoint(
            self.folder / CHECKPOINT,
            {
                "program": self.PROGRAM,
                "version": __version__,
                "config": self.config.as_dict(),
                "updates": self.updates,
                "decisions": self.decisions,
                "seconds": self.seconds,
                "curve": self.curve,
                "on_board": self._on_board,
                "episodes": self.episodes,
                "learner": self.pack(),
            },
        )
        write_atomically(self.folder / MODEL, self.model())
        write_atomically(
            self.folder / "curve.jsonl", "".join(json.dumps(point) + "\n" for point in self.curve)
        )
        self._board.write(self.curve[self._on_board :])
        self._on_board = len(self.curve)

    def load(self) -> None:
        """Go on from the run's checkpoint.

        Raises:
            CheckpointError: there is none, or it is damaged, of another program, or of another
                configuration.
            SkyenvError: nobody can play: there is no such Ray, or it has too few CPUs or other
                sources.
        """
        path = self.folder / CHECKPOINT
        state = read_checkpoint(path)
        if state["program"] != self.PROGRAM:
            raise CheckpointError(
                f"{path} was written by {state['program']}, not by {self.PROGRAM}"
            )
        now = self.config.as_dict()
        if missing := sorted(set(now) - set(state["config"]) - set(self.config.LIMITS)):
            raise CheckpointError(
                f"{path} is of a version that had no {', '.join(missing)}; its run can't be gone "
                "on with"
            )
        for name, value in state["config"].items():
            if name not in self.config.LIMITS and now.get(name) != value:
                raise CheckpointError(
                    f"{self.folder} was trained with {name} = {as_text(value) or 'none'}, not "
                    f"{as_text(now.get(name)) or 'none'};"
                    f" only {', '.join(name for name in self.config.LIMITS if name in now)} may "
                    "change"
                )
        try:
            self.updates, self.decisions, self.seconds = (
                state[name] for name in ("updates", "decisions", "seconds")
            )
            self.curve, self.episodes, self._on_board = (
                state[name] for name in ("curve", "episodes", "on_board")
            )
            self.episodes.means()
            self.unpack(state["learner"])
        except (
            SkyenvError
        ):  # unpacking lets play begin, and what keeps it from that is no matter of the checkpoint
            raise
        except (
            Exception
        ) as error:  # its checksum is right, but something else than a learner can fail anywhere
            why = f"{type(error).__name__}: {str(error).partition(chr(10))[0]:.100}"
            raise CheckpointError(
                f"{path} holds something else than a training's checkpoint ({why})"
            ) from error

    # ---- the whole run ----

    def run(self) -> bool:
        """Train to the limit, with progress; False if Ctrl-C or SIGTERM came.

        In the end everything is saved.
        """
        saved = time.perf_counter()
        milestones.forget_after(self.folder, self.seconds)
        self._keep_milestone(self.seconds if self.updates else -1.0)
        with Interrupts() as interrupts:
            with self._bar() as bar:
                while not self.finished() and not interrupts.asked:
                    before = self.seconds
                    self.update()
                    self._show(bar)
                    with interrupts.held():
                        self._keep_milestone(before)
                    if time.perf_counter() - saved >= self.config.checkpoint_seconds:
                        with interrupts.held():
                            self.save()
                        saved = time.perf_counter()
            with interrupts.held():
                self.save()
                self._draw()
            return not interrupts.asked

    def _keep_milestone(self, before: float) -> None:
        """Keep the agent, if the time for it has come since the training was so many seconds old,
        or if that is finished.
        """
        apart = 60 * self.config.milestone_minutes
        if apart and (self.finished() or self.seconds // apart > before // apart):
            milestones.keep(self.folder, self.seconds, self.model())

    def _draw(self) -> None:
        """How the run went, and the run beside it, if that is still there."""
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
        """The shares of wins in the latest games, the lowest first; those at several kinds of
        tables as their mean.
        """
        shares: dict[str, list[float]] = {}
        for kind, share in self.curve[-1]["shares"].items():
            shares.setdefault(kind.split(",")[0], []).append(share)
        means = sorted((float(np.mean(values)), kind) for kind, values in shares.items())
        return ", ".join(f"{100 * share:.0f} % {kind}" for share, kind in means)

    # ---- how it plays in the end ----

    def measured(self) -> list[dict[str, Any]] | None:
        """What the closing evaluation found, if it is there and was made as it is wanted now;
        without one, nothing.
        """
        config = self.config
        if not config.paired_seeds:
            return []
        try:
            results: list[dict[str, Any]] = json.loads(
                (self.folder / EVALUATION).read_text(encoding="utf-8")
            )
            made = [
                (one["num_players"], one["side"], one["opponent"], one["paired_seeds"])
                for one in results
            ]
            self.summary(results)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        names = [agent.name for agent in config.make_agents("against")]
        wanted = [
            (players, side, name, config.paired_seeds)
            for players, side in config.tables
            for name in names
        ]
        return results if made == wanted else None

    def forget_evaluation(self) -> None:
        """Remove what an earlier evaluation found: the agent is about to become another one."""
        for path in [*self.folder.glob("evaluation*"), *self.folder.glob("games*.jsonl")]:
            path.unlink()

    def close(self) -> list[dict[str, Any]]:
        """Measure the agent; write tables, plots and a few games; return the results.

        Raises:
            KeyboardInterrupt: Ctrl-C; a part of the figures would pass for the whole, so nothing is
                written.
        """
        config, folder = self.config, self.folder
        agent = make_agent(folder / MODEL)
        opponents = config.make_agents("against")
        # Not games of seeds next to the run's own, which are those that it was trained on.
        seed, secret = config.seed, int(secret_seeds(config.seed, [CLOSING_SEED])[0])
        turns = config.max_turns
        by_table: dict[tuple[int, str], list[Result]] = {}
        for players, side in config.tables:
            by_table[players, side] = evaluate(
                agent,
                opponents,
                players,
                side,
                config.paired_seeds,
                seed,
                max_turns=turns,
                secret=secret,
                progress=True,
            )
            if len(by_table[players, side]) < len(opponents) or any(
                one.interrupted for one in by_table[players, side]
            ):
                raise KeyboardInterrupt
        for (players, side), results in by_table.items():
            name = "" if len(by_table) == 1 else f"-{players}-{side}"
            plot_results(results, folder / f"evaluation{name}.png")
            records = folder / f"games{name}.jsonl"
            record_games(
                records,
                agent,
                opponents,
                players,
                side,
                2 * players,
                seed,
                max_turns=turns,
                secret=secret,
            )
        every = [result for results in by_table.values() for result in results]
        write_atomically(folder / "evaluation.txt", table(every) + "\n")
        write_atomically(folder / EVALUATION, as_json(every))
        return [asdict(result) for result in every]

    def summary(self, results: Sequence[Mapping[str, Any]]) -> str:
        """What was found, for a terminal of 80 columns."""
        return summary(results)


# ---- the program ----


def program(
    training: type[Run], config: type[RunConfig], description: str, arguments: Sequence[str] | None
) -> int:
    """The command line of a trainer; returns the exit code: 0 all right, 1 a file is bad, 2 the
    command is, 130 interrupted.

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
                raise CheckpointError(f"no checkpoint to go on from: {checkpoint}: no such file")
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
    elif (folder / CHECKPOINT).exists():
        raise OptionError(
            f"{config.run} holds a run; go on with it by --resume, or choose another folder with "
            "--run"
        )
    else:
        training.begin()
        training.save()  # now, and not after a minute, it turns out whether it can be saved
    write_atomically(folder / CONFIG, json.dumps(config.as_dict(), indent=2) + "\n")
    results = training.measured() if training.finished() else None
    if results is None:
        if not training.finished():
            training.forget_evaluation()
            if not training.run():
                print(
                    f"stopped; `python -m experiments.training.{training.PROGRAM} --run "
                    f"{config.run} --resume` goes on"
                )
                return INTERRUPTED
        results = _closed(training)
    print(
        f"{config.run} is finished: {training.decisions:,} decisions in "
        f"{training.seconds / 60:.1f} minutes of training.\n"
    )
    print(
        "\n\n".join(
            part
            for part in (training.summary(results), how_to_go_on(config, training.PROGRAM))
            if part
        )
    )
    return 0


def _closed(training: Run) -> list[dict[str, Any]]:
    """The closing evaluation, announced."""
    if not training.config.paired_seeds:
        return []
    names = " and ".join(training.config.against)
    seconds = training.closing_seconds()
    notice = f"Measuring the agent against {names}: {training.closing_games():,} games, about {max(seconds, 1):.0f} s …"
    print(notice, file=sys.stderr)
    return training.close()
