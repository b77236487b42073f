"""What a training is asked for, and what is made of that: the network, the opponents, and what
plays.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import numpy as np
import torch

from experiments.training.config import RunConfig
from experiments.training.network import PolicyNetwork
from experiments.training.rollouts import Batch, Collector
from experiments.training.runs import PAST
from experiments.training.seating import Tables
from skyenv.engine.kernels import REWARDS
from skyenv.errors import OptionError
from skyenv.options import as_text, option
from skyenv.seeds import TRAINING
from skyenv_agents.learned.architecture import Sizes
from skyenv_agents.learned.layout import used_inputs
from skyenv_agents.learned.networks import (
    HEURISTICS,
    WORST_PRIOR,
    Network,
    heuristic_of,
)
from skyenv_agents.learned.pool import SAMPLINGS, OpponentPool

PRECISIONS: Final = ("auto", "float32", "bfloat16")
SEEDS_APART: Final = 10**9
"""Between the seeds of two kinds of tables: more games than a run plays."""
PRIOR_WEIGHT: Final = 6.0
"""Of a new network's prior, unless another one is asked for."""
MOST: Final = 10**7
"""Of whatever is counted."""


def fixed(value: Any) -> Any:
    """An option of the trainer that follows from the task: nobody is asked for it."""
    return field(default=value, init=False)


@dataclass(frozen=True)
class Config(RunConfig):
    """The options of a training."""

    BATCH: ClassVar[type[Batch]] = Batch
    """What is learned from."""
    LEARNERS_PART: ClassVar[int] = 4
    """With one other process the learner plays one in so many games; the other helps it to learn
    when it has played its own.
    """
    MOST_PIECES: ClassVar[int] = 4
    """Gradient steps are computed in at most so many pieces: small ones take longer for each
    decision.
    """

    reward: str = option(
        "outcome", "what is learned from (see docs/environments.md)", choices=REWARDS
    )
    games: int = option(
        512, "games played side by side, of all kinds of tables together", low=1, high=MOST
    )
    steps: int = option(64, "decisions in each of them between updates", low=1, high=MOST)
    batch: int = option(1024, "decisions in one gradient step", low=1, high=MOST)
    sure_share: float = option(
        0.25,
        "share of the decisions in which the policy is sure (99 %) that are learned from, with a "
        "weight for the others",
        above=True,
        high=1,
    )
    epochs: int = option(2, "passes over the decisions of an update", low=1, high=MOST)
    learning_rate: float = option(2e-3, "Adam's step size at the beginning", above=True, high=1)
    final_rate: float = option(
        0.1, "share of it that is left at the end; in between it falls evenly", high=1
    )
    warm_up: int = option(
        10, "updates in which the step size of a beginning policy rises to that; 0: none", high=MOST
    )
    gamma: float = option(1.0, "discount of a decision", above=True, high=1)
    gae_lambda: float = option(0.95, "lambda of the advantage estimate", high=1)
    clip: float = option(
        0.2,
        "how far the probability of an action may change in an update, as a share",
        above=True,
        high=1,
    )
    max_change: float = option(
        0.03,
        "an update ends after the pass in which the policy has changed by more than that (its "
        "divergence, nats)",
        above=True,
    )
    entropy: float = option(0.005, "weight of the entropy bonus at the beginning")
    final_entropy: float = option(
        1.0, "share of it that is left at the end; in between it falls evenly", high=1
    )
    value_weight: float = option(0.5, "weight of the value's squared error")
    margin_weight: float = option(
        0.1,
        "weight of the squared error of how far ahead in VP the seat will be, an auxiliary target",
    )
    max_gradient: float = option(0.5, "longest gradient; longer ones are shortened", above=True)
    averaging: float = option(
        0.05,
        "a: the agent has a mean of the weights in which the k-th of n updates counts (k/n)^(1/a)",
        high=1,
    )
    start: str = option("", "network file (model.npz) to start from", metavar="FILE")
    hidden: int = option(128, "units of the network's trunk", low=1, high=MOST)
    blocks: int = option(2, "residual blocks of the trunk", high=MOST)
    thing: int = option(32, "units for each district, colour and seat", low=1, high=MOST)
    prior: str = option(
        "",
        "heuristic agent whose scores the policy starts from and sees",
        choices=("", *HEURISTICS),
    )
    prior_weight: float | None = option(
        None,
        "what the prior's scores, in VP, are multiplied with at the beginning"
        f" (default: {PRIOR_WEIGHT:g}; with --start as it was)",
    )
    prior_floor: float | None = option(
        None,
        "the policy begins with no action held to be worse than the best one by more VP than this"
        f" (default: {WORST_PRIOR:g}; with --start as it was)",
        high=WORST_PRIOR,
    )
    final_prior: float = option(
        1.0, "share of that weight that is left at the end, beside what is learned of it", high=1
    )
    value_updates: int = option(
        10,
        "of a new network with a prior: updates in the beginning that train the values alone",
        high=MOST,
    )
    opponent_share: float = option(
        0.6, "share of the games with opponents; 0: self-play alone", high=1
    )
    mixed_share: float = option(
        0.5,
        "share of those in which the learner has one seat or more, and each other's opponent is "
        "drawn",
        high=1,
    )
    fixed_opponents: tuple[str, ...] = option(
        ("random", "greedy"), "opponents that stay", metavar="AGENT"
    )
    fixed_share: float = option(
        0.85, "share of the opponents that are fixed; the others are past policies", high=1
    )
    sampling: str = option("hard", "how opponents are drawn", choices=SAMPLINGS)
    past_policies: int = option(8, "past policies in the pool of opponents", high=MOST)
    snapshot: int = option(100, "updates between two past policies", low=1, high=MOST)
    device: str = option(
        "auto",
        "where the network learns; auto: cuda if there is one",
        choices=("auto", "cpu", "cuda"),
    )
    precision: str = option(
        "auto",
        "in which the network computes; small batches are in float32 anyway; auto: bfloat16 where "
        "the processor or the GPU"
        " has it",
        choices=PRECISIONS,
    )
    processes: int = option(
        1,
        "1: one process plays and learns in turns; more: one learns while the others play for its "
        "next update, and help it then",
        low=1,
        high=1024,
    )

    def check(self) -> None:
        """Raise OptionError, naming the option, if options don't fit together or name what isn't
        there.
        """
        super().check()
        if any(opponent.name.startswith(f"{PAST}-") for opponent in self.make_pool().fixed):
            raise OptionError(
                f"fixed_opponents must not be called {PAST}-…, as past policies are: "
                f"{as_text(self.fixed_opponents)}"
            )
        least = len(self.tables) * self.parts
        if self.games < least:
            raise OptionError(
                f"games must be at least {least}, one for each kind of table in each process that "
                "plays"
            )
        if self.ray is not None and self.processes == 1:
            raise OptionError("ray needs processes above 1: so many play, less the one that learns")
        if self.opponent_share and not self.fixed_opponents and not self.past_policies:
            raise OptionError("opponent_share above 0 needs fixed_opponents or past_policies")
        if self.device == "cuda" and not torch.cuda.is_available():
            raise OptionError("device cuda is not available here; cpu is")
        self.make_network(started=not self.resume)

    def make_pool(self) -> OpponentPool:
        """The pool as it is at the beginning.

        Raises:
            OptionError: a fixed opponent doesn't exist, or two have one name. CheckpointError: a
                checkpoint among them can't be used.
        """
        fixed = self.make_agents("fixed_opponents")
        try:
            return OpponentPool(fixed, self.fixed_share, self.past_policies, self.sampling)
        except OptionError as error:
            raise OptionError(f"fixed_opponents: {error}") from error

    def make_network(self, started: bool = True) -> PolicyNetwork:
        """The network as it is at the beginning; not `started`: with weights that will be replaced.

        Raises:
            OptionError: it can't be started from the network that `start` names. CheckpointError:
                there is no such network.
        """
        with torch.random.fork_rng(devices=[]):  # PyTorch's own generator stays as it is
            torch.manual_seed(self.seed)
            network = PolicyNetwork(Sizes(self.hidden, self.blocks, self.thing), PRIOR_WEIGHT)
        if self.start and started:
            start = Network.load(self.start)
            if start.about.get("prior") != self.prior:
                raise OptionError(
                    f"{self.start} was trained with the prior {start.about.get('prior')!r}, not "
                    f"{self.prior!r}"
                )
            network.take(start)
        network.set_prior(
            self.prior_weight if self.prior else 0.0,
            None if self.prior_floor is None else -self.prior_floor,
        )
        return network

    @property
    def parts(self) -> int:
        """Into how many parts the games are shared out: one for every process that plays; with two
        processes both do.
        """
        return max(self.processes - 1, min(self.processes, 2))

    @property
    def pieces(self) -> int:
        """Pieces in which gradient steps are computed on the processor, for processes that have
        nothing to play to help.
        """
        return (
            min(self.processes, self.MOST_PIECES) if self.threads == 1 else 1
        )  # several threads sum in another order

    def split(self, number: int) -> list[int]:
        """So many games of one kind shared out among the parts."""
        if self.processes == 2:
            own = max(number // self.LEARNERS_PART, 1)
            return [number - own, own]
        return [len(part) for part in np.array_split(np.arange(number), self.parts)]

    def games_of(self, part: int) -> int:
        """Games side by side in one of the parts."""
        return sum(self.split(number)[part] for number, _, _ in self.shares(self.games))

    @property
    def inputs(self) -> int:
        """How many inputs the network is shown."""
        return len(used_inputs(max(self.players), bool(self.prior)).codes)

    def room_of(self, part: int) -> int:
        """Bytes of the largest batch of one of the parts: a decision for each step, and one that
        each seat had left open.
        """
        return self.BATCH.room((self.steps + max(self.players)) * self.games_of(part), self.inputs)

    def make_collector(self, part: int) -> Collector:
        """What plays one of the parts, before its first decision.

        Args:
            part: which one, from 0.
        """
        return Collector(*self._collecting(part))

    def _kinds(self, part: int) -> list[tuple[int, int, str, int]]:
        """For each kind of tables in one of the parts how many games there are, their players, side
        and first seed.
        """
        kinds = []
        for i, (number, players, side) in enumerate(self.shares(self.games)):
            apart = ((self.seed * len(self.tables) + i) * self.parts + part) * SEEDS_APART
            kinds.append(
                (
                    self.split(number)[part],
                    players,
                    side,
                    TRAINING.start + apart % (len(TRAINING) - SEEDS_APART),
                )
            )
        return kinds

    def _spread_tables(self, part: int) -> list[Tables]:
        """The tables of one of the parts, their games anywhere in their course."""
        found = []
        for number, players, side, seed in self._kinds(part):
            how: dict[str, Any] = {
                "threads": self.threads,
                "max_turns": self.max_turns,
                "reward": self.reward,
            }
            tables = Tables(number, players, side, seed, **how)
            tables.spread(np.random.default_rng(seed))
            found.append(tables)
        return found

    def _collecting(self, part: int) -> tuple[Any, ...]:
        """What a collector of one of the parts is made of."""
        parts = self.parts
        return (
            self._spread_tables(part),
            self.make_pool(),
            heuristic_of(self.prior),
            self.steps,
            self.opponent_share,
            self.gamma,
            self.gae_lambda,
            self.seed * parts + part,
            self.sure_share,
            self.is_bfloat16("cpu"),
            self.mixed_share,
        )

    def is_bfloat16(self, device: str) -> bool:
        """Whether the network computes in bfloat16 on a device."""
        if self.precision != "auto":
            return self.precision == "bfloat16"
        if device == "cuda":
            return bool(torch.cuda.is_bf16_supported())
        able: dict[str, Any] = getattr(
            torch.cpu, "get_capabilities", dict
        )()  # older versions of PyTorch can't tell
        return bool(able.get("avx512_bf16") or able.get("amx_bf16"))
