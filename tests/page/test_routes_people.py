"""The people at a table by the page's interface: names, presence, spectators, who takes over,
rematch, takeback, curtain.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pages import (
    act,
    begin,
    check_is_known,
    client_of,
    drawn,
    make_app,
    payload,
    play_to_end,
    quick,
    status,
    wait_for_turn,
    watch,
)
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from processes import wait_until
from skyenv import Game
from skyenv.page import people
from skyenv.page.replays import Replay

pytestmark = pytest.mark.usefixtures("short_games")


def api(page: str) -> str:
    """The address in the interface of a seat's page."""
    return page.replace("/seat/", "/api/seats/")


def guest_of(app: Starlette, ann: TestClient) -> TestClient:
    """Another browser, whose requests run in the same event loop, as agents go on there."""
    guest = client_of(app)
    guest.portal = ann.portal
    guest.get("/")
    return guest


def invited(app: Starlette, ann: TestClient, seat: str, name: str = "") -> tuple[TestClient, str]:
    """Somebody else, who has taken the first free seat."""
    guest = guest_of(app, ann)
    free = api(payload(ann, seat)["invitations"][0]["page"])
    assert guest.post(f"{free}/claim", json={"name": name}).status_code == 200
    return guest, free


def people_at(client: TestClient, seat: str) -> dict[str, Any]:
    """Who is at the table."""
    told: dict[str, Any] = client.get(f"{seat}/people").json()
    return told


# ---- names and presence ----


def test_names_are_shown_and_told_to_records_only_if_wanted(
    app: Starlette, ann: TestClient
) -> None:
    first = begin(ann, ["me", "human"], names=["Ann", ""])
    bob, second = invited(app, ann, first, "<b>Bob</b>")
    assert payload(ann, first)["names"] == ["you", "<b>Bob</b>"]
    state = payload(bob, second)
    assert state["names"] == ["Ann", "you"]
    assert "<b>" not in drawn(payload(ann, first))
    assert bob.post(f"{second}/name", json={"name": "greedy"}).status_code == 400
    assert bob.post(f"{second}/name", json={"name": "Rob", "in_record": True}).status_code == 200
    assert payload(ann, first)["names"] == ["you", "Rob"]
    while status(ann, first) != "over":
        who = (ann, first) if status(ann, first) == "your turn" else (bob, second)
        state = payload(*who)
        act(*who, state, quick([choice["action"] for choice in state["legal"]]))
    header = json.loads(ann.get(f"{first}/record").text.splitlines()[0])
    assert header["agents"] == ["human", "Rob"]
    bob.post(f"{second}/release")
    assert payload(ann, first)["names"] == ["you", "Player 2"], "whoever has gone has left no name"


def test_who_is_there_is_told(app: Starlette, ann: TestClient) -> None:
    first = begin(ann, ["me", "human", "agent:random"])
    assert [one["is_free"] for one in people_at(ann, first)["seats"]] == [False, True, False]
    bob, second = invited(app, ann, first, "Bob")
    with watch(ann, first) as socket:
        assert [one["is_here"] for one in people_at(bob, second)["seats"]] == [True, False, False]
        assert people_at(ann, first)["seats"][1]["seen"] is None
        with watch(bob, second):
            assert socket.receive_text() == "people"
            assert people_at(ann, first)["seats"][1]["is_here"]
        assert socket.receive_text() == "people"
        wait_until(lambda: not people_at(ann, first)["seats"][1]["is_here"])
        assert people_at(ann, first)["seats"][1]["seen"] > 0


# ---- spectators ----


def test_spectators_see_what_everybody_knows_and_do_nothing(
    app: Starlette, ann: TestClient
) -> None:
    """Their whole table is made of the public view: byte for byte what a game with other hidden
    cards would tell them.
    """
    first = begin(ann, ["me", "agent:crowd"], seed="4242424242424242")
    bob = guest_of(app, ann)
    page = ann.post(f"{first}/spectators").json()["page"]
    assert ann.post(f"{first}/spectators").json()["page"] == page
    looking = api(page)
    hidden = 0
    for _ in range(24):
        state = wait_for_turn(ann, first)
        told = payload(bob, looking)
        assert (told["seat"], told["yours"], told["legal"], told["watching"], told["owner"]) == (
            None,
            False,
            [],
            True,
            False,
        )
        assert (told["invitations"], told["undo"], told["people"]["watch"]) == ([], False, None)
        assert "data-card" not in drawn(told)
        text = json.dumps(told)
        assert not re.search(r"draws a black [456]", text)
        assert "4242424242424242" not in text
        hidden += len(re.findall(r"cards? of seat [^<]*, not known", drawn(told)))
        assert bob.get(f"{looking}/words").json()["text"].count("as everybody sees it") == 1
        cards = [choice["action"] for choice in state["legal"] if 79 <= choice["action"] < 97]
        if cards:  # laid down in a draft, it changes nothing for them
            act(ann, first, state, cards[0])
            assert payload(bob, looking) == told
            ann.post(f"{first}/undo")
            state = payload(ann, first)
        choices = [choice["action"] for choice in state["legal"]]
        if not choices:
            break
        act(ann, first, state, choices[-1])
    assert hidden > 40
    assert bob.post(f"{looking}/pause", json={"paused": True}).status_code == 403
    for request in (
        "act",
        "undo",
        "release",
        "pause",
        "next",
        "takeback",
        "rematch",
        "spectators",
        "people/0",
        "name",
    ):
        wanted = {"action": 1, "step": 0, "seconds": 1, "agent": "greedy", "name": "Bob"}
        assert bob.post(f"{looking}/{request}", json=wanted).status_code in (403, 409), request
    for request in ("record", "hint?agent=greedy"):
        assert bob.get(f"{looking}/{request}").status_code in (403, 409)
    assert bob.delete(looking).status_code == 403


def test_spectators_are_counted_and_find_the_game_again(app: Starlette, ann: TestClient) -> None:
    first = begin(ann, ["me", "agent:random"])
    looking = api(ann.post(f"{first}/spectators").json()["page"])
    bob, eve = guest_of(app, ann), guest_of(app, ann)
    assert bob.get("/api/games").json()["games"] == []
    with watch(bob, looking), watch(eve, looking), watch(eve, looking):
        wait_until(lambda: people_at(ann, first)["spectators"] == 2)
        assert people_at(bob, looking)["spectators"] == 1
    wait_until(lambda: people_at(ann, first)["spectators"] == 0)
    (game,) = bob.get("/api/games").json()["games"]
    assert api(game["page"]) == looking
    assert not game["owner"]


def test_a_link_to_look_on_is_withdrawn(app: Starlette, ann: TestClient) -> None:
    first = begin(ann, ["me", "agent:random"])
    assert ann.delete(f"{first}/spectators").status_code == 409, "there is none"
    page = ann.post(f"{first}/spectators").json()["page"]
    bob = guest_of(app, ann)
    assert bob.delete(f"{api(page)}/spectators").status_code == 403
    with watch(bob, api(page)) as socket:
        wait_until(lambda: people_at(ann, first)["spectators"] == 1)
        assert ann.delete(f"{first}/spectators").status_code == 200
        with pytest.raises(WebSocketDisconnect):
            list(iter(socket.receive_text, "no more"))
    for answer in (
        bob.get(api(page)),
        bob.get(f"{api(page)}?page=1"),
        bob.post(f"{api(page)}/claim"),
    ):
        assert answer.status_code == 404
        assert "was withdrawn; ask who sent it" in answer.json()["error"]
    assert bob.get("/api/games").json()["games"] == []
    with pytest.raises(WebSocketDisconnect), watch(bob, api(page)):
        pass
    assert people_at(ann, first)["watch"] is None
    again = ann.post(f"{first}/spectators").json()["page"]
    assert again != page
    assert payload(bob, api(again))["watching"]
    assert bob.get(api(page)).status_code == 404, "the old one stays away"
    while not payload(ann, first)["over"]:
        play_to_end(ann, first)
    assert ann.post(f"{first}/rematch").status_code == 201
    assert bob.post(f"{api(again)}/rematch").status_code == 403


# ---- agents who take over ----


def test_an_agent_takes_over_for_who_is_away_and_gives_the_seat_back(
    app: Starlette, ann: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = begin(ann, ["human", "me"])
    bob, second = invited(app, ann, first, "Bob")  # seat 0, which is to act
    state = payload(bob, second)
    assert state["yours"]
    assert ann.post(f"{first}/people/0", json={"agent": "random"}).status_code == 409, (
        "he has just been there"
    )
    monkeypatch.setattr(people, "AWAY", 0.0)
    with watch(bob, second):
        assert ann.post(f"{first}/people/0", json={"agent": "random"}).status_code == 409, (
            "he is there"
        )
    wait_until(lambda: people_at(ann, first)["seats"][0]["can_be_replaced"])
    assert bob.post(f"{second}/people/1", json={"agent": "random"}).status_code == 403, (
        "Ann has made the game"
    )
    assert ann.post(f"{first}/people/0", json={"agent": "os:system"}).status_code == 404
    assert ann.post(f"{first}/people/0", json={"agent": "random"}).status_code == 200
    assert ann.post(f"{first}/people/0", json={"agent": "random"}).status_code == 409
    wait_until(lambda: status(ann, first) == "your turn")  # it has played for him
    told = people_at(ann, first)["seats"][0]
    assert (told["is_agent"], told["person"], told["name"]) == (True, "Bob", "random")
    state = payload(bob, second)
    assert not state["yours"]
    assert act(bob, second, state, 0).status_code == 409
    assert ann.get(f"{first}/record").status_code == 403, "hands stay hidden: he may come back"
    assert ann.post(f"{first}/people/0", json={}).status_code == 200
    assert payload(ann, first)["names"] == ["Bob", "you"]
    state = payload(ann, first)
    act(ann, first, state, state["legal"][0]["action"])
    wait_until(lambda: payload(ann, first)["yours"] or payload(bob, second)["yours"])
    game = payload(bob, second)["people"]["seats"]
    assert not game[0]["is_agent"]


def test_a_person_takes_an_agents_seat(app: Starlette, ann: TestClient) -> None:
    first = begin(ann, ["me", "agent:random"])
    assert ann.post(f"{first}/people/1", json={}).status_code == 200
    bob, second = invited(app, ann, first, "Bob")
    assert payload(bob, second)["seat"] == 1
    monkey = play_both((ann, first), (bob, second))
    assert monkey["over"]
    header = json.loads(ann.get(f"{first}/record").text.splitlines()[0])
    assert header["agents"] == ["human", "random, human from action 0"]
    alone = begin(ann, ["agent:random", "agent:random"])
    assert ann.post(f"{alone}/people/1", json={}).status_code == 409, "all hands are open there"


def play_both(*who: tuple[TestClient, str]) -> dict[str, Any]:
    """Two people play on to the end."""
    while status(*who[0]) != "over":
        for client, seat in who:
            if status(client, seat) == "your turn":
                state = payload(client, seat)
                act(client, seat, state, quick([choice["action"] for choice in state["legal"]]))
    return payload(*who[0])


def test_changes_of_seats_outlive_the_server(tmp_path: Path) -> None:
    path = tmp_path / "games.sqlite3"
    with client_of(make_app(path)) as ann:
        seat = begin(ann, ["me", "human", "agent:crowd"], names=["Ann", "", ""])
        assert ann.post(f"{seat}/people/1", json={"agent": "random"}).status_code == 200
        cookies = dict(ann.cookies)
        before = payload(ann, seat)["names"]
    with client_of(make_app(path)) as ann:
        ann.cookies.update(cookies)
        assert payload(ann, seat)["names"] == before == ["you", "random", "crowd"]
        play_to_end(ann, seat)


# ---- rematch and takeback ----


def test_a_rematch_has_the_same_people_and_another_who_begins(
    app: Starlette, ann: TestClient
) -> None:
    first = begin(ann, ["me", "agent:random", "human"], names=["Ann", "", ""], seed="7")
    bob, third = invited(app, ann, first, "Bob")
    looking = api(ann.post(f"{first}/spectators").json()["page"])
    eve = guest_of(app, ann)
    assert bob.post(f"{third}/rematch").status_code == 409
    play_both((ann, first), (bob, third))
    assert people_at(bob, third)["rematch"] is None
    again = api(bob.post(f"{third}/rematch").json()["page"])
    assert api(ann.post(f"{first}/rematch").json()["page"]) == api(people_at(ann, first)["rematch"])
    assert people_at(bob, third)["rematch"] == again.replace("/api/seats/", "/seat/")
    assert payload(bob, again)["names"] == ["random", "you", "Ann"]
    annas = api(people_at(ann, first)["rematch"])
    assert payload(ann, annas)["seat"] == 2
    assert payload(ann, annas)["owner"]
    watched = api(people_at(eve, looking)["rematch"])
    assert payload(eve, watched)["watching"]
    assert len(ann.get("/api/games").json()["games"]) == 2
    assert ann.delete(annas).status_code == 200
    assert people_at(bob, third)["rematch"] is None
    assert bob.post(f"{third}/rematch").status_code == 201


def test_no_way_to_a_game_is_that_of_somebody_else(app: Starlette, ann: TestClient) -> None:
    first = begin(ann, ["me", "human"])
    bob, second = invited(app, ann, first, "Bob")
    play_both((ann, first), (bob, second))
    bob.post(f"{second}/release")
    assert ann.post(f"{first}/rematch").status_code == 201
    eve = guest_of(app, ann)
    assert eve.post(f"{second}/claim").status_code == 200
    answer = eve.post(f"{second}/rematch")
    assert (answer.status_code, "page" in answer.json()) == (403, False), (
        "the rematch has a seat for nobody, and Ann's"
    )

    wanted = {
        "players": 2,
        "side": "front",
        "seats": ["human", "agent:random"],
        "idempotency_key": "01234567",
    }
    page = ann.post("/api/games", json=wanted).json()["page"]
    assert ann.post("/api/games", json=wanted).json()["page"] == page
    assert bob.post(f"{api(page)}/claim").status_code == 200
    answer = ann.post("/api/games", json=wanted)
    assert (answer.status_code, "page" in answer.json()) == (403, False)


def test_whose_seat_an_agent_has_taken_has_no_rematch(
    app: Starlette, ann: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(people, "AWAY", 0.0)
    first = begin(ann, ["me", "human"])
    bob, second = invited(app, ann, first, "Bob")
    wait_until(lambda: people_at(ann, first)["seats"][1]["can_be_replaced"])
    assert ann.post(f"{first}/people/1", json={"agent": "random"}).status_code == 200
    play_to_end(ann, first)
    assert bob.post(f"{second}/rematch").status_code == 403
    assert people_at(ann, first)["rematch"] is None
    assert ann.post(f"{first}/rematch").status_code == 201


def test_a_takeback_is_a_copy_with_the_same_chance(ann: TestClient) -> None:
    """The same actions in it lead to the same cards and answers, and the record tells that
    something was taken back.
    """
    seat = begin(ann, ["me", "agent:crowd"], seed="5")
    assert ann.post(f"{seat}/takeback", json={}).status_code == 409, "nothing has been decided yet"
    for _ in range(12):
        state = wait_for_turn(ann, seat)
        last = next(
            choice["action"]
            for choice in reversed(state["legal"])
            if not 79 <= choice["action"] < 97
        )  # no card
        act(ann, seat, state, last)
    before = wait_for_turn(ann, seat)
    key = "0123456789abcdef"
    page = ann.post(f"{seat}/takeback", json={"idempotency_key": key}).json()["page"]
    assert ann.post(f"{seat}/takeback", json={"idempotency_key": key}).json()["page"] == page, (
        "a double click makes one copy"
    )
    copy = api(page)
    ann.post(f"{copy}/pause", json={"seconds": 0})
    assert payload(ann, seat) == {**before, "people": payload(ann, seat)["people"]}, (
        "the game itself goes on as it was"
    )
    back = payload(ann, copy)
    assert back["step"] < before["step"]
    assert back["yours"]
    assert {choice["action"] for choice in back["legal"]} == {
        choice["action"] for choice in state["legal"]
    }
    assert act(ann, copy, back, last).status_code == 200
    same = wait_for_turn(ann, copy)
    assert (same["drawing"], same["log"], same["legal"]) == (
        before["drawing"],
        before["log"],
        before["legal"],
    )
    assert people_at(ann, copy)["taken_back"] == 1
    games = {game["page"]: game["taken_back"] for game in ann.get("/api/games").json()["games"]}
    assert games == {page: 1, seat.replace("/api/seats/", "/seat/"): 0}
    play_to_end(ann, copy)
    text = ann.get(f"{copy}/record").text
    assert json.loads(text.splitlines()[0])["agents"] == ["human (1 decision taken back)", "crowd"]
    assert Game.from_record(text).is_over


def test_a_copy_belongs_to_who_took_back(app: Starlette, ann: TestClient) -> None:
    ann.get("/")
    page = ann.post(
        "/api/games", json={"players": 2, "side": "front", "seats": ["human", "agent:random"]}
    ).json()["page"]
    bob, seat = guest_of(app, ann), api(page)
    assert bob.post(f"{seat}/claim").status_code == 200
    state = payload(bob, seat)
    act(bob, seat, state, state["legal"][0]["action"])
    copy = api(bob.post(f"{seat}/takeback", json={}).json()["page"])
    assert (people_at(bob, seat)["owner"], people_at(bob, copy)["owner"]) == (False, True)
    assert bob.delete(copy).status_code == 200
    assert bob.delete(seat).status_code == 403


def test_nobody_sits_down_where_hidden_cards_may_be_known(ann: TestClient) -> None:
    """A copy that is played to its end tells them, though it is deleted then; a lesson's deal
    everybody knows.
    """
    seat = begin(ann, ["me", "agent:random"])
    state = payload(ann, seat)
    act(ann, seat, state, state["legal"][0]["action"])
    assert people_at(ann, seat)["seats"][1]["can_be_opened"]
    copy = api(ann.post(f"{seat}/takeback", json={}).json()["page"])
    lesson = api("/" + ann.get("/tutorial", follow_redirects=False).headers["location"])
    left = api(ann.post(f"{lesson}/lesson/leave", json={"agent": "random"}).json()["page"])
    for each in (seat, copy, left):
        assert not people_at(ann, each)["seats"][1]["can_be_opened"]
        assert ann.post(f"{each}/people/1", json={}).status_code == 409
    assert ann.delete(copy).status_code == 200
    assert ann.post(f"{seat}/people/1", json={}).status_code == 409
    assert payload(ann, seat)["names"] == ["you", "random"]


def test_the_only_person_comes_back_to_a_copied_game(app: Starlette, ann: TestClient) -> None:
    seat = begin(ann, ["me", "agent:random"])
    state = payload(ann, seat)
    act(ann, seat, state, state["legal"][0]["action"])
    assert ann.post(f"{seat}/takeback", json={}).status_code == 201
    page = api(ann.post(f"{seat}/spectators").json()["page"])
    ann.post(f"{seat}/release")
    assert ann.post(f"{page}/people/0", json={"agent": "random"}).status_code == 200
    assert ann.post(f"{page}/people/0", json={}).status_code == 200


def test_nobody_takes_back_what_others_have_seen(app: Starlette, ann: TestClient) -> None:
    seat = begin(ann, ["me", "human"])
    state = payload(ann, seat)
    act(ann, seat, state, state["legal"][0]["action"])
    assert not people_at(ann, seat)["can_take_back"]
    assert ann.post(f"{seat}/takeback", json={}).status_code == 409


# ---- one screen ----


def test_two_at_one_screen_see_their_own_hands_alone(ann: TestClient) -> None:
    """Until the curtain is lifted nothing of a seat is told, whatever is asked; then nothing of the
    other one.
    """
    first = begin(ann, ["me", "me"], names=["Ann", "Bob"], seed="4242424242424242")
    second = api(
        next(game["page"] for game in ann.get("/api/games").json()["games"] if game["seat"] == 1)
    )
    seats = [first, second]
    heard: list[tuple[int, dict[str, Any]]] = []
    actor = 0
    for _ in range(400):
        told = [ann.get(seat).json() for seat in seats]
        if told[0].get("over") or told[1].get("over"):
            break
        (page,) = {each["curtain"]["page"] for each in told if "curtain" in each}
        if all("curtain" in each for each in told):
            assert [set(each) for each in told] == [{"curtain"}] * 2
            assert told[0] == told[1]
            actor = seats.index(api(page))
            assert told[0]["curtain"]["name"] == ["Ann", "Bob"][actor]
            for seat in seats:
                for request in ("hint?agent=random", "words"):
                    assert ann.get(f"{seat}/{request}").status_code == 409
                for request in ("act", "undo", "takeback"):
                    assert (
                        ann.post(f"{seat}/{request}", json={"action": 0, "step": 0}).status_code
                        == 409
                    )
            assert ann.post(f"{seats[1 - actor]}/lift").status_code == 409, (
                "the other one is to act"
            )
            assert ann.post(f"{seats[actor]}/lift").status_code == 200
            continue
        state = told[actor]
        assert set(told[1 - actor]) == {"curtain"}
        heard.append((actor, state))
        assert (
            act(
                ann, seats[actor], state, quick([choice["action"] for choice in state["legal"]])
            ).status_code
            == 200
        )
    assert len(heard) > 50
    open_one = next(seat for seat in seats if "curtain" not in ann.get(seat).json())
    replay = Replay.of(ann.get(f"{open_one}/record").content, 1)
    for whose, state in heard:
        check_is_known(replay, whose, state)


def test_a_restarted_server_lets_the_curtain_down(tmp_path: Path) -> None:
    path = tmp_path / "games.sqlite3"
    with client_of(make_app(path)) as ann:
        seat = begin(ann, ["me", "me"])
        assert ann.post(f"{seat}/lift").status_code == 200
        assert payload(ann, seat)["yours"]
        cookies = dict(ann.cookies)
    with client_of(make_app(path)) as ann:
        ann.cookies.update(cookies)
        assert set(payload(ann, seat)) == {"curtain"}
