"""INF: the information state: every event that a seat has seen, in order, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from skyenv import Game, OptionError, make_agent
from skyenv.agents import decide_game
from skyenv.engine.events import Event, seen_by
from skyenv.engine.information import (
    EVENT_SIZE,
    HEADER_SIZE,
    KINDS,
    information_size,
    information_state,
    information_tensor,
)
from skyenv.rules.actions import ACTION_NAMES
from skyenv.rules.components import (
    BUSINESSES,
    CARD_COLOURS,
    CARD_VALUES,
    COLOURS,
    DISTRICTS,
    PLACES,
    PLOTS,
)
from skyenv.rules.event_log import WHYS
from skyenv.rules.state import END_REASONS

TABLES = [(2, "front", "crowd"), (3, "back", "crowd"), (4, "front", "hoard")]


def played(players: int, side: str, agent: str, seed: int = 1, max_turns: int = 40) -> Game:
    """A whole game."""
    game, player = Game(players, side, seed, max_turns=max_turns), make_agent(agent)
    while not game.is_over:
        game.play(decide_game(game, player))
    return game


TOLD: dict[str, Callable[..., dict[str, Any]]] = {
    "action": lambda seat, action, *_: {
        "seat": seat,
        "action": action,
        "name": ACTION_NAMES[action],
    },
    "top": lambda colour, card, *_: {"color": COLOURS[colour], "card": card or None},
    "shuffle": lambda *_: {},
    "black": lambda seat, card, *_: {"seat": seat, "card": card} if card else {"seat": seat},
    "alea": lambda number, *cards: {"cards": list(cards[:number])},
    "alea builds": lambda place, bits, *_: {
        "district": PLACES[place],
        "plots": {p for i, p in enumerate(PLOTS) if bits >> i & 1},
    },
    "tile to park": lambda business, *_: {"business": BUSINESSES[business]},
    "auction": lambda place, starter, *_: {"place": PLACES[place], "starter": starter},
    "won": lambda seat, total, *_: {"seat": None if seat == -2 else seat, "total": total},
    "stop": lambda place, seat, *_: {"district": PLACES[place], "seat": seat},
    "vp": lambda why, place, *vp: {
        "why": WHYS[why],
        "place": None if place < 0 else PLACES[place],
        "vp": list(vp),
    },
    "park": lambda number, *tiles: {"tiles": [BUSINESSES[tile] for tile in tiles[:number]]},
    "end": lambda reason, *cards: {"reason": END_REASONS[reason], "cards": list(cards)},
}
"""The table in the docs, read backwards."""


def decoded(vector: Any, players: int) -> list[Event]:
    """The events of a vector."""
    events: list[Event] = []
    for kind, *numbers in vector[HEADER_SIZE:].reshape(-1, EVENT_SIZE).astype(int).tolist():
        if kind == 0:
            break
        event = {"event": KINDS[kind - 1], **TOLD[KINDS[kind - 1]](*numbers)}
        for name in {"vp", "cards"} & set(event) if KINDS[kind - 1] in ("vp", "end") else ():
            event[name] = event[name][:players]
        events.append(event)
    return events


def comparable(event: Event) -> Event:
    """An event without what others tell already: the scores and winners at the end follow from the
    VP and the cards.
    """
    fields = {name: value for name, value in event.items() if name not in ("scores", "winners")}
    return {**fields, "plots": set(fields["plots"])} if event["event"] == "alea builds" else fields


@pytest.mark.rule("INF-1", "INF-2")
@pytest.mark.parametrize(("players", "side", "agent"), TABLES)
def test_the_information_tensor_encodes_every_visible_event(
    players: int, side: str, agent: str
) -> None:
    """Events and setup can be decoded from it."""
    game = played(players, side, agent)
    for seat in range(players):
        vector = information_tensor(game, seat)
        assert vector.dtype == np.float32
        assert vector.shape == (information_size(),)
        setup, *happened = seen_by(game.events, seat)
        assert decoded(vector, players) == [comparable(event) for event in happened]
        assert vector[:4].tolist() == [seat, players, side == "back", 40]
        assert header_told(vector[4:HEADER_SIZE].astype(int)) == {
            "rings": [list(ring) for ring in game.board.rings],
            "plots": setup["plots"],
            "row": setup["row"],
            "hand": setup["hands"][seat],
            "tops": setup["tops"],
        }


@pytest.mark.parametrize(("players", "side", "agent"), TABLES)
def test_the_scaled_tensor_is_the_codes_times_constants(
    players: int, side: str, agent: str
) -> None:
    """Constants depend on the event's kind; zeros stay zeros."""
    game = played(players, side, agent)
    codes, scaled = information_tensor(game, 1), information_tensor(game, 1, scaled=True)
    assert scaled.dtype == np.float32
    assert ((codes == 0) == (scaled == 0)).all()
    assert np.abs(scaled).max() < 5 < np.abs(codes).max()
    assert np.linalg.norm(scaled) < np.linalg.norm(codes) / 10
    factors: dict[tuple[int, int], set[float]] = {}
    for plain, one in zip(
        codes[HEADER_SIZE:].reshape(-1, 7), scaled[HEADER_SIZE:].reshape(-1, 7), strict=True
    ):
        for entry in np.flatnonzero(plain).tolist():
            factors.setdefault((int(plain[0]), entry), set()).add(
                round(float(one[entry] / plain[entry]), 5)
            )
    assert len(factors) > 20
    assert all(len(of_entry) == 1 for of_entry in factors.values())


def header_told(codes: Any) -> dict[str, Any]:
    """Board and setup of a vector, from its entries 4 to 102."""
    plots, hand = codes[42:56].reshape(7, 2).tolist(), codes[76:94].reshape(6, 3).tolist()
    return {
        "rings": [
            [PLOTS[plot] for plot in ring if plot >= 0]
            for ring in codes[:42].reshape(7, 6).tolist()
        ],
        "plots": {
            DISTRICTS[i]: [PLOTS[plot], BUSINESSES[business]]
            for i, (plot, business) in enumerate(plots)
        },
        "row": [BUSINESSES[business] for business in codes[56:76]],
        "hand": {
            CARD_COLOURS[i]: np.repeat(CARD_VALUES, counts).tolist()
            for i, counts in enumerate(hand)
        },
        "tops": dict(zip(COLOURS, codes[94:].tolist(), strict=True)),
    }


def test_information_states_grow_with_every_event() -> None:
    """Perfect recall: each state is a prefix of later ones."""
    game, player = Game(3, seed=4, max_turns=20), make_agent("crowd")
    states = [information_state(game, 1)]
    while not game.is_over:
        game.play(decide_game(game, player))
        states.append(information_state(game, 1))
    assert all(later.startswith(earlier + "\n") for earlier, later in pairwise(states))


def test_invalid_seats_and_too_many_events_are_refused() -> None:
    game = played(2, "front", "crowd", max_turns=5)
    wrong: list[Any] = [-1, 2, True, "0"]
    for seat in wrong:
        with pytest.raises(OptionError, match="seat must be a whole number from 0 to 1"):
            information_state(game, seat)
        with pytest.raises(OptionError, match="seat must be a whole number from 0 to 1"):
            information_tensor(game, seat)
    number = len(game.events) - 1
    assert information_tensor(game, 0, number).shape == (information_size(number),)
    with pytest.raises(
        OptionError, match=f"{number} events have happened, but there is room for {number - 1}"
    ):
        information_tensor(game, 0, number - 1)
