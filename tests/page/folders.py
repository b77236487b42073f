"""Small folders of games and training runs for the page's tests."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from pages import played

import skyenv_agents

PICTURE = bytes.fromhex(  # a PNG of one pixel
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000a49444154789c6300010000050001"
    "0d0a2db40000000049454e44ae426082"
)
NETWORK = Path(skyenv_agents.__file__).parent / "trained" / "2-players.npz"


def record_of(seed: int, agents: list[str] | None = None, **options: Any) -> str:
    """Return the record of a game between crowd agents."""
    game = played(seed=seed, **options)
    return game.to_record(agents or ["crowd"] * game.num_players)


def make_run(folder: Path) -> None:
    """Create the files of a training run that the page reads."""
    (folder / "milestones").mkdir(parents=True)
    for name in ("model", "milestones/000000", "milestones/000240", "milestones/000250"):
        shutil.copy(NETWORK, folder / f"{name}.npz")
    (folder / "curves.png").write_bytes(PICTURE)
