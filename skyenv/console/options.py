"""Options of command-line programs, and their exit codes.

Options are a frozen dataclass. Values come from the command line, then from a TOML file
(``--config``), then from the defaults.

>>> @dataclass(frozen=True)
... class Example(Options):
...     agent: str = argument("who plays")
...     seed: int = common("seed")
...     against: tuple[str, ...] = option(("random",), "opponents")
>>> parse(Example, "skyenv example", Help("an example"), ["greedy", "--against", "bidder,builder"])
Example(agent='greedy', seed=1, against=('bidder', 'builder'))

A field's type is int, float, str, bool, Path, or a tuple of one of them, optionally ``| None``.
Tuples are separated by commas or spaces on the command line; TOML takes a list or the same text.
The constructor checks types, choices and limits.
"""

import argparse
import contextlib
import io
import os
import shlex
import sys
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from types import UnionType
from typing import (
    Any,
    Concatenate,
    Final,
    NamedTuple,
    NoReturn,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from skyenv.checks import check_choice, check_integer, check_number, parse_integer
from skyenv.console.tables import folded, wrapped
from skyenv.engine.options import DEFAULT_MAX_TURNS
from skyenv.engine.thread_pool import DECISIONS_PER_THREAD, MAX_THREADS
from skyenv.errors import (
    AgentError,
    BoardError,
    CheckpointError,
    MissingExtraError,
    OptionError,
    SkyenvError,
    shown,
)
from skyenv.files import check_new
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES
from skyenv.runtime import WARNINGS, handling, shortage, stop_at_once
from skyenv.seeds import HIGHEST_SEED

BAD_DATA: Final = 1
BAD_COMMAND: Final = 2
INTERRUPTED: Final = 130
GOES_ON: Final = "; the same command goes on"
# The default upper bound of numbers.
MOST: Final = 1e12
# Placeholders of values, by type, and the longest list of choices that is one.
METAVARS: Final = {int: "N", float: "X", str: "TEXT", Path: "FILE"}
LONGEST: Final = 24
# The largest number of workers, all machines together.
MAX_WORKERS: Final = 1024


@dataclass(frozen=True)
class Option:
    """What the command line says and checks of a field of :class:`Options`.

    Attributes:
        text: the help text.
        choices: the valid values; empty: not restricted.
        low, high: limits of numbers, inclusive; with `above`, `low` is excluded.
        short: a second flag, such as ``-o``.
        metavar: placeholder of the value in ``--help``; "": the choices, or by METAVARS.
        positional: whether it is a positional argument.
        writes: whether the program writes this file. It is overwritten only with ``--replace``.
        section: heading in ``--help`` of this option and the following ones; "": the last one.
    """

    text: str
    choices: Sequence[str] = ()
    low: float = 0
    high: float = MOST
    above: bool = False
    short: str = ""
    metavar: str = ""
    positional: bool = False
    writes: bool = False
    section: str = ""


Given = ParamSpec("Given")


def _with_default(kind: Callable[Given, Option]) -> Callable[Concatenate[Any, Given], Any]:
    """Return a function that makes a field from its default value and the attributes of an
    :class:`Option`.
    """

    def made(default: Any, /, *args: Given.args, **kwargs: Given.kwargs) -> Any:
        return field(default=default, metadata={OPTION: kind(*args, **kwargs)})

    return made


# Key of a field's :class:`Option` in its metadata.
OPTION: Final = "option"
option: Final = _with_default(Option)
"""Return a field of :class:`Options`, a flag ``--its-name`` on the command line, from its default
value, its help text and other attributes of :class:`Option`.
"""


def argument(text: str, *, metavar: str = "", default: Any = MISSING) -> Any:
    """Return a positional argument, a field of :class:`Options`; required without a default."""
    return option(default, text, metavar=metavar, positional=True)


# The default values of options that several programs share, and what is said of them.
COMMON: Final[Mapping[str, tuple[Any, Option]]] = {
    "players": (
        2,
        Option("number of players", low=MIN_PLAYERS, high=MAX_PLAYERS),
    ),
    "side": ("front", Option("side of the board", SIDES)),
    "seed": (1, Option("random seed", high=HIGHEST_SEED, metavar="S")),
    "paired_seeds": (
        500,
        Option(
            "number of paired seeds: deals, each played once from every seat",
            low=1,
            high=10**7,
        ),
    ),
    "secret": (
        None,
        Option(
            "secret that decides deals and agents' random numbers together with the seed "
            "(default: random)",
            high=HIGHEST_SEED,
            metavar="S",
        ),
    ),
    "max_turns": (
        DEFAULT_MAX_TURNS,
        Option("turns after which a game is truncated", low=1, high=2**31 - 1),
    ),
    "threads": (
        1,
        Option(
            "threads for torch (more are slower on a busy machine) and for batches of "
            f"{2 * DECISIONS_PER_THREAD:,} games or more",
            low=1,
            high=MAX_THREADS,
        ),
    ),
    "minutes": (0.0, Option("time limit in minutes; 0: no limit", high=1e6, metavar="M")),
    "workers": (
        0,
        Option("worker processes; 0: one per core", high=MAX_WORKERS, metavar="W"),
    ),
    "ray": (
        None,
        Option(
            "distribute the work with Ray, --workers on all machines together: auto (the cluster "
            "running here), HOST:PORT of a cluster's head, or local (start one)",
            metavar="RAY",
        ),
    ),
    "against": (("random", "greedy"), Option("opponents", metavar="AGENT")),
    "resume": (False, Option("resume an interrupted run")),
    "json": (
        None,
        Option("write the results to this JSON file", metavar="FILE", writes=True),
    ),
}


def common(name: str, *, default: Any = ..., **changes: Any) -> Any:
    """Return a field for an option of :data:`COMMON` with another default value or other
    attributes.
    """
    usual, shape = COMMON[name]
    value = usual if default is ... else default
    return field(default=value, metadata={OPTION: replace(shape, **changes)})


@dataclass(frozen=True)
class Options:
    """Base class of options, whose constructor converts values to the fields' types and checks
    them.

    Raises:
        OptionError: a value has a wrong type, is not among the choices, or is out of range; the
            message names the option.
    """

    def __post_init__(self) -> None:
        for entry, kind in _entries(type(self)):
            object.__setattr__(self, entry.name, _converted(entry, kind, getattr(self, entry.name)))


class Help(NamedTuple):
    """What ``--help`` says of a program beside its options.

    Attributes:
        what: what the program does, in one sentence.
        example: the words of an example after those of the command.
        page: the page of the docs.
    """

    what: str
    example: str = ""
    page: str = ""


class Parser(argparse.ArgumentParser):
    """An argument parser that reports errors in one line.

    Args:
        command: the words after ``python -m``, such as ``"skyenv evaluate"``. Error messages begin
            with the last one.
        told: what ``--help`` says of the program.
        usage: the words that ``--help`` shows after the command.
    """

    def __init__(self, command: str, told: Help, usage: str) -> None:
        called = f"python -m {command}"
        super().__init__(
            prog=called,
            usage=f"{called} {usage}",
            description=wrapped(f"{told.what[:1].upper()}{told.what[1:].rstrip('.')}."),
            epilog=f"example:\n  {folded(f'{called} {told.example}')}\n\nsee {told.page}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.program = command.replace(".", " ").split()[-1]

    def error(self, message: str) -> NoReturn:
        """Report an error and exit; see argparse."""
        complain(self.program, f"{message} (see --help)")
        self.exit(BAD_COMMAND)


def complain(program: str, message: str) -> None:
    """Print an error in one line on stderr."""
    print(f"{program}: error: {message}", file=sys.stderr)


def exit_code(program: str, run: Callable[[], int | None]) -> int:
    """Run a program's body; return its exit code, or the one of its error, which is printed in one
    line.

    Signals to stop and schedulers' warnings (:mod:`skyenv.runtime`) raise KeyboardInterrupt in it;
    the text of that, such as "; the same command resumes", is appended. Characters that stdout
    can't encode are replaced.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    try:
        with handling(stop_at_once, WARNINGS):
            return run() or 0
    except SkyenvError as error:
        complain(program, str(error))
        # A wrong board file counts as bad data, though a board is an option of the library.
        command = isinstance(error, (OptionError, AgentError, MissingExtraError))
        return BAD_COMMAND if command and not isinstance(error, BoardError) else BAD_DATA
    except BrokenPipeError:
        # The reader of the output has closed it. Python would fail again when it flushes stdout
        # at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BAD_DATA
    except KeyboardInterrupt as error:
        complain(program, f"interrupted{error}")
        return INTERRUPTED
    except Exception as error:
        why = shortage(error)
        if not why and not isinstance(error, OSError):
            raise
        text = f"{why}: {error}".strip(" :")
        if isinstance(error, OSError) and error.filename:
            text = f"{error.filename}: {error.strerror}"
        complain(program, text)
        return BAD_DATA


@contextlib.contextmanager
def resumable(stored: object, how: str = GOES_ON) -> Iterator[None]:
    """Append how to go on to the text of a KeyboardInterrupt in the block, if work is stored."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(f"{error}{how if stored else ''}") from None


# ---- one value ----


def _entries(kind: type[Options]) -> list[tuple[Field[Any], Any]]:
    """Return the fields that are options, with their types."""
    types = get_type_hints(kind)
    return [(entry, types[entry.name]) for entry in fields(kind) if OPTION in entry.metadata]


def about(entry: Field[Any]) -> Option:
    """Return what the command line says of an option."""
    made: Option = entry.metadata[OPTION]
    return made


def _parts(kind: Any) -> tuple[Any, bool, bool]:
    """Return the type of one value, whether the field is a tuple, and whether it may be None."""
    optional = get_origin(kind) in (Union, UnionType)
    if optional:
        (kind,) = (part for part in get_args(kind) if part is not type(None))
    several = get_origin(kind) is tuple
    return get_args(kind)[0] if several else kind, several, optional


def _converted(entry: Field[Any], kind: Any, value: Any) -> Any:
    """Convert a value from Python, TOML or the command line (a text) to the field's type; raise
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
    none = [""] if "none" in about(entry).choices else ["", "none"]
    if len(words) == 1 and words[0] in none:
        return ()
    return tuple(_single(entry, single, word) for word in words)


def _single(entry: Field[Any], kind: type, value: Any) -> Any:
    name, limits = entry.name, about(entry)
    if kind is int:
        low, high = int(limits.low), int(limits.high)
        parsed = parse_integer(value, low, high) if isinstance(value, str) else None
        return check_integer(name, value if parsed is None else parsed, low, high)
    if kind is float:
        with contextlib.suppress(ValueError):
            value = float(value) if isinstance(value, str) else value
        number = check_number(name, value, limits.low, limits.high)
        if limits.above and number == limits.low:
            raise OptionError(f"{name} must be above {number:g}")
        return number
    if kind is bool and isinstance(value, bool):
        return value
    if kind in (str, Path) and isinstance(value, (str, Path)):
        if "\0" in str(value):
            raise OptionError(f"{name} must not have a null byte in it: {shown(value)}")
        if limits.choices:
            check_choice(name, value, limits.choices)
        return kind(value)
    raise OptionError(f"{name} must be of type {kind.__name__}, not {shown(value)}")


# ---- the command line and the file ----

Kind = TypeVar("Kind", bound=Options)


def parse(
    kind: type[Kind],
    command: str,
    told: Help,
    arguments: Sequence[str] | None = None,
    earlier: Callable[[Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any]] | None = None,
) -> Kind:
    """Read a program's options.

    Args:
        kind: the class of options.
        command, told: as for :class:`Parser`.
        arguments: the command line; None: this process's.
        earlier: called with the given values and the defaults; returns values for options that were
            not given, such as those of a run to resume.

    Raises:
        OptionError: a value is invalid, or the TOML file names an unknown option. CheckpointError:
            that file can't be read. FileExistsError: a file would be overwritten.
        SystemExit: the command line has unknown options or lacks values; stderr has the message.
    """
    entries = _entries(kind)
    usage = [*(_in_usage(*entry) for entry in entries), "[options]"]
    parser = Parser(command, told, " ".join(filter(None, usage)))
    section: argparse._ActionsContainer = parser
    for entry, type_of in entries:
        if heading := about(entry).section:
            section = parser.add_argument_group(heading)
        _add(section, entry, type_of)
    parser.add_argument(
        "--config",
        default=argparse.SUPPRESS,
        metavar="FILE",
        help="TOML file with options under their names here",
    )
    written = [entry.name for entry, _ in entries if about(entry).writes]
    if written:
        parser.add_argument("--replace", action="store_true", help="overwrite existing files")
    given = vars(parser.parse_args(arguments))
    file, replace = given.pop("config", None), given.pop("replace", False)
    defaults = {entry.name: entry.default for entry, _ in entries}
    values = {**({} if file is None else _read_toml(file, defaults)), **given}
    if earlier is not None:
        before = earlier(values, defaults)
        values = {**{name: before[name] for name in defaults if name in before}, **values}
    for entry, _ in entries:
        if entry.default is MISSING and entry.name not in values:
            named = "/".join(_flags(entry)) or about(entry).metavar
            parser.error(f"{named} is required: {about(entry).text}")
    options = kind(**values)
    kept = replace or getattr(options, "resume", False)
    for path in [path for name in written if (path := getattr(options, name)) and not kept]:
        check_new(path)
    return options


def run_program(
    kind: type[Kind],
    command: str,
    told: Help,
    run: Callable[[Kind], int | None],
    arguments: Sequence[str] | None = None,
    earlier: Callable[[Mapping[str, Any], Mapping[str, Any]], Mapping[str, Any]] | None = None,
) -> int:
    """Run a program with its options; return its exit code (:func:`exit_code`). Arguments other
    than `run` are those of :func:`parse`.
    """
    name = command.replace(".", " ").split()[-1]
    return exit_code(name, lambda: run(parse(kind, command, told, arguments, earlier)))


def program(
    kind: type[Kind], command: str, told: Help, run: Callable[[Kind], int | None]
) -> Callable[..., int]:
    """Return a program's main function, from the words of the command line (None: of this process)
    to the exit code. Arguments are those of :func:`run_program`.
    """
    return partial(run_program, kind, command, told, run)


def _add(section: argparse._ActionsContainer, entry: Field[Any], kind: Any) -> None:
    """Add an option to a section of a parser, which reads it as text and leaves it out if it isn't
    given.
    """
    single, several, _ = _parts(kind)
    shape = about(entry)
    text, choices = shape.text, [choice for choice in shape.choices if choice]
    metavar = shape.metavar or (f"{{{','.join(choices)}}}" if choices else METAVARS.get(single, ""))
    if choices and (shape.metavar or len(metavar) > LONGEST or several):
        metavar, text = shape.metavar or entry.name.upper(), f"{text}: {', '.join(choices)}"
    if entry.default is not MISSING and "(default: " not in text and single is not bool:
        text += f" (default: {as_text(entry.default) or 'none'})"
    how: dict[str, Any] = {"default": argparse.SUPPRESS, "help": text.replace("%", "%%")}
    how |= {"action": "store_true"} if single is bool else {"metavar": metavar}
    if shape.positional:
        section.add_argument(entry.name, nargs="*" if several else "?", **how)
        return
    if several:
        how["nargs"] = "+"
    section.add_argument(*_flags(entry), dest=entry.name, **how)


def _in_usage(entry: Field[Any], kind: Any) -> str:
    """Return an argument or a required option as in the usage; "" of other options."""
    shape, several = about(entry), _parts(kind)[1]
    value = f"{shape.metavar} ..." if several else shape.metavar
    if entry.default is MISSING:
        return " ".join([*_flags(entry)[:1], value])
    return f"[{value}]" if shape.positional else ""


def _flags(entry: Field[Any]) -> list[str]:
    """Return the flags of an option; empty for a positional argument."""
    if about(entry).positional:
        return []
    return [flag for flag in (about(entry).short, "--" + entry.name.replace("_", "-")) if flag]


def as_text(value: Any) -> str:
    """Return a value as the command line takes it."""
    if isinstance(value, (list, tuple)):
        return ",".join(map(as_text, value)) or "none"
    if isinstance(value, float) and float(f"{value:g}") == value:
        return f"{value:g}"
    return "" if value is None else str(value)


def _read_toml(path: str, names: Collection[str]) -> dict[str, Any]:
    """Return the options in a TOML file, by name.

    Raises:
        OptionError: an option is unknown. CheckpointError: it is not TOML. OSError: it can't be
            read.
    """
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, or a huge number
        raise CheckpointError(f"{path} can't be read as TOML: {error}") from error
    values = {key.replace("-", "_"): value for key, value in content.items()}
    for name in values.keys() - set(names):
        raise OptionError(f"{path}: unknown option {shown(name)}; there are {', '.join(names)}")
    return values


def command_line(kind: type[Options], command: str, values: Mapping[str, Any]) -> str:
    """Return the command with all these values written out, as defaults may change one day.

    Args:
        kind: the class of options, whose fields decide the order. command: such as ``"skyenv
            tournament"``.
        values: values by field; None and False are left out.

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
