"""The command line of a trainer: begin or resume a run, train, evaluate."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from experiments.training.checkpoint import CHECKPOINT
from experiments.training.closing import close, forget
from experiments.training.config import Config, earlier
from experiments.training.reports import beginning, how_to_go_on
from experiments.training.run import MODEL, Run
from skyenv.console.options import INTERRUPTED, run_program
from skyenv.errors import CheckpointError, OptionError
from skyenv.files import locked


@contextmanager
def terminating() -> Iterator[None]:
    """In this block SIGTERM raises KeyboardInterrupt, as SIGINT does."""
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def program(
    training: type[Run], config: type[Config], description: str, arguments: Sequence[str] | None
) -> int:
    """Run the command line of a trainer; return the exit code: 0 success, 1 a bad file, 2 a bad
    command, 130 interrupted.

    Args:
        training: the trainer. config: its options. description: what ``--help`` says of it.
        arguments: the command line; None: that of this process.
    """
    module = f"experiments.training.{training.PROGRAM}"
    return run_program(
        config, module, description, lambda given: launch(training(given)), arguments, earlier
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
        forget(folder)
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
        print(close(config), end="\n\n")
    print(how_to_go_on(config, training.PROGRAM, folder / MODEL))
    return 0
