"""The game in words: events, situations and actions.

Texts use only public knowledge, and that of the reader's own seat.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby
from typing import Any, Final

import numpy as np

from skyenv.checks import check_integer
from skyenv.console.tables import counted
from skyenv.engine.events import Event
from skyenv.engine.rewards import CARD_VP
from skyenv.errors import IllegalActionError, OptionError, shown
from skyenv.render.table import Table, visible_table
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
    STARTING_GENERAL_SUPPLY,
)
from skyenv.rules.state import (
    ALEA,
    ALEA_OUT,
    ALEA_WAITS,
    END_REASONS,
    END_TASK,
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
Names = Sequence[str | None] | None  # the players' names by seat; None without names


@dataclass(frozen=True)
class Sentence:
    """A sentence with references to the rules.

    Attributes:
        text: one line.
        rules: the ids of its rules, such as ``AUC-4``, the most relevant first; at least one.
    """

    text: str
    rules: tuple[str, ...]


# ---- small words ----


def seat_name(seat: int, agents: Names = None) -> str:
    """Return a seat's name: ``greedy``, ``greedy 1`` for seat 0 if other seats have the same name,
    ``seat 2`` without one, or ``Alea`` (−1 in events, ALEA in positions).

    Texts count seats from 1; records, URLs and the API count from 0.
    """
    if seat in (-1, ALEA):
        return "Alea"
    name = agents[seat] if agents is not None and seat < len(agents) else None
    if agents is not None and name and agents.count(name) == 1:
        return name
    return f"{name or 'seat'} {seat_label(seat)}"


def seat_label(seat: int) -> str:
    """Return the label on a seat's pieces: ``1`` for seat 0, and ``A`` for Alea."""
    return "A" if seat in (-1, ALEA) else str(seat + 1)


def listed(things: Sequence[str]) -> str:
    """Return a list in words: ``a``, ``a and b``, ``a, b and c``."""
    return things[0] if len(things) == 1 else f"{', '.join(things[:-1])} and {things[-1]}"


def plot_name(district: int, plot: int) -> str:
    """Return a plot's name: ``W34 green``, ``W34 sixth plot``."""
    return f"{DISTRICTS[district]} {PLOTS[plot]}" + (" plot" if plot == SIXTH else "")


def card_name(colour: int, rank: int) -> str:
    """Return a card's name: ``green 4``."""
    return f"{CARD_COLOURS[colour]} {rank + LOWEST_CARD}"


# ---- an auction ----

TASK_PAYS: Final = f"lead gained, all districts scored, less {CARD_VP} VP a card"


def auctioned(place: int) -> str:
    """Return a place's name in auctions: ``W34``, ``the park area``."""
    return "the park area" if place == CENTRAL_PARK else PLACE_NAMES[place]


def after_auction(game: Any) -> str:
    """Return what is auctioned after the current auction (AUC-1), and a task's payoff."""
    place, left = int(game["auction_place"]), int(game["auctions_left"])
    markers = game["visited"][game["auction_commissioner"]]
    later = [PLACES[marker] for marker in markers if marker not in (NONE, place)]
    later += [] if place == CENTRAL_PARK else ["park area"]
    if left != NONE:
        later = later[: left - 1]
    then = f"then {', '.join(later)}" if later else "the last one"
    return then if left == NONE else f"{then}; the task pays the {TASK_PAYS}"


def bid_piles(game: Any, bidder: int) -> list[tuple[int, Sequence[int]]]:
    """Return the cards that a bidder has on the table: colours, and numbers by rank."""
    if bidder == ALEA:
        return [(BLACK, game["alea_cards"])]
    return [*zip((int(game["bid_colour"][bidder]), BLACK), game["bid_cards"][bidder], strict=True)]


def bid_state(game: Any, bidder: int) -> str:
    """Return ``out``, ``no bid yet``, for Alea ``bids last``, or "" beside laid cards."""
    if bidder == ALEA:
        return {ALEA_OUT: "out", ALEA_WAITS: "bids last"}.get(int(game["alea"]), "")
    has_bid = any(any(counts) for _, counts in bid_piles(game, bidder))
    return "out" if game["out"][bidder] else "" if has_bid else "no bid yet"


# ---- actions ----

# The effect of each action, independent of the position; a variant's last skyscrapers may be fewer.
_UP_TO: Final = "up to " if STARTING_GENERAL_SUPPLY % SKYSCRAPERS_PER_OPTION else ""
_DOES: Final = (
    f"take {_UP_TO}{counted(SKYSCRAPERS_PER_OPTION, 'skyscraper')} into the supply",
    *(f"place a {business}" for business in BUSINESSES),
    "take a black card and an extra move",
    *(f"score {district}" for district in DISTRICTS),
    *(f"choose {plot_name(*divmod(spot, NUM_PLOTS))}" for spot in range(TAKE - PLOT)),
    *(f"take the top {colour} card" for colour in COLOURS),
    *(f"move the {who} commissioner to {place}" for who in COMMISSIONERS for place in PLACE_NAMES),
    "pass",
    *(f"lay down {card_name(*divmod(card, NUM_RANKS))}" for card in range(BID_DONE - BID)),
    "end the bid",
    "build nothing",
    *(f"build {counted(number, 'skyscraper')}" for number in range(1, STOP - BUILD)),
    "declare a building stop",
)

# By the number of the first action of a kind.
_ACTION_RULES: Final = {
    OPTION_A: "TURN-2",
    OPTION_B: "BUS-2 BUS-1",
    OPTION_C: "TURN-1",
    OPTION_D: "SCO-1 SCO-2",
    PLOT: "SET-8",
    TAKE: "TURN-4 TURN-5",
    MOVE: "MOVE-1 MOVE-2",
    PASS: "AUC-7 AUC-2",
    BID: "AUC-3 AUC-4",
    BUILD: "AUC-10",
    STOP: "STOP-1",
}


def _third(phrase: str) -> str:
    """Return the third person: ``takes a card`` for ``take a card``."""
    verb, space, rest = phrase.partition(" ")
    irregular = {"pass": "passes", "have": "has"}
    return f"{irregular.get(verb, f'{verb}s')}{space}{rest}"


def _addressed(text: str) -> str:
    """Return a line in which the verb after the name ``you`` is in the second person."""

    def second(match: re.Match[str]) -> str:
        verb = match[1]
        return f"you {verb.removesuffix('es' if verb == 'passes' else 's')}"

    text = re.sub(r"\byou (\w+s)\b", second, text)
    return capital(text) if text.startswith("you ") else text


def _action_rules(action: int) -> tuple[str, ...]:
    if MOVE <= action < PASS and (action - MOVE) % NUM_PLACES == CITY_HALL:
        return ("MOVE-4", "AUC-1")
    first = max(kind for kind in _ACTION_RULES if kind <= action)
    return tuple(_ACTION_RULES[first].split())


def checked_action(action: int) -> int:
    """Return an action's number; raise IllegalActionError if there is no such action."""
    return check_integer(
        "action", action, 0, NUM_ACTIONS - 1, lambda message: IllegalActionError(message, action)
    )


def action_text(position: np.void, action: int, agents: Names = None) -> str:
    """Return the meaning of an action, legal or not, for the seat to act in a position, in a line.

    Args:
        position: a record of GAME_DTYPE or VIEW_DTYPE.
        action: 0 to 102.
        agents: the players' names by seat.

    Raises:
        IllegalActionError: there is no such action.
    """
    game, action = visible_table(position).game, checked_action(action)
    does, place, seat = _DOES[action], int(game["auction_place"]), int(game["seat"])
    where = "the next place" if place == NONE else auctioned(place)
    if action == OPTION_A:
        return f"option A: take {skyscrapers_text(game)} into the supply"
    if action < OPTION_D:
        return f"option {'B' if action < OPTION_C else 'C'}: {does}"
    if action < PLOT:
        gains = gains_text(game, action - OPTION_D, lambda seat: seat_name(seat, agents))
        return f"option D: {does} ({gains})"
    if action < TAKE:
        is_business = game["phase"] == PHASE_PLOT
        what = f"the {BUSINESSES[game['business']]}" if is_business else "a starting skyscraper"
        return f"place {what} on {does.removeprefix('choose ')}"
    if action < MOVE:
        top = int(game["top"][action - TAKE])
        return does if top == NONE else f"take {card_name(action - TAKE, top)}"
    if action < PASS:
        commissioner, target = divmod(action - MOVE, NUM_PLACES)
        visited = [DISTRICTS[spot] for spot in game["visited"][commissioner] if spot != NONE]
        later = f": {listed([*visited, 'the park area'])} will be auctioned"
        return does + (later if target == CITY_HALL else "")
    if action == PASS:
        return f"pass: leave the auction of {where}"
    if action < BUILD:
        total = 0 if seat == NONE else int(game["bid_total"][seat])
        if action == BID_DONE:
            return f"bid {total} for {where}"
        return f"{does} (total {total + total_of([action])})"
    if action == STOP:
        is_district = 0 <= place < NUM_DISTRICTS
        return f"{does} in {where} ({game['floors'][place].sum()} VP)" if is_district else does
    if place == CENTRAL_PARK:
        return f"{does} in {where}"
    colour = NONE if NONE in (place, seat) else int(game["bid_colour"][seat])
    return does if colour == NONE else f"{does} on {plot_name(place, colour)}"


def skyscrapers_text(game: Any) -> str:
    """Return the skyscrapers that option A brings the seat to act (TURN-2); where it has none left,
    or no seat acts, the usual number.
    """
    left = 0 if game["seat"] == NONE else int(game["general"][game["seat"]])
    return counted(min(left or SKYSCRAPERS_PER_OPTION, SKYSCRAPERS_PER_OPTION), "skyscraper")


def gains_text(game: Any, district: int, name: Callable[[int], str] = seat_name) -> str:
    """Return the VP that each seat gets if a district is scored now (SCO-2); `name`: seat names."""
    owners, vp = game["owner"][district], game["floors"][district] * game["value"][district]
    seats = range(int(game["num_players"]))
    return _gains(((seat, int(vp[owners == seat].sum())) for seat in seats), name)


# ---- events ----

_ENDS: Final = {
    "businesses": "the last business has been placed",
    "stops": "the second building stop",
    "truncated": "truncated, as there were too many turns",
    "task": "the task's last auction is over",
}
# By the kind of event: text and rules, as in events.toml.
_EVENTS: Final[dict[str, dict[str, Any]]] = tomllib.loads(
    files("skyenv.render").joinpath("events.toml").read_text(encoding="utf-8")
)


def _template(event: Event) -> dict[str, str]:
    """Return the template of an event's text, and its rules."""
    usual = _EVENTS[event["event"]]
    special: dict[str, str] = usual.get(str(event.get(usual.get("by", ""))), usual)
    return special


def _in_words(event: Event, name: Callable[[int], str]) -> dict[str, Any]:
    """Return the fields of an event's template."""
    fields = dict(event)
    for role in ("seat", "starter"):
        if event.get(role) is not None:
            fields[role] = name(event[role])
    match event["event"]:
        case "setup" | "deal":
            fields["players"] = len(event["hands"])
        case "action":
            fields["does"] = _third(_DOES[int(event["action"])])
        case "alea":
            fields |= {"bid": sum(event["cards"]), "cards": ", ".join(map(str, event["cards"]))}
        case "alea builds":
            fields["plots"] = listed(event["plots"])
        case "auction":
            fields["place"] = auctioned(PLACES.index(event["place"]))
        case "vp":
            fields["gains"] = _gains(enumerate(event["vp"]), name)
        case "park":
            fields["tiles"] = listed(event["tiles"] or [""])
        case "end":
            winners = [name(seat) for seat in event["winners"]]
            payoffs = [f"{name(seat)} {vp:+g}" for seat, vp in enumerate(event.get("payoff", ()))]
            fields |= {"why": _ENDS[event["reason"]], "win": _win(winners, max(event["scores"]))}
            fields["payoffs"] = ", ".join(payoffs)
    return fields


def _gains(points: Iterable[tuple[int, int]], name: Callable[[int], str]) -> str:
    return ", ".join(f"{name(seat)} +{vp}" for seat, vp in points if vp) or "nobody gets VP"


def _win(names: Sequence[str], score: int) -> str:
    who = f"{names[0]} wins" if len(names) == 1 else f"{listed(names)} share the win"
    return f"{who} with {score} VP"


def event_text(
    event: Event, agents: Names = None, *, seat: int | None = None, is_open: bool = False
) -> str:
    """Return an event as a line of text.

    Args:
        event: as in ``Game.events`` and in records.
        agents: the players' names by seat.
        seat: the reading seat: only the seat itself sees the value of a black card that it has
            drawn.
        is_open: show the values of all black cards.

    Raises:
        OptionError: there is no such event.
    """
    kind = event.get("event")
    if kind not in _EVENTS:
        raise OptionError(f"there is no event {shown(kind)}; the events are {', '.join(_EVENTS)}")
    if kind == "black" and not is_open and seat != event["seat"]:
        event = {**event, "card": "card"}
    fields = _in_words(event, lambda seat: seat_name(seat, agents))
    return _addressed(_template(event)["text"].format(**fields))


def event_rules(event: Event) -> tuple[str, ...]:
    """Return the ids of the rules behind an event, the most relevant first."""
    if event["event"] == "action":
        return _action_rules(int(event["action"]))
    return tuple(_template(event)["rules"].split())


class Narrator:
    """A stateful converter of events to log lines with rules, which merges related events.

    The cards of a bid are one line with their total ("greedy bids 12 with green 4 + black
    4, 4"), as are a business and its plot. A taken coloured card appears with its public value
    (INF-1, TURN-5), a stack's new top only if the stack is empty. For totals the events must start
    at or before the auction's beginning, for values at a setup.

    Args:
        agents: the players' names by seat.
        seat: the reading seat; see :func:`event_text`.
        is_open: show the values of all black cards.
    """

    def __init__(
        self, agents: Names = None, seat: int | None = None, is_open: bool = False
    ) -> None:
        self._agents, self._seat, self._is_open = agents, seat, is_open
        self._tops: dict[str, int | None] = {}  # the visible cards' values; None: no card is left
        self._laid: dict[int, list[int]] = {}  # per seat: its cards in this auction, as actions
        self._business = ""

    def lines(self, events: Iterable[Event]) -> list[Sentence]:
        """Return the lines of the next events, oldest first."""
        return [Sentence(text, rules) for text, rules in map(self._line, events) if text]

    def _line(self, event: Event) -> tuple[str, tuple[str, ...]]:
        """Return the line of an event, "" while its related events are missing, and its rules."""
        kind = event.get("event")
        if kind == "action":
            does, rules = self._action(int(event["seat"]), int(event["action"]))
            name = seat_name(int(event["seat"]), self._agents)
            return does and _addressed(f"{name} {does}"), rules
        text = event_text(event, self._agents, seat=self._seat, is_open=self._is_open)
        if kind == "setup":
            self._tops = dict(event["tops"])
        elif kind == "auction":
            self._laid = {}
        elif kind == "top":
            self._tops[event["color"]] = event["card"]
            text = "" if event["card"] else text
        return text, event_rules(event)

    def _action(self, seat: int, action: int) -> tuple[str, tuple[str, ...]]:
        does, rules = _third(_DOES[action]), _action_rules(action)
        if BID <= action < BID_DONE:
            self._laid.setdefault(seat, []).append(action)
            return "", rules
        if OPTION_B <= action < OPTION_C:
            self._business = does
            return "", rules
        if action == BID_DONE:
            laid = self._laid.get(seat, [])
            does = f"bids {total_of(laid)} with {cards_text(laid)}"
        elif PLOT <= action < TAKE:
            where = f"on {plot_name(*divmod(action - PLOT, NUM_PLOTS))}"
            rules = ("BUS-2",) if self._business else rules
            does, self._business = f"{self._business or 'builds'} {where}", ""
        elif TAKE <= action < MOVE and (card := self._tops.get(COLOURS[action - TAKE])):
            does = f"takes {COLOURS[action - TAKE]} {card}"
        return does, rules


def total_of(actions: Iterable[int]) -> int:
    """Return the total of a bid's cards, by the actions that lay them down."""
    return sum((action - BID) % NUM_RANKS + LOWEST_CARD for action in actions)


def cards_text(actions: Iterable[int]) -> str:
    """Return a bid's cards in words: ``green 4 + black 4, 4``."""
    cards = sorted(divmod(action - BID, NUM_RANKS) for action in actions)
    return " + ".join(
        f"{CARD_COLOURS[colour]} {', '.join(str(rank + LOWEST_CARD) for _, rank in pile)}"
        for colour, pile in groupby(cards, key=lambda card: card[0])
    )


# ---- situations ----


def situation(table: Table, agents: Names = None) -> str:
    """Return the seat to act with its decision, or the winners."""
    game = table.game
    if game["phase"] == PHASE_OVER:
        why = _ENDS[END_REASONS[game["end"]]]
        names = [seat_name(seat, agents) for seat in winners(table)]
        told = f"{_win(names, int(game['score'].max()))} ({why})" if names else why
    else:
        told = f"{seat_name(int(game['seat']), agents)} {_third(_decision(game))}"
    return _addressed(told)


def sentence(table: Table, agents: Names, legal: Sequence[int]) -> str:
    """Return the reader's instruction for the open decision, or the situation, in one sentence.

    Args:
        table: the reader's view.
        agents: the players' names by seat.
        legal: the reader's legal actions; empty if another seat is to act, or the game is over.
    """
    if not legal:
        return f"{capital(situation(table, agents))}."
    game = table.game
    what = _decision(game)
    you = "You " if what.startswith("have ") else ""
    return f"{capital(you + what)}: {_how(game, legal)}."


def capital(text: str) -> str:
    """Return a text with its first letter in upper case."""
    return f"{text[:1].upper()}{text[1:]}"


def _decision(game: Any) -> str:
    """Return the open decision: ``bid for W34``."""
    place = "" if game["auction_place"] == NONE else auctioned(int(game["auction_place"]))
    second = game["step"] >= game["num_players"]
    stacks = sum(int(top) != NONE for top in game["top"])
    cards = "a second coloured card" if game["first_colour"] != NONE else "two coloured cards"
    return {
        PHASE_START: f"place the {_ORDINALS[2 if second else 1]} starting skyscraper",
        PHASE_OPTION: "choose an option",
        PHASE_PLOT: f"place a {BUSINESSES[game['business']]}",
        PHASE_TAKE: f"take {cards if game['first_colour'] != NONE or stacks > 1 else 'a card'}",
        PHASE_MOVE: "move a commissioner",
        PHASE_BID: f"bid for {place}",
        PHASE_BUILD: f"have won the auction of {place}",
    }[int(game["phase"])]


def _how(game: Any, legal: Sequence[int]) -> str:
    """Return how the seat to act decides on the page."""
    highest, most = int(game["highest"]), max((a - BUILD for a in legal if a < STOP), default=NONE)
    bid = f"raise to at least {highest + 1}, or pass" if highest else "lay down cards, or pass"
    if legal == [PASS]:
        why = f"you can't bid more than {highest}" if highest else "you have no card for it"
        bid = f"{why}; pass"
    stop = "declare a building stop"
    build = f"build up to {counted(most, 'skyscraper')}" if most else "you can build nothing"
    if STOP in legal:
        build = f"{build}, or {stop}" if most != NONE else stop
    another = game["step"] >= game["num_players"]
    return {
        PHASE_START: f"click an empty plot{' in another district' if another else ''}",
        PHASE_OPTION: "A, B, C or D",
        PHASE_PLOT: "click a plot that is empty or has one business",
        PHASE_TAKE: "click a stack, of another colour than the first"
        if game["first_colour"] != NONE
        else "click the stacks",
        PHASE_MOVE: "click it, and then where it goes",
        PHASE_BID: bid,
        PHASE_BUILD: build,
    }[int(game["phase"])]


def winners(table: Table) -> list[int]:
    """Return the seats that would win with the current scores and hands (END-4); empty for a
    finished task, which has payoffs instead.
    """
    scores = table.game["score"]
    if table.game["end"] == END_TASK:
        return []
    ranking = [(int(scores[seat]), table.cards_in_hand(seat)) for seat in range(table.players)]
    return [seat for seat, rank in enumerate(ranking) if rank == max(ranking)]


def progress(table: Table) -> list[str]:
    """Return the progress of the game, in a few words each."""
    game = table.game
    if game["phase"] == PHASE_START:
        return ["setup"]
    is_over = game["phase"] == PHASE_OVER
    parts = [counted(int(game["turns"]), "turn") if is_over else f"turn {game['turns'] + 1}"]
    if game["option"] != NONE and not is_over:
        parts.append(f"option {'ABCD'[game['option']]}, {_ORDINALS[game['step']]} action")
    parts.append(f"businesses {game['placed']} of {BUSINESSES_TO_PLACE}")
    return [*parts, f"building stops {game['stops']} of 2"]
