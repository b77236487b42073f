"""One small error class for each kind of mistake.

All of them are :class:`SkyenvError`, so ``except SkyenvError`` catches whatever this package
has to say about its input, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


def shown(value: object, length: int = 60) -> str:
    """A value as error messages show it: short whatever it is, even a number too long to write
    out.
    """
    try:
        return repr(value)[:length]
    except RecursionError:
        return f"a {type(value).__name__} nested too deeply"
    except ValueError:
        return (
            f"a number of {value.bit_length()} bits"
            if isinstance(value, int)
            else f"a {type(value).__name__}"
        )


def cause(error: BaseException) -> str:
    """What an error of somebody else's code says, short and in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split()):.200}"


def install_hint(extra: str) -> str:
    """What messages advise where a package of an extra is missing; skyenv is installed from clones
    and wheels, from no index.
    """
    in_a_clone = f"in a clone, python -m pip install '.[{extra}]'"
    return f"install the extra [{extra}]: {in_a_clone}; of a wheel, 'skyenv-….whl[{extra}]'"


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Import modules that an extra installs.

    Raises:
        ModuleNotFoundError: one of them is missing; it names the extra.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{error}; {install_hint(extra)}", name=error.name) from error


class SkyenvError(Exception):
    """Base class of every error that skyenv raises on purpose.

    All can be pickled: the message alone makes one again, and what else it says are attributes.
    """


class OptionError(SkyenvError, ValueError):
    """A constructor, function or command was given an option that it doesn't have or a value that
    it doesn't take.
    """


class BoardError(OptionError):
    """A board file or board table is wrong."""


class IllegalActionError(SkyenvError, ValueError):
    """An action is not legal in the position. Nothing has changed.

    Attributes:
        action: what was asked for.
        row: index of the game in a batch, or None for a single game.
    """

    def __init__(self, message: str, action: object = None, row: int | None = None) -> None:
        super().__init__(message)
        self.action = action
        self.row = row


class GameOverError(IllegalActionError):
    """An action was asked for after the end of the game. Nothing has changed."""


class ChanceError(SkyenvError, ValueError):
    """A chance outcome given from outside is impossible here. Nothing has changed.

    Attributes:
        index: which of the given outcomes (0 is the first) is the wrong one.
    """

    def __init__(self, message: str, index: int = 0) -> None:
        super().__init__(message)
        self.index = index


class RecordError(SkyenvError, ValueError):
    """A game record can't be read, or it tells of something that the rules don't allow.

    Attributes:
        line: number of the line with the first mistake, counted from 1; None if no line is to
            blame.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class AgentError(SkyenvError, ValueError):
    """An agent can't be found or made, or answered with something other than one legal action for
    each decision.
    """


class RenderError(SkyenvError, ValueError):
    """A picture can't be made or shown here: a package of an extra is missing, or there is no
    display.
    """


class CheckpointError(SkyenvError, ValueError):
    """A checkpoint is damaged, incomplete, or was written for something else."""


class DatasetError(SkyenvError, ValueError):
    """A dataset can't be written or gone on with: its folder holds another one or is damaged, or a
    package is missing.
    """


class FolderInUseError(SkyenvError, ValueError):
    """Another process works in a folder that only one may work in."""
