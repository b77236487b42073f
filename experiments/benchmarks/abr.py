"""Approximate best responses by a fixed recipe: ``python -m experiments.benchmarks.abr greedy
--tasks duel-4 full-2 --out runs/abr``.

ABR-1M is a lower bound of an agent's exploitability where trees are too large for exact best
responses. The project's PPO (:mod:`experiments.training.best_response`) learns for 1 million
decisions against the agent alone, on the openings to train on, with three seeds. The response that
does best on some deals is measured on other deals of the measured openings. The gain is the sum
over both seats in VP, as NashConv, or in whole games and their last turns the wins above par.

Each run writes FOLDER/AGENT-TASK-SEED.npz; the same command makes the missing ones, and Ctrl-C
loses only the current one. FOLDER/abr.json has the figures, with the exact NashConv where trees are
small.

Exit codes: 0 success, 1 invalid file, 2 invalid command, 130 interrupted.
"""

import itertools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from experiments.benchmarks.tasks import MEASURED, USUAL, losses, mean
from experiments.figures import Figure, of_estimate, shown, write
from experiments.training.best_response import BestResponse, BestResponseConfig
from skyenv.agents import Agent, make_agent
from skyenv.arena.matches import Onlooker, play_games, rotations
from skyenv.array_types import Int64
from skyenv.console.options import Options, option, run_program
from skyenv.engine.games import Games
from skyenv.engine.openings import OF_AUCTIONS, TASKS, WHOLE_GAMES, measured
from skyenv.engine.options import GameOptions
from skyenv.files import write_atomically
from skyenv.solving.tree import Opening
from skyenv.statistics import Estimate, mean_of

CHOICES: Final = (*(name for name, task in TASKS.items() if task.num_players == 2), *WHOLE_GAMES)
RECIPE: Final[dict[str, Any]] = {
    "decisions": 1_000_000,
    "minutes": 0.0,
    "games": 64,
    "steps": 16,
    "batch": 256,
    "epochs": 4,
    "entropy": 0.1,
    "final_entropy": 0.01,
    "precision": "float32",
    "device": "cpu",
    "paired_seeds": 0,
}


@dataclass(frozen=True)
class AbrOptions(Options):
    """Options of the command line."""

    agents: tuple[str, ...] = option(
        MISSING, "agents to respond to", metavar="AGENT", positional=True
    )
    tasks: tuple[str, ...] = option(
        ("duel-4",), "tasks with two seats, or whole games", choices=CHOICES, metavar="TASK"
    )
    out: Path = option(Path("runs/abr"), "folder of the responses", metavar="FOLDER")
    seeds: int = option(3, "responses to each agent", low=1)
    deals: int = option(4000, "deals to measure a response, each from all seats", low=64)


class Payoffs(Onlooker):
    """An observer that sums the rewards of the seats of a match: float64 (k, players)."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.sums = np.zeros(shape)

    def played(self, games: Games, rows: Int64, matches: Int64) -> None:
        """Add the rewards; see :class:`skyenv.arena.matches.Onlooker`."""
        self.sums[matches] += games.reward[rows]


def respond(target: str, task: str, seed: int) -> bytes:
    """Train a response by the recipe and return its network's file."""
    players, side = WHOLE_GAMES.get(task, (2, "front"))
    prior = "" if task in OF_AUCTIONS else "greedy"  # games are too long to begin with random play
    config = BestResponseConfig(
        target=target,
        task="" if task in WHOLE_GAMES else task,
        players=(players,),
        side=(side,),
        seed=seed,
        prior=prior,
        **RECIPE,
    )
    config.check()
    training = BestResponse(config)
    training.begin()
    try:
        while not training.finished():
            training.update()
        return training.model()
    finally:
        training.end()


def gains(response: Agent, target: Agent, task: str, deals: range) -> Estimate:
    """Return what a response gains against copies of an agent: in auctions VP, summed over the
    seats; else a share of the wins.

    Every deal is played from all seats, in an opening of the measured ones. The interval is that of
    other deals in the same openings.
    """
    names = [task] if task in WHOLE_GAMES else measured(task, USUAL)
    players = GameOptions(task=names[0]).num_players
    seeds = np.repeat(deals[:: len(names)], players)
    seating = rotations(players, len(seeds) // players)
    of_openings = []
    for name in names:
        payoffs = Payoffs(seating.shape)
        options = GameOptions(task=name)
        play_games([response, target], seating, seeds, options=options, onlooker=payoffs)
        own = payoffs.sums[seating == 0]
        of_openings.append(own.reshape(-1, players).mean(axis=1))
    scale = players if task in OF_AUCTIONS else (players - 1) / players
    return mean_of(scale * np.mean(of_openings, axis=0))


def measure(options: AbrOptions, spec: str, task: str) -> Iterator[Figure]:
    """Return the figures of an agent in a task; train the responses that aren't there."""
    target = make_agent(spec)
    label, in_auctions = f"{target.name}, {task}", task in OF_AUCTIONS
    times, unit, digits = (1.0, "VP", 2) if in_auctions else (100.0, "%", 1)
    choosing, reporting = range(options.deals), range(options.deals, 2 * options.deals)
    found = []
    for seed in range(options.seeds):
        path = options.out / f"{target.name}-{task}-{seed}.npz"
        if not path.exists():
            write_atomically(path, respond(spec, task, seed))
        response = make_agent(path)
        found.append((gains(response, target, task, choosing), response))
    for number, (chosen, _) in enumerate(found):
        yield of_estimate(f"{label}: seed {number}", chosen, unit, 1, times, digits)
    _, best = max(found, key=lambda one: one[0].mean)
    yield of_estimate(
        f"{label}: ABR-1M", gains(best, target, task, reporting), unit, 1, times, digits
    )
    if MEASURED.get(task) == USUAL:
        rows = [losses(Opening(name), {label: target})[label] for name in measured(task, USUAL)]
        yield mean(f"{label}: NashConv", "VP", [conv for conv, _ in rows])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit code (see the module's text)."""
    text = "Train approximate best responses by a fixed recipe, and measure what they gain."
    return run_program(AbrOptions, "experiments.benchmarks.abr", text, _run, arguments)


def _run(options: AbrOptions) -> None:
    options.out.mkdir(parents=True, exist_ok=True)
    figures = []
    for spec, task in itertools.product(options.agents, options.tasks):
        for one in measure(options, spec, task):
            print(shown(one), flush=True)
            figures.append(one)
    method = " ".join((__doc__ or "").split("\n\n")[1].split())
    write(options.out / "abr.json", method, figures)


if __name__ == "__main__":
    sys.exit(main())
