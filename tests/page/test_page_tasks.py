"""Bidding tasks on the page: played, paid, stored, repeated and replayed."""

import json
from pathlib import Path

import pytest
from pages import begin, client_of, led_to, make_app, payload, play_to_end
from starlette.testclient import TestClient

from skyenv import Game
from skyenv.engine.openings import TASKS


@pytest.mark.parametrize("task", TASKS)
def test_tasks_are_played_to_their_payoff_across_restarts(task: str, tmp_path: Path) -> None:
    seats = ["me", *["agent:greedy"] * (TASKS[task].num_players - 1)]
    with client_of(make_app(tmp_path / "games")) as ann:
        seat = begin(ann, seats, task=task, seed="7")
        (offered,) = (one for one in ann.get("/api/options").json()["tasks"] if one["name"] == task)
        before = payload(ann, seat)
        assert before["task"].partition(": ")[2] == offered["text"]
    with client_of(make_app(tmp_path / "games")) as again:
        again.cookies = ann.cookies
        assert payload(again, seat)["task"] == before["task"]
        final = play_to_end(again, seat)["final"]
        record = again.get(f"{seat}/record").text
        end = json.loads(record.splitlines()[-1])
        assert (final[-1]["pays"], final[-1]["scores"]) == (end["payoff"], end["scores"])
        assert Game.from_record(record).options == Game(seed=7, task=task).options
        replay = led_to(again.post(f"{seat}/replay"))
        assert again.get(f"{replay}/1").json()["task"] == before["task"]
        rematch = led_to(again.post(f"{seat}/rematch"))
        assert f"Task {task}/" in payload(again, rematch)["task"]


def test_hints_and_analyses_are_refused_in_tasks(ann: TestClient) -> None:
    watched = begin(ann, ["agent:greedy", "agent:greedy"], task="duel-3/1")
    replay = led_to(ann.post(f"{watched}/replay"))
    for asked in (f"{watched}/hint", f"{replay}/1/0/hint", f"{replay}/1/analysis"):
        answer = ann.get(f"{asked}?agent=greedy")
        assert answer.status_code == 409
        assert answer.json()["error"] == "available only in whole games, not in task duel-3/1"
