"""Invalid values of every option of every program, for each kind of error of its type."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from experiments.shipping import export, fit_leaves, tune
from experiments.training import best_response, expert_iteration, first, train
from experiments.training.config import Config
from skyenv import cli
from skyenv.console.options import BAD_COMMAND, BAD_DATA, Options, about

PROGRAMS: list[tuple[Callable[[Sequence[str]], int], list[str], type[Options]]] = [
    *((cli.main, [name], command.options) for name, command in cli.COMMANDS.items()),
    (train.main, [], Config),
    (best_response.main, [], best_response.BestResponseConfig),
    (expert_iteration.main, [], expert_iteration.ExpertConfig),
    (first.main, [], first.FirstOptions),
    (export.main, [], export.ExportConfig),
    (fit_leaves.main, [], fit_leaves.Fitting),
    (tune.main, [], tune.Tuning),
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
                needed += [*flag, "x"]
        yield main, [*words, *needed], options, kind


def mistakes() -> Iterator[Any]:
    """A program, its words with a mistake in them, and the option that is wrong."""
    for main, words, options, kind in programs():
        types = get_type_hints(kind)
        for one in options:
            for value in wrong_values(one, str(types[one.name])):
                wrong = [*words, f"{flag_of(one.name)}={value}"]
                yield pytest.param(main, wrong, one.name, id=" ".join([kind.__module__, *wrong]))


def flag_of(name: str) -> str:
    """How the command line calls an option."""
    return "--" + name.replace("_", "-")


@pytest.mark.parametrize(("main", "words", "option"), [*mistakes()])
def test_an_invalid_value_is_one_line_naming_the_option(
    main: Callable[[Sequence[str]], int],
    words: list[str],
    option: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Nothing is written."""
    monkeypatch.chdir(tmp_path)
    assert main(words) == BAD_COMMAND
    output, errors = capsys.readouterr()
    assert (output, errors.count("\n")) == ("", 1)
    assert f"error: {option} must be " in errors
    assert not [*tmp_path.iterdir()]


def outputs() -> Iterator[Any]:
    """A program and its words with the name of a file that is there."""
    for main, words, options, _ in programs():
        for one in options:
            if about(one).writes:
                wanted = [*words, flag_of(one.name), "kept"]
                yield pytest.param(main, wanted, id=" ".join(wanted))


@pytest.mark.parametrize(("main", "words"), [*outputs()])
def test_existing_files_are_replaced_only_with_replace(
    main: Callable[[Sequence[str]], int],
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kept").write_text("what took a night")
    assert main(words) == BAD_DATA
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("error: kept: File exists; use --replace to overwrite it")
    assert Path("kept").read_text() == "what took a night"
