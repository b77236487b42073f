"""Train an agent: ``python -m experiments.training.train --run runs/first --players 2 --minutes 5 --prior greedy``.

A self-play PPO on the batch engine. All seats of a table learn at once, one network for all of them; in a share of the games an
opponent from a pool of fixed ones and past policies has all seats but one. The whole algorithm is in this file; folder,
checkpoints, Ctrl-C and resuming are in :mod:`experiments.training.runs`. What is written as ``model.npz`` plays as an agent by
this path.

The particulars of a game for several:

* A seat's step goes from one of its decisions to its next one: what it was rewarded in between belongs to the first
  (:func:`advantages`). Discounting counts a seat's own decisions.
* A game's end is the end for every seat. At a truncation (END-5) each seat's value of the last position stands for the rest.
* The last decision of each seat in a rollout has no successor to compare with: it is not learned from.
* Winning counts and not by how much: the reward is the outcome. A potential (:func:`potential`) says on the way who is ahead;
  what it adds to a game's rewards sums to 0. (A reward of VP made players that took risks for high scores and won less.)
* The agent that is written, and the past policies, have the mean of the latest weights (Polyak averaging): the noise of the last
  steps costs strength that a mean keeps.
* With a prior the policy starts as what a heuristic agent holds to be best, and the network learns to correct it. The first
  `value_updates` updates then train the value alone, because advantages against an untrained value would undo the prior.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from experiments.training.config import RunConfig, earlier
from experiments.training.runs import PAST, Run, launch
from skyenv.agents import Agent, decide, decisions_in
from skyenv.commands import exit_code
from skyenv.errors import OptionError
from skyenv.games import HIGHEST_SEED, Games, outcome_of, results
from skyenv.kernels import REWARDS
from skyenv.observation import OBSERVATION_SIZE, SCALE
from skyenv.options import as_text, option, parse
from skyenv.rules.actions import NUM_ACTIONS, PASS
from skyenv_agents.heuristic.player import HeuristicAgent
from skyenv_agents.heuristic.win_probability import win_probabilities
from skyenv_agents.learned.networks import HEURISTICS, Network, NetworkAgent, heuristic_of, prior_scores
from skyenv_agents.learned.pool import SAMPLINGS, OpponentPool

ILLEGAL: Final = -1e9
"""Logit of an illegal action: its probability is exactly 0."""
LARGEST: Final = 1.0 - 2.0**-22
"""Random numbers are kept below this, so that rounding doesn't bring a share of a sum up to the whole."""
EVERYBODY: Final = -1
"""Stands for the learner's seat where it has all seats."""
SEEDS_APART: Final = 10**9
"""Between the seeds of two kinds of tables: more games than a run plays."""

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]


MOST: Final = 10**7
"""Of whatever is counted."""


@dataclass(frozen=True)
class Config(RunConfig):
    """The options of a training."""

    reward: str = option("outcome", "what is learned from (see the README)", choices=REWARDS)
    shaping: float = option(1.0, "weight of the potential that tells on the way who is ahead; 0: none")
    games: int = option(128, "games played side by side, of all kinds of tables together", low=1, high=MOST)
    steps: int = option(128, "decisions in each of them between updates", low=1, high=MOST)
    batch: int = option(1024, "decisions in one gradient step", low=1, high=MOST)
    epochs: int = option(2, "passes over the decisions of an update", low=1, high=MOST)
    learning_rate: float = option(1e-3, "Adam's step size at the beginning", above=True, high=1)
    final_rate: float = option(0.1, "share of it that is left at the end; in between it falls evenly", high=1)
    warm_up: int = option(10, "updates in which the step size of a beginning policy rises to that; 0: none", high=MOST)
    gamma: float = option(1.0, "discount of a decision", above=True, high=1)
    gae_lambda: float = option(0.9, "lambda of the advantage estimate", high=1)
    clip: float = option(0.2, "how far the probability of an action may change in an update, as a share", above=True, high=1)
    entropy: float = option(0.005, "weight of the entropy bonus")
    value_weight: float = option(0.5, "weight of the value's squared error")
    max_gradient: float = option(0.5, "longest gradient; longer ones are shortened", above=True)
    averaging: float = option(
        0.05, "a: the agent has a mean of the weights in which the k-th of n updates counts (k/n)^(1/a)", high=1
    )
    start: str = option("", "network file (model.npz) to start from", metavar="FILE")
    hidden: int = option(64, "width of the shared layer; policy and value each have one more of half the width", low=1, high=MOST)
    prior: str = option("", "heuristic agent whose scores the policy starts from and sees", choices=("", *HEURISTICS))
    value_updates: int = option(30, "with a prior: updates in the beginning that train the value alone", high=MOST)
    opponent_share: float = option(
        0.6, "share of the games in which an opponent has all seats but one; 0: self-play alone", high=1
    )
    fixed_opponents: tuple[str, ...] = option(("random", "greedy"), "opponents that stay", metavar="AGENT")
    fixed_share: float = option(0.85, "share of the opponents that are fixed; the others are past policies", high=1)
    sampling: str = option("hard", "how opponents are drawn", choices=SAMPLINGS)
    past_policies: int = option(8, "past policies in the pool of opponents", high=MOST)
    snapshot: int = option(100, "updates between two past policies", low=1, high=MOST)
    device: str = option("auto", "where the network learns; auto: cuda if there is one", choices=("auto", "cpu", "cuda"))

    def check(self) -> None:
        """Raise OptionError, naming the option, if options don't fit together or name what isn't there."""
        super().check()
        if any(opponent.name.startswith(f"{PAST}-") for opponent in self.make_pool().fixed):
            raise OptionError(
                f"fixed_opponents must not be called {PAST}-…, as past policies are: {as_text(self.fixed_opponents)}"
            )
        if self.games < len(self.tables):
            raise OptionError(f"games must be at least {len(self.tables)}, one for each kind of table")
        if self.opponent_share and not self.fixed_opponents and not self.past_policies:
            raise OptionError("opponent_share above 0 needs fixed_opponents or past_policies")
        if self.device == "cuda" and not torch.cuda.is_available():
            raise OptionError("device cuda is not available here; cpu is")
        self.make_network()

    def make_pool(self) -> OpponentPool:
        """The pool as it is at the beginning.

        Raises:
            OptionError: a fixed opponent doesn't exist, or two have one name. CheckpointError: a checkpoint among them can't be
                used.
        """
        fixed = self.make_agents("fixed_opponents")
        try:
            return OpponentPool(fixed, self.fixed_share, self.past_policies, self.sampling)
        except OptionError as error:
            raise OptionError(f"fixed_opponents: {error}") from error

    def make_network(self) -> PolicyNetwork:
        """The network as it is at the beginning.

        Raises:
            OptionError: it can't be started from the network that `start` names. CheckpointError: there is no such network.
        """
        torch.manual_seed(self.seed)
        network = PolicyNetwork(self.hidden, bool(self.prior))
        if self.start:
            start = Network.load(self.start)
            if start.about.get("prior") != self.prior:
                raise OptionError(f"{self.start} was trained with the prior {start.about.get('prior')!r}, not {self.prior!r}")
            network.take(start)
        return network


# ---- the network ----


class PolicyNetwork(nn.Module):
    """What :class:`skyenv_agents.learned.networks.Network` plays, as PyTorch learns it."""

    def __init__(self, hidden: int, with_prior: bool) -> None:
        super().__init__()
        half = max(hidden // 2, 1)
        self.trunk = _layer(OBSERVATION_SIZE + (NUM_ACTIONS if with_prior else 0), hidden, 2**0.5)
        self.policy = _layer(hidden, half, 2**0.5)
        self.value = _layer(hidden, half, 2**0.5)
        self.policy_head = _layer(half, NUM_ACTIONS, 0.01)
        self.value_head = _layer(half, 1, 1.0)
        self.prior_weight = nn.Parameter(torch.tensor(2.0 if with_prior else 0.0))

    def forward(self, inputs: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probabilities of all actions (k, 103), and values (k,), of inputs (k, n) and bool masks (k, 103)."""
        features = torch.relu(self.trunk(inputs))
        logits = self.policy_head(torch.relu(self.policy(features)))
        if inputs.shape[1] > OBSERVATION_SIZE:
            logits = logits + self.prior_weight * inputs[:, OBSERVATION_SIZE:]
        value = self.value_head(torch.relu(self.value(features)))[:, 0]
        return torch.log_softmax(logits.masked_fill(~mask, ILLEGAL), dim=1), value

    def take(self, network: Network) -> None:
        """Take over the weights of a network that plays.

        Raises:
            OptionError: it has another width, or one of the two has a prior and the other hasn't.
        """
        shape, wanted = network.weights["trunk.weight"].shape, tuple(self.trunk.weight.shape)
        if shape != wanted:
            raise OptionError(
                f"the network to start from has {shape[0]} units for {shape[1]} inputs; hidden and prior make it {wanted[0]}"
                f" for {wanted[1]}"
            )
        self.load_state_dict({name: torch.from_numpy(network.weights[name]) for name in self.state_dict()})

    def frozen(self, about: dict[str, Any]) -> Network:
        """A copy that plays without PyTorch and learns no more."""
        weights = {name: tensor.detach().cpu().numpy().copy() for name, tensor in self.state_dict().items()}
        return Network(weights, about)


def _layer(inputs: int, outputs: int, gain: float) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


# ---- the games ----


class Tables:
    """Games of one kind, side by side, and who sits where.

    Args:
        number: of games. players, side: of the board. config, seed: of the games.

    Attributes:
        games: the games.
        opponent: int64 (number,), index in `guests` of who has all seats but one; EVERYBODY: the learner has all.
        learner: int64 (number,), the learner's seat, or EVERYBODY.
        guests: opponents at the tables now.
    """

    def __init__(self, number: int, players: int, side: str, config: Config, seed: int) -> None:
        self.games = Games(
            number, players, side, seed,
            threads=config.threads, observation="codes", max_turns=config.max_turns, reward=config.reward,
        )  # fmt: skip
        self.shaping = config.shaping
        self.label = "" if len(config.tables) == 1 else f", {players} players, {side}"
        self.opponent: Int64 = np.full(number, EVERYBODY, np.int64)
        self.learner: Int64 = np.full(number, EVERYBODY, np.int64)
        self.guests: list[Agent] = []
        self.potential = potential(self.games.state, players)

    def seat(self, rows: Int64, pool: OpponentPool, share: float, rng: np.random.Generator) -> None:
        """Decide who sits where in games that begin: opponents at `share` of the tables, the learner on a random seat."""
        self.opponent[rows] = self.learner[rows] = EVERYBODY
        chosen = rows[rng.random(rows.size) < share]
        if chosen.size:
            drawn = rng.choice(len(pool.agents), size=chosen.size, p=pool.weights())
            self.opponent[chosen] = [self._index(pool.agents[index]) for index in drawn.tolist()]
            self.learner[chosen] = rng.integers(self.games.num_players, size=chosen.size)

    def _index(self, agent: Agent) -> int:
        for index, guest in enumerate(self.guests):
            if guest is agent:
                return index
        self.guests.append(agent)
        return len(self.guests) - 1

    def forget_unused(self) -> None:
        """Drop the guests that sit at no table any more."""
        used = sorted(set(self.opponent.tolist()) - {EVERYBODY})
        renumbered = {EVERYBODY: EVERYBODY, **{old: new for new, old in enumerate(used)}}
        self.opponent = np.array([renumbered[old] for old in self.opponent.tolist()], np.int64)
        self.guests = [self.guests[old] for old in used]

    def learns(self) -> npt.NDArray[np.bool_]:
        """Where it is the learner who is to act, bool (number,)."""
        mine: npt.NDArray[np.bool_] = (self.learner == EVERYBODY) | (self.learner == self.games.seat)
        return mine

    def step(self, actions: Int64) -> tuple[Float32, npt.NDArray[np.bool_]]:
        """Play one action everywhere: the learner's, or the opponent's where that one is to act (it is written into `actions`).

        Returns:
            What every seat was rewarded, float32 (number, players), and whether the game ended, bool (number,).
        """
        games = self.games
        theirs = np.flatnonzero(~self.learns())
        for index in np.unique(self.opponent[theirs]).tolist():
            rows = theirs[self.opponent[theirs] == index]
            actions[rows] = decide(games, self.guests[index], rows)
        games.step(actions)
        return games.reward + self.shaping * self._climbed(), games.done.copy()

    def _climbed(self) -> Float32:
        """By how much the last action changed every seat's potential; it is 0 at the end of a game that isn't truncated."""
        games = self.games
        before, self.potential = self.potential, potential(games.state, games.num_players)
        after = self.potential.copy()
        over = np.flatnonzero(games.done)
        if over.size:
            cut = games.truncated[over, None]
            after[over] = np.where(cut, potential(games.finished[over], games.num_players), 0.0)
        return after - before

    def won(self, row: int) -> float:
        """The learner's share of the win in the game that has just ended in a row."""
        return float(results(self.games.finished[row : row + 1])[0][0, self.learner[row]])


def potential(state: npt.NDArray[np.void], players: int) -> Float32:
    """The outcome reward that each seat may expect, by what it has: float32 (n, players), in the range of that reward.

    What a seat has is what the greedy player's heuristic makes of its VP, skyscrapers, cards and supply, all hands open
    (:func:`skyenv_agents.heuristic.win_probability.win_probabilities`). Rewarding the potential's changes, and taking it for 0 at
    the end, leaves the sum of a game's rewards as it is (potential-based shaping, Ng, Harada and Russell 1999): what is learned
    is to win, but what helps is felt at once.

    Args:
        state: games, GAME_DTYPE (n,).
        players: of the games.
    """
    probabilities = win_probabilities(state)[:, :players]
    return outcome_of(probabilities, players).astype(np.float32)


def advantages(
    value: Float32,
    seat: Int64,
    reward: Float32,
    done: npt.NDArray[np.bool_],
    ending: Float32,
    gamma: float,
    gae_lambda: float,
) -> tuple[Float32, npt.NDArray[np.bool_]]:
    """Generalised advantage estimates of n games over T decisions each, for every seat along its own decisions.

    Args:
        value: float32 (T, n), the value, for the seat to act, of each position.
        seat: int64 (T, n), the seat to act.
        reward: float32 (T, n, players), what the action taken there brought every seat.
        done: bool (T, n), whether it ended the game. The next row then belongs to another game.
        ending: float32 (T, n, players), where it did: the value of the end for every seat, 0 unless it is truncated.
        gamma, gae_lambda: discount and lambda, per decision of a seat.

    Returns:
        The advantages, float32 (T, n), and bool (T, n): false where the seat doesn't act again and the game isn't over within
        these T decisions, so that there is nothing to estimate from (the advantage is 0 there).
    """
    steps, number, players = reward.shape
    rows = np.arange(number)
    advantage = np.zeros((steps, number), np.float32)
    whole = np.zeros((steps, number), np.bool_)
    rewarded = np.zeros((number, players))  # since the decision that is looked at, up to the seat's next one
    next_value = np.zeros((number, players))
    next_advantage = np.zeros((number, players))
    known = np.zeros((number, players), np.bool_)  # whether there is a next decision or an end
    for t in reversed(range(steps)):
        over = done[t]
        next_value[over] = ending[t, over]
        next_advantage[over] = rewarded[over] = 0.0
        known[over] = True
        rewarded += reward[t]
        here = rows, seat[t]
        td_error = rewarded[here] + gamma * next_value[here] - value[t]
        estimate = np.where(known[here], td_error + gamma * gae_lambda * next_advantage[here], 0.0)
        advantage[t], whole[t] = estimate, known[here]
        next_value[here], next_advantage[here], rewarded[here], known[here] = value[t], estimate, 0.0, True
    return advantage, whole


@dataclass
class Rollout:
    """T decisions in each of n games, as they are collected.

    Attributes:
        action, seat: int64 (T, n). log_probability, value, entropy: float32 (T, n), what the network made of them.
        mine: bool (T, n), whether the learner took the action.
        advantage, target: float32 (T, n), the target being the return that the value should foresee.
        learnable: bool (T, n), what can be learned from.
    """

    action: Int64
    seat: Int64
    log_probability: Float32
    value: Float32
    entropy: Float32
    mine: npt.NDArray[np.bool_]
    advantage: Float32
    target: Float32
    learnable: npt.NDArray[np.bool_]

    @classmethod
    def empty(cls, steps: int, number: int) -> Rollout:
        """Nothing yet."""
        shape = (steps, number)
        kinds = {"action": np.int64, "seat": np.int64, "mine": np.bool_, "learnable": np.bool_}
        return cls(**{entry.name: np.zeros(shape, kinds.get(entry.name, np.float32)) for entry in fields(cls)})


@dataclass
class _Happened:
    """What came of T actions in each of n games: rewards, ends, and values of truncated ends; see :func:`advantages`."""

    reward: Float32
    done: npt.NDArray[np.bool_]
    ending: Float32

    @classmethod
    def empty(cls, steps: int, tables: Tables) -> _Happened:
        shape = (steps, tables.games.num_games)
        players = (tables.games.num_players,)
        return cls(np.zeros(shape + players, np.float32), np.zeros(shape, np.bool_), np.zeros(shape + players, np.float32))


# ---- learning ----


class Training(Run):
    """A training run: network, optimiser, tables, opponents."""

    PROGRAM = "train"
    config: Config

    def begin(self) -> None:
        """Make everything new."""
        config = self.config
        self._prepare()
        self.network = config.make_network().to(self.device)
        self.mean = _copy(self.network)
        self.optimiser = self._new_optimiser()
        self.generator = torch.Generator().manual_seed(config.seed)
        self.rng = np.random.default_rng(config.seed)
        self.pool = config.make_pool()
        kinds = config.tables
        self.tables = [
            Tables(number, players, side, config, (config.seed * len(kinds) + i) * SEEDS_APART & HIGHEST_SEED)
            for i, (number, players, side) in enumerate(config.shares(config.games))
        ]
        for tables in self.tables:
            self._seat(tables, np.arange(tables.games.num_games))
        self._make_buffers()
        self._warm_up()

    def _prepare(self) -> None:
        torch.set_num_threads(self.config.threads)
        wanted = self.config.device
        self.device = torch.device("cuda" if wanted == "auto" and torch.cuda.is_available() else wanted.replace("auto", "cpu"))
        self.prior: HeuristicAgent | None = heuristic_of(self.config.prior)

    def _make_buffers(self) -> None:
        """What a whole rollout's decisions saw, and the engine's own arrays as tensors (they share memory).

        Observations are kept as codes, half as large as the network's inputs, which are made of them as they are needed.
        """
        steps, number = self.config.steps, self.config.games
        self.codes = torch.zeros((steps, number, OBSERVATION_SIZE), dtype=torch.int16, device=self.device)
        self.scores = torch.zeros((steps, number, NUM_ACTIONS if self.prior else 0), device=self.device)
        self.scale = torch.from_numpy(SCALE).to(self.device)
        self._inputs = torch.empty((0, OBSERVATION_SIZE + self.scores.shape[2]), device=self.device)
        self.masks = torch.zeros((steps, number, NUM_ACTIONS), dtype=torch.bool, device=self.device)
        self.observations = [torch.from_numpy(tables.games.observation) for tables in self.tables]
        self.legal = [torch.from_numpy(tables.games.mask) for tables in self.tables]
        ends = np.cumsum([tables.games.num_games for tables in self.tables]).tolist()
        self.slices = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]

    def _warm_up(self) -> None:
        """Compile what isn't on disk yet before the clock runs: games, and the agents that play here or are measured against."""
        for players, side in self.config.tables:
            tables = Tables(1, players, side, self.config, 0)
            for agent in (*self.pool.fixed, *self.config.make_agents("against")):
                decide(tables.games, agent)
            tables.step(tables.games.mask.argmax(axis=1))
            tables.games.observe(np.arange(players), np.zeros(players, np.int64), tables.games.state)
            results(tables.games.state)

    def _seat(self, tables: Tables, rows: Int64) -> None:
        tables.seat(rows, self.pool, self.config.opponent_share if self.pool.agents else 0.0, self.rng)

    def learn(self) -> dict[str, float]:
        """Collect a rollout and learn from it; now and then keep a past policy."""
        config = self.config
        rollout = self._collect()
        self.decisions += int(rollout.learnable.sum())
        figures = {**self._summary(rollout), **self._improve(rollout)}
        self._average()
        if config.past_policies and (self.updates + 1) % config.snapshot == 0 and not self._only_value():
            self.pool.add(NetworkAgent(self.frozen(), name=f"{PAST}-{self.updates + 1}"))
            for tables in self.tables:
                tables.forget_unused()
        return figures

    def _new_optimiser(self) -> torch.optim.Adam:
        return torch.optim.Adam(self.network.parameters(), lr=self.config.learning_rate, eps=1e-5)

    def _learning_rate(self) -> float:
        """Adam's step size in this update."""
        config = self.config
        rate = config.learning_rate * (1.0 - (1.0 - config.final_rate) * self.progress())
        begun = self.updates + 1 - (config.value_updates if self.prior is not None else 0)
        return rate * min(begun / config.warm_up, 1.0) if begun > 0 and config.warm_up else rate

    def _only_value(self) -> bool:
        return self.prior is not None and self.updates < self.config.value_updates

    # ---- collecting ----

    @torch.no_grad()
    def _collect(self) -> Rollout:
        """Play `steps` decisions in every game."""
        config = self.config
        rollout = Rollout.empty(config.steps, config.games)
        happened = [_Happened.empty(config.steps, tables) for tables in self.tables]
        for t in range(config.steps):
            self._look(t, rollout)
            self._choose(t, rollout)
            for tables, place, events in zip(self.tables, self.slices, happened, strict=True):
                events.reward[t], events.done[t] = tables.step(rollout.action[t, place])
                self._note_ends(tables, events, t)
        for place, events in zip(self.slices, happened, strict=True):
            rollout.advantage[:, place], rollout.learnable[:, place] = advantages(
                rollout.value[:, place],
                rollout.seat[:, place],
                events.reward,
                events.done,
                events.ending,
                config.gamma,
                config.gae_lambda,
            )
        rollout.target = rollout.advantage + rollout.value
        rollout.learnable &= rollout.mine
        return rollout

    def _look(self, t: int, rollout: Rollout) -> None:
        """Write who is to act and what that seat sees into step t; with the prior only where it is the learner's."""
        for tables, place, observation, legal in zip(self.tables, self.slices, self.observations, self.legal, strict=True):
            rollout.seat[t, place], rollout.mine[t, place] = tables.games.seat, tables.learns()
            self.codes[t, place].copy_(observation)
            self.masks[t, place].copy_(legal)
            rows = np.flatnonzero(rollout.mine[t, place])
            if self.prior is not None and rows.size:
                scores = prior_scores(self.prior, decisions_in(tables.games, self.prior, rows))
                self.scores[t, place.start + torch.from_numpy(rows)] = torch.from_numpy(scores).to(self.device)

    def _choose(self, t: int, rollout: Rollout) -> None:
        """Draw an action for every seat to act that is the learner's."""
        mine = np.flatnonzero(rollout.mine[t])
        if not mine.size:
            return
        rows = torch.from_numpy(mine).to(self.device)
        log_probabilities, values = self.network(self.inputs(rows + t * self.config.games), self.masks[t, rows])
        # An illegal action adds nothing to the sums, so it is never the first above a limit.
        sums = log_probabilities.exp().cumsum(dim=1)
        limit = torch.rand(rows.numel(), generator=self.generator).clamp_(max=LARGEST).to(self.device) * sums[:, -1]
        action = (sums > limit[:, None]).to(torch.int8).argmax(dim=1)
        rollout.action[t, mine] = action.cpu().numpy()
        rollout.log_probability[t, mine] = log_probabilities.gather(1, action[:, None])[:, 0].cpu().numpy()
        rollout.entropy[t, mine] = _entropy(log_probabilities).cpu().numpy()
        rollout.value[t, mine] = values.cpu().numpy()

    def inputs(self, decisions: torch.Tensor) -> torch.Tensor:
        """The network's inputs in some of the rollout's decisions, numbered step by step.

        Returns:
            float32 (k, n), observations scaled as by the engine; the next call writes over them, as new memory costs more than
            what is done here.
        """
        number = len(decisions)
        if number > len(self._inputs):
            self._inputs = torch.empty((number, self._inputs.shape[1]), device=self.device)
        inputs = self._inputs[:number]
        observations = inputs[:, :OBSERVATION_SIZE]
        observations.copy_(self.codes.view(-1, OBSERVATION_SIZE)[decisions]).mul_(self.scale)
        if self.prior is not None:
            inputs[:, OBSERVATION_SIZE:] = self.scores.view(-1, NUM_ACTIONS)[decisions]
        return inputs

    def _note_ends(self, tables: Tables, events: _Happened, t: int) -> None:
        """Take in the games that have just ended, and seat the next ones."""
        games = tables.games
        over = np.flatnonzero(games.done)
        for row in over.tolist():
            scores = games.finished["score"][row, : games.num_players]
            learner = int(tables.learner[row])
            mine = scores if learner == EVERYBODY else scores[learner : learner + 1]
            self.episodes.note(int(games.finished["decisions"][row]), float(mine.mean()))
            if learner != EVERYBODY:
                opponent, won = tables.guests[tables.opponent[row]].name, tables.won(row)
                self.episodes.note_share(opponent + tables.label, won)
                self.pool.note(opponent, won)
            if games.truncated[row]:
                events.ending[t, row] = self._values_at_end(games, row)
        if over.size:
            self._seat(tables, over)

    def _values_at_end(self, games: Games, row: int) -> Float32:
        """The value of a truncated game's last position for every seat; there is no prior to them."""
        players = games.num_players
        inputs = torch.zeros((players, self.network.trunk.in_features))
        observations = games.observe(np.arange(players), np.full(players, row), games.finished)
        inputs[:, :OBSERVATION_SIZE] = torch.from_numpy(observations)
        everything = torch.ones((players, NUM_ACTIONS), dtype=torch.bool, device=self.device)
        values: Float32 = self.network(inputs.to(self.device), everything)[1].cpu().numpy()
        return values

    def _summary(self, rollout: Rollout) -> dict[str, float]:
        """What the curve shall tell of a rollout."""
        mine = np.flatnonzero(rollout.mine)
        actions = rollout.action.reshape(-1)[mine]
        legal = self.masks.view(-1, NUM_ACTIONS)[torch.from_numpy(mine).to(self.device)].cpu().numpy()
        bidding = legal[:, PASS]
        figures = {
            "entropy": float(rollout.entropy[rollout.mine].mean()) if len(mine) else 0.0,
            "passes": float((actions[bidding] == PASS).mean()) if bidding.any() else 0.0,
            "illegal": float((~legal[np.arange(len(mine)), actions]).sum()),
        }
        if rollout.learnable.any():
            foreseen, target = rollout.value[rollout.learnable], rollout.target[rollout.learnable]
            figures["explained_variance"] = 1.0 - float(np.var(target - foreseen) / max(np.var(target), 1e-9))
        return figures

    # ---- improving ----

    def _improve(self, rollout: Rollout) -> dict[str, float]:
        """Some passes of gradient steps over a rollout."""
        config = self.config
        if self.prior is not None and self.updates == config.value_updates:
            # Adam's averages know the policy's gradients as 0 so far, which would make its first steps far too long.
            self.optimiser = self._new_optimiser()
        self.optimiser.param_groups[0]["lr"] = self._learning_rate()
        masks = self.masks.view(-1, NUM_ACTIONS)
        rows = np.flatnonzero(rollout.learnable)
        if not rows.size:  # few steps, and no seat decided twice within them
            return {}
        advantage = rollout.advantage.reshape(-1)
        advantage = (advantage - advantage[rows].mean()) / (advantage[rows].std() + 1e-8)
        action, before, target, gain = (
            torch.from_numpy(array.reshape(-1)).to(self.device)
            for array in (rollout.action, rollout.log_probability, rollout.target, advantage)
        )
        policy_weight = 0.0 if self._only_value() else 1.0
        sums = np.zeros(3)
        number = 0
        for _ in range(config.epochs):
            for part in np.array_split(self.rng.permutation(rows), max(round(rows.size / config.batch), 1)):
                some = torch.from_numpy(part).to(self.device)
                log_probabilities, value = self.network(self.inputs(some), masks[some])
                log_ratio = log_probabilities.gather(1, action[some][:, None])[:, 0] - before[some]
                policy_loss = clipped_loss(log_ratio, gain[some], config.clip)
                value_loss = (value - target[some]).square().mean()
                entropy = _entropy(log_probabilities).mean()
                loss = policy_weight * (policy_loss - config.entropy * entropy) + config.value_weight * value_loss
                self.optimiser.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.network.parameters(), config.max_gradient)
                self.optimiser.step()
                change = (log_ratio.exp() - 1 - log_ratio).mean()
                sums += [policy_loss.item(), value_loss.item(), change.item()]
                number += 1
        return dict(zip(("policy_loss", "value_loss", "change"), (sums / number).tolist(), strict=True))

    @torch.no_grad()
    def _average(self) -> None:
        """Let the mean of the weights follow them, the slower the longer the training (polynomial-decay averaging)."""
        share = 1.0 / max(self.config.averaging * (self.updates + 1), 1.0)
        for mean, newest in zip(self.mean.parameters(), self.network.parameters(), strict=True):
            mean.lerp_(newest, share)

    # ---- files ----

    def frozen(self) -> Network:
        """The network with its mean weights, to play."""
        players = as_text(self.config.players)
        about = {
            "description": f"trained by experiments/training/train.py: {self.decisions:,} decisions, {players} players",
            "version": "1",
            "prior": self.config.prior,
            "prior_version": self.prior.version if self.prior else "",
            "players": players,
            "side": as_text(self.config.side),
            "reward": self.config.reward,
            "shaping": self.config.shaping,
            "seed": self.config.seed,
            "decisions": self.decisions,
        }
        return self.mean.frozen(about)

    def model(self) -> bytes:
        """See :class:`experiments.training.runs.Run`."""
        return self.frozen().to_bytes()

    def pack(self) -> dict[str, Any]:
        """See :class:`experiments.training.runs.Run`."""
        return {
            "network": self.network.state_dict(),
            "mean": self.mean.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "generator": self.generator.get_state(),
            "rng": self.rng,
            "tables_and_pool": (self.tables, self.pool),  # together: guests are members of the pool
        }

    def unpack(self, state: dict[str, Any]) -> None:
        """See :class:`experiments.training.runs.Run`."""
        self._prepare()
        self.network = PolicyNetwork(self.config.hidden, bool(self.config.prior)).to(self.device)
        self.network.load_state_dict(state["network"])
        self.mean = _copy(self.network)
        self.mean.load_state_dict(state["mean"])
        self.optimiser = self._new_optimiser()
        self.optimiser.load_state_dict(state["optimiser"])
        self.generator = torch.Generator()
        self.generator.set_state(state["generator"])
        self.rng = state["rng"]
        self.tables, self.pool = state["tables_and_pool"]
        if any(tables.games.observation.dtype != np.int16 for tables in self.tables):
            raise TypeError("the tables' observations must be codes, int16")  # scaled ones would be copied as zeros and ones
        self._make_buffers()
        self._warm_up()


def _copy(network: PolicyNetwork) -> PolicyNetwork:
    """The same network once more, on the same device."""
    return copy.deepcopy(network).requires_grad_(False)


def _entropy(log_probabilities: torch.Tensor) -> torch.Tensor:
    """Entropy of each row, in nats."""
    # What is less probable than e^−50 adds nothing, and its exponential would take twenty times as long (it underflows).
    bounded = log_probabilities.clamp(min=-50.0)
    return -(bounded.exp() * bounded).sum(dim=1)


def clipped_loss(log_ratio: torch.Tensor, advantage: torch.Tensor, clip: float) -> torch.Tensor:
    """PPO's policy loss: no gain from moving a probability further than `clip` from what it was when the action was drawn."""
    ratio = log_ratio.exp()
    return -torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage).mean()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code: 0 all right, 1 a file is bad, 2 the command is, 130 interrupted."""
    description = "Train an agent by self-play."
    return exit_code(
        Training.PROGRAM,
        lambda: launch(Training(parse(Config, f"experiments.training.{Training.PROGRAM}", description, arguments, earlier))),
    )


if __name__ == "__main__":
    from experiments.training import (
        train,  # by its own name: checkpoints refer to its classes, and must not look for them in __main__
    )

    sys.exit(train.main())
