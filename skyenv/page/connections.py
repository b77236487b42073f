"""The web server's connections: so many at a time, and none for longer than it takes to send a
request.

A connection on which nothing is under way makes room for a new one, the oldest first. So somebody
who opens many and says nothing, or says it slowly, keeps nobody else from the page.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any, Final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from skyenv.page.addresses import LOOPBACK_NAMES, is_loopback

CONNECTIONS: Final = 800
"""Connections at the same time, WebSockets included: fewer than the 1024 files that a process
usually may have open.
"""
OF_ONE_ADDRESS: Final = 200
"""Of them those from one address.

This machine has no such limit: others' requests can come through it.
"""
PATIENCE: Final = 10.0
"""Seconds that a request may take to come in …"""
RATE: Final = 32_768
"""… and bytes of it that give it a second more; a record of 8 MiB has four minutes."""
UNREAD: Final = 60.0
"""Seconds after which a browser that doesn't read its answer is given up."""
CHECKS: Final = 1.0
"""Seconds between looking for such."""
HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",  # addresses of seats are secret
    "x-content-type-options": "nosniff",
}
"""What every answer says, even one that no application has given."""


class _Place:
    """What is known of a connection.

    Attributes:
        address: the client's.
        since: when its request has begun, or itself, in the event loop's time.
        received: bytes of that request.
        is_idle: whether no request of it has come in whole that isn't answered.
        stuck: since when what was sent isn't read; None: it is.
    """

    def __init__(self, transport: asyncio.Transport, address: str, now: float) -> None:
        self.transport = transport
        self.address = address
        self.since = now
        self.received = 0
        self.is_idle = True
        self.is_socket = False
        self.stuck: float | None = None

    def is_late(self, now: float) -> bool:
        """Whether its request has taken too long to come in, or its answer to be read."""
        if self.stuck is not None and now > self.stuck + UNREAD:
            return True
        return self.is_idle and now > self.since + PATIENCE + self.received / RATE


class Crowd:
    """The connections of a server.

    Args:
        through_proxy: whether this machine's own connections come from a server before this one,
            which tells whose they are.
        most: connections at the same time.
        of_one_address: the same from one address of another machine.
    """

    def __init__(
        self,
        through_proxy: bool = False,
        most: int = CONNECTIONS,
        of_one_address: int = OF_ONE_ADDRESS,
    ) -> None:
        self.through_proxy = through_proxy
        self._most = most
        self._of_one_address = of_one_address
        self._places: dict[asyncio.BaseTransport, _Place] = {}  # in the order in which they came
        self._addresses: Counter[str] = Counter()
        self._checking: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._places)

    def join(self, transport: asyncio.Transport, address: str) -> _Place | None:
        """A place for a new connection; None: there is none."""
        loop = asyncio.get_running_loop()
        place = _Place(transport, address, loop.time())
        if not self._make_room(address):
            return None
        self._places[transport] = place
        self._addresses[address] += 1
        if self._checking is None:
            self._checking = loop.call_later(CHECKS, self._check, loop)
        return place

    def leave(self, transport: asyncio.BaseTransport) -> None:
        """Forget a connection."""
        if place := self._places.pop(transport, None):
            self._count(place.address, -1)

    def move(self, place: _Place, address: str) -> None:
        """A connection is another client's than it seemed."""
        if place.address == address or place.transport not in self._places:
            return
        self._count(place.address, -1)
        place.address = address
        self._count(address, 1)
        if self._is_full(address, 0):
            self._end(self._oldest(address) or place)

    def _count(self, address: str, number: int) -> None:
        self._addresses[address] += number
        if not self._addresses[address]:
            del self._addresses[address]

    def _is_full(self, address: str, further: int) -> bool:
        return (
            not is_loopback(address) and self._addresses[address] + further > self._of_one_address
        )

    def _make_room(self, address: str) -> bool:
        """End another connection, if that is what it takes."""
        if self._is_full(address, 1):
            place = self._oldest(address)
        elif len(self._places) >= self._most:
            place = self._oldest(None) or self._oldest_socket(self._addresses.most_common(1)[0][0])
        else:
            return True
        if place is not None:
            self._end(place)
        return place is not None

    def _oldest(self, address: str | None) -> _Place | None:
        """The oldest one on which nothing is under way; `address`: of that one alone."""
        idle = [
            place
            for place in self._places.values()
            if place.is_idle and address in (None, place.address)
        ]
        return min(idle, key=lambda place: place.since, default=None)

    def _oldest_socket(self, address: str) -> _Place | None:
        """The oldest WebSocket of an address: its page connects again, others' have room
        meanwhile.
        """
        return next(
            (
                place
                for place in self._places.values()
                if place.is_socket and place.address == address
            ),
            None,
        )

    def _end(self, place: _Place) -> None:
        self.leave(place.transport)
        place.transport.abort()

    def _check(self, loop: asyncio.AbstractEventLoop) -> None:
        for place in [place for place in self._places.values() if place.is_late(loop.time())]:
            self._end(place)
        self._checking = loop.call_later(CHECKS, self._check, loop) if self._places else None


class _Http(H11Protocol):
    """uvicorn's protocol, with a place in a crowd."""

    crowd: Crowd

    _place: _Place | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See asyncio."""
        super().connection_made(transport)
        self._place = self.crowd.join(transport, self.client[0] if self.client else "")
        if self._place is None:
            self._refuse(503, "the server has too many connections; try again")

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        place = self._place
        if place is None or self.transport.is_closing():
            return
        place.received += len(data)
        cycle = self.cycle
        super().data_received(data)
        if self.cycle is not cycle and self.crowd.through_proxy and is_loopback(place.address):
            self.crowd.move(place, self._told_address() or place.address)
        self._note()

    def on_response_complete(self) -> None:
        """See uvicorn."""
        if self._place is not None:
            self._place.since, self._place.received = self.loop.time(), 0
        super().on_response_complete()
        self._note()

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio."""
        self.crowd.leave(self.transport)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """See asyncio."""
        if self._place is not None:
            self._place.stuck = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """See asyncio."""
        if self._place is not None:
            self._place.stuck = None
        super().resume_writing()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """See uvicorn."""
        if self._place is not None:
            self._place.is_idle, self._place.is_socket = False, True
            if self.crowd.through_proxy and is_loopback(self._place.address):
                self.crowd.move(self._place, self._told_address() or self._place.address)
        super().handle_websocket_upgrade(event)

    def send_400_response(self, msg: str) -> None:
        """See uvicorn."""
        self._refuse(400, "this is no request, or its headers are too long")

    def _note(self) -> None:
        """Whether a request is under way that has come in whole."""
        if self._place is not None and not self._place.is_socket:
            self._place.is_idle = (
                self.cycle is None or self.cycle.response_complete or self.cycle.more_body
            )

    def _told_address(self) -> str:
        """The client's address, as the server before this one tells it."""
        told = [value for name, value in self.headers or [] if name == b"x-forwarded-for"]
        return told[-1].rpartition(b",")[2].strip().decode("latin-1")[:64] if told else ""

    def _refuse(self, status: int, message: str) -> None:
        """Answer without asking the application, and close."""
        body = json.dumps({"error": message}).encode()
        about = {"content-type": "application/json", "content-length": str(len(body))}
        headers = about | {"cache-control": "no-store", "connection": "close"} | HEADERS
        lines = [f"HTTP/1.1 {status} {'Bad Request' if status == 400 else 'Service Unavailable'}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.transport.write("\r\n".join([*lines, "", ""]).encode() + body)
        self.transport.close()


class _Socket(WebSocketsSansIOProtocol):
    """uvicorn's protocol of WebSockets, which has the place of the connection that it was."""

    crowd: Crowd

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio."""
        self.crowd.leave(self.transport)
        super().connection_lost(exc)


def server_of(app: Any, crowd: Crowd | None = None, **options: Any) -> uvicorn.Server:
    """A server of an application with all limits.

    Args:
        app: the application.
        crowd: its connections; None: an ordinary crowd.
        options: further ones of ``uvicorn.Config``.
    """
    members = {"crowd": Crowd() if crowd is None else crowd}
    config = uvicorn.Config(
        app,
        http=type("Http", (_Http,), members),
        ws=type("Socket", (_Socket,), members),
        ws_max_size=1024,
        ws_per_message_deflate=False,  # a word needs none, and it takes memory for each
        access_log=False,
        server_header=False,
        forwarded_allow_ips=list(
            LOOPBACK_NAMES
        ),  # whose requests come through it; not whom the environment names
        **options,
    )
    return uvicorn.Server(config)
