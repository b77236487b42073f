"""Guidance for the open decision of a seat: one sentence, the four options, and data for a bid."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from skyenv.analysis.odds import bid_worth
from skyenv.render.reasons import (
    allowed_colours,
    reason,
    types_in_set,
)
from skyenv.render.table import Table
from skyenv.render.words import (
    PLACE_NAMES,
    build_limit,
    capital,
    gains_text,
    seat_name,
    sentence,
    skyscrapers_text,
)
from skyenv.rules.actions import OPTION_A, OPTION_B, OPTION_C, OPTION_D, STOP
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
    ALEA_WAITS,
    NONE,
    PHASE_BID,
    PHASE_BUILD,
    PHASE_OPTION,
    PHASE_OVER,
    PHASE_PLOT,
    PHASE_TAKE,
)

Json = dict[str, Any]
_EVERY_THIRD: Final = 3  # BUS-4: special points come after every third business but the last


def who(names: Sequence[str], me: int | None, seat: int) -> str:
    """Return a seat's name in a sentence: ``you``, ``greedy``, ``Alea``."""
    return "you" if seat == me else seat_name(seat, names)


# ---- the four options ----


def options(position: Any, table: Table) -> list[Json]:
    """Return the four options: letter, name, what each would bring now, its actions, or the reason
    why it is illegal.

    Args:
        position: the seat's view, in which it chooses an option.
        table: the same view as a table.
    """
    game, name = table.game, partial(who, (), table.seat)
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
        `text`: the highest bid, this seat's own, and the bidders still in with their totals;
        `own`: whether this seat is one of them.
    """
    game, me = table.game, table.seat
    if game["phase"] not in (PHASE_BID, PHASE_BUILD) or game["auction_place"] == NONE:
        return None
    bidder, highest = int(game["highest_bidder"]), int(game["highest"])
    mine = int(game["bid_total"][me]) if me is not None and me >= 0 else 0
    bidders = [seat for seat in range(table.players) if not game["out"][seat]]
    still = [f"{who(names, me, one)} {game['bid_total'][one] or ''}".strip() for one in bidders]
    still += ["Alea"] if table.players == 2 and game["alea"] == ALEA_WAITS else []
    builds = "" if bidder in (NONE, ALEA) else f"builds up to {build_limit(game, bidder)}"
    text = f"more than {highest} needed" if highest else "no bid yet"
    if bidder == me and highest:
        text = f"your {highest} is the highest bid and {builds}"
    elif highest:
        text += f"; {who(names, me, bidder)} has it{', which ' * bool(builds)}{builds}"
        if mine and me is not None:
            text += f"; yours is {mine} and builds up to {build_limit(game, me)}"
    return {"text": f"{capital(text)}. Still in: {', '.join(still)}.", "own": me in bidders}


def hand_for_bid(table: Table, seat: int) -> Json:
    """Return the seat's cards and limits for a bid, for the page's bid tray (AUC-3 to AUC-5).

    Returns:
        `colours` allowed (numbers), `is_open`: the seat has no card on the table, so one must be
        coloured; `cards`: lists of colour (5: black), value, number; `laid` value and `highest`
        total to exceed; `limits`: skyscrapers by value (COM-10);
        `allows`: skyscrapers that the cards on the table allow; `supply`: those that it has.
    """
    game = table.game
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
        "is_open": bool(game["bid_colour"][seat] == NONE),
        "cards": cards,
        "laid": int(game["bid_total"][seat]),
        "highest": int(game["highest"]),
        "limits": {str(rank + LOWEST_CARD): int(limit) for rank, limit in enumerate(BUILD_LIMIT)},
        "allows": build_limit(game, seat),
        "supply": int(game["supply"][seat]),
    }


def decision(position: Any, table: Table, names: Sequence[str], legal: Sequence[int]) -> Json:
    """Return all guidance for a seat: the sentence, and the data of the open decision.

    Args:
        position: the seat's view.
        table: the same view as a table.
        names: the players' names by seat.
        legal: the seat's legal actions.

    Returns:
        `sentence`; `auction`, with `worth` (:func:`~skyenv.analysis.odds.bid_worth`); and, if
        the seat is to act, `options`, `take` (colours of the stacks that have cards, when two are
        to be taken) or `bid`, else None; `ends`: whether the decision can end the game.
    """
    game = table.game
    phase = int(game["phase"]) if legal else PHASE_OVER
    stacks = [colour for colour in range(NUM_COLOURS) if game["top"][colour] != NONE]
    on = auction(table, names)
    pair = phase == PHASE_TAKE and game["first_colour"] == NONE and len(stacks) > 1
    last = phase == PHASE_PLOT and game["placed"] == BUSINESSES_TO_PLACE - 1
    return {
        "sentence": sentence(table, names, legal),
        "auction": on | {"worth": bid_worth(position) if legal else None} if on else None,
        "options": options(position, table) if phase == PHASE_OPTION else None,
        "take": [
            [colour, COLOURS[colour], int(game["top"][colour]) + LOWEST_CARD] for colour in stacks
        ]
        if pair
        else None,
        "ends": bool(last or (STOP in legal and game["stops"] == 1)),  # END-1
        "bid": hand_for_bid(table, int(game["seat"]))
        if phase == PHASE_BID and game["laid"] == NONE
        else None,
    }
