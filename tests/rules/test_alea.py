"""ALEA: the imaginary third player of the 2-player game."""

from __future__ import annotations

from itertools import permutations

import pytest

from scenario import (
    Event,
    bare_game,
    bid,
    bid_colours,
    black_stack,
    cards,
    district,
    even,
    floors,
    hand,
    kinds,
    legal,
    only,
    passes,
    start_auction,
    stopped,
    supply,
    vp,
)
from skyenv import ChanceError, Game, make_board
from skyenv.rules.components import COLOURS, DISTRICTS
from skyenv.rules.state import ALEA

Turned = list[tuple[int, ...]]
PAIRS: Turned = [(first, first) for first in (4, 5, 6)]
TRIPLES: Turned = [
    (first, second, last)
    for first, second in permutations((4, 5, 6), 2)
    for last in (first, second)
]
FOURS: Turned = [(*first, last) for first in permutations((4, 5, 6)) for last in (4, 5, 6)]


def alea_wins(game: Game, name: str, starter: int = 0) -> list[Event]:
    """Both players pass, and Alea bids 4 + 4."""
    district_now = [name] if name in DISTRICTS else []
    start_auction(game, district_now, starter)
    return passes(game, starter, 1 - starter, chance=[4, 4])


# ---- her bid ----


@pytest.mark.rule("ALEA-1")
def test_alea_has_eighteen_skyscrapers_and_no_turns() -> None:
    """She is there with two players, and not with three or four."""
    game = bare_game(2)
    assert game.state["alea_supply"] == 18
    assert game.num_players == 2
    for players in (3, 4):
        game = bare_game(players)
        start_auction(game, ["W34"])
        assert not only(passes(game, *range(players)), "alea")


@pytest.mark.rule("ALEA-1", "ALEA-2")
def test_alea_bids_in_every_auction() -> None:
    """Once in each district and in the park area."""
    game = bare_game(2)
    events = start_auction(game, ["W34", "TSQ"], starter=1)
    for _ in range(3):
        events += passes(game, 1, 0, chance=[5, 5])
    assert kinds(events)[1:] == [
        *("auction", "pass", "pass", "alea", "won", "alea builds"),
        *("auction", "pass", "pass", "alea", "won", "alea builds"),
        *("auction", "pass", "pass", "alea", "won"),
    ]
    assert (game.phase, game.seat) == ("option", 0)


@pytest.mark.rule("ALEA-2")
@pytest.mark.parametrize("turned", PAIRS + TRIPLES + FOURS, ids=str)
def test_black_cards_until_a_value_comes_twice(turned: tuple[int, ...]) -> None:
    """All cards turned are the bid: two to four of them. Neither a card less nor a card more."""
    game = bare_game(2)
    start_auction(game, ["W34"])
    passes(game, 0)
    with pytest.raises(ChanceError):
        game.play("pass", [*turned, 4])
    events = game.play("pass", turned)
    assert only(events, "alea") == [{"cards": list(turned)}]
    assert only(events, "won") == [{"seat": -1, "total": sum(turned)}]


@pytest.mark.rule("ALEA-2")
def test_totals_of_alea() -> None:
    """Her complete bid totals between 8 and 21."""
    totals = {sum(turned) for turned in PAIRS + TRIPLES + FOURS}
    assert totals == {8, 10, 12, 13, 14, 16, 17, 19, 20, 21}


@pytest.mark.compiled
@pytest.mark.rule("ALEA-2")
def test_aleas_cards_are_random() -> None:
    """Drawn from the black stack like any black card: the first one is a 4, 5 or 6 as 20 : 16 :
    14.
    """
    first = [0, 0, 0]
    for seed in range(1500):
        game = bare_game(2, seed=seed)
        start_auction(game, [])
        first[only(passes(game, 0, 1), "alea")[0]["cards"][0] - 4] += 1
    assert even(first, [20, 16, 14])


@pytest.mark.rule("ALEA-2", "AUC-2")
@pytest.mark.parametrize("starter", [0, 1])
def test_alea_comes_third(starter: int) -> None:
    """After the triggering player and the other one, whatever they did; once only, however often
    they raise.
    """
    other = 1 - starter
    for first_bids in (True, False):
        game = bare_game(2)
        for seat in range(2):
            hand(game, seat, green=[4, 5], black=[4, 5, 6, 6, 6])
        start_auction(game, ["W34"], starter)
        assert game.seat == starter
        events = bid(game, starter, "green 4") if first_bids else passes(game, starter)
        assert not only(events, "alea")
        assert game.seat == other
        events = bid(game, other, "green 5 black 6", [4, 4])
        assert kinds(events)[:2] == ["bid done", "alea"]
        if first_bids:
            assert not only(bid(game, starter, "black 4 5"), "alea")
            assert not only(bid(game, other, "black 6"), "alea")
            assert not only(passes(game, starter), "alea")
        assert (game.phase, game.seat) == ("build", other)


@pytest.mark.rule("ALEA-2", "ALEA-3")
def test_alea_when_black_cards_run_out() -> None:
    """Her bid is what was turned; with no card at all she is out."""
    game = bare_game(2)
    black_stack(game, [], [6, 5], keeper=1)
    start_auction(game, ["W34"])
    events = passes(game, 0, 1, chance=[5, 6])
    assert events[2:5] == [
        {"event": "shuffle"},
        {"event": "alea", "cards": [5, 6]},
        {"event": "won", "seat": -1, "total": 11},
    ]
    game = bare_game(2)
    black_stack(game, [], [], keeper=1)
    start_auction(game, ["W34"])
    events = passes(game, 0, 1)
    assert events[2:4] == [
        {"event": "alea", "cards": []},
        {"event": "won", "seat": None, "total": 0},
    ]
    assert game.state["floors"].sum() == 0


# ---- the auction with her ----


@pytest.mark.rule("ALEA-3")
@pytest.mark.parametrize(
    ("turned", "winner"),
    [((4, 4), 0), ((5, 5), 0), ((4, 5, 4), -1), ((4, 6, 4), -1)],
    ids=["8", "10", "13", "14"],
)
def test_alea_must_be_higher(turned: tuple[int, ...], winner: int) -> None:
    """Seat 0 has bid 10 and has no other card. With 10 Alea is out, with more she wins."""
    game = bare_game(2)
    hand(game, 0, green=[4], black=[6])
    start_auction(game, ["W34"])
    bid(game, 0, "green 4 black 6")
    events = passes(game, 1, chance=turned)
    if winner == -1:
        assert game.legal_names == ["pass"]
        events += passes(game, 0)
        assert cards(game, 0) == {"green": [4], "black": [6]}
    assert only(events, "won") == [{"seat": winner, "total": sum(turned) if winner == -1 else 10}]


@pytest.mark.rule("ALEA-3")
@pytest.mark.parametrize("starter", [0, 1])
def test_overbidding_alea(starter: int) -> None:
    """The triggering player is asked first, whoever had the highest bid; once she is overbid she is
    out.
    """
    other = 1 - starter
    game = bare_game(2)
    for seat in range(2):
        hand(game, seat, green=[4, 5], black=[4, 5, 6, 6])
    start_auction(game, ["W34"], starter)
    bid(game, starter, "green 5 black 6")  # 11
    bid(game, other, "green 4 5 black 4", [4, 5, 6, 5])  # 13; Alea 20
    assert (game.phase, game.seat) == ("bid", starter)
    assert game.state["highest"] == 20
    game.play("bid black 4")  # 15
    assert "bid done" not in game.legal_names
    game.play("bid black 6")  # 21
    game.play("bid done")
    bid(game, other, "black 5 6")  # 24
    events = passes(game, starter)
    assert only(events, "won") == [{"seat": other, "total": 24}]
    assert not only(events, "alea")


@pytest.mark.rule("ALEA-3")
def test_the_other_player_may_overbid_alea() -> None:
    """If the triggering player passes; his bid then wins at once."""
    game = bare_game(2)
    for seat in range(2):
        hand(game, seat, green=[4, 5], black=[4, 5, 6, 6])
    start_auction(game, ["W34"])
    bid(game, 0, "green 4")
    bid(game, 1, "green 5", [6, 6])
    passes(game, 0)
    assert (game.phase, game.seat) == ("bid", 1)
    assert only(bid(game, 1, "black 4 5"), "won") == [{"seat": 1, "total": 14}]


@pytest.mark.rule("ALEA-3")
def test_alea_wins_if_all_pass() -> None:
    """With her total; the others have their cards back."""
    game = bare_game(2)
    for seat in range(2):
        hand(game, seat, green=[4, 5], black=[4, 5, 6, 6])
    start_auction(game, ["W34"])
    bid(game, 0, "green 4")
    bid(game, 1, "green 5", [6, 6])
    events = passes(game, 0, 1)
    assert only(events, "won") == [{"seat": -1, "total": 12}]
    assert cards(game, 0) == cards(game, 1) == {"green": [4, 5], "black": [4, 5, 6, 6]}


@pytest.mark.rule("ALEA-4")
def test_who_passed_stays_out() -> None:
    """Also when Alea bids: only the other one is asked whether to overbid her."""
    game = bare_game(2)
    for seat in range(2):
        hand(game, seat, green=[4, 5], black=[4, 5, 6, 6])
    start_auction(game, ["W34"])
    passes(game, 0)
    bid(game, 1, "green 4", [5, 5])
    assert (game.phase, game.seat) == ("bid", 1)
    assert only(passes(game, 1), "won") == [{"seat": -1, "total": 10}]


@pytest.mark.rule("ALEA-4", "ALEA-3")
def test_the_auction_goes_on_without_alea() -> None:
    """If she is too low, the real players go on raising as usual: the triggering player must beat
    the other's bid.
    """
    game = bare_game(2)
    for seat in range(2):
        hand(game, seat, green=[4, 5], black=[4, 5, 6, 6])
    start_auction(game, ["W34"])
    bid(game, 0, "green 4")
    bid(game, 1, "green 5 black 6", [4, 4])
    assert (game.phase, game.seat, int(game.state["highest"])) == ("bid", 0, 11)
    bid(game, 0, "black 4 5")
    assert only(passes(game, 1), "won") == [{"seat": 0, "total": 13}]


@pytest.mark.rule("ALEA-5")
@pytest.mark.parametrize("alea_wins_it", [True, False])
def test_aleas_cards_go_under_the_black_stack(alea_wins_it: bool) -> None:
    """Face up, after the auction, whether she won or not."""
    game = bare_game(2)
    hand(game, 0, green=[5, 6], black=[6])
    start_auction(game, ["W34"])
    bid(game, 0, "green 5 6" if alea_wins_it else "green 5 6 black 6")
    face_down = game.state["face_down"][5].copy()
    passes(game, 1, chance=[4, 6, 4])
    if alea_wins_it:
        passes(game, 0)
    assert game.state["black_face_up"].tolist() == ([2, 0, 1] if alea_wins_it else [2, 0, 2])
    assert (face_down - game.state["face_down"][5]).tolist() == [2, 0, 1]
    assert game.state["alea_cards"].tolist() == [0, 0, 0]


# ---- what she builds ----


@pytest.mark.rule("ALEA-6")
def test_alea_builds_on_the_most_valuable_empty_plot() -> None:
    """One skyscraper, whatever her cards allow; her other skyscrapers in the district don't
    matter.
    """
    game = bare_game(2)
    # violet is empty and would score 2; orange is empty and would score 5
    district(game, "W42", green=(0, 1), brown="boutique", gray="gallery jeweller")
    events = alea_wins(game, "W42")
    assert only(events, "alea builds") == [{"district": "W42", "plots": ["orange"]}]
    assert floors(game, "W42", "orange") == (ALEA, 1)
    assert game.state["alea_supply"] == 17
    passes(game, 0, 1)
    assert only(alea_wins(game, "W42"), "alea builds") == [{"district": "W42", "plots": ["violet"]}]
    assert floors(game, "W42", "violet") == floors(game, "W42", "orange") == (ALEA, 1)


@pytest.mark.rule("ALEA-6")
def test_alea_builds_on_all_plots_that_tie() -> None:
    """One skyscraper on each; plots that would score less stay empty."""
    game = bare_game(2)
    district(game, "W42", violet="boutique jeweller")
    events = alea_wins(game, "W42")
    assert only(events, "alea builds") == [{"district": "W42", "plots": ["green", "brown"]}]
    assert game.state["owner"][2].tolist() == [ALEA, -1, ALEA, -1, -1]
    assert game.state["floors"][2].tolist() == [1, 0, 1, 0, 0]
    assert game.state["alea_supply"] == 16


@pytest.mark.rule("ALEA-6", "COM-8")
@pytest.mark.parametrize("side", ["front", "back"])
def test_alea_on_an_empty_district(side: str) -> None:
    """All five plots tie on the front side; on the back, those beside the sixth plot are better,
    which itself is never empty.
    """
    game = bare_game(2, side)
    events = alea_wins(game, "E52")
    plots = list(COLOURS) if side == "front" else ["green", "gray"]
    assert only(events, "alea builds") == [{"district": "E52", "plots": plots}]


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
    plots = ["green", "orange", "violet"][:left]
    assert [event["plots"] for event in only(events, "alea builds")] == ([plots] if left else [])
    assert game.state["alea_supply"] == 0
    assert [floors(game, "E52", plot)[1] for plot in ring] == [1, 1] + [1] * left + [0] * (3 - left)


@pytest.mark.rule("ALEA-7", "STOP-3")
def test_alea_declares_a_building_stop() -> None:
    """In a district with no empty plot: both real players earn half, nobody 1 VP for each
    skyscraper.
    """
    game = bare_game(2)
    district(
        game,
        "W42",
        green=(0, 1),
        violet="boutique jeweller",
        brown=(1, 2),
        orange=(ALEA, 2),
        gray="gallery",
    )
    events = alea_wins(game, "W42")
    assert kinds(events)[2:] == ["alea", "won", "stop", "vp", "auction"]
    assert only(events, "stop") == [{"district": "W42", "seat": -1}]
    assert only(events, "vp") == [{"why": "stop", "place": "W42", "vp": [2, 3]}]
    assert game.state["stopped"][2] == 1
    assert game.state["alea_supply"] == 18


@pytest.mark.rule("ALEA-7", "STOP-6")
def test_aleas_stop_can_end_the_game() -> None:
    """Hers counts like any other."""
    game = bare_game(2)
    stopped(game, "E34")
    district(
        game,
        "W42",
        green=(0, 1),
        violet="boutique jeweller",
        brown=(1, 2),
        orange=(ALEA, 2),
        gray="gallery",
    )
    alea_wins(game, "W42")
    assert game.is_over
    assert game.outcome is not None
    assert game.outcome.reason == "stops"


@pytest.mark.rule("ALEA-7", "AUC-6")
def test_alea_stops_a_full_district_of_the_back_side() -> None:
    """The sixth plot with one business is not empty."""
    game = bare_game(2, "back")
    district(
        game, "W42", green=(0, 1), violet="boutique", brown=(1, 2), orange=(ALEA, 2), gray="gallery"
    )
    assert only(alea_wins(game, "W42"), "stop") == [{"district": "W42", "seat": -1}]


@pytest.mark.rule("ALEA-8")
def test_alea_wins_the_park() -> None:
    """Nothing is built."""
    game = bare_game(2)
    events = alea_wins(game, "CENTRAL_PARK")
    assert kinds(events) == ["pass", "pass", "alea", "won"]
    assert game.state["alea_supply"] == 18
    assert (game.state["park"] == 0).all()
    assert (game.phase, game.seat) == ("option", 1)


@pytest.mark.rule("ALEA-9", "SCO-2", "END-2")
def test_alea_never_scores() -> None:
    """Neither when a district is scored, nor by a stop, nor at the end: the VP are those of the two
    players.
    """
    game = bare_game(2)
    district(
        game,
        "W42",
        green=(ALEA, 3),
        violet="boutique jeweller",
        brown=(1, 2),
        orange=(0, 1),
        gray="gallery",
    )
    game.state["place"][0] = DISTRICTS.index("W42")
    game.refresh()
    assert vp(game.play("option D W42")) == [[2, 6]]
    assert len(game.scores) == 2
    assert game.state["score"].tolist() == [2, 6, 0, 0]


@pytest.mark.rule("ALEA-9", "AUC-5")
def test_aleas_plots_are_not_to_be_bid_for() -> None:
    """While there is an empty plot, and when there is none: nobody bids with the colour of Alea's
    plot.
    """
    game = bare_game(2)
    hand(game, 0, **{colour: [5] for colour in COLOURS})
    district(game, "W42", green=(ALEA, 1), violet="boutique", brown=(1, 1))
    district(
        game,
        "E42",
        green=(ALEA, 1),
        violet="boutique",
        brown=(1, 1),
        orange=(ALEA, 2),
        gray="gallery",
    )
    start_auction(game, ["W42", "E42"])
    assert bid_colours(game) == {"orange", "gray"}
    passes(game, 0, 1, chance=[4, 4])
    assert bid_colours(game) == {"violet", "gray"}
    assert legal(game, "bid ") == ["violet 5", "gray 5"]
