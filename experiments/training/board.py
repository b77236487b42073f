"""A training's curve for TensorBoard.

The usual writer writes from a thread of its own: when the disk is full, nobody can catch its error.
This one writes when it is told to.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tensorboard.compat.proto.event_pb2 import Event, SessionLog  # type: ignore[import-untyped]
from tensorboard.compat.proto.summary_pb2 import Summary  # type: ignore[import-untyped]
from tensorboard.summary.writer.record_writer import RecordWriter  # type: ignore[import-untyped]

COUNTERS: Final = ("update", "decisions")
"""What is told as the step, or by it."""
NO_NUMBERS: Final = ("shares", "players")
"""What holds several numbers, or stays the same."""


class Board:
    """Writes points of a curve into a file of its own in a folder; it begins where an earlier file
    stopped counting.

    Args:
        folder: for TensorBoard; made when something is written.
        program: in front of the names of most figures.
    """

    def __init__(self, folder: Path, program: str) -> None:
        self._path = (
            folder / f"events.out.tfevents.{time.time_ns():020d}"
        )  # TensorBoard reads files in the order of their names
        self._program = program

    def write(self, points: Sequence[Mapping[str, Any]]) -> None:
        """Add points of the curve; they overrule what earlier files have from the first one on.

        Raises:
            OSError: the file can't be written; it is named.
        """
        if not points:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(self._path, "ab") as file:
                writer = RecordWriter(file)
                if not file.tell():
                    first = points[0]["decisions"]
                    for event in (
                        Event(file_version="brain.Event:2", step=first),
                        Event(session_log=SessionLog(status=SessionLog.START), step=first),
                    ):
                        self._add(writer, event)
                for point in points:
                    self._add(writer, Event(summary=self._summary(point), step=point["decisions"]))
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._path)) from error

    def _add(self, writer: Any, event: Any) -> None:
        event.wall_time = time.time()
        writer.write(event.SerializeToString())

    def _summary(self, point: Mapping[str, Any]) -> Any:
        figures = {
            f"{self._program}/{name}": value
            for name, value in point.items()
            if name not in (*COUNTERS, *NO_NUMBERS)
        }
        figures |= {f"win share/{kind}": share for kind, share in point["shares"].items()}
        return Summary(
            value=[
                Summary.Value(tag=tag, simple_value=value)
                for tag, value in figures.items()
                if value is not None
            ]
        )
