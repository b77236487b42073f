"""Positions with open hands: as if all cards in hands lay face up, for agents that are asked about
a recorded game.

What an agent uses of a position, its view or its observation, shows open hands like any other cards
that everybody knows of. So every agent can be asked so; the order of the face-down cards stays
unknown, as it is to the rules themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def with_open_hands(states: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """The same positions, with every card in a hand known to everybody.

    Args:
        states: GAME_DTYPE (k,); they stay as they are.

    Returns:
        GAME_DTYPE (k,). What seats can't locate in them lies face down, so every determinization
        has the real hands.
    """
    opened = states.copy()
    opened["known"] = opened["hand"]
    opened["unknown"] = 0
    opened["unlocated"] = opened["face_down"]
    forget_shuffles(opened)
    return opened


def forget_shuffles(state: Any) -> None:
    """Let seats forget what earlier shuffles of the black stack told them of hands (AUC-9).

    `state`: GAME_DTYPE, one or (k,).
    """
    state["deduced"] = 0
