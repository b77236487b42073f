"""PufferLib: a native `PufferEnv` with one seat among agents; PufferLib's own policy, masked.

``python examples/libraries/with_pufferlib.py`` plays one seat of every game by a policy that hasn't
learned, and prints steps a second. docs/libraries.md has PufferLib's installation.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import numpy.typing as npt
import pufferlib
import pufferlib.models
import pufferlib.pytorch
import torch
from gymnasium.spaces import Box

from skyenv.engine.observation import HIGH, LOW, OBSERVATION_SIZE
from skyenv.envs.learner import LearnerGames
from skyenv.envs.spaces import action_space
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.seeds import TRAINING

# ---- bridge ----


class FifthAvenueGames(pufferlib.PufferEnv):  # type: ignore[misc]
    """`num_games` games (n), each an "agent" of PufferLib's: one seat of every game learns, agents
    play the others.

    Observations are float32 (n, OBSERVATION_SIZE + 103), the mask (1: legal) in the last 103
    columns; actions whole numbers (n,). A step is the learner's decision, and those of the agents
    until its next. Finished rows begin the next game in the same step, without their last
    observation, as PufferLib's own do. Infos have `win_share` and `own_vp` of finished games.

    Args:
        num_games: rows.
        buf, seed: PufferLib's own; None: arrays of its own, the system's entropy.
        options: those of :class:`skyenv.envs.learner.LearnerGames`: `num_players`, `opponents`,
            `seat`, `illegal` …
    """

    def __init__(
        self, num_games: int = 256, buf: Any = None, seed: int | None = None, **options: Any
    ) -> None:
        low, high = (
            np.concatenate([ends, np.full(NUM_ACTIONS, end)]) for ends, end in ((LOW, 0), (HIGH, 1))
        )
        self.single_observation_space = Box(
            low.astype(np.float32), high.astype(np.float32), dtype=np.float32
        )
        self.single_action_space = action_space()
        self.num_agents = num_games
        super().__init__(buf)
        self.core = LearnerGames(num_games, **options)
        self.reset(seed)

    def reset(self, seed: int | None = None) -> tuple[npt.NDArray[Any], list[Any]]:
        """Begin new games; the same seed begins the same ones.

        PufferLib gives environments side by side 0, 1, 2 …, whose rows must not play alike.
        """
        self.core.reset(None if seed is None else TRAINING.start + seed * self.num_agents)
        return self._look(), []

    def step(self, actions: Any) -> tuple[Any, ...]:
        """Play an action in every row: observations, rewards, terminals, truncations, infos."""
        core = self.core
        core.step(actions)
        self.rewards[:] = core.reward
        self.terminals[:] = core.done & ~core.truncated
        self.truncations[:] = core.truncated
        over = np.flatnonzero(core.done)
        infos = [
            {name: episode[name] for name in ("win_share", "own_vp")}
            for episode in core.episode_infos(over)
        ]
        core.reset(rows=over)
        return self._look(), self.rewards, self.terminals, self.truncations, infos

    def _look(self) -> npt.NDArray[Any]:
        self.observations[:, :OBSERVATION_SIZE] = self.core.observation()
        self.observations[:, OBSERVATION_SIZE:] = self.core.mask()
        return np.asarray(self.observations)

    def close(self) -> None:
        """Do nothing: there are no workers."""


class MaskedPolicy(pufferlib.models.Default):  # type: ignore[misc]
    """PufferLib's own feed-forward policy, which draws among the legal actions alone."""

    def forward_eval(
        self, observations: torch.Tensor, state: Any = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits (k, 103), −inf where the mask is 0, and values (k, 1) of observations (k,
        OBSERVATION_SIZE + 103).
        """
        logits, values = super().forward_eval(observations, state)
        return logits.masked_fill(observations[:, OBSERVATION_SIZE:] == 0, -torch.inf), values


# ---- use ----


def main(arguments: list[str] | None = None) -> None:
    """Play and print steps a second."""
    parser = argparse.ArgumentParser(description="A masked policy in PufferLib.")
    parser.add_argument("--games", type=int, default=256)
    parser.add_argument("--steps", type=int, default=200, help="of every game")
    options = parser.parse_args(arguments)
    torch.manual_seed(1)
    envs = FifthAvenueGames(options.games, opponents="random")
    policy = MaskedPolicy(envs)
    observations, _ = envs.reset(seed=1)
    started = time.perf_counter()
    for _ in range(options.steps):
        with torch.no_grad():
            logits, _ = policy.forward_eval(torch.from_numpy(observations))
            actions, _, _ = pufferlib.pytorch.sample_logits(logits)
        observations, *_ = envs.step(actions.numpy())
    seconds = time.perf_counter() - started
    print(f"{options.games * options.steps / seconds:,.0f} steps/s")


if __name__ == "__main__":
    main()
