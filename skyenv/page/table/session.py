"""A game with people and agents: turns, views, takebacks and the curtain."""

import asyncio
import hashlib
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from skyenv.analysis.choices import is_incomplete
from skyenv.analysis.variations import continued
from skyenv.console.tables import counted
from skyenv.engine.game import Game
from skyenv.engine.knowledge import PUBLIC
from skyenv.errors import SkyenvError
from skyenv.page.errors import PageError
from skyenv.page.storage import HUMAN, Link, StoredGame
from skyenv.page.teaching import tutorial
from skyenv.render.words import seat_name
from skyenv.rules.actions import BID, BID_DONE, BUILD, MOVE, PASS, STOP, TAKE
from skyenv.seeds import HIGHEST_SEED

POSITIONS: Final = 64  # positions cached for pages that show them one by one
# Events that use no chance and reveal nothing hidden.
_REVEALS_NOTHING: Final = {"action", "tile to park", "vp"}


class Choices(NamedTuple):
    """The choices of people, for taking back the last one.

    Attributes:
        made: step and seat of each choice among several actions.
        since: the step since which nothing has been revealed and no other seat has acted.
    """

    made: tuple[tuple[int, int], ...] = ()
    since: int = 0


@dataclass(frozen=True)
class Position:
    """The position of a game; immutable.

    Attributes:
        game: the game.
        actions: the actions played.
        choices: the choices of people so far.
        taken_back: number of choices taken back after they had revealed something.
    """

    game: Game
    actions: tuple[int, ...]
    choices: Choices
    taken_back: int

    def columns(self) -> dict[str, Any]:
        """Return its fields in the database, see :class:`skyenv.page.storage.StoredGame`."""
        return {
            "actions": self.actions,
            "to_act": self.game.seat,
            "turn": self.game.turn,
            "scores": tuple(self.game.scores),
            "taken_back": self.taken_back,
        }


class Session:
    """A running game of people and agents.

    A person's bid is played whole: its cards and its end are one choice.

    A change is first computed as a :class:`Position`, then stored, and then made current by
    :meth:`become`.

    Args:
        stored: the game.
        links: the links to its seats.

    Attributes:
        stored: the game's options; the actions played are in `position` only.
        links: the links to the seats, and for spectators.
        position: the current position.
        lifted: by shared screen, the seat whose cards are shown there now.
        trouble: the reason why agents can't continue, in a line; or None.
        paused: whether agents are paused.
        granted: whether paused agents may make one move.
        undone: number of takebacks that others have seen; each changes the log.
        changing: held during a change of the game, until it is stored and applied.

    Raises:
        PageError: the actions aren't legal, as another version of the rules has played them.
    """

    def __init__(self, stored: StoredGame, links: Iterable[Link] = ()) -> None:
        self.stored = stored
        self.links = list(links)
        self.lifted: dict[str, int] = {}
        self.trouble: str | None = None
        self.paused = self.granted = False
        self.undone = 0
        self.changing = asyncio.Lock()
        # step, number of events, game without them
        self._positions: deque[tuple[int, int, Game]] = deque(maxlen=POSITIONS)
        self.position = self._replayed(stored.actions)

    def _replayed(self, actions: Sequence[int]) -> Position:
        """Return the position after some actions."""
        stored = self.stored
        # The key is secret: guessing the seed doesn't reveal agents' random numbers.
        chance = hashlib.blake2b(stored.id.encode(), digest_size=8)
        agent_seed = int.from_bytes(chance.digest()) & HIGHEST_SEED
        choices = Choices()
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
                game = continued(stored.beginning, stored.seed, agent_seed)
            for action in actions[int(game.state["decisions"]) :]:
                choices = self._play(game, action, choices)
        except (SkyenvError, OverflowError) as error:
            # No details: the error could reveal legal actions, and so a hand.
            raise PageError(
                "this game was stored by another version of skyenv and can't be replayed", 409
            ) from error
        return Position(game, tuple(actions), choices, stored.taken_back)

    def _play(self, game: Game, action: int, choices: Choices) -> Choices:
        """Play an action; return the choices of people up to it.

        An action reveals something if it draws a card or starts an auction. Bids, passing and
        building stops are public.
        """
        seat, step = game.seat, int(game.state["decisions"])
        is_choice = game.mask.sum() > 1 and not is_incomplete(game.state)
        events = game.play(action)
        if seat is None or not self.is_human(seat):
            return choices._replace(since=step + 1)
        made, since = choices
        if made and made[-1][1] != seat:
            since = step
        is_silent = action < PASS or BUILD <= action < STOP
        if not is_silent or {event["event"] for event in events} - _REVEALS_NOTHING:
            since = step + 1
        return Choices((*made, (step, seat)) if is_choice else made, since)

    @property
    def game(self) -> Game:
        """The game; read-only."""
        return self.position.game

    @property
    def step(self) -> int:
        """Actions played so far."""
        return len(self.position.actions)

    def is_human(self, seat: int | None) -> bool:
        """Return whether a person plays a seat now."""
        return seat is not None and seat >= 0 and self.stored.agents[seat] == HUMAN

    @property
    def has_humans(self) -> bool:
        """Whether people play this game."""
        return HUMAN in self.stored.agents

    @property
    def agent_to_move(self) -> str | None:
        """Return the name of the agent to act; None if a person is to act, or the game is over."""
        seat = self.game.seat
        if self.lesson is not None and not self.lesson.answer:
            return None
        return None if seat is None or self.is_human(seat) else self.stored.agents[seat]

    # ---- views ----

    def viewer(self, link: Link) -> int | None:
        """Return the seat whose view a link shows, PUBLIC, or None: everything, in a game without
        people.
        """
        return link.seat if link.seat is not None else PUBLIC if self.has_humans else None

    def seats_at(self, screen: str | None) -> list[int]:
        """Return the seats that people play at one shared screen; empty for a single seat."""
        seats = [
            link.seat
            for link in self.links
            if screen and link.screen == screen and link.seat is not None
        ]
        return seats if len(seats) > 1 else []

    def is_covered(self, link: Link) -> bool:
        """Return whether the curtain is down for a seat, so that another player at the same screen
        can't see its cards.
        """
        return (
            link.seat in self.seats_at(link.screen)
            and self.lifted.get(str(link.screen)) != link.seat
        )

    def check_uncovered(self, link: Link) -> None:
        """Check that the seat's own person has the screen.

        Raises:
            PageError: the curtain is down.
        """
        if self.is_covered(link):
            raise PageError("the curtain is down: another player has the device", 409)

    def check_paced(self, link: Link) -> None:
        """Check that a link may change the agents' pace.

        Raises:
            PageError: the link is a spectator's, and its browser hasn't made the game.
        """
        if link.seat is None and self.stored.owner != link.browser:
            raise PageError("only players can change the pace", 403)

    def lift(self, link: Link) -> None:
        """Lift the curtain for a seat; lower it for the others at its screen.

        Raises:
            PageError: another player at that screen is to act.
        """
        seats = self.seats_at(link.screen)
        if self.game.seat != link.seat and self.game.seat in seats:
            raise PageError("another player at this screen is to act", 409)
        if link.seat in seats:
            self.lifted[str(link.screen)] = int(str(link.seat))

    def after(self, step: int) -> tuple[Game, int]:
        """Return the next position after `step` actions, and the number of later ones.

        Returns:
            A game, read-only; the current one, and 0, if there is no other.
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
        """The lesson's progress; None for an ordinary game."""
        if self.stored.agents != tutorial.AGENTS:
            return None
        return tutorial.Lesson(self.position.actions)

    def chosen(self, seat: int | None, actions: Sequence[int], step: int) -> Position:
        """Return the position after a person's choice.

        Args:
            seat: the person's seat.
            actions: the choice: one action, two cards taken, or the cards of a bid and its end. No
                other sequences: the answer to a later action could show what the first revealed.
            step: number of actions played in the position that the person saw, so that a late or
                second click does nothing.

        Raises:
            PageError: it isn't this seat's turn, the game has changed since `step`, the actions are
                no single choice, or the lesson expects another one.
            IllegalActionError: an action isn't legal.
        """
        if self.game.seat is None:
            raise PageError("the game is over", 409)
        if seat != self.game.seat or not self.is_human(seat):
            raise PageError(f"it is not your turn; {seat_name(self.game.seat)} is to act", 409)
        if step != self.step:
            raise PageError("the position has changed; choose again", 409)
        if self.lesson is not None:
            self.lesson.check(actions)
        is_bid = [BID <= action < BID_DONE for action in actions]
        is_taking = all(TAKE <= action < MOVE for action in actions)
        is_whole = is_taking or (all(is_bid[:-1]) and actions[-1] == BID_DONE)
        if not actions or not (is_whole or len(actions) == 1):
            raise PageError(
                "a choice must be one action, two cards taken, or a bid's cards and its end"
            )
        return self.played(actions)

    def played(self, actions: Sequence[int]) -> Position:
        """Return the position after some actions.

        Raises:
            IllegalActionError: one of them isn't legal.
        """
        before = self.position
        game, choices = before.game.copy(), before.choices
        for action in actions:
            choices = self._play(game, action, choices)
        return replace(before, game=game, actions=(*before.actions, *actions), choices=choices)

    def can_undo(self, seat: int | None) -> bool:
        """Return whether the seat can take back its last choice: one that has revealed nothing, or
        any choice of the only person in a game against agents.
        """
        made, since = self.position.choices
        if not made or made[-1][1] != seat or self.game.is_over or self.lesson is not None:
            return False
        return made[-1][0] >= since or self.stored.agents.count(HUMAN) == 1

    def undo(self, seat: int | None) -> Position:
        """Return the position before a seat's last choice.

        Chance stays the same: the same actions bring the same cards and the same answers of agents.

        Raises:
            PageError: there is nothing to take back.
        """
        if not self.can_undo(seat):
            raise PageError(
                "there is nothing to take back: only your own last move, if it has revealed no "
                "card or you play alone against agents",
                409,
            )
        made, since = self.position.choices
        step = made[-1][0]
        return replace(self.back_to(step), taken_back=self.position.taken_back + (step < since))

    def back_to(self, step: int) -> Position:
        """Return the position after the first `step` actions."""
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
            game.events = []  # both are prefixes of the same game: lengths suffice
            self._positions.append((self.step, len(self.game.events), game))
        for screen, seat in list(self.lifted.items()):  # the curtain for another seat to act
            if self.game.seat != seat and self.game.seat in self.seats_at(screen):
                del self.lifted[screen]

    # ---- names and records ----

    def names(self, seat: int | None = None) -> list[str]:
        """Return the players' names, as a seat sees them."""
        return self.stored.names(self.links, seat)

    def record(self, names: Sequence[str] | None = None) -> str:
        """Return the game's record, with people's `names`, of all seats. Without them it says how
        many decisions people took back after they had revealed something.

        Raises:
            PageError: the game isn't over; a record contains every hidden card.
        """
        if not self.game.is_over and self.has_humans:
            raise PageError(
                "the record is available when the game is over, as it contains every hidden card",
                403,
            )
        taken_back = self.position.taken_back
        back = f" ({counted(taken_back, 'decision')} taken back)" if taken_back else ""
        people = names or [HUMAN + back] * self.stored.players
        kinds = zip(self.stored.agents, people, strict=True)
        return self.game.to_record([name if kind == HUMAN else kind for kind, name in kinds])
