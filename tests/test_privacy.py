"""What is private stays in its module: no module reaches into another's names that begin with an
underscore.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from skyenv import Game, Games

ROOT: Final = Path(__file__).resolve().parent.parent
SOURCES: Final = ("skyenv", "agents", "experiments", "examples")
OTHERS: Final = {
    **dict.fromkeys(("_compiler", "_FunctionCompiler", "_Intrinsic", "_load_index"), "Numba's"),
    **dict.fromkeys(("_replace", "_asdict"), "a named tuple's"),
    "_exit": "the system's",
    "_rel": "ThorVG's",
    "_worker_logs_enabled": "Ray's",
}
"""Private names of libraries that are used, or that aren't private at all."""


def is_private(name: str) -> bool:
    """Whether a name is one that other modules have no business with."""
    return name.startswith("_") and not name.startswith("__")


def named_in(tree: ast.Module) -> set[str]:
    """Names that a module gives: of functions, classes, variables, and attributes of its own
    objects.
    """
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("self", "cls"):
            names.add(node.attr)
    return names


def reaches(source: str) -> Iterator[str]:
    """Private names of others that a module uses: attributes of objects that aren't itself, and
    what it imports.
    """
    tree = ast.parse(source)
    own = named_in(tree) | OTHERS.keys()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr) and node.attr not in own:
            if ast.unparse(node.value) != "super()":
                yield ast.unparse(node)
        elif isinstance(node, ast.ImportFrom):
            yield from (
                f"{node.module}.{name.name}"
                for name in node.names
                if is_private(name.name) and name.name not in own
            )


def test_no_module_reaches_into_another_one() -> None:
    files = [path for top in SOURCES for path in (ROOT / top).rglob("*.py")]
    assert len(files) > 90
    private = {
        str(path.relative_to(ROOT)): set(reaches(path.read_text(encoding="utf-8")))
        for path in files
    }
    assert {path: names for path, names in private.items() if names} == {}


def test_no_test_reaches_into_a_game() -> None:
    """What batches and games keep to themselves can change; a test that needs it shows that
    something public is missing.
    """
    private = {
        name
        for thing in (Games(1), Game())
        for name in (*vars(thing), *dir(thing))
        if is_private(name)
    }
    private -= {"_repr_svg_"}  # the notebook's
    assert {"_arrays", "_play", "_reset", "_tape"} <= private
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for name in reaches(path.read_text(encoding="utf-8")):
            assert name.rpartition(".")[2] not in private, f"{path.name}: {name}"


@pytest.mark.parametrize(
    ("line", "private"),
    [
        ("games._state", ["games._state"]),
        ("game.games._play(1)", ["game.games._play"]),
        ("from skyenv.engine.games import _part", ["skyenv.engine.games._part"]),
        ("from skyenv.engine.games import as_games", []),
        ("super()._make_views()", []),
        ("def copy(self):\n    self._pool = None\n    twin._pool = None", []),
        ("block._replace(lines=[])", []),
        ("game.__dict__", []),
    ],
)
def test_a_reach_is_found(line: str, private: list[str]) -> None:
    assert list(reaches(line)) == private
