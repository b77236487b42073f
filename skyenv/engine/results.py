"""The results of games (END-4)."""

import numpy as np

from skyenv.array_types import Float64, Int64, RecordArray
from skyenv.engine.rewards import OUTCOME, counted_vp, win_share
from skyenv.engine.validation import as_games
from skyenv.rules.cards import cards_in_hand
from skyenv.rules.compiling import entry_point
from skyenv.rules.components import MAX_PLAYERS
from skyenv.rules.record import Array
from skyenv.rules.scoring import winners


@entry_point("the results of games")
def write_results(state: Array, kind: int, shares: Array, cards: Array, margins: Array) -> None:
    """Write results by END-4 on the current scores: `shares` float64 (n, 4), winners sharing 1;
    `cards` int64 (n, 4) in hand; `margins` int64 (n, 4), VP over the best other seat by a kind of
    reward (:func:`skyenv.engine.rewards.counted_vp`).
    """
    for row in range(len(state)):
        best = winners(state[row])
        for seat in range(MAX_PLAYERS):
            shares[row, seat] = win_share(best, seat)
            cards[row, seat] = cards_in_hand(state[row], seat)
            margins[row, seat] = counted_vp(state[row], kind, seat)


def results(state: RecordArray) -> tuple[Float64, Int64]:
    """Return the results of games by END-4, of unfinished ones by the current scores.

    Returns:
        The shares of the win, float64 (n, 4), summing to 1 in every row, and the cards in hand,
        int64 (n, 4).

    Raises:
        OptionError: these are no games.
    """
    games = as_games(state)
    shares = np.zeros((len(games), MAX_PLAYERS), np.float64)
    cards = np.zeros((len(games), MAX_PLAYERS), np.int64)
    write_results(games, OUTCOME, shares, cards, np.zeros_like(cards))
    return shares, cards
