"""The export of a replay as one HTML file that works offline; needs no web framework."""

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from html import escape
from importlib.resources import files
from typing import Final

from skyenv.page.library.replays import Replay
from skyenv.page.view.payloads import THEMES
from skyenv.page.workers import Report
from skyenv.render.colours import VARIABLES, theme_named, variables

# Concatenated in this order they are one script: each uses only what precedes it.
SCRIPTS: Final = (
    *("game.js", "api.js", "format.js", "dom.js", "settings.js"),
    *("board.js", "around.js", "viewer.js", "export.js"),
)
# Longest game, in actions, that the server exports: about 2 MB, and two minutes of a worker.
MAX_STEPS: Final = 5000
_IMPORT: Final = re.compile(r"^import\s[^;]*;\n", re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=const |function |async )", re.MULTILINE)


def exported(
    replay: Replay,
    title: str,
    themes: Sequence[str] = THEMES,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> str:
    """Return a replay as an HTML page.

    The page has all hands and every seat's view, for wide screens and for phones. Equal parts of
    drawings are stored once for all themes: colours are variables of the style sheet.

    Args:
        replay: the game.
        title: the page's title.
        themes: the themes that the page offers.
        progress: called with the number of drawings made, and of all drawings.
    """
    script = bundled(*map(_static, SCRIPTS))
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


def bundled(*modules: str) -> str:
    """Return JavaScript modules as one script, in which each uses only what precedes it."""
    return "".join(_EXPORT.sub("", _IMPORT.sub("", module)) for module in modules)


def make_page(record: str, report: Report) -> bytes:
    """Return the HTML page of a game; report how many drawings are ``done`` ``of`` all."""
    replay = Replay.of(record.encode(), 1)
    return exported(
        replay, "Fifth Avenue", progress=lambda done, of: report({"done": done, "of": of})
    ).encode()


def _data(replay: Replay, themes: Sequence[str], progress: Callable[[int, int], None]) -> str:
    """Return the game and its drawings: compressed JSON as base64."""
    views = [(seat, narrow) for seat in (None, *range(replay.players)) for narrow in (False, True)]
    total = len(views) * (replay.steps + 1)
    texts: dict[str, tuple[str, str]] = {}  # of parts, by name and digest
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
    order = sorted(texts, key=texts.__getitem__)  # similar texts side by side compress better
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
