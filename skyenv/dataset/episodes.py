"""Trajectories as Minari's episodes: HDF5 files of some games each, and one that links them for
Minari.

Minari keeps a dataset's episodes in one file, ``main_data.hdf5``, as groups ``episode_0``,
``episode_1`` … Here that file holds links to groups in files of some games each, which HDF5 follows
by itself. So a file is either there as a whole or not at all.
"""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv import __version__
from skyenv.dataset.trajectories import Trajectories
from skyenv.engine.observation import SCALE
from skyenv.envs.registration import ENV_ID
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.state import END_REASONS, END_TRUNCATED, NONE

MODULES: Final = ("minari", "h5py", "PIL")
"""What must be installed to write and read it; Minari imports Pillow, but doesn't ask for it."""
EPISODES: Final = ("seat", "table")
"""What an episode is: a game from one seat, or a whole game."""
MAIN: Final = "main_data.hdf5"
METADATA: Final = "metadata.json"
ABOUT: Final = "skyenv"
"""Attribute of a file: what it says of itself, as JSON."""
LEVEL: Final = 4
"""Of the compression (gzip)."""


def episodes_bytes(
    trajectories: Trajectories, first: int, scaled: bool, per_seat: bool, about: Mapping[str, Any]
) -> bytes:
    """The content of a file, whose episodes are groups named ``0``, ``1`` and so on.

    Args:
        trajectories: what to write.
        first: the number of its first game in the dataset.
        scaled: whether observations are scaled, or codes.
        per_seat: whether every seat of a game is an episode, or the game is one.
        about: what the file says of itself.
    """
    import h5py

    buffer = io.BytesIO()
    with h5py.File(buffer, "w", libver="latest") as file:
        file.attrs[ABOUT] = json.dumps(about, sort_keys=True)
        for number, episode in enumerate(_episodes(trajectories, per_seat)):
            group = file.create_group(str(number))
            group.attrs.update(
                {**episode["attributes"], "game": first + episode["attributes"]["game"]}
            )
            codes = episode["codes"]
            _packed(group, "observations", codes * SCALE if scaled else codes)
            for name in ("actions", "rewards", "terminations", "truncations"):
                group.create_dataset(name, data=episode[name])
            infos = group.create_group("infos")
            for name, values in episode["infos"].items():
                _packed(infos, name, values)
    return buffer.getvalue()


def _packed(group: Any, name: str, array: npt.NDArray[Any]) -> None:
    group.create_dataset(
        name,
        data=array,
        chunks=array.shape,
        compression="gzip",
        compression_opts=LEVEL,
        shuffle=True,
        fletcher32=True,
    )


def _episodes(trajectories: Trajectories, per_seat: bool) -> Iterator[dict[str, Any]]:
    """The episodes in their order: game by game, each seat by seat."""
    starts, summed = trajectories.starts(), trajectories.reward()
    for game, players in enumerate(trajectories.players.tolist()):
        rows = np.arange(starts[game], starts[game + 1])
        for seat in range(players) if per_seat else (None,):
            own = rows if seat is None else rows[trajectories.seat[rows] == seat]
            is_last = own == own[-1]
            truncated = bool(trajectories.ends[game] == END_TRUNCATED)
            whose = slice(0, players) if seat is None else seat
            names = trajectories.agents[game]
            attributes = {
                "game": game,
                "players": players,
                "side": trajectories.sides[game],
                "total_steps": len(own),
                "end_reason": END_REASONS[trajectories.ends[game]],
                "win_share": trajectories.shares[game, whose],
                "scores" if seat is None else "own_vp": trajectories.scores[game, whose],
                "margin": trajectories.margin()[game, whose],
            }
            if seat is not None:
                attributes["seat"] = seat
            if trajectories.seeds[game] != NONE:
                attributes["seed"] = trajectories.seeds[game]
            if names is not None:
                attributes["agents"] = list(names)
                attributes |= {} if seat is None else {"agent": names[seat]}
            yield {
                "attributes": attributes,
                "codes": np.concatenate(
                    [trajectories.codes[own], trajectories.last[game, [seat or 0]]]
                ),
                "actions": trajectories.action[own],
                "rewards": summed[own] if seat is not None else _own(trajectories, own),
                "terminations": is_last & (not truncated),
                "truncations": is_last & truncated,
                "infos": _infos(trajectories, own, players, seat),
            }


def _own(trajectories: Trajectories, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """The reward of the seat that acts, of its step alone: float32 (k,)."""
    return trajectories.rewards[rows, trajectories.seat[rows]]


def _infos(
    trajectories: Trajectories, rows: npt.NDArray[np.int64], players: int, seat: int | None
) -> dict[str, npt.NDArray[Any]]:
    """What belongs to each observation, the one after the last decision included."""
    mask = np.concatenate([trajectories.mask[rows], np.zeros((1, NUM_ACTIONS), np.int8)])
    if seat is not None:
        return {"action_mask": mask}
    rewards = trajectories.rewards[rows, :players]
    return {
        "action_mask": mask,
        "seat": np.append(trajectories.seat[rows], NONE),
        "rewards": np.concatenate([np.zeros((1, players), np.float32), rewards]),
    }


# ---- the whole dataset ----


def main_bytes(files: Sequence[tuple[str, int]]) -> bytes:
    """The content of ``main_data.hdf5``: links to the episodes of files, (name, number of
    episodes), one after the other.
    """
    import h5py

    buffer = io.BytesIO()
    with h5py.File(buffer, "w", libver="latest") as file:
        number = 0
        for name, episodes in files:
            for place in range(episodes):
                file[f"episode_{number}"] = h5py.ExternalLink(name, f"/{place}")
                number += 1
    return buffer.getvalue()


def metadata(
    dataset_id: str, described: Mapping[str, Any], space: Any, kind: Mapping[str, Any] | None
) -> dict[str, Any]:
    """What Minari's ``metadata.json`` holds.

    Args:
        dataset_id: Minari's name of it.
        described: total_episodes, total_steps, dataset_size (MB), description, algorithm_name.
        space: of the observations.
        kind: the environment's options whose games these are; None: no environment of one learner
            has such episodes.
    """
    import gymnasium
    import minari
    from minari.serialization import serialize_space

    from skyenv.envs.spaces import action_space

    content = {
        **described,
        "dataset_id": dataset_id,
        "minari_version": minari.__version__,
        "data_format": "hdf5",
        "jpeg_encoding": False,
        "observation_space": serialize_space(space),
        "action_space": serialize_space(action_space()),
        "author": ["skyenv"],
        "requirements": [f"skyenv~={__version__}"],
    }
    if kind is not None:
        spec = copy.deepcopy(gymnasium.spec(ENV_ID))
        spec.kwargs = dict(kind)
        content["env_spec"] = spec.to_json()
    return content


def about_file(path: Path) -> tuple[Any, int, int]:
    """What a file says of itself, how many episodes it has, and how many decisions.

    Raises:
        ValueError, OSError: it isn't such a file, or is damaged (episodes themselves aren't read).
    """
    import h5py

    with h5py.File(path, "r", locking=False) as file:
        if ABOUT not in file.attrs:
            raise ValueError("it is of no dataset")
        steps = sum(int(group.attrs["total_steps"]) for group in file.values())
        return json.loads(file.attrs[ABOUT]), len(file), steps
