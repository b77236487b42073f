"""The command line of a trainer: begin or resume a run, train, evaluate."""

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from experiments.training.checkpoint import CHECKPOINT
from experiments.training.closing import close, forget
from experiments.training.config import Config, earlier
from experiments.training.health import report
from experiments.training.run import MODEL, Run
from skyenv.console.options import Help, run_program
from skyenv.engine.openings import OF_AUCTIONS, task_name
from skyenv.errors import CheckpointError, OptionError
from skyenv.files import locked, write_atomically

# The end of what a new run prints first.
EXPECTED: Final = """
From nothing, PPO wins about 60 % against random after 65,000 decisions, and
hardly a game against greedy before some millions. A bidding task (--task duel-3)
shows a curve within a minute."""


def program(
    training: type[Run], config: type[Config], told: Help, arguments: Sequence[str] | None
) -> int:
    """Run the command line of a trainer; return the exit code: 0 success, 1 a bad file or
    a training that diverges, 2 a bad command, 130 interrupted.

    Args:
        training: the trainer. config: its options. told: what ``--help`` says of it.
        arguments: the command line; None: that of this process.
    """
    module = f"experiments.training.{training.PROGRAM}"
    return run_program(
        config, module, told, lambda given: launch(training(given)), arguments, earlier
    )


def launch(training: Run) -> None:
    """Run a training, and close it with an evaluation (not with ``paired_seeds = 0``).

    Args:
        training: with a configuration of which only the single values are checked yet.

    Raises:
        SkyenvError, OSError: the configuration, the checkpoint or an agent can't be used, a file
            can't be written, or the training diverges. KeyboardInterrupt: a signal came; its text
            tells how to go on.
    """
    config, checkpoint = training.config, training.folder / CHECKPOINT
    try:
        config.check()
        if config.resume and not checkpoint.exists():
            raise CheckpointError(f"no checkpoint to continue from: {checkpoint}: no such file")
        with locked(training.folder):
            try:
                _launched(training)
            finally:
                training.end()
    except KeyboardInterrupt:
        module, run = f"experiments.training.{training.PROGRAM}", shlex.quote(config.run)
        goes_on = f"; `python -m {module} --run {run} --resume` goes on"
        untrained = " before anything was trained"
        raise KeyboardInterrupt(goes_on if checkpoint.exists() else untrained) from None


def _launched(training: Run) -> None:
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
        forget(folder)
        if not training.run():
            raise KeyboardInterrupt
    print(
        f"{config.run} is finished: {training.decisions:,} decisions in "
        f"{training.seconds / 60:.1f} minutes of training.\n",
        flush=True,
    )
    if config.paired_seeds:
        # An earlier evaluation may have put the first network in its place.
        write_atomically(folder / MODEL, training.model())
        print(close(config), end="\n\n")
    if health := report(training.curve):
        print(health, end="\n\n")
    print(how_to_go_on(config, training.PROGRAM, folder / MODEL))


# ---- what it prints ----


def beginning(config: Config) -> str:
    """Return what a new run begins with, its limits, and what to expect, as text."""
    source = config.start or config.prior or "nothing: random choices"
    return (
        f"{config.run} begins with {source}; its limits (0: none): "
        f"{config.decisions:,} decisions,\n{config.minutes:g} minutes of training.{EXPECTED}"
    )


def how_to_go_on(config: Config, program: str, model: Path) -> str:
    """Return suggested next commands; with a short run's name they fit 80 columns.

    Args:
        config: of the run. program: name of the trainer. model: the agent's file.
    """
    run = shlex.quote(config.run)
    rate = f"tournament --add {run} --players {config.players[0]} --minutes 2"
    if (task := task_name(config.task)) in OF_AUCTIONS:
        rate = f"exploitability {run} --task {task}"
    inside = Path(sys.executable).is_relative_to(Path.cwd())
    python = os.path.relpath(sys.executable) if inside else "python"
    return f"""The agent: {model}; how it went: {run}/curves.png
Train it further (limits of the whole run; 0: none):
  {python} -m experiments.training.{program} --run {run} \\
      --resume --decisions N --minutes M
Play against it:
  make play PLAY='--agents {run}'
Rate it:
  {python} -m skyenv {rate}
See its curves:
  {python} -m tensorboard.main --logdir {run}/tensorboard
Films and datasets of games need:
  {python} -m pip install --editable '.[pictures,dataset]'"""
