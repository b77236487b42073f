"""How fast is the game in OpenSpiel? ``python -m experiments.benchmarks.open_spiel`` prints the
figures of docs/open_spiel.md.

Method: every figure is the median of repeats, after a warm-up that compiles; 2 players, front side.
"Random play" applies random moves in a Python loop, chance by its probabilities; choosing is not
timed. The search is OpenSpiel's own in Python (`ismcts`), with one random rollout a simulation, at
the first decision of a random game, after a third of it, and after two thirds; beside it skyenv's
own search does the same work there: random rollouts to the end of the game, no prior. All of it
runs in one thread; seconds are its processor's, so that other programs disturb the figures less.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import pyspiel
from open_spiel.python.algorithms import ismcts, mcts

from experiments.benchmarks.figures import Figure, figure, measure, report
from experiments.benchmarks.search import by_agent
from skyenv.envs.open_spiel import SHORT_NAME
from skyenv_agents.search.ismcts import SearchAgent

METHOD: Final = (
    "median of repeats after a warm-up; random legal play; 2 players, front side; searches with "
    "random rollouts;"
    " seconds of processor time"
)
PLACES: Final = (("the opening", 0.0), ("a middle position", 1 / 3), ("a late position", 2 / 3))


def seconds(action: Callable[[], Any]) -> float:
    """How much of the processor's time a call takes."""
    started = time.process_time()
    action()
    return time.process_time() - started


def play_on(
    state: Any, rng: np.random.RandomState, decisions: int | None = None
) -> tuple[int, int, float]:
    """Random moves, up to so many decisions and the chance after them; decisions and nodes played,
    and the seconds they took.
    """
    played = nodes = 0
    spent = 0.0
    while not state.is_terminal() and (state.is_chance_node() or played != decisions):
        started = time.process_time()
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            spent += time.process_time() - started
            move = int(rng.choice(outcomes, p=chances))
        else:
            legal = state.legal_actions()
            spent += time.process_time() - started
            move = legal[rng.randint(len(legal))]
            played += 1
        started = time.process_time()
        state.apply_action(move)
        spent += time.process_time() - started
        nodes += 1
    return played, nodes, spent


def random_play(game: Any, games: int, repeats: int) -> list[Figure]:
    """Decisions and nodes per second of whole games."""
    rng = np.random.RandomState(1)
    repeated = []
    for _ in range(repeats + 1):
        played = np.array([play_on(game.new_initial_state(), rng) for _ in range(games)])
        repeated.append(played[:, :2].sum(axis=0) / played[:, 2].sum())
    decisions, nodes = np.transpose(repeated[1:]).tolist()  # the first one was the warm-up
    rates = {"random play, decisions of seats": decisions, "random play, all nodes": nodes}
    return [figure(name, "/s", rate) for name, rate in rates.items()]


def position(game: Any, part: float) -> Any:
    """A state with more than one legal action after a part of a random game."""
    state = game.new_initial_state()
    decisions, _, _ = play_on(game.new_initial_state(), np.random.RandomState(3))
    rng = np.random.RandomState(3)
    play_on(state, rng, round(part * decisions))
    while len(state.legal_actions()) < 2:
        play_on(state, rng, 1)
    return state


def single_calls(game: Any, number: int, repeats: int) -> list[Figure]:
    """Microseconds of a clone, of a determinization, and of an information state, in a middle
    position.
    """
    state = position(game, 1 / 3)
    player = state.current_player()
    rng = np.random.RandomState(1)
    calls = {
        "clone, a middle position": state.clone,
        "determinization, a middle position": lambda: state.resample_from_infostate(
            player, rng.random_sample
        ),
        "information state as text, a middle position": lambda: state.information_state_string(
            player
        ),
        "information state as tensor, a middle position": lambda: state.information_state_tensor(
            player
        ),
    }
    return [
        measure(
            name,
            "µs",
            repeats,
            lambda call=call: seconds(lambda: [call() for _ in range(number)]) / number * 1e6,  # type: ignore[misc]
        )
        for name, call in calls.items()
    ]


def searches(game: Any, simulations: int, repeats: int) -> list[Figure]:
    """Simulations per second of information set searches: OpenSpiel's, and skyenv's with a hundred
    times as many simulations.
    """
    own = by_agent(
        SearchAgent,
        rollout_policy="random",
        turns=game.get_parameters()["max_turns"],
        temperature=0.0,
        exploration=1.0,
    )
    states = {name: position(game, part) for name, part in PLACES}
    figures = []
    for name, state in states.items():
        figures.append(
            search(
                f"OpenSpiel's ISMCTS, {name}",
                bot_search(game, state, simulations),
                simulations,
                repeats,
            )
        )
    for name, state in states.items():
        look = partial(own(100 * simulations, 1), state.to_game())
        figures.append(search(f"skyenv's ismcts, {name}", look, 100 * simulations, repeats))
    return figures


def bot_search(game: Any, state: Any, simulations: int) -> Callable[[], Any]:
    """OpenSpiel's search of one state."""
    rng = np.random.RandomState(1)
    bot = ismcts.ISMCTSBot(
        game, mcts.RandomRolloutEvaluator(1, rng), 2.0, simulations, random_state=rng
    )
    return partial(bot.step, state)


def search(name: str, look: Callable[[], Any], simulations: int, repeats: int) -> Figure:
    """Simulations per second of a search, after one search as a warm-up."""
    look()
    return measure(name, "simulations/s", repeats, lambda: simulations / seconds(look))


def all_figures(quick: bool) -> list[Figure]:
    """Measure everything; `quick` takes a fifth of the work and of the precision."""
    game = pyspiel.load_game(SHORT_NAME)
    repeats = 3 if quick else 7
    return [
        *random_play(game, 3 if quick else 10, repeats),
        *single_calls(game, 40 if quick else 200, repeats),
        *searches(game, 10 if quick else 50, repeats),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    return report(
        "open_spiel", "Measure skyenv in OpenSpiel.", METHOD, all_figures, arguments, ["open_spiel"]
    )


if __name__ == "__main__":
    sys.exit(main())
