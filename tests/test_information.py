"""INF: the information state: every event that a seat has seen, in order, and nothing else."""

from collections.abc import Callable
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pytest

from crowd_games import played
from skyenv import Game, OptionError, make_agent
from skyenv.agents import decide_game
from skyenv.engine.events import EVENTS, KINDS, Event, seen_by
from skyenv.engine.information import (
    EVENT_SIZE,
    HEADER_SIZE,
    information_size,
    information_state,
    information_tensor,
)
from skyenv.engine.openings import NUM_OPENINGS, OF_AUCTIONS, TASKS
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


# The table in the docs, read backwards.
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


def codes_of(vector: Any) -> Any:
    """The integers of a vector's events, (k, EVENT_SIZE)."""
    rows = vector[HEADER_SIZE:].reshape(-1, EVENT_SIZE) * len(KINDS)
    kinds = np.rint(rows[:, 0]).astype(int)
    for kind, fields in enumerate(EVENTS.values(), 1):
        largest = [number for field in fields for number in field.scaled_to_1]
        rows[kinds == kind, 1 : 1 + len(largest)] *= np.array(largest) / len(KINDS)
    assert np.allclose(rows, np.rint(rows), atol=1e-4)
    return np.rint(rows).astype(int)


def decoded(vector: Any, players: int) -> list[Event]:
    """The events of a vector."""
    events: list[Event] = []
    for kind, *numbers in codes_of(vector).tolist():
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
    game = played(players, side=side, turns=40, agent=agent)
    for seat in range(players):
        vector = information_tensor(game, seat)
        assert vector.dtype == np.float32
        assert vector.shape == (information_size(),)
        setup, *happened = seen_by(game.events, seat)
        assert decoded(vector, players) == [comparable(event) for event in happened]
        table = vector[:4] * [3, 4, 1, 500]
        assert table.tolist() == pytest.approx([seat, players, int(side == "back"), 40])
        assert header_told(vector[4:HEADER_SIZE]) == {
            "rings": [list(ring) for ring in game.board.rings],
            "plots": setup["plots"],
            "row": setup["row"],
            "hand": setup["hands"][seat],
            "tops": setup["tops"],
        }


@pytest.mark.parametrize("task", OF_AUCTIONS)
def test_numbers_of_tasks_lie_between_minus_1_and_1(task: str) -> None:
    """The last event is the end, for the last reason."""
    game = Game(task=f"{task}/{NUM_OPENINGS - 1}", seed=2)
    while not game.is_over:
        game.play(game.legal_actions[-1])
    for seat in range(game.num_players):
        vector = information_tensor(game, seat)
        assert np.abs(vector[:HEADER_SIZE]).max() <= 1
        events = vector[HEADER_SIZE:].reshape(-1, EVENT_SIZE)
        assert events[len(game.events) - 2, :2].tolist() == pytest.approx([1, 1])
        assert vector[46:48].tolist() == pytest.approx([[*TASKS].index(task) / (len(TASKS) - 1), 1])


def test_no_code_exceeds_the_number_that_is_scaled_to_1() -> None:
    """But totals, VP and cards, which have no maximum."""
    for field in chain.from_iterable(EVENTS.values()):
        codes = [field.codes.get(number, number) for number in field.values]
        assert max(codes, default=0) <= field.largest or field.name == "total"


def header_told(codes: Any) -> dict[str, Any]:
    """Board and setup of a whole game's vector, from its entries 4 to 102."""
    codes = np.rint(codes * ([5] * 42 + [5, 3] * 7 + [3] * 20 + [4] * 18 + [6] * 5)).astype(int)
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


@pytest.mark.parametrize("seat", [-1, 2, True, "0"])
@pytest.mark.parametrize("read", [information_state, information_tensor])
def test_invalid_seats_are_refused(read: Callable[..., Any], seat: Any) -> None:
    with pytest.raises(OptionError, match="seat must be a whole number from 0 to 1"):
        read(Game(seed=1), seat)


def test_too_many_events_are_refused() -> None:
    game = played(turns=5)
    number = len(game.events) - 1
    assert information_tensor(game, 0, number).shape == (information_size(number),)
    with pytest.raises(
        OptionError, match=f"{number} events have happened, but there is room for {number - 1}"
    ):
        information_tensor(game, 0, number - 1)
