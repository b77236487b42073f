"""Train a bidding agent by self-play: ``python -m experiments.train --run runs/first --players 2 --minutes 5``.

MaskablePPO (sb3-contrib) learns on the batch engine. The learner's seat rotates; for every episode each other seat is given to
an opponent drawn from the random player, the greedy one, and frozen earlier selves. One folder holds a run:

    config.json       what was asked for             curve.jsonl, curves.png   how it went
    checkpoint.bin    to go on from, with --resume    model.zip                 the policy: an agent by this path
    evaluation.json, evaluation.png, evaluation.txt, games.jsonl               how it plays in the end

Ctrl-C ends the run after the update under way; ``--resume`` goes on from the last checkpoint as if nothing had happened.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import pickle
import random
import signal
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from types import FrameType
from typing import Any, Final, NoReturn

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat
from tqdm import tqdm

from agents import GreedyAgent, RandomAgent
from agents.network import Trunk
from agents.policy import PolicyAgent
from experiments.evaluate import as_json, evaluate, plot, record_games, table
from experiments.files import write_atomically
from skyenv import OBSERVATION_SIZE, __version__
from skyenv.agents import Agent, decide
from skyenv.envs.sb3 import SkyenvVecEnv
from skyenv.errors import CheckpointError, OptionError, SkyenvError
from skyenv.games import Games, check_choice, check_integer
from skyenv.kernels import REWARDS
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES

BAD_DATA: Final = 1
BAD_COMMAND: Final = 2
INTERRUPTED: Final = 130
MAGIC: Final = b"skyenv-training-checkpoint-1\n"
DEFAULT_MINUTES: Final = 5.0
RECENT_EPISODES: Final = 1000
"""The curves show win shares over this many latest episodes against each opponent."""
FEWEST_EPISODES: Final = 50
"""Fewer games than this tell nothing yet."""
SELF: Final = "self"
NEVER: Final = 10**9
"""SB3 shall not log by itself: the run does."""


def _option(default: Any, text: str) -> Any:
    return field(default=default, metadata={"help": text})


@dataclass(frozen=True)
class Config:
    """What decides a run. A run limited by --decisions on a CPU is reproduced by its seed and threads."""

    run: str = _option("runs/first", "folder of the run")
    players: int = _option(2, "number of players, 2 to 4")
    side: str = _option("front", "side of the board: front or back")
    minutes: float = _option(0.0, "train for so many minutes; 0: no limit, or 5 if decisions don't limit it either")
    decisions: int = _option(0, "train for so many decisions of the learner; 0: no limit")
    seed: int = _option(1, "seed of everything")
    reward: str = _option("margin", "outcome, margin or points (see the README)")
    max_turns: int = _option(500, "turns after which a game is truncated")
    environments: int = _option(256, "games played side by side")
    steps: int = _option(64, "decisions in each of them between updates")
    batch: int = _option(2048, "decisions in one gradient step")
    epochs: int = _option(4, "passes over the decisions of an update")
    learning_rate: float = _option(5e-4, "Adam's step size")
    gamma: float = _option(0.999, "discount of a decision")
    gae_lambda: float = _option(0.95, "lambda of the advantage estimate")
    entropy: float = _option(0.01, "weight of the entropy bonus")
    hidden: int = _option(256, "width of the shared layer; policy and value each have one more of half the width")
    random_share: float = _option(0.2, "share of opponents that are random")
    greedy_share: float = _option(0.5, "share of opponents that are greedy")
    snapshot: int = _option(10, "updates between two frozen selves")
    selves: int = _option(6, "frozen selves kept as opponents; the oldest one gives way")
    checkpoint_seconds: float = _option(60.0, "seconds between two checkpoints")
    deals: int = _option(300, "deals of the closing evaluation, each played once from every seat; 0: none")
    threads: int = _option(1, "threads for the games and for torch; on a busy machine torch is slower with several")

    def __post_init__(self) -> None:
        if self.minutes == 0 and self.decisions == 0:
            object.__setattr__(self, "minutes", DEFAULT_MINUTES)

    def check(self) -> None:
        """Raise OptionError, naming the option, if a value can't be used."""
        check_integer("players", self.players, MIN_PLAYERS, MAX_PLAYERS)
        check_choice("side", self.side, SIDES)
        check_choice("reward", self.reward, REWARDS)
        check_integer("seed", self.seed, 0, 2**32 - 1)  # SB3 takes no larger one
        for name in ("max_turns", "environments", "steps", "batch", "epochs", "hidden", "snapshot", "threads"):
            check_integer(name, getattr(self, name), 1, 10**7)
        for name in ("decisions", "selves", "deals"):
            check_integer(name, getattr(self, name), 0, 10**12)
        for name in ("minutes", "entropy", "random_share", "greedy_share", "checkpoint_seconds"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise OptionError(f"{name} must be 0 or more, not {getattr(self, name)}")
        for name in ("learning_rate", "gamma", "gae_lambda"):
            if not 0 < getattr(self, name) <= 1:
                raise OptionError(f"{name} must be above 0 and at most 1, not {getattr(self, name)}")
        if self.random_share + self.greedy_share > 1 or (self.selves == 0 and self.random_share + self.greedy_share == 0):
            raise OptionError("random_share and greedy_share must not exceed 1 together, nor both be 0 without selves")
        if self.environments * self.steps % self.batch:
            raise OptionError(
                f"batch must divide environments · steps = {self.environments * self.steps}, which {self.batch} doesn't"
            )


class Episodes(BaseCallback):
    """Counts who won the latest episodes against which opponents."""

    def __init__(self) -> None:
        super().__init__()
        self.shares: dict[str, deque[float]] = {}
        self.lengths: deque[int] = deque(maxlen=RECENT_EPISODES)
        self.count = 0

    def _on_step(self) -> bool:
        for row in np.flatnonzero(self.locals["dones"]).tolist():
            self.note(self.locals["infos"][row])
        return True

    def note(self, info: dict[str, Any]) -> None:
        """Take in the info of a finished episode; only games against one kind of opponent tell of it."""
        self.count += 1
        self.lengths.append(int(info["episode"]["l"]))
        scores, seat = info["scores"], info["seat"]
        best = max(scores)
        share = 1 / scores.count(best) if scores[seat] == best else 0.0
        kinds = {SELF if name.startswith(SELF) else name for name in info["opponents"] if name is not None}
        if len(kinds) == 1:
            self.shares.setdefault(kinds.pop(), deque(maxlen=RECENT_EPISODES)).append(share)

    def means(self) -> dict[str, float]:
        """The share of wins against each kind of opponent in the latest episodes (by VP alone, without END-4's cards)."""
        return {kind: float(np.mean(won)) for kind, won in sorted(self.shares.items()) if len(won) >= FEWEST_EPISODES}


class Training:
    """A run: model, environments, opponents and counters."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.folder = Path(config.run)
        self.pool: list[Agent] = []
        self.updates = 0
        self.seconds = 0.0
        self.curve: list[dict[str, Any]] = []
        self.episodes = Episodes()
        self.stopping = False
        self.model: MaskablePPO = None  # type: ignore[assignment]
        self.env: SkyenvVecEnv = None  # type: ignore[assignment]

    def begin(self) -> None:
        """Make everything new."""
        config = self.config
        torch.set_num_threads(config.threads)
        self.env = SkyenvVecEnv(
            config.environments,
            config.players,
            config.side,
            opponents=[RandomAgent()],
            seed=config.seed,
            reward=config.reward,
            threads=config.threads,
            max_turns=config.max_turns,
        )
        self.model = MaskablePPO(
            "MlpPolicy",
            self.env,
            n_steps=config.steps,
            batch_size=config.batch,
            n_epochs=config.epochs,
            learning_rate=config.learning_rate,
            gamma=config.gamma,
            gae_lambda=config.gae_lambda,
            ent_coef=config.entropy,
            policy_kwargs={
                "features_extractor_class": Trunk,
                "features_extractor_kwargs": {"width": config.hidden},
                "net_arch": [config.hidden // 2],
                "activation_fn": torch.nn.ReLU,
            },
            seed=config.seed,
            device="cpu",
        )
        # SB3 has just seeded the environment with the numbers of its own; take the run's.
        self.env.seed(config.seed)
        self.choose_opponents()

    def choose_opponents(self) -> None:
        """Random, greedy and frozen selves in the shares asked for; without a self yet, greedy and random fill in."""
        config = self.config
        fixed: list[tuple[Agent, float]] = [(RandomAgent(), config.random_share), (GreedyAgent(), config.greedy_share)]
        self_share = 1.0 - config.random_share - config.greedy_share
        pairs = [*fixed, *((agent, self_share / len(self.pool)) for agent in self.pool)]
        chosen = [(agent, weight) for agent, weight in pairs if weight > 0] or [(RandomAgent(), 1.0)]
        self.env.set_opponents([agent for agent, _ in chosen], [weight for _, weight in chosen])

    def update(self) -> None:
        """Collect decisions and learn from them, once; now and then freeze a self."""
        started = time.perf_counter()
        rollout = self.config.environments * self.config.steps
        self.model.learn(rollout, callback=self.episodes, log_interval=NEVER, reset_num_timesteps=False)
        self.updates += 1
        if self.config.selves and self.updates % self.config.snapshot == 0:
            self.pool.append(PolicyAgent(self.model.policy, name=f"{SELF}-{self.updates}"))
            del self.pool[: -self.config.selves]
            self.choose_opponents()
        self.seconds += time.perf_counter() - started
        self.note_curve(rollout / (time.perf_counter() - started))

    def note_curve(self, pace: float) -> None:
        """Add a point to the curve and to TensorBoard."""
        learned = {
            name.removeprefix("train/"): float(value)
            for name, value in self.model.logger.name_to_value.items()
            if isinstance(value, (int, float, np.floating))
        }
        shares = self.episodes.means()
        length = float(np.mean(self.episodes.lengths)) if self.episodes.lengths else None
        point = {
            "update": self.updates,
            "decisions": self.model.num_timesteps,
            "seconds": round(self.seconds, 3),
            "pace": pace,
            "episodes": self.episodes.count,
            "length": length,
            "shares": shares,
            "entropy": -learned.get("entropy_loss", float("nan")),
            "value_loss": learned.get("value_loss"),
            "explained_variance": learned.get("explained_variance"),
        }
        self.curve.append(point)
        for kind, share in shares.items():
            self.model.logger.record(f"win share/{kind}", share)
        self.model.logger.record("time/decisions per second", pace)
        if length is not None:
            self.model.logger.record("game/decisions per episode", length)
        self.model.logger.dump(step=self.model.num_timesteps)

    def finished(self) -> bool:
        """Whether the run has reached its limit."""
        config = self.config
        out_of_time = config.minutes > 0 and self.seconds >= 60 * config.minutes
        return out_of_time or (config.decisions > 0 and self.model.num_timesteps >= config.decisions)

    # ---- checkpoints ----

    def save(self) -> None:
        """Write checkpoint, policy and curve; each file is whole at every moment."""
        policy = io.BytesIO()
        self.model.save(policy)
        state = {
            "version": __version__,
            "observation_size": OBSERVATION_SIZE,
            "config": asdict(self.config),
            "model": policy.getvalue(),
            "env_and_pool": pickle.dumps((self.env, self.pool)),
            "updates": self.updates,
            "seconds": self.seconds,
            "curve": self.curve,
            "episodes": (self.episodes.shares, self.episodes.lengths, self.episodes.count),
            "torch": torch.get_rng_state(),
            "numpy": np.random.get_state(),  # SB3 shuffles its batches with the global generator
            "python": random.getstate(),
        }
        body = pickle.dumps(state)
        write_atomically(self.folder / "checkpoint.bin", MAGIC + hashlib.sha256(body).digest() + body)
        write_atomically(self.folder / "model.zip", policy.getvalue())
        write_atomically(self.folder / "curve.jsonl", "".join(json.dumps(point) + "\n" for point in self.curve))

    def load(self) -> None:
        """Go on from the run's checkpoint.

        Raises:
            CheckpointError: there is none, or it is damaged or of another kind.
        """
        state = read_checkpoint(self.folder / "checkpoint.bin")
        same = {**asdict(self.config), **{name: state["config"][name] for name in LIMITS}}
        different = [name for name, value in state["config"].items() if same.get(name) != value]
        if different:
            name = different[0]
            raise CheckpointError(
                f"{self.folder} was trained with {name} = {state['config'][name]}, not {getattr(self.config, name)};"
                f" only {', '.join(LIMITS)} may change"
            )
        torch.set_num_threads(self.config.threads)
        self.env, self.pool = pickle.loads(state["env_and_pool"])
        self.model = MaskablePPO.load(io.BytesIO(state["model"]), env=self.env, device="cpu", force_reset=False)
        self.updates, self.seconds, self.curve = state["updates"], state["seconds"], state["curve"]
        self.episodes.shares, self.episodes.lengths, self.episodes.count = state["episodes"]
        torch.set_rng_state(state["torch"])
        np.random.set_state(state["numpy"])
        random.setstate(state["python"])

    # ---- the whole run ----

    def run(self) -> bool:
        """Train to the limit, with progress; False if Ctrl-C ended it before."""
        warm_up(self.config)
        self.model.set_logger(Logger(str(self.folder), [TensorBoardOutputFormat(str(self.folder / "tensorboard"))]))
        previous = signal.signal(signal.SIGINT, self._stop)
        saved = time.perf_counter()
        try:
            with self._bar() as bar:
                while not self.finished() and not self.stopping:
                    self.update()
                    self._show(bar)
                    if time.perf_counter() - saved >= self.config.checkpoint_seconds:
                        self.save()
                        saved = time.perf_counter()
        finally:
            signal.signal(signal.SIGINT, previous)
            self.model.logger.close()
        self.save()
        draw_curves(self.curve, self.folder / "curves.png")
        return self.finished()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a second Ctrl-C doesn't wait for the update
        tqdm.write("stopping after this update …", file=sys.stderr)

    def _bar(self) -> Any:
        by_time = self.config.minutes > 0
        total = 60 * self.config.minutes if by_time else self.config.decisions
        shape = "{desc}{percentage:3.0f}%|{bar}| {elapsed}, {remaining} left{postfix}"
        bar = tqdm(total=total, desc="training ", bar_format=shape, dynamic_ncols=True)
        bar.update(min(total, self.seconds if by_time else self.model.num_timesteps))
        return bar

    def _show(self, bar: Any) -> None:
        point = self.curve[-1]
        now = point["seconds"] if self.config.minutes > 0 else point["decisions"]
        bar.update(min(bar.total, now) - bar.n)
        shares = ", ".join(f"{kind} {100 * share:.0f} %" for kind, share in point["shares"].items())
        bar.set_postfix_str(f"{point['decisions']:,} decisions, {point['pace']:,.0f}/s; wins: {shares or 'none yet'}")


def warm_up(config: Config) -> None:
    """Compile what isn't on disk yet before the clock runs."""
    games = Games(1, config.players, config.side, seed=0)
    games.step(decide(games, GreedyAgent()))
    games.observe(0)


LIMITS: Final = ("run", "minutes", "decisions", "checkpoint_seconds", "deals")
"""Options that may change when a run is resumed."""


def read_checkpoint(path: Path) -> dict[str, Any]:
    """The content of a checkpoint. It is made of pickled objects: read only those that you trust.

    Raises:
        CheckpointError: the file is missing, damaged, or something else.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"no checkpoint to go on from: {path}: {error.strerror}") from error
    digest, body = data[len(MAGIC) : len(MAGIC) + 32], data[len(MAGIC) + 32 :]
    if not data.startswith(MAGIC):
        raise CheckpointError(f"{path} is no training checkpoint")
    if hashlib.sha256(body).digest() != digest:
        raise CheckpointError(f"{path} is damaged: its content doesn't have the checksum that it was written with")
    state: dict[str, Any] = pickle.loads(body)
    if state["observation_size"] != OBSERVATION_SIZE:
        raise CheckpointError(
            f"{path} was trained for observations of length {state['observation_size']}; they have {OBSERVATION_SIZE} now"
        )
    return state


def draw_curves(curve: Sequence[dict[str, Any]], path: Path) -> None:
    """Win shares against each kind of opponent, and the entropy, over the time of training."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 6), layout="constrained", dpi=120)
    wins, below = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
    minutes = [point["seconds"] / 60 for point in curve]
    styles = {"random": ("#0072B2", "-"), "greedy": ("#D55E00", "--"), SELF: ("#009E73", ":")}
    for kind in sorted({kind for point in curve for kind in point["shares"]}):
        colour, dashes = styles.get(kind, ("#666666", "-."))
        shares = [100 * point["shares"].get(kind, float("nan")) for point in curve]
        wins.plot(minutes, shares, color=colour, linestyle=dashes, linewidth=2, label=f"against {kind}")
    wins.set(ylabel=f"wins in the last {RECENT_EPISODES} games, %", ylim=(0, 100))
    if wins.lines:
        wins.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False)
    below.plot(minutes, [point["entropy"] for point in curve], color="#666666", linewidth=2)
    below.set(xlabel="minutes of training", ylabel="entropy, nats")
    for axes in (wins, below):
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    write_atomically(path, picture.getvalue())


def close_run(config: Config) -> str:
    """Measure the trained agent against random and greedy; write table, plot, JSON and a few games; return the table."""
    folder = Path(config.run)
    agent = PolicyAgent(folder / "model.zip")
    opponents = ["random", "greedy"]
    seed = config.seed + 1_000_000  # other deals than those of the training
    found = evaluate(
        agent, opponents, config.players, config.side, config.deals, seed,
        max_turns=config.max_turns, threads=config.threads, progress=True,
    )  # fmt: skip
    if len(found) < len(opponents) or found[-1].interrupted:
        raise KeyboardInterrupt  # a part of the figures would pass for the whole
    text = table(found)
    write_atomically(folder / "evaluation.txt", text + "\n")
    write_atomically(folder / "evaluation.json", as_json(found))
    plot(found, folder / "evaluation.png")
    games = 2 * config.players
    record_games(folder / "games.jsonl", agent, opponents, config.players, config.side, games, seed, max_turns=config.max_turns)
    return text


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Complain in one line."""
        print(f"train: error: {message}", file=sys.stderr)
        sys.exit(BAD_COMMAND)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m experiments.train",
        description="Train an agent with MaskablePPO by self-play, and measure it.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    for entry in fields(Config):
        kind = type(entry.default)
        flag = "--" + entry.name.replace("_", "-")
        parser.add_argument(flag, type=kind, default=entry.default, metavar=kind.__name__, help=entry.metadata["help"])
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoint in the run's folder")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code: 0 all right, 1 a file is bad, 2 the command is, 130 interrupted."""
    options = vars(_parser().parse_args(arguments))
    resume = options.pop("resume")
    config = Config(**options)
    training = Training(config)
    try:
        config.check()
        if not resume and (training.folder / "checkpoint.bin").exists():
            raise OptionError(f"{config.run} holds a run; go on with it by --resume, or choose another folder with --run")
        training.folder.mkdir(parents=True, exist_ok=True)
        if resume:
            training.load()
        else:
            training.begin()
        write_atomically(training.folder / "config.json", json.dumps(asdict(config), indent=2) + "\n")
        if not training.run():
            print(f"stopped; `python -m experiments.train --run {config.run} --resume` with the same options goes on")
            return INTERRUPTED
        print(f"{training.model.num_timesteps:,} decisions in {training.seconds:.0f} s")
        if config.deals:
            print(close_run(config))
    except KeyboardInterrupt:
        print(f"interrupted; what was trained is in {config.run}, --resume goes on", file=sys.stderr)
        return INTERRUPTED
    except (SkyenvError, OSError) as error:
        print(f"train: error: {error}", file=sys.stderr)
        return BAD_COMMAND if isinstance(error, OptionError) else BAD_DATA
    return 0


if __name__ == "__main__":
    sys.exit(main())
