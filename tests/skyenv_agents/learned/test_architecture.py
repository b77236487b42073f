"""The network's forward pass, written out."""

from typing import Any

import numpy as np
import pytest

from skyenv.engine.observation import OBSERVATION_SIZE
from skyenv.rules.actions import NUM_ACTIONS
from skyenv_agents.learned.architecture import Sizes
from skyenv_agents.learned.forward_pass import ROWS
from skyenv_agents.learned.layout import (
    CODE_SCALE,
    COMMON_ACTIONS,
    COMMON_CODES,
    GROUPS,
    INPUTS,
)
from skyenv_agents.learned.networks import OUTCOME_REWARD, Network
from skyenv_agents.learned.prior import NUM_CODES

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


@pytest.mark.parametrize("sizes", [Sizes(1, 0, 1), Sizes(7, 1, 3), Sizes(16, 3, 5)], ids=str)
def test_the_forward_pass_agrees_with_a_plain_computation(sizes: Sizes) -> None:
    """In more rows than are computed together."""
    rng = np.random.default_rng(1)
    weights = {
        name: rng.normal(size=shape, scale=0.2).astype(np.float32)
        for name, shape in sizes.shapes().items()
    }
    number = 2 * ROWS + 3
    observation = (rng.random((number, OBSERVATION_SIZE)) < 0.3).astype(np.float32)
    prior = rng.integers(-300, 300, (number, NUM_CODES)).astype(np.int16)
    codes = np.concatenate([observation, prior * CODE_SCALE[OBSERVATION_SIZE:]], axis=1)
    logits, values = Network(weights, {"reward": OUTCOME_REWARD})(observation, prior)
    assert values is not None
    for row in range(0, number, 6):
        own = codes[row, OBSERVATION_SIZE:]
        wanted, wanted_values = slowly(sizes, weights, codes[row, INPUTS], own)
        assert np.allclose(logits[row], wanted, atol=1e-4)
        assert values[row] == pytest.approx(np.clip(wanted_values[0], -1, 1), abs=1e-4)
    assert np.ptp(values) > 0.1
    assert Sizes.of(sizes.shapes()) == sizes
