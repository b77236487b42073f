"""``gymnasium.make_vec("skyenv/FifthAvenue-v0", num_envs=N)``: a native vector environment on the
batch engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Unpack

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from skyenv.envs.learner import (
    ROW_METHODS,
    Bool,
    Int64,
    LearnerEnv,
    LearnerKeywords,
    action_numbers,
)
from skyenv.envs.rendering import RENDER_MODES, Renderer
from skyenv.envs.spaces import ACTION_MASK, action_space
from skyenv.errors import OptionError, shown

Observations = Any
"""float32, or int16 with ``observation="codes"``; or a dict of it and the masks."""
Float64 = npt.NDArray[np.float64]
StepResult = tuple[Observations, Float64, Bool, Bool, dict[str, Any]]


class FifthAvenueVectorEnv(
    LearnerEnv, gymnasium.vector.VectorEnv[Observations, npt.NDArray[np.int64], npt.NDArray[Any]]
):
    """`num_envs` games as one: row i is what :class:`skyenv.envs.single.FifthAvenueEnv` would be
    with row i's seed.

    ``info["action_mask"]``, int8 (num_envs, 103), and ``info["seat"]``, int64 (num_envs,), tell of
    the position that the observation shows; as usual a bool array ``"_action_mask"`` … says which
    rows have an entry (all). The games' seeds, which decide every hidden card, are no part of it;
    ``core.games.seeds`` has them. After an illegal action ``info["illegal_action"]`` holds it, in
    the rows that ``"_illegal_action"`` marks. Rows whose episode has just ended tell what it came
    to: ``"win_share"``, ``"own_vp"`` and the others of :func:`skyenv.envs.episodes.episode_infos`.

    A finished row is reset in the same step, with the end in ``info["final_obs"]`` and
    ``info["final_info"]`` (``SAME_STEP``: take it, no mask is ever empty then); in the next step,
    which ignores its action (``NEXT_STEP``, the default); or by the user alone (``DISABLED``). In
    the last two a finished row's mask is all 0, unless ``noop=True`` lets it allow action 0.

    Args:
        num_envs: number of games.
        num_players, side: as for the single environment.
        mask, noop: as for the single environment; observations are then dicts of arrays.
        illegal: as for the single environment; with ``"raise"`` the error names the row.
        render_mode: ``"ansi"``: :meth:`render` returns one text picture per row; ``"rgb_array"``:
            pixels of every row; ``"human"``: it shows the first rows in a window. The last two need
            the extra ``[pictures]``.
        render_all_hands: as for the single environment.
        autoreset_mode: when a finished row is reset: an AutoresetMode or its value.
        threads: threads to play on; None: a sensible number (see :class:`skyenv.Games`).
        observation: what observations are, here and in the spaces: ``"scaled"``, float32, or
            ``"codes"``, int16 (see :class:`skyenv.Games`).
        opponents, opponent_weights, pool, one_opponent, seat, board, max_turns, reward: as for the
        single environment.

    Attributes:
        core: the games, the learner's seats and the opponents, a
            :class:`skyenv.envs.learner.LearnerGames`.

    Raises:
        OptionError: an option has a wrong value.
        AgentError: an opponent can't be made.
    """

    _renderer = Renderer(
        None, all_hands=False
    )  # Gymnasium 1.1 closes an environment, too, whose options were refused

    def __init__(
        self,
        num_envs: int = 1,
        num_players: int = 2,
        side: str = "front",
        *,
        mask: str = "info",
        noop: bool = False,
        render_mode: str | None = None,
        render_all_hands: bool = False,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int | None = 1,
        **options: Unpack[LearnerKeywords],
    ) -> None:
        if "max_episode_steps" in options:  # make_vec hands it on
            raise OptionError(
                "there is no max_episode_steps; max_turns truncates games after so many turns of "
                "all seats (END-5)"
            )
        self._build(
            FifthAvenueVectorEnv,
            num_envs,
            num_players,
            side,
            options,
            mask=mask,
            noop=noop,
            render_mode=render_mode,
            render_all_hands=render_all_hands,
            threads=threads,
        )
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            modes = ", ".join(mode.value for mode in AutoresetMode)
            raise OptionError(
                f"autoreset_mode must be one of {modes}, not {shown(autoreset_mode)}"
            ) from None
        self.num_envs = num_envs
        self.metadata = {
            "render_modes": list(RENDER_MODES),
            "render_fps": 2,
            "autoreset_mode": self.autoreset_mode,
        }
        self.single_observation_space = self._masks.space(self.core.space)
        self.single_action_space = action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observations, dict[str, Any]]:
        """Start new games in all rows, or in those that ``options["reset_mask"]`` marks.

        Args:
            seed: an integer s: row i's game gets the seed s + i; a sequence: one seed or None per
                row; None: each row goes on with its own next seed.
            options: ``"reset_mask"``, a bool array (num_envs,) with at least one True; other
                entries are ignored.

        Returns:
            The observations, float32 or int16 (num_envs, OBSERVATION_SIZE), and the infos, both of
            all rows.

        Raises:
            OptionError: a wrong seed or reset mask.
        """
        rows = self.core.all_rows
        if options is not None and "reset_mask" in options:
            rows = np.flatnonzero(self._checked_reset_mask(options["reset_mask"]))
        super().reset(seed=seed if isinstance(seed, int) else None)
        self.core.reset(seed, rows)
        return self._observations(), self._info(self.core.all_rows, np.zeros_like(self.core.done))

    def step(self, actions: npt.ArrayLike) -> StepResult:
        """Take every row's decision; what then happens to finished rows is the autoreset mode's
        choice (see the class).

        Args:
            actions: one action per row, integers (num_envs,).

        Returns:
            Observations, float32 or int16 (num_envs, OBSERVATION_SIZE); rewards, float64
            (num_envs,); terminations and truncations, bool (num_envs,); infos.

        Raises:
            IllegalActionError: an action is not one of the 103, or not legal with
                ``illegal="raise"``.
            GameOverError: autoreset is disabled and a row is over. In both cases nothing has
                changed.
        """
        core, mode = self.core, self.autoreset_mode
        numbers = action_numbers(actions, self.num_envs)
        resetting = core.done & (mode is AutoresetMode.NEXT_STEP)
        rows = np.flatnonzero(~resetting)
        core.step(numbers[rows], rows)
        core.reset(rows=np.flatnonzero(resetting))
        rewards, truncations = core.reward.copy(), core.truncated.copy()
        terminations = core.done & ~truncations
        if mode is AutoresetMode.SAME_STEP and core.done.any():
            info = self._reset_finished()
        else:
            info = self._info(core.all_rows, core.done)
        return self._observations(), rewards, terminations, truncations, info

    def action_masks(self) -> npt.NDArray[np.int8]:
        """Every row's legal actions, int8 (num_envs, 103); all 0 in a row that is over."""
        return self._masks.shown(self.core.mask())

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """What a method of the rows (``action_masks``, ``render``, ``set_opponents``) returns in
        each, or each one's attribute.

        Raises:
            AttributeError: there is neither; the message names those that there are.
        """
        if name in ROW_METHODS:
            return tuple(self._call_rows(name, self.core.all_rows.tolist(), *args, **kwargs))
        return self.get_attr(name)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Every row's ``action_masks`` (a function), ``opponents`` (names by seat),
        ``render_mode``, ``seat`` or ``seed``.

        Raises:
            AttributeError: for any other name.
        """
        return tuple(self._row_attributes(name, range(self.num_envs)))

    def render(self) -> tuple[Any, ...] | None:
        """Every row as its learner sees it, or with all hands open if ``render_all_hands``.

        Returns:
            For every row text (mode ``"ansi"``) or pixels, uint8 (height, width, 3)
            (``"rgb_array"``); None without a mode and in the mode ``"human"``, which shows the
            first rows in a window.

        Raises:
            RenderError: no window can be opened.
        """
        pictures = self._pictures()
        return None if pictures[0] is None else tuple(pictures)

    def close_extras(self, **kwargs: Any) -> None:
        """Close the window, if there is one."""
        self._renderer.close()

    def _checked_reset_mask(self, mask: object) -> Bool:
        if (
            not isinstance(mask, np.ndarray)
            or mask.dtype != np.bool_
            or mask.shape != (self.num_envs,)
        ):
            raise OptionError(
                f"options['reset_mask'] must be a bool array of shape ({self.num_envs},)"
            )
        if not mask.any():
            raise OptionError("options['reset_mask'] must mark at least one row")
        return mask

    def _reset_finished(self) -> dict[str, Any]:
        """SAME_STEP: reset the finished rows and return the infos, which hold how they ended."""
        core = self.core
        over, rows = core.done.copy(), np.flatnonzero(core.done)
        final_obs = np.full(self.num_envs, None, dtype=object)
        for row in rows.tolist():
            one = np.array([row])
            mask = partial(self._row_mask, row)
            final_obs[row] = self._masks.observation(core.observation(one)[0], mask)
        final_info = self._info(rows, over)
        core.reset(rows=rows)
        return {
            **self._info(core.all_rows, core.done),
            "final_obs": final_obs,
            "_final_obs": over,
            "final_info": final_info,
            "_final_info": over.copy(),
        }

    def _observations(self) -> Observations:
        return self._masks.observation(self.core.observation(), self.action_masks)

    def _info(self, rows: Int64, ended: Bool) -> dict[str, Any]:
        """Return the infos of `rows`, with those of episodes in the rows that have `ended`; the
        entries of other rows are 0.
        """
        present = np.isin(self.core.all_rows, rows)
        info: dict[str, Any] = {}
        if self._masks.in_info:
            info[ACTION_MASK] = self.action_masks() * present[:, None]
            info[f"_{ACTION_MASK}"] = present.copy()
        info.update(seat=self.core.learner * present, _seat=present)
        over = np.flatnonzero(ended)
        for row, episode in zip(over.tolist(), self.core.episode_infos(over), strict=True):
            info = self._add_info(info, episode, row)
        return info
