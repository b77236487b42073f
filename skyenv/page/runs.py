"""Training runs: their curves, and their networks as opponents.

Browsers name files by keys. Only networks (``.npz``) are read, which hold plain arrays: nothing of
a run is unpickled.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from skyenv.files import write_atomically
from skyenv.page.errors import PageError
from skyenv.page.roots import LONGEST_LABEL, File, Root, files_in, key_of, one_line

NETWORK: Final = ".npz"
MILESTONES: Final = "/milestones"
"""A run's folder of milestone networks."""
PICTURE: Final = "curves.png"
MAX_RUNS: Final = 200
MAX_COPIES: Final = 200
"""Most copies of networks that have been opponents."""
DIGEST: Final = 8
"""Digits of a network's digest in its agent's name."""


class Runs:
    """The training runs in some folders.

    All methods may block on the disk, and are thread-safe.

    Args:
        roots: folders of runs, or runs' own folders.
        kept: a folder for copies of networks used as opponents, as runs overwrite their newest one.
    """

    def __init__(self, roots: Sequence[Root], kept: Path) -> None:
        self._roots = roots
        self._copies = kept

    def overview(self) -> list[dict[str, Any]]:
        """Return the networks by run, the most recently changed run first.

        Returns:
            For each run its `name`, the time at which it `changed` (seconds), its `networks` (each
            with `name` and `key`), and the key of its `picture` or None.
        """
        pictures = {_run(file): file.key for file in files_in(self._roots, PICTURE)}
        runs: dict[str, list[File]] = {}
        for file in files_in(self._roots, NETWORK):
            runs.setdefault(_run(file), []).append(file)
        payload: list[dict[str, Any]] = [
            {
                "name": one_line(run, LONGEST_LABEL),
                "changed": max(file.mtime for file in networks) / 1e9,
                "networks": [{"name": file.path.stem, "key": file.key} for file in networks],
                "picture": pictures.get(run),
            }
            for run, networks in runs.items()
        ]
        return sorted(payload, key=lambda run: -run["changed"])[:MAX_RUNS]

    def picture(self, key: str) -> Path:
        """Return the file of a run's curves.

        Raises:
            PageError: there is no such file.
        """
        return self._file(PICTURE, key).path

    def offered(self, key: str) -> str:
        """Copy a network and return its name as an agent, which stays valid whatever becomes of the
        run.

        The name contains a digest of the network: an equally named network, of a restarted run for
        instance, is another agent.

        Args:
            key: the network's key.

        Raises:
            PageError: there is no such network, or it can't be copied.
        """
        file = self._file(NETWORK, key)
        try:
            content = file.path.read_bytes()
            digest = hashlib.sha256(content).hexdigest()[:DIGEST]
            run = os.path.basename(_run(file))
            name = f"{one_line(f'{run} @ {file.path.stem}', LONGEST_LABEL)} ({digest})"
            self._copies.mkdir(parents=True, exist_ok=True)
            write_atomically(self._copy(name), content)
            copies = sorted(self._copies.glob("[0-9a-f]*"), key=os.path.getmtime)
            for copy in copies[:-MAX_COPIES]:
                copy.unlink(missing_ok=True)
        except OSError as error:
            raise PageError(f"the network can't be copied: {error.strerror}", 503) from error
        return name

    def network(self, name: str) -> Path | None:
        """Return the file of a network by its agent's name; None if there is none."""
        copy = self._copy(name)
        return copy if copy.is_file() else None

    def _copy(self, name: str) -> Path:
        return self._copies / f"{key_of(name)}{NETWORK}"

    def _file(self, ending: str, key: str) -> File:
        for file in files_in(self._roots, ending):
            if file.key == key:
                return file
        raise PageError("there is no such file in the folders that this page was started with", 404)


def _run(file: File) -> str:
    """Return the path of the folder of a file's run."""
    return os.path.dirname(file.way).removesuffix(MILESTONES) or file.way
