"""Measurements that the docs show: read from the file that a benchmark published."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skyenv.errors import CheckpointError


def published_part(
    path: Path, markdown: Callable[[dict[str, Any]], str], picture: str, otherwise: str
) -> str:
    """The part of the docs with a published measurement.

    Args:
        path: of its JSON file. markdown: what the docs say of its content. picture: the line with
            its picture.
        otherwise: what the docs say if nothing has been published.

    Raises:
        CheckpointError: the file is damaged.
    """
    if not path.exists():
        return otherwise
    try:
        text = markdown(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{path} is damaged: {error}") from error
    return f"{text}\n\n{picture}"
