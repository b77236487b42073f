"""The replay of a recorded game as one page, to take away. It takes its time, so workers make
it.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from skyenv.page.background import Work
from skyenv.page.errors import PageError
from skyenv.page.export import exported
from skyenv.page.payloads import Payload
from skyenv.page.replays import Replay
from skyenv.page.workers import Priority, Report, Workers

MOST_STEPS: Final = 5000
"""Actions of a game of which a page is made: about 2 MB, and two minutes of a worker."""


def make_page(record: str, report: Report) -> bytes:
    """A game as one page, with every seat's view and both themes; see
    :func:`skyenv.page.export.exported`. `report` is told the steps made and their number.
    """
    replay = Replay.of(record.encode(), 1)
    return exported(
        replay, "Fifth Avenue", progress=lambda made, number: report((made, number))
    ).encode()


class Making(Work):
    """A page that is being made.

    Args:
        replay: the game.

    Attributes:
        content: the page, once it is made.

    Raises:
        PageError: the game is too long.
    """

    def __init__(self, replay: Replay) -> None:
        super().__init__()
        if replay.steps > MOST_STEPS:
            raise PageError(f"a page is made of at most {MOST_STEPS} actions, not {replay.steps}")
        self.content = b""
        self._done = 0, 0
        self._job = partial(make_page, replay.game.to_record(replay.names))

    async def run(self, workers: Workers) -> None:
        """See :class:`~skyenv.page.background.Work`."""
        self.content = await workers.ask(self._job, Priority.ANALYSIS, self._note)

    def _note(self, done: tuple[int, int]) -> None:
        self._done = done

    def found(self) -> Payload:
        """See :class:`~skyenv.page.background.Work`."""
        done, number = self._done
        return {
            "done": number if self.state == "done" else done,
            "of": number,
            "bytes": len(self.content),
        }
