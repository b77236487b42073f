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
    for row, agent in enumerate(agents):
        mean, low, high = (agent["rating"][name] for name in ("mean", "low", "high"))
        axes.plot(
            [low, high], [row, row], color=BLUE, linewidth=2.2, solid_capstyle="round", alpha=0.55
        )
        axes.plot([mean], [row], "o", color=BLUE, markersize=6.5)
        axes.annotate(
            f"{mean:.0f}".replace("-", "−"),
            (mean, row),
            (0, 8),
            textcoords="offset points",
            ha="center",
            fontsize=9,
            color=BLUE,
        )
    anchor = ladder["anchors"]["points"]
    axes.axvline(anchor, color=REFERENCE, linewidth=0.9, linestyle=(0, (4, 3)), zorder=0)
    axes.set_yticks(range(len(agents)), [agent["name"] for agent in agents])
    axes.set_ylim(len(agents) - 0.5, -0.5)
    axes.margins(x=0.12)
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_xlabel(f"rating, {anchored(ladder['anchors'])} (bars: 95 %)")


def _draw_pairs(axes: Any, ladder: Ladder) -> None:
    from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm

    names = [agent["name"] for agent in ladder["agents"]]
    means = np.array(
        [[np.nan if share is None else share["mean"] for share in row] for row in ladder["pairs"]],
        np.float64,
    )
    colours = LinearSegmentedColormap.from_list("wins", [VERMILION, EVEN, BLUE])
    norm = TwoSlopeNorm(vmin=0, vcenter=0.5, vmax=1)
    axes.set_facecolor(NOTHING)  # shows where there is no pair
    axes.imshow(np.ma.masked_invalid(means), cmap=colours, norm=norm, aspect="auto")
    for row, column in zip(*np.nonzero(np.isfinite(means)), strict=True):
        strong = abs(norm(means[row, column]) - 0.5) > 0.3
        axes.text(
            column,
            row,
            f"{100 * means[row, column]:.0f}",
            ha="center",
            va="center",
            fontsize=9.5,
            color="white" if strong else "black",
        )
    axes.set_xticks(
        range(len(names)),
        names,
        rotation=35 if len(names) > 4 else 0,
        ha="right" if len(names) > 4 else "center",
    )
    axes.set_yticks(range(len(names)), names)
    axes.set_xticks(np.arange(len(names) - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(len(names) - 1) + 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=2)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("wins of row against column (%)")
