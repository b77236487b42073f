"""Where an environment gives its mask of the legal actions: in the observation, in the infos, or in
both.

Libraries look in different places: PettingZoo's own and RLlib's in the observation, which is a dict
then, TorchRL, AgileRL and SuperSuit's wrappers of plain observations in the infos.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypedDict

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from skyenv.checks import check_choice, check_flag
from skyenv.rules.actions import NUM_ACTIONS

Mask = npt.NDArray[np.int8]
ACTION_MASK: Final = "action_mask"
"""The mask's key, wherever it stands."""
_PLACES: Final[dict[str, tuple[str | None, bool]]] = {
    "observation": ("observation", False),
    "info": (None, True),
    "both": ("observation", True),
    "rllib": ("observations", False),
}
"""For every place the key of the vector in an observation that is a dict, and whether the mask
stands in the infos.
"""


class MaskKeywords(TypedDict, total=False):
    """The options of :class:`MaskPlace` that environments hand on: ``**options:
    Unpack[MaskKeywords]``.
    """

    mask: str
    noop: bool


class MaskPlace:
    """What observations and infos look like.

    Args:
        mask: ``"observation"``: observations are dicts of ``"observation"`` and ``"action_mask"``;
            ``"info"``: observations are vectors, and infos have ``"action_mask"``; ``"both"``:
            dicts, and infos have it, too; ``"rllib"``: dicts of ``"observations"`` and
            ``"action_mask"``, which RLlib's masking modules ask for.
        noop: where there is nothing to decide (the game is over, or another agent is to act) the
            mask allows action 0 instead of no action at all. Who masks with −∞ and takes a softmax
            or a maximum gets NaN or −∞ of a mask without any action. Action 0 does nothing in a
            finished row that is about to be reset (NEXT_STEP), nor for a parallel agent who isn't
            to act; elsewhere an action after the end is an error as before.

    Attributes:
        in_info: whether infos have the mask.

    Raises:
        OptionError: an option has a wrong value.
    """

    def __init__(self, mask: str, noop: bool = False) -> None:
        self._key, self.in_info = _PLACES[check_choice("mask", mask, tuple(_PLACES))]
        self._noop = check_flag("noop", noop)

    def space(self, vector: spaces.Space[Any]) -> spaces.Space[Any]:
        """The space of observations whose vectors are of a space."""
        if self._key is None:
            return vector
        return spaces.Dict(
            {
                self._key: vector,
                ACTION_MASK: spaces.Box(low=0, high=1, shape=(NUM_ACTIONS,), dtype=np.int8),
            }
        )

    def shown(self, mask: Mask) -> Mask:
        """The legal actions, int8 (…, 103), as they are shown; with ``noop`` written into."""
        if self._noop:
            mask[..., 0] |= ~mask.any(axis=-1)
        return mask

    def observation(self, vector: npt.NDArray[Any], mask: Callable[[], Mask]) -> Any:
        """An observation: the vector, (…, OBSERVATION_SIZE), or the dict of it and of what `mask`
        gives, if it is needed.
        """
        return vector if self._key is None else {self._key: vector, ACTION_MASK: mask()}
