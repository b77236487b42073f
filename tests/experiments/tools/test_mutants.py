"""Small mistakes in the rules: each is one mistake, and who judges them notices a real one."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from experiments.tools import mutants
from experiments.tools.judge import RulesFailError, verdicts
from experiments.tools.mutants import Plan, judged, main
from experiments.tools.mutation import ROOT, RULES, Mutant, all_mutants, source_of

MUTANTS = all_mutants()


def test_there_are_many_in_every_chapter() -> None:
    assert len(MUTANTS) > 1000
    chapters = {path.name for path in (ROOT / RULES).glob("*.py")}
    assert (
        {"auction.py", "alea.py", "scoring.py", "stops.py", "businesses.py"}
        <= {mutant.file for mutant in MUTANTS}
        < chapters
    )


@pytest.mark.parametrize("mutant", MUTANTS[::97], ids=lambda mutant: f"{mutant.file}:{mutant.line}")
def test_a_mutant_differs_in_one_statement(mutant: Mutant) -> None:
    before = ast.unparse(
        ast.parse((ROOT / RULES / mutant.file).read_text(encoding="utf-8"))
    ).splitlines()
    after = source_of(mutant).splitlines()
    assert len(before) == len(after)
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 1


# ---- the judge ----

OWN = """
from skyenv.rules.scoring import count_types
from skyenv.rules.setup import ARRANGEMENTS

def test_types():
    assert count_types(0b1101) == 3

def test_arrangements():
    assert ARRANGEMENTS[7, 5, 0] == 12600
"""


def one(function: str, before: str) -> Mutant:
    """The first mutant of a function with this code."""
    return next(
        mutant for mutant in MUTANTS if (mutant.function, mutant.before) == (function, before)
    )


@pytest.mark.skipif(sys.platform == "win32", reason="it forks")
def test_who_notices(tmp_path: Path) -> None:
    """The test that calls the function in question, if it does; a table that a function made is
    made anew.
    """
    (tmp_path / "test_own.py").write_text(OWN, encoding="utf-8")
    shift = one("count_types", "types >> business")
    table, elsewhere = one("_arrangements", "once + 1"), one("district_vp", "0")
    objections = dict(verdicts([shift, table, elsewhere], 2, [str(tmp_path / "test_own.py")]))
    assert objections[shift].endswith("test_own.py::test_types")
    assert objections[table].endswith("test_own.py::test_arrangements")
    assert objections[elsewhere] == ""


@pytest.mark.skipif(sys.platform == "win32", reason="it forks")
def test_tests_that_fail_without_a_mistake_judge_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(OWN.replace("== 3", "== 4"), encoding="utf-8")
    with pytest.raises(RulesFailError, match="test_types"):
        list(verdicts(MUTANTS[:3], 1, [str(tmp_path / "test_own.py")]))


@pytest.mark.skipif(sys.platform == "win32", reason="it forks")
def test_crashes_and_endless_loops_are_noticed() -> None:
    """A fork that dies, and one whose processor time is over."""
    program = (
        "import os, signal; from experiments.tools.judge import forked\n"
        "works = [lambda: 'a test', lambda: os._exit(1), lambda: os.kill(os.getpid(), "
        "signal.SIGPROF), lambda: '']\n"
        "print(sorted(forked(works, 2)))"
    )
    told = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert told.stdout == "[(0, 'a test'), (1, 'Python'), (2, 'the clock'), (3, '')]\n"


# ---- the command ----


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Mutant]:
    """What is judged, by a judge that notices mistakes in even lines."""
    mutants_asked: list[Mutant] = []

    def judge(left: Sequence[Mutant], workers: int) -> Iterator[tuple[Mutant, str]]:
        for mutant in left:
            mutants_asked.append(mutant)
            yield mutant, "" if mutant.line % 2 else "the test"

    monkeypatch.setattr(mutants, "verdicts", judge)
    return mutants_asked


def test_what_was_judged_is_not_judged_again(tmp_path: Path, asked: list[Mutant]) -> None:
    """Unless it is asked for, and nobody noticed."""
    caught = judged(Plan(number=10, workers=2, out=tmp_path))
    assert caught == {mutant: "" if mutant.line % 2 else "the test" for mutant in asked}
    assert (
        len(asked)
        == len((tmp_path / "mutants.jsonl").read_text(encoding="utf-8").splitlines())
        == 10
    )
    more = judged(Plan(number=12, workers=2, out=tmp_path))
    assert len(asked) == len(more) == 12
    assert caught.items() <= more.items()
    asked.clear()
    judged(Plan(number=12, out=tmp_path, again=True))
    assert asked == [mutant for mutant in more if not more[mutant]]


def test_the_share_and_the_survivors_are_told(
    tmp_path: Path, asked: list[Mutant], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--number", "20", "--out", str(tmp_path)]) == 0
    *told, last = capsys.readouterr().out.splitlines()
    missed = [mutant for mutant in asked if mutant.line % 2]
    assert [line.split(": ")[0] for line in told] == [
        f"skyenv/rules/{mutant.file}:{mutant.line}" for mutant in missed
    ]
    assert last == f"{20 - len(missed)} of 20 mutants caught ({1 - len(missed) / 20:.1%})"
