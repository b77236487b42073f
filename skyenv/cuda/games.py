"""The batch engine on a GPU."""

from typing import Any, Final, Self, Unpack

import numpy as np

import skyenv.engine.games as host
from skyenv.array_types import ArrayLike, Int64
from skyenv.checks import (
    check_each,
    check_flag,
    check_integer,
    check_rows,
    checks_names,
    whole_numbers,
)
from skyenv.cuda import kernels
from skyenv.cuda.kernels import THREADS, cuda
from skyenv.engine.arrays import GAME_WORDS, Arrays, new_arrays
from skyenv.engine.batch import GameBatch
from skyenv.engine.kernels import REFRESH
from skyenv.engine.observation import OBSERVATION_DTYPE, OBSERVATION_SIZE
from skyenv.engine.options import GameKeywords, options_of
from skyenv.engine.validation import check_positions
from skyenv.errors import OptionError
from skyenv.rules.record import new_records
from skyenv.seeds import Seeds, fresh_seed, seeds_of

MAX_GAMES: Final = 2**24  # rows of a batch; they take 32 GiB, with observations 80 GiB
DECISIONS_AT_A_TIME: Final = 2**24
# Limit of random play in one kernel: less than 1 s, so that Ctrl-C works between two kernels and a
# display's watchdog ends none.
STEPS_AT_A_TIME: Final = 2**12


class Games(GameBatch):
    """A batch of games of one kind on the GPU: :class:`skyenv.Games` with device arrays.

    The same seeds and actions give the same games, bit for bit. The arrays below are Numba's device
    arrays, allocated once and written in place; PyTorch (``torch.as_tensor``), CuPy
    (``cupy.asarray``) and other users of ``__cuda_array_interface__`` access them without a copy,
    and ``copy_to_host()`` copies one to host memory. All work is done on CUDA's legacy default
    stream. Work on a non-blocking stream (PyTorch's side streams, JAX's) is not ordered with it:
    synchronize that stream before passing its actions to :meth:`step`, and the GPU before reading
    arrays there.

    Args:
        num_games: number of rows, 1 to 2²⁴.
        num_players, side, seed, autoreset, observation, agent_seed, options: as for
            :class:`skyenv.Games`.
        wait: whether :meth:`step` waits for the GPU and raises an error for an illegal action. If
            not, it returns at once; after an illegal action that step and all later ones have no
            effect until :meth:`check` has raised the error.

    Attributes:
        options, num_games, num_players, side, board, max_turns, autoreset, agent_seed: as those of
            :class:`skyenv.Games`.
        state, mask, seat, observation, reward, done, truncated, finished: as those of
            :class:`skyenv.Games`, device arrays.

    Raises:
        OptionError: an option has a wrong value.
        BoardError: the board file is wrong.
    """

    @checks_names("cuda.Games()", GameKeywords)
    def __init__(
        self,
        num_games: int,
        num_players: int = 2,
        side: str = "front",
        seed: Seeds | None = None,
        *,
        autoreset: bool = True,
        observation: bool = True,
        agent_seed: int | None = None,
        wait: bool = True,
        **options: Unpack[GameKeywords],
    ) -> None:
        game = options_of(num_players, side, **options)
        if callable(game.reward):
            raise OptionError("reward must be a name: the GPU can't call functions")
        self._take_options(num_games, MAX_GAMES, game, autoreset, observation, agent_seed)
        self._waiting = check_flag("wait", wait)
        number = self.num_games
        self._all_rows = cuda.to_device(self._all_rows)
        self._steps = cuda.to_device(np.zeros(number, np.int64))
        self._refused, self._nothing_refused = (
            cuda.to_device(np.array(kernels.NOTHING_REFUSED, np.int64)) for _ in range(2)
        )
        self._bind(new_arrays(game, number, observation, self.autoreset))
        start = seeds_of(fresh_seed() if seed is None else seed, number)
        self._reset(self._all_rows, cuda.to_device(start))

    def _bind(self, arrays: Arrays) -> None:
        """Copy arrays to the GPU, and expose them."""
        parts: list[Any] = [
            cuda.to_device(one) if isinstance(one, np.ndarray) else one for one in arrays
        ]
        arrays = Arrays(*parts)
        words = arrays.state.view(np.uint32).reshape(self.num_games, GAME_WORDS)
        arrays = arrays._replace(state_words=words)
        size = OBSERVATION_SIZE * self._observed
        self.observation = arrays.observation.view(np.float32).reshape(self.num_games, size)
        self.arrays = arrays
        self.state, self.mask, self.seat = arrays.state, arrays.mask, arrays.seat
        self.reward, self.done, self.truncated = arrays.reward, arrays.done, arrays.truncated
        self.finished = arrays.finished.reshape(arrays.finished.size).view(arrays.state.dtype)

    @property
    def seeds(self) -> Int64:
        """A copy of the seeds of the rows' games: int64 (num_games,)."""
        return self.state.copy_to_host()["seed"].copy()

    # ---- playing ----

    def reset(self, seed: Seeds | None = None, rows: ArrayLike | None = None) -> None:
        """Begin new games; as :meth:`skyenv.Games.reset`.

        Args:
            seed: as in the constructor, for the rows named in their order; None gives each row its
                next seed.
            rows: indices or a mask, in host memory; None means all.

        Raises:
            OptionError: a seed or a row is out of range. Nothing has changed.
            IllegalActionError, GameOverError: as for :meth:`check`.
        """
        self.check()
        self._reset(*map(cuda.to_device, self._check_reset(seed, rows)))

    def _reset(self, rows: Any, seeds: Any) -> None:
        kernels.reset[_blocks(len(rows)), THREADS](self.arrays, rows, seeds)
        self._observe(rows, self._nothing_refused)

    def step(self, actions: Any, rows: Any = None) -> None:
        """Play one action in every row, or in the rows named; only those rows' arrays are written.

        Args:
            actions: int64 or int32, (num_games,) or one for each of `rows`: on the GPU, anything
                with ``__cuda_array_interface__``; or in host memory, from which they are copied.
            rows: rows to play in, each at most once, int64, on the GPU or host; None means all.

        Raises:
            IllegalActionError, GameOverError, OptionError: as for :meth:`skyenv.Games.step`, if it
                waits for the GPU (``wait``). If a row is given twice and one of its actions is
                illegal, either error is possible.
            OptionError: shapes or dtypes are wrong. In each case nothing has changed.
        """
        chosen = self._all_rows if rows is None else _numbers("rows", rows, None)
        wanted = _numbers("actions", actions, chosen.shape)
        self._step_id += 1
        blocks = _blocks(len(chosen))
        kernels.check[blocks, THREADS](
            self.arrays.slots, self._steps, chosen, wanted, self._step_id, self._refused
        )
        kernels.play[blocks, THREADS](self.arrays, self._refused, chosen, wanted)
        kernels.settle[blocks, THREADS](self.arrays, self._refused, chosen)
        self._observe(chosen, self._refused)
        if self._waiting:
            self.check()

    def check(self) -> None:
        """Wait for the GPU, and raise the error of an illegal action since the last call; later
        steps work again.

        Raises:
            IllegalActionError, GameOverError, OptionError: the first row's; neither that step nor
                later ones were played.
        """
        number, _, row, action = (int(one) for one in self._refused.copy_to_host())
        if number:
            self._refused.copy_to_device(np.array(kernels.NOTHING_REFUSED, np.int64))
            check_rows([row], self.num_games)
            raise self.on_host().refusal(row, action, self.num_games > 1)

    def play_random(self, steps: int, salt: int = 0) -> None:
        """Play uniformly random legal actions in every row; the same as
        :meth:`skyenv.Games.play_random`.

        Args:
            steps: at least 1; without automatic reset a row stops when its game is over.
            salt: 0 to 2⁶², separates choices for the same games.

        Raises:
            OptionError: steps or salt are out of range.
            IllegalActionError, GameOverError: as for :meth:`check`.
        """
        self.check()
        left = check_integer("steps", steps, 1, 2**31 - 1)
        salt = check_integer("salt", salt, 0, 2**62)
        most = min(STEPS_AT_A_TIME, max(1, DECISIONS_AT_A_TIME // self.num_games))
        play = kernels.play_random[_blocks(self.num_games), THREADS]
        try:
            for number in range(0, left, most):
                if number:
                    cuda.synchronize()
                    if not self.autoreset and (self.seat.copy_to_host() < 0).all():
                        break
                play(self.arrays, min(left - number, most), salt)
        finally:  # also after Ctrl-C, observations match the games
            self._observe(self._all_rows, self._nothing_refused)

    def _check_rows(self, rows: ArrayLike | None) -> Any:
        """Return rows given in host memory on the GPU."""
        return self._all_rows if rows is None else cuda.to_device(check_rows(rows, self.num_games))

    def _observe(self, rows: Any, refused: Any) -> None:
        """Write the observations of rows, if enabled."""
        if self._observed:
            kernels.observe[_blocks(len(rows)), THREADS](self.arrays, refused, rows)

    # ---- views ----

    def observe(
        self,
        seats: int | ArrayLike,
        rows: ArrayLike | None = None,
        state: Any = None,
    ) -> Any:
        """Return observations from the view of any seats.

        Args:
            seats: a seat for all rows, or one for each; in host memory.
            rows: the rows, in ordinary memory; None means all.
            state: games instead of the current ones, such as `finished`: a device array of this
                batch.

        Returns:
            A new device array, float32 (k, OBSERVATION_SIZE).

        Raises:
            OptionError: there is no such row or seat, or `state` holds no such games.
        """
        looked_at = self.state if state is None else state
        if looked_at.dtype != self.state.dtype or len(looked_at) != self.num_games:
            raise OptionError(f"state must be this batch's state or finished, not {state!r}")
        chosen = self._check_rows(rows)
        whose = cuda.to_device(check_each("seats", seats, self.num_players - 1, len(chosen)))
        out = cuda.device_array(len(chosen), new_records(0, OBSERVATION_DTYPE).dtype)
        kernels.observe_seats[_blocks(len(chosen)), THREADS](looked_at, chosen, whose, out)
        return out.view(np.float32).reshape(len(chosen), OBSERVATION_SIZE)

    def uniforms(self, rows: ArrayLike | None = None, salt: int = 0) -> Any:
        """Return the random number of each row's next decision, for an agent; equal to
        :meth:`skyenv.Games.uniforms`.

        Returns:
            A new device array, float64 (k,) in [0, 1).

        Raises:
            OptionError: there is no such row, or the salt is out of range.
        """
        chosen = self._check_rows(rows)
        check_integer("salt", salt, 0, 2**62)
        out = cuda.device_array(len(chosen), np.float64)
        kernels.uniforms[_blocks(len(chosen)), THREADS](self.state, chosen, self._secret, salt, out)
        return out

    # ---- copies ----

    def refresh(self) -> None:
        """Update all derived data after `state` was edited.

        Raises:
            OptionError: a row is no position of such a game. Nothing has changed; correct the row
                before playing on.
        """
        self.check()
        check_positions(self.state.copy_to_host(), self.num_players)
        self._reset(self._all_rows, cuda.to_device(np.full(self.num_games, REFRESH, np.int64)))

    def on_host(self) -> host.Games:
        """Return the same games in host memory, without the outputs of the last step; they continue
        as these would.
        """
        games = host.Games(
            self.num_games,
            seed=0,
            options=self.options,
            autoreset=self.autoreset,
            observation=self._observed,
            agent_seed=self.agent_seed,
        )
        games.arrays.state[:] = self.state.copy_to_host()
        games.arrays.finished[:] = self.arrays.finished.copy_to_host()
        # Rows without a seed continue from these.
        games.arrays.slots["seed"] = self.arrays.slots.copy_to_host()["seed"]
        games.refresh()
        return games

    @classmethod
    def from_host(cls, games: host.Games, *, wait: bool = True) -> Self:
        """Copy games in host memory to the GPU, without the outputs of their last step; they
        continue as those would.

        Args:
            games: the games.
            wait: as for the class.
        """
        made = cls(
            games.num_games,
            seed=0,
            options=games.options,
            autoreset=games.autoreset,
            observation=games.observation.size > 0,
            agent_seed=games.agent_seed,
            wait=wait,
        )
        made.arrays.state.copy_to_device(games.arrays.state)
        made.arrays.finished.copy_to_device(games.arrays.finished)
        made.arrays.slots.copy_to_device(games.arrays.slots)
        made.refresh()
        return made

    def copy(self) -> Self:
        """Return an independent batch in the same position, which continues exactly as this one,
        without the outputs of the last step.
        """
        self.check()
        return self.from_host(self.on_host(), wait=self._waiting)


def _blocks(threads: int) -> int:
    return max(-(-threads // THREADS), 1)


def _numbers(name: str, given: Any, shape: tuple[int, ...] | None) -> Any:
    """Return integers on the GPU, (k,); those in host memory are copied there.

    Raises:
        OptionError: they aren't int64 or int32 on the GPU, integers on the host, or of the right
            shape.
    """
    if hasattr(given, "copy_to_host"):
        array = given
    elif hasattr(given, "__cuda_array_interface__"):
        array = cuda.as_cuda_array(given)
    else:
        length = (np.size(given),) if shape is None else shape
        return cuda.to_device(whole_numbers(name, given, length))
    if array.ndim != 1 or (shape is not None and array.shape != shape):
        raise OptionError(f"{name} must be of shape {shape or '(k,)'}, not {array.shape}")
    if array.dtype not in (np.int64, np.int32):
        raise OptionError(f"{name} on the GPU must be int64 or int32, not {array.dtype}")
    return array
