"""One step of look-ahead against an agent whose policy is known: how exploitable it is at the
least.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from skyenv.agents import Agent, Decisions, decide, decisions_in
from skyenv.arena.estimates import Floats
from skyenv.arena.matches import batch_of
from skyenv.checks import Int64
from skyenv.engine.games import Games, results
from skyenv.engine.kernels import outcome_of
from skyenv.engine.knowledge import resample
from skyenv.rules.actions import NUM_ACTIONS

CANDIDATES: Final = 4
WORLDS: Final = 16
DECISIONS: Final = 8
CAUTION: Final = 1.0
# Actions that the agent holds to be less probable aren't tried.
LEAST: Final = 1e-3
# Games that are played on at once.
ROWS: Final = 4096


class LookaheadAgent(Agent):
    """Plays as another agent does, but for actions that turn out better one step ahead.

    The other agent's choice and some more actions are tried in determinizations
    (:func:`skyenv.engine.knowledge.resample`), and in each all seats play on as that agent would.
    Its choice stands unless another action brings more, by CAUTION standard errors. What it brings
    is the outcome that the agent expects after DECISIONS more decisions of the seat, or the game's,
    which is played to its end where the agent expects none.

    Args:
        policy: the agent that plays on, and which all other seats should be.
    """

    version = "1"
    uses_view = True

    def __init__(self, policy: Agent) -> None:
        self.policy = policy
        self.name = f"lookahead({policy.name})"
        self.uses_observation = policy.uses_observation

    def act(self, decisions: Decisions) -> Int64:
        """See :class:`skyenv.agents.Agent`."""
        actions = np.array(self.policy.act(decisions), np.int64)
        several = np.flatnonzero(decisions.mask.sum(axis=1) > 1)
        number = ROWS // (CANDIDATES * WORLDS)
        for first in range(0, len(several), number):
            rows = several[first : first + number]
            actions[rows] = self._improved(decisions.take(rows), actions[rows])
        return actions

    def _improved(self, decisions: Decisions, chosen: Int64) -> Int64:
        """Return what is best of some decisions' candidates."""
        tried = self._candidates(decisions, chosen)
        which, place = np.nonzero(tried >= 0)
        gains = np.zeros((*tried.shape, WORLDS))
        gains[which, place] = self._outcomes(decisions, which, tried[which, place])
        gains -= gains[:, :1]
        error = gains.std(axis=2, ddof=1) / np.sqrt(WORLDS)
        surplus = np.where(tried >= 0, gains.mean(axis=2) - CAUTION * error, -np.inf)
        surplus[:, 0] = 0.0
        return np.asarray(tried[np.arange(len(tried)), surplus.argmax(axis=1)])

    def _candidates(self, decisions: Decisions, chosen: Int64) -> Int64:
        """Return what is tried, int64 (k, CANDIDATES): first what the agent does, then what it
        holds to be most probable, or any actions if it tells nothing; −1: there is no other.
        """
        held = self.policy.evaluate(decisions)
        order = np.stack(
            [np.random.default_rng(one).random(NUM_ACTIONS) for one in _seeds(decisions)]
        )
        if held is not None:
            order = np.where(held[0] >= LEAST, held[0], -1.0)
        order = np.where(decisions.mask != 0, order, -1.0)
        order[np.arange(len(chosen)), chosen] = np.inf
        best: Int64 = np.argsort(-order, axis=1, kind="stable")[:, :CANDIDATES]
        return np.where(np.take_along_axis(order, best, axis=1) >= 0, best, -1)

    def _outcomes(self, decisions: Decisions, which: Int64, actions: Int64) -> Floats:
        """Return what actions of some of the decisions bring their seats in every world, float64
        (k, WORLDS), from −1 to 1.
        """
        rows = np.repeat(which, WORLDS)
        seeds = np.array(_seeds(decisions))[rows] + np.tile(np.arange(WORLDS), len(which))
        assert decisions.view is not None
        states = resample(decisions.view[rows], seeds).view(np.ndarray)
        states["seed"] = seeds  # agents' own random numbers are made of it
        games = batch_of(states)
        games.step(np.repeat(actions, WORLDS))
        return self._played_on(games, decisions.seat[rows]).reshape(len(which), WORLDS)

    def _played_on(self, games: Games, seats: Int64) -> Floats:
        """Return what games are worth to a seat of each, float64 (n,), after some decisions."""
        told = np.full(len(seats), np.nan)
        left = np.full(len(seats), DECISIONS)
        while (rows := np.flatnonzero((games.seat >= 0) & np.isnan(told))).size:
            mine = rows[games.seat[rows] == seats[rows]]
            left[mine] -= 1
            asked = mine[left[mine] == 0]
            if asked.size:
                held = self.policy.evaluate(decisions_in(games, self.policy, asked))
                if held is not None and held[1] is not None:
                    told[asked] = held[1]
            rows = rows[np.isnan(told[rows])]
            games.step(decide(games, self.policy, rows), rows)
        over = np.flatnonzero(np.isnan(told))
        shares = results(games.state[over])[0][np.arange(len(over)), seats[over]]
        told[over] = outcome_of(shares, games.num_players)
        return told


def _seeds(decisions: Decisions) -> Sequence[int]:
    """Return a number below 2⁵² of each decision, a multiple of WORLDS."""
    return [int(one * 2**48) * WORLDS for one in decisions.uniform.tolist()]
