"""A player that searches: it plays games on, in positions that its seat can't tell from the real one.

Flat Monte Carlo with sequential halving. For every decision whole positions ("worlds") are drawn from the seat's view alone
(:func:`skyenv.knowledge.resample`); in each of them every action that is still in question is played, and the game is played on
for some turns by all seats, each of which sees only its own view there. The position reached is assessed; the actions that do
worst are dropped, and the others share what is left of the budget. All actions meet the same worlds, and the same chance.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.budgets import Budget, budget_in, fractional, seed_of, whole
from agents.greedy import GreedyAgent
from agents.judgement import MIND_DTYPE, NEVER, decide_all
from agents.playouts import play_worlds, playing_on
from skyenv.agents import Agent, Decisions
from skyenv.knowledge import VIEW_DTYPE, as_views
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.state import GAME_DTYPE, new_records
from skyenv.rules.tape import TAPE_DTYPE

PREFIX: Final = "rollout-"
"""What a name begins with that tells the budget."""
DEFAULT_SIMULATIONS: Final = 64
CHUNK: Final = 2
"""Worlds played between two looks at the clock, at first …"""
CHUNKS: Final = 32
"""… and then this part of those so far, as each time all values are copied."""
WORLD_BITS: Final = 30
"""Low bits of a world's seed that number the worlds of a decision."""

# ---- searching ----


class Found(NamedTuple):
    """What a search found: for each decision an action, int64 (k,), and the simulations that it took, int64 (k,)."""

    actions: npt.NDArray[np.int64]
    simulations: npt.NDArray[np.int64]


class _Simulator:
    """Plays the candidate actions of one decision in one world after the other, and keeps what they led to."""

    def __init__(self, view: npt.NDArray[np.void], candidates: npt.NDArray[np.int64], seed: int, *options: Any) -> None:
        self._view = view
        self._seed = seed
        self._options = options
        seen = new_records(1, VIEW_DTYPE)
        self._scratch = (
            new_records(2, GAME_DTYPE), seen, seen["game"], new_records(1, MIND_DTYPE), new_records(1, TAPE_DTYPE),
            np.zeros(NUM_ACTIONS, np.int8),
        )  # fmt: skip
        self.actions = candidates
        """Those still in question, int64 (k,)."""
        self.values = np.zeros((0, len(candidates)))
        """[world, action]: the chance to win that the action led to."""
        self.simulations = 0

    def play(self, worlds: int) -> None:
        """Play every action in so many further worlds."""
        first = (self._seed << WORLD_BITS) + len(self.values)
        values = np.zeros((worlds, len(self.actions)))
        play_worlds(self._view, self.actions, np.arange(first, first + worlds), *self._options, *self._scratch, values)
        self.values = np.concatenate([self.values, values])
        self.simulations += values.size

    def keep(self, number: int) -> None:
        """Keep the first action and, of the others, those that did best, so many in all."""
        means = self.values.mean(axis=0)
        kept = [0, *(1 + np.argsort(-means[1:], kind="stable")[: number - 1])]
        self.actions = self.actions[kept]
        self.values = self.values[:, kept]

    def better(self, caution: float) -> int:
        """The second of the last two actions if it did better than the first, by so many standard errors; else the first."""
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


class RolloutAgent(Agent):
    """Plays on from positions that its seat can't tell from the real one, and takes the action that led to most wins.

    The greedy player's best actions are tried, and its choice stands unless another one is clearly better.

    Args:
        simulations: how many times a game is played on for each decision, at the most, 1 to 10⁶ (but every action is tried).
        milliseconds: time for each decision instead, above 0 to 10⁶ (then decisions depend on the machine).
        playout: who plays on: ``"greedy"`` or ``"random"``.
        turns: turns of all seats together that are played on for; 0: to the end of the game.
        candidates: how many actions are tried at the most, at least 2.
        caution: standard errors by which another action must be better than the greedy player's, at least 0.
        threads: threads for the decisions of a batch, 1 to 1024.
        early, late: VP ahead that make the chance to win e times as high at the start and at the end of the game, when a position
            is assessed, from 0.1.
        margin: share that VP have in the assessment of a finished game, 0 to 1; the win itself has the rest.

    Raises:
        AgentError: an option has a wrong value.
    """

    name = "rollout"
    version = "2"
    description = "plays on from positions that its seat can't tell from the real one"
    uses_view = True

    def __init__(
        self,
        simulations: int = DEFAULT_SIMULATIONS,
        milliseconds: float | None = None,
        playout: str = "greedy",
        *,
        turns: int = 6,
        candidates: int = 6,
        caution: float = 1.0,
        threads: int = 1,
        early: float = 10.0,
        late: float = 3.0,
        margin: float = 0.5,
    ) -> None:
        budget = Budget.checked(simulations, milliseconds)
        self.simulations, self.milliseconds = budget.simulations, budget.milliseconds
        self.candidates = whole("candidates", candidates, 2, NUM_ACTIONS)
        self.caution = fractional("caution", caution, 0.0, 1e6)
        self.threads = whole("threads", threads, 1, 1024)
        self._search = playing_on(playout, turns, early, late, margin)
        if turns == 0:
            self._search["turns"] = 2**31 - 1
        self._greedy = GreedyAgent()
        if self.milliseconds is not None:
            self.name = f"rollout-{self.milliseconds:g}ms"
        elif self.simulations != DEFAULT_SIMULATIONS:
            self.name = f"rollout-{self.simulations}"

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """See :class:`skyenv.agents.Agent`."""
        return self.search(decisions).actions

    def search(self, decisions: Decisions) -> Found:
        """Decide, and tell how many simulations it took."""
        assert decisions.view is not None
        views = as_views(decisions.view)
        weights = self._greedy.weights(decisions.num_players)

        def decide(i: int) -> tuple[int, int]:
            return self._decide(views[i : i + 1], decisions.mask[i : i + 1], decisions.uniform[i : i + 1], weights)

        numbers = range(len(decisions))
        if self.threads == 1 or len(decisions) == 1:
            found = [decide(i) for i in numbers]
        else:
            with ThreadPoolExecutor(self.threads, thread_name_prefix="rollout") as pool:
                found = list(pool.map(decide, numbers))
        columns = np.array(found, np.int64).reshape(-1, 2)
        return Found(columns[:, 0].copy(), columns[:, 1].copy())

    def values(self, decisions: Decisions, actions: npt.NDArray[np.int64], worlds: int) -> npt.NDArray[np.float64]:
        """What actions lead to: the seat's chance to win, the mean over some worlds, all actions in the same ones.

        Args:
            decisions: k decisions, with views.
            actions: int64 (k, n), legal actions of each, and −1 behind them.
            worlds: in how many worlds each is played, at least 1.

        Returns:
            float64 (k, n), NaN for −1.
        """
        assert decisions.view is not None
        views = as_views(decisions.view)
        weights = self._greedy.weights(decisions.num_players)
        found = np.full(actions.shape, np.nan)
        for i in range(len(decisions)):
            wanted = actions[i] >= 0
            if wanted.any():
                simulator = _Simulator(views[i : i + 1], actions[i, wanted], seed_of(decisions.uniform[i]), self._search, weights)
                simulator.play(worlds)
                found[i, wanted] = simulator.values.mean(axis=0)
        return found

    def _decide(
        self,
        view: npt.NDArray[np.void],
        mask: npt.NDArray[np.int8],
        uniform: npt.NDArray[np.float64],
        weights: npt.NDArray[np.void],
    ) -> tuple[int, int]:
        """One decision: the action, and the simulations that it took."""
        candidates = self._candidates(view, mask, uniform, weights)
        if len(candidates) == 1:
            return int(candidates[0]), 0
        simulator = _Simulator(view, candidates, seed_of(uniform[0]), self._search, weights)
        sizes = list(_sizes(len(candidates)))
        began = time.perf_counter()
        for number, size in enumerate(sizes, 1):
            if number > 1:
                simulator.keep(size)
            if self.milliseconds is None:
                simulator.play(max(1, self.simulations // (len(sizes) * size)))
                continue
            until = began + self.milliseconds / 1000 * number / len(sizes)
            simulator.play(CHUNK)
            while time.perf_counter() < until:
                simulator.play(max(CHUNK, len(simulator.values) // CHUNKS))
        return simulator.better(self.caution), simulator.simulations

    def _candidates(
        self,
        view: npt.NDArray[np.void],
        mask: npt.NDArray[np.int8],
        uniform: npt.NDArray[np.float64],
        weights: npt.NDArray[np.void],
    ) -> npt.NDArray[np.int64]:
        """The actions to try, int64 (k,): first the greedy player's choice, then those that it thinks next best."""
        legal = np.flatnonzero(mask[0])
        if len(legal) == 1:
            return legal
        mind = new_records(1, MIND_DTYPE)
        chosen = np.zeros(1, np.int64)
        scores = np.zeros((1, NUM_ACTIONS))
        decide_all(view, mask, uniform, weights, mind, chosen, scores)
        score = scores[0]
        others = legal[(legal != chosen[0]) & (score[legal] > NEVER)]
        best = others[np.argsort(-score[others], kind="stable")]
        return np.concatenate([chosen, best[: self.candidates - 1]])


def named(spec: str) -> RolloutAgent:
    """The agent with a budget in its name: ``"rollout-256"`` (simulations) or ``"rollout-50ms"`` (milliseconds a decision).

    Raises:
        AgentError: the budget is none.
    """
    budget = budget_in(spec, PREFIX)
    player = RolloutAgent(budget.simulations, budget.milliseconds)
    player.name = spec
    return player
