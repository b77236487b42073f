"""The policy network in PyTorch, with the settings of the processor."""

import ctypes
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn

from skyenv.errors import OptionError
from skyenv.rules.actions import NUM_ACTIONS
from skyenv_agents.learned.architecture import ACTING, Sizes
from skyenv_agents.learned.layout import (
    CODE_SCALE,
    COMMON_CODES,
    GROUPS,
    OUTPUTS,
    USED_BY_NUMBER,
    UsedInputs,
)
from skyenv_agents.learned.networks import Network
from skyenv_agents.learned.prior import WORST_PRIOR

# Logit of an illegal action: its probability is exactly 0.
ILLEGAL: Final = -1e9
# A lower log-probability adds nothing, and its exponential takes twenty times as long (it
# underflows).
LOWEST: Final = -50.0
# Norms of the incoming weights of units that are drawn anew; those of the trunk's first layer reach
# the trunk's output past the blocks, so they begin small, but above the steps of the optimiser.
NORM: Final = 2**0.5
TRUNK_NORM: Final = 0.2
TRIM_THRESHOLD: Final = -1
# M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of glibc's malloc.h.
MMAP_THRESHOLD: Final = -3
# Bytes; older versions of glibc refuse the first.
KEPT: Final = (1 << 30, 1 << 25)


def use_processor(threads: int) -> None:
    """Set the number of threads, and let the allocator reuse the memory of freed arrays.

    By default glibc returns it to the system, which clears every page before the next array gets
    it: a tenth of a learner's time. Other C libraries are left as they are.
    """
    torch.set_num_threads(threads)
    if sys.platform != "linux":
        return
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is not None:
        for option in (MMAP_THRESHOLD, TRIM_THRESHOLD):
            any(set_option(option, size) for size in KEPT)


def prefers_bfloat16(cpuinfo: Path = Path("/proc/cpuinfo")) -> bool:
    """Whether the processor is known to multiply matrices in bfloat16 faster than in float32.

    So do those with AMX, and AMD's with AVX-512 BF16: PyTorch's single precision (MKL) uses no
    AVX-512 there.
    """
    text = cpuinfo.read_text(encoding="utf-8") if cpuinfo.exists() else ""
    return "amx_bf16" in text or ("AuthenticAMD" in text and "avx512_bf16" in text)


def in_precision(device: str, bfloat16: bool) -> torch.autocast:
    """Return a context of bfloat16 or single precision."""
    return torch.autocast(device, dtype=torch.bfloat16, enabled=bfloat16)


def entropy(log_probabilities: Tensor) -> Tensor:
    """Entropy of each row, in nats."""
    bounded = log_probabilities.clamp(min=LOWEST)
    return -(bounded.exp() * bounded).sum(dim=1)


@dataclass(frozen=True)
class _Shown:
    """The inputs that a network uses, on its device: see
    :class:`skyenv_agents.learned.layout.UsedInputs`.
    """

    used: UsedInputs
    scale: Tensor
    prior: Tensor
    columns: Mapping[str, Tensor]


def _show(sizes: Sizes, number: int, device: torch.device) -> _Shown:
    """So many inputs of a network, on its device; columns of those layers alone that don't use all
    of theirs.
    """
    used, layers = USED_BY_NUMBER[number], sizes.layers()
    of_things = np.arange(len(COMMON_CODES), layers["trunk"][0])
    columns = {**used.columns, "trunk": np.concatenate([used.columns["trunk"], of_things])}
    tensors = {
        name: torch.from_numpy(array).to(device)
        for name, array in columns.items()
        if len(array) < layers[name][0]
    }
    return _Shown(
        used,
        torch.from_numpy(CODE_SCALE[used.codes]).to(device),
        torch.from_numpy(used.prior).to(device),
        tensors,
    )


class PolicyNetwork(nn.Module):
    """The trainable form of :class:`skyenv_agents.learned.networks.Network`.

    Args:
        sizes: of the network.
        prior_weight: what a prior's scores are multiplied with in the beginning.
        prior_floor: what none of them is below (VP behind the best action, 0 or less); nothing
            changes it.

    Attributes:
        activity: the sum of each unit's activations since this was set to {}, (units,) by the name
            of its ReLU, 0 for a unit that has never been active; None: not noted.
    """

    def __init__(
        self, sizes: Sizes, prior_weight: float, prior_floor: float = -WORST_PRIOR
    ) -> None:
        super().__init__()
        self.sizes = sizes
        self.layers = nn.ModuleDict()
        for name, (inputs, outputs) in sizes.layers().items():
            layer = nn.Linear(inputs, outputs)
            gain = (
                0.01
                if name.endswith("actions") or name.endswith(".out") or name == "outlook"
                else 2**0.5
            )
            nn.init.orthogonal_(layer.weight, gain)
            nn.init.zeros_(layer.bias)
            self.layers[name.replace(".", "_")] = layer
        self.rest = nn.ParameterDict()
        of_prior = {"prior_weight": prior_weight, "prior_floor": prior_floor}
        for name, shape in sizes.others().items():
            begin = (
                torch.full(shape, of_prior[name]) if name in of_prior else torch.randn(shape) * 0.1
            )
            self.rest[name.replace(".", "_")] = nn.Parameter(
                begin, requires_grad=name != "prior_floor"
            )
        self._shown: dict[tuple[int, torch.device], _Shown] = {}
        self._kept: dict[tuple[str, torch.dtype], Tensor] | None = None
        self.activity: dict[str, Tensor] | None = None

    def forward(self, codes: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities of all actions (k, 103), and values (k, VALUES), of codes and bool
        masks (k, 103).

        Codes are those that are used at some tables
        (:func:`skyenv_agents.learned.layout.used_inputs`), int16 (k, inputs): how many there are
        tells which ones.
        """
        where = codes.shape[1], codes.device
        shown = self._shown[where] = self._shown.get(where) or _show(self.sizes, *where)
        # Products in half the precision need no wider inputs; the prior's scores are added to what
        # comes out, in full.
        kind = torch.bfloat16 if torch.is_autocast_enabled(codes.device.type) else torch.float32
        inputs = codes.to(kind) * shown.scale.to(kind)
        logits, values = self._outputs(shown, inputs)
        if len(shown.prior):
            prior = codes.index_select(1, shown.prior) * shown.scale.index_select(0, shown.prior)
            scores = torch.maximum(prior[:, :NUM_ACTIONS], self.rest["prior_floor"])
            logits = logits + self.rest["prior_weight"] * scores
            values = torch.cat([values[:, :1] + prior[:, NUM_ACTIONS:], values[:, 1:]], 1)
        return torch.log_softmax(logits.float().masked_fill(~mask, ILLEGAL), dim=1), values.float()

    def _outputs(self, shown: _Shown, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits of all actions (k, 103), legal or not, and the values (k, VALUES),
        without the prior, of scaled inputs (k, inputs).

        In the trunk the entities' outputs follow the common inputs.
        """
        number, start = len(inputs), shown.used.common
        layer = partial(self._layer, shown.columns)
        parts, entities = [inputs[:, :start]], {}
        for group, features in zip(GROUPS, shown.used.features, strict=True):
            stop = start + group.number * features
            rows = inputs[:, start:stop].reshape(number, group.number, features)
            entity = entities[group.name] = self._rectify(
                group.name, layer(group.name, rows) + self._other(f"{group.name}.identity")
            )
            parts.append(entity.reshape(number, group.number * self.sizes.entity_dim))
            start = stop
        trunk = self._rectify("trunk", layer("trunk", torch.cat(parts, 1)))
        for block in range(self.sizes.blocks):
            name = f"block{block}.in"
            trunk = trunk + layer(f"block{block}.out", self._rectify(name, layer(name, trunk)))
        trunk = self._rectify("trunk.out", trunk)
        outputs = [layer("actions", self._rectify("policy", layer("policy", trunk)))]
        for group in ACTING:
            name, context = f"{group.name}.policy", layer(f"{group.name}.context", trunk)[:, None]
            hidden = self._rectify(name, layer(name, entities[group.name]) + context)
            actions = layer(f"{group.name}.actions", hidden)
            outputs.append(actions.reshape(number, group.actions.size))
        # PyTorch takes six times as long in half the precision.
        columns = torch.from_numpy(OUTPUTS).to(inputs.device)
        logits = torch.cat(outputs, 1).float().index_select(1, columns)
        return logits, layer("outlook", self._rectify("value", layer("value", trunk)))

    @contextmanager
    def unchanging(self) -> Iterator[None]:
        """In this block the weights do not change, so tensors derived from them are cached."""
        self._kept = {}
        try:
            yield
        finally:
            self._kept = None

    def gradient_norms(self) -> dict[str, float]:
        """Return the norm of each layer's gradient, 0 without one, by the layer's name."""
        gradients = {
            name: [one.grad for one in self._linear(name).parameters() if one.grad is not None]
            for name in self.sizes.layers()
        }
        return {
            name: float(sum(one.square().sum() for one in parts)) ** 0.5
            for name, parts in gradients.items()
        }

    @torch.no_grad()
    def reinitialise(self, lost: Mapping[str, Tensor], rng: np.random.Generator) -> None:
        """Draw units anew that are never active (ReDo: Sokar et al. 2023).

        Their outgoing weights are 0, so outputs hardly change.

        Args:
            lost: bool (units,), which units, by the name of their ReLU. rng: draws the weights.
        """
        for name, (incoming, outgoing) in self.sizes.around().items():
            units = torch.nonzero(lost[name])[:, 0]
            norm = TRUNK_NORM if name == "trunk" else NORM
            for layer in map(self._linear, incoming):
                drawn = torch.from_numpy(rng.standard_normal((len(units), layer.in_features)))
                layer.weight[units] = (norm * nn.functional.normalize(drawn)).to(layer.weight)
                layer.bias[units] = 0.0
            for reader in outgoing:
                columns = self.sizes.columns(name, reader)[:, units.cpu().numpy()].ravel()
                self._linear(reader).weight[:, columns] = 0.0
            if f"{name}.identity" in self.sizes.others():
                self._other(f"{name}.identity")[:, units] = 0.0

    @torch.no_grad()
    def set_prior(self, weight: float | None = None, floor: float | None = None) -> None:
        """Set weight and floor of the prior (:class:`PolicyNetwork`); None leaves one as it is."""
        for name, value in (("prior_weight", weight), ("prior_floor", floor)):
            if value is not None:
                self.rest[name].fill_(value)

    def take(self, network: Network) -> None:
        """Load the weights of a frozen network.

        Raises:
            OptionError: it has other sizes.
        """
        if network.sizes != self.sizes:
            raise OptionError(
                f"the network to start from has {network.sizes}; the options make it {self.sizes}"
            )
        self.load_state_dict(
            {_inside(name): torch.from_numpy(array) for name, array in network.weights.items()}
        )

    def frozen(self, about: Mapping[str, Any]) -> Network:
        """Return a frozen copy, which plays without PyTorch."""
        state = self.state_dict()
        return Network(
            {name: state[_inside(name)].cpu().numpy().copy() for name in self.sizes.shapes()}, about
        )

    def _layer(self, columns: Mapping[str, Tensor], name: str, rows: Tensor) -> Tensor:
        layer = self._linear(name)
        weight = (
            layer.weight
            if name not in columns
            else self._some_columns(name, layer.weight, columns[name], rows)
        )
        # Flat, or PyTorch may multiply batch by batch, and adds the bias in a pass of its own.
        outputs = nn.functional.linear(rows.reshape(-1, rows.shape[-1]), weight, layer.bias)
        return outputs.view(*rows.shape[:-1], -1)

    def _linear(self, name: str) -> nn.Linear:
        layer = self.layers[name.replace(".", "_")]
        assert isinstance(layer, nn.Linear)
        return layer

    def _rectify(self, name: str, array: Tensor) -> Tensor:
        active = torch.relu(array)
        if self.activity is not None:
            # Not the largest: in bfloat16 PyTorch takes up to sixty times as long to find it.
            more = active.detach().flatten(0, -2).sum(dim=0)
            self.activity[name] = self.activity.get(name, 0) + more
        return active

    def _some_columns(self, name: str, weight: Tensor, columns: Tensor, rows: Tensor) -> Tensor:
        """Some columns of a layer's weights, in the precision of what it is asked about where
        nothing is learned.
        """
        if self._kept is None:
            return weight.index_select(1, columns)
        if (name, rows.dtype) not in self._kept:
            self._kept[name, rows.dtype] = weight.index_select(1, columns).to(rows.dtype)
        return self._kept[name, rows.dtype]

    def _other(self, name: str) -> Tensor:
        weights: Tensor = self.rest[name.replace(".", "_")]
        return weights


def _inside(name: str) -> str:
    """Return PyTorch's name of weights, which has no dots."""
    layer, _, kind = name.rpartition(".")
    if kind in ("weight", "bias"):
        return f"layers.{layer.replace('.', '_')}.{kind}"
    return f"rest.{name.replace('.', '_')}"
