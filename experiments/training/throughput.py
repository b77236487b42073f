"""How fast does it train? ``python -m experiments.training.throughput --players 2``.

Our trainer (:mod:`experiments.training.train`) with its defaults, without and with a prior, in one
process and in several, and sb3-contrib's MaskablePPO with as many games, decisions, opponents and
units of the network. Method: after some updates of each that don't count (they compile, and games
get to their middle), they take turns, some updates each, so that a machine that is busy for a while
slows all of them down. Whoever doesn't have its turn waits: processes that play ahead have ended
their rollouts when a turn begins and when it ends, so that as many rollouts are played in it as are
learned from. A figure is the median over the rounds of the learner's decisions per second, whole
updates counted: playing, opponents and learning. "times" is the median of the rounds' ratios to
MaskablePPO, and of several processes to one.

Ours counts choices, and learns from one in four of those that the policy was sure of; MaskablePPO
counts forced moves, too (one in thirteen), and learns from all. In our trainer, with its defaults,
all seats learn in two of five games, in the others one to all but one, so that most decisions are
the learner's; MaskablePPO has one seat of every game. The network's own arithmetic is the same for
all, so a wide one hides what they differ in; ``--hidden`` sets it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger

from experiments.benchmarks.figures import Figure, figure, machine, shown
from experiments.training.processor import use_processor
from experiments.training.recipe import Config
from experiments.training.train import Training
from skyenv.commands import exit_code
from skyenv.envs.sb3 import SkyenvVecEnv
from skyenv.files import write_atomically
from skyenv.options import Options, common, option, parse
from skyenv_agents.learned.networks import HEURISTICS

BASELINE: Final = "MaskablePPO"
METHOD: Final = (
    "decisions of the learner per second, median of rounds in which the trainers take turns"
)

Trainer = Callable[[int], int]
"""Makes so many updates, and returns how many decisions of the learner those stand for."""


@dataclass(frozen=True)
class ThroughputConfig(Options):
    """What is compared."""

    players: int = common("players")
    side: str = common("side")
    rounds: int = option(7, "turns of each trainer that count", low=1, metavar="N")
    updates: int = option(4, "updates in each turn", low=1, metavar="N")
    warm_up: int = option(2, "updates of each before that", metavar="N")
    hidden: int = option(Config.hidden, "width of the network", low=1, metavar="N")
    blocks: int = option(Config.blocks, "residual blocks of the trainer's network", metavar="N")
    thing: int = option(
        Config.thing,
        "units of the trainer's network for each district, colour and seat",
        low=1,
        metavar="N",
    )
    games: int = option(Config.games, "games played side by side", low=2, metavar="N")
    batch: int = option(Config.batch, "decisions in one gradient step", low=1, metavar="N")
    prior: str = option("greedy", "prior of the trainers that have one", choices=tuple(HEURISTICS))
    processes: tuple[int, ...] = option(
        (1, 2), "with how many processes the trainer with the prior runs", low=1, metavar="N"
    )
    precision: str = option(
        Config.precision, "of the trainer's network", choices=("auto", "float32", "bfloat16")
    )
    fixed_opponents: tuple[str, ...] = option(Config.fixed_opponents, "opponents", metavar="AGENT")
    threads: int = common("threads")
    seed: int = common("seed", high=2**32 - 1)
    json: Path | None = common("json")


def ours(config: ThroughputConfig, prior: str, processes: int, until: ExitStack) -> Trainer:
    """Our trainer, with its defaults; its processes end with `until`."""
    training = Training(
        Config(
            players=(config.players,),
            side=(config.side,),
            decisions=10**12,
            hidden=config.hidden,
            blocks=config.blocks,
            thing=config.thing,
            games=config.games,
            batch=config.batch,
            threads=config.threads,
            seed=config.seed,
            fixed_opponents=config.fixed_opponents,
            prior=prior,
            value_updates=0,
            paired_seeds=0,
            processes=processes,
            precision=config.precision,
        )
    )
    training.config.check()
    until.callback(training.end)
    training.begin()

    def update(number: int) -> int:
        before = training.decisions
        for _ in range(number):
            training.update()
        training.settle()  # what is played ahead belongs to this turn
        return training.decisions - before

    return update


def baseline(config: ThroughputConfig) -> Trainer:
    """MaskablePPO on as many games, with as many units, of which policy and value share none."""
    use_processor(config.threads)
    env = SkyenvVecEnv(
        config.games,
        config.players,
        config.side,
        opponents=config.fixed_opponents,
        one_opponent=True,
        threads=config.threads,
    )
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=Config.steps,
        batch_size=config.batch,
        n_epochs=Config.epochs,
        seed=config.seed,
        device="cpu",
        policy_kwargs={
            "net_arch": [config.hidden, max(config.hidden // 2, 1)],
            "activation_fn": torch.nn.ReLU,
        },
    )
    model.set_logger(Logger(None, []))  # tells nobody

    def update(number: int) -> int:
        decisions = number * config.games * Config.steps
        model.learn(decisions, reset_num_timesteps=False, log_interval=10**9)
        return decisions

    return update


def compare(
    trainers: Mapping[str, Trainer],
    warm_up: int,
    rounds: int,
    updates: int = 1,
    pairs: Sequence[tuple[str, str]] = (),
) -> list[Figure]:
    """Decisions per second of each, and how many times the baseline's that is.

    Args:
        trainers: by name, with the baseline.
        warm_up: updates of each that don't count. rounds: turns that do. updates: in each turn.
        pairs: others that are compared as they are with the baseline, the first with the second.
    """
    for update in trainers.values():
        if warm_up:
            update(warm_up)
    paces: dict[str, list[float]] = {name: [] for name in trainers}
    for _ in range(rounds):
        for name, update in trainers.items():
            started = time.perf_counter()
            decisions = update(updates)
            paces[name].append(decisions / (time.perf_counter() - started))
    figures = [figure(name, "decisions/s", pace) for name, pace in paces.items()]
    for name, reference in [*((name, BASELINE) for name in trainers if name != BASELINE), *pairs]:
        ratios = [mine / other for mine, other in zip(paces[name], paces[reference], strict=True)]
        figures.append(figure(f"{name}, as against {reference}", "times", ratios))
    return figures


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code: 0 all right, 1 a file is bad, 2 the command is, 130
    interrupted.
    """

    def run() -> int:
        description = "Compare the trainer's speed with MaskablePPO's on this machine."
        config = parse(ThroughputConfig, "experiments.training.throughput", description, arguments)
        with ExitStack() as until:
            trainers = {BASELINE: baseline(config), "trainer": ours(config, "", 1, until)}
            alone = f"trainer, prior {config.prior}"
            names = {
                number: alone if number == 1 else f"{alone}, {number} processes"
                for number in config.processes
            }
            for number, name in names.items():
                trainers[name] = ours(config, config.prior, number, until)
            pairs = [(name, alone) for number, name in names.items() if number > 1 and 1 in names]
            figures = compare(trainers, config.warm_up, config.rounds, config.updates, pairs)
        print("\n".join(shown(one) for one in figures))
        if config.json:
            packages = {
                name: version(name) for name in ("torch", "stable-baselines3", "sb3-contrib")
            }
            about = {
                "machine": {**machine(), **packages},
                "method": METHOD,
                "options": asdict(config),
            }
            content = {**about, "figures": [asdict(one) for one in figures]}
            write_atomically(
                config.json, json.dumps(content, indent=2, ensure_ascii=False, default=str) + "\n"
            )
        return 0

    return exit_code("throughput", run)


if __name__ == "__main__":
    sys.exit(main())
