"""Expert iteration: ``python -m experiments.training.expert_iteration --start FILE --players 2
--prior greedy --minutes 30``.

The expert is the network itself with one step of look-ahead
(:class:`skyenv.arena.lookahead.LookaheadAgent`). At the learner's decisions in some phases it tries
the policy's most probable actions in determinizations, in which all seats continue by the policy's
choices. The network learns to change its logits by the advantages that were found, and the
λ-returns of its own games (Anthony, Tian and Barber 2017). Other decisions stay as they are.
Tables, opponents, processes, files and options are those of :mod:`experiments.training.train`.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch

from experiments.training.config import MOST, Config, fixed
from experiments.training.ppo import Batch
from experiments.training.program import program
from experiments.training.rollouts import Collector, Improvement
from experiments.training.train import Training
from skyenv.agents import Decisions, decisions_in
from skyenv.arena.lookahead import CANDIDATES, MIN_PROBABILITY, LookaheadAgent
from skyenv.array_types import Bool, Int64
from skyenv.console.options import Help, option
from skyenv.rules.state import PHASES
from skyenv_agents.learned.networks import OUTCOME_REWARD, NetworkAgent, heuristic_of
from skyenv_agents.learned.torch_network import LOWEST, PolicyNetwork

# Change of a logit for an advantage of 1, such as a draw instead of a loss.
CHANGE: Final = 40.0
# Clip range of advantages, which are noisy with few determinizations.
LARGEST_ADVANTAGE: Final = 0.5


def lookahead_losses(
    batch: Batch,
    rows: torch.Tensor,
    log_probabilities: torch.Tensor,
    log_ratio: torch.Tensor,
    clip: float,
) -> torch.Tensor:
    """Return the squared errors of the tried actions' logits, relative to their mean, plus the
    cross entropy that keeps other actions improbable. Without look-ahead return the cross entropy
    to the policy that decided. Arguments are those of
    :func:`experiments.training.ppo.clipped_losses`.

    The gradient of squared errors doesn't vanish where a probability is small.
    """
    tried, before = batch.notes["tried"][rows], batch.notes["policy"][rows].clamp(min=LOWEST)
    now = log_probabilities.clamp(min=LOWEST)
    errors = centred((now - before) / CHANGE - batch.notes["gain"][rows], tried)
    others = torch.where(tried, log_probabilities, -torch.inf).logsumexp(dim=1)
    return torch.where(
        tried.any(dim=1),
        0.5 * CHANGE * errors.square().sum(dim=1) - others,
        -(before.exp() * now).sum(dim=1),
    )


def centred(values: torch.Tensor, where: torch.Tensor) -> torch.Tensor:
    """Return values minus their mean in each row, (k, n); 0 outside of `where`, bool (k, n)."""
    inside = torch.where(where, values, 0.0)
    means = inside.sum(dim=1, keepdim=True) / where.sum(dim=1, keepdim=True).clamp(min=1)
    return torch.where(where, inside - means, 0.0)


class Lookahead(Improvement):
    """The policy improvement of look-ahead, wherever several actions are probable enough, in the
    phases of the configuration.

    Its notes are ``tried``, bool (…, 103), the actions with rollouts, all false without look-ahead;
    ``policy``, float32 (…, 103), log-probabilities of the policy that decided; ``gain``, float32
    (…, 103), the value of each tried action minus their mean, else 0.
    """

    losses = staticmethod(lookahead_losses)
    config: "ExpertConfig"

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self._step = 0
        self._expert: LookaheadAgent | None = None

    def arrays(self, masks: torch.Tensor) -> dict[str, torch.Tensor]:
        """See :class:`experiments.training.rollouts.Improvement`."""
        policy, gain = torch.zeros((2, *masks.shape))
        return {"tried": torch.zeros_like(masks), "policy": policy, "gain": gain}

    def note(
        self,
        collector: Collector,
        network: PolicyNetwork,
        t: int,
        mine: Int64,
        log_probabilities: torch.Tensor,
    ) -> None:
        """Look ahead from some decisions."""
        expert, notes = self._expert_of(network, t), collector.notes
        phases = np.concatenate([tables.games.state["phase"] for tables in collector.tables])[mine]
        looks = np.isin(phases, [PHASES.index(name) for name in self.config.phases])
        tried = candidates(log_probabilities) & torch.from_numpy(looks)[:, None]
        columns = torch.from_numpy(mine)
        notes["tried"][t, columns], notes["policy"][t, columns] = tried, log_probabilities
        gain = notes["gain"][t]
        gain[columns] = 0.0
        for tables, place in zip(collector.tables, collector.slices, strict=True):
            inside = (columns >= place.start) & (columns < place.stop)
            here = torch.nonzero(tried.any(dim=1) & inside)[:, 0]
            if len(here):
                rows = columns[here].numpy() - place.start
                uniform = collector.rng.random(rows.size)
                decisions = decisions_in(tables.games, expert, rows, uniform=uniform)
                gain[columns[here]] = gains(expert, decisions, tried[here])

    def _expert_of(self, network: PolicyNetwork, t: int) -> LookaheadAgent:
        """Return the expert of step t; its network is new in the first step of a rollout."""
        if self._expert is None or t <= self._step:
            prior = heuristic_of(self.config.prior)
            about = {
                "prior": self.config.prior,
                "prior_version": prior.version if prior else "",
                "reward": OUTCOME_REWARD,
            }
            policy = NetworkAgent(network.frozen(about), deterministic=True)
            self._expert = LookaheadAgent(policy, self.config.worlds, self.config.horizon)
        self._step = t
        return self._expert

    def near_certain(self, collector: Collector) -> Bool:
        """See :class:`experiments.training.rollouts.Improvement`."""
        sure: Bool = ~collector.notes["tried"].any(dim=2).numpy()
        return sure


def gains(expert: LookaheadAgent, decisions: Decisions, tried: torch.Tensor) -> torch.Tensor:
    """Return each tried action's value minus their mean, float32 (k, 103)."""
    which, actions = np.nonzero(tried.numpy())
    values = torch.zeros(tried.shape)
    outcomes = expert.outcomes(decisions, which, actions).mean(axis=1)
    values[which, actions] = torch.from_numpy(outcomes).float()
    return centred(values, tried).clamp(-LARGEST_ADVANTAGE, LARGEST_ADVANTAGE)


def candidates(log_probabilities: torch.Tensor) -> torch.Tensor:
    """Return the actions to try, bool (k, 103); all false where only one is probable enough."""
    best, places = log_probabilities.topk(CANDIDATES, dim=1)
    probable = best >= np.log(MIN_PROBABILITY)
    tried = torch.zeros(log_probabilities.shape, dtype=torch.bool)
    return tried.scatter_(1, places, probable & probable[:, 1:2])


@dataclass(frozen=True)
class ExpertConfig(Config):
    """The trainer's options, and the expert's."""

    run: str = option("runs/expert", "folder of the run", metavar="FOLDER", section="the run")
    worlds: int = option(
        1, "determinizations in which actions are tried", low=1, high=1000, section="look-ahead"
    )
    horizon: int = option(
        5, "moves of the seat, forced ones too, until a rollout ends", low=1, high=1000
    )
    phases: tuple[str, ...] = option(
        PHASES[:-1], "phases of the turn with look-ahead", choices=PHASES[:-1]
    )
    # By default updates are large; docs/results/tried.md has small ones.
    steps: int = option(128, "decisions in each game between updates", low=1, high=MOST)
    epochs: int = option(
        3, "passes over the decisions of an update", low=1, high=MOST, section="PPO"
    )
    learning_rate: float = option(1e-3, "Adam's learning rate", above=True, high=1)
    reward: str = fixed(OUTCOME_REWARD)  # values are expected outcomes
    task: str = fixed("")
    mean_kl: float = fixed(0.0)
    certain_fraction: float = option(
        0.1,
        "fraction learned from of the decisions without look-ahead (up-weighted)",
        above=True,
        high=1,
    )
    value_updates: int = fixed(0)
    clip: float = fixed(0.0)
    target_kl: float = fixed(1e9)  # it follows the look-ahead, however far that is
    entropy: float = fixed(0.0)


class ExpertIteration(Training):
    """A network that learns what one step of look-ahead finds."""

    PROGRAM = "expert_iteration"
    IMPROVEMENT = Lookahead
    config: ExpertConfig


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    return program(
        ExpertIteration,
        ExpertConfig,
        Help(
            "train an agent by what one step of look-ahead finds in games of its own",
            "--start runs/first/model.npz --minutes 30",
            "docs/training.md#recipes",
        ),
        arguments,
    )


if __name__ == "__main__":
    sys.exit(main())
