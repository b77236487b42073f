"""The text picture: complete, narrow enough, and without anything that the onlooker may not
know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenario import built_up
from skyenv.agents import decide_game, make_agent
from skyenv.engine.game import Game
from skyenv.errors import OptionError
from skyenv.render.text import text
from skyenv.rules.components import BLACK, DISTRICTS, PLACES
from skyenv.rules.state import END_BUSINESSES, END_STOPS, NONE, PHASE_BID, PHASE_OVER
from skyenv.tables import WIDTH

TABLES = [(2, "front"), (3, "back"), (4, "front")]
TSQ = DISTRICTS.index("TSQ")


def positions(players: int, side: str, agent: str, every: int = 17) -> Iterator[Game]:
    """Positions of a game."""
    player = make_agent(agent)
    game, number = Game(players, side, 0, max_turns=150), 0
    while not game.is_over:
        game.play(decide_game(game, player))
        number += 1
        if number % every == 0 or game.is_over:
            yield game


def district_rows(picture: str, name: str) -> list[str]:
    """The rows in the frame of a district, without the frame."""
    lines = picture.splitlines()
    top = next(
        i
        for i, line in enumerate(lines)
        if f" {name} " in line and re.search(f"[┌╔][─═] {name} ", line)
    )
    left = re.search(f"[┌╔][─═] {name} ", lines[top])
    assert left is not None
    right = next(i for i in range(left.start(), len(lines[top])) if lines[top][i] in "┐╗")
    rows: list[str] = []
    for line in lines[top + 1 :]:
        if line[left.start()] in "└╚":
            return [row.strip() for row in rows]
        rows.append(line[left.start() + 1 : right])
    raise AssertionError("the frame isn't closed")


@pytest.mark.parametrize("agent", ["crowd", "hoard"])
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_every_picture_is_narrow_whole_and_pure(players: int, side: str, agent: str) -> None:
    for game in positions(players, side, agent):
        before = game.state.tobytes()
        for seat in (None, *range(players)):
            picture = text(game.state, seat)
            lines = picture.splitlines()
            assert max(map(len, lines)) <= WIDTH
            assert all(line == line.rstrip() for line in lines)
            assert picture == picture.strip("\n")
            for district in DISTRICTS:
                assert len(district_rows(picture, district)) == (5 if side == "front" else 6)
            assert picture.count("seat 1") >= 2
            assert "None" not in picture
            assert "-1" not in picture
        assert game.state.tobytes() == before


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_the_picture_for_a_seat_is_made_of_what_it_may_know(players: int, side: str) -> None:
    """INF-2: whoever exchanges a hidden card of another hand with a face-down one sees the same
    picture.
    """
    for game in positions(players, side, "random", every=25):
        exchanged = game.copy()
        for other in range(1, players):
            for colour in range(6):
                exchange(exchanged.state, other, colour)
        assert text(game.state, 0) == text(exchanged.state, 0)


@pytest.mark.parametrize(("players", "side"), TABLES)
@given(data=st.data())
@settings(max_examples=40)
def test_no_position_is_wider_than_a_terminal(players: int, side: str, data: st.DataObject) -> None:
    """Nor one with the most that the rules allow of everything, be it all together."""
    game, chance = (
        Game(players, side, data.draw(st.integers(0, 9)), max_turns=500),
        data.draw(st.randoms(use_true_random=False)),
    )
    for _ in range(data.draw(st.integers(0, 60))):
        if not game.is_over:
            game.play(chance.choice(list(game.legal_actions)))
    state = game.state
    state["score"][:players] = 199
    state["turns"] = 499
    state["hand"][:players] = data.draw(
        st.sampled_from([[[1] * 3] * 6, [[5, 5, 5]] * 5 + [[20, 16, 14]]])
    )
    state["face_down"][:] = 0
    state["returned"][:], state["num_returned"][:] = 2, 12
    state["black_face_up"][:] = (20, 16, 14)
    state["park"][:], state["park_tiles"][:] = 12, (2, 2, 2, 2)
    state["floors"][:], state["value"][:] = 12, 8
    state["place"][:], state["visited"][:] = TSQ, ((0, 3, 6), (1, 3, 5))
    state["auction_place"], state["auction_commissioner"], state["highest"] = (
        PLACES.index("CENTRAL_PARK"),
        1,
        250,
    )
    state["highest_bidder"] = state["turn_seat"] = players - 1
    state["bid_cards"][:], state["bid_total"][:] = 20, 250
    state["phase"] = data.draw(st.sampled_from([PHASE_BID, PHASE_OVER]))
    state["end"] = data.draw(st.sampled_from([END_BUSINESSES, END_STOPS]))
    for seat in (None, *range(players)):
        lines = text(state, seat).splitlines()
        assert max(map(len, lines)) <= WIDTH == 80
        assert any("CENTRAL PARK" in line for line in lines)


def exchange(state: np.record, seat: int, colour: int) -> None:
    """Exchange a card of a hand that only its owner knows with a face-down card of another value,
    if there are such.
    """
    hidden = state["hand"][seat, colour] - state["known"][seat, colour]
    for mine in np.flatnonzero(hidden > 0):
        for other in np.flatnonzero(state["face_down"][colour] > 0):
            if mine != other:
                state["hand"][seat, colour, mine] -= 1
                state["hand"][seat, colour, other] += 1
                state["face_down"][colour, other] -= 1
                state["face_down"][colour, mine] += 1
                return


def test_all_hands_are_open_without_a_seat_and_one_with_it() -> None:
    game = Game(3, seed=1)
    everything, seen = text(game.state), text(game.state, 1)
    assert "?" not in everything.split("hand")[1].split("b boutique")[0]
    assert seen.count("black ????") == 2
    assert "as seat 2 sees it" in seen
    mine = [line for line in everything.splitlines() if line.startswith("  seat 2  ")]
    assert mine == [line for line in seen.splitlines() if line.startswith("  seat 2  ")]


def test_many_cards_are_counted() -> None:
    game = Game(3, seed=1)
    game.state["hand"][:] = 0
    game.state["hand"][2, BLACK] = (20, 16, 14)
    game.state["hand"][1, 0] = (5, 3, 0)
    picture = text(game.state)
    assert "black 4×20 5×16 6×14" in picture
    assert "green 44444555" in picture
    assert re.search(r"seat 1 .* 0   -$", picture, re.MULTILINE)


def test_plots_show_what_stands_on_them_and_what_it_scores() -> None:
    state = built_up(TSQ).state
    assert district_rows(text(state), "TSQ") == [
        "green  1 ×12 +3",
        "violet 2 ×1  +1",
        "brown  A ×3  +1",
        "orange ·     +3",
        "gray   b g",
    ]


def test_a_stopped_district_is_empty_and_says_so() -> None:
    game = Game(3, "back", seed=1)
    game.state["stopped"][TSQ] = 1
    assert district_rows(text(game.state), "TSQ") == ["", "", "building stop", "", "", ""]


def test_commissioners_and_markers_stand_where_they_are() -> None:
    game = Game(2, seed=1)
    state = game.state
    assert "│ W w w w         │" in text(state)
    assert "│ B b b b         │" in text(state)
    state["place"][:] = (TSQ, PLACES.index("CENTRAL_PARK"))
    state["markers"][:] = (1, 3)
    state["visited"][:] = ((0, NONE, NONE), (1, 3, 5))
    picture = text(state)
    assert "─ TSQ ───── W b ─" in picture
    assert "─ W34 ─────── w ─" in picture
    assert "─ E34 ─────── b ─" in picture
    assert "│   w w           │" in picture
    assert "│ B              │" in picture


def test_an_auction_shows_bids_and_what_comes_after_it() -> None:
    game = Game(2, seed=1)
    player = make_agent("random")
    while game.phase != "bid" or not game.state["bid_total"].any():
        game.play(decide_game(game, player))
    picture = text(game.state)
    place = PLACES[game.state["auction_place"]]
    assert f"bids for {place}" in picture.splitlines()[0]
    assert f"auction of {place}, started by seat {game.state['turn_seat'] + 1}" in picture
    assert f"= {game.state['bid_total'][game.state['bid_total'] > 0][0]}" in picture
    assert f"╔═ {place.replace('_', ' ')} ═" in picture


def test_alea_waits_turns_cards_and_is_out() -> None:
    game = Game(2, seed=1)
    player = make_agent("crowd")
    shown = set()
    while not game.is_over:
        match = re.search(r"^  Alea      (\S.*)$", text(game.state), re.MULTILINE)
        assert (match is not None) == (game.phase in ("bid", "build"))
        if match:
            shown.add(re.sub(r"[456]+ = \d+", "CARDS", match[1]))
        game.play(decide_game(game, player))
    assert shown == {"has not bid yet", "black CARDS", "black CARDS, out", "out"}


def test_the_current_set_is_in_brackets() -> None:
    game = Game(2, seed=1)
    game.state["row"][:] = [0, 1, 2, 3] * 5
    game.state["row"][:4] = NONE
    assert "supply row   · · ·  [· b]  j g p   b j   g p b   j g   p b j   g p" in text(game.state)


@pytest.mark.parametrize(
    ("scores", "winner"),
    [
        ((3, 9, 5), "Seat 2 wins with 9 VP"),
        ((9, 9, 5), "Seat 1 and seat 2 share the win with 9 VP"),
    ],
)
def test_the_end_says_who_has_won_and_why(scores: tuple[int, ...], winner: str) -> None:
    game = Game(3, seed=1)
    game.state["score"][:3] = scores
    game.state["phase"], game.state["end"], game.state["seat"] = PHASE_OVER, END_STOPS, NONE
    picture = text(game.state, 0)
    assert " ".join(picture.split()).startswith(f"{winner} (the second building stop)")


@pytest.mark.parametrize("seat", [-1, 2, 7])
def test_there_is_no_such_seat(seat: int) -> None:
    with pytest.raises(OptionError, match="seat must be a whole number from 0 to 1"):
        text(Game(2, seed=1).state, seat)
