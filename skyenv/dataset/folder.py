"""A dataset's folder: what it is made of, its shards, and making those that are missing.

config.json says what was asked for. The games are made in *shards* of some games each, in worker
processes; every file of a shard is there as a whole or not at all, and holds the same bytes whoever
makes it, so the same command goes on where it ended. ::

    config.json                                  what was asked for
    dataset.json                                 what it came to, once all of it is there
    parquet/00000.parquet …                      one row a decision
    minari/ID/data/main_data.hdf5, metadata.json what Minari reads; the first holds links to
    minari/ID/data/00000.hdf5 …                  the episodes
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from skyenv import __version__
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
from skyenv.engine.games import SCALED
from skyenv.errors import CheckpointError, DatasetError, cause
from skyenv.files import locked, read_json, remove_abandoned, write_atomically
from skyenv.progress import progress as progress_bar
from skyenv.rules.variant import of_variant
from skyenv.work import Interrupt, open_pool

FORMAT: Final = of_variant(4)  # of the folder


@dataclass(frozen=True)
class Plan:
    """What a dataset is made of.

    Attributes:
        source: its games.
        formats: some of :data:`FORMATS`. observation: ``"scaled"`` or ``"codes"``.
        reward: as for :class:`skyenv.GameOptions`.
        shard_games: games of a shard, at most.
        dataset_id: Minari's name of it.
    """

    source: Source
    formats: tuple[str, ...] = FORMATS
    observation: str = SCALED
    reward: str = "outcome"
    shard_games: int = 100
    dataset_id: str = "skyenv/games-v0"

    def shards(self) -> list[range]:
        """The numbers of each shard's games."""
        games = range(self.source.games)
        return [games[first : first + self.shard_games] for first in games[:: self.shard_games]]

    def about(self) -> Any:
        """All that decides the files, an object as JSON has it."""
        own = {name: value for name, value in vars(self).items() if name != "source"}
        about = {"format": FORMAT, "project": __version__, **self.source.about(), **own}
        return json.loads(json.dumps(about))

    def files(self, folder: Path, shard: range) -> dict[str, Path]:
        """A shard's files by their format; they sort as numbers do."""
        digits = max(5, len(str(self.source.games // self.shard_games)))
        name = f"{shard.start // self.shard_games:0{digits}}"
        places = {
            PARQUET: folder / PARQUET / f"{name}.parquet",
            MINARI: folder.joinpath(MINARI, self.dataset_id, "data", f"{name}.hdf5"),
        }
        return {name: places[name] for name in self.formats}


class Shard(NamedTuple):
    """Some games of a dataset.

    Attributes:
        plan: of these games alone.
        first: number of the first game.
        files: to be made, by their format.
    """

    plan: Plan
    first: int
    files: dict[str, Path]

    def __str__(self) -> str:
        return f"games {self.first} to {self.first + self.plan.source.games - 1} were made"

    def make(self) -> None:
        """Make the files, in a worker.

        Raises:
            SkyenvError: see :meth:`skyenv.dataset.sources.Matches.trajectories`. OSError: a file
                can't be written.
        """
        trajectories = self.plan.source.trajectories(self.plan.reward)
        for name, path in self.files.items():
            make = parquet_bytes if name == PARQUET else episodes_bytes
            write_atomically(path, make(trajectories, self.first, self.plan.observation == SCALED))


def write(
    plan: Plan, folder: Path, *, workers: int = 1, progress: bool = False
) -> dict[str, int] | None:
    """Make the missing shards of a dataset.

    Args:
        plan: what is asked for.
        folder: where; made if it isn't there.
        workers: processes; 0: one for each core.
        progress: show a bar on stderr.

    Returns:
        What dataset.json has of the whole dataset; None after Ctrl-C.

    Raises:
        FolderInUseError: another process works in the folder.
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
    """Raise DatasetError unless the folder is of this dataset, or new."""
    path, wanted = folder / "config.json", plan.about()
    if not path.exists() and not any((folder / name).exists() for name in FORMATS):
        write_atomically(path, json.dumps(wanted, indent=2) + "\n")
    try:
        config = read_json(path)
    except (OSError, CheckpointError) as error:
        raise DatasetError(
            f"{folder} holds games of a dataset that isn't known: {error}"
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
    except Exception as error:  # two libraries, which raise all sorts of things
        raise DatasetError(
            f"{path} is damaged ({cause(error)}); remove it, and it is made again"
        ) from error


def _finish(plan: Plan, folder: Path) -> dict[str, int]:
    """Write what tells of all shards, and return what dataset.json has."""
    summary = {"games": plan.source.games, "shards": len(plan.shards())}
    for name in plan.formats:
        paths = [plan.files(folder, shard)[name] for shard in plan.shards()]
        files = [(path, *_counts(path)) for path in paths]
        summary["decisions"] = sum(decisions for *_, decisions in files)
        if name == MINARI:
            write_main(files, plan.dataset_id, plan.observation, *_metadata(plan))
    write_atomically(folder / "dataset.json", json.dumps(summary, indent=2) + "\n")
    return summary


def _metadata(plan: Plan) -> tuple[str, dict[str, Any] | None]:
    """Minari's name for what decided, and the options of the environment; None: of several."""
    source = plan.source
    if not isinstance(source, Matches):
        return "of records", None
    return ", ".join(sorted(agent.name for agent in source.agents)), {
        "num_players": source.players,
        "side": source.side,
        "max_turns": source.max_turns,
        "reward": plan.reward,
        "observation": plan.observation,
    }
