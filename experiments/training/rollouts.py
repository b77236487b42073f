"""Rollouts of games with a network, and the advantage and targets of every decision.

A game ends for all seats at once; at a truncation (END-5) each seat's value of the last position is
the bootstrap. The last decision of each seat in a rollout has no successor unless the game has
ended: it stays *open* until the next rollout. (Without that, decisions before a long wait, and
defeats by another seat's last action, would be underrepresented.)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from experiments.training.config import Config
from experiments.training.ppo import Batch, Losses, advantages, clipped_losses
from experiments.training.seating import Ended, Tables
from skyenv.agents import Agent
from skyenv.array_types import AnyArray, Bool, Float32, Int16, Int64
from skyenv.errors import OptionError
from skyenv.rules.actions import NUM_ACTIONS, PASS
from skyenv_agents.learned.architecture import VALUES
from skyenv_agents.learned.layout import UsedInputs, used_inputs
from skyenv_agents.learned.networks import Network, NetworkAgent, heuristic_of
from skyenv_agents.learned.torch_network import LOWEST, PolicyNetwork, entropy, in_precision

# Random numbers stay between these: 0 takes the first legal action, and rounding may bring a share
# of a sum up to the whole.
SMALLEST: Final = 2.0**-25
LARGEST: Final = 1.0 - 2.0**-22
# A sampled action with a higher log-probability was near-certain and has hardly a gradient.
CERTAIN: Final = float(np.log(0.99))
# Smaller forward passes use single precision: converting inputs and outputs takes longer than
# bfloat16 saves.
FEWEST_IN_BFLOAT16: Final = 256
# Buffers of a collector that are kept of an open decision.
KEPT: Final = (
    *("codes", "masks", "action", "owner", "chooses", "mine"),
    *("log_probability", "entropy", "value"),
)
# Forward passes have a multiple of so many rows: PyTorch prepares its products anew for every other
# number.
ROWS: Final = 32


@dataclass
class Rollout:
    """The result of a collector.

    Attributes:
        batch: the decisions to learn from. decisions: how many they represent. ended: games that
            ended.
        figures: for the curve.
    """

    batch: Batch
    decisions: int
    ended: list[Ended]
    figures: dict[str, float]


class Improvement:
    """The policy improvement of PPO: advantages of the actions that were played.

    Another improvement, such as look-ahead, notes more of a decision in arrays of its own and has
    other losses.

    Args:
        config: of the training.
    """

    losses: Losses = staticmethod(clipped_losses)

    def __init__(self, config: Config) -> None:
        self.config = config

    def arrays(self, masks: Tensor) -> dict[str, Tensor]:
        """Return arrays for the notes, by name, each with a row for every row of the masks."""
        return {}

    def note(
        self,
        collector: "Collector",
        network: PolicyNetwork,
        t: int,
        mine: Int64,
        log_probabilities: Tensor,
    ) -> None:
        """Note more of the decisions in some columns of step t."""

    def near_certain(self, collector: "Collector") -> Bool:
        """Return the decisions from which hardly anything is learned, bool (T, n)."""
        return collector.log_probability > CERTAIN


class Collector:
    """Plays one part of a training's games, and collects decisions.

    Args:
        config: of the training. part: which part, from 0.
        state: of :meth:`state`, to continue from; None: games that begin.
        improvement: how the policy improves.
    """

    def __init__(
        self,
        config: Config,
        part: int,
        state: dict[str, Any] | None = None,
        improvement: type[Improvement] = Improvement,
    ) -> None:
        self.config, self.steps = config, config.steps
        self.improvement = improvement(config)
        self.pool, self.prior = config.make_pool(), heuristic_of(config.prior)
        self.tables = [Tables(*kind, config.threads) for kind in config.games_of(part)]
        seed = config.seed * config.parts + part
        self.rng = np.random.default_rng(seed)
        self.generator = torch.Generator().manual_seed(seed)
        # Decisions without an estimate yet, k of them, at most one per seat of a game: `columns`,
        # int64 (k,), of their games; `since`, float32 (k, VALUES), the seat's reward since, and by
        # how much it got ahead; `kept`, the content of the buffers by name.
        self.open: dict[str, Any] | None = None
        self._seats = max(each.games.num_players for each in self.tables)
        self.used = used_inputs(self._seats, self.prior is not None)
        self._make_buffers()
        if state is not None:
            self.restore(state)
            return
        for each in self.tables:
            each.spread(self.rng)
            self._seat(each, np.arange(each.games.num_games))

    def state(self) -> dict[str, Any]:
        """Return the state for :meth:`restore`: tensors, numbers and text, without the fixed
        opponents, which the configuration names.
        """
        guests = [guest for each in self.tables for guest in each.guests]
        past = {
            agent.name: {
                "about": dict(agent.network.about),
                "weights": tensors(agent.network.weights),
            }
            for agent in (*self.pool.past, *guests)
            if isinstance(agent, NetworkAgent) and agent not in self.pool.fixed
        }
        return {
            "tables": [each.state() for each in self.tables],
            "guests": [[guest.name for guest in each.guests] for each in self.tables],
            "fixed": {agent.name: agent.version for agent in self.pool.fixed},
            "past": past,
            "pool": [agent.name for agent in self.pool.past],
            "statistics": self.pool.statistics(),
            "rng": self.rng.bit_generator.state,
            "generator": self.generator.get_state(),
            "open": self.open,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from :meth:`state`.

        Raises:
            OptionError: a fixed opponent is another one than it was.
        """
        agents = {agent.name: agent for agent in self.pool.fixed}
        for name, version in state["fixed"].items():
            if name not in agents or agents[name].version != version:
                raise OptionError(f"fixed_opponents: {name} is not the agent that the run used")
        for name, past in state["past"].items():
            agents[name] = past_policy(name, past["weights"], past["about"])
        self.pool.restore([agents[name] for name in state["pool"]], state["statistics"])
        for each, kept, names in zip(self.tables, state["tables"], state["guests"], strict=True):
            each.restore(kept, [agents[name] for name in names])
        self.rng.bit_generator.state = state["rng"]
        self.generator.set_state(state["generator"])
        self.open = state["open"]

    def add_opponent(self, agent: Agent) -> None:
        """Add a past policy to the opponents."""
        self.pool.add(agent)
        for each in self.tables:
            each.forget_unused()

    def _make_buffers(self) -> None:
        ends = np.cumsum([each.games.num_games for each in self.tables]).tolist()
        self.slices = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
        # behind the steps there is a row for what each seat left open
        shape = (self.steps + self._seats, ends[-1])
        self.codes = torch.zeros((*shape, len(self.used.codes)), dtype=torch.int16)
        self.masks = torch.zeros((*shape, NUM_ACTIONS), dtype=torch.bool)
        self.action, self.owner = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        self.chooses, self.mine = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
        self.log_probability = np.zeros(shape, np.float32)
        self.entropy = np.zeros(shape, np.float32)
        self.value = np.zeros((*shape, VALUES), np.float32)
        # What happened to every seat: reward and lead, and the values of a truncated end.
        self.reward = np.zeros((*shape, self._seats, VALUES), np.float32)
        self.ending = np.zeros_like(self.reward)
        self.done = np.zeros(shape, np.bool_)
        self.notes = self.improvement.arrays(self.masks)
        self._kept: dict[str, Any] = {name: getattr(self, name) for name in KEPT} | self.notes

    def _seat(self, tables: Tables, rows: Int64) -> None:
        share = self.config.opponent_share if self.pool.agents else 0.0
        tables.seat(rows, self.pool, share, self.rng, self.config.mixed_share)

    @torch.no_grad()
    def collect(self, network: PolicyNetwork) -> Rollout:
        """Play `steps` decisions in every game."""
        self._take_up()
        ended: list[Ended] = []
        # Around all steps: what inner contexts convert is kept for them; opponents are left alone.
        with in_precision("cpu", False), network.unchanging():
            for t in range(self.steps):
                self._observe(t)
                self._choose(t, network)
                for tables, place in zip(self.tables, self.slices, strict=True):
                    reward, ahead, self.done[t, place] = tables.step(self.action[t, place])
                    seats = slice(tables.games.num_players)
                    self.reward[t, place, seats] = np.stack([reward, ahead], axis=2)
                    ended += self._note_ends(t, tables, place, network)
        return Rollout(*self._batch(), ended, self._figures())

    def _take_up(self) -> None:
        """Write open decisions behind the steps, each into its seat's row."""
        self.reward[:] = self.ending[:] = 0.0
        self.done[:] = self.chooses[self.steps :] = self.mine[self.steps :] = False
        if self.open is None:
            return
        seats, columns = self.open["kept"]["owner"].numpy(), self.open["columns"].numpy()
        rows = self.steps + seats
        self.reward[rows, columns, seats] = self.open["since"].numpy()
        for name, values in self.open["kept"].items():
            self._kept[name][rows, columns] = values

    def _leave_open(self, left: Bool) -> None:
        """Store the decisions without an estimate, bool (T, n), as open."""
        rows, columns = np.nonzero(left)
        since = np.cumsum(self._in_order(self.reward)[::-1], axis=0)[::-1]
        at = (rows + self._seats) % len(since), columns, self.owner[rows, columns]
        kept = {name: torch.as_tensor(array[rows, columns]) for name, array in self._kept.items()}
        self.open = {
            "columns": torch.from_numpy(columns),
            "since": torch.from_numpy(since[at]),
            "kept": kept,
        }

    def _in_order(self, buffer: AnyArray) -> AnyArray:
        """Return a buffer's rows in time order: open decisions, stored last, come first."""
        return np.roll(buffer, self._seats, axis=0)

    def _observe(self, t: int) -> None:
        """Write the seat to act, and the network's inputs of the learner's seats, into step t."""
        for tables, place in zip(self.tables, self.slices, strict=True):
            self.owner[t, place], self.chooses[t, place] = tables.games.seat, tables.chooses()
            self.mine[t, place] = tables.learns() & self.chooses[t, place]
            self.masks[t, place] = torch.from_numpy(tables.games.mask)
            self.action[t, place] = tables.games.mask.argmax(axis=1)  # what is forced, where it is
            rows = np.flatnonzero(self.mine[t, place])
            if rows.size:
                # By NumPy: PyTorch takes five times as long to write rows.
                self.codes[t].numpy()[place.start + rows] = arranged(
                    tables.inputs(rows, self.prior), self.used
                ).numpy()

    def _evaluate(self, t: int, mine: Int64, network: PolicyNetwork) -> Tensor:
        """Evaluate the decisions in some columns of step t: note the values, and return
        log-probabilities (k, 103).
        """
        # Some are repeated, so that their number is a multiple of ROWS.
        rows = torch.from_numpy(np.resize(mine, -(-mine.size // ROWS) * ROWS))
        log_probabilities, values = self.passed(
            network, self.codes[t].index_select(0, rows), self.masks[t].index_select(0, rows)
        )
        log_probabilities = log_probabilities[: mine.size]
        self.entropy[t, mine] = entropy(log_probabilities).numpy()
        self.value[t, mine] = values[: mine.size].numpy()
        return log_probabilities

    def passed(self, network: PolicyNetwork, codes: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """Return a forward pass's outputs, computed in the precision that suits the batch size."""
        with in_precision("cpu", self.config.bfloat16 and len(codes) >= FEWEST_IN_BFLOAT16):
            return network(codes, masks)

    def _choose(self, t: int, network: PolicyNetwork) -> None:
        """Sample an action for every seat of the learner that is to act."""
        mine = np.flatnonzero(self.mine[t])
        if not mine.size:
            return
        log_probabilities = self._evaluate(t, mine, network)
        uniform = torch.rand(mine.size, generator=self.generator)
        action = drawn(log_probabilities, self.masks[t, torch.from_numpy(mine)], uniform)
        self.action[t, mine] = action.numpy()
        self.log_probability[t, mine] = log_probabilities.gather(1, action[:, None])[:, 0].numpy()
        self.improvement.note(self, network, t, mine, log_probabilities)

    def _note_ends(
        self, t: int, tables: Tables, place: slice, network: PolicyNetwork
    ) -> list[Ended]:
        """Take in the games that have just ended, and seat the next ones."""
        over = np.flatnonzero(tables.games.done)
        if not over.size:
            return []
        ended = tables.ended()
        for each in ended:
            if each.opponent is not None:
                self.pool.note(each.opponent, each.share)
        for row in np.flatnonzero(tables.games.truncated).tolist():
            values = self.values_at_end(tables, row, network)
            self.ending[t, place.start + row, : len(values)] = values
        self._seat(tables, over)
        return ended

    def values_at_end(self, tables: Tables, row: int, network: PolicyNetwork) -> Float32:
        """Return the values of a truncated game's last position, float32 (players, VALUES)."""
        codes = arranged(tables.inputs_at_end(row, self.prior), self.used)
        everything = torch.ones((len(codes), NUM_ACTIONS), dtype=torch.bool)
        return self.passed(network, codes, everything)[1].numpy()

    def _batch(self) -> tuple[Batch, int]:
        """Return the batch with its advantages, and how many decisions it represents."""
        found = advantages(
            self._in_order(self.value),
            self._in_order(self.owner),
            self._in_order(self.chooses),
            self._in_order(self.reward),
            self._in_order(self.done),
            self._in_order(self.ending),
            self.config.gamma,
            self.config.gae_lambda,
        )
        estimates, learnable = (np.roll(array, -self._seats, axis=0) for array in found)
        learnable &= self.mine
        self._leave_open(self.mine & ~learnable)
        certain = self.improvement.near_certain(self)
        drawn = self.rng.random(certain.shape, np.float32) < self.config.certain_fraction
        kept, certain = learnable & (~certain | drawn), learnable & certain
        often = certain.sum() / max((certain & kept).sum(), 1)
        arrays = {
            "codes": self.codes.numpy(),
            "masks": self.masks.numpy(),
            "action": self.action,
            "log_probability": self.log_probability,
            "advantage": estimates[..., 0],
            "target": estimates + self.value,
            "weight": np.where(certain, often, 1.0).astype(np.float32),
        }
        chosen = {name: torch.from_numpy(array[kept]) for name, array in arrays.items()}
        notes = {name: torch.from_numpy(array.numpy()[kept]) for name, array in self.notes.items()}
        return Batch(**chosen, notes=notes), int(learnable.sum())

    def _figures(self) -> dict[str, float]:
        """Return a rollout's figures for the curve."""
        now = self.mine[: self.steps]
        legal = self.masks.numpy()[: self.steps][now]
        actions = self.action[: self.steps][now]
        bidding = legal[:, PASS]
        return {
            "entropy": float(self.entropy[: self.steps][now].mean()) if now.any() else 0.0,
            "passes": float((actions[bidding] == PASS).mean()) if bidding.any() else 0.0,
            "illegal": float((~legal[np.arange(len(actions)), actions]).sum()),
        }


def tensors(arrays: Mapping[str, AnyArray]) -> dict[str, Tensor]:
    """Return named arrays as tensors, the form in which files store them."""
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def past_policy(name: str, weights: Mapping[str, Tensor], about: Mapping[str, Any]) -> NetworkAgent:
    """Return an earlier policy of the learner as an opponent."""
    network = Network({key: tensor.numpy() for key, tensor in weights.items()}, about)
    return NetworkAgent(network, name=name)


def arranged(codes: Int16, used: UsedInputs) -> Tensor:
    """Codes, int16 (k, NUM_INPUTS), as the network takes them: those that are used, in the order of
    its inputs.
    """
    return torch.from_numpy(np.take(codes, used.codes, axis=1))


def drawn(log_probabilities: Tensor, masks: Tensor, uniform: Tensor) -> Tensor:
    """Sample a legal action for each row, int64 (k,), by random numbers, float32 (k,) in [0, 1)."""
    # An illegal action adds nothing to the sums, so it is never the first above a limit.
    sums = (log_probabilities.clamp(min=LOWEST).exp() * masks).cumsum(dim=1)
    limit = uniform.clamp(min=SMALLEST, max=LARGEST) * sums[:, -1]
    return (sums > limit[:, None]).to(torch.int8).argmax(dim=1)
