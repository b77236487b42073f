"""Tune an agent's weights: ``python -m experiments.tools.tune appraiser --players 2 --against
greedy --minutes 8``.

An evolution strategy (CMA-ES, of the package `cma`) searches the weights' logarithms, as weights
are positive and of different sizes. In every generation all candidates play the same paired seeds,
once from each seat, against every opponent in turn. A candidate's worth is its share of the wins
and a little of its lead in VP, which tells more per game. The result is the mean of the final
distribution, which is less lucky than the best candidate.

After every generation one JSON file holds the weights found and all that is needed to go on with
``--resume``, as if nothing had happened. Exit codes: 0 done, 1 a file is bad, 2 the command is,
130 interrupted.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.agents import make_agent, running_code
from skyenv.arena.matches import play_games, rotations
from skyenv.errors import AgentError, CheckpointError, OptionError
from skyenv.files import read_json, write_atomically
from skyenv.options import Options, argument, common, exit_code, option, parse
from skyenv.rules.variant import of_variant
from skyenv.seeds import TUNING
from skyenv.work import Pool, open_pool
from skyenv_agents.heuristic.player import HeuristicAgent
from skyenv_agents.heuristic.weights import Weights

LEAD: Final = 400.0
"""So many VP ahead count as much as a whole win."""
LEAST: Final = 1e-3
"""Smaller weights start from here, as 0 has no logarithm."""
FORMAT: Final = of_variant("skyenv-tune-1")


@dataclass(frozen=True)
class Tuning(Options):
    """The task: an agent with weights, its opponents and tables, and the search's settings."""

    agent: str = argument("the agent to tune", metavar="AGENT", default="appraiser")
    against: tuple[str, ...] = common("against", default=("greedy",))
    players: int = common("players")
    side: str = common("side")
    paired_seeds: int = common("paired_seeds", default=32, text="for a generation and opponent")
    population: int = option(0, "candidates in a generation; 0: cma's default", high=10**6)
    sigma: float = option(0.15, "first standard deviation of the logarithms", above=True)
    seed: int = common("seed", text="first paired seed, and the seed of the candidates")


@dataclass(frozen=True)
class TuningRun(Tuning):
    """The task, and how far and where it is worked on."""

    generations: int = option(10**6, "at most so many")
    minutes: float = common("minutes", text="begin no generation after these; 0: no limit")
    workers: int = common("workers", default=1, low=1)
    out: Path = option(Path("tuning.json"), "file of the tuning", metavar="FILE")
    resume: bool = common("resume", text="go on with the file's tuning")


class Tuner:
    """A tuning under way, which follows from its task, its first weights and the worths so far.

    Args:
        tuning: the task.
        start: the first weights; None: the agent's own.
        worths: of the candidates of every finished generation.

    Raises:
        AgentError: the agent has no weights, or cma is not installed.
    """

    def __init__(
        self, tuning: Tuning, start: Weights | None = None, worths: Sequence[Sequence[float]] = ()
    ) -> None:
        try:
            import cma
        except ImportError as error:
            raise AgentError(f"tuning needs the packages of skyenv[tune]: {error}") from error
        self.tuning = tuning
        self.start = dict(start or weights_of(tuning))
        self.worths: list[list[float]] = []
        rng = np.random.default_rng(tuning.seed)  # cma's default is NumPy's global generator
        options: dict[str, Any] = {
            "seed": math.nan,
            "randn": lambda *shape: rng.standard_normal(shape),
            "verbose": -9,
            "CMA_diagonal": True,
        }
        if tuning.population:
            options["popsize"] = tuning.population
        first = [math.log(max(weight, LEAST)) for weight in self.start.values()]
        self._strategy = cma.CMAEvolutionStrategy(first, tuning.sigma, options)
        for known in worths:
            self._learn(self._strategy.ask(), list(known))

    def advance(self, pool: Pool | None = None) -> None:
        """Play a generation and learn from it; `pool`: plays; None: this process does."""
        points = self._strategy.ask()
        first = TUNING.start + self.tuning.seed + len(self.worths) * self.tuning.paired_seeds
        judge = partial(worth, self.tuning, first)
        candidates = [self._weights(point) for point in points]
        if pool is None:
            worths = list(map(judge, candidates))
        else:
            tasks = [pool.submit(judge, candidate) for candidate in candidates]
            worths = [task.result() for task in tasks]
        self._learn(points, worths)

    def weights(self) -> Weights:
        """Return the weights in the middle of the present distribution."""
        return self._weights(self._strategy.mean)

    def _weights(self, point: npt.ArrayLike) -> Weights:
        return dict(zip(self.start, np.exp(np.asarray(point)).tolist(), strict=True))

    def _learn(self, points: Any, worths: list[float]) -> None:
        self._strategy.tell(points, [-one for one in worths])
        self.worths.append(worths)


def kind_of(name: str) -> type[HeuristicAgent]:
    """Return the class of an agent with weights.

    Raises:
        AgentError: there is no such agent, or it has no weights.
    """
    agent = make_agent(name)
    if not isinstance(agent, HeuristicAgent):
        raise AgentError(f"agent {name} has no weights to tune")
    return type(agent)


def weights_of(tuning: Tuning) -> Weights:
    """Return the agent's own weights."""
    return kind_of(tuning.agent).measured[tuning.players]


def worth(tuning: Tuning, first: int, weights: Weights) -> float:
    """Return the worth of a candidate's weights in paired seeds from `first` on."""
    seeds = np.repeat(np.arange(first, first + tuning.paired_seeds), tuning.players)
    seating = rotations(tuning.players, tuning.paired_seeds)
    mine = seating == 0
    kind, found = kind_of(tuning.agent), []
    for opponent in tuning.against:
        agents = [kind(dict.fromkeys(kind.measured, weights)), make_agent(opponent)]
        played = play_games(agents, seating, seeds, tuning.side)
        lead = played.scores[mine] - np.where(mine, -1, played.scores).max(axis=1)
        found.append(float((played.shares[mine] + lead / LEAD).mean()))
    return float(np.mean(found))


def save(tuner: Tuner, path: Path) -> None:
    """Write the weights found and all that is needed to go on, atomically.

    Raises:
        OSError: the file can't be written.
    """
    content = {
        "format": FORMAT,
        "tuning": {field.name: getattr(tuner.tuning, field.name) for field in fields(Tuning)},
        "weights": {name: float(f"{value:.3g}") for name, value in tuner.weights().items()},
        "start": tuner.start,
        "worths": tuner.worths,
    }
    write_atomically(path, json.dumps(content, indent=1) + "\n")


def load(path: Path, named: Collection[str] = ()) -> Tuner:
    """Read a tuning to go on with.

    Args:
        path: its file.
        named: agents that the command line names, too.

    Raises:
        CheckpointError: the file is missing, damaged or of another format.
        AgentError: as for :class:`Tuner`.
    """
    try:
        content = read_json(path)
        if content["format"] != FORMAT:
            raise ValueError(f"its format is {content['format']!r}")
        tuning = Tuning(**content["tuning"])
        if code := running_code((tuning.agent, *tuning.against), path) - {*named}:
            raise ValueError(f"the command must name {', '.join(sorted(code))}, too")
        if wrong := set(content["start"]) ^ set(weights_of(tuning)):
            raise ValueError(f"the agent's weights have other names: {sorted(wrong)}")
        return Tuner(tuning, content["start"], content["worths"])
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path} is no tuning to go on with ({error!s:.100})") from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return the exit code (see the module's text)."""
    description = "Tune the weights of an agent."
    return exit_code(
        "tune", lambda: _run(parse(TuningRun, "experiments.tools.tune", description, arguments))
    )


def _run(options: TuningRun) -> int:
    if options.resume:
        tuner = load(options.out, (options.agent, *options.against))
    elif options.out.exists():
        raise OptionError(f"{options.out} exists; go on with --resume, or choose another --out")
    else:
        tuner = Tuner(options)
    end = time.monotonic() + 60 * (options.minutes or math.inf)
    with open_pool(options.workers) if options.workers > 1 else nullcontext() as pool:
        while len(tuner.worths) < options.generations and time.monotonic() < end:
            tuner.advance(pool)
            save(tuner, options.out)
            done, mean = len(tuner.worths), np.mean(tuner.worths[-1])
            print(f"generation {done}, worth {mean:.3f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
