"""INF: what a seat knows. All that agents, pictures and pages learn of a position comes from here or from the observation."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from skyenv.errors import OptionError, shown
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.auction import legal_bids
from skyenv.rules.chance import draw, seed_stream
from skyenv.rules.compiling import EntryPoints, rule
from skyenv.rules.components import BLACK, MAX_PLAYERS, NUM_COLOURS, NUM_RANKS
from skyenv.rules.state import GAME_DTYPE, NONE, PHASE_BID, Record, as_records, new_games, new_records
from skyenv.rules.tape import FED_CARD, TAPE_DTYPE

MOST_DEALS: Final = 2**20
"""So many deals in a row that break off a bid in its middle mean that there is no other: no game has led to such a view."""

VIEW_DTYPE: Final = np.dtype(
    [
        ("game", GAME_DTYPE),  # the position; what the seat can't know is blanked: other hands hold only cards that
        # everybody knows of, nothing is face down, there is no seed and no stream of chance
        ("seat", np.int8),  # whose view this is
        ("unknown", np.int8, (4, 6)),  # [seat, card colour] → cards in that hand that this seat doesn't know
        (
            "unseen",
            np.int8,
            (6, 3),
        ),  # [card colour, rank] → cards that this seat can't locate: face down or unknown in a hand
        ("num_face_down", np.int8, (6,)),  # [card colour] → cards face down in the stack
        ("spare", np.int8, (7,)),  # 0; fills the record
    ],
    align=True,
)
"""A seat's view of a game."""


@rule
def redact(view: Record, seat: int) -> None:
    """Fill in a view whose `game` is a full copy, then blank there what the seat can't know."""
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


def _make_see_all(fingerprint: str):  # type: ignore[no-untyped-def]
    def see_all(games, rows, seats, shown_games, views):  # type: ignore[no-untyped-def]
        """Write what seats see of the games in some rows; `shown_games` is the array of the views' games."""
        _ = fingerprint
        for i in range(len(views)):
            shown_games[i] = games[rows[i]]
            redact(views[i], seats[i])

    return see_all


@rule
def deal_unseen(view: Record, game: Record, tape: Record) -> None:
    """INF-2: deal what the view's seat can't locate: to the other hands what is unknown there, the rest is face down.

    Every card is equally likely in every place, but for those that the seat has deduced. `game`: a copy of the view's game.
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
                game.hand[other, colour, draw(game, tape, game.face_down[colour], FED_CARD)] += 1


@rule
def imagine(view: Record, game: Record, tape: Record, mask: npt.NDArray[np.int8], seed: int) -> bool:
    """Turn a copy of the view's game into a whole position that the view's seat can't tell from the real one.

    A card laid down promises that its bid can end above the highest one (INTERFACE.md, "no dead ends"), so a deal in which
    somebody's can't is dealt again. `mask` is scratch memory.

    Returns:
        Whether there is such a position.
    """
    seed_stream(game, seed)
    game.seed = NONE
    for _ in range(MOST_DEALS):
        deal_unseen(view, game, tape)
        if game.phase != PHASE_BID or game.laid == NONE or legal_bids(game, mask) > 0:
            return True
    return False


def _make_imagine_all(fingerprint: str):  # type: ignore[no-untyped-def]
    def imagine_all(views, seeds, games, tape, mask):  # type: ignore[no-untyped-def]
        """Write a whole position for every seed; the index of the first that there is none for, or the number of seeds.

        There is one view for all of them, or one for each.
        """
        _ = fingerprint
        for i in range(len(seeds)):
            view = views[i if len(views) > 1 else 0]
            games[i] = view.game
            if not imagine(view, games[i], tape[0], mask, seeds[i]):
                return i
        return len(seeds)

    return imagine_all


ENTRY_POINTS: Final = EntryPoints()
_see_all = ENTRY_POINTS.make(_make_see_all)
_imagine_all = ENTRY_POINTS.make(_make_imagine_all)


def view(state: npt.NDArray[np.void], seats: int | npt.ArrayLike, rows: npt.ArrayLike | None = None) -> np.recarray:
    """What seats see of games.

    Args:
        state: games, GAME_DTYPE (n,).
        seats: a seat for all of them or one for each, 0 … N−1.
        rows: which of the games, whole numbers (k,); None means all.

    Returns:
        New records, VIEW_DTYPE (k,); INF-1 to INF-3.
    """
    chosen = np.arange(len(state)) if rows is None else np.asarray(rows, np.int64)
    if chosen.size and not (chosen.min() >= 0 and chosen.max() < len(state)):
        raise OptionError(f"rows must be from 0 to {len(state) - 1}, not {chosen.min()} to {chosen.max()}")
    views = new_records(len(chosen), VIEW_DTYPE)
    whose = np.broadcast_to(np.asarray(seats, dtype=np.int64), len(chosen)).copy()
    _see_all(as_records(state, GAME_DTYPE), chosen, whose, views["game"], views)
    return views.view(np.recarray)


def _deduced_fits(views: npt.NDArray[np.void]) -> npt.NDArray[np.bool_]:
    """Whether what two players have deduced of each other's hands is among the cards there that they can't see."""
    rows, other = np.arange(len(views)), 1 - views["seat"].clip(0, 1)
    deduced = views["game"]["deduced"][rows, other]
    fits = ((deduced >= 0) & (deduced <= views["unseen"][:, BLACK])).all(axis=1)
    fits &= deduced.sum(axis=1) <= views["unknown"][rows, other, BLACK]
    found: npt.NDArray[np.bool_] = fits | (views["game"]["num_players"] > 2)
    return found


def as_views(views: npt.ArrayLike) -> npt.NDArray[np.void]:
    """Views as compiled functions take them, one for a single record; see :func:`skyenv.rules.state.new_records`.

    Raises:
        OptionError: these are no views, or none that :func:`view` could have made.
    """
    given = np.asarray(views)
    if given.dtype != VIEW_DTYPE or given.ndim > 1:
        raise OptionError(f"views must be records of VIEW_DTYPE, shape (k,), not {shown(given.dtype, 40)} {given.shape}")
    records: npt.NDArray[np.void] = np.ascontiguousarray(np.atleast_1d(given))
    seats = records["seat"]
    hidden = records["unknown"].sum(axis=1, dtype=np.int64) + records["num_face_down"]
    possible = (seats >= 0) & (seats < records["game"]["num_players"])
    possible &= (records["unseen"].sum(axis=2, dtype=np.int64) == hidden).all(axis=1)
    for field in ("unseen", "unknown", "num_face_down"):
        possible &= (records[field] >= 0).all(axis=tuple(range(1, records[field].ndim)))
    possible &= _deduced_fits(records)
    if not possible.all():
        raise OptionError(f"view {int(np.argmin(possible))}: its seat or the cards that it can't locate don't fit the game")
    return as_records(records, VIEW_DTYPE)


def resample(views: npt.ArrayLike, seeds: npt.ArrayLike) -> np.recarray:
    """Whole positions, drawn at random from all those that seats can't tell from the real ones.

    Every card that a seat can't locate is equally likely in every place that it can't see: others' hands and face-down stacks.
    With two players a shuffle of the black stack settles which black cards the other held at that moment: those that weren't
    shuffled. With three or four it would tell only which cards they held together, and that is not used: after a shuffle the
    cards then held and the shuffled ones are drawn from as one. Nothing but the views is used. A position's chance to come is
    anew as well; its `seed` is −1, as it begins no game.

    Args:
        views: what the seats know, VIEW_DTYPE (k,), as :func:`view` makes it; or one view, for all seeds.
        seeds: whole numbers from 0 to 2⁶³−1, one for each position, (k,). Equal views and seeds give equal positions.

    Returns:
        New records, GAME_DTYPE (k,), that the rules can play on.

    Raises:
        OptionError: these are no views or no seeds, or their numbers differ.
    """
    records = as_views(views)
    numbers = np.atleast_1d(np.asarray(seeds))
    if numbers.ndim != 1 or (numbers.size and (numbers.dtype.kind not in "iu" or numbers.min() < 0)):
        raise OptionError(f"seeds must be whole numbers from 0 to 2⁶³−1, one for each position, not {shown(seeds)}")
    if numbers.size and numbers.max() > np.iinfo(np.int64).max:
        raise OptionError(f"seeds must be at most 2⁶³−1, not {numbers.max()}")
    if len(records) not in (1, len(numbers)):
        raise OptionError(f"there must be one view, or one for each of the {len(numbers)} seeds, not {len(records)}")
    games = new_games(len(numbers))
    scratch = new_records(1, TAPE_DTYPE), np.zeros(NUM_ACTIONS, np.int8)
    made = _imagine_all(records, np.ascontiguousarray(numbers, np.int64), games, *scratch)
    if made < len(numbers):
        raise OptionError(f"view {made if len(records) > 1 else 0}: no game has led to it, as the bid laid down can't be ended")
    return games.view(np.recarray)
