"""The command ``benchmark``: skyenv-bench 1, the protocol of docs/benchmark.md.

It measures an agent in three ways:

* NashConv on exactly solved bidding tasks (:func:`skyenv.solving.commands.measure`),
* games against a fixed panel of frozen agents (:mod:`skyenv.arena.tournament`),
* the wins of exploiters against it (:func:`skyenv.arena.evaluate.evaluate`).

``--out FOLDER`` stores finished parts; the same command resumes there.
"""

import datetime
import json
import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, Final

import numpy as np

from skyenv import __version__
from skyenv.agents import Agent, agents_help, decide_game, make_agent
from skyenv.arena.evaluate import evaluate
from skyenv.arena.lookahead import LookaheadAgent
from skyenv.arena.ratings import rate
from skyenv.arena.schedule import Settings, entrant, with_newcomer
from skyenv.arena.tournament import Folder, play
from skyenv.console import tables
from skyenv.console.options import (
    GOES_ON,
    Options,
    argument,
    command_line,
    common,
    option,
)
from skyenv.engine.game import Game
from skyenv.engine.options import table_label, table_name
from skyenv.files import check_writable, locked, read_sealed, sealed, write_atomically
from skyenv.rules.components import SIDES
from skyenv.solving.commands import measure
from skyenv.statistics import interval, mean_of

NAME: Final = "skyenv-bench 1"
# The opponents. Their decisions are frozen; tests compare them with stored ones.
PANEL: Final = ("random", "greedy", "appraiser", "rollout-16", "trained-2026a")
EXACT: Final = ("duel-4", "alea-4")
# What an agent may use: only observation and rewards; also a heuristic's prior, features or
# opponents; also a search of at most SEARCH_MILLISECONDS a decision on one core.
TRACKS: Final = ("nothing", "heuristic", "search")
# The secret of all published figures.
SECRET: Final = 20261126
SEARCH_MILLISECONDS: Final = 10.0
# Milliseconds a decision; look-ahead with a slower agent would take hours.
QUICK_ENOUGH: Final = 2.0
# Number of timed decisions.
TIMED: Final = 200


@dataclass(frozen=True)
class BenchmarkOptions(Options):
    """Options of ``benchmark``."""

    agent: str = argument(f"agent to measure: {agents_help()}", metavar="AGENT")
    track: str = option("nothing", "resources beyond observation and rewards", choices=TRACKS)
    training: str = option("", "how it was trained: decisions, hours, machine", metavar="TEXT")
    players: tuple[int, ...] = common("players", default=(2, 3, 4), text="tables, on both sides")
    paired_seeds: int = common("paired_seeds", default=100)
    openings: int = option(8, "openings of each bidding task; 0: none", metavar="N")
    samples: int = option(
        32, "random numbers per decision; 1 suffices for deterministic agents", low=1, metavar="N"
    )
    lookahead: int = option(20, "paired seeds of the look-ahead exploiter; 0: none", metavar="N")
    exploiters: tuple[str, ...] = option((), "additional exploiters", metavar="AGENT")
    secret: int = common(
        "secret",
        default=SECRET,
        text="secret that decides deals and agents' random numbers; another one checks a claim",
    )
    workers: int = common("workers")
    ray: str | None = common("ray")
    out: Path | None = option(
        None, "folder for finished parts; the same command resumes there", metavar="FOLDER"
    )
    json: Path | None = common("json")


class Parts:
    """A cache of an agent's finished figures, in a folder's parts.json.

    Attributes:
        folder: the file's folder.
        who: identifies the agent; figures of other agents are left unchanged.

    Raises:
        CheckpointError: the file is damaged.
    """

    def __init__(self, folder: Path, who: str) -> None:
        self.folder = folder
        self.who = who
        self._path = folder / "parts.json"
        self._found = read_sealed(self._path)

    def of(self, what: str, compute: Callable[[], Any], *, recompute: bool = False) -> Any:
        """Return figures from the cache, computed and stored if missing or if `recompute`."""
        key = f"{what} of {self.who}"
        if recompute or key not in self._found:
            self._found[key] = compute()
            write_atomically(self._path, json.dumps(sealed(self._found)))
        return self._found[key]


def run_benchmark(options: BenchmarkOptions) -> None:
    """Run ``benchmark``."""
    if options.json is not None:
        check_writable(options.json)
    agent = make_agent(options.agent)
    digest = entrant(options.agent, options.players[0], SIDES[0]).digest
    with ExitStack() as held:
        folder = options.out or Path(held.enter_context(TemporaryDirectory(prefix="skyenv-")))
        held.enter_context(locked(folder))
        parts = Parts(folder, f"{options.agent}, version {agent.version} {digest}".strip())
        cost = parts.of("cost", lambda: [0.0, 0.0])
        began = os.times()
        try:
            content = measured(options, agent, parts)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("" if options.out is None else GOES_ON) from None
        finally:
            *processors, clock = np.subtract(os.times(), began)
            spent = np.add(cost, [sum(processors), clock]).round(1).tolist()
            parts.of("cost", lambda: spent, recompute=True)
    content["cost"] |= {"cpu_seconds": spent[0], "seconds": spent[1]}
    if options.json is not None:
        write_atomically(options.json, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    print(report(content))


def measured(options: BenchmarkOptions, agent: Agent, parts: Parts) -> dict[str, Any]:
    """Return all figures of an agent.

    Raises:
        KeyboardInterrupt: interrupted by Ctrl-C.
    """
    pace = parts.of("pace", partial(milliseconds, agent))
    exploiters: list[tuple[Agent | str, int]] = [
        (name, options.paired_seeds) for name in options.exploiters
    ]
    if options.lookahead and pace["mean"] <= QUICK_ENOUGH:
        exploiters.append((LookaheadAgent(agent), options.lookahead))
    found = [_table(options, parts, *table) for table in product(options.players, SIDES)]
    for one, (exploiter, paired_seeds) in product(found, exploiters):
        _exploit(one, exploiter, agent, paired_seeds, options.secret, parts)
    unsaid = dict.fromkeys(("workers", "ray", "out", "json"))
    return {
        "benchmark": NAME,
        "date": datetime.date.today().isoformat(),
        "skyenv": __version__,
        "agent": parts.who,
        "track": options.track,
        "training": options.training,
        "milliseconds": pace,
        "exact": {task: _exact(options, agent, parts, task) for task in EXACT if options.openings},
        "tables": found,
        "cost": {name: sum(one[name] for one in found) for name in ("games", "decisions")},
        "command": command_line(
            BenchmarkOptions, "skyenv benchmark", {**asdict(options), **unsaid}
        ),
    }


def milliseconds(agent: Agent) -> dict[str, float]:
    """Return the CPU time of single decisions in ms, mean and 95th percentile, over a game between
    greedy players.
    """
    game = Game(2, seed=1)
    greedy = make_agent("greedy")
    spent = list[float]()
    decide_game(game, agent)  # compiles
    while not game.is_over and len(spent) < TIMED:
        began = process_time()
        decide_game(game, agent)
        spent.append(1000 * (process_time() - began))
        game.play(decide_game(game, greedy))
    return {"mean": float(np.mean(spent)), "most": float(np.quantile(spent, 0.95))}


def _exact(options: BenchmarkOptions, agent: Agent, parts: Parts, task: str) -> dict[str, Any]:
    """Return NashConv in a task's first openings, and the means with 95 % intervals."""
    samples = options.samples
    rows = [
        parts.of(f"{name}, {samples} samples", partial(measure, agent, name, samples))
        for name in (f"{task}/{index}" for index in range(options.openings))
    ]
    means = {
        unit: mean_of([row[unit] for row in rows]).rounded(4) for unit in ("nash_conv", "share")
    }
    return {"samples": samples, **means, "openings": rows}


# ---- games ----


def _table(options: BenchmarkOptions, parts: Parts, players: int, side: str) -> dict[str, Any]:
    """Play the games with the panel at a table and return their figures.

    Raises:
        KeyboardInterrupt: interrupted by Ctrl-C.
    """
    agents = with_newcomer(options.agent, PANEL, players, side)
    settings = Settings(agents, players, side, secret=options.secret, newcomer=True)
    with Folder(parts.folder / table_name(players, side), settings) as kept:
        interrupted = play(
            kept,
            paired_seeds=options.paired_seeds,
            workers=options.workers,
            ray=options.ray,
            progress=True,
        )
        if interrupted:
            raise KeyboardInterrupt
        return against_panel(kept)


def against_panel(folder: Folder) -> dict[str, Any]:
    """Return the newcomer's figures from the games of a table's folder.

    `wins` is its share of the wins: in all games with two players, else in those at tables of
    different agents. `against` has its share against each panel agent, `exploiters` each panel
    agent's share against it. With more than two players these are the shares of an agent alone
    against copies of the other.
    """
    settings = folder.settings
    names = [one.name for one in settings.agents]
    ratings = rate(folder.results(), names, settings.seed)
    alone = {pair: share.rounded(4) for pair, share in ratings.alone.items()}
    return {
        "players": settings.players,
        "side": settings.side,
        "paired_seeds": ratings.paired_seeds,
        "games": ratings.games,
        "decisions": sum(one["decisions"] for games in folder.games.values() for one in games),
        "par": 1 / settings.players,
        "panel": {one.name: one.version for one in settings.agents[1:]},
        "wins": ratings.wins[0].rounded(4),
        "against": {names[other]: share for (one, other), share in alone.items() if one == 0},
        "exploiters": {
            names[one]: share
            for (one, other), share in alone.items()
            if other == 0 and names[0] != f"new {names[one]}"  # a copy wins par
        },
    }


def _exploit(
    found: dict[str, Any],
    exploiter: Agent | str,
    agent: Agent,
    paired_seeds: int,
    secret: int,
    parts: Parts,
) -> None:
    """Add to a table's figures the wins of an exploiter alone against copies of the agent.

    Raises:
        KeyboardInterrupt: interrupted by Ctrl-C.
    """
    players = found["players"]
    side = found["side"]
    best = make_agent(exploiter)
    name = exploiter if isinstance(exploiter, str) else best.name

    def share() -> dict[str, float]:
        played = (exploiter, [agent], players, side, paired_seeds)
        results = evaluate(*played, secret=secret, deterministic=True, progress=True)
        if not results or results[0].interrupted:
            raise KeyboardInterrupt
        return results[0].share.rounded(4)

    games = f"{table_name(players, side)}, {paired_seeds} paired seeds, secret {secret}"
    found["exploiters"][name] = parts.of(f"what {name} {best.version} wins, {games}", share)


# ---- the report ----


def report(content: Mapping[str, Any]) -> str:
    """Return the report as text."""
    pace = content["milliseconds"]
    cost = content["cost"]
    late = content["track"] == "search" and pace["mean"] > SEARCH_MILLISECONDS
    heading = (
        f"{content['benchmark']}: {content['agent']}, track {content['track']}. A decision takes "
        f"{pace['mean']:.2f} ms of one core (95th percentile {pace['most']:.2f} ms)"
        f"{', above the limit of this track' if late else ''}. "
        f"{cost['games']:,} games with the panel, {cost['decisions']:,} decisions; in total "
        f"{cost['cpu_seconds']:,.0f} s CPU time, {cost['seconds']:,.0f} s wall time."
    )
    parts = [tables.wrapped(heading), tables.columns(panel_rows(content))]
    if content["exact"]:
        parts.append(tables.columns(exact_rows(content)))
    return "\n\n".join([*parts, f"The same again: {content['command']}"])


def exact_rows(content: Mapping[str, Any]) -> list[list[str]]:
    """Return a header and a row for each bidding task."""
    rows = [["task", "openings", "NashConv, VP", "of the payoffs' range, %"]]
    for task, one in content["exact"].items():
        openings = one.get("openings") or one["positions"]  # as older files call them
        vp, share = (mean_of([row[unit] for row in openings]) for unit in ("nash_conv", "share"))
        rows.append([task, str(len(openings)), interval(vp, 2), interval(share, 1, 100)])
    return rows


def panel_rows(content: Mapping[str, Any]) -> list[list[str]]:
    """Return a header and a row for each table.

    Columns: wins in percent, in all and against each panel agent, and the exploitability's lower
    bound in points above par. A copy of the agent wins par, so the bound is at least 0.
    """
    rows = [["table", "paired seeds", "wins, %", "par", *PANEL, "exploitability ≥", "by"]]
    for one in content["tables"]:
        by, most = max(one["exploiters"].items(), key=lambda each: float(each[1]["low"]))
        above = {end: max(0.0, share - one["par"]) for end, share in most.items()}
        rows.append(
            [
                table_label(one["players"], one["side"]),
                str(one["paired_seeds"]),
                interval(one["wins"], 1, 100),
                f"{100 * one['par']:.0f}",
                *(interval(one["against"].get(name), 0, 100) for name in PANEL),
                interval(above, 1, 100),
                by if above["mean"] else "–",
            ]
        )
    return rows
