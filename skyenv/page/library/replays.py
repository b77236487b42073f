"""Replays of recorded games, and the records that a server stores for browsers."""

import asyncio
import io
from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property, partial
from typing import Any, Final

import numpy as np

from skyenv.analysis.recording import Recording
from skyenv.engine.events import Event
from skyenv.engine.game import Game
from skyenv.page.browsers import new_token
from skyenv.page.cache import LRUCache
from skyenv.page.errors import PageError
from skyenv.page.library.chart import NARROW as NARROW_CHART
from skyenv.page.library.chart import NOW, VP, Kind, Rows, chart
from skyenv.page.storage import Storage
from skyenv.page.strengths import called
from skyenv.page.view.payloads import NARROW, WIDE, Payload, task_label
from skyenv.records import GameLines, iter_games
from skyenv.render import words
from skyenv.render.colours import Theme
from skyenv.render.parts import Drawing
from skyenv.render.svg import drawing
from skyenv.render.table import if_scored_now, visible_table

# Most actions in all games of a record; an ordinary game has 200 to 600.
MAX_ACTIONS: Final = 20_000
# Most games in a record.
MAX_GAMES: Final = 500
LONGEST_NAME: Final = 24
# Replays in the database; the oldest make room for new ones.
MAX_REPLAYS: Final = 500
# Replays cached in memory.
REPLAYS: Final = 8


def shown_names(header: Event) -> list[str]:
    """Return the agents' names in a record's header as the page calls them, printable and
    shortened; "" for seats without a name.
    """
    names = header["agents"] or [""] * header["players"]
    return ["".join(c for c in called(name) if c.isprintable())[:LONGEST_NAME] for name in names]


def summaries(content: bytes) -> list[Payload]:
    """Replay and check all games of a record; return a summary of each.

    Returns:
        For each game its ``number``, from 1, ``names``, ``side`` of the board, number of
        ``actions``, ``scores`` at the end of the record, and ``is_over``: whether it has ended.

    Raises:
        RecordError: a line is invalid; the message names it.
        PageError: the record has too many games or actions.
    """
    games: list[Payload] = []
    left = MAX_ACTIONS
    for lines in iter_games(io.BytesIO(content)):
        if lines.number > MAX_GAMES:
            raise PageError(f"the record has more than {MAX_GAMES} games; split it", 413)
        for actions, game in enumerate(Game.positions(lines)):  # noqa: B007 (the last one is used below)
            if actions > left:
                raise PageError(f"the record has more than {MAX_ACTIONS} actions; split it", 413)
        left -= actions
        games.append(
            {
                "number": lines.number,
                "names": shown_names(lines.header.value),
                "side": game.side,
                "actions": actions,
                "scores": game.scores,
                "is_over": game.is_over,
            }
        )
    return games


class Replay(Recording):
    """One recorded game with its drawings, its log and its charts.

    `names`, the players' names by seat, are printable and short.

    Raises:
        RecordError: a line is wrong.
        PageError: it has more than MAX_ACTIONS actions.
    """

    def __init__(self, lines: GameLines) -> None:
        super().__init__(lines, MAX_ACTIONS + 2)
        if self.steps > MAX_ACTIONS:
            raise PageError(f"the game has more than {MAX_ACTIONS} actions", 413)
        self.names = shown_names(lines.header.value)

    @cached_property
    def record(self) -> str:
        """Return the record of this game alone. This is slow."""
        return self.game.to_record(self.names)

    def drawing(
        self, step: int, seat: int | None, theme: str | Theme, narrow: bool = False
    ) -> Drawing:
        """Return the table's parts after `step` actions from a seat's view; None: all hands.

        Raises:
            OptionError: there is no such step.
        """
        position: Any = self.states.view(np.recarray)[self.checked(step)]
        return drawing(
            position, seat, theme=theme, agents=self.names, width=NARROW if narrow else WIDE
        )

    def lines(self) -> list[tuple[int, str, tuple[str, ...]]]:
        """Return the log: for each line its step, text, and rule ids."""
        narrator = words.Narrator(self.names)
        return [
            (step, line.text, line.rules)
            for step, events in enumerate(self.events)
            for line in narrator.lines(events)
        ]

    def steps_with(self, kind: str) -> list[int]:
        """Return the steps with an event of a kind, such as ``"auction"``, its start."""
        return [
            step
            for step, events in enumerate(self.events)
            if any(event["event"] == kind for event in events)
        ]

    def charts(
        self, rows: Rows, kind: Kind, marks: Sequence[tuple[int, int]] = ()
    ) -> dict[str, str]:
        """Return charts of a quantity of every seat over the game, for wide screens and phones."""
        return {
            "wide": chart(rows, self.names, kind, marks=marks),
            "narrow": chart(rows, self.names, kind, NARROW_CHART, marks),
        }

    def payload(self) -> Payload:
        """Return all that the viewer needs beside the drawings."""
        positions: Any = self.states.view(np.recarray)
        scores = self.states["score"][:, : self.players].tolist()
        return {
            "names": self.names,
            "players": self.players,
            "task": task_label(self.game),
            "steps": self.steps,
            "choices": [step for step, _ in self.choices()],
            "lines": self.lines(),
            "situations": [words.situation(visible_table(each), self.names) for each in positions],
            "auctions": self.steps_with("auction"),
            "charts": {
                "now": self.charts(if_scored_now(self.states, self.players).tolist(), NOW),
                "vp": self.charts(scores, VP),
            },
        }


# ---- the replays of a server ----


class StoredReplays:
    """The stored records of browsers. Only for the event loop's thread.

    Args:
        storage: the database.
    """

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._replays: LRUCache[tuple[str, int, str], Replay] = LRUCache(REPLAYS)

    async def add(self, content: bytes, browser: str) -> tuple[str, list[Payload]]:
        """Check a record and store it for a browser.

        Returns:
            Its key, and summaries of its games.

        Raises:
            RecordError, PageError: the record is damaged, or too large.
        """
        games = await asyncio.to_thread(summaries, content)
        details = MAX_REPLAYS, games[0]["names"] if games else [], len(games)
        return await self.storage.ask(
            self.storage.add_replay, new_token(), browser, content, *details
        ), games

    async def delete(self, key: str, browser: str) -> None:
        """Delete a stored record.

        Raises:
            PageError: this browser has no such record.
        """
        await self.storage.ask(self.storage.delete_replay, key, browser)
        self._replays.clear()

    async def summaries(self, key: str, browser: str) -> list[Payload]:
        """Return summaries of the games of a stored record.

        Raises:
            PageError: this browser has no such record.
        """
        content = await self.storage.ask(self.storage.replay, key, browser)
        return await asyncio.to_thread(summaries, content)

    async def replay(
        self,
        key: str,
        number: int,
        browser: str,
        fetch: Callable[[], Awaitable[bytes]] | None = None,
    ) -> Replay:
        """Return a game of a stored record, or of the record that `fetch` returns.

        Raises:
            PageError: this browser has no such record.
        """
        place = key, number, browser
        if place not in self._replays:
            ask = fetch or partial(self.storage.ask, self.storage.replay, key, browser)
            its = number if fetch is None else 1
            self._replays[place] = await asyncio.to_thread(Replay.of, await ask(), its)
        return self._replays[place]
