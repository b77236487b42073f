"""What a tree search knows already when its seat decides again at once: the tree under the action
that it took.

A seat often decides several times in a row: the option and the plot of a business, two cards, the
cards of a bid one by one. Then the simulations that went through its action have dealt with the
next decision too. The tree under an action is kept for the views that the action can lead to, if
the same seat is to act there: those found in some determinizations. So nothing but the seat's own
view decides what is kept and when it is used.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

from skyenv.engine.knowledge import VIEW_DTYPE, redact, sample_determinization
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.compiling import entry_point
from skyenv.rules.play import apply
from skyenv.rules.state import GAME_DTYPE, NONE, Array, new_records
from skyenv.rules.tape import TAPE_DTYPE
from skyenv_agents.search.tree import NODE_DTYPE

MOST_NODES: Final = 4096
"""Nodes of a tree that are kept, those next to its root first."""
MOST_DECISIONS: Final = 1024
"""So many decisions' trees are kept: twice as many as skyenv/arena/matches.py has games under way
at once.
"""
DETERMINIZATIONS: Final = 16
"""So many are looked at to see where an action leads.

Chance may show a card or two; what it shows rarely may be missed.
"""

# ---- compiled ----


@entry_point("the search's memory", 1)
def _copy_subtree(nodes: Array, root: int, kept: Array, origin: Array) -> int:
    """Copy the tree under the node `root` into `kept`, level by level, while all children of a node
    find room; its size.

    `origin`, int64 (len(kept),), notes where the copies come from.
    """
    kept[0] = nodes[root]
    kept[0].sibling = NONE
    origin[0] = root
    used = 1
    done = 0
    while done < used:
        number = 0
        child = int(nodes[origin[done]].child)
        while child != NONE:
            number += 1
            child = int(nodes[child].sibling)
        kept[done].child = NONE
        if number > 0 and used + number <= len(kept):
            kept[done].child = used
            child = int(nodes[origin[done]].child)
            for i in range(number):
                kept[used] = nodes[child]
                origin[used] = child
                kept[used].sibling = used + 1 if i + 1 < number else NONE
                used += 1
                child = int(nodes[child].sibling)
        done += 1
    return used


@entry_point("the search's memory", 2)
def _views_after(
    views: Array,
    action: int,
    seeds: Array,
    games: Array,
    next_views: Array,
    shown_games: Array,
    seats: Array,
    tape: Array,
    mask: Array,
) -> None:
    """What the view's seat may see after an action: `next_views`, a view for every seed, and who is
    to act there, `seats`.
    """
    for i in range(len(seeds)):
        games[0] = views[0].game
        if not sample_determinization(views[0], games[0], tape[0], mask, seeds[i]):
            continue  # nobody is to act there, as `seats` says already
        apply(games[0], tape[0], action)
        seats[i] = games[0].seat
        shown_games[i] = games[0]
        redact(next_views[i], int(views[0].seat))


# ---- keeping ----

Nodes = npt.NDArray[np.void]


def subtree(nodes: Nodes, action: int) -> Nodes | None:
    """The tree under one of the root's actions, its root first, NODE_DTYPE (k,), k ≤ MOST_NODES;
    None if there is none.
    """
    child = int(nodes["child"][0])
    while child != NONE and nodes["action"][child] != action:
        child = int(nodes["sibling"][child])
    if child == NONE or nodes["child"][child] == NONE:
        return None
    kept = new_records(min(len(nodes), MOST_NODES), NODE_DTYPE)
    used = _copy_subtree(nodes, child, kept, np.zeros(len(kept), np.int64))
    return kept[:used].copy()


def digests_after(view: npt.NDArray[np.void], action: int) -> list[bytes]:
    """Digests of the views that a seat may have after an action, if it is to act again; empty if it
    never is.

    Args:
        view: what the seat sees now, VIEW_DTYPE (1,).
        action: a legal action of its.
    """
    next_views, seats = (
        new_records(DETERMINIZATIONS, VIEW_DTYPE),
        np.full(DETERMINIZATIONS, NONE, np.int64),
    )
    scratch = new_records(1, TAPE_DTYPE), np.zeros(NUM_ACTIONS, np.int8)
    _views_after(
        view,
        action,
        np.arange(DETERMINIZATIONS),
        new_records(1, GAME_DTYPE),
        next_views,
        next_views["game"],
        seats,
        *scratch,
    )
    return list(
        dict.fromkeys(
            digest(next_views[i : i + 1]) for i in np.flatnonzero(seats == view["seat"][0])
        )
    )


def digest(view: npt.NDArray[np.void]) -> bytes:
    """Tells a view, VIEW_DTYPE (1,), from others."""
    return hashlib.blake2b(view.tobytes(), digest_size=16).digest()


class Memory:
    """The trees of the latest MOST_DECISIONS decisions, by what their seats may see next."""

    def __init__(self) -> None:
        self._kept: dict[bytes, list[Nodes | None]] = {}
        self._order: deque[tuple[list[bytes], list[Nodes | None]]] = deque()

    def find(self, view: npt.NDArray[np.void]) -> list[Nodes | None]:
        """What is known of the decision in a view, VIEW_DTYPE (1,): for every tree of the search
        one or None; empty: nothing.
        """
        return self._kept.get(digest(view), [])

    def keep(self, view: npt.NDArray[np.void], action: int, trees: Iterable[Nodes]) -> None:
        """Keep what trees (the nodes of each) know of the next decision, when an action is
        taken.
        """
        keys = digests_after(view, action)
        subtrees = [subtree(nodes, action) for nodes in trees] if keys else []
        if all(one is None for one in subtrees):
            return
        self._kept.update(dict.fromkeys(keys, subtrees))
        self._order.append((keys, subtrees))
        if len(self._order) > MOST_DECISIONS:
            old_keys, old = self._order.popleft()
            for key in old_keys:
                if self._kept.get(key) is old:
                    del self._kept[key]
