"""INTERFACE.md: the numbers and names of the actions, and that every choice is one path of
actions.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest

from scenario import (
    bare_game,
    bid,
    cards,
    commissioner,
    district,
    empty_stack,
    hand,
    legal,
    passes,
    play_all,
    same_record,
    start_auction,
    tops,
    turn_of,
)
from skyenv import ACTION_NAMES, NUM_ACTIONS, Game, IllegalActionError
from skyenv.rules.components import CARD_COLOURS, COLOURS
from skyenv.rules.play import refresh_mask
from skyenv.rules.state import GAME_DTYPE, PHASES, as_records

DISTRICTS = ["W34", "E34", "W42", "TSQ", "E42", "W52", "E52"]
PLACES = [*DISTRICTS, "CENTRAL_PARK", "CITY_HALL"]


# ---- numbers and names ----


def test_the_103_actions() -> None:
    """The table of INTERFACE.md."""
    names = {0: "option A", 5: "option C", 78: "pass", 97: "bid done", 102: "stop"}
    names |= {
        1 + i: f"option B {name}"
        for i, name in enumerate(["boutique", "jeweller", "gallery", "perfumery"])
    }
    names |= {6 + i: f"option D {name}" for i, name in enumerate(DISTRICTS)}
    for i, plot in enumerate(["green", "violet", "brown", "orange", "gray", "sixth"]):
        names |= {
            13 + 6 * district + i: f"plot {name} {plot}" for district, name in enumerate(DISTRICTS)
        }
    for i, colour in enumerate(["green", "violet", "brown", "orange", "gray"]):
        names[55 + i] = f"take {colour}"
        names |= {79 + 3 * i + (value - 4): f"bid {colour} {value}" for value in (4, 5, 6)}
    names |= {94 + (value - 4): f"bid black {value}" for value in (4, 5, 6)}
    for i, who in enumerate(["white", "beige"]):
        names |= {60 + 9 * i + place: f"move {who} {name}" for place, name in enumerate(PLACES)}
    names |= {98 + number: f"build {number}" for number in range(4)}
    assert NUM_ACTIONS == 103
    assert list(ACTION_NAMES) == [names[number] for number in range(103)]


@pytest.mark.compiled
@pytest.mark.parametrize(
    ("players", "side"), [(players, side) for players in (2, 3, 4) for side in ("front", "back")]
)
def test_the_numbers_are_the_same_for_all_games(players: int, side: str) -> None:
    """For 2, 3 and 4 players and both sides: a name means its number, and a number its name."""
    game = Game(players, side, seed=1)
    assert game.mask.shape == (103,)
    while game.turn < 2 * players and not game.is_over:
        assert game.legal_names == [ACTION_NAMES[number] for number in game.legal_actions]
        assert game.mask.tolist() == [int(number in game.legal_actions) for number in range(103)]
        number = game.legal_actions[-1]
        by_name = game.copy()
        assert by_name.play(ACTION_NAMES[number]) == game.play(number)
        assert same_record(by_name.state, game.state)


@pytest.mark.parametrize("players", [2, 4])
def test_the_mask_is_1_for_legal_actions_and_they_are_counted(players: int) -> None:
    """Nothing but 0 and 1 in every phase, and as many as the compiled code says, which random play
    inside loops relies on.
    """
    game, mask = Game(players, seed=4), np.zeros(NUM_ACTIONS, np.int8)
    phases = set()
    for number in range(150):
        counted = refresh_mask(as_records(game.state.reshape(1), GAME_DTYPE)[0], mask)
        assert counted == len(game.legal_actions) == mask.sum()
        assert set(mask.tolist()) == {0, 1}
        phases.add(game.phase)
        game.play(game.legal_actions[number * 7 % counted])
    assert phases == set(PHASES) - {"over"}


def test_nothing_is_legal_once_the_game_is_over() -> None:
    """And nothing is counted."""
    game, mask = Game(2, seed=4, max_turns=1), np.ones(NUM_ACTIONS, np.int8)
    while not game.is_over:
        game.play(game.legal_actions[0])
    assert refresh_mask(as_records(game.state.reshape(1), GAME_DTYPE)[0], mask) == 0
    assert not mask.any()
    assert game.legal_actions == []


def test_actions_that_are_not_there() -> None:
    """Unknown names and numbers are refused, and nothing changes."""
    game = Game(2, seed=1)
    before = game.state.tobytes()
    for wrong in ("option E", "option B", "", "take black", "bid black 7", -1, 103, 78, "pass"):
        with pytest.raises(IllegalActionError):
            game.play(wrong)
    assert game.state.tobytes() == before
    assert len(game.events) == 1


def test_colour_and_plot_orders() -> None:
    """Indices in a position follow the same orders: a tile on TSQ's orange plot is at district 3,
    plot 3.
    """
    game = bare_game()
    game.play(game.legal_names[1])
    business = int(game.state["business"])
    game.play("plot TSQ orange")
    assert np.argwhere(game.state["tiles"]).tolist() == [[3, 3, business]]


# ---- one choice, one path ----


@pytest.mark.rule("TURN-4")
def test_two_colours_are_taken_in_ascending_order() -> None:
    """Each pair of colours has one path.

    The last colour can't be the first of two, however many cards it has.
    """
    pairs = []
    for first in COLOURS:
        game = bare_game()
        game.play("option A")
        if first not in legal(game, "take "):
            continue
        game.play(f"take {first}")
        pairs += [(first, second) for second in legal(game, "take ")]
    assert pairs == list(combinations(COLOURS, 2))


@pytest.mark.rule("TURN-4")
def test_the_first_colour_leaves_a_second_one() -> None:
    """With brown and violet left, only violet can be first."""
    game = bare_game()
    for colour in ("green", "orange", "gray"):
        empty_stack(game, colour, keeper=1)
    game.play("option A")
    assert game.legal_names == ["take violet"]
    game.play("take violet")
    assert game.legal_names == ["take brown"]


@pytest.mark.rule("TURN-4")
def test_a_stack_emptied_by_the_first_card() -> None:
    """Doesn't matter: the second card is of another colour."""
    game = bare_game()
    empty_stack(game, "violet", keeper=1)
    game.state["hand"][1, 1, 0] -= 1
    game.state["top"][1] = 0
    game.refresh()
    game.play("option A")
    assert legal(game, "take ") == ["green", "violet", "brown", "orange"]
    assert game.play("take violet")[-1] == {"event": "top", "color": "violet", "card": None}
    assert legal(game, "take ") == ["brown", "orange", "gray"]


def paths(game: Game, laid: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every way to bid: the cards in the order in which they are laid down.

    A dead end shows as a way that ends in 'dead'.
    """
    longer = []
    options = [name for name in game.legal_names if name != "pass"]
    if laid and not options:
        return [(*laid, "dead")]
    for name in options:
        if name == "bid done":
            longer.append(laid)
        else:
            further = game.copy()
            further.play(name)
            longer += paths(further, (*laid, name.removeprefix("bid ")))
    return longer


def choices(
    held: dict[str, list[int]], allowed: set[str], own_total: int, colour: str | None, highest: int
) -> Counter[tuple[str, ...]]:
    """AUC-3 and AUC-4 in plain words: every set of cards that may be bid, in the order of
    INTERFACE.md.
    """
    sets = set()
    for first in sorted(allowed if colour is None else {colour}):
        coloured, black = held.get(first, []), held.get("black", [])
        for n, m in product(range(len(coloured) + 1), range(len(black) + 1)):
            for some, others in product(combinations(coloured, n), combinations(black, m)):
                opens = n > 0 or colour is not None
                if n + m > 0 and opens and own_total + sum(some) + sum(others) > highest:
                    sets.add(
                        (
                            *(f"{first} {card}" for card in some),
                            *(f"black {card}" for card in others),
                        )
                    )
    return Counter(sets)


@pytest.mark.compiled
@pytest.mark.rule("AUC-3", "AUC-4", "AUC-5")
@pytest.mark.parametrize("seed", range(60))
def test_every_bid_has_exactly_one_path(seed: int) -> None:
    """Cards are laid down in the order coloured 4, 5, 6, black 4, 5, 6, and every way leads to a
    bid: no dead ends.
    """
    rng = np.random.default_rng(seed)
    game = bare_game(3)
    for seat in range(3):
        drawn: dict[str, list[int]] = {}
        for index, colour in enumerate(CARD_COLOURS):
            stack = np.repeat([4, 5, 6], game.state["face_down"][index])
            drawn[colour] = rng.choice(
                stack, rng.integers(0, 4 if colour in ("brown", "black") else 2), False
            ).tolist()
        hand(game, seat, **drawn)
    district(game, "TSQ", green=(2, 1), violet="gallery")
    allowed = [{"brown", "orange", "gray"}, {"brown", "orange", "gray"}, {"green"}]
    start_auction(game, ["TSQ"])
    for _ in range(6):
        if game.phase != "bid" or game.seat is None or game.state["auction_place"] != 3:
            break
        seat, state = game.seat, game.state
        index = int(state["bid_colour"][seat])
        colour_so_far = None if index < 0 else CARD_COLOURS[index]
        all_paths = paths(game)
        wanted = choices(
            cards(game, seat),
            allowed[seat],
            int(state["bid_total"][seat]),
            colour_so_far,
            int(state["highest"]),
        )
        assert Counter(all_paths) == wanted
        assert ("pass" in game.legal_names) or not all_paths
        if all_paths and rng.random() < 0.8:
            low = sorted(all_paths, key=lambda way: (len(way), way))[: 1 + len(all_paths) // 3]
            for card in low[int(rng.integers(len(low)))]:
                game.play(f"bid {card}")
            game.play("bid done")
        else:
            game.play("pass")


def test_cards_are_laid_down_in_order() -> None:
    """Coloured ones before black ones, low ones before high ones; each raise starts anew."""
    game = bare_game()
    hand(game, 0, green=[4, 5, 5], black=[4, 5])
    hand(game, 1, gray=[6, 6])
    start_auction(game, ["TSQ"])
    game.play("bid green 5")
    assert game.legal_names == ["bid green 5", "bid black 4", "bid black 5", "bid done"]
    game.play("bid black 4")
    assert game.legal_names == ["bid black 5", "bid done"]
    game.play("bid done")
    bid(game, 1, "gray 6 6")
    passes(game, 2)
    assert game.legal_names == ["pass", "bid green 4", "bid green 5", "bid black 5"]


def test_no_dead_ends() -> None:
    """A card that leaves too little for a higher bid can't be laid down: the order would forbid the
    cards needed.
    """
    game = bare_game()
    hand(game, 0, green=[6, 6])
    hand(game, 1, gray=[4, 5, 6])
    start_auction(game, ["TSQ"])
    bid(game, 0, "green 6 6")
    assert game.legal_names == [
        "pass",
        "bid gray 4",
    ]  # 5 + 6 = 11 is too little: all three cards are needed
    game.play("bid gray 4")
    assert game.legal_names == ["bid gray 5"]
    game.play("bid gray 5")
    assert game.legal_names == ["bid gray 6"]


def test_no_passing_in_the_middle_of_a_bid() -> None:
    """Once a card has been laid down, there is no way back."""
    game = bare_game()
    hand(game, 0, green=[4, 5])
    start_auction(game, ["TSQ"])
    assert "pass" in game.legal_names
    game.play("bid green 4")
    assert game.legal_names == ["bid green 5", "bid done"]


@pytest.mark.rule("AUC-12")
def test_bids_for_the_park_have_one_path_too() -> None:
    """Any colour first, then that of the first bidder."""
    game = bare_game()
    held: dict[str, list[int]] = {"green": [4, 5], "gray": [6], "black": [4, 4]}
    hand(game, 0, **held)
    hand(game, 1, **held)
    start_auction(game, [])
    assert Counter(paths(game)) == choices(held, {"green", "gray"}, 0, None, 0)
    bid(game, 0, "green 4 black 4")
    assert Counter(paths(game)) == choices(held, {"green"}, 0, None, 8)


def test_a_single_legal_action_is_still_a_decision() -> None:
    """The game waits for it: a forced pass, the only plot, the only card, building nothing."""
    game = bare_game()
    start_auction(game, [])
    assert game.legal_names == ["pass"]
    assert (game.phase, game.seat) == ("bid", 0)
    hand(game, 0, green=[4])
    game.state["supply"][0] = 0
    game.refresh()
    bid(game, 0, "green 4")
    passes(game, 1, 2)
    assert game.legal_names == ["build 0"]
    game.play("build 0")
    assert game.phase == "option"


def test_option_b_chooses_the_type_and_then_the_plot() -> None:
    """Every business with every plot is one path; both commissioners on one place are two moves."""
    game = bare_game()
    for business in legal(game, "option B "):
        chosen = game.copy()
        chosen.play(f"option B {business}")
        assert len(legal(chosen, "plot ")) == 35
    commissioner(game, "white", "TSQ")
    commissioner(game, "beige", "TSQ")
    turn_of(game, 0)
    assert legal(game, "option D ") == [
        "TSQ"
    ]  # scoring it is one choice, with two commissioners there as with one
    tops(game, green=5)
    play_all(game, "option A", "take green", "take gray")
    assert legal(game, "move ") == ["white W52", "white E52", "beige W52", "beige E52"]
