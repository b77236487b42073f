"""The lesson: a fixed deal for two and a fixed line of play, with a text for each of the person's
decisions (lesson.toml).

Its state is a function of the actions played so far.
"""

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
# The instruction while the teacher is to move.
WAITS: Final = "The teacher moves …"
# The players of a lesson. The second one is no agent on offer.
AGENTS: Final = (HUMAN, "teacher")

Beat = dict[str, Any]
_FILE: Final[Beat] = tomllib.loads((files(__package__) / "lesson.toml").read_text("utf-8"))
# The steps of the lesson, each a choice of the person and the teacher's reply; with `title` (the
# chapter), `text` (the explanation), `rule` (the id of the rule to read), `todo` (the instruction),
# `names` (the actions) and `reply` (the teacher's).
BEATS: Final[list[Beat]] = _FILE["steps"]


def _numbers(beat: Beat, part: str) -> list[int]:
    return [ACTION_NUMBERS[name] for name in beat.get(part, [])]


def _all_of(beat: Beat) -> list[int]:
    return _numbers(beat, "names") + _numbers(beat, "reply")


# Number of actions before each beat, and at the end.
BEGINS: Final = list(accumulate((len(_all_of(beat)) for beat in BEATS), initial=0))


def line() -> list[int]:
    """Return all actions of the lesson, the person's and the teacher's."""
    return [action for beat in BEATS for action in _all_of(beat)]


class Lesson:
    """The progress of a lesson.

    Args:
        played: the game's actions so far, and those of an unfinished bid behind them: the first
            ones of :func:`line`.

    Attributes:
        number: index of the current beat; their number at the end.
        wanted: the actions that the person is to play now, in order; empty while the teacher is to
            move, and at the end.
        answer: the teacher's choice now; empty if the person is to move.
        is_over: whether the lesson is finished.
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
        """Check that actions are those that the lesson expects.

        Raises:
            PageError: they aren't.
        """
        if self.is_over:
            raise PageError("the lesson is over: continue from here, or start a game")
        if list(actions) != self.wanted[: len(actions)]:
            todo = self._beat["todo"]
            raise PageError(
                f"In this lesson: {todo[0].lower()}{todo[1:]} Leave the lesson to play freely."
            )

    def begin_of_last(self) -> int:
        """Return the number of actions before the current beat, or before the previous one if the
        current has just begun.
        """
        return BEGINS[self.number if self._done else max(0, self.number - 1)]

    def payload(self) -> dict[str, Any]:
        """Return the state for the page."""
        place = "" if self.is_over else f"Lesson, step {self.number + 1} of {len(BEATS)}: "
        return {
            "number": self.number,
            "title": place + self._beat["title"],
            "text": "" if self.answer else self._beat["text"],
            "todo": WAITS if self.answer else self._beat.get("todo", ""),
            "rule": self._beat["rule"],
            "wanted": self.wanted,
            "over": self.is_over,
        }


def _choice(actions: list[int]) -> list[int]:
    """Return the first choice of some actions: a whole bid, a tile with its place, one action."""
    if actions and BID <= actions[0] < BID_DONE:
        return actions[: actions.index(BID_DONE) + 1]
    return actions[: 2 if actions and TAKE <= actions[0] < MOVE else 1]
