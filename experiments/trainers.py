"""How fast do the two trainers learn? ``python -m experiments.trainers --players 2``.

MaskablePPO (:mod:`experiments.train`) and the lean trainer (:mod:`experiments.ppo`) with the same network, batch, epochs,
discount and opponents, on one thread; the lean one also with all seats learning, as in its self-play, and with its own
defaults. Method: after some updates of each that don't
count (they compile, and games get to their middle), they take turns, one update each, so that a machine that is busy for a
while slows all of them down. A figure is the median over the rounds of the decisions of the learner per second, whole
updates counted: playing, opponents and learning. "times" is the median of the rounds' ratios to MaskablePPO.

With the same settings the lean trainer plays against opponents in all games, as MaskablePPO always does, and takes as many
decisions of all seats as there are of its own in a MaskablePPO update, times the number of players. With all seats learning
every decision is the learner's, and it takes as many as MaskablePPO. The network's own arithmetic is the same for all of the
same width, so a wide one hides what the trainers differ in; ``--hidden`` sets it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from experiments import ppo, train
from experiments.commands import Parser, exit_code, whole
from experiments.files import write_atomically
from experiments.runs import Run, RunConfig
from experiments.speed import Figure, figure, machine, shown
from skyenv.errors import OptionError

MASKABLE: Final = "MaskablePPO"
LEAN: Final = "lean trainer, same settings"
SELF_PLAY: Final = "lean trainer, same settings, all seats learning"
DEFAULTS: Final = "lean trainer, its defaults"
SHARED: Final = (
    "epochs", "learning_rate", "gamma", "gae_lambda", "clip", "entropy", "value_weight", "max_gradient", "reward", "sampling",
)  # fmt: skip
"""Options of MaskablePPO's trainer, beside those of the comparison, that the lean one takes over."""
METHOD: Final = "decisions of the learner per second, median of rounds in which the trainers take turns, one update each"


def trainers(options: argparse.Namespace) -> dict[str, Run[Any]]:
    """The runs to compare, not begun, by their names.

    Raises:
        OptionError: an option has a wrong value.
    """
    if not options.anchors:
        raise OptionError("anchors must name at least one opponent")
    common: dict[str, Any] = {"players": options.players, "side": options.side, "threads": options.threads, "seed": options.seed}
    common |= {"decisions": 10**12, "anchors": options.anchors, "hidden": options.hidden, "selves": 0}
    slow = train.Config(**common, environments=options.environments, steps=options.steps, batch=options.batch)
    same: dict[str, Any] = {name: getattr(slow, name) for name in SHARED}
    seats = max(players for players, _ in slow.tables)
    same |= {"games": options.environments, "batch": options.batch, "shaping": 0.0}
    lean = ppo.Config(**common, **same, opponents=1.0, steps=options.steps * seats)
    alone = ppo.Config(**common, **same, opponents=0.0, steps=options.steps)
    defaults = ppo.Config(**{name: value for name, value in common.items() if name != "selves"})
    leans = {LEAN: lean, SELF_PLAY: alone, DEFAULTS: defaults}
    for config in (slow, *leans.values()):
        config.check()
    return {MASKABLE: train.Training(slow), **{name: ppo.SelfPlay(config) for name, config in leans.items()}}


def compare(runs: dict[str, Run[Any]], warm_up: int, rounds: int) -> list[Figure]:
    """Decisions per second of each run, and how many times MaskablePPO's that is.

    Args:
        runs: by name, MaskablePPO's first; they are begun here.
        warm_up: updates of each that don't count. rounds: updates that do.
    """
    for run in runs.values():
        run.begin()
        for _ in range(warm_up):
            run.update()
    paces: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            run.update()
            paces[name].append(run.curve[-1]["pace"])
    figures = [figure(name, "decisions/s", found) for name, found in paces.items()]
    for name in list(runs)[1:]:
        ratios = [mine / other for mine, other in zip(paces[name], paces[MASKABLE], strict=True)]
        figures.append(figure(f"{name}, as against {MASKABLE}", "times", ratios))
    return figures


def report(runs: dict[str, Run[Any]], figures: Sequence[Figure]) -> dict[str, Any]:
    """What the JSON file holds: machine, method, the configuration of each trainer, figures."""
    packages = {name: version(name) for name in ("torch", "stable-baselines3", "sb3-contrib")}
    left_out = {entry.name for entry in fields(RunConfig)} - {"players", "side", "seed", "threads", "max_turns"}
    return {
        "machine": {**machine(), **packages},
        "method": METHOD,
        "trainers": {
            name: {option: value for option, value in asdict(run.config).items() if option not in left_out}
            for name, run in runs.items()
        },
        "figures": [asdict(one) for one in figures],
    }


def _parser() -> argparse.ArgumentParser:
    parser = Parser("trainers", "Compare the speed of the two trainers on this machine.")
    parser.formatter_class = argparse.ArgumentDefaultsHelpFormatter
    add = parser.add_argument
    add("--players", default="2", metavar="N", help="number of players, or several as in 2,3,4")
    add("--side", default="front", metavar="SIDE", help="front, back, or front,back")
    add("--rounds", type=whole(1, 10**6), default=7, metavar="N", help="updates of each trainer that count")
    add("--warm-up", type=whole(0, 10**6), default=2, metavar="N", help="updates of each before that")
    add("--environments", type=whole(1, 10**6), default=256, metavar="N", help="games side by side")
    add("--steps", type=whole(1, 10**6), default=64, metavar="N", help="decisions of the learner in each of them between updates")
    add("--batch", type=whole(1, 10**6), default=2048, metavar="N", help="decisions in one gradient step")
    add("--hidden", type=whole(1, 10**6), default=256, metavar="N", help="width of the shared layer")
    add("--anchors", default="random,greedy", metavar="NAMES", help="opponents, with commas")
    add("--threads", type=whole(1, 10**6), default=1, metavar="N", help="threads for the games and for torch")
    add("--seed", type=whole(0, 2**32 - 1), default=1, metavar="N", help="seed of everything")
    add("--json", type=Path, metavar="FILE", help="write machine, method, configurations and figures as JSON")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code: 0 all right, 1 a file is bad, 2 the command is, 130 interrupted."""
    options = _parser().parse_args(arguments)

    def run() -> int:
        runs = trainers(options)
        figures = compare(runs, options.warm_up, options.rounds)
        print("\n".join(shown(one) for one in figures))
        if options.json:
            write_atomically(options.json, json.dumps(report(runs, figures), indent=2, ensure_ascii=False) + "\n")
        return 0

    return exit_code("trainers", run)


if __name__ == "__main__":
    sys.exit(main())
