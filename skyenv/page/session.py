"""A game with people and agents at its table: who may do what, bids that aren't finished yet, and taking them back."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import Sequence

from skyenv.errors import IllegalActionError, PageError, SkyenvError
from skyenv.events import Event
from skyenv.game import Game
from skyenv.games import HIGHEST_SEED
from skyenv.page.storage import HUMAN, StoredGame
from skyenv.page.teaching import tutorial
from skyenv.page.variations import played_on
from skyenv.render.words import seat_name
from skyenv.rules.actions import ACTION_NAMES, BID, BID_DONE


class Session:
    """A game at which people and agents sit.

    The cards of a person's bid are laid down in a *draft*, a copy of the game that only that seat sees. It can be taken back card
    by card. Laying down cards draws on no chance, and which cards may follow depends on the seat's own hand and on what all know,
    so nothing is learned from a draft. When the bid is done its cards are played in the game itself; only then others see them.

    Args:
        stored: the game's options.
        actions: what has been played so far.
        draft: the cards of an unfinished bid, by the actions that lay them down.

    Attributes:
        stored: the options.
        game: the game, without any draft.
        trouble: what keeps agents from playing on, in a line; or None.
        changing: held by who changes the game, from looking at it until the change is stored and made.

    Raises:
        PageError: the actions aren't legal: another version of the rules has played them.
    """

    def __init__(self, stored: StoredGame, actions: Sequence[int] = (), draft: Sequence[int] = ()) -> None:
        self.stored = stored
        self.trouble: str | None = None
        self.changing = asyncio.Lock()
        self._draft: list[int] = []
        self._draft_game: Game | None = None
        # The key is nowhere to be seen: agents' random numbers are of use to nobody who guesses the seed.
        agent_seed = int.from_bytes(hashlib.blake2b(stored.id.encode(), digest_size=8).digest()) & HIGHEST_SEED
        try:
            if stored.beginning is not None:
                self.game = played_on(stored.beginning, actions, stored.seed, agent_seed)
            else:
                self.game = Game(stored.players, stored.side, stored.seed, max_turns=stored.max_turns, agent_seed=agent_seed)
                for action in actions:
                    self.game.play(action)
        except SkyenvError as error:
            # No more than that: the error could tell what a seat may do, and so of its hand.
            raise PageError("this game can't be replayed; another version of skyenv has stored it", 409) from error
        with contextlib.suppress(SkyenvError):  # a damaged draft is none: its cards can be laid down again
            self.lay_down(draft)

    @property
    def draft(self) -> list[int]:
        """The actions of the unfinished bid."""
        return list(self._draft)

    @property
    def step(self) -> int:
        """Actions played so far, without any draft."""
        return int(self.game.state["decisions"])

    def is_human(self, seat: int | None) -> bool:
        """Whether a person plays a seat."""
        return seat is not None and self.stored.agents[seat] == HUMAN

    @property
    def has_humans(self) -> bool:
        """Whether any person plays."""
        return HUMAN in self.stored.agents

    @property
    def agent_to_move(self) -> str | None:
        """The name of the agent that is to act; None if a person is, or nobody."""
        seat = self.game.seat
        if self.lesson is not None and not self.lesson.answer:
            return None
        return None if seat is None or self.is_human(seat) else self.stored.agents[seat]

    @property
    def lesson(self) -> tutorial.Lesson | None:
        """Where the lesson stands; None: this is an ordinary game."""
        if self.stored.agents != tutorial.AGENTS:
            return None
        played = (event["action"] for event in self.game.events if event["event"] == "action")
        return tutorial.Lesson((*played, *self._draft))

    def as_seen_by(self, seat: int | None) -> Game:
        """The game with the draft of that seat, if it has one; not to be changed."""
        return self._draft_game if self._draft_game is not None and seat == self.game.seat else self.game

    def step_of(self, seat: int | None) -> int:
        """Actions that the seat sees as played, its draft included."""
        return int(self.as_seen_by(seat).state["decisions"])

    def can_undo(self, seat: int | None) -> bool:
        """Whether the seat has a draft."""
        return bool(self._draft) and seat == self.game.seat

    def act(self, seat: int | None, action: int, step: int) -> tuple[list[int], list[int]]:
        """What an action of a person leads to. Nothing has changed yet: first it has to be stored.

        Args:
            seat: whose.
            action: its number.
            step: actions that had been played, as the person saw it, so that a click that comes late or twice does nothing.

        Returns:
            The actions that the game is to be changed by with :meth:`commit`, none if only the draft changes; and the draft to be
            laid down.

        Raises:
            PageError: it isn't this seat's turn, or something has happened since `step`, or a lesson wants something else.
            IllegalActionError: the action isn't legal.
        """
        if self.game.seat is None:
            raise PageError("the game is over", 409)
        if seat is None or seat != self.game.seat or not self.is_human(seat):
            raise PageError(f"it is not your turn; {seat_name(self.game.seat)} is to act", 409)
        if step != self.step_of(seat):
            raise PageError("that was meant for an earlier position", 409)
        if self.lesson is not None:
            self.lesson.check([action])
        position = self.as_seen_by(seat)
        if action not in position.legal_actions:
            what = ACTION_NAMES[action] if 0 <= action < len(ACTION_NAMES) else str(action)
            raise IllegalActionError(f"'{what}' is not legal here", action)
        if BID <= action < BID_DONE:
            return [], [*self._draft, action]
        return [*self._draft, action], []

    def undo(self, seat: int | None) -> list[int]:
        """The draft that is to be laid down when the seat has taken back the last card of its own.

        Raises:
            PageError: there is none.
        """
        if not self.can_undo(seat):
            raise PageError("there is nothing to take back; only cards of your own unfinished bid can be", 409)
        return self._draft[:-1]

    def lay_down(self, actions: Sequence[int]) -> None:
        """Lay down the cards of a draft, instead of those that lie there."""
        game = self.game.copy()
        for action in actions:
            game.play(action)
        self._draft, self._draft_game = list(actions), game if actions else None

    def commit(self, actions: Sequence[int]) -> list[Event]:
        """Play actions in the game itself; the draft is gone then.

        Raises:
            IllegalActionError: one of them isn't legal.
        """
        self.lay_down([])
        return [event for action in actions for event in self.game.play(action)]

    def go_back_to(self, actions: Sequence[int]) -> None:
        """Be as after these actions, which the game has begun with; the draft is gone then."""
        self.game, self._draft, self._draft_game = Session(self.stored, actions).game, [], None

    def names(self, seat: int | None = None) -> list[str]:
        """Who sits where, in words, for somebody on `seat`."""
        return ["you" if number == seat else name for number, name in enumerate(self.stored.agents)]

    def record(self) -> str:
        """The game's record.

        Raises:
            PageError: the game goes on; a record tells every hidden card.
        """
        if not self.game.is_over and self.has_humans:
            raise PageError("the record can be had when the game is over, as it tells every hidden card", 403)
        return self.game.to_record(self.stored.agents)
