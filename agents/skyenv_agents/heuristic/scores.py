"""Compiled scores of the heuristic agents: the expected VP of every legal action.

:mod:`skyenv_agents.heuristic.features` extracts the features and defines the arguments;
:mod:`skyenv_agents.heuristic.values` and :mod:`skyenv_agents.heuristic.auctions` value actions.
Greedy and the appraiser differ only by `w.appraises` and by weights that are neutral for greedy.
"""

from skyenv.array_types import Int8
from skyenv.engine.knowledge import ViewRecord
from skyenv.rules.actions import (
    BID_DONE,
    BUILD,
    MOVE,
    NUM_ACTIONS,
    OPTION_A,
    OPTION_B,
    OPTION_C,
    OPTION_D,
    PASS,
    PLOT,
    STOP,
    TAKE,
)
from skyenv.rules.auction import allowed_colours, highest_rank
from skyenv.rules.commissioners import next_places
from skyenv.rules.compiling import called_rule, entry_point
from skyenv.rules.components import (
    BLACK,
    CENTRAL_PARK,
    LOWEST_CARD,
    NUM_BUSINESSES,
    NUM_COLOURS,
    NUM_COMMISSIONERS,
    NUM_DISTRICTS,
    NUM_PLACES,
    NUM_PLOTS,
    NUM_RANKS,
    SKYSCRAPERS_PER_OPTION,
)
from skyenv.rules.record import Array
from skyenv.rules.state import (
    NONE,
    PHASE_BID,
    PHASE_BUILD,
    PHASE_MOVE,
    PHASE_OPTION,
    PHASE_PLOT,
    PHASE_START,
    PHASE_TAKE,
    GameRecord,
)
from skyenv_agents.heuristic.auctions import (
    deny_value,
    extract_auction,
    extract_auctions,
    next_card,
    plan_value,
)
from skyenv_agents.heuristic.features import (
    NEVER,
    UNKNOWN_POINTS,
    HeuristicRecord,
    WeightsRecord,
    extract_features,
    extract_prices,
    extract_table,
    park_value,
    ring_size,
)
from skyenv_agents.heuristic.values import (
    best_business,
    best_pair_value,
    business_value,
    card_value,
    drawn_cards,
    entry_value,
    move_value,
    places_value,
    second_card_value,
    stop_value,
    supply_value,
)


@called_rule
def score_starts(game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int) -> None:
    """Score starting plots (SET-8) by value, by cards of their colour in hand and in sight, and by
    the number of others in the district.
    """
    for district in range(NUM_DISTRICTS):
        others = 0
        for seat in range(game.num_players):
            if seat != me and h.plot[district, seat] != NONE:
                others += 1
        for plot in range(NUM_COLOURS):
            value = (
                w.floors * h.value[district, plot] + w.start * h.points[me, plot] - w.crowd * others
            )
            if game.top[plot] != NONE:
                value += w.sight * w.start * (int(game.top[plot]) + LOWEST_CARD)
            for other in range(NUM_DISTRICTS):
                value -= w.same if other != district and h.plot[other, me] == plot else 0.0
            h.score[PLOT + NUM_PLOTS * district + plot] = value


@called_rule
def score_options(
    game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int, mask: Int8
) -> None:
    """Score the options of the first action with the cards of the second one (TURN-1)."""
    extract_moves(game, w, h, me)
    coloured = best_pair_value(game, w, h, me)
    black = h.price[BLACK] * UNKNOWN_POINTS
    supply = int(game.supply[me])
    h.score[OPTION_A] = (
        w.option_a
        + coloured
        + supply_value(w, h, supply + SKYSCRAPERS_PER_OPTION)
        - supply_value(w, h, supply)
    )
    for business in range(NUM_BUSINESSES):
        if mask[OPTION_B + business]:
            h.score[OPTION_B + business] = (
                coloured - w.option_b + best_business(game, w, h, me, business)
            )
    best = NEVER
    for commissioner in range(NUM_COMMISSIONERS):
        for place in range(NUM_PLACES):
            if (next_places(game, commissioner) >> place) & 1 != 0:
                best = max(best, move_value(game, w, h, me, commissioner, place))
    h.score[OPTION_C] = coloured + black + w.option_c * best
    for district in range(NUM_DISTRICTS):
        if mask[OPTION_D + district]:
            h.score[OPTION_D + district] = w.score * h.net[district] + black * drawn_cards(
                game, h, me, district
            )


@called_rule
def extract_moves(game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int) -> None:
    """Write the features for moves: future auctions, and the commissioners' current scorings."""
    extract_auctions(game, w, h, me)
    h.places = (
        places_value(game, w, h, me, int(game.place[0]), int(game.place[1])) if w.appraises else 0.0
    )


@called_rule
def score_plots(game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int) -> None:
    """Score the plots for the business that was taken (BUS-2)."""
    if w.appraises:
        extract_auctions(game, w, h, me)
    for district in range(NUM_DISTRICTS):
        for position in range(ring_size(game)):
            plot = int(game.ring[district, position])
            if h.room[district, plot] > 0:
                value = business_value(game, w, h, me, district, position, int(game.business))
                h.score[PLOT + NUM_PLOTS * district + plot] = value


@called_rule
def score_cards(game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int) -> None:
    """Score the first card with the best second one, or the second card (TURN-4)."""
    for colour in range(NUM_COLOURS):
        if game.top[colour] != NONE:
            value = card_value(game, w, h, me, colour)
            if game.first_colour == NONE:
                value += second_card_value(game, w, h, me, colour)
            h.score[TAKE + colour] = value


@called_rule
def score_moves(
    game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int, mask: Int8
) -> None:
    """Score the commissioners' moves (MOVE-1)."""
    extract_moves(game, w, h, me)
    for commissioner in range(NUM_COMMISSIONERS):
        for place in range(NUM_PLACES):
            action = MOVE + NUM_PLACES * commissioner + place
            if mask[action]:
                h.score[action] = move_value(game, w, h, me, commissioner, place)


@called_rule
def score_bids(game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int) -> None:
    """Score passing and the next card of the cheapest worthwhile bid (AUC-3); the bid ends once it
    is high enough.
    """
    h.score[PASS] = 0.0
    missing = int(game.highest) - int(game.bid_total[me]) + 1
    if missing <= 0:
        h.score[BID_DONE] = 1.0
        return
    if w.appraises:
        extract_table(game, h)
        if game.auction_place != CENTRAL_PARK:
            extract_auction(game, w, h, me, int(game.auction_place))
    best = NEVER
    best_cards = 0
    best_colour = NONE
    deny = deny_value(game, w, h, me)
    colours = allowed_colours(game, me)
    for colour in range(NUM_COLOURS):
        if (colours >> colour) & 1 == 0:
            continue
        for highest in range(int(highest_rank(game, me)), NUM_RANKS):
            value, cards = plan_value(game, w, h, me, colour, highest, missing, deny)
            if cards != 0 and value > best:
                best = value
                best_cards = cards
                best_colour = colour
    if best_colour != NONE:
        h.score[next_card(best_cards, best_colour)] = best


@called_rule
def score_builds(
    game: GameRecord, w: WeightsRecord, h: HeuristicRecord, me: int, mask: Int8
) -> None:
    """Score numbers of skyscrapers to build, and a building stop (AUC-10, STOP-1)."""
    place = int(game.auction_place)
    value = (
        w.park * park_value(game) if place == CENTRAL_PARK else h.value[place, game.bid_colour[me]]
    )
    supply = int(game.supply[me])
    entry = 0.0
    if place != CENTRAL_PARK and h.plot[place, me] == NONE:
        if w.appraises:
            extract_auction(game, w, h, me, place)
        entry = entry_value(game, w, h, me) + h.filling[place]
    for number in range(4):
        if mask[BUILD + number]:
            cost = supply_value(w, h, supply) - supply_value(w, h, supply - number)
            h.score[BUILD + number] = number * value - cost + (entry if number > 0 else 0.0)
    # The park area is no district, and compiled code does no bounds checks if a mask is wrong.
    if mask[STOP] and place != CENTRAL_PARK:
        h.score[STOP] = stop_value(game, h, me, place, me)


@entry_point("scores of heuristic agents")
def score_actions(view: ViewRecord, w: WeightsRecord, h: HeuristicRecord, mask: Int8) -> None:
    """Write the score of every legal action."""
    game = view.game
    me = int(view.seat)
    for action in range(NUM_ACTIONS):
        h.score[action] = NEVER
    extract_features(view, w, h)
    extract_prices(game, w, h, me)
    phase = int(game.phase)
    if phase == PHASE_START:
        score_starts(game, w, h, me)
    elif phase == PHASE_OPTION:
        score_options(game, w, h, me, mask)
    elif phase == PHASE_PLOT:
        score_plots(game, w, h, me)
    elif phase == PHASE_TAKE:
        score_cards(game, w, h, me)
    elif phase == PHASE_MOVE:
        score_moves(game, w, h, me, mask)
    elif phase == PHASE_BID:
        score_bids(game, w, h, me)
    elif phase == PHASE_BUILD:
        score_builds(game, w, h, me, mask)


@called_rule
def choose_best(h: HeuristicRecord, mask: Int8, uniform: float) -> int:
    """Return the legal action with the highest score; the random number breaks ties."""
    best = 2.0 * NEVER
    number = 0
    for action in range(NUM_ACTIONS):
        if mask[action]:
            if h.score[action] > best:
                best = h.score[action]
                number = 0
            number += 1 if h.score[action] == best else 0
    ticket = int(uniform * number)
    for action in range(NUM_ACTIONS):
        if mask[action] and h.score[action] == best:
            if ticket == 0:
                return action
            ticket -= 1
    return NONE


@entry_point("decisions of heuristic agents")
def decide_all(
    views: Array,
    masks: Array,
    uniforms: Array,
    weights: Array,
    heuristic: Array,
    actions: Array,
    scores: Array,
) -> None:
    """Write the best action of every view into `actions`, and all scores into `scores` if it has
    rows.
    """
    for i in range(len(views)):
        score_actions(views[i], weights[0], heuristic[0], masks[i])
        actions[i] = choose_best(heuristic[0], masks[i], uniforms[i])
        if len(scores) > 0:
            for action in range(NUM_ACTIONS):
                scores[i, action] = heuristic[0].score[action]
