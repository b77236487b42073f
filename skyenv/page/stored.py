"""The rows of the page's database: games and links."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from skyenv.render.words import seat_label

HUMAN: Final = "human"  # in place of an agent's name: a person plays this seat
ANY_BROWSER: Final = "*"  # in place of a browser: any browser may use the link, as spectators do


@dataclass(frozen=True)
class StoredGame:
    """A game: its options, its actions, and a summary for lists.

    Attributes:
        id: its key, which is in no link.
        owner: the browser that made it.
        created: seconds since 1970.
        players, side, max_turns, seed: as for :class:`skyenv.Game`.
        agents: for every seat HUMAN or an agent's name.
        pause: minimum seconds of an agent's move.
        idempotency_key: two requests of a browser with the same key make one game.
        beginning: the record that a variation begins with; its actions are among the game's.
        taken_back: number of decisions that its person has taken back after they had revealed
            something.
        rematch: the key of its rematch.
        task: the bidding task (:mod:`skyenv.engine.openings`); None: a whole game.
        actions: the numbers of the actions played.
        to_act, turn, scores: the seat to act (None: the game is over), turns completed, and VP.
    """

    id: str
    owner: str
    created: float
    players: int
    side: str
    max_turns: int
    seed: int
    agents: tuple[str, ...]
    pause: float
    idempotency_key: str | None = None
    beginning: str | None = None
    taken_back: int = 0
    rematch: str | None = None
    task: str | None = None
    actions: tuple[int, ...] = ()
    to_act: int | None = 0
    turn: int = 0
    scores: tuple[int, ...] = ()

    def names(self, links: Iterable[Link], seat: int | None = None) -> list[str]:
        """Return the players' names as a seat sees them: people's from the links, and agents'."""
        called = {link.seat: link.name for link in links}
        people = [called.get(each) or f"Player {seat_label(each)}" for each in range(self.players)]
        return [
            "you" if each == seat else people[each] if player == HUMAN else player
            for each, player in enumerate(self.agents)
        ]


@dataclass(frozen=True)
class Link:
    """A link to one seat of a game, or for spectators.

    Attributes:
        token: the unguessable part of its address.
        game: the game's key.
        seat: 0 … N−1; None: watching.
        browser: the browser that has taken it; None: it is free; ANY_BROWSER: any may use it.
        name: the player's name.
        seen: time of the player's last presence, seconds since 1970; 0: never.
        screen: equal for seats that share a screen.
    """

    token: str
    game: str
    seat: int | None
    browser: str | None
    name: str = ""
    seen: float = 0.0
    screen: str | None = None
