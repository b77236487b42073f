"""What a cluster would carry, on paper: ``python -m experiments.training.cluster_plan``.

Updates are simulated as :mod:`experiments.training.actors_on_ray` does them: all actors play a
rollout, the learner fetches one after the other through its network card, lets them play on, and
learns meanwhile. Sizes and the pace of an actor were measured on one machine
(docs/many_machines.md); the learner's pace is an assumption, and so is it that nothing else takes
time.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from skyenv.commands import exit_code
from skyenv.options import Options, parse
from skyenv.tables import columns

WEIGHTS: Final = 0.89e6
ROLLOUT: Final = 27.9e6
"""Bytes of a rollout of 384 games and 64 steps."""
PLAYED: Final = ROLLOUT / 1670
"""Decisions that it stands for."""
STATE: Final = 3.4e6


@dataclass(frozen=True)
class Cluster:
    """What limits a training.

    Attributes:
        actors: how many, a core each. nodes: machines. card: the learner's network card, bytes/s.
        play, learn: decisions/s of an actor, and of the learner.
    """

    actors: int
    nodes: int
    card: float
    play: float
    learn: float


def carried(cluster: Cluster, updates: int = 20) -> float:
    """Decisions per second of a training, once it is under way."""
    sent = cluster.nodes * WEIGHTS / cluster.card
    played, learned, ends = sent + PLAYED / cluster.play, 0.0, [0.0]
    for _ in range(updates):
        now = max(played, learned)  # learning comes before the next fetching, in one process
        for _ in range(cluster.actors):
            now += (ROLLOUT + STATE) / cluster.card
        played = now + sent + PLAYED / cluster.play
        learned = now + cluster.actors * PLAYED / cluster.learn
        ends.append(now)
    return cluster.actors * PLAYED * (updates - 1) / (ends[-1] - ends[1])


PLAY: Final = 9e3
"""Decisions per second of an actor."""


def table() -> str:
    """64 nodes with 32 cores, by network card and learner."""
    rows = [["card, Gbit/s", "learner, decisions/s", "2,048 actors carry", "waiting rollouts, GB"]]
    for gigabits in (10, 25, 100):
        for learn in (20e3, 2e6):
            pace = carried(Cluster(2048, 64, gigabits * 1.25e8, PLAY, learn))
            rows.append(
                [str(gigabits), f"{learn:,.0f}", f"{pace:,.0f}", f"{2048 * ROLLOUT / 1e9:.0f}"]
            )
    return columns(rows, 0)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""

    def run() -> int:
        parse(
            Options,
            "experiments.training.cluster_plan",
            "Tell what a cluster would carry, on paper.",
            arguments,
        )
        print(table())
        return 0

    return exit_code("cluster_plan", run)


if __name__ == "__main__":
    sys.exit(main())
