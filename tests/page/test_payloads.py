"""The payload of a seat: choices, reasons, what has changed, final scoring.

Hidden information is checked in tests/guarantees.
"""

import re
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages import begin, drawn, payload, played, positions
from starlette.testclient import TestClient

from skyenv.analysis.recording import Recording
from skyenv.engine.events import Event
from skyenv.engine.game import Game
from skyenv.page.library.ending import ending
from skyenv.page.view.payloads import SeatView, final_scoring
from skyenv.page.view.recent import alea_since, changed_parts, changed_since_last_turn, turns
from skyenv.render.table import if_scored_now
from skyenv.rules.actions import NUM_ACTIONS, PLOT, TAKE

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
    """The types that check the page's scripts: the fields of every object that has a type."""
    text = TYPES.read_text("utf-8")
    types = {
        name: dict(re.findall(r"^  (\w+): (.*);", body, re.MULTILINE))
        for name, body in re.findall(r"interface (\w+) {\n(.*?)\n}", text, re.DOTALL)
    }
    checked: set[str] = set()

    def check(kind: str, value: Any) -> None:
        """Check a value against a field's type; null has none."""
        if kind.endswith("[]") and value is not None:
            for one in value:
                check(kind[:-2], one)
        elif kind in types and value is not None:
            assert value.keys() == types[kind].keys(), kind
            checked.add(kind)
            for field, other in types[kind].items():
                check(other.removesuffix(" | null"), value[field])

    for seed in range(3):
        for game in positions(2, seed):
            check("Decision", SeatView(game, game.seat, ["a", "b"]).payload()["decision"])
        check("Scoring[]", final_scoring(played(2, seed), ["a", "b"]))
        check("Ending", ending(played(2, seed), ["a", "b"], 0))
    check("State", payload(ann, begin(ann, ["me", "agent:greedy"])))
    check("State", payload(ann, re.sub("^/seat/", "/api/seats/", ann.get("/tutorial").url.path)))
    assert checked >= {"State", "Option", "Hand", "Auction", "Worth", "Person", "Lesson", "Choice"}


NAMES = ["you", "ann", "bob"]


def action(seat: int, number: int) -> Event:
    """An action in the log."""
    return {"event": "action", "seat": seat, "action": number, "name": ""}


@pytest.mark.parametrize("seat", [0, None])
def test_an_ending_tells_what_decided_the_game(seat: int | None) -> None:
    game = played(3, 1)
    told, seats = ending(game, NAMES, seat), [0, 1, 2] if seat is None else [seat]
    (turning, bid, cards), (winner,) = told["sentences"], told["winners"]
    vp = if_scored_now(Recording.of(game.to_record()).states, 3)
    leads = [(row >= row[winner]).sum() == 1 for row in vp]
    assert all(leads[turning["step"] :])
    assert not leads[turning["step"] - 1]
    put = f"the final scoring of the park area put {NAMES[winner]} ahead."
    assert turning["text"] == f"Turning point: {put}"
    won = [
        (one["seat"], one["total"], after["name"])
        for one, after in zip(game.events, game.events[1:], strict=False)
        if one["event"] == "won" and one["seat"] in seats
    ]
    paid = r"Costliest bid: (\w+) paid \d cards \((\d+)\) for \w+ and built (\d) skyscrapers?\."
    name, total, built = re.fullmatch(paid, bid["text"]).groups()  # type: ignore[union-attr]
    assert (NAMES.index(name), int(total), f"build {built}") in won
    won_by = [one["seat"] for one in game.events if one["event"] == "won"]
    counts = [*zip(NAMES, map(won_by.count, range(3)), game.events[-1]["cards"], strict=True)]
    found = re.findall(r"(\w+) won (\d+) auctions? and kept (\d+) cards?[;.]", cards["text"])
    assert [(name.lower(), int(wins), int(left)) for name, wins, left in found] == counts


@pytest.mark.parametrize(
    ("players", "seed", "text"),
    [
        (2, 0, "you led for good after “You score W52”."),
        (2, 6, "none; you led from the start."),
        (2, 3, "Banker led for good after “Banker builds 1 skyscraper” in E52."),
        (4, 1, "none; the highest score is shared."),
    ],
)
def test_an_ending_tells_turning_points_in_plain_words(players: int, seed: int, text: str) -> None:
    """Of players with one name it tells the seats."""
    told = ending(played(players, seed), ["you", *["greedy"] * (players - 1)], None)["sentences"]
    assert told[0]["text"] == f"Turning point: {text}"
    assert ("; Banker 3 won " in told[-1]["text"]) == (players > 2)


def test_options_name_players() -> None:
    """An option D tells who gets VP."""
    *_, game = positions(2, 1, "option")
    told = SeatView(game, game.seat, NAMES[:2]).payload()
    scored = [option["text"] for option in told["legal"] if "option D" in option["text"]]
    scored += [one["text"] for one in told["decision"]["options"][-1]["choices"]]
    assert scored
    assert not [text for text in scored if "seat " in text]
    assert any(NAMES[1 - told["seat"]] in text for text in scored)


def test_an_ending_of_a_truncated_game_tells_no_scoring() -> None:
    """END-5."""
    game = Game(2, seed=1, max_turns=4)
    while not game.is_over:
        game.play(game.legal_actions[0])
    told = ending(game, ["you", "greedy"], None)["sentences"]
    assert told[0]["text"] == "Turning point: none; the game was truncated."


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


def test_what_changed_is_of_turns_and_auctions_since_the_seats_last_turn() -> None:
    events = played(3, 4).events
    for number in [place for place, one in enumerate(events) if one["event"] == "action"][30:90]:
        *before, (seat, turn) = turns(events[:number])
        last = [] if seat == 0 else changed_parts(turn)
        others = [*takewhile(lambda one: one[0] != 0, reversed(before))][::-1]
        parts = [part for _, one in others for part in changed_parts(one)]
        assert changed_since_last_turn(events[:number], 3, 0) == [*parts, *last]
    assert changed_since_last_turn(events[:1], 3, 0) == []


@pytest.mark.rule("ALEA-2")
def test_alea_since_lists_bids_after_a_step() -> None:
    events = played(2, seed=3, actions=120).events
    bids = [(place, one["cards"]) for place, one in enumerate(events) if one["event"] == "alea"]
    cards = [shown for _, shown in bids if shown]
    step = sum(one["event"] == "action" for one in events[: bids[-1][0]])
    since = [alea_since(events, each) for each in (0, step - 1, step)]
    assert since == [cards, cards[-1:], []]
