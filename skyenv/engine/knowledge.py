"""INF: what a seat knows.

All that agents, pictures and pages learn of a position comes from here or from the observation.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from skyenv.checks import as_plain, check_rows, check_seats
from skyenv.engine.validation import as_games, check_positions
from skyenv.errors import OptionError, shown
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.auction import legal_bids
from skyenv.rules.chance import below, draw, next32, seed_stream
from skyenv.rules.compiling import called_rule, entry_point, rule
from skyenv.rules.components import BLACK, MAX_PLAYERS, NUM_COLOURS, NUM_RANKS
from skyenv.rules.memory import shuffle_tells
from skyenv.rules.state import (
    GAME_DTYPE,
    NONE,
    PHASE_BID,
    Array,
    GameRecord,
    Record,
    as_records,
    new_games,
    new_records,
)
from skyenv.rules.tape import FED_CARD, TAPE_DTYPE, TapeRecord

MOST_DEALS: Final = 2**20
"""So many deals in a row that break off a bid in its middle mean that there is no other: no game
has led to such a view.
"""

FEW_GUESSES: Final = 2**12
"""After so many wrong guesses of what was old, the chances of all that can have been are added up
instead, which always ends.
"""

POSITIONS_AT_A_TIME: Final = 1024
"""So many positions are drawn before Ctrl-C is heard: some milliseconds."""
NOT_LED_TO: Final = "no game has led to it, as the cards laid down show"
"""What is wrong with a view that :func:`sample_determinization` finds no position for."""

PUBLIC: Final = -1
"""The seat of a view that shows what everybody knows, and no more: nobody sits there."""

VIEW_DTYPE: Final = np.dtype(
    [
        (
            "game",
            GAME_DTYPE,
        ),  # the position; what the seat can't know is blanked: other hands hold only cards that
        # everybody knows of, nothing is face down, there is no seed and no stream of chance
        ("seat", np.int8),  # whose view this is; PUBLIC: nobody's
        (
            "unknown",
            np.int8,
            (4, 6),
        ),  # [seat, card colour] → cards in that hand that this seat doesn't know
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


class ViewRecord(Record):
    """One record of VIEW_DTYPE."""


@entry_point("views")
def redact(view: ViewRecord, seat: int) -> None:
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
                    game.held[other, rank] = 0
    game.seed = NONE
    for i in range(4):
        game.random[i] = 0


@entry_point("views")
def _see_all(games: Array, rows: Array, seats: Array, shown_games: Array, views: Array) -> None:
    """Write what seats see of the games in some rows; `shown_games` is the array of the views'
    games.
    """
    for i in range(len(views)):
        shown_games[i] = games[rows[i]]
        redact(views[i], seats[i])


@rule
def deal_unseen(view: ViewRecord, game: GameRecord, tape: TapeRecord) -> None:
    """INF-2: deal what the view's seat can't locate: to the other hands what is unknown there, the
    rest is face down.

    Every card is equally likely in every place, but for those that the seat has deduced. What three
    or four players remember of a shuffle is left to :func:`deal_remembered`. `game`: a copy of the
    view's game.
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
            if colour == BLACK and shuffle_tells(game):
                continue
            for _ in range(undecided):
                game.hand[other, colour, draw(game, tape, game.face_down[colour], FED_CARD)] += 1


# ---- after a shuffle of the black stack, with three or four players ----
#
# Whoever remembers it knows two bags of black cards: *old* ones, which the others held together at
# the shuffle, and *new* ones, which were in the stack and which the seat itself hasn't drawn. Each
# hand has places for both; what lies in them is a random deal of the bags. Whoever lays a card down
# takes it from any of the hidden places of its hand, as far as others can tell: an old one with the
# probability (old places) / (hidden places). `shown` has those numbers. How many of the cards laid
# down were old is drawn so, and a draw is kept with a probability in proportion to the chance that
# just such cards came out of the bags. Where hardly any is kept, the chances of all numbers are
# added up and one is drawn among them: it takes longer than a few draws.


@rule
def num_shown(view: ViewRecord, rank: int) -> int:
    """How many black cards of a rank other seats have laid down since the shuffle that nobody knew
    of.
    """
    number = 0
    for i in range(view.game.num_shown):
        shown = int(view.game.shown[i, 0])
        if shown // NUM_RANKS != view.seat and shown % NUM_RANKS == rank:
            number += 1
    return number


@rule
def num_old(view: ViewRecord, rank: int) -> int:
    """How many black cards of a rank the other seats held at the shuffle."""
    return int(view.game.held_together[rank] - view.game.held[view.seat, rank])


@rule
def falling(number: int, factors: int) -> float:
    """A number times the next lower ones, so many factors in all; 0 if the number is too small for
    that.
    """
    product = 1.0
    for i in range(factors):
        product *= max(number - i, 0)
    return product


@rule
def chance_of_shown(view: ViewRecord, old_4: int, old_5: int, old_6: int) -> float:
    """How likely places hold just the cards laid down, if so many 4s, 5s and 6s of them are old and
    the others new.
    """
    chance = 1.0
    from_old, from_new, all_old, all_new = 0, 0, 0, 0
    for rank in range(NUM_RANKS):
        shown = num_shown(view, rank)
        old = old_4 if rank == 0 else old_5 if rank == 1 else old_6
        first_old = num_old(view, rank)
        first_new = int(view.unseen[BLACK, rank]) - first_old + shown
        chance *= falling(first_old, old) * falling(first_new, shown - old)
        from_old += old
        from_new += shown - old
        all_old += first_old
        all_new += first_new
    ways = falling(all_old, from_old) * falling(all_new, from_new)
    return chance / ways if ways > 0 else 0.0


@rule
def highest_chance_of_shown(view: ViewRecord) -> float:
    """The highest of those chances, however many of the cards laid down are old."""
    highest = 0.0
    for old_4 in range(min(num_shown(view, 0), num_old(view, 0)) + 1):
        for old_5 in range(min(num_shown(view, 1), num_old(view, 1)) + 1):
            for old_6 in range(min(num_shown(view, 2), num_old(view, 2)) + 1):
                highest = max(highest, chance_of_shown(view, old_4, old_5, old_6))
    return highest


@rule
def old_left(game: GameRecord, seat: int) -> int:
    """How many old places of a hand are still hidden; `held` has the old cards that came from
    there.
    """
    return (
        int(game.num_held[seat])
        - int(game.held[seat, 0])
        - int(game.held[seat, 1])
        - int(game.held[seat, 2])
    )


@rule
def guess_what_was_old(view: ViewRecord, game: GameRecord, highest: float) -> bool:
    """Draw which of the cards laid down were old, into the other seats' `held`; whether the draw is
    to be kept.
    """
    players = int(view.game.num_players)
    for other in range(players):
        for rank in range(NUM_RANKS):
            game.held[other, rank] = view.game.held[other, rank]  # the own ones; others' are blank
    for i in range(game.num_shown):
        seat, rank = int(game.shown[i, 0]) // NUM_RANKS, int(game.shown[i, 0]) % NUM_RANKS
        if seat != view.seat and below(game, int(game.shown[i, 1])) < old_left(game, seat):
            game.held[seat, rank] += 1
    old_4, old_5, old_6 = 0, 0, 0
    for other in range(players):
        if other != view.seat:
            if old_left(game, other) > view.unknown[other, BLACK]:
                return False
            old_4 += int(game.held[other, 0])
            old_5 += int(game.held[other, 1])
            old_6 += int(game.held[other, 2])
    return (
        game.num_shown == 0
        or next32(game) * highest < chance_of_shown(view, old_4, old_5, old_6) * 2.0**32
    )


@rule
def add_up_old(view: ViewRecord, seat: int, base: int, chances: Array) -> None:
    """The chance of every number of 4s, 5s and 6s that a seat has laid down to be the old ones; 0
    if the rest can't be new.

    Args:
        base: more than anybody can have laid down of a rank. chances: float64 (base³,) at 0; the
            numbers are digits of an index.
    """
    game = view.game
    chances[0] = 1.0
    for i in range(game.num_shown):
        if game.shown[i, 0] // NUM_RANKS != seat:
            continue
        rank, hidden = int(game.shown[i, 0]) % NUM_RANKS, int(game.shown[i, 1])
        for index in range(base**3 - 1, -1, -1):
            if chances[index] > 0:
                left = max(int(game.num_held[seat]) - sum_of_digits(index, base), 0)
                old = min(left / hidden, 1.0) if hidden > 0 else 0.0
                chances[index + base**rank] += old * chances[index]
                chances[index] *= 1.0 - old
    for index in range(base**3):
        if game.num_held[seat] - sum_of_digits(index, base) > view.unknown[seat, BLACK]:
            chances[index] = 0.0


@rule
def digit(index: int, base: int, rank: int) -> int:
    """How many cards of a rank an index of :func:`add_up_old` stands for."""
    return int(index // base**rank % base)


@rule
def sum_of_digits(index: int, base: int) -> int:
    """How many cards an index of :func:`add_up_old` stands for."""
    return digit(index, base, 0) + digit(index, base, 1) + digit(index, base, 2)


@rule
def draw_index(game: GameRecord, weights: Array) -> int:
    """An index at random, as likely as its weight says; NONE if all are 0."""
    left = next32(game) / 2.0**32 * weights.sum()
    drawn = NONE
    for index in range(len(weights)):
        if weights[index] > 0:
            drawn = index
            left -= weights[index]
            if left < 0:
                break
    return drawn


@called_rule
def draw_what_was_old(view: ViewRecord, game: GameRecord) -> bool:
    """What :func:`guess_what_was_old` leaves in `held` in the end, without guesses; whether
    anything is possible.
    """
    players = int(view.game.num_players)
    base = 1 + max(num_shown(view, 0), num_shown(view, 1), num_shown(view, 2))
    chances = np.zeros((players, base**3))  # of each seat
    sums = np.zeros(
        (players + 1, base**3)
    )  # of all seats before each; no digit of a sum of indices overflows
    sums[0, 0] = 1.0
    for other in range(players):
        if other == view.seat:
            chances[other, 0] = 1.0
        else:
            add_up_old(view, other, base, chances[other])
        for index in range(base**3):
            for more in range(base**3 - index if chances[other, index] > 0 else 0):
                sums[other + 1, index + more] += chances[other, index] * sums[other, more]
    weights = np.zeros(base**3)
    for index in range(base**3):
        if sums[players, index] > 0:
            old = digit(index, base, 0), digit(index, base, 1), digit(index, base, 2)
            weights[index] = sums[players, index] * chance_of_shown(view, old[0], old[1], old[2])
    together = draw_index(game, weights)
    if together == NONE:
        return False
    for other in range(players - 1, -1, -1):
        for index in range(base**3):
            weights[index] = (
                chances[other, index] * sums[other, together - index] if index <= together else 0.0
            )
        own = draw_index(game, weights)
        together -= own
        for rank in range(NUM_RANKS):
            game.held[other, rank] = view.game.held[other, rank] + digit(own, base, rank)
    return True


@rule
def fill_bag(view: ViewRecord, game: GameRecord, old: bool) -> int:
    """Put the cards that are still to be dealt, old or new ones, face down; how many there are, or
    −1 if that can't be.
    """
    number = 0
    for rank in range(NUM_RANKS):
        left = num_old(view, rank) if old else int(view.unseen[BLACK, rank])
        for other in range(view.game.num_players):
            if other != view.seat:
                left -= int(
                    game.held[other, rank]
                    if old
                    else game.hand[other, BLACK, rank] - game.known[other, BLACK, rank]
                )
        if left < 0:
            return -1
        game.face_down[BLACK, rank] = left
        number += left
    return number


@rule
def num_dealt(game: GameRecord, seat: int) -> int:
    """How many black cards that nobody else knows of have been dealt to a hand."""
    number = 0
    for rank in range(NUM_RANKS):
        number += int(game.hand[seat, BLACK, rank] - game.known[seat, BLACK, rank])
    return number


@rule
def deal_remembered(view: ViewRecord, game: GameRecord, tape: TapeRecord) -> bool:
    """AUC-9: deal the black cards that the view's seat can't locate, for three or four players
    after a shuffle.

    `game`: as :func:`deal_unseen` leaves it, and what was old drawn.

    Returns:
        Whether there are the cards for it.
    """
    for step in range(2):
        left = fill_bag(view, game, step == 0)
        for other in range(view.game.num_players):
            if other == view.seat:
                continue
            number = old_left(game, other)
            if step == 1:
                number = int(view.unknown[other, BLACK]) - num_dealt(game, other)
            left -= number
            if left < 0:
                return False
            for _ in range(number):
                rank = draw(game, tape, game.face_down[BLACK], FED_CARD)
                game.hand[other, BLACK, rank] += 1
                if step == 0:
                    game.held[other, rank] += 1
        if step == 0 and left > 0:
            return False
    return True


@entry_point("the drawing of unseen cards")
def sample_determinization(
    view: ViewRecord, game: GameRecord, tape: TapeRecord, mask: npt.NDArray[np.int8], seed: int
) -> bool:
    """Turn a copy of the view's game into a determinization: a whole position that its seat can't
    tell from the real one.

    A card laid down promises that its bid can end above the highest one (INTERFACE.md, "no dead
    ends"), so a deal in which somebody's can't is dealt again. `mask` is scratch memory.

    Returns:
        Whether there is such a position.
    """
    seed_stream(game, seed)
    game.seed = NONE
    remembers = shuffle_tells(game)
    highest = highest_chance_of_shown(view) if remembers else 1.0
    guesses = 0
    for _ in range(MOST_DEALS):
        deal_unseen(view, game, tape)
        if remembers:
            if guesses < FEW_GUESSES and not guess_what_was_old(view, game, highest):
                guesses += 1
                continue
            if guesses == FEW_GUESSES and not draw_what_was_old(view, game):
                return False
            if not deal_remembered(view, game, tape):
                continue
        if game.phase != PHASE_BID or game.laid == NONE or legal_bids(game, mask) > 0:
            return True
    return False


@entry_point("the drawing of unseen cards")
def _sample_determinizations(
    views: Array, seeds: Array, games: Array, tape: Array, mask: Array
) -> int:
    """Write a determinization for every seed; the index of the first that there is none for, or the
    number of seeds.

    There is one view for all of them, or one for each.
    """
    for i in range(len(seeds)):
        view = views[i if len(views) > 1 else 0]
        games[i] = view.game
        if not sample_determinization(view, games[i], tape[0], mask, seeds[i]):
            return i
    return len(seeds)


def view(
    state: npt.NDArray[np.void], seats: int | npt.ArrayLike, rows: npt.ArrayLike | None = None
) -> np.recarray:
    """What seats see of games.

    Args:
        state: games, GAME_DTYPE (n,).
        seats: a seat for all of them or one for each, 0 … N−1.
        rows: which of the games, whole numbers (k,); None means all.

    Returns:
        New records, VIEW_DTYPE (k,); INF-1 to INF-3.

    Raises:
        OptionError: these are no games, or there is no such row or seat.
    """
    games = as_games(state)
    chosen = np.arange(len(games)) if rows is None else check_rows(rows, len(games))
    whose = check_seats(seats, games["num_players"][chosen], len(chosen))
    views = new_records(len(chosen), VIEW_DTYPE)
    _see_all(games, chosen, whose, views["game"], views)
    return views.view(np.recarray)


def public_view(state: npt.NDArray[np.void], rows: npt.ArrayLike | None = None) -> np.recarray:
    """What everybody knows of games, whoever looks (INF-1, INF-3): all hands hold only cards that
    all know of.

    Args:
        state: games, GAME_DTYPE (n,).
        rows: which of the games, whole numbers (k,); None means all.

    Returns:
        New records, VIEW_DTYPE (k,), whose seat is PUBLIC. They are for onlookers; :func:`resample`
        doesn't take them.

    Raises:
        OptionError: these are no games, or there is no such row.
    """
    views = view(
        state, 0, rows
    )  # it has blanked what no seat but its own knows; that seat's own is left
    games = views["game"]
    own = games["hand"][:, 0] - games["known"][:, 0]
    views["unseen"] += own
    views["unknown"][:, 0] = own.sum(axis=2)
    games["hand"][:, 0] = games["known"][:, 0]
    games["held"][:, 0] = 0
    games["deduced"] = 0  # what two players have worked out by their own hands
    views["seat"] = PUBLIC
    return views


def _deduced_fits(views: npt.NDArray[np.void]) -> npt.NDArray[np.bool_]:
    """Whether what two players have deduced of each other's hands is among the cards there that
    they can't see.
    """
    rows, other = np.arange(len(views)), 1 - views["seat"].clip(0, 1)
    deduced = views["game"]["deduced"][rows, other]
    fits = ((deduced >= 0) & (deduced <= views["unseen"][:, BLACK])).all(axis=1)
    fits &= deduced.sum(axis=1) <= views["unknown"][rows, other, BLACK]
    possible: npt.NDArray[np.bool_] = fits | (views["game"]["num_players"] > 2)
    return possible


def _shown_in_range(views: npt.NDArray[np.void]) -> npt.NDArray[np.bool_]:
    """Whether what is remembered to have been laid down since a shuffle was laid down by players of
    the game.
    """
    games = views["game"]
    entries = games["shown"][:, :, 0]
    fits = (games["num_shown"] >= 0) & (games["num_shown"] <= entries.shape[1])
    fits &= (entries >= 0).all(axis=1) & (entries < NUM_RANKS * games["num_players"][:, None]).all(
        axis=1
    )
    possible: npt.NDArray[np.bool_] = fits
    return possible


def as_views(views: npt.ArrayLike) -> npt.NDArray[np.void]:
    """Views as compiled functions take them, one for a single record; see
    :func:`skyenv.rules.state.new_records`.

    Raises:
        OptionError: these are no views, or none that :func:`view` could have made.
    """
    given = np.asarray(views)
    if given.dtype != VIEW_DTYPE or given.ndim > 1:
        raise OptionError(
            f"views must be records of VIEW_DTYPE, shape (k,), not {shown(given.dtype, 40)} "
            f"{given.shape}"
        )
    records: npt.NDArray[np.void] = as_plain(np.atleast_1d(given))
    seats = records["seat"]
    hidden = records["unknown"].sum(axis=1, dtype=np.int64) + records["num_face_down"]
    possible = (seats >= 0) & (seats < records["game"]["num_players"])
    possible &= (records["unseen"].sum(axis=2, dtype=np.int64) == hidden).all(axis=1)
    for field in ("unseen", "unknown", "num_face_down"):
        possible &= (records[field] >= 0).all(axis=tuple(range(1, records[field].ndim)))
    possible &= _deduced_fits(records) & _shown_in_range(records)
    if not possible.all():
        raise OptionError(
            f"view {int(np.argmin(possible))}: its seat or the cards that it can't locate don't "
            "fit the game"
        )
    check_positions(as_records(records["game"].copy(), GAME_DTYPE), view_only=True)
    return as_records(records, VIEW_DTYPE)


def resample(views: npt.ArrayLike, seeds: npt.ArrayLike) -> np.recarray:
    """Determinizations: whole positions, drawn at random from all those that seats can't tell from
    the real ones.

    Every card that a seat can't locate is equally likely in every place that it can't see: others'
    hands and face-down stacks. A shuffle of the black stack tells which black cards the others held
    at that moment: those that weren't shuffled. With two players that is the other's hand. With
    three or four it is several hands together: those cards are equally likely in all places that
    these hands had then, the shuffled ones in the places filled since and in the stack, and whoever
    has laid down a card since may have taken it from any hidden place of its hand. Only the last
    shuffle counts: what three or four players knew before it of who holds which of those cards is
    forgotten. Nothing but the views is used. A position's chance to come is anew as well; its
    `seed` is −1, as it begins no game.

    Args:
        views: what the seats know, VIEW_DTYPE (k,), as :func:`view` makes it; or one view, for all
            seeds.
        seeds: whole numbers from 0 to 2⁶³−1, one for each position, (k,). Equal views and seeds
            give equal positions.

    Returns:
        New records, GAME_DTYPE (k,), that the rules can play on.

    Raises:
        OptionError: these are no views or no seeds, or their numbers differ.
    """
    records = as_views(views)
    numbers = np.atleast_1d(np.asarray(seeds))
    if numbers.ndim != 1 or (
        numbers.size and (numbers.dtype.kind not in "iu" or numbers.min() < 0)
    ):
        raise OptionError(
            "seeds must be whole numbers from 0 to 2⁶³−1, one for each position, not "
            f"{shown(seeds)}"
        )
    if numbers.size and numbers.max() > np.iinfo(np.int64).max:
        raise OptionError(f"seeds must be at most 2⁶³−1, not {numbers.max()}")
    if len(records) not in (1, len(numbers)):
        raise OptionError(
            f"there must be one view, or one for each of the {len(numbers)} seeds, not "
            f"{len(records)}"
        )
    games = new_games(len(numbers))
    scratch = new_records(1, TAPE_DTYPE), np.zeros(NUM_ACTIONS, np.int8)
    wanted = as_plain(numbers.astype(np.int64, copy=False))
    for first in range(0, len(wanted), POSITIONS_AT_A_TIME):
        part = slice(first, first + POSITIONS_AT_A_TIME)
        made = _sample_determinizations(
            records[part] if len(records) > 1 else records, wanted[part], games[part], *scratch
        )
        if made < len(wanted[part]):
            raise OptionError(f"view {first + made if len(records) > 1 else 0}: {NOT_LED_TO}")
    return games.view(np.recarray)
