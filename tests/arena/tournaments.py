"""Small tournaments for tests, and agents that misbehave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from skyenv.agents import Decisions, RandomAgent
from skyenv.arena.folder import Folder
from skyenv.arena.schedule import Settings, entrants
from skyenv.arena.tournament import Tournament

ODD_AGENTS = """
import os, signal
from pathlib import Path
from skyenv.agents import RandomAgent

class Mortal(RandomAgent):
    "Kills its process the first time."
    name = "mortal"
    def act(self, decisions):
        flag = Path(__file__).with_name("died")
        if not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().act(decisions)

class Faulty(RandomAgent):
    name = "faulty"
    def act(self, decisions):
        if decisions.seat[0] == 1:
            raise EOFError("oh\\nno")
        return super().act(decisions)

class Moody(RandomAgent):
    "Fails once."
    name = "moody"
    calls = 0
    def act(self, decisions):
        Moody.calls += 1
        if Moody.calls == 3:
            raise ValueError("not now")
        return super().act(decisions)

class Impatient(RandomAgent):
    name = "impatient"
    def act(self, decisions):
        raise KeyboardInterrupt

class Wrong(RandomAgent):
    name = "wrong"
    def act(self, decisions):
        return super().act(decisions) - 1000
"""


class Interrupted(RandomAgent):
    """Plays at random, and presses Ctrl-C at its n-th call."""

    def __init__(self, calls: int) -> None:
        self.calls = calls

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        self.calls -= 1
        if self.calls == 0:
            raise KeyboardInterrupt
        return super().act(decisions)


def settings(*specs: str, players: int = 2, **options: Any) -> Settings:
    """What is played, by names."""
    return Settings(entrants(specs, players), players, **options)


def play(
    path: Path,
    wanted: Settings,
    paired_seeds: int = 3,
    workers: int = 1,
    minutes: float | None = None,
    ray: str | None = None,
) -> Tournament:
    """A tournament in worker processes."""
    with Folder(path, wanted) as folder:
        tournament = Tournament(
            folder,
            paired_seeds=None if minutes else paired_seeds,
            minutes=minutes,
            workers=workers,
            ray=ray,
        )
        tournament.run()
    return tournament


def lines(path: Path) -> list[str]:
    """The games of a folder, in an order of their own."""
    return sorted(
        line for line in (path / "games.jsonl").read_text().splitlines() if "spent" not in line
    )
