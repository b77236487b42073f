"""The people at a table: presence, spectators and rematches."""

from collections.abc import Sequence
from dataclasses import replace

from skyenv.page.browsers import new_token
from skyenv.page.errors import PageError
from skyenv.page.storage import ANY_BROWSER, Link
from skyenv.page.table.server import PEOPLE, GameServer, new_game, puzzle_number
from skyenv.page.table.session import Session
from skyenv.page.view.payloads import Payload
from skyenv.seeds import fresh_seed

# ---- rematches ----


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
    agents = stored.agents[1:] + stored.agents[:1]
    same = {"id": key, "pause": stored.pause, "max_turns": stored.max_turns, "task": stored.task}
    game = new_game(stored.owner, fresh_seed(), agents, stored.side, **same)
    await server.store(game, links, {"id": stored.id, "rematch": key})
    session.stored = replace(stored, rematch=key)
    server.tell(stored.id, PEOPLE)


# ---- payloads ----


async def payload(server: GameServer, session: Session, link: Link) -> Payload:
    """Return the people at the table, and what a link's browser may ask for; independent of
    cards.
    """
    stored, is_owner = session.stored, session.stored.owner == link.browser
    links = await server.storage.ask(server.storage.links, stored.rematch or "")
    rematch = _own_way(links, link, stored.players)
    watching = next((each for each in session.links if each.browser == ANY_BROWSER), None)
    ways = [watcher.link for watcher in server.watchers(link.game)]
    others = {way.browser for way in ways if way.seat is None} - {link.browser}
    is_single = session.lesson is not None or puzzle_number(stored) is not None
    return {
        "seats": [_seat(server, session, seat, link) for seat in range(stored.players)],
        "spectators": len(others),
        "owner": is_owner,
        "watch": f"/seat/{watching.token}" if watching and is_owner else None,
        "rematch": f"/seat/{rematch.token}" if rematch else None,
        "can_rematch": session.game.is_over
        and not is_single
        and (link.seat is not None or is_owner),
        "taken_back": stored.taken_back,
    }


def _seat(server: GameServer, session: Session, seat: int, link: Link) -> Payload:
    way = next((each for each in session.links if each.seat == seat), None)
    is_person = session.is_human(seat)
    # The seats that the same screen shows.
    seats = [seat, *session.seats_at(way.screen if way else None)]
    return {
        "name": session.names(link.seat)[seat],
        "agent": None if is_person else session.stored.agents[seat],
        "is_free": is_person and not (way and way.browser),
        "is_here": any(one.link.seat in seats for one in server.watchers(session.stored.id)),
        "seen": (way and way.browser and way.seen) or None,
    }


def curtain(session: Session, link: Link) -> Payload | None:
    """Return the player who is to take the device while the curtain is down; None if it isn't."""
    if not session.is_covered(link):
        return None
    seats = session.seats_at(link.screen)
    seat = session.game.seat if session.game.seat in seats else link.seat
    way = next(each for each in session.links if each.seat == seat)
    return {"seat": seat, "name": session.names()[int(str(seat))], "page": f"/seat/{way.token}"}


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
