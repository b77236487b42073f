"""What can come, against the game's own chance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pytest
from pages import played

from skyenv import Game
from skyenv.engine.knowledge import resample, view
from skyenv.page.chances import Stacks, alea_totals, what_can_come
from skyenv.page.worth import park_vp, worth
from skyenv.render.reasons import allowed_colours
from skyenv.rules.actions import ACTION_NAMES, PASS, TAKE
from skyenv.rules.components import BLACK, CARD_VALUES, COLOURS
from skyenv.rules.state import GAME_DTYPE


def positions(players: int, phase: str) -> list[Game]:
    """Positions of a game in which somebody is to act in a phase."""
    game, found = Game(players, seed=players), []
    whole = played(players, seed=players)
    for event in whole.events:
        if event["event"] == "action":
            if game.phase == phase:
                found.append(game.copy())
            game.play(event["action"])
    return found


@pytest.mark.parametrize("players", [2, 4])
def test_the_next_coloured_cards_are_those_that_the_game_asks_chance_for(players: int) -> None:
    asked = 0
    for game in positions(players, "take")[::3]:
        for colour in range(len(COLOURS)):
            if TAKE + colour not in game.legal_actions:
                continue
            ahead = game.chance_ahead(TAKE + colour)
            told = Stacks.of(game.state, None).next_card(colour)
            if ahead:
                asked += 1
                assert told is not None
                assert {
                    value: p for value, p in zip((4, 5, 6), told, strict=True) if p
                } == pytest.approx(ahead)
    assert asked > 20


def totals_by_the_game(game: Game, action: int) -> dict[int, float]:
    """Alea's totals: every way through the chance nodes of an action after which she bids at
    once.
    """
    totals: defaultdict[int, float] = defaultdict(float)

    def walk(chance: Sequence[int], share: float) -> None:
        turned = [int(card) for card in chance]
        if len(set(turned)) < len(turned):
            totals[sum(turned)] += share
            return
        for outcome, p in game.chance_ahead(action, chance).items():
            walk([*chance, int(outcome)], share * p)

    walk([], 1.0)
    return totals


@pytest.mark.rule("ALEA-2")
def test_aleas_totals_are_those_of_the_game() -> None:
    compared = 0
    for game in positions(2, "bid"):
        passed = int(game.state["out"][:2].sum())
        if (
            PASS not in game.legal_actions
            or game.state["alea"]
            or game.seat == game.state["turn_seat"]
            or passed
        ):
            continue
        told = what_can_come(game.state, None)["alea"]
        assert dict(told) == pytest.approx(totals_by_the_game(game, PASS), abs=1e-4)
        compared += 1
    assert compared > 3


@pytest.mark.rule("ALEA-2", "AUC-9")
def test_alea_with_few_cards() -> None:
    none = (0, 0, 0)
    assert alea_totals(none, 0, none) == {0: 1.0}
    assert alea_totals((1, 0, 0), 1, none) == {4: 1.0}
    assert alea_totals((1, 0, 0), 1, (1, 0, 0)) == {8: 1.0}
    assert alea_totals((2, 0, 0), 2, (0, 0, 9)) == {8: 1.0}
    assert alea_totals((1, 0, 1), 1, (1, 0, 0)) == pytest.approx({8: 0.5, 10: 0.5})


@pytest.mark.rule("INF-2")
@pytest.mark.parametrize("players", [2, 3])
def test_what_a_seat_can_expect_is_the_mean_of_all_that_it_cannot_tell_apart(players: int) -> None:
    """Exact chances beside 2,000 determinizations."""
    position = played(players, seed=7, actions=90).games.state[0]
    one = np.array([position], GAME_DTYPE)
    for seat in range(players):
        told = Stacks.of(position, seat)
        many = resample(view(one, [seat]), np.arange(2000)).view(np.ndarray)
        for colour in range(BLACK + 1):
            chances = told.next_card(colour)
            drawn = [Stacks.of(game, None).next_card(colour) for game in many]
            if chances is not None:
                assert np.mean(drawn, axis=0) == pytest.approx(chances, abs=0.03)  # type: ignore[arg-type]
        means: defaultdict[int, float] = defaultdict(float)
        for game in many[:300]:
            for total, chance in Stacks.of(game, None).alea().items():
                means[total] += chance / 300
        assert dict(means) == pytest.approx(told.alea(), abs=0.03)


# ---- what an auction is worth ----


@pytest.mark.rule("COM-10", "AUC-5")
def test_a_bid_is_worth_what_it_can_build_and_score() -> None:
    for game in positions(2, "bid")[::2]:
        position, seat = game.state, game.seat
        assert seat is not None
        told = worth(game.view(seat))
        assert told is not None
        cards = {ACTION_NAMES[action].split()[1] for action in game.legal_actions if action > PASS}
        assert cards - {"black", "done"} <= {one["name"] for one in told["colours"]}
        place = int(position["auction_place"])
        for one in told["colours"]:
            if place < len(position["value"]):
                assert one["vp"] == position["value"][place, COLOURS.index(one["name"])]
            assert one["builds"]["4"] == min(3, position["supply"][seat])
        for other in told["others"]:
            held = position["hand"][other["seat"]] @ np.array(CARD_VALUES)
            allowed = allowed_colours(position, other["seat"])
            real = max((int(held[colour]) for colour in allowed), default=0)
            assert other["most"] >= int(position["bid_total"][other["seat"]]) + real
        if told["alea"]:
            alea = Stacks.of(position, seat).alea()
            assert dict(map(tuple, told["alea"]))[10] == pytest.approx(
                sum(chance for total, chance in alea.items() if total > 10), abs=1e-3
            )
        assert worth(game.view(1 - seat)) is None


@pytest.mark.rule("END-3")
def test_the_park_area_is_worth_the_mean_of_all_tiles_that_can_be_turned_up() -> None:
    for tiles, vp in (
        ([0, 0, 0, 0], 1),
        ([1, 0, 0, 0], 2),
        ([1, 1, 1, 0], 5),
        ([3, 1, 0, 0], 2.75),
    ):
        assert park_vp({"park_tiles": np.array(tiles)}) == vp


def test_a_seat_is_told_what_it_can_expect_and_nothing_else() -> None:
    """Two games that differ only in what is hidden from the seat are told alike."""
    game = played(2, actions=6)
    other = game.copy()
    hand, down = other.state["hand"], other.state["face_down"]
    hidden = hand[1, BLACK] - other.state["known"][1, BLACK]
    swap = next(
        (int(a), int(b))
        for a in np.flatnonzero(hidden)
        for b in np.flatnonzero(down[BLACK])
        if a != b
    )
    hand[1, BLACK, swap[0]] -= 1
    hand[1, BLACK, swap[1]] += 1
    down[BLACK, swap[0]] += 1
    down[BLACK, swap[1]] -= 1
    assert what_can_come(game.state, None) != what_can_come(other.state, None)
    told = what_can_come(game.state, 0)
    assert told == what_can_come(other.state, 0)
    for entry in told["cards"]:
        assert entry["chances"] is None or sum(entry["chances"]) == pytest.approx(1, abs=1e-3)


def test_the_last_card_of_a_stack_is_known() -> None:
    state = played(3, actions=60).state
    state["face_down"][0] = 0
    state["num_returned"][0], state["returned"][0, 0] = 1, 2
    assert np.asarray(Stacks.of(state, None).next_card(0)).tolist() == [0, 0, 1]
    state["num_returned"][0] = 0
    assert Stacks.of(state, None).next_card(0) is None
