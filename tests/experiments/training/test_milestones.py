"""Agents that a training keeps on its way: their files."""

from __future__ import annotations

from pathlib import Path

from experiments.training.milestones import (
    MILESTONES,
    Milestone,
    forget_after,
    keep,
    milestones_of,
)


def test_milestones_are_found_by_their_seconds(tmp_path: Path) -> None:
    assert milestones_of(tmp_path) == []
    for seconds in (61.9, 0.0, 1_234_567.0):
        keep(tmp_path, seconds, b"an agent")
    folder = tmp_path / MILESTONES
    (folder / "000030.zip").touch()
    for other in ("notes.txt", "best.npz", ".000007.npz.1234abcd.part.npz", "-00001.npz"):
        (folder / other).touch()
    assert milestones_of(tmp_path) == [
        Milestone(folder / "000000.npz", 0),
        Milestone(folder / "000030.zip", 30),
        Milestone(folder / "000061.npz", 61),
        Milestone(folder / "1234567.npz", 1_234_567),
    ]
    assert (folder / "000061.npz").read_bytes() == b"an agent"


def test_what_came_after_a_checkpoint_is_forgotten(tmp_path: Path) -> None:
    for seconds in (0.0, 61.2, 120.0):
        keep(tmp_path, seconds, b"")
    forget_after(tmp_path, 61.2)
    assert [milestone.seconds for milestone in milestones_of(tmp_path)] == [0, 61]
    forget_after(tmp_path / "nowhere", 0)
