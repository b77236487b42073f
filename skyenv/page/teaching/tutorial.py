"""The lesson: a fixed deal for two and a fixed line of play, with what is said at each of the
person's decisions (lesson.toml).

Nothing here plays a game: all of it is made of the actions that have been played so far.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from skyenv.page.errors import PageError
from skyenv.page.storage import HUMAN
from skyenv.rules.actions import ACTION_NUMBERS, BID, BID_DONE, MOVE, TAKE

PLAYERS: Final = 2
SIDE: Final = "front"
SEED: Final = 74
TEACHER: Final = "teacher"
"""Who sits on the other seat; no agent that can be chosen."""
AGENTS: Final = (HUMAN, TEACHER)
"""Who sits where: a game of these is a lesson."""


@dataclass(frozen=True)
class Beat:
    """A choice of the person's, which may be several actions, and what the teacher answers.

    Attributes:
        title: the chapter of the lesson.
        text: what has happened, and why it matters.
        rule: the id of the rule to read.
        todo: what to do now.
        names: the actions, by their names.
        reply: what the teacher plays then.
    """

    title: str
    text: str
    rule: str
    todo: str = ""
    names: tuple[str, ...] = ()
    reply: tuple[str, ...] = ()


_FILE: Final = tomllib.loads((files(__package__) / "lesson.toml").read_text("utf-8"))
BEATS: Final = tuple(
    Beat(**{**step, "names": tuple(step["names"]), "reply": tuple(step.get("reply", ()))})
    for step in _FILE["steps"]
)
"""The whole lesson."""
_END: Final = Beat(**_FILE["end"])


def _numbers(names: Sequence[str]) -> list[int]:
    return [ACTION_NUMBERS[name] for name in names]


def line() -> list[int]:
    """All actions of the lesson, the person's and the teacher's."""
    return [action for beat in BEATS for action in _numbers((*beat.names, *beat.reply))]


@dataclass(frozen=True)
class Lesson:
    """Where a lesson stands.

    Args:
        played: the game's actions so far, and those of an unfinished bid behind them: the first
            ones of :func:`line`.
    """

    played: tuple[int, ...]

    def _place(self) -> tuple[int, int]:
        """The number of the beat under way, and how many of its actions have been played, replies
        included.
        """
        left = len(self.played)
        for number, beat in enumerate(BEATS):
            if left < len(beat.names) + len(beat.reply):
                return number, left
            left -= len(beat.names) + len(beat.reply)
        return len(BEATS), 0

    @property
    def wanted(self) -> list[int]:
        """What the person is to play now, one after the other; nothing while the teacher is to
        move, and at the end.
        """
        number, done = self._place()
        return _numbers(BEATS[number].names[done:]) if number < len(BEATS) else []

    @property
    def answer(self) -> list[int]:
        """What the teacher plays now: one choice, or nothing."""
        number, done = self._place()
        if number == len(BEATS) or done < len(BEATS[number].names):
            return []
        left = _numbers(BEATS[number].reply[done - len(BEATS[number].names) :])
        if BID <= left[0] < BID_DONE:
            return left[: left.index(BID_DONE) + 1]
        return left[:2] if TAKE <= left[0] < MOVE else left[:1]

    @property
    def is_over(self) -> bool:
        """Whether nothing is left of it."""
        return self._place()[0] == len(BEATS)

    def check(self, actions: Sequence[int]) -> None:
        """Refuse everything but what the lesson wants.

        Raises:
            PageError: the person has chosen something else.
        """
        if self.is_over:
            raise PageError("the lesson is over: play on from here, or begin a game")
        if list(actions) != self.wanted[: len(actions)]:
            todo = BEATS[self._place()[0]].todo
            raise PageError(
                f"In this lesson: {todo[0].lower()}{todo[1:]} Leave the lesson to play freely."
            )

    def begin_of_last(self) -> int:
        """How many actions are left when the beat under way is begun anew, or if it has just begun,
        the one before.
        """
        number, done = self._place()
        last = number if done else max(number - 1, 0)
        return sum(len(beat.names) + len(beat.reply) for beat in BEATS[:last])

    def payload(self) -> dict[str, Any]:
        """What the page shows."""
        number, done = self._place()
        told = BEATS[number] if number < len(BEATS) else _END
        waits = not self.is_over and done >= len(told.names)
        return {
            "number": number,
            "steps": len(BEATS),
            "title": told.title,
            "text": told.text,
            "todo": "" if waits else told.todo,
            "rule": told.rule,
            "wanted": self.wanted,
            "waits": waits,
            "over": self.is_over,
        }
