"""Speed and memory of tree searches."""

import time
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import numpy as np

from experiments.figures import Figure, Scale, figure
from skyenv.agents import decide_game, decisions_in
from skyenv.engine.game import Game
from skyenv_agents import GreedyAgent, SearchAgent
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
    places = positions()
    for name, (simulations, options) in SEARCHES.items():
        agent = SearchAgent(scale.of(simulations), **options)
        for place, game in places.items():
            once = partial(simulations_per_second, agent, decisions_in(game.batch, agent, [0]))
            yield scale.measure(f"{name}: {place}", "simulations/s", once)
        nodes = int(agent.search(decisions_in(places["middle"].batch, agent, [0])).nodes[0])
        yield figure(f"{name}: middle, nodes", "bytes", [nodes * NODE_DTYPE.itemsize])


def simulations_per_second(agent: SearchAgent, decisions: Any) -> float:
    """Return the simulations per second of one search."""
    started = time.perf_counter()
    done = agent.search(decisions).simulations[0]
    return float(done) / (time.perf_counter() - started)


def positions() -> dict[str, Game]:
    """Return positions of a game between greedy agents where an option is chosen."""
    game, greedy, choices = Game(2, seed=1), GreedyAgent(), []
    while game.seat is not None:
        if game.phase == "option":
            choices.append(game.copy())
        game.play(decide_game(game, greedy))
    places = np.linspace(0, len(choices) - 2, 3).round().astype(int)
    return {name: choices[i] for name, i in zip(("opening", "middle", "late"), places, strict=True)}
