"""Games to look through: those of the folders that the page was started with, as a table with
filters, from the index.

A browser names files by keys and games by numbers. Nothing else can be opened than what stands in
the index and lies in those folders.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from skyenv.checks import check_choice, parse_integer
from skyenv.errors import OptionError, shown
from skyenv.page.errors import PageError
from skyenv.page.game_files import ENDINGS, LONGEST_NAME, TOURNAMENT, Played, one_line, played_in
from skyenv.page.indexing import IndexedFile, IndexingProcess, connect, files_of
from skyenv.rules.components import MAX_PLAYERS, SIDES

MOST_RECORD: Final = 8 << 20
"""Bytes of a game that is opened."""
PAGE: Final = 50
"""Games on a page of the table."""
LONGEST_LABEL: Final = 160
MOST_COMPLAINTS: Final = 20
"""Files whose complaints are listed."""
MOST_AGENTS: Final = 500
"""Agents that are offered as filters."""
COUNTING: Final = 20
"""While the index changes, agents are counted for one of so many parts of the time."""
SORTS: Final = {
    "date": "date",
    "length": "actions",
    "turns": "turns",
    "margin": "margin",
    "swing": "swing",
    "players": "players",
}
"""What games can be sorted by, and the columns of it."""
LIMITS: Final = {
    "actions": "length",
    "turns": "turns",
    "margin": "margin",
    "swing": "swing",
}
"""Columns with numbers, and what their limits are called: ``least_length``, ``most_length``."""


@dataclass(frozen=True)
class Root:
    """A folder, or a file, whose games are shown.

    Attributes:
        path: where it really is.
        label: what it is called on the page.
    """

    path: Path
    label: str


def roots_of(paths: Iterable[Path]) -> list[Root]:
    """The folders and files that were named, each once, each with a name of its own.

    Raises:
        OptionError: one isn't there.
    """
    roots: list[Root] = []
    for path in paths:
        real = Path(os.path.realpath(path.expanduser()))
        if not real.exists():
            raise OptionError(f"there is no folder or file {path}")
        if real in [root.path for root in roots]:
            continue
        name = base = printable(os.fsencode(real.name)) or "games"
        number = 1
        while name in [root.label for root in roots]:
            number += 1
            name = f"{base} ({number})"
        roots.append(Root(real, name))
    return roots


def printable(name: bytes) -> str:
    """A file's name, as it can be shown."""
    return one_line(name.decode("utf-8", "replace"), LONGEST_LABEL)


def label_of(path: bytes, roots: Sequence[Root]) -> str:
    """What the page calls a file or folder: its root's name, and the way from there; no more of its
    path is told.

    Each has a label of its own: a way that can't be shown as it is has a digest behind it.
    """
    for root in roots:
        top = os.fsencode(root.path).rstrip(b"/")
        if path == top:
            return root.label
        if path.startswith(top + b"/"):
            way = path[len(top) + 1 :]
            told = printable(way)
            return f"{root.label}/{told}" + (
                f" ({hashlib.sha256(way).hexdigest()[:8]})" if told.encode() != way else ""
            )
    raise PageError("there is no such file", 404)


def key_of(label: str) -> str:
    """What addresses call a file: the same whenever the page is started with the same folders."""
    return hashlib.sha256(label.encode()).hexdigest()[:16]


# ---- what is asked for ----


@dataclass(frozen=True)
class Query:
    """A page of the table: filters, order, which page.

    Attributes:
        where: SQL with question marks. values: what they stand for.
        text, file: what is left to the library, which knows the files: words in the names of files
            and agents; a file's key.
        order: SQL. page: counted from 1.
    """

    where: str
    values: tuple[object, ...]
    text: str
    file: str
    order: str
    page: int

    @classmethod
    def checked(cls, asked: Sequence[tuple[str, str]]) -> Query:
        """What stands behind the question mark of an address; names that mean nothing here are left
        alone.

        Args:
            asked: names and values; ``agent`` may come several times, all others count once. Empty
                values ask for nothing.

        Raises:
            PageError: a value can't be used.
        """
        given = {name: value for name, value in asked if value}
        parts: list[str] = []
        values: list[object] = []

        def add(part: str, *more: object) -> None:
            parts.append(part)
            values.extend(more)

        for name in dict.fromkeys(value for name, value in asked if name == "agent" and value):
            add("? IN (agent_0, agent_1, agent_2, agent_3)", _name(name))
        for seat in range(MAX_PLAYERS):
            if f"seat_{seat}" in given:
                add(f"agent_{seat} = ?", _name(given[f"seat_{seat}"]))
        if "winner" in given:
            seats = " OR ".join(
                f"(agent_{seat} = ? AND winners LIKE '%{seat}%')" for seat in range(MAX_PLAYERS)
            )
            add(f"({seats})", *[_name(given["winner"])] * MAX_PLAYERS)
        if "players" in given:
            add("players = ?", _number(given["players"], "players"))
        if "side" in given:
            add("side = ?", check_choice("side", given["side"], SIDES, PageError))
        if "ending" in given:
            add("ending = ?", check_choice("ending", given["ending"], ENDINGS, PageError))
        for column, name in LIMITS.items():
            for word, sign in (("least", ">="), ("most", "<=")):
                if limit := given.get(f"{word}_{name}"):
                    add(f"{column} {sign} ?", _number(limit, f"{word}_{name}"))
        sort = check_choice("sort", given.get("sort", "date"), list(SORTS), PageError)
        rising = (
            check_choice("order", given.get("order", "falling"), ("falling", "rising"), PageError)
            == "rising"
        )
        order = f"{SORTS[sort]} {'ASC' if rising else 'DESC'} NULLS LAST, file DESC, number"
        page = max(1, _number(given.get("page", "1"), "page"))
        return cls(
            " AND ".join(parts),
            tuple(values),
            one_line(given.get("text", ""), LONGEST_LABEL),
            given.get("file", ""),
            order,
            page,
        )


def _name(name: str) -> str:
    if len(name) > LONGEST_NAME:
        raise PageError(f"no agent's name has more than {LONGEST_NAME} characters")
    return one_line(name, LONGEST_NAME)


def _number(digits: str, name: str) -> int:
    number = parse_integer(digits, 0, 10**6)
    if number is None:
        raise PageError(f"{name} must be a whole number from 0 to 1000000, not {shown(digits)}")
    return number


# ---- the library ----


class Library:
    """The games of some folders.

    All methods may wait for the disk, and are safe in several threads.

    Args:
        path: the index.
        roots: the folders and files.

    Raises:
        PageError: the index is something else. OSError: it can't be made.
    """

    def __init__(self, path: Path, roots: Sequence[Root]) -> None:
        self.roots = roots
        self._lock = threading.Lock()
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._process: IndexingProcess | None = None
        self._agents: list[dict[str, Any]] = []
        self._counted: object = None
        self._count_again = 0.0
        with self._lock:
            self._connected()

    def start(self) -> None:
        """Begin to read the folders, in a process of its own."""
        self._process = IndexingProcess(self._path, [root.path for root in self.roots])

    def close(self) -> None:
        """End that process, and close the index."""
        if self._process is not None:
            self._process.close()
        with self._lock:
            if self._connection is not None:
                self._connection.close()

    def search(self, query: Query) -> dict[str, Any]:
        """A page of the table, how many games there are by the filters, and how many in all.

        Raises:
            PageError: the index can't be read.
        """
        with self._lock, self._unchanged():
            files = self._files()
            where, values = self._where(query, files)
            (total,) = self._rows("SELECT COUNT(*) FROM game WHERE " + where, values)[0]
            pages = max(1, -(-int(total) // PAGE))
            page = min(query.page, pages)
            rows = self._rows(
                f"SELECT {_COLUMNS} FROM game WHERE {where} ORDER BY {query.order} LIMIT {PAGE} "
                f"OFFSET {PAGE * (page - 1)}",
                values,
            )
            labels = {file.id: (label, file) for label, file in files.items()}
            games = [_payload(row, *labels[int(row[0])]) for row in rows]
        return {"games": games, "total": total, "page": page, "pages": pages}

    def state(self) -> dict[str, Any]:
        """The folders, how far they have been read, what was skipped, and which agents play in
        them.

        Raises:
            PageError: the index can't be read.
        """
        has_looked, trouble = (True, "") if self._process is None else self._process.state()
        with self._lock, self._unchanged():
            files = self._files()
            agents = self._agents_of(files)
        size, seen = (
            sum(max(0, getattr(file, name)) for file in files.values()) for name in ("size", "seen")
        )
        complaints = [
            {"file": label, "skipped": file.skipped, "complaint": file.complaint}
            for label, file in files.items()
            if file.complaint
        ]
        return {
            "folders": [root.label for root in self.roots],
            "files": len(files),
            "size": size,
            "seen": min(seen, size),
            "done": has_looked and all(file.seen == file.size for file in files.values()),
            "trouble": trouble,
            "complaints": complaints[:MOST_COMPLAINTS],
            "more_complaints": max(0, len(complaints) - MOST_COMPLAINTS),
            "agents": agents,
        }

    def game(self, key: str, number: int) -> bytes | Played:
        """A game: its record, or of a tournament what is needed to play it again.

        Args:
            key: the file's. number: counted from 1.

        Raises:
            PageError: there is no such game, it is too large, or its file has changed meanwhile.
            RecordError, CheckpointError: a tournament's folder is damaged.
        """
        with self._lock:
            file = {key_of(label): file for label, file in self._files().items()}.get(key)
            rows = (
                []
                if file is None
                else self._rows(
                    "SELECT start, length FROM game WHERE file = ? AND number = ?",
                    (file.id, number),
                )
            )
        if file is None or not rows:
            raise PageError(
                "there is no such game in the folders that this page was started with", 404
            )
        start, length = map(int, rows[0])
        if length > MOST_RECORD:
            raise PageError(
                f"the game is too large: {length} bytes; at most {MOST_RECORD} are shown", 413
            )
        path = Path(os.fsdecode(file.path))
        try:
            # Its folders were looked at when it was indexed; a link that took its place since then
            # isn't followed.
            with open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as stream:
                stream.seek(start)
                content = stream.read(length)
        except OSError as error:
            raise PageError(f"the game's file can't be read: {error.strerror}", 404) from error
        if len(content) != length or not content.startswith(b"{"):
            raise PageError("the game's file has changed meanwhile; look for the game again", 409)
        return played_in(path.parent, content) if file.kind == TOURNAMENT else content

    # ---- inside; the lock is held ----

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            try:
                self._connection = connect(self._path)
            except sqlite3.Error as error:
                raise PageError(f"the index of games can't be made ({error})", 503) from error
        return self._connection

    @contextlib.contextmanager
    def _unchanged(self) -> Iterator[None]:
        """What is read in the block is one state of the index, whatever is added meanwhile."""
        self._rows("BEGIN")
        try:
            yield
        finally:
            with contextlib.suppress(sqlite3.Error):  # an error may have ended it already
                self._connected().execute("ROLLBACK")

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._connected().execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise PageError(f"the index of games can't be read ({error})", 503) from error

    def _files(self) -> dict[str, IndexedFile]:
        """The files of the folders, by their labels."""
        try:
            files = files_of(self._connected(), [root.path for root in self.roots])
        except sqlite3.Error as error:
            raise PageError(f"the index of games can't be read ({error})", 503) from error
        return {label_of(file.path, self.roots): file for file in files}

    def _where(self, query: Query, files: Mapping[str, IndexedFile]) -> tuple[str, list[object]]:
        """The filter as SQL, the library's own files alone."""
        shown_files = {
            label: file.id for label, file in files.items() if query.file in ("", key_of(label))
        }
        parts = [query.where] if query.where else []
        values = [*query.values]
        if len(shown_files) != len(files) or self._has_others(files):
            parts.append(
                f"file IN ({', '.join(str(one) for one in shown_files.values()) or 'NULL'})"
            )
        for word in query.text.lower().split()[:8]:
            named = [str(one) for label, one in shown_files.items() if word in label.lower()]
            like = "%" + re.sub(r"([\\%_])", r"\\\1", word) + "%"
            names = " OR ".join(f"agent_{seat} LIKE ? ESCAPE '\\'" for seat in range(MAX_PLAYERS))
            parts.append(f"({names} OR file IN ({', '.join(named) or 'NULL'}))")
            values += [like] * MAX_PLAYERS
        return " AND ".join(parts) or "TRUE", values

    def _has_others(self, files: Mapping[str, IndexedFile]) -> bool:
        (number,) = self._rows("SELECT COUNT(*) FROM file")[0]
        return int(number) != len(files)

    def _agents_of(self, files: Mapping[str, IndexedFile]) -> list[dict[str, Any]]:
        """Who plays in how many games, the most frequent first; counted anew when the index has
        changed, but not all the time.
        """
        version = self._rows("PRAGMA data_version")[0][0], tuple(file.id for file in files.values())
        if self._counted != version and time.monotonic() >= self._count_again:
            began = time.monotonic()
            counts: dict[str, int] = {}
            known = ", ".join(str(file.id) for file in files.values()) or "NULL"
            for seat in range(MAX_PLAYERS):
                query = (
                    f"SELECT agent_{seat}, COUNT(*) FROM game "
                    f"WHERE file IN ({known}) AND agent_{seat} <> '' GROUP BY 1"
                )
                for name, number in self._rows(query):
                    counts[name] = counts.get(name, 0) + number
            ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:MOST_AGENTS]
            self._agents = [{"name": name, "seats": number} for name, number in ordered]
            self._counted, self._count_again = (
                version,
                began + COUNTING * (time.monotonic() - began),
            )
        return self._agents


_COLUMNS: Final = (
    "file, number, players, side, agent_0, agent_1, agent_2, agent_3, actions, turns, winners, "
    "scores, margin, ending, swing,"
    " swing_step, date"
)


def _payload(row: Sequence[Any], label: str, file: IndexedFile) -> dict[str, Any]:
    return {
        "file": key_of(label),
        "label": label,
        "kind": file.kind,
        "number": row[1],
        "players": row[2],
        "side": row[3],
        "names": [name or "" for name in row[4 : 4 + row[2]]],
        "actions": row[8],
        "turns": row[9],
        "winners": json.loads(row[10]),
        "scores": json.loads(row[11]),
        "margin": row[12],
        "ending": row[13],
        "swing": row[14],
        "swing_step": row[15],
        "date": row[16],
    }
