"""``python -m skyenv evaluate`` and ``tournament``: output, files, Ctrl-C, newcomers."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import ANY

import numpy as np
import pytest
from tournaments import Interrupted, lines

from processes import main_of
from skyenv import records
from skyenv.agents import RandomAgent
from skyenv.arena import commands, ladder
from skyenv.arena.evaluate import as_json, evaluate, table
from skyenv.seeds import secret_seeds

# ---- evaluate ----


def test_evaluate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It prints what the library finds, writes what is asked for, and tells the command that
    repeats it.
    """
    json_file, record_file = tmp_path / "results.json", tmp_path / "games.jsonl"
    words = "greedy --against random greedy --players 3 --side back --paired-seeds 3 --seed 9"
    files = f"--json {json_file} --record {record_file} --record-games 2"
    outputs = []
    for _ in range(2):
        assert main_of(f"evaluate {words} {files}") == 0
        outputs.append(capsys.readouterr())
    assert outputs[0].err == ""
    assert outputs[0] != outputs[1], "each has a secret of its own"
    shown, again = outputs[1].out[:-1].split("\n\nThe same games again: python -m skyenv ")
    secret = int(again.split()[again.split().index("--secret") + 1])
    results = evaluate("greedy", ["random", "greedy"], 3, "back", 3, 9, secret=secret)
    assert (shown, json_file.read_text()) == (table(results), as_json(results))
    assert sorted(tmp_path.iterdir()) == [record_file, json_file]
    assert records.verify(record_file).games == 4
    headers = [lines.header.value for lines in records.iter_games(record_file)]
    assert [one["seed"] for one in headers] == secret_seeds(secret, [9, 9]).tolist() * 2
    assert main_of(again) == 0
    assert capsys.readouterr() == outputs[1]


@pytest.mark.parametrize("calls", [1, 700])
def test_ctrl_c_ends_an_evaluation_and_keeps_what_is_finished(
    calls: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    agents = iter([Interrupted(calls), RandomAgent(), RandomAgent()])
    monkeypatch.setattr(commands, "make_agent", lambda spec, deterministic: next(agents))
    words = f"impatient --against random random --paired-seeds 600 --json {tmp_path / 'f'}"
    assert main_of(f"evaluate {words}") == 130
    printed = capsys.readouterr()
    before = "" if calls > 1 else " before the first paired seed was finished"
    assert printed.err == f"evaluate: error: interrupted{before}\n"
    assert ("* interrupted; " in printed.out) == (calls > 1)
    for result in json.loads((tmp_path / "f").read_text()) if calls > 1 else ():
        assert 0 < result["paired_seeds"] < 600
        assert result["games"] == 2 * result["paired_seeds"]
        assert result["interrupted"]


# ---- tournament ----

SHORT = "tournament random hoard --max-turns 5"


@pytest.mark.usefixtures("in_this_process")
def test_a_small_tournament(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, shipped = tmp_path / "out", tmp_path / "shipped"
    words = f"random crowd greedy --paired-seeds 6 --workers 1 --out {out} --publish {shipped}"
    assert main_of(f"tournament {words} --secret 99") == 0
    printed = capsys.readouterr()
    assert printed.out == (out / "ladder.txt").read_text()
    content = ladder.read(out / "ladder.json", 2)
    best, *others = content["agents"]
    assert [agent["name"] for agent in (best, *others)] == ["greedy", "crowd", "random"]
    assert (content["paired_seeds"], content["games"], content["players"]) == (6, 36, 2)
    mean = sum(agent["rating"]["mean"] for agent in content["agents"]) / 3
    assert mean == pytest.approx(1000, abs=0.1), "none is an anchor"
    assert content["anchors"] == {"names": ["random", "crowd", "greedy"], "points": 1000.0}
    assert best["wins"]["mean"] > 0.9
    assert best["decisions_per_second"] > 0
    assert content["pairs"][0][1]["mean"] + content["pairs"][1][0]["mean"] == pytest.approx(1)
    assert content["pairs"][1][1] is None
    assert np.shape(content["samples"]) == (ladder.SAMPLES, 3)
    assert content["command"] == (
        "python -m skyenv tournament random crowd greedy --players 2 --side front --max-turns 500 "
        "--seed 1 --secret 99 --paired-seeds 6"
    )
    assert printed.out.endswith(f"\n\nThe same games again: {content['command']}\n")
    assert max(map(len, printed.out.splitlines()[:-1])) <= 80
    assert (out / "ladder.png").read_bytes().startswith(b"\x89PNG")
    for ending in ("json", "png"):
        published = shipped / f"2-players.{ending}"
        assert published.read_bytes() == (out / f"ladder.{ending}").read_bytes()
    games = lines(out)
    assert main_of(f"tournament --resume --paired-seeds 6 --out {out}") == 0
    assert lines(out) == games
    assert ladder.read(out / "ladder.json", 2) == content | {"date": ANY}


@pytest.mark.usefixtures("in_this_process")
def test_resuming_goes_on_to_what_it_was_begun_with(tmp_path: Path) -> None:
    assert main_of(f"{SHORT} --paired-seeds 4 --out {tmp_path}") == 0
    whole, games = lines(tmp_path), tmp_path / "games.jsonl"
    kept = [line for line in games.read_text().splitlines() if '"paired_seed":3' not in line]
    games.write_text("\n".join([*kept, ""]))
    assert len(lines(tmp_path)) == 6
    assert main_of(f"tournament --resume --out {tmp_path}") == 0
    assert lines(tmp_path) == whole
    assert main_of(f"tournament --resume --out {tmp_path} --paired-seeds 5") == 0
    assert len(lines(tmp_path)) == 10
    resume = {"agents": (), "resume": True, "out": tmp_path}
    assert commands.earlier(resume)["paired_seeds"] == 4
    assert not {"paired_seeds", "minutes"} & set(commands.earlier({**resume, "minutes": 2.0}))


@pytest.mark.usefixtures("in_this_process")
def test_the_command_that_is_told_repeats_the_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without --out a folder is chosen, in which the same command goes on; without matplotlib
    there is no picture.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("skyenv.render.extras.find_spec", lambda name: None)
    short = f"{SHORT} --paired-seeds 2"
    assert main_of(short) == 0
    printed = capsys.readouterr()
    (folder,) = Path("runs").iterdir()
    assert printed.err == (
        f"tournament: the games are kept in {folder}; the same command goes on there\n"
        "tournament: no ladder.png, as matplotlib isn't installed\n"
    )
    assert not (folder / "ladder.png").exists()
    assert main_of(short) == 0
    assert capsys.readouterr().out == printed.out
    again = printed.out.splitlines()[-1].partition("python -m skyenv ")[2]
    assert main_of(f"{again} --out again") == 0
    assert lines(Path("again")) == lines(folder)
    assert main_of(f"{short} --out other") == 0
    assert lines(Path("other")) != lines(folder), "another secret"
    assert main_of(f"{short} --seed 9") == 0
    assert len([*Path("runs").iterdir()]) == 2
    capsys.readouterr()
    assert main_of(f"{short} --publish shipped") == 1
    assert "matplotlib" in capsys.readouterr().err


@pytest.mark.usefixtures("in_this_process", "odd_agents")
@pytest.mark.parametrize("players", [2, 3])
def test_a_newcomer(players: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base, out = tmp_path / "base", tmp_path / "out"
    size = f"--players {players}"
    begun = f"tournament random crowd hoard {size} --paired-seeds 5 --out {base} --publish {base}"
    assert main_of(begun) == 0
    capsys.readouterr()
    path = base / f"{players}-players.json"
    ladder_of = f"{size} --ladder {path}"
    assert main_of(f"tournament --add random --paired-seeds 4 --out {out} {ladder_of}") == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    content = json.loads((out / "newcomer.json").read_text())
    wanted = {"name": "new random", "spec": "random", "paired_seeds": 4}
    assert content | wanted == content
    low, mean, high = (content["rating"][name] for name in ("low", "mean", "high"))
    rungs = {rung["name"]: rung for rung in content["against"]}
    assert low < mean < high
    assert 0 <= rungs["crowd"]["share"]["mean"] <= 1
    for told in (f"place {content['place']} of 4", f"→{content['place']}"):
        assert told in printed.out
    secret = json.loads((out / "config.json").read_text())["secret"]
    assert f"--secret {secret} --paired-seeds 4 --ladder {path}\n" in printed.out
    old = json.loads(path.read_text())
    old["agents"][0]["version"] = "0"
    path.write_text(json.dumps(old))
    assert main_of(f"tournament --add odd_agents:Moody --paired-seeds 1 {ladder_of}") == 0
    printed = capsys.readouterr()
    warning = f"warning: {old['agents'][0]['name']} is version 1 here, but 0 in the ladder"
    assert warning in printed.err
    assert printed.out.startswith("moody: rating ")
    assert main_of(f"tournament --add random --side back {ladder_of}") == 2
    assert "the ladder was played with side front, not back" in capsys.readouterr().err
