"""Pictures of evaluations and ladders, by matplotlib, which is imported when one is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skyenv.arena.estimates import Estimate
from skyenv.arena.evaluate import Result
from skyenv.arena.ladder import Ladder, anchored
from skyenv.errors import OptionError
from skyenv.files import replacing
from skyenv.render.colours import EVEN, GRID, NOTHING, REFERENCE, SERIES
from skyenv.render.extras import check_installed
from skyenv.tables import counted

BLUE, VERMILION = SERIES[:2]


def check_plots(path: Path | None = None) -> None:
    """Find out whether something can be drawn, to this file, before the work is done that it shows.

    Raises:
        RenderError: matplotlib isn't installed. OptionError: the file's name has no known ending.
    """
    check_installed("matplotlib", extra="arena")
    if path is not None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        if path.suffix[1:].lower() not in FigureCanvasAgg.get_supported_filetypes():
            raise OptionError(
                f"can't draw {path}: its name must end in .png or another format of matplotlib's"
            )


def save(figure: Any, path: str | Path) -> None:
    """Write a matplotlib figure, all at once.

    Raises:
        OSError: the file can't be written. OptionError: its name has no known ending.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    with replacing(path) as part:
        try:
            FigureCanvasAgg(figure).print_figure(part, dpi=150)
        except ValueError as error:
            raise OptionError(f"can't draw {path}: {error}") from error


def _tidy(axes: Any) -> None:
    """A grid behind what is drawn, and no frame but the line below."""
    axes.grid(axis="x", color=GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


# ---- an evaluation ----


def plot_results(results: Sequence[Result], path: str | Path) -> None:
    """Draw the results of an evaluation: wins on the left, VP on the right, with 95 % confidence
    intervals.

    Raises:
        OSError: the file can't be written.
        OptionError: there is nothing to draw, or the file's name has no known ending.
    """
    from matplotlib.figure import Figure

    if not results:
        raise OptionError("there are no results to draw")
    figure = Figure(figsize=(9.5, 1.7 + 0.62 * len(results)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    _draw_wins(left, results)
    _draw_vp(right, results)
    for axes in (left, right):
        axes.set_ylim(len(results) - 0.4, -0.6)
        _tidy(axes)
    first = results[0]
    figure.suptitle(
        f"{first.agent}, {first.num_players} players, {first.side} side: every paired seed once "
        "from each seat",
        fontsize=11,
    )
    save(figure, path)


def _draw_wins(axes: Any, results: Sequence[Result]) -> None:
    rows = range(len(results))
    axes.set_yticks(
        list(rows),
        [
            f"against {result.opponent}\n{counted(result.paired_seeds, 'paired seed')}"
            for result in results
        ],
    )
    for row, result in zip(rows, results, strict=True):
        _draw_estimate(axes, row, result.share, 100, BLUE, "o")
        axes.annotate(
            f"{100 * result.share.mean:.1f}",
            (100 * result.share.mean, row),
            (0, 9),
            textcoords="offset points",
            ha="center",
            color=BLUE,
            fontsize=9,
            bbox={"color": "white", "pad": 1},
        )
    par = 100 * results[0].par
    axes.axvline(par, color=REFERENCE, linewidth=1, linestyle=(0, (4, 3)))
    axes.annotate(
        "par",
        (par, 1),
        (4, -2),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        va="top",
        color=REFERENCE,
        fontsize=9,
    )
    axes.set_xlim(-3, 103)
    axes.set_xlabel("wins (%)")


def _draw_vp(axes: Any, results: Sequence[Result]) -> None:
    for row, result in enumerate(results):
        _draw_estimate(
            axes, row - 0.13, result.own, 1, BLUE, "o", result.agent if row == 0 else None
        )
        _draw_estimate(
            axes, row + 0.13, result.other, 1, VERMILION, "s", "best other" if row == 0 else None
        )
    axes.set_xlim(left=0)
    axes.set_xlabel("victory points")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False, fontsize=9)


def _draw_estimate(
    axes: Any,
    row: float,
    estimate: Estimate,
    scale: float,
    colour: str,
    marker: str,
    label: str | None = None,
) -> None:
    mean = scale * estimate.mean
    # With few resamples the interval can miss the mean by a rounding error.
    reach = [[max(mean - scale * estimate.low, 0.0)], [max(scale * estimate.high - mean, 0.0)]]
    axes.errorbar(
        [mean],
        [row],
        xerr=reach,
        fmt=marker,
        color=colour,
        markersize=6,
        capsize=3,
        linewidth=1.8,
        label=label,
    )


# ---- a ladder ----


def plot_ladder(ladder: Ladder, path: str | Path) -> None:
    """Draw a ladder: ratings with intervals on the left, the wins of every pair on the right.

    Raises:
        OSError: the file can't be written.
        OptionError: the file's name has no known ending.
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
    _tidy(axes)
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
