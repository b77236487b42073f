"""The people at a table: presence, changes of player, spectators, rematches and takebacks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from skyenv.engine.game import Game
from skyenv.errors import shown
from skyenv.page.browsers import new_token
from skyenv.page.errors import PageError
from skyenv.page.game_server import PEOPLE, GameServer, new_game
from skyenv.page.payloads import Payload
from skyenv.page.session import Session
from skyenv.page.storage import ANY_BROWSER, HUMAN, Change, Link, StoredGame
from skyenv.rules.actions import BID, BID_DONE
from skyenv.seeds import fresh_seed

AWAY: Final = 30.0  # seconds of absence before an agent may take over


def last_decision(game: Game, seat: int | None) -> int | None:
    """Return the number of actions before a seat's last decision; None if it has made none. The
    cards of a bid and its end are one decision.
    """
    began, is_laying = None, False
    actions = [event for event in game.events if event["event"] == "action"]
    for step, event in enumerate(actions):
        if event["seat"] == seat and not is_laying:
            began = step
        is_laying = BID <= event["action"] < BID_DONE
    return began


# ---- presence ----


def _is_here(server: GameServer, session: Session, seat: int) -> bool:
    """Return whether a page shows that seat now, or another one at the same screen."""
    way = _link_of(session, seat)
    seats = [seat, *session.seats_at(way.screen if way else None)]
    return any(one.link.seat in seats for one in server.watchers(session.stored.id))


def _is_away(server: GameServer, session: Session, seat: int) -> bool:
    """Return whether a seat is free, or its person has been away for long."""
    link = _link_of(session, seat)
    if link is None or link.browser is None:
        return True
    since = max(link.seen, session.stored.created)
    return not _is_here(server, session, seat) and time.time() - since >= AWAY


# ---- changes of player ----


async def change_player(
    server: GameServer, session: Session, link: Link, seat: int, agent: str | None
) -> None:
    """Give a seat to an agent or a person.

    An agent may take a seat that is free, that another agent plays, or whose person is away. A
    person gets an agent's seat: its former player, or else the next browser to take it.

    Args:
        link: the link of the requesting browser.
        seat: the seat.
        agent: the agent's name; None: a person.

    Raises:
        PageError: the change isn't possible, hidden cards may be known from another game, or
            another browser has made this one.
    """
    if session.stored.owner != link.browser:
        raise PageError("only the browser that made the game can do that", 403)
    if session.lesson is not None:
        raise PageError("a lesson is for one person and the teacher", 409)
    if not 0 <= seat < session.stored.players:
        raise PageError(f"there is no seat {shown(seat)}", 404)
    if session.game.is_over:
        raise PageError("the game is over", 409)
    if agent is not None:
        server.catalogue[agent]
    async with session.changing:
        if session.is_human(seat) and (agent is None or not _is_away(server, session, seat)):
            raise PageError("the seat's player is here, or has been away for less than 30 s")
        if agent is None and (not session.has_humans or _is_secret_known(session.stored, seat)):
            raise PageError(
                "hidden cards may be known from games of agents, or from others with the same "
                "cards; start a new game with people",
                409,
            )
        key = link.game
        is_new = agent is None and _link_of(session, seat) is None
        free = Link(new_token(), key, seat, None) if is_new else None
        changes = (*session.stored.changes, Change(session.step, seat, agent or HUMAN))
        stands = replace(session.position, choices=())  # ends the possibility of taking back
        await server.change(session, stands, free, changes=changes)
        session.trouble = None
        await server.read_links(key)
    server.tell(key)
    server.run(session)


# ---- rematches and takebacks ----


async def rematch(server: GameServer, session: Session, link: Link) -> Link:
    """Return the rematch of a game: another deal, begun by the seat that was second.

    It is made on the first request.

    Returns:
        The requesting player's link to it.

    Raises:
        PageError: the game isn't over, the browser neither plays nor owns it, or it has no place
            in the rematch.
    """
    stored = session.stored
    if not session.game.is_over or session.lesson is not None:
        raise PageError("a rematch needs a finished game; lessons have none", 409)
    if link.seat is None and stored.owner != link.browser:
        raise PageError("only players can ask for a rematch", 403)
    async with session.changing:
        links = await server.storage.ask(server.storage.links, stored.rematch or "")
        if not links:
            links = _rematch_links(session, new_token())
            if _own_way(links, link, stored.players) is not None:
                await _add_rematch(server, session, links)
    if way := _own_way(links, link, stored.players):
        return way
    raise PageError("an agent or another browser has your seat in the rematch", 403)


async def _add_rematch(server: GameServer, session: Session, links: Sequence[Link]) -> None:
    stored, key = session.stored, links[0].game
    sitters = stored.sitters[1:] + stored.sitters[:1]
    same = {"id": key, "pause": stored.pause, "max_turns": stored.max_turns, "task": stored.task}
    game = new_game(stored.owner, fresh_seed(), sitters, stored.side, **same)
    await server.store(game, links, {"id": stored.id, "rematch": key})
    session.stored = replace(stored, rematch=key)
    server.tell(stored.id, PEOPLE)


def _can_take_back(session: Session, link: Link) -> bool:
    """Return whether the only person of a game has made a decision, so that taking it back
    affects no other person.
    """
    stored = session.stored
    is_alone = session.is_human(link.seat) and stored.agents.count(HUMAN) == 1
    is_plain = not stored.changes and stored.beginning is None and session.lesson is None
    has_decided = last_decision(session.game, link.seat) is not None
    return is_alone and is_plain and has_decided


async def take_back(
    server: GameServer, session: Session, link: Link, idempotency_key: str | None
) -> Link:
    """Continue in a copy of the game before the last decision of its only person, who owns the
    copy.

    Chance is the same there: the same actions lead to the same cards and the same answers of
    agents.

    Args:
        link: the seat's link.
        idempotency_key: as in :class:`skyenv.page.game_requests.GameRequest`.

    Raises:
        PageError: there is nothing to take back, or other people play.
    """
    session.check_uncovered(link)
    async with session.changing:  # no seat can be taken meanwhile
        if not _can_take_back(session, link):
            raise PageError(
                "only your own decision in a game against agents can be taken back",
                409,
            )
        stored, step = session.stored, last_decision(session.game, link.seat)
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
            actions=session.position.actions[:step],
        )
        copies = [
            replace(each, token=new_token(), game=game.id, seen=0.0)
            for each in (link, *session.links)
            if each is link or each.browser == ANY_BROWSER
        ]
        made = await server.store(game, copies, {"id": stored.id, "copied": True})
        session.stored = replace(session.stored, copied=True)
    server.tell(stored.id, PEOPLE)
    return next(each for each in made if each.seat == link.seat)


# ---- payloads ----


async def payload(server: GameServer, session: Session, link: Link) -> Payload:
    """Return the people at the table, and the changes that a link's browser may make; independent
    of cards.
    """
    stored, is_owner = session.stored, session.stored.owner == link.browser
    links = await server.storage.ask(server.storage.links, stored.rematch or "")
    rematch = _own_way(links, link, stored.players)
    watching = next((each for each in session.links if each.browser == ANY_BROWSER), None)
    ways = [watcher.link for watcher in server.watchers(link.game)]
    others = {way.browser for way in ways if way.seat is None} - {link.browser}
    is_over = session.game.is_over and session.lesson is None
    return {
        "seats": [_seat(server, session, seat, link, is_owner) for seat in range(stored.players)],
        "spectators": len(others),
        "owner": is_owner,
        "watch": f"/seat/{watching.token}" if watching and is_owner else None,
        "rematch": f"/seat/{rematch.token}" if rematch else None,
        "can_rematch": is_over and (link.seat is not None or is_owner),
        "can_take_back": _can_take_back(session, link),
        "taken_back": stored.taken_back,
    }


def _seat(server: GameServer, session: Session, seat: int, link: Link, is_owner: bool) -> Payload:
    way, stored = _link_of(session, seat), session.stored
    is_person, taken = session.is_human(seat), way if way and way.browser else None
    is_going = not session.game.is_over and session.lesson is None
    is_open = is_owner and session.has_humans and is_going
    may_leave = is_person and seat != link.seat and _is_away(server, session, seat)
    return {
        "name": session.names(link.seat)[seat],
        "person": (taken.name or f"Player {seat + 1}") if taken and not is_person else None,
        "is_agent": not is_person,
        "is_free": is_person and not taken,
        "is_here": _is_here(server, session, seat),
        "seen": (taken and taken.seen) or None,
        "replaceable_at": taken and max(taken.seen, stored.created) + AWAY,
        "can_be_agents": is_open and (not is_person or may_leave),
        "can_be_persons": is_open and not is_person and not _is_secret_known(stored, seat),
    }


def curtain(session: Session, link: Link) -> Payload | None:
    """Return the player who is to take the device while the curtain is down; None if it isn't."""
    if not session.is_covered(link):
        return None
    seats = session.seats_at(link.screen)
    seat = session.game.seat if session.game.seat in seats else link.seat
    way = next(each for each in session.links if each.seat == seat)
    return {"seat": seat, "name": session.names()[int(str(seat))], "page": f"/seat/{way.token}"}


def _is_secret_known(stored: StoredGame, seat: int) -> bool:
    """Return whether hidden cards of an agent's seat may be known from another game: this one was
    copied, is a copy, or continues a lesson.
    """
    return stored.agents[seat] != HUMAN and (stored.copied or stored.origin is not None)


def _link_of(session: Session, seat: int) -> Link | None:
    return next((link for link in session.links if link.seat == seat), None)


def _moved(seat: int | None, players: int) -> int | None:
    """Return a seat's number in the rematch."""
    return None if seat is None else (seat - 1) % players


def _rematch_links(session: Session, key: str) -> list[Link]:
    """Return the links of a rematch: for people and for spectators."""
    players, owner = session.stored.players, session.stored.owner
    links = [
        replace(link, token=new_token(), game=key, seat=_moved(link.seat, players), seen=0.0)
        for link in session.links
        if link.seat is None or session.is_human(link.seat)
    ]
    return links or [Link(new_token(), key, None, owner)]


def _own_way(links: Sequence[Link], link: Link, players: int) -> Link | None:
    """Return the link to a rematch for the browser of an earlier link: the same seat, or else
    another link of that browser.
    """
    seat = _moved(link.seat, players)
    same = (
        each for each in links if each.seat == seat and each.browser in (link.browser, ANY_BROWSER)
    )
    return next(same, None) or next((each for each in links if each.browser == link.browser), None)
