"""ALEA: the imaginary third bidder of the 2-player game."""

from skyenv.rules.cards import draw_black
from skyenv.rules.compiling import rule
from skyenv.rules.components import (
    BLACK,
    CENTRAL_PARK,
    LOWEST_CARD,
    NUM_COLOURS,
    NUM_PLOTS,
    NUM_RANKS,
)
from skyenv.rules.event_log import EVENT_ALEA, EVENT_ALEA_BUILDS, LogRecord, report, report_more
from skyenv.rules.scoring import plot_is_empty
from skyenv.rules.state import ALEA, ALEA_OUT, ALEA_STANDS, NONE, GameRecord
from skyenv.rules.stops import carry_out_stop


@rule
def alea_bids(game: GameRecord, log: LogRecord) -> None:
    """ALEA-2, ALEA-3: turn up black cards until a value repeats; a total that is too low
    drops out.
    """
    total = 0
    number = 0
    cards = 0  # the cards in the order turned, three bits each
    while True:
        rank = draw_black(game, log)
        if rank == NONE:
            break
        game.alea_cards[rank] += 1
        game.unlocated[BLACK, rank] -= 1
        cards |= (rank + LOWEST_CARD) << (3 * number)
        number += 1
        total += rank + LOWEST_CARD
        if game.alea_cards[rank] == 2:
            break
    report(log, EVENT_ALEA, number, 0)
    for i in range(number):
        report_more(log, 1 + i, (cards >> (3 * i)) & 7)
    if total > game.highest:
        game.highest = total
        game.highest_bidder = ALEA
        game.alea = ALEA_STANDS
    else:
        game.alea = ALEA_OUT


@rule
def return_alea_cards(game: GameRecord) -> None:
    """ALEA-5: return Alea's cards face up under the black stack."""
    for rank in range(NUM_RANKS):
        game.black_face_up[rank] += game.alea_cards[rank]
        game.alea_cards[rank] = 0


@rule
def best_empty_value(game: GameRecord, district: int) -> int:
    """ALEA-6: return the highest VP of a skyscraper on an empty plot of the district; NONE if no
    plot is empty. A variant's plots may be worth 0.
    """
    best = NONE
    for plot in range(NUM_COLOURS):
        if plot_is_empty(game, district, plot):
            best = max(best, int(game.value[district, plot]))
    return best


@rule
def alea_builds(game: GameRecord, log: LogRecord, district: int, best: int) -> None:
    """ALEA-6: build one skyscraper on each empty plot of the best value, in ring order while Alea
    has any.
    """
    built = 0
    for position in range(NUM_PLOTS):
        plot = int(game.ring[district, position])
        if (
            0 <= plot < NUM_COLOURS
            and game.alea_supply > 0
            and game.value[district, plot] == best
            and plot_is_empty(game, district, plot)
        ):
            game.owner[district, plot] = ALEA
            game.floors[district, plot] = 1
            game.alea_supply -= 1
            built |= 1 << plot
    if built != 0:
        report(log, EVENT_ALEA_BUILDS, district, built)


@rule
def alea_wins(game: GameRecord, log: LogRecord) -> None:
    """ALEA-6 to ALEA-8: carry out Alea's action after a won auction.

    A building stop may end the game.
    """
    district = int(game.auction_place)
    if district == CENTRAL_PARK:
        return
    best = best_empty_value(game, district)
    if best != NONE:
        alea_builds(game, log, district, best)
    else:
        carry_out_stop(game, log, district, ALEA)
