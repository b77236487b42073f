"""The network architecture: :mod:`skyenv_agents.learned.torch_network` trains it, and
:mod:`skyenv_agents.learned.forward_pass` compiles it.

Each group of entities (districts, colours, seats) has one layer with weights shared by its
entities, plus an identity embedding for each entity. The entities' outputs and the common inputs
enter the *trunk*, a layer and residual blocks. Logits of an entity's actions come from its own row
and the trunk, again with shared weights. All other logits and the values come from the trunk.

Scores of a heuristic prior, clipped at ``prior_floor`` and times ``prior_weight``, are added to the
logits, and the prior's outcome to the value. An untrained network thus plays like the prior.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from skyenv.array_types import Int64
from skyenv_agents.learned.layout import (
    COMMON_ACTIONS,
    COMMON_CODES,
    GROUPS,
)

# Value outputs: the expected return, and the expected margin in VP.
VALUES: Final = 2
# Groups whose entities have actions.
ACTING: Final = tuple(group for group in GROUPS if group.actions.size)


@dataclass(frozen=True)
class Sizes:
    """The sizes of a network.

    Attributes:
        trunk: units of the trunk. blocks: residual blocks in it. entity: units for each district,
            colour and seat.
    """

    trunk: int
    blocks: int
    entity_dim: int

    def layers(self) -> dict[str, tuple[int, int]]:
        """Return the inputs and outputs of every layer, by name."""
        trunk, entity = self.trunk, self.entity_dim
        joined = len(COMMON_CODES) + sum(group.number * entity for group in GROUPS)
        layers = {group.name: (group.features, entity) for group in GROUPS}
        layers["trunk"] = (joined, trunk)
        for block in range(self.blocks):
            layers |= {f"block{block}.in": (trunk, trunk), f"block{block}.out": (trunk, trunk)}
        for group in ACTING:
            layers |= {
                f"{group.name}.policy": (entity, entity),
                f"{group.name}.context": (trunk, entity),
                f"{group.name}.actions": (entity, group.actions.shape[1]),
            }
        half = max(trunk // 2, 1)
        return layers | {
            "policy": (trunk, half),
            "actions": (half, len(COMMON_ACTIONS)),
            "value": (trunk, half),
            "outlook": (half, VALUES),
        }

    def around(self) -> dict[str, tuple[list[str], list[str]]]:
        """Return the layers whose sum enters each ReLU, and those that read it, by its name.

        What leaves the trunk's first one also bypasses the blocks.
        """
        blocks = [f"block{block}" for block in range(self.blocks)]
        contexts = [f"{group.name}.context" for group in ACTING]
        heads = [f"{group.name}.policy" for group in ACTING]
        return {
            **{group.name: ([group.name], ["trunk"]) for group in GROUPS},
            **{group.name: ([group.name], ["trunk", f"{group.name}.policy"]) for group in ACTING},
            **({"trunk": (["trunk"], ["block0.in"])} if blocks else {}),
            **{f"{block}.in": ([f"{block}.in"], [f"{block}.out"]) for block in blocks},
            "trunk.out": (
                [f"{block}.out" for block in blocks[-1:]] or ["trunk"],
                ["policy", "value", *contexts],
            ),
            "policy": (["policy"], ["actions"]),
            "value": (["value"], ["outlook"]),
            **{
                head: ([head, context], [f"{group.name}.actions"])
                for head, context, group in zip(heads, contexts, ACTING, strict=True)
            },
        }

    def columns(self, name: str, layer: str) -> Int64:
        """Return the columns of a layer that read each unit behind a ReLU, int64 (k, units); the
        trunk reads those of every entity.
        """
        start = len(COMMON_CODES)
        for group in GROUPS:
            columns = start + np.arange(group.number * self.entity_dim)
            if (name, layer) == (group.name, "trunk"):
                return columns.reshape(group.number, self.entity_dim)
            start += len(columns)
        return np.arange(self.layers()[layer][0])[None]

    def others(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of weights outside layers: identities, prior weight and floor."""
        identities: dict[str, tuple[int, ...]] = {
            f"{group.name}.identity": (group.number, self.entity_dim) for group in GROUPS
        }
        return {**identities, "prior_weight": (), "prior_floor": ()}

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of all weights, by name."""
        shapes = self.others()
        for name, (inputs, outputs) in self.layers().items():
            shapes |= {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}
        return shapes

    @classmethod
    def of(cls, shapes: Mapping[str, tuple[int, ...]]) -> "Sizes":
        """Return the sizes of a network by the shapes of its weights.

        Raises:
            KeyError, IndexError: needed weights are missing or misshapen.
        """
        blocks = sum(name.startswith("block") and name.endswith(".in.bias") for name in shapes)
        return cls(shapes["trunk.bias"][0], blocks, shapes["district.bias"][0])
