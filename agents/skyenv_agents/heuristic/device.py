"""Heuristic players in a GPU's memory: the same scores from the same functions, a thread for each
decision.

It needs the extra ``[cuda]``. Games on a GPU are the processor's bit for bit; scores need not be: a
GPU multiplies and adds in one rounding where a processor takes two, and its exponential function
rounds in its own way. So where two actions are equally good but for rounding, a player may take
another one there than here.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.cuda import DeviceArray, Games
from skyenv.cuda.arrays import cuda
from skyenv.cuda.kernels import GAME_WORDS, THREADS, kernel
from skyenv.engine.knowledge import VIEW_DTYPE, redact
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.state import new_records
from skyenv_agents.heuristic.features import HEURISTIC_DTYPE
from skyenv_agents.heuristic.judging import choose_best, judge
from skyenv_agents.heuristic.player import HeuristicAgent

VIEW_WORDS: Final = VIEW_DTYPE.itemsize // 4
AT_A_TIME: Final = 2**16
"""Decisions made side by side, 3.5 KB each; further ones wait for them."""


@kernel
def judge_rows(
    state: Any,
    state_words: Any,
    mask: Any,
    rows: Any,
    uniforms: Any,
    weights: Any,
    views: Any,
    view_words: Any,
    heuristic: Any,
    actions: Any,
    scores: Any,
) -> None:
    """As :func:`skyenv_agents.heuristic.judging.decide_all`, for whoever is to act in the rows
    named, where the game goes on.

    Args:
        state, mask, actions: of all rows, as :class:`skyenv.cuda.Games` has them; `scores` too,
            float64 (n, 103), or (0, 103).
        state_words, view_words: the same memory as `state` and `views`, uint32.
        rows: int64 (k,). uniforms: float64 (k,).
        views, heuristic: a record for every thread, to work with.
    """
    thread = cuda.grid(1)
    for k in range(thread, len(rows), cuda.gridsize(1)):
        row = rows[k]
        seat = int(state[row].seat)
        if seat >= 0:
            for word in range(GAME_WORDS):
                view_words[thread * VIEW_WORDS + word] = state_words[row * GAME_WORDS + word]
            h = heuristic[thread]
            redact(views[thread], seat)
            judge(views[thread], weights[0], h, mask[row])
            actions[row] = choose_best(h, mask[row], uniforms[k])
            if len(scores) > 0:
                for action in range(NUM_ACTIONS):
                    scores[row, action] = h.score[action]


class DevicePlayer:
    """A heuristic agent at games in a GPU's memory.

    Args:
        agent: decides. games: where; they may be played on meanwhile.
        scores: whether its scores are kept too.

    Attributes:
        actions: int64 (num_games,), what it decided last in each row.
        scores: float64 (num_games, 103), what it held of the actions there, in VP; only those of
            legal ones mean anything. (0, 103): they aren't kept.
    """

    def __init__(self, agent: HeuristicAgent, games: Games, *, scores: bool = False) -> None:
        self.agent, self.games = agent, games
        threads = min(-(-games.num_games // THREADS) * THREADS, AT_A_TIME)
        self._weights = cuda.to_device(agent.weights(games.num_players))
        self._views, self._heuristic = (
            cuda.to_device(new_records(threads, dtype)) for dtype in (VIEW_DTYPE, HEURISTIC_DTYPE)
        )
        self.actions = DeviceArray(cuda.to_device(np.zeros(games.num_games, np.int64)))
        self.scores = DeviceArray(
            cuda.to_device(np.zeros((games.num_games if scores else 0, NUM_ACTIONS)))
        )

    def decide(self, rows: Any, uniforms: Any) -> DeviceArray:
        """Decide in some rows, where the game goes on; nothing is waited for.

        Args:
            rows: int64 (k,), none twice. uniforms: float64 (k,) in [0, 1), what chooses among
                equally good actions. Both in the GPU's memory or in ordinary one, from which they
                are copied.

        Returns:
            `actions`; those of other rows are as they were.
        """
        chosen, numbers = _there(rows, np.int64), _there(uniforms, np.float64)
        if len(chosen):
            state = self.games.state.array
            blocks = min(-(-len(chosen) // THREADS), len(self._views) // THREADS)
            judge_rows[blocks, THREADS](
                state,
                state.view(np.uint32),
                self.games.mask.array,
                chosen,
                numbers,
                self._weights,
                self._views,
                self._views.view(np.uint32),
                self._heuristic,
                self.actions.array,
                self.scores.array,
            )
        return self.actions


def _there(given: Any, dtype: npt.DTypeLike) -> Any:
    """An array in the GPU's memory, as Numba has it."""
    if isinstance(given, DeviceArray):
        return given.array
    return (
        cuda.as_cuda_array(given)
        if hasattr(given, "__cuda_array_interface__")
        else cuda.to_device(np.asarray(given, dtype))
    )
