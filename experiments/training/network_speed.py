"""How long does a network take? ``python -m experiments.training.network_speed`` times steps and
looks, in microseconds.

A *look* is what playing takes of the network: log-probabilities and values. A *gradient step* is
one of the trainer's without its losses' details: a look, the gradients, and a step of Adam.
Decisions are random numbers in the form of real ones, 4,096 in a batch; the networks are new, with
a prior's inputs.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

import torch
from torch import nn

from experiments.benchmarks.figures import Figure, figure, report, seconds
from experiments.training.network import PolicyNetwork, in_precision
from experiments.training.processor import use_processor
from experiments.training.recipe import PRIOR_WEIGHT, Config
from skyenv.rules.actions import NUM_ACTIONS
from skyenv_agents.learned.architecture import VALUES, Sizes
from skyenv_agents.learned.layout import INPUTS

METHOD: Final = "wall time of a batch of 4,096 decisions (--quick: 512), by decision, one thread; median after two that don't count"
BATCH: Final = 4096
REPEATS: Final = 15
WARM_UP: Final = 2
SIZES: Final = (
    Sizes(64, 1, 16),
    Sizes(Config.hidden, Config.blocks, Config.thing),
    Sizes(256, 2, 32),
)
LEGAL: Final = 0.1
"""Share of the actions that are legal, and of the inputs that aren't 0."""


class Learner:
    """A new network, and decisions for it.

    Args:
        sizes: of the network. bfloat16: whether it computes in that precision. number: of
            decisions.
    """

    def __init__(self, sizes: Sizes, bfloat16: bool, number: int = BATCH) -> None:
        chance = torch.Generator().manual_seed(1)
        self.bfloat16 = bfloat16
        self.network = PolicyNetwork(sizes, PRIOR_WEIGHT)
        self.optimiser = torch.optim.Adam(
            self.network.parameters(), lr=Config.learning_rate, fused=True
        )
        codes = torch.randint(-100, 100, (number, len(INPUTS)), generator=chance)
        self.codes = (codes * (torch.rand(codes.shape, generator=chance) < LEGAL)).to(torch.int16)
        self.masks = torch.rand((number, NUM_ACTIONS), generator=chance) < LEGAL
        self.action = torch.randint(NUM_ACTIONS, (number, 1), generator=chance)
        self.masks.scatter_(1, self.action, True)
        self.target = torch.randn((number, VALUES), generator=chance)

    @torch.no_grad()
    def look(self) -> None:
        """Ask about all decisions."""
        with in_precision("cpu", self.bfloat16):
            self.network(self.codes, self.masks)

    def step(self) -> None:
        """Learn from all decisions."""
        with in_precision("cpu", self.bfloat16):
            log_probabilities, values = self.network(self.codes, self.masks)
        loss = (values - self.target).square().mean() - log_probabilities.gather(
            1, self.action
        ).mean()
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), Config.max_gradient)
        self.optimiser.step()


def timed(
    sizes: Sizes, bfloat16: bool, number: int = BATCH, repeats: int = REPEATS
) -> list[Figure]:
    """A network's gradient step and look."""
    learner = Learner(sizes, bfloat16, number)
    weights = sum(weight.numel() for weight in learner.network.parameters())
    name = (
        f"{sizes.trunk} units, {sizes.blocks} blocks, {sizes.thing} a thing ({weights:,} weights)"
    )
    precision = "bfloat16" if bfloat16 else "float32"
    figures = []
    for what, action in (("step", learner.step), ("look", learner.look)):
        times = [1e6 * seconds(action) / number for _ in range(WARM_UP + repeats)][WARM_UP:]
        figures.append(figure(f"{name}, {precision}: {what}", "µs/decision", times))
    return figures


def all_figures(quick: bool) -> list[Figure]:
    """All sizes in both precisions, where the processor has both."""
    use_processor(1)
    precisions = (False, True) if Config().is_bfloat16("cpu") else (False,)
    number, repeats = (BATCH // 8, 3) if quick else (BATCH, REPEATS)
    return [
        one
        for sizes in SIZES
        for bfloat16 in precisions
        for one in timed(sizes, bfloat16, number, repeats)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    about = "Time what a training's networks take."
    return report(
        "network_speed",
        about,
        METHOD,
        all_figures,
        arguments,
        ("torch",),
        package="experiments.training",
    )


if __name__ == "__main__":
    sys.exit(main())
