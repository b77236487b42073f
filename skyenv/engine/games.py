"""Many games at once, in arrays, over threads: the batch engine."""

from __future__ import annotations

import hashlib
import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Final, Self, Unpack

import numpy as np
import numpy.typing as npt

from skyenv.checks import (
    check_choice,
    check_flag,
    check_integer,
    check_output,
    check_rows,
    check_seats,
)
from skyenv.engine import kernels
from skyenv.engine import options as game_options
from skyenv.engine.intrinsics import LINE
from skyenv.engine.observation import CODES_DTYPE, OBSERVATION_SIZE
from skyenv.engine.options import GameKeywords, GameOptions
from skyenv.engine.thread_pool import Crew
from skyenv.engine.validation import as_games, check_positions
from skyenv.errors import GameOverError, IllegalActionError, OptionError
from skyenv.rules.actions import ACTION_NAMES, NUM_ACTIONS
from skyenv.rules.components import MAX_PLAYERS
from skyenv.rules.setup import blank_game
from skyenv.rules.state import NONE, PHASE_OVER, PHASES, as_records, new_games, new_records
from skyenv.rules.tape import TAPE_DTYPE
from skyenv.seeds import EVALUATION, TRAINING

HIGHEST_SEED: Final = kernels.HIGHEST_SEED
outcome_of: Final = kernels.outcome_of
DEFAULT_MAX_TURNS: Final = game_options.DEFAULT_MAX_TURNS
DECISIONS_AT_A_TIME: Final = 100_000
"""So many decisions are played before Ctrl-C is heard: some hundredths of a second."""
DECISIONS_PER_THREAD: Final = 512
"""A thread is not woken for fewer decisions than this, because waking one costs as much as some
hundred of them.
"""
UNOBSERVED: Final = 4
"""So many times as many it must be without observations, which take so much longer than the rest.
"""
MOST_THREADS: Final = 1024
SCALED: Final = "scaled"
OBSERVATIONS: Final = (SCALED, "codes")
"""What observations can be written as."""

WRITTEN: Final = (
    "_state",
    "_finished",
    "_slots",
    "_scratch",
    "_claims",
    "_tape",
    "mask",
    "seat",
    "observation",
    "reward",
    "done",
    "truncated",
)
"""The arrays that change while games are played; a copy has its own, and shares everything else."""

OUTPUTS: Final = ("mask", "seat", "observation", "reward", "done", "truncated")
"""The arrays that tell what steps came to; they may be somebody else's."""

Seeds = int | Sequence[int] | npt.NDArray[np.integer[Any]]


def fresh_seed() -> int:
    """A seed from the operating system's entropy, none of those that are held out
    (:mod:`skyenv.seeds`).
    """
    return int.from_bytes(os.urandom(8), "little") % TRAINING.stop


def secret_seeds(
    secret: int, numbers: npt.ArrayLike, purpose: range = EVALUATION
) -> npt.NDArray[np.int64]:
    """Seeds that nobody can guess who doesn't know a secret, for games that are numbered.

    Whoever guesses a game's seed knows all of its cards, and can tell whether the guess is right by
    dealing the game and looking at the supply row. So where it matters what agents know, games are
    not seeded with 1, 2, 3 … themselves.

    Args:
        secret: 0 to 2⁶³−1, such as :func:`fresh_seed` gives.
        numbers: whole numbers from 0 to 2⁶³−1, (k,).
        purpose: what for, one of the ranges of :mod:`skyenv.seeds`.

    Returns:
        int64 (k,), in that range: a one-way function of the secret and each number.

    Raises:
        OptionError: the secret or a number is out of range.
    """
    key = check_integer("secret", secret, 0, HIGHEST_SEED).to_bytes(8, "little")
    wanted = [
        check_integer("number", number, 0, HIGHEST_SEED).to_bytes(8, "little")
        for number in np.asarray(numbers).tolist()
    ]
    digests = b"".join(
        hashlib.blake2b(number, key=key, digest_size=8).digest() for number in wanted
    )
    drawn = np.frombuffer(digests, "<u8") % np.uint64(purpose.stop - purpose.start)
    return (drawn + np.uint64(purpose.start)).astype(np.int64)


def seeds_of(seed: Seeds, number: int) -> npt.NDArray[np.int64]:
    """The seeds that so many rows are given.

    Args:
        seed: a whole number s from 0 to 2⁶³−1: s, s + 1, … (mod 2⁶³); or a sequence of them, one
            for each row.
        number: of rows.

    Raises:
        OptionError: a seed is out of range, or there are more or fewer than rows.
    """
    if isinstance(seed, (Sequence, np.ndarray)):
        if isinstance(seed, np.ndarray) and seed.ndim != 1:
            raise OptionError(
                f"seed must be a whole number or a row of them, not an array of shape {seed.shape}"
            )
        if len(seed) != number:
            raise OptionError(
                f"seed must have one number for each of the {number} rows, not {len(seed)}"
            )
        return np.array([check_integer("seed", one, 0, HIGHEST_SEED) for one in seed], np.int64)
    first = check_integer("seed", seed, 0, HIGHEST_SEED)
    return np.array([(first + i) & HIGHEST_SEED for i in range(number)], np.int64)


def worthwhile_threads(decisions: int, observed: bool) -> int:
    """Threads that so many decisions in one call are worth, observed or not: none is slower than
    one less would be.
    """
    return max(1, decisions // (DECISIONS_PER_THREAD * (1 if observed else UNOBSERVED)))


def cores() -> int:
    """How many cores this process may use."""
    return (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )  # not every system tells


def sensible_threads(num_games: int, observed: bool) -> int:
    """Threads for a batch of so many games: those that a step is worth, but no more than this
    process has cores.
    """
    return min(cores(), MOST_THREADS, worthwhile_threads(num_games, observed))


class Games:
    """A batch of games of one kind, played in step.

    The arrays below are allocated once and written in place by :meth:`reset` and :meth:`step`; row
    i of each tells of game i. So what is to be kept must be copied, be it appended to a list, or
    handed to a library that takes arrays without copying them (``torch.from_numpy``,
    ``jax.numpy.from_dlpack``, ``jax.device_put``). With ``copy=True`` every call makes new ones. A
    game's seed and the actions taken decide it, however rows are batched and on any number of
    threads: a :class:`skyenv.Game` with the seed of a row and the same actions is that row's game.

    Methods may be called from several threads at once: they are carried out one after the other, in
    any order. The arrays are written without asking, so whoever reads them while another thread
    plays sees games half played.

    When Ctrl-C ends a call, nobody writes any more and every row is in a whole position; on several
    threads some rows may have been played further than others.

    Args:
        num_games: number of rows, at least 1.
        num_players: 2 to 4.
        side: side of the board, ``"front"`` or ``"back"``.
        seed: a whole number s from 0 to 2⁶³−1 gives row i the seed s + i (mod 2⁶³); a sequence has
            one seed for each row; None takes one number s from the operating system.
        threads: threads to play on, 1 to 1024; no more are used than the decisions of a call are
            worth. None: as many as there are processors that this process may use, but no more than
            a step of all rows is worth.
        autoreset: whether a row whose game is over begins the next one, with seed + num_games (mod
            2⁶³), in the same step. A row that was set up from elsewhere without a seed (−1) goes on
            from the latest seed that it had.
        observe: whether `observation` is written; without it, it is empty, (num_games, 0).
        observation: ``"scaled"``: float32; or ``"codes"``: the same entries as whole numbers,
            int16, half as large and faster to write; times :data:`skyenv.engine.observation.SCALE` they
            are the scaled ones.
        agent_seed: a secret from 0 to 2⁶³−1 that decides agents' random numbers (:meth:`uniforms`)
            together with the games' seeds, so that nobody can try out by them whether a guessed
            seed is right; None: the games' seeds decide alone.
        copy: whether every call that writes `mask`, `seat`, `observation`, `reward`, `done` and
            `truncated` puts new arrays in their place, so that those that were there stay as they
            are. `state` and `finished` are always written in place.
        out: arrays of the caller's own for some of those six, by name, which are written instead of
            new ones: shared or pinned memory, or columns of wider rows. Shapes and dtypes are those
            below; each must be writable and aligned, its rows contiguous, and none may share memory
            with another one. Where rows lie apart everything is compiled once more for such arrays.
            They are the batch's from then on: what else is written into them isn't looked at.
            Copies of the batch, and unpickled ones, have arrays of their own.
        options: ``board``, ``max_turns`` and ``reward`` of :class:`skyenv.GameOptions`.

    Attributes:
        options: what kind of game is played, a :class:`skyenv.GameOptions`.
        state: GAME_DTYPE (num_games,), the games themselves; a record array.
        mask: int8 (num_games, 103), 1 for each legal action of the seat to act; zeros if the game
            is over.
        seat: int64 (num_games,), the seat to act; −1 if the game is over.
        observation: float32 (num_games, OBSERVATION_SIZE), from the view of `seat` (of seat 0 if
            the game is over); int16 with ``observation="codes"``.
        reward: float32 (num_games, num_players), every seat's reward of the row's last step.
        done: bool (num_games,), whether the row's last step finished its game.
        truncated: bool (num_games,), whether it did so by truncation.
        finished: GAME_DTYPE (num_games,), the position in which the row's latest finished game
            ended.

    Raises:
        OptionError: an option has a wrong value.
        BoardError: the board file is wrong.
    """

    def __init__(
        self,
        num_games: int,
        num_players: int = 2,
        side: str = "front",
        seed: Seeds | None = None,
        *,
        threads: int | None = 1,
        autoreset: bool = True,
        observe: bool = True,
        observation: str = SCALED,
        agent_seed: int | None = None,
        copy: bool = False,
        out: Mapping[str, npt.NDArray[Any]] | None = None,
        **options: Unpack[GameKeywords],
    ) -> None:
        self.num_games = check_integer("num_games", num_games, 1, 2**31 - 1)
        self.options = game = GameOptions(num_players, side, **options)
        self.num_players, self.side, self.board, self.max_turns = (
            game.num_players,
            game.side,
            game.board,
            game.max_turns,
        )
        observed = check_flag("observe", observe)
        wanted = sensible_threads(self.num_games, observed) if threads is None else threads
        self.threads = check_integer("threads", wanted, 1, MOST_THREADS)
        self.autoreset = check_flag("autoreset", autoreset)
        self.agent_seed = (
            None if agent_seed is None else check_integer("agent_seed", agent_seed, 0, HIGHEST_SEED)
        )
        self._kind = kernels.REWARDS.index(game.reward)
        self._blank = blank_game(self.num_players, self.board, self.max_turns)
        self._scaling = check_choice("observation", observation, OBSERVATIONS) == SCALED
        self._renewing = check_flag("copy", copy)
        self._allocate(OBSERVATION_SIZE if observed else 0)
        if out is not None:
            self._write_into(out)
        self._finished[:] = self._blank
        self.reset(seed)

    def _allocate(self, observation_size: int) -> None:
        n = self.num_games
        self._state = new_games(n)
        self._finished = new_games(n)
        self.mask = np.zeros((n, NUM_ACTIONS), np.int8)
        self.seat = np.zeros(n, np.int64)
        self.observation = np.zeros(
            (n, observation_size), np.float32 if self._scaling else np.int16
        )
        self.reward = np.zeros((n, self.num_players), np.float32)
        self.done = np.zeros(n, np.bool_)
        self.truncated = np.zeros(n, np.bool_)
        self._slots = new_records(n, kernels.SLOT_DTYPE)
        # Every other record is left out, and claims have a line each, lest threads write into one
        # line of the cache.
        self._scratch = new_records(2 * self.threads, CODES_DTYPE)
        self._claims = np.zeros((self.threads + 1, LINE // 8), np.int64)
        self._nothing = np.zeros((n, 0), np.float32)
        self._tape = new_records(1, TAPE_DTYPE)
        self._all_rows = np.arange(n, dtype=np.int64)
        self._no_actions = np.zeros(0, np.int64)
        self._stamp = 0
        self._start_alone()
        self._make_views()

    def _write_into(self, out: Mapping[str, npt.NDArray[Any]]) -> None:
        """Take the caller's arrays instead of those allocated."""
        if self._renewing:
            raise OptionError(
                "copy=True makes new arrays with every call, so out can't be given as well"
            )
        if not isinstance(out, Mapping):
            raise OptionError(
                f"out must be a dict of arrays by name ({', '.join(OUTPUTS)}), not "
                f"{type(out).__name__}"
            )
        for name, array in out.items():
            own: npt.NDArray[Any] = getattr(self, check_choice("out's name", name, OUTPUTS))
            setattr(self, name, check_output(f"out['{name}']", array, own.shape, own.dtype))
        for one, other in combinations(out, 2):
            if np.shares_memory(getattr(self, one), getattr(self, other)):
                raise OptionError(f"out['{one}'] and out['{other}'] share memory")

    def _renew(self) -> None:
        """With ``copy=True`` leave the arrays that were handed out as they are."""
        if self._renewing:
            for name in OUTPUTS:
                setattr(self, name, getattr(self, name).copy())

    def _start_alone(self) -> None:
        """Begin without other threads: they can't be copied, nor taken along into a forked
        process.
        """
        self._crew: Crew | None = None
        self._alone = threading.Lock()  # to be held while the batch is worked on
        _BATCHES.add(self)

    def _make_views(self) -> None:
        self.state = self._state.view(np.recarray)
        self.finished = self._finished.view(np.recarray)

    @property
    def seeds(self) -> npt.NDArray[np.int64]:
        """int64 (num_games,): the seed of the game that is now in each row (−1: set up from
        elsewhere, without one).

        It is part of `state`. After an edit there it no longer decides the row's game; agents'
        random numbers (:meth:`uniforms`) and the row's next seed still come of it. Who wants it to
        tell nothing writes −1 there.
        """
        return self._state["seed"]

    def reset(self, seed: Seeds | None = None, rows: npt.ArrayLike | None = None) -> None:
        """Begin new games.

        Args:
            seed: as in the constructor, for the rows named in their order; None gives each row its
                next seed, as automatic resets do (the first time: from the operating system).
            rows: the rows to reset; None means all.

        Raises:
            OptionError: a seed or a row is out of range. Nothing has changed.
        """
        chosen = self._check_rows(rows)
        if len(np.unique(chosen)) != len(chosen):
            raise OptionError("rows must name each row at most once")
        with self._alone:
            self._reset(chosen, self._seeds_for(seed, chosen), self._tape)

    def _scaled(self) -> npt.NDArray[Any]:
        """Where compiled code writes scaled observations, float32 (num_games, OBSERVATION_SIZE), or
        (num_games, 0).
        """
        return self.observation if self._scaling else self._nothing

    def _codes(self, thread: int) -> npt.NDArray[np.void]:
        """Where compiled code writes codes: memory of the thread, the observation itself, or
        nowhere (none).
        """
        if not self.observation.shape[1]:
            return self._scratch[:0]
        if self._scaling:
            return self._scratch[2 * thread : 2 * thread + 1]
        return as_records(self.observation.view(CODES_DTYPE)[:, 0], CODES_DTYPE)

    def _reset(
        self, rows: npt.NDArray[np.int64], seeds: npt.NDArray[np.int64], tape: npt.NDArray[np.void]
    ) -> None:
        self._renew()
        kernels.reset_rows(
            self._state,
            self._slots,
            self.mask,
            self.seat,
            self._scaled(),
            self.reward,
            self.done,
            self.truncated,
            self._blank,
            tape,
            self._codes(0),
            rows,
            seeds,
        )

    def refresh(self) -> None:
        """Bring plot values, masks, seats and observations up to date after `state` was edited by
        hand.

        `seeds` stay as they are in `state`, although they no longer decide games that were edited.

        Raises:
            OptionError: a row is no position of such a game
                (:func:`skyenv.engine.validation.check_positions`). Nothing has changed, and until it is
                one, nothing must be played.
        """
        with self._alone:
            check_positions(self._state, self.num_players)
            self._refresh()

    def _refresh(self) -> None:
        self._reset(self._all_rows, np.full(self.num_games, kernels.REFRESH, np.int64), self._tape)

    def _check_rows(self, rows: npt.ArrayLike | None) -> npt.NDArray[np.int64]:
        return self._all_rows if rows is None else check_rows(rows, self.num_games)

    def _seeds_for(self, seed: Seeds | None, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        if seed is None:
            if self._state["num_players"].any():
                latest = np.where(self.seeds == NONE, self._slots["seed"], self.seeds)
                following = [int(latest[row]) + self.num_games for row in rows]
            else:  # the first games of all
                start = fresh_seed()
                following = [start + int(row) for row in rows]
        else:
            return seeds_of(seed, len(rows))
        return np.array([one & HIGHEST_SEED for one in following], np.int64)

    def step(self, actions: npt.ArrayLike, rows: npt.ArrayLike | None = None) -> None:
        """Play one action in every row, or in the rows named; only those rows' arrays are written.

        Args:
            actions: whole numbers, (num_games,) or one for each of `rows`.
            rows: rows to play in, each at most once; None means all.

        Raises:
            IllegalActionError: an action is not legal (GameOverError: the game is over); the error
                has the row and the reason.
            OptionError: shapes or rows are wrong. In each case nothing has changed.
        """
        with self._alone:
            self._step(actions, rows)

    def _step(self, actions: npt.ArrayLike, rows: npt.ArrayLike | None = None) -> None:
        chosen = self._check_rows(rows)
        wanted = np.asarray(
            actions
        ).copy()  # before they are looked at: nobody can change them between the check and the play
        if wanted.shape != chosen.shape or (wanted.dtype.kind not in "iu" and wanted.size):
            raise OptionError(
                f"actions must be whole numbers, shape {chosen.shape}, not {wanted.dtype} "
                f"{wanted.shape}"
            )
        if wanted.dtype == np.uint64:
            wanted = np.minimum(wanted, NUM_ACTIONS)  # lest the largest numbers turn negative
        wanted = wanted.astype(np.int64, copy=False)
        self._stamp += 1
        refused = kernels.first_refused(self._slots, chosen, wanted, self._stamp)
        if refused != kernels.OK:
            raise self.refusal(int(chosen[refused]), int(wanted[refused]), self.num_games > 1)
        self._renew()
        self._play(chosen, wanted, 0, 0, self._tape)

    def play_random(self, steps: int, salt: int = 0) -> None:
        """Play `steps` uniformly random legal actions in every row, inside compiled code.

        The choices are a function of each game's seed, the number of the decision and `salt`; they
        take nothing from the games' own chance. They come of a cheaper number than agents get from
        :meth:`uniforms`, one that would give the seed away, but nobody gets to see it: all that can
        be seen are the actions. Without automatic reset a row stops when its game is over.
        `reward`, `done` and `truncated` tell of each row's last step.
        """
        left = check_integer("steps", steps, 1, 2**62)
        salt = check_integer("salt", salt, 0, 2**62)
        most = max(1, DECISIONS_AT_A_TIME // self.num_games)
        with self._alone:
            self._renew()
            while left > 0 and (self.seat >= 0).any():
                self._play(self._all_rows, self._no_actions, min(left, most), salt, self._tape)
                left -= most

    def refusal(self, row: int, action: int, in_batch: bool) -> IllegalActionError | OptionError:
        """The error that says why an action can't be played in a row."""
        where = f"row {row}: " if in_batch else ""
        index = row if in_batch else None
        game = self.state[row]
        if game.phase == PHASE_OVER:
            return GameOverError(
                f"{where}the game is over; reset it before the next action", action, index
            )
        if not 0 <= action < NUM_ACTIONS:
            return IllegalActionError(
                f"{where}action {action} is not a number from 0 to {NUM_ACTIONS - 1}", action, index
            )
        if self._slots[row]["legal"][action]:
            return OptionError(f"{where}named more than once in one step")
        legal = [ACTION_NAMES[number] for number in np.flatnonzero(self._slots[row]["legal"])]
        shown = ", ".join(legal[:8]) + (f", … ({len(legal)} in all)" if len(legal) > 8 else "")
        return IllegalActionError(
            f"{where}action {action} ({ACTION_NAMES[action]}) is not legal for seat {game.seat}"
            f" in phase '{PHASES[game.phase]}'; legal: {shown}",
            action,
            index,
        )

    def _play(
        self,
        rows: npt.NDArray[np.int64],
        actions: npt.NDArray[np.int64],
        random_steps: int,
        salt: int,
        tape: npt.NDArray[np.void],
    ) -> None:
        """Have the compiled loop play the rows, on as many threads as they are worth."""
        decisions = len(rows) * max(random_steps, 1)
        parts = min(
            self.threads, len(rows), worthwhile_threads(decisions, self.observation.shape[1] > 0)
        )

        def play(part: int) -> None:
            kernels.play_rows(
                self._state,
                self._slots,
                self.mask,
                self.seat,
                self._scaled(),
                self.reward,
                self.done,
                self.truncated,
                self._finished,
                self._blank,
                tape,
                self._codes(part),
                self._claims,
                part,
                parts,
                rows,
                actions,
                self._kind,
                self.autoreset,
                random_steps,
                salt,
            )

        if parts <= 1:
            play(0)
            return
        if self._crew is None:
            self._crew = Crew(self.threads - 1)
            weakref.finalize(self, self._crew.dismiss)
        self._claims.fill(0)
        self._crew.run(play, parts)

    def observe(
        self,
        seats: int | npt.ArrayLike,
        rows: npt.ArrayLike | None = None,
        state: np.recarray | None = None,
    ) -> npt.NDArray[np.float32]:
        """Observations from the view of any seats.

        Args:
            seats: one seat for all rows, or one for each.
            rows: rows to look at; None means all.
            state: games to look at instead of the present ones, such as `finished`; GAME_DTYPE
                (num_games,).

        Returns:
            A new array, float32 (k, OBSERVATION_SIZE).

        Raises:
            OptionError: there is no such row or seat, or `state` holds no such games.
        """
        chosen = self._check_rows(rows)
        whose = check_seats(seats, self.num_players, len(chosen))
        games = None
        if state is not None:
            games = as_games(state)
            if len(games) != self.num_games:
                raise OptionError(
                    f"state must hold {self.num_games} games, as this batch does, not {len(games)}"
                )
            check_positions(games, self.num_players, view_only=True)
        out = np.empty((len(chosen), OBSERVATION_SIZE), np.float32)
        with self._alone:
            kernels.observe_rows(
                self._state if games is None else games, self._scratch, chosen, whose, out
            )
        return out

    def uniforms(self, rows: npt.ArrayLike | None = None, salt: int = 0) -> npt.NDArray[np.float64]:
        """The random number of each row's next decision, for an agent.

        It is a one-way function (ChaCha) of the game's seed, `agent_seed`, the number of the
        decision and `salt`: it tells nothing of the seed, and so nothing of the cards, nor of other
        decisions' numbers or those of other salts.

        Args:
            rows: rows to decide in; None means all.
            salt: 0 to 2⁶², tells apart agents that must not share random numbers.

        Returns:
            float64 (k,) in [0, 1), multiples of 2⁻³².

        Raises:
            OptionError: there is no such row, or the salt is out of range.
        """
        chosen = self._check_rows(rows)
        check_integer("salt", salt, 0, 2**62)
        out = np.empty(len(chosen), np.float64)
        with self._alone:
            kernels.uniforms(
                self._state, chosen, NONE if self.agent_seed is None else self.agent_seed, salt, out
            )
        return out

    def copy(self) -> Self:
        """An independent batch in the same position, which continues exactly as this one would."""
        twin = object.__new__(type(self))
        with self._alone:
            twin.__dict__.update(self.__dict__)
            for name in WRITTEN:
                written = getattr(self, name)
                # As bytes: NumPy copies records field by field otherwise, which takes ten times as
                # long.
                setattr(
                    twin,
                    name,
                    written.view(np.uint8).copy().view(written.dtype) if written.size else written,
                )
        twin._start_alone()
        twin._make_views()
        return twin

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        # Threads and locks can't be pickled; views would be pickled apart from what they show.
        left_out = ("_crew", "_alone", "state", "finished")
        return {name: value for name, value in self.__dict__.items() if name not in left_out}

    def __setstate__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)
        self._start_alone()
        self._make_views()

    def __repr__(self) -> str:
        return f"Games({self.num_games}, num_players={self.num_players}, side={self.side!r}, threads={self.threads})"


_BATCHES: Final[weakref.WeakSet[Games]] = weakref.WeakSet()
"""All that there are."""


def _start_again() -> None:
    """In a forked process, before it has threads: those of its parent stay behind, and locks that
    they held stay locked.
    """
    for games in list(_BATCHES):
        games._start_alone()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_again)


def results(state: npt.NDArray[np.void]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """END-4 for finished games, or on the scores as they stand.

    Returns:
        The shares of the win, float64 (n, 4), summing to 1 in every row, and the cards in hand,
        int64 (n, 4).

    Raises:
        OptionError: these are no games.
    """
    games = as_games(state)
    shares = np.zeros((len(games), MAX_PLAYERS), np.float64)
    cards = np.zeros((len(games), MAX_PLAYERS), np.int64)
    kernels.results(games, shares, cards)
    return shares, cards


def share_of(outcome: kernels.Share, num_players: int) -> kernels.Share:
    """The share of the win that a reward "outcome" stands for; see :func:`outcome_of`."""
    return 1 / num_players + outcome * (num_players - 1) / num_players
