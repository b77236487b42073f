"""The baseline with MaskablePPO: a short training, resumed, leaves an agent that plays."""

from __future__ import annotations

import shlex
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from programs import program

from skyenv.agents import decide, make_agent
from skyenv.engine.games import Games

TINY = shlex.split(
    "--environments 8 --steps 16 --batch 64 --hidden 16 --snapshot 2 --past-policies 2 --max-turns "
    "4 --epochs 1"
)


@pytest.fixture(scope="module")
def example() -> ModuleType:
    """The program as a module."""
    return program("maskable_ppo")


def test_a_short_training_goes_on_and_leaves_an_agent(
    example: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    command = [*TINY, "--run", str(run), "--players", "3", "--paired-seeds", "1"]
    assert example.main([*command, "--decisions", "768"]) == 0
    out = capsys.readouterr().out
    assert "win share/" in out
    assert "768 decisions; the agent is" in out
    assert "greedy" in out
    assert [path.stem for path in sorted(run.glob("past-*.zip"))] == [
        f"past-{number:012d}" for number in (256, 512, 768)
    ]
    before = (run / "model.zip").read_bytes()

    assert example.main([*command, "--decisions", "1024"]) == 2
    assert "holds a run; go on with it by --resume" in capsys.readouterr().err
    assert example.main([*command, "--decisions", "1024", "--resume"]) == 0
    assert "1,024 decisions" in capsys.readouterr().out
    assert (run / "model.zip").read_bytes() != before
    assert (run / "past-000000001024.zip").exists()
    assert list(run.glob("*/events*"))
    assert not (run / "milestones").exists()

    agent = make_agent(run / "model.zip")
    assert agent.name == "run"
    games = Games(4, 3, seed=1)
    games.step(decide(games, agent))


def test_past_policies_alone(
    example: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = example.Config(
        run=tmp_path,
        fixed_opponents=(),
        environments=4,
        steps=8,
        batch=32,
        hidden=(8,),
        max_turns=2,
        paired_seeds=0,
    )
    model = example.make_model(config)
    callback = example.SelfPlay(config)
    model.learn(64, callback=callback)
    assert [agent.name for agent in callback.pool.agents] == [f"past-{0:012d}"]
    assert {name for row in range(4) for name in model.env.core.opponents(row)} == {
        f"past-{0:012d}",
        None,
    }
    capsys.readouterr()


def test_milestones_by_the_seconds_of_training(
    example: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A look at the clock takes two seconds here, saving a thousand, which don't count."""
    now, end = 0.0, float("inf")

    def clock() -> float:
        nonlocal now
        now += 2
        if now > end:
            raise KeyboardInterrupt
        return now

    def save(self: object, path: Path) -> None:
        nonlocal now
        now += 1000
        real(self, path)

    def kept() -> list[str]:
        return [path.name for path in sorted((tmp_path / "milestones").iterdir())]

    real = example.MaskablePPO.save
    monkeypatch.setattr(example.MaskablePPO, "save", save)
    monkeypatch.setattr(example, "time", SimpleNamespace(perf_counter=clock))
    command = [
        *TINY,
        "--run",
        str(tmp_path),
        "--paired-seeds",
        "0",
        "--fixed-opponents",
        "random",
        "--milestone-minutes",
        "0.1",
    ]
    command += ["--decisions", str(10 * 8 * 16)]
    # after 8 seconds and seven files, when the next checkpoint is due; the last one was after 6
    end = 7019
    assert example.main(command) == 130
    assert kept() == ["000002.zip", "000006.zip"]
    end = float("inf")
    assert example.main([*command, "--resume"]) == 0
    assert kept() == ["000002.zip", "000006.zip", "000012.zip", "000016.zip"]
    assert make_agent(tmp_path / "milestones" / "000006.zip").name == "000006"
    capsys.readouterr()
