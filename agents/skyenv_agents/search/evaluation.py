"""The evaluation of a tree's leaves from outside: an agent is asked about many of them at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, Decisions
from skyenv.engine.kernels import observe_rows, share_of
from skyenv.engine.knowledge import view as view_of
from skyenv.engine.observation import CODES_DTYPE, OBSERVATION_SIZE
from skyenv.errors import AgentError
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.state import GAME_DTYPE, new_records
from skyenv_agents.heuristic.win_probability import win_probabilities_seen
from skyenv_agents.search.tree import LEAF_DTYPE


class LeafBatch:
    """Where simulations have ended, until they are evaluated.

    Args:
        number: how many there can be.

    Attributes:
        games: GAME_DTYPE (number,), the positions there.
        leaves: LEAF_DTYPE (number,).
        masks: int8 (number, 103), legal actions.
        priors: float64 (number, 103), how probable the evaluator holds them to be.
    """

    def __init__(self, number: int) -> None:
        self.games = new_records(number, GAME_DTYPE)
        self.leaves = new_records(number, LEAF_DTYPE)
        self.masks = np.zeros((number, NUM_ACTIONS), np.int8)
        self.priors = np.zeros((number, NUM_ACTIONS))

    def evaluate(self, number: int, evaluator: Agent, weight: float = 1.0) -> None:
        """Ask an agent about the first leaves, so many as `number`; what it expects has a share in
        their values, the weight.

        Raises:
            AgentError: the agent doesn't tell the outcome that it expects.
        """
        rows = np.flatnonzero(self.leaves["number"][:number] > 0)
        if not len(rows):
            return
        games = self.games[rows]
        seats = games["seat"].astype(np.int64)
        players = int(games["num_players"][0])
        observation = np.empty((len(rows), OBSERVATION_SIZE), np.float32)
        observe_rows(games, new_records(1, CODES_DTYPE), np.arange(len(rows)), seats, observation)
        views = view_of(games, seats)
        asked = Decisions(
            self.masks[rows], seats, players, np.zeros(len(rows)), observation, views, trusted=True
        )
        evaluations = evaluator.evaluate(asked)
        if evaluations is None or evaluations[1] is None:
            raise AgentError(
                f"agent {evaluator.name} can't guide a search: it doesn't tell the outcome that it "
                "expects"
            )
        # In single precision what it says doesn't depend on how many leaves it is asked about.
        probabilities, outcomes = (
            np.asarray(array, np.float32).astype(np.float64) for array in evaluations
        )
        self.priors[rows] = probabilities
        if weight > 0:
            expected = seat_values(
                outcomes, seats, players, win_probabilities_seen(np.asarray(views), trusted=True)
            )
            self.leaves["value"][rows] = (
                weight * expected + (1 - weight) * self.leaves["value"][rows]
            )


def seat_values(
    outcomes: npt.NDArray[np.float64],
    seats: npt.NDArray[np.int64],
    players: int,
    by_holdings: npt.NDArray[np.float64],
) -> npt.NDArray[np.float64]:
    """Every seat's win probability, float64 (k, 4).

    Args:
        outcomes: float64 (k,), −1/(N−1) to 1, the outcome that a seat expects. seats: int64 (k,),
            which seat.
        players: N.
        by_holdings: float64 (k, 4), win probabilities by what seats have, in proportion to which
            the other seats share the rest.
    """
    rows = np.arange(len(seats))
    own = np.clip(share_of(outcomes, players), 0.0, 1.0)
    others = by_holdings.copy()
    others[rows, seats] = 0.0
    others[:, players:] = 0.0
    values: npt.NDArray[np.float64] = others * ((1 - own) / others.sum(axis=1))[:, None]
    values[rows, seats] = own
    return values
