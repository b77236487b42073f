"""The comparison of the two trainers' speed compares like with like."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments import trainers
from experiments.speed import Figure

SMALL = [
    "--environments",
    "8",
    "--steps",
    "8",
    "--batch",
    "32",
    "--hidden",
    "16",
    "--anchors",
    "random",
    "--rounds",
    "2",
    "--warm-up",
    "1",
]


def test_same_settings_and_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trainers.json"
    assert trainers.main([*SMALL, "--players", "2,3", "--json", str(path)]) == 0
    found = json.loads(path.read_text())
    maskable, lean, alone, defaults = found["trainers"].values()
    for name in (
        "hidden",
        "batch",
        "epochs",
        "gamma",
        "gae_lambda",
        "clip",
        "entropy",
        "anchors",
        "threads",
        "players",
        "reward",
    ):
        assert maskable[name] == lean[name] == alone[name], name
    assert lean["opponents"] == 1
    assert (lean["games"], lean["steps"]) == (8, 24)
    assert alone["opponents"] == 0
    assert (alone["games"], alone["steps"]) == (8, 8)
    assert defaults["opponents"] < 1
    assert defaults["hidden"] == 16
    figures = [Figure(**figure) for figure in found["figures"]]
    assert [figure.unit for figure in figures] == ["decisions/s"] * 4 + ["times"] * 3
    assert all(0 < figure.lowest <= figure.median <= figure.highest and figure.repeats == 2 for figure in figures)
    assert "torch" in found["machine"]
    printed = capsys.readouterr().out
    assert all(figure.name in printed for figure in figures)


def test_wrong_options_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, message in (
        (["--anchors", ""], "anchors must name at least one opponent"),
        (["--batch", "1000"], "batch must divide"),
        (["--players", "7"], "players must be 2, 3 or 4"),
    ):
        assert trainers.main(arguments) == 2
        assert message in capsys.readouterr().err
    for rounds in ("0", "many"):
        with pytest.raises(SystemExit) as left:
            trainers.main(["--rounds", rounds])
        assert left.value.code == 2
        assert "must be a whole number from 1 to" in capsys.readouterr().err
