"""What holds in every position of every game, whatever chance and the players do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenario import Event, same_record
from skyenv import Game, GameOverError, IllegalActionError, make_agent
from skyenv.agents import decide_game
from skyenv.rules.components import PLOTS
from skyenv.rules.state import ALEA, NONE, PHASE_BID

COLOURED = [5, 4, 3]  # COM-1: how many 4s, 5s and 6s
BLACK = [20, 16, 14]
SKYSCRAPERS = 18  # COM-2, ALEA-1
TILES = 36  # COM-3
UNUSED_TILES = 9  # SET-3
VP = [1, 2, 3, 5, 8]  # SCO-2

GAMES = st.builds(
    Game,
    num_players=st.integers(2, 4),
    side=st.sampled_from(["front", "back"]),
    seed=st.integers(0, 2**40),
    max_turns=st.integers(1, 120),
)
AGENTS = st.sampled_from(["random", "crowd", "hoard"]).map(make_agent)
quick = settings(max_examples=30, deadline=None, derandomize=True)


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


@pytest.mark.rule("COM-1", "AUC-8", "AUC-9", "ALEA-5")
@quick
@given(GAMES, AGENTS)
def test_cards_are_conserved(game: Game, agent: Any) -> None:
    """After every action each card is in one place: a hand, a bid, a stack, under a stack, or
    turned up by Alea.
    """
    assert cards_of(game.state) == [COLOURED] * 5 + [BLACK]
    for _ in play(game, agent):
        assert cards_of(game.state) == [COLOURED] * 5 + [BLACK]
        assert (game.state["hand"] >= 0).all()
        assert (game.state["face_down"] >= 0).all()


@pytest.mark.rule("COM-2", "COM-3", "ALEA-1", "STOP-4")
@quick
@given(GAMES, AGENTS)
def test_skyscrapers_and_tiles_are_conserved(game: Game, agent: Any) -> None:
    """Those on a stopped district leave the game, no others do.

    One skyscraper of each player marks the score.
    """
    owners = [*range(game.num_players), *([ALEA] if game.num_players == 2 else [])]
    to_place = {seat: 0 if seat == ALEA else 2 for seat in owners}
    gone = dict.fromkeys(owners, 0)
    tiles_gone = 0
    for before, events in play(game, agent):
        if before["phase"] == 0:
            to_place[int(before["seat"])] -= 1
        for stop in (event for event in events if event["event"] == "stop"):
            index = ["W34", "E34", "W42", "TSQ", "E42", "W52", "E52"].index(stop["district"])
            tiles_gone += int(before["tiles"][index].sum())
            for owner in owners:
                gone[owner] += int(before["floors"][index][before["owner"][index] == owner].sum())
        for owner in owners:
            marker = 0 if owner == ALEA else 1
            assert (
                skyscrapers_of(game.state, owner) + to_place[owner] + gone[owner] + marker
                == SKYSCRAPERS
            )
        if game.phase != "plot":  # then one is between the row and the board
            assert tiles_of(game.state) + tiles_gone + UNUSED_TILES == TILES


@pytest.mark.rule("AUC-11", "BUS-2", "STOP-4")
@quick
@given(GAMES, AGENTS)
def test_plots_are_never_mixed(game: Game, agent: Any) -> None:
    """A plot is empty, or has one or two businesses, or skyscrapers of one owner; a player has one
    plot in a district.
    """
    for _ in play(game, agent):
        state = game.state
        businesses = state["tiles"].sum(axis=2)
        assert businesses.max() <= 2
        assert ((state["owner"] == NONE) == (state["floors"] == 0)).all()
        assert not ((businesses[:, :5] > 0) & (state["floors"] > 0)).any()
        for seat in range(game.num_players):
            assert ((state["owner"] == seat).sum(axis=1) <= 1).all()
        gone = state["stopped"] == 1
        assert businesses[gone].sum() + state["floors"][gone].sum() == 0
        assert gone.sum() == state["stops"] <= 2


@pytest.mark.rule("SCO-2", "COM-6", "COM-9")
@quick
@given(GAMES, AGENTS)
def test_values_of_plots(game: Game, agent: Any) -> None:
    """The VP of a skyscraper on each plot, counted from the two plots next to it."""
    rings = [[PLOTS.index(plot) for plot in ring] for ring in game.board.rings]
    for _, events in play(game, agent):
        if not events[0]["name"].startswith(("plot", "build", "stop", "pass")):
            continue  # nothing has come to the board or gone from it
        for district, ring in enumerate(rings):
            tiles = game.state["tiles"][district]
            if game.state["stopped"][district]:
                assert (game.state["value"][district] == 0).all()
                continue
            for position, plot in enumerate(ring):
                if plot < 5:
                    beside = tiles[ring[position - 1]] + tiles[ring[(position + 1) % len(ring)]]
                    assert game.state["value"][district, plot] == VP[int((beside > 0).sum())]


@pytest.mark.rule("SCO-1", "BUS-4", "STOP-2", "STOP-3", "END-2", "END-3")
@quick
@given(GAMES, AGENTS)
def test_scores_are_the_sum_of_what_was_told(game: Game, agent: Any) -> None:
    """No VP come or go without an event."""
    scores = [0] * game.num_players
    for _, events in play(game, agent):
        for event in events:
            if event["event"] == "vp":
                scores = [score + vp for score, vp in zip(scores, event["vp"], strict=True)]
        assert game.scores == scores
    end = game.events[-1]
    assert (end["event"], end["scores"]) == ("end", scores)


@pytest.mark.rule("INF-3")
@quick
@given(GAMES, AGENTS)
def test_known_cards_are_held(game: Game, agent: Any) -> None:
    """What is known of a hand is in it; and what is left of the deal and the black draws is all
    that isn't known.
    """
    for _ in play(game, agent):
        state = game.state
        assert (state["known"] <= state["hand"]).all()
        unknown = (state["hand"] - state["known"]).sum(axis=2)
        assert (unknown[: game.num_players, :5] <= 1).all()  # of each colour one card was dealt


@pytest.mark.rule("INF-1", "INF-2", "INF-3")
@quick
@given(GAMES, AGENTS)
def test_cards_that_a_seat_cannot_locate(game: Game, agent: Any) -> None:
    """They are face down, or in another hand and not known there; their numbers are known."""
    for _ in play(game, agent):
        state = game.state
        hidden = state["hand"] - state["known"]
        for seat in range(game.num_players):
            view = game.view(seat)
            others = hidden.copy()
            others[seat] = 0
            assert (view["unseen"] == state["face_down"] + others.sum(axis=0)).all()
            assert (view["unknown"] == others.sum(axis=2)).all()
            assert (view["num_face_down"] == state["face_down"].sum(axis=1)).all()


@quick
@given(GAMES, AGENTS)
def test_what_is_kept_up_to_date_is_right(game: Game, agent: Any) -> None:
    """Whatever follows from the rest of a position is, after every action, what a fresh look at the
    position gives.
    """
    for _ in play(game, agent):
        fresh = game.copy()
        fresh.refresh()
        assert same_record(fresh.state, game.state)
        assert fresh.legal_actions == game.legal_actions
        assert (fresh.observation() == game.observation()).all()


@settings(max_examples=12, deadline=None, derandomize=True)
@given(GAMES, AGENTS, st.integers(0, 12))
def test_the_mask_tells_what_can_be_played(game: Game, agent: Any, first: int) -> None:
    """Before the end something is legal; what is legal can be played; all else is refused, and
    nothing changes.
    """
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


@settings(max_examples=12, deadline=None, derandomize=True)
@given(GAMES, AGENTS)
def test_a_copy_goes_on_in_the_same_way(game: Game, agent: Any) -> None:
    """The same actions lead to the same events and positions, chance included."""
    twin = game.copy()
    for _, events in play(game, agent):
        assert twin.play(events[0]["action"]) == events
        assert same_record(twin.state, game.state)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(GAMES, AGENTS)
def test_equal_positions_are_equal(game: Game, agent: Any) -> None:
    """`==` looks at the position and at nothing else: a copy is equal, and stays so after the same
    action.
    """
    twin = game.copy()
    assert twin == game
    for _, events in play(game, agent):
        assert twin != game
        twin.play(events[0]["action"])
        assert twin == game
