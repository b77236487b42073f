"""What is kept of some games: every decision with what its seat saw, what came of it, and how the
games ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from skyenv.arena.ratings import best_other
from skyenv.checks import Int64
from skyenv.engine.games import Games, results
from skyenv.engine.observation import OBSERVATION_SIZE, codes_of
from skyenv.rules.components import MAX_PLAYERS, SIDES
from skyenv.rules.state import new_games


@dataclass(frozen=True)
class Trajectories:
    """k games of n decisions in all, game by game, each game's decisions in their order.

    Attributes:
        game: int64 (n,), which of the games a decision belongs to, ascending from 0.
        seat: int64 (n,), whose decision it was.
        action: int64 (n,), what it decided.
        mask: int8 (n, 103), 1 for each action that was legal.
        codes: int16 (n, OBSERVATION_SIZE), the observation of that seat before it.
        rewards: float32 (n, 4), every seat's reward of that step, up to the next decision of any
            seat.
        players: int64 (k,). sides: one word for each game.
        seeds: int64 (k,), −1 for a game without a seed.
        agents: for each game a name for each seat; None for a game that doesn't tell them.
        shares: float64 (k, 4), of the win. scores: int64 (k, 4), VP.
        ends: int64 (k,), why the game is over, END_… of skyenv/rules/state.py.
        last: int16 (k, 4, OBSERVATION_SIZE), what each seat sees of the game's end.
    """

    game: Int64
    seat: Int64
    action: Int64
    mask: npt.NDArray[np.int8]
    codes: npt.NDArray[np.int16]
    rewards: npt.NDArray[np.float32]
    players: Int64
    sides: Sequence[str]
    seeds: Int64
    agents: Sequence[Sequence[str] | None]
    shares: npt.NDArray[np.float64]
    scores: Int64
    ends: Int64
    last: npt.NDArray[np.int16]

    def __len__(self) -> int:
        return len(self.game)

    def starts(self) -> Int64:
        """The first decision of each game, int64 (k,), and behind it n."""
        return np.searchsorted(self.game, np.arange(len(self.players) + 1)).astype(np.int64)

    def step(self) -> Int64:
        """The number of each decision in its game, from 0: int64 (n,)."""
        return np.arange(len(self)) - self.starts()[self.game]

    def is_last(self) -> npt.NDArray[np.bool_]:
        """Whether it is the last decision of its seat in the game, bool (n,)."""
        place = self.game * MAX_PLAYERS + self.seat
        is_last = np.zeros(len(self), np.bool_)
        is_last[len(self) - 1 - np.unique(place[::-1], return_index=True)[1]] = True
        return is_last

    def reward(self) -> npt.NDArray[np.float32]:
        """What the seat was rewarded from its decision up to its next one, or to the game's end:
        float32 (n,).
        """
        summed = np.zeros(len(self), np.float32)
        for seat in range(MAX_PLAYERS):
            own = np.flatnonzero(self.seat == seat)
            if own.size:  # a sum ends where the seat decides again, and where a game begins
                parts = np.union1d(own, self.starts()[:-1])
                sums = np.add.reduceat(self.rewards[:, seat].astype(np.float64), parts)
                summed[own] = sums[np.searchsorted(parts, own)]
        return summed

    def margin(self) -> Int64:
        """By how many VP each seat is ahead of the best other one in the end: int64 (k, 4), 0 for
        seats that there aren't.
        """
        there = np.arange(MAX_PLAYERS) < self.players[:, None]
        return np.where(there, self.scores - best_other(np.where(there, self.scores, -1)), 0)


class Collector:
    """Collects the decisions of games, an :class:`skyenv.arena.matches.Onlooker`.

    Args:
        number: how many games there are.
    """

    def __init__(self, number: int) -> None:
        self._parts: dict[str, list[npt.NDArray[Any]]] = {}
        self._finished = new_games(number)
        self._last = np.zeros((number, MAX_PLAYERS, OBSERVATION_SIZE), np.int16)

    def decided(self, games: Games, rows: Int64, matches: Int64, actions: Int64) -> None:
        """See :class:`skyenv.arena.matches.Onlooker`."""
        self.add(
            game=matches,
            seat=games.seat[rows],
            action=actions,
            mask=games.mask[rows],
            codes=games.observation[rows],
        )

    def played(self, games: Games, rows: Int64, matches: Int64) -> None:
        """See :class:`skyenv.arena.matches.Onlooker`."""
        rewards = np.zeros((len(rows), MAX_PLAYERS), np.float32)
        rewards[:, : games.num_players] = games.reward[rows]
        self.add(rewards=rewards)
        over, ended = rows[games.done[rows]], matches[games.done[rows]]
        if over.size:
            self._finished[ended] = games.state[over]
            for seat in range(games.num_players):
                self._last[ended, seat] = codes_of(games.observe(seat, over))

    def add(self, **parts: npt.NDArray[Any]) -> None:
        """Some more of what :class:`Trajectories` has of decisions, by name."""
        for name, part in parts.items():
            self._parts.setdefault(name, []).append(part)

    def trajectories(
        self, agents: Sequence[Sequence[str] | None], seeds: Sequence[int]
    ) -> Trajectories:
        """What was collected of the games, which are all finished.

        Args:
            agents: for each game the names of the seats' agents, or None.
            seeds: those that the games were dealt by, −1 for none.
        """
        joined = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        self._parts.clear()
        order = np.argsort(joined["game"], kind="stable")
        for name in joined:  # one by one: observations take much memory
            joined[name] = joined[name][order]
        return Trajectories(
            **joined,
            players=self._finished["num_players"].astype(np.int64),
            sides=[SIDES[side] for side in self._finished["side"]],
            seeds=np.array(seeds, np.int64),
            agents=agents,
            shares=results(self._finished)[0],
            scores=self._finished["score"].astype(np.int64),
            ends=self._finished["end"].astype(np.int64),
            last=self._last,
        )
