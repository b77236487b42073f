"""How strong a search is, by its budget: ``python -m experiments.benchmarks.strength --minutes 15
--out runs/strength``.

The same searching agent plays with several budgets (``ismcts-10``, ``ismcts-100ms`` and so on)
against given opponents, two players, every paired seed from both seats. Each budget is a small
tournament of its own (see skyenv/arena/tournament.py), in a folder of its own, so games are written
as they come, processes play side by side, and the same command goes on where it was interrupted.
Only paired seeds count that were played against all opponents. With ``--minutes`` budgets share the
time, cheap ones first: what they leave over when they have played all their paired seeds is the
dear ones', which play fewer paired seeds in theirs. Intervals are 95 %, by the bootstrap over
paired seeds of skyenv/arena/ratings.py. Where all opponents stand on the ladder that ships for two
players, each budget also gets a rating there, as a newcomer that has met only them.

Written are strength.json and strength.png; ``--publish`` copies them to docs/search.

Exit codes: 0 all right, 1 a file is bad, 2 the command or an agent is, 130 interrupted (after the
report).
"""

from __future__ import annotations

import datetime
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from experiments.benchmarks.figures import machine
from experiments.benchmarks.publishing import published_part
from experiments.training.lines import tidy
from skyenv import tables
from skyenv.arena.estimates import Estimate, interval, percent
from skyenv.arena.folder import Folder, secret_of
from skyenv.arena.ladder import SHIPPED as SHIPPED_LADDERS
from skyenv.arena.ladder import Ladder
from skyenv.arena.ladder import read as read_ladder
from skyenv.arena.plots import save
from skyenv.arena.ratings import rate, rate_newcomer
from skyenv.arena.schedule import MOST_PAIRED_SEEDS, Settings, entrants
from skyenv.arena.tournament import Tournament
from skyenv.arena.units import number_of_workers
from skyenv.commands import INTERRUPTED, complain, exit_code
from skyenv.errors import OptionError
from skyenv.files import write_atomically
from skyenv.options import Options, command_line, common, option, parse
from skyenv.render.colours import REFERENCE, SERIES
from skyenv.seeds import HIGHEST_SEED
from skyenv_agents.search.budgets import Budget, budget_in

FORMAT: Final = 1
PLAYERS: Final = 2
AGENT: Final = "ismcts"
BUDGETS: Final = ("10", "100", "1000", "10000", "100ms", "1000ms")
OPPONENTS: Final = ("greedy", "appraiser")
DEFAULT_PAIRED_SEEDS: Final = 200
SHIPPED: Final = Path(__file__).resolve().parents[2] / "docs" / "search"
NAME: Final = "strength"
COMMAND: Final = "experiments.benchmarks.strength"
SIMULATIONS: Final = "simulations"
MILLISECONDS: Final = "milliseconds"

Row = dict[str, Any]
"""A budget against an opponent: agent, version, unit, budget, opponent, paired_seeds, games, wins
(an estimate),
seconds_a_decision, and the budget's rating on the ladder (an estimate, or None)."""


def cost(budget: Budget) -> tuple[bool, float]:
    """What budgets are ordered by: simulations first, then time."""
    return (
        (False, budget.simulations) if budget.milliseconds is None else (True, budget.milliseconds)
    )


def rated(folder: Folder, shipped: Ladder | None) -> Estimate | None:
    """The rating on a ladder of the agent whose games these are; None if an opponent doesn't stand
    there as it is now.
    """
    settings = folder.settings
    if shipped is None or (shipped["side"], shipped["max_turns"]) != (
        settings.side,
        settings.max_turns,
    ):
        return None
    rungs = {
        (rung["name"], rung["version"], rung["digest"]): index
        for index, rung in enumerate(shipped["agents"])
    }
    opponents = [(one.name, one.version, one.digest) for one in settings.agents[1:]]
    if not set(opponents) <= set(rungs):
        return None
    met = [rungs[opponent] for opponent in opponents]
    points = np.array([rung["rating"]["mean"] for rung in shipped["agents"]])
    return rate_newcomer(
        folder.results(), points[met], np.array(shipped["samples"])[:, met], settings.seed
    ).points


def rows(folder: Folder, budget: Budget, shipped: Ladder | None = None) -> list[Row]:
    """What came of the games of a budget: a row for each opponent; none before the first paired
    seed is finished.

    Args:
        folder: the games. budget: of the agent.
        shipped: a ladder to rate it on.
    """
    settings = folder.settings
    if not folder.whole_paired_seeds():
        return []
    rating = rated(folder, shipped)
    agent, *opponents = settings.agents
    ratings = rate(folder.results(), [one.name for one in settings.agents], settings.seed)
    speed = folder.speeds()[0]
    results = []
    for index, opponent in enumerate(opponents, 1):
        wins = ratings.pairs[0][index]
        assert wins is not None, "whole paired seeds have the games of all pairs"
        results.append(
            {
                "agent": agent.name,
                "version": agent.version,
                "unit": SIMULATIONS if budget.milliseconds is None else MILLISECONDS,
                "budget": budget.simulations
                if budget.milliseconds is None
                else budget.milliseconds,
                "opponent": opponent.name,
                "paired_seeds": ratings.paired_seeds,
                "games": ratings.paired_seeds * PLAYERS,
                "wins": wins.rounded(4),
                "seconds_a_decision": None if speed is None else float(f"{1 / speed:.3g}"),
                "rating": None if rating is None else rating.rounded(1),
            }
        )
    return results


def table(results: Sequence[Row]) -> str:
    """Rows as Markdown, a line for each budget."""
    opponents = list(dict.fromkeys(row["opponent"] for row in results))
    lines = [
        [
            "agent",
            "paired seeds, each from both seats",
            *(f"wins against {name}" for name in opponents),
            "rating",
            "ms a decision",
        ]
    ]
    for agent in dict.fromkeys(row["agent"] for row in results):
        played = {row["opponent"]: row for row in results if row["agent"] == agent}
        one, *_ = played.values()
        seconds = one["seconds_a_decision"]
        pace = (
            "–"
            if seconds is None
            else f"{1000 * seconds:,.0f}"
            if seconds >= 0.1
            else f"{1000 * seconds:.3g}"
        )
        wins = [percent(played[name]["wins"]) for name in opponents]
        lines.append([agent, str(one["paired_seeds"]), *wins, interval(one["rating"]), pace])
    return tables.markdown(lines, "l" + "r" * (len(lines[0]) - 1))


def markdown(content: dict[str, Any]) -> str:
    """What strength.json holds, for the docs: the table, when and where it was measured, and
    how.
    """
    where = content["machine"]
    workers = (
        "one process" if content["workers"] == 1 else f"{content['workers']} processes side by side"
    )
    return "\n".join(
        [
            table(content["rows"]),
            "",
            f"{content['date']}: {PLAYERS} players, {content['side']} side; {where['processor']}, "
            f"{where['cores']} cores,"
            f" {workers}. Intervals are 95 %; ratings are those of the [ladder](ladder.md),"
            " seen from these games; ms a decision are means over all decisions of the agent, "
            "those with one action too.",
            "",
            f"`{content['command']}`",
        ]
    )


def published() -> str:
    """The part of the docs with the published measurement; a line that says so if there is none.

    Raises:
        CheckpointError: the file is damaged.
    """
    return published_part(
        SHIPPED / f"{NAME}.json",
        markdown,
        f"![wins by budget](search/{NAME}.png)",
        "Nothing has been published yet.",
    )


# ---- the picture ----


def draw(results: Sequence[Row], path: Path) -> None:
    """Wins by the budget: simulations on the left, time on the right, a line for each opponent.

    Raises:
        OSError: the file can't be written.
    """
    from matplotlib.figure import Figure

    units = [
        unit for unit in (SIMULATIONS, MILLISECONDS) if any(row["unit"] == unit for row in results)
    ]
    figure = Figure(figsize=(1.6 + 4.2 * len(units), 4.6), layout="constrained")
    panels = figure.subplots(1, len(units), sharey=True, squeeze=False)[0]
    for axes, unit in zip(panels, units, strict=True):
        _draw_unit(axes, [row for row in results if row["unit"] == unit])
        axes.set_xlabel(f"{unit} for each decision")
    panels[0].set(ylabel="wins, % (bars: 95 %)", ylim=(0, 103), yticks=range(0, 101, 25))
    panels[-1].legend(loc="lower right", frameon=False)
    panels[0].set_title(
        f"Wins of {results[0]['agent'].rsplit('-', 1)[0]} by its budget, 2 players",
        loc="left",
        fontsize=12,
    )
    save(figure, path)


def _draw_unit(axes: Any, results: Sequence[Row]) -> None:
    opponents = list(dict.fromkeys(row["opponent"] for row in results))
    for number, opponent in enumerate(opponents):
        points = [row for row in results if row["opponent"] == opponent]
        shift = 1.04 ** (
            number - (len(opponents) - 1) / 2
        )  # lest the bars of opponents lie on each other
        wins = [100 * row["wins"]["mean"] for row in points]
        reach = [
            [max(0.0, 100 * (row["wins"]["mean"] - row["wins"]["low"])) for row in points],
            [max(0.0, 100 * (row["wins"]["high"] - row["wins"]["mean"])) for row in points],
        ]
        axes.errorbar(
            [shift * row["budget"] for row in points],
            wins,
            yerr=reach,
            marker="o",
            markersize=6,
            capsize=3,
            linewidth=1.8,
            color=SERIES[number % len(SERIES)],
            label=f"against {opponent}",
        )
    axes.set_xscale("log")
    budgets = sorted({row["budget"] for row in results})
    axes.set_xticks(budgets, [f"{budget:,g}" for budget in budgets], minor=False)
    axes.set_xticks([], minor=True)
    axes.set_xlim(budgets[0] / 2, budgets[-1] * 2)
    axes.axhline(100 / PLAYERS, color=REFERENCE, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    tidy(axes)


# ---- the command line ----


@dataclass(frozen=True)
class StrengthOptions(Options):
    """What the command takes."""

    agent: str = option(AGENT, f"a name that budgets can follow, as in {AGENT}-100", metavar="NAME")
    budgets: tuple[str, ...] = option(
        BUDGETS, "simulations, or milliseconds with ms", metavar="BUDGET"
    )
    against: tuple[str, ...] = common("against", default=OPPONENTS)
    side: str = common("side")
    paired_seeds: int = common(
        "paired_seeds",
        default=DEFAULT_PAIRED_SEEDS,
        text="paired seeds for each budget at the most",
        high=MOST_PAIRED_SEEDS,
    )
    minutes: float = common("minutes", text="time for all budgets together; 0: no limit")
    seed: int = common("seed", text="the first paired seed", high=HIGHEST_SEED - MOST_PAIRED_SEEDS)
    secret: int | None = common("secret")
    workers: int = common("workers")
    ray: str | None = common("ray")
    out: Path = option(
        Path("runs/strength"),
        "where everything is written; gone on with if it is there",
        metavar="FOLDER",
    )
    publish: Path | None = option(
        None, "copy the result to docs/search, or to this folder", const=SHIPPED, metavar="FOLDER"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code (see the module's text)."""
    description = (
        "Let a searching agent play with several budgets against given opponents, 2 players."
    )
    return exit_code(
        "strength", lambda: _run(parse(StrengthOptions, COMMAND, description, arguments))
    )


def _run(options: StrengthOptions) -> int:
    prefix = f"{options.agent}-"
    budgets = {f"{prefix}{text}": budget_in(f"{prefix}{text}", prefix) for text in options.budgets}
    if len(budgets) < len(options.budgets):
        raise OptionError("a budget is named twice")
    specs = sorted(budgets, key=lambda spec: cost(budgets[spec]))
    secret = secret_of(options.secret, *(options.out / spec for spec in specs))
    options = replace(options, secret=secret)
    settings = [
        Settings(
            entrants([spec, *options.against], PLAYERS, options.side),
            PLAYERS,
            options.side,
            options.seed,
            secret=secret,
            newcomer=True,
        )
        for spec in specs
    ]
    path = SHIPPED_LADDERS / f"{PLAYERS}-players.json"
    shipped = read_ladder(path, PLAYERS) if path.exists() else None
    until = time.perf_counter() + 60 * options.minutes
    results: list[Row] = []
    interrupted = False
    for number, (spec, wanted) in enumerate(zip(specs, settings, strict=True)):
        with Folder(options.out / spec, wanted) as folder:
            if not interrupted:
                share = (
                    max(0.0, until - time.perf_counter()) / 60 / (len(specs) - number)
                    if options.minutes
                    else None
                )
                interrupted = _play(folder, options, share)
            results += rows(folder, budgets[spec], shipped)
    if not results:
        complain("strength", "interrupted before the first paired seed was finished")
        return INTERRUPTED
    _report(results, options, whole_run=not interrupted)
    if interrupted:
        complain("strength", "interrupted; the same command goes on")
    return INTERRUPTED if interrupted else 0


def _play(folder: Folder, options: StrengthOptions, share: float | None) -> bool:
    """Play the games of one budget, for so many minutes; whether Ctrl-C ended it."""
    print(
        f"{folder.settings.agents[0].name} against {', '.join(options.against)}",
        file=sys.stderr,
        flush=True,
    )
    tournament = Tournament(
        folder,
        paired_seeds=options.paired_seeds,
        minutes=share,
        workers=options.workers,
        ray=options.ray,
        progress=True,
    )
    tournament.run()
    return tournament.interrupted


def _report(results: list[Row], options: StrengthOptions, *, whole_run: bool) -> None:
    result = {
        "format": FORMAT,
        "date": datetime.date.today().isoformat(),
        "command": command_line(StrengthOptions, COMMAND, {**vars(options), "publish": None}),
        "machine": machine(),
        "workers": number_of_workers(options.workers, options.ray),
        "side": options.side,
        "seed": options.seed,
        "rows": results,
    }
    print(markdown(result))
    write_atomically(
        options.out / f"{NAME}.json", json.dumps(result, indent=2, ensure_ascii=False) + "\n"
    )
    draw(results, options.out / f"{NAME}.png")
    if options.publish is not None and whole_run:
        options.publish.mkdir(parents=True, exist_ok=True)
        for ending in ("json", "png"):
            write_atomically(
                options.publish / f"{NAME}.{ending}",
                (options.out / f"{NAME}.{ending}").read_bytes(),
            )


if __name__ == "__main__":
    sys.exit(main())
