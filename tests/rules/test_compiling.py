"""Compilation and its cache: invalidation, damage, concurrency, and unwritable folders."""

import compileall
import importlib
import os
import pkgutil
import re
import shutil
import subprocess
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skyenv
import skyenv_agents
from processes import python, running, wait_until
from skyenv.rules.compiling import COMPILED, entry_point, rule
from skyenv.rules.dispatchers import EntryPoint, Rule

PACKAGE = Path(skyenv.__file__).parent

needs_compiler = pytest.mark.skipif(not COMPILED, reason="NUMBA_DISABLE_JIT is set")

# A package beside skyenv. COM-10 comes from a file of skyenv's that Numba's own cache would not
# look at; so does `more` from another folder of the package, which has no `__init__.py`.
PLAYER = {
    "player/helpers/more.py": """
from skyenv.rules.compiling import rule
MORE = 40

@rule
def more(number: int) -> int:
    return number + MORE
""",
    "player/parts/limits.py": """
from player.helpers.more import more
from skyenv.rules.auction import build_limit
from skyenv.rules.compiling import entry_point
from skyenv.rules.state import new_games

@entry_point("what may be built")
def limit(state, row):
    return build_limit(state[row], 0)

unnamed = entry_point("an unnamed one")(lambda state: limit(state, 0))

@entry_point("the limits")
def limits(state):
    return more(unnamed(state))

@entry_point("the turns")
def turns(state):
    return state[0].turns

game = new_games(1)
game["supply"] = 9
game["bid_cards"][0, 0, 0, 0] = 1
print(limits(game), turns(game))
""",
}


OTHER_FIRST = """
from skyenv.rules.compiling import entry_point

@entry_point("something else")
def other(number):
    return number

for number in (1, 1.0, True):
    other(number)
import player.parts.limits
"""


def write_player(folder: Path) -> None:
    for name, text in PLAYER.items():
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(text)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package, for itself in a folder, and beside it a package that uses it."""
    shutil.copytree(PACKAGE, tmp_path / "skyenv", ignore=shutil.ignore_patterns("__pycache__"))
    write_player(tmp_path)
    return tmp_path


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Python in a folder whose packages it uses, with a disk cache there; it must succeed."""
    own = {
        "SKYENV_QUIET": None,
        "PYTHONPATH": str(folder),
        "NUMBA_CACHE_DIR": str(folder / "cache"),
    }
    result = python("-W", "error", *arguments, cwd=folder, environment={**own, **environment})
    assert result.returncode == 0, result.stderr
    return result


def replace_in(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1
    # The size stays the same and so may the time: the content alone tells.
    times = file.stat()
    file.write_text(text.replace(old, new), encoding="utf-8")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))


# ---- on disk ----


FIRST = """\
skyenv: compiling 1 of at least 3: the limits
skyenv: compiling 2 of at least 3: an unnamed one
skyenv: compiling 3: what may be built
skyenv: compiling 4: the turns
"""


@needs_compiler
@pytest.mark.rule("COM-10")
def test_changed_sources_and_damaged_caches_are_recompiled(package: Path) -> None:
    """Also if only an imported source has changed."""
    first = run(package, "-m", "player.parts.limits")
    assert (first.stdout, first.stderr) == ("43 0\n", FIRST)
    rules, helper = (
        package / "skyenv" / "rules" / "components.py",
        package / "player" / "helpers" / "more.py",
    )
    replace_in(rules, '"build_limit", (3, 2, 1)', '"build_limit", (2, 2, 1)')
    replace_in(helper, "number + MORE", "number - MORE")
    changed = run(package, "-m", "player.parts.limits", SKYENV_QUIET="1")
    assert (changed.stdout, changed.stderr) == ("-38 0\n", ""), "both changes, silently"
    kept = list((package / "cache").rglob("*.nbc"))
    for file, share in zip(kept, (0, 0.5, 0.9, 0.99), strict=True):
        file.write_bytes(file.read_bytes()[: int(share * file.stat().st_size)])
    assert len(failures(run(package, "-m", "player.parts.limits"))) == 1
    whole = run(package, "-m", "player.parts.limits")
    assert (whole.stdout, whole.stderr) == ("-38 0\n", ""), "from the disk again"
    run(package, "-c", "import player.parts.limits")  # functions of that module, not of __main__
    for file in kept:
        file.unlink()
        # In a process that has compiled other things before: symbols have numbers.
        alone = run(package, "-c", OTHER_FIRST)
        assert (alone.stdout, len(failures(alone))) == ("-38 0\n", 0), file


@needs_compiler
@pytest.mark.parametrize("is_archive", [False, pytest.param(True, marks=pytest.mark.long)])
def test_programs_without_sources_are_cached(package: Path, is_archive: bool) -> None:
    """From bytecode, or from an archive. No cached file is inside a package, which pip could then
    not remove.
    """
    for name in ("skyenv", "player"):
        assert compileall.compile_dir(package / name, quiet=1, legacy=True)
    for file in package.rglob("*.py"):
        file.unlink()
    own = {"XDG_CACHE_HOME": str(package / "own"), "NUMBA_CACHE_DIR": "", "PYTHONPATH": "."}
    if is_archive:
        own["PYTHONPATH"] = shutil.make_archive(str(package / "program"), "zip", package)
        shutil.rmtree(package / "skyenv")
        shutil.rmtree(package / "player")
    first, second = (run(package, "-m", "player.parts.limits", **own) for _ in range(2))
    assert (first.stdout, first.stderr) == ("43 0\n", FIRST)
    assert (second.stdout, second.stderr) == ("43 0\n", "")
    top = {file.relative_to(package).parts[0] for file in package.rglob("*.nbc")}
    assert top == {"own" if is_archive else "__pycache__"}


TOGETHER = """
import sys, time
from pathlib import Path

import numpy as np

from skyenv.rules.compile_progress import progress_to
from skyenv.rules.compiling import entry_point

@entry_point("the middle")
def middle(numbers):
    return np.sort(numbers)[len(numbers) // 2]

def adding(amount):
    @entry_point("adding")
    def add(number):
        return number + amount
    return add

twins = [
    entry_point("a twin")(lambda number: number + 1),
    entry_point("a twin")(lambda number: number + 2),
]

Path(sys.argv[1]).touch()
while not Path("go").exists():
    time.sleep(0.001)
heard = []
with progress_to(lambda *told: heard.append(told)):
    assert middle(np.array([3, 1000, 20])) == 20
print(heard, adding(1)(40), adding(2)(40), *[twin(40) for twin in twins])
"""


@needs_compiler
def test_concurrent_processes_compile_once(tmp_path: Path) -> None:
    """Both begin as soon as both are ready; a listener hears of what is compiled alone.

    Functions that are made anew with other variables around them are never taken for one another,
    nor are those of one name.
    """
    (tmp_path / "program.py").write_text(TOGETHER, encoding="utf-8")
    environment: dict[str, str | None] = {
        "PYTHONPATH": str(PACKAGE.parent),
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
    }
    with ExitStack() as stack:
        both = {
            name: stack.enter_context(
                running("-W", "error", "program.py", name, cwd=tmp_path, environment=environment)
            )
            for name in ("first", "second")
        }
        for name, process in both.items():
            wait_until((tmp_path / name).exists, process)
        (tmp_path / "go").touch()
        lines = [process.communicate()[0] for process in both.values()]
    assert sorted(lines) == ["[('the middle', 1, 1)] 41 42 41 42\n", "[] 41 42 41 42\n"]


@pytest.mark.parametrize("variable", ["NUMBA_DISABLE_JIT", "SKYENV_PUBLIC_NUMBA"])
def test_without_the_compiler_or_its_internals(package: Path, variable: str) -> None:
    """Plain functions, or compiled ones; nothing announced, nothing on disk."""
    result = run(package, "-m", "player.parts.limits", **{variable: "1"})
    assert (result.stdout, result.stderr) == ("43 0\n", "")
    assert not (package / "cache").exists()


WITHOUT = """
from numba.core import compiler, registry
del {}
import player.parts.limits
print(type(player.parts.limits.limits))
"""


@needs_compiler
@pytest.mark.parametrize("name", ["compiler.CompileResult._rebuild", "registry.CPUDispatcher"])
def test_a_numba_without_the_internals_compiles_in_memory(package: Path, name: str) -> None:
    result = run(package, "-c", WITHOUT.format(name))
    assert result.stdout == "43 0\n<class 'numba.core.registry.CPUDispatcher'>\n"
    told = rf"skyenv: Numba \S+ is unknown \(.*{name.split('.')[-1]}.*\): compiling in memory\n"
    assert re.fullmatch(told, result.stderr)
    assert not (package / "cache").exists()


PLAYED = """
import hashlib
from skyenv import Games

for players, side in ((2, "front"), (4, "back")):
    games = Games(64, players, side, seed=5, observation=True)
    for salt in range(30):
        games.play_random(20, salt)
        print(*(hashlib.md5(array.tobytes()).hexdigest() for array in (
            games.state, games.mask, games.observation, games.reward)))
"""


@needs_compiler
@pytest.mark.long
def test_numbas_public_interface_plays_the_same_games() -> None:
    played = [
        python("-W", "error", "-c", PLAYED, environment={"SKYENV_PUBLIC_NUMBA": way})
        for way in (None, "1")
    ]
    assert [one.returncode for one in played] == [0, 0], played[1].stderr
    assert played[0].stdout == played[1].stdout


# ---- caches that fail ----


def failures(result: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the lines on stderr about a failing cache; there are no others but progress."""
    lines = [line for line in result.stderr.splitlines() if ": compiling " not in line]
    assert all(line.startswith("skyenv: the cache of compiled code fails (") for line in lines)
    return lines


LIMITED = """
import resource, runpy
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
runpy.run_module("player.parts.limits", run_name="__main__", alter_sys=True)
"""


@needs_compiler
def test_a_full_disk_disables_only_the_cache(package: Path) -> None:
    """No file may have more than 2,000 bytes."""
    pytest.importorskip("resource", reason="no limits of files on this system")
    result = run(package, "-c", LIMITED)
    assert (result.stdout, len(failures(result))) == ("43 0\n", 1)
    assert list((package / "cache").rglob("*.nbc*")) == [], "nothing half-written stays"


AS_NOBODY = """
import os, runpy, sys
import numba
sys.path[0], sys.dont_write_bytecode = os.getcwd(), True
# The libraries may lie where only root can read: they are loaded before.
import skyenv
numba.njit(lambda number: number + 1)(1)
for name in [name for name in sys.modules if name.partition(".")[0] == "skyenv"]:
    del sys.modules[name]
os.setgid(65534)
os.setuid(65534)
runpy.run_module("player.parts.limits", run_name="__main__", alter_sys=True)
"""


@needs_compiler
@pytest.mark.parametrize("is_full", [False, pytest.param(True, marks=pytest.mark.long)])
def test_users_without_write_access_read_the_cache(is_full: bool) -> None:
    """The tree belongs to root, and user `nobody` can't write anywhere in it; nor has it a home."""
    if not hasattr(os, "getuid") or os.getuid() != 0:
        pytest.skip("only root can become another user")
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to others
        folder = Path(name)
        shutil.copytree(PACKAGE, folder / "skyenv", ignore=shutil.ignore_patterns("__pycache__"))
        write_player(folder)
        folder.chmod(0o755)
        own = {"NUMBA_CACHE_DIR": None, "HOME": "/nonexistent", "XDG_CACHE_HOME": None}
        environment = {**own, "PYTHONPATH": name, "SKYENV_QUIET": None}
        if is_full:
            assert (
                python("-m", "player.parts.limits", cwd=folder, environment=environment).stderr
                == FIRST
            )
        # Libraries warn that environments are registered twice.
        seen = python("-W", "ignore", "-c", AS_NOBODY, cwd=folder, environment=environment)
        if "ModuleNotFoundError" in seen.stderr:
            pytest.skip("another user can't read the libraries")
    assert (seen.returncode, seen.stdout) == (0, "43 0\n"), seen.stderr
    assert len(failures(seen)) == (not is_full)
    assert ("compiling 1 of at least 3" in seen.stderr) == (not is_full)


# ---- rules and entry points ----


@needs_compiler
def test_integers_of_all_sizes_share_one_compilation() -> None:
    """A rule is compiled once for all integer fields; other kinds of records need other code."""

    @rule
    def field(record: Any, number: int) -> int:
        return int(record.first) + number

    @entry_point("a test")
    def total(records: Any, others: Any, numbers: Any, i: int) -> int:
        first = (
            field(records[i], numbers[i])
            + field(records[i], records[i].small)
            + field(records[i], records[i].wide)
        )
        return first + field(others[i], True) + field(others[i], 2**40)

    kinds = np.dtype([("first", np.int64), ("small", np.int8), ("wide", np.uint16)])
    records, others = (
        np.ones(1, kinds),
        np.ones(1, np.dtype([("first", np.int64), ("small", np.int8)])),
    )
    assert total(records, others, np.ones(1, np.int32), 0) == 9 + 2**40
    compiled: Any = field
    assert len(compiled.overloads) == 3, "for each kind of record, and for a truth value"


@needs_compiler
def test_everything_compiled_is_a_rule_or_an_entry_point() -> None:
    """Nothing uses Numba's own cache, and all compiled code is in packages whose sources are in the
    cache's key.
    """
    from numba.core.dispatcher import Dispatcher

    compiled: dict[int, Any] = {}
    for package in (skyenv, skyenv_agents):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.startswith("skyenv.envs") or module.name == "skyenv.__main__":
                continue  # they may need libraries that aren't installed; glue has no compiled code
            if module.name.startswith("skyenv.cuda"):
                continue  # the GPU's code is compiled when it is first called, and kept nowhere
            for thing in vars(importlib.import_module(module.name)).values():
                if isinstance(thing, Dispatcher):
                    compiled[id(thing)] = thing
    assert all(isinstance(thing, (Rule, EntryPoint)) for thing in compiled.values())
    entry_points = [thing for thing in compiled.values() if isinstance(thing, EntryPoint)]
    assert all(one.about for one in entry_points)
    places = {thing.py_func.__module__ or "skyenv.engine" for thing in compiled.values()}
    rooms = {".".join(place.split(".")[:2]) for place in places if place.startswith("skyenv.")}
    assert rooms == {"skyenv.rules", "skyenv.engine", "skyenv.solving"}
