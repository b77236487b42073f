"""The commands ``python -m skyenv play`` and ``python -m skyenv export``."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ipaddress
import os
import re
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from skyenv.errors import OptionError, PageError, RecordError, SkyenvError, shown
from skyenv.files import replacing
from skyenv.game import Game
from skyenv.page.export import exported
from skyenv.page.offers import Offers, offers
from skyenv.page.replays import Replay
from skyenv.page.seen import THEMES
from skyenv.page.storage import Storage

DATABASE: Final = Path("~/.skyenv/games.sqlite3")
HOST: Final = "127.0.0.1"
PORT: Final = 8421
LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
CONNECTIONS: Final = 800
"""Connections at the same time, WebSockets included: fewer than the 1024 files that a process usually may have open."""
_PUBLIC: Final = re.compile(r"(?=.{1,253}(:|$))[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]{1,5})?")


def add_play(parser: argparse.ArgumentParser, integer: Callable[[int, int], Callable[[str], int]]) -> None:
    """The options of ``play``; `integer` makes parsers of whole numbers in a range."""
    parser.description = "Start the page on this machine and open it in a browser. Ctrl-C ends it; games are kept."
    add = parser.add_argument
    add(
        "--agents",
        default="",
        metavar="NAMES",
        help="agents to be offered besides the built-in ones, with commas between: names, checkpoints, module:Name",
    )
    add("--host", default=HOST, metavar="ADDRESS", help=f"address to listen on (default: {HOST}, this machine alone)")
    add(
        "--public-host",
        type=_public_host,
        metavar="NAME",
        help="name of a server with HTTPS that passes requests on to this one, such as games.example.org",
    )
    add("--port", type=integer(0, 65535), metavar="N", help=f"port (default: {PORT}, or a free one if it is taken)")
    add("--database", default=str(DATABASE), metavar="FILE", help=f"where games are kept (default: {DATABASE})")
    add("--no-browser", action="store_true", help="don't open a browser")
    parser.set_defaults(run=_play)


def add_export(parser: argparse.ArgumentParser, integer: Callable[[int, int], Callable[[str], int]]) -> None:
    """The options of ``export``."""
    parser.description = "Write one game of a record as a page that replays it in any browser, without a server or a network."
    add = parser.add_argument
    add("file", metavar="FILE", help="the record")
    add("--game", type=integer(1, 2**31 - 1), default=1, metavar="N", help="which game (default: 1, the first)")
    add("--theme", choices=(*THEMES, "both"), default=THEMES[0], help=f"colours of the table (default: {THEMES[0]})")
    add("-o", "--output", metavar="FILE", required=True, help="the page to write, such as game.html")
    parser.set_defaults(run=_export)


# ---- play ----


def _play(options: argparse.Namespace) -> None:
    try:
        from skyenv.page import web
    except ImportError as error:
        raise OptionError(f"the page needs a package that isn't there ({error.name}): pip install 'skyenv[page]'") from error
    chosen = offers(name.strip() for name in options.agents.split(",") if name.strip())
    storage = Storage(Path(options.database).expanduser())
    listening = listen(options.host, options.port)
    app = web.application(storage, chosen, _hosts(options.host), options.public_host)
    address = address_of(options.host, listening)
    threading.Thread(target=_warm_up, args=(chosen,), daemon=True).start()
    print(f"The page is {address} (Ctrl-C ends it; games are kept in {options.database})", flush=True)
    _serve(app, listening, None if options.no_browser else address)


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens; `port`: None: the usual one, or a free one if that is taken.

    Raises:
        OptionError: there is no such address, or the port is taken.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        try:
            return socket.create_server((host, PORT if port is None else port), family=family, backlog=256)
        except OSError:
            if port is not None:
                raise
            return socket.create_server((host, 0), family=family, backlog=256)
    except OSError as error:
        raise OptionError(f"can't listen on {host}, port {PORT if port is None else port}: {error.strerror or error}") from error


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _public_host(text: str) -> str:
    """A parser of names that a server may have, with a port or without."""
    if not _PUBLIC.fullmatch(text.lower()):
        raise argparse.ArgumentTypeError(f"must be a server's name such as games.example.org, not {shown(text)}")
    return text.lower().removesuffix(":443")  # browsers leave it out


def _hosts(host: str) -> list[str] | None:
    """The names by which browsers may call the server; None: any, as nobody knows how others reach this machine."""
    return [*LOOPBACK_NAMES, host] if _is_loopback(host) else None


def address_of(host: str, listening: socket.socket) -> str:
    """Where browsers find the page."""
    name = f"[{host}]" if ":" in host else {"0.0.0.0": socket.gethostname()}.get(host, host)
    return f"http://{name}:{listening.getsockname()[1]}/"


def _warm_up(chosen: Offers) -> None:
    """Compile what the first game needs while the page is opened."""
    try:
        game = Game(2, seed=1)
        for name in chosen.names[:1]:
            chosen[name].move(game)
    except SkyenvError:
        pass  # whoever plays against it is told


def _serve(app: Any, listening: socket.socket, address: str | None) -> None:
    import uvicorn

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
        ws_max_size=1024,
        limit_concurrency=CONNECTIONS,
        ws="websockets-sansio",
    )
    server = uvicorn.Server(config)

    async def run() -> None:
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.02)
        if address is not None:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        await serving

    with contextlib.suppress(KeyboardInterrupt):  # the proper end of it
        asyncio.run(run())


# ---- export ----


def _export(options: argparse.Namespace) -> None:
    try:
        content = Path(options.file).read_bytes()
        replay = Replay.of(content, options.game)
    except RecordError as error:
        raise RecordError(f"{options.file}: {error}", error.line) from error
    except PageError as error:
        raise OptionError(f"{options.file}: {error}") from error
    title = f"{os.path.basename(options.file)}, game {options.game}"
    themes = THEMES if options.theme == "both" else (options.theme,)
    page = exported(replay, title, themes, _show_progress if sys.stderr.isatty() else None)
    with replacing(options.output) as part:
        part.write_text(page, encoding="utf-8")
    print(f"{options.output}: {replay.steps} actions, {len(page.encode()) / 1e6:.2f} MB")


def _show_progress(done: int, total: int) -> None:
    if done % 50 == 0 or done == total:
        print(f"\r{done} / {total} drawings" + ("\n" if done == total else ""), end="", file=sys.stderr, flush=True)
