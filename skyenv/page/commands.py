"""The commands ``python -m skyenv play`` and ``python -m skyenv export``."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import sys
import threading
import webbrowser
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from skyenv.agents import agents_help
from skyenv.errors import OptionError, SkyenvError, install_hint
from skyenv.files import writing
from skyenv.options import Options, argument, option
from skyenv.page.addresses import address_to_listen_on, names_of, public_name
from skyenv.page.catalogue import catalogue
from skyenv.page.export import exported
from skyenv.page.library import Library
from skyenv.page.payloads import THEMES
from skyenv.page.replays import Replay
from skyenv.page.roots import roots_of
from skyenv.page.runs import Runs
from skyenv.page.storage import Storage
from skyenv.page.workers import Workers
from skyenv.progress import progress
from skyenv.records import nth_game
from skyenv.rules.variant import VARIANT
from skyenv.tables import counted
from skyenv.work import Processes

if TYPE_CHECKING:
    import uvicorn

PATIENCE: Final = 0.1
"""Seconds between looks whether the page is to end."""
DATABASE: Final = Path("~/.skyenv/games.sqlite3")
NETWORKS: Final = "networks"
"""… and copies of networks that were played against."""
HOST: Final = "127.0.0.1"
PORT: Final = 8421
FILES: Final = 10_240
"""Files and connections that the process may have open, as far as the system allows: macOS's most.
"""
SWITCH: Final = 0.001
"""Seconds after which a thread that draws lets the event loop go on; Python's own 5 ms are a long
time for it.
"""


@dataclass(frozen=True)
class PlayOptions(Options):
    """What ``play`` takes."""

    agents: tuple[str, ...] = option(
        (),
        f"extra agents to offer (registered ones are always offered): {agents_help()}",
        metavar="AGENT",
    )
    host: str = option(
        HOST, f"address to listen on (default: {HOST}, this machine alone)", metavar="ADDRESS"
    )
    public_host: str | None = option(
        None,
        "public host name when behind an HTTPS reverse proxy, such as games.example.org",
        metavar="NAME",
    )
    port: int | None = option(
        None, f"port (default: {PORT}, or a free one if it is taken)", high=65535, metavar="N"
    )
    database: Path = option(DATABASE, "where games are kept", metavar="FILE")
    workers: int | None = option(
        None,
        "worker processes that run agents, one of which is left to turns (default: one for each "
        "core, at least 2)",
        low=2,
        high=256,
        metavar="N",
    )
    games: tuple[Path, ...] = option(
        (),
        "folders and files of recorded games to look through, which every browser sees that may "
        "open the page",
        metavar="FOLDER",
    )
    runs: tuple[Path, ...] = option(
        (),
        "folders of trainings to look at, with their games and networks, for the same browsers",
        metavar="FOLDER",
    )
    no_browser: bool = option(False, "don't open a browser")


@dataclass(frozen=True)
class ExportOptions(Options):
    """What ``export`` takes."""

    file: Path = argument("the record", metavar="FILE")
    output: Path = option(
        MISSING, "the page to write, such as game.html", short="-o", metavar="FILE", writes=True
    )
    game: int = option(1, "which game", low=1, high=2**31 - 1, metavar="N")
    theme: str = option(
        "both", "colours of the page; both: as the reader likes", choices=(*THEMES, "both")
    )


# ---- play ----


def play(options: PlayOptions) -> None:
    """Serve the page on this machine and open it in a browser. Ctrl-C ends it; games are kept."""
    if VARIANT:
        raise OptionError(f"the page plays and explains the printed rules, not variant {VARIANT}")
    try:
        from skyenv.page import web
    except ImportError as error:
        raise OptionError(
            f"the page needs a package that isn't there ({error.name}); {install_hint('page')}"
        ) from error
    names = names_of(options.host)
    public = None if options.public_host is None else public_name(options.public_host)
    chosen = catalogue(options.agents)
    database = options.database.expanduser()
    roots, trainings = roots_of([*options.runs, *options.games]), roots_of(options.runs)
    storage = Storage(database)
    listening = listen(options.host, options.port)
    app = web.application(
        storage,
        chosen,
        names,
        public,
        Workers(None if options.workers is None else Processes(options.workers)),
        library=Library(roots) if roots else None,
        runs=Runs(trainings, database.parent / NETWORKS) if trainings else None,
    )
    host, port, *_ = listening.getsockname()
    everywhere = host in ("0.0.0.0", "::")
    name = socket.gethostname() if everywhere else f"[{host}]" if ":" in host else host
    address = f"http://{name}:{port}/"
    print(
        f"The page is {address} (Ctrl-C ends it; games are kept in {options.database})", flush=True
    )
    _serve(app, listening, None if options.no_browser else address)


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens; `port`: None: the usual one, or a free one if that is taken.

    Connections send what they have at once: the end of an answer would else wait 40 ms until the
    browser has acknowledged its beginning.

    Raises:
        OptionError: there is no such address, or the port is taken.
    """
    address, trouble = address_to_listen_on(host), OSError()
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for number in (PORT, 0) if port is None else (port,):
        try:
            listening = socket.create_server((address, number), family=family, backlog=256)
        except OSError as error:
            trouble = error
        else:
            # Those that it accepts have it from it.
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return listening
    raise OptionError(
        f"can't listen on {host}, port {number}: {trouble.strerror or trouble}"
    ) from trouble


def server_of(app: Any, **options: Any) -> uvicorn.Server:
    """Return the web server of an application, with as many connections as the system allows.

    uvicorn ends no connection that says nothing, so there must be room beside such; a reverse proxy
    has time-outs for them.
    """
    import uvicorn

    with contextlib.suppress(ImportError, ValueError):  # not on Windows; more isn't allowed
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    config = uvicorn.Config(
        app,
        http="h11",
        ws_max_size=1024,
        ws_per_message_deflate=False,  # a word needs none, and it takes memory for each
        access_log=False,
        server_header=False,
        **options,
    )
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    return uvicorn.Server(config)


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a line of the log tells of more than a client's frame that isn't UTF-8."""
    return not str(record.msg).startswith("Invalid UTF-8")


def _serve(app: Any, listening: socket.socket, address: str | None) -> None:
    sys.setswitchinterval(SWITCH)
    server = server_of(app, log_level="warning", timeout_graceful_shutdown=2)
    if address is not None:  # it already listens, so the browser waits until it answers
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    async def run() -> None:
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.should_exit and not serving.done():
            await asyncio.sleep(PATIENCE)
        if server.started:
            app.state.server.ending.set()  # who waits for an agent waits no longer
        await serving

    with contextlib.suppress(KeyboardInterrupt):  # the proper end of it
        asyncio.run(run())


# ---- export ----


def export(options: ExportOptions) -> None:
    """Write one game of a record as a page that replays it in any browser, without a server or a
    network.
    """
    with contextlib.suppress(OSError):  # whichever isn't there
        if os.path.samefile(options.file, options.output):
            raise OptionError(
                f"{options.output} is the record itself; write the page under another name"
            )
    with (
        writing(options.output) as stream,
        progress(unit="drawing") as bar,
    ):  # what can't be written is told before the work
        try:  # nothing behind that game is read
            replay = Replay(nth_game(options.file, options.game))
        except SkyenvError as error:
            raise OptionError(f"{options.file}: {error}") from error
        name = os.fsencode(os.path.basename(options.file)).decode("utf-8", "replace")
        themes = THEMES if options.theme == "both" else (options.theme,)
        title = f"{name}, game {options.game}"
        page = exported(
            replay, title, themes, lambda done, total: bar.update(done - bar.n)
        ).encode()
        stream.write(page)
    print(f"{options.output}: {counted(replay.steps, 'action')}, {len(page) / 1e6:.2f} MB")
