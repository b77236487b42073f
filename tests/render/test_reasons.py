"""Why an action isn't legal: a reason for every illegal action, and none for others."""

from __future__ import annotations

import pytest
from at_a_phase import TSQ, bidding, building, table

from skyenv import ACTION_NAMES, Game, make_agent
from skyenv.agents import decide_game
from skyenv.render import reasons
from skyenv.render.reasons import why_illegal
from skyenv.render.words import action_text
from skyenv.rules.actions import ACTION_NUMBERS, NUM_ACTIONS
from skyenv.rules.components import CENTRAL_PARK, CITY_HALL
from skyenv.rules.state import ALEA, NONE, PHASE_MOVE, PHASE_PLOT, PHASE_TAKE
from test_rule_ids import rule_ids

TABLES = [(2, "front"), (3, "back")]


@pytest.mark.parametrize("agent", ["crowd", "hoard"])
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_a_reason_is_given_exactly_for_illegal_actions(players: int, side: str, agent: str) -> None:
    """In every position, with rules that there are; and every action means something there."""
    game, player, number, ids = (
        Game(players, side, 3, max_turns=50),
        make_agent(agent),
        0,
        set(rule_ids()),
    )
    while not game.is_over:
        if number % 5 == 0 or game.phase == "build":
            view, mask = game.view(), game.mask
            for action in range(NUM_ACTIONS):
                why = reasons.reason(view, action)
                reason = why_illegal(view, action)
                assert reason == ("" if why is None else why.text)
                assert (why is None) == bool(mask[action]), (ACTION_NAMES[action], reason)
                assert why is None or (why.rules and ids.issuperset(why.rules))
                assert "\n" not in reason
                text = action_text(view, action)
                assert text
                assert "-1" not in text + reason
        number += 1
        game.play(decide_game(game, player))
    assert {why_illegal(game.state, action) for action in range(NUM_ACTIONS)} == {
        "the game is over"
    }


def test_another_seat_is_told_whose_turn_it_is() -> None:
    game = Game(3, seed=1)
    game.play(game.legal_actions[0])
    assert game.seat == 2
    assert {why_illegal(game.view(0), action) for action in range(NUM_ACTIONS)} == {
        "not your turn: seat 3 is to act"
    }


def reason(game: Game, name: str) -> str:
    """The reason; the mask must agree that there is one, and RULES.md that there are its rules."""
    game.refresh()
    assert not game.mask[ACTION_NUMBERS[name]]
    why = reasons.reason(game.state, ACTION_NUMBERS[name])
    assert why is not None
    assert why.text == why_illegal(game.state, ACTION_NUMBERS[name])
    assert set(rule_ids()).issuperset(why.rules)
    return why.text


@pytest.mark.rule("SET-8")
def test_reasons_at_the_start() -> None:
    game = Game(2, "front", 1)
    game.state["owner"][0, 0], game.state["owner"][0, 1] = 0, 1
    assert (
        reason(game, "plot W34 gray")
        == "you stand in W34 already; the second skyscraper goes to another district"
    )
    assert reason(game, "plot E34 sixth") == "the front side of the board has no sixth plots"
    back = Game(2, "back", 1)
    assert reason(back, "plot E34 sixth") == "no skyscraper ever stands on the sixth plot"
    back.state["owner"][1, 2] = 1
    assert reason(back, "plot E34 brown") == "seat 2 stands on E34 brown"
    game.state["tiles"][2] = 0
    game.state["tiles"][2, 3, 1] = 1
    assert reason(game, "plot W42 orange") == "W42 orange has a business"
    assert reason(game, "pass") == "place a starting skyscraper first"


@pytest.mark.rule("TURN-2", "TURN-3", "BUS-1", "SCO-1")
def test_reasons_for_options() -> None:
    game = table()
    game.state["general"][0] = 0
    game.state["row"][:3] = (0, 0, 1)
    game.state["stopped"][TSQ] = 1
    assert reason(game, "option A") == "your general supply is empty"
    assert reason(game, "option B gallery") == "there is no gallery in the current set"
    assert reason(game, "option D TSQ") == "TSQ is stopped"
    assert reason(game, "option D W42") == "no commissioner stands in W42"
    assert reason(game, "take green") == "choose an option first: A, B, C or D"
    game.state["stopped"][:] = 1
    assert reason(game, "option B boutique") == "no plot takes a business"


@pytest.mark.rule("BUS-2")
def test_reasons_for_plots() -> None:
    game = table(phase=PHASE_PLOT, business=1)
    state = game.state
    state["stopped"][TSQ] = 1
    state["owner"][0, 0] = ALEA
    state["tiles"][0, 1] = (1, 1, 0, 0)
    assert reason(game, "plot TSQ green") == "TSQ is stopped"
    assert reason(game, "plot W34 green") == "skyscrapers stand on W34 green"
    assert reason(game, "plot W34 violet") == "W34 violet has two businesses already"
    assert reason(game, "plot W34 sixth") == "the front side of the board has no sixth plots"
    assert reason(game, "option A") == "choose the plot of the business first"


@pytest.mark.rule("TURN-4")
def test_reasons_for_cards() -> None:
    game = table(phase=PHASE_TAKE)
    game.state["top"][2] = NONE
    assert reason(game, "take brown") == "the brown stack is empty"
    assert (
        reason(game, "take gray")
        == "cards are taken in the order of the colours: gray comes second, behind another colour"
    )
    game.state["first_colour"] = 3
    assert reason(game, "take orange") == "the second card must have another colour"
    assert (
        reason(game, "take green")
        == "cards are taken in the order of the colours: after orange comes no green"
    )
    assert reason(game, "stop") == "take a coloured card first"


@pytest.mark.rule("MOVE-1", "MOVE-3", "MOVE-4")
def test_reasons_for_moves() -> None:
    game = table(phase=PHASE_MOVE)
    game.state["place"][:] = (CITY_HALL, CENTRAL_PARK)
    game.state["stopped"][0] = 1
    assert reason(game, "move white W34") == "W34 is stopped and can't be visited"
    assert (
        reason(game, "move white E52")
        == "from City Hall the white commissioner can only go to E34 or W42 or TSQ"
    )
    assert reason(game, "move white CITY_HALL") == "the white commissioner is in City Hall already"
    assert (
        reason(game, "move beige TSQ")
        == "from Central Park the beige commissioner can only go to City Hall"
    )
    assert reason(game, "bid done") == "move a commissioner first"


@pytest.mark.rule("AUC-3", "AUC-4", "AUC-5")
def test_reasons_for_bids() -> None:
    game = bidding(highest=12, highest_bidder=1)
    state = game.state
    state["tiles"][TSQ, 4, 0] = 1
    assert reason(game, "bid black 4") == "the first card must be a coloured one"
    assert (
        reason(game, "bid gray 4")
        == "only the colour of an empty plot: green or violet or brown or orange"
    )
    assert reason(game, "bid green 5") == "you have no green 5"
    assert reason(game, "bid green 4") == "the bid must exceed 12, and would end at 8 at the most"
    assert reason(game, "bid done") == "the bid must exceed 12"
    assert reason(game, "build 1") == "there is an auction: bid or pass"
    state["owner"][TSQ] = (1, 0, ALEA, ALEA, ALEA)
    assert reason(game, "bid green 4") == "you stand on violet: only that colour"
    state["owner"][TSQ] = (1, 2, ALEA, ALEA, ALEA)
    assert (
        reason(game, "bid green 4")
        == "no colour is allowed: skyscrapers of others stand on every plot"
    )
    state["owner"][TSQ, 1], state["tiles"][TSQ, 1, 0] = NONE, 1
    assert reason(game, "bid green 4") == "only the colour of a plot with businesses: violet"


@pytest.mark.rule("AUC-2", "AUC-4")
def test_reasons_while_cards_are_laid_down() -> None:
    game = bidding()
    state = game.state
    state["hand"][0, 0] = (1, 1, 0)
    state["laid"], state["bid_colour"][0], state["bid_total"][0] = 1, 0, 5
    assert reason(game, "pass") == "you have laid down cards: end the bid first"
    assert (
        reason(game, "bid green 4")
        == "cards are laid down in the order coloured 4, 5, 6, black 4, 5, 6"
    )
    assert reason(game, "bid violet 4") == "your bid is in green: only green or black"


@pytest.mark.rule("AUC-12")
def test_reasons_in_the_park_area() -> None:
    game = bidding(CENTRAL_PARK, park_colour=3)
    assert reason(game, "bid green 4") == "the park area's auction is in orange"
    game = building(CENTRAL_PARK, 0, 0)
    assert reason(game, "stop") == "there is no building stop in the park area"


@pytest.mark.rule("AUC-10", "STOP-1")
def test_reasons_for_building() -> None:
    game = building(TSQ, 0, 1, supply=1)
    assert reason(game, "build 3") == "your highest card allows 2 skyscrapers"
    assert reason(game, "build 2") == "you have 1 skyscraper in your supply"
    assert reason(game, "stop") == "TSQ has an empty plot: no building stop"
    assert (
        reason(game, "pass")
        == "you have won the auction: build, or declare a building stop if you may"
    )
    game.state["owner"][TSQ] = (NONE, 1, ALEA, ALEA, ALEA)
    game.state["tiles"][TSQ, 0, 0] = 1
    assert reason(game, "build 1") == "you have no plot in TSQ: you must declare a building stop"
