"""The compiled judgement of :class:`agents.appraiser.AppraiserAgent`, built on greedy's (:mod:`agents.judgement`).

It differs from greedy's where greedy is weak: whose auction it will be is judged by what each bidder could bid and by what
winning is worth to him; a district that fills up is looked at as one that can be stopped; cards are priced by the plots that
they are wanted for; and a move is judged by the best scoring that both commissioners leave to everyone.

Arguments are named as in :mod:`agents.judgement`; `w` has a field for each of :class:`agents.appraiser.Weights`, `m` is a
record of APPRAISAL_DTYPE.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from agents import judgement
from agents.judgement import (
    ALEA_POINTS,
    MIND_DTYPE,
    NEVER,
    UNKNOWN_POINTS,
    AgentEntryPoints,
    best_empty_worth,
    best_pair,
    block_worth,
    building_worth,
    cheapest_cards,
    choose,
    drawn_cards,
    end_worth,
    entry_worth,
    highest_on_table,
    is_near,
    judge_cards,
    look,
    neighbour_worth,
    next_card,
    park_value,
    ring_size,
    stop_worth,
    supply_worth,
    thought,
)
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
)
from skyenv.rules.auction import allowed_colours
from skyenv.rules.businesses import bonus_vp
from skyenv.rules.commissioners import next_places
from skyenv.rules.components import (
    BLACK,
    BONUS_EVERY,
    BUILD_LIMIT,
    BUSINESSES_TO_PLACE,
    CENTRAL_PARK,
    CITY_HALL,
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
from skyenv.rules.scoring import district_vp
from skyenv.rules.state import (
    ALEA,
    ALEA_WAITS,
    NONE,
    PHASE_BID,
    PHASE_BUILD,
    PHASE_MOVE,
    PHASE_OPTION,
    PHASE_PLOT,
    PHASE_START,
    PHASE_TAKE,
    Record,
)

MOST_RESERVED: Final = 30.0
"""Points above which a reservation makes no difference."""

APPRAISAL_DTYPE: Final = np.dtype(
    [
        *((name, MIND_DTYPE[name].base, MIND_DTYPE[name].shape) for name in MIND_DTYPE.names or ()),
        ("price", np.float64, (6,)),  # [card colour] → what a point of such a card in my hand is worth
        ("filling", np.float64, (7,)),  # what filling one more empty plot of the district means to me
        ("commissioners", np.float64),  # what the commissioners' present places are worth
    ],
    align=True,
)
"""What the player has in mind for one decision."""


# ---- looking at the position ----


@thought
def look_at_prices(game: Record, w: Record, m: Record, me: int) -> None:
    """What a point of a card of each colour in my hand is worth: more, the more plots it could win elsewhere."""
    most = 0.0
    for colour in range(NUM_COLOURS):
        wanted = 0.0
        for district in range(NUM_DISTRICTS):
            if game.stopped[district] or district == game.auction_place:
                continue
            own = int(m.plot[district, me])
            empty = own == NONE and game.owner[district, colour] == NONE and m.types[district, colour] == 0
            if own == colour or empty:
                near = 1.0 if is_near(game, district) else w.far
                wanted = max(wanted, near * m.worth[district, colour])
        most = max(most, wanted)
        m.price[colour] = m.point * (1.0 + w.wanted * wanted)
    m.price[BLACK] = m.point * w.black * (1.0 + w.wanted * most)


@thought
def look_at_table(game: Record, m: Record) -> None:
    """AUC-7: cards on the table still count among those that a seat can bid."""
    for seat in range(game.num_players):
        for rank in range(NUM_RANKS):
            value = rank + LOWEST_CARD
            if game.bid_colour[seat] != NONE:
                m.points[seat, game.bid_colour[seat]] += value * int(game.bid_cards[seat, 0, rank])
            m.points[seat, BLACK] += value * int(game.bid_cards[seat, 1, rank])


@thought
def look_at_auctions(game: Record, w: Record, m: Record, me: int) -> None:
    """What an auction in every district, and in the park area, should bring me, and what filling a plot there means."""
    for district in range(NUM_DISTRICTS):
        m.outlook[district] = 0.0
        m.filling[district] = 0.0
        if game.stopped[district]:
            continue
        m.outlook[district] = outlook(game, w, m, me, district)
        m.filling[district] = fill_worth(game, w, m, me, district, m.outlook[district])
    m.outlook[CENTRAL_PARK] = park_outlook(game, w, m, me)


@thought
def outlook(game: Record, w: Record, m: Record, me: int, district: int) -> float:
    """What the auction of a district should bring me: every bidder wins with a chance that grows with what he would bid."""
    chances = 0.0
    worth = 0.0
    for seat in range(game.num_players):
        points, gain = reservation(game, w, m, me, district, seat)
        if points > 0.0:
            chance = math.exp(points / w.sharp)
            chances += chance
            worth += chance * (max(gain - m.point * w.target, 0.0) if seat == me else gain)
    if game.num_players == 2:
        chance = math.exp(ALEA_POINTS / w.sharp)
        chances += chance
        worth += chance * alea_effect(game, w, m, me, district)
    return worth / chances if chances > 0.0 else 0.0


@thought
def fill_worth(game: Record, w: Record, m: Record, me: int, district: int, now: float) -> float:
    """STOP-1: what filling one more empty plot means to me: a full district can be stopped; `now` is the outlook there."""
    empty = int(m.empty[district])
    if empty == 0 or empty > 2:
        return 0.0
    m.empty[district] = 0
    full = outlook(game, w, m, me, district)
    m.empty[district] = empty
    share = w.full if empty == 1 else w.fuller
    return float(share * (1.0 if is_near(game, district) else w.remote) * (full - now))


@thought
def alea_effect(game: Record, w: Record, m: Record, me: int, district: int) -> float:
    """ALEA-6, ALEA-7: what it means to me that Alea wins the auction of a district."""
    if m.empty[district] == 0:
        return stop_worth(game, w, m, me, district, ALEA)
    worth = -w.alea * best_empty_worth(game, m, district) if m.plot[district, me] == NONE else 0.0
    return float(worth)


@thought
def reservation(game: Record, w: Record, m: Record, me: int, district: int, seat: int) -> tuple[float, float]:
    """AUC-4, AUC-5: how many points a seat would bid at most in a district, and what its winning means to me.

    It bids in the colour in which it would go highest: no more than it has, as far as I know, and no more than it is worth.
    """
    own = int(m.plot[district, seat])
    full = m.empty[district] == 0
    weight = 1.0 if seat == me else -m.rival[seat]
    floors = min(float(game.supply[seat]), w.floors)
    entry = entry_worth(game, w, m, seat) if own == NONE and not full else 0.0
    stop = stop_worth(game, w, m, me, district, seat) if full else 0.0
    best = 0.0
    best_effect = 0.0
    for plot in range(NUM_COLOURS):
        free = own == NONE and game.owner[district, plot] == NONE
        allowed = plot == own or (free and (full or m.types[district, plot] == 0))
        if not allowed or m.points[seat, plot] <= 0.0:
            continue
        effect = 0.0
        if own != NONE or not full:
            effect = weight * (floors * m.worth[district, plot] + (entry if floors > 0.0 else 0.0))
            if full:
                effect = max(effect, stop) if seat == me else min(effect, stop)
        else:
            effect = stop
        gain = effect if seat == me else -effect
        points = min(m.points[seat, plot] + m.points[seat, BLACK], gain / (w.limit * m.point))
        points = min(points, MOST_RESERVED)
        if points > best:
            best = points
            best_effect = effect
    return best, best_effect


@thought
def park_reservation(game: Record, w: Record, m: Record, me: int, seat: int) -> tuple[float, float]:
    """AUC-12: how many points a seat would bid at most in the park area, and what its winning means to me."""
    most = 0.0
    for colour in range(NUM_COLOURS):
        most = max(most, m.points[seat, colour])
    gain = min(float(game.supply[seat]), w.floors) * w.park * park_value(game)
    if most == 0.0 or gain == 0.0:
        return 0.0, 0.0
    points = min(min(most + m.points[seat, BLACK], gain / (w.limit * m.point)), MOST_RESERVED)
    return points, gain if seat == me else -m.rival[seat] * gain


@thought
def park_outlook(game: Record, w: Record, m: Record, me: int) -> float:
    """AUC-12: what the auction of the park area should bring me."""
    chances = math.exp(ALEA_POINTS / w.sharp) if game.num_players == 2 else 0.0
    worth = 0.0
    for seat in range(game.num_players):
        points, gain = park_reservation(game, w, m, me, seat)
        if points > 0.0:
            chance = math.exp(points / w.sharp)
            chances += chance
            worth += chance * (max(gain - m.point * w.target, 0.0) if seat == me else gain)
    return worth / chances if chances > 0.0 else 0.0


# ---- the start ----


@thought
def judge_starts(game: Record, w: Record, m: Record, me: int) -> None:
    """SET-8: plots with value, with good cards of their colour in hand and in sight, and with few others around."""
    for district in range(NUM_DISTRICTS):
        others = 0
        for seat in range(game.num_players):
            if seat != me and m.plot[district, seat] != NONE:
                others += 1
        for plot in range(NUM_COLOURS):
            worth = w.floors * m.worth[district, plot] + w.start * m.points[me, plot] - w.crowd * others
            if game.top[plot] != NONE:
                worth += w.sight * w.start * (int(game.top[plot]) + LOWEST_CARD)
            for other in range(NUM_DISTRICTS):
                worth -= w.same if other != district and m.plot[other, me] == plot else 0.0
            m.score[PLOT + NUM_PLOTS * district + plot] = worth


# ---- options ----


@thought
def judge_options(game: Record, w: Record, m: Record, me: int, mask: npt.NDArray[np.int8]) -> None:
    """TURN-1: what the first action brings, and the cards of the second one."""
    look_at_auctions(game, w, m, me)
    coloured = best_pair(game, w, m, me)
    black = m.price[BLACK] * UNKNOWN_POINTS
    supply = int(game.supply[me])
    m.score[OPTION_A] = w.option_a + coloured + supply_worth(w, m, supply + SKYSCRAPERS_PER_OPTION) - supply_worth(w, m, supply)
    for business in range(NUM_BUSINESSES):
        if mask[OPTION_B + business]:
            m.score[OPTION_B + business] = coloured - w.option_b + best_business(game, w, m, me, business)
    best = NEVER
    m.commissioners = places_worth(game, w, m, me, int(game.place[0]), int(game.place[1]))
    for commissioner in range(NUM_COMMISSIONERS):
        for place in range(NUM_PLACES):
            if (next_places(game, commissioner) >> place) & 1 != 0:
                best = max(best, move_worth(game, w, m, me, commissioner, place))
    m.score[OPTION_C] = coloured + black + w.option_c * best
    for district in range(NUM_DISTRICTS):
        if mask[OPTION_D + district]:
            m.score[OPTION_D + district] = w.score * m.net[district] + black * drawn_cards(game, m, me, district)


# ---- businesses ----


@thought
def best_business(game: Record, w: Record, m: Record, me: int, business: int) -> float:
    """BUS-2: what a business brings on the best plot."""
    best = NEVER
    for district in range(NUM_DISTRICTS):
        for position in range(ring_size(game)):
            if m.room[district, game.ring[district, position]] > 0:
                best = max(best, business_worth(game, w, m, me, district, position, business))
    return best


@thought
def judge_plots(game: Record, w: Record, m: Record, me: int) -> None:
    """BUS-2: the plot for the business that has been taken."""
    look_at_auctions(game, w, m, me)
    for district in range(NUM_DISTRICTS):
        for position in range(ring_size(game)):
            plot = int(game.ring[district, position])
            if m.room[district, plot] > 0:
                worth = business_worth(game, w, m, me, district, position, int(game.business))
                m.score[PLOT + NUM_PLOTS * district + plot] = worth


@thought
def business_worth(game: Record, w: Record, m: Record, me: int, district: int, position: int, business: int) -> float:
    """BUS-2 to BUS-5: what it brings to place a business at a position of a district's ring."""
    for seat in range(4):
        m.delta[seat] = 0.0
    plot = int(game.ring[district, position])
    worth = neighbour_worth(game, w, m, me, district, position, -1, business)
    worth += neighbour_worth(game, w, m, me, district, position, 1, business)
    if game.placed + 1 == BUSINESSES_TO_PLACE:
        return end_worth(game, m, me)
    if game.placed + 2 == BUSINESSES_TO_PLACE:
        worth += w.brink * end_worth(game, m, me)
    if plot < NUM_COLOURS and m.types[district, plot] == 0:
        worth += block_worth(game, w, m, me, district) + m.filling[district]
    if (game.placed + 1) % BONUS_EVERY == 0:
        bonus = int(game.placed) // BONUS_EVERY
        for seat in range(game.num_players):
            vp = bonus_vp(game, seat, bonus)
            worth += w.bonus * (vp if seat == me else -m.rival[seat] * vp)
    return float(worth + m.push)


# ---- commissioners ----


@thought
def judge_moves(game: Record, w: Record, m: Record, me: int, mask: npt.NDArray[np.int8]) -> None:
    """MOVE-1: where each commissioner may go."""
    look_at_auctions(game, w, m, me)
    m.commissioners = places_worth(game, w, m, me, int(game.place[0]), int(game.place[1]))
    for commissioner in range(NUM_COMMISSIONERS):
        for place in range(NUM_PLACES):
            action = MOVE + NUM_PLACES * commissioner + place
            if mask[action]:
                m.score[action] = move_worth(game, w, m, me, commissioner, place)


@thought
def move_worth(game: Record, w: Record, m: Record, me: int, commissioner: int, place: int) -> float:
    """MOVE-2 to MOVE-4: the scorings that a move offers or takes away, and the auctions that it starts or prepares."""
    left = int(game.place[commissioner])
    worth = places_worth(game, w, m, me, place, int(game.place[1 - commissioner])) - m.commissioners
    if place < NUM_DISTRICTS:
        return float(worth + w.lead * m.outlook[place])
    auctions = m.outlook[CENTRAL_PARK]
    for i in range(game.markers[commissioner]):
        auctions += m.outlook[game.visited[commissioner, i]]
    if place == CITY_HALL:
        return float(worth + w.call * auctions)
    if left < NUM_DISTRICTS:
        auctions += m.outlook[left]
    return float(worth + w.near * auctions)


@thought
def places_worth(game: Record, w: Record, m: Record, me: int, first: int, second: int) -> float:
    """SCO-1: what the scorings that two commissioners' places offer mean to me.

    Each of the others takes the better one for him; to me they leave at least the worse one.
    """
    mine = max(m.net[first], 0.0) if first < NUM_DISTRICTS else 0.0
    other = max(m.net[second], 0.0) if second < NUM_DISTRICTS and second != first else 0.0
    worth = w.stand_own * max(mine, other) + w.stand_both * min(mine, other)
    for seat in range(game.num_players):
        if seat != me:
            threat = scoring_threat(game, m, seat, first)
            if second != first:
                further = scoring_threat(game, m, seat, second)
                threat = max(threat, further) + w.second * min(threat, further)
            worth -= w.stand_other * m.rival[seat] * threat
    return float(worth)


@thought
def scoring_threat(game: Record, m: Record, seat: int, place: int) -> float:
    """SCO-2: VP that a seat would gain on the mean of the others by scoring a place; 0 if none."""
    if place >= NUM_DISTRICTS:
        return 0.0
    players = int(game.num_players)
    vp = float(district_vp(game, place, seat))
    for third in range(players):
        if third != seat:
            vp -= district_vp(game, place, third) / (players - 1)
    return max(vp, 0.0)


# ---- bids ----


@thought
def judge_bids(game: Record, w: Record, m: Record, me: int) -> None:
    """AUC-3: pass, or lay down the next card of the cheapest bid that is worth its cards; stop as soon as it is high enough."""
    m.score[PASS] = 0.0
    missing = int(game.highest) - int(game.bid_total[me]) + 1
    if missing <= 0:
        m.score[BID_DONE] = 1.0
        return
    place = int(game.auction_place)
    if place != CENTRAL_PARK:
        m.filling[place] = fill_worth(game, w, m, me, place, outlook(game, w, m, me, place))
    best = NEVER
    best_cards = 0
    best_colour = NONE
    deny = deny_worth(game, w, m, me)
    colours = allowed_colours(game, me)
    for colour in range(NUM_COLOURS):
        if (colours >> colour) & 1 == 0:
            continue
        for highest in range(highest_on_table(game, me), NUM_RANKS):
            total, cards = plan_worth(game, w, m, me, colour, highest, missing, deny)
            if cards != 0 and total > best:
                best = total
                best_cards = cards
                best_colour = colour
    if best_colour != NONE:
        m.score[next_card(best_cards, best_colour)] = best


@thought
def plan_worth(
    game: Record, w: Record, m: Record, me: int, colour: int, highest: int, missing: int, deny: float
) -> tuple[float, int]:
    """What winning with cards of one colour, black ones, and none above a rank is worth, and the cards to lay down now.

    A bid that will have to be raised, such as the first one before Alea's, is judged by what winning is expected to cost.
    """
    gain = deny + winning_worth(game, w, m, me, colour, int(BUILD_LIMIT[highest]))
    on_table = table_price(game, m, me, colour)
    coloured, black = m.price[colour], m.price[BLACK]
    cost, cards = cheapest_cards(game, m, me, colour, highest, missing, coloured, black)
    if cards == 0:
        return NEVER, 0
    now = gain - on_table - cost
    expected = int(w.target) - int(game.bid_total[me])
    if expected <= missing or (game.num_players == 2 and game.alea != ALEA_WAITS):
        return now, cards
    later_cost, later_cards = cheapest_cards(game, m, me, colour, highest, expected, coloured, black)
    later = gain - on_table - later_cost
    if later_cards != 0 and later > 0.0:
        return later, cards
    # Perhaps the others give up early: better than passing, if only just.
    return min(now, 0.001 * now), cards


@thought
def table_price(game: Record, m: Record, me: int, colour: int) -> float:
    """What my cards on the table, coloured ones of one colour, are worth to me."""
    price = 0.0
    for rank in range(NUM_RANKS):
        value = rank + LOWEST_CARD
        price += value * (m.price[colour] * int(game.bid_cards[me, 0, rank]) + m.price[BLACK] * int(game.bid_cards[me, 1, rank]))
    return price


@thought
def winning_worth(game: Record, w: Record, m: Record, me: int, colour: int, limit: int) -> float:
    """AUC-10, AUC-12, STOP-1: what winning the auction under way with a colour is worth, before the price."""
    place = int(game.auction_place)
    if place == CENTRAL_PARK:
        return building_worth(game, w, m, me, w.park * park_value(game), limit)
    own = int(m.plot[place, me])
    stop = stop_worth(game, w, m, me, place, me) if m.empty[place] == 0 else NEVER
    if own == NONE and m.empty[place] == 0:
        return stop
    worth = building_worth(game, w, m, me, m.worth[place, colour], limit)
    if own == NONE and worth > 0.0:
        worth += entry_worth(game, w, m, me) + m.filling[place]
    return max(worth, stop)


@thought
def deny_worth(game: Record, w: Record, m: Record, me: int) -> float:
    """What it is worth that none of those who are still in wins, each with a chance that grows with what he would bid."""
    place = int(game.auction_place)
    chances = 1.0 if game.highest_bidder == NONE else 0.0  # perhaps nobody bids
    worth = 0.0
    for seat in range(game.num_players):
        if seat == me or game.out[seat]:
            continue
        if place == CENTRAL_PARK:
            points, effect = park_reservation(game, w, m, me, seat)
        else:
            points, effect = reservation(game, w, m, me, place, seat)
        if game.highest_bidder == seat:
            points = max(points, min(float(game.highest), MOST_RESERVED))
        if points > game.highest or game.highest_bidder == seat:
            chance = math.exp(points / w.sharp)
            chances += chance
            worth += chance * effect
    if game.highest_bidder == ALEA or (game.alea == ALEA_WAITS and game.highest < ALEA_POINTS):
        chance = math.exp(max(ALEA_POINTS, min(float(game.highest), MOST_RESERVED)) / w.sharp)
        chances += chance
        worth += chance * alea_effect(game, w, m, me, place) if place != CENTRAL_PARK else 0.0
    share = w.deny_stop if place != CENTRAL_PARK and m.empty[place] == 0 else w.deny
    return float(-share * worth / chances) if chances > 0.0 else 0.0


@thought
def judge_builds(game: Record, w: Record, m: Record, me: int, mask: npt.NDArray[np.int8]) -> None:
    """AUC-10, STOP-1: how many skyscrapers to build, or a building stop."""
    place = int(game.auction_place)
    worth = w.park * park_value(game) if place == CENTRAL_PARK else m.worth[place, game.bid_colour[me]]
    supply = int(game.supply[me])
    entry = 0.0
    if place != CENTRAL_PARK and m.plot[place, me] == NONE:
        entry = entry_worth(game, w, m, me) + fill_worth(game, w, m, me, place, outlook(game, w, m, me, place))
    for number in range(4):
        if mask[BUILD + number]:
            kept = supply_worth(w, m, supply) - supply_worth(w, m, supply - number)
            m.score[BUILD + number] = number * worth - kept + (entry if number > 0 else 0.0)
    if mask[STOP]:
        m.score[STOP] = stop_worth(game, w, m, me, place, me)


# ---- deciding ----


@thought
def appraise(view: Record, w: Record, m: Record, mask: npt.NDArray[np.int8]) -> None:
    """Write the score of every legal action."""
    game = view.game
    me = int(view.seat)
    for action in range(NUM_ACTIONS):
        m.score[action] = NEVER
    look(view, w, m)
    look_at_prices(game, w, m, me)
    phase = int(game.phase)
    if phase == PHASE_START:
        judge_starts(game, w, m, me)
    elif phase == PHASE_OPTION:
        judge_options(game, w, m, me, mask)
    elif phase == PHASE_PLOT:
        judge_plots(game, w, m, me)
    elif phase == PHASE_TAKE:
        judge_cards(game, w, m, me)
    elif phase == PHASE_MOVE:
        judge_moves(game, w, m, me, mask)
    elif phase == PHASE_BID:
        look_at_table(game, m)
        judge_bids(game, w, m, me)
    elif phase == PHASE_BUILD:
        judge_builds(game, w, m, me, mask)


def _make_decide_all(fingerprint: str) -> Any:
    def decide_all(views, masks, uniforms, weights, mind, actions, scores):  # type: ignore[no-untyped-def]
        """Write the best action of every view into `actions`, and all judgements into `scores` if it has rows."""
        _ = fingerprint
        for i in range(len(views)):
            appraise(views[i], weights[0], mind[0], masks[i])
            actions[i] = choose(mind[0], masks[i], uniforms[i])
            if len(scores) > 0:
                for action in range(NUM_ACTIONS):
                    scores[i, action] = mind[0].score[action]

    return decide_all


decide_all: Final = AgentEntryPoints(__file__, judgement.__file__).make(_make_decide_all)
