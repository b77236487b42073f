"""What the page's database holds: games, the ways to their seats, replays and analyses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from skyenv.render.words import seat_label

HUMAN: Final = "human"  # instead of an agent's name: people play this seat
ANYBODY: Final = "*"  # instead of a browser: every browser may use the link, as spectators do


class Change(NamedTuple):
    """Another player takes over a seat.

    Attributes:
        step: how many actions had been played.
        seat: 0 … N−1.
        player: HUMAN or an agent's name.
    """

    step: int
    seat: int
    player: str


@dataclass(frozen=True)
class StoredGame:
    """A game: its options, what has been played, and what lists tell of it.

    Attributes:
        id: its key; it is in no link.
        owner: the browser that made it.
        created: seconds since 1970.
        players, side, max_turns, seed: as for :class:`skyenv.Game`.
        agents: for every seat HUMAN or an agent's name, when the game began.
        pause: seconds that an agent's move takes at least.
        idempotency_key: two requests of a browser with the same key make one game.
        origin, origin_step: the game that this one goes on from, which may be gone, and after how
            many of its actions; a variation of a replay has no origin.
        beginning: the record that a variation begins with; its actions are among the game's.
        chance: the key of the game whose agents' chance this one has; None: its own.
        taken_back: how many decisions its person has taken back on the way to it.
        changes: other players of seats since the beginning, the first change first.
        rematch: the game that was made to play it once more.
        copied: whether a game with its chance has gone on from it, whose record tells its hidden
            cards.
        task: the bidding task that it is (:mod:`skyenv.engine.tasks`); None: a whole game.
        actions: what has been played, by numbers.
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
    origin: str | None = None
    origin_step: int | None = None
    beginning: str | None = None
    chance: str | None = None
    taken_back: int = 0
    changes: tuple[Change, ...] = ()
    rematch: str | None = None
    copied: bool = False
    task: str | None = None
    actions: tuple[int, ...] = ()
    to_act: int | None = 0
    turn: int = 0
    scores: tuple[int, ...] = ()

    @property
    def sitters(self) -> tuple[str, ...]:
        """For every seat HUMAN or an agent's name, now."""
        sitters = list(self.agents)
        for change in self.changes:
            sitters[change.seat] = change.player
        return tuple(sitters)

    def names(self, links: Iterable[Link], seat: int | None = None) -> list[str]:
        """The players' names as a seat is told them: people's from the links, and agents'."""
        called = {link.seat: link.name for link in links}
        people = [called.get(each) or f"Player {seat_label(each)}" for each in range(self.players)]
        return [
            "you" if each == seat else people[each] if player == HUMAN else player
            for each, player in enumerate(self.sitters)
        ]


@dataclass(frozen=True)
class Link:
    """The way to one seat of a game, or to watching it.

    Attributes:
        token: the unguessable part of its address.
        game: the game's key.
        seat: 0 … N−1; None: watching.
        browser: the browser that has taken it; None: none has yet; ANYBODY: all may use it.
        name: what that browser's player wants to be called.
        seen: when the player was last there, seconds since 1970; 0: never.
        screen: seats with the same one are played at one screen.
    """

    token: str
    game: str
    seat: int | None
    browser: str | None
    name: str = ""
    seen: float = 0.0
    screen: str | None = None
