"""How fast is the tree search, and how much memory does it take? ``python -m
experiments.benchmarks.search`` prints the figures.

Every figure is the median of repeats, after a warm-up that compiles: simulations per second of one
decision, in three positions of a game between greedy players (2 players, front side): its first,
its middle and its last but one choice of an option. With two threads a decision has two trees.
Memory is that of the trees' nodes after the search.

A further program to compare with is a further :class:`Searcher` in SEARCHERS.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from experiments.benchmarks.figures import Figure, figure, report
from skyenv.agents import decide_game, decisions_in
from skyenv.engine.game import Game
from skyenv_agents import GreedyAgent
from skyenv_agents.learned.networks import TrainedAgent
from skyenv_agents.search.guided import GuidedAgent
from skyenv_agents.search.ismcts import SearchAgent
from skyenv_agents.search.tree import NODE_DTYPE

METHOD: Final = "one decision; median of repeats after a warm-up; 2 players, front side; two threads have a tree each"
PLACES: Final = ("opening", "middle", "late")


class Searched(NamedTuple):
    """What a search of one decision took: simulations, and bytes of its nodes (0: not known)."""

    simulations: int
    memory: int


Search = Callable[[Game], Searched]
"""Searches the decision that is open in a game."""


@dataclass(frozen=True)
class Searcher:
    """Something whose speed is measured.

    Attributes:
        name: as in the table.
        make: how it searches, from simulations and threads.
        simulations: of one search.
        threads: numbers of threads to measure with.
    """

    name: str
    make: Callable[[int, int], Search]
    simulations: int
    threads: tuple[int, ...] = (1, 2)


def by_agent(kind: type[SearchAgent], **options: Any) -> Callable[[int, int], Search]:
    """How an agent searches that tells what its trees look like."""

    def make(simulations: int, threads: int) -> Search:
        side_by_side: dict[str, Any] = {"trees": threads, "threads": threads} if threads > 1 else {}
        agent = kind(simulations, **options, **side_by_side)

        def search(game: Game) -> Searched:
            result = agent.search(decisions_in(game.games, agent, [0]))
            return Searched(int(result.simulations[0]), int(result.nodes[0]) * NODE_DTYPE.itemsize)

        return search

    return make


ROLLOUTS: Final[dict[str, Any]] = {"turns": 3, "leaf_value": "holdings", "exploration": 1.0}
"""Version 2 of ismcts, which plays on."""

SEARCHERS: Final = (
    Searcher("leaves by their small network", by_agent(SearchAgent), 5_000),
    Searcher("leaves by what seats have", by_agent(SearchAgent, leaf_value="holdings"), 10_000),
    Searcher("greedy rollout of 3 turns", by_agent(SearchAgent, **ROLLOUTS), 500),
    Searcher(
        "random rollout of 3 turns",
        by_agent(SearchAgent, rollout_policy="random", **ROLLOUTS),
        2_000,
    ),
    Searcher("guided at its root by a network", by_agent(GuidedAgent), 5_000, (1,)),
    Searcher(
        "network, 8 leaves at once", by_agent(SearchAgent, evaluator=TrainedAgent()), 2_000, (1,)
    ),
    Searcher(
        "network, 64 leaves at once",
        by_agent(SearchAgent, evaluator=TrainedAgent(), leaves=64),
        2_000,
        (1,),
    ),
)


def games_to_search(seed: int = 1) -> dict[str, Game]:
    """A game at the beginning, in the middle and near the end, where an option is to be chosen."""
    game, greedy = Game(2, seed=seed), GreedyAgent()
    choices = []
    while game.seat is not None:
        if game.phase == "option":
            choices.append(game.copy())
        game.play(decide_game(game, greedy))
    return dict(zip(PLACES, (choices[0], choices[len(choices) // 2], choices[-2]), strict=True))


def measured(searcher: Searcher, repeats: int, share: float) -> list[Figure]:
    """Simulations per second in all positions and with all numbers of threads, and the memory of
    the search in the middle.
    """
    games = games_to_search()
    simulations = max(16, round(share * searcher.simulations))
    figures = []
    memory = Searched(0, 0)
    for threads in searcher.threads:
        search = searcher.make(simulations, threads)
        search(games[PLACES[0]])
        for place, game in games.items():
            rates = []
            for _ in range(repeats):
                started = time.perf_counter()
                result = search(game)
                rates.append(result.simulations / (time.perf_counter() - started))
            name = f"{searcher.name}, {place}, {threads} thread{'s' * (threads > 1)}"
            figures.append(figure(name, "simulations/s", rates))
            if place == "middle" and threads == 1:
                memory = result
    if memory.memory:
        name = f"{searcher.name}, nodes of {memory.simulations:,} simulations"
        figures.append(figure(name, "bytes", [memory.memory]))
    return figures


def all_figures(quick: bool, searchers: Sequence[Searcher] = SEARCHERS) -> list[Figure]:
    """Measure everything; `quick` takes a tenth of the work and of the precision."""
    repeats, share = (3, 0.1) if quick else (7, 1.0)
    return [one for searcher in searchers for one in measured(searcher, repeats, share)]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return report("search", "Measure how fast the search is.", METHOD, all_figures, arguments)


if __name__ == "__main__":
    sys.exit(main())
