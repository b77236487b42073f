"""What the command lines have in common: how they complain, and their exit codes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import Final, NoReturn

from skyenv.errors import AgentError, BoardError, OptionError, SkyenvError

BAD_DATA: Final = 1
BAD_COMMAND: Final = 2
INTERRUPTED: Final = 130


class Parser(argparse.ArgumentParser):
    """A parser that complains in one line.

    Args:
        command: how Python is told to run it: a module, and a subcommand if it is one (``"skyenv
            evaluate"``). Its last word is what complaints begin with.
        description: what the program does.
    """

    def __init__(self, command: str, description: str) -> None:
        super().__init__(prog=f"python -m {command}", description=description, allow_abbrev=False)
        self.program = command.replace(".", " ").split()[-1]

    def error(self, message: str) -> NoReturn:
        """See argparse."""
        complain(self.program, f"{message} (see --help)")
        self.exit(BAD_COMMAND)


def complain(program: str, message: str) -> None:
    """Tell what is wrong, in one line on stderr."""
    print(f"{program}: error: {message}", file=sys.stderr)


def exit_code(program: str, run: Callable[[], int]) -> int:
    """Run a program's body; the exit code is what it returns, or what its error stands for, told in
    one line.
    """
    try:
        return run()
    except SkyenvError as error:
        complain(program, str(error))
        # A wrong board file is bad data, though a board is an option of the library.
        return (
            BAD_COMMAND
            if isinstance(error, (OptionError, AgentError)) and not isinstance(error, BoardError)
            else BAD_DATA
        )
    except BrokenPipeError:
        # Whoever read our output has gone. Python would complain once more when it flushes stdout
        # at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BAD_DATA
    except OSError as error:
        complain(program, f"{error.filename}: {error.strerror}" if error.filename else str(error))
        return BAD_DATA
    except KeyboardInterrupt:
        complain(program, "interrupted")
        return INTERRUPTED
