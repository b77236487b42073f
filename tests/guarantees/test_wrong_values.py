"""Invalid values of every option of every program, for each kind of error of its type; its help."""

import contextlib
import dataclasses
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from experiments import published
from experiments.benchmarks import __main__ as benchmarks
from experiments.benchmarks import algorithms, strength
from experiments.shipping import export, fit_leaves, openings
from experiments.training import best_response, expert_iteration, first, train
from experiments.training.config import Config
from processes import ROOT
from skyenv import cli
from skyenv.console.options import BAD_COMMAND, BAD_DATA, Options, about
from test_docs import dead_links

PROGRAMS: list[tuple[Callable[[Sequence[str]], int], list[str], type[Options]]] = [
    *((cli.main, [name], command.options) for name, command in cli.COMMANDS.items()),
    (train.main, [], Config),
    (best_response.main, [], best_response.BestResponseConfig),
    (expert_iteration.main, [], expert_iteration.ExpertConfig),
    (first.main, [], first.FirstOptions),
    (export.main, [], export.ExportConfig),
    (fit_leaves.main, [], fit_leaves.Fitting),
    (openings.main, [], openings.CollectOptions),
    (algorithms.main, [], algorithms.AlgorithmsOptions),
    (strength.main, [], strength.StrengthOptions),
    (benchmarks.main, [], benchmarks.BenchmarkOptions),
    (published.main, [], published.PublishedOptions),
]


def wrong_values(option: dataclasses.Field[Any], kind: str) -> Iterator[str]:
    """Texts that the option can't be."""
    limits = about(option)
    if limits.choices:
        yield "nonsense"
    for name in ("int", "float"):
        if name in kind:
            yield "nonsense"
            yield str(limits.low - 1)
            yield f"{2 * limits.high + 2:.0f}"
    if "float" in kind:
        yield "nan"


def programs() -> Iterator[tuple[Any, list[str], list[dataclasses.Field[Any]], Any]]:
    """A program, words with all that it needs, its options and their class."""
    for main, words, kind in PROGRAMS:
        options = [one for one in dataclasses.fields(kind) if one.metadata]
        needed = []
        for one in options:
            if one.default is dataclasses.MISSING:
                flag = [] if about(one).positional else [flag_of(one.name)]
                needed += [*flag, (about(one).choices or "x")[0]]
        yield main, [*words, *needed], options, kind


def mistakes() -> Iterator[Any]:
    """A program, its words with a mistake in them, and the option that is wrong."""
    for main, words, options, kind in programs():
        types = get_type_hints(kind)
        for one in options:
            for value in wrong_values(one, str(types[one.name])):
                given = value if about(one).positional else f"{flag_of(one.name)}={value}"
                wrong = [*words, given]
                yield pytest.param(main, wrong, one.name, id=" ".join([kind.__module__, *wrong]))


def flag_of(name: str) -> str:
    """How the command line calls an option."""
    return "--" + name.replace("_", "-")


@pytest.mark.parametrize(("main", "words", "option"), [*mistakes()])
def test_an_invalid_value_is_one_line_naming_the_option(
    main: Callable[[Sequence[str]], int],
    words: list[str],
    option: str,
    here: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing is written."""
    assert main(words) == BAD_COMMAND
    output, errors = capsys.readouterr()
    assert (output, errors.count("\n")) == ("", 1)
    assert f"error: {option} must be " in errors
    assert not [*here.iterdir()]


def outputs() -> Iterator[Any]:
    """A program and its words with the name of a file that is there."""
    for main, words, options, _ in programs():
        for one in options:
            if about(one).writes:
                wanted = [*words, flag_of(one.name), "kept"]
                yield pytest.param(main, wanted, id=" ".join(wanted))


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("main", "words"), [*outputs()])
def test_existing_files_are_replaced_only_with_replace(
    main: Callable[[Sequence[str]], int], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("kept").write_text("what took a night")
    assert main(words) == BAD_DATA
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("error: kept: File exists; use --replace to overwrite it")
    assert Path("kept").read_text() == "what took a night"


# ---- help ----


@pytest.mark.parametrize(("main", "words", "kind"), [*PROGRAMS, (cli.main, [], Options)])
def test_help_fits_80_columns_and_ends_with_an_example_and_its_page(
    main: Callable[[Sequence[str]], int],
    words: list[str],
    kind: type[Options],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The example's options exist: of it and an unknown option only that one is refused. The help
    names no option that the program lacks.
    """
    monkeypatch.setenv("COLUMNS", "80")
    with contextlib.suppress(SystemExit):
        main([*words, "--help"])
    text = capsys.readouterr().out
    options = [one for one in dataclasses.fields(kind) if one.metadata]
    flags = {name for one in options for name in (flag_of(one.name), about(one).short)}
    named = set(re.findall(r"(?<![\w-])--[a-z-]+[a-z]", text.partition("\n\nexample:")[0]))
    assert named <= flags | {"--help", "--config", "--replace"} or kind is Options
    assert max(map(len, text.splitlines())) <= 80
    assert not re.search(r"--[\w-]+ \[?(int|float|str|Path)\b", text)
    found = re.search(r"\n\nexample:\n  python -m \S+ (.+)\n\nsee (\S+)\n$", text, re.DOTALL)
    assert found
    assert dead_links(ROOT / "README.md", f"]({found[2]})") == []
    with contextlib.suppress(SystemExit):
        main([*shlex.split(found[1].replace("\\\n", "")), "--no-such-option"])
    assert "unrecognized arguments: --no-such-option (see" in capsys.readouterr().err
