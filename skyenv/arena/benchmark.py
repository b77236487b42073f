"""The command ``benchmark``: skyenv-bench 2, the protocol of docs/benchmark.md.

It measures agents in three ways:

* NashConv on exactly solved bidding tasks (:func:`skyenv.solving.commands.measure`),
* games against a fixed panel of frozen agents (:mod:`skyenv.arena.tournament`),
* the wins of exploiters against them (:func:`skyenv.arena.evaluate.evaluate`).

``--out FOLDER`` stores finished parts; the same command resumes there.
"""

import datetime
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, Final

import numpy as np

from skyenv.agents import Agent, agents_help, decide, make_agent
from skyenv.arena.evaluate import evaluate
from skyenv.arena.lookahead import LookaheadAgent
from skyenv.arena.ratings import rate, some_of
from skyenv.arena.schedule import Settings, code_version, entrant, with_newcomer
from skyenv.arena.tournament import Folder, play
from skyenv.console import tables
from skyenv.console.options import (
    Options,
    argument,
    command_line,
    common,
    option,
    resumable,
)
from skyenv.console.progress import progress
from skyenv.engine.games import Games
from skyenv.engine.openings import OF_AUCTIONS, TASKS, measured
from skyenv.engine.options import table_label, table_name
from skyenv.files import (
    check_writable,
    locked,
    read_sealed,
    sealed,
    write_atomically,
)
from skyenv.solving.commands import means, measure
from skyenv.solving.responses import LEAST_SAMPLES
from skyenv.statistics import interval

NAME: Final = "skyenv-bench 2"
# The opponents. Their decisions are frozen; tests compare them with stored ones.
PANEL: Final = ("random", "greedy", "appraiser", "rollout-16", "trained-2026a")
BIDDING: Final = ("bluff-2", "duel-4", "alea-4")
TWO_SEATS: Final = tuple(name for name in OF_AUCTIONS if TASKS[name].num_players == 2)
SIDE: Final = "front"
# What an agent may use: only observation and rewards; also a heuristic's prior, features or
# opponents; also a search of at most SEARCH_MILLISECONDS a decision on one core.
TRACKS: Final = ("nothing", "heuristic", "search")
# Most decisions of an agent's training and tuning, all stages together.
BUDGETS: Final = ("unknown", "none", "64k", "1M", "10M", "100M", "1G", "more")
# The secret of all published figures.
SECRET: Final = 20261126
SEARCH_MILLISECONDS: Final = 10.0
# Milliseconds a decision; look-ahead with a slower agent would take hours.
QUICK_ENOUGH: Final = 2.0
# Number of timed decisions.
TIMED: Final = 200
# Options that the protocol fixes.
FIXED: Final = ("tasks", "openings", "players", "paired_seeds", "lookahead")


@dataclass(frozen=True)
class BenchmarkOptions(Options):
    """Options of ``benchmark``."""

    agents: tuple[str, ...] = argument(f"agents to measure: {agents_help()}", metavar="AGENT")
    track: str = option("nothing", "resources beyond observation and rewards", choices=TRACKS)
    budget: str = option("unknown", "most decisions of training and tuning", choices=BUDGETS)
    note: str = option("", "hours and machine of the training", metavar="TEXT")
    tasks: tuple[str, ...] = option(
        BIDDING, "bidding tasks for two seats, or none", metavar="TASK", choices=TWO_SEATS
    )
    openings: int = option(32, "held-out openings of each bidding task", low=1)
    samples: int = option(
        LEAST_SAMPLES, "random numbers per decision of a stochastic agent in tasks"
    )
    players: tuple[int, ...] = common(
        "players", default=(2, 3, 4), text="tables, on the front side, or none"
    )
    paired_seeds: int = common("paired_seeds", default=100, low=2)
    lookahead: int = option(40, "paired seeds of the look-ahead exploiter; 0: none")
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
    csv: Path | None = common("json", text="write the figures as CSV to this file")
    latex: Path | None = common("json", text="write the tables as LaTeX to this file")


class Parts:
    """An agent and its finished figures, in parts.json of its folder.

    Attributes:
        spec, agent: the agent.
        who: identifies it; figures of another version or file are left unchanged.
        folder: its folder, inside that of the command.

    Raises:
        AgentError, CheckpointError: the agent can't be made, or parts.json is damaged.
    """

    def __init__(self, folder: Path, spec: str) -> None:
        self.spec = spec
        self.agent = make_agent(spec)
        digest = entrant(spec, 2, SIDE).digest
        self.who = f"{spec}, version {self.agent.version} {digest}".strip()
        self.folder = folder / re.sub(r"[^\w.-]+", "-", spec)[-100:].strip(".-")
        self.folder.mkdir(exist_ok=True)
        self._path = self.folder / "parts.json"
        self._found = read_sealed(self._path)

    def of(self, what: str, compute: Callable[[], Any], *, recompute: bool = False) -> Any:
        """Return figures from the cache, computed and stored if missing or if `recompute`."""
        key = f"{what} of {self.who}, skyenv {code_version()}"
        if recompute or key not in self._found:
            self._found[key] = compute()
            write_atomically(self._path, json.dumps(sealed(self._found)))
        return self._found[key]

    def pace(self) -> dict[str, float]:
        """Return :func:`milliseconds` of the agent."""
        found: dict[str, float] = self.of("pace", partial(milliseconds, self.agent))
        return found


def run_benchmark(options: BenchmarkOptions) -> None:
    """Run ``benchmark``."""
    outputs = [(options.json, as_json), (options.csv, as_csv), (options.latex, as_latex)]
    files = [(path, as_text) for path, as_text in outputs if path is not None]
    check_writable(*(path for path, _ in files))
    with ExitStack() as held:
        folder = options.out or Path(held.enter_context(TemporaryDirectory(prefix="skyenv-")))
        held.enter_context(locked(folder))
        held.enter_context(resumable(options.out))
        said = {name: getattr(options, name) for name in ("track", "budget", "note")}
        agents = [Parts(folder, spec) for spec in options.agents]
        entries = [{**said, **figures(options, parts)} for parts in agents]
    unsaid = dict.fromkeys(("workers", "ray", "out", "json", "csv", "latex"))
    usual = BenchmarkOptions(options.agents)
    content = {
        "benchmark": NAME,
        "changed": [name for name in FIXED if getattr(options, name) != getattr(usual, name)],
        "date": datetime.date.today().isoformat(),
        "skyenv": code_version(),
        "agents": entries,
        "command": command_line(
            BenchmarkOptions, "skyenv benchmark", {**asdict(options), **unsaid}
        ),
    }
    for path, as_text in files:  # first: the terminal may be gone
        write_atomically(path, as_text(content))
    print(report(content))


def figures(options: BenchmarkOptions, parts: Parts) -> dict[str, Any]:
    """Return all figures of an agent, with the time that they have taken.

    Raises:
        KeyboardInterrupt: interrupted by Ctrl-C.
    """
    cost = parts.of("cost", lambda: [0.0, 0.0])
    began = os.times()
    try:
        exact = {task: _exact(options, parts, task) for task in options.tasks}
        found = [_table(options, parts, players) for players in options.players]
    finally:
        *processors, clock = np.subtract(os.times(), began)
        spent = np.add(cost, [sum(processors), clock]).round(1).tolist()
        parts.of("cost", lambda: spent, recompute=True)
    return {
        "agent": parts.who,
        "milliseconds": parts.pace(),
        "headlines": headlines(exact, found),
        "exact": exact,
        "tables": found,
        "cost": {name: sum(one[name] for one in found) for name in ("games", "decisions")}
        | {"cpu_seconds": spent[0], "seconds": spent[1]},
    }


def headlines(
    exact: Mapping[str, Any], found: Sequence[Mapping[str, Any]]
) -> dict[str, float | None]:
    """Return the number of each half; None if it wasn't measured.

    "bidding" is the mean NashConv of the tasks, as a share of the payoffs' range; "games" the mean
    of the tables' wins divided by par.
    """
    shares = [one["share"] for one in exact.values()]
    wins = [one["wins"]["mean"] / one["par"] for one in found]
    return {
        name: round(float(np.mean(numbers)), 4) if numbers else None
        for name, numbers in (("bidding", shares), ("games", wins))
    }


# ---- time ----


def milliseconds(agent: Agent) -> dict[str, float]:
    """Return the CPU time of a single decision in ms, mean and 95th percentile ("most"), in a game
    between greedy players.
    """
    game, greedy, spent = Games(1, 2, seed=1), make_agent("greedy"), list[float]()
    decide(game, agent)  # compiles
    while len(spent) < TIMED:
        began = process_time()
        decide(game, agent)
        spent.append(1000 * (process_time() - began))
        game.step(decide(game, greedy))
    return {"mean": float(np.mean(spent)), "most": float(np.quantile(spent, 0.95))}


# ---- bidding tasks ----


def _exact(options: BenchmarkOptions, parts: Parts, task: str) -> dict[str, Any]:
    """Return NashConv in a task's first held-out openings, and the means."""
    samples, rows, names = options.samples, [], measured(task, options.openings)
    with progress(len(names), "opening", desc=task) as bar:
        for name in names:
            compute = partial(measure, parts.agent, name, samples)
            rows.append(parts.of(f"{name}, {samples} samples", compute))
            bar.update()
    return {"samples": samples, **means(rows), "openings": rows}


# ---- games ----


def _table(options: BenchmarkOptions, parts: Parts, players: int) -> dict[str, Any]:
    """Play the games at a table and return their figures.

    Raises:
        KeyboardInterrupt: interrupted by Ctrl-C.
    """
    # Without `searches_with`: a newcomer to a ladder meets searches in fewer paired seeds.
    agents = tuple(
        replace(one, searches_with=()) for one in with_newcomer(parts.spec, PANEL, players, SIDE)
    )
    settings = Settings(agents, players, SIDE, secret=options.secret, newcomer=True)
    with Folder(parts.folder / table_name(players, SIDE), settings) as kept:
        interrupted = play(
            kept,
            paired_seeds=options.paired_seeds,
            workers=options.workers,
            ray=options.ray,
            progress=True,
        )
        if interrupted:
            raise KeyboardInterrupt
        found = against_panel(kept)
    exploiters: list[tuple[Agent | str, int]] = [
        (name, options.paired_seeds) for name in options.exploiters
    ]
    if players == 2 and options.lookahead and parts.pace()["mean"] <= QUICK_ENOUGH:
        exploiters.append((LookaheadAgent(parts.agent), options.lookahead))
    for exploiter, paired_seeds in exploiters:
        best, half = make_agent(exploiter), max(1, paired_seeds // 2)
        name = exploiter if isinstance(exploiter, str) else best.name
        for part, first in (("tried", 1), ("exploiters", 1 + half)):
            seeds = f"{players} players, {half} paired seeds from {first}, secret {options.secret}"
            share = partial(_share, exploiter, parts.agent, players, half, first, options.secret)
            found[part][name] = parts.of(f"what {name} {best.version} wins, {seeds}", share)
    found["exploitability"] = exploitability(found["tried"], found["exploiters"], found["par"])
    return found


def against_panel(folder: Folder) -> dict[str, Any]:
    """Return the newcomer's figures from the games of a table's folder.

    `wins` is its share of the wins: in all games with two players, else in those at tables of
    different agents. `against` has its share against each panel agent; with more than two players
    it is alone against copies of the other. `tried` and `exploiters` have the shares of each panel
    agent alone against it or its copies, in even paired seeds and in odd ones.
    """
    settings = folder.settings
    names = [one.name for one in settings.agents]
    results = folder.results()
    ratings = rate(results, names, settings.seed)
    copied = names[0].removeprefix("new ")  # a copy wins par
    found = {}
    for half, name in enumerate(("tried", "exploiters")):
        some = some_of(results, results.paired_seeds % 2 == half)
        found[name] = {
            names[one]: share.rounded(4)
            for (one, other), share in rate(some, names, settings.seed).alone.items()
            if other == 0 and names[one] != copied
        }
    return {
        "players": settings.players,
        "side": settings.side,
        "paired_seeds": ratings.paired_seeds,
        "games": ratings.games,
        "decisions": sum(one["decisions"] for games in folder.games.values() for one in games),
        "par": 1 / settings.players,
        "panel": {one.name: one.version for one in settings.agents[1:]},
        "wins": ratings.wins[0].rounded(4),
        "against": {
            names[other]: share.rounded(4)
            for (one, other), share in ratings.alone.items()
            if one == 0
        },
        **found,
    }


def _share(
    exploiter: Agent | str, agent: Agent, players: int, paired_seeds: int, first: int, secret: int
) -> dict[str, float]:
    """Return the wins of an exploiter alone against copies of an agent, from a first paired seed.

    Raises:
        KeyboardInterrupt: interrupted by Ctrl-C.
    """
    played = (exploiter, [agent], players, SIDE, paired_seeds, first)
    results = evaluate(*played, secret=secret, deterministic=True, progress=True)
    if not results or results[0].interrupted:
        raise KeyboardInterrupt
    return results[0].share.rounded(4)


def exploitability(
    tried: Mapping[str, Any], exploiters: Mapping[str, Any], par: float
) -> dict[str, Any]:
    """Return a lower bound of exploitability: wins above par, and `by` which exploiter.

    It is the one that won most in other paired seeds (`tried`), or a copy, which wins par ("–").
    """
    wins = {name: share["mean"] for name, share in tried.items() if name in exploiters}
    by = max(wins, key=lambda name: float(wins[name]), default="–")
    if wins.get(by, 0) <= par:
        return {"by": "–", "mean": 0.0, "low": 0.0, "high": 0.0}
    return {"by": by} | {end: max(0.0, share - par) for end, share in exploiters[by].items()}


# ---- the report ----


def as_json(content: Mapping[str, Any]) -> str:
    """Return the figures as JSON text with a checksum."""
    return json.dumps(sealed(dict(content)), indent=1, ensure_ascii=False) + "\n"


def report(content: Mapping[str, Any]) -> str:
    """Return the report as text."""
    changed = ", ".join(name.replace("_", " ") for name in content["changed"])
    heading = f"{content['benchmark']}, skyenv {content['skyenv']}, {content['date']}" + (
        f", with other {changed} than the protocol." if changed else "."
    )
    found = [tables.columns(rows, 2) for rows in all_rows(content["agents"])]
    again = f"The same again:\n{tables.folded(content['command'])}"
    return "\n\n".join([tables.wrapped(heading), *found, again])


def as_latex(content: Mapping[str, Any]) -> str:
    """Return the tables as LaTeX tabulars."""
    return "\n".join(tables.latex(rows, 2) for rows in all_rows(content["agents"]))


def as_csv(content: Mapping[str, Any]) -> str:
    """Return the figures as CSV, a line for each agent; estimates have three columns."""
    records = []
    for entry in content["agents"]:
        record = {name: entry[name] for name in ("agent", "track", "budget", "note")}
        record |= entry["headlines"]
        record["nash_conv"] = {task: one["nash_conv"] for task, one in entry["exact"].items()}
        for one in entry["tables"]:
            wins = {name: one[name] for name in ("wins", "exploitability")}
            record[table_name(one["players"], one["side"])] = wins
        records.append(record)
    return tables.csv_text(records)


def all_rows(entries: Sequence[Mapping[str, Any]]) -> list[list[list[str]]]:
    """Return the tables of some agents, each with a header; without empty ones."""
    made = (summary_rows(entries), exact_rows(entries), panel_rows(entries))
    return [rows for rows in made if len(rows) > 1]


def _name(entry: Mapping[str, Any]) -> str:
    return str(entry["agent"]).partition(",")[0]


def summary_rows(entries: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return a header and a row for each agent: its training, headlines and times."""
    head = ["agent", "track", "budget", "NashConv, %", "wins, of par", "ms a decision"]
    rows = [[*head, "95th percentile", "games", "decisions", "CPU minutes"]]
    for entry in entries:
        pace, cost, numbers = (entry[name] for name in ("milliseconds", "cost", "headlines"))
        late = entry["track"] == "search" and pace["mean"] > SEARCH_MILLISECONDS
        share, wins = numbers["bidding"], numbers["games"]
        rows.append(
            [
                _name(entry),
                f"{entry['track']} (above its limit)" if late else entry["track"],
                f"{entry['budget']} {entry['note']}".strip(),
                "–" if share is None else f"{100 * share:.1f}",
                "–" if wins is None else f"{wins:.2f}",
                *(f"{pace[which]:.2f}" for which in ("mean", "most")),
                *(f"{cost[what]:,}" for what in ("games", "decisions")),
                f"{cost['cpu_seconds'] / 60:.1f}",
            ]
        )
    return rows


def exact_rows(entries: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return a header and a row for each agent and bidding task."""
    rows = [["agent", "task", "openings", "NashConv, VP", "of the payoffs' range, %"]]
    for entry in entries:
        for task, one in entry["exact"].items():
            high, low = one["nash_conv"], one.get("nash_conv_low", one["nash_conv"])
            vp = f"{high:.2f}" if low == high else f"{low:.2f} to {high:.2f}"
            number = str(len(one["openings"]))
            rows.append([_name(entry), task, number, vp, f"{100 * one['share']:.1f}"])
    return rows


def panel_rows(entries: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return a header and a row for each agent and table.

    Columns: wins in percent, in all and against each panel agent, and the exploitability's lower
    bound in points above par. A copy of the agent wins par, so the bound is at least 0.
    """
    rows = [["agent", "table", "paired seeds", "wins, %", "par", *PANEL, "exploitability ≥", "by"]]
    for entry in entries:
        for one in entry["tables"]:
            rows.append(
                [
                    _name(entry),
                    table_label(one["players"], one["side"]),
                    str(one["paired_seeds"]),
                    interval(one["wins"], 1, 100),
                    f"{100 * one['par']:.0f}",
                    *(interval(one["against"].get(name), 0, 100) for name in PANEL),
                    interval(one["exploitability"], 1, 100),
                    one["exploitability"]["by"],
                ]
            )
    return rows
