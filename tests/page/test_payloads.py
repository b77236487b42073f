"""What a seat is told: nothing that it can't know."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from pages import drawn, played

from skyenv import Game
from skyenv.engine.knowledge import PUBLIC, resample
from skyenv.page.payloads import Look, final_scoring
from skyenv.rules.actions import NUM_ACTIONS

from test_rule_ids import rule_ids  # isort: skip

IDS = set(rule_ids())


def twin(game: Game, seat: int, seed: int) -> Game:
    """A game that the seat can't tell from the real one: other hidden cards, another seed, other
    cards drawn in its events.
    """
    other = game.copy()
    other.rewind(resample(game.view(seat), [seed]).tobytes())
    other.events = [falsified(event, seat) for event in game.events]
    return other


def falsified(event: dict[str, Any], seat: int) -> dict[str, Any]:
    """An event with other hidden cards."""
    if event["event"] == "black" and event["seat"] != seat:
        return {**event, "card": 4 + (event["card"] - 3) % 3}
    if event["event"] == "setup":
        hidden = {
            "black": [4, 4, 4, 4],
            "green": [4],
            "violet": [4],
            "brown": [4],
            "orange": [4],
            "gray": [4],
        }
        return {
            **event,
            "hands": [
                hand if number == seat else hidden for number, hand in enumerate(event["hands"])
            ],
        }
    return event


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.rule("INF-2", "INF-3")
def test_games_that_a_seat_cannot_tell_apart_are_told_alike(players: int) -> None:
    """So nothing that goes to a browser depends on what its seat can't know."""
    different = 0
    for actions in (9, 40, 77, 120):
        game = played(players, seed=actions, actions=actions)
        for seat in range(players):
            other = twin(game, seat, seed=actions + seat)
            different += other != game
            first, second = (Look(each, seat, ["a"] * players) for each in (game, other))
            assert json.dumps(first.payload()) == json.dumps(second.payload())
            assert first.in_words() == second.in_words()
    assert different >= 3 * players  # the test can fail


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.rule("INF-1", "INF-2", "INF-3")
def test_games_that_differ_in_hidden_cards_are_told_to_spectators_alike(players: int) -> None:
    """Byte for byte, whichever hands differ: a spectator sees none of them."""
    different = set()
    for actions in (9, 40, 77, 120):
        game = played(players, seed=actions, actions=actions)
        others = [twin(game, seat, seed=seat) for seat in range(players)]
        others += [
            twin(other, 1, seed=7) for other in others[:1]
        ]  # seat 0's view: all hands but its own; then its own, too
        told = [Look(each, PUBLIC, ["a"] * players) for each in (game, *others)]
        assert len({json.dumps(look.payload()) for look in told}) == 1
        assert len({look.in_words() for look in told}) == 1
        for other in others:
            hands = zip(game.state["hand"], other.state["hand"], strict=True)
            different |= {seat for seat, (one, two) in enumerate(hands) if (one != two).any()}
    assert different == set(range(players))  # the test can fail
    payload = told[0].payload()
    assert (payload["yours"], payload["legal"], payload["why"]) == (False, [], {})
    assert "data-card" not in drawn(payload)
    assert "seen by all" in drawn(payload)


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
