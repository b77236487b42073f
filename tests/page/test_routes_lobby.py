"""The lobby by the page's interface."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient


@pytest.mark.parametrize(
    "change",
    [
        {"seats": ["me", "agent:os:system"]},
        {"seats": ["me", "agent:skyenv_agents.heuristic.player:GreedyAgent"]},
        {"seats": ["me", "agent:/etc/passwd"]},
        {"seats": ["me", "agent:runs/prior/model.zip"]},
        {"seats": ["me", "agent:"]},
        {"seats": ["me", "you"]},
        {"seats": ["me", 1]},
        {"seats": ["me"]},
        {"seats": None},
        {"players": 5},
        {"players": True},
        {"players": "2"},
        {"side": "left"},
        {"side": ["front"]},
        {"seed": 1},
        {"seed": "-1"},
        {"seed": "1e3"},
        {"seed": "9223372036854775808"},
        {"seed": "²"},
    ],
)
def test_a_wrong_request_gets_a_message(ann: TestClient, change: dict[str, Any]) -> None:
    """Nothing is imported and no file is looked for: agents are found by name in the list that the
    server was given.
    """
    ann.get("/")
    answer = ann.post(
        "/api/games", json={"players": 2, "side": "front", "seats": ["me", "agent:random"]} | change
    )
    assert 400 <= answer.status_code < 500
    assert set(answer.json()) == {"error"}
    assert "Traceback" not in answer.text
    assert ann.get("/api/games").json() == {"games": []}


def test_what_is_on_offer(ann: TestClient) -> None:
    """Agents, recommended ones among them, and pages: only those that are there."""
    ann.get("/")
    offer = ann.get("/api/options").json()
    names = [agent["name"] for agent in offer["agents"]]
    assert {"greedy", "random", "crowd"} <= set(names)
    assert [one["agent"] for one in offer["strengths"]] == ["crowd", "greedy"]
    for path in ("/tutorial", "/rules", "/ladder"):
        assert (path in offer["pages"]) == (ann.get(path).status_code == 200)
