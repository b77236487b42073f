"""Determinizations: positions sampled from a view. They come exactly as often as they should:
against chances counted by hand, on positions small enough for that.

Those tests don't ask the code what a seat knows. Each says which cards it can't locate, and counts
in how many ways they can lie.
"""

from itertools import combinations_with_replacement
from math import comb, prod
from typing import Any

import numpy as np
import pytest

from positions import positions
from scenario import (
    as_likely,
    bare_game,
    bid,
    black_stack,
    counted,
    district,
    hand,
    known_cards,
    legal,
    passes,
    same_record,
    start_auction,
    turn_of,
)
from skyenv import Game, Games, OptionError, make_agent
from skyenv.agents import decide
from skyenv.engine.knowledge import VIEW_DTYPE, resample, view
from skyenv.rules.state import END_TRUNCATED, PHASE_BID

inf = pytest.mark.rule("INF-1", "INF-2", "INF-3")


def batch_of(determinizations: np.ndarray, like: Games) -> Games:
    """A batch that stands in these positions; bringing it up to date changes nothing in them."""
    games = Games.of(determinizations, like.options, observation=True)
    assert all(
        same_record(one, other) for one, other in zip(games.state, determinizations, strict=True)
    )
    return games


def exact(rows: np.ndarray, chances: dict[Any, float]) -> bool:
    """Whether rows of counts come as often as they should, and no others."""
    counts = counted(rows)
    assert set(counts) <= set(chances)
    assert abs(sum(chances.values()) - 1) < 1e-12
    return as_likely([counts.get(thing, 0) for thing in chances], list(chances.values()))


def hands_of(number: int, stack: list[int]) -> dict[Any, float]:
    """The chance of every hand of so many cards (counts by rank) out of a stack (counts by
    rank).
    """
    hands = {
        tuple(ranks.count(rank) for rank in range(3))
        for ranks in combinations_with_replacement(range(3), number)
    }
    ways = {cards: prod(map(comb, stack, cards)) for cards in hands}
    total = comb(sum(stack), number)
    return {cards: count / total for cards, count in ways.items() if count}


# ---- what a seat knows is kept ----


@inf
@pytest.mark.parametrize(
    ("players", "side"), [(2, "front"), (2, "back"), (3, "back"), (4, "front")]
)
def test_determinizations_have_the_same_view_and_go_on(players: int, side: str) -> None:
    """The seat's view, mask and observation are equal to the byte, with all public information.
    Games go on to their end, with legal actions only.
    """
    games = positions(players, side)
    assert (games.state["phase"] == PHASE_BID).any()
    for seat in range(players):
        views = view(games.state, seat)
        determinizations = resample(views, np.arange(games.num_games))
        assert view(determinizations, seat).tobytes() == views.tobytes()
        again = batch_of(determinizations, games)
        assert again.observe(seat).tobytes() == games.observe(seat).tobytes()
        mine = games.seat == seat
        assert (again.mask[mine] == games.mask[mine]).all()
        assert (again.seat == games.seat).all()
    again.state["max_turns"] = again.state["turns"] + 40
    while (rows := np.flatnonzero(again.seat >= 0)).size:
        again.step(decide(again, make_agent("crowd"), rows), rows)
    assert side == "back" or (again.state["end"] != END_TRUNCATED).any()


def test_batched_resampling_equals_single_calls() -> None:
    """One view for many seeds, views and seeds side by side, or each alone."""
    games = positions(3, "front", 40)
    views = view(games.state, 1)
    seeds = np.arange(7, 7 + games.num_games)
    together = resample(views, seeds)
    for row in range(games.num_games):
        assert resample(views[row], int(seeds[row])).tobytes() == together[row].tobytes()
    assert (
        resample(views[20], seeds).tobytes()
        == resample(np.repeat(views[20:21], len(seeds)), seeds).tobytes()
    )
    assert resample(views[:0], seeds[:0]).shape == resample(views[0], []).shape == (0,)
    before = views.tobytes()
    resample(views, seeds)["score"][:] = 9
    assert views.tobytes() == before


# ---- what it refuses ----


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        (-1, "seeds must be from 0"),
        (np.array([2**63, 1], np.uint64), "seeds must be from 0"),
        ([1, 2, 3], "one for each of the 2 views"),
        *[(seeds, "seeds must be whole numbers") for seeds in ([0.5], [[1]], ["a"], None)],
    ],
)
def test_invalid_seeds_are_refused(seeds: object, message: str) -> None:
    views = view(Games(2, seed=1).state, 0)
    with pytest.raises(OptionError, match=message):
        resample(views, seeds)  # type: ignore[arg-type]


def test_invalid_views_are_refused() -> None:
    games = Games(2, seed=1)
    views = view(games.state, 0)
    for field, value in (
        ("seat", 2),
        ("seat", -1),
        ("unseen", 9),
        ("unknown", -1),
        ("num_face_down", 5),
    ):
        wrong = views.copy()
        wrong[field][1] = value
        with pytest.raises(OptionError, match="view 1: its seat or its counts"):
            resample(wrong, [1, 2])
    with pytest.raises(OptionError, match="view 0"):
        resample(np.zeros(1, VIEW_DTYPE), [1])


# ---- they come as often as they should ----


DRAWS = 100_000
GREEN, BROWN, ORANGE, GRAY, BLACK = 0, 2, 3, 4, 5


def drawn(game: Game, seat: int, draws: int = DRAWS) -> np.recarray:
    """Positions that a seat can't tell from this one."""
    return resample(game.view(seat), np.arange(draws))


def deals(pool: list[int], sizes: list[int]) -> dict[tuple[int, ...], float]:
    """The chance of every deal of a pool (counts by rank) to hands of these sizes: the counts of
    one hand after the other's.
    """
    if not sizes:
        return {(): 1.0}
    hands = {}
    for first, chance in hands_of(sizes[0], pool).items():
        left = [have - taken for have, taken in zip(pool, first, strict=True)]
        hands.update(
            {(*first, *others): chance * more for others, more in deals(left, sizes[1:]).items()}
        )
    return hands


def together(*parts: dict[tuple[int, ...], float]) -> dict[tuple[int, ...], float]:
    """The chances of things that have nothing to do with each other."""
    joint: dict[tuple[int, ...], float] = {(): 1.0}
    for part in parts:
        joint = {(*left, *right): p * q for left, p in joint.items() for right, q in part.items()}
    return joint


def given(chances: dict[tuple[int, ...], float], condition: Any) -> dict[tuple[int, ...], float]:
    """The chances once it is known that a condition holds; it must leave something out."""
    left = {thing: chance for thing, chance in chances.items() if condition(thing)}
    assert 0 < len(left) < len(chances)
    return {thing: chance / sum(left.values()) for thing, chance in left.items()}


def worth(counts: tuple[int, ...]) -> int:
    """The value of the cards of a hand, or of several."""
    return sum((4, 5, 6)[place % 3] * number for place, number in enumerate(counts))


# ---- hands and stacks ----


@inf
def test_four_players_share_what_is_unseen() -> None:
    """Joint chances of three hands: who holds the last 6 leaves none for the others.

    Two colours at once.
    """
    game = bare_game(4)
    hand(game, 0, brown=[5, 6], black=[4])
    hand(game, 1, brown=[4], black=[4, 6])
    hand(game, 2, brown=[6], black=[5])
    hand(game, 3, brown=[5], black=[6])
    game.state["known"][3, BROWN] = [0, 1, 0]
    game.refresh()
    black_stack(game, [4, 4, 5], [], keeper=0)
    black = deals([3, 2, 2], [2, 1, 1])
    brown = deals([5 - 1, 4 - 2, 3 - 1], [1, 1, 0])
    determinizations = drawn(game, 0)
    hidden = determinizations["hand"][:, 1:] - game.state["known"][1:4]
    assert exact(hidden[:, :, BLACK], black)
    assert exact(hidden[:, :, BROWN], brown)
    assert exact(
        hidden[:, :2, [BROWN, BLACK]],
        mixed_by_seat(deals([4, 2, 2], [1, 1]), deals([3, 2, 2], [2, 1])),
    )


def mixed_by_seat(
    first: dict[tuple[int, ...], float], second: dict[tuple[int, ...], float]
) -> dict[tuple[int, ...], float]:
    """The joint chances of two seats' cards of two colours, a seat's two colours side by side."""
    return {
        (*a[:3], *b[:3], *a[3:], *b[3:]): p * q for a, p in first.items() for b, q in second.items()
    }


# ---- after auctions ----


def after_an_auction() -> Game:
    """Seat 1 has paid green 5, 5 and black 6; seat 2 has taken back orange 4 and black 5."""
    game = bare_game(3)
    district(game, "TSQ", orange=(2, 1))
    hand(game, 0, green=[4, 4, 4, 5], black=[4])
    hand(game, 1, green=[5, 5, 6], black=[4, 6])
    hand(game, 2, orange=[4, 6], black=[5, 6, 6])
    start_auction(game, ["TSQ"], starter=2)
    bid(game, 2, "orange 4 black 5")
    passes(game, 0)
    bid(game, 1, "green 5 5 black 6")
    passes(game, 2)
    game.play("build 0")
    passes(game, 2, 0, 1)  # nobody wants the park area
    return game


@inf
@pytest.mark.rule("AUC-7", "AUC-8")
def test_paid_cards_are_ordered_and_returned_ones_known() -> None:
    """What was paid is under its stack, in order; what was taken back is in that hand; the rest is
    anywhere.
    """
    game = after_an_auction()
    assert known_cards(game, 1) == {}
    assert known_cards(game, 2) == {"orange": [4], "black": [5]}
    determinizations = drawn(game, 0)
    hidden = determinizations["hand"][:, 1:3] - game.state["known"][1:3]
    assert exact(hidden[:, 0, GREEN], deals([5 - 1 - 3, 4 - 1 - 2, 3], [1]))
    assert exact(
        hidden[:, 1, ORANGE], deals([5 - 1 - 1, 4, 3], [1])
    )  # the top and the 4 taken back are seen
    assert exact(hidden[:, :, BLACK], deals([20 - 1, 16 - 1, 14 - 1], [1, 2]))
    assert (determinizations["returned"][:, GREEN, :3] == [1, 1, -1]).all()
    assert (determinizations["black_face_up"] == [0, 0, 1]).all()


# ---- in the middle of a bid ----


def begun_bid() -> Game:
    """Seat 1 has laid an orange 4, which it took from the top, and has to beat 22.

    It is known to hold a black 4.
    """
    game = bare_game(3)
    district(game, "TSQ", green=(0, 2), orange=(1, 1))
    hand(game, 0, green=[6, 6], black=[6, 4])
    hand(game, 1, orange=[4, 5], black=[4, 5, 6])
    hand(game, 2, orange=[6], black=[4, 5, 5])
    game.state["known"][1, ORANGE], game.state["known"][1, BLACK] = [1, 0, 0], [1, 0, 0]
    game.refresh()
    start_auction(game, ["TSQ"], starter=0)
    bid(game, 0, "green 6 6 black 4 6")
    game.play("bid orange 4")
    return game


@inf
@pytest.mark.rule("AUC-3", "AUC-4")
def test_an_open_bid_constrains_the_bidders_hidden_cards() -> None:
    """4 of 22 are there and a known 4 is to come: the orange card and two black ones must be worth
    15, in whatever way.
    """
    game = begun_bid()
    assert legal(game, "bid ") == ["orange 5"]
    black = [20 - 1 - 1, 16, 14 - 1]  # a 4 is known; 4 and 6 of seat 0's bid lie on the table
    orange = [5 - 1 - 1, 4, 3]  # the top; the card laid down
    chances = together(
        deals([3, 4, 3 - 1], [1]), deals([18 - 1, 16 - 2, 13], [2])
    )  # without seat 2's own
    determinizations = drawn(game, 2)
    hidden = determinizations["hand"] - game.state["known"]
    assert exact(hidden[:, 1][:, [ORANGE, BLACK]], given(chances, lambda cards: worth(cards) >= 15))

    both = together(deals(orange, [1, 1]), deals(black, [2, 3]))
    both = given(both, lambda cards: worth(cards[:3]) + worth(cards[6:9]) >= 15)
    determinizations = drawn(game, 0)
    hidden = determinizations["hand"] - game.state["known"]
    rows = [hidden[:, 1, ORANGE], hidden[:, 2, ORANGE], hidden[:, 1, BLACK], hidden[:, 2, BLACK]]
    assert exact(np.concatenate(rows, axis=1), both)


def test_an_impossible_bid_is_refused() -> None:
    """A view made by hand in which no bid can be completed: an error, not an endless search."""
    known = begun_bid().view(2)
    known["game"]["highest"] = 40
    with pytest.raises(OptionError, match="view 0: inconsistent with the cards revealed"):
        resample(known, [1])


@inf
@pytest.mark.rule("AUC-3", "AUC-4")
def test_the_order_of_laying_constrains_hidden_cards() -> None:
    """4 and a black 5 are down, 12 are missing, and a black 4 can't follow any more: three cards 4,
    5, 6 would not do.
    """
    game = bare_game(2)
    district(game, "TSQ", green=(0, 2), orange=(1, 1))
    hand(game, 0, green=[6, 6], black=[4, 4, 5])
    hand(game, 1, orange=[4], black=[5, 5, 5, 6])
    start_auction(game, ["TSQ"], starter=0)
    bid(game, 0, "green 6 6 black 4 4")
    game.play("bid orange 4")
    game.play("bid black 5")
    assert legal(game, "bid ") == ["black 5"]
    chances = given(
        deals([20 - 2, 16 - 2, 14], [3]), lambda cards: 5 * cards[1] + 6 * cards[2] >= 12
    )
    assert exact(drawn(game, 0)["hand"][:, 1, BLACK], chances)


# ---- after the black stack was shuffled ----


def after_a_shuffle() -> Game:
    """The black stack had run out when seat 0 drew a card: 4, 4, 5, 6, 6, 6 were shuffled.

    Seat 1 holds 4 and 5, unseen.
    """
    game = bare_game(2)
    hand(game, 1, orange=[5], black=[4, 5])
    black_stack(game, [], [4, 4, 5, 6, 6, 6], keeper=0)
    turn_of(game, 0)
    game.play("option C", [6])
    return game


@inf
@pytest.mark.rule("AUC-9")
def test_a_shuffle_reveals_the_opponents_black_cards() -> None:
    """What lay face up is in the stack, so all else but my own is in the other's hand.

    What is drawn later isn't known.
    """
    game = after_a_shuffle()
    before = game.state["hand"][0, BLACK] - [0, 0, 1]
    determinizations = drawn(game, 0, 1000)
    assert (determinizations["hand"][:, 1, BLACK] == [1, 1, 0]).all()
    assert (determinizations["face_down"][:, BLACK] == [2, 1, 2]).all()
    assert exact(drawn(game, 1)["hand"][:, 0, BLACK] - before, deals([2, 1, 3], [1]))

    turn_of(game, 1)
    game.play("option C", [5])
    assert exact(drawn(game, 0)["hand"][:, 1, BLACK] - [1, 1, 0], deals([2, 1, 2], [1]))
    own_5_apart = deals([2, 0, 3], [1])
    assert exact(drawn(game, 1)["hand"][:, 0, BLACK] - before, own_5_apart)


def test_impossible_deductions_are_refused() -> None:
    """A view made by hand in which seat 0 knows of black cards that seat 1 can't hold: an error,
    not a wrong position.
    """
    cannot = "view 0: its seat or its counts"
    for deduced, message in (([-1, 1, 0], cannot), ([0, 0, 7], cannot), ([2, 1, 0], cannot)):
        known = after_a_shuffle().view(0)
        known["game"]["deduced"][1] = deduced
        with pytest.raises(OptionError, match=message):
            resample(known, [1])
    known["game"]["deduced"][1] = [1, 1, 0]
    assert resample(known, [1]).hand[0, 1, BLACK].tolist() == [1, 1, 0]
