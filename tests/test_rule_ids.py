"""Rule ids: every rule of RULES.md has a test, and ids in code and docs exist."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import skyenv

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
RULES = Path(skyenv.__file__).parent / "rules"
# Where the rules come from; there only where the project is made, not in a copy of the repository.
SHARED = ROOT.parent / "shared"


def rule_ids() -> list[str]:
    """The ids that RULES.md defines, in its order."""
    text = (RULES / "RULES.md").read_text(encoding="utf-8")
    return re.findall(r"^- \*\*([A-Z]+-\d+)\*\*", text, re.MULTILINE)


def marks_of(definition: ast.FunctionDef | ast.ClassDef) -> dict[str, list[ast.expr]]:
    """A test's marks, with what they say."""
    marks: dict[str, list[ast.expr]] = {}
    for mark in definition.decorator_list:
        call = mark if isinstance(mark, ast.Call) else ast.Call(mark, [], [])
        marks.setdefault(ast.unparse(call.func).removeprefix("pytest.mark."), []).extend(call.args)
    return marks


def named_ids() -> Iterator[tuple[str, str, bool]]:
    """Each id that a test's mark names, the test, and whether `make quick` runs it."""
    quick = re.findall(
        r"^QUICK := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )[0].split()
    for path in sorted(TESTS.rglob("test_*.py")):
        source = path.read_text(encoding="utf-8")
        in_quick = (
            any(path.is_relative_to(ROOT / place) for place in quick)
            and "\npytestmark" not in source
        )
        for test in ast.walk(ast.parse(source, str(path))):
            if not isinstance(
                test, (ast.FunctionDef, ast.ClassDef)
            ) or not test.name.lower().startswith("test"):
                continue
            marks = marks_of(test)
            for argument in marks.get("rule", ()):
                assert isinstance(argument, ast.Constant), (
                    f"{path.name}:{argument.lineno}: name the ids themselves"
                )
                slow = marks.keys() & {"compiled", "long", "programs", "needs_compiler"}
                yield str(argument.value), f"{path.name}::{test.name}", in_quick and not slow


def test_rules_have_ids() -> None:
    """The rules are found, each with an id of its own, numbered without gaps."""
    ids = rule_ids()
    assert len(ids) == len(set(ids)) > 70
    for group in {rule.split("-")[0] for rule in ids}:
        numbers = [int(rule.split("-")[1]) for rule in ids if rule.startswith(f"{group}-")]
        assert numbers == list(range(1, len(numbers) + 1)), group


def test_every_rule_is_shown_by_a_quick_test() -> None:
    """So that `make quick` looks at all of them."""
    shown = {rule for rule, _, is_quick in named_ids() if is_quick}
    assert [rule for rule in rule_ids() if rule not in shown] == []


def test_rules_named_by_tests_exist() -> None:
    """A misspelled id would match nothing."""
    known = set(rule_ids())
    assert [(rule, test) for rule, test, _ in named_ids() if rule not in known] == []


def test_rules_mentioned_exist() -> None:
    """References from one rule to another, in the code, in its tests and in the docs; ``ALEA-2.2``
    is a part of ``ALEA-2``.
    """
    known = set(rule_ids())
    groups = "|".join(sorted({rule.split("-")[0] for rule in known}))
    files = [
        path
        for folder in ("skyenv", "agents", "experiments", "tests", "docs")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".md", ".js", ".html") and "node_modules" not in path.parts
    ]
    unknown = {
        f"{path.relative_to(ROOT)}: {rule}"
        for path in [*files, ROOT / "README.md"]
        for rule in re.findall(
            rf"\b(?:{groups})-\d+|(?<=\")(?!UTF)[A-Z]+-\d+(?=\")", path.read_text("utf-8")
        )
        if rule not in known
    }
    assert unknown == set()
    for name in ("static/rules.js", "static/table.html"):  # the pattern finds quoted ids
        assert (
            len(re.findall(r'"[A-Z]+-\d+"', (ROOT / "skyenv/page" / name).read_text("utf-8"))) > 8
        )


@pytest.mark.skipif(not SHARED.is_dir(), reason="the originals don't lie beside the repository")
@pytest.mark.parametrize("name", ["RULES.md", "INTERFACE.md"])
def test_packaged_texts_equal_their_originals(name: str) -> None:
    assert (RULES / name).read_bytes() == (SHARED / name).read_bytes()
