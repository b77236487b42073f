"""Observation and action spaces, and the place of the action mask.

Libraries expect the mask in different places. PettingZoo's and RLlib's examples read it from the
observation, which is a dict; TorchRL, AgileRL and SuperSuit's wrappers of plain observations from
the infos.
"""

from typing import Any, Final

import numpy as np

from skyenv.array_types import AnyArray, Float32, Int8
from skyenv.checks import check_choice, check_flag
from skyenv.engine.observation import HIGH, LOW
from skyenv.errors import needs_extra
from skyenv.rules.actions import NUM_ACTIONS

with needs_extra("gymnasium"):
    from gymnasium import spaces

Mask = Int8
ACTION_MASK: Final = "action_mask"
"""The mask's key, in observations and infos."""
# For every place of the mask the vector's key in dict observations; None: observations are vectors,
# and infos hold the mask.
_KEYS: Final = {"observation": "observation", "info": None, "rllib": "observations"}


def observation_space() -> spaces.Space[Float32]:
    """Return the space of a seat's observation: a Box (OBSERVATION_SIZE,), every entry in its
    range.
    """
    return in_one_line(spaces.Box(low=LOW, high=HIGH, dtype=np.float32))


def in_one_line(space: spaces.Space[Any]) -> spaces.Space[Any]:
    """Return a space with a one-line repr, which has the range of the upper bounds."""
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
        noop: whether an otherwise empty mask (the game is over, or another agent is to act) allows
            action 0, so that a softmax or maximum over masked logits stays finite. Action 0 has no
            effect in a finished row that is about to be reset (NEXT_STEP), nor for a parallel agent
            that is not to act; elsewhere an action after the end remains an error.

    Raises:
        OptionError: an option has a wrong value.

    Attributes:
        in_infos: whether infos have the mask.
    """

    def __init__(self, mask: str, noop: bool = False) -> None:
        self._key = _KEYS[check_choice("mask", mask, tuple(_KEYS))]
        self.in_infos = self._key is None
        self._noop = check_flag("noop", noop)

    def space(self, vector: spaces.Space[Any]) -> spaces.Space[Any]:
        """Return the space of observations with vectors of the space `vector`."""
        if self._key is None:
            return vector
        mask = spaces.Box(low=0, high=1, shape=(NUM_ACTIONS,), dtype=np.int8)
        return spaces.Dict({self._key: vector, ACTION_MASK: mask})

    def shown(self, mask: Mask) -> Mask:
        """Return the mask to show, int8 (…, 103); ``noop`` writes into `mask`."""
        if self._noop:
            mask[..., 0] |= ~mask.any(axis=-1)
        return mask

    def observation(self, vector: AnyArray, mask: Mask) -> Any:
        """Return an observation: the vector, (…, OBSERVATION_SIZE), or the dict of it and the
        mask.
        """
        return vector if self._key is None else {self._key: vector, ACTION_MASK: mask}

    def info(self, mask: Mask) -> dict[str, Any]:
        """Return the mask's entry of an info, or an empty dict."""
        return {ACTION_MASK: mask} if self._key is None else {}
