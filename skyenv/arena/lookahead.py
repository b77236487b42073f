"""One-step look-ahead against a known policy: a lower bound of exploitability."""

from collections.abc import Sequence
from typing import Final

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
# Actions with a lower probability under the policy aren't tried.
MIN_PROBABILITY: Final = 1e-3
# Concurrent rollouts.
ROWS: Final = 4096


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
    """

    version = "1"
    uses_view = True

    def __init__(self, policy: Agent, worlds: int = WORLDS, decisions: int = DECISIONS) -> None:
        self.policy, self.worlds, self.decisions = policy, worlds, decisions
        self.name = f"lookahead({policy.name})"
        self.uses_observation = policy.uses_observation

    def act(self, decisions: Decisions) -> Int64:
        """See :class:`skyenv.agents.Agent`."""
        actions = np.array(self.policy.act(decisions), np.int64)
        rows = np.flatnonzero(decisions.mask.sum(axis=1) > 1)
        if rows.size:
            actions[rows] = self._improved(decisions.take(rows), actions[rows])
        return actions

    def _improved(self, decisions: Decisions, chosen: Int64) -> Int64:
        """Return the best candidate of each of some decisions."""
        tried = self._candidates(decisions, chosen)
        which, place = np.nonzero((tried >= 0) & (tried[:, 1:2] >= 0))  # where there is a choice
        gains = np.zeros((*tried.shape, self.worlds))
        gains[which, place] = self.outcomes(decisions, which, tried[which, place])
        gains -= gains[:, :1]
        error = gains.std(axis=2, ddof=1) / np.sqrt(self.worlds)
        surplus = np.where(tried >= 0, gains.mean(axis=2) - CAUTION * error, -np.inf)
        surplus[:, 0] = 0.0
        return np.asarray(tried[np.arange(len(tried)), surplus.argmax(axis=1)])

    def _candidates(self, decisions: Decisions, chosen: Int64) -> Int64:
        """Return the candidate actions, int64 (k, CANDIDATES), padded with −1.

        The policy's choice comes first, then its most probable actions, or arbitrary ones if it
        reports no probabilities.
        """
        held = self.policy.evaluate(decisions)
        order = np.stack(
            [np.random.default_rng(one).random(NUM_ACTIONS) for one in self._seeds(decisions)]
        )
        if held is not None:
            order = np.where(held[0] >= MIN_PROBABILITY, held[0], -1.0)
        order = np.where(decisions.mask != 0, order, -1.0)
        order[np.arange(len(chosen)), chosen] = np.inf
        best: Int64 = np.argsort(-order, axis=1, kind="stable")[:, :CANDIDATES]
        return np.where(np.take_along_axis(order, best, axis=1) >= 0, best, -1)

    def outcomes(self, decisions: Decisions, which: Int64, actions: Int64) -> Float64:
        """Return the outcomes of actions for their seats in every determinization, float64
        (k, worlds), from −1 to 1.

        Args:
            which: int64 (k,), the decision of each action. actions: int64 (k,).
        """
        found = np.zeros((len(which), self.worlds))
        number = max(1, ROWS // self.worlds)
        for first in range(0, len(which), number):
            part = slice(first, first + number)
            found[part] = self._rollouts(decisions, which[part], actions[part])
        return found

    def _rollouts(self, decisions: Decisions, which: Int64, actions: Int64) -> Float64:
        """See :meth:`outcomes`; all rollouts are concurrent."""
        worlds = self.worlds
        rows = np.repeat(which, worlds)
        seeds = np.array(self._seeds(decisions))[rows] + np.tile(np.arange(worlds), len(which))
        assert decisions.view is not None
        games = Games.of(worlds_of(decisions.view[rows], seeds))
        games.step(np.repeat(actions, worlds))
        return self._played_on(games, decisions.seat[rows]).reshape(len(which), worlds)

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

    def _seeds(self, decisions: Decisions) -> Sequence[int]:
        """Return a seed for each decision, a multiple of the number of worlds."""
        return [int(one * 2**48) * self.worlds for one in decisions.uniform.tolist()]
