"""Where an agent loses what its best response would win: positions, hands and bids."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skyenv.rules.actions import ACTION_NAMES, BID, BID_DONE
from skyenv.rules.components import CARD_VALUES
from skyenv.tasks.best_response import Judge, Policy
from skyenv.tasks.tree import ALEA_SETS, CHANCE, Beginning, Tree


class Loss(NamedTuple):
    """A decision that isn't the best one.

    Attributes:
        seat: who decides.
        after: what has happened since the beginning, in words.
        black: values of the black cards that the seat was dealt.
        played, share: of the actions that aren't the best, the one that is played most, and how
            often.
        better: the best action.
        vp: what is lost there, weighted by how often the agent gets there. All losses of a seat
            together are what its best response would win more.
    """

    seat: int
    after: list[str]
    black: list[int]
    played: str
    share: float
    better: str
    vp: float

    def text(self) -> str:
        """The loss in a line."""
        after = f" after {', '.join(self.after)}" if self.after else ""
        black = " ".join(map(str, self.black)) or "no"
        return (
            f"seat {self.seat} with black {black}{after}: plays {self.played} ({self.share:.0%}), "
            f"{self.better} is better; costs {self.vp:.3f} VP"
        )


def largest_losses(beginning: Beginning, judge: Judge, policy: Policy, number: int) -> list[Loss]:
    """The largest losses of a policy, all seats together, the largest first."""
    found = []
    for seat in range(len(beginning.hands)):
        losses = judge.losses(policy, seat)
        for place in np.argsort(-losses, axis=None)[:number].tolist():
            node, hand = divmod(place, losses.shape[1])
            if losses[node, hand] > 0:
                vp = float(losses[node, hand])
                found.append(_loss(beginning, judge, policy, node, hand, vp))
    return sorted(found, key=lambda loss: -loss.vp)[:number]


def _loss(
    beginning: Beginning, judge: Judge, policy: Policy, node: int, hand: int, vp: float
) -> Loss:
    tree = beginning.tree
    seat = int(tree.kind[node])
    first, end = tree.first[node : node + 2].tolist()
    bits = int(tree.legal[tree.first_legal[node] + hand])
    shares = policy[tree.block[node] : tree.block[node + 1]].reshape(end - first, -1)[:, hand]
    worth = judge.worth[tree.child[first:end], hand].copy()
    worth[[not bits >> edge & 1 for edge in range(end - first)]] = -np.inf
    names = [ACTION_NAMES[action] for action in tree.action[first:end]]
    best = int(worth.argmax())
    shares = np.where(np.arange(end - first) == best, 0.0, shares)
    return Loss(
        seat=seat,
        after=path_to(tree, node),
        black=np.repeat(CARD_VALUES, beginning.hands[seat][hand]).tolist(),
        played=names[int(shares.argmax())],
        share=float(shares.max()),
        better=names[best],
        vp=vp,
    )


def path_to(tree: Tree, node: int) -> list[str]:
    """What leads to a node, in words: whole bids where they are whole."""
    steps: list[tuple[int, int]] = []
    while node > 0:
        edge = int(np.flatnonzero(tree.child == node)[0])
        node = int(np.searchsorted(tree.first, edge, side="right")) - 1
        steps.insert(0, (node, int(tree.action[edge])))
    words: list[str] = []
    laid_down: list[str] = []
    for parent, action in steps:
        if tree.kind[parent] == CHANCE:
            cards = np.repeat(CARD_VALUES, [*ALEA_SETS][action])
            words.append(f"Alea turns up {' '.join(map(str, cards))}")
        elif BID <= action < BID_DONE:
            laid_down.append(ACTION_NAMES[action].removeprefix("bid "))
        else:
            done = action == BID_DONE
            what = f"bids {' + '.join(laid_down)}" if done else ACTION_NAMES[action]
            words.append(f"seat {tree.kind[parent]} {what}")
            laid_down = []
    return [*words, *([f"it lays down {' + '.join(laid_down)}"] if laid_down else [])]
