"""Addresses, however they are written."""

from __future__ import annotations

import socket

import pytest

from skyenv.errors import OptionError
from skyenv.page.addresses import address_to_listen_on, is_called, is_loopback, names_of

LOOPBACK = [
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "0x7f000001",
    "2130706433",
    "0177.0.0.1",
    "127.0.0.2",
    " 127.0.0.1 ",
    "localhost",
    "LOCALHOST",
    "localhost.",
]
LOOPBACK_6 = [
    "::1",
    "[::1]",
    "0:0:0:0:0:0:0:1",
    "0000::0001",
    "::ffff:127.0.0.1",
    "[::FFFF:7f00:1]",
    "::1%1",
]


def needs_ipv6() -> None:
    """Skip where this machine has no such address."""
    try:
        socket.getaddrinfo("::1", None)
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("there is no IPv6 here")


@pytest.mark.parametrize("host", LOOPBACK)
def test_every_way_to_write_loopback_has_its_hosts_checked(host: str) -> None:
    address = address_to_listen_on(host)
    assert is_loopback(address)
    assert address.startswith("127.0.0.")
    names = names_of(host)
    assert names is not None
    assert is_called("localhost:8421", names)
    assert is_called(f"{address}:1", names)
    assert not is_called("evil.example", names)


@pytest.mark.parametrize("host", LOOPBACK_6)
def test_so_has_every_way_of_ipv6(host: str) -> None:
    needs_ipv6()
    names = names_of(host)
    assert names is not None
    assert is_called("[::1]:8421", names)
    assert not is_called("[fe80::1]:8421", names)


@pytest.mark.parametrize(
    "host",
    [
        "",
        " ",
        "[]",
        "\t",
        "a b",
        "1.2.3.4.5",
        "::g",
        "x" * 64 + ".example",
        "a\0b",
        "127.0.0.256",
        "..",
        "*",
    ],
)
def test_what_is_no_address_is_refused(host: str) -> None:
    with pytest.raises(OptionError, match=r"host must be an address|can't listen on"):
        address_to_listen_on(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "0", "0x0", "::", "192.0.2.1", "::ffff:192.0.2.1"])
def test_others_may_be_called_anything(host: str) -> None:
    """Nobody knows by which names other machines reach this one."""
    if ":" in host:
        needs_ipv6()
    assert names_of(host) is None
    assert not is_loopback(address_to_listen_on(host))


CALLED = [
    "localhost",
    "localhost:80",
    "LocalHost",
    "localhost.:8421",
    "127.0.0.1",
    "[::1]",
    "127.0.0.7:1",
    "[::1]:1",
]
NOT_CALLED = [
    "",
    None,
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "[::1",
    "::1]",
    "localhost:port",
    "localhost:80:80",
    "a localhost",
    "localhost/",
    "user@localhost",
    "192.0.2.1",
    "*",
]


@pytest.mark.parametrize("header", CALLED)
def test_a_host_is_known_by_its_names(header: str) -> None:
    assert is_called(header, ["localhost"])


@pytest.mark.parametrize("header", NOT_CALLED)
def test_no_other_name_will_do(header: str | None) -> None:
    assert not is_called(header, ["localhost"])
