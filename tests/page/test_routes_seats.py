"""Seats by the page's interface: games, hints, who may do what."""

from __future__ import annotations

import http.client
import json
import re
import threading
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pages import (
    RunningServer,
    act,
    another,
    begin,
    check_is_known,
    client_of,
    make_app,
    payload,
    play_to_end,
    quick,
    quick_catalogue,
    status,
    wait_for_turn,
    watch,
)
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from processes import Threads, wait_until
from skyenv import Game
from skyenv.agents import Decisions, RandomAgent
from skyenv.page import game_server, requests
from skyenv.page.browsers import COOKIE
from skyenv.page.replays import Replay
from skyenv.render.words import plot_name
from skyenv.rules.actions import PLOT
from skyenv.rules.components import NUM_PLOTS

# ---- games ----

pytestmark = pytest.mark.usefixtures("short_games")


@pytest.mark.parametrize(("players", "side"), [(2, "back"), (3, "front")])
def test_a_whole_game_and_its_record(ann: TestClient, players: int, side: str) -> None:
    seat = begin(ann, ["me", *["agent:random"] * (players - 1)], side=side, seed="77")
    assert ann.get(f"{seat}/record").status_code == 403
    state = play_to_end(ann, seat)
    answer = ann.get(f"{seat}/record")
    assert "attachment" in answer.headers["content-disposition"]
    game = Game.from_record(answer.text)
    assert game.is_over
    assert game.seed == 77
    assert game.scores == state["scores"] == state["final"][-1]["scores"]
    header = json.loads(answer.text.splitlines()[0])
    assert header["agents"] == ["human", *["random"] * (players - 1)]
    replay = ann.post(f"{seat}/replay").json()["page"].rpartition("/")[2]
    assert ann.get(f"/api/replays/{replay}").json()["games"][0]["is_over"]


def test_two_people_and_two_agents_see_only_what_they_may(app: Starlette, ann: TestClient) -> None:
    """Every answer is searched: open cards of others are those that everybody knows of at that
    moment.
    """
    first = begin(ann, ["me", "agent:crowd", "human", "agent:random"], seed="4242424242424242")
    bob = another(app)
    (invitation,) = payload(ann, first)["invitations"]
    second = "/api/seats/" + invitation["page"].rpartition("/")[2]
    assert bob.get(second).status_code == 403
    assert bob.post(f"{second}/claim").status_code == 200
    assert payload(bob, second)["invitations"] == payload(ann, first)["invitations"] == []
    heard: list[tuple[int, dict[str, Any]]] = []
    people = {0: (ann, first), 2: (bob, second)}
    while status(ann, first) != "over":
        for seat, who in people.items():
            if status(*who) != "your turn":
                continue
            states = {each: payload(*people[each]) for each in people}
            heard += states.items()
            choices = [choice["action"] for choice in states[seat]["legal"]]
            assert act(*who, states[seat], quick(choices)).status_code == 200
    replay = Replay.of(ann.get(f"{first}/record").content, 1)
    assert len(heard) > 50
    for seat, state in heard:
        check_is_known(replay, seat, state)


def test_a_bid_is_taken_back_and_the_record_tells_only_what_was_played(
    app: Starlette, ann: TestClient
) -> None:
    seat = begin(ann, ["me", "agent:random"], seed="5")
    undone = 0
    for _ in range(2000):
        state = wait_for_turn(ann, seat)
        if state["over"]:
            break
        cards = [choice["action"] for choice in state["legal"] if 79 <= choice["action"] < 97]
        if cards and undone < 5 and not state["undo"]:
            assert act(ann, seat, state, cards[-1]).status_code == 200
            laid = payload(ann, seat)
            assert laid["undo"]
            assert laid["drawing"] != state["drawing"]
            assert ann.post(f"{seat}/undo").status_code == 200
            after = payload(ann, seat)
            assert {**after, "log": 0} == {**state, "log": 0}
            assert ann.post(f"{seat}/undo").status_code == 409
            undone += 1
            state = after
        choices = [choice["action"] for choice in state["legal"]]
        assert act(ann, seat, state, 78 if 78 in choices else choices[0]).status_code == 200
    assert undone > 0
    text = ann.get(f"{seat}/record").text
    assert Game.from_record(text).is_over
    assert not [line for line in text.splitlines() if '"bid ' in line and '"seat": 0' in line]


@pytest.mark.long
def test_a_move_is_taken_back_and_the_record_has_only_what_was_played(ann: TestClient) -> None:
    """Whatever can be taken back is, once: the game goes the same way, and its record is that of a
    game without it.
    """

    def record(takes_back: bool) -> list[str]:
        seat = begin(ann, ["me", "human"], seed="77")
        ann.post(
            payload(ann, seat)["invitations"][0]["page"].replace("/seat/", "/api/seats/") + "/claim"
        )
        seats = {0: seat, 1: _other(ann, seat)}
        undone = 0
        while True:
            state = payload(ann, seats[0])
            if state["over"]:
                break
            mine = state if state["yours"] else payload(ann, seats[1])
            own = seats[mine["seat"]]
            other = seats[1 - mine["seat"]]
            before = payload(ann, other)
            assert (
                act(
                    ann, own, mine, quick([choice["action"] for choice in mine["legal"]])
                ).status_code
                == 200
            )
            after = payload(ann, own)
            if takes_back and after["undo"] and len(mine["legal"]) > 1 and undone < 12:
                assert ann.post(f"{other}/undo").status_code == 409
                assert ann.post(f"{own}/undo").status_code == 200
                undone += 1
                changing = ("undone", "undo")
                assert _without(payload(ann, own), *changing) == _without(mine, *changing)
                assert _without(payload(ann, other), *changing) == _without(before, *changing)
                assert (
                    act(
                        ann, own, mine, quick([choice["action"] for choice in mine["legal"]])
                    ).status_code
                    == 200
                )
                assert _without(payload(ann, own), *changing) == _without(after, *changing)
        assert (undone > 10) == takes_back
        return ann.get(f"{seat}/record").text.splitlines()

    assert record(True) == record(False)


def _without(state: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name not in names}


def _other(client: TestClient, seat: str) -> str:
    """The browser's other seat of its newest game."""
    page = seat.replace("/api/seats/", "/seat/")
    pages = [game["page"] for game in client.get("/api/games").json()["games"][:2]]
    return str(next(other for other in pages if other != page)).replace("/seat/", "/api/seats/")


def test_nothing_that_is_hidden_is_told_by_taking_back(ann: TestClient) -> None:
    """What could be taken back after a card was drawn or turned up would tell of the next one; it
    can't.
    """
    seat = begin(ann, ["me", "agent:random"], seed="9")
    drawn = 0
    while not (state := wait_for_turn(ann, seat))["over"] and drawn < 5:
        actions = [choice["action"] for choice in state["legal"]]
        assert act(ann, seat, state, 5 if 5 in actions else actions[0]).status_code == 200
        if 5 in actions or 55 <= actions[0] < 60:
            drawn += 1
            assert ann.post(f"{seat}/undo").status_code == 409
    assert drawn == 5  # no game is shorter


def test_what_was_taken_back_while_an_agent_thinks_is_not_answered(ann: TestClient) -> None:
    seat = begin(ann, ["me", "agent:greedy"], seed="9")
    ann.post(f"{seat}/pause", json={"paused": True})
    state = payload(ann, seat)
    first, second = (choice["action"] for choice in state["legal"][:2])
    assert act(ann, seat, state, first).status_code == 200
    assert not payload(ann, seat)["yours"]
    assert ann.post(f"{seat}/undo").status_code == 200
    assert payload(ann, seat)["step"] == 0
    assert act(ann, seat, payload(ann, seat), second).status_code == 200
    ann.post(f"{seat}/pause", json={"paused": False})
    state = wait_for_turn(ann, seat)
    placed = next(line for line in state["log"]["lines"] if "(you)" in line)
    assert placed.endswith(plot_name(*divmod(second - PLOT, NUM_PLOTS)))


def test_agents_wait_while_paused_and_make_one_move_when_let(ann: TestClient) -> None:
    seat = begin(ann, ["me", "agent:random", "agent:random"], seed="9")
    assert ann.post(f"{seat}/pause", json={"paused": "yes"}).status_code == 400
    ann.post(f"{seat}/pause", json={"paused": True})
    state = payload(ann, seat)
    assert state["paused"]
    act(ann, seat, state, state["legal"][0]["action"])
    for step in (2, 3):
        assert payload(ann, seat)["step"] == step - 1
        assert ann.post(f"{seat}/next").status_code == 200
        wait_until(lambda step=step: payload(ann, seat)["step"] == step)  # type: ignore[misc]
    assert payload(ann, seat)["step"] == 3
    ann.post(f"{seat}/pause", json={"paused": False})
    assert wait_for_turn(ann, seat)["yours"]


def test_positions_that_a_page_has_not_shown_come_one_by_one(ann: TestClient) -> None:
    seat = begin(ann, ["me", "agent:random", "agent:random"], seed="9")
    state = payload(ann, seat)
    act(ann, seat, state, state["legal"][0]["action"])
    wait_for_turn(ann, seat)
    steps, after, shown = [], 0, []
    while True:
        told = ann.get(f"{seat}?after={after}").json()
        after = told["step"]
        steps.append(after)
        shown.append((told["behind"], told["yours"], bool(told["legal"])))
        if not told["behind"]:
            break
    assert steps == list(range(1, payload(ann, seat)["step"] + 1))
    assert shown == [
        *((left, False, False) for left in range(len(steps) - 1, 0, -1)),
        (0, True, True),
    ]
    assert _without(told, "svg") == _without(payload(ann, seat), "svg")


def test_a_choice_of_several_actions(ann: TestClient) -> None:
    seat = begin(ann, ["me", "agent:random"], seed="9")
    for several in ([], [13] * 65, "13", [13, 14], [55, 60], [None]):
        answer = ann.post(f"{seat}/act", json={"actions": several, "step": 0})
        assert answer.status_code == 400
        assert answer.json()["error"]
    while (state := wait_for_turn(ann, seat))["decision"]["take"] is None:
        act(ann, seat, state, quick([choice["action"] for choice in state["legal"]]))
    answer = ann.post(f"{seat}/act", json={"actions": [56, 58], "step": state["step"]})
    assert answer.status_code == 200
    after = wait_for_turn(ann, seat)
    values = {name: value for _, name, value in state["decision"]["take"]}
    assert [
        line
        for line in after["log"]["lines"]
        if re.search(r"\(you\) takes (violet|orange) \d$", line)
    ][-2:] == [
        f"seat 1 (you) takes violet {values['violet']}",
        f"seat 1 (you) takes orange {values['orange']}",
    ]


def test_agents_play_on_alone_only_while_somebody_watches(ann: TestClient) -> None:
    seat = begin(ann, ["agent:random", "agent:crowd"])
    state = payload(ann, seat)
    assert state["watching"]
    assert payload(ann, seat)["step"] == state["step"] == 0
    with watch(ann, seat) as socket:
        while not payload(ann, seat)["over"]:
            assert socket.receive_text() == "changed"
    assert ann.get(f"{seat}/record").status_code == 200
    assert act(ann, seat, payload(ann, seat), 0).status_code == 409


def test_changes_are_told_and_drafts_only_to_their_seat(app: Starlette, ann: TestClient) -> None:
    first = begin(ann, ["me", "human"])
    bob = another(app)
    second = payload(ann, first)["invitations"][0]["page"].replace("/seat/", "/api/seats/")
    bob.post(f"{second}/claim")
    with watch(ann, first) as one, watch(bob, second) as two:
        assert one.receive_text() == "people"  # the other one is there
        for _ in range(300):
            is_first = payload(ann, first)["yours"]
            who, seat, socket, other = (
                (ann, first, one, two) if is_first else (bob, second, two, one)
            )
            state = payload(who, seat)
            assert state["yours"]
            cards = [choice["action"] for choice in state["legal"] if 79 <= choice["action"] < 97]
            if cards:
                break
            assert act(who, seat, state, state["legal"][-1]["action"]).status_code == 200
            assert [socket.receive_text(), other.receive_text()] == ["changed"] * 2
        assert act(who, seat, state, cards[0]).status_code == 200
        assert socket.receive_text() == "changed"
        who.post(f"{seat}/undo")
        assert socket.receive_text() == "changed"
        ann.post(
            f"{first}/pause", json={"seconds": 1}
        )  # the next thing that the other one hears, as it concerns all
        assert other.receive_text() == "changed"
        assert payload(bob, second)["pause"] == 1


def test_a_restarted_server_has_lost_nothing(tmp_path: Path) -> None:
    path = tmp_path / "games.sqlite3"
    with client_of(make_app(path)) as ann:
        seat = begin(ann, ["me", "agent:random", "human"])
        for _ in range(6):
            state = payload(ann, seat)
            if not state["yours"]:
                break
            act(ann, seat, state, state["legal"][0]["action"])
        wait_until(lambda: status(ann, seat) != "seat 2 is to act")
        before = payload(ann, seat)
        cookies = dict(ann.cookies)
    with client_of(make_app(path)) as ann:
        ann.cookies.update(cookies)
        assert payload(ann, seat) == before
        assert [game["page"] for game in ann.get("/api/games").json()["games"]] == [
            seat.replace("/api/seats/", "/seat/")
        ]


def test_a_restart_in_the_middle_of_a_bid_leaves_its_cards_on_the_table(tmp_path: Path) -> None:
    path = tmp_path / "games.sqlite3"
    with client_of(make_app(path)) as ann:
        seat = begin(ann, ["me", "agent:random"], seed="5")
        for _ in range(2000):
            state = wait_for_turn(ann, seat)
            cards = [choice["action"] for choice in state["legal"] if 79 <= choice["action"] < 97]
            assert (
                act(
                    ann, seat, state, (cards or [choice["action"] for choice in state["legal"]])[0]
                ).status_code
                == 200
            )
            if cards:
                break
        before = payload(ann, seat)
        assert before["undo"]
        cookies = dict(ann.cookies)
    with client_of(make_app(path)) as ann:
        ann.cookies.update(cookies)
        assert payload(ann, seat) == before
        assert ann.post(f"{seat}/undo").status_code == 200
        assert payload(ann, seat)["step"] == before["step"] - 1


def test_agents_go_on_after_a_restart_in_their_middle(tmp_path: Path) -> None:
    path = tmp_path / "games.sqlite3"
    with client_of(make_app(path)) as ann:
        seat = begin(ann, ["me", "agent:random"], seed="3")
        ann.post(f"{seat}/pause", json={"seconds": 10})
        state = payload(ann, seat)
        act(ann, seat, state, state["legal"][0]["action"])
        assert not payload(ann, seat)["yours"]
        cookies = dict(ann.cookies)
    with client_of(make_app(path)) as ann:
        ann.cookies.update(cookies)
        ann.post(f"{seat}/pause", json={"seconds": 0})
        assert wait_for_turn(ann, seat)["step"] == 3


def test_an_agent_that_fails_is_told_and_other_games_go_on(
    ann: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        name = "broken"
        description = ""

    catalogue = quick_catalogue()
    seat = begin(ann, ["me", "agent:random"])
    healthy = begin(ann, ["me", "agent:crowd"])
    broken = catalogue["random"]
    running: Any = ann.app
    running.state.server.catalogue = type(catalogue)(
        [*(catalogue[name] for name in catalogue.names)]
    )
    object.__setattr__(running.state.server.catalogue["random"], "source", Broken())
    assert broken.name == "random"
    for each in (seat, healthy):
        state = wait_for_turn(ann, each)
        act(ann, each, state, state["legal"][0]["action"])
    wait_until(lambda: payload(ann, seat)["trouble"])
    assert payload(ann, seat)["trouble"] == "random has failed; the server's log tells more"
    assert "Traceback" not in json.dumps(payload(ann, seat))
    assert wait_for_turn(ann, healthy)["step"] > 1


def test_a_slow_agent_keeps_only_its_own_games_waiting(ann: TestClient) -> None:
    """More games wait for it than there are threads; another agent answers nevertheless."""
    slow, release = threading.Event(), threading.Event()

    class Slow(RandomAgent):
        def act(self, decisions: Decisions) -> Any:
            slow.set()
            release.wait()
            return super().act(decisions)

    running: Any = ann.app
    object.__setattr__(running.state.server.catalogue["random"], "source", Slow())
    seats = [begin(ann, ["me", "agent:random"]) for _ in range(4)]
    try:
        for seat in seats:
            state = payload(ann, seat)
            assert act(ann, seat, state, state["legal"][0]["action"]).status_code == 200
        slow.wait()
        other = begin(ann, ["me", "agent:crowd"])
        state = payload(ann, other)
        act(ann, other, state, state["legal"][0]["action"])
        assert wait_for_turn(ann, other)["step"] == 3
        assert {payload(ann, seat)["step"] for seat in seats} == {1}
    finally:
        release.set()
    assert [wait_for_turn(ann, seat)["step"] for seat in seats] == [3] * 4


def test_a_game_finds_room_though_all_others_are_watched(
    ann: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(game_server, "SESSIONS", 1)
    first, second, third = (begin(ann, ["me", "human"]) for _ in range(3))
    with watch(ann, first):
        for seat in (second, third, second, first):
            assert payload(ann, seat)["step"] == 0
        running: Any = ann.app
        assert len(running.state.server._sessions) <= 2


def test_a_game_that_cannot_be_replayed_is_told_and_deleted_by_its_owner(
    app: Starlette, ann: TestClient
) -> None:
    seat = begin(ann, ["me", "human"])
    bob = another(app)
    (invitation,) = payload(ann, seat)["invitations"]
    bob.post(invitation["page"].replace("/seat/", "/api/seats/") + "/claim")
    running: Any = ann.app
    inner = running.state.server
    key = inner.storage.link(seat.rpartition("/")[2]).game
    inner.storage.append(key, 0, [0])
    inner._sessions.clear()
    assert ann.get(seat).status_code == 409
    for client, owner in ((ann, True), (bob, False)):
        (game,) = client.get("/api/games").json()["games"]
        assert "can't be replayed" in game["error"]
        assert game["owner"] is owner
    assert ann.delete(seat).status_code == 200
    assert ann.get("/api/games").json() == bob.get("/api/games").json() == {"games": []}


# ---- hints ----


def test_hints_are_for_the_seat_to_act_and_tell_how_sure_the_agent_is(ann: TestClient) -> None:
    seat = begin(ann, ["me", "agent:random"])
    for name, kind in (("greedy", "vp"), ("random", "probability")):
        hint = ann.get(f"{seat}/hint?agent={name}").json()
        state = payload(ann, seat)
        assert hint["actions"][0] in [choice["action"] for choice in state["legal"]]
        assert hint["kind"] == kind
        assert hint["step"] == state["step"]
        assert ann.get(f"{seat}/hint?agent={name}").json() == hint
    ann.post(f"{seat}/pause", json={"seconds": 10})
    act(ann, seat, state, hint["actions"][0])
    assert ann.get(f"{seat}/hint?agent=greedy").status_code == 409


# ---- who may do what ----


def test_a_seat_belongs_to_its_browser(app: Starlette, ann: TestClient) -> None:
    seat = begin(ann, ["me", "agent:random"])
    eve = another(app)
    state = payload(ann, seat)
    action = state["legal"][0]["action"]
    asked = [
        eve.get(seat),
        eve.get(f"{seat}/hint?agent=greedy"),
        eve.get(f"{seat}/words"),
        eve.get(f"{seat}/record"),
        eve.post(f"{seat}/act", json={"action": action, "step": 0}),
        eve.post(f"{seat}/undo"),
        eve.post(f"{seat}/release"),
        eve.post(f"{seat}/pause", json={"seconds": 0}),
        eve.post(f"{seat}/claim"),
        eve.post(f"{seat}/replay"),
        eve.delete(seat),
    ]
    assert [answer.status_code for answer in asked] == [403] * len(asked)
    assert all("drawing" not in answer.text for answer in asked)
    with pytest.raises(WebSocketDisconnect), watch(eve, seat):
        pass
    assert payload(ann, seat) == state
    without = client_of(app)
    assert without.get(seat).status_code == 403
    assert eve.get("/api/games").json() == {"games": []}


def test_a_seat_is_given_up_and_taken_by_another_browser(app: Starlette, ann: TestClient) -> None:
    seat = begin(ann, ["me", "agent:random"])
    state = payload(ann, seat)
    eve = another(app)
    ann.post(f"{seat}/release")
    assert ann.get(seat).status_code == 403
    assert eve.post(f"{seat}/claim").status_code == 200
    assert ann.post(f"{seat}/claim").status_code == 403
    assert payload(eve, seat)["drawing"] == state["drawing"]
    assert payload(eve, seat)["owner"] is False
    assert eve.delete(seat).status_code == 403  # the game isn't hers


def test_only_who_made_a_game_deletes_it(ann: TestClient) -> None:
    seat = begin(ann, ["me", "agent:random"])
    assert ann.delete(seat).status_code == 200
    assert ann.get(seat).status_code == 404


def test_names_are_unguessable_and_all_different(app: Starlette, ann: TestClient) -> None:
    pages = {begin(ann, ["me", "agent:random"]) for _ in range(5)}
    assert len(pages) == 5
    assert all(len(page.rpartition("/")[2]) == 32 for page in pages)
    cookie = client_of(app).get("/").headers["set-cookie"]
    assert re.match(
        rf"{COOKIE}=[\w-]{{32}}\.[\w-]{{32}}; HttpOnly; Max-Age=31536000; Path=/; SameSite=lax$",
        cookie,
    )
    assert another(app).cookies[COOKIE] != another(app).cookies[COOKIE]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"1",
        b"{",
        b'{"action": 1}',
        b'{"action": "13", "step": 0}',
        b'{"action": 13.0, "step": 0}',
        b"\xff",
        b'{"action": 13, "step": null}',
        b'{"action": 1e999, "step": 0}',
        b"[" * 4000,
        b'{"action": -1, "step": 0}',
    ],
)
def test_a_wrong_action_gets_a_message(ann: TestClient, content: bytes) -> None:
    seat = begin(ann, ["me", "agent:random"])
    answer = ann.post(f"{seat}/act", content=content, headers={"content-type": "application/json"})
    assert answer.status_code == 400
    assert set(answer.json()) == {"error"}
    assert payload(ann, seat)["step"] == 0


def test_requests_are_bounded(ann: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    seat = begin(ann, ["me", "agent:random"])
    large = json.dumps({"action": 13, "step": 0, "more": "x" * requests.MOST_JSON})
    assert (
        ann.post(
            f"{seat}/act", content=large, headers={"content-type": "application/json"}
        ).status_code
        == 413
    )
    for wrong in (11, -1, float("1e300"), "1", None, True):
        assert ann.post(f"{seat}/pause", json={"seconds": wrong}).status_code == 400
    for query in ("theme=blue", "lines=-1", "lines=x", "narrow=99999999999"):
        assert ann.get(f"{seat}?{query}").status_code == 400
    monkeypatch.setattr(game_server, "MOST_GAMES", 1)
    assert (
        ann.post(
            "/api/games", json={"players": 2, "side": "front", "seats": ["me", "me"]}
        ).status_code
        == 429
    )


class Gate(RandomAgent):
    """Decides only when the gate is open."""

    def __init__(self) -> None:
        self.asked, self.go = threading.Event(), threading.Event()

    def act(self, decisions: Decisions) -> Any:
        self.asked.set()
        self.go.wait()
        return super().act(decisions)


def test_who_thinks_is_told_and_everything_else_is_answered_meanwhile(ann: TestClient) -> None:
    gate, running = Gate(), ann.app
    object.__setattr__(running.state.server.catalogue["random"], "source", gate)  # type: ignore[attr-defined]
    seat = begin(ann, ["me", "agent:random"])
    try:
        assert ann.get(f"{seat}/thinking").json() == {"agent": None, "seconds": None}
        state = payload(ann, seat)
        act(ann, seat, state, state["legal"][0]["action"])
        gate.asked.wait()
        first = ann.get(f"{seat}/thinking").json()
        assert first["agent"] == "random"
        wait_until(lambda: ann.get(f"{seat}/thinking").json()["seconds"] > first["seconds"])
        assert payload(ann, seat)["step"] == 1
        assert ann.get(f"{seat}/words").status_code == 200
        other = begin(ann, ["me", "agent:crowd"])
        assert ann.get(f"{other}/hint?agent=greedy").status_code == 200
    finally:
        gate.go.set()
    assert wait_for_turn(ann, seat)["step"] == 3


def test_a_hint_ends_when_nobody_waits_for_it_any_more(tmp_path: Path) -> None:
    """A browser that stops asking closes its connection; the place of the agent that was asked is
    free again.
    """
    gate = Gate()
    app = make_app(tmp_path / "games.sqlite3")
    server = RunningServer(app)
    try:
        browser: Any = httpx2.Client(base_url=server.address)
        seat = begin(browser, ["me", "agent:crowd"])
        object.__setattr__(app.state.server.catalogue["random"], "source", gate)
        leaving = http.client.HTTPConnection("127.0.0.1", server.port)
        cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        leaving.request("GET", f"{seat}/hint?agent=random", headers={"Cookie": cookies})
        gate.asked.wait()
        leaving.close()
        wait_until(lambda: not Threads.busy)  # its thread is left to itself
        assert not gate.go.is_set()
        assert browser.get(f"{seat}/hint?agent=greedy").status_code == 200
        browser.close()
    finally:
        gate.go.set()
        server.stop()
