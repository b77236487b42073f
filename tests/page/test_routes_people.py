"""Players of a table by the API: spectators, rematch, undo, curtain.

The visible side is in test_browser.py.
"""

import itertools
from xml.etree import ElementTree

import pytest
from pages import (
    Json,
    act,
    another,
    begin,
    check_is_told_to,
    client_of,
    led_to,
    payload,
    played,
    quick_catalogue,
    seated,
    wait_for_turn,
)
from starlette.applications import Starlette
from starlette.testclient import TestClient

from skyenv.page.storage import MEMORY, Storage
from skyenv.page.web import application


@pytest.fixture
def bob(app: Starlette, ann: TestClient) -> TestClient:
    """Another client with the same event loop, in which agents act."""
    client = another(app)
    client.portal = ann.portal
    return client


def watching(client: TestClient, seat: str) -> str:
    """Return the API address of a game's spectator link."""
    return str(payload(client, seat)["people"]["watch"]).replace("/seat/", "/api/seats/")


def test_spectators_see_the_public_view_and_cannot_act(ann: TestClient, bob: TestClient) -> None:
    first, _ = seated(ann, None, game=played(2, seed=4242424242424242, actions=60))
    told = payload(bob, looking := watching(ann, first))
    about: Json = {"seat": None, "yours": False, "legal": [], "watching": True, "owner": False}
    assert told | about | {"invitations": [], "undo": False} == told
    check_is_told_to(-1, told)
    wanted = {"action": 1, "step": told["step"], "seconds": 1, "agent": "greedy"}
    for request in ("act", "undo", "release", "pause", "next", "rematch"):
        assert bob.post(f"{looking}/{request}", json=wanted).status_code in (403, 409), request
    assert (bob.get(f"{looking}/record").status_code, bob.delete(looking).status_code) == (403, 403)


def test_a_seats_address_is_a_qr_code() -> None:
    """For each seat its own, also for those who don't sit there; a loopback address has none."""
    with client_of(application(Storage(MEMORY), quick_catalogue())) as ann:
        pages = [seat.replace("/api/seats/", "/seat/") for seat in seated(ann, None)]
        there = {"host": "192.168.1.2:8421"}
        pictures = {ann.get(f"{page}/qr", headers=there).text for page in pages}
        assert len(pictures) == len(pages)
        assert "--host" in (local := ann.get(f"{pages[0]}/qr").text)
        assert ann.get("/seat/none/qr").status_code == 404
    assert all(ElementTree.fromstring(one).tag.endswith("svg") for one in (*pictures, local))


def test_a_rematch_rotates_the_seats_of_the_same_players(ann: TestClient, bob: TestClient) -> None:
    assert ann.post(f"{seated(ann, 'random')[0]}/rematch").status_code == 409, "it goes on"
    first, _, third = seated(ann, "random", bob, game=played(3, seed=4, turns=8))
    ann.post(f"{first}/claim", json={"name": "Ann"})
    bobs, annas = led_to(bob.post(f"{third}/rematch")), led_to(ann.post(f"{first}/rematch"))
    assert payload(bob, bobs)["names"] == ["Random", "you", "Ann"]
    assert (payload(ann, annas)["seat"], payload(ann, annas)["owner"]) == (2, True)
    assert bob.post(f"{watching(ann, first)}/rematch").status_code == 403


def test_the_only_person_takes_back_any_choice(ann: TestClient) -> None:
    """The same choice gives the same cards and replies."""
    seat, _ = seated(ann, "random")
    assert ann.post(f"{seat}/undo").status_code == 409, "nothing has been decided yet"
    assert act(ann, seat, wait_for_turn(ann, seat)).status_code == 200
    before = wait_for_turn(ann, seat)
    undone = ann.post(f"{seat}/undo?page=1").json()
    assert (undone["step"], undone["people"]["taken_back"]) == (0, 1)
    assert act(ann, seat, undone).status_code == 200
    same = wait_for_turn(ann, seat)
    assert [same[told] == before[told] for told in ("drawing", "log", "legal")] == [True] * 3
    (listed,) = ann.get("/api/games").json()["games"]
    assert listed["taken_back"] == 1


COVERED = [
    *(("GET", path) for path in ("hint?agent=random", "words")),
    *(("POST", path) for path in ("act", "undo")),
]


@pytest.mark.usefixtures("short_games")
def test_players_at_one_screen_see_only_their_own_hands(ann: TestClient) -> None:
    """Until the curtain is lifted no payload of a seat is sent; then only its own."""
    begin(ann, ["me", "me"], names=["Ann", "Bob"], seed="4242424242424242")
    games = sorted(ann.get("/api/games").json()["games"], key=lambda game: int(game["seat"]))
    seats = [game["page"].replace("/seat/", "/api/seats/") for game in games]
    told = [ann.get(seat).json() for seat in seats]
    while not any(each.get("over") for each in told):
        if all(set(each) == {"curtain"} for each in told):
            actor = [game["page"] for game in games].index(told[0]["curtain"]["page"])
            for seat, (method, path) in itertools.product(seats, COVERED):
                answer = ann.request(method, f"{seat}/{path}", json={"action": 0, "step": 0})
                assert answer.status_code == 409, path
            assert ann.post(f"{seats[1 - actor]}/lift").status_code == 409, "not that one's turn"
            told[actor] = ann.post(f"{seats[actor]}/lift?page=1").json()
        assert set(told[1 - actor]) == {"curtain"}
        check_is_told_to(actor, told[actor])
        assert act(ann, seats[actor], told[actor]).status_code == 200
        told = [ann.get(seat).json() for seat in seats]
    assert any(each.get("step", 0) > 40 for each in told)
