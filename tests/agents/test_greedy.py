"""The greedy agent: legal, strong, the same in any batch, and blind to what its seat can't know."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from positions import auction, blank, choose, deal_anew, decisions_compiled_or_not, positions, stand

from agents import GreedyAgent
from agents.greedy import WEIGHTS, Weights
from experiments.matches import play_games, rotations
from skyenv.agents import Decisions, RandomAgent, decide, decisions_in
from skyenv.errors import AgentError
from skyenv.knowledge import view
from skyenv.rules.components import BLACK
from skyenv.rules.state import PHASES

GREEDY = GreedyAgent()


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


def test_decides_the_same_without_compilation() -> None:
    told = decisions_compiled_or_not("GreedyAgent")
    assert told[0] == told[1]
    assert told[0].count(",") == 119


# ---- judgement ----


def test_places_businesses_next_to_its_own_skyscrapers() -> None:
    game = blank(phase=2, option=1, business=2)
    stand(game, 3, 1, 0, 3)  # violet, between green and brown
    stand(game, 4, 1, 1, 3)
    assert choose(game, GREEDY) in ("plot TSQ green", "plot TSQ brown")


def test_scores_where_it_stands_well() -> None:
    game = blank(place=[3, 4])
    stand(game, 3, 1, 0, 4)
    stand(game, 4, 1, 1, 4)
    game.state.tiles[3:5, 0] = [1, 1, 0, 0]
    game.state.tiles[3:5, 2] = [0, 0, 1, 1]
    assert choose(game, GREEDY) == "option D TSQ"


def test_bids_the_cheapest_adequate_cards_and_not_more() -> None:
    game = blank()
    stand(game, 3, 1, 0, 1)  # value 8
    game.state.tiles[3, 0] = [1, 1, 0, 0]
    game.state.tiles[3, 2] = [0, 0, 1, 1]
    auction(game, 3, 6, 1)
    state: Any = game.state
    state.hand[0, 1] = [3, 1, 1]
    assert choose(game, GREEDY) == "bid violet 4"
    state.laid, state.bid_total[0], state.bid_colour[0], state.hand[0, 1], state.bid_cards[0, 0] = 0, 4, 1, [2, 1, 1], [1, 0, 0]
    assert choose(game, GREEDY) == "bid violet 4"
    state.laid, state.bid_total[0], state.hand[0, 1], state.bid_cards[0, 0] = 0, 8, [1, 1, 1], [2, 0, 0]
    assert choose(game, GREEDY) == "bid done"


def test_passes_when_the_price_exceeds_the_worth() -> None:
    game = blank(placed=6)
    stand(game, 3, 1, 0, 1)  # value 1
    auction(game, 3, 30, 1)
    state: Any = game.state
    state.hand[0, 1], state.hand[0, BLACK] = [0, 3, 2], [0, 2, 2]
    assert choose(game, GREEDY) == "pass"


def test_ends_the_game_ahead_and_not_behind() -> None:
    for lead, wanted in ((25, True), (-25, False)):
        game = blank(placed=11, score=[50 + lead, 50, 50, 0])
        game.state.row[:] = -1
        game.state.row[18:20] = 0
        assert choose(game, GREEDY).startswith("option B") == wanted


def test_declares_the_stop_that_wins() -> None:
    game = blank(score=[60, 10, 10, 0], stops=1, phase=6, auction_place=3, auction_commissioner=0)
    for plot in range(5):
        stand(game, 3, plot, plot % 3, 1)
    state: Any = game.state
    state.bid_colour[0], state.bid_total[0], state.bid_cards[0, 0] = 0, 4, [1, 0, 0]
    state.highest, state.highest_bidder = 4, 0
    assert choose(game, GREEDY) == "stop"


def test_weights() -> None:
    assert sorted(WEIGHTS) == [2, 3, 4]
    assert GreedyAgent(replace(WEIGHTS[2], point=1.5)).name == "greedy"
    with pytest.raises(AgentError, match="must be its Weights"):
        GreedyAgent({"point": 1})
    assert all(np.isfinite(value) for weights in WEIGHTS.values() for value in vars(weights).values())
    assert isinstance(WEIGHTS[3], Weights)
