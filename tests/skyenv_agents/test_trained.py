"""The networks that ship with the project: they are there, whole, small, and as strong as is said
of them.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from experiments.training.export import COMMANDS
from skyenv import Games
from skyenv.agents import ReportingAgent, decide, decisions_in, make_agent
from skyenv.arena.evaluate import evaluate
from skyenv.engine.options import table_name
from skyenv.options import command_line, parse
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES
from skyenv_agents import GuidedAgent, SearchAgent
from skyenv_agents.learned.networks import TRAINED, Network, NetworkAgent, TrainedAgent

TABLES = [(players, side) for players in range(MIN_PLAYERS, MAX_PLAYERS + 1) for side in SIDES]
MOST_BYTES = 7_000_000
"""All of them together."""
PAIRED_SEEDS = {2: 60, 3: 40, 4: 30}
"""Of the small sample, by number of players: 120 games each."""
SEED = 90_000_000
"""Of its first paired seed: neither trained nor measured with."""


def about(players: int, side: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(
        (TRAINED / f"{table_name(players, side)}.json").read_text(encoding="utf-8")
    )
    return content


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_the_file_is_the_one_that_was_measured(players: int, side: str) -> None:
    path = TRAINED / f"{table_name(players, side)}.npz"
    described = about(players, side)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == described["sha256"]
    network = Network.load(path)
    assert network.about["decisions"] == described["stages"][-1]["decisions"]
    assert (described["players"], described["side"]) == (players, side)
    assert {result["side"] for result in described["results"]} == {side}
    for stage in described["stages"]:
        words = shlex.split(stage["command"])
        assert words[:2] == ["python", "-m"]
        (kind,) = (kind for kind, module in COMMANDS.items() if module == words[2])
        whole = command_line(kind, words[2], asdict(parse(kind, words[2], "", words[3:])))
        assert sorted(shlex.split(whole)) == sorted(words)  # every option is told
    assert [stage["stopped"] for stage in described["stages"]][-1] is False
    assert sum(stage["decisions"] for stage in described["stages"]) == described["decisions"]
    assert {result["opponent"] for result in described["results"]} >= {"greedy", "appraiser"}


def test_together_they_are_small() -> None:
    assert sum(path.stat().st_size for path in TRAINED.iterdir()) < MOST_BYTES


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_plays_at_its_stated_strength(players: int, side: str) -> None:
    """The interval of a small sample meets the stated one."""
    stated = {result["opponent"]: result["share"] for result in about(players, side)["results"]}[
        "greedy"
    ]
    share = evaluate("trained", ["greedy"], players, side, PAIRED_SEEDS[players], SEED)[0].share
    assert share.low <= stated["high"]
    assert share.high >= stated["low"]


def test_takes_the_most_probable_action_unless_told_otherwise() -> None:
    assert isinstance(make_agent("trained"), TrainedAgent)
    games = Games(256, 2, seed=1)
    for player in (TrainedAgent(), TrainedAgent(deterministic=False)):
        likeliest = player.evaluate(decisions_in(games, player))[0].argmax(axis=1)
        assert np.array_equal(decide(games, player), likeliest) is player.deterministic


def test_versions_are_of_the_network_that_plays_at_a_table() -> None:
    """Whatever is made of it has them too, and its own versions by number of players."""
    trained = TrainedAgent()
    versions = {table: trained.version_at(*table) for table in TABLES}
    assert len(set(versions.values())) == len(TABLES)
    for guided in (GuidedAgent(), SearchAgent(evaluator=trained)):
        assert all(guided.version_at(*table).endswith(f"+{versions[table]}") for table in TABLES)

    class Changed(SearchAgent):
        versions = {3: "new", 4: "new"}  # noqa: RUF012

    assert Changed().version_at(2, "front") == SearchAgent().version_at(2, "front")
    assert Changed().version_at(3, "back") == "new"
    assert ReportingAgent(Changed()).version_at(4, "back") == "new"


def test_plays_each_side_with_its_own_network() -> None:
    """Also where decisions on both sides are asked for at once."""
    player = TrainedAgent()
    batches = [decisions_in(Games(5, 3, side, seed=4), player) for side in SIDES]
    order = np.random.default_rng(2).permutation(10)
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(each, name) for each in batches])[order]
        for name in ("mask", "seat", "uniform", "observation", "view")
    }
    joined["view"] = joined["view"].view(np.recarray)
    mixed = replace(batches[0], **joined)
    weights, outcomes = player.evaluate(mixed)
    wanted = [
        NetworkAgent(TRAINED / f"{table_name(3, side)}.npz").evaluate(each)
        for side, each in zip(SIDES, batches, strict=True)
    ]
    assert np.array_equal(weights, np.concatenate([each[0] for each in wanted])[order])
    expected: list[Any] = [outcome for _, outcome in wanted]
    assert np.array_equal(np.asarray(outcomes), np.concatenate(expected)[order])
    assert np.array_equal(player.act(mixed), weights.argmax(axis=1))
    assert not np.array_equal(
        player.evaluate(batches[0])[0], player.agent(3, "back").evaluate(batches[0])[0]
    )
