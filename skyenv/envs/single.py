"""The Gymnasium environment ``skyenv/FifthAvenue-v0``: one learner, agents at the other seats."""

from typing import Any, ClassVar, Unpack

import numpy as np
import numpy.typing as npt

from skyenv.array_types import Int8
from skyenv.checks import checks_names
from skyenv.envs.episodes import check_no_options
from skyenv.envs.learner import LearnerEnv, LearnerGame, LearnerKeywords
from skyenv.envs.registration import ENV_ID
from skyenv.envs.rendering import RENDER_MODES
from skyenv.envs.spaces import action_space
from skyenv.errors import needs_extra

with needs_extra("gymnasium"):
    import gymnasium


class FifthAvenueEnv(LearnerEnv, gymnasium.Env[Any, np.int64]):
    """One seat's view of a game of Fifth Avenue.

    A step is one decision of the learner, with the other seats' decisions up to its next one. The
    observation is the seat's vector, float32 (OBSERVATION_SIZE,), or a dict of it and the
    mask (`mask`). The action is a number from 0 to 102. The reward is the sum of the seat's rewards
    since its previous decision. An episode terminates or is truncated (END-5) with its game.

    ``info`` has the same keys at every step, whose values are NumPy numbers and arrays:
    ``"action_mask"``, int8 (103,), 1 for a legal action, all 0 after the end, and the entries of
    :meth:`skyenv.envs.learner.LearnerGames.infos`, by the current scores. :meth:`action_masks`
    returns the mask for sb3-contrib. ``info`` omits the game's seed, which decides every hidden
    card; ``core.games.seeds[0]`` has it.

    An illegal action (of the 103) terminates the episode with reward −1; the game does not change.
    With ``illegal="raise"`` it raises IllegalActionError instead and nothing changes. With
    ``illegal="random"`` a random legal action replaces it, decided by the game's seed;
    ``info["action"]`` is the action played, −1 after reset. Anything but a number from 0 to 102
    always raises IllegalActionError, an action after the end GameOverError.

    ``reset(seed=s)`` starts the game with seed s; ``reset()`` takes the next seed, which follows
    from the last one given.

    Args:
        num_players: 2, 3 or 4.
        side: ``"front"`` or ``"back"`` of the board.
        mask, noop: the place of the mask, and its content after the end:
            :class:`skyenv.envs.spaces.MaskPlace`.
        illegal: the effect of an illegal action: ``"end"``, ``"raise"`` or ``"random"``.
        illegal_reward: its reward with ``"end"`` (default −1), or an addition to the reward with
            ``"random"`` (default 0).
        render_mode: ``"ansi"``: :meth:`render` returns the text picture; ``"rgb_array"``: pixels,
            uint8 (height, width, 3); ``"human"``: every position is shown in a window. Pictures
            hide what the learner can't know. The last two need the extra ``[pictures]``.
        opponents, opponent_weights, pool, one_opponent: the players of the other seats: one player
            for all of them; a list with one per other seat, clockwise from the learner's; or with
            ``pool=True`` a list from which one is drawn for every seat and episode
            (:class:`skyenv.envs.learner.LearnerGames`).
        seat: the learner's seat; ``"random"``: drawn for every episode; ``"rotate"``: the next one
            each episode.
        board, max_turns, reward: as for :class:`skyenv.GameOptions`.

    Attributes:
        core: the game, the learner's seat and the opponents, a
            :class:`skyenv.envs.learner.LearnerGame`.

    Raises:
        OptionError: an option has a wrong value.
        AgentError: an opponent can't be made.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": list(RENDER_MODES), "render_fps": 2}  # type: ignore[misc]

    @checks_names(ENV_ID, LearnerKeywords)
    def __init__(
        self,
        num_players: int = 2,
        side: str = "front",
        *,
        mask: str = "info",
        noop: bool = False,
        render_mode: str | None = None,
        **options: Unpack[LearnerKeywords],
    ) -> None:
        self._build(LearnerGame(num_players, side, **options), render_mode, mask, noop)
        self.observation_space = self._masks.space(self.core.space)
        self.action_space = action_space()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start a game and play up to the learner's first decision.

        Args:
            seed: the seed of the game; None: the next one.
            options: none or empty.

        Returns:
            The observation and the info.

        Raises:
            OptionError: `seed` is not a non-negative integer, or an option was given.
        """
        check_no_options(options)
        super().reset(seed=seed)
        self.core.reset(seed)
        if self.render_mode == "human":
            self.render()
        return self._row(0)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play the learner's action, then the others' up to its next decision or the end.

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

    def action_masks(self) -> Int8:
        """Return the learner's action mask, int8 (103,), all 0 after the end; sb3-contrib calls
        this method.
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
