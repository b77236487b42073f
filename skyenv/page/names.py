"""What people may be called at a table."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from skyenv.errors import shown
from skyenv.page.errors import PageError

LONGEST_NAME: Final = 24
# What nobody may be called, as the page calls others so.
_RESERVED: Final = re.compile(r"you|me|nobody|alea|human|agent|free|((seat|player)\W*\d*)")


def checked_name(value: object, agents: Iterable[str]) -> str:
    """What somebody wants to be called, in its usual form; "" if he doesn't say.

    Args:
        value: what the browser sent.
        agents: their names, which are theirs.

    Raises:
        PageError: it can't be printed, is too long, or means somebody else.
    """
    if not isinstance(value, str):
        raise PageError(f"a name must be a text, not {shown(value)}")
    name = " ".join(unicodedata.normalize("NFC", value).split())
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise PageError(
            f"a name has at most {LONGEST_NAME} characters that can be printed, not {shown(name)}"
        )
    meant = unicodedata.normalize("NFKC", name).casefold()
    if _RESERVED.fullmatch(meant) or meant in {agent.casefold() for agent in agents}:
        raise PageError(f"{shown(name)} is what the page calls somebody else; choose another name")
    return name
