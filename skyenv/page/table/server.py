"""All games of a server: permissions, agents' moves, notification of pages, and storage."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Collection, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from skyenv.analysis.hints import Advice
from skyenv.analysis.playouts import PlayOuts, digest
from skyenv.analysis.win_chance import ESTIMATOR
from skyenv.engine.game import Game
from skyenv.engine.options import DEFAULT_MAX_TURNS
from skyenv.page.agents.catalogue import Catalogue, CatalogueEntry
from skyenv.page.agents.jobs import Question, advise, move
from skyenv.page.agents.preparing import Preparation
from skyenv.page.agents.puzzles import EQUILIBRIUM, answer, puzzle, reply
from skyenv.page.browsers import new_token
from skyenv.page.cache import LRUCache
from skyenv.page.errors import PageError, StorageError
from skyenv.page.library.replays import StoredReplays
from skyenv.page.storage import ANY_BROWSER, HUMAN, Link, Storage, StoredGame
from skyenv.page.strengths import called
from skyenv.page.table.new_games import AGENT, ME, GameRequest
from skyenv.page.table.session import Position, Session
from skyenv.page.teaching import tutorial
from skyenv.page.view.payloads import Payload
from skyenv.page.workers import Background, Priority, Workers
from skyenv.seeds import fresh_seed

DEFAULT_PAUSE: Final = 0.8
MAX_GAMES: Final = 100_000  # games in the database
MOST_PLAYED: Final = 500  # games played out for a choice, by one request
ANSWERS: Final = 100  # agents' answers cached in memory
SESSIONS: Final = 200  # games cached in memory without a spectator or player connected
# Seconds until a failed store of a move is retried, at first and at most.
FIRST_RETRY, LONGEST_RETRY = 0.5, 30.0
# Kinds of news for pages: any change; presence only.
CHANGED: Final = "changed"
PEOPLE: Final = "people"
# The idempotency key of a browser's only lesson; keys from browsers are longer.
LESSON: Final = "lesson"
# How the idempotency keys of puzzles begin.
PUZZLE: Final = "puzzle-no-"
_log = logging.getLogger("skyenv.page")


class GameServer:
    """The games of a server. All methods must be called in the event loop's thread.

    Args:
        storage: the database.
        catalogue: the agents that can be chosen.
        workers: the processes that run agents and compile; None: threads of this process, without
            preparation.

    Attributes:
        preparation: the progress of compiling the agents.
        ending: set when the server is to end: requests stop waiting for agents.
        replays: the records stored for browsers.
        background: background jobs of browsers.
        play_outs: the results of all games played out, for estimates of chances to win.
        advice: agents' recent answers, by name, view and choices listed.
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
        self.play_outs = PlayOuts()
        self.advice: LRUCache[Hashable, Advice] = LRUCache(ANSWERS)
        self._runners: dict[str, asyncio.Task[None]] = {}
        self._watchers: dict[str, set[Watcher]] = {}
        self._sessions: LRUCache[str, Session] = LRUCache(
            SESSIONS, lambda key, _: key in self._watchers or key in self._runners
        )
        self._reading = asyncio.Lock()
        self.replays = StoredReplays(storage)

    async def close(self) -> None:
        """Stop all agents and close the database, which holds all games."""
        await self.background.close()
        await self.preparation.close()
        runners = list(self._runners.values())
        for runner in runners:
            runner.cancel()
        await asyncio.gather(*runners, return_exceptions=True)
        await self.workers.close()
        await asyncio.to_thread(self.storage.close)

    # ---- games ----

    async def make(self, request: GameRequest, browser: str, **begun: Any) -> Link:
        """Make a game, or find the one made before with the same idempotency key.

        `begun`: the start of a variation (:func:`skyenv.page.routes.analysis`).

        Returns:
            A link for the browser that made it: its first seat, or watching; if it has neither, the
            first free seat.

        Raises:
            PageError: there are too many games, one of the agents is unavailable, or other
                browsers have taken all seats.
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
        if way is None:  # a game of the same key, whose seats others have now
            raise PageError("all seats of this game are taken by others", 403)
        return way

    async def store(
        self, game: StoredGame, links: Sequence[Link], origin: Mapping[str, object] | None = None
    ) -> list[Link]:
        """Store a new game, as :meth:`Storage.add_game` does.

        Raises:
            PageError: there are too many games.
        """
        if game.actions or game.task:
            session = await asyncio.to_thread(Session, game)
            game = replace(game, **session.position.columns())
        return await self.storage.ask(self.storage.add_game, game, links, MAX_GAMES, origin)

    async def session(self, link: Link) -> Session:
        """Return the game of a link, from memory or from the database; its agents continue.

        Raises:
            PageError: there is no such game, or it is damaged.
        """
        key = link.game
        if key not in self._sessions:
            async with self._reading:  # loading takes a while; concurrent requests wait for it
                if key not in self._sessions:
                    links = await self.storage.ask(self.storage.links, key)
                    stored = await self.storage.ask(self.storage.game, key)
                    self._sessions[key] = await asyncio.to_thread(Session, stored, links)
        self.run(self._sessions[key])
        return self._sessions[key]

    async def read_links(self, key: str) -> None:
        """Reload the links of a game, after a change."""
        async with self._reading:
            links = await self.storage.ask(self.storage.links, key)
            if session := self._sessions.get(key):
                session.links = links

    async def delete(self, link: Link) -> None:
        """Delete a game, if the link's browser has made it.

        Raises:
            PageError: another browser has made it.
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
        """Return the link to the browser's lesson; made if there is none, restarted if over."""
        link = await self._deal(browser, tutorial.AGENTS, idempotency_key=LESSON)
        if link.browser is None:  # given up; no other browser knows its address
            await self.claim(link.token, browser)
        session = await self.session(link)
        if _lesson_of(session).is_over:
            await self.repeat(session, restart=True)
        return link

    async def puzzle(self, browser: str, number: int) -> Link:
        """Return the link to the browser's game of a puzzle; made if there is none.

        Raises:
            PageError: there are too many games.
        """
        deal = await asyncio.to_thread(puzzle, number)
        seats = tuple(ME if seat == deal.seat else AGENT + EQUILIBRIUM for seat in range(2))
        key, task = f"{PUZZLE}{number}", deal.options.task
        request = GameRequest(2, "front", deal.seed, seats, key, task=task)
        return await self.make(request, browser)

    async def answer(self, session: Session, link: Link) -> Payload:
        """Return the exact worth of a seat's choices in a puzzle (:func:`answer`).

        Raises:
            PageError: this is no puzzle, or the link is for spectators.
        """
        if puzzle_number(session.stored) is None or link.seat is None:
            raise PageError("only the player of a puzzle gets an answer", 409)
        job = partial(answer, session.game.copy(), link.seat)
        return await self.workers.ask(job, Priority.HINT)

    async def _deal(self, browser: str, agents: tuple[str, str], **options: Any) -> Link:
        """Store a game with the lesson's deal; return the link to the person's seat, the first."""
        game = new_game(browser, tutorial.SEED, agents, tutorial.SIDE, **options)
        (link,) = await self.store(game, [Link(new_token(), game.id, 0, browser)])
        return link

    async def repeat(self, session: Session, restart: bool = False) -> None:
        """Go back in a lesson to the start of its step, or of the step before if nothing has been
        done since; with `restart` to the beginning.

        Raises:
            PageError: this is no lesson.
        """
        async with session.changing:
            lesson = _lesson_of(session)
            await self._become(session, session.back_to(0 if restart else lesson.begin_of_last()))

    async def leave_lesson(self, session: Session, link: Link, agent: str) -> Link:
        """Continue from a lesson's position in a new game against an agent.

        Raises:
            PageError: this is no lesson, or there is no such agent.
        """
        _lesson_of(session)
        agents = HUMAN, self.catalogue[agent].name
        return await self._deal(str(link.browser), agents, actions=session.position.actions)

    # ---- permissions ----

    async def link(self, token: str, browser: str) -> Link:
        """Return the link with a token.

        Raises:
            PageError: there is none, or it belongs to another browser.
        """
        link = await self.storage.ask(self.storage.link, token)
        if link.browser == ANY_BROWSER:
            return replace(link, browser=browser)
        if link.browser is None:
            raise PageError("this seat is free", 403, free=True)
        if link.browser != browser:
            raise PageError("this seat is taken by another browser", 403)
        return link

    async def claim(self, token: str, browser: str, name: str = "") -> None:
        """Take a free seat, or change the name of the browser's own seat.

        Raises:
            PageError: there is no such seat, or another browser has it.
        """
        link = await self.storage.ask(self.storage.link, token)
        if not await self.storage.ask(self.storage.claim, token, browser, name):
            raise PageError("this seat is taken by another browser", 403)
        await self.read_links(link.game)
        self.tell(link.game)

    async def release(self, session: Session, link: Link, tab: str) -> None:
        """Give up a seat: the next browser that opens its link can take it. Pages that show it are
        disconnected, whatever their `tab`.

        Raises:
            PageError: the link is for spectators.
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
        **values: Any,
    ) -> None:
        """Store a change of a game, then apply it.

        Args:
            session: the game; ``session.changing`` is held if its position changes.
            position: the new position.
            values: other fields, as :class:`~skyenv.page.storage.StoredGame` names them.

        Raises:
            StorageError: the change can't be stored. Nothing has changed.
            PageError: the game is gone.
        """
        if position is not None:
            values |= position.columns()
        await self.storage.ask(self.storage.change_game, session.stored.id, **values)
        session.stored = replace(session.stored, **values)
        if position is not None:
            session.become(position)

    async def act(
        self, session: Session, link: Link, tab: str, actions: Sequence[int], step: int
    ) -> None:
        """Play a seat's choice; `tab`: as for :meth:`tell`.

        Raises:
            PageError, IllegalActionError: as for :meth:`Session.chosen`.
        """
        session.check_uncovered(link)
        async with session.changing:
            await self._become(session, session.chosen(link.seat, actions, step), tab)

    async def undo(self, session: Session, link: Link, tab: str) -> None:
        """Take back a seat's last choice; `tab`: as for :meth:`tell`.

        Raises:
            PageError: there is nothing to take back.
        """
        session.check_uncovered(link)
        async with session.changing:
            position = await asyncio.to_thread(session.undo, link.seat)
            await self._become(session, position, tab)

    def lift(self, session: Session, link: Link, tab: str) -> None:
        """Lift the curtain for a seat and lower it for the others at the same screen; `tab`: as
        for :meth:`tell`.

        Raises:
            PageError: another player at that screen is to act.
        """
        session.lift(link)
        self.tell(link.game, without=tab)

    async def _become(self, session: Session, position: Position, tab: str = "") -> None:
        """Store a position, make it the current one, and notify the pages that show the game."""
        await self.change(session, position)
        self.tell(session.stored.id, without=tab)
        self.run(session)

    async def pace(
        self, session: Session, link: Link, paused: bool | None, seconds: float | None
    ) -> None:
        """Set the agents' pace.

        Args:
            session: the game.
            link: the browser's link.
            paused: whether agents wait; None: as before.
            seconds: duration of their moves; None: as before.

        Raises:
            PageError: the browser is a spectator and hasn't made the game.
        """
        session.check_paced(link)
        if seconds is not None:
            await self.change(session, pause=seconds)
        if paused is not None:
            session.paused = paused
        session.granted = False
        self.tell(link.game)

    def step(self, session: Session, link: Link, tab: str) -> None:
        """Let paused agents make one move; every page is notified of it, whatever its `tab`.

        Raises:
            PageError: as for :meth:`pace`.
        """
        session.check_paced(link)
        session.granted = True

    def run(self, session: Session) -> None:
        """Start the agents, if one is to move and a person plays or watches."""
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
                await self._play_agent(session, name)
        except PageError as error:
            session.trouble = str(error)
        except Exception:  # an agent's code may raise anything; other games continue
            _log.exception("agent %s failed", name)
            # No details: an error could reveal legal actions, and so the hand.
            session.trouble = f"{called(name)} has failed; see the server's log"
        finally:
            self._runners.pop(key, None)
        if session.trouble:
            self.tell(key)

    async def _play_agent(self, session: Session, name: str) -> None:
        """Have an agent make a choice, if it is still its turn afterwards; retry until the choice
        is stored.

        Raises:
            PageError: there is no such agent, it is unavailable, or the game is gone.
        """
        began, position = time.monotonic(), session.position
        if session.lesson is not None:
            actions = session.lesson.answer
        else:
            play = reply if name == EQUILIBRIUM else partial(move, await self._agent(name))
            began = time.monotonic()
            actions = await self.workers.ask(partial(play, position.game.copy()))
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
                session.trouble = f"{error.why}: the game continues {error.until}"
            self.tell(session.stored.id)
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_RETRY)

    async def _agent(self, name: str) -> CatalogueEntry:
        """Return an agent once it can play.

        Raises:
            PageError: there is no such agent, or it is unavailable.
        """
        entry = self.catalogue[name]
        await self.preparation.agent(name)
        return entry

    async def _wait(self, session: Session, began: float) -> None:
        """Wait before an agent's move: for the pace, and while agents are paused."""
        while not session.granted:
            left = began + session.stored.pause - time.monotonic()
            if left <= 0 and not session.paused:
                break
            # The pace may change meanwhile.
            await asyncio.sleep(0.05 if session.paused else min(left, 0.2))
        session.granted = False

    async def hint(self, name: str, question: Question) -> Payload:
        """Return an agent's hint for a game, as a browser receives it; waits until the agent is
        ready. Cancelling this ends the job.

        Args:
            name: the agent's name.
            question: what is asked, with a copy of the game; at most MOST_PLAYED games.

        Raises:
            PageError: there is no such agent, it is unavailable, or the game is over or a task.
            AgentError: the agent fails or returns no valid answer.
        """
        game, games = question.game, question.games
        check_whole(game)
        if game.is_over:
            raise PageError("the game is over; there is nothing to decide", 409)
        if games > MOST_PLAYED:
            raise PageError(f"the number of games must be at most {MOST_PLAYED}, not {games}")
        entry, estimator = await self._agent(name), self.estimator()
        key = name, digest(game.batch.state[0], game.seat), question.listed
        advice = self.advice.get(key)
        job = partial(advise, entry, estimator, self.play_outs.copy(key[1]), question, advice)
        found, play_outs, self.advice[key], seconds = await self.workers.ask(job, Priority.HINT)
        self.play_outs.merge(play_outs)
        if advice is None:
            self.catalogue.seconds[name].append(seconds)
        return found

    def estimator(self) -> CatalogueEntry | None:
        """Return the agent that estimates chances to win; None if it isn't offered or not ready."""
        about = self.catalogue.readiness.get(ESTIMATOR)
        return self.catalogue[ESTIMATOR] if about is not None and about.state == "ready" else None

    # ---- notification ----

    @asynccontextmanager
    async def watching(self, link: Link, tab: str = "") -> "AsyncIterator[Watcher]":
        """Subscribe to changes of a game, until the seat is given up; `tab`: as for :meth:`tell`.

        Raises:
            PageError: the seat isn't that browser's any more, or the game is gone.
        """
        watcher = Watcher(link, tab or new_token())
        self._watchers.setdefault(link.game, set()).add(watcher)
        try:
            # The seat may have been given up before the subscription.
            await self.link(link.token, str(link.browser))
            session = await self.session(link)
            if any(
                each.token == link.token and each.browser == ANY_BROWSER for each in session.links
            ):
                await self.storage.ask(self.storage.spectate, link.token, str(link.browser))
            self.tell(link.game, PEOPLE, without=watcher.tab)
            yield watcher
        finally:
            self._watchers[link.game].remove(watcher)
            if not self._watchers[link.game]:
                del self._watchers[link.game]
            await self._has_left(link)

    async def _has_left(self, link: Link) -> None:
        """Store the time at which a page has left a seat, and notify the others."""
        now = time.time()
        if session := self._sessions.get(link.game):
            session.links = [
                replace(each, seen=now) if each.token == link.token else each
                for each in session.links
            ]
        self.tell(link.game, PEOPLE)
        # The time is lost then: the game is gone, the disk full, or the server ends.
        with contextlib.suppress(PageError, RuntimeError):
            await self.storage.ask(self.storage.change_link, link.token, seen=now)

    def watchers(self, key: str) -> "Collection[Watcher]":
        """Return the pages subscribed to a game."""
        return self._watchers.get(key, ())

    def tell(self, key: str, what: str = CHANGED, without: str = "") -> None:
        """Notify the pages that show a game.

        Args:
            key: the game's key.
            what: the kind of change: CHANGED, any; or PEOPLE, only presence.
            without: name of a page that learns of it from the answer to its request; "": none.
        """
        for watcher in self.watchers(key):
            if watcher.tab != without:
                watcher.news.put_nowait(what)


def check_whole(game: Game) -> None:
    """Refuse estimates of who wins in a game that is a bidding task.

    Raises:
        PageError: the game is a bidding task.
    """
    if game.options.task is not None:
        raise PageError(f"available only in whole games, not in task {game.options.task}", 409)


def new_game(
    owner: str,
    seed: int,
    agents: tuple[str, ...],
    side: str = "front",
    **options: Any,
) -> StoredGame:
    """Return a game created now; arguments as for :class:`~skyenv.page.storage.StoredGame`."""
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
    """Return the links of a new game: to its browser's seats, to free ones, and for spectators; or
    else its browser's for watching.
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
    return [*links, Link(new_token(), game, None, ANY_BROWSER if links else browser)]


def puzzle_number(stored: StoredGame) -> int | None:
    """Return the number of the puzzle that a game is; None: it is none."""
    # Keys are the client's; only the server sits the equilibrium at a table.
    key = stored.idempotency_key if EQUILIBRIUM in stored.agents else None
    return int(key.removeprefix(PUZZLE)) if key else None


def _lesson_of(session: Session) -> tutorial.Lesson:
    if session.lesson is None:
        raise PageError("this is not a lesson")
    return session.lesson


@dataclass(eq=False)
class Watcher:
    """A page subscribed to the changes of a game.

    Attributes:
        link: its link; a seat of None is a spectator's.
        tab: the page's own name.
        news: a queue of visible changes, as for :meth:`GameServer.tell`; None: the seat has been
            given up.
    """

    link: Link
    tab: str
    news: asyncio.Queue[str | None] = field(default_factory=asyncio.Queue)
