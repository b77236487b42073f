"""The game in words: every event, every action."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from at_a_phase import TSQ, bidding, building, table

from positions import deal_anew
from skyenv import ACTION_NAMES, Game, IllegalActionError, OptionError, make_agent
from skyenv.agents import decide_game
from skyenv.engine.events import action_event
from skyenv.records import nth_game
from skyenv.render.reasons import why_illegal
from skyenv.render.table import look
from skyenv.render.words import (
    action_text,
    counted,
    event_rules,
    event_text,
    log,
    log_lines,
    seat_label,
    seat_name,
    situation,
    tops_of,
    tops_told,
)
from skyenv.rules.actions import ACTION_NUMBERS, NUM_ACTIONS
from skyenv.rules.components import CENTRAL_PARK
from skyenv.rules.state import ALEA, NONE, PHASE_PLOT
from test_rule_ids import rule_ids

AGENTS = ["greedy", None, "you"]
TABLES = [(2, "front"), (2, "back"), (3, "back"), (4, "front")]

# ---- events ----

EVENTS: list[tuple[dict[str, Any], str]] = [
    (
        {"event": "setup", "plots": {}, "row": [], "hands": [{}, {}, {}], "tops": {}},
        "a new game for 3 players; everybody has a card of each colour and four black ones",
    ),
    ({"event": "top", "color": "green", "card": 5}, "green 5 is the new top of its stack"),
    ({"event": "top", "color": "green", "card": None}, "the green stack is empty now"),
    ({"event": "shuffle"}, "the black stack is shuffled"),
    ({"event": "black", "seat": 0, "card": 6}, "seat 1 (greedy) draws a black card"),
    ({"event": "alea", "cards": [6, 5, 6]}, "Alea bids 17 with black 6, 5, 6"),
    ({"event": "alea", "cards": []}, "Alea finds no black card and is out"),
    (
        {"event": "alea builds", "district": "W34", "plots": ["green"]},
        "Alea builds in W34, on green",
    ),
    (
        {"event": "alea builds", "district": "W34", "plots": ["green", "gray"]},
        "Alea builds in W34, on green and gray",
    ),
    (
        {"event": "tile to park", "business": "gallery"},
        "the last tile of the set, a gallery, goes to the park area",
    ),
    ({"event": "auction", "place": "TSQ", "starter": 1}, "TSQ is auctioned; seat 2 begins"),
    (
        {"event": "auction", "place": "CENTRAL_PARK", "starter": 2},
        "the park area is auctioned; seat 3 (you) begins",
    ),
    ({"event": "won", "seat": 1, "total": 12}, "seat 2 wins the auction with 12"),
    ({"event": "won", "seat": -1, "total": 12}, "Alea wins the auction with 12"),
    ({"event": "won", "seat": None, "total": 0}, "nobody has bid"),
    ({"event": "stop", "district": "E52", "seat": 0}, "building stop in E52, by seat 1 (greedy)"),
    ({"event": "stop", "district": "E52", "seat": -1}, "building stop in E52, by Alea"),
    (
        {"event": "vp", "why": "district", "place": "TSQ", "vp": [3, 0, 5]},
        "TSQ is scored: seat 1 (greedy) +3, seat 3 (you) +5",
    ),
    (
        {"event": "vp", "why": "district", "place": "TSQ", "vp": [0, 0, 0]},
        "TSQ is scored: nobody gets VP",
    ),
    (
        {"event": "vp", "why": "stop", "place": "TSQ", "vp": [0, 2, 0]},
        "VP for the building stop in TSQ: seat 2 +2",
    ),
    (
        {"event": "vp", "why": "bonus", "place": None, "vp": [4, 0, 0]},
        "special points for standing in many districts: seat 1 (greedy) +4",
    ),
    (
        {"event": "vp", "why": "final", "place": "W42", "vp": [0, 9, 0]},
        "final scoring of W42: seat 2 +9",
    ),
    (
        {"event": "vp", "why": "park", "place": "CENTRAL_PARK", "vp": [0, 9, 0]},
        "scoring of the park area: seat 2 +9",
    ),
    (
        {"event": "park", "tiles": ["gallery", "boutique", "gallery"]},
        "in the park area gallery, boutique and gallery count",
    ),
    ({"event": "park", "tiles": []}, "the park area has no businesses"),
    (
        {
            "event": "end",
            "reason": "stops",
            "scores": [4, 9, 1],
            "cards": [1, 1, 1],
            "winners": [1],
        },
        "the game is over (the second building stop): seat 2 wins with 9 VP",
    ),
    (
        {
            "event": "end",
            "reason": "businesses",
            "scores": [9, 9, 1],
            "cards": [1, 1, 1],
            "winners": [0, 1],
        },
        "the game is over (the last business has been placed): seat 1 (greedy) and seat 2 share "
        "the win with 9 VP",
    ),
    (
        {
            "event": "end",
            "reason": "truncated",
            "scores": [4, 9, 1],
            "cards": [1, 1, 1],
            "winners": [1],
        },
        "the game is over (truncated, as there were too many turns): seat 2 wins with 9 VP",
    ),
]


@pytest.mark.parametrize(
    ("event", "text"), EVENTS, ids=lambda part: part if isinstance(part, str) else ""
)
def test_events(event: dict[str, Any], text: str) -> None:
    assert event_text(event, AGENTS) == text


def test_all_kinds_of_events_are_above() -> None:
    """Those that INTERFACE.md lists; actions are below."""
    listed = {
        "setup",
        "top",
        "shuffle",
        "black",
        "alea",
        "alea builds",
        "tile to park",
        "auction",
        "won",
        "stop",
        "vp",
        "park",
        "end",
    }
    assert {event["event"] for event, _ in EVENTS} == listed


@pytest.mark.rule("INF-2")
def test_a_drawn_black_card_is_told_to_its_owner_alone() -> None:
    event = {"event": "black", "seat": 1, "card": 6}
    assert event_text(event, seat=1) == "seat 2 draws a black 6"
    assert event_text(event, seat=0) == event_text(event) == "seat 2 draws a black card"
    assert log([event], seat=0) == ["seat 2 draws a black card"]


ACTION_EVENTS = {
    "option A": "takes 3 skyscrapers into the supply",
    "option B gallery": "takes a gallery to place",
    "option C": "takes a black card and an extra move",
    "option D TSQ": "scores TSQ",
    "plot W34 green": "chooses W34 green",
    "plot E52 sixth": "chooses E52 sixth plot",
    "take orange": "takes the top orange card",
    "move white W34": "moves the white commissioner to W34",
    "move beige CITY_HALL": "moves the beige commissioner to City Hall",
    "pass": "passes",
    "bid gray 6": "lays down gray 6",
    "bid black 4": "lays down black 4",
    "bid done": "ends the bid",
    "build 0": "builds nothing",
    "build 1": "builds 1 skyscraper",
    "build 3": "builds 3 skyscrapers",
    "stop": "declares a building stop",
}


@pytest.mark.parametrize("name", ACTION_EVENTS)
def test_actions_that_have_happened(name: str) -> None:
    event = action_event(0, ACTION_NUMBERS[name])
    assert event_text(event, AGENTS) == f"seat 1 (greedy) {ACTION_EVENTS[name]}"


def test_every_action_has_words_of_its_own() -> None:
    assert (
        len({event_text(action_event(0, action)) for action in range(NUM_ACTIONS)}) == NUM_ACTIONS
    )


@pytest.mark.parametrize("event", [{"event": "rain"}, {}, {"event": None}])
def test_unknown_events_are_named(event: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="there is no event"):
        event_text(event)


def test_the_log_puts_together_what_belongs_together() -> None:
    names = ["option B gallery", "plot W34 green", "bid green 4", "bid black 4", "bid done"]
    events = [action_event(0, ACTION_NUMBERS[name]) for name in names]
    events.insert(2, {"event": "auction", "place": "TSQ", "starter": 0})
    events += [
        action_event(1, ACTION_NUMBERS["pass"]),
        {"event": "top", "color": "gray", "card": 4},
    ]
    events += [action_event(0, ACTION_NUMBERS[name]) for name in ("bid black 4", "bid done")]
    events += [
        action_event(1, ACTION_NUMBERS["plot TSQ gray"]),
        {"event": "top", "color": "gray", "card": None},
    ]
    assert log(events, AGENTS) == [
        "seat 1 (greedy) places a gallery on W34 green",
        "TSQ is auctioned; seat 1 (greedy) begins",
        "seat 1 (greedy) bids 8 with green 4 + black 4",
        "seat 2 passes",
        "seat 1 (greedy) bids 12 with green 4 + black 4, 4",
        "seat 2 builds on TSQ gray",
        "the gray stack is empty now",
    ]


@pytest.mark.rule("TURN-5", "INF-1")
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_coloured_cards_that_are_taken_are_told_with_their_values(players: int, side: str) -> None:
    game, player = Game(players, side, 4, max_turns=40), make_agent("crowd")
    taken, halfway, tops = [], 0, tops_of(game.state)
    while not game.is_over:
        top, action, seat = tops_of(game.state), decide_game(game, player), game.seat
        if ACTION_NAMES[action] == "take green":
            taken.append(f"seat {seat + 1} takes green {top['green']}")  # type: ignore[operator]
        if game.turn < 20:
            halfway, tops = len(game.events), top
        game.play(action)
    assert tops_told(game.events[:halfway]) == tops
    lines = [line for line in log(game.events) if " takes green " in line]
    assert lines == taken
    assert len(taken) > 5
    rest = [line for line in log(game.events[halfway:], tops=tops) if " takes green " in line]
    assert rest == taken[len(taken) - len(rest) :] != taken
    assert log([action_event(0, ACTION_NUMBERS["take green"])]) == [
        "seat 1 takes the top green card"
    ]


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_bids_in_the_log_are_the_totals_of_the_game(players: int, side: str) -> None:
    game, player = Game(players, side, 4, max_turns=40), make_agent("crowd")
    totals = []
    while not game.is_over:
        state = game.state
        action = decide_game(game, player)
        if ACTION_NAMES[action] == "bid done":
            totals.append(int(state["bid_total"][state["seat"]]))
        game.play(action)
    logged = [
        int(match[1])
        for line in log(game.events)
        if (match := re.match(r"seat \d bids (\d+) with", line))
    ]
    assert logged == totals
    assert len(totals) > 3


# ---- the rules of what happened ----


def test_every_event_has_rules_that_there_are() -> None:
    ids = set(rule_ids())
    actions = [action_event(0, action) for action in range(NUM_ACTIONS)]
    for event in [*(event for event, _ in EVENTS), *actions]:
        rules = event_rules(event)
        assert rules
        assert ids.issuperset(rules), event
    with pytest.raises(OptionError, match="there is no event"):
        event_rules({"event": "rain"})


GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.mark.parametrize("name", [path.name for path in sorted(GOLDEN.glob("*.jsonl"))])
def test_every_line_of_recorded_games_has_its_rules(name: str) -> None:
    ids = set(rule_ids())
    events = Game.replay(nth_game(GOLDEN / name)).events
    lines = log_lines(events, seat=0)
    assert [line.text for line in lines] == log(events, seat=0)
    assert all(line.rules and ids.issuperset(line.rules) for line in lines)
    (end,) = (line for line in lines if line.text.startswith("the game is over"))
    assert end.rules[-1] == "END-4"
    assert {
        line.rules[0]
        for line in lines
        if " bids " in line.text and not line.text.startswith("Alea")
    } <= {"AUC-3"}
    assert {line.rules[0] for line in lines if re.search("places a .* on", line.text)} <= {"BUS-2"}


def test_things_are_counted() -> None:
    assert [counted(number, "gallery") for number in (0, 1, 2)] == [
        "0 galleries",
        "1 gallery",
        "2 galleries",
    ]
    assert [counted(number, "jeweller") for number in (1, 2)] == ["1 jeweller", "2 jewellers"]


def test_people_count_seats_from_1() -> None:
    assert [seat_name(seat) for seat in (0, 3, -1, ALEA)] == ["seat 1", "seat 4", "Alea", "Alea"]
    assert [seat_label(seat) for seat in (0, 3, -1, ALEA)] == ["1", "4", "A", "A"]
    assert seat_name(1, AGENTS) == "seat 2"
    assert seat_name(2, AGENTS) == "seat 3 (you)"


# ---- actions and reasons, in whole games ----


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_legal_actions_mean_different_things(players: int, side: str) -> None:
    game, player = Game(players, side, 5, max_turns=30), make_agent("crowd")
    while not game.is_over:
        texts = [action_text(game.state, action) for action in game.legal_actions]
        assert len(set(texts)) == len(texts)
        game.play(decide_game(game, player))


@pytest.mark.rule("INF-2")
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_words_are_made_of_what_the_seat_may_know(players: int, side: str) -> None:
    game, player, number, rng = (
        Game(players, side, 6, max_turns=30),
        make_agent("random"),
        0,
        np.random.default_rng(1),
    )
    while game.seat is not None:
        if number % 20 == 0:
            twin = game.copy()
            deal_anew(cast(np.recarray, twin.state), game.seat, rng)
            for action in range(NUM_ACTIONS):
                assert why_illegal(game.state, action) == why_illegal(twin.state, action)
                assert action_text(game.state, action) == action_text(twin.state, action)
        number += 1
        game.play(decide_game(game, player))


# ---- what an action means ----


def test_what_actions_mean() -> None:
    game = table()
    state = game.state
    state["owner"][TSQ], state["floors"][TSQ], state["value"][TSQ] = (
        (0, 1, ALEA, NONE, NONE),
        (2, 1, 1, 0, 0),
        3,
    )
    state["top"][1] = 2
    state["visited"][0], state["markers"][0] = (0, TSQ, NONE), 2
    for name, text in {
        "option A": "option A: take 3 skyscrapers into the supply",
        "option B jeweller": "option B: place a jeweller",
        "option C": "option C: take a black card and move a commissioner at once",
        "option D TSQ": "option D: score TSQ (seat 1 +6, seat 2 +3)",
        "option D W34": "option D: score W34 (nobody gets VP)",
        "take violet": "take violet 6",
        "move white E52": "move the white commissioner to E52",
        "move white CITY_HALL": "move the white commissioner to City Hall: "
        "W34, TSQ and the park area will be auctioned",
        "move beige CITY_HALL": "move the beige commissioner to City Hall: "
        "the park area will be auctioned",
        "plot W34 green": "place a starting skyscraper on W34 green",
    }.items():
        assert action_text(state, ACTION_NUMBERS[name]) == text
    game = bidding(highest=5)
    game.state["bid_total"][0] = 9
    assert action_text(game.state, ACTION_NUMBERS["pass"]) == "pass: leave the auction of TSQ"
    assert action_text(game.state, ACTION_NUMBERS["bid green 4"]) == "lay down green 4 (total 13)"
    assert action_text(game.state, ACTION_NUMBERS["bid done"]) == "bid 9 for TSQ"
    game = building(TSQ, 2, 0)
    game.state["floors"][TSQ, 1] = 4
    assert action_text(game.state, ACTION_NUMBERS["build 2"]) == "build 2 skyscrapers on TSQ brown"
    assert action_text(game.state, ACTION_NUMBERS["build 0"]) == "build nothing on TSQ brown"
    assert (
        action_text(game.state, ACTION_NUMBERS["stop"]) == "declare a building stop in TSQ (4 VP)"
    )
    assert (
        action_text(building(CENTRAL_PARK, 2, 0).state, ACTION_NUMBERS["build 1"])
        == "build 1 skyscraper in the park area"
    )
    placing = table(phase=PHASE_PLOT, business=3)
    assert (
        action_text(placing.state, ACTION_NUMBERS["plot W34 green"])
        == "place the perfumery on W34 green"
    )


@pytest.mark.parametrize("action", [-1, NUM_ACTIONS, True, 1.0, "pass", None])
def test_there_is_no_such_action(action: Any) -> None:
    state = Game(2, seed=1).state
    for function in (action_text, why_illegal):
        with pytest.raises(IllegalActionError, match="action must be a whole number from 0 to 102"):
            function(state, action)


def test_the_situation_in_every_phase() -> None:
    game, player = Game(3, seed=4), make_agent("crowd")
    texts = set()
    while game.seat is not None:
        text = situation(look(game.state))
        assert text.startswith(f"seat {game.seat + 1} ")
        texts.add(
            re.sub(
                r"^seat \d |(W|E)\d\d|TSQ|the park area|boutique|jeweller|gallery|perfumery",
                "",
                text,
            )
        )
        game.play(decide_game(game, player))
    assert texts == {
        *(
            "places the 1st starting skyscraper",
            "places the 2nd starting skyscraper",
            "chooses an option",
            "places a ",
        ),
        *("takes the 1st coloured card", "takes the 2nd coloured card", "moves a commissioner"),
        *("bids for ", "has won the auction of "),
    }
    assert re.match(r"seats? \d", situation(look(game.state)))
