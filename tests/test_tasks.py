"""Bidding tasks: openings, deals and payoffs."""

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from skyenv import Game, GameOptions, Games, OptionError, make_agent
from skyenv.agents import decide
from skyenv.engine.openings import (
    HELD_OUT,
    NUM_OPENINGS,
    OF_AUCTIONS,
    TASKS,
    Task,
    measured,
    numbers_of,
    openings,
)
from skyenv.engine.results import results
from skyenv.engine.rewards import CARD_VP
from skyenv.rules.components import BLACK
from skyenv.rules.state import END_REASONS, PHASE_BID, PHASE_BUILD
from skyenv.solving.tree import Opening

pytestmark = pytest.mark.compiled

Deal = tuple[int, ...]


@pytest.mark.parametrize("name", TASKS)
def test_hidden_cards_are_dealt_from_the_unlocated_ones(name: str) -> None:
    """INF-2: with the number of cards that the task names, every seat in every opening."""
    task = TASKS[name]
    games = Games(400, task=name, seed=5, observation=False)
    again = Games(400, task=name, seed=5, threads=2, observation=False)
    assert games.state.tobytes() == again.state.tobytes()
    state = games.state
    hidden = (state["hand"] - state["known"]).sum(axis=1)
    assert (state["face_down"] + hidden == state["unlocated"]).all()
    assert (state["face_down"] >= 0).all()
    seats = slice(0, task.num_players)
    assert (hidden[:, BLACK].sum(axis=1) == state["unknown"][:, seats, BLACK].sum(axis=1)).all()
    assert TASKS[name].auctions == 0 or not hidden[:, :BLACK].any()  # coloured cards are public
    hands = Games(60, task=f"{name}/0", seed=1, observation=False).state["hand"]
    assert (
        hands[:, seats, :BLACK].sum(axis=(2, 3)) == hands[0, seats, :BLACK].sum(axis=(1, 2))
    ).all()
    assert not task.auctions or len(np.unique(hands[:, seats, BLACK], axis=0)) > 3


@pytest.mark.parametrize("name", TASKS)
def test_held_out_openings_are_never_trained_on(name: str) -> None:
    """Nor is one in both parts; and a game has the opening that a row with its seed begins with."""
    for part, numbers in ((name, range(1024)), (f"{name}/{HELD_OUT}", range(1024, NUM_OPENINGS))):
        assert numbers_of(part) == numbers
        stored = public(openings(part))
        assert len(set(stored)) == len(numbers)
        games = Games(300, task=part, seed=7, observation=False)
        begun = public(games.state)
        assert len(set(begun) & set(stored)) > 100
        assert set(begun) <= set(stored)
        opening = str(Game(task=part, seed=7).options.task)
        assert public(openings(opening)) == begun[:1]
        assert begun[0] not in public(openings(name if part != name else f"{name}/{HELD_OUT}"))
    assert measured(name, 2) == [f"{name}/1024", f"{name}/1025"] == measured(f"{name}/1024-1031", 2)
    few = public(Games(300, task=f"{name}/1024-1031", seed=7, observation=False).state)
    assert set(few) == set(public(openings(f"{name}/{HELD_OUT}"))[:8])


def public(state: Any) -> list[bytes]:
    """What tells openings apart, whatever has been dealt."""
    told = (
        "owner",
        "floors",
        "tiles",
        "score",
        "known",
        "unknown",
        "auction_place",
        "top",
        "turns",
    )
    return [b"".join(row[name].tobytes() for name in told) for row in state]


@pytest.mark.parametrize("name", OF_AUCTIONS)
def test_a_task_lasts_its_auctions_and_pays_for_vp_and_cards(name: str) -> None:
    """Zero-sum with two seats, and equal to a plain computation."""
    task = TASKS[name]
    games = Games(200, task=name, seed=2, autoreset=False, observation=False)
    paid, won = np.zeros((200, task.num_players)), np.zeros(200, np.int64)
    start = standing(games.state, task)
    cards = np.zeros_like(paid)
    while (going := np.flatnonzero(games.seat >= 0)).size:
        before = games.state[going].copy()
        games.play_random(1)
        after = games.state[going]
        built = (before["phase"] == PHASE_BID) & (after["phase"] == PHASE_BUILD)
        winners = after["seat"][built]
        cards[going[built], winners] += after["bid_cards"][built, winners].sum(axis=(1, 2))
        won[going] += built
        paid[going] += games.reward[going]
        assert (after["auctions_left"] <= before["auctions_left"]).all()
    assert {END_REASONS[end] for end in games.state["end"]} == {"task"}
    assert games.done.all()
    assert not games.truncated.any()
    assert won.max() == task.auctions
    others = (cards.sum(axis=1, keepdims=True) - cards) / (task.num_players - 1)
    gained = standing(games.state, task) - start
    assert np.allclose(paid, gained + CARD_VP * (others - cards), atol=1e-5)
    assert task.num_players > 2 or np.allclose(paid.sum(axis=1), 0, atol=1e-5)


def test_the_last_turns_of_a_game_pay_its_outcome() -> None:
    """END-4, END-5: truncated games pay nothing; strong agents rarely reach the cap."""
    games = Games(200, task="last-turns", seed=2, autoreset=False)
    agent = make_agent("greedy")
    paid = np.zeros((200, 2))
    while (rows := np.flatnonzero(games.seat >= 0)).size:
        games.step(decide(games, agent, rows), rows)
        paid[rows] += games.reward[rows]
    shares, _ = results(games.state)
    expected = np.where(games.truncated[:, None], 0.0, 2 * shares[:, :2] - 1)
    assert np.allclose(paid, expected)
    assert games.truncated.mean() < 0.2
    assert {END_REASONS[end] for end in games.state["end"]} <= {"businesses", "stops", "truncated"}


def test_whole_games_have_task_names() -> None:
    assert GameOptions(task="full-2-back") == GameOptions(2, "back")
    assert GameOptions(task="full-4") == GameOptions(4)
    with pytest.raises(OptionError, match="full-3 decides num_players and side"):
        GameOptions(4, task="full-3")


def standing(state: Any, task: Task) -> npt.NDArray[np.float64]:
    """The margin over the best other seat, had all districts been scored (SCO-2), and in a task of
    the park area that too, with all tiles (END-3).
    """
    players = task.num_players
    worth = (state["floors"] * state["value"].astype(np.int64))[:, None]
    owned = state["owner"][:, None] == np.arange(players)[None, :, None, None]
    vp = state["score"][:, :players] + (worth * owned).sum(axis=(2, 3))
    if task.park:
        types = (state["park_tiles"] > 0).sum(axis=1)
        vp += state["park"][:, :players] * np.array([1, 2, 3, 5, 5, 5])[types][:, None]
    best = [np.delete(vp, seat, axis=1).max(axis=1) for seat in range(players)]
    margin: npt.NDArray[np.float64] = vp - np.stack(best, axis=1).astype(np.float64)
    return margin


def test_invalid_tasks_are_refused() -> None:
    with pytest.raises(OptionError, match=r"task must be one of duel-3, .* not 'chess'"):
        Games(1, task="chess")
    message = "openings alea-4/0 to alea-4/1279, those from alea-4/1024 held out, not "
    for wrong in ("1280", "1279-1280", "5-4", "-1", "7-", "+7", "٣"):
        with pytest.raises(OptionError, match=message + re.escape(f"'alea-4/{wrong}'")):
            Games(1, task=f"alea-4/{wrong}")
    with pytest.raises(OptionError, match="give no num_players, side, board or max_turns"):
        GameOptions(3, task="alea-4")
    assert GameOptions(task="three-3").num_players == 3
    with pytest.raises(OptionError, match="has 1024 openings"):
        Opening("duel-3")
