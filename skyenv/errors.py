"""The errors that skyenv raises.

All of them derive from :class:`SkyenvError`, so ``except SkyenvError`` catches every complaint
about input, and nothing else.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec


def shown(value: object, length: int = 60) -> str:
    """Return a short text of a value for error messages, even for numbers too long to print."""
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
    """Return the message of an error from foreign code, short and in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split()):.200}"


def install_hint(extra: str) -> str:
    """Return how to install a missing extra; skyenv is installed from clones and wheels, not from
    an index.
    """
    in_a_clone = f"in a clone, python -m pip install --editable '.[{extra}]'"
    return f"install the extra [{extra}]: {in_a_clone}; of a wheel, 'skyenv-….whl[{extra}]'"


class SkyenvError(Exception):
    """Base class of skyenv's errors.

    All can be pickled: the constructor takes the message alone, the rest are attributes.
    """


class MissingExtraError(SkyenvError, ModuleNotFoundError):
    """A package of an extra isn't installed; the message names the extra, `name` the module."""


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Import modules that an extra installs; of nested blocks the outermost names its extra.

    Raises:
        MissingExtraError: a module is missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        text = f"No module named '{error.name}'; {install_hint(extra)}"
        raise MissingExtraError(text, name=error.name) from None


def check_extra(extra: str, *modules: str) -> None:
    """Raise MissingExtraError unless modules of an extra are installed; import nothing."""
    for module in modules:
        if find_spec(module) is None:
            with needs_extra(extra):
                raise ModuleNotFoundError(name=module)


class OptionError(SkyenvError, ValueError):
    """An option is unknown, its value is invalid, or what was asked for is impossible with it, in a
    constructor, function or command.
    """


class UnknownOptionError(OptionError, TypeError):
    """There is no option of that name. Libraries such as TorchRL try options and expect Python's
    TypeError, whose words the message repeats.
    """


class BoardError(OptionError):
    """A board file or board table is invalid."""


class IllegalActionError(SkyenvError, ValueError):
    """An action is not legal in the position; nothing has changed.

    Attributes:
        action: the action as given.
        row: index of the game in a batch, or None for a single game.
    """

    def __init__(self, message: str, action: object = None, row: int | None = None) -> None:
        super().__init__(message)
        self.action = action
        self.row = row


class GameOverError(IllegalActionError):
    """An action was given after the end of the game; nothing has changed."""


class ChanceError(SkyenvError, ValueError):
    """A forced chance outcome is impossible in the position; nothing has changed.

    Attributes:
        index: index of the impossible outcome among those given.
    """

    def __init__(self, message: str, index: int = 0) -> None:
        super().__init__(message)
        self.index = index


class RecordError(SkyenvError, ValueError):
    """A game record is unreadable or contradicts the rules.

    Attributes:
        line: number of the first wrong line, counted from 1; None if the error concerns no line.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class AgentError(SkyenvError, ValueError):
    """An agent can't be found or constructed, or did not return one legal action per decision."""


class RenderError(SkyenvError, ValueError):
    """A picture can't be shown: there is no display."""


class CheckpointError(SkyenvError, ValueError):
    """A checkpoint is damaged, incomplete, or made for another kind of game or agent."""


class DatasetError(SkyenvError, ValueError):
    """A dataset can't be written or resumed: its folder is damaged or holds another one."""


class FolderInUseError(SkyenvError, ValueError):
    """Another process has locked the folder."""
