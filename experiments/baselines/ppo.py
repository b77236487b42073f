"""Masked PPO in one file, after CleanRL: one learner against agents on the other seats.

Needs `pip install --constraint constraints.txt '.[train]'`. `python -m
experiments.baselines.ppo --steps 1000000` takes some minutes on a CPU. This file is meant to be
read and changed; the trainer of `make train` is faster and starts from a heuristic.
"""

import time
from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Final

import gymnasium
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

import skyenv  # noqa: F401 (importing it registers the environment)
from skyenv import NUM_ACTIONS, OBSERVATION_SIZE, Agent, Decisions
from skyenv.agents import sample
from skyenv.arena.evaluate import evaluate, table

torch.set_num_threads(1)  # more threads slow down such a small network


# Options: default, and help text.
OPTIONS: Final = {
    "steps": (1_000_000, "total decisions of the learner"),
    "num-envs": (64, "concurrent games"),
    "rollout": (64, "decisions in each game per update"),
    "epochs": (3, "passes over a rollout"),
    "minibatches": (4, "minibatches in a pass"),
    "learning-rate": (0.0005, "Adam's learning rate"),
    "discount": (1.0, "per decision; 1: none, as episodes are finite"),
    "trace": (0.95, "λ of the advantages (GAE)"),
    "clip": (0.2, "clip range of the probability ratio"),
    "entropy": (0.01, "weight of the entropy bonus"),
    "value-weight": (0.5, "weight of the value loss"),
    "max-gradient": (0.5, "clip the gradient's norm"),
    "hidden": (128, "units of each of two hidden layers"),
    "players": (2, "number of players"),
    "side": ("front", "side of the board"),
    "opponent": ("random", "agent on all other seats"),
    "paired-seeds": (100, "of the final evaluation; 0: none"),
    "seed": (1, "random seed"),
}


def options_of(arguments: Sequence[str] | None = None) -> Namespace:
    """Read the command line."""
    parser = ArgumentParser(
        description="Train masked PPO against an agent.",
        formatter_class=ArgumentDefaultsHelpFormatter,
    )
    for name, (default, text) in OPTIONS.items():
        parser.add_argument(f"--{name}", type=type(default), default=default, help=text)
    rewards = ("outcome", "margin", "points")
    parser.add_argument("--reward", choices=rewards, default="outcome", help="reward")
    return parser.parse_args(arguments)


class Network(nn.Module):
    """A policy and value network with a shared trunk."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(OBSERVATION_SIZE, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()
        )
        self.policy = nn.Linear(hidden, NUM_ACTIONS)
        self.value = nn.Linear(hidden, 1)

    def forward(
        self, observation: Tensor, mask: Tensor
    ) -> tuple[torch.distributions.Categorical, Tensor]:
        """Return the policy over the legal actions, and the expected return, (k,)."""
        features = self.trunk(observation)
        logits = self.policy(features).masked_fill(mask == 0, -1e9)  # −∞ gives NaN in the entropy
        return torch.distributions.Categorical(logits=logits), self.value(features)[:, 0]


class NetworkAgent(Agent):
    """An agent that samples from the network's policy with each decision's random number."""

    name = "ppo"
    uses_observation = True

    def __init__(self, network: Network) -> None:
        self.network = network

    def act(self, decisions: Decisions) -> npt.NDArray[np.int64]:
        """See skyenv.Agent."""
        assert decisions.observation is not None
        with torch.inference_mode():
            policy, _ = self.network(
                torch.from_numpy(decisions.observation), torch.from_numpy(decisions.mask)
            )
        return sample(policy.probs.double().numpy() * decisions.mask, decisions.uniform)


def advantages(
    rewards: Tensor, values: Tensor, ends: Tensor, last_value: Tensor, options: Namespace
) -> Tensor:
    """Return generalized advantage estimates, (steps, envs).

    `ends` is 1 where a step ended an episode, else 0.
    """
    sums, running = torch.zeros_like(rewards), torch.zeros_like(last_value)
    for t in reversed(range(len(rewards))):
        following = last_value if t == len(rewards) - 1 else values[t + 1]
        continues = 1.0 - ends[t]
        td_error = rewards[t] + options.discount * following * continues - values[t]
        running = td_error + options.discount * options.trace * continues * running
        sums[t] = running
    return sums


def update(
    network: Network, optimizer: torch.optim.Optimizer, batch: dict[str, Tensor], options: Namespace
) -> None:
    """Run some epochs of PPO's clipped policy gradient on one rollout."""
    number = len(batch["action"])
    for _ in range(options.epochs):
        for rows in torch.randperm(number).chunk(options.minibatches):
            policy, value = network(batch["observation"][rows], batch["mask"][rows])
            ratio = (policy.log_prob(batch["action"][rows]) - batch["log_prob"][rows]).exp()
            advantage = batch["advantage"][rows]
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            clipped = ratio.clamp(1 - options.clip, 1 + options.clip)
            policy_loss = -torch.min(advantage * ratio, advantage * clipped).mean()
            value_loss = (value - batch["return"][rows]).square().mean()
            loss = (
                policy_loss
                + options.value_weight * value_loss
                - options.entropy * policy.entropy().mean()
            )
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), options.max_gradient)
            optimizer.step()


def train(options: Namespace) -> Network:
    """Train a network against the opponent and return it."""
    torch.manual_seed(options.seed)
    # SAME_STEP resets finished rows in the same step, so masks are never empty
    envs = gymnasium.make_vec(
        "skyenv/FifthAvenue-v0",
        num_envs=options.num_envs,
        num_players=options.players,
        side=options.side,
        reward=options.reward,
        opponents=options.opponent,
        autoreset_mode="SameStep",
    )
    network = Network(options.hidden)
    optimizer = torch.optim.Adam(network.parameters(), lr=options.learning_rate, eps=1e-5)
    observation, info = envs.reset(seed=options.seed)
    start, done_steps, returns = time.monotonic(), 0, []
    while done_steps < options.steps:
        rows: dict[str, list[Tensor]] = {}
        for _ in range(options.rollout):
            current, mask = (
                torch.as_tensor(observation).clone(),
                torch.as_tensor(info["action_mask"]).clone(),
            )
            with torch.no_grad():
                policy, value = network(current, mask)
            action = policy.sample()
            observation, reward, terminated, truncated, info = envs.step(action.numpy())
            ended = terminated | truncated
            returns += reward[ended].tolist()
            step = {
                "observation": current,
                "mask": mask,
                "action": action,
                "log_prob": policy.log_prob(action),
                "value": value,
                "reward": torch.as_tensor(reward, dtype=torch.float32),
                "end": torch.as_tensor(ended, dtype=torch.float32),
            }
            for name, entry in step.items():
                rows.setdefault(name, []).append(entry)
        stacked = {name: torch.stack(entries) for name, entries in rows.items()}
        with torch.no_grad():
            _, last_value = network(
                torch.as_tensor(observation), torch.as_tensor(info["action_mask"])
            )
        stacked["advantage"] = advantages(
            stacked["reward"], stacked["value"], stacked["end"], last_value, options
        )
        stacked["return"] = stacked["advantage"] + stacked["value"]
        update(
            network,
            optimizer,
            {name: entries.flatten(0, 1) for name, entries in stacked.items()},
            options,
        )
        done_steps += options.num_envs * options.rollout
        rate = done_steps / (time.monotonic() - start)
        recent = np.mean(returns[-500:]) if returns else float("nan")
        print(
            f"{done_steps:>9,} decisions  {rate:6,.0f}/s  mean return of the last episodes "
            f"{recent:+.2f}",
            flush=True,
        )
    envs.close()
    return network


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, then evaluate the agent on paired seeds that training does not use."""
    options = options_of(arguments)
    network = train(options)
    torch.save(network.state_dict(), "ppo.pt")
    print("the network's weights are in ppo.pt")
    if options.paired_seeds:
        found = evaluate(
            NetworkAgent(network),
            [options.opponent, "greedy"],
            options.players,
            options.side,
            paired_seeds=options.paired_seeds,
            seed=10**9,
        )
        print(table(found))


if __name__ == "__main__":
    main()
