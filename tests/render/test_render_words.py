"""The game in words: every event, every decision, every action, and why one isn't legal."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from skyenv import ACTION_NAMES, Game, IllegalActionError, OptionError, make_agent
from skyenv.agents import decide_game
from skyenv.engine.events import action_event
from skyenv.records import nth_game
from skyenv.render.reasons import reason, why_illegal
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
    sentence,
    situation,
    tops_of,
    tops_told,
)
from skyenv.rules.actions import ACTION_NUMBERS, NUM_ACTIONS
from skyenv.rules.components import CENTRAL_PARK, CITY_HALL, DISTRICTS
from skyenv.rules.state import (
    ALEA,
    NONE,
    PHASE_BID,
    PHASE_BUILD,
    PHASE_MOVE,
    PHASE_OPTION,
    PHASE_PLOT,
    PHASE_TAKE,
)
from test_rule_ids import rule_ids

AGENTS = ["greedy", None, "you"]
TABLES = [(2, "front"), (3, "back"), (4, "front")]
GOLDEN = Path(__file__).parents[1] / "golden"
IDS = set(rule_ids())
TSQ = DISTRICTS.index("TSQ")

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


ACTION_EVENTS = {
    "option A": "takes 3 skyscrapers into the supply",
    "option B gallery": "places a gallery",
    "option C": "takes a black card and an extra move",
    "option D TSQ": "scores TSQ",
    "plot W34 green": "chooses W34 green",
    "plot E52 sixth": "chooses E52 sixth plot",
    "take orange": "takes the top orange card",
    "move white W34": "moves the white commissioner to W34",
    "move beige CITY_HALL": "moves the beige commissioner to City Hall",
    "pass": "passes",
    "bid black 4": "lays down black 4",
    "bid done": "ends the bid",
    "build 0": "builds nothing",
    "build 1": "builds 1 skyscraper",
    "build 3": "builds 3 skyscrapers",
    "stop": "declares a building stop",
}


def test_events() -> None:
    """All that INTERFACE.md lists, with rules that there are; actions tell what they do."""
    for event, text in EVENTS:
        assert event_text(event, AGENTS) == text
        assert event_rules(event)
        assert IDS.issuperset(event_rules(event))
    assert len({event["event"] for event, _ in EVENTS}) == 13
    for name, text in ACTION_EVENTS.items():
        assert (
            event_text(action_event(0, ACTION_NUMBERS[name]), AGENTS) == f"seat 1 (greedy) {text}"
        )
    actions = [action_event(0, action) for action in range(NUM_ACTIONS)]
    assert len({event_text(action) for action in actions}) == NUM_ACTIONS
    assert all(IDS.issuperset(event_rules(action)) for action in actions)
    for wrong in ({"event": "rain"}, {}):
        with pytest.raises(OptionError, match="there is no event"):
            event_text(wrong)


@pytest.mark.rule("INF-2")
def test_a_drawn_black_card_is_told_to_its_owner_alone() -> None:
    event = {"event": "black", "seat": 1, "card": 6}
    assert event_text(event, seat=1) == "seat 2 draws a black 6"
    assert event_text(event, seat=0) == event_text(event) == "seat 2 draws a black card"
    assert log([event], seat=0) == ["seat 2 draws a black card"]


def test_the_log_puts_together_what_belongs_together() -> None:
    def act(seat: int, *names: str) -> list[dict[str, Any]]:
        return [action_event(seat, ACTION_NUMBERS[name]) for name in names]

    events = [
        *act(0, "option B gallery", "plot W34 green"),
        {"event": "auction", "place": "TSQ", "starter": 0},
        *act(0, "bid green 4", "bid black 4", "bid done"),
        *act(1, "pass"),
        {"event": "top", "color": "gray", "card": 4},
        *act(0, "bid black 4", "bid done"),
        *act(1, "plot TSQ gray", "take gray"),
        {"event": "top", "color": "gray", "card": None},
    ]
    assert log(events, AGENTS) == [
        "seat 1 (greedy) places a gallery on W34 green",
        "TSQ is auctioned; seat 1 (greedy) begins",
        "seat 1 (greedy) bids 8 with green 4 + black 4",
        "seat 2 passes",
        "seat 1 (greedy) bids 12 with green 4 + black 4, 4",
        "seat 2 builds on TSQ gray",
        "seat 2 takes gray 4",
        "the gray stack is empty now",
    ]


@pytest.mark.rule("TURN-5", "INF-1")
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_cards_and_bids_in_the_log_are_those_of_the_game(players: int, side: str) -> None:
    """Also from halfway on, if the tops of the stacks are told."""
    game, player = Game(players, side, 4, max_turns=40), make_agent("crowd")
    expected, halfway, tops = [], 0, tops_of(game.state)
    while not game.is_over:
        action, name = decide_game(game, player), f"seat {(game.seat or 0) + 1}"
        if ACTION_NAMES[action] == "bid done":
            expected.append(f"{name} bids {game.state['bid_total'][game.seat]}")
        if ACTION_NAMES[action] == "take green":
            expected.append(f"{name} takes green {tops_of(game.state)['green']}")
        if game.phase == "option" and game.turn < 20:
            halfway, tops = len(game.events), tops_of(game.state)
        game.play(action)
    told = [re.match(r"seat \d (bids \d+|takes green \d)", line) for line in log(game.events)]
    assert [match[0] for match in told if match] == expected
    assert tops_told(game.events[:halfway]) == tops
    rest = log(game.events[halfway:], tops=tops)
    assert log(game.events)[-len(rest) :] == rest


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.jsonl")), ids=lambda path: path.stem)
def test_every_line_of_recorded_games_has_its_rules(path: Path) -> None:
    lines = log_lines(Game.replay(nth_game(path)).events, seat=0)
    assert all(line.rules and IDS.issuperset(line.rules) for line in lines)
    for pattern, rule in (
        (r"seat \d bids ", "AUC-3"),
        (" places a .* on", "BUS-2"),
        ("City Hall$", "MOVE-4"),
        (r"seat \d wins the auction", "AUC-8"),
    ):
        rules = {line.rules[0] for line in lines if re.search(pattern, line.text)}
        assert rules <= {rule}
    assert lines[-1].rules[-1] == "END-4"


def test_things_are_counted_and_seats_from_1() -> None:
    assert [counted(number, "gallery") for number in (0, 1)] == ["0 galleries", "1 gallery"]
    assert counted(2, "jeweller") == "2 jewellers"
    assert [seat_name(seat, AGENTS) for seat in (1, 2, -1, ALEA)] == [
        *("seat 2", "seat 3 (you)", "Alea", "Alea")
    ]
    assert [seat_label(seat) for seat in (0, 3, -1, ALEA)] == ["1", "4", "A", "A"]


# ---- decisions, actions and reasons in whole games ----


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_a_reason_is_given_exactly_for_illegal_actions(players: int, side: str) -> None:
    """With rules that there are; every action means something, and legal ones different things.
    Every decision is told in the third person and as a sentence.
    """
    game, player, number = Game(players, side, 3, max_turns=40), make_agent("crowd"), 0
    decisions = set()
    while game.seat is not None:
        told, asked = (
            situation(look(game.state)),
            sentence(look(game.view()), [], game.legal_actions),
        )
        assert told.startswith(f"seat {game.seat + 1} ")
        assert re.fullmatch(r"[A-Z].*: .*\.", asked)
        decisions.add(
            re.sub(r"[WE]\d\d|TSQ|the park area|boutique|jeweller|gallery|perfumery", "", told[7:])
        )
        if number % 7 == 0 or game.phase in ("build", "plot"):
            view = game.view()
            texts = [action_text(view, action) for action in game.legal_actions]
            assert len(set(texts)) == len(texts)
            for action in range(NUM_ACTIONS):
                why, text = reason(look(view), action), action_text(view, action)
                assert (why is None) == bool(game.mask[action]), (ACTION_NAMES[action], why)
                assert why is None or (why.rules and IDS.issuperset(why.rules))
                assert why_illegal(view, action) == ("" if why is None else why.text)
                assert text
                assert "-1" not in text + why_illegal(view, action)
        number += 1
        game.play(decide_game(game, player))
    assert decisions >= {
        "places the 1st starting skyscraper",
        "places the 2nd starting skyscraper",
        "chooses an option",
        "takes two coloured cards",
        "takes a second coloured card",
        "moves a commissioner",
        "bids for ",
        "has won the auction of ",
    }
    assert {why_illegal(game.state, action) for action in (0, 50, 102)} == {"the game is over"}


def table(**fields: Any) -> Game:
    """A 3-player game, seat 0 on turn, with an empty board, no businesses and no cards."""
    game = Game(3, seed=1)
    while game.phase == "start":
        game.play(game.legal_actions[0])
    state = game.state
    state["owner"][:], state["floors"][:], state["tiles"][:] = NONE, 0, 0
    state["hand"][:], state["known"][:] = 0, 0
    for name, value in fields.items():
        field, _, index = name.partition("__")
        if index:
            state[field][tuple(map(int, index.split("_")))] = value
        else:
            state[field] = value
    return game


BIDDING: dict[str, Any] = {
    **{"phase": PHASE_BID, "auction_place": TSQ, "auction_commissioner": 0, "laid": NONE},
    **{f"hand__0_{colour}": (1, 0, 0) for colour in range(6)},
}
BEYOND = BIDDING | {"highest": 12, "highest_bidder": 1}
BUILDING: dict[str, Any] = {
    **{"phase": PHASE_BUILD, "auction_place": TSQ, "highest_bidder": 0, "supply__0": 1},
    **{"bid_colour__0": 0, "bid_cards__0_0_1": 1},
}
LAID = BIDDING | {"hand__0_0": (1, 1, 0), "laid": 1, "bid_colour__0": 0, "bid_total__0": 5}
IN_PARK = {"auction_place": CENTRAL_PARK}

REASONS: list[tuple[dict[str, Any], dict[str, str]]] = [
    (
        {"general__0": 0, "row__0": 0, "row__1": 0, "row__2": 1, f"stopped__{TSQ}": 1},
        {
            "option A": "your general supply is empty",
            "option B gallery": "there is no gallery in the current set",
            "option D TSQ": "TSQ is stopped",
            "option D W42": "no commissioner stands in W42",
            "take green": "choose an option first: A, B, C or D",
        },
    ),
    ({"stopped": 1, "row__0": 0}, {"option B boutique": "no plot takes a business"}),
    (
        {"phase": PHASE_PLOT, f"stopped__{TSQ}": 1, "owner__0_0": ALEA, "tiles__0_1": (1, 1, 0, 0)},
        {
            "plot TSQ green": "TSQ is stopped",
            "plot W34 green": "skyscrapers stand on W34 green",
            "plot W34 violet": "W34 violet has two businesses already",
            "plot W34 sixth": "the front side of the board has no sixth plots",
            "option A": "choose the plot of the business first",
        },
    ),
    (
        {"phase": PHASE_TAKE, "top__2": NONE},
        {
            "take brown": "the brown stack is empty",
            "take gray": "cards are taken in the order of the colours: gray comes second, behind "
            "another colour",
        },
    ),
    (
        {"phase": PHASE_TAKE, "first_colour": 3},
        {
            "take orange": "the second card must have another colour",
            "take green": "cards are taken in the order of the colours: after orange comes no "
            "green",
            "stop": "take a coloured card first",
        },
    ),
    (
        {"phase": PHASE_MOVE, "place": (CITY_HALL, CENTRAL_PARK), "stopped__0": 1},
        {
            "move white W34": "W34 is stopped and can't be visited",
            "move white E52": "from City Hall the white commissioner can only go to E34 or W42 or "
            "TSQ",
            "move white CITY_HALL": "the white commissioner is in City Hall already",
            "move beige TSQ": "from Central Park the beige commissioner can only go to City Hall",
            "bid done": "move a commissioner first",
        },
    ),
    (
        BEYOND | {f"tiles__{TSQ}_4_0": 1},
        {
            "bid black 4": "the first card must be a coloured one",
            "bid gray 4": "only the colour of an empty plot: green or violet or brown or orange",
            "bid green 5": "you have no green 5",
            "bid green 4": "the bid must exceed 12, and would end at 8 at the most",
            "bid done": "the bid must exceed 12",
            "build 1": "there is an auction: bid or pass",
        },
    ),
    (
        BEYOND | {f"owner__{TSQ}": (1, 0, ALEA, ALEA, ALEA)},
        {"bid green 4": "you stand on violet: only that colour"},
    ),
    (
        BEYOND | {f"owner__{TSQ}": (1, 2, ALEA, ALEA, ALEA)},
        {"bid green 4": "no colour is allowed: skyscrapers of others stand on every plot"},
    ),
    (
        BEYOND | {f"owner__{TSQ}": (1, NONE, ALEA, ALEA, ALEA), f"tiles__{TSQ}_1_0": 1},
        {"bid green 4": "only the colour of a plot with businesses: violet"},
    ),
    (
        LAID,
        {
            "pass": "you have laid down cards: end the bid first",
            "bid green 4": "cards are laid down in the order coloured 4, 5, 6, black 4, 5, 6",
            "bid violet 4": "your bid is in green: only green or black",
        },
    ),
    (
        BIDDING | IN_PARK | {"park_colour": 3},
        {"bid green 4": "the park area's auction is in orange"},
    ),
    (BUILDING | IN_PARK, {"stop": "there is no building stop in the park area"}),
    (
        BUILDING,
        {
            "build 3": "your highest card allows 2 skyscrapers",
            "build 2": "you have 1 skyscraper in your supply",
            "stop": "TSQ has an empty plot: no building stop",
            "pass": "you have won the auction: build, or declare a building stop if you may",
        },
    ),
    (
        BUILDING | {f"owner__{TSQ}": (NONE, 1, ALEA, ALEA, ALEA), f"tiles__{TSQ}_0_0": 1},
        {"build 1": "you have no plot in TSQ: you must declare a building stop"},
    ),
]


@pytest.mark.rule("TURN-2", "TURN-3", "TURN-4", "BUS-1", "BUS-2", "SCO-1", "MOVE-1", "MOVE-3")
@pytest.mark.rule("MOVE-4", "AUC-2", "AUC-3", "AUC-4", "AUC-5", "AUC-10", "AUC-12", "STOP-1")
@pytest.mark.parametrize(("fields", "expected"), REASONS)
def test_reasons(fields: dict[str, Any], expected: dict[str, str]) -> None:
    """The mask must agree that there is one."""
    game = table(**fields)
    game.refresh()
    for name, text in expected.items():
        assert not game.mask[ACTION_NUMBERS[name]]
        assert why_illegal(game.state, ACTION_NUMBERS[name]) == text


@pytest.mark.rule("SET-8")
def test_reasons_at_the_start() -> None:
    game, back = Game(2, "front", 1), Game(2, "back", 1)
    game.state["owner"][0, :2], game.state["tiles"][2] = (0, 1), 0
    game.state["tiles"][2, 3, 1], back.state["owner"][1, 2] = 1, 1
    stand = "you stand in W34 already; the second skyscraper goes to another district"
    for position, name, text in (
        (game, "plot W34 gray", stand),
        (game, "plot E34 sixth", "the front side of the board has no sixth plots"),
        (game, "plot W42 orange", "W42 orange has a business"),
        (game, "pass", "place a starting skyscraper first"),
        (back, "plot E34 sixth", "no skyscraper ever stands on the sixth plot"),
        (back, "plot E34 brown", "seat 2 stands on E34 brown"),
    ):
        assert why_illegal(position.state, ACTION_NUMBERS[name]) == text
    other = 1 - (game.seat or 0)
    whose = f"not your turn: {seat_name(game.seat or 0)} is to act"
    assert why_illegal(game.view(other), 0) == whose


MEANINGS: list[tuple[dict[str, Any], dict[str, str]]] = [
    (
        {
            "phase": PHASE_OPTION,
            f"owner__{TSQ}": (0, 1, ALEA, NONE, NONE),
            f"floors__{TSQ}": (2, 1, 1, 0, 0),
            f"value__{TSQ}": 3,
            "top__1": 2,
            "visited__0": (0, TSQ, NONE),
        },
        {
            "option A": "option A: take 3 skyscrapers into the supply",
            "option B jeweller": "option B: place a jeweller",
            "option C": "option C: take a black card and an extra move",
            "option D TSQ": "option D: score TSQ (seat 1 +6, seat 2 +3)",
            "option D W34": "option D: score W34 (nobody gets VP)",
            "take violet": "take violet 6",
            "move white E52": "move the white commissioner to E52",
            "move white CITY_HALL": "move the white commissioner to City Hall: "
            "W34, TSQ and the park area will be auctioned",
            "move beige CITY_HALL": "move the beige commissioner to City Hall: "
            "the park area will be auctioned",
            "plot W34 green": "place a starting skyscraper on W34 green",
        },
    ),
    (
        BIDDING | {"bid_total__0": 9},
        {
            "pass": "pass: leave the auction of TSQ",
            "bid green 4": "lay down green 4 (total 13)",
            "bid done": "bid 9 for TSQ",
        },
    ),
    (
        BUILDING | {"bid_colour__0": 2, f"floors__{TSQ}_1": 4},
        {
            "build 2": "build 2 skyscrapers on TSQ brown",
            "build 0": "build nothing on TSQ brown",
            "stop": "declare a building stop in TSQ (4 VP)",
        },
    ),
    (BUILDING | IN_PARK, {"build 1": "build 1 skyscraper in the park area"}),
    (
        {"phase": PHASE_PLOT, "business": 3},
        {"plot W34 green": "place the perfumery on W34 green"},
    ),
]


@pytest.mark.parametrize(("fields", "expected"), MEANINGS)
def test_what_actions_mean(fields: dict[str, Any], expected: dict[str, str]) -> None:
    state = table(**fields).state
    assert {name: action_text(state, ACTION_NUMBERS[name]) for name in expected} == expected


@pytest.mark.parametrize("action", [-1, NUM_ACTIONS, True, "pass"])
def test_there_is_no_such_action(action: Any) -> None:
    for function in (action_text, why_illegal):
        with pytest.raises(IllegalActionError, match="action must be a whole number from 0 to 102"):
            function(Game(2, seed=1).state, action)
