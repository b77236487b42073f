"""The layout of networks' inputs and outputs by entity: districts, colours and seats.

A network's input is the observation. With a heuristic prior it also has the prior's score of every
action, its outcome, and the features of :mod:`skyenv_agents.heuristic.inputs`. All are stored as
integers, the *codes*, which keeps rollouts small. Inputs are codes times :data:`CODE_SCALE` in the
order of :data:`INPUTS`: the common ones, then group by group and entity by entity, so that a slice
reshapes to one row per entity. The entities of a group share weights.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from skyenv.array_types import Bool, Int64
from skyenv.engine.observation import OBSERVATION_SIZE, SCALE, SEATS, names
from skyenv.rules.actions import ACTION_NAMES, NUM_ACTIONS
from skyenv.rules.components import (
    CARD_COLOURS,
    CARD_VALUES,
    COLOURS,
    COMMISSIONERS,
    DISTRICTS,
    MAX_PLAYERS,
    MIN_PLAYERS,
)
from skyenv_agents.heuristic.inputs import DISTRICT_INPUTS, NUM_POSITION_INPUTS, SEAT_INPUTS

PRIOR_PARTS: Final = 1024  # unit of a prior's scores: 1 / this VP
OUTCOME_PARTS: Final = 4096  # unit of its outcome: 1 / this
# Code of the prior's outcome, after those of the observation and of the actions' scores.
OUTCOME: Final = OBSERVATION_SIZE + NUM_ACTIONS
POSITION_PARTS: Final = 256  # unit of the position's features: 1 / this
POSITION: Final = OUTCOME + 1  # first code of the position's features
NUM_INPUTS: Final = POSITION + NUM_POSITION_INPUTS

_ENTRIES: Final = {name.replace(":", ""): number for number, name in enumerate(names())}
_ACTIONS: Final = {name: number for number, name in enumerate(ACTION_NAMES)}


@dataclass(frozen=True)
class Group:
    """A group of entities of one kind.

    Attributes:
        name: of the kind.
        codes: int64 (number, features), the codes of each entity.
        actions: int64 (number, outputs), the actions of each entity; outputs may be 0.
    """

    name: str
    codes: Int64
    actions: Int64

    @property
    def number(self) -> int:
        """Return the number of entities."""
        return len(self.codes)

    @property
    def features(self) -> int:
        """Return the number of inputs per entity."""
        return int(self.codes.shape[1])


def _group(
    name: str,
    entries: Sequence[Sequence[str]],
    actions: Sequence[Sequence[str]],
    features: Int64 | None = None,
) -> Group:
    """Return a group by its entities' entries, actions and codes of features (entities, k)."""
    own = np.array([[_ACTIONS[action] for action in each] for each in actions], np.int64)
    codes = np.array([[_ENTRIES[entry] for entry in each] for each in entries], np.int64)
    further = np.zeros((len(codes), 0), np.int64) if features is None else features
    return Group(name, np.concatenate([codes, own + OBSERVATION_SIZE, further], axis=1), own)


_DERIVED: Final = np.arange(POSITION, NUM_INPUTS).reshape(len(SEATS), -1)
# Codes of each seat's features, int64 (4, SEAT_INPUTS).
SEATS_DERIVED: Final = _DERIVED[:, :SEAT_INPUTS]
# Codes of each district's features, seat by seat, int64 (7, 4 · DISTRICT_INPUTS).
DISTRICTS_DERIVED: Final = (
    _DERIVED[:, SEAT_INPUTS:]
    .reshape(len(SEATS), len(DISTRICTS), DISTRICT_INPUTS)
    .swapaxes(0, 1)
    .reshape(len(DISTRICTS), -1)
)


def _of_district(district: str) -> list[str]:
    plots = [name for name in _ENTRIES if name.startswith("businesses") and f" {district} " in name]
    return [
        *(f"skyscrapers {seat} {district} {colour}" for seat in SEATS for colour in COLOURS),
        *plots,
        *(f"plot value {district} {colour}" for colour in COLOURS),
        f"stopped {district}",
        *(f"standing VP {seat} {district}" for seat in SEATS),
        *(
            f"{what} {commissioner} {district}"
            for what in ("commissioner", "marker")
            for commissioner in COMMISSIONERS
        ),
        f"auction {district}",
    ]


def _of_colour(colour: str) -> list[str]:
    cards = [f"{colour} {value}" for value in CARD_VALUES]
    return [
        *(f"{block} {card}" for block in ("hand", "top", "unseen") for card in cards),
        *(f"known {seat} {card}" for seat in SEATS[1:] for card in cards),
        f"hidden {colour}",
        *(f"unknown {seat} {colour}" for seat in SEATS[1:]),
        f"stack face down {colour}",
        f"stack returned {colour}",
        *(f"returned {colour} {place}" for place in ("1st", "2nd", "3rd")),
        f"first card {colour}",
        *(f"bid {seat} {colour}" for seat in SEATS),
    ]


def _of_seat(seat: str) -> list[str]:
    cards = [f"{colour} {value}" for colour in CARD_COLOURS for value in CARD_VALUES]
    mine = seat == SEATS[0]
    return [
        *(
            f"{block} {seat}"
            for block in (
                "to act",
                "on turn",
                "park area",
                "score",
                "cards",
                "highest bid of",
                "supply own",
                "supply general",
                "bid total",
                "bid passed",
                "bid limit",
                "standing districts",
            )
        ),
        *(
            f"skyscrapers {seat} {district} {colour}"
            for district in DISTRICTS
            for colour in COLOURS
        ),
        *(f"standing VP {seat} {district}" for district in DISTRICTS),
        *(f"bid {seat} {colour}" for colour in COLOURS),
        *(name for name in _ENTRIES if name.startswith(f"bid cards {seat} ")),
        *(f"hand {card}" if mine else f"known {seat} {card}" for card in cards),
        *(f"hidden {colour}" if mine else f"unknown {seat} {colour}" for colour in CARD_COLOURS),
    ]


# The groups, in the order of the inputs and of the outputs.
GROUPS: Final[tuple[Group, ...]] = (
    _group(
        "district",
        [_of_district(district) for district in DISTRICTS],
        [
            [
                f"option D {district}",
                *(name for name in _ACTIONS if name.startswith(f"plot {district} ")),
                *(f"move {commissioner} {district}" for commissioner in COMMISSIONERS),
            ]
            for district in DISTRICTS
        ],
        DISTRICTS_DERIVED,
    ),
    _group(
        "colour",
        [_of_colour(colour) for colour in COLOURS],
        [
            [f"take {colour}", *(f"bid {colour} {value}" for value in CARD_VALUES)]
            for colour in COLOURS
        ],
    ),
    _group("seat", [_of_seat(seat) for seat in SEATS], [[] for _ in SEATS], SEATS_DERIVED),
)


def _others(number: int, taken: Sequence[Int64]) -> Int64:
    return np.setdiff1d(np.arange(number), np.concatenate([array.reshape(-1) for array in taken]))


# Actions outside all groups.
COMMON_ACTIONS: Final = _others(NUM_ACTIONS, [group.actions for group in GROUPS])
# Cards and bids appear here too, as the value of a hand depends on all its cards.
# Codes of the common inputs.
COMMON_CODES: Final = _others(
    NUM_INPUTS, [GROUPS[0].codes, GROUPS[1].actions + OBSERVATION_SIZE, SEATS_DERIVED[1:]]
)
# The code of each input, int64 (inputs,); some codes appear twice.
INPUTS: Final = np.concatenate([COMMON_CODES, *(group.codes.reshape(-1) for group in GROUPS)])
# The output of each action, in the groups' order: int64 (103,).
OUTPUTS: Final = np.argsort(
    np.concatenate([COMMON_ACTIONS, *(group.actions.reshape(-1) for group in GROUPS)])
)
# The scale of each code, float32 (NUM_INPUTS,).
CODE_SCALE: Final = np.concatenate(
    [
        SCALE,
        np.full(NUM_ACTIONS, 1 / PRIOR_PARTS),
        np.full(1, 1 / OUTCOME_PARTS),
        np.full(NUM_POSITION_INPUTS, 1 / POSITION_PARTS),
    ],
    dtype=np.float32,
)


# ---- used inputs ----


@dataclass(frozen=True)
class UsedInputs:
    """The inputs that can be nonzero at some tables; training leaves out the others.

    Attributes:
        codes: int64 (inputs,), the code of each input, in the order of INPUTS.
        common: number of common inputs. features: of each group, inputs per entity.
        columns: int64, of the trunk and of each group, the columns of the layer's inputs; the trunk
            also has the entities' outputs.
        prior: int64 (104,), the inputs of the prior's scores and, last, of its outcome; (0,)
            without a prior.
    """

    codes: Int64
    common: int
    features: tuple[int, ...]
    columns: Mapping[str, Int64]
    prior: Int64


ALEA: Final = SEATS[2]  # seat of the third bidder in observations of 2-player games (ALEA-1)


def _can_be_used(seats: int, with_prior: bool) -> Bool:
    """Return the codes that can be nonzero with `seats` seats, bool (NUM_INPUTS,)."""
    used = np.ones(NUM_INPUTS, np.bool_)
    for entry, number in _ENTRIES.items():
        is_aleas = entry.startswith(f"skyscrapers {ALEA} ") or entry == f"highest bid of {ALEA}"
        used[number] = is_aleas or not any(f" {seat} " in f" {entry} " for seat in SEATS[seats:])
    used[OBSERVATION_SIZE:] = with_prior
    used[_DERIVED[seats:]] = False
    return used


@lru_cache
def used_inputs(seats: int = MAX_PLAYERS, with_prior: bool = True) -> UsedInputs:
    """Return the used inputs at tables of up to `seats` seats, with or without a heuristic prior.

    A feature that is used for any entity of a group is used for all.
    """
    used = _can_be_used(seats, with_prior)
    features = {group.name: np.flatnonzero(used[group.codes].any(axis=0)) for group in GROUPS}
    common = np.flatnonzero(used[COMMON_CODES])
    codes = np.concatenate(
        [
            COMMON_CODES[common],
            *(group.codes[:, features[group.name]].reshape(-1) for group in GROUPS),
        ]
    )
    places = (
        [int(np.flatnonzero(codes == code)[0]) for code in range(OBSERVATION_SIZE, POSITION)]
        if with_prior
        else []
    )
    sizes = tuple(len(features[group.name]) for group in GROUPS)
    return UsedInputs(
        codes, len(common), sizes, {"trunk": common, **features}, np.array(places, np.int64)
    )


# Used inputs by their number, which identifies them.
USED_BY_NUMBER: Final[Mapping[int, UsedInputs]] = {
    len(used.codes): used
    for used in (
        used_inputs(seats, prior)
        for seats in range(MIN_PLAYERS, MAX_PLAYERS + 1)
        for prior in (False, True)
    )
}
