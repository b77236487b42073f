"""The command ``python -m skyenv dataset``: games as Parquet files and as a Minari dataset.

``python -m skyenv dataset greedy appraiser --players 2 --games 1000 -o runs/games`` lets agents
play, seats drawn for every game; ``--records`` takes games that there are. Ctrl-C or a kill loses
only shards under way: the same command goes on, and comes to the same bytes as if nothing had
happened (but for agents whose budget is time).

Exit codes: 0 all right, 1 a file is bad, 2 the command or an agent is, 130 interrupted.
"""

from __future__ import annotations

import re
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Final

from skyenv.agents import agents_help
from skyenv.dataset.folder import Plan, write
from skyenv.dataset.formats import FORMATS, MINARI, MODULES
from skyenv.dataset.sources import Matches, Records, Source
from skyenv.engine.games import OBSERVATIONS
from skyenv.engine.kernels import REWARDS
from skyenv.errors import DatasetError, OptionError
from skyenv.options import GOES_ON, Options, argument, common, option
from skyenv.render.extras import check_installed
from skyenv.tables import counted

# Options of games that agents play; games that there are take none of them.
PLAYED: Final = ("players", "side", "games", "seed", "max_turns")


@dataclass(frozen=True)
class DatasetOptions(Options):
    """What the command takes."""

    out: Path = option(
        MISSING, "where it is written, gone on with if it is there", short="-o", metavar="FOLDER"
    )
    agents: tuple[str, ...] = argument(
        f"who plays, seats drawn for every game: {agents_help()}", default=(), metavar="AGENT"
    )
    records: tuple[str, ...] = option(
        (),
        "take these games instead: record files, or folders of them",
        metavar="PATH",
    )
    formats: tuple[str, ...] = option(FORMATS, "what is written", choices=FORMATS, metavar="FORMAT")
    players: int = common("players")
    side: str = common("side")
    games: int = option(1000, "how many games", low=1, high=10**7, metavar="N")
    seed: int = common("seed", text="decides deals and seats")
    max_turns: int = common("max_turns")
    observation: str = option("scaled", "what observations are", choices=OBSERVATIONS)
    reward: str = option("outcome", "what is rewarded", choices=REWARDS)
    shard_games: int = option(100, "games of one file", low=1, high=10**5, metavar="N")
    workers: int = common("workers")

    def __post_init__(self) -> None:
        super().__post_init__()
        if bool(self.agents) == bool(self.records):
            raise OptionError(
                "name the agents that play, or the games to take by --records; one of the two"
            )
        given = [
            f"--{name.replace('_', '-')}"
            for name in PLAYED
            if getattr(self, name) != getattr(type(self), name)
        ]
        if self.records and given:
            raise OptionError(
                f"--records takes games as they are; it doesn't go with {', '.join(given)}"
            )
        if not self.formats:
            raise OptionError(f"formats must be {' or '.join(FORMATS)}, or both")


def write_dataset(options: DatasetOptions) -> None:
    """Run the command."""
    out = options.out
    modules = [module for name in options.formats for module in MODULES[name]]
    check_installed(*modules, extra="dataset", error=DatasetError)
    played = {name: getattr(options, name) for name in PLAYED}
    source: Source = (
        Records.of([Path(path) for path in options.records])
        if options.records
        else Matches.new(options.agents, **played)
    )
    if source.games == 0:
        raise DatasetError("there is no finished game to take")
    plan = Plan(
        source,
        tuple(name for name in FORMATS if name in options.formats),
        options.observation,
        options.reward,
        options.shard_games,
        minari_id(out),
    )
    summary = write(plan, out, workers=options.workers, progress=True)
    if summary is None:
        raise KeyboardInterrupt(GOES_ON)
    print(f"{out}: {counted(source.games, 'game')}, {counted(summary['decisions'], 'decision')}")
    if MINARI in plan.formats:
        print(
            f"Minari: MINARI_DATASETS_PATH={out / MINARI}, minari.load_dataset({plan.dataset_id!r})"
        )
    if isinstance(source, Records) and source.unfinished:
        print(f"left out: {counted(source.unfinished, 'game')} without an end")


def minari_id(folder: Path) -> str:
    """Minari's name of a dataset in a folder."""
    name = re.sub(r"[^-_\w]", "-", folder.resolve().name, flags=re.ASCII) or "games"
    return f"skyenv/{name}-v0"
