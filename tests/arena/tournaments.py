"""Small tournaments for tests, and agents that misbehave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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

class Deadly(RandomAgent):
    "Kills its process in seat 1."
    name = "deadly"
    def act(self, decisions):
        if decisions.seat[0] == 1:
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

SETTLED_AGENTS = """
import os, time
from pathlib import Path
from skyenv.agents import RandomAgent

class Settled(RandomAgent):
    "Tells on which of Ray's nodes it is, and waits there until it may play."
    name = "settled"
    def act(self, decisions):
        if "RAY_JOB_ID" in os.environ:
            import ray
            Path(__file__).with_name(ray.get_runtime_context().get_node_id()).touch()
            while not Path(__file__).with_name("go").exists():
                time.sleep(0.01)
        return super().act(decisions)

class Anchored(Settled):
    name = "anchored"
"""
"""A module of its own: Ray's workers that have done something before keep what they imported."""


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
