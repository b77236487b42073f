"""Every rule of RULES.md is shown by a test, and tests name only rules that there are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import skyenv

TESTS = Path(__file__).parent
RULES = Path(skyenv.__file__).parent / "rules"
SHARED = TESTS.parent.parent / "shared"
"""Where the rules come from; there only where the project is made, not in a copy of the repository."""


def rule_ids() -> list[str]:
    """The ids that RULES.md defines, in its order."""
    text = (RULES / "RULES.md").read_text(encoding="utf-8")
    return re.findall(r"^- \*\*([A-Z]+-\d+)\*\*", text, re.MULTILINE)


def named_ids() -> Iterator[tuple[str, str]]:
    """Each id that a test's mark names, and the test."""
    for path in sorted(TESTS.rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        for test in ast.walk(tree):
            if not isinstance(test, (ast.FunctionDef, ast.ClassDef)) or not test.name.lower().startswith("test"):
                continue
            for mark in test.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.rule":
                    for argument in mark.args:
                        assert isinstance(argument, ast.Constant), f"{path.name}:{argument.lineno}: name the ids themselves"
                        yield str(argument.value), f"{path.name}::{test.name}"


def test_rules_have_ids() -> None:
    """The rules are found, each with an id of its own, numbered without gaps."""
    ids = rule_ids()
    assert len(ids) == len(set(ids)) > 70
    for group in {rule.split("-")[0] for rule in ids}:
        numbers = [int(rule.split("-")[1]) for rule in ids if rule.startswith(f"{group}-")]
        assert numbers == list(range(1, len(numbers) + 1)), group


def test_every_rule_is_shown_by_a_test() -> None:
    """A rule that no test names would go unchecked."""
    shown = {rule for rule, _ in named_ids()}
    assert [rule for rule in rule_ids() if rule not in shown] == []


def test_tests_name_rules_that_there_are() -> None:
    """A misspelt id would show nothing."""
    known = set(rule_ids())
    assert [(rule, test) for rule, test in named_ids() if rule not in known] == []


def test_rules_mentioned_in_the_rules_exist() -> None:
    """References from one rule to another."""
    known = set(rule_ids())
    for name in ("RULES.md", "INTERFACE.md"):
        text = (RULES / name).read_text(encoding="utf-8")
        mentioned = set(re.findall(r"\b(?:COM|SET|TURN|MOVE|BUS|SCO|AUC|STOP|ALEA|END|INF)-\d+", text))
        assert mentioned <= known, name


@pytest.mark.parametrize("name", ["RULES.md", "INTERFACE.md"])
def test_the_texts_are_the_shared_ones(name: str) -> None:
    """The copies in the package are what the project has agreed on, to the byte."""
    if not SHARED.is_dir():
        pytest.skip("no ../shared beside this project")
    assert (RULES / name).read_bytes() == (SHARED / name).read_bytes()
