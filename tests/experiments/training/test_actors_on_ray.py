"""Actors on a cluster of Ray: a training is the same though an actor and a machine are lost."""

import os
import signal
from pathlib import Path
from threading import Thread

import pytest

from clusters import Nodes
from processes import command, descendants, there, wait_until
from trainings import tiny, updated, weights, while_it_lasts


def kill_one() -> None:
    """Kill a process that plays."""

    def playing() -> list[int]:
        return [one for one in descendants(os.getpid()) if command(one).startswith(b"ray::do")]

    wait_until(playing)
    process = playing()[0]
    os.kill(process, signal.SIGKILL)
    wait_until(lambda: not there(process))


@pytest.mark.long
def test_losing_an_actor_and_a_node_does_not_change_training(nodes: Nodes, tmp_path: Path) -> None:
    """It then resumes locally from its checkpoint.

    The actor is killed while the training runs, as a rollout lasts only milliseconds.
    """
    config = tiny(tmp_path, processes=3, decisions=10**9)
    nodes.add()
    with while_it_lasts(
        tiny(tmp_path, processes=3, decisions=10**9, ray=nodes.address)
    ) as training:
        killer, number = Thread(target=kill_one), 4
        killer.start()
        while killer.is_alive():
            updated(training, 1)
            number += 1
        nodes.lose()
        updated(training, 2)
        training.save()
        learnt = weights(updated(training, 2))
    with while_it_lasts(tiny(tmp_path / "here", processes=3, decisions=10**9)) as here:
        assert weights(updated(here, number)) == learnt
    with while_it_lasts(config, goes_on=True) as again:
        assert weights(updated(again, 2)) == learnt
