"""Equilibria of tasks with two seats, by CFR+.

Source: Tammelin, Burch, Johanson, Bowling, *Solving Heads-up Limit Texas Hold'em* (2015).
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from skyenv.array_types import Float64
from skyenv.errors import CheckpointError, OptionError
from skyenv.files import write_atomically
from skyenv.rules.compiling import entry_point, rule
from skyenv.rules.record import Array
from skyenv.solving.best_response import (
    Evaluator,
    Policy,
    expected,
    pay_leaf,
    spread,
    sum_children,
)
from skyenv.solving.tree import CHANCE, LEAF, TaskTree

# Iterations between checks for Ctrl-C.
AT_ONCE: Final = 16
# Largest number of iterations of a stored solution.
MOST_ITERATIONS: Final = 10**9
# Bytes of a stored solution's seal, and in front of its sums.
SEAL: Final = 32
HEADER: Final = SEAL + 8
# Relative error of sums, by rounding.
ROUNDING: Final = 1e-9


@rule
def match_regrets_of(tree: TaskTree, regrets: Array, policy: Array, node: int, hand: int) -> None:
    """Write a hand's policy by regret matching: proportional to positive regrets, uniform over
    legal edges if there are none.
    """
    edges = tree.first[node + 1] - tree.first[node]
    hands, block = tree.numbers[tree.kind[node]], tree.block[node]
    bits, total, legal = tree.legal[tree.first_legal[node] + hand], 0.0, 0
    for edge in range(edges):
        total += max(regrets[block + edge * hands + hand], 0.0)
        legal += (bits >> edge) & 1
    for edge in range(edges):
        place = block + edge * hands + hand
        if total > 0.0:
            policy[place] = max(regrets[place], 0.0) / total
        else:
            policy[place] = ((bits >> edge) & 1) / max(legal, 1)


@rule
def match_regrets(tree: TaskTree, regrets: Array, policy: Array, node: int) -> None:
    """Write the policy of all hands of a node by regret matching."""
    for hand in range(tree.numbers[tree.kind[node]]):
        match_regrets_of(tree, regrets, policy, node, hand)


@rule
def learn(
    tree: TaskTree,
    reach: Array,
    values: Array,
    policy: Array,
    sums: Array,
    node: int,
    weight: float,
) -> None:
    """Update a node by CFR+ and write its value under the policy.

    Regrets grow by each edge's advantage and are clipped at 0; the policy is added to the average.
    `sums` is (regrets, weighted policies).
    """
    first, block, entry = tree.first[node], tree.block[node], tree.first_legal[node]
    seat = tree.kind[node]
    hands, edges = tree.numbers[seat], tree.first[node + 1] - tree.first[node]
    for hand in range(hands):
        value = expected(tree, policy, values, node, hand)
        values[node, hand] = value
        for edge in range(edges):
            if (tree.legal[entry + hand] >> edge) & 1:
                place = block + edge * hands + hand
                gain = values[tree.child[first + edge], hand] - value
                sums[0, place] = max(sums[0, place] + gain, 0.0)
                sums[1, place] += weight * reach[node, seat, hand] * policy[place]


@entry_point("equilibria")
def iterate(
    tree: TaskTree, policy: Array, sums: Array, reach: Array, values: Array, begin: int, end: int
) -> None:
    """Run iterations `begin` to `end` − 1 of CFR+, alternating seats."""
    for number in range(begin, end):
        for seat in range(2):
            for node in range(len(tree.kind)):
                if tree.kind[node] < CHANCE:
                    match_regrets(tree, sums[0], policy, node)
            spread(tree, policy, reach)
            for node in range(len(tree.kind) - 1, -1, -1):
                if tree.kind[node] == LEAF:
                    pay_leaf(tree, reach, values, node, seat)
                elif tree.kind[node] == seat:
                    learn(tree, reach, values, policy, sums, node, float(number + 1))
                else:
                    sum_children(tree, values, node, tree.numbers[seat])


@entry_point("equilibria")
def average(tree: TaskTree, sums: Array, policy: Array) -> None:
    """Write the average policy of all iterations."""
    for node in range(len(tree.kind)):
        if tree.kind[node] < CHANCE:
            match_regrets(tree, sums[1], policy, node)


class Solution(NamedTuple):
    """An approximate equilibrium of a task's opening.

    Attributes:
        policy: the policy of both seats.
        iterations: CFR+ iterations so far.
        responses: best-response values of seats 0 and 1 in VP. Seat 0's equilibrium value lies
            between the negative of the second and the first.
        payoff_range: the largest payoff less the smallest.
    """

    policy: Policy
    iterations: int
    responses: tuple[float, ...]
    payoff_range: float

    @property
    def nash_conv(self) -> float:
        """Return the sum of both seats' gains by best responses in VP; 0 in equilibrium."""
        return sum(self.responses)


class Solver:
    """A CFR+ solver for a tree with two seats.

    Args:
        tree: the tree of an opening.

    Attributes:
        iterations: completed iterations.
        current: the policy of the latest iteration; after none, zeros.

    Raises:
        OptionError: the tree has more than two seats.
    """

    def __init__(self, tree: TaskTree) -> None:
        if tree.payoff.shape[1] != 2:
            raise OptionError(f"solving needs a task with two seats, not {tree.payoff.shape[1]}")
        self.tree, self.iterations = tree, 0
        self._evaluator = Evaluator(tree)
        self.current: Policy = np.zeros(tree.block[-1])
        self._sums = np.zeros((2, tree.block[-1]))

    def run(self, iterations: int) -> None:
        """Run further iterations; Ctrl-C stops between two of them."""
        evaluator, end = self._evaluator, self.iterations + iterations
        while self.iterations < end:
            until = min(self.iterations + AT_ONCE, end)
            begin, self.iterations = self.iterations, until
            iterate(
                evaluator.tree,
                self.current,
                self._sums,
                evaluator.reach,
                evaluator.worth,
                begin,
                until,
            )

    def solution(self) -> Solution:
        """Return the average policy so far and its best responses."""
        policy = np.zeros_like(self.current)
        average(self.tree, self._sums, policy)
        responses = self._evaluator.best_responses(policy)
        return Solution(policy, self.iterations, responses, self._evaluator.payoff_range)

    def save(self, file: Path) -> None:
        """Save the solver's state for :meth:`load`: a SHA-256, iterations and sums.

        Raises:
            OSError: the file can't be written.
        """
        content = np.int64(self.iterations).tobytes() + self._sums.tobytes()
        write_atomically(file, self._seal(content) + content)

    def load(self, file: Path) -> None:
        """Load a state saved by :meth:`save`.

        Raises:
            CheckpointError: the file is damaged or edited, belongs to another tree, or holds no
                sums of so many iterations.
            OSError: the file can't be read.
        """
        fits = file.stat().st_size == HEADER + self._sums.nbytes  # no larger one is read
        found = file.read_bytes() if fits else b""
        content = found[SEAL:]
        if found[:SEAL] != self._seal(content):
            raise CheckpointError(
                f"{file} is not a saved solution of this opening: it is damaged, edited, or of "
                "another opening or variant"
            )
        iterations = int(np.frombuffer(content, np.int64, 1)[0])
        sums = np.frombuffer(content, np.float64, offset=HEADER - SEAL).reshape(self._sums.shape)
        if not self._possible(iterations, sums):
            raise CheckpointError(
                f"{file} is not a saved solution: its sums can't come from {iterations} iterations"
            )
        self.iterations, self._sums[:] = iterations, sums

    def _seal(self, content: bytes) -> bytes:
        """Return the SHA-256 of the tree and a state."""
        tree = self.tree
        parts = (tree.kind, tree.child, tree.action, tree.payoff, tree.deals, tree.legal)
        return hashlib.sha256(b"".join([*(part.tobytes() for part in parts), content])).digest()

    def _possible(self, iterations: int, sums: Float64) -> bool:
        """Return whether sums lie within their bounds: an iteration adds at most the payoffs' range
        to a regret, and at most its own weight to an average.
        """
        most = (iterations * self._evaluator.payoff_range, iterations * (iterations + 1) / 2)
        bounds = np.array(most)[:, None] * (1 + ROUNDING)
        return 0 <= iterations <= MOST_ITERATIONS and bool(((sums >= 0) & (sums <= bounds)).all())


def solve(solver: Solver, share: float, most: int = 100_000) -> Iterator[Solution]:
    """Continue a solver until NashConv is at most a share of the payoffs' range, or for `most`
    iterations in all.

    Yields:
        The solution after 16 iterations, 32, 64 and so on.
    """
    while True:
        solver.run(min(max(solver.iterations, AT_ONCE), most - solver.iterations))
        solution = solver.solution()
        yield solution
        if solution.nash_conv <= share * solution.payoff_range or solution.iterations >= most:
            return
