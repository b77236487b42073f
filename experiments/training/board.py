"""Curves for TensorBoard."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any


def write_board(folder: Path, program: str, points: Sequence[Mapping[str, Any]]) -> bool:
    """Add points of a curve, in a file of their own; return whether TensorBoard is installed.

    Args:
        folder: folder of the run. program: the trainer's name, in the names of figures.
        points: as :class:`experiments.training.run.Run` has them; none: no file.
    """
    writer_of = _writer()
    if writer_of is None:
        return False
    if points:
        with writer_of(str(folder / "tensorboard"), purge_step=points[0]["decisions"]) as writer:
            for point in points:
                figures = {f"{program}/{name}": value for name, value in point.items()}
                figures |= {f"win share/{kind}": won for kind, won in point["shares"].items()}
                for name, value in figures.items():
                    if isinstance(value, (int, float)):
                        writer.add_scalar(name, value, point["decisions"])
    return True


@cache
def _writer() -> Any:
    """Return TensorBoard's writer; None: it isn't installed, which is said once."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ModuleNotFoundError as error:
        print(f"no files for TensorBoard, but curve.jsonl: {error}", file=sys.stderr)
        return None
    return SummaryWriter
