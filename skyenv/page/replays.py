"""Recorded games, to be looked at step by step, and those that a server keeps for browsers."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cached_property, partial
from itertools import islice
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.engine.events import Event
from skyenv.engine.game import Game
from skyenv.page.browsers import new_token
from skyenv.page.chart import NARROW as NARROW_CHART
from skyenv.page.chart import NOW, VP, Kind, Rows, chart
from skyenv.page.choices import Path, in_midst
from skyenv.page.errors import PageError
from skyenv.page.kept import Kept
from skyenv.page.payloads import NARROW, WIDE, Payload, task_label
from skyenv.page.storage import Storage
from skyenv.records import GameLines, iter_games, nth_game
from skyenv.render import words
from skyenv.render.colours import Theme
from skyenv.render.parts import Drawing
from skyenv.render.standing import if_scored_now
from skyenv.render.svg import drawing
from skyenv.render.table import look
from skyenv.rules.state import GAME_DTYPE

MOST_ACTIONS: Final = 20_000
"""A record with more actions in all its games is refused; an ordinary game has 200 to 600."""
MOST_GAMES: Final = 500
"""So are more games in a record."""
LONGEST_NAME: Final = 24
MOST_REPLAYS: Final = 30
"""Replays that are kept for one browser."""
MOST_REPLAYS_IN_ALL: Final = 500
"""Replays that are kept in the database; browsers are as many as somebody likes."""
UPLOADS: Final = 16
"""Records that are received at the same time; each may take megabytes of memory until it is read.
"""
UPLOADS_OF_ONE: Final = 3
"""The same of one browser."""
REPLAYS: Final = 8
"""Replays that are kept in memory though nobody looks at them."""


def shown_names(header: Event) -> list[str]:
    """The agents' names of a record's header, printable and not too long; seats without a name have
    none.
    """
    names = header["agents"] or [""] * header["players"]
    return ["".join(c for c in name if c.isprintable())[:LONGEST_NAME] for name in names]


def summaries(content: bytes) -> list[Payload]:
    """All games of a record, every one replayed and checked.

    Returns:
        Of each ``number``, counted from 1, ``names``, ``side`` of the board, number of ``actions``,
        ``scores`` at the end of the record, and ``is_over``: whether the game has ended there.

    Raises:
        RecordError: a line is wrong; it says which and why.
        PageError: there are more games or actions than a page shows.
    """
    games: list[Payload] = []
    left = MOST_ACTIONS
    for lines in iter_games(io.BytesIO(content)):
        if lines.number > MOST_GAMES:
            raise PageError(f"the record has more than {MOST_GAMES} games; split it", 413)
        for actions, game in enumerate(Game.positions(lines)):  # noqa: B007 (the last one is looked at)
            if actions > left:
                raise PageError(f"the record has more than {MOST_ACTIONS} actions; split it", 413)
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


class Replay:
    """One recorded game, every position of it.

    Args:
        lines: the game, as the record reader gives it.

    Attributes:
        names: who sat where.
        states: the positions, GAME_DTYPE (actions + 1,).
        events: what happened in each step; those of step 0 are the setup.

    Raises:
        RecordError: a line is wrong.
        PageError: it has more than MOST_ACTIONS actions.
    """

    def __init__(self, lines: GameLines) -> None:
        self.names = shown_names(lines.header.value)
        self.events: list[list[Event]] = []
        states = []
        known = 0
        for self.game in islice(Game.positions(lines), MOST_ACTIONS + 2):
            states.append(np.array(self.game.state, GAME_DTYPE))
            self.events.append(self.game.events[known:])
            known = len(self.game.events)
        if len(states) > MOST_ACTIONS + 1:
            raise PageError(f"the game has more than {MOST_ACTIONS} actions", 413)
        self.states: npt.NDArray[np.void] = np.array(states, GAME_DTYPE)

    @classmethod
    def of(cls, content: bytes, number: int) -> Replay:
        """A game of a record, counted from 1.

        Raises:
            RecordError, PageError: as for the class. OptionError: there is no such game.
        """
        return cls(nth_game(io.BytesIO(content), number))

    @cached_property
    def record(self) -> str:
        """The record of this game alone. Takes its time."""
        return self.game.to_record(self.names)

    @property
    def steps(self) -> int:
        """Number of actions."""
        return len(self.states) - 1

    @property
    def players(self) -> int:
        """Number of seats."""
        return self.game.num_players

    def actions(self) -> list[int]:
        """What was played, by step."""
        return [int(events[0]["action"]) for events in self.events[1:]]

    def choices(self) -> list[tuple[int, Path]]:
        """The whole choices (:mod:`skyenv.page.choices`): the step at which each begins, and its
        actions; one that hasn't been made yet has none.
        """
        played = self.actions()
        begin = np.flatnonzero(~in_midst(self.states)).tolist()
        ends = [*begin[1:], self.steps]
        return [(step, tuple(played[step:end])) for step, end in zip(begin, ends, strict=True)]

    def at(self, step: int) -> Game:
        """The game after so many actions; only for looking at it and for asking agents.

        Args:
            step: how many.

        Raises:
            PageError: there is no such step.
        """
        game = self.game.copy()
        game.events = []
        game.rewind(self.states[[self.checked(step)]].tobytes())
        return game

    def checked(self, step: int) -> int:
        """The step, if there is such a one.

        Raises:
            PageError: there is none.
        """
        if not 0 <= step <= self.steps:
            raise PageError(f"there is no step {step}: the game has {self.steps} actions", 404)
        return step

    def drawing(
        self, step: int, seat: int | None, theme: str | Theme, narrow: bool = False
    ) -> Drawing:
        """The parts of the table after so many actions; `seat`: whose view, None: all hands.

        Raises:
            PageError: there is no such step.
        """
        position: Any = self.states.view(np.recarray)[self.checked(step)]
        return drawing(
            position, seat, theme=theme, agents=self.names, width=NARROW if narrow else WIDE
        )

    def lines(self) -> list[tuple[int, str, tuple[str, ...]]]:
        """The log: of each line the step in which it happened, its text, and the ids of its
        rules.
        """
        narrator = words.Narrator(self.names)
        return [
            (step, line.text, line.rules)
            for step, events in enumerate(self.events)
            for line in narrator.lines(events)
        ]

    def steps_with(self, kind: str) -> list[int]:
        """The steps with an event of that kind: ``"auction"``: one began; ``"vp"``: VP were
        scored.
        """
        return [
            step
            for step, events in enumerate(self.events)
            if any(event["event"] == kind for event in events)
        ]

    def charts(
        self, rows: Rows, kind: Kind, marks: Sequence[tuple[int, int]] = ()
    ) -> dict[str, str]:
        """A chart of some numbers of every seat over the game, for wide screens and for phones."""
        return {
            "wide": chart(rows, self.names, kind, marks=marks),
            "narrow": chart(rows, self.names, kind, NARROW_CHART, marks),
        }

    def payload(self) -> Payload:
        """All that the viewer needs beside the drawings."""
        positions: Any = self.states.view(np.recarray)
        scores = self.states["score"][:, : self.players].tolist()
        return {
            "names": self.names,
            "players": self.players,
            "task": task_label(self.game),
            "steps": self.steps,
            "choices": [step for step, _ in self.choices()],
            "lines": self.lines(),
            "situations": [words.situation(look(each), self.names) for each in positions],
            "auctions": self.steps_with("auction"),
            "scorings": self.steps_with("vp"),
            "charts": {
                "now": self.charts(if_scored_now(self.states, self.players).tolist(), NOW),
                "vp": self.charts(scores, VP),
            },
        }


# ---- the replays of a server ----


class KeptReplays:
    """The records that are kept for browsers. For the event loop's thread alone.

    Args:
        storage: the database.
        require_rules: raises a PageError as long as the rules aren't ready.
    """

    def __init__(self, storage: Storage, require_rules: Callable[[], None]) -> None:
        self.storage = storage
        self._require_rules = require_rules
        self._replays: Kept[tuple[str, int, str], Replay] = Kept(REPLAYS)
        self._receiving: dict[asyncio.Timeout, str] = {}  # by what ends it, the browser

    async def add(self, content: bytes, browser: str) -> tuple[str, list[Payload]]:
        """Check a record and keep it for a browser to look at.

        Returns:
            Its key, and what games there are.

        Raises:
            RecordError, PageError: it is damaged, or too large.
        """
        self._require_rules()
        games = await asyncio.to_thread(summaries, content)
        told = MOST_REPLAYS, MOST_REPLAYS_IN_ALL, games[0]["names"] if games else [], len(games)
        return await self.storage.ask(
            self.storage.add_replay, new_token(), browser, content, *told
        ), games

    async def delete(self, key: str, browser: str) -> None:
        """Forget a record that was kept.

        Raises:
            PageError: it isn't there, or another browser's.
        """
        await self.storage.ask(self.storage.delete_replay, key, browser)
        self._replays.clear()

    async def summaries(self, key: str, browser: str) -> list[Payload]:
        """The games of a record that was kept.

        Raises:
            PageError: it isn't there, or another browser's.
        """
        self._require_rules()
        content = await self.storage.ask(self.storage.replay, key, browser)
        return await asyncio.to_thread(summaries, content)

    async def replay(
        self,
        key: str,
        number: int,
        browser: str,
        fetch: Callable[[], Awaitable[bytes]] | None = None,
    ) -> Replay:
        """A game of a record that was kept; or, by `fetch`, which gives its record, of another.

        Raises:
            PageError: it isn't there, or another browser's.
        """
        self._require_rules()
        place = key, number, browser
        if place not in self._replays:
            ask = fetch or partial(self.storage.ask, self.storage.replay, key, browser)
            its = number if fetch is None else 1
            self._replays[place] = await asyncio.to_thread(Replay.of, await ask(), its)
        return self._replays[place]

    @asynccontextmanager
    async def receiving(self, browser: str) -> AsyncIterator[None]:
        """While a browser sends a record; the one that takes longest makes room for a new one.

        Raises:
            PageError: it sends too many, or this one has taken longer than others, which are let
                in.
        """
        if list(self._receiving.values()).count(browser) >= UPLOADS_OF_ONE:
            raise PageError(f"this browser is sending {UPLOADS_OF_ONE} records already", 429)
        while len(self._receiving) >= UPLOADS:
            longest = next(iter(self._receiving))
            del self._receiving[longest]
            longest.reschedule(asyncio.get_running_loop().time())
        try:
            async with asyncio.timeout(None) as patience:
                self._receiving[patience] = browser
                try:
                    yield
                finally:
                    self._receiving.pop(patience, None)
        except TimeoutError as error:
            raise PageError("too many records are being sent; send yours again", 503) from error
