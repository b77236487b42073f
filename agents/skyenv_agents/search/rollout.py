"""Flat Monte Carlo search with sequential halving.

Every decision samples determinizations from the seat's view
(:func:`skyenv.engine.knowledge.resample`). In each, every candidate action is followed by a rollout
of some turns in which all seats use only their own views; the final position is evaluated. After
each round the worst candidates are dropped, and the others share the remaining budget. All
candidates see the same determinizations and chance.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from skyenv.agents import Decisions
from skyenv.array_types import Float64, Int8, Int64, RecordArray
from skyenv.checks import check_integer, check_number
from skyenv.engine.knowledge import VIEW_DTYPE
from skyenv.errors import AgentError
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.record import as_records, new_records
from skyenv.rules.state import GAME_DTYPE
from skyenv_agents.heuristic.features import HEURISTIC_DTYPE, NEVER
from skyenv_agents.heuristic.player import GreedyAgent
from skyenv_agents.heuristic.scores import decide_all
from skyenv_agents.search.budgets import BudgetedAgent, seed_of
from skyenv_agents.search.rollouts import new_scratch, search_options, try_actions

DEFAULT_SIMULATIONS: Final = 64
FEWEST: Final = 2  # least determinizations between two checks of the clock
PARTS: Final = 32  # later batches are 1/PARTS of those so far, as each batch copies all values
SLICE: Final = 16  # simulations of a compiled call; Ctrl-C is handled between calls
SEED_BITS: Final = 30  # low bits of a determinization's seed that number those of a decision


class RolloutResult(NamedTuple):
    """The result of a search: each decision's action, int64 (k,), and its number of simulations,
    int64 (k,).
    """

    actions: Int64
    simulations: Int64


class _Simulations:
    """The simulations of one decision.

    Attributes:
        actions: remaining candidates, int64 (k,).
        values: win probabilities after rollouts, float64 [determinization, action].
        number: simulations so far.
    """

    def __init__(
        self,
        actions: Int64,
        play: Callable[[Int64, int, Float64], None],
    ) -> None:
        self.actions, self._play = actions, play
        self.values = np.zeros((0, len(actions)))
        self.number = 0

    def add(self, number: int) -> None:
        """Evaluate every action in `number` further determinizations."""
        values = np.zeros((number, len(self.actions)))
        self._play(self.actions, len(self.values), values)
        self.values = np.concatenate([self.values, values])
        self.number += values.size

    def prune(self, number: int) -> None:
        """Prune to `number` actions: the first, and the others with the highest mean values."""
        means = self.values.mean(axis=0)
        best = [0, *(1 + np.argsort(-means[1:], kind="stable")[: number - 1])]
        self.actions, self.values = self.actions[best], self.values[:, best]

    def choose(self, caution: float) -> int:
        """Return the second of the last two actions if its mean value exceeds the first one's by
        `caution` standard errors, else the first.
        """
        gain = self.values[:, 1] - self.values[:, 0]
        if len(gain) < 2:
            return int(self.actions[0])
        error = gain.std(ddof=1) / math.sqrt(len(gain))
        return int(self.actions[1 if gain.mean() > caution * error else 0])


def _sizes(candidates: int) -> Iterator[int]:
    """Yield the number of remaining candidates in each round."""
    while candidates > 2:
        yield candidates
        candidates = (candidates + 1) // 2
    yield 2


class RolloutAgent(BudgetedAgent):
    """The agent ``rollout``: the action with the highest win probability in rollouts.

    Candidates are the greedy agent's best actions; greedy's choice is taken unless another
    candidate is clearly better.

    Args:
        simulations: most rollouts per decision, 1 to 10⁶; every candidate has at least one.
        milliseconds: time per decision instead, 0.001 to 10⁶; decisions then depend on the machine.
        candidates: most candidate actions, at least 2.
        caution: standard errors by which a candidate must exceed greedy's choice, at least 0.
        options: `turns` (6; 0: to the end of the game), `early`, `late` and `margin` of
            :func:`skyenv_agents.search.rollouts.search_options`.

    Raises:
        AgentError: invalid option.
    """

    name = "rollout"
    version = "2"
    versions: ClassVar[Mapping[int, str]] = {3: "3", 4: "3"}
    description = "compares actions by greedy rollouts from sampled determinizations"
    uses_view = True
    searches_with: tuple[str, ...] = (GreedyAgent.name,)
    default_simulations = DEFAULT_SIMULATIONS

    def __init__(
        self,
        simulations: int = DEFAULT_SIMULATIONS,
        milliseconds: float | None = None,
        *,
        candidates: int = 6,
        caution: float = 1.0,
        **options: Any,
    ) -> None:
        super().__init__(simulations, milliseconds)
        self.candidates = check_integer("candidates", candidates, 2, NUM_ACTIONS, AgentError)
        self.caution = check_number("caution", caution, 0.0, 1e6, AgentError)
        usual = {"turns": 6, "early": 10.0, "late": 3.0, "margin": 0.5}
        self._options = search_options(**{**usual, **options})
        if self._options["turns"][0] == 0:
            self._options["turns"] = 2**31 - 1
        self._greedy = GreedyAgent()

    def act(self, decisions: Decisions) -> Int64:
        """See :class:`skyenv.agents.Agent`."""
        return self.search(decisions).actions

    def search(self, decisions: Decisions) -> RolloutResult:
        """Return actions and numbers of simulations."""
        views = as_records(decisions.trusted_view(), VIEW_DTYPE)
        weights = self._greedy.weights(decisions.num_players)

        result = RolloutResult(*np.zeros((2, len(decisions)), np.int64))
        for i in range(len(decisions)):
            row = slice(i, i + 1)
            decided = self._decide(views[row], decisions.mask[row], decisions.uniform[row], weights)
            result.actions[i], result.simulations[i] = decided
        return result

    def _decide(
        self,
        view: RecordArray,
        mask: Int8,
        uniform: Float64,
        weights: RecordArray,
    ) -> tuple[int, int]:
        """Return the action of one decision, and its number of simulations."""
        candidates = self._candidates(view, mask, uniform, weights)
        if len(candidates) == 1:
            return int(candidates[0]), 0
        memory, first_seed = (new_records(1, GAME_DTYPE), new_scratch()), seed_of(uniform[0])

        def play(actions: Int64, done: int, values: Float64) -> None:
            seeds = np.arange(len(values)) + ((first_seed << SEED_BITS) + done)
            size = max(1, SLICE // len(actions))
            for start in range(0, len(values), size):
                part = slice(start, start + size)
                shared = self._options, weights, *memory
                try_actions(view, actions, seeds[part], *shared, values[part])

        simulations = _Simulations(candidates, play)
        sizes = list(_sizes(len(candidates)))
        began = time.perf_counter()
        for number, size in enumerate(sizes, 1):
            if number > 1:
                simulations.prune(size)
            if self.milliseconds is None:
                simulations.add(max(1, self.simulations // (len(sizes) * size)))
                continue
            until = began + self.milliseconds / 1000 * number / len(sizes)
            simulations.add(FEWEST)
            while time.perf_counter() < until:
                simulations.add(max(FEWEST, len(simulations.values) // PARTS))
        return simulations.choose(self.caution), simulations.number

    def _candidates(
        self,
        view: RecordArray,
        mask: Int8,
        uniform: Float64,
        weights: RecordArray,
    ) -> Int64:
        """Return the candidate actions, int64 (k,): greedy's choice, then the others with the
        highest scores.
        """
        legal = np.flatnonzero(mask[0])
        if len(legal) == 1:
            return legal
        chosen = np.zeros(1, np.int64)
        scores = np.zeros((1, NUM_ACTIONS))
        decide_all(view, mask, uniform, weights, new_records(1, HEURISTIC_DTYPE), chosen, scores)
        score = scores[0]
        others = legal[(legal != chosen[0]) & (score[legal] > NEVER)]
        best = others[np.argsort(-score[others], kind="stable")]
        return np.concatenate([chosen, best[: self.candidates - 1]])
