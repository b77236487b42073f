"""Imports point one way: the table of layers in docs/design.md covers every module, and every
import keeps to it.

Imports are read from the sources, wherever they stand: at the top of a module, in a function, under
``TYPE_CHECKING``, or by name (a string that names a module of ours, as for
:func:`importlib.import_module`; a string with the name of the package that it stands in is no
import, but the name of a logger, a folder or a group of entry points).
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOP: Final = {
    "skyenv": "skyenv",
    "skyenv_agents": "agents/skyenv_agents",
    "experiments": "experiments",
}
"""Where the import packages lie in the repository."""

STANDARD: Final = sys.stdlib_module_names

LAZY: Final = {
    ("skyenv", "skyenv.fifth_avenue_v0"): "needs PettingZoo; offered as an attribute",
    (
        "skyenv.envs.registration",
        "skyenv.envs.aec",
    ): "PettingZoo imports it when it makes an environment",
    (
        "skyenv.envs.registration",
        "skyenv.envs.single",
    ): "Gymnasium imports it when it makes an environment",
    (
        "skyenv.envs.registration",
        "skyenv.envs.vector",
    ): "Gymnasium imports it when it makes environments",
    ("skyenv.engine.game", "skyenv.render.svg"): "a game draws itself in a notebook",
    ("skyenv.engine.game", "skyenv.render.text"): "a game prints itself",
}
"""Imports against the direction that stay, and why.

They stand in functions: nothing of it is imported with the module.
"""

UNTIL_MENDED: Final[dict[tuple[str, str], str]] = {}
"""Imports against the direction that are to go; whoever mends one takes its line away."""


@dataclass(frozen=True)
class Import:
    """That one module imports another; `late` if not when it is imported itself (in a function, for
    types alone, by name).
    """

    importer: str
    imported: str
    late: bool


def sources(root: Path) -> dict[str, Path]:
    """The files of all modules, by the modules' names."""
    modules = {}
    for top, folder in TOP.items():
        for path in sorted((root / folder).rglob("*.py")):
            parts = [top, *path.relative_to(root / folder).with_suffix("").parts]
            modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def imports_in(module: str, source: str, known: set[str]) -> Iterator[Import]:
    """What a module imports of the modules `known`, wherever it does so."""
    tree = ast.parse(source, module)
    late = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                named = [name.name for name in names]
            case ast.ImportFrom(module=package, names=names, level=level):
                assert level == 0, f"{module}:{node.lineno}: say where it comes from, without dots"
                named = [
                    f"{package}.{name.name}" if f"{package}.{name.name}" in known else f"{package}"
                    for name in names
                ]
            case ast.Constant(value=str(text)) if re.fullmatch(r"(\w+\.)+\w+(:\w+)?", text):
                named = [text.partition(":")[0]]
            case _:
                continue
        for name in named:
            by_name = isinstance(node, ast.Constant)
            if name in known and name != module and not (by_name and module.startswith(f"{name}.")):
                yield Import(module, name, by_name or id(node) in late)


def all_imports(root: Path) -> set[Import]:
    """What the modules of a repository import of one another."""
    modules = sources(root)
    known = set(modules)
    return {
        one
        for module, path in modules.items()
        for one in imports_in(module, path.read_text(encoding="utf-8"), known)
    }


def layers_in(text: str) -> list[list[str]]:
    """The table of a page: for every layer, from the lowest one, its rooms (packages and
    modules).
    """
    (block,) = re.findall(r"^```layers\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [
        line.partition("#")[0].split()
        for line in block.splitlines()
        if line.partition("#")[0].strip()
    ]


LAYERS: Final = layers_in((ROOT / "docs" / "design.md").read_text(encoding="utf-8"))
MODULES: Final = sources(ROOT)
IMPORTS: Final = all_imports(ROOT)


def room_of(module: str, layers: list[list[str]]) -> str | None:
    """The room that a module stands in: itself or the nearest package around it; of a top package
    only itself.
    """
    rooms = {room for layer in layers for room in layer}
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        room = ".".join(parts[:length])
        if room in rooms and (length > 1 or room == module):
            return room
    return None


def against_the_direction(imports: set[Import], layers: list[list[str]]) -> set[tuple[str, str]]:
    """The imports of another room that isn't in a lower layer, as pairs of modules."""
    height = {room: number for number, layer in enumerate(layers) for room in layer}
    wrong = set()
    for one in imports:
        mine, other = room_of(one.importer, layers), room_of(one.imported, layers)
        if mine and other and mine != other and height[mine] <= height[other]:
            wrong.add((one.importer, one.imported))
    return wrong


def cycle_in(imports: set[Import], without: set[tuple[str, str]]) -> list[str]:
    """Modules that import one another in a circle, or nothing."""
    graph: dict[str, set[str]] = {}
    for one in imports:
        if (one.importer, one.imported) not in without:
            graph.setdefault(one.importer, set()).add(one.imported)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [str(name) for name in error.args[1]]
    return []


def test_every_module_stands_in_the_table_and_every_room_exists() -> None:
    rooms = [room for layer in LAYERS for room in layer]
    assert len(rooms) == len(set(rooms))
    assert [
        room for room in rooms if not any(f"{name}.".startswith(f"{room}.") for name in MODULES)
    ] == []
    assert [module for module in MODULES if room_of(module, LAYERS) is None] == []


def test_imports_point_downwards() -> None:
    """But for the exceptions above, which are all there, so that none outlives its reason."""
    assert against_the_direction(IMPORTS, LAYERS) == LAZY.keys() | UNTIL_MENDED.keys()


def test_lazy_exceptions_are_lazy() -> None:
    early = {(one.importer, one.imported) for one in IMPORTS if not one.late}
    assert early & LAZY.keys() == set()


def test_no_modules_import_one_another_in_a_circle() -> None:
    assert cycle_in(IMPORTS, without=LAZY.keys() | UNTIL_MENDED.keys()) == []


def test_the_rules_need_numpy_and_numba_alone() -> None:
    """So that they compile for other devices, and can be read without the rest."""
    for module in (name for name in MODULES if name.startswith("skyenv.rules.")):
        for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
            names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            assert {name.split(".")[0] for name in names} <= STANDARD | {
                "numpy",
                "numba",
                "skyenv",
            }, module


# ---- the checks themselves ----


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A small repository that keeps to the layers of `SMALL`."""
    files = {
        "skyenv/__init__.py": "from skyenv.engine.games import play",
        "skyenv/rules/__init__.py": "",
        "skyenv/rules/cards.py": "import numpy",
        "skyenv/rules/play.py": "from skyenv.rules import cards",
        "skyenv/engine/games.py": "from skyenv.rules.play import play",
        "skyenv/pages.py": "import skyenv\nfrom skyenv.engine.games import play",
        "agents/skyenv_agents/__init__.py": "import skyenv",
        "experiments/__init__.py": '"""skyenv.engine.games"""\nimport skyenv_agents',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


SMALL: Final = [
    ["skyenv.rules"],
    ["skyenv.engine.games"],
    ["skyenv"],
    ["skyenv.pages"],
    ["skyenv_agents"],
    ["experiments"],
]


def test_a_repository_in_order(repository: Path) -> None:
    imports = all_imports(repository)
    assert Import("skyenv.rules.play", "skyenv.rules.cards", late=False) in imports
    assert Import("skyenv.pages", "skyenv", late=False) in imports
    assert against_the_direction(imports, SMALL) == set()
    assert cycle_in(imports, set()) == []


@pytest.mark.parametrize(
    ("line", "late"),
    [
        ("import skyenv.engine.games", False),
        ("from skyenv import games", False),
        ("from skyenv.engine.games import play", False),
        ("try:\n    import skyenv.engine.games as g\nexcept ImportError: pass", False),
        ("class A:\n    import skyenv.engine.games", False),
        ("def play():\n    from skyenv import games", True),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from skyenv.engine.games import "
            "play",
            True,
        ),
        ("from importlib import import_module\nimport_module('skyenv.engine.games')", True),
        ("entry_point = 'skyenv.engine.games:play'", True),
    ],
)
def test_imports_are_found_wherever_they_stand(repository: Path, line: str, late: bool) -> None:
    (repository / "skyenv/rules/cards.py").write_text(line, encoding="utf-8")
    imports = all_imports(repository)
    assert Import("skyenv.rules.cards", "skyenv.engine.games", late) in imports
    assert ("skyenv.rules.cards", "skyenv.engine.games") in against_the_direction(imports, SMALL)
    assert set(cycle_in(imports, set())) >= {
        "skyenv.rules.cards",
        "skyenv.rules.play",
        "skyenv.engine.games",
    }


def test_rooms_beside_one_another_do_not_import_one_another(repository: Path) -> None:
    (repository / "skyenv/files.py").write_text("import skyenv.pages", encoding="utf-8")
    layers = [*SMALL[:3], ["skyenv.pages", "skyenv.files"], *SMALL[4:]]
    assert against_the_direction(all_imports(repository), layers) == {
        ("skyenv.files", "skyenv.pages")
    }


def test_a_new_module_needs_a_place(repository: Path) -> None:
    """In a room of the table it has one; beside the rooms it hasn't."""
    for name in ("skyenv/rules/dice.py", "skyenv/dice.py", "experiments/dice.py"):
        (repository / name).write_text("", encoding="utf-8")
    missing = [module for module in sources(repository) if room_of(module, SMALL) is None]
    assert missing == ["skyenv.dice", "experiments.dice"]


def test_a_table_is_read() -> None:
    assert layers_in("text\n```layers\na b  # why\n\nc.d\n```\n```\ne\n```\n") == [
        ["a", "b"],
        ["c.d"],
    ]
