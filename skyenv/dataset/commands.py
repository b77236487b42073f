"""The command ``python -m skyenv dataset``: games as Parquet files and as a Minari dataset.

``python -m skyenv dataset greedy appraiser --players 2 --games 1000 -o runs/games`` plays
games between agents, with random seats for every game; ``--records`` reads recorded games. After
Ctrl-C or a kill the same command resumes: only unfinished shards are lost, and the files have the
same bytes as without an interruption (except for agents with a time budget).

Exit codes: 0 success, 1 invalid file, 2 invalid command or agent, 130 interrupted.
"""

import re
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Final

from skyenv.agents import agents_help
from skyenv.console.options import Options, argument, common, option, resumable
from skyenv.console.tables import counted
from skyenv.dataset.folder import Plan, write
from skyenv.dataset.formats import FORMATS, MINARI, MODULES
from skyenv.dataset.sources import Matches, Records, Source
from skyenv.engine.rewards import REWARDS
from skyenv.errors import DatasetError, OptionError, check_extra

# Options that apply only to played games, not to records.
PLAYED: Final = ("players", "side", "games", "seed", "max_turns")


@dataclass(frozen=True)
class DatasetOptions(Options):
    """Options of ``dataset``."""

    out: Path = option(
        MISSING, "folder of the dataset; an unfinished one is resumed", short="-o", metavar="FOLDER"
    )
    agents: tuple[str, ...] = argument(
        f"agents, with random seats for every game: {agents_help()}", default=(), metavar="AGENT"
    )
    records: tuple[str, ...] = option(
        (),
        "record files, or folders of them, instead of AGENTs",
        metavar="PATH",
    )
    formats: tuple[str, ...] = option(FORMATS, "file formats", choices=FORMATS, metavar="FORMAT")
    players: int = common("players")
    side: str = common("side")
    games: int = option(1000, "number of games", low=1, high=10**7)
    seed: int = common("seed", text="seed of deals and seats")
    max_turns: int = common("max_turns")
    reward: str = option("outcome", "reward", choices=REWARDS)
    shard_games: int = option(100, "games per file", low=1, high=10**5)
    workers: int = common("workers")

    def __post_init__(self) -> None:
        super().__post_init__()
        if bool(self.agents) == bool(self.records):
            raise OptionError("name either AGENTs or --records, not both")
        given = [
            f"--{name.replace('_', '-')}"
            for name in PLAYED
            if getattr(self, name) != getattr(type(self), name)
        ]
        if self.records and given:
            raise OptionError(f"--records cannot be combined with {', '.join(given)}")
        if not self.formats:
            raise OptionError(f"formats must be {' or '.join(FORMATS)}, or both")


def write_dataset(options: DatasetOptions) -> None:
    """Run ``dataset``."""
    out = options.out
    modules = [module for name in options.formats for module in MODULES[name]]
    check_extra("dataset", *modules)
    played = {name: getattr(options, name) for name in PLAYED}
    source: Source = (
        Records.of([Path(path) for path in options.records])
        if options.records
        else Matches.new(options.agents, **played)
    )
    if source.games == 0:
        raise DatasetError("the records have no finished game")
    plan = Plan(
        source,
        tuple(name for name in FORMATS if name in options.formats),
        options.reward,
        options.shard_games,
        minari_id(out),
    )
    with resumable(out):
        summary = write(plan, out, workers=options.workers, progress=True)
        if summary is None:
            raise KeyboardInterrupt
    print(f"{out}: {counted(source.games, 'game')}, {counted(summary['decisions'], 'decision')}")
    if MINARI in plan.formats:
        print(
            f"Minari: MINARI_DATASETS_PATH={out / MINARI}, minari.load_dataset({plan.dataset_id!r})"
        )
    if isinstance(source, Records) and source.unfinished:
        print(f"left out: {counted(source.unfinished, 'unfinished game')}")


def minari_id(folder: Path) -> str:
    """Return the Minari id of a dataset in a folder."""
    name = re.sub(r"[^-_\w]", "-", folder.resolve().name, flags=re.ASCII) or "games"
    return f"skyenv/{name}-v0"
