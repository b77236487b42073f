"""How soon the page answers and plays, first and later: ``python -m
experiments.benchmarks.first_minute``.

Method: the page is started as a user starts it, with compiled code in a folder of its own. A client
opens the lobby, begins a game against `greedy`, asks for its table until it is there, plays its
first choice and waits for the agent's. Beside it another one asks for the lobby's options all the
time; the longest time in which it hears nothing is the gap. The folder is empty for the first start
and filled by it for the second.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import httpx2

from experiments.benchmarks.figures import Figure, figure, report
from skyenv.page.commands import listen

METHOD: Final = "from the command on, by the clock; import, start of the process and HTTP included"
AGENT: Final = "greedy"
LOBBY: Final = "until the lobby answers"
TABLE: Final = "until the first table"
MOVE: Final = "until the agent's first move"
GAP: Final = "longest gap without an answer"
EMPTY: Final = "empty cache"
FILLED: Final = "filled cache"
NAP: Final = 0.02


class Listener:
    """Asks for something all the time in a thread, and knows the longest time in which nothing was
    answered.

    Args:
        address: what is asked for.
    """

    def __init__(self, address: str) -> None:
        self.gap = 0.0
        self._address = address
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._ask)
        self._thread.start()

    def stop(self) -> float:
        """Ask no more; the longest gap in seconds."""
        self._ended.set()
        self._thread.join()
        return self.gap

    def _ask(self) -> None:
        with httpx2.Client(timeout=600) as client:
            last = time.perf_counter()
            while not self._ended.is_set():
                client.get(self._address)
                now = time.perf_counter()
                self.gap, last = max(self.gap, now - last), now
                self._ended.wait(NAP)


def start(cache: Path | None) -> dict[str, float]:
    """Start the page, play a move, and end it: seconds by name; `cache`: None: where compiled code
    usually is.
    """
    with listen("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "skyenv",
            "play",
            "--no-browser",
            "--port",
            str(port),
            "--database",
            f"{folder}/games",
        ]
        environment = {
            **os.environ,
            "SKYENV_QUIET": "1",
            **({} if cache is None else {"NUMBA_CACHE_DIR": str(cache)}),
        }
        began = time.perf_counter()
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
        try:
            return _played(f"http://127.0.0.1:{port}", lambda: time.perf_counter() - began, server)
        finally:
            server.terminate()
            with suppress(subprocess.TimeoutExpired):
                server.wait(60)
            server.kill()


def _played(
    address: str, clock: Callable[[], float], server: subprocess.Popen[bytes]
) -> dict[str, float]:
    """Play the first move; seconds by name."""
    taken: dict[str, float] = {}
    with httpx2.Client(base_url=address, timeout=600) as client:

        def ask(method: str, path: str, value: object = None) -> Any:
            """Ask until there is an answer other than that something isn't ready."""
            while True:
                with suppress(httpx2.TransportError):
                    answer = client.request(method, path, json=value)
                    if answer.status_code != 503:
                        return answer.raise_for_status()
                if server.poll() is not None:
                    raise RuntimeError("the page has ended")
                time.sleep(NAP)

        ask("GET", "/")
        taken[LOBBY] = clock()
        listener = Listener(f"{address}/api/options")
        try:
            made = ask(
                "POST",
                "/api/games",
                {"players": 2, "side": "front", "seed": "1", "seats": ["me", f"agent:{AGENT}"]},
            ).json()
            seat = made["page"].replace("/seat/", "/api/seats/")
            state = ask("GET", seat).json()
            taken[TABLE] = clock()
            ask("POST", f"{seat}/pause", {"seconds": 0})
            mine = 0
            while state["yours"]:
                action = state["legal"][0]["action"]
                ask("POST", f"{seat}/act", {"action": action, "step": state["step"]})
                mine, state = mine + 1, ask("GET", seat).json()
            while state["step"] <= mine:
                time.sleep(NAP)
                state = ask("GET", seat).json()
            taken[MOVE] = clock()
        finally:
            taken[GAP] = listener.stop()
    return taken


def all_figures(quick: bool) -> list[Figure]:
    """What a first start takes and what later ones do; `quick`: one of each."""
    taken: dict[str, list[float]] = {}
    for _ in range(1 if quick else 3):
        with tempfile.TemporaryDirectory() as cache:
            for kind in (EMPTY, FILLED):
                for name, seconds in start(Path(cache)).items():
                    taken.setdefault(f"{name}, {kind}", []).append(seconds)
    return [figure(name, "s", seconds) for name, seconds in taken.items()]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return report(
        "first_minute",
        "Measure how soon the page answers and plays.",
        METHOD,
        all_figures,
        arguments,
    )


if __name__ == "__main__":
    sys.exit(main())
