"""Records that are broken, or made to break something."""

from __future__ import annotations

import json
from typing import Any

from pages import played


def damaged() -> list[bytes]:
    """Twenty-four of them, each damaged in another way."""
    lines = played(2, seed=9, side="back").to_record(["a", "b"]).splitlines()
    objects = [json.loads(line) for line in lines]
    black = next(i for i, each in enumerate(objects) if each.get("event") == "black")
    action = next(i for i, each in enumerate(objects) if each.get("event") == "action")

    def changed(line: int, **fields: Any) -> bytes:
        return joined([*lines[:line], json.dumps(objects[line] | fields), *lines[line + 1 :]])

    whole = joined(lines)
    return [
        b"",
        b"\n\n\n",
        b"no record at all",
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
        whole[: len(whole) // 2],
        joined(lines[1:]),
        joined([lines[0], *lines[2:]]),
        joined(lines[:20] + lines[21:]),
        joined([*lines[:20], lines[19], *lines[20:]]),
        joined([*lines, lines[-1]]),
        changed(0, players=10**6),
        changed(0, version=2),
        changed(0, agents=["a"]),
        changed(0, rings=[["green"] * 5] * 7),
        changed(0, max_turns=0),
        changed(1, row=["gallery"] * 20),
        changed(action, action=102, name="stop"),
        changed(action, name="<script>alert(1)</script>"),
        changed(action, seat=1 - objects[action]["seat"]),
        changed(black, card=7),
        changed(len(lines) - 1, scores=[10**30, 0]),
        b"[" * 50_000 + b"\n" + whole,
        b'{"format": "skyenv-record", "x": "' + b"y" * 100_000 + b'"}',
        joined([lines[0].replace('"a"', '"\\ud800"'), *lines[1:]]),
    ]


def joined(lines: list[str]) -> bytes:
    """Lines as a file."""
    return "".join(f"{line}\n" for line in lines).encode()
