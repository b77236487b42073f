"""All games of a server: who may do what, agents' moves, who is told of changes, and what is stored."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from skyenv.checks import check_choice, check_integer, check_number, parse_integer
from skyenv.errors import PageError, shown
from skyenv.game import Game
from skyenv.games import DEFAULT_MAX_TURNS, HIGHEST_SEED, fresh_seed
from skyenv.page.browsers import new_token
from skyenv.page.catalogue import Catalogue
from skyenv.page.jobs import move
from skyenv.page.replays import Replay, Summary, summaries
from skyenv.page.session import Session
from skyenv.page.storage import HUMAN, Link, Storage, StoredGame
from skyenv.page.workers import Workers
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES

LONGEST_PAUSE: Final = 10.0
DEFAULT_PAUSE: Final = 0.8
MOST_GAMES: Final = 500
"""Games that one browser can have in the database."""
MOST_REPLAYS: Final = 30
"""Replays that are kept for one browser."""
MOST_REPLAYS_IN_ALL: Final = 500
"""Replays that are kept in the database; browsers are as many as somebody likes."""
UPLOADS: Final = 8
"""Records that are received at the same time; each may take megabytes of memory until it is read."""
SESSIONS: Final = 200
"""Games that are kept in memory though nobody looks at them."""
REPLAYS: Final = 8
"""The same for replays."""
ME: Final = "me"
"""A seat for the browser that makes the game; the other seats are HUMAN or have an agent's name behind AGENT."""
AGENT: Final = "agent:"

_log = logging.getLogger("skyenv.page")


@dataclass(frozen=True)
class GameRequest:
    """A game that a browser asks for, checked.

    Attributes:
        players: 2 to 4.
        side: ``"front"`` or ``"back"``.
        seed: None: a random one.
        seats: one of ME, HUMAN, AGENT + name for each.
    """

    players: int
    side: str
    seed: int | None
    seats: tuple[str, ...]

    @classmethod
    def checked(cls, value: Mapping[str, Any], catalogue: Catalogue) -> GameRequest:
        """What a browser sent.

        Raises:
            PageError: it isn't what the form sends.
        """
        players, side, seed, seats = (value.get(name) for name in ("players", "side", "seed", "seats"))
        players = check_integer("players", players, MIN_PLAYERS, MAX_PLAYERS, PageError)
        side = check_choice("side", side, SIDES, PageError)
        if not isinstance(seats, list) or len(seats) != players or not all(isinstance(seat, str) for seat in seats):
            raise PageError(f"seats must be a list of {players} texts, not {shown(seats)}")
        for seat in seats:
            if seat.startswith(AGENT):
                catalogue[seat.removeprefix(AGENT)]
            elif seat not in (ME, HUMAN):
                raise PageError(f"a seat is '{ME}', '{HUMAN}' or '{AGENT}NAME', not {shown(seat)}")
        return cls(players, side, _seed(seed), tuple(seats))


def _seed(value: object) -> int | None:
    if value is None or value == "":
        return None
    # As text: a browser's numbers have 53 bits.
    seed = parse_integer(value, 0, HIGHEST_SEED) if isinstance(value, str) else None
    if seed is not None:
        return seed
    raise PageError(f"the seed must be a whole number from 0 to {HIGHEST_SEED}, not {shown(value)}")


class GameServer:
    """The games of a server. All methods are to be called in the event loop's thread.

    Args:
        storage: the database.
        catalogue: the agents that can be chosen.
        workers: who thinks for the games; None: threads of this process.

    Attributes:
        receiving: held by who receives a record.
    """

    def __init__(self, storage: Storage, catalogue: Catalogue, workers: Workers | None = None) -> None:
        self.storage = storage
        self.catalogue = catalogue
        self.workers = workers or Workers(in_threads=True)
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._replays: OrderedDict[tuple[str, int, str], Replay] = OrderedDict()
        self._runners: dict[str, asyncio.Task[None]] = {}
        self._watchers: dict[str, set[Watcher]] = {}
        self._reading = asyncio.Semaphore(2)
        self.receiving = asyncio.Semaphore(UPLOADS)

    async def close(self) -> None:
        """Stop all agents; games stay in the database."""
        runners = list(self._runners.values())
        for runner in runners:
            runner.cancel()
        await asyncio.gather(*runners, return_exceptions=True)
        await self.workers.close()

    # ---- games ----

    def make(self, request: GameRequest, browser: str) -> Link:
        """Make a game.

        Returns:
            The way to it for the browser that made it: its first seat, or watching; if it has neither, the first seat there is.

        Raises:
            PageError: the browser has too many games.
        """
        if self.storage.number_of_games(browser) >= MOST_GAMES:
            raise PageError(f"this browser has {MOST_GAMES} games; delete some", 429)
        seed = fresh_seed() if request.seed is None else request.seed
        agents = tuple(seat.removeprefix(AGENT) if seat.startswith(AGENT) else HUMAN for seat in request.seats)
        game = StoredGame(
            new_token(), browser, time.time(), request.players, request.side, DEFAULT_MAX_TURNS, seed, agents, DEFAULT_PAUSE
        )
        links = [
            Link(new_token(), game.id, seat, browser if kind == ME else None)
            for seat, kind in enumerate(request.seats)
            if not kind.startswith(AGENT)
        ] or [Link(new_token(), game.id, None, browser)]
        self.storage.add_game(game, links)
        return next((link for link in links if link.browser == browser), links[0])

    def session(self, key: str) -> Session:
        """A game, from memory or from the database; its agents play on.

        Raises:
            PageError: there is no such game.
        """
        if key not in self._sessions:
            session = Session(self.storage.game(key), self.storage.actions(key), self.storage.draft(key))
            self._forget_some()  # first, lest the new one is the only one that can go
            self._sessions[key] = session
        self._sessions.move_to_end(key)
        self._run(self._sessions[key])
        return self._sessions[key]

    def _forget_some(self) -> None:
        """Make room for one more session, as far as others are idle."""
        idle = [key for key in self._sessions if key not in self._watchers and key not in self._runners]
        for key in idle[: max(0, len(self._sessions) + 1 - SESSIONS)]:
            del self._sessions[key]

    def delete(self, link: Link, browser: str) -> None:
        """Forget a game for good.

        Raises:
            PageError: it is another browser's.
        """
        if self.storage.game(link.game).owner != browser:
            raise PageError("only who made the game can delete it", 403)
        if runner := self._runners.pop(link.game, None):
            runner.cancel()
        self._sessions.pop(link.game, None)
        self.storage.delete_game(link.game)
        self._tell(link.game)

    # ---- who may do what ----

    def link(self, token: str, browser: str) -> Link:
        """The link with that token.

        Raises:
            PageError: there is none, or it isn't this browser's.
        """
        link = self.storage.link(token)
        if link.browser is None:
            raise PageError("nobody has taken this seat yet", 403)
        if link.browser != browser:
            raise PageError("this seat belongs to another browser, which can give it up", 403)
        return link

    def claim(self, token: str, browser: str) -> None:
        """Take a seat that nobody has.

        Raises:
            PageError: there is no such seat, or somebody has it.
        """
        link = self.storage.link(token)
        if not self.storage.claim(token, browser):
            raise PageError("this seat belongs to another browser, which can give it up", 403)
        self._tell(link.game)

    def release(self, link: Link) -> None:
        """Give a seat up; the next browser that opens its link can have it."""
        self.storage.release(link.token)
        self._tell(link.game)

    def invitations(self, session: Session, browser: str) -> list[Link]:
        """The seats that nobody has taken, told to who made the game alone."""
        if session.stored.owner != browser:
            return []
        return [link for link in self.storage.links(session.stored.id) if link.browser is None]

    # ---- playing ----

    def act(self, link: Link, action: int, step: int) -> None:
        """Play an action of a seat.

        Raises:
            PageError, IllegalActionError: as for :meth:`Session.act`.
        """
        session = self.session(link.game)
        actions = session.act(link.seat, action, step)
        if actions:
            self._commit(session, actions)
        else:
            self._tell_draft(session, link)

    def undo(self, link: Link) -> None:
        """Take back the last card of a seat's unfinished bid.

        Raises:
            PageError: there is none.
        """
        session = self.session(link.game)
        session.undo(link.seat)
        self._tell_draft(session, link)

    def _tell_draft(self, session: Session, link: Link) -> None:
        """Store an unfinished bid, and tell its own seat."""
        self.storage.set_draft(link.game, session.draft)
        self._tell(link.game, only=link.seat)

    def set_pause(self, link: Link, pause: object) -> None:
        """Change how long agents' moves take, in seconds.

        Raises:
            PageError: that is no such time.
        """
        seconds = check_number("the pause, in seconds,", pause, 0.0, LONGEST_PAUSE, PageError)
        session = self.session(link.game)
        session.stored = replace(session.stored, pause=seconds)
        self.storage.set_pause(link.game, seconds)
        self._tell(link.game)

    def _commit(self, session: Session, actions: Sequence[int]) -> None:
        """Store actions, then play them, then tell everybody."""
        self.storage.append(session.stored.id, session.step, actions)
        session.commit(actions)
        self._tell(session.stored.id)
        self._run(session)

    def _run(self, session: Session) -> None:
        """Let agents play on, if one is to move and somebody cares."""
        key = session.stored.id
        wanted = session.agent_to_move is not None and session.trouble is None and (session.has_humans or key in self._watchers)
        if wanted and key not in self._runners:
            self._runners[key] = asyncio.create_task(self._play_agents(session))

    async def _play_agents(self, session: Session) -> None:
        key = session.stored.id
        try:
            while (name := session.agent_to_move) is not None and (session.has_humans or key in self._watchers):
                began = time.monotonic()
                job = partial(move, self.catalogue[name], session.game.copy())
                actions = await self.workers.ask(job, group=key, agent=name)
                while (left := began + session.stored.pause - time.monotonic()) > 0:
                    await asyncio.sleep(min(left, 0.2))  # the pause may be made shorter meanwhile
                self._commit(session, actions)
        except Exception:  # an agent's code can fail anyhow; the others' games go on
            _log.exception("agent %s failed", name)
            # No more than that: an error could tell what its seat may do, and so of its hand.
            session.trouble = f"{name} has failed; the server's log tells more"
        finally:
            self._runners.pop(key, None)
        if session.trouble:
            self._tell(key)

    # ---- who is told of changes ----

    @contextmanager
    def watching(self, link: Link) -> Iterator[Watcher]:
        """Be told of changes to a game."""
        watcher = Watcher(link.seat)
        self._watchers.setdefault(link.game, set()).add(watcher)
        try:
            self.session(link.game)
            yield watcher
        finally:
            watchers = self._watchers[link.game]
            watchers.remove(watcher)
            if not watchers:
                del self._watchers[link.game]

    def _tell(self, key: str, only: int | None = None) -> None:
        """Wake who watches a game; `only`: this seat, as the others can't see what has changed."""
        for watcher in self._watchers.get(key, ()):
            if only is None or watcher.seat == only:
                watcher.changed.set()

    # ---- replays ----

    async def add_replay(self, content: bytes, browser: str) -> tuple[str, list[Summary]]:
        """Check a record and keep it for a browser to look at.

        Returns:
            Its key, and what games there are.

        Raises:
            RecordError, PageError: it is damaged, or too large.
        """
        async with self._reading:
            games = await asyncio.to_thread(summaries, content)
        key = new_token()
        self.storage.add_replay(key, browser, content, MOST_REPLAYS, MOST_REPLAYS_IN_ALL)
        return key, games

    async def summaries(self, key: str, browser: str) -> list[Summary]:
        """The games of a record that was kept.

        Raises:
            PageError: it isn't there, or another browser's.
        """
        content = self.storage.replay(key, browser)
        async with self._reading:
            return await asyncio.to_thread(summaries, content)

    async def replay(self, key: str, number: int, browser: str) -> Replay:
        """A game of a record that was kept.

        Raises:
            PageError: it isn't there, or another browser's.
        """
        place = key, number, browser
        if place not in self._replays:
            async with self._reading:
                replay = await asyncio.to_thread(Replay.of, self.storage.replay(key, browser), number)
            self._replays[place] = replay
            while len(self._replays) > REPLAYS:
                self._replays.popitem(last=False)
        self._replays.move_to_end(place)
        return self._replays[place]


class Watcher:
    """Somebody who is told of changes to a game.

    Args:
        seat: on which seat; None: watching.

    Attributes:
        changed: set when something has changed that this seat can see.
    """

    def __init__(self, seat: int | None) -> None:
        self.seat = seat
        self.changed = asyncio.Event()


def snapshot(session: Session, seat: int | None) -> Game:
    """A copy of the game as a seat has it, its draft included, to be looked at in another thread."""
    return session.as_seen_by(seat).copy()
