"""What the programs of this folder have in common: how they complain, their exit codes, whole numbers on the command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Final, NoReturn

from skyenv.errors import AgentError, OptionError, SkyenvError, shown

BAD_DATA: Final = 1
BAD_COMMAND: Final = 2
INTERRUPTED: Final = 130


class Parser(argparse.ArgumentParser):
    """A parser that complains in one line.

    Args:
        program: the module's name in experiments/. Other arguments are those of argparse.
    """

    def __init__(self, program: str, description: str) -> None:
        super().__init__(prog=f"python -m experiments.{program}", description=description, allow_abbrev=False)
        self.program = program

    def error(self, message: str) -> NoReturn:
        """See argparse."""
        complain(self.program, f"{message} (see --help)")
        self.exit(BAD_COMMAND)


def complain(program: str, message: str) -> None:
    """Tell what is wrong, in one line on stderr."""
    print(f"{program}: error: {message}", file=sys.stderr)


def whole(low: int, high: int) -> Callable[[str], int]:
    """A parser of whole numbers in a range."""

    def parse(digits: str) -> int:
        if len(digits) <= 19 and digits.isascii() and digits.isdigit() and low <= int(digits) <= high:
            return int(digits)
        raise argparse.ArgumentTypeError(f"must be a whole number from {low} to {high}, not {shown(digits, 40)}")

    return parse


def exit_code(program: str, run: Callable[[], int]) -> int:
    """Run a program's body; the exit code is what it returns, or what its error stands for, told in one line."""
    try:
        return run()
    except (OptionError, AgentError) as error:
        complain(program, str(error))
        return BAD_COMMAND
    except SkyenvError as error:
        complain(program, str(error))
        return BAD_DATA
    except OSError as error:
        complain(program, f"{error.filename}: {error.strerror}" if error.filename else str(error))
        return BAD_DATA
    except KeyboardInterrupt:
        complain(program, "interrupted")
        return INTERRUPTED
