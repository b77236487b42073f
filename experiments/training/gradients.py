"""What gradient steps of a training lower, and its gradient: in pieces, so that several processes
can compute one step.

The pieces of a step are the same, and are summed in the same order, whoever computes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from experiments.training.network import PolicyNetwork, entropy, in_precision
from experiments.training.rollouts import Batch


@dataclass(frozen=True)
class Objective:
    """What is learned from decisions, at some time of a training.

    Attributes:
        clip, value_weight, margin_weight: see :class:`experiments.training.recipe.Config`.
        entropy: what a nat of the policy's entropy is worth now.
        only_value: whether the policy is left as it is.
        bfloat16: whether the network computes in that precision.
    """

    clip: float
    value_weight: float
    margin_weight: float
    entropy: float
    only_value: bool
    bfloat16: bool

    def add_gradient(
        self, network: PolicyNetwork, batch: Batch, rows: torch.Tensor, number: int
    ) -> torch.Tensor:
        """Add to the network's gradient that of a piece of a step.

        Args:
            network: that learns.
            batch: with weights of mean 1 and normalised advantages.
            rows: int64 (k,), the piece's decisions in it. number: decisions in the whole step.

        Returns:
            The piece's parts in the policy's loss, the value's, and how far the policy has changed:
            float32 (3,).
        """
        with in_precision(batch.codes.device.type, self.bfloat16):
            log_probabilities, values = network(
                batch.codes.index_select(0, rows), batch.masks.index_select(0, rows)
            )
        weight = batch.weight[rows]
        log_ratio = (
            log_probabilities.gather(1, batch.action[rows][:, None])[:, 0]
            - batch.log_probability[rows]
        )
        policy_loss = (
            weight * batch.policy_losses(rows, log_probabilities, log_ratio, self.clip)
        ).mean()
        value_loss, margin_loss = (weight[:, None] * (values - batch.target[rows]).square()).mean(
            dim=0
        )
        loss = self.value_weight * value_loss + self.margin_weight * margin_loss
        if not self.only_value:
            loss = loss + policy_loss - self.entropy * (weight * entropy(log_probabilities)).mean()
        share = len(rows) / number
        (share * loss).backward()
        with torch.no_grad():
            return share * torch.stack(
                [policy_loss, value_loss, (weight * (log_ratio.exp() - 1 - log_ratio)).mean()]
            )


def flat_gradient(network: PolicyNetwork) -> torch.Tensor:
    """The gradients of all parameters, one after the other, 0 where there is none."""
    parts = [
        torch.zeros_like(one) if one.grad is None else one.grad for one in network.parameters()
    ]
    return torch.cat([part.reshape(-1) for part in parts])


def parts_of(flat: torch.Tensor, network: PolicyNetwork) -> Sequence[torch.Tensor]:
    """Such a row of numbers as the parameters' shapes have it."""
    parameters = list(network.parameters())
    parts = torch.split(flat, [one.numel() for one in parameters])
    return [part.view_as(one) for part, one in zip(parts, parameters, strict=True)]
