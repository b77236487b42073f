"""INF-2: determinizations with their whole pasts, which a seat can't tell from the real one.

What a seat can't know is drawn anew where it came into the game: the others' first hands and the
black cards that they drew. All that was seen stays true of it. A coloured card that its owner has
laid down is known. A black card that was laid down is one of those that the seat had drawn by then,
each of them as likely as it can have been that card, by what was laid down before it. Between two
shuffles of the black stack, its cards are known (AUC-9: at first all of them, then those that lay
face up), so a determinization keeps to what a seat that remembers everything can conclude, from all
shuffles and not from the last one alone as :func:`skyenv.engine.knowledge.resample` does. In return, where
several cards were laid down after a shuffle, its chances aren't quite exact: what was laid down
later doesn't change what an earlier card is taken to have been.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from skyenv.checks import check_seat
from skyenv.engine.game import SETUP
from skyenv.errors import OptionError
from skyenv.histories.positions import Position, Step, game_of
from skyenv.rules.actions import BID, BID_DONE
from skyenv.rules.components import (
    BLACK,
    LOWEST_CARD,
    NUM_COLOURS,
    NUM_RANKS,
    STARTING_BLACK_CARDS,
)
from skyenv.rules.state import NONE
from skyenv.rules.tape import EVENT_ALEA, EVENT_BLACK, EVENT_SHUFFLE

MOST_TRIES: Final = 100_000
"""So many tries in a row in which a seat's open bid can't end, or what was laid down can't have
been drawn, are too many.
"""
FIRST_HAND: Final = NUM_COLOURS + STARTING_BLACK_CARDS
FIRST_BLACK: Final = BID + BLACK * NUM_RANKS


@dataclass(frozen=True)
class Draw:
    """A black card that another seat drew unseen: who, between which shuffles, and where it stands
    in the past.
    """

    seat: int
    stack: int
    step: int
    place: int  # in the step's chance


@dataclass(frozen=True)
class Shown:
    """A black card that nobody knew of and that its owner laid down: who, between which shuffles,
    after how many draws.
    """

    seat: int
    rank: int
    draws: int
    stack: int


class Plan:
    """What a seat knows of the hidden cards of a position; the same for all determinizations that
    are drawn for it.

    Attributes:
        seat: the seat.
        draws: others' black cards, in the order in which they were drawn.
        shown: those of them that were laid down, in order.
        stacks: counts by rank of the black cards that were face down after each shuffle, less those
            that the seat has seen drawn.
        unseen: [colour] → counts by rank of the coloured cards that the seat can't locate.
    """

    def __init__(self, position: Position, seat: int) -> None:
        self.position, self.seat = position, seat
        self.draws: list[Draw] = []
        self.shown: list[Shown] = []
        self.stacks: list[list[int]] = []
        game = game_of(position.record)[0]
        self.unseen = (
            game["unlocated"][:NUM_COLOURS] - (game["hand"] - game["known"])[seat, :NUM_COLOURS]
        )
        self._read_setup(position.steps[0])
        for number in range(1, len(position.steps)):
            self._read_step(number, position.steps[number - 1], position.steps[number])

    def _read_setup(self, step: Step) -> None:
        first = game_of(step.record)[0]
        self.stacks.append(
            (first["face_down"][BLACK] + first["hand"][:, BLACK].sum(axis=0)).tolist()
        )
        for seat in range(self.position.num_players):
            for place in range(
                first_card(self.position, seat) + NUM_COLOURS,
                first_card(self.position, seat) + FIRST_HAND,
            ):
                self._drawn(seat, 0, place, step.chance[place])

    def _drawn(self, seat: int, step: int, place: int, rank: int) -> None:
        if seat == self.seat:
            self.stacks[-1][rank] -= 1
        else:
            self.draws.append(Draw(seat, len(self.stacks) - 1, step, place))

    def _read_step(self, number: int, before: Step, step: Step) -> None:
        if FIRST_BLACK <= step.action < BID_DONE:
            hidden = (
                game_of(before.record)["unknown"][0, step.seat, BLACK]
                - game_of(step.record)["unknown"][0, step.seat, BLACK]
            )
            if hidden and step.seat != self.seat:
                self.shown.append(
                    Shown(
                        step.seat, step.action - FIRST_BLACK, len(self.draws), len(self.stacks) - 1
                    )
                )
            return
        cards = 0
        left = (
            int(game_of(before.record)["face_down"][0, BLACK].sum()) if len(step.rows) > 1 else NONE
        )
        for row in step.rows:
            if row[0] == EVENT_BLACK:
                self._drawn(row[1], number, cards, row[2] - LOWEST_CARD)
                cards += 1
            elif row[0] == EVENT_SHUFFLE:
                self.stacks.append(game_of(before.record)["black_face_up"][0].tolist())
            elif row[0] == EVENT_ALEA:
                # The line of a shuffle stands before that of her cards, though some of them may
                # have been turned before it.
                ranks = [value - LOWEST_CARD for value in row[2 : 2 + row[1]]]
                for turned, rank in enumerate(ranks):
                    is_older = len(ranks) > left >= 0 and turned < left
                    self.stacks[-2 if is_older else -1][rank] -= 1


def first_card(position: Position, seat: int) -> int:
    """Where a seat's first hand begins in the setup's chance (SET-1 to SET-5)."""
    return (14 if position.side == "front" else 7) + 20 + FIRST_HAND * seat


def resampled(position: Position, seat: int, uniform: Callable[[], float]) -> Position:
    """A determinization of a position: one that a seat can't tell from the real one.

    Args:
        position: where a seat is to act, or the game is over.
        seat: who can't tell; 0 … N−1.
        uniform: gives a number in [0, 1), the only source of chance; it is asked once.

    Raises:
        OptionError: chance is to decide in the position, or there is no such seat.
    """
    if position.pending is not None:
        raise OptionError(
            "determinizations are drawn where a seat is to act or the game is over, not while "
            "chance decides"
        )
    seat = check_seat(seat, position.num_players, "player")
    if seat not in position.plans:
        position.plans[seat] = Plan(position, seat)
    plan: Plan = position.plans[seat]
    generator = random.Random(int(uniform() * 2**53))
    for _ in range(MOST_TRIES):
        ranks = deal_black(plan, generator)
        if ranks is not None:
            record, first = hidden_anew(plan, ranks, generator)
            position.table.game.rewind_unchecked(record)
            determinization = Position(
                position.table, record, past(plan, ranks, first, record), None, (), []
            )
            if (
                determinization.legal or position.is_over
            ):  # a card laid down promises that its bid can end
                return determinization
    raise OptionError(f"found no determinization for seat {seat} in {MOST_TRIES} tries")


def deal_black(plan: Plan, generator: random.Random) -> list[int] | None:
    """A rank for each of the plan's draws, followed by the ranks of the black cards that are left
    face down.

    None: what was laid down doesn't go with the cards that were assumed to have been laid down
    before it.
    """
    left = [list(counts) for counts in plan.stacks]
    ranks = [NONE] * len(plan.draws)
    hidden = [sum(counts) for counts in left]
    for card in plan.shown:
        places = [
            i for i in range(card.draws) if ranks[i] == NONE and plan.draws[i].seat == card.seat
        ]
        weights = [
            left[plan.draws[i].stack][card.rank] / hidden[plan.draws[i].stack] for i in places
        ]
        if not any(weights):
            return None
        (place,) = generator.choices(places, weights)
        ranks[place] = card.rank
        left[plan.draws[place].stack][card.rank] -= 1
        hidden[plan.draws[place].stack] -= 1
    bags = [[rank for rank in range(NUM_RANKS) for _ in range(counts[rank])] for counts in left]
    for bag in bags:
        generator.shuffle(bag)
    for i, draw in enumerate(plan.draws):
        if ranks[i] == NONE:
            ranks[i] = bags[draw.stack].pop()
    return ranks + bags[-1]


def hidden_anew(
    plan: Plan, ranks: list[int], generator: random.Random
) -> tuple[bytes, npt.NDArray[np.int8]]:
    """The record with all hidden cards dealt anew, and the first hands: [seat, card colour] → rank
    of the coloured card.
    """
    games = game_of(plan.position.record).copy()
    game = games[0]
    hand, known, unknown, face_down = (
        game["hand"],
        game["known"],
        game["unknown"],
        game["face_down"],
    )
    setup = plan.position.steps[0].chance
    first = np.zeros((plan.position.num_players, NUM_COLOURS), np.int8)
    others = [other for other in range(plan.position.num_players) if other != plan.seat]
    bags = [
        [rank for rank in range(NUM_RANKS) for _ in range(counts[rank])]
        for counts in plan.unseen.tolist()
    ]
    for colour, bag in enumerate(bags):
        generator.shuffle(bag)
        for seat in range(plan.position.num_players):
            first[seat, colour] = setup[first_card(plan.position, seat) + colour]
        for seat in others:
            hand[seat, colour] = known[seat, colour]
            if unknown[seat, colour]:
                first[seat, colour] = bag.pop()
                hand[seat, colour, first[seat, colour]] += 1
        face_down[colour] = np.bincount(bag, minlength=NUM_RANKS)
    face_down[BLACK] = np.bincount(ranks[len(plan.draws) :], minlength=NUM_RANKS)
    for seat in others:
        hand[seat, BLACK] = known[seat, BLACK]
    for draw, rank in zip(plan.draws, ranks, strict=False):
        hand[draw.seat, BLACK, rank] += 1
    for card in plan.shown:
        hand[card.seat, BLACK, card.rank] -= 1
    return games.tobytes(), first


def past(
    plan: Plan, ranks: list[int], first: npt.NDArray[np.int8], record: bytes
) -> tuple[Step, ...]:
    """The steps that lead to a determinization: the real ones, with other cards where they were
    drawn unseen.
    """
    steps = list(plan.position.steps)
    changed: dict[int, list[int]] = {0: list(steps[0].chance)}
    for seat, hand in enumerate(first.tolist()):
        start = first_card(plan.position, seat)
        changed[0][start : start + NUM_COLOURS] = hand
    for draw, rank in zip(plan.draws, ranks, strict=False):
        changed.setdefault(draw.step, list(steps[draw.step].chance))[draw.place] = rank
    for number, chance in changed.items():
        steps[number] = (
            _setup_with(plan, chance) if number == 0 else _drawing(steps[number], chance)
        )
    last = steps[-1]
    steps[-1] = (
        Step(last.seat, last.action, last.chance, last.rows, record) if len(steps) > 1 else last
    )
    return tuple(steps)


def _drawing(step: Step, chance: list[int]) -> Step:
    """A step in which seats draw black cards, with other cards; nothing else is left to chance in
    it.
    """
    ranks = iter(chance)
    rows = [
        [*row[:2], next(ranks) + LOWEST_CARD, *row[3:]] if row[0] == EVENT_BLACK else row
        for row in step.rows
    ]
    return Step(step.seat, step.action, tuple(chance), rows, step.record)


def _setup_with(plan: Plan, chance: list[int]) -> Step:
    """The setup with other hands."""
    games = game_of(plan.position.steps[0].record).copy()
    hand, face_down = games[0]["hand"], games[0]["face_down"]
    face_down += hand.sum(axis=0, dtype=np.int8)
    hand[:] = 0
    for seat in range(plan.position.num_players):
        start = first_card(plan.position, seat)
        for place in range(FIRST_HAND):
            hand[seat, min(place, BLACK), chance[start + place]] += 1
    face_down -= hand.sum(axis=0, dtype=np.int8)
    return Step(NONE, SETUP, tuple(chance), [], games.tobytes())
