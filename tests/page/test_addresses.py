"""Addresses, however they are written."""

from __future__ import annotations

import socket

import pytest

from skyenv.errors import OptionError
from skyenv.page.addresses import address_to_listen_on, is_called, is_loopback, names_of

LOOPBACK = (
    *("127.0.0.1", "127.1", "0x7f.1", "0x7f000001", "2130706433", "0177.0.0.1", "127.0.0.2"),
    *(" 127.0.0.1 ", "localhost", "LOCALHOST", "localhost."),
    *("::1", "[::1]", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1", "[::FFFF:7f00:1]", "::1%1"),
)
OTHERS = "0.0.0.0", "0", "0x0", "192.0.2.1", "::", "::ffff:192.0.2.1"
WRONG = (
    *("", " ", "[]", "\t", "a b", "1.2.3.4.5", "::g", "x" * 64 + ".example", "a\0b"),
    *("127.0.0.256", "..", "*"),
)


@pytest.mark.parametrize("host", [*LOOPBACK, *OTHERS])
def test_a_server_on_loopback_has_its_hosts_checked(host: str) -> None:
    """Nobody knows by which names other machines reach this one."""
    try:
        socket.create_server(("::1" if ":" in host else "", 0), family=socket.AF_INET6).close()
    except OSError:
        if ":" in host:
            pytest.skip("there is no IPv6 here")
    address, names = address_to_listen_on(host), names_of(host)
    assert is_loopback(address) == (names is not None) == (host in LOOPBACK)
    if names is not None:
        assert is_called("localhost:8421", names)
        assert is_called(f"[{address}]:1" if ":" in address else f"{address}:1", names)
        assert not is_called("evil.example", names)
        assert not is_called("[fe80::1]:8421", names)


@pytest.mark.parametrize("host", WRONG)
def test_what_is_no_address_is_refused(host: str) -> None:
    with pytest.raises(OptionError, match=r"host must be an address|can't listen on"):
        address_to_listen_on(host)


CALLED = (
    *("localhost", "localhost:80", "LocalHost", "localhost.:8421", "127.0.0.1", "[::1]"),
    *("127.0.0.7:1", "[::1]:1"),
)
NOT_CALLED = (
    *("", None, "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "[::1"),
    *("::1]", "localhost:port", "localhost:80:80", "a localhost", "localhost/", "user@localhost"),
    *("192.0.2.1", "*"),
)


@pytest.mark.parametrize("header", [*CALLED, *NOT_CALLED])
def test_a_host_is_known_by_its_names(header: str | None) -> None:
    assert is_called(header, ["localhost"]) == (header in CALLED)
