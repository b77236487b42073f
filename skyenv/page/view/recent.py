"""What the turns and auctions since a seat's last turn changed, and Alea's bids."""

from collections.abc import Sequence
from typing import Final

from skyenv.engine.events import Event
from skyenv.rules.actions import (
    BID,
    BID_DONE,
    BUILD,
    MOVE,
    OPTION_B,
    OPTION_C,
    PASS,
    PLOT,
    STOP,
    TAKE,
)
from skyenv.rules.components import (
    COLOURS,
    DISTRICTS,
    NUM_COLOURS,
    NUM_PLACES,
    NUM_PLOTS,
    NUM_RANKS,
    PLOTS,
)

# A turn, the placing of a starting skyscraper, or an auction: its seat or AUCTION, and its events.
Turn = tuple[int, list[Event]]
AUCTION: Final = -1


def turns(events: Sequence[Event]) -> list[Turn]:
    """Return a game's turns and auctions; events before the first one are left out."""
    found: list[Turn] = []
    business = False
    for event in events:
        action = int(event.get("action", -1))
        if event["event"] in ("auction", "deal"):  # a deal begins a task's auction
            found.append((AUCTION, []))
        if 0 <= action < PLOT or (PLOT <= action < TAKE and not business):
            found.append((int(event["seat"]), []))
        if 0 <= action < TAKE:
            business = OPTION_B <= action < OPTION_C
        if found:
            found[-1][1].append(event)
    return found


def changed_since_last_turn(
    events: Sequence[Event], players: int, me: int | None
) -> list[tuple[str, str]]:
    """Return what the turns and auctions after the last turn of `me`, at most two a seat, changed
    on the drawing.

    Args:
        events: all events so far, as the seat has seen them.
        players: number of players.
        me: the viewing seat; None: a spectator.
    """
    found = turns(events)
    if found and found[-1][0] == me:
        found.pop()  # the turn is unfinished, or no turn came after it
    last = max((number for number, (seat, _) in enumerate(found) if seat == me), default=-1)
    return [part for _, turn in found[last + 1 :][-2 * players :] for part in changed_parts(turn)]


def alea_since(events: Sequence[Event], step: int) -> list[list[int]]:
    """Return the cards of each of Alea's bids after `step` actions, in their order (ALEA-2)."""
    bids: list[list[int]] = []
    actions = 0
    for event in events:
        actions += event["event"] == "action"
        if event["event"] == "alea" and actions > step and event["cards"]:
            bids.append(list(event["cards"]))
    return bids


def changed_parts(turn: Sequence[Event]) -> list[tuple[str, str]]:
    """Return what one turn's events changed on the drawing, each part once: pairs of a data
    attribute's name and its value.
    """
    parts: list[tuple[str, str]] = []
    place = ""
    colours: dict[int, int] = {}  # per seat: the colour of its bid
    for event in turn:
        kind, action = event["event"], int(event.get("action", -1))
        if kind == "auction":
            place, colours = event["place"], {}
        elif kind == "top":
            parts.append(("stack", str(COLOURS.index(event["color"]))))
        elif kind == "alea builds":
            district = DISTRICTS.index(event["district"])
            parts += [("plot", f"{district}:{PLOTS.index(plot)}") for plot in event["plots"]]
        elif kind == "stop":
            parts.append(("district", str(DISTRICTS.index(event["district"]))))
        elif PLOT <= action < TAKE:
            parts.append(("plot", "{}:{}".format(*divmod(action - PLOT, NUM_PLOTS))))
        elif MOVE <= action < PASS:
            parts.append(("commissioner", str((action - MOVE) // NUM_PLACES)))
        elif BID <= action < BID_DONE and (colour := (action - BID) // NUM_RANKS) < NUM_COLOURS:
            colours[event["seat"]] = colour
        elif BUILD < action < STOP and place in DISTRICTS:
            parts.append(("plot", f"{DISTRICTS.index(place)}:{colours[event['seat']]}"))
    return list(dict.fromkeys(parts))
