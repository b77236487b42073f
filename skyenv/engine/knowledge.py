"""Hidden information (INF): views of seats, and determinizations.

Agents, pictures and web pages get a position only as a view or as an observation.
"""

from typing import Final

import numpy as np

from skyenv.array_types import ArrayLike, Bool, Int8, RecordArray
from skyenv.checks import as_plain, check_each, check_rows, whole_numbers
from skyenv.engine.games import DECISIONS_AT_A_TIME
from skyenv.engine.validation import as_games, check_positions
from skyenv.errors import OptionError, shown
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.chance import draw, seed_stream
from skyenv.rules.compiling import entry_point, rule
from skyenv.rules.components import BLACK, MAX_PLAYERS, NUM_COLOURS, NUM_RANKS
from skyenv.rules.event_log import FORCED_CARD, LOG_DTYPE, LogRecord
from skyenv.rules.play import refresh_mask
from skyenv.rules.record import I8, Array, Record, as_records, field, new_records
from skyenv.rules.state import GAME_DTYPE, NONE, PHASE_BID, GameRecord, new_games
from skyenv.seeds import HIGHEST_SEED

# After this many deals that strand an unfinished bid, the view counts as inconsistent.
MAX_DEALS: Final = 2**20

PUBLIC: Final = -1
"""The seat of a public view, which shows only public information."""


class ViewRecord(Record):
    """A seat's view of a game."""

    # the position with hidden information blanked: other hands hold only cards that are public,
    # nothing is face down, there is no seed and no stream of chance
    game = field(GameRecord)
    seat = field(I8)  # the seat of the view; PUBLIC: a public view
    unknown = field(I8, (4, 6))  # [seat, card colour] → cards in hand, unknown to this seat
    unseen = field(I8, (6, 3))  # [card colour, rank] → face down, or unknown in a hand
    num_face_down = field(I8, (6,))  # [card colour] → cards face down in the stack
    spare = field(I8, (7,))  # 0; fills the record


VIEW_DTYPE: Final = ViewRecord.dtype
"""A seat's view of a game."""


@entry_point("views")
def redact(view: ViewRecord, seat: int) -> None:
    """Complete a view whose `game` is a full copy, and blank the hidden information there."""
    game = view.game
    view.seat = seat
    for colour in range(NUM_COLOURS + 1):
        view.num_face_down[colour] = 0
        for rank in range(NUM_RANKS):
            own = game.hand[seat, colour, rank] - game.known[seat, colour, rank]
            view.unseen[colour, rank] = game.unlocated[colour, rank] - own
            view.num_face_down[colour] += game.face_down[colour, rank]
            game.face_down[colour, rank] = 0
        for other in range(MAX_PLAYERS):
            view.unknown[other, colour] = 0
            if other != seat:
                view.unknown[other, colour] = game.unknown[other, colour]
                for rank in range(NUM_RANKS):
                    game.hand[other, colour, rank] = game.known[other, colour, rank]
    game.seed = NONE
    for i in range(4):
        game.random[i] = 0


@entry_point("views")
def _see_all(games: Array, rows: Array, seats: Array, shown_games: Array, views: Array) -> None:
    """Write seats' views of the games in some rows; `shown_games`: the array of the views'
    games.
    """
    for i in range(len(views)):
        shown_games[i] = games[rows[i]]
        redact(views[i], seats[i])


@rule
def deal_unseen(view: ViewRecord, game: GameRecord, log: LogRecord) -> None:
    """Deal the cards that the view's seat can't locate, to other hands and face-down stacks
    (INF-2).

    Every card is equally likely in every place, except for those that the seat has deduced. `game`:
    a copy of the view's game.
    """
    for colour in range(NUM_COLOURS + 1):
        for rank in range(NUM_RANKS):
            game.face_down[colour, rank] = view.unseen[colour, rank]
        for other in range(MAX_PLAYERS):
            if other == view.seat:
                continue
            undecided = int(view.unknown[other, colour])
            for rank in range(NUM_RANKS):
                deduced = int(game.deduced[other, rank]) if colour == BLACK and other < 2 else 0
                game.hand[other, colour, rank] = game.known[other, colour, rank] + deduced
                game.face_down[colour, rank] -= deduced
                undecided -= deduced
            for _ in range(undecided):
                game.hand[other, colour, draw(game, log, game.face_down[colour], FORCED_CARD)] += 1


@entry_point("the drawing of unseen cards")
def sample_determinization(
    view: ViewRecord, game: GameRecord, log: LogRecord, mask: Int8, seed: int
) -> bool:
    """Turn a copy of the view's game into a determinization: a full position that its seat can't
    tell from the real one.

    A bid under way must be able to end above the highest one (INTERFACE.md, "no dead ends"), so
    other deals are rejected. `mask` is scratch memory.

    Returns:
        Whether there is such a position.
    """
    seed_stream(game, seed)
    game.seed = NONE
    for _ in range(MAX_DEALS):
        deal_unseen(view, game, log)
        if game.phase != PHASE_BID or game.laid == NONE or refresh_mask(game, mask) > 0:
            return True
    return False


@entry_point("the drawing of unseen cards")
def _sample_determinizations(
    views: Array, seeds: Array, games: Array, log: Array, mask: Array
) -> int:
    """Write a determinization for every seed; return the index of the first failure, or the number
    of seeds.

    There is one view for all seeds, or one for each.
    """
    for i in range(len(seeds)):
        view = views[i if len(views) > 1 else 0]
        games[i] = view.game
        if not sample_determinization(view, games[i], log[0], mask, seeds[i]):
            return i
    return len(seeds)


def view(state: RecordArray, seats: int | ArrayLike, rows: ArrayLike | None = None) -> np.recarray:
    """Return seats' views of games.

    Args:
        state: games, GAME_DTYPE (n,).
        seats: a seat for all games or one for each, 0 … N−1.
        rows: which of the games, whole numbers (k,); None means all.

    Returns:
        New records, VIEW_DTYPE (k,); INF-1 to INF-3.

    Raises:
        OptionError: `state` is not an array of games, or there is no such row or seat.
    """
    games = as_games(state)
    chosen = np.arange(len(games)) if rows is None else check_rows(rows, len(games))
    whose = check_each("seats", seats, games["num_players"][chosen] - 1, len(chosen))
    views = new_records(len(chosen), VIEW_DTYPE)
    _see_all(games, chosen, whose, views["game"], views)
    return views.view(np.recarray)


def public_view(state: RecordArray) -> np.recarray:
    """Return the public views of games (INF-1, INF-3): hands hold only public cards.

    Args:
        state: games, GAME_DTYPE (n,).

    Returns:
        New records, VIEW_DTYPE (n,), whose seat is PUBLIC, for spectators; :func:`resample` refuses
            them.

    Raises:
        OptionError: `state` is not an array of games.
    """
    views = view(state, 0)  # everything hidden from seat 0 is blanked
    games = views["game"]
    own = games["hand"][:, 0] - games["known"][:, 0]
    views["unseen"] += own
    views["unknown"][:, 0] = own.sum(axis=2)
    games["hand"][:, 0] = games["known"][:, 0]
    games["deduced"] = 0  # the two players' private deductions
    views["seat"] = PUBLIC
    return views


def _deduced_fits(views: RecordArray) -> Bool:
    """Return whether two players' deductions about each other's hands fit the unseen cards
    there.
    """
    rows, other = np.arange(len(views)), 1 - views["seat"].clip(0, 1)
    deduced = views["game"]["deduced"][rows, other]
    fits = ((deduced >= 0) & (deduced <= views["unseen"][:, BLACK])).all(axis=1)
    fits &= deduced.sum(axis=1) <= views["unknown"][rows, other, BLACK]
    return fits | (views["game"]["num_players"] > 2)


def as_views(views: ArrayLike) -> RecordArray:
    """Return views for compiled functions, one for a single record; see
    :func:`skyenv.rules.record.new_records`.

    Raises:
        OptionError: `views` are not views that :func:`view` could have returned.
    """
    given = np.asarray(views)
    if given.dtype != VIEW_DTYPE or given.ndim > 1:
        raise OptionError(
            f"views must be records of VIEW_DTYPE, shape (k,), not {shown(given.dtype, 40)} "
            f"{given.shape}"
        )
    records: RecordArray = as_plain(np.atleast_1d(given))
    seats = records["seat"]
    hidden = records["unknown"].sum(axis=1, dtype=np.int64) + records["num_face_down"]
    possible = (seats >= 0) & (seats < records["game"]["num_players"])
    possible &= (records["unseen"].sum(axis=2, dtype=np.int64) == hidden).all(axis=1)
    for name in ("unseen", "unknown", "num_face_down"):
        possible &= (records[name] >= 0).all(axis=tuple(range(1, records[name].ndim)))
    possible &= _deduced_fits(records)
    if not possible.all():
        raise OptionError(
            f"view {int(np.argmin(possible))}: its seat or its counts of hidden cards don't "
            "fit the game"
        )
    check_positions(as_records(records["game"].copy(), GAME_DTYPE), view_only=True)
    return as_records(records, VIEW_DTYPE)


def resample(views: ArrayLike, seeds: ArrayLike) -> np.recarray:
    """Return determinizations: random full positions that seats can't tell from the real ones.

    Every card that a seat can't locate is equally likely in every place that it can't see: others'
    hands and face-down stacks. A shuffle of the black stack reveals to each of two players which
    black cards the other held: those that weren't shuffled. With three or four players the others'
    combined cards are not tracked, as it rarely matters. Only the views are used. Future chance is
    resampled, too; `seed` is −1.

    Args:
        views: the seats' views, VIEW_DTYPE (k,), as :func:`view` returns them; or one view for all
            seeds.
        seeds: integers from 0 to 2⁶³−1, one for each position, (k,). Equal views and seeds give
            equal positions.

    Returns:
        New records, GAME_DTYPE (k,), playable by the rules.

    Raises:
        OptionError: views or seeds are invalid, or their numbers differ.
    """
    records = as_views(views)
    numbers = np.atleast_1d(np.asarray(seeds))
    wanted = whole_numbers("seeds", numbers, (numbers.size,))
    in_range = ((numbers >= 0) & (numbers <= HIGHEST_SEED)).all()
    if not in_range or len(records) not in (1, len(wanted)):
        raise OptionError(
            f"seeds must be from 0 to 2⁶³−1, one for each of the {len(records)} views, or any "
            f"number for one view, not {shown(seeds)}"
        )
    games = new_games(len(wanted))
    scratch = new_records(1, LOG_DTYPE), np.zeros(NUM_ACTIONS, np.int8)
    for first in range(0, len(wanted), DECISIONS_AT_A_TIME):
        part = slice(first, first + DECISIONS_AT_A_TIME)
        made = _sample_determinizations(
            records[part] if len(records) > 1 else records, wanted[part], games[part], *scratch
        )
        if made < len(wanted[part]):
            raise OptionError(
                f"view {first + made if len(records) > 1 else 0}: inconsistent with the "
                "cards revealed so far"
            )
    return games.view(np.recarray)
