"""A player that searches: it plays games on, in positions that its seat can't tell from the real one.

Flat Monte Carlo with sequential halving. For every decision whole positions ("worlds") are drawn from the seat's view alone
(:func:`skyenv.knowledge.resample`); in each of them every action that is still in question is played, and the game is played on
for some turns by all seats, each of which sees only its own view there. The position reached is assessed; the actions that do
worst are dropped, and the others share what is left of the budget. All actions meet the same worlds, and the same chance.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.greedy import GreedyAgent
from agents.judgement import MIND_DTYPE, NEVER, decide_all
from agents.playouts import PLAYOUTS, SEARCH_DTYPE, play_worlds
from skyenv.agents import Agent, Decisions
from skyenv.errors import AgentError, shown
from skyenv.knowledge import VIEW_DTYPE, as_views
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.state import GAME_DTYPE, new_records
from skyenv.rules.tape import TAPE_DTYPE

PREFIX: Final = "rollout-"
"""What a name begins with that tells the budget."""
DEFAULT_SIMULATIONS: Final = 64
MOST_SIMULATIONS: Final = 10**6
MOST_MILLISECONDS: Final = 10**6
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
    version = "1"
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
        self.simulations = _whole("simulations", simulations, 1, MOST_SIMULATIONS)
        self.milliseconds = None if milliseconds is None else _number("milliseconds", milliseconds, 0.0, MOST_MILLISECONDS)
        if self.milliseconds == 0.0:
            raise AgentError("milliseconds must be above 0")
        if playout not in PLAYOUTS:
            raise AgentError(f"playout must be one of {', '.join(PLAYOUTS)}, not {shown(playout)}")
        self.candidates = _whole("candidates", candidates, 2, NUM_ACTIONS)
        self.caution = _number("caution", caution, 0.0, 1e6)
        self.threads = _whole("threads", threads, 1, 1024)
        length = _whole("turns", turns, 0, 2**31 - 1) or 2**31 - 1
        self._search = new_records(1, SEARCH_DTYPE)
        self._search[0] = (
            length,
            PLAYOUTS.index(playout),
            _number("early", early, 0.1, 1e6),
            _number("late", late, 0.1, 1e6),
            _number("margin", margin, 0.0, 1.0),
        )
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
        simulator = _Simulator(view, candidates, int(uniform[0] * 2**32), self._search, weights)
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


def _whole(name: str, value: object, lowest: int, highest: int) -> int:
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and lowest <= value <= highest:
        return int(value)
    raise AgentError(f"{name} must be a whole number from {lowest} to {highest}, not {shown(value)}")


def _number(name: str, value: object, lowest: float, highest: float) -> float:
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool) and lowest <= value <= highest:
        return float(value)
    raise AgentError(f"{name} must be a number from {lowest:g} to {highest:g}, not {shown(value)}")


def named(spec: str) -> RolloutAgent:
    """The agent with a budget in its name: ``"rollout-256"`` (simulations) or ``"rollout-50ms"`` (milliseconds a decision).

    Raises:
        AgentError: the budget is none.
    """
    budget = re.fullmatch(r"(\d{1,7})(ms)?", spec.removeprefix(PREFIX), re.ASCII)
    number = int(budget[1]) if budget else 0
    if budget is None or not 0 < number <= MOST_SIMULATIONS:
        raise AgentError(
            f"agent {shown(spec, 80)}: its budget must be a number of simulations (rollout-256) or of milliseconds for a decision"
            f" (rollout-50ms), from 1 to {MOST_SIMULATIONS}"
        )
    player = RolloutAgent(milliseconds=number) if budget[2] else RolloutAgent(number)
    player.name = spec
    return player
