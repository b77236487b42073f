"""The game tree of a task's opening, built with the engine's `legal` and `apply`.

All actions are public; the only hidden information is the black cards in the hands. A node is
therefore a public position. Legal actions, which depend on the hand, are stored for every possible
hand of the seat to act. Deals and Alea's cards are correlated, so the tree has their joint
probabilities: one array for the deals and one for every set of cards that she turns up.
"""

from itertools import product
from math import comb, prod
from typing import Any, Final, NamedTuple

import numpy as np

from skyenv.array_types import AnyArray, Bool, Float64, Int8, Int64, RecordArray
from skyenv.engine.arrays import Arrays, as_words
from skyenv.engine.games import Games
from skyenv.engine.kernels import copy_game, play_row
from skyenv.engine.openings import openings
from skyenv.errors import OptionError
from skyenv.rules.actions import BID_DONE, NUM_ACTIONS, PASS
from skyenv.rules.compiling import entry_point, rule
from skyenv.rules.components import BLACK, MAX_PLAYERS, NUM_RANKS
from skyenv.rules.event_log import FORCED_CARD
from skyenv.rules.play import refresh_mask
from skyenv.rules.record import F64, I64, Array, Record, field, new_records
from skyenv.rules.state import (
    ALEA_WAITS,
    NONE,
    PHASE_OVER,
    GameRecord,
    new_games,
)

CHANCE: Final = MAX_PLAYERS
"""Kind of a node where Alea turns up cards; lower kinds are seats to act."""
LEAF: Final = CHANCE + 1
"""Kind of a node at the end."""
DEEPEST: Final = 120
"""Most actions from the root to a leaf."""
MAX_CHOICES: Final = 32
"""Most actions of a node, over all hands."""
MAX_SEATS: Final = 3
# Decimal places of payoffs: they are multiples of half the price of a card.
SMALLEST_PAYOFF: Final = 2


class TaskTree(NamedTuple):
    """A task's tree. Nodes are in the order of a depth-first walk: children after their parents.

    Attributes:
        kind: int8 (n,), the seat to act, CHANCE or LEAF.
        first: int64 (n + 1,), where each node's edges begin.
        child: int32 (e,), the node that an edge leads to.
        action: int16 (e,), the action of an edge; of CHANCE the set of cards.
        payoff: float64 (n, N), the seats' payoffs up to a node.
        cards: int8 (n,), the set of cards that Alea has turned up; NONE: none yet.
        numbers: int64 (3,), number of possible black hands of each seat; 1 for a missing third
            seat.
        joint: float64 (N, 1 + sets, own, first other, second other), the probabilities of the deals
            from the view of each seat; in row 1 + i, of a deal and Alea's set i together. Where a
            seat has fewer hands the rest is 0; with two seats there is one second other.
        legal: int64, in the order of nodes: for each hand of the seat to act, one bit per edge.
        first_legal: int64 (n + 1,), where a node's part of `legal` begins.
        block: int64 (n + 1,), where a node's part of a policy begins: for each edge a number for
            each hand of the seat to act.
    """

    kind: Any
    first: Any
    child: Any
    action: Any
    payoff: Any
    cards: Any
    numbers: Any
    joint: Any
    legal: Any
    first_legal: Any
    block: Any

    @property
    def places(self) -> tuple[Int64, Int64, Int64]:
        """Return the node, the hand and the edge of each number of a policy, int64 (p,) each."""
        node = np.repeat(np.arange(len(self.kind)), np.diff(self.block))
        place, hands = np.arange(len(node)) - self.block[node], self.numbers[self.kind[node]]
        return node, place % hands, self.first[node] + place // hands

    @property
    def deals(self) -> Float64:
        """Return `joint` indexed by seat, float64 (1 + sets, h₀, h₁, h₂)."""
        own, first, second = self.numbers
        return np.ascontiguousarray(self.joint[0, :, :own, :first, :second])


def hands_of(number: int, stock: AnyArray) -> Int8:
    """Return all hands of `number` cards from a `stock` (3,), int8 (h, 3): counts by value."""
    some = product(*(range(min(number, int(most)) + 1) for most in stock))
    return np.array([hand for hand in some if sum(hand) == number], np.int8)


def _alea_sets() -> dict[tuple[int, ...], list[tuple[int, ...]]]:
    """Return the sets of cards that Alea can turn up (ALEA-2), as counts by value, with their
    orders. She stops when a value appears for the second time.
    """
    sets: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for length in range(2, NUM_RANKS + 2):
        for order in product(range(NUM_RANKS), repeat=length):
            if len(set(order[:-1])) == length - 1 and order[-1] in order[:-1]:
                sets.setdefault(tuple(order.count(rank) for rank in range(NUM_RANKS)), []).append(
                    order
                )
    return sets


ALEA_SETS: Final = _alea_sets()
# An order of each set, int8 (sets, 4), filled up by NONE.
ALEA_ORDERS: Final = np.array(
    [(*orders[0], *[NONE] * (NUM_RANKS + 1 - len(orders[0]))) for orders in ALEA_SETS.values()],
    np.int8,
)


def joint_probabilities(hands: tuple[Int8, ...], stock: AnyArray) -> Float64:
    """Return the probability of every deal, alone and with each of Alea's sets; see
    :attr:`TaskTree.deals`.

    Args:
        hands: the possible hands of every seat.
        stock: int (3,), the unlocated cards by value.
    """
    players, most = len(hands), max(map(len, hands))
    last = most if players == MAX_SEATS else 1
    joint = np.zeros((players, 1 + len(ALEA_SETS), most, most, last))
    for deal in product(*(range(len(own)) for own in hands)):
        left, ways = stock.astype(np.int64), 1
        for own, index in zip(hands, deal, strict=True):
            taken = zip(left.tolist(), own[index].tolist(), strict=True)
            ways *= prod(comb(most, number) for most, number in taken)
            left = left - own[index]
        if ways == 0:
            continue
        sets = [sum(_chance_of(order, left) for order in orders) for orders in ALEA_SETS.values()]
        for seat in range(players):
            first, second = (*deal[:seat], *deal[seat + 1 :], 0)[:2]
            joint[seat, :, deal[seat], first, second] = ways * np.array([1, *sets])
    joint /= joint[0, 0].sum()
    return joint


def _chance_of(order: tuple[int, ...], stock: Int64) -> float:
    """Return the probability that cards are turned up in an order."""
    left, probability = stock.tolist(), 1.0
    for rank in order:
        probability *= left[rank] / max(sum(left), 1)
        left[rank] -= 1
    return probability


# ---- building ----


@rule
def give(game: GameRecord, seat: int, hands: Array, held: int, wanted: int) -> bool:
    """Replace the hand that a seat was dealt; return False, without a change, if the cards that it
    has shown contradict it.
    """
    for rank in range(NUM_RANKS):
        left = int(game.hand[seat, BLACK, rank]) + int(hands[wanted, rank]) - int(hands[held, rank])
        if left < game.known[seat, BLACK, rank]:
            return False
    for rank in range(NUM_RANKS):
        game.hand[seat, BLACK, rank] += hands[wanted, rank] - hands[held, rank]
    return True


class FrameRecord(Record):
    """The state of a traversal at one depth."""

    node = field(I64)
    edge = field(I64)  # its first one
    choices = field(I64)  # how many edges it has
    taken = field(I64)  # how many edges have been followed
    actions = field(I64, (MAX_CHOICES,))  # of the edges
    legal_hands = field(I64, (MAX_CHOICES,))  # a hand for which each edge is legal
    held = field(I64, (MAX_SEATS,))  # the hand that each seat has been dealt there
    pending = field(I64)  # the action that waits for Alea's cards; NONE: none
    cards = field(I64)  # the set that she has turned up, or NONE
    paid = field(F64, (MAX_SEATS,))  # the seats' payoffs so far


FRAME_DTYPE: Final = FrameRecord.dtype


class Traversal(NamedTuple):
    """The state of a depth-first traversal.

    Attributes:
        frames: FRAME_DTYPE (d,), one for each depth.
        masks: int8 (h, 103), the legal actions of the seat to act with each hand.
        counts: int64 (3,), nodes, edges and entries of `legal` so far.
        stored_hands: int64 (k, N), the hands held in stored positions.
    """

    frames: Any
    masks: Any
    counts: Any
    stored_hands: Any


@rule
def note_choices(
    game: GameRecord, frame: FrameRecord, masks: Array, hands: Array, number: int
) -> None:
    """Write the actions legal for any hand of the seat to act, and the legal actions by hand."""
    seat = int(game.seat)
    held = frame.held[seat]
    for action in range(NUM_ACTIONS):
        masks[number, action] = NONE  # the last row: a hand for which the action is legal
    for hand in range(number):
        for action in range(NUM_ACTIONS):
            masks[hand, action] = 0
        if give(game, seat, hands[seat], held, hand):
            refresh_mask(game, masks[hand])
            give(game, seat, hands[seat], hand, held)
        for action in range(NUM_ACTIONS):
            if masks[hand, action] and (masks[number, action] == NONE or hand == held):
                masks[number, action] = hand
    frame.choices = 0
    for action in range(NUM_ACTIONS):
        if masks[number, action] != NONE:
            frame.actions[frame.choices] = action
            frame.legal_hands[frame.choices] = masks[number, action]
            frame.choices += 1


@rule
def visit(game: GameRecord, tree: TaskTree, walk: Traversal, hands: Array, depth: int) -> None:
    """Create the node of the position at a depth; only count if the tree has no room."""
    node, edge, entry = walk.counts[0], walk.counts[1], walk.counts[2]
    frame, kind, entries = walk.frames[depth], int(game.seat), 0
    if game.phase == PHASE_OVER:
        kind, frame.choices = LEAF, 0
    elif frame.pending != NONE:
        kind, frame.choices = CHANCE, len(ALEA_ORDERS)
        for number in range(len(ALEA_ORDERS)):
            frame.actions[number] = number
    else:
        entries = tree.numbers[kind]
        note_choices(game, frame, walk.masks, hands, entries)
    frame.node, frame.edge, frame.taken = node, edge, 0
    walk.counts[0] += 1
    walk.counts[1] += frame.choices
    walk.counts[2] += entries
    if node >= len(tree.kind):
        return
    tree.kind[node], tree.first[node], tree.first_legal[node] = kind, edge, entry
    tree.cards[node] = frame.cards
    for seat in range(tree.payoff.shape[1]):
        tree.payoff[node, seat] = frame.paid[seat]
    for choice in range(frame.choices):
        tree.action[edge + choice] = frame.actions[choice]
    for hand in range(entries):
        bits = 0
        for choice in range(frame.choices):
            bits |= int(walk.masks[hand, frame.actions[choice]]) << choice
        tree.legal[entry + hand] = bits


@rule
def turn_up(arrays: Arrays, depth: int, number: int) -> None:
    """Make Alea turn up one of her sets in the next action at a depth."""
    log, game = arrays.log[0], arrays.state[depth]
    for rank in range(NUM_RANKS):
        game.face_down[BLACK, rank] = NUM_RANKS  # enough for every set: nodes count no stacks
    log.next_forced, log.num_forced = 0, 0
    for place in range(NUM_RANKS + 1):
        if ALEA_ORDERS[number, place] != NONE:
            log.forced[place] = FORCED_CARD + ALEA_ORDERS[number, place]
            log.num_forced += 1


@rule
def follow(arrays: Arrays, tree: TaskTree, walk: Traversal, hands: Array, depth: int) -> None:
    """Follow the next edge of the node at a depth and write the position of the next depth."""
    before, below = walk.frames[depth], depth + 1
    choice = before.taken
    before.taken += 1
    if before.node < len(tree.kind):
        tree.child[before.edge + choice] = walk.counts[0]
    copy_game(arrays.state_words, below, arrays.state_words, depth)
    walk.frames[below] = before
    game, frame, action = arrays.state[below], walk.frames[below], before.actions[choice]
    frame.pending = NONE
    if before.pending != NONE:
        turn_up(arrays, below, action)
        frame.cards, action = action, before.pending
    else:
        seat, hand = int(game.seat), before.legal_hands[choice]
        give(game, seat, hands[seat], frame.held[seat], hand)
        frame.held[seat] = hand
        ends = action in (PASS, BID_DONE)
        if game.alea == ALEA_WAITS and seat != game.turn_seat and ends:
            frame.pending = action
            return
    play_row(arrays, below, action)
    arrays.log[0].num_forced = 0
    for seat in range(tree.payoff.shape[1]):
        frame.paid[seat] += arrays.slots[below].reward[seat]


@entry_point("the tree of a task")
def grow(arrays: Arrays, tree: TaskTree, walk: Traversal, hands: Array, wanted: Array) -> None:
    """Traverse the tree depth first from the position in row 0; write it if the tree has room.

    The positions of `wanted` nodes, bool (n,) or (0,), are written to the rows of `arrays.finished`
    in the order of nodes, and the hands held there to `walk.stored_hands`.
    """
    depth, kept = 0, 0
    visit(arrays.state[0], tree, walk, hands, 0)
    while depth >= 0:
        frame = walk.frames[depth]
        if frame.taken == 0 and frame.node < len(wanted) and wanted[frame.node]:
            copy_game(arrays.finished, kept, arrays.state_words, depth)
            for seat in range(walk.stored_hands.shape[1]):
                walk.stored_hands[kept, seat] = frame.held[seat]
            kept += 1
        if frame.taken == frame.choices:
            depth -= 1
            continue
        follow(arrays, tree, walk, hands, depth)
        depth += 1
        visit(arrays.state[depth], tree, walk, hands, depth)


class Opening:
    """A task's opening and its tree.

    Args:
        name: such as "alea-4/0".
        state: another opening of this task instead, GAME_DTYPE (1,), without hidden cards.

    Attributes:
        name: as given.
        hands: the possible black hands of every seat, int8 (h, 3).
        tree: the game tree.

    Raises:
        OptionError: there is no such opening.
    """

    def __init__(self, name: str, state: RecordArray | None = None) -> None:
        first = openings(name) if state is None else state
        if len(first) != 1:
            raise OptionError(f"task {name} has {len(first)} openings; name one, as {name}/0")
        self.name, self._first = name, first
        players, stock = int(first["num_players"][0]), first["unlocated"][0, BLACK]
        dealt = first["unknown"][0, :players, BLACK]
        self.hands = tuple(hands_of(int(number), stock) for number in dealt)
        most = max(len(own) for own in self.hands)
        self._padded = np.zeros((players, most, NUM_RANKS), np.int8)
        for seat, own in enumerate(self.hands):
            self._padded[seat, : len(own)] = own
        joint = joint_probabilities(self.hands, stock)
        sizes = self._walk(_new_tree(np.zeros(3, np.int64), self.hands, joint))[1].counts
        self.tree = tree = _new_tree(sizes, self.hands, joint)
        self._walk(tree)
        tree.first[-1], tree.first_legal[-1] = sizes[1], sizes[2]
        np.cumsum(np.diff(tree.first) * np.diff(tree.first_legal), out=tree.block[1:])

    def _walk(self, tree: TaskTree, wanted: Bool | None = None) -> tuple[RecordArray, Traversal]:
        """Traverse a tree; return the wanted positions, GAME_DTYPE (k,), and the traversal."""
        wanted = np.zeros(0, np.bool_) if wanted is None else wanted
        players, most, _ = self._padded.shape
        number = int(wanted.sum())
        games = Games(DEEPEST, task=self.name, seed=0, autoreset=False, observation=False)
        games.state[0] = self._first[0]
        games.state["hand"][0, :players, BLACK] = self._padded[:, 0]
        walk = Traversal(
            new_records(DEEPEST, FRAME_DTYPE),
            np.zeros((most + 1, NUM_ACTIONS), np.int8),
            np.zeros(3, np.int64),
            np.zeros((number, players), np.int64),
        )
        walk.frames[0]["pending"] = walk.frames[0]["cards"] = NONE
        positions = new_games(max(number, 1))
        arrays = games.arrays._replace(finished=as_words(positions))
        grow(arrays, tree, walk, self._padded, wanted)
        tree.payoff[:] = tree.payoff.round(SMALLEST_PAYOFF)  # rewards are float32
        return positions[:number], walk

    def states_of(self, wanted: Bool) -> tuple[RecordArray, Int64]:
        """Return the positions of some nodes.

        Args:
            wanted: bool (n,), for every node of the tree.

        Returns:
            GAME_DTYPE (k,), in the order of nodes, and the index of the hand that every seat holds
            there, int64 (k, N): any consistent one.
        """
        positions, walk = self._walk(self.tree, wanted)
        return positions, walk.stored_hands


def _new_tree(sizes: Int64, hands: tuple[Int8, ...], joint: Float64) -> TaskTree:
    nodes, edges, entries = sizes.tolist()
    numbers = np.ones(MAX_SEATS, np.int64)
    numbers[: len(hands)] = [len(own) for own in hands]
    return TaskTree(
        kind=np.zeros(nodes, np.int8),
        first=np.zeros(nodes + 1, np.int64),
        child=np.zeros(edges, np.int32),
        action=np.zeros(edges, np.int16),
        payoff=np.zeros((nodes, len(hands))),
        cards=np.zeros(nodes, np.int8),
        numbers=numbers,
        joint=joint,
        legal=np.zeros(entries, np.int64),
        first_legal=np.zeros(nodes + 1, np.int64),
        block=np.zeros(nodes + 1, np.int64),
    )
