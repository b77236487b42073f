"""SCO, END: values of plots, scoring of districts, and the end of the game."""

from skyenv.rules.cards import cards_in_hand, deal_black
from skyenv.rules.chance import draw
from skyenv.rules.compiling import called_rule, rule
from skyenv.rules.components import (
    CENTRAL_PARK,
    MAX_PLAYERS,
    NUM_BUSINESSES,
    NUM_COLOURS,
    NUM_DISTRICTS,
    NUM_PLOTS,
    PLOT_VALUE,
    TILES_TURNED_UP,
)
from skyenv.rules.event_log import (
    EVENT_END,
    EVENT_PARK,
    EVENT_VP,
    FORCED_BUSINESS,
    WHY_DISTRICT,
    WHY_FINAL,
    WHY_PARK,
    LogRecord,
    report,
    report_more,
)
from skyenv.rules.state import END_TASK, END_TRUNCATED, NONE, PHASE_OVER, GameRecord


@rule
def types_on_plot(game: GameRecord, district: int, plot: int) -> int:
    """Return a bit mask of the business types on a plot."""
    types = 0
    for business in range(NUM_BUSINESSES):
        if game.tiles[district, plot, business] > 0:
            types |= 1 << business
    return types


@rule
def tiles_on_plot(game: GameRecord, district: int, plot: int) -> int:
    """Return the number of businesses on a plot, 0 to 2."""
    number = 0
    for business in range(NUM_BUSINESSES):
        number += int(game.tiles[district, plot, business])
    return number


@rule
def plot_is_empty(game: GameRecord, district: int, plot: int) -> bool:
    """Return whether a coloured plot holds neither skyscrapers nor businesses."""
    return game.owner[district, plot] == NONE and tiles_on_plot(game, district, plot) == 0


@rule
def count_types(types: int) -> int:
    """Return the number of types in a bit mask of business types."""
    number = 0
    for business in range(NUM_BUSINESSES):
        number += (types >> business) & 1
    return number


@rule
def refresh_district(game: GameRecord, district: int) -> None:
    """SCO-2: recompute the values of the district's plots after a change of its businesses; all 0
    once it is stopped.
    """
    size = NUM_PLOTS if game.ring[district, NUM_PLOTS - 1] != NONE else NUM_COLOURS
    for position in range(size):
        plot = int(game.ring[district, position])
        if plot >= NUM_COLOURS:
            continue
        before = game.ring[district, (position + size - 1) % size]
        after = game.ring[district, (position + 1) % size]
        types = types_on_plot(game, district, before) | types_on_plot(game, district, after)
        game.value[district, plot] = 0 if game.stopped[district] else PLOT_VALUE[count_types(types)]


@rule
def district_vp(game: GameRecord, district: int, seat: int) -> int:
    """SCO-2: return the VP of a seat if the district is scored now."""
    vp = 0
    for plot in range(NUM_COLOURS):
        if game.owner[district, plot] == seat:
            vp += int(game.floors[district, plot]) * int(game.value[district, plot])
    return vp


@rule
def vp_if_scored(game: GameRecord, seat: int) -> int:
    """Return the VP of a seat if every district were scored now (SCO-2)."""
    vp = int(game.score[seat])
    for district in range(NUM_DISTRICTS):
        vp += district_vp(game, district, seat)
    return vp


@rule
def stands_in(game: GameRecord, district: int, seat: int) -> bool:
    """Return whether a seat (or Alea) has a skyscraper in the district."""
    for plot in range(NUM_COLOURS):
        if game.owner[district, plot] == seat:
            return True
    return False


@rule
def award(game: GameRecord, log: LogRecord, seat: int, vp: int) -> None:
    """Add VP to a seat's score, and write them into the last event, an EVENT_VP."""
    game.score[seat] += vp
    report_more(log, 2 + seat, vp)


@called_rule
def award_district(game: GameRecord, log: LogRecord, why: int, district: int) -> None:
    """SCO-2: award every seat its VP for the district."""
    report(log, EVENT_VP, why, district)
    for seat in range(MAX_PLAYERS):
        award(game, log, seat, district_vp(game, district, seat))


@rule
def score_district(game: GameRecord, log: LogRecord, district: int) -> None:
    """SCO-1 to SCO-3: carry out option D's first two actions, with a card for every seat without a
    skyscraper there.
    """
    seat = int(game.turn_seat)
    award_district(game, log, WHY_DISTRICT, district)
    deal_black(game, log, seat)
    deal_black(game, log, seat)
    players = int(game.num_players)
    for i in range(players):
        other = (seat + i) % players
        if not stands_in(game, district, other):
            deal_black(game, log, other)


@rule
def score_park(game: GameRecord, log: LogRecord) -> None:
    """END-3: turn up three tiles of the park area and award every skyscraper there by their
    types.
    """
    types = 0
    number = 0
    turned = 0
    for _ in range(TILES_TURNED_UP):
        business = draw(game, log, game.park_tiles, FORCED_BUSINESS)
        if business == NONE:
            break
        types |= 1 << business
        turned |= (business + 1) << (3 * number)
        number += 1
    for i in range(number):
        game.park_tiles[((turned >> (3 * i)) & 7) - 1] += 1
    report(log, EVENT_PARK, number, 0)
    for i in range(3):
        report_more(log, 1 + i, ((turned >> (3 * i)) & 7) - 1)
    vp = int(PLOT_VALUE[count_types(types)])
    report(log, EVENT_VP, WHY_PARK, CENTRAL_PARK)
    for seat in range(MAX_PLAYERS):
        award(game, log, seat, int(game.park[seat]) * vp)


@called_rule
def finish(game: GameRecord, log: LogRecord, reason: int) -> None:
    """END-1 to END-3, END-5: end the game; unless it was truncated or a task, score everything once
    more.
    """
    if reason not in (END_TRUNCATED, END_TASK):
        for district in range(NUM_DISTRICTS):
            if game.stopped[district] == 0:
                award_district(game, log, WHY_FINAL, district)
        score_park(game, log)
    game.phase = PHASE_OVER
    game.end = reason
    game.seat = NONE
    report(log, EVENT_END, reason, 0)


@rule
def winners(game: GameRecord) -> int:
    """END-4: return a bit mask of the seats with the most VP and, among those, the most cards in
    hand.
    """
    best_score = game.score[0]
    best_cards = -1
    seats = 0
    for seat in range(game.num_players):
        cards = cards_in_hand(game, seat)
        if game.score[seat] > best_score or (game.score[seat] == best_score and cards > best_cards):
            best_score = game.score[seat]
            best_cards = cards
            seats = 1 << seat
        elif game.score[seat] == best_score and cards == best_cards:
            seats |= 1 << seat
    return seats
