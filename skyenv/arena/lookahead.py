"""One step of look-ahead with a known policy, for stronger play and as a lower bound of
exploitability.
"""

import math
import time
from collections.abc import Callable
from typing import Final, Protocol, runtime_checkable

import numpy as np

from skyenv.agents import Agent, Decisions, decisions_in
from skyenv.arena.matches import play_on, worlds_of
from skyenv.array_types import Bool, Float64, Int64
from skyenv.engine.games import Games
from skyenv.engine.results import results
from skyenv.engine.rewards import outcome_of
from skyenv.rules.actions import NUM_ACTIONS

CANDIDATES: Final = 4
WORLDS: Final = 16
DECISIONS: Final = 8
CAUTION: Final = 1.0
AHEAD: Final = 2.0
# Actions with a lower probability under the policy aren't tried.
MIN_PROBABILITY: Final = 1e-3
# Concurrent rollouts.
ROWS: Final = 4096


@runtime_checkable
class PlaysOut(Protocol):
    """A policy with a faster way to the values that :meth:`LookaheadAgent.outcomes` returns."""

    def play_outs(
        self, decisions: Decisions, which: Int64, actions: Int64, seeds: Int64, length: int
    ) -> Float64 | None:
        """Return the outcomes of actions for their seats, float64 (n,), from −1 to 1; None: it has
        no such way.

        Args:
            decisions: with trusted views.
            which: int64 (n,), the decision of each action. actions: int64 (n,).
            seeds: int64 (n,), of its determinization.
            length: decisions of the seat until its value is estimated.
        """


class Trial:
    """The comparison of candidate actions in k decisions, with the outcomes so far.

    Args:
        actions: int64 (k, CANDIDATES), the policy's choice first, padded with −1.

    Attributes:
        actions: as given.
        alive: bool (k, CANDIDATES), the actions to try further; none once a decision is settled.
        number: int64 (k, CANDIDATES), determinizations in which each action was tried.
        total: float64 (k, CANDIDATES), the sum of its outcomes, each from −1 to 1.
    """

    def __init__(self, actions: Int64) -> None:
        self.actions = actions
        self.alive: Bool = (actions >= 0) & (actions[:, 1:2] >= 0)  # where there is a choice
        self.number = np.zeros(actions.shape, np.int64)
        self.total, self._gain, self._squares = np.zeros((3, *actions.shape))
        self._most = CANDIDATES - 1

    def add(self, outcomes: Float64) -> None:
        """Add the outcomes of the actions to try, float64 (alive actions, worlds)."""
        which, place = np.nonzero(self.alive)
        chosen = np.zeros((len(self.actions), outcomes.shape[1]))
        chosen[which[place == 0]] = outcomes[place == 0]
        gains = outcomes - chosen[which]
        self.number[which, place] += outcomes.shape[1]
        self.total[which, place] += outcomes.sum(axis=1)
        self._gain[which, place] += gains.sum(axis=1)
        self._squares[which, place] += (gains**2).sum(axis=1)

    def gains(self) -> tuple[Float64, Float64]:
        """Return the mean gains over the policy's choice and their standard errors, float64
        (k, CANDIDATES); 0 without outcomes.
        """
        number = np.maximum(self.number, 1)
        means = self._gain / number
        variances = np.maximum(self._squares - means * self._gain, 0.0) / np.maximum(number - 1, 1)
        return means, np.sqrt(variances / number)

    def halve(self) -> None:
        """Drop the worse half of the alternatives, and those a standard error below the policy's
        choice. A single one that leads by AHEAD standard errors settles the decision.
        """
        means, errors = self.gains()
        self._most = (self._most + 1) // 2
        others, means, errors = self.alive[:, 1:], means[:, 1:], errors[:, 1:]
        rank = np.where(others, -means, np.inf).argsort(axis=1, kind="stable").argsort(axis=1)
        others &= (means + errors >= 0) & (rank < self._most)
        leads = (others & (means > AHEAD * errors)).any(axis=1)
        number = others.sum(axis=1)
        self.alive[(number == 0) | (leads & (number == 1))] = False

    def best(self) -> Int64:
        """Return the action of each decision, int64 (k,): the policy's choice, unless another one
        is better by CAUTION standard errors.
        """
        means, errors = self.gains()
        places = (means - CAUTION * errors).argmax(axis=1)
        return np.asarray(self.actions[np.arange(len(places)), places])


class LookaheadAgent(Agent):
    """An agent that improves another agent's policy by one step of look-ahead.

    It tries that agent's choice and some more actions in determinizations
    (:func:`skyenv.engine.knowledge.resample`), in which all seats continue by the policy. The
    policy's choice stands unless another action is better by CAUTION standard errors. An action's
    value is the policy's value estimate after some more decisions of the seat. For a policy without
    value estimates games are played to their ends.

    Args:
        policy: the agent that continues the games; all other seats should be this agent.
        worlds: determinizations, at least 2 to act. decisions: of the seat until its value is
            estimated.

    Attributes:
        round_size: determinizations of a round; candidates are dropped after 1, 2, 4, 8 … rounds.
        seconds: time per decision, after which no round begins.
    """

    version = "1"
    uses_view = True

    def __init__(self, policy: Agent, worlds: int = WORLDS, decisions: int = DECISIONS) -> None:
        self.policy, self.worlds, self.decisions = policy, worlds, decisions
        self.round_size, self.seconds = worlds, math.inf
        self.name = f"lookahead({policy.name})"
        self.uses_observation = policy.uses_observation

    def act(self, decisions: Decisions) -> Int64:
        """See :class:`skyenv.agents.Agent`."""
        actions = np.array(self.policy.act(decisions), np.int64)
        rows = np.flatnonzero(decisions.mask.sum(axis=1) > 1)
        if rows.size:
            part = decisions.take(rows)
            trial = self.trial(part, actions[rows])
            self.look_ahead(part, trial)
            actions[rows] = trial.best()
        return actions

    def trial(self, decisions: Decisions, chosen: Int64) -> Trial:
        """Return the candidates of some decisions, not tried yet, by the policy's choices, int64
        (k,): these, then its most probable actions, or arbitrary ones if it reports no
        probabilities.
        """
        held = self.policy.evaluate(decisions)
        if held is None:
            seeds = self._seeds(decisions)
            order = np.stack([np.random.default_rng(one).random(NUM_ACTIONS) for one in seeds])
        else:
            order = np.where(held[0] >= MIN_PROBABILITY, held[0], -1.0)
        order = np.where(decisions.mask != 0, order, -1.0)
        order[np.arange(len(chosen)), chosen] = np.inf
        best: Int64 = np.argsort(-order, axis=1, kind="stable")[:, :CANDIDATES]
        return Trial(np.where(np.take_along_axis(order, best, axis=1) >= 0, best, -1))

    def look_ahead(
        self, decisions: Decisions, trial: Trial, watch: Callable[[], None] | None = None
    ) -> None:
        """Try the candidates until they are settled; `watch` is called after each round."""
        until = time.perf_counter() + self.seconds * len(decisions)
        for number, first in enumerate(range(0, self.worlds, self.round_size), 1):
            which, place = np.nonzero(trial.alive)
            if not which.size or time.perf_counter() > until:
                break
            worlds = np.arange(first, min(first + self.round_size, self.worlds))
            trial.add(self.outcomes(decisions, which, trial.actions[which, place], worlds))
            if number & (number - 1) == 0:
                trial.halve()
            if watch is not None:
                watch()

    def outcomes(
        self, decisions: Decisions, which: Int64, actions: Int64, worlds: Int64 | None = None
    ) -> Float64:
        """Return the outcomes of actions for their seats in determinizations, float64 (k, worlds),
        from −1 to 1.

        Args:
            which: int64 (k,), the decision of each action. actions: int64 (k,).
            worlds: int64, numbers of the determinizations; None: all.
        """
        worlds = np.arange(self.worlds) if worlds is None else worlds
        found = np.zeros((len(which), len(worlds)))
        number = max(1, ROWS // len(worlds))
        for first in range(0, len(which), number):
            part = slice(first, first + number)
            rows = np.repeat(which[part], len(worlds))
            seeds = self._seeds(decisions)[rows] + np.tile(worlds, len(which[part]))
            values = self._play_outs(decisions, rows, np.repeat(actions[part], len(worlds)), seeds)
            found[part] = values.reshape(-1, len(worlds))
        return found

    def _play_outs(
        self, decisions: Decisions, which: Int64, actions: Int64, seeds: Int64
    ) -> Float64:
        """See :class:`PlaysOut`; all play-outs are concurrent."""
        if isinstance(self.policy, PlaysOut):
            values = self.policy.play_outs(decisions, which, actions, seeds, self.decisions)
            if values is not None:
                return values
        assert decisions.view is not None
        games = Games.of(worlds_of(decisions.view[which], seeds))
        games.step(actions)
        return self._played_on(games, decisions.seat[which])

    def _played_on(self, games: Games, seats: Int64) -> Float64:
        """Return the value of games to one seat of each, float64 (n,), after some decisions."""
        values = np.full(len(seats), np.nan)
        left = np.full(len(seats), self.decisions)

        def evaluated(rows: Int64) -> Bool:
            mine = rows[games.seat[rows] == seats[rows]]
            left[mine] -= 1
            due = mine[left[mine] == 0]
            if due.size:
                held = self.policy.evaluate(decisions_in(games, self.policy, due))
                if held is not None and held[1] is not None:
                    values[due] = held[1]
            return np.asarray(~np.isnan(values[rows]))

        play_on(games, [self.policy] * games.num_players, evaluated, salts=0)
        over = np.flatnonzero(np.isnan(values))
        shares = results(games.state[over])[0][np.arange(len(over)), seats[over]]
        values[over] = outcome_of(shares, games.num_players)
        return values

    def _seeds(self, decisions: Decisions) -> Int64:
        """Return the seed of each decision's first determinization, int64 (k,), 2²⁰ apart."""
        return (decisions.uniform * 2**48).astype(np.int64) * WORLDS
