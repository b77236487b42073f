"""Where a batch writes: in place, into arrays of the caller's own, or into new ones with every
call.
"""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from skyenv import Games, IllegalActionError, OptionError
from skyenv.engine.games import OUTPUTS
from skyenv.engine.observation import OBSERVATION_SIZE

NUM_GAMES = 5
SHAPES: dict[str, tuple[int, ...]] = {
    "mask": (NUM_GAMES, 103),
    "seat": (NUM_GAMES,),
    "observation": (NUM_GAMES, OBSERVATION_SIZE),
    "reward": (NUM_GAMES, 3),
    "done": (NUM_GAMES,),
    "truncated": (NUM_GAMES,),
}


def make(**options: Any) -> Games:
    return Games(NUM_GAMES, 3, seed=1, reward="points", max_turns=5, **options)


def dtypes(observation: str = "scaled") -> dict[str, npt.DTypeLike]:
    vector: npt.DTypeLike = np.float32 if observation == "scaled" else np.int16
    return {
        "mask": np.int8,
        "seat": np.int64,
        "observation": vector,
        "reward": np.float32,
        "done": np.bool_,
        "truncated": np.bool_,
    }


def step(games: Games) -> None:
    """Some legal actions, others with every decision."""
    turn = games.state["decisions"].astype(np.int64)
    games.step(
        [np.flatnonzero(mask)[turn[row] % mask.sum()] for row, mask in enumerate(games.mask)]
    )


def same(games: Games, other: Games) -> bool:
    return all(np.array_equal(getattr(games, name), getattr(other, name)) for name in OUTPUTS)


# ---- arrays of the caller's own ----


@pytest.mark.parametrize("observation", ["scaled", "codes"])
def test_it_writes_into_what_it_is_given(observation: str) -> None:
    """Every output, whatever stood there before; resets and steps."""
    mine = {name: np.full(shape, 1, dtypes(observation)[name]) for name, shape in SHAPES.items()}
    games, other = make(out=mine, observation=observation), make(observation=observation)
    for turn in range(120):
        assert all(np.shares_memory(getattr(games, name), array) for name, array in mine.items())
        assert same(games, other)
        for one in (games, other):
            one.reset(rows=[1]) if turn % 50 == 49 else step(one)
    assert mine["observation"].any()


@pytest.mark.compiled
@pytest.mark.parametrize("observation", ["scaled", "codes"])
def test_it_writes_into_wider_rows(observation: str) -> None:
    """One buffer holds observations beside rewards; what is between stays as it is."""
    vector = np.dtype(dtypes(observation)["observation"])
    wide = np.full((NUM_GAMES, OBSERVATION_SIZE + 40), 7, vector)
    mine = {"observation": wide[:, 8 : 8 + OBSERVATION_SIZE]}
    if observation == "scaled":
        mine["reward"] = wide[:, OBSERVATION_SIZE + 20 : OBSERVATION_SIZE + 23]
    games, other = make(out=mine, observation=observation, threads=2), make(observation=observation)
    for _ in range(60):
        step(games)
        step(other)
        assert same(games, other)
    assert (wide[:, :8] == 7).all()
    assert (wide[:, OBSERVATION_SIZE + 8 : OBSERVATION_SIZE + 20] == 7).all()
    assert (wide[:, OBSERVATION_SIZE + 23 :] == 7).all()
    for twin in (games.copy(), copy.deepcopy(games), pickle.loads(pickle.dumps(games))):
        before = wide.copy()
        assert same(twin, games)
        step(twin)
        assert np.array_equal(wide, before)
        assert not same(twin, games)


def wrong(name: str) -> list[Any]:
    """What can't be written into as an output."""
    shape, dtype = SHAPES[name], np.dtype(dtypes()[name])
    frozen = np.zeros(shape, dtype)
    frozen.flags.writeable = False
    unaligned = (
        np.zeros(int(np.prod(shape)) * dtype.itemsize + 1, np.uint8)[1:].view(dtype).reshape(shape)
    )
    every_other = np.zeros((*shape[:-1], 2 * shape[-1]), dtype)[..., ::2]
    found: list[Any] = [
        np.zeros(shape, np.float64),
        np.zeros((shape[0] + 1, *shape[1:]), dtype),
        np.zeros((*shape, 1), dtype),
        frozen,
        every_other,
        np.zeros(shape, dtype).tolist(),
        None,
    ]
    if dtype.itemsize > 1:
        found += [np.zeros(shape, dtype.newbyteorder()), unaligned]
    if len(shape) > 1:
        found += [
            np.zeros(shape, dtype)[::-1],
            np.zeros(shape, dtype, order="F"),
            np.broadcast_to(np.zeros(shape[1:], dtype), shape),
        ]
        rows = np.lib.stride_tricks.as_strided(
            np.zeros(shape, dtype), shape, (dtype.itemsize, dtype.itemsize)
        )
        found.append(rows)  # rows that overlap
    return found


@pytest.mark.parametrize("name", OUTPUTS)
def test_what_cannot_be_written_into_is_named(name: str) -> None:
    for array in wrong(name):
        with pytest.raises(
            OptionError,
            match=rf"^out\['{name}'\] must be a writable, aligned array, "
            r"\w+ \(5,.*\), with contiguous",
        ):
            make(out={name: array})


def test_wrong_outputs_are_named() -> None:
    with pytest.raises(
        OptionError,
        match="out's name must be one of mask, seat, observation, reward, done, truncated, "
        "not 'state'",
    ):
        make(out={"state": np.zeros(NUM_GAMES)})
    flags = np.zeros(NUM_GAMES, np.bool_)
    with pytest.raises(OptionError, match=r"out\['done'\] and out\['truncated'\] share memory"):
        make(out={"done": flags, "truncated": flags})
    wide = np.zeros((NUM_GAMES, OBSERVATION_SIZE + 2), np.float32)
    with pytest.raises(OptionError, match="share memory"):
        make(
            out={
                "observation": wide[:, :OBSERVATION_SIZE],
                "reward": wide[:, OBSERVATION_SIZE - 1 :],
            }
        )
    with pytest.raises(OptionError, match="new_arrays=True"):
        make(out={"done": flags}, new_arrays=True)
    for wrong in (np.zeros(3), ["mask"], "mask"):
        with pytest.raises(
            OptionError, match=r"out must be a dict of arrays by name \(.*mask.*\), not"
        ):
            make(out=wrong)
    with pytest.raises(OptionError, match=r"out\['observation'\] must be .* \(5, 0\)"):
        make(out={"observation": wide}, observation=None)


# ---- new arrays with every call ----


def test_with_copies_what_was_kept_stays() -> None:
    games, other = make(new_arrays=True), make()
    kept: list[dict[str, Any]] = []
    seen: list[dict[str, Any]] = []
    moves: list[Any] = [step] * 30 + [
        lambda one: one.reset(rows=[0, 3]),
        lambda one: one.play_random(3),
        lambda one: one.refresh(),
    ]
    for move in moves:
        kept.append({name: getattr(games, name) for name in OUTPUTS})
        seen.append({name: getattr(other, name).copy() for name in OUTPUTS})
        move(games), move(other)
        assert same(games, other)
    for mine, theirs in zip(kept, seen, strict=True):
        assert all(np.array_equal(mine[name], theirs[name]) for name in OUTPUTS)
    assert len({id(one["observation"]) for one in kept}) == len(kept)
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
    for name in (*OUTPUTS, "state", "finished", "num_games", "num_players", "threads", "options"):
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
