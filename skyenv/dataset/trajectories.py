"""What is kept of some games: every decision with what its seat saw, what came of it, and how the
games ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from skyenv.engine.games import Games, results
from skyenv.engine.observation import OBSERVATION_SIZE, codes_of
from skyenv.rules.components import MAX_PLAYERS

Int64 = npt.NDArray[np.int64]


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
        seats = np.arange(MAX_PLAYERS)
        there = seats < self.players[:, None]
        others = there[:, None, :] & ~np.eye(MAX_PLAYERS, dtype=np.bool_)
        best = np.where(others, self.scores[:, None, :], -1).max(axis=2)
        return np.where(there, self.scores - best, 0)


class Collector:
    """Collects the decisions of games, an :class:`skyenv.arena.matches.Onlooker`.

    Args:
        number: how many games there are.
    """

    def __init__(self, number: int) -> None:
        self._parts: dict[str, list[npt.NDArray[Any]]] = {}
        self._sides = [""] * number
        self._players, self._ends = np.zeros((2, number), np.int64)
        self._shares = np.zeros((number, MAX_PLAYERS))
        self._scores = np.zeros((number, MAX_PLAYERS), np.int64)
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
        for row, match in zip(rows[games.done[rows]], matches[games.done[rows]], strict=True):
            state = games.state[[row]].view(np.recarray)
            self._sides[match], self._players[match] = games.side, games.num_players
            self._shares[match], self._scores[match] = results(state)[0][0], state["score"][0]
            self._ends[match] = state["end"][0]
            for seat in range(games.num_players):
                self._last[match, seat] = codes_of(games.observe(seat, [row]))[0]

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
            players=self._players,
            sides=self._sides,
            seeds=np.array(seeds, np.int64),
            agents=agents,
            shares=self._shares,
            scores=self._scores,
            ends=self._ends,
            last=self._last,
        )
