"""Damaged and malicious records."""

from pages import played

DAMAGED = 10


def damaged() -> list[bytes]:
    """Return DAMAGED records, each damaged in another way."""
    lines = played(2, seed=9, side="back").to_record(["a", "b"]).encode().splitlines(keepends=True)
    header, *rest = lines
    whole = b"".join(lines)
    return [
        b"",
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
        whole[: len(whole) // 2],
        b"".join(rest),
        b"".join([*lines[:20], *lines[21:]]),
        whole + lines[-1],
        whole.replace(b'"players": 2', b'"players": 1000000', 1),
        whole.replace(b'"name": "', b'"name": "<script>', 1),
        b"[" * 50_000 + b"\n" + whole,
        header.replace(b'"a"', b'"\\ud800"') + b"".join(rest),
    ]
