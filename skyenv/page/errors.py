"""Errors of the page, each with its HTTP status."""

from __future__ import annotations

from typing import Any

from skyenv.errors import SkyenvError


class PageError(SkyenvError, ValueError):
    """The page was asked for something that there isn't, that isn't allowed, or that came too late.

    Nothing has changed.

    Attributes:
        status: the HTTP status that says it: 400 (a mistake), 403 (not allowed), 404 (there is no
            such thing), 409 (too late), 413 (too large), 429 (too many), 503 (not now).
        told: what else the page's scripts may need to know.
    """

    def __init__(self, message: str, status: int = 400, **told: Any) -> None:
        super().__init__(message)
        self.status, self.told = status, told


class StorageError(PageError):
    """The page's database can't do that now. Nothing has changed.

    Args:
        why: what keeps it from that.
        until: when it will be able to.
    """

    def __init__(self, why: str, until: str = "later") -> None:
        super().__init__(f"{why}: nothing has changed; try again {until}", 503)
        self.why = why
        self.until = until
