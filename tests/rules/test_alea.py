"""ALEA: the imaginary third player of the 2-player game."""

from itertools import permutations
from typing import Any

import pytest

from scenario import (
    Event,
    bare_game,
    bids,
    black_stack,
    cards,
    district,
    floors,
    kinds,
    only,
    passes,
    start_auction,
    supply,
    vp,
)
from skyenv import ChanceError, Game, make_board
from skyenv.rules.components import COLOURS
from skyenv.rules.state import ALEA

TURNED: list[tuple[int, ...]] = [
    *((first, first) for first in (4, 5, 6)),
    *((*first, last) for first in permutations((4, 5, 6), 2) for last in first),
    *((*first, last) for first in permutations((4, 5, 6)) for last in (4, 5, 6)),
]
RICH = ["green 4 5 black 4 5 6 6"] * 2


def alea_wins(game: Game, *places: str) -> list[Event]:
    """Both players pass, and Alea bids 4 + 4."""
    start_auction(game, places)
    return passes(game, 0, 1, chance=[4, 4])


# ---- her bid ----


@pytest.mark.rule("ALEA-1", "ALEA-2")
def test_alea_bids_in_every_auction_of_two() -> None:
    """Once in each district and in the park area; not with three or four players."""
    game = bare_game(2)
    assert game.state["alea_supply"] == 18
    events = start_auction(game, ["W34", "TSQ"], starter=1)
    for _ in range(3):
        events += passes(game, 1, 0, chance=[5, 5])
    builds = ["auction", "pass", "pass", "alea", "won", "alea builds"]
    assert kinds(events)[1:] == [*builds, *builds, "auction", "pass", "pass", "alea", "won"]
    assert (game.phase, game.seat) == ("option", 0)
    for players in (3, 4):
        game = bare_game(players)
        start_auction(game, ["W34"])
        assert not only(passes(game, *range(players)), "alea")


@pytest.mark.rule("ALEA-2")
@pytest.mark.parametrize("turned", TURNED, ids=str)
def test_alea_turns_up_cards_until_a_value_repeats(turned: tuple[int, ...]) -> None:
    """All cards turned are the bid, which comes after both players, whoever began, and once."""
    game = bare_game(2, hands=RICH)
    start_auction(game, ["W34"], starter=1)
    bids(game, "1 green 4")
    with pytest.raises(ChanceError):
        bids(game, "0 pass", chance=[*turned, 4])
    events = bids(game, "0 pass", chance=turned)
    assert only(events, "alea") == [{"cards": list(turned)}]
    events = bids(game, "1 pass")
    assert only(events, "won") == [{"seat": -1, "total": sum(turned)}]
    assert not only(events, "alea")


@pytest.mark.rule("ALEA-2", "ALEA-3")
@pytest.mark.parametrize(("left", "won"), [([5, 6], (-1, 11)), ([], (None, 0))])
def test_alea_when_black_cards_run_out(left: list[int], won: tuple[int | None, int]) -> None:
    """Her bid is what was turned; with no card at all she is out."""
    game = bare_game(2)
    black_stack(game, [], left, keeper=1)
    start_auction(game, ["W34"])
    events = passes(game, 0, 1, chance=left)
    assert only(events, "alea") == [{"cards": left}]
    assert [tuple(event.values()) for event in only(events, "won")] == [won]
    assert game.state["floors"].any() == bool(left)


# ---- the auction with her ----


@pytest.mark.rule("ALEA-3", "ALEA-4")
@pytest.mark.parametrize(
    ("moves", "turned", "then", "winner", "total"),
    [
        (["0 green 4 black 6", "1 pass"], (5, 5), [], 0, 10),  # with 10 Alea isn't higher
        (["0 green 4 black 6", "1 pass"], (4, 4), [], 0, 10),
        (["0 green 4 black 6", "1 pass"], (4, 5, 4), ["0 pass"], -1, 13),
        (["0 green 4 black 6", "1 pass"], (4, 5, 4), ["0 black 4"], 0, 14),
        (["0 pass", "1 green 4"], (5, 5), ["1 pass"], -1, 10),  # one who passed stays out
        (["0 green 4", "1 green 5"], (6, 6), ["0 pass", "1 pass"], -1, 12),
        (["0 green 4", "1 green 5"], (6, 6), ["0 pass", "1 black 4 5"], 1, 14),
        # the triggering player is asked first; once overbid, she is out
        (
            ["0 green 5 black 6", "1 green 4 5 black 4"],
            (4, 5, 6, 5),
            ["0 black 4 6", "1 black 5 6", "0 pass"],
            1,
            24,
        ),
        # she is too low, and they go on
        (["0 green 4", "1 green 5 black 6"], (4, 4), ["0 black 4 5", "1 pass"], 0, 13),
    ],
)
def test_the_auction_with_alea(
    moves: list[str], turned: tuple[int, ...], then: list[str], winner: int, total: int
) -> None:
    game = bare_game(2, hands=RICH)
    start_auction(game, ["W34"])
    events = bids(game, *moves, chance=turned)
    assert len(only(events, "alea")) == 1
    more = bids(game, *then)
    assert only(events + more, "won") == [{"seat": winner, "total": total}]
    assert not only(more, "alea")
    if winner == -1:
        assert cards(game, 0) == cards(game, 1) == {"green": [4, 5], "black": [4, 5, 6, 6]}


@pytest.mark.rule("ALEA-5")
@pytest.mark.parametrize(("alea_wins_it", "face_up"), [(True, [2, 0, 1]), (False, [2, 0, 2])])
def test_aleas_cards_go_under_the_black_stack(alea_wins_it: bool, face_up: list[int]) -> None:
    """Face up, after the auction, whether she won or not."""
    game = bare_game(2, hands=["green 5 6 black 6"])
    face_down = game.state["face_down"][5].copy()
    start_auction(game, ["W34"])
    bids(game, "0 green 5 6" + " black 6" * (not alea_wins_it), "1 pass", chance=[4, 6, 4])
    if alea_wins_it:
        bids(game, "0 pass")
    assert game.state["black_face_up"].tolist() == face_up
    assert (face_down - game.state["face_down"][5]).tolist() == [2, 0, 1]
    assert game.state["alea_cards"].tolist() == [0, 0, 0]


# ---- what she wins ----


@pytest.mark.rule("ALEA-6", "COM-8")
@pytest.mark.parametrize(
    ("side", "plots", "built"),
    [
        # the empty violet plot would score 2, the empty orange one 5
        ("front", {"green": (0, 1), "brown": "boutique", "gray": "gallery jeweller"}, ["orange"]),
        ("front", {"violet": "boutique jeweller"}, ["green", "brown"]),  # they tie
        ("front", {"violet": "boutique", "green": (ALEA, 1)}, ["brown"]),  # hers don't matter
        ("front", {}, list(COLOURS)),
        ("back", {}, ["green", "gray"]),  # beside the sixth plot, which is never empty
    ],
)
def test_alea_builds_on_the_most_valuable_empty_plots(
    side: str, plots: dict[str, Any], built: list[str]
) -> None:
    """One skyscraper on each, whatever her cards allow."""
    game = bare_game(2, side)
    district(game, "E52", **plots)
    events = alea_wins(game, "E52")
    assert only(events, "alea builds") == [{"district": "E52", "plots": built}]
    assert [floors(game, "E52", plot) for plot in built] == [(ALEA, 1)] * len(built)
    assert game.state["alea_supply"] == 18 - len(built)


@pytest.mark.rule("ALEA-6")
@pytest.mark.parametrize("left", [0, 1, 2, 3])
def test_alea_has_too_few_skyscrapers(left: int) -> None:
    """She builds in ring order from the ring's first plot; with none left, nothing, and there is no
    line.
    """
    ring = ["gray", "brown", "green", "orange", "violet"]
    game = bare_game(2, board=make_board("front", {"E52": ring}))
    district(game, "E52", gray=(0, 1), brown=(1, 1))
    supply(game, ALEA, left)
    events = alea_wins(game, "E52")
    built = [["green", "orange", "violet"][:left]] if left else []
    assert [event["plots"] for event in only(events, "alea builds")] == built
    assert game.state["alea_supply"] == 0
    assert [floors(game, "E52", plot)[1] for plot in ring] == [1, 1] + [1] * left + [0] * (3 - left)


FULL: dict[str, Any] = {
    "green": (0, 1),
    "violet": "boutique jeweller",
    "brown": (1, 2),
    "orange": (ALEA, 2),
    "gray": "gallery",
}


@pytest.mark.rule("ALEA-7", "STOP-3", "STOP-6", "AUC-6")
@pytest.mark.parametrize(
    ("side", "sixth", "half"),
    [("front", {}, [2, 3]), ("back", {"sixth": "boutique"}, [1, 3])],
)
def test_alea_declares_a_building_stop(side: str, sixth: dict[str, Any], half: list[int]) -> None:
    """In a district with no empty plot: both real players earn half, nobody 1 VP for each
    skyscraper. It may be the second one, which ends the game.
    """
    game = bare_game(2, side)
    district(game, "W42", **FULL, **sixth)
    district(game, "E42", **FULL, **sixth)
    events = alea_wins(game, "W42", "E42")
    assert kinds(events)[2:] == ["alea", "won", "stop", "vp", "auction"]
    assert only(events, "stop") == [{"district": "W42", "seat": -1}]
    assert vp(events) == [half]
    assert game.state["stopped"].tolist() == [0, 0, 1, 0, 0, 0, 0]
    assert game.state["alea_supply"] == 18
    assert passes(game, 0, 1, chance=[4, 4])[-1]["reason"] == "stops"


@pytest.mark.rule("ALEA-8")
def test_alea_wins_the_park() -> None:
    """Nothing is built."""
    game = bare_game(2)
    assert kinds(alea_wins(game)) == ["pass", "pass", "alea", "won"]
    assert game.state["alea_supply"] == 18
    assert (game.state["park"] == 0).all()
    assert (game.phase, game.seat) == ("option", 1)
