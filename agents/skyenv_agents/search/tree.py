"""Compiled tree search over sampled determinizations.

A node is a sequence of actions from the decision on, regardless of chance and hidden cards. Each
simulation samples a determinization, in which only some of a node's actions may be legal. Every
action therefore counts the simulations in which it was available (`available`).

Many functions share the arguments of :mod:`skyenv_agents.search.rollouts` and these: `nodes`,
records of NODE_DTYPE, the root first; `used`, int64 (1,), the number of nodes in use; `path`, int64
(DEEPEST,), the nodes from the root to a leaf.
"""

import math
from typing import Final

from skyenv.array_types import Float64, Int8, Int64, RecordArray
from skyenv.engine.knowledge import ViewRecord
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.compiling import called_rule, entry_point
from skyenv.rules.components import MAX_PLAYERS
from skyenv.rules.play import apply, refresh_mask
from skyenv.rules.record import F64, I32, Array, Record, field
from skyenv.rules.state import NONE, PHASE_OVER, GameRecord
from skyenv_agents.heuristic.features import WeightsRecord
from skyenv_agents.heuristic.scores import score_actions
from skyenv_agents.search.rollouts import (
    Scratch,
    SearchRecord,
    copy_game,
    determinize,
    evaluate,
    rollout,
    write_view,
)

DEEPEST: Final = 256  # most nodes on a path, the root included
# Share of the prior that is uniform over the legal actions, and the prior of an action that was
# illegal when its node was expanded.
PRIOR_FLOOR: Final = 0.02


class NodeRecord(Record):
    """A node of the tree."""

    # [seat] → sum of its win probabilities over all simulations through the node
    total = field(F64, (MAX_PLAYERS,))
    prior = field(F64)  # prior probability of the action
    visits = field(I32)  # simulations through the node
    available = field(I32)  # simulations through its parent in which the action was legal
    child = field(I32)  # first child, or NONE
    sibling = field(I32)  # the parent's next child, or NONE
    action = field(I32)  # action from the parent to the node
    spare = field(I32)


NODE_DTYPE: Final = NodeRecord.dtype


@called_rule
def add_child(nodes: RecordArray, used: Int64, parent: int, action: int, prior: float) -> int:
    """Add a node in front of its siblings; return its number, or NONE without room."""
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
def expand(
    nodes: RecordArray,
    used: Int64,
    node: int,
    number: int,
    mask: Int8,
    prior: Float64,
    total: float,
) -> None:
    """Add a child for each of the `number` legal actions; `prior` [action] sums to `total`."""
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
    """Write unnormalized priors of the legal actions, exponentials of greedy's scores, into
    `scratch.prior`; return their sum.
    """
    mask = scratch.mask
    h = scratch.heuristic[0]
    if number > 1:
        write_view(game, scratch, int(game.seat))
        score_actions(scratch.views[0], w, h, mask)
    best = -math.inf
    for action in range(NUM_ACTIONS):
        if mask[action] and h.score[action] > best:
            best = h.score[action]
    total = 0.0
    for action in range(NUM_ACTIONS):
        if mask[action]:
            scratch.prior[action] = math.exp((h.score[action] - best) / s.temperature)
            total += scratch.prior[action]
    return total


@called_rule
def puct(nodes: RecordArray, child: int, seat: int, s: SearchRecord, unvisited: float) -> float:
    """Return a child's PUCT score (Silver et al. 2017); a child without visits has the mean value
    `unvisited`.

    It counts only the simulations in which the action was legal (Cowling, Powley and Whitehouse
    2012).
    """
    visits = int(nodes[child].visits)
    available = float(nodes[child].available)
    mean = nodes[child].total[seat] / visits if visits > 0 else unvisited
    return float(mean + s.exploration * nodes[child].prior * math.sqrt(available) / (1.0 + visits))


@called_rule
def select_child(
    nodes: RecordArray,
    used: Int64,
    parent: int,
    seat: int,
    s: SearchRecord,
    mask: Int8,
    number: int,
) -> int:
    """Return the child with the highest score among the `number` legal actions.

    Missing children are added with the prior PRIOR_FLOOR, if there is room. Returns NONE if no
    legal action has a child. `mask` is overwritten.
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
    nodes: RecordArray,
    used: Int64,
    path: Int64,
    game: GameRecord,
    s: SearchRecord,
    w: WeightsRecord,
    scratch: Scratch,
) -> int:
    """Turn a copy of the view's game into a determinization, descend the tree in it to a leaf, and
    return the leaf's depth.
    """
    mask = scratch.mask
    determinize(view, game, scratch, seed)
    path[0] = 0
    depth = 0
    node = 0
    while game.phase != PHASE_OVER and depth + 1 < DEEPEST:
        number = refresh_mask(game, mask)
        has_room = int(used[0]) + number <= len(nodes)
        if number > 0 and nodes[node].child == NONE and has_room:
            total = write_heuristic_prior(game, number, s, w, scratch)
            expand(nodes, used, node, number, mask, scratch.prior, total)
        node = select_child(nodes, used, node, int(game.seat), s, mask, number)
        if node == NONE:
            break
        apply(game, scratch.log[0], int(nodes[node].action))
        depth += 1
        path[depth] = node
        if nodes[node].visits == 0:
            break
    return depth


@entry_point("tree searches")
def run_simulations(
    views: Array,
    seeds: Array,
    options: Array,
    weights: Array,
    nodes: Array,
    used: Array,
    path: Array,
    games: Array,
    scratch: Scratch,
) -> None:
    """Add a simulation per seed to the tree of a view's decision; `games` is memory for a game."""
    s, w, game, me = options[0], weights[0], games[0], int(views[0].seat)
    for i in range(len(seeds)):
        copy_game(games, 0, views[0].game)
        depth = select(views[0], seeds[i], nodes, used, path, game, s, w, scratch)
        rollout(game, w, scratch, int(game.turns) + int(s.turns), int(seeds[i]))
        evaluate(game, s, w, scratch, me)
        for k in range(depth + 1):
            node = nodes[path[k]]
            node.visits += 1
            for seat in range(MAX_PLAYERS):
                node.total[seat] += scratch.heuristic[0].win[seat]
