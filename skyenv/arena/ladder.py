"""Ladders as text and JSON, and the shipped ladders."""

import datetime
import json
from pathlib import Path
from typing import Any, Final

import numpy as np

from skyenv.arena.ratings import ANCHOR_POINTS, SEPARATED, Ratings
from skyenv.arena.schedule import Settings
from skyenv.console import tables
from skyenv.engine.options import table_name
from skyenv.errors import CheckpointError, shown
from skyenv.files import read_json, sealed, unsealed
from skyenv.rules.variant import of_variant
from skyenv.statistics import RESAMPLES, interval, percent

# The content of ladder.json; agents from best to worst, matrices in the same order.
Ladder = dict[str, Any]

# Version of ladder.json.
FORMAT: Final = of_variant(5)
# Bootstrap samples stored in a ladder, for rating newcomers.
SAMPLES: Final = 200
# Estimates of a duel, see :class:`skyenv.arena.ratings.Duel`.
SHARES: Final = ("one_alone", "other_alone", "par", "ahead")


# ---- JSON ----


def as_dict(ratings: Ratings, settings: Settings, command: str) -> Ladder:
    """Return a ladder as the content of ladder.json.

    Args:
        ratings: the ratings of the settings' agents.
        settings: the tournament's settings. command: the command line that repeats it.
    """
    names = [agent.name for agent in settings.agents]
    order = sorted(range(len(names)), key=lambda index: -ratings.points[index].mean)
    square = np.ix_(order, order)
    return {
        "format": FORMAT,
        "date": datetime.date.today().isoformat(),
        "command": command,
        **{
            name: getattr(settings, name)
            for name in ("project", "players", "side", "seed", "max_turns")
        },
        "paired_seeds": ratings.paired_seeds,
        "games": ratings.games,
        "anchors": {"names": [names[index] for index in ratings.anchors], "points": ANCHOR_POINTS},
        "seats": [share.rounded(4) for share in ratings.seats],
        "agents": [
            {**_entry(ratings, index, settings), "paired_seeds": ratings.paired_seeds}
            for index in order
        ],
        "better": np.round(ratings.better[square], 4).tolist(),
        "pairs": [[_rounded(ratings, one, other) for other in order] for one in order],
        "predicted": np.round(ratings.predicted[square], 4).tolist(),
        "apart": [[names[index] for index in pair] for pair in ratings.apart],
        "duels": [
            {
                "one": names[duel.one],
                "other": names[duel.other],
                "games": duel.games,
                **{name: getattr(duel, name).rounded(4) for name in SHARES},
            }
            for duel in ratings.duels
        ],
        "samples": np.round(ratings.samples[:SAMPLES, order], 1).tolist(),
    }


def _entry(ratings: Ratings, index: int, settings: Settings) -> dict[str, Any]:
    entry: dict[str, Any] = {
        **vars(settings.agents[index]),
        "rating": ratings.points[index].rounded(1),
        "wins": ratings.wins[index].rounded(4),
        "vp": ratings.vp[index].rounded(2),
        "margin": ratings.margin[index].rounded(2),
        "worst": None,
        "exploitability": None,
    }
    worst = ratings.worst(index)
    if worst is not None:
        opponent, share = worst
        par = 1 / settings.players
        entry["worst"] = settings.agents[opponent].name
        entry["exploitability"] = {
            name: round(max(0, bound - par), 4) for name, bound in vars(share).items()
        }
    return entry


def _rounded(ratings: Ratings, one: int, other: int) -> dict[str, float] | None:
    share = ratings.pairs.get((one, other))
    return None if share is None else share.rounded(4)


def newcomer_as_dict(
    ratings: Ratings, settings: Settings, shipped: Ladder, command: str
) -> dict[str, Any]:
    """Return the results of a newcomer, agent 0 of the settings; the others are a ladder's."""
    rating = ratings.points[0].mean
    better = sum(agent["rating"]["mean"] > rating for agent in shipped["agents"])
    return {
        "format": FORMAT,
        "command": command,
        **_entry(ratings, 0, settings),
        "players": settings.players,
        "side": settings.side,
        "ladder": {"date": shipped["date"], "anchors": shipped["anchors"]},
        "paired_seeds": ratings.paired_seeds,
        "games": ratings.games,
        "place": 1 + better,
        "against": [
            {
                "name": agent["name"],
                "rating": agent["rating"],
                "share": _rounded(ratings, 0, number),
                "predicted": round(float(ratings.predicted[0, number]), 4),
                "better": round(float(ratings.better[0, number]), 4),
            }
            for number, agent in enumerate(shipped["agents"], 1)
        ],
    }


def as_json(content: dict[str, Any]) -> str:
    """Return a ladder, or a newcomer's results, as JSON text with one line an entry and a
    checksum.
    """
    entries = [
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in sealed(content).items()
    ]
    return "{\n" + ",\n".join(entries) + "\n}\n"


def path_of(players: int, side: str) -> Path:
    """Return the file of the shipped ladder for a table."""
    return Path(__file__).resolve().parent / "ladders" / f"{table_name(players, side)}.json"


def read(path: Path, **wanted: Any) -> Ladder:
    """Read a ladder.

    Args:
        path: the file.
        wanted: entries that it must have, such as ``players=2``.

    Raises:
        CheckpointError: not a ladder of this version, damaged, or without the wanted entries.
        OSError: the file can't be read.
    """
    ladder: Ladder = read_json(path)
    try:
        if ladder["format"] != FORMAT:
            raise ValueError(
                f"format {shown(ladder['format'])} instead of {FORMAT}; repeat the command "
                "that made it (with the tournament's --out folder it plays no more games)"
            )
        ladder = unsealed(ladder)
        others = [f"{name} {ladder[name]}" for name, one in wanted.items() if ladder[name] != one]
    except (ValueError, TypeError, KeyError) as error:
        raise CheckpointError(f"{path} is not a ladder, or is damaged: {error}") from error
    if others:
        raise CheckpointError(f"{path} is a ladder of {', '.join(others)}")
    return ladder


# ---- text ----


def anchored(anchors: dict[str, Any]) -> str:
    """Return the definition of the rating scale by its anchors."""
    return f"mean of {', '.join(anchors['names'])} = {anchors['points']:.0f}"


def table(ladder: Ladder) -> str:
    """Return a ladder as text, in lines of 80 characters where names allow it."""
    agents = ladder["agents"]
    players = ladder["players"]
    names = [agent["name"] for agent in agents]
    headline = (
        f"{ladder['date']}: {players} players, {ladder['side']} side, "
        f"{tables.counted(ladder['paired_seeds'], 'paired seed')}, "
        f"{tables.counted(ladder['games'], 'game')}; {anchored(ladder['anchors'])}, 400 points are "
        "odds of 10 to 1; intervals are 95 %. Seats of equal agents would win "
        f"{', '.join(map(percent, ladder['seats']))}"
    )
    means = [
        [
            str(rank),
            agent["name"],
            interval(agent["rating"]),
            percent(agent["wins"]),
            *(interval(agent[name], 1) for name in ("vp", "margin")),
            str(agent["paired_seeds"]),
            agent["worst"] or "–",
            percent(agent["exploitability"]),
        ]
        for rank, agent in enumerate(agents, 1)
    ]
    order = [
        f"{higher} is above {lower}: {100 * min(one, 1 - 1 / RESAMPLES):.1f} %"
        + ("" if one >= SEPARATED else f", not separated (below {100 * SEPARATED:.1f} %)")
        for higher, lower, one in zip(names, names[1:], np.diag(ladder["better"], 1), strict=False)
    ]
    head = ["", "agent", "rating", "wins", "VP", "margin", "paired seeds"]
    parts = [
        tables.wrapped(headline),
        tables.columns([[*head, "worst opponent", "exploitability ≥"], *means], 2),
        "\n".join(["Probabilities of the order:", *map(tables.wrapped, order)]),
        *_pairs_parts(ladder),
        *(_duels_parts(ladder) if ladder["duels"] else ()),
    ]
    return "\n\n".join([*parts, f"The same games again:\n{tables.folded(ladder['command'])}"])


def _pairs_parts(ladder: Ladder) -> list[str]:
    names = [agent["name"] for agent in ladder["agents"]]
    apart = [set(pair) for pair in ladder["apart"]]
    rows = [["", "", *map(str, range(1, len(names) + 1))]]
    for name, *shares in zip(names, ladder["pairs"], ladder["predicted"], strict=True):
        cells = [
            _pair(*share, is_apart={name, other} in apart)
            for other, *share in zip(names, *shares, strict=True)
        ]
        rows.append([str(len(rows)), name, *cells])
    games = "Wins"
    if ladder["players"] > 2:
        games = "Of the games at tables with both that either won, the share"
    heading = (
        f"{games} of the row's agent against the column's, in percent: played | predicted by the "
        "ratings (* prediction outside the interval"
        f"{'; in brackets: pairs left out of the ratings' if apart else ''}):"
    )
    return [tables.wrapped(heading), tables.columns(rows, 2)]


def _duels_parts(ladder: Ladder) -> list[str]:
    heading = (
        f"Duels, one agent alone against {ladder['players'] - 1} copies of the other: wins of the "
        "lone agent, the effective par (mean of both directions, the share of equal agents), and "
        "the first agent's lead over it:"
    )
    rows = [["one", "other", "games", *(name.replace("_", " ") for name in SHARES)]]
    for duel in ladder["duels"]:
        shares = [percent(duel[name]) for name in SHARES]
        rows.append([duel["one"], duel["other"], str(duel["games"]), *shares])
    return [tables.wrapped(heading), tables.columns(rows, 2)]


def _pair(played: dict[str, float] | None, predicted: float, *, is_apart: bool) -> str:
    if played is None:
        return "–"
    cell = f"{100 * played['mean']:.0f}|{100 * predicted:.0f}"
    if is_apart:
        return f"({cell})"
    if played["low"] <= predicted <= played["high"]:
        return cell
    return f"{cell}*"


def newcomer_table(newcomer: dict[str, Any]) -> str:
    """Return a newcomer's results as text."""
    place = newcomer["place"]
    rating = interval(newcomer["rating"])
    head = (
        f"{newcomer['name']}: rating {rating} (95 %), place {place} of "
        f"{len(newcomer['against']) + 1}; {tables.counted(newcomer['paired_seeds'], 'paired seed')}"
        f", {tables.counted(newcomer['games'], 'game')}, {newcomer['players']} players, "
        f"{newcomer['side']} side; wins {percent(newcomer['wins'])}, "
        f"VP {interval(newcomer['vp'], 1)}, margin {interval(newcomer['margin'], 1)}; "
        f"exploitability ≥ {percent(newcomer['exploitability'])} ({newcomer['worst']}). "
        f"Ladder of {newcomer['ladder']['date']}: {anchored(newcomer['ladder']['anchors'])}."
    )
    rows = [
        [rung["name"], interval(rung["rating"]), percent(rung["share"])]
        + [f"{100 * rung[name]:.1f} %" for name in ("predicted", "better")]
        for rung in newcomer["against"]
    ]
    rows.insert(place - 1, [f"→ {newcomer['name']}", rating, "", "", ""])
    titles = ["", "agent", "rating", "newcomer wins", "predicted", "P(it is better)"]
    ranked = [titles, *([str(rank), *row] for rank, row in enumerate(rows, 1))]
    return "\n\n".join(
        [
            tables.wrapped(head),
            tables.columns(ranked, 2),
            f"The same games again:\n{tables.folded(newcomer['command'])}",
        ]
    )
