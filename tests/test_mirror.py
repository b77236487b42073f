"""Tests mirror the code: where a test stands says what it tests, and every package has its
tests.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from test_rule_ids import rule_ids

TESTS: Final = Path(__file__).resolve().parent
ROOT: Final = TESTS.parent
SOURCES: Final = {
    "skyenv_agents": ROOT / "agents" / "skyenv_agents",
    "experiments": ROOT / "experiments",
    "examples": ROOT / "examples",
}
"""What the folders of the tests mirror; all others, and the tests that stand in none, mirror
``skyenv``.
"""

ACROSS: Final = {
    "envs/test_same_game.py": "one game in all interfaces",
    "page/test_browser.py": "the whole page, in a browser",
    "skyenv_agents/test_golden_decisions.py": "what all players decide",
    "test_layers.py": "imports",
    "test_mirror.py": "this",
    "test_notebooks.py": "the notebooks in docs/",
    "test_packaging.py": "the wheel",
    "test_privacy.py": "private names",
    "test_properties.py": "what holds in every position",
    "test_public_api.py": "what a user imports",
    "test_readme.py": "the README and docs/",
    "test_referee.py": "the referee, an implementation of its own",
    "test_referee_fuzz.py": "recorded games, judged by the referee",
    "test_rule_ids.py": "every rule has its test",
    "test_uncompiled.py": "compiled or not, the same games",
}
"""Tests of more than one module, and what they are about."""

FILES: Final = sorted(path.relative_to(TESTS) for path in TESTS.rglob("test_*.py"))


def mirrored(folder: Path) -> Path:
    """The package, or the module (without its ending), whose tests stand in a folder of the
    tests.
    """
    top, *rest = folder.parts or ("",)
    return SOURCES[top].joinpath(*rest) if top in SOURCES else ROOT / "skyenv" / folder


def names_in(package: Path) -> set[str]:
    """What tests of a package are named after: its modules, its folders, and itself."""
    inside = {path.stem for path in package.iterdir() if path.suffix == ".py" or path.is_dir()}
    return (inside - {"__init__", "__pycache__"}) | {package.name}


def stands_for(file: Path) -> str | None:
    """What a file of tests is named after: something in the package whose folder it stands in, or a
    chapter of the rules.
    """
    package, name = mirrored(file.parent), file.stem.removeprefix("test_")
    if package.with_suffix(".py").is_file():
        return package.name
    if not package.is_dir():
        return None
    if package == ROOT / "skyenv" / "rules" and name.upper() in {
        rule.split("-")[0] for rule in rule_ids()
    }:
        return name
    for inside in sorted(names_in(package), key=len, reverse=True):
        if name == inside or name.startswith(f"{inside}_"):
            return inside
    return None


def test_tests_stand_where_their_module_does() -> None:
    """Or in the list above, which holds no others: name a test after what it tests, or say there
    what it is about.
    """
    assert {file.as_posix() for file in FILES if stands_for(file) is None} == ACROSS.keys()


def test_every_package_has_tests() -> None:
    """In a folder of its own, or in a file named after it."""
    tested = {mirrored(file.parent) for file in FILES} | {
        mirrored(file.parent) / str(stands_for(file)) for file in FILES
    }
    tops = (ROOT / "skyenv", *SOURCES.values())
    packages = {
        path.parent
        for top in tops
        for path in top.rglob("*.py")
        if path.stem not in ("__init__", "__main__")
    }
    assert packages - tested == set()


def test_a_test_in_a_wrong_place_is_found() -> None:
    """The check itself: by its folder, by its name."""
    places = {
        "test_games.py": "games",
        "test_games_threads.py": "games",
        "rules/test_alea.py": "alea",
        "rules/test_auc.py": "auc",
        "knowledge/test_whatever.py": "knowledge",
        "render/test_render_svg.py": "render",
        "skyenv_agents/search/test_search.py": "search",
        "experiments/training/test_runs.py": "runs",
        "test_threads.py": None,
        "test_auc.py": None,
        "rules/test_games.py": None,
        "nowhere/test_games.py": None,
        "skyenv_agents/test_ismcts.py": None,
        "training/test_runs.py": None,
    }
    assert {name: stands_for(Path(name)) for name in places} == places
