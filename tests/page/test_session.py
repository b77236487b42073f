"""Sessions: whose turn it is, complete choices, and undo."""

from dataclasses import replace

import pytest
from pages import actions_of, played

from skyenv.agents import CrowdAgent, decide_game
from skyenv.errors import IllegalActionError
from skyenv.page.errors import PageError
from skyenv.page.storage import StoredGame
from skyenv.page.table.session import POSITIONS, Session
from skyenv.rules.actions import BID, BID_DONE, PASS, STOP
from skyenv.rules.state import NONE

HIDDEN = ("top", "face_down", "unlocated", "returned", "hand", "known", "alea_cards")


def session(*agents: str, seed: int = 5) -> Session:
    """Return the session of a new game."""
    return Session(StoredGame("g", "ann", 0.0, len(agents), "front", 500, seed, agents, 0.0))


def again(table: Session) -> Session:
    """Return a session restored from another one's stored fields."""
    return Session(replace(table.stored, **table.position.columns()))


def play(table: Session, *actions: int) -> None:
    """Play actions."""
    table.become(table.played(actions))


def test_a_bid_is_one_choice() -> None:
    table = session("human", "human", seed=3)
    while table.game.phase != "bid" or len(table.game.legal_actions) < 2:
        play(table, decide_game(table.game, CrowdAgent()))
    laid, bid = table.game.copy(), list[int]()
    while BID_DONE not in laid.legal_actions:
        bid += [action for action in laid.legal_actions if action >= BID][:1]
        laid.play(bid[-1])
    laid.play(BID_DONE)
    for part in ([*bid, PASS], [BID_DONE, *bid], [PASS, *bid, BID_DONE]):
        with pytest.raises(PageError, match="a choice must be one action"):
            table.chosen(table.game.seat, part, table.step)
    position = table.chosen(table.game.seat, [*bid, BID_DONE], table.step)
    assert (position.game, position.game.events) == (laid, laid.events), "chance included"


LEGAL = session("human", "random", "human").game.legal_actions[0]


@pytest.mark.parametrize(
    ("seat", "actions", "step", "why"),
    [
        *((seat, [LEGAL], 0, "not your turn") for seat in (1, 2, None)),
        *((0, [LEGAL], step, "position has changed") for step in (-1, 1)),
        *((0, [illegal], 0, "not legal|not a number") for illegal in (0, 102, 103, -1, 10**9)),
        *((0, several, 0, "a choice must be one action") for several in ([13, 14], [])),
    ],
)
def test_actions_of_other_seats_or_positions_are_refused(
    seat: int | None, actions: list[int], step: int, why: str
) -> None:
    with pytest.raises((PageError, IllegalActionError), match=why):
        session("human", "random", "human").chosen(seat, actions, step)


def test_only_actions_without_chance_or_revelations_can_be_undone() -> None:
    """Throughout a game: undoing an action and repeating it gives the same game."""
    table, undone = session("human", "human", "human", seed=1), 0
    for action in actions_of(played(3, 1)):
        seat, before = table.game.seat, table.game.copy()
        play(table, action)
        if not table.can_undo(seat) or len(before.legal_actions) == 1 or before.turn % 4:
            continue
        after = table.game
        assert action not in (PASS, BID_DONE, STOP), "others have heard it"
        assert after.state["random"].tolist() == before.state["random"].tolist()
        views = after.public_view()["game"], before.public_view()["game"]
        assert all((views[0][field] == views[1][field]).all() for field in HIDDEN), action
        table.become(table.undo(seat))
        assert (table.game, table.game.events) == (before, before.events)
        play(table, action)
        assert (table.game, table.game.events) == (after, after.events)
        undone += 1
    assert undone > 20


def test_undo_stops_at_actions_of_other_players() -> None:
    table = session("random", "human", seed=3)
    play(table, table.game.legal_actions[0])
    assert not table.can_undo(0), "an agent has done it"
    play(table, table.game.legal_actions[-1])
    assert [again(table).can_undo(seat) for seat in (0, 1)] == [False, True]
    assert again(table).undo(1).actions == table.position.actions[:1]


def test_a_person_alone_takes_back_whole_choices_and_the_record_says_so() -> None:
    """Forced moves, later cards of a bid, and moves of agents are no choices of their own."""
    table, starts = session("human", "random", seed=3), list[int]()
    table.stored = replace(table.stored, max_turns=8)
    for action in actions_of(played(2, seed=3, turns=8)):
        game = table.game
        is_begun = int(game.state["laid"]) != NONE or int(game.state["first_colour"]) != NONE
        if game.seat == 0 and game.mask.sum() > 1 and not is_begun:
            starts.append(table.step)
        assert table.can_undo(0) == (table.position.choices.made != ())
        assert not table.can_undo(1)
        play(table, action)
    assert [step for step, _ in table.position.choices.made] == starts
    while starts:
        table.become(table.undo(0))
        assert table.step == starts.pop()
    assert table.position.taken_back > 5
    assert again(table).position == table.position


def test_a_record_tells_undone_decisions() -> None:
    game = played(2, seed=3, turns=8)
    stored = replace(session("random", "human", seed=3).stored, max_turns=8, taken_back=1)
    table = Session(replace(stored, actions=actions_of(game)))
    assert not table.can_undo(1), "the game is over"
    assert '"random", "human (1 decision taken back)"' in table.record()


def test_late_pages_receive_every_missed_position() -> None:
    table = session("human", "crowd", seed=3)
    shown = {}
    while table.step < POSITIONS + 10:
        play(table, decide_game(table.game, CrowdAgent()))
        shown[table.step] = table.game.copy()
    for step in range(table.step - 20, table.step):
        position, behind = table.after(step)
        assert (position, behind) == (shown[step + 1], table.step - step - 1)
        assert position.events == shown[step + 1].events
    assert table.after(0)[1] == POSITIONS - 1, "older ones are forgotten"
