"""Options of a game, common to all interfaces."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self, TypedDict, Unpack

import numpy as np

from skyenv.checks import check_choice, check_integer, checks_names
from skyenv.engine.openings import WHOLE_GAMES, max_turns_of, task_of
from skyenv.engine.rewards import REWARDS, RewardFunction
from skyenv.errors import OptionError
from skyenv.rules.board import Board, as_board
from skyenv.rules.components import FRONT, MAX_PLAYERS, MIN_PLAYERS, PLOTS, SIDES
from skyenv.rules.state import NONE

DEFAULT_MAX_TURNS: Final = 500


def table_name(players: int, side: str) -> str:
    """Return the file name for a number of players and a side, as of ladders and networks."""
    return f"{players}-players" + ("" if side == "front" else f"-{side}")


def table_label(players: int, side: str) -> str:
    """Return the display label for a number of players and a side."""
    return f"{players} players, {side}"


class GameKeywords(TypedDict, total=False):
    """Keywords of interfaces in addition to `num_players` and `side`: `options`, or fields of
    :class:`GameOptions`.
    """

    options: "GameOptions | None"
    board: Board | str | Path | None
    max_turns: int
    reward: str | RewardFunction
    task: str | None


@dataclass(frozen=True, init=False)
class GameOptions:
    """The kind of game that is played, and its reward.

    Interfaces accept an object as `options`, or its fields as keywords; :func:`options_of` handles
    both. Code that only passes options on takes the object.

    Args:
        num_players: 2, 3 or 4.
        side: side of the board, ``"front"`` or ``"back"``.
        board: a :class:`skyenv.Board`, or the path of a board file, with other rings than the
            printed ones (COM-7, COM-9); None: the printed board.
        max_turns: turns after which a game is truncated (END-5), at least 1.
        reward: ``"outcome"``: (share of the win − 1/N) · N/(N−1) at the end (END-4), 0 if the game
            is truncated; ``"margin"``: the change of the seat's lead over the best other seat in
            VP, divided by 50; ``"points"``: the VP scored; or a function of a step that returns
            every seat's reward (:class:`skyenv.engine.rewards.Transition`).
        task: a bidding task (:mod:`skyenv.engine.openings`), such as ``"alea-4"``, its held-out
            openings, ``"alea-4/held-out"``, or a single one, such as ``"alea-4/0"``, instead of
            the whole game; None: the game. It decides `num_players`, `side`, `board` and the value
            of the reward ``"outcome"``. ``"full-2"``, ``"full-2-back"``, ``"full-3"`` and
            ``"full-4"`` are whole games by name; the attribute is then None.

    Attributes:
        num_players, side, max_turns, reward, task: as given, or those of the task; 500 turns stand
            for several openings that differ.
        board: the :class:`skyenv.Board`.

    Raises:
        OptionError: an option has a wrong value.
        BoardError: the board file is wrong.
    """

    num_players: int
    side: str
    board: Board
    max_turns: int
    reward: str | RewardFunction
    task: str | None

    @checks_names("a game")
    def __init__(
        self,
        num_players: int = 2,
        side: str = "front",
        *,
        board: Board | str | Path | None = None,
        max_turns: int = DEFAULT_MAX_TURNS,
        reward: str | RewardFunction = "outcome",
        task: str | None = None,
    ) -> None:
        if task in WHOLE_GAMES:
            if (num_players, side) not in ((2, "front"), WHOLE_GAMES[task]):
                raise OptionError(f"task {task} decides num_players and side; give none beside it")
            (num_players, side), task = WHOLE_GAMES[task], None
        played_on = as_board(board, side)
        if task is not None:
            turns = max_turns_of(task) or DEFAULT_MAX_TURNS
            players = task_of(task).num_players
            printed = played_on == as_board(None, SIDES[FRONT])
            is_length = max_turns in (DEFAULT_MAX_TURNS, turns)
            if num_players not in (2, players) or not printed or not is_length:
                raise OptionError(
                    f"task {task} has {players} players on the front of the printed board; give no "
                    "num_players, side, board or max_turns beside it"
                )
            num_players, max_turns = players, turns
        vars(self).update(
            num_players=check_integer("num_players", num_players, MIN_PLAYERS, MAX_PLAYERS),
            side=played_on.side,
            board=played_on,
            max_turns=check_integer("max_turns", max_turns, 1, 2**31 - 1),
            reward=reward if callable(reward) else check_choice("reward", reward, REWARDS),
            task=task,
        )

    @classmethod
    def of(cls, position: np.void) -> Self:
        """Return the players, side, board and length of a position's game, with the reward
        ``"outcome"``.

        Args:
            position: a valid position, one record of GAME_DTYPE.
        """
        side = SIDES[position["side"]]
        rings = tuple(
            tuple(PLOTS[plot] for plot in ring if plot != NONE)
            for ring in position["ring"].tolist()
        )
        turns = int(position["max_turns"])
        return cls(int(position["num_players"]), side, board=Board(side, rings), max_turns=turns)


def options_of(
    num_players: int = 2, side: str = "front", **keywords: Unpack[GameKeywords]
) -> GameOptions:
    """Return an interface's options, given as an object or as keywords.

    Raises:
        OptionError: both forms were given, or an option has a wrong value.
        BoardError: the board file is wrong.
    """
    given = dict(keywords)
    options = given.pop("options", None)
    if options is None:
        return GameOptions(num_players, side, **given)  # type: ignore[arg-type]
    if not isinstance(options, GameOptions):
        raise OptionError(f"options must be GameOptions, not {type(options).__name__}")
    if given or (num_players, side) != (2, "front"):
        raise OptionError("options contains all options of the game; pass no others with it")
    return options
