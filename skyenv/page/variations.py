"""Variations: a recorded game that is played on from one of its positions, with other chance to
come.

What lies behind is the record's, to the last hidden card, or with hidden cards that are drawn anew
for a seat, whose person may have seen the record. What comes is the chance of a seed of its own, so
the whole game has no seed; its record tells all chance, like any other, and can be verified.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skyenv.engine.game import Game
from skyenv.page.errors import PageError
from skyenv.page.hidden_anew import drawn_anew
from skyenv.page.playouts import fresh_stream
from skyenv.page.replays import Replay
from skyenv.records.format import as_text
from skyenv.rules.state import NONE


@dataclass(frozen=True)
class Variation:
    """What a variation begins with.

    Attributes:
        beginning: the record of what has been played.
        actions: the same by their numbers.
        origin: the replay's key and the game's number, as ``key/number``.
        max_turns: of the game.
        drawn_for: the seat for which hidden cards have been drawn anew; None: they are the
            record's.
    """

    beginning: str
    actions: list[int]
    origin: str
    max_turns: int
    drawn_for: int | None = None

    @classmethod
    def of(
        cls, replay: Replay, step: int, origin: str, seat: int | None = None, uniform: float = 0.0
    ) -> Variation:
        """A replay's game after so many actions.

        Args:
            replay: the game.
            step: how many.
            origin: see above.
            seat: what this seat couldn't know is drawn anew (:mod:`skyenv.page.hidden_anew`); None:
                it stays.
            uniform: which cards it is then, in [0, 1).

        Raises:
            PageError: there is no such step, the game is over there, or hidden cards can't be drawn
                anew.
        """
        if replay.states[replay.checked(step)]["seat"] == NONE:
            raise PageError("the game is over; there is nothing to play", 409)
        if not replay.events[0]:
            raise PageError(
                "an edited position has no record to begin with; agents can play it out", 409
            )
        if seat is not None:
            beginning = drawn_anew(replay, step, seat, uniform)
        else:
            beginning = as_text(
                replay.game.header(),
                [event for events in replay.events[: step + 1] for event in events],
            )
        return cls(beginning, replay.actions()[:step], origin, replay.game.max_turns, seat)


def played_on(beginning: str, actions: Sequence[int], seed: int, agent_seed: int) -> Game:
    """A game that begins with a record and goes on with the chance of a seed.

    Args:
        beginning: the record.
        actions: all that has been played, those of the record first. If they are fewer, the game
            stands before the record's end.
        seed: 0 to 2⁶³−1.
        agent_seed: as for :class:`skyenv.Games`.

    Raises:
        RecordError, IllegalActionError: the rules don't allow it.
    """
    game = Game.from_record(beginning)
    done = int(game.state["decisions"])
    if len(actions) < done:
        game = Game.from_record(beginning, step=len(actions))
    else:
        game.state["random"] = fresh_stream(seed)
        game.refresh()
        for action in actions[done:]:
            game.play(action)
    game.games.agent_seed = agent_seed
    return game
