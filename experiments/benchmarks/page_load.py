"""How the page's server bears many games at once: ``python -m experiments.benchmarks.page_load
--games 50 --seconds 60``.

A server is started on its own, and as many clients as games do what a browser does: hear of
changes, ask for the table each time, and play a legal action after a while of thinking, against an
agent.
"""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx2
import numpy as np
import websockets

from skyenv.commands import exit_code
from skyenv.options import Options, option, parse
from skyenv.page.commands import listen

Latencies = dict[str, list[float]]
COOKIE_HEADER: Final = "Cookie"


@dataclass(frozen=True)
class LoadOptions(Options):
    """What the program takes."""

    games: int = option(50, "games at once", low=1, high=1000, metavar="N")
    seconds: int = option(60, "how long", low=1, high=3600, metavar="S")
    think: int = option(2, "mean seconds before an action", low=1, high=1000, metavar="S")


def memory(process: int) -> float:
    """MB of memory that a process has in use."""
    for line in Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise OSError(f"process {process} tells no VmRSS")


class Client:
    """Plays one game as a browser would.

    Args:
        address: of the server.
        think: mean seconds before an action.
        latencies: what takes how long, in seconds, by its name; added to.
        seed: of what it plays, and how long it thinks.
    """

    def __init__(self, address: str, think: float, latencies: Latencies, seed: int) -> None:
        self._http = httpx2.AsyncClient(base_url=address, timeout=60)
        self._address = address
        self._think = think
        self._latencies = latencies
        self._random = random.Random(seed)
        self.actions = 0

    async def play(self) -> None:
        """Begin a game, and play on until cancelled; then another one."""
        await self._timed("page", "GET", "/")
        while True:
            wanted = {"players": 2, "side": "front", "seats": ["me", "agent:greedy"]}
            made = await self._timed("new game", "POST", "/api/games", wanted)
            await self._play_one("/api/seats/" + made["page"].rpartition("/")[2])

    async def close(self) -> None:
        """End its connections."""
        await self._http.aclose()

    async def _play_one(self, seat: str) -> None:
        cookies = "; ".join(f"{name}={value}" for name, value in self._http.cookies.items())
        changes = f"{self._address.replace('http', 'ws')}{seat}/changes"
        async with websockets.connect(
            changes, additional_headers={COOKIE_HEADER: cookies}
        ) as socket:
            state = await self._timed("first table", "GET", seat)
            digests = {name: digest for name, (digest, _) in state["drawing"].items()}
            lines = len(state["log"]["lines"])
            while not state["over"]:
                if state["yours"]:
                    await asyncio.sleep(self._random.expovariate(1 / self._think))
                    action = self._random.choice(state["legal"])["action"]
                    await self._timed(
                        "action", "POST", f"{seat}/act", {"action": action, "step": state["step"]}
                    )
                    self.actions += 1
                await socket.recv()
                state = await self._timed(
                    "table", "GET", f"{seat}?lines={lines}&drawn={''.join(digests.values())}"
                )
                digests |= {name: digest for name, (digest, _) in state["drawing"].items()}
                lines = state["log"]["from"] + len(state["log"]["lines"])

    async def _timed(self, name: str, method: str, path: str, value: object = None) -> Any:
        began = time.perf_counter()
        answer = await self._http.request(method, path, json=value)
        self._latencies[name].append(time.perf_counter() - began)
        answer.raise_for_status()
        return answer.json() if path != "/" else None


async def load(address: str, games: int, seconds: float, think: float) -> tuple[Latencies, int]:
    """Let so many clients play for so long; latencies, and the actions that people played."""
    latencies: Latencies = defaultdict(list)
    clients = [Client(address, think, latencies, seed) for seed in range(games)]
    playing = [asyncio.create_task(client.play()) for client in clients]
    try:
        done, _ = await asyncio.wait(playing, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()
    finally:
        for task in playing:
            task.cancel()
        await asyncio.gather(*playing, return_exceptions=True)
        for client in clients:
            await client.close()
    return latencies, sum(client.actions for client in clients)


def measure(games: int, seconds: int, think: float) -> list[str]:
    """The figures, a line each."""
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
        began = time.perf_counter()
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            address = f"http://127.0.0.1:{port}"
            lines = [f"from the command to the first table: {_first_table(address, began):.2f} s"]
            _wait_until_ready(
                address
            )  # workers get all agents ready at first, which the games' figures leave out
            lines.append(f"memory with one game: {memory(server.pid):.0f} MB")
            latencies, actions = asyncio.run(load(address, games, seconds, think))
            lines.append(f"memory with {games} games: {memory(server.pid):.0f} MB")
        finally:
            server.terminate()
            with suppress(subprocess.TimeoutExpired):
                server.wait(20)
            server.kill()
    lines.append(
        f"{games} games, {seconds} s: {actions} actions of people, {actions / seconds:.1f} a second"
    )
    for name, values in latencies.items():
        p50, p99 = 1000 * np.percentile(values, [50, 99])
        lines.append(f"{name}: p50 {p50:.0f} ms, p99 {p99:.0f} ms ({len(values)} requests)")
    return lines


def _first_table(address: str, began: float) -> float:
    """Seconds from the start of the server until a browser could have drawn the first table."""
    with httpx2.Client(base_url=address, timeout=120) as client:
        while True:
            with suppress(httpx2.TransportError):
                client.get("/")
                break
            time.sleep(0.02)
        made = client.post(
            "/api/games", json={"players": 2, "side": "front", "seats": ["me", "agent:greedy"]}
        ).json()
        while (
            client.get(made["page"].replace("/seat/", "/api/seats/")).status_code == 503
        ):  # what it needs is being compiled
            time.sleep(0.02)
    return time.perf_counter() - began


def _wait_until_ready(address: str) -> None:
    with httpx2.Client(base_url=address, timeout=120) as client:
        while not client.get("/api/preparing").json()["ready"]:
            time.sleep(0.1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; the exit code."""
    command, description = (
        "experiments.benchmarks.page_load",
        "Measure the page's server with many games being played at once.",
    )

    def run() -> int:
        options = parse(LoadOptions, command, description, arguments)
        for line in measure(options.games, options.seconds, options.think):
            print(line, flush=True)
        return 0

    return exit_code("page_load", run)


if __name__ == "__main__":
    sys.exit(main())
