"""The batch engine: many games in arrays, on several threads."""

import os
import textwrap
import threading
import weakref
from typing import Any, Final, Self, Unpack

import numpy as np

from skyenv.array_types import AnyArray, ArrayLike, Bool, Float32, Float64, Int8, Int64, RecordArray
from skyenv.checks import check_each, check_integer, check_rows, checks_names, whole_numbers
from skyenv.engine import kernels, thread_pool
from skyenv.engine.arrays import Arrays, as_words, new_arrays
from skyenv.engine.batch import GameBatch
from skyenv.engine.copying import copied
from skyenv.engine.observation import OBSERVATION_DTYPE
from skyenv.engine.options import GameKeywords, GameOptions, options_of
from skyenv.engine.rewards import Transition, rewards_by
from skyenv.engine.validation import as_games, check_positions
from skyenv.errors import GameOverError, IllegalActionError, OptionError
from skyenv.rules.actions import ACTION_NAMES, NUM_ACTIONS
from skyenv.rules.record import new_records
from skyenv.rules.state import GAME_DTYPE, NONE, PHASE_OVER, PHASES
from skyenv.runtime import at_once
from skyenv.seeds import Seeds, fresh_seed

DECISIONS_AT_A_TIME: Final = 100_000
"""Decisions of random play between two checks for Ctrl-C: a few hundredths of a second."""
MOST_GAMES: Final = 2**31 - 1
OUTPUTS: Final = ("mask", "seat", "observation", "reward", "done", "truncated")
"""The arrays that a step writes."""


class Games(GameBatch):
    """A batch of games of one kind, played in lockstep.

    The arrays below are allocated once and written in place by :meth:`reset` and :meth:`step`; row
    i of each belongs to game i. So copy arrays before storing them or passing them to a library
    that does not copy (``torch.from_numpy``, ``jax.numpy.from_dlpack``, ``jax.device_put``), and
    write into them instead of assigning to the attributes (but `agent_seed`). A game is decided by
    its seed and the actions, for any batch and number of threads: a :class:`skyenv.Game` with a
    row's seed and the same actions is that row's game.

    Methods may be called from several threads at once; a lock serializes them in any order. Reading
    the arrays is not locked: a thread that reads while another one plays may see incomplete
    positions.

    When Ctrl-C ends a call, all writing has stopped and every row is in a complete position. Steps
    play all their rows, or none; if Ctrl-C has hit between two threads' parts, the batch refuses
    further steps until all its rows are reset. Parts for which the system refuses a thread are
    played by the calling thread.

    Args:
        num_games: number of rows, at least 1.
        num_players: 2 to 4.
        side: side of the board, ``"front"`` or ``"back"``.
        seed: an integer s from 0 to 2⁶³−1 gives row i the seed s + i (mod 2⁶³); a sequence has one
            seed per row; None takes s from the operating system.
        threads: maximum number of threads, 1 to 1024; small calls use fewer. None: one per
            processor, or fewer if the CPU quota or the number of processes is limited.
        autoreset: whether a row whose game is over begins the next one, with seed + num_games (mod
            2⁶³), in the same step. A row without a seed (−1) continues from the latest seed that it
            had.
        observation: whether to write observations, which take most of the time; without them
            `observation` has the shape (num_games, 0).
        agent_seed: a secret from 0 to 2⁶³−1 that decides agents' random numbers (:meth:`uniforms`)
            together with the games' seeds, so that agents can't verify guessed seeds by them; None:
            the games' seeds decide alone.
        options: ``board``, ``max_turns`` and ``reward`` of :class:`skyenv.GameOptions`; or a
            complete object as ``options``, which also replaces `num_players` and `side`.

    Attributes:
        options: the kind of game, a :class:`skyenv.GameOptions`.
        num_players, side, board, max_turns: those of `options`.
        num_games, threads, autoreset, agent_seed: as given.
        state: GAME_DTYPE (num_games,), the games themselves; a record array.
        mask: int8 (num_games, 103), 1 for each legal action of the seat to act; zeros if the game
            is over.
        seat: int64 (num_games,), the seat to act; −1 if the game is over.
        observation: float32 (num_games, OBSERVATION_SIZE), from the view of `seat` (of seat 0 if
            the game is over).
        reward: float32 (num_games, num_players), every seat's reward of the row's last step.
        done: bool (num_games,), whether the row's last step ended its game.
        truncated: bool (num_games,), whether that was by truncation (END-5).
        finished: GAME_DTYPE (num_games,), the final position of the row's latest finished game.
        arrays, lock: the arrays for compiled code, and the lock to hold while it writes; for other
            parts of the engine. All arrays above are views, so changing their shapes or flags can't
            affect compiled code.

    Raises:
        OptionError: an option has a wrong value.
        BoardError: the board file is wrong.
    """

    arrays: Arrays
    lock: threading.Lock
    state: np.recarray
    finished: np.recarray
    mask: Int8
    seat: Int64
    observation: AnyArray
    reward: Float32
    done: Bool
    truncated: Bool

    @checks_names("Games()", GameKeywords)
    def __init__(
        self,
        num_games: int,
        num_players: int = 2,
        side: str = "front",
        seed: Seeds | None = None,
        *,
        threads: int | None = 1,
        autoreset: bool = True,
        observation: bool = True,
        agent_seed: int | None = None,
        **options: Unpack[GameKeywords],
    ) -> None:
        game = options_of(num_players, side, **options)
        self._take_options(num_games, MOST_GAMES, game, autoreset, observation, agent_seed)
        if threads is None:
            threads = min(at_once(), thread_pool.MAX_THREADS)
        self.threads = check_integer("threads", threads, 1, thread_pool.MAX_THREADS)
        self._is_whole = True
        self._bind(new_arrays(game, self.num_games, observation, self.autoreset, self.threads))
        self.reset(fresh_seed() if seed is None else seed)

    @classmethod
    def of(
        cls,
        states: RecordArray,
        options: GameOptions | None = None,
        *,
        threads: int | None = 1,
        autoreset: bool = False,
        observation: bool = False,
    ) -> Self:
        """Return a batch that plays on from positions, with a row for each.

        Args:
            states: the positions, GAME_DTYPE (num_games,), as in :attr:`state`. They are copied.
            options: their kind of game; None: that of the first position, with the reward
                ``"outcome"`` (:meth:`skyenv.GameOptions.of`).
            threads, autoreset, observation: as for the class.

        Raises:
            OptionError: there is no position, or one is invalid
                (:func:`skyenv.engine.validation.check_positions`).
        """
        positions = as_games(states)
        number = check_integer("the number of states", len(positions), 1, MOST_GAMES)
        players = positions["num_players"][0] if options is None else options.num_players
        check_positions(positions, int(players))
        made = cls(
            number,
            seed=0,
            threads=threads,
            autoreset=autoreset,
            observation=observation,
            options=options or GameOptions.of(positions[0]),
        )
        made.arrays.state[:] = positions
        made._refresh_all()
        return made

    def _bind(self, arrays: Arrays) -> None:
        """Take these arrays, with public views of them and a new lock."""
        arrays = arrays._replace(state_words=as_words(arrays.state))
        self.arrays, self.lock = arrays, threading.Lock()
        for name in OUTPUTS:
            setattr(self, name, getattr(arrays, name).view())
        entries = arrays.observation["entries"]
        self.observation = entries if self._observed else np.zeros((self.num_games, 0), np.float32)
        self.state = arrays.state.view(np.recarray)
        self.finished = arrays.finished.view(GAME_DTYPE)[:, 0].view(np.recarray)
        _BATCHES.add(self)

    @property
    def seeds(self) -> Int64:
        """int64 (num_games,): the seed of each row's current game (−1: none, set up by other
        means).

        It is part of `state`. After an edit of `state` it no longer decides the row's game, but
        agents' random numbers (:meth:`uniforms`) and the row's next seed still depend on it. Write
        −1 there to erase it.
        """
        return self.arrays.state["seed"]

    def reset(self, seed: Seeds | None = None, rows: ArrayLike | None = None) -> None:
        """Begin new games.

        Args:
            seed: as in the constructor, for the rows named in their order; None gives each row its
                next seed, as automatic resets do.
            rows: the rows to reset; None means all.

        Raises:
            OptionError: a seed or a row is out of range. Nothing has changed.
        """
        chosen, seeds = self._check_reset(seed, rows)
        with self.lock:
            kernels.reset_rows(self.arrays, chosen, seeds)
            self._is_whole |= rows is None

    def refresh(self) -> None:
        """Update plot values, masks, seats and observations after `state` was edited.

        `seeds` don't change, although they no longer decide edited games.

        Raises:
            OptionError: a row is no position of such a game
                (:func:`skyenv.engine.validation.check_positions`). Nothing has changed; correct the
                row before playing on.
        """
        with self.lock:
            check_positions(self.arrays.state, self.num_players)
            self._refresh_all()

    def _refresh_all(self) -> None:
        seeds = np.full(self.num_games, kernels.REFRESH, np.int64)
        kernels.reset_rows(self.arrays, self._all_rows, seeds)

    def _check_rows(self, rows: ArrayLike | None) -> Int64:
        return self._all_rows if rows is None else check_rows(rows, self.num_games)

    def step(self, actions: ArrayLike, rows: ArrayLike | None = None) -> None:
        """Play one action in every row, or in the rows named; only those rows' arrays are written.

        Args:
            actions: integers, (num_games,) or one for each of `rows`.
            rows: rows to play in, each at most once; None means all.

        Raises:
            IllegalActionError: an action is not legal (GameOverError: the game is over); the
                message names the row and the reason.
            OptionError: shapes or rows are wrong. In each case nothing has changed. It is also
                raised for an invalid reward function; then the step is played with reward 0.
        """
        with self.lock:
            self._check_whole()
            chosen = self._check_rows(rows)
            wanted = whole_numbers("actions", actions, chosen.shape)
            self._step_id += 1
            refused = kernels.first_refused(self.arrays.slots, chosen, wanted, self._step_id)
            if refused != kernels.OK:
                raise self.refusal(int(chosen[refused]), int(wanted[refused]), self.num_games > 1)
            self._play(chosen, wanted, 0, 0)

    def play_random(self, steps: int, salt: int = 0) -> None:
        """Play `steps` uniformly random legal actions in every row, inside compiled code.

        The choices depend on each game's seed, the number of the decision and `salt`, not on the
        game's stream of chance. They use a cheaper random number than :meth:`uniforms`, which could
        reveal the seed but is never exposed. Without automatic reset a row stops when its game is
        over. `reward`, `done` and `truncated` are those of each row's last step.
        """
        left = check_integer("steps", steps, 1, 2**62)
        salt = check_integer("salt", salt, 0, 2**62)
        most = max(1, DECISIONS_AT_A_TIME // self.num_games)
        if callable(self.options.reward):
            most = 1
        with self.lock:
            self._check_whole()
            while left > 0 and (self.arrays.seat >= 0).any():
                self._play(self._all_rows, self._all_rows, min(left, most), salt)
                left -= most

    def refusal(
        self, row: int, action: int, in_batch: bool = False
    ) -> IllegalActionError | OptionError:
        """Return the error for an action that can't be played in a row."""
        where, index = (f"row {row}: ", row) if in_batch else ("", None)
        game, is_legal = self.state[row], self.arrays.slots[row]["legal"]
        if game.phase == PHASE_OVER:
            why = "the game is over; reset it before the next action"
            return GameOverError(where + why, action, index)
        if not 0 <= action < NUM_ACTIONS:
            why = f"action {action} is not a number from 0 to {NUM_ACTIONS - 1}"
        elif is_legal[action]:
            return OptionError(f"{where}named more than once in one step")
        else:
            legal = ", ".join(ACTION_NAMES[number] for number in np.flatnonzero(is_legal))
            why = (
                f"action {action} ({ACTION_NAMES[action]}) is not legal for seat {game.seat} in "
                f"phase '{PHASES[game.phase]}'; legal: {textwrap.shorten(legal, 120)}"
            )
        return IllegalActionError(where + why, action, index)

    def _check_whole(self) -> None:
        if not self._is_whole:
            raise OptionError(
                "an interrupted step has left this batch's rows at different steps; reset them all"
            )

    def _play(self, rows: Int64, actions: Int64, random_steps: int, salt: int) -> None:
        """Play rows; with a user-defined reward, one step at a time."""
        function, arrays = self.options.reward, self.arrays
        if not callable(function):
            self._play_compiled(rows, actions, random_steps, salt)
            return
        under_way = arrays.seat[rows] != NONE
        rows, actions = rows[under_way], actions[under_way]
        before = arrays.state_words[rows]
        self._play_compiled(rows, actions, random_steps, salt)
        done, outcome = arrays.done[rows], arrays.reward[rows]
        after = np.where(done[:, None], arrays.finished[rows], arrays.state_words[rows])
        arrays.reward[rows] = 0  # in case the function fails
        first, last = (one.view(GAME_DTYPE)[:, 0].view(np.recarray) for one in (before, after))
        transition = Transition(first, last, outcome, done, arrays.truncated[rows])
        arrays.reward[rows] = rewards_by(function, transition)

    def _play_compiled(self, rows: Int64, actions: Int64, random_steps: int, salt: int) -> None:
        """Play rows in compiled code, on a suitable number of threads."""
        arrays, parts = self.arrays, 1
        if self.threads > 1:
            decisions = len(rows) * max(random_steps, 1)
            worth = thread_pool.worthwhile_threads(decisions, self._observed)
            # Not more than have scratch memory, whatever was assigned to `threads`.
            parts = min(self.threads, len(rows), worth, len(arrays.codes) // 2)
        if parts > 1:
            ended = arrays.codes["entries"][1 : 2 * parts : 2, 0]
            ended[:] = self._is_whole = False
            try:
                thread_pool.run(
                    lambda part: kernels.play_rows(
                        arrays, rows, actions, part, parts, random_steps, salt
                    ),
                    parts,
                )
            finally:
                self._is_whole = bool(ended.all())
        else:
            kernels.play_rows(arrays, rows, actions, 0, 1, random_steps, salt)

    def observe(
        self,
        seats: int | ArrayLike,
        rows: ArrayLike | None = None,
        state: np.recarray | None = None,
    ) -> Float32:
        """Return observations from the view of any seats.

        Args:
            seats: a seat for all rows, or one for each.
            rows: the rows; None means all.
            state: games instead of the current ones, such as `finished`; GAME_DTYPE (num_games,).

        Returns:
            A new array, float32 (k, OBSERVATION_SIZE).

        Raises:
            OptionError: there is no such row or seat, or `state` holds no such games.
        """
        chosen = self._check_rows(rows)
        whose = check_each("seats", seats, self.num_players - 1, len(chosen))
        games = None
        if state is not None:
            games = as_games(state)
            if len(games) != self.num_games:
                raise OptionError(
                    f"state must hold {self.num_games} games, as this batch does, not {len(games)}"
                )
            check_positions(games, self.num_players, view_only=True)
        return self.observe_unchecked(whose, chosen, games)

    def observe_unchecked(
        self, seats: Int64, rows: Int64, state: RecordArray | None = None
    ) -> Float32:
        """Return observations as :meth:`observe` does, without checks, for searches.

        Args:
            seats, rows: int64 (k,), each in range.
            state: as :func:`skyenv.engine.validation.as_games` returns it; None: the current games.
        """
        out = new_records(len(rows), OBSERVATION_DTYPE)
        games = self.arrays.state if state is None else state
        with self.lock:
            kernels.observe_rows(games, self.arrays.codes, rows, seats, out)
        return out["entries"]

    def uniforms(self, rows: ArrayLike | None = None, salt: ArrayLike = 0) -> Float64:
        """Return the random number of each row's next decision, for an agent.

        It is a one-way function (ChaCha) of the game's seed, `agent_seed`, the number of the
        decision and `salt`. So it reveals nothing about the seed, the cards, or the numbers of
        other decisions and salts.

        Args:
            rows: the rows; None means all.
            salt: 0 to 2⁶², for all rows or for each; separates agents that must not share random
                numbers.

        Returns:
            float64 (k,) in [0, 1), multiples of 2⁻³².

        Raises:
            OptionError: there is no such row, or the salt is out of range.
        """
        chosen = self._check_rows(rows)
        salts = check_each("salt", salt, 2**62, len(chosen))
        out = np.empty(len(chosen), np.float64)
        with self.lock:
            kernels.uniforms(self.arrays.state, chosen, self._secret, salts, out)
        return out

    def copy(self) -> Self:
        """Return an independent batch in the same position, which continues exactly as this one
        would.
        """
        twin = object.__new__(type(self))
        with self.lock:
            kept = self.__getstate__()
            parts: list[Any] = [
                copied(one) if isinstance(one, np.ndarray) else one for one in kept["arrays"]
            ]
        twin.__setstate__({**kept, "arrays": Arrays(*parts)})
        return twin

    def __getstate__(self) -> dict[str, Any]:
        # Locks can't be pickled; views would be pickled as separate arrays.
        left_out = {"lock", "state", "finished", *OUTPUTS}
        arrays = self.arrays._replace(state_words=None)
        kept = {name: value for name, value in vars(self).items() if name not in left_out}
        return {**kept, "arrays": arrays}

    def __setstate__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)
        self._bind(self.arrays)


_BATCHES: Final[weakref.WeakSet[Games]] = weakref.WeakSet()


def _renew_locks() -> None:
    """Replace locks in a forked process, as those held by another thread would stay locked."""
    for games in list(_BATCHES):
        games.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)
