"""A table with people and agents: whose turn it is, drafts of bids, and taking them back."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from pages import played

from skyenv import Game
from skyenv.agents import CrowdAgent, decide_game
from skyenv.errors import IllegalActionError
from skyenv.page.errors import PageError
from skyenv.page.payloads import Look
from skyenv.page.session import POSITIONS, Session, can_be_taken_back
from skyenv.page.storage import Change, StoredGame
from skyenv.rules.actions import BID, BID_DONE, PASS


def session(*agents: str, seed: int = 5, actions: tuple[int, ...] = ()) -> Session:
    """A game in which some actions have been played."""
    options = "g", "ann", 0.0, len(agents), "front", 500, seed, agents, 0.0
    return Session(StoredGame(*options, actions=actions))


def again(table: Session) -> Session:
    """A session made of what is stored of another one."""
    return Session(replace(table.stored, **table.position.columns()))


def play(table: Session, *actions: int) -> None:
    """Play actions."""
    table.become(table.played(actions))


def in_auction(seed: int = 5) -> Session:
    """A game of two people in which the seat to act can lay down a card."""
    table = session("human", "human", seed=seed)
    while not (table.game.phase == "bid" and cards(table.game)):
        play(table, decide_game(table.game, CrowdAgent()))
    return table


def cards(game: Game) -> list[int]:
    """The cards that can be laid down."""
    return [action for action in game.legal_actions if BID <= action < BID_DONE]


def lay_down_all(table: Session) -> list[int]:
    """Lay cards down until the bid can be done."""
    seat, laid = table.game.seat, []
    while BID_DONE not in table.as_seen_by(seat).legal_actions:
        laid.append(cards(table.as_seen_by(seat))[0])
        table.become(table.chosen(seat, [laid[-1]], table.step_of(seat)))
        assert table.position.draft == tuple(laid)
    return laid


def test_a_bid_is_seen_by_its_seat_alone_until_it_is_done() -> None:
    auction = in_auction()
    seat, before = auction.game.seat, auction.game.copy()
    assert seat is not None

    def told(viewer: int) -> str:
        names = auction.names(viewer)
        return json.dumps(Look(auction.as_seen_by(viewer), viewer, names).payload())

    others, own = told(1 - seat), told(seat)
    laid = lay_down_all(auction)
    assert (told(1 - seat), auction.step_of(1 - seat)) == (others, auction.step)
    assert told(seat) != own
    assert (auction.game, auction.game.events) == (before, before.events)
    assert auction.step_of(seat) == auction.step + len(laid)
    assert again(auction).as_seen_by(seat) == auction.as_seen_by(seat)
    auction.become(auction.chosen(seat, [BID_DONE], auction.step_of(seat)))
    for action in (*laid, BID_DONE):
        before.play(action)
    assert (auction.game, auction.position.draft) == (before, ())
    assert not auction.can_undo(seat)


def test_a_draft_is_taken_back_card_by_card_and_leaves_no_trace() -> None:
    auction = in_auction(seed=8)
    seat, before = auction.game.seat, auction.game.copy()
    assert seat is not None
    for _ in range(2):
        for left in range(len(lay_down_all(auction)), 0, -1):
            assert auction.step_of(seat) == auction.step + left
            for other in (1 - seat, None):
                with pytest.raises(PageError, match="nothing to take back"):
                    auction.undo(other)
            auction.become(auction.undo(seat))
        assert auction.as_seen_by(seat) == before
    auction.become(auction.chosen(seat, [PASS], auction.step))
    before.play(PASS)
    assert auction.game == before  # the stream of chance included
    assert auction.game.events == before.events
    damaged = replace(auction.stored, draft=(BID_DONE - 1,) * 20)
    assert Session(damaged).position.draft == ()


def test_nobody_acts_for_another_seat_or_twice_or_late_or_two_things_at_once() -> None:
    table = session("human", "random", "human")
    action = table.game.legal_actions[0]
    refused = [
        *((seat, [action], 0, "not your turn") for seat in (1, 2, None)),
        *((0, [action], step, "earlier position") for step in (-1, 1)),
        *((0, [illegal], 0, "not legal") for illegal in (0, 102, 103, -1, 10**9)),
        *((0, several, 0, "several actions at once") for several in ([13, 14], [])),
    ]
    for seat, actions, step, why in refused:
        with pytest.raises((PageError, IllegalActionError), match=why):
            table.chosen(seat, actions, step)
    table.become(table.chosen(0, [action], 0))
    assert (table.step, table.agent_to_move) == (1, None)
    with pytest.raises(PageError, match="not your turn"):
        table.chosen(0, [action], 0)


def test_two_cards_are_one_choice() -> None:
    table = session("human", "human", seed=3)
    while table.game.phase != "take":
        play(table, decide_game(table.game, CrowdAgent()))
    seat, before = table.game.seat, table.game.copy()
    for wrong in ([55, 60], [57, 55]):  # the second: not in the order of the encoding
        with pytest.raises((PageError, IllegalActionError)):
            table.chosen(seat, wrong, table.step)
    assert table.game == before
    assert table.chosen(seat, [55, 57], table.step).actions[-2:] == (55, 57)


def test_records_wait_for_the_end_and_games_of_other_rules_are_refused() -> None:
    assert session("random", "random").record().count("\n") == 2
    with pytest.raises(PageError, match="when the game is over"):
        session("human", "random").record()
    for actions in ((13, 102), (-7,), (2**63 - 1,)):
        with pytest.raises(PageError, match="can't be replayed"):
            session("human", "human", actions=actions)


@pytest.mark.parametrize("seed", range(2))
def test_what_can_be_taken_back_has_drawn_on_no_chance_and_revealed_nothing(seed: int) -> None:
    """In whole games of people: going back and playing the same again leads to the same game."""
    table = session("human", "human", "human", seed=seed)
    undone, forced = 0, 0
    for event in [each for each in played(3, seed).events if each["event"] == "action"]:
        seat, before, could = table.game.seat, table.game.copy(), table.can_undo(table.game.seat)
        action, is_choice = event["action"], len(before.legal_actions) > 1
        events = before.copy().play(action)
        play(table, action)
        is_plain = can_be_taken_back(action, events)
        assert table.can_undo(seat) == (is_plain and (is_choice or could))
        forced += is_plain and not is_choice
        if not table.can_undo(seat) or not is_choice or before.turn % 4:
            continue
        after = table.game
        assert after.state["random"].tolist() == before.state["random"].tolist()
        hidden = "top", "face_down", "unlocated", "returned", "hand", "known", "alea_cards"
        views = after.public_view()["game"], before.public_view()["game"]
        assert all((views[0][field] == views[1][field]).all() for field in hidden), action
        table.become(table.undo(seat))
        assert (table.game, table.game.events) == (before, before.events)
        play(table, action)
        assert (table.game, table.game.events) == (after, after.events)
        undone += 1
    assert undone > 20
    assert forced


def test_taking_back_ends_where_another_player_has_acted_or_sat_down() -> None:
    table = session("random", "human", seed=3)
    play(table, table.game.legal_actions[0])
    assert not table.can_undo(0), "an agent has done it"
    play(table, table.game.legal_actions[-1])
    assert [again(table).can_undo(seat) for seat in (0, 1)] == [False, True]
    assert again(table).undo(1).actions == table.undo(1).actions == table.position.actions[:1]
    table.become(table.stands())
    assert not table.can_undo(1)
    for step, can_undo in ((1, True), (2, False)):
        changed = replace(again(table).stored, changes=(Change(step, 0, "human"),))
        assert Session(changed).can_undo(1) == can_undo


def test_a_page_that_falls_behind_is_told_one_position_after_the_other() -> None:
    table = session("human", "crowd", seed=3)
    told = {0: table.game.copy()}
    for _ in range(POSITIONS + 10):
        play(table, decide_game(table.game, CrowdAgent()))
        told[table.step] = table.game.copy()
    step, behind = table.step - 20, 20
    while behind:
        position, behind = table.after(step)
        step += 1
        assert (position, position.events) == (told[step], told[step].events)
        assert behind == table.step - step
    assert table.after(0)[1] == POSITIONS - 1  # older ones are forgotten
    assert table.after(table.step)[0] is table.game
