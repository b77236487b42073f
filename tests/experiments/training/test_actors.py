"""Actors: processes play what one process would, survive what happens to them, and end with it."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from trainings import TINY, content, tiny

from experiments.training import train
from experiments.training.actors import Actors
from experiments.training.config import Config
from experiments.training.network import PolicyNetwork
from experiments.training.rollouts import Collector
from experiments.training.runs import read_checkpoint
from processes import children, command, running, there, wait_until
from skyenv_agents.learned.networks import NetworkAgent

Started = Callable[..., Actors]


@pytest.fixture
def started() -> Iterator[Started]:
    """Actors, which end with the test."""
    all_of_them: list[Actors] = []

    def start(config: Config, network: PolicyNetwork, kept: Any = None) -> Actors:
        all_of_them.append(Actors(Collector, config, network, kept))
        return all_of_them[-1]

    yield start
    for actors in all_of_them:
        actors.end()


def networks(config: Config, number: int) -> list[PolicyNetwork]:
    """Different ones."""
    made = [config.make_network() for _ in range(number)]
    for i, network in enumerate(made):
        chance = torch.Generator().manual_seed(i)
        with torch.no_grad():
            for one in network.parameters():
                one.add_(0.05 * i * torch.randn(one.shape, generator=chance))
    return made


def actors_of(process: int) -> list[int]:
    """The processes of its actors."""
    return [child for child in children(process) if b"spawn_main" in command(child)]


@pytest.mark.parametrize("processes", [1, 2, pytest.param(3, marks=pytest.mark.long)])
def test_rollouts_are_those_of_collectors_here(processes: int, started: Started) -> None:
    """By hand: with one process of the network as it is; with more the first two are of the first
    network, then each is of that of the call before. A worker is killed, past policies come, and
    what was packed goes on the same.
    """
    config = tiny(
        processes=processes,
        games=11,
        opponent_share=1.0,
        fixed_share=0.3,
        fixed_opponents="random,greedy",
        max_turns=2,
        steps=40,
    )
    given = networks(config, 6)
    before = set(actors_of(os.getpid()))
    actors = started(config, given[0])
    collectors = [Collector(config, part) for part in range(config.parts)]
    playing = set(actors_of(os.getpid())) - before
    frozen, kept = given[1].frozen({}), None
    for i in range(5):
        if i == 2:
            actors.add_past("past-1", frozen)
            kept = actors.pack()
            for process in playing:
                os.kill(process, signal.SIGKILL)
        if i == 2 + (processes > 1):  # those under way have begun without it
            for one in collectors:
                one.add_opponent(NetworkAgent(frozen, name="past-1"))
        with_network = given[i + 1] if processes == 1 else given[i]
        wanted = content([one.collect(with_network) for one in collectors])
        rollouts = actors.rollouts(given[i + 1])
        assert content(rollouts) == wanted
        assert content(rollouts) == wanted
        if i == 2:
            again = started(config, given[5], kept)  # whose weights don't count
        if i >= 2:
            assert content(again.rollouts(given[i + 1])) == wanted
    assert len(playing) == processes - 1
    assert "past-1" in {one.opponent for rollout in rollouts for one in rollout.ended}


FAULTY = """
from skyenv.agents import RandomAgent

class Faulty(RandomAgent):
    "Goes wrong after some decisions."
    name = "faulty"
    asked = 0

    def act(self, decisions):
        Faulty.asked += 1
        return super().act(decisions) if Faulty.asked < 5 else None
"""


def test_an_error_of_an_actor_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same as if it had happened here, whichever process it was; and no process is left."""
    (tmp_path / "faulty_agents.py").write_text(FAULTY, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    before, errors = set(actors_of(os.getpid())), []
    for processes in ("1", "3"):
        monkeypatch.delitem(sys.modules, "faulty_agents", raising=False)
        run = ["--run", str(tmp_path / processes), *TINY, "--processes", processes]
        more = ["--opponent-share", "1", "--fixed-opponents", "faulty_agents:Faulty"]
        code = train.main([*run, *more])
        (line,) = (line for line in capsys.readouterr().err.splitlines() if "error" in line)
        errors.append((code, re.sub(r"\d+", "…", line)))  # how many decisions it was asked for
    assert errors[0] == errors[1]
    assert "agent faulty" in errors[0][1]
    assert set(actors_of(os.getpid())) <= before


LONG = ["--decisions", str(10**9), "--checkpoint-seconds", "0", "--processes", "3"]


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.long)]
)
def test_a_signal_to_the_run_ends_its_actors(number: int, tmp_path: Path) -> None:
    """SIGINT reaches all processes, as from a terminal, and ends the run in order."""
    curve = tmp_path / "curve.jsonl"
    program = ["-m", "experiments.training.train", "--run", tmp_path, *TINY, *LONG]
    with running(*program, start_new_session=True) as process:
        wait_until(lambda: curve.exists() and curve.read_bytes(), process)
        playing = actors_of(process.pid)
        assert len(playing) == 2
        if number == signal.SIGINT:
            os.killpg(process.pid, number)
        else:
            process.kill()
        out, err = process.communicate()
        wait_until(lambda: not any(map(there, playing)))
    if number == signal.SIGINT:
        assert process.returncode == 130, err
        assert "--resume` goes on" in out
        assert "Traceback" not in err
        updates = read_checkpoint(tmp_path / "checkpoint.bin")["updates"]
        assert updates == len(curve.read_text().splitlines()) > 0
