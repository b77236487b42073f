"""Draw odds compared with the game's own chance, and the value of an auction."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import numpy as np
import pytest

from crowd_games import played, positions
from skyenv import Game
from skyenv.analysis.odds import Stacks, alea_totals, bid_worth, draw_odds, park_vp, stop_worth
from skyenv.engine.knowledge import resample, view
from skyenv.render.reasons import allowed_colours, build_limit
from skyenv.rules.actions import BID_DONE, PASS, STOP, TAKE
from skyenv.rules.components import BLACK, CARD_VALUES, COLOURS
from skyenv.rules.state import GAME_DTYPE, NONE


def test_chances_of_coloured_cards_are_those_of_the_game() -> None:
    asked = 0
    for game in islice(positions(2, 2, "take"), 0, None, 3):
        for action in game.legal_actions:
            if ahead := game.chance_ahead(action):
                told = Stacks.of(game.state, None).next_card(action - TAKE)
                assert told == pytest.approx([ahead.get(value, 0.0) for value in CARD_VALUES])
                asked += 1
    assert asked > 10


def totals_by_the_game(game: Game, chance: tuple[int, ...] = ()) -> dict[int, float]:
    """Return the distribution of Alea's total after a pass, by all chance outcomes."""
    if len(set(chance)) < len(chance):
        return {sum(chance): 1.0}
    totals: defaultdict[int, float] = defaultdict(float)
    for outcome, share in game.chance_ahead(PASS, chance).items():
        for total, further in totals_by_the_game(game, (*chance, int(outcome))).items():
            totals[total] += share * further
    return totals


@pytest.mark.rule("ALEA-2")
def test_chances_of_aleas_totals_are_those_of_the_game() -> None:
    compared = 0
    for game in positions(2, 2, "bid"):
        is_last = game.seat != game.state["turn_seat"] and not game.state["out"][:2].any()
        if is_last and PASS in game.legal_actions and not game.state["alea"]:
            told = draw_odds(game.state, None)["alea"]
            assert dict(told) == pytest.approx(totals_by_the_game(game), abs=1e-4)
            compared += 1
    assert compared > 3


@pytest.mark.rule("ALEA-2", "AUC-9")
@pytest.mark.parametrize(
    ("pool", "face_down", "face_up", "totals"),
    [
        ((0, 0, 0), 0, (0, 0, 0), {0: 1.0}),
        ((1, 0, 1), 1, (1, 0, 0), {8: 0.5, 10: 0.5}),
    ],
    ids=["no card", "shuffled in her bid"],
)
def test_alea_bids_with_the_black_cards_that_are_left(
    pool: tuple[int, ...], face_down: int, face_up: tuple[int, ...], totals: dict[int, float]
) -> None:
    assert alea_totals(pool, face_down, face_up) == pytest.approx(totals)


@pytest.mark.rule("AUC-9")
def test_deduced_black_cards_are_excluded() -> None:
    """A seat that knows all of the opponent's black cards knows those of the stack."""
    position = played(2, seed=7, actions=90).batch.state[0]
    position["deduced"][1] = (position["hand"] - position["known"])[1, BLACK]
    told, real = (draw_odds(position, seat) for seat in (0, None))
    assert (told["cards"][BLACK], told["alea"]) == (real["cards"][BLACK], real["alea"])


@pytest.mark.rule("INF-2")
@pytest.mark.parametrize("players", [2, 3])
def test_chances_for_a_seat_are_means_over_determinizations(players: int) -> None:
    """Exact chances against 2,000 determinizations; all of them give equal results."""
    position = played(players, seed=7, actions=90).batch.state[0]
    told = Stacks.of(position, 0)
    one = view(np.array([position], GAME_DTYPE), [0])
    many = resample(one, np.arange(2000)).view(np.ndarray)
    assert draw_odds(many[0], 0) == draw_odds(many[1], 0)
    for colour in range(BLACK + 1):
        drawn = [Stacks.of(game, None).next_card(colour) for game in many]
        if (chances := told.next_card(colour)) is not None:
            assert np.mean(np.array(drawn), axis=0) == pytest.approx(chances, abs=0.03)


# ---- what an auction is worth ----


@pytest.mark.rule("AUC-5")
def test_a_bid_is_worth_what_its_buildings_score() -> None:
    for game in positions(2, 2, "bid"):
        position, seat = game.state, game.seat or 0
        told: Any = bid_worth(game.view(seat))
        place, other = int(position["auction_place"]), 1 - seat
        for one in told["colours"] if place < len(position["value"]) else []:
            assert one["vp"] == position["value"][place, COLOURS.index(one["name"])]
        held = position["hand"][other] @ np.array(CARD_VALUES)
        real = max((held[colour] for colour in allowed_colours(position, other)), default=0)
        for most in told["others"]:
            assert most["most"] >= position["bid_total"][other] + real
        if told["alea"]:
            alea = Stacks.of(position, seat).alea()
            more = sum(chance for total, chance in alea.items() if total > 10)
            assert dict(map(tuple, told["alea"]))[10] == pytest.approx(more, abs=1e-3)


def bids_of(game: Game, cards: int = 0) -> Iterator[tuple[str, int, int]]:
    """Yield each bid of the seat to act: its colour, the most it builds, and its cards."""
    seat = int(game.seat or 0)
    for action in game.legal_actions:
        after = game.copy()
        if action == BID_DONE:
            colour = COLOURS[int(game.state["bid_colour"][seat])]
            yield colour, build_limit(game.state, seat), cards
        elif action != PASS:
            after.play(action)
            yield from bids_of(after, cards + 1)


@pytest.mark.rule("AUC-3", "AUC-4", "AUC-10", "COM-10")
def test_the_largest_build_is_that_of_all_bids_of_the_hand() -> None:
    whole = (game for game in positions(2, 4, "bid") if game.state["laid"] == NONE)
    for game in islice(whole, 0, None, 2):
        told: Any = bid_worth(game.view())
        found: dict[str, tuple[int, int]] = {}
        for colour, builds, cards in bids_of(game):
            best = found.get(colour, (-1, 0))
            found[colour] = min(best, (builds, cards), key=lambda one: (-one[0], one[1]))
        told_builds = {
            one["name"]: (one["builds"], one["cards"] - told["laid"]) for one in told["colours"]
        }
        assert told_builds == found


@pytest.mark.rule("STOP-1", "STOP-2", "STOP-3")
def test_a_building_stop_is_worth_what_it_scores() -> None:
    seen = set()
    for game in chain.from_iterable(positions(2, seed, "build") for seed in range(8)):
        if STOP not in game.legal_actions or game.state["stops"]:
            continue  # the second stop ends the game with all other scorings
        seat = int(game.seat or 0)
        told, before = stop_worth(game.state, seat), game.scores
        assert told["must"] == (game.legal_actions == [STOP])
        seen.add(told["must"])
        game.play(STOP)
        gained = [after - score for after, score in zip(game.scores, before, strict=True)]
        others = {one["seat"]: one["vp"] for one in told["others"]}
        assert gained[seat] == told["vp"]
        assert gained[1 - seat] == others.get(1 - seat, 0)
    assert seen == {True, False}


@pytest.mark.rule("END-3")
@pytest.mark.parametrize(
    ("tiles", "vp"), [([0, 0, 0, 0], 1), ([1, 1, 1, 0], 5), ([3, 1, 0, 0], 2.75)]
)
def test_the_park_area_is_worth_the_mean_over_its_tiles(tiles: list[int], vp: float) -> None:
    assert park_vp({"park_tiles": np.array(tiles)}) == vp
