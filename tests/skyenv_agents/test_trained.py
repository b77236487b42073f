"""The shipped networks: descriptions, strength and versions."""

import hashlib
import json
import shlex
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from experiments.benchmarks.units import GAMES, never_active
from experiments.shipping.export import COMMANDS
from skyenv import Games
from skyenv.agents import ReportingAgent, decisions_in
from skyenv.arena.evaluate import evaluate
from skyenv.console.options import Help, command_line, parse
from skyenv.engine.options import table_name
from skyenv.rules.components import SIDES
from skyenv_agents import GuidedAgent, SearchAgent
from skyenv_agents.learned.networks import TABLES, TRAINED, Network, TrainedAgent

# Of the small sample's first paired seed: neither trained nor measured with.
SEED = 90_000_000


def about(players: int, side: str) -> Any:
    """Return a network's description."""
    return json.loads((TRAINED / f"{table_name(players, side)}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_shipped_networks_match_their_descriptions(players: int, side: str) -> None:
    path = TRAINED / f"{table_name(players, side)}.npz"
    described = about(players, side)
    stages, results = described["stages"], described["results"]
    assert hashlib.sha256(path.read_bytes()).hexdigest() == described["sha256"]
    assert Network.load(path).about["decisions"] == stages[-1]["decisions"]
    assert (described["players"], described["side"]) == (players, side)
    assert {result["side"] for result in results} == {side}
    assert {result["opponent"] for result in results} >= {"greedy", "appraiser"}
    for stage in stages:
        words = shlex.split(stage["command"])
        (kind,) = (kind for kind, module in COMMANDS.items() if module == words[2])
        whole = command_line(kind, words[2], asdict(parse(kind, words[2], Help(""), words[3:])))
        assert set(words) <= set(shlex.split(whole))  # options that came later are not told
    assert stages[-1]["stopped"] is False
    assert sum(stage["decisions"] for stage in stages) == described["decisions"]


@pytest.mark.parametrize(
    ("players", "side"),
    [
        (2, "front"),
        pytest.param(3, "back", marks=pytest.mark.long),
        pytest.param(4, "front", marks=pytest.mark.long),
    ],
)
def test_trained_plays_at_its_stated_strength(players: int, side: str) -> None:
    """The interval of a small sample, 60 games, meets the stated one."""
    (stated,) = (
        one["share"] for one in about(players, side)["results"] if one["opponent"] == "greedy"
    )
    share = evaluate("trained", ["greedy"], players, side, 60 // players, SEED)[0].share
    assert share.low <= stated["high"]
    assert share.high >= stated["low"]


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_shipped_networks_live(players: int, side: str) -> None:
    """No layer has more than a tenth of units that are never active."""
    network = Network.load(TrainedAgent().path(players, side))
    assert max(never_active(network, players, side, GAMES).values()) <= 0.1


def test_versions_are_those_of_the_tables_network() -> None:
    """Agents that use it have the versions too."""
    trained = TrainedAgent()
    versions = {table: trained.version_at(*table) for table in TABLES}
    assert len(set(versions.values())) == len(TABLES)
    guided = GuidedAgent()
    assert all(guided.version_at(*table).endswith(f"+{versions[table]}") for table in TABLES)

    class Changed(SearchAgent):
        versions = {3: "new", 4: "new"}  # noqa: RUF012

    assert Changed().version_at(2, "front") == SearchAgent().version_at(2, "front")
    assert ReportingAgent(Changed()).version_at(3, "back") == "new"


def test_each_side_has_its_own_network() -> None:
    """Also in one batch of both sides."""
    player = TrainedAgent()
    front, back = (decisions_in(Games(5, 3, side, seed=4), player) for side in SIDES)
    names = ("mask", "seat", "uniform", "observation", "view")
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(front, name), getattr(back, name)])[::-1] for name in names
    }
    joined["view"] = joined["view"].view(np.recarray)
    mixed = player.evaluate(replace(front, **joined).as_trusted())
    apart = [
        player.agent(3, side).evaluate(each)
        for side, each in zip(SIDES, (front, back), strict=True)
    ]
    for whole, parts in zip(mixed, zip(*apart, strict=True), strict=True):
        assert np.array_equal(whole[::-1], np.concatenate(parts))  # type: ignore[index]
