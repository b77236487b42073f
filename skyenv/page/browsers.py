"""Browsers' names: generated and signed by the server, so that clients can't forge them."""

import base64
import hashlib
import hmac
import re
import secrets
from typing import Final

COOKIE: Final = "skyenv_browser"
_SIGNED: Final = re.compile(r"([A-Za-z0-9_-]{32})\.([A-Za-z0-9_-]{32})")


def new_token() -> str:
    """Return an unguessable name of 192 random bits."""
    return secrets.token_urlsafe(24)


def signed(key: bytes, name: str) -> str:
    """Return the cookie's value for a browser's name, which stays valid as long as the secret key
    is the same.
    """
    digest = hmac.digest(key, name.encode(), hashlib.sha256)[:24]
    return f"{name}.{base64.urlsafe_b64encode(digest).decode()}"


def name_in(key: bytes, cookie: str) -> str | None:
    """Return the name in a cookie; None if this server hasn't signed it."""
    match = _SIGNED.fullmatch(cookie)
    if match is None or not hmac.compare_digest(cookie, signed(key, match[1])):
        return None
    return match[1]
