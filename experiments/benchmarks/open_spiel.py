"""Speed of the game in OpenSpiel."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from timeit import timeit
from typing import Any, Final

import numpy as np
import pyspiel
from open_spiel.python.algorithms import ismcts, mcts

from experiments.benchmarks.peers import ALL, LIST, fifth_avenue, pace
from experiments.figures import Figure, Scale
from skyenv.agents import decisions_in
from skyenv.envs.open_spiel import SHORT_NAME
from skyenv_agents import SearchAgent

# Numbers of decisions before the measured positions.
PLACES: Final = {"the opening": 0, "a middle": 100, "a late": 200}


def open_spiel(scale: Scale) -> Iterator[Figure]:
    """Random legal play, 2 players, front side, in a Python loop that samples actions outside the
    timing. OpenSpiel's search in Python (`ismcts`) and skyenv's, both with one random rollout per
    simulation. They search in a random game at the first decision, after 100 and after 200. One
    thread; processor time, for random play clock time; medians of repeats after a warm-up.
    """
    for name, output in (("decisions of seats", LIST), ("decisions with observations", ALL)):
        once = partial(pace, fifth_avenue(output, 1), scale.share)
        yield scale.measure(f"random play, {name}", "/s", once)
    game = pyspiel.load_game(SHORT_NAME, {"events": 2048})
    middle, rng = position(game, PLACES["a middle"]), np.random.RandomState(1)
    player = middle.current_player()
    calls: dict[str, Callable[[], Any]] = {
        "clone": middle.clone,
        "determinization": lambda: middle.resample_from_infostate(player, rng.random_sample),
        "information state as text": lambda: middle.information_state_string(player),
        "information state as tensor": lambda: middle.information_state_tensor(player),
    }
    for name, call in calls.items():
        once = partial(microseconds, call, scale.of(200))
        yield scale.measure(f"{name}, a middle position", "µs", once)
    for place, decisions in PLACES.items():
        state, simulations = position(game, decisions), 2 + scale.of(50)
        evaluator = mcts.RandomRolloutEvaluator(1, rng)
        bot = ismcts.ISMCTSBot(game, evaluator, 2.0, simulations, random_state=rng)
        agent = SearchAgent(100 * simulations, rollout_policy="random", turns=500, temperature=0.0)
        root = decisions_in(state.to_game().batch, agent, [0])
        once = partial(simulations_per_second, partial(bot.step, state), simulations)
        yield scale.measure(f"OpenSpiel's ISMCTS, {place} position", "simulations/s", once)
        once = partial(simulations_per_second, partial(agent.search, root), 100 * simulations)
        yield scale.measure(f"skyenv's ismcts, {place} position", "simulations/s", once)


def microseconds(call: Callable[[], Any], number: int = 1) -> float:
    """Return the processor time of a call in microseconds, the mean of `number` calls."""
    return max(timeit(call, timer=time.process_time, number=number), 1e-9) / number * 1e6


def simulations_per_second(search: Callable[[], Any], simulations: int) -> float:
    """Return the simulations per second of a search."""
    return simulations / microseconds(search) * 1e6


def position(game: Any, decisions: int) -> Any:
    """Return a random game's first state with a choice of actions after `decisions` decisions."""
    state, rng = game.new_initial_state(), np.random.RandomState(3)
    while decisions > 0 or state.is_chance_node() or len(state.legal_actions()) < 2:
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            action = rng.choice(outcomes, p=chances)
        else:
            action = rng.choice(state.legal_actions())
            decisions -= 1
        state.apply_action(int(action))
    return state
