"""A chart of VP over a game, as SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Final

from skyenv.render.words import seat_label, seat_name

WIDTH: Final = 720
NARROW: Final = 360
"""Width on phones, where drawings aren't made smaller."""
HEIGHT: Final = 200
LEFT: Final = 34
RIGHT: Final = 124
TOP: Final = 10
BOTTOM: Final = 22
DASHES: Final = ("none", "7 3", "2 3", "10 3 2 3")
"""Lines differ by their dashes as well as by their colour."""

Height = Callable[[float], float]


def chart(scores: Sequence[Sequence[int]], names: Sequence[str], width: int = WIDTH) -> str:
    """VP of every seat over the steps of a game.

    Colours come from the page's style sheet by the classes ``seat-0`` … ``seat-3``, ``axis`` and ``cursor``.

    Args:
        scores: ``[step][seat]``.
        names: who sits where.
        width: of the drawing; its text has the same size in all.

    Returns:
        An SVG element, width × HEIGHT; its ``data-left`` and ``data-right`` tell where the first and the last step lie.
    """
    steps, last = max(len(scores) - 1, 1), width - RIGHT
    top = _rounded(max((max(row) for row in scores), default=0))
    scale_x = (last - LEFT) / steps
    scale_y = (HEIGHT - TOP - BOTTOM) / top

    def y(score: float) -> float:
        return round(HEIGHT - BOTTOM - score * scale_y, 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {width} {HEIGHT}" role="img"'
        f' aria-label="{escape(_in_words(scores, names))}" data-left="{LEFT}" data-right="{last}">'
    ]
    for score in range(0, top + 1, max(top // 4, 1)):
        parts.append(f'<path class="axis" d="M{LEFT} {y(score)}H{last}"/>')
        parts.append(f'<text class="axis" x="{LEFT - 6}" y="{y(score) + 4}" text-anchor="end">{score}</text>')
    parts.append(f'<text class="axis" x="{LEFT}" y="{HEIGHT - 5}">VP after each of {steps} actions</text>')
    for seat in range(len(names)):
        parts.append(_line([row[seat] for row in scores], seat, (scale_x, last), y))
    parts += _labels(scores[-1], names, last, y)
    parts.append(f'<path class="cursor" d="M0 {TOP}V{HEIGHT - BOTTOM}" transform="translate({LEFT})"/></svg>')
    return "".join(parts)


def _line(scores: Sequence[int], seat: int, across: tuple[float, int], y: Height) -> str:
    """A line; `across`: how wide a step is, and where the line ends."""
    scale_x, last = across
    points = [f"M{LEFT} {y(scores[0])}"]
    for step in range(1, len(scores)):
        if scores[step] != scores[step - 1]:
            points.append(f"H{round(LEFT + step * scale_x, 1)}V{y(scores[step])}")
    points.append(f"H{last}")
    return f'<path class="line seat-{seat}" d="{"".join(points)}" stroke-dasharray="{DASHES[seat]}"/>'


def _labels(scores: Sequence[int], names: Sequence[str], left: int, y: Height) -> list[str]:
    """The names at the ends of their lines, moved apart where they would overlap."""
    labels = []
    lowest = 0.0
    for seat in sorted(range(len(names)), key=lambda seat: -scores[seat]):
        place = max(float(y(scores[seat])) + 4, lowest + 15)
        lowest = place
        name = f"{seat_label(seat)} {names[seat]}".strip()
        label = f"{escape(name[:11])} · {scores[seat]}"
        labels.append(f'<text class="label seat-{seat}" x="{left + 6}" y="{place}">{label}</text>')
    return labels


def _rounded(highest: int) -> int:
    """The top of the axis: a multiple of 20, at least 20."""
    return max(20, -(-highest // 20) * 20)


def _in_words(scores: Sequence[Sequence[int]], names: Sequence[str]) -> str:
    ends = ", ".join(f"{seat_name(seat)} {name}: {scores[-1][seat]}" for seat, name in enumerate(names))
    return f"VP over the game. At the end {ends}"
