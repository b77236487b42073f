"""COM-4 to COM-9: the board as data.

The streets are fixed; the order of the plots in each district's ring is configurable.

A board file is TOML with one table, ``rings``. It has a list of plots in ring order for every
district that differs from the printed order (COM-7, COM-9)::

    [rings]
    TSQ = ["green", "brown", "violet", "orange", "gray", "sixth"]

``"sixth"`` is in every list for the back side and in none for the front.
"""

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skyenv.array_types import Int8
from skyenv.checks import check_choice
from skyenv.errors import BoardError, OptionError, shown
from skyenv.rules.components import COLOURS, DISTRICTS, PLOTS, SIDES


@dataclass(frozen=True)
class Board:
    """One side of the board.

    Attributes:
        side: ``"front"`` (COM-6) or ``"back"`` (COM-8).
        rings: for every district, in district order, the names of its plots in ring order.

    Raises:
        OptionError: `side` is unknown.
        BoardError: a ring is not each of the side's plots once.
    """

    side: str
    rings: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        printed = default_ring(self.side)
        if len(self.rings) != len(DISTRICTS):
            raise BoardError(
                f"a board has a ring for each of the {len(DISTRICTS)} districts, not "
                f"{len(self.rings)}"
            )
        pairs = zip(DISTRICTS, self.rings, strict=True)
        rings = tuple(_checked_ring(district, ring, printed) for district, ring in pairs)
        vars(self).update(rings=rings)

    def ring_array(self) -> Int8:
        """Plot indices in ring order, int8[district, 6]; on the front side the last entry is −1."""
        array = np.full((len(DISTRICTS), len(PLOTS)), -1, dtype=np.int8)
        for district, ring in enumerate(self.rings):
            array[district, : len(ring)] = [PLOTS.index(plot) for plot in ring]
        return array


def default_ring(side: str) -> tuple[str, ...]:
    """Return the printed order of the plots (COM-7); on the back the sixth is between gray and
    green (COM-9).
    """
    return COLOURS if check_choice("side", side, SIDES) == "front" else PLOTS


def make_board(side: str, rings: Mapping[str, Sequence[str]] | None = None) -> Board:
    """Return a board with other rings in some districts; the others have the printed order.

    Args:
        side: ``"front"`` or ``"back"``.
        rings: plot names in ring order by district name.

    Raises:
        OptionError: `side` is unknown.
        BoardError: a district is unknown, or its ring is not each of the side's plots once.
    """
    printed = default_ring(side)
    rings = rings or {}
    for district in rings:
        if district not in DISTRICTS:
            raise BoardError(
                f"unknown district {district!r}; the districts are {', '.join(DISTRICTS)}"
            )
    chosen: Any = tuple(rings.get(name, printed) for name in DISTRICTS)  # checked by Board
    return Board(side, chosen)


# Each side's: every new game asks for it.
_printed_board = functools.cache(make_board)


def load_board(path: str | Path, side: str) -> Board:
    """Read a board file (see the module's text).

    Raises:
        OptionError: `side` is unknown.
        BoardError: the file is unreadable, not TOML, or not a board of that side.
    """
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
        if not isinstance(table.setdefault("rings", {}), dict) or len(table) > 1:
            raise BoardError("it must hold one table, [rings]")
        return make_board(side, table["rings"])
    except OSError as error:
        raise BoardError(f"board file {path}: {error.strerror}") from error
    except BoardError as error:
        raise BoardError(f"board file {path}: {error}") from error
    except OptionError:
        raise
    except (ValueError, RecursionError) as error:  # including impossible numbers and paths
        raise BoardError(f"board file {path}: not TOML: {error}") from error


def as_board(board: Board | str | Path | None, side: str) -> Board:
    """Return the board of a ``board`` option: None for the printed one, a text or path for a board
    file.

    Raises:
        OptionError: the option has another type, or is a Board of the other side.
        BoardError: as for :func:`load_board`.
    """
    if board is None:
        return _printed_board(check_choice("side", side, SIDES))
    if isinstance(board, Board):
        if board.side != check_choice("side", side, SIDES):
            raise OptionError(f"the board given is the {board.side} side, but side is {side!r}")
        return board
    if isinstance(board, (str, Path)):
        return load_board(board, side)
    raise OptionError(f"board must be a Board, the path of a board file, or None, not {board!r}")


def _checked_ring(district: str, ring: Any, printed: tuple[str, ...]) -> tuple[str, ...]:
    is_list = isinstance(ring, (list, tuple)) and all(isinstance(plot, str) for plot in ring)
    if not is_list or sorted(ring) != sorted(printed):
        wanted = ", ".join(printed)
        raise BoardError(
            f"district {district}: its ring must be a list of {wanted}, each once, not "
            f"{shown(ring)}"
        )
    return tuple(ring)
