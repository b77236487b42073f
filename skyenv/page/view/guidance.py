"""Guidance for the open decision of a seat: one sentence, the four options, and data for a bid."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from operator import itemgetter
from typing import Any, Final

from skyenv.analysis.odds import bid_worth
from skyenv.render.reasons import (
    allowed_colours,
    build_limit,
    can_build,
    reason,
    types_in_set,
)
from skyenv.render.table import Table
from skyenv.render.words import (
    PLACE_NAMES,
    bid_state,
    capital,
    gains_text,
    seat_name,
    sentence,
    skyscrapers_text,
)
from skyenv.rules.actions import BID, OPTION_A, OPTION_B, OPTION_C, OPTION_D, STOP
from skyenv.rules.components import (
    BLACK,
    BONUS_DISTRICTS,
    BONUS_VP,
    BUILD_LIMIT,
    BUSINESSES,
    BUSINESSES_TO_PLACE,
    COLOURS,
    LOWEST_CARD,
    NUM_COLOURS,
    NUM_DISTRICTS,
    NUM_RANKS,
)
from skyenv.rules.state import (
    ALEA,
    NONE,
    PHASE_BID,
    PHASE_BUILD,
    PHASE_OPTION,
    PHASE_OVER,
    PHASE_PLOT,
    PHASE_TAKE,
)

Json = dict[str, Any]
_MUST_STOP: Final = "The district is full and you have no skyscraper there: the winner can't build."
_EVERY_THIRD: Final = 3  # BUS-4: special points come after every third business but the last


def who(names: Sequence[str], me: int | None, seat: int) -> str:
    """Return a seat's name in a sentence: ``you``, ``greedy``, ``Alea``."""
    return "you" if seat == me else seat_name(seat, names)


# ---- the four options ----


def options(position: Any, table: Table, names: Sequence[str]) -> list[Json]:
    """Return the four options: letter, name, what each would bring now, its actions, or the reason
    why it is illegal.

    Args:
        position: the seat's view, in which it chooses an option.
        table: the same view as a table.
        names: the players' names by seat.
    """
    game, name = table.game, partial(who, names, table.seat)
    kinds = types_in_set(game)
    there = sorted({int(place) for place in game["place"] if place < NUM_DISTRICTS})
    tiles = [(OPTION_B + kind, BUSINESSES[kind]) for kind in kinds]
    scored = [(OPTION_D + d, f"{PLACE_NAMES[d]}: {gains_text(game, d, name)}") for d in there]
    first = f"{skyscrapers_text(game)}, 2 coloured cards, a move"
    black = "1 black card, 2 moves, 2 coloured cards"
    return [
        _option(position, "A", "Skyscrapers", first, [(OPTION_A, "take them")]),
        _option(position, "B", "Business", _business(game), tiles),
        _option(position, "C", "Black card", black, [(OPTION_C, "take it")]),
        _option(position, "D", "Score", "VP for a district, 2 black cards, a move", scored),
    ]


def _option(
    position: Any, letter: str, name: str, brings: str, choices: list[tuple[int, str]]
) -> Json:
    reasons = [reason(position, action) for action, _ in choices]
    legal = [
        {"action": action, "text": text}
        for (action, text), why in zip(choices, reasons, strict=True)
        if why is None
    ]
    missing = [why.text for why in reasons if why] or ["no commissioner stands in a district"]
    why = "" if legal else missing[0]
    return {"letter": letter, "name": name, "brings": brings, "choices": legal, "why": why}


def _business(game: Any) -> str:
    """Describe the next business, which may bring special points or the end (BUS-4, BUS-5)."""
    number, text = int(game["placed"]) + 1, "a business"
    if number == BUSINESSES_TO_PLACE:
        return f"{text}: the 12th, it ends the game"
    if number % _EVERY_THIRD == 0:
        bonus = number // _EVERY_THIRD - 1
        text += f" ({BONUS_VP[bonus]} VP to all in {BONUS_DISTRICTS[bonus]} districts)"
    return f"{text}, 2 coloured cards, a move"


# ---- auctions ----


def auction(table: Table, names: Sequence[str]) -> Json | None:
    """Return the auction under way, all of it public; None if there is none.

    Returns:
        `text`: every bidder's bid, the highest first, or whether the bidder is out; what the
        highest bid and this seat's own build; `own`: whether this seat is still in.
    """
    game, me = table.game, table.seat
    if game["phase"] not in (PHASE_BID, PHASE_BUILD) or game["auction_place"] == NONE:
        return None
    bids = []
    for bidder in table.bidders:
        total = int(game["highest"] if bidder == ALEA else game["bid_total"][bidder])
        is_told = bidder != ALEA and bidder in (me, game["highest_bidder"])
        builds = f", builds up to {build_limit(game, bidder)}" if is_told else ""
        state = bid_state(game, bidder)
        name = who(names, me, bidder)
        bids.append((0 if state else -total, f"{name}: {state or f'{total}{builds}'}"))
    text = capital(" · ".join(text for _, text in sorted(bids, key=itemgetter(0))))
    return {"text": text, "own": me in range(table.players) and not game["out"][me]}


def assumptions(worth: Json, name: Callable[[int], str]) -> str:
    """Return what :func:`~skyenv.analysis.odds.bid_worth` assumes, and what the others can bid and
    gain.
    """
    stop = worth["stop"] or {"must": False, "others": []}
    gains = ", ".join(f"{name(one['seat'])} {one['vp']} VP" for one in stop["others"])
    bids = ", ".join(f"{name(one['seat'])} {one['most']}" for one in worth["others"])
    parts = [
        _MUST_STOP if stop["must"] else worth["assumes"],
        f"A stop also brings {gains}." * bool(gains),
        f"A card counts {worth['card']} VP, as in bidding tasks; measured in games it is worth 1.2"
        " to 1.8.",
        f"By what you know, the highest bids possible: {bids}." * bool(bids),
    ]
    return " ".join(filter(None, parts))


def least_bids(game: Any, seat: int, worth: Json, most: int) -> list[Json]:
    """Return the least bids that lead, for every colour and number of skyscrapers (COM-10).

    Args:
        game: the seat's view of the game.
        seat: the seat that bids.
        worth: what winning is worth (:func:`~skyenv.analysis.odds.bid_worth`).
        most: skyscrapers that it could build at most.

    Returns:
        `colour` (its number), `total`, `builds`, the `vp` that they bring, and `cards`, the actions
        that lay them down. The least total comes first, of equal ones the largest build.
    """
    found = []
    for one, limit in product(worth["colours"], range(NUM_RANKS)):  # the highest card's rank
        colour, builds = COLOURS.index(one["name"]), min(most, int(BUILD_LIMIT[limit]))
        bids: dict[int, list[int]] = {int(game["bid_total"][seat]): []}
        for kind, rank in product((colour, BLACK), range(limit + 1)):
            for _ in range(game["hand"][seat][kind][rank]):
                for total, cards in [*bids.items()]:
                    if cards or kind == colour or game["bid_colour"][seat] != NONE:  # AUC-4
                        laid = [*cards, BID + NUM_RANKS * kind + rank]
                        bids.setdefault(total + rank + LOWEST_CARD, laid)
        if total := min((total for total in bids if total > game["highest"]), default=0):
            bid = {"colour": colour, "total": total, "builds": builds, "vp": builds * one["vp"]}
            found.append(bid | {"cards": bids[total]})
    return sorted(found, key=lambda bid: (bid["total"], -bid["builds"]))


def hand_for_bid(table: Table, seat: int, worth: Json) -> Json:
    """Return the seat's cards and limits for a bid, for the page's bid tray (AUC-3 to AUC-5).

    Returns:
        `colours` allowed (numbers), `is_open`: the seat has no card on the table, so one must be
        coloured; `cards`: lists of colour (5: black), value, number; `laid` value and `highest`
        total to exceed; `limits`: skyscrapers by value (COM-10);
        `builds`: skyscrapers that it could build, by the cards on the table if there are any;
        `leads`: :func:`least_bids`.
    """
    game, is_open = table.game, bool(table.game["bid_colour"][seat] == NONE)
    builds = (can_build if is_open else build_limit)(game, seat)
    colours = allowed_colours(game, seat)
    hand = game["hand"][seat]
    cards = [
        [colour, rank + LOWEST_CARD, int(hand[colour][rank])]
        for colour in (*colours, BLACK)
        for rank in range(NUM_RANKS)
        if hand[colour][rank]
    ]
    return {
        "colours": colours,
        "is_open": is_open,
        "cards": cards,
        "laid": int(game["bid_total"][seat]),
        "highest": int(game["highest"]),
        "limits": {str(rank + LOWEST_CARD): int(limit) for rank, limit in enumerate(BUILD_LIMIT)},
        "builds": builds,
        "leads": least_bids(game, seat, worth, builds),
    }


def decision(position: Any, table: Table, names: Sequence[str], legal: Sequence[int]) -> Json:
    """Return all guidance for a seat: the sentence, and the data of the open decision.

    Args:
        position: the seat's view.
        table: the same view as a table.
        names: the players' names by seat.
        legal: the seat's legal actions.

    Returns:
        `sentence`; `auction`, with `worth` (:func:`~skyenv.analysis.odds.bid_worth`) and its
        :func:`assumptions`; and, if the seat is to act, `options`, `take` (colours of the stacks
        that have cards, when two are to be taken) or `bid`, else None; `ends`: whether the
        decision can end the game.
    """
    game = table.game
    phase = int(game["phase"]) if legal else PHASE_OVER
    stacks = [colour for colour in range(NUM_COLOURS) if game["top"][colour] != NONE]
    on, worth = auction(table, names), bid_worth(position) if legal else None
    if worth:
        worth["assumes"] = assumptions(worth, partial(who, names, table.seat))
    pair = phase == PHASE_TAKE and game["first_colour"] == NONE and len(stacks) > 1
    last = phase == PHASE_PLOT and game["placed"] == BUSINESSES_TO_PLACE - 1
    return {
        "sentence": sentence(table, names, legal),
        "auction": on | {"worth": worth} if on else None,
        "options": options(position, table, names) if phase == PHASE_OPTION else None,
        "take": [
            [colour, COLOURS[colour], int(game["top"][colour]) + LOWEST_CARD] for colour in stacks
        ]
        if pair
        else None,
        "ends": bool(last or (STOP in legal and game["stops"] == 1)),  # END-1
        "bid": hand_for_bid(table, int(game["seat"]), worth)
        if worth and game["laid"] == NONE
        else None,
    }
