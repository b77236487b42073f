"""The greedy agent: legal, strong, the same in any batch, and blind to what its seat can't know."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import GreedyAgent
from agents.greedy import WEIGHTS, Weights
from experiments.matches import play_games, rotations
from skyenv.agents import Decisions, RandomAgent, decide, decisions_in
from skyenv.errors import AgentError
from skyenv.game import Game
from skyenv.games import Games
from skyenv.knowledge import view
from skyenv.rules.actions import ACTION_NUMBERS
from skyenv.rules.components import BLACK
from skyenv.rules.state import PHASES

ROOT = Path(__file__).parents[2]


def positions(num_players: int, side: str, number: int = 120) -> Games:
    """Games at all stages, reached by the greedy agent with a random move now and then."""
    games = Games(number, num_players, side, 77)
    greedy, random = GreedyAgent(), RandomAgent()
    for step in range(150):
        rows = np.arange(step % 150 * number // 150, number)  # row i stops after about 150 · i / number decisions
        actions = decide(games, random if step % 10 == 9 else greedy, rows)
        games.step(actions, rows)
    return games


@pytest.mark.parametrize("num_players", [2, 3, 4])
@pytest.mark.parametrize("side", ["front", "back"])
def test_plays_legally_to_the_end_and_beats_random(num_players: int, side: str) -> None:
    deals = 24
    seating = rotations(num_players, deals)
    seeds = np.repeat(np.arange(deals), num_players)
    played = play_games([GreedyAgent(), RandomAgent()], seating, seeds, side)  # an illegal action would raise AgentError
    assert played.finished.all()
    assert not played.truncated.any()
    assert played.shares[seating == 0].mean() >= 0.9


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_ends_games_against_itself(num_players: int) -> None:
    played = play_games([GreedyAgent()], np.zeros((60, num_players), int), np.arange(60), "back")
    assert played.finished.all()
    assert not played.truncated.any()


@pytest.mark.parametrize(("num_players", "side"), [(2, "front"), (4, "back")])
def test_decides_alone_as_in_a_batch(num_players: int, side: str) -> None:
    games = positions(num_players, side)
    agent = GreedyAgent()
    alone = [decide(games, agent, [row])[0] for row in range(games.num_games)]
    assert decide(games, agent).tolist() == alone
    backwards = np.arange(games.num_games)[::-1]
    assert decide(games, agent, backwards).tolist() == alone[::-1]


def deal_anew(state: np.recarray, seat: int, rng: np.random.Generator) -> None:
    """Exchange what `seat` can't know in one game: others' unknown cards, the stacks' order, the stream of chance."""
    for colour in range(BLACK + 1):
        others = [other for other in range(state.num_players) if other != seat]
        sizes = [int((state.hand[other, colour] - state.known[other, colour]).sum()) for other in others]
        pool = state.face_down[colour].copy()
        for other in others:
            pool += state.hand[other, colour] - state.known[other, colour]
        cards = rng.permutation(np.repeat(np.arange(3), pool))
        for other, size in zip(others, sizes, strict=True):
            state.hand[other, colour] = state.known[other, colour] + np.bincount(cards[:size], minlength=3)
            cards = cards[size:]
        state.face_down[colour] = np.bincount(cards, minlength=3)
    state.random = rng.integers(1, 2**32, 4)
    state.seed = int(rng.integers(0, 2**62))


@pytest.mark.parametrize(("num_players", "side"), [(2, "front"), (3, "back"), (4, "front")])
def test_does_not_see_what_its_seat_cannot_know(num_players: int, side: str) -> None:
    games = positions(num_players, side)
    agent = GreedyAgent()
    seen = decisions_in(games, agent)
    before = agent.act(seen)
    rng = np.random.default_rng(5)
    phases = set()
    for _ in range(4):
        state = games.state.copy()
        for row in range(games.num_games):
            deal_anew(state[row], int(games.seat[row]), rng)
            phases.add(PHASES[state[row].phase])
        assert (state["hand"] != games.state["hand"]).any()
        other = Decisions(seen.mask, seen.seat, num_players, seen.uniform, view=view(state, games.seat))
        assert np.array_equal(agent.act(other), before)
    assert phases >= {"option", "take", "move", "bid"}


UNCOMPILED = """
from agents import GreedyAgent
from skyenv.agents import decide_game
from skyenv.game import Game
agent, actions = GreedyAgent(), []
for players, side in ((2, "back"), (3, "front")):
    game = Game(players, side, 4)
    for _ in range({number}):
        actions.append(decide_game(game, agent))
        game.play(actions[-1])
print(actions)
"""


def test_decides_the_same_without_compilation() -> None:
    program = UNCOMPILED.format(number=60)
    told = [
        subprocess.run(
            [sys.executable, "-W", "error", "-c", program],
            cwd=ROOT,
            env={**os.environ, "NUMBA_DISABLE_JIT": disabled, "SKYENV_QUIET": "1"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for disabled in ("0", "1")
    ]
    assert told[0] == told[1]
    assert told[0].count(",") == 119


# ---- judgement ----


def blank(**fields: Any) -> Game:
    """A 3-player game after the start (no Alea), seat 0 on turn, with an empty board, no businesses and no cards."""
    game = Game(3, seed=1)
    while game.phase == "start":
        game.play(game.legal_actions[0])
    state: Any = game.state
    state.owner[:], state.floors[:], state.tiles[:] = -1, 0, 0
    state.hand[:], state.known[:] = 0, 0
    for name, value in fields.items():
        state[name] = value
    return game


def choose(game: Game) -> str:
    """The greedy agent's action, by name."""
    game.refresh()
    decisions = decisions_in(game._games, GreedyAgent())
    names = {number: name for name, number in ACTION_NUMBERS.items()}
    return names[int(GreedyAgent().act(decisions)[0])]


def stand(game: Game, district: int, plot: int, seat: int, floors: int) -> None:
    """Put skyscrapers on a plot."""
    state: Any = game.state
    state.owner[district, plot], state.floors[district, plot] = seat, floors


def test_places_businesses_next_to_its_own_skyscrapers() -> None:
    game = blank(phase=2, option=1, business=2)
    stand(game, 3, 1, 0, 3)  # violet, between green and brown
    stand(game, 4, 1, 1, 3)
    assert choose(game) in ("plot TSQ green", "plot TSQ brown")


def test_scores_where_it_stands_well() -> None:
    game = blank(place=[3, 4])
    stand(game, 3, 1, 0, 4)
    stand(game, 4, 1, 1, 4)
    game.state.tiles[3:5, 0] = [1, 1, 0, 0]
    game.state.tiles[3:5, 2] = [0, 0, 1, 1]
    assert choose(game) == "option D TSQ"


def auction(game: Game, place: int, highest: int, bidder: int) -> None:
    """Seat 0 decides about an auction in which another seat has the highest bid."""
    state: Any = game.state
    state.phase, state.auction_place, state.auction_commissioner = 5, place, 0
    state.highest, state.highest_bidder = highest, bidder
    state.bid_total[bidder], state.bid_colour[bidder], state.bid_cards[bidder, 0] = highest, 4, [0, 0, highest // 6]
    state.laid = -1
    state.place[0] = 8


def test_bids_the_cheapest_adequate_cards_and_not_more() -> None:
    game = blank()
    stand(game, 3, 1, 0, 1)  # value 8
    game.state.tiles[3, 0] = [1, 1, 0, 0]
    game.state.tiles[3, 2] = [0, 0, 1, 1]
    auction(game, 3, 6, 1)
    state: Any = game.state
    state.hand[0, 1] = [3, 1, 1]
    assert choose(game) == "bid violet 4"
    state.laid, state.bid_total[0], state.bid_colour[0], state.hand[0, 1], state.bid_cards[0, 0] = 0, 4, 1, [2, 1, 1], [1, 0, 0]
    assert choose(game) == "bid violet 4"
    state.laid, state.bid_total[0], state.hand[0, 1], state.bid_cards[0, 0] = 0, 8, [1, 1, 1], [2, 0, 0]
    assert choose(game) == "bid done"


def test_passes_when_the_price_exceeds_the_worth() -> None:
    game = blank(placed=6)
    stand(game, 3, 1, 0, 1)  # value 1
    auction(game, 3, 30, 1)
    state: Any = game.state
    state.hand[0, 1], state.hand[0, BLACK] = [0, 3, 2], [0, 2, 2]
    assert choose(game) == "pass"


def test_ends_the_game_ahead_and_not_behind() -> None:
    for lead, wanted in ((25, True), (-25, False)):
        game = blank(placed=11, score=[50 + lead, 50, 50, 0])
        game.state.row[:] = -1
        game.state.row[18:20] = 0
        assert choose(game).startswith("option B") == wanted


def test_declares_the_stop_that_wins() -> None:
    game = blank(score=[60, 10, 10, 0], stops=1, phase=6, auction_place=3, auction_commissioner=0)
    for plot in range(5):
        stand(game, 3, plot, plot % 3, 1)
    state: Any = game.state
    state.bid_colour[0], state.bid_total[0], state.bid_cards[0, 0] = 0, 4, [1, 0, 0]
    state.highest, state.highest_bidder = 4, 0
    assert choose(game) == "stop"


def test_weights() -> None:
    assert sorted(WEIGHTS) == [2, 3, 4]
    assert GreedyAgent(replace(WEIGHTS[2], point=1.5)).name == "greedy"
    with pytest.raises(AgentError, match="must be Weights"):
        GreedyAgent({"point": 1})  # type: ignore[arg-type]
    assert all(np.isfinite(value) for weights in WEIGHTS.values() for value in vars(weights).values())
    assert isinstance(WEIGHTS[3], Weights)
