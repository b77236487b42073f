"""Options of a training, and the network, opponents and games that they define."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import torch

from skyenv.agents import Agent, make_agent, running_code
from skyenv.console.options import Options, as_text, common, option
from skyenv.engine.options import GameOptions
from skyenv.engine.rewards import REWARDS
from skyenv.errors import AgentError, OptionError, shown
from skyenv.files import read_json
from skyenv.seeds import TRAINING
from skyenv_agents.heuristic.references import perturbed
from skyenv_agents.learned.architecture import Sizes
from skyenv_agents.learned.networks import HEURISTICS, Network
from skyenv_agents.learned.pool import SAMPLINGS, OpponentPool
from skyenv_agents.learned.prior import WORST_PRIOR
from skyenv_agents.learned.torch_network import PolicyNetwork

CONFIG: Final = "config.json"
DEFAULT_MINUTES: Final = 5.0
AUTO: Final = "auto"
PRECISIONS: Final = (AUTO, "float32", "bfloat16")
# Options of trainings that name agents.
AGENTS: Final = {"against", "fixed_opponents", "target"}
# Name of past policies, in front of a number.
PAST: Final = "past"
# Between the seeds of two kinds of tables: more games than a run plays.
SEEDS_APART: Final = 10**9
# Options with which networks learn bidding tasks on one core: batches are smaller than by default.
FOR_TASKS: Final[Mapping[str, Any]] = {
    "minutes": 0.0,
    "games": 64,
    "steps": 16,
    "batch": 256,
    "precision": "float32",
    "device": "cpu",
}
# Default of a new network's prior.
PRIOR_WEIGHT: Final = 6.0
# Upper limit of counts.
MOST: Final = 10**7


def fixed(value: Any) -> Any:
    """Return a field for an option that the program sets and the command line lacks."""
    return field(default=value, init=False)


@dataclass(frozen=True)
class Config(Options):
    """The options of a training.

    A run that is limited by `decisions` on a CPU is reproduced by its seed, with the same number of
    processes and threads and in the same precision.
    """

    # Options that may change when a run is resumed.
    LIMITS: ClassVar[tuple[str, ...]] = (
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

    run: str = option("runs/first", "folder of the run", metavar="FOLDER", section="the run")
    players: tuple[int, ...] = common(
        "players", default=(2,), text="number of players, or several as in 2,3,4 for one network"
    )
    side: tuple[str, ...] = common("side", default=("front",), text="side of the board, or both")
    minutes: float = common(
        "minutes", text="limit of the training; 0: none, or 5 without --decisions"
    )
    decisions: int = option(0, "limit of the learner's decisions; 0: none", high=10**12)
    task: str = option(
        "",
        "a bidding task, or some of its openings, to learn instead of whole games "
        "(docs/benchmark.md)",
        metavar="TASK",
    )
    seed: int = common("seed", high=2**32 - 1)
    max_turns: int = common("max_turns", high=MOST)
    checkpoint_seconds: float = option(60.0, "seconds between two checkpoints")
    milestone_minutes: float = option(
        0.0, "minutes between two milestones, agents that are kept; 0: none", metavar="M"
    )
    resume: bool = common(
        "resume", text="go on from the run's checkpoint; options not given stay as they were"
    )
    beside: str = option(
        "", "folder of another run, drawn into the same curves.png", metavar="FOLDER"
    )
    against: tuple[str, ...] = common(
        "against", text="opponents of the closing evaluation", section="closing evaluation"
    )
    paired_seeds: int = common(
        "paired_seeds",
        default=300,
        text="paired seeds of the closing evaluation, each played from every seat; 0: none",
        low=0,
    )
    games: int = option(
        512, "games played side by side", low=1, high=MOST, section="games and rollouts"
    )
    reward: str = option("outcome", "reward (see docs/environments.md)", choices=REWARDS)
    steps: int = option(64, "decisions in each game between updates", low=1, high=MOST)
    batch: int = option(1024, "decisions in a minibatch", low=1, high=MOST)
    certain_fraction: float = option(
        0.25,
        "fraction kept of decisions with p > 0.99 (kept ones are up-weighted)",
        above=True,
        high=1,
    )
    epochs: int = option(
        2, "passes over the decisions of an update", low=1, high=MOST, section="PPO"
    )
    learning_rate: float = option(2e-3, "Adam's learning rate", above=True, high=1)
    final_rate: float = option(0.1, "fraction of it left at the end (linear decay)", high=1)
    weight_decay: float = option(0.0, "AdamW's weight decay, of matrices alone", high=1)
    warm_up: int = option(10, "updates of linear warm-up of the learning rate", high=MOST)
    gamma: float = option(1.0, "discount of a decision", above=True, high=1)
    gae_lambda: float = option(0.95, "lambda of generalised advantage estimation", high=1)
    clip: float = option(0.2, "PPO's clip range", above=True, high=1)
    target_kl: float = option(
        0.03, "stop an update once the KL divergence exceeds this value (nats)", above=True
    )
    entropy: float = option(0.005, "weight of the entropy bonus")
    final_entropy: float = option(1.0, "fraction of it left at the end (linear decay)", high=1)
    mean_kl: float = option(
        0.0, "weight of the KL divergence from the policy of the averaged weights"
    )
    value_weight: float = option(0.5, "weight of the value loss")
    margin_weight: float = option(
        0.1, "weight of the auxiliary loss: how far ahead in VP the seat will be"
    )
    max_grad_norm: float = option(0.5, "clip the gradient's norm", above=True)
    averaging: float = option(
        0.05, "a: the agent averages weights, the k-th of n updates by (k/n)^(1/a)", high=1
    )
    reinitialise: int = option(
        0,
        "updates between two re-initialisations of never-active units, the first in the first "
        "update; 0: none",
        high=MOST,
    )
    start: str = option("", "network file (model.npz) to start from", metavar="FILE")
    hidden: int = option(128, "units of the network's trunk", low=1, high=MOST, section="network")
    blocks: int = option(2, "residual blocks of the trunk", high=MOST)
    entity_dim: int = option(
        32, "units of the embedding of each district, colour and seat", low=1, high=MOST
    )
    prior: str = option(
        "", "heuristic agent whose scores are the policy's prior", choices=("", *HEURISTICS)
    )
    prior_weight: float | None = option(
        None,
        f"initial factor of the prior's scores in VP (default: {PRIOR_WEIGHT:g}, or as in --start)",
    )
    prior_floor: float | None = option(
        None,
        "VP behind the best action at which the prior's scores are cut off"
        f" (default: {WORST_PRIOR:g}, or as in --start)",
        high=WORST_PRIOR,
    )
    final_prior: float = option(1.0, "fraction of the prior's weight left at the end", high=1)
    value_updates: int = option(
        10, "with a prior: first updates of a new network that train values alone", high=MOST
    )
    opponent_share: float = option(
        0.6, "share of games with opponents; 0: self-play", high=1, section="opponents"
    )
    mixed_share: float = option(
        0.5, "share of those with several learner's seats and several opponents", high=1
    )
    fixed_opponents: tuple[str, ...] = option(
        ("random", "greedy"), "opponents that stay in the pool", metavar="AGENT"
    )
    fixed_share: float = option(
        0.85, "share of opponents drawn from the fixed ones; the rest are past policies", high=1
    )
    sampling: str = option("hard", "how opponents are drawn", choices=SAMPLINGS)
    past_policies: int = option(8, "past policies in the pool of opponents", high=MOST)
    snapshot: int = option(100, "updates between two past policies", low=1, high=MOST)
    device: str = option(
        "auto", "device of the learner", choices=("auto", "cpu", "cuda"), section="machine"
    )
    precision: str = option(
        AUTO,
        "of the network while it trains; auto: bfloat16 where the processor is faster at it",
        choices=PRECISIONS,
    )
    processes: int = option(
        1, "1: play and learn in turns; N: N - 1 play while one learns", low=1, high=1024
    )
    threads: int = common("threads")
    ray: str | None = common(
        "ray", text="let actors play on a Ray: auto (the one here), HOST:PORT, local"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.minutes == 0 and self.decisions == 0:
            object.__setattr__(self, "minutes", DEFAULT_MINUTES)

    def check(self) -> None:
        """Raise OptionError, naming the option, if options don't fit together or name something
        that does not exist.
        """
        for name in ("run", "players", "side"):
            if not getattr(self, name):
                raise OptionError(f"{name} must not be empty")
        if len(set(self.tables)) != len(self.tables):
            raise OptionError(
                f"players {as_text(self.players)} and side {as_text(self.side)} name a table twice"
            )
        if not self.make_agents("against") and self.paired_seeds:
            raise OptionError("against must name an agent, or paired_seeds must be 0")
        if any(opponent.name.startswith(f"{PAST}-") for opponent in self.make_pool().fixed):
            raise OptionError(f"fixed_opponents must not be called {PAST}-…, as past policies are")
        least = len(self.tables) * self.parts
        if self.games < least:
            raise OptionError(
                f"games must be at least {least}: one for each kind of table in each process that "
                "plays"
            )
        if self.task and self.tables != [(self.game_of(2, "front").num_players, "front")]:
            raise OptionError(
                f"players and side must be those of task {self.task}, not {as_text(self.players)} "
                f"and {as_text(self.side)}"
            )
        if self.ray is not None and self.processes == 1:
            raise OptionError("ray needs processes above 1: actors beside the learner")
        if self.opponent_share and not self.fixed_opponents and not self.past_policies:
            raise OptionError("opponent_share above 0 needs fixed_opponents or past_policies")
        if self.device == "cuda" and not torch.cuda.is_available():
            raise OptionError("device cuda is not available; use cpu")
        self.make_network(started=not self.resume)

    def as_dict(self) -> dict[str, Any]:
        """Return the options that config.json and checkpoints store: all but `ray` and `resume`."""
        return {
            name: value for name, value in asdict(self).items() if name not in ("ray", "resume")
        }

    # ---- derived ----

    @property
    def tables(self) -> list[tuple[int, str]]:
        """Number of players and side of each kind of table that is trained on."""
        return [(players, side) for players in self.players for side in self.side]

    @property
    def parts(self) -> int:
        """Number of parts that the games are split into: one for every process that plays."""
        return max(self.processes - 1, 1)

    def game_of(self, players: int, side: str) -> GameOptions:
        """Return the game that is played at tables of this kind."""
        if self.task:
            return GameOptions(task=self.task)
        return GameOptions(players, side, max_turns=self.max_turns, reward=self.reward)

    def games_of(self, part: int) -> list[tuple[int, GameOptions, int]]:
        """Return number of games, game and first seed of each kind of tables in a part."""
        found = []
        numbers = _split(self.games, len(self.tables))
        for i, (number, table) in enumerate(zip(numbers, self.tables, strict=True)):
            apart = ((self.seed * len(self.tables) + i) * self.parts + part) * SEEDS_APART
            seed = TRAINING.start + apart % (len(TRAINING) - SEEDS_APART)
            found.append((_split(number, self.parts)[part], self.game_of(*table), seed))
        return found

    @property
    def bfloat16(self) -> bool:
        """Whether the network computes in bfloat16; `precision` must be decided."""
        return self.precision == "bfloat16"

    def make_agents(self, name: str) -> list[Agent]:
        """Return the agents that the option of this name lists.

        Raises:
            OptionError: there is no such agent. CheckpointError: a checkpoint among them can't be
                used.
        """
        try:
            return [agent_of(spec) for spec in getattr(self, name)]
        except AgentError as error:
            raise OptionError(f"{name}: {error}") from error

    def make_pool(self) -> OpponentPool:
        """Return the initial pool of opponents.

        Raises:
            OptionError: a fixed opponent doesn't exist, or two have one name. CheckpointError: a
                checkpoint among them can't be used.
        """
        agents = self.make_agents("fixed_opponents")
        try:
            return OpponentPool(agents, self.fixed_share, self.past_policies, self.sampling)
        except OptionError as error:
            raise OptionError(f"fixed_opponents: {error}") from error

    def make_network(self, started: bool = True) -> PolicyNetwork:
        """Return the initial network; with `started=False` its weights are placeholders.

        Raises:
            OptionError: `start` is a network that it can't be started from. CheckpointError: there
                is no such network.
        """
        with torch.random.fork_rng(devices=[]):  # PyTorch's own generator stays as it is
            torch.manual_seed(self.seed)
            network = PolicyNetwork(Sizes(self.hidden, self.blocks, self.entity_dim), PRIOR_WEIGHT)
        if self.start and started:
            start = Network.load(self.start)
            if start.about.get("prior") != self.prior:
                raise OptionError(
                    f"start: {self.start} has the prior {start.about.get('prior')!r}, not "
                    f"{self.prior!r}"
                )
            network.take(start)
        network.set_prior(
            self.prior_weight if self.prior else 0.0,
            None if self.prior_floor is None else -self.prior_floor,
        )
        return network


def _split(number: int, parts: int) -> list[int]:
    """Split a number into parts that differ by one at most."""
    return [len(part) for part in np.array_split(np.arange(number), parts)]


def agent_of(spec: str) -> Agent:
    """Return the agent of a specification; ``"perturbed-7"``, known only in training, is greedy or
    the appraiser with other weights.

    Raises:
        AgentError, CheckpointError: as for :func:`skyenv.make_agent`.
    """
    return perturbed(int(spec.split("-")[1])) if _perturbed(spec) else make_agent(spec)


def _perturbed(spec: str) -> bool:
    return re.fullmatch("perturbed-[0-9]+", spec) is not None


def earlier(given: Mapping[str, Any], defaults: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a resumed run's values of the options that aren't given; see
    :func:`skyenv.console.options.parse`.

    Raises:
        CheckpointError: the run's configuration can't be read. OptionError: it names agents that
            the command must name, too.
    """
    path = Path(str(given.get("run", defaults["run"]))) / CONFIG
    if not given.get("resume") or "\0" in str(path) or not path.exists():
        return {}
    content = read_json(path)
    for name in AGENTS & content.keys() & defaults.keys() - given.keys():
        specs = [one.strip() for one in as_text(content[name] or "").split(",") if one]
        if code := running_code([one for one in specs if not _perturbed(one)], path):
            raise OptionError(
                f"{path} names {shown(sorted(code), 200)}: such agents are loaded only if the "
                f"command names them, too (--{name.replace('_', '-')})"
            )
    return content
