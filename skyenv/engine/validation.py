"""Validation of positions that come from outside the engine.

Compiled code does no bounds checks: an index out of range accesses unrelated memory. So edited or
hand-made positions are checked here before compiled code gets them.
"""

from typing import Any, Final

import numpy as np

from skyenv.array_types import ArrayLike, RecordArray
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
from skyenv.rules.record import as_records
from skyenv.rules.state import (
    ALEA,
    BID_COLOURED,
    GAME_DTYPE,
    NONE,
    PHASE_BID,
    PHASE_PLOT,
    GameRecord,
)

# Maximum number of cards of a kind in all places together.
#
# Edited positions may hold more than the pack (COM-1), but no field may overflow.
MAX_CARDS: Final = 100


def as_games(state: ArrayLike) -> RecordArray:
    """Return games for compiled functions; see :func:`skyenv.rules.record.new_records`.

    Raises:
        OptionError: they are not records of GAME_DTYPE, (n,), or a number of players is wrong.
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


def check_positions(games: RecordArray, num_players: int = 0, *, view_only: bool = False) -> None:
    """Raise an error for records that compiled code can't continue from.

    Every number must be in its range (:class:`skyenv.rules.state.GameRecord`), and related fields
    must be consistent. A position that passes need not be reachable in a game.

    Args:
        games: as :func:`as_games` returns them.
        num_players: the required number of players; 0: any.
        view_only: whether they are only observed, not played on, and so need no stream of chance.

    Raises:
        OptionError: a position is invalid; the message names its index and the wrong field.
    """
    plain = games.view(np.ndarray)
    if not len(plain):
        return
    for field, (_, _, low, high) in GameRecord.fields.items():
        numbers = plain[field]
        if numbers.min() < low or numbers.max() > high:
            row, *place = np.argwhere((numbers < low) | (numbers > high))[0].tolist()
            name = field + (f"[{', '.join(map(str, place))}]" if place else "")
            raise OptionError(
                f"game {row}: {name} is {numbers[(row, *place)]}; it must be from {low} to {high}"
            )
    for wrong, text in _misfits(plain, num_players, view_only):
        if wrong.any():
            raise OptionError(f"game {np.argmax(wrong)}: {text}")


def _misfits(games: RecordArray, num_players: int, view_only: bool) -> list[tuple[Any, str]]:
    """Return the faults of records whose numbers are in range: the affected games, (n,), and a
    description; arguments as for :func:`check_positions`.
    """
    players, phase = games["num_players"], games["phase"]
    names = ("seat", "turn_seat", "highest_bidder", "owner")
    named = np.concatenate([games[name].reshape(len(games), -1) for name in names], axis=1)
    owned = games["owner"][:, :, None] == np.arange(MAX_PLAYERS)[:, None]
    all_placed = games["placed"] >= BUSINESSES_TO_PLACE
    placed = games["placed"].clip(0, BUSINESSES_TO_PLACE - 1)
    current = 2 * (placed // 3) + (placed % 3 == 2)  # as skyenv.rules.businesses.current_set
    later = np.arange(ROW_SIZE) >= SET_START[current + 1][:, None]
    lacks_tiles = ~all_placed & (later & (games["row"] == NONE)).any(axis=1)  # BUS-1
    uncoloured = (games["bid_colour"] == NONE) & games["bid_cards"][:, :, BID_COLOURED].any(axis=2)
    sixth = (games["ring"][:, :, :NUM_COLOURS] == SIXTH).any(axis=(1, 2))
    return [
        (
            ~games["random"].any(axis=1) & (not view_only),
            "random is all 0, an invalid generator state",
        ),
        (
            (players != num_players) & (num_players > 0),
            "num_players differs from that of the batch",
        ),
        (
            (games["side"] == FRONT) & sixth,
            "ring names a sixth plot, which the front side doesn't have",
        ),
        (
            (phase == PHASE_PLOT) & all_placed,
            "phase asks for a plot although all businesses are placed",
        ),
        (
            ((named >= players[:, None]) & (named < ALEA)).any(axis=1),
            "a field names a seat beyond num_players",
        ),
        (
            (owned.sum(axis=3) > 1).any(axis=(1, 2)),
            "owner has a seat on two plots of a district (AUC-11)",
        ),
        (games["turns"] > games["max_turns"], "turns is beyond max_turns"),
        # Rows before their first game may be observed.
        (lacks_tiles & (not view_only), "row lacks tiles of a set that is still to come"),
        (
            (games["known"] > games["hand"]).any(axis=(1, 2, 3)),
            "known names cards that are not in hand",
        ),
        (
            (phase == PHASE_BID) & uncoloured.any(axis=1),
            "bid_cards has coloured cards of a seat without a bid_colour",
        ),
        (
            (_cards(games) > MAX_CARDS).any(axis=(1, 2)),
            f"there are more than {MAX_CARDS} cards of a kind",
        ),
    ]


def _cards(games: RecordArray) -> Any:
    """Return the cards of each colour and rank in all places, int64 (n, 6, 3); cards of a bid count
    only during bidding.
    """
    ranks = np.arange(NUM_RANKS)
    number = games["face_down"] + games["hand"].sum(axis=1, dtype=np.int64)
    laid = games["bid_cards"] * (games["phase"] == PHASE_BID)[:, None, None, None]
    of_colour = games["bid_colour"][:, :, None] == np.arange(NUM_COLOURS)
    number[:, :NUM_COLOURS] += np.einsum("nsc,nsr->ncr", of_colour, laid[:, :, 0].astype(np.int64))
    number[:, NUM_COLOURS] += laid[:, :, 1].sum(axis=1) + games["black_face_up"]
    number[:, NUM_COLOURS] += games["alea_cards"]
    returned = np.arange(games["returned"].shape[2]) < games["num_returned"][:, :, None]
    number[:, :NUM_COLOURS] += games["top"][:, :, None] == ranks
    lying = (games["returned"][:, :, :, None] == ranks) & returned[:, :, :, None]
    number[:, :NUM_COLOURS] += lying.sum(axis=2)
    return number
