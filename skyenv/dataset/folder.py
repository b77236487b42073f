"""A dataset's folder: what it is made of, its shards, and making those that are missing.

config.json says what was asked for. The games are made in *shards* of some games each, in worker
processes; every file of a shard is there as a whole or not at all, and holds the same bytes whoever
makes it, so the same command goes on where it ended. ::

    config.json                                  what was asked for, with a checksum
    dataset.json                                 what it came to, once all of it is there
    parquet/00000.parquet …                      one row a decision
    minari/ID/data/main_data.hdf5, metadata.json what Minari reads; the first holds links to
    minari/ID/data/00000.hdf5 …                  the episodes
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from skyenv import __version__
from skyenv.arena.folder import CHECKSUM, checksum, unsealed
from skyenv.dataset import episodes, parquet
from skyenv.dataset.sources import Matches, Source
from skyenv.engine.games import SCALED
from skyenv.errors import CheckpointError, DatasetError
from skyenv.files import locked, read_json, remove_abandoned, write_atomically
from skyenv.progress import progress as progress_bar
from skyenv.tables import counted
from skyenv.work import Interrupt, open_pool

FORMAT: Final = 3
"""Of the folder: 1 had other names of columns, 2 another kind of episodes."""
CONFIG: Final = "config.json"
SUMMARY: Final = "dataset.json"
PARQUET: Final = "parquet"
MINARI: Final = "minari"
FORMATS: Final = (PARQUET, MINARI)


class Shard(NamedTuple):
    """Games `first` to before `stop` of a dataset; `name` is the number with zeros before it, so
    that files sort as numbers do.
    """

    number: int
    name: str
    first: int
    stop: int


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

    def shards(self) -> list[Shard]:
        """All of them, in the order of their games."""
        games = self.source.games
        firsts = range(0, games, self.shard_games)
        digits = max(5, len(str(len(firsts) - 1)))
        return [
            Shard(number, f"{number:0{digits}}", first, min(first + self.shard_games, games))
            for number, first in enumerate(firsts)
        ]

    def about(self) -> dict[str, Any]:
        """All that decides the files, as JSON has it."""
        names = ("formats", "observation", "reward", "shard_games", "dataset_id")
        about = {
            "format": FORMAT,
            "project": __version__,
            "sources": [self.source.about()],
            **{name: getattr(self, name) for name in names},
        }
        whole: dict[str, Any] = json.loads(json.dumps(about))
        return whole

    def digest(self) -> str:
        """Tells one dataset from another."""
        return hashlib.sha256(json.dumps(self.about(), sort_keys=True).encode()).hexdigest()[:16]

    def data(self, folder: Path) -> Path:
        """Minari's folder of the data."""
        return folder.joinpath(MINARI, *self.dataset_id.split("/"), "data")

    def files(self, folder: Path, shard: Shard) -> dict[str, Path]:
        """A shard's files by their format."""
        places = {
            PARQUET: folder / PARQUET / f"{shard.name}.parquet",
            MINARI: self.data(folder) / f"{shard.name}.hdf5",
        }
        return {name: places[name] for name in self.formats}


# ---- one shard, in a worker ----


def make_shard(folder: Path, digest: str, task: tuple[Shard, Plan]) -> int:
    """Make a shard's files; returns how many decisions they hold.

    Args:
        folder: of the dataset. digest: of the whole plan.
        task: a shard to be made, and the plan of its games alone.

    Raises:
        SkyenvError: see :meth:`skyenv.dataset.sources.Matches.trajectories`. OSError: a file can't
            be written.
    """
    shard, plan = task
    trajectories = plan.source.trajectories(plan.reward)
    scaled = plan.observation == SCALED
    about = _about(digest, shard)
    for name, path in plan.files(folder, shard).items():
        if name == PARQUET:
            content = parquet.parquet_bytes(trajectories, shard.first, scaled, about)
        else:
            content = episodes.episodes_bytes(trajectories, shard.first, scaled, about)
        write_atomically(path, content)
    return len(trajectories)


def _about(digest: str, shard: Shard) -> dict[str, Any]:
    """What a shard's files say of themselves."""
    return {"dataset": digest, "shard": shard.number}


def _checked(digest: str, shard: Shard, name: str, path: Path) -> tuple[int, int]:
    """How many episodes (of Parquet files none) and decisions a shard's file holds.

    Raises:
        DatasetError: it is no whole file, or of another dataset (what is in it isn't read).
    """
    try:
        if name == PARQUET:
            said, steps = parquet.about_file(path)
            found = 0
        else:
            said, found, steps = episodes.about_file(path)
    except Exception as error:  # two libraries, which raise all sorts of things
        reason = " ".join(str(error).split())
        raise DatasetError(
            f"{path} is damaged: {reason:.200}; remove it, and it is made anew"
        ) from error
    if said != _about(digest, shard):
        raise DatasetError(f"{path} is of another dataset; choose another folder, or remove it")
    return found, steps


# ---- the whole dataset ----


def write(
    plan: Plan, folder: Path, *, workers: int = 1, progress: bool = False
) -> dict[str, Any] | None:
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
        SkyenvError, OSError: as for :func:`make_shard`.
    """
    shards, digest, games, made = plan.shards(), plan.digest(), plan.source.games, 0
    with locked(folder):
        _agree(plan, folder)
        for path in plan.files(folder, shards[0]).values():
            path.parent.mkdir(parents=True, exist_ok=True)
            remove_abandoned(path.parent)
        missing = [shard for shard in shards if not _is_there(plan, folder, shard, digest)]
        here = games - sum(shard.stop - shard.first for shard in missing)
        with (
            Interrupt() as interrupt,
            progress_bar(games, done=here, shown=progress) as bar,
            open_pool(workers) as pool,
        ):
            parts = (
                (shard, replace(plan, source=plan.source.part(shard.first, shard.stop)))
                for shard in missing
            )
            for (shard, _), decisions in pool.results(
                partial(make_shard, folder, digest), parts, goes_on=interrupt.goes_on, about=_told
            ):
                made += decisions
                bar.set_postfix_str(counted(made, "decision"), refresh=False)
                bar.update(shard.stop - shard.first)
        return None if interrupt.asked else _finish(plan, folder, shards, digest)


def _told(task: tuple[Shard, Plan]) -> str:
    """What a task is, for a message."""
    return f"games {task[0].first} to {task[0].stop - 1} were made"


def _agree(plan: Plan, folder: Path) -> None:
    """Raise DatasetError unless the folder is of this dataset, or new."""
    path, wanted = folder / CONFIG, plan.about()
    if not path.exists():
        if any((folder / name).exists() for name in FORMATS):
            raise DatasetError(
                f"{folder} holds games but no {CONFIG} that says what they are; choose another "
                "folder"
            )
        sealed = {**wanted, CHECKSUM: checksum(wanted)}
        write_atomically(path, json.dumps(sealed, indent=2) + "\n")
        return
    try:
        config = unsealed(read_json(path))
    except (ValueError, CheckpointError) as error:
        raise DatasetError(f"{path} is damaged or of something else: {error}") from error
    before, after = (
        {**about, "sources": None, **about.get("sources", [{}])[0]} for about in (config, wanted)
    )
    for name, value in after.items():
        if before.get(name) != value:
            was, wish = (f"{json.dumps(one):.200}" for one in (before.get(name), value))
            raise DatasetError(
                f"{folder} holds another dataset: {name} was {was}, is {wish}; choose another "
                "folder"
            )


def _is_there(plan: Plan, folder: Path, shard: Shard, digest: str) -> bool:
    """Whether a shard has all its files; those that are there are checked."""
    files = plan.files(folder, shard)
    there = [(name, path) for name, path in files.items() if path.exists()]
    for name, path in there:
        _checked(digest, shard, name, path)
    return len(there) == len(files)


def _finish(plan: Plan, folder: Path, shards: Sequence[Shard], digest: str) -> dict[str, Any]:
    """Write what tells of all shards, and return what dataset.json has."""
    sizes = {}
    for name in plan.formats:
        paths = [plan.files(folder, shard)[name] for shard in shards]
        found = [
            _checked(digest, shard, name, path) for shard, path in zip(shards, paths, strict=True)
        ]
        steps = sum(steps for _, steps in found)
        sizes[name] = sum(path.stat().st_size for path in paths)
        if name == MINARI:
            numbers = [(path.name, one) for path, (one, _) in zip(paths, found, strict=True)]
            _tell_minari(plan, plan.data(folder), numbers, steps, sizes[name])
    summary = {
        "games": plan.source.games,
        "decisions": steps,
        "shards": len(shards),
        "bytes": sizes,
    }
    write_atomically(folder / SUMMARY, json.dumps(summary, indent=2) + "\n")
    return summary


def _tell_minari(
    plan: Plan, data: Path, files: Sequence[tuple[str, int]], steps: int, size: int
) -> None:
    """Write the two files that Minari reads first."""
    from skyenv.envs.spaces import observation_space

    write_atomically(data / episodes.MAIN, episodes.main_bytes(files))
    described: dict[str, Any] = {
        "total_episodes": sum(number for _, number in files),
        "total_steps": steps,
        "dataset_size": float(np.round(size / 1e6, 1)),
        "description": "Games of Fifth Avenue, an auction board game; an episode is a game from "
        "one seat",
        "algorithm_name": "of records",
    }
    source, environment = plan.source, None
    if isinstance(source, Matches):
        described["algorithm_name"] = ", ".join(sorted(agent.name for agent in source.agents))
        environment = {
            "num_players": source.seating.shape[1],
            "side": source.side,
            "max_turns": source.max_turns,
            "reward": plan.reward,
            "observation": plan.observation,
        }
    space = observation_space(plan.observation)
    content = episodes.metadata(plan.dataset_id, described, space, environment)
    write_atomically(data / episodes.METADATA, json.dumps(content, indent=2) + "\n")
