"""Guidance for the open decision: its sentence, the four options, and the bid tray."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from pages import positions

from scenario import bare_game, hand, start_auction
from scenario import bids as bids_of
from skyenv import Game
from skyenv.page.view import guidance
from skyenv.render.reasons import build_limit, why_illegal
from skyenv.render.table import visible_table
from skyenv.rules.actions import BID, BID_DONE, OPTION_A
from skyenv.rules.components import BLACK, NUM_COLOURS

BIDS = Path(__file__).parent / "js" / "bids.json"
# Players and seed of the game whose positions the cases are.
GAME = 3, 5


def told(game: Game) -> dict[str, Any]:
    """Return the guidance for the seat to act."""
    position, names = game.view(), ["you", "crowd", "greedy"][: game.num_players]
    return guidance.decision(position, visible_table(position), names, game.legal_actions)


def told_to(game: Game, seat: int) -> str:
    """Return the auction's line for a seat."""
    line = guidance.auction(visible_table(game.view(seat)), ["ann", "crowd", "greedy"])
    return str((line or {})["text"])


def test_option_cards_hold_legal_actions_or_a_reason() -> None:
    for game in positions(3, 3, "option"):
        cards = told(game)["options"]
        actions = [choice["action"] for card in cards for choice in card["choices"]]
        assert sorted(actions) == game.legal_actions
        assert all(bool(card["choices"]) != bool(card["why"]) for card in cards)
        assert cards[0]["why"] == (why_illegal(game.view(), OPTION_A) or "")


def position_at(step: int) -> Game:
    return next(itertools.islice(positions(*GAME), step, None))


def bids(step: int) -> dict[str, Any]:
    """Return the sets of up to three cards of a hand: bids, with the skyscrapers that they allow,
    and sets that are none.
    """
    game = position_at(step)
    hand = told(game)["bid"]
    kinds = [(colour, value) for colour, value, number in hand["cards"] for _ in range(number)]
    sets = set(itertools.chain(*(itertools.combinations(kinds, n) for n in (1, 2, 3))))
    found: dict[str, Any] = {"step": step, "hand": hand, "bids": [], "none": []}
    for cards in sorted(sets):
        after = game.copy()
        for colour, value in cards:
            if (action := BID + 3 * colour + value - 4) in after.legal_actions:
                after.play(action)
        is_whole = len(after.events) - len(game.events) == len(cards)
        if is_whole and BID_DONE in after.legal_actions:
            limit = build_limit(visible_table(after.view()).game, int(str(game.seat)))
            found["bids"].append([[list(card) for card in cards], limit])
        else:
            found["none"].append([list(card) for card in cards])
    return found


@pytest.mark.rule("AUC-3", "AUC-4", "AUC-5", "COM-10")
def test_the_bid_trays_cases_are_the_rules() -> None:
    """js/bid.test.js holds the page's tray to the same cases."""
    cases = json.loads(BIDS.read_text("utf-8"))
    assert [bids(case["step"]) for case in cases] == cases


def test_every_bidder_stands_in_the_auctions_line() -> None:
    game = bare_game(3)
    hand(game, 0, green=[4], black=[5])
    hand(game, 1, violet=[6])
    hand(game, 2, brown=[4])
    game.state.supply[0] = 2
    start_auction(game, ["W34"])
    lines = list[str]()
    for moves in ((), ("0 green 4",), ("1 violet 6", "2 pass")):
        bids_of(game, *moves)
        lines.append(told_to(game, 0))
    assert lines == [
        "You: no bid yet · crowd: no bid yet · greedy: no bid yet",
        "You: 4, builds up to 2 · crowd: no bid yet · greedy: no bid yet",
        "Crowd: 6, builds up to 1 · you: 4, builds up to 2 · greedy: out",
    ]


@pytest.mark.rule("AUC-10", "STOP-1")
def test_builds_are_those_of_ready_skyscrapers_and_none_where_a_stop_is_due() -> None:
    game = bare_game(3)
    hand(game, 0, green=[4, 4])
    start_auction(game, ["W34"])
    game.state.supply[0] = 0
    assert told(game)["bid"]["builds"] == 0
    bids_of(game, "0 green 4")
    assert told_to(game, 0).startswith("You: 4, builds up to 0 ·")
    game.state.supply[0] = 3
    assert told_to(game, 0).startswith("You: 4, builds up to 3 ·")
    game.state.owner[0, :NUM_COLOURS] = 1
    assert told_to(game, 0).startswith("You: 4, builds up to 0 ·")


@pytest.mark.rule("AUC-3", "AUC-4", "COM-10")
def test_the_least_bids_that_lead_are_bids_and_no_set_of_cards_is_better() -> None:
    for case in json.loads(BIDS.read_text("utf-8")):
        hand, leads = case["hand"], case["hand"]["leads"]
        for lead in leads:
            game = position_at(case["step"])
            for action in (*lead["cards"], BID_DONE):
                game.play(action)
            assert game.state.highest == lead["total"]
        for cards, limit in case["bids"]:
            total = hand["laid"] + sum(value for _, value in cards)
            colour = cards[0][0] if cards[0][0] != BLACK else hand["colours"][0]
            as_good = [one for one in leads if one["colour"] == colour and one["builds"] >= limit]
            assert min(one["total"] for one in as_good) <= total


@pytest.mark.rule("END-1")
def test_actions_that_end_the_game_are_announced() -> None:
    ends = [game for seed in range(3) for game in positions(2, seed) if told(game)["ends"]]
    for game in ends:
        game.play(game.legal_actions[-1])  # to stop, or the last place for the business
    assert [game.is_over for game in ends] == [True] * len(ends) != []
