"""The commands ``python -m skyenv play`` and ``python -m skyenv export``."""

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
from skyenv.console.options import Options, argument, option
from skyenv.console.progress import progress
from skyenv.console.tables import counted
from skyenv.errors import OptionError, SkyenvError, needs_extra
from skyenv.files import writing
from skyenv.page.addresses import address_to_listen_on, names_of, public_name
from skyenv.page.agents.catalogue import catalogue
from skyenv.page.library.export import exported
from skyenv.page.library.games import Library, roots_of
from skyenv.page.library.replays import Replay
from skyenv.page.storage import Storage
from skyenv.page.view.payloads import THEMES
from skyenv.page.workers import Workers
from skyenv.records import nth_game
from skyenv.rules.variant import VARIANT
from skyenv.runtime import Interrupt
from skyenv.work import Processes

if TYPE_CHECKING:
    import uvicorn

# Seconds between checks whether the server is to end.
POLL_INTERVAL: Final = 0.1
DATABASE: Final = Path("~/.skyenv/games.sqlite3")
HOST: Final = "127.0.0.1"
PORT: Final = 8421
# Open files and connections of the process, as far as the system allows: the maximum of macOS.
FILES: Final = 10_240
# Python's thread switch interval in seconds: the default of 5 ms delays the event loop too much.
SWITCH: Final = 0.001


@dataclass(frozen=True)
class PlayOptions(Options):
    """Options of ``play``."""

    agents: tuple[str, ...] = option(
        (),
        f"extra agents to offer (registered ones are always offered): {agents_help()}",
        metavar="AGENT",
    )
    host: str = option(
        HOST, f"address to listen on (default: {HOST}, this machine only)", metavar="ADDRESS"
    )
    public_host: str | None = option(
        None,
        "public host name when behind an HTTPS reverse proxy, such as games.example.org",
        metavar="NAME",
    )
    port: int | None = option(
        None, f"port (default: {PORT}, or a free one if it is taken)", high=65535
    )
    database: Path = option(DATABASE, "database file of games", metavar="FILE")
    workers: int | None = option(
        None,
        "worker processes for agents, one of them reserved for turns (default: one per core, at "
        "least 2)",
        low=2,
        high=256,
    )
    games: tuple[Path, ...] = option(
        (),
        "folders and files of recorded games for the library, visible to every browser that can "
        "open the page",
        metavar="FOLDER",
    )
    no_browser: bool = option(False, "don't open a browser")


@dataclass(frozen=True)
class ExportOptions(Options):
    """Options of ``export``."""

    file: Path = argument("the record", metavar="FILE")
    output: Path = option(
        MISSING, "the HTML file to write (game.html)", short="-o", metavar="FILE", writes=True
    )
    game: int = option(1, "the game's number in the record", low=1, high=2**31 - 1)
    theme: str = option(
        "both", "colours of the page; both: the reader can switch", choices=(*THEMES, "both")
    )


# ---- play ----


def play(options: PlayOptions) -> None:
    """Serve the page on this machine and open it in a browser. Ctrl-C ends it; games are stored."""
    if VARIANT:
        raise OptionError(f"the page supports only the printed rules, not variant {VARIANT}")
    with needs_extra("page"):
        from skyenv.page import web
    names = names_of(options.host)
    public = None if options.public_host is None else public_name(options.public_host)
    chosen = catalogue(options.agents)
    roots = roots_of(options.games)
    storage = Storage(options.database.expanduser())
    listening = listen(options.host, options.port)
    app = web.application(
        storage,
        chosen,
        names,
        public,
        Workers(None if options.workers is None else Processes(options.workers)),
        library=Library(roots) if roots else None,
    )
    host, port, *_ = listening.getsockname()
    everywhere = host in ("0.0.0.0", "::")
    name = socket.gethostname() if everywhere else f"[{host}]" if ":" in host else host
    address = f"http://{name}:{port}/"
    os.environ.pop("NUMBA_DISABLE_JIT", None)  # workers compile
    print(f"Serving {address} (Ctrl-C ends it; games are stored in {options.database})", flush=True)
    _serve(app, listening, None if options.no_browser else address)


def listen(host: str, port: int | None) -> socket.socket:
    """Return a listening socket; `port` None: the default one, or a free one if that is taken.

    TCP_NODELAY is set: otherwise the end of an answer waits 40 ms for the browser's
    acknowledgement of its beginning.

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
            # Accepted sockets inherit it.
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return listening
    raise OptionError(
        f"can't listen on {host}, port {number}: {trouble.strerror or trouble}"
    ) from trouble


def server_of(app: Any, **options: Any) -> "uvicorn.Server":
    """Return the web server of an application, with as many connections as the system allows.

    uvicorn closes no silent connections, so there must be room beside them; a reverse proxy has
    time-outs for them.
    """
    import uvicorn

    with contextlib.suppress(ImportError, ValueError):  # not on Windows; above the limit
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
    # Frames that aren't UTF-8 are no news.
    logging.getLogger("uvicorn.error").addFilter(
        lambda record: not str(record.msg).startswith("Invalid UTF-8")
    )
    return uvicorn.Server(config)


def _serve(app: Any, listening: socket.socket, address: str | None) -> None:
    sys.setswitchinterval(SWITCH)
    server = server_of(app, log_level="warning", timeout_graceful_shutdown=2)
    if address is not None:  # the socket already listens, so the browser waits for the answer
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    async def run() -> None:
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.should_exit and not serving.done():
            await asyncio.sleep(POLL_INTERVAL)
            server.should_exit |= interrupt.asked  # by another signal than uvicorn's own
        if server.started:
            app.state.server.ending.set()  # requests that wait for an agent end
        await serving

    with contextlib.suppress(KeyboardInterrupt), Interrupt() as interrupt:  # the proper end of it
        asyncio.run(run())


# ---- export ----


def export(options: ExportOptions) -> None:
    """Write one game of a record as an HTML page that replays it offline in any browser."""
    with contextlib.suppress(OSError):  # for the missing file
        if os.path.samefile(options.file, options.output):
            raise OptionError(f"{options.output} is the record itself; choose another output file")
    with (
        writing(options.output) as stream,
        progress(unit="drawing") as bar,
    ):  # fail before the work if the file can't be written
        try:  # later games are not read
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
