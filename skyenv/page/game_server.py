"""All games of a server: who may do what, agents' moves, who is told of changes, and what is
stored.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Final

from skyenv.checks import check_number
from skyenv.engine.game import Game
from skyenv.engine.options import DEFAULT_MAX_TURNS
from skyenv.errors import shown
from skyenv.page.browsers import new_token
from skyenv.page.catalogue import Catalogue, CatalogueEntry
from skyenv.page.errors import ConflictError, PageError, StorageError
from skyenv.page.game_requests import AGENT, ME, GameRequest
from skyenv.page.hints import advise
from skyenv.page.jobs import move
from skyenv.page.kept_replays import KeptReplays
from skyenv.page.payloads import Payload
from skyenv.page.preparing import Preparation
from skyenv.page.session import Session
from skyenv.page.storage import ANYBODY, HUMAN, NOBODY, Link, Storage, StoredGame
from skyenv.page.stored import withdrawn
from skyenv.page.teaching import tutorial
from skyenv.page.variations import Variation
from skyenv.page.win_chance import ESTIMATOR
from skyenv.page.workers import Priority, Report, Workers
from skyenv.seeds import fresh_seed

LONGEST_PAUSE: Final = 10.0
DEFAULT_PAUSE: Final = 0.8
MOST_GAMES: Final = 500
"""Games that one browser can have in the database."""
MOST_GAMES_IN_ALL: Final = 100_000
"""Games in the database; browsers are as many as somebody likes.

Of those in which nobody has played the oldest make room.
"""
SESSIONS: Final = 200
"""Games that are kept in memory though nobody looks at them."""
FIRST_RETRY, LONGEST_RETRY = 0.5, 30.0
"""Seconds until a move that couldn't be stored is tried again, at first and at most."""
CHANGED: Final = "changed"
PEOPLE: Final = "people"
"""What pages are told of: anything; who is there."""

LESSON: Final = "lesson"
"""The idempotency key of a lesson, of which each browser has one; browsers' own are longer."""
_log = logging.getLogger("skyenv.page")


class GameServer:
    """The games of a server. All methods are to be called in the event loop's thread.

    Args:
        storage: the database.
        catalogue: the agents that can be chosen.
        workers: who thinks for the games, and compiles what they need; None: threads of this
            process, and nothing is got ready.

    Attributes:
        preparation: how far the rules and the agents are.
        ending: set when the page is to end: nobody should wait for an agent any more.
        replays: the records that are kept for browsers.
    """

    def __init__(
        self, storage: Storage, catalogue: Catalogue, workers: Workers | None = None
    ) -> None:
        self.storage = storage
        self.catalogue = catalogue
        self.preparation = Preparation(catalogue, workers)
        self.ending = asyncio.Event()
        self.workers = workers or Workers()
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._runners: dict[str, asyncio.Task[None]] = {}
        self._asked: dict[str, float] = {}
        """Since when it is an agent's turn, by the game's key."""
        self._watchers: dict[str, set[Watcher]] = {}
        self.replays = KeptReplays(storage, self.preparation.require_rules)

    def begin(self) -> None:
        """Get ready, in the background."""
        self.preparation.begin()

    async def close(self) -> None:
        """Stop all agents and close the database; games stay in it."""
        await self.preparation.close()
        runners = list(self._runners.values())
        for runner in runners:
            runner.cancel()
        await asyncio.gather(*runners, return_exceptions=True)
        await self.workers.close()
        await asyncio.to_thread(self.storage.close)

    # ---- games ----

    async def make(
        self, request: GameRequest, browser: str, variation: Variation | None = None
    ) -> Link:
        """Make a game; none if the same key has led to one already.

        `variation`: what it begins with.

        Returns:
            The way to it for the browser that made it: its first seat, or watching; if it has
            neither, the first free seat.

        Raises:
            PageError: the browser has too many games, or one of the agents can't be had, or others
                have all seats meanwhile.
        """
        for seat in request.seats:
            if seat.startswith(AGENT):
                self.preparation.require_hope(seat.removeprefix(AGENT))
        seed = fresh_seed() if request.seed is None else request.seed
        agents = tuple(
            seat.removeprefix(AGENT) if seat.startswith(AGENT) else HUMAN for seat in request.seats
        )
        options = (
            request.players,
            request.side,
            DEFAULT_MAX_TURNS,
            seed,
            agents,
            DEFAULT_PAUSE,
            request.idempotency_key,
        )
        game = StoredGame(new_token(), browser, time.time(), *options)
        actions: Sequence[int] = ()
        if variation is not None:
            actions = variation.actions
            game = replace(
                game,
                max_turns=variation.max_turns,
                beginning=variation.beginning,
                origin=variation.origin,
            )
            game = replace(game, origin_step=len(actions), drawn_for=variation.drawn_for)
        screen = new_token() if request.seats.count(ME) > 1 else None
        names = request.names or ("",) * request.players
        links = [
            Link(new_token(), game.id, seat, None)
            if kind == HUMAN
            else Link(new_token(), game.id, seat, browser, names[seat], screen=screen)
            for seat, kind in enumerate(request.seats)
            if not kind.startswith(AGENT)
        ] or [Link(new_token(), game.id, None, browser)]
        links = await self.store(game, links, actions)
        ways = [link for link in links if link.browser == browser] or [
            link for link in links if link.browser is None
        ]
        if not ways:  # the key has led to a game before, whose seats others have now
            raise PageError("others have all seats of this game now", 403)
        return ways[0]

    async def lesson(self, browser: str) -> Link:
        """The way to the browser's lesson, which is made if there is none, and begun anew if it is
        over.
        """
        options = (
            tutorial.PLAYERS,
            tutorial.SIDE,
            DEFAULT_MAX_TURNS,
            tutorial.SEED,
            tutorial.AGENTS,
            DEFAULT_PAUSE,
            LESSON,
        )
        link = await self._add(StoredGame(new_token(), browser, time.time(), *options), browser)
        if link.browser is None:  # it was given up; nobody else knows its address
            await self.claim(link.token, browser)
        if _lesson_of(await self.session(link)).is_over:
            await self.repeat(link, anew=True)
        return link

    async def _add(self, game: StoredGame, browser: str, actions: Sequence[int] = ()) -> Link:
        """Store a game with one person, in which `actions` have been played; the way to his
        seat.
        """
        link = Link(new_token(), game.id, game.agents.index(HUMAN), browser)
        (link,) = await self.storage.write(
            self.storage.add_game, game, [link], MOST_GAMES, MOST_GAMES_IN_ALL, actions
        )
        return link

    async def repeat(self, link: Link, anew: bool = False) -> None:
        """Go back in a lesson: to where its last step began, or if nothing has been done since, the
        one before; or all of it.

        Raises:
            PageError: this is no lesson.
            ConflictError: as for :meth:`storing`.
        """
        session = await self.session(link)
        async with session.changing:
            lesson = _lesson_of(session)
            stay = 0 if anew else lesson.begin_of_last()
            with self.storing(session):
                await self.storage.write(self.storage.take_back, link.game, session.step, stay)
            session.go_back_to(lesson.played[:stay])
        self.tell(link.game)

    async def leave_lesson(self, link: Link, agent: str) -> Link:
        """Play on freely from where a lesson stands, against an agent, in a game of its own.

        Raises:
            PageError: this is no lesson, or there is no such agent.
        """
        session = await self.session(link)
        _lesson_of(session)
        agents = HUMAN, (await self.catalogue.look_up(agent)).name
        options = (
            tutorial.PLAYERS,
            tutorial.SIDE,
            DEFAULT_MAX_TURNS,
            tutorial.SEED,
            agents,
            DEFAULT_PAUSE,
        )
        game = StoredGame(
            new_token(),
            str(link.browser),
            time.time(),
            *options,
            origin=link.game,
            origin_step=session.step,
        )
        actions = [event["action"] for event in session.game.events if event["event"] == "action"]
        return await self._add(game, str(link.browser), actions)

    async def store(
        self,
        game: StoredGame,
        links: Sequence[Link],
        actions: Sequence[int] = (),
        after: str | None = None,
    ) -> list[Link]:
        """Store a new game, as :meth:`Storage.add_game` does, if its owner hasn't too many.

        Raises:
            PageError: he has.
        """
        return await self.storage.write(
            self.storage.add_game, game, links, MOST_GAMES, MOST_GAMES_IN_ALL, actions, after
        )

    def loaded(self, key: str) -> Session | None:
        """A game, if it is in memory."""
        return self._sessions.get(key)

    async def session(self, link: Link) -> Session:
        """The game of a link, from memory or from the database; its agents play on.

        Raises:
            PageError: there is no such game, it is damaged, or the rules aren't ready yet.
        """
        self.preparation.require_rules()
        key = link.game
        if key not in self._sessions:
            stored = await self.storage.read(self._stored, key)
            session = await asyncio.to_thread(Session, *stored)  # plays the whole game
            if (
                key not in self._sessions
            ):  # else another request has been faster, and may have changed its own
                self._forget_some()  # first, lest the new one is the only one that can go
                self._sessions[key] = session
        session = self._sessions[key]
        self._sessions.move_to_end(key)
        self.run(session)
        if link.seat not in (None, *range(session.stored.players)):
            raise PageError("this seat is damaged in the database", 409)
        return session

    def _stored(self, key: str) -> tuple[StoredGame, list[int], list[int], list[Link]]:
        """What the database has of a game."""
        return (
            self.storage.game(key),
            self.storage.actions(key),
            self.storage.draft(key),
            self.storage.links(key),
        )

    async def read_links(self, key: str) -> None:
        """Know the ways to a game's seats, when they have changed."""
        links = await self.storage.read(self.storage.links, key)
        if session := self._sessions.get(key):
            session.links = links

    def _forget_some(self) -> None:
        """Make room for one more session, as far as others are idle."""
        idle = [
            key for key in self._sessions if key not in self._watchers and key not in self._runners
        ]
        for key in idle[: max(0, len(self._sessions) + 1 - SESSIONS)]:
            del self._sessions[key]

    async def delete(self, link: Link, browser: str) -> None:
        """Forget a game for good.

        Raises:
            PageError: it is another browser's.
        """
        if await self.storage.read(self.storage.owner, link.game) != browser:
            raise PageError("only who made the game can delete it", 403)
        await self.storage.write(self.storage.delete_game, link.game)
        if runner := self._runners.pop(link.game, None):
            runner.cancel()
        self._sessions.pop(link.game, None)
        self.tell(link.game)

    # ---- who may do what ----

    async def link(self, token: str, browser: str) -> Link:
        """The link with that token.

        Raises:
            PageError: there is none, or it isn't this browser's.
        """
        link = await self.storage.read(self.storage.link, token)
        if link.browser == ANYBODY:
            return replace(link, browser=browser)
        if link.browser == NOBODY:
            raise withdrawn()
        if link.browser is None:
            raise PageError("nobody has taken this seat yet", 403)
        if link.browser != browser:
            raise PageError("this seat belongs to another browser, which can give it up", 403)
        return link

    async def claim(self, token: str, browser: str, name: str = "") -> None:
        """Take a seat that nobody has; `name`: of who takes it.

        Raises:
            PageError: there is no such seat, somebody has it, or it was a link to look on that was
                withdrawn.
        """
        link = await self.storage.read(self.storage.link, token)
        if link.browser == NOBODY:
            raise withdrawn()
        if not await self.storage.write(self.storage.claim, token, browser, name):
            raise PageError("this seat belongs to another browser, which can give it up", 403)
        await self.read_links(link.game)
        self.tell(link.game)

    async def release(self, link: Link) -> None:
        """Give a seat up; the next browser that opens its link can have it.

        Who watched on it hears of nothing any more.
        """
        if link.seat is None:
            raise PageError("only a seat can be given up", 409)
        await self.storage.write(self.storage.release, link.token)
        await self.read_links(link.game)
        self.dismiss(link)
        self.tell(link.game)

    def dismiss(self, link: Link) -> None:
        """Tell nothing more to who watches by a link."""
        for watcher in self._watchers.get(link.game, ()):
            if watcher.token == link.token:
                watcher.is_dismissed = True
                watcher.changed.set()

    async def invitations(self, session: Session, browser: str) -> list[Link]:
        """The seats that nobody has taken, told to who made the game alone."""
        if session.stored.owner != browser:
            return []
        links = await self.storage.read(self.storage.links, session.stored.id)
        return [link for link in links if link.browser is None]

    # ---- playing ----

    async def act(self, link: Link, actions: Sequence[int], step: int) -> None:
        """Play a choice of a seat.

        Raises:
            PageError, IllegalActionError: as for :meth:`Session.act`.
        """
        session = await self.session(link)
        session.check_uncovered(link)
        async with session.changing:
            played, draft = session.act(link.seat, actions, step)
            if played:
                await self._commit(session, played)
            else:
                await self._lay_down(session, link, draft)

    async def undo(self, link: Link) -> None:
        """Take back the last card of a seat's unfinished bid, or what it did last.

        Raises:
            PageError: there is nothing to take back.
            ConflictError: as for :meth:`storing`.
        """
        session = await self.session(link)
        session.check_uncovered(link)
        async with session.changing:
            stay, draft = session.undo(link.seat)
            if stay == session.step:
                await self._lay_down(session, link, draft)
                return
            with self.storing(session):
                await self.storage.write(self.storage.take_back, link.game, session.step, stay)
            session.go_back(stay)
        self.tell(link.game)

    async def _lay_down(self, session: Session, link: Link, draft: Sequence[int]) -> None:
        """Store an unfinished bid, then lay it down, then tell its own seat."""
        with self.storing(session):
            await self.storage.write(self.storage.set_draft, link.game, session.step, draft)
        session.lay_down(draft)
        self.tell(link.game, only=link.seat)

    async def set_pause(self, link: Link, pause: object) -> None:
        """Change how long agents' moves take, in seconds.

        Raises:
            PageError: that is no such time, or who looks on asks.
        """
        seconds = check_number("the pause, in seconds,", pause, 0.0, LONGEST_PAUSE, PageError)
        session = await self._paced(link)
        await self.storage.write(self.storage.set_pause, link.game, seconds)
        session.stored = replace(session.stored, pause=seconds)
        self.tell(link.game)

    async def hold(self, link: Link, paused: object) -> None:
        """Let agents wait, or go on.

        Raises:
            PageError: that is neither, or who looks on asks.
        """
        if not isinstance(paused, bool):
            raise PageError(f"paused is true or false, not {shown(paused)}")
        session = await self._paced(link)
        session.paused, session.granted = paused, False
        self.tell(link.game)

    async def grant(self, link: Link) -> None:
        """Let agents that wait make one move.

        Raises:
            PageError: who looks on asks.
        """
        (await self._paced(link)).granted = True

    async def _paced(self, link: Link) -> Session:
        """The game of a link whose browser may say when agents move.

        Raises:
            PageError: it looks on, and hasn't made the game.
        """
        session = await self.session(link)
        if link.seat is None and session.stored.owner != link.browser:
            raise PageError("only who plays can change the pace", 403)
        return session

    async def _commit(self, session: Session, actions: Sequence[int]) -> None:
        """Store actions, then play them, then tell everybody; for who holds ``session.changing``.

        Raises:
            ConflictError: as for :meth:`storing`.
            StorageError: the actions can't be stored. Nothing has changed.
        """
        with self.storing(session):
            await self.storage.write(self.storage.append, session.stored.id, session.step, actions)
        session.commit(actions)
        self.tell(session.stored.id)
        self.run(session)

    @contextlib.contextmanager
    def storing(self, session: Session) -> Iterator[None]:
        """While a change of a game is stored; one that isn't as it was is read anew when it is next
        asked for.

        Raises:
            ConflictError: another server has gone on with the game.
        """
        try:
            yield
        except ConflictError:
            if self._sessions.get(session.stored.id) is session:
                del self._sessions[session.stored.id]
            self.tell(session.stored.id)
            raise

    def run(self, session: Session) -> None:
        """Let agents play on, if one is to move and somebody cares."""
        key = session.stored.id
        wanted = (
            session.agent_to_move is not None
            and session.trouble is None
            and (session.has_humans or key in self._watchers)
        )
        if wanted and key not in self._runners:
            self._runners[key] = asyncio.create_task(self._play_agents(session))

    async def _play_agents(self, session: Session) -> None:
        key = session.stored.id
        try:
            while (name := session.agent_to_move) is not None and (
                session.has_humans or key in self._watchers
            ):
                self._asked[key] = time.monotonic()
                try:
                    entry = None if session.lesson is not None else await self._agent(name)
                except PageError as error:
                    session.trouble = str(error)
                    break
                began, position = time.monotonic(), (session.game, session.step)
                if entry is None:
                    actions = _lesson_of(session).answer
                else:
                    job = partial(move, entry, session.game.copy())
                    actions = await self.workers.ask(job)
                await self._wait(session, began)
                await self._commit_agents(session, actions, position, name)
        except ConflictError:
            pass  # whoever looks at the game next reads it anew
        except Exception:  # an agent's code can fail anyhow; the others' games go on
            _log.exception("agent %s failed", name)
            # No more than that: an error could tell what its seat may do, and so of its hand.
            session.trouble = f"{name} has failed; the server's log tells more"
        finally:
            self._runners.pop(key, None)
            self._asked.pop(key, None)
        if session.trouble:
            self.tell(key)

    async def _agent(self, name: str) -> CatalogueEntry:
        """An agent, when it can play.

        Raises:
            PageError: there is none, or it can't be had.
        """
        entry = await self.catalogue.look_up(name)
        await self.preparation.agent(name)
        return entry

    async def _commit_agents(
        self, session: Session, actions: Sequence[int], position: tuple[Game, int], name: str
    ) -> None:
        """Commit what an agent has decided in a position (a game, its step), if it still sits
        there; try until there is space.
        """
        pause = FIRST_RETRY
        while True:
            try:
                async with session.changing:
                    is_same = session.game is position[0] and session.step == position[1]
                    if (
                        is_same and session.agent_to_move == name
                    ):  # else something has changed while it thought
                        session.trouble = None
                        await self._commit(session, actions)
                return
            except StorageError as error:
                _log.warning("a move can't be stored: %s", error.why)
                session.trouble = f"{error.why}: the game goes on {error.until}"
            self.tell(session.stored.id)
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_RETRY)

    async def _wait(self, session: Session, began: float) -> None:
        """Wait before an agent's move: as long as a move takes, and until agents may go on."""
        while not session.granted:
            left = began + session.stored.pause - time.monotonic()
            if left <= 0 and not session.paused:
                break
            await asyncio.sleep(
                0.05 if session.paused else min(left, 0.2)
            )  # it may be made shorter meanwhile
        session.granted = False

    async def hint(self, name: str, game: Game, on_progress: Report | None = None) -> Payload:
        """What an agent would do in a game, as a browser is told it; waits until the agent is
        ready. Who cancels it ends it.

        Args:
            name: the agent's.
            game: only for it.
            on_progress: called with what an agent that tries actions out has come to so far, as a
                browser is told it.

        Raises:
            PageError: there is no such agent, it can't be had, or the game is over.
            AgentError: its answer is none, or it fails.
        """
        entry = await self._agent(name)
        job = partial(advise, entry, self.estimator(), game)
        return await self.workers.ask(job, Priority.HINT, on_progress)

    def estimator(self) -> CatalogueEntry | None:
        """The agent that estimates chances to win; None: it isn't offered, or isn't ready yet."""
        about = self.catalogue.readiness.get(ESTIMATOR)
        return self.catalogue[ESTIMATOR] if about is not None and about.state == "ready" else None

    def thinking(self, session: Session) -> Payload:
        """Who is to move, if it is an agent: its name, and for how many seconds it has been its
        turn.
        """
        name = session.agent_to_move
        began = self._asked.get(session.stored.id)
        return {
            "agent": name,
            "seconds": None
            if name is None or began is None
            else round(time.monotonic() - began, 1),
        }

    # ---- who is told of changes ----

    @asynccontextmanager
    async def watching(self, link: Link) -> AsyncIterator[Watcher]:
        """Be told of changes to a game, until the seat is given up.

        Raises:
            PageError: the seat isn't that browser's any more, or the game is gone.
        """
        watcher = Watcher(link)
        self._watchers.setdefault(link.game, set()).add(watcher)
        try:
            await self.link(
                link.token, str(link.browser)
            )  # it may have been given up before there was anybody to dismiss
            session = await self.session(link)
            if any(each.token == link.token and each.browser == ANYBODY for each in session.links):
                await self.storage.write(self.storage.spectate, link.token, str(link.browser))
            self.tell(link.game, PEOPLE, without=watcher)
            yield watcher
        finally:
            watchers = self._watchers[link.game]
            watchers.remove(watcher)
            if not watchers:
                del self._watchers[link.game]
            await self._has_left(link)

    async def _has_left(self, link: Link) -> None:
        """One page less shows a seat: remember when, and tell the others."""
        now = time.time()
        if session := self.loaded(link.game):
            session.links = [
                replace(each, seen=now) if each.token == link.token else each
                for each in session.links
            ]
        self.tell(link.game, PEOPLE)
        with contextlib.suppress(
            StorageError, RuntimeError
        ):  # not known after a restart, then; the second: the server ends
            await self.storage.write(self.storage.set_seen, link.token, now)

    def watchers(self, key: str) -> Collection[Watcher]:
        """Who is told of changes to a game now."""
        return self._watchers.get(key, ())

    def tell(
        self, key: str, what: str = CHANGED, only: int | None = None, without: Watcher | None = None
    ) -> None:
        """Wake who watches a game.

        Args:
            key: the game's.
            what: has changed: CHANGED, anything; or PEOPLE, only who is there.
            only: this seat, as the others can't see what has changed.
            without: this one, who knows it.
        """
        for watcher in self._watchers.get(key, ()):
            if (only is None or watcher.seat == only) and watcher is not without:
                watcher.news.add(what)
                watcher.changed.set()


def _lesson_of(session: Session) -> tutorial.Lesson:
    if session.lesson is None:
        raise PageError("this is no lesson")
    return session.lesson


class Watcher:
    """Somebody who is told of changes to a game.

    Args:
        link: as whom.

    Attributes:
        token: the link's.
        seat: on which seat; None: watching.
        browser: whose.
        changed: set when something has changed that this seat can see.
        news: what it is, as for :meth:`GameServer.tell`.
        is_dismissed: whether the seat has been given up.
    """

    def __init__(self, link: Link) -> None:
        self.token = link.token
        self.seat = link.seat
        self.browser = link.browser
        self.changed = asyncio.Event()
        self.news: set[str] = set()
        self.is_dismissed = False


def snapshot(session: Session, seat: int | None) -> Game:
    """A copy of the game as a seat has it, its draft included, to be looked at in another
    thread.
    """
    return session.as_seen_by(seat).copy()
