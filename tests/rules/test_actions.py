"""INTERFACE.md: the numbers and names of the actions, and that every choice is one path of
actions.
"""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest

import referee
from scenario import bare_game, bids, cards, district, hand, start_auction
from skyenv import ACTION_NAMES, NUM_ACTIONS, Game
from skyenv.rules.components import CARD_COLOURS

# ---- numbers and names ----


def test_the_103_actions() -> None:
    """The table of INTERFACE.md, as the referee has it."""
    samples = {
        **{0: "option A", 2: "option B jeweller", 5: "option C", 12: "option D E52"},
        **{13: "plot W34 green", 34: "plot TSQ orange", 54: "plot E52 sixth", 59: "take gray"},
        **{68: "move white CITY_HALL", 69: "move beige W34", 78: "pass", 79: "bid green 4"},
        **{93: "bid gray 6", 96: "bid black 6", 97: "bid done", 101: "build 3", 102: "stop"},
    }
    assert {number: ACTION_NAMES[number] for number in samples} == samples
    assert list(ACTION_NAMES) == list(referee.NAMES)
    assert NUM_ACTIONS == 103


# ---- one choice, one path ----


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
    for first in allowed if colour is None else {colour}:
        coloured, black = held.get(first, []), held.get("black", [])
        for some, others in product(subsets(coloured), subsets(black)):
            opens = some or (others and colour is not None)
            if opens and own_total + sum(some + others) > highest:
                names = [f"{first} {card}" for card in some]
                sets.add((*names, *(f"black {card}" for card in others)))
    return Counter(sets)


def subsets(cards: list[int]) -> list[tuple[int, ...]]:
    """Some of the cards, or none."""
    return [some for n in range(len(cards) + 1) for some in combinations(cards, n)]


@pytest.mark.compiled
@pytest.mark.rule("AUC-3", "AUC-4", "AUC-5")
@pytest.mark.parametrize("seed", range(25))
def test_every_bid_has_exactly_one_path(seed: int) -> None:
    """Cards are laid down in the order coloured 4, 5, 6, black 4, 5, 6, and every way leads to a
    bid: no dead ends.
    """
    rng = np.random.default_rng(seed)
    game = bare_game(3)
    for seat in range(3):
        stacks = [np.repeat([4, 5, 6], counts) for counts in game.state["face_down"]]
        sizes = rng.integers(0, [2, 2, 4, 2, 2, 4])
        drawn = (rng.choice(*one, False).tolist() for one in zip(stacks, sizes, strict=True))
        hand(game, seat, **dict(zip(CARD_COLOURS, drawn, strict=True)))
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


@pytest.mark.rule("AUC-12")
def test_bids_for_the_park_have_exactly_one_path() -> None:
    """Any colour first, then that of the first bidder."""
    game = bare_game(hands=["green 4 5 gray 6 black 4 4"] * 2)
    held = cards(game, 0)
    start_auction(game, [])
    assert Counter(paths(game)) == choices(held, {"green", "gray"}, 0, None, 0)
    bids(game, "0 green 4 black 4")
    assert Counter(paths(game)) == choices(held, {"green"}, 0, None, 8)
