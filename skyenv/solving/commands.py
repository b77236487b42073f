"""The commands ``exploitability`` (best responses to agents) and ``solve`` (equilibria)."""

import hashlib
import itertools
import json
import sys
import textwrap
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from skyenv.agents import Agent, agents_help, make_agent
from skyenv.console.options import BAD_DATA, Options, argument, common, option, resumable
from skyenv.console.progress import progress
from skyenv.console.tables import WIDTH, columns, counted, csv_text, latex
from skyenv.engine.openings import OF_AUCTIONS, TASKS, measured, openings
from skyenv.engine.rewards import CARD_VP
from skyenv.errors import CheckpointError, OptionError, shown
from skyenv.files import check_writable, locked, read_json, sealed, unsealed, write_atomically
from skyenv.solving.best_response import Evaluator, Loss, largest_losses
from skyenv.solving.equilibrium import Solver, solve
from skyenv.solving.mixing import mixing_of, purified
from skyenv.solving.responses import LEAST_SAMPLES, SAMPLED, gains_of, policy_of
from skyenv.solving.tree import Opening
from skyenv.statistics import numbers_of

FORMAT: Final = "skyenv-exploitability-1"
# Seconds of work that are announced.
WORTH_TELLING: Final = 2
RESUMES: Final = "; the same command goes on with --resume"
# Number of printed losses.
LISTED = 5
# Largest difference of figures that are computed again, by rounding.
ROUNDING: Final = 1e-6

# Fields of rows whose means are told.
MEANS: Final = ("gains", "gains_low", "nash_conv", "nash_conv_low", "share")
Row = dict[str, Any]
"""An agent's figures in one opening (:func:`measure`)."""


# ---- rows ----


def measure(agent: Agent, opening: Opening | str, samples: int = LEAST_SAMPLES) -> Row:
    """Return the gains of best responses to an agent in one opening.

    Args:
        agent: the agent.
        opening: the opening, or its name.
        samples: as for :func:`skyenv.solving.responses.policy_of`.

    Returns:
        `opening`, `nodes`, `range` (of the payoffs), `policy` (how it is known); by seat `values`,
        `gains` and `gains_low` (:func:`skyenv.solving.responses.gains_of`); `losses`, the largest;
        and with two seats `nash_conv`, `nash_conv_low` and `share` (of the range), else None.
    """
    made = Opening(opening) if isinstance(opening, str) else opening
    evaluator, found = Evaluator(made.tree), policy_of(agent, made, samples, shown=True)
    low, high = gains_of(evaluator, found).tolist()
    losses = largest_losses(made, evaluator, found.policy, LISTED)
    return _completed(
        {
            "opening": made.name,
            "nodes": len(made.tree.kind),
            "range": evaluator.payoff_range,
            "policy": found.known,
            "values": list(evaluator.values(found.policy)),
            "gains": high,
            "gains_low": low,
            "losses": [loss._asdict() for loss in losses],
        }
    )


def _completed(row: Row) -> Row:
    """Add NashConv; gains of more than two seats don't add up to a distance from equilibrium."""
    of_two = len(row["values"]) == 2
    high, low = (sum(row[name]) if of_two else None for name in ("gains", "gains_low"))
    share = None if high is None else high / row["range"]
    return {**row, "nash_conv": high, "nash_conv_low": low, "share": share}


def means(rows: Sequence[Row]) -> Row:
    """Return the means of an agent's rows: `gains`, `gains_low`, `nash_conv`, `nash_conv_low` and
    `share`. They are exact over these openings.
    """
    found = {name: [row[name] for row in rows] for name in MEANS}
    return {
        name: None if None in numbers else np.mean(numbers, axis=0).tolist()
        for name, numbers in found.items()
    }


def table(rows: Sequence[Row]) -> str:
    """Return an agent's rows and their mean, in columns."""
    return columns(_cells_by_opening(rows))


def _cells_by_opening(rows: Sequence[Row]) -> list[list[str]]:
    lines = [[row["opening"], f"{row['nodes']:,}", *_figures(row)] for row in rows]
    return [["opening", "nodes", *_headings(rows[0])], *lines, ["mean", "", *_figures(means(rows))]]


def _cells_by_agent(rows: Sequence[Row]) -> list[list[str]]:
    """Return a header and a line for each agent: its means, and NashConv's range."""
    lines = [["agent", "policy", *_headings(rows[0]), "over openings"]]
    for agent in dict.fromkeys(row["agent"] for row in rows):
        own = [row for row in rows if row["agent"] == agent]
        known, convs = {row["policy"] for row in own}, [row["nash_conv"] or 0.0 for row in own]
        policy = SAMPLED if SAMPLED in known else known.pop()
        lines.append([agent, policy, *_figures(means(own)), _between(min(convs), max(convs))])
    if rows[0]["nash_conv"] is None:
        return [line[:-1] for line in lines]
    return lines


def _headings(row: Row) -> list[str]:
    if row["nash_conv"] is None:
        return [f"gain of seat {seat}, VP" for seat in range(len(row["gains"]))]
    return ["NashConv, VP", "of the range"]


def _figures(row: Row) -> list[str]:
    """Return NashConv and its share of the range; with three seats, each seat's gain."""
    if row["nash_conv"] is None:
        return [_between(*each) for each in zip(row["gains_low"], row["gains"], strict=True)]
    return [_between(row["nash_conv_low"], row["nash_conv"]), f"{row['share']:.1%}"]


def _between(low: float, high: float) -> str:
    """Return a figure, or both ends of what it lies between."""
    return f"{high:.3f}" if low == high else f"{low:.3f} to {high:.3f}"


def loss_lines(rows: Sequence[Row]) -> str:
    """Return the largest losses, a paragraph for each decision."""
    losses = [(row["opening"], Loss(**loss)) for row in rows for loss in row["losses"]]
    losses.sort(key=lambda found: -found[1].vp)
    texts = [f"{opening}, {loss.text()}" for opening, loss in losses[:LISTED]]
    return "\n".join(textwrap.fill(text, WIDTH, subsequent_indent="  ") for text in texts)


# ---- exploitability ----


@dataclass(frozen=True)
class ExploitabilityOptions(Options):
    """Options of ``exploitability``."""

    agents: tuple[str, ...] = argument(
        f"agents to exploit: {agents_help()}", metavar="AGENT", default=()
    )
    task: str = option("alea-4", "the task", choices=OF_AUCTIONS)
    openings: int = option(32, "number of held-out openings, from the first", low=1)
    samples: int = option(
        LEAST_SAMPLES, "random numbers per decision of stochastic agents, even and at least 32"
    )
    json: Path | None = common("json")
    csv: Path | None = common("json", text="write the figures as CSV to this file")
    latex: Path | None = common("json", text="write the table as LaTeX to this file")
    resume: bool = option(False, "resume from the figures in --json FILE")
    check: Path | None = option(
        None,
        "compute the figures in this file of --json again, of all its agents or of some; exit code "
        "1 if any differs",
        metavar="FILE",
    )


def measure_exploitability(options: ExploitabilityOptions) -> int:
    """Run ``exploitability``; return its exit code."""
    if options.check is not None:
        return _check(options, options.check)
    if not options.agents:
        raise OptionError("name an agent to exploit, or a file to --check")
    check_writable(*(path for path in (options.json, options.csv, options.latex) if path))
    with ExitStack() as held:
        if options.json is not None and (options.json.is_file() or not options.json.exists()):
            held.enter_context(locked(options.json.parent, options.json.name))
        held.enter_context(resumable(options.json, RESUMES))
        _report(options, _measured(options))
    return 0


def _measured(options: ExploitabilityOptions) -> list[Row]:
    """Return the rows of every agent and opening; each is stored as soon as it is known."""
    agents = {name: make_agent(name) for name in options.agents}
    settings = _settings(options.task, options.samples)
    rows: dict[tuple[str, str], Row] = {}
    if options.json is not None and options.resume and options.json.exists():
        kept = read_figures(options.json, settings, agents)["rows"]
        rows = {(row["agent"], row["opening"]): row for row in kept}
    names = measured(options.task, options.openings)
    left = [name for name in names if any((agent, name) not in rows for agent in agents)]
    for done, opening in enumerate(left):
        begun, made = time.monotonic(), Opening(opening)
        for agent in [one for one in agents if (one, opening) not in rows]:
            said = {"agent": agent, "version": _version(agents[agent], options.task)}
            rows[agent, opening] = said | measure(agents[agent], made, options.samples)
            if options.json is not None:
                content = sealed({**settings, "rows": list(rows.values())})
                write_atomically(options.json, json.dumps(content, indent=1) + "\n")
        if done == 1:  # the first one may have waited for the compiler
            _announce(time.monotonic() - begun, left[1:])
    return [rows[agent, opening] for agent in agents for opening in names]


def _announce(seconds: float, openings: Sequence[str]) -> None:
    """Say how long openings will take, if it is long, by the seconds of the first one and the sizes
    of their trees.
    """
    first, *others = [len(Opening(name).tree.kind) for name in openings]
    if (total := seconds * sum(others) / first) >= WORTH_TELLING:
        number = counted(len(others), "opening")
        print(f"exploitability: {number} left, about {total:.0f} s", file=sys.stderr, flush=True)


def _report(options: ExploitabilityOptions, rows: Sequence[Row]) -> None:
    """Print the table and write it."""
    of_one = len(set(options.agents)) == 1
    cells = _cells_by_opening(rows) if of_one else _cells_by_agent(rows)
    print(columns(cells))
    number = counted(len({row["opening"] for row in rows}), "opening")
    print(loss_lines(rows) if of_one else f"Means over {number} of {options.task}.")
    if options.csv is not None:
        told = [{name: row[name] for name in row if name != "losses"} for row in rows]
        write_atomically(options.csv, csv_text(told))
    if options.latex is not None:
        write_atomically(options.latex, latex(cells))


def _version(agent: Agent, task: str) -> str:
    return agent.version_at(TASKS[task].num_players, "front")


def _settings(task: str, samples: int) -> dict[str, Any]:
    """Return what figures depend on beside the agent."""
    found = b"".join(openings(name).tobytes() for name in measured(task, sys.maxsize))
    digest = hashlib.sha256(found).hexdigest()
    return {
        "format": FORMAT,
        "task": task,
        "samples": samples,
        "price": CARD_VP,
        "openings": digest,
    }


def read_figures(
    path: Path,
    settings: Mapping[str, Any] | None = None,
    agents: Mapping[str, Agent] | None = None,
) -> dict[str, Any]:
    """Return the content of a file of ``exploitability --json``: settings and `rows`.

    Args:
        path: the file.
        settings: those expected; None: any of today's openings and prices.
        agents: agents by name, whose rows must be of their versions.

    Raises:
        CheckpointError: the file is damaged or edited, or has other settings or versions. OSError:
            it can't be read.
    """
    content = read_json(path)
    try:
        found = {name: value for name, value in unsealed(content).items() if name != "rows"}
        expected = settings or _settings(found["task"], found["samples"])
        if found != expected:
            raise OptionError(f"figures of {found}, not of {dict(expected)}")
        names, rows = measured(found["task"], sys.maxsize), set()
        for row in content["rows"]:
            _check_row(row, names)
            rows.add((name := row["agent"], row["opening"]))
            version, now = row["version"], (agents or {}).get(name)
            if now is not None and version != _version(now, found["task"]):
                raise OptionError(f"figures of {name}, version {version}, not of today's")
        if len(rows) < len(content["rows"]):
            raise ValueError("it has two rows of an agent in an opening")
    except OptionError as error:
        raise CheckpointError(f"{path} holds {error}") from error
    except (ValueError, TypeError, KeyError, ArithmeticError) as error:
        raise CheckpointError(f"{path} holds no figures of exploitability: {error!r}") from error
    return content


def _check_row(row: Row, openings: Sequence[str]) -> None:
    """Raise ValueError, TypeError or KeyError if a row can't be one of :func:`measure`."""
    numbers = numbers_of([row["values"], row["gains"], row["gains_low"]])
    losses = [Loss(**loss).vp for loss in row["losses"]]
    possible = (numbers[1] > -ROUNDING).all() and row["opening"] in openings
    if not possible or row != _completed(row) or min(row["range"], *losses) <= 0:
        raise ValueError(f"the figures of {shown(row['opening'])} contradict each other")


def _check(options: ExploitabilityOptions, path: Path) -> int:
    """Compute the rows of a file again; print those that differ, and return the exit code."""
    content = read_figures(path)
    names = measured(content["task"], options.openings)
    chosen = options.agents or {row["agent"] for row in content["rows"]}
    rows = [row for row in content["rows"] if row["agent"] in chosen and row["opening"] in names]
    if not rows:
        raise OptionError(f"{path} has no figures of {', '.join(chosen)}")
    found = [_differences(row, content["task"], content["samples"]) for row in rows]
    for line in itertools.chain(*found):
        print(line)
    print(f"{counted(len(rows), 'row')} computed again, {sum(map(bool, found))} of them differ")
    return BAD_DATA if any(found) else 0


def _differences(row: Row, task: str, samples: int) -> list[str]:
    """Return what a row says that isn't so when it is computed again."""
    agent = make_agent(row["agent"])
    now = {"version": _version(agent, task), **measure(agent, row["opening"], samples)}
    return [
        f"{row['agent']}, {row['opening']}: {name} is {now[name]}, not {row[name]}"
        for name in ("version", "policy", "nodes", "range", "values", "gains", "gains_low")
        if not (
            row[name] == now[name]
            if isinstance(row[name], str)
            else np.allclose(row[name], now[name], rtol=0, atol=ROUNDING)
        )
    ]


# ---- solve ----


@dataclass(frozen=True)
class SolveOptions(Options):
    """Options of ``solve``."""

    task: str = option("duel-4", "the task, with two seats (not three-3)", choices=OF_AUCTIONS)
    openings: int = option(8, "number of held-out openings, from the first", low=1)
    share: float = option(
        0.001, "stop once NashConv is at most this share of the payoffs' range", above=True, high=1
    )
    iterations: int = option(100_000, "most iterations", low=1)
    out: Path | None = option(
        None, "folder of strategies; stored ones are improved further", metavar="FOLDER"
    )


def solve_task(options: SolveOptions) -> None:
    """Run ``solve``."""
    lines = [
        [
            *("opening", "nodes", "iterations", "NashConv", "of the range", "value"),
            *("purified gap", "mixed", "seconds"),
        ]
    ]
    names = measured(options.task, options.openings)
    with ExitStack() as held, progress(len(names), "opening") as bar:
        if options.out is not None:
            held.enter_context(locked(options.out))
        held.enter_context(resumable(options.out))
        for name in names:
            lines.append(_solve_one(name, options))
            bar.update()
    print(columns(lines))


def _solve_one(name: str, options: SolveOptions) -> list[str]:
    """Solve an opening and return its row; an interrupted solution is stored, too."""
    begun, tree = time.process_time(), Opening(name).tree
    solver = Solver(tree)
    file = None if options.out is None else options.out / f"{name.replace('/', '-')}.cfr"
    if file is not None and file.exists():
        solver.load(file)
    try:
        *_, solution = solve(solver, options.share, options.iterations)
    finally:
        if file is not None:
            solver.save(file)
    gap = Evaluator(tree).nash_conv(purified(tree, solution.policy))
    best, worst = solution.responses[0], -solution.responses[1]
    return [
        name,
        f"{len(tree.kind):,}",
        f"{solution.iterations:,}",
        f"{solution.nash_conv:.5f}",
        f"{solution.nash_conv / solution.payoff_range:.4%}",
        f"{(best + worst) / 2:.3f}",
        f"{gap / solution.payoff_range:.2%}",
        f"{mixing_of(tree, solution.policy).share:.0%}",
        f"{time.process_time() - begun:.1f}",
    ]
