"""What a seat is told: nothing that it can't know."""

from __future__ import annotations

import numpy as np
import pytest
from pages import drawn, played

from skyenv.page.payloads import Look, final_scoring
from skyenv.rules.actions import NUM_ACTIONS

from test_rule_ids import rule_ids  # isort: skip

IDS = set(rule_ids())


def test_every_action_is_legal_or_has_a_reason() -> None:
    for actions in (0, 5, 30, 61, 90):
        game = played(2, seed=3, actions=actions)
        payload = Look(game, game.seat, ["a", "b"]).payload()
        legal = [choice["action"] for choice in payload["legal"]]
        why = sorted(action for group in payload["why"].values() for action in group)
        assert sorted(legal + why) == list(range(NUM_ACTIONS))
        assert payload["why_rules"].keys() == payload["why"].keys()
        assert len(payload["log"]["rules"]) == len(payload["log"]["lines"])
        assert IDS.issuperset(
            rule
            for rules in [*payload["why_rules"].values(), *payload["log"]["rules"]]
            for rule in rules
        )
        assert legal == game.legal_actions


def test_a_seat_that_waits_is_told_no_choices() -> None:
    game = played(2, seed=3, actions=30)
    assert game.seat is not None
    payload = Look(game, 1 - game.seat, ["a", "b"]).payload()
    assert (payload["yours"], payload["legal"]) == (False, [])
    assert 'class="legal"' not in drawn(payload)
    (reason,) = payload["why"]
    assert reason.startswith("not your turn")
    assert payload["why"][reason] == list(range(NUM_ACTIONS))


def test_only_parts_that_the_page_lacks_are_told() -> None:
    game = played(3, seed=3, actions=30)
    look = Look(game, 0, ["a", "b", "c"])
    everything = look.payload()["drawing"]
    assert look.payload(0, {digest for digest, _ in everything.values()})["drawing"] == {}
    lacking = {name: part for name, part in everything.items() if name.startswith("W34")}
    known = {digest for name, (digest, _) in everything.items() if name not in lacking}
    assert look.payload(0, known | {"nobody"})["drawing"] == lacking


def test_the_log_is_told_from_where_it_is_known() -> None:
    look = Look(played(2, seed=3, actions=40), 0, ["you", "b"])
    lines = look.log()
    rest = lines[5:]
    assert look.payload(5)["log"] == {
        "from": 5,
        "lines": [line.text for line in rest],
        "rules": [line.rules for line in rest],
    }
    assert look.payload(10**6)["log"] == {"from": len(lines), "lines": [], "rules": []}


@pytest.mark.parametrize("seed", range(4))
def test_the_final_scoring_leads_to_the_scores(seed: int) -> None:
    game = played(3, seed)
    steps = final_scoring(game, ["a", "b", "c"])
    assert steps[-1]["scores"] == game.scores
    assert len(steps) >= 7
    before = np.array(steps[0]["scores"]) - np.array(steps[0]["vp"])
    gains = sum(np.array(step["vp"]) for step in steps if step["vp"])
    assert (before + gains).tolist() == game.scores
    assert "wins" in steps[-1]["text"] or "share" in steps[-1]["text"]
