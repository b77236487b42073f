"""Expert iteration: ``python -m experiments.training.expert_iteration --players 2 --prior greedy
--minutes 30``.

A tree search, the expert, plays the learner's seats. Its root has the policy of a guide as the
prior. The network learns the guide's policy improved by the values of the search
(:func:`improved`), and λ-returns over the search's outcomes (Anthony, Tian and Barber 2017). The
guide is the network as it was when the run began, or some updates ago. With visit counts as
targets, a guide renewed at every update made the network much weaker. Tables, opponents, processes,
files and options are those of :mod:`experiments.training.train`.

A search costs about a hundred forward passes, so a run has fewer decisions than one of that
trainer. Each has a target for every action instead of a reward for one.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch

from experiments.training.config import MOST, Config, fixed
from experiments.training.network import LOWEST, PolicyNetwork
from experiments.training.rollouts import CERTAIN, Batch, Collector, Rollout
from experiments.training.runs import program
from experiments.training.seating import Bool, Int64, Tables
from experiments.training.train import Training
from skyenv.agents import decisions_in
from skyenv.engine.games import Games
from skyenv.engine.kernels import outcome_of
from skyenv.options import option
from skyenv.rules.actions import NUM_ACTIONS
from skyenv_agents.learned.networks import OUTCOME_REWARD
from skyenv_agents.search.guided import PRIOR_TEMPERATURE
from skyenv_agents.search.ismcts import SearchAgent, SearchResult

PRIOR_VISITS: Final = 5
"""Visits that the position's value counts for in every action's."""


@dataclass
class SearchedBatch(Batch):
    """Decisions that were searched.

    Attributes:
        policy: float32 (k, 103), the probabilities that the policy should have.
    """

    policy: torch.Tensor

    def policy_losses(
        self,
        rows: torch.Tensor,
        log_probabilities: torch.Tensor,
        log_ratio: torch.Tensor,
        clip: float,
    ) -> torch.Tensor:
        """Return the cross entropy between the improved policy and the policy."""
        return -(self.policy[rows] * log_probabilities).sum(dim=1)


class SearchCollector(Collector):
    """Plays games, and searches decisions of the learner's seats: all but most of those that the
    guide is sure of.

    Attributes:
        guide: the network that searches begin with; None: nothing was collected yet.
    """

    BATCH = SearchedBatch
    KEPT = (*Collector.KEPT, "policy", "certain", "searched")
    config: ExpertConfig

    def __init__(
        self, config: ExpertConfig, part: int, state: dict[str, Any] | None = None
    ) -> None:
        self.expert = SearchAgent(config.simulations, margin=0.0)  # winning counts, not the margin
        self.guide: PolicyNetwork | None = None
        self.guided = 0
        super().__init__(config, part, state)

    def state(self) -> dict[str, Any]:
        """See :meth:`experiments.training.rollouts.Collector.state`."""
        guide = None if self.guide is None else self.guide.state_dict()
        return super().state() | {"guide": guide, "guided": self.guided}

    def restore(self, state: dict[str, Any]) -> None:
        """See :meth:`experiments.training.rollouts.Collector.restore`."""
        super().restore(state)
        self.guided = state["guided"]
        if state["guide"] is not None:
            self.guide = self.config.make_network(started=False)
            self.guide.load_state_dict(state["guide"])

    def collect(self, network: PolicyNetwork) -> Rollout:
        """See :meth:`experiments.training.rollouts.Collector.collect`; every `renewal` updates the
        network becomes the guide.
        """
        if self.guide is None or self.guided == self.config.renewal > 0:
            self.guide, self.guided = copy.deepcopy(network), 0
        self.guided += 1
        return super().collect(network)

    def _make_buffers(self) -> None:
        super()._make_buffers()
        self.policy = torch.zeros((*self.masks.shape[:2], NUM_ACTIONS))
        self.certain, self.searched = np.zeros_like(self.mine), np.zeros_like(self.mine)

    def _choose(self, t: int, network: PolicyNetwork) -> None:
        """Let the expert decide, and tell what the outcome will be; its guide where nothing is
        searched.
        """
        mine = np.flatnonzero(self.mine[t])
        self.certain[t] = self.searched[t] = False
        if not mine.size:
            return
        assert self.guide is not None
        log_probabilities = self._evaluate(t, mine, network)
        held, _ = self._forward(t, mine, self.guide)
        action = held.argmax(dim=1).numpy()
        self.certain[t, mine] = held.amax(dim=1).numpy() > CERTAIN
        self.searched[t, mine] = ~self.certain[t, mine] | (
            self.rng.random(mine.size) < self.config.certain_fraction
        )
        for tables, place in zip(self.tables, self.slices, strict=True):
            here = np.flatnonzero(
                (mine >= place.start) & (mine < place.stop) & self.searched[t, mine]
            )
            if here.size:
                guided = held[torch.from_numpy(here)]
                action[here] = self._search(t, place.start, mine[here], tables, guided)
        self._play(t, mine, torch.from_numpy(action), log_probabilities)

    def _search(
        self, t: int, start: int, mine: Int64, tables: Tables, guided: torch.Tensor
    ) -> Int64:
        """Return the expert's actions at tables of one kind; some are sampled by visits.

        Args:
            t: the step. start: first column of these tables. mine: int64 (k,), columns to search.
            guided: float32 (k, 103), log-probabilities of the guide there.
        """
        priors = (guided.clamp(min=PRIOR_TEMPERATURE * LOWEST) / PRIOR_TEMPERATURE).exp().numpy()
        found = self.expert.search(decisions_in(tables.games, self.expert, mine - start), priors)
        self.value[t, mine, 0] = outcome_of(found.values, tables.games.num_players)
        self.policy[t, torch.from_numpy(mine)] = improved(found, guided, self.config.value_scale)
        tries = found.visits.cumsum(axis=1)
        drawn = (tries > self.rng.random((mine.size, 1)) * tries[:, -1:]).argmax(axis=1)
        actions: Int64 = np.where(
            self.rng.random(mine.size) < self.config.drawn_share, drawn, found.actions
        )
        return actions

    def _certain(self) -> tuple[Bool, Bool]:
        return self.certain, self.searched

    def _more(self) -> dict[str, npt.NDArray[Any]]:
        return {"policy": self.policy.numpy()}


def improved(
    found: SearchResult, log_probabilities: torch.Tensor, value_scale: float
) -> torch.Tensor:
    """Return the guide's policy, improved by the values of a search, float32 (k, 103).

    An action's value is the mean of its simulations and of PRIOR_VISITS ones with the position's
    value, which completes the values of actions that were hardly tried. Visit counts as targets
    made a network weaker (docs/results/training.md).

    Args:
        found: of k searches. log_probabilities: of the guide, (k, 103).
        value_scale: see :class:`ExpertConfig`.

    Source:
        Danihelka, Guez, Schrittwieser and Silver 2022, "Policy improvement by planning with
        Gumbel".
    """
    totals = found.totals + PRIOR_VISITS * found.values[:, None]
    values = torch.from_numpy(totals / (found.visits + PRIOR_VISITS))
    return torch.softmax(log_probabilities.double() + value_scale * values, dim=1).float()


@dataclass(frozen=True)
class ExpertConfig(Config):
    """The trainer's options, and the expert's."""

    run: str = option("runs/expert", "folder of the run", metavar="FOLDER")
    simulations: int = option(100, "of the expert, for each decision", low=1, high=10**6)
    value_scale: float = option(
        20.0, "policy targets: the guide's logits plus this times the search's values", high=1000
    )
    drawn_share: float = option(
        0.3, "share of the decisions that are drawn by how often each action was tried", high=1
    )
    renewal: int = option(
        0,
        "updates after which the search begins with the network as it is then; 0: always as it was "
        "when the run began",
        high=10**9,
    )
    games: int = option(
        64, "games played side by side, of all kinds of tables together", low=1, high=MOST
    )
    steps: int = option(32, "decisions in each of them between updates", low=1, high=MOST)
    batch: int = option(512, "decisions in one gradient step", low=1, high=MOST)
    epochs: int = option(4, "passes over the decisions of an update", low=1, high=MOST)
    learning_rate: float = option(1e-3, "Adam's step size at the beginning", above=True, high=1)
    opponent_share: float = option(
        0.5, "share of the games with opponents; 0: self-play alone", high=1
    )
    reward: str = fixed(OUTCOME_REWARD)  # the search tells win probabilities
    task: str = fixed("")
    mean_kl: float = fixed(0.0)
    certain_fraction: float = option(
        0.1,
        "fraction searched and learned from of decisions with p > 0.99 by the guide (up-weighted)",
        above=True,
        high=1,
    )
    value_updates: int = fixed(0)
    clip: float = fixed(0.0)
    target_kl: float = fixed(1e9)  # it follows the search, however far that is
    entropy: float = fixed(0.0)


class ExpertIteration(Training):
    """An apprentice in training."""

    PROGRAM = "expert_iteration"
    COLLECTOR = SearchCollector
    config: ExpertConfig

    def _warm_up(self) -> None:
        super()._warm_up()
        expert = SearchAgent(1)
        for players, side in self.config.tables:
            expert.search(decisions_in(Games(1, players, side, 0), expert))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code, see :func:`experiments.training.runs.program`."""
    return program(
        ExpertIteration,
        ExpertConfig,
        "Train an agent by what a search finds in games of its own.",
        arguments,
    )


if __name__ == "__main__":
    sys.exit(main())
