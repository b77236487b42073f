"""Reasons why actions are illegal, by a second implementation of the rules: the compiled rules give
only the action mask.

Reasons use only the knowledge of the seat to act. Tests compare them with the mask in whole games.
"""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from skyenv.console.tables import counted
from skyenv.render.table import Table, visible_table
from skyenv.render.words import (
    PLACE_NAMES,
    Sentence,
    card_name,
    checked_action,
    plot_name,
    seat_name,
)
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
from skyenv.rules.components import (
    BLACK,
    BUILD_LIMIT,
    BUSINESSES,
    BUSINESSES_TO_PLACE,
    CENTRAL_PARK,
    COLOURS,
    COMMISSIONERS,
    DISTRICTS,
    FRONT,
    LOWEST_CARD,
    MAX_TILES_ON_PLOT,
    NUM_COLOURS,
    NUM_DISTRICTS,
    NUM_PLACES,
    NUM_PLOTS,
    NUM_RANKS,
    SET_START,
    SIXTH,
    STREETS,
)
from skyenv.rules.state import (
    NONE,
    PHASE_BID,
    PHASE_BUILD,
    PHASE_MOVE,
    PHASE_OPTION,
    PHASE_OVER,
    PHASE_PLOT,
    PHASE_START,
    PHASE_TAKE,
)


def why_illegal(position: np.void | Table, action: int) -> str:
    """Return why an action is illegal now, in a line; ``""`` if it is legal.

    Arguments and errors are those of :func:`reason`.
    """
    why = reason(position, action)
    return "" if why is None else why.text


def reason(position: np.void | Table, action: int) -> Sentence | None:
    """Return why an action is illegal now, with its rules; None if it is legal.

    Uses the knowledge of the seat to act, or of a view's own seat.

    Args:
        position: a record of GAME_DTYPE or VIEW_DTYPE, or the result of
            :func:`skyenv.render.table.visible_table`, to be reused for many actions.
        action: 0 to 102.

    Raises:
        IllegalActionError: there is no such action.
    """
    table = position if isinstance(position, Table) else visible_table(position)
    game, action, phase = table.game, checked_action(action), int(table.game["phase"])
    if phase == PHASE_OVER:
        return _because("the game is over", "END-1", "END-4")
    if table.seat is not None and table.seat != game["seat"]:
        rule = {PHASE_BID: "AUC-2", PHASE_BUILD: "AUC-2", PHASE_START: "SET-7"}.get(phase, "TURN-1")
        return _because(f"not your turn: {seat_name(game['seat'])} is to act", rule)
    if phase not in next(phases for end, phases in _PHASES if action < end):
        return _because(*_WRONG_PHASE[phase])
    return _REASONS[phase](game, action)


# Phases in which actions can be legal, by the number of the first action after them.
_PHASES: Final = (
    (PLOT, (PHASE_OPTION,)),
    (TAKE, (PHASE_START, PHASE_PLOT)),
    (MOVE, (PHASE_TAKE,)),
    (PASS, (PHASE_MOVE,)),
    (BUILD, (PHASE_BID,)),
    (NUM_ACTIONS, (PHASE_BUILD,)),
)


def _because(text: str, *rules: str) -> Sentence:
    return Sentence(text, rules)


# The reason for actions of other phases, and its rules.
_WRONG_PHASE: Final = {
    PHASE_START: ("place a starting skyscraper first", "SET-7"),
    PHASE_OPTION: ("choose an option first: A, B, C or D", "TURN-1"),
    PHASE_PLOT: ("choose the plot of the business first", "BUS-2"),
    PHASE_TAKE: ("take a coloured card first", "TURN-4"),
    PHASE_MOVE: ("move a commissioner first", "MOVE-1"),
    PHASE_BID: ("there is an auction: bid or pass", "AUC-2"),
    PHASE_BUILD: (
        "you have won the auction: build, or declare a building stop if you may",
        "AUC-10",
        "STOP-1",
    ),
}


def _plots_of(game: Any, district: int, seat: int) -> list[int]:
    return [plot for plot in range(NUM_COLOURS) if game["owner"][district][plot] == seat]


def _tiles(game: Any, district: int, plot: int) -> int:
    return int(game["tiles"][district][plot].sum())


def _why_no_start(game: Any, action: int) -> Sentence | None:
    """SET-8."""
    district, plot = divmod(action - PLOT, NUM_PLOTS)
    if plot == SIXTH:
        return _no_sixth(game) or _because(
            "no skyscraper ever stands on the sixth plot", "SET-8", "AUC-6"
        )
    if _plots_of(game, district, int(game["seat"])):
        return _because(
            f"you stand in {DISTRICTS[district]} already; the second skyscraper goes to another "
            "district",
            "SET-8",
        )
    if (owner := int(game["owner"][district][plot])) != NONE:
        return _because(f"{seat_name(owner)} stands on {plot_name(district, plot)}", "SET-8")
    if _tiles(game, district, plot):
        return _because(f"{plot_name(district, plot)} has a business", "SET-8")
    return None


def _no_sixth(game: Any) -> Sentence | None:
    return (
        _because("the front side of the board has no sixth plots", "COM-6", "COM-8")
        if game["side"] == FRONT
        else None
    )


def _why_no_business_there(game: Any, action: int) -> Sentence | None:
    """BUS-2."""
    district, plot = divmod(action - PLOT, NUM_PLOTS)
    if game["stopped"][district]:
        return _because(f"{DISTRICTS[district]} is stopped", "STOP-4", "BUS-2")
    if plot == SIXTH and (why := _no_sixth(game)):
        return why
    if plot != SIXTH and game["owner"][district][plot] != NONE:
        return _because(f"skyscrapers stand on {plot_name(district, plot)}", "BUS-2")
    if _tiles(game, district, plot) >= MAX_TILES_ON_PLOT:
        return _because(f"{plot_name(district, plot)} has two businesses already", "BUS-2")
    return None


def current_set(game: Any) -> int:
    """Return the index of the set that option B takes from; 8 once the row is empty (BUS-1)."""
    placed = int(game["placed"])
    return 2 * (placed // 3) + (1 if placed % 3 == 2 else 0)


def types_in_set(game: Any) -> list[int]:
    """Return the business types in the current set, ascending (BUS-1)."""
    if game["placed"] >= BUSINESSES_TO_PLACE:
        return []
    begin, end = SET_START[current_set(game) : current_set(game) + 2]
    return sorted({int(space) for space in game["row"][begin:end] if space != NONE})


def _why_no_option(game: Any, action: int) -> Sentence | None:
    """TURN-2, TURN-3, BUS-1, SCO-1."""
    if action == OPTION_A:
        some = int(game["general"][game["seat"]]) > 0
        return None if some else _because("your general supply is empty", "TURN-2")
    if OPTION_B <= action < OPTION_C:
        if action - OPTION_B not in types_in_set(game):
            return _because(
                f"there is no {BUSINESSES[action - OPTION_B]} in the current set", "BUS-1"
            )
        free = any(_why_no_business_there(game, plot) is None for plot in range(PLOT, TAKE))
        return None if free else _because("no plot takes a business", "TURN-3", "BUS-2")
    if action == OPTION_C:
        return None
    district = action - OPTION_D
    if game["stopped"][district]:
        return _because(f"{DISTRICTS[district]} is stopped", "SCO-1", "STOP-4")
    if district not in game["place"]:
        return _because(f"no commissioner stands in {DISTRICTS[district]}", "SCO-1", "TURN-3")
    return None


def _why_no_card(game: Any, action: int) -> Sentence | None:
    """TURN-4."""
    stacks = [other for other in range(NUM_COLOURS) if game["top"][other] != NONE]
    colour, first = action - TAKE, int(game["first_colour"])
    name, order = COLOURS[colour], "cards are taken in the order of the colours"
    if colour not in stacks:
        return _because(f"the {name} stack is empty", "TURN-4")
    if first == colour:
        return _because("the second card must have another colour", "TURN-4")
    if first > colour:
        return _because(f"{order}: after {COLOURS[first]} comes no {name}", "TURN-4")
    if first == NONE and colour == stacks[-1] and len(stacks) > 1:
        return _because(f"{order}: {name} comes second, behind another colour", "TURN-4")
    return None


def next_places(game: Any, place: int) -> list[int]:
    """Return the places to which streets lead, stopped districts skipped (MOVE-1, MOVE-3)."""
    places: set[int] = set()
    for target in STREETS[place]:
        stopped = target < NUM_DISTRICTS and game["stopped"][target]
        places |= set(next_places(game, target)) if stopped else {target}
    return sorted(places)


def _why_no_move(game: Any, action: int) -> Sentence | None:
    """MOVE-1, MOVE-3, MOVE-4."""
    commissioner, place = divmod(action - MOVE, NUM_PLACES)
    here, who = int(game["place"][commissioner]), COMMISSIONERS[commissioner]
    if place < NUM_DISTRICTS and game["stopped"][place]:
        return _because(f"{DISTRICTS[place]} is stopped and can't be visited", "MOVE-3", "STOP-4")
    targets = next_places(game, here)
    if place in targets:
        return None
    if place == here:
        return _because(f"the {who} commissioner is in {PLACE_NAMES[place]} already", "MOVE-1")
    names = " or ".join(PLACE_NAMES[target] for target in targets)
    text = f"from {PLACE_NAMES[here]} the {who} commissioner can only go to {names}"
    return _because(text, "MOVE-4" if here == CENTRAL_PARK else "MOVE-1", "COM-5")


def allowed_colours(game: Any, seat: int) -> list[int]:
    """Return the colours in which a seat may bid in the auction (AUC-4, AUC-5, AUC-12)."""
    if game["bid_colour"][seat] != NONE:
        return [int(game["bid_colour"][seat])]
    place = int(game["auction_place"])
    if place == CENTRAL_PARK:
        return (
            list(range(NUM_COLOURS)) if game["park_colour"] == NONE else [int(game["park_colour"])]
        )
    if own := _plots_of(game, place, seat):
        return own
    free = _plots_of(game, place, NONE)
    return [plot for plot in free if _tiles(game, place, plot) == 0] or free


def _why_no_bid(game: Any, action: int) -> Sentence | None:
    """AUC-3 to AUC-5, AUC-12, and the order of cards in the action encoding."""
    seat, laid = int(game["seat"]), int(game["laid"])
    if action == PASS:
        return (
            None
            if laid == NONE
            else _because("you have laid down cards: end the bid first", "AUC-3")
        )
    missing = int(game["highest"]) - int(game["bid_total"][seat])
    if action == BID_DONE:
        return None if missing < 0 else _because(f"the bid must exceed {game['highest']}", "AUC-3")
    colour, rank = divmod(action - BID, NUM_RANKS)
    if why := _why_no_colour(game, seat, colour):
        return why
    hand = game["hand"][seat]
    if hand[colour][rank] == 0:
        return _because(f"you have no {card_name(colour, rank)}", "AUC-3")
    order = (NUM_RANKS if colour == BLACK else 0) + rank
    if order < laid:
        return _because("cards are laid down in the order coloured 4, 5, 6, black 4, 5, 6", "AUC-4")
    left = sum(int(hand[colour][r]) * (r + LOWEST_CARD) for r in range(rank, NUM_RANKS))
    if colour != BLACK:
        left += sum(int(hand[BLACK][r]) * (r + LOWEST_CARD) for r in range(NUM_RANKS))
    if left <= missing:
        most = f"would end at {int(game['bid_total'][seat]) + left} at the most"
        return _because(f"the bid must exceed {game['highest']}, and {most}", "AUC-3")
    return None


def _why_no_colour(game: Any, seat: int, colour: int) -> Sentence | None:
    mine = int(game["bid_colour"][seat])
    if colour == BLACK:
        return _because("the first card must be a coloured one", "AUC-4") if mine == NONE else None
    allowed = allowed_colours(game, seat)
    if colour in allowed:
        return None
    if mine != NONE:
        return _because(f"your bid is in {COLOURS[mine]}: only {COLOURS[mine]} or black", "AUC-4")
    if game["auction_place"] == CENTRAL_PARK:
        return _because(f"the park area's auction is in {COLOURS[allowed[0]]}", "AUC-12")
    if not allowed:
        return _because("no colour is allowed: skyscrapers of others stand on every plot", "AUC-5")
    names = " or ".join(COLOURS[other] for other in allowed)
    district = int(game["auction_place"])
    if _plots_of(game, district, seat):
        return _because(f"you stand on {names}: only that colour", "AUC-5", "AUC-11")
    kind = "an empty plot" if _tiles(game, district, allowed[0]) == 0 else "a plot with businesses"
    return _because(f"only the colour of {kind}: {names}", "AUC-5")


def is_full(game: Any, district: int) -> bool:
    """Return whether every coloured plot of a district is occupied (STOP-1)."""
    return all(
        game["owner"][district][plot] != NONE or _tiles(game, district, plot)
        for plot in range(NUM_COLOURS)
    )


def can_build(game: Any, seat: int) -> int:
    """Return the skyscrapers that are ready for a seat to build if it wins the auction: its supply,
    but 0 where the winner must declare a building stop (STOP-1).
    """
    place = int(game["auction_place"])
    must_stop = place != CENTRAL_PARK and is_full(game, place) and seat not in game["owner"][place]
    return 0 if must_stop else int(game["supply"][seat])


def build_limit(game: Any, seat: int) -> int:
    """Return the skyscrapers that a seat could build if its bid won (AUC-10, COM-10): as many as
    its highest card allows and :func:`can_build` finds ready; 0 without a bid.
    """
    piles = zip(*game["bid_cards"][seat], strict=True)
    limits = [int(limit) for limit, pile in zip(BUILD_LIMIT, piles, strict=True) if sum(pile) > 0]
    return min(limits[-1], can_build(game, seat)) if limits else 0


def _why_no_building(game: Any, action: int) -> Sentence | None:
    """AUC-10, STOP-1."""
    seat, place = int(game["seat"]), int(game["auction_place"])
    full = place != CENTRAL_PARK and is_full(game, place)
    if action == STOP:
        if place == CENTRAL_PARK:
            return _because("there is no building stop in the park area", "AUC-12")
        return (
            None
            if full
            else _because(f"{DISTRICTS[place]} has an empty plot: no building stop", "STOP-1")
        )
    if full and game["owner"][place][game["bid_colour"][seat]] != seat:
        return _because(
            f"you have no plot in {DISTRICTS[place]}: you must declare a building stop", "STOP-1"
        )
    number, supply = action - BUILD, int(game["supply"][seat])
    if number <= (limit := build_limit(game, seat)):
        return None
    if limit == supply:
        return _because(f"you have {counted(supply, 'skyscraper')} in your supply", "AUC-10")
    return _because(f"your highest card allows {counted(limit, 'skyscraper')}", "AUC-10", "COM-10")


_REASONS: Final[dict[int, Callable[[Any, int], Sentence | None]]] = {
    PHASE_START: _why_no_start,
    PHASE_OPTION: _why_no_option,
    PHASE_PLOT: _why_no_business_there,
    PHASE_TAKE: _why_no_card,
    PHASE_MOVE: _why_no_move,
    PHASE_BID: _why_no_bid,
    PHASE_BUILD: _why_no_building,
}
