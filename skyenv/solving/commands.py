"""The commands ``exploitability`` (best responses to an agent) and ``solve`` (equilibria)."""

import json
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skyenv.agents import Agent, agents_help, make_agent
from skyenv.console.options import Options, argument, common, option
from skyenv.console.progress import progress
from skyenv.console.tables import columns
from skyenv.engine.openings import OF_AUCTIONS, TASKS, openings
from skyenv.errors import CheckpointError
from skyenv.files import check_writable, read_json, write_atomically
from skyenv.solving.best_response import Evaluator, Loss, Policy, largest_losses
from skyenv.solving.equilibrium import Solver, solve
from skyenv.solving.responses import most_decisions, policy_of, seconds_for
from skyenv.solving.tree import Opening
from skyenv.statistics import interval, mean_of, percent

# Number of printed losses.
LISTED = 5


@dataclass(frozen=True)
class ExploitabilityOptions(Options):
    """Options of ``exploitability``."""

    agent: str = argument(f"agent to exploit: {agents_help()}", metavar="AGENT")
    task: str = option("alea-4", "the task", choices=OF_AUCTIONS)
    openings: int = option(8, "number of the task's openings, from the first", low=1)
    samples: int = option(
        32, "random numbers per decision; 1 suffices for deterministic agents", low=1
    )
    json: Path | None = common("json")
    resume: bool = option(False, "resume from the figures in --json FILE")


def measure(agent: Agent, name: str, samples: int) -> dict[str, Any]:
    """Return the NashConv of an agent from one opening: a row of the table."""
    opening = Opening(name)
    evaluator, policy = Evaluator(opening.tree), _asked(agent, opening, samples)
    responses, values = evaluator.best_responses(policy), evaluator.values(policy)
    conv = sum(responses) - sum(values)
    return {
        "opening": name,
        "nodes": len(opening.tree.kind),
        "range": evaluator.payoff_range,
        "nash_conv": conv,
        "share": conv / evaluator.payoff_range,
        "responses": list(responses),
        "values": list(values),
        "losses": [loss._asdict() for loss in largest_losses(opening, evaluator, policy, LISTED)],
    }


def _asked(agent: Agent, opening: Opening, samples: int) -> Policy:
    """Return the agent's policy; a bar shows the progress."""
    most = most_decisions(opening)
    seconds = seconds_for(agent, opening, samples)
    print(
        f"{opening.name}: at most {most.sum():,} decisions at {samples} random numbers, "
        f"{seconds:.1f} s of CPU time",
        file=sys.stderr,
    )
    with progress(int(most.sum()), "decision") as bar:
        for number, known in zip(most.tolist(), policy_of(agent, opening, samples), strict=True):
            bar.update(number)
            policy = known
    return policy


def measure_exploitability(options: ExploitabilityOptions) -> None:
    """Run ``exploitability``."""
    agent = make_agent(options.agent)
    settings = {
        "agent": options.agent,
        "version": agent.version_at(TASKS[options.task].num_players, "front"),
        "task": options.task,
        "samples": options.samples,
    }
    rows = _rows_so_far(options, settings)
    for index in range(len(rows), min(options.openings, len(openings(options.task)))):
        rows.append(measure(agent, f"{options.task}/{index}", options.samples))
        if options.json is not None:
            content = {**settings, "openings": rows}
            write_atomically(options.json, json.dumps(content, indent=1) + "\n")
    print(table(rows))
    print(loss_lines(rows))


def _rows_so_far(
    options: ExploitabilityOptions, settings: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return the rows written by an interrupted run of the same command.

    Raises:
        CheckpointError: the file belongs to another command.
    """
    if options.json is None:
        return []
    check_writable(options.json)
    if not (options.resume and options.json.exists()):
        return []
    earlier = read_json(options.json)
    rows: list[dict[str, Any]] = earlier.pop("openings", None) or earlier.pop("positions", [])
    for row in rows:  # of older files, in which openings are called positions
        row["opening"] = row.pop("position", row.get("opening"))
    if earlier != settings:
        raise CheckpointError(f"{options.json} holds figures of {earlier}, not of {dict(settings)}")
    return rows[: options.openings]


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows and their mean with its 95 % interval, in columns."""
    lines = [["opening", "nodes", "NashConv, VP", "of the payoffs' range"]]
    lines += [
        [row["opening"], f"{row['nodes']:,}", f"{row['nash_conv']:.3f}", f"{row['share']:.1%}"]
        for row in rows
    ]
    conv, share = (mean_of([row[unit] for row in rows]) for unit in ("nash_conv", "share"))
    return columns([*lines, ["mean", "", interval(conv, 3), percent(share)]])


def loss_lines(rows: list[dict[str, Any]]) -> str:
    """Return the largest losses, a line for each decision."""
    losses = [(row["opening"], Loss(**loss)) for row in rows for loss in row["losses"]]
    losses.sort(key=lambda found: -found[1].vp)
    return "\n".join(f"{opening}, {loss.text()}" for opening, loss in losses[:LISTED])


# ---- solve ----


@dataclass(frozen=True)
class SolveOptions(Options):
    """Options of ``solve``."""

    task: str = option("duel-4", "a task with two seats", choices=OF_AUCTIONS)
    openings: int = option(8, "number of the task's openings, from the first", low=1)
    share: float = option(
        0.001, "stop once NashConv is at most this share of the payoffs' range", above=True, high=1
    )
    iterations: int = option(100_000, "most iterations", low=1)
    out: Path | None = option(None, "folder of strategies; stored ones are improved further")


def solve_task(options: SolveOptions) -> None:
    """Run ``solve``."""
    lines = [["opening", "nodes", "iterations", "NashConv", "of the range", "value", "seconds"]]
    number = min(options.openings, len(openings(options.task)))
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
    with progress(number, "opening") as bar:
        for index in range(number):
            lines.append(_solve_one(f"{options.task}/{index}", options))
            bar.update()
    print(columns(lines))


def _solve_one(name: str, options: SolveOptions) -> list[str]:
    """Solve an opening and return its row; an interrupted solution is stored, too."""
    begun, tree = time.process_time(), Opening(name).tree
    solver = Solver(tree)
    file = None if options.out is None else options.out / f"{name.replace('/', '-')}.npz"
    if file is not None and file.exists():
        solver.load(file)
    try:
        *_, solution = solve(solver, options.share, options.iterations)
    finally:
        if file is not None:
            solver.save(file)
    best, worst = solution.responses[0], -solution.responses[1]
    return [
        name,
        f"{len(tree.kind):,}",
        f"{solution.iterations:,}",
        f"{solution.nash_conv:.5f}",
        f"{solution.nash_conv / solution.payoff_range:.4%}",
        f"{(best + worst) / 2:.3f}",
        f"{time.process_time() - begun:.1f}",
    ]
