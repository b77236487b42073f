"""Games that differ only in what a seat can't know: made of records alone, without any of the code
that decides what a seat sees.

A record tells the public history, and the hidden cards in two places: the first hands, and the
black cards drawn. What is changed there at random, and is still a game by the rules, nobody but
those seats can tell from the real one.
"""

import io
import json
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from skyenv import Game, RecordError, make_agent
from skyenv.agents import decide_game
from skyenv.engine.events import Event, setup_outcomes
from skyenv.records.reader import nth_game
from skyenv.records.replay import outcomes_in

TABLES: Final = [(2, "front"), (3, "back")]
# Actions played; the last game is over.
STAGES: Final = (9, 40, 77, 110, 10**6)
TURNS: Final = 40
MOST_CHANGED: Final = 5


class Twins(NamedTuple):
    """Two games that `seat` can't tell apart."""

    game: Game
    other: Game
    seat: int


@cache
def played(players: int, side: str, actions: int) -> Game:
    """A game that reached a stage: the crowd, with a greedy move now and then."""
    game = Game(players, side, 100 * players + actions % 97, max_turns=TURNS)
    crowd, greedy = make_agent("crowd"), make_agent("greedy")
    for number in range(actions):
        if game.is_over:
            break
        game.play(decide_game(game, greedy if number % 3 else crowd))
    return game


@cache
def twins(players: int, side: str) -> list[Twins]:
    """For every stage and seat a game and one with other hidden cards, another seed and other
    chance to come.
    """
    rng = np.random.default_rng(players)
    games = [played(players, side, actions) for actions in STAGES]
    pairs = ((game, twin_of(game, seat, rng), seat) for game in games for seat in range(players))
    return [Twins(game, other, seat) for game, other, seat in pairs if other is not None]


def twin_of(game: Game, seat: int, rng: np.random.Generator) -> Game | None:
    """A game that only others than `seat` can tell from it, with another stream of chance; None if
    all cards can be inferred.
    """
    header, *events = map(json.loads, game.to_record().splitlines())
    header["seed"] = None
    places = list(_hidden(events, seat))
    changed = 0
    for number in rng.permutation(len(places)):
        holder, key = places[number]
        before = holder[key]
        holder[key] = _other_cards(before, rng)
        try:
            Game.from_record(_as_record(header, events))
        except RecordError:  # by the rules what was seen can't have happened so
            holder[key] = before
        else:
            changed += 1
        if changed == MOST_CHANGED:
            break
    if not changed:
        return None
    twin = Game.from_record(_as_record(header, events))
    twin.state["random"] = rng.integers(1, 2**32, 4)
    twin.state["seed"] = rng.integers(2**40)
    return twin


def _hidden(events: list[Event], seat: int) -> Iterator[tuple[dict[str, Any], str]]:
    """Where a record tells what `seat` can't know: a dict and a key in it."""
    for other, hand in enumerate(events[0]["hands"]):
        if other != seat:
            yield from ((hand, colour) for colour in hand)
    for event in events:
        if event["event"] == "black" and event["seat"] != seat:
            yield event, "card"


def _other_cards(cards: Any, rng: np.random.Generator) -> Any:
    if isinstance(cards, int):
        return 4 + (cards - 4 + int(rng.integers(1, 3))) % 3
    return sorted([_other_cards(cards[0], rng), *cards[1:]])


def _as_record(header: Event, events: list[Event]) -> str:
    return "".join(json.dumps(line) + "\n" for line in (header, *events))


def decided(game: Game) -> Iterator[tuple[int | None, list[Any]]]:
    """What was decided in a game: the setup's outcomes (no action), then every action with those of
    chance that follow.
    """
    positions = Game.positions(nth_game(io.StringIO(game.to_record()), 1))
    told = 0
    action: int | None = None
    before: Any = None
    for position in positions:
        events = position.events[told:]
        told = len(position.events)
        if before is None:
            yield None, setup_outcomes(events[0], game.side)
        else:
            action = events[0]["action"]
            yield (
                action,
                [outcome for event in events[1:] for outcome in outcomes_in(before, action, event)],
            )
        before = position.state.copy()
