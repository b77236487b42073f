"""Tuning an agent's weights: ``python -m experiments.tools.tune appraiser --players 2 --against
greedy --minutes 8``.

An evolution strategy (CMA-ES, of the package `cma`) looks for better weights. It works on their
logarithms, as they are positive and of different sizes. In every generation all candidates play the
same paired seeds, once from each seat, against every opponent in turn. A candidate is worth its
share of the wins and a little of its lead in VP, which tells more per game.

The result is the mean of the final distribution, which is less lucky than the best candidate seen.

After every generation one JSON file holds the weights found and all that is needed to go on: with
``--resume`` as if nothing had happened. Ctrl-C drops the generation under way. Exit codes: 0 all
right, 1 a file is bad, 2 the command is, 130 interrupted.
"""

from __future__ import annotations

import json
import math
import pickle
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, make_agent
from skyenv.arena.matches import Progress, play_games, rotations
from skyenv.arena.schedule import Entrant, entrants
from skyenv.arena.units import Interrupt, run_units
from skyenv.commands import INTERRUPTED, complain, exit_code
from skyenv.errors import AgentError, CheckpointError, OptionError
from skyenv.files import write_atomically
from skyenv.options import SPREAD, Options, argument, common, option, parse
from skyenv.progress import progress
from skyenv.seeds import TUNING
from skyenv_agents.heuristic.player import HeuristicAgent
from skyenv_agents.heuristic.weights import Weights

LEAD: Final = 400.0
"""So many VP ahead count as much as a whole win."""
LEAST: Final = 1e-3
"""Weights of less than this start from here, as logarithms know no 0."""
FORMAT: Final = "skyenv-tune-1"


@dataclass(frozen=True)
class Tuning(Options):
    """What is tuned, and how; the agent's own name among the opponents means it with the weights it
    has now.
    """

    agent: str = argument(
        "name of an agent with weights, such as greedy", default="appraiser", metavar="AGENT"
    )
    against: tuple[str, ...] = common("against", default=("greedy",))
    players: int = common("players")
    side: str = common("side")
    paired_seeds: int = common(
        "paired_seeds",
        default=32,
        text="for each generation and opponent; every candidate plays each from each seat",
    )
    population: int = option(
        0, "candidates in a generation; 0: as many as cma thinks right", high=10**4, metavar="N"
    )
    sigma: float = option(
        0.15, "first standard deviation of the logarithms", above=True, high=10, metavar="S"
    )
    seed: int = common(
        "seed", text="the first paired seed, and the seed of the candidates", low=1, high=2**31 - 1
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.against:
            raise OptionError("against must name an opponent at least")


@dataclass(frozen=True)
class TuneConfig(Tuning):
    """The program's options."""

    generations: int = option(10**6, "at most", metavar="N")
    minutes: float = common(
        "minutes", text="begin no generation after so many minutes; 0: no limit"
    )
    workers: int | None = common("workers", default=None, text=SPREAD)
    ray: str | None = common("ray")
    out: Path = option(Path("tuning.json"), "what is found, and the checkpoint", metavar="FILE")
    resume: bool = common(
        "resume",
        text="go on with the file's tuning; of others --minutes, --generations, --workers, --ray count",
    )

    def tuning(self) -> Tuning:
        """What is tuned, and how."""
        return Tuning(**{entry.name: getattr(self, entry.name) for entry in fields(Tuning)})

    def crew(self) -> Crew | None:
        """Who plays; None: this process."""
        return (
            None if self.workers is None and self.ray is None else Crew(self.workers or 0, self.ray)
        )


def weights_of(name: str, players: int) -> Weights:
    """The present weights of an agent for a number of players.

    Raises:
        AgentError: there is no such agent, or it has no weights.
    """
    return _kind(name).measured[players]


def _kind(name: str) -> type[HeuristicAgent]:
    agent = make_agent(name)
    if not isinstance(agent, HeuristicAgent):
        raise AgentError(f"agent {name} has no weights to tune")
    return type(agent)


class Normal:
    """Normal numbers of a generator of its own, as cma calls for them; cma's own default is NumPy's
    global generator.
    """

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def __call__(self, *shape: int) -> npt.NDArray[np.float64]:
        """Normal numbers of a shape."""
        return self._rng.standard_normal(shape)


class Tuner:
    """A tuning under way: everything follows from the options, the first weights and what the
    candidates were worth.

    Args:
        tuning: the options.
        start: the first weights; None: the agent's present ones.
        worths: of the candidates of every finished generation, as `worths` of an earlier tuner.

    Attributes:
        worths: of the candidates of every finished generation.

    Raises:
        AgentError: an agent can't be made or tuned, or cma is not installed.
    """

    def __init__(
        self, tuning: Tuning, start: Weights | None = None, worths: Sequence[Sequence[float]] = ()
    ) -> None:
        try:
            import cma
        except ImportError as error:
            raise AgentError(f"tuning needs the packages of skyenv[tune]: {error}") from error
        self.tuning = tuning
        self.start = dict(start or weights_of(tuning.agent, tuning.players))
        self.worths: list[list[float]] = []
        opponents = entrants(tuning.against, tuning.players, tuning.side)
        self._opponents = {one: one.make() for one in opponents}
        options: dict[str, Any] = {
            "seed": math.nan,
            "randn": Normal(tuning.seed),
            "verbose": -9,
            "CMA_diagonal": True,
        }
        if tuning.population:
            options["popsize"] = tuning.population
        logarithms = [math.log(max(value, LEAST)) for value in self.start.values()]
        self._strategy = cma.CMAEvolutionStrategy(logarithms, tuning.sigma, options)
        for known in worths:
            self._learn(self._strategy.ask(), list(known))

    def advance(self, progress: Progress | None = None, crew: Crew | None = None) -> bool:
        """Play one generation and learn from it; False if Ctrl-C came before its end, and nothing
        has changed.

        Args:
            progress: told how many games have finished, since the last call.
            crew: who plays; None: this process. It changes nothing of what comes of it.
        """
        state = pickle.dumps(self._strategy)
        points = self._strategy.ask()
        first = TUNING.start + self.tuning.seed + len(self.worths) * self.tuning.paired_seeds
        matches = [
            Match(self.tuning, self._weights(point), first, opponent)
            for point in points
            for opponent in self._opponents
        ]
        worths = (
            self._here(matches, progress) if crew is None else in_workers(matches, crew, progress)
        )
        if worths is None:
            self._strategy = pickle.loads(state)
            return False
        self._learn(
            points, [float(sum(of) / len(of)) for of in np.split(np.array(worths), len(points))]
        )
        return True

    def weights(self) -> Weights:
        """The weights in the middle of the present distribution."""
        return self._weights(self._strategy.mean)

    @property
    def games(self) -> int:
        """Games in a generation."""
        return (
            int(self._strategy.popsize)
            * self.tuning.paired_seeds
            * self.tuning.players
            * len(self._opponents)
        )

    def _weights(self, point: npt.ArrayLike) -> Weights:
        return dict(zip(self.start, np.exp(np.asarray(point)).tolist(), strict=True))

    def _learn(self, points: Any, worths: list[float]) -> None:
        self._strategy.tell(points, [-worth for worth in worths])
        self.worths.append(worths)

    def _here(self, matches: Sequence[Match], progress: Progress | None) -> list[float] | None:
        worths = []
        for match in matches:
            worth = match.worth(self._opponents[match.opponent], progress)
            if worth is None:
                return None
            worths.append(worth)
        return worths


@dataclass(frozen=True)
class Match:
    """A candidate against an opponent: its weights, the first paired seed, and one of the tuning's
    opponents.
    """

    tuning: Tuning
    weights: Weights
    first: int
    opponent: Entrant

    @property
    def games(self) -> int:
        """How many games it has."""
        return self.tuning.paired_seeds * self.tuning.players

    def about(self) -> str:
        """What it is."""
        return f"a candidate for {self.tuning.agent} met {self.opponent.name} in {self.games} games from seed {self.first} on"

    def worth(self, opponent: Agent, progress: Progress | None = None) -> float | None:
        """What the weights are worth in these paired seeds; None if Ctrl-C came."""
        tuning = self.tuning
        kind = _kind(tuning.agent)
        candidate = kind(dict.fromkeys(kind.measured, self.weights))
        seeds = np.repeat(np.arange(self.first, self.first + tuning.paired_seeds), tuning.players)
        seating = rotations(tuning.players, tuning.paired_seeds)
        played = play_games([candidate, opponent], seating, seeds, tuning.side, progress=progress)
        if played.interrupted:
            return None
        mine = seating == 0
        lead = played.scores[mine] - np.where(mine, -1, played.scores).max(axis=1)
        return float((played.shares[mine] + lead / LEAD).mean())


# ---- in workers ----


@dataclass(frozen=True)
class Crew:
    """Who plays side by side, as for :func:`skyenv.arena.units.run_units`."""

    workers: int
    ray: str | None


_opponent = lru_cache(Entrant.make)


def _play(task: tuple[int, Match]) -> float:
    _, match = task
    worth = match.worth(_opponent(match.opponent))
    if worth is None:  # Ctrl-C isn't heard here
        raise AgentError(
            f"agent {match.tuning.agent} or {match.opponent.name} raised KeyboardInterrupt"
        )
    return worth


def in_workers(
    matches: Sequence[Match], crew: Crew, progress: Progress | None
) -> list[float] | None:
    """What the candidates of matches are worth; None if Ctrl-C came.

    Raises:
        AgentError: workers keep dying, or an agent failed. OptionError: there is no such Ray.
    """
    worths: dict[int, float] = {}

    def keep(task: tuple[int, Match], worth: float) -> None:
        number, match = task
        worths[number] = worth
        if progress is not None:
            progress(match.games)

    with Interrupt() as interrupt:
        run_units(
            _play,
            iter(enumerate(matches)),
            crew.workers,
            ray=crew.ray,
            done=keep,
            tick=interrupt.goes_on,
            parts=lambda task: [task],
            about=lambda task: task[1].about(),
        )
    return None if interrupt.asked else [worths[number] for number in range(len(matches))]


# ---- files ----


def save(tuner: Tuner, path: str | Path) -> None:
    """Write everything about a tuning, atomically: the weights found, and what is needed to go on.

    Raises:
        OSError: the file can't be written.
    """
    content = {
        "format": FORMAT,
        "tuning": asdict(tuner.tuning),
        "weights": {name: float(f"{value:.3g}") for name, value in tuner.weights().items()},
        "start": tuner.start,
        "worths": tuner.worths,
    }
    write_atomically(path, json.dumps(content, indent=1) + "\n")


def load(path: str | Path) -> Tuner:
    """The tuning in a file, to go on with.

    Raises:
        CheckpointError: the file is missing, damaged or something else, or the agent's weights have
            other names now.
        AgentError: as for :class:`Tuner`.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError(f"its format is {content['format']!r}")
        tuning = Tuning(**content["tuning"])
        start = content["start"]
        if wrong := set(start) ^ set(weights_of(tuning.agent, tuning.players)):
            raise ValueError(f"the agent's weights have other names: {sorted(wrong)}")
        return Tuner(tuning, start, content["worths"])
    except AgentError:
        raise
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise CheckpointError(
            f"{path} is no tuning to go on with ({type(error).__name__}: {error!s:.100})"
        ) from error


# ---- the command line ----


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code (see the module's text)."""
    description = "Tune the weights of an agent by an evolution strategy."
    return exit_code(
        "tune", lambda: _run(parse(TuneConfig, "experiments.tools.tune", description, arguments))
    )


def _run(config: TuneConfig) -> int:
    if config.resume:
        tuner = load(config.out)
    elif config.out.exists():
        raise OptionError(
            f"{config.out} is there already; go on with it by --resume, or choose another file "
            "with --out"
        )
    else:
        tuner = Tuner(config.tuning())
        save(tuner, config.out)
    end = time.monotonic() + 60 * (config.minutes or math.inf)
    while len(tuner.worths) < config.generations and time.monotonic() < end:
        with progress(tuner.games, leave=True) as bar:
            try:
                finished = tuner.advance(bar.update, config.crew())
                save(tuner, config.out)
            except KeyboardInterrupt:
                finished = False
            if finished:
                bar.set_description(
                    f"generation {len(tuner.worths)}, worth {np.mean(tuner.worths[-1]):.3f}"
                )
        if not finished:
            complain("tune", "interrupted")
            return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
