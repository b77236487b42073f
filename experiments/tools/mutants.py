"""Would the tests notice a mistake in the rules? ``python -m experiments.tools.mutants --number 300 --out runs/mutants``.

Makes small mistakes in functions of ``skyenv/rules`` (another operator, a constant off by one, a condition turned round, a call
left out), one at a time, in a copy of the project, and lets the copy be judged until somebody objects: the golden records are
replayed; new games are recorded and checked by the referee; the tests of the rules run. The copy plays without the compiler,
which gives the same games bit for bit (``tests/test_uncompiled.py``), as compiling each mutant would take most of the time.

A mutant that nobody objects to is told with its line: a test is missing, or the mistake makes no difference. Results stand in
FOLDER/mutants.jsonl, a line each; the same command goes on where it was stopped.
"""

from __future__ import annotations

import ast
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from tqdm import tqdm

from skyenv.commands import INTERRUPTED, complain, exit_code
from skyenv.options import Options, option, parse

ROOT: Final = Path(__file__).resolve().parents[2]
RULES: Final = Path("skyenv") / "rules"
COPIED: Final = ("skyenv", "tests", "pyproject.toml")
LEFT_OUT: Final = ("board.py", "chacha.py", "compiling.py", "__init__.py")
"""Files that aren't rules: they read board files, make agents' random numbers, and compile."""

COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip
OPERATORS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.Div: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitOr, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip

JUDGE: Final = """
import glob, subprocess, sys
from skyenv.cli import main

def object_if(failed, who):
    if failed:
        print(who)
        sys.exit(3)

for record in sorted(glob.glob("tests/golden/*.jsonl")):
    object_if(main(["verify", record]) != 0, "golden records")
for players in ("2", "3", "4"):
    for side in ("front", "back"):
        table = ["--players", players, "--side", side, "--max-turns", "60", "--games", "2", "--seed", "11", "--legal"]
        for agents in ("random", "crowd", "hoard"):
            object_if(main(["record", *table, "--agents", agents, "-o", "new.jsonl"]) != 0, "new games")
            referee = subprocess.run([sys.executable, "tests/referee.py", "new.jsonl"], capture_output=True)
            object_if(referee.returncode != 0, "the referee")
tests = subprocess.run([sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "tests/rules"], capture_output=True)
object_if(tests.returncode != 0, "tests of the rules")
"""


@dataclass(frozen=True)
class Plan(Options):
    """What is tried."""

    number: int = option(300, "mutants, drawn at random among all", low=1, high=10**6)
    seed: int = option(1, "seed of the draw")
    workers: int = option(os.cpu_count() or 1, "processes", low=1, high=1024)
    seconds: float = option(900.0, "time after which a mutant counts as caught, as it runs for ever", above=True)
    out: Path = option(Path("runs/mutants"), "where results are written", metavar="FOLDER")


@dataclass(frozen=True)
class Mutant:
    """One small mistake.

    Attributes:
        file: name in skyenv/rules.
        number: which of the file's mutants, counted from 0.
        line: where it is.
        before, after: the code there.
    """

    file: str
    number: int
    line: int
    before: str
    after: str


def mutated(tree: ast.Module) -> Iterator[tuple[int, str, str, ast.Module]]:
    """Every mutant of a module: its line, the code before and after, and the whole module with it."""
    places = [
        place
        for function in tree.body
        if isinstance(function, ast.FunctionDef)
        for statement in function.body
        for place in ast.walk(statement)
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))  # the docstring
    ]
    for place in places:
        for change in _changes(place):
            original = copy.copy(place.__dict__)
            before = ast.unparse(place)
            place.__dict__.update(change)
            after = ast.unparse(place)
            yield getattr(place, "lineno", 0), before.splitlines()[0], after.splitlines()[0], tree
            place.__dict__.clear()
            place.__dict__.update(original)


def _changes(place: ast.AST) -> Iterator[dict[str, object]]:
    """What can be made wrong at a node, as new values of its fields."""
    if isinstance(place, ast.Compare):
        for i, comparison in enumerate(place.ops):
            if type(comparison) in COMPARISONS:
                yield {"ops": [*place.ops[:i], COMPARISONS[type(comparison)](), *place.ops[i + 1 :]]}
    elif isinstance(place, ast.BinOp | ast.AugAssign) and type(place.op) in OPERATORS:
        yield {"op": OPERATORS[type(place.op)]()}
    elif isinstance(place, ast.BoolOp):
        yield {"op": ast.Or() if isinstance(place.op, ast.And) else ast.And()}
    elif isinstance(place, ast.If | ast.While | ast.IfExp):
        yield {"test": ast.UnaryOp(ast.Not(), place.test)}
    elif isinstance(place, ast.Constant) and type(place.value) is int:
        yield {"value": place.value + 1}
    elif isinstance(place, ast.Expr) and isinstance(place.value, ast.Call):
        yield {"value": ast.Constant(None)}


def all_mutants() -> list[Mutant]:
    """Every mutant of the rules, file by file."""
    found = []
    for path in sorted((ROOT / RULES).glob("*.py")):
        if path.name not in LEFT_OUT:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found += [
                Mutant(path.name, number, line, before, after) for number, (line, before, after, _) in enumerate(mutated(tree))
            ]
    return found


def source_of(mutant: Mutant) -> str:
    """The whole file with the mistake."""
    tree = ast.parse((ROOT / RULES / mutant.file).read_text(encoding="utf-8"))
    for number, (*_, module) in enumerate(mutated(tree)):
        if number == mutant.number:
            return ast.unparse(ast.fix_missing_locations(module))
    raise IndexError(f"{mutant.file} has no mutant {mutant.number}")


def judged(mutant: Mutant | None, seconds: float = 900.0) -> str:
    """Who objects to a mutant (to the rules as they are: None); "" if nobody does."""
    with tempfile.TemporaryDirectory(prefix="skyenv-mutant-") as name:
        folder = Path(name)
        for part in COPIED:
            if (ROOT / part).is_dir():
                shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / part, folder)
        if mutant is not None:
            (folder / RULES / mutant.file).write_text(source_of(mutant), encoding="utf-8")
        # The folder comes first on the path, before an installed skyenv.
        environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "SKYENV_QUIET": "1", "PYTHONPATH": name}
        command = [sys.executable, "-c", JUDGE]
        try:
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            return "the clock"
    if done.returncode == 0:
        return ""
    return done.stdout.splitlines()[-1] if done.returncode == 3 else "Python"


def survivors(plan: Plan) -> list[Mutant] | None:
    """Judge the mutants of a plan, or what is left of them, and tell which nobody objects to; None: interrupted."""
    chosen = all_mutants()
    random.Random(plan.seed).shuffle(chosen)
    chosen = chosen[: plan.number]
    plan.out.mkdir(parents=True, exist_ok=True)
    log = plan.out / "mutants.jsonl"
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []
    caught = {Mutant(**line["mutant"]): line["caught"] for line in lines}
    left = [mutant for mutant in chosen if mutant not in caught]
    pool = ThreadPoolExecutor(plan.workers)
    try:
        jobs = {pool.submit(judged, mutant, plan.seconds): mutant for mutant in left}
        with log.open("a", encoding="utf-8") as file, tqdm(total=len(chosen), initial=len(chosen) - len(left), unit="") as bar:
            for job in as_completed(jobs):
                caught[jobs[job]] = job.result()
                print(json.dumps({"mutant": asdict(jobs[job]), "caught": job.result()}), file=file, flush=True)
                bar.update()
    except KeyboardInterrupt:
        pool.shutdown(wait=False, cancel_futures=True)
        return None
    return [mutant for mutant in chosen if not caught[mutant]]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code: 0 all right, 1 the rules as they are don't pass, 2 the command is wrong."""

    def run() -> int:
        plan = parse(Plan, "experiments.tools.mutants", "Make mistakes in the rules and see who notices.", arguments)
        objection = judged(None)
        if objection:
            complain("mutants", f"the rules as they are don't pass: {objection}")
            return 1
        missed = survivors(plan)
        if missed is None:
            complain("mutants", "interrupted; the same command goes on")
            return INTERRUPTED
        for mutant in missed:
            print(f"{RULES / mutant.file}:{mutant.line}: {mutant.before}  →  {mutant.after}")
        print(f"{plan.number - len(missed)} of {plan.number} mutants caught ({1 - len(missed) / plan.number:.1%})")
        return 0

    return exit_code("mutants", run)


if __name__ == "__main__":
    sys.exit(main())
