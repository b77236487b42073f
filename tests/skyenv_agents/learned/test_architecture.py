"""The network's arithmetic: what it is, written out; whose weights are shared; where the prior
comes in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.compiling import COMPILED
from skyenv_agents.learned.architecture import VALUES, Sizes, linear, run
from skyenv_agents.learned.layout import COMMON_ACTIONS, COMMON_CODES, GROUPS, INPUTS
from skyenv_agents.learned.networks import NUMPY

ALL_SIZES = [Sizes(1, 0, 1), Sizes(7, 1, 3), Sizes(16, 3, 5)]
Weights = dict[str, np.ndarray]


def drawn(sizes: Sizes, seed: int = 1) -> Weights:
    """Random weights."""
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=shape) for name, shape in sizes.shapes().items()}


def seen(number: int, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Random inputs, and what a prior says."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(number, len(INPUTS))), rng.normal(size=(number, NUM_ACTIONS + 1))


def computed(sizes: Sizes, weights: Weights, inputs: Any, prior: Any) -> tuple[Any, Any]:
    """What the network says."""

    def layer(name: str, rows: Any) -> Any:
        return rows @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    return run(sizes, layer, weights.__getitem__, NUMPY, inputs, prior)


def slowly(
    sizes: Sizes, weights: Weights, inputs: Any, prior: Any
) -> tuple[np.ndarray, np.ndarray]:
    """The same for one decision, thing by thing, action by action."""

    def layer(name: str, values: Any) -> Any:
        return weights[f"{name}.weight"] @ values + weights[f"{name}.bias"]

    def relu(values: Any) -> Any:
        return np.where(values > 0, values, 0.0)

    place, entities = len(COMMON_CODES), {}
    everything = list(inputs[:place])
    for group in GROUPS:
        for i in range(group.number):
            row = inputs[place : place + group.features]
            entities[group.name, i] = relu(
                layer(group.name, row) + weights[f"{group.name}.identity"][i]
            )
            everything += list(entities[group.name, i])
            place += group.features
    trunk = relu(layer("trunk", np.array(everything)))
    for block in range(sizes.blocks):
        trunk = trunk + layer(f"block{block}.out", relu(layer(f"block{block}.in", trunk)))
    trunk = relu(trunk)
    logits = np.full(NUM_ACTIONS, np.nan)
    logits[COMMON_ACTIONS] = layer("actions", relu(layer("policy", trunk)))
    for group in GROUPS:
        for i, actions in enumerate(group.actions):
            if len(actions):
                hidden = relu(
                    layer(f"{group.name}.policy", entities[group.name, i])
                    + layer(f"{group.name}.context", trunk)
                )
                logits[actions] = layer(f"{group.name}.actions", hidden)
    values = layer("outlook", relu(layer("value", trunk)))
    scores = [max(float(score), float(weights["prior_floor"])) for score in prior[:NUM_ACTIONS]]
    return logits + weights["prior_weight"] * scores, values + np.array([prior[NUM_ACTIONS], 0.0])


@pytest.mark.parametrize("sizes", ALL_SIZES)
def test_it_is_what_it_is_said_to_be(sizes: Sizes) -> None:
    weights, (inputs, prior) = drawn(sizes), seen(4)
    logits, values = computed(sizes, weights, inputs, prior)
    assert (logits.shape, values.shape) == ((4, NUM_ACTIONS), (4, VALUES))
    for row in range(4):
        wanted, wanted_values = slowly(sizes, weights, inputs[row], prior[row])
        assert np.allclose(logits[row], wanted)
        assert np.allclose(values[row], wanted_values)


@pytest.mark.parametrize(
    "group", [group for group in GROUPS if group.actions.size], ids=lambda group: group.name
)
def test_entities_exchanged_are_outputs_exchanged(group: Any) -> None:
    """Where nothing tells entities apart and the rest doesn't look at them: their weights are one
    another's.
    """
    sizes = Sizes(9, 2, 6)
    weights, (inputs, prior) = drawn(sizes), seen(5)
    weights[f"{group.name}.identity"][:] = 0.25
    weights["trunk.weight"][:, len(COMMON_CODES) :] = 0.0
    start = len(COMMON_CODES)
    for other in GROUPS[: GROUPS.index(group)]:
        start += other.number * other.features
    part = slice(start, start + group.number * group.features)
    order = np.random.default_rng(3).permutation(group.number)
    assert order.tolist() != list(range(group.number))
    exchanged = inputs.copy()
    rows = inputs[:, part].reshape(5, group.number, group.features)
    exchanged[:, part] = rows[:, order].reshape(5, -1)
    prior[:] = 0.0
    logits, values = computed(sizes, weights, inputs, prior)
    after, values_after = computed(sizes, weights, exchanged, prior)
    assert np.allclose(after[:, group.actions], logits[:, group.actions[order]])
    assert not np.allclose(after[:, group.actions], logits[:, group.actions])
    others = np.setdiff1d(np.arange(NUM_ACTIONS), group.actions)
    assert np.allclose(after[:, others], logits[:, others])
    assert np.allclose(values_after, values)

    weights[f"{group.name}.identity"][0] += 1.0  # what tells them apart
    first, second = (computed(sizes, weights, each, prior)[0] for each in (inputs, exchanged))
    assert not np.allclose(second[:, group.actions], first[:, group.actions[order]])


def test_the_prior_is_where_it_starts_from() -> None:
    """Without anything learned: the scores, none below the floor, times their weight; and the
    outcome for the value alone.
    """
    sizes = Sizes(5, 1, 2)
    weights = {name: np.zeros_like(array) for name, array in drawn(sizes).items()}
    weights["prior_weight"], weights["prior_floor"] = np.array(2.5), np.array(-0.75)
    inputs, prior = seen(6)
    logits, values = computed(sizes, weights, inputs, prior)
    assert np.array_equal(logits, 2.5 * np.where(prior < -0.75, -0.75, prior)[:, :NUM_ACTIONS])
    assert logits.min() == 2.5 * -0.75
    assert np.array_equal(values[:, 0], prior[:, NUM_ACTIONS])
    assert not values[:, 1].any()


@pytest.mark.parametrize("sizes", ALL_SIZES)
def test_sizes_are_told_by_shapes(sizes: Sizes) -> None:
    shapes = sizes.shapes()
    assert Sizes.of(shapes) == sizes
    for name, (inputs, outputs) in sizes.layers().items():
        assert shapes[f"{name}.weight"] == (outputs, inputs)
        assert shapes[f"{name}.bias"] == (outputs,)


# ---- a layer's product ----


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_products_are_the_same_in_any_batch_bit_for_bit(kind: Any) -> None:
    """However the rows lie in memory, and whatever axes stand in front; uncompiled they are left to
    NumPy.
    """
    rng = np.random.default_rng(4)
    rows = (rng.normal(size=(70, 300)) * (rng.random((70, 300)) < 0.5)).astype(kind)
    weight, bias = rng.normal(size=(300, 33)).astype(kind), rng.normal(size=33).astype(kind)
    whole = linear(rows, weight, bias)
    wanted = rows.astype(np.float64) @ weight + bias
    assert whole.dtype == kind
    assert np.allclose(whole, wanted, atol=1e-3 if kind == np.float32 else 1e-12)
    assert linear(rows.reshape(7, 2, 5, 300), weight, bias).shape == (7, 2, 5, 33)
    if COMPILED:
        for number in (0, 1, 2, 7, 64):
            assert np.array_equal(linear(rows[:number], weight, bias), whole[:number])
        for other in (np.asfortranarray(rows), rows.reshape(7, 2, 5, 300)):
            assert np.array_equal(linear(other, weight, bias).reshape(70, 33), whole)
        assert np.array_equal(linear(rows[::-2], weight, bias), whole[::-2])
