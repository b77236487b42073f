"""Best responses to a frozen agent: ``python -m experiments.training.best_response --target greedy
--players 2 --minutes 30``.

Trains a best response: the trainer (:mod:`experiments.training.train`) learns against the frozen
target alone, which has all other seats. What the response wins beyond its par, in paired seeds that
it has not trained on, is a lower bound of the target's exploitability: a better response may win
more. With ``--start`` the response begins as a network that plays already, such as the target
itself.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from experiments.training.config import Config, fixed
from experiments.training.program import program
from experiments.training.train import Training
from skyenv.console.options import Help, common, option
from skyenv.errors import OptionError, shown


@dataclass(frozen=True)
class BestResponseConfig(Config):
    """The trainer's options, and the agent to respond to."""

    target: str = option(
        "greedy", "the agent to respond to", metavar="AGENT", section="best response"
    )
    run: str = option(
        "runs/best-response", "folder of the run", metavar="FOLDER", section="the run"
    )
    paired_seeds: int = common(
        "paired_seeds",
        default=1000,
        text="paired seeds of the closing evaluation, each played once from every seat; 0: none",
        low=0,
        section="closing evaluation",
    )
    opponent_share: float = fixed(1.0)
    mixed_share: float = fixed(0.0)
    fixed_opponents: tuple[str, ...] = fixed(())
    fixed_share: float = fixed(1.0)
    sampling: str = fixed("uniform")
    past_policies: int = fixed(0)
    snapshot: int = fixed(1)
    against: tuple[str, ...] = fixed(())

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.target:
            raise OptionError(f"target must be an agent, not {shown(self.target)}")
        object.__setattr__(self, "fixed_opponents", (self.target,))
        object.__setattr__(self, "against", (self.target,))


class BestResponse(Training):
    """A best response in training."""

    PROGRAM = "best_response"
    config: BestResponseConfig

    @cached_property
    def target_version(self) -> str:
        """Version of the target, stored because its name may later mean another agent."""
        return self.config.make_agents("against")[0].version

    def about(self) -> dict[str, Any]:
        """See :meth:`experiments.training.train.Training.about`."""
        return super().about() | {
            "target": self.config.target,
            "target_version": self.target_version,
        }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    what, example = "train a best response against a frozen agent", "--target greedy --minutes 10"
    told = Help(what, example, "docs/training.md#best-responses")
    return program(BestResponse, BestResponseConfig, told, arguments)


if __name__ == "__main__":
    sys.exit(main())
