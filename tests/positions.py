"""Positions to try agents in, and what a seat can't see of them exchanged."""

import numpy as np
import numpy.typing as npt

from skyenv.agents import RandomAgent, decide
from skyenv.engine.games import Games
from skyenv.rules.components import BLACK
from skyenv_agents import GreedyAgent


def positions(num_players: int, side: str, number: int = 120) -> Games:
    """Games at all stages, reached by the greedy agent with a random move now and then."""
    games = Games(number, num_players, side, 77)
    greedy, random = GreedyAgent(), RandomAgent()
    for step in range(150):
        rows = np.arange(
            step % 150 * number // 150, number
        )  # row i stops after about 150 · i / number decisions
        actions = decide(games, random if step % 10 == 9 else greedy, rows)
        games.step(actions, rows)
    return games


def deal_anew(state: np.recarray, seat: int, rng: np.random.Generator) -> None:
    """Exchange what `seat` can't know in one game: others' unknown cards, the stacks' order, the
    stream of chance.
    """
    for colour in range(BLACK + 1):
        others = [other for other in range(state.num_players) if other != seat]
        known = state.known[:, colour].copy()
        if colour == BLACK:
            known[:2] += state.deduced  # two players know these of each other since a shuffle
        sizes = [int((state.hand[other, colour] - known[other]).sum()) for other in others]
        pool = state.face_down[colour].copy()
        for other in others:
            pool += state.hand[other, colour] - known[other]
        cards = rng.permutation(np.repeat(np.arange(3), pool))
        for other, size in zip(others, sizes, strict=True):
            state.hand[other, colour] = known[other] + np.bincount(cards[:size], minlength=3)
            cards = cards[size:]
        state.face_down[colour] = np.bincount(cards, minlength=3)
    state.random = rng.integers(1, 2**32, 4)
    state.seed = int(rng.integers(0, 2**62))


def paid_at_random(task: str, number: int, seed: int) -> npt.NDArray[np.float64]:
    """What random play of a task's games brings every seat, float64 (number, players)."""
    games = Games(number, task=task, seed=seed, autoreset=False, observation=False)
    paid = np.zeros(games.reward.shape)
    while (games.seat >= 0).any():
        going = games.seat >= 0
        games.play_random(1)
        paid[going] += games.reward[going]
    return paid
