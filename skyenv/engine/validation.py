"""Validation: whether records that were given from outside are positions to play on from.

Compiled code does no bounds checks: an index out of range reads or writes some other memory. So
positions that may have been edited or made by hand are checked here, once, before compiled code
gets them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.checks import as_plain
from skyenv.errors import OptionError, shown
from skyenv.rules.components import (
    BUSINESSES_TO_PLACE,
    FRONT,
    MAX_PLAYERS,
    MIN_PLAYERS,
    NUM_COLOURS,
    NUM_RANKS,
    ROW_SIZE,
    SET_START,
    SIXTH,
)
from skyenv.rules.state import ALEA, FIELDS, GAME_DTYPE, NONE, PHASE_BID, PHASE_PLOT, as_records

GameArray = npt.NDArray[np.void]

MOST_CARDS: Final = 100
"""Cards of a kind in all places together.

Edited positions may hold more than the pack (COM-1), but no field may overflow.
"""


def as_games(state: npt.ArrayLike) -> GameArray:
    """Games as compiled functions take them; see :func:`skyenv.rules.state.new_records`.

    Raises:
        OptionError: these are no records of GAME_DTYPE, (n,), or they have no number of players.
    """
    given = np.asarray(state)
    if given.dtype != GAME_DTYPE or given.ndim != 1:
        raise OptionError(
            f"games must be records of GAME_DTYPE, shape (n,), not {shown(given.dtype, 40)} "
            f"{given.shape}"
        )
    games = as_records(as_plain(given), GAME_DTYPE)
    players = games["num_players"]
    wrong = (players < MIN_PLAYERS) | (players > MAX_PLAYERS)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise OptionError(
            f"game {row}: num_players is {players[row]}; it must be from {MIN_PLAYERS} to "
            f"{MAX_PLAYERS}"
        )
    return games


def check_positions(games: GameArray, num_players: int = 0, *, view_only: bool = False) -> None:
    """Refuse records that compiled code could not play on from.

    Every number must be in its range (:data:`skyenv.rules.state.FIELDS`), and those that lead to
    each other must fit together. A position that passes need not be one that a game can lead to.

    Args:
        games: as :func:`as_games` returns them.
        num_players: that all of them must have; 0: any.
        view_only: whether they need no stream of chance, as nobody plays on from them: they are
            only looked at, or a seat's view.

    Raises:
        OptionError: one isn't such a position; with its index and the field that is wrong.
    """
    plain = games.view(np.ndarray)
    if not len(plain):
        return
    for field, _, _, low, high in FIELDS:
        numbers = plain[field]
        if numbers.min() < low or numbers.max() > high:
            row, *place = np.argwhere((numbers < low) | (numbers > high))[0].tolist()
            name = field + (f"[{', '.join(map(str, place))}]" if place else "")
            raise OptionError(
                f"game {row}: {name} is {numbers[(row, *place)]}; it must be from {low} to {high}"
            )
    for wrong, text in misfits(plain, num_players, view_only):
        if wrong.any():
            raise OptionError(f"game {np.argmax(wrong)}: {text}")


def misfits(
    games: GameArray, num_players: int = 0, view_only: bool = False
) -> Iterator[tuple[Any, str]]:
    """Yield each fault of records whose numbers are in range: the games that have it, (n,), and
    its description.

    Args:
        games, num_players, view_only: as for :func:`check_positions`.
    """
    if not view_only:
        yield ~games["random"].any(axis=1), "random is 0: such a stream of chance stands still"
    if num_players:
        other = games["num_players"] != num_players
        yield other, "num_players is another one than that of this batch"
    sixth = (games["ring"][:, :, :NUM_COLOURS] == SIXTH).any(axis=(1, 2))
    yield (
        (games["side"] == FRONT) & sixth,
        "ring names a sixth plot, which the front side doesn't have",
    )
    all_placed = games["placed"] >= BUSINESSES_TO_PLACE
    yield (
        (games["phase"] == PHASE_PLOT) & all_placed,
        "phase asks for a plot although all businesses are placed",
    )
    yield _names_no_seat(games), "a seat is named that nobody has at a table of that size"
    owned = games["owner"][:, :, None] == np.arange(MAX_PLAYERS)[:, None]
    twice = (owned.sum(axis=3) > 1).any(axis=(1, 2))
    yield twice, "owner has a seat on two plots of a district (AUC-11)"
    yield games["turns"] > games["max_turns"], "turns is beyond max_turns"
    if not view_only:  # rows without a game yet may be looked at
        yield ~all_placed & _lacks_tiles(games), "row lacks tiles of a set that is still to come"
    too_many = (games["known"] > games["hand"]).any(axis=(1, 2, 3))
    yield too_many, "known names cards that are not in hand"
    bidding, colours = games["phase"] == PHASE_BID, games["bid_colour"]
    uncoloured = ((colours == NONE) & games["bid_cards"][:, :, 0].any(axis=2)).any(axis=1)
    yield bidding & uncoloured, "bid_cards has coloured cards of a seat without a bid_colour"
    crowded = (_cards(games) > MOST_CARDS).any(axis=(1, 2))
    yield crowded, f"there are more than {MOST_CARDS} cards of a kind"


def _names_no_seat(games: GameArray) -> Any:
    """Whether a seat is on turn, owns or leads that isn't at the table."""
    names = ("seat", "turn_seat", "highest_bidder")
    named = np.stack([games[name] for name in names], axis=1)
    named = np.concatenate([named, games["owner"].reshape(len(games), -1)], axis=1)
    wrong = (named >= games["num_players"][:, None]) & (named < ALEA)
    return wrong.any(axis=1)


def _lacks_tiles(games: GameArray) -> Any:
    """BUS-1: whether a space behind the current set of the row is empty."""
    placed = games["placed"].clip(0, BUSINESSES_TO_PLACE - 1)
    current = 2 * (placed // 3) + (placed % 3 == 2)  # as skyenv.rules.businesses.current_set
    later = np.arange(ROW_SIZE) >= SET_START[current + 1][:, None]
    return (later & (games["row"] == NONE)).any(axis=1)


def _cards(games: GameArray) -> Any:
    """Cards of each colour and rank in all places, int64 (n, 6, 3); those of a bid have been paid
    but in the phase of bids.
    """
    ranks = np.arange(NUM_RANKS)
    number = games["face_down"] + games["hand"].sum(axis=1, dtype=np.int64)
    laid = games["bid_cards"] * (games["phase"] == PHASE_BID)[:, None, None, None]
    of_colour = games["bid_colour"][:, :, None] == np.arange(NUM_COLOURS)
    number[:, :NUM_COLOURS] += np.einsum("nsc,nsr->ncr", of_colour, laid[:, :, 0].astype(np.int64))
    number[:, NUM_COLOURS] += laid[:, :, 1].sum(axis=1)
    number[:, NUM_COLOURS] += games["black_face_up"]
    number[:, NUM_COLOURS] += games["alea_cards"]
    returned = np.arange(games["returned"].shape[2]) < games["num_returned"][:, :, None]
    number[:, :NUM_COLOURS] += games["top"][:, :, None] == ranks
    lying = (games["returned"][:, :, :, None] == ranks) & returned[:, :, :, None]
    number[:, :NUM_COLOURS] += lying.sum(axis=2)
    return number
