"""What happened since a seat's last turn, told turn by turn."""

from __future__ import annotations

import json

import pytest
from pages import played

from skyenv.engine.events import Event
from skyenv.engine.information_state import seen_by
from skyenv.page import recent
from skyenv.page.recent import Turn, alea_since
from skyenv.rules.actions import PLOT, TAKE

NAMES = ["you", "ann", "bob"]


def test_turns_tell_options_cards_with_their_values_moves_and_auctions() -> None:
    """A game written by hand."""
    tops = dict.fromkeys(("green", "violet", "brown", "orange", "gray"), 4) | {"violet": 6}
    setup = {"event": "setup", "plots": {}, "row": [], "hands": [{}, {}, {}], "tops": tops}

    def act(seat: int, action: int) -> Event:
        return {"event": "action", "seat": seat, "action": action, "name": ""}

    events: list[Event] = [
        setup,
        act(1, 3),  # option B, a gallery
        act(1, PLOT + 6 * 3 + 2),
        {"event": "tile to park", "business": "boutique"},
        {"event": "vp", "why": "bonus", "place": None, "vp": [0, 4, 4]},
        act(1, TAKE + 1),
        {"event": "top", "color": "violet", "card": 5},
        act(1, TAKE + 4),
        {"event": "top", "color": "gray", "card": 4},
        act(1, 60 + 9 + 8),
        {"event": "auction", "place": "TSQ", "starter": 1},
        act(1, 82),
        act(1, 97),
        act(2, 78),
        act(0, 80),
        act(0, 94),
        act(0, 97),
        act(1, 78),
        {"event": "won", "seat": 0, "total": 9},
        act(0, 99),
        {"event": "auction", "place": "CENTRAL_PARK", "starter": 1},
        act(1, 78),
        act(2, 78),
        act(0, 78),
        {"event": "won", "seat": None, "total": 0},
    ]
    (turn,) = recent.turns(events, NAMES, 0)
    told = recent.payload(turn, NAMES, 0)
    assert told["who"] == "seat 2 (ann)"
    assert told["text"] == (
        "B; placed a gallery on TSQ brown; a boutique went to the park area; beige commissioner to "
        "City Hall;"
        " took violet 6 and gray 4"
    )
    assert told["points"] == ["seat 2 (ann) +4, seat 3 (bob) +4 VP for special points"]
    assert told["auctions"] == [
        "TSQ: seat 2 (ann) bid 4, seat 3 (bob) passed, you bid 9, seat 2 (ann) passed, you won "
        "with 9; you built 1 on TSQ green",
        "park area: seat 2 (ann) passed, seat 3 (bob) passed, you passed, nobody won",
    ]
    assert told["parts"] == [
        ("plot", "3:2"),
        ("stack", "1"),
        ("stack", "4"),
        ("commissioner", "1"),
        ("plot", "3:0"),
    ]


@pytest.mark.parametrize(("players", "side"), [(2, "front"), (3, "back"), (4, "front")])
def test_every_game_is_told(players: int, side: str) -> None:
    names = ["you", "ann", "bob", "eve"][:players]
    for seed in range(4):
        game = played(players, seed, side=side)
        told = recent.turns(seen_by(game.events, 0), names, 0)
        assert len(told) >= game.turn
        taken = [card for turn in told for card in turn.taken]
        assert taken
        assert not [card for card in taken if card.endswith("None")]
        points = sum(event["event"] == "vp" and any(event["vp"]) for event in game.events)
        assert sum(len(turn.points) for turn in told) == points


def test_nothing_hidden_is_told() -> None:
    """What others draw is a card; what one draws oneself has its value."""
    game = played(3, 4)
    for seat in range(3):
        known, changed = (
            recent.turns(events, NAMES, seat)
            for events in (seen_by(game.events, seat), without(game.events, seat))
        )
        told = json.dumps([recent.payload(turn, NAMES, seat) for turn in known])
        assert told == json.dumps([recent.payload(turn, NAMES, seat) for turn in changed])
        assert "drew black" in told


def without(events: list[Event], seat: int) -> list[Event]:
    """The events with every card changed that the seat can't know."""
    changed = []
    for event in events:
        if event["event"] == "setup":
            event = {**event, "hands": []}
        if event["event"] == "black" and event["seat"] != seat:
            event = {"event": "black", "seat": event["seat"]}
        changed.append(event)
    return changed


def test_the_turns_since_ones_own_last_one() -> None:
    game = played(3, 4)
    actions = [number for number, event in enumerate(game.events) if event["event"] == "action"]
    for number in actions[30:90]:
        events = game.events[:number]
        told = recent.turns(events, NAMES, 0)
        since = recent.since_last_turn(events, NAMES, 0)
        assert all(turn.seat != 0 for turn in since)
        assert 1 <= len(since) <= 2 or told[-1].seat != 0
    assert recent.since_last_turn(game.events[:1], NAMES, 0) == []
    assert isinstance(told[0], Turn)


@pytest.mark.rule("ALEA-2")
def test_aleas_cards_since_a_step() -> None:
    game = played(2, seed=3, actions=120)
    all_bids = [
        event["cards"] for event in game.events if event["event"] == "alea" and event["cards"]
    ]
    assert len(all_bids) > 2
    assert alea_since(game.events, 0) == all_bids
    steps = [number for number, event in enumerate(game.events) if event["event"] == "alea"]
    actions = [sum(event["event"] == "action" for event in game.events[:place]) for place in steps]
    assert alea_since(game.events, actions[-1]) == []
    assert alea_since(game.events, actions[-1] - 1) == all_bids[-1:]
