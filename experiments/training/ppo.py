"""PPO: generalised advantage estimates, the batch, and the loss of an update.

A seat's step lasts from one of its decisions to its next one and collects the rewards in between
(:func:`advantages`). Discounting counts a seat's own decisions. docs/training.md has the loss as a
formula.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from experiments.training.config import Config
from skyenv.array_types import Bool, Float32, Int64
from skyenv_agents.learned.torch_network import LOWEST, PolicyNetwork, entropy, in_precision


def advantages(
    value: Float32,
    seat: Int64,
    chooses: Bool,
    reward: Float32,
    done: Bool,
    ending: Float32,
    gamma: float,
    gae_lambda: float,
) -> tuple[Float32, Bool]:
    """Generalised advantage estimates of n games over T decisions each, for every seat along its
    own decisions, of k kinds of rewards.

    Args:
        value: float32 (T, n, k), the values, for the seat to act, of each position.
        seat: int64 (T, n), the seat to act.
        chooses: bool (T, n), whether it has a choice; what is forced is no decision, and only
            passes rewards on.
        reward: float32 (T, n, players, k), what the action taken there brought every seat.
        done: bool (T, n), whether it ended the game. The next row then belongs to another game.
        ending: float32 (T, n, players, k), where it did: the values of the end for every seat, 0
            unless it is truncated.
        gamma, gae_lambda: discount and lambda, per decision of a seat.

    Returns:
        The advantages, float32 (T, n, k), and bool (T, n): false where the seat has no choice, or
        has none again and the game isn't over within these T decisions, so that there is nothing to
        estimate from (the advantage is 0 there).
    """
    games = np.arange(seat.shape[1])
    advantage, whole = np.zeros_like(value), np.zeros_like(done)
    rewarded = np.zeros(reward.shape[1:])  # since the decision at hand, up to the seat's next one
    next_value, next_advantage = np.zeros_like(rewarded), np.zeros_like(rewarded)
    known = np.zeros(rewarded.shape[:2], np.bool_)  # whether there is a next decision or an end
    for t in reversed(range(len(seat))):
        over = done[t]
        next_value[over] = ending[t, over]
        next_advantage[over] = rewarded[over] = 0.0
        known[over] = True
        rewarded += reward[t]
        rows = games[chooses[t]]
        here = rows, seat[t, rows]
        now = value[t, rows]
        td_error = rewarded[here] + gamma * next_value[here] - now
        estimate = td_error + gamma * gae_lambda * next_advantage[here]
        whole[t, rows] = known[here]
        advantage[t, rows] = estimate = np.where(known[here][:, None], estimate, 0.0)
        next_value[here], next_advantage[here] = now, estimate
        rewarded[here], known[here] = 0.0, True
    return advantage, whole


@dataclass
class Batch:
    """Decisions to learn from, k of them.

    Attributes:
        codes: int16 (k, inputs), those that are used
            (:func:`skyenv_agents.learned.layout.used_inputs`), in the order of the network's
            inputs. masks: bool (k, 103), legal actions.
        action: int64 (k,), what was played. log_probability: float32 (k,), of it. advantage:
            float32 (k,).
        target: float32 (k, VALUES), what the network should tell.
        weight: float32 (k,), how many decisions it stands for; see
            `certain_fraction` of :class:`experiments.training.config.Config`.
        notes: further arrays of the decisions, by name.
    """

    codes: Tensor
    masks: Tensor
    action: Tensor
    log_probability: Tensor
    advantage: Tensor
    target: Tensor
    weight: Tensor
    notes: dict[str, Tensor] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.action)

    @classmethod
    def join(cls, batches: "Sequence[Batch]", device: torch.device) -> "Batch":
        """Return several batches as one, on a device."""

        def joined(arrays: Sequence[Tensor]) -> Tensor:
            return (arrays[0] if len(arrays) == 1 else torch.cat(list(arrays))).to(device)

        own, notes = [dict(vars(one)) for one in batches], [one.notes for one in batches]
        for arrays in own:
            del arrays["notes"]
        return cls(
            **{name: joined([arrays[name] for arrays in own]) for name in own[0]},
            notes={name: joined([more[name] for more in notes]) for name in notes[0]},
        )


# Losses of the policy in some decisions of a batch, float32 (k,), of the arguments of
# :func:`clipped_losses`.
Losses = Callable[[Batch, Tensor, Tensor, Tensor, float], Tensor]


def clipped_losses(
    batch: Batch,
    rows: Tensor,
    log_probabilities: Tensor,
    log_ratio: Tensor,
    clip: float,
) -> Tensor:
    """Return PPO's losses of some decisions, float32 (k,): no gain from moving a probability
    further than `clip` from what it was when the action was sampled.

    Args:
        batch: the decisions. rows: int64 (k,), which ones.
        log_probabilities: float32 (k, 103), of all actions now.
        log_ratio: float32 (k,), of the action that was played, minus what it was then.
        clip: how far its probability may change, as a share.
    """
    ratio, advantage = log_ratio.exp(), batch.advantage[rows]
    return -torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)


@dataclass(frozen=True)
class Objective:
    """The loss of an update.

    Attributes:
        config: weights and limits of its parts. entropy: weight of the entropy bonus now.
        only_value: whether only the values are trained.
        losses: those of the policy.
    """

    config: Config
    entropy: float
    only_value: bool
    losses: Losses = clipped_losses

    def loss(self, network: PolicyNetwork, batch: Batch, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Return the loss of a minibatch, and its figures.

        Args:
            network: the one that learns.
            batch: with weights of mean 1 and normalised advantages; for the KL term also with the
                note ``mean`` (:func:`policy_of`). rows: int64 (k,), of it.

        Returns:
            The loss, and the policy's loss, the value's and the KL divergence, float32 (3,).
        """
        config = self.config
        with in_precision(batch.codes.device.type, config.bfloat16):
            log_probabilities, values = network(
                batch.codes.index_select(0, rows), batch.masks.index_select(0, rows)
            )
        weight = batch.weight[rows]
        log_probability = log_probabilities.gather(1, batch.action[rows][:, None])[:, 0]
        log_ratio = log_probability - batch.log_probability[rows]
        losses = self.losses(batch, rows, log_probabilities, log_ratio, config.clip)
        policy_loss = (weight * losses).mean()
        errors = (weight[:, None] * (values - batch.target[rows]).square()).mean(dim=0)
        loss = config.value_weight * errors[0] + config.margin_weight * errors[1]
        if not self.only_value:
            bonus = (weight * entropy(log_probabilities)).mean()
            loss = loss + policy_loss - self.entropy * bonus
            if config.mean_kl:
                loss = loss + config.mean_kl * self._from_mean(batch, rows, log_probabilities)
        divergence = (weight * (log_ratio.exp() - 1 - log_ratio)).mean()
        return loss, torch.stack([policy_loss, errors[0], divergence]).detach()

    def _from_mean(self, batch: Batch, rows: Tensor, log_probabilities: Tensor) -> Tensor:
        """Return the KL divergence of the policy from that of the averaged weights, in nats."""
        bounded = log_probabilities.clamp(min=LOWEST)
        apart = bounded - batch.notes["mean"][rows].clamp(min=LOWEST)
        divergence = (bounded.exp() * apart).sum(dim=1)
        return (batch.weight[rows] * divergence).mean()


@torch.no_grad()
def policy_of(network: PolicyNetwork, batch: Batch, config: Config) -> Tensor:
    """Return the log-probabilities of all actions in a batch's decisions, float32 (k, 103)."""
    parts = zip(
        *(torch.split(one, config.batch) for one in (batch.codes, batch.masks)), strict=True
    )
    with in_precision(batch.codes.device.type, config.bfloat16), network.unchanging():
        return torch.cat([network(codes, masks)[0] for codes, masks in parts])


def variance(values: Tensor, weight: Tensor) -> Tensor:
    """Return the weighted variance; weights have mean 1."""
    return (weight * (values - (weight * values).mean()).square()).mean()


def normalised(values: Tensor, weight: Tensor) -> Tensor:
    """Return the values scaled to mean 0 and variance 1."""
    return (values - (weight * values).mean()) / (variance(values, weight).sqrt() + 1e-8)
