"""Who plays for a training: in this process and in others it comes to the same things, and nobody
is left behind.
"""

from __future__ import annotations

import os
import pickle
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from trainings import TINY, begun, tiny, updated, weights, while_it_lasts, without_time

from experiments.training import train
from experiments.training.actors import Actors, Elsewhere, Here, make_actors
from experiments.training.checkpoints import read_checkpoint
from experiments.training.network import PolicyNetwork
from experiments.training.recipe import PRECISIONS, Config
from experiments.training.rollouts import Rollout
from processes import children, command, running, there, wait_until
from skyenv_agents.learned.networks import NetworkAgent

Started = Callable[..., Actors]


@pytest.fixture
def started() -> Iterator[Started]:
    """Actors, which end with the test."""
    all_of_them: list[Actors] = []

    def start(config: Config, network: PolicyNetwork, kept: Any = None) -> Actors:
        all_of_them.append(make_actors(config, network, kept))
        return all_of_them[-1]

    yield start
    for actors in all_of_them:
        actors.end()


def networks(config: Config, number: int) -> list[PolicyNetwork]:
    """Different ones."""
    made = [config.make_network() for _ in range(number)]
    for i, network in enumerate(made):
        with torch.no_grad():
            for parameter in network.parameters():
                parameter.add_(
                    0.05
                    * i
                    * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(i))
                )
    return made


def content(rollouts: list[Rollout]) -> list[Any]:
    """All that rollouts tell, to be compared; their batches may be written over by the rollouts
    after the next.
    """
    return [
        (
            [array.numpy().tobytes() for array in vars(r.batch).values()],
            r.decisions,
            r.ended,
            r.figures,
        )
        for r in rollouts
    ]


def actors_of(process: int) -> list[int]:
    """Those of them that play."""
    return [child for child in children(process) if b"spawn_main" in command(child)]


# ---- what they play ----


def test_one_process_plays_itself(started: Started) -> None:
    config = tiny()
    network = config.make_network()
    actors = started(config, network)
    assert isinstance(actors, Here)
    assert actors.pack().keys() == {"actors"}
    wanted = config.make_collector(0).collect(network)
    assert content(actors.rollouts(network)) == content([wanted])


@pytest.mark.parametrize("processes", [2, 3])
def test_others_play_the_same_a_rollout_later(processes: int, started: Started) -> None:
    """By hand: the first two rollouts are with the first network, then each is with the one of the
    call before.

    With one other process a part of the games is this one's, whose rollouts are of the same
    networks.
    """
    config = tiny(
        processes=processes, games=11, opponent_share=0.8, fixed_opponents="random,greedy"
    )
    first, second, third = networks(config, 3)
    before = set(actors_of(os.getpid()))
    actors = started(config, first)
    assert isinstance(actors, Elsewhere)
    assert len(set(actors_of(os.getpid())) - before) == processes - 1
    collectors = [config.make_collector(part) for part in range(2)]
    assert actors.figures() == {"stale": 0.0}
    for given, played_with, stale in (
        (second, first, 0),
        (third, second, 1),
        (first, third, 1),
        (first, first, 1),
    ):
        rollouts = actors.rollouts(given)
        assert content(rollouts) == content(
            [collector.collect(played_with) for collector in collectors]
        )
        assert all(len(rollout.batch) > 0 for rollout in rollouts)
        assert actors.figures() == {"stale": stale}
        actors.wait()
        actors.wait()


def test_a_batch_stays_while_the_next_is_played(started: Started) -> None:
    config = tiny(processes=2)
    network = config.make_network()
    actors = started(config, network)
    rollouts = actors.rollouts(network)
    before = content(rollouts)
    actors.wait()  # the next one is written
    assert content(rollouts) == before


def answered_in_the_end(
    actors: Elsewhere,
    i: int,
    really_answered: Callable[[Elsewhere, int], bool] = Elsewhere._has_answered,
) -> bool:
    """Instead of Elsewhere._has_answered: waits until it has."""
    if actors._answers[i] is None:
        actors._connections[i].poll(60)
    return really_answered(actors, i)


@pytest.mark.parametrize("precision", PRECISIONS[1:])
@pytest.mark.parametrize("processes", [2, 3])
def test_whoever_computes_gradients_they_are_the_same(
    processes: int, precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The learner alone, or all others with it, which have played their rollouts: it comes to the
    same weights and figures.
    """
    asked: list[str] = []
    really_ask = Elsewhere._ask

    def ask(actors: Elsewhere, i: int, what: str, value: Any) -> None:
        asked.append(what)
        really_ask(actors, i, what, value)

    monkeypatch.setattr(Elsewhere, "_ask", ask)
    found = []
    for has_answered in (lambda *_: False, answered_in_the_end):
        monkeypatch.setattr(Elsewhere, "_has_answered", has_answered)
        config = tiny(processes=processes, precision=precision, prior="greedy", value_updates=1)
        assert config.pieces == processes
        with while_it_lasts(config) as training:
            updated(training, 3)
            found.append((weights(training), without_time(training.curve), "gradient" in asked))
    (alone, wanted, helped_before), (together, curve, helped) = found
    assert (helped_before, helped) == (False, True)
    assert together == alone
    assert curve == wanted


def test_threads_of_the_learner_are_not_helped() -> None:
    """They would sum in another order than one."""
    assert [tiny(processes=number).pieces for number in (1, 2, 9)] == [1, 2, Config.MOST_PIECES]
    assert tiny(processes=2, threads=2).pieces == 1


def test_past_policies_come_after_the_rollout_under_way(started: Started) -> None:
    config = tiny(processes=2, opponent_share=1.0, fixed_share=0.0, max_turns=2, steps=40)
    network = config.make_network()
    actors, collectors = (
        started(config, network),
        [config.make_collector(part) for part in range(2)],
    )
    frozen = network.frozen({})
    for i in range(3):
        if i == 1:
            actors.add_past("past-1", frozen)
        assert content(actors.rollouts(network)) == content(
            [collector.collect(network) for collector in collectors]
        )
        if i == 1:
            for collector in collectors:
                collector.add_opponent(NetworkAgent(frozen, name="past-1"))
    for rollout in actors.rollouts(network):
        assert "past-1" in {one.opponent for one in rollout.ended}


def test_what_was_packed_goes_on_the_same(started: Started) -> None:
    """Whether rollouts are under way, or played and not fetched; past policies came meanwhile; and
    packing changes nothing.
    """
    config = tiny(processes=2, opponent_share=1.0, fixed_share=0.0, max_turns=2, steps=40)
    given = networks(config, 6)
    first = started(config, given[0])
    first.rollouts(given[1])
    first.add_past("past-1", given[1].frozen({}))
    second = started(
        config, given[5], pickle.loads(pickle.dumps(first.pack()))
    )  # whose weights don't count
    played = []
    for i, network in enumerate(given[2:]):
        rollouts = first.rollouts(network)
        played.append(content(rollouts))
        assert content(second.rollouts(network)) == played[-1]
        if i == 0:
            for actors in (first, second):
                actors.add_past("past-2", network.frozen({}))
            second.wait()
            third = started(config, given[5], second.pack())
    assert {"past-1"} < {one.opponent for one in rollouts[0].ended} <= {"past-1", "past-2"}
    assert [content(third.rollouts(network)) for network in given[3:]] == played[1:]
    assert first.updates == second.updates == third.updates == 5
    assert third.stale == 1


# ---- what can happen to them ----


FAULTY = """
from skyenv.agents import RandomAgent

class Faulty(RandomAgent):
    "Goes wrong after some decisions."
    asked = 0

    def act(self, decisions):
        Faulty.asked += 1
        return super().act(decisions) if Faulty.asked < 5 else self.go_wrong()

class Wrong(Faulty):
    name = "wrong"
    def go_wrong(self):
        return None

class Gone(Faulty):
    name = "gone"
    def go_wrong(self):
        raise FileNotFoundError(2, "No such file or directory", "weights.bin")
"""


@pytest.mark.parametrize(
    "several", ["2", "3"]
)  # with two processes it is this one that meets it first, with three another
@pytest.mark.parametrize(
    ("name", "message"),
    [("Wrong", "agent wrong"), ("Gone", "weights.bin: No such file or directory")],
)
def test_an_error_of_an_actor_is_told_as_it_is(
    name: str,
    message: str,
    several: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In one line, as if it had been played here, whoever it was; and nobody is left."""
    (tmp_path / "faulty_agents.py").write_text(FAULTY, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    before, told = set(actors_of(os.getpid())), []
    for processes in ("1", several):
        monkeypatch.delitem(sys.modules, "faulty_agents", raising=False)
        run = [
            "--run",
            str(tmp_path / processes),
            *TINY,
            "--processes",
            processes,
            "--opponent-share",
            "1",
        ]
        code = train.main([*run, "--fixed-opponents", f"faulty_agents:{name}"])
        (line,) = (line for line in capsys.readouterr().err.splitlines() if "error" in line)
        told.append((code, re.sub(r"\d+", "…", line)))  # how many decisions it was asked for
    assert told[0] == told[1]
    assert message in told[0][1]
    assert set(actors_of(os.getpid())) <= before


@pytest.mark.parametrize("ends", ["killed", "fails"])
def test_a_helper_that_ends_over_a_gradient_is_told(
    ends: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was asked and doesn't answer, or can't: nobody waits for it."""
    before, really_ask = set(actors_of(os.getpid())), Elsewhere._ask

    def ask(actors: Elsewhere, i: int, what: str, value: Any) -> None:
        if what == "gradient" and ends == "fails":
            value = (*value[:2], value[2] + 10**9, *value[3:])  # rows that there aren't
        really_ask(actors, i, what, value)
        if what == "gradient" and ends == "killed":
            os.kill(actors._processes[i].pid or 0, signal.SIGKILL)

    monkeypatch.setattr(Elsewhere, "_ask", ask)
    monkeypatch.setattr(Elsewhere, "_has_answered", answered_in_the_end)
    run = ["--run", str(tmp_path), *TINY, "--processes", "2"]
    if ends == "killed":
        assert train.main(run) == 1
        (line,) = (line for line in capsys.readouterr().err.splitlines() if "error" in line)
        assert "a process that plays has ended ({'actor 0': -9})" in line
    else:
        with pytest.raises(IndexError):
            train.main(run)
    assert set(actors_of(os.getpid())) <= before


def test_a_killed_actor_ends_the_run_and_what_was_saved_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = train.Training.learn
    before = set(actors_of(os.getpid()))

    def learn(self: train.Training) -> dict[str, float]:
        if self.updates == 3:
            (actor,) = set(actors_of(os.getpid())) - before
            os.kill(actor, signal.SIGKILL)
            wait_until(lambda: not there(actor))
        return real(self)

    monkeypatch.setattr(train.Training, "learn", learn)
    run = ["--run", str(tmp_path), *TINY, "--processes", "2"]
    assert train.main([*run, "--checkpoint-seconds", "0"]) == 1
    (line,) = (line for line in capsys.readouterr().err.splitlines() if "error" in line)
    assert "a process that plays has ended ({'actor 0': -9})" in line
    assert "--resume goes on from the last checkpoint" in line
    assert set(actors_of(os.getpid())) <= before
    assert read_checkpoint(tmp_path / "checkpoint.bin")["updates"] == 3
    monkeypatch.undo()
    assert train.main([*run, "--resume"]) == 0
    assert read_checkpoint(tmp_path / "checkpoint.bin")["updates"] > 3


def test_nobody_plays_after_the_end() -> None:
    before = set(actors_of(os.getpid()))
    training = begun(tiny(processes=3))
    updated(training, 1)
    assert len(set(actors_of(os.getpid())) - before) == 2
    training.end()
    training.end()  # twice is as once
    assert set(actors_of(os.getpid())) <= before
    train.Training(tiny(processes=3)).end()  # it hasn't begun


LONG = ["--decisions", str(10**9), "--checkpoint-seconds", "0", "--processes", "3"]


def to_all(process: subprocess.Popen[str], number: int) -> None:
    """A signal to a program and all that it has started, as a terminal sends it."""
    os.killpg(process.pid, number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_all_processes_ends_a_run_in_order(number: int, tmp_path: Path) -> None:
    curve = tmp_path / "curve.jsonl"
    program = ["-m", "experiments.training.train", "--run", tmp_path, *TINY, *LONG]
    with running(*program, start_new_session=True) as process:
        wait_until(lambda: curve.exists() and curve.read_bytes(), process)
        playing = actors_of(process.pid)
        assert len(playing) == 2
        to_all(process, number)
        out, err = process.communicate()
    assert process.returncode == 130, err
    assert "--resume` goes on" in out
    assert "Traceback" not in err
    assert not any(map(there, playing))
    assert (
        read_checkpoint(tmp_path / "checkpoint.bin")["updates"]
        == len(curve.read_text().splitlines())
        > 0
    )


def test_ctrl_c_is_nothing_to_an_actor_also_while_it_starts(started: Started) -> None:
    """A terminal sends it to all processes; it is the learner that ends in order, and it needs what
    they play until then.
    """
    config = tiny(processes=2)
    network = config.make_network()
    before = set(actors_of(os.getpid()))
    actors = started(config, network)
    (actor,) = set(actors_of(os.getpid())) - before
    for _ in range(2):
        os.kill(actor, signal.SIGINT)
        assert all(len(rollout.batch) > 0 for rollout in actors.rollouts(network))


def test_actors_do_not_outlive_a_killed_run(tmp_path: Path) -> None:
    curve = tmp_path / "curve.jsonl"
    program = ["-m", "experiments.training.train", "--run", tmp_path, *TINY, *LONG]
    with running(*program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: curve.exists() and curve.read_bytes(), process)
        playing = children(process.pid)
        assert len(actors_of(process.pid)) == 2
        process.kill()
        process.wait()
        wait_until(lambda: not any(map(there, playing)))
