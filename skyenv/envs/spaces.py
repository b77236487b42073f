"""Spaces that all interfaces share, and the place of the mask of legal actions: in the observation
or in the infos.

Libraries look in different places: PettingZoo's own and RLlib's in the observation, which is a dict
then; TorchRL, AgileRL and SuperSuit's wrappers of plain observations in the infos.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from skyenv.checks import check_choice, check_flag
from skyenv.engine.games import SCALED
from skyenv.engine.observation import HIGH, LARGEST_CODES
from skyenv.rules.actions import NUM_ACTIONS

Mask = npt.NDArray[np.int8]
ACTION_MASK: Final = "action_mask"
"""The mask's key, wherever it stands."""
_KEYS: Final = {"observation": "observation", "info": None, "rllib": "observations"}
"""For every place the key of the vector in an observation that is a dict; None: observations are
vectors, and the mask stands in the infos.
"""


def observation_space(observation: str = SCALED) -> spaces.Space[npt.NDArray[Any]]:
    """Return the space of a seat's observation: a Box (OBSERVATION_SIZE,), every entry in its
    range.

    Args:
        observation: ``"scaled"``: float32; ``"codes"``: int16.
    """
    high = HIGH if observation == SCALED else LARGEST_CODES
    return in_one_line(spaces.Box(low=np.zeros_like(high), high=high, dtype=high.dtype))


def in_one_line(space: spaces.Space[Any]) -> spaces.Space[Any]:
    """Return a space whose text is one line: of the upper bounds it has the range."""
    boxes: Any = space.values() if isinstance(space, spaces.Dict) else [space]
    for box in boxes:
        lowest, highest = np.min(box.high), np.max(box.high)
        box.low_repr = f"{np.min(box.low):g}"
        box.high_repr = f"{lowest:g}" if lowest == highest else f"{lowest:g} … {highest:g}"
    return space


def action_space() -> spaces.Discrete:
    """Return the space of the 103 actions of INTERFACE.md."""
    return spaces.Discrete(NUM_ACTIONS)


class MaskPlace:
    """The form of observations and infos.

    Args:
        mask: ``"observation"``: observations are dicts of ``"observation"`` and ``"action_mask"``;
            ``"info"``: observations are vectors, and infos have ``"action_mask"``; ``"rllib"``:
            dicts of ``"observations"`` and ``"action_mask"``, as RLlib's masking modules require.
        noop: where there is nothing to decide (the game is over, or another agent is to act) the
            mask allows action 0 instead of no action at all: a softmax or maximum over actions
            masked with −∞ is NaN or −∞ if none is allowed. Action 0 does nothing in a finished row
            that is about to be reset (NEXT_STEP), nor for a parallel agent that is not to act;
            elsewhere an action after the end is an error as before.

    Raises:
        OptionError: an option has a wrong value.
    """

    def __init__(self, mask: str, noop: bool = False) -> None:
        self._key = _KEYS[check_choice("mask", mask, tuple(_KEYS))]
        self._noop = check_flag("noop", noop)

    def space(self, vector: spaces.Space[Any]) -> spaces.Space[Any]:
        """Return the space of observations whose vectors are of the space `vector`."""
        if self._key is None:
            return vector
        mask = spaces.Box(low=0, high=1, shape=(NUM_ACTIONS,), dtype=np.int8)
        return spaces.Dict({self._key: vector, ACTION_MASK: mask})

    def shown(self, mask: Mask) -> Mask:
        """Return legal actions, int8 (…, 103), as they are shown; ``noop`` writes into `mask`."""
        if self._noop:
            mask[..., 0] |= ~mask.any(axis=-1)
        return mask

    def observation(self, vector: npt.NDArray[Any], mask: Mask) -> Any:
        """Return an observation: the vector, (…, OBSERVATION_SIZE), or the dict of it and the
        mask.
        """
        return vector if self._key is None else {self._key: vector, ACTION_MASK: mask}

    def info(self, mask: Mask) -> dict[str, Any]:
        """Return what an info has of the mask: the entry of `mask`, or nothing."""
        return {ACTION_MASK: mask} if self._key is None else {}
