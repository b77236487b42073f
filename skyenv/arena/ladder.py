"""Ladders as people and programs read them: text, JSON, Markdown; and the ladders that ship."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from skyenv import tables
from skyenv.arena.estimates import RESAMPLES, Estimate, interval, percent
from skyenv.arena.ratings import ANCHOR_POINTS, SEPARATED, Newcomer, Ratings
from skyenv.errors import CheckpointError, OptionError
from skyenv.files import read_json, write_atomically

Ladder = dict[str, Any]
"""What ladder.json holds; agents from the best to the worst, matrices in the same order."""

FORMAT: Final = 2
"""Of ladder.json: 1 had other keys."""
SHIPPED: Final = Path(__file__).resolve().parent / "ladders"
"""Folder of the ladders that ship …"""
PICTURES: Final = Path(__file__).resolve().parents[2] / "docs" / "ladder"
"""… and of their pictures, in a clone."""
SAMPLES: Final = 200
"""Bootstrap samples of the ratings that a ladder keeps for rating newcomers."""

KEYS: Final = {
    "date", "command", "project", "players", "side", "seed", "max_turns", "paired_seeds", "games", "anchor", "agents", "better",
    "pairs", "neighbours", "samples",
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
        settings: :class:`skyenv.arena.tournament.Settings` as a dictionary.
        speeds: decisions per second of each agent; None if not measured.
        command: that played it.
    """
    order = ratings.order()
    agents = [
        {
            **settings["agents"][index],
            "rating": ratings.points[index].rounded(1),
            "wins": ratings.wins[index].rounded(4),
            "vp": ratings.vp[index].rounded(2),
            "margin": ratings.margin[index].rounded(2),
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
        "paired_seeds": ratings.paired_seeds,
        "games": ratings.games,
        "anchor": {"name": anchor, "points": ANCHOR_POINTS},
        "agents": agents,
        "better": np.round(ratings.better[np.ix_(order, order)], 4).tolist(),
        "pairs": [[None if share is None else share.rounded(4) for share in row] for row in pairs],
        "neighbours": [
            neighbour(agents[rank]["name"], agents[rank + 1]["name"], float(ratings.better[order[rank], order[rank + 1]]))
            for rank in range(len(order) - 1)
        ],
        "samples": np.round(ratings.samples[:SAMPLES, order], 1).tolist(),
    }


def neighbour(higher: str, lower: str, probability: float) -> dict[str, Any]:
    """Whether two neighbours of a ladder are told apart, by the probability that the higher one is better."""
    return {"higher": higher, "lower": lower, "probability": round(probability, 4), "separated": probability >= SEPARATED}


def as_json(content: dict[str, Any]) -> str:
    """A ladder, or what was found about a newcomer, as the text of a JSON file; rows of numbers stand in one line."""
    rows = [
        json.dumps(key) + ": " + (_rows(value) if key in ("better", "pairs", "samples") else _indented(value))
        for key, value in content.items()
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
        raise CheckpointError(f"there is no ladder {path}; `python -m skyenv tournament … --publish` writes one")
    content = read_json(path)
    try:
        if content["format"] != FORMAT or not set(content) >= KEYS:
            raise ValueError("it has another format")
        np.asarray(content["samples"], np.float64).reshape(-1, len(content["agents"]))
        for agent in content["agents"]:
            _ = agent["name"], agent["version"], agent["spec"], agent["digest"], Estimate(**agent["rating"])
    except (ValueError, TypeError, KeyError) as error:
        raise CheckpointError(f"{path} is no ladder, or damaged: {error}") from error
    if content["players"] != players:
        raise CheckpointError(f"{path} is a ladder of {content['players']} players, not of {players}")
    ladder: Ladder = content
    return ladder


def publish(folder: Path, players: int, where: Path) -> None:
    """Copy a tournament's ladder and its picture to a folder; an empty path: to where they ship.

    Raises:
        OptionError: they ship nowhere, as this is no clone. OSError: a file can't be read or written.
    """
    check_publish(where)
    for target, ending in ((SHIPPED, "json"), (PICTURES, "png")):
        target = where if where.parts else target
        target.mkdir(parents=True, exist_ok=True)
        write_atomically(target / f"{players}-players.{ending}", (folder / f"ladder.{ending}").read_bytes())


def check_publish(where: Path) -> None:
    """Raise OptionError if this is no place to publish a ladder (see :func:`publish`)."""
    if not where.parts and not PICTURES.parent.is_dir():
        raise OptionError("outside of a clone --publish needs a folder")


# ---- text ----


def _speed(agent: dict[str, Any]) -> str:
    speed = agent["decisions_per_second"]
    return "–" if speed is None else f"{float(f'{speed:.3g}'):,.0f}"


def headline(ladder: Ladder) -> str:
    """What was played, in a line."""
    return (
        f"{ladder['players']} players, {ladder['side']} side,"
        f" {tables.counted(ladder['paired_seeds'], 'paired seed')}, {tables.counted(ladder['games'], 'game')};"
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


def _numbers(agent: dict[str, Any]) -> list[str]:
    """The cells of an agent's line."""
    means = [interval(agent["rating"]), percent(agent["wins"]), interval(agent["vp"], 1), interval(agent["margin"], 1)]
    return [*means, _speed(agent)]


def _pairs(ladder: Ladder) -> list[list[str]]:
    """The wins of every pair as a table."""
    names = [agent["name"] for agent in ladder["agents"]]
    return [["", *names], *([name, *map(percent, row)] for name, row in zip(names, ladder["pairs"], strict=True))]


def table(ladder: Ladder) -> str:
    """A ladder as text."""
    head = ["", "agent", "version", "rating", "wins", "VP", "margin", "decisions/s"]
    rows = [[str(rank), agent["name"], agent["version"], *_numbers(agent)] for rank, agent in enumerate(ladder["agents"], 1)]
    parts = [headline(ladder), tables.columns([head, *rows], 3), _pairs_note(ladder), tables.columns(_pairs(ladder))]
    return "\n\n".join([*parts, "\n".join(separation(ladder)), SPEED_NOTE, f"The same games again: {ladder['command']}"])


def markdown(ladder: Ladder) -> str:
    """A ladder as Markdown: the table, what is separated, the date and the command."""
    head = ["", "agent", "rating", "wins", "VP", "margin", "decisions/s"]
    rows = [[str(rank), agent["name"], *_numbers(agent)] for rank, agent in enumerate(ladder["agents"], 1)]
    blurred = [line for line, pair in zip(separation(ladder), ladder["neighbours"], strict=True) if not pair["separated"]]
    comparisons = (
        "; ".join(blurred)
        if blurred
        else f"All neighbours are separated (probability of the order at least {100 * SEPARATED:.1f} %)"
    )
    about = f"{ladder['date']}: {headline(ladder)}. {comparisons}."
    return "\n\n".join([tables.markdown([head, *rows], "rlrrrrr"), about, f"`{ladder['command']}`"])


def matrix_markdown(ladder: Ladder) -> str:
    """The wins of every pair as a Markdown table."""
    return f"{_pairs_note(ladder)}\n\n{tables.markdown(_pairs(ladder), 'l' + 'r' * len(ladder['agents']))}"


# ---- a newcomer ----


def newcomer_as_dict(
    newcomer: Newcomer, entrant: dict[str, Any], shipped: Ladder, speed: float | None, command: str
) -> dict[str, Any]:
    """What was found about a newcomer by a command, for its JSON file."""
    return {
        "format": FORMAT,
        "command": command,
        **entrant,
        "players": shipped["players"],
        "side": shipped["side"],
        "ladder": {"date": shipped["date"], "anchor": shipped["anchor"]},
        "paired_seeds": newcomer.paired_seeds,
        "games": newcomer.games,
        "rating": newcomer.points.rounded(1),
        "place": 1 + sum(agent["rating"]["mean"] > newcomer.points.mean for agent in shipped["agents"]),
        "wins": newcomer.wins.rounded(4),
        "vp": newcomer.vp.rounded(2),
        "margin": newcomer.margin.rounded(2),
        "decisions_per_second": speed,
        "against": [
            {
                "name": agent["name"],
                "rating": agent["rating"],
                "share": None if share is None else share.rounded(4),
                "better": round(float(better), 4),
            }
            for agent, share, better in zip(shipped["agents"], newcomer.against, newcomer.better, strict=True)
        ],
    }


def newcomer_table(newcomer: dict[str, Any]) -> str:
    """What was found about a newcomer as text."""
    size = len(newcomer["against"]) + 1
    head = (
        f"{newcomer['name']}: rating {interval(newcomer['rating'])} (95 %), place {newcomer['place']} of {size};"
        f" {tables.counted(newcomer['paired_seeds'], 'paired seed')}, {tables.counted(newcomer['games'], 'game')}, "
        f"{newcomer['players']} players, {newcomer['side']} side"
    )
    other = "" if newcomer["players"] == 2 else f"{newcomer['players'] - 1} × "
    rows = [
        [other + rung["name"], interval(rung["rating"]), percent(rung["share"]), f"{100 * rung['better']:.1f} %"]
        for rung in newcomer["against"]
    ]
    rows.insert(newcomer["place"] - 1, [newcomer["name"], interval(newcomer["rating"]), "", ""])
    ranked = [[f"{'→' if rank == newcomer['place'] else ''}{rank}", *row] for rank, row in enumerate(rows, 1)]
    compared = tables.columns([["", "agent", "rating", "newcomer wins", "P(newcomer is better)"], *ranked], 2)
    means = f"wins {percent(newcomer['wins'])}, VP {interval(newcomer['vp'], 1)}, margin {interval(newcomer['margin'], 1)}"
    anchor = newcomer["ladder"]["anchor"]
    ladder = f"Ladder of {newcomer['ladder']['date']}: {anchor['name']} = {anchor['points']:.0f}."
    return "\n\n".join(
        [
            head,
            compared,
            f"{means}, {_speed(newcomer)} decisions/s. {ladder}\n{SPEED_NOTE}",
            f"The same games again: {newcomer['command']}",
        ]
    )
