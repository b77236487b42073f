"""Small folders made by the programs that make them, for the tests of what looks through them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from pages import played

import skyenv_agents
from skyenv import cli

NETWORK = Path(skyenv_agents.__file__).parent / "trained" / "2-players.npz"


def record_of(seed: int, agents: list[str] | None = None, **options: Any) -> str:
    """The record of a game between crowd agents."""
    game = played(seed=seed, **options)
    return game.to_record(agents or ["crowd"] * game.num_players)


def make_tournament(folder: Path, paired_seeds: int = 2, players: int = 2) -> Path:
    """A tournament's folder: crowd, hoard and random."""
    words = [
        "tournament",
        "crowd",
        "hoard",
        "random",
        "--players",
        str(players),
        "--paired-seeds",
        str(paired_seeds),
    ]
    assert cli.main([*words, "--secret", "5", "--workers", "1", "--out", str(folder)]) == 0
    return folder


def point(update: int, **changes: Any) -> dict[str, Any]:
    """A line of a training's curve, as trainers write it."""
    return {
        "update": update,
        "decisions": 1000 * update,
        "seconds": 0.5 * update,
        "progress": min(1.0, update / 100),
        "pace": 2000.5,
        "episodes": 8 * update,
        "length": 300.0,
        "points": 40.0,
        "shares": {"greedy": 0.25 + update / 1000, "past": 0.5},
        "players": [2],
        "entropy": 0.3,
        **changes,
    }


def write_curve(run: Path, updates: int, **changes: Any) -> None:
    """A run's curve with so many updates; trainers write the whole file at every checkpoint."""
    run.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(point(update, **changes)) for update in range(1, updates + 1)]
    part = run / "part"
    part.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    part.replace(run / "curve.jsonl")


def make_run(folder: Path, updates: int = 5, **options: Any) -> Path:
    """A run's folder as the trainer leaves it, but for its checkpoint."""
    write_curve(folder, updates)
    config = {
        "run": str(folder),
        "players": [2],
        "side": ["front"],
        "prior": "greedy",
        "start": "/home/ann/model.npz",
        **options,
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "milestones").mkdir()
    for name in ("000000.npz", "000240.npz", "000250.npz"):
        shutil.copy(NETWORK, folder / "milestones" / name)
    shutil.copy(NETWORK, folder / "model.npz")
    (folder / "evaluation.txt").write_text("agent  wins\nfirst  57 %\n")
    (folder / "games.jsonl").write_text("")
    return folder
