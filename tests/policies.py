"""Policies on trees, as plain Python makes them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from skyenv.solving.tree import CHANCE, Opening

Policy = npt.NDArray[np.float64]


def blocks_of(tree: Any, policy: Policy) -> list[Policy]:
    """The probabilities at each node where a seat acts, (edges, hands): views of the policy."""
    return [
        policy[tree.block[node] : tree.block[node + 1]].reshape(
            tree.first[node + 1] - tree.first[node], -1
        )
        for node in np.flatnonzero(tree.kind < CHANCE)
    ]


def uniform_policy(made: Opening) -> Policy:
    """Every legal edge alike."""
    tree = made.tree
    policy = np.zeros(tree.block[-1])
    nodes = np.flatnonzero(tree.kind < CHANCE)
    for node, block in zip(nodes, blocks_of(tree, policy), strict=True):
        bits = tree.legal[tree.first_legal[node] : tree.first_legal[node + 1]]
        legal = (bits[None] >> np.arange(len(block))[:, None]) & 1
        block[:] = legal / np.maximum(legal.sum(axis=0), 1)
    return policy
