"""Tables as text: columns for terminals, Markdown, LaTeX and CSV."""

import csv
import io
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

Rows = Sequence[Sequence[str]]

# Terminal width of the commands' output, in characters.
WIDTH: Final = 80


def counted(number: int, thing: str) -> str:
    """Return a number with its noun: ``"1 game"``, ``"1,008 games"``, ``"2 galleries"``."""
    several = f"{thing[:-1]}ies" if thing.endswith("y") else f"{thing}s"
    return f"{number:,} {thing if number == 1 else several}"


def columns(rows: Rows, left: int = 1, width: int = WIDTH) -> str:
    """Return a table in columns.

    Args:
        rows: the cells of each line, equally many; the first line is the header.
        left: number of columns aligned left; the others are aligned right.
        width: maximum width where possible; further columns continue below, with the left-aligned
            ones repeated.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    head = list(range(left))
    blocks: list[list[int]] = []
    for column in range(left, len(widths)):
        if not blocks or sum(widths[one] + 2 for one in [*blocks[-1], column]) - 2 > width:
            blocks.append(list(head))
        blocks[-1].append(column)
    return "\n\n".join(
        _block([[row[column] for column in block] for row in rows], left)
        for block in blocks or [head]
    )


def _block(rows: Rows, left: int) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows = [rows[0], ["─" * width for width in widths], *rows[1:]]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def wrapped(text: str, width: int = WIDTH) -> str:
    """Return a paragraph wrapped to lines of this width, where words allow it."""
    return textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)


def folded(command: str) -> str:
    """Return a command of :func:`shlex.join` in lines of at most WIDTH characters, where words
    allow it; none breaks after an option.
    """
    text = re.sub("'.*?'", lambda quoted: quoted[0].replace(" ", "\0"), command)
    text = re.sub(r"(?<= )(-\S+) (?!-)", "\\1\0", text)
    return wrapped(text, WIDTH - 6).replace("\n", " \\\n    ").replace("\0", " ")


def markdown(rows: Rows, align: str = "") -> str:
    """Return a table in Markdown.

    Args:
        rows: as for :func:`columns`.
        align: ``l`` or ``r`` for each column; "": all left.
    """
    marks = ["---:" if side == "r" else "---" for side in align or "l" * len(rows[0])]
    head, *body = (
        "|" + "|".join(f" {cell} " if cell else " " for cell in row) + "|" for row in rows
    )
    return "\n".join([head, f"|{'|'.join(marks)}|", *body])


def latex(rows: Rows, left: int = 1) -> str:
    """Return a table as a LaTeX tabular; `rows` and `left` as for :func:`columns`."""
    head, *body = (
        " & ".join(re.sub(r"[&%$#_{}]", r"\\\g<0>", cell) for cell in row) + r" \\" for row in rows
    )
    shape = "l" * left + "r" * (len(rows[0]) - left)
    lines = [rf"\begin{{tabular}}{{{shape}}}", r"\hline", head, r"\hline", *body, r"\hline"]
    return "\n".join([*lines, r"\end{tabular}", ""])


def csv_text(records: Sequence[Mapping[str, Any]]) -> str:
    """Return records with the same fields as CSV, with a header.

    Items of nested records and sequences are named ``NAME_FIELD`` and ``NAME_0``, the mean of an
    estimate ``NAME`` alone.
    """
    text, rows = io.StringIO(), [dict(_flat(record)) for record in records]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([[*rows[0]], *(row.values() for row in rows)])
    return text.getvalue()


def _flat(record: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for field, value in record.items():
        name = prefix[:-1] if field == "mean" else f"{prefix}{field}"
        if isinstance(value, (list, tuple)):
            value = dict(enumerate(value))
        yield from _flat(value, f"{name}_") if isinstance(value, Mapping) else [(name, value)]
