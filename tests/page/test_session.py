"""A table with people and agents: whose turn it is, drafts of bids, and taking them back."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from skyenv import Game
from skyenv.agents import CrowdAgent, decide_game
from skyenv.errors import IllegalActionError
from skyenv.page.errors import PageError
from skyenv.page.payloads import Look
from skyenv.page.session import POSITIONS, Session, can_be_taken_back
from skyenv.page.storage import Change, StoredGame
from skyenv.rules.actions import BID, BID_DONE, PASS


def session(*agents: str, seed: int = 5) -> Session:
    """A new game."""
    return Session(StoredGame("g", "ann", 0.0, len(agents), "front", 500, seed, agents, 0.0))


def in_auction(seed: int = 5) -> Session:
    """A game of two people in which the seat to act can lay down a card."""
    played = session("human", "human", seed=seed)
    agent = CrowdAgent()
    while not (played.game.phase == "bid" and BID in range(BID_DONE) and cards(played.game)):
        played.commit([decide_game(played.game, agent)])
    return played


def cards(game: Game) -> list[int]:
    """The cards that can be laid down."""
    return [action for action in game.legal_actions if BID <= action < BID_DONE]


def lay_down_all(played: Session) -> list[int]:
    """Lay cards down until the bid can be done."""
    seat, laid = played.game.seat, []
    while BID_DONE not in played.as_seen_by(seat).legal_actions:
        laid.append(cards(played.as_seen_by(seat))[0])
        actions, draft = played.act(seat, [laid[-1]], played.step_of(seat))
        assert (actions, draft[-1]) == ([], laid[-1])
        played.lay_down(draft)
    return laid


def test_a_bid_is_played_only_when_it_is_done() -> None:
    auction = in_auction()
    seat, before = auction.game.seat, auction.game.copy()
    laid = lay_down_all(auction)
    assert auction.game == before
    assert auction.game.events == before.events
    assert auction.step_of(seat) == auction.step + len(laid)
    actions, draft = auction.act(seat, [BID_DONE], auction.step_of(seat))
    assert (actions, draft) == ([*laid, BID_DONE], [])
    assert auction.can_undo(seat)  # nothing has changed yet
    auction.commit(actions)
    for action in actions:
        before.play(action)
    assert auction.game == before
    assert not auction.can_undo(seat)


def test_others_see_nothing_of_a_draft() -> None:
    auction = in_auction()
    seat = auction.game.seat
    assert seat is not None
    other = 1 - seat
    before = json.dumps(Look(auction.as_seen_by(other), other, auction.names(other)).payload())
    mine = Look(auction.as_seen_by(seat), seat, auction.names(seat)).payload()["drawing"]
    lay_down_all(auction)
    assert (
        json.dumps(Look(auction.as_seen_by(other), other, auction.names(other)).payload()) == before
    )
    assert Look(auction.as_seen_by(seat), seat, auction.names(seat)).payload()["drawing"] != mine
    assert auction.step_of(other) == auction.step


def test_undo_takes_back_card_by_card_and_leaves_no_trace() -> None:
    auction = in_auction(seed=8)
    seat, before = auction.game.seat, auction.game.copy()
    assert seat is not None
    for _ in range(3):
        laid = lay_down_all(auction)
        for left in range(len(laid), 0, -1):
            assert auction.can_undo(seat)
            assert auction.step_of(seat) == auction.step + left
            auction.lay_down(auction.undo(seat)[1])
        assert auction.as_seen_by(seat) == before
    with pytest.raises(PageError, match="nothing to take back"):
        auction.undo(seat)
    auction.commit(auction.act(seat, [PASS], auction.step)[0])
    before.play(PASS)
    assert auction.game == before  # the stream of chance included
    assert auction.game.events == before.events
    assert not [event for event in auction.game.events if "undo" in str(event)]


def test_a_draft_is_there_again_in_a_session_made_of_what_is_stored() -> None:
    auction = in_auction()
    seat = auction.game.seat
    played = [event["action"] for event in auction.game.events if event["event"] == "action"]
    lay_down_all(auction)
    again = Session(auction.stored, played, auction.draft)
    assert again.as_seen_by(seat) == auction.as_seen_by(seat)
    assert again.game == auction.game
    assert again.can_undo(seat)
    assert (
        Session(auction.stored, played, [BID_DONE - 1] * 20).draft == []
    )  # damaged: its cards can be laid down again


def test_only_the_own_seat_can_take_back() -> None:
    auction = in_auction()
    seat = auction.game.seat
    lay_down_all(auction)
    for other in (1 - (seat or 0), None):
        assert not auction.can_undo(other)
        with pytest.raises(PageError, match="nothing to take back"):
            auction.undo(other)


def test_nobody_acts_for_another_seat_or_twice_or_late() -> None:
    table = session("human", "random", "human")
    action = table.game.legal_actions[0]
    for seat in (1, 2, None):
        with pytest.raises(PageError, match="not your turn"):
            table.act(seat, [action], 0)
    for step in (-1, 1):
        with pytest.raises(PageError, match="earlier position"):
            table.act(0, [action], step)
    for illegal in (0, 102, 103, -1, 10**9):
        with pytest.raises(IllegalActionError, match="not legal"):
            table.act(0, [illegal], 0)
    assert table.step == 0
    table.commit(table.act(0, [action], 0)[0])
    assert table.agent_to_move is None  # seat 2 is a person
    with pytest.raises(PageError, match="not your turn"):
        table.act(0, [action], 0)


def test_the_record_waits_for_the_end_if_people_play() -> None:
    assert session("random", "random").record().count("\n") == 2
    with pytest.raises(PageError, match="when the game is over"):
        session("human", "random").record()


def test_a_game_that_the_rules_do_not_allow_is_told_so() -> None:
    stored = session("human", "human").stored
    with pytest.raises(PageError, match="can't be replayed"):
        Session(stored, [13, 102])


def test_a_move_of_an_agent_costs_one_copy_of_the_game(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is what people wait for at other tables."""
    game, copies = session("human", "random", seed=1), [0]
    copy = Game.copy

    def counted(self: Game) -> Game:
        copies[0] += 1
        return copy(self)

    monkeypatch.setattr(Game, "copy", counted)
    while game.game.seat == 0:
        game.commit([game.game.legal_actions[0]])
    copies[0] = 0
    game.commit([game.game.legal_actions[0]])
    assert copies == [1]


def test_what_can_be_taken_back_has_drawn_on_no_chance_and_revealed_nothing() -> None:
    """In whole games of people: going back and playing the same again leads to the same game, and
    nobody has seen a new card.
    """
    kinds: set[str] = set()
    for seed in range(3):
        table = session("human", "human", "human", seed=seed)
        agent = CrowdAgent()
        while not table.game.is_over:
            seat, before = table.game.seat, table.game.copy()
            view, public = before.view(seat).tobytes(), before.public_view()
            action = decide_game(table.game, agent)
            events = table.commit([action])
            kinds |= (
                {str(event["event"]) for event in events}
                if can_be_taken_back(action, events)
                else set()
            )
            assert can_be_taken_back(action, events) or not table.can_undo(seat)
            if not table.can_undo(seat):
                assert not can_be_taken_back(action, events) or len(before.legal_actions) == 1
                continue
            after = table.game.copy()
            assert after.state["random"].tolist() == before.state["random"].tolist()
            for field in (
                "top",
                "face_down",
                "unlocated",
                "returned",
                "hand",
                "known",
                "alea_cards",
            ):
                assert (
                    after.public_view()["game"][field].tolist() == public["game"][field].tolist()
                ), (field, action)
            stay, draft = table.undo(seat)
            assert draft == []
            if len(before.legal_actions) > 1:
                assert stay == int(before.state["decisions"])
                table.go_back(stay)
                assert table.game == before
                assert table.game.view(seat).tobytes() == view
                assert table.game.events == before.events
                table.commit([action])
                assert table.game == after
                assert table.game.events == after.events
    assert kinds == {"action", "tile to park", "vp"}


def test_taking_back_ends_where_a_card_is_turned_up_or_somebody_acts() -> None:
    table = session("human", "human", seed=3)
    first = table.game.legal_actions[0]
    table.commit([first])
    assert not table.can_undo(1)
    assert table.can_undo(0)
    table.commit([table.game.legal_actions[-1]])
    assert not table.can_undo(0)  # the other has acted
    with pytest.raises(PageError, match="nothing to take back"):
        table.undo(0)
    table.go_back(table.undo(1)[0])
    assert table.game.seat == 1
    while table.game.phase != "take":
        table.commit([table.game.legal_actions[0]])
    seat = table.game.seat
    assert table.can_undo(seat)
    table.commit([table.game.legal_actions[0]])
    assert not table.can_undo(seat)


def test_a_forced_move_alone_is_not_taken_back() -> None:
    """The page would play it again at once."""
    agent = CrowdAgent()
    for seed in range(30):
        table = session("human", "human", seed=seed)
        while not table.game.is_over:
            forced, seat, could = (
                len(table.game.legal_actions) == 1,
                table.game.seat,
                table.can_undo(table.game.seat),
            )
            action = decide_game(table.game, agent)
            events = table.commit([action])
            if forced and not could and can_be_taken_back(action, events):
                assert not table.can_undo(seat)
                return
    raise AssertionError("no forced move came")


def test_what_is_taken_back_is_gone_from_a_session_made_of_what_is_stored() -> None:
    table = session("human", "human", seed=3)
    table.commit([table.game.legal_actions[0]])
    table.commit([table.game.legal_actions[-1]])
    again = Session(
        table.stored, [event["action"] for event in table.game.events if event["event"] == "action"]
    )
    assert again.can_undo(1)
    again.go_back(again.undo(1)[0])
    table.go_back(table.undo(1)[0])
    assert again.game == table.game
    assert again.step == 1


def test_what_was_done_before_somebody_else_sat_down_stands_after_a_reload() -> None:
    table = session("random", "human", seed=3)
    table.commit([table.game.legal_actions[0]])
    assert not table.can_undo(0)
    stored = replace(table.stored, changes=(Change(1, 0, "human"),))
    actions = [event["action"] for event in table.game.events if event["event"] == "action"]
    again = Session(stored, actions)
    assert not again.can_undo(0), "an agent has done it"
    again.commit([again.game.legal_actions[-1]])
    assert again.can_undo(1)
    actions = [event["action"] for event in again.game.events if event["event"] == "action"]
    assert Session(stored, actions).can_undo(1), "what was done since can be taken back as before"
    assert not Session(
        replace(stored, changes=(*stored.changes, Change(2, 0, "random"))), actions
    ).can_undo(1)


def test_two_cards_are_one_choice_and_other_actions_are_not() -> None:
    table = session("human", "human", seed=3)
    agent = CrowdAgent()
    with pytest.raises(PageError, match="several actions at once"):
        table.act(0, [13, 14], 0)
    with pytest.raises(PageError, match="several actions at once"):
        table.act(0, [], 0)
    while table.game.phase != "take":
        table.commit([decide_game(table.game, agent)])
    seat, before = table.game.seat, table.game.copy()
    with pytest.raises(PageError, match="several actions at once"):
        table.act(seat, [55, 60], table.step)
    with pytest.raises(IllegalActionError, match="take green"):
        table.act(seat, [57, 55], table.step)  # not in the order of the encoding
    assert table.game == before
    assert table.act(seat, [55, 57], table.step) == ([55, 57], [])


def test_a_page_that_falls_behind_is_told_one_position_after_the_other() -> None:
    table = session("human", "crowd", seed=3)
    agent = CrowdAgent()
    told = {0: table.game.copy()}
    for _ in range(POSITIONS + 10):
        table.commit([decide_game(table.game, agent)])
        told[table.step] = table.game.copy()
    step, behind = table.step - 20, 20
    while behind:
        position, behind = table.after(step)
        step += 1
        assert int(position.state["decisions"]) == step
        assert position == told[step]
        assert position.events == told[step].events
        assert behind == table.step - step
    assert table.after(0)[1] == POSITIONS - 1  # older ones are forgotten
    assert table.after(table.step)[0] is table.game
