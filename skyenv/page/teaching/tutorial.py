"""The lesson: a fixed deal for two and a fixed line of play, with what is said at each of the
person's decisions.

Nothing here plays a game: all of it is made of the actions that have been played so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from skyenv.page.errors import PageError
from skyenv.page.storage import HUMAN
from skyenv.rules.actions import ACTION_NUMBERS, BID, BID_DONE, MOVE, TAKE

PLAYERS: Final = 2
SIDE: Final = "front"
SEED: Final = 74
TEACHER: Final = "teacher"
"""Who sits on the other seat; no agent that can be chosen."""
AGENTS: Final = (HUMAN, TEACHER)
"""Who sits where: a game of these is a lesson."""


@dataclass(frozen=True)
class Beat:
    """A choice of the person's, which may be several actions, and what the teacher answers.

    Attributes:
        title: the chapter of the lesson.
        text: what has happened, and why it matters.
        todo: what to do now.
        rule: the id of the rule to read.
        names: the actions, by their names.
        reply: what the teacher plays then.
    """

    title: str
    text: str
    todo: str
    rule: str
    names: tuple[str, ...]
    reply: tuple[str, ...] = ()


BEATS: Final = (
    Beat(
        "Your first skyscraper",
        "The city has seven districts, each a ring of five plots. A skyscraper earns points by the "
        "businesses on the two"
        " plots beside it. The coin on a plot shows what one skyscraper scores there. Times Square "
        "(TSQ) has a perfumery on"
        " violet, so its neighbours show 2.",
        "Place your first skyscraper on the brown plot of TSQ.",
        "SET-8",
        ("plot TSQ brown",),
        ("plot TSQ green", "plot E42 brown"),
    ),
    Beat(
        "Your first skyscraper",
        "The teacher has placed both of his. He stands on the other side of the perfumery, and in "
        "E42. Your second one goes"
        " to another district than your first.",
        "Place your second skyscraper on the gray plot of W42.",
        "SET-7",
        ("plot W42 gray",),
    ),
    Beat(
        "Option A: build up",
        "Your turn. You choose one of four options. To build anything you need skyscrapers in your "
        "supply and cards to bid"
        " with, and option A brings both.",
        "Choose option A: three skyscrapers for your supply.",
        "TURN-2",
        ("option A",),
    ),
    Beat(
        "Option A: build up",
        "Now two coloured cards from the open stacks, of two different colours. The colour decides "
        "where you may bid, and the"
        " value what a bid is worth. Low cards build more: a 4 allows 3 skyscrapers, a 5 allows 2, "
        "a 6 only 1.",
        "Take the green card, then the brown one.",
        "TURN-4",
        ("take green", "take brown"),
    ),
    Beat(
        "Commissioners",
        "Every turn ends with a move of a commissioner, white or beige. Where they walk, there "
        "will be auctions. Leaving a"
        " district a commissioner drops a marker: this district will be auctioned when he comes "
        "home.",
        "Move the white commissioner to W34: click him, then the place.",
        "MOVE-1",
        ("move white W34",),
        ("option B perfumery", "plot TSQ gray", "take violet", "take brown", "move white TSQ"),
    ),
    Beat(
        "Option B: a business",
        "The teacher has used option B: a perfumery on the gray plot of TSQ. He has two "
        "perfumeries beside him now, but that"
        " is one type only, so he still gets 2. You want two different types beside you.",
        "Choose option B with the boutique, from the framed set of the supply row.",
        "BUS-1",
        ("option B boutique",),
    ),
    Beat(
        "Option B: a business",
        "A business goes on any plot that is empty or has one business. Watch the coin on your own "
        "plot.",
        "Place the boutique on the orange plot of TSQ, right beside you.",
        "BUS-2",
        ("plot TSQ orange",),
    ),
    Beat(
        "Option B: a business",
        "Perfumery and boutique, two types: your skyscraper now scores 3. One tile was left in the "
        "set; it went to the park"
        " area by itself, and the next set is current.",
        "Two cards again: green, then gray.",
        "BUS-3",
        ("take green", "take gray"),
    ),
    Beat(
        "Option B: a business",
        "The white commissioner stands in TSQ, and you want him there on your next turn. So you "
        "move the other one.",
        "Move the beige commissioner to E34.",
        "MOVE-2",
        ("move beige E34",),
        ("option A", "take green", "take gray", "move beige E42"),
    ),
    Beat(
        "Option D: scoring",
        "The white commissioner is still in TSQ. A district with a commissioner in it can be "
        "scored: everybody with"
        " skyscrapers there gets points. You would get 3, the teacher 2.",
        "Choose option D: click TSQ.",
        "SCO-2",
        ("option D TSQ",),
    ),
    Beat(
        "Option D: scoring",
        "You have 3 VP. Option D brings two black cards instead of coloured ones; nobody sees "
        "them. Black cards fit every"
        " bid, but never as its first card. White has markers to leave: W34 has one already, and "
        "TSQ gets one now.",
        "Move the white commissioner to W52.",
        "MOVE-2",
        ("move white W52",),
        ("option C", "move white CENTRAL_PARK", "take violet", "take orange", "move beige E52"),
    ),
    Beat(
        "Option C: an extra move",
        "The teacher has moved white to Central Park. From there he can only go home, and that "
        "starts the auctions of W34,"
        " TSQ and W52. Who does it begins each of them. Option C brings a black card and a move at "
        "once.",
        "Choose option C.",
        "TURN-7",
        ("option C",),
    ),
    Beat(
        "Option C: an extra move",
        "You have many cards and six skyscrapers ready. It is a good moment for auctions.",
        "Move the white commissioner home to City Hall.",
        "MOVE-4",
        ("move white CITY_HALL",),
    ),
    Beat(
        "Auction: bidding",
        "W34 comes first, as white was there first. You don't stand there, so you bid in the "
        "colour of an empty plot, and if"
        " you win, you build on that plot. The gray plot lies beside a business. You have two gray "
        "cards, both 4s.",
        "Bid a gray 4: click the card in your hand, then end the bid.",
        "AUC-5",
        ("bid gray 4", "bid done"),
        ("bid gray 5", "bid black 4", "bid done"),
    ),
    Beat(
        "Auction: Alea",
        "The teacher has bid 9. With two players Alea bids as well: black cards were turned up for "
        "her until a value came"
        " twice. Two 5s, so 10. She bids only once. You may raise: your cards on the table stay, "
        "and you add to them. With 4s"
        " alone you may build three.",
        "Add two black 4s, then end the bid: 12.",
        "ALEA-3",
        ("bid black 4", "bid black 4", "bid done"),
        ("pass",),
    ),
    Beat(
        "Auction: building",
        "Nobody goes higher: you win, and pay all three cards. Your highest card is a 4, so you "
        "may build up to three from"
        " your supply, on the gray plot.",
        "Build three skyscrapers.",
        "AUC-10",
        ("build 3",),
    ),
    Beat(
        "Auction: a full district",
        "Now TSQ. You stand on brown, so you may bid in brown alone. All five plots are taken "
        "here. Whoever wins a full"
        " district may build on his plot, or declare a building stop.",
        "Bid a brown 4 and a brown 5, then end the bid: 9.",
        "AUC-5",
        ("bid brown 4", "bid brown 5", "bid done"),
        ("pass",),
    ),
    Beat(
        "A building stop",
        "The teacher has passed, and Alea's 8 was not enough. Building would often be better, but "
        "you should have seen a"
        " building stop: you get 1 VP for each skyscraper here, others half of what the district "
        "would score for them, and"
        " the district is gone for good. The second stop of a game ends it.",
        "Declare a building stop.",
        "STOP-1",
        ("stop",),
    ),
    Beat(
        "Auction: leave it",
        "You got 2 VP, the teacher 1. Next is W52. You needn't win everything, and cards that you "
        "keep can be bid elsewhere.",
        "Pass.",
        "AUC-7",
        ("pass",),
        ("pass",),
    ),
    Beat(
        "The park area",
        "Nobody bid, so Alea won W52. She builds where a skyscraper would score most; two plots "
        "tied, so one on each. The"
        " park area is always last. The first bid there may be of any colour, and all others must "
        "follow it. What you build"
        " in the park is scored once, at the end.",
        "Bid a green 5 and a black 4, then end the bid: 9.",
        "AUC-12",
        ("bid green 5", "bid black 4", "bid done"),
        ("pass",),
    ),
    Beat(
        "The park area",
        "Alea's 8 was too low again. Your highest card is a 5, so you may build two.",
        "Build two skyscrapers in the park area.",
        "AUC-10",
        ("build 2",),
    ),
    Beat(
        "The turn goes on",
        "The auctions are over, and your turn goes on with its second and third action. The cards "
        "that were paid lie under"
        " their stacks and will come back.",
        "Take brown, then gray.",
        "AUC-8",
        ("take brown", "take gray"),
    ),
    Beat(
        "The turn goes on",
        "Beige has markers in E34 and E42 and stands in E52. If you send him to the park, somebody "
        "will start his auctions soon.",
        "Move the beige commissioner to Central Park.",
        "MOVE-4",
        ("move beige CENTRAL_PARK",),
        ("option B perfumery", "plot E42 orange", "take brown", "take orange", "move white E34"),
    ),
)
"""The whole lesson."""

END_TITLE: Final = "The lesson is over"
END_TEXT: Final = (
    "The teacher has placed the third business. That would have brought 4 VP to everybody in three "
    "districts; the stopped TSQ"
    " counts for nothing, so nobody got any. The game ends with the 12th business or the second "
    "building stop. Then every"
    " district is scored once more, and the park area. Most VP wins."
)
END_RULE: Final = "END-1"


def _numbers(names: Sequence[str]) -> list[int]:
    return [ACTION_NUMBERS[name] for name in names]


def line() -> list[int]:
    """All actions of the lesson, the person's and the teacher's."""
    return [action for beat in BEATS for action in _numbers((*beat.names, *beat.reply))]


@dataclass(frozen=True)
class Lesson:
    """Where a lesson stands.

    Args:
        played: the game's actions so far, and those of an unfinished bid behind them: the first
            ones of :func:`line`.
    """

    played: tuple[int, ...]

    def _place(self) -> tuple[int, int]:
        """The number of the beat under way, and how many of its actions have been played, replies
        included.
        """
        left = len(self.played)
        for number, beat in enumerate(BEATS):
            if left < len(beat.names) + len(beat.reply):
                return number, left
            left -= len(beat.names) + len(beat.reply)
        return len(BEATS), 0

    @property
    def wanted(self) -> list[int]:
        """What the person is to play now, one after the other; nothing while the teacher is to
        move, and at the end.
        """
        number, done = self._place()
        return _numbers(BEATS[number].names[done:]) if number < len(BEATS) else []

    @property
    def answer(self) -> list[int]:
        """What the teacher plays now: one choice, or nothing."""
        number, done = self._place()
        if number == len(BEATS) or done < len(BEATS[number].names):
            return []
        left = _numbers(BEATS[number].reply[done - len(BEATS[number].names) :])
        if BID <= left[0] < BID_DONE:
            return left[: left.index(BID_DONE) + 1]
        return left[:2] if TAKE <= left[0] < MOVE else left[:1]

    @property
    def is_over(self) -> bool:
        """Whether nothing is left of it."""
        return self._place()[0] == len(BEATS)

    def check(self, actions: Sequence[int]) -> None:
        """Refuse everything but what the lesson wants.

        Raises:
            PageError: the person has chosen something else.
        """
        if self.is_over:
            raise PageError("the lesson is over: play on from here, or begin a game")
        if list(actions) != self.wanted[: len(actions)]:
            todo = BEATS[self._place()[0]].todo
            raise PageError(
                f"In this lesson: {todo[0].lower()}{todo[1:]} Leave the lesson to play freely."
            )

    def begin_of_last(self) -> int:
        """How many actions are left when the beat under way is begun anew, or if it has just begun,
        the one before.
        """
        number, done = self._place()
        last = number if done else max(number - 1, 0)
        return sum(len(beat.names) + len(beat.reply) for beat in BEATS[:last])

    def payload(self) -> dict[str, Any]:
        """What the page shows."""
        number, done = self._place()
        told = BEATS[number] if number < len(BEATS) else Beat(END_TITLE, END_TEXT, "", END_RULE, ())
        waits = not self.is_over and done >= len(told.names)
        return {
            "number": number,
            "steps": len(BEATS),
            "title": told.title,
            "text": told.text,
            "todo": "" if waits else told.todo,
            "rule": told.rule,
            "wanted": self.wanted,
            "waits": waits,
            "over": self.is_over,
        }
