"""Variations: games that continue a recorded game from one of its positions with new chance.

The past is the record's, with its hidden cards or with resampled ones for a seat whose person may
have seen the record. Future chance comes from a new seed, so the whole game has none; its record
contains all chance and can be verified.
"""

from itertools import chain

from skyenv.analysis.playouts import fresh_stream
from skyenv.analysis.recording import Recording
from skyenv.engine.events import setup_outcomes
from skyenv.engine.game import Game
from skyenv.engine.simulator import SETUP, outcome_numbers
from skyenv.errors import OptionError
from skyenv.histories.resampling import resampled
from skyenv.histories.states import replayed, table_of
from skyenv.records.format import as_text, header_of
from skyenv.records.replay import outcomes_in
from skyenv.rules.state import NONE


def variation(
    recording: Recording, step: int, seat: int | None = None, uniform: float = 0.0
) -> str:
    """Return the record of a game's first actions, with which :func:`continued` begins.

    Args:
        recording: the game.
        step: number of actions, 0 to all.
        seat: resample the cards hidden from this seat (:func:`resampled_record`); None: they stay.
        uniform: a number in [0, 1) that decides the sample.

    Raises:
        OptionError: there is no such step, or the game is over there.
    """
    if recording.states[recording.checked(step)]["seat"] == NONE:
        raise OptionError("the game is over; there is nothing to play")
    if seat is not None:
        return resampled_record(recording, step, seat, uniform)
    events = chain.from_iterable(recording.events[: step + 1])
    return as_text(recording.game.header(), list(events))


def continued(beginning: str, seed: int, agent_seed: int | None = None) -> Game:
    """Return a game at the end of a record that continues with the chance of a seed.

    Args:
        beginning: the record, as from :func:`variation`.
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


def resampled_record(recording: Recording, step: int, seat: int, uniform: float) -> str:
    """Return the record of a game's first actions with resampled hidden cards, without seed and
    names.

    The past is resampled too, so that the record is consistent: the others' first hands and drawn
    black cards change; all that the seat has seen stays.

    Args:
        recording: the game.
        step: number of actions; the game isn't over there.
        seat: the seat whose knowledge stays.
        uniform: a number in [0, 1) that decides the sample among all consistent ones.
    """
    game = recording.game
    steps = [(SETUP, outcome_numbers(setup_outcomes(recording.events[0][0], game.side)))]
    for number, action in enumerate(recording.actions()[:step]):
        position, events = recording.states[number], recording.events[number + 1]
        outcomes = (outcomes_in(position, action, event) for event in events)
        steps.append((action, outcome_numbers(chain.from_iterable(outcomes))))
    other = resampled(replayed(table_of(game.options), steps), seat, lambda: uniform)
    return as_text(header_of(game.options, None), other.events)
