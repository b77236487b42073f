"""A dataset's folder: its plan, its shards, and the production of missing shards.

Worker processes write the games in *shards* of some games each. Files are written atomically and
their bytes do not depend on the worker, so the same command resumes an unfinished dataset. ::

    config.json                                  the plan
    dataset.json                                 totals, once the dataset is complete
    parquet/00000.parquet …                      one row per decision
    minari/ID/data/main_data.hdf5, metadata.json Minari's main files; the first links to
    minari/ID/data/00000.hdf5 …                  the episodes
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from skyenv import __version__
from skyenv.console.progress import progress as progress_bar
from skyenv.dataset.formats import (
    FORMATS,
    MINARI,
    PARQUET,
    counts,
    episodes_bytes,
    parquet_bytes,
    write_main,
)
from skyenv.dataset.sources import Matches, Source
from skyenv.errors import CheckpointError, DatasetError, cause
from skyenv.files import locked, read_json, remove_abandoned, write_atomically
from skyenv.rules.variant import of_variant
from skyenv.work import Interrupt, open_pool

FORMAT: Final = of_variant(4)  # version of the folder


@dataclass(frozen=True)
class Plan:
    """The plan of a dataset.

    Attributes:
        source: the games.
        formats: some of :data:`FORMATS`.
        reward: as for :class:`skyenv.GameOptions`.
        shard_games: most games of a shard.
        dataset_id: the Minari id.
    """

    source: Source
    formats: tuple[str, ...] = FORMATS
    reward: str = "outcome"
    shard_games: int = 100
    dataset_id: str = "skyenv/games-v0"

    def shards(self) -> list[range]:
        """Return the numbers of each shard's games."""
        games = range(self.source.games)
        return [games[first : first + self.shard_games] for first in games[:: self.shard_games]]

    def about(self) -> Any:
        """Return all settings that determine the files, as a JSON object."""
        own = {name: value for name, value in vars(self).items() if name != "source"}
        about = {"format": FORMAT, "project": __version__, "observation": "scaled"}
        return json.loads(json.dumps({**about, **self.source.about(), **own}))

    def files(self, folder: Path, shard: range) -> dict[str, Path]:
        """Return a shard's files by format; names sort like numbers."""
        digits = max(5, len(str(self.source.games // self.shard_games)))
        name = f"{shard.start // self.shard_games:0{digits}}"
        places = {
            PARQUET: folder / PARQUET / f"{name}.parquet",
            MINARI: folder.joinpath(MINARI, self.dataset_id, "data", f"{name}.hdf5"),
        }
        return {name: places[name] for name in self.formats}


class Shard(NamedTuple):
    """A shard of a dataset.

    Attributes:
        plan: the plan of these games only.
        first: number of the first game.
        files: the files to write, by format.
    """

    plan: Plan
    first: int
    files: dict[str, Path]

    def __str__(self) -> str:
        return f"games {self.first} to {self.first + self.plan.source.games - 1} were made"

    def make(self) -> None:
        """Write the files; runs in a worker.

        Raises:
            SkyenvError: see :meth:`skyenv.dataset.sources.Matches.trajectories`. OSError: a file
                can't be written.
        """
        trajectories = self.plan.source.trajectories(self.plan.reward)
        for name, path in self.files.items():
            make = parquet_bytes if name == PARQUET else episodes_bytes
            write_atomically(path, make(trajectories, self.first))


def write(
    plan: Plan, folder: Path, *, workers: int = 1, progress: bool = False
) -> dict[str, int] | None:
    """Write the missing shards of a dataset.

    Args:
        plan: the dataset's plan.
        folder: the dataset's folder; created if missing.
        workers: processes; 0: one per core.
        progress: show a bar on stderr.

    Returns:
        The content of dataset.json; None after Ctrl-C.

    Raises:
        FolderInUseError: another process uses the folder.
        DatasetError: the folder holds another dataset, or a file of it is damaged.
        SkyenvError, OSError: as for :meth:`Shard.make`.
    """
    with locked(folder):
        _agree(plan, folder)
        for path in plan.files(folder, range(1)).values():
            path.parent.mkdir(parents=True, exist_ok=True)
            remove_abandoned(path.parent)
        missing = [
            shard
            for shard in plan.shards()
            if not all(
                path.exists() and _counts(path) for path in plan.files(folder, shard).values()
            )
        ]
        here = plan.source.games - sum(map(len, missing))
        with (
            Interrupt() as interrupt,
            progress_bar(plan.source.games, done=here, shown=progress) as bar,
            open_pool(workers) as pool,
        ):
            shards = (
                Shard(
                    replace(plan, source=plan.source.part(games)),
                    games.start,
                    plan.files(folder, games),
                )
                for games in missing
            )
            for shard, _ in pool.results(Shard.make, shards, goes_on=interrupt.goes_on):
                bar.update(shard.plan.source.games)
        return None if interrupt.asked else _finish(plan, folder)


def _agree(plan: Plan, folder: Path) -> None:
    """Raise DatasetError unless the folder is new or has this plan."""
    path, wanted = folder / "config.json", plan.about()
    if not path.exists() and not any((folder / name).exists() for name in FORMATS):
        write_atomically(path, json.dumps(wanted, indent=2) + "\n")
    try:
        config = read_json(path)
    except (OSError, CheckpointError) as error:
        raise DatasetError(
            f"{folder} holds games without a readable config.json: {error}"
        ) from error
    for name in {**wanted, **config}:
        was, wish = (f"{json.dumps(one.get(name)):.200}" for one in (config, wanted))
        if was != wish:
            raise DatasetError(
                f"{folder} holds another dataset: {name} was {was}, is {wish}; choose another "
                "folder"
            )


def _counts(path: Path) -> tuple[int, int]:
    """See :func:`skyenv.dataset.formats.counts`; raises DatasetError for a damaged file."""
    try:
        return counts(path)
    except Exception as error:  # the libraries raise many kinds of errors
        raise DatasetError(
            f"{path} is damaged ({cause(error)}); remove it and run the command again"
        ) from error


def _finish(plan: Plan, folder: Path) -> dict[str, int]:
    """Write Minari's main files and dataset.json; return the latter's content."""
    summary = {"games": plan.source.games, "shards": len(plan.shards())}
    for name in plan.formats:
        paths = [plan.files(folder, shard)[name] for shard in plan.shards()]
        files = [(path, *_counts(path)) for path in paths]
        summary["decisions"] = sum(decisions for *_, decisions in files)
        if name == MINARI:
            write_main(files, plan.dataset_id, *_metadata(plan))
    write_atomically(folder / "dataset.json", json.dumps(summary, indent=2) + "\n")
    return summary


def _metadata(plan: Plan) -> tuple[str, dict[str, Any] | None]:
    """Return Minari's algorithm name, and the environment's options or None for several."""
    source = plan.source
    if not isinstance(source, Matches):
        return "of records", None
    return ", ".join(sorted(agent.name for agent in source.agents)), {
        "num_players": source.players,
        "side": source.side,
        "max_turns": source.max_turns,
        "reward": plan.reward,
    }
