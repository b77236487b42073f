"""``gymnasium.make("skyenv/FifthAvenue-v0")``: one learner at the table, the other seats played by
agents.
"""

from __future__ import annotations

from typing import Any, ClassVar, Unpack

import gymnasium
import numpy as np
import numpy.typing as npt

from skyenv.envs.learner import LearnerEnv, LearnerKeywords
from skyenv.envs.rendering import RENDER_MODES
from skyenv.envs.spaces import ACTION_MASK, action_space


class FifthAvenueEnv(LearnerEnv, gymnasium.Env[Any, np.int64]):
    """One seat's view of a game of Fifth Avenue.

    A step is one decision of the learner; what the others do until its next decision belongs to the
    step. The observation is its seat's vector, float32 or int16 (OBSERVATION_SIZE,), or a dict of
    it and the mask (`mask`); the action one of the 103 numbers; the reward the sum of all that its
    seat was rewarded since its previous decision. An episode terminates when the game ends and is
    truncated when the game is (END-5).

    ``info`` holds ``"action_mask"``, int8 (103,), 1 for a legal action, all 0 after the end, and
    ``"seat"``, int64, the learner's seat in this episode. When the episode is over, it also holds
    what it came to: ``"win_share"``, ``"own_vp"`` and the others of
    :func:`skyenv.envs.episodes.episode_infos`. :meth:`action_masks` gives the mask to sb3-contrib.
    The game's seed, which decides every hidden card, is no part of it; ``core.games.seeds[0]`` has
    it.

    An illegal action (of the 103) ends the episode: it terminates with reward −1, the game stays
    where it was, and ``info["illegal_action"]`` holds the action. With ``illegal="raise"`` it
    raises IllegalActionError instead and nothing changes. Anything but the number of one of the 103
    actions always raises IllegalActionError, an action after the end GameOverError.

    ``reset(seed=s)`` starts the game with the seed s; ``reset()`` goes on with seeds that follow
    from the last one given.

    Args:
        num_players: 2, 3 or 4.
        side: ``"front"`` or ``"back"`` of the board.
        mask, noop: where the mask is given, and what it allows after the end:
            :class:`skyenv.envs.spaces.MaskPlace`.
        illegal: what an illegal action does: ``"end"`` or ``"raise"``.
        render_mode: ``"ansi"``: :meth:`render` returns the text picture; ``"rgb_array"``: pixels,
            uint8 (height, width, 3); ``"human"``: every position is shown in a window. The last two
            need the extra ``[pictures]``.
        render_all_hands: pictures show every hand; by default they show what the learner may know,
            and nothing more.
        opponents, opponent_weights, pool, one_opponent: who plays the other seats: one player for
        all of them; a list with one
            per other seat, clockwise from the learner's; or with ``pool=True`` a list of which one
            is drawn for every seat and episode (:class:`skyenv.envs.learner.LearnerGames`).
        seat: the learner's seat; ``"random"`` or None: drawn for every episode; ``"rotate"``: the
            next one each episode.
        observation: what observations are, here and in the spaces: ``"scaled"``, float32, or
            ``"codes"``, int16 (see :class:`skyenv.Games`).
        board, max_turns, reward: as for :class:`skyenv.GameOptions`.

    Attributes:
        core: the game, the learner's seat and the opponents, a
            :class:`skyenv.envs.learner.LearnerGames` of one row.

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
        render_mode: str | None = None,
        render_all_hands: bool = False,
        **options: Unpack[LearnerKeywords],
    ) -> None:
        self._build(
            FifthAvenueEnv,
            1,
            num_players,
            side,
            options,
            mask=mask,
            noop=noop,
            render_mode=render_mode,
            render_all_hands=render_all_hands,
        )
        self.observation_space = self._masks.space(self.core.space)
        self.action_space = action_space()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start a game, up to the learner's first decision.

        Args:
            seed: the seed of the game; None: the next one.
            options: none are known; whatever is given is ignored.

        Returns:
            The observation and the info.
        """
        super().reset(seed=seed)
        self.core.reset(seed)
        self._show()
        return self._observation(), self._info()

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
        self._show()
        truncated = bool(core.truncated[0])
        terminated = bool(core.done[0]) and not truncated
        return self._observation(), float(core.reward[0]), terminated, truncated, self._info()

    def action_masks(self) -> npt.NDArray[np.int8]:
        """The learner's legal actions, int8 (103,), all 0 after the end; sb3-contrib asks for this
        method.
        """
        return self._row_mask(0)

    def render(self) -> npt.NDArray[np.uint8] | str | None:
        """Return or show the position as the learner sees it, or with all hands open if
        ``render_all_hands``.

        Returns:
            Text (mode ``"ansi"``), pixels, uint8 (height, width, 3) (``"rgb_array"``), or None
            (``"human"``, without a mode).

        Raises:
            RenderError: no window can be opened.
        """
        picture: npt.NDArray[np.uint8] | str | None = self._pictures()[0]
        return picture

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        self._renderer.close()

    def _observation(self) -> Any:
        return self._masks.observation(self.core.observation()[0], self.action_masks)

    def _info(self) -> dict[str, Any]:
        mask = {ACTION_MASK: self.action_masks()} if self._masks.in_info else {}
        episode = self.core.episode_infos(self.core.all_rows)[0] if self.core.done[0] else {}
        return {**mask, "seat": self.core.learner[0], **episode}
