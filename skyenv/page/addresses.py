"""Addresses that a server listens on, and host names that requests may use."""

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
    """Return the host name of an HTTPS reverse proxy without the default port.

    Raises:
        OptionError: `name` is no host name.
    """
    if not _PUBLIC.fullmatch(name.lower()):
        raise OptionError(
            f"public_host must be a server's name such as games.example.org, not {shown(name)}"
        )
    return name.lower().removesuffix(":443")


def address_to_listen_on(host: str) -> str:
    """Return an address in its canonical form: ``127.0.0.1`` for ``127.1``, ``0x7f.1`` or
    ``localhost.``.

    Raises:
        OptionError: there is no such address, or it is empty, which would mean all interfaces.
    """
    name = host.strip().removeprefix("[").removesuffix("]").rstrip(".")
    if not name:
        raise OptionError(
            "host must be an address such as 127.0.0.1, or 0.0.0.0 for all interfaces, not "
            f"{shown(host)}"
        )
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, ValueError) as error:
        what = error.strerror if isinstance(error, OSError) else "not a host name"
        raise OptionError(f"can't listen on {shown(host)}: {what}") from error
    # Browsers try both; other clients expect IPv4.
    *_, place = min(found, key=lambda one: one[0] != socket.AF_INET)
    return str(ipaddress.ip_address(place[0]))


def is_loopback(address: str) -> bool:
    """Return whether an address in its canonical form is a loopback address."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback


def names_of(host: str) -> list[str] | None:
    """Return the host names allowed for a server that listens on `host`; None: any, as the names
    by which other machines reach this one are unknown.

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
    """Return whether a request's ``Host`` is one of the names, with any port, or a loopback
    address, which no other site has.
    """
    match = _CALLED.fullmatch(header or "")
    if match is None:
        return False
    name = (match[1] or match[2]).lower().rstrip(".")
    return name in names or is_loopback(name)
