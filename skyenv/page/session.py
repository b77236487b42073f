"""A game with people and agents at its table: who may do what, and taking back."""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from skyenv.engine.game import Game
from skyenv.engine.knowledge import PUBLIC
from skyenv.errors import SkyenvError
from skyenv.page.errors import PageError
from skyenv.page.storage import HUMAN, Link, StoredGame
from skyenv.page.teaching import tutorial
from skyenv.page.variations import to_play_on
from skyenv.render.words import counted, seat_name
from skyenv.rules.actions import BID, BID_DONE, BUILD, MOVE, PASS, STOP, TAKE
from skyenv.seeds import HIGHEST_SEED

POSITIONS: Final = 64  # positions that are kept for pages that show one after the other
# Events that draw on no chance and show nobody anything that was hidden.
_REVEALS_NOTHING: Final = {"action", "tile to park", "vp"}


Choices = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Position:
    """Where a game stands; not to be changed.

    Attributes:
        game: the game.
        actions: what has been played.
        choices: step and seat of the choices that the seat may make again that has acted last.
    """

    game: Game
    actions: tuple[int, ...]
    choices: Choices

    def columns(self) -> dict[str, Any]:
        """What is stored of it, see :class:`skyenv.page.stored.StoredGame`."""
        return {
            "actions": self.actions,
            "to_act": self.game.seat,
            "turn": self.game.turn,
            "scores": tuple(self.game.scores),
        }


class Session:
    """A game at which people and agents sit.

    A person's bid is played whole: its cards and its end are one choice.

    What changes a game is made of it first, as a :class:`Position`, then stored, and then made the
    current one by :meth:`become`.

    Args:
        stored: the game.
        links: the ways to its seats.

    Attributes:
        stored: the game's options; `position` alone tells what has been played.
        links: the ways to the seats, and to watching.
        position: where the game stands.
        lifted: for a screen at which several people play, the seat whose cards are shown there now.
        asked: since when an agent is to move, by the monotonic clock; None: none is.
        trouble: what keeps agents from playing on, in a line; or None.
        paused: whether agents wait.
        granted: whether agents may make one move though they are to wait.
        undone: how often something was taken back that others have seen; the log is another one
            then.
        changing: held while the game is changed, until the change is stored and made.

    Raises:
        PageError: the actions aren't legal: another version of the rules has played them.
    """

    def __init__(self, stored: StoredGame, links: Iterable[Link] = ()) -> None:
        self.stored = stored
        self.links = list(links)
        self.lifted: dict[str, int] = {}
        self.asked: float | None = None
        self.trouble: str | None = None
        self.paused = self.granted = False
        self.undone = 0
        self.changing = asyncio.Lock()
        # step, number of events, game without them
        self._positions: deque[tuple[int, int, Game]] = deque(maxlen=POSITIONS)
        self.position = self._replayed(stored.actions)

    def _replayed(self, actions: Sequence[int]) -> Position:
        """The position after some actions."""
        stored = self.stored
        # The key is nowhere to be seen: agents' random numbers are of use to nobody who guesses the
        # seed.
        chance = hashlib.blake2b((stored.chance or stored.id).encode(), digest_size=8)
        agent_seed = int.from_bytes(chance.digest()) & HIGHEST_SEED
        choices: Choices = ()
        try:
            if stored.beginning is None:
                game = Game(
                    stored.players,
                    stored.side,
                    stored.seed,
                    max_turns=stored.max_turns,
                    task=stored.task,
                    agent_seed=agent_seed,
                )
            else:
                game = to_play_on(stored.beginning, stored.seed, agent_seed)
            for action in actions[int(game.state["decisions"]) :]:
                choices = self._play(game, action, choices)
        except (SkyenvError, OverflowError) as error:
            # No more than that: the error could tell what a seat may do, and so of its hand.
            raise PageError(
                "this game can't be replayed; another version of skyenv has stored it", 409
            ) from error
        since = stored.changes[-1].step if stored.changes else 0  # other players may have sat there
        choices = tuple(choice for choice in choices if choice[0] >= since)
        return Position(game, tuple(actions), choices)

    def _play(self, game: Game, action: int, choices: Choices) -> Choices:
        """Play an action; return the choices that can be made again then, as long as nobody else
        acts: nothing was drawn or turned up, no auction began.

        Cards that were bid have been seen, and passing or stopping has been heard: these stand.
        """
        seat, step, is_choice = game.seat, int(game.state["decisions"]), game.mask.sum() > 1
        events = game.play(action)
        is_silent = action < PASS or BUILD <= action < STOP
        reveals = {event["event"] for event in events} - _REVEALS_NOTHING
        if seat is None or not self.is_human(seat) or not is_silent or reveals:
            return ()
        if choices and choices[-1][1] != seat:
            choices = ()
        return (*choices, (step, seat)) if is_choice else choices

    @property
    def game(self) -> Game:
        """The game; not to be changed."""
        return self.position.game

    @property
    def step(self) -> int:
        """Actions played so far."""
        return len(self.position.actions)

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
            if screen and link.screen == screen and link.seat is not None
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

    def check_paced(self, link: Link) -> None:
        """Refuse what changes the agents' pace.

        Raises:
            PageError: the link is another browser's than the maker's, and for watching.
        """
        if link.seat is None and self.stored.owner != link.browser:
            raise PageError("only players can change the pace", 403)

    def lift(self, link: Link) -> None:
        """Lift the curtain before a seat; it comes down before the others at its screen.

        Raises:
            PageError: another one at that screen is to act.
        """
        seats = self.seats_at(link.screen)
        if self.game.seat != link.seat and self.game.seat in seats:
            raise PageError("somebody else at this screen is to act", 409)
        if link.seat in seats:
            self.lifted[str(link.screen)] = int(str(link.seat))

    def after(self, step: int) -> tuple[Game, int]:
        """The position that came after `step` actions and what belonged to them, and how many came
        after that one.

        Returns:
            A game, not to be changed; the one that is played, and 0, if there is no other.
        """
        later = [entry for entry in self._positions if entry[0] > step]
        if len(later) < 2:
            return self.game, 0
        _, events, position = later[0]
        game = position.copy()
        game.events = self.game.events[:events]
        return game, len(later) - 1

    # ---- playing ----

    @property
    def lesson(self) -> tutorial.Lesson | None:
        """Where the lesson stands; None: this is an ordinary game."""
        if self.stored.agents != tutorial.AGENTS:
            return None
        return tutorial.Lesson(self.position.actions)

    def chosen(self, seat: int | None, actions: Sequence[int], step: int) -> Position:
        """What a choice of a person leads to.

        Args:
            seat: whose.
            actions: their numbers: one; or two cards that are taken; or the cards of a bid and its
                end. Nothing else, as the answer to a second action could tell what the first one
                has revealed.
            step: actions that had been played, as the person saw it, so that a click that comes
                late or twice does nothing.

        Raises:
            PageError: it isn't this seat's turn, or something has happened since `step`, or these
                actions are no one choice, or a lesson wants something else.
            IllegalActionError: an action isn't legal.
        """
        if self.game.seat is None:
            raise PageError("the game is over", 409)
        if seat != self.game.seat or not self.is_human(seat):
            raise PageError(f"it is not your turn; {seat_name(self.game.seat)} is to act", 409)
        if step != self.step:
            raise PageError("that was meant for an earlier position", 409)
        if self.lesson is not None:
            self.lesson.check(actions)
        is_bid = [BID <= action < BID_DONE for action in actions]
        is_taking = all(TAKE <= action < MOVE for action in actions)
        is_whole = is_taking or (all(is_bid[:-1]) and actions[-1] == BID_DONE)
        if not actions or not (is_whole or len(actions) == 1):
            raise PageError(
                "a choice is one action, two cards that are taken, or a bid's cards and its end"
            )
        return self.played(actions)

    def played(self, actions: Sequence[int]) -> Position:
        """What actions lead to.

        Raises:
            IllegalActionError: one of them isn't legal.
        """
        game, choices = self.game.copy(), self.position.choices
        for action in actions:
            choices = self._play(game, action, choices)
        return Position(game, (*self.position.actions, *actions), choices)

    def can_undo(self, seat: int | None) -> bool:
        """Whether the seat can take back what it did last."""
        choices = self.position.choices
        return bool(choices) and seat == choices[-1][1] and self.lesson is None

    def undo(self, seat: int | None) -> Position:
        """What it leads to if the seat takes back its last choice; actions that were the only ones
        left go with that.

        Raises:
            PageError: there is nothing to take back.
        """
        if not self.can_undo(seat):
            raise PageError(
                "there is nothing to take back: only your own last move, if it has revealed no "
                "card",
                409,
            )
        return self.back_to(self.position.choices[-1][0])

    def back_to(self, step: int) -> Position:
        """The position after the first `step` actions."""
        return self._replayed(self.position.actions[:step])

    def become(self, position: Position) -> None:
        """Make a position the current one."""
        before, self.position = self.step, position
        if self.step < before:
            self._positions = deque(
                (entry for entry in self._positions if entry[0] <= self.step), POSITIONS
            )
            self.undone += 1
        elif self.step > before:
            game = self.game.copy()
            game.events = []  # they are the game's own: their number is enough
            self._positions.append((self.step, len(self.game.events), game))
        for screen, seat in list(self.lifted.items()):  # the curtain before another seat to act
            if self.game.seat != seat and self.game.seat in self.seats_at(screen):
                del self.lifted[screen]

    # ---- names and records ----

    def names(self, seat: int | None = None) -> list[str]:
        """The players' names, as a seat is told them."""
        return self.stored.names(self.links, seat)

    def record(self) -> str:
        """The game's record. It tells of every seat which agent began there, what was taken back,
        and other players since.

        Raises:
            PageError: the game goes on; a record tells every hidden card.
        """
        if not self.game.is_over and self.has_humans:
            raise PageError(
                "the record can be had when the game is over, as it tells every hidden card", 403
            )
        taken_back = self.stored.taken_back
        back = f" ({counted(taken_back, 'decision')} taken back)" if taken_back else ""
        names = [name + back * (name == HUMAN) for name in self.stored.agents]
        for change in self.stored.changes:
            names[change.seat] += f", {change.player} from action {change.step}"
        return self.game.to_record(names)
