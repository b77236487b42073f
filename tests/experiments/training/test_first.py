"""The first training: lines, agent and picture."""

from pathlib import Path

import pytest

from experiments.training import first
from experiments.training.train import Training
from skyenv import make_agent
from skyenv.engine.openings import measured
from skyenv.solving.commands import means, measure


def test_exploitability_falls_on_the_screen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--run", str(tmp_path), "--decisions", "12000", "--seed", "3"]
    assert first.main(words) == 0
    *lines, last, files = capsys.readouterr().out.splitlines()
    falls = [float(line.split()[-2]) for line in lines if "decisions:" in line]
    random, mine = float(last.split()[1]), float(last.split()[6])
    assert len(falls) >= 4
    assert mine == falls[-1] < 0.7 * random
    rows = [measure(make_agent("random"), name) for name in measured(first.TASK, 8)]
    assert means(rows)["nash_conv"] == pytest.approx(random, abs=0.01)
    assert {path.name for path in tmp_path.iterdir()} == {"model.npz", "exploitability.png"}
    assert str(tmp_path / "model.npz") in files


def test_an_interrupted_training_leaves_its_agent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also before there is anything to draw."""

    def interrupted(_: Training) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Training, "update", interrupted)
    assert first.main(["--run", str(tmp_path)]) == 130
    assert "Traceback" not in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]
    assert make_agent(tmp_path / "model.npz").name
