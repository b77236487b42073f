"""What happened since a seat's last turn, turn by turn."""

from __future__ import annotations

import pytest
from pages import played

from skyenv.engine.events import Event
from skyenv.page import recent
from skyenv.page.recent import alea_since
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
    (told,) = recent.since_last_turn(events, NAMES, 0)
    assert told["seat"] == 1
    assert told["lines"] == [
        "seat 2 (ann) places a gallery on TSQ brown",
        "the last tile of the set, a boutique, goes to the park area",
        "special points for standing in many districts: seat 2 (ann) +4, seat 3 (bob) +4",
        "seat 2 (ann) takes violet 6",
        "seat 2 (ann) takes gray 4",
        "seat 2 (ann) moves the beige commissioner to City Hall",
        "TSQ is auctioned; seat 2 (ann) begins",
        "seat 2 (ann) bids 4 with violet 4",
        "seat 3 (bob) passes",
        "seat 1 (you) bids 9 with green 5 + black 4",
        "seat 2 (ann) passes",
        "seat 1 (you) wins the auction with 9",
        "seat 1 (you) builds 1 skyscraper",
        "the park area is auctioned; seat 2 (ann) begins",
        "seat 2 (ann) passes",
        "seat 3 (bob) passes",
        "seat 1 (you) passes",
        "nobody has bid",
    ]
    assert told["parts"] == [
        ("plot", "3:2"),
        ("stack", "1"),
        ("stack", "4"),
        ("commissioner", "1"),
        ("plot", "3:0"),
    ]


@pytest.mark.parametrize(("players", "side"), [(2, "front"), (3, "back"), (4, "front")])
def test_turns_hold_every_event_once(players: int, side: str) -> None:
    game = played(players, 1, side=side)
    before, turns = recent.turns(game.events)
    assert [*before, *(event for _, turn in turns for event in turn)] == game.events
    assert len(turns) == game.turn + 1 + 2 * players  # the last one ended the game
    for seat, turn in turns:
        assert turn[0]["event"] == "action"
        assert turn[0]["seat"] == seat


def test_the_turns_since_ones_own_last_one() -> None:
    game = played(3, 4)
    actions = [number for number, event in enumerate(game.events) if event["event"] == "action"]
    for number in actions[30:90]:
        events = game.events[:number]
        since = recent.since_last_turn(events, NAMES, 0)
        assert all(turn["seat"] != 0 for turn in since)
        assert 1 <= len(since) <= 2 or recent.turns(events)[1][-1][0] != 0
    assert recent.since_last_turn(game.events[:1], NAMES, 0) == []


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
