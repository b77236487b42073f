"""Positions edited by hand: what comes of an edit is a position of the game, or the error says what would be right."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pages import another, played
from starlette.applications import Starlette
from starlette.testclient import TestClient

from skyenv import Game
from skyenv.errors import PageError
from skyenv.page.editor import described, edited
from skyenv.page.kept import Kept
from skyenv.page.replays import Replay

Edit = dict[str, Any]


@pytest.fixture(scope="module")
def replay() -> Replay:
    """A game of two."""
    return Replay.of(played(2, seed=3).to_record().encode(), 1)


def turn(replay: Replay, after: int) -> int:
    """A step in which a turn begins."""
    return next(step for step in range(after, replay.steps) if replay.at(step).phase == "option")


def plot(edit: Edit, name: str) -> Edit:
    """A plot of an edit."""
    found: Edit = next(one for one in edit["plots"] if one["name"] == name)
    return found


def test_an_edit_that_changes_nothing_gives_the_same_position(replay: Replay) -> None:
    step = turn(replay, 60)
    before, after = replay.at(step).state, edited(replay, step, described(replay.states[step])).game.state
    forgotten = {"deduced", "held", "held_together", "num_held", "shown", "num_shown"}
    assert all((before[field] == after[field]).all() for field in set(before.dtype.names or ()) - forgotten)


def test_cards_and_skyscrapers_are_conserved_and_the_game_goes_on(replay: Replay) -> None:
    step = turn(replay, 60)
    edit = described(replay.states[step])
    before = replay.at(step).state
    black = int(np.flatnonzero(before["face_down"][5])[0])
    edit["seats"][0]["hand"]["black"][black] += 1
    edit["seats"][1]["vp"] = 42
    edit["seats"][1]["supply"] += 3 if before["general"][1] else -3
    edit["turn"] = 1
    edit["places"][0] = "CENTRAL_PARK"
    after = edited(replay, step, edit)
    game, state = after.game, after.game.state
    assert (state["hand"].sum(axis=0) + state["face_down"] == before["hand"].sum(axis=0) + before["face_down"]).all()
    assert (state["supply"] + state["general"] == before["supply"] + before["general"]).all()
    assert (game.scores[1], game.seat, int(state["place"][0]), int(state["markers"][0])) == (42, 1, 7, 0)
    chance = random.Random(1)
    while not game.is_over:
        game.play(chance.choice(game.legal_actions))


def change(path: str, value: Any) -> Callable[[Edit], None]:
    """An edit of one entry, such as "seats 0 vp"."""

    def make(edit: Edit) -> None:
        *way, last = [int(one) if one.isdigit() else one for one in path.split()]
        entry: Any = edit
        for one in way:
            entry = entry[one]
        entry[last] = value

    return make


def on_plot(where: str, **values: Any) -> Callable[[Edit], None]:
    """An edit of a plot."""
    return lambda edit: plot(edit, where).update(values)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (change("seats 0 vp", -1), "VP of seat 1 must be"),
        (change("seats 0 hand green", [20, 0, 0]), "COM-1"),
        (change("seats 0 hand", []), "three numbers for green"),
        (change("seats 1 supply", 17), "COM-2"),
        (change("turn", 2), "turn"),
        (change("places 1", "BROADWAY"), "a commissioner stands in"),
        (change("seats", []), "list seats of 2"),
        (on_plot("W34 green", owner=0, floors=0, businesses=[]), "skyscrapers need an owner"),
        (on_plot("W34 green", owner=3, floors=1, businesses=[]), "nobody at this table is seat 4"),
        (on_plot("W34 green", owner=0, floors=1, businesses=["gallery"]), "never both"),
        (on_plot("W34 green", owner=None, floors=0, businesses=["gallery"] * 3), "at most two"),
        (on_plot("W34 green", name="W34 sixth"), "no plot"),
    ],
)
def test_what_is_wrong_is_told(replay: Replay, make: Callable[[Edit], None], told: str) -> None:
    step = turn(replay, 60)
    edit = copy.deepcopy(described(replay.states[step]))
    make(edit)
    with pytest.raises(PageError, match=told):
        edited(replay, step, edit)


@pytest.mark.rule("AUC-11", "TURN-2")
def test_one_plot_in_a_district_and_threes_in_the_general_supply(replay: Replay) -> None:
    step = turn(replay, 20)
    edit = described(replay.states[step])
    edit["seats"][0]["supply"] = max(edit["seats"][0]["supply"] - 1, 0)
    if edit["seats"][0]["supply"] != int(replay.states[step]["supply"][0]):
        with pytest.raises(PageError, match=r"general supply of seat 1.*put \d more into the supply"):
            edited(replay, step, edit)
    edit = described(replay.states[step])
    for name in ("TSQ green", "TSQ violet"):
        plot(edit, name).update(owner=1, floors=1, businesses=[])
    with pytest.raises(PageError, match=r"seat 2 stands on \d plots of TSQ"):
        edited(replay, step, edit)


def test_positions_within_a_turn_are_not_edited(replay: Replay) -> None:
    step = next(step for step in range(40, 99) if replay.at(step).phase != "option")
    assert "where a turn begins" in described(replay.states[step])["why"]
    with pytest.raises(PageError, match="where a turn begins"):
        edited(replay, step, described(replay.states[step]))


def test_an_edited_position_is_looked_at_like_a_replay(app: Starlette, ann: TestClient, replay: Replay) -> None:
    ann.get("/")
    record = replay.game.to_record()
    key = ann.post("/api/replays", content=record).json()["page"].rpartition("/")[2]
    step = turn(replay, 60)
    address = f"/api/replays/{key}/1/{step}/edit"
    edit = ann.get(address).json()
    edit["seats"][0]["vp"] = 77
    edit["plots"] = []
    made = ann.post(address, json=edit)
    assert made.status_code == 201, made.text
    api = made.json()["page"].replace("/replay/", "/api/replays/")
    assert ann.get(api).json()["games"][0]["scores"][0] == 77
    assert ann.get(f"{api}/1").json()["steps"] == 0
    assert "77 VP" in ann.get(f"{api}/1/0/picture.svg").text
    assert ann.get(f"{api}/1/0/chances").status_code == 200
    assert ann.post(f"{api}/1/0/playouts?agent=crowd&agent=crowd&number=2").status_code == 202
    assert ann.get(f"{api}/1/0/edit").json()["seats"][0]["vp"] == 77
    assert ann.post(f"{api}/1/0/variations", json={"seats": ["me", "me"]}).status_code == 409
    assert ann.post(f"{api}/1/made/gif").status_code == 409
    eve = another(app)
    assert eve.get(api).status_code == eve.get(f"{api}/1").status_code == 404
    edit["turn"] = 9
    assert "turn" in ann.post(address, json=edit).json()["error"]
    assert Game.from_record(record, step=step).scores[0] != 77


def test_nobody_edits_others_positions_away(app: Starlette, ann: TestClient, replay: Replay) -> None:
    app.state.edited = Kept(3)

    def made(client: TestClient) -> str:
        client.get("/")
        key = client.post("/api/replays", content=replay.game.to_record()).json()["page"].rpartition("/")[2]
        address = f"/api/replays/{key}/1/{turn(replay, 60)}/edit"
        page: str = client.post(address, json=client.get(address).json() | {"plots": []}).json()["page"]
        return page.replace("/replay/", "/api/replays/")

    own = made(ann)
    for _ in range(4):
        eve = another(app, "10.0.0.1")  # another browser each time
        theirs = made(eve)
    assert (ann.get(own).status_code, eve.get(theirs).status_code, len(app.state.edited)) == (200, 200, 3)
