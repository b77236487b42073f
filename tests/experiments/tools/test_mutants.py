"""Small mistakes in the rules: each is one mistake, and who judges them objects to a real one."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from experiments.tools import mutants
from experiments.tools.mutants import ROOT, RULES, Mutant, Plan, all_mutants, judged, source_of, survivors

MUTANTS = all_mutants()


def test_there_are_many_in_every_chapter() -> None:
    assert len(MUTANTS) > 1000
    chapters = {path.name for path in (ROOT / RULES).glob("*.py")}
    assert {"auction.py", "alea.py", "scoring.py", "stops.py", "businesses.py"} <= {mutant.file for mutant in MUTANTS} < chapters


@pytest.mark.parametrize("mutant", MUTANTS[::97], ids=lambda mutant: f"{mutant.file}:{mutant.line}")
def test_a_mutant_differs_in_one_statement(mutant: Mutant) -> None:
    before = ast.unparse(ast.parse((ROOT / RULES / mutant.file).read_text(encoding="utf-8"))).splitlines()
    after = source_of(mutant).splitlines()
    assert len(before) == len(after)
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 1


def test_a_mistake_is_noticed() -> None:
    mutant = next(mutant for mutant in MUTANTS if mutant.file == "setup.py")
    assert judged(mutant) != ""


def test_what_was_judged_is_not_judged_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Mutant] = []

    def judge(mutant: Mutant, seconds: float) -> str:
        asked.append(mutant)
        return "" if mutant.line % 2 else "the test"

    monkeypatch.setattr(mutants, "judged", judge)
    missed = survivors(Plan(number=10, workers=2, out=tmp_path))
    assert missed == [mutant for mutant in missed or [] if mutant.line % 2]
    assert len(asked) == len((tmp_path / "mutants.jsonl").read_text(encoding="utf-8").splitlines()) == 10
    again = survivors(Plan(number=12, workers=2, out=tmp_path))
    assert len(asked) == 12
    assert set(missed or []) <= set(again or [])
