"""A Stable-Baselines3 ``VecEnv`` on the batch engine, for sb3_contrib.MaskablePPO."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from skyenv.checks import check_integer
from skyenv.envs.learner import ROW_ATTRIBUTES, LearnerEnv, LearnerKeywords
from skyenv.envs.spaces import action_space
from skyenv.errors import shown
from skyenv.seeds import HIGHEST_SEED

Indices = None | int | Iterable[int]


class SkyenvVecEnv(LearnerEnv, VecEnv):
    """`num_envs` games in which one seat learns and a pool of agents plays the others.

    A step is one decision of the learner in every row; the others are asked in batches. A finished
    row is reset in the same step. The info of a finished row holds ``"terminal_observation"``,
    ``"TimeLimit.truncated"``, ``"episode"`` (``r``, ``l`` and ``t`` of SB3's Monitor, so no such
    wrapper is needed), and what the episode came to: ``"win_share"``, ``"own_vp"``, ``"opponents"``
    and the others of :func:`skyenv.envs.episodes.episode_infos`. The seeds, which decide every
    hidden card, are no part of it: ``get_attr("seed")`` has those of the games under way, and
    ``core.games.finished.seed`` that of each row's latest finished game.

    An illegal action (of the 103) ends its row's episode with reward −1, and the info's
    ``"illegal_action"`` holds it, so that what knows no masks (DQN, A2C, SB3's own
    ``evaluate_policy``) runs; with ``illegal="raise"`` it raises IllegalActionError with the row.
    MaskablePPO asks for the masks and makes none.

    Args:
        num_envs: number of games.
        num_players: 2 to 4.
        side: ``"front"`` or ``"back"`` of the board.
        render_mode: ``"ansi"``: :meth:`render` returns one text picture per row; ``"rgb_array"``:
            all rows' pictures as one; ``"human"``: it shows the first rows in a window. The last
            two need the extra ``[pictures]``.
        render_all_hands: pictures show every hand; by default they show what the learner may know,
            and nothing more.
        seed: row i's first game gets the seed ``seed`` + i, everything later follows; None: the
            system's entropy.
        threads: threads to play on; None: a sensible number (see :class:`skyenv.Games`).
        opponents, opponent_weights, pool, one_opponent: who plays the other seats: one player for
        all of them; a list with one
            per other seat, clockwise from the learner's; or with ``pool=True`` a list of which one
            is drawn for every row, seat and episode (:class:`skyenv.envs.learner.LearnerGames`).
        illegal: ``"end"`` or ``"raise"``, see above.
        seat: the learner's seat; ``"rotate"``, the default: the next one each episode, beginning
            with the row's seed modulo the number of players; ``"random"``: drawn for every episode.
        observation: what observations are, here and in the spaces: ``"scaled"``, float32, or
            ``"codes"``, int16 (see :class:`skyenv.Games`).
        board, max_turns, reward: as for :class:`skyenv.GameOptions`.

    Attributes:
        core: the games, the learner's seats and the opponents, a
            :class:`skyenv.envs.learner.LearnerGames`.

    Raises:
        OptionError: an option has a wrong value.
        AgentError: an opponent can't be made.
    """

    def __init__(
        self,
        num_envs: int,
        num_players: int = 2,
        side: str = "front",
        *,
        render_mode: str | None = None,
        render_all_hands: bool = False,
        seed: int | None = None,
        threads: int | None = 1,
        **options: Unpack[LearnerKeywords],
    ) -> None:
        options.setdefault("seat", "rotate")
        self._build(
            SkyenvVecEnv,
            num_envs,
            num_players,
            side,
            options,
            render_mode=render_mode,
            render_all_hands=render_all_hands,
            threads=threads,
        )
        super().__init__(num_envs, self.core.space, action_space())
        self._actions: npt.NDArray[np.int64] | None = None
        self._started = time.time()
        if seed is not None:
            self.seed(check_integer("seed", seed, 0, HIGHEST_SEED))

    # ---- playing ----

    def reset(self) -> npt.NDArray[Any]:
        """Start new games in all rows, with the seeds that :meth:`seed` set, or the next ones.

        Returns:
            The learner's observations, float32 or int16 (num_envs, OBSERVATION_SIZE).
        """
        self.core.reset(self._seeds)
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = [{} for _ in range(self.num_envs)]
        return self.core.observation()

    def step_async(self, actions: npt.NDArray[np.int64]) -> None:
        """Keep the actions, integers (num_envs,), for :meth:`step_wait`."""
        self._actions = actions

    def step_wait(
        self,
    ) -> tuple[
        npt.NDArray[Any], npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]
    ]:
        """Take the decisions, and reset the rows that are finished.

        Returns:
            Observations, float32 or int16 (num_envs, OBSERVATION_SIZE); rewards, float32
            (num_envs,), each the sum since the learner's previous decision; whether each row's game
            is over, bool (num_envs,); one info per row.

        Raises:
            IllegalActionError: an action is not one of the 103, or not legal with
                ``illegal="raise"``. Nothing has changed.
        """
        core = self.core
        core.step(np.asarray(self._actions))
        rewards, dones = core.reward.astype(np.float32), core.done.copy()
        infos: list[dict[str, Any]] = [{"TimeLimit.truncated": False} for _ in range(self.num_envs)]
        rows = np.flatnonzero(dones)
        for row, observation, episode in zip(
            rows.tolist(), core.observation(rows), core.episode_infos(rows), strict=True
        ):
            infos[row] = {
                "terminal_observation": observation.copy(),
                "TimeLimit.truncated": bool(core.truncated[row]),
                "episode": {
                    "r": round(float(core.total[row]), 6),
                    "l": int(core.length[row]),
                    "t": round(time.time() - self._started, 6),
                },
                **episode,
            }
        core.reset(rows=rows)
        return core.observation(), rewards, dones, infos

    def action_masks(self) -> npt.NDArray[np.int8]:
        """The legal actions of every row, int8 (num_envs, 103)."""
        return self.core.mask()

    def render(self, mode: str | None = None) -> Any:
        """Every row as its learner sees it, or with all hands open if ``render_all_hands``.

        Args:
            mode: None or the environment's own mode; SB3 warns of others. ``"human"`` in the mode
                ``"rgb_array"``: SB3 shows the picture in a window, for which it needs OpenCV.

        Returns:
            All rows' pictures as one, uint8 (height, width, 3) (``"rgb_array"``), or a tuple of
            texts, one per row (``"ansi"``); None without a mode and in the mode ``"human"``, which
            shows the first rows in a window.

        Raises:
            RenderError: no window can be opened.
        """
        if self.render_mode == "ansi" and mode in (None, "ansi"):
            return tuple(self.env_method("render"))
        return super().render(mode)

    def close(self) -> None:
        """Close the window, if there is one."""
        self._renderer.close()

    # ---- what SB3 asks of the single environments, answered from the batch ----

    def has_attr(self, attr_name: str) -> bool:
        """Whether :meth:`get_attr` has an answer."""
        return attr_name in ROW_ATTRIBUTES

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Every asked row's ``action_masks`` (a function), ``opponents`` (names by seat),
        ``render_mode``, ``seat`` or ``seed``.

        Raises:
            AttributeError: for any other name.
        """
        return self._row_attributes(attr_name, self._rows(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Raise AttributeError: the rows of a batch have no attributes of their own that could be
        set.
        """
        raise AttributeError(
            f"attribute {shown(attr_name)} can't be set: the rows are one batch; set_opponents() "
            "replaces the opponents"
        )

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call ``action_masks``, ``render`` or, of all rows, ``set_opponents``; returns what each
        of the asked rows gives.

        Raises:
            AttributeError: for any other method.
        """
        return self._call_rows(method_name, self._rows(indices), *method_args, **method_kwargs)

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """True for SB3's Monitor, whose "episode" entries this environment makes itself; else
        False.
        """
        return [wrapper_class is Monitor for _ in self._rows(indices)]

    def get_images(self) -> Sequence[npt.NDArray[np.uint8] | None]:
        """Every row's pixels, uint8 (height, width, 3), in the mode ``"rgb_array"``, else None."""
        return self._pictures() if self.render_mode == "rgb_array" else [None] * self.num_envs

    def _rows(self, indices: Indices) -> list[int]:
        return list(self._get_indices(indices))
