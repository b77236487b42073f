"""Would the tests notice a mistake in the rules? ``python -m experiments.tools.mutants --number 300
--out runs/mutants``.

Makes small mistakes in functions of ``skyenv/rules``, one at a time: another operator, constant or
condition, a call left out. SUITES judge each, in a fork of a process that has run them once on the
rules as they are: the golden records, then the tests of the rules and new games with the referee,
then what the engine shows of them.
All of it plays in plain Python, which gives the same games bit for bit.

Results stand in FOLDER/mutants.jsonl, a line each; the same command goes on where it was stopped.
Mutants that no test notices are printed. Exit codes: 0 done, 1 the rules as they are don't pass, 2
the command is wrong.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
RULES: Final = ROOT / "skyenv" / "rules"
LEFT_OUT: Final = ("board.py", "chacha.py", "compiling.py", "__init__.py")
"""Files without rules: board files, random numbers of agents, the compiler."""
UNFIT: Final = " and ".join(
    f"not {name}" for name in ("test_compiling", "test_cuda", "few_games", "crowd", "hoard")
)
"""Tests that judge something else than rules, and the longest new games, as pytest's ``-k``."""
SUITES: Final = {
    "golden": ("tests/records/test_replay.py", "-k", "golden"),
    "tests": (
        *("tests/rules", "tests/test_referee_fuzz.py"),
        *("-k", UNFIT, "-m", "not long and not compiled"),
    ),
    "engine": (
        *(
            "tests/test_game.py",
            "tests/records/test_replay.py",
            "tests/knowledge/test_knowledge.py",
        ),
        *("-m", "not long and not compiled and not programs"),
    ),
}
"""Arguments of pytest, by name."""
FLAGS: Final = ("-x", "-o", "addopts=", "-p", "no:terminal", "-p", "no:cacheprovider")
LONGEST: Final = 900.0
"""Seconds of processor time in which a mutant is judged."""
SWAPS: Final[dict[type[ast.AST], type[ast.AST]]] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.And: ast.Or, ast.Or: ast.And},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult},
    **{ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.LShift: ast.RShift},
    **{ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd},
    ast.BitXor: ast.BitOr,
}


# ---- mistakes ----


@dataclass(frozen=True)
class Mutant:
    """One small mistake: its file in skyenv/rules, its number there, its function and line, and the
    code before and after.
    """

    file: str
    number: int
    function: str
    line: int
    before: str
    after: str


def mutants_of(file: Path) -> Iterator[tuple[Mutant, ast.Module]]:
    """Yield every mutant of a file, and the whole module with it (until the next one)."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    number = 0
    for function in tree.body:
        if not isinstance(function, ast.FunctionDef):
            continue
        documented = ast.get_docstring(function) is not None
        statements = function.body[documented:]
        for place in (place for statement in statements for place in ast.walk(statement)):
            for change in _changes(place):
                original, before = copy.copy(place.__dict__), ast.unparse(place)
                place.__dict__.update(change)
                after, line = ast.unparse(place), getattr(place, "lineno", 0)
                lines = before.splitlines()[0], after.splitlines()[0]
                yield Mutant(file.name, number, function.name, line, *lines), tree
                number += 1
                place.__dict__.clear()
                place.__dict__.update(original)


def _changes(place: ast.AST) -> Iterator[dict[str, object]]:
    """Yield what can be made wrong at a node, as new values of its fields."""
    if isinstance(place, ast.Compare):
        for i, comparison in enumerate(place.ops):
            if type(comparison) in SWAPS:
                yield {"ops": [*place.ops[:i], SWAPS[type(comparison)](), *place.ops[i + 1 :]]}
    elif isinstance(place, ast.BinOp | ast.AugAssign | ast.BoolOp) and type(place.op) in SWAPS:
        yield {"op": SWAPS[type(place.op)]()}
    elif isinstance(place, ast.If | ast.While | ast.IfExp):
        yield {"test": ast.UnaryOp(ast.Not(), place.test)}
    elif isinstance(place, ast.Constant) and type(place.value) is int:
        yield {"value": place.value + 1}
    elif isinstance(place, ast.Expr) and isinstance(place.value, ast.Call):
        yield {"value": ast.Constant(None)}


def all_mutants() -> list[Mutant]:
    """Return every mutant of the rules, file by file."""
    files = [path for path in sorted(RULES.glob("*.py")) if path.name not in LEFT_OUT]
    return [mutant for file in files for mutant, _ in mutants_of(file)]


def install(mutant: Mutant) -> None:
    """Put a mutant in the place of the rules of this process."""
    tree = next(tree for one, tree in mutants_of(RULES / mutant.file) if one == mutant)
    module = sys.modules[f"skyenv.rules.{Path(mutant.file).stem}"]
    made: dict[str, Any] = {"__name__": module.__name__}
    exec(compile(ast.fix_missing_locations(tree), str(module.__file__), "exec"), made)
    for name, value in made.items():
        old = vars(module).get(name)
        if isinstance(value, FunctionType) and value.__module__ == module.__name__:
            assert isinstance(old, FunctionType)
            old.__code__ = value.__code__
        elif not isinstance(value, type) and not name.startswith("__") and repr(value) != repr(old):
            for other in [one for one in sys.modules.values() if isinstance(one, ModuleType)]:
                for held in [held for held, one in vars(other).items() if one is old]:
                    setattr(other, held, value)


# ---- judging ----


def judged(mutant: Mutant) -> str:
    """Return, from a fork of this process, the first of SUITES with a test that fails, "the clock"
    if a suite takes too long, "Python" if the process dies, or "".
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            install(mutant)
            signal.setitimer(signal.ITIMER_PROF, LONGEST)
            os.write(writer, f"{failing()}.".encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as file:
        told = file.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF:
        return "the clock"
    return told.removesuffix(".") if told else "Python"


def failing() -> str:
    """Run the suites in this process; return the name of the first that fails, or ""."""
    for name, words in SUITES.items():
        if pytest.main([f"--rootdir={ROOT}", *FLAGS, *words]) != pytest.ExitCode.OK:
            return name
        if fuzz := sys.modules.get("test_referee_fuzz"):
            vars(fuzz)["QUICK_GAMES"] = 1
    return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit code (see the module's text)."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.tools.mutants", description="Make mistakes in the rules."
    )
    parser.add_argument("--number", type=int, default=300, help="mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="mutants at a time")
    parser.add_argument("--out", type=Path, default=Path("runs/mutants"), metavar="FOLDER")
    options = parser.parse_args(arguments)
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "SKYENV_QUIET": "1"}
        command = [sys.executable, "-m", "experiments.tools.mutants"]
        return subprocess.call([*command, *(arguments or sys.argv[1:])], env=environment)
    if failed := failing():
        print(f"the rules as they are don't pass: {failed}")
        return 1
    options.out.mkdir(parents=True, exist_ok=True)
    log = options.out / "mutants.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    caught = {Mutant(**line["mutant"]): line["caught"] for line in map(json.loads, lines)}
    chosen = all_mutants()
    random.Random(options.seed).shuffle(chosen)
    chosen = chosen[: options.number]
    left = [mutant for mutant in chosen if mutant not in caught]
    with ThreadPoolExecutor(options.workers) as pool, log.open("a", encoding="utf-8") as file:
        for mutant, name in zip(left, pool.map(judged, left), strict=True):
            caught[mutant] = name
            line = json.dumps({"mutant": asdict(mutant), "caught": name})
            print(line, file=file, flush=True)
    missed = [mutant for mutant in chosen if not caught[mutant]]
    for one in missed:
        print(f"skyenv/rules/{one.file}:{one.line}: {one.before}  →  {one.after}")
    print(f"{len(chosen) - len(missed)} of {len(chosen)} mutants caught")
    return 0


if __name__ == "__main__":
    sys.exit(main())
