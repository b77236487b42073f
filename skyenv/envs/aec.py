"""The PettingZoo environments: :func:`env` (wrapped), :class:`raw_env` and :func:`parallel_env`.

Agents are ``"seat_0"`` … in seat order. Each observes a dict of ``"observation"``, float32
(OBSERVATION_SIZE,), and ``"action_mask"``, int8 (103,), which is all 0 for an agent that is not to
act. With ``mask="info"`` observations are vectors and infos hold the mask
(:class:`skyenv.envs.spaces.MaskPlace`). All agents terminate in the same step.

Illegal actions: ``raw_env`` raises IllegalActionError and nothing changes. ``env`` follows the
classic environments of PettingZoo. TerminateIllegalWrapper ends the game with reward −1 for the
agent and 0 for the others; an action outside the action space is an AssertionError, a bool an
IllegalActionError.
"""

from typing import Any, ClassVar, Unpack

import numpy as np
import numpy.typing as npt

from skyenv.array_types import Float32, Int64
from skyenv.checks import check_flag, check_integer, checks_names
from skyenv.engine.games import Games
from skyenv.engine.observation import HIGH, LOW
from skyenv.engine.options import GameKeywords
from skyenv.envs.episodes import EpisodeSeeds, each_info, row_seeds, seat_infos
from skyenv.envs.learner import ILLEGAL_REWARD
from skyenv.envs.rendering import RENDER_MODES, Renderer
from skyenv.envs.spaces import (
    ACTION_MASK,
    Mask,
    MaskPlace,
    action_space,
    in_one_line,
    observation_space,
)
from skyenv.errors import GameOverError, IllegalActionError, needs_extra
from skyenv.rules.actions import NUM_ACTIONS

with needs_extra("pettingzoo"):
    from gymnasium import spaces
    from pettingzoo import AECEnv, ParallelEnv
    from pettingzoo.utils import wrappers
    from pettingzoo.utils.conversions import turn_based_aec_to_parallel_wrapper

_ROW = np.zeros(1, dtype=np.int64)  # the rows of a batch of one game


class AecKeywords(GameKeywords, total=False):
    """Options of :class:`raw_env` that :func:`env` passes on."""

    mask: str
    noop: bool
    state_shows_hidden_cards: bool
    render_mode: str | None


@checks_names("env()", AecKeywords)
def env(num_players: int = 2, side: str = "front", **options: Unpack[AecKeywords]) -> AECEnv:
    """Return the environment in the wrappers of PettingZoo's classic ones; options as for
    :class:`raw_env`.
    """
    return Wrapped(raw_env(num_players, side, **options))


class Wrapped(wrappers.OrderEnforcingWrapper):  # type: ignore[misc]
    """A raw environment in PettingZoo's wrappers. Legal actions bypass the wrappers, each of which
    would check the action again; everything else goes through them.
    """

    def __init__(self, raw: "raw_env") -> None:
        self._raw = raw
        ending = TerminateIllegal(raw, illegal_reward=ILLEGAL_REWARD)
        super().__init__(wrappers.AssertOutOfBoundsWrapper(ending))

    def step(self, action: Any) -> None:
        """As the wrappers do."""
        if self._has_reset and self._raw.is_legal(action):
            self._has_updated = True
            self._raw.step(action)
        else:
            super().step(action)

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """As the wrappers do."""
        return self._raw.last(observe) if self._has_reset else super().last(observe)

    def __str__(self) -> str:
        return str(self._raw)


class TerminateIllegal(wrappers.TerminateIllegalWrapper):  # type: ignore[misc]
    """PettingZoo's wrapper, with infos that describe an end by an illegal action.

    Legality is checked against the engine, not against arrays handed out, which the caller may have
    changed.
    """

    def step(self, action: Any) -> None:
        """As the wrapper does."""
        if isinstance(action, bool):  # not an index of a mask
            self.env.step(action)
        self._prev_obs = {ACTION_MASK: self.unwrapped.games.mask[0]}
        super().step(action)
        if self._terminated:
            self.unwrapped.update_infos()


@checks_names("parallel_env()", AecKeywords)
def parallel_env(
    num_players: int = 2, side: str = "front", **options: Unpack[AecKeywords]
) -> ParallelEnv:
    """Return :func:`env` as a parallel environment, by PettingZoo's conversion of turn-based games.

    A step is one decision, as in :func:`env`. All agents get observation, reward and info, but only
    the action of the agent to act counts; the others' may be left out. Rewards and games are those
    of :func:`env`. A learner that uses every agent's steps also learns from actions without effect.
    Where empty masks are a problem, ``noop=True`` makes them allow action 0.

    Args:
        num_players, side, options: as for :class:`raw_env`.
    """
    return ParallelTurns(env(num_players, side, **options))


class ParallelTurns(turn_based_aec_to_parallel_wrapper):  # type: ignore[misc]
    """PettingZoo's conversion, without the text that it adds to infos after some of the steps."""

    def step(self, actions: dict[str, Any]) -> Any:
        """As the conversion does.

        Raises:
            IllegalActionError: there is no action of the agent to act; nothing has changed.
        """
        acting = self.aec_env.agent_selection
        if self.agents and acting not in actions:
            given = ", ".join(actions) or "no agent"
            raise IllegalActionError(f"{acting} is to act, but actions has only {given}")
        told = super().step(actions)
        for info in told[-1].values():
            info.pop("active_agent", None)
        return told


class raw_env(AECEnv):  # type: ignore[misc]  # noqa: N801 (PettingZoo's own name)
    """A game of Fifth Avenue, one decision per step.

    ``infos`` have the same keys at every step, whose values are NumPy numbers and arrays: those of
    :func:`skyenv.envs.episodes.seat_infos`, and the mask with ``mask="info"``. A copy
    (``copy.deepcopy``, pickle) continues exactly as the original would.

    Args:
        num_players: 2, 3 or 4.
        side: ``"front"`` or ``"back"`` of the board.
        mask, noop: the place of the mask, and its content for an agent that is not to act:
            :class:`skyenv.envs.spaces.MaskPlace`.
        state_shows_hidden_cards: whether there are :meth:`state` and ``state_space``, for
            centralized critics. The state shows all hands, which no agent may know.
        render_mode: ``"ansi"``: :meth:`render` returns the text picture; ``"rgb_array"``: pixels,
            uint8 (height, width, 3); ``"human"``: every position is shown in a window. Pictures
            hide what the selected agent can't know. The last two need the extra ``[pictures]``.
        board, max_turns, reward: as for :class:`skyenv.GameOptions`.

    Attributes:
        games: the engine, a :class:`skyenv.Games` of one row.

    Raises:
        OptionError: an option has a wrong value.
        RenderError: `render_mode` needs an extra that isn't installed.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": list(RENDER_MODES),
        "name": "fifth_avenue_v0",
        "is_parallelizable": False,
        "render_fps": 2,
    }

    @checks_names("raw_env()", GameKeywords)
    def __init__(
        self,
        num_players: int = 2,
        side: str = "front",
        *,
        mask: str = "observation",
        noop: bool = False,
        state_shows_hidden_cards: bool = False,
        render_mode: str | None = None,
        **options: Unpack[GameKeywords],
    ) -> None:
        super().__init__()
        self.games = Games(1, num_players, side, autoreset=False, **options)
        self._renderer = Renderer(render_mode)
        self.render_mode = render_mode
        self.possible_agents = [f"seat_{seat}" for seat in range(self.games.num_players)]
        self._masks = MaskPlace(mask, noop)
        self.observation_spaces = {
            agent: self._masks.space(observation_space()) for agent in self.possible_agents
        }
        if check_flag("state_shows_hidden_cards", state_shows_hidden_cards):
            low, high = (np.tile(bound, self.max_num_agents) for bound in (LOW, HIGH))
            self.state_space = in_one_line(spaces.Box(low, high, dtype=np.float32))
        self.action_spaces = {agent: action_space() for agent in self.possible_agents}
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._all_seats: Int64 = np.arange(self.games.num_players, dtype=np.int64)
        self._seeds = EpisodeSeeds(1)
        self._begin([])

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the agent's observation space, the same object on every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the agent's action space, the same object on every call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a game.

        Args:
            seed: the seed of the game; None: the next seed of this environment's stream, which
                starts from the last seed given, or from the system's entropy.
            options: ignored, as PettingZoo's tests require.

        Raises:
            OptionError: `seed` is not a non-negative integer.
        """
        seeds, _ = self._seeds.begin(row_seeds(seed, _ROW, 1), _ROW)
        self.games.reset(seed=seeds.tolist())
        self._begin(self.possible_agents[:])
        if self.render_mode == "human":
            self.render()

    def _begin(self, agents: list[str]) -> None:
        """Initialize PettingZoo's attributes per agent; without agents, reset() must come before
        step().
        """
        self.agents = agents
        self.rewards = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(agents, 0.0)
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = dict.fromkeys(agents, False)
        self._skip_agent_selection: str | None = None
        self.agent_selection = self.possible_agents[int(self.games.seat[0])]
        self.update_infos()

    def update_infos(self) -> None:
        """Update every agent's info, whose arrays stay the same until the next step."""
        players, seats = self.max_num_agents, self._all_seats
        illegal = np.full(players, self._is_over() and not self.games.done[0])
        told = each_info(seat_infos(self.games.arrays.state, 0 * seats, seats, illegal, players))
        self.infos: dict[str, dict[str, Any]] = {
            agent: {ACTION_MASK: self._mask(agent), **info} if self._masks.in_infos else info
            for agent, info in zip(self.agents, told, strict=False)  # none before reset()
        }

    def _is_over(self) -> bool:
        """Return whether the agents have terminated, or no game has begun."""
        return not self.agents or any((*self.terminations.values(), *self.truncations.values()))

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return observation, reward since its last decision, termination, truncation and info of
        the selected agent.

        Raises:
            GameOverError: there is no agent, before reset() or after the end.
        """
        if not self.agents:
            raise GameOverError("there is no selected agent; reset() starts a game")
        return super().last(observe)

    def is_legal(self, action: Any) -> bool:
        """Return whether an action is the number of a legal action, of any integer type."""
        is_number = isinstance(action, (int, np.integer)) and not isinstance(action, bool)
        return bool(
            is_number
            and 0 <= action < NUM_ACTIONS
            and self.games.mask[0, action]
            and not self._is_over()
        )

    def step(self, action: Any) -> None:
        """Play the selected agent's action; after the end, remove the selected agent
        (action None).

        Args:
            action: the number of a legal action, any integer type.

        Raises:
            IllegalActionError: `action` is not legal; nothing has changed.
            GameOverError: the game is over; nothing has changed.
        """
        agent, games = self.agent_selection, self.games
        if self._is_over():
            if action is not None or not self.agents:
                raise GameOverError("the game is over; step(None) removes an agent", action)
            self._was_dead_step(None)
            return
        number = check_integer(
            "action",
            action,
            0,
            NUM_ACTIONS - 1,
            lambda message: IllegalActionError(message, action),
        )
        games.step([number])
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict(zip(self.possible_agents, games.reward[0].tolist(), strict=True))
        self._accumulate_rewards()
        over, truncated = bool(games.done[0]), bool(games.truncated[0])
        if over:  # all agents end in the same step, and are removed in seat order
            self.terminations = dict.fromkeys(self.agents, not truncated)
            self.truncations = dict.fromkeys(self.agents, truncated)
        self.agent_selection = self.possible_agents[0 if over else games.seat[0]]
        self.update_infos()
        if self.render_mode == "human":
            self.render()

    def observe(self, agent: str) -> Any:
        """Return the observation of any agent, at any time, also after the end.

        Returns:
            A new dict of ``"observation"``, float32 (OBSERVATION_SIZE,), from the agent's own view,
                and ``"action_mask"``, int8 (103,), its legal actions, all 0 if it is not to act;
                with ``mask="info"`` the vector alone.
        """
        games, seat = self.games, self._seats[agent]
        vector = games.observation[0].copy() if seat == games.seat[0] else games.observe(seat)[0]
        return self._masks.observation(vector, self._mask(agent))

    def state(self) -> Float32:
        """Return the observations of all seats in seat order, so all hands: a new float32
        (num_players · OBSERVATION_SIZE,). The order of face-down cards is not in it.

        Raises:
            NotImplementedError: `state_shows_hidden_cards` is not set.
        """
        if not hasattr(self, "state_space"):
            raise NotImplementedError("state() needs the option state_shows_hidden_cards=True")
        return np.concatenate([self.games.observe(seat)[0] for seat in self._all_seats.tolist()])

    def _mask(self, agent: str) -> Mask:
        """Return an agent's action mask, a new int8 (103,)."""
        mask = np.zeros(NUM_ACTIONS, dtype=np.int8)
        if self._seats[agent] == self.games.seat[0] and not self._is_over():
            mask[:] = self.games.mask[0]
        return self._masks.shown(mask)

    def render(self) -> npt.NDArray[np.uint8] | str | None:
        """Render the position as the selected agent sees it.

        Returns:
            Text (mode ``"ansi"``), pixels, uint8 (height, width, 3) (``"rgb_array"``), or None
            (``"human"``, without a mode).

        Raises:
            RenderError: no window can be opened.
        """
        return self._renderer.render(self.games, 0, self._seats[self.agent_selection])

    def close(self) -> None:
        """Close the window, if there is one."""
        self._renderer.window.close()
