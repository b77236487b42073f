"""SCO: scoring a district with option D."""

from __future__ import annotations

import pytest

from scenario import (
    Event,
    bare_game,
    black_stack,
    cards,
    commissioner,
    district,
    kinds,
    only,
    stopped,
    turn_of,
    vp,
)
from skyenv import Game
from skyenv.rules.components import DISTRICTS
from skyenv.rules.state import ALEA


def score(game: Game, seat: int, name: str, *draws: int) -> list[Event]:
    """A seat scores a district in which a commissioner stands; black cards as given are drawn."""
    commissioner(game, "beige", name)
    turn_of(game, seat)
    return game.play(f"option D {name}", draws)


@pytest.mark.rule("SCO-1")
@pytest.mark.parametrize("name", DISTRICTS)
def test_the_district_of_a_commissioner(name: str) -> None:
    """Only that district is scored, once, and nothing leaves the board."""
    game = bare_game()
    for other in DISTRICTS:
        district(game, other, green=(1, 2))
    district(game, name, green=(0, 1), orange=(1, 3))
    before = game.state["floors"].copy()
    events = score(game, 0, name)
    assert only(events, "vp") == [{"why": "district", "place": name, "vp": [1, 3, 0]}]
    assert game.scores == [1, 3, 0]
    assert (game.state["floors"] == before).all()
    assert (game.state["place"] == [8, DISTRICTS.index(name)]).all()


@pytest.mark.rule("SCO-1", "TURN-3")
def test_no_stopped_district_is_scored() -> None:
    """Although a commissioner stands there."""
    game = bare_game()
    stopped(game, "TSQ")
    commissioner(game, "white", "TSQ")
    assert "option D TSQ" not in game.legal_names


@pytest.mark.rule("SCO-2")
@pytest.mark.parametrize(
    ("before", "after", "points"),
    [
        ("", "", 1),
        ("gallery", "", 2),
        ("", "gallery", 2),
        ("gallery", "gallery", 2),
        ("gallery gallery", "gallery gallery", 2),
        ("gallery boutique", "", 3),
        ("gallery", "boutique", 3),
        ("gallery boutique", "boutique gallery", 3),
        ("gallery boutique", "jeweller", 5),
        ("perfumery boutique", "jeweller boutique", 5),
        ("gallery boutique", "jeweller perfumery", 8),
    ],
)
def test_value_of_a_skyscraper(before: str, after: str, points: int) -> None:
    """1, 2, 3, 5, 8 VP for 0 to 4 different types on the two plots next to its own; equal ones
    count once.
    """
    game = bare_game()
    district(
        game,
        "E34",
        violet=before,
        brown=(1, 1),
        orange=after,
        green="perfumery jeweller",
        gray="perfumery jeweller",
    )
    assert vp(score(game, 0, "E34")) == [[0, points, 0]]
    game = bare_game()
    district(game, "E34", violet=before, brown=(1, 3), orange=after)
    assert vp(score(game, 0, "E34")) == [[0, 3 * points, 0]]


@pytest.mark.rule("SCO-2", "COM-7")
def test_every_owner_scores() -> None:
    """Each for the own skyscrapers; neighbouring skyscrapers give nothing."""
    game = bare_game(4)
    district(
        game,
        "W42",
        green=(2, 2),
        violet="boutique gallery",
        brown=(0, 3),
        orange=(1, 1),
        gray="jeweller",
    )
    # green lies between gray and violet: 3 types; brown between violet and orange: 2; orange
    # between brown and gray: 1
    assert vp(score(game, 3, "W42")) == [[9, 2, 10, 0]]
    assert game.scores == [9, 2, 10, 0]


@pytest.mark.rule("SCO-2", "COM-9")
def test_the_sixth_plot_counts_as_a_neighbour() -> None:
    """On the back side its businesses count for green and gray."""
    game = bare_game(2, "back")
    district(game, "TSQ", sixth="gallery boutique", green=(0, 1), gray=(1, 2), violet="jeweller")
    assert vp(score(game, 0, "TSQ")) == [[5, 6]]


@pytest.mark.rule("SCO-2", "ALEA-9")
def test_alea_scores_nothing() -> None:
    """In the 2-player game her skyscrapers earn nobody anything."""
    game = bare_game(2)
    district(game, "TSQ", green=(ALEA, 3), violet="gallery", brown=(1, 1))
    assert vp(score(game, 0, "TSQ")) == [[0, 2]]


@pytest.mark.rule("SCO-3")
def test_draws_of_those_who_are_not_there() -> None:
    """Two black cards for the scoring player, then one for each player without a skyscraper there,
    clockwise from him.
    """
    game = bare_game(4)
    district(game, "E52", gray=(3, 1))
    events = score(game, 2, "E52", 4, 5, 6, 4, 5)
    assert kinds(events)[1:] == ["vp"] + ["black"] * 5
    assert only(events, "black") == [
        {"seat": 2, "card": 4},
        {"seat": 2, "card": 5},
        {"seat": 2, "card": 6},
        {"seat": 0, "card": 4},
        {"seat": 1, "card": 5},
    ]
    assert [cards(game, seat) for seat in range(4)] == [
        {"black": [4]},
        {"black": [5]},
        {"black": [4, 5, 6]},
        {},
    ]
    assert (game.phase, game.seat) == ("move", 2)


@pytest.mark.rule("SCO-3")
def test_who_is_there_draws_no_third_card() -> None:
    """The scoring player himself draws two cards only, if he has a skyscraper in the district."""
    game = bare_game(3)
    district(game, "E52", gray=(1, 1), green=(2, 1))
    district(game, "W52", gray=(0, 1))  # elsewhere doesn't help
    assert only(score(game, 1, "E52", 6, 6, 5), "black") == [
        {"seat": 1, "card": 6},
        {"seat": 1, "card": 6},
        {"seat": 0, "card": 5},
    ]


@pytest.mark.rule("SCO-3", "AUC-9")
def test_draws_when_black_cards_run_out() -> None:
    """Who comes last gets none; a card that can't be drawn has no line."""
    game = bare_game(3)
    black_stack(game, [4], [5, 6], keeper=0)
    held = game.state["hand"][0, 5].sum()
    events = score(game, 1, "E52", 4, 6)
    assert kinds(events)[1:] == ["vp", "black", "shuffle", "black", "black"]
    assert [event["seat"] for event in only(events, "black")] == [1, 1, 1]
    assert [event["card"] for event in only(events, "black")] == [4, 6, 5]
    assert game.state["hand"][0, 5].sum() == held
    assert cards(game, 2) == {}


@pytest.mark.rule("SCO-4", "SCO-3")
def test_a_district_may_be_scored_by_anyone() -> None:
    """By a player who has no skyscraper there, or none at all; even an empty district."""
    game = bare_game(2)
    district(game, "W34", green=(1, 2))
    events = score(game, 0, "W34", 4, 5, 6)
    assert vp(events) == [[0, 2]]
    assert cards(game, 0) == {"black": [4, 5, 6]}
    events = score(game, 1, "E34", 4, 4, 4, 4)
    assert vp(events) == [[0, 0]]
    assert [event["seat"] for event in only(events, "black")] == [1, 1, 1, 0]
