"""The compiled forward pass of networks.

A :class:`Program` lists the layers of :mod:`skyenv_agents.learned.architecture` in the order of
their computation. Each reads and writes columns of one array of *activations*, which has a row for
each decision and begins with the inputs.

Results do not depend on the batch or the machine: every output is one sum in a fixed order, on one
thread. Rounding in BLAS depends on the number of rows and the processor. Zeros, which are most
inputs and half of the activations, are skipped.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np

from skyenv.array_types import Float32, Int16, Int64, RecordArray
from skyenv.engine.observation import OBSERVATION_SIZE
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.compiling import called_rule, entry_point, rule
from skyenv.rules.record import BOOL, I64, Array, Record, as_records, field
from skyenv.rules.state import NONE
from skyenv_agents.learned.architecture import ACTING, Sizes
from skyenv_agents.learned.layout import (
    CODE_SCALE,
    COMMON_ACTIONS,
    COMMON_CODES,
    GROUPS,
    NUM_INPUTS,
    OUTPUTS,
    POSITION,
)

# Rows that are computed together: the weights of a layer are read once for all of them.
ROWS: Final = 32


class LayerRecord(Record):
    """A layer, applied to a row or to each entity of a group in it."""

    entities = field(I64)  # how often it is applied, to inputs one after the other
    inputs = field(I64)
    outputs = field(I64)
    source = field(I64)  # column of the first input
    target = field(I64)  # column of the first output
    weight = field(I64)  # place of its weights [input, output] in the program's
    bias = field(I64)  # place of its bias
    identity = field(I64)  # place of the entities' identities, which are added; NONE: none
    added = field(I64)  # column of activations to add to each entity's outputs; NONE: none
    rectified = field(BOOL)  # whether ReLU follows


class Program(NamedTuple):
    """A network for compiled functions.

    Attributes:
        layers: LayerRecord (layers,), in order.
        weights: float32, all weights.
        inputs: int64 (inputs,), the code (:mod:`skyenv_agents.learned.layout`) of each input. The
            prior's scores and its outcome come first.
        logits: int64 (103,), the column of each action's logit, without the prior.
        value: the column of the expected return, without the prior.
        prior: float32 (2,), the weight of the prior's scores, and their floor.
        width: number of columns.
    """

    layers: RecordArray
    weights: Float32
    inputs: Int64
    logits: Int64
    value: int
    prior: Float32
    width: int


class Memory(NamedTuple):
    """Working memory of a forward pass.

    Attributes:
        codes: float32 (NUM_INPUTS,), the scaled codes of a row.
        places: int64, the places of a layer's inputs that are not 0.
        activations: float32 (rows, width).
    """

    codes: Float32
    places: Int64
    activations: Float32


def new_memory(program: Program, rows: int) -> Memory:
    """Return working memory for up to `rows` rows at once."""
    activations = np.empty((rows, program.width), np.float32)
    return Memory(np.zeros(NUM_INPUTS, np.float32), np.empty(program.width, np.int64), activations)


def program_of(sizes: Sizes, arrays: Mapping[str, Float32]) -> tuple[Program, list[str]]:
    """Return the program of a network, and the names of its layers.

    Args:
        arrays: the weights by name, layers' as (inputs, outputs).
    """
    shapes, layers = sizes.layers(), dict[str, tuple[int, ...]]()
    ends = np.cumsum([array.size for array in arrays.values()]).tolist()
    places = dict(zip(arrays, [0, *ends], strict=False))
    codes = [np.arange(OBSERVATION_SIZE, POSITION), *(group.codes.reshape(-1) for group in GROUPS)]
    starts: list[int] = np.cumsum([len(each) for each in codes]).tolist()
    width = starts[-1] + len(COMMON_CODES)

    def add(
        name: str, source: int, entities: int = 1, added: int = NONE, rectified: bool = True
    ) -> int:
        """Append a layer; return the column of its first output."""
        nonlocal width
        target, (inputs, outputs) = width, shapes[name]
        own = [places.get(f"{name}.{kind}", NONE) for kind in ("weight", "bias", "identity")]
        layers[name] = (entities, inputs, outputs, source, target, *own, added, rectified)
        width += entities * outputs
        return target

    # The entities' outputs follow the common inputs, and both are the trunk's input.
    entities = {
        group.name: add(group.name, start, group.number)
        for group, start in zip(GROUPS, starts, strict=False)
    }
    trunk = add("trunk", starts[-1])
    for block in range(sizes.blocks):
        hidden, last = add(f"block{block}.in", trunk), block == sizes.blocks - 1
        trunk = add(f"block{block}.out", hidden, added=trunk, rectified=last)
    first = add("actions", add("policy", trunk), rectified=False)
    columns = [first + np.arange(len(COMMON_ACTIONS))]
    for group in ACTING:
        context = add(f"{group.name}.context", trunk, rectified=False)
        hidden = add(f"{group.name}.policy", entities[group.name], group.number, context)
        first = add(f"{group.name}.actions", hidden, group.number, rectified=False)
        columns.append(first + np.arange(group.actions.size))
    value = add("outlook", add("value", trunk), rectified=False)
    program = Program(
        as_records(np.array(list(layers.values()), LayerRecord.dtype), LayerRecord.dtype),
        np.concatenate([array.reshape(-1) for array in arrays.values()]),
        np.concatenate([*codes, COMMON_CODES]),
        np.concatenate(columns)[OUTPUTS],
        value,
        np.array([arrays["prior_weight"], arrays["prior_floor"]], np.float32),
        width,
    )
    return program, list(layers)


@called_rule
def load_row(program: Program, memory: Memory, prior: Int16, row: int) -> None:
    """Write the inputs of a row from the memory's scaled observation and the codes of the prior,
    int16 (NUM_CODES,) or (0,).
    """
    for k in range(len(prior)):
        code = OBSERVATION_SIZE + k
        memory.codes[code] = np.float32(prior[k]) * CODE_SCALE[code]
    for k in range(len(program.inputs)):
        memory.activations[row, k] = memory.codes[program.inputs[k]]


@rule
def add_products(
    inputs: Float32, places: Int64, number: int, weights: Array, sums: Float32
) -> None:
    """Add some inputs, times their weights, to the sums of a layer.

    Args:
        places: the first `number` are those of the inputs. weights: float32 (inputs, outputs).
    """
    # Four inputs at a time, so that the sums are read and written a quarter as often.
    whole = number - number % 4
    for k in range(0, whole, 4):
        i0, i1, i2, i3 = places[k], places[k + 1], places[k + 2], places[k + 3]
        x0, x1, x2, x3 = inputs[i0], inputs[i1], inputs[i2], inputs[i3]
        for j in range(len(sums)):
            first = sums[j] + x0 * weights[i0, j] + x1 * weights[i1, j]
            sums[j] = first + x2 * weights[i2, j] + x3 * weights[i3, j]
    for k in range(whole, number):
        x0 = inputs[places[k]]
        for j in range(len(sums)):
            sums[j] += x0 * weights[places[k], j]


@rule
def add_all(numbers: Float32, sums: Float32) -> None:
    """Add one number to each sum."""
    for j in range(len(sums)):
        sums[j] += numbers[j]


@rule
def apply_layer(
    layer: LayerRecord, weights: Float32, entity: int, places: Int64, x: Float32
) -> None:
    """Apply a layer to one entity of a row, whose activations are `x`."""
    width, outputs = int(layer.inputs), int(layer.outputs)
    source = int(layer.source) + entity * width
    target = int(layer.target) + entity * outputs
    inputs, sums = x[source : source + width], x[target : target + outputs]
    number = 0
    for k in range(width):
        places[number] = k
        number += 1 if inputs[k] != 0.0 else 0
    for j in range(outputs):
        sums[j] = weights[layer.bias + j]
    matrix = weights[layer.weight : layer.weight + width * outputs].reshape(width, outputs)
    add_products(inputs, places, number, matrix, sums)
    if layer.identity != NONE:
        add_all(weights[layer.identity + entity * outputs :], sums)
    if layer.added != NONE:
        add_all(x[layer.added :], sums)
    if layer.rectified:
        for j in range(outputs):
            sums[j] = max(sums[j], np.float32(0.0))


@rule
def run_layers(program: Program, memory: Memory, rows: int) -> None:
    """Compute the activations of the first rows from their inputs."""
    for i in range(len(program.layers)):
        layer = program.layers[i]
        for row in range(rows):
            for entity in range(layer.entities):
                apply_layer(layer, program.weights, entity, memory.places, memory.activations[row])


@called_rule
def logit(program: Program, memory: Memory, row: int, action: int) -> float:
    """Return the logit of an action, legal or not; the first inputs are the prior's scores."""
    x = memory.activations[row]
    score = max(x[action], program.prior[1])
    return float(x[program.logits[action]] + program.prior[0] * score)


@called_rule
def expected_return(program: Program, memory: Memory, row: int) -> float:
    """Return the expected return of a row, to which that of the prior is added."""
    x = memory.activations[row]
    return float(x[program.value] + x[NUM_ACTIONS])


@entry_point("networks")
def evaluate_rows(
    program: Program, memory: Memory, observations: Array, priors: Array, out: Array
) -> None:
    """Write logits and the expected return of each row into `out`, float64 (n, 104).

    Args:
        observations: float32 (n, OBSERVATION_SIZE), n up to ROWS.
        priors: int16 (n, NUM_CODES), the codes of the prior, or (n, 0).
    """
    for row in range(len(out)):
        for k in range(OBSERVATION_SIZE):
            memory.codes[k] = observations[row, k]
        load_row(program, memory, priors[row], row)
    run_layers(program, memory, len(out))
    for row in range(len(out)):
        for action in range(NUM_ACTIONS):
            out[row, action] = logit(program, memory, row, action)
        out[row, NUM_ACTIONS] = expected_return(program, memory, row)
