"""Actors: processes play what one process would, survive what happens to them, and end with it."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
import torch
from trainings import TINY, content, tiny, updated, weights, while_it_lasts, without_time

from experiments.training.actors import Actors
from experiments.training.config import Config
from experiments.training.network import PolicyNetwork
from experiments.training.rollouts import Collector
from processes import children, command, running, there, wait_until
from skyenv_agents.learned.networks import NetworkAgent


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
def test_rollouts_are_those_of_collectors_here(processes: int) -> None:
    """By hand: with one process of the network as it is; with more the first two are of the first
    network, then each is of that of the call before. Past policies come, and what was packed goes
    on the same.
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
    given = networks(config, 5)
    actors = Actors(Collector, config, given[0])
    collectors = [Collector(config, part) for part in range(config.parts)]
    frozen = given[1].frozen({})
    for i in range(4):
        if i == 1:
            actors.add_past("past-1", frozen)
        if i == 1 + (processes > 1):  # those under way have begun without it
            for one in collectors:
                one.add_opponent(NetworkAgent(frozen, name="past-1"))
        if i == 2:
            kept = actors.pack()
            actors.end()
            actors = Actors(Collector, config, given[4], kept)  # whose weights don't count
        with_network = given[i + 1] if processes == 1 else given[i]
        wanted = content([one.collect(with_network) for one in collectors])
        rollouts = actors.rollouts(given[i + 1])
        assert content(rollouts) == wanted
    actors.end()
    assert "past-1" in {one.opponent for rollout in rollouts for one in rollout.ended}


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_run_goes_on_after_a_signal_as_if_there_had_been_none(
    number: int, tmp_path: Path
) -> None:
    """No actor is left; SIGINT reaches all processes, as from a terminal."""
    changes: dict[str, Any] = {"processes": 2, "decisions": 10**9}
    more = (f"--{name}={value}" for name, value in changes.items())
    program = ["-m", "experiments.training.train", *TINY, "--checkpoint-seconds=0", *more]
    curve = tmp_path / "curve.jsonl"
    with running(*program, "--run", tmp_path, start_new_session=True) as process:
        wait_until(lambda: curve.exists() and curve.read_bytes(), process)
        playing = actors_of(process.pid)
        if number == signal.SIGINT:
            os.killpg(process.pid, number)
        else:
            process.kill()
        out, err = process.communicate()
        wait_until(lambda: not any(map(there, playing)))
    assert len(playing) == 1
    if number == signal.SIGINT:
        assert process.returncode == 130, err
        assert "--resume` goes on" in out
        assert "Traceback" not in err
    with (
        while_it_lasts(tiny(tmp_path, **changes), goes_on=True) as resumed,
        while_it_lasts(tiny(**changes)) as straight,
    ):
        updated(resumed, 2)
        updated(straight, resumed.updates)
    assert weights(resumed) == weights(straight)
    assert without_time(resumed.curve) == without_time(straight.curve)
