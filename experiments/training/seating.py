"""Tables: the games of a training, their seating, the network's inputs and the rewards of each
seat.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import torch

from skyenv.agents import Agent, decide, decisions_in, make_agent
from skyenv.array_types import AnyArray, Bool, Float32, Int16, Int64
from skyenv.engine.games import Games
from skyenv.engine.observation import OBSERVATION_SIZE, codes_of
from skyenv.engine.openings import task_of
from skyenv.engine.options import GameOptions, table_label
from skyenv.engine.results import results
from skyenv.engine.rewards import MARGIN_SCALE, outcome_of
from skyenv_agents.heuristic.player import HeuristicAgent
from skyenv_agents.heuristic.win_probability import win_probabilities
from skyenv_agents.learned.layout import NUM_INPUTS, OUTCOME, OUTCOME_PARTS
from skyenv_agents.learned.networks import OUTCOME_REWARD
from skyenv_agents.learned.pool import OpponentPool
from skyenv_agents.learned.prior import prior_codes

# The learner's number in `seats`.
LEARNER: Final = -1

# In a game, roughly.
DECISIONS_A_PLAYER: Final = 140
# VP that are a task's reward of 1.
TASK_SCALE: Final = np.float32(10.0)


class Ended(NamedTuple):
    """A game that has ended.

    Attributes:
        table: what kind of table it was. length: decisions of all seats.
        points: VP of the learner's seats, their mean.
        opponent: name of who had all seats but one of the learner's; None: it was another table,
            or a task of auctions, which nobody wins.
        share: what the learner won of it.
    """

    table: str
    length: int
    points: float
    opponent: str | None
    share: float


class Tables:
    """Games of one kind, played in parallel, and the agents of their seats.

    Args:
        number: of games. options: of each game. seed: of the first one. threads: that step them.

    Attributes:
        games: the games.
        seats: int64 (number, players), index in `guests` of who has each seat, or LEARNER.
        guests: opponents at the tables now.
        outcome: whether the reward is the game's outcome.
        margin: float32 (number, players), by how much each seat is ahead of the best other one, in
            the unit of rewards.
    """

    def __init__(self, number: int, options: GameOptions, seed: int, threads: int = 1) -> None:
        self.games = Games(number, options=options, seed=seed, threads=threads)
        self.seats: Int64 = np.full((number, options.num_players), LEARNER, np.int64)
        self.guests: list[Agent] = []
        pays_vp = options.task is not None and task_of(options.task).auctions > 0
        self.scale = TASK_SCALE if pays_vp else np.float32(1.0)
        self.outcome = not pays_vp and options.reward == OUTCOME_REWARD
        self.margin = self._margins()

    def _margins(self) -> Float32:
        return margins(self.games.state["score"][:, : self.games.num_players])

    def state(self) -> dict[str, torch.Tensor]:
        """Return positions and seats for :meth:`restore`."""
        positions = self.games.state.view(np.uint8).reshape(self.games.num_games, -1)
        return {"positions": torch.tensor(positions), "seats": torch.tensor(self.seats)}

    def restore(self, state: Mapping[str, torch.Tensor], guests: Sequence[Agent]) -> None:
        """Continue from :meth:`state`.

        Raises:
            OptionError: the positions are of other games.
        """
        self.games.state.view(np.uint8)[:] = state["positions"].numpy().reshape(-1)
        self.games.refresh()
        self.seats, self.guests = state["seats"].numpy(), list(guests)
        self.margin = self._margins()

    @property
    def label(self) -> str:
        """Number of players and side, as text."""
        return table_label(self.games.num_players, self.games.side)

    def spread(self, rng: np.random.Generator) -> None:
        """Advance new games by random numbers of greedy decisions, or all would end together.

        Args:
            rng: decides how far.
        """
        greedy = make_agent("greedy")
        left = rng.integers(DECISIONS_A_PLAYER * self.games.num_players, size=self.games.num_games)
        while (rows := np.flatnonzero(left)).size:
            self.games.step(decide(self.games, greedy, rows), rows)
            left[rows] -= 1
        self.margin = self._margins()

    def seat(
        self,
        rows: Int64,
        pool: OpponentPool,
        share: float,
        rng: np.random.Generator,
        mixed_share: float = 0.0,
    ) -> None:
        """Assign the seats of new games.

        Args:
            rows: which games.
            pool: the opponents. share: of the games that have any; in the others the learner has
                all seats.
            rng: decides.
            mixed_share: share of the games with opponents in which the learner has one to all but
                one of the seats, and the opponents of the others are drawn one by one; else one
                opponent has all seats but one.
        """
        self.seats[rows] = LEARNER
        chosen = rows[rng.random(rows.size) < share]
        if not chosen.size:
            return
        size = chosen.size, self.games.num_players
        mixed = rng.random((chosen.size, 1)) < mixed_share
        drawn = rng.choice(len(pool.agents), size=size, p=pool.weights())
        drawn = np.where(mixed, drawn, drawn[:, :1])
        guests = np.zeros(len(pool.agents), np.int64)
        for index in np.unique(drawn).tolist():
            agent = pool.agents[index]
            if agent not in self.guests:
                self.guests.append(agent)
            guests[index] = self.guests.index(agent)
        # The learner has k seats one k-th as often as one: each number gives it equally many
        # decisions.
        often = 1 / np.arange(1, self.games.num_players)
        several = rng.choice(len(often), size=(chosen.size, 1), p=often / often.sum())
        learners = np.where(mixed, 1 + several, 1)
        order = rng.permuted(np.tile(np.arange(self.games.num_players), (chosen.size, 1)), axis=1)
        self.seats[chosen] = np.where(order < learners, LEARNER, guests[drawn])

    def forget_unused(self) -> None:
        """Drop the guests without a seat."""
        used, seats = np.unique(
            np.append(self.seats, LEARNER), return_inverse=True
        )  # the first is the learner
        self.seats = seats[:-1].reshape(self.seats.shape) + LEARNER
        self.guests = [self.guests[old] for old in used[1:].tolist()]

    def learns(self) -> Bool:
        """Return where the learner is to act, bool (number,)."""
        return self._to_act() == LEARNER

    def _to_act(self) -> Int64:
        """Return the agent to act, numbered as in `seats`, int64 (number,)."""
        return self.seats[np.arange(len(self.seats)), self.games.seat]

    def chooses(self) -> Bool:
        """Return where more than one action is legal, bool (number,)."""
        return self.games.mask.sum(axis=1) > 1

    def inputs(self, rows: Int64, prior: HeuristicAgent | None) -> Int16:
        """Return the inputs of network and prior in some rows as codes, int16 (k, NUM_INPUTS)."""
        codes = np.zeros((rows.size, NUM_INPUTS), np.int16)
        codes[:, :OBSERVATION_SIZE] = codes_of(self.games.observation[rows])
        if prior is not None and rows.size:
            decisions = decisions_in(self.games, prior, rows)
            codes[:, OBSERVATION_SIZE:] = prior_codes(prior, decisions, self.outcome)
        return codes

    def inputs_at_end(self, row: int, prior: HeuristicAgent | None) -> Int16:
        """Return the inputs for every seat in a row's latest final position, int16 (players,
        NUM_INPUTS); a prior has an expected outcome there, but no actions.
        """
        players, final = self.games.num_players, self.games.finished
        codes = np.zeros((players, NUM_INPUTS), np.int16)
        codes[:, :OBSERVATION_SIZE] = codes_of(
            self.games.observe(np.arange(players), np.full(players, row), final)
        )
        if prior is not None and self.outcome:
            chance = win_probabilities(final[row : row + 1])[0, :players]
            codes[:, OUTCOME] = np.rint(outcome_of(chance, players) * OUTCOME_PARTS)
        return codes

    def step(self, actions: Int64) -> tuple[Float32, Float32, Bool]:
        """Play one action everywhere: the learner's, or the opponent's where it has a choice
        (written into `actions`).

        Args:
            actions: int64 (number,), with what is forced where nobody has a choice.

        Returns:
            What every seat was rewarded (a task's payoff in units of TASK_SCALE), and by how much
            it got ahead, float32 (number, players);
            whether the game ended, bool (number,).
        """
        games = self.games
        acting = np.where(self.chooses(), self._to_act(), LEARNER)
        for index in np.unique(acting[acting != LEARNER]).tolist():
            rows = np.flatnonzero(acting == index)
            actions[rows] = decide(games, self.guests[index], rows)
        games.step(actions)
        before, self.margin = self.margin, self._margins()
        after = self.margin
        if games.done.any():
            final = margins(games.finished["score"][:, : games.num_players])
            after = np.where(games.done[:, None], final, after)
        return games.reward / self.scale, after - before, games.done.copy()

    def ended(self) -> list[Ended]:
        """Return the games that ended in this step, row by row."""
        ends = []
        for row in np.flatnonzero(self.games.done).tolist():
            final, seated = self.games.finished[row : row + 1], self.seats[row]
            mine = seated == LEARNER
            points = float(final["score"][0, : len(seated)][mine].mean())
            others = np.unique(seated[~mine])
            opponent, share = None, 0.0
            if mine.sum() == 1 and len(others) == 1 and self.scale == 1:
                opponent = self.guests[int(others[0])].name
                share = float(results(final)[0][0, : len(seated)][mine][0])
            ends.append(Ended(self.label, int(final["decisions"][0]), points, opponent, share))
        return ends


def margins(scores: AnyArray) -> Float32:
    """Return each seat's margin over the best other one in units of rewards, (n, players)."""
    best_other = [np.delete(scores, seat, axis=1).max(axis=1) for seat in range(scores.shape[1])]
    return ((scores - np.stack(best_other, axis=1)) / MARGIN_SCALE).astype(np.float32)
