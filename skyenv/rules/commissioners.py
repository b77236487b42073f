"""MOVE: moves of the commissioners."""

from skyenv.rules.actions import MOVE
from skyenv.rules.auction import open_auction
from skyenv.rules.compiling import rule
from skyenv.rules.components import (
    CITY_HALL,
    MARKERS,
    NEXT_PLACES,
    NUM_COMMISSIONERS,
    NUM_DISTRICTS,
    NUM_PLACES,
)
from skyenv.rules.event_log import LogRecord
from skyenv.rules.record import Array
from skyenv.rules.state import GameRecord
from skyenv.rules.turn import go_on


@rule
def next_places(game: GameRecord, commissioner: int) -> int:
    """MOVE-1, MOVE-3, MOVE-4: return a bit mask of the places to which the commissioner can
    move.
    """
    places = int(NEXT_PLACES[game.place[commissioner]])
    # Streets lead from lower to higher numbers, so one pass replaces every stopped district by the
    # places behind it.
    for district in range(NUM_DISTRICTS):
        if (places >> district) & 1 != 0 and game.stopped[district]:
            places = (places & ~(1 << district)) | int(NEXT_PLACES[district])
    return places


@rule
def legal_moves(game: GameRecord, mask: Array) -> None:
    """MOVE-1: mark the moves of either commissioner."""
    for commissioner in range(NUM_COMMISSIONERS):
        places = next_places(game, commissioner)
        for place in range(NUM_PLACES):
            mask[MOVE + NUM_PLACES * commissioner + place] = (places >> place) & 1


@rule
def apply_move(game: GameRecord, log: LogRecord, commissioner: int, place: int) -> None:
    """MOVE-2, MOVE-4, MOVE-5: leave a marker, move, and start the auctions at City Hall."""
    left = int(game.place[commissioner])
    game.place[commissioner] = place
    # A path has at most three districts; only edited positions could need a fourth marker.
    if left < NUM_DISTRICTS and game.stopped[left] == 0 and game.markers[commissioner] < MARKERS:
        game.visited[commissioner, game.markers[commissioner]] = left
        game.markers[commissioner] += 1
    if place == CITY_HALL:
        game.auction_commissioner = commissioner
        open_auction(game, log)
    else:
        go_on(game, log)
