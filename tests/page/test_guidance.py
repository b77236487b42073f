"""What a seat is told about the decision that is open: the sentence, the four options, what a bid
needs.
"""

from __future__ import annotations

import itertools

import pytest
from pages import played

from skyenv import Game
from skyenv.agents import CrowdAgent, decide_game
from skyenv.page import guidance
from skyenv.render.reasons import why_illegal
from skyenv.render.table import look
from skyenv.rules.actions import BID, BID_DONE, OPTION_A, PASS, PLOT, STOP

NAMES = ["you", "crowd", "greedy"]


def told(game: Game) -> dict[str, object]:
    """What the seat to act is told."""
    position = game.view()
    return guidance.decision(
        position, look(position), NAMES[: game.num_players], game.legal_actions
    )


def positions(players: int, seed: int, side: str = "front") -> list[Game]:
    """The positions of a whole game."""
    game, agent, games = Game(players, side, seed), CrowdAgent(), []
    while not game.is_over:
        games.append(game.copy())
        game.play(decide_game(game, agent))
    return games


@pytest.mark.parametrize(("players", "side"), [(2, "back"), (3, "front")])
def test_every_decision_has_its_sentence_and_what_belongs_to_it(players: int, side: str) -> None:
    seen: set[str] = set()
    for game in positions(players, 3, side):
        decision = told(game)
        assert str(decision["sentence"]).endswith(".")
        assert (decision["options"] is not None) == (game.phase == "option")
        assert (decision["bid"] is not None) == (
            game.phase == "bid" and min(game.legal_actions) == PASS
        )
        assert (decision["auction"] is not None) == (game.phase in ("bid", "build"))
        seen.add(f"{game.phase} {decision['sentence']}".split(":")[0])
    assert {text.split()[0] for text in seen} == {
        "start",
        "option",
        "plot",
        "take",
        "move",
        "bid",
        "build",
    }


def test_the_options_are_the_legal_ones_and_the_others_say_why() -> None:
    seen = set()
    for game in positions(3, 3):
        if game.phase != "option":
            continue
        cards = guidance.options(game.view(), look(game.view()))
        assert [card["letter"] for card in cards] == ["A", "B", "C", "D"]
        assert (
            sorted(choice["action"] for card in cards for choice in card["choices"])
            == game.legal_actions
        )
        for card in cards:
            assert bool(card["choices"]) != bool(card["why"])
            seen.add((card["letter"], bool(card["why"])))
        if OPTION_A not in game.legal_actions:
            assert cards[0]["why"] == why_illegal(game.view(), OPTION_A)
    assert {("A", True), ("D", True), ("B", False), ("C", False)} <= seen


def test_what_is_told_of_a_bid_is_what_the_rules_allow() -> None:
    """AUC-3 to AUC-5: sets of cards are legal bids exactly if the page would offer them by the
    numbers that it is told.
    """
    checked: set[bool] = set()
    for game in positions(3, 5)[::3]:
        bid = told(game)["bid"]
        if not isinstance(bid, dict):
            continue
        kinds = [(colour, value) for colour, value, number in bid["cards"] for _ in range(number)]
        for cards in itertools.chain(*(itertools.combinations(kinds, n) for n in (1, 2, 3))):
            colours = {colour for colour, _ in cards} - {5}
            offered = (
                len(colours) < 2
                and bool(colours or not bid["is_open"])
                and bid["laid"] + sum(value for _, value in cards) > bid["highest"]
            )
            path = sorted(BID + 3 * colour + value - 4 for colour, value in cards)
            assert is_legal(game.copy(), [*path, BID_DONE]) == offered
            checked.add(offered)
    assert checked == {True, False}


def is_legal(game: Game, actions: list[int]) -> bool:
    """Whether a seat can play these actions; they are played."""
    for action in actions:
        if action not in game.legal_actions:
            return False
        game.play(action)
    return True


def test_an_auction_says_what_is_needed_and_what_it_builds() -> None:
    auctions = [told(game)["auction"] for game in positions(2, 5)]
    texts = [str(auction["text"]) for auction in auctions if isinstance(auction, dict)]
    assert any(
        text.startswith("More than ") and "yours is " in text and "builds up to" in text
        for text in texts
    )
    assert any("Alea has it" in text for text in texts)
    assert "No bid yet." in texts


def test_what_ends_the_game_is_told() -> None:
    ends = [game for seed in range(6) for game in positions(2, seed) if told(game)["ends"]]
    assert ends
    for game in ends:
        action = (
            STOP
            if STOP in game.legal_actions
            else next(action for action in game.legal_actions if action >= PLOT)
        )
        game.play(action)
        assert game.is_over


def test_who_waits_is_told_what_for() -> None:
    game = played(3, 2, 30)
    other = ((game.seat or 0) + 1) % 3
    decision = guidance.decision(game.view(other), look(game.view(other)), NAMES, [])
    assert str(decision["sentence"]).startswith(f"Seat {(game.seat or 0) + 1} (")
    assert decision["options"] is None
    assert decision["bid"] is None
