"""The MaskablePPO baseline: a short training, resumed, and its agent."""

import shlex
import sys
from pathlib import Path

import pytest

from experiments.baselines import sb3_maskable_ppo
from skyenv.agents import decide, make_agent
from skyenv.engine.games import Games

TINY = shlex.split(
    "--environments 8 --steps 16 --batch 64 --hidden 16 --snapshot 2 --past-policies 2 --max-turns "
    "4 --epochs 1"
)


def test_a_short_training_resumes_and_saves_an_agent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    command = [*TINY, "--run", str(run), "--players", "3", "--paired-seeds", "1"]
    sb3_maskable_ppo.main([*command, "--decisions", "768"])
    out = capsys.readouterr().out
    assert "win share/" in out
    assert "768 decisions; the agent is" in out
    assert "greedy" in out
    assert [path.stem for path in sorted(run.glob("past-*.zip"))] == [
        f"past-{number:012d}" for number in (256, 512, 768)
    ]
    before = (run / "model.zip").read_bytes()

    with pytest.raises(SystemExit, match="already contains a run; continue it with --resume"):
        sb3_maskable_ppo.main([*command, "--decisions", "1024"])
    (run / "past-000000000256.zip").write_bytes(b"somebody else's: nothing named it")
    resume = ["--resume", str(run / "model.zip")]
    sb3_maskable_ppo.main([*command, "--decisions", "1024", *resume])
    assert "1,024 decisions" in capsys.readouterr().out
    assert (run / "model.zip").read_bytes() != before
    assert (run / "past-000000001024.zip").exists()
    assert list(run.glob("*/events*"))

    agent = make_agent(run / "model.zip")
    assert agent.name == "run"
    games = Games(4, 3, seed=1)
    games.step(decide(games, agent))


def test_missing_tensorboard_is_reported(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    command = [*TINY, "--run", str(tmp_path), "--decisions", "128", "--paired-seeds", "0"]
    sb3_maskable_ppo.main(command)
    assert "TensorBoard is not installed, so no event files are written" in capsys.readouterr().err
    assert not list(tmp_path.glob("*/events*"))
