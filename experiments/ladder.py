"""Ladders as people and programs read them: text, JSON, Markdown, a picture; and the ladders that ship in docs/ladder."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np

from experiments.evaluate import BLUE, GRAY, VERMILION, Estimate
from experiments.files import write_atomically
from experiments.ratings import ANCHOR_POINTS, RESAMPLES, SEPARATED, Newcomer, Ratings
from skyenv.errors import CheckpointError, OptionError

Ladder = dict[str, Any]
"""What ladder.json holds; agents from the best to the worst, matrices in the same order."""

FORMAT: Final = 1
SHIPPED: Final = Path(__file__).resolve().parent.parent / "docs" / "ladder"
SAMPLES: Final = 200
"""Bootstrap samples of the ratings that a ladder keeps for rating newcomers."""

KEYS: Final = {
    "date", "command", "project", "players", "side", "seed", "max_turns", "deals", "games", "anchor", "agents", "better", "pairs",
    "neighbours", "samples",
}  # fmt: skip

SPEED_NOTE: Final = (
    "Decisions/s: decisions ÷ time in the agent's act(), as measured while playing, without the engine; it depends on the machine"
    " and on how many games are asked at once."
)


# ---- JSON ----


def as_dict(ratings: Ratings, settings: dict[str, Any], speeds: Sequence[float | None], command: str) -> Ladder:
    """A ladder as it is written.

    Args:
        ratings: of the agents of the settings.
        settings: :class:`experiments.tournament.Settings` as a dictionary.
        speeds: decisions per second of each agent; None if not measured.
        command: that played it.
    """
    order = ratings.order()
    agents = [
        {
            **settings["agents"][index],
            "rating": _rounded(ratings.points[index], 1),
            "wins": _rounded(ratings.wins[index], 4),
            "vp": _rounded(ratings.vp[index], 2),
            "margin": _rounded(ratings.margin[index], 2),
            "decisions_per_second": None if speeds[index] is None else round(speeds[index] or 0.0, 1),
        }
        for index in order
    ]
    anchor = settings["agents"][ratings.anchor]["name"]
    pairs = [[ratings.pairs[one][other] for other in order] for one in order]
    return {
        "format": FORMAT,
        "date": datetime.date.today().isoformat(),
        "command": command,
        **{name: settings[name] for name in ("project", "players", "side", "seed", "max_turns")},
        "deals": ratings.deals,
        "games": ratings.games,
        "anchor": {"name": anchor, "points": ANCHOR_POINTS},
        "agents": agents,
        "better": np.round(ratings.better[np.ix_(order, order)], 4).tolist(),
        "pairs": [[None if share is None else _rounded(share, 4) for share in row] for row in pairs],
        "neighbours": [
            neighbour(agents[rank]["name"], agents[rank + 1]["name"], float(ratings.better[order[rank], order[rank + 1]]))
            for rank in range(len(order) - 1)
        ],
        "samples": np.round(ratings.samples[:SAMPLES, order], 1).tolist(),
    }


def neighbour(higher: str, lower: str, probability: float) -> dict[str, Any]:
    """Whether two neighbours of a ladder are told apart, by the probability that the higher one is better."""
    return {"higher": higher, "lower": lower, "probability": round(probability, 4), "separated": probability >= SEPARATED}


def _rounded(estimate: Estimate, digits: int) -> dict[str, float]:
    return {name: round(value, digits) for name, value in asdict(estimate).items()}


def as_json(found: dict[str, Any]) -> str:
    """A ladder, or what was found about a newcomer, as the text of a JSON file; rows of numbers stand in one line."""
    rows = [
        json.dumps(key) + ": " + (_rows(value) if key in ("better", "pairs", "samples") else _indented(value))
        for key, value in found.items()
    ]
    return "{\n  " + ",\n  ".join(rows) + "\n}\n"


def _rows(matrix: Sequence[Any]) -> str:
    return "[\n    " + ",\n    ".join(json.dumps(row) for row in matrix) + "\n  ]"


def _indented(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n  ")


def read(path: Path, players: int) -> Ladder:
    """A ladder from its file.

    Raises:
        CheckpointError: there is none, or it is damaged, or of another number of players.
        OSError: it can't be read.
    """
    if not path.exists():
        raise CheckpointError(f"there is no ladder {path}; `python -m experiments.tournament … --publish` writes one")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["format"] != FORMAT or not set(found) >= KEYS:
            raise ValueError("it has another format")
        np.asarray(found["samples"], np.float64).reshape(-1, len(found["agents"]))
        for agent in found["agents"]:
            _ = agent["name"], agent["version"], agent["spec"], agent["digest"], Estimate(**agent["rating"])
    except (ValueError, TypeError, KeyError) as error:
        raise CheckpointError(f"{path} is no ladder, or damaged: {error}") from error
    if found["players"] != players:
        raise CheckpointError(f"{path} is a ladder of {found['players']} players, not of {players}")
    ladder: Ladder = found
    return ladder


def publish(folder: Path, players: int, target: Path = SHIPPED) -> None:
    """Copy a tournament's ladder and its picture to where they ship.

    Raises:
        OSError: a file can't be read or written.
    """
    target.mkdir(parents=True, exist_ok=True)
    for ending in ("json", "png"):
        write_atomically(target / f"{players}-players.{ending}", (folder / f"ladder.{ending}").read_bytes())


# ---- text ----


def interval(estimate: dict[str, float] | None, digits: int = 0, scale: float = 1, unit: str = "") -> str:
    """A mean with its interval; a dash for none."""
    if estimate is None:
        return "–"
    mean, low, high = (scale * estimate[name] for name in ("mean", "low", "high"))
    return f"{mean:.{digits}f}{unit} [{low:.{digits}f}, {high:.{digits}f}]"


def _percent(estimate: dict[str, float] | None) -> str:
    return interval(estimate, 1, 100, " %")


def _speed(agent: dict[str, Any]) -> str:
    speed = agent["decisions_per_second"]
    return "–" if speed is None else f"{float(f'{speed:.3g}'):,.0f}"


def _columns(lines: list[list[str]], left: int) -> str:
    """A table of text: the first `left` columns flush left, the others right."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    lines = [lines[0], ["─" * width for width in widths], *lines[1:]]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def headline(ladder: Ladder) -> str:
    """What was played, in a line."""
    return (
        f"{ladder['players']} players, {ladder['side']} side, {ladder['deals']:,} deals, {ladder['games']:,} games;"
        f" {ladder['anchor']['name']} = {ladder['anchor']['points']:.0f}, 400 points are odds of 10 to 1; intervals are 95 %"
    )


def _pairs_note(ladder: Ladder) -> str:
    if ladder["players"] == 2:
        return "Wins of the row's agent against the column's:"
    others = ladder["players"] - 1
    return f"Wins of the row's agent, alone against {others} of the column's (par {100 / ladder['players']:.1f} %):"


def separation(ladder: Ladder) -> list[str]:
    """Of each two neighbours, whether they are told apart."""
    return [
        f"{pair['higher']} is above {pair['lower']} with probability {_probability(pair['probability'])}"
        + ("" if pair["separated"] else f": they are not separated ({100 * SEPARATED:.1f} % are asked for)")
        for pair in ladder["neighbours"]
    ]


def _probability(probability: float) -> str:
    """A share of bootstrap samples; their number limits what can be told."""
    return f"over {100 * (1 - 1 / RESAMPLES):.1f} %" if probability == 1 else f"{100 * probability:.1f} %"


def table(ladder: Ladder) -> str:
    """A ladder as text."""
    agents = ladder["agents"]
    lines = [["", "agent", "version", "rating", "wins", "VP", "margin", "decisions/s"]]
    for rank, agent in enumerate(agents, 1):
        numbers = [interval(agent["rating"]), _percent(agent["wins"]), interval(agent["vp"], 1), interval(agent["margin"], 1)]
        lines.append([str(rank), agent["name"], agent["version"], *numbers, _speed(agent)])
    matrix = [["", *(agent["name"] for agent in agents)]]
    for agent, row in zip(agents, ladder["pairs"], strict=True):
        matrix.append([agent["name"], *(_percent(share) for share in row)])
    parts = [headline(ladder), _columns(lines, 3), _pairs_note(ladder), _columns(matrix, 1)]
    return "\n\n".join([*parts, "\n".join(separation(ladder)), SPEED_NOTE])


def markdown(ladder: Ladder) -> str:
    """A ladder as Markdown: the table, what is separated, the date and the command."""
    lines = ["| | agent | rating | wins | VP | margin | decisions/s |", "|---:|---|---:|---:|---:|---:|---:|"]
    for rank, agent in enumerate(ladder["agents"], 1):
        numbers = [interval(agent["rating"]), _percent(agent["wins"]), interval(agent["vp"], 1), interval(agent["margin"], 1)]
        lines.append(f"| {rank} | {agent['name']} | {' | '.join(numbers)} | {_speed(agent)} |")
    blurred = [line for line, pair in zip(separation(ladder), ladder["neighbours"], strict=True) if not pair["separated"]]
    told = (
        "; ".join(blurred)
        if blurred
        else f"All neighbours are separated (probability of the order at least {100 * SEPARATED:.1f} %)"
    )
    return "\n".join([*lines, "", f"{ladder['date']}: {headline(ladder)}. {told}.", "", f"`{ladder['command']}`"])


def matrix_markdown(ladder: Ladder) -> str:
    """The wins of every pair as a Markdown table."""
    names = [agent["name"] for agent in ladder["agents"]]
    lines = [_pairs_note(ladder), "", f"| | {' | '.join(names)} |", f"|---|{'---:|' * len(names)}"]
    for name, row in zip(names, ladder["pairs"], strict=True):
        lines.append(f"| {name} | {' | '.join(_percent(share) for share in row)} |")
    return "\n".join(lines)


# ---- a newcomer ----


def newcomer_as_dict(newcomer: Newcomer, entrant: dict[str, Any], shipped: Ladder, speed: float | None) -> dict[str, Any]:
    """What was found about a newcomer, for its JSON file."""
    return {
        "format": FORMAT,
        **entrant,
        "players": shipped["players"],
        "side": shipped["side"],
        "ladder": {"date": shipped["date"], "anchor": shipped["anchor"]},
        "deals": newcomer.deals,
        "games": newcomer.games,
        "rating": _rounded(newcomer.points, 1),
        "place": 1 + sum(agent["rating"]["mean"] > newcomer.points.mean for agent in shipped["agents"]),
        "wins": _rounded(newcomer.wins, 4),
        "vp": _rounded(newcomer.vp, 2),
        "margin": _rounded(newcomer.margin, 2),
        "decisions_per_second": speed,
        "against": [
            {
                "name": agent["name"],
                "rating": agent["rating"],
                "share": None if share is None else _rounded(share, 4),
                "better": round(float(better), 4),
            }
            for agent, share, better in zip(shipped["agents"], newcomer.against, newcomer.better, strict=True)
        ],
    }


def newcomer_table(found: dict[str, Any]) -> str:
    """What was found about a newcomer as text."""
    size = len(found["against"]) + 1
    head = (
        f"{found['name']}: rating {interval(found['rating'])} (95 %), place {found['place']} of {size};"
        f" {found['deals']:,} deals, {found['games']:,} games, {found['players']} players, {found['side']} side"
    )
    other = "" if found["players"] == 2 else f"{found['players'] - 1} × "
    lines = [["", "agent", "rating", "newcomer wins", "P(newcomer is better)"]]
    for rung in found["against"]:
        lines.append(
            ["", other + rung["name"], interval(rung["rating"]), _percent(rung["share"]), f"{100 * rung['better']:.1f} %"]
        )
    lines.insert(found["place"], ["→", found["name"], interval(found["rating"]), "", ""])
    for rank, line in enumerate(lines[1:], 1):
        line[0] = f"{line[0]}{rank}"
    means = f"wins {_percent(found['wins'])}, VP {interval(found['vp'], 1)}, margin {interval(found['margin'], 1)}"
    ladder = (
        f"Ladder of {found['ladder']['date']}: {found['ladder']['anchor']['name']} = {found['ladder']['anchor']['points']:.0f}."
    )
    return "\n\n".join([head, _columns(lines, 2), f"{means}, {_speed(found)} decisions/s. {ladder}\n{SPEED_NOTE}"])


# ---- the picture ----


def plot(ladder: Ladder, path: str | Path) -> None:
    """Draw a ladder: ratings with intervals on the left, the wins of every pair on the right.

    Raises:
        OSError: the file can't be written.
        OptionError: the file's name has no known ending.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    number = len(ladder["agents"])
    figure = Figure(figsize=(5.4 + 0.86 * number, 1.9 + 0.52 * number), layout="constrained")
    canvas = FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, width_ratios=[4.4, 0.86 * number + 0.6])
    _draw_ratings(left, ladder)
    _draw_pairs(right, ladder)
    figure.suptitle(
        f"{ladder['players']} players, {ladder['side']} side · {ladder['deals']:,} deals, {ladder['games']:,} games", fontsize=11
    )
    try:
        canvas.print_figure(path, dpi=150)
    except ValueError as error:
        raise OptionError(f"can't draw {path}: {error}") from error


def _draw_ratings(axes: Any, ladder: Ladder) -> None:
    agents = ladder["agents"]
    for row, agent in enumerate(agents):
        mean, low, high = (agent["rating"][name] for name in ("mean", "low", "high"))
        axes.plot([low, high], [row, row], color=BLUE, linewidth=2.2, solid_capstyle="round", alpha=0.55)
        axes.plot([mean], [row], "o", color=BLUE, markersize=6.5)
        axes.annotate(
            f"{mean:.0f}".replace("-", "−"), (mean, row), (0, 8), textcoords="offset points", ha="center", fontsize=9, color=BLUE
        )
    anchor = ladder["anchor"]["points"]
    axes.axvline(anchor, color=GRAY, linewidth=0.9, linestyle=(0, (4, 3)), zorder=0)
    axes.set_yticks(range(len(agents)), [agent["name"] for agent in agents])
    axes.set_ylim(len(agents) - 0.5, -0.5)
    axes.margins(x=0.12)
    axes.grid(axis="x", color="#E2E2E2", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_xlabel(f"rating, {ladder['anchor']['name']} = {anchor:.0f} (bars: 95 %)")


def _draw_pairs(axes: Any, ladder: Ladder) -> None:
    from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm

    names = [agent["name"] for agent in ladder["agents"]]
    means = np.array([[np.nan if share is None else share["mean"] for share in row] for row in ladder["pairs"]], np.float64)
    colours = LinearSegmentedColormap.from_list("wins", [VERMILION, "#FBFBFB", BLUE])
    norm = TwoSlopeNorm(vmin=0, vcenter=1 / ladder["players"], vmax=1)
    axes.set_facecolor("#EEEEEE")  # shows where there is no pair
    axes.imshow(np.ma.masked_invalid(means), cmap=colours, norm=norm, aspect="auto")
    for row, column in zip(*np.nonzero(np.isfinite(means)), strict=True):
        strong = abs(norm(means[row, column]) - 0.5) > 0.3
        axes.text(column, row, f"{100 * means[row, column]:.0f}", ha="center", va="center", fontsize=9.5,
                  color="white" if strong else "black")  # fmt: skip
    axes.set_xticks(range(len(names)), names, rotation=35 if len(names) > 4 else 0, ha="right" if len(names) > 4 else "center")
    axes.set_yticks(range(len(names)), names)
    axes.set_xticks(np.arange(len(names) - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(len(names) - 1) + 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=2)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)
    others = ladder["players"] - 1
    against = "against column" if others == 1 else f"alone against {others} of column (par {100 / ladder['players']:.0f})"
    axes.set_xlabel(f"wins of row {against} (%)")
