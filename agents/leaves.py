"""The compiled part of :class:`agents.guided.GuidedAgent`: a tree whose leaves are judged outside, many at once.

As :mod:`agents.tree`, but a simulation has two halves. The first one goes down to a leaf, and leaves its visits on the way, as if
it had been lost: so the next ones, which start before anything is known of it, look elsewhere (virtual loss). The second one
opens the leaf and adds the chances to win on the way up.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from agents import judgement, playouts, tree
from agents.judgement import AgentEntryPoints
from agents.playouts import assess, play_on
from agents.tree import DEEPEST, SURPRISE, add_child, pick_child
from skyenv.knowledge import imagine
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.components import MAX_PLAYERS
from skyenv.rules.play import apply, refresh_mask
from skyenv.rules.state import NONE, PHASE_OVER

LEAF_DTYPE: Final = np.dtype(
    [
        ("chance", np.float64, (MAX_PLAYERS,)),  # [seat] → its chance to win there
        ("path", np.int32, (DEEPEST,)),  # the nodes on the way, the root first
        ("depth", np.int32),  # actions on the way
        ("number", np.int32),  # legal actions there; 0: the game is over
    ],
    align=True,
)
"""Where a simulation ended."""


def _make_descend(fingerprint: str) -> Any:
    def descend(  # type: ignore[no-untyped-def]
        views, seeds, options, search, weights, nodes, used, worlds, leaves, masks, onward, scratch, seen, shown_games, mind, tape
    ):
        """Go down to a leaf for every seed; `worlds`, `leaves` and `masks` [seed] tell about it.

        Its chances are those of :func:`agents.playouts.assess`, after so many turns of play as the search asks for (`onward`).
        """
        _ = fingerprint
        for i in range(len(seeds)):
            mask = masks[i]
            worlds[i] = views[0].game
            game = worlds[i]
            leaf = leaves[i]
            imagine(views[0], game, tape[0], mask, seeds[i])
            leaf.path[0] = 0
            leaf.depth = 0
            node = 0
            while game.phase != PHASE_OVER and leaf.depth + 1 < DEEPEST and nodes[node].child != NONE:
                refresh_mask(game, mask)
                child = pick_child(nodes, used, node, int(game.seat), options[0], mask)
                if child == NONE:
                    break
                if leaf.depth == 0:
                    nodes[0].visits += 1
                nodes[child].visits += 1
                apply(game, tape[0], int(nodes[child].action))
                leaf.depth += 1
                leaf.path[leaf.depth] = child
                node = child
            leaf.number = refresh_mask(game, mask) if game.phase != PHASE_OVER else 0
            onward[0] = game
            end = onward[0]
            if search[0].turns > 0:
                last = int(game.turns) + int(search[0].turns)
                play_on(end, shown_games, seen[0], search[0], weights[0], mind[0], scratch, tape[0], last, int(seeds[i]))
            assess(end, shown_games, seen[0], search[0], weights[0], mind[0], int(views[0].seat))
            for seat in range(MAX_PLAYERS):
                leaf.chance[seat] = mind[0].delta[seat]

    return descend


def _make_back_up(fingerprint: str) -> Any:
    def back_up(nodes, used, leaves, masks, priors):  # type: ignore[no-untyped-def]
        """Open the leaves with how probable their actions are held to be, `priors` [leaf, action], and add their chances.

        The root is opened by a simulation that ends there, which doesn't count.
        """
        _ = fingerprint
        for i in range(len(leaves)):
            leaf = leaves[i]
            last = int(leaf.path[leaf.depth])
            number = int(leaf.number)
            if number > 0 and nodes[last].child == NONE and int(used[0]) + number <= len(nodes):
                for action in range(NUM_ACTIONS):
                    if masks[i, action]:
                        add_child(nodes, used, last, action, (1.0 - SURPRISE) * priors[i, action] + SURPRISE / number)
            if leaf.depth > 0:
                for k in range(leaf.depth + 1):
                    for seat in range(MAX_PLAYERS):
                        nodes[leaf.path[k]].total[seat] += leaf.chance[seat]

    return back_up


_ENTRY_POINTS: Final = AgentEntryPoints(__file__, judgement.__file__, playouts.__file__, tree.__file__)
descend: Final = _ENTRY_POINTS.make(_make_descend)
back_up: Final = _ENTRY_POINTS.make(_make_back_up)
