"""The text picture: complete, narrow enough, and without anything that the onlooker may not
know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

import pytest

from scenario import built_up
from skyenv.agents import decide_game, make_agent
from skyenv.engine.game import Game
from skyenv.render.text import text
from skyenv.rules.components import BLACK, CENTRAL_PARK, DISTRICTS, PLACES
from skyenv.rules.state import END_BUSINESSES, END_STOPS, NONE, PHASE_BID, PHASE_OVER
from skyenv.tables import WIDTH

TABLES = [(2, "front"), (3, "back"), (4, "front")]
TSQ = DISTRICTS.index("TSQ")


def positions(players: int, side: str) -> Iterator[Game]:
    """Positions of a game."""
    player, game, number = make_agent("crowd"), Game(players, side, 0, max_turns=60), 0
    while not game.is_over:
        game.play(decide_game(game, player))
        number += 1
        if number % 23 == 0 or game.is_over:
            yield game


def district_rows(picture: str, name: str) -> list[str]:
    """The rows in the frame of a district, without the frame."""
    frame = re.compile(f"[┌╔][─═] {name} [^┐╗]*[┐╗]")
    lines = iter(picture.splitlines())
    left, right = next(match.span() for line in lines if (match := frame.search(line)))
    rows = (line[left:right] for line in lines)
    return [row[1:-1].strip() for row in takewhile(lambda row: row[0] not in "└╚", rows)]


@pytest.mark.parametrize(("players", "side"), TABLES)
def test_every_picture_is_narrow_whole_and_pure(players: int, side: str) -> None:
    for game in positions(players, side):
        before = game.state.tobytes()
        for seat in (None, *range(players)):
            picture = text(game.state, seat)
            lines = picture.splitlines()
            assert max(map(len, lines)) <= WIDTH
            assert lines == [line.rstrip() for line in lines]
            for district in DISTRICTS:
                assert len(district_rows(picture, district)) == (5 if side == "front" else 6)
            assert not re.search("None|-1", picture)
        assert game.state.tobytes() == before


@pytest.mark.parametrize("phase", [PHASE_BID, PHASE_OVER])
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_no_position_is_wider_than_a_terminal(players: int, side: str, phase: int) -> None:
    """Nor one with the most that the rules allow of everything, be it all together."""
    state = Game(players, side, 1).state
    most = {"score": 199, "turns": 499, "face_down": 0, "returned": 2, "num_returned": 12}
    most |= {"park": 12, "park_tiles": 2, "floors": 12, "value": 8, "place": TSQ}
    most |= {"auction_commissioner": 1, "highest": 250, "bid_cards": 20, "bid_total": 250}
    most |= {"auction_place": CENTRAL_PARK, "end": END_BUSINESSES, "phase": phase}
    most |= dict.fromkeys(("highest_bidder", "turn_seat", "seat"), players - 1)
    for name, value in most.items():
        state[name] = value
    state["hand"][:players] = [[5, 5, 5]] * 5 + [[20, 16, 14]]
    state["black_face_up"], state["visited"] = (20, 16, 14), ((0, 3, 6), (1, 3, 5))
    for seat in (None, *range(players)):
        assert max(map(len, text(state, seat).splitlines())) <= WIDTH == 80


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


def test_auctions_show_bids_what_comes_after_and_alea() -> None:
    game, player = Game(2, seed=1), make_agent("crowd")
    shown = set()
    while not game.is_over:
        picture, state = text(game.state), game.state
        match = re.search(r"^  Alea      (\S.*)$", picture, re.MULTILINE)
        assert (match is not None) == (game.phase in ("bid", "build"))
        if match:
            shown.add(re.sub(r"[456]+ = \d+", "CARDS", match[1]))
            place = PLACES[state["auction_place"]]
            assert f"auction of {place}, started by seat {state['turn_seat'] + 1}" in picture
            assert f"╔═ {place.replace('_', ' ')} ═" in picture
            bids = zip(state["bid_total"][:2], state["out"][:2], strict=True)
            assert all(f" = {bid}" in picture for bid, out in bids if bid and not out)
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
