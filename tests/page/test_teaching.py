"""The lesson: a fixed game, of which every step says what to do."""

from __future__ import annotations

import re

import pytest

from skyenv import ACTION_NAMES, Game
from skyenv.page.errors import PageError
from skyenv.page.teaching.tutorial import BEATS, PLAYERS, SEED, SIDE, Lesson, line
from skyenv.rules.actions import BID_DONE
from test_rule_ids import rule_ids


def played(actions: int = 10**6) -> Game:
    game = Game(PLAYERS, SIDE, SEED)
    for action in line()[:actions]:
        game.play(action)
    return game


def test_the_line_can_be_played_and_shows_everything() -> None:
    """Options A to D, an auction with Alea in it, winning, building, a stop, the park area,
    scoring.
    """
    events = played().events
    names = {
        ACTION_NAMES[event["action"]]
        for event in events
        if event["event"] == "action" and event["seat"] == 0
    }
    assert {"option A", "option C", "option D TSQ", "bid done", "pass", "stop", "build 3"} <= names
    assert any(name.startswith("option B") for name in names)
    assert {event["why"] for event in events if event["event"] == "vp"} == {
        "district",
        "stop",
        "bonus",
    }
    assert {"alea", "alea builds", "tile to park", "stop"} <= {event["event"] for event in events}
    assert {event["seat"] for event in events if event["event"] == "won"} == {0, -1}
    assert 7 <= played().turn <= 12


def test_who_is_to_do_what() -> None:
    """At every step the one that the game waits for has something to do, and all of it together is
    the line.
    """
    done = 0
    actions = line()
    game = Game(PLAYERS, SIDE, SEED)
    while not (lesson := Lesson(tuple(actions[:done]))).is_over:
        assert bool(lesson.wanted) != bool(lesson.answer)
        assert (game.seat == 0) == bool(lesson.wanted)
        chosen = lesson.answer or lesson.wanted[:1]
        assert actions[done : done + len(chosen)] == chosen
        told = lesson.payload()
        assert told["waits"] == bool(lesson.answer)
        assert bool(told["todo"]) == bool(lesson.wanted)
        for action in chosen:
            assert game.mask[action]
            game.play(action)
        done += len(chosen)
    assert done == len(actions)
    assert game.seat == 0
    assert lesson.payload()["over"]


def test_anything_else_is_refused_kindly() -> None:
    lesson = Lesson(())
    lesson.check(lesson.wanted)
    with pytest.raises(
        PageError,
        match=r"^In this lesson: place your first skyscraper on the brown plot of TSQ\. Leave",
    ):
        lesson.check([lesson.wanted[0] + 1])
    with pytest.raises(PageError, match="In this lesson"):
        lesson.check([*lesson.wanted, 0])
    with pytest.raises(PageError, match="the lesson is over"):
        Lesson(tuple(line())).check([0])


def test_going_back_leads_to_the_beginning() -> None:
    actions = line()
    for number in range(len(actions) + 1):
        stay = Lesson(tuple(actions[:number])).begin_of_last()
        assert stay < number or number == 0
        back = Lesson(tuple(actions[:stay]))
        assert back.wanted, "it is the person's turn then"


def test_texts_name_what_is_there() -> None:
    ids = rule_ids()
    assert {beat.rule for beat in BEATS} | {Lesson(tuple(line())).payload()["rule"]} <= set(ids)
    for beat in BEATS:
        assert beat.todo.endswith(".")
        if "bid done" in beat.names and (totals := re.findall(r": (\d+)\.$", beat.todo)):
            start = sum(len(one.names) + len(one.reply) for one in BEATS[: BEATS.index(beat)])
            game = played(start + beat.names.index("bid done"))
            assert line()[int(game.state["decisions"])] == BID_DONE
            assert int(game.state["bid_total"][0]) == int(totals[0])
