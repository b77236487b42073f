"""The command ``python -m skyenv dataset``: games as Parquet files and as a Minari dataset.

``python -m skyenv dataset greedy appraiser --players 2 --games 1000 -o runs/games`` lets agents
play, seats drawn for every game; ``--records`` takes games that there are. Ctrl-C or a kill loses
only shards under way: the same command goes on, and comes to the same bytes as if nothing had
happened (but for agents whose budget is time).

Exit codes: 0 all right, 1 a file is bad, 2 the command or an agent is, 130 interrupted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from skyenv.agents import agents_help
from skyenv.dataset import episodes, parquet
from skyenv.dataset.folder import FORMATS, MINARI, PARQUET, Plan, write
from skyenv.dataset.sources import Matches, Records, Source, records_of
from skyenv.engine.games import OBSERVATIONS
from skyenv.engine.kernels import REWARDS
from skyenv.errors import DatasetError, OptionError
from skyenv.options import COMMON, INTERRUPTED, Options, argument, common, complain, option
from skyenv.render.extras import check_installed
from skyenv.tables import counted

PLAYED: Final[Mapping[str, Any]] = {
    "players": COMMON["players"]["default"],
    "side": COMMON["side"]["default"],
    "games": 1000,
    "seed": COMMON["seed"]["default"],
    "max_turns": COMMON["max_turns"]["default"],
}
"""Options of games that agents play, with their defaults; games that there are take none of them.
"""


def _played(name: str, text: str = "") -> Any:
    """An option of :data:`PLAYED`, None if it isn't given."""
    return common(
        name, default=None, text=f"{text or COMMON[name]['text']} (default: {PLAYED[name]})"
    )


@dataclass(frozen=True)
class DatasetOptions(Options):
    """What the command takes."""

    agents: tuple[str, ...] = argument(
        f"who plays, seats drawn for every game: {agents_help()}", default=(), metavar="AGENT"
    )
    out: Path | None = option(
        None, "where it is written, gone on with if it is there", short="-o", metavar="FOLDER"
    )
    records: tuple[str, ...] = option(
        (),
        "take these games instead: record files, or folders of them",
        metavar="PATH",
    )
    formats: tuple[str, ...] = option(FORMATS, "what is written", choices=FORMATS, metavar="FORMAT")
    players: int | None = _played("players")
    side: str | None = _played("side")
    games: int | None = option(
        None, f"how many games (default: {PLAYED['games']})", low=1, high=10**7, metavar="N"
    )
    seed: int | None = _played("seed", "decides deals and seats")
    max_turns: int | None = _played("max_turns")
    observation: str = option("scaled", "what observations are", choices=OBSERVATIONS)
    reward: str = option("outcome", "what is rewarded", choices=REWARDS)
    id: str | None = option(
        None, "Minari's name of it (default: skyenv/, the folder's name, -v0)", metavar="NAME"
    )
    shard_games: int = option(100, "games of one file", low=1, high=10**5, metavar="N")
    workers: int = common("workers")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.out is None:
            raise OptionError("-o FOLDER says where to write")
        if bool(self.agents) == bool(self.records):
            raise OptionError(
                "name the agents that play, or the games to take by --records; one of the two"
            )
        given = [
            f"--{name.replace('_', '-')}" for name in PLAYED if getattr(self, name) is not None
        ]
        if self.records and given:
            raise OptionError(
                f"--records takes games as they are; it doesn't go with {', '.join(given)}"
            )
        if not self.formats:
            raise OptionError(f"formats must be {' or '.join(FORMATS)}, or both")


def write_dataset(options: DatasetOptions) -> int:
    """Run the command; returns the exit code."""
    assert options.out is not None
    needed = {PARQUET: parquet.MODULES, MINARI: ("gymnasium", *episodes.MODULES)}
    check_installed(
        *(module for name in options.formats for module in needed[name]),
        extra="dataset",
        error=DatasetError,
    )
    dataset_id = options.id or default_id(options.out)
    if MINARI in options.formats:
        _check_id(dataset_id)
    source = _source(options)
    plan = Plan(
        source,
        tuple(name for name in FORMATS if name in options.formats),
        options.observation,
        options.reward,
        options.shard_games,
        dataset_id,
    )
    if source.games == 0:
        raise DatasetError("there is no finished game to take")
    summary = write(plan, options.out, workers=options.workers, progress=True)
    if summary is None:
        complain("dataset", "interrupted; the same command goes on")
        return INTERRUPTED
    sizes = " and ".join(
        f"{size / 1e6:,.1f} MB of {name.capitalize()}" for name, size in summary["bytes"].items()
    )
    print(
        f"{options.out}: {counted(source.games, 'game')}, "
        f"{counted(summary['decisions'], 'decision')}; {sizes}"
    )
    if MINARI in plan.formats:
        print(
            f"Minari: MINARI_DATASETS_PATH={options.out / MINARI}, "
            f"minari.load_dataset({plan.dataset_id!r})"
        )
    if isinstance(source, Records) and source.unfinished:
        print(f"left out: {counted(source.unfinished, 'game')} without an end")
    return 0


def _check_id(name: str) -> None:
    """Raise OptionError unless Minari takes a name."""
    from minari.dataset.minari_dataset import parse_dataset_id

    try:
        parse_dataset_id(name)
    except (ValueError, TypeError) as error:  # the latter over a name that is only a version
        raise OptionError(
            f"id must be a name that Minari takes, such as skyenv/games-v0, not {name!r:.60}"
        ) from error


def _source(options: DatasetOptions) -> Source:
    if options.records:
        return records_of([Path(path) for path in options.records])
    given = {name: getattr(options, name) for name in PLAYED if getattr(options, name) is not None}
    return Matches.new(options.agents, **{**PLAYED, **given})


def default_id(folder: Path) -> str:
    """Minari's name of a dataset in a folder."""
    name = re.sub(r"[^-_\w]", "-", folder.resolve().name, flags=re.ASCII) or "games"
    return f"skyenv/{name}-v0"
