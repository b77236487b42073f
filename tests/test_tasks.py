"""Bidding tasks: openings, deals and payoffs."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from skyenv import Game, GameOptions, Games, OptionError, make_agent
from skyenv.agents import decide
from skyenv.engine.openings import (
    HELD_OUT,
    NUM_OPENINGS,
    TASKS,
    measured,
    numbers_of,
    openings,
)
from skyenv.rules.components import BLACK
from skyenv.solving.tree import Opening

pytestmark = pytest.mark.compiled


@pytest.mark.parametrize("name", TASKS)
def test_hidden_cards_are_dealt_from_the_unlocated_ones(name: str) -> None:
    """INF-2; how many cards a seat gets, and what a task pays, the referee judges."""
    task = TASKS[name]
    games = Games(400, task=name, seed=5, observation=False)
    again = Games(400, task=name, seed=5, threads=2, observation=False)
    assert games.state.tobytes() == again.state.tobytes()
    state = games.state
    hidden = (state["hand"] - state["known"]).sum(axis=1)
    assert (state["face_down"] + hidden == state["unlocated"]).all()
    assert not task.auctions or not hidden[:, :BLACK].any()  # coloured cards are public
    hands = Games(60, task=f"{name}/0", seed=1, observation=False).state["hand"]
    assert not task.auctions or len(np.unique(hands[:, :, BLACK], axis=0)) > 3


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


def test_the_last_turns_of_a_game_rarely_reach_the_cap() -> None:
    games = Games(200, task="last-turns", seed=2, autoreset=False)
    agent = make_agent("greedy")
    while (rows := np.flatnonzero(games.seat >= 0)).size:
        games.step(decide(games, agent, rows), rows)
    assert games.truncated.mean() < 0.2


def test_whole_games_have_task_names() -> None:
    assert GameOptions(task="full-2-back") == GameOptions(2, "back")
    assert GameOptions(task="full-4") == GameOptions(4)
    assert GameOptions(task="three-3").num_players == 3


THERE = "openings alea-4/0 to alea-4/1279, those from alea-4/1024 held out, not "


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Games(1, task="chess"), r"task must be one of duel-3, .* not 'chess'"),
        *(
            (
                lambda name=f"alea-4/{wrong}": Games(1, task=name),
                re.escape(f"{THERE}'alea-4/{wrong}'"),
            )
            for wrong in ("1280", "1279-1280", "5-4", "-1", "7-", "+7", "٣")
        ),
        (lambda: GameOptions(3, task="alea-4"), "give no num_players, side, board or max_turns"),
        (lambda: GameOptions(4, task="full-3"), "full-3 decides num_players and side"),
        (lambda: Opening("duel-3"), "has 1024 openings"),
    ],
)
def test_invalid_tasks_are_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        call()
