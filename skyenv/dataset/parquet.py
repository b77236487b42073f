"""Trajectories as Parquet: one row a decision, in files of some games each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from skyenv.dataset.trajectories import Trajectories
from skyenv.engine.observation import SCALE
from skyenv.rules.state import END_REASONS, NONE

MODULES: Final = ("pyarrow",)
"""What must be installed to write it."""
KEY: Final = b"skyenv"
"""Of what a file says of itself, as JSON."""
LEVEL: Final = 3
"""Of the compression (zstd): 9 would save a quarter of the bytes, and take half as long again."""
ROWS: Final = 8192
"""Rows that are compressed together, and can be read alone."""


def parquet_bytes(
    trajectories: Trajectories, first: int, scaled: bool, about: Mapping[str, Any]
) -> bytes:
    """The content of a file.

    Args:
        trajectories: what to write.
        first: the number of its first game in the dataset.
        scaled: whether observations are scaled, or codes.
        about: what the file says of itself.
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
    observation = trajectories.codes * SCALE if scaled else trajectories.codes
    columns = {
        "game": pa.array(game + first, pa.int64()),
        "seed": pa.array(seeds, pa.int64(), mask=seeds == NONE),
        "players": pa.array(trajectories.players[game], pa.int8()),
        "side": pa.array([trajectories.sides[at] for at in game], pa.string()).dictionary_encode(),
        "step": pa.array(trajectories.step(), pa.int32()),
        "seat": pa.array(seat, pa.int8()),
        "agent": pa.array(names, pa.string()).dictionary_encode(),
        "observation": _lists(pa, observation),
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
    table = pa.table(columns).replace_schema_metadata({KEY: json.dumps(about, sort_keys=True)})
    stream = pa.BufferOutputStream()
    parquet.write_table(
        table,
        stream,
        row_group_size=ROWS,
        compression="zstd",
        compression_level=LEVEL,
        write_page_checksum=True,
    )
    content: bytes = stream.getvalue().to_pybytes()
    return content


def _lists(pa: Any, array: npt.NDArray[np.generic]) -> Any:
    """Rows as lists of one length, none of whose entries is missing."""
    entry = pa.field("entry", pa.from_numpy_dtype(array.dtype), nullable=False)
    return pa.FixedSizeListArray.from_arrays(
        pa.array(array.reshape(-1)), type=pa.list_(entry, array.shape[1])
    )


def about_file(path: Any) -> tuple[Any, int]:
    """What a file says of itself, and how many rows it has.

    Raises:
        ValueError: it isn't such a file, or is damaged (rows themselves aren't read).
    """
    from pyarrow import parquet

    with parquet.ParquetFile(path) as file:
        said = (file.schema_arrow.metadata or {}).get(KEY)
        if said is None:
            raise ValueError("it is of no dataset")
        return json.loads(said), int(file.metadata.num_rows)
