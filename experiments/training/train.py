"""Train an agent: ``python -m experiments.training.train --run runs/first --players 2 --minutes 5
--prior greedy``.

A self-play PPO on the batch engine. All seats of a table learn at once, one network for all of
them; in a share of the games an opponent from a pool of fixed ones and past policies has all seats
but one. What is learned, and from what, is in this file. Who plays is in
:mod:`experiments.training.actors`, what is collected there in :mod:`experiments.training.rollouts`;
folder, checkpoints, Ctrl-C and resuming are in :mod:`experiments.training.runs`. What is written as
``model.npz`` plays as an agent by this path.

* Winning counts and not by how much: the reward is the outcome. (A reward of VP made players that
  took risks for high scores and won less.) By how many VP a seat will be ahead is an auxiliary
  target: it shapes what the network sees, and no decision.
* With a prior the policy starts as what a heuristic agent holds to be best, the value as the
  outcome that it expects by what seats have, and the network learns to correct both. The first
  `value_updates` updates then train the values alone, because advantages against an untrained value
  would undo the prior.
* The agent that is written, and the past policies, have the mean of the latest weights (Polyak
  averaging): the noise of the last steps costs strength that a mean keeps.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import nn

from experiments.training.actors import Actors
from experiments.training.actors_on_ray import begin_actors
from experiments.training.gradients import Objective
from experiments.training.network import PolicyNetwork
from experiments.training.processor import use_processor
from experiments.training.recipe import Config
from experiments.training.rollouts import Batch, Rollout
from experiments.training.runs import PAST, Run, program
from experiments.training.seating import Ended, Tables
from skyenv.agents import decide
from skyenv.engine.games import results
from skyenv.options import as_text
from skyenv_agents.heuristic.player import HeuristicAgent
from skyenv_agents.learned.networks import ThingsNetwork, heuristic_of


class Training(Run):
    """A training run: network, optimiser, tables, opponents."""

    PROGRAM = "train"
    config: Config
    actors: Actors | None = None
    annealed = 0.0  # how far the run was when the prior's weight fell last

    def begin(self) -> None:
        """Make everything new."""
        config = self.config
        self._prepare()
        self.network = config.make_network().to(self.device)
        self.mean = _copy(self.network)
        self.optimiser = self._new_optimiser()
        self.rng = np.random.default_rng(config.seed)
        self._warm_up()
        self.actors = begin_actors(config, self.network)

    def _prepare(self) -> None:
        use_processor(self.config.threads)
        wanted = self.config.device
        self.device = torch.device(
            "cuda"
            if wanted == "auto" and torch.cuda.is_available()
            else wanted.replace("auto", "cpu")
        )
        self.prior: HeuristicAgent | None = heuristic_of(self.config.prior)
        self.bfloat16 = self.config.is_bfloat16(self.device.type)

    def _warm_up(self) -> None:
        """Compile what isn't on disk yet before the clock runs: games, and the agents that play
        here or are measured against.
        """
        config = self.config
        for players, side in config.tables:
            tables = Tables(1, players, side, 0, max_turns=config.max_turns, reward=config.reward)
            for agent in (*config.make_agents("fixed_opponents"), *config.make_agents("against")):
                decide(tables.games, agent)
            tables.look(np.zeros(1, np.int64), self.prior)
            tables.step(tables.games.mask.argmax(axis=1))
            tables.games.observe(
                np.arange(players), np.zeros(players, np.int64), tables.games.state
            )
            results(tables.games.state)

    def learn(self) -> dict[str, float]:
        """Learn from the actors' rollouts; now and then keep a past policy."""
        config, actors = self.config, self.actors
        assert actors is not None
        rollouts = actors.rollouts(self.network)
        for rollout in rollouts:
            self._note(rollout.ended)
        batch = config.BATCH.join([rollout.batch for rollout in rollouts], self.device)
        self.decisions += sum(rollout.decisions for rollout in rollouts)
        figures = mean_figures(rollouts) | actors.figures() | self._improve(batch)
        self._average()
        if (
            config.past_policies
            and (self.updates + 1) % config.snapshot == 0
            and not self._only_value()
        ):
            actors.add_past(f"{PAST}-{self.updates + 1}", self.frozen())
        return figures

    def _note(self, ended: Sequence[Ended]) -> None:
        """Take in games that have ended."""
        for game in ended:
            self.episodes.note(game.length, game.points)
            if game.opponent is not None:
                kind = "" if len(self.config.tables) == 1 else f", {game.table}"
                self.episodes.note_share(game.opponent + kind, game.share)

    def _new_optimiser(self) -> torch.optim.Adam:
        return torch.optim.Adam(
            self.network.parameters(), lr=self.config.learning_rate, eps=1e-5, fused=True
        )

    def _left(self, share: float) -> float:
        """The share that is left now of what falls evenly to a share of itself."""
        return 1.0 - (1.0 - share) * self.progress()

    def _learning_rate(self) -> float:
        """Adam's step size in this update."""
        config = self.config
        rate = config.learning_rate * self._left(config.final_rate)
        begun = self.updates + 1 - self.value_updates
        return rate * min(begun / config.warm_up, 1.0) if begun > 0 and config.warm_up else rate

    @property
    def value_updates(self) -> int:
        """Updates in the beginning that train the values alone; values that another run has trained
        don't need any.
        """
        return 0 if self.prior is None or self.config.start else self.config.value_updates

    def _only_value(self) -> bool:
        return self.updates < self.value_updates

    # ---- improving ----

    def _improve(self, batch: Batch) -> dict[str, float]:
        """Some passes of gradient steps over a batch."""
        config, number = self.config, len(batch)
        if self.updates == self.value_updates > 0:
            # Adam's averages know the policy's gradients as 0 so far, which would make its first
            # steps far too long.
            self.optimiser = self._new_optimiser()
        self.optimiser.param_groups[0]["lr"] = self._learning_rate()
        self._anneal_prior()
        if number < 2:  # few steps, and no seat decided twice within them
            return {}
        weight = batch.weight / batch.weight.mean()
        unexplained = variance(batch.advantage, weight) / variance(
            batch.target[:, 0], weight
        ).clamp(1e-9)
        batch = replace(batch, weight=weight, advantage=normalised(batch.advantage, weight))
        objective = self._objective()
        sums, steps = torch.zeros(3, device=self.device), 0
        for _ in range(config.epochs):
            order = torch.from_numpy(self.rng.permutation(number)).to(self.device)
            # All batches are of one size, for which PyTorch compiles its products once; what is
            # left over has its turn in others.
            for start in range(0, max(number - config.batch, 0) + 1, config.batch):
                sums += self._step(objective, batch, order[start : start + config.batch])
                steps += 1
            if float(sums[2]) > config.max_change * steps:
                break
        return {
            **dict(
                zip(("policy_loss", "value_loss", "change"), (sums / steps).tolist(), strict=True)
            ),
            "explained_variance": 1.0 - float(unexplained),
            "prior_weight": float(self.network.rest["prior_weight"].detach()),
        }

    @torch.no_grad()
    def _anneal_prior(self) -> None:
        """Let the prior's weight fall by what the training has progressed since the last update."""
        done, before = self.progress(), self.annealed
        left_before, left = (
            1.0 - (1.0 - self.config.final_prior) * part for part in (before, done)
        )
        self.network.rest["prior_weight"].mul_(left / left_before if left_before > 0 else 0.0)
        self.annealed = done

    def _objective(self) -> Objective:
        config = self.config
        return Objective(
            clip=config.clip,
            value_weight=config.value_weight,
            margin_weight=config.margin_weight,
            entropy=config.entropy * self._left(config.final_entropy),
            only_value=self._only_value(),
            bfloat16=self.bfloat16,
        )

    def _step(self, objective: Objective, batch: Batch, rows: torch.Tensor) -> torch.Tensor:
        """A gradient step on some decisions; the policy's loss, the value's, and how far the policy
        has changed.
        """
        assert self.actors is not None
        self.optimiser.zero_grad()
        pieces = rows.chunk(self.config.pieces if self.device.type == "cpu" else 1)
        told = self.actors.add_gradient(self.network, objective, batch, pieces)
        nn.utils.clip_grad_norm_(self.network.parameters(), self.config.max_gradient)
        self.optimiser.step()
        return told

    @torch.no_grad()
    def _average(self) -> None:
        """Let the mean of the weights follow them, the slower the longer the training
        (polynomial-decay averaging).
        """
        share = 1.0 / max(self.config.averaging * (self.updates + 1), 1.0)
        for mean, newest in zip(self.mean.parameters(), self.network.parameters(), strict=True):
            mean.lerp_(newest, share)

    # ---- files ----

    def frozen(self) -> ThingsNetwork:
        """The network with its mean weights, to play."""
        return self.mean.frozen(self.about())

    def about(self) -> dict[str, Any]:
        """What the network's file tells of it."""
        players = as_text(self.config.players)
        return {
            "description": f"trained by experiments/training/{self.PROGRAM}.py: {self.decisions:,} decisions, {players} players",
            "version": "1",
            "prior": self.config.prior,
            "prior_version": self.prior.version if self.prior else "",
            "players": players,
            "side": as_text(self.config.side),
            "reward": self.config.reward,
            "seed": self.config.seed,
            "decisions": self.decisions,
        }

    def model(self) -> bytes:
        """See :class:`experiments.training.runs.Run`."""
        return self.frozen().to_bytes()

    def pack(self) -> dict[str, Any]:
        """See :class:`experiments.training.runs.Run`."""
        assert self.actors is not None
        return {
            "network": self.network.state_dict(),
            "mean": self.mean.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "rng": self.rng,
            "annealed": self.annealed,
            "actors": self.actors.pack(),
        }

    def unpack(self, state: dict[str, Any]) -> None:
        """See :class:`experiments.training.runs.Run`."""
        self._prepare()
        self.network = self.config.make_network(started=False).to(self.device)
        self.network.load_state_dict(state["network"])
        self.mean = _copy(self.network)
        self.mean.load_state_dict(state["mean"])
        self.optimiser = self._new_optimiser()
        self.optimiser.load_state_dict(state["optimiser"])
        self.rng, self.annealed = state["rng"], state["annealed"]
        self._warm_up()
        self.actors = begin_actors(self.config, self.network, state["actors"])

    def settle(self) -> None:
        """Wait until nobody plays for the next update."""
        assert self.actors is not None
        self.actors.wait()

    def end(self) -> None:
        """See :class:`experiments.training.runs.Run`."""
        if self.actors is not None:
            self.actors.end()


def _copy(network: PolicyNetwork) -> PolicyNetwork:
    """The same network once more, on the same device."""
    return copy.deepcopy(network).requires_grad_(False)


def mean_figures(rollouts: Sequence[Rollout]) -> dict[str, float]:
    """The figures of rollouts, by how many decisions each stands for."""
    weights = np.array([max(rollout.decisions, 1) for rollout in rollouts], np.float64)
    return {
        name: float(np.average([rollout.figures[name] for rollout in rollouts], weights=weights))
        for name in rollouts[0].figures
    }


def variance(values: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The variance of values of which each counts so often, weights of mean 1."""
    return (weight * (values - (weight * values).mean()).square()).mean()


def normalised(values: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The same with mean 0 and variance 1."""
    return (values - (weight * values).mean()) / (variance(values, weight).sqrt() + 1e-8)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code, see :func:`experiments.training.runs.program`."""
    return program(Training, Config, "Train an agent by self-play.", arguments)


if __name__ == "__main__":
    from experiments.training import (
        # by its own name: checkpoints refer to its classes, and must not look for them in __main__
        train,
    )

    sys.exit(train.main())
