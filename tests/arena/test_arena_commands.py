"""``python -m skyenv evaluate`` and ``tournament``: output, files, Ctrl-C, new entrants."""

import csv
import json
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from tournaments import lines

from processes import interrupting, main_of
from skyenv.arena import ladder
from skyenv.arena.evaluate import as_csv, as_json, as_latex, evaluate, table

AGAIN = "\n\nThe same games again:\npython -m skyenv "

# ---- evaluate ----


def test_evaluate_prints_and_writes_the_librarys_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The printed command repeats the games; each evaluation has its own secret."""
    files = [tmp_path / f"results.{suffix}" for suffix in ("json", "csv", "latex")]
    words = "greedy --against random hoard --players 3 2 --side back --paired-seeds 3 --max-turns 9"
    outputs = " ".join(f"--{file.suffix[1:]} {file}" for file in files)
    assert main_of(f"evaluate {words} {outputs}") == 0
    printed = capsys.readouterr()
    shown, again = printed.out[:-1].split(AGAIN)
    secret = int(again.split()[again.split().index("--secret") + 1])
    results = [
        result
        for players in (3, 2)
        for result in evaluate(
            *("greedy", ["random", "hoard"], players, "back", 3),
            secret=secret,
            max_turns=9,
            pooled=True,
        )
    ]
    assert [one.opponent for one in results] == 2 * ["random", "hoard", "all of them"]
    assert [shown, *(file.read_text() for file in files)] == [
        table(results),
        as_json(results),
        as_csv(results),
        as_latex(results),
    ]
    rows = [*csv.DictReader(files[1].read_text().splitlines())]
    assert [float(row["share_low"]) for row in rows] == [one.share.low for one in results]
    assert [row["par"] for row in rows] == [str(one.par) for one in results]
    assert files[2].read_text().count(r" \\" + "\n") == 7
    assert main_of(again) == 0
    assert capsys.readouterr() == printed
    assert main_of(f"evaluate {words}") == 0
    assert capsys.readouterr().out != printed.out


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(("games", "more"), [(0, ""), (20, ""), (20, "--workers 1")])
def test_an_interrupted_evaluation_reports_the_finished_games(
    games: int,
    more: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("skyenv.arena.evaluate.progress_bar", interrupting(games))
    if not games:
        at_once = Mock(side_effect=KeyboardInterrupt)
        monkeypatch.setattr("skyenv.arena.evaluate.play_games", at_once)
    words = "random --against hoard crowd --paired-seeds 60 --max-turns 5"
    assert main_of(f"evaluate {words} --json {tmp_path / 'f'} {more}") == 130
    printed = capsys.readouterr()
    before = "" if games else " before the first paired seed was finished"
    assert printed.err == f"evaluate: error: interrupted{before}\n"
    assert ("* interrupted: " in printed.out) == bool(games)
    for result in json.loads((tmp_path / "f").read_text())[:2] if games else ():
        assert 0 < result["paired_seeds"] < 60
        assert result["games"] == 2 * result["paired_seeds"]
        assert result["interrupted"]


# ---- tournament ----


@pytest.mark.usefixtures("in_this_process", "here")
def test_a_tournament_resumes_and_rates_a_new_entrant(capsys: pytest.CaptureFixture[str]) -> None:
    """The same command resumes, the printed one repeats the games, and a new entrant is rated
    against the ladder.
    """
    size = "--players 3 --side back --max-turns 20"
    words = f"tournament random crowd hoard bidder {size} --paired-seeds 5 --out out"
    assert main_of(words) == 0
    printed = capsys.readouterr()
    shown, again = printed.out[:-1].split(AGAIN)
    assert (printed.err, again.split()[-2:]) == ("", ["--paired-seeds", "5"])
    assert max(map(len, shown.splitlines())) <= 80
    assert main_of(f"{again[:-1]}2 --out again") == 0
    few = lines(Path("again"))
    assert main_of(f"{again} --out again") == 0
    assert set(few) < set(lines(Path("again")))
    assert lines(Path("again")) == lines(Path("out"))
    capsys.readouterr()

    path = Path("out", "ladder.json")
    content = ladder.read(path, players=3, side="back", paired_seeds=5)
    names = [agent["name"] for agent in content["agents"]]
    assert (names[0], sorted(names)) == ("bidder", ["bidder", "crowd", "hoard", "random"])
    assert content["anchors"] == {"names": ["bidder"], "points": 1000.0}
    assert np.shape(content["samples"]) == (ladder.SAMPLES, 4)
    assert content["pairs"][1][1] is None
    assert len(content["duels"]) == 6

    add = f"tournament --add random {size} --paired-seeds 4 --ladder {path}"
    assert main_of(f"{add} --out new") == 0
    printed = capsys.readouterr()
    found = json.loads(Path("new", "newcomer.json").read_text())
    assert (found["name"], found["spec"], found["paired_seeds"]) == ("new random", "random", 4)
    assert [rung["name"] for rung in found["against"]] == names
    assert f"place {found['place']} of 5" in printed.out
    assert printed.err == ""
    content["agents"][0].update(version="0")
    path.write_text(ladder.as_json(content))
    assert main_of(f"{printed.out[:-1].split(AGAIN)[1]} --out new") == 0
    printed = capsys.readouterr()
    assert "warning: bidder is version 1 here, but 0 in the ladder" in printed.err
    assert main_of(add.replace("--side back", "")) == 1
    assert f"{path} is a ladder of side back\n" in capsys.readouterr().err


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(("games", "before"), [(1, True), (60, False)])
def test_an_interrupted_tournament_reports_the_finished_games(
    games: int,
    before: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = "tournament random crowd hoard --max-turns 5 --minutes 9 --workers 1"
    for out in ("", f" --out {tmp_path / 'out'}"):
        monkeypatch.setattr("skyenv.arena.tournament.progress_bar", interrupting(games))
        assert main_of(words + out) == 130
        printed = capsys.readouterr()
        nothing = " before the first paired seed was finished" if before else ""
        hint = "; the same command goes on" if out else ""
        assert printed.err == f"tournament: error: interrupted{nothing}{hint}\n"
        assert (AGAIN in printed.out) != before
    assert len(lines(tmp_path / "out")) >= games
