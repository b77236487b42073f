"""Trainings to look at and to play against: what stands in a run's folder, by the format of its
files (docs/training.md).

A browser names runs by keys and networks by seconds of training. Only networks (``.npz``) are
read, which hold numbers alone: nothing of a run is unpickled.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from skyenv.errors import CheckpointError
from skyenv.files import read_json, write_atomically
from skyenv.page.errors import PageError
from skyenv.page.roots import Root, key_of, named, one_line
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES

MODEL: Final = "model.npz"
MILESTONES: Final = "milestones"
PICTURE: Final = "curves.png"
DEPTH: Final = 3
"""Runs are looked for so deep in a folder."""
MOST_RUNS: Final = 200
MOST_COPIES: Final = 200
"""Networks that have been played against and are kept."""
DIGEST: Final = 8
"""Digits of a network's digest in its name."""
_MILESTONE: Final = re.compile(r"([0-9]{1,9})\.npz")


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

    def overview(self) -> list[dict[str, Any]]:
        """All runs that have kept a network, the one that has changed last first."""
        runs = [self._about(key, label, path) for key, (label, path) in self._folders().items()]
        return sorted(runs, key=lambda run: -float(run["changed"]))

    def _about(self, key: str, label: str, path: Path) -> dict[str, Any]:
        networks, options = _networks(path), _options(path)
        changed = [file.stat().st_mtime for file in networks.values() if file.exists()]
        games = sorted(file for file in path.glob("games*.jsonl") if _is_plain(file))
        return {
            "key": key,
            "name": label,
            "changed": max(changed, default=0.0),
            "players": _known(options.get("players"), range(MIN_PLAYERS, MAX_PLAYERS + 1)),
            "side": _known(options.get("side"), SIDES),
            "networks": [{"age": _age(one), "seconds": one} for one in networks],
            "picture": _is_plain(path / PICTURE),
            "evaluation": _evaluation(path),
            "games": [named(file, self._roots)[0] for file in games],
        }

    def picture(self, key: str) -> Path:
        """The file in which a run draws its curves.

        Raises:
            PageError: there is none.
        """
        path = self._run(key)[1] / PICTURE
        if not _is_plain(path):
            raise PageError(f"the run has no {PICTURE}", 404)
        return path

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
        label, path = self._run(key)
        network = _networks(path).get(seconds)
        if network is None:
            raise PageError("the run has kept no such network", 404)
        try:
            content = network.read_bytes()
            digest = hashlib.sha256(content).hexdigest()[:DIGEST]
            name = f"{Path(label).name} @ {_age(seconds)} ({digest})"
            self._copies.mkdir(parents=True, exist_ok=True)
            write_atomically(self._copy(name), content)
            copies = sorted(self._copies.glob("[0-9a-f]*"), key=os.path.getmtime)
            for copy in copies[:-MOST_COPIES]:
                copy.unlink(missing_ok=True)
        except OSError as error:
            raise PageError(f"the network can't be copied: {error.strerror}", 503) from error
        return name

    def network(self, name: str) -> Path | None:
        """The file of a network that was offered under this name; None: there is none."""
        copy = self._copy(name)
        return copy if copy.is_file() else None

    def _copy(self, name: str) -> Path:
        return self._copies / f"{key_of(name)}.npz"

    def _run(self, key: str) -> tuple[str, Path]:
        runs = self._folders()
        if key not in runs:
            raise PageError(
                "there is no such run in the folders that this page was started with", 404
            )
        return runs[key]

    def _folders(self) -> dict[str, tuple[str, Path]]:
        """Labels and folders of the runs, by their keys. Links aren't followed."""
        found: dict[str, tuple[str, Path]] = {}
        for top in self._tops:
            for folder, inside, _ in os.walk(top):
                path = Path(folder)
                is_run = len(found) < MOST_RUNS and bool(_networks(path))
                if is_run:
                    key, label = named(path, self._roots)
                    found[key] = label, path
                goes_on = not is_run and len(path.relative_to(top).parts) < DEPTH
                inside[:] = sorted(name for name in inside if goes_on and name[0] != ".")
        return found


def _networks(folder: Path) -> Mapping[int | None, Path]:
    """The files of the networks that a run has kept, by their seconds; the newest one has none."""
    found: dict[int | None, Path] = {None: folder / MODEL} if _is_plain(folder / MODEL) else {}
    milestones = folder / MILESTONES
    names = [] if milestones.is_symlink() or not milestones.is_dir() else os.listdir(milestones)
    for name in sorted(names):
        if (match := _MILESTONE.fullmatch(name)) and _is_plain(milestones / name):
            found[int(match[1])] = milestones / name
    return found


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _options(folder: Path) -> dict[str, Any]:
    """What a run was started with, as far as its file can be read."""
    with suppress(CheckpointError, OSError):
        return read_json(folder / "config.json")
    return {}


def _known(told: object, known: Sequence[object]) -> object:
    """What an option says first, if it is known, else the first that is."""
    first = told[0] if isinstance(told, list) and told else told
    return first if first in known else known[0]


def _evaluation(folder: Path) -> str:
    """How the closing evaluation came out, as the trainer has written it."""
    with suppress(OSError), open(folder / "evaluation.txt", errors="replace") as file:
        return "\n".join(one_line(line, 200) for line in file.read(8000).splitlines())
    return ""


def _age(seconds: int | None) -> str:
    """How long a network has been trained, in its name."""
    if seconds is None:
        return "newest"
    minutes = f"{seconds // 60} min" if seconds >= 60 else ""
    return f"{minutes} {seconds % 60} s".strip() if seconds % 60 or not minutes else minutes
