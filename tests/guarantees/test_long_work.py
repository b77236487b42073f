"""Long-running programs: interrupted and resumed, and exclusive folders."""

import functools
import json
import os
import shlex
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from experiments.training import expert_iteration, train
from experiments.training.curves import read_curve
from processes import contents, running, wait_until
from skyenv import cli
from skyenv.console.options import BAD_DATA, INTERRUPTED
from skyenv.files import locked
from trainings import without_time

TRAINING = (
    "--games 12 --steps 24 --batch 64 --hidden 8 --blocks 1 --entity-dim 4 --minutes 0 "
    "--decisions 600 --paired-seeds 0 --max-turns 6 --precision float32 --run {folder} "
)
BENCHMARK = "benchmark random --tasks none --players 2,3 --paired-seeds 3 --lookahead 0 --workers 1"
SOLVE = "solve --task duel-3 --openings 2 --share 1e-12 --iterations 20000 --out {folder}"
EXPLOIT = "exploitability random --task duel-3 --openings 24 --json {folder}/figures.json"
ALL = (
    *(signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP),
    *(signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU),
)


@dataclass(frozen=True)
class Work:
    """A program that works long.

    Attributes:
        module: what Python runs.
        main: the same in this process.
        words: its arguments; ``{folder}`` stands for where it writes.
        resume: what goes on with it.
        begun: a file with content as soon as something would be lost.
        result: what it has come to, without times.
        advice: in the last line after Ctrl-C.
        quick: the signals with which it is stopped in the default run; the others are long.
        signals: all with which it is stopped.
        locked: the file that it locks; "": the whole folder.
    """

    module: str
    main: Callable[[list[str]], int]
    words: str
    resume: str
    begun: str
    result: Callable[[Path], Any]
    advice: str
    quick: tuple[signal.Signals, ...] = ()
    signals: tuple[signal.Signals, ...] = (signal.SIGKILL, signal.SIGINT, signal.SIGUSR1)
    locked: str = ""

    def asked(self, words: str, folder: Path) -> list[str]:
        """The arguments for a folder."""
        return shlex.split(words.format(folder=folder))


def games(folder: Path) -> list[dict[str, Any]]:
    """A tournament's games, in order."""
    lines = [json.loads(line) for line in (folder / "games.jsonl").read_text().splitlines()]
    return sorted(lines, key=lambda line: (line["paired_seed"], line["seats"]))


def filled(path: Path) -> bool:
    """Whether a file has content."""
    return path.exists() and path.stat().st_size > 0


def learned(folder: Path) -> tuple[bytes, list[dict[str, Any]]]:
    """A training's network and curve."""
    return (folder / "model.npz").read_bytes(), without_time(read_curve(folder))


WORKS = {
    "tournament": Work(
        "skyenv",
        cli.main,
        "tournament random hoard --paired-seeds 100 --max-turns 12 --secret 5 --workers 1 "
        "--out {folder}",
        "tournament random hoard --paired-seeds 100 --max-turns 12 --secret 5 --workers 1 "
        "--out {folder}",
        "games.jsonl",
        games,
        "; the same command goes on",
        quick=(signal.SIGKILL, signal.SIGINT, signal.SIGHUP),
        signals=ALL,
    ),
    "solutions": Work(
        "skyenv",
        cli.main,
        SOLVE,
        SOLVE,
        "duel-3-1024.cfr",
        lambda folder: [path.read_bytes() for path in sorted(folder.glob("*.cfr"))],
        "; the same command goes on",
        quick=(signal.SIGTERM,),
        signals=ALL,
    ),
    "exploitability": Work(
        "skyenv",
        cli.main,
        f"{EXPLOIT} --replace",
        f"{EXPLOIT} --resume",
        "figures.json",
        lambda folder: (folder / "figures.json").read_bytes(),
        "; the same command goes on with --resume",
        quick=(signal.SIGUSR1,),
        signals=ALL,
        locked="figures.json",
    ),
    "benchmark": Work(
        "skyenv",
        cli.main,
        f"{BENCHMARK} --out {{folder}}",
        f"{BENCHMARK} --out {{folder}}",
        "random/2-players/games.jsonl",
        lambda folder: [games(folder / "random" / table) for table in ("2-players", "3-players")],
        "; the same command goes on",
        quick=(),
    ),
    "dataset": Work(
        "skyenv",
        cli.main,
        "dataset random --games 40 --shard-games 2 --max-turns 6 --workers 1 -o {folder}",
        "dataset random --games 40 --shard-games 2 --max-turns 6 --workers 1 -o {folder}",
        "parquet/00001.parquet",
        contents,
        "interrupted; the same command goes on",
        quick=(signal.SIGKILL,),
    ),
    "training": Work(
        "experiments.training.train",
        train.main,
        TRAINING + "--checkpoint-seconds 0",
        "--run {folder} --resume",
        "checkpoint.bin",
        learned,
        "--resume` goes on",
        quick=(signal.SIGKILL,),
        signals=ALL,
    ),
    "training of two processes": Work(
        "experiments.training.train",
        train.main,
        TRAINING + "--checkpoint-seconds 0 --processes 2",
        "--run {folder} --resume",
        "checkpoint.bin",
        learned,
        "--resume",
    ),
    "expert iteration": Work(
        "experiments.training.expert_iteration",
        expert_iteration.main,
        TRAINING + "--checkpoint-seconds 0",
        "--run {folder} --resume",
        "checkpoint.bin",
        learned,
        "--resume",
    ),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Any]:
    """Return the result of an uninterrupted run."""

    @functools.cache
    def result(name: str) -> Any:
        work, folder = WORKS[name], tmp_path_factory.mktemp("whole") / "work"
        folder.mkdir()
        assert work.main(work.asked(work.words, folder)) == 0
        return work.result(folder)

    return result


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        pytest.param(name, kind, marks=() if kind in work.quick else pytest.mark.long)
        for name, work in WORKS.items()
        for kind in work.signals
    ],
)
def test_resumed_work_gives_the_same_result(
    name: str, kind: signal.Signals, tmp_path: Path, whole: Callable[[str], Any]
) -> None:
    """Signals reach all its processes, as from a terminal; all but SIGKILL are reported in one
    line.
    """
    work, folder = WORKS[name], tmp_path / "work"
    folder.mkdir()
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # as a terminal has it, also below nohup
    words = work.asked(work.words, folder)
    with running("-m", work.module, *words, start_new_session=True) as process:
        wait_until(lambda: filled(folder / work.begun), process)
        os.killpg(process.pid, kind)
        told, complaint = process.communicate()
    if kind != signal.SIGKILL:
        assert process.returncode == INTERRUPTED
        assert work.advice.format(folder=folder) in (told + complaint).splitlines()[-1]
        assert "Traceback" not in complaint
    else:
        assert process.returncode == -kind
    assert work.main(work.asked(work.resume, folder)) == 0
    assert work.result(folder) == whole(name)


@pytest.mark.parametrize("name", list(WORKS))
def test_a_folder_in_use_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work = WORKS[name]
    with locked(tmp_path, work.locked):
        assert work.main(work.asked(work.words, tmp_path)) == BAD_DATA
    (line,) = capsys.readouterr().err.splitlines()
    assert f"in use by process {os.getpid()} " in line
