"""The ending of a whole game: its winners, and sentences about what decided it."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from skyenv.console.tables import counted
from skyenv.engine.events import Event
from skyenv.engine.game import Game
from skyenv.page.library.replays import Replay
from skyenv.page.view.payloads import Payload
from skyenv.render.table import if_scored_now
from skyenv.render.words import auctioned, capital, seat_name
from skyenv.rules.actions import BUILD, STOP
from skyenv.rules.state import NONE

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
        turning point by the scores if scored now, the bid of most cards, if one has won, and how
        many auctions each won and cards each kept.
    """
    replay, end = Replay.of(game.to_record(names)), game.events[-1]
    named = [seat_name(each, replay.names) for each in range(replay.players)]
    told = [_turning_point(replay, end, named)]
    won = [
        (int(replay.states[step - 1]["bid_cards"][each].sum()), event["total"], step, each)
        for step in replay.steps_with("won")
        for event in replay.events[step]
        if event["event"] == "won" and (each := event["seat"]) in range(replay.players)
    ]
    if bids := [bid for bid in won if bid[-1] == seat or seat not in range(replay.players)]:
        cards, total, step, bidder = max(bids)
        place = auctioned(int(replay.states[step - 1]["auction_place"]))
        paid = f"{named[bidder]} paid {counted(cards, 'card')} ({total}) for {place}"
        told.append((step, f"Costliest bid: {paid}{_built(replay, step)}."))
    wins = Counter(each for *_, each in won)
    each_of = enumerate(zip(named, end["cards"], strict=True))
    counts = "; ".join(
        f"{name} won {counted(wins[each], 'auction')} and kept {counted(held, 'card')}"
        for each, (name, held) in each_of
    )
    last_auction = max(replay.steps_with("auction"), default=replay.steps)
    told.append((last_auction, f"{capital(counts)}."))
    sentences = [{"step": step, "text": text} for step, text in told]
    return {"winners": end["winners"], "sentences": sentences}


def _turning_point(replay: Replay, end: Event, named: Sequence[str]) -> tuple[int, str]:
    """Return the step from which the winner led for good, and a sentence about it."""
    winner, standing = end["winners"][0], if_scored_now(replay.states, replay.players)
    others = np.arange(replay.players) != winner
    behind = standing[:, winner] <= standing[:, others].max(axis=1)
    park = np.sum([each["vp"] for each in replay.events[-1] if each.get("why") == "park"], axis=0)
    turning = min(int(np.flatnonzero(behind)[-1]) + 1, replay.steps)
    if end["reason"] == "truncated":  # without the final scoring that `standing` counts (END-5)
        what = "none; the game was truncated"
    elif turning <= OPENING * replay.steps:
        what = f"none; {named[winner]} led from the start"
    elif behind[-1]:
        what = "none; the highest score is shared"
    elif standing[-1, winner] - park[winner] <= (standing[-1] - park)[others].max():
        what = f"the final scoring of the park area put {named[winner]} ahead"
    else:
        lines = {step: text for step, text, _ in reversed(replay.lines()) if step <= turning}
        place = int(replay.states[turning - 1]["auction_place"])
        where = f" in {auctioned(place)}" if replay.actions()[turning - 1] >= BUILD else ""
        what = f"{named[winner]} led for good after “{lines[max(lines)]}”{where}"
    return turning, f"Turning point: {what}."


def _built(replay: Replay, step: int) -> str:
    """Return what the winner of the auction at a step built, in words that continue a sentence."""
    built = (replay.actions()[step] if step < replay.steps else NONE) - BUILD
    if not 0 <= built <= STOP - BUILD:
        return ""
    if built == STOP - BUILD:
        return " and declared a building stop"
    return f" and built {counted(built, 'skyscraper') if built else 'nothing'}"
