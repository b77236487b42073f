"""Variations: games that continue a recorded game from one of its positions with new chance.

The past is the record's, with its hidden cards or with resampled ones for a seat whose person may
have seen the record. Future chance comes from a new seed, so the whole game has none; its record
contains all chance and can be verified.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

from skyenv.engine.events import setup_outcomes
from skyenv.engine.game import Game
from skyenv.engine.simulator import SETUP, outcome_numbers
from skyenv.histories.resampling import resampled
from skyenv.histories.states import replayed, table_of
from skyenv.page.errors import PageError
from skyenv.analysis.playouts import fresh_stream
from skyenv.page.replays import Replay
from skyenv.records.format import as_text, header_of
from skyenv.records.replay import outcomes_in
from skyenv.rules.state import NONE


def variation_of(
    replay: Replay, step: int, seat: int | None = None, uniform: float = 0.0
) -> dict[str, Any]:
    """Return the fields of a new game that continues a replay after `step` actions.

    Args:
        replay: the game.
        step: number of actions.
        seat: resample the cards hidden from this seat (:func:`resampled_record`); None: they stay.
        uniform: a number in [0, 1) that decides the sample.

    Returns:
        Fields of :class:`~skyenv.page.stored.StoredGame`, by name.

    Raises:
        PageError: there is no such step, or the game is over there.
    """
    if replay.states[replay.checked(step)]["seat"] == NONE:
        raise PageError("the game is over; there is nothing to play", 409)
    if seat is not None:
        beginning = resampled_record(replay, step, seat, uniform)
    else:
        events = chain.from_iterable(replay.events[: step + 1])
        beginning = as_text(replay.game.header(), list(events))
    return {
        "beginning": beginning,
        "actions": tuple(replay.actions()[:step]),
        "max_turns": replay.game.max_turns,
    }


def to_play_on(beginning: str, seed: int, agent_seed: int) -> Game:
    """Return a game at the end of a record that continues with the chance of a seed.

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
    game.batch.agent_seed = agent_seed
    return game


# ---- resampled hidden cards ----


def resampled_record(replay: Replay, step: int, seat: int, uniform: float) -> str:
    """Return the record of a game's first actions with resampled hidden cards, without seed and
    names.

    The past is resampled too, so that the record is consistent: the others' first hands and drawn
    black cards change; all that the seat has seen stays.

    Args:
        replay: the game.
        step: number of actions; the game isn't over there.
        seat: the seat whose knowledge stays.
        uniform: a number in [0, 1) that decides the sample among all consistent ones.
    """
    game = replay.game
    steps = [(SETUP, outcome_numbers(setup_outcomes(replay.events[0][0], game.side)))]
    for number, action in enumerate(replay.actions()[:step]):
        position, events = replay.states[number], replay.events[number + 1]
        outcomes = (outcomes_in(position, action, event) for event in events)
        steps.append((action, outcome_numbers(chain.from_iterable(outcomes))))
    other = resampled(replayed(table_of(game.options), steps), seat, lambda: uniform)
    return as_text(header_of(game.options, None), other.events)
