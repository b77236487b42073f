"""Milestones: agents that a training keeps on its way, in ``RUN/milestones/SECONDS.npz`` (of other
trainers, ``.zip``).

The seconds, with zeros in front, are those of training, without checkpoints. A file is there as a
whole or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from skyenv.agents import checkpoint_suffixes
from skyenv.files import write_atomically

MILESTONES: Final = "milestones"


@dataclass(frozen=True)
class Milestone:
    """The agent, in a file, that a run had after so many seconds of training."""

    path: Path
    seconds: int


def milestones_of(run: Path) -> list[Milestone]:
    """The milestones in a run's folder, the earliest first; none if it has kept none."""
    suffixes = checkpoint_suffixes()
    files = [
        path
        for path in (run / MILESTONES).glob("*")
        if path.stem.isdecimal() and path.suffix in suffixes
    ]
    return sorted(
        (Milestone(path, int(path.stem)) for path in files), key=lambda milestone: milestone.seconds
    )


def keep(run: Path, seconds: float, agent: bytes) -> None:
    """Keep what is in an agent's file (``.npz``) as a milestone.

    Raises:
        OSError: it can't be written.
    """
    (run / MILESTONES).mkdir(parents=True, exist_ok=True)
    write_atomically(run / MILESTONES / f"{int(seconds):06d}.npz", agent)


def forget_after(run: Path, seconds: float) -> None:
    """Remove what was kept after a checkpoint that a run goes on from: its training comes to that
    time once more.

    Raises:
        OSError: something can't be removed.
    """
    for milestone in milestones_of(run):
        if milestone.seconds > seconds:
            milestone.path.unlink()
