"""Agents that are asked with open hands: what they are told, and that nobody who plays is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pages import begin, played, wait_for_turn
from starlette.testclient import TestClient

from skyenv import Game
from skyenv.agents import make_agent
from skyenv.engine.knowledge import resample, view
from skyenv.page.hints import as_decisions
from skyenv.page.open_hands import with_open_hands
from skyenv.page.replays import Replay
from skyenv.rules.state import GAME_DTYPE, NONE


def states_of(players: int) -> Any:
    """The positions of a game in which somebody is to act."""
    states = Replay.of(played(players, seed=5).to_record().encode(), 1).states
    return states[states["seat"] != NONE]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_every_determinization_of_open_hands_has_the_real_cards(players: int) -> None:
    states = states_of(players)
    before = states.tobytes()
    opened = with_open_hands(states)
    assert states.tobytes() == before
    assert (states["unknown"] > 0).any()
    drawn = resample(view(opened, opened["seat"]), np.arange(len(opened)))
    for field in ("hand", "face_down", "seat", "top", "bid_cards", "score"):
        assert drawn[field].tolist() == states[field].tolist(), field


@pytest.mark.parametrize("agent", ["greedy", "trained", "ismcts-40", "ismcts-trained-40"])
def test_agents_of_every_kind_use_what_they_are_told(agent: str) -> None:
    """Two positions that differ in what the seat to act can't know: alike to it, and not with open
    hands.
    """
    real = states_of(2)
    rows = np.flatnonzero(real["unknown"].sum(axis=(1, 2)) > 4)[-30:]
    other = resample(view(real[rows], real["seat"][rows]), np.arange(len(rows))).view(np.ndarray)
    real = real[rows]
    assert (other["hand"] != real["hand"]).any()
    asked = make_agent(agent)

    def told(states: Any) -> list[list[float]]:
        # Views are compared byte by byte, as their digests are an agent's random numbers.
        game = Game(2)
        answers = []
        for state in states:
            one = np.array([state], GAME_DTYPE)
            game.rewind(one.tobytes())
            decisions = as_decisions(game.games, asked)
            evaluations = asked.evaluate(decisions)
            answers.append(
                np.asarray(asked.scores(decisions) if evaluations is None else evaluations[0])[  # type: ignore[attr-defined]
                    0
                ].tolist()
            )
        return answers

    assert told(real) == told(other)
    assert told(with_open_hands(real)) != told(with_open_hands(other))


def opened(client: TestClient, game: Game) -> str:
    """The address of a game's replay in the interface."""
    client.get("/")
    key = client.post("/api/replays", content=game.to_record()).json()["page"].rpartition("/")[2]
    return f"/api/replays/{key}/1"


def test_who_looks_at_a_record_chooses_what_agents_are_told(ann: TestClient) -> None:
    game = played(2, seed=3)
    api = opened(ann, game)
    closed: dict[int, Any] = {}
    told: dict[int, Any] = {}
    for step in range(60, 100):
        closed[step] = ann.get(f"{api}/{step}/hint?agent=greedy&hands=seat").json()
        assert closed[step] == ann.get(f"{api}/{step}/hint?agent=greedy").json()
        told[step] = ann.get(f"{api}/{step}/hint?agent=greedy&hands=open").json()
    assert closed != told
    assert ann.get(f"{api}/60/hint?agent=greedy&hands=all").status_code == 400
    assert ann.post(f"{api}/analysis?agent=greedy&hands=all").status_code == 400


def test_a_seat_that_plays_is_never_told_more(ann: TestClient) -> None:
    seat = begin(ann, ["me", "agent:crowd"], seed="5")
    for _ in range(30):
        state = wait_for_turn(ann, seat)
        hint = ann.get(f"{seat}/hint?agent=greedy").json()
        assert ann.get(f"{seat}/hint?agent=greedy&hands=open").json() == hint
        ann.post(f"{seat}/act", json={"action": hint["action"], "step": state["step"]})
