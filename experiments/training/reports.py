"""The lines that a training prints: its start, its forecast, its result, the next commands."""

from __future__ import annotations

import math
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.training.config import Config
from skyenv.arena.evaluate import Result
from skyenv.engine.openings import OF_AUCTIONS


def beginning(config: Config) -> str:
    """Return what a new run begins with, and its limits, as text."""
    source = config.start or config.prior or "nothing: random choices"
    return (
        f"{config.run} begins with {source}; its limits (0: none): "
        f"{config.decisions:,} decisions,\n{config.minutes:g} minutes of training."
    )


def forecast(config: Config, decisions: int, seconds: float, pace: float) -> str:
    """Return the estimated time left on this machine and the decisions made by then, as text.

    Args:
        config: its limits.
        decisions, seconds: of training so far.
        pace: decisions per second, above 0.
    """
    by_decisions = (config.decisions - decisions) / pace if config.decisions else math.inf
    by_time = 60 * config.minutes - seconds if config.minutes else math.inf
    text = f"{pace:,.0f} decisions/s here: about {min(by_decisions, by_time) / 60:.1f} minutes left"
    if by_decisions <= by_time:
        return f"{text}."
    return f"{text},\nenough for about {decisions + pace * by_time:,.0f} decisions."


def verdict(results: Sequence[Result], config: Config) -> list[str]:
    """Whether an evaluation shows that the agent has become better than the prior with which it
    began, for each kind of table; empty if that was not measured.
    """
    return [
        f"{_finding(one)}: against {one.opponent}, with which it began, it won\n"
        f"{100 * one.share.mean:.1f} % [{100 * one.share.low:.1f}, {100 * one.share.high:.1f}] at "
        f"tables of {one.num_players}, {one.side}; an even share is {100 * one.par:.1f} %."
        for one in results
        if one.opponent == config.prior and not config.start
    ]


def _finding(result: Result) -> str:
    if result.share.low > result.par:
        return "It has learned"
    return "It has become weaker" if result.share.high < result.par else "No gain is shown"


def how_to_go_on(config: Config, program: str, model: Path) -> str:
    """Return suggested next commands; with a short run's name they fit 80 columns.

    Args:
        config: of the run. program: name of the trainer. model: the agent's file.
    """
    run = shlex.quote(config.run)
    rate = f"tournament --add {run} --players {config.players[0]} --minutes 2"
    if config.task in OF_AUCTIONS:
        rate = f"exploitability {run} --task {config.task}"
    inside = Path(sys.executable).is_relative_to(Path.cwd())
    python = os.path.relpath(sys.executable) if inside else "python"
    return f"""The agent: {model}; how it went: {run}/curves.png
Train it further (limits of the whole run; 0: none):
  {python} -m experiments.training.{program} --run {run} \\
      --resume --decisions N --minutes M
Play against it:
  make play PLAY='--agents {run}'
Rate it:
  {python} -m skyenv {rate}
See its curves:
  {python} -m tensorboard.main --logdir {run}/tensorboard
Films and datasets of games need:
  {python} -m pip install --editable '.[pictures,dataset]'"""
