"""The core of the Gymnasium and SB3 environments: one learner per game, agents at the other
seats.

An episode is a game from the learner's view. A step is one decision of the learner, followed by all
decisions of the opponents up to its next one. Opponents decide in batches: one call per agent for
all rows in which it is to act.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias, Unpack

import numpy as np

from skyenv.agents import Agent, decide, decide_each, make_agent, sample
from skyenv.array_types import AnyArray, ArrayLike, Float32, Float64, Int64
from skyenv.checks import (
    check_choice,
    check_flag,
    check_number,
    check_seat,
    checks_names,
    whole_numbers,
)
from skyenv.engine.games import Games
from skyenv.engine.options import GameKeywords
from skyenv.envs.episodes import EpisodeSeeds, each_info, row_seeds, seat_infos
from skyenv.envs.rendering import Renderer
from skyenv.envs.spaces import Mask, MaskPlace, observation_space
from skyenv.errors import GameOverError, IllegalActionError, OptionError
from skyenv.render.raster import RGB
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.state import NONE

# An opponent: an agent, a callable, an agent's name, or an import string `module:Name`.
AgentSpec: TypeAlias = Agent | Callable[..., Any] | str

ILLEGAL_REWARD: Final = -1.0
"""Reward of an illegal action with ``illegal="end"``, as in PettingZoo's
TerminateIllegalWrapper.
"""
# Salt of the random replacement of an illegal action, different from those of agents.
REPLACEMENT_SALT: Final = 1


class LearnerKeywords(GameKeywords, total=False):
    """Options of :class:`LearnerGames` that environments of one learner pass on: ``**options:
    Unpack[LearnerKeywords]``.
    """

    opponents: AgentSpec | Sequence[AgentSpec]
    opponent_weights: Sequence[float] | None
    pool: bool
    one_opponent: bool
    seat: int | str
    illegal: str
    illegal_reward: float | None


class LearnerGames:
    """A batch of games with one learner's seat in each; :meth:`reset` starts them.

    Args:
        num_games: number of rows.
        num_players: 2 to 4.
        side: ``"front"`` or ``"back"`` of the board.
        opponents: the players of the other seats. A single player plays all of them. A list has one
            player per other seat, clockwise from the learner's; or it is a pool, from which one is
            drawn for every seat and episode. A player is an agent, a callable, an agent's name or
            an import string ``module:Name``.
        opponent_weights: relative frequencies in a pool; None: uniform.
        pool: whether a list of opponents is a pool; implied by `opponent_weights` and
            `one_opponent`.
        one_opponent: draw one player of the pool for all other seats of an episode instead of one
            per seat.
        seat: the learner's seat; ``"random"``: drawn for every episode; ``"rotate"``: the next one
            each episode, beginning with the row's seed modulo the number of players.
        illegal: ``"end"``, ``"raise"`` or ``"random"``, see :meth:`step`.
        illegal_reward: the reward of an illegal action with ``"end"`` and ``"random"``, −1,000 to
            1,000; None: ILLEGAL_REWARD with ``"end"``, else 0.
        threads: number of threads; None: automatic (see :class:`skyenv.Games`).
        options: ``board``, ``max_turns`` and ``reward`` of :class:`skyenv.GameOptions`.

    Attributes:
        games: the games themselves. A game that is over stays as it ended until its row is reset.
        space: the space of a row's observation.
        illegal, illegal_reward: as given; the reward is a number.
        all_rows: the indices of all rows, int64 (n,).
        learner: int64 (n,), the learner's seat in each row.
        opponent_names: the names of all opponents so far, each once.
        opponent_numbers: int64 (n, num_players), the player of every seat in each row, an index of
            `opponent_names`; NONE at the learner's seat.
        reward: float64 (n,), the reward of the last :meth:`step`: that of the learner's seat since
            its previous decision, or since the beginning of the episode. The next step pays what an
            interrupted one (an opponent's error, Ctrl-C) has collected.
        action: int64 (n,), the learner's action that the last :meth:`step` played; NONE: none, as
            after :meth:`reset` and when an illegal action has ended the episode.
        done: bool (n,), whether the row's episode is over.
        truncated: bool (n,), whether it was truncated (END-5).
        length: int64 (n,), the learner's decisions in this episode.
        total: float64 (n,), the sum of its rewards in this episode.

    Raises:
        OptionError: an option has a wrong value.
        AgentError: an opponent can't be made.
    """

    @checks_names("LearnerGames()", GameKeywords)
    def __init__(
        self,
        num_games: int,
        num_players: int = 2,
        side: str = "front",
        *,
        opponents: AgentSpec | Sequence[AgentSpec] = "random",
        opponent_weights: Sequence[float] | None = None,
        pool: bool = False,
        one_opponent: bool = False,
        seat: int | str = "random",
        illegal: str = "end",
        illegal_reward: float | None = None,
        threads: int | None = 1,
        **options: Unpack[GameKeywords],
    ) -> None:
        self.games = Games(
            num_games,
            num_players,
            side,
            threads=threads,
            autoreset=False,
            **options,
        )
        self.space = observation_space()
        self.illegal = check_choice("illegal", illegal, ("end", "raise", "random"))
        default = ILLEGAL_REWARD if illegal == "end" else 0.0
        given = default if illegal_reward is None else illegal_reward
        self.illegal_reward = check_number("illegal_reward", given, -1000, 1000)
        self._one_opponent = check_flag("one_opponent", one_opponent)
        self._seat = (
            seat
            if seat in ("random", "rotate")
            else check_seat(seat, self.games.num_players, "seat, if not 'random' or 'rotate',")
        )
        self._seeds = EpisodeSeeds(num_games)
        self._opponent = np.full((num_games, self.games.num_players), None, dtype=object)
        self.all_rows: Int64 = np.arange(num_games, dtype=np.int64)
        self.opponent_numbers: Int64 = np.full(self._opponent.shape, NONE, dtype=np.int64)
        self.opponent_names: list[str] = []
        self.learner, self.length, self.action = np.zeros((3, num_games), dtype=np.int64)
        self.reward, self._unpaid, self.total = np.zeros((3, num_games), dtype=np.float64)
        self.done = np.ones(num_games, dtype=np.bool_)
        self.truncated = np.zeros(num_games, dtype=np.bool_)
        self.set_opponents(opponents, opponent_weights, pool)

    # ---- opponents ----

    def set_opponents(
        self,
        opponents: AgentSpec | Sequence[AgentSpec],
        opponent_weights: Sequence[float] | None = None,
        pool: bool = False,
    ) -> None:
        """Replace the opponents from every row's next episode on; current episodes keep theirs.

        Args:
            opponents, opponent_weights, pool: as for the class.

        Raises:
            OptionError: the numbers of opponents, seats and weights differ.
            AgentError: an opponent can't be made.
        """
        several = isinstance(opponents, Sequence) and not isinstance(opponents, str)
        specs: list[Any] = list(opponents) if several else [opponents]  # type: ignore[arg-type]
        drawn = check_flag("pool", pool) or self._one_opponent or opponent_weights is not None
        others = self.games.num_players - 1
        if several and not drawn and len(specs) != others:
            raise OptionError(
                f"opponents has {len(specs)} entries, but there are {others} other seats; "
                "pool=True draws from them"
            )
        given = [1.0] * len(specs) if opponent_weights is None else opponent_weights
        weights = [check_number("each of opponent_weights", one, 0, 1e300) for one in given]
        if len(weights) != len(specs) or not sum(weights) > 0:
            raise OptionError(
                f"opponent_weights must have one number for each of the {len(specs)} opponents, "
                f"not {len(weights)}, and one above 0"
            )
        agents = [make_agent(spec) for spec in specs]
        names = [agent.name for agent in agents]
        self.opponent_names = list(dict.fromkeys([*self.opponent_names, *names]))
        self._numbers = np.array([self.opponent_names.index(name) for name in names])
        self._choices = np.fromiter(agents, object, len(agents))
        self._limits = np.cumsum(weights)[:-1] / sum(weights)
        self._clockwise = several and not drawn

    def opponents(self, row: int) -> list[str | None]:
        """Return the names of the players of a row's seats; None at the learner's."""
        numbers = self.opponent_numbers[row].tolist()
        return [None if number == NONE else self.opponent_names[number] for number in numbers]

    def _assign(self, rows: Int64, chances: Float64) -> None:
        """Choose the learner's seat and the other seats' players for a new episode.

        Args:
            rows: which rows, int64 (k,).
            chances: random numbers in [0, 1), float64 (k, at least num_players).
        """
        players, seeds = self.games.num_players, self._seeds
        if self._seat == "rotate":
            self.learner[rows] = (seeds.key[rows] % players + seeds.drawn[rows] - 1) % players
        elif self._seat == "random":
            self.learner[rows] = (chances[:, 0] * players).astype(np.int64)
        else:
            self.learner[rows] = self._seat
        for step in range(1, players):
            number = chances[:, 1 if self._one_opponent else step]
            choice = np.searchsorted(self._limits, number, side="right")
            if self._clockwise:
                choice[:] = step - 1
            seats = (self.learner[rows] + step) % players
            self._opponent[rows, seats] = self._choices[choice]
            self.opponent_numbers[rows, seats] = self._numbers[choice]
        self._opponent[rows, self.learner[rows]] = None
        self.opponent_numbers[rows, self.learner[rows]] = NONE

    # ---- playing ----

    def reset(
        self,
        seed: int | Sequence[int | None] | None = None,
        rows: Int64 | None = None,
    ) -> None:
        """Start a new episode in `rows` (None: in all), up to the learner's first decision.

        Args:
            seed: an integer s: row i's game gets the seed s + i; a sequence: a seed per row of the
                batch, or None for the row's next seed; None: every row's next seed. A row's next
                seeds follow from the last seed given to it.
            rows: which rows, int64 (k,), each once.

        Raises:
            OptionError: a seed is not a non-negative integer, or the sequence has a wrong length.
        """
        rows = self.all_rows if rows is None else rows
        if not rows.size:
            return
        given = row_seeds(seed, rows, self.all_rows.size)
        seeds, chances = self._seeds.begin(given, rows)
        self.games.reset(seed=seeds.tolist(), rows=rows)
        self._assign(rows, chances)
        self.done[rows] = self.truncated[rows] = False
        self.reward[rows] = self._unpaid[rows] = self.total[rows] = self.length[rows] = 0
        self.action[rows] = NONE
        self._advance(rows)

    def step(self, actions: ArrayLike, rows: Int64 | None = None) -> None:
        """Play the learner's actions in `rows` (None: all), then the opponents' up to its next
        decision or the end.

        An illegal action raises an error (``illegal="raise"``); or it terminates the row's episode
        with the reward `illegal_reward` and leaves the game as it is (``"end"``); or a uniformly
        random legal action, by the decision's own random number, replaces it and `illegal_reward`
        is added to the reward (``"random"``).

        Args:
            actions: one action number per row.
            rows: which rows, int64 (k,), each once.

        Raises:
            IllegalActionError: an action is not one of the 103, or it is not legal and
                ``illegal="raise"``.
            GameOverError: the episode of a row is over. Both errors name the row; nothing has
                changed.
        """
        rows = self.all_rows if rows is None else rows
        numbers = whole_numbers("actions", actions, rows.shape, IllegalActionError)
        if (over := rows[self.done[rows]]).size:
            row = int(over[0])
            raise GameOverError(
                f"row {row}: the episode is over; reset() starts a new one", row=row
            )
        inside = (numbers >= 0) & (numbers < NUM_ACTIONS)
        illegal = inside & (self.games.mask[rows, np.where(inside, numbers, 0)] == 0)
        ending = illegal & (self.illegal == "end")
        if self.illegal == "random" and illegal.any():
            uniform = self.games.uniforms(rows[illegal], REPLACEMENT_SALT)
            numbers[illegal] = sample(self.games.mask[rows[illegal]].astype(np.float64), uniform)
        playing = rows[~ending]
        self.games.step(numbers[~ending], playing)  # which makes the remaining checks
        self._unpaid[rows[illegal]] += self.illegal_reward
        self.action[rows] = np.where(ending, NONE, numbers)
        self._advance(playing)
        self.reward[rows], self._unpaid[rows] = self._unpaid[rows], 0
        self.total[rows] += self.reward[rows]
        self.length[rows] += 1
        self.done[rows] = ending | (self.games.seat[rows] < 0)
        self.truncated[rows] = self.games.truncated[rows]

    def _advance(self, rows: Int64) -> None:
        """Collect the rewards of `rows`, and let the opponents play there until the learner is to
        act or the game is over.
        """
        games = self.games
        while rows.size:
            self._unpaid[rows] += games.reward[rows, self.learner[rows]]
            seats = games.seat[rows]
            rows = rows[(seats >= 0) & (seats != self.learner[rows])]
            if rows.size:
                games.step(self._opponents_actions(rows), rows)

    def _opponents_actions(self, rows: Int64) -> Int64:
        players = self._opponent[rows, self.games.seat[rows]].tolist()
        whose = np.array([id(agent) for agent in players])
        return decide_each(self.games, dict(zip(whose.tolist(), players, strict=True)), whose, rows)

    # ---- the learner's view ----

    def observation(self, rows: Int64 | None = None) -> Float32:
        """Return the learner's observation in `rows` (None: in all), also after the end: a new
        float32 array (k, OBSERVATION_SIZE).
        """
        rows = self.all_rows if rows is None else rows
        observation: Float32 = self.games.observation[rows]
        # A game that is over shows seat 0's observation.
        elsewhere = np.flatnonzero(self.games.seat[rows] != self.learner[rows])
        if elsewhere.size:
            there = rows[elsewhere]
            observation[elsewhere] = self.games.observe(self.learner[there], there)
        return observation

    def mask(self, rows: Int64 | None = None) -> Mask:
        """Return the learner's legal actions in `rows` (None: in all), all 0 after the end: a new
        int8 (k, 103).
        """
        rows = self.all_rows if rows is None else rows
        mask: Mask = self.games.mask[rows]
        mask[self.done[rows]] = 0
        return mask

    def infos(self, rows: Int64 | None = None) -> dict[str, AnyArray]:
        """Return the learner's infos in `rows` (None: in all), new arrays (k, …): those of
        :func:`skyenv.envs.episodes.seat_infos`, ``"opponents"`` (`opponent_numbers`), and with
        ``illegal="random"`` ``"action"``.
        """
        rows = self.all_rows if rows is None else rows
        illegal = self.done[rows] & (self.games.seat[rows] >= 0)
        state, players = self.games.arrays.state, self.games.num_players
        infos = seat_infos(state, rows, self.learner[rows], illegal, players)
        infos["opponents"] = self.opponent_numbers[rows]
        return infos if self.illegal != "random" else {**infos, "action": self.action[rows]}


class LearnerGame(LearnerGames):
    """A single game with a learner: equal to a batch of one, but several times as fast.

    Args:
        num_players, side, options: as for :class:`LearnerGames`.
    """

    def __init__(
        self, num_players: int = 2, side: str = "front", **options: Unpack[LearnerKeywords]
    ) -> None:
        super().__init__(1, num_players, side, **options)

    def step(self, actions: ArrayLike, rows: Int64 | None = None) -> None:
        """As in a batch."""
        numbers = whole_numbers("actions", actions, (1,), IllegalActionError)
        number = int(numbers[0])
        if self.done[0] or not (0 <= number < NUM_ACTIONS and self.games.mask[0, number]):
            super().step(numbers)
            return
        self.games.step(numbers)
        self.action[0] = number
        self._advance(self.all_rows)
        self.reward[0], self._unpaid[0] = self._unpaid[0], 0
        self.total[0] += self.reward[0]
        self.length[0] += 1
        self.done[0] = self.games.seat[0] < 0
        self.truncated[0] = self.games.truncated[0]

    def _advance(self, rows: Int64) -> None:
        """As in a batch."""
        games, learner = self.games, int(self.learner[0])
        while rows.size:
            self._unpaid[0] += games.reward[0, learner]
            seat = int(games.seat[0])
            if seat in (NONE, learner):
                return
            games.step(decide(games, self._opponent[0, seat]))


class LearnerEnv:
    """The common part of the environments of one learner.

    Attributes:
        core: the games, the learner's seats and the opponents.
    """

    core: LearnerGames
    render_mode: str | None
    _masks: MaskPlace
    _renderer = Renderer(None)  # Gymnasium 1.1 closes an environment whose constructor failed

    def _build(
        self, core: LearnerGames, render_mode: str | None, mask: str = "info", noop: bool = False
    ) -> None:
        self.core, self.render_mode = core, render_mode
        self._masks = MaskPlace(mask, noop)
        self._renderer = Renderer(render_mode)

    def set_opponents(
        self,
        opponents: AgentSpec | Sequence[AgentSpec],
        opponent_weights: Sequence[float] | None = None,
        pool: bool = False,
    ) -> None:
        """Replace the opponents from every row's next episode on:
        :meth:`LearnerGames.set_opponents`.
        """
        self.core.set_opponents(opponents, opponent_weights, pool)

    def action_masks(self) -> Mask:
        """Return every row's action mask, int8 (n, 103); all 0 in a row that is over."""
        return self._masks.shown(self.core.mask())

    def close(self, **_: Any) -> None:
        """Close the window, if there is one."""
        self._renderer.window.close()

    def _row(self, row: int) -> tuple[Any, dict[str, Any]]:
        """Return a row's observation and info in the form of the single environment."""
        core, games, seat = self.core, self.core.games, self.core.learner[row]
        rows = core.all_rows[row : row + 1]
        mask = self._masks.shown(games.mask[row] * np.int8(not core.done[row]))
        is_shown = games.seat[row] == seat
        vector = games.observation[row].copy() if is_shown else core.observation(rows)[0]
        (info,) = each_info(core.infos(rows))
        return self._masks.observation(vector, mask), {**self._masks.info(mask), **info}

    def _picture(self, row: int) -> RGB | str | None:
        return self._renderer.render(self.core.games, row, int(self.core.learner[row]))
