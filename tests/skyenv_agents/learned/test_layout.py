"""What belongs to districts, colours and seats: by the names of the observation's entries and of
the actions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest

from positions import positions
from skyenv.agents import decisions_in
from skyenv.engine.observation import OBSERVATION_SIZE, SEATS, codes_of, names
from skyenv.rules.actions import ACTION_NAMES, NUM_ACTIONS
from skyenv.rules.components import COLOURS, DISTRICTS, SIDES
from skyenv_agents import GreedyAgent
from skyenv_agents.heuristic.inputs import DISTRICT_INPUTS, NUM_POSITION_INPUTS, SEAT_INPUTS
from skyenv_agents.learned import layout
from skyenv_agents.learned.layout import (
    GROUPS,
    INPUTS,
    NUM_INPUTS,
    OUTCOME,
    OUTCOME_PARTS,
    POSITION,
    POSITION_PARTS,
    PRIOR_PARTS,
    used_inputs,
)
from skyenv_agents.learned.networks import Prior

NAMES = [
    *names(),
    *(f"score: {name}" for name in ACTION_NAMES),
    "outcome",
    *(
        name
        for seat in SEATS
        for name in (
            *(f"told {i} of {seat}" for i in range(SEAT_INPUTS)),
            *(
                f"district told {i} of {district}, {seat}"
                for district in DISTRICTS
                for i in range(DISTRICT_INPUTS)
            ),
        )
    ),
]
"""Of all codes."""
ENTITIES: dict[str, Sequence[str]] = {"district": DISTRICTS, "colour": COLOURS, "seat": SEATS}
OF_PLOTS = ("skyscrapers", "businesses", "plot value")
"""Blocks of the observation in which a colour says where a plot is."""


def says(name: str, thing: str) -> bool:
    """Whether a name is about a thing; a seat may be a part of another one's name ("next" of
    "second next").
    """
    longer = (
        [seat for seat in SEATS if seat != thing and seat.endswith(thing)] if thing in SEATS else []
    )
    return bool(re.search(rf"\b{thing}\b", name)) and not any(
        re.search(rf"\b{seat}\b", name) for seat in longer
    )


def template(name: str, thing: str) -> str:
    """A name without the thing that it is about; one's own hand is what one knows of the
    others'.
    """
    name = re.sub(rf"\b{thing}\b", "*", name)
    return (
        re.sub("^hand:", "known: *", re.sub("^hidden:", "unknown: *", name))
        if thing == SEATS[0]
        else name
    )


def test_every_code_is_told_to_the_network() -> None:
    assert len(NAMES) == NUM_INPUTS == len(layout.CODE_SCALE)
    assert sorted(set(INPUTS.tolist())) == list(range(NUM_INPUTS))
    assert len(INPUTS) == len(layout.COMMON_CODES) + sum(
        group.number * group.features for group in GROUPS
    )


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
def test_entities_of_a_group_are_told_alike(group: layout.Group) -> None:
    """A feature has one meaning for all entities, and an output too."""
    entities = ENTITIES[group.name]
    assert group.number == len(entities)
    for feature in range(group.features):
        meanings = {
            template(NAMES[group.codes[i, feature]], thing) for i, thing in enumerate(entities)
        }
        assert len(meanings) == 1, meanings
    for output in range(group.actions.shape[1]):
        actions = {
            template(ACTION_NAMES[group.actions[i, output]], thing)
            for i, thing in enumerate(entities)
        }
        assert len(actions) == 1, actions
    assert all(len(set(codes)) == group.features for codes in group.codes.tolist())


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
def test_a_thing_is_told_all_that_is_about_it(group: layout.Group) -> None:
    for thing, codes, actions in zip(ENTITIES[group.name], group.codes, group.actions, strict=True):
        about = {code for code, name in enumerate(NAMES) if says(name, thing)}
        if group.name == "colour":
            about = {
                code
                for code in about
                if not NAMES[code].startswith(OF_PLOTS) and "plot" not in NAMES[code]
            }
        elif group.name == "seat":
            about = {code for code in about if not NAMES[code].startswith("district told")}
        if thing == SEATS[0]:
            about |= {
                code for code, name in enumerate(NAMES) if name.startswith(("hand:", "hidden:"))
            }
        assert {NAMES[code] for code in codes} == {NAMES[code] for code in about}
        assert set(actions + OBSERVATION_SIZE) == {
            code for code in about if OBSERVATION_SIZE <= code < OUTCOME
        }


def test_every_action_is_one_output_and_inputs_of_an_entity_lie_together() -> None:
    outputs = np.concatenate(
        [layout.COMMON_ACTIONS, *(group.actions.reshape(-1) for group in GROUPS)]
    )
    assert outputs[layout.OUTPUTS].tolist() == list(range(NUM_ACTIONS))
    rows = [layout.COMMON_CODES, *(group.codes.reshape(-1) for group in GROUPS)]
    assert INPUTS.tolist() == np.concatenate(rows).tolist()
    assert INPUTS[used_inputs().prior].tolist() == list(range(OBSERVATION_SIZE, POSITION))
    assert OUTCOME == OBSERVATION_SIZE + NUM_ACTIONS == POSITION - 1
    assert NUM_INPUTS == POSITION + NUM_POSITION_INPUTS


SCALES = used_inputs().scale


@pytest.mark.parametrize("with_prior", [False, True], ids=["plain", "prior"])
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_inputs_that_are_left_out_are_always_0(seats: int, with_prior: bool) -> None:
    """And those that are used are found where their columns say."""
    used = used_inputs(seats, with_prior)
    kept = np.zeros(len(INPUTS), np.bool_)
    kept[used.columns["trunk"]] = True
    start = len(layout.COMMON_CODES)
    for group in GROUPS:
        for thing in range(group.number):
            kept[start + thing * group.features + used.columns[group.name]] = True
        start += group.number * group.features
    assert np.array_equal(used.codes, INPUTS[kept])
    assert used.common == kept[: len(layout.COMMON_CODES)].sum()
    assert used.features == tuple(len(used.columns[group.name]) for group in GROUPS)
    assert kept.all() == (seats == 4 and with_prior)
    for players in range(2, seats + 1):
        for side in SIDES:
            games = positions(players, side, 60)
            codes = np.zeros((60, NUM_INPUTS), np.int16)
            codes[:, :OBSERVATION_SIZE] = codes_of(games.observation)
            if with_prior:
                codes[:, OBSERVATION_SIZE:] = Prior.of(
                    GreedyAgent(), decisions_in(games, GreedyAgent())
                ).codes(True)
            assert not codes[:, INPUTS[~kept]].any()


def test_how_many_inputs_there_are_tells_which() -> None:
    numbers = [
        len(used_inputs(seats, prior).codes) for prior in (False, True) for seats in (2, 3, 4)
    ]
    assert numbers == [1046, 1124, 1238, 1789, 2014, 2275]
    assert sorted(layout.USED_BY_NUMBER) == numbers
    assert all(len(used.codes) == number for number, used in layout.USED_BY_NUMBER.items())


def test_scaled_codes_are_the_observation() -> None:
    games = positions(3, "back", 40)
    assert SCALES.dtype == layout.CODE_SCALE.dtype == np.float32
    observed = INPUTS < OBSERVATION_SIZE
    codes = codes_of(games.observation)[:, INPUTS[observed]]
    assert np.array_equal(codes * SCALES[observed], games.observation[:, INPUTS[observed]])
    assert set(SCALES[(INPUTS >= OBSERVATION_SIZE) & (INPUTS < OUTCOME)].tolist()) == {
        1 / PRIOR_PARTS
    }
    assert set(SCALES[INPUTS == OUTCOME].tolist()) == {1 / OUTCOME_PARTS}
    assert set(SCALES[INPUTS >= POSITION].tolist()) == {1 / POSITION_PARTS}
