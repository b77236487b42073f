"""Positions to try agents in, and what a seat can't see of them exchanged."""

from typing import Any

import numpy as np
import numpy.typing as npt

from skyenv.agents import Agent, RandomAgent, decide, decisions_in
from skyenv.engine.game import Game
from skyenv.engine.games import Games
from skyenv.rules.actions import ACTION_NAMES
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


def blank(**fields: Any) -> Game:
    """A 3-player game after the start (no Alea), seat 0 on turn, with an empty board, no businesses
    and no cards.
    """
    game = Game(3, seed=1)
    while game.phase == "start":
        game.play(game.legal_actions[0])
    state: Any = game.state
    state.owner[:], state.floors[:], state.tiles[:] = -1, 0, 0
    state.hand[:], state.known[:] = 0, 0
    for name, value in fields.items():
        state[name] = value
    return game


def choose(game: Game, agent: Agent) -> str:
    """The agent's action, by name."""
    game.refresh()
    return ACTION_NAMES[int(agent.act(decisions_in(game.batch, agent))[0])]


def stand(game: Game, district: int, plot: int, seat: int, floors: int) -> None:
    """Put skyscrapers on a plot."""
    state: Any = game.state
    state.owner[district, plot], state.floors[district, plot] = seat, floors


def auction(game: Game, place: int, highest: int, bidder: int) -> None:
    """Seat 0 decides about an auction in which another seat has the highest bid."""
    state: Any = game.state
    state.phase, state.auction_place, state.auction_commissioner = 5, place, 0
    state.highest, state.highest_bidder = highest, bidder
    state.bid_total[bidder], state.bid_colour[bidder], state.bid_cards[bidder, 0] = (
        highest,
        4,
        [0, 0, highest // 6],
    )
    state.laid = -1
    state.place[0] = 8


def paid_at_random(task: str, number: int, seed: int) -> npt.NDArray[np.float64]:
    """What random play of a task's games brings every seat, float64 (number, players)."""
    games = Games(number, task=task, seed=seed, autoreset=False, observation=False)
    paid = np.zeros(games.reward.shape)
    while (games.seat >= 0).any():
        going = games.seat >= 0
        games.play_random(1)
        paid[going] += games.reward[going]
    return paid
