"""The people at a table by the page's interface: names, presence, spectators, who plays which seat,
rematch, takeback, curtain.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from pages import (
    act,
    begin,
    check_is_known,
    client_of,
    drawn,
    payload,
    play_to_end,
    played,
    quick,
    seated,
    wait_for_turn,
    watch,
)
from starlette.applications import Starlette
from starlette.testclient import TestClient

from processes import wait_until
from skyenv import Game
from skyenv.page import people
from skyenv.page.replays import Replay

OVER = played(3, seed=4, turns=8)


def api(page: str) -> str:
    """The address in the interface of a seat's page."""
    return page.replace("/seat/", "/api/seats/")


def guest_of(app: Starlette, ann: TestClient) -> TestClient:
    """Another browser, whose requests run in the same event loop, as agents go on there."""
    guest = client_of(app)
    guest.portal = ann.portal
    guest.get("/")
    return guest


def people_at(client: TestClient, seat: str) -> dict[str, Any]:
    """Who is at the table."""
    told: dict[str, Any] = client.get(f"{seat}/people").json()
    return told


def change(client: TestClient, seat: str, number: int, agent: object) -> int:
    """Change who plays a seat; the status."""
    return client.post(f"{seat}/people/{number}", json={"agent": agent}).status_code


def first_choice(client: TestClient, seat: str) -> Any:
    """Play the first of the choices; what was told before."""
    state = wait_for_turn(client, seat)
    assert act(client, seat, state, state["legal"][0]["action"]).status_code == 200
    return state


# ---- names and presence ----


def test_names_and_presence_are_told(app: Starlette, ann: TestClient) -> None:
    bob = guest_of(app, ann)
    first, second, _ = seated(ann, None, "random")
    assert [each["is_free"] for each in people_at(ann, first)["seats"]] == [False, True, False]
    (invitation,) = payload(ann, first)["invitations"]
    assert (api(invitation["page"]), invitation["seat"]) == (second, 1)
    assert bob.post(f"{second}/claim", json={"name": "greedy"}).status_code == 400
    for name in ("Bob", "<b>Rob</b>"):
        assert bob.post(f"{second}/claim", json={"name": name}).status_code == 200
        assert payload(ann, first)["names"] == ["you", name, "random"]
    assert "<b>" not in drawn(payload(ann, first))
    assert payload(bob, second)["invitations"] == []
    with watch(ann, first) as socket:
        assert people_at(ann, first)["seats"][1]["seen"] is None
        with watch(bob, second):
            assert socket.receive_text() == "people"
            assert people_at(ann, first)["seats"][1]["is_here"]
        assert socket.receive_text() == "people"
        wait_until(lambda: not people_at(ann, first)["seats"][1]["is_here"])
        assert people_at(ann, first)["seats"][1]["seen"] > 0
    bob.post(f"{second}/release")
    assert payload(ann, first)["names"][1] == "Player 2", "the name has gone, too"


# ---- spectators ----


def test_spectators_see_what_everybody_knows_and_do_nothing(
    app: Starlette, ann: TestClient
) -> None:
    first, _ = seated(ann, "crowd", game=played(2, seed=4242424242424242, actions=60))
    bob, eve = guest_of(app, ann), guest_of(app, ann)
    page = ann.post(f"{first}/spectators").json()["page"]
    assert ann.post(f"{first}/spectators").json()["page"] == page
    assert ann.get(f"{first}/people").json()["watch"] == page
    looking = api(page)
    state, told = wait_for_turn(ann, first), payload(bob, looking)
    about: dict[str, Any] = {
        "seat": None,
        "yours": False,
        "legal": [],
        "watching": True,
        "owner": False,
    }
    assert told | about | {"invitations": [], "undo": False} == told
    assert (told["people"]["watch"], "data-card" in drawn(told)) == (None, False)
    text = json.dumps(told)
    assert not re.search(r"draws a black [456]", text)
    assert "4242424242424242" not in text
    assert re.search(r"cards? of seat [^<]*, not known", drawn(told))
    assert bob.get(f"{looking}/words").json()["text"].count("as everybody sees it") == 1
    for request in ("act", "undo", "release", "pause", "next", "takeback", "rematch", "spectators"):
        wanted = {"action": 1, "step": state["step"], "seconds": 1}
        assert bob.post(f"{looking}/{request}", json=wanted).status_code in (403, 409), request
    assert change(bob, looking, 0, "greedy") == 403
    for request in ("record", "hint?agent=greedy"):
        assert bob.get(f"{looking}/{request}").status_code in (403, 409)
    assert bob.delete(looking).status_code == 403
    assert bob.get("/api/games").json()["games"] == []
    with watch(bob, looking), watch(eve, looking), watch(eve, looking):
        wait_until(lambda: people_at(ann, first)["spectators"] == 2)
        assert people_at(bob, looking)["spectators"] == 1
    wait_until(lambda: people_at(ann, first)["spectators"] == 0)
    (game,) = bob.get("/api/games").json()["games"]
    assert (api(game["page"]), game["owner"]) == (looking, False)


# ---- who plays ----


def test_an_agent_plays_for_a_person_who_is_away_and_gives_the_seat_back(
    app: Starlette, ann: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    bob = guest_of(app, ann)
    second, first = seated(bob, ann)
    bob.post(f"{second}/claim", json={"name": "Bob"})
    assert change(ann, first, 0, "random") == 403, "Bob has made the game"
    first, second = seated(ann, bob)
    bob.post(f"{second}/claim", json={"name": "Bob"})
    first_choice(ann, first)
    assert change(ann, first, 1, "random") == 400, "he has just been there"
    monkeypatch.setattr(people, "AWAY", 0.0)
    with watch(bob, second):
        assert change(ann, first, 1, "random") == 400, "he is there"
    wait_until(lambda: people_at(ann, first)["seats"][1]["can_be_agents"])
    wrong = [change(ann, first, 1, each) for each in ("os:system", 7, None)]
    assert [*wrong, change(ann, first, 9, None)] == [404, 400, 400, 404]
    assert change(ann, first, 1, "crowd") == change(ann, first, 1, "random") == 200
    told = people_at(ann, first)["seats"][1]
    assert (told["is_agent"], told["person"], told["name"]) == (True, "Bob", "random")
    wait_until(lambda: payload(ann, first)["step"] >= 2)  # it has played for him
    state = payload(bob, second)
    assert (state["yours"], act(bob, second, state, 0).status_code) == (False, 409)
    assert ann.get(f"{first}/record").status_code == 403, "hands stay hidden: he may come back"
    assert change(ann, first, 1, None) == 200
    assert payload(ann, first)["names"] == ["you", "Bob"]
    assert not people_at(bob, second)["seats"][1]["is_agent"]


def test_a_person_takes_an_agents_seat_and_the_record_tells(
    app: Starlette, ann: TestClient
) -> None:
    first = seated(ann, "random", None, game=played(3, seed=2, actions=1, turns=2))[0]
    assert change(ann, first, 1, None) == change(ann, first, 2, "random") == 200
    bob = guest_of(app, ann)
    second = api(payload(ann, first)["invitations"][0]["page"])
    assert bob.post(f"{second}/claim").status_code == 200
    assert payload(bob, second)["seat"] == 1
    ways = [(ann, first), (bob, second)]
    while not (state := payload(ann, first))["over"]:
        for client, seat in ways:
            if (state := payload(client, seat))["yours"]:
                act(client, seat, state, quick([each["action"] for each in state["legal"]]))
    header = json.loads(ann.get(f"{first}/record").text.splitlines()[0])
    since = "from action 1"
    assert header["agents"] == ["human", f"random, human {since}", f"human, random {since}"]
    alone = begin(ann, ["agent:random", "agent:random"])
    assert change(ann, alone, 1, None) == 409, "all hands are open there"


# ---- rematch and takeback ----


def test_a_rematch_has_the_same_people_and_another_first_seat(
    app: Starlette, ann: TestClient
) -> None:
    bob, eve = guest_of(app, ann), guest_of(app, ann)
    assert first_choice(ann, going := seated(ann, "random")[0])
    assert ann.post(f"{going}/rematch").status_code == 409
    first, _, third = seated(ann, "random", bob, game=OVER)
    ann.post(f"{first}/claim", json={"name": "Ann"})
    looking = api(ann.post(f"{first}/spectators").json()["page"])
    assert people_at(bob, third)["rematch"] is None
    again = api(bob.post(f"{third}/rematch").json()["page"])
    annas = api(ann.post(f"{first}/rematch").json()["page"])
    assert [api(people_at(*each)["rematch"]) for each in ((ann, first), (bob, third))] == [
        annas,
        again,
    ]
    assert payload(bob, again)["names"] == ["random", "you", "Ann"]
    assert (payload(ann, annas)["seat"], payload(ann, annas)["owner"]) == (2, True)
    assert payload(eve, api(people_at(eve, looking)["rematch"]))["watching"]
    assert eve.post(f"{looking}/rematch").status_code == 403
    assert ann.delete(annas).status_code == 200
    assert people_at(bob, third)["rematch"] is None
    bob.post(f"{third}/release")
    assert ann.post(f"{first}/rematch").status_code == 201
    assert eve.post(f"{third}/claim").status_code == 200
    answer = eve.post(f"{third}/rematch")
    assert (answer.status_code, "page" in answer.json()) == (403, False), "it is nobody's way"


def test_a_takeback_is_a_copy_with_the_same_chance(app: Starlette, ann: TestClient) -> None:
    """The same actions in it lead to the same cards and answers, and the record tells that
    something was taken back.
    """
    seat, _ = seated(ann, "crowd", game=played(2, seed=5, turns=8))
    over = payload(ann, seat)
    assert over["people"]["can_take_back"]
    seat, _ = seated(ann, "crowd", game=Game(2, seed=5, max_turns=8))
    assert ann.post(f"{seat}/takeback", json={}).status_code == 409, "nothing has been decided yet"
    for _ in range(8):
        state = first_choice(ann, seat)
    before, key = wait_for_turn(ann, seat), {"idempotency_key": "0123456789abcdef"}
    page = ann.post(f"{seat}/takeback", json=key).json()["page"]
    assert ann.post(f"{seat}/takeback", json=key).json()["page"] == page, "a double click"
    copy, people_then = api(page), payload(ann, seat)["people"]
    assert payload(ann, seat) == {**before, "people": people_then}, "the game itself stays"
    back = payload(ann, copy)
    assert (back["step"], back["yours"]) == (state["step"], True)
    assert back["legal"] == state["legal"]
    first_choice(ann, copy)
    same = wait_for_turn(ann, copy)
    for told in ("drawing", "log", "legal"):
        assert same[told] == before[told]
    assert people_at(ann, copy)["taken_back"] == 1
    play_to_end(ann, copy)
    text = ann.get(f"{copy}/record").text
    assert json.loads(text.splitlines()[0])["agents"] == ["human (1 decision taken back)", "crowd"]
    assert Game.from_record(text).is_over
    alone = seated(ann, None, game=played(2, seed=1, actions=4))[0]
    assert not people_at(ann, alone)["can_take_back"]
    assert ann.post(f"{alone}/takeback", json={}).status_code == 409, "others have seen it"


def test_nobody_sits_down_where_hidden_cards_may_be_known(ann: TestClient) -> None:
    """A copy that is played to its end tells them, though it is deleted then; a lesson's deal
    everybody knows.
    """
    seat, _ = seated(ann, "random")
    first_choice(ann, seat)
    assert people_at(ann, seat)["seats"][1]["can_be_persons"]
    copy = api(ann.post(f"{seat}/takeback", json={}).json()["page"])
    lesson = api("/" + ann.get("/tutorial", follow_redirects=False).headers["location"])
    left = api(ann.post(f"{lesson}/lesson/leave", json={"agent": "random"}).json()["page"])
    for each in (seat, copy, left, lesson):
        assert not people_at(ann, each)["seats"][1]["can_be_persons"]
        assert change(ann, each, 1, None) == 409
    assert ann.delete(copy).status_code == 200
    assert change(ann, seat, 1, None) == 409
    watching = api(ann.post(f"{seat}/spectators").json()["page"])
    ann.post(f"{seat}/release")
    assert change(ann, watching, 0, "random") == change(ann, watching, 0, None) == 200, (
        "the only person may come back"
    )


# ---- one screen ----


@pytest.mark.usefixtures("short_games")
def test_two_at_one_screen_see_their_own_hands_alone(ann: TestClient) -> None:
    """Until the curtain is lifted nothing of a seat is told, whatever is asked; then nothing of the
    other one.
    """
    first = begin(ann, ["me", "me"], names=["Ann", "Bob"], seed="4242424242424242")
    (second,) = (
        api(game["page"]) for game in ann.get("/api/games").json()["games"] if game["seat"] == 1
    )
    seats, actor, heard = [first, second], 0, []
    while True:
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
                asked = [ann.get(f"{seat}/{each}") for each in ("hint?agent=random", "words")]
                choice = {"action": 0, "step": 0}
                asked += [
                    ann.post(f"{seat}/{each}", json=choice) for each in ("act", "undo", "takeback")
                ]
                assert {answer.status_code for answer in asked} == {409}
            assert ann.post(f"{seats[1 - actor]}/lift").status_code == 409, "not that one's turn"
            lifted = ann.post(f"{seats[actor]}/lift?page=1").json()
            assert lifted == payload(ann, seats[actor])
            continue
        state = told[actor]
        assert set(told[1 - actor]) == {"curtain"}
        heard.append((actor, state))
        choices = [choice["action"] for choice in state["legal"]]
        assert act(ann, seats[actor], state, quick(choices)).status_code == 200
    assert len(heard) > 50
    open_one = next(seat for seat in seats if "curtain" not in ann.get(seat).json())
    replay = Replay.of(ann.get(f"{open_one}/record").content, 1)
    for whose, state in heard:
        check_is_known(replay, whose, state)
