"""The first start after an installation, as it is: real processes, an empty compile cache, a
browser. It takes minutes.
"""

from __future__ import annotations

import re
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest

from experiments.tools.chromium import browser
from processes import running, wait_until
from skyenv.rules.compiling import COMPILED

pytestmark = [pytest.mark.long, pytest.mark.skipif(not COMPILED, reason="NUMBA_DISABLE_JIT is set")]


def address_of(server: subprocess.Popen[str]) -> str:
    """Where a server says that it is."""
    assert server.stdout is not None
    found = re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline())
    assert found
    return found[0]


def told(client: httpx2.Client) -> dict[str, Any]:
    """How far a server is."""
    content: dict[str, Any] = client.get("/api/preparing").raise_for_status().json()
    return content


def test_two_servers_start_on_one_empty_cache(tmp_path: Path) -> None:
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = ["-m", "skyenv", "play", "--no-browser", "--port", 0, "--workers", 2, "--database"]
    with ExitStack() as stack:
        ann, bob = (
            stack.enter_context(
                running(*command, tmp_path / f"games-{number}", environment=environment)
            )
            for number in range(2)
        )
        stack.callback(ann.terminate)
        stack.callback(bob.terminate)
        page = stack.enter_context(browser())
        page.open(f"{address_of(ann)}/")
        page.wait("#play-now")
        assert not page.run("return document.getElementById('preparing').hidden")
        page.click("#play-now")
        page.wait_until(lambda: "compiling" in page.text("#preparing"), "what is compiled")

        with httpx2.Client(base_url=address_of(bob), timeout=600) as client:
            client.get("/").raise_for_status()
            wanted = {"players": 2, "side": "front", "seats": ["me", "agent:greedy"]}
            seat = (
                client.post("/api/games", json=wanted)
                .raise_for_status()
                .json()["page"]
                .replace("/seat/", "/api/seats/")
            )
            early = client.get(seat)
            assert (early.status_code, early.json()["preparing"]["rules"]) == (503, False)
            heard = [told(client)]
            while not heard[-1]["rules"]:
                wait_until(
                    lambda: told(client)["done"] != heard[-1]["done"] or told(client)["rules"], bob
                )
                heard.append(told(client))
            before = [one["done"] for one in heard if not one["rules"]]
            assert before == sorted(before)
            assert len(set(before)) > 1  # the other one compiles, too
            state = client.get(seat).raise_for_status().json()
            action = {"action": state["legal"][0]["action"], "step": 0}
            client.post(f"{seat}/act", json=action).raise_for_status()
            wait_until(
                lambda: client.get(seat).json()["step"] > 1, bob
            )  # greedy has got ready and moved

        wait_until(lambda: page.find("#board svg") is not None, ann)  # the table comes by itself
        assert page.find("#preparing.bad") is None
        assert [line for line in page.complaints() if "503" not in line] == []
