"""A dataset of a million decisions, and what it costs: ``python -m experiments.benchmarks.million``
makes it in runs/million.

Agents of all strengths play with two players, seats drawn for every game: greedy, appraiser,
bidder, builder, trained, crowd and random. The games are written as Parquet and for Minari,
observations as codes. Like every dataset it is gone on with where it was interrupted; the time is
that of the games that this run made. Then all of it is read, as the docs say.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from minari import MinariDataset
from pyarrow import parquet as pq

from experiments.benchmarks.figures import Figure, figure, report, seconds
from skyenv.dataset import episodes, parquet
from skyenv.dataset.folder import MINARI, PARQUET, Plan, Writer
from skyenv.dataset.sources import Matches
from skyenv.engine.games import DEFAULT_MAX_TURNS, cores

AGENTS: Final = ("greedy", "appraiser", "bidder", "builder", "trained", "crowd", "random")
GAMES: Final = 4000
QUICK_GAMES: Final = 60
OUT: Final = "runs/million"
METHOD: Final = f"games of {', '.join(AGENTS)}; 2 players, observations as codes, a process for each core; compiled before; one process reads"


def make(folder: Path, games: int) -> list[Figure]:
    """Make what is missing of a dataset of so many games, and read all of it."""
    source = Matches.new(AGENTS, 2, "front", games, 1, DEFAULT_MAX_TURNS)
    plan = Plan((source,), observation="codes", dataset_id="skyenv/million-v0")
    source.trajectories(0, 1, plan.reward)  # compiles
    writer = Writer(plan, folder, workers=cores(), progress=True)
    spent = seconds(writer.run)
    written = writer.written
    if written.interrupted:
        raise KeyboardInterrupt
    decisions, sizes = written.decisions, written.sizes or {}
    figures = [figure("games", "games", [games]), figure("decisions", "decisions", [decisions])]
    if written.made:
        figures.append(
            figure(
                f"playing and writing both, {cores()} processes",
                "decisions/s",
                [written.made / spent],
            )
        )
    for name, size in sizes.items():
        figures.append(
            figure(f"{name.capitalize()}, codes", "bytes per decision", [size / decisions])
        )
    figures += _scaled(plan)
    figures.append(
        figure(
            "reading all of the Parquet files with pyarrow",
            "decisions/s",
            [decisions / seconds(lambda: _read(folder))],
        )
    )
    dataset = MinariDataset(plan.data(folder))
    figures.append(
        figure(
            "reading all episodes with Minari",
            "decisions/s",
            [decisions / seconds(lambda: sum(map(len, dataset)))],
        )
    )
    return figures


def _scaled(plan: Plan) -> list[Figure]:
    """What scaled observations cost instead, by one shard."""
    shard = plan.shards()[0]
    kept = plan.sources[0].trajectories(shard.first, shard.stop, plan.reward)
    sizes = {
        PARQUET: len(parquet.parquet_bytes(kept, 0, True, {})),
        MINARI: len(episodes.episodes_bytes(kept, 0, True, True, {})),
    }
    return [
        figure(f"{name.capitalize()}, scaled", "bytes per decision", [size / len(kept)])
        for name, size in sizes.items()
    ]


def _read(folder: Path) -> int:
    """Observations, masks and actions as arrays, file by file; how many."""
    number = 0
    for path in sorted((folder / PARQUET).iterdir()):
        table = pq.read_table(path, columns=["observation", "mask", "action"])
        arrays = [table[name].combine_chunks() for name in table.column_names]
        observation, mask = (
            array.flatten().to_numpy().reshape(len(table), -1) for array in arrays[:2]
        )
        number += len(np.asarray(arrays[2]))
        assert len(observation) == len(mask) == len(table)
    return number


def all_figures(quick: bool) -> list[Figure]:
    """Make it and measure; `quick`: a small one, in a folder of its own."""
    return make(Path(f"{OUT}-quick" if quick else OUT), QUICK_GAMES if quick else GAMES)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    about = "Make a dataset of a million decisions, and measure it."
    return report("million", about, METHOD, all_figures, arguments, ("minari", "pyarrow", "h5py"))


if __name__ == "__main__":
    sys.exit(main())
