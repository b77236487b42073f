"""The real position is one of a seat's resampled ones like any other, whole games long; and others'
cards leave no trace.

How often something is so in many resampled positions must be how often it really is. That catches
whatever a seat's knowledge forgets or invents, wherever in the game. It holds only if players'
choices tell nothing of hidden cards, so these players are blind: they look at what is public, and
of a card that nobody knows they pick the back.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from scenario import as_likely
from skyenv import Games
from skyenv.engine.knowledge import resample, view
from skyenv.rules.actions import BID, BID_DONE, PASS
from skyenv.rules.state import PHASE_BID

inf = pytest.mark.rule("INF-1", "INF-2", "INF-3")

BLACK = 5
VALUES = np.array([4, 5, 6])
NUM_CARDS = 18
LAST_STEP = 150
RESAMPLED = 19  # so the real position has one of 20 places


# ---- players that look at backs only ----


class Sample(NamedTuple):
    """Positions of as many games, at moments that have nothing to do with what is hidden."""

    state: np.recarray
    seat: npt.NDArray[np.int64]  # whose knowledge is looked at
    # [game, rank]: share of the cards in hands at the last shuffle, less that of the shuffled ones
    older: npt.NDArray[np.float64]


def thin_black_stacks(games: Games, rng: np.random.Generator) -> None:
    """Turn up all but a few black cards of every stack, so that it will soon be shuffled."""
    for game in games.state:
        cards = rng.permutation(np.repeat(np.arange(3), game["face_down"][BLACK]))
        left = int(rng.integers(0, 9))
        game["face_down"][BLACK] = np.bincount(cards[:left], minlength=3)
        game["black_face_up"] = np.bincount(cards[left:], minlength=3)
    games.refresh()


def could_lay(games: Games, rich: Games) -> npt.NDArray[np.bool_]:
    """[game, card]: what the seat to act could lay down, as far as rules and laying order go, if it
    had every card.
    """
    rich.state[:] = games.state
    rows = np.flatnonzero(games.seat >= 0)
    rich.state["hand"][rows, games.seat[rows]] = 5
    rich.state["known"][rows, games.seat[rows]] = 0
    rich.refresh()
    return np.greater(rich.mask[:, BID : BID + NUM_CARDS], 0)


def ways_to_bid(game: np.void, lay: np.ndarray, bold: bool) -> tuple[np.ndarray, np.ndarray]:
    """[colour, rank]: cards that all know, and cards of which a blind bidder looks at the backs
    alone, for it to lay down.

    Unless it is bold it takes only what is sure, from all that is public, to leave a bid above the
    highest one, and no back that may turn out to be like a card that all know.
    """
    seat = int(game["seat"])
    lay = lay.reshape(6, 3)
    known = game["known"][seat].astype(np.int64)
    if seat < 2:
        known[BLACK] += game["deduced"][seat]
    backs = game["hand"][seat] - known
    values = known * VALUES
    missing = int(game["highest"]) - int(game["bid_total"][seat])
    black_at_least = int(values[BLACK].sum() + 4 * backs[BLACK].sum())
    can_follow = values[:, ::-1].cumsum(axis=1)[:, ::-1]
    can_follow[:5] += black_at_least
    sure = (known > 0) & lay & (can_follow > missing)
    back_can_follow = np.array([4 + black_at_least] * 5 + [4])
    sure_backs = np.logical_and.reduce(
        [known.sum(axis=1) == 0, lay.any(axis=1), back_can_follow > missing]
    )
    if bold:
        return known * lay, backs * lay.max(axis=1, keepdims=True)
    return known * sure, backs * sure_backs[:, None]


def choose_bid(
    game: np.void, legal: np.ndarray, lay: np.ndarray, rng: np.random.Generator
) -> int | None:
    """What a blind bidder does: pass, end the bid, lay down a card.

    None if a card that was picked by its back can't be played: then the choice would tell something
    of it, and the game is given up. So it is if the card is like one that all know, as of equal
    cards the known one is played first.
    """
    if legal[BID_DONE] and rng.random() < 0.7:
        return BID_DONE
    if legal[PASS] and rng.random() < 0.4:
        return PASS
    known, backs = ways_to_bid(game, lay, bold=rng.random() < 0.02)
    if not known.any() and not backs.any():
        if legal[PASS]:
            return PASS
        if legal[BID_DONE]:
            return BID_DONE
        known, backs = ways_to_bid(game, lay, bold=True)
        if not known.any() and not backs.any():
            return None
    by_back = backs.any() and (rng.random() < 0.6 or not known.any())
    ways = (backs if by_back else known).ravel()
    card = int(np.searchsorted(ways.cumsum(), rng.integers(ways.sum()), side="right"))
    unlike = not (by_back and known_like(game, card))
    return BID + card if legal[BID + card] and unlike else None


def known_like(game: np.void, card: int) -> bool:
    """Whether the seat to act is known to hold such a card."""
    seat = int(game["seat"])
    deduced = game["deduced"][seat, card - 15] if seat < 2 and card >= 15 else 0
    return bool(game["known"][seat].ravel()[card] + deduced > 0)


def blind_step(games: Games, rich: Games, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One action in these rows; those that are to be given up.

    All that may be done outside of bids is public.
    """
    lay = could_lay(games, rich)
    actions = (games.mask[rows] * rng.random((len(rows), games.mask.shape[1]))).argmax(axis=1)
    for i in np.flatnonzero(games.state["phase"][rows] == PHASE_BID):
        row = rows[i]
        chosen = choose_bid(games.state[row], games.mask[row], lay[row], rng)
        actions[i] = -1 if chosen is None else chosen
    games.step(actions[actions >= 0], rows[actions >= 0])
    given_up: np.ndarray = rows[actions < 0]
    return given_up


@cache
def sampled(players: int, side: str, thin: bool, number: int) -> Sample:
    """One position of each of many games that blind players play, unless it was given up or over
    before.

    With 3 and 4 players only positions before the first shuffle, as `resample` says.
    """
    rng = np.random.default_rng([players, thin, number])
    games = Games(number, players, side, 5_000, autoreset=False, observation=None)
    rich = Games(number, players, side, 0, autoreset=False, observation=None)
    if thin:
        thin_black_stacks(games, rng)
    when = rng.integers(2 * players, LAST_STEP, number)
    older, reached = np.zeros((number, 3)), np.zeros(number, np.bool_)
    lost = np.zeros(number, np.bool_)
    for step in range(LAST_STEP):
        alive = (games.seat >= 0) & ~lost
        reached |= alive & (when == step)
        rows = np.flatnonzero(alive & (when > step))
        before = games.state.copy()
        lost[blind_step(games, rich, rows, rng)] = True
        shuffled = games.state["black_face_up"].sum(axis=1) < before["black_face_up"].sum(axis=1)
        hands, stack = before["unlocated"][:, BLACK] + 1e-9, before["black_face_up"] + 1e-9
        share = hands / hands.sum(axis=1, keepdims=True) - stack / stack.sum(axis=1, keepdims=True)
        older[shuffled] = share[shuffled]
        lost |= shuffled & (players > 2)
    state = games.state[reached & ~lost].copy().view(np.recarray)
    return Sample(state, np.arange(len(state)) % players, older[reached & ~lost])


# ---- the real position's place among its resampled ones ----


def by_distance(hands: np.ndarray, seat: np.ndarray, players: int) -> list[np.ndarray]:
    """The other hands, next seat first: [game, position, colour, rank] each."""
    rows = np.arange(len(seat))
    return [hands[rows, :, (seat + step) % players] for step in range(1, players)]


def next_black(hands: np.ndarray, sample: Sample, players: int) -> np.ndarray:
    """The value of the next seat's black cards."""
    total: np.ndarray = by_distance(hands, sample.seat, players)[0][:, :, BLACK] @ VALUES
    return total


def bidder(hands: np.ndarray, sample: Sample, players: int) -> np.ndarray:
    """The value of the cards of who is to act."""
    rows = np.arange(len(sample.seat))
    total: np.ndarray = hands[rows, :, sample.state["seat"]].sum(axis=2) @ VALUES
    return total


def anything(hands: np.ndarray, sample: Sample, players: int) -> np.ndarray:
    """Every card weighs something else, in every game."""
    weights = np.random.default_rng(3).normal(size=(len(hands), *hands.shape[2:]))
    total: np.ndarray = np.einsum("gpscr,gscr->gp", hands, weights)
    return total


def likeness(hands: np.ndarray, sample: Sample, players: int) -> np.ndarray:
    """How alike two hands are: the other two nearest, or with two players coloured and black cards
    of the one.
    """
    others = by_distance(hands, sample.seat, players)
    if players > 2:
        total: np.ndarray = (others[0] * others[1]).sum(axis=(2, 3))
    else:
        total = (others[0][:, :, :5].sum(axis=2) @ VALUES) * (others[0][:, :, BLACK] @ VALUES)
    return total


def age(hands: np.ndarray, sample: Sample, players: int) -> np.ndarray:
    """Whether the next seat's black cards look like those held when the stack was shuffled, or like
    those in the stack.
    """
    total: np.ndarray = np.einsum(
        "gpr,gr->gp", by_distance(hands, sample.seat, players)[0][:, :, BLACK], sample.older
    )
    return total


STATISTICS: dict[str, Callable[[np.ndarray, Sample, int], np.ndarray]] = {
    function.__name__: function for function in (next_black, bidder, anything, likeness, age)
}


def hands_of(sample: Sample) -> np.ndarray:
    """[game, position]: hands and what is face down, the real position first, then those that are
    drawn for the seat.
    """
    views = view(sample.state, sample.seat)
    seeds = np.random.default_rng(9).integers(0, 2**62, (RESAMPLED, len(views)))
    positions = [sample.state, *(resample(views, seeds[i]) for i in range(RESAMPLED))]
    return np.stack([position["hand"] for position in positions], axis=1).astype(np.int64)


def places(values: np.ndarray) -> np.ndarray:
    """How often the first of a row has each place among all of it; who ties draws lots.

    Rows of which all tie tell nothing.
    """
    some = np.ptp(values, axis=1) > 1e-9
    values = np.round(values[some], 9)
    lots = np.random.default_rng(4).random(values.shape)
    less = (values[:, 1:] < values[:, :1]) | (
        (values[:, 1:] == values[:, :1]) & (lots[:, 1:] < lots[:, :1])
    )
    counts: np.ndarray = np.bincount(less.sum(axis=1), minlength=RESAMPLED + 1)
    return counts


def check_places(
    players: int, side: str, thin: bool, number: int, names: list[str], least: int
) -> None:
    sample = sampled(players, side, thin, number)
    hands = hands_of(sample)
    for name in names:
        counts = places(STATISTICS[name](hands, sample, players))
        assert counts.sum() >= least, name
        assert as_likely(counts), (name, counts.tolist())


@inf
@pytest.mark.parametrize(("players", "side"), [(2, "front"), (3, "back"), (4, "front")])
def test_the_real_position_is_one_of_many(players: int, side: str) -> None:
    """Whatever is counted of hidden cards: the real count has every place among the resampled ones
    equally often.
    """
    check_places(players, side, False, 1800, ["next_black", "bidder", "anything", "likeness"], 350)


@inf
@pytest.mark.rule("AUC-9")
def test_the_real_position_is_one_of_many_after_shuffles() -> None:
    """Two players know which cards were shuffled, and so which ones the other held."""
    check_places(2, "front", True, 1800, ["next_black", "anything", "likeness", "age"], 500)


@pytest.mark.long
@inf
@pytest.mark.parametrize("side", ["front", "back"])
@pytest.mark.parametrize(("players", "thin"), [(2, False), (2, True), (3, False), (4, False)])
def test_the_real_position_is_one_of_very_many(players: int, side: str, thin: bool) -> None:
    names = ["next_black", "bidder", "anything", "likeness", *(["age"] if thin else [])]
    check_places(players, side, thin, 20_000, names, 1500)


@inf
@pytest.mark.parametrize(("players", "side"), [(2, "front"), (3, "back"), (4, "front")])
def test_the_sample_has_all_kinds_of_positions(players: int, side: str) -> None:
    """Bids under way with hidden cards laid down, known cards, returned ones, empty hands and full
    ones; every seat.
    """
    sample = sampled(players, side, False, 1800)
    state = sample.state
    assert np.bincount(sample.seat, minlength=players).min() > 150
    assert len(set(state["phase"].tolist())) >= 6
    assert ((state["phase"] == PHASE_BID) & (state["laid"] >= 0)).sum() > 20
    assert (state["known"][:, :, BLACK].sum(axis=(1, 2)) > 0).sum() > 50
    assert (state["num_returned"].sum(axis=1) > 0).sum() > 50
    assert (state["unknown"][:, :, :5].sum(axis=(1, 2)) < 5 * players).sum() > 50
    assert (state["turns"] > 7).sum() > 50
