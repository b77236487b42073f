"""The core that the Gymnasium and SB3 environments share: games in which one seat learns and agents
play the others.

A row's episode is a game seen from the learner's seat: its decisions are the steps, and everything
that the others do in between belongs to the step before. The opponents decide in batches: one call
for all rows in which the same agent is to act.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, TypeAlias, Unpack

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, decide, make_agent
from skyenv.checks import check_choice, check_flag, check_integer, check_options, check_seat
from skyenv.engine.games import SCALED, Games, whole_numbers
from skyenv.engine.observation import codes_of
from skyenv.engine.options import GameKeywords
from skyenv.envs.episodes import EpisodeSeeds, episode_infos, row_seeds
from skyenv.envs.rendering import Renderer
from skyenv.envs.spaces import Mask, MaskPlace, observation_space
from skyenv.errors import GameOverError, IllegalActionError, OptionError, shown
from skyenv.rules.actions import NUM_ACTIONS

Bool = npt.NDArray[np.bool_]
Int64 = npt.NDArray[np.int64]
AgentSpec: TypeAlias = Agent | Callable[..., Any] | str
"""A player: an agent, a callable, the name of a built-in one, or an import string ``module:Name``.
"""

ILLEGAL_REWARD: Final = -1.0
"""Reward of an illegal action with ``illegal="end"``, as in PettingZoo's usual wrapper."""
MAX_ENVS: Final = 2**31 - 1
ROW_ATTRIBUTES: Final = ("action_masks", "opponents", "render_mode", "seat", "seed")
ROW_METHODS: Final = ("action_masks", "render", "set_opponents")


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
        opponents: the players of the other seats. One player plays them all. A list is one player
            per other seat, clockwise from the learner's; or a pool, of which one is drawn for every
            seat and episode. A player is an agent, a callable, a built-in name or an import string
            ``module:Name``.
        opponent_weights: relative frequencies in a pool; None: all alike.
        pool: whether a list of opponents is a pool; None: if `opponent_weights` or `one_opponent`
            is given.
        one_opponent: draw one player of the pool for all other seats of an episode instead of one
            for each of them.
        seat: the learner's seat; ``"random"`` (or None): drawn for every episode; ``"rotate"``: one
            further each episode, beginning with the row's seed modulo the number of players.
        illegal: ``"end"`` or ``"raise"``, see :meth:`step`.
        threads: threads to play on; None: a sensible number (see :class:`skyenv.Games`).
        observation: ``"scaled"``, float32 observations, or ``"codes"``, int16 (see
            :class:`skyenv.Games`).
        options: ``board``, ``max_turns`` and ``reward`` of :class:`skyenv.GameOptions`.

    Attributes:
        games: the games themselves. A game that is over stays as it ended until its row is reset.
        space: the space of a row's observation.
        illegal: as given.
        all_rows: the indices of all rows, int64 (n,).
        learner: int64 (n,), the learner's seat in each row.
        reward: float64 (n,), the reward of the learner's seat since its previous decision.
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
        self.illegal = check_choice("illegal", illegal, ("end", "raise"))
        self._one_opponent = check_flag("one_opponent", one_opponent)
        drawn = self._one_opponent or opponent_weights is not None
        self._pool = drawn if pool is None else check_flag("pool", pool)
        self._seat = _checked_seat(seat, self.games.num_players)
        self._seeds = EpisodeSeeds(num_games)
        self._agents: list[Agent | None] = []
        self._opponent: Int64 = np.full((num_games, self.games.num_players), -1, dtype=np.int64)
        self._unrewarded = np.zeros(num_games, dtype=np.float64)
        self._last_action: Int64 = np.zeros(num_games, dtype=np.int64)
        self.all_rows: Int64 = np.arange(num_games, dtype=np.int64)
        self.learner: Int64 = np.zeros(num_games, dtype=np.int64)
        self.reward = np.zeros(num_games, dtype=np.float64)
        self.done = np.ones(num_games, dtype=np.bool_)
        self.truncated = np.zeros(num_games, dtype=np.bool_)
        self.length: Int64 = np.zeros(num_games, dtype=np.int64)
        self.total = np.zeros(num_games, dtype=np.float64)
        self.set_opponents(opponents, opponent_weights, pool)

    # ---- opponents ----

    def set_opponents(
        self,
        opponents: AgentSpec | Sequence[AgentSpec],
        opponent_weights: Sequence[float] | None = None,
        pool: bool | None = None,
    ) -> None:
        """Replace the opponents from every row's next episode on; episodes under way keep theirs.

        Args:
            opponents, opponent_weights: as for the class.
            pool: as for the class; None: as given to the class, or if there are weights.

        Raises:
            OptionError: the numbers of opponents, seats and weights don't fit together.
            AgentError: an opponent can't be made.
        """
        several = isinstance(opponents, Sequence) and not isinstance(opponents, str)
        specs: list[Any] = list(opponents) if several else [opponents]  # type: ignore[arg-type]
        weighted = opponent_weights is not None
        drawn = check_flag("pool", (weighted or self._pool) if pool is None else pool)
        others = self.games.num_players - 1
        if several and not drawn and len(specs) != others:
            raise OptionError(
                f"opponents has {len(specs)} entries, but there are {others} other seats; "
                "pool=True draws of them"
            )
        if weighted and not drawn:
            raise OptionError("opponent_weights are for a pool, but pool is False")
        self._limits = _cumulative(opponent_weights, len(specs))
        self._clockwise = several and not drawn
        self._enlist([make_agent(spec) for spec in specs])

    def _enlist(self, agents: list[Agent]) -> None:
        """Number the agents to choose from, the same one once, and forget those that play in no
        episode under way.
        """
        under_way = set(self._opponent[~self.done].ravel().tolist())
        self._agents = [
            agent if number in under_way else None for number, agent in enumerate(self._agents)
        ]
        numbers: dict[int, int] = {}
        for agent in agents:
            if id(agent) not in numbers:
                numbers[id(agent)] = len(self._agents)
                self._agents.append(agent)
        self._choices = np.array([numbers[id(agent)] for agent in agents], dtype=np.int64)

    def opponents(self, row: int) -> list[str | None]:
        """Return the names of the players of a row's seats; None at the learner's."""
        players = [self._agents[i] if i >= 0 else None for i in self._opponent[row].tolist()]
        return [None if agent is None else agent.name for agent in players]

    def _assign(self, rows: Int64, chances: npt.NDArray[np.float64]) -> None:
        """Choose the learner's seat and the other seats' players for a new episode.

        Args:
            rows: which rows, int64 (k,).
            chances: random numbers, float64 (k, at least num_players) in [0, 1).
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
            drawn = np.searchsorted(self._limits, number, side="right")
            choice = self._choices[step - 1 if self._clockwise else drawn]
            self._opponent[rows, (self.learner[rows] + step) % players] = choice
        self._opponent[rows, self.learner[rows]] = -1

    # ---- playing ----

    def reset(
        self,
        seed: int | Sequence[int | None] | None = None,
        rows: Int64 | None = None,
    ) -> None:
        """Start a new episode in `rows` (None: in all), up to the learner's first decision.

        Args:
            seed: an integer s: row i's game gets the seed s + i; a sequence: an entry for every row
                of the batch, None in it meaning the row's own next seed; None: the rows' own next
                seeds. A row's own seeds follow from the last seed that it was given.
            rows: which rows, int64 (k,), each once.

        Raises:
            OptionError: a seed is no non-negative integer, or the sequence has a wrong length.
        """
        rows = self.all_rows if rows is None else rows
        if not rows.size:
            return
        given = row_seeds(seed, rows, self.all_rows.size)
        seeds, chances = self._seeds.begin(given, rows)
        self.games.reset(seed=seeds.tolist(), rows=rows)
        self._assign(rows, chances)
        self.done[rows] = self.truncated[rows] = False
        self.reward[rows] = self._unrewarded[rows] = self.total[rows] = self.length[rows] = 0
        self._advance(rows)

    def step(self, actions: npt.ArrayLike, rows: Int64 | None = None) -> None:
        """Let the learner act in `rows` (None: in all), and the others up to its next decision or
        the end.

        An action that is not legal in its row either raises (``illegal="raise"``) or ends the row's
        episode (``illegal="end"``): the game stays where it is, the reward is ILLEGAL_REWARD, and
        the episode has terminated.

        Args:
            actions: one action number per row.
            rows: which rows, int64 (k,), each once.

        Raises:
            IllegalActionError: an action is not one of the 103, or it is not legal and
                ``illegal="raise"``.
            GameOverError: the episode of one of the rows is over. Both tell the row, and nothing
                has changed.
        """
        rows = self.all_rows if rows is None else rows
        numbers = action_numbers(actions, rows.size)
        legal = self._legal(numbers, rows)
        self._last_action[rows] = numbers
        self._unrewarded[rows[~legal]] += ILLEGAL_REWARD
        playing = rows[legal]
        if playing.size:
            self.games.step(numbers[legal], playing)
            self._collect(playing)
            self._advance(playing)
        self.reward[rows] = self._unrewarded[rows]
        self._unrewarded[rows] = 0
        self.total[rows] += self.reward[rows]
        self.length[rows] += 1
        over = self.games.seat[rows] < 0
        self.done[rows] = over | ~legal
        self.truncated[rows] = over & self.games.truncated[rows]

    def _legal(self, actions: Int64, rows: Int64) -> Bool:
        """Return whether each action is legal, bool (k,).

        Raises:
            IllegalActionError, GameOverError: as :meth:`step` does.
        """
        if self.done[rows].any():
            row = int(rows[np.argmax(self.done[rows])])
            raise GameOverError(
                f"row {row}: the episode is over; reset() starts a new one", row=row
            )
        inside = (actions >= 0) & (actions < NUM_ACTIONS)
        legal: Bool = inside & (self.games.mask[rows, np.where(inside, actions, 0)] != 0)
        accepted = legal if self.illegal == "raise" else inside
        if not accepted.all():
            first = int(np.argmin(accepted))
            in_batch = self.all_rows.size > 1
            raise self.games.refusal(int(rows[first]), int(actions[first]), in_batch)
        return legal

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
        numbers = self._opponent[rows, self.games.seat[rows]]
        actions: Int64 = np.empty(rows.size, dtype=np.int64)
        for number in set(numbers.tolist()):
            agent = self._agents[number]
            assert agent is not None, "an agent is kept while it plays"
            deciding = numbers == number
            actions[deciding] = decide(self.games, agent, rows[deciding])
        return actions

    # ---- the learner's view ----

    def observation(self, rows: Int64 | None = None) -> npt.NDArray[Any]:
        """Return the learner's observation in `rows` (None: in all), also after the end: a new
        array (k, OBSERVATION_SIZE).
        """
        rows = self.all_rows if rows is None else rows
        observation: npt.NDArray[Any] = self.games.observation[rows]
        # A game that is over shows seat 0's observation.
        elsewhere = np.flatnonzero(self.games.seat[rows] != self.learner[rows])
        if elsewhere.size:
            seen = self.games.observe(self.learner[rows[elsewhere]], rows[elsewhere])
            observation[elsewhere] = seen if observation.dtype == seen.dtype else codes_of(seen)
        return observation

    def mask(self, rows: Int64 | None = None) -> Mask:
        """Return the learner's legal actions in `rows` (None: in all), all 0 after the end: a new
        int8 (k, 103).
        """
        rows = self.all_rows if rows is None else rows
        mask: Mask = self.games.mask[rows]
        mask[self.done[rows]] = 0
        return mask

    def episode_infos(self, rows: Int64) -> list[dict[str, Any]]:
        """Return the entries of the infos of `rows`, whose episodes are over:
        :func:`skyenv.envs.episodes.episode_infos`, and ``"illegal_action"``, the action that has
        ended the episode, if one has.
        """
        names = [[name or "" for name in self.opponents(row)] for row in rows.tolist()]
        illegal = self.games.seat[rows] >= 0
        infos = episode_infos(self.games.state[rows], self.learner[rows], names, illegal)
        for i in np.flatnonzero(illegal).tolist():
            infos[i]["illegal_action"] = int(self._last_action[rows[i]])
        return infos


class LearnerEnv:
    """The common part of the environments of one learner.

    Attributes:
        core: the games, the learner's seats and the opponents.
    """

    core: LearnerGames
    render_mode: str | None
    _renderer: Renderer
    _masks: MaskPlace

    def _build(
        self,
        kind: type[LearnerEnv],
        num_games: int,
        num_players: int,
        side: str,
        options: LearnerKeywords,
        *,
        render_mode: str | None,
        render_all_hands: bool,
        mask: str = "info",
        noop: bool = False,
        threads: int | None = 1,
    ) -> None:
        """Make the parts of an environment; `kind` is the class whose constructor took `options`.

        Raises:
            OptionError, AgentError, RenderError: as for the class.
        """
        check_options(kind, options, LearnerKeywords.__optional_keys__)
        check_integer("num_envs", num_games, 1, MAX_ENVS)
        self.core = LearnerGames(num_games, num_players, side, threads=threads, **options)
        self._renderer = Renderer(render_mode, render_all_hands)
        self.render_mode = self._renderer.mode
        self._masks = MaskPlace(mask, noop)

    def set_opponents(
        self,
        opponents: AgentSpec | Sequence[AgentSpec],
        opponent_weights: Sequence[float] | None = None,
        pool: bool | None = None,
    ) -> None:
        """Replace the opponents from every row's next episode on:
        :meth:`LearnerGames.set_opponents`.
        """
        self.core.set_opponents(opponents, opponent_weights, pool)

    def _pictures(self, rows: Sequence[int] | None = None) -> list[Any]:
        return self._renderer.render(self.core.games, self.core.learner.tolist(), rows)

    # ---- what libraries ask of the single environments behind a batch ----

    def _row_attributes(self, name: str, rows: Sequence[int]) -> list[Any]:
        """Return ``action_masks`` (a function), ``opponents`` (names by seat), ``render_mode``,
        ``seat`` or ``seed`` of each of `rows`.

        Raises:
            AttributeError: for any other name.
        """
        core = self.core
        attributes: dict[str, Callable[[int], Any]] = {
            "action_masks": lambda row: partial(self._row_mask, row),
            "opponents": core.opponents,
            "render_mode": lambda row: self.render_mode,
            "seat": lambda row: int(core.learner[row]),
            "seed": lambda row: int(core.games.seeds[row]),
        }
        if name not in attributes:
            raise AttributeError(
                f"the environments have no attribute {shown(name)}; they have "
                f"{', '.join(ROW_ATTRIBUTES)}"
            )
        return [attributes[name](row) for row in rows]

    def _call_rows(self, name: str, rows: list[int], *args: Any, **kwargs: Any) -> list[Any]:
        """Return the results of a method in each of `rows`: ``action_masks``, ``render`` or, of all
        rows together, ``set_opponents``.

        Raises:
            AttributeError: there is no such method.
            OptionError: opponents are to be set in some rows alone, or :meth:`set_opponents`
                refuses them.
        """
        if name == "action_masks":
            return [self._row_mask(row) for row in rows]
        if name == "render":
            return self._pictures(rows)
        if name != "set_opponents":
            raise AttributeError(
                f"the environments have no method {shown(name)}; they have {', '.join(ROW_METHODS)}"
            )
        if sorted(rows) != self.core.all_rows.tolist():
            raise OptionError("opponents can only be set for all rows together")
        self.set_opponents(*args, **kwargs)
        return [None] * len(rows)

    def _row_mask(self, row: int) -> Mask:
        return self._masks.shown(self.core.mask(np.array([row]))[0])


def action_numbers(actions: npt.ArrayLike, count: int) -> Int64:
    """Return actions as int64 (count,).

    Raises:
        IllegalActionError: they are not `count` integers.
    """

    def refused(message: str) -> IllegalActionError:
        return IllegalActionError(message, actions)

    return whole_numbers("actions", actions, (count,), refused)


def _checked_seat(seat: int | str | None, num_players: int) -> int | str:
    if seat is None or seat in ("random", "rotate"):
        return seat or "random"
    return check_seat(seat, num_players, "seat, if not 'random' or 'rotate',")


def _cumulative(weights: Sequence[float] | None, count: int) -> npt.NDArray[np.float64]:
    """Return the upper limits in (0, 1) of all choices but the last, float64 (count − 1,), for
    numbers drawn from [0, 1).
    """
    if count == 0:
        raise OptionError("opponents must have at least one entry")
    try:
        array = np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):  # text, or lists of different lengths
        array = np.zeros(0)
    if array.shape != (count,):
        raise OptionError(
            f"opponent_weights must be {count} numbers, one per opponent, not {shown(weights)}"
        )
    if not (np.isfinite(array).all() and (array >= 0).all() and array.sum() > 0):
        raise OptionError("opponent_weights must be finite, not negative, and not all 0")
    limits: npt.NDArray[np.float64] = np.cumsum(array)[:-1] / array.sum()
    return limits
