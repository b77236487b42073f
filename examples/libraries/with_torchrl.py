"""REINFORCE in TorchRL: a batched `EnvBase`, masked rollouts, and one policy for all seats.

``python examples/libraries/with_torchrl.py`` learns from two rollouts and prints the steps per
second of the second one. Needs `pip install -r examples/libraries/with_torchrl.txt`.
"""

import argparse
import time
from typing import Any

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torchrl.data import Binary, Bounded, Categorical, Composite, Unbounded
from torchrl.envs import EnvBase
from torchrl.modules import MaskedCategorical, ProbabilisticActor
from torchrl.objectives.value.functional import reward2go

from skyenv import Games

# ---- environment ----


class FifthAvenueEnv(EnvBase):  # type: ignore[misc]
    """A TorchRL environment of n games with p players; a step plays one decision in each game.

    Entries: `observation`, float32 (n, OBSERVATION_SIZE), and `action_mask`, bool (n, 103), of the
    seat to act; `seat`, int64 (n, 1), that seat, −1 after the end; `action`, int64 (n,); `reward`,
    float32 (n, p), of all seats; `done`, `terminated` and `truncated`, bool (n, 1).

    After the end the mask allows action 0, which is never played, as an empty mask in the next step
    gives some losses NaN. A reset row starts the game with its previous seed + n.

    Args:
        num_games: number of games (rows), n.
        num_players: 2 to 4.
        seed: seed of row 0's first game; row i has seed + i. None: from the operating system.
            `set_seed` takes effect at the next reset of all rows.
        options: further options of :class:`skyenv.Games`, except `autoreset`.

    Raises:
        IllegalActionError: an action of a step is illegal; the games are unchanged.
    """

    def __init__(
        self, num_games: int, num_players: int = 2, seed: int | None = None, **options: Any
    ) -> None:
        super().__init__(batch_size=(num_games,))
        self.games = Games(num_games, num_players, seed=seed, autoreset=False, **options)
        self.next_seed: int | None = int(self.games.seeds[0])
        observation, mask = self.games.observation, self.games.mask
        self.observation_spec = Composite(
            observation=Unbounded(observation.shape, dtype=torch.from_numpy(observation).dtype),
            action_mask=Binary(shape=mask.shape, dtype=torch.bool),
            seat=Bounded(-1, num_players - 1, (num_games, 1), dtype=torch.int64),
            shape=self.batch_size,
        )
        self.action_spec = Categorical(mask.shape[1], (num_games,))
        self.reward_spec = Unbounded((num_games, num_players))
        flags = {
            name: Binary(shape=(num_games, 1), dtype=torch.bool)
            for name in ("done", "terminated", "truncated")
        }
        self.done_spec = Composite(flags, shape=self.batch_size)

    def _observe(self) -> TensorDict:
        seat = torch.tensor(self.games.seat)  # a copy, as the next step overwrites the array
        mask = torch.from_numpy(self.games.mask) != 0
        mask[:, 0] |= seat < 0
        entries = {
            "observation": torch.tensor(self.games.observation),
            "action_mask": mask,
            "seat": seat[:, None],
        }
        return TensorDict(entries, self.batch_size)

    def _reset(self, tensordict: Any = None, **_: Any) -> TensorDict:
        is_reset = None if tensordict is None else tensordict.get("_reset", None)
        if is_reset is None:
            self.games.reset(self.next_seed)
            self.next_seed = None
        else:
            self.games.reset(rows=is_reset.flatten().nonzero().flatten().numpy())
        return self._observe()

    def _step(self, tensordict: Any) -> TensorDict:
        playing = tensordict.get("_step", None)  # set while finished rows wait for the others
        rows = None if playing is None else playing.flatten().nonzero().flatten().numpy()
        actions = tensordict["action"].numpy()
        self.games.step(actions if rows is None else actions[rows], rows)
        done, truncated = (
            torch.tensor(self.games.done)[:, None],
            torch.tensor(self.games.truncated)[:, None],
        )
        ends = {
            "reward": torch.tensor(self.games.reward),
            "done": done,
            "terminated": done & ~truncated,
        }
        return self._observe().update(ends | {"truncated": truncated})

    def _set_seed(self, seed: int | None) -> None:
        self.next_seed = seed


# ---- training ----


def make_policy(env: FifthAvenueEnv) -> Any:
    """Return a linear policy that samples legal actions."""
    scores = torch.nn.Linear(env.games.observation.shape[1], env.games.mask.shape[1])
    module = TensorDictModule(scores, in_keys=["observation"], out_keys=["logits"])
    keys = {"logits": "logits", "mask": "action_mask"}
    return ProbabilisticActor(module, in_keys=keys, distribution_class=MaskedCategorical)


def learn(policy: Any, optimizer: torch.optim.Optimizer, played: Any) -> float:
    """Take a REINFORCE step on the return of each decision's seat; return the loss."""
    rewards = played["next", "reward"]
    returns = (
        reward2go(rewards, played["next", "done"].expand_as(rewards), 1.0)
        .gather(-1, played["seat"])
        .squeeze(-1)
    )
    loss = -(policy.get_dist(played).log_prob(played["action"]) * (returns - returns.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss.detach())


def main(arguments: list[str] | None = None) -> None:
    """Run rollouts, learn and print steps per second."""
    parser = argparse.ArgumentParser(description="Rollouts in TorchRL.")
    parser.add_argument("--games", type=int, default=256)
    parser.add_argument("--steps", type=int, default=200, help="steps per game")
    options = parser.parse_args(arguments)
    torch.manual_seed(1)
    env = FifthAvenueEnv(options.games, seed=1, reward="margin")
    policy = make_policy(env)
    optimizer = torch.optim.Adam(policy.parameters())
    for _ in range(2):
        started = time.perf_counter()
        with torch.no_grad():
            played = env.rollout(options.steps, policy, break_when_any_done=False)
        seconds = time.perf_counter() - started
        print(
            f"{int(played['next', 'done'].sum())} games ended, loss "
            f"{learn(policy, optimizer, played):.4f}"
        )
    print(f"{options.games * options.steps / seconds:,.0f} steps/s")


if __name__ == "__main__":
    main()
