"""Every rule of RULES.md is shown by a test, and tests name only rules that there are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import pytest

import skyenv

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
RULES = Path(skyenv.__file__).parent / "rules"
SHARED = ROOT.parent / "shared"
"""Where the rules come from; there only where the project is made, not in a copy of the repository.
"""


def rule_ids() -> list[str]:
    """The ids that RULES.md defines, in its order."""
    text = (RULES / "RULES.md").read_text(encoding="utf-8")
    return re.findall(r"^- \*\*([A-Z]+-\d+)\*\*", text, re.MULTILINE)


@cache
def named_ids() -> dict[Path, list[str]]:
    """The ids that the marks of each file of tests name."""
    named = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        marks = re.findall(r"pytest\.mark\.rule\(([^)]*)\)", path.read_text(encoding="utf-8"))
        named[path] = re.findall(r'"([^"]*)"', " ".join(marks))
    return named


def quick_files() -> list[Path]:
    """The files of tests that `make quick` runs."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    places = re.findall(r"^QUICK := (.*)$", makefile, re.MULTILINE)[0].split()
    return [
        path for path in named_ids() if any(path.is_relative_to(ROOT / place) for place in places)
    ]


def test_rules_have_ids() -> None:
    """The rules are found, each with an id of its own, numbered without gaps."""
    ids = rule_ids()
    assert len(ids) == len(set(ids)) > 70
    for group in {rule.split("-")[0] for rule in ids}:
        numbers = [int(rule.split("-")[1]) for rule in ids if rule.startswith(f"{group}-")]
        assert numbers == list(range(1, len(numbers) + 1)), group


@pytest.mark.parametrize("files", [named_ids, quick_files])
def test_every_rule_is_shown_by_a_test(files: Callable[[], Iterable[Path]]) -> None:
    """A rule that no test names would go unchecked; `make quick` looks at all of them."""
    shown = {rule for path in files() for rule in named_ids()[path]}
    assert [rule for rule in rule_ids() if rule not in shown] == []


def test_tests_name_rules_that_there_are() -> None:
    """A misspelt id would show nothing."""
    named = {rule for rules in named_ids().values() for rule in rules}
    assert named <= set(rule_ids())


def test_rules_mentioned_exist() -> None:
    """References from one rule to another, in the code, in its tests and in the docs; ``ALEA-2.2``
    is a part of ``ALEA-2``.
    """
    known = set(rule_ids())
    groups = "|".join(sorted({rule.split("-")[0] for rule in known}))
    folders = ("skyenv", "agents", "experiments", "tests", "docs")
    files = [
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".md", ".js", ".html")
    ]
    unknown = {
        f"{path.relative_to(ROOT)}: {rule}"
        for path in [*files, ROOT / "README.md"]
        for rule in re.findall(rf"\b(?:{groups})-\d+", path.read_text(encoding="utf-8"))
        if rule not in known
    }
    assert unknown == set()


@pytest.mark.parametrize("name", ["RULES.md", "INTERFACE.md"])
def test_the_texts_are_the_shared_ones(name: str) -> None:
    """The copies in the package are what the project has agreed on, to the byte."""
    if not SHARED.is_dir():
        pytest.skip("no ../shared beside this project")
    assert (RULES / name).read_bytes() == (SHARED / name).read_bytes()
