"""A player that searches: it plays games on, in positions that its seat can't tell from the real
one.

Flat Monte Carlo with sequential halving. For every decision determinizations are drawn from the
seat's view alone (:func:`skyenv.engine.knowledge.resample`); in each of them every action that is still in
question is played, and the game is played on for some turns by all seats, each of which sees only
its own view there. The position reached is evaluated; the actions that do worst are dropped, and
the others share what is left of the budget. All actions meet the same determinizations and chance.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from skyenv.agents import Decisions, checked_decisions
from skyenv.checks import check_integer, check_number
from skyenv.engine.knowledge import VIEW_DTYPE
from skyenv.errors import AgentError
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.state import GAME_DTYPE, as_records, new_records
from skyenv_agents.heuristic.features import HEURISTIC_DTYPE, NEVER
from skyenv_agents.heuristic.judging import decide_all
from skyenv_agents.heuristic.player import GreedyAgent
from skyenv_agents.search.budgets import BudgetedAgent, Check, on_threads, seed_of
from skyenv_agents.search.rollouts import new_scratch, search_options, try_actions

DEFAULT_SIMULATIONS: Final = 64
FEWEST: Final = 2
"""Determinizations played between two looks at the clock, at first …"""
PARTS: Final = 32
"""… and then this part of those so far, as each time all values are copied."""
SLICE: Final = 16
"""Simulations between two looks at Ctrl-C, or as many as there are candidates."""
SEED_BITS: Final = 30
"""Low bits of a determinization's seed that number those of a decision."""

# ---- searching ----


class RolloutResult(NamedTuple):
    """What a search came to: for each decision an action, int64 (k,), and the simulations that it
    took, int64 (k,).
    """

    actions: npt.NDArray[np.int64]
    simulations: npt.NDArray[np.int64]


class _Simulator:
    """Plays the candidate actions of one decision in one determinization after the other, and keeps
    what they led to.
    """

    def __init__(
        self,
        view: npt.NDArray[np.void],
        candidates: npt.NDArray[np.int64],
        seed: int,
        check: Check,
        options: npt.NDArray[np.void],
        weights: npt.NDArray[np.void],
    ) -> None:
        self._view = view
        self._seed = seed
        self._check = check
        self._options, self._weights = options, weights
        self._memory = new_records(1, GAME_DTYPE), new_scratch()
        self.actions = candidates
        """Those still in question, int64 (k,)."""
        self.values = np.zeros((0, len(candidates)))
        """[determinization, action]: the win probability that the action led to."""
        self.simulations = 0

    def play(self, number: int) -> None:
        """Play every action in so many further determinizations."""
        first = (self._seed << SEED_BITS) + len(self.values)
        seeds = np.arange(first, first + number)
        values = np.zeros((number, len(self.actions)))
        size = max(1, SLICE // len(self.actions))
        for start in range(0, number, size):
            self._check()
            part = slice(start, start + size)
            try_actions(
                self._view,
                self.actions,
                seeds[part],
                self._options,
                self._weights,
                *self._memory,
                values[part],
            )
        self.values = np.concatenate([self.values, values])
        self.simulations += values.size

    def keep(self, number: int) -> None:
        """Keep the first action and, of the others, those that did best, so many in all."""
        means = self.values.mean(axis=0)
        kept = [0, *(1 + np.argsort(-means[1:], kind="stable")[: number - 1])]
        self.actions = self.actions[kept]
        self.values = self.values[:, kept]

    def better(self, caution: float) -> int:
        """The second of the last two actions if it did better than the first, by so many standard
        errors; else the first.
        """
        gain = self.values[:, 1] - self.values[:, 0]
        if len(gain) < 2:
            return int(self.actions[0])
        error = gain.std(ddof=1) / math.sqrt(len(gain))
        return int(self.actions[1 if gain.mean() > caution * error else 0])


def _sizes(candidates: int) -> Iterator[int]:
    """How many actions are in question in each round."""
    while candidates > 2:
        yield candidates
        candidates = (candidates + 1) // 2
    yield 2


class RolloutAgent(BudgetedAgent):
    """Plays on from positions that its seat can't tell from the real one, and takes the action that
    led to most wins.

    The greedy player's best actions are tried, and its choice stands unless another one is clearly
    better.

    Args:
        simulations: how many times a game is played on for each decision, at the most, 1 to 10⁶
            (but every action is tried).
        milliseconds: time for each decision instead, above 0 to 10⁶ (then decisions depend on the
            machine).
        rollout_policy: who plays on: ``"greedy"`` or ``"random"``.
        turns: turns of all seats together that are played on for; 0: to the end of the game.
        candidates: how many actions are tried at the most, at least 2.
        caution: standard errors by which another action must be better than the greedy player's, at
            least 0.
        threads: threads for the decisions of a batch, 1 to 1024.
        early, late: VP ahead that make the odds to win e times as high at the start and at the end
            of the game, when a position is evaluated, from 0.1.
        margin: share that VP have in the value of a finished game, 0 to 1; the win itself has the
            rest.

    Raises:
        AgentError: an option has a wrong value.
    """

    name = "rollout"
    version = "2"
    description = "plays on from positions that its seat can't tell from the real one"
    uses_view = True
    default_simulations = DEFAULT_SIMULATIONS

    def __init__(
        self,
        simulations: int = DEFAULT_SIMULATIONS,
        milliseconds: float | None = None,
        rollout_policy: str = "greedy",
        *,
        turns: int = 6,
        candidates: int = 6,
        caution: float = 1.0,
        threads: int = 1,
        early: float = 10.0,
        late: float = 3.0,
        margin: float = 0.5,
    ) -> None:
        super().__init__(simulations, milliseconds)
        self.candidates = check_integer("candidates", candidates, 2, NUM_ACTIONS, AgentError)
        self.caution = check_number("caution", caution, 0.0, 1e6, AgentError)
        self.threads = check_integer("threads", threads, 1, 1024, AgentError)
        self._options = search_options(rollout_policy, turns, early, late, margin)
        if turns == 0:
            self._options["turns"] = 2**31 - 1
        self._greedy = GreedyAgent()

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """See :class:`skyenv.agents.Agent`."""
        return self.search(decisions).actions

    def search(self, decisions: Decisions) -> RolloutResult:
        """Decide, and tell how many simulations it took."""
        decisions = checked_decisions(decisions)
        assert decisions.view is not None
        views = as_records(decisions.view, VIEW_DTYPE)
        weights = self._greedy.weights(decisions.num_players)

        def decide(i: int, check: Check) -> tuple[int, int]:
            return self._decide(
                views[i : i + 1],
                decisions.mask[i : i + 1],
                decisions.uniform[i : i + 1],
                weights,
                check,
            )

        columns = np.array(
            on_threads(decide, range(len(decisions)), self.threads, "rollout"), np.int64
        ).reshape(-1, 2)
        return RolloutResult(columns[:, 0].copy(), columns[:, 1].copy())

    def _decide(
        self,
        view: npt.NDArray[np.void],
        mask: npt.NDArray[np.int8],
        uniform: npt.NDArray[np.float64],
        weights: npt.NDArray[np.void],
        check: Check,
    ) -> tuple[int, int]:
        """One decision: the action, and the simulations that it took."""
        candidates = self._candidates(view, mask, uniform, weights)
        if len(candidates) == 1:
            return int(candidates[0]), 0
        simulator = _Simulator(view, candidates, seed_of(uniform[0]), check, self._options, weights)
        sizes = list(_sizes(len(candidates)))
        began = time.perf_counter()
        for number, size in enumerate(sizes, 1):
            if number > 1:
                simulator.keep(size)
            if self.budget.milliseconds is None:
                simulator.play(max(1, self.budget.simulations // (len(sizes) * size)))
                continue
            until = began + self.budget.milliseconds / 1000 * number / len(sizes)
            simulator.play(FEWEST)
            while time.perf_counter() < until:
                simulator.play(max(FEWEST, len(simulator.values) // PARTS))
        return simulator.better(self.caution), simulator.simulations

    def _candidates(
        self,
        view: npt.NDArray[np.void],
        mask: npt.NDArray[np.int8],
        uniform: npt.NDArray[np.float64],
        weights: npt.NDArray[np.void],
    ) -> npt.NDArray[np.int64]:
        """The actions to try, int64 (k,): first the greedy player's choice, then those that it
        scores next best.
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
