"""Trainings to look at: lists, curves that grow, networks, and files that are damaged or
half-written.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from folders import NETWORK, make_run, point, write_curve

from skyenv.agents import make_agent
from skyenv.files import LOCK, locked, parse_json
from skyenv.page import runs as module
from skyenv.page.errors import PageError
from skyenv.page.library import key_of, roots_of
from skyenv.page.runs import Runs, state_of


def runs_of(*folders: Path) -> Runs:
    roots = roots_of(folders)
    return Runs([root.path for root in roots], roots, folders[0].parent / "kept")


def test_a_run_is_told_without_its_path(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "runs" / "first")
    runs = runs_of(tmp_path / "runs")
    (told,) = runs.overview()
    assert (told["name"], told["state"], told["complaint"]) == ("runs/first", "stopped", "")
    assert (told["decisions"], told["points"], told["progress"]) == (5000, 5, 0.05)
    assert told["minutes"] == pytest.approx(2.5 / 60)
    assert told["shares"] == {"greedy": 0.255, "past": 0.5}
    assert told["options"] == {
        "players": "2",
        "side": "front",
        "prior": "greedy",
        "start": "… model.npz",
    }
    assert told["evaluation"] == "agent  wins\nfirst  57 %"
    assert told["games"] == [key_of("runs/first/games.jsonl")]
    assert [one["name"] for one in told["networks"]] == [
        "first @ 2 s",
        "first @ 0 s",
        "first @ 4 min",
        "first @ 4 min 10 s",
    ]
    assert str(tmp_path) not in json.dumps(told)
    assert "ann" not in json.dumps(told["options"])
    (folder / "evaluation.json").write_text("[]")
    assert runs.overview()[0]["state"] == "finished"


def test_runs_are_found_in_folders_of_folders_and_by_themselves(tmp_path: Path) -> None:
    for name in ("a", "b/c", "b/d"):
        make_run(tmp_path / "runs" / name)
    (tmp_path / "runs" / "ladder").mkdir()
    (tmp_path / "runs" / "ladder" / "config.json").write_text('{"agents": []}')
    (tmp_path / "runs" / "link").symlink_to(tmp_path / "runs" / "a")
    assert set(runs_of(tmp_path / "runs").folders()) == {"runs/a", "runs/b/c", "runs/b/d"}
    assert set(runs_of(tmp_path / "runs" / "a").folders()) == {"a"}


def test_only_new_points_are_told(tmp_path: Path) -> None:
    run = make_run(tmp_path / "first", 3)
    runs, key = runs_of(run), key_of("first")
    first = runs.curve(key, 0, 0)
    assert (first["from"], len(first["points"]), first["complaint"]) == (0, 3, "")
    assert first["points"][0] == {
        "seconds": 0.5,
        "decisions": 1000,
        "progress": 0.01,
        "pace": 2000.0,
        "entropy": 0.3,
        "players": [2],
        "shares": {"greedy": 0.251, "past": 0.5},
    }
    assert runs.curve(key, 3, first["age"])["points"] == []
    write_curve(run, 5)
    news = runs.curve(key, 3, first["age"])
    assert (news["from"], [one["decisions"] for one in news["points"]]) == (3, [4000, 5000])
    write_curve(run, 2)  # it was begun anew
    anew = runs.curve(key, 5, news["age"])
    assert anew["age"] != news["age"]
    assert (anew["from"], len(anew["points"])) == (0, 2)
    (run / "curve.jsonl").unlink()
    assert runs.curve(key, 2, anew["age"])["points"] == []
    assert runs.curve(key, 10**6, 0)["points"] == []


def test_old_lines_are_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(tmp_path / "first", 3)
    runs, key = runs_of(run), key_of("first")
    parsed = []

    def watched(text: bytes) -> object:
        parsed.append(text)
        return parse_json(text)

    monkeypatch.setattr(module, "parse_json", watched)
    runs.curve(key, 0, 0)
    assert len(parsed) == 3
    write_curve(run, 5)
    runs.curve(key, 3, 0)
    assert len(parsed) == 5


def test_a_line_that_is_being_written_waits_for_its_end(tmp_path: Path) -> None:
    run = make_run(tmp_path / "first", 2)
    runs, key = runs_of(run), key_of("first")
    line = json.dumps(point(3))
    with open(run / "curve.jsonl", "a") as file:
        file.write(line[:40])
    assert [len(runs.curve(key, 0, 0)[what]) for what in ("points", "complaint")] == [2, 0]
    with open(run / "curve.jsonl", "a") as file:
        file.write(line[40:] + "\n")
    assert [len(runs.curve(key, 0, 0)[what]) for what in ("points", "complaint")] == [3, 0]


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        "[]",
        "{}",
        '{"shares": 3}',
        json.dumps(point(3, seconds="x")),
        json.dumps(point(3, entropy=float("nan"))),
        "[" * 99999,
    ],
)
def test_a_damaged_line_costs_itself_and_is_told_once(line: str, tmp_path: Path) -> None:
    run = make_run(tmp_path / "first", 2)
    with open(run / "curve.jsonl", "a") as file:
        file.write(f"{line}\n{json.dumps(point(4))}\n{line}\n")
    told = runs_of(run).curve(key_of("first"), 0, 0)
    assert [one["decisions"] for one in told["points"]] == [1000, 2000, 4000]
    assert told["complaint"] == "curve.jsonl, line 3: no point of a curve"
    assert runs_of(run).overview()[0]["complaint"] == told["complaint"]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"players": 7, "side": null, "x": {"a": 1}}'])
def test_a_broken_config_is_one_line(content: str, tmp_path: Path) -> None:
    run = make_run(tmp_path / "first")
    (run / "config.json").write_text(content)
    (told,) = runs_of(run).overview()
    assert "\n" not in told["complaint"]
    assert bool(told["complaint"]) == (content[-1:] != "}")
    assert str(tmp_path) not in told["complaint"]


def test_a_run_is_running_while_its_process_has_the_folder(tmp_path: Path) -> None:
    run = make_run(tmp_path / "first")
    with locked(run):
        assert state_of(run) == "running"
    assert state_of(run) == "stopped"
    (run / LOCK).write_text(
        "process 4194305 on " + os.uname().nodename + ", since 2026-11-23 05:00:00"
    )  # no number of a process
    assert state_of(run) == "stopped"
    (run / LOCK).write_text("process 1 on elsewhere.example, since 2026-11-23 05:00:00")
    assert state_of(run) == "in use by elsewhere.example, since 2026-11-23 05:00:00"
    (run / LOCK).write_text("\x00" * 10_000)
    assert state_of(run) == "stopped"


def test_looking_at_a_run_does_not_take_its_lock(tmp_path: Path) -> None:
    run = make_run(tmp_path / "first")
    runs = runs_of(run)
    runs.overview()
    with locked(run):
        runs.overview()


def test_a_network_keeps_its_name_whatever_becomes_of_the_run(tmp_path: Path) -> None:
    run = make_run(tmp_path / "first")
    runs, key = runs_of(run), key_of("first")
    assert runs.network("first @ 4 min") is None
    then, newest = runs.offered(key, 240), runs.offered(key, None)
    assert re.fullmatch(r"first @ 4 min \([0-9a-f]{8}\)", then)
    assert re.fullmatch(r"first @ 2 s \([0-9a-f]{8}\)", newest)
    shutil.rmtree(run)
    for name in (then, newest):
        path = runs.network(name)
        assert path is not None
        assert make_agent(path).name
    assert runs.network("first @ 9 min") is None
    assert runs.network("../../first") is None


def test_networks_that_are_called_the_same_are_told_apart(tmp_path: Path) -> None:
    run = make_run(tmp_path / "first")
    runs, key = runs_of(run), key_of("first")
    before = runs.offered(key, 240)
    kept = runs.network(before)
    assert kept is not None
    content = kept.read_bytes()
    shutil.copy(
        NETWORK.parent / "3-players.npz", run / "milestones" / "000240.npz"
    )  # the run was begun anew
    after = runs.offered(key, 240)
    assert after != before
    assert (kept.read_bytes() == content, runs.network(before), runs.offered(key, 240)) == (
        True,
        kept,
        after,
    )


def test_only_so_many_networks_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_COPIES", 2)
    runs, key = runs_of(make_run(tmp_path / "first")), key_of("first")
    names = [runs.offered(key, seconds) for seconds in (0, 240, 250)]
    assert len(list((tmp_path / "kept").iterdir())) == 2
    assert runs.network(names[-1]) is not None


def test_runs_of_one_name_are_told_apart(tmp_path: Path) -> None:
    make_run(tmp_path / "runs" / "a" / "first")
    make_run(tmp_path / "runs" / "b" / "first")
    names = [network.name for _, network in runs_of(tmp_path / "runs").networks()]
    assert len(names) == len(set(names)) == 8
    assert "runs/b/first @ 4 min" in names


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    runs = runs_of(make_run(tmp_path / "first"))
    with pytest.raises(PageError, match="no such run"):
        runs.curve("../first", 0, 0)
    with pytest.raises(PageError, match="no such run"):
        runs.offered("x", None)
    with pytest.raises(PageError, match="no such network"):
        runs.offered(key_of("first"), 7)
