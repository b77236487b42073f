"""Invariants of every position, whatever chance and the players do."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenario import Event
from skyenv import Game, GameOverError, IllegalActionError, make_agent
from skyenv.agents import decide_game
from skyenv.rules.components import DISTRICTS
from skyenv.rules.state import ALEA, NONE, PHASE_BID

PACK = [[5, 4, 3]] * 5 + [[20, 16, 14]]  # COM-1: how many 4s, 5s and 6s of each colour
SKYSCRAPERS = 18  # COM-2, ALEA-1
TILES = 36  # COM-3
UNUSED_TILES = 9  # SET-3

GAMES = st.builds(
    Game,
    num_players=st.integers(2, 4),
    side=st.sampled_from(["front", "back"]),
    seed=st.integers(0, 2**40),
    max_turns=st.integers(1, 80),
)
AGENTS = st.sampled_from(["random", "crowd", "hoard"]).map(make_agent)
quick = settings(max_examples=20, deadline=None, derandomize=True)


def play(game: Game, agent: Any) -> Iterator[tuple[np.void, list[Event]]]:
    """Play to the end; after each action the position before it, and what has happened."""
    while not game.is_over:
        before = game.state.copy()
        yield before, game.play(decide_game(game, agent))


def cards_of(state: np.record) -> list[list[int]]:
    """All bidding cards, wherever they are: [colour][rank]."""
    cards = state["hand"].sum(axis=0) + state["face_down"]
    cards[5] += state["black_face_up"] + state["alea_cards"]
    for seat in range(4):
        colour = state["bid_colour"][seat]
        if (
            state["phase"] == PHASE_BID and colour != NONE
        ):  # while the winner builds, the position still tells what he paid
            cards[colour] += state["bid_cards"][seat, 0]
            cards[5] += state["bid_cards"][seat, 1]
    for colour in range(5):
        visible = [] if state["top"][colour] == NONE else [state["top"][colour]]
        for rank in (*visible, *state["returned"][colour, : state["num_returned"][colour]]):
            cards[colour, rank] += 1
    listed: list[list[int]] = cards.tolist()
    return listed


def skyscrapers_of(state: np.record, seat: int) -> int:
    """Those of a seat or of Alea that are on the board or in a supply."""
    standing = int(state["floors"][state["owner"] == seat].sum())
    if seat == ALEA:
        return standing + int(state["alea_supply"])
    return standing + int(state["park"][seat] + state["supply"][seat] + state["general"][seat])


def tiles_of(state: np.record) -> int:
    """Businesses on the board, in the supply row and in the park area."""
    return int(state["tiles"].sum() + (state["row"] != NONE).sum() + state["park_tiles"].sum())


def check_position(game: Game) -> None:
    """Each card is in one place: a hand, a bid, a stack, under a stack, or turned up by Alea. A
    plot is empty, or has one or two businesses, or skyscrapers of one owner; a player has one plot
    in a district. What is known of a hand is in it: the other numbers of views are read off
    positions in tests/test_observation.py, the values of plots by the referee.
    """
    state = game.state
    assert cards_of(state) == PACK
    assert (state["hand"] >= 0).all()
    assert (state["face_down"] >= 0).all()
    businesses = state["tiles"].sum(axis=2)
    assert businesses.max() <= 2
    assert ((state["owner"] == NONE) == (state["floors"] == 0)).all()
    assert not ((businesses[:, :5] > 0) & (state["floors"] > 0)).any()
    for seat in range(game.num_players):
        assert ((state["owner"] == seat).sum(axis=1) <= 1).all()
    gone = state["stopped"] == 1
    assert businesses[gone].sum() + state["floors"][gone].sum() == 0
    assert gone.sum() == state["stops"] <= 2
    hidden = state["hand"] - state["known"]
    assert (hidden >= 0).all()
    assert (hidden.sum(axis=2)[:, :5] <= 1).all()  # of each colour one card was dealt


@pytest.mark.rule("COM-1", "COM-2", "COM-3", "COM-6", "COM-9", "AUC-8", "AUC-9", "AUC-11")
@pytest.mark.rule("ALEA-1", "ALEA-5", "BUS-2", "BUS-4", "STOP-2", "STOP-3", "STOP-4")
@pytest.mark.rule("SCO-1", "END-2", "END-3")
@quick
@given(GAMES, AGENTS)
def test_cards_skyscrapers_and_tiles_are_conserved(game: Game, agent: Any) -> None:
    """Cards, skyscrapers and tiles are conserved: those on a stopped district leave the game, no
    others do, and one skyscraper of each player marks the score.

    No VP come or go without an event.
    """
    owners = [*range(game.num_players), *([ALEA] if game.num_players == 2 else [])]
    to_place = {seat: 0 if seat == ALEA else 2 for seat in owners}
    gone = dict.fromkeys(owners, 0)
    tiles_gone = 0
    scores = np.zeros(game.num_players, np.int64)
    for before, events in play(game, agent):
        check_position(game)
        if before["phase"] == 0:
            to_place[int(before["seat"])] -= 1
        scores += sum(np.array(event["vp"]) for event in events if event["event"] == "vp")
        assert game.scores == scores.tolist()
        for stop in (event for event in events if event["event"] == "stop"):
            index = DISTRICTS.index(stop["district"])
            tiles_gone += int(before["tiles"][index].sum())
            for owner in owners:
                gone[owner] += int(before["floors"][index][before["owner"][index] == owner].sum())
        for owner in owners:
            marker = 0 if owner == ALEA else 1
            left = skyscrapers_of(game.state, owner) + to_place[owner] + gone[owner]
            assert left + marker == SKYSCRAPERS
        if game.phase != "plot":  # then one is between the row and the board
            assert tiles_of(game.state) + tiles_gone + UNUSED_TILES == TILES
    end = game.events[-1]
    assert (end["event"], end["scores"]) == ("end", scores.tolist())


@settings(max_examples=8, deadline=None, derandomize=True)
@given(GAMES, AGENTS, st.integers(0, 12))
def test_exactly_the_actions_of_the_mask_can_be_played(game: Game, agent: Any, first: int) -> None:
    """Some action is legal before the end; illegal ones are refused and change nothing."""
    for number, _ in enumerate(play(game, agent)):
        legal = game.legal_actions
        assert bool(legal) != game.is_over
        if number % 13 != first and not game.is_over:
            continue
        before, events = game.state.tobytes(), len(game.events)
        for action in range(-1, 104):
            if action in legal:
                continue
            with pytest.raises(GameOverError if game.is_over else IllegalActionError):
                game.play(action)
        assert game.state.tobytes() == before
        assert len(game.events) == events
        for action in legal:
            twin = game.copy()
            assert twin.play(action)[0]["action"] == action
        assert game.state.tobytes() == before
