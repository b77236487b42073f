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

from skyenv.page.payloads import THEMES
from skyenv.page.replays import Replay
from skyenv.page.workers import Report
from skyenv.render.colours import VARIABLES, theme_named, variables

SCRIPTS: Final = (
    *("dom.js", "settings.js", "board.js", "around.js"),
    *("viewer.js", "zoom.js", "export.js"),
)
"""In this order they are one script: each uses only what stands before it."""
MOST_STEPS: Final = 5000
"""Actions of a game of which the server makes a page: about 2 MB, and two minutes of a worker."""
_IMPORT: Final = re.compile(r"^import .*?;\n", re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=const |function |async )", re.MULTILINE)


def exported(
    replay: Replay,
    title: str,
    themes: Sequence[str] = THEMES,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> str:
    """The page as HTML.

    It has all hands and every seat's view, for wide screens and for phones. A part of the drawings
    that doesn't change is stored once, for all themes: colours are variables of the style sheet.

    Args:
        replay: the game.
        title: shown on top.
        themes: the themes in which the page can be shown.
        progress: called with the drawings made and their number.
    """
    script = "".join(_EXPORT.sub("", _IMPORT.sub("", _static(name))) for name in SCRIPTS)
    colours = "".join(
        f':root[data-theme="{name}"]{{{variables(theme_named(name))}}}\n' for name in themes
    )
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    values = {
        "title": escape(title),
        "hash": digest,
        "style": _static("page.css") + _static("bench.css") + colours,
        "script": script,
        "data": _data(replay, themes, progress),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: values[match[1]], _static("export.html"))


def make_page(record: str, report: Report) -> bytes:
    """Make the page of a game, and report how many drawings are ``done`` ``of`` all."""
    replay = Replay.of(record.encode(), 1)
    return exported(
        replay, "Fifth Avenue", progress=lambda done, of: report({"done": done, "of": of})
    ).encode()


def _data(replay: Replay, themes: Sequence[str], progress: Callable[[int, int], None]) -> str:
    """The game and its drawings: JSON, packed, as base64."""
    views = [(seat, narrow) for seat in (None, *range(replay.players)) for narrow in (False, True)]
    total = len(views) * (replay.steps + 1)
    texts: dict[str, tuple[str, str]] = {}  # of parts, by their digests, behind their names
    by_view: dict[str, list[list[tuple[str, str]]]] = {}
    done = 0
    for seat, narrow in views:
        steps = by_view[f"{'all' if seat is None else seat}/{'narrow' if narrow else 'wide'}"] = []
        shown: dict[str, str] = {}
        for step in range(replay.steps + 1):
            parts = replay.drawing(step, seat, VARIABLES, narrow).parts
            texts |= {part.digest: (name, part.text) for name, part in parts.items()}
            digests = {name: part.digest for name, part in parts.items()}
            steps.append([pair for pair in digests.items() if shown.get(pair[0]) != pair[1]])
            shown |= digests
            done += 1
            progress(done, total)
    order = sorted(texts, key=texts.__getitem__)  # what is alike stands together: it packs better
    numbers = {digest: number for number, digest in enumerate(order)}
    names = {name: number for number, name in enumerate(dict(texts.values()))}
    content = {
        "game": replay.payload(),
        "themes": list(themes),
        "parts": [texts[digest][1] for digest in order],
        "names": list(names),
        "views": {
            view: [
                [number for name, digest in step for number in (names[name], numbers[digest])]
                for step in steps
            ]
            for view, steps in by_view.items()
        },
    }
    packed = gzip.compress(
        json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(), 9, mtime=0
    )
    return base64.b64encode(packed).decode()


def _static(name: str) -> str:
    return (files("skyenv.page") / "static" / name).read_text(encoding="utf-8")
