"""The payload of a seat: choices, reasons, final scoring.

Hidden information is checked in tests/guarantees.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from pages import begin, drawn, payload, played
from starlette.testclient import TestClient

from skyenv.page.view.payloads import SeatView, final_scoring
from skyenv.rules.actions import NUM_ACTIONS

TYPES = Path(__file__).parent / "js" / "types.d.ts"


@pytest.mark.parametrize("actions", [0, 5, 30, 61, 90])
def test_every_action_is_legal_or_has_a_reason(actions: int) -> None:
    """A waiting seat has one reason for all actions."""
    game = played(2, seed=3, actions=actions)
    seat = int(str(game.seat))
    told, other = (SeatView(game, each, ["a", "b"]).payload() for each in (seat, 1 - seat))
    assert [choice["action"] for choice in told["legal"]] == game.legal_actions
    why = [action for group in told["why"].values() for action in group]
    assert sorted(game.legal_actions + why) == list(range(NUM_ACTIONS))
    assert (other["yours"], other["legal"], 'class="legal"' in drawn(other)) == (False, [], False)
    assert list(other["why"].values()) == [list(range(NUM_ACTIONS))]


@pytest.mark.parametrize("seed", range(4))
def test_the_final_scoring_leads_to_the_scores(seed: int) -> None:
    game = played(3, seed)
    steps = final_scoring(game, ["a", "b", "c"])
    before = np.array(steps[0]["scores"]) - np.array(steps[0]["vp"])
    gains = sum(np.array(step["vp"]) for step in steps if step["vp"])
    assert (before + gains).tolist() == game.scores == steps[-1]["scores"]


def test_the_scripts_types_match_the_payload(ann: TestClient) -> None:
    """The types that check the page's scripts."""
    state = payload(ann, begin(ann, ["me", "agent:greedy"]))
    told = {"State": state, "Decision": state["decision"], "Log": state["log"]}
    for name, value in (told | {"Choice": state["legal"][0]}).items():
        body = re.search(rf"interface {name} {{\n(.*?)\n}}", TYPES.read_text("utf-8"), re.DOTALL)
        assert body
        assert set(re.findall(r"^  (\w+)\??:", body[1], re.MULTILINE)) == value.keys(), name
