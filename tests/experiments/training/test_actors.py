"""Actors: processes play what one process would."""

import pytest
import torch

from experiments.training.actors import Actors
from experiments.training.config import Config
from experiments.training.rollouts import Collector, Improvement
from processes import Threads
from skyenv_agents.learned.networks import NetworkAgent
from skyenv_agents.learned.torch_network import PolicyNetwork
from trainings import content, tiny


def networks(config: Config, number: int) -> list[PolicyNetwork]:
    """Different ones."""
    made = [config.make_network() for _ in range(number)]
    for i, network in enumerate(made):
        chance = torch.Generator().manual_seed(i)
        with torch.no_grad():
            for one in network.parameters():
                one.add_(0.05 * i * torch.randn(one.shape, generator=chance))
    return made


@pytest.mark.parametrize("processes", [1, 2, pytest.param(3, marks=pytest.mark.long)])
def test_actors_give_the_rollouts_of_local_collectors(
    processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand: with one process of the network as it is; with more the first two are of the first
    network, then each is of that of the call before. Past policies come, and what was packed goes
    on the same.
    """
    config = tiny(
        processes=processes,
        games=11,
        opponent_share=1.0,
        fixed_share=0.3,
        fixed_opponents="random,greedy",
        max_turns=2,
        steps=40,
    )
    given = networks(config, 5)
    actors = Actors(Improvement, config, given[0])
    collectors = [Collector(config, part) for part in range(config.parts)]
    frozen = given[1].frozen({})
    for i in range(4):
        if i == 1:
            actors.add_past("past-1", frozen)
        if i == 1 + (processes > 1):  # those under way have begun without it
            for one in collectors:
                one.add_opponent(NetworkAgent(frozen, name="past-1"))
        if i == 2:
            kept = actors.pack()
            actors.end()
            if processes == 2:  # a worker takes seconds to start, so that a thread goes on
                monkeypatch.setattr("experiments.training.actors.open_pool", lambda *_: Threads())
            actors = Actors(Improvement, config, given[4], kept)  # whose weights don't count
        with_network = given[i + 1] if processes == 1 else given[i]
        wanted = content([one.collect(with_network) for one in collectors])
        rollouts = actors.rollouts(given[i + 1])
        assert content(rollouts) == wanted
    actors.end()
    assert "past-1" in {one.opponent for rollout in rollouts for one in rollout.ended}
