"""Many games at once in the memory of a GPU."""

from __future__ import annotations

from typing import Any, Final, Self, Unpack

import numpy as np
import numpy.typing as npt

import skyenv.engine.games
from skyenv.checks import check_choice, check_flag, check_integer, check_rows, check_seats
from skyenv.cuda import kernels
from skyenv.cuda.arrays import DeviceArray, cuda
from skyenv.engine.games import OBSERVATIONS, SCALED
from skyenv.engine.kernels import REFRESH, REWARDS, SLOT_DTYPE
from skyenv.engine.observation import CODES_DTYPE, OBSERVATION_SIZE, SCALE
from skyenv.engine.options import GameKeywords, options_of
from skyenv.engine.validation import check_positions
from skyenv.errors import OptionError
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.setup import blank_game
from skyenv.rules.state import NONE, new_games, new_records
from skyenv.rules.tape import TAPE_DTYPE
from skyenv.seeds import HIGHEST_SEED, Seeds, fresh_seed, seeds_of

MOST_GAMES: Final = 2**24
"""Rows of a batch; so many games take 32 GiB there, with observations 100."""
DECISIONS_AT_A_TIME: Final = 2**24
STEPS_AT_A_TIME: Final = 2**12
"""What one kernel plays at most of random play: less than a second's work, so that Ctrl-C is heard
between two of them, and a
display's watchdog ends none."""
WRITTEN: Final = (
    "_state",
    "_finished",
    "_slots",
    "_stamps",
    "_codes",
    "_refused",
    "_mask",
    "_seat",
    "_observation",
    "_reward",
    "_done",
    "_truncated",
)
"""The arrays that change while games are played; a copy has its own."""


class Games:
    """A batch of games of one kind on the GPU, played in step: :class:`skyenv.Games` with its
    arrays there.

    The same seeds and actions give the same games, bit for bit. The arrays below are allocated once
    and written in place, and other libraries take them without a copy
    (:class:`skyenv.cuda.DeviceArray`). Everything happens on CUDA's legacy default stream. Work on
    a non-blocking stream (PyTorch's side streams, JAX's) is ordered with it by nobody: synchronise
    it before :meth:`step` gets actions from there, and the GPU before it reads arrays there.

    Args:
        num_games: number of rows, 1 to 2²⁴.
        num_players, side, seed, autoreset, observation, agent_seed: as for
        :class:`skyenv.Games`.
        check: whether :meth:`step` waits for the GPU and raises an error for an illegal action. If
            not, it returns at once, and a step with an illegal action, as all after it, does
            nothing until :meth:`check` has told of it.
        options: ``board``, ``max_turns`` and ``reward`` of :class:`skyenv.GameOptions`.

    Attributes:
        options: what kind of game is played, a :class:`skyenv.GameOptions`.
        state, mask, seat, observation, reward, done, truncated, finished: as those of
        :class:`skyenv.Games`, each a
            :class:`skyenv.cuda.DeviceArray`.

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
        autoreset: bool = True,
        observation: str | None = SCALED,
        agent_seed: int | None = None,
        check: bool = True,
        **options: Unpack[GameKeywords],
    ) -> None:
        self.num_games = check_integer("num_games", num_games, 1, MOST_GAMES)
        self.options = game = options_of(num_players, side, **options)
        self.num_players, self.side, self.board, self.max_turns = (
            game.num_players,
            game.side,
            game.board,
            game.max_turns,
        )
        self.autoreset = check_flag("autoreset", autoreset)
        self.agent_seed = (
            None if agent_seed is None else check_integer("agent_seed", agent_seed, 0, HIGHEST_SEED)
        )
        if observation is not None:
            check_choice("observation", observation, OBSERVATIONS)
        self._form = observation
        self._scaling = observation == SCALED
        self._checking = check_flag("check", check)
        self._kind = REWARDS.index(game.reward)
        self._allocate()
        start = seeds_of(fresh_seed() if seed is None else seed, self.num_games)
        self._reset(self._all_rows, cuda.to_device(start))

    def _allocate(self) -> None:
        n = self.num_games
        observed = n if self._form is not None else 0
        blank = blank_game(self.num_players, self.board, self.max_turns)
        self._state, self._finished = (
            cuda.to_device(new_games(n)),
            cuda.to_device(np.repeat(blank, n)),
        )
        self._blank = cuda.to_device(blank)
        self._slots = cuda.to_device(new_records(n, SLOT_DTYPE))
        self._tape = cuda.to_device(new_records(1, TAPE_DTYPE))
        self._codes = cuda.to_device(new_records(observed, CODES_DTYPE))
        self._mask = _zeros((n, NUM_ACTIONS), np.int8)
        self._seat = _zeros((n,), np.int64)
        self._reward = _zeros((n, self.num_players), np.float32)
        self._done, self._truncated = (_zeros((n,), np.bool_) for _ in range(2))
        self._observation = (
            _zeros((observed, OBSERVATION_SIZE), np.float32) if self._scaling else None
        )
        self._scales = cuda.to_device(SCALE)
        self._all_rows = cuda.to_device(np.arange(n, dtype=np.int64))
        self._no_actions = _zeros((1,), np.int64)
        self._stamps = _zeros((n,), np.int64)
        self._stamp = 0
        self._refused, self._nothing_refused = (
            cuda.to_device(np.array(kernels.NOTHING_REFUSED, np.int64)) for _ in range(2)
        )

    # ---- arrays ----

    @property
    def state(self) -> DeviceArray:
        """The games: GAME_DTYPE (num_games,)."""
        return DeviceArray(self._state)

    @property
    def finished(self) -> DeviceArray:
        """The position in which each row's latest finished game ended: GAME_DTYPE (num_games,)."""
        return DeviceArray(self._finished)

    @property
    def mask(self) -> DeviceArray:
        """Legal actions of the seat to act: int8 (num_games, 103)."""
        return DeviceArray(self._mask)

    @property
    def seat(self) -> DeviceArray:
        """The seat to act; −1 if the game is over: int64 (num_games,)."""
        return DeviceArray(self._seat)

    @property
    def observation(self) -> DeviceArray:
        """What that seat sees: float32 or int16 (num_games, OBSERVATION_SIZE), or (0, …) without
        observations.
        """
        if self._observation is not None:
            return DeviceArray(self._observation)
        return DeviceArray(self._codes.view(np.int16).reshape(-1, OBSERVATION_SIZE))

    @property
    def reward(self) -> DeviceArray:
        """Every seat's reward of the row's last step: float32 (num_games, num_players)."""
        return DeviceArray(self._reward)

    @property
    def done(self) -> DeviceArray:
        """Whether the row's last step finished its game: bool (num_games,)."""
        return DeviceArray(self._done)

    @property
    def truncated(self) -> DeviceArray:
        """Whether it did so by truncation: bool (num_games,)."""
        return DeviceArray(self._truncated)

    @property
    def seeds(self) -> npt.NDArray[np.int64]:
        """The seeds of the games in the rows, copied: int64 (num_games,)."""
        seeds: npt.NDArray[np.int64] = self.state.numpy()["seed"].copy()
        return seeds

    # ---- playing ----

    def reset(self, seed: Seeds | None = None, rows: npt.ArrayLike | None = None) -> None:
        """Begin new games; as :meth:`skyenv.Games.reset`.

        Args:
            seed: as in the constructor, for the rows named in their order; None gives each row its
                next seed.
            rows: whole numbers or a mask, in ordinary memory; None means all.

        Raises:
            OptionError: a seed or a row is out of range. Nothing has changed.
            IllegalActionError, GameOverError: an action of an earlier step was refused, which
                :meth:`check` hasn't told of yet.
        """
        self.check()
        chosen = None if rows is None else check_rows(rows, self.num_games)
        if chosen is not None and len(np.unique(chosen)) != len(chosen):
            raise OptionError("rows must name each row at most once")
        number = self.num_games if chosen is None else len(chosen)
        seeds = (
            np.full(number, kernels.OWN_SEED, np.int64) if seed is None else seeds_of(seed, number)
        )
        if number:
            self._reset(
                self._all_rows if chosen is None else cuda.to_device(chosen), cuda.to_device(seeds)
            )

    def _reset(self, rows: Any, seeds: Any) -> None:
        kernels.reset[_blocks(len(rows)), kernels.THREADS](
            self._state,
            self._words(self._state),
            self._slots,
            self._mask,
            self._seat,
            self._reward,
            self._done,
            self._truncated,
            self._words(self._blank),
            self._tape,
            rows,
            seeds,
        )
        self._see(rows, self._nothing_refused)

    def step(self, actions: Any, rows: Any = None) -> None:
        """Play one action in every row, or in the rows named; only those rows' arrays are written.

        Args:
            actions: int64 or int32, (num_games,) or one for each of `rows`: on the GPU, anything
                with ``__cuda_array_interface__``; or in ordinary memory, from which it is copied.
            rows: rows to play in, each at most once, int64, there or here; None means all.

        Raises:
            IllegalActionError, GameOverError, OptionError: as for :meth:`skyenv.Games.step`, if
            actions are checked (``check``).
                If a row is named twice, and one of its actions isn't legal, either may be told.
            OptionError: shapes or dtypes are wrong. In each case nothing has changed.
        """
        chosen = self._all_rows if rows is None else _numbers("rows", rows, None)
        wanted = _numbers("actions", actions, chosen.shape)
        if len(chosen) == 0:
            return
        self._stamp += 1
        kernels.check[_blocks(len(chosen)), kernels.THREADS](
            self._slots, self._stamps, chosen, wanted, self._stamp, self._refused
        )
        self._play(chosen, wanted)
        if self._checking:
            self.check()

    def check(self) -> None:
        """Wait for the GPU, and tell of an illegal action in a step since the last call; then steps
        play again.

        Raises:
            IllegalActionError, GameOverError, OptionError: the first row's; nothing has been played
            in that step, nor since.
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
            salt: 0 to 2⁶², tells apart choices for the same games.

        Raises:
            OptionError: steps or salt are out of range.
            IllegalActionError, GameOverError: an action of an earlier step was refused, which
                :meth:`check` hasn't told of yet.
        """
        self.check()
        left, salt = (
            check_integer("steps", steps, 1, 2**31 - 1),
            check_integer("salt", salt, 0, 2**62),
        )
        most = min(STEPS_AT_A_TIME, max(1, DECISIONS_AT_A_TIME // self.num_games))
        try:
            self._play_random(min(left, most), salt)
            while (left := left - most) > 0 and self._goes_on():
                self._play_random(min(left, most), salt)
        finally:  # after Ctrl-C, too, observations are those of the games as they stand
            self._see(self._all_rows, self._nothing_refused)

    def _play_random(self, steps: int, salt: int) -> None:
        kernels.play_random[_blocks(self.num_games), kernels.THREADS](
            self._state,
            self._words(self._state),
            self._slots,
            self._mask,
            self._seat,
            self._reward,
            self._done,
            self._truncated,
            self._words(self._finished),
            self._words(self._blank),
            self._tape,
            self._kind,
            self.autoreset,
            steps,
            salt,
        )

    def _goes_on(self) -> bool:
        """Wait for the GPU; whether any game goes on."""
        cuda.synchronize()
        return self.autoreset or bool((self._seat.copy_to_host() >= 0).any())

    def _play(self, rows: Any, actions: Any) -> None:
        blocks = _blocks(len(rows))
        words = self._words(self._state)
        kernels.play[blocks, kernels.THREADS](
            self._state,
            words,
            self._slots,
            self._reward,
            self._done,
            self._truncated,
            self._words(self._finished),
            self._tape,
            self._refused,
            rows,
            actions,
            self._kind,
        )
        kernels.settle[blocks, kernels.THREADS](
            self._state,
            words,
            self._slots,
            self._mask,
            self._seat,
            self._words(self._blank),
            self._tape,
            self._refused,
            rows,
            self.autoreset,
        )
        self._see(rows, self._refused)

    def _see(self, rows: Any, refused: Any) -> None:
        """Write the observations of rows, if they are wanted."""
        if self._form is not None:
            kernels.see[_blocks(len(rows)), kernels.THREADS](
                self._state, rows, refused, self._codes
            )
            if self._observation is not None:
                self._scale_into(self._codes, rows, refused, self._observation)

    def _scale_into(self, codes: Any, rows: Any, refused: Any, observation: Any) -> None:
        kernels.scale[_blocks(len(rows) * OBSERVATION_SIZE), kernels.THREADS](
            codes.view(np.int16), self._scales, rows, refused, observation
        )

    # ---- looking ----

    def observe(
        self,
        seats: int | npt.ArrayLike,
        rows: npt.ArrayLike | None = None,
        state: DeviceArray | None = None,
    ) -> DeviceArray:
        """Observations from the view of any seats.

        Args:
            seats: one seat for all rows, or one for each; in ordinary memory.
            rows: rows to look at, in ordinary memory; None means all.
            state: games to look at instead of the present ones, such as `finished`; GAME_DTYPE
                (num_games,), of this batch.

        Returns:
            A new array, float32 (k, OBSERVATION_SIZE).

        Raises:
            OptionError: there is no such row or seat, or `state` holds no such games.
        """
        looked_at = self._state if state is None else state.array
        if looked_at.dtype != self._state.dtype or len(looked_at) != self.num_games:
            raise OptionError(
                f"state must hold {self.num_games} games, as this batch does, not {state!r}"
            )
        chosen = places = self._all_rows
        if rows is not None:
            chosen = cuda.to_device(check_rows(rows, self.num_games))
            places = cuda.to_device(np.arange(len(chosen), dtype=np.int64))
        whose = cuda.to_device(check_seats(seats, self.num_players, len(chosen)))
        out = cuda.device_array((len(chosen), OBSERVATION_SIZE), np.float32)
        if len(chosen):
            codes = cuda.device_array(len(chosen), new_records(0, CODES_DTYPE).dtype)
            kernels.look[_blocks(len(chosen)), kernels.THREADS](looked_at, chosen, whose, codes)
            self._scale_into(codes, places, self._nothing_refused, out)
        return DeviceArray(out)

    def uniforms(self, rows: npt.ArrayLike | None = None, salt: int = 0) -> DeviceArray:
        """The random number of each row's next decision, for an agent; those of
        :meth:`skyenv.Games.uniforms`.

        Returns:
            A new array, float64 (k,) in [0, 1).

        Raises:
            OptionError: there is no such row, or the salt is out of range.
        """
        chosen = (
            self._all_rows if rows is None else cuda.to_device(check_rows(rows, self.num_games))
        )
        check_integer("salt", salt, 0, 2**62)
        out = cuda.device_array(len(chosen), np.float64)
        if len(chosen):
            secret = NONE if self.agent_seed is None else self.agent_seed
            kernels.uniforms[_blocks(len(chosen)), kernels.THREADS](
                self._state, chosen, secret, salt, out
            )
        return DeviceArray(out)

    def refresh(self) -> None:
        """Bring everything that follows from `state` up to date after an edit there.

        Raises:
            OptionError: a row is no position of such a game. Nothing has changed, and until it is
                one, nothing must be played.
        """
        self.check()
        check_positions(self._state.copy_to_host(), self.num_players)
        self._reset(self._all_rows, cuda.to_device(np.full(self.num_games, REFRESH, np.int64)))

    def on_host(self) -> skyenv.engine.games.Games:
        """The same games in ordinary memory, without what the last step came to; they go on as
        these would.
        """
        games = skyenv.engine.games.Games(
            self.num_games,
            seed=0,
            options=self.options,
            autoreset=self.autoreset,
            observation=self._form,
            agent_seed=self.agent_seed,
        )
        games.state[:] = self._state.copy_to_host().view(games.state.dtype)
        games.batch.slots["seed"] = self._slots.copy_to_host()[
            "seed"
        ]  # rows without a seed go on from these
        games.refresh()
        return games

    @classmethod
    def from_host(cls, games: skyenv.engine.games.Games, *, check: bool = True) -> Self:
        """Games in ordinary memory brought here, without what their last step came to; they go on
        as those would.

        Args:
            games: the games. check: as for the class.
        """
        made = cls(
            games.num_games,
            seed=0,
            options=games.options,
            autoreset=games.autoreset,
            observation={0: None, 2: "codes", 4: SCALED}[
                games.observation[:1].nbytes // OBSERVATION_SIZE
            ],
            agent_seed=games.agent_seed,
            check=check,
        )
        made._state.copy_to_device(games.state.view(made._state.dtype))
        slots = made._slots.copy_to_host()
        slots["seed"] = games.batch.slots["seed"]  # rows without a seed go on from these
        made._slots.copy_to_device(slots)
        made.refresh()
        return made

    def copy(self) -> Self:
        """An independent batch in the same position, which continues exactly as this one would."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        for name in WRITTEN:
            if (written := getattr(self, name)) is not None:
                setattr(twin, name, cuda.to_device(written.copy_to_host()))
        return twin

    def __copy__(self) -> Self:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()

    def __repr__(self) -> str:
        return f"cuda.Games({self.num_games}, num_players={self.num_players}, side={self.side!r})"

    @staticmethod
    def _words(games: Any) -> Any:
        """Games as uint32 (n · GAME_WORDS,), the same memory."""
        return games.view(np.uint32)


def _zeros(shape: tuple[int, ...], dtype: npt.DTypeLike) -> Any:
    return cuda.to_device(np.zeros(shape, dtype))


def _blocks(threads: int) -> int:
    return -(-threads // kernels.THREADS)


def _numbers(name: str, given: Any, shape: tuple[int, ...] | None) -> Any:
    """Whole numbers on the GPU, (k,); copied there if they aren't.

    Raises:
        OptionError: they aren't int64 or int32 there, whole numbers here, or of another shape.
    """
    array = (
        cuda.as_cuda_array(given)
        if hasattr(given, "__cuda_array_interface__")
        else np.asarray(given)
    )
    if (
        array.ndim != 1
        or (shape is not None and array.shape != shape)
        or (array.dtype.kind not in "iu" and array.size)
    ):
        raise OptionError(
            f"{name} must be whole numbers, shape {shape or '(k,)'}, not {array.dtype} "
            f"{array.shape}"
        )
    if not isinstance(array, np.ndarray):
        if array.dtype not in (np.int64, np.int32):
            raise OptionError(f"{name} on the GPU must be int64 or int32, not {array.dtype}")
        return array
    if array.dtype == np.uint64:
        array = np.minimum(array, np.iinfo(np.int64).max)  # lest the largest numbers turn negative
    return cuda.to_device(array.astype(np.int64))
