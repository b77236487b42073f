"""Browsers' names: made by the server and signed, so that nobody can make one up."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from typing import Final

COOKIE: Final = "skyenv_browser"
_SIGNED: Final = re.compile(r"([A-Za-z0-9_-]{32})\.([A-Za-z0-9_-]{32})")


def new_token() -> str:
    """An unguessable name: 192 random bits."""
    return secrets.token_urlsafe(24)


class Browsers:
    """Gives browsers their names, as values of cookies, and reads them.

    Args:
        key: what signs them; secret, and the same as long as the names are to be known.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def signed(self, name: str) -> str:
        """The cookie of the browser of that name."""
        digest = hmac.digest(self._key, name.encode(), hashlib.sha256)[:24]
        return f"{name}.{base64.urlsafe_b64encode(digest).decode()}"

    def name(self, cookie: str) -> str | None:
        """The name in a cookie; None if this server hasn't signed it."""
        match = _SIGNED.fullmatch(cookie)
        if match is None or not hmac.compare_digest(cookie, self.signed(match[1])):
            return None
        return match[1]
