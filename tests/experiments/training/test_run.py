"""A training's folder: files, checkpoints, signals, limits and report."""

import hashlib
import json
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # type: ignore[import-untyped]

from experiments.training import train
from experiments.training.checkpoint import (
    CHECKPOINT,
    DIGEST,
    MAGIC,
    packed,
    read_checkpoint,
    unpacked,
)
from experiments.training.closing import close, record_games
from experiments.training.config import Config
from experiments.training.curves import FEWEST_EPISODES, Episodes, read_curve
from experiments.training.program import program
from experiments.training.run import MILESTONES
from experiments.training.train import Training
from skyenv import records
from skyenv.agents import make_agent
from skyenv.arena.matches import play_games, rotations
from skyenv.console.options import Help
from skyenv.engine.options import GameOptions
from skyenv.errors import CheckpointError, OptionError
from trainings import TINY, begun, tiny, updated

Capture = pytest.CaptureFixture[str]


def one_line(capsys: Capture) -> str:
    """The only line on stderr, an error."""
    (line,) = (line for line in capsys.readouterr().err.splitlines() if line.strip())
    assert line.startswith("train: error: ")
    return line


def content_of(folder: Path) -> dict[str, bytes]:
    """The files of a folder, without its lock."""
    files = (path for path in folder.iterdir() if path.is_file() and path.name != ".lock")
    return {path.name: path.read_bytes() for path in files}


# ---- options ----


@pytest.mark.parametrize(
    ("arguments", "code", "name"),
    [
        (["--minutes", "nan"], 2, "minutes"),
        (["--fixed-opponents", "nobody"], 2, "fixed_opponents"),
        (["--fixed-opponents", "nowhere/model.npz"], 1, "nowhere/model.npz"),
    ],
)
def test_invalid_values_create_no_folder(
    arguments: list[str], code: int, name: str, tmp_path: Path, capsys: Capture
) -> None:
    assert train.main(["--run", str(tmp_path / "run"), *arguments]) == code
    assert name in one_line(capsys)
    assert not (tmp_path / "run").exists()


# ---- a run's folder ----


def test_a_finished_run_has_all_files_and_is_not_trained_again(
    tmp_path: Path, capsys: Capture
) -> None:
    """Resuming repeats only the evaluation, unless options ask for more."""
    folder = tmp_path / "there" / "first"
    run = ["--run", str(folder)]
    assert train.main([*run, *TINY, "--players", "2,3", "--paired-seeds", "1"]) == 0
    out = capsys.readouterr().out
    assert f"{folder} is finished: " in out
    assert (folder / "evaluation.txt").read_text() in out
    expected = {
        "config.json",
        "checkpoint.bin",
        "model.npz",
        "curve.jsonl",
        "curves.png",
        "tensorboard",
        "evaluation.txt",
        "evaluation.json",
        "games-2-front.jsonl",
        "games-3-front.jsonl",
    }
    assert {path.name for path in folder.iterdir()} - {".lock"} == expected  # nothing half-written
    results = json.loads((folder / "evaluation.json").read_text())
    assert [(entry["opponent"], entry["num_players"]) for entry in results] == [
        (o, p) for p in (2, 3) for o in ("random", "greedy")
    ]
    assert make_agent(folder / "model.npz").name == "first"
    before = content_of(folder)
    assert train.main([*run, "--resume"]) == 0  # options that aren't given are as they were
    assert capsys.readouterr().out == out
    assert content_of(folder) == before
    assert train.main([*run, *TINY]) == 2
    assert "--resume" in one_line(capsys)
    assert train.main([*run, "--resume", "--paired-seeds", "2"]) == 0  # measured again
    assert re.search(r"greedy +2 front +2 +\d", capsys.readouterr().out)


def test_evaluations_write_records(tmp_path: Path) -> None:
    """Of the games that an evaluation plays first."""
    path, agents = tmp_path / "games.jsonl", [*map(make_agent, ("greedy", "random", "crowd"))]
    kind = GameOptions(3, "back", max_turns=9)
    record_games(path, agents, kind, 4, 5)
    games = [(one.header.value, [*one.events][-1].value) for one in records.iter_games(path)]
    assert [header["seed"] for header, _ in games] == [5, 5, 5, 6] * 2
    assert games[1][0]["agents"] == ["random", "greedy", "random"]
    played = play_games(agents[:2], rotations(3, 1), [5, 5, 5], options=kind)
    assert [end["scores"] for _, end in games[:3]] == played.scores.tolist()


def test_the_curve_is_the_same_in_tensorboard(tmp_path: Path) -> None:
    """Also across an interruption, which repeats some updates."""
    training = begun(tiny(tmp_path))
    updated(training, 2).save()
    updated(training, 1).save()
    checkpoint = (tmp_path / CHECKPOINT).read_bytes()
    updated(training, 2).save()
    (tmp_path / CHECKPOINT).write_bytes(checkpoint)
    again = Training(tiny(tmp_path, decisions=1200))
    again.load()
    assert again.run()
    curve = read_curve(tmp_path)
    assert [point["update"] for point in curve] == list(range(1, len(curve) + 1))
    assert all(point["illegal"] == 0 and point["entropy"] > 0 for point in curve)
    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    for name in ("entropy", "episodes"):
        found = events.Scalars(f"train/{name}")
        assert [scalar.step for scalar in found] == [point["decisions"] for point in curve]
        wanted = [point[name] for point in curve]
        assert [scalar.value for scalar in found] == pytest.approx(wanted, rel=1e-5)


class Clocked(Training):
    """Ends after seven updates, each of which takes as many seconds as said."""

    pace, now = 1, 0.0

    def clock(self) -> float:
        """See :class:`Run`."""
        self.now += self.pace
        return self.now

    def progress(self) -> float:
        """See :meth:`Run.progress`."""
        return min(self.updates / 7, 1.0)


def test_milestones_survive_a_kill(tmp_path: Path) -> None:
    """Those that came after the checkpoint come at other times then."""

    def kept() -> list[str]:
        return [path.name for path in sorted((tmp_path / MILESTONES).iterdir())]

    config = tiny(tmp_path, milestone_minutes=0.05)
    first = updated(begun(config, Clocked), 4)
    first.save()
    checkpoint = (tmp_path / CHECKPOINT).read_bytes()
    assert first.run()
    assert first.seconds == first.updates == 7
    assert kept() == ["000006.npz", "000007.npz"]
    (tmp_path / CHECKPOINT).write_bytes(checkpoint)
    again = Clocked(config)
    again.pace = 2
    again.load()
    assert again.run()
    assert (again.updates, again.seconds) == (7, 4 + 3 * 2)
    assert kept() == ["000006.npz", "000010.npz"]
    assert (tmp_path / MILESTONES / "000010.npz").read_bytes() == again.model()


def test_win_shares_are_counted_by_kind_of_opponent() -> None:
    episodes = Episodes()
    for opponent, share, times in (
        ("random", 0.0, 30),
        ("random", 1.0, 90),
        ("past-10", 0.5, 30),
        ("past-20", 0.5, 30),
        ("greedy", 1.0, FEWEST_EPISODES - 1),
    ):
        for _ in range(times):
            episodes.note(10, 5.0)
            episodes.note_share(opponent, share)
    assert episodes.means() == {"random": 0.75, "past": 0.5}
    again = Episodes(unpacked(packed(episodes.state())))
    assert again.state() == episodes.state()
    for _ in range(1000):
        again.note_share("random", 0.25)
    assert again.means()["random"] == 0.25  # only the latest count


# ---- checkpoints ----


@pytest.fixture
def folder(run: Path, tmp_path: Path) -> Path:
    """A folder with its checkpoint."""
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / CHECKPOINT).write_bytes((run / CHECKPOINT).read_bytes())
    return folder


def refused(folder: Path, capsys: Capture, *more: str) -> str:
    """The one line in which ``--resume`` refuses; it exits with 1 and writes nothing."""
    before = content_of(folder)
    capsys.readouterr()
    assert train.main(["--run", str(folder), *TINY, *more, "--resume"]) == 1
    assert content_of(folder) == before
    return one_line(capsys)


def test_foreign_and_damaged_checkpoints_are_refused(folder: Path, capsys: Capture) -> None:
    path = folder / CHECKPOINT
    whole = path.read_bytes()
    bad = [b"", b"something else", whole + b"\0", whole[:-1]]
    for place in (*range(len(MAGIC) + DIGEST + 2), len(whole) // 2, len(whole) - 1):
        bad += [whole[:place], whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :]]
    for content in bad:
        path.write_bytes(content)
        with pytest.raises(CheckpointError, match=re.escape(str(path))):
            read_checkpoint(path)
    assert str(path) in refused(folder, capsys)
    path.unlink()
    assert str(path) in refused(folder, capsys)


class Evil:
    """Runs code where it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("unpickled",)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda state: state.update(program="best_response"), "best_response"),
        (lambda state: state.update(observation_size=700), "700"),
        (lambda state: state["config"].update(gamma=0.5), "gamma"),
        (lambda state: state["config"].update(colour="red"), "colour"),
        (lambda state: state.clear(), CHECKPOINT),
        (lambda state: state.update(learner=None), CHECKPOINT),
        (lambda state: state["learner"].update(network={}), CHECKPOINT),
        (lambda state: state["learner"]["actors"].update(states=[b"nothing"]), CHECKPOINT),
        (lambda state: state.update(curve=Evil()), CHECKPOINT),
    ],
)
def test_checkpoints_with_other_content_are_refused(
    change: Callable[[dict[str, Any]], Any], name: str, folder: Path, here: Path, capsys: Capture
) -> None:
    """No code of theirs is run."""
    path = folder / CHECKPOINT
    state = unpacked(path.read_bytes()[len(MAGIC) + DIGEST :])
    change(state)
    body = packed(state)
    path.write_bytes(MAGIC + hashlib.sha256(body).digest() + body)
    assert name in refused(folder, capsys)
    assert not (here / "unpickled").exists()


def test_a_changed_opponent_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "fixed.npz"
    first, second = (tiny(seed=seed).make_network().frozen({}).to_bytes() for seed in (1, 2))
    path.write_bytes(first)
    training = begun(tiny(tmp_path, fixed_opponents=str(path)))
    training.save()
    path.write_bytes(second)
    with pytest.raises(OptionError, match="fixed_opponents"):
        Training(training.config).load()


# ---- signals ----


@pytest.mark.parametrize(
    ("learning", "closing", "updates"),
    [
        ((signal.SIGTERM,), (), 2),
        ((signal.SIGINT, signal.SIGINT), (), 1),
        ((), (signal.SIGINT,), None),
    ],
    ids=["asked", "hurried", "unmeasured"],
)
def test_signals_end_a_run_with_a_checkpoint(
    learning: tuple[int, ...],
    closing: tuple[int, ...],
    updates: int | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    """In its second update the first one ends it after that, the second at once; in the closing
    evaluation the first does. Nothing half-written is left.
    """

    class Signalled(Training):
        def learn(self) -> dict[str, float]:
            for number in learning if self.updates == 1 else ():
                os.kill(os.getpid(), number)
            return super().learn()

    def interrupted(config: Config) -> str:
        for number in closing:
            os.kill(os.getpid(), number)
        return close(config)

    monkeypatch.setattr("experiments.training.program.close", interrupted)
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    run = ["--run", str(tmp_path), *TINY, "--checkpoint-seconds", "0", "--paired-seeds", "1"]
    assert program(Signalled, Config, Help("Train."), run) == 130
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == handlers
    assert "--resume` goes on" in capsys.readouterr().err
    state = read_checkpoint(tmp_path / CHECKPOINT)
    assert updates in (state["updates"], None)
    assert state["updates"] == len(read_curve(tmp_path))
    assert not list(tmp_path.glob(".*part*"))
    assert not (tmp_path / "evaluation.json").exists()


# ---- limits ----


def test_a_run_ends_at_the_nearest_limit() -> None:
    training = Training(Config(minutes=10, decisions=480_000))
    training.decisions, training.seconds = 240_000, 240.0
    assert training.progress() == 0.5
    training.decisions = 120_000
    assert training.progress() == pytest.approx(0.4)
    training.seconds = 700.0
    assert training.finished()
