"""TURN: a turn is one option with its three actions."""

from typing import Any

import pytest

from scenario import (
    bare_game,
    black_stack,
    cards,
    commissioner,
    district,
    empty_stack,
    hand,
    kinds,
    known_cards,
    legal,
    only,
    play_all,
    stopped,
    supply,
    tops,
    turn_of,
)
from skyenv.rules.components import COLOURS, DISTRICTS


@pytest.mark.rule("TURN-1", "TURN-2", "TURN-5", "TURN-7")
@pytest.mark.parametrize(
    ("actions", "phases", "held"),
    [
        (
            ["option A", "take violet", "take orange", "move beige E52"],
            ["take", "take", "move", "option"],
            {"violet": [4], "orange": [4]},
        ),
        (
            ["option B", "plot TSQ brown", "take green", "take violet", "move white W34"],
            ["plot", "take", "take", "move", "option"],
            {"green": [4], "violet": [4]},
        ),
        (
            ["option C", "move white E34", "take brown", "take gray", "move white TSQ"],
            ["move", "take", "take", "move", "option"],
            {"brown": [4], "gray": [4], "black": [6]},
        ),
        (["option D TSQ", "move beige E52"], ["move", "option"], {"black": [4, 6]}),
    ],
    ids="ABCD",
)
def test_each_option_has_its_actions_in_order(
    actions: list[str], phases: list[str], held: dict[str, list[int]]
) -> None:
    """Their actions in order; then the next seat has its turn.

    Both moves of C may use the same commissioner.
    """
    game = bare_game()
    district(game, "TSQ", green=(0, 1), violet=(1, 1), gray=(2, 1))
    commissioner(game, "beige", "TSQ")
    chance = {"option C": [6], "option D TSQ": [4, 6]}
    for action, phase in zip(actions, phases, strict=True):
        name = next(name for name in game.legal_names if name.startswith(action))
        game.play(name, chance.get(action, ()))
        assert game.phase == phase
        assert game.seat == (phase == "option")
    assert (game.state["turn_seat"], game.turn) == (1, 1)
    assert cards(game, 0) == held
    gained = 3 * (actions[0] == "option A")
    assert game.state["supply"][:2].tolist() == [3 + gained, 3]
    assert game.state["general"][:2].tolist() == [12 - gained, 12]
    assert game.state["tiles"].sum() == (actions[0] == "option B")


@pytest.mark.rule("TURN-3", "BUS-2")
def test_option_c_is_always_legal() -> None:
    """B with a plot for a business; C always, even with no black card left, and the move is made
    all the same.
    """
    game = bare_game(4)
    black_stack(game, [], [], keeper=1)
    supply(game, 0, 0, general=0)
    full: dict[str, Any] = {colour: (seat, 1) for seat, colour in enumerate(COLOURS[:4])}
    for name in DISTRICTS:
        district(game, name, gray="gallery gallery", **full)
    only_c = game.copy()
    assert only_c.legal_names == ["option C"]
    assert kinds(only_c.play("option C")) == ["option C"]
    assert (only_c.phase, only_c.seat) == ("move", 0)
    district(game, "E52", gray="jeweller", **full)
    game.play(f"option B {legal(game, 'option B ')[0]}")
    assert game.legal_names == ["plot E52 gray"]


@pytest.mark.rule("TURN-3", "SCO-1")
def test_option_d_needs_a_commissioner() -> None:
    """In a district that isn't stopped; City Hall and Central Park are no districts. Two
    commissioners in one place are one choice.
    """
    game = bare_game()
    commissioner(game, "white", "CENTRAL_PARK")
    assert legal(game, "option D ") == []
    commissioner(game, "beige", "E42")
    assert legal(game, "option D ") == ["E42"]
    commissioner(game, "white", "W34")
    assert legal(game, "option D ") == ["W34", "E42"]
    stopped(game, "E42")
    assert legal(game, "option D ") == ["W34"]
    commissioner(game, "beige", "W34")
    assert legal(game, "option D ") == ["W34"]


@pytest.mark.rule("TURN-4")
@pytest.mark.parametrize(
    ("stacks", "pairs"),
    [
        ("green violet brown", ["green violet", "green brown", "violet brown"]),
        ("violet brown", ["violet brown"]),
        ("brown", ["brown"]),  # although that stack has more cards
        ("", []),  # there is no decision
    ],
)
def test_two_cards_have_different_colours(stacks: str, pairs: list[str]) -> None:
    """Each pair of them has one path: in ascending order, and the first leaves a second one."""
    game = bare_game()
    for colour in set(COLOURS) - set(stacks.split()):
        empty_stack(game, colour, keeper=1)
    events = game.play("option A")
    found = []
    for first in legal(game, "take "):
        one = game.copy()
        one.play(f"take {first}")
        found += [f"{first} {second}" for second in legal(one, "take ")] or [first]
    assert found == pairs
    assert kinds(events) == ["option A"]
    assert game.phase == ("take" if pairs else "move")


@pytest.mark.rule("TURN-5", "INF-3")
def test_taken_cards_are_public() -> None:
    """It is the card that was visible; the next one becomes visible. The last one leaves an empty
    stack.
    """
    game = bare_game(hands=["", "green 4 4 4 4 5 5 5 5 6 6 6"])
    tops(game, violet=6)
    game.play("option A")
    assert only(game.play("take green"), "top") == [{"color": "green", "card": None}]
    assert only(game.play("take violet", [5]), "top") == [{"color": "violet", "card": 5}]
    assert cards(game, 0) == known_cards(game, 0) == {"green": [4], "violet": [6]}
    play_all(game, "move white W34", "option A")
    assert legal(game, "take ") == ["violet", "brown", "orange"]


@pytest.mark.rule("TURN-6")
def test_there_is_no_hand_limit() -> None:
    """With most of the pack in hand a player still takes black and coloured cards."""
    game = bare_game()
    colour = [4] * 3 + [5] * 3 + [6] * 3
    hand(game, 0, black=[4] * 19 + [5] * 16 + [6] * 13, **dict.fromkeys(COLOURS, colour))
    play_all(game, "option C", "move white W34", "take green", "take gray")
    commissioner(game, "white", "W34")
    turn_of(game, 0)
    game.play("option D W34", chance=[6])
    assert game.state["hand"][0].sum() == 9 * 5 + 50 + 2
