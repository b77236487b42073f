"""What a tree search holds of a position: how often it tried each action, and the outcome that it
expects. Core only.
"""

import numpy as np

from skyenv import ACTION_NAMES, Game, make_agent
from skyenv.agents import decide_game, evaluation_of
from skyenv_agents import SearchAgent


def main(seed: int = 8, simulations: int = 200) -> None:
    """Let greedy play eight turns, and search where the next one chooses its option."""
    game, greedy = Game(num_players=2, seed=seed), make_agent("greedy")
    while game.turn < 8 or game.phase != "option":
        game.play(decide_game(game, greedy))
    print(game)

    evaluation = evaluation_of(game, SearchAgent(simulations=simulations))
    assert evaluation is not None
    print(f"seat {game.seat} expects {evaluation.value:+.2f} (−1: lost, +1: won)")
    for action in np.argsort(-evaluation.probabilities)[:5]:
        print(f"{evaluation.probabilities[action]:6.1%}  {ACTION_NAMES[action]}")


if __name__ == "__main__":
    main()
