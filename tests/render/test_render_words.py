"""Texts of events, decisions and actions, and the reasons why actions are illegal."""

import json
import re
from typing import Any

import pytest

from scenario import TABLES, put, stages
from skyenv import ACTION_NAMES, Game, IllegalActionError
from skyenv.engine.events import action_event
from skyenv.render.reasons import reason, why_illegal
from skyenv.render.table import visible_table
from skyenv.render.words import (
    Narrator,
    action_text,
    event_rules,
    event_text,
    sentence,
    situation,
)
from skyenv.rules.actions import ACTION_NUMBERS, NUM_ACTIONS
from test_rule_ids import rule_ids

AGENTS = ["greedy", None, "you"]
IDS = set(rule_ids())

# ---- events ----

EVENTS = """
{"event": "setup", "hands": [{}, {}, {}]}
    a new game for 3 players; everybody has a card of each colour and four black ones
{"event": "top", "color": "green", "card": 5}
    green 5 is the new top of its stack
{"event": "top", "color": "green", "card": null}
    the green stack is empty now
{"event": "shuffle"}
    the black stack is shuffled
{"event": "black", "seat": 0, "card": 6}
    greedy draws a black card
{"event": "alea", "cards": [6, 5, 6]}
    Alea bids 17 with black 6, 5, 6
{"event": "alea", "cards": []}
    Alea finds no black card and is out
{"event": "alea builds", "district": "W34", "plots": ["green", "gray"]}
    Alea builds in W34, on green and gray
{"event": "tile to park", "business": "gallery"}
    the last tile of the set, a gallery, goes to the park area
{"event": "auction", "place": "TSQ", "starter": 1}
    TSQ is auctioned; seat 2 begins
{"event": "auction", "place": "CENTRAL_PARK", "starter": 2}
    the park area is auctioned; you begin
{"event": "won", "seat": 1, "total": 12}
    seat 2 wins the auction with 12
{"event": "won", "seat": -1, "total": 12}
    Alea wins the auction with 12
{"event": "won", "seat": null, "total": 0}
    nobody has bid
{"event": "stop", "district": "E52", "seat": 0}
    building stop in E52, by greedy
{"event": "stop", "district": "E52", "seat": -1}
    building stop in E52, by Alea
{"event": "vp", "why": "district", "place": "TSQ", "vp": [3, 0, 5]}
    TSQ is scored: greedy +3, you +5
{"event": "vp", "why": "district", "place": "TSQ", "vp": [0, 0, 0]}
    TSQ is scored: nobody gets VP
{"event": "vp", "why": "stop", "place": "TSQ", "vp": [0, 2, 0]}
    VP for the building stop in TSQ: seat 2 +2
{"event": "vp", "why": "bonus", "place": null, "vp": [4, 0, 0]}
    special points for standing in many districts: greedy +4
{"event": "vp", "why": "final", "place": "W42", "vp": [0, 9, 0]}
    final scoring of W42: seat 2 +9
{"event": "vp", "why": "park", "place": "CENTRAL_PARK", "vp": [0, 9, 0]}
    scoring of the park area: seat 2 +9
{"event": "park", "tiles": ["gallery", "boutique", "gallery"]}
    in the park area gallery, boutique and gallery count
{"event": "park", "tiles": []}
    the park area has no businesses
{"event": "end", "reason": "stops", "scores": [4, 9, 1], "winners": [1]}
    the game is over (the second building stop): seat 2 wins with 9 VP
{"event": "end", "reason": "businesses", "scores": [9, 9, 1], "winners": [0, 1]}
    the game is over (the last business has been placed): greedy and seat 2 share the win \
with 9 VP
{"event": "end", "reason": "truncated", "scores": [4, 9, 1], "winners": [1]}
    the game is over (truncated, as there were too many turns): seat 2 wins with 9 VP
"""
ACTIONS = """
option A: takes 3 skyscrapers into the supply
option B gallery: places a gallery
option C: takes a black card and an extra move
option D TSQ: scores TSQ
plot W34 green: chooses W34 green
plot E52 sixth: chooses E52 sixth plot
take orange: takes the top orange card
move beige CITY_HALL: moves the beige commissioner to City Hall
pass: passes
bid black 4: lays down black 4
bid done: ends the bid
build 0: builds nothing
build 1: builds 1 skyscraper
build 3: builds 3 skyscrapers
stop: declares a building stop
"""


def test_every_event_and_action_has_a_text_and_rules() -> None:
    """All events that INTERFACE.md lists."""
    lines = EVENTS.strip().splitlines()
    events = [json.loads(line) for line in lines[::2]]
    assert [event_text(event, AGENTS) for event in events] == [line.strip() for line in lines[1::2]]
    assert len({event["event"] for event in events}) == 13
    for name, does in (line.split(": ") for line in ACTIONS.strip().splitlines()):
        assert event_text(action_event(1, ACTION_NUMBERS[name])) == f"seat 2 {does}"
    actions = [action_event(0, action) for action in range(NUM_ACTIONS)]
    assert len(set(map(event_text, actions))) == NUM_ACTIONS
    rules = [event_rules(event) for event in (*events, *actions)]
    assert all(told and IDS.issuperset(told) for told in rules)


@pytest.mark.rule("BUS-4", "BUS-5", "STOP-2", "END-2", "END-3")
@pytest.mark.parametrize(
    ("event", "rules"),
    [
        ({"event": "vp", "why": "bonus"}, ["BUS-4"]),
        ({"event": "vp", "why": "stop", "place": "W34"}, ["STOP-2", "STOP-3"]),
        ({"event": "vp", "why": "final", "place": "W34"}, ["END-2", "SCO-2"]),
        ({"event": "vp", "why": "park"}, ["END-3"]),
        ({"event": "end", "reason": "businesses"}, ["BUS-5", "END-4"]),
        ({"event": "end", "reason": "stops"}, ["STOP-6", "END-4"]),
    ],
    ids=lambda value: "-".join(value.values()) if isinstance(value, dict) else None,
)
def test_scorings_and_ends_name_their_own_rules(event: dict[str, Any], rules: list[str]) -> None:
    assert list(event_rules({"vp": [4, 0], "winners": [0], "place": "", **event})) == rules


def test_the_log_merges_actions_of_one_choice() -> None:
    """A black card's value is shown to its owner only (INF-2)."""

    def act(seat: int, *names: str) -> list[dict[str, Any]]:
        return [action_event(seat, ACTION_NUMBERS[name]) for name in names]

    tops = {"green": 6, "violet": 5, "brown": 4, "orange": 4, "gray": 5}
    events = [
        {"event": "setup", "hands": [{}, {}, {}], "tops": tops},
        *act(2, "take green"),
        *act(0, "option B gallery", "plot W34 green"),
        {"event": "auction", "place": "TSQ", "starter": 0},
        *act(0, "bid green 4", "bid black 4", "bid done"),
        *act(1, "pass"),
        {"event": "top", "color": "gray", "card": 4},
        *act(0, "bid black 4", "bid done"),
        *act(1, "plot TSQ gray", "take gray"),
        {"event": "top", "color": "gray", "card": None},
        {"event": "auction", "place": "CENTRAL_PARK", "starter": 0},
        *act(0, "bid green 5", "bid done"),
        {"event": "black", "seat": 1, "card": 6},
    ]
    lines = Narrator(AGENTS, seat=0).lines(events)
    assert [line.text for line in lines[1:]] == [
        "You take green 6",
        "greedy places a gallery on W34 green",
        "TSQ is auctioned; greedy begins",
        "greedy bids 8 with green 4 + black 4",
        "seat 2 passes",
        "greedy bids 12 with green 4 + black 4, 4",
        "seat 2 builds on TSQ gray",
        "seat 2 takes gray 4",
        "the gray stack is empty now",
        "the park area is auctioned; greedy begins",
        "greedy bids 5 with green 5",
        "seat 2 draws a black card",
    ]
    assert Narrator(seat=1).lines(events)[-1].text == "seat 2 draws a black 6"
    assert all(line.rules and IDS.issuperset(line.rules) for line in lines)


# ---- decisions, actions and reasons in whole games ----


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_a_reason_is_given_exactly_for_illegal_actions(players: int, side: str) -> None:
    """Reasons name existing rules, texts of legal actions differ, and every decision has a
    sentence.
    """
    decisions = ""
    for game in stages(players, side, "crowd", 3, every=2, max_turns=40):
        view, legal = game.view() if game.seat is not None else game.state, game.legal_actions
        decisions += (
            f"{situation(visible_table(game.state))}: {sentence(visible_table(view), [], legal)}\n"
        )
        assert len({action_text(view, action) for action in legal}) == len(legal)
        for action in range(NUM_ACTIONS):
            why = reason(visible_table(view), action)
            assert (why is None) == bool(game.mask[action]), (ACTION_NAMES[action], why)
            assert why is None or (why.rules and IDS.issuperset(why.rules))
            assert "-1" not in action_text(view, action) + why_illegal(view, action)
    assert re.fullmatch(r"(seat \d .*: [A-Z].*: .*\.\n)*seat .*: Seat .*\.\n", decisions)
    for decision in ("starting", "an option", "two", "a second", "bids", "has won"):
        assert decision in decisions


# Why actions aren't legal in a position, and, behind a =, what they mean.
TOLD = """
general.0=0 row.0=0 row.1=0 row.2=2 stopped.TSQ=1
    option A: your general supply is empty
    option B jeweller: there is no jeweller in the current set
    option D TSQ: TSQ is stopped
    option D W42: no commissioner stands in W42
    take green: choose an option first: A, B, C or D
stopped=1 row.0=0
    option B boutique: no plot takes a business
phase=plot stopped.TSQ=1 owner.0.0=4 tiles.0.1=1,1,0,0
    plot TSQ green: TSQ is stopped
    plot W34 green: skyscrapers stand on W34 green
    plot W34 violet: W34 violet has two businesses already
    plot W34 sixth: the front side of the board has no sixth plots
    option A: choose the plot of the business first
phase=take top.2=-1
    take brown: the brown stack is empty
    take gray: cards are taken in the order of the colours: gray comes second, behind another colour
phase=take first_colour=3
    take orange: the second card must have another colour
    take green: cards are taken in the order of the colours: after orange comes no green
    stop: take a coloured card first
phase=move place=8,7 stopped.W34=1
    move white W34: W34 is stopped and can't be visited
    move white E52: from City Hall the white commissioner can only go to E34 or W42 or TSQ
    move white CITY_HALL: the white commissioner is in City Hall already
    move beige TSQ: from Central Park the beige commissioner can only go to City Hall
    bid done: move a commissioner first
BIDDING highest=12 highest_bidder=1 tiles.TSQ.4.0=1
    bid black 4: the first card must be a coloured one
    bid gray 4: only the colour of an empty plot: green or violet or brown or orange
    bid green 5: you have no green 5
    bid green 4: the bid must exceed 12, and would end at 8 at the most
    bid done: the bid must exceed 12
    build 1: there is an auction: bid or pass
BIDDING highest=12 highest_bidder=1 owner.TSQ=1,0,4,4,4
    bid green 4: you stand on violet: only that colour
BIDDING highest=12 highest_bidder=1 owner.TSQ=1,2,4,4,4
    bid green 4: no colour is allowed: skyscrapers of others stand on every plot
BIDDING highest=12 highest_bidder=1 owner.TSQ=1,-1,4,4,4 tiles.TSQ.1.0=1
    bid green 4: only the colour of a plot with businesses: violet
BIDDING hand.0.0=1,1,0 laid=1 bid_colour.0=0 bid_total.0=5
    pass: you have laid down cards: end the bid first
    bid green 4: cards are laid down in the order coloured 4, 5, 6, black 4, 5, 6
    bid violet 4: your bid is in green: only green or black
BIDDING auction_place=7 park_colour=3
    bid green 4: the park area's auction is in orange
BUILDING auction_place=7
    stop: there is no building stop in the park area
BUILDING supply.0=3
    build 3: your highest card allows 2 skyscrapers
BUILDING
    build 2: you have 1 skyscraper in your supply
    stop: TSQ has an empty plot: no building stop
    pass: you have won the auction: build, or declare a building stop if you may
BUILDING owner.TSQ=-1,1,4,4,4 tiles.TSQ.0.0=1
    build 1: you have no plot in TSQ: you must declare a building stop
phase=start owner.W34=0,1,-1,-1,-1 tiles.W42.3.1=1
    plot W34 gray: you stand in W34 already; the second skyscraper goes to another district
    plot E34 sixth: the front side of the board has no sixth plots
    plot W42 orange: W42 orange has a business
    pass: place a starting skyscraper first
side=1 phase=start owner.E34.2=1
    plot E34 sixth: no skyscraper ever stands on the sixth plot
    plot E34 brown: seat 2 stands on E34 brown
owner.TSQ=0,1,4,-1,-1 floors.TSQ=2,1,1,0,0 tiles.TSQ.4=1,0,1,0 top.1=2 visited.0=0,3,-1
    = option A: option A: take 3 skyscrapers into the supply
    = option B jeweller: option B: place a jeweller
    = option D TSQ: option D: score TSQ (seat 1 +6, seat 2 +1)
    = option D W34: option D: score W34 (nobody gets VP)
    = take violet: take violet 6
    = move white E52: move the white commissioner to E52
    = move white CITY_HALL: move the white commissioner to City Hall: W34, TSQ and the park area \
will be auctioned
    = plot W34 green: place a starting skyscraper on W34 green
general.0=1
    = option A: option A: take 1 skyscraper into the supply
BIDDING bid_total.0=9
    = pass: pass: leave the auction of TSQ
    = bid green 4: lay down green 4 (total 13)
    = bid done: bid 9 for TSQ
BUILDING bid_colour.0=2 floors.TSQ.1=4
    = build 2: build 2 skyscrapers on TSQ brown
    = build 0: build nothing on TSQ brown
    = stop: declare a building stop in TSQ (4 VP)
BUILDING auction_place=7
    = build 1: build 1 skyscraper in the park area
phase=plot business=3
    = plot W34 green: place the perfumery on W34 green
"""
SHORT = {
    "BIDDING": "phase=bid auction_place=TSQ auction_commissioner=0 laid=-1 hand.0=1,0,0",
    "BUILDING": "phase=build auction_place=TSQ highest_bidder=0 supply.0=1 bid_colour.0=0"
    " bid_cards.0.0.1=1",
}


def table(fields: str) -> Game:
    """Return a 3-player game with seat 0 to act on an empty board, without businesses and cards
    except those of the fields.
    """
    game = Game(3, seed=1)
    while game.phase == "start":
        game.play(game.legal_actions[0])
    state: Any = game.state
    state["owner"], state["floors"], state["tiles"], state["hand"], state["known"] = -1, 0, 0, 0, 0
    put(game, " ".join(SHORT.get(word, word) for word in fields.split()))
    game.refresh()
    return game


@pytest.mark.parametrize("told", re.split(r"\n(?=\S)", TOLD.strip()))
def test_texts_and_reasons_of_actions(told: str) -> None:
    """The action mask agrees with every reason."""
    fields, *lines = told.split("\n    ")
    game = table(fields)
    for line in lines:
        name, text = line.removeprefix("= ").split(": ", 1)
        action = ACTION_NUMBERS[name]
        if line.startswith("= "):
            assert action_text(game.state, action) == text
        else:
            assert (why_illegal(game.state, action), game.mask[action]) == (text, 0)
    assert why_illegal(game.view(1), 0) == "not your turn: seat 1 is to act"


@pytest.mark.parametrize("action", [-1, NUM_ACTIONS, True, "pass"])
@pytest.mark.parametrize("function", [action_text, why_illegal])
def test_invalid_actions_are_refused(function: Any, action: Any) -> None:
    with pytest.raises(IllegalActionError, match="action must be a whole number from 0 to 102"):
        function(Game(2, seed=1).state, action)
