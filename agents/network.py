"""The network of trained agents. It has a module of its own because checkpoints name it."""

from __future__ import annotations

from typing import Any

import torch
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor


class Trunk(BaseFeaturesExtractor):
    """The first layer, which policy and value share: most of the work is there, so sharing it halves an update's time."""

    def __init__(self, observation_space: Any, width: int) -> None:
        super().__init__(observation_space, width)
        self.layers = torch.nn.Sequential(torch.nn.Linear(observation_space.shape[0], width), torch.nn.ReLU())

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """Features, float32 (k, width), of observations, float32 (k, OBSERVATION_SIZE)."""
        features: torch.Tensor = self.layers(observation)
        return features
