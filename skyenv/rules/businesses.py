"""BUS: the supply row, placing a business, and the special points."""

from skyenv.rules.actions import PLOT
from skyenv.rules.compiling import rule
from skyenv.rules.components import (
    BONUS_DISTRICTS,
    BONUS_EVERY,
    BONUS_VP,
    BUSINESSES_TO_PLACE,
    MAX_PLAYERS,
    MAX_TILES_ON_PLOT,
    NUM_DISTRICTS,
    NUM_PLOTS,
    SET_START,
    SIXTH,
)
from skyenv.rules.event_log import EVENT_TILE_TO_PARK, EVENT_VP, WHY_BONUS, LogRecord, report
from skyenv.rules.record import Array
from skyenv.rules.scoring import award, finish, refresh_district, stands_in, tiles_on_plot
from skyenv.rules.state import END_BUSINESSES, NONE, GameRecord
from skyenv.rules.turn import go_on


@rule
def current_set(game: GameRecord) -> int:
    """BUS-1: return the index of the left-most set that is not empty; 8 when the row is empty."""
    # A 3-set gives two placements and a 2-set one (BUS-3), so three placements use up two sets.
    return 2 * (game.placed // 3) + (1 if game.placed % 3 == 2 else 0)


@rule
def types_in_current_set(game: GameRecord) -> int:
    """BUS-1: return a bit mask of the types that option B can take."""
    index = current_set(game)
    types = 0
    if game.placed < BUSINESSES_TO_PLACE:
        for space in range(SET_START[index], SET_START[index + 1]):
            if game.row[space] != NONE:
                types |= 1 << game.row[space]
    return types


@rule
def takes_business(game: GameRecord, district: int, plot: int) -> bool:
    """BUS-2: return whether a business may be placed on the plot."""
    if game.stopped[district]:
        return False
    if plot == SIXTH:
        # The front side has no sixth plot; on the back side it is never empty (SET-2).
        return tiles_on_plot(game, district, plot) == 1
    return (
        game.owner[district, plot] == NONE
        and tiles_on_plot(game, district, plot) < MAX_TILES_ON_PLOT
    )


@rule
def some_plot_takes_business(game: GameRecord) -> bool:
    """TURN-3: return whether option B has a legal plot."""
    for district in range(NUM_DISTRICTS):
        for plot in range(NUM_PLOTS):
            if takes_business(game, district, plot):
                return True
    return False


@rule
def legal_business_plots(game: GameRecord, mask: Array) -> None:
    """BUS-2: mark the plots on which the business may be placed."""
    for district in range(NUM_DISTRICTS):
        for plot in range(NUM_PLOTS):
            mask[PLOT + NUM_PLOTS * district + plot] = takes_business(game, district, plot)


@rule
def take_from_row(game: GameRecord, log: LogRecord, business: int) -> None:
    """BUS-1, BUS-3: take the left-most tile of this type out of the current set; if one tile is
    left there, it goes to the park area.
    """
    index = current_set(game)
    last = NONE
    left = 0
    for space in range(SET_START[index], SET_START[index + 1]):
        if game.row[space] == business:
            game.row[space] = NONE
            business = NONE
        elif game.row[space] != NONE:
            last = space
            left += 1
    if left == 1:
        game.park_tiles[game.row[last]] += 1
        report(log, EVENT_TILE_TO_PARK, int(game.row[last]), 0)
        game.row[last] = NONE


@rule
def bonus_vp(game: GameRecord, seat: int, bonus: int) -> int:
    """BUS-4: return the special points of one seat; `bonus` is 0, 1 or 2."""
    districts = 0
    for district in range(NUM_DISTRICTS):
        if stands_in(game, district, seat):
            districts += 1
    return int(BONUS_VP[bonus]) if districts >= BONUS_DISTRICTS[bonus] else 0


@rule
def apply_place_business(game: GameRecord, log: LogRecord, district: int, plot: int) -> None:
    """BUS-2 to BUS-5: place the business, then move the tile to the park, award special points, or
    end the game.
    """
    take_from_row(game, log, int(game.business))
    game.tiles[district, plot, game.business] += 1
    game.business = NONE
    refresh_district(game, district)
    game.placed += 1
    if game.placed == BUSINESSES_TO_PLACE:
        finish(game, log, END_BUSINESSES)
        return
    if game.placed % BONUS_EVERY == 0:
        bonus = game.placed // BONUS_EVERY - 1
        report(log, EVENT_VP, WHY_BONUS, NONE)
        for seat in range(MAX_PLAYERS):
            award(game, log, seat, bonus_vp(game, seat, bonus))
    go_on(game, log)
