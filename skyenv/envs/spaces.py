"""The spaces that all interfaces share, as Gymnasium describes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from skyenv.engine.games import SCALED
from skyenv.engine.observation import HIGH, LARGEST_CODES, LOW, OBSERVATION_SIZE
from skyenv.rules.actions import NUM_ACTIONS


def observation_space(observation: str = SCALED) -> spaces.Space[npt.NDArray[Any]]:
    """A seat's observation: a Box (OBSERVATION_SIZE,), every entry in its stated range.

    Args:
        observation: ``"scaled"``: float32; ``"codes"``: int16.
    """
    if observation == SCALED:
        return spaces.Box(low=LOW, high=HIGH, shape=(OBSERVATION_SIZE,), dtype=np.float32)
    return spaces.Box(
        low=np.zeros_like(LARGEST_CODES),
        high=LARGEST_CODES,
        shape=(OBSERVATION_SIZE,),
        dtype=np.int16,
    )


def action_space() -> spaces.Discrete:
    """The 103 actions of INTERFACE.md."""
    return spaces.Discrete(NUM_ACTIONS)


def state_space(num_players: int) -> spaces.Space[npt.NDArray[np.float32]]:
    """Every seat's observation, one after the other in seat order: float32 (num_players ·
    OBSERVATION_SIZE,).
    """
    low, high = np.tile(LOW, num_players), np.tile(HIGH, num_players)
    box: spaces.Box[Any] = spaces.Box(low=low, high=high, shape=low.shape, dtype=np.float32)
    return box
