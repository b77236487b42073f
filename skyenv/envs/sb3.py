"""A Stable-Baselines3 ``VecEnv`` on the batch engine, for sb3_contrib.MaskablePPO."""

import time
from collections import defaultdict, deque
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, Unpack

import numpy as np

from skyenv.array_types import AnyArray, Bool, Float32, Int64
from skyenv.checks import checks_names
from skyenv.envs.episodes import each_info, row_seeds
from skyenv.errors import needs_extra, shown

with needs_extra("train"):
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv

    from skyenv.envs.learner import LearnerEnv, LearnerGames, LearnerKeywords
    from skyenv.envs.spaces import action_space

# Games in a mean of win shares, as many as SB3 takes for rewards.
WINDOW: Final = 100


class SkyenvVecEnv(LearnerEnv, VecEnv):
    """A vector of games in which one seat learns and a pool of agents plays the others.

    A step is one decision of the learner in every row; opponents decide in batches. A finished row
    is reset in the same step. Every info holds the entries of
    :meth:`skyenv.envs.learner.LearnerGames.infos`, of a finished row those of its last position,
    and ``"TimeLimit.truncated"``. SB3's own entries of a finished row are
    ``"terminal_observation"`` and ``"episode"`` (``r``, ``l`` and ``t`` of its Monitor, so that
    wrapper is not needed). Infos omit the seeds, which decide every hidden card:
    ``core.games.seeds`` has those of the current games, ``core.games.finished.seed`` that of each
    row's latest finished game.

    An illegal action (of the 103) ends its row's episode with reward −1; with ``illegal="raise"``
    it raises IllegalActionError with the row. Algorithms without masks (DQN, A2C, PPO) play whole
    games with ``illegal="random"``: a random legal action replaces an illegal one, and every info's
    ``"action"`` is the action played. MaskablePPO requests the masks and plays legal actions only.

    Args:
        num_envs: number of games.
        num_players: 2 to 4.
        side: ``"front"`` or ``"back"`` of the board.
        render_mode: ``"rgb_array"``: :meth:`render` returns all rows' pictures as one, as their
            learners see them; ``"human"``: it shows the first row in a window; both need the extra
            ``[pictures]``. ``"ansi"``: ``env_method("render")`` returns one text per row.
        seed: row i's first game gets the seed ``seed`` + i, from which all later ones follow; None:
            the system's entropy.
        threads: number of threads; None: automatic (see :class:`skyenv.Games`).
        opponents, opponent_weights, pool, one_opponent: the players of the other seats: one player
            for all of them; a list with one per other seat, clockwise from the learner's; or with
            ``pool=True`` a list from which one is drawn for every row, seat and episode
            (:class:`skyenv.envs.learner.LearnerGames`).
        illegal, illegal_reward: ``"end"``, ``"raise"`` or ``"random"``, see above, and the reward
            of an illegal action with ``"end"`` (default −1) and ``"random"`` (default 0).
        seat: the learner's seat; ``"rotate"``, the default: the next one each episode, beginning
            with the row's seed modulo the number of players; ``"random"``: drawn for every episode.
        board, max_turns, reward: as for :class:`skyenv.GameOptions`.

    Attributes:
        core: the games, the learner's seats and the opponents, a
            :class:`skyenv.envs.learner.LearnerGames`.

    Raises:
        OptionError: an option has a wrong value.
        AgentError: an opponent can't be made.
    """

    @checks_names("SkyenvVecEnv()", LearnerKeywords)
    def __init__(
        self,
        num_envs: int,
        num_players: int = 2,
        side: str = "front",
        *,
        render_mode: str | None = None,
        seed: int | None = None,
        threads: int | None = 1,
        **options: Unpack[LearnerKeywords],
    ) -> None:
        options.setdefault("seat", "rotate")
        self._build(
            LearnerGames(num_envs, num_players, side, threads=threads, **options), render_mode
        )
        super().__init__(num_envs, self.core.space, action_space())
        self._actions: Int64 | None = None
        self._started = time.time()
        self._seeds = row_seeds(seed, self.core.all_rows, num_envs)

    # ---- playing ----

    def reset(self) -> AnyArray:
        """Start new games in all rows, with the seeds that :meth:`seed` set, or the next ones.

        Returns:
            The learner's observations, float32 (num_envs, OBSERVATION_SIZE).
        """
        self.core.reset(self._seeds)
        self._reset_seeds()
        self._reset_options()
        self.reset_infos = self._infos()
        return self.core.observation()

    def _infos(self) -> list[dict[str, Any]]:
        """Return every row's info."""
        return each_info({**self.core.infos(), "TimeLimit.truncated": self.core.truncated.copy()})

    def step_async(self, actions: Int64) -> None:
        """Store the actions, integers (num_envs,), for :meth:`step_wait`."""
        self._actions = actions

    def step_wait(
        self,
    ) -> tuple[AnyArray, Float32, Bool, list[dict[str, Any]]]:
        """Play the stored actions, and reset the rows that are finished.

        Returns:
            Observations, float32 (num_envs, OBSERVATION_SIZE); rewards, float32
            (num_envs,), each the sum since the learner's previous decision; whether each row's game
            is over, bool (num_envs,); one info per row.

        Raises:
            IllegalActionError: an action is not one of the 103, or not legal with
                ``illegal="raise"``. Nothing has changed.
        """
        core = self.core
        core.step(np.asarray(self._actions))
        rewards, dones = core.reward.astype(np.float32), core.done.copy()
        infos, rows = self._infos(), np.flatnonzero(dones)
        for row, observation in zip(rows.tolist(), core.observation(rows), strict=True):
            infos[row]["terminal_observation"] = observation.copy()
            infos[row]["episode"] = {
                "r": round(float(core.total[row]), 6),
                "l": int(core.length[row]),
                "t": round(time.time() - self._started, 6),
            }
        core.reset(rows=rows)
        return core.observation(), rewards, dones, infos

    # ---- what SB3 asks of the single environments, answered from the batch ----

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return ``action_masks`` (a function) or ``render_mode`` of the rows.

        Raises:
            AttributeError: for any other name; :attr:`core` has seats, seeds and opponents.
        """
        rows = self._get_indices(indices)
        if attr_name == "action_masks":
            return [lambda row=row: self.core.mask(np.array([row]))[0] for row in rows]
        if attr_name == "render_mode":
            return [self.render_mode for _ in rows]
        raise AttributeError(f"the rows have no attribute {shown(attr_name)}; see env.core")

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Raise AttributeError: the rows of a batch have no attributes of their own."""
        raise AttributeError(
            f"attribute {shown(attr_name)} can't be set: the rows are one batch; set_opponents() "
            "replaces the opponents"
        )

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """Return the results of ``action_masks`` or ``render`` for the rows.

        Raises:
            AttributeError: for any other method.
        """
        rows = list(self._get_indices(indices))
        if method_name == "action_masks":
            return list(self.core.mask(np.array(rows)))
        if method_name == "render":
            return [self._picture(row) for row in rows]
        raise AttributeError(f"the rows have no method {shown(method_name)}")

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """Return True for SB3's Monitor, whose "episode" entries this environment provides; else
        False.
        """
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[Any]:
        """Return every row's pixels, uint8 (height, width, 3), in the mode ``"rgb_array"``, else
        None.
        """
        is_drawn = self.render_mode == "rgb_array"
        return [self._picture(row) if is_drawn else None for row in range(self.num_envs)]


class WinShares(BaseCallback):
    """A callback that logs the learner's share of the wins, for SB3's output and TensorBoard.

    The mean over the latest WINDOW games is ``win share/NAMES``: the names of the opponents at the
    table, joined by "+", without what follows a hyphen (``past-100`` is ``past``).

    Attributes:
        shares: those of the latest games, by NAMES.
    """

    def __init__(self) -> None:
        super().__init__()
        self.shares: dict[str, deque[float]] = defaultdict(partial(deque, maxlen=WINDOW))

    def names_of(self, info: dict[str, Any]) -> list[str]:
        """Return the names of the opponents in an info."""
        known = self.training_env.core.opponent_names  # type: ignore[attr-defined]
        return [known[number] for number in info["opponents"].tolist() if number >= 0]

    def _on_step(self) -> bool:
        """Record the games that have just ended."""
        for row in np.flatnonzero(self.locals["dones"]).tolist():
            info = self.locals["infos"][row]
            names = "+".join(sorted({name.partition("-")[0] for name in self.names_of(info)}))
            self.shares[names].append(info["win_share"])
            self.logger.record(f"win share/{names}", float(np.mean(self.shares[names])))
        return True
