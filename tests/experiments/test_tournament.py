"""Tournaments: fair schedules, files that lose nothing and count nothing twice, workers that die, reports, newcomers."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments import document, ladder, tournament
from experiments.matches import play_game
from experiments.ratings import rate
from experiments.tournament import Entrant, Folder, Playing, Settings, Tournament, entrants, main
from skyenv.agents import make_agent
from skyenv.errors import AgentError, CheckpointError, OptionError

ROOT = Path(__file__).parents[2]

ODD_AGENTS = """
import os, signal
from pathlib import Path
from skyenv.agents import RandomAgent

class Mortal(RandomAgent):
    "Kills its process the first time."
    name = "mortal"
    def act(self, decisions):
        flag = Path(__file__).with_name("died")
        if not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().act(decisions)

class Deadly(RandomAgent):
    "Kills its process in seat 1."
    name = "deadly"
    def act(self, decisions):
        if decisions.seat[0] == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().act(decisions)

class Faulty(RandomAgent):
    name = "faulty"
    def act(self, decisions):
        if decisions.seat[0] == 1:
            raise EOFError("oh\\nno")
        return super().act(decisions)

class Moody(RandomAgent):
    "Fails once."
    name = "moody"
    calls = 0
    def act(self, decisions):
        Moody.calls += 1
        if Moody.calls == 3:
            raise ValueError("not now")
        return super().act(decisions)

class Wrong(RandomAgent):
    name = "wrong"
    def act(self, decisions):
        return super().act(decisions) - 1000
"""


@pytest.fixture(autouse=True)
def _odd_agents(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path_factory.mktemp("modules")
    (folder / "odd_agents.py").write_text(ODD_AGENTS, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "odd_agents", raising=False)


def settings(*specs: str, players: int = 2, **options: Any) -> Settings:
    """What is played, by names."""
    return Settings(entrants(specs), players, **options)


def play(path: Path, wanted: Settings, deals: int = 3, workers: int = 1, minutes: float | None = None) -> Tournament:
    """A tournament in worker processes."""
    folder = Folder(path, wanted)
    try:
        tournament = Tournament(folder, deals=None if minutes else deals, minutes=minutes, workers=workers)
        tournament.run()
    finally:
        folder.close()
    return tournament


def inline(
    make: Callable[[Any], Any],
    units: Iterator[Any],
    workers: int,
    *,
    done: Callable[..., None],
    tick: Callable[[], bool],
    lost: Callable[..., str],
) -> None:
    """What run_units does, in this process."""
    work = make([0, 0, 0])
    for unit in units:
        if not tick():
            return
        done(unit, work(unit, False))


def lines(path: Path) -> list[str]:
    """The games of a folder, in an order of their own."""
    return sorted(line for line in (path / "games.jsonl").read_text().splitlines() if "spent" not in line)


# ---- who meets whom ----


@given(st.integers(2, 9), st.integers(2, 4), st.integers(0, 10**6), st.booleans())
def test_the_schedule_is_balanced(agents: int, players: int, deal: int, newcomer: bool) -> None:
    names = tuple(Entrant(str(index), str(index), "1", "") for index in range(agents))
    wanted = Settings(names, players, newcomer=newcomer)
    seats = np.concatenate([wanted.seatings(group, deal) for group in wanted.groups()])
    assert len(np.unique(seats, axis=0)) == len(seats) == wanted.games_a_deal()
    for pair in itertools.permutations(range(agents), 2):
        alone = [
            np.flatnonzero(row == pair[0])[0] for row in seats if sorted(row) == sorted([pair[0], *[pair[1]] * (players - 1)])
        ]
        expected = [] if newcomer and 0 not in pair else list(range(players))
        assert sorted(alone) == expected
    tables = [tuple(row) for row in seats if len(set(row)) == players > 2]
    assert bool(tables) == (agents >= players > 2)
    for index in range(0 if not newcomer else agents, agents):  # without a newcomer every agent sits as often in every seat
        where = Counter(row.index(index) for row in tables if index in row)
        assert len(set(where.values())) <= 1
        assert not tables or len(where) == players
    assert {table[turn:] + table[:turn] for table in tables for turn in range(players)} == set(tables)
    assert not newcomer or all(0 in row for row in seats)
    for row in seats.tolist():
        assert wanted.group_of(row) in wanted.groups()


def test_mixed_tables_change_from_deal_to_deal() -> None:
    wanted = settings("random", "crowd", "hoard", "greedy", players=3)
    together = {tuple(sorted(wanted.seatings((0, 1, 2, 3), deal)[0].tolist())) for deal in range(40)}
    assert len(together) == 4


def test_two_agents_of_one_name() -> None:
    with pytest.raises(OptionError, match="two agents are called random"):
        entrants(["random", "skyenv.agents:RandomAgent"])


# ---- files ----


def test_games_are_those_of_a_single_match(tmp_path: Path) -> None:
    wanted = settings("random", "crowd", "hoard", players=3, side="back", seed=5)
    folder = Folder(tmp_path / "folder", wanted)
    games, _ = Playing(wanted, [0, 0, 0])(tournament.Unit((0, 1, 2), (0, 1)), False)
    folder.add((0, 1, 2), games, {})
    folder.close()
    agents = [make_agent(name) for name in ("random", "crowd", "hoard")]
    for line in lines(folder.path):
        game = json.loads(line)
        alone = play_game([agents[index] for index in game["seats"]], 5 + game["deal"], "back")
        assert list(alone.scores) == game["scores"]
        assert (alone.turn, int(alone.state.decisions)) == (game["turns"], game["decisions"])


def test_a_file_cut_anywhere_gives_the_same_ladder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournament, "run_units", inline)
    wanted = settings("random", "crowd", players=2)
    whole = tmp_path / "whole"
    play(whole, wanted, 2)
    content = (whole / "games.jsonl").read_bytes()
    assert len(lines(whole)) == 4
    cut = tmp_path / "cut"
    for length in range(len(content) + 1):
        cut.mkdir(exist_ok=True)
        (cut / "config.json").write_bytes((whole / "config.json").read_bytes())
        (cut / "games.jsonl").write_bytes(content[:length])
        folder = Folder(cut, wanted)
        folder.close()
        finished = content[:length].split(b"\n")[:-1]
        games_of = [sum(f'"deal":{deal},'.encode() in line for line in finished) for deal in (0, 1)]
        assert folder.number() == 2 * sum(number == 2 for number in games_of)
        if length % 97 == 0 or length == len(content):
            play(cut, wanted, 2)
            assert lines(cut) == lines(whole)
            again, before = (Folder(path, wanted) for path in (cut, whole))
            for name in ("deals", "seats", "shares", "scores"):
                assert np.array_equal(getattr(again.results(), name), getattr(before.results(), name))
            again.close()
            before.close()


def test_nothing_counts_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournament, "run_units", inline)
    wanted = settings("random", "crowd")
    play(tmp_path, wanted, 2)
    once = lines(tmp_path)
    with open(tmp_path / "games.jsonl", "a") as file:
        file.write("".join(f"{line}\n" for line in once))
    assert play(tmp_path, wanted, 2).played == 0
    assert lines(tmp_path) == once
    assert play(tmp_path, wanted, 4).played == 4
    assert lines(tmp_path)[:4] == once


@pytest.mark.parametrize(
    "change",
    [
        lambda line: "nonsense\n" + line,
        lambda line: line.replace('"seats":[0,1]', '"seats":[0,2]'),
        lambda line: line.replace('"seats":[0,1]', '"seats":[0,0]'),
        lambda line: line.replace('"scores":[', '"scores":["x",'),
        lambda line: line.replace('"deal":0', '"deal":-1'),
        lambda line: line.replace('"turns"', '"tunrs"'),
        lambda line: "[]\n" + line,
        lambda line: re.sub(r'"shares":\[[^]]*\]', '"shares":["x",1]', line),
        lambda line: re.sub(r'"shares":\[[^]]*\]', '"shares":[null,1]', line),
        lambda line: re.sub(r'"shares":\[[^]]*\]', '"shares":[9.0,0.0]', line),
        lambda line: re.sub(r'"turns":\d+', '"turns":"many"', line),
        lambda line: re.sub(r'"truncated":\w+', '"truncated":2', line),
        lambda line: '{"spent":{"0":3}}\n' + line,
        lambda line: '{"spent":["0"]}\n' + line,
        lambda line: '{"spent":{"0":["x",1]}}\n' + line,
    ],
)
def test_damaged_games(change: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournament, "run_units", inline)
    wanted = settings("random", "crowd")
    play(tmp_path, wanted, 1)
    text = (tmp_path / "games.jsonl").read_text()
    (tmp_path / "games.jsonl").write_text(change(text))
    with pytest.raises(CheckpointError, match=r"games.jsonl: .*; the file is damaged"):
        Folder(tmp_path, wanted)


def test_a_folder_of_other_settings(tmp_path: Path) -> None:
    wanted = settings("random", "crowd")
    Folder(tmp_path, wanted).close()
    Folder(tmp_path, wanted).close()
    for other, message in (
        (dataclasses.replace(wanted, players=3), "players was 2, is 3"),
        (dataclasses.replace(wanted, seed=9), "seed was 1, is 9"),
        (dataclasses.replace(wanted, project="9.9"), "project was"),
        (settings("random", "hoard"), r'agents was \["random", "crowd"\], is \["random", "hoard"\]'),
    ):
        with pytest.raises(CheckpointError, match=message):
            Folder(tmp_path, other)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(CheckpointError, match=r"config.json is damaged"):
        Folder(tmp_path, wanted)
    (tmp_path / "config.json").unlink()
    (tmp_path / "games.jsonl").touch()
    with pytest.raises(CheckpointError, match=r"holds games\.jsonl but"):
        Folder(tmp_path, wanted)


# ---- workers ----


def test_a_worker_that_dies_loses_nothing_and_workers_do_not_matter(tmp_path: Path) -> None:
    wanted = settings("odd_agents:Mortal", "crowd", "random")
    play(tmp_path / "dying", wanted, 2, workers=2)
    assert Path(sys.path[0], "died").exists()
    play(tmp_path / "living", wanted, 2, workers=1)
    assert lines(tmp_path / "dying") == lines(tmp_path / "living")
    assert len(lines(tmp_path / "dying")) == 2 * 6
    assert play(tmp_path / "dying", wanted, 2).played == 0


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("odd_agents:Deadly", r"3 workers died: agent deadly, in deal 0 \(seed 7\), seat 1, was asked last"),
        ("odd_agents:Faulty", r"agent faulty, in deal 0 \(seed 7\), seat 1, failed: EOFError: oh$"),
        ("odd_agents:Wrong", r"agent wrong, in deal 0 \(seed 7\), seat 0, failed: AgentError: agent wrong chose action"),
    ],
)
def test_an_agent_that_keeps_failing(spec: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=message) as caught:
        play(tmp_path, settings(spec, "random", seed=7))
    assert "\n" not in str(caught.value)


def test_an_agent_that_fails_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournament, "run_units", inline)
    play(tmp_path, settings("odd_agents:Moody", "random"), 2)
    assert len(lines(tmp_path)) == 4


# ---- the ladder ----


def test_a_small_tournament(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, shipped = tmp_path / "out", tmp_path / "shipped"
    command = ["random", "crowd", "greedy", "--deals", "6", "--workers", "1", "--out", str(out), "--publish", str(shipped)]
    assert main(command) == 0
    told = capsys.readouterr()
    assert told.out == (out / "ladder.txt").read_text()
    found = ladder.read(out / "ladder.json", 2)
    assert [agent["name"] for agent in found["agents"]] == ["greedy", "crowd", "random"]
    assert (found["deals"], found["games"], found["players"]) == (6, 36, 2)
    assert found["agents"][0]["rating"] == {"mean": 1000, "low": 1000, "high": 1000}
    assert found["agents"][0]["wins"]["mean"] > 0.9
    assert found["agents"][0]["decisions_per_second"] > 0
    assert found["pairs"][0][1]["mean"] + found["pairs"][1][0]["mean"] == pytest.approx(1)
    assert found["pairs"][1][1] is None
    assert np.shape(found["samples"]) == (ladder.SAMPLES, 3)
    assert found["command"] == (
        "python -m experiments.tournament random crowd greedy --players 2 --side front --max-turns 500 --seed 1 --deals 6"
    )
    assert (out / "ladder.png").read_bytes().startswith(b"\x89PNG")
    for ending in ("json", "png"):
        assert (shipped / f"2-players.{ending}").read_bytes() == (out / f"ladder.{ending}").read_bytes()
    assert "| 1 | greedy | 1000 [1000, 1000] |" in ladder.markdown(found)
    assert ladder.matrix_markdown(found).count("\n") == 6

    games = lines(out)
    assert main(["--resume", "--deals", "6", "--out", str(out)]) == 0
    assert lines(out) == games
    again = ladder.read(out / "ladder.json", 2)
    changing = {"date"}
    assert {key: value for key, value in again.items() if key not in changing} == {
        key: value for key, value in found.items() if key not in changing
    }


def test_time_ends_it_after_whole_rounds(tmp_path: Path) -> None:
    started = time.perf_counter()
    tournament = play(tmp_path, settings("random", "crowd", "hoard"), minutes=0.05)
    assert time.perf_counter() - started < 60
    folder = Folder(tmp_path, tournament.settings)
    folder.close()
    assert len(folder.whole_deals()) * 6 == folder.number() > 0


def test_neighbours_that_are_not_separated_are_said_to_be_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournament, "run_units", inline)
    play(tmp_path, settings("odd_agents:Moody", "random"), 3)
    folder = Folder(tmp_path, settings("odd_agents:Moody", "random"))
    folder.close()
    ratings = rate(folder.results(), ["moody", "random"])
    found = ladder.as_dict(ratings, dataclasses.asdict(folder.settings), folder.speeds(), "command")
    for text in (ladder.table(found), ladder.markdown(found)):
        assert "they are not separated (97.5 % are asked for)" in text
    assert ladder.neighbour("a", "b", 0.975)["separated"]
    assert not ladder.neighbour("a", "b", 0.974)["separated"]


def test_ctrl_c_reports_and_the_same_command_goes_on(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "experiments.tournament", "random", "hoard", "--out", str(tmp_path), "--workers", "1"]
    process = subprocess.Popen(
        [*command, "--minutes", "5"],
        cwd=ROOT, env={**os.environ, "PYTHONIOENCODING": "utf-8", "SKYENV_QUIET": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", start_new_session=True,
    )  # fmt: skip
    deadline = time.perf_counter() + 100
    while time.perf_counter() < deadline and not ((tmp_path / "games.jsonl").exists() and len(lines(tmp_path)) >= 6):
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it as well
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.strip().splitlines()[-1] == "tournament: error: interrupted; the same command goes on"
    assert "Traceback" not in err
    assert out == (tmp_path / "ladder.txt").read_text()
    assert f"{len(lines(tmp_path)):,} games" in out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["random", "crowd"], 2, "--out FOLDER is needed"),
        (["random", "--out", "OUT"], 2, "at least two agents"),
        (["random", "random", "--out", "OUT"], 2, "two agents are called random"),
        (["random", "nobody", "--out", "OUT"], 2, "unknown agent 'nobody'"),
        (["random", "crowd", "--players", "5", "--out", "OUT"], 2, "must be a whole number from 2 to 4"),
        (["random", "crowd", "--deals", "5", "--minutes", "5"], 2, "not allowed with"),
        (["random", "crowd", "--minutes", "nan"], 2, "must be a number of minutes above 0"),
        (["random", "crowd", "--ladder", "x"], 2, "--ladder goes with --add"),
        (["--resume", "--out", "OUT"], 1, "nothing to go on with"),
        (["--add", "random", "crowd"], 2, "--add takes one agent"),
        (["--add", "random", "--ladder", "OUT"], 1, "there is no ladder"),
        (["random", "crowd", "--out", "/dev/null/x"], 1, "Not a directory"),
    ],
)
def test_wrong_commands(
    arguments: list[str], code: int, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        found = main([argument.replace("OUT", str(tmp_path / "out")) for argument in arguments])
    except SystemExit as leaving:
        found = int(str(leaving.code))
    told = capsys.readouterr()
    assert (found, told.out) == (code, "")
    assert told.err.startswith("tournament: error: ")
    assert message in told.err
    assert told.err.count("\n") == 1


# ---- newcomers, and what ships ----


def test_a_newcomer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(tournament, "run_units", inline)
    out, shipped = tmp_path / "out", tmp_path / "shipped"
    for players in (2, 3):
        size = ["--players", str(players)]
        base = ["random", "crowd", *size, "--deals", "5", "--out", str(out / str(players)), "--publish", str(shipped)]
        assert main(base) == 0
        path = shipped / f"{players}-players.json"
        add = ["--add", "random", *size, "--deals", "4", "--ladder", str(path), "--out", str(out / f"add{players}")]
        capsys.readouterr()
        assert main(add) == 0
        told = capsys.readouterr()
        assert told.err == ""
        found = json.loads((out / f"add{players}" / "newcomer.json").read_text())
        assert (found["name"], found["spec"], found["deals"]) == ("new random", "random", 4)
        rungs = {rung["name"]: rung for rung in found["against"]}
        assert 1 <= found["place"] <= 3
        assert found["rating"]["low"] < found["rating"]["mean"] < found["rating"]["high"]
        assert found["rating"]["low"] < rungs["random"]["rating"]["mean"] < found["rating"]["high"]
        assert 0 <= rungs["crowd"]["share"]["mean"] <= 1
        assert f"place {found['place']} of 3" in told.out
        assert f"→{found['place']}" in told.out
        assert out.joinpath(f"add{players}", "games.jsonl").exists()

    old = json.loads(path.read_text())
    old["agents"][0]["version"] = "0"
    path.write_text(json.dumps(old))
    assert main(["--add", "odd_agents:Moody", "--players", "3", "--deals", "1", "--ladder", str(path)]) == 0
    told = capsys.readouterr()
    assert f"warning: {old['agents'][0]['name']} is version 1 here, but 0 in the ladder" in told.err
    assert told.out.startswith("moody: rating ")
    assert main(["--add", "random", "--players", "3", "--side", "back", "--ladder", str(path)]) == 2
    assert "the ladder was played with side front, not back" in capsys.readouterr().err


@pytest.mark.parametrize("change", [{"format": 9}, {"agents": [{}]}, {"samples": [[1]]}, {"players": 3}])
def test_a_damaged_ladder(change: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tournament, "run_units", inline)
    main(["random", "crowd", "--deals", "1", "--out", str(tmp_path)])
    path = tmp_path / "ladder.json"
    ladder.read(path, 2)
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(CheckpointError, match=r"ladder.json is (no|a) ladder"):
        ladder.read(path, 2)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_what_ships_is_what_the_docs_say(players: int) -> None:
    """Tables in the README and the docs, JSON and the agents themselves belong together."""
    page = (ROOT / "docs" / "ladder.md").read_text(encoding="utf-8")
    assert document.ladder_table(players) in (ROOT / "README.md").read_text(encoding="utf-8")
    path = ladder.SHIPPED / f"{players}-players.json"
    assert document.ladder_table(players) in page
    assert document.ladder_pairs(players) in page
    shipped = ladder.read(path, players)
    assert path.with_suffix(".png").exists()
    for agent in shipped["agents"]:
        assert f"| {agent['name']} | {ladder.interval(agent['rating'])} |" in page
        (here,) = entrants([agent["spec"]])
        assert (here.name, here.version, here.digest) == (agent["name"], agent["version"], agent["digest"])
