"""Train an agent: ``python -m experiments.training.train --run runs/first --players 2 --minutes 5
--prior greedy``.

Self-play PPO on the batch engine. In some games one network plays every seat; in the others it
shares the table with agents of a pool, fixed ones and past policies. It learns from every seat it
plays. Advantages and loss are in :mod:`experiments.training.ppo`, updates in this file; actors are
in :mod:`experiments.training.actors`, rollouts in :mod:`experiments.training.rollouts`; folder,
Ctrl-C and resuming in :mod:`experiments.training.run`. ``model.npz`` plays as an agent by its path.

* The reward is the outcome, not the margin. (A reward of VP made players that took risks for high
  scores and won less.) The margin is an auxiliary target: it shapes what the network represents,
  and no decision.
* With a prior the policy starts as a heuristic agent's choice and the value as the outcome that
  the agent expects; the network learns to correct both. The first `value_updates` updates then
  train values alone, because advantages against an untrained value would undo the prior.
* The agent and the past policies have averaged weights (Polyak averaging).
"""

import copy
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import nn

from experiments.training.actors import Actors
from experiments.training.config import AUTO, PAST, Config
from experiments.training.health import (
    FEWEST_DECISIONS,
    GRADIENT_NORM,
    NEVER_ACTIVE,
)
from experiments.training.ppo import Batch, Objective, normalised, policy_of, variance
from experiments.training.program import program
from experiments.training.rollouts import Improvement, Rollout
from experiments.training.run import Run
from experiments.training.seating import Ended, Tables
from skyenv.agents import decide
from skyenv.console.options import Help, as_text
from skyenv.engine.results import results
from skyenv_agents.heuristic.player import HeuristicAgent
from skyenv_agents.learned.networks import Network, heuristic_of
from skyenv_agents.learned.torch_network import (
    PolicyNetwork,
    prefers_bfloat16,
    use_processor,
)


class Training(Run):
    """A training run: network, optimiser, actors."""

    PROGRAM = "train"
    IMPROVEMENT: ClassVar[type[Improvement]] = Improvement
    actors: Actors | None = None
    annealed = 0.0  # progress of the run when the prior's weight fell last

    def begin(self) -> None:
        """See :class:`experiments.training.run.Run`."""
        self._prepare()
        if self.config.precision == AUTO:
            precision = "bfloat16" if prefers_bfloat16() else "float32"
            self.config = replace(self.config, precision=precision)
        self.network = self.config.make_network().to(self.device)
        self.mean = _copy(self.network)
        self.optimiser = self._new_optimiser()
        self.rng = np.random.default_rng(self.config.seed)
        self.actors = Actors(self.IMPROVEMENT, self.config, self.network)

    def _prepare(self) -> None:
        use_processor(self.config.threads)
        auto = "cuda" if torch.cuda.is_available() else "cpu"
        self.device = torch.device(auto if self.config.device == AUTO else self.config.device)
        self.prior: HeuristicAgent | None = heuristic_of(self.config.prior)
        self._warm_up()

    def _warm_up(self) -> None:
        """Compile games and agents before the clock runs."""
        config = self.config
        for table in config.tables:
            tables = Tables(1, config.game_of(*table), 0)
            for agent in (*config.make_agents("fixed_opponents"), *config.make_agents("against")):
                decide(tables.games, agent)
            tables.inputs(np.zeros(1, np.int64), self.prior)
            tables.step(tables.games.mask.argmax(axis=1))
            tables.inputs_at_end(0, self.prior)
            results(tables.games.state)

    def learn(self) -> dict[str, float]:
        """Learn from the actors' rollouts; now and then keep a past policy."""
        config, actors = self.config, self.actors
        assert actors is not None
        rollouts = actors.rollouts(self.network)
        for rollout in rollouts:
            self._note(rollout.ended)
        batch = Batch.join([rollout.batch for rollout in rollouts], self.device)
        self.decisions += sum(rollout.decisions for rollout in rollouts)
        figures = mean_figures(rollouts) | self.improve(batch)
        self._average()
        if (
            config.past_policies
            and (self.updates + 1) % config.snapshot == 0
            and not self.only_value
        ):
            actors.add_past(f"{PAST}-{self.updates + 1}", self.frozen())
        return figures

    def _note(self, ended: Sequence[Ended]) -> None:
        """Record finished games."""
        for game in ended:
            self.episodes.note(game.length, game.points)
            if game.opponent is not None:
                kind = "" if len(self.config.tables) == 1 else f", {game.table}"
                self.episodes.note_share(game.opponent + kind, game.share)

    def _new_optimiser(self) -> torch.optim.AdamW:
        config, parameters = self.config, [*self.network.parameters()]
        matrices: dict[str, Any] = {"params": [one for one in parameters if one.ndim == 2]}
        rest = {"params": [one for one in parameters if one.ndim < 2], "weight_decay": 0.0}
        return torch.optim.AdamW(
            [matrices, rest],
            lr=config.learning_rate,
            eps=1e-5,
            weight_decay=config.weight_decay,
            fused=True,
        )

    def _left(self, share: float) -> float:
        """Return the current factor of a linear decay to `share`."""
        return 1.0 - (1.0 - share) * self.progress()

    def _learning_rate(self) -> float:
        """Adam's step size in this update."""
        config = self.config
        rate = config.learning_rate * self._left(config.final_rate)
        begun = self.updates + 1 - self.value_updates
        return rate * min(begun / config.warm_up, 1.0) if begun > 0 and config.warm_up else rate

    @property
    def value_updates(self) -> int:
        """Number of first updates that train only the values; 0 after another run (`start`)."""
        return 0 if self.prior is None or self.config.start else self.config.value_updates

    @property
    def only_value(self) -> bool:
        """Whether the next update trains only the values."""
        return self.updates < self.value_updates

    # ---- improving ----

    def improve(self, batch: Batch) -> dict[str, float]:
        """Update the network by some passes over a batch; returns figures for the curve."""
        config, number = self.config, len(batch)
        if self.updates == self.value_updates > 0:
            # Adam's averages know the policy's gradients as 0 so far, which would make its first
            # steps far too long.
            self.optimiser = self._new_optimiser()
        for group in self.optimiser.param_groups:
            group["lr"] = self._learning_rate()
        self._anneal_prior()
        if number < 2:  # few steps, and no seat decided twice within them
            return {}
        weight = batch.weight / batch.weight.mean()
        unexplained = variance(batch.advantage, weight) / variance(
            batch.target[:, 0], weight
        ).clamp(1e-9)
        batch = replace(batch, weight=weight, advantage=normalised(batch.advantage, weight))
        if config.mean_kl and not self.only_value:
            batch.notes["mean"] = policy_of(self.mean, batch, config)
        entropy_weight = config.entropy * self._left(config.final_entropy)
        losses = self.IMPROVEMENT.losses
        objective = Objective(config, entropy_weight, self.only_value, losses)
        self.network.activity = {}
        figures = {
            **self._passes(objective, batch),
            "explained_variance": 1.0 - float(unexplained),
            "prior_weight": float(self.network.rest["prior_weight"].detach()),
        }
        norms = self.network.gradient_norms()
        figures |= {f"{GRADIENT_NORM}/{layer}": norm for layer, norm in norms.items()}
        if number >= FEWEST_DECISIONS:
            lost = {layer: sums <= 0 for layer, sums in self.network.activity.items()}
            for layer, units in lost.items():
                figures[f"{NEVER_ACTIVE}/{layer}"] = float(units.float().mean())
            if config.reinitialise and self.updates % config.reinitialise == 0:
                self.network.reinitialise(lost, self.rng)
        return figures

    def _passes(self, objective: Objective, batch: Batch) -> dict[str, float]:
        """Learn from a batch in passes; return the mean figures of its minibatches."""
        config, number = self.config, len(batch)
        sums, steps = torch.zeros(4, device=self.device), 0
        for _ in range(config.epochs):
            order = torch.from_numpy(self.rng.permutation(number)).to(self.device)
            # All batches are of one size, for which PyTorch compiles its products once; what is
            # left over has its turn in others.
            for start in range(0, max(number - config.batch, 0) + 1, config.batch):
                sums += self._step(objective, batch, order[start : start + config.batch])
                steps += 1
            if not float(sums[2]) <= config.target_kl * steps:  # NaN, too
                break
        names = ("policy_loss", "value_loss", "change", GRADIENT_NORM)
        return dict(zip(names, (sums / steps).tolist(), strict=True))

    @torch.no_grad()
    def _anneal_prior(self) -> None:
        """Decay the prior's weight by the progress since the last update."""
        done, before = self.progress(), self.annealed
        left_before, left = (
            1.0 - (1.0 - self.config.final_prior) * part for part in (before, done)
        )
        self.network.rest["prior_weight"].mul_(left / left_before if left_before > 0 else 0.0)
        self.annealed = done

    def _step(self, objective: Objective, batch: Batch, rows: torch.Tensor) -> torch.Tensor:
        """Take a gradient step on a minibatch; returns its figures."""
        self.optimiser.zero_grad()
        loss, figures = objective.loss(self.network, batch, rows)
        loss.backward()  # type: ignore[no-untyped-call]
        norm = nn.utils.clip_grad_norm_(self.network.parameters(), self.config.max_grad_norm)
        self.optimiser.step()
        return torch.cat([figures, norm[None]])

    @torch.no_grad()
    def _average(self) -> None:
        """Update the averaged weights (polynomial-decay averaging)."""
        share = 1.0 / max(self.config.averaging * (self.updates + 1), 1.0)
        for mean, newest in zip(self.mean.parameters(), self.network.parameters(), strict=True):
            mean.lerp_(newest, share)

    # ---- files ----

    def frozen(self) -> Network:
        """Return the frozen network of the averaged weights."""
        return self.mean.frozen(self.about())

    def about(self) -> dict[str, Any]:
        """Return the metadata of the network's file."""
        players = as_text(self.config.players)
        return {
            "description": f"trained by experiments/training/{self.PROGRAM}.py: "
            f"{self.decisions:,} decisions, {players} players",
            "version": "1",
            "prior": self.config.prior,
            "prior_version": self.prior.version if self.prior else "",
            "players": players,
            "side": as_text(self.config.side),
            "reward": f"task {self.config.task}" if self.config.task else self.config.reward,
            "seed": self.config.seed,
            "decisions": self.decisions,
        }

    def model(self) -> bytes:
        """See :class:`experiments.training.run.Run`."""
        return self.frozen().to_bytes()

    def pack(self) -> dict[str, Any]:
        """See :class:`experiments.training.run.Run`."""
        assert self.actors is not None
        return {
            "network": self.network.state_dict(),
            "mean": self.mean.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "rng": self.rng.bit_generator.state,
            "annealed": self.annealed,
            "actors": self.actors.pack(),
        }

    def unpack(self, state: dict[str, Any]) -> None:
        """See :class:`experiments.training.run.Run`."""
        self._prepare()
        self.network = self.config.make_network(started=False).to(self.device)
        self.network.load_state_dict(state["network"])
        self.mean = _copy(self.network)
        self.mean.load_state_dict(state["mean"])
        self.optimiser = self._new_optimiser()
        self.optimiser.load_state_dict(state["optimiser"])
        self.rng = np.random.default_rng()
        self.rng.bit_generator.state = state["rng"]
        self.annealed = state["annealed"]
        self.actors = Actors(self.IMPROVEMENT, self.config, self.network, state["actors"])

    def end(self) -> None:
        """See :class:`experiments.training.run.Run`."""
        if self.actors is not None:
            self.actors.end()


def _copy(network: PolicyNetwork) -> PolicyNetwork:
    """Return a copy of the network on the same device."""
    return copy.deepcopy(network).requires_grad_(False)


def mean_figures(rollouts: Sequence[Rollout]) -> dict[str, float]:
    """Return the mean figures of rollouts, weighted by their decisions."""
    weights = np.array([max(rollout.decisions, 1) for rollout in rollouts], np.float64)
    return {
        name: float(np.average([rollout.figures[name] for rollout in rollouts], weights=weights))
        for name in rollouts[0].figures
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    example = "--run runs/second --players 3 --minutes 30 --prior greedy"
    told = Help("train an agent by self-play", example, "docs/training.md")
    return program(Training, Config, told, arguments)


if __name__ == "__main__":
    sys.exit(main())
