"""The first start after an installation: real processes, an empty compile cache, a browser
(minutes).
"""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pages import act, address_of, led_to, payload

from processes import running, wait_until
from skyenv.rules.compiling import COMPILED

pytestmark = [pytest.mark.long, pytest.mark.skipif(not COMPILED, reason="NUMBA_DISABLE_JIT is set")]


def test_two_servers_start_on_one_empty_cache(browsers: Callable[..., Any], tmp_path: Path) -> None:
    """The workers compile; a server itself would print progress."""
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "SKYENV_QUIET": None}
    command = ["-m", "skyenv", "play", "--no-browser", "--port", 0, "--workers", 2, "--database"]
    with ExitStack() as stack:
        ann, bob = (
            stack.enter_context(running(*command, tmp_path / name, environment=environment))
            for name in ("ann", "bob")
        )
        page = stack.enter_context(browsers())
        page.open(f"{address_of(ann)}/")
        page.wait("#play-now")
        page.click("#play-now")
        page.wait_until(lambda: "compiling" in page.text("#preparing"), "what is compiled")
        client = stack.enter_context(httpx2.Client(base_url=address_of(bob), timeout=600))
        client.get("/").raise_for_status()
        wanted = {"players": 2, "side": "front", "seats": ["me", "agent:greedy"]}
        seat = led_to(client.post("/api/games", json=wanted))
        wait_until(lambda: client.get(seat).status_code == 200, bob)
        state = payload(client, seat)
        act(client, seat, state, state["legal"][0]["action"])
        wait_until(lambda: payload(client, seat)["step"] > 1, bob)  # greedy is ready and has moved

        wait_until(lambda: page.find("#board svg") is not None, ann)  # the table comes by itself
        assert page.find("#preparing.bad") is None
        assert [line for line in page.console_errors() if "503" not in line] == []
        for server in (ann, bob):
            server.terminate()
            assert "compiling" not in server.communicate()[1]
