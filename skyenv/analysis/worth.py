"""The value of winning an auction for a seat: VP of a skyscraper, the chance that Alea bids more,
and the other seats' highest possible bids.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, Final

import numpy as np

from skyenv.analysis.odds import Stacks
from skyenv.render.reasons import allowed_colours, is_full
from skyenv.rules.components import (
    BLACK,
    CARD_VALUES,
    CENTRAL_PARK,
    COLOURS,
    PLOT_VALUE,
    TILES_TURNED_UP,
)
from skyenv.rules.state import ALEA_WAITS, PHASE_BID

DISTRICT: Final = (
    "VP are those of one scoring with today's businesses. Every district that isn't stopped is "
    "scored once at the end; each time that it is scored before brings as much again."
)
PARK: Final = (
    "VP are what a skyscraper brings on average at the end, with the businesses that lie there now."
)


def worth(seen: Any) -> dict[str, Any] | None:
    """Return facts for the bid of the seat to act.

    Args:
        seen: its view, a record of VIEW_DTYPE.

    Returns:
        ``colours``: for each colour in which it may bid ``{"name", "vp"}``: VP of a skyscraper
            there when it is scored;
        ``assumes``: the assumptions behind the VP, a sentence;
        ``stop``: VP that a building stop would bring instead (STOP-1, STOP-2), or null;
        ``alea``: ``[total, chance that Alea bids more]`` for every total that a bid of Alea can
            exceed, exact given the seat's knowledge; null where Alea bids no more;
        ``others``: ``{"seat", "most"}`` of the other seats still bidding: the highest total that
            each could bid, as far as this seat knows;
        null if no bid is open.
    """
    game, seat = seen["game"], int(seen["seat"])
    if game["phase"] != PHASE_BID or game["seat"] != seat:
        return None
    place = int(game["auction_place"])
    in_park = place == CENTRAL_PARK
    colours = [
        {
            "name": COLOURS[colour],
            "vp": park_vp(game) if in_park else int(game["value"][place, colour]),
        }
        for colour in allowed_colours(game, seat)
    ]
    others = [other for other in range(int(game["num_players"])) if other != seat]
    has_alea = game["num_players"] == 2 and game["alea"] == ALEA_WAITS
    alea = Stacks.of_view(seen).alea() if has_alea else {}
    return {
        "colours": colours,
        "assumes": PARK if in_park else DISTRICT,
        "stop": int(game["floors"][place].sum()) if not in_park and is_full(game, place) else None,
        "alea": [
            [total, round(sum(chance for other, chance in alea.items() if other > total), 4)]
            for total in range(max(alea))
        ]
        if alea
        else None,
        "others": [
            {"seat": other, "most": most_bid(seen, other)}
            for other in others
            if not game["out"][other]
        ],
    }


def park_vp(game: Any) -> float:
    """Return the mean VP of a skyscraper in the park area with the tiles there (END-3)."""
    tiles = np.repeat(np.arange(len(game["park_tiles"])), game["park_tiles"]).tolist()
    sets = list(combinations(tiles, min(TILES_TURNED_UP, len(tiles))))
    return round(sum(int(PLOT_VALUE[len(set(one))]) for one in sets) / len(sets), 2)


def most_bid(seen: Any, seat: int) -> int:
    """Return the highest total that another seat could bid in the current auction with the best
    cards that it may have (AUC-4, AUC-5).
    """
    game = seen["game"]

    def most(colour: int) -> int:
        known = int(game["hand"][seat, colour] @ np.array(CARD_VALUES))
        best = np.repeat(CARD_VALUES[::-1], seen["unseen"][colour][::-1])
        return known + int(best[: int(seen["unknown"][seat, colour])].sum())

    coloured = [most(colour) for colour in allowed_colours(game, seat)]
    laid = int(game["bid_total"][seat])
    best = max(coloured, default=0)
    return laid + best + most(BLACK) if best or laid else 0
