"""Files that are either whole or not there."""

from __future__ import annotations

import os
from pathlib import Path


def write_atomically(path: str | Path, content: bytes | str) -> None:
    """Write a file so that, whatever happens, its name stands for the old content or the new, never for a part."""
    target = Path(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    half = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with open(half, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(half, target)
    finally:
        half.unlink(missing_ok=True)
