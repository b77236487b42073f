"""Guidance for the open decision: its sentence, the four options, and the bid tray."""

import itertools
from typing import Any

import pytest
from pages import positions

from skyenv import Game
from skyenv.page.view import guidance
from skyenv.render.reasons import why_illegal
from skyenv.render.table import visible_table
from skyenv.rules.actions import BID, BID_DONE, OPTION_A


def told(game: Game) -> dict[str, Any]:
    """Return the guidance for the seat to act."""
    position, names = game.view(), ["you", "crowd", "greedy"][: game.num_players]
    return guidance.decision(position, visible_table(position), names, game.legal_actions)


def test_option_cards_hold_legal_actions_or_a_reason() -> None:
    for game in positions(3, 3, "option"):
        cards = told(game)["options"]
        actions = [choice["action"] for card in cards for choice in card["choices"]]
        assert sorted(actions) == game.legal_actions
        assert all(bool(card["choices"]) != bool(card["why"]) for card in cards)
        assert cards[0]["why"] == (why_illegal(game.view(), OPTION_A) or "")


@pytest.mark.rule("AUC-3", "AUC-4", "AUC-5")
def test_the_bid_tray_offers_exactly_the_legal_bids() -> None:
    """A set of cards is a legal bid exactly if the tray's numbers permit it."""
    checked: set[bool] = set()
    for game in itertools.islice(positions(3, 5), 0, None, 3):
        bid = told(game)["bid"] or {"cards": []}
        kinds = [(colour, value) for colour, value, number in bid["cards"] for _ in range(number)]
        for cards in itertools.chain(*(itertools.combinations(kinds, n) for n in (1, 2, 3))):
            colours = {colour for colour, _ in cards} - {5}
            is_offered = len(colours) < 2 and bool(colours or not bid["is_open"])
            is_offered &= bid["laid"] + sum(value for _, value in cards) > bid["highest"]
            after = game.copy()
            for colour, value in sorted(cards):
                if BID + 3 * colour + value - 4 in after.legal_actions:
                    after.play(BID + 3 * colour + value - 4)
            is_whole = len(after.events) - len(game.events) == len(cards)
            assert (is_whole and BID_DONE in after.legal_actions) == is_offered
            checked.add(is_offered)
    assert checked == {True, False}


@pytest.mark.rule("END-1")
def test_actions_that_end_the_game_are_announced() -> None:
    ends = [game for seed in range(3) for game in positions(2, seed) if told(game)["ends"]]
    for game in ends:
        game.play(game.legal_actions[-1])  # to stop, or the last place for the business
    assert [game.is_over for game in ends] == [True] * len(ends) != []
