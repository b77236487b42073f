"""What a run tells in its end: how its agent plays, and what can be done next."""

from __future__ import annotations

import os
import shlex
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from experiments.training.config import Config
from skyenv.tables import columns

MODEL: Final = "model.npz"
"""The agent, in a run's folder."""
ALONE: Final = textwrap.fill(
    "With more than two players that doesn't tell who is stronger: whoever is alone often wins "
    "more by that alone."
    " Ratings come from tables of different agents, and the ladder shows duels both ways round.",
    80,
)
"""What wins against copies of another agent don't tell."""


def summary(results: Sequence[Mapping[str, Any]]) -> str:
    """Results of evaluations, for a terminal of 80 columns."""
    if not results:
        return ""
    rows = [["players", "side", "against", "games", "wins, %", "par", "VP", "other VP"]]
    for one in results:
        share, own, other = one["share"], one["own"], one["other"]
        wins = f"{100 * share['mean']:.1f} [{100 * share['low']:.1f}, {100 * share['high']:.1f}]"
        numbers = [
            str(one["games"]),
            wins,
            f"{100 * one['par']:.0f}",
            f"{own['mean']:.1f}",
            f"{other['mean']:.1f}",
        ]
        rows.append([str(one["num_players"]), one["side"], one["opponent"], *numbers])
    verdicts = "\n".join(verdict(one) for one in results)
    alone = f"\n\n{ALONE}" if any(one["num_players"] > 2 for one in results) else ""
    return (
        f"{columns(rows, 3)}\n\n{verdicts}{alone}\n\n"
        "wins: share of the games won, with a 95 % confidence interval; par: that of an\n"
        "agent against copies of itself; VP: victory points, its own and those of the\n"
        "best other player."
    )


def verdict(result: Mapping[str, Any]) -> str:
    """What a result means, as far as the games tell.

    With two players that is whether the agent is stronger than the opponent; with more, from this
    one way round, only whether it wins more than it would against copies of itself.
    """
    share, par, players = result["share"], result["par"], result["num_players"]
    more, less = share["low"] > par, share["high"] < par
    if players == 2:
        what = "it is " + (
            "stronger than" if more else "weaker than" if less else "about as strong as"
        )
    else:
        compared = "more than" if more else "less than" if less else "about"
        what = f"it wins {compared} 1/{players} alone against copies of"
    doubt = "" if more or less else " (more games could tell)"
    text = f"{players} players, {result['side']} side: {what} {result['opponent']}{doubt}."
    return textwrap.fill(text, 80, subsequent_indent="  ")


def how_to_go_on(config: Config, program_name: str) -> str:
    """The commands for what one may want next."""
    run, model = shlex.quote(config.run), shlex.quote(str(Path(config.run) / MODEL))
    python = (
        os.path.relpath(sys.executable)
        if Path(sys.executable).is_relative_to(Path.cwd())
        else "python"
    )
    program = f"{python} -m experiments.training.{program_name}"
    (players, *_), decisions, minutes = config.players, 2 * config.decisions, config.minutes
    minutes = max(30.0, 2 * minutes) if minutes else 0.0
    goals = [f"{minutes:g} minutes"] * bool(minutes) + [f"{decisions:,} decisions"] * bool(
        decisions
    )
    limits = f" --minutes {minutes:g}" * bool(minutes) + f" --decisions {decisions}" * bool(
        decisions
    )
    rate = f"{python} -m skyenv tournament --add {model} --players {players} --minutes 2"
    curves = f"{run}/curves.png; {python} -m tensorboard.main --logdir {run}/tensorboard"
    further = f"Train it further, to {' or '.join(goals)} in all"
    commands = {
        further: f"{program} --run {run} --resume{limits}",
        "Play against it": f"make play PLAY='--agents {model}'",
        "Rate it against the ladder": rate,
        "See how it went": curves,
    }
    return "\n".join(
        [f"The agent: {model}", *(f"{what}:\n  {command}" for what, command in commands.items())]
    )
