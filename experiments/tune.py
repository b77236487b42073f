"""Tuning an agent's weights: ``python -m experiments.tune appraiser --players 2 --lessons lessons.npz --minutes 8``.

An evolution strategy (CMA-ES, of the package `cma`) looks for better weights. It works on their logarithms, as they are
positive and of different sizes. What a candidate is worth is measured in one of two ways:

* By lessons (``--lessons``): recorded decisions with what every action led to when it was tried (:mod:`experiments.lessons`). A
  candidate is worth what its choices led to. That is little noisy and fast, but knows only positions that others came to.
* By games (``--against greedy appraiser``): in every generation all candidates play the same deals, once from each seat, against
  every opponent in turn. A candidate is worth its share of the wins and a little of its lead in VP, which tells more per game.

The result is the mean of the final distribution, which is less lucky than the best candidate seen.

After every generation one JSON file holds the weights found and all that is needed to go on: with ``--resume`` as if nothing had
happened. Ctrl-C drops the generation under way. Exit codes: 0 all right, 1 a file is bad, 2 the command is, 130 interrupted.
"""

from __future__ import annotations

import argparse
import json
import math
import pickle
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from agents import agent as make
from agents.advisor import JudgingAgent
from agents.registry import NAMES
from experiments import lessons
from experiments.commands import INTERRUPTED, Parser, complain, exit_code
from experiments.files import write_atomically
from experiments.lessons import Lessons
from experiments.matches import Progress, play_games, rotations
from skyenv.errors import AgentError, CheckpointError, OptionError
from skyenv.games import check_choice, check_integer
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES

LEAD: Final = 400.0
"""So many VP ahead count as much as a whole win."""
LEAST: Final = 1e-3
"""Weights of less than this start from here, as logarithms know no 0."""
FORMAT: Final = "skyenv-tune-1"


@dataclass(frozen=True)
class Tuning:
    """What is tuned, and how.

    Attributes:
        agent: name of an agent that takes `weights`, a dataclass of positive numbers, and whose module has WEIGHTS.
        against: names of the opponents; the agent's own name means it with the weights it has now.
        players: 2 to 4. side: of the board.
        deals: for each generation and opponent; every candidate plays each from each seat.
        population: candidates in a generation; 0: the usual number for so many weights.
        sigma: first standard deviation of the logarithms.
        seed: of deals and candidates.
        lessons: a file of :mod:`experiments.lessons` to be tuned by, instead of games; "" for none.
    """

    agent: str
    against: tuple[str, ...]
    players: int
    side: str = "front"
    deals: int = 32
    population: int = 0
    sigma: float = 0.15
    seed: int = 1
    lessons: str = ""

    def __post_init__(self) -> None:
        for name, low, high in (("players", MIN_PLAYERS, MAX_PLAYERS), ("deals", 1, 10**6)):
            check_integer(name, getattr(self, name), low, high)
        check_integer("population", self.population, 0, 10**4)
        check_integer("seed", self.seed, 1, 2**31 - 1)
        check_choice("side", self.side, SIDES)
        if not 0.0 < self.sigma < 10.0:
            raise OptionError(f"sigma must be between 0 and 10, not {self.sigma}")
        if not self.against and not self.lessons:
            raise OptionError("there must be an opponent at least")


def weights_of(name: str, players: int) -> Any:
    """The present weights of an agent for a number of players.

    Raises:
        AgentError: there is no such agent, or it has no weights.
    """
    if name not in NAMES:
        raise AgentError(f"only agents with a name can be tuned; there are {', '.join(NAMES)}")
    agent = NAMES[name]
    if not issubclass(agent, JudgingAgent):
        raise AgentError(f"agent {name} has no weights to tune")
    return agent.measured[players]


def lessons_of(tuning: Tuning) -> Lessons:
    """The lessons to be tuned by.

    Raises:
        OptionError: they are of another number of players. CheckpointError: the file can't be read.
    """
    plan, found = lessons.load(Path(tuning.lessons))
    if plan.players != tuning.players:
        raise OptionError(f"{tuning.lessons} has lessons of {plan.players} players, not of {tuning.players}")
    return found


class Normal:
    """Normal numbers of a generator of its own, as cma calls for them; cma's own default is NumPy's global generator."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def __call__(self, *shape: int) -> npt.NDArray[np.float64]:
        """Normal numbers of a shape."""
        return self._rng.standard_normal(shape)


class Tuner:
    """A tuning under way: everything follows from the options, the first weights and what the candidates were worth.

    Args:
        tuning: the options.
        start: the first weights; None: the agent's present ones.
        worths: of the candidates of every finished generation, as `worths` of an earlier tuner.

    Attributes:
        worths: of the candidates of every finished generation.

    Raises:
        AgentError: an agent can't be made or tuned, or cma is not installed.
    """

    def __init__(self, tuning: Tuning, start: Any = None, worths: Sequence[Sequence[float]] = ()) -> None:
        try:
            import cma
        except ImportError as error:
            raise AgentError(f"tuning needs the packages of skyenv[tune]: {error}") from error
        self.tuning = tuning
        self.start = start or weights_of(tuning.agent, tuning.players)
        self.worths: list[list[float]] = []
        self._opponents = [] if tuning.lessons else [make(name) for name in tuning.against]
        self._lessons = lessons_of(tuning) if tuning.lessons else None
        options: dict[str, Any] = {"seed": math.nan, "randn": Normal(tuning.seed), "verbose": -9, "CMA_diagonal": True}
        if tuning.population:
            options["popsize"] = tuning.population
        logarithms = [math.log(max(getattr(self.start, field.name), LEAST)) for field in fields(self.start)]
        self._strategy = cma.CMAEvolutionStrategy(logarithms, tuning.sigma, options)
        for known in worths:
            self._learn(self._strategy.ask(), list(known))

    def advance(self, progress: Progress | None = None) -> bool:
        """Play one generation and learn from it; False if Ctrl-C came before its end, and nothing has changed."""
        state = pickle.dumps(self._strategy)
        points = self._strategy.ask()
        worths = []
        for point in points:
            worth = self._worth(self._weights(point), progress)
            if worth is None:
                self._strategy = pickle.loads(state)
                return False
            worths.append(worth)
        self._learn(points, worths)
        return True

    def weights(self) -> Any:
        """The weights in the middle of the present distribution."""
        return self._weights(self._strategy.mean)

    @property
    def games(self) -> int:
        """Games in a generation; with lessons, candidates."""
        if self._lessons is not None:
            return int(self._strategy.popsize)
        return int(self._strategy.popsize) * self.tuning.deals * self.tuning.players * len(self._opponents)

    def _weights(self, point: npt.ArrayLike) -> Any:
        return type(self.start)(*np.exp(np.asarray(point)).tolist())

    def _learn(self, points: Any, worths: list[float]) -> None:
        self._strategy.tell(points, [-worth for worth in worths])
        self.worths.append(worths)

    def _worth(self, weights: Any, progress: Progress | None) -> float | None:
        """What weights are worth in the deals of this generation, or in the lessons; None if Ctrl-C came."""
        tuning = self.tuning
        candidate = NAMES[tuning.agent](weights=weights)  # type: ignore[call-arg]
        if self._lessons is not None:
            if progress is not None:
                progress(1)
            return self._lessons.worth(candidate.act(self._lessons.decisions(tuning.players)))
        first = tuning.seed + len(self.worths) * tuning.deals
        seeds = np.repeat(np.arange(first, first + tuning.deals), tuning.players)
        total = 0.0
        for opponent in self._opponents:
            seating = rotations(tuning.players, tuning.deals)
            played = play_games([candidate, opponent], seating, seeds, tuning.side, progress=progress)
            if played.interrupted:
                return None
            mine = seating == 0
            lead = played.scores[mine] - np.where(mine, -1, played.scores).max(axis=1)
            total += float((played.shares[mine] + lead / LEAD).mean())
        return total / len(self._opponents)


# ---- files ----


def save(tuner: Tuner, path: str | Path) -> None:
    """Write everything about a tuning, atomically: the weights found, and what is needed to go on.

    Raises:
        OSError: the file can't be written.
    """
    content = {
        "format": FORMAT,
        "tuning": asdict(tuner.tuning),
        "weights": {name: float(f"{value:.3g}") for name, value in asdict(tuner.weights()).items()},
        "start": asdict(tuner.start),
        "worths": tuner.worths,
    }
    write_atomically(path, json.dumps(content, indent=1) + "\n")


def load(path: str | Path) -> Tuner:
    """The tuning in a file, to go on with.

    Raises:
        CheckpointError: the file is missing, damaged or something else, or the agent's weights have other names now.
        AgentError: as for :class:`Tuner`.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError(f"its format is {content['format']!r}")
        tuning = Tuning(**{**content["tuning"], "against": tuple(content["tuning"]["against"])})
        kind = type(weights_of(tuning.agent, tuning.players))
        return Tuner(tuning, kind(**content["start"]), content["worths"])
    except AgentError:
        raise
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise CheckpointError(f"{path} is no tuning to go on with ({type(error).__name__}: {error!s:.100})") from error


# ---- the command line ----


def _parser() -> Parser:
    parser = Parser("tune", "Tune the weights of an agent by an evolution strategy.")
    add = parser.add_argument
    add(
        "agent",
        nargs="?",
        default="appraiser",
        metavar="AGENT",
        help="name of an agent with weights, such as greedy (default: appraiser)",
    )
    add("--against", nargs="+", default=["greedy"], metavar="AGENT", help="opponents (default: greedy)")
    add("--players", type=int, default=2, metavar="N", help="2, 3 or 4 (default: 2)")
    add("--side", choices=SIDES, default="front", help="side of the board (default: front)")
    add("--deals", type=int, default=Tuning.deals, metavar="N", help="for each generation and opponent (default: 32)")
    add("--population", type=int, default=0, metavar="N", help="candidates (default: as many as cma thinks right)")
    add("--lessons", default="", metavar="FILE", help="recorded decisions to be tuned by, instead of games")
    add("--sigma", type=float, default=Tuning.sigma, metavar="S", help="first deviation of the logarithms (default: 0.15)")
    add("--generations", type=int, default=10**6, metavar="N", help="at most (default: no limit)")
    add(
        "--minutes",
        type=float,
        default=math.inf,
        metavar="M",
        help="begin no generation after so many minutes (default: no limit)",
    )
    add("--seed", type=int, default=1, metavar="S", help="of deals and candidates (default: 1)")
    add("--out", default="tuning.json", metavar="FILE", help="what is found, and the checkpoint (default: tuning.json)")
    add(
        "--resume",
        action="store_true",
        help="go on with the file's tuning; of the other options --minutes and --generations count",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code (see the module's text)."""
    options = _parser().parse_args(arguments)
    return exit_code("tune", lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    if options.resume:
        tuner = load(options.out)
    elif Path(options.out).exists():
        raise OptionError(f"{options.out} is there already; go on with it by --resume, or choose another file with --out")
    else:
        given = {field.name: getattr(options, field.name) for field in fields(Tuning)}
        tuner = Tuner(Tuning(**{**given, "against": tuple(options.against)}))
        save(tuner, options.out)
    end = time.monotonic() + 60 * options.minutes
    with tqdm(unit="candidate" if options.lessons else "game", disable=None, file=sys.stderr) as bar:
        while len(tuner.worths) < options.generations and time.monotonic() < end:
            try:
                bar.total = bar.n + tuner.games
                finished = tuner.advance(bar.update)
                save(tuner, options.out)
            except KeyboardInterrupt:
                finished = False
            if not finished:
                complain("tune", "interrupted")
                return INTERRUPTED
            bar.set_description(f"generation {len(tuner.worths)}, worth {np.mean(tuner.worths[-1]):.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
