"""Actors on Ray's machines: they play what processes here play, whoever is lost meanwhile."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import re
import shlex
import signal
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from test_actors import content, networks
from trainings import TINY, tiny

from clusters import Nodes, cluster_of
from experiments.training import actors_on_ray, train
from experiments.training.actors import Actor, Actors, make_actors
from experiments.training.actors_on_ray import LOSSES, OnRay, Part, Remote, begin_actors
from experiments.training.checkpoints import read_checkpoint
from processes import ROOT, command, descendants, printed, there, wait_until
from skyenv.arena.on_ray import Host, connect, cpus
from skyenv.arena.schedule import entrant
from skyenv.arena.workers import MachineLostError, WorkerDiedError
from skyenv.errors import AgentError, OptionError, SkyenvError
from skyenv.work import ATTEMPTS
from skyenv_agents.learned.networks import NetworkAgent


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    """A cluster of two nodes with a CPU each."""
    with cluster_of(2) as cluster:
        yield cluster


def actors() -> list[int]:
    """The processes of all actors of the cluster that this process began; another one's on this
    machine are none of them.
    """
    return [
        process
        for process in descendants(os.getpid())
        if command(process).startswith(b"ray::GuestOfSkyenv")
    ]


def kill_one() -> None:
    """One of the actors is gone."""
    wait_until(actors)
    process = actors()[0]
    os.kill(process, signal.SIGKILL)
    wait_until(lambda: not there(process))


@pytest.mark.long
def test_rollouts_are_those_of_one_machine_though_actors_and_a_machine_are_lost(
    nodes: Nodes,
) -> None:
    """Past policies come as they come there; what was packed goes on there and here."""
    nodes.add()
    config = tiny(
        processes=4, ray=nodes.address, opponent_share=1.0, fixed_share=0.0, max_turns=2, steps=40
    )
    given = networks(config, 6)
    playing = begin_actors(config, given[0])
    assert isinstance(playing, OnRay)
    collectors = [config.make_collector(part) for part in range(3)]
    try:
        for i, network in enumerate(given[1:5]):
            if i == 1:
                kill_one()
                playing.add_past("past-1", given[1].frozen({}))
            if i == 2:
                nodes.lose()  # an actor has each CPU, but for that of who was begun again
            assert content(playing.rollouts(network)) == content(
                [one.collect(given[i]) for one in collectors]
            )
            if i == 1:
                for collector in collectors:
                    collector.add_opponent(NetworkAgent(given[1].frozen({}), name="past-1"))
        assert playing.lost >= 1
        kept = pickle.loads(pickle.dumps(playing.pack()))
        expected = content([one.collect(given[4]) for one in collectors])
        assert content(playing.rollouts(given[5])) == expected
    finally:
        playing.end()
    nodes.add()  # or there would be too few CPUs
    goes_on: Actors
    for begin in (make_actors, begin_actors):
        goes_on = begin(config, given[0], kept)
        try:
            assert content(goes_on.rollouts(given[5])) == expected
        finally:
            goes_on.end()
    assert goes_on.figures() == {"stale": 1.0, "lost": 0.0}


@pytest.mark.long
def test_more_processes_than_cpus_are_told(nodes: Nodes) -> None:
    config = tiny(processes=12, games=64, ray=nodes.address)
    with pytest.raises(OptionError, match=r"processes 12 need 11 CPUs; ray has \d"):
        begin_actors(config, config.make_network())


def test_ray_needs_others_that_play() -> None:
    with pytest.raises(OptionError, match="ray needs processes above 1"):
        tiny(ray="auto").check()


def test_a_fixed_opponent_that_is_another_one_where_it_plays_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless there is a collector to go on with, which has it."""
    monkeypatch.setattr("torch.set_num_threads", lambda _: None)
    path = tmp_path / "fixed.npz"
    config = tiny(fixed_opponents=(str(path),))
    first, second = (tiny(seed=seed).make_network().frozen({}).to_bytes() for seed in (1, 2))
    path.write_bytes(first)
    fixed = [entrant(str(path), 2, "front")]
    Remote(config, 0, None, fixed)
    state = Actor(config, 0).pack()
    path.write_bytes(second)
    with pytest.raises(
        AgentError, match=r"fixed\.npz on .* isn't the file that the games were begun with"
    ):
        Remote(config, 0, None, fixed)
    Remote(config, 0, state, fixed)


class FakeHost:
    """An actor: each in turn has one of the fates, and the last one has it again and again."""

    fates: list[Any]
    waits = 0

    def __init__(self, *_: object, cpus: int) -> None:
        self.fate = self.fates.pop(0) if len(self.fates) > 1 else self.fates[0]

    def ask(self, *_: object) -> None:
        """Nothing comes of it but the fate."""

    def answers_within(self, _: object, seconds: float) -> bool:
        """After some looks."""
        type(self).waits -= 1
        return self.waits < 0

    def begun(self) -> bool:
        """Never."""
        return False

    def answer(self, _: object) -> Any:
        """The fate."""
        if isinstance(self.fate, Exception):
            raise self.fate
        return self.fate


@pytest.fixture
def part(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Part:
    """One whose actors have the fates that the test is parametrized with."""
    monkeypatch.setattr(actors_on_ray, "Host", FakeHost)
    FakeHost.fates, FakeHost.waits = list(request.param), 0
    ray: Any = SimpleNamespace(cluster_resources=lambda: {"CPU": 4.0})
    made = Part(ray, tiny(), 1, None)
    made.play(None, [])
    return made


DIED, GONE = WorkerDiedError(), MachineLostError()


@pytest.mark.parametrize("part", [[DIED, GONE, GONE, DIED, "played"]], indirect=True)
def test_every_loss_is_told(part: Part, capsys: pytest.CaptureFixture[str]) -> None:
    fetched: Any = part.fetch()
    assert fetched == ("played", 4)
    died = "ray: the actor of part 1 died; another one plays its rollout again"
    gone = "ray: the actor of part 1 is gone with its machine; another one plays its rollout again"
    assert capsys.readouterr().err.splitlines() == [died, gone, gone, died]


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ([GONE, DIED], f"{ATTEMPTS} processes died while"),
        ([DIED, GONE], f"{LOSSES} actors were lost while"),
    ],
    indirect=["part"],
)
def test_losses_without_a_rollout_end_the_training(part: Part, message: str) -> None:
    with pytest.raises(
        SkyenvError, match=f"{message} they played part 1; what was trained is kept"
    ):
        part.fetch()


@pytest.mark.parametrize("part", [["played"]], indirect=True)
def test_that_no_cpu_is_free_is_told_once(
    part: Part, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    FakeHost.waits = 5
    part.fetch()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(actors_on_ray, "SECONDS_TO_BEGIN", 0.0)
    FakeHost.waits = 5
    part.fetch()
    assert capsys.readouterr().err == "ray: part 1 waits for a CPU; other work has all 4\n"


@pytest.mark.long
def test_ctrl_c_is_heard_while_no_cpu_is_free(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny(processes=2, ray=nodes.address)
    with hogged(nodes):
        playing = begin_actors(config, config.make_network())
        monkeypatch.setattr(actors_on_ray, "SECONDS_TO_BEGIN", 0.0)
        monkeypatch.setattr(actors_on_ray, "tell", lambda _: os.kill(os.getpid(), signal.SIGINT))
        try:
            with pytest.raises(KeyboardInterrupt):
                playing.wait()
        finally:
            playing.end()


@contextlib.contextmanager
def hogged(nodes: Nodes) -> Iterator[None]:
    """In this block an actor has each CPU."""
    ray = connect(nodes.address)
    hosts = [Host(ray, dict) for _ in range(cpus(ray))]
    try:
        wait_until(lambda: all(host.begun() for host in hosts))
        yield
    finally:
        for host in hosts:
            host.end()


@pytest.mark.long
def test_a_training_that_loses_an_actor_and_a_machine_learns_the_same(
    nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = train.Training.learn
    run = [*TINY, "--processes", "3", "--run"]
    assert train.main([*run, str(tmp_path / "here")]) == 0
    nodes.add()

    def learn(self: train.Training) -> dict[str, float]:
        if self.updates == 2:
            kill_one()
        if self.updates == 4:
            nodes.lose()
        return real(self)

    monkeypatch.setattr(train.Training, "learn", learn)
    assert train.main([*run, str(tmp_path / "there"), "--ray", nodes.address]) == 0
    models = [(tmp_path / place / "model.npz").read_bytes() for place in ("here", "there")]
    assert models[0] == models[1]
    lost = [
        point["lost"] for point in read_checkpoint(tmp_path / "there" / "checkpoint.bin")["curve"]
    ]
    assert len(lost) > 4
    assert lost[0] == 0 < lost[-1]


@pytest.mark.long
def test_the_command_of_the_docs_trains(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="needs the extra [ray]")
    text = (ROOT / "docs" / "many_machines.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^\$ python -m (experiments\.training\..* --ray .*)$", text, re.MULTILINE)
    printed("-m", *shlex.split(line), *TINY, "--run", tmp_path)
    curve = [json.loads(point) for point in (tmp_path / "curve.jsonl").read_text().splitlines()]
    assert curve[-1]["decisions"] >= 1000
    assert (curve[-1]["stale"], curve[-1]["lost"]) == (1, 0)
