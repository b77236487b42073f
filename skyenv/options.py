"""Programs: their options, and how they end.

Options are a frozen dataclass, filled from the command line, over a TOML file (``--config``), over
its defaults.

>>> @dataclass(frozen=True)
... class Example(Options):
...     agent: str = argument("who plays")
...     seed: int = common("seed")
...     against: tuple[str, ...] = option(("random",), "opponents")
>>> parse(Example, "skyenv example", "An example.", ["greedy", "--against", "crowd,hoard"])
Example(agent='greedy', seed=1, against=('crowd', 'hoard'))

A field's type says what is read: int, float, str, bool, Path, or a tuple of one of them (several,
with commas or spaces between on the command line; a list or the same text in TOML), each with ``|
None`` where there may be none. An instance is always right in itself: whatever made it, types,
choices and limits were checked.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import sys
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from types import UnionType
from typing import Any, Final, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

from skyenv.checks import check_choice, check_integer, check_number, parse_integer
from skyenv.engine.options import DEFAULT_MAX_TURNS
from skyenv.engine.thread_pool import DECISIONS_PER_THREAD, MOST_THREADS
from skyenv.errors import AgentError, BoardError, CheckpointError, OptionError, SkyenvError, shown
from skyenv.files import check_new
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES
from skyenv.seeds import HIGHEST_SEED

BAD_DATA: Final = 1
BAD_COMMAND: Final = 2
INTERRUPTED: Final = 130
GOES_ON: Final = "; the same command goes on"
MOST: Final = 1e12
"""No number is larger, if its option says nothing else."""
MOST_WORKERS: Final = 1024
"""Of all machines together."""


def option(
    default: Any,
    text: str,
    *,
    choices: Sequence[str] | None = None,
    low: float = 0,
    high: float = MOST,
    above: bool = False,
    short: str = "",
    metavar: str = "",
    positional: bool = False,
    writes: bool = False,
) -> Any:
    """A field of :class:`Options` that the command line calls ``--its-name``.

    Args:
        default: its value if nothing is said; a tuple's elements are joined by commas in
            ``--help``.
        text: what ``--help`` says of it.
        choices: the values it takes, if they are few words.
        low, high: limits of numbers, both included; `above`: `low` itself isn't.
        short: a second flag, such as ``-o``.
        metavar: what stands for the value in ``--help``; "" takes it from the type.
        positional: whether it stands there without a flag.
        writes: whether it is a file that the program writes. The command line then has
            ``--replace``, without which no file is replaced.
    """
    return field(
        default=default,
        metadata={
            "text": text,
            "choices": choices,
            "low": low,
            "high": high,
            "above": above,
            "short": short,
            "metavar": metavar,
            "positional": positional,
            "writes": writes,
        },
    )


def argument(text: str, *, metavar: str = "", default: Any = MISSING) -> Any:
    """A field of :class:`Options` that stands on the command line without a flag; without a default
    it must be given.
    """
    return option(default, text, metavar=metavar, positional=True)


COMMON: Final[Mapping[str, Mapping[str, Any]]] = {
    "players": {
        "default": 2,
        "text": "number of players",
        "low": MIN_PLAYERS,
        "high": MAX_PLAYERS,
        "metavar": "N",
    },
    "side": {"default": "front", "text": "side of the board", "choices": SIDES},
    "seed": {"default": 1, "text": "seed of everything", "high": HIGHEST_SEED, "metavar": "S"},
    "paired_seeds": {
        "default": 500,
        "text": "paired seeds: deals, each played once from every seat",
        "low": 1,
        "high": 10**7,
        "metavar": "N",
    },
    "secret": {
        "default": None,
        "text": "number that decides deals and agents' random numbers beside the seed "
        "(default: a new one)",
        "high": HIGHEST_SEED,
        "metavar": "S",
    },
    "max_turns": {
        "default": DEFAULT_MAX_TURNS,
        "text": "turns after which a game ends",
        "low": 1,
        "high": 2**31 - 1,
        "metavar": "N",
    },
    "threads": {
        "default": 1,
        "low": 1,
        "high": MOST_THREADS,
        "metavar": "N",
        "text": "threads for torch (several are slower on a busy machine), and for "
        f"{2 * DECISIONS_PER_THREAD:,} games and more",
    },
    "minutes": {
        "default": 0.0,
        "text": "stop after so many minutes; 0: no limit",
        "high": 1e6,
        "metavar": "M",
    },
    "workers": {
        "default": 0,
        "text": "processes; 0: one for each core, with --ray of all machines",
        "high": MOST_WORKERS,
        "metavar": "W",
    },
    "ray": {
        "default": None,
        "metavar": "RAY",
        "text": "spread the work with Ray: auto (the one that runs here), HOST:PORT of a "
        "cluster's head, local (one of its own)",
    },
    "against": {"default": ("random", "greedy"), "text": "opponents", "metavar": "AGENT"},
    "resume": {"default": False, "text": "go on where it was interrupted"},
    "json": {
        "default": None,
        "text": "write the figures as JSON to this file",
        "metavar": "FILE",
        "writes": True,
    },
}
"""What :func:`option` is given for the options that several programs have."""


SPREAD: Final = (
    "processes that play side by side; 0: one for each core, with --ray of all machines"
    " (default: this process plays; with --ray all machines' cores)"
)
"""The text of ``workers`` where by default nothing is spread."""


def common(name: str, **changes: Any) -> Any:
    """A field for the option of this name in :data:`COMMON`; `changes` replace what :func:`option`
    is given.
    """
    return option(**{**COMMON[name], **changes})


@dataclass(frozen=True)
class Options:
    """Base of all options: what an instance is made with is brought to the fields' types and
    checked.

    Raises:
        OptionError: a value is of a wrong type, or none of its choices, or outside of its limits;
            it names the option.
    """

    def __post_init__(self) -> None:
        for entry, kind in _entries(type(self)):
            object.__setattr__(self, entry.name, _converted(entry, kind, getattr(self, entry.name)))


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


def exit_code(program: str, run: Callable[[], int | None]) -> int:
    """Run a program's body; the exit code is what it returns, or what its error stands for, told in
    one line. What a KeyboardInterrupt says, such as "; the same command goes on", is added there.
    """
    try:
        return run() or 0
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
    except KeyboardInterrupt as error:
        complain(program, f"interrupted{error}")
        return INTERRUPTED


# ---- one value ----


def _entries(kind: type[Options]) -> list[tuple[Field[Any], Any]]:
    """The fields that are options, with their types."""
    types = get_type_hints(kind)
    return [(entry, types[entry.name]) for entry in fields(kind) if "text" in entry.metadata]


def _parts(kind: Any) -> tuple[Any, bool, bool]:
    """Of a field's type: the type of a single value, whether there may be several, and whether
    there may be none.
    """
    optional = get_origin(kind) in (Union, UnionType)
    if optional:
        (kind,) = (part for part in get_args(kind) if part is not type(None))
    several = get_origin(kind) is tuple
    return get_args(kind)[0] if several else kind, several, optional


def _converted(entry: Field[Any], kind: Any, value: Any) -> Any:
    """A value from Python, TOML or the command line (then it is text) as the field has it; raises
    OptionError.
    """
    single, several, optional = _parts(kind)
    if value is None and optional:
        return None
    if not several:
        return _single(entry, single, value)
    values = value if isinstance(value, (list, tuple)) else [value]
    words = [
        word
        for one in values
        for word in (map(str.strip, one.split(",")) if isinstance(one, str) else [one])
    ]
    return () if words == [""] else tuple(_single(entry, single, word) for word in words)


def _single(entry: Field[Any], kind: type, value: Any) -> Any:
    name, metadata = entry.name, entry.metadata
    if kind is int:
        low, high = int(metadata["low"]), int(metadata["high"])
        parsed = parse_integer(value, low, high) if isinstance(value, str) else None
        return check_integer(name, value if parsed is None else parsed, low, high)
    if kind is float:
        with contextlib.suppress(ValueError):
            value = float(value) if isinstance(value, str) else value
        number = check_number(name, value, metadata["low"], metadata["high"])
        if metadata["above"] and number == metadata["low"]:
            raise OptionError(f"{name} must be above {number:g}")
        return number
    if kind is bool and isinstance(value, bool):
        return value
    if kind in (str, Path) and isinstance(value, (str, Path)):
        if "\0" in str(value):
            raise OptionError(f"{name} must not have a null byte in it: {shown(value)}")
        if metadata["choices"]:
            check_choice(name, value, metadata["choices"])
        return kind(value)
    raise OptionError(f"{name} must be of type {kind.__name__}, not {shown(value)}")


# ---- the command line and the file ----

Kind = TypeVar("Kind", bound=Options)


def parse(
    kind: type[Kind],
    command: str,
    description: str,
    arguments: Sequence[str] | None = None,
    earlier: Callable[[Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any]] | None = None,
) -> Kind:
    """Read a program's options.

    Args:
        kind: what to make.
        command, description: as for :class:`Parser`.
        arguments: the command line; None: that of this process.
        earlier: is told the values that were given, and the defaults; what it returns, such as what
            the run to go on with had, counts for options that weren't given.

    Raises:
        OptionError: a value can't be used, or the TOML file names an unknown option.
            CheckpointError: that file can't be read. FileExistsError: a file would be replaced.
        SystemExit: the command line has unknown options or lacks values; it is told on stderr.
    """
    entries = _entries(kind)
    parser = Parser(command, description)
    for entry, type_of in entries:
        _add(parser, entry, type_of)
    parser.add_argument(
        "--config",
        default=argparse.SUPPRESS,
        metavar="FILE",
        help="TOML file with options, by their names here",
    )
    written = [entry.name for entry, _ in entries if entry.metadata["writes"]]
    if written:
        parser.add_argument("--replace", action="store_true", help="replace files that exist")
    given = vars(parser.parse_args(arguments))
    file, replace = given.pop("config", None), given.pop("replace", False)
    defaults = {entry.name: entry.default for entry, _ in entries}
    values = {**({} if file is None else _read_toml(file, defaults)), **given}
    if earlier is not None:
        before = earlier(values, defaults)
        values = {**{name: before[name] for name in defaults if name in before}, **values}
    for entry, _ in entries:
        if entry.default is MISSING and entry.name not in values:
            named = "/".join(_flags(entry)) or entry.metadata["metavar"] or entry.name
            parser.error(f"{named} is required: {entry.metadata['text']}")
    options = kind(**values)
    kept = replace or getattr(options, "resume", False)
    for path in [path for name in written if (path := getattr(options, name)) and not kept]:
        check_new(path)
    return options


def _add(parser: Parser, entry: Field[Any], kind: Any) -> None:
    """Let a parser know an option. It reads text alone, and leaves out what isn't said."""
    single, several, _ = _parts(kind)
    metadata = entry.metadata
    text = metadata["text"]
    if entry.default is not MISSING and "(default: " not in text and single is not bool:
        text += f" (default: {as_text(entry.default) or 'none'})"
    choices = ",".join(choice for choice in metadata["choices"] or () if choice)
    how: dict[str, Any] = {"default": argparse.SUPPRESS, "help": text.replace("%", "%%")}
    if single is bool:
        how["action"] = "store_true"
    else:
        how["metavar"] = metadata["metavar"] or (f"{{{choices}}}" if choices else single.__name__)
    if metadata["positional"]:
        parser.add_argument(entry.name, nargs="*" if several else "?", **how)
        return
    if several:
        how["nargs"] = "+"
    parser.add_argument(*_flags(entry), dest=entry.name, **how)


def _flags(entry: Field[Any]) -> list[str]:
    """The flags of an option, none if it stands there without."""
    if entry.metadata["positional"]:
        return []
    return [flag for flag in (entry.metadata["short"], "--" + entry.name.replace("_", "-")) if flag]


def as_text(value: Any) -> str:
    """A value as it is written on the command line."""
    if isinstance(value, (list, tuple)):
        return ",".join(map(as_text, value))
    if isinstance(value, float) and float(f"{value:g}") == value:
        return f"{value:g}"
    return "" if value is None else str(value)


def _read_toml(path: str, names: Collection[str]) -> dict[str, Any]:
    """The options in a TOML file, by their names.

    Raises:
        OptionError: an unknown option. CheckpointError: it is no TOML. OSError: it can't be read.
    """
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:  # no TOML, no UTF-8, a huge number
        raise CheckpointError(f"{path} can't be read as TOML: {error}") from error
    values = {key.replace("-", "_"): value for key, value in content.items()}
    for name in values.keys() - set(names):
        raise OptionError(f"{path}: unknown option {shown(name)}; there are {', '.join(names)}")
    return values


def command_line(kind: type[Options], command: str, values: Mapping[str, Any]) -> str:
    """The command that asks for these values: all of them, as their defaults may change one day.

    Args:
        kind: whose fields tell the order. command: such as ``"skyenv tournament"``.
        values: by field; None and False are left out.

    Raises:
        KeyError: a field has no value.
    """
    words = ["python", "-m", *command.split()]
    for entry, _ in _entries(kind):
        value, flags = values[entry.name], _flags(entry)[-1:]
        if value is None or value is False:
            continue
        several = isinstance(value, (list, tuple)) and not flags
        parts = [] if value is True else map(as_text, value if several else [value])
        words += [*flags, *parts]
    return shlex.join(words)
