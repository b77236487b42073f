"""A game with people and agents at its table: who may do what, bids that aren't finished yet, and
taking back.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final

from skyenv.engine.events import Event
from skyenv.engine.game import Game
from skyenv.engine.knowledge import PUBLIC
from skyenv.errors import IllegalActionError, SkyenvError
from skyenv.page.errors import PageError
from skyenv.page.storage import HUMAN, Link, StoredGame
from skyenv.page.teaching import tutorial
from skyenv.page.variations import played_on
from skyenv.render.words import counted, seat_label, seat_name
from skyenv.rules.actions import ACTION_NAMES, BID, BID_DONE, BUILD, MOVE, PASS, STOP, TAKE
from skyenv.seeds import HIGHEST_SEED

POSITIONS: Final = 64
"""Positions that are kept for pages that show one after the other."""
_REVEALS_NOTHING: Final = {"action", "tile to park", "vp"}
"""Events that draw on no chance and show nobody anything that was hidden."""


def can_be_taken_back(action: int, events: Iterable[Event]) -> bool:
    """Whether an action may be taken back as long as nobody has acted since: nothing was drawn or
    turned up, no auction began.

    Cards that were bid have been seen, and who has passed or stopped has been heard: these stand.

    Args:
        action: its number.
        events: what came of it.
    """
    return (action < PASS or BUILD <= action < STOP) and all(
        event["event"] in _REVEALS_NOTHING for event in events
    )


class Session:
    """A game at which people and agents sit.

    The cards of a person's bid are laid down in a *draft*, a copy of the game that only that seat
    sees. It can be taken back card by card. Laying down cards draws on no chance, and which cards
    may follow depends on the seat's own hand and on what all know, so nothing is learned from a
    draft. When the bid is done its cards are played in the game itself; only then others see them.

    Args:
        stored: the game's options.
        actions: what has been played so far.
        draft: the cards of an unfinished bid, by the actions that lay them down.
        links: the ways to its seats.

    Attributes:
        stored: the options.
        links: the ways to the seats, and to watching.
        lifted: for a screen at which several people play, the seat whose cards are shown there now.
        game: the game, without any draft.
        trouble: what keeps agents from playing on, in a line; or None.
        paused: whether agents wait.
        granted: whether agents may make one move though they are to wait.
        undone: how often something was taken back that others have seen; the log is another one
            then.
        changing: held by who changes the game, from looking at it until the change is stored and
            made.

    Raises:
        PageError: the actions aren't legal: another version of the rules has played them.
    """

    def __init__(
        self,
        stored: StoredGame,
        actions: Sequence[int] = (),
        draft: Sequence[int] = (),
        links: Iterable[Link] = (),
    ) -> None:
        self.stored = stored
        self.links = list(links)
        self.lifted: dict[str, int] = {}
        self.trouble: str | None = None
        self.paused = self.granted = False
        self.undone = 0
        self._before: list[
            Game
        ] = []  # the positions before each action that can be taken back, oldest first
        self._positions: deque[tuple[int, int, Game]] = deque(
            maxlen=POSITIONS
        )  # step, number of events, game without them
        self.changing = asyncio.Lock()
        self._draft: list[int] = []
        self._draft_game: Game | None = None
        # The key is nowhere to be seen: agents' random numbers are of use to nobody who guesses the
        # seed.
        chance = hashlib.blake2b((stored.chance or stored.id).encode(), digest_size=8)
        agent_seed = int.from_bytes(chance.digest()) & HIGHEST_SEED
        try:
            if stored.beginning is None:
                self.game = Game(
                    stored.players,
                    stored.side,
                    stored.seed,
                    max_turns=stored.max_turns,
                    agent_seed=agent_seed,
                )
            else:
                self.game = played_on(
                    stored.beginning, actions[: stored.origin_step], stored.seed, agent_seed
                )
            last = stored.changes[-1].step if stored.changes else 0
            for number, action in enumerate(actions[self.step :], self.step):
                if number == last:  # others may have sat there until then
                    self._before = []
                self._play(action)
            if self.step == last:
                self._before = []
        except SkyenvError as error:
            # No more than that: the error could tell what a seat may do, and so of its hand.
            raise PageError(
                "this game can't be replayed; another version of skyenv has stored it", 409
            ) from error
        with contextlib.suppress(
            SkyenvError
        ):  # a damaged draft is none: its cards can be laid down again
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
        """Whether a person plays a seat now."""
        return seat is not None and seat >= 0 and self.stored.sitters[seat] == HUMAN

    @property
    def has_humans(self) -> bool:
        """Whether people play this game.

        It stays so when agents have taken over, as people may come back to their hands.
        """
        return HUMAN in self.stored.agents

    @property
    def agent_to_move(self) -> str | None:
        """The name of the agent that is to act; None if a person is, or nobody."""
        seat = self.game.seat
        if self.lesson is not None and not self.lesson.answer:
            return None
        return None if seat is None or self.is_human(seat) else self.stored.sitters[seat]

    # ---- who sees what ----

    def viewer(self, link: Link) -> int | None:
        """Whose view a link shows: a seat's, PUBLIC, or None: everything, of a game without
        people.
        """
        return link.seat if link.seat is not None else PUBLIC if self.has_humans else None

    def seats_at(self, screen: str | None) -> list[int]:
        """The seats that people play at one screen, if they are several."""
        seats = [
            link.seat
            for link in self.links
            if screen is not None and link.screen == screen and link.seat is not None
        ]
        return seats if len(seats) > 1 else []

    def is_covered(self, link: Link) -> bool:
        """Whether the curtain is down before a seat, because somebody else at the same screen would
        see its cards.
        """
        return (
            link.seat in self.seats_at(link.screen)
            and self.lifted.get(str(link.screen)) != link.seat
        )

    def check_uncovered(self, link: Link) -> None:
        """Refuse what the seat's own person must do.

        Raises:
            PageError: the curtain is down.
        """
        if self.is_covered(link):
            raise PageError("the curtain is down: somebody else at this screen has the device", 409)

    def lift(self, link: Link) -> None:
        """Lift the curtain before a seat; it comes down before the others at its screen.

        Raises:
            PageError: another one at that screen is to act.
        """
        if self.game.seat != link.seat and self.game.seat in self.seats_at(link.screen):
            raise PageError("somebody else at this screen is to act", 409)
        self.lifted[str(link.screen)] = int(str(link.seat))

    def _lower(self) -> None:
        """Let the curtain down where somebody else at the screen is to act now."""
        for screen, seat in list(self.lifted.items()):
            if self.game.seat != seat and self.game.seat in self.seats_at(screen):
                del self.lifted[screen]

    # ---- playing ----

    @property
    def lesson(self) -> tutorial.Lesson | None:
        """Where the lesson stands; None: this is an ordinary game."""
        if self.stored.agents != tutorial.AGENTS:
            return None
        played = (event["action"] for event in self.game.events if event["event"] == "action")
        return tutorial.Lesson((*played, *self._draft))

    def as_seen_by(self, seat: int | None) -> Game:
        """The game with the draft of that seat, if it has one; not to be changed."""
        return (
            self._draft_game
            if self._draft_game is not None and seat == self.game.seat
            else self.game
        )

    def step_of(self, seat: int | None) -> int:
        """Actions that the seat sees as played, its draft included."""
        return int(self.as_seen_by(seat).state["decisions"])

    def can_undo(self, seat: int | None) -> bool:
        """Whether the seat can take something back: a card of its draft, or what it did last."""
        if self._draft:
            return seat == self.game.seat
        return (
            bool(self._before) and seat == self._before[-1].seat and self.lesson is None
        )  # which goes back by itself

    def after(self, step: int) -> tuple[Game, int]:
        """The position that came after `step` actions and what belonged to them, and how many came
        after that one.

        Returns:
            A game without any draft; the one that is played, not to be changed, and 0 if there is
            no other.
        """
        later = [entry for entry in self._positions if entry[0] > step]
        if len(later) < 2:
            return self.game, 0
        _, events, position = later[0]
        game = position.copy()
        game.events = self.game.events[:events]
        return game, len(later) - 1

    def position(self, step: int) -> Game:
        """The position after `step` actions, cards of a draft among them or not; without any draft,
        not to be changed.

        Raises:
            PageError: it isn't kept any more.
        """
        found = (
            self.game
            if step >= self.step
            else next((game for at, _, game in self._positions if at == step), None)
        )
        if found is None:
            raise PageError("that position isn't kept any more", 409)
        return found

    def act(
        self, seat: int | None, actions: Sequence[int], step: int
    ) -> tuple[list[int], list[int]]:
        """What a choice of a person leads to. Nothing has changed yet: first it has to be stored.

        Args:
            seat: whose.
            actions: their numbers: one; or two cards that are taken; or cards that are laid down,
                with or without the end of the bid. Nothing else, as the answer to a second action
                could tell what the first one has revealed.
            step: actions that had been played, as the person saw it, so that a click that comes
                late or twice does nothing.

        Returns:
            The actions that the game is to be changed by with :meth:`commit`, none if only the
            draft changes; and the draft to be laid down.

        Raises:
            PageError: it isn't this seat's turn, or something has happened since `step`, or these
                actions are no one choice, or a lesson wants something else.
            IllegalActionError: an action isn't legal.
        """
        if self.game.seat is None:
            raise PageError("the game is over", 409)
        if seat is None or seat != self.game.seat or not self.is_human(seat):
            raise PageError(f"it is not your turn; {seat_name(self.game.seat)} is to act", 409)
        if step != self.step_of(seat):
            raise PageError("that was meant for an earlier position", 409)
        if self.lesson is not None:
            self.lesson.check(actions)
        kinds = {
            "take" if TAKE <= action < MOVE else "bid" if BID <= action <= BID_DONE else None
            for action in actions
        }
        if not actions or (len(actions) > 1 and (len(kinds) > 1 or None in kinds)):
            raise PageError(
                "several actions at once are two cards that are taken, or the cards of a bid"
            )
        position = self.as_seen_by(seat)
        for number, action in enumerate(actions):
            if position.seat != seat or action not in position.legal_actions:
                what = ACTION_NAMES[action] if 0 <= action < len(ACTION_NAMES) else str(action)
                raise IllegalActionError(f"'{what}' is not legal here", action)
            if number < len(actions) - 1:
                position = position.copy()
                position.play(action)
        played = [*self._draft, *actions]
        return ([], played) if BID <= actions[-1] < BID_DONE else (played, [])

    def undo(self, seat: int | None) -> tuple[int, list[int]]:
        """What it leads to if the seat takes back the last card of its draft, or what it did last.

        Nothing has changed yet.

        What it did last is its last choice: actions that were the only ones left go with it.

        Returns:
            How many of the game's actions stay; with fewer than there are :meth:`go_back` is to be
            called. And the draft that is to be laid down.

        Raises:
            PageError: there is nothing to take back.
        """
        if not self.can_undo(seat):
            raise PageError(
                "there is nothing to take back: only your own last move, if it has revealed no "
                "card",
                409,
            )
        if self._draft:
            return self.step, self._draft[:-1]
        last = next(game for game in reversed(self._before) if len(game.legal_actions) > 1)
        return int(last.state["decisions"]), []

    def go_back(self, step: int) -> None:
        """Go back to the position after `step` actions, as :meth:`undo` told."""
        while self.step > step:
            self.game = self._before.pop()
        while self._positions and self._positions[-1][0] > step:
            self._positions.pop()
        self.undone += 1

    def stand(self) -> None:
        """Nothing that was done can be taken back any more, and no draft is left: somebody else
        sits there.
        """
        self._before = []
        self.lay_down([])

    def lay_down(self, actions: Sequence[int]) -> None:
        """Lay down the cards of a draft, instead of those that lie there."""
        game = self.game.copy() if actions else None
        if game is not None:
            for action in actions:
                game.play(action)
        self._draft, self._draft_game = list(actions), game

    def commit(self, actions: Sequence[int]) -> list[Event]:
        """Play actions in the game itself; the draft is gone then.

        Raises:
            IllegalActionError: one of them isn't legal.
        """
        self.lay_down([])
        events = [event for action in actions for event in self._play(action)]
        position = self.game.copy()
        position.events = []  # they are the game's own: their number is enough
        self._positions.append((self.step, len(self.game.events), position))
        self._lower()
        return events

    def _play(self, action: int) -> list[Event]:
        before = self.game.copy() if self.is_human(self.game.seat) else None
        events = self.game.play(action)
        if before is None or not can_be_taken_back(action, events):
            self._before = []
            return events
        if self._before and self._before[-1].seat != before.seat:
            self._before = []
        if (
            self._before or len(before.legal_actions) > 1
        ):  # there is nothing to choose again before a forced move
            self._before.append(before)
        return events

    def go_back_to(self, actions: Sequence[int]) -> None:
        """Be as after these actions, which the game has begun with; the draft is gone then."""
        again = Session(self.stored, actions)
        self.game, self._before = again.game, again._before
        self._positions.clear()
        self.lay_down([])
        self.undone += 1

    def names(self, seat: int | None = None) -> list[str]:
        """Who sits where, in words, for somebody on `seat`: people by their names, agents by
        theirs.
        """
        called = {link.seat: link.name for link in self.links}
        return [
            "you"
            if number == seat
            else (called.get(number) or f"Player {seat_label(number)}")
            if who == HUMAN
            else who
            for number, who in enumerate(self.stored.sitters)
        ]

    def names_in_record(self) -> list[str]:
        """What the record says of every seat: people's names only if they want it, who took over,
        what was taken back.
        """
        told = {link.seat: link.name for link in self.links if link.in_record}
        names = [
            told.get(seat) or HUMAN if who == HUMAN else who
            for seat, who in enumerate(self.stored.agents)
        ]
        for change in self.stored.changes:
            who = told.get(change.seat) or HUMAN if change.who == HUMAN else change.who
            names[change.seat] += f", {who} from action {change.step}"
        if taken_back := self.stored.taken_back:
            back = f" ({counted(taken_back, 'decision')} taken back)"
            names = [
                name + back * (self.stored.agents[seat] == HUMAN) for seat, name in enumerate(names)
            ]
        return names

    def record(self) -> str:
        """The game's record.

        Raises:
            PageError: the game goes on; a record tells every hidden card.
        """
        if not self.game.is_over and self.has_humans:
            raise PageError(
                "the record can be had when the game is over, as it tells every hidden card", 403
            )
        return self.game.to_record(self.names_in_record())
