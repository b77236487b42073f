"""One step of look-ahead with the shipped networks, by compiled play-outs."""

from collections.abc import Callable
from typing import Final

import numpy as np

from skyenv.agents import Decisions, Evaluations, SearchProgress
from skyenv.arena.lookahead import LookaheadAgent, Trial
from skyenv.array_types import Float64
from skyenv.rules.actions import NUM_ACTIONS
from skyenv_agents.learned.networks import TrainedAgent
from skyenv_agents.search.budgets import MAX_SIMULATIONS, BudgetedAgent
from skyenv_agents.search.ismcts import every

# Against `trained` neither 48 nor 128 won more (docs/results/search.md).
DEFAULT_SIMULATIONS: Final = 64
# Determinizations between two checks of the clock, and until candidates are dropped first.
ROUND: Final = 4


class TrainedLookaheadAgent(LookaheadAgent, BudgetedAgent):
    """The agent ``lookahead``: ``trained``, improved by one step of look-ahead.

    All candidates see the same determinizations; the worse ones are dropped on the way.

    Args:
        simulations: most determinizations per decision, 1 to 10⁶. Each candidate action is tried in
            all of them until it is dropped or the decision is settled.
        milliseconds: time per decision instead, 0.001 to 10⁶, without the policy's forward pass;
            decisions then depend on the machine.

    Raises:
        AgentError: a budget is out of range.
        CheckpointError: a shipped network can't be used.
    """

    name = "lookahead"
    version = "2"
    description = "one step of look-ahead with the policy and value of the shipped networks"
    searches_with = (TrainedAgent.name,)
    default_simulations = DEFAULT_SIMULATIONS

    def __init__(
        self, simulations: int = DEFAULT_SIMULATIONS, milliseconds: float | None = None
    ) -> None:
        LookaheadAgent.__init__(self, TrainedAgent())
        self.round_size = ROUND
        self.name = type(self).name
        BudgetedAgent.__init__(self, simulations, milliseconds)
        if milliseconds is not None:
            self.worlds, self.seconds = MAX_SIMULATIONS, milliseconds / 1000
        else:
            self.worlds = self.simulations
        self.version = f"{type(self).version}+{self.policy.version}"

    def version_at(self, players: int, side: str) -> str:
        """See :class:`skyenv.agents.Agent`: with the version of the policy."""
        return f"{super().version_at(players, side)}+{self.policy.version_at(players, side)}"

    def evaluate(self, decisions: Decisions) -> Evaluations:
        """See :class:`skyenv.agents.Agent`: the actions' shares of the play-outs, and the mean
        outcome of the best; the policy's evaluation where it leaves no choice.
        """
        evaluations = self.policy.evaluate(decisions)
        assert evaluations is not None
        probabilities, outcomes = evaluations
        assert outcomes is not None
        trial = self.trial(decisions, probabilities.argmax(axis=1))
        self.look_ahead(decisions, trial)
        rows = np.flatnonzero(trial.number[:, 0])
        visits, values = _evaluated(trial)
        probabilities[rows] = visits[rows] / visits[rows].sum(axis=1, keepdims=True)
        outcomes[rows] = values[rows]
        return probabilities, outcomes

    def search_with_progress(
        self, decisions: Decisions, callback: Callable[[SearchProgress], None]
    ) -> SearchProgress | None:
        """See :class:`skyenv.agents.Agent`: the actions' play-outs so far; None where the policy
        leaves no choice.
        """
        most = self.simulations if self.milliseconds is None else None

        def progress() -> SearchProgress:
            visits, values = _evaluated(trial)
            tries = int(trial.number.max())
            return SearchProgress(int(trial.best()[0]), visits[0], float(values[0]), tries, most)

        trial = self.trial(decisions, np.asarray(self.policy.act(decisions), np.int64))
        self.look_ahead(decisions, trial, every(lambda: callback(progress())))
        return progress() if trial.number.any() else None


def _evaluated(trial: Trial) -> tuple[Float64, Float64]:
    """Return the number of play-outs of each action, float64 (k, 103), and the mean outcome of the
    best one, float64 (k,); 0 without play-outs.
    """
    rows = np.arange(len(trial.actions))[:, None]
    visits, totals = np.zeros((2, len(rows), NUM_ACTIONS))
    # Padding, action −1, has no play-outs.
    np.add.at(visits, (rows, trial.actions), trial.number)
    np.add.at(totals, (rows, trial.actions), trial.total)
    taken = rows[:, 0], trial.best()
    return visits, totals[taken] / np.maximum(visits[taken], 1)
