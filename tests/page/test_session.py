"""A table with people and agents: whose turn it is, drafts of bids, and taking them back."""

from __future__ import annotations

import json

import pytest

from skyenv import Game
from skyenv.agents import CrowdAgent, decide_game
from skyenv.errors import IllegalActionError, PageError
from skyenv.page.payloads import Look
from skyenv.page.session import Session
from skyenv.page.storage import StoredGame
from skyenv.rules.actions import BID, BID_DONE, PASS


def session(*agents: str, seed: int = 5) -> Session:
    """A new game."""
    return Session(StoredGame("g", "ann", 0.0, len(agents), "front", 500, seed, agents, 0.0))


def in_auction(seed: int = 5) -> Session:
    """A game of two people in which the seat to act can lay down a card."""
    found = session("human", "human", seed=seed)
    agent = CrowdAgent()
    while not (found.game.phase == "bid" and BID in range(BID_DONE) and cards(found.game)):
        found.commit([decide_game(found.game, agent)])
    return found


def cards(game: Game) -> list[int]:
    """The cards that can be laid down."""
    return [action for action in game.legal_actions if BID <= action < BID_DONE]


def lay_down_all(found: Session) -> list[int]:
    """Lay cards down until the bid can be done."""
    seat, laid = found.game.seat, []
    while BID_DONE not in found.as_seen_by(seat).legal_actions:
        laid.append(cards(found.as_seen_by(seat))[0])
        assert found.act(seat, laid[-1], found.step_of(seat)) == []
    return laid


def test_a_bid_is_played_only_when_it_is_done() -> None:
    found = in_auction()
    seat, before = found.game.seat, found.game.copy()
    laid = lay_down_all(found)
    assert found.game == before
    assert found.game.events == before.events
    assert found.step_of(seat) == found.step + len(laid)
    actions = found.act(seat, BID_DONE, found.step_of(seat))
    assert actions == [*laid, BID_DONE]
    found.commit(actions)
    for action in actions:
        before.play(action)
    assert found.game == before
    assert not found.can_undo(seat)


def test_others_see_nothing_of_a_draft() -> None:
    found = in_auction()
    seat = found.game.seat
    assert seat is not None
    other = 1 - seat
    before = json.dumps(Look(found.as_seen_by(other), other, found.names(other)).payload())
    mine = Look(found.as_seen_by(seat), seat, found.names(seat)).payload()["svg"]
    lay_down_all(found)
    assert json.dumps(Look(found.as_seen_by(other), other, found.names(other)).payload()) == before
    assert Look(found.as_seen_by(seat), seat, found.names(seat)).payload()["svg"] != mine
    assert found.step_of(other) == found.step


def test_undo_takes_back_card_by_card_and_leaves_no_trace() -> None:
    found = in_auction(seed=8)
    seat, before = found.game.seat, found.game.copy()
    assert seat is not None
    for _ in range(3):
        laid = lay_down_all(found)
        for left in range(len(laid), 0, -1):
            assert found.can_undo(seat)
            assert found.step_of(seat) == found.step + left
            found.undo(seat)
        assert found.as_seen_by(seat) == before
    with pytest.raises(PageError, match="nothing to take back"):
        found.undo(seat)
    found.commit(found.act(seat, PASS, found.step))
    before.play(PASS)
    assert found.game == before  # the stream of chance included
    assert found.game.events == before.events
    assert not [event for event in found.game.events if "undo" in str(event)]


def test_a_draft_is_there_again_in_a_session_made_of_what_is_stored() -> None:
    found = in_auction()
    seat = found.game.seat
    played = [event["action"] for event in found.game.events if event["event"] == "action"]
    lay_down_all(found)
    again = Session(found.stored, played, found.draft)
    assert again.as_seen_by(seat) == found.as_seen_by(seat)
    assert again.game == found.game
    assert again.can_undo(seat)
    with pytest.raises(PageError, match="can't be replayed"):
        Session(found.stored, played, [BID_DONE - 1] * 20)


def test_only_the_own_seat_can_take_back() -> None:
    found = in_auction()
    seat = found.game.seat
    lay_down_all(found)
    for other in (1 - (seat or 0), None):
        assert not found.can_undo(other)
        with pytest.raises(PageError, match="own unfinished bid"):
            found.undo(other)


def test_nobody_acts_for_another_seat_or_twice_or_late() -> None:
    found = session("human", "random", "human")
    action = found.game.legal_actions[0]
    for seat in (1, 2, None):
        with pytest.raises(PageError, match="not your turn"):
            found.act(seat, action, 0)
    for step in (-1, 1):
        with pytest.raises(PageError, match="earlier position"):
            found.act(0, action, step)
    for illegal in (0, 102, 103, -1, 10**9):
        with pytest.raises(IllegalActionError, match="not legal"):
            found.act(0, illegal, 0)
    assert found.step == 0
    found.commit(found.act(0, action, 0))
    assert found.agent_to_move is None  # seat 2 is a person
    with pytest.raises(PageError, match="not your turn"):
        found.act(0, action, 0)


def test_the_record_waits_for_the_end_if_people_play() -> None:
    assert session("random", "random").record().count("\n") == 2
    with pytest.raises(PageError, match="when the game is over"):
        session("human", "random").record()


def test_a_game_that_the_rules_do_not_allow_is_told_so() -> None:
    stored = session("human", "human").stored
    with pytest.raises(PageError, match="can't be replayed"):
        Session(stored, [13, 102])
