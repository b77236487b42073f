"""The file formats of a dataset: Parquet, one row per decision, and Minari's episodes in HDF5.

Minari keeps a dataset's episodes in one file, ``main_data.hdf5``, as groups ``episode_0``,
``episode_1`` … Here that file holds links, which HDF5 follows by itself, to groups in one file per
shard. Every file can thus be written atomically.
"""

import copy
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv import __version__
from skyenv.dataset.sources import Trajectories
from skyenv.engine.observation import SCALE
from skyenv.envs.registration import ENV_ID
from skyenv.files import write_atomically
from skyenv.rules.actions import NUM_ACTIONS
from skyenv.rules.state import END_REASONS, END_TRUNCATED, NONE

PARQUET: Final = "parquet"
MINARI: Final = "minari"
# Packages needed for each format; Minari imports Pillow without requiring it.
MODULES: Final = {PARQUET: ("pyarrow",), MINARI: ("gymnasium", "minari", "h5py", "PIL")}
FORMATS: Final = tuple(MODULES)
ZSTD_LEVEL: Final = 3  # 9 would save 25 % of the bytes and take 50 % longer
GZIP_LEVEL: Final = 4
ROWS: Final = 8192  # of a Parquet row group, compressed together and readable alone
# Mean returns against `random`, by reward: of `random` itself, and of a player that always wins.
REFERENCE_SCORES: Final = {"outcome": {"ref_min_score": 0.0, "ref_max_score": 1.0}}


# ---- Parquet ----


def parquet_bytes(trajectories: Trajectories, first: int) -> bytes:
    """Return the content of a Parquet file.

    Args:
        trajectories: the games to write.
        first: the number of its first game in the dataset.
    """
    import pyarrow as pa
    from pyarrow import parquet

    game, seat = trajectories.game, trajectories.seat
    own = (game, seat)
    names = [
        names[seat] if (names := trajectories.agents[at]) else None
        for at, seat in zip(game, seat, strict=True)
    ]
    seeds = trajectories.seeds[game]
    columns = {
        "game": pa.array(game + first, pa.int64()),
        "seed": pa.array(seeds, pa.int64(), mask=seeds == NONE),
        "players": pa.array(trajectories.players[game], pa.int8()),
        "side": pa.array([trajectories.sides[at] for at in game], pa.string()).dictionary_encode(),
        "step": pa.array(trajectories.step(), pa.int32()),
        "seat": pa.array(seat, pa.int8()),
        "agent": pa.array(names, pa.string()).dictionary_encode(),
        "observation": _lists(pa, trajectories.codes * SCALE),
        "mask": _lists(pa, trajectories.mask),
        "action": pa.array(trajectories.action, pa.int16()),
        "reward": pa.array(trajectories.reward(), pa.float32()),
        "last": pa.array(trajectories.is_last()),
        "end_reason": pa.array(
            [END_REASONS[end] for end in trajectories.ends[game]], pa.string()
        ).dictionary_encode(),
        "win_share": pa.array(trajectories.shares[own], pa.float32()),
        "own_vp": pa.array(trajectories.scores[own], pa.int32()),
        "margin": pa.array(trajectories.margin()[own], pa.int32()),
    }
    stream = pa.BufferOutputStream()
    parquet.write_table(
        pa.table(columns),
        stream,
        row_group_size=ROWS,
        compression="zstd",
        compression_level=ZSTD_LEVEL,
        write_page_checksum=True,
    )
    content: bytes = stream.getvalue().to_pybytes()
    return content


def _lists(pa: Any, array: npt.NDArray[np.generic]) -> Any:
    """Return rows as fixed-size lists without nulls."""
    entry = pa.field("entry", pa.from_numpy_dtype(array.dtype), nullable=False)
    return pa.FixedSizeListArray.from_arrays(
        pa.array(array.reshape(-1)), type=pa.list_(entry, array.shape[1])
    )


# ---- Minari ----


def episodes_bytes(trajectories: Trajectories, first: int) -> bytes:
    """Return the content of an HDF5 file with episodes as groups ``0``, ``1`` and so on.

    An episode is a game from one seat. The arguments are those of :func:`parquet_bytes`.
    """
    import h5py

    buffer = io.BytesIO()
    with h5py.File(buffer, "w", libver="latest") as file:
        for number, (attributes, data) in enumerate(_episodes(trajectories, first)):
            group = file.create_group(str(number))
            group.attrs.update(attributes)
            for name, array in data.items():
                packing: dict[str, Any] = {
                    "chunks": array.shape,
                    "compression": "gzip",
                    "compression_opts": GZIP_LEVEL,
                    "shuffle": True,
                    "fletcher32": True,
                }
                group.create_dataset(name, data=array, **(packing if array.ndim > 1 else {}))
    return buffer.getvalue()


def _episodes(
    trajectories: Trajectories, first: int
) -> Iterator[tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]]:
    """Return the attributes and arrays of episodes, ordered by game and seat."""
    summed, margin = trajectories.reward(), trajectories.margin()
    for game, players in enumerate(trajectories.players.tolist()):
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
            own = np.flatnonzero((trajectories.game == game) & (trajectories.seat == seat))
            is_last = own == own[-1]
            codes = np.concatenate([trajectories.codes[own], trajectories.last[game, [seat]]])
            none_legal = np.zeros((1, NUM_ACTIONS), np.int8)
            attributes = {
                **about,
                "seat": seat,
                "total_steps": len(own),
                "win_share": trajectories.shares[game, seat],
                "own_vp": trajectories.scores[game, seat],
                "margin": margin[game, seat],
                **({} if names is None else {"agents": list(names), "agent": names[seat]}),
            }
            data = {
                "observations": codes * SCALE,
                "actions": trajectories.action[own],
                "rewards": summed[own],
                "terminations": is_last & (not truncated),
                "truncations": is_last & truncated,
                "infos/action_mask": np.concatenate([trajectories.mask[own], none_legal]),
            }
            yield attributes, data


def write_main(
    files: Sequence[tuple[Path, int, int]],
    dataset_id: str,
    algorithm: str,
    environment: Mapping[str, Any] | None,
) -> None:
    """Write Minari's main files: ``main_data.hdf5`` and ``metadata.json``.

    Args:
        files: the episodes' files, in one folder, each with its :func:`counts`.
        dataset_id: the Minari id.
        algorithm: name of the deciding agents.
        environment: options of the environment; None: games of several environments.
    """
    import gymnasium
    import h5py
    import minari
    from minari.serialization import serialize_space

    from skyenv.envs.spaces import action_space, observation_space

    buffer = io.BytesIO()
    places = [(path.name, place) for path, number, _ in files for place in range(number)]
    with h5py.File(buffer, "w", libver="latest") as file:
        for number, (name, place) in enumerate(places):
            file[f"episode_{number}"] = h5py.ExternalLink(name, f"/{place}")
    data = files[0][0].parent
    write_atomically(data / "main_data.hdf5", buffer.getvalue())
    size = sum(path.stat().st_size for path, *_ in files)
    content = {
        "total_episodes": len(places),
        "total_steps": sum(steps for *_, steps in files),
        "dataset_size": float(np.round(size / 1e6, 1)),
        "description": "Games of Fifth Avenue, an auction board game; an episode is a game from "
        "one seat",
        "algorithm_name": algorithm,
        "dataset_id": dataset_id,
        "minari_version": minari.__version__,
        "data_format": "hdf5",
        "jpeg_encoding": False,
        "observation_space": serialize_space(observation_space()),
        "action_space": serialize_space(action_space()),
        "author": ["skyenv"],
        "requirements": [f"skyenv~={__version__}"],
    }
    if environment is not None:
        spec = copy.deepcopy(gymnasium.spec(ENV_ID))
        spec.kwargs = dict(environment)
        content["env_spec"] = spec.to_json()
        content |= REFERENCE_SCORES.get(environment["reward"], {})
    write_atomically(data / "metadata.json", json.dumps(content, indent=2) + "\n")


def counts(path: Path) -> tuple[int, int]:
    """Return the number of episodes (0 for Parquet) and of decisions of a file, by its metadata.

    Raises:
        ValueError, OSError, KeyError: not such a file, or incomplete.
    """
    if path.suffix == ".parquet":
        from pyarrow import parquet

        with parquet.ParquetFile(path) as table:
            return 0, int(table.metadata.num_rows)
    import h5py

    with h5py.File(path, "r", locking=False) as file:
        return len(file), sum(int(group.attrs["total_steps"]) for group in file.values())
