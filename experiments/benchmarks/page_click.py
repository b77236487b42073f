"""From a click on the table to what it changes, and what is sent for it: ``python -m
experiments.benchmarks.page_click``.

Method: the page is served as a user serves it, and Chromium plays a game against ``random`` by
clicking what the drawing and the buttons offer. The time runs from the click until the browser has
painted the first change of the drawing behind it; a click that does nothing in the game (it is
asked about first, is the first of two, or lays a card down for a bid) isn't counted. The bytes are
those of all answers of the interface, headers and packing included, that the page asked for within
half a second, and before the agent moves.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

import numpy as np

from experiments.benchmarks.figures import Figure, figure, report
from experiments.tools.chromium import browser
from skyenv.errors import OptionError
from skyenv.page.commands import listen
from skyenv.progress import progress

METHOD: Final = "Chromium against random, one game; from the click until the changed drawing is painted; bytes as sent, headers included"
PAUSE: Final = 1.0
"""Seconds before the agent moves, longer than the bytes of a click are counted."""
LIMIT: Final = 600.0
"""Seconds after which the clicks so far are enough.

The script clicks for half a minute at a time: a driver waits for two.
"""
_CLICKS: Final = """
    const [wanted, done] = arguments, clicks = [], sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    performance.setResourceTimingBufferSize(100000);
    const painted = () => new Promise((resolve) => requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => resolve(performance.now());
      channel.port2.postMessage(null);
    }));
    const asked = (began) => performance.getEntriesByType("resource")
      .filter((one) => one.startTime >= began && one.name.includes("/api/"));
    const acted = (began) => asked(began).some((one) => one.name.endsWith("/act"));
    const changed = (began) => new Promise((resolve) => {
      const look = new MutationObserver(() => { look.disconnect(); resolve(painted()); });
      look.observe(document.getElementById("board"), { childList: true, subtree: true });
      setTimeout(() => { if (!acted(began)) { look.disconnect(); resolve(null); } }, 500);
      setTimeout(() => { look.disconnect(); resolve(null); }, 10000);
    });
    const visible = (all) => [...document.querySelectorAll(all)].filter((one) => one.getClientRects().length && !one.disabled);
    window.tries ??= 0;  // a click that is the first of two isn't repeated, which would only take it back
    const target = () => visible("#asked-yes")[0] ?? visible("#news button")[0] ?? (() => {
      const all = [...visible("#board [role=button][data-action]"), ...visible("#choices button")];
      return all[Math.floor(all.length * ((window.tries * 0.618) % 1))];
    })();
    const press = (one) => one.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
    (async () => {
      const end = performance.now() + 30000;
      while (clicks.length < wanted && performance.now() < end && document.getElementById("finished").hidden) {
        const one = document.body.classList.contains("yours") ? target() : null;
        if (!one) { await sleep(50); continue; }
        const began = performance.now(), waits = changed(began);
        window.tries += 1;
        press(one);
        const until = await waits;
        if (until === null) continue;
        await sleep(Math.max(0, 500 - (performance.now() - began)));
        const sent = asked(began).reduce((sum, entry) => sum + entry.transferSize, 0);
        if (acted(began)) clicks.push([until - began, sent]);
      }
      done([clicks, !document.getElementById("finished").hidden]);
    })();
"""


def clicks(number: int) -> list[tuple[float, int]]:
    """So many clicks of a game, or all there are: milliseconds until each is painted, and bytes
    that were sent for it.
    """
    with listen("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder, browser() as page:
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
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            return _clicks(page, f"http://127.0.0.1:{port}/", number)
        finally:
            server.terminate()
            with suppress(subprocess.TimeoutExpired):
                server.wait(20)
            server.kill()


def _clicks(page: Any, address: str, number: int) -> list[tuple[float, int]]:
    def is_served() -> bool:
        with suppress(Exception):  # the server begins to listen some time
            page.open(address)
        return page.find(".home") is not None

    page.wait_until(is_served, "the server")
    wanted = {"players": 2, "side": "front", "seed": "1", "seats": ["me", "agent:random"]}
    made = page.driver.execute_async_script(
        """
        const [wanted, pause, done] = arguments, send = (path, value) => fetch(path, {
          method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(value)});
        send("/api/games", wanted).then((answer) => answer.json()).then(({page}) =>
          send(page.replace("/seat/", "/api/seats/") + "/pause", {seconds: pause}).then(() => done(page)));
        """,
        wanted,
        PAUSE,
    )
    page.open(address.rstrip("/") + made)
    page.wait("#board svg")
    page.driver.set_script_timeout(60)
    counted: list[tuple[float, int]] = []
    finished, end = False, time.monotonic() + LIMIT
    with progress(number, "click") as bar:
        while len(counted) < number and not finished and time.monotonic() < end:
            more, finished = page.driver.execute_async_script(_CLICKS, number - len(counted))
            counted += [(float(spent), int(sent)) for spent, sent in more]
            bar.update(len(more))
    return counted


def all_figures(quick: bool) -> list[Figure]:
    """Measure everything; `quick` clicks less."""
    measured = clicks(5 if quick else 100)
    if not measured:
        raise OptionError(f"no click was painted within {LIMIT:.0f} s")
    spent, sent = np.array(measured, dtype=float).T
    figures = []
    for name, values, unit in (
        ("click to paint", spent, "ms"),
        ("sent for a click", sent, "bytes"),
    ):
        figures += [
            figure(f"{name}, p{share}", unit, [float(np.percentile(values, share))])
            for share in (50, 95)
        ]
        figures.append(figure(f"{name}, most of {len(measured)}", unit, [float(values.max())]))
    return figures


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return report(
        "page_click",
        "Measure how soon a click is seen, and what is sent for it.",
        METHOD,
        all_figures,
        arguments,
    )


if __name__ == "__main__":
    sys.exit(main())
