"""What the page's database keeps of games, seats and replays, and reading it from rows, damaged
ones included.
"""

from __future__ import annotations

import json
import logging
import math
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from skyenv.page.errors import PageError
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES

HUMAN: Final = "human"
"""Who sits on a seat that people play; other seats have an agent's name."""
ANYBODY: Final = "*"
"""Instead of a browser: whoever has the link may use it, as spectators do."""
NOBODY: Final = "-"
"""The same where it was withdrawn."""
_log = logging.getLogger("skyenv.page")


@dataclass(frozen=True)
class Change:
    """Somebody else sits down on a seat.

    Attributes:
        step: how many actions had been played.
        seat: 0 … N−1.
        who: HUMAN or an agent's name.
    """

    step: int
    seat: int
    who: str


@dataclass(frozen=True)
class StoredGame:
    """A game's options.

    Attributes:
        id: its key; it is in no link.
        owner: the browser that made it.
        created: seconds since 1970.
        players, side, max_turns, seed: as for :class:`skyenv.Game`.
        agents: for every seat HUMAN or an agent's name, when the game began.
        pause: seconds that an agent's move takes at least.
        idempotency_key: two requests of a browser with the same key make one game.
        origin, origin_step: the game that this one goes on from, which may be gone, and after how
            many of its actions; of a variation of a replay, the replay's key and the game's number
            in it, as ``key/number``.
        beginning: the record that a variation begins with; its actions are among the game's.
        drawn_for: the seat for which the hidden cards of that record were drawn anew; None: they
            are those of the origin.
        chance: the key of the game whose agents' chance this one has; None: its own.
        taken_back: how many decisions its person has taken back on the way to it.
        changes: who has sat down on which seat since the beginning, the first change first.
        rematch: the game that was made to play it once more.
        copied: whether there has ever been a game with its chance that goes on from it, whose
            record tells its hidden cards.
    """

    id: str
    owner: str
    created: float
    players: int
    side: str
    max_turns: int
    seed: int
    agents: tuple[str, ...]
    pause: float
    idempotency_key: str | None = None
    origin: str | None = None
    origin_step: int | None = None
    beginning: str | None = None
    chance: str | None = None
    taken_back: int = 0
    changes: tuple[Change, ...] = ()
    rematch: str | None = None
    copied: bool = False
    drawn_for: int | None = None

    @property
    def sitters(self) -> tuple[str, ...]:
        """For every seat HUMAN or an agent's name, now."""
        sitters = list(self.agents)
        for change in self.changes:
            sitters[change.seat] = change.who
        return tuple(sitters)


@dataclass(frozen=True)
class Link:
    """The way to one seat of a game, or to watching it.

    Attributes:
        token: the unguessable part of its address.
        game: the game's key.
        seat: 0 … N−1; None: watching.
        browser: who has taken it; None: nobody yet; ANYBODY: it is for all who have it; NOBODY: it
            was, and was withdrawn.
        name: what who has taken it wants to be called.
        seen: when he was last there, seconds since 1970; 0: never.
        screen: seats with the same one are played at one screen.
        in_record: whether records may tell that name.
    """

    token: str
    game: str
    seat: int | None
    browser: str | None
    name: str = ""
    seen: float = 0.0
    screen: str | None = None
    in_record: bool = False


@dataclass(frozen=True)
class StoredReplay:
    """What a list tells of a kept record.

    Attributes:
        id: its key.
        created: when it was opened last, seconds since 1970.
        names: who sat where in its first game; none if it was kept by a version that didn't store
            them.
        games: how many it has; 0: as for `names`.
    """

    id: str
    created: float
    names: tuple[str, ...]
    games: int


@dataclass(frozen=True)
class StoredAnalysis:
    """An agent's analysis of a game that is done.

    Attributes:
        game: a digest of all that has happened in it.
        agent, version: whose it is.
        kind: what it tells, as in hints.
        opinions: JSON, as :mod:`skyenv.page.kept_analyses` writes it.
    """

    game: str
    agent: str
    version: str
    kind: str
    opinions: str


def damaged(key: str, what: str) -> PageError:
    """The error of a game of which something is damaged, which the log tells, too."""
    _log.warning("game %s… in the database is damaged: %s", key[:8], what)
    return PageError(f"this game is damaged in the database: {what}", 409)


def withdrawn() -> PageError:
    """The error of a link to look on that leads nowhere any more."""
    return PageError("this link to look on was withdrawn; ask who sent it for the new one", 404)


def parsed(text: str) -> object:
    """JSON; None if it isn't."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def game_of(row: sqlite3.Row) -> StoredGame:
    """A game's options, if they can be.

    Raises:
        PageError: they are damaged.
    """
    values = dict(row)
    agents = parsed(values["agents"])
    if not (isinstance(agents, list) and all(isinstance(name, str) for name in agents)):
        raise damaged(values["id"], "who sits where")
    if not (MIN_PLAYERS <= values["players"] <= MAX_PLAYERS and len(agents) == values["players"]):
        raise damaged(values["id"], "the number of players")
    if values["side"] not in SIDES or values["max_turns"] < 1 or values["seed"] < 0:
        raise damaged(values["id"], "side, seed or number of turns")
    for name in ("created", "pause"):  # of no weight
        values[name] = values[name] if math.isfinite(values[name]) and values[name] >= 0 else 0.0
    changes = _changes(values["changes"], values["players"])
    if changes is None:
        raise damaged(values["id"], "who sits where")
    return StoredGame(
        **values | {"agents": tuple(agents), "changes": changes, "copied": bool(values["copied"])}
    )


def changes_text(changes: Iterable[Change]) -> str:
    """Who has sat down where, as it is stored."""
    return json.dumps([[change.step, change.seat, change.who] for change in changes])


def _changes(text: str, players: int) -> tuple[Change, ...] | None:
    """What :func:`changes_text` has written; None if it hasn't."""
    rows = parsed(text)
    if not isinstance(rows, list) or not all(
        isinstance(row, list) and [*map(type, row)] == [int, int, str] for row in rows
    ):
        return None
    return (
        tuple(Change(*row) for row in rows) if all(0 <= row[1] < players for row in rows) else None
    )


def replay_of(row: sqlite3.Row) -> StoredReplay:
    """What a list tells of a kept record; of damaged names nothing."""
    names = parsed(row["names"])
    known = isinstance(names, list) and all(isinstance(name, str) for name in names)
    return StoredReplay(
        row["id"],
        row["created"],
        tuple(names) if known and isinstance(names, list) else (),
        row["games"],
    )


def link_of(row: sqlite3.Row) -> Link:
    """A link."""
    values = dict(row)
    return Link(**values | {"in_record": bool(values["in_record"])})
