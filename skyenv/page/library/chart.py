"""SVG charts of a game: each seat's VP, VP if scored now, and chance to win, by step."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from skyenv.render.words import seat_label, seat_name

WIDTH: Final = 720
# Width on phones, where drawings aren't scaled down.
NARROW: Final = 360
HEIGHT: Final = 224
LEFT: Final = 52
RIGHT: Final = 12
TOP: Final = 40
BOTTOM: Final = 24
# Width and height of a seat's label, above the plot.
LABEL: Final = 145, 15
# The dashes of each seat's line: lines differ by these as well as by colour.
DASHES: Final = ("none", "7 3", "2 3", "10 3 2 3")
# Longest name, in characters.
LONGEST: Final = 11

Height = Callable[[float], float]
# `[step][seat]`; None: not known yet.
Rows = Sequence[Sequence[float | None]]


@dataclass(frozen=True)
class Kind:
    """The quantity of a chart.

    Attributes:
        name: its label.
        percent: whether values are shares from 0 to 1; else the axis ends at a multiple of 20.
    """

    name: str
    percent: bool = False

    def shown(self, number: float | None) -> str:
        """Return a value as text for the axis and the labels."""
        if number is None:
            return "–"
        return f"{100 * number:.0f}\u00a0%" if self.percent else f"{number:.0f}"

    def texts(self, row: Sequence[float | None]) -> list[str]:
        """Return every seat's value as text; shares are rounded by largest remainders, so that
        those of a whole add up to 100 %.
        """
        exact = [100 * (number or 0.0) for number in row]
        seats = sorted(range(len(row)), key=lambda seat: int(exact[seat]) - exact[seat])
        up = seats[: round(sum(exact)) - sum(map(int, exact))] if self.percent else ()
        return [
            self.shown(
                (int(exact[seat]) + (seat in up)) / 100 if number and self.percent else number
            )
            for seat, number in enumerate(row)
        ]


VP: Final = Kind("VP")
NOW: Final = Kind("VP if all districts were scored now")
WIN: Final = Kind("Chance to win", True)


def chart(
    rows: Rows,
    names: Sequence[str],
    kind: Kind = VP,
    width: int = WIDTH,
    marks: Iterable[tuple[int, int]] = (),
) -> str:
    """Draw a quantity of every seat over the steps of a game.

    Colours come from the page's style sheet by the classes ``seat-0`` … ``seat-3``, ``axis``,
    ``mark`` and ``cursor``.

    Args:
        rows: the values, at least 0.
        names: the players' names by seat.
        kind: the quantity.
        width: width of the drawing; its text has the same size in all.
        marks: steps and seats to mark on the lines.

    Returns:
        An SVG element, width × HEIGHT; its ``data-left`` and ``data-right`` are the x coordinates
        of the first and the last step.
    """
    steps, last = max(len(rows) - 1, 1), width - RIGHT
    highest = max((number for row in rows for number in row if number is not None), default=0)
    top = 1 if kind.percent else max(20, -(-int(highest) // 20) * 20)
    scale_x = (last - LEFT) / steps

    def y(number: float) -> float:
        return round(HEIGHT - BOTTOM - number * (HEIGHT - TOP - BOTTOM) / top, 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {width} {HEIGHT}"'
        f' role="img" aria-label="{escape(_in_words(rows[-1], names, kind))}"'
        f' data-left="{LEFT}" data-right="{last}">'
    ]
    for quarter in range(5):
        number = top * quarter / 4
        parts.append(f'<path class="axis" d="M{LEFT} {y(number)}H{last}"/>')
        parts.append(
            f'<text class="axis" x="{LEFT - 6}" y="{y(number) + 4}" text-anchor="end">'
            f"{kind.shown(number)}</text>"
        )
    parts.append(
        f'<text class="axis" x="{LEFT}" y="{HEIGHT - 5}">{escape(kind.name)}, '
        f"{steps} actions</text>"
    )
    for seat in range(len(names)):
        parts.append(_line([row[seat] for row in rows], seat, scale_x, y))
    for step, seat in marks:
        number = rows[step][seat] or 0.0
        parts.append(
            f'<circle class="mark seat-{seat}" cx="{round(LEFT + step * scale_x, 1)}" '
            f'cy="{y(number)}" r="4"/>'
        )
    parts += _labels(rows, names, kind, last)
    parts.append(
        f'<path class="cursor" d="M0 {TOP}V{HEIGHT - BOTTOM}" transform="translate({LEFT})"/></svg>'
    )
    return "".join(parts)


def _line(numbers: Sequence[float | None], seat: int, scale_x: float, y: Height) -> str:
    """Draw a seat's line from the first to the last known value; `scale_x`: the width of a step."""
    x = 0.0
    points: list[str] = []
    before: float | None = None
    for step, number in enumerate(numbers):
        if number is None:
            continue
        x = round(LEFT + step * scale_x, 1)
        if number != before:
            points.append(f"H{x}V{y(number)}" if points else f"M{x} {y(number)}")
            before = number
    if not points:
        return ""
    points.append(f"H{x:g}")
    return (
        f'<path class="line seat-{seat}" d="{"".join(points)}" stroke-dasharray="{DASHES[seat]}"/>'
    )


def _labels(rows: Rows, names: Sequence[str], kind: Kind, last: int) -> list[str]:
    """Draw the names and last values above the plot, in as many columns as fit. The page shows the
    values at the cursor, of those that ``data-values`` has by step.
    """
    width, height = LABEL
    called = [
        f"{seat_label(seat)} {name[:LONGEST]}" if name else seat_name(seat)
        for seat, name in enumerate(names)
    ]
    columns = (last - LEFT) // width
    values = [kind.texts(row) for row in rows]
    return [
        f'<text class="label seat-{seat}" x="{LEFT + seat % columns * width}"'
        f' y="{height * (1 + seat // columns) - 3}">'
        f'{escape(name)} · <tspan data-values="{",".join(row[seat] for row in values)}">'
        f"{values[-1][seat]}</tspan></text>"
        for seat, name in enumerate(called)
    ]


def _in_words(numbers: Sequence[float | None], names: Sequence[str], kind: Kind) -> str:
    ends = ", ".join(
        f"{seat_name(seat)} {names[seat]}: {value}"
        for seat, value in enumerate(kind.texts(numbers))
    )
    return f"{kind.name} over the game. At the end {ends}"
