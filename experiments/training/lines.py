"""Lines of several runs in one picture: what the runs are called, and their names where the lines
end.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from skyenv.errors import OptionError
from skyenv.render.colours import GRID

MOST_LINES: Final = 6
LABEL_HEIGHT: Final = 0.06
"""Of a line of text, as a part of the height of axes some four inches high."""


def names_of(folders: Sequence[str]) -> list[str]:
    """What runs are called: by their folders' last names, or where these don't tell them apart, by
    their paths.

    Raises:
        OptionError: a run is named twice.
    """
    names = [Path(folder).resolve().name for folder in folders]
    names = names if len(set(names)) == len(names) else list(folders)
    if len(set(names)) < len(names):
        raise OptionError("a run is named twice")
    return names


def write_labels(axes: Any, labels: Sequence[tuple[float, float, str, str]]) -> None:
    """Name each line where it ends; the limits of the axes are set already.

    Args:
        axes: matplotlib's.
        labels: of each line: where it ends, across and up; name; colour.
    """
    low, high = axes.get_ylim()
    ordered = sorted(labels, key=lambda label: label[1])
    heights = spread(
        [height for _, height, _, _ in ordered], LABEL_HEIGHT * (high - low), low, high
    )
    for (across, end, name, colour), height in zip(ordered, heights, strict=True):
        axes.plot([across], [end], marker="o", markersize=5, color=colour, clip_on=False)
        thread = {"arrowstyle": "-", "color": colour, "alpha": 0.35, "linewidth": 0.8, "shrinkA": 0}
        axes.annotate(
            name,
            (across, end),
            (1.015, height),
            textcoords=("axes fraction", "data"),
            color=colour,
            va="center",
            fontsize=10,
            arrowprops=thread,
            annotation_clip=False,
        )


def spread(heights: Sequence[float], distance: float, low: float, high: float) -> list[float]:
    """Heights in ascending order, moved as little as needed to be `distance` apart, from `low` to
    `high` if there is room.

    Groups that touch stay around their mean.
    """
    groups: list[list[float]] = []
    for height in heights:
        groups.append([height])
        while (
            len(groups) > 1
            and _lowest(groups[-1], distance) - _highest(groups[-2], distance) < distance
        ):
            groups[-2:] = [groups[-2] + groups[-1]]
    apart = [_lowest(group, distance) + i * distance for group in groups for i in range(len(group))]
    above = [max(height, low + i * distance) for i, height in enumerate(apart)]
    return [
        min(height, high - i * distance)
        for i, height in zip(reversed(range(len(above))), above, strict=True)
    ]


def _lowest(group: Sequence[float], distance: float) -> float:
    return sum(group) / len(group) - distance * (len(group) - 1) / 2


def _highest(group: Sequence[float], distance: float) -> float:
    return sum(group) / len(group) + distance * (len(group) - 1) / 2


def tidy(axes: Any) -> None:
    """A grid behind what is drawn, and no frame above and on the right."""
    axes.grid(color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
