"""Files made of a recorded game: a film, or the replay as one page.

They take their time, so workers make them.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from skyenv.page.background import Work
from skyenv.page.export import exported
from skyenv.page.payloads import Payload
from skyenv.page.replays import Replay
from skyenv.page.workers import Priority, Report, Workers
from skyenv.records import nth_game
from skyenv.render.film import film
from skyenv.render.raster import animation

KINDS: Final = {"gif": "image/gif", "html": "text/html; charset=utf-8"}
"""What can be made, and the type of its content."""
MOST_PICTURES: Final = 120
"""Pictures of a film; of longer games every second or third step is shown, and so on."""
FILM_WIDTH: Final = 800
FPS: Final = 3.0
MOST_KEPT: Final = 4
"""Files kept in memory, the newest ones."""


def make_film(record: str, steps: int, seat: int | None, theme: str, report: Report) -> bytes:
    """A game as an animated GIF; `report` is told the pictures made and their number.

    Raises:
        RenderError: the extra ``[pictures]`` isn't installed.
    """
    every = -(-(steps + 1) // MOST_PICTURES)
    number = steps // every + 1 + (steps % every > 0)

    def told() -> Iterator[str]:
        for made, picture in enumerate(
            film(nth_game(io.StringIO(record), 1), seat, theme=theme, every=every)
        ):
            report((made, number))
            yield picture

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "game.gif"
        animation(told(), path, fps=FPS, width=FILM_WIDTH)
        return path.read_bytes()


def make_page(record: str, steps: int, seat: int | None, theme: str, report: Report) -> bytes:
    """A game as one page; see :func:`skyenv.page.export.exported`.

    It has every seat's view and both themes.
    """
    replay = Replay.of(record.encode(), 1)
    return exported(
        replay, "Fifth Avenue", progress=lambda made, number: report((made, number))
    ).encode()


class Making(Work):
    """A file that is being made.

    Args:
        replay: the game.
        kind: one of KINDS.
        seat: whose view; None: all hands are open.
        theme: "light" or "dark".

    Attributes:
        kind: as above.
        content: the file, once it is made, until newer ones have taken its place.
    """

    _kept: Final[list[Making]] = []

    def __init__(self, replay: Replay, kind: str, seat: int | None, theme: str) -> None:
        super().__init__()
        self.kind = kind
        self.content: bytes | None = None
        self._done = 0, 0
        make = make_film if kind == "gif" else make_page
        self._job = partial(make, replay.game.to_record(replay.names), replay.steps, seat, theme)

    async def run(self, workers: Workers) -> None:
        """See :class:`~skyenv.page.background.Work`."""
        self.content = await workers.ask(self._job, Priority.ANALYSIS, self._note)
        self._kept.append(self)
        while len(self._kept) > MOST_KEPT:
            self._kept.pop(0).forget()

    def _note(self, done: tuple[int, int]) -> None:
        self._done = done

    def forget(self) -> None:
        """Free the memory; the file can be asked for again."""
        self.content = None
        self.state = "stopped"

    def found(self) -> Payload:
        """See :class:`~skyenv.page.background.Work`."""
        done = self._done[1] if self.state == "done" else self._done[0]
        return {
            "kind": self.kind,
            "done": done,
            "of": self._done[1],
            "bytes": 0 if self.content is None else len(self.content),
        }
