"""Ladders: tables, files, and those that ship."""

from typing import Any

import pytest

from docs.build import document
from processes import ROOT
from skyenv.arena import ladder
from skyenv.arena.ratings import ANCHORS
from skyenv.arena.schedule import entrants


@pytest.fixture
def shipped() -> dict[str, Any]:
    """The ladder of two players on the front side."""
    return ladder.read(ladder.path_of(2, "front"))


@pytest.mark.parametrize(("probability", "is_told_apart"), [(0.975, True), (0.974, False)])
def test_a_ladder_prints_the_probability_that_neighbours_are_in_order(
    probability: float, is_told_apart: bool, shipped: dict[str, Any]
) -> None:
    shipped["better"][0][1] = probability
    first, second, *_ = (agent["name"] for agent in shipped["agents"])
    told = f"{first} is above {second}: {100 * probability:.1f} %"
    said = " ".join(ladder.table(shipped).split())
    assert told in said
    assert (f"{told}, not separated (below 97.5 %)" in said) != is_told_apart


def test_pairs_that_contradict_the_ratings_are_reported(shipped: dict[str, Any]) -> None:
    """A pair whose interval misses the prediction is marked, as is an excluded pair."""
    shipped["pairs"][0][1] = {"mean": 0.71, "low": 0.6, "high": 0.8}
    names = [agent["name"] for agent in shipped["agents"][:2]]
    for predicted, apart, shown in (
        (0.59, [], " 71|59*"),
        (0.61, [], " 71|61 "),
        (0.59, [names], "(71|59)"),
    ):
        shipped["predicted"][0][1], shipped["apart"] = predicted, apart
        assert shown in ladder.table(shipped)


@pytest.mark.parametrize(("players", "side"), document.LADDERS)
def test_a_ladder_names_each_agents_worst_opponent(players: int, side: str) -> None:
    """The one with the highest lower bound of wins; its mean above par bounds exploitability."""
    shipped = ladder.read(ladder.path_of(players, side))
    for agent in shipped["agents"]:
        others = {
            duel[other]: duel[f"{other}_alone"]
            for duel in shipped["duels"]
            for one, other in (("one", "other"), ("other", "one"))
            if duel[one] == agent["name"]
        }
        if players == 2:
            column = shipped["agents"].index(agent)
            shares = [row[column] for row in shipped["pairs"]]
            names = [one["name"] for one in shipped["agents"]]
            others = {one: share for one, share in zip(names, shares, strict=True) if share}
        assert others[agent["worst"]]["low"] == max(share["low"] for share in others.values())
        above = others[agent["worst"]]["mean"] - 1 / players
        assert agent["exploitability"]["mean"] == pytest.approx(max(0, above), abs=1e-4)


@pytest.mark.parametrize(("players", "side"), document.LADDERS)
def test_shipped_ladders_agree_with_the_docs(players: int, side: str) -> None:
    """Tables in the README and the docs, JSON files and the agents agree."""
    page = (ROOT / "docs" / "results" / "ladders.md").read_text(encoding="utf-8")
    assert document.ladder_summary() in (ROOT / "README.md").read_text(encoding="utf-8")
    assert document.part(f"ladder {players} players {side}") in page
    shipped = ladder.read(ladder.path_of(players, side), players=players, side=side)
    assert shipped["paired_seeds"] >= 40  # as many as searches have had on every ladder of two
    assert set(shipped["anchors"]["names"]) == set(ANCHORS)
    if players > 2:
        agents = len(shipped["agents"])
        assert len(shipped["duels"]) == agents * (agents - 1) // 2
    for agent in shipped["agents"]:
        (here,) = entrants([agent["spec"]], players, side)
        assert (here.name, here.digest) == (agent["name"], agent["digest"])
        if here.version != agent["version"]:
            assert f"`{here.name}` {agent['version']} ({here.version} now, not rated)" in page
