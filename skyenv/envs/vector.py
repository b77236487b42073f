"""The native Gymnasium vector environment: ``gymnasium.make_vec("skyenv/FifthAvenue-v0")``."""

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np

from skyenv.array_types import AnyArray, ArrayLike, Bool, Float64, Int64
from skyenv.checks import checks_names, whole_numbers
from skyenv.envs.episodes import check_no_options
from skyenv.envs.learner import LearnerEnv, LearnerGames, LearnerKeywords
from skyenv.envs.registration import ENV_ID, step_limit
from skyenv.envs.rendering import RENDER_MODES
from skyenv.envs.spaces import action_space, in_one_line
from skyenv.errors import IllegalActionError, OptionError, needs_extra

with needs_extra("gymnasium"):
    import gymnasium
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector.utils import batch_space

Observations = Any
"""A float32 array, or a dict of it and the masks."""


class FifthAvenueVectorEnv(LearnerEnv, gymnasium.vector.VectorEnv[Observations, Int64, AnyArray]):
    """A vector of games: row i equals a :class:`skyenv.envs.single.FifthAvenueEnv` with row i's
    seed.

    Infos are those of the single environment as arrays (num_envs, …), of the same positions as the
    observations. As usual, bool arrays ``"_action_mask"`` … mark the rows that have an entry (all).
    Infos omit the seeds, which decide every hidden card; ``core.games.seeds`` has them.

    A finished row is reset in the same step, with the end in ``info["final_obs"]`` and
    ``info["final_info"]`` (``SAME_STEP``, recommended: no mask is ever empty); in the next step,
    which ignores its action (``NEXT_STEP``, the default); or by the user alone (``DISABLED``). In
    the last two a finished row's mask is all 0, or allows action 0 with ``noop=True``.

    Args:
        num_envs: number of games.
        num_players, side: as for the single environment.
        mask, noop: as for the single environment; observations are then dicts of arrays.
        illegal, illegal_reward: as for the single environment; with ``"raise"`` the error names the
            row.
        render_mode: ``"ansi"``: :meth:`render` returns one text picture per row; ``"rgb_array"``:
            pixels of every row; ``"human"``: it shows the first row in a window. The last two need
            the extra ``[pictures]``.
        autoreset_mode: the time of a finished row's reset, an AutoresetMode or its value.
        max_episode_steps: the limit registered with the id, which Gymnasium passes; no lower one.
        threads: number of threads; None: automatic (see :class:`skyenv.Games`).
        opponents, opponent_weights, pool, one_opponent, seat, board, max_turns, reward: as for the
            single environment.

    Attributes:
        core: the games, the learner's seats and the opponents, a
            :class:`skyenv.envs.learner.LearnerGames`.

    Raises:
        OptionError: an option has a wrong value; ValueError: there is no such autoreset mode.
        AgentError: an opponent can't be made.
    """

    @checks_names(ENV_ID, LearnerKeywords)
    def __init__(
        self,
        num_envs: int = 1,
        num_players: int = 2,
        side: str = "front",
        *,
        mask: str = "info",
        noop: bool = False,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int | None = 1,
        max_episode_steps: int | None = None,
        **options: Unpack[LearnerKeywords],
    ) -> None:
        self._build(
            LearnerGames(num_envs, num_players, side, threads=threads, **options),
            render_mode,
            mask,
            noop,
        )
        limit = step_limit(self.core.games.options.task)
        if max_episode_steps is not None and max_episode_steps < limit:
            raise OptionError(
                f"max_episode_steps must exceed all games, from {limit}; use max_turns"
            )
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.num_envs = num_envs
        self.metadata = {
            "render_modes": list(RENDER_MODES),
            "render_fps": 2,
            "autoreset_mode": self.autoreset_mode,
        }
        self.single_observation_space = self._masks.space(self.core.space)
        self.single_action_space = action_space()
        self.observation_space = in_one_line(batch_space(self.single_observation_space, num_envs))
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
            options: ``"reset_mask"``, a bool array (num_envs,) with at least one True.

        Returns:
            The observations, float32 (num_envs, OBSERVATION_SIZE), and the infos, both of
            all rows.

        Raises:
            OptionError: a wrong seed, reset mask or option.
        """
        given = dict(options or {})
        marked = np.asarray(given.pop("reset_mask", np.ones(self.num_envs, np.bool_)))
        check_no_options(given)
        if marked.shape != (self.num_envs,) or marked.dtype != np.bool_ or not marked.any():
            raise OptionError(
                f"options['reset_mask'] must be a bool array ({self.num_envs},) that marks a row"
            )
        self.core.reset(seed, np.flatnonzero(marked))
        return self._outputs()

    def step(self, actions: ArrayLike) -> tuple[Observations, Float64, Bool, Bool, dict[str, Any]]:
        """Play an action in every row; the autoreset mode decides about finished rows (see the
        class).

        Args:
            actions: one action per row, integers (num_envs,).

        Returns:
            Observations, float32 (num_envs, OBSERVATION_SIZE); rewards, float64
            (num_envs,); terminations and truncations, bool (num_envs,); infos.

        Raises:
            IllegalActionError: an action is not one of the 103, or not legal with
                ``illegal="raise"``.
            GameOverError: autoreset is disabled and a row is over. In both cases nothing has
                changed.
        """
        core = self.core
        numbers = whole_numbers("actions", actions, (self.num_envs,), IllegalActionError)
        resetting = core.done & (self.autoreset_mode is AutoresetMode.NEXT_STEP)
        rows = np.flatnonzero(~resetting)
        core.step(numbers[rows], rows)
        core.reset(rows=np.flatnonzero(resetting))
        rewards = np.where(resetting, 0.0, core.reward)
        truncations = core.truncated.copy()
        terminations = core.done & ~truncations
        ends: dict[str, Any] = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            over = np.flatnonzero(core.done)
            for row in over.tolist():
                observation, info = self._row(row)
                ends = self._add_info(ends, {"final_obs": observation, "final_info": info}, row)
            core.reset(rows=over)
        observations, infos = self._outputs()
        return observations, rewards, terminations, truncations, {**ends, **infos}

    def render(self) -> tuple[Any, ...] | None:
        """Render every row as its learner sees it.

        Returns:
            For every row text (mode ``"ansi"``) or pixels, uint8 (height, width, 3)
            (``"rgb_array"``); None without a mode and in the mode ``"human"``, which shows the
            first row in a window.

        Raises:
            RenderError: no window can be opened.
        """
        pictures = tuple(self._picture(row) for row in range(self.num_envs))
        return None if pictures[0] is None else pictures

    def _outputs(self) -> tuple[Observations, dict[str, Any]]:
        """Return the observations and infos of all rows."""
        core, mask = self.core, self.action_masks()
        info = {**self._masks.info(mask), **core.infos()}
        present = {f"_{name}": np.ones(self.num_envs, np.bool_) for name in info}
        return self._masks.observation(core.observation(), mask), {**info, **present}
