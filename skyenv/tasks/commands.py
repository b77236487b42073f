"""The command ``exploitability``: how much could be won against an agent in a bidding task."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skyenv.agents import Agent, agents_help, make_agent
from skyenv.engine.tasks import TASKS, beginnings
from skyenv.errors import OptionError
from skyenv.files import check_writable, write_atomically
from skyenv.options import Options, argument, common, option
from skyenv.progress import progress
from skyenv.tables import columns
from skyenv.tasks.equilibrium import best_responses
from skyenv.tasks.responses import policy_of
from skyenv.tasks.tree import LEAF, Beginning


@dataclass(frozen=True)
class ExploitabilityOptions(Options):
    """What the command takes."""

    agent: str = argument(f"who is exploited: {agents_help()}", metavar="AGENT")
    task: str = option("alea-4", "a task with two seats", choices=tuple(TASKS))
    positions: int = option(8, "so many of the task's beginnings, the first ones", low=1)
    samples: int = option(
        32, "random numbers at which every decision is asked; 1: the agent uses none", low=1
    )
    json: Path | None = common("json")


def measure(agent: Agent, name: str, samples: int) -> dict[str, Any]:
    """How much a best response wins against an agent from one beginning on; a row of the table."""
    beginning = Beginning(name)
    *_, policy = policy_of(agent, beginning, samples)
    tree = beginning.tree
    responses = best_responses(tree, policy)
    payoffs = float(np.ptp(tree.payoff[tree.kind == LEAF, 0]))
    conv = sum(responses)
    return {
        "position": name,
        "nodes": len(tree.kind),
        "range": payoffs,
        "nash_conv": conv,
        "share": conv / payoffs,
        "responses": list(responses),
    }


def measure_exploitability(options: ExploitabilityOptions) -> None:
    """Run the command."""
    if TASKS[options.task].num_players != 2:
        raise OptionError(f"task {options.task} has more than two seats; NashConv is of two")
    if options.json is not None:
        check_writable(options.json)
    agent, rows = make_agent(options.agent), []
    number = min(options.positions, len(beginnings(options.task)))
    with progress(number, "position") as bar:
        for index in range(number):
            rows.append(measure(agent, f"{options.task}/{index}", options.samples))
            bar.update()
    print(table(rows))
    if options.json is not None:
        told = {
            "agent": options.agent,
            "version": agent.version_at(2, "front"),
            "samples": options.samples,
            "positions": rows,
        }
        write_atomically(options.json, json.dumps(told, indent=1).encode() + b"\n")


def table(rows: list[dict[str, Any]]) -> str:
    """The rows and their mean, with its 95 % interval, in columns."""
    lines = [["position", "nodes", "NashConv, VP", "of the payoffs' range"]]
    lines += [
        [row["position"], f"{row['nodes']:,}", f"{row['nash_conv']:.3f}", f"{row['share']:.1%}"]
        for row in rows
    ]
    means = [
        _mean([row[unit] for row in rows], form)
        for unit, form in (("nash_conv", ".3f"), ("share", ".1%"))
    ]
    lines.append(["mean", "", *means])
    return columns(lines)


def _mean(values: list[float], form: str) -> str:
    wide = 1.96 * np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):{form}} ± {wide:{form}}"
