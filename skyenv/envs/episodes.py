"""What an episode came to: the same entries in the infos of every interface, whatever the
reward.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.engine.games import results
from skyenv.rules.state import END_REASONS

ILLEGAL: Final = "illegal"
"""The reason of an end that an illegal action has made."""


def episode_infos(
    state: npt.NDArray[np.void],
    seats: npt.NDArray[np.int64],
    names: Sequence[Sequence[str]],
    illegal: npt.NDArray[np.bool_],
) -> list[dict[str, Any]]:
    """What the infos at the end of episodes tell, one dict each.

    * ``"win_share"``: float64, 1 for a win, 1/k for one shared by k (END-4; of a truncated game by
      the scores as they stand), 0 for everybody after an illegal action.
    * ``"own_vp"``, ``"best_other_vp"``: int64; ``"scores"``: a list of every seat's VP.
    * ``"seat"``: int64, whose info it is; ``"opponents"``: a list of the names of every seat's
      player, None at its own.
    * ``"decisions"``, ``"turns"``: int64, taken and finished by all seats together.
    * ``"end_reason"``: ``"businesses"``, ``"stops"``, ``"truncated"`` or ``"illegal"``.

    Args:
        state: GAME_DTYPE (k,), the games as they ended.
        seats: int64 (k,), whose infos.
        names: for each the names of its seats' players.
        illegal: bool (k,), whether an illegal action has ended the episode.

    Raises:
        OptionError: these are no games.
    """
    shares = np.where(illegal, 0.0, results(state)[0][np.arange(len(seats)), seats])
    infos = []
    for game, seat, share, players, cut_short in zip(
        state, seats, shares, names, illegal.tolist(), strict=True
    ):
        scores = game["score"][: len(players)].astype(np.int64)
        infos.append(
            {
                "win_share": share,
                "own_vp": scores[seat],
                "best_other_vp": np.delete(scores, seat).max(),
                "scores": scores.tolist(),
                "seat": seat,
                "opponents": [
                    None if other == seat else name for other, name in enumerate(players)
                ],
                "decisions": np.int64(game["decisions"]),
                "turns": np.int64(game["turns"]),
                "end_reason": ILLEGAL if cut_short else END_REASONS[game["end"]],
            }
        )
    return infos
