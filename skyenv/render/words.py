"""The game in words: what happened, what it waits for, and what an action means.

All of it is made of what everybody may know, and of what the reader's own seat knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from skyenv.checks import check_integer
from skyenv.engine.events import Event
from skyenv.errors import IllegalActionError, OptionError, shown
from skyenv.render.table import Table, look
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
    BUSINESSES,
    BUSINESSES_TO_PLACE,
    CARD_COLOURS,
    CENTRAL_PARK,
    CITY_HALL,
    COLOURS,
    COMMISSIONERS,
    DISTRICTS,
    LOWEST_CARD,
    NUM_DISTRICTS,
    NUM_PLACES,
    NUM_PLOTS,
    NUM_RANKS,
    PLACES,
    PLOTS,
    SIXTH,
    SKYSCRAPERS_PER_OPTION,
)
from skyenv.rules.state import (
    ALEA,
    END_BUSINESSES,
    END_STOPS,
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

PLACE_NAMES: Final = (*DISTRICTS, "Central Park", "City Hall")
"""Places as sentences name them."""
LONG_NAMES: Final = (
    "34th Street West",
    "34th Street East",
    "42nd Street West",
    "Times Square",
    "42nd Street East",
    "52nd Street West",
    "52nd Street East",
    "Central Park",
    "City Hall",
)
_ORDINALS: Final = ("", "1st", "2nd", "3rd")
_END_WORDS: Final = {
    "businesses": "the last business has been placed",
    "stops": "the second building stop",
    "truncated": "truncated, as there were too many turns",
}
Names = Sequence[str | None] | None
"""Who sits where; None where nobody is named."""
NO_TOPS: Final[Mapping[str, int | None]] = {}


@dataclass(frozen=True)
class Sentence:
    """Something that is told, and where RULES.md says more.

    Attributes:
        text: one line.
        rules: the ids of its rules, such as ``AUC-4``, the most telling one first; at least one.
    """

    text: str
    rules: tuple[str, ...]


# ---- small words ----


def seat_name(seat: int, agents: Names = None) -> str:
    """``seat 1 (greedy)`` of seat 0, ``seat 2`` of seat 1, or ``Alea`` (−1 in events, ALEA in
    positions).

    People count seats from 1; numbers in records, addresses and the interface of programs begin
    with 0.
    """
    if seat in (-1, ALEA):
        return "Alea"
    name = agents[seat] if agents is not None and seat < len(agents) else None
    return f"seat {seat_label(seat)} ({name})" if name else f"seat {seat_label(seat)}"


def seat_label(seat: int) -> str:
    """What stands on a seat's pieces: ``1`` for seat 0, and ``A`` for Alea."""
    return "A" if seat in (-1, ALEA) else str(seat + 1)


def counted(number: int, thing: str) -> str:
    """``1 card``, ``2 cards``, ``2 galleries``."""
    if number == 1:
        return f"{number} {thing}"
    return f"{number} {thing[:-1]}ies" if thing.endswith("y") else f"{number} {thing}s"


def listed(things: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return things[0] if len(things) == 1 else f"{', '.join(things[:-1])} and {things[-1]}"


def _place(name: str) -> str:
    return PLACE_NAMES[PLACES.index(name)]


def _auctioned(name: str) -> str:
    return "the park area" if name == "CENTRAL_PARK" else name


def plot_name(district: int, plot: int) -> str:
    """``W34 green``, ``W34 sixth plot``."""
    return f"{DISTRICTS[district]} {PLOTS[plot]}" + (" plot" if plot == SIXTH else "")


def card_name(colour: int, rank: int) -> str:
    """``green 4``."""
    return f"{CARD_COLOURS[colour]} {rank + LOWEST_CARD}"


# ---- what happened ----


def event_text(event: Event, agents: Names = None, *, seat: int | None = None) -> str:
    """One event in a line.

    Args:
        event: as in ``Game.events`` and in records.
        agents: who sits where.
        seat: who reads it: only the seat itself is told the value of a black card that it has
            drawn.

    Raises:
        OptionError: there is no such event.
    """
    kind = event.get("event")
    if kind not in _EVENTS:
        raise OptionError(f"there is no event {shown(kind)}; the events are {', '.join(_EVENTS)}")
    if kind == "black":
        card = f"black {event['card']}" if seat == event["seat"] else "black card"
        return f"{seat_name(event['seat'], agents)} draws a {card}"
    return _EVENTS[kind](event, agents)


def _setup_text(event: Event, agents: Names) -> str:
    return (
        f"a new game for {len(event['hands'])} players; "
        "everybody has a card of each colour and four black ones"
    )


def _action_event_text(event: Event, agents: Names) -> str:
    return f"{seat_name(event['seat'], agents)} {_does(int(event['action']))}"


def _does(action: int) -> str:
    """An action in the third person, of which nothing but its number is known."""
    if action < OPTION_B:
        return f"takes {SKYSCRAPERS_PER_OPTION} skyscrapers into the supply"
    if action < OPTION_C:
        return f"takes a {BUSINESSES[action - OPTION_B]} to place"
    if action < OPTION_D:
        return "takes a black card and an extra move"
    if action < PLOT:
        return f"scores {DISTRICTS[action - OPTION_D]}"
    if action < TAKE:
        return f"chooses {plot_name(*divmod(action - PLOT, NUM_PLOTS))}"
    if action < MOVE:
        return f"takes the top {COLOURS[action - TAKE]} card"
    if action < PASS:
        commissioner, place = divmod(action - MOVE, NUM_PLACES)
        return f"moves the {COMMISSIONERS[commissioner]} commissioner to {PLACE_NAMES[place]}"
    if action < BID:
        return "passes"
    if action < BID_DONE:
        return f"lays down {card_name(*divmod(action - BID, NUM_RANKS))}"
    if action < BUILD:
        return "ends the bid"
    if action < STOP:
        return (
            f"builds {counted(action - BUILD, 'skyscraper')}"
            if action > BUILD
            else "builds nothing"
        )
    return "declares a building stop"


def _top_text(event: Event, agents: Names) -> str:
    if event["card"] is None:
        return f"the {event['color']} stack is empty now"
    return f"{event['color']} {event['card']} is the new top of its stack"


def _alea_text(event: Event, agents: Names) -> str:
    if not event["cards"]:
        return "Alea finds no black card and is out"
    return f"Alea bids {sum(event['cards'])} with black {', '.join(map(str, event['cards']))}"


def _alea_builds_text(event: Event, agents: Names) -> str:
    return f"Alea builds in {event['district']}, on {listed(event['plots'])}"


def _auction_text(event: Event, agents: Names) -> str:
    return (
        f"{_auctioned(event['place'])} is auctioned; {seat_name(event['starter'], agents)} begins"
    )


def _won_text(event: Event, agents: Names) -> str:
    if event["seat"] is None:
        return "nobody has bid"
    return f"{seat_name(event['seat'], agents)} wins the auction with {event['total']}"


def _vp_text(event: Event, agents: Names) -> str:
    gains = [f"{seat_name(seat, agents)} +{vp}" for seat, vp in enumerate(event["vp"]) if vp]
    place = "" if event["place"] is None else _place(event["place"])
    what = {
        "district": f"{place} is scored",
        "stop": f"VP for the building stop in {place}",
        "bonus": "special points for standing in many districts",
        "final": f"final scoring of {place}",
        "park": "scoring of the park area",
    }[event["why"]]
    return f"{what}: {', '.join(gains) or 'nobody gets VP'}"


def _end_text(event: Event, agents: Names) -> str:
    winners = [seat_name(seat, agents) for seat in event["winners"]]
    win = f"{winners[0]} wins" if len(winners) == 1 else f"{listed(winners)} share the win"
    best = event["scores"][event["winners"][0]]
    return f"the game is over ({_END_WORDS[event['reason']]}): {win} with {best} VP"


def _park_text(event: Event, agents: Names) -> str:
    return (
        f"in the park area {listed(event['tiles'])} count"
        if event["tiles"]
        else "the park area has no businesses"
    )


_EVENTS: Final[dict[Any, Callable[[Event, Names], str]]] = {
    "setup": _setup_text,
    "action": _action_event_text,
    "top": _top_text,
    "shuffle": lambda event, agents: "the black stack is shuffled",
    "black": lambda event, agents: "",  # what it says depends on who reads it
    "alea": _alea_text,
    "alea builds": _alea_builds_text,
    "tile to park": lambda event, agents: (
        f"the last tile of the set, a {event['business']}, goes to the park area"
    ),
    "auction": _auction_text,
    "won": _won_text,
    "stop": lambda event, agents: (
        f"building stop in {event['district']}, by {seat_name(event['seat'], agents)}"
    ),
    "vp": _vp_text,
    "park": _park_text,
    "end": _end_text,
}


_OPTION_RULES: Final = (
    ("TURN-2",),
    *[("BUS-2", "BUS-1")] * 4,
    ("TURN-1",),
    *[("SCO-1", "SCO-2")] * NUM_DISTRICTS,
)
_VP_RULES: Final = {
    "district": ("SCO-2", "SCO-1"),
    "stop": ("STOP-2", "STOP-3"),
    "bonus": ("BUS-4",),
    "final": ("END-2", "SCO-2"),
    "park": ("END-3",),
}
_EVENT_RULES: Final[dict[Any, tuple[str, ...]]] = {
    "setup": ("SET-4", "SET-5"),
    "top": ("TURN-5",),
    "shuffle": ("AUC-9",),
    "black": ("TURN-5", "INF-2"),
    "alea": ("ALEA-2",),
    "alea builds": ("ALEA-6",),
    "tile to park": ("BUS-3",),
    "auction": ("AUC-1", "AUC-2"),
    "stop": ("STOP-4", "STOP-1"),
    "park": ("END-3",),
}


def event_rules(event: Event) -> tuple[str, ...]:
    """The ids of the rules that an event comes from, the most telling one first.

    Raises:
        OptionError: there is no such event.
    """
    kind = event.get("event")
    if kind == "action":
        return _action_rules(int(event["action"]))
    if kind == "vp":
        return _VP_RULES[event["why"]]
    if kind == "won":
        return {-1: ("ALEA-3",), None: ("AUC-2",)}.get(event["seat"], ("AUC-8", "AUC-2"))
    if kind == "auction" and event["place"] == "CENTRAL_PARK":
        return ("AUC-12", "AUC-1")
    if kind == "stop" and event["seat"] == -1:
        return ("ALEA-7", "STOP-4")
    if kind == "end":
        return {"businesses": ("BUS-5", "END-4"), "stops": ("STOP-6", "END-4")}.get(
            event["reason"], ("END-5", "END-4")
        )
    if kind not in _EVENT_RULES:
        raise OptionError(f"there is no event {shown(kind)}; the events are {', '.join(_EVENTS)}")
    return _EVENT_RULES[kind]


def _action_rules(action: int) -> tuple[str, ...]:
    if action < PLOT:
        return _OPTION_RULES[action]
    if action < TAKE:
        return ("SET-8",)
    if action < MOVE:
        return ("TURN-4", "TURN-5")
    if action < PASS:
        return (
            ("MOVE-4", "AUC-1")
            if (action - MOVE) % NUM_PLACES == CITY_HALL
            else ("MOVE-1", "MOVE-2")
        )
    if action == PASS:
        return ("AUC-7", "AUC-2")
    if action < BUILD:
        return ("AUC-3", "AUC-4")
    return ("AUC-10",) if action < STOP else ("STOP-1",)


def tops_of(game: Any) -> dict[str, int | None]:
    """The value on top of each colour's stack in a position, as :func:`log_lines` takes them."""
    return {
        colour: None if top == NONE else int(top) + LOWEST_CARD
        for colour, top in zip(COLOURS, game["top"], strict=True)
    }


def tops_told(
    events: Iterable[Event], tops: Mapping[str, int | None] = NO_TOPS
) -> dict[str, int | None]:
    """The same as events tell it, as far as they do; `tops`: what was known before them."""
    visible = dict(tops)
    for event in events:
        if event.get("event") == "setup":
            visible = dict(event["tops"])
        elif event.get("event") == "top":
            visible[event["color"]] = event["card"]
    return visible


def log(
    events: Iterable[Event],
    agents: Names = None,
    *,
    seat: int | None = None,
    tops: Mapping[str, int | None] = NO_TOPS,
) -> list[str]:
    """The texts of :func:`log_lines`."""
    return [line.text for line in log_lines(events, agents, seat=seat, tops=tops)]


def log_lines(
    events: Iterable[Event],
    agents: Names = None,
    *,
    seat: int | None = None,
    tops: Mapping[str, int | None] = NO_TOPS,
) -> list[Sentence]:
    """Events in a line each with their rules, except that what belongs together comes in one line.

    The cards of a bid are one line with their total ("seat 1 (greedy) bids 12 with green 4 + black
    4, 4"), as are a business and its plot; a coloured card that is taken is told with its value,
    which everybody has seen (INF-1, TURN-5), and a stack's new top only if the stack is empty. For
    the total the events must go back to the auction's beginning, for the values to a setup.

    Args:
        events: oldest first.
        agents: who sits where.
        seat: who reads it; see :func:`event_text`.
        tops: the value on top of each colour's stack before the first event, if that isn't a setup;
            None: the stack is empty.
    """
    return Narrator(agents, seat, tops).lines(events)


class Narrator:
    """Tells events in lines, batch after batch; see :func:`log_lines`."""

    def __init__(
        self,
        agents: Names = None,
        seat: int | None = None,
        tops: Mapping[str, int | None] = NO_TOPS,
    ) -> None:
        self._agents, self._seat, self._tops = agents, seat, tops
        self._laid: dict[int, list[int]] = {}  # per seat: its cards in this auction, as actions
        self._business = ""

    def lines(self, events: Iterable[Event]) -> list[Sentence]:
        """Return the lines of the next events."""
        told = (self._line(event) for event in events)
        return [line for line in told if line is not None]

    def _line(self, event: Event) -> Sentence | None:
        kind = event.get("event")
        if kind == "action":
            return self._action(event, int(event["action"]))
        if kind == "auction":
            self._laid = {}
        elif kind in ("setup", "top"):
            self._tops = tops_told([event], self._tops)
            if kind == "top" and event["card"] is not None:
                return None
        return Sentence(event_text(event, self._agents, seat=self._seat), event_rules(event))

    def _action(self, event: Event, action: int) -> Sentence | None:
        seat, rules = int(event["seat"]), event_rules(event)
        if BID <= action < BID_DONE:
            self._laid.setdefault(seat, []).append(action)
            return None
        if OPTION_B <= action < OPTION_C:
            self._business = BUSINESSES[action - OPTION_B]
            return None
        does = _does(action)
        if action == BID_DONE:
            does = f"bids {_bid(self._laid.get(seat, []))}"
        elif PLOT <= action < TAKE:
            what = f"places a {self._business} on" if self._business else "builds on"
            does = f"{what} {plot_name(*divmod(action - PLOT, NUM_PLOTS))}"
            rules = ("BUS-2",) if self._business else rules
            self._business = ""
        elif TAKE <= action < MOVE and (card := self._tops.get(COLOURS[action - TAKE])):
            does = f"takes {COLOURS[action - TAKE]} {card}"
        return Sentence(f"{seat_name(seat, self._agents)} {does}", rules)


def _bid(actions: Sequence[int]) -> str:
    """``12 with green 4 + black 4, 4``."""
    cards = [divmod(action - BID, NUM_RANKS) for action in actions]
    return f"{sum(rank + LOWEST_CARD for _, rank in cards)} with {_cards(cards)}"


def _cards(cards: Sequence[tuple[int, int]]) -> str:
    """``green 4 + black 4, 4`` of (colour, rank)."""
    parts = []
    for colour, name in enumerate(CARD_COLOURS):
        values = sorted(rank + LOWEST_CARD for card_colour, rank in cards if card_colour == colour)
        if values:
            parts.append(f"{name} {', '.join(map(str, values))}")
    return " + ".join(parts)


# ---- what the game waits for ----


def situation(table: Table, agents: Names = None) -> str:
    """Who is about to do what; or who has won."""
    game = table.game
    if game["phase"] == PHASE_OVER:
        return _outcome(table, agents)
    return f"{seat_name(int(game['seat']), agents)} {_decision(game)}"


def _decision(game: Any) -> str:
    phase = int(game["phase"])
    if phase == PHASE_START:
        ordinal = _ORDINALS[1 if game["step"] < game["num_players"] else 2]
        return f"places the {ordinal} starting skyscraper"
    if phase == PHASE_PLOT:
        return f"places a {BUSINESSES[game['business']]}"
    if phase == PHASE_TAKE:
        return f"takes the {_ORDINALS[1 if game['first_colour'] == NONE else 2]} coloured card"
    if phase == PHASE_BUILD:
        return f"has won the auction of {_auctioned(PLACES[game['auction_place']])}"
    if phase == PHASE_BID:
        return f"bids for {_auctioned(PLACES[game['auction_place']])}"
    return {PHASE_OPTION: "chooses an option", PHASE_MOVE: "moves a commissioner"}[phase]


def winners(table: Table) -> list[int]:
    """END-4: the seats that would win if the game ended with the scores and hands as they are."""
    ranking = [
        (int(table.game["score"][seat]), table.cards_in_hand(seat)) for seat in range(table.players)
    ]
    return [seat for seat, rank in enumerate(ranking) if rank == max(ranking)]


def _outcome(table: Table, agents: Names) -> str:
    names = [seat_name(seat, agents) for seat in winners(table)]
    win = f"{names[0]} wins" if len(names) == 1 else f"{listed(names)} share the win"
    end = {END_BUSINESSES: "businesses", END_STOPS: "stops"}.get(
        int(table.game["end"]), "truncated"
    )
    return f"{win} with {int(table.game['score'].max())} VP ({_END_WORDS[end]})"


def progress(table: Table) -> list[str]:
    """How far the game has come, in a few words each."""
    game = table.game
    parts = [
        f"businesses {game['placed']} of {BUSINESSES_TO_PLACE}",
        f"building stops {game['stops']} of 2",
    ]
    if game["phase"] == PHASE_OVER:
        return [f"{counted(int(game['turns']), 'turn')}", *parts]
    if game["phase"] == PHASE_START:
        return ["setup"]
    parts.insert(0, f"turn {game['turns'] + 1}")
    if game["option"] != NONE:
        parts.insert(1, f"option {'ABCD'[game['option']]}, {_ORDINALS[game['step']]} action")
    return parts


# ---- what an action means here ----


def action_text(position: np.void, action: int) -> str:
    """What an action of the seat to act means in a position, in a line; also of an action that
    isn't legal there.

    Args:
        position: a record of GAME_DTYPE or VIEW_DTYPE.
        action: 0 to 102.

    Raises:
        IllegalActionError: there is no such action.
    """
    game, action = look(position).game, checked_action(action)
    if OPTION_D <= action < PLOT:
        return _scoring(game, action - OPTION_D)
    if PLOT <= action < TAKE:
        where = plot_name(*divmod(action - PLOT, NUM_PLOTS))
        if game["phase"] == PHASE_PLOT:
            return f"place the {BUSINESSES[game['business']]} on {where}"
        return f"place a starting skyscraper on {where}"
    if TAKE <= action < MOVE:
        top = int(game["top"][action - TAKE])
        return (
            f"take {card_name(action - TAKE, top)}"
            if top != NONE
            else f"take a {COLOURS[action - TAKE]} card"
        )
    if MOVE <= action < PASS:
        return _moving(game, *divmod(action - MOVE, NUM_PLACES))
    if PASS <= action < BUILD:
        return _bidding(game, action)
    if BUILD <= action <= STOP:
        return _winning(game, action)
    return {
        OPTION_A: f"option A: take {SKYSCRAPERS_PER_OPTION} skyscrapers into the supply",
        OPTION_C: "option C: take a black card and move a commissioner at once",
    }.get(action, f"option B: place a {BUSINESSES[(action - OPTION_B) % len(BUSINESSES)]}")


def checked_action(action: int) -> int:
    """The number of an action; raises IllegalActionError if there is none such."""
    return check_integer(
        "action", action, 0, NUM_ACTIONS - 1, lambda message: IllegalActionError(message, action)
    )


def district_points(game: Any, district: int) -> list[int]:
    """SCO-2: VP of every seat if the district is scored now."""
    points = [0] * int(game["num_players"])
    for owner, floors, value in zip(
        game["owner"][district], game["floors"][district], game["value"][district], strict=True
    ):
        if 0 <= owner < len(points):
            points[owner] += int(floors) * int(value)
    return points


def _scoring(game: Any, district: int) -> str:
    gains = [
        f"{seat_name(seat)} +{vp}" for seat, vp in enumerate(district_points(game, district)) if vp
    ]
    return f"option D: score {DISTRICTS[district]} ({', '.join(gains) or 'nobody gets VP'})"


def _moving(game: Any, commissioner: int, place: int) -> str:
    text = f"move the {COMMISSIONERS[commissioner]} commissioner to {PLACE_NAMES[place]}"
    if place != CITY_HALL:
        return text
    visited = [
        PLACE_NAMES[district] for district in game["visited"][commissioner] if district != NONE
    ]
    return f"{text}: {listed([*visited, 'the park area'])} will be auctioned"


def _bidding(game: Any, action: int) -> str:
    place = (
        _auctioned(PLACES[game["auction_place"]])
        if game["auction_place"] != NONE
        else "the next place"
    )
    if action == PASS:
        return f"pass: leave the auction of {place}"
    seat = int(game["seat"])
    total = int(game["bid_total"][seat]) if seat != NONE else 0
    if action == BID_DONE:
        return f"bid {total} for {place}"
    colour, rank = divmod(action - BID, NUM_RANKS)
    return f"lay down {card_name(colour, rank)} (total {total + rank + LOWEST_CARD})"


def _winning(game: Any, action: int) -> str:
    place, seat = int(game["auction_place"]), int(game["seat"])
    if action == STOP:
        floors = int(game["floors"][place].sum()) if 0 <= place < NUM_DISTRICTS else 0
        where = f" in {DISTRICTS[place]} ({floors} VP)" if 0 <= place < NUM_DISTRICTS else ""
        return f"declare a building stop{where}"
    where = ""
    if place == CENTRAL_PARK:
        where = " in the park area"
    elif place != NONE and seat != NONE and game["bid_colour"][seat] != NONE:
        where = f" on {plot_name(place, int(game['bid_colour'][seat]))}"
    return (
        f"build {counted(action - BUILD, 'skyscraper')}{where}"
        if action > BUILD
        else f"build nothing{where}"
    )
