"""Files that are either whole or not there."""

from __future__ import annotations

from pathlib import Path

from skyenv.files import replacing


def write_atomically(path: str | Path, content: bytes | str) -> None:
    """Write a file so that, whatever happens, its name stands for the old content or the new, never for a part."""
    with replacing(path) as part:
        part.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
