"""Compiled code: made once, kept on disk, announced, and never older than what it is made of."""

from __future__ import annotations

import importlib
import os
import pkgutil
import shutil
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import skyenv
import skyenv_agents
from processes import python, running, wait_until
from skyenv.engine import kernels
from skyenv.rules import auction, compiling, components, scoring
from skyenv.rules.compiling import COMPILED, EntryPoint, Fingerprint, Rule, entry_point, rule

PACKAGE = Path(skyenv.__file__).parent

needs_compiler = pytest.mark.skipif(not COMPILED, reason="NUMBA_DISABLE_JIT is set")

# A package of somebody else's. COM-10 comes from a file of skyenv's that Numba's own cache would
# not look at; so does `more` from another file of the package.
PLAYER = {
    "player/__init__.py": "",
    "player/more.py": """
from skyenv.rules.compiling import rule
MORE = 40

@rule
def more(number: int) -> int:
    return number + MORE
""",
    "player/limits.py": """
from player.more import more
from skyenv.rules.auction import build_limit
from skyenv.rules.compiling import entry_point
from skyenv.rules.state import new_games

@entry_point("what may be built", 2)
def limit(state, row):
    return build_limit(state[row], 0)

@entry_point("the limits", 1)
def limits(state):
    return more(limit(state, 0))

@entry_point("the turns", 0.1)
def turns(state):
    return state[0].turns

game = new_games(1)
game["supply"] = 9
game["bid_cards"][0, 0, 0, 0] = 1
print(limits(game), turns(game))
""",
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package, for itself in a folder, and beside it a package that uses it."""
    shutil.copytree(PACKAGE, tmp_path / "skyenv", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "player").mkdir()
    for name, text in PLAYER.items():
        (tmp_path / name).write_text(text)
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


@needs_compiler
@pytest.mark.rule("COM-10")
def test_whatever_changes_is_compiled_anew(package: Path) -> None:
    """Also if only a file has changed that the entry point's own imports; back again, the old code
    is right once more.
    """
    first = run(package, "-m", "player.limits")
    assert first.stdout == "43 0\n"
    assert run(package, "-m", "player.limits").stderr == "", "the second time everything is on disk"
    rules, helper = package / "skyenv" / "rules" / "components.py", package / "player" / "more.py"
    replace_in(rules, "np.array([3, 2, 1]", "np.array([2, 2, 1]")
    changed = run(package, "-m", "player.limits", SKYENV_QUIET="1")
    assert changed.stdout == "42 0\n", "a constant of the rules"
    assert changed.stderr == "", "SKYENV_QUIET silences it"
    replace_in(helper, "MORE = 40", "MORE = 50")
    assert run(package, "-m", "player.limits").stdout == "52 0\n", (
        "a constant of another file of the same package"
    )
    replace_in(helper, "number + MORE", "number - MORE")
    assert run(package, "-m", "player.limits").stdout == "-48 0\n", "a function there"
    replace_in(rules, "np.array([2, 2, 1]", "np.array([3, 2, 1]")
    replace_in(helper, "number - MORE", "number + MORE")
    replace_in(helper, "MORE = 50", "MORE = 40")
    back = run(package, "-m", "player.limits")
    assert (back.stdout, back.stderr) == ("43 0\n", ""), "the first code is still on disk"


@needs_compiler
def test_compilation_is_announced(package: Path) -> None:
    """What it is and how long it takes, with what else has to be compiled for it and isn't there;
    not if it is short.
    """
    first = run(package, "-m", "player.limits")
    assert first.stderr == "skyenv: compiling the limits, once, about 3 s …\n"
    replace_in(package / "player" / "more.py", "MORE = 40", "MORE = 50")
    again = run(package, "-m", "player.limits")
    assert again.stderr == "skyenv: compiling the limits, once, about 1 s …\n", (
        "the other one doesn't use what has changed"
    )


TOGETHER = """
import sys, time
from pathlib import Path

import numpy as np

from skyenv.rules.compiling import entry_point

@entry_point("the middle", 1)
def middle(numbers):
    return np.sort(numbers)[len(numbers) // 2]

Path(sys.argv[1]).touch()
while not Path("go").exists():
    time.sleep(0.001)
assert middle(np.array([3, 1000, 20])) == 20
print(sum(middle.stats.cache_misses.values()))
"""


@needs_compiler
def test_of_several_processes_one_compiles_and_the_others_load(tmp_path: Path) -> None:
    """Both begin as soon as both are ready; by themselves they would both compile."""
    (tmp_path / "program.py").write_text(TOGETHER, encoding="utf-8")
    environment = {"PYTHONPATH": str(PACKAGE.parent), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
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
        outputs = [process.communicate()[0] for process in both.values()]
    assert [process.returncode for process in both.values()] == [0, 0]
    assert sorted(map(int, outputs)) == [0, 1]


def test_importing_compiles_nothing(package: Path) -> None:
    """Nor does it say anything."""
    result = run(package, "-c", "import skyenv")
    assert (result.stdout, result.stderr) == ("", "")
    assert not (package / "cache").exists() or not list((package / "cache").rglob("*.nbc"))


def test_without_the_compiler(package: Path) -> None:
    """NUMBA_DISABLE_JIT: plain functions, nothing announced, nothing on disk."""
    result = run(package, "-m", "player.limits", NUMBA_DISABLE_JIT="1")
    assert (result.stdout, result.stderr) == ("43 0\n", "")
    assert not (package / "cache").exists()


# ---- fingerprints ----


def made(source: str, **names: Any) -> Callable[..., Any]:
    """The function `f` of a source text with these global variables."""
    exec(source, names)
    function: Callable[..., Any] = names["f"]
    return function


def digest(source: str, **names: Any) -> str:
    return Fingerprint(made(source, **names)).digest()


def test_a_fingerprint_tells_all_that_is_compiled_in() -> None:
    """Code, constants, global variables, defaults, closures, called functions and theirs; records
    of other shapes.
    """
    calls = "def f(a):\n    return g(a) + N"
    inside, outside = "def f(a):\n    return a", "def f(a):\n    return a + 1"
    wrapped = "def make(n):\n    def f(a):\n        return a + n\n    return f\nf = make({})"
    module, other = ModuleType("settings"), ModuleType("settings")
    vars(module)["SIZE"], vars(other)["SIZE"] = 1, 2
    different = [
        digest(inside),
        digest(outside),
        digest("def f(a):\n    return a + 2"),
        digest("def f(a, b=1):\n    return a"),
        digest("def f(a, b=2):\n    return a"),
        digest(wrapped.format(1)),
        digest(wrapped.format(2)),
        digest("def f(a):\n    return a + settings.SIZE", settings=module),
        digest("def f(a):\n    return a + settings.SIZE", settings=other),
        digest("def f(a):\n    return math.exp(a)", math=importlib.import_module("math")),
        digest("def f(a):\n    return math.log(a)", math=importlib.import_module("math")),
        *(digest(calls, g=made(inside), N=number) for number in (1, 2, 1.0, True, (1, 2), (2, 1))),
        *(
            digest(calls, g=made(inside), N=np.array(number, dtype))
            for number in ([1], [2])
            for dtype in (np.int8, np.int64)
        ),
        *(
            digest(
                calls, g=made(inside), N=np.dtype([("x", np.int8), ("y", np.int64)], align=align)
            )
            for align in (True, False)
        ),
        digest(calls, g=made(outside), N=1),
        digest(calls, g=rule(made(inside)), N=1) if COMPILED else "rule",
    ]
    assert len(set(different)) == len(different)


def test_a_fingerprint_tells_nothing_else() -> None:
    """Comments, texts, lines, other global variables: none of them needs another compilation."""
    plain = "def f(a):\n    return a + N"
    assert digest(plain, N=1) == digest(plain, N=1, M=2)
    assert digest(plain, N=1) == digest(
        '\n\ndef f(a):\n    """Text."""\n    # remark\n    return a + N', N=1
    )


def test_what_can_not_be_told_apart_is_refused() -> None:
    with pytest.raises(
        TypeError, match=r"compiled code can't use .*: nobody could tell whether it has changed"
    ):
        digest("def f(a):\n    return a + N", N=object())
    assert digest("def f(a):\n    return a.N", N=object()), "a field of that name is something else"


def test_a_fingerprint_knows_the_versions_of_what_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the compiler, and of what lays out records."""
    digests = {digest("def f(a):\n    return a")}
    for library in ("numba", "numpy"):
        with monkeypatch.context() as patch:
            patch.setattr(f"{library}.__version__", "0.0.1")
            digests.add(digest("def f(a):\n    return a"))
    assert len(digests) == 3


def plain(function: Any) -> Any:
    """A function as it is without the compiler."""
    return getattr(function, "py_func", function)


@needs_compiler  # in plain Python other things stand in for instructions
def test_every_rule_is_part_of_what_plays_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of any function that takes part, however deep below, and of a constant gives another
    fingerprint.
    """
    before = Fingerprint(kernels.play_rows).digest()
    things = [
        thing
        for module in (auction, scoring)
        for thing in vars(module).values()
        if hasattr(plain(thing), "__code__")
    ]
    rules = [thing for thing in things if plain(thing).__module__ != compiling.__name__]
    assert len(rules) > 40
    for function in rules:
        code = plain(function).__code__
        plain(function).__code__ = code.replace(co_consts=(*code.co_consts, 12345))
        changed = Fingerprint(kernels.play_rows).digest()
        plain(function).__code__ = code
        assert changed != before, plain(function).__name__
    assert Fingerprint(kernels.play_rows).digest() == before
    monkeypatch.setattr(auction, "BUILD_LIMIT", components.BUILD_LIMIT + 1)
    assert Fingerprint(kernels.play_rows).digest() != before


# ---- rules and entry points ----


@needs_compiler
def test_whole_numbers_of_all_sizes_are_one_kind_of_argument() -> None:
    """A rule is compiled once, whatever fields its arguments come from; records of other kinds need
    other code.
    """

    @rule
    def field(record: Any, number: int) -> int:
        return int(record.first) + number

    @entry_point("a test", 0.1)
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
def test_python_can_not_call_a_rule() -> None:
    with pytest.raises(
        TypeError, match="build_limit is compiled into other functions; Python can't call it"
    ):
        auction.build_limit(np.zeros(1), 0)  # type: ignore[arg-type]


@needs_compiler
def test_everything_compiled_is_a_rule_or_an_entry_point() -> None:
    """Nothing has Numba's own cache, which looks at one file alone; everything that is waited for
    has been measured.
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
    assert len(entry_points) > 20
    assert all(one.about and one.seconds > 0 for one in entry_points)
    for file in (PACKAGE / "envs").rglob("*.py"):
        assert "numba" not in file.read_text(encoding="utf-8")
