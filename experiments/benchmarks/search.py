"""Speed and memory of tree searches."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import numpy as np

from experiments.benchmarks.pictures import greedy_game
from experiments.figures import Figure, Scale, figure, per_second
from skyenv.agents import decisions_in
from skyenv.engine.options import DEFAULT_MAX_TURNS
from skyenv_agents import SearchAgent
from skyenv_agents.search.tree import NODE_DTYPE

# Simulations per decision, and options of :class:`skyenv_agents.SearchAgent`.
SEARCHES: Final[dict[str, tuple[int, dict[str, Any]]]] = {
    "leaf network": (5_000, {}),
    "holdings": (10_000, {"leaf_value": "holdings"}),
    "greedy rollout of 3 turns": (500, {"leaf_value": "holdings", "turns": 3}),
}


def search(scale: Scale) -> Iterator[Figure]:
    """Simulations per second of one decision, in three positions of a game between greedy agents (2
    players, front side): the first, the middle and the last but one choice of an option. One
    thread; medians of repeats after a warm-up. Memory is that of the tree's nodes.
    """
    games = [game for game in greedy_game(2, DEFAULT_MAX_TURNS) if game.phase == "option"]
    chosen = np.linspace(0, len(games) - 2, 3).round().astype(int)
    places = dict(zip(("opening", "middle", "late"), chosen, strict=True))
    for name, (simulations, options) in SEARCHES.items():
        agent = SearchAgent(scale.of(simulations), **options)
        roots = {place: decisions_in(games[i].batch, agent, [0]) for place, i in places.items()}
        for place, root in roots.items():
            once = partial(per_second, agent.simulations, partial(agent.search, root))
            yield scale.measure(f"{name}: {place}", "simulations/s", once)
        nodes = int(agent.search(roots["middle"]).nodes[0])
        yield figure(f"{name}: middle, nodes", "bytes", [nodes * NODE_DTYPE.itemsize])
