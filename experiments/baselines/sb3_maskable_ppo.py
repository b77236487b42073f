"""MaskablePPO of sb3-contrib by self-play, with action masks, an opponent pool and checkpoints.

Needs `pip install --constraint constraints.txt '.[train]'`. `python -m
experiments.baselines.sb3_maskable_ppo --decisions 1000000` takes some minutes on a CPU; with
`--resume runs/maskable/model.zip` and more decisions it continues with new past policies. The model
plays as an agent by its path: `python -m skyenv evaluate runs/maskable/model.zip`. The trainer of
`make train` is faster and starts from a heuristic; this is its baseline.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from skyenv.agents import make_agent
from skyenv.arena.evaluate import evaluate, table
from skyenv.console.options import Options, common, exit_code, option, parse
from skyenv.envs.sb3 import SkyenvVecEnv, WinShares
from skyenv.errors import OptionError
from skyenv.files import replacing
from skyenv_agents.learned.pool import OpponentPool

torch.set_num_threads(1)  # more threads slow down such a small network


@dataclass(frozen=True)
class Config(Options):
    """Options of the command line."""

    run: Path = option(Path("runs/maskable"), "folder of the run", metavar="FOLDER")
    players: int = common("players")
    side: str = common("side")
    decisions: int = option(1_000_000, "total decisions of the learner", low=1)
    seed: int = common("seed", high=2**32 - 1)
    max_turns: int = common("max_turns")
    resume: Path | None = option(
        None, "model to continue; use only trusted files, as they can run code", metavar="FILE"
    )
    reward: str = option("margin", "reward", choices=("outcome", "margin", "points"))
    environments: int = option(256, "concurrent games", low=1)
    steps: int = option(64, "decisions of the learner per game and update", low=1)
    batch: int = option(2048, "minibatch size in decisions", low=1)
    epochs: int = option(4, "epochs per update", low=1)
    learning_rate: float = option(5e-4, "learning rate of Adam", above=True)
    gamma: float = option(0.999, "discount per decision", above=True, high=1)
    entropy: float = option(0.01, "weight of the entropy bonus")
    hidden: tuple[int, ...] = option(
        (256, 128), "widths of the hidden layers of policy and value", low=1
    )
    fixed_opponents: tuple[str, ...] = option(
        ("random", "greedy"), "permanent opponents", metavar="AGENT"
    )
    fixed_share: float = option(
        0.7,
        "share of games against permanent opponents; the others use past policies",
        high=1,
    )
    past_policies: int = option(6, "most past policies in the pool")
    snapshot: int = option(10, "updates between past policies, and between checkpoints", low=1)
    against: tuple[str, ...] = common("against")
    paired_seeds: int = common("paired_seeds", default=100, low=0)


class SelfPlay(WinShares):
    """A callback that sets opponents, logs win shares and saves checkpoints.

    Each checkpoint also becomes an opponent.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.pool = OpponentPool(
            [make_agent(name) for name in config.fixed_opponents],
            config.fixed_share,
            config.past_policies,
        )

    def _on_training_start(self) -> None:
        """Add the initial policy to an empty pool."""
        if not self.pool.agents:
            self._add_past()

    def _on_rollout_start(self) -> None:
        self.training_env.set_opponents(self.pool.agents, self.pool.weights().tolist())  # type: ignore[attr-defined]

    def _on_step(self) -> bool:
        """Report finished games to the pool, which samples hard opponents more often."""
        for row in np.flatnonzero(self.locals["dones"]).tolist():
            info = self.locals["infos"][row]
            # None is the learner
            opponent = next(name for name in info["opponents"] if name is not None)
            self.pool.note(opponent, info["win_share"])
        return super()._on_step()

    def _on_rollout_end(self) -> None:
        if self.n_calls % (self.config.snapshot * self.config.steps) == 0:
            self.save("model.zip")
            self._add_past()

    def _add_past(self) -> None:
        self.pool.add(make_agent(self.save(f"past-{self.num_timesteps:012d}.zip")))

    def save(self, name: str) -> Path:
        """Save the model in the run's folder."""
        (path := self.config.run / name).parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            self.model.save(part)
        return path


def make_model(config: Config) -> MaskablePPO:
    """Return the model to train, new or loaded from `resume`; no other file is loaded."""
    env = SkyenvVecEnv(
        config.environments,
        config.players,
        config.side,
        reward=config.reward,
        one_opponent=True,
        max_turns=config.max_turns,
    )
    if config.resume is not None:
        return MaskablePPO.load(config.resume, env=env, device="cpu")
    if (config.run / "model.zip").exists():
        raise OptionError(
            f"{config.run} already contains a run; continue it with --resume "
            f"{config.run / 'model.zip'}, or choose another folder with --run"
        )
    if not (board := find_spec("tensorboard")):
        print("TensorBoard is not installed, so no event files are written", file=sys.stderr)
    return MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=config.steps,
        batch_size=config.batch,
        n_epochs=config.epochs,
        gamma=config.gamma,
        learning_rate=config.learning_rate,
        ent_coef=config.entropy,
        seed=config.seed,
        device="cpu",
        verbose=1,
        policy_kwargs={"net_arch": list(config.hidden), "activation_fn": torch.nn.ReLU},
        tensorboard_log=str(config.run) if board else None,
    )


def train(config: Config) -> int:
    """Train, save and evaluate an agent on paired seeds that training does not use.

    Returns the exit code.
    """
    model = make_model(config)
    if (left := config.decisions - model.num_timesteps) > 0:
        callback = SelfPlay(config)
        model.learn(left, callback=callback, reset_num_timesteps=config.resume is None)
        callback.save("model.zip")
    agent = str(config.run / "model.zip")
    print(f"{model.num_timesteps:,} decisions; the agent is {agent}")
    if config.paired_seeds:
        print(
            table(
                evaluate(
                    agent,
                    config.against,
                    config.players,
                    config.side,
                    config.paired_seeds,
                    seed=10**9,
                )
            )
        )
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    description = "Train sb3-contrib's MaskablePPO by self-play."
    return exit_code(
        "maskable_ppo",
        lambda: train(
            parse(Config, "experiments.baselines.sb3_maskable_ppo", description, arguments)
        ),
    )


if __name__ == "__main__":
    sys.exit(main())
