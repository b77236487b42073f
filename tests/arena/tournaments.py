"""Small tournaments for tests, and misbehaving agents."""

from pathlib import Path
from typing import Any

from skyenv.arena.schedule import Settings, entrants
from skyenv.arena.tournament import Folder, play

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

class Wrong(RandomAgent):
    name = "wrong"
    def act(self, decisions):
        return super().act(decisions) - 1000
"""


def settings(*specs: str, players: int = 2, **options: Any) -> Settings:
    """Return settings of short games between named agents."""
    return Settings(entrants(specs, players), players, **{"max_turns": 12, **options})


def played(path: Path, wanted: Settings, paired_seeds: int | None = 3, **options: Any) -> list[str]:
    """Play in a folder; return its games."""
    with Folder(path, wanted) as folder:
        assert not play(folder, paired_seeds=paired_seeds, **options)
    return lines(path)


def lines(path: Path) -> list[str]:
    """Return the games of a folder, sorted."""
    return sorted((path / "games.jsonl").read_text().splitlines())
