"""The compiled judgement of :class:`agents.greedy.GreedyAgent`: what every legal action should bring, in victory points (VP).

For each decision it first notes down what follows from the position (the ``look`` functions), then writes a score for each
legal action (the ``judge`` functions, one for each kind of decision). It sees a seat's view alone.

Arguments that many functions share: `view`, a record of skyenv.knowledge.VIEW_DTYPE, and its `game`; `w`, a record of weights,
one field for each of :class:`agents.greedy.Weights`; `m`, a record of MIND_DTYPE; `me`, the seat that decides.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

from skyenv.rules.actions import (
    BID,
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
from skyenv.rules.businesses import bonus_vp
from skyenv.rules.commissioners import next_places
from skyenv.rules.compiling import EntryPoints
from skyenv.rules.components import (
    BLACK,
    BONUS_DISTRICTS,
    BONUS_EVERY,
    BONUS_VP,
    BUILD_LIMIT,
    BUSINESSES_TO_PLACE,
    CENTRAL_PARK,
    CITY_HALL,
    LOWEST_CARD,
    MAX_STOPS,
    MAX_TILES_ON_PLOT,
    NUM_BUSINESSES,
    NUM_COLOURS,
    NUM_COMMISSIONERS,
    NUM_DISTRICTS,
    NUM_PLACES,
    NUM_PLOTS,
    NUM_RANKS,
    PLOT_VALUE,
    SKYSCRAPERS_PER_OPTION,
)
from skyenv.rules.scoring import count_types, district_vp, tiles_on_plot, types_on_plot
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

WIN: Final = 60.0
"""Worth of ending the game ahead, and price of ending it behind."""
UNKNOWN_POINTS: Final = 4.8
"""Mean value of a card that I don't know."""
ALEA_POINTS: Final = 14.0
"""Typical total of Alea (ALEA-2)."""
MOST_POINTS: Final = 40
"""A bid that has to be raised by more than this is not looked at."""
PARK_VALUE: Final = np.array([1.6, 2.3, 2.9, 3.4, 3.9])
"""VP of a skyscraper in the park area that may be expected, by business types there so far (END-3)."""
NEXT_STEP: Final = np.array([0.0, 1.0, 1.0, 2.0, 0.0, 3.0, 0.0, 0.0, 0.0])
"""SCO-2: by how much the value of a plot rises with one type more, by its value."""
PATIENT_TURNS: Final = 40
"""After so many turns of each player everybody wants the end nearer, so that games end; usual ones take a quarter of them."""
PATIENCE: Final = 0.5
"""What bringing it nearer is worth then, for each further turn."""
NEVER: Final = -1e9
"""Score of an action that is out of the question."""

MIND_DTYPE: Final = np.dtype(
    [
        ("score", np.float64, (NUM_ACTIONS,)),  # judgement of every action; only legal ones are looked at
        ("left", np.float64),  # share of the game that is left
        ("scorings", np.float64),  # expected scorings of a district from now on, the final one included
        ("push", np.float64),  # what it is worth to bring the end nearer by a business or a stop
        ("point", np.float64),  # what a point of a coloured card in my hand is worth
        ("rival", np.float64, (4,)),  # how much a VP of each other seat counts against me
        ("standing", np.float64, (4,)),  # VP of each seat if the game ended now
        ("delta", np.float64, (4,)),  # change of the standing by the action that is looked at
        ("presence", np.int8, (4,)),  # districts in which each seat stands
        ("points", np.float64, (4, 6)),  # [seat, card colour] → points in hand, as far as I know
        ("types", np.int8, (7, 6)),  # [district, plot] → bit mask of the businesses there
        ("room", np.int8, (7, 6)),  # [district, plot] → businesses that still find room there
        ("plot", np.int8, (7, 4)),  # [district, seat] → plot with its skyscrapers, or NONE
        ("empty", np.int8, (7,)),  # empty plots
        ("worth", np.float64, (7, 5)),  # what a skyscraper on the plot will bring, all scorings included
        ("net", np.float64, (7,)),  # VP of a scoring for me, less those of the others
        ("outlook", np.float64, (8,)),  # what an auction there should bring me, less the others; CENTRAL_PARK: the park area
        ("cost", np.float64, (MOST_POINTS + 8,)),  # cheapest cards for a total, while a bid is looked for
        ("cards", np.int64, (MOST_POINTS + 8,)),  # these cards: 5 bits for the number of each, in laying order
    ],
    align=True,
)
"""What the player has in mind for one decision."""

Function = TypeVar("Function", bound=Callable[..., Any])


def thought(function: Function) -> Function:
    """Mark a function of the judgement: Numba compiles it into the entry point below."""
    return cast(Function, numba.njit(error_model="numpy")(function))


# ---- looking at the position ----


@thought
def look(view: Record, w: Record, m: Record) -> None:
    """Note down what follows from the position."""
    game = view.game
    me = int(view.seat)
    m.left = (BUSINESSES_TO_PLACE - int(game.placed)) / BUSINESSES_TO_PLACE * (w.haste if game.stops > 0 else 1.0)
    m.scorings = 1.0 + w.scorings * m.left
    for seat in range(4):
        m.presence[seat] = 0
        m.delta[seat] = 0.0
        m.standing[seat] = int(game.score[seat]) + int(game.park[seat]) * park_value(game)
    for district in range(NUM_DISTRICTS):
        look_at_district(game, w, m, district)
    look_at_rivals(game, w, m, me)
    for district in range(NUM_DISTRICTS):
        m.net[district] = net_vp(game, m, district, me)
    m.push = push_worth(game, w, m, me)
    look_at_hands(view, w, m, me)


@thought
def park_value(game: Record) -> float:
    """END-3: VP of a skyscraper in the park area that may be expected."""
    kinds = 0
    for business in range(NUM_BUSINESSES):
        kinds += 1 if game.park_tiles[business] > 0 else 0
    return float(PARK_VALUE[kinds])


@thought
def look_at_district(game: Record, w: Record, m: Record, district: int) -> None:
    """Who stands where, what has room, and what a skyscraper on every plot is worth."""
    for seat in range(4):
        m.plot[district, seat] = NONE
    m.empty[district] = 0
    for plot in range(NUM_PLOTS):
        tiles = tiles_on_plot(game, district, plot)
        owner = int(game.owner[district, plot]) if plot < NUM_COLOURS else NONE
        m.types[district, plot] = types_on_plot(game, district, plot)
        m.room[district, plot] = 0 if owner != NONE or game.stopped[district] else MAX_TILES_ON_PLOT - tiles
        if 0 <= owner < 4:
            m.plot[district, owner] = plot
            m.presence[owner] += 1
            m.standing[owner] += int(game.floors[district, plot]) * int(game.value[district, plot])
        elif owner == NONE and tiles == 0 and plot < NUM_COLOURS and game.stopped[district] == 0:
            m.empty[district] += 1
    size = ring_size(game)
    for position in range(size):
        plot = int(game.ring[district, position])
        if plot < NUM_COLOURS:
            room = int(m.room[district, neighbour(game, district, position, -1)])
            room += int(m.room[district, neighbour(game, district, position, 1)])
            m.worth[district, plot] = m.scorings * grown_value(w, m, int(game.value[district, plot]), room)


@thought
def ring_size(game: Record) -> int:
    """COM-6, COM-9: plots in a ring."""
    return NUM_PLOTS if game.ring[0, NUM_PLOTS - 1] != NONE else NUM_COLOURS


@thought
def neighbour(game: Record, district: int, position: int, step: int) -> int:
    """The plot next to a position of the ring."""
    size = ring_size(game)
    return int(game.ring[district, (position + step + size) % size])


@thought
def grown_value(w: Record, m: Record, value: int, room: int) -> float:
    """SCO-2: the value of a plot, and what further businesses next to it may add."""
    return float(value + w.growth * m.left * room * NEXT_STEP[value])


@thought
def look_at_rivals(game: Record, w: Record, m: Record, me: int) -> None:
    """How much the VP of every other seat count against me: those of the best other most."""
    players = int(game.num_players)
    best = NEVER
    for seat in range(players):
        if seat != me:
            best = max(best, m.standing[seat])
    total = 0.0
    for seat in range(4):
        m.rival[seat] = 0.0
        if seat < players and seat != me:
            m.rival[seat] = math.exp((m.standing[seat] - best) / w.chase)
            total += m.rival[seat]
    rivalry = w.rivalry if players > 2 else 1.0
    for seat in range(4):
        m.rival[seat] *= rivalry / total


@thought
def net_vp(game: Record, m: Record, district: int, me: int) -> float:
    """SCO-2: VP of a scoring for me, less those of the others."""
    vp = float(district_vp(game, district, me))
    for seat in range(game.num_players):
        if seat != me:
            vp -= m.rival[seat] * district_vp(game, district, seat)
    return vp


@thought
def look_at_hands(view: Record, w: Record, m: Record, me: int) -> None:
    """Points in all hands by colour, and what a point in mine is worth: less with many cards, and less late in the game."""
    game = view.game
    number = 0
    for seat in range(game.num_players):
        for colour in range(NUM_COLOURS + 1):
            points = view.unknown[seat, colour] * UNKNOWN_POINTS
            for rank in range(NUM_RANKS):
                points += int(game.hand[seat, colour, rank]) * (rank + LOWEST_CARD)
                if seat == me:
                    number += int(game.hand[seat, colour, rank])
            m.points[seat, colour] = points
    m.point = point_worth(w, m, number)


@thought
def point_worth(w: Record, m: Record, number: int) -> float:
    """What a point of a coloured card is worth in a hand of so many cards: less with many, and less late in the game."""
    return float(w.point * (w.late + (1.0 - w.late) * m.left) / (1.0 + w.sated * number))


# ---- what things are worth ----


@thought
def supply_worth(w: Record, m: Record, number: int) -> float:
    """What so many skyscrapers in the supply are worth."""
    worth = 0.0
    following = w.sky * m.left
    for _ in range(number):
        worth += following
        following *= w.decay
    return worth


@thought
def entry_worth(game: Record, w: Record, m: Record, seat: int) -> float:
    """BUS-4: what it is worth to a seat to stand in one district more."""
    worth = w.presence * m.left
    bonus = int(game.placed) // BONUS_EVERY
    if bonus < len(BONUS_VP):
        missing = int(BONUS_DISTRICTS[bonus]) - int(m.presence[seat])
        if missing > 0:
            worth += w.entry * BONUS_VP[bonus] / missing
    return float(worth)


@thought
def end_worth(game: Record, m: Record, me: int) -> float:
    """END-4: what it is worth to end the game now, after the changes in `m.delta`."""
    best = NEVER
    for seat in range(game.num_players):
        if seat != me:
            best = max(best, m.standing[seat] + m.delta[seat])
    margin = m.standing[me] + m.delta[me] - best
    if margin == 0.0:
        return 0.0
    return float(margin + (WIN if margin > 0.0 else -WIN))


@thought
def push_worth(game: Record, w: Record, m: Record, me: int) -> float:
    """What it is worth to bring the end nearer."""
    best = NEVER
    for seat in range(game.num_players):
        if seat != me:
            best = max(best, m.standing[seat])
    ahead = min(max((m.standing[me] - best) / 30.0, -1.0), 1.0)
    scoring = 0.0
    for district in range(NUM_DISTRICTS):
        scoring += m.net[district]
    late = max(int(game.turns) - PATIENT_TURNS * int(game.num_players), 0)
    return float(w.push * ahead * (1.0 - m.left) - w.clock * scoring + PATIENCE * late)


@thought
def stop_worth(game: Record, w: Record, m: Record, me: int, district: int, declarer: int) -> float:
    """STOP-2 to STOP-6: what a building stop is worth to me, whoever declares it."""
    skyscrapers = 0
    for plot in range(NUM_COLOURS):
        skyscrapers += int(game.floors[district, plot])
    worth = 0.0
    for seat in range(game.num_players):
        now = district_vp(game, district, seat)
        vp = skyscrapers if seat == declarer else now // 2
        m.delta[seat] = float(vp - now)
        worth += vp if seat == me else -m.rival[seat] * vp
    if game.stops + 1 >= MAX_STOPS:
        return end_worth(game, m, me)
    return float(worth - m.scorings * m.net[district] + m.push)


@thought
def building_worth(game: Record, w: Record, m: Record, seat: int, plot_worth: float, limit: int) -> float:
    """AUC-10: what the best number of skyscrapers up to `limit` brings, less what they are worth in the supply."""
    supply = int(game.supply[seat])
    best = 0.0
    for number in range(1, min(limit, supply) + 1):
        worth = number * plot_worth - supply_worth(w, m, supply) + supply_worth(w, m, supply - number)
        best = max(best, worth)
    return best


@thought
def best_empty_worth(game: Record, m: Record, district: int) -> float:
    """What a skyscraper on the best empty plot is worth; 0 if there is none."""
    best = 0.0
    for plot in range(NUM_COLOURS):
        if game.owner[district, plot] == NONE and m.types[district, plot] == 0:
            best = max(best, m.worth[district, plot])
    return best


@thought
def prize(game: Record, w: Record, m: Record, seat: int, district: int) -> float:
    """AUC-5, AUC-10: what a seat may expect to build by winning the auction of a district."""
    floors = min(float(game.supply[seat]), w.floors)
    own = int(m.plot[district, seat])
    if own != NONE:
        return float(floors * m.worth[district, own])
    best = best_empty_worth(game, m, district)
    if best == 0.0 or floors == 0.0:
        return 0.0
    return float(floors * best + entry_worth(game, w, m, seat))


@thought
def effect(game: Record, w: Record, m: Record, me: int, district: int, winner: int) -> float:
    """What it means to me that a seat, or Alea, wins the auction of a district."""
    if winner == ALEA:
        if m.empty[district] == 0:
            return stop_worth(game, w, m, me, district, ALEA)
        return -w.alea * best_empty_worth(game, m, district) if m.plot[district, me] == NONE else 0.0
    built = prize(game, w, m, winner, district)
    worth = built if winner == me else -m.rival[winner] * built
    if m.empty[district] == 0:
        stop = stop_worth(game, w, m, me, district, winner)
        if winner == me:
            return max(worth, stop)
        return min(worth, stop)
    return worth


@thought
def strength(game: Record, m: Record, seat: int, district: int) -> float:
    """AUC-4, AUC-5: points that a seat could bid in a district, as far as I know."""
    own = int(m.plot[district, seat])
    best = 0.0
    for plot in range(NUM_COLOURS):
        if own != NONE:
            allowed = plot == own
        elif m.empty[district] > 0:
            allowed = game.owner[district, plot] == NONE and m.types[district, plot] == 0
        else:
            allowed = game.owner[district, plot] == NONE
        if allowed:
            best = max(best, m.points[seat, plot])
    return best + m.points[seat, BLACK] if best > 0.0 else 0.0


@thought
def look_at_auctions(game: Record, w: Record, m: Record, me: int) -> None:
    """What an auction in every district, and in the park area, should bring me."""
    for district in range(NUM_DISTRICTS):
        m.outlook[district] = 0.0 if game.stopped[district] else outlook(game, w, m, me, district)
    m.outlook[CENTRAL_PARK] = park_outlook(game, w, m, me)


@thought
def outlook(game: Record, w: Record, m: Record, me: int, district: int) -> float:
    """What the auction of a district should bring me: every bidder wins with a chance that grows with his points."""
    chances = 0.0
    worth = 0.0
    price = m.point * w.target
    for seat in range(game.num_players):
        points = strength(game, m, seat, district)
        if points > 0.0:
            chance = math.exp(min(points, 30.0) / w.sharp)
            gain = effect(game, w, m, me, district, seat)
            if seat == me:
                gain = max(gain - price, 0.0)
            chances += chance
            worth += chance * gain
    if game.num_players == 2:
        chance = math.exp(ALEA_POINTS / w.sharp)
        chances += chance
        worth += chance * effect(game, w, m, me, district, ALEA)
    return worth / chances if chances > 0.0 else 0.0


@thought
def park_outlook(game: Record, w: Record, m: Record, me: int) -> float:
    """AUC-12: what the auction of the park area should bring me."""
    chances = math.exp(ALEA_POINTS / w.sharp) if game.num_players == 2 else 0.0
    worth = 0.0
    value = park_value(game)
    for seat in range(game.num_players):
        best = 0.0
        for colour in range(NUM_COLOURS):
            best = max(best, m.points[seat, colour])
        if best > 0.0:
            chance = math.exp(min(best + m.points[seat, BLACK], 30.0) / w.sharp)
            gain = min(float(game.supply[seat]), w.floors) * value
            chances += chance
            worth += chance * (max(gain - m.point * w.target, 0.0) if seat == me else -m.rival[seat] * gain)
    return worth / chances if chances > 0.0 else 0.0


# ---- the start ----


@thought
def judge_starts(game: Record, w: Record, m: Record, me: int) -> None:
    """SET-8: plots with value, with good cards of their colour in hand, and with few others around."""
    for district in range(NUM_DISTRICTS):
        others = 0
        for seat in range(game.num_players):
            if seat != me and m.plot[district, seat] != NONE:
                others += 1
        for plot in range(NUM_COLOURS):
            worth = w.floors * m.worth[district, plot] + w.start * m.points[me, plot] - w.crowd * others
            m.score[PLOT + NUM_PLOTS * district + plot] = worth


# ---- options ----


@thought
def judge_options(game: Record, w: Record, m: Record, me: int, mask: npt.NDArray[np.int8]) -> None:
    """TURN-1: what the first action brings, and the cards of the second one."""
    look_at_auctions(game, w, m, me)
    coloured = best_pair(game, w, m, me)
    black = m.point * w.black * UNKNOWN_POINTS
    supply = int(game.supply[me])
    m.score[OPTION_A] = w.option_a + coloured + supply_worth(w, m, supply + SKYSCRAPERS_PER_OPTION) - supply_worth(w, m, supply)
    for business in range(NUM_BUSINESSES):
        if mask[OPTION_B + business]:
            m.score[OPTION_B + business] = coloured - w.option_b + best_business(game, w, m, me, business)
    best = NEVER
    for commissioner in range(NUM_COMMISSIONERS):
        for place in range(NUM_PLACES):
            if (next_places(game, commissioner) >> place) & 1 != 0:
                best = max(best, move_worth(game, w, m, me, commissioner, place))
    m.score[OPTION_C] = coloured + black + w.option_c * best
    for district in range(NUM_DISTRICTS):
        if mask[OPTION_D + district]:
            m.score[OPTION_D + district] = w.score * m.net[district] + black * drawn_cards(game, m, me, district)


@thought
def drawn_cards(game: Record, m: Record, me: int, district: int) -> float:
    """SCO-3: black cards that I draw by scoring a district, less those of the others."""
    cards = 2.0 if m.plot[district, me] != NONE else 3.0
    for seat in range(game.num_players):
        if seat != me and m.plot[district, seat] == NONE:
            cards -= m.rival[seat]
    return cards


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
    if plot < NUM_COLOURS and m.types[district, plot] == 0:
        worth += block_worth(game, w, m, me, district)
    if (game.placed + 1) % BONUS_EVERY == 0:
        bonus = int(game.placed) // BONUS_EVERY
        for seat in range(game.num_players):
            vp = bonus_vp(game, seat, bonus)
            worth += vp if seat == me else -m.rival[seat] * vp
    return float(worth + m.push)


@thought
def neighbour_worth(game: Record, w: Record, m: Record, me: int, district: int, position: int, step: int, business: int) -> float:
    """SCO-2: what a business at a position brings to the skyscrapers on one of the plots next to it."""
    plot = neighbour(game, district, position, step)
    if plot >= NUM_COLOURS:
        return 0.0
    owner = int(game.owner[district, plot])
    if owner in (NONE, ALEA):
        return 0.0
    here = int(game.ring[district, position])
    beyond = neighbour(game, district, position, 2 * step)
    types = int(m.types[district, here]) | int(m.types[district, beyond]) | (1 << business)
    before = int(game.value[district, plot])
    after = int(PLOT_VALUE[count_types(types)])
    room = int(m.room[district, here]) + int(m.room[district, beyond])
    floors = int(game.floors[district, plot])
    m.delta[owner] += floors * (after - before)
    rise = grown_value(w, m, after, room - 1) - grown_value(w, m, before, room)
    worth = (floors + w.more * m.left) * m.scorings * rise
    return float(worth if owner == me else -m.rival[owner] * worth)


@thought
def block_worth(game: Record, w: Record, m: Record, me: int, district: int) -> float:
    """AUC-5: what it is worth to fill an empty plot: who doesn't stand there has one plot less to build on."""
    mine = m.plot[district, me] != NONE
    worth = 0.0
    for seat in range(game.num_players):
        if seat != me and (m.plot[district, seat] != NONE) != mine:
            worth += m.rival[seat] * (w.block if mine else -w.block)
    return worth


# ---- coloured cards ----


@thought
def take_worth(game: Record, w: Record, m: Record, me: int, colour: int) -> float:
    """TURN-4: what the visible card of a stack is worth: its points, its limit, and the plots of its colour."""
    rank = int(game.top[colour])
    fit = 0.0
    for district in range(NUM_DISTRICTS):
        if game.stopped[district]:
            continue
        own = int(m.plot[district, me])
        empty = own == NONE and game.owner[district, colour] == NONE and m.types[district, colour] == 0
        if own == colour or empty:
            fit += m.worth[district, colour] * (1.0 if is_near(game, district) else w.far)
    worth = m.point * (rank + LOWEST_CARD) + w.low * BUILD_LIMIT[rank] + w.fit * m.left * fit
    return float(worth + w.synergy * m.points[me, colour] / UNKNOWN_POINTS)


@thought
def is_near(game: Record, district: int) -> bool:
    """Whether a commissioner is in a district or has left a marker there, so that it will be auctioned."""
    for commissioner in range(NUM_COMMISSIONERS):
        if game.place[commissioner] == district:
            return True
        for i in range(game.markers[commissioner]):
            if game.visited[commissioner, i] == district:
                return True
    return False


@thought
def second_card(game: Record, w: Record, m: Record, me: int, first: int) -> float:
    """TURN-4: what the best card behind the first one's colour is worth; 0 if there is none."""
    best = 0.0
    for colour in range(first + 1, NUM_COLOURS):
        if game.top[colour] != NONE:
            best = max(best, take_worth(game, w, m, me, colour))
    return best


@thought
def best_pair(game: Record, w: Record, m: Record, me: int) -> float:
    """TURN-4: what the best two visible cards are worth."""
    best = 0.0
    for colour in range(NUM_COLOURS):
        if game.top[colour] != NONE:
            worth = take_worth(game, w, m, me, colour) + second_card(game, w, m, me, colour)
            best = max(best, worth)
    return best


@thought
def judge_cards(game: Record, w: Record, m: Record, me: int) -> None:
    """TURN-4: the first card together with the best second one, or the second card."""
    for colour in range(NUM_COLOURS):
        if game.top[colour] != NONE:
            worth = take_worth(game, w, m, me, colour)
            if game.first_colour == NONE:
                worth += second_card(game, w, m, me, colour)
            m.score[TAKE + colour] = worth


# ---- commissioners ----


@thought
def judge_moves(game: Record, w: Record, m: Record, me: int, mask: npt.NDArray[np.int8]) -> None:
    """MOVE-1: where each commissioner may go."""
    look_at_auctions(game, w, m, me)
    for commissioner in range(NUM_COMMISSIONERS):
        for place in range(NUM_PLACES):
            action = MOVE + NUM_PLACES * commissioner + place
            if mask[action]:
                m.score[action] = move_worth(game, w, m, me, commissioner, place)


@thought
def move_worth(game: Record, w: Record, m: Record, me: int, commissioner: int, place: int) -> float:
    """MOVE-2 to MOVE-4: the scorings that a move offers or takes away, and the auctions that it starts or prepares."""
    left = int(game.place[commissioner])
    other = int(game.place[1 - commissioner])
    worth = 0.0
    if left < NUM_DISTRICTS and left != other:
        worth -= place_worth(game, w, m, me, left)
    if place < NUM_DISTRICTS:
        if place != other:
            worth += place_worth(game, w, m, me, place)
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
def place_worth(game: Record, w: Record, m: Record, me: int, district: int) -> float:
    """SCO-1: what it is worth to me that a commissioner stands in a district, where it can be scored."""
    if game.stopped[district]:
        return 0.0
    worth = w.stand_own * max(m.net[district], 0.0)
    players = int(game.num_players)
    for seat in range(players):
        if seat == me:
            continue
        vp = float(district_vp(game, district, seat))
        for third in range(players):
            if third != seat:
                vp -= district_vp(game, district, third) / (players - 1)
        worth -= w.stand_other * m.rival[seat] * max(vp, 0.0)
    return float(worth)


# ---- bids ----


@thought
def judge_bids(game: Record, w: Record, m: Record, me: int) -> None:
    """AUC-3: pass, or lay down the next card of the cheapest bid that is worth its cards; stop as soon as it is high enough."""
    m.score[PASS] = 0.0
    missing = int(game.highest) - int(game.bid_total[me]) + 1
    if missing <= 0:
        m.score[BID_DONE] = 1.0
        return
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
def highest_on_table(game: Record, me: int) -> int:
    """AUC-10: rank of my highest card on the table; 0 if there is none."""
    return int(highest_rank(game, me))


@thought
def plan_worth(
    game: Record, w: Record, m: Record, me: int, colour: int, highest: int, missing: int, deny: float
) -> tuple[float, int]:
    """What winning with cards of one colour, black ones, and none above a rank is worth, and the cards to lay down now.

    A bid that will have to be raised, such as the first one before Alea's, is judged by what winning is expected to cost.
    """
    gain = deny + winning_worth(game, w, m, me, colour, int(BUILD_LIMIT[highest]))
    on_table = m.point * table_points(game, w, me)
    black = m.point * w.black
    cost, cards = cheapest_cards(game, m, me, colour, highest, missing, m.point, black)
    if cards == 0:
        return NEVER, 0
    now = gain - on_table - cost
    expected = int(w.target) - int(game.bid_total[me])
    if expected <= missing or (game.num_players == 2 and game.alea != ALEA_WAITS):
        return now, cards
    later_cost, later_cards = cheapest_cards(game, m, me, colour, highest, expected, m.point, black)
    later = gain - on_table - later_cost
    if later_cards != 0 and later > 0.0:
        return later, cards
    # Perhaps the others give up early: better than passing, if only just.
    return min(now, 0.001 * now), cards


@thought
def table_points(game: Record, w: Record, me: int) -> float:
    """My points on the table, a black one counting as in the price of a bid."""
    points = 0.0
    for rank in range(NUM_RANKS):
        points += (rank + LOWEST_CARD) * (int(game.bid_cards[me, 0, rank]) + w.black * int(game.bid_cards[me, 1, rank]))
    return points


@thought
def cheapest_cards(
    game: Record, m: Record, me: int, colour: int, highest: int, missing: int, coloured: float, black: float
) -> tuple[float, int]:
    """The cheapest cards of a colour and black, none above a rank, that are worth `missing` points or more.

    A point of a coloured card costs `coloured`, one of a black card `black`.

    Returns:
        What they cost, and how many of each: 5 bits for each place in the laying order; 0 if there are none.
    """
    if missing > MOST_POINTS:
        return NEVER, 0
    size = missing + LOWEST_CARD + NUM_RANKS - 1
    for total in range(size):
        m.cost[total] = -NEVER
        m.cards[total] = 0
    m.cost[0] = 0.0
    laid = int(game.laid)
    for rank in range(max(laid, 0), highest + 1):
        add_cards(m, size, int(game.hand[me, colour, rank]), rank, coloured, rank)
    if game.bid_colour[me] == NONE:
        m.cost[0] = -NEVER  # AUC-4: the first card is coloured
    for rank in range(max(laid - NUM_RANKS, 0), highest + 1):
        add_cards(m, size, int(game.hand[me, BLACK, rank]), rank, black, NUM_RANKS + rank)
    best = missing
    for total in range(missing, size):
        if m.cost[total] < m.cost[best]:
            best = total
    return m.cost[best], m.cards[best]


@thought
def add_cards(m: Record, size: int, number: int, rank: int, price: float, place: int) -> None:
    """Let so many cards of one kind take part in the cheapest cards for every total below `size`."""
    value = rank + LOWEST_CARD
    for _ in range(min(number, (size - 1) // value)):
        for total in range(size - 1, value - 1, -1):
            cost = m.cost[total - value] + price * value
            if cost < m.cost[total]:
                m.cost[total] = cost
                m.cards[total] = m.cards[total - value] + (1 << (5 * place))


@thought
def next_card(cards: int, colour: int) -> int:
    """INTERFACE.md, "One choice, one path": the first of some cards in the laying order, as an action."""
    place = 0
    while (cards >> (5 * place)) & 31 == 0:
        place += 1
    if place < NUM_RANKS:
        return BID + NUM_RANKS * colour + place
    return BID + NUM_RANKS * BLACK + place - NUM_RANKS


@thought
def winning_worth(game: Record, w: Record, m: Record, me: int, colour: int, limit: int) -> float:
    """AUC-10, AUC-12, STOP-1: what winning the auction under way with a colour is worth, before the price."""
    place = int(game.auction_place)
    if place == CENTRAL_PARK:
        return building_worth(game, w, m, me, park_value(game), limit)
    own = int(m.plot[place, me])
    stop = stop_worth(game, w, m, me, place, me) if m.empty[place] == 0 else NEVER
    if own == NONE and m.empty[place] == 0:
        return stop
    worth = building_worth(game, w, m, me, m.worth[place, colour], limit)
    if own == NONE and worth > 0.0:
        worth += entry_worth(game, w, m, me)
    return max(worth, stop)


@thought
def deny_worth(game: Record, w: Record, m: Record, me: int) -> float:
    """What it is worth that the one who would win otherwise doesn't."""
    place = int(game.auction_place)
    bidder = int(game.highest_bidder)
    if bidder == NONE:
        if place == CENTRAL_PARK or game.alea != ALEA_WAITS:
            return 0.0
        bidder = ALEA
    if place == CENTRAL_PARK:
        if bidder == ALEA:
            return 0.0
        limit = int(BUILD_LIMIT[highest_on_table(game, bidder)])
        return float(w.deny * m.rival[bidder] * building_worth(game, w, m, bidder, park_value(game), limit))
    return float(-w.deny * effect(game, w, m, me, place, bidder))


@thought
def judge_builds(game: Record, w: Record, m: Record, me: int, mask: npt.NDArray[np.int8]) -> None:
    """AUC-10, STOP-1: how many skyscrapers to build, or a building stop."""
    place = int(game.auction_place)
    worth = park_value(game) if place == CENTRAL_PARK else m.worth[place, game.bid_colour[me]]
    supply = int(game.supply[me])
    entry = 0.0
    if place != CENTRAL_PARK and m.plot[place, me] == NONE:
        entry = entry_worth(game, w, m, me)
    for number in range(4):
        if mask[BUILD + number]:
            kept = supply_worth(w, m, supply) - supply_worth(w, m, supply - number)
            m.score[BUILD + number] = number * worth - kept + (entry if number > 0 else 0.0)
    if mask[STOP]:
        m.score[STOP] = stop_worth(game, w, m, me, place, me)


# ---- deciding ----


@thought
def judge(view: Record, w: Record, m: Record, mask: npt.NDArray[np.int8]) -> None:
    """Write the score of every legal action."""
    game = view.game
    me = int(view.seat)
    for action in range(NUM_ACTIONS):
        m.score[action] = NEVER
    look(view, w, m)
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
        judge_bids(game, w, m, me)
    elif phase == PHASE_BUILD:
        judge_builds(game, w, m, me, mask)


@thought
def choose(m: Record, mask: npt.NDArray[np.int8], uniform: float) -> int:
    """The legal action with the highest score; among several, the one that the random number picks."""
    best = 2.0 * NEVER
    number = 0
    for action in range(NUM_ACTIONS):
        if mask[action]:
            if m.score[action] > best:
                best = m.score[action]
                number = 0
            number += 1 if m.score[action] == best else 0
    ticket = int(uniform * number)
    for action in range(NUM_ACTIONS):
        if mask[action] and m.score[action] == best:
            if ticket == 0:
                return action
            ticket -= 1
    return NONE


def _make_decide_all(fingerprint: str) -> Any:
    def decide_all(views, masks, uniforms, weights, mind, actions, scores):  # type: ignore[no-untyped-def]
        """Write the best action of every view into `actions`, and all judgements into `scores` if it has rows."""
        _ = fingerprint
        for i in range(len(views)):
            judge(views[i], weights[0], mind[0], masks[i])
            actions[i] = choose(mind[0], masks[i], uniforms[i])
            if len(scores) > 0:
                for action in range(NUM_ACTIONS):
                    scores[i, action] = mind[0].score[action]

    return decide_all


class AgentEntryPoints(EntryPoints):
    """Entry points that go stale with files of agents as well as with the rules.

    Args:
        files: those whose code ends up inside the entry points.
    """

    def __init__(self, *files: str) -> None:
        super().__init__()
        digest = hashlib.sha256(self._fingerprint.encode())
        for file in files:
            digest.update(Path(file).read_bytes())
        self._fingerprint = digest.hexdigest()


decide_all: Final = AgentEntryPoints(__file__).make(_make_decide_all)
