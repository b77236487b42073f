"""Addresses to listen on and names to be called by, however they are written."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Collection
from typing import Final

from skyenv.errors import OptionError, shown

LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "::1")
_CALLED: Final = re.compile(r"(?:\[([0-9a-fA-F:.]+(?:%[\w.-]+)?)\]|([^:\[\]\s]+))(?::[0-9]{1,5})?")
_PUBLIC: Final = re.compile(r"(?=.{1,253}(:|$))[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]{1,5})?")


def public_name(name: str) -> str:
    """The name of a reverse proxy with HTTPS as browsers write it: without the usual port.

    Raises:
        OptionError: it is no such name.
    """
    if not _PUBLIC.fullmatch(name.lower()):
        raise OptionError(
            f"public_host must be a server's name such as games.example.org, not {shown(name)}"
        )
    return name.lower().removesuffix(":443")


def address_to_listen_on(host: str) -> str:
    """The address that is meant, in its usual form: ``127.0.0.1`` for ``127.1``, ``0x7f.1`` or
    ``localhost.``.

    Raises:
        OptionError: there is no such address; nothing at all would mean all of this machine's.
    """
    name = host.strip().removeprefix("[").removesuffix("]").rstrip(".")
    if not name:
        raise OptionError(
            "host must be an address such as 127.0.0.1, or 0.0.0.0 for all of this machine's, not "
            f"{shown(host)}"
        )
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, ValueError) as error:
        what = error.strerror if isinstance(error, OSError) else "it is no name"
        raise OptionError(f"can't listen on {shown(host)}: {what}") from error
    # Browsers try both; others expect the old one.
    *_, place = min(found, key=lambda one: one[0] != socket.AF_INET)
    return str(ipaddress.ip_address(place[0]))


def is_loopback(address: str) -> bool:
    """Whether an address in its usual form leads from this machine to itself."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback


def names_of(host: str) -> list[str] | None:
    """The names by which browsers may call a server that listens there; None: any, as nobody knows
    how others reach this machine.

    Raises:
        OptionError: as for :func:`address_to_listen_on`.
    """
    address = address_to_listen_on(host)
    return (
        [*LOOPBACK_NAMES, address, host.strip().strip("[]").rstrip(".").lower()]
        if is_loopback(address)
        else None
    )


def is_called(header: str | None, names: Collection[str]) -> bool:
    """Whether a request's ``Host`` is one of the names, with any port, or a loopback address, which
    no other site has.
    """
    match = _CALLED.fullmatch(header or "")
    if match is None:
        return False
    name = (match[1] or match[2]).lower().rstrip(".")
    return name in names or is_loopback(name)
