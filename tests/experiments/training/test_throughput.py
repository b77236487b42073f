"""The comparison of the trainer's speed with the baseline's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.benchmarks.figures import Figure
from experiments.training import throughput
from experiments.training.throughput import BASELINE, compare


def test_figures_are_medians_of_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand: the baseline takes 1, 2 and 4 seconds for 80 decisions, ours half a second for 100,
    100 and 60.
    """
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    calls: list[str] = []

    def trainer(name: str, seconds: list[float], decisions: list[int]) -> throughput.Trainer:
        def update(number: int) -> int:
            assert number == 1
            calls.append(name)
            now[0] += seconds.pop(0)
            return decisions.pop(0)

        return update

    trainers = {
        BASELINE: trainer("a", [9, 1, 2, 4], [1, 80, 80, 80]),
        "ours": trainer("b", [9, 0.5, 0.5, 0.5], [1, 100, 100, 60]),
    }
    figures = compare(trainers, warm_up=1, rounds=3, pairs=[(BASELINE, "ours")])
    assert "".join(calls) == "abababab"
    assert figures == [
        Figure(BASELINE, 40, 20, 80, "decisions/s", 3),
        Figure("ours", 200, 120, 200, "decisions/s", 3),
        Figure(f"ours, as against {BASELINE}", 5, 2.5, 6, "times", 3),
        Figure(f"{BASELINE}, as against ours", 0.2, 1 / 6, 0.4, "times", 3),
    ]


def test_a_turn_has_several_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand: 30 decisions in each update of a second, 10 in those of the baseline; the warm-up
    doesn't count.
    """
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    asked: list[tuple[str, int]] = []

    def trainer(name: str, decisions: int) -> throughput.Trainer:
        def update(number: int) -> int:
            asked.append((name, number))
            now[0] += number
            return number * decisions

        return update

    figures = compare(
        {BASELINE: trainer("a", 10), "ours": trainer("b", 30)}, warm_up=5, rounds=2, updates=3
    )
    assert asked == [("a", 5), ("b", 5), ("a", 3), ("b", 3), ("a", 3), ("b", 3)]
    assert [figure.median for figure in figures] == [10, 30, 3]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "throughput.json"
    options = [
        "--rounds",
        "1",
        "--updates",
        "1",
        "--warm-up",
        "0",
        "--hidden",
        "8",
        "--players",
        "3",
    ]
    options += ["--fixed-opponents", "random", "--processes", "1,2"]
    assert throughput.main([*options, "--json", str(path)]) == 0
    content = json.loads(path.read_text())
    figures = [Figure(**figure) for figure in content["figures"]]
    assert [figure.unit for figure in figures] == ["decisions/s"] * 4 + ["times"] * 4
    assert (
        figures[-1].name == "trainer, prior greedy, 2 processes, as against trainer, prior greedy"
    )
    assert figures[-1].median == figures[3].median / figures[2].median
    assert [figure.name for figure in figures[1:4]] == [
        "trainer",
        "trainer, prior greedy",
        "trainer, prior greedy, 2 processes",
    ]
    assert all(
        0 < figure.lowest <= figure.median <= figure.highest and figure.repeats == 1
        for figure in figures
    )
    assert content["options"]["hidden"] == 8
    assert "torch" in content["machine"]
    printed = capsys.readouterr().out
    assert all(figure.name in printed for figure in figures)


def test_wrong_options_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, message in (
        (["--players", "7"], "players must be a whole number from 2 to 4"),
        (["--rounds", "0"], "rounds must be a whole number from 1"),
        (["--updates", "0"], "updates must be a whole number from 1"),
        (["--processes", "1,0"], "processes must be a whole number from 1"),
        (["--fixed-opponents", "nobody"], "unknown agent 'nobody'"),
    ):
        assert throughput.main(arguments) == 2
        assert message in capsys.readouterr().err
