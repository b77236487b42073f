"""Compiled code on disk: made once, announced, and never older than the rules."""

from __future__ import annotations

import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import skyenv
from skyenv.rules import compiling

PACKAGE = Path(skyenv.__file__).parent

needs_compiler = pytest.mark.skipif(not compiling.COMPILED, reason="NUMBA_DISABLE_JIT is set")

# COM-10 through a function of another file than the entry point's: Numba alone would not notice a change in it.
PROBE = """
import numpy as np
from skyenv.rules.auction import build_limit
from skyenv.rules.compiling import EntryPoints
from skyenv.rules.state import new_games

def make_limit(fingerprint):
    def limit(state):
        _ = fingerprint
        return build_limit(state[0], 0)
    return limit

def make_turns(fingerprint):
    def turns(state):
        _ = fingerprint
        return state[0].turns
    return turns

entry_points = EntryPoints()
limit, turns = entry_points.make(make_limit), entry_points.make(make_turns)
game = new_games(1)
game["supply"] = 9
game["bid_cards"][0, 0, 0, 0] = 1
print(limit(game), turns(game))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package, for itself in a folder, and beside it a program that uses it."""
    shutil.copytree(PACKAGE, tmp_path / "skyenv", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "probe.py").write_text(PROBE)
    return tmp_path


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Python in a folder whose package it uses, with a disk cache there; it must succeed."""
    kept = {name: value for name, value in os.environ.items() if name != "SKYENV_QUIET"}
    result = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        cwd=folder,
        env={**kept, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache"), **environment},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result


def replace_in(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1
    # The size stays the same and so may the time: the content alone tells.
    times = file.stat()
    file.write_text(text.replace(old, new), encoding="utf-8")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


@needs_compiler
@pytest.mark.rule("COM-10")
def test_a_changed_rule_is_compiled_anew(package: Path) -> None:
    """Though only a file that the entry point imports has changed; back again, the old code is right once more."""
    rules = package / "skyenv" / "rules" / "components.py"
    first = run(package, "probe.py")
    assert first.stdout == "3 0\n"
    assert first.stderr.count("skyenv: compiling the rules") == 1, "told once, however many functions are compiled"
    assert run(package, "probe.py").stderr == "", "the second time everything is on disk"
    replace_in(rules, "np.array([3, 2, 1]", "np.array([2, 2, 1]")
    changed = run(package, "probe.py", SKYENV_QUIET="1")
    assert changed.stdout == "2 0\n"
    assert changed.stderr == "", "SKYENV_QUIET silences it"
    replace_in(rules, "np.array([2, 2, 1]", "np.array([3, 2, 1]")
    assert run(package, "probe.py").stdout == "3 0\n"


@needs_compiler
def test_compilation_is_announced_once_for_all_modules(package: Path) -> None:
    """Also where two of them have entry points: here a view and the results of games."""
    program = "import skyenv.games as g, skyenv.knowledge as k; s = g.new_games(1); g.results(s); k.view(s, 0)"
    assert run(package, "-c", program).stderr.count("compiling") == 1
    assert run(package, "-c", program).stderr == ""


def test_importing_compiles_nothing(package: Path) -> None:
    """Nor does it say anything."""
    result = run(package, "-c", "import skyenv")
    assert (result.stdout, result.stderr) == ("", "")
    assert not (package / "cache").exists() or not list((package / "cache").rglob("*.nbc"))


@pytest.mark.parametrize("pattern", compiling.COMPILED_SOURCES)
def test_every_source_is_part_of_the_fingerprint(package: Path, pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of one character in any of them, a new file and a missing one give another fingerprint."""
    monkeypatch.setattr(compiling, "PACKAGE", package / "skyenv")
    before = compiling.fingerprint()
    assert before == compiling.fingerprint()
    files = sorted((package / "skyenv").glob(pattern))
    assert files
    for file in files:
        content = file.read_bytes()
        file.write_bytes(content[:-1] + b" ")
        assert compiling.fingerprint() != before, file.name
        file.unlink()
        assert compiling.fingerprint() != before, file.name
        file.write_bytes(content)
        assert compiling.fingerprint() == before
    if "*" in pattern:
        (package / "skyenv" / "rules" / "added.py").write_bytes(b"")
        assert compiling.fingerprint() != before


def test_the_fingerprint_tells_versions_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what compiles and of what lays out records."""
    fingerprints = {compiling.fingerprint()}
    for library in ("numba", "numpy"):
        with monkeypatch.context() as patch:
            patch.setattr(f"{library}.__version__", "0.0.1")
            fingerprints.add(compiling.fingerprint())
    assert len(fingerprints) == 3


@needs_compiler
def test_all_compiled_functions_stand_in_files_of_the_fingerprint() -> None:
    """A rule in another file could change without being noticed."""
    from numba.core.dispatcher import Dispatcher

    sources = {file for pattern in compiling.COMPILED_SOURCES for file in PACKAGE.glob(pattern)}
    found = set()
    for module in pkgutil.walk_packages([str(PACKAGE)], "skyenv."):
        if module.name.startswith("skyenv.envs") or module.name == "skyenv.__main__":
            continue  # they may need libraries that aren't installed; glue has no compiled code
        for thing in vars(importlib.import_module(module.name)).values():
            if isinstance(thing, Dispatcher):
                found.add(Path(thing.py_func.__code__.co_filename))
    assert found <= sources
    assert PACKAGE / "rules" / "play.py" in found
    assert PACKAGE / "kernels.py" in found
    for file in (PACKAGE / "envs").glob("*.py"):
        assert "numba" not in file.read_text(encoding="utf-8")


def test_without_the_compiler(package: Path) -> None:
    """NUMBA_DISABLE_JIT: plain functions, nothing announced, nothing on disk."""
    result = run(package, "probe.py", NUMBA_DISABLE_JIT="1")
    assert (result.stdout, result.stderr) == ("3 0\n", "")
    assert not (package / "cache").exists()
