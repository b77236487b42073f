"""What a run tells in its end: how its agent plays, and what can be done next."""

from __future__ import annotations

import os
import shlex
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from experiments.training.config import RunConfig
from skyenv.tables import columns

MODEL: Final = "model.npz"
"""The agent, in a run's folder."""


def summary(results: Sequence[Mapping[str, Any]]) -> str:
    """Results of evaluations, for a terminal of 80 columns."""
    if not results:
        return ""
    rows = [["players", "side", "against", "games", "wins, %", "par", "VP", "other VP"]]
    for one in results:
        share, own, other = one["share"], one["own"], one["other"]
        wins = f"{100 * share['mean']:.1f} [{100 * share['low']:.1f}, {100 * share['high']:.1f}]"
        numbers = [str(one["games"]), wins, f"{100 * one['par']:.0f}", f"{own['mean']:.1f}", f"{other['mean']:.1f}"]
        rows.append([str(one["num_players"]), one["side"], one["opponent"], *numbers])
    verdicts = "\n".join(verdict(one) for one in results)
    return (
        f"{columns(rows, 3)}\n\n{verdicts}\n\n"
        "wins: share of the games won, with a 95 % confidence interval; par: that of\n"
        "equal players; VP: victory points, its own and those of the best other player."
    )


def verdict(result: Mapping[str, Any]) -> str:
    """What a result means: whether the agent is stronger than the opponent, as far as the games tell."""
    share, par = result["share"], result["par"]
    stronger, weaker = share["low"] > par, share["high"] < par
    how = "stronger than" if stronger else "weaker than" if weaker else "about as strong as"
    doubt = "" if stronger or weaker else " (more games could tell)"
    table = f"{result['num_players']} players, {result['side']} side"
    return textwrap.fill(f"{table}: it is {how} {result['opponent']}{doubt}.", 80, subsequent_indent="  ")


def how_to_go_on(config: RunConfig, program_name: str) -> str:
    """The commands for what one may want next."""
    run, model = shlex.quote(config.run), shlex.quote(str(Path(config.run) / MODEL))
    python = os.path.relpath(sys.executable) if Path(sys.executable).is_relative_to(Path.cwd()) else "python"
    program = f"{python} -m experiments.training.{program_name}"
    (players, *_), decisions, minutes = config.players, 2 * config.decisions, config.minutes
    minutes = max(30.0, 2 * minutes) if minutes else 0.0
    goals = [f"{minutes:g} minutes"] * bool(minutes) + [f"{decisions:,} decisions"] * bool(decisions)
    limits = f" --minutes {minutes:g}" * bool(minutes) + f" --decisions {decisions}" * bool(decisions)
    commands = {
        f"Train it further, to {' or '.join(goals)} in all": f"{program} --run {run} --resume{limits}",
        "Play against it": f"make play PLAY='--agents {model}'",
        "Rate it against the ladder": f"{python} -m skyenv tournament --add {model} --players {players} --minutes 2",
        "See how it went": f"{run}/curves.png; {python} -m tensorboard.main --logdir {run}/tensorboard",
    }
    return "\n".join([f"The agent: {model}", *(f"{what}:\n  {command}" for what, command in commands.items())])
