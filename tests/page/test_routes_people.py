"""The people at a table by the page's interface: names, presence, spectators, who plays which seat,
rematch, takeback, curtain.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from pages import (
    Json,
    act,
    begin,
    check_is_known,
    client_of,
    drawn,
    first_choice,
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
from test_game_server import in_auction, whole_bid

from processes import wait_until
from skyenv import Game
from skyenv.page import people
from skyenv.page.replays import Replay

OVER = played(3, seed=4, turns=8)


@pytest.fixture
def guests(app: Starlette, ann: TestClient) -> list[TestClient]:
    """Two other browsers, whose requests run in the same event loop, as agents go on there."""
    clients = [client_of(app), client_of(app)]
    for client in clients:
        client.portal = ann.portal
        client.get("/")
    return clients


def made(answer: Any) -> str:
    """The address in the interface of the page that an answer leads to."""
    return str(answer.json()["page"]).replace("/seat/", "/api/seats/")


def people_at(client: TestClient, seat: str) -> Json:
    """Who is at the table."""
    told: Json = client.get(f"{seat}/people").json()
    return told


def change(client: TestClient, seat: str, number: int, agent: object) -> int:
    """Change who plays a seat; the status."""
    return client.post(f"{seat}/people/{number}", json={"agent": agent}).status_code


def test_names_and_presence_are_told(ann: TestClient, guests: list[TestClient]) -> None:
    bob, _ = guests
    first, second, _ = seated(ann, None, "random")
    page = second.replace("api/seats", "seat")
    assert payload(ann, first)["invitations"] == [{"seat": 1, "page": page}]
    assert bob.post(f"{second}/claim", json={"name": "greedy"}).status_code == 400
    assert bob.post(f"{second}/claim", json={"name": "<b>Rob</b>"}).status_code == 200
    assert payload(ann, first)["names"] == ["you", "<b>Rob</b>", "random"]
    assert "<b>" not in drawn(payload(ann, first))
    assert payload(bob, second)["invitations"] == []
    with watch(ann, first) as socket:
        with watch(bob, second):
            assert socket.receive_text() == "people"
            assert people_at(ann, first)["seats"][1]["is_here"]
        wait_until(lambda: not people_at(ann, first)["seats"][1]["is_here"])
        assert people_at(ann, first)["seats"][1]["seen"] > 0
    bob.post(f"{second}/release")
    assert payload(ann, first)["names"][1] == "Player 2", "the name has gone, too"


def test_spectators_see_what_everybody_knows_and_do_nothing(
    ann: TestClient, guests: list[TestClient]
) -> None:
    game = played(2, seed=4242424242424242, actions=60)
    first, _ = seated(ann, "crowd", game=game)
    state, (bob, eve) = wait_for_turn(ann, first), guests
    looking = made(ann.post(f"{first}/spectators"))
    assert made(ann.post(f"{first}/spectators")) == looking
    told = payload(bob, looking)
    about: Json = {"seat": None, "yours": False, "legal": [], "watching": True, "owner": False}
    assert told | about | {"invitations": [], "undo": False} == told
    assert (told["people"]["watch"], "data-card" in drawn(told)) == (None, False)
    check_is_known(Replay.of(game.to_record().encode(), 1), -1, told)
    wanted = {"action": 1, "step": state["step"], "seconds": 1, "agent": "greedy"}
    refused = ("act", "undo", "release", "pause", "next", "takeback", "rematch", "spectators")
    for request in (*refused, "people/0"):
        assert bob.post(f"{looking}/{request}", json=wanted).status_code in (403, 409), request
    assert bob.get(f"{looking}/hint?agent=greedy").status_code == 409
    assert (bob.get(f"{looking}/record").status_code, bob.delete(looking).status_code) == (403, 403)
    assert bob.get("/api/games").json()["games"] == []
    with watch(bob, looking), watch(eve, looking), watch(eve, looking):
        wait_until(lambda: people_at(ann, first)["spectators"] == 2)
    (listed,) = bob.get("/api/games").json()["games"]
    assert (listed["seat"], listed["owner"]) == (None, False)


@pytest.mark.usefixtures("short_games")
def test_an_agent_plays_for_a_person_who_is_away_and_gives_the_seat_back(
    ann: TestClient, guests: list[TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person takes an agent's seat, too, and the record tells both."""
    bob, eve = guests
    first, second, _ = seated(ann, bob, "crowd")
    bob.post(f"{second}/claim", json={"name": "Bob"})
    assert change(bob, second, 2, "random") == 403, "Ann has made the game"
    first_choice(ann, first)
    assert change(ann, first, 1, "random") == 400, "he has just been there"
    monkeypatch.setattr(people, "AWAY", 0.0)
    with watch(bob, second):
        assert change(ann, first, 1, "random") == 400, "he is there"
    wait_until(lambda: people_at(ann, first)["seats"][1]["can_be_agents"])
    wrong = [change(ann, first, 1, each) for each in ("os:system", 7, None)]
    assert [*wrong, change(ann, first, 9, None)] == [404, 400, 400, 404]
    assert change(ann, first, 1, "random") == 200
    told = people_at(ann, first)["seats"][1]
    assert (told["is_agent"], told["person"], told["name"]) == (True, "Bob", "random")
    wait_until(lambda: payload(ann, first)["step"] >= 3)  # it has played for him
    assert act(bob, second, payload(bob, second), 0).status_code == 409
    assert ann.get(f"{first}/record").status_code == 403, "hands stay hidden: he may come back"
    assert change(ann, first, 1, None) == 200
    assert payload(ann, first)["names"] == ["you", "Bob", "crowd"]
    assert change(ann, first, 2, None) == 200
    third = payload(ann, first)["invitations"][0]["page"].replace("/seat/", "/api/seats/")
    assert eve.post(f"{third}/claim").status_code == 200
    ways = [(ann, first), (bob, second), (eve, third)]
    while not (state := payload(ann, first))["over"]:
        for client, seat in ways:
            if (state := payload(client, seat))["yours"]:
                act(client, seat, state, quick([each["action"] for each in state["legal"]]))
    agents = "; ".join(json.loads(ann.get(f"{first}/record").text.splitlines()[0])["agents"])
    since = r"from action \d+"
    assert re.fullmatch(
        f"human; human, random {since}, human {since}; crowd, human {since}", agents
    )
    alone = begin(ann, ["agent:random", "agent:random"])
    assert change(ann, alone, 1, None) == 409, "all hands are open there"


def test_a_rematch_has_the_same_people_and_another_first_seat(
    ann: TestClient, guests: list[TestClient]
) -> None:
    bob, eve = guests
    assert ann.post(f"{seated(ann, 'random')[0]}/rematch").status_code == 409, "it goes on"
    first, _, third = seated(ann, "random", bob, game=OVER)
    ann.post(f"{first}/claim", json={"name": "Ann"})
    looking = made(ann.post(f"{first}/spectators"))
    bobs, annas = made(bob.post(f"{third}/rematch")), made(ann.post(f"{first}/rematch"))
    assert people_at(ann, first)["rematch"] == annas.replace("api/seats", "seat")
    assert payload(bob, bobs)["names"] == ["random", "you", "Ann"]
    assert (payload(ann, annas)["seat"], payload(ann, annas)["owner"]) == (2, True)
    assert eve.post(f"{looking}/rematch").status_code == 403
    assert ann.delete(annas).status_code == 200
    bob.post(f"{third}/release")
    assert ann.post(f"{first}/rematch").status_code == 201
    assert eve.post(f"{third}/claim").status_code == 200
    assert eve.post(f"{third}/rematch").status_code == 403, "it is nobody's way"


def test_a_takeback_is_a_copy_with_the_same_chance(ann: TestClient) -> None:
    """It goes back to before a whole bid; the same bid in it leads to the same cards and answers,
    and the record tells that something was taken back.
    """
    seat, _ = seated(ann, "crowd", game=Game(2, seed=5))
    assert ann.post(f"{seat}/takeback", json={}).status_code == 409, "nothing has been decided yet"
    game = in_auction()
    seat, _ = seated(ann, "crowd", game=game)
    state, key = payload(ann, seat), {"idempotency_key": "0123456789abcdef"}
    bid = {"actions": whole_bid(game), "step": state["step"]}
    assert ann.post(f"{seat}/act", json=bid).status_code == 200
    before = wait_for_turn(ann, seat)
    copy = made(ann.post(f"{seat}/takeback", json=key))
    assert made(ann.post(f"{seat}/takeback", json=key)) == copy, "a double click"
    assert payload(ann, copy)["legal"] == state["legal"]
    assert ann.post(f"{copy}/act", json=bid).status_code == 200
    same = wait_for_turn(ann, copy)
    assert [same[told] == before[told] for told in ("drawing", "log", "legal")] == [True] * 3
    play_to_end(ann, copy)
    text = ann.get(f"{copy}/record").text
    assert json.loads(text.splitlines()[0])["agents"] == ["human (1 decision taken back)", "crowd"]
    alone = seated(ann, None, game=played(2, seed=1, actions=4))[0]
    assert ann.post(f"{alone}/takeback", json={}).status_code == 409, "others have seen it"


def test_nobody_sits_down_where_hidden_cards_may_be_known(ann: TestClient) -> None:
    """A copy that is played to its end tells them, though it is deleted then; a lesson's deal
    everybody knows.
    """
    seat, _ = seated(ann, "random")
    first_choice(ann, seat)
    assert people_at(ann, seat)["seats"][1]["can_be_persons"]
    copy = made(ann.post(f"{seat}/takeback", json={}))
    lesson = "/api/seats/" + ann.get("/tutorial").url.path.rpartition("/")[2]
    left = made(ann.post(f"{lesson}/lesson/leave", json={"agent": "random"}))
    for each in (seat, copy, left, lesson):
        assert not people_at(ann, each)["seats"][1]["can_be_persons"]
        assert change(ann, each, 1, None) == 409
    assert ann.delete(copy).status_code == 200
    assert change(ann, seat, 1, None) == 409
    watching = made(ann.post(f"{seat}/spectators"))
    ann.post(f"{seat}/release")
    assert change(ann, watching, 0, "random") == change(ann, watching, 0, None) == 200, (
        "the only person may come back"
    )


@pytest.mark.usefixtures("short_games")
def test_two_at_one_screen_see_their_own_hands_alone(ann: TestClient) -> None:
    """Until the curtain is lifted nothing of a seat is told, whatever is asked; then nothing of the
    other one.
    """
    begin(ann, ["me", "me"], names=["Ann", "Bob"], seed="4242424242424242")
    games = sorted(ann.get("/api/games").json()["games"], key=lambda game: int(game["seat"]))
    seats, heard = [game["page"].replace("/seat/", "/api/seats/") for game in games], []
    told = [ann.get(seat).json() for seat in seats]
    while not any(each.get("over") for each in told):
        page = next(each["curtain"]["page"] for each in told if "curtain" in each)
        if all(set(each) == {"curtain"} for each in told):
            assert told[0] == told[1]
            actor = [game["page"] for game in games].index(page)
            assert told[0]["curtain"]["name"] == ["Ann", "Bob"][actor]
            for seat in seats:
                asked = [ann.get(f"{seat}/{each}") for each in ("hint?agent=random", "words")]
                choice = {"action": 0, "step": 0}
                asked += [
                    ann.post(f"{seat}/{each}", json=choice) for each in ("act", "undo", "takeback")
                ]
                assert {answer.status_code for answer in asked} == {409}
            assert ann.post(f"{seats[1 - actor]}/lift").status_code == 409, "not that one's turn"
            told[actor] = ann.post(f"{seats[actor]}/lift?page=1").json()
        assert set(told[1 - actor]) == {"curtain"}
        heard.append((actor, told[actor]))
        choices = [choice["action"] for choice in told[actor]["legal"]]
        assert act(ann, seats[actor], told[actor], quick(choices)).status_code == 200
        told = [ann.get(seat).json() for seat in seats]
    assert len(heard) > 50
    open_one = next(seat for seat in seats if "curtain" not in ann.get(seat).json())
    replay = Replay.of(ann.get(f"{open_one}/record").content, 1)
    for whose, state in heard:
        check_is_known(replay, whose, state)
