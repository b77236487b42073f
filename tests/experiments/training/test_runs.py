"""A training in its folder: options, files, checkpoints, signals, and what is told in the end."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import re
import resource
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # type: ignore[import-untyped]
from trainings import collector

from experiments.training import runs, train
from experiments.training.board import Board
from experiments.training.checkpoints import CONTENT, DIGEST, MAGIC, read_checkpoint
from experiments.training.closing import how_to_go_on, summary
from experiments.training.config import DEFAULT_MINUTES
from experiments.training.curves import draw_curves
from experiments.training.recipe import SEEDS_APART, Config
from experiments.training.runs import FEWEST_EPISODES, Episodes
from experiments.training.train import Training
from processes import running, wait_until
from skyenv.agents import make_agent
from skyenv.errors import CheckpointError, OptionError
from skyenv.files import locked
from skyenv.options import as_text, parse
from skyenv.seeds import EVALUATION, TRAINING, secret_seeds
from skyenv_agents.learned.networks import Network

ROOT = Path(__file__).resolve().parents[3]
SMALL: dict[str, Any] = {
    "games": 8,
    "steps": 24,
    "batch": 64,
    "hidden": 8,
    "blocks": 1,
    "thing": 4,
    "decisions": 300,
    "max_turns": 2,
    "paired_seeds": 0,
    "opponent_share": 1.0,
    "checkpoint_seconds": 1e9,
}
TINY = [
    part for name, value in SMALL.items() for part in ("--" + name.replace("_", "-"), str(value))
]


def asked(*arguments: str) -> Config:
    return parse(Config, "train", "Train.", arguments)


def trained(folder: Path, **changes: Any) -> Training:
    """A run that is over, in its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    training = Training(Config(**{"run": str(folder), **SMALL, **changes}))
    training.begin()
    assert training.run()
    return training


def one_line(text: str, program: str = "train") -> str:
    """The only line on stderr, beside the progress bar."""
    lines = [line for line in text.splitlines() if line.strip()]
    assert len(lines) == 1, text
    assert lines[0].startswith(f"{program}: error: ")
    return lines[0]


# ---- options ----


def test_defaults() -> None:
    assert asked() == Config()
    assert Config().minutes == DEFAULT_MINUTES
    assert Config(decisions=10).minutes == 0  # decisions alone limit the run
    assert Config(minutes=2, decisions=10).minutes == 2


def test_what_was_asked_for_as_toml_asks_for_the_same(tmp_path: Path) -> None:
    values = Config(run="x", decisions=5, players=(2, 4), fixed_opponents=()).as_dict()
    lines = (
        f"{name} = {json.dumps(value)}\n" for name, value in values.items() if value is not None
    )
    (tmp_path / "x.toml").write_text("".join(lines))
    assert asked("--config", str(tmp_path / "x.toml")).as_dict() == values


def test_wrong_options_in_a_file_get_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "options.toml"
    for text, code, message in (
        ("anchors = 'random'", 2, "unknown option 'anchors'; there are run, players"),
        ("games = 0", 2, "games must be a whole number from 1"),
        ('device = "tpu"', 2, "device must be one of auto, cpu, cuda"),
        ('run = "a\\u0000b"', 2, "run must not have a null byte"),
        ("games = " + "9" * 5000, 1, "can't be read as TOML"),
        ("games = " + "[" * 3000, 1, "can't be read as TOML"),
    ):
        file.write_text(text)
        assert train.main(["--run", str(tmp_path / "run"), "--config", str(file)]) == code
        assert message in one_line(capsys.readouterr().err)
        assert not (tmp_path / "run").exists()
    assert train.main(["--run", "a\0b"]) == 2
    assert "run must not have a null byte" in one_line(capsys.readouterr().err)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--players", "5"], 2, "players must be a whole number from 2 to 4"),
        (["--threads", "2000"], 2, "threads must be"),
        (["--minutes", "nan"], 2, "minutes must be"),
        (["--fixed-opponents", "nobody"], 2, "fixed_opponents: unknown agent 'nobody'"),
        (
            ["--fixed-opponents", "nowhere/model.npz"],
            1,
            "there is no network file nowhere/model.npz",
        ),
    ],
)
def test_bad_values_leave_no_folder(
    arguments: list[str],
    code: int,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert train.main(["--run", str(tmp_path / "run"), *arguments]) == code
    assert message in one_line(capsys.readouterr().err)
    assert not (tmp_path / "run").exists()


# ---- a run's folder ----


def test_a_run_leaves_all_its_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "there" / "first"
    options = [*TINY, "--players", "2,3", "--games", "8", "--paired-seeds", "1"]
    assert train.main(["--run", str(folder), *options]) == 0
    printed = capsys.readouterr()
    assert "Measuring the agent against random and greedy: 10 games, about" in printed.err
    out = printed.out
    assert f"{folder} is finished: " in out
    assert re.search(r"^2 +front +greedy +2 +\d", out, re.MULTILINE)
    assert all(len(line) <= 80 for line in out.split("The agent")[0].splitlines()[1:])
    assert f"--run {folder} --resume --decisions 600\n" in out
    expected = {
        "config.json",
        "checkpoint.bin",
        "model.npz",
        "curve.jsonl",
        "curves.png",
        "tensorboard",
        "evaluation.txt",
        "evaluation.json",
        "evaluation-2-front.png",
        "evaluation-3-front.png",
        "games-2-front.jsonl",
        "games-3-front.jsonl",
    }
    assert {path.name for path in folder.iterdir()} == expected  # and no half-written ones
    assert all(path.is_dir() or path.stat().st_size > 0 for path in folder.iterdir())
    assert json.loads((folder / "config.json").read_text()) == json.loads(
        json.dumps(asked("--run", str(folder), *options).as_dict())
    )
    assert len((folder / "evaluation.txt").read_text().splitlines()) == 2 + 4
    results = json.loads((folder / "evaluation.json").read_text())
    assert [(entry["opponent"], entry["num_players"]) for entry in results] == [
        (o, p) for p in (2, 3) for o in ("random", "greedy")
    ]
    assert make_agent(folder / "model.npz").name == "first"
    assert (folder / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_the_summary_fits_into_80_columns() -> None:
    share, points = (
        {"mean": 1.0, "low": 1.0, "high": 1.0},
        {"mean": 132.6, "low": 125.0, "high": 140.0},
    )
    result = {
        "num_players": 4,
        "side": "front",
        "opponent": "appraiser",
        "games": 1200,
        "par": 0.25,
    }
    text = summary([{**result, "share": share, "own": points, "other": points}])
    assert "4        front  appraiser   1200  100.0 [100.0, 100.0]   25  132.6     132.6" in text
    assert max(map(len, text.splitlines())) <= 80
    assert summary([]) == ""


def test_wins_alone_against_copies_are_called_no_strength() -> None:
    """With two players whoever wins more is stronger; with more one way round tells no such thing,
    whatever it came to.
    """
    points = {"mean": 90.0, "low": 85.0, "high": 95.0}

    def told(players: int, low: float, high: float) -> str:
        share = {"mean": (low + high) / 2, "low": low, "high": high}
        about = {
            "num_players": players,
            "side": "front",
            "opponent": "greedy",
            "games": 600,
            "par": 1 / players,
        }
        return " ".join(
            summary([{**about, "share": share, "own": points, "other": points}]).split()
        )

    for low, high, two, three in (
        (
            0.6,
            0.7,
            "it is stronger than greedy.",
            "it wins more than 1/3 alone against copies of greedy.",
        ),
        (
            0.1,
            0.2,
            "it is weaker than greedy.",
            "it wins less than 1/3 alone against copies of greedy.",
        ),
        (
            0.3,
            0.6,
            "it is about as strong as greedy (more",
            "it wins about 1/3 alone against copies of greedy (more",
        ),
    ):
        assert f"2 players, front side: {two}" in told(2, low, high)
        assert f"3 players, front side: {three}" in told(3, low, high)
    for players, said in ((2, False), (3, True), (4, True)):
        text = told(players, 0.6, 0.7)
        assert ("doesn't tell who is stronger" in text) == said
        assert ("it is stronger" in text) != said


@pytest.mark.parametrize(
    ("limits", "line"),
    [
        ({}, "30 minutes in all:\n  {} --resume --minutes 30\n"),
        ({"minutes": 45.0}, "90 minutes in all:\n  {} --resume --minutes 90\n"),
        ({"decisions": 5000}, "10,000 decisions in all:\n  {} --resume --decisions 10000\n"),
        (
            {"minutes": 5.0, "decisions": 7},
            "30 minutes or 14 decisions in all:\n  {} --resume --minutes 30 --decisions 14\n",
        ),
    ],
)
def test_how_to_go_on(limits: dict[str, Any], line: str) -> None:
    hint = how_to_go_on(Config(run="runs/a b", players=(3, 2), **limits), "train")
    command = "python -m experiments.training.train --run 'runs/a b'"
    assert line.format(command) in re.sub(r"\S*/python ", "python ", hint)
    assert "make play PLAY='--agents " in hint
    assert "skyenv tournament --add 'runs/a b/model.npz' --players 3 --minutes 2" in hint


def test_a_finished_run_says_so_and_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a second `make train`: nothing is trained or measured again, unless more is asked for."""
    run = ["--run", str(tmp_path / "run")]
    assert train.main([*run, *TINY, "--paired-seeds", "1", "--prior", "greedy"]) == 0
    first = capsys.readouterr().out
    files = {
        path: path.stat().st_mtime_ns
        for path in (tmp_path / "run").iterdir()
        if path.name != "config.json"
    }
    assert train.main([*run, "--resume"]) == 0  # what isn't said is as it was
    again = capsys.readouterr()
    assert again.out == first
    assert again.err == ""
    assert {
        path: path.stat().st_mtime_ns
        for path in (tmp_path / "run").iterdir()
        if path.name != "config.json"
    } == files
    assert train.main([*run, "--resume", "--paired-seeds", "2"]) == 0  # measured anew
    assert re.search(r"greedy +4 +\d", capsys.readouterr().out)

    def interrupted(*_: Any, **__: Any) -> list[Any]:
        return []

    monkeypatch.setattr(runs, "evaluate", interrupted)
    assert train.main([*run, "--resume", "--decisions", "400"]) == 130
    assert not list((tmp_path / "run").glob("evaluation*"))  # the old one was another agent's
    assert read_checkpoint(tmp_path / "run" / "checkpoint.bin")["decisions"] >= 400
    capsys.readouterr()


def test_a_resumed_run_has_the_options_that_it_had(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train.main(["--run", str(tmp_path), *TINY, "--players", "3", "--gamma", "0.9"]) == 0
    assert train.main(["--run", str(tmp_path), "--resume", "--decisions", "600"]) == 0
    config = json.loads((tmp_path / "config.json").read_text())
    assert (config["players"], config["gamma"], config["hidden"], config["decisions"]) == (
        [3],
        0.9,
        8,
        600,
    )
    for content in ("{", "3", "[" * 5000):
        (tmp_path / "config.json").write_text(content)
        capsys.readouterr()
        assert train.main(["--run", str(tmp_path), "--resume"]) == 1
        assert "config.json is damaged" in one_line(capsys.readouterr().err)


def test_one_process_at_a_time_works_in_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with locked(tmp_path):
        for more in ([], ["--resume"]):
            if more:
                (tmp_path / "checkpoint.bin").write_bytes(b"")
            assert train.main(["--run", str(tmp_path), *TINY, *more]) == 1
            assert f"is in use by process {os.getpid()}" in one_line(capsys.readouterr().err)


def test_a_folder_that_holds_a_run_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trained(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    capsys.readouterr()
    assert train.main(["--run", str(tmp_path), *TINY]) == 2
    assert "holds a run; go on with it by --resume" in one_line(capsys.readouterr().err)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


def test_a_folder_that_is_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run").write_text("something")
    assert train.main(["--run", str(tmp_path / "run"), *TINY]) == 1
    assert "run" in one_line(capsys.readouterr().err)


def test_curve_goes_up_and_is_the_same_in_tensorboard(tmp_path: Path) -> None:
    """Also over an interruption: no point is lost, none is there twice."""
    training = trained(tmp_path, decisions=1000, games=48)
    again = Training(Config(**{"run": str(tmp_path), **SMALL, "games": 48, "decisions": 2000}))
    again.load()
    assert again.run()
    curve = [
        json.loads(line, parse_constant=pytest.fail)
        for line in (tmp_path / "curve.jsonl").read_text().splitlines()
    ]
    assert curve[: len(training.curve)] == json.loads(json.dumps(training.curve))
    assert [point["update"] for point in curve] == list(range(1, len(curve) + 1))
    for name in ("decisions", "seconds", "episodes"):
        values = [point[name] for point in curve]
        assert values == sorted(values)
        assert values[0] >= 0
    assert len({point["decisions"] for point in curve}) == len(curve)
    assert all(
        point["illegal"] == 0 and 0 <= point["passes"] <= 1 and point["entropy"] > 0
        for point in curve
    )
    assert 0 <= curve[-1]["shares"]["random"] <= 1

    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    wanted = {
        "win share/random",
        "win share/greedy",
        *(
            f"train/{name}"
            for name in (
                "change",
                "entropy",
                "episodes",
                "explained_variance",
                "illegal",
                "length",
                "pace",
                "passes",
                "points",
                "policy_loss",
                "prior_weight",
                "progress",
                "seconds",
                "stale",
                "value_loss",
            )
        ),
    }
    assert set(events.Tags()["scalars"]) == wanted
    for tag in wanted:
        kind, name = tag.split("/")
        scalars = {
            point["decisions"]: point["shares"].get(name)
            if kind == "win share"
            else point.get(name)
            for point in curve
            if (name in point["shares"] if kind == "win share" else point.get(name) is not None)
        }
        assert [scalar.step for scalar in events.Scalars(tag)] == list(scalars)
        assert [scalar.value for scalar in events.Scalars(tag)] == pytest.approx(
            list(scalars.values()), rel=1e-5
        )
    assert {scalar.value for scalar in events.Scalars("train/illegal")} == {0.0}


def test_curves_of_several_runs_in_one_picture(tmp_path: Path) -> None:
    point = {"seconds": 60.0, "shares": {"random": 0.5}, "entropy": 1.0}
    late = {"seconds": 120.0, "shares": {"random": 0.6, "someone": 0.1}, "entropy": 0.9}
    draw_curves({"a": [point, late], "b": [point]}, tmp_path / "two.png")
    draw_curves({"none": []}, tmp_path / "none.png")
    assert (tmp_path / "two.png").stat().st_size > (tmp_path / "none.png").stat().st_size > 0


# ---- milestones ----


def test_milestones_are_kept_over_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at the clock takes a second, and later two: what came after the checkpoint comes
    at other times then.
    """
    pace, now = 1, 0.0

    def clock() -> float:
        nonlocal now
        now += pace
        return now

    def learn(self: Training) -> dict[str, float]:
        if self.updates == 4:
            self.save()  # the last one before the kill
            (tmp_path / "saved").write_bytes((tmp_path / "checkpoint.bin").read_bytes())
        return real(self)

    def kept() -> list[str]:
        return [path.name for path in sorted((tmp_path / "milestones").iterdir())]

    real = Training.learn
    with monkeypatch.context() as patched:
        patched.setattr("time.perf_counter", clock)
        patched.setattr(Training, "learn", learn)
        patched.setattr(Training, "progress", lambda self: min(self.updates / 7, 1.0))
        first = trained(tmp_path, milestone_minutes=0.05)
        assert first.seconds == first.updates == 7
        assert kept() == ["000000.npz", "000003.npz", "000006.npz", "000007.npz"]

        (tmp_path / "saved").replace(tmp_path / "checkpoint.bin")
        pace = 2
        again = Training(Config(run=str(tmp_path), milestone_minutes=0.05, **SMALL))
        again.load()
        assert again.run()
        assert (again.updates, again.seconds) == (7, 4 + 3 * 2)
        assert kept() == ["000000.npz", "000003.npz", "000006.npz", "000010.npz"]
    agents = [Network.load(tmp_path / "milestones" / name) for name in kept()]
    decisions = [point["decisions"] for point in again.curve]
    assert [agent.about["decisions"] for agent in agents] == [
        0,
        decisions[2],
        decisions[4],
        decisions[6],
    ]
    assert (tmp_path / "milestones" / "000010.npz").read_bytes() == (
        tmp_path / "model.npz"
    ).read_bytes()


def test_the_time_between_milestones_may_change(tmp_path: Path) -> None:
    assert train.main(["--run", str(tmp_path), *TINY]) == 0
    assert not (tmp_path / "milestones").exists()
    assert (
        train.main(
            ["--run", str(tmp_path), "--resume", "--decisions", "600", "--milestone-minutes", "5"]
        )
        == 0
    )
    assert len(list((tmp_path / "milestones").iterdir())) == 1  # the end


# ---- episodes ----


def test_episodes_count_shares_by_kind_of_opponent() -> None:
    episodes = Episodes()
    for opponent, share, times in (
        ("random", 0.0, 30),
        ("random", 1.0, 90),
        ("past-10", 0.5, 30),
        ("past-20", 0.5, 30),
        ("pastry", 1.0, 60),
        ("greedy", 1.0, FEWEST_EPISODES - 1),
    ):
        for _ in range(times):
            episodes.note(10, 5.0)
            episodes.note_share(opponent, share)
    assert episodes.means() == {"random": 0.75, "past": 0.5, "pastry": 1.0}
    assert episodes.count == 289
    for _ in range(1000):
        episodes.note(20, 1.0)
        episodes.note_share("random", 0.25)
    assert episodes.means()["random"] == 0.25  # only the latest count
    assert set(episodes.lengths) == {20}


# ---- checkpoints ----


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that is over."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    trained(folder)
    return folder


@pytest.fixture
def folder(run: Path, tmp_path: Path) -> Path:
    """A folder with its checkpoint."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "checkpoint.bin").write_bytes((run / "checkpoint.bin").read_bytes())
    return folder


def rewrite(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change what a checkpoint says, with a right checksum."""
    path = folder / "checkpoint.bin"
    state = pickle.loads(path.read_bytes()[len(MAGIC) + DIGEST :])
    body = pickle.dumps(change(state) or state)
    path.write_bytes(MAGIC + hashlib.sha256(body).digest() + body)


def refused(folder: Path, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """Why ``--resume`` doesn't go on; it says so in one line, with exit code 1, and writes
    nothing.
    """
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    capsys.readouterr()
    assert train.main(["--run", str(folder), *TINY, *more, "--resume"]) == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    message = one_line(capsys.readouterr().err)
    assert str(folder) in message
    return message


def test_a_checkpoint_that_is_all_right(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run that is over, resumed: nothing more is learned."""
    before = read_checkpoint(folder / "checkpoint.bin")
    assert train.main(["--run", str(folder), *TINY, "--resume"]) == 0
    after = read_checkpoint(folder / "checkpoint.bin")
    assert after["curve"] == before["curve"]
    assert f"{before['decisions']:,} decisions" in capsys.readouterr().out
    assert (
        train.main(
            ["--run", str(folder), *TINY, "--resume", "--decisions", str(before["decisions"] + 1)]
        )
        == 0
    )
    assert len(read_checkpoint(folder / "checkpoint.bin")["curve"]) == len(before["curve"]) + 1


def test_the_time_left_of_a_resumed_run_counts_what_is_done_from_here_on(tmp_path: Path) -> None:
    training = Training(Config(run=str(tmp_path), **SMALL))
    training.decisions = SMALL["decisions"] // 2
    with training._bar() as bar:
        assert bar.n == 0.5


def test_the_progress_bar_shows_the_wins_at_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stderr", terminal)
    training = Training(Config(run="unused", **SMALL))
    training.decisions = 77
    shares = {
        "random, 2 players, front": 0.9,
        "random, 3 players, front": 1.0,
        "greedy, 2 players, front": 0.43,
        "past": 0.5,
    }
    training.curve.append({"shares": shares, "pace": 16234.4, "decisions": 77})
    bar: Any = training._bar()
    with bar:
        training._show(bar)
        line = bar.format_meter(**{**bar.format_dict, "elapsed": 3.0, "ncols": 80})
    assert len(line) <= 80
    assert re.search(r"wins: 43 % greedy, 50 % past, 95 % random; 16,234/s$", line)


def test_no_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no checkpoint to go on from" in refused(tmp_path, capsys)


def test_foreign_checkpoints(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = (folder / "checkpoint.bin").read_bytes()
    name, _, version = MAGIC.rpartition(b"-")
    older = whole.replace(MAGIC, b"%s-%d\n" % (name, int(version) - 1), 1)
    assert older != whole
    for content in (b"", b"something else", older, pickle.dumps({}), MAGIC[:-1]):
        (folder / "checkpoint.bin").write_bytes(content)
        assert "no training checkpoint of this version" in refused(folder, capsys)


def test_damaged_anywhere(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "checkpoint.bin"
    whole = path.read_bytes()
    for position in [
        *range(len(MAGIC) + DIGEST + 2),
        *range(0, len(whole), len(whole) // 40),
        len(whole) - 1,
    ]:
        data = bytearray(whole)
        data[position] ^= 16
        path.write_bytes(bytes(data))
        with pytest.raises(
            CheckpointError, match="damaged" if position >= len(MAGIC) else "no training checkpoint"
        ):
            read_checkpoint(path)
    for length in [
        *range(0, len(whole), len(whole) // 40),
        len(MAGIC),
        len(MAGIC) + DIGEST,
        len(whole) - 1,
    ]:
        path.write_bytes(whole[:length])
        with pytest.raises(
            CheckpointError, match="damaged" if length >= len(MAGIC) else "no training checkpoint"
        ):
            read_checkpoint(path)
    path.write_bytes(whole + b"\0")
    assert "damaged" in refused(folder, capsys)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda state: state.update(program="best_response"),
            "was written by best_response, not by train",
        ),
        (
            lambda state: state.update(observation_size=700),
            "was trained for observations of length 700; they have",
        ),
        (lambda state: state["config"].update(gamma=0.5), "was trained with gamma = 0.5, not 1;"),
        (
            lambda state: state["config"].update(colour="red"),
            "was trained with colour = red, not none",
        ),
    ],
)
def test_checkpoints_of_something_else(
    change: Callable[[dict[str, Any]], Any],
    message: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rewrite(folder, change)
    assert message in refused(folder, capsys)


@pytest.mark.parametrize(
    "change",
    [
        lambda state: [1, 2],
        lambda state: {"learner": 1},
        lambda state: dict.fromkeys(CONTENT),
        lambda state: state.update(learner=None),
        lambda state: state.update(learner={**state["learner"], "actors": {"actors": []}}),
        lambda state: state.update(learner={**state["learner"], "network": {}}),
        lambda state: state.update(
            learner={**state["learner"], "actors": {"actors": [pickle.dumps(3)[:-1]]}}
        ),
        lambda state: state.update(episodes="many"),
        lambda state: state.update(seconds="long"),
        lambda state: state.update(curve=3),
        lambda state: state.update(decisions=None),
    ],
)
def test_checkpoints_of_another_content_with_a_right_checksum(
    change: Callable[[dict[str, Any]], Any], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rewrite(folder, change)
    assert "holds something else than a training's checkpoint" in refused(folder, capsys)


def test_who_cannot_play_is_no_fault_of_the_checkpoint(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nobody(*_: object) -> NoReturn:
        raise OptionError("ray: nobody answers at somewhere:1")

    monkeypatch.setattr(train, "begin_actors", nobody)
    assert train.main(["--run", str(folder), *TINY, "--resume"]) == 2
    assert one_line(capsys.readouterr().err) == "train: error: ray: nobody answers at somewhere:1"


def test_checkpoints_that_refer_to_what_is_gone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "checkpoint.bin"
    body = path.read_bytes()[len(MAGIC) + DIGEST :].replace(
        b"experiments.training.runs", b"experiments.training.ruin"
    )
    path.write_bytes(MAGIC + hashlib.sha256(body).digest() + body)
    assert "can't be read by this version (ModuleNotFoundError" in refused(folder, capsys)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("players", "3"),
        ("side", "back"),
        ("seed", "2"),
        ("hidden", "9"),
        ("gamma", "0.9"),
        ("prior", "greedy"),
        ("games", "9"),
    ],
)
def test_options_that_may_not_change(
    name: str, value: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = refused(folder, capsys, f"--{name}", value)
    assert (
        f"was trained with {name} = {as_text(getattr(asked(*TINY), name)) or 'none'}, not {value}; "
        "only run, minutes" in message
    )


def test_options_that_may_change_and_a_folder_that_moved(folder: Path, tmp_path: Path) -> None:
    moved = folder.rename(tmp_path / "moved")
    changes = [
        "--minutes",
        "100",
        "--checkpoint-seconds",
        "5",
        "--paired-seeds",
        "1",
        "--decisions",
        "400",
    ]
    assert train.main(["--run", str(moved), *TINY, *changes, "--resume"]) == 0
    assert json.loads((moved / "config.json").read_text())["minutes"] == 100
    assert (moved / "evaluation.json").exists()


def test_a_checkpoint_does_not_depend_on_how_the_trainer_was_started(run: Path) -> None:
    """With ``python -m`` the module is called __main__; nothing in a checkpoint may say so."""
    body = (run / "checkpoint.bin").read_bytes()
    assert b"__main__" not in body
    source = Path(train.__file__).read_text(encoding="utf-8")
    assert source.rstrip().endswith("sys.exit(train.main())")


# ---- signals ----


def signalling(monkeypatch: pytest.MonkeyPatch, numbers: dict[int, list[int]]) -> None:
    """Send this process signals during these updates of any run."""
    real = Training.learn

    def learn(self: Training) -> dict[str, float]:
        for number in numbers.get(self.updates + 1, []):
            os.kill(os.getpid(), number)
        return real(self)

    monkeypatch.setattr(Training, "learn", learn)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_run_after_the_update(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    signalling(monkeypatch, {2: [number]})
    arguments = ["--run", str(tmp_path), *TINY, "--decisions", "1000"]
    assert train.main(arguments) == 130
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == handlers
    printed = capsys.readouterr()
    assert "stopping after this update" in printed.err
    assert "--resume` goes on" in printed.out
    state = read_checkpoint(tmp_path / "checkpoint.bin")
    assert state["updates"] == len(state["curve"]) == 2
    assert {"model.npz", "curve.jsonl", "curves.png", "config.json"} < {
        path.name for path in tmp_path.iterdir()
    }
    assert train.main([*arguments, "--resume"]) == 0
    curve = (tmp_path / "curve.jsonl").read_text().splitlines()
    assert [json.loads(line)["update"] for line in curve] == list(range(1, len(curve) + 1))


def test_a_second_ctrl_c_does_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    signalling(monkeypatch, {3: [signal.SIGINT, signal.SIGINT]})
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    assert (
        train.main(
            ["--run", str(tmp_path), *TINY, "--decisions", "1000", "--checkpoint-seconds", "0"]
        )
        == 130
    )
    assert "interrupted" in capsys.readouterr().err
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == handlers
    assert read_checkpoint(tmp_path / "checkpoint.bin")["updates"] == 2


def test_ctrl_c_in_the_closing_evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> list[Any]:
        return []

    monkeypatch.setattr("experiments.training.runs.evaluate", interrupted)
    assert train.main(["--run", str(tmp_path), *TINY, "--paired-seeds", "1"]) == 130
    assert (tmp_path / "model.npz").exists()
    assert not (tmp_path / "evaluation.json").exists()


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_end_is_saved_waits_for_it(
    number: int,
    times: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """All is saved, nothing is measured any more, and the same command with ``--resume`` measures
    it.
    """
    real = Training.model

    def model(self: Training) -> bytes:
        if self.finished():
            for _ in range(times):
                os.kill(os.getpid(), number)
        return real(self)

    monkeypatch.setattr(Training, "model", model)
    assert train.main(["--run", str(tmp_path), *TINY, "--paired-seeds", "1"]) == 130
    printed = capsys.readouterr()
    assert "--resume` goes on" in printed.out
    assert "Measuring" not in printed.err
    assert {"checkpoint.bin", "model.npz", "curve.jsonl", "curves.png"} <= {
        path.name for path in tmp_path.iterdir()
    }
    assert not (tmp_path / "evaluation.json").exists()
    monkeypatch.undo()
    updates = read_checkpoint(tmp_path / "checkpoint.bin")["updates"]
    assert train.main(["--run", str(tmp_path), "--resume"]) == 0
    assert "is finished" in capsys.readouterr().out
    assert read_checkpoint(tmp_path / "checkpoint.bin")["updates"] == updates


def test_sigterm_from_outside_ends_a_run_in_order(tmp_path: Path) -> None:
    """A run that saves after every update, so that the signal may well come while it does."""
    command = [
        "-m",
        "experiments.training.train",
        "--run",
        tmp_path,
        *TINY,
        "--checkpoint-seconds",
        0,
        "--decisions",
        10**9,
    ]
    curve = tmp_path / "curve.jsonl"
    with running(*command, stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: curve.exists() and curve.read_bytes(), process)
        process.terminate()
        out, _ = process.communicate()
    assert process.returncode == 130
    assert "--resume` goes on" in out
    state = read_checkpoint(tmp_path / "checkpoint.bin")
    assert state["updates"] == len(curve.read_text().splitlines()) > 0
    assert not list(tmp_path.glob(".*"))


# ---- full disks ----


def test_a_disk_that_fills_up_where_tensorboard_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = Board.__init__

    def full(self: Board, folder: Path, program: str) -> None:
        real(self, folder, program)
        self._path = Path("/dev/full")

    monkeypatch.setattr(Board, "__init__", full)
    assert train.main(["--run", str(tmp_path), *TINY]) == 1
    assert (
        "train: error: /dev/full: No space left on device" in capsys.readouterr().err.splitlines()
    )
    assert read_checkpoint(tmp_path / "checkpoint.bin")["decisions"] >= 300
    monkeypatch.undo()
    assert train.main(["--run", str(tmp_path), "--resume", "--decisions", "600"]) == 0
    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    curve = (tmp_path / "curve.jsonl").read_text().splitlines()
    assert [scalar.step for scalar in events.Scalars("train/entropy")] == [
        json.loads(line)["decisions"] for line in curve
    ]


def test_a_checkpoint_for_which_there_is_no_room(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The one before stays, and the run goes on from it when there is room again."""
    assert train.main(["--run", str(tmp_path), *TINY]) == 0
    before = (tmp_path / "checkpoint.bin").read_bytes()
    capsys.readouterr()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(
        resource.RLIMIT_FSIZE, (len(before) // 2, hard)
    )  # the largest file that may be written
    try:
        assert train.main(["--run", str(tmp_path), "--resume", "--decisions", "600"]) == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (
        f"train: error: {tmp_path / 'checkpoint.bin'}: File too large"
        in capsys.readouterr().err.splitlines()
    )
    assert (tmp_path / "checkpoint.bin").read_bytes() == before
    assert not list(tmp_path.glob(".*"))
    assert train.main(["--run", str(tmp_path), "--resume", "--decisions", "600"]) == 0


# ---- limits ----


@pytest.mark.parametrize("seed", [0, 1])
def test_the_closing_evaluation_deals_other_games_than_those_of_the_training(
    seed: int, tmp_path: Path
) -> None:
    """Whatever the run's seed and length; the same ones for the same seed, and its results say how
    to deal them again.
    """
    training = trained(tmp_path / "run", seed=seed, paired_seeds=2, against=("random",))
    (result,) = training.close()
    first = collector(training).tables[0].games.seeds
    assert all(number in TRAINING for number in first.tolist())
    assert ((first - TRAINING.start) // SEEDS_APART == seed).all()
    dealt = secret_seeds(result["secret"], [result["seed"], result["seed"] + 1])
    assert all(number in EVALUATION for number in dealt.tolist())
    lines = (tmp_path / "run" / "games.jsonl").read_text(encoding="utf-8").splitlines()
    recorded = {header["seed"] for line in lines if "format" in (header := json.loads(line))}
    assert recorded == set(dealt.tolist())
    assert training.close() == [result]


def test_the_closing_evaluation_counts_in_the_minutes() -> None:
    """By hand: 2 · 300 · 2 games of 100 decisions, of which a thousand take a second in
    training.
    """
    training = Training(Config(minutes=10))
    assert training.closing_seconds() == 0  # nothing is known yet
    training.decisions, training.seconds = 240_000, 240.0
    for _ in range(10):
        training.episodes.note(100, 5.0)
    seconds = runs.Run.CLOSING_COST * 120
    assert training.closing_games() == 1200
    assert training.closing_seconds() == pytest.approx(seconds)
    assert training.progress() == pytest.approx(240 / (600 - seconds))
    short = Training(Config(minutes=0.01))
    short.decisions, short.seconds, short.episodes = 1000, 0.1, training.episodes
    assert short.closing_seconds() == pytest.approx(0.3)  # half of the minutes at most
    assert Training(Config(minutes=10, paired_seeds=0)).closing_games() == 0


def test_a_run_ends_at_the_nearest_limit() -> None:
    training = Training(Config(minutes=10, decisions=100))
    assert not training.finished()
    training.decisions = 50
    training.seconds = 450
    assert training.progress() == 0.75
    training.decisions = 90
    assert training.progress() == 0.9
    training.decisions = 120
    assert training.progress() == 1.0
    assert training.finished()
    training.decisions, training.seconds = 0, 600
    assert training.finished()
