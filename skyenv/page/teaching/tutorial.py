"""The lesson: a fixed deal for two and a fixed line of play, with what is said at each of the
person's decisions (lesson.toml).

Nothing here plays a game: all of it is made of the actions that have been played so far.
"""

from __future__ import annotations

import tomllib
from bisect import bisect_right
from collections.abc import Sequence
from importlib.resources import files
from itertools import accumulate
from typing import Any, Final

from skyenv.page.errors import PageError
from skyenv.page.storage import HUMAN
from skyenv.rules.actions import ACTION_NUMBERS, BID, BID_DONE, MOVE, TAKE

SIDE: Final = "front"
SEED: Final = 74
AGENTS: Final = (HUMAN, "teacher")
"""Who sits where: a game of these is a lesson. The second one is no agent that can be chosen."""

Beat = dict[str, Any]
_FILE: Final[Beat] = tomllib.loads((files(__package__) / "lesson.toml").read_text("utf-8"))
BEATS: Final[list[Beat]] = _FILE["steps"]
"""The whole lesson: choices of the person's, which may be several actions, and what the teacher
answers; with `title` (the chapter), `text` (what has happened, and why it matters), `rule` (the id
of the rule to read), `todo` (what to do now), `names` (the actions) and `reply` (the teacher's).
"""


def _numbers(beat: Beat, part: str) -> list[int]:
    return [ACTION_NUMBERS[name] for name in beat.get(part, [])]


def _all_of(beat: Beat) -> list[int]:
    return _numbers(beat, "names") + _numbers(beat, "reply")


BEGINS: Final = list(accumulate((len(_all_of(beat)) for beat in BEATS), initial=0))
"""How many actions are played when each of the beats begins, and at the end."""


def line() -> list[int]:
    """All actions of the lesson, the person's and the teacher's."""
    return [action for beat in BEATS for action in _all_of(beat)]


class Lesson:
    """Where a lesson stands.

    Args:
        played: the game's actions so far, and those of an unfinished bid behind them: the first
            ones of :func:`line`.

    Attributes:
        number: of the beat under way; as many as there are at the end.
        wanted: what the person is to play now, one after the other; nothing while the teacher is to
            move, and at the end.
        answer: what the teacher plays now: one choice, or nothing.
        is_over: whether nothing is left of it.
    """

    def __init__(self, played: Sequence[int]) -> None:
        self.number = bisect_right(BEGINS, len(played)) - 1
        self.is_over = self.number == len(BEATS)
        self._done = len(played) - BEGINS[self.number]
        self._beat = _FILE["end"] if self.is_over else BEATS[self.number]
        names, reply = _numbers(self._beat, "names"), _numbers(self._beat, "reply")
        self.wanted = names[self._done :]
        self.answer = [] if self.wanted else _choice(reply[self._done - len(names) :])

    def check(self, actions: Sequence[int]) -> None:
        """Refuse everything but what the lesson wants.

        Raises:
            PageError: the person has chosen something else.
        """
        if self.is_over:
            raise PageError("the lesson is over: play on from here, or begin a game")
        if list(actions) != self.wanted[: len(actions)]:
            todo = self._beat["todo"]
            raise PageError(
                f"In this lesson: {todo[0].lower()}{todo[1:]} Leave the lesson to play freely."
            )

    def begin_of_last(self) -> int:
        """How many actions are left when the beat under way is begun anew, or if it has just begun,
        the one before.
        """
        return BEGINS[self.number if self._done else max(0, self.number - 1)]

    def payload(self) -> dict[str, Any]:
        """What the page shows."""
        return {
            "number": self.number,
            "steps": len(BEATS),
            "title": self._beat["title"],
            "text": self._beat["text"],
            "todo": "" if self.answer or self.is_over else self._beat["todo"],
            "rule": self._beat["rule"],
            "wanted": self.wanted,
            "waits": bool(self.answer),
            "over": self.is_over,
        }


def _choice(actions: list[int]) -> list[int]:
    """The first choice of these actions: a whole bid, a tile with its place, one action."""
    if actions and BID <= actions[0] < BID_DONE:
        return actions[: actions.index(BID_DONE) + 1]
    return actions[: 2 if actions and TAKE <= actions[0] < MOVE else 1]
