"""Actors on a cluster of Ray: a training is the same though an actor and a machine are lost."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from trainings import tiny, updated, weights, while_it_lasts

from clusters import Nodes
from processes import command, descendants, there, wait_until


def kill_one() -> None:
    """Kill a process that plays."""

    def playing() -> list[int]:
        return [
            one
            for one in descendants(os.getpid())
            if command(one).startswith(b"ray::task_of_skyenv")
        ]

    wait_until(playing)
    process = playing()[0]
    os.kill(process, signal.SIGKILL)
    wait_until(lambda: not there(process))


@pytest.mark.long
def test_a_training_that_loses_an_actor_and_a_machine_learns_the_same(
    nodes: Nodes, tmp_path: Path
) -> None:
    """And goes on here from its checkpoint."""
    config = tiny(tmp_path, processes=3, decisions=10**9)
    with while_it_lasts(config) as here:
        updated(here, 6)
    nodes.add()
    with while_it_lasts(
        tiny(tmp_path, processes=3, decisions=10**9, ray=nodes.address)
    ) as training:
        updated(training, 2)
        kill_one()
        updated(training, 1)
        nodes.lose()
        updated(training, 1)
        training.save()
        updated(training, 2)
        assert weights(training) == weights(here)
    with while_it_lasts(config, goes_on=True) as again:
        assert weights(updated(again, 2)) == weights(here)
