"""MaskablePPO of sb3-contrib by self-play, with action masks, an opponent pool and checkpoints.

Needs `pip install --constraint constraints.txt '.[train]'`. `python -m
experiments.baselines.sb3_maskable_ppo --decisions 1000000` takes some minutes on a CPU; with
`--resume runs/maskable/model.zip` and more decisions it continues with new past policies. The model
plays as an agent by its path: `python -m skyenv evaluate runs/maskable/model.zip`. The trainer of
`make train` is faster and starts from a heuristic; this is its baseline.
"""

import sys
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser, Namespace
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from skyenv.agents import make_agent
from skyenv.arena.evaluate import evaluate, table
from skyenv.envs.sb3 import SkyenvVecEnv, WinShares
from skyenv.files import replacing
from skyenv_agents.learned.pool import OpponentPool

torch.set_num_threads(1)  # more threads slow down such a small network


# Options: default, and help text.
OPTIONS: Final = {
    "run": (Path("runs/maskable"), "folder of the run"),
    "players": (2, "number of players"),
    "side": ("front", "side of the board"),
    "decisions": (1_000_000, "total decisions of the learner"),
    "seed": (1, "random seed"),
    "max-turns": (500, "turns after which a game is truncated"),
    "environments": (256, "concurrent games"),
    "steps": (64, "decisions in each game per update"),
    "batch": (2048, "decisions in a minibatch"),
    "epochs": (4, "passes over a rollout"),
    "learning-rate": (0.0005, "Adam's learning rate"),
    "gamma": (0.999, "discount per decision"),
    "entropy": (0.01, "weight of the entropy bonus"),
    "activation": ("ReLU", "activation of the hidden layers, of torch.nn"),
    "fixed-share": (0.7, "share of games with one of them"),
    "past-policies": (6, "most past policies in the pool"),
    "snapshot": (10, "updates between past policies and checkpoints"),
    "paired-seeds": (100, "of the final evaluation; 0: none"),
}
# Options that take several values.
SEVERAL: Final[dict[str, tuple[list[Any], str]]] = {
    "hidden": ([256, 128], "units of the hidden layers"),
    "fixed-opponents": (["random", "greedy"], "permanent opponents"),
    "against": (["random", "greedy"], "agents of the evaluation"),
}


def parser() -> ArgumentParser:
    """Return the parser of the command line."""
    made = ArgumentParser(
        description="Train sb3-contrib's MaskablePPO by self-play.",
        formatter_class=ArgumentDefaultsHelpFormatter,
    )
    resumed = "model to continue; it can run code: use only trusted files"
    made.add_argument("--resume", type=Path, help=resumed)
    rewards = ("outcome", "margin", "points")
    made.add_argument("--reward", choices=rewards, default="margin", help="reward")
    for name, (default, text) in OPTIONS.items():
        made.add_argument(f"--{name}", type=type(default), default=default, help=text)
    for name, (values, text) in SEVERAL.items():
        kind = type(values[0])
        made.add_argument(f"--{name}", type=kind, nargs="*", default=values, help=text)
    return made


class SelfPlay(WinShares):
    """A callback that sets opponents, logs win shares and saves checkpoints.

    Each checkpoint also becomes an opponent.
    """

    def __init__(self, options: Namespace) -> None:
        super().__init__()
        self.options = options
        self.pool = OpponentPool(
            [make_agent(name) for name in options.fixed_opponents],
            options.fixed_share,
            options.past_policies,
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
            self.pool.note(self.names_of(info)[0], info["win_share"])
        return super()._on_step()

    def _on_rollout_end(self) -> None:
        if self.n_calls % (self.options.snapshot * self.options.steps) == 0:
            self.save("model.zip")
            self._add_past()

    def _add_past(self) -> None:
        self.pool.add(make_agent(self.save(f"past-{self.num_timesteps:012d}.zip")))

    def save(self, name: str) -> Path:
        """Save the model in the run's folder."""
        path = Path(self.options.run, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            self.model.save(part)
        return path


def make_model(env: SkyenvVecEnv, options: Namespace, **more: Any) -> MaskablePPO:
    """Return a new model; `more` are further arguments of MaskablePPO."""
    activation = getattr(torch.nn, options.activation)
    return MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=options.steps,
        batch_size=options.batch,
        n_epochs=options.epochs,
        gamma=options.gamma,
        learning_rate=options.learning_rate,
        ent_coef=options.entropy,
        seed=options.seed,
        device="cpu",
        policy_kwargs={"net_arch": list(options.hidden), "activation_fn": activation},
        **more,
    )


def begun(options: Namespace) -> MaskablePPO:
    """Return the model to train, new or loaded from `resume`; no other file is loaded."""
    env = SkyenvVecEnv(
        options.environments,
        options.players,
        options.side,
        reward=options.reward,
        one_opponent=True,
        max_turns=options.max_turns,
    )
    if options.resume is not None:
        return MaskablePPO.load(options.resume, env=env, device="cpu")
    if (options.run / "model.zip").exists():
        sys.exit(
            f"{options.run} already contains a run; continue it with --resume "
            f"{options.run / 'model.zip'}, or choose another folder with --run"
        )
    if not (board := find_spec("tensorboard")):
        print("TensorBoard is not installed, so no event files are written", file=sys.stderr)
    return make_model(env, options, verbose=1, tensorboard_log=str(options.run) if board else None)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, save and evaluate an agent on paired seeds that training does not use."""
    options = parser().parse_args(arguments)
    model = begun(options)
    if (left := options.decisions - model.num_timesteps) > 0:
        callback = SelfPlay(options)
        model.learn(left, callback=callback, reset_num_timesteps=options.resume is None)
        callback.save("model.zip")
    agent = str(options.run / "model.zip")
    print(f"{model.num_timesteps:,} decisions; the agent is {agent}")
    if options.paired_seeds:
        found = evaluate(
            agent,
            options.against,
            options.players,
            options.side,
            options.paired_seeds,
            seed=10**9,
        )
        print(table(found))


if __name__ == "__main__":
    main()
