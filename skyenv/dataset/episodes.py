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
MAIN: Final = "main_data.hdf5"
METADATA: Final = "metadata.json"
ABOUT: Final = "skyenv"
"""Attribute of a file: what it says of itself, as JSON."""
LEVEL: Final = 4
"""Of the compression (gzip)."""


def episodes_bytes(
    trajectories: Trajectories, first: int, scaled: bool, about: Mapping[str, Any]
) -> bytes:
    """The content of a file, whose episodes are groups named ``0``, ``1`` and so on: each a game
    from one seat.

    Args:
        trajectories: what to write.
        first: the number of its first game in the dataset.
        scaled: whether observations are scaled, or codes.
        about: what the file says of itself.
    """
    import h5py

    buffer = io.BytesIO()
    with h5py.File(buffer, "w", libver="latest") as file:
        file.attrs[ABOUT] = json.dumps(about, sort_keys=True)
        for number, episode in enumerate(_episodes(trajectories, first)):
            group = file.create_group(str(number))
            group.attrs.update(episode["attributes"])
            codes = episode["codes"]
            _packed(group, "observations", codes * SCALE if scaled else codes)
            for name in ("actions", "rewards", "terminations", "truncations"):
                group.create_dataset(name, data=episode[name])
            _packed(group.create_group("infos"), "action_mask", episode["mask"])
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


def _episodes(trajectories: Trajectories, first: int) -> Iterator[dict[str, Any]]:
    """The episodes in their order: game by game, each seat by seat."""
    starts, summed, margin = trajectories.starts(), trajectories.reward(), trajectories.margin()
    for game, players in enumerate(trajectories.players.tolist()):
        rows = np.arange(starts[game], starts[game + 1])
        truncated = bool(trajectories.ends[game] == END_TRUNCATED)
        about = {
            "game": first + game,
            "players": players,
            "side": trajectories.sides[game],
            "end_reason": END_REASONS[trajectories.ends[game]],
        }
        if trajectories.seeds[game] != NONE:
            about["seed"] = trajectories.seeds[game]
        names = trajectories.agents[game]
        for seat in range(players):
            own = rows[trajectories.seat[rows] == seat]
            is_last = own == own[-1]
            attributes = {
                **about,
                "seat": seat,
                "total_steps": len(own),
                "win_share": trajectories.shares[game, seat],
                "own_vp": trajectories.scores[game, seat],
                "margin": margin[game, seat],
                **({} if names is None else {"agents": list(names), "agent": names[seat]}),
            }
            yield {
                "attributes": attributes,
                "codes": np.concatenate([trajectories.codes[own], trajectories.last[game, [seat]]]),
                "actions": trajectories.action[own],
                "rewards": summed[own],
                "terminations": is_last & (not truncated),
                "truncations": is_last & truncated,
                "mask": np.concatenate(
                    [trajectories.mask[own], np.zeros((1, NUM_ACTIONS), np.int8)]
                ),
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
        kind: the options of the environment whose games these are; None: of several.
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
