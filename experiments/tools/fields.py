"""The fields of records as tables for the docs: names and types from the dtype, meanings from the
comments beside its source.
"""

from __future__ import annotations

import ast
import inspect
import io
import tokenize
from types import ModuleType

import numpy as np

from skyenv.tables import markdown

SECTION = "--"
"""What a comment begins with that is a heading of the fields below it."""
SPARE = "spare"
"""The field that only fills a record."""


def comments(source: str) -> dict[int, str]:
    """The comments of a source, by line, without their ``#``."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {
        token.start[0]: token.string.lstrip("# ")
        for token in tokens
        if token.type == tokenize.COMMENT
    }


def meanings(module: ModuleType, name: str) -> list[tuple[str, str]]:
    """What the source of a dtype says of its fields, in their order: name and meaning; headings
    have no name.

    Args:
        module: in which the dtype is defined, by a list of tuples. name: of the dtype.

    Raises:
        ValueError: there is no such definition.
    """
    source = inspect.getsource(module)
    listed = next(
        (
            node.value.args[0].elts
            for node in ast.parse(source).body
            if isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and node.target.id == name
            if isinstance(node.value, ast.Call) and isinstance(node.value.args[0], ast.List)
        ),
        None,
    )
    if not listed:
        raise ValueError(f"{module.__name__} has no list of fields called {name}")
    said = comments(source)
    ends = [field.lineno for field in listed[1:]] + [
        listed[-1].end_lineno + 1 if listed[-1].end_lineno else 0
    ]
    found = (
        [("", said[listed[0].lineno - 1].lstrip("- "))]
        if said.get(listed[0].lineno - 1, "").startswith(SECTION)
        else []
    )
    for field, end in zip(listed, ends, strict=True):
        assert isinstance(field, ast.Tuple)
        assert isinstance(field.elts[0], ast.Constant)
        lines = [said[line] for line in range(field.lineno, end) if line in said]
        found.append(
            (
                str(field.elts[0].value),
                " ".join(line for line in lines if not line.startswith(SECTION)),
            )
        )
        found += [("", line.lstrip("- ")) for line in lines if line.startswith(SECTION)]
    return found


def fields_table(module: ModuleType, name: str) -> str:
    """The fields of a record in Markdown: names, types with shapes, meanings; headings stand in
    lines of their own.

    Args:
        module: in which the dtype is defined. name: of the dtype.

    Raises:
        ValueError: there is no such definition, or a field has no meaning beside it.
    """
    dtype: np.dtype[np.void] = getattr(module, name)
    rows = [["field", "type", "meaning"]]
    for field, meaning in meanings(module, name):
        if not field:
            rows.append([f"**{meaning}**", "", ""])
        elif field != SPARE:
            if not meaning:
                raise ValueError(f"nothing is said of {field} in {name}")
            rows.append([f"`{field}`", _type(dtype[field]), meaning])
    return markdown(rows)


def _type(dtype: np.dtype[np.generic]) -> str:
    base, shape = dtype.base, dtype.shape
    name = "record" if base.names else base.name
    return f"{name} {shape}" if shape else name
