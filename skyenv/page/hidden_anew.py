"""A recorded game up to a step, with what a seat couldn't know there drawn anew: for who plays on
from it and has seen the rest.

The past is drawn as well, so that it is a game's record like any other: the others' first hands and
the black cards that they drew are others, all that the seat has seen is as it was.
"""

from __future__ import annotations

from collections.abc import Iterator

from skyenv.engine.events import setup_outcomes
from skyenv.engine.game import SETUP, outcome_numbers
from skyenv.histories.resampling import resampled
from skyenv.histories.states import State, Table, replayed, table_of
from skyenv.page.errors import PageError
from skyenv.page.replays import Replay
from skyenv.records.format import as_text, header_of
from skyenv.records.replay import outcomes_told


def drawn_anew(replay: Replay, step: int, seat: int, uniform: float) -> str:
    """The record of a game's first actions, with other hidden cards, of no seed and without names.

    Args:
        replay: the game.
        step: how many actions; somebody is to act there.
        seat: what it can know stays as it was.
        uniform: which of all that the seat can't tell from the real one; in [0, 1).

    Raises:
        PageError: the game is played on a board of its own.
    """
    game = replay.game
    table = table_of(game.num_players, game.side, game.max_turns)
    if table.board.rings != game.board.rings:
        raise PageError(
            "hidden cards are drawn anew only in games on the printed board; let them stay as they "
            "were",
            409,
        )
    position = _position(table, replay, step)
    other = resampled(position, seat, lambda: uniform)
    return as_text(header_of(game.board, game.num_players, game.max_turns, None), other.events)


def _position(table: Table, replay: Replay, step: int) -> State:
    """A replay's position, with what has led there."""

    def steps() -> Iterator[tuple[int, list[int]]]:
        yield SETUP, outcome_numbers(setup_outcomes(replay.events[0][0], replay.game.side))
        for number, action in enumerate(replay.actions()[:step]):
            told = (
                outcomes_told(replay.states[number], action, event)
                for event in replay.events[number + 1]
            )
            yield action, outcome_numbers(outcome for outcomes in told for outcome in outcomes)

    return replayed(table, steps())
