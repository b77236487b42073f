"""Figures of the game: auctions, losses and pure policies."""

import numpy as np
import pytest

from experiments.benchmarks.game import Bidding
from experiments.benchmarks.tasks import play, pure_loss
from skyenv.agents import make_agent
from skyenv.arena.matches import play_game, play_games
from skyenv.solving.responses import policy_of
from skyenv.solving.tree import Opening


@pytest.mark.compiled
@pytest.mark.parametrize("players", [2, 3])
def test_auctions_are_counted_from_events(players: int) -> None:
    agent, bidding = make_agent("greedy"), Bidding()
    play_games([agent], np.zeros((3, players), int), np.arange(3), onlooker=bidding)
    seen = bidding.columns()
    for seed in range(3):
        events = play_game([agent] * players, seed).events
        here = seen["match"] == seed
        wins = here & seen["wins"]
        won = [
            event for event in events if event["event"] == "won" and event["seat"] in range(players)
        ]
        assert seen["begins"][here].sum() == sum(event["event"] == "auction" for event in events)
        assert seen["total"][wins].tolist() == [event["total"] for event in won]
        assert seen["seat"][wins].tolist() == [event["seat"] for event in won]
        assert (seen["vp"][seen["builds"]] > 0).all()


@pytest.mark.compiled
@pytest.mark.parametrize("name", ["duel-3/0", "alea-3/1"])
def test_losses_of_single_actions_sum_to_the_total(name: str) -> None:
    opening = Opening(name)
    policy = policy_of(make_agent("greedy"), opening).policy
    columns = play(opening, policy)
    assert columns.pop("NashConv") == pytest.approx(sum(columns.values()))


@pytest.mark.compiled
@pytest.mark.parametrize(("name", "loss"), [("bluff-2/1026", 0), ("duel-3/1034", 1.204)])
def test_pure_policies_lose_less_than_a_purified_equilibrium(name: str, loss: float) -> None:
    assert pure_loss(Opening(name).tree) == pytest.approx(loss, abs=0.01)
