"""The networks that ship with the project: they are there, whole, small, and as strong as is said of them."""

from __future__ import annotations

import hashlib
import json
import shlex
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from experiments.training.recipe import Config
from skyenv import Games
from skyenv.agents import decide, decisions_in, make_agent
from skyenv.arena.evaluate import evaluate
from skyenv.options import command_line, parse
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS
from skyenv_agents.learned.networks import TRAINED, Network, ThingsNetwork, TrainedAgent

COUNTS = range(MIN_PLAYERS, MAX_PLAYERS + 1)
MOST_BYTES = 5_000_000
"""All of them together."""
PAIRED_SEEDS = {2: 60, 3: 40, 4: 30}
"""Of the small sample, by number of players: 120 games each."""
SEED = 90_000_000
"""Of its first paired seed: neither trained nor measured with."""

LATER = {"--engine": "host", "--max-change": "0.03", "--prior-floor": "3"}
"""Options that came after some networks were trained, with what is usual now."""


def about(players: int) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((TRAINED / f"{players}-players.json").read_text(encoding="utf-8"))
    return content


@pytest.mark.parametrize("players", COUNTS)
def test_the_file_is_the_one_that_was_measured(players: int) -> None:
    content = (TRAINED / f"{players}-players.npz").read_bytes()
    described = about(players)
    assert hashlib.sha256(content).hexdigest() == described["sha256"]
    network = Network.load(TRAINED / f"{players}-players.npz")
    assert network.about["decisions"] == described["stages"][-1]["decisions"]
    assert described["players"] == players
    for stage in described["stages"]:
        words = shlex.split(stage["command"])
        assert words[:3] == ["python", "-m", "experiments.training.train"]
        if isinstance(network, ThingsNetwork):  # version 0.1 had other options
            whole = command_line(Config, words[2], asdict(parse(Config, words[2], "", words[3:])))
            later = [word for name, usual in LATER.items() if name not in words for word in (name, usual)]
            assert sorted(shlex.split(whole)) == sorted([*words, *later])  # every option is told
    assert [stage["stopped"] for stage in described["stages"]][-1] is False
    assert sum(stage["decisions"] for stage in described["stages"]) == described["decisions"]
    assert {result["opponent"] for result in described["results"]} >= {"greedy", "appraiser"}


def test_together_they_are_small() -> None:
    assert sum(path.stat().st_size for path in TRAINED.iterdir()) < MOST_BYTES


@pytest.mark.parametrize("players", COUNTS)
def test_plays_at_its_stated_strength(players: int) -> None:
    """The interval of a small sample meets the stated one."""
    results = about(players)["results"]
    stated = {(result["opponent"], result["side"]): result["share"] for result in results}["greedy", "front"]
    share = evaluate("trained", ["greedy"], players, "front", PAIRED_SEEDS[players], SEED)[0].share
    assert share.low <= stated["high"]
    assert share.high >= stated["low"]


def test_takes_the_most_probable_action_unless_told_otherwise() -> None:
    assert isinstance(make_agent("trained"), TrainedAgent)
    games = Games(256, 2, seed=1)
    for player in (TrainedAgent(), TrainedAgent(deterministic=False)):
        likeliest = player.evaluate(decisions_in(games, player))[0].argmax(axis=1)
        assert np.array_equal(decide(games, player), likeliest) is player.deterministic
