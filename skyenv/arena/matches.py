"""Batched games between agents: the core of evaluations, tournaments and datasets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Unpack

import numpy as np

from skyenv.agents import Agent, decide_each, decide_game
from skyenv.array_types import ArrayLike, Bool, Float64, Int64, RecordArray
from skyenv.checks import check_integer
from skyenv.engine.game import Game
from skyenv.engine.games import Games
from skyenv.engine.knowledge import resample
from skyenv.engine.options import GameKeywords, GameOptions, options_of
from skyenv.engine.results import results
from skyenv.errors import OptionError
from skyenv.rules.components import MAX_PLAYERS
from skyenv.rules.state import END_TRUNCATED
from skyenv.seeds import EVALUATION, secret_seeds, seeds_of

# Concurrent games: enough for batched decisions, few enough that games finish steadily.
ROWS: Final = 512
# Seat s uses the random numbers of salt SALT + s. The salt belongs to the seat, not to the agent,
# so an agent against itself plays the same games from every seat.
SALT: Final = 1000
SALTS: Final = SALT + np.arange(MAX_PLAYERS)


class Onlooker:
    """The base class of observers of a match.

    `rows` and `matches`, int64 (k,), say which row of the batch plays which game of the match.
    """

    def decided(
        self,
        games: Games,
        rows: Int64,
        matches: Int64,
        actions: Int64,
    ) -> None:
        """Receive the chosen actions of some rows before they are played.

        Masks, seats and observations are still those of the decisions.
        """

    def played(self, games: Games, rows: Int64, matches: Int64) -> None:
        """Receive the state after the actions; finished games are still in their rows."""


@dataclass
class Played:
    """The results of a match of k games.

    Attributes:
        seeds: int64 (k,). seating: int64 (k, players), the index of the agent in every seat.
        ends: int64 (k,), the reason of the end, END_… of skyenv/rules/state.py; 0 for an unfinished
            game, which has no result.
        shares: float64 (k, players), of the win; winners share 1 (END-4). A truncated game counts
            by its current scores.
        scores: int64 (k, players), VP.
        decisions, turns: int64 (k,), of all seats together.
    """

    seeds: Int64
    seating: Int64
    ends: Int64
    shares: Float64
    scores: Int64
    decisions: Int64
    turns: Int64

    @classmethod
    def none(cls, seeds: Int64, seating: Int64) -> "Played":
        """Return results of unplayed games."""
        ends, decisions, turns = np.zeros((3, len(seating)), np.int64)
        shares = np.zeros(seating.shape)
        scores = np.zeros_like(seating)
        return cls(seeds, seating, ends, shares, scores, decisions, turns)

    @property
    def finished(self) -> Bool:
        """Return whether each game is over, bool (k,)."""
        return np.asarray(self.ends > 0)

    @property
    def truncated(self) -> Bool:
        """Return whether each game was ended by END-5, bool (k,)."""
        return np.asarray(self.ends == END_TRUNCATED)

    def fill(self, rows: slice, played: "Played") -> None:
        """Copy the results of games played elsewhere into these rows."""
        for name in ("shares", "scores", "decisions", "turns", "ends"):
            getattr(self, name)[rows] = getattr(played, name)

    def note(self, matches: Int64, state: np.recarray) -> None:
        """Write the results of some games by their final positions, GAME_DTYPE (k,)."""
        players = self.seating.shape[1]
        self.shares[matches] = results(state)[0][:, :players]
        self.scores[matches] = state["score"][:, :players]
        self.ends[matches] = state["end"]
        self.decisions[matches] = state["decisions"]
        self.turns[matches] = state["turns"]


def play_games(
    agents: Sequence[Agent],
    seating: ArrayLike,
    seeds: ArrayLike,
    side: str = "front",
    *,
    secret: int | None = None,
    purpose: range = EVALUATION,
    rows: int = ROWS,
    onlooker: Onlooker | None = None,
    **game: Unpack[GameKeywords],
) -> Played:
    """Play games between agents. The result doesn't depend on `rows`.

    Args:
        agents: the agents. Each decides for all games in which it is to act, in one batch.
        seating: integers (k, players): the index in `agents` for each seat of each game.
        seeds: integers (k,) from 0 to 2⁶³−1, one for each game.
        side: of the board.
        secret: a number from 0 to 2⁶³−1 unknown to agents. The games are then those of
            :func:`skyenv.seeds.secret_seeds`, and agents' random numbers depend on it too, so no
            agent can infer a game from its seed. None: the games of `seeds` themselves, which an
            agent could reproduce by trying small seeds.
        purpose: the range of :mod:`skyenv.seeds` from which the secret derives seeds.
        rows: concurrent games; a row whose game is over takes the next one.
        onlooker: receives every decision; the games then write observations.
        game: options of :class:`skyenv.GameOptions`: board, max_turns, reward; or `options`, a
            complete one, instead of `side` as well.

    Raises:
        OptionError: invalid option. AgentError: an agent returned illegal actions.
    """
    played = _new_match(agents, seating, seeds)
    number, players = played.seating.shape
    options = _options(players, side, **game)
    waiting = width = min(check_integer("rows", rows, 1, 2**31 - 1), number)
    if number == 0:
        return played
    dealt = played.seeds if secret is None else secret_seeds(secret, played.seeds, purpose)
    games = Games(
        width,
        seed=dealt[:width],
        autoreset=False,
        # Without an onlooker, observations are made for those agents alone that use them.
        observation=onlooker is not None,
        agent_seed=secret,
        options=options,
    )
    match = np.arange(width)  # which game of the match each row plays
    while (going := np.flatnonzero(games.seat >= 0)).size:
        seats = games.seat[going]
        whose = played.seating[match[going], seats]
        actions = decide_each(games, dict(enumerate(agents)), whose, going, SALT + seats)
        if onlooker is not None:
            onlooker.decided(games, going, match[going], actions)
        games.step(actions, going)
        if onlooker is not None:
            onlooker.played(games, going, match[going])
        over = going[games.done[going]]
        if over.size:
            played.note(match[over], games.state[over].view(np.recarray))
            free = over[: number - waiting]
            match[free] = np.arange(waiting, waiting + free.size)
            waiting += free.size
            games.reset(dealt[match[free]], free)
    return played


def _new_match(agents: Sequence[Agent], seating: ArrayLike, seeds: ArrayLike) -> Played:
    """Return an unplayed match after checking its seating and seeds."""
    chairs = np.asarray(seating)
    if chairs.ndim != 2 or (chairs.size and chairs.dtype.kind not in "iu"):
        raise OptionError(
            f"seating must be integers, one row of seats for each game, not {chairs.dtype} "
            f"{chairs.shape}"
        )
    if chairs.size and not (chairs.min() >= 0 and chairs.max() < len(agents)):
        raise OptionError(
            f"seating names agents {chairs.min()} to {chairs.max()}; there are {len(agents)}, "
            "counted from 0"
        )
    numbers = seeds_of(np.atleast_1d(seeds), len(chairs))
    return Played.none(numbers, chairs.astype(np.int64))


def _options(seats: int, side: str, **game: Unpack[GameKeywords]) -> GameOptions:
    """Return the options of a match's games at a table with a number of seats.

    Raises:
        OptionError: invalid option, or `options` for another table or beside others.
    """
    given = 2 if game.get("options") else seats  # beside `options`, 2 means not given
    options = options_of(given, side, **game)
    if options.num_players != seats:
        raise OptionError(f"options are for {options.num_players} players, the table has {seats}")
    return options


def rotations(players: int, paired_seeds: int) -> Int64:
    """Return the seating of agent 0 against agent 1 in all other seats, int64 (games, players):
    every paired seed once from each seat.
    """
    return np.tile(1 - np.eye(players, dtype=np.int64), (paired_seeds, 1))


def play_game(
    agents: Sequence[Agent],
    seed: int,
    side: str = "front",
    *,
    secret: int | None = None,
    purpose: range = EVALUATION,
    **game: Unpack[GameKeywords],
) -> Game:
    """Play one game for its record: the same game that :func:`play_games` plays with that seed.

    Args:
        agents: one for each seat.
        seed, side: as for :class:`skyenv.Game`.
        secret, purpose, game: as for :func:`play_games`.
    """
    dealt = seed if secret is None else int(secret_seeds(secret, [seed], purpose)[0])
    options = _options(len(agents), side, **game)
    played = Game(seed=dealt, agent_seed=secret, options=options)
    while played.seat is not None:
        played.play(decide_game(played, agents[played.seat], SALT + played.seat))
    return played


def play_on(
    games: Games,
    agents: Sequence[Agent],
    stop: Callable[[Int64], Bool] | None = None,
    salts: ArrayLike = SALTS,
) -> None:
    """Play the games of a batch on with agents, in place, to their ends.

    Args:
        games: without automatic resets.
        agents: one for each seat. An agent of several seats decides for them in one call.
        stop: called before decisions with their rows, int64 (k,); returns which of these games stop
            there, bool (k,).
        salts: of the agents' random numbers, one for each seat or one for all.

    Raises:
        AgentError: an agent returned illegal actions.
    """
    by_seat = np.array([id(agent) for agent in agents])
    of_seats = np.broadcast_to(salts, MAX_PLAYERS)
    going = games.seat >= 0
    while (rows := np.flatnonzero(going & (games.seat >= 0))).size:
        if stop is not None:
            stopped = stop(rows)
            going[rows[stopped]] = False
            rows = rows[~stopped]
        seats = games.seat[rows]
        whose = {id(agent): agent for agent in agents}
        games.step(decide_each(games, whose, by_seat[seats], rows, of_seats[seats]), rows)


def worlds_of(views: ArrayLike, seeds: ArrayLike) -> RecordArray:
    """Return determinizations to play on, GAME_DTYPE (k,): those of
    :func:`skyenv.engine.knowledge.resample`, in which agents have random numbers by `seeds`.
    """
    states: RecordArray = resample(views, seeds).view(np.ndarray)
    states["seed"] = seeds
    return states
