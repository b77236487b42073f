"""Errors of the page, each with an HTTP status."""

from typing import Any

from skyenv.errors import SkyenvError


class PageError(SkyenvError, ValueError):
    """A refused request: not found, not allowed, invalid, or too late. Nothing has changed.

    Attributes:
        status: the HTTP status: 400 (invalid), 403 (not allowed), 404 (not found), 409 (too late),
            413 (too large), 503 (temporarily unavailable).
        fields: further fields for the page's scripts.
    """

    def __init__(self, message: str, status: int = 400, **fields: Any) -> None:
        super().__init__(message)
        self.status, self.fields = status, fields


class StorageError(PageError):
    """A failed database operation. Nothing has changed.

    Args:
        why: the cause.
        until: when to try again.
    """

    def __init__(self, why: str, until: str = "later") -> None:
        super().__init__(f"{why}: nothing has changed; try again {until}", 503)
        self.why = why
        self.until = until
