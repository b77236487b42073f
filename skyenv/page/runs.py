"""Trainings to look at while they go on: what stands in a run's folder, by the format of its files
(docs/training.md).

A browser names runs by keys and networks by seconds of training. Files that are half-written or
damaged cost what they would have told, and a line says so.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from skyenv.agents import checkpoint_suffixes
from skyenv.errors import CheckpointError
from skyenv.files import LOCK, parse_json, read_json, write_atomically
from skyenv.page.errors import PageError
from skyenv.page.game_files import LONGEST_NAME, one_line
from skyenv.page.library import Root, key_of, label_of

CONFIG: Final = "config.json"
CURVE: Final = "curve.jsonl"
MODEL: Final = "model"
MILESTONES: Final = "milestones"
DEPTH: Final = 3
"""Runs are looked for so deep in a folder."""
MOST_RUNS: Final = 200
MOST_COPIES: Final = 200
"""Networks that have been played against and are kept."""
DIGEST: Final = 8
"""Digits of a network's digest in its name."""
MOST_POINTS: Final = 50_000
MOST_KINDS: Final = 24
"""Kinds of opponents that are told of a curve."""
TAIL: Final = 64
PART: Final = 1 << 20
"""Bytes of a curve that are read at a time."""
LONGEST_VALUE: Final = 300
_MILESTONE: Final = re.compile(r"([0-9]{1,9})(\.[a-z0-9]{1,10})")
_WRITER: Final = re.compile(r"process (\d{1,10}) on (\S{1,255}), since ([0-9: -]{1,30})")


@dataclass(frozen=True)
class Network:
    """A network that a run has kept.

    Attributes:
        name: what it is called on the page, as an agent.
        path: its file.
        seconds: of training; None: the newest one.
    """

    name: str
    path: Path
    seconds: int | None


@dataclass
class _Curve:
    """What has been read of a run's curve.

    Attributes:
        offset, tail, lines: where reading goes on, what stands in front of that, and how many lines
            those are.
        points: what is told of each update.
        age: changes when all has been read anew.
        complaint: what was wrong first.
    """

    offset: int = 0
    tail: bytes = b""
    lines: int = 0
    points: list[dict[str, Any]] = field(default_factory=list)
    age: int = 0
    complaint: str = ""


class Runs:
    """The trainings of some folders.

    All methods may wait for the disk, and are safe in several threads.

    Args:
        folders: folders of runs, or runs' own folders.
        roots: by which files are called: `folders`, and all others that the library has.
        kept: a folder for copies of networks that are played against, as a run's newest one is soon
            another.
    """

    def __init__(self, folders: Sequence[Path], roots: Sequence[Root], kept: Path) -> None:
        self._tops = folders
        self._roots = roots
        self._copies = kept
        self._lock = threading.Lock()
        self._curves: dict[str, _Curve] = {}

    def folders(self) -> dict[str, Path]:
        """The folders of runs that there are, by what they are called."""
        found: dict[str, Path] = {}
        for top in self._tops:
            for path in _runs_in(top, DEPTH):
                found.setdefault(label_of(os.fsencode(path), self._roots), path)
                if len(found) >= MOST_RUNS:
                    return found
        return found

    def overview(self) -> list[dict[str, Any]]:
        """All runs, the one whose curve was written last first."""
        networks: dict[str, list[Network]] = {}
        for label, network in self.networks():
            networks.setdefault(label, []).append(network)
        told = [
            self._about(label, path, networks.get(label, []))
            for label, path in self.folders().items()
        ]
        return sorted(told, key=lambda run: -float(run["changed"]))

    def _about(self, label: str, path: Path, networks: Sequence[Network]) -> dict[str, Any]:
        complaint, options = "", {}
        try:
            options = read_json(path / CONFIG)
        except CheckpointError:
            complaint = f"{CONFIG} is damaged, or being written"
        except OSError as error:
            complaint = f"{CONFIG} can't be read: {error.strerror}"
        with self._lock:
            curve = self._curve(label, path)
            last = curve.points[-1] if curve.points else None
            complaint = complaint or curve.complaint
        return {
            "key": key_of(label),
            "name": label,
            "state": state_of(path),
            "changed": _changed(path / CURVE) or _changed(path / CONFIG),
            "complaint": complaint,
            "options": {
                one_line(str(name), LONGEST_NAME): _brief(value)
                for name, value in list(options.items())[:100]
                if name != "run"
            },
            "players": _brief(options.get("players", "")),
            "minutes": None if last is None else last["seconds"] / 60,
            "decisions": None if last is None else last["decisions"],
            "progress": None if last is None else last["progress"],
            "shares": {} if last is None else last["shares"],
            "points": len(curve.points),
            "networks": [{"name": one.name, "seconds": one.seconds} for one in networks],
            "evaluation": _evaluation(path),
            "games": [
                key_of(label_of(os.fsencode(path / name), self._roots)) for name in _games_of(path)
            ],
        }

    def curve(self, key: str, start: int, age: int) -> dict[str, Any]:
        """A run's curve from a point on, or all of it if it was read anew since `age`.

        Raises:
            PageError: there is no such run.
        """
        label, path = self._run(key)
        with self._lock:
            curve = self._curve(label, path)
            first = start if age == curve.age and start <= len(curve.points) else 0
            return {
                "age": curve.age,
                "from": first,
                "points": curve.points[first:],
                "complaint": curve.complaint,
            }

    def networks(self) -> Iterator[tuple[str, Network]]:
        """All networks that the runs have kept, with what their runs are called: of each the
        newest, then its milestones.
        """
        folders = self.folders()
        last = [label.rpartition("/")[2] for label in folders]
        for label, path in folders.items():
            run = label.rpartition("/")[2]
            name = run if last.count(run) == 1 else label
            for seconds, file in _kept(path):
                yield label, Network(f"{name} @ {self._age(label, path, seconds)}", file, seconds)

    def _age(self, label: str, path: Path, seconds: int | None) -> str:
        if seconds is not None:
            return _time(seconds)
        with self._lock:
            points = self._curve(label, path).points
        return _time(int(points[-1]["seconds"])) if points else "the beginning"

    def offered(self, key: str, seconds: int | None) -> str:
        """The name by which a run's network can be played against from now on, whatever becomes of
        the run.

        A digest of the network is part of it: another one that is called the same, of a run that
        was begun anew for instance, is another agent.

        Args:
            key: the run's. seconds: of a milestone; None: the newest network.

        Raises:
            PageError: there is no such network, or it can't be copied.
        """
        wanted, _ = self._run(key)
        for label, network in self.networks():
            if label == wanted and network.seconds == seconds:
                try:
                    content = network.path.read_bytes()
                    name = f"{network.name} ({hashlib.sha256(content).hexdigest()[:DIGEST]})"
                    self._copies.mkdir(parents=True, exist_ok=True)
                    write_atomically(self._copy(name, network.path.suffix), content)
                    self._forget_some()
                except OSError as error:
                    raise PageError(
                        f"{network.name} can't be copied: {error.strerror}", 503
                    ) from error
                return name
        raise PageError("the run has kept no such network", 404)

    def network(self, name: str) -> Path | None:
        """The file of a network that was offered under this name; None: there is none."""
        return next(
            (
                copy
                for suffix in checkpoint_suffixes()
                if (copy := self._copy(name, suffix)).is_file()
            ),
            None,
        )

    def _copy(self, name: str, suffix: str) -> Path:
        return self._copies / f"{key_of(name)}{suffix}"

    def _forget_some(self) -> None:
        """Remove the oldest copies beyond so many."""
        copies = sorted(self._copies.glob("[0-9a-f]*"), key=lambda path: path.stat().st_mtime)
        for path in copies[: max(0, len(copies) - MOST_COPIES)]:
            path.unlink(missing_ok=True)

    def _run(self, key: str) -> tuple[str, Path]:
        for label, path in self.folders().items():
            if key_of(label) == key:
                return label, path
        raise PageError("there is no such run in the folders that this page was started with", 404)

    def _curve(self, label: str, path: Path) -> _Curve:
        """A run's curve, with what is new of it; the lock is held."""
        curve = self._curves.setdefault(label, _Curve())
        try:
            with open(path / CURVE, "rb") as stream:
                stream.seek(max(0, curve.offset - TAIL))
                if stream.read(min(TAIL, curve.offset)) != curve.tail:
                    curve = self._curves[label] = _Curve(age=curve.age + 1)
                    stream.seek(0)
                _read_curve(stream.read, curve)
        except FileNotFoundError:
            if curve.offset:
                curve = self._curves[label] = _Curve(age=curve.age + 1)
        except OSError as error:
            curve.complaint = f"{CURVE} can't be read: {error.strerror}"
        return curve


def _read_curve(read: Callable[[int], bytes], curve: _Curve) -> None:
    """Take in the lines behind those that are known.

    What has no end yet is left for the next time.
    """
    rest = b""
    while (part := read(PART)) and len(curve.points) < MOST_POINTS:
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            curve.lines += 1
            curve.offset += len(line) + 1
            curve.tail = (curve.tail + line + b"\n")[-TAIL:]
            point = _point(line)
            if point is not None:
                curve.points.append(point)
            elif not curve.complaint:
                curve.complaint = f"{CURVE}, line {curve.lines}: no point of a curve"
        if len(rest) > PART:
            curve.complaint = f"{CURVE}, line {curve.lines + 1}: too long"
            return


def _point(line: bytes) -> dict[str, Any] | None:
    """What the page draws of an update; None: the line is damaged."""
    try:
        value = parse_json(line)
        shares = dict(list(value["shares"].items())[:MOST_KINDS])
        return {
            "seconds": _number(value["seconds"], 1),
            "decisions": int(_number(value["decisions"], 0)),
            "progress": min(1.0, _number(value.get("progress", 0.0), 4)),
            "pace": _number(value["pace"], 0),
            "entropy": _number(value["entropy"], 4),
            "players": [int(_number(one, 0)) for one in value.get("players", ())][:3],
            "shares": {
                one_line(str(kind), LONGEST_NAME): _number(share, 4)
                for kind, share in shares.items()
            },
        }
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return None


def _number(value: object, digits: int) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not -1e15 < value < 1e15:
        raise ValueError("no number")
    return round(float(value), digits)


def state_of(folder: Path) -> str:
    """Whether a training is running in a folder: "running", "finished", "stopped", or who has it on
    another machine.

    The lock's file says who holds it; asking for the lock itself could keep a training from
    beginning.
    """
    with contextlib.suppress(OSError):
        if match := _WRITER.fullmatch((folder / LOCK).read_text(errors="replace")[:400]):
            number, host, since = match.groups()
            if host != socket.gethostname():
                return f"in use by {one_line(host, 60)}, since {since}"
            if _is_alive(int(number)):
                return "running"
    return "finished" if (folder / "evaluation.json").is_file() else "stopped"


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def _runs_in(folder: Path, depth: int) -> list[Path]:
    """The runs in a folder, which may be one itself. Links aren't followed."""
    if _is_plain(folder / CURVE) or (_is_plain(folder / CONFIG) and _says_a_run(folder / CONFIG)):
        return [folder]
    if depth == 0:
        return []
    try:
        inside = sorted(
            entry.name for entry in os.scandir(folder) if entry.is_dir(follow_symlinks=False)
        )
    except OSError:
        return []
    return [
        run
        for name in inside
        if not name.startswith(".")
        for run in _runs_in(folder / name, depth - 1)
    ]


def _says_a_run(path: Path) -> bool:
    """Whether a config.json is a training's; tournaments have one, too."""
    try:
        return "run" in read_json(path)
    except (CheckpointError, OSError):
        return False


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _kept(folder: Path) -> Iterator[tuple[int | None, Path]]:
    """The files of the networks that a run has kept, by their seconds; that of the newest one has
    none.
    """
    models = [folder / f"{MODEL}{suffix}" for suffix in checkpoint_suffixes()]
    yield from [(None, model) for model in models if _is_plain(model)][:1]
    with contextlib.suppress(OSError):
        for name in sorted(os.listdir(folder / MILESTONES)):
            match = _MILESTONE.fullmatch(name)
            if (
                match
                and match[2] in checkpoint_suffixes()
                and _is_plain(folder / MILESTONES / name)
            ):
                yield int(match[1]), folder / MILESTONES / name


def _games_of(folder: Path) -> list[str]:
    """The names of the files with games of a run."""
    with contextlib.suppress(OSError):
        return sorted(
            name
            for name in os.listdir(folder)
            if re.fullmatch(r"games[a-z0-9-]{0,40}\.jsonl", name)
        )
    return []


def _evaluation(folder: Path) -> str:
    """How the closing evaluation came out, as the trainer has written it."""
    try:
        with open(folder / "evaluation.txt", encoding="utf-8", errors="replace") as file:
            return "\n".join(one_line(line, 200) for line in file.read(8000).splitlines())
    except OSError:
        return ""


def _changed(path: Path) -> float:
    with contextlib.suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def _brief(value: object) -> str:
    """An option's value as text; of a path its end alone."""
    values = value if isinstance(value, list) else [value]
    texts = [
        re.sub(r"^.*[/\\]", "… ", one, flags=re.DOTALL) if isinstance(one, str) else json.dumps(one)
        for one in values
    ]
    return one_line(", ".join(texts), LONGEST_VALUE)


def _time(seconds: int) -> str:
    """How long a training has taken, in a network's name."""
    if seconds < 60:
        return f"{seconds} s"
    return f"{seconds // 60} min" + (f" {seconds % 60} s" if seconds % 60 else "")
