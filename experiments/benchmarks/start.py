"""Start-up cost: compilation and memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Final

from experiments.figures import Figure, Scale, figure

DECIDE: Final = (
    "from skyenv import Game, make_agent; from skyenv.agents import decide_game;"
    " decide_game(Game(seed=1), make_agent('{}'))"
)
# Programs by name; each may use code compiled by those above.
PARTS: Final = {
    "import": "import skyenv",
    "first step of an environment": (
        "from skyenv import Games; games = Games(1, seed=1); games.step(games.mask.argmax(axis=1))"
    ),
    **{
        f"first decision of {name}": DECIDE.format(name)
        for name in ("greedy", "rollout-16", "ismcts-16", "trained", "ismcts-trained-16")
    },
}
# ru_maxrss would include the memory of the parent process.
USAGE: Final = (
    "; import time; from pathlib import Path; status = Path('/proc/self/status').read_text();"
    " print(time.process_time(), status.partition('VmHWM:')[2].split()[0])"
)


def start(scale: Scale) -> Iterator[Figure]:
    """One process per row, import included. All share one cache of compiled code, which is empty
    before the first. "Cold" rows compile what the rows above have not compiled; "warm" rows follow
    all of them, medians of repeats. Memory is the peak of the process, as Linux tells it (VmHWM).
    """
    names = list(PARTS)[: scale.of(len(PARTS))]
    with tempfile.TemporaryDirectory() as cache:
        cold = {name: run(PARTS[name], cache) for name in names}
        for name, (spent, clock, _) in cold.items():
            yield figure(f"{name}, cold: processor", "s", [spent])
            yield figure(f"{name}, cold: clock", "s", [clock])
        total = sum(spent for spent, _, _ in cold.values())
        yield figure("all of these, cold: processor", "s", [total])
        for name in names:
            runs = [run(PARTS[name], cache) for _ in range(scale.repeats)]
            processor, clocks, memory = zip(*runs, strict=True)
            yield figure(f"{name}, warm: processor", "s", processor)
            yield figure(f"{name}, warm: clock", "s", clocks)
            yield figure(f"{name}, warm: memory", "MB", memory)


def run(program: str, cache: str) -> tuple[float, float, float]:
    """Return the processor time and the clock time in seconds, and the peak memory in MB."""
    environment = {**os.environ, "SKYENV_QUIET": "1", "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", program + USAGE]
    started = time.perf_counter()
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    clock = time.perf_counter() - started
    spent, memory = printed.stdout.split()[-2:]
    return float(spent), clock, int(memory) / 1024
