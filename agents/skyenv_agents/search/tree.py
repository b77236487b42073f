"""The compiled tree search: over what may be played, in positions ("determinizations") drawn from
what a seat sees.

A node stands for a run of actions from the decision on, whatever chance does in between and
whatever the hidden cards are: each simulation draws a determinization of its own, in which only
some of a node's actions may be legal. So every action counts the simulations in which it could have
been selected (`available`), and competes for those alone.

A leaf is valued by a rollout, at once. With an evaluation from outside (`s.batched`) simulations
stop at a leaf that has not been expanded and leave their visits on the way, as if they had been
lost, so the next ones, which start before anything is known of it, look elsewhere (virtual loss);
then the leaves are evaluated all together, expanded with the priors told, and backed up.

Arguments that many functions share are those of :mod:`skyenv_agents.search.rollouts`; besides
`nodes`, records of NODE_DTYPE, the first of which is the root, and `used`, int64 (1,), how many
there are.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from skyenv.engine.knowledge import ViewRecord
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.compiling import called_rule, entry_point
from skyenv.rules.components import MAX_PLAYERS
from skyenv.rules.play import refresh_mask
from skyenv.rules.state import NONE, PHASE_OVER, Array, GameRecord, Record, new_records
from skyenv_agents.heuristic.features import WeightsRecord
from skyenv_agents.heuristic.scores import score_actions
from skyenv_agents.search.rollouts import (
    Scratch,
    SearchRecord,
    act,
    copy_game,
    determinize,
    evaluate,
    rollout,
    show,
    try_actions,
)

DEEPEST: Final = 256  # actions of a simulation that are looked up in the tree
PRIOR_FLOOR: Final = 0.02
"""How probable all actions together are held to be beside their priors; and one that was not legal
when its node was expanded.
"""

NODE_DTYPE: Final = np.dtype(
    [
        (
            "total",
            np.float64,
            (MAX_PLAYERS,),
        ),  # [seat] → sum of its win probabilities, over all simulations through the node
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

LEAF_DTYPE: Final = np.dtype(
    [
        ("value", np.float64, (MAX_PLAYERS,)),  # [seat] → its win probability there
        ("path", np.int32, (DEEPEST,)),  # the nodes on the way, the root first
        ("depth", np.int32),  # actions on the way
        ("number", np.int32),  # legal actions there; 0: the game is over
    ],
    align=True,
)
"""Where a simulation ended."""


class LeafRecord(Record):
    """One record of LEAF_DTYPE."""


@called_rule
def add_child(
    nodes: npt.NDArray[np.void], used: npt.NDArray[np.int64], parent: int, action: int, prior: float
) -> int:
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


@called_rule
def can_expand(
    nodes: npt.NDArray[np.void], used: npt.NDArray[np.int64], node: int, number: int
) -> bool:
    """Whether a node has no children, and there is room for so many."""
    return bool(number > 0 and nodes[node].child == NONE and int(used[0]) + number <= len(nodes))


@called_rule
def expand(
    nodes: npt.NDArray[np.void],
    used: npt.NDArray[np.int64],
    node: int,
    number: int,
    mask: npt.NDArray[np.int8],
    prior: npt.NDArray[np.float64],
    total: float,
) -> None:
    """Give a node a child for each of the legal actions, so many as `number`; `prior` [action] sums
    to `total`.
    """
    for action in range(NUM_ACTIONS):
        if mask[action]:
            add_child(
                nodes,
                used,
                node,
                action,
                (1.0 - PRIOR_FLOOR) * prior[action] / total + PRIOR_FLOOR / number,
            )


@called_rule
def write_heuristic_prior(
    game: GameRecord, number: int, s: SearchRecord, w: WeightsRecord, scratch: Scratch
) -> float:
    """Write how probable the greedy player makes the legal actions into `scratch.prior`; their
    sum.
    """
    mask = scratch.mask
    h = scratch.heuristic[0]
    biased = s.temperature > 0.0 and number > 1
    best = -math.inf
    if biased:
        show(game, scratch, int(game.seat))
        score_actions(scratch.views[0], w, h, mask)
        for action in range(NUM_ACTIONS):
            if mask[action] and h.score[action] > best:
                best = h.score[action]
    total = 0.0
    for action in range(NUM_ACTIONS):
        if mask[action]:
            scratch.prior[action] = (
                math.exp((h.score[action] - best) / s.temperature) if biased else 1.0
            )
            total += scratch.prior[action]
    return total


@called_rule
def puct(
    nodes: npt.NDArray[np.void], child: int, seat: int, s: SearchRecord, unvisited: float
) -> float:
    """How much an action asks to be tried: what it has led to (`unvisited`: nothing yet), and how
    little that is known yet.

    With a prior it is that of PUCT (Silver et al. 2017), without one UCB1; in both the simulations
    that count are those in which the action was legal (Cowling, Powley and Whitehouse 2012).
    """
    visits = int(nodes[child].visits)
    available = float(nodes[child].available)
    if s.temperature > 0.0:
        mean = nodes[child].total[seat] / visits if visits > 0 else unvisited
        return float(
            mean + s.exploration * nodes[child].prior * math.sqrt(available) / (1.0 + visits)
        )
    if visits == 0:
        return 1e9 - int(nodes[child].action)
    return float(
        nodes[child].total[seat] / visits + s.exploration * math.sqrt(math.log(available) / visits)
    )


@called_rule
def select_child(
    nodes: npt.NDArray[np.void],
    used: npt.NDArray[np.int64],
    parent: int,
    seat: int,
    s: SearchRecord,
    mask: npt.NDArray[np.int8],
    number: int,
) -> int:
    """The child of one of the legal actions, so many as `number`, that asks most to be tried;
    `mask` is used up.

    NONE: no room for a child that is missing.
    """
    child = int(nodes[parent].child)
    while child != NONE:
        action = int(nodes[child].action)
        if mask[action]:
            mask[action] = 2
            number -= 1
        child = int(nodes[child].sibling)
    for action in range(NUM_ACTIONS if number > 0 else 0):
        if mask[action] == 1 and add_child(nodes, used, parent, action, PRIOR_FLOOR) == NONE:
            mask[action] = 0
    before = int(nodes[parent].visits)
    unvisited = nodes[parent].total[seat] / before if before > 0 else 0.5
    best = NONE
    most = -math.inf
    child = int(nodes[parent].child)
    while child != NONE:
        if mask[nodes[child].action]:
            nodes[child].available += 1
            bound = puct(nodes, child, seat, s, unvisited)
            if bound > most:
                most = bound
                best = child
        child = int(nodes[child].sibling)
    return best


@called_rule
def select(
    view: ViewRecord,
    seed: int,
    nodes: npt.NDArray[np.void],
    used: npt.NDArray[np.int64],
    leaf: LeafRecord,
    game: GameRecord,
    s: SearchRecord,
    w: WeightsRecord,
    scratch: Scratch,
) -> None:
    """Turn a copy of the view's game into a determinization, and go down the tree in it to a
    leaf.
    """
    mask = scratch.mask
    determinize(view, game, scratch, seed)
    leaf.path[0] = 0
    leaf.depth = 0
    node = 0
    while game.phase != PHASE_OVER and leaf.depth + 1 < DEEPEST:
        if s.batched != 0 and nodes[node].child == NONE:
            break
        number = refresh_mask(game, mask)
        if can_expand(nodes, used, node, number):
            expand(
                nodes,
                used,
                node,
                number,
                mask,
                scratch.prior,
                write_heuristic_prior(game, number, s, w, scratch),
            )
        node = select_child(nodes, used, node, int(game.seat), s, mask, number)
        if node == NONE:
            break
        act(game, scratch.log[0], int(nodes[node].action))
        leaf.depth += 1
        leaf.path[leaf.depth] = node
        if s.batched != 0:
            nodes[0].visits += 1 if leaf.depth == 1 else 0
            nodes[node].visits += 1
        elif nodes[node].visits == 0:
            break


@called_rule
def backup(nodes: npt.NDArray[np.void], leaf: LeafRecord, visits: int) -> None:
    """Add a leaf's value, and so many visits, on the way up."""
    for k in range(leaf.depth + 1):
        node = nodes[leaf.path[k]]
        node.visits += visits
        for seat in range(MAX_PLAYERS):
            node.total[seat] += leaf.value[seat]


@called_rule
def run_simulations(
    views: Array,
    seeds: Array,
    options: Array,
    weights: Array,
    nodes: Array,
    used: Array,
    games: Array,
    leaves: Array,
    masks: Array,
    scratch: Scratch,
) -> None:
    """Add a simulation for every seed to the tree of a view's decision.

    Batched ones end at leaves, of which `games`, `leaves` and `masks` [seed] tell; the others need
    one row of these.
    """
    s = options[0]
    for i in range(len(seeds)):
        row = i if s.batched != 0 else 0
        copy_game(games, row, views[0].game)
        game, leaf = games[row], leaves[row]
        select(views[0], seeds[i], nodes, used, leaf, game, s, weights[0], scratch)
        leaf.number = (
            refresh_mask(game, masks[row]) if s.batched != 0 and game.phase != PHASE_OVER else 0
        )
        copy_game(scratch.games, 0, game)
        end = scratch.games[0]
        last, me = int(game.turns) + int(s.turns), int(views[0].seat)
        rollout(end, s, weights[0], scratch, last, int(seeds[i]))
        evaluate(end, s, weights[0], scratch, me)
        for seat in range(MAX_PLAYERS):
            leaf.value[seat] = scratch.heuristic[0].win[seat]
        if s.batched == 0:
            backup(nodes, leaf, 1)


@entry_point("searches")
def simulate(
    views: Array,
    seeds: Array,
    options: Array,
    weights: Array,
    games: Array,
    scratch: Scratch,
    actions: Array,
    values: Array,
    nodes: Array,
    used: Array,
    leaves: Array,
    masks: Array,
) -> None:
    """Try actions as :func:`skyenv_agents.search.rollouts.try_actions` does; without actions, add
    simulations to a tree as :func:`run_simulations` does.

    One entry point for both searches: another one would hold rollouts, rules and scores once more,
    and take twice as long to compile.
    """
    if len(actions) > 0:
        try_actions(views, actions, seeds, options, weights, games, scratch, values)
    else:
        run_simulations(views, seeds, options, weights, nodes, used, games, leaves, masks, scratch)


NO_TREE: Final = (
    new_records(0, NODE_DTYPE),
    np.zeros(1, np.int64),
    new_records(0, LEAF_DTYPE),
    np.zeros((0, NUM_ACTIONS), np.int8),
)
"""The arguments of :func:`simulate` that only a tree needs."""
NO_ACTIONS: Final = (np.zeros(0, np.int64), np.zeros((0, 0)))
"""Those that only the trial of actions needs."""


@entry_point("the tree search")
def backup_leaves(nodes: Array, used: Array, leaves: Array, masks: Array, priors: Array) -> None:
    """Expand the leaves of batched simulations with the priors told, `priors` [leaf, action], and
    back up their values.

    The root is expanded by a simulation that ends there, which doesn't count.
    """
    for i in range(len(leaves)):
        leaf = leaves[i]
        last = int(leaf.path[leaf.depth])
        if can_expand(nodes, used, last, int(leaf.number)):
            expand(nodes, used, last, int(leaf.number), masks[i], priors[i], 1.0)
        if leaf.depth > 0:
            backup(nodes, leaf, 0)
