"""The tuner: what it finds is decided by its options, resuming included, and its command complains
in one line.
"""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.tools import tune
from experiments.tools.tune import Crew, Tuner, Tuning, load, main, save
from skyenv.arena.matches import Played, play_games
from skyenv.errors import AgentError, CheckpointError, OptionError
from skyenv_agents import GreedyAgent
from skyenv_agents.heuristic.weights import GREEDY_WEIGHTS, Weights

TINY = Tuning("greedy", ("random", "greedy"), 2, paired_seeds=1, population=3, seed=4)


def values(weights: Weights) -> list[float]:
    """The weights as numbers."""
    return list(weights.values())


def test_begins_with_the_present_weights_and_leaves_them() -> None:
    tuner = Tuner(TINY)
    assert values(tuner.weights()) == pytest.approx(values(GREEDY_WEIGHTS[2]))
    assert tuner.games == 3 * 1 * 2 * 2
    assert tuner.advance()
    assert len(tuner.worths[0]) == 3
    assert values(tuner.weights()) != pytest.approx(values(GREEDY_WEIGHTS[2]))
    assert all(value > 0 for value in values(tuner.weights()))
    assert GreedyAgent(dict.fromkeys((2, 3, 4), tuner.weights())).name == "greedy"


def test_resumed_is_the_same_as_uninterrupted(tmp_path: Path) -> None:
    whole, part = Tuner(TINY), Tuner(TINY)
    before = repr(np.random.get_state())
    for _ in range(3):
        assert whole.advance()
    part.advance()
    save(part, tmp_path / "part.json")
    rest = load(tmp_path / "part.json")
    assert rest.worths == part.worths
    rest.advance()
    rest.advance()
    assert rest.worths == whole.worths
    assert rest.weights() == whole.weights()
    assert repr(np.random.get_state()) == before  # the global generator is not touched


def test_an_interrupted_generation_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, stopped = Tuner(TINY), Tuner(TINY)
    whole.advance()
    calls = 0

    def interrupted(*arguments: Any, **options: Any) -> Played:
        nonlocal calls
        calls += 1
        played = play_games(*arguments, **options)
        played.interrupted = calls == 4
        return played

    monkeypatch.setattr(tune, "play_games", interrupted)
    assert not stopped.advance()
    assert stopped.worths == []
    assert stopped.advance()
    assert stopped.worths == whole.worths
    assert stopped.weights() == whole.weights()


def test_workers_change_nothing() -> None:
    here, there = Tuner(TINY), Tuner(TINY)
    played: list[int] = []
    for _ in range(2):
        assert here.advance()
        assert there.advance(played.append, Crew(2, None))
    assert there.worths == here.worths
    assert sum(played) == 2 * there.games


def test_a_generation_interrupted_in_workers_leaves_no_trace() -> None:
    whole, stopped = Tuner(TINY), Tuner(TINY)
    whole.advance()
    assert not stopped.advance(lambda _: signal.raise_signal(signal.SIGINT), Crew(1, None))
    assert stopped.worths == []
    left = [stopped.games]

    def last(games: int) -> None:
        left[0] -= games
        if not left[0]:
            signal.raise_signal(signal.SIGINT)

    assert not stopped.advance(last, Crew(1, None))
    assert stopped.worths == []
    assert stopped.advance()
    assert stopped.worths == whole.worths


def test_finds_better_weights_than_bad_ones() -> None:
    bad = {**GREEDY_WEIGHTS[2], "point": 30.0}  # cards so dear that hardly any is paid
    tuner = Tuner(
        Tuning("greedy", ("random",), 2, paired_seeds=4, population=5, sigma=1.0, seed=1), bad
    )
    for _ in range(4):
        tuner.advance()
    assert np.mean(tuner.worths[-1]) > np.mean(tuner.worths[0])


def test_command_writes_and_resumes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "tuning.json")
    options = [
        "greedy",
        "--against",
        "random",
        "--paired-seeds",
        "1",
        "--population",
        "2",
        "--out",
        out,
    ]
    assert main([*options, "--generations", "1"]) == 0
    assert main(["--resume", "--generations", "2", "--out", out]) == 0
    content = json.loads(Path(out).read_text())
    assert content["tuning"]["against"] == ["random"]
    assert len(content["worths"]) == 2
    assert set(content["weights"]) == set(GREEDY_WEIGHTS[2])
    assert main(["--resume", "--generations", "2", "--out", out]) == 0
    assert json.loads(Path(out).read_text()) == content


def test_command_complains_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "tuning.json"
    for text in ("", "[]", '{"format": "something"}', '{"format": "skyenv-tune-1", "tuning": {}}'):
        out.write_text(text)
        assert main(["--resume", "--out", str(out)]) == 1
        assert capsys.readouterr().err.count("\n") == 1
    assert main(["--resume", "--out", str(tmp_path / "none.json")]) == 1
    for wrong in (
        ["random"],
        ["nobody"],
        ["greedy", "--against", "nobody"],
        ["greedy", "--paired-seeds", "0"],
        ["greedy", "--sigma", "0"],
        ["greedy", "--players", "x"],
        ["greedy", "--against", ""],
    ):
        capsys.readouterr()
        assert main([*wrong, "--out", str(out)]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_wrong_options() -> None:
    with pytest.raises(OptionError, match="opponent"):
        Tuning("greedy", ())
    with pytest.raises(AgentError, match="no weights"):
        Tuner(Tuning("random", ("random",), 2))


def test_files_of_other_weights_are_refused(tmp_path: Path) -> None:
    tuner = Tuner(TINY)
    save(tuner, tmp_path / "tuning.json")
    content = json.loads((tmp_path / "tuning.json").read_text())
    del content["start"]["point"]
    (tmp_path / "tuning.json").write_text(json.dumps(content))
    with pytest.raises(CheckpointError, match="point"):
        load(tmp_path / "tuning.json")
