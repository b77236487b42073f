"""Many games at once, in arrays, over threads: the batch engine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv import kernels
from skyenv.errors import GameOverError, IllegalActionError, OptionError, shown
from skyenv.observation import OBSERVATION_SIZE, SCRATCH_DTYPE
from skyenv.rules.actions import ACTION_NAMES, NUM_ACTIONS
from skyenv.rules.board import Board, as_board
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS
from skyenv.rules.setup import blank_game
from skyenv.rules.state import GAME_DTYPE, PHASE_OVER, PHASES, as_records, new_games, new_records
from skyenv.rules.tape import TAPE_DTYPE

HIGHEST_SEED: Final = kernels.HIGHEST_SEED
DEFAULT_MAX_TURNS: Final = 500
ROWS_PER_THREAD: Final = 64
"""A thread is not woken for fewer rows than this: handing over work would cost more than it saves."""

WRITTEN: Final = (
    "_state", "_finished", "_slots", "_scratch", "_tape", "mask", "seat", "observation", "reward", "done", "truncated",
)  # fmt: skip
"""The arrays that change while games are played; a copy has its own, and shares everything else."""

Seeds = int | Sequence[int] | npt.NDArray[np.integer[Any]]


def check_integer(name: str, value: object, lowest: int, highest: int) -> int:
    """Return `value` as an int if it is a whole number from `lowest` to `highest`; raise OptionError otherwise."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and lowest <= value <= highest:
        return int(value)
    raise OptionError(f"{name} must be a whole number from {lowest} to {highest}, not {shown(value)}")


def check_choice(name: str, value: object, choices: Sequence[str]) -> str:
    """Return `value` if it is one of `choices`; raise OptionError otherwise."""
    if isinstance(value, str) and value in choices:
        return value
    raise OptionError(f"{name} must be one of {', '.join(choices)}, not {shown(value)}")


def fresh_seed() -> int:
    """A seed from the operating system's entropy."""
    return int.from_bytes(os.urandom(8), "little") & HIGHEST_SEED


def as_games(state: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """Games as compiled functions take them; see :func:`skyenv.rules.state.new_records`."""
    return as_records(state, GAME_DTYPE)


class Games:
    """A batch of games of one kind, played in step.

    The arrays below are allocated once and written in place by :meth:`reset` and :meth:`step`; row i of each tells of game i.
    A game's seed and the actions taken decide it, however rows are batched and on any number of threads: a
    :class:`skyenv.Game` with the seed of a row and the same actions is that row's game.

    Args:
        num_games: number of rows, at least 1.
        num_players: 2 to 4.
        side: side of the board, ``"front"`` or ``"back"``.
        seed: a whole number s from 0 to 2⁶³−1 gives row i the seed s + i (mod 2⁶³); a sequence has one seed for each row; None
            takes one number s from the operating system.
        threads: threads to play on, at least 1.
        board: a :class:`Board`, or the path of a board file, with other rings than the printed ones (COM-7, COM-9).
        max_turns: turns after which a game is truncated (END-5).
        reward: ``"outcome"``, ``"margin"`` or ``"points"`` (see the README).
        autoreset: whether a row whose game is over begins the next one, with seed + num_games (mod 2⁶³), in the same step.

    Attributes:
        state: GAME_DTYPE (num_games,), the games themselves; a record array.
        mask: int8 (num_games, 103), 1 for each legal action of the seat to act; zeros if the game is over.
        seat: int64 (num_games,), the seat to act; −1 if the game is over.
        observation: float32 (num_games, OBSERVATION_SIZE), from the view of `seat` (of seat 0 if the game is over).
        reward: float32 (num_games, num_players), every seat's reward of the row's last step.
        done: bool (num_games,), whether the row's last step finished its game.
        truncated: bool (num_games,), whether it did so by truncation.
        finished: GAME_DTYPE (num_games,), the position in which the row's latest finished game ended.

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
        threads: int = 1,
        board: Board | str | Path | None = None,
        max_turns: int = DEFAULT_MAX_TURNS,
        reward: str = "outcome",
        autoreset: bool = True,
        observe: bool = True,
    ) -> None:
        self.num_games = check_integer("num_games", num_games, 1, 2**31 - 1)
        self.num_players = check_integer("num_players", num_players, MIN_PLAYERS, MAX_PLAYERS)
        self.board = as_board(board, side)
        self.side = self.board.side
        self.max_turns = check_integer("max_turns", max_turns, 1, 2**31 - 1)
        self.threads = check_integer("threads", threads, 1, 1024)
        self.reward_kind = check_choice("reward", reward, kernels.REWARDS)
        self.autoreset = bool(autoreset)
        self._kind = kernels.REWARDS.index(self.reward_kind)
        self._blank = blank_game(self.num_players, self.board, self.max_turns)
        self._allocate(OBSERVATION_SIZE if observe else 0)
        self._finished[:] = self._blank
        self.reset(seed)

    def _allocate(self, observation_size: int) -> None:
        n = self.num_games
        self._state = new_games(n)
        self._finished = new_games(n)
        self.mask = np.zeros((n, NUM_ACTIONS), np.int8)
        self.seat = np.zeros(n, np.int64)
        self.observation = np.zeros((n, observation_size), np.float32)
        self.reward = np.zeros((n, self.num_players), np.float32)
        self.done = np.zeros(n, np.bool_)
        self.truncated = np.zeros(n, np.bool_)
        self._slots = new_records(n, kernels.SLOT_DTYPE)
        self._scratch = new_records(self.threads, SCRATCH_DTYPE)
        self._tape = new_records(1, TAPE_DTYPE)
        self._all_rows = np.arange(n, dtype=np.int64)
        self._no_actions = np.zeros(0, np.int64)
        self._stamp = 0
        self._pool: ThreadPoolExecutor | None = None
        self._make_views()

    def _make_views(self) -> None:
        self.state = self._state.view(np.recarray)
        self.finished = self._finished.view(np.recarray)

    @property
    def seeds(self) -> npt.NDArray[np.int64]:
        """int64 (num_games,): the seed of the game that is now in each row (−1: set up from elsewhere)."""
        return self._state["seed"]

    def reset(self, seed: Seeds | None = None, rows: npt.ArrayLike | None = None) -> None:
        """Begin new games.

        Args:
            seed: as in the constructor, for the rows named in their order; None gives each row its next seed, which is the
                present one + num_games (the first time: from the operating system).
            rows: the rows to reset; None means all.

        Raises:
            OptionError: a seed or a row is out of range. Nothing has changed.
        """
        chosen = self._check_rows(rows)
        if len(np.unique(chosen)) != len(chosen):
            raise OptionError("rows must name each row at most once")
        self._reset(chosen, self._seeds_for(seed, chosen), self._tape)

    def _reset(self, rows: npt.NDArray[np.int64], seeds: npt.NDArray[np.int64], tape: npt.NDArray[np.void]) -> None:
        kernels.reset_rows(
            self._state, self._slots, self.mask, self.seat, self.observation, self.reward, self.done, self.truncated,
            self._blank, tape, self._scratch, rows, seeds,
        )  # fmt: skip

    def refresh(self) -> None:
        """Bring plot values, masks, seats and observations up to date after `state` was edited by hand."""
        self._reset(self._all_rows, np.full(self.num_games, kernels.REFRESH, np.int64), self._tape)

    def _check_rows(self, rows: npt.ArrayLike | None) -> npt.NDArray[np.int64]:
        if rows is None:
            return self._all_rows
        chosen = np.asarray(rows)
        if chosen.dtype == np.bool_ and chosen.shape == (self.num_games,):
            return np.flatnonzero(chosen)
        if chosen.size == 0:
            return self._no_actions
        if chosen.ndim != 1 or not np.issubdtype(chosen.dtype, np.integer):
            raise OptionError(f"rows must be whole numbers, shape (k,), not {chosen.dtype} {chosen.shape}")
        if chosen.min() < 0 or chosen.max() >= self.num_games:
            raise OptionError(f"rows must be from 0 to {self.num_games - 1}, not {chosen.min()} to {chosen.max()}")
        return np.ascontiguousarray(chosen, np.int64)

    def _seeds_for(self, seed: Seeds | None, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        if seed is None:
            if self._state["num_players"].any():
                following = [int(self.seeds[row]) + self.num_games for row in rows]
            else:  # the first games of all
                start = fresh_seed()
                following = [start + int(row) for row in rows]
        elif isinstance(seed, (int, np.integer)):
            first = check_integer("seed", seed, 0, HIGHEST_SEED)
            following = [first + i for i in range(len(rows))]
        else:
            if not isinstance(seed, (Sequence, np.ndarray)) or (isinstance(seed, np.ndarray) and seed.ndim != 1):
                raise OptionError(f"seed must be a whole number, one for each row, or None, not {shown(seed)}")
            if len(seed) != len(rows):
                raise OptionError(f"seed must have one number for each of the {len(rows)} rows, not {len(seed)}")
            following = [check_integer("seed", one, 0, HIGHEST_SEED) for one in seed]
        return np.array([one & HIGHEST_SEED for one in following], np.int64)

    def step(self, actions: npt.ArrayLike, rows: npt.ArrayLike | None = None) -> None:
        """Play one action in every row, or in the rows named; only those rows' arrays are written.

        Args:
            actions: whole numbers, (num_games,) or one for each of `rows`.
            rows: rows to play in, each at most once; None means all.

        Raises:
            IllegalActionError: an action is not legal (GameOverError: the game is over); the error has the row and the reason.
            OptionError: shapes or rows are wrong. In each case nothing has changed.
        """
        chosen = self._all_rows if rows is None else self._check_rows(rows)
        wanted = np.asarray(actions)
        if wanted.shape != chosen.shape or (wanted.dtype.kind not in "iu" and wanted.size):
            raise OptionError(f"actions must be whole numbers, shape {chosen.shape}, not {wanted.dtype} {wanted.shape}")
        if wanted.dtype == np.uint64:
            wanted = np.minimum(wanted, NUM_ACTIONS)  # lest the largest numbers turn negative
        wanted = wanted.astype(np.int64, copy=False)
        self._stamp += 1
        refused = kernels.first_refused(self._slots, chosen, wanted, self._stamp)
        if refused != kernels.OK:
            raise self.refusal(int(chosen[refused]), int(wanted[refused]), self.num_games > 1)
        self._play(chosen, wanted, 0, 0, self._tape)

    def play_random(self, steps: int, salt: int = 0) -> None:
        """Play `steps` uniformly random legal actions in every row, inside compiled code.

        The choices are those of :class:`skyenv.agents.RandomAgent`; they take nothing from the games' own chance. Without
        automatic reset a row stops when its game is over. `reward`, `done` and `truncated` tell of each row's last step.
        """
        check_integer("steps", steps, 1, 2**62)
        check_integer("salt", salt, 0, 2**62)
        self._play(self._all_rows, self._no_actions, steps, salt, self._tape)

    def refusal(self, row: int, action: int, in_batch: bool) -> IllegalActionError | OptionError:
        """The error that says why an action can't be played in a row."""
        where = f"row {row}: " if in_batch else ""
        index = row if in_batch else None
        game = self.state[row]
        if game.phase == PHASE_OVER:
            return GameOverError(f"{where}the game is over; reset it before the next action", action, index)
        if not 0 <= action < NUM_ACTIONS:
            return IllegalActionError(f"{where}action {action} is not a number from 0 to {NUM_ACTIONS - 1}", action, index)
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
        """Hand the rows, in as many parts as there are threads for, to the compiled loop."""
        parts = min(self.threads, max(1, len(rows) * max(random_steps, 1) // ROWS_PER_THREAD))
        if parts == 1:
            self._play_part(rows, actions, random_steps, salt, tape, 0)
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads - 1, thread_name_prefix="skyenv")
        bounds = [len(rows) * part // parts for part in range(parts + 1)]
        slices = [slice(bounds[part], bounds[part + 1]) for part in range(parts)]
        others = [
            self._pool.submit(self._play_part, rows[s], actions[s], random_steps, salt, tape, part)
            for part, s in enumerate(slices[1:], 1)
        ]
        self._play_part(rows[slices[0]], actions[slices[0]], random_steps, salt, tape, 0)
        for other in others:
            other.result()

    def _play_part(
        self,
        rows: npt.NDArray[np.int64],
        actions: npt.NDArray[np.int64],
        random_steps: int,
        salt: int,
        tape: npt.NDArray[np.void],
        thread: int,
    ) -> None:
        kernels.play_rows(
            self._state, self._slots, self.mask, self.seat, self.observation, self.reward, self.done, self.truncated,
            self._finished, self._blank, tape, self._scratch[thread : thread + 1],
            rows, actions, self._kind, self.autoreset, random_steps, salt,
        )  # fmt: skip

    def observe(
        self, seats: int | npt.ArrayLike, rows: npt.ArrayLike | None = None, state: np.recarray | None = None
    ) -> npt.NDArray[np.float32]:
        """Observations from the view of any seats.

        Args:
            seats: one seat for all rows, or one for each.
            rows: rows to look at; None means all.
            state: games to look at instead of the present ones, such as `finished`; GAME_DTYPE (num_games,).

        Returns:
            A new array, float32 (k, OBSERVATION_SIZE).

        Raises:
            OptionError: there is no such row or seat.
        """
        chosen = self._check_rows(rows)
        if state is not None and len(state) != self.num_games:
            raise OptionError(f"state must hold {self.num_games} games, as this batch does, not {len(state)}")
        given = np.asarray(seats)
        if given.dtype.kind not in "iu" or given.shape not in ((), chosen.shape):
            raise OptionError(f"seats must be one seat or one for each of the {len(chosen)} rows, not {shown(seats)}")
        whose = np.array(np.broadcast_to(given.astype(np.int64), chosen.shape))
        if whose.size and (whose.min() < 0 or whose.max() >= self.num_players):
            raise OptionError(f"seats must be from 0 to {self.num_players - 1}, not {shown(seats)}")
        out = np.empty((len(chosen), OBSERVATION_SIZE), np.float32)
        kernels.observe_rows(self._state if state is None else as_games(state), self._scratch, chosen, whose, out)
        return out

    def uniforms(self, rows: npt.ArrayLike | None = None, salt: int = 0) -> npt.NDArray[np.float64]:
        """The random number of each row's next decision, float64 (k,) in [0, 1): a function of seed, decision and `salt`."""
        chosen = self._check_rows(rows)
        check_integer("salt", salt, 0, 2**62)
        out = np.empty(len(chosen), np.float64)
        kernels.uniforms(self._state, chosen, salt, out)
        return out

    def copy(self) -> Games:
        """An independent batch in the same position, which continues exactly as this one would."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        for name in WRITTEN:
            written = getattr(self, name)
            # As bytes: NumPy copies records field by field otherwise, which takes ten times as long.
            setattr(twin, name, written.view(np.uint8).copy().view(written.dtype) if written.size else written)
        twin._pool = None  # threads can't be shared; the copy starts its own
        twin._make_views()
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Games:
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        # Threads can't be pickled; views would be pickled apart from what they show.
        left_out = ("_pool", "state", "finished")
        return {name: value for name, value in self.__dict__.items() if name not in left_out}

    def __setstate__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)
        self._pool = None
        self._make_views()

    def __repr__(self) -> str:
        return f"Games({self.num_games}, num_players={self.num_players}, side={self.side!r}, threads={self.threads})"


def results(state: npt.NDArray[np.void]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """END-4 for finished games, or on the scores as they stand.

    Returns:
        The shares of the win, float64 (n, 4), summing to 1 in every row, and the cards in hand, int64 (n, 4).
    """
    shares = np.zeros((len(state), MAX_PLAYERS), np.float64)
    cards = np.zeros((len(state), MAX_PLAYERS), np.int64)
    kernels.results(as_games(state), shares, cards)
    return shares, cards
