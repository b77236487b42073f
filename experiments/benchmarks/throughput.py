"""The speed of training."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger

from experiments.figures import Figure, Scale, seconds
from experiments.training.config import Config
from experiments.training.train import Training
from skyenv.envs.sb3 import SkyenvVecEnv

Update = Callable[[], int]
"""Makes an update and returns the learner's decisions in it."""


def throughput(scale: Scale) -> Iterator[Figure]:
    """The learner's decisions per second in whole updates (playing, opponents, learning) of the
    trainer with its defaults, without and with a prior, in one process and in two, and of
    sb3-contrib's MaskablePPO with as many games, decisions, opponents and units, 2 players, front
    side. The trainers take turns, an update each; the first of each doesn't count. The trainer
    counts choices, and learns from one in four of those that its policy was sure of; MaskablePPO
    counts forced moves, too (one in thirteen), and learns from all.
    """
    with ExitStack() as until:
        updates = {
            "MaskablePPO": baseline(scale),
            "trainer": trainer(scale, "", 1, until),
            "trainer, prior greedy": trainer(scale, "greedy", 1, until),
            "trainer, prior greedy, 2 processes": trainer(scale, "greedy", 2, until),
        }
        plays = {name: partial(pace, update) for name, update in updates.items()}
        yield from scale.in_turns("decisions/s", plays)


def pace(update: Update) -> float:
    """Return the decisions per second of an update."""
    done: list[int] = []
    spent = seconds(lambda: done.append(update()))
    return done[0] / spent


def trainer(scale: Scale, prior: str, processes: int, until: ExitStack) -> Update:
    """Return an update of this project's trainer, whose processes end with `until`."""
    config = Config(
        decisions=10**12,
        games=max(8, scale.of(Config.games)),
        batch=max(64, scale.of(Config.batch)),
        prior=prior,
        processes=processes,
        value_updates=0,
        paired_seeds=0,
    )
    config.check()
    training = Training(config)
    until.callback(training.end)
    training.begin()

    def update() -> int:
        before = training.decisions
        training.update()
        training.settle()  # decisions that are played ahead belong to this turn
        return training.decisions - before

    return update


def baseline(scale: Scale) -> Update:
    """Return an update of MaskablePPO."""
    torch.set_num_threads(1)
    games = max(8, scale.of(Config.games))
    env = SkyenvVecEnv(games, opponents=Config.fixed_opponents, one_opponent=True)
    policy = {"net_arch": [Config.hidden, Config.hidden // 2], "activation_fn": torch.nn.ReLU}
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=Config.steps,
        batch_size=max(64, scale.of(Config.batch)),
        n_epochs=Config.epochs,
        device="cpu",
        policy_kwargs=policy,
    )
    model.set_logger(Logger(None, []))

    def update() -> int:
        decisions = games * Config.steps
        model.learn(decisions, reset_num_timesteps=False, log_interval=10**9)
        return decisions

    return update
