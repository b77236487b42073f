"""Small mistakes in functions of ``skyenv/rules``: an operator, a constant, a condition or a call
is wrong.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
RULES: Final = Path("skyenv") / "rules"
LEFT_OUT: Final = ("board.py", "chacha.py", "compiling.py", "__init__.py")
"""Files that aren't rules: they read board files, make agents' random numbers, and compile."""

COMPARISONS: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
OPERATORS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}


@dataclass(frozen=True)
class Mutant:
    """One small mistake.

    Attributes:
        file: name in skyenv/rules.
        number: which of the file's mutants, counted from 0.
        function: where it is.
        line: and in which line.
        before, after: the code there.
    """

    file: str
    number: int
    function: str
    line: int
    before: str
    after: str


def mutated(tree: ast.Module) -> Iterator[tuple[str, int, str, str, ast.Module]]:
    """Every mutant of a module: its function, its line, the code before and after, and the whole
    module with it.
    """
    for function in tree.body:
        if not isinstance(function, ast.FunctionDef):
            continue
        documented = ast.get_docstring(function) is not None
        for place in (
            place for statement in function.body[documented:] for place in ast.walk(statement)
        ):
            for change in _changes(place):
                original = copy.copy(place.__dict__)
                before = ast.unparse(place)
                place.__dict__.update(change)
                after = ast.unparse(place)
                yield (
                    function.name,
                    getattr(place, "lineno", 0),
                    before.splitlines()[0],
                    after.splitlines()[0],
                    tree,
                )
                place.__dict__.clear()
                place.__dict__.update(original)


def _changes(place: ast.AST) -> Iterator[dict[str, object]]:
    """What can be made wrong at a node, as new values of its fields."""
    if isinstance(place, ast.Compare):
        for i, comparison in enumerate(place.ops):
            if type(comparison) in COMPARISONS:
                yield {
                    "ops": [*place.ops[:i], COMPARISONS[type(comparison)](), *place.ops[i + 1 :]]
                }
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
    mutants = []
    for path in sorted((ROOT / RULES).glob("*.py")):
        if path.name not in LEFT_OUT:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for number, (function, line, before, after, _) in enumerate(mutated(tree)):
                mutants.append(Mutant(path.name, number, function, line, before, after))
    return mutants


def source_of(mutant: Mutant) -> str:
    """The whole file with the mistake."""
    tree = ast.parse((ROOT / RULES / mutant.file).read_text(encoding="utf-8"))
    for number, (*_, module) in enumerate(mutated(tree)):
        if number == mutant.number:
            return ast.unparse(ast.fix_missing_locations(module))
    raise IndexError(f"{mutant.file} has no mutant {mutant.number}")
