"""Where a batch writes: in place, into arrays of the caller's own, or into new ones with every
call.
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from skyenv import Games, IllegalActionError, OptionError
from skyenv.engine.games import OUTPUTS
from skyenv.engine.observation import OBSERVATION_SIZE

ROWS = 5
KINDS: dict[str, tuple[tuple[int, ...], type[np.generic]]] = {
    "mask": ((ROWS, 103), np.int8),
    "seat": ((ROWS,), np.int64),
    "observation": ((ROWS, OBSERVATION_SIZE), np.float32),
    "reward": ((ROWS, 3), np.float32),
    "done": ((ROWS,), np.bool_),
    "truncated": ((ROWS,), np.bool_),
}
"""Shape and dtype of each output."""
FLAGS = np.zeros(ROWS, np.bool_)
WIDE = np.zeros((ROWS, OBSERVATION_SIZE + 2), np.float32)
each_form = pytest.mark.parametrize("observation", ["scaled", "codes"])


def make(**options: Any) -> Games:
    return Games(ROWS, 3, seed=1, reward="points", max_turns=5, **options)


def step(games: Games) -> None:
    """Some legal actions, others with every decision."""
    turns = games.state["decisions"].tolist()
    legal = [np.flatnonzero(mask) for mask in games.mask]
    games.step([row[turn % len(row)] for row, turn in zip(legal, turns, strict=True)])


def same(games: Games, other: Games) -> bool:
    return all(np.array_equal(getattr(games, name), getattr(other, name)) for name in OUTPUTS)


# ---- arrays of the caller's own ----


@each_form
def test_it_writes_into_what_it_is_given(observation: str) -> None:
    """Every output, whatever stood there before; resets and steps."""
    kinds = {**KINDS}
    if observation == "codes":
        kinds["observation"] = (kinds["observation"][0], np.int16)
    mine = {name: np.full(shape, 1, dtype) for name, (shape, dtype) in kinds.items()}
    games, other = make(out=mine, observation=observation), make(observation=observation)
    for turn in range(120):
        assert all(np.shares_memory(getattr(games, name), array) for name, array in mine.items())
        assert same(games, other)
        for one in (games, other):
            one.reset(rows=[1]) if turn % 50 == 49 else step(one)
    assert mine["observation"].any()


@pytest.mark.compiled
@each_form
def test_it_writes_into_wider_rows(observation: str) -> None:
    """One buffer holds observations beside rewards; what is between stays as it is."""
    wide = np.full(
        (ROWS, OBSERVATION_SIZE + 40), 7, np.int16 if observation == "codes" else np.float32
    )
    mine = {"observation": wide[:, 8 : 8 + OBSERVATION_SIZE]}
    if observation == "scaled":
        mine["reward"] = wide[:, OBSERVATION_SIZE + 20 : OBSERVATION_SIZE + 23]
    games, other = make(out=mine, observation=observation, threads=2), make(observation=observation)
    for _ in range(60):
        step(games)
        step(other)
        assert same(games, other)
    between = np.delete(
        wide, np.r_[8 : OBSERVATION_SIZE + 8, OBSERVATION_SIZE + 20 : OBSERVATION_SIZE + 23], 1
    )
    assert (between == 7).all()
    for twin in (games.copy(), pickle.loads(pickle.dumps(games))):
        before = wide.copy()
        assert same(twin, games)
        step(twin)
        assert np.array_equal(wide, before)
        assert not same(twin, games)


def unusable(name: str) -> list[Any]:
    """What can't be written into as an output."""
    (shape, kind), dtype = KINDS[name], np.dtype(KINDS[name][1])
    right = np.zeros(shape, dtype)
    frozen = right.copy()
    frozen.flags.writeable = False
    found: list[Any] = [frozen, right.tolist(), None, right[..., None], right.astype(np.float64)]
    found += [right[1:], np.repeat(right, 2, axis=-1)[..., ::2]]
    if dtype.itemsize > 1:
        unaligned = np.zeros(right.nbytes + 1, np.uint8)[1:].view(kind).reshape(shape)
        found += [right.astype(dtype.newbyteorder()), unaligned]
    if right.ndim > 1:
        overlapping = np.lib.stride_tricks.as_strided(right, shape, (right.itemsize,) * 2)
        found += [right[::-1], np.asfortranarray(right), overlapping]
    return found


@pytest.mark.parametrize("name", OUTPUTS)
def test_what_cannot_be_written_into_is_named(name: str) -> None:
    message = rf"^out\['{name}'\] must be a writable, aligned array, \w+ \(5,.*\), with contiguous"
    for array in unusable(name):
        with pytest.raises(OptionError, match=message):
            make(out={name: array})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"out": {"state": FLAGS}}, "out's name must be one of mask, .*, truncated, not 'state'"),
        (
            {"out": {"done": FLAGS, "truncated": FLAGS}},
            r"out\['done'\] and out\['truncated'\] share",
        ),
        ({"out": {"observation": WIDE[:, :-2], "reward": WIDE[:, -3:]}}, "share memory"),
        ({"out": {"done": FLAGS}, "new_arrays": True}, "new_arrays=True"),
        ({"out": ["mask"]}, r"out must be a dict of arrays by name \(.*mask.*\), not list"),
        (
            {"out": {"observation": WIDE}, "observation": None},
            r"out\['observation'\] must be .*0\)",
        ),
    ],
)
def test_wrong_outputs_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        make(**options)


# ---- new arrays with every call ----


def test_with_new_arrays_what_was_kept_stays() -> None:
    games, other = make(new_arrays=True), make()
    kept, seen = [], []
    moves: list[Any] = [lambda one: one.reset(rows=[0, 3]), lambda one: one.play_random(3)]
    for move in [step] * 30 + [*moves, Games.refresh]:
        kept.append([getattr(games, name) for name in OUTPUTS])
        seen.append([getattr(other, name).copy() for name in OUTPUTS])
        for one in (games, other):
            move(one)
        assert same(games, other)
    for mine, theirs in zip(kept, seen, strict=True):
        assert all(map(np.array_equal, mine, theirs))
    assert len({id(arrays[2]) for arrays in kept}) == len(kept)
    before = games.mask
    with pytest.raises(IllegalActionError):
        games.step(games.mask.argmin(axis=1))
    assert games.mask is before
    twin = games.copy()
    mask = twin.mask
    step(twin)
    assert twin.mask is not mask


# ---- what callers can do to the arrays ----


@pytest.mark.compiled
def test_no_attribute_can_be_rebound_and_no_view_misleads_the_engine() -> None:
    """Compiled code would write beyond arrays of another shape, or into read-only ones."""
    games, other = make(), make()
    for name in (*OUTPUTS, "state", "finished", "num_games", "threads", "options"):
        with pytest.raises(AttributeError, match=name):
            setattr(games, name, np.zeros(1))
    for name in OUTPUTS:
        array = getattr(games, name)
        array.flags.writeable = False
        array.shape = (array.size,)
    games.play_random(50)
    other.play_random(50)
    assert games.copy().state.tobytes() == other.state.tobytes()
    assert all(getattr(games, name).tobytes() == getattr(other, name).tobytes() for name in OUTPUTS)
