"""Published figures are made by commands that exist, on code that is known."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from experiments import figures, published
from experiments.published import PARTS, Part
from processes import ROOT
from skyenv.errors import OptionError
from skyenv.files import digest_of

# Files of measurements that nobody repeats: of an earlier benchmark, and of the parts.
OTHER = {"benchmark-1.json", "measured.json"}


def test_every_published_file_has_a_command() -> None:
    """The commands' options: tests/test_docs.py."""
    files = {path for part in PARTS for path in part.files.values()}
    folders = (figures.RESULTS, ROOT / "skyenv" / "arena" / "ladders")
    there = {path for folder in folders for path in folder.glob("*.json")}
    assert {path for path in there if path.name not in OTHER} <= files
    for part in PARTS:
        assert all((ROOT / path).exists() for path in part.sources), part.name


def test_published_files_are_those_that_were_measured() -> None:
    """A file that somebody edits or measures by hand has no commit to name."""
    measured = figures.measured()
    for part in PARTS:
        for path in part.files.values() if part.name in measured else ():
            assert measured[part.name]["files"][path.name] == digest_of(path)


def test_a_part_is_measured_once_and_again_after_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"ROOT": "", "WORK": "work", "MEASURED": "measured.json"}.items():
        monkeypatch.setattr(published, name, tmp_path / value)
    code = tmp_path / "code.py"
    code.write_text("1")
    (tmp_path / "constraints.txt").write_text("numpy==1")
    (tmp_path / ".gitignore").write_text("work")
    (tmp_path / "rules").mkdir()
    commands = "init --quiet", "config user.name me", "config user.email me@here", "add ."
    for command in (*commands, "commit --quiet --message first"):
        published.git(*command.split())
    command = "experiments.benchmarks resampling --share 0.001 --repeats 1 --out OUT"
    part = Part(
        "some", (command,), 0.1, ("code.py", "rules"), {"resampling.json": tmp_path / "its.json"}
    )
    measured: dict[str, Any] = {}
    assert published.measure(part, measured)
    stored = json.loads((tmp_path / "measured.json").read_text(encoding="utf-8"))
    assert published.is_current(part, stored)
    assert stored["some"]["files"] == {"its.json": digest_of(tmp_path / "its.json")}
    assert published.commits_since(part, stored["some"]["commit"]) == "unchanged"
    (tmp_path / "rules" / "figures.json").write_text("0")  # what a part writes beside its code
    assert not part.folder().exists(), "a repeat measures again"
    part.folder().mkdir()
    (part.folder() / "hours").write_text("3")
    assert published.measure(part, measured)
    assert measured["some"]["hours"] == 3, "interrupted ones go on, and their hours count"
    code.write_text("2")
    with pytest.raises(OptionError, match=r"code that isn't committed:\n.*code\.py"):
        published.measure(part, measured)
    published.git("commit", "--quiet", "--all", "--message", "second")
    assert not published.is_current(part, stored)
    assert published.commits_since(part, stored["some"]["commit"]) == "1 commit"
    other = replace(part, commands=("experiments.none",))
    assert not published.measure(other, measured)
    assert other.folder() != part.folder(), "work goes on with its own commands alone"


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the history of a clone")
def test_the_state_of_every_part_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert published.main(["--list"]) == 0
    _, _, *lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [part.name for part in PARTS]
