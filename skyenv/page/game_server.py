"""All games of a server: who may do what, agents' moves, news to pages, and what is stored."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from skyenv.engine.game import Game
from skyenv.engine.options import DEFAULT_MAX_TURNS
from skyenv.page.background import Background
from skyenv.page.browsers import new_token
from skyenv.page.catalogue import Catalogue, CatalogueEntry
from skyenv.page.errors import PageError, StorageError
from skyenv.page.game_requests import AGENT, ME, GameRequest
from skyenv.page.hints import advise, move
from skyenv.page.kept import Kept
from skyenv.page.payloads import Payload
from skyenv.page.preparing import Preparation
from skyenv.page.replays import KeptReplays
from skyenv.page.session import Position, Session
from skyenv.page.storage import ANYBODY, HUMAN, Link, Storage, StoredGame
from skyenv.page.teaching import tutorial
from skyenv.page.win_chance import ESTIMATOR
from skyenv.page.workers import Priority, Workers
from skyenv.seeds import fresh_seed

DEFAULT_PAUSE: Final = 0.8
# Games that one browser can have in the database, and all of them, as browsers are as many as
# somebody likes.
MOST_GAMES: Final = 500
MOST_GAMES_IN_ALL: Final = 100_000
SESSIONS: Final = 200  # games that are kept in memory though nobody looks at them
# Seconds until a move that couldn't be stored is tried again, at first and at most.
FIRST_RETRY, LONGEST_RETRY = 0.5, 30.0
# What pages are told of: anything; who is there.
CHANGED: Final = "changed"
PEOPLE: Final = "people"
# The idempotency key of a lesson, of which each browser has one; browsers' own are longer.
LESSON: Final = "lesson"
NOTHING: Final[Mapping[str, Any]] = {}
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
        background: long work for browsers.
    """

    def __init__(
        self, storage: Storage, catalogue: Catalogue, workers: Workers | None = None
    ) -> None:
        self.storage = storage
        self.catalogue = catalogue
        self.ending = asyncio.Event()
        self.workers = workers or Workers()
        self.preparation = Preparation(catalogue, self.workers, is_ready=workers is None)
        self.background = Background(self.workers)
        self._runners: dict[str, asyncio.Task[None]] = {}
        self._watchers: dict[str, set[Watcher]] = {}
        self._sessions: Kept[str, Session] = Kept(
            SESSIONS, lambda key, _: key in self._watchers or key in self._runners
        )
        self._reading = asyncio.Lock()
        self.replays = KeptReplays(storage, self.preparation.require_rules)

    async def close(self) -> None:
        """Stop all agents and close the database; games stay in it."""
        await self.background.close()
        await self.preparation.close()
        runners = list(self._runners.values())
        for runner in runners:
            runner.cancel()
        await asyncio.gather(*runners, return_exceptions=True)
        await self.workers.close()
        await asyncio.to_thread(self.storage.close)

    # ---- games ----

    async def make(
        self, request: GameRequest, browser: str, begun: Mapping[str, Any] = NOTHING
    ) -> Link:
        """Make a game; none if the same key has led to one already.

        `begun`: what it begins with (:func:`skyenv.page.variations.variation_of`).

        Returns:
            The way to it for the browser that made it: its first seat, or watching; if it has
            neither, the first free seat.

        Raises:
            PageError: the browser has too many games, or one of the agents can't be had, or others
                have all seats meanwhile.
        """
        agents = tuple(
            seat.removeprefix(AGENT) if seat.startswith(AGENT) else HUMAN for seat in request.seats
        )
        for agent in set(agents) - {HUMAN}:
            self.preparation.require_hope(agent)
        seed = fresh_seed() if request.seed is None else request.seed
        key, task = request.idempotency_key, request.task
        game = new_game(browser, seed, agents, request.side, idempotency_key=key, task=task)
        links = await self.store(replace(game, **begun), _first_links(request, game.id, browser))
        ways = (link for link in links if link.browser in (browser, None))
        way = min(ways, key=lambda link: link.browser is None, default=None)
        if way is None:  # the key has led to a game before, whose seats others have now
            raise PageError("others have all seats of this game now", 403)
        return way

    async def store(
        self, game: StoredGame, links: Sequence[Link], origin: Mapping[str, object] | None = None
    ) -> list[Link]:
        """Store a new game, as :meth:`Storage.add_game` does, if its owner hasn't too many.

        Raises:
            PageError: the owner has, or the rules aren't ready yet, which say where it begins.
        """
        if game.actions or game.task:
            self.preparation.require_rules()
            session = await asyncio.to_thread(Session, game)
            game = replace(game, **session.position.columns())
        limits = MOST_GAMES, MOST_GAMES_IN_ALL
        return await self.storage.ask(self.storage.add_game, game, links, *limits, origin)

    async def session(self, link: Link) -> Session:
        """The game of a link, from memory or from the database; its agents play on.

        Raises:
            PageError: there is no such game, it is damaged, or the rules aren't ready yet.
        """
        self.preparation.require_rules()
        key = link.game
        if key not in self._sessions:
            async with self._reading:  # it takes a while; who wants the same one waits for it
                if key not in self._sessions:
                    links = await self.storage.ask(self.storage.links, key)
                    stored = await self.storage.ask(self.storage.game, key)
                    self._sessions[key] = await asyncio.to_thread(Session, stored, links)
        self.run(self._sessions[key])
        return self._sessions[key]

    async def read_links(self, key: str) -> None:
        """Know the ways to a game's seats, when they have changed."""
        async with self._reading:
            links = await self.storage.ask(self.storage.links, key)
            if session := self._sessions.get(key):
                session.links = links

    async def delete(self, link: Link) -> None:
        """Forget a game for good, if the link's browser has made it.

        Raises:
            PageError: it is another browser's.
        """
        if await self.storage.ask(self.storage.owner, link.game) != link.browser:
            raise PageError("only the browser that made the game can delete it", 403)
        await self.storage.ask(self.storage.delete_game, link.game)
        if runner := self._runners.pop(link.game, None):
            runner.cancel()
        self._sessions.pop(link.game, None)
        self.tell(link.game)

    # ---- lessons ----

    async def lesson(self, browser: str) -> Link:
        """The way to the browser's lesson, which is made if there is none, and begun anew if it is
        over.
        """
        link = await self._deal(browser, tutorial.AGENTS, idempotency_key=LESSON)
        if link.browser is None:  # it was given up; nobody else knows its address
            await self.claim(link.token, browser)
        session = await self.session(link)
        if _lesson_of(session).is_over:
            await self.repeat(session, anew=True)
        return link

    async def _deal(self, browser: str, agents: tuple[str, str], **options: Any) -> Link:
        """Store a game with the lesson's deal; the way to its first seat, a person's."""
        game = new_game(browser, tutorial.SEED, agents, tutorial.SIDE, **options)
        (link,) = await self.store(game, [Link(new_token(), game.id, 0, browser)])
        return link

    async def repeat(self, session: Session, anew: bool = False) -> None:
        """Go back in a lesson: to where its last step began, or if nothing has been done since, the
        one before; or all of it.

        Raises:
            PageError: this is no lesson.
        """
        async with session.changing:
            lesson = _lesson_of(session)
            await self._become(session, session.back_to(0 if anew else lesson.begin_of_last()))

    async def leave_lesson(self, session: Session, link: Link, agent: str) -> Link:
        """Play on freely from where a lesson stands, against an agent, in a game of its own.

        Raises:
            PageError: this is no lesson, or there is no such agent.
        """
        _lesson_of(session)
        await self.catalogue.look_up(agent)
        actions = session.position.actions
        begun = {"origin": link.game, "origin_step": len(actions), "actions": actions}
        return await self._deal(str(link.browser), (HUMAN, agent), **begun)

    # ---- who may do what ----

    async def link(self, token: str, browser: str) -> Link:
        """The link with that token.

        Raises:
            PageError: there is none, or it isn't this browser's.
        """
        link = await self.storage.ask(self.storage.link, token)
        if link.browser == ANYBODY:
            return replace(link, browser=browser)
        if link.browser is None:
            raise PageError("nobody has taken this seat yet", 403, free=True)
        if link.browser != browser:
            raise PageError("this seat is taken by another browser", 403)
        return link

    async def claim(self, token: str, browser: str, name: str = "") -> None:
        """Take a seat that nobody has, or change the name of the player who has it.

        Raises:
            PageError: there is no such seat, or another browser has it.
        """
        link = await self.storage.ask(self.storage.link, token)
        if not await self.storage.ask(self.storage.claim, token, browser, name):
            raise PageError("this seat is taken by another browser", 403)
        await self.read_links(link.game)
        self.tell(link.game)

    async def release(self, session: Session, link: Link, tab: str = "") -> None:
        """Give a seat up; the next browser that opens its link can have it, and pages that show it
        are told nothing more, whatever their `tab`.

        Raises:
            PageError: it is no seat.
        """
        if link.seat is None:
            raise PageError("only a seat can be given up", 409)
        free: dict[str, Any] = {"browser": None, "name": "", "screen": None, "seen": 0.0}
        await self.storage.ask(self.storage.change_link, link.token, **free)
        await self.read_links(link.game)
        for watcher in self.watchers(link.game):
            if watcher.link.token == link.token:
                watcher.news.put_nowait(None)
        self.tell(link.game)

    # ---- playing ----

    async def change(
        self,
        session: Session,
        position: Position | None = None,
        link: Link | None = None,
        **values: Any,
    ) -> None:
        """Store what changes of a game, then make it so.

        Args:
            session: the game; ``session.changing`` is held if its position changes.
            position: where it stands then.
            link: one more way to it.
            values: other options, as :class:`~skyenv.page.stored.StoredGame` names them.

        Raises:
            StorageError: it can't be stored. Nothing has changed.
            PageError: the game is gone.
        """
        if position is not None:
            values |= position.columns()
        await self.storage.ask(self.storage.change_game, session.stored.id, link, **values)
        session.stored = replace(session.stored, **values)
        if position is not None:
            session.become(position)

    async def act(
        self, session: Session, link: Link, tab: str, actions: Sequence[int], step: int
    ) -> None:
        """Play a choice of a seat; `tab`: as for :meth:`tell`.

        Raises:
            PageError, IllegalActionError: as for :meth:`Session.chosen`.
        """
        session.check_uncovered(link)
        async with session.changing:
            await self._become(session, session.chosen(link.seat, actions, step), tab)

    async def undo(self, session: Session, link: Link, tab: str = "") -> None:
        """Take back a seat's last choice; `tab`: as for :meth:`tell`.

        Raises:
            PageError: there is nothing to take back.
        """
        session.check_uncovered(link)
        async with session.changing:
            position = await asyncio.to_thread(session.undo, link.seat)
            await self._become(session, position, tab)

    async def lift(self, session: Session, link: Link, tab: str = "") -> None:
        """Lift the curtain before a seat, and let it down before the others at the same screen;
        `tab`: as for :meth:`tell`.

        Raises:
            PageError: somebody else at that screen is to act.
        """
        session.lift(link)
        self.tell(link.game, without=tab)

    async def _become(self, session: Session, position: Position, tab: str = "") -> None:
        """Store a position, make it the current one, and tell the pages that show the game."""
        await self.change(session, position)
        self.tell(session.stored.id, without=tab)
        self.run(session)

    async def pace(
        self, session: Session, link: Link, paused: bool | None, seconds: float | None
    ) -> None:
        """Say when agents move.

        Args:
            session: the game.
            link: the way to it.
            paused: whether they wait; None: as before.
            seconds: how long their moves take; None: as before.

        Raises:
            PageError: the browser only watches, and hasn't made the game.
        """
        session.check_paced(link)
        if seconds is not None:
            await self.change(session, pause=seconds)
        if paused is not None:
            session.paused = paused
        session.granted = False
        self.tell(link.game)

    async def step(self, session: Session, link: Link, tab: str = "") -> None:
        """Let agents that wait make one move; every `tab` is told of it when it is made.

        Raises:
            PageError: as for :meth:`pace`.
        """
        session.check_paced(link)
        session.granted = True

    def run(self, session: Session) -> None:
        """Let agents play on, if one is to move and a person plays or watches."""
        key = session.stored.id
        if key not in self._runners and session.trouble is None and self._is_agents_turn(session):
            self._runners[key] = asyncio.create_task(self._play_agents(session))

    def _is_agents_turn(self, session: Session) -> bool:
        is_wanted = session.has_humans or session.stored.id in self._watchers
        return is_wanted and session.agent_to_move is not None

    async def _play_agents(self, session: Session) -> None:
        key = session.stored.id
        name = ""
        try:
            while self._is_agents_turn(session):
                name = str(session.agent_to_move)
                session.asked = time.monotonic()
                await self._play_agent(session, name)
        except PageError as error:
            session.trouble = str(error)
        except Exception:  # an agent's code can fail anyhow; the others' games go on
            _log.exception("agent %s failed", name)
            # No more than that: an error could tell what its seat may do, and so of its hand.
            session.trouble = f"{name} has failed; the server's log tells more"
        finally:
            self._runners.pop(key, None)
            session.asked = None
        if session.trouble:
            self.tell(key)

    async def _play_agent(self, session: Session, name: str) -> None:
        """Have an agent make a choice, if it is still to after it has thought; try until the choice
        can be stored.

        Raises:
            PageError: there is no such agent, it can't be had, or the game is gone.
        """
        began, position = time.monotonic(), session.position
        if session.lesson is not None:
            actions = session.lesson.answer
        else:
            entry = await self._agent(name)
            began = time.monotonic()
            actions = await self.workers.ask(partial(move, entry, position.game.copy()))
        await self._wait(session, began)
        pause = FIRST_RETRY
        while True:
            try:
                async with session.changing:
                    if session.position is position and session.agent_to_move == name:
                        await self.change(session, session.played(actions))
                session.trouble = None
                self.tell(session.stored.id)
                return
            except StorageError as error:
                _log.warning("a move can't be stored: %s", error.why)
                session.trouble = f"{error.why}: the game goes on {error.until}"
            self.tell(session.stored.id)
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_RETRY)

    async def _agent(self, name: str) -> CatalogueEntry:
        """An agent, when it can play.

        Raises:
            PageError: there is none, or it can't be had.
        """
        entry = await self.catalogue.look_up(name)
        await self.preparation.agent(name)
        return entry

    async def _wait(self, session: Session, began: float) -> None:
        """Wait before an agent's move: as long as a move takes, and until agents may go on."""
        while not session.granted:
            left = began + session.stored.pause - time.monotonic()
            if left <= 0 and not session.paused:
                break
            # It may be made shorter meanwhile.
            await asyncio.sleep(0.05 if session.paused else min(left, 0.2))
        session.granted = False

    async def hint(self, name: str, game: Game) -> Payload:
        """What an agent would do in a game, as a browser is told it; waits until the agent is
        ready. Cancelling this ends it.

        Args:
            name: the agent's.
            game: only for it.

        Raises:
            PageError: there is no such agent, it can't be had, or the game is over or a task.
            AgentError: its answer is none, or it fails.
        """
        check_whole(game)
        job = partial(advise, await self._agent(name), self.estimator(), game)
        return await self.workers.ask(job, Priority.HINT)

    def estimator(self) -> CatalogueEntry | None:
        """The agent that estimates chances to win; None: it isn't offered, or isn't ready yet."""
        about = self.catalogue.readiness.get(ESTIMATOR)
        return self.catalogue[ESTIMATOR] if about is not None and about.state == "ready" else None

    # ---- news ----

    @asynccontextmanager
    async def watching(self, link: Link, tab: str = "") -> AsyncIterator[Watcher]:
        """Be told of changes to a game, until the seat is given up; `tab`: as for :meth:`tell`.

        Raises:
            PageError: the seat isn't that browser's any more, or the game is gone.
        """
        watcher = Watcher(link, tab or new_token())
        self._watchers.setdefault(link.game, set()).add(watcher)
        try:
            # It may have been given up before there was anybody to dismiss.
            await self.link(link.token, str(link.browser))
            session = await self.session(link)
            if any(each.token == link.token and each.browser == ANYBODY for each in session.links):
                await self.storage.ask(self.storage.spectate, link.token, str(link.browser))
            self.tell(link.game, PEOPLE, without=watcher.tab)
            yield watcher
        finally:
            self._watchers[link.game].remove(watcher)
            if not self._watchers[link.game]:
                del self._watchers[link.game]
            await self._has_left(link)

    async def _has_left(self, link: Link) -> None:
        """One page less shows a seat: remember when, and tell the others."""
        now = time.time()
        if session := self._sessions.get(link.game):
            session.links = [
                replace(each, seen=now) if each.token == link.token else each
                for each in session.links
            ]
        self.tell(link.game, PEOPLE)
        # Not known after a restart, then: the game is gone, the disk full, or the server ends.
        with contextlib.suppress(PageError, RuntimeError):
            await self.storage.ask(self.storage.change_link, link.token, seen=now)

    def watchers(self, key: str) -> Collection[Watcher]:
        """The pages that are told of changes to a game now."""
        return self._watchers.get(key, ())

    def tell(self, key: str, what: str = CHANGED, without: str = "") -> None:
        """Wake the pages that watch a game.

        Args:
            key: the game's.
            what: has changed: CHANGED, anything; or PEOPLE, only who is there.
            without: a page's own name, which learns it from the answer to its request; "": none.
        """
        for watcher in self.watchers(key):
            if watcher.tab != without:
                watcher.news.put_nowait(what)


def check_whole(game: Game) -> None:
    """Refuse what judges positions by who wins the whole game.

    Raises:
        PageError: it is a bidding task.
    """
    if game.options.task is not None:
        raise PageError(f"that is for whole games, not for task {game.options.task}", 409)


def new_game(
    owner: str,
    seed: int,
    agents: tuple[str, ...],
    side: str = "front",
    **options: Any,
) -> StoredGame:
    """A game that begins now; the arguments as for :class:`~skyenv.page.stored.StoredGame`."""
    usual: dict[str, Any] = {
        "id": new_token(),
        "max_turns": DEFAULT_MAX_TURNS,
        "pause": DEFAULT_PAUSE,
    }
    return StoredGame(
        owner=owner,
        created=time.time(),
        players=len(agents),
        side=side,
        seed=seed,
        agents=agents,
        scores=(0,) * len(agents),
        **(usual | options),
    )


def _first_links(request: GameRequest, game: str, browser: str) -> list[Link]:
    """The ways to a new game: to its browser's seats, to free ones, and for spectators; or else its
    browser's to watching.
    """
    screen = new_token() if request.seats.count(ME) > 1 else None
    names = request.names or ("",) * request.players
    links = [
        Link(new_token(), game, seat, browser, names[seat], screen=screen)
        if kind == ME
        else Link(new_token(), game, seat, None)
        for seat, kind in enumerate(request.seats)
        if kind in (ME, HUMAN)
    ]
    return [*links, Link(new_token(), game, None, ANYBODY if links else browser)]


def _lesson_of(session: Session) -> tutorial.Lesson:
    if session.lesson is None:
        raise PageError("this is no lesson")
    return session.lesson


@dataclass(eq=False)
class Watcher:
    """A page that is told of changes to a game.

    Attributes:
        link: the way to it; a seat of None watches.
        tab: the page's own name.
        news: what has changed that this seat can see, as for :meth:`GameServer.tell`; None: the
            seat has been given up.
    """

    link: Link
    tab: str
    news: asyncio.Queue[str | None] = field(default_factory=asyncio.Queue)
