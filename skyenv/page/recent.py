"""What happened since a seat's last turn: a line for every turn of the others, and what has changed
on the board.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from skyenv.engine.events import Event
from skyenv.page.guidance import who
from skyenv.render.words import PLACE_NAMES, listed, plot_name
from skyenv.rules.actions import (
    BID,
    BID_DONE,
    BUILD,
    MOVE,
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
    COLOURS,
    COMMISSIONERS,
    DISTRICTS,
    LOWEST_CARD,
    NUM_COLOURS,
    NUM_PLACES,
    NUM_PLOTS,
    NUM_RANKS,
    PLACES,
    PLOTS,
    SKYSCRAPERS_PER_OPTION,
)

_VP_WHY: Final = {
    "district": "scoring",
    "stop": "the building stop",
    "bonus": "special points",
    "final": "final scoring",
    "park": "the park area",
}


@dataclass
class Turn:
    """One turn, or the placing of a starting skyscraper.

    Attributes:
        seat: whose turn.
        did: what the seat did, a few words each.
        taken: the coloured cards that it took, with their values.
        auctions: a line for each auction in it.
        points: VP that it brought, a text each.
        parts: what of the drawing has changed: pairs of a data attribute's name and its value.
    """

    seat: int
    did: list[str] = field(default_factory=list)
    taken: list[str] = field(default_factory=list)
    auctions: list[str] = field(default_factory=list)
    points: list[str] = field(default_factory=list)
    parts: list[tuple[str, str]] = field(default_factory=list)


def turns(events: Sequence[Event], names: Sequence[str], me: int | None) -> list[Turn]:
    """All turns of a game so far.

    Args:
        events: all that has happened, as the seat has seen it.
        names: who sits where.
        me: who reads it.
    """
    teller = _Teller(names, me)
    for event in events:
        teller.tell(event)
    return teller.turns


def since_last_turn(events: Sequence[Event], names: Sequence[str], me: int | None) -> list[Turn]:
    """The turns of others that came after the last one of `me` that is over; of all seats the last
    ones if nobody reads it.
    """
    told = turns(events, names, me)
    if told and told[-1].seat == me:
        told.pop()  # it is under way, or was the last one and nothing came after it
    last = max((number for number, turn in enumerate(told) if turn.seat == me), default=-1)
    return told[last + 1 :][-len(names) :]


def alea_since(events: Sequence[Event], step: int) -> list[list[int]]:
    """ALEA-2: the cards that Alea has turned up after `step` actions: the values of each bid, in
    their order.
    """
    bids: list[list[int]] = []
    actions = 0
    for event in events:
        actions += event["event"] == "action"
        if event["event"] == "alea" and actions > step and event["cards"]:
            bids.append(list(event["cards"]))
    return bids


def payload(turn: Turn, names: Sequence[str], me: int | None) -> dict[str, Any]:
    """A turn as it goes to a browser: `seat`, `who`, `text`, `auctions`, `points`, `parts`."""
    did = [*turn.did, f"took {listed(turn.taken)}"] if turn.taken else turn.did
    return {
        "seat": turn.seat,
        "who": who(turn.seat, names, me),
        "text": "; ".join(did),
        "auctions": turn.auctions,
        "points": turn.points,
        "parts": turn.parts,
    }


class _Teller:
    """Reads events one by one and tells of turns."""

    def __init__(self, names: Sequence[str], me: int | None) -> None:
        self.turns: list[Turn] = []
        self._names, self._me = names, me
        self._tops: dict[str, int | None] = {}
        self._business = ""
        self._place = ""
        self._colours: dict[int, int] = {}
        self._totals: dict[int, int] = {}
        self._story: list[str] = []

    def _who(self, seat: int) -> str:
        return who(seat, self._names, self._me)

    def tell(self, event: Event) -> None:
        """Add an event to what is told."""
        kind = str(event["event"])
        if kind == "setup":
            self._tops = dict(event["tops"])
        elif kind == "action":
            self._act(int(event["seat"]), int(event["action"]))
        elif kind == "top":
            self._tops[event["color"]] = event["card"]
            if self.turns:
                self._changed("stack", COLOURS.index(event["color"]))
        elif self.turns:
            getattr(self, f"_{kind.replace(' ', '_')}", self._nothing)(event)

    def _nothing(self, event: Event) -> None:
        """Not worth a word: shuffles, the end."""

    def _changed(self, name: str, *value: int) -> None:
        part = (name, ":".join(map(str, value)))
        if part not in self.turns[-1].parts:
            self.turns[-1].parts.append(part)

    # ---- actions ----

    def _act(self, seat: int, action: int) -> None:
        if action < PLOT:
            self.turns.append(Turn(seat))
            self._option(action)
            return
        if PLOT <= action < TAKE and not self._business:  # a starting skyscraper
            self.turns.append(Turn(seat))
        turn = self.turns[-1]
        if action < TAKE:
            district, plot = divmod(action - PLOT, NUM_PLOTS)
            what = f"placed a {self._business}" if self._business else "built"
            turn.did.append(f"{what} on {plot_name(district, plot)}")
            self._business = ""
            self._changed("plot", district, plot)
        elif action < MOVE:
            colour = COLOURS[action - TAKE]
            turn.taken.append(f"{colour} {self._tops.get(colour)}")
        elif action < PASS:
            commissioner, place = divmod(action - MOVE, NUM_PLACES)
            turn.did.append(f"{COMMISSIONERS[commissioner]} commissioner to {PLACE_NAMES[place]}")
            self._changed("commissioner", commissioner)
        elif action == PASS:
            self._story.append(f"{self._who(seat)} passed")
        elif action < BID_DONE:
            colour_of_card, rank = divmod(action - BID, NUM_RANKS)
            if colour_of_card < NUM_COLOURS:
                self._colours[seat] = colour_of_card
            self._totals[seat] = self._totals.get(seat, 0) + rank + LOWEST_CARD
        elif action == BID_DONE:
            self._story.append(f"{self._who(seat)} bid {self._totals[seat]}")
        elif action < STOP:
            self._built(seat, action - BUILD)

    def _option(self, action: int) -> None:
        did = self.turns[-1].did
        if action < OPTION_B:
            did.append(f"A: {SKYSCRAPERS_PER_OPTION} skyscrapers")
        elif action < OPTION_C:
            self._business = BUSINESSES[action - OPTION_B]
            did.append("B")
        elif action < OPTION_D:
            did.append("C: a black card")
        else:
            did.append(f"D: scored {DISTRICTS[action - OPTION_D]}")

    def _built(self, seat: int, number: int) -> None:
        if self._place == "CENTRAL_PARK":
            where = "in the park area"
        else:
            district, colour = PLACES.index(self._place), self._colours[seat]
            where = f"on {plot_name(district, colour)}"
            if number:
                self._changed("plot", district, colour)
        self._add_to_auction(f"{self._who(seat)} built {number or 'nothing'} {where}")

    # ---- what follows from them ----

    def _black(self, event: Event) -> None:
        turn, seat = self.turns[-1], int(event["seat"])
        card = f"black {event['card']}" if event.get("card") else "a black card"
        if seat != turn.seat:
            turn.did.append(f"{self._who(seat)} drew {card}")
        elif seat == self._me:
            turn.did.append(f"drew {card}")

    def _tile_to_park(self, event: Event) -> None:
        self.turns[-1].did.append(f"a {event['business']} went to the park area")

    def _vp(self, event: Event) -> None:
        gains = [f"{self._who(seat)} +{vp}" for seat, vp in enumerate(event["vp"]) if vp]
        if gains:
            self.turns[-1].points.append(f"{', '.join(gains)} VP for {_VP_WHY[event['why']]}")

    def _auction(self, event: Event) -> None:
        self._place, self._colours, self._totals, self._story = event["place"], {}, {}, []

    def _alea(self, event: Event) -> None:
        self._story.append(f"Alea bid {sum(event['cards'])}" if event["cards"] else "Alea is out")

    def _won(self, event: Event) -> None:
        self._story.append(
            "nobody won"
            if event["seat"] is None
            else f"{self._who(event['seat'])} won with {event['total']}"
        )
        name = (
            "park area" if self._place == "CENTRAL_PARK" else PLACE_NAMES[PLACES.index(self._place)]
        )
        self.turns[-1].auctions.append(f"{name}: {', '.join(self._story)}")

    def _add_to_auction(self, text: str) -> None:
        self.turns[-1].auctions[-1] += f"; {text}"

    def _alea_builds(self, event: Event) -> None:
        self._add_to_auction(f"Alea built on {listed(event['plots'])}")
        for plot in event["plots"]:
            self._changed("plot", DISTRICTS.index(event["district"]), PLOTS.index(plot))

    def _stop(self, event: Event) -> None:
        self._add_to_auction(f"{self._who(event['seat'])} stopped {event['district']}")
        self._changed("district", DISTRICTS.index(event["district"]))
