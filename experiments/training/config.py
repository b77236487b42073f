"""The options of every run, and what a run that is resumed was asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from skyenv.agents import Agent, make_agent
from skyenv.errors import AgentError, CheckpointError, OptionError
from skyenv.options import Options, as_text, common, option
from skyenv_agents.heuristic.references import perturbed

CONFIG: Final = "config.json"
DEFAULT_MINUTES: Final = 5.0


@dataclass(frozen=True)
class RunConfig(Options):
    """The options of a run.

    One that is limited by `decisions` on a CPU is reproduced by its seed, with as many processes
    and threads and in the same precision.
    """

    run: str = option("runs/first", "folder of the run", metavar="FOLDER")
    players: tuple[int, ...] = common(
        "players",
        default=(2,),
        text="number of players, 2 to 4; several, as in 2,3,4, make one agent for all of them",
    )
    side: tuple[str, ...] = common(
        "side", default=("front",), text="side of the board, or both: front,back"
    )
    minutes: float = common(
        "minutes",
        text="train and measure for about so many minutes; 0: no limit, or 5 if decisions don't limit it either",
    )
    decisions: int = option(
        0, "train for so many decisions of the learner; 0: no limit", high=10**12, metavar="N"
    )
    seed: int = common("seed", high=2**32 - 1)
    max_turns: int = common("max_turns", high=10**7)
    checkpoint_seconds: float = option(60.0, "seconds between two checkpoints")
    milestone_minutes: float = option(
        0.0,
        "minutes of training between two milestones: agents that are kept, to be measured later; "
        "0: none are",
        metavar="M",
    )
    against: tuple[str, ...] = common(
        "against", text="whom the agent is measured against in the end"
    )
    paired_seeds: int = common(
        "paired_seeds",
        default=300,
        text="paired seeds of that evaluation, each played once from every seat; 0: none",
        low=0,
    )
    beside: str = option(
        "", "folder of another run, whose curve is drawn beside this one's", metavar="FOLDER"
    )
    threads: int = common("threads")
    ray: str | None = common(
        "ray",
        text="let processes play on the machines of a Ray: auto (the one that runs here), HOST:PORT, local",
    )
    resume: bool = common(
        "resume", text="go on from the checkpoint in the run's folder; what isn't said is as it was"
    )

    LIMITS = (
        "run",
        "minutes",
        "decisions",
        "checkpoint_seconds",
        "milestone_minutes",
        "against",
        "paired_seeds",
        "beside",
        "resume",
    )
    """Options that may change when a run is resumed."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.minutes == 0 and self.decisions == 0:
            object.__setattr__(self, "minutes", DEFAULT_MINUTES)

    @property
    def tables(self) -> list[tuple[int, str]]:
        """Number of players and side of each kind of table that is trained on."""
        return [(players, side) for players in self.players for side in self.side]

    def shares(self, number: int) -> list[tuple[int, int, str]]:
        """So many games shared out among the kinds of tables: how many, their number of players,
        their side.
        """
        sizes = [len(part) for part in np.array_split(np.arange(number), len(self.tables))]
        return [(size, *kind) for size, kind in zip(sizes, self.tables, strict=True)]

    def check(self) -> None:
        """Raise OptionError, naming the option, if options don't fit together or name what isn't
        there.
        """
        for name in ("run", "players", "side"):
            if not getattr(self, name):
                raise OptionError(f"{name} must not be empty")
        if len(set(self.tables)) != len(self.tables):
            raise OptionError(
                f"players {as_text(self.players)} and side {as_text(self.side)} name something "
                "twice"
            )
        if not self.make_agents("against") and self.paired_seeds:
            raise OptionError(
                "against must name somebody to measure the agent against; or let paired seeds be 0"
            )

    def make_agents(self, name: str) -> list[Agent]:
        """The agents that the option of this name lists.

        Raises:
            OptionError: there is no such agent. CheckpointError: a checkpoint among them can't be
                used.
        """
        try:
            return [agent_of(spec) for spec in getattr(self, name)]
        except AgentError as error:
            raise OptionError(f"{name}: {error}") from error

    def as_dict(self) -> dict[str, Any]:
        """What was asked for, as config.json and checkpoints keep it: not who plays, as that is the
        same training anywhere.
        """
        return {
            name: value for name, value in asdict(self).items() if name not in ("ray", "resume")
        }


def agent_of(spec: str) -> Agent:
    """The agent that a specification means; ``"perturbed-7"``, which trainings alone know, is greedy
    or the appraiser with other weights.

    Raises:
        AgentError, CheckpointError: as for :func:`skyenv.make_agent`.
    """
    number = spec.removeprefix("perturbed-")
    return perturbed(int(number)) if number != spec and number.isdecimal() else make_agent(spec)


def earlier(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options of the run that is to be resumed, for those that aren't given; see
    :func:`skyenv.options.parse`.

    Raises:
        CheckpointError: the run's configuration can't be read.
    """
    path = Path(str(given["run"])) / CONFIG
    if not given["resume"] or "\0" in str(path) or not path.exists():
        return {}
    try:
        options: dict[str, Any] = dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise CheckpointError(f"{path} is damaged: {error!s:.100}") from error
    return options
