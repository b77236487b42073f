"""The tape that runs beside a game: chance outcomes given from outside go in, events come out.

A tape that is off (a zeroed record) costs a game one comparison for each event, so the batch engine
shares one such tape.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from skyenv.rules.compiling import rule
from skyenv.rules.state import Record

MAX_FED: Final = 96
"""Outcomes that can be fed for one action. The setup needs the most: 7·2 + 20 + 9·4 + 5 = 75."""
FED_CARD: Final = 0
"""On the tape a card is FED_CARD + rank …"""
FED_BUSINESS: Final = 8
"""… a business FED_BUSINESS + type …"""
FED_COLOUR: Final = 16
"""… and a plot's colour FED_COLOUR + colour, so that none passes for another."""
MAX_WAYS: Final = 6
"""Kinds of outcomes of one draw: ranks, types or colours."""
MAX_EVENTS: Final = 64
EVENT_WIDTH: Final = 8

TAPE_DTYPE: Final = np.dtype(
    [
        (
            "event",
            np.int32,
            (MAX_EVENTS, EVENT_WIDTH),
        ),  # [event] → kind (EVENT_…) and up to 7 numbers
        ("num_events", np.int32),
        ("recording", np.int8),  # 0: events are not written
        ("num_fed", np.int8),  # outcomes given from outside
        ("next_fed", np.int8),  # how many of them are used up
        ("refused", np.int8),  # index of the first impossible one, or −1
        ("fed", np.int8, (MAX_FED,)),  # the outcomes (FED_…)
        ("asking", np.int8),  # 1: note what chance has to decide once the outcomes are used up
        (
            "asked",
            np.int8,
        ),  # what that is (FED_CARD, FED_BUSINESS or FED_COLOUR), or NONE: nothing yet
        (
            "ways",
            np.int32,
            (MAX_WAYS,),
        ),  # [rank, type or colour] → in how many ways it can be decided so; all are equally likely
    ],
    align=True,
)


class TapeRecord(Record):
    """One record of TAPE_DTYPE."""


EVENT_TOP: Final = 1
EVENT_SHUFFLE: Final = 2
EVENT_BLACK: Final = 3
EVENT_ALEA: Final = 4
EVENT_ALEA_BUILDS: Final = 5
EVENT_TILE_TO_PARK: Final = 6
EVENT_AUCTION: Final = 7
EVENT_WON: Final = 8
EVENT_STOP: Final = 9
EVENT_VP: Final = 10
EVENT_PARK: Final = 11
EVENT_END: Final = 12

WHY_DISTRICT: Final = 0
WHY_STOP: Final = 1
WHY_BONUS: Final = 2
WHY_FINAL: Final = 3
WHY_PARK: Final = 4
WHYS: Final = ("district", "stop", "bonus", "final", "park")

NOBODY: Final = -2
"""EVENT_WON: nobody bid."""


@rule
def report(
    tape: TapeRecord, kind: int, a: int, b: int, c: int, d: int, e: int, f: int, g: int
) -> None:
    """Write one event, if the tape records."""
    if tape.recording == 0:
        return
    row = tape.num_events
    tape.event[row, 0] = kind
    tape.event[row, 1] = a
    tape.event[row, 2] = b
    tape.event[row, 3] = c
    tape.event[row, 4] = d
    tape.event[row, 5] = e
    tape.event[row, 6] = f
    tape.event[row, 7] = g
    tape.num_events = row + 1
