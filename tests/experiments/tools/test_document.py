"""The generated parts of the docs; tests/test_readme.py holds the pages to them."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from experiments.tools import document
from experiments.training.export import COMMANDS
from skyenv.options import parse
from skyenv_agents.learned.networks import TRAINED

ESTIMATE = {"mean": 0.5, "low": 0.25, "high": 0.75}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of one page, and a run."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "training.md").write_text(
        "a\n<!-- training result -->\nold\n<!-- end -->\nb\n"
    )
    run = tmp_path / "run"
    run.mkdir()
    result: dict[str, Any] = {
        "opponent": "greedy",
        "paired_seeds": 7,
        "share": ESTIMATE,
        "own": ESTIMATE,
        "other": ESTIMATE,
    }
    (run / "evaluation.json").write_text(json.dumps([result]))
    (run / "config.json").write_text(json.dumps({"minutes": 5.0}))
    points: list[dict[str, Any]] = [
        {"decisions": number, "seconds": 1.0, "shares": {}, "entropy": 1.0}
        for number in (1000, 2000)
    ]
    (run / "curve.jsonl").write_text("".join(json.dumps(point) + "\n" for point in points))
    monkeypatch.setattr(document, "ROOT", tmp_path)
    monkeypatch.setattr(document, "PAGES", (Path("docs") / "training.md",))
    return tmp_path


def test_a_run_s_figures_are_taken_over(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert document.main(["--training", str(root / "run")]) == 0
    lines = (root / "docs" / "training.md").read_text().splitlines()
    assert lines[:2] == ["a", "<!-- training result -->"]
    assert lines[-2:] == ["<!-- end -->", "b"]
    assert "came to 2,000 decisions in 5 minutes" in lines[2]
    assert lines[-3] == "| greedy | 7 | 50.0 % [25.0, 75.0] | 0.5 [0.2, 0.8] | 0.5 [0.2, 0.8] |"
    assert document.main([]) == 0  # again from docs/training.json
    assert (root / "docs" / "training.md").read_text().splitlines() == lines
    capsys.readouterr()


def test_a_run_that_was_not_measured_is_refused(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "run" / "evaluation.json").unlink()
    assert document.main(["--training", str(root / "run")]) == 1
    assert "evaluation.json: No such file" in capsys.readouterr().err
    assert not (root / "docs" / "training.json").exists()


@pytest.mark.parametrize(
    "path", sorted(TRAINED.glob("*-players*.json")), ids=lambda path: path.stem
)
def test_the_commands_that_made_the_networks_are_shown(path: Path) -> None:
    """Of every network that ships; today's trainer takes them."""
    content = json.loads(path.read_text(encoding="utf-8"))
    text = document.how_made(content)
    for stage in content["stages"]:
        assert stage["command"] in text
        _, _, module, *arguments = shlex.split(stage["command"])
        (kind,) = (kind for kind, name in COMMANDS.items() if name == module)
        parse(kind, module, "", arguments)
