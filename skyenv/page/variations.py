"""Variations: a recorded game that is played on from one of its positions, with other chance to
come.

What lies behind is the record's, to the last hidden card, or with hidden cards that are drawn anew
for a seat, whose person may have seen the record. What comes is the chance of a seed of its own, so
the whole game has no seed; its record tells all chance, like any other, and can be verified.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

from skyenv.engine.events import setup_outcomes
from skyenv.engine.game import SETUP, Game, outcome_numbers
from skyenv.histories.resampling import resampled
from skyenv.histories.states import replayed, table_of
from skyenv.page.errors import PageError
from skyenv.page.playouts import fresh_stream
from skyenv.page.replays import Replay
from skyenv.records.format import as_text, header_of
from skyenv.records.replay import outcomes_told
from skyenv.rules.state import NONE


def variation_of(
    replay: Replay, step: int, seat: int | None = None, uniform: float = 0.0
) -> dict[str, Any]:
    """What a game begins with that plays a replay's game on after so many actions.

    Args:
        replay: the game.
        step: how many.
        seat: what this seat couldn't know is drawn anew (:func:`drawn_anew`); None: it stays.
        uniform: which cards it is then, in [0, 1).

    Returns:
        The values of :class:`~skyenv.page.stored.StoredGame` that it decides, by name.

    Raises:
        PageError: there is no such step, the game is over there, or hidden cards can't be drawn
            anew.
    """
    if replay.states[replay.checked(step)]["seat"] == NONE:
        raise PageError("the game is over; there is nothing to play", 409)
    if seat is not None:
        beginning = drawn_anew(replay, step, seat, uniform)
    else:
        events = chain.from_iterable(replay.events[: step + 1])
        beginning = as_text(replay.game.header(), list(events))
    return {
        "beginning": beginning,
        "origin_step": step,
        "actions": tuple(replay.actions()[:step]),
        "max_turns": replay.game.max_turns,
    }


def to_play_on(beginning: str, seed: int, agent_seed: int) -> Game:
    """A game at the end of a record, from where it goes on with the chance of a seed.

    Args:
        beginning: the record.
        seed: 0 to 2⁶³−1.
        agent_seed: as for :class:`skyenv.Games`.

    Raises:
        RecordError: the rules don't allow it.
    """
    game = Game.from_record(beginning)
    game.state["random"] = fresh_stream(seed)
    game.refresh()
    game.games.agent_seed = agent_seed
    return game


# ---- hidden cards drawn anew ----


def drawn_anew(replay: Replay, step: int, seat: int, uniform: float) -> str:
    """The record of a game's first actions, with other hidden cards, of no seed and without names.

    The past is drawn as well, so that it is a game's record like any other: the others' first hands
    and the black cards that they drew are others, all that the seat has seen is as it was.

    Args:
        replay: the game.
        step: how many actions; somebody is to act there.
        seat: what it can know stays as it was.
        uniform: which of all that the seat can't tell from the real one; in [0, 1).

    Raises:
        PageError: the game is played on a board of its own.
    """
    game = replay.game
    table = table_of(game.num_players, game.side, game.max_turns, game.options.task)
    if table.options.board.rings != game.board.rings:
        raise PageError(
            "hidden cards are drawn anew only on the printed board; let them stay as they were",
            409,
        )
    steps = [(SETUP, outcome_numbers(setup_outcomes(replay.events[0][0], game.side)))]
    for number, action in enumerate(replay.actions()[:step]):
        position, events = replay.states[number], replay.events[number + 1]
        told = (outcomes_told(position, action, event) for event in events)
        steps.append((action, outcome_numbers(chain.from_iterable(told))))
    other = resampled(replayed(table, steps), seat, lambda: uniform)
    return as_text(header_of(game.options, None), other.events)
