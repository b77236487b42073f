"""What gradient steps lower, and that their pieces add up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from trainings import begun, collector, tiny

from experiments.training.gradients import Objective, flat_gradient, parts_of
from experiments.training.network import ILLEGAL, entropy
from experiments.training.rollouts import clipped_loss
from skyenv.rules.actions import NUM_ACTIONS

OBJECTIVE = Objective(
    clip=0.2, value_weight=0.5, margin_weight=0.1, entropy=0.01, only_value=False, bfloat16=False
)


def test_clipped_loss_by_hand() -> None:
    """Ratios 1.5, 0.5, 1.5, 0.5 and 1.1 with clip 0.2; what is clipped has no gradient."""
    ratio = torch.tensor([1.5, 0.5, 1.5, 0.5, 1.1])
    gain = torch.tensor([2.0, 2.0, -2.0, -2.0, 1.0])
    log_ratio = ratio.log().requires_grad_()
    losses = clipped_loss(log_ratio, gain, 0.2)
    assert losses.tolist() == pytest.approx([-1.2 * 2, -0.5 * 2, 1.5 * 2, 0.8 * 2, -1.1])
    losses.sum().backward()  # type: ignore[no-untyped-call]
    assert log_ratio.grad is not None
    assert log_ratio.grad.tolist() == pytest.approx([0.0, -1.0, 3.0, 0.0, -1.1])


def test_entropy_is_that_of_the_legal_actions() -> None:
    mask = torch.zeros(2, NUM_ACTIONS, dtype=torch.bool)
    mask[0, :4] = mask[1, 7] = True
    even = torch.log_softmax(torch.zeros(2, NUM_ACTIONS).masked_fill(~mask, ILLEGAL), dim=1)
    assert entropy(even).tolist() == pytest.approx([np.log(4), 0.0])


@pytest.mark.parametrize("pieces", [2, 3, 5])
@pytest.mark.parametrize("only_value", [False, True])
def test_the_gradients_of_pieces_add_up(pieces: int, only_value: bool) -> None:
    """To that of the whole step, as the figures do; pieces of different sizes count by their
    decisions.
    """
    training = begun(tiny(hidden=32))
    batch = collector(training).collect(training.network).batch
    shift = torch.sin(torch.arange(float(len(batch))))
    batch = replace(
        batch,
        advantage=shift,
        log_probability=batch.log_probability + 0.3 * shift,
        weight=1.0 + 0.5 * shift,
    )
    batch.target = torch.stack([shift, 2 * shift.roll(1)], dim=1)
    rows = torch.arange(0, len(batch), 2)
    found = []
    for parts in ([rows], list(rows.chunk(pieces))):
        training.network.zero_grad()
        objective = replace(OBJECTIVE, only_value=only_value)
        told = [objective.add_gradient(training.network, batch, part, len(rows)) for part in parts]
        found.append((flat_gradient(training.network), torch.stack(told).sum(dim=0)))
    (whole, wanted), (summed, figures) = found
    assert whole.abs().max() > 0.01
    assert torch.allclose(summed, whole, atol=1e-6, rtol=1e-3)
    assert torch.allclose(figures, wanted, atol=1e-6, rtol=1e-4)


def test_a_flat_gradient_has_the_parameters_shapes() -> None:
    training = begun(tiny())
    network = training.network
    assert not flat_gradient(network).any()
    for number, parameter in enumerate(network.parameters()):
        parameter.grad = torch.full_like(parameter, float(number))
    for number, (parameter, part) in enumerate(
        zip(network.parameters(), parts_of(flat_gradient(network), network), strict=True)
    ):
        assert part.shape == parameter.shape
        assert (part == number).all()
