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
from skyenv.engine.options import table_name
from skyenv.errors import CheckpointError, OptionError
from skyenv.files import read_json, write_atomically

Ladder = dict[str, Any]
"""What ladder.json holds; agents from the best to the worst, matrices in the same order."""

FORMAT: Final = 3
"""Of ladder.json: 1 and 2 had other keys, and other games rated."""
SHIPPED: Final = Path(__file__).resolve().parent / "ladders"
"""Folder of the ladders that ship …"""
PICTURES: Final = Path(__file__).resolve().parents[2] / "docs" / "ladder"
"""… and of their pictures, in a clone."""
SAMPLES: Final = 200
"""Bootstrap samples of the ratings that a ladder keeps for rating newcomers."""

KEYS: Final = {
    "date",
    "command",
    "project",
    "players",
    "side",
    "seed",
    "max_turns",
    "paired_seeds",
    "games",
    "anchors",
    "agents",
    "better",
    "pairs",
    "predicted",
    "duels",
    "neighbours",
    "samples",
}

SPEED_NOTE: Final = (
    "Decisions/s: decisions ÷ time in the agent's act(), as measured while playing, without the "
    "engine; it depends on the machine"
    " and on how many games are asked at once."
)


# ---- JSON ----


def as_dict(
    ratings: Ratings, settings: dict[str, Any], speeds: Sequence[float | None], command: str
) -> Ladder:
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
            "decisions_per_second": None
            if speeds[index] is None
            else round(speeds[index] or 0.0, 1),
            "paired_seeds": int(ratings.played[index]),
        }
        for index in order
    ]
    names = [agent["name"] for agent in settings["agents"]]
    pairs = [[ratings.pairs[one][other] for other in order] for one in order]
    return {
        "format": FORMAT,
        "date": datetime.date.today().isoformat(),
        "command": command,
        **{name: settings[name] for name in ("project", "players", "side", "seed", "max_turns")},
        "paired_seeds": ratings.paired_seeds,
        "games": ratings.games,
        "anchors": {"names": [names[index] for index in ratings.anchors], "points": ANCHOR_POINTS},
        "agents": agents,
        "better": np.round(ratings.better[np.ix_(order, order)], 4).tolist(),
        "pairs": [[None if share is None else share.rounded(4) for share in row] for row in pairs],
        "predicted": np.round(ratings.predicted[np.ix_(order, order)], 4).tolist(),
        "duels": [
            {
                "one": names[duel.one],
                "other": names[duel.other],
                **{
                    name: getattr(duel, name).rounded(4)
                    for name in ("one_alone", "other_alone", "par", "ahead")
                },
            }
            for duel in ratings.duels
        ],
        "neighbours": [
            neighbour(
                agents[rank]["name"],
                agents[rank + 1]["name"],
                float(ratings.better[order[rank], order[rank + 1]]),
            )
            for rank in range(len(order) - 1)
        ],
        "samples": np.round(ratings.samples[:SAMPLES, order], 1).tolist(),
    }


def neighbour(higher: str, lower: str, probability: float) -> dict[str, Any]:
    """Whether two neighbours of a ladder are told apart, by the probability that the higher one is
    better.
    """
    return {
        "higher": higher,
        "lower": lower,
        "probability": round(probability, 4),
        "separated": probability >= SEPARATED,
    }


def as_json(content: dict[str, Any]) -> str:
    """A ladder, or what was found about a newcomer, as the text of a JSON file; rows of numbers
    stand in one line.
    """
    rows = [
        json.dumps(key)
        + ": "
        + (
            _rows(value)
            if key in ("better", "pairs", "predicted", "duels", "samples")
            else _indented(value)
        )
        for key, value in content.items()
    ]
    return "{\n  " + ",\n  ".join(rows) + "\n}\n"


def _rows(matrix: Sequence[Any]) -> str:
    return "[\n    " + ",\n    ".join(json.dumps(row) for row in matrix) + "\n  ]"


def _indented(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n  ")


def read(path: Path, players: int, side: str | None = None) -> Ladder:
    """A ladder from its file.

    Raises:
        CheckpointError: there is none, or it is damaged, or of another number of players, or
            another side if one is said.
        OSError: it can't be read.
    """
    if not path.exists():
        raise CheckpointError(
            f"there is no ladder {path}; `python -m skyenv tournament … --publish` writes one"
        )
    content = read_json(path)
    if content.get("format") != FORMAT:
        raise CheckpointError(f"{path} is no ladder of this version; play it anew")
    try:
        if not set(content) >= KEYS:
            raise ValueError("an entry is missing")
        np.asarray(content["samples"], np.float64).reshape(-1, len(content["agents"]))
        for agent in content["agents"]:
            Estimate(**agent["rating"])
            _ = [agent[name] for name in ("name", "version", "spec", "digest")]
    except (ValueError, TypeError, KeyError) as error:
        raise CheckpointError(f"{path} is no ladder, or damaged: {error}") from error
    for name, wanted in (("players", players), ("side", side)):
        if wanted not in (None, content[name]):
            raise CheckpointError(f"{path} is a ladder of {name} {content[name]}, not {wanted}")
    ladder: Ladder = content
    return ladder


def publish(folder: Path, players: int, side: str, where: Path) -> None:
    """Copy a tournament's ladder and its picture to a folder; an empty path: to where they ship.

    Raises:
        OptionError: they ship nowhere, as this is no clone. OSError: a file can't be read or
            written.
    """
    check_publish(where)
    for target, ending in ((SHIPPED, "json"), (PICTURES, "png")):
        target = where if where.parts else target
        target.mkdir(parents=True, exist_ok=True)
        write_atomically(
            target / f"{table_name(players, side)}.{ending}",
            (folder / f"ladder.{ending}").read_bytes(),
        )


def check_publish(where: Path) -> None:
    """Raise OptionError if this is no place to publish a ladder (see :func:`publish`)."""
    if not where.parts and not PICTURES.parent.is_dir():
        raise OptionError("outside of a clone --publish needs a folder")


# ---- text ----


def _speed(agent: dict[str, Any]) -> str:
    speed = agent["decisions_per_second"]
    return "–" if speed is None else f"{float(f'{speed:.3g}'):,.0f}"


def anchored(anchors: dict[str, Any]) -> str:
    """What the scale hangs on."""
    *others, last = anchors["names"]
    who = f"mean of {', '.join(others)} and {last}" if others else last
    return f"{who} = {anchors['points']:.0f}"


def headline(ladder: Ladder) -> str:
    """What was played, in a line."""
    return (
        f"{ladder['players']} players, {ladder['side']} side,"
        f" {tables.counted(ladder['paired_seeds'], 'paired seed')}, "
        f"{tables.counted(ladder['games'], 'game')};"
        f" {anchored(ladder['anchors'])}, 400 points are odds of 10 to 1; intervals are 95 %"
    )


def _pairs_note(ladder: Ladder) -> str:
    games = (
        "Wins"
        if ladder["players"] == 2
        else "Of the games that either won at tables with both, the share"
    )
    return f"{games} of the row's agent against the column's"


def _duels_note(ladder: Ladder) -> str:
    return (
        f"Duels, each alone against {ladder['players'] - 1} of the other: wins of the one who is "
        "alone, the effective par (the"
        " mean of both ways, where equal ones would be), and by how much the first is above it"
    )


def separation(ladder: Ladder) -> list[str]:
    """Of each two neighbours, whether they are told apart."""
    return [
        f"{pair['higher']} is above {pair['lower']} with probability "
        f"{_probability(pair['probability'])}"
        + (
            ""
            if pair["separated"]
            else f": they are not separated ({100 * SEPARATED:.1f} % are asked for)"
        )
        for pair in ladder["neighbours"]
    ]


def _probability(probability: float) -> str:
    """A share of bootstrap samples; their number limits what can be told."""
    return (
        f"over {100 * (1 - 1 / RESAMPLES):.1f} %"
        if probability == 1
        else f"{100 * probability:.1f} %"
    )


HEAD: Final = ("rating", "wins", "VP", "margin", "decisions/s", "paired seeds")


def _numbers(agent: dict[str, Any]) -> list[str]:
    """The cells of an agent's line."""
    means = [
        interval(agent["rating"]),
        percent(agent["wins"]),
        interval(agent["vp"], 1),
        interval(agent["margin"], 1),
    ]
    return [*means, _speed(agent), str(agent["paired_seeds"])]


def _brief_pairs(ladder: Ladder) -> list[list[str]]:
    """The wins of every pair, played and predicted, in whole percents."""
    names = [agent["name"] for agent in ladder["agents"]]
    rows = [["", "", *map(str, range(1, len(names) + 1))]]
    for row, name in enumerate(names):
        shares = zip(ladder["pairs"][row], ladder["predicted"][row], strict=True)
        cells = [
            "–" if played is None else f"{100 * played['mean']:.0f}|{100 * expected:.0f}"
            for played, expected in shares
        ]
        rows.append([str(row + 1), name, *cells])
    return rows


def _pair(played: dict[str, float] | None, expected: float) -> str:
    """A pair's cell in Markdown."""
    if played is None:
        return "–"
    mean, low, high = (100 * played[name] for name in ("mean", "low", "high"))
    text = f"{mean:.1f} [{low:.1f}, {high:.1f}] / {100 * expected:.1f}"
    return text if low <= 100 * expected <= high else f"**{text}**"


def _duels(ladder: Ladder) -> list[list[str]]:
    """A line for every duel."""
    shares = [
        [percent(duel[name]) for name in ("one_alone", "other_alone", "par", "ahead")]
        for duel in ladder["duels"]
    ]
    head = ["one", "other", "one alone", "other alone", "effective par", "one above it"]
    return [
        head,
        *(
            [duel["one"], duel["other"], *row]
            for duel, row in zip(ladder["duels"], shares, strict=True)
        ),
    ]


def table(ladder: Ladder) -> str:
    """A ladder as text, in lines of 80 characters where names allow it."""
    rows = [
        [str(rank), agent["name"], *_numbers(agent)]
        for rank, agent in enumerate(ladder["agents"], 1)
    ]
    parts = [
        tables.wrapped(headline(ladder)),
        tables.columns([["", "agent", *HEAD], *rows], 2, tables.WIDTH),
        "\n".join(map(tables.wrapped, separation(ladder))),
        tables.wrapped(f"{_pairs_note(ladder)}, in percent, as played | as the ratings predict:"),
        tables.columns(_brief_pairs(ladder), 2, tables.WIDTH),
    ]
    if ladder["duels"]:
        parts += [
            tables.wrapped(f"{_duels_note(ladder)}:"),
            tables.columns(_duels(ladder), 2, tables.WIDTH),
        ]
    return "\n\n".join(
        [*parts, tables.wrapped(SPEED_NOTE), f"The same games again: {ladder['command']}"]
    )


def markdown(ladder: Ladder) -> str:
    """A ladder as Markdown: the table, what is separated, the date and the command."""
    rows = [
        [str(rank), agent["name"], *_numbers(agent)]
        for rank, agent in enumerate(ladder["agents"], 1)
    ]
    blurred = [
        line
        for line, pair in zip(separation(ladder), ladder["neighbours"], strict=True)
        if not pair["separated"]
    ]
    comparisons = (
        "; ".join(blurred)
        if blurred
        else "All neighbours are separated "
        f"(probability of the order at least {100 * SEPARATED:.1f} %)"
    )
    about = f"{ladder['date']}: {headline(ladder)}. {comparisons}."
    return "\n\n".join(
        [
            tables.markdown([["", "agent", *HEAD], *rows], "rlrrrrrr"),
            about,
            f"`{ladder['command']}`",
        ]
    )


def matrix_markdown(ladder: Ladder) -> str:
    """The wins of every pair as a Markdown table, and the duels."""
    names = [agent["name"] for agent in ladder["agents"]]
    rows = [
        [
            name,
            *(
                "–" if row == column else _pair(ladder["pairs"][row][column], expected)
                for column, expected in enumerate(cells)
            ),
        ]
        for row, (name, cells) in enumerate(zip(names, ladder["predicted"], strict=True))
    ]
    parts = [
        f"{_pairs_note(ladder)}, in percent: played, with its interval, / predicted by the ratings"
        " (bold: the prediction lies outside of the interval):",
        tables.markdown([["", *names], *rows], "l" + "r" * len(names)),
    ]
    if ladder["duels"]:
        parts += [f"{_duels_note(ladder)}:", tables.markdown(_duels(ladder), "llrrrr")]
    return "\n\n".join(parts)


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
        "ladder": {"date": shipped["date"], "anchors": shipped["anchors"]},
        "paired_seeds": newcomer.paired_seeds,
        "games": newcomer.games,
        "rating": newcomer.points.rounded(1),
        "place": 1
        + sum(agent["rating"]["mean"] > newcomer.points.mean for agent in shipped["agents"]),
        "wins": newcomer.wins.rounded(4),
        "vp": newcomer.vp.rounded(2),
        "margin": newcomer.margin.rounded(2),
        "decisions_per_second": speed,
        "against": [
            {
                "name": agent["name"],
                "rating": agent["rating"],
                "share": None if share is None else share.rounded(4),
                "predicted": round(float(predicted), 4),
                "better": round(float(better), 4),
            }
            for agent, share, predicted, better in zip(
                shipped["agents"],
                newcomer.against,
                newcomer.predicted,
                newcomer.better,
                strict=True,
            )
        ],
    }


def newcomer_table(newcomer: dict[str, Any]) -> str:
    """What was found about a newcomer as text."""
    size = len(newcomer["against"]) + 1
    head = (
        f"{newcomer['name']}: rating {interval(newcomer['rating'])} (95 %), place "
        f"{newcomer['place']} of {size};"
        f" {tables.counted(newcomer['paired_seeds'], 'paired seed')}, "
        f"{tables.counted(newcomer['games'], 'game')}, "
        f"{newcomer['players']} players, {newcomer['side']} side"
    )
    rows = [
        [
            rung["name"],
            interval(rung["rating"]),
            percent(rung["share"]),
            f"{100 * rung['predicted']:.1f} %",
            f"{100 * rung['better']:.1f} %",
        ]
        for rung in newcomer["against"]
    ]
    rows.insert(newcomer["place"] - 1, [newcomer["name"], interval(newcomer["rating"]), "", "", ""])
    ranked = [
        [f"{'→' if rank == newcomer['place'] else ''}{rank}", *row]
        for rank, row in enumerate(rows, 1)
    ]
    compared = tables.columns(
        [["", "agent", "rating", "newcomer wins", "predicted", "P(it is better)"], *ranked],
        2,
        tables.WIDTH,
    )
    vp, margin = interval(newcomer["vp"], 1), interval(newcomer["margin"], 1)
    means = f"wins {percent(newcomer['wins'])}, VP {vp}, margin {margin}"
    ladder = f"Ladder of {newcomer['ladder']['date']}: {anchored(newcomer['ladder']['anchors'])}."
    return "\n\n".join(
        [
            tables.wrapped(head),
            compared,
            "\n".join(
                map(
                    tables.wrapped,
                    (f"{means}, {_speed(newcomer)} decisions/s. {ladder}", SPEED_NOTE),
                )
            ),
            f"The same games again: {newcomer['command']}",
        ]
    )
