"""What can come, against the game's own chance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import pytest
from pages import played

from skyenv import Game
from skyenv.page.chances import alea_totals, next_card, what_can_come
from skyenv.rules.actions import PASS, TAKE
from skyenv.rules.components import BLACK, COLOURS


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
            told = next_card(game.state, colour)
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
    nothing = np.zeros(3, np.int64)
    assert alea_totals(nothing, nothing) == {0: 1.0}
    assert alea_totals(np.array([1, 0, 0]), nothing) == {4: 1.0}
    assert alea_totals(np.array([1, 0, 0]), np.array([1, 0, 0])) == {8: 1.0}
    assert alea_totals(np.array([2, 0, 0]), np.array([0, 0, 9])) == {8: 1.0}


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
    game = played(3, actions=60)
    state = game.state
    state["face_down"][0] = 0
    state["num_returned"][0], state["returned"][0, 0] = 1, 2
    assert next_card(state, 0) is not None
    assert np.asarray(next_card(state, 0)).tolist() == [0, 0, 1]
    state["num_returned"][0] = 0
    assert next_card(state, 0) is None
