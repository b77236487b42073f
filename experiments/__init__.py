"""Programs for training, benchmarks and maintenance.

Run them from a clone, as ``python -m experiments.NAME``.
"""

import sys
from pathlib import Path
from types import TracebackType
from typing import Final

from skyenv.console.options import BAD_COMMAND, complain
from skyenv.errors import MissingExtraError, install_hint

# Extras by the packages that programs import themselves.
EXTRAS: Final = {
    "gymnasium": "gymnasium",
    "pyarrow": "dataset",
    "sb3_contrib": "train",
    "stable_baselines3": "train",
    "torch": "train",
}


def _remedy(program: str, error: BaseException) -> str:
    """Return what a program misses and how to install it, if that is its error; else ""."""
    if not isinstance(error, ModuleNotFoundError):
        return ""
    name = str(error.name).partition(".")[0]
    requirements = Path(f"{program.replace('.', '/')}.txt")
    if requirements.is_file():
        return f"No module named '{name}'; install what {requirements} lists"
    if isinstance(error, MissingExtraError):
        return str(error)
    return f"No module named '{name}'; {install_hint(EXTRAS[name])}" if name in EXTRAS else ""


def _report(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    """Print an uncaught error; a missing package in one line, with the exit code of commands."""
    words = (word.removeprefix("-m") for word in sys.orig_argv)
    program = next(word for word in words if word.startswith(f"{__name__}."))
    if not (remedy := _remedy(program, error)):
        sys.__excepthook__(kind, error, traceback)
        return
    complain(program.rpartition(".")[2], remedy)
    sys.exit(BAD_COMMAND)


if sys.argv[0] == "-m":  # Python looks for a program in this package
    sys.excepthook = _report
