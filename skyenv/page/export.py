"""A replay in one file: a page that needs neither server nor network.

It needs no web framework either.
"""

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
from skyenv.render.colours import VARIABLES, theme_named, variables

SCRIPTS: Final = ("dom.js", "board.js", "viewer.js", "export.js")
"""In this order they are one script: each uses only what stands before it."""
_IMPORT: Final = re.compile(r"^import .*?;\n", re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=const |function |async )", re.MULTILINE)


def exported(
    replay: Replay,
    title: str,
    themes: Sequence[str] = THEMES,
    progress: Callable[[int, int], None] | None = None,
) -> str:
    """The page as HTML.

    It has all hands and every seat's view, for wide screens and for phones. Drawings share their
    parts and are drawn once for all themes: colours are variables of the style sheet.

    Args:
        replay: the game.
        title: shown on top.
        themes: the themes in which the page can be shown.
        progress: called with the drawings made and their number.
    """
    script = "".join(_EXPORT.sub("", _IMPORT.sub("", _static(name))) for name in SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    values = {
        "title": escape(title),
        "hash": digest,
        "style": _static("page.css") + _static("bench.css") + _colours(themes),
        "script": script,
        "data": _data(replay, themes, progress),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: values[match[1]], _static("export.html"))


def _colours(themes: Sequence[str]) -> str:
    """The drawings' colours in each theme."""
    return "".join(
        f':root[data-theme="{name}"]{{{variables(theme_named(name))}}}\n' for name in themes
    )


def _data(
    replay: Replay, themes: Sequence[str], progress: Callable[[int, int], None] | None
) -> str:
    """The game and its drawings: JSON, packed, as base64."""
    views = [(seat, narrow) for seat in (None, *range(replay.players)) for narrow in (False, True)]
    total = len(views) * (replay.steps + 1)
    frames, numbers, names = Frames(), dict[str, int](), dict[str, int]()
    by_view: dict[str, list[list[int]]] = {}
    done = 0
    for seat, narrow in views:
        steps = by_view[f"{'all' if seat is None else seat}/{'narrow' if narrow else 'wide'}"] = []
        shown: dict[str, int] = {}
        for step in range(replay.steps + 1):
            changed: list[int] = []
            for name, part in replay.drawing(step, seat, VARIABLES, narrow).parts.items():
                if part.digest not in numbers:
                    numbers[part.digest] = len(frames.frames)
                    frames.add(part.text)
                if shown.get(name) != numbers[part.digest]:
                    shown[name] = numbers[part.digest]
                    changed += [names.setdefault(name, len(names)), shown[name]]
            steps.append(changed)
            done += 1
            if progress is not None:
                progress(done, total)
    packed_parts = frames.payload()
    content = {
        "game": replay.payload(),
        "themes": list(themes),
        "texts": packed_parts["parts"],
        "parts": packed_parts["frames"],
        "names": list(names),
        "views": by_view,
    }
    packed = gzip.compress(
        json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(), 9, mtime=0
    )
    return base64.b64encode(packed).decode()


def _static(name: str) -> str:
    return (files("skyenv.page") / "static" / name).read_text(encoding="utf-8")
