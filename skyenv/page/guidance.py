"""What a seat is told about the decision that is open: one sentence, the four options, and what a
bid needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from skyenv.render.reasons import (
    allowed_colours,
    build_limit,
    reason,
    types_in_set,
)
from skyenv.render.table import Table
from skyenv.render.words import (
    LONG_NAMES,
    PLACE_NAMES,
    counted,
    district_points,
    seat_name,
    situation,
)
from skyenv.rules.actions import BUILD, OPTION_A, OPTION_B, OPTION_C, OPTION_D, PASS, STOP
from skyenv.rules.components import (
    BLACK,
    BONUS_DISTRICTS,
    BONUS_VP,
    BUILD_LIMIT,
    BUSINESSES,
    BUSINESSES_TO_PLACE,
    CENTRAL_PARK,
    COLOURS,
    LOWEST_CARD,
    NUM_COLOURS,
    NUM_DISTRICTS,
    NUM_RANKS,
    SKYSCRAPERS_PER_OPTION,
)
from skyenv.rules.state import (
    ALEA,
    ALEA_WAITS,
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

Json = dict[str, Any]
_EVERY_THIRD: Final = 3
"""BUS-4: special points come after every third business but the last."""


def either(things: Sequence[str]) -> str:
    """``a``, ``a or b``, ``a, b or c``."""
    return things[0] if len(things) == 1 else f"{', '.join(things[:-1])} or {things[-1]}"


def who(seat: int, names: Sequence[str], me: int | None) -> str:
    """A seat in a sentence: ``you``, ``seat 2 (greedy)``, ``Alea``."""
    return "you" if seat == me else seat_name(seat, names)


def _auctioned(game: Any) -> str:
    place = int(game["auction_place"])
    return "the park area" if place == CENTRAL_PARK else PLACE_NAMES[place]


def stacks_left(game: Any) -> list[int]:
    """TURN-4: the colours whose stack has a card."""
    return [colour for colour in range(NUM_COLOURS) if game["top"][colour] != NONE]


# ---- the sentence ----


def sentence(table: Table, names: Sequence[str], legal: Sequence[int]) -> str:
    """What to do now, or what is waited for, in one sentence.

    Args:
        table: what the seat sees.
        names: who sits where.
        legal: what the seat may do; nothing: others are to act, or the game is over.
    """
    if not legal:
        told = situation(table, names)
        return f"{told[:1].upper()}{told[1:]}."
    game = table.game
    return _SENTENCES[int(game["phase"])](game, legal)


def _start(game: Any, legal: Sequence[int]) -> str:
    if game["step"] < game["num_players"]:
        return "Place your first skyscraper: click an empty plot."
    return "Place your second skyscraper, in another district: click an empty plot."


def _plot(game: Any, legal: Sequence[int]) -> str:
    return (
        f"Place the {BUSINESSES[game['business']]}: click a plot that is empty or has one business."
    )


def _take(game: Any, legal: Sequence[int]) -> str:
    if game["first_colour"] != NONE:
        return "Take a second card, of another colour: click a stack."
    if len(stacks_left(game)) == 1:
        return "Take a card: only one stack has any."
    return "Take two cards of different colours: click two stacks."


def _bid(game: Any, legal: Sequence[int]) -> str:
    highest, place = int(game["highest"]), _auctioned(game)
    if legal == [PASS]:
        return (
            f"You can't bid more than {highest} for {place}: pass."
            if highest
            else f"You have no card to bid for {place}: pass."
        )
    if highest:
        return f"Bid for {place}: raise to at least {highest + 1}, or pass."
    return f"Bid for {place}: lay down cards, or pass."


def _build(game: Any, legal: Sequence[int]) -> str:
    place, most = (
        _auctioned(game),
        max((action - BUILD for action in legal if action < STOP), default=-1),
    )
    if most < 0:
        return f"You have won {place}: declare the building stop."
    what = (
        f"build up to {counted(most, 'skyscraper')}"
        if most
        else "there is nothing that you can build"
    )
    return f"You have won {place}: {what}{', or declare a building stop' if STOP in legal else ''}."


_SENTENCES: Final = {
    PHASE_START: _start,
    PHASE_OPTION: lambda game, legal: "Your turn: choose one of the four options.",
    PHASE_PLOT: _plot,
    PHASE_TAKE: _take,
    PHASE_MOVE: lambda game, legal: "Move a commissioner: click it, and then where it goes.",
    PHASE_BID: _bid,
    PHASE_BUILD: _build,
}


# ---- the four options ----


def options(position: Any, table: Table) -> list[Json]:
    """The four options as cards: letter, name, what each would bring now, its actions, and why
    there is none.

    Args:
        position: the seat's view, in which it chooses an option.
        table: the same.
    """
    game = table.game
    kinds = types_in_set(game)
    there = sorted({int(place) for place in game["place"] if place < NUM_DISTRICTS})
    cards = [
        (
            "A",
            "Skyscrapers",
            f"{SKYSCRAPERS_PER_OPTION} skyscrapers, 2 coloured cards, a move",
            [(OPTION_A, "take them")],
        ),
        (
            "B",
            "Business",
            _business(game, kinds),
            [(OPTION_B + kind, BUSINESSES[kind]) for kind in kinds],
        ),
        ("C", "Black card", "1 black card, 2 moves, 2 coloured cards", [(OPTION_C, "take it")]),
        (
            "D",
            "Score",
            "VP for a district, 2 black cards, a move",
            [
                (
                    OPTION_D + district,
                    f"{PLACE_NAMES[district]}: {_points(game, district, table.seat)}",
                )
                for district in there
            ],
        ),
    ]
    return [_option(position, *card) for card in cards]


def _option(
    position: Any, letter: str, name: str, brings: str, choices: list[tuple[int, str]]
) -> Json:
    reasons = [reason(position, action) for action, _ in choices]
    legal = [
        {"action": action, "text": text}
        for (action, text), why in zip(choices, reasons, strict=True)
        if why is None
    ]
    why = next(
        (why.text for why in reasons if why is not None), "no commissioner stands in a district"
    )
    return {
        "letter": letter,
        "name": name,
        "brings": brings,
        "choices": legal,
        "why": "" if legal else why,
    }


def _business(game: Any, kinds: Sequence[int]) -> str:
    """BUS-4, BUS-5: the next business may bring special points, or the end."""
    number = int(game["placed"]) + 1
    text = f"a {either([BUSINESSES[kind] for kind in kinds])}" if kinds else "a business"
    if number == BUSINESSES_TO_PLACE:
        return f"{text}: the 12th, it ends the game"
    if number % _EVERY_THIRD == 0:
        bonus = number // _EVERY_THIRD - 1
        text += f" ({BONUS_VP[bonus]} VP to all in {BONUS_DISTRICTS[bonus]} districts)"
    return f"{text}, 2 coloured cards, a move"


def _points(game: Any, district: int, me: int | None) -> str:
    gains = [
        f"{who(seat, (), me)} +{vp}"
        for seat, vp in enumerate(district_points(game, district))
        if vp
    ]
    return ", ".join(gains) or "nobody gets VP"


# ---- auctions ----


def auction(table: Table, names: Sequence[str]) -> Json | None:
    """The auction under way, all of it public; None if there is none.

    Returns:
        `place` and `highest` total, `by` whom (None: nobody), how many skyscrapers its cards allow
        (`allows`, None of Alea's),
        `mine`: this seat's total, `text`: all of it in a line, `still`: who can still bid.
    """
    game, me = table.game, table.seat
    if game["phase"] not in (PHASE_BID, PHASE_BUILD) or game["auction_place"] == NONE:
        return None
    bidder, highest = int(game["highest_bidder"]), int(game["highest"])
    mine = int(game["bid_total"][me]) if me is not None and me >= 0 else 0
    still = [who(seat, names, me) for seat in range(table.players) if not game["out"][seat]]
    still += ["Alea"] if table.players == 2 and game["alea"] == ALEA_WAITS else []
    allows = None if bidder in (NONE, ALEA) else build_limit(game, bidder)
    parts = [f"more than {highest} needed" if highest else "no bid yet"]
    if bidder == me and highest:
        parts = [f"your {highest} is the highest bid and builds up to {allows}"]
    elif highest:
        parts.append(
            f"{who(bidder, names, me)} has it"
            + ("" if allows is None else f", which builds up to {allows}")
        )
        if mine and me is not None:
            parts.append(f"yours is {mine} and builds up to {build_limit(game, me)}")
    text = "; ".join(parts)
    return {
        "place": LONG_NAMES[int(game["auction_place"])]
        if game["auction_place"] != CENTRAL_PARK
        else "the park area",
        "highest": highest,
        "by": None if bidder == NONE else who(bidder, names, me),
        "allows": allows,
        "mine": mine,
        "text": f"{text[:1].upper()}{text[1:]}.",
        "still": still,
    }


def hand_for_bid(table: Table, seat: int) -> Json:
    """What the seat can bid with, for a page that lays a bid together (AUC-3 to AUC-5).

    Returns:
        `colours` allowed (numbers), `is_open`: the seat has no card on the table, so one must be
        coloured; `cards`: lists of colour (5: black), value, how many; `laid` value and `highest`
        total to exceed; `limits`: skyscrapers by value (COM-10);
        `allows`: what the cards on the table allow; `supply`: skyscrapers that it has.
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


def _ends(game: Any, phase: int, legal: Sequence[int]) -> bool:
    """END-1: whether placing the business, or the building stop that may be declared, ends the
    game.
    """
    last = phase == PHASE_PLOT and game["placed"] == BUSINESSES_TO_PLACE - 1
    return bool(last or (STOP in legal and game["stops"] == 1))


def decision(position: Any, table: Table, names: Sequence[str], legal: Sequence[int]) -> Json:
    """All that a page needs to guide a seat: the sentence, and what belongs to the decision that is
    open.

    Args:
        position: the seat's view.
        table: the same.
        names: who sits where.
        legal: what the seat may do now.

    Returns:
        `sentence`; `auction`; and, if the seat is to act, `options`, `take` (colours of the stacks
        that have cards, when two are to be taken) or `bid`, else None; `ends`: whether what may be
        played ends the game.
    """
    game = table.game
    phase = int(game["phase"]) if legal else PHASE_OVER
    stacks = stacks_left(game)
    pair = phase == PHASE_TAKE and game["first_colour"] == NONE and len(stacks) > 1
    return {
        "sentence": sentence(table, names, legal),
        "auction": auction(table, names),
        "options": options(position, table) if phase == PHASE_OPTION else None,
        "take": [
            [colour, COLOURS[colour], int(game["top"][colour]) + LOWEST_CARD] for colour in stacks
        ]
        if pair
        else None,
        "ends": _ends(game, phase, legal),
        "bid": hand_for_bid(table, int(game["seat"]))
        if phase == PHASE_BID and game["laid"] == NONE
        else None,
    }
