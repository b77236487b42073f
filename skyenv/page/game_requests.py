"""Requests for a new game, checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from skyenv.checks import check_choice, check_integer, parse_integer
from skyenv.errors import shown
from skyenv.page.catalogue import Catalogue
from skyenv.page.errors import PageError
from skyenv.page.names import checked_name
from skyenv.page.storage import HUMAN
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES
from skyenv.seeds import HIGHEST_SEED

ME: Final = "me"
"""A seat for the browser that makes the game; the other seats are HUMAN or have an agent's name
behind AGENT.
"""
AGENT: Final = "agent:"
_KEY: Final = re.compile(r"[A-Za-z0-9-]{8,64}")


@dataclass(frozen=True)
class GameRequest:
    """A game that a browser asks for, checked.

    Attributes:
        players: 2 to 4.
        side: ``"front"`` or ``"back"``.
        seed: None: a random one.
        seats: one of ME, HUMAN, AGENT + name for each.
        idempotency_key: two requests of a browser with the same key make one game; None: each
            makes one.
        names: what the people on its own seats are called; "" for the others.
    """

    players: int
    side: str
    seed: int | None
    seats: tuple[str, ...]
    idempotency_key: str | None = None
    names: tuple[str, ...] = ()

    @classmethod
    async def checked(cls, value: Mapping[str, Any], catalogue: Catalogue) -> GameRequest:
        """Return what a browser sent.

        Raises:
            PageError: it isn't what the form sends.
        """
        players, side, seed, seats = (
            value.get(name) for name in ("players", "side", "seed", "seats")
        )
        players = check_integer("players", players, MIN_PLAYERS, MAX_PLAYERS, PageError)
        side = check_choice("side", side, SIDES, PageError)
        if (
            not isinstance(seats, list)
            or len(seats) != players
            or not all(isinstance(seat, str) for seat in seats)
        ):
            raise PageError(f"seats must be a list of {players} texts, not {shown(seats)}")
        for seat in seats:
            if seat.startswith(AGENT):
                await catalogue.look_up(seat.removeprefix(AGENT))
            elif seat not in (ME, HUMAN):
                raise PageError(f"a seat is '{ME}', '{HUMAN}' or '{AGENT}NAME', not {shown(seat)}")
        names = value.get("names", [""] * players)
        if not isinstance(names, list) or len(names) != players:
            raise PageError(f"names must be a list of {players} texts, not {shown(names)}")
        called = tuple(
            checked_name(name, catalogue.names) if seat == ME else ""
            for name, seat in zip(names, seats, strict=True)
        )
        return cls(players, side, _seed(seed), tuple(seats), checked_key(value), called)


def _seed(value: object) -> int | None:
    if value is None or value == "":
        return None
    # As text: a browser's numbers have 53 bits.
    seed = parse_integer(value, 0, HIGHEST_SEED) if isinstance(value, str) else None
    if seed is not None:
        return seed
    raise PageError(f"the seed must be a whole number from 0 to {HIGHEST_SEED}, not {shown(value)}")


def checked_key(request: Mapping[str, Any]) -> str | None:
    """Return the idempotency key of a request.

    Raises:
        PageError: it isn't one.
    """
    key = request.get("idempotency_key")
    if key is None or (isinstance(key, str) and _KEY.fullmatch(key)):
        return key
    raise PageError(f"idempotency_key must be 8 to 64 letters, digits or hyphens, not {shown(key)}")
