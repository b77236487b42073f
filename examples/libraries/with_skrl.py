"""skrl: masked PPO, on Gymnasium's vector environment, one batch of games.

``python examples/libraries/with_skrl.py`` trains against `random` and prints the steps a second of
its training. Needs `pip install -r examples/libraries/with_skrl.txt`.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import gymnasium
import torch
from skrl.agents.torch.ppo import PPO, PPO_CFG
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.models.torch import CategoricalMixin, DeterministicMixin, Model
from skrl.trainers.torch import SequentialTrainer
from skrl.utils.spaces.torch import unflatten_tensorized_space

# ---- bridge ----


def masked(model: Any, scores: torch.Tensor, observations: torch.Tensor) -> torch.Tensor:
    """Scores (k, 103), −inf where the mask in skrl's flat observations is 0."""
    mask = unflatten_tensorized_space(model.observation_space, observations)["action_mask"]
    return scores.masked_fill(mask == 0, -torch.inf)


# ---- use ----


class Policy(CategoricalMixin, Model):  # type: ignore[misc]
    """Draws among the legal actions."""

    def __init__(self, **spaces: Any) -> None:
        Model.__init__(self, **spaces)
        CategoricalMixin.__init__(self)
        self.layer = torch.nn.Linear(self.num_observations, self.num_actions)

    def compute(self, inputs: Any, role: str = "") -> Any:
        """Return the scores of actions."""
        seen = inputs["observations"]
        return masked(self, self.layer(seen), seen), {}


class Value(DeterministicMixin, Model):  # type: ignore[misc]
    """Estimates returns."""

    def __init__(self, **spaces: Any) -> None:
        Model.__init__(self, **spaces)
        DeterministicMixin.__init__(self)
        self.layer = torch.nn.Linear(self.num_observations, 1)

    def compute(self, inputs: Any, role: str = "") -> Any:
        """Return the values of observations."""
        return self.layer(inputs["observations"]), {}


def main(arguments: list[str] | None = None) -> None:
    """Train and print steps a second."""
    parser = argparse.ArgumentParser(description="PPO in skrl.")
    parser.add_argument("--games", type=int, default=64)
    parser.add_argument("--steps", type=int, default=1280, help="of every game")
    options = parser.parse_args(arguments)
    torch.manual_seed(1)
    kwargs: dict[str, Any] = {
        "mask": "observation",
        "autoreset_mode": "SameStep",
        "illegal": "raise",
    }
    env = wrap_env(
        gymnasium.make_vec("skyenv:skyenv/FifthAvenue-v0", options.games, **kwargs), verbose=False
    )
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space}
    agent = PPO(
        models={"policy": Policy(**spaces), "value": Value(**spaces)},
        memory=RandomMemory(memory_size=64, num_envs=options.games),
        cfg=PPO_CFG(rollouts=64, mini_batches=8),
        **spaces,
    )
    started = time.perf_counter()
    settings = {"timesteps": options.steps, "headless": True}
    SequentialTrainer(env=env, agents=agent, cfg=settings).train()
    seconds = time.perf_counter() - started
    print(f"{options.games * options.steps / seconds:,.0f} steps/s")


if __name__ == "__main__":
    main()
