"""Speed of the game's states in OpenSpiel."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from timeit import timeit
from typing import Any

import numpy as np
import pyspiel

from experiments.figures import Figure, Scale
from skyenv.envs.open_spiel import SHORT_NAME


def open_spiel(scale: Scale) -> Iterator[Figure]:
    """Methods of the first state with a choice of actions after 100 decisions of random play, 2
    players, front side. One thread; processor time; medians of repeats after a warm-up.
    """
    state = middle_state()
    player, rng = state.current_player(), np.random.RandomState(1)
    calls: dict[str, Callable[[], Any]] = {
        "clone": state.clone,
        "determinization": lambda: state.resample_from_infostate(player, rng.random_sample),
        "information state as text": lambda: state.information_state_string(player),
        "information state as tensor": lambda: state.information_state_tensor(player),
    }
    for name, call in calls.items():
        once = partial(microseconds, call, scale.of(200))
        yield scale.measure(f"{name}, a middle position", "µs", once)


def microseconds(call: Callable[[], Any], number: int) -> float:
    """Return the processor time of a call in microseconds, the mean of `number` calls."""
    return max(timeit(call, timer=time.process_time, number=number), 1e-9) / number * 1e6


def middle_state() -> Any:
    """Return a random game's first state with a choice of actions after 100 decisions."""
    state = pyspiel.load_game(SHORT_NAME, {"events": 2048}).new_initial_state()
    decisions, rng = 0, np.random.RandomState(3)
    while decisions < 100 or state.is_chance_node() or len(state.legal_actions()) < 2:
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            action = rng.choice(outcomes, p=chances)
        else:
            action = rng.choice(state.legal_actions())
            decisions += 1
        state.apply_action(int(action))
    return state
