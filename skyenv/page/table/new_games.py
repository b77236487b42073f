"""Validation of request bodies: new games, idempotency keys, players' names."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from skyenv.checks import check_choice, check_integer, parse_integer
from skyenv.engine.options import GameOptions, table_label
from skyenv.errors import shown
from skyenv.page.agents.catalogue import Catalogue
from skyenv.page.errors import PageError
from skyenv.page.storage import HUMAN
from skyenv.page.strengths import STRENGTHS
from skyenv.rules.components import MAX_PLAYERS, MIN_PLAYERS, SIDES
from skyenv.seeds import HIGHEST_SEED

# A seat of the browser that makes the game; other seats are HUMAN, or AGENT and an agent's name.
ME: Final = "me"
AGENT: Final = "agent:"
_KEY: Final = re.compile(r"[A-Za-z0-9-]{8,64}")
LONGEST_NAME: Final = 24
# Reserved names: the page uses them itself.
_RESERVED: Final = re.compile(r"you|me|nobody|alea|human|agent|free|((seat|player)\W*\d*)")


@dataclass(frozen=True)
class GameRequest:
    """A validated request for a new game.

    Attributes:
        players: 2 to 4.
        side: ``"front"`` or ``"back"``.
        seed: the game's seed; None: a random one.
        seats: for each seat ME, HUMAN, or AGENT + name.
        idempotency_key: requests of a browser with the same key make one game; None: each request
            makes one.
        names: names of the players in its own seats; "" for the others.
        task: the bidding task; None: a whole game.
    """

    players: int
    side: str
    seed: int | None
    seats: tuple[str, ...]
    idempotency_key: str | None = None
    names: tuple[str, ...] = ()
    task: str | None = None

    @classmethod
    def checked(cls, value: Mapping[str, Any], catalogue: Catalogue) -> "GameRequest":
        """Return the request in a JSON object.

        Raises:
            PageError: a field is missing or invalid.
            OptionError: there is no such task.
        """
        players = check_integer(
            "players", value.get("players"), MIN_PLAYERS, MAX_PLAYERS, PageError
        )
        side = check_choice("side", value.get("side"), SIDES, PageError)
        seats = _texts("seats", value.get("seats"), players)
        for seat in seats:
            if seat.startswith(AGENT):
                catalogue[seat.removeprefix(AGENT)]  # refuses unknown ones
            elif seat not in (ME, HUMAN):
                raise PageError(
                    f"a seat must be '{ME}', '{HUMAN}' or '{AGENT}NAME', not {shown(seat)}"
                )
        names = _texts("names", value.get("names", [""] * players), players)
        called = tuple(
            checked_name(name, catalogue.names) if seat == ME else ""
            for name, seat in zip(names, seats, strict=True)
        )
        # The seed comes as text: JavaScript's integers have 53 bits.
        text = value.get("seed") or ""
        seed = parse_integer(text, 0, HIGHEST_SEED) if isinstance(text, str) else None
        if seed is None and text != "":
            raise PageError(
                f"the seed must be a whole number from 0 to {HIGHEST_SEED}, not {shown(text)}"
            )
        task = _checked_task(value.get("task"), players, side)
        return cls(players, side, seed, tuple(seats), checked_key(value), called, task)


def _checked_task(value: object, players: int, side: str) -> str | None:
    """Return the task in a request; None: a whole game.

    Raises:
        PageError: the task needs other players or another side.
        OptionError: there is no such task.
    """
    if not value:
        return None
    options = GameOptions(task=str(value))
    if (options.num_players, options.side) != (players, side):
        raise PageError(
            f"task {value} is for {table_label(options.num_players, options.side)}, "
            f"not for {table_label(players, side)}"
        )
    return options.task


def _texts(name: str, value: object, number: int) -> list[str]:
    """Return `value` if it is a list of `number` texts; `name` stands in the error.

    Raises:
        PageError: it isn't.
    """
    if isinstance(value, list) and [type(each) for each in value] == [str] * number:
        return value
    raise PageError(f"{name} must be a list of {number} texts, not {shown(value)}")


def checked_key(request: Mapping[str, Any]) -> str | None:
    """Return the idempotency key of a request.

    Raises:
        PageError: the key is malformed.
    """
    key = request.get("idempotency_key")
    if key is None or (isinstance(key, str) and _KEY.fullmatch(key)):
        return key
    raise PageError(f"idempotency_key must be 8 to 64 letters, digits or hyphens, not {shown(key)}")


def checked_name(value: object, agents: Iterable[str]) -> str:
    """Return a player's name in its normalized form; "" if none is given.

    Args:
        value: the value in the request.
        agents: names of agents, which are reserved.

    Raises:
        PageError: the name isn't printable, is too long, or is reserved.
    """
    if not isinstance(value, str):
        raise PageError(f"a name must be a text, not {shown(value)}")
    name = " ".join(unicodedata.normalize("NFC", value).split())
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise PageError(
            f"a name must be at most {LONGEST_NAME} printable characters, not {shown(name)}"
        )
    meant = unicodedata.normalize("NFKC", name).casefold()
    if _RESERVED.fullmatch(meant) or meant in {one.casefold() for one in (*agents, *STRENGTHS)}:
        raise PageError(f"{shown(name)} is reserved; choose another name")
    return name
