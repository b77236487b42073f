"""What is played: the options of a game that all interfaces take, checked in one place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypedDict

from skyenv.checks import check_choice, check_integer
from skyenv.engine.kernels import REWARDS
from skyenv.rules.board import Board, as_board
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS

DEFAULT_MAX_TURNS: Final = 500


def table_name(players: int, side: str) -> str:
    """What files are called that belong to games of so many players on this side, such as ladders
    and networks.
    """
    return f"{players}-players" + ("" if side == "front" else f"-{side}")


def table_label(players: int, side: str) -> str:
    """What people are told of them."""
    return f"{players} players, {side}"


class GameKeywords(TypedDict, total=False):
    """The options of :class:`GameOptions` that interfaces hand on: ``**options:
    Unpack[GameKeywords]``.
    """

    board: Board | str | Path | None
    max_turns: int
    reward: str


@dataclass(frozen=True, init=False)
class GameOptions:
    """What kind of game is played, and for which reward.

    Args:
        num_players: 2, 3 or 4.
        side: side of the board, ``"front"`` or ``"back"``.
        board: a :class:`skyenv.Board`, or the path of a board file, with other rings than the
            printed ones (COM-7, COM-9); None: the printed board.
        max_turns: turns after which a game is truncated (END-5), at least 1.
        reward: ``"outcome"``: (share of the win − 1/N) · N/(N−1) at the end (END-4), nothing if the
            game is truncated; ``"margin"``: the change of the VP that a seat has more than the best
            other one, divided by 50; ``"points"``: the VP that it scores.

    Attributes:
        num_players, side, max_turns, reward: as given.
        board: the :class:`skyenv.Board` that is played on.

    Raises:
        OptionError: an option has a wrong value.
        BoardError: the board file is wrong.
    """

    num_players: int
    side: str
    board: Board
    max_turns: int
    reward: str

    def __init__(
        self,
        num_players: int = 2,
        side: str = "front",
        *,
        board: Board | str | Path | None = None,
        max_turns: int = DEFAULT_MAX_TURNS,
        reward: str = "outcome",
    ) -> None:
        played_on = as_board(board, side)
        vars(self).update(
            num_players=check_integer("num_players", num_players, MIN_PLAYERS, MAX_PLAYERS),
            side=played_on.side,
            board=played_on,
            max_turns=check_integer("max_turns", max_turns, 1, 2**31 - 1),
            reward=check_choice("reward", reward, REWARDS),
        )
