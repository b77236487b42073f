"""SCO: scoring a district with option D."""

from typing import Any

import pytest

from scenario import (
    Event,
    bare_game,
    cards,
    commissioner,
    district,
    kinds,
    only,
    turn_of,
    vp,
)
from skyenv import Game
from skyenv.rules.components import DISTRICTS


def score(game: Game, seat: int, name: str, *draws: int) -> list[Event]:
    """A seat scores a district in which a commissioner stands; black cards as given are drawn."""
    commissioner(game, "beige", name)
    turn_of(game, seat)
    return game.play(f"option D {name}", draws)


@pytest.mark.rule("SCO-1")
@pytest.mark.parametrize("name", DISTRICTS)
def test_option_d_scores_the_district_of_a_commissioner(name: str) -> None:
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
def test_a_skyscrapers_value_counts_neighbouring_types_of_businesses(
    before: str, after: str, points: int
) -> None:
    """1, 2, 3, 5, 8 VP for 0 to 4 different types on the two plots next to its own; equal ones
    count once.
    """
    game = bare_game()
    beside = {"violet": before, "orange": after}
    district(game, "E34", brown=(1, 3), **beside, green="perfumery", gray="perfumery jeweller")
    assert vp(score(game, 0, "E34")) == [[0, 3 * points, 0]]


@pytest.mark.rule("SCO-2", "COM-7", "COM-9")
@pytest.mark.parametrize(
    ("side", "plots", "points"),
    [
        # green lies between gray and violet: 3 types; brown between violet and orange: 2; orange
        # between brown and gray: 1; neighbouring skyscrapers give nothing
        (
            "front",
            {
                **{"green": (2, 2), "violet": "boutique gallery", "brown": (0, 3)},
                **{"orange": (1, 1), "gray": "jeweller"},
            },
            [9, 2, 10, 0],
        ),
        # the sixth plot's businesses count for green and gray
        (
            "back",
            {
                **{"sixth": "gallery boutique", "green": (0, 1), "gray": (1, 2)},
                "violet": "jeweller",
            },
            [5, 6, 0, 0],
        ),
    ],
)
def test_every_owner_scores(side: str, plots: dict[str, Any], points: list[int]) -> None:
    """Also where the scoring player has no skyscraper."""
    game = bare_game(4, side)
    district(game, "W42", **plots)
    assert vp(score(game, 3, "W42")) == [points]
    assert game.scores == points


@pytest.mark.rule("SCO-3", "SCO-4")
@pytest.mark.parametrize(
    ("plots", "seat", "seats_drawing"),
    [
        ({"gray": (3, 1)}, 2, [2, 2, 2, 0, 1]),
        ({"gray": (1, 1), "green": (2, 1)}, 1, [1, 1, 3, 0]),  # a third card isn't his
        ({}, 3, [3, 3, 3, 0, 1, 2]),
    ],
)
def test_the_scorer_and_absent_players_draw_black_cards(
    plots: dict[str, Any], seat: int, seats_drawing: list[int]
) -> None:
    """Two black cards for the scoring player, then one for each player without a skyscraper there,
    clockwise from him; a skyscraper elsewhere doesn't help.
    """
    game = bare_game(4)
    district(game, "E52", **plots)
    district(game, "W52", gray=(0, 1))
    draws = [4, 5, 6, 4, 5, 6][: len(seats_drawing)]
    events = score(game, seat, "E52", *draws)
    assert kinds(events)[1:] == ["vp"] + ["black"] * len(draws)
    drawn = [(event["seat"], event["card"]) for event in only(events, "black")]
    assert drawn == list(zip(seats_drawing, draws, strict=True))
    assert cards(game, seat)["black"] == draws[: seats_drawing.count(seat)]
    assert (game.phase, game.seat) == ("move", seat)
