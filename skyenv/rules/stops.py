"""STOP: building stops."""

from skyenv.rules.compiling import rule
from skyenv.rules.components import (
    MARKERS,
    MAX_PLAYERS,
    MAX_STOPS,
    NUM_BUSINESSES,
    NUM_COLOURS,
    NUM_COMMISSIONERS,
    NUM_PLOTS,
)
from skyenv.rules.event_log import EVENT_STOP, EVENT_VP, WHY_STOP, LogRecord, report
from skyenv.rules.scoring import award, district_vp, finish, refresh_district
from skyenv.rules.state import END_STOPS, NONE, GameRecord


@rule
def remove_marker(game: GameRecord, commissioner: int, district: int) -> None:
    """AUC-1, STOP-5: return a commissioner's marker in the district, if there is one, to
    City Hall.
    """
    passed = False
    for i in range(MARKERS):
        if game.visited[commissioner, i] == district:
            passed = True
        if passed:
            game.visited[commissioner, i] = (
                game.visited[commissioner, i + 1] if i + 1 < MARKERS else NONE
            )
    if passed:
        game.markers[commissioner] -= 1


@rule
def stop_vp(game: GameRecord, district: int, seat: int, declarer: int) -> int:
    """STOP-2, STOP-3, ALEA-7: return the VP of one seat for a building stop."""
    if seat != declarer:
        return district_vp(game, district, seat) // 2
    skyscrapers = 0
    for plot in range(NUM_COLOURS):
        skyscrapers += int(game.floors[district, plot])
    return skyscrapers


@rule
def clear_district(game: GameRecord, district: int) -> None:
    """STOP-4, STOP-5: remove everything in the district from the game."""
    for plot in range(NUM_COLOURS):
        game.owner[district, plot] = NONE
        game.floors[district, plot] = 0
    for plot in range(NUM_PLOTS):
        for business in range(NUM_BUSINESSES):
            game.tiles[district, plot, business] = 0
    game.stopped[district] = 1
    refresh_district(game, district)
    for commissioner in range(NUM_COMMISSIONERS):
        remove_marker(game, commissioner, district)


@rule
def carry_out_stop(game: GameRecord, log: LogRecord, district: int, declarer: int) -> None:
    """STOP-2 to STOP-6: carry out a building stop by a seat or by Alea; the second one ends the
    game.
    """
    report(log, EVENT_STOP, district, declarer)
    report(log, EVENT_VP, WHY_STOP, district)
    for seat in range(MAX_PLAYERS):
        award(game, log, seat, stop_vp(game, district, seat, declarer))
    clear_district(game, district)
    game.stops += 1
    if game.stops >= MAX_STOPS:
        finish(game, log, END_STOPS)
