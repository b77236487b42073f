"""Machines with limits: quotas, no threads, no memory, no disk, other encodings, and interrupts."""

import io
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from processes import main_of, python
from skyenv import Agent, Games, OptionError, runtime
from skyenv.agents import ReportingAgent, decide
from skyenv.console.options import BAD_DATA, exit_code
from skyenv.engine import kernels
from skyenv.work import default_workers

# Control groups: this process's, their files, and how many workers they allow, of 64.
GROUPS: dict[str, tuple[str, dict[str, str], int, str]] = {
    "quota above": (
        "0::/pod/box\n",
        {"pod/cpu.max": "250000 100000\n", "pod/box/cpu.max": "max 100000\n"},
        2,
        "the CPU quota",
    ),
    "quota of version 1, from inside": (
        "4:cpu,cpuacct:/docker/1f\n",
        {"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"},
        3,
        "the CPU quota",
    ),
    "memory": ("0::/\n", {"memory.max": "2000000000\n"}, 7, "the memory"),
    "memory of version 1": (
        "9:memory:/\n",
        {"memory/memory.limit_in_bytes": "1000000000\n"},
        3,
        "the memory",
    ),
    "processes": (
        "8:pids:/a\n",
        {"pids/a/pids.max": "30\n", "pids/a/pids.current": "10\n"},
        5,
        "the limit of processes",
    ),
    "room for less than one": ("0::/\n", {"cpu.max": "1000 100000\n"}, 1, "the CPU quota"),
    "no limits": (
        "8:pids:/\n4:cpu:/\n0::/\n",
        {"pids/pids.max": "max\n", "cpu/cpu.cfs_quota_us": "-1\n", "cpu.max": "damaged\n"},
        64,
        "",
    ),
}


@pytest.mark.parametrize("case", GROUPS)
def test_limits_of_the_machine_decide_the_number_of_workers(
    case: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    own, files, workers, limit = GROUPS[case]
    for name, content in {"own": own, **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(runtime, "CGROUPS", tmp_path)
    monkeypatch.setattr(runtime, "OWN_CGROUPS", tmp_path / "own")
    monkeypatch.setattr("os.sched_getaffinity", lambda process: range(64), raising=False)
    monkeypatch.setattr("os.sysconf", lambda name: 10**6)  # 10¹² bytes
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (resource.RLIM_INFINITY,) * 2)
    monkeypatch.delenv("SKYENV_QUIET", raising=False)
    runtime.print_once.cache_clear()
    assert [default_workers(), default_workers()] == [workers] * 2
    told = f"skyenv: 64 cores, but {limit} allows only {workers} at once\n"
    assert capsys.readouterr().err == (told if limit else "")


NO_THREADS = """
import os, resource
from skyenv import Games
from skyenv.runtime import at_once
os.sched_getaffinity = lambda process: range(8)
batches = [Games(8192, seed=1, threads=threads) for threads in (1, 8)]
actions = batches[0].mask.argmax(axis=1)
batches[0].step(actions)
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
if os.getuid() == 0:
    os.setuid(65534)  # root has no limit
batches[1].step(actions)
print(at_once(), batches[0].state.tobytes() == batches[1].state.tobytes())
"""


@pytest.mark.compiled
def test_without_threads_a_batch_is_stepped_as_a_whole() -> None:
    done = python("-c", NO_THREADS, environment={"SKYENV_QUIET": None})
    assert done.stdout == "1 True\n", done.stderr
    told = "skyenv: 8 cores, but the limit of processes allows only 1 at once"
    assert done.stderr.splitlines()[-1] == told


@pytest.mark.compiled
@pytest.mark.parametrize("is_played", [True, False])
def test_an_interrupted_batch_is_whole_or_refuses(
    is_played: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C after a thread's part, or before it."""
    games, same = (Games(8192, seed=1, threads=threads) for threads in (4, 1))
    actions, play = games.mask.argmax(axis=1), kernels.play_rows

    def interrupted(*arguments: Any) -> None:
        if is_played or arguments[3] != 2:
            play(*arguments)
        if arguments[3] == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(kernels, "play_rows", interrupted)
    with pytest.raises(KeyboardInterrupt):
        games.step(actions)
    monkeypatch.undo()
    same.step(actions)
    assert (games.state.tobytes() == same.state.tobytes()) == is_played
    if not is_played:
        with pytest.raises(OptionError, match="reset them all"):
            games.step(actions)
        with pytest.raises(OptionError, match="reset them all"):
            games.play_random(1)
        for batch in (games, same):
            batch.reset(5)
    for batch in (games, same):
        batch.play_random(3)
    assert games.state.tobytes() == same.state.tobytes()


# ---- shortages ----

SHORTAGES: list[tuple[Exception, str]] = [
    (MemoryError(), "too little memory"),
    (RuntimeError("[enforce fail] can't allocate memory: 9 bytes"), "too little memory: [enforce"),
    (RuntimeError("can't start new thread"), "no more threads or processes are allowed: can't"),
    (BlockingIOError(11, "Resource temporarily"), "no more threads or processes are allowed: "),
    (OSError(24, "Too many open files", "a.txt"), "a.txt: Too many open files"),
    (OSError(28, "No space left on device"), "the disk is full: "),
]


@pytest.mark.parametrize(("error", "told"), SHORTAGES)
def test_shortages_are_told_as_such(
    error: Exception, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also if they hit an agent."""

    class Short(Agent):
        def act(self, decisions: Any) -> np.ndarray:
            raise error

    assert exit_code("play", lambda: decide(Games(1), ReportingAgent(Short())).item()) == BAD_DATA
    complaint = capsys.readouterr().err
    assert complaint.startswith(f"play: error: {told}")
    assert complaint.count("\n") == 1


def test_other_errors_keep_their_tracebacks() -> None:
    def fail() -> None:
        raise RuntimeError("a mistake")

    with pytest.raises(RuntimeError, match="a mistake"):
        exit_code("play", fail)


# ---- text ----


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_characters_that_stdout_lacks_are_replaced(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    say: Callable[[], None] = lambda: print("random 3.2 VP → 0.1 ─")  # noqa: E731
    assert exit_code("first", say) == 0
    stream.flush()
    assert stream.buffer.getvalue() == b"random 3.2 VP ? 0.1 ?\n"


# ---- a full disk ----


RECORD = "record --seed 1 --max-turns 3"
TOURNAMENT = "tournament random crowd --max-turns 3 --secret 1 --out out --paired-seeds"
DATASET = "dataset random --games 2 --max-turns 3 --formats parquet -o out"
COMMANDS = [
    (f"{RECORD} -o new.jsonl", 99, "new.jsonl"),
    ("show game.jsonl --svg new.svg", 99, "new.svg"),
    ("export game.jsonl -o new.html", 99, "new.html"),
    ("analyse game.jsonl --agent random --json new.json", 99, "new.json"),
    ("evaluate random --paired-seeds 1 --max-turns 3 --json new.json", 99, "new.json"),
    (f"{TOURNAMENT} 1", 9, "out/.lock"),
    (f"{TOURNAMENT} 1", 99, "out/config.json"),
    (f"{TOURNAMENT} 9", 1500, "out/games.jsonl"),
    (f"{TOURNAMENT} 1", 1500, "out/ladder.json"),
    (f"{DATASET}", 99, "out/config.json"),
    (f"{DATASET}", 999, "out/parquet/00000.parquet"),
]


@pytest.mark.usefixtures("in_this_process", "here")
@pytest.mark.parametrize(("words", "size", "file"), COMMANDS)
def test_a_full_disk_names_the_file(
    words: str,
    size: int,
    file: str,
    limit: Callable[[int], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main_of(f"{RECORD} -o game.jsonl") == 0
    limit(size)
    assert main_of(words) == 1
    complaint = capsys.readouterr().err
    assert complaint == f"{words.split()[0]}: error: {file}: File too large\n"
