"""Tables as text: in columns for a terminal, and as Markdown; and numbers of things."""

from __future__ import annotations

from collections.abc import Sequence

Rows = Sequence[Sequence[str]]


def counted(number: int, thing: str) -> str:
    """So many things, of which `thing` is one: ``"1 game"``, ``"1,008 games"``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def columns(rows: Rows, left: int = 1) -> str:
    """A table in columns.

    Args:
        rows: the cells of each line, all as many; the first line is the head.
        left: so many columns stand flush left, the others right.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows = [rows[0], ["─" * width for width in widths], *rows[1:]]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def markdown(rows: Rows, align: str = "") -> str:
    """A table in Markdown.

    Args:
        rows: as for :func:`columns`.
        align: ``l`` or ``r`` for each column; "": all left.
    """
    marks = ["---:" if side == "r" else "---" for side in align or "l" * len(rows[0])]
    if any(len(row) != len(marks) for row in rows):
        raise ValueError(f"each row must have {len(marks)} columns")
    head, *body = ("|" + "|".join(f" {cell} " if cell else " " for cell in row) + "|" for row in rows)
    return "\n".join([head, f"|{'|'.join(marks)}|", *body])
