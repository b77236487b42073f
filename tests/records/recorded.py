"""Records to read, to damage and to compare."""

import io
import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from skyenv import records
from skyenv.agents import decide_game, make_agent
from skyenv.engine.game import Game
from skyenv.errors import RecordError

TABLES = [(2, "front"), (3, "back")]
BASE = 3  # players of the base record


def played(
    players: int = 3,
    side: str = "front",
    seed: int = 1,
    *,
    agent: str = "random",
    max_turns: int = 500,
    actions: int | None = None,
    legal: bool = False,
    board: Any = None,
) -> Game:
    """A game after some actions of an agent, or at its end."""
    game = Game(players, side, seed, board=board, max_turns=max_turns)
    player = make_agent(agent)
    while not game.is_over and actions != 0:
        was_legal = {"legal": game.legal_actions} if legal else {}
        game.play(decide_game(game, player))[0].update(was_legal)
        actions = None if actions is None else actions - 1
    return game


def lines_of(text: str) -> list[Any]:
    """The JSON objects of a record."""
    return [json.loads(line) for line in text.splitlines()]


def as_text(lines: Sequence[Any]) -> str:
    """The record of JSON objects; a text stands for itself."""
    return "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)


def error_of(text: str | bytes) -> RecordError:
    """The error that verifying a record ends in."""
    with pytest.raises(RecordError) as caught:
        records.verify(
            io.StringIO(text, newline="\n") if isinstance(text, str) else io.BytesIO(text)
        )
    return caught.value


def at(lines: list[Any], event: str, **fields: Any) -> int:
    """The index of the first line with this event and these fields."""
    for index, line in enumerate(lines):
        if line.get("event") == event and all(
            line.get(name) == value for name, value in fields.items()
        ):
            return index
    raise AssertionError(f"no {event} with {fields}")


@cache
def base_record() -> list[Any]:
    """The lines, not to be changed, of a sound game that has every kind of line that a game of
    three can have before its end.
    """
    for seed in range(200):
        lines = lines_of(
            played(BASE, seed=seed, agent="crowd", legal=True, max_turns=200).to_record()
        )
        kinds = {line.get("event") for line in lines}
        if {"top", "black", "tile to park", "auction", "won", "stop", "vp", "park", "end"} <= kinds:
            return lines
    raise AssertionError("no seed gives such a game")
