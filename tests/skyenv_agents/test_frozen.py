"""Agents that papers name decide for ever as they do: a hash over their decisions in seeded games.

A change that fails here must not go into these agents: make it a new class with a name of its own,
and leave the old one. This file is also the program that wrote the hashes, for new names: ``python
tests/skyenv_agents/test_frozen.py NAME ...``.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from skyenv import Games, make_agent
from skyenv.agents import decide
from skyenv.errors import CheckpointError
from skyenv_agents.learned import frozen
from skyenv_agents.learned.networks import TABLES

FILE: Final = Path(__file__).parents[1] / "golden" / "frozen.json"
NAMES: Final = (
    *("random", "greedy", "appraiser", "rollout-16"),
    *("trained-2026a", "trained-2026b"),
)
GAMES, STEPS = 20, 100
# Games and decisions of each, of a slow agent.
FEWER: Final = {"rollout-16": (3, 40)}
# In this share of the decisions another action is played, to reach more positions.
STRAYING: Final = 0.25


def decided(name: str, players: int, side: str) -> str:
    """A digest of what an agent decides at a table."""
    agent, rng = make_agent(name), np.random.default_rng([2026, players])
    width, steps = FEWER.get(name, (GAMES, STEPS))
    games = Games(width, players, side, seed=2026)
    digest = hashlib.blake2b(digest_size=16)
    for _ in range(steps):
        actions = np.asarray(decide(games, agent), np.int16)
        digest.update(actions.tobytes())
        other = (games.mask * rng.random(games.mask.shape)).argmax(axis=1)
        games.step(np.where(rng.random(width) < STRAYING, other, actions))
    return digest.hexdigest()


@pytest.mark.compiled
@pytest.mark.parametrize("name", NAMES)
def test_frozen_agents_keep_their_decisions(name: str) -> None:
    stored = json.loads(FILE.read_text(encoding="utf-8"))[name]
    assert {str(table): decided(name, *table) for table in TABLES} == stored


def test_a_frozen_network_survives_the_replacement_of_its_file(tmp_path: Path) -> None:
    """`trained` may change; a frozen name keeps the file that it referred to."""
    digest, path = frozen.NETWORKS_2026A["2-players"], tmp_path / "2-players.npz"
    content = frozen.frozen_path(digest).read_bytes()
    path.write_bytes(content)
    assert frozen.frozen_path(digest, tmp_path) == path
    path.with_suffix(".json").write_text('{"stages": []}')
    frozen.keep_frozen(path)
    path.write_bytes(b"another one")
    frozen.keep_frozen(path)
    assert frozen.frozen_path(digest, tmp_path).read_bytes() == content
    kept = {digest[:16] + suffix for suffix in (".npz", ".json")}
    assert {found.name for found in tmp_path.iterdir()} == {path.name, *kept, f"{path.stem}.json"}
    with pytest.raises(CheckpointError, match="lacks the frozen network file with the SHA-256 0"):
        frozen.frozen_path("0" * 64, tmp_path)


if __name__ == "__main__":
    hashes = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    for agent in sys.argv[1:]:
        hashes[agent] = {str(table): decided(agent, *table) for table in TABLES}
    FILE.write_text(json.dumps(hashes, indent=1) + "\n", encoding="utf-8")
