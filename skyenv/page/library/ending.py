"""The ending of a whole game: its winners, and sentences about what decided it."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from skyenv.engine.game import Game
from skyenv.page.library.replays import Replay
from skyenv.page.view.payloads import Payload
from skyenv.render.table import if_scored_now
from skyenv.render.words import auctioned, seat_name

# The share of a game after which a lead is no lead from the start.
OPENING: Final = 0.05


def ending(game: Game, names: Sequence[str], seat: int | None) -> Payload:
    """Return the ending of a game that is over.

    Args:
        game: a whole game.
        names: the players' names by seat.
        seat: the seat whose highest bid is told; None, or PUBLIC: that of all seats.

    Returns:
        ``winners``: the seats that share the win; ``sentences``: ``{"step", "text"}`` each: the
        turning point by the scores if scored now, the highest bid, if there was one, and the
        cards left in the hands.
    """
    replay, end = Replay.of(game.to_record(names)), game.events[-1]
    winner, others = end["winners"][0], range(replay.players)
    standing = if_scored_now(replay.states, replay.players)
    behind = standing[:, winner] <= np.delete(standing, winner, axis=1).max(axis=1)
    turning = min(int(np.flatnonzero(behind)[-1]) + 1, replay.steps)
    named = [seat_name(each, names) for each in others]
    if end["reason"] == "truncated":  # without the final scoring that `standing` counts (END-5)
        what = "none; the game was truncated"
    elif turning <= OPENING * replay.steps:
        what = f"none; {named[winner]} led from the start"
    elif behind[-1]:
        what = "none; the highest score is shared"
    elif turning == replay.steps:
        what = f"the final scoring put {named[winner]} ahead"
    else:
        lines = {step: text for step, text, _ in reversed(replay.lines()) if step <= turning}
        what = f"{named[winner]} led for good after “{lines[max(lines)]}”"
    told = [(turning, f"Turning point (if scored now): {what}.")]
    bids = [
        (event["total"], step, event["seat"])
        for step in replay.steps_with("won")
        for event in replay.events[step]
        if event["event"] == "won" and event["seat"] in (others if seat not in others else [seat])
    ]
    if bids:
        total, step, bidder = max(bids)
        place = auctioned(int(replay.states[step - 1]["auction_place"]))
        told.append((step, f"Highest bid: {total} for {place}, by {named[bidder]}."))
    cards = ", ".join(f"{name} {held}" for name, held in zip(named, end["cards"], strict=True))
    last_auction = max(replay.steps_with("auction"), default=replay.steps)
    told.append((last_auction, f"Cards unspent: {cards}."))
    sentences = [{"step": step, "text": text} for step, text in told]
    return {"winners": end["winners"], "sentences": sentences}
