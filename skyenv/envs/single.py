"""``gymnasium.make("skyenv/FifthAvenue-v0")``: one learner at the table, the other seats played by
agents.
"""

from __future__ import annotations

from typing import Any, ClassVar, Unpack

import gymnasium
import numpy as np
import numpy.typing as npt

from skyenv.checks import check_flag
from skyenv.envs.episodes import check_no_options
from skyenv.envs.learner import LearnerEnv, LearnerGame, LearnerKeywords
from skyenv.envs.rendering import RENDER_MODES
from skyenv.envs.spaces import action_space


class FifthAvenueEnv(LearnerEnv, gymnasium.Env[Any, np.int64]):
    """One seat's view of a game of Fifth Avenue.

    A step is one decision of the learner; what the others do until its next decision belongs to the
    step. The observation is its seat's vector, float32 or int16 (OBSERVATION_SIZE,), or a dict of
    it and the mask (`mask`); the action one of the 103 numbers; the reward the sum of all that its
    seat was rewarded since its previous decision. An episode terminates when the game ends and is
    truncated when the game is (END-5).

    ``info`` holds ``"action_mask"``, int8 (103,), 1 for a legal action, all 0 after the end,
    ``"seat"``, int64, the learner's seat in this episode, and ``"scores"``, int64 (num_players,),
    every seat's VP as they stand. When the episode is over, it also holds
    what it came to: ``"win_share"``, ``"own_vp"`` and the others of
    :func:`skyenv.envs.episodes.episode_infos`. :meth:`action_masks` gives the mask to sb3-contrib.
    The game's seed, which decides every hidden card, is no part of it; ``core.games.seeds[0]`` has
    it.

    An illegal action (of the 103) ends the episode: it terminates with reward −1, and the game
    stays where it was. With ``illegal="raise"`` it raises IllegalActionError instead and nothing
    changes. With ``illegal="random"`` a random legal action is played in its place, which the
    game's seed decides, and ``info["action"]`` is always the action that was played, −1 after
    reset. Anything but the number of one of the 103 actions always raises IllegalActionError, an
    action after the end GameOverError.

    ``reset(seed=s)`` starts the game with the seed s; ``reset()`` goes on with seeds that follow
    from the last one given.

    Args:
        num_players: 2, 3 or 4.
        side: ``"front"`` or ``"back"`` of the board.
        mask, noop: where the mask is given, and what it allows after the end:
            :class:`skyenv.envs.spaces.MaskPlace`.
        full_infos: whether every info has what the last one has of the episode, by the scores as
            they stand (``"opponents"`` as a tuple): some libraries want infos with the same
            entries.
        illegal: what an illegal action does: ``"end"``, ``"raise"`` or ``"random"``.
        illegal_reward: its reward with ``"end"``, by default −1, and what is added to the reward
            with ``"random"``, by default 0.
        render_mode: ``"ansi"``: :meth:`render` returns the text picture; ``"rgb_array"``: pixels,
            uint8 (height, width, 3); ``"human"``: every position is shown in a window. Pictures
            show what the learner may know. The last two need the extra ``[pictures]``.
        opponents, opponent_weights, pool, one_opponent: the players of the other seats: one player
            for all of them; a list with one per other seat, clockwise from the learner's; or with
            ``pool=True`` a list of which one is drawn for every seat and episode
            (:class:`skyenv.envs.learner.LearnerGames`).
        seat: the learner's seat; ``"random"``: drawn for every episode; ``"rotate"``: the next one
            each episode.
        observation: what observations are, here and in the spaces: ``"scaled"``, float32, or
            ``"codes"``, int16 (see :class:`skyenv.Games`).
        board, max_turns, reward: as for :class:`skyenv.GameOptions`.

    Attributes:
        core: the game, the learner's seat and the opponents, a
            :class:`skyenv.envs.learner.LearnerGame`.

    Raises:
        OptionError: an option has a wrong value.
        AgentError: an opponent can't be made.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # type: ignore[misc]

    def __init__(
        self,
        num_players: int = 2,
        side: str = "front",
        *,
        mask: str = "info",
        noop: bool = False,
        full_infos: bool = False,
        render_mode: str | None = None,
        **options: Unpack[LearnerKeywords],
    ) -> None:
        self._full_infos = check_flag("full_infos", full_infos)
        self._build(LearnerGame(num_players, side, **options), render_mode, mask, noop)
        self.observation_space = self._masks.space(self.core.space)
        self.action_space = action_space()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start a game, up to the learner's first decision.

        Args:
            seed: the seed of the game; None: the next one.
            options: none are known.

        Returns:
            The observation and the info.

        Raises:
            OptionError: `seed` is not a non-negative integer, or there are options.
        """
        check_no_options(options)
        super().reset(seed=seed)
        self.core.reset(seed)
        if self.render_mode == "human":
            self.render()
        return self._row(0)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take the learner's decision and let the others play up to its next one, or to the end.

        Args:
            action: the number of an action, any integer type.

        Returns:
            Observation, reward, whether the episode terminated, whether it was truncated, and the
            info.

        Raises:
            IllegalActionError: see the class; nothing has changed.
            GameOverError: the episode is over; nothing has changed.
        """
        core = self.core
        core.step(np.asarray(action).reshape(-1))
        if self.render_mode == "human":
            self.render()
        observation, info = self._row(0)
        truncated = bool(core.truncated[0])
        terminated = bool(core.done[0]) and not truncated
        return observation, float(core.reward[0]), terminated, truncated, info

    def action_masks(self) -> npt.NDArray[np.int8]:
        """The learner's legal actions, int8 (103,), all 0 after the end; sb3-contrib asks for this
        method.
        """
        return self._masks.shown(self.core.mask()[0])

    def render(self) -> npt.NDArray[np.uint8] | str | None:
        """Return or show the position as the learner sees it.

        Returns:
            Text (mode ``"ansi"``), pixels, uint8 (height, width, 3) (``"rgb_array"``), or None
            (``"human"``, without a mode).

        Raises:
            RenderError: no window can be opened.
        """
        return self._picture(0)
