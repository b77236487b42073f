"""REINFORCE with PettingZoo: two networks, one per seat, learn against each other from their VP.

Needs `pip install --constraint constraints.txt '.[train,pettingzoo]'`. `python -m
experiments.baselines.two_policies 1000` plays 1,000 games, which takes some minutes.
"""

from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributions import Categorical

from skyenv import NUM_ACTIONS, OBSERVATION_SIZE, fifth_avenue_v0

torch.set_num_threads(1)  # more threads slow down such a small network
DISCOUNT = 0.98


def policy(network: nn.Module, observation: Tensor, mask: Tensor) -> Any:
    """Return the policy over the legal actions, a Categorical, whose methods are untyped."""
    return Categorical(logits=network(observation).masked_fill(mask == 0, -1e9))


@torch.no_grad()
def play(env: Any, networks: dict[str, nn.Module], seed: int) -> tuple[Any, Any]:
    """Play a game; return each agent's steps and the reward after each step."""
    steps: dict[str, list[tuple[Tensor, ...]]] = {agent: [] for agent in networks}
    rewards: dict[str, list[float]] = {agent: [] for agent in networks}
    env.reset(seed=seed)
    for agent in env.agent_iter():
        view, reward, termination, truncation, _ = env.last()
        rewards[agent] += [reward] if steps[agent] else []  # reward of its previous action
        action = None
        if not (termination or truncation):
            observation, mask = map(torch.from_numpy, (view["observation"], view["action_mask"]))
            action = policy(networks[agent], observation, mask).sample()
            steps[agent].append((observation, mask, action))
        env.step(None if action is None else int(action))
    return steps, rewards


def learn(
    network: nn.Module, optimizer: torch.optim.Optimizer, steps: Any, rewards: list[float]
) -> None:
    """Take a gradient step on one agent's decisions of a game."""
    observation, mask, action = map(torch.stack, zip(*steps, strict=True))
    returns = torch.tensor(rewards)
    for i in reversed(range(len(returns) - 1)):
        returns[i] += DISCOUNT * returns[i + 1]
    advantage = (returns - returns.mean()) / (returns.std() + 1e-8)
    actions = policy(network, observation, mask)
    loss = -(advantage * actions.log_prob(action)).mean() - 0.01 * actions.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main(arguments: Sequence[str] | None = None) -> None:
    """Train for some games; print the seats' mean VP."""
    parser = ArgumentParser(description="Train one policy for each seat.")
    parser.add_argument("games", type=int, help="number of games")
    games = parser.parse_args(arguments).games
    torch.manual_seed(1)
    env = fifth_avenue_v0.env(num_players=2, reward="points")
    networks: dict[str, nn.Module] = {
        agent: nn.Sequential(
            nn.Linear(OBSERVATION_SIZE, 128), nn.ReLU(), nn.Linear(128, NUM_ACTIONS)
        )
        for agent in env.possible_agents
    }
    optimizers = {
        agent: torch.optim.Adam(network.parameters(), lr=1e-3)
        for agent, network in networks.items()
    }
    scores: list[list[float]] = []
    for game in range(games):
        steps, rewards = play(env, networks, seed=game)
        scores.append([sum(rewards[agent]) for agent in networks])
        for agent in networks:
            learn(networks[agent], optimizers[agent], steps[agent], rewards[agent])
        if (game + 1) % 50 == 0:
            mean = torch.tensor(scores[-50:]).mean(dim=0).tolist()
            print(f"game {game + 1}: VP of the seats {mean[0]:.1f}, {mean[1]:.1f}", flush=True)


if __name__ == "__main__":
    main()
