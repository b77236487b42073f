"""The core that the Gymnasium and SB3 environments share: games in which one seat learns and agents
play the others.

A row's episode is a game seen from the learner's seat: its decisions are the steps, everything that
the others do in between belongs to the step before. The others are asked in batches: all rows in
which the same agent is to act make one call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, Unpack

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, decide, make_agent
from skyenv.checks import check_choice, check_flag, check_seat
from skyenv.engine.games import SCALED, Games, fresh_seed
from skyenv.engine.observation import codes_of
from skyenv.engine.options import GameKeywords
from skyenv.envs.episodes import episode_infos
from skyenv.envs.spaces import observation_space
from skyenv.envs.streams import Streams, as_seeds, as_uniform, row_seeds
from skyenv.errors import GameOverError, IllegalActionError, OptionError
from skyenv.rules.actions import NUM_ACTIONS

Int64 = npt.NDArray[np.int64]
AgentSpec: TypeAlias = Agent | Callable[..., Any] | str
"""A player: an agent, a callable, the name of a built-in one, or an import string ``module:Name``.
"""

ILLEGAL_REWARD = -1.0
"""Reward of an illegal action with ``illegal="end"``: as PettingZoo's usual wrapper has it in
``env()``.
"""
ILLEGAL = ("end", "raise")
SEATS = ("random", "rotate")


class LearnerKeywords(GameKeywords, total=False):
    """The options of :class:`LearnerGames` that environments of one learner hand on: ``**options:
    Unpack[LearnerKeywords]``.
    """

    opponents: AgentSpec | Sequence[AgentSpec]
    opponent_weights: Sequence[float] | None
    pool: bool | None
    one_opponent: bool
    seat: int | str | None
    illegal: str
    observation: str


class LearnerGames:
    """`num_games` games, in each of which one seat is the learner's. :meth:`reset` starts them.

    Args:
        num_games: number of rows.
        num_players: 2 to 4.
        side: ``"front"`` or ``"back"`` of the board.
        opponents: who plays the other seats. One player plays them all. A list is one player per
            other seat, clockwise from the learner's; or a pool, of which one is drawn for every
            seat and episode. A player is an agent, a callable, a built-in name or an import string
            ``module:Name``.
        opponent_weights: relative frequencies in a pool; None: all alike.
        pool: whether a list of opponents is a pool; None: if `opponent_weights` or `one_opponent`
            say how to draw of it.
        one_opponent: draw one player of the pool for all other seats of an episode instead of one
            for each of them.
        seat: the learner's seat; ``"random"`` (or None): drawn for every episode; ``"rotate"``: one
            further each episode, beginning with the row's seed modulo the number of players.
        illegal: ``"end"`` or ``"raise"``, see :meth:`step`.
        threads: threads to play on; None: a sensible number (see :class:`skyenv.Games`).
        observation: what observations are: ``"scaled"``, float32, or ``"codes"``, int16 (see
            :class:`skyenv.Games`).
        options: ``board``, ``max_turns`` and ``reward`` of :class:`skyenv.GameOptions`.

    Attributes:
        games: the games themselves. A game that is over stays as it ended until its row is reset.
        space: what :meth:`observation` gives for a row, as Gymnasium describes it.
        illegal: as given.
        learner: int64 (n,), the learner's seat in each row.
        reward: float64 (n,), what the learner's seat was rewarded since its previous decision.
        done: bool (n,), the row's episode is over.
        truncated: bool (n,), it is over by truncation (END-5).
        length: int64 (n,), decisions of the learner in this episode.
        total: float64 (n,), its rewards in this episode.

    Raises:
        OptionError: an option has a wrong value.
        AgentError: an opponent can't be made.
    """

    def __init__(
        self,
        num_games: int,
        num_players: int = 2,
        side: str = "front",
        *,
        opponents: AgentSpec | Sequence[AgentSpec] = "random",
        opponent_weights: Sequence[float] | None = None,
        pool: bool | None = None,
        one_opponent: bool = False,
        seat: int | str | None = "random",
        illegal: str = "end",
        threads: int | None = 1,
        observation: str = SCALED,
        **options: Unpack[GameKeywords],
    ) -> None:
        self.games = Games(
            num_games,
            num_players,
            side,
            threads=threads,
            autoreset=False,
            observation=observation,
            **options,
        )
        self.space = observation_space(observation)
        self.illegal = check_choice("illegal", illegal, ILLEGAL)
        self._one_opponent = check_flag("one_opponent", one_opponent)
        drawn = self._one_opponent or opponent_weights is not None
        self._pool = drawn if pool is None else check_flag("pool", pool)
        self._seat = _checked_seat(seat, num_players)
        self._streams = Streams(num_games)
        self._rotation: Int64 = np.zeros(num_games, dtype=np.int64)
        self._all_rows: Int64 = np.arange(num_games, dtype=np.int64)
        self._agents: list[Agent] = []
        self._opponent: Int64 = np.full((num_games, num_players), -1, dtype=np.int64)
        self._unrewarded = np.zeros(num_games, dtype=np.float64)
        self.learner: Int64 = np.zeros(num_games, dtype=np.int64)
        self.reward = np.zeros(num_games, dtype=np.float64)
        self.done = np.ones(num_games, dtype=np.bool_)
        self.truncated = np.zeros(num_games, dtype=np.bool_)
        self.length: Int64 = np.zeros(num_games, dtype=np.int64)
        self.total = np.zeros(num_games, dtype=np.float64)
        self.set_opponents(opponents, opponent_weights, pool)

    # ---- who plays ----

    def set_opponents(
        self,
        opponents: AgentSpec | Sequence[AgentSpec],
        opponent_weights: Sequence[float] | None = None,
        pool: bool | None = None,
    ) -> None:
        """Let others play, from every row's next episode on; episodes under way go on with the
        players they have.

        Args:
            opponents, opponent_weights: as for the class.
            pool: as for the class; None: as the class was told, or if there are weights.

        Raises:
            OptionError: the numbers of opponents, seats and weights don't fit together.
            AgentError: an opponent can't be made.
        """
        specs: list[AgentSpec]
        several = isinstance(opponents, Sequence) and not isinstance(opponents, str)
        specs = list(opponents) if several else [opponents]  # type: ignore[arg-type,list-item]
        drawn = check_flag(
            "pool", (opponent_weights is not None or self._pool) if pool is None else pool
        )
        others = self.games.num_players - 1
        if several and not drawn and len(specs) != others:
            raise OptionError(
                f"opponents has {len(specs)} entries, but there are {others} other seats; "
                "pool=True draws of them"
            )
        if not drawn and opponent_weights is not None:
            raise OptionError(
                "opponent_weights are for a pool, which pool=False says the opponents aren't"
            )
        limits = _cumulative(opponent_weights, len(specs))
        agents = [make_agent(spec) for spec in specs]
        self._forget_unused()
        self._choices = np.array([self._index(agent) for agent in agents], dtype=np.int64)
        self._limits = limits
        self._clockwise = several and not drawn

    def opponents(self, row: int) -> list[str | None]:
        """The name of the player of every seat of a row; None at the learner's."""
        return [
            None if index < 0 else self._agents[index].name
            for index in self._opponent[row].tolist()
        ]

    def _forget_unused(self) -> None:
        """Keep only the agents that play in an episode under way, and number them anew."""
        used = np.unique(self._opponent[~self.done])
        used = used[used >= 0]
        renumbered = np.full(
            len(self._agents) + 1, -1, dtype=np.int64
        )  # its last entry answers for "none", −1
        renumbered[used] = np.arange(used.size)
        self._agents = [self._agents[index] for index in used.tolist()]
        self._opponent = renumbered[self._opponent]

    def _index(self, agent: Agent) -> int:
        for index, other in enumerate(self._agents):
            if other is agent:
                return index
        self._agents.append(agent)
        return len(self._agents) - 1

    def _assign(self, rows: Int64, chances: npt.NDArray[np.float64]) -> None:
        """Choose the learner's seat and the other seats' players for a new episode.

        Args:
            rows: which rows, int64 (k,).
            chances: numbers to choose by, float64 (k, at least num_players) in [0, 1).
        """
        num_players = self.games.num_players
        drawn = (chances[:, 0] * num_players).astype(np.int64)
        if self._seat == "rotate":
            self.learner[rows] = self._rotation[rows] % num_players
        else:
            self.learner[rows] = drawn if self._seat == "random" else int(self._seat)
        for step in range(1, num_players):
            if self._clockwise:
                choice = np.full(rows.size, step - 1, dtype=np.int64)
            elif step == 1 or not self._one_opponent:
                choice = np.searchsorted(self._limits, chances[:, step], side="right").astype(
                    np.int64
                )
            self._opponent[rows, (self.learner[rows] + step) % num_players] = self._choices[choice]
        self._opponent[rows, self.learner[rows]] = -1

    # ---- playing ----

    @property
    def all_rows(self) -> Int64:
        """The indices of all rows, int64 (n,)."""
        return self._all_rows

    def reset(
        self,
        seed: int | Sequence[int | None] | None = None,
        rows: Int64 | None = None,
        generator: np.random.Generator | None = None,
    ) -> None:
        """Start a new episode in `rows` (None: in all), up to the learner's first decision.

        Args:
            seed: an integer s: row i's game gets the seed s + i; a sequence: an entry for every row
                of the batch, None in it meaning the row's own next seed; None: the rows' own next
                seeds. A row's own seeds follow from the last seed that it was given.
            rows: which rows, int64 (k,), each once.
            generator: seeds the rows that never had a seed; None: the operating system does.

        Raises:
            OptionError: a seed is no non-negative integer, or the sequence has a wrong length.
        """
        rows = self._all_rows if rows is None else rows
        if not rows.size:
            return
        given = row_seeds(seed, rows, self._all_rows.size)
        seeds, numbers = self._seeds(given, rows, generator)
        self.games.reset(seed=seeds.tolist(), rows=rows)
        self._assign(rows, as_uniform(numbers[:, 1:]))
        self._rotation[rows] += 1
        for array in (
            self._unrewarded,
            self.reward,
            self.done,
            self.truncated,
            self.length,
            self.total,
        ):
            array[rows] = 0
        self._advance(rows)

    def _seeds(
        self, given: list[int | None], rows: Int64, generator: np.random.Generator | None
    ) -> tuple[Int64, npt.NDArray[np.uint64]]:
        """The seeds of the rows' new games, and what their streams have drawn; a given or fresh
        seed starts a stream anew.
        """
        is_given = np.array([seed is not None for seed in given], dtype=np.bool_)
        starts = is_given | ~self._streams.seeded[rows]
        fresh = np.flatnonzero(starts & ~is_given)
        seeds = np.array([0 if seed is None else seed for seed in given], dtype=np.int64)
        if fresh.size:
            if generator is None:
                seeds[fresh] = [fresh_seed() for _ in fresh]
            else:
                seeds[fresh] = generator.integers(2**63, size=fresh.size)
        self._streams.seed(seeds[starts], rows[starts])
        self._rotation[rows[starts]] = seeds[starts] % self.games.num_players
        numbers = self._streams.draw(rows)
        seeds[~starts] = as_seeds(numbers[~starts, 0])
        return seeds, numbers

    def step(self, actions: npt.ArrayLike, rows: Int64 | None = None) -> npt.NDArray[np.bool_]:
        """Let the learner act in `rows` (None: in all), and the others up to its next decision or
        the end.

        An action that is not legal in its row either raises (``illegal="raise"``) or ends the row's
        episode (``illegal="end"``): the game stays where it is, the reward is ILLEGAL_REWARD, and
        the episode has terminated.

        Args:
            actions: one action number per row.
            rows: which rows, int64 (k,), each once.

        Returns:
            bool (k,), whether each action was legal.

        Raises:
            IllegalActionError: an action is not one of the 103, or it is not legal and
                ``illegal="raise"``.
            GameOverError: the episode of one of the rows is over. Both tell the row, and nothing
                has changed.
        """
        rows = self._all_rows if rows is None else rows
        numbers, legal = self.check(actions, rows)
        playing = rows if legal.all() else rows[legal]
        if playing.size:
            self.games.step(numbers[legal], playing)
            self._collect(playing)
            self._advance(playing)
        self._close_step(rows, legal)
        return legal

    def check(
        self, actions: npt.ArrayLike, rows: Int64 | None = None
    ) -> tuple[Int64, npt.NDArray[np.bool_]]:
        """What :meth:`step` looks at before it plays: the actions, int64 (k,), and whether each is
        legal, bool (k,).

        Raises:
            IllegalActionError, GameOverError: as :meth:`step` does.
        """
        rows = self._all_rows if rows is None else rows
        numbers = whole_numbers(actions, rows.size)
        if self.done[rows].any():
            row = int(rows[np.argmax(self.done[rows])])
            raise GameOverError(
                f"row {row}: the episode is over; reset() starts a new one", row=row
            )
        outside = (numbers < 0) | (numbers >= NUM_ACTIONS)
        if outside.any():
            raise self._refusal(rows, numbers, int(np.argmax(outside)))
        legal: npt.NDArray[np.bool_] = self.games.mask[rows, numbers] != 0
        if self.illegal == "raise" and not legal.all():
            raise self._refusal(rows, numbers, int(np.argmin(legal)))
        return numbers, legal

    def _refusal(self, rows: Int64, actions: Int64, index: int) -> Exception:
        return self.games.refusal(int(rows[index]), int(actions[index]), self.games.num_games > 1)

    def _collect(self, rows: Int64) -> None:
        self._unrewarded[rows] += self.games.reward[rows, self.learner[rows]]

    def _advance(self, rows: Int64) -> None:
        """Let the opponents play in `rows` until the learner is to act or the game is over."""
        games = self.games
        while True:
            seats = games.seat[rows]
            rows = rows[(seats >= 0) & (seats != self.learner[rows])]
            if not rows.size:
                return
            games.step(self._opponents_actions(rows), rows)
            self._collect(rows)

    def _opponents_actions(self, rows: Int64) -> Int64:
        who = self._opponent[rows, self.games.seat[rows]]
        if (who == who[0]).all():
            return decide(self.games, self._agents[who[0]], rows)
        actions = np.empty(rows.size, dtype=np.int64)
        for index in np.unique(who).tolist():
            asked = who == index
            actions[asked] = decide(self.games, self._agents[index], rows[asked])
        return actions

    def _close_step(self, rows: Int64, legal: npt.NDArray[np.bool_]) -> None:
        self._unrewarded[rows[~legal]] += ILLEGAL_REWARD
        self.reward[rows] = self._unrewarded[rows]
        self._unrewarded[rows] = 0.0
        self.total[rows] += self.reward[rows]
        self.length[rows] += 1
        over = self.games.seat[rows] < 0
        self.done[rows] = over | ~legal
        self.truncated[rows] = over & self.games.truncated[rows]

    # ---- what the learner sees ----

    def observation(self, rows: Int64 | None = None) -> npt.NDArray[Any]:
        """What the learner sees in `rows` (None: in all), also after the end: a new array (k,
        OBSERVATION_SIZE).
        """
        rows = self._all_rows if rows is None else rows
        observation: npt.NDArray[Any] = self.games.observation[rows]
        elsewhere = np.flatnonzero(
            self.games.seat[rows] != self.learner[rows]
        )  # over: shown from seat 0's view
        if elsewhere.size:
            seen = self.games.observe(self.learner[rows[elsewhere]], rows[elsewhere])
            observation[elsewhere] = seen if observation.dtype == seen.dtype else codes_of(seen)
        return observation

    def mask(self, rows: Int64 | None = None) -> npt.NDArray[np.int8]:
        """The learner's legal actions in `rows` (None: in all), all 0 after the end: a new int8 (k,
        103).
        """
        rows = self._all_rows if rows is None else rows
        mask: npt.NDArray[np.int8] = self.games.mask[rows]
        mask[self.done[rows]] = 0
        return mask

    def episode_infos(self, rows: Int64) -> list[dict[str, Any]]:
        """What the episodes in `rows`, which are over, came to:
        :func:`skyenv.envs.episodes.episode_infos`.
        """
        names = [
            [
                self._agents[index].name if index >= 0 else ""
                for index in self._opponent[row].tolist()
            ]
            for row in rows
        ]
        return episode_infos(
            self.games.state[rows], self.learner[rows], names, self.games.seat[rows] >= 0
        )


class LearnerEnv:
    """What every environment of one learner can do; `core` is its games."""

    core: LearnerGames

    def set_opponents(
        self,
        opponents: AgentSpec | Sequence[AgentSpec],
        opponent_weights: Sequence[float] | None = None,
        pool: bool | None = None,
    ) -> None:
        """Let others play from every row's next episode on: :meth:`LearnerGames.set_opponents`."""
        self.core.set_opponents(opponents, opponent_weights, pool)


def whole_numbers(actions: npt.ArrayLike, count: int) -> Int64:
    """Actions as int64 (count,).

    Raises:
        IllegalActionError: they are not `count` integers.
    """
    numbers = np.asarray(actions)
    if numbers.shape != (count,) or numbers.dtype.kind not in "iu":
        given = f"an array of shape {numbers.shape} and dtype {numbers.dtype}"
        raise IllegalActionError(
            f"actions must be {count} integers, one per row, not {given}", actions
        )
    return numbers.astype(np.int64)


def _checked_seat(seat: int | str | None, num_players: int) -> int | str:
    if seat is None:
        return "random"
    if isinstance(seat, str) and seat in SEATS:
        return seat
    return check_seat(seat, num_players, "seat, if not 'random' or 'rotate',")


def _cumulative(weights: Sequence[float] | None, count: int) -> npt.NDArray[np.float64]:
    """Upper limits in (0, 1) of all choices but the last, float64 (count − 1,), for numbers drawn
    from [0, 1).
    """
    if count == 0:
        raise OptionError("there must be at least one opponent")
    array = np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)
    if array.shape != (count,):
        raise OptionError(f"opponent_weights must have {count} entries, one per opponent")
    if not (np.isfinite(array).all() and (array >= 0).all() and array.sum() > 0):
        raise OptionError("opponent_weights must be finite, not negative, and not all 0")
    limits: npt.NDArray[np.float64] = np.cumsum(array)[:-1] / array.sum()
    return limits
