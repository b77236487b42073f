"""The layout of inputs and outputs by entity, checked by their names."""

import re
from collections.abc import Sequence

import numpy as np
import pytest

from skyenv.engine.observation import SEATS, names
from skyenv.rules.actions import ACTION_NAMES, NUM_ACTIONS
from skyenv.rules.components import COLOURS, DISTRICTS
from skyenv_agents.heuristic.inputs import DISTRICT_INPUTS, SEAT_INPUTS
from skyenv_agents.learned import layout
from skyenv_agents.learned.layout import GROUPS, INPUTS, NUM_INPUTS, used_inputs

# Of all codes.
NAMES = [*names(), *(f"score: {name}" for name in ACTION_NAMES), "outcome"]
for seat in SEATS:
    NAMES += [f"told {i} of {seat}" for i in range(SEAT_INPUTS)]
    NAMES += [
        f"district told {i} of {one}, {seat}" for one in DISTRICTS for i in range(DISTRICT_INPUTS)
    ]
ENTITIES: dict[str, Sequence[str]] = {"district": DISTRICTS, "colour": COLOURS, "seat": SEATS}


def template(name: str, thing: str) -> str:
    """A name without the thing that it is about; one's own hand is what one knows of the
    others'.
    """
    name = re.sub(rf"\b{thing}\b", "*", name)
    if thing == SEATS[0]:
        name = re.sub("^hand:", "known: *", re.sub("^hidden:", "unknown: *", name))
    return name


def test_every_code_is_an_input_and_every_action_an_output() -> None:
    assert len(NAMES) == NUM_INPUTS == len(layout.CODE_SCALE)
    assert set(INPUTS.tolist()) == set(range(NUM_INPUTS))
    assert used_inputs().codes.tolist() == INPUTS.tolist()
    own = [group.actions.reshape(-1) for group in GROUPS]
    outputs = np.concatenate([layout.COMMON_ACTIONS, *own])
    assert outputs[layout.OUTPUTS].tolist() == list(range(NUM_ACTIONS))


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
def test_entities_of_a_group_have_equal_features(group: layout.Group) -> None:
    """Each feature and output has one meaning for all entities."""
    things = ENTITIES[group.name]
    for numbers, of_all in ((group.codes, NAMES), (group.actions, ACTION_NAMES)):
        templates = [
            [template(of_all[number], thing) for number in row]
            for row, thing in zip(numbers, things, strict=True)
        ]
        assert templates == [templates[0]] * len(things)
        assert len(set(templates[0])) == len(templates[0])
