"""The text picture and the standings.

Hidden information is tested in tests/guarantees.
"""

from typing import Any

import pytest

from scenario import TABLES, bare_game, bids, built_up, district, hand, start_auction, stopped
from skyenv.console.tables import WIDTH
from skyenv.engine.game import Game
from skyenv.render.svg import svg
from skyenv.render.table import if_scored_now
from skyenv.render.text import text
from skyenv.rules.components import CENTRAL_PARK, DISTRICTS
from skyenv.rules.state import END_BUSINESSES, PHASE_BID, PHASE_OVER

TSQ = DISTRICTS.index("TSQ")
AUCTION = """
Seat 1 bids for W34
turn 1 · option A, 3rd action · businesses 0 of 12 · building stops 1 of 2
as seat 1 sees it

                    ┌─ W42 ───────────┐
┌─ CITY HALL ─────┐ │ green  ·     +1 │
│ W w             │ │ violet ·     +2 │
│ B b b b         │ │ brown  j        │ ┌─ W52 ───────────┐
└─────────────────┘ │ orange ·     +2 │ │ green  ·     +2 │
╔═ W34 ═══════ w ═╗ │ gray   ·     +1 │ │ violet p        │
║ green  1 ×1  +1 ║ └─────────────────┘ │ brown  ·     +2 │ ┌─ CENTRAL PARK ─┐
║ violet 2 ×1  +1 ║ ┌─ TSQ ─────── w ─┐ │ orange ·     +1 │ │                │
║ brown  ·     +2 ║ │ green  1 ×12 +3 │ │ gray   ·     +1 │ │                │
║ orange g        ║ │ violet 2 ×1  +1 │ └─────────────────┘ │ seat 1 ×0      │
║ gray   ·     +2 ║→│ brown  A ×3  +1 │→┌─ E52 ───────────┐→│ seat 2 ×0      │
╚═════════════════╝ │ orange ·     +3 │ │                 │ │                │
┌─ E34 ───────────┐ │ gray   b g      │ │                 │ │ tiles ·        │
│ green  2 ×1  +1 │ └─────────────────┘ │  building stop  │ └────────────────┘
│ violet 1 ×1  +2 │ ┌─ E42 ───────────┐ │                 │
│ brown  b        │ │ green  ·     +2 │ │                 │
│ orange ·     +2 │ │ violet ·     +1 │ └─────────────────┘
│ gray   ·     +1 │ │ brown  ·     +1 │
└─────────────────┘ │ orange ·     +2 │
                    │ gray   b        │
                    └─────────────────┘

supply row  [j g b]  b p   b g j   b p   p b b   j j   j g g   b j

stacks      top   face down   returned
green         6           8   ·
violet        5          10   ·
brown         6          10   ·
orange        6          10   ·
gray          5          10   ·
black         ·          35   ·

auction of W34, started by seat 1: highest 12, Alea; then TSQ, park area
> seat 1    green 45 = 9
  seat 2    out
  Alea      black 66 = 12

              VP  supply  general  cards   hand
> seat 1       0       3       12      9   black 4×5 5×2 6×2
  seat 2       0       3       12      9   green ? · violet ? · brown ?
                                           orange ? · gray ? · black ????
  Alea                         18

b boutique · j jeweller · g gallery · p perfumery
1 ×3 three skyscrapers of seat 1 (A: Alea)
+5 VP that a skyscraper there scores
W B commissioners white and beige · w b their markers
double frame: under auction · [b p] the current set · ? a card not known
"""


MOST: dict[str, Any] = {
    **{"score": 199, "turns": 499, "face_down": 0, "returned": 2, "num_returned": 12},
    **{"park": 12, "park_tiles": 2, "floors": 12, "value": 8, "place": TSQ, "bid_cards": 20},
    **{"auction_commissioner": 1, "highest": 250, "bid_total": 250, "auction_place": CENTRAL_PARK},
    **{"end": END_BUSINESSES, "visited": ((0, 3, 6), (1, 3, 5)), "black_face_up": (20, 16, 14)},
}


@pytest.mark.parametrize("phase", [PHASE_BID, PHASE_OVER])
@pytest.mark.parametrize(("players", "side"), TABLES)
def test_every_position_fits_80_columns(players: int, side: str, phase: int) -> None:
    """Including one with the maximum of every quantity."""
    state, seats = Game(players, side, 1).state, ("highest_bidder", "turn_seat", "seat")
    for name, value in (MOST | dict.fromkeys(seats, players - 1) | {"phase": phase}).items():
        state[name] = value
    state["hand"][:players] = [[5, 5, 5]] * 5 + [[20, 16, 14]]
    assert max(map(len, text(state).splitlines())) <= WIDTH == 80


def test_an_auction_is_drawn_completely() -> None:
    """With occupied plots, a stop, markers, many cards and unknown cards."""
    game = built_up(TSQ)
    while game.phase == "start":
        game.play(game.legal_actions[0])
    stopped(game, "E52")
    hand(game, 0, green=[4, 5], black=[4, 4, 4, 4, 4, 5, 5, 6, 6])
    start_auction(game, ["W34", "TSQ"])
    bids(game, "0 green 4 5", "1 pass", chance=[6, 6])
    assert text(game.state, 0) == AUCTION.strip("\n")


@pytest.mark.parametrize(("task", "has_alea"), [("duel-4", False), ("alea-4", True)])
def test_tasks_name_their_payoff_and_draw_alea_only_if_she_plays(task: str, has_alea: bool) -> None:
    game = Game(task=task, seed=1)
    while not game.is_over:
        told, drawn = text(game.state), svg(game.state)
        assert "the last one; the task pays the lead gained" in " ".join(told.split())
        assert ("Alea  " in told, "Alea has" in drawn, "Alea: " in drawn) == (has_alea,) * 3
        assert "-1" not in told
        game.play(game.legal_actions[-1])
    assert text(game.state).startswith("The task's last auction is over\n")
    assert svg(game.state, events=game.events).count("the task's last auction is over") == 3


@pytest.mark.rule("END-2", "SCO-2")
def test_standings_add_districts_but_not_the_park_area() -> None:
    game = bare_game(players=3)
    district(game, "TSQ", green=(0, 2), violet="boutique gallery")
    district(game, "W34", brown=(2, 1))
    game.state["score"][:3], game.state["park"][:3] = (5, 6, 7), 4
    assert if_scored_now(game.state, 3).tolist() == [5 + 2 * 3, 6, 7 + 1]
