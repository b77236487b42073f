"""REINFORCE in one file: one network learns a bidding task by playing all seats.

Needs `pip install --constraint constraints.txt '.[train]'`. `python -m
experiments.baselines.reinforce alea-4` takes a minute on a CPU, and prints NashConv on openings
that training does not use. It is the simplest policy gradient: the only baseline of a return is the
mean of the batch. This file is meant to be read and changed.
"""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import Categorical

from skyenv import NUM_ACTIONS, OBSERVATION_SIZE, Decisions, Games
from skyenv.agents import Evaluations
from skyenv.engine.openings import measured
from skyenv.solving.commands import means, measure
from skyenv_agents.learned.networks import PolicyPlayer

torch.set_num_threads(1)  # more threads slow down such a small network


def policy(network: nn.Module, observation: Tensor, mask: Tensor) -> Categorical:
    """Return the policy over the legal actions."""
    return Categorical(logits=network(observation).masked_fill(mask == 0, -1e9))


@torch.no_grad()
def play(games: Games, network: nn.Module) -> tuple[Tensor, ...]:
    """Play each game once; return observations, masks, actions and returns of all decisions."""
    games.reset()
    steps, returns = [], torch.zeros(games.num_games, games.num_players)
    while len(rows := np.flatnonzero(games.seat >= 0)):
        observation, mask = map(torch.from_numpy, (games.observation[rows], games.mask[rows]))
        action = policy(network, observation, mask).sample()  # type: ignore[no-untyped-call]
        steps.append((observation, mask, action, *map(torch.from_numpy, (rows, games.seat[rows]))))
        games.step(action.numpy(), rows)
        returns[rows] += torch.from_numpy(games.reward[rows])
    observation, mask, action, row, seat = map(torch.cat, zip(*steps, strict=True))
    return observation, mask, action, returns[row, seat]


def train(task: str, seed: int) -> Iterator[tuple[int, nn.Module]]:
    """Train without end; yield the decisions so far and the network before each update."""
    torch.manual_seed(seed)
    games = Games(256, task=task, seed=seed * 10**9, autoreset=False)
    first, last = nn.Linear(OBSERVATION_SIZE, 128), nn.Linear(128, NUM_ACTIONS)
    network = nn.Sequential(first, nn.ReLU(), last)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    decisions = 0
    while True:
        yield decisions, network
        observation, mask, action, returns = play(games, network)
        advantage = (returns - returns.mean()) / (returns.std() + 1e-8)
        log_probability = policy(network, observation, mask).log_prob(action)  # type: ignore[no-untyped-call]
        optimizer.zero_grad()
        (-advantage * log_probability).mean().backward()
        optimizer.step()
        decisions += int((mask.sum(dim=1) > 1).sum())  # forced moves don't count


class NetworkAgent(PolicyPlayer):
    """An agent that samples from the network's policy with each decision's random number."""

    deterministic = False

    def __init__(self, network: nn.Module) -> None:
        self.network = network

    @torch.no_grad()
    def evaluate(self, decisions: Decisions) -> Evaluations:
        """See skyenv.Agent."""
        assert decisions.observation is not None
        arrays = map(torch.from_numpy, (decisions.observation, decisions.mask))
        return policy(self.network, *arrays).probs.double().numpy() * decisions.mask, None


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, and measure NashConv."""
    parser = ArgumentParser(description="Train a network in a bidding task.")
    parser.add_argument("task", help="bidding task for two players")
    parser.add_argument("--decisions", type=int, default=1_000_000, help="default: 1,000,000")
    parser.add_argument("--openings", type=int, default=8, help="measured ones; default: 8")
    parser.add_argument("--seed", type=int, default=1, help="random seed; default: 1")
    options = parser.parse_args(arguments)
    for decisions, network in train(options.task, options.seed):
        print(f"\r{decisions:,} decisions", end="", flush=True)
        if decisions >= options.decisions:
            agent = NetworkAgent(network)
            break
    rows = [measure(agent, name) for name in measured(options.task, options.openings)]
    print(f"\nNashConv {means(rows)['nash_conv']:.3f} VP on {len(rows)} held-out openings")


if __name__ == "__main__":
    main()
