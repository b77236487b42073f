"""The list of programs."""

from __future__ import annotations

import importlib

import pytest

from experiments.__main__ import main, programs


def test_programs_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """Each can be run, and says what it does; the list fits on a terminal."""
    listed = dict(programs())
    assert {"training.train", "benchmarks.speed", "tools.tune"} <= listed.keys()
    assert "tools.judge" not in listed  # a part of another program
    for name in listed:
        assert callable(importlib.import_module(f"experiments.{name}").main)
    assert main([]) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    for name, what in listed.items():
        assert f" {name} {what} " in f"{' '.join(printed.split())} "


def test_a_program_is_not_an_argument(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["train"])
    assert (
        capsys.readouterr().err
        == "experiments: error: unrecognized arguments: train (see --help)\n"
    )
