"""The speed of the game in OpenSpiel."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.algorithms import ismcts, mcts

from experiments.figures import Figure, Scale
from skyenv.agents import decisions_in
from skyenv.envs.open_spiel import SHORT_NAME
from skyenv_agents import SearchAgent


def open_spiel(scale: Scale) -> Iterator[Figure]:
    """Random legal play, 2 players, front side, in a Python loop; choosing isn't timed. OpenSpiel's
    own search in Python (`ismcts`) has one random rollout a simulation, at the first decision of a
    random game, after a third of it, and after two thirds; skyenv's search does the same work
    there. One thread, processor time; medians of repeats after a warm-up.
    """
    game = pyspiel.load_game(SHORT_NAME, {"events": 2048})
    for name, column, observed in (
        ("decisions of seats", 0, False),
        ("decisions with observations", 0, True),
        ("all nodes", 1, False),
    ):

        def pace(column: int = column, observed: bool = observed) -> float:
            state = game.new_initial_state()
            played = play_on(state, np.random.RandomState(1), observed=observed)
            return float(played[column] / played[2])

        yield scale.measure(f"random play, {name}", "/s", pace)
    middle, number = position(game, 1 / 3), scale.of(200)
    player, rng = middle.current_player(), np.random.RandomState(1)
    calls: dict[str, Callable[[], Any]] = {
        "clone": middle.clone,
        "determinization": lambda: middle.resample_from_infostate(player, rng.random_sample),
        "information state as text": lambda: middle.information_state_string(player),
        "information state as tensor": lambda: middle.information_state_tensor(player),
    }
    for name, call in calls.items():
        once = partial(microseconds, call, number)
        yield scale.measure(f"{name}, a middle position", "µs", once)
    for place, part in (("the opening", 0.0), ("a middle", 1 / 3), ("a late", 2 / 3)):
        state, simulations = position(game, part), 2 + scale.of(50)
        evaluator = mcts.RandomRolloutEvaluator(1, rng)
        bot = ismcts.ISMCTSBot(game, evaluator, 2.0, simulations, random_state=rng)
        mine = SearchAgent(100 * simulations, rollout_policy="random", turns=500, temperature=0.0)
        decisions = decisions_in(state.to_game().games, mine, [0])
        for name, search, done in (
            ("OpenSpiel's ISMCTS", partial(bot.step, state), simulations),
            ("skyenv's ismcts", partial(mine.search, decisions), 100 * simulations),
        ):

            def searched(search: Callable[[], Any] = search, done: int = done) -> float:
                return 1e6 / microseconds(search) * done

            yield scale.measure(f"{name}, {place} position", "simulations/s", searched)


def microseconds(call: Callable[[], Any], number: int = 1) -> float:
    """Return the processor time of a call."""
    started = time.process_time()
    for _ in range(number):
        call()
    return max(time.process_time() - started, 1e-9) / number * 1e6


def play_on(
    state: Any, rng: np.random.RandomState, decisions: int | None = None, observed: bool = False
) -> tuple[int, int, float]:
    """Play at random, up to so many decisions and the chance after them; `observed`: reading the
    observation's vector at each.

    Returns:
        Decisions, nodes, and the processor's seconds without choosing.
    """
    played = nodes = 0
    spent = 0.0
    while not state.is_terminal() and (state.is_chance_node() or played != decisions):
        started = time.process_time()
        chance = state.is_chance_node()
        options = state.chance_outcomes() if chance else state.legal_actions()
        if observed and not chance:
            state.observation_tensor(state.current_player())
        spent += time.process_time() - started
        if chance:
            outcomes, chances = zip(*options, strict=True)
            move = int(rng.choice(outcomes, p=chances))
        else:
            move = options[rng.randint(len(options))]
        spent += microseconds(partial(state.apply_action, move)) / 1e6
        played, nodes = played + (not chance), nodes + 1
    return played, nodes, spent


def position(game: Any, part: float) -> Any:
    """Return a state with several legal actions after a part of a random game."""
    whole, _, _ = play_on(game.new_initial_state(), np.random.RandomState(3))
    state, rng = game.new_initial_state(), np.random.RandomState(3)
    play_on(state, rng, round(part * whole))
    while len(state.legal_actions()) < 2:
        play_on(state, rng, 1)
    return state
