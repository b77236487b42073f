"""Derived features of a position for networks, seat by seat.

They are each seat's gain by the scoring of a district, its likely bid in an auction, and the value
of the current auction. Such features combine a seat, a district and a colour, which networks find
hard to learn.

Many functions share these arguments: `game`, an unfinished position; `h`, its features by
:func:`skyenv_agents.heuristic.features.extract_features` (from a seat's view) or, with open hands,
by `extract_board` and :func:`skyenv_agents.search.leaf_network.extract_open_hands`; `x`, float32,
the output, with most inputs from −1 to 1.
"""

import math
from typing import Final

from skyenv.array_types import Float32
from skyenv.engine.knowledge import ViewRecord
from skyenv.rules.auction import highest_rank
from skyenv.rules.commissioners import next_places
from skyenv.rules.compiling import called_rule, rule
from skyenv.rules.components import (
    BLACK,
    BONUS_DISTRICTS,
    BONUS_EVERY,
    BONUS_VP,
    BUILD_LIMIT,
    BUSINESSES_TO_PLACE,
    CENTRAL_PARK,
    CITY_HALL,
    MAX_PLAYERS,
    NUM_COLOURS,
    NUM_COMMISSIONERS,
    NUM_DISTRICTS,
    NUM_RANKS,
)
from skyenv.rules.state import ALEA_OUT, ALEA_STANDS, NONE, PHASE_BUILD, GameRecord
from skyenv_agents.heuristic.features import (
    HeuristicRecord,
    is_open_to,
    park_value,
)

DISTRICT_INPUTS: Final = 21  # inputs by district and seat
SEAT_INPUTS: Final = 69  # further inputs by seat
# Number of inputs of all seats.
NUM_POSITION_INPUTS: Final = MAX_PLAYERS * (SEAT_INPUTS + NUM_DISTRICTS * DISTRICT_INPUTS)


@rule
def write(x: Float32, first: int, values: tuple[float, ...]) -> None:
    """Write some inputs from index `first` on."""
    for i in range(len(values)):
        x[first + i] = values[i]


@called_rule
def seat_vp(game: GameRecord, h: HeuristicRecord, district: int, seat: int) -> float:
    """Return a seat's VP if the district is scored now (SCO-2), by the features."""
    plot = int(h.plot[district, seat])
    return (
        0.0
        if plot == NONE
        else float(int(game.floors[district, plot]) * int(game.value[district, plot]))
    )


@called_rule
def lead_vp(game: GameRecord, h: HeuristicRecord, district: int, seat: int) -> float:
    """Return a seat's lead over the best other one by a district's scoring now (SCO-2)."""
    best = 0.0
    for other in range(game.num_players):
        if other != seat:
            best = max(best, seat_vp(game, h, district, other))
    return seat_vp(game, h, district, seat) - best


@called_rule
def write_district(
    game: GameRecord, h: HeuristicRecord, district: int, seat: int, x: Float32
) -> None:
    """Write the inputs of a district that is not stopped."""
    mine = seat_vp(game, h, district, seat)
    net = lead_vp(game, h, district, seat)
    own = int(h.plot[district, seat])
    floors = int(game.floors[district, own]) if own != NONE else 0
    all_floors = 0
    points = 0.0
    value = 0.0
    rival_points = 0.0
    others = 0
    for plot in range(NUM_COLOURS):
        all_floors += int(game.floors[district, plot])
        if is_open_to(game, h, seat, district, plot):
            points = max(points, h.points[seat, plot])
            value = max(value, h.value[district, plot])
        for other in range(game.num_players):
            if other != seat and is_open_to(game, h, other, district, plot):
                rival_points = max(rival_points, h.points[other, plot] + h.points[other, BLACK])
    for other in range(game.num_players):
        others += 1 if other != seat and h.plot[district, other] != NONE else 0
    commissioners = 0
    markers = 0
    called = 0
    for commissioner in range(NUM_COMMISSIONERS):
        commissioners += 1 if game.place[commissioner] == district else 0
        for i in range(game.markers[commissioner]):
            if game.visited[commissioner, i] == district:
                markers += 1
                called += 1 if game.place[commissioner] >= CENTRAL_PARK else 0
    stands = 1.0 if own != NONE else 0.0
    empty = int(h.empty[district])
    write(
        x,
        0,
        (
            stands,
            mine / 10.0,
            (mine - net) / 10.0,
            net / 10.0,
            floors / 4.0,
            all_floors / 8.0,
            float(others),
            empty / 5.0,
            1.0 if empty == 0 else 0.0,
            1.0 if empty == 1 else 0.0,
            value / 8.0 * stands,
            value / 8.0 * (1.0 - stands),
            floors * value / 20.0,
            float(commissioners),
            float(markers),
            float(called),  # its auction comes next
            points / 15.0,
            (points + h.points[seat, BLACK] if points > 0.0 else 0.0) / 25.0,
            rival_points / 25.0,
            1.0 if game.auction_place == district else 0.0,
            float(h.left),
        ),
    )


@called_rule
def write_seat(game: GameRecord, h: HeuristicRecord, seat: int, x: Float32) -> None:
    """Write the further inputs of a seat: holdings, turn and current auction."""
    for i in range(SEAT_INPUTS):
        x[i] = 0.0
    write_holdings(game, h, seat, x)
    write_turn(game, h, seat, x)
    if game.auction_place != NONE:
        write_auction(game, h, seat, x)


@called_rule
def clipped(value: float) -> float:
    """Return the value clipped to −1 … 1."""
    return max(-1.0, min(1.0, value))


@called_rule
def write_holdings(game: GameRecord, h: HeuristicRecord, seat: int, x: Float32) -> None:
    """Write a seat's holdings, also relative to the best other seat; x[0 … 26]."""
    best_score = -math.inf
    best_standing = -math.inf
    most_points = 0.0
    for other in range(game.num_players):
        if other != seat:
            best_score = max(best_score, float(game.score[other]))
            best_standing = max(best_standing, h.standing[other])
            points = 0.0
            for colour in range(NUM_COLOURS + 1):
                points += h.points[other, colour]
            most_points = max(most_points, points)
    cards = 0
    coloured = 0.0
    most = 0.0
    for colour in range(NUM_COLOURS + 1):
        for rank in range(NUM_RANKS):
            cards += int(game.hand[seat, colour, rank])
        if colour != BLACK:
            coloured += h.points[seat, colour]
            most = max(most, h.points[seat, colour])
    black = h.points[seat, BLACK]
    ahead = h.standing[seat] - best_standing
    placed = int(game.placed)
    bonus = placed // BONUS_EVERY
    missing = 0
    special = 0.0
    if bonus < len(BONUS_VP):
        missing = max(0, int(BONUS_DISTRICTS[bonus]) - int(h.presence[seat]))
        special = BONUS_VP[bonus] / 8.0 if missing == 0 else 0.0
    write(
        x,
        0,
        (
            float(h.left),
            float(game.stops),
            (game.score[seat] - best_score) / 20.0,
            ahead / 20.0,
            ahead * (1.0 - h.left) / 10.0,
            clipped(ahead / 6.0) * (1.0 - h.left),
            clipped(ahead / 3.0) if placed >= BUSINESSES_TO_PLACE - 2 else 0.0,
            clipped(ahead / 6.0) * game.stops,
            h.standing[seat] / 50.0,
            game.supply[seat] / 6.0,
            1.0 if game.supply[seat] == 0 else 0.0,
            1.0 if game.supply[seat] >= BUILD_LIMIT[0] else 0.0,
            game.general[seat] / 12.0,
            coloured / 40.0,
            black / 40.0,
            cards / 10.0,
            most / 20.0,
            (coloured + black - most_points) / 40.0,
            (coloured + black) * h.left / 40.0,
            h.presence[seat] / 7.0,
            special,
            missing * (placed % BONUS_EVERY + 1) / 6.0,
            placed % BONUS_EVERY / 2.0,
            game.park[seat] / 4.0,
            game.park[seat] * park_value(game) / 10.0,
            float(game.side),
            1.0 if placed == BUSINESSES_TO_PLACE - 1 else 0.0,
        ),
    )


@called_rule
def write_turn(game: GameRecord, h: HeuristicRecord, seat: int, x: Float32) -> None:
    """Write the turn, and the scorings that the commissioners offer now and after a move;
    x[27 … 53].
    """
    players = int(game.num_players)
    mine = game.turn_seat == seat
    x[27 + (seat - int(game.turn_seat) + players) % players] = 1.0  # turns until its own: 27 … 30
    # 31 … 37: it decides, by phase; 38: another seat decides
    x[31 + (int(game.phase) if game.seat == seat else 7)] = 1.0
    x[39 + min(max(int(game.step), 1), 3) - 1 + (0 if mine else 3)] = 1.0  # 39 … 44
    first = 1.0 if mine and game.option == NONE else 0.0
    now = 0.0
    worst = 0.0
    soon = 0.0
    parks = 0.0
    halls = 0.0
    for commissioner in range(NUM_COMMISSIONERS):
        place = int(game.place[commissioner])
        parks += 1.0 if place == CENTRAL_PARK else 0.0
        halls += 1.0 if place == CITY_HALL else 0.0
        if place < NUM_DISTRICTS and game.stopped[place] == 0:
            net = lead_vp(game, h, place, seat)
            now = max(now, net)
            worst = min(worst, net)
        places = next_places(game, commissioner)
        for district in range(NUM_DISTRICTS):
            if (places >> district) & 1 != 0:
                soon = max(soon, lead_vp(game, h, district, seat))
    total = 0.0
    for district in range(NUM_DISTRICTS):
        if game.stopped[district] == 0:
            total += lead_vp(game, h, district, seat)
    write(
        x,
        45,
        (
            first,
            now / 10.0,
            now * first / 10.0,
            worst / 10.0,
            soon / 10.0,
            parks,
            halls,
            parks * first,
            total / 20.0,
        ),
    )


@called_rule
def write_auction(game: GameRecord, h: HeuristicRecord, seat: int, x: Float32) -> None:
    """Write a seat's current bid, likely bid and gain in the current auction; x[54 … 68]."""
    place = int(game.auction_place)
    park = place == CENTRAL_PARK
    value = park_value(game) if park else 0.0
    points = 0.0
    for colour in range(NUM_COLOURS):
        if park or is_open_to(game, h, seat, place, colour):
            points = max(points, h.points[seat, colour])
            value = max(value, h.value[place, colour] if not park else 0.0)
    if game.bid_colour[seat] != NONE:
        points = h.points[seat, game.bid_colour[seat]]
    out = game.out[seat] != 0
    beyond = points + h.points[seat, BLACK] - (game.highest - game.bid_total[seat])
    gain = 0.0
    if game.highest_bidder == seat:
        gain = min(int(BUILD_LIMIT[int(highest_rank(game, seat))]), int(game.supply[seat])) * value
    write(
        x,
        54,
        (
            1.0,
            1.0 if park else 0.0,
            game.bid_total[seat] / 20.0,
            game.highest / 20.0,
            1.0 if game.alea == ALEA_STANDS else 0.0,
            1.0 if game.alea == ALEA_OUT else 0.0,
            game.markers[game.auction_commissioner] / 3.0,
            1.0 if not park and h.empty[place] == 0 else 0.0,
            1.0 if out else 0.0,
            0.0 if out else value / 10.0,
            0.0 if out else points / 20.0,
            0.0 if out else clipped(beyond / 10.0),
            1.0 if game.highest_bidder == seat else 0.0,
            gain / 20.0,
            gain / 20.0 if game.phase == PHASE_BUILD else 0.0,
        ),
    )


@called_rule
def write_position(view: ViewRecord, h: HeuristicRecord, x: Float32) -> None:
    """Write the inputs of a view, from its own seat on.

    Each seat has SEAT_INPUTS, then DISTRICT_INPUTS for each district; zeros for missing seats and
    stopped districts.
    """
    size = SEAT_INPUTS + NUM_DISTRICTS * DISTRICT_INPUTS
    game = view.game
    players = int(game.num_players)
    for k in range(NUM_POSITION_INPUTS):
        x[k] = 0.0
    for k in range(players):
        seat = (int(view.seat) + k) % players
        own = x[k * size : (k + 1) * size]
        write_seat(game, h, seat, own[:SEAT_INPUTS])
        for district in range(NUM_DISTRICTS):
            if game.stopped[district] == 0:
                start = SEAT_INPUTS + district * DISTRICT_INPUTS
                write_district(game, h, district, seat, own[start : start + DISTRICT_INPUTS])
