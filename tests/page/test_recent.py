"""The turns since a seat's last one."""

import pytest
from pages import played

from skyenv.engine.events import Event
from skyenv.page.view.recent import alea_since, changed_parts, since_last_turn, turns
from skyenv.rules.actions import PLOT, TAKE

NAMES = ["you", "ann", "bob"]


def action(seat: int, number: int) -> Event:
    """An action in the log."""
    return {"event": "action", "seat": seat, "action": number, "name": ""}


def test_changed_parts_lists_each_part_once() -> None:
    """A business, cards from two stacks, a commissioner, and a bid of green cards that builds."""
    turn: list[Event] = [
        action(1, 3),
        action(1, PLOT + 6 * 3 + 2),
        action(1, TAKE + 1),
        {"event": "top", "color": "violet", "card": 5},
        {"event": "top", "color": "violet", "card": 4},
        action(1, 60 + 9 + 8),
        {"event": "auction", "place": "TSQ", "starter": 1},
        *(action(seat, number) for seat, number in ((2, 82), (2, 97), (0, 80), (0, 94), (0, 97))),
        {"event": "won", "seat": 0, "total": 9},
        action(0, 99),
    ]
    parts = [("plot", "3:2"), ("stack", "1"), ("commissioner", "1"), ("plot", "3:0")]
    assert changed_parts(turn) == parts


def test_since_last_turn_lists_the_others_turns() -> None:
    events = played(3, 4).events
    for number in [place for place, one in enumerate(events) if one["event"] == "action"][30:90]:
        since = since_last_turn(events[:number], NAMES, 0)
        assert all(turn["seat"] != 0 and turn["lines"] for turn in since)
        assert 1 <= len(since) <= 2 or turns(events[:number])[1][-1][0] != 0
    assert since_last_turn(events[:1], NAMES, 0) == []


@pytest.mark.rule("ALEA-2")
def test_alea_since_lists_bids_after_a_step() -> None:
    events = played(2, seed=3, actions=120).events
    bids = [(place, one["cards"]) for place, one in enumerate(events) if one["event"] == "alea"]
    cards = [shown for _, shown in bids if shown]
    step = sum(one["event"] == "action" for one in events[: bids[-1][0]])
    since = [alea_since(events, each) for each in (0, step - 1, step)]
    assert since == [cards, cards[-1:], []]
