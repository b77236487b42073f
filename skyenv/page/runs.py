"""Trainings to look at and to play against: what stands in a run's folder, by the format of its
files (docs/training.md).

A browser names runs by keys and networks by seconds of training. Only networks (``.npz``) are
read, which hold numbers alone: nothing of a run is unpickled.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from skyenv.errors import CheckpointError
from skyenv.files import read_json, write_atomically
from skyenv.page.errors import PageError
from skyenv.page.roots import LONGEST_LABEL, File, Root, files_in, key_of, one_line
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES

MODEL: Final = "model.npz"
MILESTONES: Final = "milestones"
PICTURE: Final = "curves.png"
MOST_RUNS: Final = 200
MOST_COPIES: Final = 200
"""Networks that have been played against and are kept."""
DIGEST: Final = 8
"""Digits of a network's digest in its name."""
_MILESTONE: Final = re.compile(r"([0-9]{1,9})\.npz")
Networks = dict[int | None, File]
"""The networks that a run has kept, by their seconds of training; the newest one has none."""


class Runs:
    """The trainings of some folders.

    All methods may wait for the disk, and are safe in several threads.

    Args:
        roots: folders of runs, or runs' own folders.
        kept: a folder for copies of networks that are played against, as a run's newest one is soon
            another.
    """

    def __init__(self, roots: Sequence[Root], kept: Path) -> None:
        self._roots = roots
        self._copies = kept

    def overview(self) -> list[dict[str, Any]]:
        """All runs that have kept a network, the one that has changed last first."""
        told = [_about(way, networks) for way, networks in self._found().items()]
        return sorted(told, key=lambda run: -float(run["changed"]))[:MOST_RUNS]

    def picture(self, key: str) -> Path:
        """The file in which a run draws its curves.

        Raises:
            PageError: there is none.
        """
        _, networks = self._run(key)
        path = _folder(networks) / PICTURE
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
        way, networks = self._run(key)
        if seconds not in networks:
            raise PageError("the run has kept no such network", 404)
        try:
            content = networks[seconds].path.read_bytes()
            digest = hashlib.sha256(content).hexdigest()[:DIGEST]
            run = one_line(os.path.basename(way), LONGEST_LABEL)
            name = f"{run} @ {_age(seconds)} ({digest})"
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

    def _run(self, key: str) -> tuple[str, Networks]:
        for way, networks in self._found().items():
            if key_of(way) == key:
                return way, networks
        raise PageError("there is no such run in the folders that this page was started with", 404)

    def _found(self) -> dict[str, Networks]:
        """The runs: the ways to their folders, and their networks."""
        found: dict[str, Networks] = {}
        for file in files_in(self._roots, ".npz"):
            folder, _, name = file.way.rpartition("/")
            parent, _, inside = folder.rpartition("/")
            milestone = _MILESTONE.fullmatch(name) if inside == MILESTONES else None
            run = folder if name == MODEL else parent if milestone else ""
            if run:
                seconds = int(milestone[1]) if milestone else None
                found.setdefault(run, {})[seconds] = file
        return found


def _folder(networks: Networks) -> Path:
    """A run's folder."""
    seconds, file = next(iter(networks.items()))
    return file.path.parent if seconds is None else file.path.parent.parent


def _about(way: str, networks: Networks) -> dict[str, Any]:
    """What the page tells of a run."""
    folder = _folder(networks)
    options = _options(folder)
    return {
        "key": key_of(way),
        "name": one_line(way, LONGEST_LABEL),
        "changed": max(file.mtime for file in networks.values()) / 1e9,
        "players": _known(options.get("players"), range(MIN_PLAYERS, MAX_PLAYERS + 1)),
        "side": _known(options.get("side"), SIDES),
        "networks": [{"age": _age(one), "seconds": one} for one in networks],
        "picture": _is_plain(folder / PICTURE),
    }


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


def _age(seconds: int | None) -> str:
    """How long a network has been trained, in its name."""
    if seconds is None:
        return "newest"
    minutes = f"{seconds // 60} min" if seconds >= 60 else ""
    return f"{minutes} {seconds % 60} s".strip() if seconds % 60 or not minutes else minutes
