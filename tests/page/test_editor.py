"""Positions edited by hand: what comes of an edit is a position of the game, or the error says what
would be right.
"""

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
from skyenv.page.edited_city import ways_to
from skyenv.page.editor import described, edited
from skyenv.page.errors import PageError
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
    before, after = (
        replay.at(step).state,
        edited(replay, step, described(replay.states[step])).game.state,
    )
    forgotten = {"deduced"}
    assert all(
        (before[field] == after[field]).all() for field in set(before.dtype.names or ()) - forgotten
    )


def test_cards_and_skyscrapers_are_conserved_and_the_game_goes_on(replay: Replay) -> None:
    step = turn(replay, 60)
    edit = described(replay.states[step])
    before = replay.at(step).state
    black = int(np.flatnonzero(before["face_down"][5])[0])
    edit["seats"][0]["hand"]["black"][black] += 1
    edit["seats"][1]["vp"] = 42
    edit["seats"][1]["supply"] += 3 if before["general"][1] else -3
    edit["turn"] = 1
    edit["places"][0], edit["ways"][0] = "CENTRAL_PARK", ["E34", "TSQ", "W52"]
    after = edited(replay, step, edit)
    game, state = after.game, after.game.state
    assert (
        state["hand"].sum(axis=0) + state["face_down"]
        == before["hand"].sum(axis=0) + before["face_down"]
    ).all()
    assert (state["supply"] + state["general"] == before["supply"] + before["general"]).all()
    assert (game.scores[1], game.seat, int(state["place"][0]), state["visited"][0].tolist()) == (
        42,
        1,
        7,
        [1, 3, 5],
    )
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
        (
            change("ways 1", ["W34", "E42"]),
            r"beige commissioner leaves markers on its way .* \(MOVE-2\): they lie in",
        ),
        (change("ways 1", "W34"), "MOVE-2"),
        (change("ways", [[]]), "list ways of 2"),
        (change("tops 0", 7), "the visible green card must be"),
        (change("tops 0", None), "the visible green card must be a value"),
        (change("row 19", None), "space 20 of the supply row must have one of"),
        (change("row 19", "bank"), "space 20 of the supply row must have one of"),
        (change("row", ["gallery"] * 20), "COM-3"),
        (change("park_tiles gallery", 40), "park area: gallery must be"),
        (change("park_tiles", None), "park_tiles, a number for each business"),
        (change("seats 0 park", 18), "COM-2"),
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
        with pytest.raises(
            PageError, match=r"general supply of seat 1.*put \d more into the supply"
        ):
            edited(replay, step, edit)
    edit = described(replay.states[step])
    for name in ("TSQ green", "TSQ violet"):
        plot(edit, name).update(owner=1, floors=1, businesses=[])
    with pytest.raises(PageError, match=r"seat 2 stands on \d plots of TSQ"):
        edited(replay, step, edit)


def test_positions_within_a_turn_are_not_edited(replay: Replay) -> None:
    step = next(step for step in range(40, 99) if replay.at(step).phase not in ("option", "start"))
    assert "where a turn begins" in described(replay.states[step])["why"]
    with pytest.raises(PageError, match="where a turn begins"):
        edited(replay, step, described(replay.states[step]))


def play_on(game: Game) -> None:
    """To the end, as chance has it."""
    chance = random.Random(1)
    while not game.is_over:
        game.play(chance.choice(game.legal_actions))


@pytest.mark.rule("COM-5", "MOVE-2")
def test_markers_lie_on_the_way_to_a_commissioner(replay: Replay) -> None:
    step = turn(replay, 60)
    assert not replay.states[step]["stopped"].any()
    edit = described(replay.states[step])
    assert edit["possible"]["W52"] == [["E34", "TSQ"], ["W34", "TSQ"], ["W34", "W42"]]
    assert edit["possible"]["CITY_HALL"] == [[]]
    assert len(edit["possible"]["CENTRAL_PARK"]) == 6
    for place, ways in edit["possible"].items():
        for way in ways:
            edit["places"][1], edit["ways"][1] = place, way
            state = edited(replay, step, edit).game.state
            assert state["markers"][1] == len(way)
            assert described(state)["ways"][1] == way


@pytest.mark.rule("STOP-5")
def test_no_marker_lies_in_a_stopped_district(replay: Replay) -> None:
    stopped = np.zeros(7, np.int8)
    stopped[0] = 1  # W34
    assert ways_to(2, stopped) == [[]]
    assert ways_to(3, stopped) == [[], ["E34"]]
    for position in replay.states:
        told = described(position)
        for place, way in zip(told["places"], told["ways"], strict=True):
            # Their markers stay on the board until the auctions of their return are over.
            assert told["why"] or way in told["possible"][place], "whatever a game leads to"


@pytest.mark.rule("BUS-3")
def test_the_visible_cards_the_supply_row_and_the_park_area(replay: Replay) -> None:
    options = [step for step in range(replay.steps) if replay.at(step).phase == "option"]
    step = next(
        step
        for step in options
        if replay.states[step]["park_tiles"].any() and replay.states[step]["supply"][0] > 2
    )
    before = replay.at(step).state
    edit = described(before)
    colour = next(c for c in range(5) if before["top"][c] != -1 and before["face_down"][c].any())
    rank = int(np.flatnonzero(before["face_down"][colour])[0])
    edit["tops"][colour] = 4 + rank
    left = [space for space, business in enumerate(edit["row"]) if business is not None]
    edit["row"][left[0]], edit["row"][left[-1]] = edit["row"][left[-1]], edit["row"][left[0]]
    tiles = edit["park_tiles"]
    one = next(kind for kind, number in tiles.items() if number)
    other = min((kind for kind in tiles if kind != one), key=lambda kind: int(tiles[kind]))
    tiles[one], tiles[other] = tiles[one] - 1, tiles[other] + 1
    edit["seats"][0]["park"] += 3
    edit["seats"][0]["supply"] -= 3
    game = edited(replay, step, edit).game
    assert int(game.state["top"][colour]) == rank
    cards = [state["hand"].sum(axis=0) + state["face_down"] for state in (before, game.state)]
    for number, state in zip(cards, (before, game.state), strict=True):
        number[colour, state["top"][colour]] += 1
    assert cards[0].tolist() == cards[1].tolist()
    assert sorted(game.state["row"].tolist()) == sorted(before["row"].tolist())
    assert int(game.state["park"][0]) == int(before["park"][0]) + 3
    assert [int(number) for number in game.state["park_tiles"]] == list(tiles.values())
    play_on(game)
    taken = next(space for space, business in enumerate(edit["row"]) if business is None)
    with pytest.raises(PageError, match=f"space {taken + 1} of the supply row must stay empty"):
        edited(
            replay,
            step,
            edit
            | {
                "row": [
                    "gallery" if space == taken else kind for space, kind in enumerate(edit["row"])
                ]
            },
        )
    tiles[one] += 1
    with pytest.raises(
        PageError,
        match=r"(the park area has \d+ tiles?, one for each set .* \(BUS-3\), not|park area: )",
    ):
        edited(replay, step, edit)


@pytest.mark.rule("SET-6", "SET-7", "SET-8")
def test_the_setup_is_edited(replay: Replay) -> None:
    assert replay.at(2).phase == "start"
    edit = described(replay.states[2])
    assert (edit["setup"], edit["why"]) == (True, None)
    there = next(one for one in edit["plots"] if one["owner"] == 0)
    taken = {one["name"][:3] for one in edit["plots"] if one["owner"] is not None}
    free = next(
        one for one in edit["plots"] if one["name"][:3] not in taken and not one["businesses"]
    )
    free.update(owner=0, floors=1)
    there.update(owner=None, floors=0)
    hands = [seat["hand"] for seat in edit["seats"]]
    hands[0]["black"], hands[1]["black"] = hands[1]["black"], hands[0]["black"]
    game = edited(replay, 2, edit).game
    assert (game.phase, game.seat) == ("start", int(replay.states[2]["seat"]))
    assert game.state["hand"][0, 5].tolist() == replay.states[2]["hand"][1, 5].tolist()
    play_on(game)
    for make, told in (
        (change("turn", 1 - edit["turn"]), "it is the turn of seat"),
        (change("seats 0 vp", 3), "0 VP"),
        (change("seats 0 supply", edit["seats"][0]["supply"] - 3), "no supply changes|TURN-2"),
        (change("places 0", "W34"), "SET-6"),
        (on_plot(free["name"], owner=None, floors=0), "has placed 1 skyscraper|TURN-2"),
    ):
        wrong = copy.deepcopy(edit)
        make(wrong)
        with pytest.raises(PageError, match=told):
            edited(replay, 2, wrong)


def test_an_edited_position_is_looked_at_like_a_replay(
    app: Starlette, ann: TestClient, replay: Replay
) -> None:
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


def test_nobody_edits_others_positions_away(
    app: Starlette, ann: TestClient, replay: Replay
) -> None:
    app.state.edited = Kept(3)

    def made(client: TestClient) -> str:
        client.get("/")
        key = (
            client.post("/api/replays", content=replay.game.to_record())
            .json()["page"]
            .rpartition("/")[2]
        )
        address = f"/api/replays/{key}/1/{turn(replay, 60)}/edit"
        page: str = client.post(address, json=client.get(address).json() | {"plots": []}).json()[
            "page"
        ]
        return page.replace("/replay/", "/api/replays/")

    own = made(ann)
    for _ in range(4):
        eve = another(app, "10.0.0.1")  # another browser each time
        theirs = made(eve)
    assert (ann.get(own).status_code, eve.get(theirs).status_code, len(app.state.edited)) == (
        200,
        200,
        3,
    )
