"""A replay in one file: a page that needs neither server nor network. It needs no web framework either."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from html import escape
from importlib.resources import files
from typing import Final

from skyenv.page.frames import Frames
from skyenv.page.payloads import THEMES
from skyenv.page.replays import Replay

SCRIPTS: Final = ("dom.js", "board.js", "viewer.js", "export.js")
"""In this order they are one script: each uses only what stands before it."""
_IMPORT: Final = re.compile(r"^import .*?;\n", re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=const |function |async )", re.MULTILINE)


def exported(
    replay: Replay,
    title: str,
    themes: Sequence[str] = THEMES[:1],
    progress: Callable[[int, int], None] | None = None,
) -> str:
    """The page as HTML.

    It has all hands and every seat's view, for wide screens and for phones. Drawings share their parts, or they would take a
    hundred times the space.

    Args:
        replay: the game.
        title: shown on top.
        themes: the themes in which the table can be shown; each takes its time to draw.
        progress: called with the drawings made and their number.
    """
    script = "".join(_EXPORT.sub("", _IMPORT.sub("", _static(name))) for name in SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    values = {
        "title": escape(title),
        "hash": digest,
        "style": _static("page.css") + _static("bench.css"),
        "script": script,
        "data": _data(replay, themes, progress),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: values[match[1]], _static("export.html"))


def _data(replay: Replay, themes: Sequence[str], progress: Callable[[int, int], None] | None) -> str:
    """The game and its drawings: JSON, packed, as base64."""
    views = [(theme, seat, narrow) for theme in themes for seat in (None, *range(replay.players)) for narrow in (False, True)]
    frames = Frames()
    for number, (theme, seat, narrow) in enumerate(views):
        for step in range(replay.steps + 1):
            frames.add(replay.drawing(step, seat, theme, narrow))
            if progress is not None:
                progress(number * (replay.steps + 1) + step + 1, len(views) * (replay.steps + 1))
    payload = frames.payload()
    each = replay.steps + 1
    by_view = {
        f"{theme}/{'all' if seat is None else seat}/{'narrow' if narrow else 'wide'}": payload["frames"][number * each :][:each]
        for number, (theme, seat, narrow) in enumerate(views)
    }
    content = {"game": replay.payload(), "themes": list(themes), "parts": payload["parts"], "frames": by_view}
    packed = gzip.compress(json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(), 9, mtime=0)
    return base64.b64encode(packed).decode()


def _static(name: str) -> str:
    return (files("skyenv.page") / "static" / name).read_text(encoding="utf-8")
