"""Features of a view, extracted once before the heuristic agents score actions.

Arguments that the compiled functions of this folder share: `view`, a record of
skyenv.engine.knowledge.VIEW_DTYPE, and its `game`; `w`, a record of
:data:`skyenv_agents.heuristic.player.WEIGHTS_DTYPE`; `h`, a record of HEURISTIC_DTYPE; `me`, the
seat that decides.
"""

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from skyenv.engine.knowledge import ViewRecord
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.compiling import called_rule, entry_point
from skyenv.rules.components import (
    BLACK,
    BUSINESSES_TO_PLACE,
    LOWEST_CARD,
    MAX_PLAYERS,
    MAX_TILES_ON_PLOT,
    NUM_BUSINESSES,
    NUM_COLOURS,
    NUM_COMMISSIONERS,
    NUM_DISTRICTS,
    NUM_PLOTS,
    NUM_RANKS,
)
from skyenv.rules.record import F64, I8, I64, Record, field
from skyenv.rules.scoring import district_vp, tiles_on_plot, types_on_plot
from skyenv.rules.state import BID_BLACK, BID_COLOURED, NONE, GameRecord

UNKNOWN_POINTS: Final = 4.8  # mean value of an unknown card
MAX_POINTS: Final = 40  # larger raises are not considered
# Expected VP of a skyscraper in the park area by number of business types there (END-3).
PARK_VALUE: Final = np.array([1.6, 2.3, 2.9, 3.4, 3.9])
NEXT_STEP: Final = np.array([0.0, 1.0, 1.0, 2.0, 0.0, 3.0, 0.0, 0.0, 0.0])
"""Increase of a plot's value by one more type, by its value (SCO-2)."""
# Turns of each player after which bringing the end nearer gains value for all seats, so that games
# end; most games take a quarter of them.
PATIENT_TURNS: Final = 40
PATIENCE: Final = 0.5  # this value, for each further turn
NEVER: Final = -1e9  # score of an excluded action


class HeuristicRecord(Record):
    """The features and scores of one decision."""

    score = field(F64, (NUM_ACTIONS,))  # [action] → expected VP, of legal actions only
    left = field(F64)  # share of the game that is left
    scorings = field(F64)  # expected scorings of a district, the final one included
    push = field(F64)  # value of bringing the end nearer by a business or a stop
    point = field(F64)  # value of a point of a coloured card in my hand
    price = field(F64, (6,))  # [card colour] → value of a point that is paid for a bid
    rival = field(F64, (MAX_PLAYERS,))  # [seat] → weight of its VP against me
    standing = field(F64, (MAX_PLAYERS,))  # [seat] → VP if the game ended now
    delta = field(F64, (MAX_PLAYERS,))  # [seat] → change of its standing by an action
    win = field(F64, (MAX_PLAYERS,))  # [seat] → win probability, where it is computed
    presence = field(I8, (MAX_PLAYERS,))  # [seat] → districts with its skyscrapers
    points = field(F64, (MAX_PLAYERS, 6))  # [seat, card colour] → points in hand, as far as I know
    types = field(I8, (7, 6))  # [district, plot] → bit mask of the businesses there
    room = field(I8, (7, 6))  # [district, plot] → free spaces for businesses
    plot = field(I8, (7, MAX_PLAYERS))  # [district, seat] → plot with its skyscrapers, or NONE
    empty = field(I8, (7,))  # [district] → empty plots
    # [district, plot] → expected VP of a skyscraper there by all scorings
    value = field(F64, (7, 5))
    net = field(F64, (7,))  # [district] → my VP of a scoring minus those of the others
    # [district or CENTRAL_PARK] → expected value for me of an auction there
    auction = field(F64, (8,))
    filling = field(F64, (7,))  # [district] → value for me of filling an empty plot
    places = field(F64)  # value of the commissioners' current places
    # [points] → cost of the cheapest cards, while a bid is planned
    cost = field(F64, (MAX_POINTS + 8,))
    # [points] → these cards: 5 bits for the number of each, in laying order
    cards = field(I64, (MAX_POINTS + 8,))


HEURISTIC_DTYPE: Final = HeuristicRecord.dtype


class WeightsRecord(Record):
    """One record of :data:`skyenv_agents.heuristic.player.WEIGHTS_DTYPE`, whose names stand in
    ``weights.toml``.
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> float: ...


@entry_point("features of heuristic agents")
def extract_features(view: ViewRecord, w: WeightsRecord, h: HeuristicRecord) -> None:
    """Write the features of a view."""
    game = view.game
    me = int(view.seat)
    extract_board(game, w, h)
    extract_rivals(game, w, h, me)
    for district in range(NUM_DISTRICTS):
        h.net[district] = net_vp(game, h, district, me)
        h.filling[district] = 0.0
    h.push = push_value(game, w, h, me)
    extract_hands(view, w, h, me)


@called_rule
def extract_board(game: GameRecord, w: WeightsRecord, h: HeuristicRecord) -> None:
    """Write the features common to all seats: the share of the game left, presence, and plot
    values.
    """
    h.left = (
        (BUSINESSES_TO_PLACE - int(game.placed))
        / BUSINESSES_TO_PLACE
        * (w.haste if game.stops > 0 else 1.0)
    )
    h.scorings = 1.0 + w.scorings * h.left
    for seat in range(MAX_PLAYERS):
        h.presence[seat] = 0
        h.delta[seat] = 0.0
        h.standing[seat] = int(game.score[seat]) + int(game.park[seat]) * park_value(game)
    for district in range(NUM_DISTRICTS):
        extract_district(game, w, h, district)


@called_rule
def park_value(game: GameRecord) -> float:
    """Return the expected VP of a skyscraper in the park area (END-3)."""
    types = 0
    for business in range(NUM_BUSINESSES):
        types += 1 if game.park_tiles[business] > 0 else 0
    return float(PARK_VALUE[types])


@called_rule
def extract_district(game: GameRecord, w: WeightsRecord, h: HeuristicRecord, district: int) -> None:
    """Write a district's presence, room and value of a skyscraper on every plot."""
    for seat in range(MAX_PLAYERS):
        h.plot[district, seat] = NONE
    h.empty[district] = 0
    for plot in range(NUM_PLOTS):
        tiles = tiles_on_plot(game, district, plot)
        owner = int(game.owner[district, plot]) if plot < NUM_COLOURS else NONE
        h.types[district, plot] = types_on_plot(game, district, plot)
        h.room[district, plot] = (
            0 if owner != NONE or game.stopped[district] else MAX_TILES_ON_PLOT - tiles
        )
        if 0 <= owner < MAX_PLAYERS:
            h.plot[district, owner] = plot
            h.presence[owner] += 1
            h.standing[owner] += int(game.floors[district, plot]) * int(game.value[district, plot])
        elif owner == NONE and tiles == 0 and plot < NUM_COLOURS and game.stopped[district] == 0:
            h.empty[district] += 1
    for position in range(ring_size(game)):
        plot = int(game.ring[district, position])
        if plot < NUM_COLOURS:
            room = int(h.room[district, neighbour(game, district, position, -1)])
            room += int(h.room[district, neighbour(game, district, position, 1)])
            h.value[district, plot] = h.scorings * grown_value(
                w, h, int(game.value[district, plot]), room
            )


@called_rule
def ring_size(game: GameRecord) -> int:
    """Return the number of plots in a ring (COM-6, COM-9)."""
    return NUM_PLOTS if game.ring[0, NUM_PLOTS - 1] != NONE else NUM_COLOURS


@called_rule
def neighbour(game: GameRecord, district: int, position: int, step: int) -> int:
    """Return the plot next to a position of the ring."""
    size = ring_size(game)
    return int(game.ring[district, (position + step + size) % size])


@called_rule
def grown_value(w: WeightsRecord, h: HeuristicRecord, value: int, room: int) -> float:
    """Return a plot's value with the expected addition of further businesses (SCO-2)."""
    return float(value + w.growth * h.left * room * NEXT_STEP[value])


@called_rule
def best_other_standing(game: GameRecord, h: HeuristicRecord, me: int) -> float:
    """Return the best other seat's VP if the game ended now, after the changes in `h.delta`."""
    best = NEVER
    for seat in range(game.num_players):
        if seat != me:
            best = max(best, h.standing[seat] + h.delta[seat])
    return best


@called_rule
def extract_rivals(game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int) -> None:
    """Write the weights of the other seats' VP; the best other seat's count most."""
    players = int(game.num_players)
    best = best_other_standing(game, h, me)
    total = 0.0
    for seat in range(MAX_PLAYERS):
        h.rival[seat] = 0.0
        if seat < players and seat != me:
            h.rival[seat] = math.exp((h.standing[seat] - best) / w.chase)
            total += h.rival[seat]
    rivalry = w.rivalry if players > 2 else 1.0
    for seat in range(MAX_PLAYERS):
        h.rival[seat] *= rivalry / total


@called_rule
def net_vp(game: GameRecord, h: HeuristicRecord, district: int, me: int) -> float:
    """Return my VP of a scoring minus those of the others (SCO-2)."""
    vp = float(district_vp(game, district, me))
    for seat in range(game.num_players):
        if seat != me:
            vp -= h.rival[seat] * district_vp(game, district, seat)
    return vp


@called_rule
def push_value(game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int) -> float:
    """Return the value of bringing the end nearer."""
    ahead = min(max((h.standing[me] - best_other_standing(game, h, me)) / 30.0, -1.0), 1.0)
    scoring = 0.0
    for district in range(NUM_DISTRICTS):
        scoring += h.net[district]
    late = max(int(game.turns) - PATIENT_TURNS * int(game.num_players), 0)
    return float(w.push * ahead * (1.0 - h.left) - w.clock * scoring + PATIENCE * late)


@called_rule
def extract_hands(view: ViewRecord, w: WeightsRecord, h: HeuristicRecord, me: int) -> None:
    """Write the points in all hands by colour, and the value of a point in mine."""
    game = view.game
    number = 0
    for seat in range(game.num_players):
        for colour in range(NUM_COLOURS + 1):
            points = view.unknown[seat, colour] * UNKNOWN_POINTS
            for rank in range(NUM_RANKS):
                points += int(game.hand[seat, colour, rank]) * (rank + LOWEST_CARD)
                if seat == me:
                    number += int(game.hand[seat, colour, rank])
            h.points[seat, colour] = points
    h.point = point_value(w, h, number)


@called_rule
def point_value(w: WeightsRecord, h: HeuristicRecord, number: int) -> float:
    """Return the value of a coloured card's point in a hand of `number` cards; it falls with their
    number and late in the game.
    """
    return float(w.point * (w.late + (1.0 - w.late) * h.left) / (1.0 + w.sated * number))


@called_rule
def extract_prices(game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int) -> None:
    """Write the value of a point by colour in my hand; it grows with the plots that the colour
    could win elsewhere.
    """
    most = 0.0
    for colour in range(NUM_COLOURS):
        wanted = 0.0
        if w.wanted > 0.0:
            for district in range(NUM_DISTRICTS):
                if district != game.auction_place and is_open_to(game, h, me, district, colour):
                    wanted = max(
                        wanted, nearness(game, district, w.far) * h.value[district, colour]
                    )
        most = max(most, wanted)
        h.price[colour] = h.point * (1.0 + w.wanted * wanted)
    h.price[BLACK] = h.point * w.black * (1.0 + w.wanted * most)


@called_rule
def extract_table(game: GameRecord, h: HeuristicRecord) -> None:
    """Add the cards on the table to those that a seat can bid (AUC-7)."""
    for seat in range(game.num_players):
        for rank in range(NUM_RANKS):
            value = rank + LOWEST_CARD
            coloured = int(game.bid_cards[seat, BID_COLOURED, rank])
            if game.bid_colour[seat] != NONE:
                h.points[seat, game.bid_colour[seat]] += value * coloured
            h.points[seat, BLACK] += value * int(game.bid_cards[seat, BID_BLACK, rank])


@called_rule
def is_open_to(game: GameRecord, h: HeuristicRecord, me: int, district: int, colour: int) -> bool:
    """Return whether I can build on the plot of a colour in a district (AUC-5, AUC-11)."""
    if game.stopped[district]:
        return False
    own = int(h.plot[district, me])
    return own == colour or (
        own == NONE and game.owner[district, colour] == NONE and h.types[district, colour] == 0
    )


@called_rule
def nearness(game: GameRecord, district: int, far: float) -> float:
    """Return 1 if a commissioner or marker in a district makes its auction likely, else `far`."""
    for commissioner in range(NUM_COMMISSIONERS):
        if game.place[commissioner] == district:
            return 1.0
        for i in range(game.markers[commissioner]):
            if game.visited[commissioner, i] == district:
                return 1.0
    return far
