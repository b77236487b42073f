"""INF-1, AUC-9: what a shuffle of the black stack tells whoever remembers it, and what has been
seen of those cards since.

Right before a shuffle no black card is face down, so those that a player can't see are in the
others' hands. Of two players each then knows what the other holds (`deduced`). Three or four know
what the others hold together (`held_together`, less the own cards), but not who holds which. A card
laid down later may be one of them or one drawn since; so what is laid down is kept in its order
(`shown`), and :mod:`skyenv.engine.knowledge` weighs what it can have been.
"""

from __future__ import annotations

from skyenv.rules.compiling import rule
from skyenv.rules.components import BLACK, MAX_PLAYERS, NUM_RANKS
from skyenv.rules.state import GameRecord


@rule
def remember_hands(game: GameRecord) -> None:
    """AUC-9: keep what hands hold, right before the black stack is shuffled."""
    forget_hands(game)
    for seat in range(game.num_players):
        for rank in range(NUM_RANKS):
            hidden = game.hand[seat, BLACK, rank] - game.known[seat, BLACK, rank]
            if game.num_players == 2:
                game.deduced[seat, rank] = hidden
            else:
                game.held[seat, rank] = hidden
                game.held_together[rank] += hidden
                game.num_held[seat] += hidden


@rule
def forget_hands(game: GameRecord) -> None:
    """Nothing is remembered of a shuffle."""
    for rank in range(NUM_RANKS):
        game.held_together[rank] = 0
        for seat in range(MAX_PLAYERS):
            game.held[seat, rank] = 0
        for seat in range(2):
            game.deduced[seat, rank] = 0
    for seat in range(MAX_PLAYERS):
        game.num_held[seat] = 0
    for i in range(game.num_shown):
        game.shown[i, 0] = 0
        game.shown[i, 1] = 0
    game.num_shown = 0


@rule
def shuffle_tells(game: GameRecord) -> bool:
    """Whether a shuffle has told three or four players which cards the others held together."""
    number = 0
    for seat in range(MAX_PLAYERS):
        number += int(game.num_held[seat])
    return number > 0


@rule
def remember_shown(game: GameRecord, seat: int, rank: int) -> None:
    """INF-3: a seat lays down a black card that nobody else knew of; `unknown` still counts it."""
    if game.num_players == 2:
        if game.deduced[seat, rank] > 0:
            game.deduced[seat, rank] -= 1
    elif shuffle_tells(game) and game.num_shown < len(game.shown):
        game.shown[game.num_shown, 0] = NUM_RANKS * seat + rank
        game.shown[game.num_shown, 1] = game.unknown[seat, BLACK]
        game.num_shown += 1
