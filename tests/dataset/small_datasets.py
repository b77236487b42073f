"""Small datasets for tests, made in this process."""

from pathlib import Path

from skyenv.dataset.folder import Plan
from skyenv.dataset.folder import write as write_dataset
from skyenv.dataset.sources import Matches


def matches(
    *specs: str,
    players: int = 2,
    side: str = "front",
    games: int = 5,
    seed: int = 3,
    max_turns: int = 6,
) -> Matches:
    """Short games between agents."""
    return Matches.new(specs or ("random", "crowd", "hoard"), players, side, games, seed, max_turns)


def write(plan: Plan, path: Path) -> Path:
    """A dataset, with the fixture `in_this_process` made in this process."""
    assert write_dataset(plan, path) is not None
    return path
