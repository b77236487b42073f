"""The compiled part of :class:`agents.ismcts.SearchAgent`: a tree over what may be played, grown in imagined worlds.

A node stands for a run of actions from the decision on, whatever chance does in between and whatever the hidden cards are: each
simulation draws a world of its own, in which only some of a node's actions may be legal. So every action counts the
simulations in which it could have been chosen (`available`), and competes for those alone.

Arguments that many functions share are those of :mod:`agents.playouts`; besides `nodes`, records of NODE_DTYPE, the first of
which is the root, `used`, int64 (1,), how many there are, and `o`, a record of OPTIONS_DTYPE.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from agents import judgement, playouts
from agents.judgement import AgentEntryPoints, judge, thought
from agents.playouts import assess, play_on
from skyenv.knowledge import imagine, redact
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.components import MAX_PLAYERS
from skyenv.rules.play import apply, refresh_mask
from skyenv.rules.state import NONE, PHASE_OVER, Record

DEEPEST: Final = 256
"""Actions of a simulation that are looked up in the tree."""
SURPRISE: Final = 0.02
"""How probable an action is held to be that was not legal in the world in which its node was opened."""

NODE_DTYPE: Final = np.dtype(
    [
        ("total", np.float64, (MAX_PLAYERS,)),  # [seat] → sum of its chances to win, over all simulations through the node
        ("prior", np.float64),  # how probable the action was held to be, before any search
        ("visits", np.int32),  # simulations through the node
        ("available", np.int32),  # simulations through its parent in which the action was legal
        ("child", np.int32),  # its first child, or NONE
        ("sibling", np.int32),  # its parent's next child, or NONE
        ("action", np.int32),  # the action that leads here
        ("spare", np.int32),
    ],
    align=True,
)
"""A run of actions."""

OPTIONS_DTYPE: Final = np.dtype(
    [
        ("exploration", np.float64),  # weight of what hasn't been tried much
        ("temperature", np.float64),  # VP by which an action must be better to be held e times as probable; 0: no bias
    ],
    align=True,
)
"""How the tree grows."""


@thought
def add_child(nodes: npt.NDArray[np.void], used: npt.NDArray[np.int64], parent: int, action: int, prior: float) -> int:
    """A new node in front of its siblings; NONE if there is no room."""
    index = int(used[0])
    if index == len(nodes):
        return NONE
    used[0] = index + 1
    node = nodes[index]
    for seat in range(MAX_PLAYERS):
        node.total[seat] = 0.0
    node.prior = prior
    node.visits = 0
    node.available = 0
    node.child = NONE
    node.sibling = nodes[parent].child
    node.action = action
    nodes[parent].child = index
    return index


@thought
def open_node(
    nodes: npt.NDArray[np.void], used: npt.NDArray[np.int64], parent: int, number: int, game: Record,
    shown_games: npt.NDArray[np.void], seen: Record, o: Record, w: Record, m: Record, mask: npt.NDArray[np.int8],
) -> None:  # fmt: skip
    """Give a node a child for each of the legal actions (so many as `number`), with what the greedy player thinks of it."""
    if int(used[0]) + number > len(nodes):
        return
    best = 0.0
    total = 0.0
    if o.temperature > 0.0 and number > 1:
        shown_games[0] = game
        redact(seen, int(game.seat))
        judge(seen, w, m, mask)
        best = -math.inf
        for action in range(NUM_ACTIONS):
            if mask[action] and m.score[action] > best:
                best = m.score[action]
    for action in range(NUM_ACTIONS):
        if mask[action]:
            weight = math.exp((m.score[action] - best) / o.temperature) if o.temperature > 0.0 and number > 1 else 1.0
            total += weight
            add_child(nodes, used, parent, action, weight)
    child = int(nodes[parent].child)
    while child != NONE:
        nodes[child].prior = (1.0 - SURPRISE) * nodes[child].prior / total + SURPRISE / number
        child = int(nodes[child].sibling)


@thought
def promise(nodes: npt.NDArray[np.void], parent: int, child: int, seat: int, o: Record) -> float:
    """How much an action asks to be tried: what it has led to, and how little that is known yet.

    With a bias it is that of PUCT (Silver et al. 2017), without one UCB1; in both the simulations that count are those in which
    the action was legal (Cowling, Powley and Whitehouse 2012).
    """
    visits = int(nodes[child].visits)
    available = float(nodes[child].available)
    if o.temperature > 0.0:
        before = int(nodes[parent].visits)
        mean = nodes[parent].total[seat] / before if before > 0 else 0.5
        if visits > 0:
            mean = nodes[child].total[seat] / visits
        return float(mean + o.exploration * nodes[child].prior * math.sqrt(available) / (1.0 + visits))
    if visits == 0:
        return 1e9 - int(nodes[child].action)
    return float(nodes[child].total[seat] / visits + o.exploration * math.sqrt(math.log(available) / visits))


@thought
def pick_child(
    nodes: npt.NDArray[np.void], used: npt.NDArray[np.int64], parent: int, seat: int, o: Record, mask: npt.NDArray[np.int8],
) -> int:  # fmt: skip
    """The child of a legal action that promises most; `mask` is used up. NONE if there is no room for a child that is missing."""
    child = int(nodes[parent].child)
    while child != NONE:
        action = int(nodes[child].action)
        if mask[action]:
            mask[action] = 2
        child = int(nodes[child].sibling)
    for action in range(NUM_ACTIONS):
        if mask[action] == 1 and add_child(nodes, used, parent, action, SURPRISE) == NONE:
            mask[action] = 0
    best = NONE
    most = -math.inf
    child = int(nodes[parent].child)
    while child != NONE:
        if mask[nodes[child].action]:
            nodes[child].available += 1
            found = promise(nodes, parent, child, seat, o)
            if found > most:
                most = found
                best = child
        child = int(nodes[child].sibling)
    return best


def _make_grow(fingerprint: str) -> Any:
    def grow(  # type: ignore[no-untyped-def]
        views, seeds, options, search, weights, nodes, used, worlds, seen, shown_games, mind, tape, mask, path
    ):
        """Add a simulation for every seed to the tree of a view's decision."""
        _ = fingerprint
        me = int(views[0].seat)
        game = worlds[0]
        for i in range(len(seeds)):
            worlds[0] = views[0].game
            imagine(views[0], worlds[0], tape[0], mask, seeds[i])
            path[0] = 0
            depth = 0
            while game.phase != PHASE_OVER and depth + 1 < len(path):
                node = path[depth]
                number = refresh_mask(game, mask)
                if nodes[node].child == NONE:
                    open_node(nodes, used, node, number, game, shown_games, seen[0], options[0], weights[0], mind[0], mask)
                child = pick_child(nodes, used, node, int(game.seat), options[0], mask)
                if child == NONE:
                    break
                apply(game, tape[0], int(nodes[child].action))
                depth += 1
                path[depth] = child
                if nodes[child].visits == 0:
                    break
            last = int(game.turns) + int(search[0].turns)
            play_on(game, shown_games, seen[0], search[0], weights[0], mind[0], mask, tape[0], last, int(seeds[i]))
            assess(game, shown_games, seen[0], search[0], weights[0], mind[0], me)
            for k in range(depth + 1):
                nodes[path[k]].visits += 1
                for seat in range(MAX_PLAYERS):
                    nodes[path[k]].total[seat] += mind[0].delta[seat]

    return grow


grow: Final = AgentEntryPoints(__file__, judgement.__file__, playouts.__file__).make(_make_grow)
