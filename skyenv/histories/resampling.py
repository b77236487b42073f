"""Determinizations of whole histories, consistent with everything that a seat has seen (INF-2).

Hidden cards are resampled where they entered the game: the others' first hands and the black cards
that they drew. Everything seen stays true. A coloured card that its owner has laid down is known. A
black card laid down is one of those that the seat had drawn by then, with probabilities given the
cards laid down before it. The cards of the black stack between two shuffles are known (AUC-9: at
first all of them, then those that lay face up). So a determinization is consistent with all
shuffles, not only with the last one as in :func:`skyenv.engine.knowledge.resample`. Its
distribution is slightly inexact after several cards were laid down since a shuffle: later cards
don't change the assignment of earlier ones.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

import numpy as np

from skyenv.checks import check_seat
from skyenv.engine.simulator import SETUP
from skyenv.errors import OptionError
from skyenv.histories.states import History, HistoryStep, game_of
from skyenv.rules.actions import BID, BID_DONE
from skyenv.rules.components import (
    BLACK,
    LOWEST_CARD,
    NUM_COLOURS,
    NUM_RANKS,
)
from skyenv.rules.event_log import EVENT_ALEA, EVENT_BLACK, EVENT_SHUFFLE
from skyenv.rules.state import NONE

# Maximum number of rejected samples in a row: a bid that can't end, or cards laid down that can't
# have been drawn.
MAX_TRIES: Final = 100_000
# Number of visible cards, the last chance outcomes in the setup of a whole game.
TOPS: Final = NUM_COLOURS
FIRST_BLACK: Final = BID + BLACK * NUM_RANKS


@dataclass(frozen=True)
class Draw:
    """A black card that another seat drew, hidden from this seat.

    Attributes:
        seat: the seat that drew it.
        stack: number of shuffles before.
        step, place: its place in the history: index of the step, and in the step's chance.
    """

    seat: int
    stack: int
    step: int
    place: int


class HiddenCards:
    """A seat's knowledge of a state's hidden cards, common to all determinizations.

    Attributes:
        seat: the seat.
        draws: others' black cards, in order of drawing.
        shown: the black cards laid down, in order: seat, rank, number of draws before.
        stacks: counts by rank of the black cards that were face down after each shuffle, less those
            that the seat has seen drawn.
        unseen: [colour] → counts by rank of the coloured cards that the seat can't locate.
        places: where the hidden cards of each seat and colour stand in the setup's chance (SET-1 to
            SET-5).
    """

    def __init__(self, state: History, seat: int) -> None:
        self.state, self.seat = state, seat
        seats = range(state.table.options.num_players)
        self.others = [other for other in seats if other != seat]
        self.draws: list[Draw] = []
        self.shown: list[tuple[int, int, int]] = []
        setup, *steps = state.steps
        first, now = game_of(setup.record)[0], game_of(state.record)[0]
        place = len(setup.chance) - TOPS if state.task is None else len(setup.chance)
        place -= int(first["unknown"].sum())
        self.places: dict[tuple[int, int], range] = {}
        for owner, colour in product(seats, range(NUM_COLOURS + 1)):
            end = place + int(first["unknown"][owner, colour])
            self.places[owner, colour], place = range(place, end), end
        own = (now["hand"] - now["known"])[seat, :NUM_COLOURS]
        self.unseen: list[list[int]] = (now["unlocated"][:NUM_COLOURS] - own).tolist()
        hidden = (first["hand"] - first["known"])[:, BLACK].sum(axis=0)
        black = first["face_down"][BLACK] + hidden
        self.stacks: list[list[int]] = [black.tolist()]
        for owner in seats:
            for place in self.places[owner, BLACK]:
                self._drawn(owner, 0, place, setup.chance[place])
        for number, step in enumerate(steps, 1):
            earlier = game_of(state.steps[number - 1].record)[0]
            if FIRST_BLACK <= step.action < BID_DONE:
                self._read_bid(earlier, step)
            else:
                self._read_events(number, earlier, step)

    def _drawn(self, seat: int, step: int, place: int, rank: int) -> None:
        if seat == self.seat:
            self.stacks[-1][rank] -= 1
        else:
            self.draws.append(Draw(seat, len(self.stacks) - 1, step, place))

    def _read_bid(self, before: np.void, step: HistoryStep) -> None:
        after = game_of(step.record)[0]
        was_hidden = before["unknown"][step.seat, BLACK] > after["unknown"][step.seat, BLACK]
        if was_hidden and step.seat != self.seat:
            self.shown.append((step.seat, step.action - FIRST_BLACK, len(self.draws)))

    def _read_events(self, number: int, before: np.void, step: HistoryStep) -> None:
        cards = 0
        for row in step.rows:
            if row[0] == EVENT_BLACK:
                self._drawn(row[1], number, cards, row[2] - LOWEST_CARD)
                cards += 1
            elif row[0] == EVENT_SHUFFLE:
                self.stacks.append(before["black_face_up"].tolist())
            elif row[0] == EVENT_ALEA:
                # The line of a shuffle stands before that of her cards, though some of them may
                # have been turned before it.
                left = int(before["face_down"][BLACK].sum())
                for turned, value in enumerate(row[2 : 2 + row[1]]):
                    is_older = turned < left < row[1]
                    self.stacks[-2 if is_older else -1][value - LOWEST_CARD] -= 1

    def deal_black(self, generator: random.Random) -> list[int] | None:
        """Return a rank for each of the draws, followed by the ranks of the black cards that are
        left face down.

        None: a card laid down contradicts the assignment of earlier ones.
        """
        left = [list(counts) for counts in self.stacks]
        ranks = [NONE] * len(self.draws)
        for seat, rank, draws in self.shown:
            places = [i for i in range(draws) if ranks[i] == NONE and self.draws[i].seat == seat]
            stacks = [left[self.draws[i].stack] for i in places]
            weights = [stack[rank] / sum(stack) for stack in stacks]
            if not any(weights):
                return None
            (place,) = generator.choices(places, weights)
            ranks[place] = rank
            left[self.draws[place].stack][rank] -= 1
        bags = [shuffled(counts, generator) for counts in left]
        for i, draw in enumerate(self.draws):
            if ranks[i] == NONE:
                ranks[i] = bags[draw.stack].pop()
        return ranks + bags[-1]

    def deal(
        self, ranks: list[int], generator: random.Random
    ) -> tuple[bytes, tuple[HistoryStep, ...]]:
        """Return the record with all hidden cards resampled, and the steps that lead there: the
        real ones with other hidden cards.

        Args:
            ranks: as :meth:`deal_black` returns them.
            generator: deals the coloured cards.
        """
        table, steps = self.state.table, list(self.state.steps)
        games, chance = game_of(self.state.record).copy(), {0: list(steps[0].chance)}
        hand, face_down = games[0]["hand"], games[0]["face_down"]
        hand[self.others] = games[0]["known"][self.others]
        for colour, counts in enumerate(self.unseen):
            bag = shuffled(counts, generator)
            for seat in self.others:
                if games[0]["unknown"][seat, colour]:
                    chance[0][self.places[seat, colour][0]] = bag[-1]
                    hand[seat, colour, bag.pop()] += 1
            face_down[colour] = np.bincount(bag, minlength=NUM_RANKS)
        face_down[BLACK] = np.bincount(ranks[len(self.draws) :], minlength=NUM_RANKS)
        for draw, rank in zip(self.draws, ranks, strict=False):
            hand[draw.seat, BLACK, rank] += 1
            chance.setdefault(draw.step, list(steps[draw.step].chance))[draw.place] = rank
        for seat, rank, _ in self.shown:
            hand[seat, BLACK, rank] -= 1
        for number, decided in chance.items():
            steps[number] = _with_chance(steps[number], tuple(decided))
        table.simulator.play_unchecked(table.start.record, SETUP, chance[0])
        steps[0] = replace(steps[0], record=table.simulator.position())
        steps[-1] = replace(steps[-1], record=games.tobytes())
        return games.tobytes(), tuple(steps)


def shuffled(counts: Sequence[int], generator: random.Random) -> list[int]:
    """Return cards in random order: ranks, given their counts."""
    bag = [rank for rank in range(NUM_RANKS) for _ in range(counts[rank])]
    generator.shuffle(bag)
    return bag


def _with_chance(step: HistoryStep, chance: tuple[int, ...]) -> HistoryStep:
    """Return a step with other black cards; no other outcome in it depends on them."""
    ranks = iter(chance)
    rows = [
        [*row[:2], next(ranks) + LOWEST_CARD, *row[3:]] if row[0] == EVENT_BLACK else row
        for row in step.rows
    ]
    return replace(step, chance=chance, rows=rows)


def resampled(state: History, seat: int, uniform: Callable[[], float]) -> History:
    """Return a determinization of a state, which a seat can't tell from the real one.

    Args:
        state: a state in which a seat is to act or the game is over.
        seat: the seat, 0 … N−1.
        uniform: returns a number in [0, 1), the only source of randomness; it is called once.

    Raises:
        OptionError: the state is a chance node, or there is no such seat.
    """
    if state.pending is not None:
        raise OptionError(
            "determinizations are drawn where a seat is to act or the game is over, not while "
            "chance decides"
        )
    seat = check_seat(seat, state.table.options.num_players, "player")
    if seat not in state.hidden:
        state.hidden[seat] = HiddenCards(state, seat)
    cards: HiddenCards = state.hidden[seat]
    generator, game = random.Random(int(uniform() * 2**53)), state.table.simulator
    for _ in range(MAX_TRIES):
        ranks = cards.deal_black(generator)
        if ranks is not None:
            record, steps = cards.deal(ranks, generator)
            game.rewind(record)
            # A bid under way must be able to end.
            if state.is_over or game.legal_actions:
                return History.settled(state.table, game, steps)
    raise OptionError(f"found no determinization for seat {seat} in {MAX_TRIES} tries")
