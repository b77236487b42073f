"""SET: from a blank record to the first decision."""

from functools import cache
from typing import Final

import numpy as np

from skyenv.array_types import RecordArray
from skyenv.rules.actions import PLOT
from skyenv.rules.board import Board
from skyenv.rules.chance import choose, draw, seed_stream
from skyenv.rules.compiling import entry_point, rule
from skyenv.rules.components import (
    ALEA_SKYSCRAPERS,
    BACK,
    BLACK,
    CARD_COUNTS,
    CITY_HALL,
    NUM_BUSINESSES,
    NUM_COLOURS,
    NUM_DISTRICTS,
    NUM_PLOTS,
    ROW_SIZE,
    SIDES,
    SIXTH,
    STARTING_BLACK_CARDS,
    STARTING_GENERAL_SUPPLY,
    STARTING_SKYSCRAPERS,
    STARTING_SUPPLY,
    TILES_PER_BUSINESS,
)
from skyenv.rules.event_log import FORCED_BUSINESS, FORCED_CARD, FORCED_COLOUR, LogRecord
from skyenv.rules.record import Array, Vector
from skyenv.rules.scoring import plot_is_empty, refresh_district, stands_in
from skyenv.rules.state import ALEA_OUT, NONE, PHASE_START, GameRecord, new_games
from skyenv.rules.turn import begin_turn


def blank_game(num_players: int, board: Board, max_turns: int) -> RecordArray:
    """Return a one-element array with a game before SET-1, complete except for chance outcomes.

    Args:
        num_players: 2 to 4 (checked by the caller).
        board: the side and its rings.
        max_turns: END-5, at least 1 (checked by the caller).
    """
    games = new_games(1)
    game = games.view(np.recarray)[0]
    for field, about in GameRecord.fields.items():
        if about.low == NONE:
            game[field] = NONE
    game.max_turns = max_turns
    game.num_players = num_players
    game.side = SIDES.index(board.side)
    game.ring[:] = board.ring_array()
    game.phase = PHASE_START
    game.seat = 0
    game.place[:] = CITY_HALL
    game.supply[:num_players] = STARTING_SUPPLY
    game.general[:num_players] = STARTING_GENERAL_SUPPLY
    game.alea_supply = ALEA_SKYSCRAPERS if num_players == 2 else 0
    game.alea = ALEA_OUT
    game.face_down[:] = CARD_COUNTS
    game.unlocated[:] = CARD_COUNTS
    return games


@cache
def arrangements(district: int, unused: int) -> int:
    """SET-1: return the number of colourings of this district and the later ones that use each
    colour once or twice.
    """
    if district == NUM_DISTRICTS:
        return int(unused == 0)
    used_once = 2 * (NUM_COLOURS - unused) - district
    first_uses = unused * arrangements(district + 1, unused - 1)
    return first_uses + used_once * arrangements(district + 1, unused)


# SET-1: [district, colours unused, uses of this colour so far] → number of arrangements with this
# colour here.
COLOUR_WEIGHTS: Final = np.array(
    [
        [
            [arrangements(district + 1, unused - 1), arrangements(district + 1, unused), 0]
            for unused in range(NUM_COLOURS + 1)
        ]
        for district in range(NUM_DISTRICTS)
    ],
    dtype=np.int64,
)


@rule
def draw_plot_colour(game: GameRecord, log: LogRecord, district: int, used: Vector[int]) -> int:
    """SET-1: draw the colour of the plot for this district's business; all arrangements are equally
    likely.

    `used[colour]` counts the districts so far and is updated.
    """
    unused = 0
    for colour in range(NUM_COLOURS):
        unused += 1 if used[colour] == 0 else 0
    weights = (
        COLOUR_WEIGHTS[district, unused, used[0]],
        COLOUR_WEIGHTS[district, unused, used[1]],
        COLOUR_WEIGHTS[district, unused, used[2]],
        COLOUR_WEIGHTS[district, unused, used[3]],
        COLOUR_WEIGHTS[district, unused, used[4]],
    )
    colour = choose(game, log, weights, FORCED_COLOUR)
    used[colour] += 1
    return colour


@rule
def lay_out_businesses(game: GameRecord, log: LogRecord) -> None:
    """SET-1 to SET-3: place a business in every district, and fill the supply row."""
    # Two fields that are still empty: the tiles in the bag, and the plots of every colour.
    bag, used = game.park_tiles, game.num_returned
    for business in range(NUM_BUSINESSES):
        bag[business] = TILES_PER_BUSINESS
    for district in range(NUM_DISTRICTS):
        plot = SIXTH
        if game.side != BACK:
            plot = draw_plot_colour(game, log, district, used)
        game.tiles[district, plot, draw(game, log, bag, FORCED_BUSINESS)] += 1
        refresh_district(game, district)
    for space in range(ROW_SIZE):
        game.row[space] = draw(game, log, bag, FORCED_BUSINESS)
    for business in range(NUM_BUSINESSES):
        bag[business] = 0
    for colour in range(NUM_COLOURS):
        used[colour] = 0


@rule
def deal_cards(game: GameRecord, log: LogRecord) -> None:
    """SET-4, SET-5: deal one card of each colour and four black ones to every seat; then turn up
    the tops.
    """
    for seat in range(game.num_players):
        for colour in range(NUM_COLOURS):
            game.hand[seat, colour, draw(game, log, game.face_down[colour], FORCED_CARD)] += 1
            game.unknown[seat, colour] = 1
        for _ in range(STARTING_BLACK_CARDS):
            game.hand[seat, BLACK, draw(game, log, game.face_down[BLACK], FORCED_CARD)] += 1
        game.unknown[seat, BLACK] = STARTING_BLACK_CARDS
    for colour in range(NUM_COLOURS):
        game.top[colour] = draw(game, log, game.face_down[colour], FORCED_CARD)
        game.unlocated[colour, game.top[colour]] -= 1


@rule
def deal_hidden_cards(game: GameRecord, log: LogRecord) -> None:
    """INF-2: deal the unknown cards of every hand in a task's opening, from the face-down
    cards.
    """
    for seat in range(game.num_players):
        for colour in range(NUM_COLOURS + 1):
            for _ in range(game.unknown[seat, colour]):
                game.hand[seat, colour, draw(game, log, game.face_down[colour], FORCED_CARD)] += 1


@entry_point("setup")
def begin(game: GameRecord, log: LogRecord, seed: int) -> None:
    """Carry out SET-1 to SET-6 on a blank record, or deal the hidden cards of a task's opening.

    Args:
        seed: of the game's stream of chance. NONE: the log has the outcomes; where they run out,
            the stream of seed 0 goes on, but the game has no seed.
    """
    seed_stream(game, seed if seed >= 0 else 0)
    game.seed = seed
    if game.phase != PHASE_START:
        deal_hidden_cards(game, log)
        return
    lay_out_businesses(game, log)
    deal_cards(game, log)


@rule
def starting_seat(players: int, placed: int) -> int:
    """SET-7: return the seat that places the next starting skyscraper after `placed` of them."""
    if placed < players:
        return (players - placed) % players
    return (placed - players + 1) % players


@rule
def legal_starts(game: GameRecord, mask: Array) -> None:
    """SET-8: mark the empty plots; for the second skyscraper, in another district than the
    first.
    """
    for district in range(NUM_DISTRICTS):
        if not stands_in(game, district, game.seat):
            for plot in range(NUM_COLOURS):
                mask[PLOT + NUM_PLOTS * district + plot] = plot_is_empty(game, district, plot)


@rule
def apply_start(game: GameRecord, district: int, plot: int) -> None:
    """SET-7, SET-9: place a starting skyscraper; after the last, seat 0 takes the first turn."""
    game.owner[district, plot] = game.seat
    game.floors[district, plot] = 1
    game.step += 1
    if game.step == STARTING_SKYSCRAPERS * game.num_players:
        begin_turn(game, 0)
    else:
        game.seat = starting_seat(game.num_players, game.step)
