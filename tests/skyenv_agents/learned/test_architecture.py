"""The network's forward pass, written out."""

from typing import Any

import numpy as np
import pytest

from skyenv.rules.actions import NUM_ACTIONS
from skyenv_agents.learned.architecture import Sizes, run
from skyenv_agents.learned.layout import COMMON_ACTIONS, COMMON_CODES, GROUPS, INPUTS
from skyenv_agents.learned.networks import NUMPY

Weights = dict[str, np.ndarray]


def slowly(
    sizes: Sizes, weights: Weights, inputs: Any, prior: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return the network's outputs of a decision, entity by entity, action by action."""

    def layer(name: str, values: Any) -> Any:
        return weights[f"{name}.weight"] @ values + weights[f"{name}.bias"]

    def relu(values: Any) -> Any:
        return np.where(values > 0, values, 0.0)

    place, entities = len(COMMON_CODES), {}
    everything = list(inputs[:place])
    for group in GROUPS:
        for i in range(group.number):
            row = inputs[place : place + group.features]
            place += group.features
            entity = relu(layer(group.name, row) + weights[f"{group.name}.identity"][i])
            entities[group.name, i] = entity
            everything += list(entity)
    trunk = relu(layer("trunk", np.array(everything)))
    for block in range(sizes.blocks):
        trunk = trunk + layer(f"block{block}.out", relu(layer(f"block{block}.in", trunk)))
    trunk = relu(trunk)
    logits = np.full(NUM_ACTIONS, np.nan)
    logits[COMMON_ACTIONS] = layer("actions", relu(layer("policy", trunk)))
    for group in GROUPS:
        for i, actions in enumerate(group.actions):
            if len(actions):
                own = layer(f"{group.name}.policy", entities[group.name, i])
                hidden = relu(own + layer(f"{group.name}.context", trunk))
                logits[actions] = layer(f"{group.name}.actions", hidden)
    values = layer("outlook", relu(layer("value", trunk)))
    scores = np.maximum(prior[:NUM_ACTIONS], weights["prior_floor"])
    return logits + weights["prior_weight"] * scores, values + np.array([prior[NUM_ACTIONS], 0.0])


@pytest.mark.parametrize("sizes", [Sizes(1, 0, 1), Sizes(7, 1, 3), Sizes(16, 3, 5)])
def test_the_forward_pass_agrees_with_a_plain_computation(sizes: Sizes) -> None:
    rng = np.random.default_rng(1)
    weights = {name: rng.normal(size=shape) for name, shape in sizes.shapes().items()}
    inputs, prior = rng.normal(size=(4, len(INPUTS))), rng.normal(size=(4, NUM_ACTIONS + 1))

    def layer(name: str, rows: Any) -> Any:
        return rows @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    both = run(sizes, layer, weights.__getitem__, NUMPY, inputs, prior)
    for row, (logits, values) in enumerate(zip(*both, strict=True)):
        wanted, wanted_values = slowly(sizes, weights, inputs[row], prior[row])
        assert np.allclose(logits, wanted)
        assert np.allclose(values, wanted_values)
    assert Sizes.of(sizes.shapes()) == sizes
