"""The event log of a game: events out, forced chance outcomes in.

A disabled log (a zeroed record) costs one comparison per event, so the batch engine shares one such
log.
"""

from typing import Final

from skyenv.rules.compiling import rule
from skyenv.rules.record import I8, I32, Record, field

MAX_FORCED: Final = 96
"""Outcomes that can be forced for one action. The setup needs the most: 7·2 + 20 + 9·4 + 5 = 75."""
FORCED_CARD: Final = 0  # a forced card is FORCED_CARD + rank …
FORCED_BUSINESS: Final = 8  # … a business FORCED_BUSINESS + type …
FORCED_COLOUR: Final = 16  # … a plot's colour FORCED_COLOUR + colour: none passes for another
MAX_WAYS: Final = 6  # kinds of outcomes of one draw: ranks, types or colours
MAX_EVENTS: Final = 64
EVENT_WIDTH: Final = 8


class LogRecord(Record):
    """A log."""

    event = field(I32, (MAX_EVENTS, EVENT_WIDTH))  # [event] → EVENT_…, up to 7 numbers, 0
    num_events = field(I32)
    recording = field(I8)  # 0: events are not written
    num_forced = field(I8)  # outcomes forced from outside
    next_forced = field(I8)  # how many of them are used up
    refused = field(I8)  # index of the first impossible one, or −1
    forced = field(I8, (MAX_FORCED,))  # the outcomes (FORCED_…)
    asking = field(I8)  # 1: note what chance has to decide once the outcomes are used up
    asked = field(I8)  # its kind (FORCED_CARD, …), or NONE: nothing yet
    ways = field(I32, (MAX_WAYS,))  # [rank, type or colour] → weight of that outcome


LOG_DTYPE: Final = LogRecord.dtype


(
    EVENT_TOP,
    EVENT_SHUFFLE,
    EVENT_BLACK,
    EVENT_ALEA,
    EVENT_ALEA_BUILDS,
    EVENT_TILE_TO_PARK,
    EVENT_AUCTION,
    EVENT_WON,
    EVENT_STOP,
    EVENT_VP,
    EVENT_PARK,
    EVENT_END,
) = range(1, 13)

WHY_DISTRICT, WHY_STOP, WHY_BONUS, WHY_FINAL, WHY_PARK = range(5)
WHYS: Final = ("district", "stop", "bonus", "final", "park")

NOBODY: Final = -2  # EVENT_WON: nobody bid


@rule
def report(log: LogRecord, kind: int, first: int, second: int) -> None:
    """Write an event with its first two numbers, and 0 for the others, if the log is enabled."""
    if log.recording == 0:
        return
    row = log.num_events
    log.event[row, 0] = kind
    log.event[row, 1] = first
    log.event[row, 2] = second
    for i in range(3, EVENT_WIDTH):
        log.event[row, i] = 0
    log.num_events = row + 1


@rule
def report_more(log: LogRecord, place: int, number: int) -> None:
    """Write one more number of the last event, 0 the first, if the log is enabled."""
    if log.recording != 0:
        log.event[log.num_events - 1, 1 + place] = number
