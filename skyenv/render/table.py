"""The position to draw, as a viewer sees it, and its standings."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from skyenv.array_types import Int8, Int64
from skyenv.checks import check_seat
from skyenv.engine.knowledge import PUBLIC, VIEW_DTYPE, view
from skyenv.errors import OptionError, shown
from skyenv.rules.components import CARD_COLOURS
from skyenv.rules.state import ALEA, END_TASK, GAME_DTYPE, NONE, PHASE_OVER


@dataclass(frozen=True)
class Table:
    """A position, and what is hidden from its viewer.

    Attributes:
        game: a record of GAME_DTYPE; for a seat, hidden cards are blanked.
        unknown: int8 (seats, 6): cards of each colour in each hand whose value is hidden from the
            viewer.
        face_down: cards face down in each of the six stacks.
        seat: the viewing seat; PUBLIC: a spectator; None: everything is shown.
    """

    game: Any
    unknown: Int8
    face_down: list[int]
    seat: int | None

    @property
    def players(self) -> int:
        """Number of seats."""
        return int(self.game["num_players"])

    @property
    def bidders(self) -> list[int]:
        """The bidders of an auction: the seats, the starter first (AUC-2), and ALEA if she plays
        (ALEA-1; not in all tasks).
        """
        first = max(int(self.game["turn_seat"]), 0)
        seats = [(first + i) % self.players for i in range(self.players)]
        return [*seats, ALEA] if self.players == 2 and self.game["alea_supply"] != NONE else seats

    def cards_in_hand(self, seat: int) -> int:
        """Return the number of cards in a hand, which is public (INF-1)."""
        return int(self.game["hand"][seat].sum()) + int(self.unknown[seat].sum())


def visible_table(position: np.void, seat: int | None = None) -> Table:
    """Return the table as a viewer sees it (INF-1 to INF-3).

    Args:
        position: a record of GAME_DTYPE, or a view of one, VIEW_DTYPE.
        seat: the viewing seat of a game; None: everything is shown. A view can only be drawn for
            its own seat.

    Raises:
        OptionError: `position` is no such record, or there is no such seat.
    """
    names = getattr(getattr(position, "dtype", None), "names", None)
    if names == VIEW_DTYPE.names:
        if seat is not None and seat != position["seat"]:
            whose = (
                "a public view"
                if position["seat"] == PUBLIC
                else f"the view of seat {position['seat']}"
            )
            raise OptionError(f"this is {whose}; it can't be drawn for seat {shown(seat)}")
        return _of_view(position)
    if names != GAME_DTYPE.names:
        raise OptionError(
            f"position must be a record of GAME_DTYPE or VIEW_DTYPE, not {shown(position)}"
        )
    players = int(position["num_players"])
    if seat is None:
        face_down = [int(cards.sum()) for cards in position["face_down"]]
        return Table(position, np.zeros((players, len(CARD_COLOURS)), np.int8), face_down, None)
    games = np.array([position], GAME_DTYPE).view(np.recarray)
    return _of_view(view(games, [check_seat(seat, players)])[0])


def if_scored_now(games: Any, players: int) -> Int64:
    """Return the VP of every seat if the game ended by END-2 now: its VP, and SCO-2 of every
    district that isn't stopped.

    The park area is excluded, as its scoring depends on the tiles that END-3 turns up. Scores of
    finished games are returned unchanged; a bidding task ends without that scoring. The inputs are
    public (INF-1).

    Args:
        games: records of GAME_DTYPE, of any shape (…), or one record; of a view its ``game``.
        players: number of seats, equal in all games.

    Returns:
        int64 (…, players).
    """
    owners, worth = games["owner"], games["floors"].astype(np.int64) * games["value"]
    held = [np.where(owners == seat, worth, 0).sum(axis=(-2, -1)) for seat in range(players)]
    is_open = np.asarray((games["phase"] != PHASE_OVER) | (games["end"] == END_TASK))[..., None]
    total: Int64 = games["score"][..., :players] + is_open * np.stack(held, axis=-1)
    return total


def plain(game: Any) -> SimpleNamespace:
    """Return a record of GAME_DTYPE as plain numbers and tuples, by field."""
    return SimpleNamespace(**{name: _tuples(game[name].tolist()) for name in game.dtype.names})


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _of_view(view: np.void) -> Table:
    face_down = [int(number) for number in view["num_face_down"]]
    players = int(view["game"]["num_players"])
    return Table(view["game"], view["unknown"][:players], face_down, int(view["seat"]))
