"""The people at a table: what they are called, who is there, who takes over a seat, and games made
from other games.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from skyenv.engine.game import Game
from skyenv.errors import shown
from skyenv.page.browsers import new_token
from skyenv.page.errors import PageError
from skyenv.page.game_server import PEOPLE, GameServer
from skyenv.page.names import checked_name
from skyenv.page.session import Session
from skyenv.page.storage import ANYBODY, HUMAN, Change, Link, StoredGame
from skyenv.rules.actions import BID, BID_DONE
from skyenv.seeds import fresh_seed

AWAY: Final = 30.0
"""Seconds that somebody must have been away before an agent may take over the seat."""


def last_decision(game: Game, seat: int) -> int | None:
    """How many actions had been played before a seat's last decision, the cards of a bid being one;
    None if it has made none.
    """
    played = [
        (event["seat"], event["action"]) for event in game.events if event["event"] == "action"
    ]
    step = next((step for step in reversed(range(len(played))) if played[step][0] == seat), None)
    while (
        step
        and played[step][1] > BID
        and played[step][1] <= BID_DONE
        and _is_card(played[step - 1], seat)
    ):
        step -= 1
    return step


def _is_card(played: tuple[int, int], seat: int) -> bool:
    """Whether that is a card that the seat has laid down."""
    return played[0] == seat and BID <= played[1] < BID_DONE


class People:
    """The people at the tables of a server.

    Args:
        server: all games.
    """

    def __init__(self, server: GameServer) -> None:
        self._server = server
        self._storage = server.storage

    # ---- names and presence ----

    async def rename(self, link: Link, name: object, in_record: object) -> None:
        """Change what who has a seat is called, and whether records may tell it.

        Raises:
            PageError: the name won't do, or there is no seat.
        """
        called = checked_name(name, self._server.catalogue.names)
        if link.seat is None:
            raise PageError("only who has a seat has a name", 409)
        await self._storage.write(self._storage.rename, link.token, called, in_record is True)
        await self._server.read_links(link.game)
        self._server.tell(link.game)

    def is_here(self, session: Session, seat: int) -> bool:
        """Whether a page shows that seat now, or another one at the same screen."""
        links = [link for link in session.links if link.seat == seat]
        seats = {seat, *(other for link in links for other in session.seats_at(link.screen))}
        return any(watcher.seat in seats for watcher in self._server.watchers(session.stored.id))

    def spectators(self, link: Link) -> int:
        """How many other browsers look on."""
        watchers = self._server.watchers(link.game)
        return len(
            {watcher.browser for watcher in watchers if watcher.seat is None} - {link.browser}
        )

    # ---- who sits where ----

    async def let_agent_play(self, link: Link, seat: int, name: str) -> None:
        """Have an agent take over a seat that nobody has, or whose person is away.

        Raises:
            PageError: it can't, or another browser has made the game.
        """
        session = await self._own(link, seat)
        await self._server.catalogue.look_up(name)
        async with session.changing:
            if not session.is_human(seat):
                raise PageError("an agent plays that seat already", 409)
            if not self.can_be_replaced(session, seat):
                raise PageError(
                    "that seat's person is there; an agent can take over when he is away or has "
                    "given it up",
                    409,
                )
            await self._change(session, seat, name)

    async def let_person_play(self, link: Link, seat: int) -> None:
        """Have a person play a seat that an agent plays: who has the seat, or else whoever gets its
        link.

        Raises:
            PageError: it can't be, or hidden cards may be known from another game, or another
                browser has made this one.
        """
        session = await self._own(link, seat)
        async with session.changing:
            if session.is_human(seat):
                raise PageError("a person plays that seat already", 409)
            if not session.has_humans:
                raise PageError(
                    "this is a game of agents, which shows all hands; begin one with people", 409
                )
            copied = (
                await self._storage.read(self._storage.game, link.game)
            ).copied  # maybe by another server
            if session.stored.agents[seat] != HUMAN and (copied or _may_be_known(session.stored)):
                raise PageError(
                    "hidden cards of this game may be known from another one; begin a new game "
                    "with people",
                    409,
                )
            has_link = any(each.seat == seat for each in session.links)
            await self._change(
                session, seat, HUMAN, None if has_link else Link(new_token(), link.game, seat, None)
            )

    def can_be_replaced(self, session: Session, seat: int) -> bool:
        """Whether an agent may take over from a person."""
        link = next((each for each in session.links if each.seat == seat), None)
        if link is None or link.browser is None:
            return True
        return (
            not self.is_here(session, seat)
            and time.time() - max(link.seen, session.stored.created) >= AWAY
        )

    async def _own(self, link: Link, seat: int) -> Session:
        """The game of a link, if its browser may say who sits there."""
        session = await self._server.session(link)
        if session.stored.owner != link.browser:
            raise PageError("only who made the game can say who plays a seat", 403)
        if not 0 <= seat < session.stored.players:
            raise PageError(f"there is no seat {shown(seat)}", 404)
        if session.game.is_over or session.lesson is not None:
            raise PageError(
                "the game is over" if session.game.is_over else "a lesson has its own players", 409
            )
        return session

    async def _change(
        self, session: Session, seat: int, who: str, link: Link | None = None
    ) -> None:
        """Store who sits down, then let him."""
        key = session.stored.id
        changes = (*session.stored.changes, Change(session.step, seat, who))
        with self._server.storing(session):
            await self._storage.write(self._storage.set_changes, key, session.step, changes, link)
        session.stored = replace(session.stored, changes=changes)
        session.stand()
        session.trouble = None
        await self._server.read_links(key)
        self._server.tell(key)
        self._server.run(session)

    # ---- looking on ----

    async def spectators_link(self, link: Link) -> Link:
        """The link by which anybody can look on; made when it is first asked for.

        Raises:
            PageError: another browser has made the game.
        """
        session = await self._inviting(link)
        async with session.changing:
            if found := _for_anybody(session.links):
                return found
            made = Link(new_token(), link.game, None, ANYBODY)
            await self._storage.write(self._storage.add_link, made)
            await self._server.read_links(link.game)
        self._server.tell(link.game, PEOPLE)
        return made

    async def withdraw(self, link: Link) -> None:
        """Let the link by which anybody can look on lead nowhere, and who looks on by it hear
        nothing more.

        Raises:
            PageError: there is none, or another browser has made the game.
        """
        session = await self._inviting(link)
        async with session.changing:
            if (found := _for_anybody(session.links)) is None:
                raise PageError("there is no link to look on", 409)
            await self._storage.write(self._storage.withdraw, found.token)
            await self._server.read_links(link.game)
        self._server.dismiss(found)
        self._server.tell(link.game, PEOPLE)

    async def _inviting(self, link: Link) -> Session:
        """The game of a link, if its browser may say who looks on."""
        session = await self._server.session(link)
        if session.stored.owner != link.browser:
            raise PageError("only who made the game can let others look on", 403)
        if session.lesson is not None:
            raise PageError("a lesson is for one", 409)
        return session

    # ---- games made from others ----

    async def rematch(self, link: Link) -> Link:
        """The game once more, with another deal: who sat second begins.

        Made when it is first asked for.

        Returns:
            The way to it for who asks.

        Raises:
            PageError: the game goes on, or who asks neither sits at it nor has made it, or has no
                place in the rematch.
        """
        session = await self._server.session(link)
        stored = session.stored
        if not session.game.is_over or session.lesson is not None:
            raise PageError("the game isn't over yet, or a lesson", 409)
        if link.seat is None and stored.owner != link.browser:
            raise PageError("only who played can ask for a rematch", 403)
        sitters = stored.sitters[1:] + stored.sitters[:1]
        options = stored.players, stored.side, stored.max_turns, fresh_seed(), sitters, stored.pause
        game = StoredGame(new_token(), stored.owner, time.time(), *options)
        links = [
            replace(
                each,
                token=new_token(),
                game=game.id,
                seat=_moved(each.seat, stored.players),
                seen=0.0,
            )
            for each in session.links
            if each.seat is None or stored.sitters[each.seat] == HUMAN
        ] or [Link(new_token(), game.id, None, stored.owner)]
        nobody = PageError("an agent plays your seat, or somebody else has it in the rematch", 403)
        if _own_way(links, link, stored.players) is None:
            raise nobody
        async with session.changing:
            made = await self._server.store(game, links, after=stored.id)
            session.stored = replace(session.stored, rematch=made[0].game)
        self._server.tell(stored.id, PEOPLE)
        if (
            way := _own_way(made, link, stored.players)
        ) is None:  # it was made before somebody else had the seat
            raise nobody
        return way

    async def rematch_for(self, link: Link, session: Session) -> Link | None:
        """The way to the rematch for who has a link; None if there is none."""
        if session.stored.rematch is None:
            return None
        return _own_way(
            await self._storage.read(self._storage.links, session.stored.rematch),
            link,
            session.stored.players,
        )

    def can_take_back(self, link: Link, session: Session) -> bool:
        """Whether a seat's person may play on from before the last decision: nobody else's game is
        changed by it.
        """
        if link.seat is None or not session.is_human(link.seat):
            return False
        if (
            session.stored.changes
            or session.stored.beginning is not None
            or session.lesson is not None
        ):
            return False
        return (
            session.stored.agents.count(HUMAN) == 1
            and last_decision(session.game, link.seat) is not None
        )

    async def take_back(self, link: Link, idempotency_key: str | None) -> Link:
        """A copy of the game before the last decision of its only person, who has made it then, to
        be played on from.

        Chance is the same there: the same actions lead to the same cards and the same answers of
        agents.

        Args:
            link: the seat's.
            idempotency_key: as of :class:`skyenv.page.game_requests.GameRequest`.

        Raises:
            PageError: there is nothing to take back, or other people play.
        """
        session = await self._server.session(link)
        if not self.can_take_back(link, session):
            raise PageError(
                "only who plays against agents alone can take back a decision, once there is one",
                409,
            )
        stored = session.stored
        step = last_decision(session.game, int(str(link.seat)))
        actions = [event["action"] for event in session.game.events if event["event"] == "action"][
            :step
        ]
        game = replace(
            stored,
            id=new_token(),
            owner=str(link.browser),
            created=time.time(),
            idempotency_key=idempotency_key,
            origin=stored.id,
            origin_step=step,
            chance=stored.chance or stored.id,
            taken_back=stored.taken_back + 1,
            rematch=None,
            copied=False,
        )
        copies = [
            replace(each, token=new_token(), game=game.id, seen=0.0)
            for each in session.links
            if each.seat == link.seat
        ]
        async with session.changing:  # nobody sits down meanwhile
            with self._server.storing(session):
                (made, *_) = await self._server.store(game, copies, actions)
            session.stored = replace(session.stored, copied=True)
        self._server.tell(stored.id, PEOPLE)
        return made

    # ---- one screen ----

    async def lift(self, link: Link) -> None:
        """Lift the curtain before a seat, and let it down before the others at the same screen.

        Raises:
            PageError: somebody else at that screen is to act.
        """
        session = await self._server.session(link)
        if session.seats_at(link.screen):
            session.lift(link)
            self._server.tell(link.game)

    # ---- what a page is told ----

    async def payload(self, link: Link, session: Session) -> dict[str, Any]:
        """Who is at the table, and what who has a link may do about it; nothing of it depends on
        cards.
        """
        rematch = await self.rematch_for(link, session)
        stored, is_owner = session.stored, session.stored.owner == link.browser
        watching = _for_anybody(session.links)
        return {
            "seats": [self._seat(session, seat, link, is_owner) for seat in range(stored.players)],
            "spectators": self.spectators(link),
            "owner": is_owner,
            "watch": f"/seat/{watching.token}" if watching and is_owner else None,
            "can_invite": is_owner and session.has_humans and session.lesson is None,
            "rematch": f"/seat/{rematch.token}" if rematch else None,
            "can_rematch": session.game.is_over
            and session.lesson is None
            and (link.seat is not None or is_owner),
            "can_take_back": self.can_take_back(link, session),
            "taken_back": stored.taken_back,
            "name": next((each.name for each in session.links if each.token == link.token), ""),
            "in_record": any(each.in_record for each in session.links if each.token == link.token),
        }

    def _seat(self, session: Session, seat: int, link: Link, is_owner: bool) -> dict[str, Any]:
        way = next((each for each in session.links if each.seat == seat), None)
        is_person, is_taken = session.is_human(seat), way is not None and way.browser is not None
        stored = session.stored
        may = (
            is_owner and session.has_humans and not session.game.is_over and session.lesson is None
        )
        return {
            "name": session.names(link.seat)[seat],
            "person": (way.name or session.names()[seat])
            if way is not None and is_taken and not is_person
            else None,
            "is_agent": not is_person,
            "is_free": is_person and not is_taken,
            "is_here": self.is_here(session, seat),
            "seen": way.seen if way is not None and is_taken and way.seen else None,
            "can_be_replaced": may
            and is_person
            and seat != link.seat
            and self.can_be_replaced(session, seat),
            "replaceable_at": None
            if way is None or not is_taken
            else max(way.seen, stored.created) + AWAY,
            "can_be_opened": may
            and not is_person
            and (stored.agents[seat] == HUMAN or not _may_be_known(stored)),
        }

    def curtain(self, link: Link, session: Session) -> dict[str, Any] | None:
        """What a page shows instead of a table when the curtain is down: who is to take the device;
        None if it isn't down.
        """
        if not session.is_covered(link):
            return None
        seats = session.seats_at(link.screen)
        seat = session.game.seat if session.game.seat in seats else link.seat
        way = next(each for each in session.links if each.seat == seat)
        return {"seat": seat, "name": session.names()[int(str(seat))], "page": f"/seat/{way.token}"}


def _may_be_known(stored: StoredGame) -> bool:
    """Whether somebody may know hidden cards from another game: it was copied, is a copy, or goes
    on from a lesson.
    """
    return stored.copied or (stored.origin is not None and stored.beginning is None)


def _for_anybody(links: Sequence[Link]) -> Link | None:
    return next((link for link in links if link.browser == ANYBODY), None)


def _moved(seat: int | None, players: int) -> int | None:
    """Where a seat is in the rematch."""
    return None if seat is None else (seat - 1) % players


def _own_way(links: Sequence[Link], link: Link, players: int) -> Link | None:
    """The way to a rematch for who has a link of the game before: the same seat, or else another
    place of that browser.
    """
    wanted = _moved(link.seat, players)
    same = (
        each for each in links if each.seat == wanted and each.browser in (link.browser, ANYBODY)
    )
    return next(same, None) or next((each for each in links if each.browser == link.browser), None)
