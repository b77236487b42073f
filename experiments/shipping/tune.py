"""Tuning of heuristic weights by CMA-ES.

``python -m experiments.shipping.tune appraiser --players 2 --against greedy --minutes 8``.

An evolution strategy (CMA-ES, of the package `cma`) searches the weights' logarithms, as weights
are positive and of different sizes. In every generation all candidates play the same paired seeds,
once from each seat, against every opponent in turn. A candidate's fitness is its win share plus a
small multiple of its lead in VP, which has less variance. The result is the mean of the final
distribution, as the best candidate's fitness is biased by luck.

The JSON file contains the options, the current weights and ``worths``, the mean fitness of each
generation. It is written after every generation. Exit codes: 0 success, 1 invalid file, 2 invalid
command, 130 interrupted.
"""

import json
import math
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from skyenv.agents import make_agent
from skyenv.arena.matches import play_games, rotations
from skyenv.array_types import ArrayLike
from skyenv.console.options import Help, Options, argument, common, option, program
from skyenv.errors import AgentError, needs_extra
from skyenv.files import write_atomically
from skyenv.seeds import TUNING
from skyenv.work import Pool, open_pool
from skyenv_agents.heuristic.player import HeuristicAgent
from skyenv_agents.heuristic.weights import Weights

# Lead in VP that counts as much as a win.
LEAD: Final = 400.0
# Initial value of smaller weights, as 0 has no logarithm.
LEAST: Final = 1e-3


@dataclass(frozen=True)
class Tuning(Options):
    """Options of the command line."""

    agent: str = argument("the agent to tune", metavar="AGENT", default="appraiser")
    against: tuple[str, ...] = common("against", default=("greedy",))
    players: int = common("players")
    side: str = common("side")
    paired_seeds: int = common("paired_seeds", default=32, text="per generation and opponent")
    population: int = option(0, "candidates per generation; 0: cma's default", high=10**6)
    sigma: float = option(0.15, "initial standard deviation of the logarithms", above=True)
    seed: int = common("seed", text="first paired seed, and seed of the candidates")
    generations: int = option(10**6, "most generations")
    minutes: float = common("minutes", text="begin no generation after this time; 0: no limit")
    workers: int = common("workers", default=1, low=1)
    out: Path = option(Path("tuning.json"), "file for the weights", metavar="FILE", writes=True)


def tune(tuning: Tuning, pool: Pool) -> Iterator[tuple[float, Weights]]:
    """Yield each generation's mean fitness and the mean of the distribution, without end.

    Args:
        tuning: the options.
        pool: the workers that play a generation's games.

    Raises:
        AgentError: the agent has no weights. MissingExtraError: cma is missing.
    """
    with needs_extra("tune"):
        import cma

    start = kind_of(tuning.agent).default_weights[tuning.players]
    rng = np.random.default_rng(tuning.seed)  # cma's default is NumPy's global generator
    options: dict[str, Any] = {
        "seed": math.nan,
        "randn": lambda *shape: rng.standard_normal(shape),
        "verbose": -9,
        "CMA_diagonal": True,
    }
    if tuning.population:
        options["popsize"] = tuning.population
    logarithms = [math.log(max(weight, LEAST)) for weight in start.values()]
    strategy = cma.CMAEvolutionStrategy(logarithms, tuning.sigma, options)
    first = TUNING.start + tuning.seed
    while True:
        points = strategy.ask()
        jobs = [pool.submit(fitness, tuning, first, weights_at(point, start)) for point in points]
        values = [job.result() for job in jobs]
        strategy.tell(points, [-value for value in values])
        first += tuning.paired_seeds
        yield float(np.mean(values)), weights_at(strategy.mean, start)


def weights_at(point: ArrayLike, names: Iterable[str]) -> Weights:
    """Return the weights, by name, with the given logarithms."""
    return dict(zip(names, np.exp(np.asarray(point)).tolist(), strict=True))


def kind_of(name: str) -> type[HeuristicAgent]:
    """Return the class of an agent with weights.

    Raises:
        AgentError: unknown agent, or one without weights.
    """
    agent = make_agent(name)
    if not isinstance(agent, HeuristicAgent):
        raise AgentError(f"agent {name} has no weights to tune")
    return type(agent)


def fitness(tuning: Tuning, first: int, weights: Weights) -> float:
    """Return the fitness of a candidate's weights in paired seeds from `first` on."""
    seeds = np.repeat(np.arange(first, first + tuning.paired_seeds), tuning.players)
    seating = rotations(tuning.players, tuning.paired_seeds)
    mine = seating == 0
    kind, values = kind_of(tuning.agent), []
    for opponent in tuning.against:
        agents = [kind(dict.fromkeys(kind.default_weights, weights)), make_agent(opponent)]
        played = play_games(agents, seating, seeds, tuning.side)
        lead = played.scores[mine] - np.where(mine, -1, played.scores).max(axis=1)
        values.append(float((played.shares[mine] + lead / LEAD).mean()))
    return float(np.mean(values))


def _run(options: Tuning) -> None:
    end = time.monotonic() + 60 * (options.minutes or math.inf)
    means: list[float] = []
    with open_pool(options.workers) as pool:
        generations = tune(options, pool)
        while len(means) < options.generations and time.monotonic() < end:
            mean, weights = next(generations)
            means.append(mean)
            content = {
                "tuning": vars(options) | {"out": str(options.out)},
                "weights": {name: float(f"{value:.3g}") for name, value in weights.items()},
                "worths": means,
            }
            write_atomically(options.out, json.dumps(content, indent=1) + "\n")
            print(f"generation {len(means)}, mean fitness {mean:.3f}", flush=True)


main = program(
    Tuning,
    "experiments.shipping.tune",
    Help(
        "tune the weights of an agent",
        "appraiser --players 2 --against greedy --minutes 8",
        "docs/agents.md#heuristics",
    ),
    _run,
)

if __name__ == "__main__":
    sys.exit(main())
