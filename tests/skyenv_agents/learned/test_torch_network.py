"""The network in PyTorch: agreement with NumPy, and masked actions."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from experiments.training.rollouts import arranged
from experiments.training.seating import Tables
from skyenv.agents import decisions_in
from skyenv.engine.options import GameOptions
from skyenv.rules.actions import NUM_ACTIONS
from skyenv_agents import GreedyAgent
from skyenv_agents.learned.architecture import Sizes
from skyenv_agents.learned.layout import INPUTS, used_inputs
from skyenv_agents.learned.networks import NetworkAgent
from skyenv_agents.learned.prior import prior_codes
from skyenv_agents.learned.torch_network import LOWEST, PolicyNetwork, entropy, prefers_bfloat16

ABOUT = {"prior": "", "prior_version": "", "reward": "outcome"}
WITH_PRIOR = {"prior": "greedy", "prior_version": GreedyAgent.version, "reward": "outcome"}
ALL_SIZES = [Sizes(1, 0, 1), Sizes(33, 3, 7)]


def decided(sizes: Sizes, prior_weight: float = 0.0) -> PolicyNetwork:
    """A network with decided preferences: nothing in it is near 0."""
    torch.manual_seed(4)
    network = PolicyNetwork(sizes, prior_weight)
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if name.endswith(("actions.weight", "out.weight", "outlook.weight")):
                weight.mul_(50)
        for parameter in network.parameters():
            parameter.add_(0.02 * torch.randn_like(parameter))
    return network


def some_masks(number: int, rng: np.random.Generator) -> torch.Tensor:
    """Bool masks with a tenth of the actions, at least one."""
    mask = rng.random((number, NUM_ACTIONS)) < 0.1
    mask[np.arange(number), rng.integers(NUM_ACTIONS, size=number)] = True
    return torch.from_numpy(mask)


# ---- as NumPy plays it ----


@pytest.mark.parametrize("sizes", ALL_SIZES, ids=str)
@pytest.mark.parametrize("reward", ["", "outcome", "points"])
def test_pytorch_and_numpy_give_the_same_outputs(sizes: Sizes, reward: str) -> None:
    """From codes as a training keeps them the same as from observations as games show them; with a
    reward, also with a prior, whose outcome tells nothing of points to expect.
    """
    tables = Tables(60, GameOptions(3, "back"), 5)
    tables.spread(np.random.default_rng(2))
    tables.outcome, prior = reward == "outcome", GreedyAgent() if reward else None
    learned = decided(sizes, 2.0 if prior else 0.0)
    player = NetworkAgent(learned.frozen(WITH_PRIOR | {"reward": reward} if prior else ABOUT))
    codes = arranged(tables.inputs(np.arange(60), prior), used_inputs())
    with torch.no_grad():
        log_probabilities, values = learned(codes, torch.from_numpy(tables.games.mask != 0))
    decisions: Any = decisions_in(tables.games, player)
    shown = prior_codes(prior, decisions, tables.outcome) if prior else None
    logits, said = player.network(decisions.observation, shown)
    assert (said is None) == (reward == "points")
    if said is not None:
        assert np.allclose(values[:, 0].clamp(-1, 1).numpy(), said.clip(-1, 1), atol=2e-5)
        assert np.ptp(said) > 0.01 or sizes.trunk == 1
    weights, _ = player.evaluate(decisions)
    assert np.allclose(log_probabilities.exp().numpy(), weights, atol=2e-5)
    assert np.ptp(logits) > 0.1  # there was something to compare


@pytest.mark.parametrize("with_prior", [False, True], ids=["plain", "prior"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_omitted_inputs_change_neither_outputs_nor_gradients(
    players: int, with_prior: bool
) -> None:
    """Up to rounding, as products are summed in another order."""
    tables = Tables(40, GameOptions(players, "back"), 5)
    tables.spread(np.random.default_rng(2))
    codes = tables.inputs(np.arange(40), GreedyAgent() if with_prior else None)
    network, masks = PolicyNetwork(Sizes(16, 2, 8), 1.5), torch.from_numpy(tables.games.mask != 0)
    with torch.no_grad():
        for weight in (
            one
            for name, one in network.named_parameters()
            if name.endswith("weight") and one.ndim == 2
        ):
            weight.add_(
                0.05 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(1))
            )
    found = []
    for used in (used_inputs(), used_inputs(players, with_prior)):
        network.zero_grad()
        log_probabilities, values = network(arranged(codes, used), masks)
        (log_probabilities.clamp(min=LOWEST).sum() + values.sum()).backward()
        gradient = [
            torch.zeros_like(one) if one.grad is None else one.grad.clone()
            for one in network.parameters()
        ]
        found.append([log_probabilities.exp().detach(), values.detach(), *gradient])
    names = ["policy", "values", *(name for name, _ in network.named_parameters())]
    for name, whole, part in zip(names, *found, strict=True):
        assert (whole - part).abs().max() <= 1e-4 * whole.abs().max(), name
        assert whole.any() or name in ("rest.prior_weight", "rest.prior_floor"), name


def test_lost_units_come_back_and_hardly_change_an_output() -> None:
    network, rng = decided(Sizes(33, 2, 7)), np.random.default_rng(2)
    codes = torch.from_numpy(rng.integers(0, 3, (50, len(INPUTS))).astype(np.int16))
    with torch.no_grad():
        for incoming, _ in network.sizes.around().values():
            network.get_parameter(f"layers.{incoming[0].replace('.', '_')}.bias")[::3] -= 1e6
        outputs = []
        for _ in range(2):
            network.activity = {}
            outputs.append(network(codes, some_masks(50, np.random.default_rng(3))))
            lost = {name: sums <= 0 for name, sums in network.activity.items()}
            shares = [float(lost[name].float().mean()) for name in network.sizes.around()]
            assert min(shares) > 0.3 if len(outputs) == 1 else max(shares) < 0.3
            network.reinitialise(lost, rng)
    for before, after in zip(*outputs, strict=True):
        assert torch.allclose(before.exp(), after.exp(), atol=0.2)


# ---- precision ----


@pytest.mark.parametrize(
    ("vendor", "flags", "expected"),
    [
        ("GenuineIntel", "avx512f avx512_bf16 amx_bf16", True),
        ("GenuineIntel", "avx512f avx512_bf16", False),
        ("AuthenticAMD", "avx512f avx512_bf16", True),
        ("AuthenticAMD", "avx2", False),
    ],
)
def test_bfloat16_is_for_processors_that_are_faster_at_it(
    tmp_path: Path, vendor: str, flags: str, expected: bool
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    assert not prefers_bfloat16(cpuinfo)
    cpuinfo.write_text(f"vendor_id\t: {vendor}\nflags\t\t: fpu {flags}\n")
    assert prefers_bfloat16(cpuinfo) == expected


# ---- mask ----


def test_illegal_actions_have_no_probability_and_no_gradient() -> None:
    network, rng = decided(Sizes(8, 1, 4), 1.0), np.random.default_rng(2)
    mask = some_masks(20, rng)
    mask[0] = False
    mask[0, 5] = True  # forced
    codes = torch.from_numpy(rng.integers(0, 3, (20, len(INPUTS))).astype(np.int16))
    log_probabilities, _ = network(codes, mask)
    probabilities = log_probabilities.exp()
    assert (probabilities[~mask] == 0).all()
    assert probabilities.sum(dim=1).detach().numpy() == pytest.approx(np.ones(20), abs=1e-5)
    assert log_probabilities[0, 5] == 0
    told = entropy(log_probabilities)
    assert abs(told[0].item()) < 1e-15
    (log_probabilities[mask].sum() + told.sum()).backward()
    gradients = [one.grad for one in network.parameters() if one.grad is not None]
    assert gradients
    assert all(torch.isfinite(gradient).all() for gradient in gradients)
