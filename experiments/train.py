"""Train with MaskablePPO by self-play: ``python -m experiments.train --run runs/first --players 2 --minutes 5``.

MaskablePPO (sb3-contrib) learns one seat of every game, which rotates. All other seats of an episode have one opponent, drawn
from a pool of scripted anchors and frozen earlier selves. Options, folder, checkpoints, Ctrl-C and resuming are in
:mod:`experiments.runs`. What is written as ``model.zip`` plays as an agent by this path.

Beside the lean trainer (:mod:`experiments.ppo`), whose options have the same names where they mean the same, its ``opponents``
would always be 1 here: the learner never has all seats.
"""

from __future__ import annotations

import io
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger

from agents.network import Trunk
from agents.policy import PolicyAgent
from experiments.commands import exit_code
from experiments.runs import SELF, LeagueConfig, Run, launch, option, parse
from skyenv.agents import Agent, RandomAgent, decide
from skyenv.envs.sb3 import MixedVecEnv, SkyenvVecEnv
from skyenv.errors import OptionError
from skyenv.games import Games, check_choice, results
from skyenv.kernels import REWARDS
from skyenv.rules.actions import NUM_ACTIONS, PASS

NEVER: Final = 10**9
"""SB3 shall not log by itself: the run does."""


FIRST: Final = np.arange(1)


@dataclass(frozen=True)
class Config(LeagueConfig):
    """The options of a training."""

    reward: str = option("margin", "what is learned from: outcome, margin or points (see the README)", REWARDS)
    environments: int = option(256, "games played side by side, of all kinds of tables together")
    steps: int = option(64, "decisions of the learner in each of them between updates")
    batch: int = option(2048, "decisions in one gradient step")
    epochs: int = option(4, "passes over the decisions of an update")
    learning_rate: float = option(5e-4, "Adam's step size")
    gamma: float = option(0.999, "discount of a decision")
    gae_lambda: float = option(0.95, "lambda of the advantage estimate")
    clip: float = option(0.2, "how far the probability of an action may change in an update, as a share")
    entropy: float = option(0.01, "weight of the entropy bonus")
    value_weight: float = option(0.5, "weight of the value's squared error")
    max_gradient: float = option(0.5, "longest gradient; longer ones are shortened")
    hidden: int = option(256, "width of the shared layer; policy and value each have one more of half the width")

    def check(self) -> None:
        """Raise OptionError, naming the option, if a value can't be used."""
        super().check()
        check_choice("reward", self.reward, REWARDS)
        self.check_integers(1, 10**7, "environments", "steps", "batch", "epochs", "hidden")
        self.check_numbers(0.0, 1.0, "learning_rate", "gamma", "gae_lambda", "clip", above=True)
        self.check_numbers(0.0, float("inf"), "entropy", "value_weight")
        self.check_numbers(0.0, float("inf"), "max_gradient", above=True)
        if self.environments < len(self.tables):
            raise OptionError(f"environments must be at least {len(self.tables)}, one for each kind of table")
        if not self.anchors and not self.selves:
            raise OptionError("there must be opponents: anchors or selves")
        if self.environments * self.steps % self.batch:
            raise OptionError(
                f"batch must divide environments · steps = {self.environments * self.steps}, which {self.batch} doesn't"
            )


class Watcher(BaseCallback):
    """Hands the infos of finished episodes to a function, with the row."""

    def __init__(self, note: Callable[[int, dict[str, Any]], None]) -> None:
        super().__init__()
        self.note = note

    def _on_step(self) -> bool:
        for row in np.flatnonzero(self.locals["dones"]).tolist():
            self.note(row, self.locals["infos"][row])
        return True


class Training(Run[Config]):
    """A training run: SB3's model, the tables, the opponents."""

    KIND = "train"
    MODEL = "model.zip"

    def begin(self) -> None:
        """Make everything new."""
        config = self.config
        torch.set_num_threads(config.threads)
        self.pool = config.make_pool()
        warm_up(config, self.pool.anchors)
        self.env = tables(config)
        self.learner = MaskablePPO(
            "MlpPolicy",
            self.env,
            n_steps=config.steps,
            batch_size=config.batch,
            n_epochs=config.epochs,
            learning_rate=config.learning_rate,
            gamma=config.gamma,
            gae_lambda=config.gae_lambda,
            clip_range=config.clip,
            ent_coef=config.entropy,
            vf_coef=config.value_weight,
            max_grad_norm=config.max_gradient,
            policy_kwargs={
                "features_extractor_class": Trunk,
                "features_extractor_kwargs": {"width": config.hidden},
                "net_arch": [config.hidden // 2],
                "activation_fn": torch.nn.ReLU,
            },
            seed=config.seed,
            device="cpu",
        )
        # SB3 has just seeded the environments, a part from each other of its own accord; the run's seed counts.
        self.env.seed(config.seed)
        if not self.pool.agents:
            self._freeze()
        self._prepare()

    def _prepare(self) -> None:
        """What is the same for a new run and one that goes on."""
        self.learner.set_logger(Logger(None, []))  # collects what SB3 tells, and writes nothing
        self.labels = [
            "" if len(self.config.tables) == 1 else f", {players} players, {side}"
            for size, players, side in self.config.shares(self.config.environments)
            for _ in range(size)
        ]

    def learn(self) -> dict[str, float]:
        """Collect a rollout and learn from it; now and then freeze a self."""
        config = self.config
        self.env.set_opponents(self.pool.agents, self.pool.weights().tolist())
        rollout = config.environments * config.steps
        self.learner.learn(rollout, callback=Watcher(self._note), log_interval=NEVER, reset_num_timesteps=False)
        self.decisions = self.learner.num_timesteps
        if config.selves and (self.updates + 1) % config.snapshot == 0:
            self._freeze()
        return self._told()

    def _note(self, row: int, info: dict[str, Any]) -> None:
        """Take in a finished episode; its opponent has all other seats."""
        seat = info["seat"]
        self.episodes.note(info["decisions"], info["scores"][seat])
        opponent = info["opponents"][1 if seat == 0 else 0]
        self.episodes.note_share(opponent + self.labels[row], info["share"])
        self.pool.note(opponent, info["share"])

    def _freeze(self) -> None:
        number = self.updates + 1 if self.pool.agents else 0
        self.pool.add(PolicyAgent(self.learner.policy, name=f"{SELF}-{number}"))

    def _told(self) -> dict[str, float]:
        """What the curve shall tell of an update, from SB3's log and its buffer."""
        log = self.learner.logger.name_to_value
        buffer: Any = self.learner.rollout_buffer
        legal = buffer.action_masks.reshape(-1, NUM_ACTIONS) != 0
        actions = buffer.actions.reshape(-1).astype(np.int64)  # training has flattened both alike
        bidding = legal[:, PASS]
        return {
            "entropy": -float(log["train/entropy_loss"]),  # while it learns from the decisions, not as they were taken
            "passes": float((actions[bidding] == PASS).mean()) if bidding.any() else 0.0,
            "illegal": float((~legal[np.arange(actions.size), actions]).sum()),
            "explained_variance": float(log["train/explained_variance"]),
            "policy_loss": float(log["train/policy_gradient_loss"]),
            "value_loss": float(log["train/value_loss"]),
            "change": float(log["train/approx_kl"]),
        }

    # ---- files ----

    def model(self) -> bytes:
        """See :class:`experiments.runs.Run`."""
        file = io.BytesIO()
        self.learner.save(file)
        return file.getvalue()

    def pack(self) -> dict[str, Any]:
        """See :class:`experiments.runs.Run`."""
        return {
            "model": self.model(),
            "env_and_pool": (self.env, self.pool),  # together: the opponents at the tables are members of the pool
            "torch": torch.get_rng_state(),  # SB3 draws from the global generators
            "numpy": np.random.get_state(),
            "python": random.getstate(),
        }

    def unpack(self, state: dict[str, Any]) -> None:
        """See :class:`experiments.runs.Run`."""
        torch.set_num_threads(self.config.threads)
        self.env, self.pool = state["env_and_pool"]
        self.learner = MaskablePPO.load(io.BytesIO(state["model"]), env=self.env, device="cpu", force_reset=False)
        self._prepare()
        torch.set_rng_state(state["torch"])
        np.random.set_state(state["numpy"])
        random.setstate(state["python"])


def tables(config: Config) -> SkyenvVecEnv | MixedVecEnv:
    """The games of a run; opponents and seeds are still to be set."""
    parts = [
        SkyenvVecEnv(
            size,
            players,
            side,
            reward=config.reward,
            threads=config.threads,
            one_opponent=True,
            max_turns=config.max_turns,
        )
        for size, players, side in config.shares(config.environments)
    ]
    return parts[0] if len(parts) == 1 else MixedVecEnv(parts)


def warm_up(config: Config, anchors: Sequence[Agent]) -> None:
    """Compile what isn't on disk yet before the clock runs."""
    for players, side in config.tables:
        games = Games(2, players, side, seed=0, autoreset=False)
        for agent in [RandomAgent(), *anchors]:
            games.step(decide(games, agent))
        games.step(decide(games, RandomAgent(), FIRST), FIRST)
        games.observe(0, FIRST)
        games.reset(rows=FIRST)
        results(games.state)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code: 0 all right, 1 a file is bad, 2 the command is, 130 interrupted."""

    def run() -> int:
        config, resume = parse(Config, Training.KIND, "Train an agent with MaskablePPO by self-play.", arguments)
        return launch(Training(config), resume)

    return exit_code(Training.KIND, run)


if __name__ == "__main__":
    sys.exit(main())
