"""The library: an index of the recorded games in the folders that the page was started with.

The index is in memory; workers read changed files. Of each game they read the first lines and the
last one; a game that is opened is checked as a whole. Damage in a file costs only the game in which
it occurs.
"""

import asyncio
import hashlib
import io
import logging
import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO, Final, TypeAlias

from skyenv.checks import check_choice
from skyenv.engine.events import Event
from skyenv.errors import OptionError, RecordError, SkyenvError
from skyenv.page.errors import PageError
from skyenv.page.workers import Priority, Report, Workers
from skyenv.records import iter_games
from skyenv.records.index import parts
from skyenv.records.reader import MAX_LINE

# Longest name of an agent, in characters.
LONGEST_NAME: Final = 60
# Digits of a key; other identifiers in URLs are longer.
KEY_LENGTH: Final = 16
# Longest label of a file, in characters.
LONGEST_LABEL: Final = 100
# Games on a page of the table.
PAGE: Final = 50
# Most agents offered as filters, by frequency.
MAX_AGENTS: Final = 500
# Most damaged games reported.
MAX_COMPLAINTS: Final = 50
# Most filters in a query.
MAX_FILTERS: Final = 50
# Seconds between scans of the folders.
REFRESH_INTERVAL: Final = 5.0
# The sort keys of the table, with their values for a game.
SORTS: Final = {"date": "date", "length": "actions", "margin": "margin", "players": "players"}
# Most files read.
MAX_FILES: Final = 10_000
# Largest game, in bytes.
MAX_RECORD: Final = 8 << 20
# Flags that refuse to open symbolic links, where supported.
NO_LINKS: Final = getattr(os, "O_NOFOLLOW", 0)
ACTION: Final = b'"event": "action"'
_log = logging.getLogger("skyenv.page")
# A row of the table: the game's `file`, `label` and `number`; `start` and `length` in the file, in
# bytes; `task` ("": a whole game), `players`, `side`, `names`, `winners` (seats), `scores` (VP by
# seat; none before the end), `margin` (VP between the first two), `actions`, `ending`, and `date`,
# the time of the file's last change, in seconds.
Game: TypeAlias = dict[str, Any]


# ---- folders ----


# Resolved paths of the folders and files that the page was started with, by their names there.
Roots: TypeAlias = Mapping[str, Path]


def roots_of(paths: Iterable[Path]) -> Roots:
    """Return the folders and files, each with a unique label.

    Raises:
        OptionError: one of them doesn't exist.
    """
    roots: dict[str, Path] = {}
    for path in paths:
        real = Path(os.path.realpath(path.expanduser()))
        if not real.exists():
            raise OptionError(f"there is no folder or file {path}")
        if real in roots.values():
            continue
        name = one_line(real.name, LONGEST_LABEL) or "games"
        labels = (name, *(f"{name} ({number})" for number in range(2, len(roots) + 2)))
        roots[next(label for label in labels if label not in roots)] = real
    return roots


@dataclass(frozen=True)
class File:
    """A file and its state when it was scanned.

    Attributes:
        path: its path. way: the path from its root, with the root's label. size: bytes. mtime:
            time of the last change, in nanoseconds.
    """

    path: Path
    way: str
    size: int
    mtime: int

    @property
    def key(self) -> str:
        """The file's key in URLs."""
        return key_of(self.way)


def files_in(roots: Roots, ending: str) -> Iterator[File]:
    """Yield the files whose names have an ending, each once, a folder's own before its subfolders'.

    Links aren't followed. Hidden files are skipped, among them files being written.
    """
    seen = set[Path]()
    for label, root in roots.items():
        alone = str(root.parent), list[str](), [root.name]
        for folder, inside, names in [alone] if root.is_file() else os.walk(root):
            inside[:] = sorted(name for name in inside if name[0] != ".")
            for name in sorted(name for name in names if name[0] != "." and name.endswith(ending)):
                path = Path(folder, name)
                with suppress(OSError):  # just removed
                    stat = path.lstat()
                    if S_ISREG(stat.st_mode) and path not in seen:
                        seen.add(path)
                        way = os.path.join(label, *path.relative_to(root).parts)
                        yield File(path, way, stat.st_size, stat.st_mtime_ns)


def key_of(text: str) -> str:
    """Return hexadecimal digits of a text's hash, which are the same after a restart."""
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:KEY_LENGTH]


def one_line(text: str, longest: int) -> str:
    """Return a text from a file as one printable line of at most `longest` characters."""
    line = "".join(c if c.isprintable() else " " for c in text)
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


# ---- the index ----


def _has_words(game: Game, text: str) -> bool:
    words = " ".join([game["label"], game["task"], *game["names"]]).lower()
    return all(word in words for word in text.lower().split())


_FILTERS: Final[dict[str, Callable[[Game, str], bool]]] = {
    "text": _has_words,
    "agent": lambda game, name: name in game["names"],
    "winner": lambda game, name: name in [game["names"][seat] for seat in game["winners"]],
    "players": lambda game, number: str(game["players"]) == number,
    "side": lambda game, side: game["side"] == side,
}


class Library:
    """The index of the games in some folders, as far as they have been read.

    Args:
        roots: the folders and files.
    """

    def __init__(self, roots: Roots) -> None:
        self._roots = roots
        self._files: dict[str, IndexedFile] = {}
        self._refreshing: asyncio.Task[None] | None = None
        self._next_refresh = 0.0
        self._trouble = ""
        self._left = 0

    def refresh(self, workers: Workers) -> asyncio.Task[None]:
        """Have a worker read changed files, unless one is running or has just run."""
        if self._refreshing is None or (
            self._refreshing.done() and time.monotonic() >= self._next_refresh
        ):
            self._refreshing = asyncio.create_task(self._read_changed(workers))
        return self._refreshing

    async def _read_changed(self, workers: Workers) -> None:
        known = {key: one.file for key, one in self._files.items()}
        job = partial(read_changed, self._roots, known)
        try:
            found = await workers.ask(job, Priority.ANALYSIS, self._note)
        except Exception as error:
            _log.exception("the library can't be read")
            why = error if isinstance(error, SkyenvError) else "see the server's log"
            self._trouble = f"the folders can't be read now: {why}"
        else:
            self._files = {key: new or self._files[key] for key, new in found.items()}
            self._trouble = ""
        self._next_refresh = time.monotonic() + REFRESH_INTERVAL

    def _note(self, left: int) -> None:
        self._left = left

    def search(self, asked: Sequence[tuple[str, str]], page: int = 1) -> dict[str, Any]:
        """Return a page of the table, and the numbers of matching games and of pages.

        Args:
            asked: names and values of a query string. ``agent`` may occur several times; unknown
                names and empty values are ignored.
            page: the page's number, from 1; larger ones mean the last page.

        Raises:
            PageError: there is no such sort key.
        """
        given = dict(asked)
        sort = check_choice("sort", given.get("sort") or "date", list(SORTS), PageError)
        filters = [
            (_FILTERS[name], value)
            for name, value in asked[:MAX_FILTERS]
            if value and name in _FILTERS
        ]
        games = [
            game for game in self._games() if all(passes(game, value) for passes, value in filters)
        ]
        games.sort(key=lambda game: (game["label"], game["number"]))
        games.sort(key=lambda game: game[SORTS[sort]], reverse=given.get("order") != "rising")
        pages = max(1, -(-len(games) // PAGE))
        page = min(max(1, page), pages)
        return {
            "games": games[PAGE * (page - 1) : PAGE * page],
            "total": len(games),
            "page": page,
            "pages": pages,
        }

    def state(self) -> dict[str, Any]:
        """Return the folders, the progress of reading, the damaged games, and the agents."""
        games = self._games()
        names = Counter(chain.from_iterable({*game["names"]} - {""} for game in games))
        damaged = [one for one in self._files.values() if one.complaints]
        return {
            "folders": list(self._roots),
            "games": len(games),
            "done": self._refreshing is not None and self._refreshing.done(),
            "left": self._left,
            "trouble": self._trouble,
            "damaged": len(damaged),
            "complaints": [
                f"{one_line(one.file.way, LONGEST_LABEL)}: {complaint}"
                for one in damaged
                for complaint in one.complaints
            ][:MAX_COMPLAINTS],
            "agents": [name for name, _ in names.most_common(MAX_AGENTS)],
        }

    def game(self, key: str, number: int) -> bytes:
        """Return the record of a game. This may block on the disk.

        Args:
            key: its file's key. number: its number in the file, from 1.

        Raises:
            PageError: there is no such game, its file has changed since it was indexed, or the
                folders can't be read.
        """
        indexed = self._files.get(key)
        if indexed is None or number not in indexed.games:
            if self._trouble:
                raise PageError(self._trouble, 503)
            raise PageError(
                "there is no such game in the folders that this page was started with", 404
            )
        start, length = (indexed.games[number][name] for name in ("start", "length"))
        try:
            with open_plain(indexed.file.path) as stream:
                stream.seek(start)
                content = stream.read(length)
        except OSError as error:
            raise PageError(f"the game's file can't be read: {error.strerror}", 404) from error
        if len(content) != length or not content.startswith(b"{"):
            raise PageError("the game's file has changed; search for the game again", 409)
        return content

    def _games(self) -> list[Game]:
        return [game for one in self._files.values() for game in one.games.values()]


# ---- the index ----


@dataclass(frozen=True)
class IndexedFile:
    """The index entry of a file.

    Attributes:
        file: the file's state when it was read.
        games: its undamaged games, by number, from 1.
        complaints: the faults, a line for each damaged game.
    """

    file: File
    games: Mapping[int, Game]
    complaints: Sequence[str]


def read_changed(
    roots: Roots, known: Mapping[str, File], report: Report
) -> dict[str, IndexedFile | None]:
    """Scan all folders, and read new and changed files; a job for workers.

    Args:
        roots: the folders and files.
        known: the files already read, by key.
        report: called with the number of bytes still to be read.

    Returns:
        All files found, by key; None for an unchanged one.
    """
    there = {file.key: file for file in islice(files_in(roots, ".jsonl"), MAX_FILES)}
    found: dict[str, IndexedFile | None] = dict.fromkeys(there)
    changed = [file for key, file in there.items() if known.get(key) != file]
    left = sum(file.size for file in changed)
    for file in changed:
        report(left)
        found[file.key] = _read(file)
        left -= file.size
    report(left)
    return found


def open_plain(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file for reading, but no symbolic link.

    Raises:
        OSError: the file can't be read, or is a link.
    """
    return open(os.open(path, os.O_RDONLY | NO_LINKS), "rb")


def _read(file: File) -> IndexedFile:
    complaints, games = list[str](), dict[int, Game]()
    place = {"file": file.key, "label": one_line(file.way, LONGEST_LABEL), "date": file.mtime / 1e9}
    try:
        with open_plain(file.path) as stream:
            for number, part in enumerate(parts(stream, MAX_RECORD + MAX_LINE), 1):
                length = len(part.content)
                where = {**place, "number": number, "start": part.start, "length": length}
                try:
                    games[number] = where | _game(part.content, part.line)
                except RecordError as error:
                    complaints.append(one_line(str(error), 200))
    except OSError as error:
        complaints.append(f"can't be read: {error.strerror}")
    return IndexedFile(file, games, complaints)


def _game(content: bytes, line: int) -> Game:
    """Return the row of a game, without its location.

    Raises:
        RecordError: its beginning or its end is invalid, or it is too long.
    """
    if len(content) > MAX_RECORD:
        raise RecordError(f"line {line}: the game exceeds {MAX_RECORD} bytes", line)
    header, *rest = content.splitlines(keepends=True)
    try:
        lines = next(iter_games(io.BytesIO(b"".join([header, *rest[:1], *rest[1:][-1:]])), line))
        last = [line.value for line in lines.events]
    except RecordError:
        # Reading the whole game names the right line.
        deque(next(iter_games(io.BytesIO(content), line)).events, maxlen=0)
        raise
    end: Event = last[0] if last and last[0]["event"] == "end" else Event()
    opening, scores = lines.header.value, end.get("scores", [])
    names = opening["agents"] or [""] * opening["players"]
    first, second = sorted(scores or [0, 0], reverse=True)[:2]
    return {
        "task": opening.get("task", ""),
        "players": opening["players"],
        "side": opening["side"],
        "names": [one_line(name, LONGEST_NAME) for name in names],
        "winners": [] if end.get("reason") == "task" else end.get("winners", []),
        "scores": scores,
        "margin": first - second,
        "actions": content.count(ACTION),
        "ending": end.get("reason", "unfinished"),
    }
