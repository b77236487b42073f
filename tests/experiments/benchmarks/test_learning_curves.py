"""Learning curves: what is measured, kept, gone on with and drawn."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from experiments.benchmarks import learning_curves
from experiments.benchmarks.learning_curves import (
    LearningCurvesOptions,
    Measured,
    Task,
    draw,
    main,
    markdown,
    measure,
    published,
    table,
    tasks,
)
from experiments.training.milestones import keep
from experiments.training.recipe import Config
from skyenv.arena.estimates import Estimate
from skyenv.arena.evaluate import Result
from skyenv.arena.folder import line_of
from skyenv.arena.schedule import Entrant
from skyenv.errors import AgentError, CheckpointError
from skyenv.files import locked
from skyenv.options import parse

Calls = list[tuple[Any, ...]]


def run_with(folder: Path, *seconds: float) -> Path:
    """A run's folder with milestones that can't be played; see :func:`played`."""
    for one in seconds:
        keep(folder, one, f"{folder.name} {one}".encode())
    return folder


def names(entrant: Entrant, *, deterministic: bool = False) -> Any:
    """An opponent's name, or a milestone's run and its own."""
    path = Path(entrant.spec)
    return (path.parts[-3], path.stem) if path.suffix else entrant.spec


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """The milestones and opponents of every evaluation, in order, which is not played: all wins are
    70 %; in this process.
    """
    calls: Calls = []

    def evaluate(
        agent: Any,
        opponents: list[str],
        players: int,
        side: str,
        paired_seeds: int,
        seed: int,
        *,
        max_turns: int,
        secret: int,
    ) -> list[Result]:
        calls.append((*agent, *opponents, secret))
        wins, vp = Estimate(0.7, 0.65, 0.75), Estimate(5.0, 4.0, 6.0)
        games = paired_seeds * players
        numbers = {
            "games": games,
            "par": 1 / players,
            "share": wins,
            "own": vp,
            "other": vp,
            "ahead": vp,
            "decisions": 9.0,
        }
        more: dict[str, Any] = {
            **numbers,
            "turns": 9.0,
            "truncated": 0.0,
            "interrupted": False,
            "secret": secret,
        }
        return [Result("agent", opponents[0], players, side, seed, paired_seeds, **more)]

    def inline(
        work: Callable[[Task], Any],
        units: Iterator[Task],
        workers: int,
        *,
        done: Callable[..., None],
        **_: Any,
    ) -> None:
        for unit in units:
            done(unit, work(unit))

    monkeypatch.setattr(learning_curves, "run_units", inline)
    monkeypatch.setattr(learning_curves, "evaluate", evaluate)
    monkeypatch.setattr(Entrant, "make", names)
    return calls


def contents(
    runs: dict[str, dict[int, float]], opponents: tuple[str, ...] = ("greedy",), players: int = 2
) -> dict[str, Any]:
    """What learning_curves.json holds: wins by seconds, for each run."""
    return {
        "date": "2026-01-01",
        "command": "python",
        "players": players,
        "side": "front",
        "paired_seeds": 9,
        "runs": [
            {
                "run": run,
                "points": [
                    {
                        "seconds": seconds,
                        "opponent": name,
                        "wins": {"mean": wins, "low": wins / 2, "high": (1 + wins) / 2},
                    }
                    for seconds, wins in points.items()
                    for name in opponents
                ],
            }
            for run, points in runs.items()
        ],
    }


# ---- measuring ----


@pytest.mark.programs
def test_milestones_play_and_are_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed, run in enumerate(("first", "second")):
        for seconds in (0, 60):
            network = Config(hidden=4, blocks=1, thing=2, seed=10 * seed + seconds).make_network()
            keep(tmp_path / run, seconds, network.frozen({"players": "2"}).to_bytes())
    runs = [str(tmp_path / "first"), str(tmp_path / "second")]
    command = [
        *runs,
        "--against",
        "random",
        "crowd",
        "--paired-seeds",
        "2",
        "--max-turns",
        "4",
        "--workers",
        "1",
        "--out",
        str(tmp_path / "out"),
    ]
    assert main([*command, "--publish", str(tmp_path / "docs")]) == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "first.jsonl",
        "second.jsonl",
        "learning_curves.json",
        "learning_curves.png",
    }
    content = json.loads((tmp_path / "docs" / "learning_curves.json").read_text(encoding="utf-8"))
    assert [(run["run"], len(run["points"])) for run in content["runs"]] == [
        ("first", 4),
        ("second", 4),
    ]
    for point in (point for run in content["runs"] for point in run["points"]):
        assert point["wins"]["low"] <= point["wins"]["mean"] <= point["wins"]["high"]
        assert (point["games"], point["max_turns"]) == (4, 4)
    assert markdown(content) in capsys.readouterr().out
    assert (tmp_path / "docs" / "learning_curves.png").read_bytes().startswith(b"\x89PNG")

    secret = str(content["runs"][0]["points"][0]["secret"])
    assert main([*command[:-2], "--secret", secret, "--out", str(tmp_path / "again")]) == 0
    assert (tmp_path / "again" / "first.jsonl").read_bytes() == (
        tmp_path / "out" / "first.jsonl"
    ).read_bytes()


def test_nothing_is_measured_twice(
    tmp_path: Path, played: Calls, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also over Ctrl-C; what has come or changed since is measured, with the same secret."""
    first, second = run_with(tmp_path / "first", 0, 60), run_with(tmp_path / "second", 30)
    out = tmp_path / "out"
    command = [str(first), str(second), "--against", "random", "greedy", "--out", str(out)]
    play: Callable[..., Any] = vars(learning_curves)["evaluate"]

    def interrupted(*arguments: Any, **more: Any) -> Any:
        if len(played) == 3:
            raise KeyboardInterrupt
        return play(*arguments, **more)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(learning_curves, "evaluate", interrupted)
        assert main(command) == 130
    printed = capsys.readouterr()
    assert "| first | random | 70 % [65, 75]" in printed.out
    assert "second" not in printed.out.split("Wins of")[0]
    assert "the same command goes on" in printed.err
    assert main(command) == 0
    wanted = [
        (run, f"{seconds:06d}", name)
        for run, seconds in (("first", 0), ("first", 60), ("second", 30))
        for name in ("random", "greedy")
    ]
    assert [call[:3] for call in played] == wanted
    assert main(command) == 0
    assert len(played) == 6

    run_with(second, 90)
    assert main(command) == 0
    assert [call[:3] for call in played[6:]] == [
        ("second", "000090", "random"),
        ("second", "000090", "greedy"),
    ]
    keep(first, 60, b"another agent")
    assert main([*command, "--against", "greedy"]) == 0
    assert [call[:3] for call in played[8:]] == [("first", "000060", "greedy")]
    assert main([*command, "--against", "greedy", "--paired-seeds", "7"]) == 0
    assert [call[:2] for call in played[9:]] == [
        ("first", "000000"),
        ("first", "000060"),
        ("second", "000030"),
        ("second", "000090"),
    ]
    assert len({call[3] for call in played}) == 1
    content = json.loads((out / "learning_curves.json").read_text(encoding="utf-8"))
    assert {point["paired_seeds"] for run in content["runs"] for point in run["points"]} == {7}
    assert main([*command, "--secret", "5"]) == 0
    assert {call[3] for call in played[13:]} == {5}
    assert len(played) == 13 + 8


def test_another_version_of_an_opponent_is_another_opponent(
    tmp_path: Path, played: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [
        str(run_with(tmp_path / "run", 0)),
        "--against",
        "random",
        "--out",
        str(tmp_path / "out"),
    ]
    assert main(command) == 0
    monkeypatch.setattr("skyenv.agents.simple.RandomAgent.version", "another")
    assert main(command) == 0
    assert len(played) == 2


def test_files_that_are_others_where_they_play_are_told(tmp_path: Path) -> None:
    """As on another machine that has older ones, whose wins would stay under the digests of those
    that are here.
    """
    first, second = (
        Config(hidden=4, blocks=1, thing=2, seed=seed).make_network().frozen({}).to_bytes()
        for seed in (1, 2)
    )
    keep(tmp_path / "run", 0, first)
    opponent = tmp_path / "opponent.npz"
    opponent.write_bytes(first)
    question = [
        "--against",
        str(opponent),
        "--paired-seeds",
        "1",
        "--max-turns",
        "1",
        "--secret",
        "1",
    ]
    (task,) = tasks(
        parse(LearningCurvesOptions, "learning_curves", "", [str(tmp_path / "run"), *question])
    )
    assert measure(task)["games"] == 2
    for path in (opponent, tmp_path / "run" / "milestones" / "000000.npz"):
        path.write_bytes(second)
        with pytest.raises(
            AgentError, match=rf"{path.name} on .* isn't the file that the games were begun with"
        ):
            measure(task)
        path.write_bytes(first)


def test_runs_of_one_name_go_by_their_paths(
    tmp_path: Path, played: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("a/run", "b/run"):
        run_with(Path(folder), 0).joinpath("milestones", "000000.npz").write_text(folder)
    assert main(["a/run", "b/run", "--out", "out"]) == 0
    assert {path.name for path in Path("out").glob("*.jsonl")} == {"a-run.jsonl", "b-run.jsonl"}
    assert len(played) == 2
    assert (
        main(["a/run", "--out", "out"]) == 0
    )  # "run" alone: another file, in which nothing stands yet
    assert len(played) == 3
    assert len({call[3] for call in played}) == 1


def test_damaged_files_are_found_out(
    tmp_path: Path, played: Calls, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [str(run_with(tmp_path / "run", 0, 60)), "--out", str(tmp_path / "out")]
    assert main(command) == 0
    path = tmp_path / "out" / "run.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])  # a line that was being written
    assert main(command) == 0
    assert path.read_bytes() == whole
    assert len(played) == 3
    for content in (
        whole.replace(b"0.7", b"0.8", 1),
        b"nonsense\n" + whole,
        b"[" * 5000 + b"\n",
        b"{}\n",
    ):
        path.write_bytes(content)
        capsys.readouterr()
        assert main(command) == 1
        assert "run.jsonl: line 1 is no measurement" in capsys.readouterr().err
        assert path.read_bytes() == content
    assert len(played) == 3


def test_one_process_at_a_time_measures_in_a_folder(
    tmp_path: Path, played: Calls, capsys: pytest.CaptureFixture[str]
) -> None:
    with locked(tmp_path / "out"):
        assert main([str(run_with(tmp_path / "run", 0)), "--out", str(tmp_path / "out")]) == 1
    assert "is in use by process" in capsys.readouterr().err
    assert played == []


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["{0}"], 1, "has no milestones: train it with --milestone-minutes"),
        (["{0}/run", "{0}/run"], 2, "a run is named twice"),
        (
            ["{0}/run", *(f"{{0}}/{number}" for number in range(6))],
            2,
            "7 runs are too many for one picture, which holds 6",
        ),
        (["{0}/run", "--against", ""], 2, "against must name somebody"),
        (["{0}/run", "--against", "nobody"], 2, "unknown agent 'nobody'"),
        (["{0}/run", "--players", "5"], 2, "players must be a whole number from 2 to 4"),
    ],
)
def test_wrong_commands_leave_no_folder(
    arguments: list[str],
    code: int,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run_with(tmp_path / "run", 0)
    out = tmp_path / "out"
    assert main([*(argument.format(tmp_path) for argument in arguments), "--out", str(out)]) == code
    assert message in capsys.readouterr().err
    assert not out.exists()


# ---- reporting ----


def test_the_table_has_the_milestones_that_are_near() -> None:
    content = contents(
        {
            "long": {0: 0.1, 62: 0.2, 125: 0.3, 640: 0.4, 700: 0.5},
            "short": {0: 0.6, 57: 0.7, 150: 0.8},
        }
    )
    assert table(content).splitlines() == [
        "| run | against | 1 min | 2 min | 10 min | in the end |",
        "|---|---|---:|---:|---:|---:|",
        "| long | greedy | 20 % [10, 60] | 30 % [15, 65] | 40 % [20, 70] | 50 % [25, 75], 11.7 min "
        "|",
        "| short | greedy | 70 % [35, 85] | – | – | 80 % [40, 90], 2.5 min |",
    ]
    head, *_ = table(contents({"run": {60 * minute: 0.5 for minute in range(1, 91)}})).splitlines()
    assert head == "| run | against | 1 min | 3 min | 15 min | 30 min | 90 min | in the end |"


def test_a_panel_for_each_opponent_and_a_line_for_each_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures: list[Any] = []
    monkeypatch.setattr(learning_curves, "save", lambda figure, path: figures.append(figure))
    runs = {
        "nothing": {0: 0.0, 60: 0.0, 120: 0.02},
        "prior": {0: 0.45, 240: 0.6},
        "dot": {30: 0.01},
    }
    draw(contents(runs, ("greedy", "random"), players=3), tmp_path / "curves.png")
    assert len(figures[0].axes) == 2
    for axes, opponent in zip(figures[0].axes, ("greedy", "random"), strict=True):
        assert opponent in axes.get_title(loc="left")
        assert {text.get_text() for text in axes.texts} == {"nothing", "prior", "dot", "par"}
        lines = {
            tuple(line.get_xdata()): tuple(line.get_ydata())
            for line in axes.lines
            if line.get_linewidth() == 2
        }
        assert lines == {(0, 1, 2): (0, 0, 2), (0, 4): (45, 60), (0.5,): (1,)}
        assert axes.get_xlim() == (0, 4)
        assert axes.get_ylim()[1] == pytest.approx(1.05 * 80)
        heights = sorted(text.xyann[1] for text in axes.texts)
        assert heights[0] >= axes.get_ylim()[0]
        assert min(above - below for below, above in pairwise(heights)) > 4


def test_a_picture_of_whatever_there_is(tmp_path: Path) -> None:
    draw(contents({"run": {0: 1.0}}), tmp_path / "one.png")
    draw(contents({"run": {0: 1.0, 60: 0.5}, "none": {}}), tmp_path / "two.png")
    one, two = ((tmp_path / f"{name}.png").read_bytes() for name in ("one", "two"))
    assert one.startswith(b"\x89PNG")
    assert one != two


def test_the_part_of_the_docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning_curves, "SHIPPED", tmp_path)
    assert published().startswith("Nothing has been published yet")
    content = contents({"run": {60: 0.5}})
    (tmp_path / "learning_curves.json").write_text(json.dumps(content))
    text = published()
    assert text.startswith("| run | against | 1 min | in the end |\n")
    assert text.endswith(f"![wins over the time of training]({tmp_path.name}/learning_curves.png)")
    (tmp_path / "learning_curves.json").write_text("{}")
    with pytest.raises(CheckpointError, match="is damaged"):
        published()


def test_what_was_asked_is_found_again_only_as_a_whole(tmp_path: Path) -> None:
    measured = Measured(tmp_path / "run.jsonl")
    measured.add({"digest": "a", "players": 2, "secret": 0, "wins": {}})
    measured.add({"digest": "a", "players": 3, "secret": 0, "wins": {}})
    for kept in (measured, Measured(measured.path)):
        assert kept.answer({"digest": "a", "players": 3}) == {
            "digest": "a",
            "players": 3,
            "secret": 0,
            "wins": {},
        }
        assert kept.answer({"digest": "a", "players": 4}) is None
        assert kept.answer({"digest": "a", "players": 2, "side": "front"}) is None


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    """As in the folder of a tournament, whose games are sealed the same way."""
    path = tmp_path / "games.jsonl"
    path.write_bytes(line_of({"digest": "a", "secret": 1}))
    with pytest.raises(CheckpointError, match="holds something else than measurements"):
        Measured(path)
