"""Pictures of ladders, by matplotlib, which is imported when one is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from skyenv.arena.ladder import Ladder, anchored
from skyenv.files import replacing
from skyenv.render.colours import EVEN, GRID, NOTHING, REFERENCE, SERIES
from skyenv.render.extras import check_installed
from skyenv.tables import counted

BLUE, VERMILION = SERIES[:2]


def check_plots() -> None:
    """Raise RenderError if matplotlib isn't installed."""
    check_installed("matplotlib", extra="arena")


def save(figure: Any, path: str | Path) -> None:
    """Write a matplotlib figure, all at once; raise OSError if the file can't be written."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    with replacing(path) as part:
        FigureCanvasAgg(figure).print_figure(part, dpi=150)


def plot_ladder(ladder: Ladder, path: str | Path) -> None:
    """Draw a ladder: ratings with intervals on the left, the wins of every pair on the right.

    Raises:
        OSError: the file can't be written.
    """
    from matplotlib.figure import Figure

    number = len(ladder["agents"])
    figure = Figure(figsize=(5.4 + 0.86 * number, 1.9 + 0.52 * number), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[4.4, 0.86 * number + 0.6])
    _draw_ratings(left, ladder)
    _draw_pairs(right, ladder)
    figure.suptitle(
        f"{ladder['players']} players, {ladder['side']} side · "
        f"{counted(ladder['paired_seeds'], 'paired seed')},"
        f" {counted(ladder['games'], 'game')}",
        fontsize=11,
    )
    save(figure, path)


def _draw_ratings(axes: Any, ladder: Ladder) -> None:
    agents = ladder["agents"]
    means, lows, highs = (
        np.array([agent["rating"][name] for agent in agents]) for name in ("mean", "low", "high")
    )
    reach = [means - lows, highs - means]
    axes.errorbar(means, range(len(agents)), xerr=reach, fmt="o", color=BLUE, elinewidth=2.2)
    for row, mean in enumerate(means):
        label = f"{mean:.0f}".replace("-", "−")
        place = {"xytext": (0, 8), "textcoords": "offset points", "ha": "center"}
        axes.annotate(label, (mean, row), fontsize=9, color=BLUE, **place)
    anchor = ladder["anchors"]["points"]
    axes.axvline(anchor, color=REFERENCE, linewidth=0.9, linestyle=(0, (4, 3)), zorder=0)
    axes.set_yticks(range(len(agents)), [agent["name"] for agent in agents])
    axes.set_ylim(len(agents) - 0.5, -0.5)
    axes.margins(x=0.12)
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_xlabel(f"rating, {anchored(ladder['anchors'])} (bars: 95 %)")


def _draw_pairs(axes: Any, ladder: Ladder) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    names = [agent["name"] for agent in ladder["agents"]]
    colours = LinearSegmentedColormap.from_list("wins", [VERMILION, EVEN, BLUE])
    means = np.full((len(names), len(names)), np.nan)
    for row, shares in enumerate(ladder["pairs"]):
        for column, share in enumerate(shares):
            if share is not None:
                mean = means[row, column] = share["mean"]
                colour = "white" if abs(mean - 0.5) > 0.3 else "black"
                where = {"ha": "center", "va": "center"}
                axes.text(column, row, f"{100 * mean:.0f}", fontsize=9.5, color=colour, **where)
    axes.set_facecolor(NOTHING)  # shows where there is no pair
    axes.imshow(means, cmap=colours, vmin=0, vmax=1, aspect="auto")
    turned = {"rotation": 35, "ha": "right"} if len(names) > 4 else {}
    axes.set_xticks(range(len(names)), names, **turned)
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("wins of row against column (%)")
