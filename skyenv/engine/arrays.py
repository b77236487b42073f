"""The arrays of a batch, for compiled code."""

from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from skyenv.array_types import AnyArray, RecordArray
from skyenv.engine.observation import CODES_DTYPE, OBSERVATION_DTYPE
from skyenv.engine.openings import openings, task_of
from skyenv.engine.options import GameOptions
from skyenv.engine.rewards import REWARDS
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.components import MAX_PLAYERS
from skyenv.rules.event_log import LOG_DTYPE
from skyenv.rules.record import BOOL, F32, I8, I32, I64, Record, field, new_records
from skyenv.rules.setup import blank_game
from skyenv.rules.state import GAME_DTYPE, new_games

GAME_WORDS: Final = GAME_DTYPE.itemsize // 4


class SlotRecord(Record):
    """A batch's private memory of a row."""

    step_id = field(I64)  # number of the last step that named this row
    seed = field(I64)  # of the latest game with a seed that began here
    num_legal = field(I32)
    reward = field(F32, (MAX_PLAYERS,))  # every seat's reward of the last step
    vp = field(I32, (MAX_PLAYERS,))  # the counted VP before it
    done = field(BOOL)
    truncated = field(BOOL)
    legal = field(I8, (NUM_ACTIONS,))  # 1 for every legal action


SLOT_DTYPE: Final = SlotRecord.dtype


class Arrays(NamedTuple):
    """The arrays of a batch of games; compiled code writes them in place.

    Attributes:
        state: GAME_DTYPE (n,), the games.
        slots: SLOT_DTYPE (n,), private memory of the rows, with the legal actions as the engine
            knows them.
        mask: int8 (n, 103).
        seat: int64 (n,).
        observation: OBSERVATION_DTYPE (n,); (0,): without observations.
        codes: CODES_DTYPE (2 · threads,), two for each thread: scratch memory, and one whose first
            entry is not 0 once it has played its part of a call.
        reward: float32 (n, players).
        done, truncated: bool (n,).
        state_words, finished: uint32 (n, GAME_WORDS), the same memory as `state`, and finished
            games.
        blank: uint32 (b, GAME_WORDS), a game before its setup, or a task's openings.
        log: LOG_DTYPE (1,).
        kind: of reward: OUTCOME, MARGIN, POINTS, TASK or PARK_TASK.
        autoreset: whether a row begins its next game when one is over.
    """

    state: Any
    slots: Any
    mask: Any
    seat: Any
    observation: Any
    codes: Any
    reward: Any
    done: Any
    truncated: Any
    state_words: Any
    finished: Any
    blank: Any
    log: Any
    kind: int
    autoreset: bool


def _kind(options: GameOptions) -> int:
    """Return the reward of compiled code; a user's reward function gets the outcome."""
    named = "outcome" if callable(options.reward) else options.reward
    if named == "outcome" and options.task is not None:
        return task_of(options.task).reward
    return REWARDS.index(named)


def as_words(state: RecordArray) -> AnyArray:
    """Return games, GAME_DTYPE (n,), as the same memory in words, uint32 (n, GAME_WORDS)."""
    return state.view(np.uint32).reshape(len(state), -1)


@lru_cache(maxsize=32)
def _openings_of(task: str) -> AnyArray:
    """Return the openings of a task in words, which all games of the task share."""
    return as_words(openings(task))


def new_arrays(
    options: GameOptions, number: int, observation: bool, autoreset: bool, threads: int = 1
) -> Arrays:
    """Allocate the arrays of games before their setup; arguments as for :class:`skyenv.Games`."""
    if options.task is None:
        words = as_words(blank_game(options.num_players, options.board, options.max_turns))
    else:
        words = _openings_of(options.task)
    return Arrays(
        state=new_games(number),
        slots=new_records(number, SLOT_DTYPE),
        mask=np.zeros((number, NUM_ACTIONS), np.int8),
        seat=np.zeros(number, np.int64),
        observation=new_records(number * observation, OBSERVATION_DTYPE),
        codes=new_records(2 * threads, CODES_DTYPE),
        reward=np.zeros((number, options.num_players), np.float32),
        done=np.zeros(number, np.bool_),
        truncated=np.zeros(number, np.bool_),
        state_words=None,
        finished=np.repeat(words[:1], number, axis=0),
        blank=words,
        log=new_records(1, LOG_DTYPE),
        kind=_kind(options),
        autoreset=autoreset,
    )
